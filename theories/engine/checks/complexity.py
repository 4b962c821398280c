"""Simplicity of a theory, whether it can be read, and which texts are one theory.

Of theories that predict alike the simplest leads, and simple means a short code: every name, number and operation that
its predictions depend on counts one, and so does every parameter, and whatever is known of people and moves one. An
effective number of parameters would miss what search puts into the code itself: a list of rules with fitted thresholds
has no parameters at all. Counting slots of a grammar would miss theories that no grammar wrote.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Final

from lakatos.theories.language.parsing import parse
from lakatos.theories.language.theory import Theory
from lakatos.traces.digest import Digest, digest_of

ENTRIES = ("start", "choose", "learn")
"""Functions that the laboratory calls."""
MOST_NESTED = 2
"""Highest rank of decisions that a person can follow.

The rank of a condition is the higher one of its two branches, and one more where both have the same (Ehrenfeucht &
Haussler, 1989, Information and Computation 82): a list ("if this, so; otherwise if that, so; otherwise so") has the
rank 1 however long it is, and a tree whose conditions all have conditions on both sides has its depth.
"""
OF_LAYOUT: Final = -1
LAYOUT = frozenset({"available", "block_start"})
"""Arrays of trials that say which options there are and where a block begins."""
SHAPES = frozenset({"shape", "ndim", "size"})
KINDS = {
    "ratings": "a rating",
    "rating_max": "a rating",
    "validities": "a probability",
    "probabilities": "a probability",
    "outcomes": "an amount",
    "amounts": "an amount",
    "delays_days": "a delay",
}
"""Kinds of quantities in the arrays of trials; others may hold anything."""
PLACES = frozenset({"arange", "argmax", "argmin", "argsort"})
KEEPING = frozenset(
    {
        "abs",
        "sum",
        "min",
        "max",
        "mean",
        "clip",
        "maximum",
        "minimum",
        "sort",
        "where",
        "cumsum",
        "median",
    }
)
"""Operations whose result is of the kind of what they are given."""


def form_of_source(source: str) -> Digest:
    """Address of what a source says, whatever it is called and however its people are declared to differ.

    Texts with the same functions and parameters are one theory: its people are learned. So are texts whose parameters
    depend on the same that is known of people.
    """
    code = _Code(source)
    functions = {name: ast.dump(_without_docstring(node)) for name, node in code.functions.items()}
    form: dict[str, Any] = {"functions": functions, "parameters": sorted(code.parameters)}
    if code.dependences:
        form["depends_on"] = sorted(code.dependences)
    return digest_of(form)


@lru_cache(maxsize=512)
def code_length(source: str) -> int:
    """Names, numbers and operations that a theory's predictions depend on, and its parameters.

    What is written and never used costs nothing, as a grammar's skeleton prepares more than a composition needs.
    """
    code = _Code(source)
    return (
        len(code.parameters)
        + len(code.dependences)
        + sum(_length(node) for statements in code.live.values() for node in statements)
    )


def why_unreadable(theory: Theory) -> str:
    """Explain why a theory predicts but explains nothing that a person could follow; empty if it can be read.

    What a grammar composes is made of published mechanisms and can be read. Others must not nest conditions more deeply
    than `MOST_NESTED`, nor add or compare quantities of different kinds.
    """
    if theory.composition is not None:
        return ""
    code = _Code(theory.program.source)
    deepest = _rank_of(code)
    if deepest > MOST_NESTED:
        return (
            f"it nests {deepest} conditions in one another, each with conditions on both sides, "
            f"and people follow {MOST_NESTED} at most"
        )
    for name in ENTRIES:
        if name in code.functions and (mixed := _Quantities(code).mixed_in(name)):
            return f"it mixes units: {mixed[0]} is added to or compared with {mixed[1]}"
    return ""


def decision_rank(source: str) -> int:
    """Compute how deeply conditions are nested in what a theory predicts and remembers; see `MOST_NESTED`."""
    return _rank_of(_Code(source))


def _rank_of(code: _Code) -> int:
    ranks = (_Ranks(code).of_function(name) for name in ENTRIES if name in code.functions)
    return max(0, *ranks)


def _dependences(declared: Any) -> Iterator[tuple[str, str, str]]:
    """Parameter, attribute and group of each declared dependence; none of what is no declaration."""
    entries = declared.items() if isinstance(declared, dict) else ()
    for name, entry in entries:
        for one in entry.get("depends_on", ()) if isinstance(entry, dict) else ():
            if isinstance(one, dict):
                yield str(name), str(one.get("attribute", "")), str(one.get("is", ""))


class _Code:
    """The functions of a source, and those of their statements that something depends on."""

    def __init__(self, source: str) -> None:
        tree = parse(source)
        self.functions = {
            node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)
        }
        self.parameters: tuple[str, ...] = ()
        self.dependences: tuple[tuple[str, str, str], ...] = ()
        for node in tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "PARAMETERS":
                declared = ast.literal_eval(node.value)
                self.parameters = tuple(declared)
                self.dependences = tuple(_dependences(declared))

    @cached_property
    def live(self) -> dict[str, list[ast.stmt]]:
        """For each function that is called, its statements that the result depends on, in order."""
        found: dict[str, list[ast.stmt]] = {}
        wanted = [name for name in ENTRIES if name in self.functions]
        while wanted:
            name = wanted.pop()
            if name not in found:
                found[name], used = _live_statements(self.functions[name])
                wanted += [other for other in self.functions if other in used]
        return found


def _live_statements(function: ast.FunctionDef) -> tuple[list[ast.stmt], set[str]]:
    """Statements of a function without assignments to variables that nothing uses afterwards, and the names in them."""
    needed: set[str] = set()
    used: set[str] = set()
    kept: list[ast.stmt] = []
    for statement in reversed(_without_docstring(function).body):
        if isinstance(statement, ast.Assign):
            targets = {name for target in statement.targets for name in _names(target)}
            if not targets & needed:
                continue
            if all(isinstance(target, ast.Name) for target in statement.targets):
                needed -= targets
            read = _names(statement.value)
            used |= targets
        else:
            read = _names(statement)
        needed |= read
        used |= read
        kept.append(statement)
    return kept[::-1], used


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def _without_docstring(function: ast.FunctionDef) -> ast.FunctionDef:
    body = function.body[ast.get_docstring(function) is not None :]
    return ast.FunctionDef(function.name, function.args, body or [ast.Pass()], [])


def _length(statement: ast.stmt) -> int:
    """Expressions of a statement that say something: not ``xp``, nor what only shapes arrays."""
    silent = (ast.Tuple, ast.Slice, ast.Starred)
    return sum(
        isinstance(node, ast.expr)
        and not isinstance(node, silent)
        and not (isinstance(node, ast.Name) and node.id == "xp")
        and not (isinstance(node, ast.Constant) and node.value in (None, Ellipsis))
        for node in ast.walk(statement)
    )


class _Ranks:
    """Ranks of the decisions that functions make, followed through variables and calls; see `MOST_NESTED`.

    What hangs on the layout of trials alone (which options there are, where a block begins) has the rank `OF_LAYOUT`: a
    condition on it decides nothing about people.
    """

    def __init__(self, code: _Code) -> None:
        self.code = code

    def of_function(self, name: str, given: Mapping[str, int] = MappingProxyType({})) -> int:
        """Rank of what a function returns, with the ranks of its arguments."""
        ranks = dict(given)
        highest = OF_LAYOUT
        for statement in self.code.live.get(name, []):
            highest = max(highest, self._of_statement(statement, ranks))
        return highest

    def _of_statement(self, statement: ast.stmt, ranks: dict[str, int]) -> int:
        """Rank of a statement; those of the variables that it assigns are noted."""
        if isinstance(statement, ast.Assign):
            return max(self._assign(item, statement.value, ranks) for item in statement.targets)
        inside = int(isinstance(statement, ast.If | ast.For | ast.While))
        parts = [self._of(node, ranks) for node in ast.iter_child_nodes(statement)]
        return inside + max(parts, default=OF_LAYOUT)

    def _assign(self, target: ast.expr, value: ast.expr, ranks: dict[str, int]) -> int:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
            return max(self._assign(own, part, ranks) for own, part in pairs)
        rank = self._of(value, ranks)
        ranks.update(dict.fromkeys(_names(target), rank))
        return rank

    def _of(self, node: ast.AST, ranks: Mapping[str, int]) -> int:
        if isinstance(node, ast.Name):
            silent = node.id == "xp" or isinstance(node.ctx, ast.Store)
            return OF_LAYOUT if silent else ranks.get(node.id, 0)
        if isinstance(node, ast.Attribute) and node.attr in SHAPES:
            return OF_LAYOUT
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "trials":
            return OF_LAYOUT if getattr(node.slice, "value", "") in LAYOUT else 0
        if isinstance(node, ast.IfExp):
            return self._of_decision(node.test, node.body, node.orelse, ranks)
        if isinstance(node, ast.Call):
            return self._of_call(node, ranks)
        return self._highest(ast.iter_child_nodes(node), ranks)

    def _highest(self, nodes: Iterable[ast.AST], ranks: Mapping[str, int]) -> int:
        return max((self._of(node, ranks) for node in nodes), default=OF_LAYOUT)

    def _of_call(self, call: ast.Call, ranks: Mapping[str, int]) -> int:
        if _called(call) == "where" and len(call.args) == 3:
            test, first, second = call.args
            return self._of_decision(test, first, second, ranks)
        if not isinstance(call.func, ast.Name):
            return self._highest(ast.iter_child_nodes(call), ranks)
        function = self.code.functions.get(call.func.id)
        if function is None:
            return self._highest([*call.args, *call.keywords], ranks)
        given = dict(zip((item.arg for item in function.args.args), call.args, strict=False))
        given |= {item.arg: item.value for item in call.keywords if item.arg is not None}
        known = {name: self._of(value, ranks) for name, value in given.items()}
        return self.of_function(function.name, known)

    def _of_decision(
        self, test: ast.expr, first: ast.expr, second: ast.expr, ranks: Mapping[str, int]
    ) -> int:
        """Rank of a condition with its two branches."""
        condition = self._of(test, ranks)
        one, other = (max(self._of(branch, ranks), 0) for branch in (first, second))
        decides = not (
            condition == OF_LAYOUT
            or _guards_a_division(test, first, second)
            or _is_mirrored(first, second)
        )
        nested = int(decides and one == other)
        return max(nested + max(one, other), condition)


def _guards_a_division(test: ast.expr, *branches: ast.expr) -> bool:
    """Whether a condition only keeps a branch from dividing by nothing."""
    tested = _names(test) - {"xp"}
    divisors = [
        node.right
        for branch in branches
        for node in ast.walk(branch)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    ]
    return bool(tested) and any(tested <= _names(divisor) for divisor in divisors)


def _is_mirrored(first: ast.expr, second: ast.expr) -> bool:
    """Whether two branches say the same of the one side and of the other: a share, and what is left of one."""
    return (
        isinstance(second, ast.BinOp)
        and isinstance(second.op, ast.Sub)
        and getattr(second.left, "value", None) == 1
        and ast.dump(second.right) == ast.dump(first)
    )


def _called(node: ast.Call) -> str:
    """Last name of what is called, such as ``where`` of ``xp.where``."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


