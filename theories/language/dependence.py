"""Dependences of people's parameters on what is known of them: age, group or condition, as a theory declares them.

A source says so beside the range of a parameter, with a prior of its own::

    PARAMETERS = {
        "rate": {
            "prior": "uniform", "low": 0.0, "high": 1.0,
            "depends_on": [{"attribute": "age_years", "around": 18, "per": 8, "sd": 0.25}],
        },
    }

The center of a person's own distribution then lies where people of 18 years have it, and further up or down the range
by an *effect* for every 8 years. Effects are shares of the range, on the scale of the prior, and have a normal prior
with mean 0 and this standard deviation. ``{"attribute": "condition", "is": "hurry", "sd": 0.25}`` moves the center of
people of whom that is known. The theory's functions see none of it: what they compute holds for everybody.

A `Prior` with learned effects describes all people together; its `OwnCenter` says who they are apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.errors import PriorError

Array = NDArray[np.float64]
OF_A_NUMBER, OF_A_GROUP = ("attribute", "around", "per", "sd"), ("attribute", "is", "sd")
MOST_DEPENDENCES = 3
"""Most dependences of one parameter."""


@dataclass(frozen=True)
class Dependence:
    """Dependence of the center of a parameter on one thing that is known of people."""

    attribute: str
    sd: float
    """Standard deviation of the effect's normal prior, as a share of the parameter's range."""
    around: float = 0.0
    per: float = 1.0
    """Unit of a number: the effect is that of so much more of it, and people at ``around`` have none."""
    group: str = ""
    """Group of people whose effect it is, where the attribute is given in words; empty for a number."""

    def values_of(self, cells: Sequence[str]) -> Array:
        """``(n_people,)`` times the effect by which a center moves; NaN where nothing is known.

        Args:
            cells: What is known of each person, as a table shows it; empty where it is not.
        """
        return np.array([self._value_of(cell) for cell in cells], dtype=float)

    def _value_of(self, cell: str) -> float:
        if not cell:
            return math.nan
        if self.group:
            return float(cell == self.group)
        try:
            value = (float(cell) - self.around) / self.per
        except ValueError:
            return math.nan
        return value if math.isfinite(value) else math.nan

    def to_literal(self) -> dict[str, Any]:
        """The dependence as a theory's source declares it."""
        place = {"is": self.group} if self.group else {"around": self.around, "per": self.per}
        return {"attribute": self.attribute, **place, "sd": self.sd}

    @property
    def in_words(self) -> str:
        """The dependence in words, such as ``age_years (for each 8 more)``."""
        if self.group:
            return f"whether {self.attribute} is {self.group}"
        return f"{self.attribute} (for each {self.per:g} more)"


@dataclass(frozen=True)
class OwnCenter:
    """Center of a person's own distribution of a parameter, as estimated from responses, in shares of its range."""

    center: float
    """Center of people without any effect: around the declared values, and of no named group."""
    spread: float
    """Standard deviation of people of whom the same is known."""
    effects: tuple[float, ...]
    """Effects of the declared dependences, in their order."""
    errors: tuple[float, ...]
    """Standard errors of the effects."""

    @property
    def as_array(self) -> Array:
        """The array that a preregistration keeps: center and spread, then the effects, then their errors."""
        return np.array([self.center, self.spread, *self.effects, *self.errors])

    @classmethod
    def from_array(cls, values: Array) -> OwnCenter:
        """Read what `as_array` wrote."""
        center, spread, *rest = map(float, values)
        half = len(rest) // 2
        return cls(center, spread, tuple(rest[:half]), tuple(rest[half:]))


def parse_dependences(name: str, literal: Any) -> tuple[Dependence, ...]:
    """Read ``depends_on`` of one entry of ``PARAMETERS``.

    Raises:
        PriorError: It is no list of dependences with proper priors, each of another attribute.
    """
    if not isinstance(literal, list | tuple) or not 0 < len(literal) <= MOST_DEPENDENCES:
        raise PriorError(
            f"parameter {name!r}: depends_on must be a list of one to {MOST_DEPENDENCES} entries."
        )
    found = tuple(_parse_dependence(name, item) for item in literal)
    places = {(item.attribute, item.group) for item in found}
    if len(places) < len(found):
        raise PriorError(f"parameter {name!r}: depends_on names the same attribute twice.")
    return found


def _parse_dependence(name: str, literal: Any) -> Dependence:
    keys = set(literal) if isinstance(literal, Mapping) else set()
    if keys not in (set(OF_A_NUMBER), set(OF_A_GROUP)):
        raise PriorError(
            f"parameter {name!r}: {literal!r} says of nothing how it matters. Write "
            '{"attribute": "age_years", "around": 18, "per": 8, "sd": 0.25} for a number, '
            '{"attribute": "group", "is": "children", "sd": 0.25} for a group or a condition.'
        )
    numbers = {key: literal[key] for key in ("around", "per", "sd") if key in keys}
    words = {key: literal[key] for key in ("attribute", "is") if key in keys}
    if not all(_is_number(value) for value in numbers.values()) or not all(
        isinstance(value, str) and value.strip() for value in words.values()
    ):
        raise PriorError(
            f"parameter {name!r}: depends_on needs finite numbers for {', '.join(numbers)}, and words for "
            f"{', '.join(words)}."
        )
    if numbers.get("per", 1) <= 0 or not 0 < numbers["sd"] <= 1:
        raise PriorError(
            f"parameter {name!r}: depends_on needs per > 0, and an sd above 0 of at most 1, a share of the range."
        )
    return Dependence(
        attribute=words["attribute"],
        sd=float(numbers["sd"]),
        around=float(numbers.get("around", 0.0)),
        per=float(numbers.get("per", 1.0)),
        group=words.get("is", ""),
    )


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e9
        and math.isfinite(value)
    )
