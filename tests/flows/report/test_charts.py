"""Charts as files of their own: the same drawing as on a page, with the page's look in it."""

from __future__ import annotations

import csv
import math
import re
from base64 import b64decode
from xml.etree import ElementTree

import pytest

from lakatos.flows.report.charts import IntervalRow, chart_interval, intervals
from lakatos.flows.report.download import as_csv, both
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


def test_a_chart_on_a_page_brings_its_figure_and_its_numbers_as_files() -> None:
    page = str(both(lambda width: intervals(
        ROWS, ("ours", "theirs"), "completeness", width, title="Two sets", line_at=1.0
    )))  # fmt: skip
    (svg_name, svg), (csv_name, table) = re.findall(
        r'download="([^"]+)" href="data:[^,]+,([^"]+)"', page
    )
    assert (svg_name, csv_name) == ("two-sets.svg", "two-sets.csv")
    assert ElementTree.fromstring(b64decode(svg)).tag == f"{SVG}svg"
    rows = list(csv.DictReader(b64decode(table).decode().splitlines()))
    assert rows[0] == {
        "name": "gambles & lotteries", "note": "n = 1,200 responses", "series": "ours",
        "value": "0.9", "low": "0.8", "high": "1",
    }  # fmt: skip
    assert len(rows) == 3


def test_a_name_that_would_be_a_formula_is_text_in_the_numbers_of_a_chart() -> None:
    rows = [IntervalRow("=1+1", "", ((0.5, math.nan, 1.0),))]
    chart = intervals(rows, ("ours",), "x", WIDE, title="T", line_at=0.0)
    (row,) = csv.DictReader(as_csv(chart).splitlines())
    assert row["name"] == "'=1+1"
    assert row["low"] == ""


def test_neither_name_of_a_difference_is_cut_where_zero_is_near_an_edge() -> None:
    names = ("a theory with a long name predicts better", "another such theory predicts better")
    for value in (0.3, -0.3):
        drawn = chart_interval(value, value - 0.01, value + 0.01, NARROW, "nats", names)
        texts = [text.text for text in ElementTree.fromstring(standalone(drawn)).iter(f"{SVG}text")]
        assert {f"← {names[0]}", f"{names[1]} →"} <= set(texts)
