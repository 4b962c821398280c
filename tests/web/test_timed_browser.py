"""A timed task in a real browser: keys, fingers, focus and time limits, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from taking_part import in_inbox
from test_timed import DOMAIN, N_BINS, _timed, open_letters

from lakatos.domains import DOMAINS
from lakatos.experiments.participants.table import check_answers
from lakatos.experiments.participants.web.manner import PracticeTrials

WAIT_MS = 30_000
RIGHT = "() => ({S: 0, H: 1})[document.querySelector('.target text').textContent]"
"""Of small letters: the place of the key, by the letter that the drawing is made of."""


@pytest.fixture
def browser(chrome: Any) -> Iterator[Any]:
    """A participant's browser; the test fails if a page complains."""
    context = chrome.new_context(viewport={"width": 1100, "height": 800}, locale="en-GB")
    context.set_default_timeout(WAIT_MS)
    said: list[str] = []
    context.on("console", lambda message: said.append(message.text))
    context.on("weberror", lambda error: said.append(str(error.error)))
    yield context
    context.close()
    assert said == []


def begin(browser: Any, url: str) -> Any:
    page = browser.new_page()
    page.goto(f"{url}/study/")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Continue to some questions").click()
    for item in page.get_by_role("group").all():
        item.get_by_role("radio").nth(0).check()
    page.get_by_role("button", name="Check my answers").click()
    return page


def until_target(page: Any) -> None:
    page.locator(".target").wait_for()


def until_gone(page: Any) -> None:
    page.locator(".target").wait_for(state="detached")


@pytest.mark.slow
def test_keys_of_the_keyboard_are_timed_by_both_clocks(
    browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    design = open_letters(
        tmp_path,
        repetitions=2,
        keys=("f", "j"),
        practice=PracticeTrials(trials=2),
        record=("focus",),
    )
    page = begin(browser, serve())
    for _ in range(2):  # practice, after which people are told
        until_target(page)
        page.keyboard.press("f" if page.evaluate(RIGHT) == 0 else "j")
        page.get_by_text("That is right.").wait_for()
    page.get_by_role("button", name="Go on").wait_for()
    page.wait_for_timeout(300)  # a click at once might belong to the step before
    page.get_by_role("button", name="Go on").click()
    wanted = []
    for number in range(8):
        until_target(page)
        page.keyboard.press("x")  # is no key of the task
        page.wait_for_timeout(300)
        place = page.evaluate(RIGHT)
        wanted.append(number != 3)
        page.keyboard.press("fj"[place if number != 3 else 1 - place])
        if number < 7:
            until_gone(page)
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    check_answers(answers, design, DOMAIN)
    assert answers.status == "completed"
    assert [outcome < N_BINS for outcome in answers.response] == wanted
    assert all(300 <= time < 2500 for time in answers.response_time_ms)
    assert all(interval is not None for interval in answers.interval_ms)
    differences = [
        interval - time
        for interval, time in zip(answers.interval_ms, answers.response_time_ms, strict=True)
    ]
    # on a busy machine messages wait, some of them long
    assert abs(sorted(differences)[4]) < 250
    assert list(answers.onset_ms) == sorted(answers.onset_ms)
    assert answers.focus_losses == (0,) * 8


@pytest.mark.slow
def test_the_colour_of_most_dots_is_named_by_its_key(
    browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    """A participant who counts the dots, and takes the other key once."""
    domain = DOMAINS["perception"]
    design = open_letters(
        tmp_path, space={"strengths": [0.5, 1.0]}, repetitions=2, domain=domain, keys=("f", "j"), timeout_ms=5000.0
    )  # fmt: skip
    n_trials = 2 * len(design.stimuli)
    page = begin(browser, serve())
    for number in range(n_trials):
        until_target(page)
        n_orange = page.locator('.target circle[fill="#e07b00"]').count()
        assert n_orange in (30, 40, 60, 70)
        page.wait_for_timeout(300)
        page.keyboard.press("fj"[(n_orange > 50) ^ (number == 1)])
        if number < n_trials - 1:
            until_gone(page)
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    check_answers(answers, design, domain)
    assert answers.status == "completed"
    is_right = [domain.options[place].startswith("right") for place in answers.response]
    assert is_right == [number != 1 for number in range(n_trials)]
    assert all(300 <= time < 5000 for time in answers.response_time_ms)


@pytest.mark.slow
def test_early_presses_are_noted_and_a_trial_without_an_answer_goes_on(
    browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    open_letters(tmp_path, repetitions=1, keys=("f", "j"), timeout_ms=3000.0)
    browser.add_init_script("""let n = 0, last = null;
        new MutationObserver(() => {
            const target = document.querySelector('.target');
            if (!target || target === last) return;
            [last, n] = [target, n + 1];
            if (n > 1) dispatchEvent(new KeyboardEvent('keydown', { key: 'f' }));
        }).observe(document, { childList: true, subtree: true })""")
    page = begin(browser, serve())
    page.keyboard.press("f")  # before there is a target: nothing
    until_target(page)
    page.get_by_text("Too late").wait_for()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert [item.reason for item in answers.left_out] == ["no_answer", *["too_early"] * 3]
    assert answers.trial == ()
    assert len(answers.missed) == 4


@pytest.mark.slow
def test_fingers_find_the_same_large_buttons_all_the_time(
    chrome: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    open_letters(tmp_path, repetitions=2, timed=_timed(feedback="all"))
    phone = chrome.new_context(
        viewport={"width": 390, "height": 760},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
        locale="de-DE",
    )
    phone.set_default_timeout(WAIT_MS)
    page = phone.new_page()
    page.goto(f"{serve()}/study/")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Beginnen").click()
    page.get_by_role("button", name="Weiter zu einigen Fragen").click()
    for item in page.get_by_role("group").all():
        item.get_by_role("radio").nth(0).check()
    page.get_by_role("button", name="Antworten prüfen").click()
    places = []
    for _ in range(8):
        until_target(page)
        boxes = [item.bounding_box() for item in page.locator(".options.timed button").all()]
        places.append(tuple(tuple(box.values()) for box in boxes))
        page.wait_for_timeout(250)
        page.locator(".options.timed button").nth(page.evaluate(RIGHT)).tap()
        page.get_by_text("Das ist richtig.").wait_for()
    page.locator(".code").wait_for()
    assert len(set(places)) == 1
    (first, second) = places[0]
    assert min(first[3], second[3]) >= 88  # CSS pixels high: two thumbs
    assert second[1] + second[3] <= 760
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.close()
    (answers,) = in_inbox(tmp_path)
    assert {outcome < N_BINS for outcome in answers.response} == {True}


@pytest.mark.slow
def test_a_reload_in_the_middle_goes_on_and_nothing_is_answered_twice(
    browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    open_letters(tmp_path, repetitions=1, keys=("f", "j"))
    page = begin(browser, serve())
    for number in range(4):
        until_target(page)
        if number == 2:
            page.reload()
            until_target(page)
        page.wait_for_timeout(300)
        page.keyboard.press("f")
        if number < 3:
            until_gone(page)
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert len(answers.trial) == 4
    assert answers.key == (0,) * 4
