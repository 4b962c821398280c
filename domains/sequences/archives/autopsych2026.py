"""Which of two sequences of coin flips looks more random, asked by a program that does psychology (auto-psych, 2026).

Each run is a chain of three experiments; the program designed each of them from the responses before. Forty people
took part in each experiment and saw 32 pairs of two to eight flips, often of unequal length. The folder that is read
holds runs 1 and 2 of the three that were published (240 people, 7,680 choices).
"""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import gzip_text
from lakatos.domains.sequences.task import sequences
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "choices.csv.gz"
COLUMNS = ("run", "experiment", "participant", "trial", "sequence_left", "sequence_right", "chosen")
SIDES = ("left", "right")
ALPHABET = "HT"
MOST_BYTES = 10_000_000

Row = tuple[int, int, str, int, tuple[str, str], int]
"""Run, experiment, participant, place of the trial, the two sequences, the side chosen."""


def read(folder: Path) -> tuple[Trials, ...]:
    """One experiment for each of the two runs' three, in their order.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not the published table; the message names the line.
    """
    path = folder / FILE
    reader = csv.DictReader(gzip_text(path, MOST_BYTES).splitlines())
    absent = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if absent:
        raise TrialsError(f"{path}: the column(s) {', '.join(absent)} are missing.")
    rows = sorted(_row(row, f"{path}, line {line}") for line, row in enumerate(reader, start=2))
    return tuple(
        _experiment(f"run-{run}-experiment-{number}", list(group))
        for (run, number), group in groupby(rows, key=lambda row: row[:2])
    )


def _row(row: dict[str, str], where: str) -> Row:
    try:
        run, number, place = (int(row[name]) for name in ("run", "experiment", "trial"))
    except (TypeError, ValueError):
        raise TrialsError(f"{where}: run, experiment and trial must be numbers.") from None
    if row["chosen"] not in SIDES:
        raise TrialsError(f"{where}: chosen must be left or right, not {row['chosen']!r}.")
    pair = (row["sequence_left"], row["sequence_right"])
    if any(not own or set(own) - set(ALPHABET) for own in pair):
        raise TrialsError(f"{where}: a sequence must consist of H and T, not {' and '.join(pair)}.")
    return run, number, row["participant"], place, pair, SIDES.index(row["chosen"])


def _experiment(name: str, rows: list[Row]) -> Trials:
    """Responses of one experiment, each participant's in the order of presentation."""
    pairs = sorted({row[4] for row in rows})
    row_of = {pair: index for index, pair in enumerate(pairs)}
    people, participant = np.unique([row[2] for row in rows], return_inverse=True)
    return Trials(
        experiment=name,
        stimuli=sequences(pairs, ALPHABET),
        participant=participant.astype(np.int64),
        trial=np.array([row_of[row[4]] for row in rows], dtype=np.int64),
        response=np.array([row[5] for row in rows], dtype=np.int64),
        count=np.ones(len(rows), dtype=np.int64),
        n_people=len(people),
    )


READER = ArchiveReader(
    name="sequences_autopsych2026",
    domain="sequences",
    title="Which of two sequences looks more random, two runs (auto-psych, 2026)",
    source=ArchiveSource(
        repository="mcfrank/auto-psych",
        commit="cea4225d7ccdc858c6e47037e107b2d6b67bb6bf",
        folder="analysis/behavioral/data",
        licence="MIT",
        cite="auto-psych (2026), arXiv:2606.26460.",
        files={FILE: "365b97114daea0ab497a43ee1408e94e3fc4cd08ba03b01608068c62a86f9fa8"},
        remote={},
    ),
    read=read,
)
