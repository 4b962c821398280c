"""Stage: the grammar's advocate asks the laboratory before an experiment is designed and before theories are revised.

An inquiry is a plan of calls of laboratory tools. It is followed from text, each call a step, or by the learned tool
that was made of it, where one is on offer; a tool that fails hands back what was done, and the text goes on from there.
What an inquiry has brought so far decides whether it is made again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakatos.experiments.task import Stimuli, with_random_sides
from lakatos.flows.roles.remember import library_in, offers_in, recall_in, study_of, validity_in
from lakatos.flows.roles.tools import bench_of
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.study import CampaignConfig
from lakatos.language_models.errors import ToolError
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.errors import PlanError, ToolFailedError
from lakatos.memory.item import PlanUsed
from lakatos.memory.library import Library, Valid, weight_of
from lakatos.memory.plan import Plan, PlanStep, StepArgument, fill
from lakatos.memory.record import InquiryMade
from lakatos.memory.signature import PlanForm, canonical_form
from lakatos.memory.tool import ToolDraft, run_tool
from lakatos.memory.tools import TOOLS
from lakatos.memory.tools.laboratory import caller_on
from lakatos.theories.discovery.rivals import leading_rivals
from lakatos.theories.discovery.roles.record import TrialsProposed
from lakatos.theories.engine.record import Diagnosis
from lakatos.traces.digest import Digest, canonical_json
from lakatos.traces.step import Recorded, StepContext

SOUND_OUT = "sound out"
"""Search trials for the leader against its nearest rivals, and find out with which power these recover the true one."""
EXAMINE = "examine"
"""What the leader gets wrong in people's answers and not in answers of its own simulated people."""
NEAREST = 2
"""Rivals of the leader that an experiment is sounded out for."""
MORE_CANDIDATES = 4
"""Times as many trials as the design looks at."""
SIMULATIONS, REPLICAS = 100, 100
WORTH_ASKING = 0.1
"""Share of inquiries that must have brought something, as a posterior mean, for one more to be made."""
LOOKED_BACK = 20
"""Inquiries by which that is judged."""


def step(tool: str, **arguments: Any) -> PlanStep:
    """One call of an inquiry's plan; ``{"step": 0, "place": [...]}`` stands for a part of an earlier result."""
    verb = TOOLS[tool]
    given = {**verb.arguments.model_construct().model_dump(mode="json"), **arguments}
    kinds = verb.kinds()
    made = tuple(
        StepArgument(name=name, kind=kinds[name], value=given[name]) for name in sorted(given)
    )
    return PlanStep(tool=tool, arguments=made, reading=verb.reading)


def sounding(config: CampaignConfig, names: Sequence[Digest]) -> list[PlanStep]:
    """Write the plan of `SOUND_OUT`: search trials for the leader against near rivals."""
    settings = config.design
    steps: list[PlanStep] = []
    for rival in names[1 : 1 + NEAREST]:
        pair = [names[0], rival]
        place = len(steps)
        people = settings.participants or settings.most_participants
        steps += [
            step(
                "search_design",
                theories=pair,
                n_trials=settings.trials,
                n_people=people,
                repetitions=settings.repetitions,
                n_candidates=min(MORE_CANDIDATES * settings.candidates, 4096),
                random_share=0.0,
            ),
            step(
                "recover",
                theories=pair,
                design={"step": place, "place": ["design"]},
                n_simulations=SIMULATIONS,
            ),
        ]
    return steps


def examining(evidence: RunEvidence, leader: Digest) -> list[PlanStep]:
    """Write the plan of `EXAMINE`: look where the leader's predictions fail."""
    experiments = list(evidence.state.experiments.collected)
    n_people = max(evidence.trials(experiments[-1]).n_participants, 16)
    simulated = {"step": 0, "place": ["answers"]}
    return [
        step("simulate", theory=leader, design=experiments[-1], n_people=min(n_people, 256)),
        step("analyse_residuals", theory=leader, experiments=[simulated], n_replicas=REPLICAS),
        step(
            "analyse_residuals", theory=leader, experiments=experiments[-32:], n_replicas=REPLICAS
        ),
    ]


@task(name="sound out")
async def sound_out(run: Run, cycle: int, number: int) -> None:
    """Propose trials for the experiment, where simulation bears them out; see `lakatos.flows.stages.propose_trials`."""
    if not run.config.memory.inquiries:
        return
    if run.domain.sequential or run.config.source.is_archive:
        return
    names = leading_rivals(run.evidence)
    if any(run.theory(name).learns for name in names):
        return
    run.progress.stage(cycle, "sound out", f"experiment {number}")
    inputs = [run.state.theories.pool[name].digest for name in names]
    inputs += run.state.theories.score_records(names, run.state.experiments.collected)
    found = await inquire(run, cycle, number, SOUND_OUT, sounding(run.config, names), inputs)
    if found is None:
        return
    for rival, place in zip(names[1 : 1 + NEAREST], range(0, len(found.results), 2), strict=False):
        await _propose(run, cycle, number, (names[0], rival), found, place)


