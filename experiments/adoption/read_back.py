"""Account of how a file was read: some of its responses, and the columns that are not read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.expression import ColumnExpression, columns_in, joined_columns
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_kind import label_of_option
from lakatos.experiments.adoption.plausible import JUDGED
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.signatures import SCHEDULES
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.outcomes import NamesOptions
from lakatos.experiments.task import Domain, Trials, seen_trial

Array = NDArray[Any]
N_READ_BACK = 3
MOST_LEVELS, LEAST_ROWS = 6, 2
"""Different words of a column that may be a condition, and rows of a participant with each of them."""
MOST_COLUMNS = 12
POOLED_CONDITIONS = "so responses of all conditions are taken together"
"""Stands in the line on conditions within participants that are not read."""
OF_RESPONSES = {
    "key", "keys", "response", "resp", "answer", "pressed", "button", "chosen", "choice", "correct", "corr", "cresp",
    "outcome", "feedback", "reward", "left", "right",
}  # fmt: skip
"""Words in names of columns of responses, of where options stood, and of what came of a response."""


def read_back(
    trials: Sequence[Trials],
    rows: Sequence[Array],
    cells: RowCells,
    columns: AnswerColumns,
    domain: Domain,
) -> list[str]:
    """Three responses in words, for the user to see whether options, units and sides are right.

    Args:
        trials: Trials of each experiment.
        rows: Places in each experiment of the rows of its responses.
        cells: Cells of all rows.
        columns: What they mean.
        domain: Domain of the trials.
    """
    item, places = trials[0], rows[0]
    lines = [
        f"read back: {_in_words(item, at, places[at] if at < len(places) else None, cells, columns, domain)}"
        for at in _chosen(item)
    ]
    unread = columns_not_read(cells.frame, columns)
    if unread:
        more = f" and {len(unread) - MOST_COLUMNS} more" if len(unread) > MOST_COLUMNS else ""
        lines.append(f"columns that are not read: {', '.join(unread[:MOST_COLUMNS])}{more}")
    return lines


def columns_not_read(frame: pd.DataFrame, columns: AnswerColumns) -> list[str]:
    """Names of the columns of a file to which its mapping gives no meaning."""
    used = {str(leaf) for leaf in leaves_of(columns.model_dump())}
    used |= set(columns.where) | set(columns.recode)
    used |= _columns_of_expressions(used, set(map(str, frame.columns)))
    return [name for name in map(str, frame.columns) if name not in used]


def possible_conditions(frame: pd.DataFrame, columns: AnswerColumns) -> dict[str, list[str]]:
    """Columns that look like conditions within participants and are not read, each with its words.

    Such a column holds 0 and 1, or two to six different words, of which most participants have each in several
    rows. Words that follow from the response, as another coding of it, are no condition, nor are those of responses and
    right keys, and what came of a response, unless it says in which blocks there was feedback.
    """
    if columns.participant not in frame:
        return {}
    people, found = frame[columns.participant], dict[str, list[str]]()
    distinct = (
        set(map(str, frame[columns.response].unique())) if columns.response in frame else set()
    )
    for name in columns_not_read(frame, columns):
        cells = frame[name]
        words = [word for word in map(str, cells.unique()) if word.strip()]
        if not 2 <= len(words) <= MOST_LEVELS:
            continue
        numbers = pd.to_numeric(pd.Series(words).str.replace(",", "."), errors="coerce")
        is_number = numbers.notna().any() and set(words) != {"0", "1"}
        is_of_blocks = "feedback" in words_of(name) and _is_of_blocks(frame, name)
        is_of_response = set(words) <= distinct or set(words_of(name)) & (OF_RESPONSES | JUDGED)
        if is_number or (is_of_response and not is_of_blocks):
            continue
        rows = pd.crosstab(people, cells)[words]
        has_each = (rows >= LEAST_ROWS).all(axis=1).mean()
        response = frame.get(columns.response, people)
        follows = (cells.groupby(response).nunique() <= 1).all()
        if has_each > 0.5 and not follows and not _says_correctness(frame, name, columns.response):
            found[name] = sorted(words)
    return found


def conditions_not_read(frame: pd.DataFrame, columns: AnswerColumns) -> list[str]:
    """A line on `possible_conditions`."""
    found = possible_conditions(frame, columns)
    if not found:
        return []
    is_one, name = len(found) == 1, next(iter(found)) if len(found) == 1 else "COLUMN"
    vary, are = ("varies", "is") if is_one else ("vary", "are")
    named = ", ".join(f"{own} ({', '.join(words)})" for own, words in found.items())
    return [
        f"{named} {vary} within participants and {are} not read, {POOLED_CONDITIONS}; `lakatos theory effects FILE "
        f"THEORY --by {name}` compares parameters by it, and --column condition={name} makes it a part of each trial"
    ]


def pooled_conditions(notes: Iterable[str]) -> str:
    """What notes on a file state of conditions that are not read, without the advice; else empty."""
    return next((note for note in notes if POOLED_CONDITIONS in note), "").partition(";")[0]


def _is_of_blocks(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column follows from one of numbers of blocks."""
    blocks = (own for own in map(str, frame.columns) if set(words_of(own)) & SCHEDULES)
    return any((frame[name].groupby(frame[own]).nunique() <= 1).all() for own in blocks)


