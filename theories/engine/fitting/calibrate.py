"""Learn from answers how a theory's parameters are distributed over people, within its declared ranges.

With single answers the population is learned by expectation maximisation: draws of the current population are
weighted by every participant's posterior, and the next population is the truncated normal that is most likely to
have yielded these posteriors, on the scale of each prior. With pooled answers people cannot be told apart; there the
center is the likeliest value that all people could share, and the spread what the pooled proportions leave open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.normals import (
    FIRST_SPREAD,
    SMALLEST_SPREAD,
    log_density,
    maximise,
)
from lakatos.theories.engine.fitting.points import latent_limits, people_at, sobol_points
from lakatos.theories.engine.fitting.pooled import Predict, SharedRegression
from lakatos.theories.engine.scoring.score import likelihood_of_answers
from lakatos.theories.language.prior import MOST_DOUBT, Prior

Array = NDArray[np.float64]
LogLikelihood = Callable[[Mapping[str, Array]], Array]
"""Function from parameters ``(n_draws,)`` each to ``(n_draws, n_participants of all experiments)`` nats."""
N_ROUNDS_WITHIN = 8
"""Rounds of expectation maximisation with the same draws; the draws are too few to determine more."""
N_ROUNDS_WITHOUT = 8
"""The same without a group."""
RISING, MOST_ROUNDS = 1e-3, 4
"""Nats per choice that two rounds must have gained for another one beyond those asked for, and rounds at most, times
those asked for: weights that grow together are learned slowly, and how soon must not decide between theories."""
OVERSTEP = 1.6
"""Times the step to the next center at which the next round draws (Salakhutdinov & Roweis, 2003, ICML, 664-671)."""
NARROWING, N_NARROWINGS = 3.0, 6
"""Divides the smallest spread of parameters whose population has it when a fit would end; further rounds at most."""
N_UNCHANGED, NO_GAIN = 3, 0.01
"""Rounds of a fit that together must explain so many nats a person more, or they were the last."""


def calibrate(
    priors: Mapping[str, Prior],
    trials: Sequence[Trials],
    predict: Predict,
    *,
    likelihood: LogLikelihood | None = None,
    start: Mapping[str, Prior] | None = None,
    n_draws: int = 512,
    n_iterations: int = 8,
    n_new: int | None = None,
) -> dict[str, Prior]:
    """Priors whose population is the one that the responses show, within the declared limits.

    Args:
        priors: The theory's declared priors.
        trials: Experiments, in the order in which ``predict`` responses.
        predict: Runs the theory.
        likelihood: Likelihood of single responses, where it does not follow from the probabilities of each trial alone.
        start: A population learned from some of the responses, from which to go on.
        n_draws: People who stand for a population, a power of two.
        n_iterations: Rounds, after which none follows but where the answers still become likelier; every round
            starts from the population of the last.
        n_new: People whom a round draws beside those before, a power of two; a quarter of ``n_draws`` by default.

    Returns:
        Normal (log-normal) priors with the limits of the given ones.

    References:
        Cornuet, Marin, Mira & Robert (2012), Adaptive multiple importance sampling, Scandinavian Journal of
        Statistics 39, 798-812.
    """
    if not priors or not trials:
        return dict(priors)
    if all(item.pooled for item in trials):
        shared = SharedRegression(priors, trials, predict)
        points = shared.fractions(people_at(priors, sobol_points(len(priors), n_draws, 1)[0]))
        if start:
            before = SharedRegression(start, trials, predict).point()
            points = np.concatenate([before[None], points])
        return shared.population(shared.fit(points, n_rounds=n_iterations))

    def ask(drawn: Mapping[str, Array]) -> Array:
        return likelihood(drawn) if likelihood else _likelihood(trials, predict(drawn))

    n_each = n_new or max(n_draws // 4, 1)
    batches = sobol_points(len(priors), n_each, MOST_ROUNDS * n_iterations + N_NARROWINGS)
    n_choices = sum(float(item.count.sum()) for item in trials)
    begun = _widened(start) if start else dict(priors)
    found, _ = _learned(priors, begun, batches, ask, n_iterations, n_choices, N_NARROWINGS)
    return found


def explained_near(
    priors: Mapping[str, Prior],
    near: Mapping[str, Prior],
    trials: Sequence[Trials],
    likelihood: LogLikelihood,
    *,
    n_draws: int,
    n_rounds: int,
) -> float:
    """Nats per choice of single answers under the best population that a few rounds find around a given one.

    A lower bound of what `calibrate` would find, for a fraction of its cost: good enough to say which of many similar
    theories deserve a fit.

    Args:
        priors: The theory's declared priors.
        near: Population to set out from, with limits as declared.
        trials: Experiments, in the order in which ``likelihood`` responses.
        likelihood: Likelihood of single responses.
        n_draws: People drawn in each round, a power of two.
        n_rounds: Number of rounds of drawing.
    """
    n_choices = sum(float(item.count.sum()) for item in trials)
    if not priors:
        return float(likelihood({"": np.zeros(1)}).sum()) / n_choices
    batches = sobol_points(len(priors), n_draws, n_rounds)
    _, explained = _learned(priors, dict(near), batches, likelihood, n_rounds, n_choices)
    return explained / n_choices


def _learned(
    priors: Mapping[str, Prior],
    ahead_of: dict[str, Prior],
    batches: Sequence[Array] | Array,
    ask: LogLikelihood,
    n_iterations: int,
    n_choices: float,
    n_narrowings: int = 0,
) -> tuple[dict[str, Prior], float]:
    """The population that single responses show, and the nats that it explains of them.

    Adaptive importance sampling around expectation maximisation.

    Args:
        priors: As declared.
        ahead_of: Population to set out from.
        batches: Batches of each round, ``(n_draws, n_parameters)`` numbers between 0 and 1.
        ask: Gives the log likelihood of each unit's responses.
        n_iterations: Rounds after which only fits that still rise go on.
        n_choices: Responses of all people.
        n_narrowings: The last batches, drawn only for a population that is narrower than `FIRST_SPREAD` allows.
    """
    low, high = latent_limits(priors)
    least, narrowed = np.full(len(priors), FIRST_SPREAD), 0
    latents: list[Array] = []
    parts: list[Array] = []
    populations: list[Array] = []
    explained: list[float] = []
    n_most = len(batches) - n_narrowings
    for batch in batches:
        drawn = people_at(ahead_of, batch)
        parts.append(ask(drawn))
        latents.append(_latent(priors, drawn))
        populations.append(_centers_and_spreads(ahead_of))
        # All people drawn so far count, as of the mixture of the populations that they were drawn from.
        latent, log_p = np.concatenate(latents, axis=1), np.concatenate(parts)
        n_people = log_p.shape[1]
        centers, spreads = np.swapaxes(populations, 0, 1)
        densities = log_density(latent, centers, spreads, low, high)
        mixture = np.logaddexp.reduce(densities) - np.log(len(densities))
        everybody = np.ones((n_people, 1))
        found = _maximise(
            latent, low, high, mixture, densities[-1], log_p, everybody, least, N_ROUNDS_WITHIN
        )
        explained.append(float(found.explained[0]) / n_people)
        if (
            narrowed
            or _is_done(explained, n_people, n_iterations, n_choices)
            or len(parts) == n_most
        ):
            # Parameters whose population is as narrow as it may be so far are drawn once more, closer together.
            is_least = found.spreads[0] <= 1.01 * least * (high - low)
            gains = narrowed and explained[-1] - explained[-2] >= NO_GAIN
            if narrowed == n_narrowings or not (is_least.any() or gains):
                break
            narrowed += 1
            least = np.where(is_least, np.maximum(least / NARROWING, SMALLEST_SPREAD), least)
            ahead_of = _narrowed(priors, found.centers[0], found.spreads[0])
            continue
        # The next draws come from beyond what was reached, in the direction of the last move.
        before, reached = populations[-1][0], found.centers[0]
        ahead = np.where(np.isnan(before), reached, before + OVERSTEP * (reached - before))
        ahead_of = _narrowed(priors, np.clip(ahead, low, high), found.spreads[0])
    doubts = spread_doubts(latent, found.log_weights[0], log_p)
    population = _narrowed(priors, found.centers[0], found.spreads[0], doubts)
    return population, float(found.explained[0])


def _is_done(
    explained: Sequence[float], n_people: int, n_iterations: int, n_choices: float
) -> bool:
    """Whether nothing is gained any more, or there were enough rounds and it does not still rise."""
    if len(explained) > N_UNCHANGED and explained[-1] - explained[-1 - N_UNCHANGED] < NO_GAIN:
        return True
    risen = explained[-1] - explained[max(len(explained) - 3, 0)]
    return len(explained) >= n_iterations and risen * n_people < RISING * n_choices


def _widened(population: Mapping[str, Prior]) -> dict[str, Prior]:
    """A learned population that is wide enough to move on: no narrower than `FIRST_SPREAD`."""
    low, high = latent_limits(population)
    least = dict(zip(population, FIRST_SPREAD * (high - low), strict=True))
    return {
        name: prior.narrowed(prior.center, float(least[name]))
        if prior.spread < least[name]
        else prior
        for name, prior in population.items()
    }


def spread_doubts(latent: Array, log_weights: Array, log_p: Array) -> Array:
    """``(n_parameters,)`` standard errors of the logarithms of a population's spreads.

    The errors are those of the empirical information: of what each unit's answers would change in a spread beside its
    center, other parameters held (McLachlan & Peel, 2000, Finite Mixture Models, section 2.15).

    Args:
        latent: ``(n_parameters, n_draws)`` draws, on the scale of each prior.
        log_weights: ``(n_draws,)`` of the draws in the population.
        log_p: ``(n_draws, n_units)`` log likelihood of each unit's responses.
    """
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    posterior = weights[:, None] * np.exp(log_p - log_p.max(axis=0))
    posterior /= np.maximum(posterior.sum(axis=0), 1e-300)
    away = latent - (latent @ weights)[:, None]
    variance = np.maximum(away**2 @ weights, 1e-300)
    # Scores of the center and of the logarithm of the spread, up to factors that cancel.
    by_center = away @ posterior
    by_spread = away**2 @ posterior / variance[:, None]
    by_center -= by_center.mean(axis=1, keepdims=True)
    by_spread -= by_spread.mean(axis=1, keepdims=True)
    slope = (by_center * by_spread).sum(axis=1) / np.maximum((by_center**2).sum(axis=1), 1e-300)
    rest = ((by_spread - slope[:, None] * by_center) ** 2).sum(axis=1)
    return np.asarray(1 / np.sqrt(np.maximum(rest, MOST_DOUBT**-2)))


def _narrowed(
    priors: Mapping[str, Prior], centers: Array, spreads: Array, doubts: Array | None = None
) -> dict[str, Prior]:
    """The declared priors as normals with these centers and spreads."""
    doubts = np.zeros(len(priors)) if doubts is None else doubts
    columns = zip(priors, centers, spreads, doubts, strict=True)
    return {name: priors[name].narrowed(*map(float, numbers)) for name, *numbers in columns}


def _latent(priors: Mapping[str, Prior], drawn: Mapping[str, Array]) -> Array:
    """``(n_parameters, n_draws)`` values on the scale of each prior."""
    return np.stack([prior.latent(drawn[name]) for name, prior in priors.items()])


def _centers_and_spreads(priors: Mapping[str, Prior]) -> Array:
    """``(2, n_parameters)``, NaN where a prior is uniform."""
    return np.array([(prior.center, prior.spread) for prior in priors.values()]).T


def _likelihood(trials: Sequence[Trials], answers: Sequence[Array]) -> Array:
    """``(n_draws, n_participants of all experiments)`` nats."""
    pairs = zip(answers, trials, strict=True)
    return np.concatenate([likelihood_of_answers(p, item) for p, item in pairs], axis=1)


def leave_groups_out(
    people: Mapping[str, Prior], drawn: Mapping[str, Array], log_p: Array, groups: NDArray[np.intp]
) -> Array:
    """Estimate a learned population without some of the people, as weights of its draws.

    The theory is not asked again: expectation maximisation goes on without each group, on the draws that there are,
    weighted by how much more likely they are in the new population than in the old one.

    Args:
        people: The population learned from everybody, as `calibrate` returned it.
        drawn: ``(n_draws,)`` values of each parameter in people of it.
        log_p: ``(n_draws, n_units)`` log likelihood of each unit's responses, nats.
        groups: ``(n_units,)`` number of the group that each belongs to, from 0 on.

    Returns:
        ``(n_groups, n_draws)`` normalised log weights; even ones for a group that holds everybody.
    """
    n_groups, n_draws = int(groups.max()) + 1, len(log_p)
    rest = (groups[:, None] != np.arange(n_groups)).astype(np.float64)
    log_weights = np.full((n_groups, n_draws), -np.log(n_draws))
    if not people or n_groups < 2:
        return log_weights
    latent = _latent(people, drawn)
    low, high = latent_limits(people)
    center, spread = _centers_and_spreads(people)
    begun = log_density(latent, center[None], spread[None], low, high)[0]
    least = np.clip(spread / (high - low), SMALLEST_SPREAD, FIRST_SPREAD)
    return _maximise(
        latent, low, high, begun, begun, log_p, rest, least, N_ROUNDS_WITHOUT
    ).log_weights


@dataclass(frozen=True)
class _Populations:
    """Normals that groups of people show, and the same as weights of the draws that they were found with."""

    centers: Array
    """``(n_groups, n_parameters)``."""
    spreads: Array
    log_weights: Array
    """``(n_groups, n_draws)``, normalised."""
    explained: Array
    """``(n_groups,)`` log likelihood of the units that count, nats."""


def _maximise(
    latent: Array,
    low: Array,
    high: Array,
    drawn_from: Array,
    begun: Array,
    log_p: Array,
    counted: Array,
    least: Array,
    n_rounds: int,
) -> _Populations:
    """Expectation maximisation with the draws that there are, weighted anew in every round.

    Args:
        latent: ``(n_parameters, n_draws)`` draws, on the scale of each prior.
        low, high: ``(n_parameters,)`` limits on that scale.
        drawn_from: ``(n_draws,)`` log density of what the draws are of.
        begun: ``(n_draws,)`` log density of the population to set out from.
        log_p: ``(n_draws, n_units)`` log likelihood of each unit's responses.
        counted: ``(n_units, n_groups)`` 1 where a unit teaches a group's population, else 0.
        least: ``(n_parameters,)`` smallest spreads, as shares of the ranges.
        n_rounds: Most rounds; none is begun with so few draws left that count.
    """
    weights = np.repeat(_weights((begun - drawn_from)[None]), counted.shape[1], axis=0)
    most = log_p.max(axis=0)
    likelihood = np.exp(log_p - most)
    centers, spreads, weights = maximise(
        latent, low, high, drawn_from, weights, likelihood, counted.T.copy(), least, n_rounds
    )
    explained = np.log(np.maximum(weights @ likelihood, 1e-300)) + most
    return _Populations(
        centers,
        spreads,
        np.log(np.maximum(weights, 1e-300)),
        np.einsum("gu,ug->g", explained, counted),
    )


def _weights(log_ratio: Array) -> Array:
    """``(n_groups, n_draws)`` weights that sum to one, from logarithms of their ratios."""
    weights = np.exp(log_ratio - log_ratio.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