async def _propose(
    run: Run,
    cycle: int,
    number: int,
    pair: tuple[Digest, Digest],
    found: InquiryResults,
    place: int,
) -> Recorded[TrialsProposed]:
    """The trials of one searched design, if they have power."""
    searched, recovered = found.results[place], found.results[place + 1]
    powers = {item["true"]: item["power"] for item in recovered["pairs"]}
    required = run.config.design.power
    passed = min(powers.values()) >= required

    def work(context: StepContext) -> TrialsProposed:
        design = context.artifacts.get_json(searched["design"])
        stimuli = Stimuli.from_json(design["stimuli"])
        return TrialsProposed(
            cycle=cycle,
            number=number,
            theory=pair[0],
            rival=pair[1],
            trials=context.artifacts.put_json(
                with_random_sides(run.domain, stimuli, context.rng).to_json()
            ),
            n_trials=len(stimuli),
            power=powers[pair[0]],
            power_of_rival=powers[pair[1]],
            passed=passed,
            reason=""
            if passed
            else f"the weaker power is {min(powers.values()):.2f}; {required:g} is required",
        )

    position: dict[str, int | str] = {"cycle": cycle, "number": number, "rival": pair[1]}
    return await run.step(
        "sound trials", work, returns=TrialsProposed, inputs=[found.made.digest], position=position
    )


@task(name="examine")
async def examine_leader(
    run: Run, cycle: int, diagnosis: Recorded[Diagnosis]
) -> Recorded[InquiryMade] | None:
    """Mechanisms that answer what the leader gets wrong, though its own simulated people do not show it."""
    if not run.config.memory.inquiries:
        return None
    run.progress.stage(cycle, "examine", run.state.theories.name(diagnosis.record.leader))
    inputs = [diagnosis.digest, *(item.digest for item in run.state.experiments.collected.values())]
    found = await inquire(
        run, cycle, 0, EXAMINE, examining(run.evidence, diagnosis.record.leader), inputs
    )
    return None if found is None else found.made


@dataclass(frozen=True)
class InquiryResults:
    """What an inquiry brought: its record, and the result of each call."""

    made: Recorded[InquiryMade]
    results: list[Any]
    """By step of its plan."""


async def inquire(
    run: Run,
    cycle: int,
    number: int,
    name: str,
    steps: Sequence[PlanStep],
    inputs: Sequence[Digest],
) -> InquiryResults | None:
    """Follow a plan, by a learned tool where one is on offer, and write down what came of it.

    Returns:
        None where it was not made, or not to the end.
    """
    form = canonical_form(steps)
    position: dict[str, int | str] = {"cycle": cycle, "number": number, "inquiry": name}
    made = InquiryMade(
        cycle=cycle,
        number=number,
        name=name,
        signature=form.digest,
        tool="",
        calls=(),
        complete=False,
        reason="",
    )
    n_made, n_paid = record_of(library_in(run.evidence), form, validity_in(run.state))
    if run.config.memory.arm != "none" and (1 + n_paid) / (2 + n_made) < WORTH_ASKING:
        reason = f"of the last {n_made} such inquiries {n_paid:g} brought something"
        run.record(
            made.model_copy(update={"reason": reason}),
            name="inquire",
            inputs=inputs,
            position=position,
        )
        return None
    calls = InquiryCalls(run, position, tuple(inputs))
    results, tool, problem = await follow(run, form, steps, calls)
    made = made.model_copy(
        update={
            "tool": tool,
            "calls": tuple(calls.made),
            "plan": run.trace.artifacts.put_json([item.model_dump(mode="json") for item in steps]),
            "complete": not problem,
            "reason": problem,
            "remedies": () if problem or name != EXAMINE else _remedies(results),
        }
    )
    kept = run.record(made, name="inquire", inputs=[*inputs, *calls.made], position=position)
    return None if problem else InquiryResults(kept, results)