def _says_correctness(frame: pd.DataFrame, name: str, response: str) -> bool:
    """Whether a column says exactly whether the response equals some other column, as correctness does."""
    if response not in frame.columns:
        return False
    rows = frame[frame[response] != ""]
    equal = (rows[response] == rows[other] for other in rows.columns.drop([response, name]))
    tables = (pd.crosstab(own, rows[name]).to_numpy() > 0 for own in equal)
    return any(table.shape == (2, 2) and table.sum() == 2 for table in tables)


def _columns_of_expressions(names: Iterable[str], columns: set[str]) -> set[str]:
    """The columns that the expressions among names compute with, as ``gain`` and ``loss`` in ``gain + loss``."""
    found: set[str] = set()
    for name in names:
        found.update(joined_columns(name, sorted(columns)))
        with contextlib.suppress(ValueError):  # a plain name, a number or a word
            found.update(ColumnExpression(name, sorted(columns)).columns)
    return found


def _chosen(item: Trials) -> list[int]:
    """The first response, the first one that differs from it, and the last one."""
    given = np.flatnonzero(item.count > 0)
    other = given[item.response[given] != item.response[given[0]]]
    return sorted({int(given[0]), *(int(at) for at in other[:1]), int(given[-1])})[:N_READ_BACK]


def _in_words(
    item: Trials,
    at: int,
    place: Any,
    cells: RowCells,
    columns: AnswerColumns,
    domain: Domain,
) -> str:
    """One response: its row, what was shown, what the cells say and what they were taken for."""
    goes_on = at > 0 and item.participant[at] == item.participant[at - 1]
    before = {name: float(own[at - 1]) for name, own in item.feedback.items()} if goes_on else {}
    seen = seen_trial(domain, item.stimuli, int(item.trial[at]), before)
    shown = domain.describe(seen, 0)
    code, scale = int(item.response[at]), scale_of(domain)
    labels: Sequence[str] = domain.options
    if isinstance(domain, NamesOptions):
        labels = domain.option_names(item.stimuli, int(item.trial[at]))
    option = labels[code] if code < len(labels) else chr(ord("A") + code)
    if scale is None and len(labels) == 2 and not domain.sequential:
        option = label_of_option(item.stimuli, int(item.trial[at]), code, domain)
    meaning = f"option {code + 1} ({option})" if scale is None else scale.in_words(code)
    if item.pooled:
        total = int(item.count[item.trial == item.trial[at]].sum())
        return f"{shown}: {int(item.count[at]):,} of {total:,} responses are {meaning}"
    sure = columns_in(str(columns.stimulus.get("confidence", "")), cells.frame)
    which = columns.item or (columns.order if columns.wide else "")
    named = [columns.participant, which, columns.response, *sure, columns.response_time]
    if domain.sequential:
        named += [
            own for words in columns.feedback.values() for own in columns_in(words, cells.frame)
        ]
    row = ""
    if place is not None:
        frame = cells.frame.loc[[place]]
        words = [f"{n} = {frame[n].iloc[0]}" for n in dict.fromkeys(named) if n in frame.columns]
        number = place if cells.numbers_of_rows is None else cells.numbers_of_rows[place]
        row = f"row {number} ({', '.join(words)}): "
    followed = "".join(
        f", {name} {values[at]:g}"
        for name, values in item.feedback.items()
        if name not in seen.arrays and (name != "next_state" or np.any(values))
    )
    return f"{row}{shown} -> {meaning}{followed}"
