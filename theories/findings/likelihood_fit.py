"""Estimates and scores of likelihood functions: of each participant, of the population, and of held-out participants.

Parameters lie between bounds; z is the log odds of a parameter's place between them. Each participant's maximum of the
likelihood is found from several starts. Draws z_s of a distribution q around the participant's posterior then represent
the participant in all that follows, without further calls of the function:

    p(y_i | mu, sigma) = mean over s of  p(y_i | z_s) Normal(z_s; mu, sigma) / q(z_s)

Expectation maximisation with these draws finds the population (mu, sigma) of any set of participants, and the same
formula the log predictive probability of a participant who was not in it. q is mixed with the population of all, so
that weights stay bounded.

Reference:
    Huys et al. (2011), Disentangling the roles of approach, activation and valence in instrumental and Pavlovian
    responding, PLoS Computational Biology 7(4), e1002028 (the hierarchical fit, there by Laplace's approximation).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp
from scipy.stats import multivariate_t, norm

from lakatos.theories.engine.sandbox.likelihoods import (
    Columns,
    LikelihoodSandbox,
    LikelihoodSession,
    limits_of_calls,
)
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.likelihood import Likelihood, vectors_within

Array = NDArray[np.float64]
WIDE: Final = 1.7
"""Standard deviation of z under which a parameter lies about evenly between its bounds."""
N_SCREENED: Final = 32
MOST_STEPS: Final = 60
N_STARTS: Final = 2
N_DRAWS: Final = 256
N_PARTS: Final = 10
"""Parts of participants of which one after the other is predicted from the rest."""
EDGE: Final = 1e-6
"""Share of the range from its ends within which the search stays."""
FLOOR: Final = -1e8
"""Log likelihood in place of one that is not finite."""
STEP: Final = 0.03
"""Share of a population's standard deviation, for differences by which curvatures are found."""
FREEDOM: Final = 5
SHARE_WIDE: Final = 0.2
LEAST_SPREAD: Final = 0.2
"""Smallest standard deviation of z over participants; with a smaller one, predictions hardly differ."""
N_ROUNDS: Final = 100
LEAST_EFFECTIVE: Final = 0.25
"""Share of draws that must represent the typical participant for a further round."""
MOST_REDRAWN: Final = 6
NEAR: Final = 0.2
"""Distance between two populations of z below which draws of one represent the other as well."""
FEW_DRAWS: Final = 10.0
"""Effective draws below which a participant's estimates are uncertain."""


@dataclass(frozen=True)
class ParticipantDraws:
    """Information of a participant's responses about the parameters."""

    most_likely: Array
    """``(n_parameters,)`` within the bounds."""
    log_likelihood: float
    """Log likelihood at the most likely values."""
    n_responses: int
    z: Array
    """``(n_draws, n_parameters)``."""
    log_values: Array
    """``(n_draws,)`` log likelihood minus log density of the draws."""
    under: LikelihoodPopulation | None = None
    """The population under which the draws represent the posterior; a wide one where it is not said."""


@dataclass(frozen=True)
class LikelihoodPopulation:
    """A normal distribution of z over participants, parameters independent."""

    mean: Array
    sd: Array

    def log_weights(self, person: ParticipantDraws) -> Array:
        """``(n_draws,)`` log weights of a participant's draws, not normalised."""
        return person.log_values + self.log_density(person.z)

    def log_density(self, z: Array) -> Array:
        """``(n_draws,)`` log density of draws."""
        return np.asarray(np.sum(norm.logpdf(z, self.mean, self.sd), axis=1))


