"""The report's table and figure of conditions within participants."""

from __future__ import annotations

import numpy as np

from lakatos.domains import DOMAINS
from lakatos.domains.learning.task import steps
from lakatos.experiments.conditions import crossed, with_conditions
from lakatos.experiments.task import Stimuli, Trials, with_random_sides
from lakatos.flows.report.by_condition import _by_person, mean_outcomes, outcome_values
from lakatos.flows.report.charts import ConditionLine, conditions

DOMAIN = with_conditions(DOMAINS["intertemporal"], ("calm", "hurried"))
TRIALS = crossed(
    Stimuli(
        {"amounts": np.array([[10.0, 20.0], [5.0, 8.0]]), "delays_days": np.array([[0.0, 7.0]] * 2)}
    ),
    2,
)


def test_an_option_counts_whichever_place_it_has() -> None:
    for seed in range(5):
        shown = with_random_sides(DOMAIN, TRIALS, np.random.default_rng(seed))
        values, words = outcome_values(DOMAIN, shown, 2)
        assert words == "share choosing the option that amount difference favours"
        assert (np.argmax(values, axis=1) == np.argmax(shown["amounts"], axis=1)).all()


def test_numbers_and_keys_count_as_they_are() -> None:
    task = with_conditions(DOMAINS["estimation"], ("calm", "hurried"))
    (probe, *_) = task.probes(np.random.default_rng(1))
    n = task.n_options(probe)
    values, words = outcome_values(task, probe, n)
    assert (words, values.shape) == ("mean response", (len(probe), n))
    assert values[0].tolist() == list(DOMAINS["estimation"].scale.places)  # type: ignore[attr-defined]
    task = with_conditions(DOMAINS["attention"], ("calm", "hurried"))
    (probe, *_) = task.probes(np.random.default_rng(1))
    values, words = outcome_values(task, probe, len(task.options))
    assert words == "share right"
    assert [name.startswith("right") for name in task.options] == (values[0] == 1).tolist()


def test_means_of_participants_are_those_of_their_own_responses() -> None:
    trials = Trials(
        experiment="1.1",
        stimuli=TRIALS,
        participant=np.array([0, 0, 0, 1, 1]),
        trial=np.array([0, 1, 2, 0, 1]),
        response=np.array([1, 0, 1, 1, 1]),
        count=np.ones(5, dtype=np.int64),
        n_people=2,
    )
    values, _ = outcome_values(DOMAIN, TRIALS, 2)
    place = np.array([0, 0, 1, 0, 0])
    np.testing.assert_array_equal(_by_person(trials, values, place, 2), [[0.5, 1.0], [1.0, np.nan]])
    shares = np.array([[0.25], [0.5], [0.75], [1.0]])
    assert mean_outcomes(shares, values).tolist() == [0.25, 0.5, 0.75, 1.0]
    assert mean_outcomes(shares, values[:, ::-1]).tolist() == [0.75, 0.5, 0.25, 0.0]


def test_the_figure_joins_each_participants_means_and_offers_all_numbers() -> None:
    lines = [
        ConditionLine("data", (0.6, 0.4), ((0.5, 0.7), (0.3, 0.5))),
        ConditionLine("T1", (0.5, float("nan"))),
    ]
    people = np.array([[0.7, 0.3], [0.5, np.nan]])
    drawn = conditions(["calm", "hurried"], lines, people, "share", 356)
    rows = [(row["series"], row["condition"], row["value"]) for row in drawn.rows]
    assert rows == [
        ("participant 1", "calm", 0.7),
        ("participant 1", "hurried", 0.3),
        ("participant 2", "calm", 0.5),
        ("data", "calm", 0.6),
        ("data", "hurried", 0.4),
        ("T1", "calm", 0.5),
    ]
    assert "calm" in drawn.svg
    assert "nan" not in drawn.svg


def test_options_of_a_schedule_count_as_the_rewards_that_they_bring() -> None:
    payoff = np.zeros((2, 3, 2))
    payoff[:, 0] = [[1, 0], [0, 1]]
    task = DOMAINS["learning"]
    values, what = outcome_values(task, steps(2, 2, payoff=payoff), 2)
    assert (values.tolist(), what) == ([[1, 0], [0, 1]], "mean reward")
    _, without = outcome_values(task, steps(2, 2), 2)
    assert without == "share choosing B"
