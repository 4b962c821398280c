"""What a file shows about its sequences: where they end, which values are good, where counting begins.

A file that can mean two things is refused with what was found, and with the option that says which one it means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.search.task import LONGEST
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import column_option, words_of
from lakatos.experiments.adoption.plausible import FEWEST, MOST_PHASES, REVERSED, question
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.reversed_people import REVERSED_ALONE, question_reversed_people
from lakatos.experiments.adoption.row_cells import RowCells, read_part
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.signatures import CLEAR
from lakatos.experiments.adoption.tables import numbers_of
from lakatos.experiments.errors import TrialsError

Array = NDArray[Any]
YES = {"1", "1.0", "true", "t", "yes", "y", "ja"}
NO = {"0", "0.0", "false", "f", "no", "n", "nein"}
LENGTHS = {"length", "len", "horizon", "size", "laenge", "longueur", "lengte"}
MANY = {
    "candidates",
    "items",
    "applicants",
    "options",
    "values",
    "offers",
    "alternatives",
    "boxes",
    "cards",
    "kandidaten",
}
NUMBERS = {"n", "number", "num", "nr", "no", "count", "total", "max", "maximum", "anzahl", "of"}
"""Words in names of columns of the length of sequences; the latter two also together."""
TO_MAXIMISE = {
    "max",
    "maximum",
    "maximise",
    "maximize",
    "maximising",
    "maximizing",
    "maximieren",
    "maximal",
}
TO_MINIMISE = {
    "min",
    "minimum",
    "minimise",
    "minimize",
    "minimising",
    "minimizing",
    "minimieren",
    "minimal",
}
HIGH_GOALS = {
    "highest",
    "high",
    "largest",
    "gain",
    "gains",
    "quality",
    "sell",
    "selling",
    "seller",
    *TO_MAXIMISE,
}
LOW_GOALS = {
    "lowest", "low", "smallest", "cheapest", "price", "prices", "cost", "costs", "buy", "buying", "buyer", "loss",
    "losses", *TO_MINIMISE,
}  # fmt: skip
"""Words in cells for sequences of which high, and of which low values are good."""
UNLIKELY = 1e-3
"""Probability by chance below which all longest sequences end where a value had to be taken."""


@dataclass(frozen=True)
class Steps:
    """Values that were seen, in their order."""

    row: Array
    """``(n_steps,)`` place of the row in the file; values of a sequence in one row have the same."""
    place: Array
    """Place of the value in its sequence, from 1."""
    is_taken: Array

    def is_steady(self, cells: Array) -> bool:
        """Whether a column, ``(n_rows,)``, is the same in all rows of each sequence."""
        own, goes_on = cells[self.row], self.place[1:] > 1
        return bool((own[1:] == own[:-1])[goes_on].all())


def errors_above(worth: Array, first: Array, second: Array) -> float:
    """By how many standard errors the mean of some values is above that of others."""
    groups = [worth[first], worth[second]]
    if min(map(len, groups)) < 2:
        return 0.0
    error = np.sqrt(sum(own.var(ddof=1) / len(own) for own in groups))
    return float((groups[0].mean() - groups[1].mean()) / error) if error > 0 else 0.0


def few_cells(
    cells: RowCells, columns: AnswerColumns, steps: Steps
) -> Iterator[tuple[str, Array, list[str]]]:
    """Columns beside the trials that divide sequences into a few kinds: name, cells and different cells of each."""
    for name in (*columns_not_read(cells.frame, columns), *columns.attributes):
        texts = cells.text(name)
        distinct = sorted(set(texts.tolist()))
        if 2 <= len(distinct) <= MOST_PHASES and steps.is_steady(texts):
            yield name, texts, distinct


# Lengths -----------------------------------------------------------------------------------------


def is_called_length(name: str) -> bool:
    """Whether a column is called the number of values of a sequence."""
    words = set(words_of(name))
    is_number_of = words <= NUMBERS | MANY and bool(words & MANY)
    return bool(words & LENGTHS) or is_number_of or words in ({"n"}, {"anzahl"})


def could_be_length(name: str, numbers: Array, place: Array) -> bool:
    """Whether a column, ``(n_steps,)``, may say how many values each sequence has.

    It is called so; or its numbers differ, and the longest sequence of each is as long, or one value shorter. A number
    at which all sequences end is that of the values that were seen.
    """
    is_possible = np.isin(numbers, np.arange(2, LONGEST + 1)) & (numbers >= place)
    is_end = np.append(place[1:] == 1, True)
    if not is_possible.all() or (numbers == place)[is_end].all():
        return False
    longest = pd.Series(place).groupby(numbers).max()
    left = longest.index.to_numpy() - longest.to_numpy()
    return is_called_length(name) or (len(longest) > 1 and bool((left <= 1).all()))


def check_other_lengths(
    cells: RowCells, columns: AnswerColumns, steps: Steps, length: Array
) -> None:
    """Refuse lengths, ``(n_steps,)``, that no column says, where one that is not read seems to say others.

    Raises:
        TrialsError: There is such a column.
    """
    for name in columns_not_read(cells.frame, columns):
        numbers = numbers_of(cells.frame[name]).to_numpy()[steps.row]
        is_length = could_be_length(name, numbers, steps.place)
        if is_length and steps.is_steady(cells.text(name)) and (numbers != length).any():
            own = " or ".join(f"{value:g}" for value in np.unique(numbers)[:4])
            read = " or ".join(f"{value:g}" for value in np.unique(length)[:4])
            raise TrialsError(
                f"{cells.name}: {name} seems to be the number of values of a sequence, which is {own} there, and the "
                f"sequences would be read as of {read} values. Say --column length={name}, or --column length={read} "
                "if it is something else."
            )


def longest_of(cells: RowCells, columns: AnswerColumns, steps: Steps) -> int:
    """The length of sequences where nothing says it: the longest has all values, the last of which had to be taken.

    Raises:
        TrialsError: The longest sequences do not show that they have all values, or some sequences have fewer.
    """
    place, most = steps.place, int(steps.place.max())
    goes_on = (place == most) & ~steps.is_taken
    if goes_on.any():
        raise TrialsError(
            f"{cells.name}: {rows_named(cells.row_numbers(steps.row[goes_on]))}: {columns.response} goes on after "
            f"value {most}, the last one in the file, and the last value of a sequence must be taken. If it is not in "
            f"the file, say how many values a sequence has: --column length={most + 1} or --column length=COLUMN. If "
            f"value {most} is the last one, {columns.response} must say that it was taken."
        )
    if not _is_forced_end(place, steps.is_taken):
        raise TrialsError(
            f"{cells.name}: the longest sequence has {most} values, and too few sequences came there to show that the "
            f"last of them had to be taken. Say how many values a sequence has: --column length={most} (or "
            "--column length=COLUMN)."
        )
    for name, texts, _ in few_cells(cells, columns, steps):
        ends = _forced_ends(texts[steps.row], steps)
        if min(ends.values(), default=most) < most:
            listed = " and ".join(f"{end} where {name} is {cell}" for cell, end in ends.items())
            raise TrialsError(
                f"{cells.name}: sequences seem to have different numbers of values: {listed}. Say --column "
                f"length=COLUMN, as in {_recode(name, ends)} --column length={name}."
            )
    who = cells.text(columns.participant)[steps.row]
    is_late = _is_second_half(who, place)
    for ends in (_forced_ends(who, steps), _forced_ends(is_late.astype(str), steps)):
        if min(ends.values(), default=most) < most:
            parts = "halves of the experiment" if set(ends) <= {"True", "False"} else "participants"
            raise TrialsError(
                f"{cells.name}: sequences seem to have different numbers of values, since those of some {parts} all "
                f"end at value {min(ends.values())} and others at value {most}. Say which: --column length=COLUMN, or "
                f"--column length={most} if all have {most}."
            )
    return most


def _forced_ends(kind: Array, steps: Steps) -> dict[str, int]:
    """The place at which all longest sequences of a kind must have ended, for each kind that has one."""
    is_kind = {cell: kind == cell for cell in dict.fromkeys(kind.tolist())}
    return {
        cell: int(steps.place[own].max())
        for cell, own in is_kind.items()
        if _is_forced_end(steps.place[own], steps.is_taken[own])
    }


def _is_second_half(who: Array, place: Array) -> Array:
    """``(n_steps,)`` whether a sequence is in the second half of those of its participant."""
    number = pd.Series(place == 1).groupby(who).cumsum()
    return np.asarray(number > number.groupby(who).transform("max") / 2)


def _is_forced_end(place: Array, is_taken: Array) -> bool:
    """Whether so many sequences end at the last place that they must have ended there.

    Participants who could go on would have taken the last value about as often as the one before.
    """
    most = place.max()
    last, before = is_taken[place == most], is_taken[place == most - 1]
    chance = (before.sum() + 1) / (len(before) + 2)
    return bool(last.all()) and most > 1 and float(chance ** len(last)) < UNLIKELY


# Where stops are counted from --------------------------------------------------------------------


def first_place(stop: Array, values: Array) -> int | None:
    """Find whether stops count the first value of a sequence as 0 or as 1; None where the file does not show it.

    Args:
        stop: ``(n_rows,)`` places that were taken.
        values: ``(n_rows, n_values)`` values of a sequence; NaN where a cell is empty.
    """
    is_there = np.isfinite(values)
    n_values = is_there.shape[1]
    n_filled = n_values - is_there[:, ::-1].argmax(axis=1)
    if stop.max() >= n_values:
        return 1
    beyond = (n_filled - stop)[n_filled < n_values]
    if len(beyond):
        if (beyond == 1).all():
            return 0  # what comes after the value that was taken is empty
        if (beyond == 0).any():
            return 1
    if stop.min() == 0 and stop.max() == n_values - 1:
        # stops at 0 are at the first value, not marks of sequences without a stop, if these values are unlike others
        first = errors_above(values[:, 0], stop == 0, stop != 0)
        return 0 if abs(first) > CLEAR else None
    return None


def stated_first_place(cells: RowCells, columns: AnswerColumns, stop: Array, values: Array) -> int:
    """The place that a column of stops gives the first value: 0 or 1.

    Raises:
        TrialsError: The mapping says something else, or neither the mapping nor the file says it.
    """
    if "first" in columns.stimulus:
        stated = columns.stimulus["first"]
        if stated not in (0, 1):
            raise TrialsError(f"first is {stated}; say 0 or 1, the place of the first value.")
        return int(stated)
    found = first_place(stop, values)
    if found is None:
        column = columns.stimulus.get("stop", columns.response)
        raise TrialsError(
            f"{cells.name}: {column} is from {stop.min()} to {stop.max()} in sequences of {values.shape[1]} values, "
            "so that the first value can be place 0 or place 1. Say --column first=0 or --column first=1."
        )
    return found


# What is good ------------------------------------------------------------------------------------


def goals_in(name: str, distinct: Sequence[str]) -> dict[str, int]:
    """1 for each cell that says that high values are good, -1 for low ones; nothing where one of them is unclear."""
    words, code = set(words_of(name)), dict[str, int]()
    sign = bool(words & TO_MAXIMISE) - bool(words & TO_MINIMISE)
    for cell in distinct:
        own = set(words_of(cell))
        if cell.casefold() in YES | NO and sign:
            code[cell] = sign if cell.casefold() in YES else -sign
        elif bool(own & HIGH_GOALS) != bool(own & LOW_GOALS):
            code[cell] = 1 if own & HIGH_GOALS else -1
        else:
            return {}
    return code


def directions(cells: RowCells, columns: AnswerColumns) -> Array:
    """``(n_rows,)`` 1 where high values are good, and -1 where low ones are.

    Raises:
        RowsWrongError: A cell says neither.
        TrialsError: The number of the mapping does not.
    """
    stated = columns.stimulus.get("better", 1.0)
    if isinstance(stated, str) and stated in cells.frame.columns:
        texts = cells.text(stated)
        code = goals_in(stated, sorted(set(texts.tolist())))
        if code:
            return np.array([code[cell] for cell in texts.tolist()], dtype=np.float64)
    better = read_part(cells, stated, "better")
    is_wrong = ~np.isin(better, (1, -1))
    if isinstance(stated, str):
        words = "is neither 1, where high values are good, nor -1, where low ones are"
        cells.refuse(
            is_wrong,
            stated,
            f'{words}; say --column \'recode.{stated}={{"CELL" = 1, "CELL" = -1}}\'',
        )
    elif is_wrong.any():
        raise TrialsError(
            f"better is {stated:g}; say 1 if high values are good, and -1 if low ones are."
        )
    return better


def goal_column(texts: Mapping[str, Array], steps: Steps, value: Array, is_free: Array) -> str:
    """The column by whose words high values are good in some sequences and low ones in others, as what was taken shows.

    Args:
        texts: ``(n_rows,)`` cells of columns that may say so.
        steps: Values that were seen.
        value: ``(n_steps,)`` the values.
        is_free: Whether each of them could be left.
    """
    for name, own in texts.items():
        code = goals_in(name, sorted(set(own.tolist())))
        if set(code.values()) != {1, -1} or not steps.is_steady(own):
            continue
        sign = np.array([code[cell] for cell in own[steps.row].tolist()])
        if all(_errors(sign * value, steps, is_free & (sign == side)) > CLEAR for side in (1, -1)):
            return name
    return ""


def _errors(worth: Array, steps: Steps, among: Array) -> float:
    """By how many standard errors values that were taken are better than those that were not, among some of them."""
    return errors_above(worth, among & steps.is_taken, among & ~steps.is_taken)


def check_direction(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    steps: Steps,
    worth: Array,
    is_free: Array,
    notes: list[str],
) -> None:
    """Question values that were taken although they are clearly worse than those that were not.

    All sequences are looked at together, then those of each kind that an unread column names, and each participant's.

    Args:
        cells, columns, notes: See `plausible.check_cells`.
        participant: ``(n_rows,)`` number of the participant.
        steps: Values that were seen.
        worth: ``(n_steps,)`` the values, more if they are better.
        is_free: Whether each of them could be left.
    """
    is_rank = bool(int(columns.stimulus.get("ranked", 0)))
    value = columns.stimulus["value"]
    if len(worth) >= FEWEST and _errors(worth, steps, is_free) < REVERSED:
        turned = "-1" if columns.stimulus.get("better", 1.0) in (1, 1.0) else "1"
        place = columns.stimulus.get("position", "PLACE")
        say = (
            f"say --column 'value={place} + 1 - {value}'"
            if is_rank
            else f"say --column better={turned}"
        )
        question(
            columns,
            notes,
            "reversed_code",
            f"{cells.name}: values that were taken are worse than the others, as {value} is read. If "
            f"{'rank 1 is not the best' if is_rank else 'the other direction is good'}, {say}",
        )
    if is_rank:
        return
    stated = columns.stimulus.get("better", 1.0)
    for name, texts, distinct in few_cells(cells, columns, steps):
        own = texts[steps.row]
        errors = {cell: _errors(worth, steps, is_free & (own == cell)) for cell in distinct}
        worse = [cell for cell, found in errors.items() if found < -REVERSED_ALONE]
        if not isinstance(stated, str) and 0 < len(worse) < len(distinct):
            way = _recoded(name, {cell: -stated if cell in worse else stated for cell in distinct})
            question(
                columns,
                notes,
                "reversed_code",
                f"{cells.name}: where {name} is {' or '.join(worse)}, values that were taken are worse than the "
                f"others, so that high values seem to be good in some sequences and low ones in others. Say {way}",
            )
        is_goal = set(goals_in(name, distinct).values()) == {1, -1}
        if is_goal and "better" not in columns.stimulus and min(errors.values()) < CLEAR:
            question(
                columns,
                notes,
                "unread_column",
                f"{cells.name}: {name} ({', '.join(distinct)}) seems to say where high values are good and where low "
                f"ones are, and it is not read. Say --column better={name}, or --column better=1 if high values are "
                "good everywhere",
            )
    question_reversed_people(
        cells,
        columns,
        participant,
        lambda rows: _errors(worth, steps, is_free & rows[steps.row]),
        "values that were taken are worse than those that were not",
        lambda name: f"If low values are good there, say {_recoded(name or 'COLUMN', {})}",
        notes,
    )


def _recode(name: str, code: Mapping[str, float]) -> str:
    """The option that says which number each cell of a column stands for."""
    pairs = ", ".join(
        f"{json.dumps(cell, ensure_ascii=False)} = {own:g}" for cell, own in code.items()
    )
    return column_option(f"recode.{name}={{{pairs}}}")


def _recoded(name: str, signs: Mapping[str, float]) -> str:
    """The options by which a column says what is good."""
    say = _recode(name, signs or {"CELL": 1, "OTHER CELL": -1})
    return (
        f"{say} --column better={name}, with 1 where high values are good and -1 where low ones are"
    )


def check_one_scale(
    cells: RowCells, columns: AnswerColumns, steps: Steps, value: Array, better: Array
) -> None:
    """Refuse values that are good if they are high beside such that are good if they are low, on two scales.

    Raises:
        TrialsError: First values of sequences, which nobody chose, differ clearly between the two.
    """
    first, is_high = steps.place == 1, better > 0
    difference = errors_above(value, first & is_high, first & ~is_high)
    if abs(difference) > CLEAR:
        means = [float(value[first & own].mean()) for own in (is_high, ~is_high)]
        raise TrialsError(
            f"{cells.name}: first values are {means[0]:g} on average where high ones are good and {means[1]:g} where "
            f"low ones are, so that they seem to have two distributions. Read them apart: --column "
            f"experiment={columns.stimulus['better']}."
        )


def check_ranks(cells: RowCells, columns: AnswerColumns, place: Array, value: Array) -> None:
    """Refuse numbers that seem to be ranks among the values so far, where the mapping does not say whether they are.

    Raises:
        TrialsError: They are whole numbers from 1, or from 0, up to the place in the sequence.
    """
    if "ranked" in columns.stimulus or len(value) < FEWEST or not (value == value.round()).all():
        return
    column = columns.stimulus["value"]
    for first in (0, 1):
        if bool(((value >= first) & (value < place + first)).all()):
            plus = f"--column 'value={column} + 1' " if first == 0 else ""
            raise TrialsError(
                f"{cells.name}: {column} is a whole number from {first} up to the place in the sequence in all rows, "
                f"so that these seem to be ranks among the values so far. Say {plus}--column ranked=1 if {first} is "
                "the best rank, and --column ranked=0 if they are values."
            )
