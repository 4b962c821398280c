"""Write the first figure of each report in a folder of runs as a picture for the gallery.

    python docs/hooks/gallery.py RUNS

The gallery (`docs/gallery.md`) names the command that makes each run. Pictures are written to `docs/images/gallery`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "images" / "gallery"
STYLE = """<style>text{font:12px sans-serif;fill:#5a5e67}.grid{stroke:#dcdad3}.zero{stroke:#5a5e67;stroke-width:1.4}
.faint{stroke:#5a5e67;stroke-width:.8;opacity:.5}.mark{fill:#0068a5;stroke:#fff;vector-effect:non-scaling-stroke}
.mark.hollow{fill:#fff;stroke:#0068a5;stroke-width:1.6}</style><rect width="100%" height="100%" fill="#fff"/>"""
"""Colours of the report in daylight."""
MARK = re.compile(
    r'<path d="M-1 0a1 1 [^"]*" transform="translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)" '
    r'class="mark([^"]*)"></path>'
)
"""A round mark of the report: its place, its size, and the rest of its class."""


def picture_of(report: str) -> str:
    """The chart of predicted and observed proportions in a report, as a file of its own.

    Raises:
        SystemExit: The report has no such chart.
    """
    found = re.search(r'<div class="chart small">(<svg.*?</svg>)', report, re.DOTALL)
    if found is None:
        raise SystemExit("the report has no chart of predicted and observed proportions.")
    chart = re.sub(r"<title>.*?</title>", "", found[1])
    chart = MARK.sub(r'<circle cx="\1" cy="\2" r="\3" class="mark\4"/>', chart)
    chart = chart.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return chart.replace(">", f">{STYLE}", 1)


def main() -> None:
    """Write the picture of each run that has a report."""
    OUT.mkdir(parents=True, exist_ok=True)
    for report in sorted(Path(sys.argv[1]).glob("*/report.html")):
        picture = picture_of(report.read_text(encoding="utf-8"))
        (OUT / f"{report.parent.name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
