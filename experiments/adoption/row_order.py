"""The order in which each person gave the answers of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.plausible import question
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.tables import days_of_dates, numbers_of
from lakatos.experiments.errors import TrialsError

Array = NDArray[Any]
BLOCKS = {"block", "blocks", "blk", "run", "session", "sess", "game", "part", "phase", "round"}
"""Words in names of columns in whose parts numbers of trials may begin anew."""


def order_of_rows(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    notes: list[str],
    *,
    is_needed: bool,
    has_games: bool = False,
) -> tuple[Array, bool]:
    """``(n_rows,)`` rows by person and by the order in which the person gave the answers, and whether that is known.

    Where numbers of trials occur twice for a person, as where they begin anew in each block, rows are never sorted by
    these numbers alone: they keep their order in the file, or that of blocks and numbers in these. Where rows of a
    person are not even in the order of blocks, nothing tells which came first.

    Args:
        cells: Cells of one experiment.
        columns: What they mean.
        participant: ``(n_rows,)`` number of the person.
        notes: What is assumed is added to them.
        is_needed: Whether trials depend on the order.
        has_games: Whether what is learned may begin anew.

    Raises:
        TrialsError: Trials depend on the order, numbers occur twice, and neither a column nor the order of rows tells
            which came first.
    """
    by_person = np.argsort(participant, kind="stable")
    if not columns.order:
        return by_person, True
    times = days_of_dates(pd.Series(cells.text(columns.order)))
    when = [cells.numbers(columns.order) if np.isnan(times).any() else times]
    if "stage" in columns.stimulus:
        when = [cells.numbers(str(columns.stimulus["stage"])), *when]
    if not _occurs_twice([*when, participant]):
        return np.lexsort([*when, participant]), True
    anew = f"{columns.order} says the same in several rows of a person, as where it begins anew"
    if _is_in_runs(participant[by_person], [part[by_person] for part in when]):
        notes.append(
            f"{anew}: rows are in their order in the file. Where a new game begins there, say block_start"
            if has_games and "block_start" not in columns.stimulus
            else f"{anew}: rows are in their order in the file"
        )
        return by_person, True
    names, blocks = _blocks(cells, columns, [*when, participant])
    if names:
        notes.append(
            f"{anew}: rows are in the order of {' and '.join(names)}, then {columns.order}"
        )
        return np.lexsort([*when, *blocks, participant]), True
    rows = rows_named(cells.row_numbers(np.flatnonzero(_duplicates([*when, participant]))))
    unexplained = f"{anew}, and it does not begin anew in {rows}, or rows of a person are not in the order of blocks"
    if not is_needed:
        notes.append(unexplained)
        return by_person, False
    raise TrialsError(
        f"{cells.name}: {unexplained}, so that nobody knows what came before. Correct it, name a column that "
        "counts through all of a person's answers (order = NAME in participants.columns, --column order=NAME), or "
        "sort the rows by time and leave order out (--column order=)."
    )


def with_time_stamp(frame: pd.DataFrame, columns: AnswerColumns, notes: list[str]) -> AnswerColumns:
    """The mapping with the order by the only column that nothing reads and that dates each response by the minute."""
    if columns.order or columns.is_pooled or columns.participant not in frame.columns:
        return columns
    n_people = frame[columns.participant].nunique()
    named = [name for name in (columns.participant, columns.response) if name in frame.columns]
    frame = frame[(frame[named] != "").all(axis=1)]  # others are no responses
    found = [
        name
        for name in columns_not_read(frame, columns)
        if frame[name].str.contains(":", regex=False).all()
        and not np.isnan(days_of_dates(frame[name])).any()
        and frame[name].nunique() > 2 * n_people
    ]
    if len(found) != 1:
        return columns
    notes.append(f"{found[0]}: rows are in the order of these times, as no other column says it")
    return columns.model_copy(update={"order": found[0]})


def question_countdown(
    frame: pd.DataFrame, columns: AnswerColumns, name: str, notes: list[str]
) -> None:
    """Refuse rows in the order of a number that counts what is left, unless the mapping accepts it.

    Raises:
        ImplausibleError: The last trial of each participant would be the first.
    """
    if columns.is_pooled or columns.participant not in frame.columns:
        return
    of_file = frame.drop(columns=columns.order) if columns.order in frame.columns else frame
    computed = columns_in(columns.order, of_file)  # as in -trials_left and 40 - trials_left
    counters = computed if columns.order else columns_not_read(frame, columns)
    for column in counters:
        words = set(words_of(column))
        if column not in frame.columns or not (words & REMAINING and words & COUNTED):
            continue
        left = numbers_of(frame[column].str.strip())
        if columns.order and _is_turned(left, numbers_of(frame[columns.order].str.strip())):
            continue
        person = frame[columns.participant]
        if left.isna().any() or _occurs_twice([left.to_numpy(), pd.factorize(person)[0]]):
            continue
        if not columns.order and (left.groupby(person).diff().dropna() < 0).all():
            continue  # rows are in the order of trials
        question(
            columns,
            notes,
            "counts_up",
            f"{name}: {column} seems to count what is left, so that the last trial would be taken for the first. Say "
            f"--column 'order=-{column}'",
        )


def _is_turned(counter: pd.Series, order: pd.Series) -> bool:
    """Whether a computed order falls where its counter rises."""
    by_counter = order.groupby(counter).agg(["min", "max"])
    return bool((by_counter["max"].shift(-1) < by_counter["min"]).iloc[:-1].all())


REMAINING = {"left", "remaining", "remain", "verbleibend", "rest"}
COUNTED = {"trial", "trials", "step", "steps", "round", "rounds", "turn", "turns"}
"""Words in names of columns that count down."""


def _duplicates(columns: Sequence[Array]) -> Array:
    """``(n_rows,)`` whether an earlier row has the same numbers."""
    return np.asarray(pd.DataFrame(dict(enumerate(columns))).duplicated())


def _occurs_twice(columns: Sequence[Array]) -> bool:
    return bool(_duplicates(columns).any())


def _is_in_runs(participant: Array, when: Sequence[Array]) -> bool:
    """Whether each person's numbers grow again and again, no more often than the most frequent number occurs.

    Numbers begin anew where they fall to the person's least one, or go over two numbers again. A single number that
    comes again, as in 4, 5, 5, 7 and in 4, 5, 3, 7, begins nothing, unless a person has no other number.

    Args:
        participant: ``(n_rows,)`` rows of one person stand together.
        when: ``(n_rows,)`` numbers that tell the order, the most important last.
    """
    rank = np.empty(len(participant), dtype=np.int64)
    order = np.lexsort(when)
    changes = np.any([np.diff(part[order]) != 0 for part in when], axis=0)
    rank[order] = np.concatenate([[0], np.cumsum(changes)])
    begins = np.ones(len(rank), dtype=bool)
    begins[1:] = (np.diff(participant) != 0) | (np.diff(rank) <= 0)
    of_person = pd.Series(rank).groupby(participant)
    least, most = (of_person.transform(name).to_numpy() for name in ("min", "max"))
    again = np.flatnonzero(begins)
    again = again[again > 0]
    again = again[participant[again] == participant[again - 1]]
    follows = np.minimum(again + 1, len(rank) - 1)
    goes_over_two = ~begins[follows] & (rank[follows] <= rank[again - 1])
    falls = (rank[again] < rank[again - 1]) & ((rank[again] == least[again]) | goes_over_two)
    if not (falls | (least[again] == most[again])).all():
        return False
    n_runs = np.bincount(participant, weights=begins)
    times = pd.DataFrame({"who": participant, "when": rank}).value_counts()
    return bool((n_runs <= times.groupby("who").max().sort_index().to_numpy()).all())


def _blocks(
    cells: RowCells, columns: AnswerColumns, listed: Sequence[Array]
) -> tuple[list[str], list[Array]]:
    """Columns of numbers of blocks in which no number of a trial occurs twice, the least important first."""
    used = {columns.participant, columns.order, columns.response, columns.response_time}
    found: dict[str, Array] = {}
    for name in map(str, cells.frame.columns):
        if name not in used and set(words_of(name)) & BLOCKS:
            values = numbers_of(cells.frame[name].str.strip()).to_numpy()
            if np.isfinite(values).all():
                found[name] = values
    choices = [[name] for name in found] + ([list(found)] if len(found) > 1 else [])
    for names in choices:
        if not _occurs_twice([*listed, *(found[name] for name in names)]):
            return names, [found[name] for name in reversed(names)]
    return [], []
