"""Fits person by person by maximum likelihood, as other laboratories report them: BIC, and likelihood per choice.

A population is what this laboratory learns and scores. Much of the field fits each person alone instead, and compares
models by the Bayesian information criterion, averaged over people (GeCCo, arXiv 2502.00879), or by the normalised
likelihood of choices that were not fitted, ``exp`` of the mean log probability (CogFunSearch, ICML 2025). Both are
here, so that figures can be put beside theirs.

The search: Sobol' points over the declared ranges are tried on everybody at once; around each person's best point
others are drawn, nearer and nearer, and whatever is proposed for one person is tried on others. No gradient is
needed, so that any theory can be fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
LogLikelihood = Callable[[Array], Array]
"""Function from ``(n_points, n_parameters)`` in the unit cube to ``(n_points, n_people)`` nats."""
N_POINTS, WALKING_POINTS = 1024, 256
"""Points over the whole ranges, a power of two; of theories that are walked through answers one by one."""
MOST_TOGETHER: Final = 48
"""People who are tried together: what is proposed for one of them is tried on all."""
N_NEAR: Final = 12
"""Points drawn around each person's best one in a round."""
WIDEST, N_ROUNDS, SHRINK = 0.2, 14, 0.65
"""Standard deviation around the best point in the first round, as a share of a range; rounds; and how it shrinks."""


@dataclass(frozen=True)
class PersonFits:
    """A theory fitted to each person alone."""

    parameters: Mapping[str, Array]
    """``(n_people,)`` each: the most likely values within the declared ranges."""
    log_likelihood: Array
    """``(n_people,)`` nats of the responses that were fitted, at these values."""
    n_choices: Array
    """``(n_people,)`` responses that were fitted."""
    later_log_likelihood: Array
    """``(n_people,)`` nats of the responses that were not fitted, at the same values; empty where all were."""
    n_later: Array

    @property
    def bic(self) -> Array:
        """``(n_people,)`` Bayesian information criterion, ``k ln n - 2 ln L``; lower is better (Schwarz 1978)."""
        return len(self.parameters) * np.log(self.n_choices) - 2 * self.log_likelihood

    @property
    def per_choice(self) -> Array:
        """``(n_people,)`` normalised likelihood: the geometric mean of the probabilities of a person's choices."""
        return np.asarray(np.exp(self.log_likelihood / self.n_choices))

    @property
    def later_per_choice(self) -> Array:
        """`per_choice` of the responses that were not fitted."""
        return np.asarray(np.exp(self.later_log_likelihood / self.n_later))


def fit_each_person(
    theory: Theory,
    trials: Sequence[Trials],
    laboratory: Laboratory,
    *,
    later: Sequence[Trials] = (),
    seed: int = 0,
) -> PersonFits:
    """Fit a theory to each person of each experiment alone, by maximum likelihood within the declared ranges.

    Args:
        theory: Its declared limits bound the search; nothing else of its people counts.
        trials: What is fitted; a person with responses in two experiments counts as two people.
        laboratory: Laboratory in which it runs.
        later: The same experiments with further responses of the same people, who are scored on these alone.
        seed: Seed of the points that are tried.

    Raises:
        TrialsError: People cannot be told apart.
        TheoryError: The theory does not run on these responses.
    """
    if any(item.pooled for item in trials):
        raise TrialsError("these are counts of answers, which do not say who gave them.")
    ranges = [_range(prior) for prior in theory.priors.values()]

    pairs = zip(trials, later or trials, strict=True)
    parts = [
        (own.of_people(who), rest.of_people(who)) for own, rest in pairs for who in _parts(own)
    ]

    def search(view: TheoryView, own: Trials, rest: Trials) -> tuple[Array, Array, Array]:
        def asked(shown: Trials) -> LogLikelihood:
            return lambda points: view.log_likelihood(_values(theory, ranges, points), [shown])

        n_points = WALKING_POINTS if view.walks else N_POINTS
        best, reached = _climb(asked(own), len(ranges), n_points, np.random.default_rng(seed))
        further = np.diagonal(asked(rest)(best)) - reached if later else np.zeros(0)
        return best, reached, further

    found = [
        laboratory.look(theory, [own.stimuli], partial(search, own=own, rest=rest))
        for own, rest in parts
    ]
    best, reached, further = (np.concatenate(items) for items in zip(*found, strict=True))
    n_choices = np.concatenate([own.n_choices for own, _ in parts])
    n_later = np.concatenate([rest.n_choices for _, rest in parts]) - n_choices
    values = _values(theory, ranges, best)
    return PersonFits(
        {name: values[name] for name in theory.priors},
        reached,
        n_choices,
        further,
        n_later if later else np.zeros(0),
    )


def _parts(trials: Trials) -> list[NDArray[np.bool_]]:
    """Parts of an experiment's people, small enough for points of one to be tried on all others."""
    people = np.arange(trials.n_participants)
    return [people // MOST_TOGETHER == part for part in range(-(-len(people) // MOST_TOGETHER))]


def _climb(
    log_likelihood: LogLikelihood, n_parameters: int, n_points: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Each person's best point of the unit cube ``(n_people, n_parameters)``, and the nats that it reaches."""
    if not n_parameters:
        reached = log_likelihood(np.zeros((1, 0)))[0]
        return np.zeros((len(reached), 0)), reached
    points = qmc.Sobol(n_parameters, rng=rng).random(n_points)
    found = log_likelihood(points)
    best, reached = points[found.argmax(axis=0)], found.max(axis=0)
    width = WIDEST
    for _ in range(N_ROUNDS):
        steps = rng.normal(0.0, width, (N_NEAR, *best.shape))
        # Half of the points move in one direction only: ridges are often along a single parameter.
        alone = rng.integers(n_parameters, size=(N_NEAR // 2, len(best)))
        steps[: N_NEAR // 2] *= np.eye(n_parameters)[alone]
        points = np.clip(best + steps, 0.0, 1.0).reshape(-1, n_parameters)
        found = log_likelihood(points)
        better = found.max(axis=0) > reached
        best = np.where(better[:, None], points[found.argmax(axis=0)], best)
        reached = np.maximum(found.max(axis=0), reached)
        width *= SHRINK
    return best, reached


def _range(prior: Prior) -> Prior:
    """All that the declared limits allow, with equal weight."""
    kind: Any = "log_uniform" if prior.is_log else "uniform"
    return Prior(kind, prior.low, prior.high)


def _values(theory: Theory, ranges: Sequence[Prior], points: Array) -> dict[str, Array]:
    """Parameters at points of the unit cube."""
    values = {
        name: own.quantile(points[:, place])
        for place, (name, own) in enumerate(zip(theory.priors, ranges, strict=True))
    }
    return values or {"": np.zeros(len(points))}
