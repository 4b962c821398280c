"""The guard decides by what a model does, whatever its prompt said."""

import pytest
from pydantic import TypeAdapter

from lakatos.language_models.client import ToolCall
from lakatos.language_models.guard import (
    AnswerAction,
    CallAction,
    GuardSituation,
    breaches,
    explain,
)
from lakatos.language_models.pins import (
    Check,
    ClaimLimited,
    ConfirmationNeeded,
    NumberLimited,
    PinnedRule,
    SupportNeeded,
    TextForbidden,
    ToolsAllowed,
    ToolsForbidden,
    TotalLimited,
)
from lakatos.language_models.tool import ToolUse, call_digest

RECRUIT = CallAction(
    "recruit",
    frozenset({"spends", "recruits"}),
    {"n_people": 20, "text": "Hello"},
    {"pounds": 30.0},
)
READ = CallAction("read", frozenset({"reads"}), {"what": "open trials"}, {})
CONFIRMED = frozenset({call_digest("recruit", RECRUIT.arguments)})


def broken(check: Check, action, **situation) -> list[str]:
    rule = PinnedRule(rule_id="rule", text="a", checks=(check,))
    found = breaches([rule], action, GuardSituation(**situation))
    assert all(breach.rule_id == "rule" for breach in found)
    return [breach.reason for breach in found]


@pytest.mark.parametrize(
    ("check", "action", "situation", "reason"),
    [
        (ToolsForbidden(tools=("recruit",)), RECRUIT, {}, "must not be called"),
        (ToolsForbidden(effects=("recruits",)), RECRUIT, {}, "must not be called"),
        (ToolsAllowed(tools=("read",)), RECRUIT, {}, "not among the tools allowed"),
        (
            NumberLimited(tool="recruit", argument="n_people", maximum=19),
            RECRUIT,
            {},
            "is 20, allowed is -inf to 19",
        ),
        (NumberLimited(tool="recruit", argument="n_people", minimum=21), RECRUIT, {}, "is 20"),
        (
            NumberLimited(tool="recruit", argument="people.n", maximum=99),
            RECRUIT,
            {},
            "must be stated as a number",
        ),
        (
            NumberLimited(tool="recruit", argument="text", maximum=99),
            RECRUIT,
            {},
            "must be stated as a number",
        ),
        (TextForbidden(patterns=("sealed|open",)), READ, {}, "'open trials'"),
        (
            TotalLimited(quantity="pounds", maximum=50),
            RECRUIT,
            {"spent": {"pounds": 20.01}},
            "30 more would exceed 50",
        ),
        (TotalLimited(quantity="pounds", maximum=50), RECRUIT, {}, "cannot be told"),
        (
            TotalLimited(quantity="pounds", maximum=50),
            RECRUIT,
            {"spent": {"pounds": float("nan")}},
            "cannot be told",
        ),
        (ConfirmationNeeded(effects=("recruits",)), RECRUIT, {}, "a person has to confirm"),
        (
            ConfirmationNeeded(tools=("recruit",)),
            RECRUIT,
            {"confirmed": frozenset({"0" * 64})},
            "a person has to",
        ),
    ],
)
def test_a_call_that_breaks_a_rule_is_stopped(check, action, situation, reason):
    found = broken(check, action, **situation)
    assert len(found) == 1
    assert reason in found[0]


@pytest.mark.parametrize(
    ("check", "action", "situation"),
    [
        (ToolsForbidden(tools=("recruit",), effects=("spends",)), READ, {}),
        (ToolsAllowed(tools=("read",)), READ, {}),
        (NumberLimited(tool="recruit", argument="n_people", minimum=20, maximum=20), RECRUIT, {}),
        (NumberLimited(tool="recruit", argument="n_people", maximum=1), READ, {}),
        (TextForbidden(tools=("recruit",), patterns=("open",)), READ, {}),
        (TotalLimited(quantity="pounds", maximum=50), RECRUIT, {"spent": {"pounds": 20.0}}),
        (TotalLimited(quantity="pounds", maximum=0), READ, {}),
        (ConfirmationNeeded(effects=("recruits",)), RECRUIT, {"confirmed": CONFIRMED}),
        (ConfirmationNeeded(effects=("recruits",)), READ, {}),
        (SupportNeeded(), RECRUIT, {}),
        (ToolsForbidden(tools=("recruit",)), AnswerAction("recruit"), {}),
    ],
)
def test_a_call_that_breaks_none_is_let_pass(check, action, situation):
    assert broken(check, action, **situation) == []


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_a_cost_that_is_none_is_not_taken_for_one(cost):
    action = CallAction("buy", frozenset({"spends"}), {}, {"pounds": cost})
    assert (
        len(broken(TotalLimited(quantity="pounds", maximum=50), action, spent={"pounds": 0.0})) == 1
    )


