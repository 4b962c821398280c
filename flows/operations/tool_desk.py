"""What people do with learned tools outside a campaign: look, validate again, retire, and call.

All of it is on record in a trace of its own, the desk, which is part of what the library is rebuilt from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakatos.flows.roles.remember import desk_path, keep_library, rebuild_library, recorded_calls
from lakatos.flows.roles.tools import BENCH_DRAWS
from lakatos.flows.run.evidence import theory_of, trials_in
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.run.task import domain_of
from lakatos.flows.stages.consolidate import (
    caller_of,
    one_of_each_study,
    outcome_of,
    tried,
    values_of,
)
from lakatos.language_models.errors import ToolError
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.errors import ToolFailedError, ToolRejectedError, ToolUnavailableError
from lakatos.memory.item import PlanUsed, ToolRefused, ToolValidated, ToolWithdrawn
from lakatos.memory.library import Library
from lakatos.memory.plan import plan_text
from lakatos.memory.recall import LexicalRecall
from lakatos.memory.record import ToolTried
from lakatos.memory.signature import canonical_form, follow_form
from lakatos.memory.tool import (
    LEAST_STUDIES,
    ToolDraft,
    draft_tool,
    run_tool,
    with_arguments,
)
from lakatos.memory.tools import TOOLS
from lakatos.memory.tools.laboratory import caller_on
from lakatos.theories.discovery.bench import ArtifactShelf, TheoryBench
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.errors import ArtifactError
from lakatos.traces.record import Record
from lakatos.traces.step import JOURNAL_FILE, Recorded, Trace


def open_desk(runs: Path) -> Trace:
    """The desk's trace of a folder of runs, begun where there is none."""
    folder = desk_path(runs)
    if (folder / JOURNAL_FILE).exists():
        return Trace.open(folder, RECORD_TYPES)
    folder.mkdir(parents=True, exist_ok=True)
    return Trace.create(folder, seed=0, types=RECORD_TYPES, meta={"desk": True})


def write_down(
    desk: Trace, record: Record, name: str, inputs: Sequence[Digest] = ()
) -> Recorded[Any]:
    """A record of its own, however often the same is done."""
    return desk.record(record, name=name, inputs=inputs, position={"number": desk.journal.head[0]})


def known_tool(library: Library, name: str) -> tuple[Digest, ToolDraft]:
    """A learned tool by its name or the beginning of it.

    Raises:
        ToolUnavailableError: None, or more than one, is called so.
    """
    drafts = library.drafts()
    found = [known for known in drafts if known == name] or [
        known for known in drafts if known.startswith(name)
    ]
    if len(found) != 1:
        raise ToolUnavailableError(
            f"{len(found)} learned tools are called {name[:80]!r}; there are: {', '.join(drafts) or 'none'}. "
            "`lakatos tools list` lists them."
        )
    return drafts[found[0]]


def retire_tool(runs: Path, name: str, reason: str) -> ToolWithdrawn:
    """Take a tool from the offers; its record stays, and validating it again brings it back."""
    _, draft = known_tool(rebuild_library(runs), name)
    record = ToolWithdrawn(name=draft.name, reason=reason, until_validated=False)
    with open_desk(runs) as desk:
        write_down(desk, record, "retire tool")
    keep_library(runs)
    return record


def validate_again(runs: Path, name: str) -> ToolValidated | ToolRefused:
    """Have a tool climb the ladder once more, on the recorded calls of its studies; compiled anew where it has to be.

    Raises:
        ToolRejectedError: There are no recorded calls to try it on.
    """
    library = rebuild_library(runs)
    digest, draft = known_tool(library, name)
    plans = one_of_each_study(library.plans_with(draft.signature))
    known = recorded_calls(runs, plans)
    plans = [
        plan for plan in plans if any(known.get(item, ("",))[0] in TOOLS for item in plan.evidence)
    ]
    n_found = min(len(plans), len(set(map(values_of, plans))))
    if n_found < LEAST_STUDIES:
        raise ToolRejectedError(
            f"{draft.name} cannot be validated again: {n_found} studies beside this library hold recorded calls of "
            f"its plan with values of their own, and {LEAST_STUDIES} are needed. Its plan stays text.",
            "studies",
        )
    fresh = draft_tool(plans[-1], TOOLS, sorted(library.drafts()))
    same = (fresh.steps, fresh.dependencies) == (draft.steps, draft.dependencies)
    with open_desk(runs) as desk:
        drafted = Recorded(draft, digest)
        if not same:
            drafted = write_down(desk, fresh, "draft tool")
        found: ToolTried = tried(drafted, plans, caller_of(known))
        done = write_down(desk, found, "try tool")
        outcome = outcome_of(found, draft.signature)
        write_down(desk, outcome, "settle tool", [done.digest])
    keep_library(runs)
    return outcome


@dataclass(frozen=True)
class JoinedShelves:
    """Keeps what is new on one shelf and finds what is on any."""

    own: ArtifactShelf
    others: tuple[ArtifactStore, ...]

    def put_json(self, value: object) -> Digest:
        """Keep a value; its digest."""
        return self.own.put_json(value)

    def get_json(self, digest: Digest) -> Any:
        """A value that was kept."""
        for shelf in self.others:
            try:
                return shelf.get_json(digest)
            except ArtifactError:
                continue
        return self.own.get_json(digest)


