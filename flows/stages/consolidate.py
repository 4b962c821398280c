"""Stage: turn what was done, and what went wrong, into lessons; and plans that recur into tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lakatos.flows.roles.remember import (
    library_in,
    recorded_calls,
    study_of,
    validity_in,
)
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.inherit import leave_winners
from lakatos.flows.stages.judging.measures import lasting
from lakatos.flows.stages.reflect import write_lessons
from lakatos.judges.judge import VerdictResolved
from lakatos.language_models.errors import ToolError
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.consolidation import pitfall, plan_of_calls, recurring
from lakatos.memory.errors import ToolRejectedError
from lakatos.memory.item import PlanUsed, ToolRefused, ToolValidated, ToolWithdrawn
from lakatos.memory.library import Library, Pitfall, Valid, pitfall_from_overturned
from lakatos.memory.plan import Call, Plan
from lakatos.memory.record import ToolTried
from lakatos.memory.signature import canonical_form
from lakatos.memory.tool import LEAST_STUDIES, WAITING, ToolDraft, draft_tool, validate_tool
from lakatos.memory.tools import TOOLS
from lakatos.theories.discovery.roles.record import MatterInvestigated
from lakatos.theories.engine.scoreboard import advantage_on
from lakatos.theories.engine.scoring.score import is_tie
from lakatos.traces.digest import Digest, canonical_json, digest_of
from lakatos.traces.step import Recorded, StepContext

FAILED = re.compile(r"([\w-]+): failed: .*?the tool [\w-]+ failed \((\w+)\)", re.DOTALL)
"""Pattern by which a conversation reports a learned tool that failed; see `memory.use.LearnedTool`."""


@task(name="consolidate")
async def consolidate(
    run: Run, cycle: int, settled: list[Recorded[VerdictResolved]]
) -> list[Recorded[Pitfall]]:
    """A successor that was expected to win and clearly lost on new data is a pitfall."""
    learned = []
    for item in settled:
        verdict = run.state.judging.verdicts[item.record.verdict].record
        pair = [
            run.state.theories.scores[name, item.record.experiment]
            for name in (verdict.candidate, verdict.incumbent)
        ]
        advantage = advantage_on(*(score.record for score in pair))
        if verdict.probability < 0.5 or advantage.value > 0 or is_tie(advantage):
            continue
        checked = run.state.theories.checked[verdict.candidate].record
        trigger = next(
            (
                known.record.location
                for known in run.state.theories.diagnoses
                if known.record.cycle == verdict.cycle
            ),
            "",
        )
        sources = tuple(
            known.digest
            for known in run.state.theories.diagnoses
            if known.record.cycle == verdict.cycle
        )
        rests_on = lasting(
            run.state, verdict.candidate, verdict.cycle, [item.record.verdict, item.digest]
        )
        evidence = (*rests_on, *(score.digest for score in pair))
        lesson = pitfall_from_overturned(
            run.config.domain,
            trigger,
            checked.change,
            verdict.probability,
            advantage.value,
            item.record.experiment,
            evidence,
            (
                item.record.verdict,
                *(seat.digest for _, seat in sorted(run.state.seats.held.items())),
            ),
        )
        learned.append(
            run.record(
                lesson, name="lesson", inputs=(*evidence, *sources), position={"cycle": cycle}
            )
        )
    return learned


@task(name="reflect")
async def reflect(run: Run, cycle: int) -> None:
    """Record the lessons of a cycle: plans that were followed, refused designs, failed checks."""
    domain, state = run.config.domain, run.state
    for lesson in (
        *_refused_designs(state, domain, cycle),
        *_refused_theories(state, domain, cycle),
    ):
        _learn(run, cycle, lesson)
    for looked in sorted(
        state.roles.investigated, key=lambda item: item.digest
    ):  # they end in any order
        if looked.record.cycle == cycle:
            _learn_of_role(run, cycle, looked)
    await write_lessons(run, cycle)


def _refused_designs(state: RunState, domain: str, cycle: int) -> Iterator[Pitfall]:
    """Pitfalls from a cycle's refused designs."""
    for item in state.experiments.designs.values():
        record = item.record
        if record.cycle == cycle and not record.accepted:
            names = ", ".join(state.theories.name(name) for name in record.rivals)
            requests = (
                f"ask {record.n_participants} people {record.n_trials} trials to tell them apart"
            )
            yield pitfall(
                domain,
                f"design {names}",
                requests,
                record.reason,
                (item.digest,),
            )


