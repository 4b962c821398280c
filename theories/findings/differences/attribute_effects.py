"""Parameters that depend on what is known of people: whether an age, a group or a condition changes a theory's numbers.

A theory's code never sees attributes. The *center* of each person's population is moved by an effect times what is
known of the person (`fitting.effects`), so that any theory can be asked: its form is the same for all people,
and its numbers change evenly with an age, or from one group to another. Effects have a declared prior and are learned
from all people. Whether a number changes at all is decided by exchanging what is known among people
(`exchanged_labels`), as between groups; whether knowing it predicts people who taught nothing (five parts of
them are left out in turn) is told beside, since a person's own answers soon tell more.

`groups` asks the same of groups that share nothing; an effect is one number, which many ages can teach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.effects import (
    Bools,
    CenterRegression,
    PeopleOnDraws,
    effect_errors,
    learn_regression,
)
from lakatos.theories.engine.fitting.fit import fitting_draws, folds_of_people
from lakatos.theories.engine.fitting.known_people import (
    FEWEST_KNOWN,
    as_priors,
    learn_on_draws,
    learned_without,
)
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    advantage,
    is_tie,
    mean_over_units,
)
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.exchanged_labels import LEVEL, p_in_words, permuted_p
from lakatos.theories.findings.differences.groups import MOST_GROUPS
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
PRIOR_SD = 0.25
"""Of an effect: share of a parameter's range, on the scale of its prior, for a standard deviation of the attribute."""
N_DRAWS = 256
"""In each batch, where people need not be walked through their answers."""


@dataclass(frozen=True)
class AttributeColumns:
    """What is known of people as numbers: a standardised number, or one column for each group but the first."""

    by: str
    names: tuple[str, ...]
    """Names of the columns."""
    z: tuple[Array, ...]
    """``(n_participants, n_columns)`` of each experiment, mean 0 and deviation 1 over people; 0 where not known."""
    shown: Mapping[str, Array]
    """Rows ``(n_columns,)`` at which populations are told, by what they stand for."""
    n_known: int
    """People of whom it is known."""
    mean: float = np.nan
    """Of a number."""
    sd: float = np.nan
    known: tuple[Bools, ...] = ()
    """``(n_participants,)`` of each experiment: of whom it is known; of everybody where nothing is said."""

    @property
    def is_known(self) -> Bools:
        """``(n_people,)`` of all experiments: of whom it is known."""
        return (
            np.concatenate(self.known) if self.known else np.ones(len(self.everybody), dtype=bool)
        )

    @property
    def is_of_experiments(self) -> bool:
        """Whether it is the same for everybody of an experiment, so that it cannot be told from the experiment."""
        z, experiment = self.everybody[self.is_known], self.experiment[self.is_known]
        parts = [z[experiment == number] for number in np.unique(experiment)]
        return all(bool((part == part[:1]).all()) for part in parts)

    @property
    def experiment(self) -> NDArray[np.int64]:
        """``(n_people,)`` number of each person's experiment."""
        return np.repeat(np.arange(len(self.z)), [len(part) for part in self.z])

    @property
    def is_number(self) -> bool:
        """Whether it is a number, of which effects are told for a standard deviation."""
        return not np.isnan(self.sd)

    @cached_property
    def everybody(self) -> Array:
        """``(n_people, n_columns)`` of all experiments."""
        return np.concatenate(self.z)


def columns_of(labels: Sequence[NDArray[Any]], by: str) -> AttributeColumns:
    """Read what is known of people, in words, as numbers.

    Args:
        labels: ``(n_participants,)`` of each experiment, in words; empty where it is not known.
        by: What it is called.

    Raises:
        TrialsError: It is known of too few people, is the same for all, or divides them into too many groups.
    """
    said = np.concatenate(labels)
    known = said[said != ""]
    if len(known) < FEWEST_KNOWN:
        raise TrialsError(
            f"{by} is known for {len(known)} participants; estimating an effect needs {FEWEST_KNOWN}, because it is "
            "cross-validated over five parts of them."
        )
    of_whom = tuple(column != "" for column in labels)
    values = sorted(set(known.tolist()))
    if len(values) < 2:
        raise TrialsError(
            f"{by} is {values[0]} for everybody; there is nothing that could have an effect."
        )
    numbers = _as_numbers(known)
    if numbers is not None and len(values) > 2:
        return _column_of_numbers(by, labels, numbers, of_whom)
    if numbers is not None:
        values = sorted(values, key=float)
    if len(values) > MOST_GROUPS:
        raise TrialsError(
            f"{by} has {len(values)} non-numeric values; at most {MOST_GROUPS} groups can be compared."
        )
    return _columns_of_groups(by, labels, known, values, of_whom)


