"""Choices in 2 x 2 games, 20 a person, each against somebody new: Zhu, Peterson, Enke and Griffiths (2024).

A game was shown in up to four arrangements of its rows and columns, which hardly matter to people. It is read as one
trial, in the arrangement that comes first in the file; answers are turned accordingly. The folder holds four fifths of
the games.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.games.task import HIGHEST_PAYOFF, GamesDomain, swap_columns
from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import gzip_text
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli, Trials

FILE = "choices.csv.gz"
CELLS = ("11", "12", "21", "22")
PAYOFFS = tuple(f"{who}_{cell}" for who in ("own", "other") for cell in CELLS)
COLUMNS = ("participant", "trial", *PAYOFFS, "choice")
Array = NDArray[np.int64]


def read(folder: Path) -> tuple[Trials, ...]:
    """All answers as one experiment, everybody's in the order of their trials.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not as described; the message names the line.
    """
    path = folder / FILE
    table = _table(csv.DictReader(gzip_text(path).splitlines()), path)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    if (np.diff(table[:, :2], axis=0) == 0).all(axis=1).any():
        raise TrialsError(f"{path}: a participant has two responses with the same trial number.")
    cells = table[:, 2:10].reshape(-1, 2, 2, 2).astype(np.float64)
    shown = Stimuli({"own": cells[:, 0], "other": cells[:, 1]})
    trial, first, turned = _games(shown)
    people, participant = np.unique(table[:, 0], return_inverse=True)
    return (
        Trials(
            experiment="games",
            stimuli=shown.take(first),
            participant=participant.astype(np.int64),
            trial=trial,
            response=np.where(turned, 1 - table[:, 10], table[:, 10]),
            count=np.ones(len(table), dtype=np.int64),
            n_people=len(people),
        ),
    )


def _table(rows: Iterable[dict[str, str]], path: Path) -> Array:
    """``(n_rows, 11)`` the numbers of the file."""
    table = []
    for line, row in enumerate(rows, start=2):
        try:
            numbers = [int(row[name]) for name in COLUMNS]
        except (KeyError, TypeError, ValueError):
            raise TrialsError(
                f"{path}, line {line}: whole numbers are missing of {', '.join(COLUMNS)}."
            ) from None
        if numbers[-1] not in (0, 1) or not all(0 <= x <= HIGHEST_PAYOFF for x in numbers[2:10]):
            raise TrialsError(
                f"{path}, line {line}: choice must be 0 or 1, and payoffs from 0 to {HIGHEST_PAYOFF:g}."
            )
        table.append(numbers)
    if not table:
        raise TrialsError(f"{path} holds no answers.")
    return np.array(table, dtype=np.int64)


def _games(shown: Stimuli) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return each row's game, the row in which each game comes first, and whether rows are exchanged against that."""
    domain = GamesDomain()
    plain = np.array([min(pair) for pair in zip(shown.keys, swap_columns(shown).keys, strict=True)])
    other = domain.swap_sides(shown)
    mirrored = np.array(
        [min(pair) for pair in zip(other.keys, swap_columns(other).keys, strict=True)]
    )
    _, first, game = np.unique(
        np.where(plain < mirrored, plain, mirrored), return_index=True, return_inverse=True
    )
    return game.astype(np.int64), first, plain != plain[first][game]


READER = ArchiveReader(
    name="games_zhu2024",
    domain="games",
    title="Zhu et al. (2024): two thousand matrix games, each played once with somebody new",
    source=ArchiveSource(
        repository="marcelbinz/Psych-201",
        commit="c63dea18897393b706227b50024b27fa8d8907d8",
        folder="zhu2024games",
        licence="Apache-2.0",
        cite=(
            "Zhu, J.-Q., Peterson, J. C., Enke, B., & Griffiths, T. L. (2024). Capturing the complexity of human "
            "strategic decision-making with machine learning. arXiv:2408.07865. Original data: https://osf.io/xrvaw"
        ),
        files={FILE: "959dbebdd43379db3692ebbbf23516c7d02d8ba9f8a0cfb461c6781d9ecde30c"},
        remote={},
    ),
    read=read,
)
