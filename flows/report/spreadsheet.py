"""Cells of tables for spreadsheets, which must show what people and files said and never compute it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lakatos.traces.wording import printable

if TYPE_CHECKING:
    import pandas as pd

FORMULA: Final = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
"""Characters with which a formula begins, or that may stand before one."""
NUMBERS: Final = "biufc"
"""Kinds of columns that hold truth values or numbers alone."""


def safe_cell(value: Any) -> Any:
    """A value as a spreadsheet shows it: a list as words, and a text that would be a formula behind an apostrophe.

    A carriage return, which writers of CSV leave bare, becomes a new line, which they put between quotes. Other
    control codes are shown as escapes, since tables are printed in terminals, too.
    """
    if isinstance(value, list):
        value = " ".join(map(str, value))
    if not isinstance(value, str):
        return value
    text = printable(value.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{text}" if text.startswith(FORMULA) else text


def short_number(value: float) -> str:
    """A number with three significant digits, whole from 1,000 on."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def csv_of(table: pd.DataFrame, *, is_short: bool = False) -> str:
    """A table as CSV, every text in it and above it as `safe_cell` has it.

    Args:
        table: Any.
        is_short: Whether fractions are shown as `short_number` has them, for reading on a screen.
    """
    safe = table.rename(columns=safe_cell)
    for place, kind in enumerate(safe.dtypes):
        if kind.kind not in NUMBERS:
            safe.isetitem(place, safe.iloc[:, place].map(safe_cell, na_action="ignore"))
    return str(safe.to_csv(index=False, float_format=short_number if is_short else None))
