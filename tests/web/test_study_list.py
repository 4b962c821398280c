"""Lists that participants study before the trials: plans, roles of items, records, and a participant in a browser."""

from __future__ import annotations

import base64
import io
import re
import wave
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from taking_part import KEY, in_inbox, open_experiment

from lakatos.domains import DOMAINS
from lakatos.domains.recognition.task import recognition_trials
from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.web.session import NotAskedError, StepTimes
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import PageExperiment, plan_of
from lakatos.experiments.participants.web.study_list import StudyList, meaning_of, with_files
from lakatos.experiments.participants.web.texts import texts_for_domain
from lakatos.experiments.task import Design
from lakatos.flows.errors import StudyError
from lakatos.flows.run.study import load_study
from lakatos.traces.digest import digest_of
from lakatos.traces.inbox import Inbox

DOMAIN = DOMAINS["recognition"]
WORDS = tuple(f"word{number}" for number in range(20))
STUDIES = Path(__file__).resolve().parents[2] / "studies"
WAIT_MS = 30_000
FRAME_MS = 1000 / 60
"""Of a screen; what is shown begins and ends with one."""


def experiment(
    old: list[int], strength: list[float], *, repetitions: int = 4, **study: Any
) -> PageExperiment:
    """An experiment whose trials test items of a list."""
    share = float(np.mean(old))
    stimuli = recognition_trials(old, strength, old_share=share)
    design = Design(name="1.1", stimuli=stimuli, repetitions=repetitions, n_participants=8)
    page = PageSettings(checks=1, study=StudyList(**{"items": WORDS, **study}))
    return PageExperiment.of(KEY, DOMAIN, design, 7, page, texts_for_domain(DOMAIN))


def lists(made: PageExperiment, place: int) -> tuple[list[str], dict[str, int]]:
    """Items as they are studied, and the row of the trial that tests each."""
    steps = plan_of(made, place)
    studied = [step.item for step in steps if step.kind == "study"]
    return studied, {step.item: step.row for step in steps if step.kind == "trial"}


def test_items_are_studied_as_often_as_their_strength_says_and_each_is_tested_once():
    made = experiment([0, 1, 1], [1.0, 0.5, 1.0], presentations=4)
    for place in range(4):
        studied, tested = lists(made, place)
        assert len(tested) == 12
        wanted = {item: (0, 2, 4)[row] for item, row in tested.items()}
        assert {item: studied.count(item) for item in tested} == wanted
        assert set(studied) <= set(tested)
        # each round shows every item before one is shown again
        assert len(set(studied[:8])) == 8


def test_the_study_comes_first_then_a_break_then_the_trials():
    kinds = [step.kind for step in plan_of(experiment([0, 1], [1.0, 1.0]), 0)]
    assert kinds[:5] == ["study"] * 4 + ["retention"]
    assert sorted(kinds[5:]) == ["check"] + ["trial"] * 8


def test_in_pairs_of_participants_old_items_of_one_are_new_for_the_other():
    made = experiment([0, 1], [1.0, 1.0])
    for place in (0, 2, 4):
        (first, tested), (second, others) = (lists(made, place + more) for more in (0, 1))
        assert set(tested) == set(others)
        assert set(first) == set(others) - set(second)
    used = [frozenset(lists(made, place)[0]) for place in range(8)]
    assert len(set(used)) == 8


def test_lists_depend_on_the_recruitment_the_seed_and_the_place_alone():
    made = experiment([0, 1], [1.0, 1.0])
    again = PageExperiment.from_json(made.to_json())
    assert plan_of(made, 3) == plan_of(again, 3)
    assert lists(replace(made, seed=8), 3) != lists(made, 3)
    assert lists(replace(made, key=digest_of("another recruitment")), 3) != lists(made, 3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"items": WORDS[:7]}, "there are 7 items for 8 trials"),
        ({"old": [0, 0]}, "all items of the trials are new"),
        ({"strength": [1.0, 0.5]}, r"strength 0\.5 would be studied 0\.5 times"),
    ],
)
def test_designs_that_no_list_can_present_are_refused(change, words):
    with pytest.raises(SourceError, match=words):
        experiment(**{"old": [0, 1], "strength": [1.0, 1.0], **change})


