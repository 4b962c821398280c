"""The study in a real browser: from consent to completion code, whatever people do on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from taking_part import SPACES, in_inbox, open_experiment

from lakatos.domains import DOMAINS, open_domain
from lakatos.experiments.participants.web.session import RecruitmentService
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.texts import texts_for, texts_for_domain, words_of
from lakatos.experiments.quality import are_impossible
from lakatos.experiments.task import Design, seen_trial
from lakatos.traces.inbox import Inbox

WAIT_MS = 30_000
MOVED_ON = """number => document.querySelector('.code') || (document.querySelector('.options button.chosen') === null
    && document.querySelector('h1.trial')?.textContent !== `Decision ${number}`)"""
NAMELESS = """[...document.querySelectorAll('button, input, select, a')]
    .filter(item => !item.innerText && !item.labels?.length).map(item => item.outerHTML)"""
TOO_WIDE = """document.documentElement.scrollWidth > innerWidth
    || [...document.querySelectorAll('.picture')].some(item => item.scrollWidth > item.clientWidth + 1)"""
LOWEST_BUTTON = (
    "Math.min(...[...document.querySelectorAll('.options button')].map(item => item.offsetHeight))"
)


@pytest.fixture
def browser(chrome: Any) -> Iterator[Any]:
    """A participant's browser, desktop size; the test fails if a page complains."""
    context = chrome.new_context(viewport={"width": 1100, "height": 800}, locale="en-GB")
    context.set_default_timeout(WAIT_MS)
    said: list[str] = []
    context.on("console", lambda message: said.append(message.text))
    context.on("weberror", lambda error: said.append(str(error.error)))
    yield context
    context.close()
    assert [
        text
        for text in said
        if "ERR_INTERNET_DISCONNECTED" not in text and "ERR_FAILED" not in text
    ] == []


def consent(page: Any) -> None:
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("heading", name="What you will do").wait_for()


def understand(page: Any, domain: str, comes_next: str = ".options") -> None:
    page.get_by_role("button", name="Continue to some questions").click()
    task = open_domain(domain)
    for item in texts_for_domain(task)["en"]["domains"][task.name]["questions"]:
        page.get_by_role("group", name=item["text"]).get_by_role("radio").nth(item["right"]).check()
    page.get_by_role("button", name="Check my answers").click()
    page.locator(comes_next).wait_for()


def begin(browser: Any, url: str, domain: str = "risky") -> Any:
    page = browser.new_page()
    page.goto(f"{url}/study/")
    consent(page)
    understand(page, domain)
    return page


def shown(page: Any) -> int:
    """Number of the decision on the page, from 1; 0 at the end."""
    page.locator(".options button:not(.chosen):not([disabled]), .code").first.wait_for()
    headings = page.locator("h1.trial").all_inner_texts()
    return int(headings[0].split()[1]) if headings else 0


def answer(page: Any, option: int = 0, click: str = "click") -> None:
    """Answer what is shown, and wait for what comes next."""
    number = shown(page)
    page.wait_for_timeout(230)  # what comes sooner after a step has appeared is no answer to it
    getattr(page.locator(".options button").nth(option), click)()
    page.wait_for_function(MOVED_ON, arg=number)


def rule(text: str) -> int:
    """A choice that depends on what is shown alone, by which an answer kept for another trial would be found out."""
    return sum(map(ord, re.sub(r"\s", "", text))) % 2


def by_rule(page: Any) -> int:
    return rule(page.locator(".picture").text_content())


def finish_by_rule(page: Any) -> str:
    while shown(page):
        answer(page, by_rule(page))
    return str(page.locator(".code").inner_text())


def expected(domain: str, design: Design, rows: tuple[int, ...]) -> tuple[int, ...]:
    """What people say who follow the rule."""
    pictures = [DOMAINS[domain].picture(design.stimuli, row) for row in rows]
    return tuple(rule("".join(words_of(picture))) for picture in pictures)


