"""Share of a theory's predictions that no learner finds that saw half of them: little of a rule, most of a table.

Two learners that know no psychology see the trials and the domain's properties of them, as generic learners do, and the
theory's predictions for half of the trials; they predict the other half. What they miss is a share of the variance of
the theory's own predictions, so no responses are needed. A rule says something about all trials, and a learner finds
most of it; what a table holds about one trial says nothing about another one.

References:
    Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, section 5.4.2 (leave-one-out).
    Geurts, Ernst & Wehenkel (2006), Machine Learning 63, 3-42 (extremely randomised trees).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lakatos.experiments.task import Domain, Stimuli, Trials, identities
from lakatos.theories.engine.checks.tested_theory import STUDY, TestedTheory, TrialSheet, sheet_of
from lakatos.theories.engine.scoring.columns import relative, step_columns, trial_columns
from lakatos.theories.language.points import at_fractions

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
MOST_UNEXPLAINED = 0.75
"""Share of the variance of predictions that may be missed. At the parameters that responses select, 708 honest theories
missed at most 71%, and tables that people follow all of it (`benchmarks/theories/in_use`)."""
LEAST_ERROR = 0.06
"""Root mean square of what is missed, in probability, up to which it is too small to matter."""
NOTHING = 1e-6
"""Mean squared error, of which no share is taken."""
LEAST_TRIALS = 60
"""Different trials without which nothing is measured: learners that see four fifths of 16 to 40 gambles miss what up to
a third of the published theories say about the others."""
LEAST_STEPS = 15
"""The same in tasks that are sequences, whose steps occur in several of them."""
ENOUGH_TRIALS = 100
"""Different trials from which on half of them teach; of fewer, four fifths do, five times."""
MOST_ROWS = 800
"""Trials or steps, times options, that learners see."""
MOST_STEPS = 40
"""Steps of the sequences in tasks that are sequences."""
MOST_OPTIONS = 6
"""Options from which on a response is a place on a scale, described by the trial and not by each option."""
N_POINTS = 32
"""Parameters drawn, over whose predictions the mean is taken."""
LEAST_SHOWN = 0.1
"""Share of the variance at single parameters that their mean has to show."""
SCALES, RIDGES = (0.35, 0.7, 1.4, 2.8), (1e-4, 1e-2, 1e-1, 1.0)
"""Widths of the smooth learner's kernel, relative to the distance between trials, and how much it smooths."""
LINEAR = 0.3
"""Weight of straight lines in the kernel."""
N_TREES = 60
CLIP = 4.0
"""Limit at which standardised columns are cut."""
DECAYS = (0.2, 0.6)
"""Shares by which running means of earlier responses move at each step."""


@dataclass(frozen=True)
class UnexplainedPredictions:
    """Part of a theory's predictions that learners miss which saw the others."""

    share: float
    """Unexplained share of the variance of the predictions; 0 where they hardly differ."""
    error: float
    """Root mean square, in probability."""
    n_trials: int
    """Different trials."""

    @property
    def by_heart(self) -> bool:
        """Whether the predictions can only have been memorised."""
        return self.share > MOST_UNEXPLAINED and self.error > LEAST_ERROR


@dataclass(frozen=True)
class StudyPredictions:
    """Predictions of a theory for the trials of its study, and what learners may know of these."""

    columns: Array
    """``(n_rows, n_options, n_columns)``; see `trial_columns`."""
    predicted: Array
    """``(n_rows, n_options)`` probabilities, the mean over parameters."""
    group: Rows
    """``(n_rows,)`` number of the trial, whatever its sides."""

    def mixed_with(self, table: Array, weight: float) -> StudyPredictions:
        """The same with a share of other probabilities, ``(n_rows, n_options)``."""
        return replace(self, predicted=(1 - weight) * self.predicted + weight * table)


def least_trials(domain: Domain) -> int:
    """Different trials, or steps of a sequence, without which nothing is measured."""
    return LEAST_STEPS if domain.sequential else LEAST_TRIALS


def distinct_trials(domain: Domain, stimuli: Iterable[Stimuli]) -> int:
    """Number of different trials, whatever the sides of their options."""
    return len({key for some in stimuli for key in identities(domain, some)})


def unexplained_predictions(
    trial: TestedTheory, points: Mapping[str, Array] | None = None
) -> UnexplainedPredictions | None:
    """Measure how much learners miss of a theory's predictions on its study; None where there are too few trials.

    Args:
        trial: The theory and the trials.
        points: Parameters, over whose predictions the mean is taken; by default drawn from the declared ranges.
    """
    seen = predictions_of_study(trial, points)
    return None if seen is None else unexplained(seen)


def points_in_use(population: Mapping[str, Array], log_p: Array) -> dict[str, Array]:
    """`N_POINTS` of a population's draws, each as often as people's responses select it.

    Args:
        population: ``(n_draws,)`` values of each parameter.
        log_p: ``(n_draws, n_people)`` log-likelihood of each person's responses.
    """
    share = np.exp(log_p - logsumexp(log_p, axis=0)).mean(axis=1)
    points = (np.arange(N_POINTS) + 0.5) / N_POINTS
    drawn = np.searchsorted(np.cumsum(share).round(9), points).clip(max=len(share) - 1)
    return {name: values[drawn] for name, values in population.items()}


