"""The canonical form of a plan: equal for plans that do the same with other values, or read in another order.

Values are stripped to typed holes, numbered by first use; reads that follow one another and do not need one another
are sorted; a call repeated with other values becomes ``call+``. What changes the world keeps its place. The form is
text, its digest the signature by which recurrence is counted; a change of the algorithm is a new `VERSION`, and all
counts are computed again from the plans.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lakatos.memory.errors import PlanError
from lakatos.memory.plan import Call, PlanStep, has_reference, is_reference, part_of, references
from lakatos.traces.digest import Digest, canonical_json, digest_of

VERSION: Final = 1
PLAIN: Final = frozenset({"int", "float", "bool", "str", "Any"})
"""Kinds that name nothing: two holes of them are two, whatever fills them."""


def is_plain(kind: str) -> bool:
    """Whether a kind names nothing."""
    return kind.removeprefix("each ").rstrip("*?") in PLAIN


@dataclass(frozen=True)
class PlanHole:
    """Something that a plan is given."""

    number: int
    kind: str
    argument: str
    """Name of the argument in which it first appears."""


@dataclass(frozen=True)
class ResultReference:
    """A part of the result of an earlier operation."""

    operation: int
    member: int | None
    """Number of the repetition in a repeated operation; None for the one that stands at the same place as its user."""
    place: tuple[str | int, ...]


Template = PlanHole | ResultReference | tuple["Template", ...]


@dataclass(frozen=True)
class PlanOperation:
    """One call of the form, or one that is repeated."""

    tool: str
    arguments: tuple[tuple[str, Template], ...]
    """Name and template of each; lists with references are tuples."""
    repeated: bool
    reading: bool
    steps: tuple[int, ...]
    """Steps of the plan that it stands for."""


@dataclass(frozen=True)
class PlanForm:
    """A plan without its values."""

    operations: tuple[PlanOperation, ...]
    holes: tuple[PlanHole, ...]
    values: tuple[Any, ...]
    """``(n_holes,)`` what this plan was given; of repeated operations a list with one value each."""

    @property
    def text(self) -> str:
        """The plan in its canonical text: equal plans have equal texts."""
        return "\n".join(
            f"{number} {_written(item)}" for number, item in enumerate(self.operations)
        )

    @property
    def digest(self) -> Digest:
        """The plan's signature: digest of its canonical text."""
        return digest_of([VERSION, self.text])

    @property
    def reading(self) -> bool:
        """Whether all of it leaves the world as it is."""
        return all(item.reading for item in self.operations)


def canonical_form(steps: Sequence[PlanStep]) -> PlanForm:
    """The form of a plan's steps: order, names of values and equal repetitions play no part in it."""
    steps, kept = _without_repeats(steps)
    groups = _grouped(steps, _ordered(steps))
    writer = _FormWriter(groups)
    operations = []
    for number, group in enumerate(groups):
        first = steps[group[0]]
        arguments = []
        for place, item in enumerate(first.arguments):
            repeated = [steps[step].arguments[place].value for step in group]
            arguments.append((item.name, writer.template(item.kind, repeated, number, item.name)))
        own = tuple(kept[step] for step in group)
        operations.append(
            PlanOperation(first.tool, tuple(arguments), len(group) > 1, first.reading, own)
        )
    return PlanForm(tuple(operations), tuple(writer.holes.values()), tuple(writer.values))


class _FormWriter:
    """Writes templates of operations, and numbers their holes as they come."""

    def __init__(self, groups: Sequence[Sequence[int]]) -> None:
        """Take the steps that each operation stands for."""
        self.place_of: dict[int, tuple[int, int]] = {}
        """Operation of each step, and the number of its repetition."""
        for number, group in enumerate(groups):
            for member, step in enumerate(group):
                self.place_of[step] = (number, member)
        self.holes: dict[tuple[str, bytes], PlanHole] = {}
        self.values: list[Any] = []

    def template(self, kind: str, items: list[Any], group: int, argument: str) -> Any:
        """One place of an operation's template, from what stands there in each repetition."""
        if is_reference(items[0]):
            return self._reference(items)
        if isinstance(items[0], list) and has_reference(items[0]):
            inner = kind.removesuffix("*")
            columns = zip(*items, strict=True)
            return tuple(self.template(inner, list(own), group, argument) for own in columns)
        # Numbers are equal by accident, names are not.
        if len(items) == 1 or (not is_plain(kind) and all(item == items[0] for item in items)):
            return self._hole(kind, items[0], argument, group)
        return self._hole(f"each {kind}", items, argument, group)

    def _reference(self, items: Sequence[Any]) -> ResultReference:
        """A result of an earlier operation: of the same repetition of it where these differ."""
        operation, member = self.place_of[items[0]["step"]]
        members = {self.place_of[item["step"]][1] for item in items}
        place = tuple(items[0]["place"])
        return ResultReference(operation, None if len(members) > 1 else member, place)

    def _hole(self, kind: str, value: Any, argument: str, group: int) -> PlanHole:
        """The hole for a value; equal names share one, plain values only within an argument."""
        own = [group, argument] if is_plain(kind) else []
        kind = f"{kind}?" if value is None else kind
        key = (kind, canonical_json([value, own]))
        if key not in self.holes:
            self.holes[key] = PlanHole(len(self.holes), kind, argument)
            self.values.append(value)
        return self.holes[key]


