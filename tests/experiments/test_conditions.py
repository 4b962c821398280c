"""Conditions within participants: trials, orders, domains."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from lakatos.domains import DOMAINS, find_domain
from lakatos.experiments.conditions import (
    CONDITION,
    balanced_orders,
    condition_of,
    crossed,
    full_name,
    in_condition,
    presented_rows,
    schedule_orders,
    with_conditions,
    with_orders,
    without_condition,
)
from lakatos.experiments.design import design_from_json, design_to_json
from lakatos.experiments.errors import DesignError, StimuliError
from lakatos.experiments.preregistration import summarise_design
from lakatos.experiments.task import Design, Stimuli, identities

NAMES = ("calm", "hurried", "tired")
TRIALS = Stimuli({"amounts": np.arange(10.0).reshape(5, 2)})


@pytest.mark.parametrize("n", range(2, 9))
def test_each_condition_stands_equally_often_at_each_place_and_behind_each_other_one(
    n: int,
) -> None:
    orders = balanced_orders(n, np.random.default_rng(n))
    times = 1 + n % 2
    assert len(orders) == times * n
    for place in range(n):
        assert Counter(order[place] for order in orders) == dict.fromkeys(range(n), times)
    neighbours = Counter(pair for order in orders for pair in pairwise(order))
    assert neighbours == {(a, b): times for a in range(n) for b in range(n) if a != b}


def test_the_seed_draws_the_orders() -> None:
    drawn = {balanced_orders(4, np.random.default_rng(seed)) for seed in range(20)}
    assert len(drawn) > 10
    assert balanced_orders(4, np.random.default_rng(1)) == balanced_orders(
        4, np.random.default_rng(1)
    )


def plan(n_blocks: int = 2, repetitions: int = 2) -> Design:
    design = Design("1.1", crossed(TRIALS, 3), repetitions, 12)
    return with_orders(design, NAMES, n_blocks, np.random.default_rng(5))


def test_every_participant_sees_every_trial_in_every_condition_in_blocks() -> None:
    design = plan()
    places = condition_of(design.stimuli).astype(int)
    for person in range(12):
        rows, begins = presented_rows(design, person, np.random.default_rng(person))
        assert Counter(rows.tolist()) == dict.fromkeys(range(15), 2)
        blocks = np.split(places[rows], begins[1:])
        assert [set(block.tolist()) for block in blocks] == [
            {place} for place in design.orders[person % 6]
        ]
        assert {len(block) for block in blocks} == {5}
    firsts = Counter(
        places[presented_rows(design, person, np.random.default_rng(0))[0][0]]
        for person in range(12)
    )
    assert firsts == {0: 4, 1: 4, 2: 4}


def test_a_repetition_shows_all_trials_of_a_condition_before_the_next_one() -> None:
    design = plan(n_blocks=1, repetitions=3)
    rows, begins = presented_rows(design, 0, np.random.default_rng(1))
    for block in np.split(rows, begins[1:]):
        for part in block.reshape(3, 5):
            assert len(set(part.tolist())) == 5


def test_a_design_keeps_its_conditions_and_one_without_is_written_as_before() -> None:
    design = plan()
    again = design_from_json(design_to_json(design))
    assert (again.conditions, again.orders) == (design.conditions, design.orders)
    assert "calm, hurried, tired, within participants" in summarise_design(design)
    assert "one of 6 orders" in summarise_design(design)
    assert set(design_to_json(Design("1.1", TRIALS, 1, 2))) == {
        "name", "stimuli", "repetitions", "n_participants", "random_coverage", "information", "archive",
    }  # fmt: skip


def test_more_blocks_than_presentations_are_refused() -> None:
    with pytest.raises(DesignError, match=r"design\.blocks is 11, and 1\.1 has 10 presentations"):
        plan(n_blocks=11)


@pytest.mark.parametrize("name", DOMAINS)
def test_a_domain_with_conditions_does_what_it_does_without(name: str) -> None:
    plain = DOMAINS[name]
    domain = with_conditions(plain, NAMES)
    assert isinstance(domain, type(plain))
    for probe, with_places in zip(
        plain.probes(np.random.default_rng(1)), domain.probes(np.random.default_rng(1)), strict=True
    ):
        domain.check(with_places)
        swapped = domain.swap_sides(with_places)
        assert condition_of(swapped).tolist() == condition_of(with_places).tolist()
        assert domain.swap_sides(swapped).keys == with_places.keys
        assert domain.picture(with_places, 0) == plain.picture(probe, 0)
        assert domain.describe(with_places, 0) == f"{plain.describe(probe, 0)} (calm)"
        features = domain.features(with_places)
        for key, values in plain.features(probe).items():
            np.testing.assert_array_equal(features[key], values)
        hurried = (condition_of(with_places) == 1).tolist()
        assert (features["condition_hurried"] == 1).tolist() == hurried
    again = pickle.loads(pickle.dumps(domain))
    assert (
        full_name(again)
        == f"{name}#calm+hurried+tired"
        == full_name(find_domain(full_name(domain)))
    )


def test_the_same_trial_in_two_conditions_is_two_trials() -> None:
    domain = with_conditions(DOMAINS["risky"], NAMES)
    (probe, *_) = DOMAINS["risky"].probes(np.random.default_rng(1))
    both = Stimuli.concatenate([in_condition(probe, 0), in_condition(probe, 1)])
    assert len(set(identities(domain, both))) == 2 * len(set(identities(domain, probe)))


def test_an_unknown_condition_is_refused() -> None:
    domain = with_conditions(DOMAINS["risky"], NAMES)
    (probe, *_) = DOMAINS["risky"].probes(np.random.default_rng(1))
    wrong = Stimuli({**probe.arrays, CONDITION: np.full(len(probe), 3.0)})
    with pytest.raises(StimuliError, match=r"trial 0 has the condition 3; .*calm, hurried, tired"):
        domain.check(wrong)
    assert with_conditions(DOMAINS["learning"], ()) is DOMAINS["learning"]


def test_a_schedule_is_played_whole_and_in_its_order_in_each_condition() -> None:
    domain = with_conditions(DOMAINS["learning"], NAMES)
    plain = DOMAINS["learning"].candidates({"n_steps": 6}, np.random.default_rng(2), 1)
    stimuli = domain.candidates({"n_steps": 6}, np.random.default_rng(2), 1)
    domain.check(stimuli)
    assert stimuli["payoff"].tolist() == np.tile(plain["payoff"], (3, 1, 1)).tolist()
    assert domain.admits({"n_steps": 6}, stimuli).all()
    assert not domain.admits({"n_steps": 18}, stimuli).any()
    design = with_orders(Design("1.1", stimuli, 1, 6), NAMES, 1, np.random.default_rng(5))
    for person, order in enumerate(design.orders):
        rows, begins = presented_rows(design, person, np.random.default_rng(0), sequential=True)
        assert rows.tolist() == [6 * place + step for place in order for step in range(6)]
        assert begins.tolist() == [0, 6, 12]
        assert rows.tolist() == schedule_orders(design)[person]
    assert schedule_orders(Design("1.1", plain, 1, 6)) == [list(range(6))]


def test_what_participants_see_of_a_step_has_its_condition() -> None:
    domain = with_conditions(DOMAINS["learning"], NAMES)
    stimuli = domain.candidates({"n_steps": 2}, np.random.default_rng(2), 1)
    seen = domain.shown(stimuli.arrays, {})
    plain = DOMAINS["learning"].shown(without_condition(stimuli).arrays, {})
    assert set(seen) == {*plain, CONDITION}
    assert np.asarray(seen[CONDITION]).tolist() == [0, 0, 1, 1, 2, 2]
