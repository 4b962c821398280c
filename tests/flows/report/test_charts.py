"""Charts as files of their own: the same drawing as on a page, with the page's look in it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from lakatos.flows.report.charts import IntervalRow, intervals
from lakatos.flows.report.plot_style import INK, PAPER, SERIES, standalone
from lakatos.flows.report.svg import NARROW, WIDE
from lakatos.flows.report.templating import TEMPLATES

ROWS = [
    IntervalRow("gambles & lotteries", "n = 1,200 responses", ((0.9, 0.8, 1.0), (0.7, 0.6, 0.8))),
    IntervalRow("products", "n = 90 responses", ((1.02, 0.97, 1.07), None)),
]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=[WIDE, NARROW])
def chart(request: pytest.FixtureRequest) -> str:
    drawn = intervals(
        ROWS, ("ours", "theirs"), "completeness", request.param, title="Two sets", line_at=1.0
    )
    return standalone(drawn)


def test_every_known_value_has_a_mark_with_its_interval_in_words(chart: str) -> None:
    drawing = ElementTree.fromstring(chart)
    words = [title.text for title in drawing.iter(f"{SVG}title")]
    assert words == [
        "gambles & lotteries, ours: 0.9, 95% interval 0.8 to 1",
        "gambles & lotteries, theirs: 0.7, 95% interval 0.6 to 0.8",
        "products, ours: 1.02, 95% interval 0.97 to 1.07",
    ]
    texts = [text.text for text in drawing.iter(f"{SVG}text")]
    assert {"ours", "theirs", "completeness", "products", "n = 90 responses"} <= set(texts)


def test_marks_and_intervals_lie_within_the_drawing(chart: str) -> None:
    drawing = ElementTree.fromstring(chart)
    width = float(drawing.attrib["width"])
    ends = [float(line.attrib[end]) for line in drawing.iter(f"{SVG}line") for end in ("x1", "x2")]
    assert min(ends) >= 0
    assert max(ends) <= width


def test_a_file_of_a_chart_brings_the_look_of_the_pages(chart: str) -> None:
    style = next(ElementTree.fromstring(chart).iter(f"{SVG}style")).text
    assert style is not None
    assert "var(" not in style
    assert f".s1 {{ color: {SERIES[0]}; }}" in style
    assert f'fill="{PAPER}"' in chart


def test_figures_have_the_colours_of_the_style_sheet_for_light_pages() -> None:
    page = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    assert re.search(r"--ink: (#\w+);", page)[1] == INK  # type: ignore[index]
    assert len(set(SERIES)) == 5
