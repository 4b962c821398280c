"""Reasons for the meaning of a column: an option, its values, its name, or the columns that it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.mapping import leaves_of
from lakatos.experiments.adoption.tables import AnswerTable
from lakatos.experiments.errors import TrialsError

ROWS_TRIED, COLUMNS_TRIED = 2_000, 40
"""First rows of a file that are described again under another name, and columns beside those that are read."""
NEUTRAL = "zzz"
"""A name that suggests nothing."""
OPTION, BY_VALUES, BY_NAME, MADE = "an option", "its values", "its name", "other columns"


def role_reasons(found: TableDescription, columns: Mapping[str, Any]) -> dict[str, str]:
    """Find what decided the meaning of each column that has one.

    The values decide where the first rows are read alike with a neutral name for the column. Columns that the reader
    makes, as from a file with one row for each participant, come from other columns.

    Args:
        found: The description of a file.
        columns: The meanings that the user states, as in `TableDescription.with_columns`.
    """
    if found.source is None:
        return {}
    roles = {item.name: found.meaning_of(item) for item in found.columns}
    frame = found.source.frame.head(ROWS_TRIED)
    others = [name for name in frame.columns if not roles.get(name)][COLUMNS_TRIED:]
    source = replace(found.source, frame=frame.drop(columns=others))
    tried = {name: role for name, role in roles.items() if role and name in source.frame.columns}
    stated = {
        name for leaf in leaves_of(dict(columns)) for name in columns_in(str(leaf), source.frame)
    }
    before = _roles(source, found, columns)
    reasons = {name: MADE for name, role in roles.items() if role and name not in tried}
    for name, role in tried.items():
        if name in stated:
            reasons[name] = OPTION
        elif before.get(name) != role:  # the first rows alone do not show it
            reasons[name] = BY_VALUES
        else:
            again = _roles(_renamed(source, name), found, _of_renamed(columns, name))
            reasons[name] = BY_VALUES if again.get(NEUTRAL) == role else BY_NAME
    return reasons


def _roles(
    source: AnswerTable, found: TableDescription, columns: Mapping[str, Any]
) -> dict[str, str]:
    """Return what each column of a table is read as; empty where the table is refused."""
    try:
        described = describe_table(source, found.task).with_columns(columns)
    except TrialsError:
        return {}
    return {item.name: described.meaning_of(item) for item in described.columns}


def _renamed(source: AnswerTable, name: str) -> AnswerTable:
    """A table in which a column has the neutral name."""
    by_column: dict[str, Any] = {
        key: {NEUTRAL if own == name else own: value for own, value in getattr(source, key).items()}
        for key in ("marked", "grouped", "questions", "labels")
    }
    return replace(source, frame=source.frame.rename(columns={name: NEUTRAL}), **by_column)


def _of_renamed(columns: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The user's meanings, with the neutral name where a table of them has the column as a key."""
    return {
        key: {NEUTRAL if own == name else own: value for own, value in table.items()}
        if key in ("where", "recode", "missing") and isinstance(table, Mapping)
        else table
        for key, table in columns.items()
    }
