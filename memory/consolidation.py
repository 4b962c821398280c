"""Lessons of a cycle: pitfalls and plans from the trace, and plans that recur often enough to become tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.errors import LessonError
from lakatos.memory.library import Library, Pitfall, Valid, always
from lakatos.memory.plan import Called, Plan, make_plan
from lakatos.memory.signature import canonical_form
from lakatos.memory.tool import LEAST_CALLS, LEAST_STUDIES
from lakatos.memory.verb import LaboratoryVerb
from lakatos.theories.discovery.bench import ArtifactShelf
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.errors import ArtifactError
from lakatos.traces.step import Recorded

MOST_TOOLS: Final = 32
"""Active at once."""


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
    return make_plan(domain, study, situation, made, verbs, tuple(evidence))


def recurring(library: Library, valid: Valid = always) -> list[Digest]:
    """Signatures of plans that may become tools, those of most studies first.

    A plan must have at least `LEAST_CALLS` calls and have been followed in `LEAST_STUDIES` studies with as many
    different values. A plan that has a tool, was refused before, or rests on a fact that another contradicts stays
    text.

    Args:
        library: All that was learned.
        valid: Whether a record still holds.
    """
    standings = {
        draft.signature: library.standing(name, valid)
        for name, (_, draft) in library.drafts().items()
    }
    if sum(standing.status != "retired" for standing in standings.values()) >= MOST_TOOLS:
        return []
    disputed = {digest for pair in library.contradictions() for digest in pair}
    counts: dict[Digest, int] = {}
    for signature, all_plans in library.plans_by_signature(valid).items():
        plans = [plan for plan in all_plans if len(plan.steps) >= LEAST_CALLS]
        values = {digest_of(list(canonical_form(plan.steps).values)) for plan in plans}
        counts[signature] = min(len({plan.study for plan in plans}), len(values))
        contradicted = any(disputed & set(plan.evidence) for plan in plans)
        if signature in standings or library.n_refused(signature) or contradicted:
            del counts[signature]
    found = [signature for signature, count in counts.items() if count >= LEAST_STUDIES]
    return sorted(found, key=lambda signature: (-counts[signature], signature))
