"""What the codifier may see, and what it makes: types that have no path to a trajectory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.pins import Effect
from lakatos.memory.errors import CodifierError
from lakatos.memory.plan import Plan
from lakatos.memory.signature import PLAIN, PlanForm, PlanHole, PlanOperation, canonical_form
from lakatos.memory.verb import LaboratoryVerb, kinds_of
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record


class ToolSignature(FrozenPart):
    """A tool that may be called, as a codifier is told of it."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    """Name and kind of each."""
    results: tuple[str, ...]
    """Names of what it gives."""
    effects: tuple[Effect, ...]
    digest: Digest
    """Of its version."""


class PlanParameter(FrozenPart):
    """Something that varies between the studies that a plan recurred in."""

    name: str
    kind: str
    default: int | float | bool | None = None
    """Where it did not vary; only of plain numbers, since texts could carry what somebody said."""


class PlanQuery(FrozenPart):
    """What a plan was given in one study, cleaned: values by parameter, nothing that came back."""

    domain: str
    study: str
    values: tuple[JsonValue, ...]
    """``(n_holes,)``."""


@dataclass(frozen=True)
class PlanBundle:
    """All that a codifier sees."""

    signature: Digest
    plan_text: str
    """Canonical: holes, no values."""
    operations: tuple[PlanOperation, ...]
    """The same, read."""
    holes: tuple[PlanHole, ...]
    queries: tuple[PlanQuery, ...]
    tools: tuple[ToolSignature, ...]
    """Those that it may call."""
    existing: tuple[str, ...]
    """Names that are taken."""


class ToolDraft(Record):
    """A function that a codifier wrote; nothing runs it but validation."""

    kind: Literal["tool_drafted"] = "tool_drafted"
    version: Literal[1] = 1
    name: str
    signature: Fingerprint
    """Of the plan that it stands for."""
    plan_text: str
    source: str
    parameters: tuple[PlanParameter, ...]
    effects: tuple[Effect, ...]
    dependencies: tuple[tuple[str, str], ...]
    """Tools that it calls, with the digest of the version that it was written for."""
    failures: tuple[str, ...] = ("call", "postcondition", "program", "limit")
    """How it can fail; see `memory.errors.ToolFailedError`."""
    author: str = "codifier"
    self_test: tuple[JsonValue, ...] = ()
    """``(n_parameters,)`` arguments of a query that it was made from."""


def plan_in_short(plan_text: str) -> str:
    """The tools that a canonical plan calls, in its order, those that are repeated with a plus."""
    return ", then ".join(
        line.partition(" ")[2].partition("(")[0] for line in plan_text.splitlines()
    )


def query_of(plan: Plan, form: PlanForm) -> PlanQuery:
    """What a plan was given: names and numbers. Free text is left out, as it may repeat what came back."""
    kinds = [hole.kind.removeprefix("each ").rstrip("*?") for hole in form.holes]
    values = tuple(
        "" if kind in ("str", "Any") else value
        for kind, value in zip(kinds, form.values, strict=True)
    )
    return PlanQuery(domain=plan.domain, study=plan.study, values=values)


def signature_of(verb: LaboratoryVerb) -> ToolSignature:
    """A verb as a codifier is told of it."""
    return ToolSignature(
        name=verb.name,
        arguments=tuple(sorted(kinds_of(verb.arguments).items())),
        results=tuple(sorted(verb.returns.model_fields)),
        effects=tuple(sorted(verb.effects)),
        digest=verb.digest,
    )


def bundle_of(
    plans: Sequence[Plan], verbs: Mapping[str, LaboratoryVerb], existing: Sequence[str] = ()
) -> PlanBundle:
    """What a codifier may see of plans with one signature.

    Raises:
        CodifierError: The plans have different signatures, or there are none.
    """
    forms = [canonical_form(plan.steps) for plan in plans]
    if len({form.digest for form in forms}) != 1:
        raise CodifierError(
            f"{len({form.digest for form in forms})} signatures were given to be compiled; give one."
        )
    called = sorted({item.tool for item in forms[0].operations})
    missing = [name for name in called if name not in verbs]
    if missing:
        raise CodifierError(
            f"the plan calls {', '.join(missing)}, which do not exist; it stays text."
        )
    return PlanBundle(
        signature=forms[0].digest,
        plan_text=forms[0].text,
        operations=forms[0].operations,
        holes=forms[0].holes,
        queries=tuple(query_of(plan, form) for plan, form in zip(plans, forms, strict=True)),
        tools=tuple(signature_of(verbs[name]) for name in called),
        existing=tuple(sorted(existing)),
    )


def parameters_of(
    holes: Sequence[PlanHole], queries: Sequence[PlanQuery]
) -> tuple[PlanParameter, ...]:
    """A parameter for each hole, named after the argument in which it first appears."""
    names: list[str] = []
    found = []
    for hole in holes:
        several = hole.kind.startswith("each ")
        base = f"each_{hole.argument}" if several else hole.argument
        name = base
        number = 2
        while name in names:
            name, number = f"{base}_{number}", number + 1
        names.append(name)
        values = [query.values[hole.number] for query in queries]
        same = all(value == values[0] and type(value) is type(values[0]) for value in values)
        plain = isinstance(values[0], int | float) and hole.kind in PLAIN
        found.append(
            PlanParameter(name=name, kind=hole.kind, default=values[0] if same and plain else None)
        )
    return tuple(found)