@dataclass(frozen=True)
class FittedLikelihood:
    """A likelihood function fitted to participants."""

    likelihood: Likelihood
    names: tuple[str, ...]
    """Names of the participants."""
    draws: tuple[ParticipantDraws, ...]
    population: LikelihoodPopulation

    @property
    def people(self) -> pd.DataFrame:
        """The median of each parameter over participants, and the middle 95% of them."""
        low, high = self.likelihood.ends
        ends = self.population.mean + self.population.sd * norm.ppf([[0.025], [0.5], [0.975]])
        values = low + (high - low) * expit(ends)
        columns = dict(zip(("low", "median", "high"), values, strict=True))
        return pd.DataFrame({"parameter": list(self.likelihood.bounds), **columns})

    @property
    def participants(self) -> pd.DataFrame:
        """A row for each participant: most likely values, and means and 95% intervals under the population.

        Means and intervals are NaN where fewer than `FEW_DRAWS` effective draws represent a participant.
        """
        rows = [self._row(name, own) for name, own in zip(self.names, self.draws, strict=True)]
        return pd.DataFrame(rows)

    @property
    def n_with_few_draws(self) -> int:
        """Participants whose means and intervals are uncertain, since few draws represent them."""
        return sum(map(self._has_few_draws, self.draws))

    def _has_few_draws(self, own: ParticipantDraws) -> bool:
        weights = np.exp(_normalised(self.population.log_weights(own)))
        return bool(1 / (weights**2).sum() < FEW_DRAWS)

    def _row(self, name: str, own: ParticipantDraws) -> dict[str, object]:
        low, high = self.likelihood.ends
        weights = np.exp(_normalised(self.population.log_weights(own)))
        values = low + (high - low) * expit(own.z)
        bic = len(low) * np.log(own.n_responses) - 2 * own.log_likelihood
        row: dict[str, object] = {
            "participant": name,
            "responses": own.n_responses,
            "log_likelihood": own.log_likelihood,
            "bic": bic,
        }
        flags = []
        unknown = self._has_few_draws(own)
        for k, parameter in enumerate(self.likelihood.bounds):
            order = np.argsort(values[:, k])
            shares = np.cumsum(weights[order])
            ends = np.interp((0.025, 0.975), shares, values[order, k])
            row |= {
                f"{parameter}_ml": own.most_likely[k],
                f"{parameter}_mean": np.nan if unknown else float(weights @ values[:, k]),
                f"{parameter}_low": np.nan if unknown else float(ends[0]),
                f"{parameter}_high": np.nan if unknown else float(ends[1]),
            }
            place = (own.most_likely[k] - low[k]) / (high[k] - low[k])
            if min(place, 1 - place) <= 0.01:
                flags.append(f"{parameter} at the limit")
        if unknown:
            flags.append("few effective draws")
        return row | {"flags": "; ".join(flags)}


def represent_participants(
    item: Likelihood,
    people: Mapping[str, Columns],
    sandbox: LikelihoodSandbox,
    *,
    seconds: float = 10.0,
    done: Callable[[], None] = lambda: None,
) -> list[ParticipantDraws]:
    """Each participant's most likely values, and draws of the parameters.

    Args:
        item: The function.
        people: Columns of each participant.
        sandbox: Sandbox in which it runs.
        seconds: Processor time of one call.
        done: Called after each participant.

    Raises:
        TheoryError: The function fails.
    """
    wide = LikelihoodPopulation(np.zeros(len(item.bounds)), np.full(len(item.bounds), WIDE))
    limits = limits_of_calls(seconds)
    with sandbox.open_function(item.called, [*people.values()], limits) as session:
        session.together = item.vectorised
        first = []
        for place, name in enumerate(people):
            try:
                first.append(_Participant(item, session, place, people[name]).begin(wide))
            except TheoryError as error:
                raise type(error)(f"{error} This was for participant {name}.") from None
            done()
        # Draws around each posterior under the population of all, until it stays: few draws under one population lie
        # in a narrow other one. They only choose where the function is called, and predict nobody.
        draws, population = first, wide
        for _ in range(MOST_REDRAWN):
            before, population = population, fit_population(draws)
            if _distance(before, population) < NEAR:
                break
            draws = [
                _Participant(item, session, place, columns).again(own, population)
                for place, (columns, own) in enumerate(zip(people.values(), draws, strict=True))
            ]
        return draws


