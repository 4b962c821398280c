"""Choices between 210 pairs of gambles: calibration data of the 2018 Choice Prediction Competition.

Every person met 30 problems, 25 times each; the first block of five choices came before any feedback and is what is
read here, since a theory of choice from description says nothing about learning from feedback. Only block rates per
problem are published in this form, so the answers are pooled: people cannot be told apart, and five answers of one
person are not independent.

All problems form one experiment. A design search picks problems out of a bank, and a bank of 210 gives it a choice that
seven banks of 30 do not; that different people met different problems does not matter to a theory without memory.
Problems 12 and 13 are the same pair of gambles, and so are 19 and 20; as trials are distinct, their answers are counted
together, which leaves 208 trials.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.risky.space import N_OUTCOMES, pairs
from lakatos.experiments.errors import DataMissingError
from lakatos.experiments.task import Trials

FILE = "CPC18_EstSet_fullDist.csv"
BLOCKS = ("B.1", "B.2", "B.3", "B.4", "B.5")
CHOICES_PER_BLOCK = 5
"""Choices of one person in one block."""
N_PEOPLE = 686
"""Participants behind all problems, as published; the counts of single problems show fewer."""


def read(folder: Path) -> tuple[Trials, ...]:
    """The first blocks of all 210 problems as one experiment of 208 distinct trials.

    Raises:
        DataMissingError: The file is not in ``folder``.
    """
    path = folder / FILE
    if not path.is_file():
        raise DataMissingError(f"{path} is missing; fetch the data set risky_cpc18 first.")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    problems = pairs(
        [(_gamble(row, "a"), _gamble(row, "b")) for row in rows],
        ambiguous=[(False, row["Amb"] == "1") for row in rows],
        correlation=[float(row["Corr"]) for row in rows],
    )
    first_of: dict[bytes, int] = {}
    for problem, key in enumerate(problems.keys):
        first_of.setdefault(key, problem)
    distinct = sorted(first_of.values())
    trial = np.searchsorted(distinct, [first_of[key] for key in problems.keys])
    totals = CHOICES_PER_BLOCK * np.array(
        [people_behind(_rates(row), int(row["GameID"])) for row in rows]
    )
    chose_b = np.rint(totals * np.array([_rates(row)[0] for row in rows])).astype(np.int64)
    counts = np.zeros((len(distinct), 2), dtype=np.int64)
    np.add.at(counts, trial, np.stack([totals - chose_b, chose_b], axis=1))
    return (
        Trials(
            experiment="cpc18",
            stimuli=problems.take(distinct),
            participant=np.zeros(counts.size, dtype=np.int64),
            trial=np.repeat(np.arange(len(counts)), 2),
            response=np.tile([0, 1], len(counts)),
            count=counts.ravel(),
            pooled=True,
            n_people=N_PEOPLE,
        ),
    )


def people_behind(rates: list[float], problem: int) -> int:
    """The smallest plausible number of people for which every block rate is a whole number of choices.

    The file does not say how many people met a problem. The competition's papers put it near 125 in problems 1-30, 80
    in 31-150 and 115 in 151-210, hence the smallest numbers tried here.
    """
    least = 75 if 31 <= problem <= 150 else 100
    for n_people in range(least, 2 * least):
        choices = CHOICES_PER_BLOCK * n_people * np.array(rates)
        if np.all(np.abs(choices - np.rint(choices)) < 1e-5):
            return n_people
    raise ValueError(f"problem {problem}: no number of people explains the rates {rates}.")


def _rates(row: dict[str, str]) -> list[float]:
    return [float(row[block]) for block in BLOCKS]


def _gamble(row: dict[str, str], side: str) -> list[tuple[float, float]]:
    places = [
        (row[f"{side}v{place}"], row[f"{side}p{place}"]) for place in range(1, N_OUTCOMES + 1)
    ]
    return [(float(amount), float(p)) for amount, p in places if amount != "NA"]


READER = ArchiveReader(
    name="risky_cpc18",
    domain="risky",
    title="Choice Prediction Competition 2018, 210 calibration problems, before feedback",
    source=ArchiveSource(
        repository="naecker-lab/cpc18",
        commit="b9caaca5874e3e388aea6580491ac639370b5bbd",
        folder="src/CPC18 BEASTsd R",
        licence="CC BY 4.0",
        cite=(
            "Plonsky, O., Apel, R., Ert, E., Tennenholtz, M., Bourgin, D., Peterson, J. C., Reichman, D., "
            "Griffiths, T. L., Russell, S. J., Carter, E. C., Cavanagh, J. F., & Erev, I. (2019). Predicting human "
            "decisions with behavioral theories and machine learning. arXiv:1904.06866. "
            "Data: https://doi.org/10.5281/zenodo.845873 (CC BY 4.0). Erev, I., Ert, E., Plonsky, O., Cohen, D., & "
            "Cohen, O. (2017). From anomalies to forecasts. Psychological Review, 124, 369-409."
        ),
        files={FILE: "d215fa1993abe63e2819f54c9b15b90b67b5f1d36003c2cec7685d05b4644a54"},
        remote={FILE: "src/CPC18 BEASTsd R/CPC18_EstSet_fullDist.csv"},
    ),
    read=read,
    directory="risky_cpc18_estimation",
)
