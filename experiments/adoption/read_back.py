"""How a file was read, in words: some of its responses, and the columns that are not read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.expression import ColumnExpression, columns_in
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.task import Domain, Trials

Array = NDArray[Any]
N_READ_BACK = 3
MOST_COLUMNS = 12


def read_back(
    trials: Sequence[Trials],
    rows: Sequence[Array],
    cells: RowCells,
    columns: AnswerColumns,
    domain: Domain,
) -> list[str]:
    """Three responses in words, for the user to see whether options, units and sides are right.

    Args:
        trials: Of each experiment.
        rows: Of each experiment the places of the rows of its responses.
        cells: Of all rows.
        columns: What they mean.
        domain: Of the trials.
    """
    item, places = trials[0], rows[0]
    lines = [
        f"read back: {_in_words(item, at, places[at] if at < len(places) else None, cells, columns, domain)}"
        for at in _chosen(item)
    ]
    used = {str(leaf) for leaf in leaves_of(columns.model_dump())}
    used |= set(columns.where) | set(columns.recode)
    used |= _columns_of_expressions(used, set(map(str, cells.frame.columns)))
    unread = [name for name in map(str, cells.frame.columns) if name not in used]
    if unread:
        more = f" and {len(unread) - MOST_COLUMNS} more" if len(unread) > MOST_COLUMNS else ""
        lines.append(f"columns that are not read: {', '.join(unread[:MOST_COLUMNS])}{more}")
    return lines


def _columns_of_expressions(names: Iterable[str], columns: set[str]) -> set[str]:
    """The columns that the expressions among names compute with, as ``gain`` and ``loss`` in ``gain + loss``."""
    found: set[str] = set()
    for name in names:
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
    shown = domain.describe(item.stimuli, int(item.trial[at]))
    code, scale = int(item.response[at]), scale_of(domain)
    labels = domain.options if scale is None else scale.labels
    option = labels[code] if code < len(labels) else chr(ord("A") + code)
    meaning = f"option {code + 1} ({option})" if scale is None else option
    if item.pooled:
        total = int(item.count[item.trial == item.trial[at]].sum())
        return f"{shown}: {int(item.count[at]):,} of {total:,} responses are {meaning}"
    told = [columns.participant, columns.response, columns.response_time]
    if domain.sequential:
        told += [own for said in columns.feedback.values() for own in columns_in(said, cells.frame)]
    row = ""
    if place is not None:
        frame = cells.frame.loc[[place]]
        said = [f"{n} = {frame[n].iloc[0]}" for n in dict.fromkeys(told) if n in frame.columns]
        number = place if cells.numbers_of_rows is None else cells.numbers_of_rows[place]
        row = f"row {number} ({', '.join(said)}): "
    followed = "".join(
        f", {name} {values[at]:g}"
        for name, values in item.feedback.items()
        if name != "next_state" or np.any(values)
    )
    return f"{row}{shown} -> {meaning}{followed}"
