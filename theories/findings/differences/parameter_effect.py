"""Effects on a theory's parameters: a regression on conditions, groups, ages and covariates of trials.

Responses are divided into cells, one for each participant and condition. What each cell says of each parameter is found
without any label (`cell_posterior`); a mixed model of these values gives effects, intervals and tests (`mixed_model`).
A group is a category that differs between participants, and a condition is one that varies within them: the same
estimate, and labels that are exchanged in the way in which they vary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.cell_posterior import (
    CellPosteriors,
    ParameterScale,
    find_cell_posteriors,
)
from lakatos.theories.findings.differences.effect_formula import (
    PARTICIPANT,
    DesignTerm,
    EffectDesign,
    EffectFormula,
    as_values,
    design_of,
    read_formula,
)
from lakatos.theories.findings.differences.mixed_model import (
    LEVEL,
    N_EXCHANGES,
    NOTHING,
    Exchange,
    estimate_effects,
    exchange_p,
    group_cells,
)
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_LEVELS = 6
"""Different numbers within a participant that are conditions as they are; more are divided into bins."""
N_BINS = 4
"""Bins of equal size into which each participant's responses are divided by a number that varies from trial to
trial."""
FEWEST_IN_LEVEL = 2
"""Participants in each condition or group."""
FEWEST = 4
"""Participants of whom the predictors are known."""
MOST_CELLS = 16
"""Conditions of one participant."""
PERSON, EXPERIMENT, N_RESPONSES = "participant", "experiment", "n_responses"
BETWEEN = " (between participants)"


@dataclass(frozen=True)
class ResponseColumns:
    """Columns beside each response: conditions, groups, covariates."""

    person: tuple[NDArray[Any], ...]
    """``(n_rows,)`` of each experiment: the participant, by the same name in all experiments."""
    columns: tuple[Mapping[str, NDArray[Any]], ...]
    """``(n_rows,)`` of each experiment, by column, in text; empty where it is not known."""
    untested: str = ""
    """Reason why labels cannot be exchanged, as a sentence: nothing is tested then, and effects have no p."""


def formula_of(by: Sequence[str], beside: ResponseColumns) -> EffectFormula:
    """The formula of some columns: numbers are scaled, and what varies within participants has a random slope."""
    person = np.concatenate([np.asarray(own, dtype=str) for own in beside.person])
    shown, varying = [], []
    for name in by:
        values = as_values(np.concatenate([own[name] for own in beside.columns]).tolist(), name)
        term = name if name.isidentifier() else f"`{name}`"
        shown.append(term if values_are_categories(values) else f"scale({term})")
        if (values.groupby(person).nunique() > 1).any():
            varying.append(name)
    quoted = [name if name.isidentifier() else f"`{name}`" for name in varying]
    slopes = f"({' + '.join(quoted) or '1'} | {PARTICIPANT})"
    found = read_formula(f"~ {' + '.join(shown)} + {slopes}")
    return replace(found, predictors=tuple(by), slopes=tuple(varying))


@dataclass(frozen=True)
class ConditionCells:
    """Responses divided by participant and condition."""

    frame: pd.DataFrame
    """A row for each cell: `PERSON`, `EXPERIMENT`, `N_RESPONSES` and the predictors."""
    cells: tuple[Ints, ...]
    """``(n_rows,)`` of each experiment: cell of each response, from 0 on in each experiment."""
    within: frozenset[str]
    """Predictors that vary within participants."""
    notes: tuple[str, ...] = ()


def divide_into_cells(
    trials: Sequence[Trials], beside: ResponseColumns, predictors: Sequence[str]
) -> ConditionCells:
    """Divide responses by participant and by what varies within participants.

    Args:
        trials: Experiments whose participants can be told apart.
        beside: Columns beside each response.
        predictors: Columns of the formula.

    Raises:
        TrialsError: A predictor is the same in all responses, or divides responses into too many cells.
    """
    sizes = [len(item.participant) for item in trials]
    experiment = np.repeat(np.arange(len(trials)), sizes)
    person = np.concatenate([np.asarray(own, dtype=str) for own in beside.person])
    notes: list[str] = []
    table, within = {}, set()
    for name in predictors:
        values = as_values(np.concatenate([own[name] for own in beside.columns]).tolist(), name)
        _check_varies(values, name)
        levels = values.groupby(person).nunique()
        if (levels > 1).any():
            within.add(name)
            if values.dtype == float and int(levels.max()) > MOST_LEVELS:
                values = _binned(values, person)
                notes.append(
                    f"{name} varies from response to response: each participant's responses are divided into at most "
                    f"{N_BINS} bins of it, of equal size, with the mean of each bin."
                )
            elif values.dtype != float:
                notes += _confounded_with_order(values, person, name)
        table[name] = values
    rows = pd.DataFrame({EXPERIMENT: experiment, PERSON: person, **table})
    keys = [EXPERIMENT, PERSON, *[name for name in predictors if name in within]]
    grouped = rows.groupby(keys, dropna=False, sort=False, observed=True)
    number = grouped.ngroup().to_numpy()
    frame = grouped.first()[[name for name in predictors if name not in within]].reset_index()
    for name in predictors:  # grouping may forget the order of categories
        if values_are_categories(table[name]):
            frame[name] = pd.Categorical(
                frame[name], categories=table[name].cat.categories, ordered=True
            )
    frame[N_RESPONSES] = grouped.size().to_numpy()
    most = int(frame.groupby(PERSON).size().max())
    if most > MOST_CELLS:
        raise TrialsError(
            f"{' and '.join(sorted(within))} divide the responses of a participant into {most} conditions of "
            f"{frame[N_RESPONSES].median():.0f} responses; at most {MOST_CELLS} can be compared. Name fewer columns."
        )
    cells: list[Ints] = []
    place, n_before = np.empty(len(frame), dtype=np.int64), 0
    for own in np.split(number, np.cumsum(sizes)[:-1]):
        inside, local = np.unique(own, return_inverse=True)
        place[inside] = np.arange(len(inside)) + n_before
        cells.append(local.astype(np.int64))
        n_before += len(inside)
    frame = frame.iloc[np.argsort(place)].reset_index(drop=True)
    return ConditionCells(frame, tuple(cells), frozenset(within), tuple(notes))


def values_are_categories(values: pd.Series) -> bool:
    """Whether a column is of categories, not of numbers."""
    return isinstance(values.dtype, pd.CategoricalDtype)


def _check_varies(values: pd.Series, name: str) -> None:
    """Refuse a predictor that has one value only."""
    known = values.dropna()
    if known.nunique() < 2:
        there = str(known.iloc[0]) if len(known) else "empty"
        raise TrialsError(
            f"{name} is {there} in all responses; there is nothing that could have an effect."
        )


def _binned(values: pd.Series, person: NDArray[Any]) -> pd.Series:
    """A number divided into bins of equal size for each participant, as the mean of each bin."""
    rank = values.groupby(person).rank(method="first", pct=True)
    bins = np.ceil(rank * N_BINS)
    return values.groupby([person, bins]).transform("mean")


def _confounded_with_order(values: pd.Series, person: NDArray[Any], name: str) -> list[str]:
    """A note where all participants went through the conditions one after another, in the same order."""
    orders = set()
    known = values.notna().to_numpy()
    for _, own in values[known].groupby(person[known], sort=False):
        codes = own.cat.codes.to_numpy()
        if len(np.unique(codes)) < 2:
            continue
        runs = codes[np.concatenate([[True], codes[1:] != codes[:-1]])]
        orders.add(tuple(runs.tolist()))
        if len(orders) > 1 or len(runs) > len(set(runs.tolist())):
            return []
    (order,) = orders
    levels = ", then ".join(str(values.cat.categories[code]) for code in order)
    return [
        f"the responses of every participant come in one order, {levels}: if rows are in the order of the session, an "
        f"effect of {name} cannot be separated from practice."
    ]


@dataclass(frozen=True)
class ParameterEffect:
    """The effect of one column of a formula on one parameter."""

    parameter: str
    label: str
    """Name of the column, such as ``strategy[regulate]``."""
    term: str
    kind: str
    """Whether the predictor varies ``within`` or ``between`` participants."""
    scale: ParameterScale
    estimate: float
    """Estimate on the parameter's scale."""
    error: float
    interval: tuple[float, float]
    """95%, on the parameter's scale."""
    statistic: float | None
    """The estimate in standard errors of the model, which the exchange of labels is about; None as `p`."""
    p: float | None
    """Probability of so large a statistic of any tested parameter, if the labels mean nothing. None where nothing can
    be exchanged: each experiment has one value of the predictor."""
    baseline: float
    """Value on the scale without the effect: at the levels with which others are compared, or the mean of a number.
    Columns that have no part in the effect are as they are on average."""
    n_people: int
    n_tested: int = 1
    """Parameters and columns that `p` allows for."""

    @property
    def is_shown(self) -> bool:
        """Whether labels show the effect, and its interval excludes 0."""
        low, high = self.interval
        return self.p is not None and self.p <= LEVEL and not low <= 0 <= high

    @property
    def in_unit(self) -> tuple[float, float]:
        """The median participant's value without and with the effect, in the parameter's own unit."""
        ends = self.scale.to_unit(np.array([self.baseline, self.baseline + self.estimate]))
        return float(ends[0]), float(ends[1])

    @property
    def change(self) -> tuple[float, float, float]:
        """The change of the median participant's value in the parameter's own unit, and the ends of its interval."""
        ends = np.array([0.0, self.estimate, *self.interval])
        start, value, low, high = self.scale.to_unit(self.baseline + ends).tolist()
        return value - start, low - start, high - start

    @property
    def as_ratio(self) -> tuple[float, float, float] | None:
        """The ratio of values, or of odds of shares, with the ends of its interval; None on a plain scale."""
        if self.scale.kind == "plain":
            return None
        value, low, high = np.exp([self.estimate, *self.interval]).tolist()
        return value, low, high