class _Quantities:
    """Kind of quantity that each variable of a function holds, as far as its text shows."""

    def __init__(self, code: _Code) -> None:
        self.code = code
        self.kinds: dict[str, str] = {}
        self.mixed: tuple[str, str] | None = None

    def mixed_in(self, name: str) -> tuple[str, str] | None:
        """Two kinds that a function adds or compares; None where there are none."""
        for statement in self.code.live.get(name, []):
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._assign(statement.targets[0], statement.value)
            else:
                for node in ast.iter_child_nodes(statement):
                    if isinstance(node, ast.expr):
                        self._kind(node)
        return self.mixed

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            for own, part in zip(target.elts, value.elts, strict=True):
                self._assign(own, part)
        elif isinstance(target, ast.Name):
            self.kinds[target.id] = self._kind(value)

    def _same(self, *kinds: str) -> str:
        """The common unit of quantities that are added or compared; noted where they differ."""
        known = list(dict.fromkeys(kind for kind in kinds if kind))
        if len(known) > 1 and self.mixed is None:
            self.mixed = known[0], known[1]
        return known[0] if len(known) == 1 else ""

    def _kind(self, node: ast.expr) -> str:
        """The unit of an expression; empty where anything may be meant, as for numbers and parameters."""
        if isinstance(node, ast.Name):
            return self.kinds.get(node.id, "")
        if isinstance(node, ast.Subscript):
            if getattr(node.value, "id", "") == "trials" and isinstance(node.slice, ast.Constant):
                return KINDS.get(str(node.slice.value), "")
            return self._kind(node.value)
        if isinstance(node, ast.BinOp):
            left, right = self._kind(node.left), self._kind(node.right)
            return self._same(left, right) if isinstance(node.op, ast.Add | ast.Sub) else ""
        if isinstance(node, ast.Compare):
            self._same(self._kind(node.left), *map(self._kind, node.comparators))
            return ""
        if isinstance(node, ast.Call):
            return self._kind_of_call(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._kind(child)
        return ""

    def _kind_of_call(self, node: ast.Call) -> str:
        name = _called(node)
        kinds = [self._kind(part) for part in node.args]
        if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") != "xp":
            kinds.insert(0, self._kind(node.func.value))
        if name in PLACES:
            return "a place in a list"
        if name not in KEEPING or not kinds:
            return ""
        return self._same(*(kinds[1:] if name == "where" else kinds))
