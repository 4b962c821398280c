"""Rules that tie the attributes of an option to one another, so that impossible options are never shown."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.expression import ColumnExpression

Array = NDArray[Any]
RULE = re.compile(r"([^<>=!]+)(<=|>=|==|!=|<|>)([^<>=!]+)")
HOLDS: Mapping[str, Callable[[Array, float], Array]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
ROUNDED = 9
"""Digits behind the point to which both sides are compared."""


class AttributeRule:
    """A comparison of attributes of one option with each other or with numbers, such as ``changes <= length - 1``."""

    def __init__(self, text: str, attributes: Sequence[str]) -> None:
        """Read a rule.

        Args:
            text: Two sums of attributes and numbers with one of ``<= >= == != < >`` between them.
            attributes: Names of the attributes that are numbers.

        Raises:
            ValueError: It is no rule, or it names an attribute that is not there.
        """
        found = RULE.fullmatch(text.strip())
        if found is None:
            raise ValueError(
                f"{text!r} is no comparison; write two sides with one of {' '.join(HOLDS)} between them"
            )
        left, sign, right = found.groups()
        self.difference = ColumnExpression(f"({left}) - ({right})", attributes)
        self.holds_at = HOLDS[sign]

    def holds(self, arrays: Mapping[str, Array]) -> Array:
        """Whether it is true of each option; arrays of any one shape, by the names of attributes."""
        difference = np.round(self.difference.value(arrays), ROUNDED)
        return np.asarray(np.isfinite(difference) & self.holds_at(difference, 0.0))