@dataclass(frozen=True)
class ParameterEffects:
    """Effects of a formula's predictors on the parameters of a theory."""

    theory: Theory
    formula: EffectFormula
    effects: tuple[ParameterEffect, ...]
    frame: pd.DataFrame
    """A row for each cell that counts."""
    posteriors: CellPosteriors
    """Posteriors of all cells."""
    used: Ints
    """``(n_rows of the frame,)`` places of its cells among those of `posteriors`."""
    within_sd: Mapping[str, float]
    """Standard deviation of a participant's cells beside errors and the predictors, by parameter."""
    between_sd: Mapping[str, float]
    """Standard deviation of participants, by parameter."""
    fitted: Array
    """``(n_rows of the frame, n_parameters)`` what the model predicts of each cell, on the scales of the parameters."""
    notes: tuple[str, ...] = ()

    @property
    def n_people(self) -> int:
        """Participants that count."""
        return int(self.frame[PERSON].nunique())

    def of(self, parameter: str) -> tuple[ParameterEffect, ...]:
        """Effects on one parameter."""
        return tuple(item for item in self.effects if item.parameter == parameter)


def find_effects(
    theory: Theory,
    trials: Sequence[Trials],
    beside: ResponseColumns,
    formula: EffectFormula,
    laboratory: Laboratory,
    *,
    parameters: Sequence[str] = (),
    prior_sd: float | None = None,
    seed: int = 0,
    n_exchanges: int = N_EXCHANGES,
) -> ParameterEffects:
    """Effects of a formula's predictors on a theory's parameters.

    Args:
        theory: Theory with its declared ranges.
        trials: Experiments whose participants can be told apart.
        beside: What stands beside each response.
        formula: Formula that was read.
        laboratory: Laboratory in which the theory runs.
        parameters: Parameters that are tested; those of the formula, or all, by default.
        prior_sd: Standard deviation of a normal prior of each effect, a share of the parameter's range; none at first.
        seed: Seed of points that are tried, and of exchanged labels.
        n_exchanges: Exchanges of labels.

    Raises:
        TrialsError: The predictors cannot have an effect here; the message says why, and what there is.
        TheoryError: The theory does not run on these responses, or has no such parameter.
    """
    parameters = parameters or formula.parameters
    check_parameters(theory, parameters)
    if any(item.pooled for item in trials):
        raise TrialsError("these are counts of answers, which do not say who gave them.")
    divided = divide_into_cells(trials, beside, formula.predictors)
    _check_slopes(formula, divided)
    known = divided.frame[list(formula.predictors)].notna().all(axis=1).to_numpy()
    # Refused before anything is computed.
    _check_people(divided.frame[known], formula, divided.within)
    _check_interactions(divided.frame[known], formula)
    design_of(formula, _with_group(formula, divided.frame[known]))
    posteriors = find_cell_posteriors(theory, trials, divided.cells, laboratory, seed=seed)
    names = [scale.name for scale in posteriors.scales]
    wanted = [name for name in parameters or names if name in names]
    if not wanted:
        raise TheoryError(
            f"the trials carry no information about {' and '.join(parameters)} of {theory.name}."
        )
    notes = list(divided.notes)
    if n_missing := int(divided.frame[N_RESPONSES][~known].sum()):
        notes.append(
            f"{n_missing} responses do not count, because {' or '.join(formula.predictors)} is empty."
        )
    found = effects_of_cells(
        posteriors,
        divided.frame,
        np.flatnonzero(known),
        formula,
        divided.within,
        wanted,
        [*notes, beside.untested] if beside.untested else notes,
        prior_sd=prior_sd,
        seed=seed,
        n_exchanges=n_exchanges,
        is_testable=not beside.untested,
    )
    return replace(found, theory=theory)


