"""Rules for the end of collection: looks at the data while participants arrive, decided by Bayes factors.

A Bayes factor says how much likelier the answers are under one theory than under another, each with the population of
people that was frozen before the first of them was asked. People answer independently of one another, so that the log
Bayes factor is the sum over people of the difference of their log predictive probabilities. Looking often does no harm
to its meaning: whatever the looks, the chance that a false theory ever gets the odds ``k`` against the true one is at
most ``1 / k``.

References:
    Wald (1945), Annals of Mathematical Statistics 16(2), 117-186; Robbins (1970), Annals of Mathematical Statistics
    41(5), 1397-1409 (the bound); Schönbrodt, Wagenmakers, Zehetleitner & Perugini (2017), Psychological Methods 22(2),
    322-339.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import DesignError

Array = NDArray[np.float64]
Pair = tuple[int, int]


@dataclass(frozen=True)
class StoppingPlan:
    """The looks at the data, and what ends collection."""

    looks: tuple[int, ...]
    """Participants at each look; the last one ends collection in any case."""
    bayes_factor: float
    """Odds of one theory against another, at even odds beforehand, at which the pair counts as decided."""

    def __post_init__(self) -> None:
        if (
            not self.looks
            or self.looks[0] < 1
            or any(a >= b for a, b in zip(self.looks, self.looks[1:], strict=False))
        ):
            raise DesignError(
                f"looks {self.looks}: give numbers of participants that ascend, the first at least 1."
            )
        if not self.bayes_factor > 1:
            raise DesignError(
                f"a Bayes factor of {self.bayes_factor:g} decides nothing; give a number above 1."
            )

    @property
    def n_most(self) -> int:
        """Participants when nothing is decided before."""
        return self.looks[-1]

    def to_text(self) -> str:
        """The plan as the preregistration states it."""
        looks = ", ".join(map(str, self.looks[:-1]))
        return (
            f"sequential: after {looks + ' and ' if looks else ''}{self.looks[-1]} participants, in order of arrival, "
            "collection stops as soon as one theory has a Bayes factor of at least "
            f"{self.bayes_factor:g} against every other rival that the design can tell from it, populations of "
            f"parameters as frozen here; at {self.n_most} participants it stops in any case"
        )


@dataclass(frozen=True)
class StoppingDecision:
    """Results of the looks so far."""

    stop: bool
    n_participants: int
    """People whose answers decide: those of the look at which collection stopped, or of the last look so far."""
    winner: int | None
    """The theory that has the Bayes factor asked for against all others; None while there is none."""
    log_bayes_factor: Array
    """``(n_theories, n_theories)`` nats, of the row against the column, for these people."""


@dataclass(frozen=True)
class OperatingCharacteristics:
    """Simulated outcome of a plan when each theory in turn is true."""

    correct: Array
    """``(n_theories,)`` share of samples that named the true theory."""
    wrong: Array
    """``(n_theories,)`` share that named another one."""
    n_expected: Array
    """``(n_theories,)`` mean number of participants asked."""
    n_expected_error: Array
    """``(n_theories,)`` its standard error."""
    n_simulations: int

    def to_text(self, names: Sequence[str]) -> str:
        """A sentence for each theory."""
        return "; ".join(
            f"when {name} is true it is named in {self.correct[t]:.2f} and another theory in {self.wrong[t]:.2f} of "
            f"{self.n_simulations} simulated samples, with {self.n_expected[t]:.1f} participants on average"
            for t, name in enumerate(names)
        )


def plan_looks(first: int, every: int, most: int, bayes_factor: float) -> StoppingPlan:
    """Looks after ``first`` participants, then after every further ``every``, and at ``most``."""
    if min(first, every, most) < 1:
        raise DesignError(
            f"first={first}, every={every}, most={most}: give numbers of participants from 1."
        )
    looks = [n for n in range(first, most, every) if n < most]
    return StoppingPlan((*looks, most), bayes_factor)


def decide(
    plan: StoppingPlan, log_predictive: Array, *, ties: Iterable[Pair] = ()
) -> StoppingDecision:
    """Decide whether collection stops, from the participants who have responded so far.

    Args:
        plan: Times of the looks, and the Bayes factor that is enough.
        log_predictive: ``(n_people, n_theories)`` nats, in order of arrival, under frozen populations.
        ties: Pairs that the design cannot tell apart, which need no decision.
    """
    scores = np.asarray(log_predictive, dtype=np.float64)
    n_stopped, winner = _stops(plan, scores[None], ties)
    n_people = len(scores)
    stopped = bool(winner[0] >= 0) or n_people >= plan.n_most
    last = max((n for n in plan.looks if n <= n_people), default=0)
    n = int(n_stopped[0]) if winner[0] >= 0 else last
    total = scores[:n].sum(axis=0)
    return StoppingDecision(
        stopped, n, int(winner[0]) if winner[0] >= 0 else None, total[:, None] - total
    )


def operate(
    plan: StoppingPlan,
    log_predictive: Array,
    rng: np.random.Generator,
    *,
    n_simulations: int = 500,
    ties: Iterable[Pair] = (),
) -> OperatingCharacteristics:
    """Error rates and expected numbers of participants.

    Args:
        plan: Times of the looks, and the Bayes factor that is enough.
        log_predictive: ``(n_theories, n_people, n_theories)`` nats: true theory, simulated person, scoring theory; see
            `experiments.power.scores_of_people`. People are drawn again, with replacement, for every sample.
        rng: Source of the samples.
        n_simulations: Samples per true theory.
        ties: As for `decide`.
    """
    n_theories, n_people, _ = log_predictive.shape
    correct, wrong, n_stopped = (
        np.zeros(n_theories),
        np.zeros(n_theories),
        np.zeros((n_theories, n_simulations)),
    )
    for true in range(n_theories):
        drawn = rng.integers(n_people, size=(n_simulations, plan.n_most))
        n_stopped[true], winner = _stops(plan, log_predictive[true][drawn], ties)
        correct[true] = (winner == true).mean()
        wrong[true] = ((winner != true) & (winner >= 0)).mean()
    return OperatingCharacteristics(
        correct,
        wrong,
        n_stopped.mean(axis=1),
        n_stopped.std(axis=1, ddof=1) / np.sqrt(n_simulations),
        n_simulations,
    )


def _stops(
    plan: StoppingPlan, scores: Array, ties: Iterable[Pair]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per sample the participants asked and the winner, -1 for none.

    Args:
        plan: Times of the looks, and the Bayes factor that is enough.
        scores: ``(n_samples, n_people, n_theories)`` nats.
        ties: Pairs that need no decision.
    """
    n_samples, n_people, n_theories = scores.shape
    needed = ~np.eye(n_theories, dtype=bool)
    for first, second in ties:
        needed[first, second] = needed[second, first] = False
    total = np.cumsum(scores, axis=1)
    n_stopped = np.full(n_samples, n_people, dtype=np.int64)
    winner = np.full(n_samples, -1, dtype=np.int64)
    for n in plan.looks:
        if n > n_people:
            break
        log_odds = total[:, n - 1, :, None] - total[:, n - 1, None, :]
        wins = ((log_odds >= np.log(plan.bayes_factor)) | ~needed).all(axis=2) & needed.any(axis=1)
        new = (winner < 0) & wins.any(axis=1)
        best = np.where(wins, total[:, n - 1], -np.inf).argmax(
            axis=1
        )  # two can win where they are tied
        winner[new], n_stopped[new] = best[new], n
    return n_stopped, winner
