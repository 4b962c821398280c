"""From a recurring plan to a tool: what validation refuses, and how a tool that is wrong ends in use."""

import asyncio
from dataclasses import replace

import pytest

from benchmarks.memory.tools import WAYS, spoiled, study
from lakatos.language_models.errors import ToolError
from lakatos.memory.errors import PlanError, ToolFailedError, ToolRejectedError
from lakatos.memory.item import PlanUsed
from lakatos.memory.signature import canonical_form, follow_form
from lakatos.memory.tool import (
    DIFFERENCE,
    MOST_CALLS,
    ToolStanding,
    after,
    draft_tool,
    run_tool,
    validate_tool,
    with_arguments,
)
from lakatos.memory.use import LearnedTool
from lakatos.traces.digest import digest_of

EVIDENCE = (digest_of("record"),)


@pytest.fixture(scope="module")
def plans(study_of):
    return [
        study_of("one", "prospect", "regret"),
        study_of("two", "minimax", "hurwicz", 5),
        study_of("three", "salience", "weighted", 6),
    ]


@pytest.fixture(scope="module")
def draft(plans, shop):
    return draft_tool(plans[0], shop.VERBS)


def test_a_tool_gives_for_new_values_what_the_text_gives(draft, plans, shop, study_of):
    assert len(validate_tool(draft, plans, shop.VERBS, shop.caller()).passed) == 3
    form = canonical_form(study_of("four", "new", "newer", 9).steps)
    expected = follow_form(form.operations, form.values, shop.caller())
    assert run_tool(draft, form, shop.caller()) == expected


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_whose_plan_is_another_ends_before_its_first_wrong_call_and_is_retired(shop, way):
    form = canonical_form(study(2, 9).steps)
    text: list[object] = []
    follow_form(form.operations, form.values, heard(shop, text))
    wrong, made = spoiled(draft_tool(study(2, 0), shop.VERBS), way), []
    with pytest.raises(ToolFailedError, match="its plan") as caught:
        run_tool(wrong, form, heard(shop, made))
    assert caught.value.kind == DIFFERENCE
    assert made == text[: len(made)]  # nothing was called that the plan does not call
    used = PlanUsed(
        signature=wrong.signature, study="x", success=False, failure=DIFFERENCE, evidence=EVIDENCE
    )
    assert after(ToolStanding(), used).status == "retired"


def heard(shop, made):
    """Calls of the small world, each noted."""

    def call(name, arguments):
        made.append((name, dict(arguments)))
        return shop.caller()(name, arguments)

    return call


def test_what_a_verb_refuses_is_not_the_tools_fault():
    used = PlanUsed(
        signature=EVIDENCE[0], study="x", success=False, failure="call", evidence=EVIDENCE
    )
    standing = after(after(ToolStanding(), used), used.model_copy(update={"failure": "outage"}))
    assert (standing.status, standing.n_uses) == ("active", 1)


def test_a_tool_that_is_wrong_passes_no_validation(draft, plans, shop):
    with pytest.raises(ToolRejectedError, match=r"stays text"):
        validate_tool(spoiled(draft, "another result"), plans, shop.VERBS, shop.caller())


def test_a_tool_for_another_version_of_what_it_calls_is_refused(draft, plans, shop):
    verbs = {**shop.VERBS, "draw": replace(shop.VERBS["draw"], version=2)}
    with pytest.raises(ToolRejectedError, match="draw is not the version"):
        validate_tool(draft, plans, verbs, shop.caller())


def test_retries_of_one_study_support_nothing(draft, plans, shop):
    with pytest.raises(ToolRejectedError, match="3 studies with different values"):
        validate_tool(draft, [plans[0], *plans[:2]], shop.VERBS, shop.caller())


def test_a_plan_that_asks_for_what_no_verb_gives_stays_text_and_says_so(plans, shop):
    known = {name: verb for name, verb in shop.VERBS.items() if name != "draw"}
    with pytest.raises(ToolRejectedError, match=r"calls draw, and no verb gives that.*stays text"):
        draft_tool(plans[0], known)


def given_to(draft, form):
    """What a plan was given, as arguments of its tool."""
    return {item.name: value for item, value in zip(draft.parameters, form.values, strict=True)}


def test_a_plan_that_changes_the_world_stays_text(shop):
    plan = shop.plan_of(
        ("draw", {"theories": ["a"]}), ("publish", {"theory": "a", "design": "<0.design"})
    )
    with pytest.raises(ToolRejectedError, match="step by step"):
        draft_tool(plan, shop.VERBS)


def test_a_tool_that_fails_hands_back_its_plan_and_what_was_done(draft, plans, shop):
    def call(name, arguments):
        if name == "attempt":
            raise ToolError("the laboratory is closed.")
        return shop.caller()(name, arguments)

    with pytest.raises(ToolFailedError, match="the laboratory is closed") as caught:
        run_tool(draft, canonical_form(plans[0].steps), call)
    assert (caught.value.plan, caught.value.kind) == (draft.plan_text, "call")
    assert len(caught.value.done) == 2


def test_a_tool_makes_no_more_calls_than_may_be(shop):
    ranks = [("rank", {"theories": [f"a{n}"], "experiment": "first"}) for n in range(3)]
    plan = shop.plan_of(*ranks)
    draft, form = draft_tool(plan, shop.VERBS), canonical_form(plan.steps)
    values = tuple(
        [value[0]] * (MOST_CALLS + 1) if isinstance(value, list) and len(value) == 3 else value
        for value in form.values
    )
    with pytest.raises(ToolFailedError, match="as many as may be") as caught:
        run_tool(draft, replace(form, values=values), shop.caller())
    assert caught.value.kind == "limit"


def test_a_learned_tool_is_offered_with_its_record_and_every_call_goes_through_the_trace(
    draft, plans, shop
):
    invoked = []

    async def invoke(name, arguments):
        invoked.append(name)
        return shop.caller()(name, arguments)

    form = canonical_form(plans[0].steps)
    tool = LearnedTool(draft, form, ToolStanding(successes=4, failures=1), invoke)
    assert "4 of 5 uses succeeded" in tool.description
    given = given_to(draft, form)
    steps = asyncio.run(tool.call(tool.arguments(**given)))
    assert steps == follow_form(form.operations, form.values, shop.caller())
    assert sorted(invoked) == ["attempt", "attempt", "draw", "rank"]


def test_arguments_that_are_missing_or_unknown_are_named(draft, plans):
    form = canonical_form(plans[0].steps)
    given = given_to(draft, form)
    with pytest.raises(PlanError, match="also needs experiment"):
        with_arguments(draft, form, {k: v for k, v in given.items() if k != "experiment"})
    with pytest.raises(PlanError, match="takes no speed"):
        with_arguments(draft, form, {**given, "speed": 1})
