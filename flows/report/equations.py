"""A theory's own statements as equations in plain text, with the names of its parameters.

The statements are those of its program. What only serves arrays is left out: added axes, limits against overflow, terms
that are zero, and values on which the predicted probability does not depend.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from lakatos.theories.language.parsing import parse

WRITTEN: Final[Mapping[str, str]] = {
    "sum": "Σ", "prod": "Π", "ndtr": "Φ", "maximum": "max", "minimum": "min", "absolute": "abs",
}  # fmt: skip
"""Functions of arrays that are written in another way."""
SAME: Final = frozenset(("asarray", "broadcast_to", "squeeze", "astype"))
"""Functions that leave numbers as they are."""
FILLED: Final[Mapping[str, int]] = {"ones_like": 1, "zeros_like": 0}
PLACED: Final = frozenset(("take_along_axis", "argmax", "argmin", "argsort"))
"""Functions of places in arrays, which no formula has."""
AXES: Final = frozenset(("axis", "keepdims", "dtype"))
OVERFLOW: Final = 30
"""Limits of a clipped value from which on they only prevent an overflow."""
GIVEN: Final = frozenset(("parameters", "trials", "state", "response", "feedback"))
"""Arguments of a theory's functions; entries of dictionaries are written by their keys."""
SIGNS: Final = (("**", "^"), ("*", "·"), (" - ", " − "), ("(-", "(−"), (" -", " −"))
"""Signs of Python, and those of an equation."""
FOLDED: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip
FORMULA: Final = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.Name, ast.Constant, ast.Tuple,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
"""Parts of which a formula is made, once indices are written."""


def equations_of(source: str) -> list[str]:
    """Write the equations of a theory, in the order in which they are computed.

    Args:
        source: The theory's program.

    Returns:
        One equation for each statement on which the predicted probability depends, then those by which a theory that
        learns renews its state; none where loops, branches or functions of its own are among them.
    """
    functions = {
        item.name: item for item in parse(source).body if isinstance(item, ast.FunctionDef)
    }
    found: list[str] = []
    for name in ("choose", "learn"):
        if name in functions:
            try:
                lines = _lines(functions[name].body)
            except RecursionError:
                lines = None
            if lines is None:
                return []
            found += lines
    return found


def _lines(body: Sequence[ast.stmt]) -> list[str] | None:
    """Equations of a function's statements; None where one that is needed is no equation."""
    written = _Written()
    found: list[tuple[str, ast.AST]] = []
    inputs, estimated = {"trials"}, set(GIVEN) - {"trials"}
    for target, value in _needed(body):
        read = set(_names_in(value))
        right: ast.AST = written.write(value) if isinstance(value, ast.expr) else value
        is_formula = all(isinstance(node, FORMULA) for node in ast.walk(right)) and not _is_outer(
            right
        )
        others = (item for name, item in written.known.items() if name != target)
        if target == "state":
            continue
        if read & estimated:
            estimated.add(target)
        elif read & inputs and is_formula:
            inputs.add(target)
        elif not isinstance(right, ast.Constant):
            continue  # what is made of the trials alone, in another way, is known by its name
        if isinstance(right, ast.Constant | ast.Name):
            written.known[target] = right
        elif not is_formula or any(target in _names_in(item) for item in others):
            return None  # the second: another name stands for the former value of this one
        else:
            written.known.pop(target, None)
            found.append((target, right))
    return [_signs(f"{target} = {ast.unparse(right)}") for target, right in _used(found, body)]


def _used(
    found: Sequence[tuple[str, ast.AST]], body: Sequence[ast.stmt]
) -> list[tuple[str, ast.AST]]:
    """Equations of values that a later equation contains, that are returned, or that are kept in the state."""
    ends = {"p"} | {name for item in body for name, _, is_kept in _assignments(item) if is_kept}
    ends |= {name for item in body if isinstance(item, ast.Return) for name in _names_in(item)}
    used = []
    for target, right in reversed(found):
        if target in ends:
            ends |= set(re.findall(r"\w+", ast.unparse(right)))
            used.append((target, right))
    return used[::-1]


def _is_outer(formula: ast.AST) -> bool:
    """Whether a value is compared with all values of its own kind, which axes state and a formula does not."""
    return any(
        isinstance(node, ast.Compare) and ast.unparse(node.left) == ast.unparse(node.comparators[0])
        for node in ast.walk(formula)
    )


def _needed(body: Sequence[ast.stmt]) -> list[tuple[str, ast.AST]]:
    """Names that what is returned or kept depends on, in order, with their values or what else sets them."""
    needed: set[str] = set()
    found: list[tuple[str, ast.AST]] = []
    for statement in reversed(body):
        if isinstance(statement, ast.Return):
            needed |= set(_names_in(statement)) - {"state"}
            if not isinstance(statement.value, ast.Name) and statement.value is not None:
                found.append(("p", statement.value))
            continue
        for target, value, is_kept in reversed(list(_assignments(statement))):
            if is_kept or target in needed:
                needed -= {target}
                needed |= set(_names_in(value))
                found.append((target, value))
    return found[::-1]


