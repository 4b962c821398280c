"""The figure of `lakatos transfer`: how a theory predicts other people, beside published theories and learners."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib.figure import Figure

from lakatos.flows.report.plot_style import MUTED, SERIES, SETTINGS, forest, write_figure
from lakatos.theories.findings.transfer import WAYS, TransferLine

MOST_PUBLISHED = 8
COLORS = {
    "theory": SERIES[0],
    "published": MUTED,
    "textbook": MUTED,
    "learner": SERIES[1],
    "noise": SERIES[2],
}
SHORT = 44


def draw_transfer(title: str, lines: Sequence[TransferLine], file: Path) -> None:
    """Draw how far each line is ahead of the best published theory, with 95% intervals; SVG or PNG by the ending.

    Args:
        title: Title above the figure.
        lines: Lines in the order in which they are shown.
        file: To write.
    """
    whole = _shown([line for line in lines if not line.half])
    halves = [line for line in lines if line.half]
    panels = [("all responses", whole), ("second half of each participant's responses", halves)]
    panels = [(name, own) for name, own in panels if own]
    heights = [len(own) for _, own in panels]
    with mpl.rc_context(cast(Any, SETTINGS)):
        size = (7.4, 0.9 + 0.27 * sum(heights) + 0.5 * len(panels))
        figure = Figure(figsize=size, layout="constrained")
        figure.suptitle(title, fontsize=10)
        all_axes = figure.subplots(
            len(panels), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
        )[:, 0]
        for axes, (name, own) in zip(all_axes, panels, strict=True):
            ahead = [-(line.behind or 0.0) for line in own]
            errors = [2 * (line.behind_error or 0.0) for line in own]
            ends = [
                (value - error, value + error) for value, error in zip(ahead, errors, strict=True)
            ]
            colors = [COLORS[line.role] for line in own]
            forest(axes, [_label(line) for line in own], ahead, ends, colors)
            axes.set_title(name, loc="left", fontsize=8, color=MUTED)
        all_axes[-1].set_xlabel(
            "nats per choice ahead of the best published theory, fitted to these responses"
        )
        write_figure(figure, file)


def _shown(lines: Sequence[TransferLine]) -> list[TransferLine]:
    """Return the lines without the published theories after the first few."""
    published = [line for line in lines if line.role == "published"]
    return [line for line in lines if line not in published[MOST_PUBLISHED:]]


def _label(line: TransferLine) -> str:
    name = line.name if len(line.name) <= SHORT else line.name[: SHORT - 1] + "…"
    return f"{name}, {WAYS[line.way]}" if line.role in ("theory", "textbook") else name
