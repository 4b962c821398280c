"""Generic learners: how far answers can be predicted from their trials by what knows no psychology.

Gradient boosting and a network see each trial from the side of each of its options: the raw stimulus, the
properties in which the domain describes it and, in tasks of many steps, what the person did and got before. On top of
their mean stands a population of people who differ in how strictly they follow it, in lapses, in a side that they
favour and in tastes, because the people of a theory may differ as well. Of a small and a large pair, the one that
predicts left-out answers better is taken. What it reaches is the ceiling of
`theories.findings.generic_learners.completeness`.

References:
    Friedman (2001), Annals of Statistics 29(5), 1189-1232 (boosting).
    Fudenberg, Kleinberg, Liang & Mullainathan (2022), Journal of Political Economy 130(4), 956-990 (completeness).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logsumexp

from lakatos.experiments.data_sets import data_sets_of, left_out_with
from lakatos.experiments.task import Domain, Trials, identities
from lakatos.theories.engine.fitting.calibrate import calibrate, leave_groups_out
from lakatos.theories.engine.running.sequence import TINY
from lakatos.theories.engine.scoring.columns import relative, step_columns, trial_columns
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.language.prior import Prior, draw_population

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
N_FOLDS = 5
N_DRAWS = 256
N_ROUNDS = 6
N_TASTES = 6
"""Directions of the columns in which people may differ. With two, theories of six attributes were ahead of learners."""
MOST_OPTIONS, ALWAYS = 40_000, 4_000
"""Options of trials (of tasks with steps: of responses) from which the learners learn, and trials that are never too
many; of more, so many are drawn by lot."""
MOST_ROWS = 2**16
"""Answers up to which all draws of a population are asked; beyond, a quarter of them."""
MOST_PEOPLE_ROWS = 2**15
"""Responses, of whole people, from which a population is learned."""
MOST_AT_ONCE = 2**21
"""Log probabilities held at once."""
N_POINTS = 1024
"""People drawn where all are taken to be alike, of whom the likeliest is kept."""
CLIP = 5.0
"""Log odds and standardised columns are not believed beyond."""


@dataclass(frozen=True)
class LearnerRows:
    """Responses as a generic learner sees them."""

    columns: Array
    """``(n_cells, n_options, n_columns)``: a cell is a trial, or an answer where what came before matters."""
    available: NDArray[np.bool_]
    """``(n_cells, n_options)``."""
    cell: Rows
    """``(n_rows,)`` of each response, which are sorted by person."""
    response: Rows
    count: Array
    person: Rows
    """Unit of each response, numbered over all experiments; where people cannot be told apart, each trial is one."""
    experiment: Rows
    trials: tuple[Trials, ...]

    @property
    def n_people(self) -> int:
        """Units of all experiments."""
        return int(self.person.max(initial=-1)) + 1

    def counts(self, rows: NDArray[np.bool_]) -> Array:
        """``(n_cells, n_options)`` answers among some of the rows."""
        table = np.zeros(self.columns.shape[:2])
        np.add.at(table, (self.cell[rows], self.response[rows]), self.count[rows])
        return table


def read_rows(domain: Domain, trials: Sequence[Trials]) -> LearnerRows:
    """All experiments in one table, whose columns mean the same in each."""
    starts = np.cumsum([0, *(len(item.stimuli) for item in trials)])
    people = np.cumsum([0, *(item.n_participants for item in trials)])
    orders = [np.argsort(item.participant, kind="stable") for item in trials]

    def together(name: str, first: Iterable[int]) -> Rows:
        """A column of all experiments, sorted by person, numbered on from one experiment to the next."""
        own = [getattr(item, name)[order] for item, order in zip(trials, orders, strict=True)]
        numbered = [part + n for part, n in zip(own, first, strict=False)]
        return np.concatenate(numbered).astype(np.intp)

    none = [0] * len(trials)
    trial = together("trial", starts)
    person = together("participant", people)
    response = together("response", none)
    count = together("count", none).astype(np.float64)
    experiment = np.repeat(np.arange(len(trials)), [len(item.trial) for item in trials])
    if domain.sequential:
        columns: Array = np.concatenate([step_columns(domain, item) for item in trials])
        shown = np.concatenate([np.asarray(item.stimuli["available"]) for item in trials])
        cell = np.arange(len(trial))
        available = (shown > 0)[trial]
    else:
        columns = relative(np.concatenate(trial_columns(domain, trials), axis=-1))
        cell = trial
        available = np.concatenate([item.stimuli.available(item.n_options) for item in trials])
        # Equal responses of a person to a trial are one row.
        n_cells, n_options = columns.shape[:2]
        key = (person * n_cells + cell) * n_options + response
        _, kept, place = np.unique(key, return_index=True, return_inverse=True)
        count = np.bincount(place, count).astype(np.float64)
        cell, person = cell[kept], person[kept]
        response, experiment = response[kept], experiment[kept]
    varies = np.ptp(columns, axis=(0, 1)) > 0
    is_pooled = np.array([item.pooled for item in trials])
    return LearnerRows(
        columns=columns[..., varies],
        available=available,
        cell=cell,
        response=response,
        count=count,
        person=_units(cell, person, is_pooled[experiment]),
        experiment=experiment,
        trials=tuple(trials),
    )


def _units(cell: Rows, person: Rows, is_pooled: NDArray[np.bool_]) -> Rows:
    """Person of each row, or the trial where people cannot be told apart, numbered from 0 on."""
    key = np.where(is_pooled, cell, person + cell.max(initial=0) + 1)
    order, unit = np.unique(key, return_index=True, return_inverse=True)[1:]
    return np.asarray(np.argsort(np.argsort(order))[unit], dtype=np.intp)


def fit_learners(columns: Array, counts: Array, seed: int, *, large: bool) -> tuple[Any, Any, Any]:
    """A scaler, boosting and a network that learned which options were chosen.

    Args:
        columns: ``(n_cells, n_options, n_columns)``.
        counts: ``(n_cells, n_options)`` responses.
        seed: Seed of everything by lot, so that the same answers make the same learners.
        large: Whether the learners are large; small ones predict better where responses are noisy.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    answered = np.flatnonzero(counts.sum(axis=1))
    if len(answered) > (most := most_cells(columns.shape[1])):
        rng = np.random.default_rng(seed)
        answered = np.sort(rng.choice(answered, most, replace=False))
    # Every option of every cell twice: as chosen, and as left for another one.
    options = columns[answered].reshape(-1, columns.shape[-1])
    chosen = counts[answered]
    left = chosen.sum(axis=1)[:, None] - chosen
    weights = np.concatenate([chosen.ravel(), left.ravel()])
    scaler = StandardScaler().fit(options)
    table = np.clip(scaler.transform(np.tile(options, (2, 1))), -CLIP, CLIP)
    target = np.repeat([1, 0], chosen.size)
    kept = weights > 0
    table, target, weights = table[kept], target[kept], weights[kept]
    weights = weights / weights.mean()
    boosting, network = _large_learners(seed) if large else _small_learners(seed)
    # One thread: sums of several end in another last digit. Ending early is one of the network's limits of size.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        boosting.fit(table, target, sample_weight=weights)
        network.fit(table, target, sample_weight=weights)
    return scaler, boosting, network