def check_parameters(theory: Theory, parameters: Sequence[str]) -> None:
    """Refuse parameters that a theory does not have.

    Raises:
        TheoryError: One is missing; the message says which, and what there is.
    """
    unknown = sorted(set(parameters) - set(theory.priors))
    if unknown:
        raise TheoryError(
            f"{theory.name} has no parameter {unknown[0]!r}; it has {', '.join(theory.priors) or 'none'}."
        )


def effects_of_cells(
    posteriors: CellPosteriors,
    frame: pd.DataFrame,
    used: Ints,
    formula: EffectFormula,
    within: frozenset[str],
    asked: Sequence[str],
    notes: Sequence[str] = (),
    *,
    prior_sd: float | None = None,
    seed: int = 0,
    n_exchanges: int = N_EXCHANGES,
    is_testable: bool = True,
) -> ParameterEffects:
    """Effects from what cells say; see `find_effects`.

    Args:
        posteriors: Posteriors of all cells.
        frame: A row for each of these cells.
        used: Places of the cells whose predictors are known.
        formula: Formula that was read.
        within: Predictors that vary within participants.
        asked: Parameters that are tested.
        notes: So far.
        prior_sd, seed, n_exchanges: As in `find_effects`.
        is_testable: Whether labels may be exchanged at all; effects have no p otherwise.
    """
    notes = list(notes)
    chosen = frame.iloc[used].reset_index(drop=True)
    design = design_of(formula, _with_group(formula, chosen))
    matrix, terms, kinds = _by_kind(design, chosen, within, notes)
    cells = group_cells(
        posteriors.value[used], posteriors.variance[used], chosen[PERSON].to_numpy()
    )
    shown = cells.spread_out(matrix)
    names = [scale.name for scale in posteriors.scales]
    ridge = None
    if prior_sd is not None:
        widths = np.array([scale.high - scale.low for scale in posteriors.scales])
        free = np.ones(matrix.shape[1])
        free[0] = 0.0
        ridge = ((1 / (prior_sd * widths) ** 2)[:, None] * free).reshape(-1)
    ones = cells.spread_out(np.ones((len(matrix), 1)))
    estimated = estimate_effects(cells, shown, ones, ridge)
    low, high = estimated.interval()
    stratum = _strata(chosen)
    rng = np.random.default_rng([seed, 1])
    tested = [names.index(name) for name in asked]
    n_people = len(cells.there)
    effects: list[ParameterEffect] = []
    for term, kind in zip(terms, kinds, strict=True):
        exchange = Exchange(term.columns, kind == "within", stratum)
        statistics = p_values = None
        is_tested = [True] * len(term.columns)
        if is_testable and kind == "between":
            is_tested = _tested_columns(shown[:, 0][:, list(term.columns)], stratum)
        if not is_testable:
            is_tested = [False] * len(term.columns)
        elif any(is_tested):
            statistics, p_values = exchange_p(
                cells, shown, estimated.covariances, exchange, tested, rng,
                counted=is_tested, n_exchanges=n_exchanges, ridge=ridge,
            )  # fmt: skip
        confounded = [label for label, own in zip(term.labels, is_tested, strict=True) if not own]
        for label in confounded if is_testable else ():
            notes.append(
                f"{label} is confounded with experiments, each of which has one value of it only, so its effects are "
                "not tested and have no p."
            )
        for row, k in enumerate(tested):
            for column, (place, label) in enumerate(zip(term.columns, term.labels, strict=True)):
                without = _without_effect(place, term, terms, matrix, chosen)
                effects.append(
                    ParameterEffect(
                        names[k], label, term.name, kind, posteriors.scales[k],
                        float(estimated.estimate[k, place]), float(estimated.error[k, place]),
                        (float(low[k, place]), float(high[k, place])),
                        _told(statistics, row, column, is_tested),
                        _told(p_values, row, column, is_tested),
                        float(without @ estimated.estimate[k]), n_people,
                        len(tested) * sum(is_tested),
                    )
                )  # fmt: skip
    spread = estimated.covariances
    return ParameterEffects(
        None,  # type: ignore[arg-type]  # the caller names it
        formula, tuple(effects), chosen, posteriors, used,
        dict(zip(names, np.sqrt(np.diag(spread.within)).tolist(), strict=True)),
        dict(zip(names, np.sqrt(np.diag(spread.between)).tolist(), strict=True)),
        matrix @ estimated.estimate.T,
        tuple(notes),
    )  # fmt: skip


