"""Have a language model take part in an experiment, one session for each simulated person.

Every call is a recorded step, made before the session that it belongs to is written down; a pass that was cut short
finds them again and goes on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from lakatos.experiments.participants.language_model import (
    ROLE,
    AskingSettings,
    ModelSession,
    SessionsDue,
)
from lakatos.experiments.record import ModelTakesPart, PeopleRecruited, SessionHeld
from lakatos.flows.errors import FlowError, ModelUnusableError
from lakatos.flows.run.run import Run
from lakatos.language_models.call import RecordedCall, served_version
from lakatos.language_models.client import ModelRequest, TokenSampling
from lakatos.language_models.errors import BudgetExhaustedError, LanguageModelError
from lakatos.language_models.record import LanguageModelCalled
from lakatos.traces.step import Recorded, StepContext


async def check_participant(run: Run) -> None:
    """Find out, before anything costs money, whether the model that answers in place of people can be asked.

    Raises:
        ModelUnusableError: It cannot.
    """
    name = run.config.participants.model
    if not name:
        return
    try:
        await run.models.look_for(name)
    except LanguageModelError as error:
        again = f"Then `lakatos resume {run.folder}`."
        raise ModelUnusableError(f"the run has not gone on: {error} {again}") from error


async def interview(run: Run, recruited: Recorded[PeopleRecruited], due: SessionsDue) -> None:
    """Hold the sessions that are due; what the model answers can then be collected from its source.

    Raises:
        FlowError: The budget is exhausted, or a server gives no answer. What was answered is recorded; the run can be
            resumed.
    """
    name = due.recruitment.experiment
    prepared = await _prepare(run, due, recruited)
    sampling, memory = prepared.record.sampling, prepared.record.memory
    manner = AskingSettings(
        sampling=sampling, context_tokens=prepared.record.context_tokens, memory=memory
    )
    caller = run.models.callers[run.config.participants.model]

    async def one(place: int) -> ModelSession:
        async def ask(request: ModelRequest, where: Mapping[str, int | str]) -> RecordedCall:
            position = {"experiment": name, "person": place, **where}
            return await caller.ask(request, role=ROLE, position=position, inputs=[prepared.digest])

        return await due.host.hold(due.recruitment, place, ask, manner)

    found = await asyncio.gather(*(one(place) for place in due.places), return_exceptions=True)
    for failed in found:
        if isinstance(failed, BaseException):
            raise _explained(run.folder, name, failed)
    sessions = [session for session in found if isinstance(session, ModelSession)]
    for session in sessions:
        _write_down(run, prepared, session)
    n_missing = sum(len(session.missing) for session in sessions)
    run.progress.note(
        f"{name}: language model {prepared.record.model!r} took part as {len(sessions)} people"
        + (f"; {n_missing} of its answers are missing" if n_missing else "")
    )


async def _prepare(
    run: Run, due: SessionsDue, recruited: Recorded[PeopleRecruited]
) -> Recorded[ModelTakesPart]:
    """Write down, once, which model takes part, what it reads and how it is asked."""
    people, experiment = run.config.participants, due.recruitment.experiment
    settings = run.models.settings[people.model]

    def work(context: StepContext) -> ModelTakesPart:
        return ModelTakesPart(
            experiment=experiment,
            model=people.model,
            model_version=settings.version,
            context_tokens=run.models.contexts[people.model],
            sampling=TokenSampling(temperature=people.temperature, max_tokens=people.max_tokens),
            memory=people.memory,
            language=due.host.page.language,
            texts=context.artifacts.put_json(due.host.shown(due.recruitment)),
        )

    return await run.step(
        "take_part",
        work,
        returns=ModelTakesPart,
        inputs=[recruited.digest],
        position={"experiment": experiment},
    )


def _write_down(run: Run, prepared: Recorded[ModelTakesPart], session: ModelSession) -> None:
    calls = dict.fromkeys(session.calls)
    called = [run.trace.get(digest, LanguageModelCalled) for digest in calls]
    run.record(
        SessionHeld(
            experiment=session.answers.experiment,
            person=session.answers.person,
            place=session.place,
            model=prepared.record.model,
            model_names=tuple(sorted({item.model_name for item in called})),
            served_versions=tuple(sorted({served_version(item) for item in called})),
            seed=session.seed,
            persona=session.persona,
            status=session.answers.status,
            n_answers=len(session.answers.trial),
            missing_trials=tuple(item.trial for item in session.missing),
            missing_reasons=tuple(item.reason for item in session.missing),
            n_unread=session.n_unread,
            calls=tuple(calls),
        ),
        name="session",
        inputs=[prepared.digest, *calls],
        position={"experiment": session.answers.experiment, "person": session.place},
    )


def _explained(folder: Path, experiment: str, error: BaseException) -> BaseException:
    """The error with what to do, where the run can go on from here."""
    if isinstance(error, BudgetExhaustedError):
        words = (
            str(error)
            .replace("Raise the budget in the study file and resume, or ask for less.", "")
            .strip()
        )
        return FlowError(
            f"the budget for language models is exhausted: {words} Nothing is lost: raise it with "
            f"`lakatos models budget {folder}` and go on with `lakatos resume {folder}`."
        )
    if isinstance(error, LanguageModelError):
        return FlowError(
            f"the language model that takes part in experiment {experiment} gave no answer: {error} Nothing is lost: "
            f"`lakatos resume {folder}` goes on from here."
        )
    return error