def most_cells(n_options: int) -> int:
    """Trials from which the learners learn, so that tables of many outcomes stay as small as those of two options."""
    return max(MOST_OPTIONS // n_options, ALWAYS)


def _small_learners(seed: int) -> tuple[Any, Any]:
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.neural_network import MLPClassifier

    boosting = GradientBoostingClassifier(
        n_estimators=60,
        learning_rate=0.15,
        max_depth=3,
        subsample=0.5,
        max_features="sqrt",
        min_samples_leaf=5,
        random_state=seed,
    )
    return boosting, MLPClassifier(
        (16,), alpha=1.0, solver="lbfgs", max_iter=100, random_state=seed
    )


def _large_learners(seed: int) -> tuple[Any, Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.neural_network import MLPClassifier

    boosting = HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.1,
        max_leaf_nodes=15,
        min_samples_leaf=10,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    return boosting, MLPClassifier(
        (32, 16), alpha=1.0, solver="lbfgs", max_iter=100, random_state=seed
    )


def strengths(learners: tuple[Any, Any, Any], columns: Array) -> Array:
    """``(n_cells, n_options)`` mean log odds with which each option is chosen, as far as the learners go."""
    scaler, boosting, network = learners
    flat = columns.reshape(-1, columns.shape[-1])
    table = np.clip(scaler.transform(flat), -CLIP, CLIP)
    by_boosting = np.clip(boosting.decision_function(table), -CLIP, CLIP)
    p = np.clip(network.predict_proba(table)[:, 1], 1e-6, 1 - 1e-6)
    by_network = np.clip(np.log(p / (1 - p)), -CLIP, CLIP)
    mean = (by_boosting + by_network) / 2
    return np.asarray(mean).reshape(columns.shape[:2])


def cross_fitted(rows: LearnerRows, fold: Rows, seed: int, *, large: bool) -> Array:
    """``(n_rows, n_options)`` strengths by learners that did not see the fold of a row's answer."""
    found = np.zeros((len(rows.cell), rows.columns.shape[1]))
    for number in np.unique(fold):
        own = fold == number
        if own.all():  # nobody is left to learn from
            continue
        learners = fit_learners(rows.columns, rows.counts(~own), seed, large=large)
        cells, place = np.unique(rows.cell[own], return_inverse=True)
        found[own] = strengths(learners, rows.columns[cells])[place]
    return found


def best_followed(rows: LearnerRows, strength: Array) -> float:
    """Log likelihood of all responses in nats, with as much weight on learners as serves them best."""
    tastes = np.zeros((*rows.columns.shape[:2], 0))
    alike = np.zeros_like(SCALES)
    drawn = {"scale": SCALES, "lapse": alike + FOLLOWER["lapse"], "side": alike}
    return float(log_answers(rows, strength, tastes, drawn).sum(axis=1).max())


def better_size(rows: LearnerRows, fold: Rows, seed: int) -> tuple[Array, bool]:
    """The `cross_fitted` strengths of small or of large learners, and whether they are large.

    Those are taken that predict left-out answers better; see `best_followed`.
    """
    small, large = (cross_fitted(rows, fold, seed, large=size) for size in (False, True))
    is_large = best_followed(rows, large) > best_followed(rows, small)
    return (large if is_large else small), is_large


def folds_of(domain: Domain, rows: LearnerRows, kind: str) -> Rows:
    """``(n_rows,)`` number of the group that is left out for each response.

    Args:
        domain: Says which trials are the same but for their sides.
        rows: All responses.
        kind: ``data sets``, ``experiments``, ``people`` or ``trials``.
    """
    if kind == "data sets":
        names = left_out_with([item.experiment for item in rows.trials])
        return np.asarray(np.unique(names, return_inverse=True)[1][rows.experiment])
    if kind == "experiments":
        return rows.experiment.astype(np.intp)
    if kind == "people" or domain.sequential:
        return np.asarray(rows.person % N_FOLDS)
    keys = [key for item in rows.trials for key in identities(domain, item.stimuli)]
    number = {key: place % N_FOLDS for place, key in enumerate(dict.fromkeys(keys))}
    return np.array([number[key] for key in keys], dtype=np.intp)[rows.cell]


PEOPLE = {
    "scale": Prior("log_uniform", 0.05, 3.0),
    "lapse": Prior("uniform", 0.0, 0.5),
    "side": Prior("uniform", -2.0, 2.0),
}
"""Ways in which people may differ in following the learners: strictness, random choices, and the last option for its
place."""
TASTE = Prior("uniform", -2.0, 2.0)
"""Prior of how much more than others a person wants of what people differ in."""


@dataclass(frozen=True)
class LearnerPopulation:
    """People who follow generic learners, each in a way of their own."""

    priors: Mapping[str, Prior]
    drawn: Mapping[str, Array]
    """``(n_draws,)`` values of each parameter."""
    tastes: Array
    """``(n_cells, n_options, n_tastes)`` what a unit of each taste adds."""


def log_choices(
    strength: Array, tastes: Array, available: NDArray[np.bool_], drawn: Mapping[str, Array]
) -> Array:
    """``(n_draws, n_rows, n_options)`` log probabilities of people who follow learners.

    Args:
        strength: ``(n_rows, n_options)``.
        tastes: ``(n_rows, n_options, n_tastes)``.
        available: ``(n_rows, n_options)``.
        drawn: ``(n_draws,)`` values of each parameter.
    """
    scale, lapse = drawn["scale"][:, None, None], drawn["lapse"][:, None, None]
    # What speaks for each option: what the learners say, and each person's own tastes.
    evidence = np.broadcast_to(strength, (len(scale), *strength.shape))
    own = _own_tastes(tastes, drawn)
    if len(own):
        evidence = evidence + np.einsum("kd,rok->dro", own, tastes)
    evidence = scale * evidence
    evidence[..., -1] += drawn["side"][:, None]
    evidence = np.where(available, evidence, -np.inf)
    # Choices follow it, but for lapses, which are spread evenly.
    followed = np.exp(log_softmax(evidence, axis=-1))
    even = available / available.sum(axis=-1, keepdims=True)
    p = (1 - lapse) * followed + lapse * even
    return np.asarray(np.log(np.maximum(p, TINY)))


def _own_tastes(tastes: Array, drawn: Mapping[str, Array]) -> Array:
    """``(n_tastes, n_draws)`` how much more than others people want of what they differ in."""
    return np.array([drawn[f"taste_{number}"] for number in range(tastes.shape[-1])])


def log_answers(
    rows: LearnerRows, strength: Array, tastes: Array, drawn: Mapping[str, Array]
) -> Array:
    """``(n_draws, n_people)`` log likelihood of each person's responses, nats; see `log_choices`.

    Args:
        rows: The responses.
        strength: ``(n_rows, n_options)``.
        tastes: ``(n_cells, n_options, n_tastes)``.
        drawn: People.
    """
    n_draws, n_options = len(drawn["scale"]), strength.shape[1]
    found = np.zeros((n_draws, rows.n_people))
    is_binary = n_options == 2 and bool(rows.available.all())
    for part in _parts(len(rows.cell), n_draws * n_options):
        cell, response = rows.cell[part], rows.response[part]
        if is_binary:
            log_p = _log_of_two(strength[part], tastes[cell], response, drawn)
        else:
            log_p = log_choices(strength[part], tastes[cell], rows.available[cell], drawn)
            log_p = log_p[:, np.arange(len(cell)), response]
        log_p = log_p * rows.count[part]
        # Responses of a person are added up, in the order in which they stand.
        order = np.argsort(rows.person[part], kind="stable")
        people, first = np.unique(rows.person[part][order], return_index=True)
        found[:, people] += np.add.reduceat(log_p[:, order], first, axis=1)
    return found


def _log_of_two(
    strength: Array, tastes: Array, response: Rows, drawn: Mapping[str, Array]
) -> Array:
    """``(n_draws, n_rows)`` what `log_choices` gives for the option chosen of two, in a fifth of the time."""
    scale, side, lapse = (drawn[name][:, None] for name in ("scale", "side", "lapse"))
    towards = np.where(response == 1, 1.0, -1.0)
    lead = (strength[:, 1] - strength[:, 0]) * towards
    evidence = np.broadcast_to(lead, (len(scale), len(lead)))
    own = _own_tastes(tastes, drawn)
    if len(own):
        wanted = (tastes[:, 1] - tastes[:, 0]).T * towards
        evidence = evidence + own.T @ wanted
    evidence = scale * evidence + side * towards
    p = (1 - lapse) * expit(evidence) + lapse / 2
    return np.asarray(np.log(np.maximum(p, TINY)))


def mean_shares(rows: LearnerRows, strength: Array, people: LearnerPopulation) -> Array:
    """``(n_cells, n_options)`` probabilities in the population, NaN for cells without a response."""
    total, seen = np.zeros(rows.columns.shape[:2]), np.zeros(len(rows.columns))
    for part in _parts(len(rows.cell), len(people.drawn["scale"]) * strength.shape[1]):
        cell = rows.cell[part]
        log_p = log_choices(strength[part], people.tastes[cell], rows.available[cell], people.drawn)
        np.add.at(total, cell, np.exp(log_p).mean(axis=0))
        np.add.at(seen, cell, 1.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / seen[:, None])


def _parts(n_rows: int, per_row: int) -> list[slice]:
    """Rows in parts of which each makes few enough numbers at once."""
    size = max(1, MOST_AT_ONCE // per_row)
    return [slice(start, start + size) for start in range(0, n_rows, size)]


def learn_population(rows: LearnerRows, strength: Array) -> LearnerPopulation:
    """Estimate the population of people, on top of learners that did not see the responses in question."""
    if rows.trials[0].pooled:
        tastes = np.zeros((*rows.columns.shape[:2], 0))
        drawn = draw_population(PEOPLE, N_POINTS, np.random.default_rng(0))
        best = int(log_answers(rows, strength, tastes, drawn).sum(axis=1).argmax())
        return LearnerPopulation(PEOPLE, {k: v[[best]] for k, v in drawn.items()}, tastes)
    known = _known_people(rows)
    some = part_of(rows, known, rows.trials)
    tastes = _tastes(some, strength[known])
    wide = PEOPLE | {f"taste_{number}": TASTE for number in range(tastes.shape[-1])}
    people = calibrate(
        wide,
        rows.trials,
        lambda drawn: [],
        likelihood=lambda drawn: log_answers(some, strength[known], tastes, drawn),
        n_draws=N_DRAWS,
        n_iterations=N_ROUNDS,
    )
    n_draws = N_DRAWS if len(rows.cell) <= MOST_ROWS else N_DRAWS // 4
    drawn = draw_population(people, n_draws, np.random.default_rng(0))
    return LearnerPopulation(people, drawn, tastes)


def _known_people(rows: LearnerRows) -> NDArray[np.bool_]:
    """``(n_rows,)`` responses of the people who are learned from: all, or as many by lot as are enough."""
    if len(rows.cell) <= MOST_PEOPLE_ROWS:
        return np.ones(len(rows.person), dtype=bool)
    order = np.random.default_rng(0).permutation(rows.n_people)
    n_answers = np.bincount(rows.person, minlength=rows.n_people)[order]
    return np.isin(rows.person, order[np.cumsum(n_answers) <= MOST_PEOPLE_ROWS])


FOLLOWER = {"scale": np.array([0.5]), "lapse": np.array([0.02]), "side": np.zeros(1)}
"""Parameters of a person who follows the learners half as strictly as they predict, and hardly lapses."""
SCALES = np.array([0.2, 0.3, 0.45, 0.65, 1.0])
"""Strictness with which learners may be followed where their sizes are compared."""


def _tastes(rows: LearnerRows, strength: Array) -> Array:
    """``(n_cells, n_options, N_TASTES)`` places on the directions along which people differ most.

    The directions are the first eigenvectors of the covariance of people's score statistics (what each column would
    add for a person), less what chance alone makes of it. They are scaled to a standard deviation of one.
    """
    n_columns = rows.columns.shape[-1]
    flat = rows.columns.reshape(-1, n_columns)
    deviation = np.maximum(flat.std(axis=0), 1e-9)
    table = np.clip((rows.columns - flat.mean(axis=0)) / deviation, -CLIP, CLIP)
    scores = np.zeros((rows.n_people, n_columns))
    noise = np.zeros((n_columns, n_columns))
    for part in _parts(len(rows.cell), table[0].size):
        cell, count = rows.cell[part], rows.count[part][:, None]
        seen = table[cell]
        no_taste = np.zeros((*strength[part].shape, 0))
        log_p = log_choices(strength[part], no_taste, rows.available[cell], FOLLOWER)
        p = np.exp(log_p)[0]
        # What was chosen beyond what was expected, in units of each column, and its variance by chance.
        expected = (p[..., None] * seen).sum(axis=1, keepdims=True)
        beyond = seen - expected
        chosen = beyond[np.arange(len(seen)), rows.response[part]]
        np.add.at(scores, rows.person[part], chosen * count)
        weighted = beyond * (p * count)[..., None]
        noise += weighted.reshape(-1, n_columns).T @ beyond.reshape(-1, n_columns)
    scores -= scores.mean(axis=0)
    values, vectors = np.linalg.eigh(scores.T @ scores - noise)
    best = vectors[:, np.argsort(-values, kind="stable")[:N_TASTES]]
    # A direction has no sign of its own: its largest entry is made positive.
    largest = np.abs(best).argmax(axis=0), np.arange(best.shape[1])
    along = table @ (best * np.sign(best[largest]))
    spread = along.reshape(-1, best.shape[1]).std(axis=0)
    return np.asarray(along / np.maximum(spread, 1e-9))


@dataclass(frozen=True)
class LearnerPrediction:
    """Predictions of generic learners for responses that they did not see."""

    scores: list[UnitScores]
    """One of each experiment, whose units are those of a theory's scores."""
    shares: list[Array]
    """``(n_trials, n_options)`` of each learned experiment, each trial predicted from others (or from other people);
    empty for tasks with steps."""


def predict_left_out(
    domain: Domain, trials: Sequence[Trials], *, seed: int = 0
) -> LearnerPrediction:
    """Predict every experiment from the others; of the only one, other people (or trials, where they are pooled).

    Args:
        domain: Domain of the trials.
        trials: All experiments, like those of `theories.engine.fitting.fit.score_experiments`.
        seed: Seed of the learners.
    """
    rows = read_rows(domain, trials)
    fold = folds_of(domain, rows, left_out_kind(trials))
    strength, _ = better_size(rows, fold, seed)
    people = learn_population(rows, strength)
    log_p = log_answers(rows, strength, people.tastes, people.drawn)
    scores = _scores(rows, log_p, _weights_without(rows, people, log_p, fold))
    return LearnerPrediction(scores, _shares(domain, rows, strength, people))


def predict_others(
    domain: Domain,
    learned: Sequence[Trials],
    unseen: Sequence[Trials],
    *,
    kind: str,
    seed: int = 0,
) -> LearnerPrediction:
    """Predict answers to other trials, or of other people, from those learned.

    Args:
        domain: Domain of the trials.
        learned: Experiments to learn from.
        unseen: Experiments to predict.
        kind: What is left out in turn to learn who the people are: ``data sets``, ``experiments``, ``people`` or
            ``trials``.
        seed: Seed of the learners.
    """
    both = read_rows(domain, [*learned, *unseen])
    is_new = both.experiment >= len(learned)
    rows = part_of(both, ~is_new, tuple(learned))
    new = part_of(both, is_new, tuple(unseen))
    strength, large = better_size(rows, folds_of(domain, rows, kind), seed)
    people = learn_population(rows, strength)
    learners = fit_learners(both.columns, rows.counts(rows.cell >= 0), seed, large=large)
    found = strengths(learners, both.columns)
    if unseen[0].pooled:  # counts are predicted by the population's mean
        first = sum(len(item.stimuli) for item in learned)
        shares = _shares(domain, new, found[new.cell], people, first=first)
        scores = _scores_of_counts(unseen, shares)
    else:
        log_p = log_answers(new, found[new.cell], people.tastes, people.drawn)
        scores = _scores(new, log_p, np.full(log_p.shape, -np.log(len(log_p))))
    return LearnerPrediction(scores, _shares(domain, rows, strength, people))


def ceiling_of_people(domain: Domain, trials: Sequence[Trials]) -> list[UnitScores] | None:
    """Score the predictions from other people's responses to the same trial, if people may differ: the noise ceiling.

    Each answer is predicted from the shares among all other people, shrunk towards even odds by one response; on top
    stands a population that differs in strictness, lapses, side and tastes, learned from other people.

    Returns:
        Scores of each experiment, or None where responses depend on what came before, where people cannot be told
        apart, or where no trial was answered by two of them.
    """
    if domain.sequential or trials[0].pooled:
        return None
    rows = read_rows(domain, trials)
    pairs = np.unique(np.stack([rows.cell, rows.person]), axis=1)[0]
    if np.bincount(pairs).max(initial=0) < 2:
        return None
    n_options, n_cells = rows.columns.shape[1], len(rows.columns)
    key = rows.person * n_cells + rows.cell
    own_keys, place = np.unique(key, return_inverse=True)
    own = np.zeros((len(own_keys), n_options))
    np.add.at(own, (place, rows.response), rows.count)
    everybody = rows.counts(rows.cell >= 0)
    others = everybody[rows.cell] - own[place] + 1 / n_options
    strength = np.log(others / others.sum(axis=1, keepdims=True))
    people = learn_population(rows, strength)
    log_p = log_answers(rows, strength, people.tastes, people.drawn)
    fold = folds_of(domain, rows, "people")
    return _scores(rows, log_p, _weights_without(rows, people, log_p, fold))


def left_out_kind(trials: Sequence[Trials]) -> str:
    """Name what is held out in turn where theories are scored on the responses that taught their populations."""
    if data_sets_of(item.experiment for item in trials):
        return "data sets"
    if len(trials) > 1:
        return "experiments"
    return "trials" if trials[0].pooled else "people"


def part_of(
    rows: LearnerRows, chosen: NDArray[np.bool_], trials: tuple[Trials, ...]
) -> LearnerRows:
    """Some of the rows, whose people and experiments are numbered anew, with all cells."""
    person = np.unique(rows.person[chosen], return_inverse=True)[1]
    experiment = np.unique(rows.experiment[chosen], return_inverse=True)[1]
    return replace(
        rows,
        cell=rows.cell[chosen],
        response=rows.response[chosen],
        count=rows.count[chosen],
        person=person.astype(np.intp),
        experiment=experiment.astype(np.intp),
        trials=trials,
    )


def _weights_without(
    rows: LearnerRows, people: LearnerPopulation, log_p: Array, fold: Rows
) -> Array:
    """``(n_draws, n_people)`` log weights of draws in the population without each person's own group."""
    if rows.trials[0].pooled:  # one point, which a single trial hardly moves
        return np.zeros(log_p.shape)
    groups = np.zeros(rows.n_people, dtype=np.intp)
    groups[rows.person] = np.unique(fold, return_inverse=True)[1]
    return leave_groups_out(people.priors, people.drawn, log_p, groups)[groups].T


def _scores(rows: LearnerRows, log_p: Array, log_weights: Array) -> list[UnitScores]:
    """One score for each person, or trial, of each experiment."""
    n_choices = np.bincount(rows.person, rows.count, minlength=rows.n_people)
    experiment = np.zeros(rows.n_people, dtype=np.intp)
    experiment[rows.person] = rows.experiment
    scores = logsumexp(log_p + log_weights, axis=0)
    found = []
    for number in range(len(rows.trials)):
        own = (experiment == number) & (n_choices > 0)
        found.append(UnitScores(scores[own], n_choices[own]))
    return found


def _scores_of_counts(trials: Sequence[Trials], shares: Sequence[Array]) -> list[UnitScores]:
    """One score for each answered trial, by the shares that a population predicts."""
    found = []
    for item, own in zip(trials, shares, strict=True):
        answered = item.totals.sum(axis=1) > 0
        totals = item.totals[answered]
        log_p = np.log(np.maximum(own[answered], TINY))
        found.append(UnitScores((totals * log_p).sum(axis=1), totals.sum(axis=1)))
    return found


def _shares(
    domain: Domain,
    rows: LearnerRows,
    strength: Array,
    people: LearnerPopulation,
    *,
    first: int = 0,
) -> list[Array]:
    """Mean shares of each experiment's trials, the first of which is the cell ``first``."""
    if domain.sequential:
        return []
    shares = mean_shares(rows, strength, people)[first:]
    ends = np.cumsum([len(item.stimuli) for item in rows.trials])
    return list(np.split(shares[: ends[-1]], ends[:-1]))
