"""Charts on a page, each with links under which the figure is saved as SVG and its numbers as CSV.

The links hold the files themselves, so they work from a file on the disk, without a server and without scripts.
"""

from __future__ import annotations

import csv
import math
import re
from base64 import b64encode
from collections.abc import Callable
from io import StringIO
from typing import Final

from markupsafe import Markup

from lakatos.flows.report.plot_style import standalone
from lakatos.flows.report.spreadsheet import safe_cell
from lakatos.flows.report.svg import NARROW, WIDE, Drawing

_LINK: Final = '<a download="{0}.{1}" href="{2}" aria-label="{3} as {4}">{4}</a>'


def both(draw: Callable[[int], Drawing]) -> Markup:
    """A chart drawn for wide windows and for narrow ones, so that its text keeps its size."""
    wide, narrow = draw(WIDE), draw(NARROW)
    shown = Markup('<div class="chart wide">{}</div><div class="chart narrow">{}</div>')
    return shown.format(wide.svg, narrow.svg) + download_links(wide)


def small(chart: Drawing) -> Markup:
    """A chart that is small enough for any window."""
    return Markup('<div class="chart small">{}</div>').format(chart.svg) + download_links(chart)


def download_links(chart: Drawing) -> Markup:
    """Links that save the chart as SVG, in the colours of light pages, and its numbers as CSV."""
    name = re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")[:60]
    files = (
        ("svg", "image/svg+xml", standalone(chart), "SVG"),
        ("csv", "text/csv", as_csv(chart), "CSV"),
    )
    links = [
        Markup(_LINK).format(name, ending, _address(kind, text), chart.title, label)
        for ending, kind, text, label in files
        if text
    ]
    return Markup('<p class="download">Download: {}</p>').format(Markup(" ").join(links))


def as_csv(chart: Drawing) -> str:
    """The numbers of a chart with a line of names; empty where it has none."""
    if not chart.rows:
        return ""
    columns = list(dict.fromkeys(name for row in chart.rows for name in row))
    written = StringIO()
    table = csv.writer(written)
    table.writerow(columns)
    for row in chart.rows:
        table.writerow([_cell(row.get(name)) for name in columns])
    return written.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float | int):
        return f"{value:.10g}" if math.isfinite(value) else ""
    return str(safe_cell(value))


def _address(kind: str, text: str) -> str:
    return f"data:{kind};charset=utf-8;base64,{b64encode(text.encode()).decode()}"
