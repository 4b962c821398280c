"""Plots in a real browser: what is drawn, selected and looked at again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from viewing import look_at, served

ROWS = "[...document.querySelectorAll('#trials tbody tr')].filter(row => !row.hidden).length"


# First, since a campaign cannot run in a thread in which a browser's loop runs.
@pytest.mark.slow
@pytest.mark.parametrize(("size", "dress"), [("desktop", "light"), ("phone", "dark")])
def test_the_theory_runs_for_its_curves_and_people_have_their_pages(
    size: str,
    dress: str,
    campaign: Path,
    opened: Callable[..., Any],
) -> None:
    look = look_at(campaign)
    with served(campaign.parent) as url:
        page = opened(size, dress)
        page.goto(url)
        page.get_by_label("Words").fill("simulated")
        page.get_by_role("button", name="Show").click()
        page.get_by_role("link", name="small").click()
        page.get_by_role("link", name="Curves").click()
        page.locator("[id^=plot-parameter] canvas").first.wait_for()
        page.get_by_role("link", name="People").click()
        page.locator("#plot-people canvas").first.wait_for()
        page.locator("#people a").first.click()
        page.get_by_role("heading", name="Person 1 of experiment").wait_for()
        trials = look.trials(list(look.state.experiments.collected)[-1])
        n_answers = int((trials.participant == 0).sum())
        assert page.locator("table.data tbody tr").count() == n_answers
        page.get_by_role("link", name="Step by step").click()
        page.get_by_role("heading", name="What was tried").wait_for()
        assert page.locator(".descent h3").count() >= 1


@pytest.mark.slow
def test_a_frame_selects_trials_and_the_table_shows_these_alone(
    finished: Path,
    opened: Callable[..., Any],
) -> None:
    with served(finished) as url:
        page = opened()
        page.goto(f"{url}/run/small/compare")
        page.locator("#plot-compared canvas").first.wait_for()
        n_rows = page.evaluate(ROWS)
        page.locator("#plot-compared").scroll_into_view_if_needed()
        box = page.locator("#plot-compared").bounding_box()
        at = (box["x"] + 90, box["y"] + 80)
        page.mouse.move(*at)
        page.mouse.down()
        page.mouse.move(at[0] + 5, at[1] + 5, steps=3)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 50, steps=5)
        page.mouse.up()
        page.locator("#trials-said").get_by_text("selected").wait_for()
        said = page.locator("#trials-said").inner_text()
        assert page.evaluate(ROWS) == int(said.split()[0]) < n_rows
        page.keyboard.press("t")  # other colours draw it anew, and nothing complains
        page.locator("#plot-compared canvas").first.wait_for()


@pytest.mark.slow
def test_a_plot_is_saved_as_a_figure_and_as_numbers(
    finished: Path, opened: Callable[..., Any]
) -> None:
    with served(finished) as url:
        page = opened("desktop", "dark")
        page.goto(f"{url}/run/small/compare")
        page.locator("#plot-compared canvas").first.wait_for()
        saved = {}
        for kind in ("SVG", "CSV"):
            with page.expect_download() as waiting:
                page.locator("#plot-compared + .download").get_by_text(kind).click()
            saved[waiting.value.suggested_filename] = Path(waiting.value.path()).read_text("utf-8")
        assert set(saved) == {"plot-compared.svg", "plot-compared.csv"}
        assert saved["plot-compared.svg"].startswith("<svg")
        assert "#e8e7e2" not in saved["plot-compared.svg"]  # the ink of dark pages
        drawn = page.evaluate("JSON.parse(document.getElementById('plot-compared').dataset.plot)")
        n_points = sum(len(part["points"]) for part in drawn["dots"])
        lines = saved["plot-compared.csv"].splitlines()
        assert len(lines) == 1 + n_points
        assert lines[0].startswith("series,")