def run_by_hand(runs: Path, folder: Path, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool of the table, learned or not, on a run's theories and answers; the call is on record at the desk.

    Raises:
        ToolError: It cannot be done.
        ToolUnavailableError: There is no such tool, or it is not on offer.
    """
    library = rebuild_library(runs)
    state, trace = read_state(folder)
    assert state.campaign.config is not None
    with (
        trace,
        Laboratory(domain_of(state.campaign.config), 1) as laboratory,
        open_desk(runs) as desk,
    ):
        bench = TheoryBench(
            laboratory,
            {
                digest: theory_of(trace.artifacts, state, digest)
                for digest in state.theories.checked
            },
            {
                experiment: trials_in(trace.artifacts, state, experiment)
                for experiment in state.experiments.collected
            },
            JoinedShelves(desk.artifacts, (trace.artifacts,)),
            state.campaign.config.space,
            state.campaign.config.seed,
            min(state.campaign.config.theories.draws, BENCH_DRAWS),
        )
        call = caller_on(bench, LexicalRecall(library))
        if name in TOOLS:
            given: Mapping[str, Any] = arguments
            value, reason = None, ""
            try:
                value = call(name, arguments)
            except ToolError as error:
                reason = str(error)
            _called(desk, name, given, value, reason)
            if reason:
                raise ToolError(reason)
            return value
        return _use_by_hand(runs, library, desk, name, arguments, call, f"by hand on {folder.name}")


def _use_by_hand(
    runs: Path,
    library: Library,
    desk: Trace,
    name: str,
    arguments: Mapping[str, Any],
    call: Any,
    study: str,
) -> Any:
    _, draft = known_tool(library, name)
    standing = library.standing(draft.name)
    plans = library.plans_with(draft.signature)
    if standing.status != "active" or not plans:
        reason = standing.reason if plans else "no study that followed its plan counts any more"
        raise ToolUnavailableError(
            f"{draft.name} is not on offer: {reason}. Follow its plan instead, or "
            f"`lakatos tools validate {draft.name}`."
        )
    if changed := library.changed_dependency(draft.name, TOOLS):
        raise ToolUnavailableError(
            f"{draft.name} calls {changed}, which is not the version that it was validated with; "
            f"`lakatos tools validate {draft.name}` tries it again. Until then follow its plan."
        )
    plan = with_arguments(draft, canonical_form(plans[-1].steps), arguments)
    used = PlanUsed(
        signature=draft.signature, study=study, tool=draft.name, success=True, evidence=()
    )
    try:
        value = run_tool(draft, plan, call)
    except ToolFailedError as error:
        used = used.model_copy(update={"success": False, "failure": error.kind})
        value = follow_form(plan.operations, plan.values, call)
    called = _called(desk, draft.name, arguments, value, "")
    write_down(
        desk, used.model_copy(update={"evidence": (called.digest,)}), "use plan", [called.digest]
    )
    keep_library(runs)
    return value


def _called(
    desk: Trace, name: str, arguments: Mapping[str, Any], value: Any, reason: str
) -> Recorded[ToolCalled]:
    record = ToolCalled(
        tool=name,
        arguments=desk.artifacts.put_json(dict(arguments)),
        outcome="failed" if reason else "returned",
        value=desk.artifacts.put_json(value),
        reason=reason,
    )
    found: Recorded[ToolCalled] = write_down(desk, record, "tool call")
    return found


def tool_page(library: Library, name: str) -> str:
    """A learned tool on one page: what it does, its tests, the evidence for it, and its use."""
    digest, draft = known_tool(library, name)
    standing = library.standing(draft.name)
    validated = [item for _, item in library.all(ToolValidated) if item.name == draft.name]
    plans = library.plans_with(draft.signature)
    changed = library.changed_dependency(draft.name, TOOLS)
    parameters = [f"  {item.name}: {item.kind}" for item in draft.parameters]
    stale = f"Not on offer: {changed}, which it calls, is not the version it was validated with."
    lines = [
        f"# {draft.name}",
        f"{standing.status}: {standing.reason}.",
        *([stale] if changed else []),
        "",
        "## What it does in place of",
        draft.plan_text,
        "",
        "## Arguments",
        *(parameters or ["  none"]),
        f"Effects: {', '.join(draft.effects)}.",
        f"Calls: {', '.join(f'{called} ({version[:8]})' for called, version in draft.dependencies)}.",
        "",
        "## Tests that it passed",
        *(f"- {line}" for line in (validated[-1].passed if validated else ())),
        "",
        "## Evidence",
        f"Made by {draft.author}, draft {digest[:10]}; the plan was followed in "
        f"{len({plan.study for plan in plans})} studies.",
        *(
            f"- {plan.study} ({plan.domain}): {len(plan.evidence)} recorded calls"
            for plan in one_of_each_study(plans)[:12]
        ),
        "",
        "## Use",
        *_lines_on_use(library, draft),
        "",
        "## The last plan that it was read off",
        plan_text(plans[-1]) if plans else "none",
        "",
    ]
    return "\n".join(lines)


def _lines_on_use(library: Library, draft: ToolDraft) -> list[str]:
    """How often the tool was used, and its plan as text, and with what success."""
    used = [item for _, item in library.all(PlanUsed)]
    uses = [item for item in used if item.tool == draft.name]
    text = [item for item in used if item.signature == draft.signature and not item.tool]
    return [
        f"{len(uses)} uses by the tool, {sum(item.success for item in uses)} of them succeeded; "
        f"{sum(item.calls_saved for item in uses):g} calls saved.",
        f"The text plan itself: {len(text)} uses, {sum(item.success for item in text)} succeeded.",
        *(f"- failed ({item.failure}) in {item.study}" for item in uses if not item.success),
    ]
