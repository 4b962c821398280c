"""The choice problems of Kahneman and Tversky (1979), with the published choice percentages.

Facts typed in from the article; amounts are Israeli pounds, hypothetical. Each person met at most a dozen problems, and
the article gives the number of people and the percentage per problem only, so the answers are pooled. Problems that
the domain cannot express are left out: 5 and 6 (trips instead of money), 9 (probabilistic insurance) and 10 (a
two-stage game).

Reference:
    Kahneman, D., & Tversky, A. (1979). Prospect theory: an analysis of decision under risk. Econometrica, 47(2),
    263-291.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader
from lakatos.domains.risky.space import Gamble, pairs
from lakatos.experiments.task import Trials

PROBLEMS: dict[str, tuple[Gamble, Gamble, int, int]] = {
    "1": ([(2500, 0.33), (2400, 0.66), (0, 0.01)], [(2400, 1)], 72, 82),
    "2": ([(2500, 0.33), (0, 0.67)], [(2400, 0.34), (0, 0.66)], 72, 17),
    "3": ([(4000, 0.80), (0, 0.20)], [(3000, 1)], 95, 80),
    "4": ([(4000, 0.20), (0, 0.80)], [(3000, 0.25), (0, 0.75)], 95, 35),
    "3'": ([(-4000, 0.80), (0, 0.20)], [(-3000, 1)], 95, 8),
    "4'": ([(-4000, 0.20), (0, 0.80)], [(-3000, 0.25), (0, 0.75)], 95, 58),
    "7": ([(6000, 0.45), (0, 0.55)], [(3000, 0.90), (0, 0.10)], 66, 86),
    "8": ([(6000, 0.001), (0, 0.999)], [(3000, 0.002), (0, 0.998)], 66, 27),
    "7'": ([(-6000, 0.45), (0, 0.55)], [(-3000, 0.90), (0, 0.10)], 66, 8),
    "8'": ([(-6000, 0.001), (0, 0.999)], [(-3000, 0.002), (0, 0.998)], 66, 70),
    "11": ([(1000, 0.50), (0, 0.50)], [(500, 1)], 70, 84),
    "12": ([(-1000, 0.50), (0, 0.50)], [(-500, 1)], 68, 31),
    "13": ([(6000, 0.25), (0, 0.75)], [(4000, 0.25), (2000, 0.25), (0, 0.50)], 68, 82),
    "13'": ([(-6000, 0.25), (0, 0.75)], [(-4000, 0.25), (-2000, 0.25), (0, 0.50)], 64, 30),
    "14": ([(5000, 0.001), (0, 0.999)], [(5, 1)], 72, 28),
    "14'": ([(-5000, 0.001), (0, 0.999)], [(-5, 1)], 72, 83),
}
"""Problems by the article's number: gamble A, gamble B, number of participants, and the percentage who chose B."""


def read(folder: Path) -> tuple[Trials, ...]:
    """All problems as one experiment; ``folder`` is not looked at.

    Problems 11 and 12 told people that they had already been given 1000 or 2000; the gambles are entered as stated.
    """
    n_people = np.array([problem[2] for problem in PROBLEMS.values()])
    chose_b = np.rint(
        n_people * np.array([problem[3] for problem in PROBLEMS.values()]) / 100
    ).astype(np.int64)
    n_trials = len(PROBLEMS)
    return (
        Trials(
            experiment="kahneman_tversky_1979",
            stimuli=pairs([(problem[0], problem[1]) for problem in PROBLEMS.values()]),
            participant=np.zeros(2 * n_trials, dtype=np.int64),
            trial=np.repeat(np.arange(n_trials), 2),
            response=np.tile([0, 1], n_trials),
            count=np.stack([n_people - chose_b, chose_b], axis=1).ravel(),
            pooled=True,
            n_people=int(n_people.max()),
        ),
    )


READER = ArchiveReader(
    name="allais",
    domain="risky",
    title="Kahneman and Tversky (1979), problems 1-14: certainty, reflection and isolation effects",
    source=None,
    read=read,
)
