"""Numbers that are written with their unit: money, per cent, points, delays and response times in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.layouts import DAYS
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.tables import NUMBER, AnswerTable, by_distinct, whole
from lakatos.experiments.adoption.units import (
    CENTS,
    CURRENCIES,
    PER_CENT,
    POINTS,
    TIMES_MS,
    UNITS_OF_TIME,
)
from lakatos.experiments.errors import TrialsError

NOW = {
    "now", "today", "immediately", "immediate", "right now", "right away", "jetzt", "heute", "sofort",
}  # fmt: skip
NUMBERS_IN_WORDS = {
    word: str(place)
    for place, words in enumerate(
        (
            "zero", "a an one ein eine einem einer", "two zwei", "three drei", "four vier", "five fünf", "six sechs",
            "seven sieben", "eight acht", "nine neun", "ten zehn", "eleven elf", "twelve zwölf",
        )
    )
    for word in words.split()
}  # fmt: skip
PART_OF_DELAY = re.compile(r"([\d.,]+|[a-zäöü]+)[ -]?([a-zäöü]+)")
WITH_UNIT = re.compile(
    r"(?P<sign>[-+]?)(?P<before>[^\d.,+-]*)(?P<own>[-+]?)(?P<number>\d[\d.,' ]*?)\s*(?P<after>[^\d.,]*)"
)
"""A number with a word or a sign before or behind it."""

CLOCK = re.compile(
    r"(?:(?P<hours>\d{1,2}):)?(?P<minutes>\d{1,2}):(?P<seconds>\d{2}(?P<part>[.,]\d{1,9})?)"
)
"""A duration such as 00:00.674, in minutes and seconds; with hours before them it may also be a time of the day."""


@dataclass(frozen=True)
class WithUnit:
    """A number and the unit that stands beside it."""

    number: str
    """The number as it is written, without sign."""
    is_negative: bool
    unit: str
    """The unit in small letters; empty where none is given."""


def with_unit(cell: str) -> WithUnit | None:
    """A cell as a number with a unit on one side of it; None where it is something else.

    Minutes and seconds such as 00:00.674 are seconds, where these have decimals.
    """
    text = cell.strip().casefold().replace("\u2212", "-").replace("\u00a0", " ")
    clock = CLOCK.fullmatch(text)
    if clock is not None and clock["part"]:
        return WithUnit(_seconds_of(clock), False, "s")
    found = WITH_UNIT.fullmatch(text)
    if found is None or (found["sign"] and found["own"]):
        return None
    units = [unit for unit in (found["before"].strip(), found["after"].strip()) if unit]
    if len(units) > 1:
        return None
    sign = found["sign"] or found["own"]
    return WithUnit(found["number"].strip(), sign == "-", units[0].rstrip(".") if units else "")


def _seconds_of(clock: re.Match[str]) -> str:
    seconds = float(clock["seconds"].replace(",", "."))
    total = 3600 * int(clock["hours"] or 0) + 60 * int(clock["minutes"]) + seconds
    return whole(repr(round(total, 9)))


def marks_of(numbers: Sequence[str], before_three: str = "thousands") -> tuple[str, str] | None:
    """The mark of decimals and that of thousands in numbers; None where one mark would be both, or may be either.

    Args:
        numbers: Without signs and units.
        before_three: What a mark before three last digits is: ``thousands`` of money, which has no three decimals;
            ``decimals`` of per cent, which are no thousands; or ``either``.
    """
    decimal, thousands = set[str](), set[str]()
    for number in numbers:
        parts = re.split(r"([.,' ])", number)
        marks, digits = parts[1::2], parts[2::2]
        if not marks:
            continue
        groups = marks[:-1]
        is_group = len(digits[-1]) == 3 and parts[0] != "0" and len(parts[0]) <= 3
        if is_group and len(marks) == 1 and before_three == "either":
            return None
        if is_group and (groups[-1:] == marks[-1:] or (not groups and before_three == "thousands")):
            groups = marks
        else:
            decimal.add(marks[-1])
        if any(len(own) != 3 for own in digits[: len(groups)]) or (groups and len(parts[0]) > 3):
            return None
        thousands |= set(groups)
    if len(decimal) > 1 or len(thousands) > 1 or decimal & thousands or decimal - {".", ","}:
        return None
    return "".join(decimal), "".join(thousands)


def plain_number(number: str, decimal: str, thousands: str) -> str:
    """A number with a point and no groups, given its marks."""
    without = number.replace(thousands, "") if thousands else number
    return without.replace(decimal, ".") if decimal else without


LONGEST_DELAY: Final = 200
"""Characters of a delay in words: the time to find its parts in a longer text grows with the square of its length."""


def days_of(cell: str) -> float | None:
    """A delay in words, in days: ``today``, ``in 7 days``, ``2 weeks``, ``1 year 6 months``; None for anything else."""
    if len(cell) > LONGEST_DELAY:
        return None
    words = " ".join(cell.casefold().replace(" and ", " ").split())
    if words in NOW or words == "0":
        return 0.0
    if words in ("tomorrow", "morgen"):
        return 1.0
    words = re.sub(r"^(in|after|nach)\s+", "", words)
    words = re.sub(r"\s+(from now|from today|later)$", "", words).rstrip(".")
    parts = PART_OF_DELAY.findall(words)
    if not parts or PART_OF_DELAY.sub("", words).strip(" ,"):
        return None
    days = 0.0
    for number, unit in parts:
        values = NUMBERS_IN_WORDS.get(number, number.replace(",", "."))
        if unit not in UNITS_OF_TIME or not NUMBER.fullmatch(values):
            return None
        days += float(values) * UNITS_OF_TIME[unit]
    return days


AMOUNT_OF_MONEY = re.compile(
    r"(?:[$€£¥]\s?(?P<before>\d[\d.,]*\d|\d))|(?:(?P<after>\d[\d.,]*\d|\d)\s?(?:[$€£¥]|euros?\b|dollars?\b|eur\b|usd\b|chf\b))",
    re.IGNORECASE,
)
MOST_WORDS = 5
"""Words of a delay."""


def dated_amounts(text: str) -> list[tuple[float, float]]:
    """Amounts of money that a text says with the delays in days that follow them: ``$34 today or $35 in 186 days``."""
    found = list(AMOUNT_OF_MONEY.finditer(text))
    if not found:
        return []
    ends = [*(own.start() for own in found[1:]), len(text)]
    amounts = []
    for own, end in zip(found, ends, strict=True):
        marks = marks_of([number := own["before"] or own["after"]])
        words = re.sub(r"[,;:?!]", " ", text[own.end() : end]).split()
        delays = [days_of(" ".join(words[:n])) for n in range(min(len(words), MOST_WORDS), 0, -1)]
        days = next((delay for delay in delays if delay is not None), None)
        if marks is None or days is None:
            return []
        amounts.append((float(plain_number(number, *marks)), days))
    return amounts


def amount_said(cell: str) -> float:
    """The only amount of a text, a delay aside: 30 of ``£30 in 14 days`` and of ``30``; NaN of other texts."""
    if NUMBER.fullmatch(cell.strip()):
        return float(cell.replace(",", "."))
    if dated := dated_amounts(cell):
        return dated[0][0] if len(dated) == 1 else float("nan")
    found = with_unit(cell)
    marks = None if found is None or not found.unit else marks_of([found.number])
    return (
        float("nan")
        if found is None or marks is None
        else float(plain_number(found.number, *marks))
    )


def has_units(cells: Sequence[str]) -> bool:
    """Whether all cells are numbers, and units stand beside some."""
    found = [with_unit(cell) for cell in cells if cell.strip()]
    known = {*CURRENCIES, *CENTS, *POINTS, *PER_CENT, *TIMES_MS}
    units = {item.unit for item in found if item is not None}
    return None not in found and bool(units & known) and units <= known | {""}


# Columns of a table ---------------------------------------------------------------------------


def without_units(table: AnswerTable, columns: AnswerColumns) -> AnswerTable:
    """The table with plain numbers in columns that are read as numbers and whose cells say their unit.

    Delays become numbers of the mapping's ``delay_unit``, amounts of its ``amount_unit``, times of its
    ``response_time_unit``, and per cent become shares of one. Columns in which a cell can be read in two ways, or in
    none, stay as they are and are refused when they are read.

    Raises:
        TrialsError: Amounts are in two currencies.
    """
    frame, notes = table.frame, list[str]()
    currencies: dict[str, str] = {}
    for name, part in _numbers_named(table, columns).items():
        distinct = [cell for cell in frame[name].unique() if cell.strip()]
        if all(NUMBER.fullmatch(cell.strip().casefold()) for cell in distinct):
            continue
        changed: tuple[Callable[[str], float | str], str] | None
        if part == "delays_days":
            changed = _delays(distinct, str(columns.stimulus.get("delay_unit", "days")))
        elif part == "response_time":
            changed = times_of(distinct, columns.response_time_unit)
        else:
            is_cents = part.endswith("amounts") and columns.stimulus.get("amount_unit") == "cents"
            changed, currency = _amounts(distinct, in_cents=is_cents)
            if currency:
                currencies.setdefault(currency, name)
        if changed is not None:
            change, found = changed
            frame = frame.assign(**{name: by_distinct(frame[name], _of_filled(change))})
            notes.append(f"{name}: {found}")
    if len(currencies) > 1:
        (one, first), (other, second) = list(currencies.items())[:2]
        raise TrialsError(
            f"{table.name}: {first} is in {one} and {second} in {other}. Bring both into one currency, in the file or "
            f'as in --column PART=\'["{first}", "1.1 * {second}"]\' (participants.columns.stimulus).'
        )
    return replace(table, frame=frame, notes=(*table.notes, *notes)) if notes else table


def _of_filled(change: Callable[[str], float | str]) -> Callable[[str], str]:
    def changed(cell: str) -> str:
        value = change(cell) if cell.strip() else ""
        return value if isinstance(value, str) else whole(repr(round(value, 12)))

    return changed


def _numbers_named(table: AnswerTable, columns: AnswerColumns) -> dict[str, str]:
    """The columns that are read as numbers, and the part of the mapping that each is."""
    named = [(part, leaf) for part, value in columns.stimulus.items() for leaf in leaves_of(value)]
    named += [("reward", leaf) for leaf in columns.feedback.values()]
    named += [("share", columns.share), ("response_time", columns.response_time)]
    found: dict[str, str] = {}
    for part, leaf in named:
        for name in columns_in(leaf, table.frame) if isinstance(leaf, str) and leaf else ():
            if name in table.frame.columns:
                found.setdefault(name, part)
    return found


def _delays(distinct: Sequence[str], unit: str) -> tuple[Callable[[str], float], str] | None:
    days = {cell: days_of(cell) for cell in distinct}
    if any(value is None for value in days.values()) or unit not in DAYS:
        return None
    known = {cell: value / DAYS[unit] for cell, value in days.items() if value is not None}
    shown = ", ".join(f"{cell.strip()} is {value:.4g}" for cell, value in list(known.items())[:3])
    return known.__getitem__, f"delays in words are numbers of {unit} ({shown})"


def times_of(distinct: Sequence[str], unit: str) -> tuple[Callable[[str], float], str] | None:
    """Find a converter of times with a unit, with a sentence about it; None where some have none."""
    known: dict[str, float] = {}
    for cell in distinct:
        clock = CLOCK.fullmatch(cell.strip())
        item = WithUnit(_seconds_of(clock), False, "s") if clock else with_unit(cell)
        if item is None or item.unit not in TIMES_MS or not NUMBER.fullmatch(item.number):
            return None
        value = float(item.number.replace(",", ".")) * TIMES_MS[item.unit]
        known[cell] = value / 1000 if unit == "s" else value
    if any(":" in cell for cell in distinct):
        return known.__getitem__, "times are in minutes and seconds (mm:ss)"
    return known.__getitem__, f"times are numbers of {'s' if unit == 's' else 'ms'}, by their units"


def _amounts(
    distinct: Sequence[str], *, in_cents: bool
) -> tuple[tuple[Callable[[str], str], str] | None, str]:
    """Find a converter of amounts, per cent or points, with a sentence about it; and the currency, if any."""
    found = {cell: with_unit(cell) for cell in distinct}
    items = [item for item in found.values() if item is not None]
    units = {item.unit for item in items}
    # A plain 0 has no unit; any other number without one may be in another unit than the rest.
    is_known = all(item.unit or item.number.strip("0.,") == "" for item in items)
    if len(items) < len(found) or not is_known or not units - {""}:
        return None, ""
    units -= {""}
    kinds = [kind for kind in (PER_CENT, POINTS) if units <= kind]
    money = {CURRENCIES[unit] for unit in units if unit in CURRENCIES}
    if not (kinds or units <= {*CURRENCIES, *CENTS}) or len(money) > 1:
        return None, ""
    three = "decimals" if units <= PER_CENT else "either" if units <= POINTS else "thousands"
    marks = marks_of([item.number for item in items], three)
    if marks is None:
        return None, ""

    def change(cell: str) -> str:
        item = found[cell]
        assert item is not None
        plain = plain_number(item.number, *marks)
        value = float(plain)
        if item.unit in PER_CENT or (item.unit in CENTS and not in_cents):
            value /= 100
        elif item.unit in CURRENCIES and in_cents:
            value *= 100
        return whole(repr(round(-value if item.is_negative else value, 12)))

    if units <= PER_CENT:
        return (change, "per cent are read as shares of 1"), ""
    if units <= POINTS:
        return (change, f"{' and '.join(sorted(units))} beside numbers are not read"), ""
    unit = f"{next(iter(money), 'units')} in {'cents' if in_cents else 'whole units'}"
    return (change, f"amounts are read as numbers of {unit}"), next(iter(money), "")