def _with_group(formula: EffectFormula, frame: pd.DataFrame) -> pd.DataFrame:
    """Cells with the participant as the formula calls it."""
    return frame.assign(**{formula.group or PARTICIPANT: frame[PERSON]})


def _check_slopes(formula: EffectFormula, divided: ConditionCells) -> None:
    """Refuse random effects that are not of participants, and slopes of what does not vary within them."""
    for name in formula.slopes:
        if name not in formula.predictors:
            raise TrialsError(
                f"{formula.text!r} has a random slope of {name}, whose effect it does not name; add {name} to the "
                "right side."
            )
        if name not in divided.within:
            raise TrialsError(
                f"{name} does not vary within participants, so that it can have no random slope: each of the "
                f"{divided.frame[PERSON].nunique()} participants has one value of it. Leave "
                f"({name} | {formula.group}) out."
            )


def _check_people(frame: pd.DataFrame, formula: EffectFormula, within: frozenset[str]) -> None:
    """Refuse predictors that too few participants tell of."""
    n_people = frame[PERSON].nunique()
    if n_people < FEWEST:
        raise TrialsError(
            f"effects need at least {FEWEST} participants; {' and '.join(formula.predictors)} "
            f"{'is' if len(formula.predictors) == 1 else 'are'} given for {n_people}."
        )
    for name in formula.predictors:
        varies = frame.groupby(PERSON)[name].nunique() > 1
        if name in within and varies.sum() < FEWEST:
            few = ", ".join(map(str, varies.index[varies])) or "none"
            raise TrialsError(
                f"{name} varies within {varies.sum()} of {n_people} participants ({few}); effects within participants "
                f"need at least {FEWEST} of them. If it describes participants, give each participant one value."
            )
        if not values_are_categories(frame[name]):
            continue
        counts = frame.groupby(name, observed=False)[PERSON].nunique()
        there = ", ".join(f"{level}: {n}" for level, n in counts.items())
        if (counts == 1).all() and name not in within:
            raise TrialsError(
                f"{name} is confounded with participants: each of its {len(counts)} values is of one participant only."
            )
        if counts.min() < FEWEST_IN_LEVEL:
            raise TrialsError(
                f"{name} is {counts.idxmin()!r} for {counts.min()} participant"
                f"{'s' * int(counts.min() != 1)}; effects need at least {FEWEST_IN_LEVEL} in each (there are {there})."
            )


