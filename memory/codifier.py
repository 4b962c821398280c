"""Turns a recurring plan into a draft of a tool. It is told the plan and clean queries; see `memory.draft.PlanBundle`.

`compile_plan` writes the function itself; `instructions` and `draft_of_source` are for a language model that writes it.
Both drafts go through `memory.validation`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from lakatos.language_models.pins import Effect
from lakatos.memory.draft import PlanBundle, PlanParameter, ToolDraft, parameters_of
from lakatos.memory.errors import CodifierError
from lakatos.memory.signature import PlanHole, PlanOperation, Template

COMPILER: Final = "codifier"
SHOWN_QUERIES: Final = 5
"""Queries that a language model is shown."""


def compile_plan(bundle: PlanBundle) -> ToolDraft:
    """The plan as a function of what varied, calling the same tools in the same order.

    Raises:
        CodifierError: The plan changes the world, so that it stays text; or a query does not fit it.
    """
    parameters = _parameters(bundle)
    names = {
        hole.number: parameter.name
        for hole, parameter in zip(bundle.holes, parameters, strict=True)
    }
    lines = [_call(number, bundle.operations, names) for number in range(len(bundle.operations))]
    results = ", ".join(f"step_{number}" for number in range(len(lines)))
    source = "\n".join(
        [
            f'"""{_title(bundle)}\n\n{bundle.plan_text}\n"""',
            "",
            "",
            "def run(arguments, call):",
            *lines,
            f'    return {{"steps": [{results}]}}',
            "",
        ]
    )
    return _draft(bundle, source, parameters, COMPILER)


def instructions(bundle: PlanBundle) -> str:
    """What a language model is asked, from nothing but the bundle."""
    parameters = _parameters(bundle)
    tools = "\n".join(
        f"- {tool.name}({', '.join(': '.join(item) for item in tool.arguments)}) gives {', '.join(tool.results)}"
        for tool in bundle.tools
    )
    queries = "\n".join(
        json.dumps(
            {item.name: value for item, value in zip(parameters, query.values, strict=True)},
            sort_keys=True,
        )
        for query in bundle.queries[:SHOWN_QUERIES]
    )
    names = ", ".join(f"{item.name}: {item.kind}" for item in parameters)
    return (
        "Write a Python function for a plan that recurs.\n\n"
        f"The plan, one call to a line, `kind:n` for what varies and `@n[m].part` for a part of line n's result:\n"
        f"{bundle.plan_text}\n\nTools:\n{tools}\n\nArguments: {names}\nExamples of them:\n{queries}\n\n"
        'Define `run(arguments, call)`. `arguments["name"]` is an argument, `call("tool", name=value)` makes a call '
        'and gives its result as plain values. Return {"steps": [...]} with the results of all lines in their order, '
        "for a line with + the list of its results. Let errors of calls pass. Import nothing. Answer with the source."
    )


def draft_of_source(bundle: PlanBundle, source: str, author: str) -> ToolDraft:
    """A draft from a source that somebody else wrote for the bundle."""
    fenced = re.search(r"```(?:python)?\n(.*?)```", source, re.DOTALL)
    return _draft(bundle, fenced.group(1) if fenced else source, _parameters(bundle), author)


def arguments_of(
    parameters: tuple[PlanParameter, ...], values: tuple[object, ...]
) -> dict[str, object]:
    """A query as arguments of the function."""
    return {item.name: value for item, value in zip(parameters, values, strict=True)}


def _parameters(bundle: PlanBundle) -> tuple[PlanParameter, ...]:
    if not bundle.queries:
        raise CodifierError(
            "a plan without a query that it was used for cannot be compiled; give at least one."
        )
    if any(len(query.values) != len(bundle.holes) for query in bundle.queries):
        raise CodifierError(
            "a query has other values than the plan has holes; make the bundle with `bundle_of`."
        )
    return parameters_of(bundle.holes, bundle.queries)


def _draft(
    bundle: PlanBundle, source: str, parameters: tuple[PlanParameter, ...], author: str
) -> ToolDraft:
    effects: set[Effect] = {effect for tool in bundle.tools for effect in tool.effects}
    if changing := effects - {"reads", "computes"}:
        raise CodifierError(
            f"the plan {', '.join(sorted(changing))}; what changes the world is done step by step, from text."
        )
    return ToolDraft(
        name=_name(bundle),
        signature=bundle.signature,
        plan_text=bundle.plan_text,
        source=source,
        parameters=parameters,
        effects=tuple(sorted(effects)),
        dependencies=tuple((tool.name, tool.digest) for tool in bundle.tools),
        author=author,
        self_test=bundle.queries[0].values,
    )


def _name(bundle: PlanBundle) -> str:
    """A name that no tool has: the verbs, and as much of the signature as it takes."""
    verbs = "_then_".join(dict.fromkeys(item.tool for item in bundle.operations))[:44].rstrip("_")
    for length in range(6, 20):
        name = f"{verbs}_{bundle.signature[:length]}"
        if name not in bundle.existing:
            return name
    raise CodifierError(
        f"the plan {bundle.signature[:8]} has a tool already; retire it before making another."
    )


def _title(bundle: PlanBundle) -> str:
    return f"{', then '.join(item.tool for item in bundle.operations)}.".replace('"', "'")


def _call(number: int, operations: Sequence[PlanOperation], names: Mapping[int, str]) -> str:
    """One line of the function."""
    operation = operations[number]
    each: list[str] = []

    def written(template: Template) -> str:
        if isinstance(template, tuple):
            return f"[{', '.join(map(written, template))}]"
        if isinstance(template, PlanHole):
            source = f"arguments[{names[template.number]!r}]"
            if not template.kind.startswith("each "):
                return source
            path = ""
        else:
            path = "".join(f"[{part!r}]" for part in template.place)
            source = f"step_{template.operation}"
            if template.member is not None:
                return (
                    f"{source}[{template.member}]{path}"
                    if operations[template.operation].repeated
                    else source + path
                )
        if source not in each:
            each.append(source)
        return f"item_{each.index(source)}{path}"

    given = ", ".join(f"{name}={written(template)}" for name, template in operation.arguments)
    call = f"call({operation.tool!r}, {given})"
    if not operation.repeated:
        return f"    step_{number} = {call}"
    items = ", ".join(f"item_{place}" for place in range(len(each)))
    if not each:
        raise CodifierError(
            f"{operation.tool} is repeated with the same arguments; the plan stays text."
        )
    sources = each[0] if len(each) == 1 else f"zip({', '.join(each)}, strict=True)"
    return f"    step_{number} = [{call} for {items} in {sources}]"
