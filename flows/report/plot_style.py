"""One look for all static figures: that of the pages, whose style sheet `templates/page.css` holds colours and fonts.

Charts of pages are SVG (`charts.py`), and `standalone` makes a file of one. `SETTINGS` give Matplotlib the same colours
for figures that are also wanted as PNG.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lakatos.flows.report.svg import Drawing
from lakatos.flows.report.templating import TEMPLATES
from lakatos.traces.artifact import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAGE: Final = (TEMPLATES / "page.css").read_text(encoding="utf-8")
_LIGHT: Final = dict(re.findall(r"--([\w-]+): ([^;]+);", _PAGE[: _PAGE.index("@media")]))
"""Colours and fonts by their names in the style sheet, for light pages."""
_RULES: Final = "\n".join(
    line for line in _PAGE.splitlines() if line.startswith((".chart ", ".s1 "))
)
INK, MUTED, RULE, PAPER = (_LIGHT[name] for name in ("ink", "muted", "rule", "paper"))
SERIES: Final = tuple(_LIGHT[f"s{number}"] for number in range(1, 6))
SETTINGS: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lakatos",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.size": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": RULE,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}


def standalone(chart: Drawing) -> str:
    """A chart of a page as a file of its own, in the colours of light pages."""
    rules = re.sub(r"var\(--([\w-]+)\)", lambda found: _LIGHT[found[1]], _RULES)
    body = chart.svg.removeprefix("<svg ")
    content = body[body.index(">") + 1 :].removesuffix("</svg>")
    opening = body[: body.index(">")]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {opening}><style>{rules}</style>'
        f'<rect width="100%" height="100%" fill="{PAPER}"/><g class="chart">{content}</g></svg>\n'
    )


def write_figure(figure: Figure, file: Path) -> None:
    """Write a figure of Matplotlib, whole or not at all, in the format that the end of its name states, or as PNG.

    Raises:
        ArtifactError: It cannot be written.
    """
    drawn = BytesIO()
    figure.savefig(drawn, dpi=150, format=file.suffix[1:] or "png")
    write_whole(file, drawn.getvalue())


def forest(
    axes: Axes,
    names: Sequence[str],
    values: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    colors: Sequence[str],
) -> None:
    """Draw values with intervals, a row each, from top to bottom, with a line at zero."""
    axes.axvline(0.0, color=INK, lw=0.8, ls=":")
    for row, (value, ends, color) in enumerate(zip(values, intervals, colors, strict=True)):
        axes.plot(ends, [row, row], color=color, lw=1.4)
        axes.plot(value, row, "o", ms=4.5, color=color)
    axes.set_yticks(range(len(names)), list(names))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