def fit_population(draws: Sequence[ParticipantDraws]) -> LikelihoodPopulation:
    """The population that most likely produced the responses of some participants, by expectation maximisation.

    It begins with the population under which the draws were made, and ends early where few of them represent the
    typical participant, because the rest would follow chance.
    """
    n_draws, n_parameters = draws[0].z.shape
    population = draws[0].under or LikelihoodPopulation(
        np.zeros(n_parameters), np.full(n_parameters, WIDE)
    )
    for number in range(N_ROUNDS):
        means, squares, effective = [], [], []
        for own in draws:
            weights = np.exp(_normalised(population.log_weights(own)))
            means.append(weights @ own.z)
            squares.append(weights @ own.z**2)
            effective.append(1 / np.sum(weights**2))
        if number and np.median(effective) < LEAST_EFFECTIVE * n_draws:
            break
        mean = np.mean(means, axis=0)
        variance = np.mean(squares, axis=0) - mean**2
        new = LikelihoodPopulation(mean, np.sqrt(np.maximum(variance, LEAST_SPREAD**2)))
        change = _distance(population, new)
        population = new
        if change < 1e-4:
            break
    return population


def _distance(one: LikelihoodPopulation, other: LikelihoodPopulation) -> float:
    """The largest difference of a mean or a standard deviation."""
    differences = np.abs([one.mean - other.mean, one.sd - other.sd])
    return float(differences.max())


def score_left_out(draws: Sequence[ParticipantDraws]) -> UnitScores:
    """Log predictive probability of each participant's responses, from the population of other participants.

    Raises:
        TheoryError: There is one participant only.
    """
    if len(draws) < 2:
        raise TheoryError(
            "one participant cannot be predicted from others; a score needs two or more."
        )
    part = np.arange(len(draws)) % min(N_PARTS, len(draws))
    scores, errors = np.empty(len(draws)), np.empty(len(draws))
    for number in np.unique(part):
        others = fit_population([draws[place] for place in np.flatnonzero(part != number).tolist()])
        for place in np.flatnonzero(part == number).tolist():
            logs = others.log_weights(draws[place])
            scores[place] = logsumexp(logs) - np.log(len(logs))
            shares = np.exp(_normalised(logs))
            errors[place] = max((shares**2).sum() - 1 / len(shares), 0.0)
    n_choices = np.array([own.n_responses for own in draws], dtype=np.float64)
    chance = float(np.sqrt(errors.sum()) / n_choices.sum())
    return UnitScores(scores, n_choices, chance)


def _normalised(log_weights: Array) -> Array:
    return np.asarray(log_weights - logsumexp(log_weights))


