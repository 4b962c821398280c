"""Conversations end: with an answer, or for a stated reason; what was done is what was recorded."""

import asyncio
import json

import numpy as np
import pytest

from benchmarks.models.stand_ins import KeptResults
from lakatos.language_models.client import FrozenPart, ModelCompletion, TokenSampling, ToolCall
from lakatos.language_models.compaction import ExtractiveCompactor
from lakatos.language_models.context import ContextEntry, RoleContext, append
from lakatos.language_models.conversation import (
    ConversationLimits,
    ConversationSetting,
    ToolConversation,
    converse,
)
from lakatos.language_models.errors import ContextTooLongError, PinsTooLongError, ToolError
from lakatos.language_models.guard import GuardSituation
from lakatos.language_models.pins import (
    ConfirmationNeeded,
    PinnedRule,
    SupportNeeded,
    TotalLimited,
    render,
)
from lakatos.language_models.tool import Toolbox, ToolResult, call_digest, mention

RULES = (
    PinnedRule(
        rule_id="consent",
        text="Nobody is recruited unconfirmed.",
        checks=(ConfirmationNeeded(effects=("recruits",)),),
    ),
    PinnedRule(
        rule_id="budget",
        text="At most 50 pounds.",
        checks=(TotalLimited(quantity="pounds", maximum=50),),
    ),
    PinnedRule(rule_id="support", text="Numbers cite records.", checks=(SupportNeeded(),)),
)


class NumberArguments(FrozenPart):
    number: float = 2


class Double:
    name, description, arguments, effects = (
        "double",
        "Doubles.",
        NumberArguments,
        frozenset({"computes"}),
    )

    def __init__(self):
        self.n_calls = 0

    def costs(self, arguments):
        return {}

    async def call(self, arguments):
        self.n_calls += 1
        if arguments.number < 0:
            raise ToolError("negative numbers are not doubled; give one from 0")
        return {"doubled": 2 * arguments.number}


class Recruit(Double):
    name, effects = "recruit", frozenset({"spends", "recruits"})

    def costs(self, arguments):
        return {"pounds": arguments.number}


