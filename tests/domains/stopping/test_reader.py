"""Files of balloons: how they are recognised, which decisions they become, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains import DOMAINS
from lakatos.domains.stopping.reader import COLLECT, PUMP, code_of_bursts, estimated_bursts
from lakatos.domains.stopping.task import SEEN
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError
from lakatos.experiments.outcomes import knows_outcomes
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.engine.scoring.columns import step_columns

DOMAIN = DOMAINS["stopping"]


def balloons(
    n_people: int = 4, n_balloons: int = 30, bursts_at: Any = lambda rng, n: rng.integers(1, 25, n)
) -> pd.DataFrame:
    """As published programs write them: participants who stop near 9 pumps, on balloons with at most 24."""
    rng = np.random.default_rng(1)
    n = n_people * n_balloons
    wanted = np.maximum(rng.poisson(9, n), 1)
    bursts_at = bursts_at(rng, n)
    return pd.DataFrame(
        {
            "subjID": np.repeat(np.arange(101, 101 + n_people), n_balloons),
            "trial": np.tile(np.arange(1, n_balloons + 1), n_people),
            "pumps": np.minimum(wanted, bursts_at),
            "explosion": (wanted >= bursts_at).astype(int),
        }
    )


def only(frame: pd.DataFrame, **said: Any) -> Any:
    """The decisions of the only experiment of a file."""
    (trials,) = lakatos.adopt(frame, "stopping", said).trials
    return trials


HAND = pd.DataFrame(
    {"subject": ["a", "a", "a", "b", "b"], "pumps": [2, 1, 0, 3, 3], "burst": [0, 1, 0, 1, 0]}
)
SAID = {
    "participant": "subject",
    "response": "burst",
    "stimulus": {"pumps": "pumps"},
    "accept": ["row_order"],
}


def test_each_pump_is_a_decision_and_a_collection_one_more_but_a_burst_none():
    trials = only(HAND, **SAID)
    assert trials.response.tolist() == [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert trials.participant.tolist() == [0] * 5 + [1] * 7
    assert trials.trial.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6]
    assert trials.feedback["burst"].tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
    assert trials.feedback["reward"].tolist() == [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3]


def test_nothing_is_taken_to_follow_the_last_possible_pump_where_the_file_says_it():
    said = {**SAID, "stimulus": {"pumps": "pumps", "most": 3}}
    assert only(HAND, **said).response.tolist() == [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]


def test_what_was_seen_before_each_decision_is_what_the_task_makes_of_the_decisions():
    trials = only(balloons())
    sequences, before = trials.sequences, {}
    burst = sequences.feedback["burst"]
    for step in range(sequences.trial.shape[1]):
        there = sequences.trial[:, step] >= 0
        arrays = {
            name: array[np.maximum(sequences.trial[:, step], 0)]
            for name, array in trials.stimuli.arrays.items()
        }
        arrays |= {"luck": burst[:, step], "burst_chance": np.full(len(there), 0.5)}
        arrays |= {"most": arrays["most"] + 1}
        response = sequences.response[None, :, step]
        told = DOMAIN.feedback(arrays, DOMAIN.shown(arrays, before), response)
        before = {name: column[None, :, step] for name, column in sequences.feedback.items()}
        for name in told:
            assert told[name][0, there] == pytest.approx(before[name][0, there]), name


def test_a_file_of_pumps_and_explosions_is_recognised_without_a_mapping():
    frame = balloons()
    found = describe_table(table_of_frame("bart.csv", frame))
    assert found.domain == "stopping"
    assert (found.mapping.participant, found.mapping.order) == ("subjID", "trial")
    assert found.mapping.stimulus == {"pumps": "pumps"}
    assert (found.mapping.response, found.mapping.responses) == ("explosion", {"0": 1, "1": 0})
    adopted = lakatos.adopt(frame)
    (trials,) = adopted.trials
    assert (trials.response == COLLECT).sum() == (frame["explosion"] == 0).sum()
    n_burst = int(frame["explosion"].sum())
    assert any(f"{n_burst} of 120 balloons burst" in note for note in adopted.notes)
    assert "most" in adopted.closed


def test_a_decision_is_read_back_with_its_balloon():
    table = table_of_frame("bart.csv", balloons())
    lines = adopt(table, describe_table(table).mapping, DOMAIN).read_back
    last = balloons().iloc[-1]
    where = f"balloon 30 after {last['pumps'] - last['explosion']} pumps"
    assert where in lines[-1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("popped", {0: "false", 1: "true"}),
        ("result", {0: "collected", 1: "burst"}),
        ("outcome", {0: "not popped", 1: "popped"}),
        ("cashed_out", {0: "1", 1: "0"}),
        ("balloonExploded", {0: "no", 1: "yes"}),
    ],
)
def test_bursts_are_read_from_words_and_from_the_name_of_their_column(name, words):
    frame = balloons()
    other = frame.assign(explosion=frame["explosion"].map(words)).rename(
        columns={"explosion": name, "pumps": "numPumps"}
    )
    (found,), (plain,) = lakatos.adopt(other).trials, lakatos.adopt(frame).trials
    assert (found.response == plain.response).all()
    assert (found.feedback["burst"] == plain.feedback["burst"]).all()


@pytest.mark.parametrize(
    ("name", "cells", "wanted"),
    [
        ("explosion", ["0", "1"], {"0": COLLECT, "1": PUMP}),
        ("saved", ["0", "1"], {"0": PUMP, "1": COLLECT}),
        ("outcome", ["0", "1"], {}),
        ("explosion", ["0", "2"], {}),
    ],
)
def test_cells_that_do_not_say_which_balloons_burst_have_no_code(name, cells, wanted):
    assert code_of_bursts(name, cells) == wanted


def test_a_column_of_unclear_ends_is_asked_about():
    frame = balloons().rename(columns={"explosion": "outcome"})
    with pytest.raises(
        TrialsError, match="nothing says yet which column, number or cell is response"
    ):
        lakatos.adopt(frame)


@pytest.mark.parametrize(
    ("changes", "said", "words"),
    [
        ({"pumps": [30, 8, 9]}, {"most": 24}, "is more than 24, the largest number of pumps"),
        ({"pumps": [0, 8, 9], "explosion": [1, 0, 0]}, {}, "is 0 pumps of a balloon that burst"),
        ({"pumps": [2.5, 8, 9]}, {}, "is no whole number from 0"),
        ({"pumps": [-1, 8, 9]}, {}, "is no whole number from 0"),
    ],
)
def test_impossible_balloons_are_refused_with_their_row(changes, said, words):
    frame = balloons().astype({"pumps": object})
    for name, values in changes.items():
        frame.loc[:2, name] = values
    mapping = {"response": "explosion", "stimulus": {"pumps": "pumps", **said}}
    with pytest.raises(TrialsError, match=f"row 2.*{words}"):
        only(frame, **mapping)


def test_a_balloon_of_a_file_with_more_pumps_than_its_column_allows_is_refused():
    with pytest.raises(TrialsError, match="is more than 10, the largest number of pumps"):
        lakatos.adopt(balloons().assign(max_pumps=10))


def test_balloons_with_equally_many_pumps_are_asked_about():
    frame = balloons().assign(pumps=7)
    mapping = {"response": "explosion", "stimulus": {"pumps": "pumps"}}
    with pytest.raises(ImplausibleError, match="pumps is 7 in all 120 rows"):
        only(frame, **mapping)


def test_responses_that_turn_bursts_into_collections_are_asked_about():
    frame = balloons()
    frame["end"] = np.where(frame.pop("explosion") == 1, "popped", "cashed out")
    mapping = {"response": "end", "stimulus": {"pumps": "pumps"}}
    with pytest.raises(
        ImplausibleError, match=r"popped = 1, cashed out = 0.*seem to say the opposite"
    ):
        only(frame, **mapping, responses={"popped": 1, "cashed out": 0})
    right = only(frame, **mapping, responses={"popped": 0, "cashed out": 1})
    assert right.digest == only(frame, **mapping).digest


def test_rows_that_count_pumps_one_by_one_are_asked_about():
    own = balloons(n_balloons=5)
    frame = own.loc[own.index.repeat(own["pumps"])].reset_index(drop=True)
    frame["pumps"] = frame.groupby(["subjID", "trial"]).cumcount() + 1
    mapping = {"response": "explosion", "stimulus": {"pumps": "pumps"}, "accept": ["row_order"]}
    with pytest.raises(ImplausibleError, match="a row seems to be a pump"):
        only(frame.drop(columns="trial"), **mapping)
    assert len(only(own, **mapping).response)  # a row for each balloon


def test_balloons_with_different_largest_numbers_are_read_apart():
    frame = balloons().assign(maximum=np.where(np.arange(120) % 2, 24, 48))
    mapping = {"response": "explosion", "stimulus": {"pumps": "pumps", "most": "maximum"}}
    with pytest.raises(TrialsError, match="all balloons of an experiment have one largest number"):
        only(frame, **mapping)
    found = lakatos.adopt(frame, "stopping", {**mapping, "experiment": "maximum"}).trials
    assert sorted(item.stimuli["most"][0] for item in found) == [24, 48]


MAPPING = {"response": "explosion", "stimulus": {"pumps": "pumps", "most": 24}}


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda rng, n: rng.integers(1, 25, n), "all numbers of pumps up to 24 are equally likely"),
        (
            lambda rng, n: rng.geometric(0.1, n),
            "each pump bursts the balloon with probability 0.09",
        ),
    ],
)
def test_simulated_participants_have_bursts_by_the_law_of_the_file(draw, words):
    trials = only(balloons(20, bursts_at=draw), **MAPPING)
    assert not knows_outcomes(DOMAIN, trials)
    stimuli, note = estimated_bursts(trials, 3, np.random.default_rng(0))
    DOMAIN.check(stimuli)
    assert len(stimuli) == 3 * len(trials.stimuli)
    assert words in note


def test_bursts_that_follow_no_law_are_not_estimated():
    trials = only(balloons(20, bursts_at=lambda rng, n: rng.integers(8, 11, n)), **MAPPING)
    with pytest.raises(TrialsError, match="bursts are neither equally likely"):
        estimated_bursts(trials, 3, np.random.default_rng(0))


def test_learners_see_the_pumps_so_far_and_the_history():
    trials = only(balloons())
    columns = step_columns(DOMAIN, trials)[:, 0].T
    within = np.concatenate([np.arange(n) for n in np.bincount(trials.participant)])
    for name in SEEN:
        wanted = np.where(within > 0, np.append(0.0, trials.feedback[name][:-1]), 0.0)
        assert any(np.array_equal(own, wanted) for own in columns), name


def test_no_rules_are_induced_from_decisions():
    assert induce(DOMAIN, [only(balloons())], np.random.default_rng(0)) == []


def test_missed_balloons_are_left_out():
    frame = balloons().astype({"pumps": object, "explosion": object})
    frame.loc[[3, 40], "explosion"] = "no response"
    frame.loc[[3, 40], "pumps"] = ""
    adopted = lakatos.adopt(frame)
    (trials,) = adopted.trials
    assert (trials.feedback["pumps"] == 0).sum() == 118
