"""A table as its mapping prepares it: missing values, recoded cells, computed columns, one row for each choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.cell_units import amount_said, without_units
from lakatos.experiments.adoption.expression import ColumnExpression
from lakatos.experiments.adoption.mapping import ALL_COLUMNS, AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import CHOICES, words_of
from lakatos.experiments.adoption.option_code import NEITHER, TRUTH
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.tables import (
    NUMBER,
    AnswerTable,
    by_distinct,
    days_of_dates,
    numbers_of,
    places_of,
    whole,
)
from lakatos.experiments.errors import TrialsError
from lakatos.traces.wording import plural

CHOSEN = {"chosen", *(word for word, code in TRUTH.items() if code == "1"), "1"}
NOT_CHOSEN = {"", *(word for word, code in TRUTH.items() if code == "0"), "0"}
"""Cells of a response where a row is one alternative."""
ALTERNATIVES = {
    "alt", "alternative", "alternatives", "option", "brand", "mode", "product", "concept", "profile", "item",
}  # fmt: skip
"""Words of names of columns."""
MOST_ALTERNATIVES = 12


def prepared(table: AnswerTable, columns: AnswerColumns) -> AnswerTable:
    """The table with the missing values, recoded cells, units and computed columns that a mapping describes.

    Raises:
        TrialsError: The mapping names a column that is not there, or rows of one choice do not fit together.
    """
    table = with_one_spelling(_recoded(_without_marks(table, columns), columns), columns)
    table = without_units(table, columns)
    table = _with_feedback_below(_with_computed_columns(table, columns), columns)
    return with_a_row_for_each_choice(table, columns) if columns.alternative else table


def with_questions_marked(
    table: AnswerTable, columns: AnswerColumns
) -> tuple[AnswerTable, AnswerColumns]:
    """The table without marks of missing values in questions that become rows, and the mapping of the other marks."""
    question_of = {
        name: marks
        for name, marks in columns.missing.items()
        if name in table.columns
        and any(fnmatchcase(name, own.replace("#", "*")) for own in columns.wide.split(","))
    }
    if not question_of:
        return table, columns
    rest = {name: marks for name, marks in columns.missing.items() if name not in question_of}
    marked = _without_marks(table, columns.model_copy(update={"missing": question_of}))
    return marked, columns.model_copy(update={"missing": rest})


def _without_marks(table: AnswerTable, columns: AnswerColumns) -> AnswerTable:
    """The table with nothing in cells that hold one of the mapping's marks of missing values."""
    if not columns.missing:
        return table
    kept = {columns.participant, columns.order, columns.experiment, columns.item}
    kept |= {columns.alternative, columns.choice_set}
    frame, notes = table.frame.copy(), []
    for column, marks in columns.missing.items():
        names = [column] if column != ALL_COLUMNS else [n for n in table.columns if n not in kept]
        if column == columns.response and "second_choice" in columns.stimulus:
            names.append(str(columns.stimulus["second_choice"]))  # coded as the first choice is
        _check_columns(table, names, "missing")
        wanted = {_folded(mark) for mark in marks}
        for name in names:
            is_missing = pd.Series(by_distinct(frame[name], _folded)).isin(wanted).to_numpy()
            if is_missing.any():
                frame[name] = frame[name].mask(is_missing, "")
                notes.append(
                    f"{name}: {' or '.join(marks)} is taken as missing ({plural(int(is_missing.sum()), 'cell')})"
                )
    return replace(table, frame=frame, notes=(*table.notes, *notes))


def _recoded(table: AnswerTable, columns: AnswerColumns) -> AnswerTable:
    """The table with cells that mean something else in its place."""
    if not columns.recode:
        return table
    _check_columns(table, list(columns.recode), "recode")
    return replace(table, frame=recoded_cells(table.frame, columns))


def recoded_cells(frame: pd.DataFrame, columns: AnswerColumns) -> pd.DataFrame:
    """Rows with cells that mean something else in its place."""
    frame = frame.copy()
    for column, meanings in columns.recode.items():
        if column in frame:
            code = {_folded(cell): value for cell, value in meanings.items()}
            frame[column] = by_distinct(frame[column], partial(_meaning, code))
    return frame