def predictions_of_study(
    trial: TestedTheory, points: Mapping[str, Array] | None = None
) -> StudyPredictions | None:
    """Collect a theory's predictions for up to `MOST_ROWS` rows of its study; see `unexplained_predictions`."""
    if trial.candidates is None:
        return None
    sheet = _sheet(trial)
    row = sheet.order.ravel() if trial.walks else np.arange(len(sheet.stimuli))
    keys = identities(trial.domain, sheet.stimuli)
    number = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    if len(number) < least_trials(trial.domain):
        return None
    priors, rng = trial.theory.priors, np.random.default_rng(0)
    if points is None:
        points = (
            at_fractions(priors, rng.random((N_POINTS, len(priors)))) if priors else trial.points
        )
    with trial.asking([sheet], walks_apart=False) as ask:
        (answers,) = ask(points)
    group = np.array([number[key] for key in keys], dtype=np.intp)[row]
    return StudyPredictions(_columns(trial, sheet), typical_predictions(answers), group)


def typical_predictions(answers: Array) -> Array:
    """The mean over parameters; where parameters turn predictions round, the pattern that they turn.

    A mean near one half would hide whatever a parameter multiplies by a number between -1 and 1.

    Args:
        answers: ``(n_points, n_rows, n_options)`` probabilities.

    Returns:
        ``(n_rows, n_options)``.
    """
    mean: Array = answers.mean(axis=0)
    apart = answers - answers.mean(axis=1, keepdims=True)
    shown = float(((mean - mean.mean(axis=0)) ** 2).mean())
    if shown >= LEAST_SHOWN * float((apart**2).mean()):
        return mean
    _, sizes, patterns = np.linalg.svd(apart.reshape(len(apart), -1), full_matrices=False)
    pattern = patterns[0].reshape(mean.shape) * sizes[0] / len(apart) ** 0.5
    found: Array = np.clip(mean.mean(axis=0) + pattern, 0.0, 1.0)
    return found


def unexplained(seen: StudyPredictions) -> UnexplainedPredictions:
    """Measure how much learners miss of predictions."""
    share, error = missed(seen.columns, seen.predicted, seen.group)
    return UnexplainedPredictions(share, error, int(seen.group.max()) + 1)


def missed(columns: Array, predicted: Array, group: Rows) -> tuple[float, float]:
    """Share of the variance of predictions that the better of two learners misses, and the root mean square of it.

    Args:
        columns: ``(n_rows, n_options, n_columns)`` what is known of each option of each row.
        predicted: ``(n_rows, n_options)`` probabilities.
        group: ``(n_rows,)`` rows of one number teach together or are predicted together.
    """
    n_rows, n_options = predicted.shape
    if n_options <= MOST_OPTIONS:
        leaning = predicted.mean(axis=0)  # to an option for its place, which no column states
        table = columns.reshape(-1, columns.shape[-1])
        target = (predicted - leaning).reshape(-1, 1)
        group = np.repeat(group, n_options)
    else:  # a whole distribution for each trial, as cumulative probabilities
        table, target = columns.reshape(n_rows, -1), np.cumsum(predicted, axis=1)[:, :-1]
    table, folds = _standardised(table), list(_folds(group))
    variance = float(((target - target.mean(axis=0)) ** 2).mean())
    wrong = _error(_smooth, table, target, folds)
    # Trees take longer, and are asked only where the smooth learner misses much.
    if wrong > max(MOST_UNEXPLAINED / 3 * variance, LEAST_ERROR**2):
        wrong = min(wrong, _error(_trees, table, target, folds))
    share = wrong / variance if wrong > NOTHING else 0.0
    return round(share, 3), round(wrong**0.5, 3)


Fold = tuple[Rows, Rows]
"""Rows that teach, and those that are predicted."""
Learner = Callable[[Array, Array, Rows, Rows], Array]


def _error(learner: Learner, table: Array, target: Array, folds: Sequence[Fold]) -> float:
    """Mean squared error about rows that taught a learner nothing.

    Args:
        learner: Takes the table, what is predicted for the rows that teach, and both kinds of rows.
        table: ``(n_rows, n_columns)``.
        target: ``(n_rows, n_outputs)``.
        folds: Folds in turn.
    """
    wrong = 0.0
    for taught, held_out in folds:
        found = learner(table, target[taught], taught, held_out)
        wrong += float(((found - target[held_out]) ** 2).sum())
    return wrong / target.size


