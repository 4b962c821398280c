"""A conversation: a model asks for tools until it answers, within rounds, budget and rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from lakatos.language_models.client import (
    FrozenPart,
    LanguageModel,
    ModelCompletion,
    ModelRequest,
    TokenSampling,
    ToolCall,
)
from lakatos.language_models.context import (
    ContextCompaction,
    ContextEntry,
    Count,
    RoleContext,
    TextCompactor,
    append,
    assemble,
    count_tokens,
    fit,
    request_room,
)
from lakatos.language_models.errors import ToolError
from lakatos.language_models.guard import (
    AnswerAction,
    CallAction,
    GuardSituation,
    breaches,
    explain,
)
from lakatos.language_models.pins import PinnedModel, PinnedRule
from lakatos.language_models.quotes import QuoteFinding, check_answer
from lakatos.language_models.thinking import after_thinking
from lakatos.language_models.tool import (
    CallRefusal,
    PreparedCall,
    Toolbox,
    ToolRecorder,
    ToolResult,
    ToolUse,
    as_json,
    mention,
    shown,
)


class ConversationLimits(FrozenPart):
    """Limits at which a conversation ends, whatever the model wants."""

    max_rounds: int = 8
    """Completions; in the last one tools are not offered any more."""
    max_calls_per_round: int = 4
    max_identical: int = 2
    """Times that the same call, with the same arguments, is made."""
    max_idle_rounds: int = 3
    """Rounds one after another in which nothing that was called could be done."""
    max_result_characters: int = 4000
    """Most characters of a result, as the model is shown it."""
    context_tokens: int = 32_768
    keep_turns: int = 2
    """Turns that a compaction leaves as they are."""


_CALL_ID: Final = re.compile(r"call(\d{2,})\d{3}")

Outcome = Literal[
    "answered", "blocked", "truncated", "empty", "refused", "looping", "no_answer", "out_of_budget"
]
"""Outcome of a conversation. "blocked": the answer breaks a rule, after one correction too; "truncated": cut at the
limit of tokens, which says nothing about the idea; "looping": round after round nothing it calls can be done;
"no_answer": it wanted tools to the last; "out_of_budget": stopped before a completion, can go on from its context."""


@dataclass(frozen=True)
class ToolConversation:
    """Course of a conversation: its outcome, answer, calls and findings."""

    outcome: Outcome
    answer: str
    """The last content; to be used only if it was ``answered``."""
    context: RoleContext
    uses: tuple[ToolUse, ...]
    findings: tuple[QuoteFinding, ...] = ()
    """Statements of the answer that no record supports."""
    compactions: tuple[ContextCompaction, ...] = ()
    reason: str = ""
    """Reason for any outcome but ``answered``."""


@dataclass(frozen=True)
class ConversationSetting:
    """Setting that a role brings to a conversation."""

    model: LanguageModel
    prompt: str
    toolbox: Toolbox
    record: ToolRecorder
    compactor: TextCompactor
    rules: tuple[PinnedRule, ...] = ()
    situation: Callable[[], GuardSituation] = GuardSituation
    """Function that returns what is spent and confirmed now."""
    exhausted: Callable[[], str] = str
    """Function that states why nothing more may be spent; empty while it may."""
    sampling: TokenSampling = field(default_factory=TokenSampling)
    seed: int = 0
    limits: ConversationLimits = field(default_factory=ConversationLimits)
    secret: str = ""
    """Secret from which the nonces of fences are made."""
    count: Count = count_tokens


async def converse(setting: ConversationSetting, context: RoleContext) -> ToolConversation:
    """Let the model call tools until it answers.

    Raises:
        PinsAlteredError: A request would have gone out without the pinned rules.
        PinsTooLongError, ContextTooLongError: It cannot fit, whatever is compacted.
        LanguageModelError: The model gives no answer.
    """
    limits, model = setting.limits, PinnedModel.bind(setting.model, setting.rules)
    room = request_room(
        limits.context_tokens,
        setting.sampling.max_tokens,
        setting.prompt,
        setting.rules,
        setting.toolbox.offers,
        setting.count,
    )
    uses: list[ToolUse] = []
    compactions: list[ContextCompaction] = []
    corrected, n_idle_rounds = False, 0

    def end(
        outcome: Outcome, answer: str = "", reason: str = "", findings: Sequence[QuoteFinding] = ()
    ) -> ToolConversation:
        return ToolConversation(
            outcome, answer, context, tuple(uses), tuple(findings), tuple(compactions), reason
        )

    for number in range(limits.max_rounds):
        if reason := setting.exhausted():
            return end("out_of_budget", reason=reason)
        last = number == limits.max_rounds - 1
        if last and uses:
            context = append(
                context, ContextEntry(kind="task", text="No more tools can be called. Answer now.")
            )
        context, done = await fit(
            context, setting.compactor, room, keep=limits.keep_turns, count=setting.count
        )
        compactions += done
        completion = await model.complete(_request(setting, context, may_call=not last))
        completion = completion.model_copy(update={"content": after_thinking(completion.content)})
        context, calls = _listen(context, completion)
        if stopped := _stopped(completion):
            return end(
                stopped,
                completion.content,
                f"the server ended it with {completion.finish_reason!r}",
            )
        if calls:
            if last:
                return end(
                    "no_answer", completion.content, "it still calls tools where none are offered"
                )
            made = await _use_all(setting, calls, uses)
            uses += made
            context = append(context, *(_result(use) for use in made))
            n_idle_rounds = (
                0 if any(use.outcome == "returned" for use in made) else n_idle_rounds + 1
            )
            if n_idle_rounds == limits.max_idle_rounds:
                return end("looping", completion.content, made[-1].shown)
            continue
        action = AnswerAction(completion.content, uses)
        situation = setting.situation()
        if broken := breaches(setting.rules, action, situation):
            if corrected or last:
                return end("blocked", completion.content, explain(broken))
            corrected = True
            context = append(
                context,
                ContextEntry(kind="task", text=f"The answer was {explain(broken)} Answer again."),
            )
            continue
        return end(
            "answered",
            completion.content,
            findings=check_answer(completion.content, uses, situation.records),
        )
    return end("no_answer", reason=f"no answer in {limits.max_rounds} rounds")


def _request(setting: ConversationSetting, context: RoleContext, *, may_call: bool) -> ModelRequest:
    """Make the request of one round; the last one offers no tools."""
    return ModelRequest(
        messages=assemble(context, setting.prompt, setting.rules, secret=setting.secret),
        sampling=setting.sampling,
        seed=setting.seed,
        tools=setting.toolbox.offers if may_call else (),
        tool_choice="auto" if may_call else "none",
    )


async def _use_all(
    setting: ConversationSetting, calls: Sequence[ToolCall], before: Sequence[ToolUse]
) -> list[ToolUse]:
    """Carry out a round's calls one after another; each knows those ``before`` it."""
    made: list[ToolUse] = []
    for place, call in enumerate(calls):
        made.append(await _use(setting, call, [*before, *made], place))
    return made


