"""Where a run's prospects fell: the step after which far fewer of its continuations succeed.

The *prospects* at a step are the share of continuations that succeed when the run is carried on from there with fresh
randomness. A *fork* is one such continuation. Forks are dear, so the drop is found by bisection: the ends are compared
first, and each further fork starts where it is expected to say most about the place of the drop. Where a drop is small,
`scan_drop` forks from everywhere and compares places by their likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, xlogy

from lakatos.flows.branches.rates import ReplayArm, fisher_p_less

Array = NDArray[np.float64]
LOOKS = (12, 24, 48, 80)
"""Forks from each end at which the ends are compared; each look that can be afforded has an equal part of the level."""
STOP = 0.97
"""Posterior probability of a place at which it counts as found."""
MOST_FORKS = 100
"""Maximum number of forks of a bisection, those from the ends included."""
N_RATES = 21
"""Rates of a grid over (0, 1) that the prospects before and after the drop may have."""
N_REPLICAS = 999
"""Simulated scans without a drop; the observed one counts as one more."""


@dataclass(frozen=True)
class ProspectDrop:
    """The record after which prospects fell, or the result that none was found."""

    place: int | None
    """The step that made the difference, from 1: prospects are high before it was taken, and low after; None where no
    drop was found."""
    probability: float
    """Posterior probability of that place, given that there is one drop; 0 where none was found."""
    near: tuple[int, int] | None
    """First and last of the places that hold 95% of the probability."""
    before: float
    after: float
    """Prospects on both sides, as estimated."""
    p_value: float
    """p of no drop between the ends, from the test that decided whether to search."""
    n_forks: int


def bisect_drop(
    fork: Callable[[int], bool],
    n_steps: int,
    *,
    level: float = 0.05,
    looks: Sequence[int] = LOOKS,
    stop: float = STOP,
    most_forks: int = MOST_FORKS,
) -> ProspectDrop:
    """Find the sharpest drop with few forks.

    Args:
        fork: Carries the run on from after so many steps, 0 to ``n_steps``, and says whether it succeeds.
        n_steps: Steps of the run.
        level: Probability of reporting a drop where prospects are the same throughout.
        looks: Forks from each end at which the two ends are compared.
        stop: Posterior probability that ends the search.
        most_forks: Ends it too.

    Raises:
        ValueError: No step, or fewer forks than the first comparison of the ends takes.

    References:
        Horstein (1963), IEEE Transactions on Information Theory 9, 136-143 (bisection with noisy answers).
    """
    if n_steps < 1 or most_forks < 2 * looks[0]:
        raise ValueError(
            f"{n_steps} steps and {most_forks} forks: give a step, and {2 * looks[0]} forks at least."
        )
    counts = np.zeros((n_steps + 1, 2), dtype=np.int64)

    def add(place: int) -> None:
        counts[place, int(fork(place))] += 1

    p_value = 1.0
    affordable = [n for n in looks if 2 * n <= most_forks]
    for n in affordable:
        while counts[0].sum() < n:
            add(0)
            add(n_steps)
        p_value = min(1.0, len(affordable) * fisher_p_less(_arm(counts[n_steps]), _arm(counts[0])))
        if p_value <= level:
            break
    if p_value > level:
        before, after = (_arm(counts[place]).rate for place in (0, n_steps))
        return ProspectDrop(None, 0.0, None, before, after, p_value, int(counts.sum()))
    belief = _DropBelief(n_steps)
    belief.add_counts(counts)
    while belief.places.max() < stop and counts.sum() < most_forks:
        place = belief.most_telling()
        before_fork = counts[place].copy()
        add(place)
        belief.add(place, bool(counts[place, 1] > before_fork[1]))
    return belief.drop(p_value, int(counts.sum()))


def scan_drop(
    counts: Sequence[ReplayArm], rng: np.random.Generator, *, level: float = 0.05
) -> ProspectDrop:
    """Find the sharpest drop from forks at every step: dear, and able to find a small one.

    Whether there is a drop at all is decided by the largest likelihood ratio of a drop over equal prospects, whose
    distribution without a drop is simulated with the same number of forks.

    Args:
        counts: ``(n_steps + 1,)`` forks from after 0, 1, ... steps.
        rng: Draws the simulated scans.
        level: Probability of reporting a drop where there is none.

    References:
        Hinkley (1970), Biometrika 57, 1-17 (the likelihood of a change point).
    """
    success = np.array([arm.n_successes for arm in counts])
    n = np.array([arm.n for arm in counts])
    replicas = rng.binomial(n, success.sum() / n.sum(), size=(N_REPLICAS, len(n)))
    observed = float(_gain(success[None], n)[0])
    p_value = (1 + int((_gain(replicas, n) >= observed - 1e-9).sum())) / (N_REPLICAS + 1)
    if p_value > level:
        rate = float(success.sum() / n.sum())
        return ProspectDrop(None, 0.0, None, rate, rate, p_value, int(n.sum()))
    belief = _DropBelief(len(n) - 1)
    belief.add_counts(np.stack([n - success, success], axis=1))
    return belief.drop(p_value, int(n.sum()))


def _arm(counts: NDArray[np.int64]) -> ReplayArm:
    return ReplayArm(int(counts[1]), int(counts.sum()))


def _gain(success: NDArray[np.int64], n: NDArray[np.int64]) -> Array:
    """Largest log likelihood ratio of one drop over equal rates, ``(n_scans,)``; 0 where nothing falls."""
    k = np.cumsum(success, axis=1)
    m = np.cumsum(n)
    k_total, m_total = k[:, -1:], m[-1]
    k_before, m_before = k[:, :-1], m[:-1]
    k_after, m_after = k_total - k_before, m_total - m_before
    gain = (
        _log_likelihood(k_before, m_before)
        + _log_likelihood(k_after, m_after)
        - _log_likelihood(k_total, m_total)
    )
    falls = k_before * m_after > k_after * m_before
    return np.asarray(np.where(falls, gain, 0.0).max(axis=1))


def _log_likelihood(k: NDArray[np.int64], n: NDArray[np.int64] | int) -> Array:
    """Log likelihood of the most likely rate."""
    return np.asarray(xlogy(k, k / n) + xlogy(n - k, 1 - k / n))


class _DropBelief:
    """Posterior over the place of the drop and the rates before and after it, on a grid."""

    def __init__(self, n_steps: int) -> None:
        rates = (np.arange(N_RATES) + 0.5) / N_RATES
        high, low = np.meshgrid(rates, rates, indexing="ij")
        falls = high > low
        self.high, self.low = high[falls], low[falls]
        self.n_steps = n_steps
        self.log_weight = np.zeros((n_steps, len(self.high)))
        self._weigh()

    def _weigh(self) -> None:
        weight = np.exp(self.log_weight - self.log_weight.max())
        self.joint = weight / weight.sum()
        self.places = self.joint.sum(axis=1)

    def add_counts(self, counts: NDArray[np.int64]) -> None:
        """Take forks into account, ``(n_steps + 1, 2)`` failures and successes."""
        before = np.cumsum(counts, axis=0)[:-1]  # forks from before the step of each place
        after = counts.sum(axis=0) - before
        for side, rate in ((before, self.high), (after, self.low)):
            self.log_weight += np.outer(side[:, 1], np.log(rate)) + np.outer(
                side[:, 0], np.log(1 - rate)
            )
        self._weigh()

    def add(self, place: int, success: bool) -> None:
        """Take one more fork into account."""
        likely = [np.log(rate if success else 1 - rate) for rate in (self.high, self.low)]
        self.log_weight[place:] += likely[0]  # the drop comes later
        self.log_weight[:place] += likely[1]
        self._weigh()

    def most_telling(self) -> int:
        """The place from which a fork is expected to say most about where the drop is."""
        given = np.maximum(self.places, 1e-300)[:, None]
        high = (self.joint * self.high / given).sum(axis=1)
        low = (self.joint * self.low / given).sum(axis=1)
        after = np.arange(1, self.n_steps + 1)[:, None] > np.arange(self.n_steps + 1)[None]
        p = np.where(after, high[:, None], low[:, None])  # (places, forks)
        mean = self.places @ p
        gain = entr(mean) + entr(1 - mean) - self.places @ (entr(p) + entr(1 - p))
        return int(np.argmax(gain))

    def drop(self, p_value: float, n_forks: int) -> ProspectDrop:
        """The most likely place of the drop, with the places that have 95% of the probability."""
        best = int(np.argmax(self.places))
        order = np.argsort(-self.places, kind="stable")
        held = order[: int(np.searchsorted(np.cumsum(self.places[order]), 0.95)) + 1]
        return ProspectDrop(
            place=best + 1,
            probability=float(self.places[best]),
            near=(int(held.min()) + 1, int(held.max()) + 1),
            before=float((self.joint * self.high).sum()),
            after=float((self.joint * self.low).sum()),
            p_value=p_value,
            n_forks=n_forks,
        )
