"""Choice of the rows of a table that are responses: those of the study, each once, one response a row."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.expression import JOINED, joined_columns
from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.prepared import recoded_cells
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.row_order import BLOCKS
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.signatures import ColumnSignature, counts_up
from lakatos.experiments.adoption.tables import AnswerTable, numbers_of, places_of, whole
from lakatos.experiments.errors import TrialsError
from lakatos.traces.wording import plural

MANY_COPIES = 0.45
"""Share of rows that equal an earlier one where a whole table is there twice."""
LEAST_WITHOUT_TIMES = 40
"""Rows of a participant that stand twice, where no times tell copies from the same responses again."""
LEAST_TABLE = 10
"""Rows of a table that is recognised when it stands twice; fewer repeat by chance."""


def with_joined_participant(table: AnswerTable, participant: str) -> AnswerTable:
    """The table with a column that names participants, where the mapping joins several, as in ``site & id``."""
    parts = joined_columns(participant, table.columns)
    if not parts or participant in table.columns:
        return table
    cells = table.frame[parts[0]].str.strip()
    for part in parts[1:]:
        own = table.frame[part].str.strip()
        cells = (cells + JOINED + own).where((cells != "") & (own != ""), "")
    return replace(table, frame=table.frame.assign(**{participant: cells}))


def chosen_rows(
    table: AnswerTable, columns: AnswerColumns, left_out: RowsLeftOut | None = None
) -> pd.DataFrame:
    """The rows that count; the others go to ``left_out``."""
    cells = RowCells(table.frame, table.name)
    kept = np.ones(len(table.frame), dtype=bool)
    others = RowsLeftOut() if left_out is None else left_out
    for column, allowed in columns.where.items():
        allowed_cells = [allowed] if isinstance(allowed, str) else allowed
        wanted = {whole(word) for word in allowed_cells}
        is_in = cells.is_in(column, wanted, lambda cell: whole(cell.strip()))
        rows = table.frame[kept & ~is_in]
        left = sorted(set(rows[column].str.strip()))
        words, negation = (left, "") if len(left) < len(allowed_cells) else (allowed_cells, "not ")
        others.add(
            f"{column} is {negation}{' or '.join(word or 'empty' for word in words)}",
            recoded_cells(rows, columns),  # with the conditions that the rows that count have
            rows.index.to_numpy(),
            is_trial=False,
        )
        kept &= is_in
    if not kept.any():
        raise TrialsError(
            f"{table.name}: no row is as where says ({', '.join(columns.where)}). Say --column where.COLUMN=CELL "
            "with a cell of the file (participants.columns.where), or leave it out."
        )
    return table.frame[kept]


def without_copies(
    frame: pd.DataFrame,
    columns: AnswerColumns,
    name: str,
    notes: list[str],
    left_out: RowsLeftOut,
) -> pd.DataFrame:
    """The rows that equal no earlier one in every cell; copies go to ``left_out``.

    Two answers of a person may be alike; but where a column says when or how fast each was given, a row with the same
    is a copy. Where no column does, such rows stay and are reported; nor does one do so whose numbers begin anew, or
    whose times come twice by chance. A table without copies that stands twice, row for row, is one table.
    """
    is_twice = not columns.is_pooled and _is_table_twice(frame)
    copies = np.arange(len(frame)) >= len(frame) // 2 if is_twice else frame.duplicated().to_numpy()
    people = {} if is_twice or columns.is_pooled else _people_twice(frame, columns)
    for rows_twice in people.values():  # rows without a response repeat others, too
        left_out.add(
            "all rows of this participant stand in the file twice, cell for cell",
            frame[rows_twice],
            frame.index.to_numpy()[rows_twice],
            is_trial=False,
        )
    if people:
        gone = np.logical_or.reduce(list(people.values()))
        frame, copies = frame[~gone], frame[~gone].duplicated().to_numpy()
    if columns.response in frame.columns and not is_twice:
        copies = copies & (frame[columns.response].str.strip() != "").to_numpy()
    if columns.is_pooled or not copies.any():
        return frame
    rows = frame.index.to_numpy()[copies].tolist()
    tells = _times_tell(frame, copies, columns) or _tells_places(frame[~copies], columns)
    if not (tells or is_twice):
        notes.append(
            f"{plural(len(rows), 'row')} equal to an earlier one in every cell ({rows_named(rows)}"
            f"{_whose(frame, copies, columns)}) counted as {'an answer' if len(rows) == 1 else 'answers'}, since no "
            "column tells when each was given. If they are copies, "
            + (
                f"say --column order={counter}, which numbers the other rows of each participant"
                if (counter := _counter_of_rows(frame[~copies], columns))
                else "delete them from the file."
            )
        )
        return frame
    if columns.bad_rows == "refuse":
        raise TrialsError(
            f"{name}: {rows_named(rows)}: equal to an earlier row in every cell. Delete copies, or have them left out: "
            '--column bad_rows=leave_out_empty (bad_rows = "leave_out_empty" in participants.columns).'
        )
    why = "it equals an earlier one in every cell, its time too"
    reason = "the whole table stands in the file twice" if is_twice else why
    left_out.add(reason, frame[copies], rows, is_trial=False)
    return frame[~copies]


def _people_twice(frame: pd.DataFrame, columns: AnswerColumns) -> dict[str, NDArray[np.bool_]]:
    """Rows of participants whose second half of rows repeats the first, row for row, by participant.

    So it is where one participant's rows were pasted twice; trials that are repeated have another response or time.
    """
    if columns.participant not in frame.columns:
        return {}
    found = {}
    who = frame[columns.participant]
    least = LEAST_TABLE if columns.response_time in frame.columns else LEAST_WITHOUT_TIMES
    twice = who[frame.duplicated().to_numpy()].value_counts()
    for name in twice.index[twice >= least]:
        places = np.flatnonzero((who == name).to_numpy())
        if name and _is_table_twice(frame.iloc[places]):
            found[str(name)] = np.isin(np.arange(len(frame)), places[len(places) // 2 :])
    return found


def _whose(frame: pd.DataFrame, copies: NDArray[np.bool_], columns: AnswerColumns) -> str:
    """State how many of the copies are of one participant, where that is most of them."""
    if columns.participant not in frame.columns or copies.sum() < LEAST_TABLE:
        return ""
    counts = frame[columns.participant][copies].value_counts()
    if counts.iloc[0] < 0.5 * counts.sum() or len(counts) == frame[columns.participant].nunique():
        return ""
    n_all = int((frame[columns.participant] == counts.index[0]).sum())
    return f"; {counts.iloc[0]:,} of the {n_all:,} rows of one participant"


def _is_table_twice(frame: pd.DataFrame) -> bool:
    """Whether the second half repeats the first, which holds no row twice; columns that count rows do not matter."""
    half, odd = divmod(len(frame), 2)
    if odd or half < LEAST_TABLE:
        return False
    row = frame.index.to_numpy(dtype=np.float64)
    counters = [name for name in frame if np.ptp(numbers_of(frame[name]).to_numpy() - row) == 0]
    cells = frame.drop(columns=counters)
    first, second = cells.iloc[:half], cells.iloc[half:]
    is_same = bool((first.to_numpy() == second.to_numpy()).all())
    return is_same and not first.duplicated().any()


def _times_tell(frame: pd.DataFrame, copies: NDArray[np.bool_], columns: AnswerColumns) -> bool:
    """Whether a response time that comes twice for a person shows a copy.

    Whole numbers of milliseconds come twice by chance: they show copies only where nearly every row has one.
    Finer times do where no other rows of a person share a time.
    """
    if not columns.response_time or columns.response_time not in frame.columns:
        return False
    if int(copies.sum()) >= MANY_COPIES * len(frame):
        return True
    kept = frame[~copies]
    who = [name for name in (columns.participant,) if name in frame.columns]
    is_fine = bool(kept[columns.response_time].str.contains(".", regex=False).any())
    return is_fine and not kept.duplicated([*who, columns.response_time]).any()


def _tells_places(frame: pd.DataFrame, columns: AnswerColumns) -> bool:
    """Whether the column of the order, with those of blocks, tells each answer of a person from the others."""
    if not columns.order:
        return False
    stage = str(columns.stimulus.get("stage", ""))
    named = {columns.participant, columns.experiment, columns.order, stage}
    names = [name for name in frame.columns if name in named or set(words_of(str(name))) & BLOCKS]
    return not frame.duplicated(names).any()


def _counter_of_rows(frame: pd.DataFrame, columns: AnswerColumns) -> str:
    """A column that counts the rows of each participant up, each once, where none is named as the order."""
    if columns.order or columns.participant not in frame.columns:
        return ""
    person = places_of(frame[columns.participant])
    for name in columns_not_read(frame, columns):
        column = ColumnSignature(name, frame[name].str.strip().reset_index(drop=True))
        if counts_up(column, person):
            return name
    return ""


def alike_names(frame: pd.DataFrame, columns: AnswerColumns) -> list[str]:
    """List rows whose names may be of one participant; a run keeps these words, and no names."""
    if columns.participant not in frame.columns:
        return []
    names = frame[columns.participant].drop_duplicates()
    alike = names.str.strip().str.casefold().duplicated(keep=False).to_numpy()
    rows = [int(row) for row in names.index[alike & (names != "").to_numpy()]]
    if not rows:
        return []
    return [
        f"{len(rows)} names of people differ from one another in case or spaces alone (first in "
        f"{rows_named(rows)}); they count as different people. Make them equal in the file "
        "if they are one."
    ]


def melted(frame: pd.DataFrame, columns: AnswerColumns, name: str) -> pd.DataFrame:
    """A row for each answer of a table with a row for each person."""
    answer_columns = [column for column in frame.columns if fnmatchcase(str(column), columns.wide)]
    if not answer_columns:
        raise TrialsError(
            f"{name} has no column like {columns.wide!r}; say --column wide=PATTERN, as in wide='Q*'."
        )
    others = [column for column in frame.columns if column not in answer_columns]
    index = np.repeat(frame.index.to_numpy(), len(answer_columns))
    parts = {column: np.repeat(frame[column].to_numpy(), len(answer_columns)) for column in others}
    parts[columns.item] = np.tile(np.asarray(answer_columns, dtype=object), len(frame))
    parts[columns.response or "response"] = frame[answer_columns].to_numpy().ravel()
    return pd.DataFrame(parts, index=index).astype(str)


def with_items(
    frame: pd.DataFrame, items: AnswerTable, columns: AnswerColumns, name: str
) -> pd.DataFrame:
    """The rows with the columns of the question that each names."""
    keys = RowCells(items.frame, items.name).text(columns.item)
    if len(set(keys)) != len(keys):
        twice = next(key for key in keys if list(keys).count(key) > 1)
        raise TrialsError(
            f"{items.name}: two rows are called {twice!r} ({columns.item}); each has one. Say --column item=COLUMN."
        )
    item_cells = RowCells(frame, name).text(columns.item)
    RowCells(frame, name).refuse(
        ~np.isin(item_cells.astype(str), keys.astype(str)),
        columns.item,
        f"{items.name} does not have; --column item=COLUMN says which column names questions in both files",
    )
    shown = items.frame.set_index(columns.item)
    shown = shown[[column for column in shown.columns if column not in frame.columns]]
    return pd.concat([frame, shown.loc[item_cells].set_index(frame.index)], axis=1)