def test_a_confirmation_is_of_one_call_with_its_arguments():
    more = CallAction(
        "recruit", RECRUIT.effects, {**RECRUIT.arguments, "n_people": 21}, RECRUIT.costs
    )
    assert len(broken(ConfirmationNeeded(tools=("recruit",)), more, confirmed=CONFIRMED)) == 1


@pytest.mark.parametrize(
    "text", ["your real NAME", "y\u200bour full n\u200bame", "ｎａｍｅ", "nаme"]
)
def test_forbidden_text_is_found_in_disguise_and_at_any_depth(text):
    action = CallAction("page", frozenset(), {"questions": [{"label": text}]}, {})
    assert len(broken(TextForbidden(patterns=(r"\bname\b",)), action)) == 1


def test_forbidden_text_is_found_in_names_of_arguments():
    action = CallAction("page", frozenset(), {"fields": {"email": 1}}, {})
    assert len(broken(TextForbidden(patterns=("e-?mail",)), action)) == 1


DIGEST = "ab12cd34" * 8
COMPARED = ToolUse(
    call=ToolCall(call_id="a", name="compare", arguments="{}"),
    arguments={},
    outcome="returned",
    reference=DIGEST,
    value={"skill": 0.4},
    shown="",
)


def test_an_answer_needs_support_for_its_numbers():
    good, bad = (
        AnswerAction(f"The skill is {value} [#ab12cd34].", [COMPARED]) for value in (0.4, 0.5)
    )
    assert broken(SupportNeeded(), good) == []
    assert broken(SupportNeeded(), bad) == ["'0.5': 'skill' in #ab12cd34ab12 is 0.4"]
    further = AnswerAction("The skill is 0.9 [#ffffffff].")
    assert broken(SupportNeeded(), further, records={"f" * 64: {"skill": 0.9}}) == []


@pytest.mark.parametrize(
    ("text", "n_broken"),
    [
        ("This proves the theory.", 1),
        ("This proves the theory [#ab12cd34].", 0),
        ("This PROVES it [#deadbeef].", 1),
        ("We compared them [#ab12cd34]. It proves nothing.", 1),
        ("It agrees with the data.", 0),
    ],
)
def test_a_limited_claim_cites_a_result_of_the_right_tool_in_its_sentence(text, n_broken):
    check = ClaimLimited(patterns=(r"\bproves?\b",), tools=("compare",))
    assert len(broken(check, AnswerAction(text, [COMPARED]))) == n_broken


def test_a_claim_that_must_never_be_made_cannot_be_supported():
    check = ClaimLimited(patterns=(r"\bhuman nature\b",))
    found = broken(check, AnswerAction("It shows human nature [#ab12cd34].", [COMPARED]))
    assert found == ["'It shows human nature [#ab12cd34].' must not be claimed"]


def test_all_rules_are_named_that_an_action_would_break():
    rules = [
        PinnedRule(rule_id="no-people", text="a", checks=(ToolsForbidden(effects=("recruits",)),)),
        PinnedRule(rule_id="words", text="a"),
        PinnedRule(
            rule_id="budget", text="a", checks=(TotalLimited(quantity="pounds", maximum=1),)
        ),
    ]
    found = breaches(rules, RECRUIT, GuardSituation(spent={"pounds": 0}))
    assert [breach.rule_id for breach in found] == ["no-people", "budget"]
    assert explain(found).startswith(
        "not done, by the pinned rules: [no-people] 'recruit' must not be called; [budget]"
    )


def test_checks_are_stored_and_read_back_as_what_they_are():
    adapter = TypeAdapter(Check)
    check = TotalLimited(quantity="pounds", maximum=50)
    assert adapter.validate_json(adapter.dump_json(check)) == check
