"""Typed claims: what a language model says of the records, in a form that can be computed from them.

A sentence is never held against records: its digits may occur anywhere. A typed claim names a quantity,
of what, against what, its value and direction. It holds if the facts of the cited records give that value
to the digits stated; then it is told in the laboratory's own words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lakatos.theories.discovery.roles.answer import TypedClaim
from lakatos.theories.discovery.roles.option_name import ORDINALS, option_place

SHOWN_DIGITS: Final = 3
"""Significant digits to which exhibits show a number; nobody who read them can state more."""
UNITS: Final = {
    "share": ("share", "percent"),
    "score": ("nats per choice",),
    "standard_error": ("nats per choice",),
    "answers": ("count",),
    "squared_error": ("none",),
}
"""Units of quantities."""
RECORD_UNITS: Final = ("none", "share", "percent")
"""Units in which a number of any other record may be stated, which itself has none."""
PEOPLE: Final = "people"
COARSEST: Final = 0.05
"""Largest relative change of a number by rounding; a coarser claim states another number, such as 1 for 0.6."""
COARSEST_SHARE: Final = 0.02
"""Largest change of a share, or of a difference of shares, by rounding, whatever its size."""


@dataclass(frozen=True)
class ClaimFact:
    """One number that an exhibit shows, and exactly what it is a number of."""

    quantity: str
    value: float
    of: str = ""
    """``people``, or the name of a theory; empty for numbers that belong to nobody."""
    against: str = ""
    """The other theory, for a number that two theories have together."""
    experiment: str = ""
    trial: int = 0
    """Number of the trial, counted from 1; 0 for a number that belongs to no single trial."""
    option: str = ""
    """Name of the option, by its place, as `option_name.option_names` gives it."""
    label: str = ""
    """Label of the option that people read."""
    decimals: int | None = None
    """Decimals with which the number is shown; None for three significant digits."""

    @property
    def is_whole(self) -> bool:
        """Whether the quantity is a count, and so a whole number."""
        return UNITS.get(self.quantity) == ("count",)


def facts_in(value: Any, path: str = "") -> Iterator[ClaimFact]:
    """The numbers of plain values, each called by the names on the way to it: ``lines.0.score``."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        if math.isfinite(value):
            yield ClaimFact(path, float(value))
        return
    items: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        items = list(enumerate(value))
    for name, inner in items:
        yield from facts_in(inner, f"{path}.{name}" if path else str(name))


def claim_problem(claim: TypedClaim, facts: Sequence[ClaimFact]) -> str:
    """Explain why the cited records do not support a claim; empty if they do.

    Args:
        claim: What is claimed.
        facts: Numbers of the records that its statement cites.
    """
    if problem := _form_problem(claim):
        return problem
    found = _computed(claim, facts)
    return found if isinstance(found, str) else _value_problem(claim, *found)


def _form_problem(claim: TypedClaim) -> str:
    """Explain why no records could support a claim; empty if some could."""
    allowed = UNITS.get(claim.quantity, RECORD_UNITS)
    is_difference = claim.direction != "is"
    if claim.unit not in allowed:
        return f"{claim.quantity!r} is stated in {' or '.join(allowed)}, not in {claim.unit!r}"
    if bool(claim.against) != is_difference and claim.quantity != "standard_error":
        return 'a difference has "against" and "above" or "below"; anything else has "is" and no "against"'
    if claim.quantity == "standard_error" and is_difference:
        return '"standard_error" is a number by itself: its direction is "is"'
    if is_difference and claim.value.startswith("-"):
        return "a difference has no sign of its own: say above or below"
    return ""


def _value_problem(claim: TypedClaim, exact: Sequence[float], digits: int) -> str:
    """Explain why a claim's number is not what the records show; empty if it is.

    Args:
        claim: What is claimed.
        exact: What the records show, in one way or another.
        digits: Number of decimals.
    """
    scale = 100.0 if claim.unit == "percent" else 1.0
    sign = -1.0 if claim.direction == "below" else 1.0
    stated, decimals = float(claim.value), len(claim.value.partition(".")[2])
    if claim.direction != "is" and not (stated > 0 and sign * exact[0] > 0):
        return (
            f"{_name(claim.of)} is not {claim.direction} {_name(claim.against)} there: "
            f"the difference is {exact[0]:.3g}"
        )
    if decimals > max(0, digits - (2 if claim.unit == "percent" else 0)):
        return f"{claim.value} has more digits than the records show"
    half = 0.5 * 10.0**-decimals * (1 + 1e-9) + 1e-12
    shown = f"{sign * exact[0] * scale:.{SHOWN_DIGITS}g}"
    if all(abs(sign * value * scale - stated) > half for value in exact):
        return f"{_what(claim)} is {shown} in the cited records, not {claim.value}"
    if _is_coarse(claim, stated / scale, [sign * value for value in exact], digits):
        return f"{claim.value} is too coarse: {_what(claim)} is {shown}"
    return ""


def _is_coarse(claim: TypedClaim, stated: float, exact: Sequence[float], digits: int) -> bool:
    """Whether what is said is so much rounder than what records show that it says something else."""
    if claim.quantity == "share" and stated in (0.0, 1.0) and exact[0] != stated:
        return True
    within = 0.5 * 10.0**-digits + 1e-12
    distance = min(abs(value - stated) for value in exact)
    if distance <= within:
        return False
    if claim.quantity == "share":
        return distance > COARSEST_SHARE
    return distance > COARSEST * min(map(abs, exact))


