"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.intertemporal.task import dominance
from lakatos.experiments.adoption.layouts import (
    AMOUNTS,
    DAYS,
    DELAYS,
    NOW,
    SIDES,
    Reading,
    StimulusLayout,
    by_side,
    words_and_sides,
)
from lakatos.experiments.adoption.mapping import OPEN_QUESTION
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import EARLY, LATE
from lakatos.experiments.adoption.signatures import (
    NEARLY_ALL,
    ColumnSignature,
    TableSignature,
    counterparts,
    is_below,
    is_clock,
    named_amounts,
)
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


SOONER = {"s", "ss", "sooner", "soon", "small", "smaller", "now", "immediate"}
"""Words in names of columns of the sooner option, where those of the later one have no word for it."""


IN_TIME = [pair for pair in SIDES if set(pair) & (EARLY | LATE | SOONER)]
"""Words that tell options apart by when they are paid; others must be the same for amounts and delays."""


def _guess_dated(names: Sequence[str]) -> dict[str, Any]:
    if glued := _guess_glued(names):
        return glued
    found = words_and_sides(names, AMOUNTS)
    amounts = found and found[1]
    delays = by_side(names, DELAYS, [found[0], *IN_TIME] if found else SIDES)
    dates, days = by_side(names, ["date"]), [name for name in names if "date" in words_of(name)]
    if amounts and not delays and dates and len(days) == 3:
        (today,) = {*days} - {*dates[0], *dates[1]}
        delays = [f"{dates[0][0]} - {today}"], [f"{dates[1][0]} - {today}"]
    if not amounts and not delays:
        return _guess_one_side(names)
    if not amounts or not len(amounts[0]) == len(amounts[1]) == 1:
        return {}
    soon, late = amounts[0][0], amounts[1][0]
    if delays and len(delays[0]) == len(delays[1]) == 1:
        return {"amounts": [soon, late], "delays_days": [delays[0][0], delays[1][0]]}
    # Money now needs no column for its delay.
    waits = [name for name in names if set(words_of(name)) & set(DELAYS)]
    if delays or len(waits) != 1 or not set(words_of(soon)) & set(NOW):
        return {}
    return {"amounts": [soon, late], "delays_days": [0, waits[0]]}


def _guess_glued(names: Sequence[str]) -> dict[str, Any]:
    """Columns such as ``SSA``, ``LLA``, ``SSD`` and ``LLD``: smaller sooner and larger later, amount and delay."""
    plain = {name.casefold(): name for name in names}
    rests = [name.removeprefix("ss") for name in plain if name.startswith("ss")]
    pairs = {
        rest: [plain[f"ss{rest}"], plain[f"ll{rest}"]] for rest in rests if f"ll{rest}" in plain
    }
    amounts = [pair for rest, pair in pairs.items() if rest in GLUED_AMOUNTS]
    delays = [pair for rest, pair in pairs.items() if rest in GLUED_DELAYS]
    if len(amounts) != 1 or len(delays) != 1:
        return {}
    return {"amounts": amounts[0], "delays_days": delays[0]}


GLUED_AMOUNTS = {"a", "amt", "amount", "m", "mag", "r", "rew", "reward", "v", "val", "value"}
GLUED_DELAYS = {"d", "del", "delay", "t", "time", "w", "wait"}
"""Words after ``ss`` and ``ll`` in names that are written as one word."""


def _guess_one_side(names: Sequence[str]) -> dict[str, Any]:
    """Columns such as ``smag`` and ``sdelay`` beside ``mag`` and ``delay``: only the sooner option has its letter."""
    words = {name: set(words_of(name)) for name in names}
    sides = SOONER | {side for pair in SIDES for side in pair}
    found = {}
    for part, kind in (("amounts", {*AMOUNTS, "mag"}), ("delays_days", {"delay", "wait"})):
        own = {name: own_words for name, own_words in words.items() if own_words & kind}
        soon = [name for name, own_words in own.items() if own_words & SOONER]
        other = [
            name for name, own_words in own.items() if not own_words & (sides | {"short", "long"})
        ]
        if len(soon) != 1 or len(other) != 1:
            return {}
        found[part] = [soon[0], other[0]]
    return found


WAITS = {
    "delay", "delays", "del", "dly", "wait", "days", "day", "weeks", "week", "wks", "months", "month",
    "mths", "years", "year", "yrs", "hours", "when",
}  # fmt: skip
"""Words in names of columns of delays."""
MONEY = {
    "amount",
    "amt",
    "money",
    "reward",
    "value",
    "val",
    "eur",
    "euro",
    "usd",
    "dollars",
    "mag",
    "magnitude",
}
SPANS = {
    "horizon",
    "interval",
    "gap",
    "between",
    "added",
    "additional",
    "extra",
    "further",
    "difference",
    "diff",
    "lag",
}
"""Words in names of columns of how much later the second payment comes than the first one."""
NO_AMOUNT = {
    "rate",
    "interest",
    "apr",
    "prob",
    "p",
    "probability",
    "chance",
    "pct",
    "percent",
    "loss",
    "rt",
    "time",
}
"""Words in names of columns that are no amount of two that are certain."""


