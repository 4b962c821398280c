"""What the researcher's page says: who came, where people leave, how long they take, and who will not count."""

from __future__ import annotations

from typing import Any

import pytest
from taking_part import asked, open_experiment
from test_browser import WAIT_MS
from test_manner import CONDITIONS
from test_store import begin, finish

from lakatos.experiments.participants.web.app import create_desk
from lakatos.experiments.participants.web.overview import DeskSettings, overview
from lakatos.experiments.participants.web.study import plan_of
from lakatos.experiments.quality import FailedChecks, IncompleteAnswers
from lakatos.flows.operations.desk import desk_settings, pay_of

TOKEN = "r" * 43
RULES = (IncompleteAnswers(), FailedChecks(0))


def crowd(store: Any, clock: list[float]) -> None:
    """Two who finish, one of whom fails the check; one who leaves half way; one who never begins; one at work."""
    for name, wrong in (("anna", False), ("ben", True)):
        session = begin(store, name)
        clock[0] += 300 if wrong else 120
        for position, step in enumerate(plan_of(session.experiment, session.place)):
            option = (1 - step.row if wrong else step.row) if step.kind == "check" else 0
            session = store.answer(session, position, option, 900.0)[2]
    left = begin(store, "carla")
    for position, _ in zip(range(3), plan_of(left.experiment, left.place), strict=False):
        left = store.answer(left, position, 0, 900.0)[2]
    store.stop(left, keep=True)
    store.join("dora", consent="c" * 64, language="en")
    begin(store, "emil")


def test_the_way_of_people_is_counted_without_saying_who_they_are(store, tmp_path, clock):
    open_experiment(tmp_path, n_trials=4, n_participants=9, checks=1, conditions=CONDITIONS)
    crowd(store, clock)
    (found,) = overview(store, DeskSettings(RULES))
    assert found["way"] == {"agreed": 5, "understood": 4, "began": 3, "finished": 2}
    assert found["people"] == {"active": 2, "completed": 2, "stopped": 1}
    assert (found["staying"][0], found["staying"][-1]) == (1.0, round(2 / 3, 3))
    assert found["staying"] == sorted(found["staying"], reverse=True)
    assert found["minutes"]["median"] == pytest.approx(3.5)
    assert sum(sum(counts.values()) for counts in found["conditions"].values()) == 5
    assert found["excluded"] == {RULES[1].words: 1, "in all": 1}
    assert found["checks_failed"] in (0.3333, 0.5, 0.6667)  # who left may have had none
    assert "anna" not in str(found)


def test_nobody_yet_is_told_without_numbers(store, tmp_path):
    open_experiment(tmp_path)
    (found,) = overview(store, DeskSettings(RULES))
    assert (found["staying"], found["minutes"], found["excluded"]) == ([], {}, {})
    assert (found["missed"], found["checks_failed"]) == (None, None)


def test_nothing_breaks_where_there_is_no_run_and_nobody_pays(tmp_path):
    assert pay_of(tmp_path) == {}
    assert desk_settings(tmp_path).rules == ()


def test_the_page_answers_with_it(tmp_path, store, clock):
    open_experiment(tmp_path, n_trials=4, n_participants=9, checks=1)
    finish(store, begin(store))
    settings = DeskSettings(RULES, lambda: {"due": "3.00 GBP", "paid": "0.00 GBP"})
    desk = asked(create_desk(tmp_path, token=TOKEN, settings=settings))
    found = desk.get("/researcher/api/status", headers={"Authorization": f"Bearer {TOKEN}"})
    assert found.json()["pay"]["due"] == "3.00 GBP"
    assert found.json()["experiments"][0]["way"]["finished"] == 1


@pytest.mark.slow
def test_it_is_read_on_a_phone_in_the_dark(chrome, serve, store, tmp_path, clock):
    open_experiment(tmp_path, n_trials=4, n_participants=9, checks=1, conditions=CONDITIONS)
    crowd(store, clock)
    settings = DeskSettings(RULES, lambda: {"due": "3.00 GBP", "paid": "0.00 GBP"})
    url = serve(desk=True, token=TOKEN, settings=settings)
    context = chrome.new_context(
        viewport={"width": 390, "height": 800}, color_scheme="dark", locale="en-GB"
    )
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto(f"{url}/researcher/#{TOKEN}")
    page.get_by_role("heading", name="Experiment 1.1").wait_for()
    words = page.locator("main").inner_text()
    for said in (
        "2 of 9 completed",
        "1 stopped, answers kept",
        "would be excluded",
        "3.00 GBP due",
    ):
        assert said in words
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(18, 22, 29)"
    page.screenshot(path=str(tmp_path / "desk.png"), full_page=True)
    page.get_by_role("link", name="/preview/").click()
    page.get_by_text("nothing that you answer here is counted").wait_for()
    context.close()
