"""A folder of runs that were never run: traces with recorded calls of the laboratory's verbs, and the plans behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakatos.flows.roles.remember import recorded_calls, study_of
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.stages.consolidate import caller_of, outcome_of, tried
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.consolidation import plan_of_calls
from lakatos.memory.library import Library
from lakatos.memory.plan import Plan, PlanStep, StepArgument, fill
from lakatos.memory.tool import ToolDraft, draft_tool
from lakatos.memory.tools import TOOLS
from lakatos.traces.digest import digest_of
from lakatos.traces.head import write_head
from lakatos.traces.step import Recorded, Trace

DOMAIN = "multiattribute"
SIMULATIONS = 100


def step(tool: str, **arguments: Any) -> PlanStep:
    """One call of a plan, with the verb's own values where none are given."""
    verb = TOOLS[tool]
    given = {**verb.arguments.model_construct().model_dump(mode="json"), **arguments}
    kinds = verb.kinds()
    made = tuple(
        StepArgument(name=name, kind=kinds[name], value=given[name]) for name in sorted(given)
    )
    return PlanStep(tool=tool, arguments=made, reading=verb.reading)


def pair_plan(first: str, second: str, third: str) -> list[Any]:
    """A plan: search trials that tell a leader from two rivals, and simulate how well they recover the true one."""
    steps: list[Any] = []
    for rival in (second, third):
        place = {"step": len(steps), "place": ["design"]}
        given = {
            "n_trials": 6,
            "n_people": 20,
            "repetitions": 2,
            "n_candidates": 100,
            "random_share": 0.0,
        }
        steps.append(step("search_design", theories=[first, rival], **given))
        steps.append(
            step("recover", theories=[first, rival], design=place, n_simulations=SIMULATIONS)
        )
    return steps


def answer(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Something that the verb could have answered."""
    if tool == "search_design":
        return {
            "design": digest_of(["design", arguments]),
            "information": 0.1,
            "trials": ["a trial"],
        }
    first, second = arguments["theories"]
    row = {"power": 0.9, "low": 0.8, "high": 0.95}
    return {
        "pairs": [{"true": first, "rival": second, **row}, {"true": second, "rival": first, **row}]
    }


def write_run(runs: Path, number: int) -> Plan:
    """The trace of one study that followed the plan, and what it left behind."""
    names = [digest_of(["theory", number, place]) for place in range(3)]
    with Trace.create(runs / f"run{number}", seed=number, types=RECORD_TYPES) as trace:
        results: list[Any] = []
        calls = []
        for place, item in enumerate(pair_plan(*names)):
            arguments = {
                argument.name: fill(argument.value, results) for argument in item.arguments
            }
            results.append(answer(item.tool, arguments))
            record = ToolCalled(
                tool=item.tool,
                arguments=trace.artifacts.put_json(arguments),
                outcome="returned",
                value=trace.artifacts.put_json(results[-1]),
                reason="",
            )
            calls.append(trace.record(record, name="tool call", position={"call": place}))
        plan = plan_of_calls(
            DOMAIN, study_of("study", number), "design, sound out", calls, trace.artifacts, TOOLS
        )
        assert plan is not None
        trace.record(plan, name="lesson", inputs=plan.evidence)
    write_head(runs / f"run{number}", begins=True)
    return plan


def write_tool(runs: Path, plans: list[Plan], change: Any = None) -> ToolDraft:
    """A run that made a tool of the plans; ``change`` is made to the draft after it was validated."""
    draft = draft_tool(plans[-1], TOOLS)
    calls = caller_of(recorded_calls(runs, plans))
    found = tried(Recorded(draft, digest_of("draft")), plans, calls)
    assert found.passed, found.reason
    draft = change(draft) if change else draft
    with Trace.create(runs / "run9", seed=9, types=RECORD_TYPES) as trace:
        drafted = trace.record(draft, name="draft tool")
        done = trace.record(found.model_copy(update={"draft": drafted.digest}), name="try tool")
        trace.record(
            outcome_of(done.record, draft.signature), name="settle tool", inputs=[done.digest]
        )
    write_head(runs / "run9", begins=True)
    return draft


def tool_in(library: Library) -> str:
    """Name of the one tool."""
    (name,) = library.drafts()
    return name