def follow_form(
    operations: Sequence[PlanOperation], values: Sequence[Any], call: Call
) -> list[Any]:
    """Results of a form's operations with other values, of a repeated one the list of them: the text plan of a tool.

    Args:
        operations: Operations of the form.
        values: ``(n_holes,)``.
        call: Makes one call.
    """
    calls, result = form_calls(operations, values), None
    while True:
        try:
            name, arguments = calls.send(result)
        except StopIteration as end:
            return list(end.value)
        result = call(name, arguments)


def form_calls(
    operations: Sequence[PlanOperation], values: Sequence[Any]
) -> Generator[tuple[str, dict[str, Any]], Any, list[Any]]:
    """The calls of a form one by one, each with what the one before gave; what it returns is as of `follow_form`."""
    results: list[Any] = []
    for operation in operations:
        lengths = {
            length
            for _, template in operation.arguments
            for length in _lengths(template, values, results)
        }
        if len(lengths) > 1:
            raise PlanError(
                f"{operation.tool} is to be repeated {sorted(lengths)} times; give lists of one length."
            )
        answers = []
        for member in range(lengths.pop() if operation.repeated and lengths else 1):
            arguments = {
                name: _filled(template, member, operations, values, results)
                for name, template in operation.arguments
            }
            answers.append((yield operation.tool, arguments))
        results.append(answers if operation.repeated else answers[0])
    return results


def _filled(
    template: Template,
    member: int,
    operations: Sequence[PlanOperation],
    values: Sequence[Any],
    results: Sequence[Any],
) -> Any:
    """The value of one place of an operation's template, in one of its repetitions."""
    if isinstance(template, tuple):
        return [_filled(item, member, operations, values, results) for item in template]
    if isinstance(template, PlanHole):
        value = values[template.number]
        return value[member] if template.kind.startswith("each ") else value
    result = results[template.operation]
    if operations[template.operation].repeated:
        result = result[member if template.member is None else template.member]
    return part_of(result, template.place, template.operation)


def _lengths(template: Template, values: Sequence[Any], results: Sequence[Any]) -> set[int]:
    """Find how often an operation is repeated, by what stands at one place of it."""
    if isinstance(template, tuple):
        return {length for item in template for length in _lengths(item, values, results)}
    if isinstance(template, PlanHole):
        return {len(values[template.number])} if template.kind.startswith("each ") else set()
    return {len(results[template.operation])} if template.member is None else set()


def in_form(operations: Sequence[PlanOperation], results: Sequence[Any]) -> list[Any]:
    """Results of a plan's own steps, in the order of its form."""
    return [
        [results[step] for step in item.steps] if item.repeated else results[item.steps[0]]
        for item in operations
    ]


def signature(steps: Sequence[PlanStep]) -> Digest:
    """Digest of the canonical form."""
    return canonical_form(steps).digest


def _skeleton(template: Any, kind: str, leaf: Callable[[Any, str], Any]) -> Any:
    """A template with each hole and reference replaced."""
    if is_reference(template) or not has_reference(template):
        return leaf(template, kind)
    return [_skeleton(item, kind.removesuffix("*"), leaf) for item in template]


def _shapes(steps: Sequence[PlanStep]) -> list[str]:
    """Return what each step does, however its holes are called: tool, kinds, what its references came from."""
    shapes: list[str] = []
    for step in steps:

        def leaf(template: Any, kind: str) -> Any:
            if is_reference(template):
                return ["from", shapes[template["step"]], template["place"]]
            return ["empty" if template is None else "hole", kind]

        parts = [[item.name, _skeleton(item.value, item.kind, leaf)] for item in step.arguments]
        shapes.append(digest_of([step.tool, step.reading, parts]))
    return shapes