def _computed(claim: TypedClaim, facts: Sequence[ClaimFact]) -> tuple[tuple[float, ...], int] | str:
    """The number claimed, from what records hold and from what was shown of it, with the decimals shown; or why not."""
    if not claim.against:
        found = _one(claim, claim.of, "", facts)
        return found if isinstance(found, str) else ((found.value, _shown(found)), _decimals(found))
    pair = _one(claim, claim.of, claim.against, facts)
    if not isinstance(pair, str):
        return (pair.value, _shown(pair)), _decimals(pair)
    first, second = _one(claim, claim.of, "", facts), _one(claim, claim.against, "", facts)
    for missing in (first, second):
        if isinstance(missing, str):
            return missing
    assert isinstance(first, ClaimFact)
    assert isinstance(second, ClaimFact)
    values = (first.value - second.value, _shown(first) - _shown(second))
    return values, min(_decimals(first), _decimals(second))


def _one(claim: TypedClaim, of: str, against: str, facts: Sequence[ClaimFact]) -> ClaimFact | str:
    """The one fact that is meant, or why there is none."""
    meant = [
        fact
        for fact in facts
        if claim.quantity == fact.quantity
        and _plain(against) == _plain(fact.against)
        and claim.trial == fact.trial
        and _belongs(of, claim.experiment, fact)
        and _is_option(claim.option, fact)
    ]
    if len({fact.value for fact in meant}) == 1:
        return meant[0]
    what = f"{_what(claim)} of {_name(of)}"
    near = max(facts, key=lambda fact: _likeness(claim, of, against, fact), default=None)
    nearest = "no numbers" if near is None else f"as the nearest {_fact_in_words(near)}"
    return f"the cited records hold no {what}; they hold {nearest}"


def _belongs(of: str, experiment: str, fact: ClaimFact) -> bool:
    """Whether a number is of what a claim names; a number that has a name of its own need not be placed further."""
    whose, where = _plain(of) == _plain(fact.of), experiment == fact.experiment
    if fact.quantity in UNITS:
        return whose and where
    return (whose or {_plain(of), fact.of} == {"", PEOPLE}) and (where or not experiment)


def _likeness(claim: TypedClaim, of: str, against: str, fact: ClaimFact) -> int:
    """Measure how near a fact is to a claim's topic: the quantity counts most, then of what it is, then where."""
    return (
        8 * (claim.quantity == fact.quantity)
        + 4 * (_plain(of) == _plain(fact.of))
        + 2 * (_plain(against) == _plain(fact.against))
        + 2 * (claim.experiment == fact.experiment)
        + (claim.trial == fact.trial)
        + _is_option(claim.option, fact)
    )


def _fact_in_words(fact: ClaimFact) -> str:
    """A fact as the fields of a claim."""
    fields = {
        "quantity": fact.quantity,
        "of": fact.of,
        "against": fact.against,
        "experiment": fact.experiment,
        "trial": fact.trial,
        "option": fact.option,
    }
    words = ", ".join(f'"{name}": {json.dumps(value)}' for name, value in fields.items() if value)
    return f"{words}: {_shown(fact):g}"


def _is_option(name: str, fact: ClaimFact) -> bool:
    """Whether a name of an option, by its place or by what people read, means that of a fact."""
    wanted = _plain(name)
    if not wanted or not fact.option:
        return wanted == fact.option
    return wanted == _plain(fact.label) or option_place(wanted) == option_place(fact.option)


def _plain(name: str) -> str:
    plain = " ".join(name.lower().split())
    return PEOPLE if plain in ("participants", "the participants") else plain


def _shown(fact: ClaimFact) -> float:
    if fact.decimals is not None:
        return round(fact.value, fact.decimals)
    return fact.value if fact.is_whole else float(f"{fact.value:.{SHOWN_DIGITS}g}")


def _decimals(fact: ClaimFact) -> int:
    """Decimals to which a number is shown."""
    if fact.decimals is not None:
        return fact.decimals
    if fact.is_whole or fact.value == 0:
        return 0 if fact.is_whole else SHOWN_DIGITS
    return max(0, SHOWN_DIGITS - 1 - math.floor(math.log10(abs(fact.value))))


def _name(of: str) -> str:
    return of or "the record"


def _what(claim: TypedClaim) -> str:
    parts = [claim.quantity]
    if claim.option:
        place = claim.option in ORDINALS
        parts.append(f"of the {claim.option} option" if place else f"of {claim.option}")
    if claim.trial:
        parts.append(f"on trial {claim.trial}")
    if claim.experiment:
        parts.append(f"in experiment {claim.experiment}")
    return " ".join(parts)


def told(claim: TypedClaim) -> str:
    """A claim in the laboratory's words."""
    unit = {"percent": " percent", "nats per choice": " nats per choice"}.get(claim.unit, "")
    if claim.direction == "is":
        against = f" against {claim.against}" if claim.against else ""
        return f"{_what(claim)}, {_name(claim.of)}{against}: {claim.value}{unit}"
    return f"{_what(claim)}: {_name(claim.of)} is {claim.value}{unit} {claim.direction} {_name(claim.against)}"
