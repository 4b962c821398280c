"""What follows a cycle: pitfalls and plans read off the trace, and drafts of tools where they pay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.codifier import compile_plan
from lakatos.memory.draft import PlanBundle, ToolDraft, bundle_of
from lakatos.memory.errors import CodifierError, LessonError, ToolRejectedError
from lakatos.memory.item import ToolRefused
from lakatos.memory.library import Library, Pitfall, Valid, always
from lakatos.memory.plan import Call, Called, Plan, make_plan
from lakatos.memory.recurrence import GateDecision, ToolEconomy, discount_of, expected_uses, gate
from lakatos.memory.runner import ToolSandbox
from lakatos.memory.validation import ValidatedTool, validate_tool
from lakatos.memory.verb import LaboratoryVerb
from lakatos.theories.bench import ArtifactShelf
from lakatos.traces.digest import Digest
from lakatos.traces.errors import ArtifactError
from lakatos.traces.step import Recorded


def pitfall(
    domain: str, trigger: str, mistake: str, consequence: str, evidence: tuple[Digest, ...]
) -> Pitfall:
    """A mistake that the records show: a design that was refused, a failed check, an overturned prediction.

    Raises:
        LessonError: Nothing supports it.
    """
    if not evidence:
        raise LessonError(
            f"the pitfall about {mistake!r} cites no record; give those that show it."
        )
    return Pitfall(
        domain=domain, trigger=trigger, mistake=mistake, consequence=consequence, evidence=evidence
    )


def plan_of_calls(
    domain: str,
    study: str,
    situation: str,
    calls: Sequence[Recorded[ToolCalled]],
    shelf: ArtifactShelf,
    verbs: Mapping[str, LaboratoryVerb],
    justified_by: tuple[Digest, ...] = (),
) -> Plan | None:
    """The plan behind the recorded calls of one conversation; None where none of them did anything.

    Calls that failed or were forbidden are no part of it, nor are those of tools that are no longer there.
    """
    made: list[Called] = []
    evidence: list[Digest] = []
    for item in calls:
        if item.record.outcome != "returned" or item.record.tool not in verbs:
            continue
        try:
            arguments, value = (
                shelf.get_json(item.record.arguments),
                shelf.get_json(item.record.value),
            )
        except ArtifactError:  # erased, as somebody withdrew
            continue
        made.append(Called(item.record.tool, arguments, value))
        evidence.append(item.digest)
    if not made:
        return None
    return make_plan(domain, study, situation, made, verbs, tuple(evidence), justified_by)


@dataclass(frozen=True)
class ToolProspect:
    """A plan that may become a tool."""

    signature: Digest
    decision: GateDecision


def prospects(
    library: Library,
    economy: Callable[[Plan], ToolEconomy],
    *,
    n_seen: int,
    horizon: int,
    valid: Valid = always,
) -> list[ToolProspect]:
    """What the gate says of every plan without a tool, the one expected to be used most first.

    Args:
        library: All that was learned.
        economy: What a tool for a plan costs and saves, for example in calls.
        n_seen: Studies so far.
        horizon: Studies in all, as far as anybody knows.
        valid: Whether a record still holds.
    """
    recurrences = library.recurrences(valid)
    counts = [item.count for item in recurrences.values()]
    discount = discount_of(counts.count(1), counts.count(2))
    standings = {
        draft.signature: library.standing(name, valid)
        for name, (_, draft) in library.drafts().items()
    }
    n_active = sum(standing.status != "retired" for standing in standings.values())
    disputed = {digest for pair in library.contradictions() for digest in pair}
    found = []
    for signature, recurrence in recurrences.items():
        if signature in standings and standings[signature].status != "retired":
            continue
        plans = library.plans_with(signature)
        decision = gate(
            recurrence,
            expected_uses(recurrence.count, n_seen, horizon, discount),
            economy(plans[0]),
            n_active=n_active,
            n_refused=library.n_refused(signature),
            contradicted=any(disputed & set(plan.evidence) for plan in plans),
        )
        found.append(ToolProspect(signature, decision))
    return sorted(found, key=lambda item: (-item.decision.expected_uses, item.signature))


def draft_tool(
    plans: Iterable[Plan],
    verbs: Mapping[str, LaboratoryVerb],
    call: Call,
    sandbox: ToolSandbox,
    *,
    existing: Sequence[str] = (),
    codify: Callable[[PlanBundle], ToolDraft] = compile_plan,
) -> ValidatedTool | ToolRefused:
    """Draft a tool from plans of one signature and have it climb the ladder.

    One plan of each study counts. With three studies or more the newest is held out from the codifier.

    Raises:
        CodifierError: The plans are of several signatures, or none.
    """
    by_study = {plan.study: plan for plan in plans}
    chosen = list(by_study.values())
    held_out = chosen.pop() if len(chosen) > 2 else None
    bundle = bundle_of(chosen, verbs, existing)
    try:
        return validate_tool(codify(bundle), chosen, held_out, verbs, call, sandbox)
    except CodifierError as error:
        return ToolRefused(signature=bundle.signature, rung="codifier", reason=str(error))
    except ToolRejectedError as error:
        return ToolRefused(signature=bundle.signature, rung=error.rung, reason=str(error))
