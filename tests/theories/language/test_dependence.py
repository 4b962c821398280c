"""What a theory declares of people whose numbers differ by what is known of them: read, learned, told and counted."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import truncnorm

import lakatos
from lakatos.domains import DOMAINS
from lakatos.experiments.task import Trials
from lakatos.theories.engine.checks.complexity import code_length, form_of_source
from lakatos.theories.engine.fitting.known_people import weights_by_person
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import PriorError, TheoryError
from lakatos.theories.language.dependence import Dependence, OwnCenter, parse_dependences
from lakatos.theories.language.prior import Prior, draw_population
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

sys.path.insert(0, str(Path(__file__).parents[2] / "flows" / "notebook"))
from test_effects import aging

BY_AGE: dict[str, Any] = {"attribute": "age", "around": 40, "per": 10, "sd": 0.25}
BY_GROUP: dict[str, Any] = {"attribute": "group", "is": "hurried", "sd": 0.2}
PLAIN = '''"""Waiting: people divide an amount by one plus its delay times a rate, and prefer what is worth more."""
PARAMETERS = {
    "rate": {"prior": "log_uniform", "low": 0.0005, "high": 1.0, "meaning": "discount rate"},
    "sensitivity": {"prior": "log_uniform", "low": 0.05, "high": 50.0},
}


def choose(parameters, trials, xp):
    amounts, delays = trials["amounts"], trials["delays_days"]
    worth = amounts[None] / (1 + parameters["rate"][..., None] * delays[None])
    lead = (worth[..., 1] - worth[..., 0]) / xp.maximum(amounts[None, :, 0], 1e-6)
    return 1 / (1 + xp.exp(xp.clip(-parameters["sensitivity"] * lead, -30.0, 30.0)))
'''
AGED = PLAIN.replace(
    '"meaning": "discount rate"', f'"meaning": "discount rate", "depends_on": [{BY_AGE}]'
)


def theory(source: str) -> Theory:
    return read_program(TheoryProgram(source, "hand"))


@pytest.fixture(scope="module")
def answers() -> Trials:
    """Of forty people from 20 to 59 years, the logarithm of whose rate rises by 0.12 a year."""
    known = lakatos.adopt(aging(0.12), columns={"attributes": ["age"]})
    (trials,) = known.trials
    return trials


@pytest.fixture(scope="module")
def learned(answers: Trials) -> Theory:
    form = theory(AGED)
    with Laboratory(DOMAINS["intertemporal"], 1) as laboratory:
        (people,) = laboratory.people_of([form], [{}], [answers])
    assert not isinstance(people, TheoryError)
    return form.with_people(people)


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        ({}, "must be a list of one to 3"),
        ([], "must be a list of one to 3"),
        ([{"attribute": "age", "sd": 0.2}], "says of nothing how it matters"),
        ([BY_AGE | {"is": "old"}], "says of nothing how it matters"),
        ([BY_AGE | {"per": 0}], "needs per > 0"),
        ([BY_AGE | {"sd": 1.5}], "an sd above 0 of at most 1"),
        ([BY_AGE | {"sd": float("nan")}], "needs finite numbers"),
        ([BY_AGE | {"around": True}], "needs finite numbers"),
        ([BY_GROUP | {"is": ""}], "and words for attribute, is"),
        ([BY_GROUP, BY_GROUP], "names the same attribute twice"),
    ],
)
def test_an_improper_dependence_is_refused_with_what_to_write(literal: Any, message: str) -> None:
    with pytest.raises(PriorError, match=message):
        parse_dependences("rate", literal)


def test_a_dependence_reads_numbers_and_groups_and_knows_what_it_does_not_know() -> None:
    by_age, by_group = parse_dependences("rate", [BY_AGE, BY_GROUP])
    np.testing.assert_allclose(
        by_age.values_of(["40", "55", "", "old", "inf"]), [0.0, 1.5, np.nan, np.nan, np.nan]
    )
    np.testing.assert_allclose(by_group.values_of(["hurried", "calm", ""]), [1.0, 0.0, np.nan])
    assert parse_dependences("rate", [by_age.to_literal()]) == (by_age,)
    assert parse_dependences("rate", [by_group.to_literal()]) == (by_group,)


def test_a_theory_that_depends_on_age_is_another_form_and_costs_more() -> None:
    assert form_of_source(PLAIN) != form_of_source(AGED)
    assert code_length(AGED) == code_length(PLAIN) + 1
    assert form_of_source(AGED) == form_of_source(AGED.replace("'sd': 0.25", "'sd': 0.5"))


def test_it_is_checked_and_the_report_says_on_what_it_may_depend() -> None:
    with Laboratory(DOMAINS["intertemporal"], 1) as laboratory:
        checked = laboratory.check(TheoryProgram(AGED, "hand"))
        with pytest.raises(PriorError, match="depends_on needs per > 0"):
            laboratory.check(TheoryProgram(AGED.replace("'per': 10", "'per': -1"), "hand"))
        stimuli = DOMAINS["intertemporal"].candidates({}, np.random.default_rng(0), 10)
        assert laboratory.duplicate(checked, [theory(PLAIN)], stimuli) is None
        assert laboratory.duplicate(checked, [theory(AGED + "\n")], stimuli) is not None
    assert any("rate on age (for each 10 more)" in said for said in checked.checks)


def test_the_effect_is_learned_with_its_size_and_told_with_its_numbers(learned: Theory) -> None:
    own = learned.priors["rate"].own
    assert own is not None
    # ten years change the logarithm by 1.2, of a range of log(1 / 0.0005)
    truth = 1.2 / np.log(1 / 0.0005)
    assert own.effects[0] == pytest.approx(truth, abs=3 * own.errors[0])
    assert own.errors[0] < 0.03
    assert learned.priors["sensitivity"].own is None
    assert "Their rate (discount rate) rises with age: " in learned.claim
    assert " at 30, " in learned.claim
    # told once, however often people are learned
    assert learned.with_people(learned.priors).claim == learned.claim
    assert "may depend on age (for each 10 more)" in theory(AGED).claim


def test_people_who_taught_nothing_are_predicted_better_by_their_age(
    answers: Trials, learned: Theory
) -> None:
    form = theory(PLAIN)
    with Laboratory(DOMAINS["intertemporal"], 1) as laboratory:
        (people,) = laboratory.people_of([form], [{}], [answers])
        assert not isinstance(people, TheoryError)
        plain, aged, nameless = laboratory.scores_of(
            [form.with_people(people), learned, learned.with_people(people)], [answers], 256
        )
    assert not isinstance(plain, TheoryError)
    assert not isinstance(aged, TheoryError)
    assert not isinstance(nameless, TheoryError)
    gain = aged[0].left_out.log_predictive - plain[0].left_out.log_predictive
    assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain))
    # without learned effects the same draws predict as those of the plain theory do
    assert nameless[0].left_out.mean == pytest.approx(plain[0].left_out.mean, abs=0.01)


def test_draws_from_everybody_are_weighted_as_people_of_the_same_age_are_distributed(
    answers: Trials,
) -> None:
    prior = Prior("normal", 0.0, 2.0, 1.0, 0.5, depends_on=(Dependence("age", 0.2, 40.0, 10.0),))
    people = {"rate": replace(prior, own=OwnCenter(0.5, 0.1, (0.15,), (0.01,)))}
    population = draw_population(people, 2**13, np.random.default_rng(0))
    log_weights = weights_by_person(people, population, [answers])
    assert log_weights is not None
    np.testing.assert_allclose(np.exp(log_weights).sum(axis=0), 1.0)
    means = np.exp(log_weights).T @ population["rate"]
    for cell, mean in zip(answers.attributes_in_words["age"], means, strict=True):
        # nobody is known less of than everybody
        center, spread = (0.5 + 0.015 * (float(cell) - 40), 0.1) if cell else (0.5, 0.25)
        center = np.clip(center, 0, 1)
        known = truncnorm.mean(-center / spread, (1 - center) / spread, center, spread)
        assert mean == pytest.approx(2 * known, abs=0.02)
    plain = {"rate": replace(prior, own=None)}
    assert weights_by_person(plain, population, [answers]) is None


def test_nothing_is_learned_of_people_of_whom_nothing_is_known(answers: Trials) -> None:
    form = theory(AGED.replace("'age'", "'height'"))
    with Laboratory(DOMAINS["intertemporal"], 1) as laboratory:
        (people,) = laboratory.people_of([form], [{}], [answers])
        assert not isinstance(people, TheoryError)
        (pooled,) = laboratory.people_of([theory(AGED)], [{}], [answers.in_counts()])
        assert not isinstance(pooled, TheoryError)
    assert people["rate"].own is None
    assert pooled["rate"].own is None
    assert "may depend on height" in form.with_people(people).claim


def test_what_is_learned_is_frozen_as_numbers_and_read_again() -> None:
    own = OwnCenter(0.5, 0.1, (0.15, -0.2), (0.01, 0.02))
    assert OwnCenter.from_array(own.as_array) == own
