"""Columns that are computed from others, such as ``-loss`` or ``gain + loss``: a small, safe part of arithmetic."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "abs": (1, np.abs),
    "max": (2, np.maximum),
    "min": (2, np.minimum),
}
"""How many values each function takes, and what it does."""
LONGEST = 200
"""Letters of an expression."""


class ColumnExpression:
    """A sum, difference, product or quotient of columns and numbers; ``abs``, ``min`` and ``max`` are known too."""

    def __init__(self, text: str, columns: Sequence[str]) -> None:
        """Read an expression.

        Args:
            text: Such as ``100 - price``.
            columns: Names of the columns that there are.

        Raises:
            ValueError: It is none, or it names a column that is not there.
        """
        if len(text) > LONGEST:
            raise ValueError(f"an expression has at most {LONGEST} letters")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, RecursionError, MemoryError):
            raise ValueError(f"{text!r} is no expression") from None
        self.columns = tuple(dict.fromkeys(_checked_names(self._tree, set(columns))))
        """The columns that it names, in their order."""
        if not self.columns or isinstance(self._tree, ast.Name):
            raise ValueError(f"{text!r} computes nothing from columns")

    def value(self, numbers: Mapping[str, Array]) -> Array:
        """``(n_rows,)`` its value in each row, given the numbers of its columns."""
        with np.errstate(all="ignore"):
            return np.asarray(_value(self._tree, numbers), dtype=np.float64)


def _checked_names(node: ast.expr, columns: set[str]) -> list[str]:
    """The columns that a part of an expression names; `ValueError` where it is anything but arithmetic."""
    if isinstance(node, ast.Name) and node.id in columns:
        return [node.id]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return []
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return _checked_names(node.left, columns) + _checked_names(node.right, columns)
    if isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
        return _checked_names(node.operand, columns)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        n_values, _ = FUNCTIONS.get(node.func.id, (0, None))
        if n_values == len(node.args) and n_values:
            return [name for part in node.args for name in _checked_names(part, columns)]
    raise ValueError(f"{ast.unparse(node)!r} is no column, no number and no arithmetic of these")


def _value(node: ast.expr, numbers: Mapping[str, Array]) -> Any:
    """The value of a part of an expression that was checked."""
    if isinstance(node, ast.Name):
        return numbers[node.id]
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]  # a number, as `_checked_names` has it
    if isinstance(node, ast.BinOp):
        return OPERATIONS[type(node.op)](_value(node.left, numbers), _value(node.right, numbers))
    if isinstance(node, ast.UnaryOp):
        return SIGNS[type(node.op)](_value(node.operand, numbers))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return FUNCTIONS[node.func.id][1](*(_value(part, numbers) for part in node.args))
