"""Populations whose centers depend on what is known of a person: a regression within expectation maximisation.

On the scale of each prior, a person's parameter is a normal within its limits, around a center of the person's own::

    latent = low + width * (center + effects . z(person)) + spread * noise

where ``z`` is what is known of the person (an age, a group) and ``width`` the width of the range. Effects have
independent normal priors, so that few people cannot show a large one. The theory is asked as in `calibrate`: how likely
each person's responses are for drawn people. The rest is done with these draws, weighted for each person by the
population that her own ``z`` makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
N_ROUNDS = 60
"""Most rounds of expectation maximisation with the same draws."""
SETTLED = 5e-4
"""Change of centers and effects in widths of the range, and of logarithms of spreads, after which none follows."""
N_STEPS, NO_STEP = 12, 1e-4
"""Most steps of Fisher scoring in a round of maximisation, and the smallest step that is followed by another."""
LEAST_SPREAD = 0.05
"""Smallest spread of a population, as a share of the declared range. Each person has a population of her own here; a
narrower one holds so few of the shared draws that chance among them makes peaks of the likelihood, and errors that are
much too small."""
LEAST_LOG_SPREAD = float(np.log(LEAST_SPREAD))
LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class CenterRegression:
    """Dependence of each parameter's population on what is known of people, in widths of its range."""

    center: Array
    """``(n_parameters,)`` of people at ``z = 0``."""
    effects: Array
    """``(n_parameters, n_columns)`` change of a person's center for a change of ``z`` by 1."""
    log_spread: Array
    """``(n_parameters,)`` logarithm of how much people of the same ``z`` differ."""

    def centers_of(self, z: Array) -> Array:
        """``(n_parameters, n_people)`` centers of people with ``(n_people, n_columns)`` known of them, in the range."""
        return np.clip(self.center[:, None] + self.effects @ z.T, 0.0, 1.0)


@dataclass(frozen=True)
class PeopleOnDraws:
    """Drawn people, and how likely everybody's responses are for each of them."""

    latent: Array
    """``(n_parameters, n_draws)`` in widths of the range, from 0 to 1."""
    log_density: Array
    """``(n_draws,)`` of what the draws are of."""
    log_p: Array
    """``(n_draws, n_people)`` log likelihood of each person's responses, nats."""
    z: Array
    """``(n_people, n_columns)`` what is known of each."""

    def log_weights(self, found: CenterRegression) -> Array:
        """``(n_draws, n_people)`` normalised log weights of the draws in each person's own population."""
        centers, spread = found.centers_of(self.z), np.exp(found.log_spread)[:, None]
        # The exponent of a normal, multiplied out, so that draws and people meet in a product of matrices.
        by_draw = -0.5 * ((self.latent / spread) ** 2).sum(axis=0)
        by_both = self.latent.T @ (centers / spread**2)
        log_weights = by_both + (by_draw - self.log_density)[:, None]
        return np.asarray(log_weights - logsumexp(log_weights, axis=0))

    def predicted(self, found: CenterRegression) -> Array:
        """``(n_people,)`` log probability of each person's responses in her population, nats."""
        return np.asarray(logsumexp(self.log_weights(found) + self.log_p, axis=0))

    def moments(self, found: CenterRegression) -> tuple[Array, Array]:
        """``(n_parameters, n_people)`` mean and mean square of each person's parameters, given her responses."""
        log_posterior = self.log_weights(found) + self.log_p
        posterior = np.exp(log_posterior - log_posterior.max(axis=0))
        posterior /= posterior.sum(axis=0)
        return self.latent @ posterior, self.latent**2 @ posterior


def learn_regression(
    people: PeopleOnDraws,
    start: CenterRegression,
    free: Bools,
    prior_sd: float,
    counted: Bools | None = None,
    n_rounds: int = N_ROUNDS,
) -> CenterRegression:
    """The regression that is most likely to have yielded people's responses, by expectation maximisation.

    Args:
        people: Draws and likelihoods.
        start: To set out from; effects that are not free stay as they are there.
        free: ``(n_parameters, n_columns)`` which effects are learned.
        prior_sd: Standard deviation of each effect's normal prior, in widths of the range.
        counted: ``(n_people,)`` who teaches; everybody by default.
        n_rounds: Most rounds.
    """
    who = np.ones(len(people.z), dtype=bool) if counted is None else counted
    teaching = PeopleOnDraws(people.latent, people.log_density, people.log_p[:, who], people.z[who])
    found = start
    for _ in range(n_rounds):
        mean, square = teaching.moments(found)
        later = _most_likely(mean, square, teaching.z, found, free, prior_sd)
        moved = max(
            float(np.abs(later.center - found.center).max()),
            float(np.abs(later.effects - found.effects).max(initial=0.0)),
            float(np.abs(later.log_spread - found.log_spread).max()),
        )
        found = later
        if moved < SETTLED:
            break
    return found


