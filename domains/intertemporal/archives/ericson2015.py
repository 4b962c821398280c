"""Choices between money earlier and money later by 940 people recruited online (Ericson and others, 2015).

Everybody answered 25 questions drawn at random from one set of 720. Five groups differ in how the questions were
worded; each is one experiment here, ``framing-1`` to ``framing-5`` as the paper numbers them. So a theory can be tested
on people whom it has not seen (other groups, or other people of a group), and on questions that it has not seen, since
equal trials of several experiments are sealed together. The wording itself is not part of the trials: theories
see amounts and delays alone.

Delays are published in weeks and turned into days. Amounts are as shown, in dollars, rounded to cents. Of 23,500
answers 369 are missing; they are left out, and a person's other answers keep their order. One person of the first group
gave no answer at all and does not appear.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from lakatos.domains.intertemporal.task import dated
from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.experiments.errors import DataMissingError, TrialsError
from lakatos.experiments.task import Trials

FILE = "choices.csv"
DAYS_PER_WEEK = 7
MISSING = ("NA", "")
COLUMNS = ("Subject", "Condition", "Question", "X1", "T1", "X2", "T2", "LaterOptionChosen")


def read(folder: Path) -> tuple[Trials, ...]:
    """One experiment for each framing, in the order of their numbers.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not the published table; the message names the line.
    """
    path = folder / FILE
    if not path.is_file():
        raise DataMissingError(
            f"{path} is missing; fetch the data set intertemporal_ericson2015 first."
        )
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        absent = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if absent:
            raise TrialsError(f"{path}: the column(s) {', '.join(absent)} are missing.")
        rows = [_row(row, f"{path}, line {line}") for line, row in enumerate(reader, start=2)]
    return tuple(_experiment(rows, framing) for framing in sorted({row[0] for row in rows}))


Row = tuple[int, int, int, tuple[tuple[float, float], tuple[float, float]], int | None]
"""Framing, person, position, sooner and later option (amount, delay in days), response or None where it is missing."""


def _row(row: dict[str, str], where: str) -> Row:
    try:
        framing, person, position = (
            int(row[name]) for name in ("Condition", "Subject", "Question")
        )
        x1, t1, x2, t2 = (float(row[name]) for name in ("X1", "T1", "X2", "T2"))
    except (TypeError, ValueError):
        raise TrialsError(f"{where}: not a row of numbers.") from None
    response = row["LaterOptionChosen"]
    if response not in ("0", "1", *MISSING):
        raise TrialsError(
            f"{where}: LaterOptionChosen must be 0, 1, NA or empty, not {response!r}."
        )
    pair = ((x1, DAYS_PER_WEEK * t1), (x2, DAYS_PER_WEEK * t2))
    return framing, person, position, pair, None if response in MISSING else int(response)


def _experiment(rows: list[Row], framing: int) -> Trials:
    """Answers of one framing, each person's in the order of presentation."""
    answered = sorted(row for row in rows if row[0] == framing and row[4] is not None)
    pairs = sorted({row[3] for row in answered}, key=lambda pair: (*pair[0], *pair[1]))
    row_of = {pair: index for index, pair in enumerate(pairs)}
    people, participant = np.unique([row[1] for row in answered], return_inverse=True)
    return Trials(
        experiment=f"framing-{framing}",
        stimuli=dated(pairs),
        participant=participant.astype(np.int64),
        trial=np.array([row_of[row[3]] for row in answered], dtype=np.int64),
        response=np.array([row[4] for row in answered], dtype=np.int64),
        count=np.ones(len(answered), dtype=np.int64),
        n_people=len(people),
    )


READER = ArchiveReader(
    name="intertemporal_ericson2015",
    domain="intertemporal",
    title="Money earlier or later, five framings (Ericson and others, 2015)",
    source=ArchiveSource(
        repository="johnmyleswhite/IntertemporalChoiceHeuristics.jl",
        commit="6562fb1740a5e7af67b3a427a32acfd473a7e53f",
        folder="data",
        licence="MIT",
        cite=(
            "Ericson, K. M., White, J. M., Laibson, D., & Cohen, J. D. (2015). Money earlier or later? Simple "
            "heuristics explain intertemporal choices better than delay discounting does. Psychological Science, "
            "26(6), 826-833."
        ),
        files={FILE: "6e3a3f4f91baf7408001544bfa15bdb98b618ab74eb5dfa4eec0cc9135619d14"},
        remote={FILE: "data/choices.csv"},
    ),
    read=read,
)
