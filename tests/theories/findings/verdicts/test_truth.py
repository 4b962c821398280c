"""Theories beside the hidden rule: on which trials, how often participants repeat themselves, and who is compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli, Trials, identities
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.findings.verdicts.truth import (
    SAMPLED,
    SCHEDULES,
    TRUTH_DRAWS,
    _sequence_statistics,
    _space,
    compare_with_truth,
    map_theories,
    repetitions,
)
from lakatos.theories.language.theory import read_program


def test_a_space_that_can_be_listed_is_compared_whole_with_sides_by_lot() -> None:
    domain = DOMAINS["multiattribute"]
    space = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
    (found,) = _space(domain, space, np.random.default_rng(0))
    every = domain.space(space)
    assert len(found) == len(every)
    assert identities(domain, found) == identities(domain, every)
    assert found.keys != every.keys


def test_of_a_task_with_steps_some_schedules_are_compared() -> None:
    domain = DOMAINS["learning"]
    found = _space(domain, {"task": "reversal", "n_steps": 12}, np.random.default_rng(0))
    assert [len(item) for item in found] == [12] * SCHEDULES
    assert len({item.keys for item in found}) == SCHEDULES


def test_of_a_space_too_large_to_be_listed_a_sample_is_compared() -> None:
    domain = DOMAINS["offers"]
    (found,) = _space(domain, {}, np.random.default_rng(0))
    assert 100 < len(found) <= SAMPLED


def sequences(responses: list[list[int]], rewards: list[list[int]] | None = None) -> Trials:
    """Responses of participants to steps of one schedule, with what followed them."""
    n_people, n_steps = len(responses), len(responses[0])
    feedback = {} if rewards is None else {"reward": np.ravel(rewards).astype(float)}
    return Trials(
        "e",
        Stimuli({"step": np.arange(float(n_steps))}),
        participant=np.repeat(np.arange(n_people), n_steps),
        trial=np.tile(np.arange(n_steps), n_people),
        response=np.ravel(responses),
        count=np.ones(n_people * n_steps, dtype=int),
        feedback=feedback,
    )


def test_repetitions_are_counted_in_all_and_by_what_the_last_response_was_followed_by() -> None:
    # Steps 2 to 4 of the first: same after a reward, other after none, same after a reward.
    # Of the second: same after none, same after none, other after a reward.
    found = repetitions(sequences([[0, 0, 1, 1], [1, 1, 1, 0]], [[1, 0, 1, 0], [0, 0, 1, 1]]))
    assert found == {
        "in all": pytest.approx(4 / 6),
        "after a reward": pytest.approx(2 / 3),
        "after none": pytest.approx(2 / 3),
    }


def test_repetitions_after_a_reward_and_after_none_are_told_apart() -> None:
    found = repetitions(sequences([[0, 0, 1, 1, 0]], [[1, 0, 1, 0, 1]]))
    assert found == {"in all": 0.5, "after a reward": 1.0, "after none": 0.0}


def test_what_never_happened_is_left_out_of_the_repetitions() -> None:
    found = repetitions(sequences([[0, 0, 1]], [[1, 1, 1]]))
    assert found == {"in all": 0.5, "after a reward": 0.5}
    assert repetitions(sequences([[0, 0, 0]])) == {"in all": 1.0}


def test_errors_are_those_of_the_listed_theories_and_the_pool_is_sampled(
    evidence: TheoryEvidence,
) -> None:
    names = [line.theory for line in evidence.board().standings]
    leader, first = names[0], next(name for name in names if name in evidence.seeds)
    hidden = evidence.theory(first)
    found = compare_with_truth(evidence, hidden, names, np.random.default_rng(0))
    assert found.hidden == hidden.name
    assert found.n_trials == len(evidence.domain.space(evidence.terms.space))
    expected = evidence.board().listed(evidence.seeds)
    assert set(found.corrected) == set(found.uncorrected) == set(expected)
    assert {leader, first, *names[:3]} <= set(expected)
    assert set(found.pool) == set(names)
    # The rule itself is as near as can be, and nearer than the leader.
    assert found.uncorrected[first] == pytest.approx(0.0, abs=1e-12)
    assert found.uncorrected[leader] > 1e-4
    assert found.sequence == {}


def test_theories_are_mapped_in_their_order_on_trials_of_the_space(
    evidence: TheoryEvidence,
) -> None:
    names = list(evidence.theories.pool)
    found = map_theories(evidence, names, np.random.default_rng(0))
    assert found.theories == tuple(names)
    assert len(found.positions) == len(names)
    assert 0 < found.n_trials <= len(evidence.domain.space(evidence.terms.space))
    assert 0 < found.shown <= 1


def test_how_often_participants_repeat_themselves_is_counted_where_a_theory_learns(
    evidence: TheoryEvidence,
) -> None:
    domain, family = DOMAINS["learning"], FAMILIES["learning"]
    space = {"task": "reversal", "n_steps": 20}
    steps = domain.candidates(space, np.random.default_rng(0), 20)
    hidden = read_program(family.program("win_stay_lose_shift"))
    leader = read_program(family.program("rescorla_wagner"))
    with Laboratory(domain, n_workers=1) as laboratory:
        known = replace(
            evidence, domain=domain, family=family, laboratory=laboratory,
            forms={leader.digest: leader},
        )  # fmt: skip
        found = _sequence_statistics(
            known, hidden, leader.digest, steps, np.random.default_rng(0), 0.2
        )
        people = laboratory.simulate(
            [hidden, leader],
            steps,
            TRUTH_DRAWS,
            np.random.default_rng(0),
            random_choices=(0.2, 0.0),
        )
    own, learned = map(repetitions, people)
    assert found == {"hidden": own, leader.digest: learned}
    assert own != learned
    assert set(own) == {"in all", "after a reward", "after none"}