def _assignments(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, bool]]:
    """Name, value, and whether the value is kept in the state, of everything that a statement sets."""
    if isinstance(statement, ast.AugAssign):
        read = ast.parse(ast.unparse(statement.target), mode="eval").body
        pairs: list[tuple[ast.expr, ast.expr]] = [
            (statement.target, ast.BinOp(read, statement.op, statement.value))
        ]
    elif isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=False))
    else:
        pairs = []
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, statement, False
            elif isinstance(node, ast.FunctionDef):
                yield node.name, statement, False
    for left, right in pairs:
        if isinstance(left, ast.Name):
            yield left.id, right, False
        elif isinstance(left, ast.Subscript) and isinstance(left.slice, ast.Constant):
            yield str(left.slice.value), right, ast.unparse(left.value) == "state"
        else:
            for node in ast.walk(left):
                if isinstance(node, ast.Name):
                    yield node.id, statement, False


def _names_in(node: ast.AST) -> Iterator[str]:
    return (item.id for item in ast.walk(node) if isinstance(item, ast.Name))


def _signs(text: str) -> str:
    for sign, written in SIGNS:
        text = text.replace(sign, written)
    return text


class _Written(ast.NodeTransformer):
    """Rewrites an expression of arrays as one of numbers."""

    def __init__(self) -> None:
        self.known: dict[str, ast.expr] = {}
        """Numbers and other names that names stand for."""

    def write(self, node: ast.expr) -> ast.expr:
        """An expression as a formula."""
        found = self.visit(node)
        assert isinstance(found, ast.expr)
        return found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.known.get(node.id, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """An entry of a dictionary by its key, an option by its number, and a value without its added axes."""
        index = node.slice
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            return ast.Name(" ".join(index.value.split()))
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return ast.Name(f"n({ast.unparse(self.write(node.value.value))})")
        value = self.write(node.value)
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        kept = [item for item in parts if not _is_axis(item)]
        if not kept:
            return value
        if not isinstance(value, ast.Name) or not all(
            isinstance(item, ast.Constant) for item in kept
        ):
            return node
        places = ", ".join(str(item.value + 1) for item in kept)  # type: ignore[attr-defined]
        return ast.Name(f"{ast.unparse(value)}[{places}]")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A function by its name, without axes and without the library of arrays."""
        given = [item for item in node.args if not _is_library(item)]
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            given = given if _is_library(node.func.value) else [node.func.value, *given]
        values = [self.write(item) for item in given]
        values = [
            item for item in values if not (isinstance(item, ast.Constant) and item.value is None)
        ]
        if name in PLACED or not values or {item.arg for item in node.keywords} - AXES:
            return node
        if name in FILLED:
            return ast.Constant(FILLED[name])
        if name in SAME or (name == "clip" and all(map(_is_beyond, values[1:]))):
            return values[0]
        if name == "clip" and _number(values[0]) == 0:
            return values[0]
        if name == "stack" and isinstance(given[0], ast.List):
            return ast.Tuple([self.write(item) for item in given[0].elts])
        if name == "where" and len(values) == 3:
            return values[1] if _is_always_true(values[0]) else ast.IfExp(*values)
        if name == "expm1":
            return ast.BinOp(ast.Call(ast.Name("exp"), values, []), ast.Sub(), ast.Constant(1))
        if name == "log1p":
            return ast.Call(ast.Name("log"), [_sum(ast.Constant(1), values[0])], [])
        if name == "logistic" and _number(values[0]) == 0:
            return ast.Constant(0.5)
        if name in ("sum", "prod", "max", "min", "mean"):
            values = values[:1]
        return ast.Call(ast.Name(WRITTEN.get(name, name)), values, [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """An operation, without terms that are zero and factors that are one."""
        left, right, sign = self.write(node.left), self.write(node.right), node.op
        first, second = _number(left), _number(right)
        if first is not None and second is not None and type(sign) in FOLDED:
            return ast.Constant(FOLDED[type(sign)](first, second))
        if isinstance(sign, ast.Add | ast.Sub) and second == 0:
            return left
        if isinstance(sign, ast.Add) and first == 0:
            return right
        if isinstance(sign, ast.Sub) and first == 0:
            return ast.UnaryOp(ast.USub(), right)
        if isinstance(sign, ast.Mult) and 0 in (first, second):
            return ast.Constant(0)
        if isinstance(sign, ast.Mult) and first == 1:
            return right
        if isinstance(sign, ast.Mult | ast.Div) and second == 1:
            return left
        return ast.BinOp(left, sign, right)


def _sum(left: ast.expr, right: ast.expr) -> ast.expr:
    return ast.BinOp(left, ast.Add(), right)


def _is_axis(node: ast.expr) -> bool:
    """Whether an index selects nothing: an ellipsis, a new axis or a whole one, also without what pads it."""
    if isinstance(node, ast.Slice):
        return node.lower is None and (node.upper is None or isinstance(node.upper, ast.Name))
    return isinstance(node, ast.Constant) and node.value in (None, Ellipsis)


def _is_library(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("xp", "special")


def _number(node: ast.expr) -> float | None:
    """The number that an expression is; None for any other one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return float(node.value) if is_number else None  # type: ignore[attr-defined]


def _is_always_true(node: ast.expr) -> bool:
    """Whether a condition is that a positive number is above zero."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Gt):
        return False
    left, right = _number(node.left), _number(node.comparators[0])
    return left is not None and right is not None and left > right


def _is_beyond(node: ast.expr) -> bool:
    """Whether a limit only prevents an overflow."""
    value = _number(node)
    return value is not None and (
        abs(value) >= OVERFLOW or 0 < value < 1e-6 or 1 - 1e-6 < value < 1
    )
