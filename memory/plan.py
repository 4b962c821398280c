"""Plans: which laboratory tool with which kind of argument, in which order.

An argument of a step is a template: JSON in which ``{"step": 0, "place": ["design"]}`` stands for a part of the result
of an earlier step, and everything else was given. Plans can be followed as they are (`follow_plan`); that is the text
against which a tool made of them is checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lakatos.language_models.client import FrozenPart
from lakatos.memory.errors import LessonError, PlanError
from lakatos.memory.verb import LaboratoryVerb, values_named
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record

Call = Callable[[str, Mapping[str, Any]], Any]
"""Makes one call of a tool: name and arguments as JSON, result as JSON; raises `ToolError` where it cannot be done."""


class StepArgument(FrozenPart):
    """One argument of a step."""

    name: str
    kind: str
    """Kind of value: ``theory``, ``experiment*``, ``int``, ..."""
    value: Any = None
    """Template."""


class PlanStep(FrozenPart):
    """One call of a tool in a plan."""

    tool: str
    arguments: tuple[StepArgument, ...]
    reading: bool
    """Whether it leaves the world as it is, so that its place among others like it does not matter."""


class Plan(Record):
    """The steps that were taken in a situation, as text for a reader to weigh."""

    kind: Literal["plan"] = "plan"
    version: Literal[1] = 1
    domain: str
    study: str
    """Campaign in which it was followed; repetitions within it count once."""
    situation: str
    """Stage, rivals and failure, by which it is recalled."""
    steps: tuple[PlanStep, ...]
    evidence: tuple[Digest, ...]
    """Records of the calls, and others that support it."""
    justified_by: tuple[Digest, ...] = ()
    """Evidence of success: scores on data, or a judge's verdict."""


@dataclass(frozen=True)
class Called:
    """A call that was made and what came of it, as JSON."""

    tool: str
    arguments: Mapping[str, Any]
    value: Any


def make_plan(
    domain: str,
    study: str,
    situation: str,
    calls: Sequence[Called],
    verbs: Mapping[str, LaboratoryVerb],
    evidence: tuple[Digest, ...],
) -> Plan:
    """The plan behind calls that were made.

    Whatever a call was given that nobody had given before, and that an earlier result names, came from that result.

    Raises:
        LessonError: Nothing supports it.
        PlanError: There is no such tool, or no call at all.
    """
    if not evidence:
        raise LessonError("the plan cites no record; give those of its calls.")
    if not calls:
        raise PlanError("a plan has at least one step; there was no call.")
    given: set[str] = set()
    steps = []
    for number, call in enumerate(calls):
        verb = verbs.get(call.tool)
        if verb is None:
            raise unknown_tool(call.tool, verbs)
        kinds = verb.kinds()
        arguments = []
        for name in sorted(call.arguments):
            kind = kinds.get(name, "Any")
            earlier = _named_before(calls[:number], verbs, kind.rstrip("*"))
            template = _template(call.arguments[name], earlier, given)
            given.update(_texts(template))
            arguments.append(StepArgument(name=name, kind=kind, value=template))
        steps.append(PlanStep(tool=call.tool, arguments=tuple(arguments), reading=verb.reading))
    return Plan(
        domain=domain,
        study=study,
        situation=situation,
        steps=tuple(steps),
        evidence=evidence,
    )


def unknown_tool(name: str, known: Mapping[str, Any]) -> PlanError:
    """The error that a plan names a tool which does not exist."""
    from lakatos.language_models.tool import closest

    near = closest(name, list(known)) or list(known)
    return PlanError(
        f"the plan names the tool {name[:80]!r}, which does not exist; the closest are {', '.join(near) or 'none'}. "
        "Correct the plan, or go on without it."
    )


def _named_before(
    calls: Sequence[Called], verbs: Mapping[str, LaboratoryVerb], kind: str
) -> dict[str, dict[str, Any]]:
    """Find where results first name something of a kind: references by name."""
    found: dict[str, dict[str, Any]] = {}
    for number, call in enumerate(calls):
        for place, name in values_named(call.value, kind, verbs[call.tool].returns):
            found.setdefault(name, {"step": number, "place": list(place)})
    return found


def _template(value: Any, earlier: Mapping[str, dict[str, Any]], given: set[str]) -> Any:
    if isinstance(value, list | tuple):
        return [_template(item, earlier, given) for item in value]
    return (
        earlier[value]
        if isinstance(value, str) and value in earlier and value not in given
        else value
    )


def _texts(template: Any) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, list):
        for item in template:
            yield from _texts(item)


def is_reference(template: Any) -> bool:
    """Whether a template stands for a part of an earlier result."""
    return isinstance(template, dict) and template.keys() == {"step", "place"}


def has_reference(template: Any) -> bool:
    """Whether a template holds a reference."""
    return is_reference(template) or (
        isinstance(template, list) and any(map(has_reference, template))
    )


def fill(template: Any, results: Sequence[Any]) -> Any:
    """The value of a template.

    Raises:
        PlanError: An earlier result has no such part.
    """
    if is_reference(template):
        return part_of(results[template["step"]], template["place"], template["step"])
    return [fill(item, results) for item in template] if isinstance(template, list) else template


def part_of(result: Any, place: Sequence[str | int], step: int) -> Any:
    """A part of a result.

    Raises:
        PlanError: It has no such part.
    """
    for key in place:
        try:
            result = result[key]
        except (KeyError, IndexError, TypeError):
            raise PlanError(
                f"step {step + 1} gave no {'.'.join(map(str, place))}; choose by hand what to go on with."
            ) from None
    return result


def follow_plan(plan: Plan, call: Call) -> list[Any]:
    """Results of all steps, each called as the plan says."""
    results: list[Any] = []
    for step in plan.steps:
        results.append(
            call(step.tool, {item.name: fill(item.value, results) for item in step.arguments})
        )
    return results


def plan_text(plan: Plan) -> str:
    """The plan for a reader, a line for each step."""
    return "\n".join(
        f"{number}. {step_text(step)}" for number, step in enumerate(plan.steps, start=1)
    )


def step_text(step: PlanStep) -> str:
    """One step for a reader."""
    parts = ", ".join(f"{item.name}={_value_text(item.value)}" for item in step.arguments)
    return f"{step.tool}({parts})"


def _value_text(template: Any) -> str:
    if is_reference(template):
        return f"<{'.'.join(map(str, template['place']))} of step {template['step'] + 1}>"
    if isinstance(template, list):
        return f"[{', '.join(map(_value_text, template))}]"
    return json.dumps(template, ensure_ascii=False, sort_keys=True)


def references(template: Any) -> Iterator[dict[str, Any]]:
    """All references in a template."""
    if is_reference(template):
        yield template
    elif isinstance(template, list):
        for item in template:
            yield from references(item)