def _column_of_numbers(
    by: str, labels: Sequence[NDArray[Any]], numbers: Array, of_whom: tuple[Bools, ...]
) -> AttributeColumns:
    """One column: how many standard deviations each person is above the mean; who is not known stands there."""
    mean, sd = float(numbers.mean()), float(numbers.std())

    def column_of(cells: NDArray[Any]) -> Array:
        return np.array([[(float(cell) - mean) / sd if cell else 0.0] for cell in cells.tolist()])

    z = tuple(column_of(cells).reshape(len(cells), 1) for cells in labels)
    shown = {f"{mean + side * sd:.4g}": np.array([side]) for side in (-1.0, 1.0)}
    return AttributeColumns(by, (by,), z, shown, len(numbers), mean, sd, of_whom)


def _columns_of_groups(
    by: str,
    labels: Sequence[NDArray[Any]],
    known: NDArray[Any],
    values: Sequence[str],
    of_whom: tuple[Bools, ...],
) -> AttributeColumns:
    """A standardised column for belonging to each group but the first."""
    shares = np.array([np.mean(known == value) for value in values[1:]])
    spreads = np.sqrt(shares * (1 - shares))

    def row(cell: str) -> Array:
        member = np.array([float(cell == value) for value in values[1:]])
        return (member - shares) / spreads if cell else np.zeros(len(shares))

    z = tuple(
        np.array([row(cell) for cell in cells.tolist()]).reshape(len(cells), -1) for cells in labels
    )
    shown = {value: row(value) for value in values}
    return AttributeColumns(by, tuple(values[1:]), z, shown, len(known), known=of_whom)


def _as_numbers(known: NDArray[Any]) -> Array | None:
    """The cells as finite numbers; None where one of them is a word."""
    try:
        numbers = known.astype(float)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


@dataclass(frozen=True)
class LearnedEffect:
    """How one parameter depends on one column, in shares of its range for a standard deviation of the column."""

    parameter: str
    column: str
    estimate: ScoreEstimate
    gain: ScoreEstimate
    """Nats per choice by which the effects on this parameter alone predict people better who taught nothing."""
    p: float | None
    """Probability of so strong a connection of any parameter with what is known, if that means nothing. None where it
    is the same for everybody of an experiment: nothing can be exchanged then."""
    n_columns: int = 1
    """Columns on which the parameter may depend."""
    is_at_end: bool = False
    """Whether people's center stands at an end of the range, where answers tell nothing of an effect."""

    @property
    def is_likely(self) -> bool:
        """Whether the parameter has to do with what is known, in whichever column."""
        return self.p is not None and self.p <= LEVEL

    @property
    def is_shown(self) -> bool:
        """Whether the parameter changes with what is known; of several columns those whose own interval says so."""
        low, high = self.estimate.interval_of_chosen(self.n_columns)
        is_clear = self.n_columns == 1 or low > 0 or high < 0
        return self.is_likely and is_clear and not self.gain.is_of_few


@dataclass(frozen=True)
class TheoryWithEffects:
    """A theory whose people's numbers depend on what is known of them."""

    form: Theory
    attribute: AttributeColumns
    people: Mapping[str, Prior]
    """Of those of whom the average is known (``z = 0``); what people of the same attribute differ by."""
    shown: Mapping[str, Mapping[str, Prior]]
    """Populations at the rows of `AttributeColumns.shown`, by what they stand for."""
    effects: tuple[LearnedEffect, ...]
    scores: UnitScores
    """Everybody predicted with the population and the effects that others taught."""
    shared_scores: UnitScores
    """The same with one population for all, learned without effects."""
    gain: ScoreEstimate
    """Nats per choice by which all effects together predict people better who taught nothing."""
    prior_sd: float = PRIOR_SD
    regression: CenterRegression | None = field(default=None, repr=False)

    def score(self) -> ScoreEstimate:
        """Nats per choice with effects, of people who taught nothing."""
        return mean_over_units(self.scores)

    def medians_of(self, parameter: str) -> dict[str, float]:
        """The median person's value of a parameter, by what populations are told at."""
        half = np.array([0.5])
        return {
            label: float(people[parameter].quantile(half)[0])
            for label, people in self.shown.items()
        }

    @property
    def effects_shown(self) -> tuple[LearnedEffect, ...]:
        """Effects that are shown not to be 0, the clearest first."""
        return tuple(
            sorted((item for item in self.effects if item.is_shown), key=_least_likely_first)
        )


