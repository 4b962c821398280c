"""What is known of people: whether it changes a theory's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.commands.main import app
from lakatos.theories.errors import TheoryError

SHOWN = [
    (soon, soon * more, days) for soon in (5, 20) for more in (1.1, 1.5, 2.2) for days in (7, 90)
]
N_PEOPLE = 40


def aging(slope: float, seed: int = 3) -> pd.DataFrame:
    """People who discount at a rate whose logarithm changes by ``slope`` a year; one age is not known."""
    rng, rows = np.random.default_rng(seed), []
    for person in range(N_PEOPLE):
        age = 20 + person
        rate = 0.02 * np.exp(slope * (person - N_PEOPLE / 2) + rng.normal(0, 0.4))
        for soon, late, wait in SHOWN * 2:
            lead = (soon - late / (1 + rate * wait)) / (0.1 * soon)
            later = rng.random() < 1 / (1 + np.exp(lead))
            known = "" if person == 7 else age
            rows.append((f"p{person}", soon, late, 0, wait, "later" if later else "sooner", known))
    names = ["subject", "ss_amount", "ll_amount", "ss_delay", "ll_delay", "choice", "age"]
    return pd.DataFrame(rows, columns=names)


def asked(table: pd.DataFrame) -> lakatos.AttributeEffects:
    answers = lakatos.adopt(table, columns={"attributes": ["age"]})
    return lakatos.effects_of(answers, ["hyperbolic"], by="age")


@pytest.fixture(scope="module")
def found() -> lakatos.AttributeEffects:
    return asked(aging(0.12))


def test_a_rate_that_rises_with_age_is_found_with_its_size(found: lakatos.AttributeEffects) -> None:
    own = found.theories["hyperbolic"]
    assert own.gain.interval[0] > 0
    assert [item.parameter for item in own.effects_shown] == ["discount_rate"]
    assert "discount_rate" in found.verdict
    assert "rises with age" in found.verdict
    # a year changes the logarithm by 0.12: between one deviation below the mean age and one above, by 2.76
    low, high = (own.shown[label]["discount_rate"].center for label in own.attribute.shown)
    (effect,) = own.effects_shown
    prior = own.form.priors["discount_rate"]
    width = np.log(prior.high / prior.low)
    assert high - low == pytest.approx(2 * width * effect.estimate.value)
    assert high - low == pytest.approx(
        0.12 * 2 * own.attribute.sd, abs=3 * 2 * width * effect.estimate.standard_error
    )


def test_people_of_unknown_age_are_asked_as_those_of_the_mean(
    found: lakatos.AttributeEffects,
) -> None:
    own = found.theories["hyperbolic"]
    assert found.n_people == N_PEOPLE - 1
    assert len(own.scores.n_choices) == N_PEOPLE
    assert (own.attribute.everybody == 0).sum() == 1


def test_the_tables_hold_a_row_for_each_number(found: lakatos.AttributeEffects) -> None:
    parameters = list(found.theories["hyperbolic"].form.priors)
    assert list(found.effects.parameter) == parameters
    assert list(found.people.age.unique()) == [
        "average",
        *found.theories["hyperbolic"].attribute.shown,
    ]
    assert found.scores.effects_low[0] > 0


def test_ages_that_change_nothing_are_not_told_as_if_they_did() -> None:
    found = asked(aging(0.0))
    assert found.theories["hyperbolic"].gain.interval[0] <= 0
    assert not found.theories["hyperbolic"].effects_shown
    assert "rises" not in found.verdict


def test_of_two_groups_the_commands_about_groups_and_about_effects_say_one_thing() -> None:
    """Of people who differ enough for the one test that both rest on, though a person's own answers tell more."""
    table = aging(0.05)
    median = table.age.replace("", np.nan).astype(float).median()
    table["age"] = [
        "" if age == "" else "old" if float(age) > median else "young" for age in table.age
    ]
    answers = lakatos.adopt(table, columns={"attributes": ["age"]})
    groups = lakatos.by_group(answers, ["hyperbolic"], by="age")
    effects = lakatos.effects_of(answers, ["hyperbolic"], by="age")
    differ = {item.parameter for item in groups.found if item.differs}
    shown = {item.parameter for item in effects.theories["hyperbolic"].effects_shown}
    assert differ == shown == {"discount_rate"}
    assert "the groups differ in discount_rate" in groups.verdict
    assert "is lower where age is young" in effects.verdict
    p_of = {item.parameter: item.p for item in groups.found}
    for effect in effects.theories["hyperbolic"].effects:
        assert effect.p == pytest.approx(p_of[effect.parameter], abs=0.06)


def test_effects_of_what_each_experiment_has_one_of_have_no_probability() -> None:
    table = aging(0.12)
    table["place"] = ["old" if age != "" and float(age) > 40 else "young" for age in table["age"]]
    table["where"] = table.place
    answers = lakatos.adopt(table, columns={"attributes": ["where"], "experiment": "place"})
    found = lakatos.effects_of(answers, "hyperbolic", by="where")
    assert "is confounded with experiments" in found.verdict
    assert found.effects.p.isna().all()
    assert not found.effects.shown.any()


def test_only_the_numbers_that_are_named_may_change() -> None:
    answers = lakatos.adopt(aging(0.12), columns={"attributes": ["age"]})
    found = lakatos.effects_of(answers, "hyperbolic", by="age", parameters=["lapse"])
    assert list(found.effects.parameter) == ["lapse"]
    with pytest.raises(TheoryError, match="has no parameter 'patience'"):
        lakatos.effects_of(answers, "hyperbolic", by="age", parameters=["patience"])


def test_what_is_not_known_of_people_is_refused() -> None:
    answers = lakatos.adopt(aging(0.0), columns={"attributes": ["age"]})
    with pytest.raises(TrialsError, match="nothing called 'height' is known"):
        lakatos.effects_of(answers, ["hyperbolic"], by="height")


def test_the_command_says_it_in_words_and_writes_the_table(tmp_path: Path) -> None:
    table, out = tmp_path / "answers.csv", tmp_path / "effects.csv"
    aging(0.12).rename(columns={"subject": "wer"}).to_csv(table, index=False)
    asked = ["theory", "effects", str(table), "--by", "age", "hyperbolic", "--out", str(out)]
    done = CliRunner().invoke(app, [*asked, "--column", "participant=wer"])
    assert done.exit_code == 0, done.output
    assert "rises with age" in done.output
    assert list(pd.read_csv(out).parameter) == ["discount_rate", "sensitivity", "lapse"]
    shown = CliRunner().invoke(app, [*asked[:-2], "--column", "participant=wer"])
    assert shown.exit_code == 0, shown.output
    assert "Numbers by age" in shown.output
    assert "theory,parameter" not in shown.output
    printed = CliRunner().invoke(app, [*asked[:-2], "--column", "participant=wer", "--csv"])
    assert "theory,parameter,age,effect" in printed.output
