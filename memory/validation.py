"""The ladder that a draft climbs before anybody is offered it. What fails stays text.

`validate_tool` is the only way from a `ToolDraft` to a `ValidatedTool`. Use then decides: `memory.retirement`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final, NoReturn

from lakatos.language_models.errors import ToolError
from lakatos.memory.codifier import arguments_of
from lakatos.memory.draft import ToolDraft
from lakatos.memory.errors import PlanError, ToolRejectedError
from lakatos.memory.plan import Call, Plan, follow_plan
from lakatos.memory.runner import RanProgram, ToolSandbox
from lakatos.memory.signature import PlanForm, canonical_form, follow_form, in_form
from lakatos.memory.verb import LaboratoryVerb
from lakatos.theories.errors import TheoryLintError
from lakatos.theories.sandbox.lint import check_source, parse
from lakatos.traces.digest import canonical_json

RUNGS: Final = ("parse", "closure", "contract", "differential", "held out", "properties")
MAX_SOURCE_BYTES: Final = 16384
LEAST_QUERIES: Final = 2
"""Structurally different ones that a tool is tried on, beside the one held out."""


@dataclass(frozen=True)
class ValidatedTool:
    """A draft that passed; made by `validate_tool` alone."""

    draft: ToolDraft
    passed: tuple[str, ...]
    """What was proved, a sentence for each rung."""


def validate_tool(
    draft: ToolDraft,
    supporting: Sequence[Plan],
    held_out: Plan | None,
    verbs: Mapping[str, LaboratoryVerb],
    call: Call,
    sandbox: ToolSandbox,
) -> ValidatedTool:
    """Make a tool of a draft that passes every check of the ladder.

    Args:
        draft: What the codifier wrote.
        supporting: Plans with the draft's signature from at least two studies, with different values.
        held_out: One more, which the codifier was not told of; None where there is none yet, and a sibling is made by
            crossing the values of two studies.
        verbs: What there is to call.
        call: Makes a call, for the tool and for the text plan alike.
        sandbox: Where the tool runs.

    Raises:
        ToolRejectedError: The first rung that it fails, with the reason.
    """
    forms = [_form_of(draft, plan) for plan in supporting]
    parameters = {item.name for item in draft.parameters}
    called = _parsed(draft, parameters)
    _closed(draft, called, verbs, sandbox)
    _contracted(draft, verbs)
    values = {canonical_json(list(form.values)) for form in forms}
    if len({plan.study for plan in supporting}) < LEAST_QUERIES or len(values) < LEAST_QUERIES:
        _reject(
            "differential",
            f"it needs {LEAST_QUERIES} supporting studies with different values to be tried on",
        )
    for plan, form in zip(supporting, forms, strict=True):
        _same_as_text(draft, plan, form, call, sandbox, "differential")
    if held_out is None:
        _same_on_a_cross(draft, forms, values, call, sandbox)
    else:
        last = _form_of(draft, held_out)
        if canonical_json(list(last.values)) in values:
            _reject(
                "held out", "the plan held out has the values of a supporting one; hold out another"
            )
        _same_as_text(draft, held_out, last, call, sandbox, "held out")
    n_calls = _kept_properties(draft, forms[0], call, sandbox)
    return ValidatedTool(
        draft,
        (
            f"parse: the source uses what is allowed and calls {', '.join(sorted(called))}",
            f"closure: all {len(draft.dependencies)} tools that it calls are there in the version it was written for",
            f"contract: it {' and '.join(draft.effects)}, takes {', '.join(sorted(parameters)) or 'nothing'}",
            f"differential: it gave what the text plan gave in {len(supporting)} studies",
            f"held out: it gave what the text plan gave {_WHERE[held_out is None]}",
            f"properties: it repeats itself, takes arguments in any order, and passes on each of {n_calls} refusals",
        ),
    )


_WHERE: Final = ("in a study that it was not made from", "for the values of two studies crossed")


def steps_returned(ran: RanProgram, repeated: Sequence[bool]) -> list[Any] | None:
    """What a tool returned for each line of its plan, if it is what its calls gave and nothing else."""
    returned = ran.returned
    steps = (
        returned.get("steps")
        if isinstance(returned, dict) and returned.keys() == {"steps"}
        else None
    )
    if not isinstance(steps, list) or len(steps) != len(repeated):
        return None
    if any(
        several and not isinstance(item, list)
        for item, several in zip(steps, repeated, strict=True)
    ):
        return None
    flat = [
        part
        for item, several in zip(steps, repeated, strict=True)
        for part in (item if several else [item])
    ]
    return steps if canonical_json(flat) == canonical_json(list(ran.results)) else None


def called_by(draft: ToolDraft) -> frozenset[str]:
    """Names that a draft declares to call."""
    return frozenset(name for name, _ in draft.dependencies)


def repeated_lines(draft: ToolDraft) -> list[bool]:
    """For each line of a draft's plan whether it is repeated."""
    return [line.partition("(")[0].endswith("+") for line in draft.plan_text.splitlines()]


