"""The participants' page is readable for all, in light and in dark colours, with every kind of task."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from accessible import faults
from taking_part import open_experiment
from test_timed import open_letters

from lakatos.domains import DOMAINS, open_domain
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.participants.web.texts import texts_for_domain

DECLARED = Path(__file__).parent.parent.parent / "studies" / "tasks"
KINDS = [name for name in DOMAINS if timed_task(DOMAINS[name]) is None]
OWN = sorted(path.name for path in DECLARED.glob("*.toml"))
WAIT_MS = 30_000


@pytest.fixture
def page(chrome: Any) -> Iterator[Any]:
    """A participant's page on a telephone, which is where least room is."""
    context = chrome.new_context(viewport={"width": 390, "height": 800}, locale="en-GB")
    context.set_default_timeout(WAIT_MS)
    yield context.new_page()
    context.close()


def consent(page: Any, url: str) -> None:
    page.goto(f"{url}/study/")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Continue to some questions").wait_for()


def understand(page: Any, task: Any) -> None:
    page.get_by_role("button", name="Continue to some questions").click()
    for item in texts_for_domain(task)["en"]["domains"][task.name]["questions"]:
        page.get_by_role("group", name=item["text"]).get_by_role("radio").nth(item["right"]).check()


def trial_faults(page: Any, serve: Callable[..., str], task: Any) -> list[str]:
    """Faults of the first trial, after everything before it."""
    consent(page, serve())
    understand(page, task)
    page.get_by_role("button", name="Check my answers").click()
    page.locator(".options, .slider").first.wait_for()
    return faults(page)


def test_what_is_wrong_is_found(page: Any) -> None:
    page.set_content(
        "<h2>A</h2><button></button><p style='color:#999'>grey</p><p style='opacity:.5;color:#555'>pale</p>"
    )
    said = page.evaluate("document.title") + " ".join(faults(page))
    assert "contrast 2.85: grey" in said
    assert "pale" in said
    assert "without a name: <button>" in said
    assert "headings of the first level: 0" in said
    assert "no language" in said


@pytest.mark.parametrize(
    "kind", [KINDS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in KINDS[1:])]
)
def test_trials_of_every_kind_of_task(
    kind: str, page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    open_experiment(tmp_path, kind)
    assert trial_faults(page, serve, open_domain(kind)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_trials_of_declared_tasks(
    name: str, page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = str(DECLARED / name)
    open_experiment(tmp_path, file)
    assert trial_faults(page, serve, open_domain(file)) == []


def test_pages_before_and_after_the_trials(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    open_experiment(tmp_path, n_trials=1, checks=0)
    url = serve()
    page.goto(f"{url}/study/")
    page.get_by_role("checkbox").wait_for()
    assert faults(page) == []
    page.get_by_role("button", name="Begin").click()  # nothing is ticked
    assert faults(page) == []
    consent(page, url)
    assert faults(page) == []
    task = open_domain("risky")
    page.get_by_role("button", name="Continue to some questions").click()
    page.get_by_role("button", name="Check my answers").click()  # nothing is answered
    assert faults(page) == []
    page.get_by_role("button", name="Read the instructions again").click()
    understand(page, task)
    page.get_by_role("button", name="Check my answers").click()
    page.locator(".options").wait_for()
    page.locator("#stop").click()
    page.locator("dialog[open]").wait_for()
    assert [text for text in faults(page) if "headings" not in text] == []
    page.keyboard.press("Escape")
    page.wait_for_timeout(300)
    page.locator(".options button").first.click()
    page.locator(".code").wait_for()
    assert faults(page) == []


@pytest.mark.slow
def test_a_timed_trial(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    open_letters(tmp_path)
    consent(page, serve())
    page.get_by_role("button", name="Continue to some questions").click()
    for item in page.get_by_role("group").all():
        item.get_by_role("radio").nth(0).check()
    page.get_by_role("button", name="Check my answers").click()
    page.locator(".target").wait_for()
    assert faults(page) == []


def test_stimuli_stay_on_white_in_the_dark(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    open_experiment(tmp_path)
    trial_faults(page, serve, open_domain("risky"))  # leaves the page in dark colours
    colour = "selector => getComputedStyle(document.querySelector(selector)).backgroundColor"
    assert page.evaluate(colour, "body") == "rgb(18, 22, 29)"
    assert page.evaluate(colour, ".picture") == "rgb(255, 255, 255)"