def _remedies(results: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What answers misfits to people's answers that the theory's own people do not show."""
    own = {item["feature"] for item in results[1]["findings"]}
    real = [item for item in results[2]["findings"] if item["feature"] not in own]
    return tuple(dict.fromkeys(remedy for item in real for remedy in item["remedies"]))


def record_of(library: Library, form: PlanForm, valid: Valid) -> tuple[int, float]:
    """How often a plan was followed lately, and how often it brought something; what is in doubt counts half."""
    counts = library.counting(valid)
    known = [
        weight_of(digest, plan, counts) if plan.justified_by else 0.0
        for digest, plan in library.all(Plan)
        if digest not in library.hidden and canonical_form(plan.steps).digest == form.digest
    ][-LOOKED_BACK:]
    return len(known), sum(known)


# --- following a plan -----------------------------------------------------------------------------------------------


class InquiryCalls:
    """Calls of one inquiry, each a step; what was computed in this pass is not computed twice."""

    def __init__(
        self, run: Run, position: dict[str, int | str], inputs: tuple[Digest, ...]
    ) -> None:
        """Prepare calls of the laboratory's verbs; none is made yet."""
        self.run, self.position, self.inputs = run, position, inputs
        self.made: list[Digest] = []
        self._known: dict[bytes, Any] = {}
        self._call = caller_on(bench_of(run.evidence), recall_in(run.evidence))

    def compute(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """The value of a call, computed once."""
        key = canonical_json([name, dict(arguments)])
        if key not in self._known:
            self._known[key] = self._call(name, arguments)
        return self._known[key]

    async def make(self, name: str, arguments: Mapping[str, Any]) -> ToolCalled:
        """A call as a step."""

        def work(context: StepContext) -> ToolCalled:
            try:
                value, reason = self.compute(name, arguments), ""
            except ToolError as error:
                value, reason = None, str(error)
            return ToolCalled(
                tool=name,
                arguments=context.artifacts.put_json(dict(arguments)),
                outcome="failed" if reason else "returned",
                value=context.artifacts.put_json(value),
                reason=reason,
            )

        return (await self._step(work, name)).record

    async def use(self, draft: ToolDraft, form: PlanForm) -> Recorded[ToolCalled]:
        """A learned tool's use as a step; what it calls is part of it."""

        def work(context: StepContext) -> ToolCalled:
            value, reason = None, ""
            try:
                value = run_tool(draft, form, self.compute)
            except ToolFailedError as error:
                reason = f"{error.kind}: {error}"
            return ToolCalled(
                tool=draft.name,
                arguments=context.artifacts.put_json(list(form.values)),
                outcome="failed" if reason else "returned",
                value=context.artifacts.put_json(value),
                reason=reason,
            )

        return await self._step(work, draft.name)

    async def _step(self, work: Any, tool: str) -> Recorded[ToolCalled]:
        position = {**self.position, "call": len(self.made), "tool": tool}
        done = await self.run.step(
            "tool call", work, returns=ToolCalled, inputs=self.inputs, position=position
        )
        self.made.append(done.digest)
        return done

    def value(self, call: ToolCalled) -> Any:
        """Read what a call returned."""
        return self.run.trace.artifacts.get_json(call.value)


async def follow(
    run: Run, form: PlanForm, steps: Sequence[PlanStep], calls: InquiryCalls
) -> tuple[list[Any], str, str]:
    """Results by step, the learned tool that gave them, and why there are none.

    A tool that was to call something else than the plan says is not used again, and the text goes on.
    """
    offered = next(
        (item for item in offers_in(run.evidence).values() if item[0].signature == form.digest),
        None,
    )
    if offered is None:
        results, problem = await _follow_text(steps, calls)
        if run.config.memory.arm == "tools":
            used = PlanUsed(
                signature=form.digest, study=_study(run.config), success=not problem, evidence=()
            )
            _note_use(run, calls, used)
        return results, "", problem
    draft, _ = offered
    done = await calls.use(draft, form)
    worked = done.record.outcome == "returned"
    results, problem = [], ""
    if worked:
        results = _by_step(form, calls.value(done.record), len(steps))
    else:
        run.progress.note(f"the text plan goes on: {done.record.reason}")
        results, problem = await _follow_text(steps, calls)
    used = PlanUsed(
        signature=form.digest,
        study=_study(run.config),
        tool=draft.name,
        success=worked,
        failure="" if worked else done.record.reason.partition(":")[0],
        calls_saved=float(len(steps) - 1) if worked else 0.0,
        evidence=(),
    )
    _note_use(run, calls, used)
    return results, draft.name if worked else "", problem


def _study(config: CampaignConfig) -> str:
    return study_of(config.name, config.seed)


def _note_use(run: Run, calls: InquiryCalls, used: PlanUsed) -> None:
    evidence = tuple(calls.made)
    run.record(
        used.model_copy(update={"evidence": evidence}),
        name="use plan",
        inputs=evidence,
        position=calls.position,
    )


async def _follow_text(steps: Sequence[PlanStep], calls: InquiryCalls) -> tuple[list[Any], str]:
    results: list[Any] = []
    for item in steps:
        try:
            arguments = {
                argument.name: fill(argument.value, results) for argument in item.arguments
            }
        except PlanError as error:
            return results, str(error)
        done = await calls.make(item.tool, arguments)
        if done.outcome != "returned":
            return results, done.reason
        results.append(calls.value(done))
    return results, ""


def _by_step(form: PlanForm, lines: Sequence[Any], n_steps: int) -> list[Any]:
    """Results of a form's operations in the order of the plan's own steps."""
    results: list[Any] = [None] * n_steps
    for operation, line in zip(form.operations, lines, strict=True):
        for place, number in enumerate(operation.steps):
            results[number] = line[place] if operation.repeated else line
    return results
