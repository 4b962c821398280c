"""Figures in a notebook: functions that draw on Matplotlib axes and return them, in the look of the reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import numpy as np

from lakatos.flows.errors import StudyError
from lakatos.flows.notebook.effects import EffectsOnParameters
from lakatos.flows.notebook.study import StudyOutcome
from lakatos.flows.report.figures import predicted_shares
from lakatos.flows.report.plot_style import MUTED, SERIES, SETTINGS, forest
from lakatos.flows.report.reader import open_reading, scattered_option, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_LINE = 32
ROW_INCHES = 0.32


def plot_verdict(outcome: StudyOutcome, ax: Axes | None = None) -> Axes:
    """Draw the difference in log score between the leading theory of a run and each other one, with 95% intervals.

    Args:
        outcome: Result of `run`, `explain` or `read_run`.
        ax: Axes to draw on; a new figure by default.

    Raises:
        StudyError: No theory has been scored yet.

    Example:
        >>> lakatos.plot_verdict(lakatos.read_run("allais-1"))  # doctest: +SKIP
    """
    board = outcome.leaderboard
    if board.empty:
        raise StudyError(f"no theory of {outcome.folder} was scored yet; resume the run.")
    with _axes(ax, len(board)) as drawn:
        behind = [
            board[name].to_numpy(dtype=float) for name in ("behind", "behind_low", "behind_high")
        ]
        _rows(drawn, board["theory"], *behind)
        drawn.set_xlabel(
            "log score of the leading theory minus that of the theory (nats per choice)"
        )
        drawn.locator_params(axis="x", nbins=4)
    return drawn


def plot_predictions(outcome: StudyOutcome, ax: Axes | None = None) -> Axes:
    """Draw predicted and observed choice proportions of a run's leading theory, with 95% intervals.

    Args:
        outcome: Result of `run`, `explain` or `read_run`.
        ax: Axes to draw on; a new figure by default.

    Raises:
        StudyError: No theory has been scored yet.

    Example:
        >>> lakatos.plot_predictions(lakatos.read_run("allais-1"))  # doctest: +SKIP
    """
    with open_reading(outcome.folder) as reading:
        shares = predicted_shares(reading, reading.leader) if reading.leader else None
        if shares is None or reading.leader is None:
            raise StudyError(f"no theory of {outcome.folder} was scored yet; resume the run.")
        option, name = scattered_option(reading), reading.label(reading.leader).name
    known = np.isfinite(shares.observed)
    with _axes(ax, 12) as drawn:
        drawn.plot([0, 1], [0, 1], color=MUTED, lw=1)
        drawn.vlines(shares.predicted, shares.low, shares.high, color=MUTED, lw=0.7, alpha=0.5)
        for filled, label in (
            (True, "frozen predictions"),
            (False, "parameters estimated from all responses"),
        ):
            rows = known & (shares.filled == filled)
            face = SERIES[0] if filled else "white"
            if rows.any():
                drawn.scatter(
                    shares.predicted[rows], shares.observed[rows], s=18, color=face,
                    edgecolors=SERIES[0], label=label, zorder=3,
                )  # fmt: skip
        drawn.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        drawn.set_xlabel(f"predicted proportion choosing {option}")
        drawn.set_ylabel(f"observed proportion (n = {int(known.sum())})")
        drawn.set_title(shortened(name, 60), loc="left", fontsize=9)
        drawn.legend()
    return drawn


def plot_effects(effects: EffectsOnParameters, theory: str = "", ax: Axes | None = None) -> Axes:
    """Draw effects on the parameters of a theory, each on its parameter's scale, with 95% intervals.

    Args:
        effects: Result of `effects`.
        theory: Name of a theory; the first by default.
        ax: Axes to draw on; a new figure by default.

    Raises:
        StudyError: No theory has this name.

    Example:
        >>> lakatos.plot_effects(lakatos.effects(responses, "hyperbolic", by="age"))  # doctest: +SKIP
    """
    table = effects.to_frame()
    wanted = theory or str(table["theory"].iloc[0])
    table = table[table["theory"] == wanted]
    if table.empty:
        known = ", ".join(effects.theories)
        raise StudyError(f"there is no theory {wanted!r} among these effects; there are: {known}")
    names = [
        f"{row.parameter.replace('_', ' ')}: {row.effect} ({row.scale})"
        for row in table.itertuples()
    ]
    ends = (table[end].to_numpy(dtype=float) for end in ("estimate", "low", "high"))
    with _axes(ax, len(names)) as drawn:
        _rows(drawn, names, *ends)
        drawn.set_xlabel("effect on the scale of each parameter")
        title = f"{wanted} (n = {effects.n_people} participants)"
        drawn.set_title(title, loc="left", fontsize=9)
    return drawn


@contextmanager
def _axes(ax: Axes | None, n_rows: int) -> Iterator[Axes]:
    """The given axes, or new ones with the height of ``n_rows`` rows, in the look of the reports."""
    with mpl.rc_context(cast(Any, SETTINGS)):
        if ax is None:
            from matplotlib import pyplot

            size = (6.4, max(1.4 + ROW_INCHES * n_rows, 2.0))
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        yield ax


def _rows(
    axes: Axes,
    names: Sequence[str],
    value: np.ndarray[Any, Any],
    low: np.ndarray[Any, Any],
    high: np.ndarray[Any, Any],
) -> None:
    """Values with intervals in one color, a row each, whose names stand in up to three lines."""
    labels = ["\n".join(wrap(str(name), LONGEST_LINE, max_lines=3)) for name in names]
    intervals = list(zip(low.tolist(), high.tolist(), strict=True))
    forest(axes, labels, value.tolist(), intervals, [SERIES[0]] * len(labels))
