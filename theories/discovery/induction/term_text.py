"""Computes the text that terms are written in, without running it as a program.

Terms are pieces of source of the theories that they become. Their values on people's trials come from the same text, so
that a theory and the search cannot disagree. The text is a small part of Python: array expressions, assignments, and
functions whose only loops go over a list. It is read into closures once, and a name, a method or a kind of statement
that is not listed here is refused when it is read.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import EllipsisType
from typing import Any

from lakatos.theories.errors import GrammarError
from lakatos.theories.language.parsing import parse

Names = dict[str, Any]
"""Variables and functions, by name."""
Computed = Callable[[Names], Any]
"""An expression that was read: its value, given its variables."""
Done = Callable[[Names], None]
"""A statement that was read: sets names."""

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
BUILT_IN: Names = {"len": len, "range": range}
ATTRIBUTES = frozenset((
    "abs", "all", "any", "arange", "argmax", "argmin", "argsort", "clip", "concatenate", "cumsum",
    "diff", "exp", "items", "log", "max", "maximum", "mean", "min", "minimum", "ndim", "ones",
    "prod", "reshape", "round", "shape", "sign", "sort", "sqrt", "stack", "sum", "take_along_axis",
    "var", "where", "zeros",
))  # fmt: skip
"""Methods of arrays and functions of the array library that terms use."""


@lru_cache(maxsize=4096)
def read_expression(text: str) -> Computed:
    """Read an expression; what is returned computes it, given its variables.

    Raises:
        GrammarError: The text is no expression of this language.
    """
    statements = parse(text.strip()).body
    if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
        raise GrammarError(f"the term {text!r} is not one expression.")
    return _read(statements[0].value)


def compute(text: str, names: Names) -> Any:
    """Value of an expression, given its variables."""
    return read_expression(text)(names)


def carry_out(text: str, names: Names) -> None:
    """Carry out assignments and definitions of functions, which set ``names``.

    Raises:
        GrammarError: The text says something that is not of this language.
    """
    for statement in parse(text).body:
        _read_statement(statement)(names)


# Statements


def _read_statement(node: ast.stmt) -> Done:
    """A statement as what it does to the names."""
    if isinstance(node, ast.Assign):
        return _assignment(node)
    if isinstance(node, ast.For):
        return _loop(node)
    if isinstance(node, ast.FunctionDef):
        return _definition(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return lambda names: None  # a docstring
    raise _foreign(node)


def _assignment(node: ast.Assign) -> Done:
    """Sets one name or several."""
    value = _read(node.value)
    targets = [_target(target) for target in node.targets]

    def assign(names: Names) -> None:
        found = value(names)
        for target in targets:
            target(names, found)

    return assign


def _target(node: ast.expr) -> Callable[[Names, Any], None]:
    """Return a function that assigns a value: to a name, or to names that it is divided among."""
    if isinstance(node, ast.Name):
        return lambda names, value: names.__setitem__(node.id, value)
    if not isinstance(node, ast.Tuple):
        raise _foreign(node)
    parts = [_target(part) for part in node.elts]

    def divide(names: Names, values: Any) -> None:
        for part, value in zip(parts, values, strict=True):
            part(names, value)

    return divide


def _loop(node: ast.For) -> Done:
    """Statements that are repeated for each item of a list."""
    items, target = _read(node.iter), _target(node.target)
    body = [_read_statement(statement) for statement in node.body]

    def repeat(names: Names) -> None:
        for item in items(names):
            target(names, item)
            for statement in body:
                statement(names)

    return repeat


def _definition(node: ast.FunctionDef) -> Done:
    """A function, which sees the names around it and ends with the value that it returns."""
    *statements, last = node.body
    if not isinstance(last, ast.Return) or last.value is None:
        raise _foreign(last)
    parameters = [argument.arg for argument in node.args.args]
    body, value = [_read_statement(statement) for statement in statements], _read(last.value)

    def define(names: Names) -> None:
        def call(*given: Any) -> Any:
            own = {**names, **dict(zip(parameters, given, strict=True))}
            for statement in body:
                statement(own)
            return value(own)

        names[node.name] = call

    return define


# Expressions


def _read(node: ast.expr) -> Computed:
    """An expression as a function of its variables."""
    reader = READERS.get(type(node))
    if reader is None:
        raise _foreign(node)
    return reader(node)


def _constant(node: ast.Constant) -> Computed:
    value = node.value
    if not isinstance(value, int | float | str | EllipsisType | None):
        raise _foreign(node)
    return lambda names: value


def _name(node: ast.Name) -> Computed:
    name = node.id
    if name in BUILT_IN:
        function = BUILT_IN[name]
        return lambda names: function
    return lambda names: names[name]


def _binary(node: ast.BinOp) -> Computed:
    apply = _operation(BINARY, node.op)
    left, right = _read(node.left), _read(node.right)
    return lambda names: apply(left(names), right(names))


def _unary(node: ast.UnaryOp) -> Computed:
    apply, value = _operation(UNARY, node.op), _read(node.operand)
    return lambda names: apply(value(names))


def _comparison(node: ast.Compare) -> Computed:
    if len(node.ops) != 1:
        raise _foreign(node)
    apply = _operation(COMPARED, node.ops[0])
    left, right = _read(node.left), _read(node.comparators[0])
    return lambda names: apply(left(names), right(names))


def _choice(node: ast.IfExp) -> Computed:
    test, yes, no = _read(node.test), _read(node.body), _read(node.orelse)
    return lambda names: yes(names) if test(names) else no(names)


def _attribute(node: ast.Attribute) -> Computed:
    if node.attr not in ATTRIBUTES:
        raise _foreign(node)
    value, found = _read(node.value), operator.attrgetter(node.attr)
    return lambda names: found(value(names))


def _call(node: ast.Call) -> Computed:
    function, arguments = _read(node.func), _read_all(node.args)
    named = [(item.arg, _read(item.value)) for item in node.keywords if item.arg]
    if len(named) < len(node.keywords):
        raise _foreign(node)

    def call(names: Names) -> Any:
        given = [argument(names) for argument in arguments]
        return function(names)(*given, **{name: value(names) for name, value in named})

    return call


def _subscript(node: ast.Subscript) -> Computed:
    value, place = _read(node.value), _read(node.slice)
    return lambda names: value(names)[place(names)]


def _slice(node: ast.Slice) -> Computed:
    nothing = ast.Constant(None)
    start, stop, step = _read_all([part or nothing for part in (node.lower, node.upper, node.step)])
    return lambda names: slice(start(names), stop(names), step(names))


def _tuple(node: ast.Tuple) -> Computed:
    items = _read_all(node.elts)
    return lambda names: tuple(item(names) for item in items)


def _list(node: ast.List) -> Computed:
    items = _read_all(node.elts)
    return lambda names: [item(names) for item in items]


def _dict(node: ast.Dict) -> Computed:
    if None in node.keys:
        raise _foreign(node)
    keys, values = _read_all([key for key in node.keys if key]), _read_all(node.values)
    pairs = list(zip(keys, values, strict=True))
    return lambda names: {key(names): value(names) for key, value in pairs}


def _dict_of_items(node: ast.DictComp) -> Computed:
    """A dictionary made by one loop without conditions."""
    loop = node.generators[0]
    if len(node.generators) > 1 or loop.ifs or loop.is_async:
        raise _foreign(node)
    items, target = _read(loop.iter), _target(loop.target)
    key, value = _read(node.key), _read(node.value)

    def collect(names: Names) -> dict[Any, Any]:
        found, own = {}, dict(names)
        for item in items(names):
            target(own, item)
            found[key(own)] = value(own)
        return found

    return collect


READERS: dict[type[ast.expr], Callable[[Any], Computed]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Dict: _dict,
    ast.DictComp: _dict_of_items,
}
"""Functions that read each kind of expression; there are no others."""


def _read_all(nodes: Sequence[ast.expr]) -> list[Computed]:
    return [_read(node) for node in nodes]


def _operation(table: dict[Any, Any], node: ast.AST) -> Any:
    """The function that an operator stands for."""
    if type(node) not in table:
        raise _foreign(node)
    return table[type(node)]


def _foreign(node: ast.AST) -> GrammarError:
    """The error about a part of the text that the language does not have."""
    return GrammarError(
        f"terms may not say {ast.unparse(node)!r} ({type(node).__name__}): "
        "`lakatos.theories.discovery.induction.term_text` lists what they may."
    )