@pytest.mark.parametrize(
    ("trials", "words"),
    [
        (recognition_trials([0, 1], lure=[1, 0]), "leave out lures"),
        (recognition_trials([0, 1], [0.5, 1.0]), "new items of a list have the strength 1"),
        (
            recognition_trials([0, 1], old_share=0.3),
            r"50% .* know of 30%: give old_shares = \[0.5\]",
        ),
    ],
)
def test_trials_that_contradict_a_list_are_refused(trials, words):
    design = Design(name="1.1", stimuli=trials, repetitions=2, n_participants=2)
    page = PageSettings(study=StudyList(items=WORDS, presentations=2))
    with pytest.raises(SourceError, match=words):
        PageExperiment.of(KEY, DOMAIN, design, 7, page, texts_for_domain(DOMAIN))


def test_lists_are_refused_for_other_tasks_with_practice_and_for_returning_participants():
    study = StudyList(items=WORDS, break_s=5)
    for given, domain, words in (
        ({}, "risky", "the risky domain has no items to be studied"),
        ({"practice": {"trials": 2}}, "recognition", "page.practice"),
        ({"returning": "admit"}, "recognition", "page.returning"),
        ({"idle_minutes": 0.01}, "recognition", "page.idle_minutes"),
    ):
        page = PageSettings.from_json({"study": study.model_dump(), **given})
        with pytest.raises(ValueError, match=words):
            page.check_for(DOMAINS[domain], 2)
    with pytest.raises(ValueError, match="'a' occurs twice"):
        StudyList(items=("a", "b", "a"))


