from pathlib import Path

import numpy as np
import pytest
from taking_part import SPACES, open_experiment

from lakatos.domains import DOMAINS
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import (
    PageStep,
    available,
    follows,
    offered,
    plan_of,
)


def experiment_of(folder: Path):
    store = SessionStore(folder)
    found = store.current()
    store.shut()
    assert found is not None
    return found


def test_everybody_answers_each_trial_as_often_as_designed_in_an_order_of_their_own(tmp_path):
    open_experiment(tmp_path, n_trials=6, repetitions=3, checks=2)
    experiment = experiment_of(tmp_path)
    plans = [plan_of(experiment, place) for place in range(20)]
    for plan in plans:
        rows = [step.row for step in plan if step.kind == "trial"]
        for block in range(3):
            assert sorted(rows[6 * block : 6 * block + 6]) == list(range(6))
        assert sum(step.kind == "check" for step in plan) == 2
        assert plan[0].kind == "trial"
    assert len(set(plans)) == len(plans)


def test_first_trials_are_evenly_drawn(tmp_path):
    open_experiment(tmp_path, n_trials=4, checks=0)
    experiment = experiment_of(tmp_path)
    first = np.bincount([plan_of(experiment, place)[0].row for place in range(800)], minlength=4)
    # Binomial with 800 draws at 1/4: standard error sqrt(800 * 3 / 16) = 12.2.
    assert np.abs(first - 200).max() < 4 * 12.25


def test_an_order_depends_on_the_seed_the_recruitment_and_the_place_alone(tmp_path):
    open_experiment(tmp_path / "a", n_trials=6)
    open_experiment(tmp_path / "b", n_trials=6)
    one, two = experiment_of(tmp_path / "a"), experiment_of(tmp_path / "b")
    assert [plan_of(one, place) for place in range(5)] == [
        plan_of(two, place) for place in range(5)
    ]


def test_schedules_keep_their_order_and_no_check_stands_between_the_stages_of_a_trial(tmp_path):
    open_experiment(
        tmp_path, "learning", n_trials=1, space={"task": "two_step", "n_steps": 40}, checks=8
    )
    experiment = experiment_of(tmp_path)
    for place in range(10):
        plan = plan_of(experiment, place)
        assert [step.row for step in plan if step.kind == "trial"] == list(range(40))
        after = [plan[number + 1].row for number, step in enumerate(plan) if step.kind == "check"]
        assert len(after) == 8
        assert all(row % 2 == 0 for row in after)


@pytest.mark.parametrize("domain", SPACES)
def test_what_follows_equals_the_domain_s_own_feedback(domain, tmp_path):
    design = open_experiment(tmp_path, domain, n_trials=5)
    experiment, task = experiment_of(tmp_path), DOMAINS[domain]
    before: dict[str, float] = {}
    expected: dict[str, np.ndarray] = {}
    for row in range(len(design.stimuli)):
        arrays = design.stimuli.take([row]).arrays
        seen = task.shown(arrays, expected)
        expected = task.feedback(arrays, seen, np.ones((1, 1), dtype=int))
        before = follows(experiment, PageStep("trial", row), before, 1)
        assert before == {name: float(value[0, 0]) for name, value in expected.items()}
    assert bool(before) == task.sequential


def test_options_that_are_not_there_cannot_be_chosen(tmp_path):
    open_experiment(tmp_path, "learning", space={"task": "bandit", "n_steps": 3, "n_options": 3})
    experiment = experiment_of(tmp_path)
    experiment.design.stimuli["available"][1] = [1, 0, 1]
    assert available(experiment, PageStep("trial", 1)) == (True, False, True)
    assert available(experiment, PageStep("check", 1)) == (True, True, True)


def test_only_options_that_no_trial_has_are_not_offered(tmp_path):
    open_experiment(tmp_path, "learning", space={"task": "bandit", "n_steps": 3, "n_options": 3})
    experiment = experiment_of(tmp_path)
    experiment.design.stimuli["available"][1] = [1, 0, 1]
    assert offered(experiment, PageStep("trial", 1)) == (True, True, True)
    experiment.design.stimuli["available"][:] = [1, 0, 1]
    assert offered(experiment, PageStep("trial", 0)) == (True, False, True)
    assert offered(experiment, PageStep("check", 1)) == (True, True, True)
    assert offered(experiment, PageStep("break", 0)) == (True,)
