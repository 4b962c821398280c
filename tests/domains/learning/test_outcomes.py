"""Participants who are simulated on a file's trials receive outcomes that are known, estimated and stated, or none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains.learning.outcomes import deviation_from_constant, known_outcomes
from lakatos.domains.learning.task import DOMAIN, steps
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import (
    SimulatedSchedule,
    knows_outcomes,
    outcome_schedules,
    simulated_schedule,
)
from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.planning.offers import of_one_person
from lakatos.experiments.task import Trials
from lakatos.theories.findings.verdicts.tell import trials_with_outcomes

N_PEOPLE, N_STEPS = 12, 60


def answers(rates: np.ndarray, *, block_start: np.ndarray | None = None, seed: int = 1) -> Trials:
    """Responses at random to options that pay with ``(n_people, n_steps, 2)`` probabilities; payoffs are not kept."""
    rng = np.random.default_rng(seed)
    n_people, n_steps, n_options = rates.shape
    response = rng.integers(0, n_options, (n_people, n_steps))
    person, step = np.indices(response.shape)
    reward = (rng.random(response.shape) < rates[person, step, response]) * 1.0
    return Trials(
        experiment="file",
        stimuli=steps(n_steps, n_options, block_start=block_start),
        participant=person.ravel(),
        trial=step.ravel(),
        response=response.ravel(),
        count=np.ones(response.size, dtype=np.int64),
        n_people=n_people,
        feedback={"reward": reward.ravel(), "next_state": np.zeros(response.size)},
    )


def constant(first: float, second: float) -> np.ndarray:
    return np.broadcast_to([first, second], (N_PEOPLE, N_STEPS, 2)).copy()


def test_the_schedule_of_a_file_is_not_known_and_that_of_a_study_is() -> None:
    file = answers(constant(0.8, 0.2))
    assert not knows_outcomes(DOMAIN, file)
    schedule = outcome_schedules(DOMAIN, file, N_PEOPLE, np.random.default_rng(0)).stimuli
    own = schedule.take(np.arange(N_STEPS))
    arrays = {
        "arrays": {name: array[file.trial] for name, array in own.arrays.items()},
        "shown": {"state": np.zeros((1, len(file.trial)))},
        "response": file.response[None],
    }
    found = {name: table[0] for name, table in DOMAIN.feedback(**arrays).items()}
    study = Trials(
        "study", own, file.participant, file.trial, file.response, file.count, feedback=found
    )
    assert knows_outcomes(DOMAIN, study)
    schedules = outcome_schedules(DOMAIN, study, 3, np.random.default_rng(0))
    assert schedules.stimuli is own
    assert schedules.note == ""
    assert (schedules.rows == np.arange(N_STEPS)).all()


def test_constant_rates_are_estimated_by_option_and_block_and_stated() -> None:
    rates = constant(0.9, 0.1)
    rates[:, 30:] = rates[:, 30:, ::-1]
    block_start = (np.arange(N_STEPS) % 30 == 0) * 1.0
    file = answers(rates, block_start=block_start)
    schedules = outcome_schedules(DOMAIN, file, 200, np.random.default_rng(0))
    payoff = schedules.stimuli["payoff"].reshape(200, N_STEPS, 3, 2)[:, :, 0]
    table = known_outcomes(file)
    for block, part in ((0, payoff[:, :30]), (1, payoff[:, 30:])):
        for option in (0, 1):
            own = table[(table.block == block) & (table.option == option)].reward
            error = np.sqrt(own.var() / part[..., option].size)
            assert abs(part[..., option].mean() - own.mean()) < 4 * error + 1e-12
    assert "estimated from the file" in schedules.note
    assert (
        f"block 2, option 2: {table[(table.block == 1) & (table.option == 1)].reward.mean():.2f}"
        in (schedules.note)
    )
    # each simulated participant has outcomes of its own
    assert (payoff[0] != payoff[1]).any()
    assert schedules.order(np.array([[2, 0]]))[0].tolist() == [2, 0]


def test_reversals_without_blocks_and_options_that_differ_between_participants_are_refused() -> (
    None
):
    reversing = constant(0.9, 0.1)
    reversing[:, 15:30] = reversing[:, 15:30, ::-1]
    reversing[:, 45:] = reversing[:, 45:, ::-1]
    turned = constant(0.9, 0.1)
    turned[::2] = turned[::2, :, ::-1]
    for rates in (reversing, turned):
        with pytest.raises(TrialsError, match=r"is not\s+known.*payoff="):
            outcome_schedules(DOMAIN, answers(rates), 3, np.random.default_rng(0))


def test_clauses_are_tried_where_outcomes_are_known_or_estimated_and_not_where_nothing_pays() -> (
    None
):
    reversing = constant(0.9, 0.1)
    reversing[:, 20:] = reversing[:, 20:, ::-1]
    told = trials_with_outcomes(DOMAIN, [answers(constant(0.9, 0.1)), answers(reversing)])
    assert len(told) == 1
    assert told[0]["payoff"].any()
    assert not answers(reversing).stimuli["payoff"].any()


@pytest.mark.statistical
def test_constant_rates_depart_from_constant_rates_as_rarely_as_a_normal_number_does() -> None:
    found = [
        deviation_from_constant(known_outcomes(answers(constant(0.7, 0.3), seed=seed)))
        for seed in range(60)
    ]
    # The larger of two that share most of their data: beyond 2.5 at most 2 * 1.24% of times, plus 4 standard errors.
    assert np.mean(np.array(found) > 2.5) <= 0.025 + 4 * np.sqrt(0.025 / 60)


def test_outcomes_that_all_participants_shared_are_kept_step_by_step() -> None:
    rng = np.random.default_rng(3)
    fixed = rng.integers(0, 2, (N_STEPS, 2)) * 1.0
    file = answers(np.broadcast_to(fixed, (N_PEOPLE, N_STEPS, 2)))
    schedules = outcome_schedules(DOMAIN, file, 2, np.random.default_rng(0))
    payoff = schedules.stimuli["payoff"][:N_STEPS, 0]
    seen = np.zeros((N_STEPS, 2), dtype=bool)
    seen[file.trial, file.response] = True
    assert (payoff[seen] == fixed[seen]).all()
    assert "received the same" in schedules.note


def test_rewards_of_a_second_stage_are_refused() -> None:
    file = answers(constant(0.8, 0.2))
    two = steps(N_STEPS, 2, stage=np.arange(N_STEPS) % 2)
    staged = Trials(
        "file", two, file.participant, file.trial, file.response, file.count, feedback=file.feedback
    )
    with pytest.raises(TrialsError, match="second stage"):
        outcome_schedules(DOMAIN, staged, 2, np.random.default_rng(0))


def test_participants_who_are_simulated_before_a_fit_receive_estimated_outcomes() -> None:
    rng = np.random.default_rng(0)
    found = simulated_schedule(DOMAIN, answers(constant(0.8, 0.2)), rng)
    assert found.stimuli is not None
    assert not found.lacks_outcomes
    assert len(found.stimuli) == N_STEPS
    first, second = found.stimuli["payoff"][:, 0].mean(axis=0)
    assert first - second > 0.3  # 0.6 is expected, with a standard error of 0.07
    falling = constant(0.8, 0.2)
    falling[:, N_STEPS // 2 :] = falling[:, N_STEPS // 2 :, ::-1]
    lacking = simulated_schedule(DOMAIN, answers(falling), rng)  # a reversal without a block
    assert (lacking.stimuli, lacking.lacks_outcomes) == (None, True)
    known = steps(N_STEPS, 2, payoff=np.ones((N_STEPS, 3, 2)))
    file = answers(constant(1.0, 1.0))
    assert simulated_schedule(DOMAIN, replace(file, stimuli=known), rng) == SimulatedSchedule()


def test_sealed_participants_do_not_tell_what_options_pay() -> None:
    file, seen = answers(constant(0.8, 0.2)), []

    def noted(trials: Trials, rng: np.random.Generator) -> SimulatedSchedule:
        seen.append(trials)
        return simulated_schedule(DOMAIN, trials, rng)

    source = ArchivalParticipants([file], sealed_share=0.5, sequential=True, simulate=noted)
    assert [item.n_participants for item in seen] == [N_PEOPLE // 2]
    (offer,) = source.offers(np.random.default_rng(0), 10)
    assert of_one_person(offer) is offer.simulated
    assert not offer.stimuli["payoff"].any()
    assert of_one_person(offer)["payoff"].any()
