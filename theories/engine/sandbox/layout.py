"""Arrays of draws and people that keep their first axes together in memory.

Theories write ``(n_draws, n_sequences, ...)`` with short axes last: states, options. NumPy lays these down with the
last axis fastest, and then runs loops of two or three elements, thousands of times. An array that lies the other way
round, with draws next to one another, is worked through in long loops, three to ten times as fast; but where an operand
lacks an axis NumPy falls back on its usual order. So these arrays ask for theirs in every operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FEW = 512
"""Draws times sequences below which asking costs more than it saves."""


class ColumnArray(np.ndarray[Any, Any]):
    """An array in column-major order, as is all that is computed from it element by element."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> Any:
        """The operation on plain arrays, with its result in column-major order."""
        arrays = [_plain(item) for item in inputs]
        if named:
            named = {name: _plain(item) for name, item in named.items()}
        out = named.get("out")
        if out is not None:
            named["out"] = tuple(map(_plain, out))
        elif method == "__call__" and ufunc.signature is None:
            named.setdefault("order", "F")
        found = getattr(ufunc, method)(*arrays, **named)
        if out is not None:
            return out[0] if len(out) == 1 else out
        if type(found) is tuple:
            return tuple(map(_columns, found))
        return _columns(found)

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        """Apply a function as NumPy does, with the same kind of result."""
        return _columns(super().__array_function__(function, types, arguments, named))


def columns(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy in column-major order; it lends its order to all that it meets."""
    copied = np.array(array, order="F")
    copied.flags.writeable = False
    return copied.view(ColumnArray)


def _plain(item: Any) -> Any:
    return item.view(np.ndarray) if type(item) is ColumnArray else item


def _columns(item: Any) -> Any:
    return item.view(ColumnArray) if type(item) is np.ndarray else item
