"""Kinds of tasks by the values of columns: which fit, which column is the response, and what remains a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.cell_units import amount_said
from lakatos.experiments.adoption.layouts import Reading, StimulusLayout
from lakatos.experiments.adoption.names import CHOICES, JUDGING, MISSING_NUMBERS, words_of
from lakatos.experiments.adoption.option_code import (
    ACCEPT,
    REJECT,
    SWAPPED,
    TRUTH,
    code_of_pair,
    is_negative,
    leaves_of_option,
    words_of_option,
)
from lakatos.experiments.adoption.signatures import (
    CLEAR,
    NEARLY_ALL,
    ColumnSignature,
    TableSignature,
    changes_within,
    counterparts,
    dependence,
    is_function_of,
    is_one_to_one,
)
from lakatos.experiments.adoption.tables import by_distinct
from lakatos.experiments.adoption.timed_answers import guessed_keys

Array = NDArray[np.float64]
OF_PLACES = {"side", "pos", "position", "loc", "location", "left", "right"}
"""Words in names of columns of where options stood."""
LEAST_CHANGES = 0.05
"""Share of rows in which a choice differs from the one before, below which a column is a schedule."""
MOST_RARE = 0.1
"""Share of rows of a cell that may stand for a missed response."""
MOST_COLUMNS = 150
"""Columns of a table whose values are compared with one another."""
MISSED = {
    "missed", "miss", "no_resp", "noresp", "no resp", "no response", "no_response", "noresponse", "timeout",
    "sin respuesta", "keine", "keine antwort", "geen", "geen antwort", "gemist", "verpasst", "pas de reponse",
    "pas de réponse", "-", "no answer", "not answered", "missing", "keine angabe",
}  # fmt: skip
"""Cells of responses that say in words that there was none, where there is no time either."""
MORE_CODES = 1
"""Different cells beside those of the options, such as marks of missed responses."""


def recognised(table: TableSignature, layouts: Mapping[str, StimulusLayout]) -> dict[str, Reading]:
    """Return how each kind of task reads the table, for the kinds that fit its values."""
    found: dict[str, Reading] = {}
    if len(table.columns) > MOST_COLUMNS:
        return found
    for name, layout in layouts.items():
        reading = layout.recognise(table) if layout.recognise is not None else None
        if reading is None:
            continue
        reading = completed(table, reading)
        if reading.response or reading.questions or table.response:
            found[name] = reading
    return found


def completed(table: TableSignature, reading: Reading) -> Reading:
    """The reading with its response, what the response's cells mean, and which of them stand for a missed one.

    Rows that show no trial, such as those of instructions, say nothing about responses.
    """
    table = table.where_filled(reading.shown)
    if not reading.response and not reading.questions:
        reading = _with_response(table, reading)
    if reading.response not in table.columns:
        return reading
    column = table.columns[reading.response]
    missed = missed_cells(table, column)
    if missed:
        reading = replace(reading, missing={**reading.missing, column.name: missed})
    if not reading.responses and not is_negative(column.name):
        distinct_cells = [cell for cell in column.distinct if cell not in missed]
        code = code_by_sides(column, distinct_cells, reading.sides) or _code_by_names(
            distinct_cells, reading.stimulus
        )
        reading = replace(reading, responses=code)
    return reading


def _code_by_names(distinct: Sequence[str], stimulus: Mapping[str, Any]) -> dict[str, int]:
    """Find which of two options each cell names, where its words occur in the column names of that option only.

    Other cells are left out, for their rows to be refused.
    """
    words = [words_of_option(stimulus, place) for place in (0, 1)]
    own = {cell: set(words_of(cell)) for cell in distinct if len(cell) > 2}
    code = {
        cell: place
        for cell, named in own.items()
        for place in (0, 1)
        if named and named <= words[place] - words[1 - place]
    }
    return code if len(code) == 2 and set(code.values()) == {0, 1} else {}


def _with_response(table: TableSignature, reading: Reading) -> Reading:
    if table.response:
        return replace(reading, response=table.response)
    if compared := chosen_amount(table, reading.stimulus):
        return replace(reading, response=compared)
    shown = [table.columns[name] for name in reading.shown]
    candidates = choice_columns(table, shown)
    # A column that says where an option stood is read with the responses, not as one of them.
    free = [item for item in candidates if not item.words & OF_PLACES or item.words & CHOICES]
    candidates = free or candidates
    named = [item for item in candidates if item.words & CHOICES]
    if len(candidates) > 1 and len(named) == 1:
        candidates = named
    if len(candidates) > 1 and all(is_one_to_one(candidates[0], item) for item in candidates[1:]):
        # Several codes of one response: the one in words that name options.
        candidates = [min(candidates, key=lambda item: not code_of_pair(item.distinct))]
    if len(candidates) > 1:
        candidates = _most_dependent(candidates, shown) or candidates
    if not candidates:  # one that is called so may hold a few wrong cells, which are refused
        called = [item for item in table.free if table.named.get(item.name) == "response"]
        candidates = [item for item in called if item not in shown and _is_mostly_of_two(item)]
    if len(candidates) == 1:
        return replace(reading, response=candidates[0].name)
    if not candidates:
        return reading
    options = " or ".join(f"--column response={item.name}" for item in candidates[:4])
    question = f"several columns may hold the responses; say which: {options}"
    return replace(reading, questions=(*reading.questions, question))


def _is_mostly_of_two(column: ColumnSignature) -> bool:
    """Whether two cells stand in most rows, so that others may be wrong."""
    counts = column.cells[column.cells != ""].value_counts()
    return bool(counts.iloc[:2].sum() >= (1 - MOST_RARE) * counts.sum())


def chosen_amount(table: TableSignature, stimulus: Mapping[str, Any]) -> str:
    """A comparison such as ``Response == amount_later``, where a column repeats the amount of one of two options.

    It may say it in words, as ``£30 in 14 days`` does. Empty where not exactly one column does so.
    """
    pair = [str(leaf) for place in (0, 1) for leaf in leaves_of_option(stimulus, place)[:1]]
    is_pair = len(pair) == 2 and "amounts" in stimulus and set(pair) <= set(table.columns)
    if not is_pair:
        return ""
    first, second = (table.columns[name].values for name in pair)
    found: dict[str, Array] = {}
    for column in table.free:
        if column.name in pair or len(column.distinct) <= 2:
            continue
        distinct_cells = by_distinct(column.cells, amount_said).astype(np.float64)
        known = np.isfinite(first) & np.isfinite(second) & (column.cells != "").to_numpy()
        is_second = (distinct_cells == second)[known]
        is_either = is_second | (distinct_cells == first)[known]
        if len(is_either) and is_either.mean() >= NEARLY_ALL and 0 < is_second.mean() < 1:
            found[column.name] = np.where(
                distinct_cells == second, 1.0, np.where(distinct_cells == first, 0.0, np.nan)
            )
    # Of two columns that never say the same, each says what stood at a place.
    for one, other in combinations(list(found), 2):
        if {one, other} <= set(found) and _are_places(found[one], found[other]):
            del found[one], found[other]
    return f"{next(iter(found))} == {pair[1]}" if len(found) == 1 else ""


def _are_places(one: Array, other: Array) -> bool:
    known = np.isfinite(one) & np.isfinite(other)
    return bool(known.any()) and bool((one + other == 1)[known].mean() >= NEARLY_ALL)


def choice_columns(
    table: TableSignature, shown: Sequence[ColumnSignature]
) -> list[ColumnSignature]:
    """Columns that may hold choices: a few codes that change from row to row and do not follow from the trial."""
    names = {item.name for item in shown}
    found = []
    for column in table.free:
        meaning = table.named.get(column.name, "")
        if (
            column.name not in names
            and 2 <= len(column.distinct) <= 2 + MORE_CODES
            and meaning not in ("reward", "experiment", "share", "count", "attribute of people")
            and not column.words & (JUDGING | SWAPPED)
            and changes_within(column, table.person) > LEAST_CHANGES
            and (column.words & CHOICES or not (shown and is_function_of(column, *shown)))
        ):
            found.append(column)
    return found


def _most_dependent(
    candidates: Sequence[ColumnSignature], shown: Sequence[ColumnSignature]
) -> list[ColumnSignature]:
    """The only candidate that clearly depends on what was shown; nothing where none or several do."""
    values = [item.values for item in shown if item.is_number]
    values += [one - other for one, other in combinations(values, 2)]
    strength = [dependence(item, values) for item in candidates]
    best = int(np.argmax(strength))
    others = max(own for place, own in enumerate(strength) if place != best)
    return [candidates[best]] if strength[best] > CLEAR and others < strength[best] / 2 else []


def missed_cells(table: TableSignature, column: ColumnSignature) -> tuple[str, ...]:
    """Rare cells of a response in whose rows alone another column is empty, or a time is 0: nobody responded."""
    if len(column.distinct) < 3:
        return ()
    blanks = [
        (other.cells == "").to_numpy() for other in table.columns.values() if other is not column
    ]
    if table.time in table.columns:
        blanks.append(blanks[0] | ~(table.columns[table.time].values > 0))
    found = list(missed_in_words(table, column))
    for cell in column.distinct:
        rows = (column.cells == cell).to_numpy()
        if (
            cell not in found
            and rows.mean() < MOST_RARE
            and any((blank == rows).all() for blank in blanks)
        ):
            found.append(cell)
    return tuple(found) if len(column.distinct) - len(found) >= 2 else ()


def missed_in_words(table: TableSignature, column: ColumnSignature) -> tuple[str, ...]:
    """Cells of a response that say that it was missed, and in whose rows the time is empty or 0.

    Where no time is known, another column must be empty in just these rows.
    """
    if len(column.distinct) < 3:
        return ()
    found = []
    for cell in column.distinct:
        if cell.casefold() not in MISSED:
            continue
        rows = (column.cells == cell).to_numpy()
        if table.time in table.columns:
            is_missed = not bool((table.columns[table.time].values[rows] > 0).any())
        else:
            others = [own for own in table.columns.values() if own is not column]
            is_missed = any(((own.cells == "").to_numpy() == rows).all() for own in others)
        if is_missed:
            found.append(cell)
    return tuple(found)


def shared_marks(table: TableSignature) -> dict[str, tuple[str, ...]]:
    """Negative numbers such as -1 or -99 that stand for missing values, by column.

    Such a number is rare, all others of its column are positive or 0, and in just these rows another column holds
    the same number, or is empty. No response time is negative, however often it says so.
    """
    marked: dict[str, tuple[str, float, NDArray[np.bool_]]] = {}
    for name, column in table.columns.items():
        if name == table.participant or not column.is_number:
            continue
        negative = column.values < 0
        marks = {cell for cell, is_below in zip(column.cells, negative, strict=True) if is_below}
        if len(marks) == 1 and (name == table.time or negative.mean() < MOST_RARE):
            number = float(column.values[negative][0])
            if number == -1 or -number in MISSING_NUMBERS:
                marked[name] = (next(iter(marks)), number, negative)
    found: dict[str, tuple[str, ...]] = {}
    for name, (mark, number, rows) in marked.items():
        others = [own[2] for other, own in marked.items() if other != name and own[1] == number]
        others += [
            (other.cells == "").to_numpy() for other in table.columns.values() if other.name != name
        ]
        if name == table.time or any((other == rows).all() for other in others):
            found[name] = (mark,)
    return found


def sides_of(stimulus: Mapping[str, Any]) -> tuple[str, str]:
    """The words in which the names of the columns of two options differ; empty where they differ in more."""
    words = [words_of_option(stimulus, place) for place in (0, 1)]
    own = [words[0] - words[1], words[1] - words[0]]
    if all(own[0 if place == "left" else 1] & {place} for place in ("left", "right")):
        return "left", "right"
    if all(own[1 if place == "left" else 0] & {place} for place in ("left", "right")):
        return "right", "left"
    first, second = (leaves_of_option(stimulus, place) for place in (0, 1))
    for pair in zip(first, second, strict=False):
        names = [str(leaf) for leaf in pair]
        for sides, alike in counterparts(names).items():
            return sides if alike == [(names[0], names[1])] else sides[::-1]
    return "", ""


def code_by_sides(
    column: ColumnSignature, distinct: Sequence[str], sides: tuple[str, str]
) -> dict[str, int]:
    """Find which cell is which of two options, by the words of the options, in whole, in part or by their initials.

    Of a column that is called like one of the options, 1 or true is that option.
    """
    words = [side.casefold() for side in sides]
    if not all(words) or len(distinct) != 2:
        return {}
    for fits in (_is_word, _has_word, _is_initial):
        places = [[k for k in (0, 1) if fits(cell, words[k], words[1 - k])] for cell in distinct]
        if all(len(own) == 1 for own in places) and places[0] != places[1]:
            return {cell: own[0] for cell, own in zip(distinct, places, strict=True)}
    keys = guessed_keys({cell.casefold() for cell in distinct})
    stood = [_place(side) for side in sides]
    if keys and sorted(stood) == ["left", "right"]:  # as they lie on a keyboard
        order = [0, 1] if stood[0] == "left" else [1, 0]
        return {cell: order[keys[cell.casefold()]] for cell in distinct}
    truth = {cell: TRUTH.get(cell.casefold(), cell) for cell in distinct}
    if set(truth.values()) != {"0", "1"}:
        return {}
    name = column.name.casefold()
    if name not in words:
        return {}
    place = words.index(name)
    return {cell: place if code == "1" else 1 - place for cell, code in truth.items()}


def _place(side: str) -> str:
    """``left`` or ``right`` for a word or a letter that says it."""
    word = " ".join(words_of(side))
    return {"l": "left", "r": "right", "li": "left", "re": "right"}.get(word, word)


def _is_word(cell: str, word: str, other: str) -> bool:
    return cell.casefold() == word


def _has_word(cell: str, word: str, other: str) -> bool:
    return word in [part.casefold() for part in words_of(cell)] and not word.isdigit()


def _is_initial(cell: str, word: str, other: str) -> bool:
    return word[0] != other[0] and cell.casefold() == word[0] and not cell.isdigit()


def accepts(column: ColumnSignature, distinct: Sequence[str]) -> dict[str, int]:
    """Find which cell takes an offer (1) or leaves it (0), by words such as accept, play and pass; else nothing."""
    words = {cell: set(words_of(cell)) for cell in distinct}
    code = {
        cell: int(bool(own & ACCEPT))
        for cell, own in words.items()
        if bool(own & ACCEPT) != bool(own & REJECT)
    }
    return code if len(code) == len(distinct) and set(code.values()) == {0, 1} else {}
