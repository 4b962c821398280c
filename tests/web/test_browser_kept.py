"""Answers that could not be sent outlive their tab, closed or reloaded while the server is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from taking_part import in_inbox, open_experiment, served
from test_browser import (
    WAIT_MS,
    answer,
    as_sent,
    begin,
    by_rule,
    consent,
    expected,
    finish_by_rule,
    sent_by_prolific,
    shown,
    understand,
)

from lakatos.experiments.participants.web.app import create_app
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.traces.inbox import Inbox

KEPT = """() => Object.entries(localStorage).filter(([name]) => name.startsWith('lakatos answer '))
    .map(([name, value]) => [name, JSON.parse(value).item]).sort((a, b) => a[1].position - b[1].position)"""
REFUSE = """Object.defineProperty(window, 'localStorage',
    {get() { throw new DOMException('not here', 'SecurityError'); }})"""
TIMES = ("response_time_ms", "onset_ms")

pytestmark = pytest.mark.slow


class PageServer:
    """The page's server, which goes and comes back on the same port."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        self.folder, self.port = folder, 0
        self.running: AbstractContextManager[str] | None = None
        self.url = self.start()
        self.port = int(self.url.rsplit(":", 1)[1])

    def start(self) -> str:
        """Serve the folder; gives the address."""
        self.running = served(create_app(self.folder, sweep_seconds=0.2), self.port)
        return self.running.__enter__()

    def stop(self) -> None:
        """Answer nobody any more."""
        if self.running is not None:
            self.running.__exit__(None, None, None)
        self.running = None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    """A server of the test's folder, in which an experiment is open."""
    made = PageServer(tmp_path)
    yield made
    made.stop()


@pytest.fixture
def browser(chrome: Any) -> Iterator[Any]:
    """A participant's browser; the test fails if a page's script does."""
    context = chrome.new_context(viewport={"width": 1100, "height": 800}, locale="en-GB")
    context.set_default_timeout(WAIT_MS)
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context
    context.close()
    assert errors == []


def kept(page: Any) -> list[dict[str, Any]]:
    """Answers that the browser keeps, in order."""
    return [item for _, item in page.evaluate(KEPT)]


def go_and_come_back(browser: Any, page: Any, server: PageServer, how: str, url: str) -> Any:
    """Close the tab, or reload it, while the server is gone; the page when it is back."""
    if how == "closed":
        page.close()
        server.start()
        page = browser.new_page()
        page.goto(url)
        return page
    page.on("dialog", lambda dialog: dialog.accept())
    with pytest.raises(Exception, match="ERR_CONNECTION"):
        page.reload()
    server.start()
    page.goto(url)
    return page


@pytest.mark.parametrize("how", ["closed", "reloaded"])
def test_answers_given_without_a_server_outlive_their_tab(
    how: str, browser: Any, server: PageServer, tmp_path: Path
) -> None:
    design = open_experiment(tmp_path, n_trials=6, checks=0, record=("focus",))
    page = begin(browser, server.url)
    answer(page, by_rule(page))
    server.stop()
    for _ in range(3):
        answer(page, by_rule(page))
    assert shown(page) == 5
    items = kept(page)
    assert [item["position"] for item in items] == [1, 2, 3]
    page.wait_for_timeout(
        1500
    )  # a time taken again, when the answers are sent, would be another one

    page = go_and_come_back(browser, page, server, how, f"{server.url}/study/")
    assert shown(page) == 5  # the first one that was not answered
    assert kept(page) == []
    finish_by_rule(page)
    (answers,) = in_inbox(tmp_path)
    assert answers.status == "completed"
    assert sorted(answers.trial) == list(range(6))
    assert answers.response == expected("risky", design, answers.trial)
    for name in TIMES:
        assert getattr(answers, name)[1:4] == tuple(item[name] for item in items)
    assert kept(page) == []


def test_a_task_with_feedback_keeps_the_answer_that_its_next_step_depends_on(
    browser: Any, server: PageServer, tmp_path: Path
) -> None:
    space = {"task": "bandit", "n_steps": 4}
    open_experiment(tmp_path, "learning", n_trials=1, checks=0, space=space)
    page = begin(browser, server.url, "learning")
    answer(page, 1)
    assert shown(page) == 2
    server.stop()
    page.wait_for_timeout(230)
    page.locator(".options button").nth(1).click()
    page.locator(".options button.chosen").wait_for()
    (item,) = kept(page)

    page = go_and_come_back(browser, page, server, "closed", f"{server.url}/study/")
    assert shown(page) == 3
    while shown(page):
        answer(page, 0)
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (1, 1, 0, 0)
    assert answers.response_time_ms[1] == item["response_time_ms"]


def test_an_answer_whose_confirmation_was_lost_with_the_tab_counts_once(
    browser: Any, server: PageServer, tmp_path: Path
) -> None:
    design = open_experiment(tmp_path, n_trials=4, checks=0)
    page = begin(browser, server.url)
    reached: list[int] = []

    def lose(route: Any) -> None:
        reached.append(route.fetch().status)  # the server has it, the browser does not know
        route.abort()

    page.route("**/api/answers", lose)
    answer(page, by_rule(page))
    page.wait_for_timeout(300)
    assert reached[0] == 200
    assert [item["position"] for item in kept(page)] == [0]
    page.unroute("**/api/answers")
    server.stop()
    page = go_and_come_back(browser, page, server, "closed", f"{server.url}/study/")
    assert shown(page) == 2
    finish_by_rule(page)
    (answers,) = in_inbox(tmp_path)
    assert sorted(answers.trial) == list(range(4))
    assert answers.response == expected("risky", design, answers.trial)


