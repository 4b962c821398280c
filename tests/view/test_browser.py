"""The observatory in a real browser: a run watched from its start to its verdict, and every page in every dress."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from viewing import SIZES, all_pages, grown, look_at, served

sys.path.insert(0, str(Path(__file__).parent.parent / "flows"))
from small import small_study

from lakatos.flows.start import run_study
from lakatos.flows.view.app import ViewAccess
from lakatos.traces.journal import Journal
from lakatos.traces.step import JOURNAL_FILE

NAMELESS = """[...document.querySelectorAll('button, input, select, a')]
    .filter(item => !item.textContent.trim() && !item.getAttribute('aria-label') && !item.labels?.length)
    .map(item => item.outerHTML)"""
TOO_WIDE = "document.documentElement.scrollWidth > innerWidth"
FAINT = """() => {
  const parts = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = item => {
    for (; item; item = item.parentElement) {
      const colour = getComputedStyle(item).backgroundColor;
      if (colour.startsWith('color(')) continue;  // the see-through bar lies on the page's own colour
      const [r, g, b, a = 1] = parts(colour);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const item of document.querySelectorAll('main *, nav *, header *, footer *')) {
    if (item.closest('.shown, svg, [disabled], option') || !item.checkVisibility()) continue;
    if (![...item.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
    const style = getComputedStyle(item), [a, b] = [light(parts(style.color)), light(ground(item))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.7 && style.fontWeight >= 700;
    if (ratio < (large ? 3 : 4.5)) found.push([item.className, item.textContent.slice(0, 40), ratio.toFixed(2)]);
  }
  return found;
}"""


@pytest.mark.slow
def test_a_run_is_watched_from_its_start_to_its_verdict(
    finished: Path, tmp_path: Path, opened: Callable[..., Any]
) -> None:
    folder = tmp_path / "runs" / "live"
    folder.parent.mkdir()
    with Journal.open(finished / JOURNAL_FILE, read_only=True) as journal:
        kinds = {event.kind: event.seq for event in journal.events()}
        n_events = journal.head[0]
    with served(folder.parent) as url:
        page = opened()
        page.goto(url)
        page.get_by_role("heading", name="No runs yet").wait_for()
        grown(finished, folder, 2)
        page.get_by_role("link", name="live").click()  # it appears by itself
        page.evaluate("window.mark = 'not loaded again'")
        page.get_by_text("No verdict yet").wait_for()
        page.get_by_text("The first cycle begins").wait_for()
        grown(finished, folder, kinds["preregistration"])
        page.get_by_role("link", name="Experiment 2.1").wait_for()
        page.get_by_role("link", name="T1 Take the best").first.focus()
        grown(finished, folder, kinds["diagnosis"])
        page.get_by_role("link", name="Diagnosis of T1").wait_for()
        assert page.evaluate("document.activeElement.textContent").startswith("T1")
        grown(finished, folder, kinds["concluded"] - 1)
        page.get_by_role("heading", name="Result").wait_for()
        page.get_by_text("Source code of the theory").click()
        grown(finished, folder, n_events)
        page.locator(
            ".verdict .call",
            has_text=re.compile(
                "Supported|No misfit shown|No better theory|No clear evidence|Exploratory"
            ),
        ).wait_for()
        page.locator("#status.concluded").wait_for()
        assert page.evaluate("document.getElementById('d-source').open")
        assert page.evaluate("window.mark") == "not loaded again"
        assert page.locator("ul.limits li").count() > 3


def visit(page: Any, url: str, paths: list[str]) -> None:
    for path in paths:
        page.goto(url + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(TOO_WIDE) is False, path
        assert page.evaluate(NAMELESS) == [], path
        assert page.evaluate(FAINT) == [], path
        assert page.title() != "taken", path
        if "/part/" not in path:
            assert page.locator("h1").count() == 1, path


@pytest.mark.slow
@pytest.mark.parametrize(("size", "dress"), [("desktop", "light"), ("phone", "dark")])
def test_every_kind_of_page_fits_is_legible_and_is_not_broken_by_hostile_texts(
    size: str, dress: str, finished: Path, opened: Callable[..., Any]
) -> None:
    look = look_at(finished)
    paths = [
        path
        for path in all_pages(look, most=1)
        if "/part/" not in path and "/artifact/" not in path
    ]
    keep = [path for path in paths if "/record/" not in path] + [
        path for path in paths if "/record/" in path
    ][::6]
    with served(finished) as url:
        visit(opened(size, dress), url, keep)


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dress", ["light", "dark"])
def test_every_page_of_a_campaign_fits_and_is_legible(
    size: str, dress: str, campaign: Path, opened: Callable[..., Any]
) -> None:
    with served(campaign) as url:
        visit(
            opened(size, dress),
            url,
            ["/", *(path for path in all_pages(look_at(campaign)) if "/part/" not in path)],
        )


@pytest.mark.long
def test_a_campaign_is_watched_while_it_runs(tmp_path: Path, opened: Callable[..., Any]) -> None:
    folder = tmp_path / "runs" / "small"
    folder.parent.mkdir()
    work = threading.Thread(target=run_study, args=(small_study(), folder), kwargs={"n_workers": 1})
    with served(folder.parent) as url:
        page = opened("phone", "dark")
        page.goto(url)
        work.start()
        page.get_by_role("link", name="small").click()
        page.locator("#status.running").wait_for()
        page.evaluate("window.mark = 'not loaded again'")
        work.join(timeout=500)
        page.locator("#status.concluded").wait_for()
        page.locator(".verdict .winner a").wait_for()
        assert page.evaluate("window.mark") == "not loaded again"


@pytest.mark.slow
def test_keys_lead_through_the_pages_and_colours_stay_chosen(
    finished: Path, opened: Callable[..., Any]
) -> None:
    with served(finished) as url:
        page = opened()
        page.goto(f"{url}/run/small/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("]")
        page.wait_for_url("**/steps")
        page.keyboard.press("t")
        page.keyboard.press("t")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.keyboard.press("[")
        page.wait_for_url("**/small/")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
        page.keyboard.press("/")
        page.keyboard.type("tallying")
        page.keyboard.press("Enter")
        page.wait_for_url("**/trace?q=tallying")
        page.locator("ol.timeline li").first.wait_for()


@pytest.mark.slow
def test_a_page_can_be_read_without_scripts(finished: Path, opened: Callable[..., Any]) -> None:
    with served(finished) as url:
        page = opened(java_script_enabled=False)
        page.goto(f"{url}/run/small/")
        page.get_by_role("heading", name="Evidence").wait_for()
        page.get_by_role("link", name="Limitations of this result").click()
        page.locator("ul.limits li").first.wait_for()


def test_the_address_that_is_printed_opens_the_door_and_forgets_the_token(
    finished: Path, opened: Callable[..., Any]
) -> None:
    token = "only those who know it"
    with served(finished, ViewAccess(token)) as url:
        page = opened()
        page.goto(f"{url}/run/small/")
        page.get_by_role("heading", name="asks for its token").wait_for()
        page.goto(f"{url}/enter#{token.replace(' ', '%20')}")
        page.wait_for_url("**/run/small/")
        assert "only" not in page.url
        assert page.evaluate("document.cookie") == ""
