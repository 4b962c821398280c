"""What fitted theories leave unexplained of simulated responses: 1 if they are right, more if they are wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.unexplained import ErrorRatio
from lakatos.theories.findings.verdicts.unexplained import _People, _repetitions, left_unexplained
from lakatos.theories.language.theory import Theory, read_program

N_PEOPLE, N_TRIALS = 60, 40


def theory(domain: str, name: str, **centers: float) -> Theory:
    """A published theory whose participants lie around these values."""
    form = read_program(FAMILIES[domain].program(name))
    people = {
        key: form.priors[key].narrowed(float(form.priors[key].latent(np.array(value))), 0.2)
        for key, value in centers.items()
    }
    return form.with_people(people)


def left(domain: str, form: str, trials: Trials) -> ErrorRatio | None:
    with Laboratory(DOMAINS[domain], 1) as laboratory:
        fitted = theory(domain, form)
        (people,) = laboratory.people_of([fitted], [{}], [trials])
        assert isinstance(people, dict)
        found = fitted.with_people(people, pooled=trials.pooled)
        return left_unexplained(laboratory, found, [trials], 256)


@pytest.fixture(scope="module")
def trials() -> Trials:
    """Participants who discount hyperbolically, each asked every trial once."""
    domain = DOMAINS["intertemporal"]
    rng = np.random.default_rng(5)
    stimuli = domain.candidates({}, rng, N_TRIALS)
    truth = theory("intertemporal", "proportional_difference")
    with Laboratory(domain, 1) as laboratory:
        (found,) = laboratory.simulate([truth], stimuli, N_PEOPLE, rng, n_draws=64)
    return replace(found, experiment="1")


@pytest.mark.parametrize("pooled", [False, True])
def test_a_right_form_leaves_nothing_and_a_wrong_one_something(
    trials: Trials, *, pooled: bool
) -> None:
    own = trials.in_counts() if pooled else trials
    right, wrong = (
        left("intertemporal", name, own) for name in ("proportional_difference", "exponential")
    )
    assert right is not None
    assert wrong is not None
    assert right.low <= 1.0
    assert wrong.is_above_one
    assert wrong.value > 1.5 * right.value


@pytest.mark.slow
def test_single_responses_are_compared_in_groups_of_trials_that_are_alike() -> None:
    """With one response to a trial, any share has the error that chance makes of it; groups show what is wrong."""
    domain = DOMAINS["intertemporal"]
    rng, n_people = np.random.default_rng(6), 2 * N_PEOPLE
    stimuli = domain.candidates({}, rng, n_people * N_TRIALS)
    asked = np.zeros((n_people, len(stimuli)), dtype=np.int64)
    for person in range(n_people):
        asked[person, person * N_TRIALS : (person + 1) * N_TRIALS] = 1
    truth = theory("intertemporal", "proportional_difference", sensitivity=8.0)
    with Laboratory(domain, 1) as laboratory:
        (found,) = laboratory.simulate([truth], stimuli, n_people, rng, n_draws=64, asked=asked)
    single = replace(found, experiment="1")
    assert (single.totals.sum(axis=1) == 1).all()
    right, wrong = (
        left("intertemporal", name, single) for name in ("proportional_difference", "exponential")
    )
    assert right is not None
    assert wrong is not None
    assert right.low <= 1.0
    assert wrong.is_above_one


def test_the_same_responses_give_the_same_ratio_to_the_last_bit(trials: Trials) -> None:
    first, second = (left("intertemporal", "hyperbolic", trials) for _ in range(2))
    assert first == second


def test_a_theory_with_as_many_parameters_as_shares_leaves_nothing_to_say(trials: Trials) -> None:
    kept = np.asarray(trials.trial) < 3
    few = replace(
        trials,
        stimuli=trials.stimuli.take(range(3)),
        participant=trials.participant[kept],
        trial=trials.trial[kept],
        response=trials.response[kept],
        count=trials.count[kept],
    )
    assert left("intertemporal", "proportional_difference", few) is None


def test_repetitions_are_counted_by_part_of_the_session_and_by_what_came_before() -> None:
    trials = Trials(
        experiment="1",
        stimuli=DOMAINS["learning"].candidates(
            {"task": "reversal", "n_steps": 9}, np.random.default_rng(0), 9
        ),
        participant=np.zeros(9, dtype=np.int64),
        trial=np.arange(9),
        response=np.array([0, 0, 1, 1, 1, 0, 0, 1, 1]),
        count=np.ones(9, dtype=np.int64),
        feedback={"reward": np.array([1.0, 0, 1, 1, 0, 0, 1, 1, 0])},
    )
    same, there = _repetitions(trials)
    # Eight steps from one response to the next, two in each quarter; the first four kinds after no reward.
    assert there.tolist() == [[1, 0, 2, 0, 1, 2, 0, 2]]
    assert same.tolist() == [[0, 0, 1, 0, 1, 2, 0, 1]]


@pytest.mark.parametrize("n_options", [2, 3])
def test_a_tie_that_is_missed_by_rounding_makes_the_same_simulated_responses(
    n_options: int,
) -> None:
    """NumPy draws otherwise above one half than below; kernels of linear algebra differ in the last bit."""
    people = _People(np.arange(200), np.zeros(200, dtype=np.int64), np.full(200, 4), (1, n_options))
    tie = np.full((8, 1, n_options), 1 / 2 if n_options == 2 else 1 / 4)
    tie[..., 0] = 1 / 2

    def responses(p: np.ndarray) -> list[list[float]]:
        return people.respond(p, 200, None, np.random.default_rng(3)).tolist()

    above, below = tie.copy(), tie.copy()
    above[..., 0] += 2e-16
    below[..., 0] -= 2e-16
    if n_options == 2:
        above[..., 1], below[..., 1] = 1 - above[..., 0], 1 - below[..., 0]
    assert responses(above) == responses(tie) == responses(below)