def with_one_spelling(table: AnswerTable, columns: AnswerColumns) -> AnswerTable:
    """The table with one spelling for words of the response that differ in case alone.

    It is the one that the mapping names, or the most frequent one. Single letters may be different keys, except where
    the same letters, of which there are several, stand in both cases.
    """
    name = columns.response
    if name not in table.columns:
        return table
    cells = table.frame[name].str.strip()
    counts = cells.value_counts()
    spelling: dict[str, str] = {cell.casefold(): cell for cell in reversed(counts.index.tolist())}
    spelling |= {cell.casefold(): cell for cell in columns.responses}
    small = {cell for cell in counts.index if len(cell) == 1 and cell.islower()}
    capital = {cell.casefold() for cell in counts.index if len(cell) == 1 and cell.isupper()}
    shortest = 1 if small == capital and len(small) > 1 else 2
    others = [c for c in counts.index if spelling[c.casefold()] != c and len(c) >= shortest]
    if len(spelling) > MOST_ALTERNATIVES or not others:
        return table
    plain = cells.map(lambda cell: spelling[cell.casefold()] if len(cell) >= shortest else cell)
    note = f"{name}: {', '.join(others)} differ from other cells in case alone, and are the same"
    frame = table.frame.assign(**{name: plain.astype("str")})
    return replace(table, frame=frame, notes=(*table.notes, note))


def _meaning(code: Mapping[str, str], cell: str) -> str:
    return code.get(_folded(cell), cell)


def _folded(cell: str) -> str:
    """A cell without differences that mean nothing."""
    return whole(str(cell).strip()).casefold()


def _check_columns(table: AnswerTable, names: Sequence[str], key: str) -> None:
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        raise TrialsError(
            f"participants.columns.{key}: {table.name} has no column {unknown[0]!r}. It has: "
            f"{', '.join(table.columns[:40])}. Say --column {key}.COLUMN=... with one of them."
        )


MOST_BETWEEN = 3
"""Rows from a response to that of its feedback, others such as fixation marks lying between them."""
NEARLY_ALL = 0.9
"""Share of responses whose feedback stands in a row of its own."""


def _with_feedback_below(table: AnswerTable, columns: AnswerColumns) -> AnswerTable:
    """The table with feedback in the row of its response, where it stands in a row of its own soon after each of them.

    So do cells of other columns that say something in rows of feedback alone.
    """
    frame, reward = table.frame, columns.feedback.get("reward", "")
    if not {columns.response, reward} <= set(frame.columns) or columns.response == reward:
        return table
    is_response = (frame[columns.response].str.strip() != "").to_numpy()
    is_feedback = (frame[reward].str.strip() != "").to_numpy()
    n_pairs = min(int(is_response.sum()), int(is_feedback.sum()))
    if not n_pairs or (is_response & is_feedback).any():
        return table
    places = np.flatnonzero(is_response | is_feedback)
    first, then = places[:-1], places[1:]
    who = [name for name in (columns.participant, "file") if name in frame.columns]
    person = places_of(*(frame[name] for name in who)) if who else np.zeros(len(frame), np.int64)
    is_pair = is_response[first] & is_feedback[then] & (person[first] == person[then])
    is_pair &= then - first <= MOST_BETWEEN
    if is_pair.sum() < NEARLY_ALL * max(int(is_response.sum()), int(is_feedback.sum())):
        return table
    first, then = first[is_pair], then[is_pair]
    changed, moved = frame.copy(), []
    for name in table.columns:
        cells = frame[name].to_numpy(dtype=object)
        if (frame[name].iloc[is_response].str.strip() == "").all() and any(cells[then] != ""):
            cells = cells.copy()
            cells[first], cells[then] = cells[then], ""
            changed[name] = pd.Series(cells, frame.index, dtype="str")
            moved.append(name)
    note = f"{', '.join(moved)}: in a row of feedback after that of each response, and read with the response"
    return replace(table, frame=changed, notes=(*table.notes, note))


def _with_computed_columns(table: AnswerTable, columns: AnswerColumns) -> AnswerTable:
    """The table with a column for each expression, such as ``gain + loss``, that the mapping names as one."""
    named = [columns.response, columns.response_time, columns.order, columns.count, columns.share]
    own_values = [*named, *leaves_of(columns.stimulus), *columns.feedback.values()]
    frame = table.frame
    for text in dict.fromkeys(leaf for leaf in own_values if isinstance(leaf, str)):
        if text in frame.columns or not text:
            continue
        try:
            expression = ColumnExpression(text, table.columns)
        except ValueError:
            continue  # whoever reads the column says that it is not there
        frame = frame.assign(**{text: computed_cells(table.frame, expression)})
    return replace(table, frame=frame)


