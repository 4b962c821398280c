"""Investigation before a role answers: a conversation in which it calls the laboratory's tools.

What its calls returned is shown to it, and can be cited, when it answers; what it says by the way counts only as far
as records bear it out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakatos.flows.roles.tools import names_exhibit, toolbox_of
from lakatos.language_models.call import RecordedModel
from lakatos.language_models.client import TokenSampling
from lakatos.language_models.compaction import ExtractiveCompactor
from lakatos.language_models.context import RoleContext
from lakatos.language_models.conversation import (
    ConversationLimits,
    ConversationSetting,
    ToolConversation,
    converse,
)
from lakatos.language_models.errors import (
    BudgetExhaustedError,
    ContextTooLongError,
    LanguageModelError,
    PinnedRuleError,
)
from lakatos.language_models.guard import GuardSituation
from lakatos.language_models.pins import PinnedRule
from lakatos.language_models.tool import PreparedCall, ToolResult, shown
from lakatos.language_models.tool_record import ToolCalled, TracedTools
from lakatos.theories.discovery.roles.exhibit import Exhibit, records_of
from lakatos.theories.discovery.roles.prompt import read_prompt
from lakatos.theories.discovery.roles.question import RoleQuestion, context_of
from lakatos.theories.discovery.roles.record import MatterInvestigated
from lakatos.theories.discovery.roles.typed_claim import facts_in
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext, Trace

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run

PROMPT = "investigate"
MOST_CHARACTERS = 2000
"""Maximum number of characters of a result that are shown."""
NOTES_CHARACTERS = 1500
DATA_SHARE = 0.5
"""Share of the room for data and results that the question's own data may use."""


@dataclass(frozen=True)
class InvestigationResult:
    """Result of an investigation with tools."""

    record: MatterInvestigated
    exhibits: tuple[Exhibit, ...]
    """Results of tools, and notes."""


async def investigate(
    run: Run,
    question: RoleQuestion[Any],
    *,
    model: str,
    context_tokens: int,
    position: Mapping[str, int | str],
    rules: tuple[PinnedRule, ...],
) -> InvestigationResult | None:
    """Let a model call tools about a question, once; None where the question or the study has none.

    Raises:
        BudgetExhaustedError, LanguageModelError: The model gives no answer, and the study says to stop then. What was
            said and done is recorded.
        PinnedRuleError: The rules do not fit.
    """
    if not (question.tools and run.config.roles.tools):
        return None
    # Tools see all answers and all theories, so that what they say falls when one of these does.
    answers = (item.digest for item in run.state.experiments.collected.values())
    theories = (item.digest for item in run.state.theories.checked.values())
    inputs = tuple(dict.fromkeys((*question.inputs, *answers, *theories)))

    async def work(context: StepContext) -> MatterInvestigated:
        return await _look(run, question, model, context_tokens, position, rules, inputs)

    done = await run.step(
        "investigate", work, returns=MatterInvestigated, inputs=inputs, position=position
    )
    return InvestigationResult(done.record, _exhibits(run.trace, done))


async def _look(
    run: Run,
    question: RoleQuestion[Any],
    model: str,
    context_tokens: int,
    position: Mapping[str, int | str],
    rules: tuple[PinnedRule, ...],
    inputs: tuple[Digest, ...],
) -> MatterInvestigated:
    roles, config = run.models, run.config.roles
    speaker = RecordedModel(
        roles.callers[model], role=question.role, position=position, inputs=inputs
    )
    prompt = f"{question.prompt.text}\n\n{read_prompt(PROMPT).text}"
    limits = ConversationLimits(
        max_rounds=config.tool_rounds,
        max_result_characters=MOST_CHARACTERS,
        context_tokens=context_tokens,
    )
    toolbox, sampling = toolbox_of(run.evidence), config.sampling()
    try:
        context, exhibits = _context(
            question, names_exhibit(run.state), prompt, rules, sampling, toolbox.offers, limits
        )
        setting = ConversationSetting(
            model=speaker,
            prompt="",
            toolbox=toolbox,
            record=_in_turn(roles.bench, TracedTools(run.trace, position, inputs)),
            compactor=ExtractiveCompactor(),
            rules=rules,
            situation=lambda: GuardSituation(records=records_of(exhibits)),
            sampling=sampling,
            limits=limits,
            secret=roles.secret,
        )
        return _record(question, model, position, speaker.calls, await converse(setting, context))
    except ContextTooLongError:
        problem = "too_long"
    except PinnedRuleError:
        raise
    except BudgetExhaustedError:
        if config.exhausted == "stop":
            raise
        problem = "out_of_budget"
    except LanguageModelError:
        if config.unreachable == "stop":
            raise
        problem = "unreachable"
    return _record(question, model, position, speaker.calls, None, problem)


def _context(
    question: RoleQuestion[Any],
    names: Exhibit,
    prompt: str,
    rules: tuple[PinnedRule, ...],
    sampling: TokenSampling,
    offers: Any,
    limits: ConversationLimits,
) -> tuple[RoleContext, tuple[Exhibit, ...]]:
    """The beginning of the conversation, with half of the room left for results of tools."""
    return context_of(
        question,
        prompt,
        rules,
        sampling,
        context_tokens=limits.context_tokens,
        offers=offers,
        share=DATA_SHARE,
        last=(names,),
    )


def _in_turn(bench: asyncio.Lock, record: TracedTools) -> Any:
    """Calls one at a time: the laboratory keeps likelihoods that several threads must not change together."""

    async def recorder(
        position: int, prepared: PreparedCall, work: Callable[[], Awaitable[ToolResult]]
    ) -> tuple[str, ToolResult]:
        async with bench:
            return await record(position, prepared, work)

    return recorder


def _record(
    question: RoleQuestion[Any],
    model: str,
    position: Mapping[str, int | str],
    calls: list[Digest],
    reply: ToolConversation | None,
    problem: str = "",
) -> MatterInvestigated:
    uses = reply.uses if reply else ()
    problems = tuple(f"{item.said!r}: {item.problem}" for item in reply.findings) if reply else ()
    answered = reply is not None and reply.outcome == "answered"
    return MatterInvestigated(
        cycle=int(position["cycle"]),
        role=question.role,
        task=question.prompt.name,
        subject=question.subject,
        prompt=read_prompt(PROMPT).version,
        model=model,
        calls=tuple(calls),
        results=tuple(use.reference for use in uses if use.outcome == "returned"),
        refused=tuple(
            f"{use.call.name[:64]}: {use.outcome}: {use.shown}"
            for use in uses
            if use.outcome != "returned"
        ),
        outcome=reply.outcome if reply else problem,
        reason=reply.reason if reply else "",
        notes=reply.answer[:NOTES_CHARACTERS] if reply and answered and not problems else "",
        problems=problems,
    )


def _exhibits(trace: Trace, done: Recorded[MatterInvestigated]) -> tuple[Exhibit, ...]:
    """The result of each different call, and notes that do not contradict it."""
    found: dict[tuple[str, Digest], Exhibit] = {}
    for digest in done.record.results:
        called = trace.get(digest, ToolCalled)
        arguments = json.dumps(
            trace.artifacts.get_json(called.arguments), ensure_ascii=False, sort_keys=True
        )
        value = trace.artifacts.get_json(called.value)
        text = shown(value, digest, MOST_CHARACTERS)
        exhibit = Exhibit(f"{called.tool} {arguments}", text, digest, tuple(facts_in(value)))
        found.setdefault((called.tool, called.arguments), exhibit)
    notes = (
        (Exhibit("your own notes, not checked", done.record.notes),) if done.record.notes else ()
    )
    return (*found.values(), *notes)