def _refused_theories(state: RunState, domain: str, cycle: int) -> Iterator[Pitfall]:
    """Pitfalls from a cycle's successors that failed their checks."""
    diagnoses = (item.record for item in state.theories.diagnoses)
    location = next((record.location for record in diagnoses if record.cycle == cycle), "")
    for checked in state.theories.refused:
        if checked.record.cycle == cycle and cycle:
            yield pitfall(
                domain,
                f"{location}; revise",
                checked.record.change or f"write {checked.record.name}",
                checked.record.reason,
                (checked.digest,),
            )


def _learn_of_role(run: Run, cycle: int, investigated: Recorded[MatterInvestigated]) -> None:
    """The plan of a conversation in which a model called tools, and how learned ones did in it."""
    looked = investigated.record
    study = study_of(run.config.name, run.config.seed)
    calls = [Recorded(run.trace.get(digest, ToolCalled), digest) for digest in looked.results]
    situation = f"{looked.task} {looked.subject}"
    plan = plan_of_calls(run.config.domain, study, situation, calls, run.trace.artifacts, TOOLS)
    if plan is not None:
        _learn(run, cycle, plan)
    drafts = library_in(run.evidence).drafts()
    used = [(call.record.tool, "", call.digest) for call in calls]
    failed = [found for text in looked.refused if (found := FAILED.match(text))]
    used += [(found[1], found[2], investigated.digest) for found in failed]
    for number, (tool, failure, cited) in enumerate(used):
        if tool in drafts:
            record = PlanUsed(
                signature=drafts[tool][1].signature,
                study=study,
                tool=tool,
                success=not failure,
                failure=failure,
                calls_saved=0.0 if failure else len(drafts[tool][1].steps) - 1.0,
                evidence=(cited,),
            )
            run.record(
                record, name="use plan", inputs=[cited], position={"cycle": cycle, "number": number}
            )


def _learn(run: Run, cycle: int, lesson: Pitfall | Plan) -> None:
    run.record(lesson, name="lesson", inputs=lesson.evidence, position={"cycle": cycle})


# --- across campaigns -----------------------------------------------------------------------------------------------

MOST_DRAFTS = 2
"""Maximum number of drafts in a campaign."""


@task(name="crystallise")
async def crystallise(run: Run) -> None:
    """Keep what a campaign learned, and have plans that recur often enough become tools."""
    assert run.state.campaign.concluded is not None
    leave_winners(run)
    if run.config.memory.arm == "tools":
        await make_tools(run)


async def make_tools(run: Run) -> None:
    """Draft and validate tools for plans that recur; withdraw those whose dependencies changed."""
    assert run.state.campaign.concluded is not None
    library, valid = library_in(run.evidence), validity_in(run.state)
    for name in library.drafts():
        changed = library.changed_dependency(name, TOOLS)
        if changed and library.standing(name, valid).status == "active":
            reason = f"{changed}, which it calls, is not the version it was validated with"
            gone = ToolWithdrawn(name=name, reason=reason, until_validated=True)
            run.record(
                gone,
                name="withdraw",
                inputs=[run.state.campaign.concluded.digest],
                position={"tool": name},
            )
    library = library_in(run.evidence)
    wanted = [*outdated(library, valid), *recurring(library, valid)]
    for signature in list(dict.fromkeys(wanted))[:MOST_DRAFTS]:
        plans = one_of_each_study(library.plans_with(signature, valid))
        if len(plans) >= LEAST_STUDIES:
            run.progress.note(f"a plan of {len(plans)} studies may become a tool")
            await _make(run, library, plans, signature)


