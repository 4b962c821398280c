"""Groups of participants: in which parameters they differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.flows.commands.main import app
from lakatos.flows.operations.adopt import new_study
from lakatos.theories.findings.differences.effect_formula import in_groups
from lakatos.theories.findings.differences.parameter_effect import medians_of_levels

SHOWN = [
    (soon, soon * more, days) for soon in (5, 20) for more in (1.1, 1.5, 2.2) for days in (7, 90)
]
N_EACH = 16


def two_groups(second_rate: float, seed: int = 3) -> pd.DataFrame:
    """People who discount hyperbolically, the old ones at another rate; their age is known."""
    rng, rows = np.random.default_rng(seed), []
    for person in range(2 * N_EACH):
        old = person % 2
        rate = (second_rate if old else 0.01) * np.exp(rng.normal(0, 0.3))
        for soon, late, wait in rng.permutation(SHOWN).tolist():
            lead = (soon - late / (1 + rate * wait)) / (0.1 * soon)
            later = rng.random() < 1 / (1 + np.exp(lead))
            choice = "later" if later else "sooner"
            rows.append(
                (f"p{person}", soon, late, 0, wait, choice, "old" if old else "young", 20 + person)
            )
    names = ["subject", "ss_amount", "ll_amount", "ss_delay", "ll_delay", "choice", "group", "age"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def differing() -> lakatos.EffectsOnParameters:
    answers = lakatos.adopt(two_groups(0.1), columns={"attributes": ["group", "age"]})
    return lakatos.effects(answers, "hyperbolic", by="group")


def test_the_parameter_in_which_groups_differ_is_told_with_its_size(
    differing: lakatos.EffectsOnParameters,
) -> None:
    """Rates were made ten times apart; the first group by the alphabet are the old."""
    table = differing.to_frame().set_index("parameter")
    rate = table.loc["discount_rate"]
    assert rate.varies == "between"
    assert rate.effect == "group[young]"
    assert rate.p <= 0.001
    assert rate.ratio_low < 0.1 < rate.ratio_high
    assert not table.drop("discount_rate").shown.any()
    assert "discount_rate" in differing.verdict


def test_the_median_of_each_group_is_by_the_same_model(
    differing: lakatos.EffectsOnParameters,
) -> None:
    found = differing.theories["hyperbolic"]
    medians = {
        item.level: item
        for item in medians_of_levels(found, "group")
        if item.parameter == "discount_rate"
    }
    (effect,) = found.of("discount_rate")
    ratio = medians["young"].value / medians["old"].value
    assert ratio == pytest.approx(np.exp(effect.estimate))
    assert medians["old"].interval[0] < 0.1 < medians["old"].interval[1]
    assert medians["young"].interval[0] < 0.01 < medians["young"].interval[1]


def test_groups_that_are_experiments_are_not_said_to_differ_by_a_probability() -> None:
    """Nothing can be exchanged within experiments of one group alone, however far apart the groups are."""
    table = two_groups(0.1)
    answers = lakatos.adopt(
        table.assign(place=table.group), columns={"attributes": ["group"], "experiment": "place"}
    )
    found = lakatos.effects(answers, "hyperbolic", by="group")
    assert "effects of group are not tested" in found.verdict
    assert any("group[young] is confounded with experiments" in note for note in found.notes)
    assert found.to_frame().p.isna().all()
    assert not found.to_frame().shown.any()


def test_a_group_that_has_an_experiment_of_its_own_is_said_not_to_be_tested() -> None:
    table = two_groups(0.1)
    third = two_groups(0.01, seed=4).query("group == 'young'")
    third = third.assign(subject="q" + third.subject, group="third", place="elsewhere")
    both = pd.concat([table.assign(place="here"), third])
    answers = lakatos.adopt(both, columns={"attributes": ["group"], "experiment": "place"})
    found = lakatos.effects(answers, "hyperbolic", by="group")
    table = found.to_frame().query("parameter == 'discount_rate'").set_index("effect")
    assert table.loc["group[young]", "shown"]
    assert np.isnan(table.loc["group[third]", "p"])
    assert any("group[third] is confounded with experiments" in note for note in found.notes)


def test_numbers_are_divided_at_cuts() -> None:
    ages = [np.array(["20", "30", "40", "", "51"])]
    (halves,) = in_groups(ages, [40, 27], "age")
    assert halves.tolist() == [
        "1. below 27", "2. 27 to below 40", "3. 40 and above", "", "3. 40 and above"
    ]  # fmt: skip
    many = [np.array([str(number) for number in range(20, 30)])]
    (halves,) = in_groups(many, [], "age")
    assert set(halves) == {"1. below 24.5", "2. 24.5 and above"}


def test_an_attribute_that_changes_within_a_person_is_none() -> None:
    table = two_groups(0.1)
    table.loc[3, "group"] = "old" if table.loc[3, "group"] == "young" else "young"
    answers = lakatos.adopt(table, columns={"attributes": ["group", "age"]})
    assert any("group differs between rows of one person" in note for note in answers.notes)
    assert set(answers.people[0]) == {"age"}


def test_a_column_that_nobody_named_divides_people_by_a_study_or_by_its_meaning(tmp_path) -> None:
    table = two_groups(0.1).rename(columns={"group": "Kohorte", "subject": "VP"})
    table.to_csv(tmp_path / "answers.csv", index=False)
    adopted = lakatos.adopt(
        tmp_path / "answers.csv", columns={"participant": "VP"}, known=["Kohorte"]
    )
    assert set(adopted.people[0]["Kohorte"]) == {"old", "young"}
    new_study(tmp_path / "mine.toml", tmp_path / "answers.csv", columns={"participant": "VP"})
    again = lakatos.adopt(tmp_path / "mine.toml", known=["Kohorte"])
    assert again.people[0]["Kohorte"] == adopted.people[0]["Kohorte"]
    assert again.trials[0].digest == adopted.trials[0].digest


@pytest.mark.slow
def test_the_command_says_the_verdict_and_the_table(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    two_groups(0.1).to_csv("answers.csv", index=False)
    done = CliRunner().invoke(
        app, ["theory", "groups", "answers.csv", "hyperbolic", "--by", "group"]
    )
    assert done.exit_code == 0, (done.output, done.exception)
    assert "old" in done.output