def learn_effects(
    form: Theory,
    trials: Sequence[Trials],
    attribute: AttributeColumns,
    laboratory: Laboratory,
    *,
    parameters: Sequence[str] = (),
    prior_sd: float = PRIOR_SD,
) -> TheoryWithEffects:
    """Learn how a theory's parameters depend on what is known of people, and whether that predicts others.

    Args:
        form: With its declared ranges.
        trials: Experiments whose people can be told apart.
        attribute: What is known of the same people.
        laboratory: Where the theory runs.
        parameters: Which of them may depend on it; all of them by default.
        prior_sd: Standard deviation of the normal prior of each effect, a share of the parameter's range.

    Raises:
        TrialsError: People cannot be told apart.
        TheoryError: The theory does not run on these answers, or has no such parameter.
    """
    if any(item.pooled for item in trials):
        raise TrialsError("these are counts of answers, which do not say who gave them.")
    unknown = sorted(set(parameters) - set(form.priors))
    if unknown:
        raise TheoryError(
            f"{form.name} has no parameter {unknown[0]!r}; it has {', '.join(form.priors) or 'none'}."
        )
    (shared,) = laboratory.people_of([form], [{}], trials)
    if isinstance(shared, TheoryError):
        raise shared
    taught = {name: prior for name, prior in shared.items() if not prior.idle}
    asked = [name for name in taught if not parameters or name in parameters]
    if not asked:
        raise TheoryError(
            f"the trials carry no information about the requested parameters of {form.name}."
        )
    free = np.array([[name in asked] * len(attribute.names) for name in taught])

    n_each = fitting_draws(form, trials, N_DRAWS)

    def question(view: TheoryView) -> tuple[PeopleOnDraws, CenterRegression]:
        return learn_on_draws(view, trials, shared, attribute.everybody, free, prior_sd, n_each)

    people, found = laboratory.look(form, [item.stimuli for item in trials], question)
    n_choices = np.concatenate([item.n_choices for item in trials])
    return _told(form, attribute, shared, people, found, free, prior_sd, n_choices)


def _told(
    form: Theory,
    attribute: AttributeColumns,
    shared: Mapping[str, Prior],
    people: PeopleOnDraws,
    found: CenterRegression,
    free: Bools,
    prior_sd: float,
    n_choices: Array,
) -> TheoryWithEffects:
    """What was learned, with intervals, and what it is worth for people who taught nothing."""
    taught = [name for name, prior in shared.items() if not prior.idle]
    errors = effect_errors(people, found, free, prior_sd)
    none = np.zeros_like(free)
    for_all = learned_with(people, found, none, prior_sd)
    without = predicted_by_others(people, for_all, none, prior_sd)
    known = attribute.is_known
    means = people.moments(for_all)[0][free.any(axis=1)]
    rng = np.random.default_rng(int(form.digest[:16], 16))
    rows: list[float | None] = [None] * len(means)
    if not attribute.is_of_experiments:
        z, experiment = people.z[known], attribute.experiment[known]
        rows = permuted_p(means[:, known], z, experiment, rng).tolist()
    p_values = iter(rows)
    by_all = predicted_by_others(people, found, free, prior_sd)
    effects: list[LearnedEffect] = []
    for j, name in enumerate(taught):
        if not free[j].any():
            continue
        p, is_at_end = next(p_values), bool(found.center[j] in (0.0, 1.0))
        alone = free & (np.arange(len(taught)) == j)[:, None]
        own = learned_with(people, found, alone, prior_sd)
        gain = advantage(predicted_by_others(people, own, alone, prior_sd) - without, n_choices)
        effects += [
            LearnedEffect(
                name,
                column,
                ScoreEstimate(float(found.effects[j, k]), float(errors[j, k])),
                gain,
                p,
                len(attribute.names),
                is_at_end,
            )
            for k, column in enumerate(attribute.names)
        ]

    def at(row: Array) -> dict[str, Prior]:
        centers = found.centers_of(row[None])[:, 0]
        return dict(shared) | as_priors(
            {name: shared[name] for name in taught}, centers, np.exp(found.log_spread)
        )

    return TheoryWithEffects(
        form,
        attribute,
        at(np.zeros(len(attribute.names))),
        {label: at(row) for label, row in attribute.shown.items()},
        tuple(effects),
        UnitScores(by_all, n_choices),
        UnitScores(without, n_choices),
        advantage(by_all - without, n_choices),
        prior_sd,
        found,
    )