def one_of_each_study(plans: Sequence[Plan]) -> list[Plan]:
    """One plan of each study: the newest whose values no other study's plan has, else the newest."""
    by_study: dict[str, list[Plan]] = {}
    for plan in reversed(plans):
        by_study.setdefault(plan.study, []).append(plan)
    chosen: dict[str, Plan] = {}
    taken: set[Digest] = set()
    # Studies with the fewest values choose first, so that the others still find one of their own.
    for study, own in sorted(by_study.items(), key=lambda item: len({*map(values_of, item[1])})):
        chosen[study] = next((plan for plan in own if values_of(plan) not in taken), own[0])
        taken.add(values_of(chosen[study]))
    return [chosen[study] for study in dict.fromkeys(plan.study for plan in plans)]


def values_of(plan: Plan) -> Digest:
    """Digest of the values with which a plan was followed."""
    return digest_of(list(canonical_form(plan.steps).values))


def outdated(library: Library, valid: Valid) -> list[Digest]:
    """Signatures whose tools were withdrawn as a dependency changed, and that no other tool or refusal came after."""
    found: dict[Digest, bool] = {}
    for name, (_, draft) in library.drafts().items():
        gone = (
            bool(library.changed_dependency(name, TOOLS))
            and library.n_refused(draft.signature) == 0
        )
        found[draft.signature] = found.get(draft.signature, True) and gone
    return [signature for signature, gone in found.items() if gone]


async def _make(run: Run, library: Library, plans: Sequence[Plan], signature: Digest) -> None:
    assert run.state.campaign.concluded is not None
    inputs: list[Digest] = [run.state.campaign.concluded.digest]
    position: dict[str, int | str] = {"signature": signature}
    known = recorded_calls(run.folder.parent, plans)
    if any(digest not in known for plan in plans for digest in plan.evidence):
        run.progress.note(
            "it stays text: calls behind it are no longer in the traces beside this run"
        )
        return
    try:
        draft = draft_tool(plans[-1], TOOLS, sorted(library.drafts()))
    except ToolRejectedError as error:
        run.progress.note(str(error))
        refused = ToolRefused(signature=signature, rung=error.rung, reason=str(error))
        run.record(refused, name="refuse tool", inputs=inputs, position=position)
        return
    drafted = run.record(draft, name="draft tool", inputs=inputs, position=position)

    def work(context: StepContext) -> ToolTried:
        return tried(drafted, plans, caller_of(known))

    done = await run.step(
        "try tool", work, returns=ToolTried, inputs=[drafted.digest], position=position
    )
    settle_tool(run, done, signature)


def tried(drafted: Recorded[ToolDraft], plans: Sequence[Plan], call: Call) -> ToolTried:
    """Record what came of trying a drafted tool on recorded plans."""
    found = ToolTried(
        draft=drafted.digest,
        name=drafted.record.name,
        passed=(),
        rung="",
        reason="",
        studies=tuple(plan.study for plan in plans),
    )
    try:
        made = validate_tool(drafted.record, plans, TOOLS, call)
    except ToolRejectedError as error:
        return found.model_copy(update={"rung": error.rung, "reason": str(error)})
    return found.model_copy(update={"passed": made.passed})


def settle_tool(run: Run, done: Recorded[ToolTried], signature: Digest) -> None:
    """Offer what passed; remember what did not."""
    record = done.record
    if record.rung == WAITING:
        run.progress.note(f"a draft waits for further studies: {record.reason}")
        return
    settled = (
        f"is a tool from now on: {record.name}"
        if record.passed
        else f"was refused: {record.reason}"
    )
    run.progress.note(f"a draft {settled}")
    run.record(outcome_of(record, signature), name="settle tool", inputs=[done.digest])


def outcome_of(tried: ToolTried, signature: Digest) -> ToolValidated | ToolRefused:
    """The record of a validation for the library."""
    if tried.passed:
        return ToolValidated(draft=tried.draft, name=tried.name, passed=tried.passed)
    return ToolRefused(signature=signature, rung=tried.rung, reason=tried.reason)


def caller_of(known: Mapping[Digest, tuple[str, Any, Any]]) -> Call:
    """Answers calls as they were answered when they were recorded: what a draft is tried on is what was done."""
    answers = {
        canonical_json([tool, arguments]): value for tool, arguments, value in known.values()
    }

    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        key = canonical_json([name, dict(arguments)])
        if key not in answers:
            raise ToolError(f"no study made this call of {name}, so that its result is unknown.")
        return answers[key]

    return call