class _Participant:
    """One participant's responses, and how likely parameters make them."""

    def __init__(
        self, item: Likelihood, session: LikelihoodSession, place: int, columns: Columns
    ) -> None:
        self.item, self.session, self.place, self.columns = item, session, place, columns
        self.low, self.high = item.ends

    def log_likelihood(self, shares: Array) -> Array:
        """``(n_vectors,)`` at places between the bounds."""
        vectors = self.low + (self.high - self.low) * shares
        logs = self.item.log_likelihood(self.session.values(self.place, vectors))
        return np.where(np.isfinite(logs), logs, FLOOR)

    def begin(self, population: LikelihoodPopulation) -> ParticipantDraws:
        """The most likely values, from the best of points that are spread evenly, and draws around them."""
        screened = (vectors_within(self.item, N_SCREENED) - self.low) / (self.high - self.low)
        values = self.log_likelihood(screened)
        best, top = screened[values.argmax()], float(values.max())
        for start in screened[np.argsort(-values)[:N_STARTS]]:
            ended = minimize(
                _slopes(self.log_likelihood, 1e-6, 1 - EDGE),
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(EDGE, 1 - EDGE)] * len(self.low),
                options={"maxiter": MOST_STEPS},
            )
            if -ended.fun > top:
                best, top = np.asarray(ended.x), float(-ended.fun)
        return self._drawn(best, top, population, logit(np.clip(best, 0.02, 0.98)))

    def again(self, own: ParticipantDraws, population: LikelihoodPopulation) -> ParticipantDraws:
        """Draws around the posterior under a population."""
        best = (own.most_likely - self.low) / (self.high - self.low)
        start = np.clip(own.z[population.log_weights(own).argmax()], -8.0, 8.0)
        return self._drawn(best, own.log_likelihood, population, start)

    def _drawn(
        self, best: Array, top: float, population: LikelihoodPopulation, start: Array
    ) -> ParticipantDraws:
        """Draws around the posterior under a population, by Laplace's approximation."""

        def log_posterior(z: Array) -> Array:
            return self.log_likelihood(expit(z)) + population.log_density(z)

        ended = minimize(
            _slopes(log_posterior, 1e-5, np.inf),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-8.0, 8.0)] * len(start),
            options={"maxiter": MOST_STEPS},
        )
        center = np.asarray(ended.x)
        seed = zlib.crc32(b"".join(own.tobytes() for own in self.columns.values()))
        spread = _covariance(log_posterior, center, population.sd)
        z, log_density = _proposal(center, spread, population, np.random.default_rng(seed))
        log_values = self.log_likelihood(expit(z)) - log_density
        n_responses = len(next(iter(self.columns.values())))
        most_likely = self.low + (self.high - self.low) * best
        return ParticipantDraws(
            most_likely, top, n_responses, z, np.asarray(log_values), population
        )


def _slopes(
    function: Callable[[Array], Array], step: float, most: float
) -> Callable[[Array], tuple[float, Array]]:
    """The negative of a function and its slopes, by differences that are requested in one call."""

    def at(point: Array) -> tuple[float, Array]:
        signs = np.where(point + step > most, -1.0, 1.0)
        moved = point + np.diag(step * signs)
        values = function(np.concatenate([point[None], moved]))
        return -float(values[0]), -(values[1:] - values[0]) / (step * signs)

    return at


def _covariance(function: Callable[[Array], Array], center: Array, sd: Array) -> Array:
    """Inverse of the negative curvature at a maximum, by central differences; not wider than a population."""
    n = len(center)
    offsets = np.diag(STEP * sd)
    pairs = [(i, j) for i in range(n) for j in range(i + 1)]
    points = [
        center + a * offsets[i] + b * offsets[j] for i, j in pairs for a in (1, -1) for b in (1, -1)
    ]
    values = function(np.array(points)).reshape(len(pairs), 4)
    curvature = np.empty((n, n))  # in units of the population's standard deviations
    for (i, j), (both, first, second, none) in zip(pairs, values, strict=True):
        curvature[i, j] = curvature[j, i] = (both - first - second + none) / (4 * STEP**2)
    sizes, axes = np.linalg.eigh(-curvature)
    scaled = (axes / np.maximum(sizes, 1.0)) @ axes.T
    return np.asarray(scaled * np.outer(sd, sd))


def _proposal(
    center: Array, covariance: Array, population: LikelihoodPopulation, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draws around a posterior, and the logarithm of their density.

    A t distribution with `FREEDOM` degrees around the posterior, mixed with the population.
    """
    n = len(center)
    root = np.linalg.cholesky(covariance)
    n_wide = round(SHARE_WIDE * N_DRAWS)
    standard = rng.standard_normal((N_DRAWS - n_wide, n))
    scale = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, N_DRAWS - n_wide))
    around = center + (standard @ root.T) * scale[:, None]
    anywhere = population.mean + population.sd * rng.standard_normal((n_wide, n))
    z = np.concatenate([around, anywhere])
    narrow = multivariate_t(center, covariance, df=FREEDOM).logpdf(z)
    shares = np.log([1 - n_wide / N_DRAWS, n_wide / N_DRAWS])
    parts = np.stack([shares[0] + narrow, shares[1] + population.log_density(z)])
    return z, np.asarray(logsumexp(parts, axis=0))