def _contexts(steps: Sequence[PlanStep], shapes: Sequence[str]) -> list[str]:
    """Describe where the holes and the result of each step are used elsewhere, to distinguish steps of one shape."""
    uses: dict[tuple[str, bytes], list[str]] = defaultdict(list)
    results: dict[int, list[str]] = defaultdict(list)
    own: list[list[tuple[str, bytes]]] = []
    for step, shape in zip(steps, shapes, strict=True):
        mine = []
        for item in step.arguments:
            for reference in references(item.value):
                results[reference["step"]].append(f"{shape}.{item.name}")
            if not has_reference(item.value) and not is_plain(item.kind):
                key = (item.kind, canonical_json(item.value))
                uses[key].append(f"{shape}.{item.name}")
                mine.append(key)
        own.append(mine)
    return [
        digest_of([[sorted(uses[key]) for key in mine], sorted(results[number])])
        for number, mine in enumerate(own)
    ]


def _without_repeats(steps: Sequence[PlanStep]) -> tuple[list[PlanStep], list[int]]:
    """Steps without reads that were made again with nothing changed in between, and where each stood."""
    moved: dict[int, int] = {}
    found: list[PlanStep] = []
    kept: list[int] = []
    seen: dict[bytes, int] = {}

    def redirected(template: Any) -> Any:
        if is_reference(template):
            return {**template, "step": moved[template["step"]]}
        return [redirected(item) for item in template] if isinstance(template, list) else template

    for number, step in enumerate(steps):
        arguments = tuple(
            item.model_copy(update={"value": redirected(item.value)}) for item in step.arguments
        )
        key = canonical_json([step.tool, [[item.name, item.value] for item in arguments]])
        if not step.reading:
            seen.clear()
        elif key in seen:
            moved[number] = seen[key]
            continue
        moved[number] = len(found)
        if step.reading:
            seen[key] = len(found)
        found.append(step.model_copy(update={"arguments": arguments}))
        kept.append(number)
    return found, kept


def _ordered(steps: Sequence[PlanStep]) -> list[int]:
    """Steps in canonical order: within each run of reads, the least that waits for nothing comes next."""
    shapes = _shapes(steps)
    contexts = _contexts(steps, shapes)
    waits = [
        {place["step"] for item in step.arguments for place in references(item.value)}
        for step in steps
    ]
    order: list[int] = []
    start = 0
    while start < len(steps):
        end = start + 1
        while steps[start].reading and end < len(steps) and steps[end].reading:
            end += 1
        left = set(range(start, end))
        while left:
            ready = [number for number in left if not waits[number] & left]
            chosen = min(ready, key=lambda number: (shapes[number], contexts[number], number))
            order.append(chosen)
            left.remove(chosen)
        start = end
    return order


def _grouped(steps: Sequence[PlanStep], order: Sequence[int]) -> list[list[int]]:
    """Neighbours that do the same with other values, none of which needs another."""
    shapes = _shapes(steps)
    groups: list[list[int]] = []
    for number in order:
        if (
            groups
            and shapes[groups[-1][0]] == shapes[number]
            and not _places(steps[number]) & set(groups[-1])
        ):
            groups[-1].append(number)
        else:
            groups.append([number])
    found: list[list[int]] = []
    place_of: dict[int, tuple[int, int]] = {}
    for group in groups:
        targets = {step: [place_of[place] for place in _listed(steps[step])] for step in group}
        ordered = sorted(group, key=lambda step: targets[step])
        columns = list(zip(*(targets[step] for step in ordered), strict=True))
        joined = all(len(set(column)) == 1 or _each(column, found) for column in columns)
        for part in [ordered] if joined else [[step] for step in group]:
            place_of.update({step: (len(found), member) for member, step in enumerate(part)})
            found.append(part)
    return found


def _listed(step: PlanStep) -> list[int]:
    return [place["step"] for item in step.arguments for place in references(item.value)]


def _places(step: PlanStep) -> set[int]:
    return set(_listed(step))


def _each(column: Sequence[tuple[int, int]], groups: Sequence[Sequence[int]]) -> bool:
    """Whether repetitions refer to all repetitions of one earlier operation, each to its own."""
    (operation, _), *_ = column
    return [*column] == [(operation, member) for member in range(len(groups[operation]))]


def _written(operation: PlanOperation) -> str:
    parts = ", ".join(f"{name}={_leaf_text(template)}" for name, template in operation.arguments)
    return f"{operation.tool}{'+' if operation.repeated else ''}({parts})"


def _leaf_text(template: Any) -> str:
    if isinstance(template, PlanHole):
        return f"{template.kind}:{template.number}"
    if isinstance(template, ResultReference):
        member = "each" if template.member is None else template.member
        return f"@{template.operation}[{member}].{'.'.join(map(str, template.place))}"
    return f"[{', '.join(map(_leaf_text, template))}]"
