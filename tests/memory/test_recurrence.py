"""A tool is built where further uses pay for it, and not before it was seen in two studies with two values."""

import pytest

from lakatos.memory.recurrence import (
    PlanRecurrence,
    ToolEconomy,
    expected_uses,
    expected_uses_discounted,
    gate,
    recurrences,
)
from lakatos.traces.digest import digest_of

SIGNATURE = digest_of("plan")


def seen(studies, values=None):
    literals = frozenset(map(digest_of, range(studies if values is None else values)))
    return PlanRecurrence(SIGNATURE, frozenset(map(str, range(studies))), literals)


def test_expected_uses_are_those_of_the_closed_form():
    assert expected_uses(3, 50, 500) == 22.5
    assert expected_uses(2, 50, 500) == 13.5


def test_the_third_sight_pays_and_the_second_does_not():
    economy = ToolEconomy(saving=1, build=8)
    assert gate(seen(3), expected_uses(3, 50, 500), economy).build
    decision = gate(seen(2), expected_uses(2, 50, 500), economy)
    assert not decision.build
    assert decision.needed_uses == 16
    assert "13.5 further uses are expected and 16.0" in decision.reason


def test_one_sight_is_never_enough():
    assert not gate(seen(1), 1e6, ToolEconomy(saving=1, build=1)).build


def test_many_studies_with_one_value_and_many_values_in_one_study_count_once():
    assert seen(9, values=1).count == 1
    assert PlanRecurrence(SIGNATURE, frozenset({"one"}), seen(9).literals).count == 1


def test_each_refused_draft_doubles_what_is_needed():
    economy = ToolEconomy(saving=1, build=1)
    assert [gate(seen(count), 1e3, economy, n_refused=1).build for count in (2, 3, 4)] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [({"contradicted": True}, "contradicts"), ({"n_active": 32}, "32 tools are active")],
)
def test_other_reasons_against_a_tool_are_said(given, words):
    decision = gate(seen(4), 1e3, ToolEconomy(saving=1, build=1), **given)
    assert not decision.build
    assert words in decision.reason


def test_a_tool_that_saves_nothing_is_never_built():
    assert not gate(seen(9), 1e9, ToolEconomy(saving=0, build=1)).build


def test_an_unknown_horizon_is_worth_as_many_studies_as_are_expected():
    assert expected_uses_discounted(3, 50, 0.9) == pytest.approx(expected_uses(3, 50, 59))


def test_retries_within_a_study_are_no_recurrence(study_of):
    same = [study_of("one", "prospect", "regret") for _ in range(5)]
    (found,) = recurrences([*same, study_of("two", "minimax", "hurwicz")]).values()
    assert found.count == 2
    (found,) = recurrences(same).values()
    assert found.count == 1
