"""What the pages for exploring a run show: two theories, curves, people, steps, and the list of runs."""

from __future__ import annotations

import hashlib
import json
import re
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from viewing import look_at

from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.view import home_page, person_pages, step_pages
from lakatos.flows.view.app import HERE, create_app
from lakatos.flows.view.compare_pages import compare
from lakatos.flows.view.curve_pages import binned, curves, edges_of, parameter_curves
from lakatos.flows.view.people_groups import groups_of, of_group
from lakatos.flows.view.plot import PlotDots, PlotLine, PlotPoint, plot
from lakatos.flows.view.trial_points import TrialPoint, scores_of, trial_points
from lakatos.flows.view.watch import RunObservatory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import TheoryProgram, read_program


def point(first: float, second: float, low: float = 0.4, high: float = 0.6) -> TrialPoint:
    return TrialPoint("1.1", 0, 1, 40, 0.5, low, high, (first, second))


@pytest.mark.parametrize(
    ("first", "second", "side"),
    [(0.5, 0.9, 0), (0.1, 0.55, 1), (0.45, 0.55, None), (0.1, 0.9, None)],
)
def test_people_side_with_the_one_theory_that_lies_in_their_interval(
    first: float, second: float, side: int | None
) -> None:
    assert point(first, second).sides_with == side


def told(markup: object) -> dict[str, Any]:
    """What a plot carries to the browser."""
    (found,) = re.findall(r'data-plot="([^"]*)"', str(markup))
    value: dict[str, Any] = json.loads(unescape(found))
    return value


def test_a_plot_carries_its_numbers_and_nothing_that_a_page_could_run() -> None:
    evil = '"><script>alert(1)</script>'
    drawn = plot(
        evil,
        evil,
        x=evil,
        y="y",
        dots=[PlotDots(evil, 1, "circle", [PlotPoint(1.0, np.nan, evil)]), PlotDots("none", 2, "circle", [])],
        lines=[PlotLine("line", 2, [(0.0, 1 / 3)])],
    )  # fmt: skip
    assert "<script" not in drawn
    value = told(drawn)
    assert [part["name"] for part in value["dots"]] == [evil]
    assert value["dots"][0]["points"] == [{"x": 1.0, "y": None, "words": evil}]
    assert value["lines"][0]["points"] == [[0.0, 0.333333]]


def trials_of(rows: list[tuple[int, int, int]], n_trials: int, *, pooled: bool = False) -> Trials:
    """Answers as person, trial and option."""
    person, trial, response = (np.array(column) for column in zip(*rows, strict=True))
    return Trials(
        experiment="1.1",
        stimuli=Stimuli({"x": np.arange(n_trials, dtype=float)}),
        participant=person,
        trial=trial,
        response=response,
        count=np.ones(len(rows), dtype=np.int64),
        pooled=pooled,
        n_people=3,
    )


def test_few_values_of_a_property_stay_apart_and_many_are_grouped() -> None:
    assert len(edges_of(np.array([0.0, 1.0, 1.0, 2.0]))) == 4
    assert len(edges_of(np.arange(100.0))) == 10


def test_shares_by_a_property_count_answers_and_their_intervals_people() -> None:
    # Two people answer trial 0 four times each: one always B, the other never; trial 1 once each, both B.
    rows = [(0, 0, 1)] * 4 + [(1, 0, 0)] * 4 + [(0, 1, 1), (1, 1, 1)]
    shares = np.array([[0.3, 0.7], [0.2, 0.8]])
    found = binned([np.array([-1.0, 1.0])], [(trials_of(rows, 2), [shares])], 1)
    assert [(item.at, item.n_answers, item.share) for item in found] == [(-1.0, 8, 0.5), (1.0, 2, 1.0)]  # fmt: skip
    # Between people the standard deviation is the square root of a half, so that nothing is known of the share.
    assert (found[0].share_low, found[0].share_high) == (0.0, 1.0)
    assert [item.predicted for item in found] == [(0.7,), (0.8,)]


def test_a_property_that_nobody_was_asked_at_has_no_place() -> None:
    shares = np.full((2, 2), 0.5)
    found = binned([np.array([0.0, 1.0])], [(trials_of([(0, 0, 1), (1, 0, 0)], 2), [shares])], 1)
    assert [item.at for item in found] == [0.0]


@pytest.mark.slow
def test_curves_of_a_parameter_are_those_of_the_formula() -> None:
    source = '''"""Weigher: people weigh one number."""

PARAMETERS = {"slope": {"prior": "uniform", "low": 1.0, "high": 3.0}}


def choose(parameters, trials, xp):
    p = 1 / (1 + xp.exp(-parameters["slope"] * trials["x"]))
    return xp.stack([1 - p, p], axis=-1)
'''
    theory = read_program(TheoryProgram(source, "test"))
    with Sandbox() as sandbox:
        (item,) = parameter_curves(theory, Stimuli({"x": np.array([0.0, 0.5, -1.0])}), 2, sandbox)
    assert item.trials == (2, 1)  # trial 0 does not depend on it
    assert item.values[[0, -1]] == pytest.approx([1.05, 2.95])
    assert item.shares[0] == pytest.approx(1 / (1 + np.exp(item.values)))