def _check_interactions(frame: pd.DataFrame, formula: EffectFormula) -> None:
    """Refuse interactions of categories of which too few participants have a combination."""
    for names in formula.interactions:
        if not all(values_are_categories(frame[name]) for name in names):
            continue
        counts = frame.groupby(list(names), observed=False)[PERSON].nunique()
        if counts.min() < FEWEST_IN_LEVEL:
            there = ", ".join(f"{' and '.join(map(str, cell))}: {n}" for cell, n in counts.items())
            cell = " and ".join(map(str, counts.idxmin()))
            raise TrialsError(
                f"{':'.join(names)} cannot be estimated: {cell} is the combination of {counts.min()} participant"
                f"{'s' * int(counts.min() != 1)}; an interaction needs {FEWEST_IN_LEVEL} in each (there are {there})."
            )


def _by_kind(
    design: EffectDesign, frame: pd.DataFrame, within: frozenset[str], notes: list[str]
) -> tuple[Array, list[DesignTerm], list[str]]:
    """The design with effects within participants apart from those between them.

    Where the mean of a column that varies within participants differs between them, the mean is a column of its own, so
    that no difference between participants enters the effect. A number becomes its difference from that mean, and the
    mean has an effect, too. Of categories and interactions the means are only what differs beside columns between
    participants, so that the effects of these are what they are where every participant has all conditions.
    """
    matrix, person = design.matrix.copy(), frame[PERSON]
    terms, kinds = [], []
    n_people = person.nunique()
    for term in design.terms:
        is_within = bool(within & set(term.predictors))
        terms.append(term)
        kinds.append("within" if is_within else "between")
        if not is_within:
            continue
        means = _means_of(design.matrix[:, list(term.columns)], person)
        if len(term.predictors) != 1 or values_are_categories(frame[term.predictors[0]]):
            matrix = _with_means(matrix, means, person)
            continue
        wide = np.column_stack([matrix, means])
        added = np.linalg.matrix_rank(wide) - np.linalg.matrix_rank(matrix)
        if added < means.shape[1] or means.std(axis=0).max() < 1e-9:
            continue
        if n_people < matrix.shape[1] + added + 2:
            continue
        matrix[:, list(term.columns)] -= means
        places = tuple(range(matrix.shape[1], matrix.shape[1] + means.shape[1]))
        matrix = np.column_stack([matrix, means - means.mean(axis=0)])
        labels = tuple(f"{label}{BETWEEN}" for label in term.labels)
        terms.append(DesignTerm(f"{term.name}{BETWEEN}", places, labels, term.predictors))
        kinds.append("between")
        notes.append(
            f"{term.name} varies within participants, and its mean between them: both effects are shown."
        )
    return _with_experiments(matrix, frame), terms, kinds