def _sheet(trial: TestedTheory) -> TrialSheet:
    """The trials of the study, or some sequences of them."""
    assert trial.candidates is not None
    stimuli, rng = trial.candidates, np.random.default_rng(0)
    if not trial.walks:
        n_most = max(MOST_ROWS // _rows_of_each(trial), LEAST_TRIALS)
        some = stimuli.take(np.arange(min(len(stimuli), n_most)))
        return sheet_of(trial.domain, STUDY, some, rng, 1)
    n_steps = min(len(stimuli), MOST_STEPS if trial.domain.sequential else LEAST_TRIALS)
    # Their trials are few, and so the folds are many.
    n_sequences = max(MOST_ROWS // (2 * _rows_of_each(trial) * n_steps), 2)
    some = stimuli.take(np.arange(n_steps))
    return sheet_of(trial.domain, STUDY, some, rng, n_sequences)


def _rows_of_each(trial: TestedTheory) -> int:
    """Rows that learners see of each trial."""
    assert trial.candidates is not None
    n_options = trial.domain.n_options(trial.candidates)
    return n_options if n_options <= MOST_OPTIONS else 1


def _columns(trial: TestedTheory, sheet: TrialSheet) -> Array:
    """``(n_rows, n_options, n_columns)`` what is known of each option of each row; see `trial_columns`."""
    domain, stimuli = trial.domain, sheet.stimuli
    n_people, n_steps = sheet.order.shape if trial.walks else (1, len(stimuli))
    row = sheet.order.ravel() if trial.walks else np.arange(len(stimuli))
    response = sheet.done.response[0]
    trials = Trials(
        "the study's own trials",
        stimuli,
        participant=np.repeat(np.arange(n_people), n_steps),
        trial=row,
        response=response.ravel(),
        count=np.ones(len(row), dtype=np.int64),
        n_options=domain.n_options(stimuli),
        feedback={name: values[0].ravel() for name, values in sheet.done.feedback.items()},
    )
    if domain.sequential:
        return step_columns(domain, trials)
    of_trials = relative(np.concatenate(trial_columns(domain, [trials]), axis=-1))
    columns: Array = of_trials[row]
    if not trial.walks:
        return columns
    return np.concatenate([columns, _past(response, trials.n_options)], axis=-1)


def _past(response: NDArray[np.int64], n_options: int) -> Array:
    """``(n_sequences * n_steps, n_options, 3)`` the last response, and running means of all before, of each option."""
    n_people, n_steps = response.shape
    found = np.zeros((n_people, n_steps, n_options, 1 + len(DECAYS)))
    chosen = np.eye(n_options)[response]
    for step in range(1, n_steps):
        found[:, step, :, 0] = chosen[:, step - 1]
        for place, decay in enumerate(DECAYS, start=1):
            before = found[:, step - 1, :, place]
            found[:, step, :, place] = before + decay * (chosen[:, step - 1] - before)
    return found.reshape(-1, n_options, 1 + len(DECAYS))


def _standardised(table: Array) -> Array:
    """Columns that vary, each once, with mean 0 and variance 1."""
    spread = table.std(axis=0)
    varies = spread > 1e-9
    scaled = (table[:, varies] - table[:, varies].mean(axis=0)) / spread[varies]
    _, first = np.unique(scaled.round(6), axis=1, return_index=True)
    kept: Array = np.clip(scaled[:, np.sort(first)], -CLIP, CLIP)
    return kept


def _folds(group: Rows) -> Iterator[Fold]:
    """Both halves in turn, or of few trials each fifth."""
    n_groups = int(group.max()) + 1
    n_folds = 2 if n_groups >= ENOUGH_TRIALS else 5
    fold = (np.random.default_rng(0).permutation(n_groups) % n_folds)[group]
    for number in range(n_folds):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def _smooth(table: Array, target: Array, taught: Rows, held_out: Rows) -> Array:
    """Kernel ridge regression, whose width and ridge predict each taught row best from the others."""
    squares = (table**2).sum(axis=1)
    products = table @ table.T
    distance = np.maximum(squares[:, None] + squares - 2 * products, 0.0)
    typical = np.median(distance[distance > 0]) if (distance > 0).any() else 1.0
    linear = 1 + LINEAR * products / max(table.shape[1], 1)
    mean = target.mean(axis=0)
    best, found = np.inf, np.zeros((len(held_out), target.shape[1]))
    for scale in SCALES:
        kernel = np.exp(-distance / (2 * scale**2 * typical)) + linear
        values, vectors = np.linalg.eigh(kernel[np.ix_(taught, taught)])
        turned = vectors.T @ (target - mean)
        for ridge in RIDGES:
            shrunk = np.maximum(values, 0.0) + ridge
            weights = vectors @ (turned / shrunk[:, None])
            leverage = (vectors**2 / shrunk).sum(axis=1)
            without = float(((weights / leverage[:, None]) ** 2).sum())
            if without < best:
                best, found = without, kernel[np.ix_(held_out, taught)] @ weights + mean
    return found


def _trees(table: Array, target: Array, taught: Rows, held_out: Rows) -> Array:
    """Extremely randomised trees, which find limits and ranks."""
    from sklearn.ensemble import ExtraTreesRegressor

    trees = ExtraTreesRegressor(N_TREES, max_features=0.5, random_state=0)
    trees.fit(table[taught], target if target.shape[1] > 1 else target[:, 0])
    return np.asarray(trees.predict(table[held_out])).reshape(len(held_out), -1)