def _reject(rung: str, reason: str) -> NoReturn:
    raise ToolRejectedError(f"the draft fails at {rung!r}: {reason}. The plan stays text.", rung)


def _form_of(draft: ToolDraft, plan: Plan) -> PlanForm:
    form = canonical_form(plan.steps)
    if form.digest != draft.signature or form.text != draft.plan_text:
        _reject("contract", f"the plan of study {plan.study!r} has another signature")
    return form


def _parsed(draft: ToolDraft, parameters: set[str]) -> set[str]:
    """Names that the source calls; it must be readable from the text alone what these are."""
    try:
        check_source(draft.source, MAX_SOURCE_BYTES)
    except TheoryLintError as error:
        _reject("parse", str(error).rstrip("."))
    tree = parse(draft.source)
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    if len(functions) != len(body) or [node.name for node in functions].count("run") != 1:
        _reject(
            "parse", "it may hold a docstring and functions, one of them `run`, and nothing else"
        )
    run = next(node for node in functions if node.name == "run")
    if [item.arg for item in run.args.args] != ["arguments", "call"]:
        _reject("parse", "`run` takes `arguments` and `call`")
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "call"
    ]
    direct = {id(node.func) for node in calls}
    for node in ast.walk(tree):
        if isinstance(node, ast.Try | ast.Import | ast.ImportFrom | ast.While | ast.With):
            _reject(
                "parse",
                f"line {node.lineno} holds a {type(node).__name__.lower()} statement; leave it out",
            )
        if isinstance(node, ast.Name) and node.id == "call" and id(node) not in direct:
            _reject("parse", f"line {node.lineno} hands `call` on; call it where it is needed")
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == "arguments"
            and not (isinstance(node.slice, ast.Constant) and node.slice.value in parameters)
        ):
            _reject("parse", f"line {node.lineno} takes an argument that was not declared")
    called = set()
    for node in calls:
        if not (
            len(node.args) == 1
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            _reject("parse", f"line {node.lineno} calls something whose name is not written out")
        called.add(node.args[0].value)
    return called


def _closed(
    draft: ToolDraft, called: set[str], verbs: Mapping[str, LaboratoryVerb], sandbox: ToolSandbox
) -> None:
    declared = dict(draft.dependencies)
    if unknown := sorted(called - declared.keys()):
        _reject("closure", f"it calls {', '.join(unknown)}, which it does not declare")
    for name, digest in declared.items():
        if name not in verbs:
            _reject("closure", f"it calls {name}, which does not exist")
        if verbs[name].digest != digest:
            _reject(
                "closure",
                f"{name} is not the version that it was written for; compile the plan again",
            )
    ran = sandbox.run(draft.source, {}, _no_call, compile_only=True)
    if ran.failure:
        _reject("closure", f"it does not compile: {ran.failure}")


def _contracted(draft: ToolDraft, verbs: Mapping[str, LaboratoryVerb]) -> None:
    effects = {effect for name, _ in draft.dependencies for effect in verbs[name].effects}
    if effects != set(draft.effects):
        _reject(
            "contract",
            f"it declares {', '.join(draft.effects)} and what it calls {', '.join(sorted(effects))}",
        )
    if not all(verbs[name].reading for name, _ in draft.dependencies):
        _reject("contract", "it changes the world, which is done step by step")
    names = [item.name for item in draft.parameters]
    if len(set(names)) < len(names) or not all(name.isidentifier() for name in names):
        _reject("contract", "its parameters are not names, each once")
    if set(draft.failures) < {"call", "postcondition", "program", "limit"}:
        _reject("contract", "it does not declare how it can fail")


def _same_as_text(
    draft: ToolDraft, plan: Plan, form: PlanForm, call: Call, sandbox: ToolSandbox, rung: str
) -> None:
    try:
        text = in_form(form.operations, follow_plan(plan, call))
    except (ToolError, PlanError) as error:
        _reject(
            rung,
            f"the text plan of study {plan.study!r} cannot be followed any more: {error}".rstrip(
                "."
            ),
        )
    _gives(draft, form.values, text, call, sandbox, rung, f"study {plan.study!r}")


def _same_on_a_cross(
    draft: ToolDraft, forms: Sequence[PlanForm], known: set[bytes], call: Call, sandbox: ToolSandbox
) -> None:
    """Try every other value of one study with the rest of another's, in both ways, until the text plan takes it."""
    for first, second in permutations(forms, 2):
        for start in (0, 1):
            values = tuple(
                (a, b)[(place + start) % 2]
                for place, (a, b) in enumerate(zip(first.values, second.values, strict=True))
            )
            if canonical_json(list(values)) in known:
                continue
            try:
                text = follow_form(first.operations, values, call)
            except (ToolError, PlanError):
                continue
            _gives(draft, values, text, call, sandbox, "held out", "values of two studies crossed")
            return
    _reject("held out", "no values of two studies can be crossed; wait for a further study")


def _gives(
    draft: ToolDraft,
    values: Sequence[Any],
    text: list[Any],
    call: Call,
    sandbox: ToolSandbox,
    rung: str,
    where: str,
) -> None:
    ran = sandbox.run(
        draft.source, arguments_of(draft.parameters, tuple(values)), call, allowed=called_by(draft)
    )
    if ran.failure:
        _reject(rung, f"on {where} it failed: {ran.failure}".rstrip("."))
    steps = steps_returned(ran, repeated_lines(draft))
    if steps is None:
        _reject(rung, f"on {where} it returned something else than what its calls gave")
    if canonical_json(steps) != canonical_json(text):
        _reject(rung, f"on {where} it gave something else than the text plan")


def _kept_properties(draft: ToolDraft, form: PlanForm, call: Call, sandbox: ToolSandbox) -> int:
    """Number of calls that it makes, each of whose refusals it passes on with what had been done."""
    arguments = arguments_of(draft.parameters, form.values)

    def run(given: Mapping[str, Any], answers: Call) -> RanProgram:
        return sandbox.run(draft.source, given, answers, allowed=called_by(draft))

    first = run(arguments, call)
    turned = run(dict(reversed(arguments.items())), call)
    if canonical_json([first.returned]) != canonical_json([turned.returned]):
        _reject(
            "properties", "asked again with its arguments in another order it gave something else"
        )
    for name in arguments:
        less = {key: value for key, value in arguments.items() if key != name}
        if run(less, call).kind != "program":
            _reject("properties", f"without the argument {name!r} it does not fail")
    for place in range(len(first.results)):
        ran = run(arguments, _refusing(first.results, place))
        if ran.kind != "call" or len(ran.results) != place:
            _reject(
                "properties", f"when its call {place + 1} is refused it does not stop and say so"
            )
    return len(first.results)


def _refusing(results: Sequence[Any], place: int) -> Call:
    """Answers as before until the call at ``place``, which it refuses."""
    left = list(results[:place])

    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        if not left:
            raise ToolError("refused to see what follows")
        return left.pop(0)

    return call


def _no_call(name: str, arguments: Mapping[str, Any]) -> Any:
    raise ToolError("nothing is called while a source is read")