def learned_with(
    people: PeopleOnDraws, found: CenterRegression, alone: Bools, prior_sd: float
) -> CenterRegression:
    """A regression learned anew with some of its effects alone; without any, one population for all."""
    begun = CenterRegression(found.center, np.where(alone, found.effects, 0.0), found.log_spread)
    return learn_regression(people, begun, alone, prior_sd)


def predicted_by_others(
    people: PeopleOnDraws, found: CenterRegression, free: Bools, prior_sd: float
) -> Array:
    """``(n_people,)`` log probability of each person's answers, with what people of the other four parts taught."""
    folds = folds_of_people(people.log_p)
    scores = np.empty(len(folds))
    for own, learned in learned_without(people, found, free, prior_sd, folds):
        scores[own] = people.predicted(learned)[own]
    return scores


def said_of_effects(theories: Mapping[str, TheoryWithEffects]) -> str:
    """Whether numbers of the theory that predicts best depend on what is known of people, in words.

    Args:
        theories: By name, all with the same attribute.
    """
    name = max(theories, key=lambda key: theories[key].score().value)
    best = theories[name]
    by = best.attribute.by
    if best.gain.is_above_zero():
        worth = f"Knowing {by} improves the prediction of other participants"
    elif not is_tie(best.gain):
        worth = f"Knowing {by} makes the prediction of other participants worse than one common population"
    else:
        worth = (
            f"Whether to know {by} predicts other people better is not decided, since a person's own answers soon tell "
            "more"
        )
    gained = f"{best.gain.value:+.4f} nats per choice, {best.gain.interval_in_words()}"
    shown = [_in_words(best, item) for item in best.effects_shown]
    nearest = min(best.effects, key=_least_likely_first)
    nothing = f"no clear evidence that a parameter depends on {by}; smallest p: {nearest.parameter}{_p_of(nearest)}."
    if best.attribute.is_of_experiments:
        nothing = (
            f"{by} is confounded with experiments, each of which has one value of {by} only, so effects of {by} are "
            "not tested and there is no p value."
        )
    said = [f"{name}: {' '.join(shown) or nothing}", f"{worth} ({gained})."]
    others = [key for key in theories if key != name and theories[key].effects_shown]
    if others:
        said.append(f"Effects with p of at most .05 are also found in {', '.join(others)}.")
    return " ".join(said)


def _in_words(theory: TheoryWithEffects, effect: LearnedEffect) -> str:
    """One effect, with the medians of people at whom it is told."""
    medians = theory.medians_of(effect.parameter)
    by, name = theory.attribute.by, effect.parameter
    told = ", ".join(f"{value:.3g} where {by} is {label}" for label, value in medians.items())
    meaning = theory.form.priors[name].meaning
    named = f"{name} ({meaning})" if meaning else name
    if theory.attribute.is_number:
        changes = f"{'rises' if effect.estimate.value > 0 else 'falls'} with {by}"
    else:
        side = "higher" if effect.estimate.value > 0 else "lower"
        changes = f"is {side} where {by} is {effect.column}"
    return f"{named} {changes}: median {told}{_p_of(effect)}.{_clauses_in_words(theory, name)}"


def _p_of(effect: LearnedEffect) -> str:
    """The probability of so strong a connection, in words; empty where there is none."""
    return "" if effect.p is None else f" ({p_in_words(effect.p)})"


def _least_likely_first(effect: LearnedEffect) -> float:
    """Place among effects; those without a probability are the last."""
    return np.inf if effect.p is None else effect.p


def _clauses_in_words(theory: TheoryWithEffects, parameter: str) -> str:
    """What the theory says of people where the attribute is told, where that differs; empty where it does not."""
    told: dict[str, str] = {}
    for label, people in theory.shown.items():
        clauses = theory.form.account(people).clauses
        own = [
            clause.text
            for clause in clauses
            if clause.wording.parameter == parameter or f"{{{parameter}" in clause.wording.clause
        ]
        if own:
            told[label] = own[0]
    if len(set(told.values())) < 2:
        return ""
    by = theory.attribute.by
    parts = [f"where {by} is {label}, people {text}" for label, text in told.items()]
    return f" That is, {'; '.join(parts)}."
