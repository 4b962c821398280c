"""The summary of a report: two printed pages for every kind of study, with links into the report beside it."""

from __future__ import annotations

import re
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from small import SHORT, small_study

from lakatos.domains import FAMILIES
from lakatos.flows.report.reader import open_reading
from lakatos.flows.report.report import write_report
from lakatos.flows.report.two_pages import MOST_THEORIES, comparison_lines, summary_beside
from lakatos.flows.start import run_study

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "format-1.tar.gz"


@contextmanager
def opened(chrome: Any, file: Path, **settings: Any) -> Iterator[Any]:
    """A page of the browser with a file, and nothing asked of a network."""
    page = chrome.new_page(**settings)
    asked: list[str] = []
    page.on("request", lambda found: asked.append(found.url))
    page.goto(file.as_uri())
    yield page
    assert asked == [file.as_uri()]
    page.close()


def n_pages(chrome: Any, file: Path) -> int:
    """Pages that a browser prints."""
    with opened(chrome, file) as page:
        return len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))


def linked_sections(text: str, report: str) -> set[str]:
    return set(re.findall(rf'href="{re.escape(report)}#([\w-]+)"', text))


def test_a_finished_study_prints_on_two_pages_and_its_links_lead_into_the_report(
    finished: Path, chrome: Any, tmp_path: Path
) -> None:
    report = write_report(finished, tmp_path / "report.html")
    summary = summary_beside(report)
    assert summary == tmp_path / "summary.html"
    assert n_pages(chrome, summary) == 2
    text, whole = summary.read_text("utf-8"), report.read_text("utf-8")
    sections = linked_sections(text, "report.html")
    assert {"question", "winner", "limits", "check"} <= sections
    assert all(f'id="{name}"' in whole for name in sections)
    assert 'href="summary.html"' in whole
    assert "<script" not in text


def test_a_summary_of_a_report_elsewhere_has_the_name_of_the_report(
    finished: Path, tmp_path: Path
) -> None:
    report = write_report(finished, tmp_path / "taste.html")
    summary = tmp_path / "taste-summary.html"
    assert 'href="taste-summary.html"' in report.read_text("utf-8")
    assert "question" in linked_sections(summary.read_text("utf-8"), "taste.html")


def test_the_table_has_the_leading_theory_and_all_initial_ones_in_the_order_of_their_scores(
    finished: Path,
) -> None:
    with open_reading(finished) as reading:
        lines = comparison_lines(reading, None)
        shown = [line.theory for line in lines]
        order = [line.theory for line in reading.board.standings]
        assert shown == [name for name in order if name in shown]
        assert {reading.leader, *reading.state.seeds} <= set(shown)
        assert len(shown) == min(len(order), MOST_THEORIES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["people", "simulated"])
def test_released_runs_print_on_two_pages(name: str, chrome: Any, tmp_path: Path) -> None:
    with tarfile.open(GOLDEN) as kept:
        kept.extractall(tmp_path, filter="data")
    assert n_pages(chrome, summary_beside(write_report(tmp_path / "runs" / name))) == 2


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["intertemporal", "games", "public_goods"])
def test_studies_with_many_initial_theories_print_on_two_pages(
    domain: str, chrome: Any, tmp_path: Path
) -> None:
    seeds = list(FAMILIES[domain].seeds)[:6]
    study = small_study(
        **SHORT | {"participants__careless": 0.0},
        domain=domain,
        space={},
        theories__seeds=seeds,
        participants__theory=seeds[-1],
        question="Which rule do people follow when they choose " + "and choose again " * 15 + "?",
    )
    with ThreadPoolExecutor(
        1
    ) as apart:  # Chromium's event loop lets no other one run in this thread
        apart.submit(run_study, study, tmp_path / "run", n_workers=1).result()
    assert n_pages(chrome, summary_beside(write_report(tmp_path / "run"))) == 2


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_summary_fits_windows_of_all_sizes(
    finished: Path, chrome: Any, width: int, scheme: Any, tmp_path: Path
) -> None:
    summary = summary_beside(write_report(finished, tmp_path / "report.html"))
    window = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with opened(chrome, summary, **window) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(21, 23, 26)") == (scheme == "dark")


def test_figures_of_a_report_are_saved_from_the_file_without_a_server(
    finished: Path, chrome: Any, tmp_path: Path
) -> None:
    report = write_report(finished, tmp_path / "report.html")
    with opened(chrome, report) as page:
        for kind, beginning in (("SVG", "<svg"), ("CSV", "predicted,observed,low,high")):
            with page.expect_download() as waiting:
                page.locator(".found .download").get_by_text(kind).click()
            assert Path(waiting.value.path()).read_text("utf-8").startswith(beginning)
            assert waiting.value.suggested_filename.endswith(f".{kind.lower()}")
