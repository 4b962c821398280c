"""Ask language models in roles: within which budget, under which rules, and what is written down of it.

Every call is a step of its own, made before the step that uses its answer. A stage of questions begins only if the
budget covers all of them; that, and which model is asked, is written down before anything is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from lakatos.flows.errors import FlowError, ModelUnusableError
from lakatos.flows.roles.failures import failures, useless
from lakatos.flows.roles.investigate import investigate
from lakatos.flows.run.model_settings import RolesConfig
from lakatos.flows.run.models import RoleModels, out_of_budget
from lakatos.flows.run.state import RunState
from lakatos.language_models.call import RecordedCall, served_version
from lakatos.language_models.client import ModelRequest
from lakatos.language_models.errors import (
    BudgetExhaustedError,
    ContextTooLongError,
    LanguageModelError,
    PinnedRuleError,
    RequestRefusedError,
    WrongAddressError,
)
from lakatos.language_models.ledger import NOTHING, worst_case
from lakatos.language_models.pins import PinnedRule, render
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.structured import TypedAnswer, ask_for
from lakatos.theories.discovery.roles.exhibit import Exhibit
from lakatos.theories.discovery.roles.question import RoleQuestion, pinned_request, request_of
from lakatos.theories.discovery.roles.record import ModelChoice, ModelsChosen, RoleAnswered
from lakatos.traces.digest import Digest, digest_bytes
from lakatos.traces.step import Recorded, StepContext

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run

T = TypeVar("T", bound=BaseModel)
_SHOWN = 300
"""Characters of an error, in the record of a question without an answer."""


@dataclass(frozen=True)
class RoleReply(Generic[T]):
    """Result of a question."""

    question: RoleQuestion[T]
    answered: Recorded[RoleAnswered]
    value: T | None
    """Value of the answer; None where there is none that could be read."""
    shown: tuple[Exhibit, ...]
    """Exhibits that fitted into the prompt."""
    rules: tuple[PinnedRule, ...]


async def check_models(run: Run) -> None:
    """Find out, before anything costs money, whether every model that takes a role can be asked.

    Later passes do so when they come to ask one: a run that waits for people needs no server.

    Raises:
        ModelUnusableError: One cannot, and the study does not say to go on without, or no server would ever answer.
    """
    settings = run.config.roles
    if settings.used and next(run.trace.records(ModelsChosen), None) is None:
        await _look(run.models, settings, run.folder, run.progress.note, begins=True)


async def _look(
    roles: RoleModels,
    settings: RolesConfig,
    folder: Path,
    note: Callable[[str], None],
    *,
    begins: bool = False,
) -> None:
    """Look for the models that take roles, once in a pass; a run does not begin with one that will not answer."""
    if roles.looked:
        return
    roles.looked = True
    for name in sorted({model for _, model in settings.named}):
        try:
            for line in await roles.look_for(name):
                note(f"model {name!r}: {line}")
        except BudgetExhaustedError as error:
            note(f"model {name!r} is not looked for: {error}")  # each stage finds what it can pay
        except LanguageModelError as error:
            refused = begins and isinstance(error, RequestRefusedError | WrongAddressError)
            if refused or settings.unreachable == "stop":
                raise ModelUnusableError(
                    f"the run has not gone on: {error} Or change the model of this run with `lakatos models change "
                    f"{folder} {name}`. Then `lakatos resume {folder}`."
                ) from error
            note(f"model {name!r} cannot be asked now: {error}")


async def ask_stage(
    run: Run, cycle: int, stage: str, questions: Sequence[RoleQuestion[Any]], number: int = 0
) -> list[RoleReply[Any]]:
    """Ask all questions of a stage side by side; nothing where the budget does not cover them and the study goes on.

    Args:
        run: The campaign.
        cycle: Cycle of the campaign.
        stage: Name, for the position of its steps.
        questions: Differ in prompt, subject or sample.
        number: Number of the round, where a stage has several.

    Raises:
        FlowError: The budget is exhausted or a server gives no answer, and the study says to stop then. What was
            answered is recorded; the run can be resumed.
    """
    questions = _useful(run, cycle, questions)
    if not questions:
        return []
    chosen = await _choose(run, cycle, stage, questions, number)
    if not chosen.record.asked:
        run.progress.note(f"no model is asked to {stage} in cycle {cycle}: {chosen.record.reason}")
        return []
    place: dict[str, int | str] = {"cycle": cycle, "stage": stage, "number": number}
    to = [
        _AskedModel(*parts)
        for parts in zip(chosen.record.choices, chosen.record.contexts, strict=True)
    ]
    pairs = list(zip(questions, to, strict=True))
    found = await asyncio.gather(
        *(_ask(run, place, question, who) for question, who in pairs), return_exceptions=True
    )
    for failed in found:
        if isinstance(failed, BaseException):
            raise failed
    replies = [
        _write_down(run, place, question, who, reply)
        for (question, who), reply in zip(pairs, found, strict=True)
        if not isinstance(reply, BaseException)
    ]
    if unanswered := failures([item.answered.record for item in replies]):
        run.progress.note(f"to {stage} in cycle {cycle}, {unanswered}")
    _note_withheld(run, replies)
    return replies


def _useful(
    run: Run, cycle: int, questions: Sequence[RoleQuestion[Any]]
) -> list[RoleQuestion[Any]]:
    """The questions to roles in which the models of earlier cycles were of use."""
    reasons = {
        role: useless(run.state.roles, role, cycle)
        for role in dict.fromkeys(question.role for question in questions)
    }
    for role, reason in reasons.items():
        model = run.config.roles.model_of(role)
        if reason and ("role", role) not in run.models.noted:
            run.models.noted.add(("role", role))
            run.progress.note(f"model {model!r} is not asked as {role} any more: {reason}")
    return [question for question in questions if not reasons[question.role]]


def _note_withheld(run: Run, replies: Sequence[RoleReply[Any]]) -> None:
    """Show, once in a pass, which fields of a request a model is asked without."""
    roles = run.models
    for reply in replies:
        record = reply.answered.record
        for call in record.calls:
            withheld = run.trace.get(call, LanguageModelCalled).withheld
            if new := [name for name in withheld if (record.model, name) not in roles.noted]:
                roles.noted.update((record.model, name) for name in new)
                run.progress.note(f"model {record.model!r} is asked without {', '.join(new)}")


@dataclass(frozen=True)
class _AskedModel:
    """The model that takes a role in one call, and the room that it has for a prompt."""

    choice: ModelChoice
    context_tokens: int

    @property
    def model(self) -> str:
        return self.choice.model


@dataclass(frozen=True)
class _DraftReply:
    """A reply before it is recorded."""

    outcome: str
    reason: str
    value: BaseModel | None
    calls: tuple[Digest, ...]
    shown: tuple[Exhibit, ...]
    rules: tuple[PinnedRule, ...]
    is_cut: bool = False
    """Whether its last call is not on record: what was sent was refused, or nothing was."""


async def _choose(
    run: Run, cycle: int, stage: str, questions: Sequence[RoleQuestion[Any]], number: int
) -> Recorded[ModelsChosen]:
    """Write down who is asked, and whether the budget covers it; once."""
    roles, config = run.models, run.config.roles
    cited = tuple(dict.fromkeys(digest for question in questions for digest in question.inputs))

    async def work(context: StepContext) -> ModelsChosen:
        await _look(roles, config, run.folder, run.progress.note)
        chosen: list[_AskedModel] = []
        worst = NOTHING
        for question in questions:
            role = question.role
            name = config.model_of(role)
            choice = ModelChoice(
                role=role, model=name, version=_version_now(run.state, roles, name)
            )
            who = _AskedModel(choice, roles.contexts[choice.model])
            chosen.append(who)
            try:
                request, _ = _request(run.config.roles, run.models, question, who, cycle)
            except ContextTooLongError:
                continue
            sent = pinned_request(request, roles.rules(question.role, cycle))
            own = worst_case(roles.settings[who.model].price, sent)
            for _ in range(1 + (config.tool_rounds if question.tools and config.tools else 0)):
                worst += own
        reason = ""
        try:
            roles.ledger.check(worst, f"{len(questions)} questions to {stage} in cycle {cycle}")
        except BudgetExhaustedError as error:
            reason = out_of_budget(run.config, run.folder, error)
        return ModelsChosen(
            cycle=cycle,
            stage=stage,
            choices=tuple(item.choice for item in chosen),
            contexts=tuple(item.context_tokens for item in chosen),
            asked=not reason,
            reason=reason,
        )

    return await run.step(
        "choose",
        work,
        returns=ModelsChosen,
        inputs=cited,
        position={"cycle": cycle, "stage": stage, "number": number},
    )


async def _ask(
    run: Run, place: dict[str, int | str], question: RoleQuestion[Any], who: _AskedModel
) -> _DraftReply:
    """One question to one model; a call that the trace holds is not made again."""
    roles, cycle = run.models, int(place["cycle"])
    caller, rules = roles.callers[who.model], roles.rules(question.role, cycle)
    position = _position(place, question)
    made: list[Digest] = []
    cited = list(question.inputs)

    async def ask(request: ModelRequest, number: int) -> RecordedCall:
        tried, inputs = {**position, "try": number}, tuple(dict.fromkeys(cited))
        sent = pinned_request(request, rules)
        called = await caller.ask(sent, role=question.role, position=tried, inputs=inputs)
        made.append(called.digest)
        return called

    def cut(outcome: str, reason: str, calls: Sequence[Digest] = made) -> _DraftReply:
        return _DraftReply(outcome, reason, None, tuple(calls), (), rules, is_cut=True)

    try:
        room = who.context_tokens
        looked = await investigate(
            run, question, model=who.model, context_tokens=room, position=position, rules=rules
        )
        if looked is not None:
            made += looked.record.calls
            cited += looked.record.results
        silent = run.trace.recorded("answer", question.inputs, position)
        if silent is not None and isinstance(silent.record, RoleAnswered):
            return cut(silent.record.outcome, silent.record.reason, silent.record.calls)
        found = looked.exhibits if looked else ()
        request, shown = _request(run.config.roles, roles, question, who, cycle, found)
        reply = await ask_for(question.answer, ask, request)
    except ContextTooLongError:
        return cut("too_long", "the question does not fit the model's context")
    except PinnedRuleError as error:
        raise FlowError(
            f"the rules of the study cannot be pinned for model {who.model!r}: {error}"
        ) from error
    except BudgetExhaustedError as error:
        return cut("out_of_budget", out_of_budget(run.config, run.folder, error))
    except LanguageModelError as error:
        if run.config.roles.unreachable == "stop":
            raise FlowError(
                f"model {who.model!r} gave no answer as {question.role}: {error} "
                f"Nothing is lost: `lakatos resume {run.folder}` goes on from here."
            ) from error
        return cut("no_answer", f"{type(error).__name__}: {error}"[:_SHOWN])
    if isinstance(reply, TypedAnswer):
        return _DraftReply("answered", "", reply.value, tuple(made), shown, rules)
    return _DraftReply(reply.reason, reply.detail, None, tuple(made), shown, rules)


def _write_down(
    run: Run,
    place: dict[str, int | str],
    question: RoleQuestion[Any],
    who: _AskedModel,
    reply: _DraftReply,
) -> RoleReply[Any]:
    """The answer as a record, in the order of the questions."""
    answer = (
        None
        if reply.value is None
        else run.trace.artifacts.put_json(reply.value.model_dump(mode="json"))
    )
    version, declared = who.choice.version, run.models.settings[who.model].version
    if reply.calls:
        last = run.trace.get(reply.calls[-1], LanguageModelCalled)
        version, declared = served_version(last), last.model_version
    record = RoleAnswered(
        cycle=int(place["cycle"]),
        role=question.role,
        task=question.prompt.name,
        subject=question.subject,
        prompt=question.prompt.version,
        rules=digest_bytes(render(reply.rules).encode()),
        model=who.model,
        model_version=declared,
        served=version,
        calls=reply.calls,
        outcome=reply.outcome,
        reason=reply.reason,
        answer=answer,
    )
    # What did not come of the model, but of budget, server or room, is found again by the question alone.
    inputs = question.inputs if reply.is_cut or not reply.calls else reply.calls
    answered = run.record(record, name="answer", inputs=inputs, position=_position(place, question))
    return RoleReply(question, answered, reply.value, reply.shown, reply.rules)


def _position(place: dict[str, int | str], question: RoleQuestion[Any]) -> dict[str, int | str]:
    return {
        **place,
        "task": question.prompt.name,
        "subject": question.subject,
        "sample": question.sample,
    }


def _request(
    config: RolesConfig,
    roles: RoleModels,
    question: RoleQuestion[Any],
    who: _AskedModel,
    cycle: int,
    found: Sequence[Exhibit] = (),
) -> tuple[ModelRequest, tuple[Exhibit, ...]]:
    return request_of(
        question,
        roles.rules(question.role, cycle),
        config.sampling(),
        secret=roles.secret,
        context_tokens=who.context_tokens,
        found=found,
    )


def _version_now(state: RunState, roles: RoleModels, name: str) -> Digest:
    """Version that answered last under this name in a stage that is over; before that, the declared one."""
    last = [item.record for item in state.roles.answered.values() if item.record.model == name]
    return last[-1].served if last else roles.settings[name].version