def test_two_theories_are_compared_on_every_answered_trial(finished: Path) -> None:
    look = look_at(finished)
    facts = compare(look, "", "")
    first, second = facts["chosen"]
    assert first == look.leader
    scores = {name: scores_of(look, name) for name in (first, second)}
    assert facts["n_points"] == len(trial_points(look, scores))
    gaps = [item.gap for item in facts["points"]]
    assert gaps == sorted(gaps, reverse=True)
    again = compare(look, second, first)
    assert again["chosen"] == [second, first]
    assert again["side"] == facts["side"][::-1]
    assert again["total"][0].value == pytest.approx(-facts["total"][0].value)


def test_theories_that_are_named_wrongly_leave_the_usual_ones(finished: Path) -> None:
    look = look_at(finished)
    assert compare(look, "nonsense", "0" * 64)["chosen"] == compare(look, "", "")["chosen"]
    assert curves(look, "nonsense", ["0" * 64])["chosen"] == curves(look, "", [])["chosen"]


def test_the_way_to_the_leader_begins_with_a_first_rival_and_ends_with_it(finished: Path) -> None:
    look = look_at(finished)
    line = step_pages.line_of_descent(look)
    assert line[-1] == look.leader
    assert len(line) == len(set(line))
    steps = step_pages.steps(look)["steps"]
    assert [(step.parent, step.child) for step in steps] == list(pairwise(line))
    for step in steps:
        assert step.n_cured <= step.n_wrong


def test_everybody_of_an_experiment_is_listed_and_has_a_page(finished: Path) -> None:
    look = look_at(finished)
    facts = person_pages.people(look, "", "fit")
    assert facts["n_people"] == len(facts["lines"]) > 1
    browser = TestClient(create_app(finished), base_url="http://127.0.0.1:8100")
    for line in facts["lines"][:3]:
        answer = browser.get(f"/run/small/person/{line.key}")
        assert answer.status_code == 200
        assert line.name in answer.text
    for key in ("0" * 64, "9.9:0", "1.1:99999", "1.1:" + "9" * 5000, "1.1:x", "nobody"):
        assert browser.get(f"/run/small/person/{key}").status_code == 404


def test_runs_are_filtered_by_words_state_and_task_and_ordered(finished: Path) -> None:
    runs = RunObservatory(finished.parent).all()
    broken = [*runs, ("broken", "its journal cannot be read")]

    def names(text: str = "", state: str = "", domain: str = "", order: str = "") -> list[str]:
        found = home_page.home(broken, text=text, state=state, domain=domain, order=order)
        assert found["n_runs"] == len(broken)
        return [item.name for item in found["cards"]]

    assert names() == [name for name, _ in broken]
    assert names(order="name") == sorted(names())
    assert names(order="advantage")[-1] == "broken"
    assert names(state="unreadable") == ["broken"]
    assert "broken" not in names(state="concluded")
    assert names(text="small multiattribute") == ["small"]
    assert names(text="no run says this") == []
    assert names(domain="learning") == []
    assert names(state="nonsense") == names()


def test_the_library_that_draws_is_the_published_one() -> None:
    vendor = HERE / "static" / "vendor"
    lines = (vendor / "SHA256SUMS").read_text().splitlines()
    there = {path.name for path in vendor.iterdir()} - {"SHA256SUMS"}
    assert {line.split()[1] for line in lines} == there
    for line in lines:
        digest, name = line.split()
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest
    # Of dist/echarts.esm.min.js in echarts-6.1.0.tgz, as the npm registry publishes it.
    assert lines[0].startswith("28515f26aa57f87eb1e4ed4eb446927eaf329b5f5e02b4bfd4b0264fea40d1da")
    assert "Apache Software Foundation" in (vendor / "LICENSES.txt").read_text()


def test_people_are_grouped_by_word_and_numbers_with_many_values_at_their_median() -> None:
    (first, second) = groups_of([("red", "blue", ""), ("red",)])
    assert [first[0], second[0]] == ["red", "blue"]
    assert [part.tolist() for part in first[1]] == [[True, False, False], [True]]
    young, old = groups_of([("18", "20", "22", "70", "71", "")])
    assert (young[0], old[0]) == ("below 22", "22 and above")
    assert young[1][0].tolist() == [True, True, False, False, False, False]
    assert old[1][0].tolist() == [False, False, True, True, True, False]


def test_shares_of_a_group_are_those_of_its_people() -> None:
    rows = [(0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 0, 0)]
    (own,) = of_group([trials_of(rows, 2)], [np.array([True, False, True])])
    found = binned([np.array([0.0, 1.0])], [(own, [])], 1)
    assert [(item.share, item.n_answers, item.predicted) for item in found] == [(0.5, 2, ()), (1.0, 1, ())]  # fmt: skip
