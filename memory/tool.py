"""Learned tools: plans that recur, with a typed signature, versioned and validated.

A tool holds no code. Its plan is followed call by call, and each call is compared, before it is made, with what the
plan that it stands for says must be called: the same name, the same arguments, in the same order. A difference ends the
use, the text plan goes on, and the tool is retired by that use.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NoReturn

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.errors import ToolError
from lakatos.language_models.pins import Effect
from lakatos.memory.errors import PlanError, ToolFailedError, ToolRejectedError
from lakatos.memory.item import PlanUsed
from lakatos.memory.plan import Call, Plan, PlanStep, follow_plan
from lakatos.memory.signature import PlanForm, canonical_form, form_calls, in_form
from lakatos.memory.verb import READING, LaboratoryVerb
from lakatos.traces.digest import Fingerprint, canonical_json
from lakatos.traces.record import Record

LEAST_STUDIES: Final = 3
"""Distinct studies, and distinct values, in which a plan must have been followed."""
LEAST_CALLS: Final = 2
"""Calls of a plan that may become a tool; one call is a tool already."""
WAITING: Final = "number of studies"
"""Check that a draft fails while too few studies are there to try it on, which says nothing against it."""
DIFFERENCE: Final = "difference"
"""Failure of a tool that was to call something else than its plan says."""
MOST_CALLS: Final = 256


class PlanParameter(FrozenPart):
    """Something that varies between the studies that a plan recurred in."""

    name: str
    kind: str


class ToolDraft(Record):
    """A plan that recurs, with a name and typed arguments, before validation."""

    kind: Literal["tool_drafted"] = "tool_drafted"
    version: Literal[2] = 2
    name: str
    signature: Fingerprint
    """Signature of the plan."""
    plan_text: str
    """Canonical text of the plan with open arguments."""
    steps: tuple[PlanStep, ...]
    """The plan as one study followed it."""
    parameters: tuple[PlanParameter, ...]
    effects: tuple[Effect, ...]
    dependencies: tuple[tuple[str, str], ...]
    """Tools that it calls, with the digest of the version for which it was made."""
    author: str = "laboratory"


@dataclass(frozen=True)
class ValidatedTool:
    """A draft that passed; made by `validate_tool` alone."""

    draft: ToolDraft
    passed: tuple[str, ...]
    """Properties that were proved, a sentence each."""


@dataclass(frozen=True)
class ToolStanding:
    """Standing of a tool; update it with `after`."""

    status: Literal["active", "suspended", "retired"] = "active"
    successes: int = 0
    failures: int = 0
    """Uses that what it calls refused, which is not its fault, and the one that retired it."""
    reason: str = "it was validated"

    @property
    def n_uses(self) -> int:
        """Number of uses that counted as success or failure."""
        return self.successes + self.failures


def after(standing: ToolStanding, use: PlanUsed) -> ToolStanding:
    """The standing after one more use: the first difference between a tool's calls and its plan retires it."""
    if standing.status == "retired" or use.failure == "outage":
        return standing
    now = replace(
        standing,
        successes=standing.successes + use.success,
        failures=standing.failures + (not use.success),
    )
    if use.failure != DIFFERENCE:
        return now
    return replace(now, status="retired", reason="it was to call something else than its plan says")


def plan_in_short(text: str) -> str:
    """The tools that a canonical plan calls, in its order, those that are repeated with a plus."""
    return ", then ".join(line.partition(" ")[2].partition("(")[0] for line in text.splitlines())


def draft_tool(
    plan: Plan, verbs: Mapping[str, LaboratoryVerb], existing: Sequence[str] = ()
) -> ToolDraft:
    """The tool of a plan: what varied becomes its arguments.

    Raises:
        ToolRejectedError: The plan calls what there is not, calls once only, or changes the world, so that it stays
            text.
    """
    form = canonical_form(plan.steps)
    if len(plan.steps) < LEAST_CALLS:
        _reject("contract", "the plan is one call, which is a tool already")
    called = sorted({item.tool for item in form.operations})
    if missing := [name for name in called if name not in verbs]:
        _reject("closure", f"the plan calls {', '.join(missing)}, and no verb gives that")
    effects = {effect for name in called for effect in verbs[name].effects}
    if changing := sorted(effects - READING):
        _reject(
            "contract",
            f"the plan {', '.join(changing)}; what changes the world is done step by step",
        )
    return ToolDraft(
        name=_name(form, existing),
        signature=form.digest,
        plan_text=form.text,
        steps=plan.steps,
        parameters=parameters_of(form),
        effects=tuple(sorted(effects)),
        dependencies=tuple((name, verbs[name].digest) for name in called),
    )


def parameters_of(form: PlanForm) -> tuple[PlanParameter, ...]:
    """A parameter for each hole, named after the argument in which it first appears."""
    names: list[str] = []
    for hole in form.holes:
        base = f"each_{hole.argument}" if hole.kind.startswith("each ") else hole.argument
        name, number = base, 2
        while name in names:
            name, number = f"{base}_{number}", number + 1
        names.append(name)
    return tuple(
        PlanParameter(name=name, kind=hole.kind)
        for name, hole in zip(names, form.holes, strict=True)
    )


def with_arguments(draft: ToolDraft, plan: PlanForm, arguments: Mapping[str, Any]) -> PlanForm:
    """The plan that a tool stands for, with the arguments of one use.

    Raises:
        PlanError: Arguments are missing, or there are others.
    """
    names = [item.name for item in draft.parameters]
    if missing := [name for name in names if name not in arguments]:
        raise PlanError(
            f"{draft.name} also needs {', '.join(missing)}; its arguments are {', '.join(names)}."
        )
    if unknown := sorted(set(arguments) - set(names)):
        raise PlanError(
            f"{draft.name} takes no {', '.join(unknown)}; its arguments are {', '.join(names)}."
        )
    return replace(plan, values=tuple(arguments[name] for name in names))