def recognise(table: TableSignature) -> Reading | None:
    """Two amounts and one or two delays: the later option pays more, and waits longer, in nearly every row."""
    numbers = [*table.measures(), *table.constants()]
    waits = [item for item in numbers if _may_be_delay(item)]
    waits = waits or _never_and_later(
        [item for item in numbers if len(item.distinct) > FEW_CODES or item.between(0, 0)]
    )
    amounts = [item for item in table.measures() if item not in waits and _may_be_amount(item)]
    amounts = [item for item in amounts if not is_clock(item, table.person)]
    amounts = [item for item in amounts if item.is_money] or amounts
    amounts = named_amounts([item for item in amounts if item.name != table.response])
    if question := _nameless(table, amounts, waits):
        return question
    if len(amounts) == 1:
        constants = [own for own in table.constants() if _may_be_amount(own)]
        amounts += [own for own in constants if own.is_money] or [
            own for own in constants if own.words & MONEY
        ]
    if len(amounts) > 2:
        amounts = [item for item in amounts if len(item.distinct) > FEW_CODES]
    if len(amounts) > 2:
        amounts = _of_one_name(amounts)
    if len(amounts) != 2 or not 1 <= len(waits) <= 2:
        return None
    spans = [item for item in waits if item.words & SPANS]
    varied = spans or [item for item in waits if len(item.distinct) > 1]
    if len(waits) == 1 and not varied:
        return None
    if len(varied) == 1:
        fixed: list[Any] = [item.name for item in waits if item is not varied[0]]
        ordered = [
            own for own in (amounts, amounts[::-1]) if is_below(own[0].values, own[1].values)
        ]
        if not ordered or (ordered[0][0].words & LATE and ordered[0][1].words & (EARLY | SOONER)):
            return (
                None  # names and numbers contradict each other, as where amounts are in two units
            )
        amounts = ordered[0]
        late = " + ".join([*fixed, varied[0].name] if spans else [varied[0].name])
        delays: list[Any] = [*(fixed or [0]), late]
    else:
        pair = _paired(amounts, waits)
        if pair is None:
            return None
        amounts, waits = pair
        delays = [item.name for item in waits]
    names = [item.name for item in amounts]
    sides = next(iter(counterparts(names)), ("", ""))
    if counterparts(names).get(sides) == [(names[1], names[0])]:
        sides = sides[::-1]
    shown = (*names, *(item.name for item in waits))
    notes = []
    if spans and delays[0] != 0:
        notes.append(
            f"{spans[0].name} is taken to be counted from the first payment, so that the second one comes after "
            f'{delays[1]}; if it is counted from today, say --column delays_days=\'["{delays[0]}", "{spans[0].name}"]\''
        )
    if delays[0] == 0 and not amounts[0].words & {*NOW}:
        notes.append(
            f"{names[0]} is taken to be paid today, since no column says when; --column delays_days='[DAYS, "
            f'"{delays[1]}"]\' says another day'
        )
    return Reading({"amounts": names, "delays_days": delays}, shown, sides, notes=tuple(notes))


def _nameless(
    table: TableSignature, amounts: Sequence[ColumnSignature], waits: Sequence[ColumnSignature]
) -> Reading | None:
    """A question about amounts whose names differ from others in numbers alone, where several pairs are possible.

    One of them may be a constant, or a response time, which has other digits in nearly every row.
    """
    if len(waits) != 1 or len(waits[0].distinct) == 1:
        return None
    alike = [
        item
        for item in (*amounts, *(own for own in table.constants() if _may_be_amount(own)))
        if item not in waits and _is_numbered(item, table)
    ]
    pairs = [
        (one.name, other.name)
        for one, other in permutations(alike, 2)
        if is_below(one.values, other.values)
    ]
    may_be_times = any(len(item.distinct) > MOST_AGAIN * len(item.values) for item in alike)
    if not pairs or not set(amounts) <= set(alike) or not (len(pairs) > 1 or may_be_times):
        return None
    options = " or ".join(f"--column 'amounts={json.dumps(pair)}'" for pair in pairs[:MOST_PAIRS])
    note = (
        f"names do not say which of {', '.join(item.name for item in alike)} are the amounts of the sooner and of the "
        f"later option, and which a response time or something else; say which: {options}"
    )
    shown = tuple(item.name for item in (*alike, *waits))
    parts = {"amounts": OPEN_QUESTION, "delays_days": [0, waits[0].name]}
    return Reading(parts, shown, notes=(note,))


MOST_NUMBERED = 2
"""Columns of one name that numbers tell apart, which are those of two options; of more they number columns."""
MOST_AGAIN = 0.5
"""Share of different numbers among all rows beyond which a column may hold response times."""
MOST_PAIRS = 6


