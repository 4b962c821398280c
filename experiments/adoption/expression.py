"""Columns that are computed from others, such as ``-loss`` or ``gain + loss``: a small, safe part of arithmetic."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
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
    "round": (1, np.round),
}
"""Number of values that each function takes, and the function."""
COLUMN_BY_CELL = re.compile(r"(?P<before>[^{}]*)\{(?P<by>[^{}]+)\}(?P<after>[^{}]*)")
LONGEST = 200
"""Letters of an expression."""


class ColumnExpression:
    """A sum, difference, product or quotient of columns and numbers; `FUNCTIONS` are known too.

    Or whether the cells of a column equal those of another, or a word: ``prediction == outcome``. Or in each row the
    cell of the column that another one names: ``outcome_{choice}`` is ``outcome_blue`` where the choice is blue.
    """

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
        named_by, self.by_cell = _named_by_cells(text.strip(), columns)
        """The columns that cells of the first one name, by the cell in small letters; empty in arithmetic."""
        if self.by_cell:
            self.equal, self.columns = None, (named_by, *self.by_cell.values())
            return
        plain, self._named = _with_plain_names(text.strip(), columns)
        try:
            self._tree = ast.parse(plain, mode="eval").body
        except (SyntaxError, RecursionError, MemoryError):
            raise ValueError(f"{text!r} is no expression") from None
        self.equal = _equal_parts(self._tree)
        """The column, and the column or the text in quotation marks, that are compared; None in arithmetic."""
        parts = self.equal or (self._tree,)
        known = [part for part in parts if not isinstance(part, ast.Constant)]
        allowed = {*columns, *self._named}
        names = [name for part in known for name in _checked_names(part, allowed)]
        self.columns = tuple(dict.fromkeys(self._named.get(name, name) for name in names))
        """The columns that it names, in their order."""
        if not self.columns or isinstance(self._tree, ast.Name):
            raise ValueError(f"{text!r} computes nothing from columns")

    def compared(self, cells: Mapping[str, Array]) -> tuple[Array, Array]:
        """Both sides of a comparison in each row, given the cells of its columns as text."""
        assert self.equal is not None
        n_rows = len(cells[self.columns[0]])
        left, right = (
            cells[self._named.get(part.id, part.id)]
            if isinstance(part, ast.Name)
            else np.full(n_rows, str(cast(ast.Constant, part).value), dtype=object)
            for part in self.equal
        )
        return left, right

    def value(self, numbers: Mapping[str, Array]) -> Array:
        """``(n_rows,)`` its value in each row, given the numbers of its columns."""
        with np.errstate(all="ignore"):
            known = {**numbers, **{own: numbers[name] for own, name in self._named.items()}}
            return np.asarray(_value(self._tree, known), dtype=np.float64)


def _with_plain_names(text: str, columns: Sequence[str]) -> tuple[str, dict[str, str]]:
    """An expression with plain names for columns such as ``values.gain``, and the column of each of these names."""
    named: dict[str, str] = {}
    odd = [name for name in columns if not name.isidentifier() and name in text and name != text]
    for name in sorted(odd, key=len, reverse=True):
        if not re.search(r"[A-Za-z]", name):
            continue
        own = f"column_{len(named)}_"
        text, n_found = re.subn(rf"(?<![\w.]){re.escape(name)}(?![\w.])", own, text)
        if n_found:
            named[own] = name
    return text, named


JOINED = " & "
"""Text between the columns that name participants together, as in ``site & id``."""


def joined_columns(name: str, columns: Sequence[str]) -> list[str]:
    """The columns that name participants together; empty for the name of one column."""
    parts = [part.strip() for part in name.split(JOINED)]
    return parts if len(parts) > 1 and set(parts) <= set(columns) else []


def columns_in(name: str, frame: pd.DataFrame) -> tuple[str, ...]:
    """The columns of the file behind a name: those that an expression computes with, else the column itself."""
    if joined := joined_columns(name, [str(column) for column in frame.columns]):
        return tuple(joined)
    try:
        return ColumnExpression(name, [str(column) for column in frame.columns]).columns
    except ValueError:
        return (name,)


def _named_by_cells(text: str, columns: Sequence[str]) -> tuple[str, dict[str, str]]:
    """``choice`` of ``outcome_{choice}``, and the columns that its cells may name; nothing of other expressions."""
    found = COLUMN_BY_CELL.fullmatch(text)
    if found is None or found["by"] not in columns:
        return "", {}
    shape = re.compile(
        f"{re.escape(found['before'])}(.+){re.escape(found['after'])}", re.IGNORECASE
    )
    fits = {name: shape.fullmatch(name) for name in columns if name not in (text, found["by"])}
    return found["by"], {own[1].casefold(): name for name, own in fits.items() if own}


def _equal_parts(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The two sides of ``A == B``, of which the second may be a word or a number; None for anything else."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    left, right = node.left, node.comparators[0]
    is_text = isinstance(right, ast.Constant) and type(right.value) in (str, int, float)
    if not isinstance(node.ops[0], ast.Eq) or not isinstance(left, ast.Name):
        return None
    return (left, right) if is_text or isinstance(right, ast.Name) else None


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
