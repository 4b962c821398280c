"""Groups of people: other numbers, or another theory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.commands.main import app
from lakatos.flows.notebook.groups import members_of
from lakatos.flows.operations.adopt import new_study

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


def compared(table: pd.DataFrame, by: str = "group") -> lakatos.GroupComparison:
    answers = lakatos.adopt(table, columns={"attributes": ["group", "age"]})
    return lakatos.by_group(answers, ["hyperbolic", "exponential"], by=by)


@pytest.fixture(scope="module")
def differing() -> lakatos.GroupComparison:
    return compared(two_groups(0.1))


def test_groups_with_other_numbers_are_predicted_better_with_numbers_of_their_own(
    differing: lakatos.GroupComparison,
) -> None:
    gain = differing.theories["hyperbolic"].gain()
    assert gain.interval[0] > 0
    assert "Separate parameters predict the groups better" in differing.verdict
    rates = differing.people.query("theory == 'hyperbolic' and parameter == 'discount_rate'")
    medians = dict(zip(rates.group, rates["median"], strict=True))
    assert 0.005 < medians["young"] < 0.02 < medians["all"] < 0.08 < medians["old"] < 0.16


def test_the_parameter_in_which_groups_differ_is_told_with_its_size(
    differing: lakatos.GroupComparison,
) -> None:
    """Rates were made ten times apart."""
    table = differing.differences
    rate = table[table.parameter == "discount_rate"].set_index("group")
    assert rate.differs.all()
    assert rate.p.iloc[0] <= 0.001
    assert rate.loc["old", "median_low"] < 0.1 < rate.loc["old", "median_high"]
    assert rate.loc["young", "median_low"] < 0.01 < rate.loc["young", "median_high"]
    assert rate.loc["young", "compared_low"] < 0.1 < rate.loc["young", "compared_high"]
    assert np.isnan(rate.loc["old", "compared"])
    assert "the groups differ in discount_rate" in differing.verdict
    assert "No clear evidence of a difference in" in differing.verdict


def test_each_group_is_scored_on_its_own_people(differing: lakatos.GroupComparison) -> None:
    table = differing.scores
    assert set(table.group) == {"old", "young"}
    assert (table.people == N_EACH).all()
    own = differing.theories["hyperbolic"]
    assert len(own.scores["old"].n_choices) == len(own.shared_scores["old"].n_choices) == N_EACH
    assert own.scores["old"].n_choices.sum() == N_EACH * len(SHOWN)


def test_groups_that_are_alike_gain_nothing() -> None:
    found = compared(two_groups(0.01))
    assert found.theories["hyperbolic"].gain().interval[0] <= 0
    assert "no clear evidence of a difference between the groups" in found.verdict
    assert all(item.p > 0.05 for item in found.found)


def test_groups_that_are_experiments_are_not_said_to_differ_by_a_probability() -> None:
    """Nothing can be exchanged within experiments of one group alone, however far apart the groups are."""
    table = two_groups(0.1)
    answers = lakatos.adopt(
        table.assign(place=table.group), columns={"attributes": ["group"], "experiment": "place"}
    )
    found = lakatos.by_group(answers, "hyperbolic", by="group")
    assert "the groups are confounded with experiments" in found.verdict
    assert "p =" not in found.verdict
    assert found.differences.p.isna().all()
    assert not found.differences.differs.any()


def test_a_group_that_has_an_experiment_of_its_own_is_said_not_to_be_tested() -> None:
    table = two_groups(0.1)
    third = two_groups(0.01, seed=4).query("group == 'young'")
    third = third.assign(subject="q" + third.subject, group="third", place="elsewhere")
    both = pd.concat([table.assign(place="here"), third])
    answers = lakatos.adopt(both, columns={"attributes": ["group"], "experiment": "place"})
    found = lakatos.by_group(answers, "hyperbolic", by="group")
    assert "the groups differ in discount_rate" in found.verdict
    assert (
        "Differences of third cannot be tested: it shares no experiment with another"
        in found.verdict
    )


def test_numbers_with_many_values_are_halved(differing: lakatos.GroupComparison) -> None:
    answers = lakatos.adopt(two_groups(0.1), columns={"attributes": ["group", "age"]})
    assert list(members_of(answers, "age")) == ["below 35.5", "35.5 and above"]
    ranges = members_of(answers, "age", [40, 27])
    assert list(ranges) == ["below 27", "27 to below 40", "40 and above"]
    assert [int(who.sum()) for (who,) in ranges.values()] == [7, 13, 12]


def test_what_is_not_known_of_people_divides_nobody() -> None:
    table = two_groups(0.1)
    with pytest.raises(
        TrialsError, match="nothing called 'sex' is known of these people; there is"
    ):
        compared(table, by="sex")
    with pytest.raises(TrialsError, match="group is 'rare' for 2 participants; a group needs 5"):
        compared(table.assign(group=np.where(table.subject.isin(["p0", "p1"]), "rare", "many")))
    with pytest.raises(TrialsError, match="group is one for all participants"):
        compared(table.assign(group="one"))


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
