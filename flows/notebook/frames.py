"""Tables of pandas and polars: a result has the kind of the table that was given."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, cast

import pandas as pd

from lakatos.experiments.errors import TrialsError
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.engine.scoring.unexplained import ErrorRatio


def as_pandas(table: Any) -> pd.DataFrame:
    """Return a table as a data frame of pandas; tables with `to_pandas`, such as those of polars, are converted.

    Raises:
        TrialsError: The value is not a table.
    """
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "to_pandas"):
        return table.to_pandas()
    try:
        return pd.DataFrame(table)
    except (ValueError, TypeError) as error:
        raise TrialsError(
            f"a {type(table).__name__} is no table ({error}); give a data frame, or the path of a file."
        ) from None


def in_kind(found: pd.DataFrame, given: Any, notes: Sequence[str] = ()) -> pd.DataFrame:
    """A result as a table of the kind that was given: polars for polars, else pandas.

    Args:
        found: The result.
        given: What the user gave.
        notes: What was excluded or assumed; in the ``attrs`` of a frame of pandas.
    """
    found.attrs["notes"] = tuple(notes)
    polars = sys.modules.get("polars")  # where somebody gives such a table it is loaded
    if polars is not None and isinstance(given, polars.DataFrame):
        return cast("pd.DataFrame", polars.from_pandas(found))
    return found


def left_columns(left: ErrorRatio | None) -> dict[str, float]:
    """Columns of the misfit ratio and its 90% interval; NaN if it was not measured."""
    if left is None:
        return dict.fromkeys(("left", "left_low", "left_high"), math.nan)
    return {"left": left.value, "left_low": left.low, "left_high": left.high}


def interval_columns(name: str, estimate: ScoreEstimate | None) -> dict[str, float]:
    """Columns of a number and its 95% interval; NaN if there is none."""
    if estimate is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), math.nan)
    low, high = estimate.interval
    return {name: estimate.value, f"{name}_low": low, f"{name}_high": high}