def _listen(
    context: RoleContext, completion: ModelCompletion
) -> tuple[RoleContext, tuple[ToolCall, ...]]:
    """``context`` with the model's turn; its calls under names of ours, since theirs may repeat or be missing."""
    ours = (
        _CALL_ID.fullmatch(call.call_id) for entry in context.entries for call in entry.tool_calls
    )
    number = max((int(found[1]) for found in ours if found), default=-1) + 1
    calls = tuple(
        call.model_copy(
            update={"call_id": f"call{number:02d}{place:03d}"}
        )  # some templates want nine characters
        for place, call in enumerate(completion.tool_calls)
    )
    return append(
        context, ContextEntry(kind="answer", text=completion.content, tool_calls=calls)
    ), calls


def _stopped(completion: ModelCompletion) -> Outcome | None:
    if completion.finish_reason == "length":
        return "truncated"
    if completion.refusal or completion.finish_reason == "content_filter":
        return "refused"
    return None if completion.tool_calls or completion.content.strip() else "empty"


def _result(use: ToolUse) -> ContextEntry:
    return ContextEntry(
        kind="result",
        text=use.shown,
        source=f"{use.call.name[:64]}, record {mention(use.reference)}"
        if use.reference
        else "the laboratory",
        call_id=use.call.call_id,
        reference=use.reference,
        dead_end=use.outcome != "returned",
    )


async def _use(
    setting: ConversationSetting, call: ToolCall, uses: Sequence[ToolUse], place: int
) -> ToolUse:
    limits = setting.limits
    if place >= limits.max_calls_per_round:
        text = f"not done: at most {limits.max_calls_per_round} calls are made at a time; call it in the next turn."
        return ToolUse(call=call, outcome="too_many", shown=text)
    prepared = setting.toolbox.prepare(call)
    if isinstance(prepared, CallRefusal):
        return ToolUse(call=call, outcome=prepared.outcome, shown=prepared.reason)
    if cut := _repetition(prepared, uses, limits.max_identical):
        return ToolUse(call=call, arguments=prepared.values, outcome="repeated", shown=cut)
    reference, result = await setting.record(len(uses), prepared, partial(_make, setting, prepared))
    returned = result.outcome == "returned"
    content = shown(
        result.value if returned else result.reason, reference, limits.max_result_characters
    )
    return ToolUse(
        call=call,
        arguments=prepared.values,
        outcome=result.outcome,
        reference=reference,
        value=result.value,
        shown=content,
    )


def _repetition(prepared: PreparedCall, uses: Sequence[ToolUse], limit: int) -> str:
    same = [
        use
        for use in uses
        if use.call.name == prepared.tool.name
        and use.arguments == prepared.values
        and use.outcome != "repeated"
    ]
    if len(same) < limit:
        return ""
    outcomes = Counter(use.outcome for use in same).most_common(1)[0][0]
    where = (
        f"its result is record {mention(same[-1].reference)}"
        if same[-1].reference
        else "nothing came of it"
    )
    return (
        f"not done: this very call of {prepared.tool.name!r} was made {len(same)} times already ({outcomes}; {where}), "
        f"and {limit} is the limit. Use that result, change the arguments, or answer."
    )


async def _make(setting: ConversationSetting, prepared: PreparedCall) -> ToolResult:
    """Guard first, then the tool."""
    if broken := breaches(setting.rules, CallAction.of(prepared), setting.situation()):
        return ToolResult(outcome="blocked", reason=explain(broken))
    try:
        return ToolResult(
            outcome="returned", value=as_json(await prepared.tool.call(prepared.arguments))
        )
    except ToolError as error:
        return ToolResult(
            outcome="failed", reason=f"{prepared.tool.name} could not do this: {error}"
        )
