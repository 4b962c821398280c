"""Conditions within participants on the page: blocks in counterbalanced orders, each with its words and times."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from taking_part import in_inbox, open_experiment, served
from test_browser import (  # noqa: F401 (the browser is a fixture)
    browser,
    consent,
    understand,
)
from test_manner import delivered, kinds
from test_store import begin as begin_session

from lakatos.domains import DOMAINS
from lakatos.experiments.conditions import condition_of, with_conditions
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.table import check_answers
from lakatos.experiments.participants.web.app import create_app
from lakatos.experiments.participants.web.manner import PageCondition
from lakatos.experiments.participants.web.session import NotAskedError
from lakatos.experiments.participants.web.study import condition_at, plan_of
from lakatos.experiments.participants.web.view import public_texts, steps_of

WITHIN = ("calm", "pressed")
CONDITIONS = {
    "calm": PageCondition(instructions=("Take your time.",), heading="No hurry"),
    "pressed": PageCondition(
        instructions={"en": ("Be quick.",), "de": ("Seien Sie schnell.",)},
        label={"en": "Hurry!", "de": "Schnell!"},
        timeout_ms=2000.0,
    ),
}


def open_within(folder: Path, **more: Any) -> Any:
    return open_experiment(
        folder, **{"n_trials": 3, "checks": 0, "within": WITHIN, "conditions": CONDITIONS} | more
    )


def test_each_participant_goes_through_both_conditions_in_the_order_of_the_design(store, tmp_path):
    design = open_within(tmp_path, n_participants=4)
    places = condition_of(design.stimuli)
    firsts = []
    for person in range(4):
        session = begin_session(store, f"person {person}")
        assert session.condition == ""
        steps = plan_of(session.experiment, session.place)
        assert [step.kind for step in steps] == ["condition", *["trial"] * 3] * 2
        shown = [condition_at(session.experiment, step) for step in steps]
        order = [WITHIN[place] for place in design.orders[person % 2]]
        assert shown == [order[0]] * 4 + [order[1]] * 4
        assert Counter(step.row for step in steps if step.kind == "trial") == dict.fromkeys(
            range(6), 1
        )
        assert all(
            WITHIN[int(places[step.row])] == name
            for step, name in zip(steps, shown, strict=True)
            if step.kind == "trial"
        )
        firsts.append(order[0])
    assert Counter(firsts) == {"calm": 2, "pressed": 2}


def test_a_block_says_what_holds_in_it_and_its_trials_have_its_label_and_its_time(store, tmp_path):
    design = open_within(tmp_path)
    session = begin_session(store)
    at_first = [WITHIN[place] for place in design.orders[0]]
    steps = {}
    for position, step in enumerate(plan_of(session.experiment, session.place)):
        (found,) = steps_of(session)[:1]
        steps[condition_at(session.experiment, step), step.kind] = found
        _, _, session = store.answer(session, position, 0, 900.0)
    assert steps["calm", "condition"]["question"] == "No hurry"
    assert steps["calm", "condition"]["notices"] == ["Take your time."]
    assert steps["pressed", "condition"]["question"] == "The next part begins"
    notices = steps["pressed", "condition"]["notices"]
    assert notices[0] == "Be quick."
    assert notices[1].startswith("You have 2 seconds for each decision.")
    assert {item["kind"] for (_, kind), item in steps.items() if kind == "condition"} == {"break"}
    assert (steps["calm", "trial"]["notices"], steps["calm", "trial"]["timeout_ms"]) == ([], 0.0)
    pressed = steps["pressed", "trial"]
    assert (pressed["notices"], pressed["timeout_ms"]) == (["Hurry!"], 2000.0)
    assert session.status == "completed"
    assert public_texts(session.experiment, "en")["flow"]["timeout_ms"] == 0
    (answers,) = delivered(store, tmp_path)
    said = [WITHIN[int(condition_of(design.stimuli)[row])] for row in answers.trial]
    assert said == [at_first[0]] * 3 + [at_first[1]] * 3


def test_a_decision_is_missed_only_in_the_condition_that_limits_time(store, tmp_path):
    design = open_within(tmp_path)
    session = begin_session(store)
    missed = []
    for position, step in enumerate(plan_of(session.experiment, session.place)):
        condition = condition_at(session.experiment, step)
        if step.kind == "trial" and condition == "pressed":
            _, _, session = store.answer(session, position, None, 2000.0)
            missed.append(step.row)
            continue
        if step.kind == "trial":
            with pytest.raises(NotAskedError, match="needs an answer"):
                store.answer(session, position, None, 9000.0)
        _, _, session = store.answer(session, position, 0, 9000.0)
    (answers,) = delivered(store, tmp_path)
    assert answers.missed == tuple(missed)
    assert set(condition_of(design.stimuli)[list(answers.trial)]) == {float(WITHIN.index("calm"))}


def test_without_conditions_a_participant_is_asked_what_was_asked_before(store, tmp_path):
    open_experiment(tmp_path, n_trials=6, checks=2)
    session = begin_session(store)
    assert set(kinds(session)) == {"trial", "check"}
    assert "timeout_ms" not in steps_of(session)[0]


@pytest.mark.slow
def test_a_participant_in_a_browser_reads_before_each_block_what_holds_in_it(browser, tmp_path):  # noqa: F811
    design = open_within(tmp_path, n_participants=1)
    order = [WITHIN[place] for place in design.orders[0]]
    with served(create_app(tmp_path)) as url:
        page = browser.new_page()
        page.goto(f"{url}/study/")
        consent(page)
        understand(page, "risky", comes_next="h1")
        headings = {"calm": "No hurry", "pressed": "The next part begins"}
        for number in range(6):
            condition = order[number // 3]
            if number % 3 == 0:
                page.get_by_role("heading", name=headings[condition]).wait_for()
                page.wait_for_timeout(230)
                page.get_by_role("button", name="Go on").click()
            page.get_by_role("heading", name=f"Decision {number + 1}").wait_for()
            assert page.get_by_text("Hurry!").count() == (condition == "pressed")
            if condition == "pressed" and number % 3 == 1:
                continue  # the time passes, and the next decision comes
            page.wait_for_timeout(230)
            page.locator(".options button").first.click()
        page.locator(".code").wait_for()
    app_answers = in_inbox(tmp_path)
    assert [len(item.trial) for item in app_answers] == [5]
    assert [len(item.missed) for item in app_answers] == [1]


BANDIT = {"task": "bandit", "n_steps": 3}


def test_a_schedule_is_played_in_its_order_in_each_condition(store, tmp_path):
    calm = {name: PageCondition(instructions=(f"This is {name}.",)) for name in WITHIN}
    design = open_within(
        tmp_path, domain="learning", space=BANDIT, n_participants=2, conditions=calm
    )
    for person in range(2):
        session = begin_session(store, f"person {person}")
        order = design.orders[person]
        rows, lines = [], []
        for position, step in enumerate(plan_of(session.experiment, session.place)):
            (shown,) = steps_of(session)
            if step.kind == "trial":
                rows.append(step.row)
                lines.append(shown["notices"])
            _, _, session = store.answer(session, position, 0, 900.0)
        assert rows == [3 * place + step for place in order for step in range(3)]
        new = "A new game begins. What you have learned before does not count here."
        assert [new in own for own in lines] == [False] * 3 + [True, False, False]
        assert session.status == "completed"
    first, second = delivered(store, tmp_path)
    assert sorted([first.trial, second.trial]) == [(0, 1, 2, 3, 4, 5), (3, 4, 5, 0, 1, 2)]
    for answers in (first, second):
        check_answers(answers, design, with_conditions(DOMAINS["learning"], WITHIN))
    wrong = replace(first, trial=(0, 1, 2, 4, 3, 5))
    with pytest.raises(TrialsError, match=r"answer 4: steps of a schedule come in order"):
        check_answers(wrong, design, with_conditions(DOMAINS["learning"], WITHIN))


@pytest.mark.slow
def test_a_participant_in_a_browser_plays_the_game_in_each_condition(browser, tmp_path):  # noqa: F811
    said = {
        name: PageCondition(instructions=(f"This part is {name}.",), label=name.upper())
        for name in WITHIN
    }
    design = open_within(
        tmp_path, domain="learning", space=BANDIT, n_participants=1, conditions=said
    )
    order = [WITHIN[place] for place in design.orders[0]]
    with served(create_app(tmp_path)) as url:
        page = browser.new_page()
        page.goto(f"{url}/study/")
        consent(page)
        understand(page, "learning", comes_next="h1")
        for number in range(6):
            condition = order[number // 3]
            if number % 3 == 0:
                page.get_by_text(f"This part is {condition}.").wait_for()
                page.wait_for_timeout(230)
                page.get_by_role("button", name="Go on").click()
            page.get_by_role("heading", name=f"Decision {number + 1}").wait_for()
            assert page.get_by_text(condition.upper(), exact=True).count() == 1
            assert page.get_by_text("A new game begins").count() == (number == 3)
            page.wait_for_timeout(230)
            page.locator(".options button").first.click()
        page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    places = condition_of(design.stimuli)[list(answers.trial)].astype(int)
    assert [WITHIN[place] for place in places] == [order[0]] * 3 + [order[1]] * 3
    assert set(answers.feedback) == {"reward", "next_state"}