def _means_of(columns: Array, person: pd.Series) -> Array:
    """``(n_cells, n_columns)`` means of each cell's participant."""
    means = pd.DataFrame(columns).groupby(person.to_numpy()).transform("mean")
    return np.asarray(means.to_numpy(), dtype=np.float64)


def _with_means(matrix: Array, means: Array, person: pd.Series) -> Array:
    """The design with participants' means of columns, apart from its own columns between participants."""
    fixed = matrix[:, np.abs(matrix - _means_of(matrix, person)).max(axis=0) < NOTHING]
    apart = means - fixed @ np.linalg.lstsq(fixed, means, rcond=None)[0]
    for column in apart.T:
        wider = np.column_stack([matrix, column])
        says_more = np.linalg.matrix_rank(wider) > np.linalg.matrix_rank(matrix)
        if np.abs(column).max() > NOTHING and says_more and person.nunique() > wider.shape[1] + 1:
            matrix = wider
    return matrix


def _without_effect(
    place: int, term: DesignTerm, terms: Sequence[DesignTerm], matrix: Array, frame: pd.DataFrame
) -> Array:
    """``(n_columns,)`` of the design where one column has no effect, and the rest is as the effect supposes.

    Levels are those with which others are compared; of an interaction, its levels with their own effects. Other
    predictors are as they are on average.
    """
    found: Array = matrix.mean(axis=0)
    mine = set(term.predictors)
    label = dict(zip(term.columns, term.labels, strict=True))[place]
    supposed = mine.union(*(own.predictors for own in terms if mine <= set(own.predictors)))
    for own in terms:
        if supposed & set(own.predictors):
            for column, other in zip(own.columns, own.labels, strict=True):
                found[column] = float(set(other.split(":")) < set(label.split(":")))
    if len(mine) == 1 and not values_are_categories(frame[term.predictors[0]]):
        found[place] = matrix[:, place].mean()
    return found


