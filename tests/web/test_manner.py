"""How trials are given: practice, breaks, time limits, keys, conditions, and what is noted of a visit."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from taking_part import KEY, asked, in_inbox, open_experiment
from test_app import Browser
from test_browser import (  # noqa: F401 (the browser is a fixture)
    WAIT_MS,
    browser,
    consent,
    shown,
    understand,
)
from test_store import begin as begin_session

from lakatos.domains import DOMAINS
from lakatos.experiments.errors import SourceError, TrialsError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.table import check_answers
from lakatos.experiments.participants.web.app import create_app
from lakatos.experiments.participants.web.manner import PageCondition, PracticeTrials
from lakatos.experiments.participants.web.session import NotAskedError, StepTimes
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.experiments.participants.web.texts import consent_lines, packaged, texts_for
from lakatos.experiments.participants.web.view import public_texts, state_of, steps_of
from lakatos.experiments.participants.web.visit import visit_facts
from lakatos.experiments.task import identities
from lakatos.flows.run.page_settings import LATER_PAGE_KEYS, PageConfig
from lakatos.traces.inbox import Inbox

PHONE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0 Mobile Safari/537.36"
CONDITIONS = {
    "calm": PageCondition(instructions=("Take your time.",)),
    "pressed": PageCondition(instructions=("Be quick.",), timeout_ms=2000.0),
}


def kinds(session: Any) -> list[str]:
    return [step.kind for step in plan_of(session.experiment, session.place)]


def go_through(store: Any, session: Any, response: int = 0) -> Any:
    for position, step in enumerate(plan_of(session.experiment, session.place)):
        option = 0 if step.kind == "break" else response
        _, _, session = store.answer(session, position, option, 900.0)
    return session


def delivered(store: Any, folder: Path) -> list[PersonAnswers]:
    store.deliver(Inbox(folder / "inbox.sqlite"))
    return in_inbox(folder)


def test_practice_comes_first_is_not_asked_again_and_does_not_count(store, tmp_path):
    design = open_experiment(tmp_path, n_trials=4, practice=PracticeTrials(trials=3))
    session = begin_session(store)
    assert kinds(session)[:4] == ["practice"] * 3 + ["break"]
    task = DOMAINS["risky"]
    practised = session.experiment.practice
    assert not set(identities(task, practised)) & set(identities(task, design.stimuli))
    assert [step["number"] for step in steps_of(session)] == [1, 2, 3, 0, 1]
    session = go_through(store, session)
    (answers,) = delivered(store, tmp_path)
    assert (session.status, sorted(answers.trial)) == ("completed", [0, 1, 2, 3])


def test_what_people_are_asked_stays_the_same_beside_practice_and_breaks(store, tmp_path):
    open_experiment(tmp_path, n_trials=6, checks=2)
    plain = plan_of(store.find("1.1"), 3)
    open_experiment(
        tmp_path / "b", n_trials=6, checks=2, break_every=2, practice=PracticeTrials(trials=2)
    )
    rested = plan_of(type(store)(tmp_path / "b").find("1.1"), 3)
    assert [step for step in rested if step.kind in ("trial", "check")] == list(plain)
    assert [step.row for step in rested if step.kind == "break"] == [0, 2, 4]


def test_practice_in_a_game_has_a_sequel_and_the_game_begins_anew(store, tmp_path):
    open_experiment(
        tmp_path,
        "learning",
        space={"task": "two_step", "n_steps": 8},
        n_trials=1,
        practice=PracticeTrials(trials=3),
        break_every=1,
    )
    session = begin_session(store)
    assert kinds(session)[:5] == ["practice"] * 4 + ["break"]  # three end within a trial
    for position in range(4):
        _, feedback, session = store.answer(session, position, 0, 900.0)
        assert set(feedback) == {"reward", "next_state"}
        assert session.feedback == feedback
    session = store.answer(session, 4, 0, 900.0)[2]
    assert session.feedback == {}
    between = [place for place, step in enumerate(plan_of(session.experiment, 0))
               if step.kind == "break" and step.row % 2]  # fmt: skip
    assert between == []


def test_practice_says_whether_an_answer_was_right(store, tmp_path):
    own = open_experiment(tmp_path / "elsewhere", n_trials=2).stimuli.to_json()
    open_experiment(tmp_path, practice=PracticeTrials(own=own, right=(1, 0)))
    client = asked(create_app(tmp_path))
    page = Browser(client)
    page.begin()
    assert page.answer(0, 1).json()["feedback"] == "That is right."
    assert "the right answer is Option A" in page.answer(1, 1).json()["feedback"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"practice": {"trials": 2, "own": {"x": [1]}}}, "a number of trials, or"),
        ({"practice": {"own": {"x": [1, 2]}, "right": [0]}}, "for each of your own"),
        ({"practice": {"trials": 1000}}, "less than or equal to 100"),
        ({"timeout_ms": 100}, "at least 500"),
        ({"keys": ["f", "F"]}, "two options have one key"),
        ({"keys": ["ff"]}, "is no key"),
        ({"conditions": {"one": {}}}, "give 2 to 20"),
        ({"conditions": {"One": {}, "two": {}}}, "is no name"),
        ({"conditions": {"a": {"texts": {"en": {"consent": {}}}}, "b": {}}}, "same for all"),
        ({"conditions": {"a": {"instructions": {"de": ["x"]}}, "b": {}}}, "no instructions in 'en'"),
        ({"record": ["address"]}, "Input should be"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_when_the_study_is_read(settings, words):
    with pytest.raises(ValidationError, match=words):
        PageConfig.model_validate(settings)


@pytest.mark.parametrize(
    ("domain", "settings", "words"),
    [
        ("learning", {"timeout_ms": 900.0}, "has no sequel"),
        ("risky", {"keys": ("f", "j", "k")}, "3 keys for 2 options"),
        ("risky", {"slider": True}, "are no numbers"),
        ("risky", {"practice": PracticeTrials(own={"x": [1]})}, "page.practice.own"),
        (
            "risky",
            {"conditions": {"a": PageCondition(texts={"en": {"nix": {}}}), "b": PageCondition()}},
            "page.conditions.a.*unknown key 'nix'",
        ),
    ],
)
def test_what_does_not_fit_the_task_is_refused_before_anybody_is_asked(
    domain, settings, words, tmp_path
):
    with pytest.raises(SourceError, match=words):
        open_experiment(tmp_path, domain, **settings)


def test_settings_survive_the_store_and_old_ones_are_read():
    own = {"conditions": CONDITIONS, "practice": PracticeTrials(trials=2), "keys": ("f", "j")}
    settings = PageSettings(**own, record=("focus",), timeout_ms=900.0, break_every=5)
    assert PageSettings.from_json(settings.to_json()) == settings
    assert PageSettings.from_json({"language": "de"}).practice == PracticeTrials()


def test_keys_that_say_nothing_are_not_in_a_study_s_identity():
    later = set(LATER_PAGE_KEYS)
    assert set(PageConfig.model_fields) >= later
    assert not later & set(PageConfig().model_dump())
    assert later & set(PageConfig(timeout_ms=900).model_dump()) == {"timeout_ms"}


def test_a_decision_that_was_not_made_in_time_is_missed_and_never_a_choice(store, tmp_path):
    design = open_experiment(tmp_path, n_trials=3, checks=0, timeout_ms=1000.0)
    session = begin_session(store)
    with pytest.raises(NotAskedError, match="needs an answer"):
        store.answer(session, 0, None, 400.0)  # not yet
    session = store.answer(session, 0, None, 1000.0)[2]
    session = store.answer(session, 1, 1, 1500.0)[2]  # later than allowed
    session = store.answer(session, 2, 1, 700.0)[2]
    (answers,) = delivered(store, tmp_path)
    steps = plan_of(session.experiment, session.place)
    assert answers.missed == (steps[0].row, steps[1].row)
    assert (answers.trial, answers.response) == ((steps[2].row,), (1,))
    assert answers.status == "completed"
    check_answers(answers, design, DOMAINS["risky"])
    assert PersonAnswers.from_json(answers.to_json()) == answers


def test_nobody_misses_what_was_not_asked(store, tmp_path):
    design = open_experiment(tmp_path, n_trials=3, checks=0)
    session = begin_session(store)
    with pytest.raises(NotAskedError, match="needs an answer"):
        store.answer(session, 0, None, 5000.0)  # time is not limited
    go_through(store, session)
    (answers,) = delivered(store, tmp_path)
    answers = PersonAnswers.from_json(answers.to_json() | {"missed": [0]})
    with pytest.raises(TrialsError, match="missed trial 0, which was not presented"):
        check_answers(answers, design, DOMAINS["risky"])


def test_a_missed_attention_check_is_a_failed_one(store, tmp_path):
    open_experiment(tmp_path, n_trials=2, checks=1, timeout_ms=1000.0)
    session = begin_session(store)
    for position in range(3):
        session = store.answer(session, position, None, 1000.0)[2]
    (answers,) = delivered(store, tmp_path)
    assert (answers.checks, answers.trial, len(answers.missed)) == ((False,), (), 2)


def test_onsets_are_noted_always_and_where_people_looked_only_if_the_study_says_so(store, tmp_path):
    open_experiment(tmp_path, n_trials=2, checks=0)
    open_experiment(tmp_path / "b", n_trials=2, checks=0, record=("focus",))
    for folder, noted in ((tmp_path, ()), (tmp_path / "b", (2, 2))):
        other = type(store)(folder)
        session = begin_session(other)
        for position in range(2):
            times = StepTimes(1500.0 * position, 2, 300.0)
            session = other.answer(session, position, 0, 900.0, times)[2]
        (answers,) = delivered(other, folder)
        assert answers.onset_ms == (0.0, 1500.0)
        assert answers.focus_losses == noted
        assert PersonAnswers.from_json(answers.to_json()) == answers


def test_conditions_fill_evenly_also_when_people_leave_and_stay_with_the_person(store, tmp_path):
    open_experiment(tmp_path, n_participants=40, checks=0, conditions=CONDITIONS, returning="admit")
    sessions = [begin_session(store, f"person {number}") for number in range(12)]
    assert Counter(item.condition for item in sessions) == {"calm": 6, "pressed": 6}
    for item in [item for item in sessions if item.condition == "calm"][:4]:
        store.stop(item, keep=True)
    later = [begin_session(store, f"later {number}") for number in range(4)]
    assert [item.condition for item in later] == ["calm"] * 4
    store.close(KEY)
    open_experiment(
        tmp_path, name="2.1", key="2" * 64, n_participants=40, conditions=CONDITIONS,
        returning="admit",
    )  # fmt: skip
    for item in sessions[:6]:
        store.forget_token(f"person {sessions.index(item)}")
        again = begin_session(store, f"person {sessions.index(item)}")
        assert (again.experiment.name, again.condition) == ("2.1", item.condition)


def test_shares_divide_people_unevenly(store, tmp_path):
    shares = {"most": PageCondition(share=3), "few": PageCondition()}
    open_experiment(tmp_path, n_participants=40, conditions=shares)
    found = Counter(begin_session(store, f"p{number}").condition for number in range(40))
    assert found == {"most": 30, "few": 10}


def test_a_condition_decides_what_is_read_and_how_long_people_have(store, tmp_path):
    open_experiment(tmp_path, n_participants=9, checks=0, conditions=CONDITIONS)
    two = [begin_session(store, name) for name in ("anna", "ben")]
    pressed = next(item for item in two if item.condition == "pressed")
    calm = next(item for item in two if item.condition == "calm")
    read = public_texts(pressed.experiment, "en", "pressed")
    assert "Be quick." in read["instructions"]["paragraphs"]
    assert read["flow"]["timeout_ms"] == 2000
    assert public_texts(calm.experiment, "en", "calm")["flow"]["timeout_ms"] == 0
    assert "pressed" not in str(state_of(pressed))  # nobody is told the name
    assert store.answer(pressed, 0, None, 2000.0)[0]
    with pytest.raises(NotAskedError):
        store.answer(calm, 0, None, 2000.0)
    store.stop(pressed, keep=True)
    (answers,) = delivered(store, tmp_path)
    assert answers.condition == "pressed"


def test_people_read_what_is_noted_of_their_visit(tmp_path):
    lines = consent_lines(
        packaged()["en"], contact="", minutes=5, n_trials=9, recorded=("focus", "device")
    )
    plain = consent_lines(packaged()["en"], contact="", minutes=5, n_trials=9)
    assert [line for line in lines if line not in plain] == [
        packaged()["en"]["recorded"]["focus"], packaged()["en"]["recorded"]["device"],
    ]  # fmt: skip


def test_a_language_of_a_study_s_own_may_lack_what_came_later():
    own = {
        name: part for name, part in packaged()["de"].items() if name not in ("flow", "recorded")
    }
    assert texts_for("risky", {"fr": own})["fr"]["flow"] == packaged()["en"]["flow"]


@pytest.mark.parametrize(
    ("agent", "told", "device"),
    [
        (PHONE, {}, "phone"),
        ("Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) Version/17.4 Mobile Safari", {}, "tablet"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605", {"touch": True}, "tablet"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Firefox/128.0", {}, "computer"),
        ("", {}, "computer"),
    ],
)
def test_a_device_is_told_in_a_word(agent, told, device):
    told = {"width": 390, "height": 844, "touch": False, "hour": 9} | told
    found = visit_facts(agent, told, ["device", "hour"])
    assert (found["device"], found["window"], found["hour"]) == (device, "390x844", 9)
    assert visit_facts(agent, told, ["focus"]) == {}


def test_a_visit_is_noted_only_where_the_study_says_so(tmp_path, clock):
    facts = {"browser": {"width": 390, "height": 844, "touch": True, "hour": 14}}
    for folder, record in ((tmp_path / "a", ()), (tmp_path / "b", ("device", "hour"))):
        open_experiment(folder, n_trials=1, checks=0, record=record)
        app = create_app(folder)
        page = Browser(asked(app))
        page.client.headers["User-Agent"] = PHONE
        page.begin(**facts)
        page.answer(0, 0)
        (answers,) = in_inbox(folder)
        assert answers.visit == ({} if not record else {
            "browser": "Chrome", "device": "phone", "hour": 14, "system": "Android", "window": "390x844",
        })  # fmt: skip


def test_what_a_browser_says_of_times_is_bounded(tmp_path):
    open_experiment(tmp_path, n_trials=1, checks=0, record=("focus",))
    page = Browser(asked(create_app(tmp_path)))
    page.begin()
    for wrong in ({"onset_ms": -1}, {"away_ms": 1e12}, {"focus_losses": "3"}, {"onset_ms": "x"}):
        body = {"position": 0, "response": 0, "response_time_ms": 900.0} | wrong
        assert page.post("answers", body).status_code == 422
    body = {"position": 0, "response": None, "response_time_ms": 900.0}
    assert page.post("answers", body).status_code == 409


def decide(page: Any, option: int = 0) -> None:
    """Make the decision that is shown, after the moment in which nothing counts."""
    page.locator(".options button:not([disabled])").first.wait_for()
    page.wait_for_timeout(230)
    page.locator(".options button").nth(option).click()


@pytest.mark.slow
def test_practice_breaks_time_limits_and_keys_in_a_browser(
    browser: Any,  # noqa: F811
    serve: Any,
    tmp_path: Path,
) -> None:
    own = open_experiment(tmp_path / "elsewhere", n_trials=2).stimuli.to_json()
    open_experiment(
        tmp_path,
        n_trials=4,
        checks=0,
        practice=PracticeTrials(own=own, right=(1, 1)),
        break_every=2,
        timeout_ms=1500.0,
        fixation_ms=300.0,
        keys=("f", "j"),
        record=("focus", "device", "hour"),
    )
    page = browser.new_page()
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(f"{serve()}/study/")
    page.locator("main", has_text="size of the window").wait_for()
    consent(page)
    assert "1.5 seconds for each decision" in page.locator("main").inner_text()
    page.screenshot(path=str(tmp_path / "1-instructions.png"), full_page=True)
    page.get_by_role("button", name="Continue to some questions").click()
    for item in texts_for("risky")["en"]["domains"]["risky"]["questions"]:
        page.get_by_role("group", name=item["text"]).get_by_role("radio").nth(item["right"]).check()
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_text("+", exact=True).wait_for()
    page.get_by_role("heading", name="Practice 1").wait_for()
    page.screenshot(path=str(tmp_path / "2-practice.png"), full_page=True)
    decide(page, 1)
    page.locator(".feedback", has_text="That is right.").wait_for()
    page.get_by_role("heading", name="Practice 2").wait_for()
    decide(page, 0)
    page.locator(".feedback", has_text="the right answer is Option B").wait_for()
    page.get_by_role("heading", name="That was the practice.").wait_for()
    page.screenshot(path=str(tmp_path / "3-over.png"), full_page=True)
    page.wait_for_timeout(230)
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("heading", name="Decision 1").wait_for()
    page.evaluate("dispatchEvent(new Event('blur'))")
    page.wait_for_timeout(300)
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.keyboard.press("1")  # no key of this study
    page.keyboard.press("j")
    page.get_by_role("heading", name="Decision 2").wait_for()
    page.locator(".feedback", has_text="Too late").wait_for()
    page.screenshot(path=str(tmp_path / "4-late.png"), full_page=True)
    page.get_by_role("heading", name="Time for a break").wait_for()
    page.wait_for_timeout(1700)  # no time limit here
    page.screenshot(path=str(tmp_path / "5-break.png"), full_page=True)
    page.reload()
    page.get_by_role("heading", name="Time for a break").wait_for()
    assert "2 of 4 decisions" in page.locator("main").inner_text()
    page.wait_for_timeout(230)
    page.get_by_role("button", name="Go on").click()
    for name in ("Decision 3", "Decision 4"):
        page.get_by_role("heading", name=name).wait_for()
        page.wait_for_timeout(230)
        page.keyboard.press("F")
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (1, 0, 0)
    assert (len(answers.missed), answers.status) == (1, "completed")
    assert answers.focus_losses == (1, 0, 0)
    assert 250 <= answers.away_ms[0] < 1500
    assert list(answers.onset_ms) == sorted(answers.onset_ms)
    gaps = [answers.onset_ms[place + 1] - answers.onset_ms[place] for place in range(2)]
    assert gaps[0] > 1500 + 1700  # the missed decision and the break lie between
    assert gaps[1] > 300
    assert all(200 <= time < 1500 for time in answers.response_time_ms)
    assert answers.visit["window"] == "390x780"


@pytest.mark.slow
def test_people_of_two_conditions_read_and_meet_different_things(
    chrome: Any, serve: Any, tmp_path: Path
) -> None:
    open_experiment(tmp_path, n_trials=2, checks=0, conditions=CONDITIONS)
    url, late = serve(), []
    for _ in range(2):
        context = chrome.new_context(locale="en-GB")
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        page.goto(f"{url}/study/")
        consent(page)
        words = page.locator("main").inner_text()
        assert ("Be quick." in words) != ("Take your time." in words)
        late.append("Be quick." in words)
        understand(page, "risky")
        if late[-1]:
            page.locator(".feedback", has_text="Too late").wait_for()
        while shown(page):
            decide(page)
        context.close()
    found = {answers.condition: len(answers.missed) for answers in in_inbox(tmp_path)}
    assert sorted(late) == [False, True]
    assert found["calm"] == 0
    assert found["pressed"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["estimation", "public_goods"])
def test_a_number_is_given_on_a_slider_by_touch_or_keys(
    domain: str,
    browser: Any,  # noqa: F811
    serve: Any,
    tmp_path: Path,
) -> None:
    design = open_experiment(tmp_path, domain, n_trials=2, checks=1, slider=True)
    page = browser.new_page()
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(f"{serve()}/study/")
    consent(page)
    page.get_by_role("button", name="Continue to some questions").click()
    for item in texts_for(domain)["en"]["domains"][domain]["questions"]:
        page.get_by_role("group", name=item["text"]).get_by_role("radio").nth(item["right"]).check()
    page.get_by_role("button", name="Check my answers").click()
    chosen = []
    for number in range(3):
        page.get_by_role("heading", name=f"Decision {number + 1}").wait_for()
        confirm = page.locator(".slider button")
        assert confirm.is_disabled()  # nothing is suggested
        page.wait_for_timeout(230)
        slider = page.get_by_role("slider")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if number:
            slider.press("End")
            slider.press("ArrowLeft")
        else:
            box = slider.bounding_box()
            page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        assert confirm.is_enabled()
        page.screenshot(path=str(tmp_path / f"slider-{number}.png"))
        chosen.append(confirm.inner_text())
        confirm.click()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    options = DOMAINS[domain].options
    free = design.stimuli.arrays.get("available")
    steps = plan_of(SessionStore(tmp_path).find("1.1"), 0)
    said = [words for words, step in zip(chosen, steps, strict=True) if step.kind == "trial"]
    for words, row, response in zip(said, answers.trial, answers.response, strict=True):
        assert words == f"Confirm {options[response]}"
        assert free is None or free[row][response]


def test_an_experiment_that_was_recruited_before_all_this_goes_on(store, tmp_path):
    open_experiment(tmp_path, n_trials=2, checks=0)
    old = store.find("1.1").to_json()
    for name in LATER_PAGE_KEYS:
        del old["settings"][name]
    for texts in old["texts"].values():
        del texts["flow"], texts["recorded"]
    store._connection.execute("UPDATE experiment SET content = ?", (json.dumps(old),))
    later = type(store)(tmp_path)  # the server of a later version
    session = begin_session(later)
    assert public_texts(session.experiment, "de")["flow"]["timeout_ms"] == 0
    assert go_through(later, session).status == "completed"
    (answers,) = delivered(later, tmp_path)
    assert not {"missed", "condition", "visit", "focus_losses"} & set(answers.to_json())


@pytest.mark.slow
def test_who_is_away_does_not_miss_the_whole_study(
    browser: Any,  # noqa: F811
    serve: Any,
    tmp_path: Path,
) -> None:
    open_experiment(tmp_path, n_trials=5, checks=0, timeout_ms=500.0)
    page = browser.new_page()
    page.goto(f"{serve()}/study/")
    consent(page)
    understand(page, "risky")
    page.get_by_role("heading", name="Are you still there?").wait_for()
    for _ in range(100):  # what was missed arrives a moment later
        (visit,) = SessionStore(tmp_path).visits()
        if visit.n_trials == 3:
            break
        page.wait_for_timeout(100)
    assert (visit.n_trials, visit.status) == (3, "active")
    page.get_by_role("button", name="Go on").click()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert len(answers.missed) == 5
