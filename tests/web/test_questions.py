"""Questions about the person: what they may be, when they are asked, and where the answers go."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from taking_part import asked, in_inbox, open_experiment
from test_browser import answer, begin, browser  # noqa: F401 (a fixture)
from test_store import begin as begin_session
from test_store import finish

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.web.app import create_app
from lakatos.experiments.participants.web.questions import PageQuestion, check_questions
from lakatos.experiments.participants.web.session import NotAskedError
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.texts import consent_digest
from lakatos.experiments.participants.web.view import consent_of
from lakatos.traces.inbox import Inbox

AGE = PageQuestion(
    name="age", kind="number", text="How old are you?", when="before", least=18, most=120
)
GENDER = PageQuestion(
    name="gender",
    kind="choice",
    text={"en": "What is your gender?", "de": "Was ist Ihr Geschlecht?"},
    answers={"en": ("woman", "man", "other"), "de": ("Frau", "Mann", "anderes")},
    optional=True,
)
CARE = PageQuestion(
    name="care", kind="scale", text="How careful were you?", answers=("not", "very")
)
TOOLS = PageQuestion(
    name="tools", kind="choices", text="What did you use?", answers=("paper", "head")
)
NOTE = PageQuestion(name="note", kind="text", text="Anything else?", optional=True)
ALL = (AGE, GENDER, CARE, TOOLS, NOTE)
AFTER = {"gender": 1, "care": 6, "tools": [1], "note": "=SUM(A1) <b>"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "choice"}, "at least two answers"),
        ({"kind": "scale", "answers": ("a",)}, "meaning of its ends"),
        ({"kind": "scale", "answers": ("a", "b"), "most": 100}, "by 2 to 21 points"),
        ({"kind": "text", "answers": ("a", "b")}, "no answers to choose from"),
        ({"kind": "text", "least": 3}, "only numbers and scales"),
        ({"least": 3, "most": 3}, "least must be below most"),
        ({"name": "Age of you"}, "should match pattern"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(changes, words):
    with pytest.raises(ValidationError, match=words):
        PageQuestion(**{"name": "age", "kind": "number", "text": "How old?", **changes})


def test_names_are_columns_of_their_own_and_the_first_language_is_there():
    with pytest.raises(ValueError, match="two questions are called 'age'"):
        check_questions([AGE, AGE], ["en"])
    with pytest.raises(ValueError, match="like a column of the export"):
        check_questions([NOTE.model_copy(update={"name": "status"})], ["en"])
    with pytest.raises(SourceError, match="not asked in 'fr'"):
        PageSettings(language="fr", questions=(GENDER,))


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (AGE, None), (AGE, 17), (AGE, 121), (AGE, "40"), (AGE, True), (AGE, float("nan")),
        (GENDER, 3), (GENDER, -1), (GENDER, 1.5), (CARE, 0), (CARE, 8), (CARE, 2.5),
        (TOOLS, [0, 0]), (TOOLS, [2]), (TOOLS, "01"), (NOTE, "x" * 2001), (NOTE, 3),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(question, value):
    with pytest.raises(ValueError, match=question.name):
        question.reply(value)


def test_settings_survive_the_store():
    settings = PageSettings(questions=ALL)
    assert PageSettings.from_json(settings.to_json()) == settings


def test_answers_to_questions_go_with_the_person_s_other_answers(store, tmp_path):
    open_experiment(tmp_path, questions=ALL)
    session = begin_session(store)
    assert session.block == "before"
    with pytest.raises(NotAskedError, match="not asked now"):
        store.answer(session, 0, 0, 900.0)
    with pytest.raises(NotAskedError, match="age needs an answer"):
        store.reply(session, "before", {})
    with pytest.raises(NotAskedError, match="care is not asked here"):
        store.reply(session, "before", {"age": 40, "care": 3})
    with pytest.raises(NotAskedError, match="after the task are not asked now"):
        store.reply(session, "after", AFTER)
    session = store.reply(session, "before", {"age": 40})
    assert store.reply(session, "before", {"age": 50}).block is None  # sent twice: the first stands
    session = finish(store, session)
    assert (session.status, session.block) == ("active", "after")
    assert store.deliver(Inbox(tmp_path / "inbox.sqlite")) == 0
    session = store.reply(session, "after", AFTER)
    assert session.status == "completed"
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert answers.replies == {"age": 40, **AFTER}
    assert PersonAnswers.from_json(answers.to_json()) == answers


def test_who_leaves_the_last_questions_unanswered_has_completed_the_task(store, clock, tmp_path):
    open_experiment(tmp_path, questions=(CARE,), idle_minutes=1.0)
    for name in ("anna", "ben", "eva"):
        session = finish(store, begin_session(store, name))
        if name == "ben":
            assert store.stop(session, keep=True).status == "completed"
        if name == "eva":
            assert store.stop(session, keep=False).status == "returned"
    clock[0] += 100.0
    assert store.expire() == 1
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    found = {answers.status: answers for answers in in_inbox(tmp_path)}
    assert sorted(found) == ["completed", "returned"]
    assert found["completed"].replies == {}


def test_replies_are_forgotten_with_the_person_or_when_taken_back(store, tmp_path):
    open_experiment(tmp_path, questions=ALL)
    session = store.reply(begin_session(store), "before", {"age": 40})
    store.stop(session, keep=False)
    assert store._replies(session.number) == {}
    other = store.reply(begin_session(store, "ben"), "before", {"age": 41})
    store.erase(other.person)
    assert store._replies(other.number) == {}


def test_batches_without_replies_are_as_they_were(store, tmp_path):
    open_experiment(tmp_path)
    finish(store, begin_session(store))
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert "replies" not in answers.to_json()


@pytest.mark.slow
def test_the_questions_are_answered_in_a_browser(browser: Any, serve: Any, tmp_path: Path) -> None:  # noqa: F811
    open_experiment(tmp_path, n_trials=2, checks=0, questions=(CARE, TOOLS, GENDER, NOTE))
    page = begin(browser, serve())
    for _ in range(2):
        answer(page)
    page.get_by_role("heading", name="A few questions about you").wait_for()
    page.get_by_role("button", name="Continue").click()
    assert "every question" in page.get_by_role("alert").inner_text()
    page.reload()
    page.get_by_role("group", name="How careful were you?").get_by_role("radio").nth(5).check()
    page.get_by_role("group", name="What did you use?").get_by_role("checkbox").nth(1).check()
    page.get_by_role("group", name="Anything else?").get_by_role("textbox").fill("<b>no</b>")
    page.screenshot(path=str(tmp_path / "questions.png"), full_page=True)
    page.get_by_role("button", name="Continue").click()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert answers.replies == {"care": 6, "tools": [1], "gender": None, "note": "<b>no</b>"}


ADULT = PageQuestion(
    name="adult", kind="tick", when="consent", text={"en": "I am an adult.", "de": "Ich bin volljährig."}
)  # fmt: skip
SHARE = PageQuestion(
    name="share", kind="tick", when="consent", text="My answers may be shared.", optional=True
)


@pytest.mark.parametrize(
    "changes", [{"when": "after"}, {"kind": "text"}, {"answers": ("a", "b")}, {"least": 1}]
)
def test_boxes_stand_on_the_consent_page_and_hold_nothing_else(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PageQuestion.model_validate({**SHARE.model_dump(), **changes})


def test_what_is_ticked_is_part_of_the_text_that_is_agreed_to(tmp_path: Path) -> None:
    open_experiment(tmp_path, questions=(ADULT, SHARE))
    page = asked(create_app(tmp_path))
    page.get("/study/")
    told = page.get("/study/api/texts").json()["consent"]
    assert [item["name"] for item in told["ticks"]] == ["adult", "share"]
    assert not set(told["paragraphs"]) & {item["text"] for item in told["ticks"]}
    experiment = SessionStore(tmp_path).current()
    assert experiment is not None
    assert consent_of(experiment, "de")[-3:-1] == ["Ich bin volljährig.", "My answers may be shared."]  # fmt: skip
    assert told["digest"] == consent_digest(consent_of(experiment, "en"))


@pytest.mark.parametrize(
    ("ticks", "kept"),
    [
        ({"adult": True, "share": True}, {"adult": 1, "share": 1}),
        ({"adult": True}, {"adult": 1, "share": 0}),
        ({"adult": False, "share": True}, None),
        ({}, None),
        ({"adult": True, "other": True}, None),
    ],
)
def test_who_does_not_tick_what_is_needed_does_not_begin(
    ticks: dict[str, bool], kept: dict[str, int] | None, tmp_path: Path
) -> None:
    open_experiment(tmp_path, questions=(ADULT, SHARE))
    page = asked(create_app(tmp_path))
    page.get("/study/")
    digest = page.get("/study/api/texts").json()["consent"]["digest"]
    answer = page.post("/study/api/consent", json={"consent": digest, "language": "en", "ticks": ticks})  # fmt: skip
    assert answer.status_code == (409 if kept is None else 200)
    with sqlite3.connect(tmp_path / "collection.sqlite") as sql:
        found = {name: json.loads(value) for name, value in sql.execute("SELECT name, value FROM reply")}  # fmt: skip
    assert found == (kept or {})
    if kept is not None:  # it is said once; who opens the page again changes nothing
        again = {"adult": True, "share": False}
        page.post("/study/api/consent", json={"consent": digest, "language": "en", "ticks": again})
        state = page.get("/study/api/state").json()
        assert state["phase"] == "instructions"


@pytest.mark.slow
def test_boxes_are_ticked_in_a_browser(browser: Any, serve: Any, tmp_path: Path) -> None:  # noqa: F811
    open_experiment(tmp_path, questions=(ADULT, SHARE), n_trials=1, checks=0)
    page = browser.new_page()
    page.goto(f"{serve()}/study/")
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("alert").get_by_text("Please tick").wait_for()
    page.get_by_label("I am an adult.").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("heading", name="What you will do").wait_for()
    with sqlite3.connect(tmp_path / "collection.sqlite") as sql:
        assert dict(sql.execute("SELECT name, value FROM reply")) == {"adult": "1", "share": "0"}