def test_files_are_read_with_the_study_and_shown_as_images_or_played(tmp_path):
    (tmp_path / "cat.png").write_bytes(b"picture")
    (tmp_path / "bell.wav").write_bytes(b"sound")
    found = StudyList(**with_files({"items": ["cat.png", "bell.wav", "dog"]}, tmp_path))
    assert base64.b64encode(b"picture").decode() in found.html("cat.png")
    (medium,) = found.media.values()
    assert (medium.name, medium.data) == ("bell.wav", b"sound")
    assert medium.digest in found.html("bell.wav")
    assert found.html("dog") == '<p class="item">dog</p>'
    with pytest.raises(ValueError, match=r"there is no file owl\.png beside the study"):
        with_files({"items": ["owl.png"]}, tmp_path)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (("word", "Word"), "'word', as 'Word', occurs twice"),
        (("a b", " a  b"), "'a b', as ' a  b', occurs twice"),
        (("a", " "), "an item is empty"),
        (("a", "x" * 201), "has 201 characters; give items of at most 200"),
    ],
)
def test_items_that_participants_could_not_tell_apart_or_read_are_refused(items, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        StudyList(items=items)


def test_a_study_with_fewer_items_than_trials_is_refused_when_it_is_read(tmp_path):
    text = (STUDIES / "recognition-page.toml").read_text(encoding="utf-8")
    (tmp_path / "short.toml").write_text(text.replace('"anchor", ', ""), encoding="utf-8")
    load_study(tmp_path / "short.toml")  # 69 items for 60 trials
    (tmp_path / "long.toml").write_text(
        text.replace("repetitions = 20", "repetitions = 24"), encoding="utf-8"
    )
    with pytest.raises(StudyError, match="70 items, and a participant sees 72"):
        load_study(tmp_path / "long.toml")


def test_files_outside_of_the_folder_of_the_study_are_refused(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "own.png").write_bytes(b"png")
    (tmp_path / "study" / "link.png").symlink_to(tmp_path / "own.png")
    for item in ("../own.png", str(tmp_path / "own.png"), "link.png"):
        with pytest.raises(ValueError, match="outside of the study's folder"):
            with_files({"items": [item]}, tmp_path / "study")


def test_the_study_of_the_package_fits_its_list():
    study = load_study(STUDIES / "recognition-page.toml")
    stimuli = DOMAIN.space(study.space)
    design = Design("1.1", stimuli, study.design.repetitions, 20)
    page = PageSettings.of_study(study.page.model_dump())
    made = PageExperiment.of(KEY, DOMAIN, design, 1, page, texts_for_domain(DOMAIN))
    studied, tested = lists(made, 0)
    assert (len(studied), len(tested)) == (60, 60)
    assert 5 <= made.minutes <= 20


def joined(store: SessionStore, token: str = "browser") -> Any:
    """A person who is about to study."""
    session = store.join(token, consent=digest_of("text"), language="en")
    return store.comprehension(session, 0, True)


def test_an_item_that_is_shown_again_after_a_reload_is_recorded_so(tmp_path, store):
    open_experiment(
        tmp_path, "recognition", n_trials=2, repetitions=2, checks=0,
        space={"strengths": [1.0]}, study=StudyList(items=WORDS),
    )  # fmt: skip
    session = joined(store)
    steps = plan_of(session.experiment, session.place)
    assert store.report_onset(session, 0)
    assert not store.report_onset(session, 0)  # the page was reloaded before the item was gone
    store.answer(session, 0, 0, 1500.0, StepTimes(onset_ms=900.0))
    assert store.session("browser").position == 1
    saved, *_ = store.answer(session, 0, 0, 1.0, StepTimes(onset_ms=1.0))
    assert not saved  # the first record of an item stands
    with pytest.raises(NotAskedError):
        store.answer(session, 2, 0, 1.0)
    for position in range(1, len(steps)):
        if steps[position].kind == "study":
            store.report_onset(session, position)
        response = 3 if steps[position].kind == "trial" else 0
        store.answer(session, position, response, 1000.0, StepTimes(onset_ms=1000.0 * position))
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert answers.status == "completed"
    found = dict(
        zip(answers.recorded["item"], zip(*answers.recorded.values(), strict=True), strict=True)
    )
    names = list(answers.recorded)
    first = dict(zip(names, found[steps[0].item], strict=True))
    assert (first["study_1_begun"], first["study_1_onset_ms"], first["study_1_ms"]) == (
        2.0,
        900.0,
        1500.0,
    )
    second = dict(zip(names, found[steps[1].item], strict=True))
    assert (second["study_1_begun"], second["studied"]) == (1.0, 1.0)
    assert all(meaning_of(name) for name in names)
    assert meaning_of("study_2_begun").startswith("how often presentation 2")
    old = [answers.recorded["studied"][at] for at, row in enumerate(answers.trial)]
    is_old = [session.experiment.design.stimuli["old"][row] for row in answers.trial]
    assert [bool(own) for own in old] == [bool(own) for own in is_old]


# A participant in a browser ----------------------------------------------------------------------


def tone(seconds: float) -> bytes:
    """A silent sound."""
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(b"\x80" * int(8000 * seconds))
    return made.getvalue()


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
    """A page with the first item of the list."""
    page = browser.new_page()
    page.goto(f"{url}/study/")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Continue to some questions").click()
    for item in texts_for_domain(DOMAIN)["en"]["domains"]["recognition"]["list"]["questions"]:
        page.get_by_role("group", name=item["text"]).get_by_role("radio").nth(item["right"]).check()
    page.get_by_role("button", name="Check my answers").click()
    return page


def item_on(page: Any) -> str:
    """The item that is shown, or what is chosen or read instead."""
    page.locator(".screen .item, .screen .medium, h1:has-text('whole list')").first.wait_for()
    if page.locator("h1:has-text('whole list')").count():
        return ""
    return str(page.locator(".screen").inner_text()).strip()


def until_gone(page: Any, item: str) -> None:
    """Wait until an item is not shown any more."""
    page.wait_for_function(
        "item => document.querySelector('.screen')?.innerText.trim() !== item", arg=item
    )


def study(page: Any) -> list[str]:
    """The items as they come, until the list is over."""
    seen = []
    while item := item_on(page):
        seen.append(item)
        until_gone(page, item)
    return seen


def answer_from_memory(page: Any, remembered: set[str]) -> list[tuple[str, bool]]:
    """Judge all items; returns each with whether it was called old."""
    judged = []
    while True:
        page.locator(".options button:not(.chosen):not([disabled]), .code").first.wait_for()
        if page.locator(".code").count():
            return judged
        number = page.locator("h1.trial").inner_text()
        item = page.locator(".picture").inner_text().strip()
        is_old = item in remembered
        page.wait_for_timeout(230)
        page.get_by_role("button", name="Old: 3" if is_old else "New: 3").click()
        judged.append((item, is_old))
        page.wait_for_function(
            "number => document.querySelector('.code')"
            " || document.querySelector('h1.trial')?.textContent !== number",
            arg=number,
        )


@pytest.mark.slow
def test_a_participant_studies_a_list_reloads_and_is_tested(
    browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    design = open_experiment(
        tmp_path, "recognition", n_trials=2, repetitions=3, checks=0,
        space={"strengths": [1.0]},
        study=StudyList(items=WORDS, presentations=2, shown_ms=600, gap_ms=300, break_s=1),
    )  # fmt: skip
    page = begin(browser, serve())
    first = item_on(page)
    page.reload()  # while the first item is shown
    assert item_on(page) == first
    seen = study(page)
    assert len(seen) == 6
    assert len(set(seen)) == 3
    go_on = page.get_by_role("button", name="Go on")
    assert go_on.is_disabled()
    page.wait_for_function("() => !document.querySelector('main button').disabled")
    go_on.click()
    judged = answer_from_memory(page, set(seen))
    assert len(judged) == 6
    assert {item for item, is_old in judged if is_old} == set(seen)

    (answers,) = in_inbox(tmp_path)
    rows = list(answers.trial)
    is_old = design.stimuli["old"][rows] == 1
    recorded = answers.recorded
    assert [item for item, _ in judged] == list(recorded["item"])
    assert [own for _, own in judged] == is_old.tolist()
    begun = [own for own in recorded["study_1_begun"] if own is not None]
    assert sorted(begun) == [1, 1, 2]
    assert recorded["study_1_begun"][recorded["item"].index(first)] == 2
    for name in ("study_1_ms", "study_2_ms"):
        shown = [own for own in recorded[name] if own is not None]
        assert len(shown) == 3
        assert all(600 - FRAME_MS < own < 900 for own in shown), shown
    onsets = [
        (recorded[f"study_{number}_onset_ms"][recorded["item"].index(item)])
        for number, items in ((1, seen[:3]), (2, seen[3:]))
        for item in items
    ]
    assert (np.diff(onsets) > 900 - FRAME_MS).all()


@pytest.mark.slow
def test_sounds_and_images_are_studied_and_tested(
    browser: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    dot = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    for number in range(2):
        (tmp_path / f"tone{number}.wav").write_bytes(tone(0.4 + number / 10))
        (tmp_path / f"dot{number}.png").write_bytes(dot)
    listed = {"items": ["tone0.wav", "tone1.wav", "dot0.png", "dot1.png"], "shown_ms": 200}
    open_experiment(
        tmp_path, "recognition", n_trials=2, repetitions=2, checks=0, space={"strengths": [1.0]},
        study=StudyList(**with_files(listed, tmp_path)),
    )  # fmt: skip
    page = begin(browser, serve())
    page.get_by_role("button", name="Go on").wait_for()
    page.wait_for_timeout(230)
    page.get_by_role("button", name="Go on").click()
    for number in range(1, 5):
        page.get_by_role("heading", name=f"Decision {number}").wait_for()
        page.wait_for_function(
            "() => [...document.querySelectorAll('.options button')].some(own => !own.disabled)"
        )
        page.wait_for_timeout(700)
        page.get_by_role("button", name="Old: 1").click()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    by_item = dict(zip(answers.recorded["item"], answers.recorded["study_1_ms"], strict=True))
    assert set(by_item) == set(listed["items"])
    for item, shown in by_item.items():
        least = 400 if item.startswith("tone") else 200
        assert shown is None or least <= shown < least + 1500
    assert sum(shown is not None for shown in by_item.values()) == 2