def _with_experiments(matrix: Array, frame: pd.DataFrame) -> Array:
    """The design with a column for each set of experiments of participants, as far as these can be told apart."""
    people = sorted(frame[PERSON].unique())
    number = dict(zip(people, _strata(frame).tolist(), strict=True))
    stratum = np.array([number[name] for name in frame[PERSON]])
    for own in range(1, int(stratum.max()) + 1):
        column = (stratum == own).astype(float)
        wider = np.column_stack([matrix, column - column.mean()])
        if np.linalg.matrix_rank(wider) > np.linalg.matrix_rank(matrix):
            matrix = wider
    return matrix


def _strata(frame: pd.DataFrame) -> Ints:
    """``(n_people,)`` the experiments that each participant took part in, by number; participants in sorted order."""
    strata = frame.groupby(PERSON, sort=True)[EXPERIMENT].agg(lambda own: tuple(sorted(set(own))))
    numbers = {own: place for place, own in enumerate(dict.fromkeys(strata))}
    return np.array([numbers[own] for own in strata], dtype=np.int64)


def _told(table: Array | None, row: int, column: int, is_tested: Sequence[bool]) -> float | None:
    """A number of a table; None of a column that is not tested."""
    return float(table[row, column]) if table is not None and is_tested[column] else None


def _tested_columns(labels: Array, stratum: Ints) -> list[bool]:
    """Mark the columns of labels that vary within a stratum, as the level that all are compared with must, too."""
    reference = np.asarray((np.abs(labels) < 1e-12).all(axis=1)).reshape(-1, 1)
    if _is_of_strata(reference, stratum) and _has_levels(labels):
        return [False] * labels.shape[1]
    return [not _is_of_strata(column[:, None], stratum) for column in labels.T]


def _has_levels(labels: Array) -> bool:
    """Whether labels are of a category in treatment coding."""
    return bool(np.isin(labels, (0.0, 1.0)).all())


def _is_of_strata(labels: NDArray[Any], stratum: Ints) -> bool:
    """Whether participants of one stratum all have the same labels, so that nothing can be exchanged."""
    parts = (labels[stratum == number] for number in np.unique(stratum))
    return all(bool((part == part[:1]).all()) for part in parts)


@dataclass(frozen=True)
class LevelMedian:
    """The median participant in one condition or group."""

    parameter: str
    level: str
    value: float
    """Value in the parameter's own unit."""
    interval: tuple[float, float]
    """95%."""


def medians_of_levels(found: ParameterEffects, by: str) -> tuple[LevelMedian, ...]:
    """The median participant's value of each parameter in each level of a category, by the same model."""
    levels = list(found.frame[by].cat.categories)
    codes = found.frame[by].cat.codes.to_numpy()
    posteriors = found.posteriors
    cells = group_cells(
        posteriors.value[found.used],
        posteriors.variance[found.used],
        found.frame[PERSON].to_numpy(),
    )
    matrix = (codes[:, None] == np.arange(len(levels))).astype(float)
    person = found.frame[PERSON]
    shown = cells.spread_out(_with_means(matrix, _means_of(matrix, person), person))
    ones = cells.spread_out(np.ones((len(codes), 1)))
    estimated = estimate_effects(cells, shown, ones)
    low, high = estimated.interval()
    medians = []
    for k, scale in enumerate(posteriors.scales):
        for column, level in enumerate(levels):
            ends = np.array([estimated.estimate[k, column], low[k, column], high[k, column]])
            value, below, above = scale.to_unit(np.clip(ends, scale.low, scale.high)).tolist()
            medians.append(LevelMedian(scale.name, str(level), value, (below, above)))
    return tuple(medians)