def effect_errors(
    people: PeopleOnDraws, found: CenterRegression, free: Bools, prior_sd: float
) -> Array:
    """``(n_parameters, n_columns)`` standard errors of effects, by the empirical information; NaN where not free.

    A person's score is what her answers expect of the score that her parameters would give (Fisher's identity); the
    information is the sum of the scores' products over people and all numbers, and of the prior's.

    References:
        McLachlan & Peel (2000), Finite mixture models, section 2.15.
    """
    mean, square = people.moments(found)
    centers, spread = found.centers_of(people.z), np.exp(found.log_spread)[:, None]
    first, second, *_ = _truncated_moments(centers, spread)

    # Scores: what the mean and the mean square of (x - center) / spread differ by from those before the responses.
    # A person whose center stands at an end of the range, where it would leave it, says nothing of where it would be.
    wanted = found.center[:, None] + found.effects @ people.z.T
    inside = (wanted > 0.0) & (wanted < 1.0)
    away = (mean - centers) / spread
    square_away = (square - 2 * centers * mean + centers**2) / spread**2
    by_center = (away - first) / spread * inside
    by_spread = square_away - second
    by_effect = by_center[:, None, :] * people.z.T[None]
    scores = np.concatenate([by_effect[free], by_center, by_spread], axis=0)

    # Their products; a number on which no answer depends has no score: it keeps its prior, or is left as it is.
    chosen = np.argwhere(free)
    information = scores @ scores.T
    precision = np.full(len(scores), 1e-9)
    precision[: len(chosen)] = prior_sd**-2
    errors = np.sqrt(np.diag(np.linalg.inv(information + np.diag(precision))))
    table = np.full(free.shape, np.nan)
    table[free] = errors[: len(chosen)]
    return table


def _most_likely(
    mean: Array,
    square: Array,
    z: Array,
    start: CenterRegression,
    free: Bools,
    prior_sd: float,
) -> CenterRegression:
    """The regression most likely to have yielded people with these moments, by Fisher scoring.

    Args:
        mean, square: ``(n_parameters, n_people)`` mean and mean square of each person's draws.
        z: ``(n_people, n_columns)``.
        start, free, prior_sd: As in `learn_regression`.
    """
    # The center is the slope of a column of ones, which has no prior and is always learned.
    design = np.concatenate([np.ones((len(z), 1)), z], axis=1)
    n_columns = design.shape[1]
    no_prior, of_effects = np.zeros((len(free), 1)), np.full(free.shape, prior_sd**-2)
    precision = np.concatenate([no_prior, of_effects], axis=1)
    learned = np.concatenate([np.ones((len(free), 1), dtype=bool), free], axis=1)
    slopes = np.concatenate([start.center[:, None], start.effects], axis=1)
    log_spread = start.log_spread

    def log_joint(slopes: Array, log_spread: Array) -> Array:
        prior = 0.5 * (precision * slopes**2).sum(axis=1)
        return np.asarray(_log_joint(mean, square, design, slopes, log_spread) - prior)

    reached = log_joint(slopes, log_spread)
    for _ in range(N_STEPS):
        step = _scoring_step(mean, square, design, slopes, log_spread, precision, learned)
        # A step that makes the people less likely is halved, for each parameter by itself.
        size = np.ones(len(slopes))
        for _ in range(6):
            ahead = slopes + size[:, None] * step[:, :n_columns]
            ahead[:, 0] = np.clip(ahead[:, 0], 0.0, 1.0)
            wider = np.clip(log_spread + size * step[:, n_columns], LEAST_LOG_SPREAD, 0.0)
            found = log_joint(ahead, wider)
            worse = found < reached - 1e-9 * np.abs(reached)
            if not worse.any():
                break
            size = np.where(worse, 0.5 * size, size)
        ahead = np.where(worse[:, None], slopes, ahead)
        wider = np.where(worse, log_spread, wider)
        moved = max(float(np.abs(ahead - slopes).max()), float(np.abs(wider - log_spread).max()))
        slopes, log_spread, reached = ahead, wider, np.where(worse, reached, found)
        if moved < NO_STEP:
            break
    return CenterRegression(slopes[:, 0], slopes[:, 1:], log_spread)


