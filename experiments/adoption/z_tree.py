"""Tables of z-Tree: a text in which lines of several tables follow one another, each with a header of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from lakatos.experiments.errors import TrialsError

FIRST_LINE = re.compile(r"\"?\d{6}_\d{4}\"?\t\d+\t[A-Za-z_]+\t")
SUBJECTS, GLOBALS, PERIOD = "subjects", "globals", "Period"
NAMES_OF_ONE_SESSION = ("Subject", "Group")
"""Columns whose numbers begin anew in each session."""


def is_z_tree(head: str) -> bool:
    """Whether a text begins with a session, the number of a treatment and the name of a table."""
    return FIRST_LINE.match(head) is not None


def read_z_tree(name: object, lines: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
    """The rows of the tables of subjects, with what the tables of globals say of their period.

    Args:
        name: Name of the file.
        lines: Its lines, the first of which is line 1.

    Raises:
        TrialsError: No line is one of a table of subjects, or a line has other cells than its header.
    """
    headers: dict[tuple[str, ...], list[str]] = {}
    rows: list[dict[str, str]] = []
    numbers: list[int] = []
    globals_of: dict[tuple[str, ...], dict[str, str]] = {}
    others: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        parts = [cell.strip().strip('"') for cell in line.rstrip("\r\n").split("\t")]
        if len(parts) < 4:
            continue
        (session, treatment, table), cells = parts[:3], parts[3:]
        while cells and not cells[-1]:
            cells.pop()
        if cells and re.match(r"[A-Za-z_]", cells[0]):
            headers[session, treatment, table] = cells
            continue
        header = headers.get((session, treatment, table), [])
        if len(cells) > len(header):
            raise TrialsError(
                f"{name}: line {number} of the table {table!r} has {len(cells)} cells and its header {len(header)}; "
                "save the table by z-Tree again, or keep the table of subjects alone."
            )
        own = dict(zip(header, [*cells, *[""] * (len(header) - len(cells))], strict=True))
        if table == SUBJECTS:
            rows.append({"session": session, "treatment": treatment, **own})
            numbers.append(number)
        elif table == GLOBALS:
            globals_of[session, treatment, own.get(PERIOD, "")] = own
        else:
            others[table] = others.get(table, 0) + 1
    if not rows:
        raise TrialsError(
            f"{name} is a text of z-Tree without a table of {SUBJECTS}; save that table, in which each row is a "
            "subject in a period."
        )
    for row in rows:
        shared = globals_of.get((row["session"], row["treatment"], row.get(PERIOD, "")), {})
        row.update({key: cell for key, cell in shared.items() if key not in row})
    frame = pd.DataFrame(rows, index=pd.Index(np.asarray(numbers), dtype="int64")).fillna("")
    for column in NAMES_OF_ONE_SESSION:
        if column in frame.columns and frame["session"].nunique() > 1:
            frame[column] = frame["session"] + "-" + frame[column]
    notes = [
        "tables of z-Tree: rows are those of subjects, with what the table of globals says of their period; rows are "
        "numbered by lines of the file"
    ]
    if others:
        words = ", ".join(f"{table} ({count:,} rows)" for table, count in sorted(others.items()))
        notes.append(f"tables that are not read: {words}")
    return frame.astype("str"), notes