def computed_cells(frame: pd.DataFrame, expression: ColumnExpression) -> list[str]:
    """Cells of a computed column: empty where one that it needs is empty, and a cell that is no number as it is."""
    cells = {name: frame[name].str.strip() for name in expression.columns}
    if expression.by_cell:
        named = by_distinct(cells[expression.columns[0]], _folded)
        made = np.full(len(frame), "", dtype=object)
        for cell, name in expression.by_cell.items():
            made[named == cell] = cells[name].to_numpy(dtype=object)[named == cell]
        return list(made)
    if expression.equal is not None:
        folded: dict[str, Any] = {name: by_distinct(own, _folded) for name, own in cells.items()}
        left, right = expression.compared(folded)
        others = _named_by_none(left, right) if len(cells) == 2 else set()
        return [
            ""
            if "" in (one, two)
            else f"{one}{NEITHER}"
            if one in others
            else str(int(_is_same(one, two)))
            for one, two in zip(left, map(_folded, right), strict=True)
        ]
    numbers = {name: _numbers_or_days(own) for name, own in cells.items()}
    value = expression.value(numbers)
    found = ["" if np.isnan(item) else whole(repr(float(item))) for item in value.round(12)]
    for name, own in cells.items():
        wrong = np.isnan(numbers[name]) & (own != "").to_numpy()
        for row in np.flatnonzero(wrong):
            found[row] = own.iloc[row]
    return found


def _numbers_or_days(cells: pd.Series) -> NDArray[np.float64]:
    """Cells as numbers; dates as days, so that a difference of dates is a number of days."""
    days = days_of_dates(cells)
    return days if not np.isnan(days).all() else np.asarray(numbers_of(cells), dtype=np.float64)


def _named_by_none(left: Any, right: Any) -> set[str]:
    """Cells, such as ``timeout``, beside the two that both columns hold: neither the same nor the other one."""
    known, distinct = set(right) - {""}, set(left) - {""}
    return distinct - known if len(known) == 2 and known < distinct else set()


def _is_same(one: str, other: str) -> bool:
    """Whether two cells say the same: the same text, or an amount in words and its number."""
    if one == other or not NUMBER.fullmatch(other) or NUMBER.fullmatch(one):
        return one == other
    return amount_said(one) == amount_said(other)


# A row for each alternative -------------------------------------------------------------------


@dataclass(frozen=True)
class AlternativeRows:
    """The columns of a table with a row for each alternative of each choice."""

    response: str
    choice_set: str
    alternative: str
    """Column that names the alternatives; empty where none does."""


def alternative_rows(
    frame: pd.DataFrame, participant: str, response: str = ""
) -> AlternativeRows | None:
    """Find rows that are one alternative each: groups of rows of which exactly one was chosen. Else None.

    Choices of which no row says anything were not made, and are no evidence.

    Args:
        frame: Rows of text cells.
        participant: Column that names participants; empty where there is none.
        response: Column that says which was chosen; found by its name where it is empty.
    """
    names = [str(name) for name in frame.columns if name != participant]
    who = frame[participant] if participant in frame.columns else pd.Series("", index=frame.index)
    named = [name for name in names if set(words_of(name)) & {*CHOICES, "mode"}]
    for choice in [name for name in names if name == response] if response else named:
        distinct = {_folded(cell) for cell in frame[choice].unique()} - {""}
        if len(distinct) != 2 or not distinct & CHOSEN or not distinct & NOT_CHOSEN:
            continue
        is_chosen = np.isin(by_distinct(frame[choice], _folded), list(CHOSEN))
        is_said = (frame[choice].str.strip() != "").to_numpy()
        if 2 * is_chosen.sum() > len(frame):
            continue  # groups of which one row each was chosen have two rows or more
        for name in names:
            if name == choice or frame[name].nunique() < 2:
                continue
            group = places_of(who, frame[name])
            sizes, n_chosen = np.bincount(group), np.bincount(group, is_chosen)
            is_made = np.bincount(group, is_said) > 0
            if is_made.any() and (n_chosen[is_made] == 1).all() and sizes.min() >= 2:
                others = [other for other in names if other not in (choice, name)]
                return AlternativeRows(choice, name, _naming(frame, others, group))
    return None