def calls(*wanted, text="") -> ModelCompletion:
    made = tuple(
        ToolCall(
            call_id="same",
            name=name,
            arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        for name, arguments in wanted
    )
    return ModelCompletion(
        content=text, tool_calls=made, finish_reason="tool_calls", model_name="m"
    )


class Listening:
    """Answers from a list, and keeps the requests."""

    name, version = "listening", "1"

    def __init__(self, answers):
        self.answers, self.requests = list(answers), []

    async def complete(self, request):
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        answer = answer(request) if callable(answer) else answer
        return (
            answer
            if isinstance(answer, ModelCompletion)
            else ModelCompletion(content=answer, finish_reason="stop", model_name="m")
        )


def talk(answers, context=None, **options) -> tuple[ToolConversation, Listening, list]:
    model, tools = Listening(answers), [Double(), Recruit()]
    setting = ConversationSetting(
        **{
            "model": model,
            "prompt": "You are an advocate.",
            "toolbox": Toolbox(tools),
            "record": KeptResults(),
            "compactor": ExtractiveCompactor(),
            "rules": RULES,
            "situation": lambda: GuardSituation(spent={"pounds": 0.0}),
            **options,
        }
    )
    context = append(context or RoleContext(), ContextEntry(kind="task", text="Double something."))
    return asyncio.run(converse(setting, context)), model, tools


def test_what_a_tool_returned_is_recorded_shown_and_can_be_cited():
    kept = KeptResults()

    def answer(request):
        shown = request.messages[-2]
        assert (shown.role, shown.call_id, '{"doubled": 6.0}' in shown.content) == (
            "tool",
            "call00000",
            True,
        )
        return f"It is 6 [{mention(next(iter(kept.results)))}]."

    found, model, _ = talk([calls(("double", {"number": 3})), answer], record=kept)
    assert (found.outcome, found.findings) == ("answered", ())
    ((reference, result),) = kept.results.items()
    assert result == ToolResult(outcome="returned", value={"doubled": 6.0})
    assert (found.uses[0].reference, found.uses[0].value, found.uses[0].arguments) == (
        reference,
        {"doubled": 6.0},
        {"number": 3.0},
    )
    for request in model.requests:
        assert request.messages[0].content.startswith(render(RULES))
        assert request.messages[-1].content.endswith(render(RULES))


def test_a_recorded_call_is_not_made_again():
    kept = KeptResults()

    async def play(position, prepared, work):
        return next(item for item in kept.results.items())

    script = [calls(("double", {"number": 3})), "done"]
    first, _, tools = talk(script, record=kept)
    assert tools[0].n_calls == 1
    second, _, tools = talk(script, record=play)
    assert tools[0].n_calls == 0
    assert second.uses == first.uses
    assert second.context == first.context


def test_calls_that_cannot_be_made_are_answered_with_the_reason():
    wanted = [("duoble", {}), ("double", {"nmber": 1}), ("double", "{"), ("double", {"number": -1})]
    found, model, tools = talk([calls(*wanted), "sorry"])
    assert [use.outcome for use in found.uses] == [
        "unknown_tool",
        "bad_arguments",
        "bad_arguments",
        "failed",
    ]
    told = [message.content for message in model.requests[1].messages if message.role == "tool"]
    hints = [
        "the closest are double",
        "the closest are number",
        "not a JSON object",
        "give one from 0",
    ]
    assert [hint in text for hint, text in zip(hints, told, strict=True)] == [True] * 4
    assert tools[0].n_calls == 1
    assert all(entry.dead_end for entry in found.context.entries if entry.kind == "result")


def test_the_same_call_is_made_twice_and_then_cut_with_the_limit_stated():
    same = calls(("double", {"number": 3}))
    other = calls(("double", {"number": 3.0}))
    found, model, tools = talk(
        [same, other, same, same, same], limits=ConversationLimits(max_rounds=20)
    )
    assert found.outcome == "looping"
    assert tools[0].n_calls == 2
    assert [use.outcome for use in found.uses] == ["returned"] * 2 + ["repeated"] * 3
    assert "was made 2 times already" in found.reason
    assert "2 is the limit" in found.reason
    assert len(model.requests) == 5


def test_too_many_calls_at_a_time_are_put_off():
    found, _, tools = talk([calls(*(("double", {"number": n}) for n in range(6))), "done"])
    assert [use.outcome for use in found.uses] == ["returned"] * 4 + ["too_many"] * 2
    assert tools[0].n_calls == 4


def test_the_guard_stops_a_call_whatever_the_model_was_told():
    found, _, tools = talk([calls(("recruit", {"number": 10})), "as you wish"])
    assert found.uses[0].outcome == "blocked"
    assert "[consent] a person has to confirm" in found.uses[0].shown
    assert tools[1].n_calls == 0


@pytest.mark.parametrize(
    ("spent", "outcome", "n_calls"), [(0.0, "returned", 1), (41.0, "blocked", 0)]
)
def test_a_confirmed_call_is_made_if_the_budget_covers_it(spent, outcome, n_calls):
    confirmed = frozenset({call_digest("recruit", {"number": 10.0})})
    situation = GuardSituation(spent={"pounds": spent}, confirmed=confirmed)
    found, _, tools = talk(
        [calls(("recruit", {"number": 10})), "done"], situation=lambda: situation
    )
    assert (found.uses[0].outcome, tools[1].n_calls) == (outcome, n_calls)


def test_an_answer_without_support_is_sent_back_once():
    found, model, _ = talk(["The skill is 0.9.", "I do not know the skill."])
    assert found.outcome == "answered"
    assert "cites no record for this number" in model.requests[1].messages[-1].content
    found, model, _ = talk(["The skill is 0.9."])
    assert (found.outcome, len(model.requests)) == ("blocked", 2)
    assert "[support]" in found.reason


def test_without_a_rule_the_finding_is_reported():
    found, _, _ = talk(["The skill is 0.9."], rules=())
    assert (found.outcome, [finding.kind for finding in found.findings]) == (
        "answered",
        ["citation"],
    )


@pytest.mark.parametrize(
    ("completion", "outcome"),
    [
        (ModelCompletion(content="cut sho", finish_reason="length", model_name="m"), "truncated"),
        (ModelCompletion(content="", finish_reason="stop", model_name="m"), "empty"),
        (ModelCompletion(content=" \n", finish_reason="stop", model_name="m"), "empty"),
        (
            ModelCompletion(
                content="", refusal="I would rather not", finish_reason="stop", model_name="m"
            ),
            "refused",
        ),
        (ModelCompletion(content="x", finish_reason="content_filter", model_name="m"), "refused"),
        (calls(("double", {})).model_copy(update={"finish_reason": "length"}), "truncated"),
    ],
)
def test_answers_that_are_none_are_called_what_they_are(completion, outcome):
    found, _, tools = talk([completion])
    assert (found.outcome, tools[0].n_calls) == (outcome, 0)


def test_in_the_last_round_tools_are_not_offered():
    answers = [
        lambda request, n=n: calls(("double", {"number": n})) if request.tools else "enough"
        for n in range(5)
    ]
    found, model, _ = talk(answers, limits=ConversationLimits(max_rounds=4))
    assert (found.outcome, len(model.requests)) == ("answered", 4)
    assert [bool(request.tools) for request in model.requests] == [True, True, True, False]
    assert "No more tools can be called" in model.requests[-1].messages[-1].content
    found, _, tools = talk(
        [calls(("double", {"number": n})) for n in range(9)],
        limits=ConversationLimits(max_rounds=4),
    )
    assert (found.outcome, tools[0].n_calls) == ("no_answer", 3)


def test_nothing_is_asked_once_the_budget_is_gone():
    left = iter(["", "the run's tokens are used up"])
    found, model, _ = talk([calls(("double", {}))], exhausted=lambda: next(left))
    assert (found.outcome, found.reason, len(model.requests)) == (
        "out_of_budget",
        "the run's tokens are used up",
        1,
    )
    assert len(found.uses) == 1


def test_a_long_conversation_is_compacted_and_keeps_its_rules():
    class Long(Double):
        async def call(self, arguments):
            return " ".join(f"Block {n} of {arguments.number:g} has 0.{n:03d}." for n in range(100))

    answers = [calls(("double", {"number": n})) for n in range(15)] + ["done"]
    limits = ConversationLimits(max_rounds=20, context_tokens=8000, max_result_characters=1500)
    found, model, _ = talk(
        answers, toolbox=Toolbox([Long()]), limits=limits, sampling=TokenSampling(max_tokens=500)
    )
    assert (found.outcome, len(found.uses)) == ("answered", 15)
    assert len(found.compactions) > 1
    assert all(request.messages[-1].content.endswith(render(RULES)) for request in model.requests)
    references = [use.reference for use in found.uses]
    last = "\n".join(message.content for message in model.requests[-1].messages)
    assert sum(mention(reference) in last for reference in references) >= 10


def test_a_conversation_that_goes_on_from_its_context_names_its_calls_anew():
    first, _, _ = talk([calls(("double", {"number": 1})), "done"])
    more, _, _ = talk(
        [calls(("double", {"number": 2}), ("double", {"number": 3})), "done"], context=first.context
    )
    made = [call.call_id for entry in more.context.entries for call in entry.tool_calls]
    assert made == ["call00000", "call01000", "call01001"]
    assert [entry.call_id for entry in more.context.entries if entry.kind == "result"] == made


def test_what_can_never_fit_is_said_before_anything_is_asked():
    with pytest.raises(ContextTooLongError):
        talk(
            ["x"],
            limits=ConversationLimits(context_tokens=2500),
            sampling=TokenSampling(max_tokens=2400),
            rules=(),
        )
    long_rules = (PinnedRule(rule_id="long", text="word " * 500),)
    with pytest.raises(PinsTooLongError):
        talk(["x"], limits=ConversationLimits(context_tokens=8000), rules=long_rules)


def test_a_bug_in_a_tool_stops_the_run():
    class Broken(Double):
        async def call(self, arguments):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        talk([calls(("double", {}))], toolbox=Toolbox([Broken()]))


@pytest.mark.slow
def test_a_model_that_writes_anything_at_all_breaks_no_rule_and_ends():
    rng = np.random.default_rng(5)
    words = [
        "recruit",
        "double",
        "{",
        '"number"',
        "1e999",
        "<|im_end|>",
        "</pinned-rules>",
        "<pinned-rules>",
    ]
    words += ["\u202e", "]", "#ab12cd34", "0.4"]

    def garble(length):
        return " ".join(rng.choice(words, int(rng.integers(0, length))))

    def answer(request):
        if rng.random() < 0.1:
            return garble(20)
        names = ["recruit", "double", "recruit", garble(3)]
        bodies = [
            '{"number": 5}',
            "{}",
            garble(6),
            '{"number": -1}',
            '{"number": 1e400}',
            "[" * 3000,
        ]
        wanted = [
            (str(rng.choice(names)), str(rng.choice(bodies))) for _ in range(rng.integers(1, 6))
        ]
        return calls(*wanted, text=garble(9))

    outcomes = set()
    for _ in range(150):
        found, model, tools = talk([answer])
        outcomes.add(found.outcome)
        assert tools[1].n_calls == 0
        assert all(
            request.messages[-1].content.endswith(render(RULES)) for request in model.requests
        )
    assert (
        {"answered", "looping"}
        <= outcomes
        <= {"answered", "looping", "blocked", "empty", "no_answer"}
    )