def _scoring_step(
    mean: Array,
    square: Array,
    design: Array,
    slopes: Array,
    log_spread: Array,
    precision: Array,
    learned: Bools,
) -> Array:
    """``(n_parameters, n_columns + 2)`` step of Fisher scoring in center, effects and logarithm of the spread."""
    spread = np.exp(log_spread)[:, None]
    wanted = slopes @ design.T
    centers = np.clip(wanted, 0.0, 1.0)
    # A person whose center would leave the range says nothing of where it would be; one at an end may come back.
    inside = (wanted >= 0.0) & (wanted <= 1.0)
    first, second, var_center, both, var_spread = _truncated_moments(centers, spread)

    # The score: what each person's draws say beyond what a truncated normal there would say by itself.
    away = (mean - centers) / spread
    square_away = (square - 2 * centers * mean + centers**2) / spread**2
    by_center = (away - first) / spread * inside
    by_spread = square_away - second
    by_slope = by_center @ design - precision * slopes
    gradient = np.concatenate([by_slope, by_spread.sum(axis=1)[:, None]], axis=1)

    # The expected information: of slopes, of the spread, and between them; the prior adds its precision.
    n_columns = design.shape[1]
    of_centers = inside * var_center / spread**2
    between = (inside * both / spread) @ design
    information = np.zeros((len(slopes), n_columns + 1, n_columns + 1))
    information[:, :n_columns, :n_columns] = np.einsum("jp,pa,pb->jab", of_centers, design, design)
    information[:, :n_columns, n_columns] = between
    information[:, n_columns, :n_columns] = between
    information[:, n_columns, n_columns] = var_spread.sum(axis=1)
    diagonal = np.arange(n_columns)
    information[:, diagonal, diagonal] += precision

    # The step, in what may move.
    moves = _may_move(learned, slopes[:, 0], log_spread, gradient)
    pairs = moves[:, :, None] & moves[:, None, :]
    ridge = np.where(moves, 1e-9, 1.0)[:, None, :]
    information = np.where(pairs, information, 0.0) + np.eye(n_columns + 1) * ridge
    step = np.linalg.solve(information, (gradient * moves)[..., None])[..., 0]
    return np.asarray(np.clip(step, -0.5, 0.5))


def _may_move(learned: Bools, center: Array, log_spread: Array, gradient: Array) -> Bools:
    """``(n_parameters, n_columns + 2)`` what a step changes.

    What is at an end of its range and would leave it, stays; so does what is not to be learned.
    """
    moves = np.concatenate([learned, np.ones((len(center), 1), dtype=bool)], axis=1)
    lower, higher = gradient < 0, gradient > 0
    leaves_below = (center <= 0.0) & lower[:, 0]
    leaves_above = (center >= 1.0) & higher[:, 0]
    too_narrow = (log_spread <= LEAST_LOG_SPREAD) & lower[:, -1]
    too_wide = (log_spread >= 0.0) & higher[:, -1]
    moves[:, 0] &= ~(leaves_below | leaves_above)
    moves[:, -1] &= ~(too_narrow | too_wide)
    return moves


def _log_joint(
    mean: Array, square: Array, design: Array, slopes: Array, log_spread: Array
) -> Array:
    """``(n_parameters,)`` expected log density of people with these moments."""
    spread = np.exp(log_spread)[:, None]
    centers = np.clip(slopes @ design.T, 0.0, 1.0)
    away = (square - 2 * centers * mean + centers**2) / spread**2
    log_inside = _log_inside(-centers / spread, (1 - centers) / spread)
    return np.asarray((-0.5 * away - np.log(spread) - log_inside).sum(axis=1))


def _log_inside(a: Array, b: Array) -> Array:
    """Log of the share of a standard normal between ``a <= 0`` and ``b >= 0``."""
    return np.asarray(np.log1p(-np.exp(log_ndtr(a)) - np.exp(log_ndtr(-b))))


def _truncated_moments(center: Array, spread: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Means and variances of u and u squared, and their covariance, for a normal ``x`` within 0 and 1.

    Here ``u = (x - center) / spread``. The moments follow the recursion for truncated normals, as in
    `theories.engine.fitting.normals`.
    """
    a, b = -center / spread, (1 - center) / spread
    log_inside = _log_inside(a, b)
    at_a, at_b = (np.exp(-0.5 * end**2 - 0.5 * LOG_TWO_PI - log_inside) for end in (a, b))
    first, second = at_a - at_b, 1 + a * at_a - b * at_b
    third = 2 * first + a**2 * at_a - b**2 * at_b
    fourth = 3 * second + a**3 * at_a - b**3 * at_b
    return first, second, second - first**2, third - first * second, fourth - second**2
