"""Scores: how well a theory predicted the choices actually made, never how well it could be fitted.

The score is the log predictive probability of the responses, integrated over a population of the theory's parameters
that never learned from the answers being scored: one that the other experiments taught (``left_out``), or one that was
frozen before the answers came (``frozen``). A *unit* is what is exchangeable: a participant, or a problem where only
pooled counts were published. All logarithms are natural; scores are in nats per choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lakatos.experiments.data_sets import archive_of, left_out_with
from lakatos.experiments.interval import LEAST_UNITS, half_width
from lakatos.experiments.task import Trials
from lakatos.theories.engine.running.sequence import TINY

Array = NDArray[np.float64]
UNKNOWN = 1e9
"""Standard error of what a single unit says: larger than any difference, so that nothing follows from it."""
LEAST_OF_INTERVAL = 5
"""Participants (or problems) below which no interval is stated, which Student's t would make meaningless."""
ALIKE = 1e-6
"""Share of a mean gain; units that differ by less tell the same."""
LARGEST_TABLE = 2**23
"""People times trials times options; in larger tables of counts nearly all are 0, and responses are kept one by one."""
MOST_AT_ONCE = 2**22
"""Log probabilities held at once; the rest is worked through in parts."""


def log_likelihood(probabilities: Array, counts: Array) -> Array:
    """Log p(responses of a participant | draw), one matrix product.

    Args:
        probabilities: ``(n_draws, n_trials, n_options)``.
        counts: ``(n_participants, n_trials, n_options)`` responses.

    Returns:
        ``(n_draws, n_participants)`` nats.
    """
    answers = counts.reshape(len(counts), -1).T
    parts = []
    for rows in _parts(probabilities):
        log_p = np.maximum(probabilities[rows], TINY)
        np.log(log_p, out=log_p)
        parts.append(log_p.reshape(len(log_p), -1) @ answers)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _parts(probabilities: Array) -> Iterator[slice]:
    """Draws in parts of which each has few enough probabilities at once."""
    n_rows = max(1, MOST_AT_ONCE // max(probabilities[0].size, 1))
    for start in range(0, len(probabilities), n_rows):
        yield slice(start, start + n_rows)


def likelihood_of_answers(probabilities: Array, trials: Trials) -> Array:
    """`log_likelihood` of an experiment's responses, however few of many trials each person was asked."""
    n_cells = trials.n_participants * len(trials.stimuli) * trials.n_options
    if n_cells <= LARGEST_TABLE:
        return log_likelihood(probabilities, trials.counts)
    found = np.empty((len(probabilities), trials.n_participants))
    for rows in _parts(probabilities):
        log_p = np.log(np.maximum(probabilities[rows], TINY))
        by_draw = log_p.reshape(len(log_p), -1)
        found[rows] = (trials.sparse_counts @ by_draw.T).T
    return found


@dataclass(frozen=True)
class ExperimentEvidence:
    """One experiment's responses as one theory's draws see them."""

    trials: Trials
    probabilities: Array
    """``(n_draws, n_trials, n_options)``; of a theory that learns, averaged over those who saw the trial."""
    followed: Array | None = None
    """``(n_draws, n_participants)`` log-likelihood along people's sequences, where it depends on what came before."""
    known: Array | None = None
    """``(n_draws, n_participants)`` normalised log weights of the draws among people of whom the same is known, of a
    theory whose people differ by that."""

    @cached_property
    def log_likelihood(self) -> Array:
        """``(n_draws, n_participants)``; for pooled answers use `log_predictive`."""
        if self.followed is not None:
            return self.followed
        return likelihood_of_answers(self.probabilities, self.trials)


@dataclass(frozen=True)
class UnitScores:
    """Log predictive probability per unit of one experiment."""

    log_predictive: Array
    """``(n_units,)`` nats."""
    n_choices: Array
    """``(n_units,)`` choices."""
    chance: float = 0.0
    """Monte Carlo error of the mean, nats per choice."""

    @property
    def per_choice(self) -> Array:
        """Log predictive probability for each choice, in nats: ``(n_units,)``."""
        return self.log_predictive / self.n_choices

    def of(self, chosen: NDArray[np.bool_]) -> UnitScores:
        """The scores of some units, ``(n_units,)`` true for each of them."""
        return UnitScores(self.log_predictive[chosen], self.n_choices[chosen], self.chance)

    @property
    def mean(self) -> float:
        """Nats per choice, averaged over units in proportion to their choices."""
        return float(self.log_predictive.sum() / self.n_choices.sum())


def log_predictive(evidence: ExperimentEvidence, log_weights: Array | None = None) -> UnitScores:
    """Integrate the likelihood over the population.

    Args:
        evidence: Responses and the probabilities of every draw.
        log_weights: ``(n_draws,)`` normalised log weights of the draws, or ``(n_draws, n_participants)`` where they
            differ; when None what is known of people, else even ones.

    Returns:
        One score per participant; per trial when the responses are pooled, with the people's mean probability, since
        pooled answers do not say which of them came from one person.
    """
    n_draws = len(evidence.probabilities)
    if log_weights is None:
        log_weights = evidence.known
    if log_weights is None:
        log_weights = np.full(n_draws, -np.log(n_draws))
    if evidence.trials.pooled:
        mean = np.einsum("d,dto->to", np.exp(log_weights), evidence.probabilities)
        totals = evidence.trials.totals
        n_answers = totals.sum(axis=1)
        answered = n_answers > 0
        scores = (totals * np.log(np.maximum(mean, TINY))).sum(axis=1)
        return UnitScores(scores[answered], n_answers[answered])
    n_choices = evidence.trials.n_choices
    answered = n_choices > 0
    weights = log_weights if log_weights.ndim == 2 else log_weights[:, None]
    log_joint = (evidence.log_likelihood + weights)[:, answered]
    scores = logsumexp(log_joint, axis=0)
    chance = _chance(log_joint - scores) / max(float(n_choices.sum()), 1.0)
    return UnitScores(scores, n_choices[answered], chance)


def _chance(log_posterior: Array) -> float:
    """Monte Carlo error of a sum of people's log scores, as if draws were independent, nats.

    Each score is the logarithm of a mean over draws. To first order the error of their sum is that of the sum of all
    people's weights of a draw; to second order each is too low by half the variance of its weights (delta method).
    Draws of a Sobol sequence are more even, so that the true error is smaller.

    Args:
        log_posterior: ``(n_draws, n_participants)`` log weights that sum to one over draws.
    """
    n_draws = len(log_posterior)
    influence = n_draws * np.exp(log_posterior)
    variance = influence.sum(axis=1).var() / n_draws
    bias = 0.5 * influence.var(axis=0).sum() / n_draws
    return float(np.sqrt(variance + bias**2))


def learn_population(
    evidence: Sequence[ExperimentEvidence], *, strength: float = 5.0, n_iterations: int = 50
) -> Array:
    """Weights of a population's draws that experiments teach, by expectation maximisation, for a diagnosis of them.

    Other than `theories.engine.fitting.fit.learn_people`, it finds groups of people apart, within the
    people that are there already.

    Args:
        evidence: Earlier experiments, all with the same draws.
        strength: Prior people's worth of the population (a Dirichlet prior, uniform over draws).
        n_iterations: Steps of expectation maximisation.

    Returns:
        ``(n_draws,)`` normalised log weights.

    References:
        Laird (1978), Journal of the American Statistical Association 73, 805-811.
    """
    n_draws = len(evidence[0].probabilities)
    weights = np.full(n_draws, 1.0 / n_draws)
    single = [item.log_likelihood for item in evidence if not item.trials.pooled]
    likelihood = np.concatenate(single, axis=1) if single else np.zeros((n_draws, 0))
    if likelihood.size:  # up to a factor for each person, which drops out
        likelihood = np.exp(likelihood - likelihood.max(axis=0, initial=-np.inf))
    pooled = [
        (item.probabilities.reshape(n_draws, -1), item.trials.totals.ravel())
        for item in evidence
        if item.trials.pooled
    ]
    for _ in range(n_iterations):
        # How many people, or responses, each draw is expected to stand for.
        expected = np.full(n_draws, strength / n_draws)
        if likelihood.size:
            of_person = np.maximum(weights @ likelihood, 1e-300)
            expected += weights * (likelihood @ (1.0 / of_person))
        for probabilities, counts in pooled:
            of_answer = np.maximum(weights @ probabilities, TINY)
            expected += weights * (probabilities @ (counts / of_answer))
        weights = expected / expected.sum()
    return np.asarray(np.log(np.maximum(weights, 1e-300)))


@dataclass(frozen=True)
class ScoreEstimate:
    """A number with its standard error."""

    value: float
    standard_error: float
    n_units: int | None = None
    """Participants (or problems) that it is estimated from, each counted once; None where it is no mean over them."""
    degrees: float = math.inf
    """Degrees of freedom of the standard error."""

    @property
    def is_known(self) -> bool:
        """Whether units differed, so that there is a standard error."""
        return self.standard_error < UNKNOWN

    @property
    def has_interval(self) -> bool:
        """Whether there is a standard error, of enough participants (or problems) that an interval means something."""
        return self.is_known and (self.n_units is None or self.n_units >= LEAST_OF_INTERVAL)

    @property
    def is_of_few(self) -> bool:
        """Whether it is estimated from so few participants (or problems) that no difference is claimed."""
        return self.n_units is not None and self.n_units < LEAST_UNITS

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval; two standard errors to each side where there are many participants."""
        return self.interval_of_chosen(1)

    def interval_of_chosen(self, n_compared: int) -> tuple[float, float]:
        """95% interval where this is the best of ``n_compared`` on the same data; see `half_width`."""
        half = float(half_width(self.degrees, n_compared)) * self.standard_error
        return self.value - half, self.value + half

    def is_above_zero(self, n_compared: int = 1) -> bool:
        """Whether the whole interval lies above zero, and enough participants are behind it to claim so."""
        return self.interval_of_chosen(n_compared)[0] > 0 and not self.is_of_few

    def interval_in_words(self, n_compared: int = 1) -> str:
        """State the interval and its correction for selection, such as ``95% interval +0.0020 to +0.0220``."""
        if not self.is_known:
            return "no interval: the difference is the same for all participants"
        if not self.has_interval:
            return f"no interval: fewer than {LEAST_OF_INTERVAL} participants or problems"
        low, high = self.interval_of_chosen(n_compared)
        chosen = (
            f", Bonferroni-corrected for selection among {n_compared} theories"
            if n_compared > 1
            else ""
        )
        return f"95% interval {low:+.4f} to {high:+.4f}{chosen}"


def together(parts: Sequence[UnitScores]) -> UnitScores:
    """Scores of the units of several experiments as if these were one."""
    if len(parts) == 1:
        return parts[0]
    sizes = [float(item.n_choices.sum()) for item in parts]
    errors = [size * item.chance for size, item in zip(sizes, parts, strict=True)]
    return UnitScores(
        np.concatenate([item.log_predictive for item in parts]),
        np.concatenate([item.n_choices for item in parts]),
        float(np.sqrt(np.square(errors).sum()) / sum(sizes)),
    )


def over_data_sets(experiments: Sequence[str], scores: Sequence[UnitScores]) -> list[UnitScores]:
    """Scores of experiments, those of a data set together where there are several data sets; else as they are."""
    found: dict[str, list[UnitScores]] = {}
    for whole, own in zip(left_out_with(experiments), scores, strict=True):
        found.setdefault(whole, []).append(own)
    return [together(parts) for parts in found.values()]


def mean_over_units(scores: UnitScores) -> ScoreEstimate:
    """Nats per choice with a standard error clustered by unit (ratio estimator)."""
    return ratio(scores.log_predictive, scores.n_choices)


def mean_score(scores: Sequence[UnitScores]) -> ScoreEstimate:
    """Nats per choice, averaged over experiments."""
    return average([mean_over_units(item) for item in scores])


def paired_difference(
    first: Sequence[UnitScores], second: Sequence[UnitScores], experiments: Sequence[str] = ()
) -> ScoreEstimate:
    """Mean advantage of the first theory over the second, averaged over experiments.

    Args:
        first, second: The two theories' scores of the same experiments, in the same order.
        experiments: Names of these; see `average`.

    Returns:
        Nats per choice and the standard error clustered by unit within experiment.
    """
    parts = [
        advantage(a.log_predictive - b.log_predictive, a.n_choices)
        for a, b in zip(first, second, strict=True)
    ]
    return average(parts, experiments)


def advantage(totals: Array, sizes: Array) -> ScoreEstimate:
    """`ratio` of gains; where each unit gains exactly the same, with an error by the rule of three.

    Units that all answered alike do not show how much others differ. With 95% confidence at most 3 in n of these do
    (Hanley & Lippman-Hand, 1983, JAMA 249); if they gain as much the other way, the mean is 6 in n lower. So up to six
    of them tell no theory from another.
    """
    found, n_units = ratio(totals, sizes), len(totals)
    if n_units < 2 or found.standard_error > ALIKE * abs(found.value):
        return found
    return replace(found, standard_error=3 * abs(found.value) / n_units)


def average(parts: Sequence[ScoreEstimate], experiments: Sequence[str] = ()) -> ScoreEstimate:
    """Mean over experiments of independent estimates; those of a single unit count only where there are no others.

    Degrees of freedom are Satterthwaite's, and one less than there are participants at most.

    Args:
        parts: One estimate of each experiment.
        experiments: Names of these, where some may be of one archive: its participants are then counted once.

    References:
        Satterthwaite (1946), Biometrics Bulletin 2(6), 110-114.
    """
    names = experiments or [str(place) for place in range(len(parts))]
    mean_of = [place for place, part in enumerate(parts) if part.is_known]
    mean_of = mean_of or list(range(len(parts)))
    used = [parts[place] for place in mean_of]
    n_units = _units_once([names[place] for place in mean_of], used)
    mean = float(np.mean([part.value for part in used]))
    if not used[0].is_known:
        return ScoreEstimate(mean, UNKNOWN, n_units)
    variances = np.array([part.standard_error**2 for part in used])
    total = variances.sum()
    spread = sum(variance**2 / part.degrees for variance, part in zip(variances, used, strict=True))
    degrees = float(total**2 / spread) if spread > 0 else sum(part.degrees for part in used)
    if n_units is not None:
        degrees = min(degrees, max(n_units - 1, 1))
    return ScoreEstimate(mean, float(np.sqrt(total) / len(used)), n_units, degrees)


def _units_once(experiments: Sequence[str], parts: Sequence[ScoreEstimate]) -> int | None:
    """Units behind estimates of several experiments: the most of each archive, since these may be the same people."""
    most: dict[str, int] = {}
    for name, part in zip(experiments, parts, strict=True):
        if part.n_units is None:
            return None
        whose = archive_of(name) or name
        most[whose] = max(most.get(whose, 0), part.n_units)
    return sum(most.values())


def chance_of_difference(first: Sequence[UnitScores], second: Sequence[UnitScores]) -> float:
    """Monte Carlo error of `paired_difference`, nats per choice."""
    squared = [a.chance**2 + b.chance**2 for a, b in zip(first, second, strict=True)]
    return float(np.sqrt(sum(squared)) / len(squared))


def is_tie(difference: ScoreEstimate) -> bool:
    """Whether the interval of two theories' difference holds zero, or too few participants are behind it."""
    low, high = difference.interval
    return bool(low <= 0 <= high) or difference.is_of_few


def ratio(totals: Array, sizes: Array) -> ScoreEstimate:
    """Ratio of two sums over units, with its linearised standard error; `UNKNOWN` for a single unit."""
    n_units, size = len(totals), sizes.sum()
    value = totals.sum() / size
    if n_units < 2:
        return ScoreEstimate(float(value), UNKNOWN, n_units)
    residual = totals - value * sizes
    variance = n_units / (n_units - 1) * (residual**2).sum()
    return ScoreEstimate(float(value), float(np.sqrt(variance) / size), n_units, n_units - 1)


def noise_ceiling(trials: Trials, *, pseudo_count: float = 1.0) -> ScoreEstimate | None:
    """Score the predictions from other people's responses to the same trial: the leave-one-person-out log score.

    Each answer is predicted by the proportion among all others, shrunk towards even odds by ``pseudo_count`` responses.

    Returns:
        Nats per choice, or None where no trial was answered by two people (or twice, when pooled).
    """
    totals = trials.totals
    share = pseudo_count / trials.n_options
    if trials.pooled:  # each response is left out by itself
        n_answers = totals.sum(axis=1)
        if not (n_answers > 1).any():
            return None
        others = np.maximum(totals - 1, 0)
        n_others = np.maximum(n_answers[:, None] - 1, 0)
        log_p = np.log((others + share) / (n_others + pseudo_count))
        score = (totals * log_p).sum(axis=1)
        answered = n_answers > 0
        return ratio(score[answered], n_answers[answered])
    if not (trials.n_people_asked > 1).any():
        return None
    scores = []
    for _, counts in trials.counts_of_some():
        others = totals[None] - counts
        n_others = others.sum(axis=2, keepdims=True)
        log_p = np.log((others + share) / (n_others + pseudo_count))
        scores.append((counts * log_p).sum(axis=(1, 2)))
    score, n_choices = np.concatenate(scores), trials.n_choices
    answered = n_choices > 0
    return ratio(score[answered], n_choices[answered])


def telling(shares: Array) -> Array:
    """Choose the ``(..., n_options)`` shares that determine all: of two options the second's, else every one's."""
    return shares[..., -1:] if shares.shape[-1] == 2 else shares


def squared_errors(predicted: Array, trials: Trials) -> Array:
    """``(n_answered,)`` squared error of each answered trial's shares, averaged over its options of `telling`.

    Options that a trial does not offer do not count.

    Args:
        predicted: ``(n_trials, n_options)`` shares, or those of `telling` alone.
        trials: What people answered.
    """
    answered = trials.totals.sum(axis=1) > 0
    shares = predicted if predicted.shape[-1] == 1 else telling(predicted)
    errors = (shares - telling(trials.proportions))[answered] ** 2
    return np.asarray(errors.mean(axis=-1, where=_offered(trials)[answered]))


def _offered(trials: Trials) -> NDArray[np.bool_]:
    """Mark the options of `telling` that each trial offers."""
    if trials.n_options == 2:
        return np.ones((len(trials.stimuli), 1), dtype=bool)
    return np.asarray(trials.stimuli.available(trials.n_options))


def proportion_error(predicted: Array, trials: Trials) -> tuple[float, float | None]:
    """Mean squared error and correlation of proportions over distinct answered trials and the options of `telling`.

    Args:
        predicted: ``(n_trials, n_options)`` choice proportions.
        trials: What people answered.

    Returns:
        Mean squared error, and Pearson's r (None when either side is constant).
    """
    answered = trials.totals.sum(axis=1) > 0
    offered = _offered(trials)[answered]
    p = telling(predicted[answered])[offered]
    q = telling(trials.proportions[answered])[offered]
    error = float(np.mean(squared_errors(predicted, trials)))
    constant = len(p) < 2 or np.ptp(p) < TINY or np.ptp(q) < TINY
    return error, None if constant else float(np.corrcoef(p, q)[0, 1])
