"""Effects of a formula on cells of known values: missing cells, baselines, codings, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.findings.differences.cell_posterior import CellPosteriors, ParameterScale
from lakatos.theories.findings.differences.effect_formula import as_values, read_formula
from lakatos.theories.findings.differences.effect_words import codings_of, open_effects_in_words
from lakatos.theories.findings.differences.parameter_effect import (
    EXPERIMENT,
    N_RESPONSES,
    PERSON,
    ParameterEffect,
    ParameterEffects,
    ResponseColumns,
    _check_interactions,
    _check_people,
    divide_into_cells,
    effects_of_cells,
    medians_of_levels,
)


def effects_on(
    values: np.ndarray,
    columns: dict[str, list[object]],
    person: list[str],
    formula: str,
    *,
    is_testable: bool = True,
) -> ParameterEffects:
    """Effects on one parameter of a plain scale, whose cells are known as well as each other."""
    n = len(values)
    frame = pd.DataFrame({name: as_values(own, name) for name, own in columns.items()})
    frame = frame.assign(**{PERSON: person, EXPERIMENT: 0, N_RESPONSES: 10})
    square = np.full((n, 1, 1), 1e-4)
    column = values.reshape(-1, 1).astype(float)
    posteriors = CellPosteriors(
        (ParameterScale("rate", "plain", -100.0, 100.0),), np.zeros(1), np.eye(1), column, square,
        column, np.stack([column, column]), column, square, np.zeros(n), np.ones(n),
    )  # fmt: skip
    within = frozenset(
        name for name in columns if (frame.groupby(PERSON)[name].nunique() > 1).any()
    )
    return effects_of_cells(
        posteriors, frame, np.arange(n), read_formula(formula), within, ["rate"], n_exchanges=19,
        is_testable=is_testable,
    )  # fmt: skip


def test_cells_without_a_condition_are_cells_of_their_own() -> None:
    stimuli = Stimuli({"x": np.zeros(1)})
    person = np.repeat(np.arange(3), 4)
    trials = Trials("e", stimuli, person, person * 0, person * 0, person * 0 + 1)
    task = np.array(["rest", "task", "rest", ""] * 3, dtype=object)
    beside = ResponseColumns((person.astype(str),), ({"task": task},))
    divided = divide_into_cells([trials], beside, ["task"])
    assert divided.frame[N_RESPONSES].tolist() == [2, 1, 1] * 3
    assert divided.frame["task"].isna().sum() == 3
    assert divided.within == {"task"}


def effect_of(found: ParameterEffects, label: str) -> ParameterEffect:
    (own,) = [item for item in found.effects if item.label == label]
    return own


def crossed(noise: float = 0.1) -> tuple[np.ndarray, dict[str, list[object]], list[str]]:
    """Twelve participants of two groups in two conditions: 1; +2 for old; +1 in the task, +4 for old in the task."""
    rng = np.random.default_rng(2)
    people = [f"p{number:02d}" for number in range(12)]
    rows = list(product(people, ("rest", "task")))
    person = [name for name, _ in rows]
    groups = ["old" if people.index(name) % 2 else "adult" for name in person]
    tasks = [task for _, task in rows]
    values = np.array(
        [
            1 + 2 * (group == "old") + (task == "task") * (1 + 3 * (group == "old"))
            for group, task in zip(groups, tasks, strict=True)
        ]
    )
    return values + rng.normal(0, noise, len(values)), {"group": groups, "task": tasks}, person


def test_values_without_and_with_an_effect_are_those_of_levels() -> None:
    """With three levels, each row begins at the first level, whatever the others do."""
    rng = np.random.default_rng(1)
    levels = np.tile([0.0, 3.0, 9.0], 10)
    values = levels + rng.normal(0, 0.05, 30)
    person = [f"p{number}" for number in np.repeat(np.arange(10), 3)]
    found = effects_on(values, {"dose": list("abc") * 10}, person, "~ dose")
    means = [values[place::3].mean() for place in range(3)]
    assert effect_of(found, "dose[b]").in_unit == pytest.approx((means[0], means[1]))
    assert effect_of(found, "dose[c]").in_unit == pytest.approx((means[0], means[2]))
    mean = np.mean(means)
    coded = effects_on(values, {"dose": list("abc") * 10}, person, "~ C(dose, Sum)")
    assert effect_of(coded, "C(dose, Sum)[a]").in_unit == pytest.approx((mean, means[0]))


def test_effects_whose_labels_cannot_be_exchanged_are_estimated_without_p() -> None:
    values, columns, person = crossed()
    tested = effects_on(values, columns, person, "~ group * task")
    found = effects_on(values, columns, person, "~ group * task", is_testable=False)
    assert [item.estimate for item in found.effects] == [item.estimate for item in tested.effects]
    assert all(item.p is not None for item in tested.effects)
    assert all(item.p is None and not item.is_shown for item in found.effects)
    assert not any("confounded" in note for note in found.notes)


def test_values_of_an_interaction_begin_where_both_have_their_own_effects() -> None:
    values, columns, person = crossed()
    found = effects_on(values, columns, person, "~ group * task")
    assert effect_of(found, "task[task]").in_unit == pytest.approx((1, 2), abs=0.15)
    assert effect_of(found, "group[old]").in_unit == pytest.approx((1, 3), abs=0.15)
    assert effect_of(found, "group[old]:task[task]").in_unit == pytest.approx((4, 7), abs=0.15)


@pytest.mark.parametrize("missing", [0, 1])
def test_a_participant_without_a_cell_leaves_effects_as_they_are(missing: int) -> None:
    """Neither the effect of the group nor the values without an effect rest on who lacks a condition."""
    values, columns, person = crossed()
    kept = np.arange(len(values)) != 22 + missing  # of the last participant, who is old
    some = {name: [own[row] for row in np.flatnonzero(kept)] for name, own in columns.items()}
    people = [person[row] for row in np.flatnonzero(kept)]
    whole = effects_on(values, columns, person, "~ group * task")
    found = effects_on(values[kept], some, people, "~ group * task")
    for item in whole.effects:
        other = effect_of(found, item.label)
        assert other.estimate == pytest.approx(item.estimate, abs=0.15)
        assert other.in_unit == pytest.approx(item.in_unit, abs=0.15)
        assert other.interval[1] - other.interval[0] < 1


def test_who_has_one_condition_only_says_nothing_of_a_condition_within_participants() -> None:
    """The estimate is the mean difference of those with both, and medians of levels differ by it."""
    rng = np.random.default_rng(3)
    pairs = rng.normal(0, 1, (10, 1)) + np.array([0.0, 1.0]) + rng.normal(0, 0.1, (10, 2))
    values = np.concatenate([pairs.reshape(-1), [30.0, 31.0, 29.0]])  # far, and in the first alone
    person = [f"p{number:02d}" for number in [*np.repeat(np.arange(10), 2), 10, 11, 12]]
    columns: dict[str, list[object]] = {"task": [*["rest", "task"] * 10, *["rest"] * 3]}
    found = effects_on(values, columns, person, "~ task")
    (effect,) = found.effects
    paired = ttest_rel(pairs[:, 1], pairs[:, 0])
    assert effect.estimate == pytest.approx((pairs[:, 1] - pairs[:, 0]).mean())
    assert effect.estimate / effect.error == pytest.approx(paired.statistic, rel=1e-3)
    rest, task = medians_of_levels(found, "task")
    assert task.value - rest.value == pytest.approx(effect.estimate)


@pytest.mark.parametrize(
    ("right", "dose", "age"),
    [
        ("C(dose,Sum) + age", "sum coding", "not scaled"),
        ("C(dose, Sum) + scale(age)", "sum coding", "scaled"),
        ("dose + center(age)", "dose: treatment coding; the reference level is a.", "centred"),
        (
            "C(dose, Treatment('b')) + age",
            "dose: treatment coding; the reference level is b.",
            "not scaled",
        ),
        (
            "scale(iq) + dose + age",
            "dose: treatment coding; the reference level is a.",
            "not scaled",
        ),
    ],
)
def test_codings_are_said_as_they_are(right: str, dose: str, age: str) -> None:
    rng = np.random.default_rng(4)
    columns: dict[str, list[object]] = {
        "dose": list("abc") * 8,
        "age": rng.integers(20, 60, 24).tolist(),
        "iq": rng.integers(80, 120, 24).tolist(),
    }
    found = effects_on(
        rng.normal(0, 1, 24), columns, [f"p{n:02d}" for n in range(24)], f"~ {right}"
    )
    told = {line.partition(":")[0]: line for line in codings_of(found)}
    assert dose in told["dose"]
    assert age in told["age"]


def test_random_effects_stand_in_parentheses() -> None:
    with pytest.raises(TrialsError, match="random effects without parentheses"):
        read_formula("rate ~ task | participant")
    for right in ("task + (task|participant)", "`a|b` + (scale(age) | participant)"):
        assert read_formula(f"rate ~ {right}").group == "participant"


def test_an_interaction_needs_two_participants_in_each_combination() -> None:
    assert read_formula("rate ~ C(sex, Sum)*group*age").interactions == (
        ("sex", "group"),
        ("sex", "age"),
        ("group", "age"),
        ("sex", "group", "age"),
    )
    sex, group = ["f", "f", "f", "f", "m", "m", "m"], ["old", "old", "new", "new", "old", "old"]
    frame = pd.DataFrame({PERSON: list("abcdefg"), "sex": sex, "group": [*group, "new"]})
    for name in ("sex", "group"):
        frame[name] = as_values(frame[name].tolist(), name)
    crossed = read_formula("rate ~ sex*group")
    with pytest.raises(
        TrialsError,
        match=r"sex:group cannot be estimated: m and new is the combination of 1 participant; an interaction needs 2 "
        r"in each \(there are f and new: 2, f and old: 2, m and new: 1, m and old: 2\)",
    ):
        _check_interactions(frame, crossed)
    with pytest.raises(TrialsError, match="m and new is the combination of 0 participants"):
        _check_interactions(frame.iloc[:-1], crossed)
    _check_interactions(frame, read_formula("rate ~ sex + group"))
    twice = pd.concat([frame, frame.iloc[-1:].assign(**{PERSON: "h"})])
    _check_interactions(twice, crossed)


def test_an_effect_that_a_tied_theory_does_without_is_open() -> None:
    """A theory that is wrong may need another parameter to follow a change."""
    values, columns, person = crossed(0.01)
    with_it = effects_on(values, columns, person, "~ task")
    without = effects_on(values * 0 + np.arange(len(values)) % 3, columns, person, "~ task")
    assert [item.is_shown for item in (*with_it.effects, *without.effects)] == [True, False]
    assert open_effects_in_words({"first": with_it}) == ""
    assert open_effects_in_words({"first": with_it, "second": with_it}) == ""
    expected = (
        "That rate depends on task is open: it does by first, and not by second, and these responses cannot "
        "distinguish these theories."
    )
    assert open_effects_in_words({"first": with_it, "second": without}) == expected
    assert open_effects_in_words({"second": without, "first": with_it}) == expected


def test_a_column_may_have_any_name() -> None:
    values = np.arange(24) + np.tile([0.0, 5.0], 12)
    person = [f"p{number:02d}" for number in np.repeat(np.arange(12), 2)]
    (effect,) = effects_on(values, {"cond.": ["a", "b"] * 12}, person, "~ `cond.`").effects
    assert effect.kind == "within"
    assert effect.p is not None


def test_a_number_as_it_is_has_its_effect_from_its_mean() -> None:
    ages = np.arange(30.0, 60.0)
    (effect,) = effects_on(
        ages / 10, {"age": ages.tolist()}, [f"p{n:02d}" for n in range(30)], "~ age"
    ).effects
    assert effect.in_unit == pytest.approx((4.45, 4.55))


def test_a_category_is_not_scaled_and_two_participants_are_no_condition() -> None:
    columns: dict[str, list[object]] = {"drug": [0, 1] * 8}
    person = [f"p{n}" for n in np.repeat(np.arange(8), 2)]
    with pytest.raises(TrialsError, match=r"has scale\(drug\), but drug is a category \(0, 1;"):
        effects_on(np.arange(16), columns, person, "~ scale(drug)")
    frame = pd.DataFrame(
        {PERSON: ["a", "a", "b", "c", "d", "e"], "group": as_values(list("xyxyxy"), "group")}
    )
    with pytest.raises(TrialsError, match=r"group varies within 1 of 5 participants \(a\)"):
        _check_people(frame, read_formula("~ group"), frozenset({"group"}))