def _is_numbered(item: ColumnSignature, table: TableSignature) -> bool:
    """Whether another column, which is not the response's, has the same name but for its number."""
    bare = {name: name.rstrip("0123456789") for name in table.columns}
    return bare[item.name] != item.name and [*bare.values()].count(bare[item.name]) > MOST_NUMBERED


def _never_and_later(numbers: Sequence[ColumnSignature]) -> list[ColumnSignature]:
    """Two columns whose names differ in one place, as other two do, and of which one is always 0: waits of two options.

    So are ``W1`` and ``W2`` beside ``V1`` and ``V2``, where ``W1`` is always 0.
    """
    if len(numbers) != 4:
        return []
    by_name = {item.name: item for item in numbers}
    found: list[list[ColumnSignature]] = []
    for alike in counterparts(list(by_name)).values():
        pairs = [[by_name[name] for name in pair] for pair in alike]
        for never, late in pairs if len(pairs) == 2 else ():
            ((less, more),) = [pair for pair in pairs if pair[0] is not never]
            if late.between(0, 0):
                never, late, less, more = late, never, more, less
            is_wait = never.between(0, 0) and late.between(0, np.inf) and not late.between(0, 0)
            if is_wait and is_below(less.values, more.values):
                found.append([never, late])
    return found[0] if len(found) == 1 else []


def _of_one_name(amounts: list[ColumnSignature]) -> list[ColumnSignature]:
    """The only two amounts whose names differ in one word and of which one is always the larger; else all of them."""
    sided = [item for item in amounts if item.words & (EARLY | LATE | SOONER)]
    if len(sided) == 2:
        return sided
    by_name = {item.name: item for item in amounts}
    pairs = [pair for own in counterparts(list(by_name)).values() for pair in own]
    found = [[by_name[name] for name in pair] for pair in pairs]
    ordered = [
        (one, other)
        for one, other in found
        if is_below(one.values, other.values) or is_below(other.values, one.values)
    ]
    return list(ordered[0]) if len(ordered) == 1 else amounts


FEW_CODES = 3
"""Different values of a column that may hold responses or conditions, and no amounts."""


def _may_be_delay(item: ColumnSignature) -> bool:
    """Whether a column's cells or its name say that it holds delays."""
    if item.is_delay_in_words:
        return True
    if item.words & {"t", "d"} and item.words & LATE:  # as T_LL
        return item.between(0, np.inf)
    is_named = bool(item.words & WAITS) and not item.words & {*MONEY, "rt", "response", "reaction"}
    return is_named and item.between(0, np.inf)


def _may_be_amount(item: ColumnSignature) -> bool:
    return item.between(1e-9, np.inf) and not item.words & NO_AMOUNT


def _paired(
    amounts: list[ColumnSignature], waits: list[ColumnSignature]
) -> tuple[list[ColumnSignature], list[ColumnSignature]] | None:
    """Amounts and delays of the same options: who waits longer gets more in nearly every row; sooner options first."""
    for own in (waits, waits[::-1]):
        more = np.sign(amounts[1].values - amounts[0].values)
        longer = np.sign(own[1].values - own[0].values)
        known = np.isfinite(more) & np.isfinite(longer) & (more != 0) & (longer != 0)
        if known.any() and (more == longer)[known].mean() >= NEARLY_ALL:
            is_turned = bool((longer[known] < 0).all())
            return (amounts[::-1], own[::-1]) if is_turned else (amounts, own)
    return None


def _dated(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({"amounts": parts["amounts"], "delays_days": parts["delays_days"]})


def _for_second(stimuli: Stimuli) -> Array:
    """Compute how much favours the second option: its growth for each day of waiting; of losses, the less is lost."""
    amounts, delays = stimuli["amounts"], stimuli["delays_days"]
    size = np.maximum(np.abs(amounts), 0.01)
    growth = np.log(size[:, 1] / size[:, 0]) * np.sign(amounts.sum(axis=1))
    wait = np.abs(delays[:, 1] - delays[:, 0])
    return np.asarray(growth / np.maximum(wait, 1 / 24))


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """Return the properties by which dated amounts are compared."""
    return {"delay": stimuli["delays_days"], "amount": stimuli["amounts"]}


LAYOUT = StimulusLayout(
    {
        "amounts": "amount of the first and of the second option",
        "delays_days": "delays of the first and of the second option, in days unless delay_unit says otherwise",
        "delay_unit": f"one of {', '.join(DAYS)}",
        "amount_unit": "cents, where amounts are hundredths of the unit of money; left out otherwise",
    },
    ("amounts", "delays_days"),
    _dated,
    _guess_dated,
    recognise=recognise,
    kind="sooner or later amounts",
    guess_rank=2,
    in_favour=_for_second,
    dominance=dominance,
    properties=_properties,
    always={
        "delay": ("the sooner one", "the later one"),
        "amount": ("the smaller one", "the larger one"),
    },
)
"""The trials of this kind of task as columns."""
