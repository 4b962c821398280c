"""Responses on scales by condition, of responses few enough to be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.answer_scale import levels, timed
from lakatos.experiments.task import Trials
from lakatos.language_models.context import count_tokens
from lakatos.theories.discovery.roles import scale_overview
from lakatos.theories.discovery.roles.overview import predictions_exhibit, table_exhibits
from lakatos.theories.discovery.roles.scale_overview import (
    on_average,
    people_on_scale,
    shown_scale,
    theories_on_scale,
)
from lakatos.theories.discovery.roles.typed_claim import PEOPLE

DIGEST = "a" * 64


def timed_trials(response: list[int], rows: list[int]) -> Trials:
    """Two trials of the conflict task, congruent and incongruent."""
    domain = DOMAINS["attention"]
    stimuli = domain.candidates({}, np.random.default_rng(0), 40)
    first = [int(np.flatnonzero(domain.features(stimuli)["congruence"] == of)[0]) for of in (1, -1)]
    return Trials(
        experiment="1.1",
        stimuli=stimuli.take(first),
        participant=np.arange(len(response)),
        trial=np.array(rows),
        response=np.array(response),
        count=np.ones(len(response), dtype=np.int64),
        n_options=domain.scale.n_outcomes,
        n_people=len(response),
    )


def test_a_mean_is_of_places_and_a_median_lies_within_its_bin() -> None:
    coins = levels([0, 5, 10], "coins")
    assert on_average(coins, np.array([0.5, 0.25, 0.25])) == {"mean response (coins)": 3.75}
    clock = timed(("right", "wrong"), (0.2, 0.4, 0.6))
    # Three of four are right; half of all lie below .2 + .2 * .5 / .75.
    shares = np.array([0.5, 0.25, 0.25, 0.0])
    assert on_average(clock, shares) == {"share right": 0.75, "median time (s)": 0.333}
    assert on_average(clock, np.full(4, np.nan)) == {}


def test_times_and_accuracy_are_shown_by_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale_overview, "LEAST", 2)
    domain = DOMAINS["attention"]
    scale = domain.scale
    fast, slow = 2, 6
    wrong = scale.n_bins + fast
    trials = timed_trials([fast, fast, slow, wrong], [0, 0, 1, 1])
    found = people_on_scale(domain, trials, DIGEST, "1.1", 1)
    assert found.value["all trials"]["share right"] == 0.75
    assert found.value["congruence 1"]["share right"] == 1.0
    assert found.value["congruence -1"]["share right"] == 0.5
    edges = np.array(scale.edges)
    middle = round(float(edges[fast : fast + 2].mean()), 3)
    assert found.value["congruence 1"]["right by (s)"]["50%"] == pytest.approx(middle, abs=1e-3)
    # The three fast responses, one of them wrong, are the first three fifths or so; the slow one is right.
    assert found.value["all trials"]["share right, by fifth of the times"] == [0.667, 1.0]
    fact = next(item for item in found.numbers if item.quantity == "congruence -1.share right")
    assert (fact.of, fact.experiment, fact.value) == (PEOPLE, "1.1", 0.5)


def test_predictions_are_shown_as_responses_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale_overview, "LEAST", 2)
    domain = DOMAINS["attention"]
    trials = timed_trials([2, 2, 6, domain.scale.n_bins + 2], [0, 0, 1, 1])
    people = people_on_scale(domain, trials, DIGEST, "1.1", 1)
    found = theories_on_scale(domain, trials, DIGEST, {"T1": trials.proportions}, "1.1")
    for condition, own in found.value["T1"].items():
        assert own == people.value[condition]


@pytest.mark.parametrize("domain", ["attention", "perception", "estimation", "public_goods"])
def test_overviews_stay_short(domain: str) -> None:
    task = DOMAINS[domain]
    rng = np.random.default_rng(1)
    stimuli, scale = task.candidates({}, rng, 64), shown_scale(task)
    assert scale is not None
    n = 40 * len(stimuli)
    trials = Trials(
        "1.1", stimuli, np.repeat(np.arange(40), len(stimuli)), np.tile(np.arange(len(stimuli)), 40),
        rng.integers(scale.n_outcomes, size=n), np.ones(n, dtype=np.int64),
        n_options=scale.n_outcomes, n_people=40,
    )  # fmt: skip
    people = people_on_scale(task, trials, DIGEST, "1.1", 1)
    both = {"T1": trials.proportions, "T2": trials.proportions}
    assert count_tokens(people.entry.text) < 1_500
    assert count_tokens(theories_on_scale(task, trials, DIGEST, both, "1.1").entry.text) < 1_500


def test_a_row_of_a_table_shows_the_mean_instead_of_dozens_of_shares() -> None:
    domain = DOMAINS["attention"]
    trials = timed_trials([2, 2, 6, domain.scale.n_bins + 2], [0, 0, 1, 1])
    table = table_exhibits(domain, trials, DIGEST, "1.1", 1)[0]
    assert "trial: what was shown; people's share right and median time (s)" in table.value
    # One response lies in the third bin and one in the seventh: half of them are over when the latter begins.
    assert table.value[-1].endswith(f"; 0.5 {domain.scale.edges[6]:.3g}")
    fact = next(
        item for item in table.numbers if item.quantity == "share right" and item.trial == 2
    )
    assert (fact.value, fact.of) == (0.5, PEOPLE)
    predicted = predictions_exhibit(domain, trials, DIGEST, {}, "1.1")
    assert {line[:3] for line in predicted.value[-2:]} == {"1: ", "2: "}
