"""Window of response times in which responses count: stated by a mapping, or found by a rule from the times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.mapping import BY_PARTICIPANT, FROM_DATA, AnswerColumns
from lakatos.experiments.adoption.row_cells import RowCells, RowsWrongError
from lakatos.experiments.adoption.tables import numbers_of
from lakatos.experiments.answer_scale import HasTimeWindow
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain
from lakatos.traces.wording import plural

DEVIATIONS = 3.0
"""Deviations of log times from their median, beyond which responses do not count where the window is found from
data."""
TO_DEVIATION = 1.4826
"""Standard deviation of a normal distribution relative to its median absolute deviation."""
MOST_MS = 20.0
"""Median of a participant's times from which on they are in ms, where units differ."""


def seconds_of(frame: pd.DataFrame, columns: AnswerColumns) -> NDArray[np.float64]:
    """``(n_rows,)`` response times in seconds; NaN where there is none."""
    times = numbers_of(frame[columns.response_time]).to_numpy()
    if columns.response_time_unit != BY_PARTICIPANT:
        return np.asarray(times / 1000 if columns.response_time_unit == "ms" else times)
    medians = pd.Series(times).groupby(frame[columns.participant].to_numpy()).transform("median")
    return np.asarray(np.where(medians.to_numpy() >= MOST_MS, times / 1000, times))


def window_of(frame: pd.DataFrame, columns: AnswerColumns) -> tuple[float, float] | None:
    """The window of times in seconds; None where the mapping says nothing of one.

    ``from data``: three standard deviations around the median of log times, the deviation estimated by the median
    absolute one, rounded to two digits.

    Raises:
        TrialsError: No column holds times, or the window is none.
    """
    window = columns.time_window
    if window is None:
        return None
    if columns.response_time not in frame.columns:
        raise TrialsError(
            "participants.columns.time_window: name the column of response times, too: --column response_time=COLUMN."
        )
    if window != FROM_DATA:
        low, high = window
        if not 0 <= low < high:
            raise TrialsError(
                f"participants.columns.time_window is [{low:g}, {high:g}]; give two times in seconds that grow, as in "
                "--column 'time_window=[0.2, 5]'."
            )
        return low, high
    times = seconds_of(frame, columns)
    logs = np.log(times[times > 0])
    if not len(logs):
        raise TrialsError(
            f"{columns.response_time} holds no time, so that no window can be found from data. Say --column "
            "response_time=COLUMN, or --column 'time_window=[0.2, 5]' in seconds."
        )
    middle = float(np.median(logs))
    deviation = TO_DEVIATION * float(np.median(np.abs(logs - middle)))
    if deviation == 0:
        raise TrialsError(
            f"half of the times or more in {columns.response_time} are {np.exp(middle):g} s, so that no window can be "
            "found from data; give two times in seconds, as in --column 'time_window=[0.2, 5]'."
        )
    low, high = (float(np.exp(middle + sign * DEVIATIONS * deviation)) for sign in (-1, 1))
    return float(f"{low:.2g}"), float(f"{high:.2g}")


def check_window(
    cells: RowCells, columns: AnswerColumns, domain: Domain, window: tuple[float, float] | None
) -> None:
    """Leave out rows whose time is outside of a window, where times are no part of responses.

    Raises:
        RowsWrongError: There are such rows.
    """
    if window is None or isinstance(domain, HasTimeWindow):
        return
    times = seconds_of(cells.frame, columns)
    outside = (times < window[0]) | (times > window[1])
    if outside.any():
        reason = f"{columns.response_time} is not between {window[0]:g} and {window[1]:g} s"
        raise RowsWrongError(
            f"{cells.name}: row {cells.row_numbers(outside)[0]}: {reason}; {plural(int(outside.sum()), 'row')} in all.",
            cells.frame.index.to_numpy()[outside],
            reason,
            empty=True,
        )


def window_in_words(
    frame: pd.DataFrame, columns: AnswerColumns, window: tuple[float, float] | None
) -> list[str]:
    """The window, where it comes from, and how many responses it removes."""
    if window is None:
        return []
    times: NDArray[Any] = seconds_of(frame, columns)
    n_fast, n_slow = int((times < window[0]).sum()), int((times > window[1]).sum())
    source = (
        "three standard deviations around the median of log times"
        if columns.time_window == FROM_DATA
        else "as the mapping says"
    )
    return [
        f"responses count from {window[0]:g} to {window[1]:g} s ({source}): {n_fast:,} are faster and {n_slow:,} slower"
    ]