def validate_tool(
    draft: ToolDraft, plans: Sequence[Plan], verbs: Mapping[str, LaboratoryVerb], call: Call
) -> ValidatedTool:
    """Make a tool of a draft that gives in each study what that study's own plan gave.

    Args:
        draft: Made of one of the plans.
        plans: Plans with the draft's signature, one of each study, with different values.
        verbs: What there is to call.
        call: Answers calls as they were answered in the studies.

    Raises:
        ToolRejectedError: The first check that it fails, with the reason.
    """
    for name, version in draft.dependencies:
        if name not in verbs:
            _reject("closure", f"it calls {name}, and no verb gives that")
        if verbs[name].digest != version:
            _reject("closure", f"{name} is not the version that it was made for; draft it again")
        if not verbs[name].reading:
            _reject("contract", f"{name} changes the world, which is done step by step")
    forms = [canonical_form(plan.steps) for plan in plans]
    if any(form.digest != draft.signature for form in forms):
        _reject("contract", "a plan that it was to be tried on has another signature")
    values = {canonical_json(list(form.values)) for form in forms}
    if min(len({plan.study for plan in plans}), len(values)) < LEAST_STUDIES:
        _reject(WAITING, f"it needs {LEAST_STUDIES} studies with different values to be tried on")
    for plan, form in zip(plans, forms, strict=True):
        try:
            text = in_form(form.operations, follow_plan(plan, call))
            same = canonical_json(run_tool(draft, form, call)) == canonical_json(text)
        except (ToolError, PlanError, ToolFailedError) as error:
            _reject("studies", f"study {plan.study!r} cannot be followed: {error}".rstrip("."))
        if not same:
            _reject("studies", f"in study {plan.study!r} it gave something else than the text plan")
    return ValidatedTool(
        draft,
        (
            f"closure: all {len(draft.dependencies)} verbs that it calls are there in its version",
            f"contract: it {' and '.join(draft.effects)}, and takes {len(draft.parameters)} arguments",
            f"studies: it made the calls of the text plan in {len(plans)} studies, and gave the same",
        ),
    )


def run_tool(draft: ToolDraft, plan: PlanForm, call: Call) -> list[Any]:
    """Run a tool for each line of a plan, its calls compared with the plan's one by one before they are made.

    Args:
        draft: Draft of a tool on offer.
        plan: What it stands for, with the values of this use.
        call: Makes one call.

    Raises:
        ToolFailedError: It was to call something else than the plan says, or what it called cannot be done.
    """
    own = canonical_form(draft.steps)
    if len(own.holes) != len(plan.holes):
        raise _failed(draft, DIFFERENCE, "it takes other arguments than its plan", [])
    tool = form_calls(own.operations, plan.values)
    expected = form_calls(plan.operations, plan.values)
    done: list[Any] = []
    result: Any = None
    while True:
        own_step, wanted = _step(tool, result), _step(expected, result)
        if own_step.key != wanted.key:
            raise _failed(draft, DIFFERENCE, f"it {own_step.text}, its plan {wanted.text}", done)
        if own_step.problem:
            raise _failed(draft, "call", own_step.problem, done)
        if own_step.called is None:
            return own_step.results
        if len(done) == MOST_CALLS:
            raise _failed(draft, "limit", f"it made {MOST_CALLS} calls, as many as may be", done)
        try:
            result = call(*own_step.called)
        except ToolError as error:
            raise _failed(draft, "call", str(error), done) from error
        done.append(result)


@dataclass(frozen=True)
class _NextStep:
    """Next step of a plan: a call, or the end with its results."""

    called: tuple[str, dict[str, Any]] | None = None
    results: list[Any] = field(default_factory=list)
    problem: str = ""
    """Reason why it cannot go on: an earlier result lacks what it needs."""

    @property
    def key(self) -> bytes:
        """Equal where the same call is made, or the same results end it."""
        return canonical_json([self.called, self.results, self.problem])

    @property
    def text(self) -> str:
        """Description of the tool for a reader."""
        if self.called is None:
            return "stops" if self.problem else "ends"
        return f"calls {self.called[0]}({canonical_json(self.called[1]).decode()[:200]})"


def _step(calls: Generator[tuple[str, dict[str, Any]], Any, list[Any]], result: Any) -> _NextStep:
    try:
        name, arguments = calls.send(result)
    except StopIteration as end:
        return _NextStep(results=end.value)
    except (PlanError, LookupError, TypeError) as error:
        return _NextStep(problem=str(error) or type(error).__name__)
    return _NextStep((name, arguments))


def _failed(draft: ToolDraft, kind: str, reason: str, done: Sequence[Any]) -> ToolFailedError:
    return ToolFailedError(
        f"the tool {draft.name} failed ({kind}): {reason.rstrip('.')}. Go on from its plan; "
        f"{len(done)} calls were answered.",
        kind=kind,
        plan=draft.plan_text,
        done=tuple(done),
    )


def _reject(check: str, reason: str) -> NoReturn:
    raise ToolRejectedError(f"the draft fails at {check!r}: {reason}. The plan stays text.", check)


def _name(form: PlanForm, existing: Sequence[str]) -> str:
    """A name that no tool has: the verbs, and as much of the signature as it takes."""
    verbs = "_then_".join(dict.fromkeys(item.tool for item in form.operations))[:44].rstrip("_")
    for length in range(6, 20):
        name = f"{verbs}_{form.digest[:length]}"
        if name not in existing:
            return name
    _reject("name", f"the plan {form.digest[:8]} has a tool already; retire it first")