def finish(page: Any, option: int = 0, click: str = "click") -> str:
    while shown(page):
        answer(page, option, click)
    return str(page.locator(".code").inner_text())


@pytest.mark.slow
@pytest.mark.parametrize("domain", SPACES)
def test_the_study_is_taken_with_double_clicks_a_reload_and_the_back_button(
    domain: str, browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    design = open_experiment(tmp_path, domain, n_trials=3)
    url = serve()
    page = browser.new_page()
    page.goto(f"{url}/study/")
    page.reload()
    consent(page)
    page.reload()
    understand(page, domain)
    answer(page, 1, "dblclick")
    assert shown(page) == 2
    page.reload()
    assert shown(page) == 2
    answer(page, 1, "dblclick")
    page.goto("about:blank")
    page.go_back()
    assert shown(page) == 3
    code = finish(page, 1, "dblclick")
    page.reload()
    assert page.locator(".code").inner_text() == code
    (answers,) = in_inbox(tmp_path)
    assert answers.status == "completed"
    assert sorted(answers.trial) == list(range(len(design.stimuli)))
    assert set(answers.response) == {1}
    assert len(answers.checks) == 1
    assert all(200 <= time < WAIT_MS for time in answers.response_time_ms)
    assert set(answers.feedback) == ({"reward", "next_state"} if domain == "learning" else set())


@pytest.mark.slow
def test_answers_given_without_a_connection_are_sent_when_it_is_back(browser, serve, tmp_path):
    open_experiment(tmp_path, n_trials=5, checks=0)
    page = begin(browser, serve())
    answer(page)
    browser.set_offline(True)
    for _ in range(3):
        answer(page, 1)
    page.get_by_text("The connection is lost").wait_for()
    assert SessionStore(tmp_path).status()[0]["people"] == {"active": 1}
    browser.set_offline(False)
    finish(page)
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (0, 1, 1, 1, 0)


@pytest.mark.long
def test_answers_that_could_not_be_sent_outlive_a_reload(browser, serve, tmp_path):
    open_experiment(tmp_path, n_trials=4, checks=0)
    page = begin(browser, serve())
    page.on("dialog", lambda dialog: dialog.accept())
    page.route("**/api/answers", lambda route: route.abort())
    for _ in range(2):
        answer(page, 1)
    page.reload()
    page.wait_for_timeout(300)
    page.unroute("**/api/answers")
    assert shown(page) == 3
    finish(page)
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (1, 1, 0, 0)


@pytest.mark.slow
def test_an_answer_whose_confirmation_was_lost_counts_once(browser, serve, tmp_path):
    open_experiment(tmp_path, n_trials=3, checks=0)
    page = begin(browser, serve())
    lost = []

    def lose(route: Any) -> None:
        if len(lost) < 2:
            lost.append(route.fetch().status)  # the server has it, the browser does not know
            route.abort()
        else:
            route.continue_()

    page.route("**/api/answers", lose)
    finish(page, 1)
    assert lost == [200, 200]
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (1, 1, 1)


@pytest.mark.parametrize(
    "domain",
    [
        pytest.param("risky", marks=pytest.mark.slow),
        pytest.param("learning", marks=pytest.mark.long),
    ],
)
def test_two_tabs_lose_nothing_and_count_nothing_twice(domain, browser, serve, tmp_path):
    design = open_experiment(tmp_path, domain, n_trials=5, checks=0)
    url = serve()
    first = begin(browser, url, domain)
    second = browser.new_page()
    second.goto(f"{url}/study/")
    assert shown(second) == 1
    for _ in range(2):
        answer(first, by_rule(first))
    stale = by_rule(second)  # what this tab shows was answered in the other one
    second.wait_for_timeout(230)
    second.locator(".options button").nth(1 - stale).click()
    second.wait_for_timeout(500)
    code = finish_by_rule(second)
    first.bring_to_front()
    first.locator(".options button").nth(
        by_rule(first)
    ).click()  # what this tab shows was answered, too
    first.locator(".code").wait_for()
    assert first.locator(".code").inner_text() == code
    (answers,) = in_inbox(tmp_path)
    assert sorted(answers.trial) == list(range(len(design.stimuli)))
    assert answers.response == expected(domain, design, answers.trial)


@pytest.mark.long
def test_two_tabs_used_in_turn_keep_every_answer_with_its_trial(browser, serve, tmp_path):
    design = open_experiment(tmp_path, n_trials=8, checks=0)
    url = serve()
    tabs = [begin(browser, url), browser.new_page()]
    tabs[1].goto(f"{url}/study/")
    for number in range(40):
        tab = tabs[number % 2]
        if not shown(tab):
            break
        choice = by_rule(tab)
        tab.wait_for_timeout(230)
        if tab.locator(".options button").count():
            tab.locator(".options button").nth(choice).click()
        tab.wait_for_timeout(120)
    (answers,) = in_inbox(tmp_path)
    assert answers.response == expected("risky", design, answers.trial)


@pytest.mark.slow
def test_the_keyboard_alone_is_enough(browser, serve, tmp_path):
    open_experiment(tmp_path, "offers", n_trials=4, checks=0, n_participants=1)
    page = browser.new_page()
    page.goto(f"{serve()}/study/")
    page.get_by_role("checkbox").wait_for()

    def tab_to(name: str) -> None:
        for _ in range(30):
            page.keyboard.press("Tab")
            if (
                page.evaluate("document.activeElement.innerText || document.activeElement.type")
                == name
            ):
                return
        raise AssertionError(f"no way to {name!r} by the tabulator")

    tab_to("checkbox")
    page.keyboard.press("Space")
    tab_to("Begin")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What you will do").wait_for()
    tab_to("Continue to some questions")
    page.keyboard.press("Enter")
    page.locator("fieldset").first.wait_for()
    for item in texts_for("offers")["en"]["domains"]["offers"]["questions"]:
        tab_to("radio")
        page.keyboard.press("Space")
        for _ in range(item["right"]):
            page.keyboard.press("ArrowDown")
    tab_to("Check my answers")
    page.keyboard.press("Enter")
    for key in ("1", "4"):
        number = shown(page)
        page.wait_for_timeout(230)
        page.keyboard.press("9")  # no such option
        page.keyboard.press(key)
        page.get_by_role("heading", name=f"Decision {number + 1}", exact=True).wait_for()
    page.wait_for_timeout(230)
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Decision 4", exact=True).wait_for()
    page.wait_for_timeout(230)
    page.keyboard.press("2")
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (0, 3, 2, 1)


@pytest.mark.long
def test_the_arrows_choose_between_two_options(browser, serve, tmp_path):
    open_experiment(tmp_path, "intertemporal", n_trials=2, checks=0)
    page = begin(browser, serve(), "intertemporal")
    for key in ("ArrowRight", "ArrowLeft"):
        shown(page)
        page.wait_for_timeout(230)
        page.keyboard.press(key)
        page.wait_for_timeout(100)
    page.locator(".code").wait_for()
    assert in_inbox(tmp_path)[0].response == (1, 0)


@pytest.mark.long
def test_a_screen_reader_finds_names_roles_and_news(browser, serve, tmp_path):
    open_experiment(
        tmp_path, "learning", n_trials=1, checks=0, space={"task": "bandit", "n_steps": 3}
    )
    page = begin(browser, serve(), "learning")
    assert shown(page) == 1
    page.wait_for_timeout(230)
    assert page.evaluate("document.activeElement.textContent") == "Decision 1"
    assert page.get_by_role("group", name="Your pick:").count() == 2
    assert page.get_by_role("progressbar", name="1 of 3").count() == 1
    page.get_by_role("button", name="A", exact=True).click()
    spoken = page.locator("#spoken[aria-live=assertive]")
    page.wait_for_function("() => document.querySelector('#spoken').textContent !== ''")
    assert spoken.inner_text() in ("You won 1.", "You won nothing.")
    assert shown(page) == 2
    assert page.locator(".notice").inner_text() == spoken.inner_text()
    nameless = (
        "[...document.querySelectorAll('button, input, select, a')]"
        ".filter(e => !e.innerText && !e.labels?.length)"
    )
    assert page.evaluate(f"{nameless}.length") == 0


@pytest.mark.long
def test_who_stops_is_asked_what_shall_happen_to_the_answers(browser, serve, tmp_path):
    open_experiment(tmp_path, n_trials=3)
    page = begin(browser, serve())
    answer(page)
    page.get_by_role("button", name="Stop taking part").click()
    page.keyboard.press("1")  # no answer to the decision behind the question
    page.get_by_role("button", name="Stop and delete my answers").click()
    page.get_by_text("You have stopped taking part").wait_for()
    assert [(item.status, item.trial) for item in in_inbox(tmp_path)] == [("returned", ())]


@pytest.mark.long
def test_the_page_changes_its_language_and_keeps_it(browser, serve, tmp_path):
    open_experiment(tmp_path, "offers", n_trials=2, checks=0)
    page = browser.new_page()
    page.goto(f"{serve()}/study/")
    page.get_by_label("Language").select_option("de")
    page.get_by_role("heading", name="Teilnahme an einer Studie").wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Beginnen").click()
    page.get_by_role("heading", name="Was Sie tun werden").wait_for()
    page.reload()
    page.get_by_role("button", name="Weiter zu einigen Fragen").click()
    for item in texts_for("offers")["de"]["domains"]["offers"]["questions"]:
        page.get_by_role("group", name=item["text"]).get_by_role("radio").nth(item["right"]).check()
    page.get_by_role("button", name="Antworten prüfen").click()
    page.get_by_role("button", name="Anbieter A").wait_for()
    assert "contract" not in page.locator(".picture").inner_text()


@pytest.mark.long
def test_prolific_s_address_is_understood(browser, serve, tmp_path):
    open_experiment(
        tmp_path,
        n_trials=2,
        checks=0,
        completion_code="CODE1",
        completion_url="https://x.org/?cc={code}",
    )
    page = browser.new_page()
    page.goto(f"{serve()}/study/?PROLIFIC_PID=5f3c9e0d1b2a4c6d8e7f9a0b&STUDY_ID=s1&SESSION_ID=u1")
    consent(page)
    understand(page, "risky")
    assert finish(page) == "CODE1"
    assert (
        page.get_by_role("link", name="Finish").get_attribute("href") == "https://x.org/?cc=CODE1"
    )
    (found,) = SessionStore(tmp_path).submissions()
    assert (found.submission, found.status, found.code) == ("u1", "completed", "CODE1")


@pytest.mark.slow
def test_an_invitation_lets_one_person_in_and_a_bare_address_nobody(browser, serve, tmp_path):
    open_experiment(tmp_path, n_trials=2, checks=1, access="invited")
    store = SessionStore(tmp_path)
    (link,) = store.invite(1)
    url = serve()
    page = browser.new_page()
    page.goto(f"{url}/study/")
    page.get_by_text("This study is by invitation").wait_for()
    page.goto(f"{url}/study/?invitation={link}")
    consent(page)
    understand(page, "risky")
    code = finish(page)
    other = browser.new_page()
    other.goto(f"{url}/study/?invitation={link}")
    assert other.locator(".code").inner_text() == code
    assert len(in_inbox(tmp_path)) == 1
    (answers,) = in_inbox(tmp_path)
    assert len(answers.server_time_ms) == len(answers.response_time_ms) == 2
    assert not any(are_impossible(answers.response_time_ms, answers.server_time_ms))
    store.shut()


@pytest.mark.long
def test_the_researcher_sees_how_far_it_is(browser, serve, tmp_path):
    open_experiment(tmp_path, n_trials=2, checks=0)
    url = serve(desk=True, token="r" * 43)
    page = browser.new_page()
    page.goto(f"{url}/researcher/#{'r' * 43}")
    page.get_by_role("heading", name="Experiment 1.1").wait_for()
    assert "0 of 3 completed" in page.locator("#experiments").inner_text()
    page.get_by_role("link", name="/preview/").click()
    page.get_by_text("nothing that you answer here is counted").wait_for()
    consent(page)
    understand(page, "risky")
    finish(page)
    assert in_inbox(tmp_path) == []


@pytest.mark.parametrize(
    "domain",
    [
        *(pytest.param(name, marks=pytest.mark.long) for name in SPACES if name != "offers"),
        "offers",
    ],
)
@pytest.mark.parametrize(
    "width",
    [pytest.param(320, marks=pytest.mark.slow), pytest.param(390, marks=pytest.mark.long)],
)
def test_nothing_on_a_phone_scrolls_sideways(domain, width, chrome, serve, tmp_path):
    open_experiment(tmp_path, domain, n_trials=3, n_participants=1)
    context = chrome.new_context(
        viewport={"width": width, "height": 700}, is_mobile=True, has_touch=True
    )
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto(f"{serve()}/study/")
    page.get_by_role("checkbox").wait_for()
    assert not page.evaluate(TOO_WIDE)
    consent(page)
    assert not page.evaluate(TOO_WIDE)
    understand(page, domain)
    while shown(page):
        assert not page.evaluate(TOO_WIDE)
        assert (
            page.evaluate(
                "Math.min(...[...document.querySelectorAll('.options button')].map(e => e.offsetHeight))"
            )
            >= 44
        )
        page.wait_for_timeout(230)
        number = shown(page)
        page.locator(".options button").first.tap()
        page.wait_for_function(
            "n => document.querySelector('.code')"
            " || document.querySelector('h1.trial')?.textContent !== `Decision ${n}`",
            arg=number,
        )
    assert not page.evaluate(TOO_WIDE)
    context.close()


def as_sent(url: str, name: str) -> str:
    """The address under which a recruitment service sends somebody."""
    return f"{url}/study/?PROLIFIC_PID={name}&STUDY_ID=study&SESSION_ID=visit-of-{name}"


SENT = RecruitmentService(
    "study",
    {"completed": "DONE", "failed_checks": "FAILED", "screened_out": "OUT", "declined": "NO"},
    "https://x.org/?cc={code}",
    most_failed_checks=0,
)


def sent_by_prolific(tmp_path: Path, **page: Any) -> Design:
    """An experiment to which Prolific sends people."""
    design = open_experiment(tmp_path, **page)
    store = SessionStore(tmp_path)
    store.recruit_through("1.1", "prolific", SENT)
    store.shut()
    return design


@pytest.mark.long
def test_two_people_in_two_tabs_of_one_browser_never_mix(browser, serve, tmp_path):
    design = sent_by_prolific(tmp_path, n_trials=4, checks=0)
    url = serve()
    names = ("anna", "ben")
    tabs = []
    for name in names:
        tab = browser.new_page()
        tab.goto(as_sent(url, name))
        consent(tab)
        understand(tab, "risky")
        tabs.append(tab)
    answer(tabs[0], by_rule(tabs[0]))  # the first tab goes on, though the second came after it
    for tab in reversed(tabs):
        tab.bring_to_front()
        answer(tab, by_rule(tab))
        tab.reload()
    for tab in tabs:
        tab.bring_to_front()
        assert finish_by_rule(tab) == "DONE"
    store = SessionStore(tmp_path)
    store.meet("1.1", "prolific", {(name, f"visit-of-{name}") for name in names})
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    store.shut()
    found = in_inbox(tmp_path)
    assert len({item.person for item in found}) == 2
    for item in found:
        assert item.response == expected("risky", design, item.trial)


@pytest.mark.long
def test_each_ending_shows_the_code_that_takes_people_back_to_the_service(browser, serve, tmp_path):
    sent_by_prolific(tmp_path, n_trials=2, n_participants=9, most_attempts=1, checks=1)
    url = serve()

    def come(name: str) -> Any:
        page = browser.new_page()
        page.goto(as_sent(url, name))
        page.get_by_role("checkbox").wait_for()
        return page

    def told(page: Any) -> tuple[str, str]:
        page.locator(".code").wait_for()
        return page.locator(".code").inner_text(), page.get_by_role(
            "link", name="Finish"
        ).get_attribute("href")

    def link(code: str) -> tuple[str, str]:
        return code, f"https://x.org/?cc={code}"

    declined = come("anna")
    declined.get_by_role("button", name="I do not agree").click()
    assert told(declined) == link("NO")
    assert SessionStore(tmp_path).status()[0]["people"] == {}
    screened = come("ben")
    consent(screened)
    screened.get_by_role("button", name="Continue to some questions").click()
    for item in texts_for("risky")["en"]["domains"]["risky"]["questions"]:
        wrong = (item["right"] + 1) % len(item["answers"])
        screened.get_by_role("group", name=item["text"]).get_by_role("radio").nth(wrong).check()
    screened.get_by_role("button", name="Check my answers").click()
    assert told(screened) == link("OUT")
    stopped = come("carla")
    consent(stopped)
    understand(stopped, "risky")
    answer(stopped)
    stopped.get_by_role("button", name="Stop taking part").click()
    stopped.get_by_role("button", name="Stop and keep my answers").click()
    stopped.get_by_text("The answers that you gave are saved, as you wished").wait_for()
    assert told(stopped) == link("NO")
    for name, code in (("dora", "DONE"), ("emil", "FAILED")):
        page = come(name)
        consent(page)
        understand(page, "risky")
        while shown(page):
            label = page.locator("main").inner_text()
            asked = re.search(r"lease choose: Option ([AB])\.", label)
            right = 0 if asked is None else "AB".index(asked[1])
            answer(page, right if code == "DONE" or asked is None else 1 - right)
        assert told(page) == link(code)
        page.reload()
        assert told(page) == link(code)


@pytest.mark.long
def test_who_came_before_is_refused_kindly_or_goes_on_where_the_study_says_so(
    browser, serve, tmp_path
):
    open_experiment(tmp_path, n_trials=2, checks=0, n_participants=1)
    url = serve()
    page = begin(browser, url)
    code = finish(page)
    open_experiment(tmp_path, name="2.1", key="2" * 64, n_trials=2, checks=0, returning="admit")
    page.reload()
    assert page.locator(".code").inner_text() == code  # the code of the first part is still there
    page.get_by_role("button", name="Take part in the next part").click()
    consent(page)
    understand(page, "risky")
    finish(page)
    assert [item.experiment for item in in_inbox(tmp_path)] == ["1.1", "2.1"]
    SessionStore(tmp_path).close("2" * 64)
    sent = browser.new_page()
    open_experiment(tmp_path, name="3.1", key="3" * 64, n_trials=2, checks=0, returning="refuse")
    sent.goto(as_sent(url, "anna"))
    consent(sent)
    understand(sent, "risky")
    finish(sent)
    SessionStore(tmp_path).close("3" * 64)
    open_experiment(tmp_path, name="4.1", key="4" * 64, n_trials=2, checks=0, returning="refuse")
    again = browser.new_page()
    again.goto(as_sent(url, "anna").replace("visit-of-", "second-visit-of-"))
    again.get_by_role("checkbox").check()
    again.get_by_role("button", name="Begin").click()
    again.get_by_text("Thank you for coming back!").wait_for()
    assert again.get_by_text("please return your place there").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fairness", "dots", "menu"])
def test_a_declared_task_is_taken_on_a_desktop_and_fits_a_phone(
    name: str, browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = Path(__file__).parents[2] / "studies" / "tasks" / f"{name}.toml"
    design = open_experiment(tmp_path, str(file), n_trials=3)
    page = begin(browser, serve(), str(file))
    task = open_domain(str(file))
    assert page.locator(".options button").count() == len(task.options)
    assert page.locator(".picture th[scope=col]").all_inner_texts() == list(task.options)
    page.set_viewport_size({"width": 380, "height": 740})
    assert not page.evaluate(TOO_WIDE)
    finish_by_rule(page)
    (answers,) = in_inbox(tmp_path)
    pictures = [task.picture(design.stimuli, row) for row in answers.trial]
    heard = [rule("".join(words_of(picture))) for picture in pictures]
    assert list(answers.response) == heard


@pytest.mark.slow
def test_one_of_eleven_numbers_is_chosen_by_its_button_and_by_no_key(
    browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = Path(__file__).parents[2] / "studies" / "tasks" / "giving.toml"
    open_experiment(tmp_path, str(file), n_trials=2, checks=0)
    page = begin(browser, serve(), str(file))
    buttons = page.locator(".options button")
    coins = [f"{number} {'coin' if number == 1 else 'coins'}" for number in range(11)]
    assert buttons.all_inner_texts() == coins
    page.set_viewport_size({"width": 380, "height": 740})
    assert not page.evaluate(TOO_WIDE)
    page.wait_for_timeout(400)  # an input as fast as a slip is ignored anyway
    page.keyboard.press("3")
    page.wait_for_timeout(400)
    for number in (7, 10):
        heading = page.locator("h1.trial").inner_text()
        page.wait_for_timeout(400)
        page.get_by_role("button", name=f"{number} coins", exact=True).click()
        page.wait_for_function(
            "before => document.querySelector('h1.trial')?.innerText !== before", arg=heading
        )
    (answers,) = in_inbox(tmp_path)
    assert list(answers.response) == [7, 10]


@pytest.mark.slow
def test_a_signal_is_judged_on_a_scale_of_six(browser, serve, tmp_path):
    """A participant who is surest where a colour has most dots, and reloads the page in between."""
    space = {"strengths": [0.5, 1.0], "categories": 6}
    design = open_experiment(tmp_path, "recognition", n_trials=3, checks=0, space=space)
    labels = list(map(int, DOMAINS["recognition"].options))
    page = begin(browser, serve(), "recognition")
    given = []
    while number := shown(page):
        if number == 2:
            page.reload()
            shown(page)
        free = page.evaluate(
            "[...document.querySelectorAll('.options button')].map(item => !item.disabled)"
        )
        assert [label for label, own in zip(labels, free, strict=True) if own] == [-3, -2, -1, 1, 2, 3]  # fmt: skip
        assert page.locator(".options button:visible").all_inner_texts() == [
            "No: 3", "No: 2", "No: 1", "Yes: 1", "Yes: 2", "Yes: 3",
        ]  # fmt: skip
        n_orange = page.locator('.picture circle[fill="#e07b00"]').count()
        given.append({50: -3, 60: 2, 70: 3}[n_orange])
        answer(page, labels.index(given[-1]))
    (answers,) = in_inbox(tmp_path)
    assert (answers.status, sorted(given)) == ("completed", [-3, 2, 3])
    assert [labels[place] for place in answers.response] == given
    is_old = design.stimuli["old"][list(answers.trial)] > 0
    assert [label > 0 for label in given] == is_old.tolist()


@pytest.mark.slow
def test_a_balloon_grows_bursts_and_is_collected(browser, serve, tmp_path):
    """A participant who pumps three times and collects, and reloads the page in between."""
    space = {"n_steps": 14, "most": 6}
    design = open_experiment(tmp_path, "stopping", n_trials=1, checks=0, space=space)
    task, told, ended = DOMAINS["stopping"], {}, []
    page = begin(browser, serve(), "stopping")
    while number := shown(page):
        if number == 3:
            page.reload()
            shown(page)
        before = {name: float(value[0, 0]) for name, value in told.items()}
        pumps, balloons = (int(before.get(name, 0)) for name in ("pumps", "balloons"))
        points = "1 point" if pumps == 1 else f"{pumps} points"
        assert page.locator(".picture").inner_text().strip() == f"Balloon {balloons + 1}: {points}"
        if before and not pumps:
            ended.append("burst" if before["burst"] else f"collected: {before['reward']:g}")
            assert ended[-1] in page.locator(".notice").inner_text()
        option = int(pumps == 3)
        arrays = design.stimuli.take([number - 1]).arrays
        told = task.feedback(arrays, task.shown(arrays, told), np.array([[option]]))
        answer(page, option)
    assert {"burst", "collected: 3"} <= set(ended)
    (answers,) = in_inbox(tmp_path)
    assert (answers.status, len(answers.response)) == ("completed", 14)
    assert {name: own[-1] for name, own in answers.feedback.items()} == {
        name: float(value[0, 0]) for name, value in told.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "space",
    [
        {"n_steps": 12, "length": 4, "values": "normal(180, 20)", "goal": "lowest"},
        {"n_steps": 12, "length": 4, "values": "ranks", "reward": "best"},
    ],
)
def test_values_are_shown_until_one_is_taken_or_the_last_one_is_left(
    space: dict[str, Any], browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    """A participant who takes the third value, except for every other sequence, and reloads the page in between."""
    design = open_experiment(tmp_path, "search", n_trials=1, checks=0, space=space)
    task, told, ended = DOMAINS["search"], {}, []
    page = begin(browser, serve(), "search")
    while number := shown(page):
        if number == 3:
            page.reload()
            shown(page)
        before = {name: float(value[0, 0]) for name, value in told.items()}
        trial = seen_trial(task, design.stimuli, number - 1, before)
        wanted = " ".join(words_of(task.picture(trial, 0)))
        assert " ".join(page.locator(".picture").inner_text().split()) == wanted
        page.screenshot(path=str(tmp_path / f"{number}.png"))
        if before and before["ended"]:
            ended.append(task.outcome_of(before))
            words = texts_for_domain(task)["en"]["domains"]["search"]["after"][ended[-1]]
            amount = f"{before['reward']:g}"
            assert words.replace("{amount}", amount) in page.locator(".notice").inner_text()
        is_third = before.get("seen", 0) == 2
        option = int(is_third and before["problems"] % 2 == 0)
        arrays = design.stimuli.take([number - 1]).arrays
        told = task.feedback(arrays, task.shown(arrays, told), np.array([[option]]))
        answer(page, option)
    assert set(ended) <= {"taken", "last"} if "goal" in space else {"best", "other"}
    (answers,) = in_inbox(tmp_path)
    assert (answers.status, len(answers.response)) == ("completed", 12)
    assert {name: own[-1] for name, own in answers.feedback.items()} == {
        name: float(value[0, 0]) for name, value in told.items()
    }


@pytest.mark.slow
def test_a_response_to_a_cue_is_given_or_withheld_and_its_outcome_is_shown(
    browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    space = {"task": "go_nogo", "n_steps": 8}
    design = open_experiment(tmp_path, "learning", n_trials=1, checks=0, space=space)
    task, told, given = DOMAINS["learning"], {}, []
    page = browser.new_page()
    page.goto(f"{serve()}/study/")
    consent(page)
    instructions = page.locator("main").inner_text()
    assert "Each time you either respond or withhold a response" in instructions
    assert "boxes" not in instructions
    understand(page, "learning")
    while number := shown(page):
        cue = int(design.stimuli["cue"][number - 1]) + 1
        assert f"cue {cue}" in page.locator(".picture").inner_text()
        names = [
            words.split("\n")[0] for words in page.locator(".options button").all_inner_texts()
        ]
        assert names == ["withhold", "respond"]
        if told:
            won = told["reward"][0, 0]
            words = "You won 1" if won > 0 else "You lost 1" if won < 0 else "nothing"
            assert words in page.locator(".notice").inner_text()
        page.screenshot(path=str(tmp_path / f"{number}.png"))
        given.append(cue % 2)
        arrays = design.stimuli.take([number - 1]).arrays
        told = task.feedback(arrays, task.shown(arrays, told), np.array([[given[-1]]]))
        answer(page, given[-1])
    (answers,) = in_inbox(tmp_path)
    assert list(answers.response) == given
    assert set(design.stimuli["cue"]) == {0, 1, 2, 3}
