"""Comparison with other theories of the same people: all of them follow another theory, or only a share of them does.

Both are tests by likelihood ratios averaged over what is not known (which other theory, which share), which are
e-values: their expectation is 1 at most where the null is true, so that 1 over one is a p-value, if a conservative
one. As the populations have been learned from these people, this holds about.

The null of "another" is that everybody follows the theory that is diagnosed. The null of "mixture" is that everybody
follows *one* theory of the pool, whichever: where all follow the leader, the loser's failure is no sign of two kinds.

References:
    Vovk & Wang (2021), Annals of Statistics 49(3), 1736-1754.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import chi2, t

from lakatos.theories.discovery.diagnosis.correction import CorrectionGain, gain_between
from lakatos.theories.discovery.diagnosis.panel import TheoryPredictions
from lakatos.theories.engine.scoring.score import log_predictive

Array = NDArray[np.float64]
SHARES = np.linspace(0.1, 0.9, 9)
"""Shares of people who may follow another theory."""
FINE = np.linspace(0.0, 1.0, 101)
"""Shares from which the best one and its interval are read."""


@dataclass(frozen=True)
class PeopleScores:
    """Log predictive probability of every person's responses, experiment by experiment."""

    parts: tuple[Array, ...]
    """``(n_people,)`` for each experiment whose people can be told apart."""
    sizes: tuple[Array, ...]
    """Choices of each."""

    @property
    def all(self) -> Array:
        """``(n_people,)`` of all experiments, one after the other."""
        return np.concatenate(self.parts)

    def shared(self, other: PeopleScores, share: float) -> PeopleScores:
        """Score every person where a ``share`` of the people follow the other theory."""
        own, theirs = np.log1p(-min(share, 1 - 1e-12)), np.log(max(share, 1e-300))
        parts = (
            np.logaddexp(own + a, theirs + b) for a, b in zip(self.parts, other.parts, strict=True)
        )
        return PeopleScores(tuple(parts), self.sizes)


def scores_of_people(theory: TheoryPredictions) -> PeopleScores:
    """Score every person by the theory's learned population."""
    units = [
        log_predictive(item, theory.log_weights)
        for item in theory.evidence
        if not item.trials.pooled
    ]
    return PeopleScores(
        tuple(item.log_predictive for item in units), tuple(item.n_choices for item in units)
    )


@dataclass(frozen=True)
class SharedPeople:
    """A theory beside one other: how many people follow that, and what this gains."""

    share: float
    """Most likely share of people who follow the other theory."""
    interval: tuple[float, float]
    """Shares whose likelihood is not rejected at 5% (Wilks)."""
    gain: CorrectionGain
    log_ratios: Array
    """``(n_shares,)`` log likelihood at each of `SHARES`, less that of the theory alone."""
    log_ratio: float
    """Log likelihood if everybody follows the other theory, less that of the theory alone."""


def sharing(own: PeopleScores, other: PeopleScores) -> SharedPeople:
    """Compute the gain if a share of the people follow another theory."""
    a, b = own.all, other.all
    profile = np.array([own.shared(other, share).all.sum() for share in FINE])
    likely = FINE[profile >= profile.max() - chi2.ppf(0.95, 1) / 2]
    share = float(FINE[profile.argmax()])
    mixed = [own.shared(other, value).all.sum() - a.sum() for value in SHARES]
    return SharedPeople(
        share,
        (float(likely[0]), float(likely[-1])),
        gain_between(own.parts, own.shared(other, share).parts, own.sizes, share),
        np.array(mixed),
        float((b - a).sum()),
    )


@dataclass(frozen=True)
class PoolEvidence:
    """A theory beside all others: the other that matters most under either question, and p-values."""

    mixed_with: int
    """Number of the other theory with which a mixture gains most."""
    mixture_p: float
    """Null: everybody follows one theory of the pool."""
    replaced_by: int
    """Number of the other theory that predicts everybody best."""
    replaced_p: float
    """Null: everybody follows the theory itself."""


def pool_evidence(found: Sequence[SharedPeople]) -> PoolEvidence:
    """Weigh what was found beside each other theory."""
    alone = np.array([item.log_ratio for item in found])
    mixtures = logsumexp([item.log_ratios for item in found]) - np.log(len(found) * len(SHARES))
    singles = logsumexp(alone) - np.log(len(found))
    return PoolEvidence(
        int(np.argmax([item.gain.total for item in found])),
        _p(mixtures - max(0.0, float(alone.max()))),
        int(alone.argmax()),
        _p(singles),
    )


def z_of(p: float) -> float:
    """The normal deviate of a two-sided p."""
    return float(-t.ppf(max(p, 1e-300) / 2, 1e6)) if p < 1 else 0.0


def _p(log_e: float) -> float:
    return float(np.exp(min(0.0, -log_e)))