def _naming(frame: pd.DataFrame, names: Sequence[str], group: NDArray[np.int64]) -> str:
    """The column that names alternatives: no name comes twice in a choice, and all choices share a few names."""
    found = []
    for name in names:
        n_pairs = int(places_of(group, frame[name]).max()) + 1
        is_named = bool(set(words_of(name)) & ALTERNATIVES)
        is_word = numbers_of(frame[name]).isna().all()
        if (
            frame[name].nunique() <= MOST_ALTERNATIVES
            and n_pairs == len(frame)
            and (is_named or is_word)
        ):
            found.append((not is_named, name))
    return min(found)[1] if found else ""


def with_a_row_for_each_choice(table: AnswerTable, columns: AnswerColumns) -> AnswerTable:
    """The table with one row for each choice: what differs between alternatives gets a column for each of them.

    The column ``price`` becomes ``price dannon``, ``price yoplait`` and so on; the response is the alternative chosen.

    Raises:
        TrialsError: Two rows of a choice name the same alternative, or more than one was chosen.
    """
    frame, response = table.frame, columns.response
    _check_columns(table, [columns.alternative, columns.choice_set, response], "alternative")
    keys = [name for name in (columns.participant, columns.choice_set) if name in frame.columns]
    group = places_of(*(frame[name] for name in keys))
    place, labels = pd.factorize(frame[columns.alternative], sort=True)
    twice = pd.Series(places_of(group, place)).duplicated().to_numpy()
    distinct = pd.Series(by_distinct(frame[response], _folded))
    odd = ~distinct.isin(CHOSEN | NOT_CHOSEN).to_numpy()
    is_chosen = distinct.isin(CHOSEN).to_numpy()
    n_chosen = np.bincount(group, is_chosen)
    other = next((cell for cell in frame[response][odd] if cell), "")
    roles = "say --column alternative=COLUMN --column choice_set=COLUMN --column response=COLUMN (participants.columns)"
    for wrong, words, advice in (
        (
            twice,
            f"{columns.alternative} names an alternative twice in one choice ({columns.choice_set})",
            roles,
        ),
        (
            odd,
            f"{response} is {other!r:.40}, neither 1 (chosen) nor 0",
            f"say what it is: --column 'recode.{response}={{\"{other:.40}\" = 1}}' or = 0, for each such cell",
        ),
        (
            n_chosen[group] > 1,
            f"{response} says that more than one alternative of the choice was chosen",
            roles,
        ),
    ):
        if wrong.any():
            raise TrialsError(
                f"{table.name}: {rows_named(frame.index[wrong])}: {words}. Each choice has a row for each alternative, "
                f"of which one was chosen; {advice}, or correct the file."
            )
    n_groups = int(group.max()) + 1
    first = np.full(n_groups, len(frame))
    np.minimum.at(first, group, np.arange(len(frame)))
    made: dict[str, Any] = {}
    for name in table.columns:
        if name in (columns.alternative, response):
            continue
        cells = frame[name].to_numpy(dtype=object)
        # What is the same in the whole file may be a property that all alternatives have alike.
        is_of_choice = name in keys or len(set(cells)) > 1
        if is_of_choice and (cells == cells[first][group]).all():
            made[name] = cells[first]
            continue
        wide = np.full((n_groups, len(labels)), "", dtype=object)
        wide[group, place] = cells
        made |= {f"{name} {label}": wide[:, at] for at, label in enumerate(labels)}
    chosen = np.full(n_groups, "", dtype=object)
    chosen[group[is_chosen]] = frame[columns.alternative].to_numpy(dtype=object)[is_chosen]
    made[response] = chosen
    index = frame.index.to_numpy()[first]
    note = (
        f"a row is one alternative ({columns.alternative}): {len(frame):,} rows are "
        f"{plural(n_groups, 'choice')} among {len(labels)}"
    )
    return replace(table, frame=pd.DataFrame(made, index=index), notes=(*table.notes, note))