def test_a_second_person_in_the_same_browser_does_not_send_the_first_ones_answers(
    browser: Any, server: PageServer, tmp_path: Path
) -> None:
    design = sent_by_prolific(tmp_path, n_trials=4, checks=0)
    anna = browser.new_page()
    anna.goto(as_sent(server.url, "anna"))
    consent(anna)
    understand(anna, "risky")
    server.stop()
    for _ in range(2):
        answer(anna, by_rule(anna))
    ben = go_and_come_back(browser, anna, server, "closed", as_sent(server.url, "ben"))
    consent(ben)
    understand(ben, "risky")
    assert shown(ben) == 1
    assert [item["position"] for item in kept(ben)] == [0, 1]
    assert finish_by_rule(ben) == "DONE"

    again = browser.new_page()
    again.goto(as_sent(server.url, "anna"))
    assert shown(again) == 3
    assert finish_by_rule(again) == "DONE"
    store = SessionStore(tmp_path)
    store.meet("1.1", "prolific", {(name, f"visit-of-{name}") for name in ("anna", "ben")})
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    store.shut()
    found = in_inbox(tmp_path)
    assert len({item.person for item in found}) == 2
    for item in found:
        assert sorted(item.trial) == list(range(4))
        assert item.response == expected("risky", design, item.trial)


def test_a_forged_queue_can_do_no_more_than_a_request_can(
    browser: Any, server: PageServer, tmp_path: Path
) -> None:
    design = open_experiment(tmp_path, n_trials=5, checks=0)
    page = begin(browser, server.url)
    answer(page, by_rule(page))
    name = page.evaluate("async () => (await (await fetch('api/state')).json()).session")

    def with_kept(entries: dict[str, str]) -> None:
        """Open the page anew, with these entries in the browser's storage."""
        page.evaluate(
            "found => Object.entries(found).forEach(([k, v]) => localStorage[k] = v)", entries
        )
        page.reload()

    def entry(position: Any, response: Any = 1, age_days: float = 0, **more: Any) -> str:
        kept_at = page.evaluate("Date.now()") - age_days * 86_400_000
        item = {"position": position, "response": response, "response_time_ms": 500, **more}
        return json.dumps({"kept": kept_at, "item": item})

    # Nothing that the server does not ask for now, or that is no answer, changes anything or stays.
    for position, value in [
        (999, entry(999)),
        (2, entry(2)),
        (1, entry(1, 77)),
        (1, entry(1, "<img src=x onerror=alert(1)>")),
        (1, entry(1, person="somebody else")),
        (1, entry(1, age_days=31)),
        (1, entry("1")),
        (1, "no JSON"),
        (1, "null"),
    ]:
        with_kept({f"lakatos answer {name} {position}": value})
        assert shown(page) == 2
        assert kept(page) == []

    # The name of another session opens nothing: its entry stays for whom it belongs to.
    with_kept({f"lakatos answer {'0' * 16} 1": entry(1)})
    assert shown(page) == 2
    assert [item["position"] for item in kept(page)] == [1]

    # A step that was answered keeps its answer, and the one that is asked now can be answered, as by a request.
    first, asked = by_rule(page), 1 - by_rule(page)
    with_kept(
        {f"lakatos answer {name} 0": entry(0, 0), f"lakatos answer {name} 1": entry(1, asked)}
    )
    assert shown(page) == 3
    finish_by_rule(page)
    (answers,) = in_inbox(tmp_path)
    wanted = list(expected("risky", design, answers.trial))
    assert wanted[1] == first
    wanted[1] = asked
    assert list(answers.response) == wanted


def test_nothing_stays_of_somebody_who_stops(
    browser: Any, server: PageServer, tmp_path: Path
) -> None:
    open_experiment(tmp_path, n_trials=4, checks=0)
    page = begin(browser, server.url)
    page.on("dialog", lambda dialog: dialog.accept())
    page.route("**/api/answers", lambda route: route.abort())
    answer(page)
    assert len(kept(page)) == 1
    page.get_by_role("button", name="Stop taking part").click()
    page.get_by_role("button", name="Stop and delete my answers").click()
    page.get_by_text("You have stopped taking part").wait_for()
    assert kept(page) == []
    assert page.evaluate("Object.keys(localStorage)") == []
    assert [(item.status, item.trial) for item in in_inbox(tmp_path)] == [("returned", ())]


def test_a_browser_that_refuses_storage_takes_the_study_and_goes_on_without_a_connection(
    browser: Any, server: PageServer, tmp_path: Path
) -> None:
    browser.add_init_script(REFUSE)
    design = open_experiment(tmp_path, n_trials=5, checks=0)
    page = begin(browser, server.url)
    answer(page, by_rule(page))
    server.stop()
    for _ in range(2):
        answer(page, by_rule(page))
    server.start()
    finish_by_rule(page)
    (answers,) = in_inbox(tmp_path)
    assert answers.response == expected("risky", design, answers.trial)
