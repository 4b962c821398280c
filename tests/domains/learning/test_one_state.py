"""The quicker writing of the grammar of learning, held against the general one."""

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains.learning.task import LearningDomain, LearningSettings, schedule
from lakatos.domains.learning.theories import FAMILY, GRAMMAR
from lakatos.experiments.task import Trials
from lakatos.theories.engine.running.sequence import log_likelihood_of_all
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = LearningDomain()
N_STEPS, N_PEOPLE, N_DRAWS = 24, 3, 8
PLAIN = {"expectation": "even", "rate": "constant", "credit": "direct", "choice": "softmax"}


def of_slots(**slots):
    return Composition({slot: (name,) for slot, name in (PLAIN | slots).items()})


def forms():
    """Every mechanism in a plain composition, and all published theories."""
    yield from (of_slots(**{item.slot: item.name}) for item in GRAMMAR.mechanisms)
    yield from (composition for _, composition in FAMILY.seeds.values())


def reversal(n_options):
    """Answers at random to two games of a reversal."""
    rng = np.random.default_rng(n_options)
    settings = LearningSettings(
        "reversal", n_steps=N_STEPS, n_options=n_options, n_blocks=2, reversal_every=5
    )
    n_answers = N_PEOPLE * N_STEPS
    return Trials(
        experiment="reversal",
        stimuli=schedule(settings, rng),
        participant=np.repeat(np.arange(N_PEOPLE), N_STEPS),
        trial=np.tile(np.arange(N_STEPS), N_PEOPLE),
        response=rng.integers(n_options, size=n_answers),
        count=np.ones(n_answers, dtype=np.int64),
        n_options=n_options,
        feedback={
            "reward": rng.integers(2, size=n_answers) * 1.0,
            "next_state": np.zeros(n_answers),
        },
    )


@pytest.mark.parametrize("n_options", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_mechanism_answers_alike_in_the_quicker_writing(n_options):
    trials = reversal(n_options)
    with (
        Sandbox() as sandbox,
        sandbox.open_session(
            "def choose(parameters, trials, xp): ...", [], n_options=n_options
        ) as session,
    ):
        for composition in forms():
            plain = GRAMMAR.write(composition)
            quick = GRAMMAR.write_for(composition, [trials.stimuli])
            assert quick != plain
            population = read_program(TheoryProgram(plain, "grammar")).population(N_DRAWS)
            found = []
            for source in (plain, quick):
                session.hold(source)
                found.append(log_likelihood_of_all(session, DOMAIN, population, [trials]))
            np.testing.assert_array_equal(*found, err_msg=str(composition.slots))


def test_two_steps_and_unknown_mechanisms_are_written_as_always():
    plain = of_slots()
    two_step = schedule(LearningSettings("two_step", n_steps=8), np.random.default_rng(0))
    one_step = reversal(2).stimuli
    assert GRAMMAR.write_for(plain, [one_step, two_step]) == GRAMMAR.write_untold(plain)

    others = tuple(
        replace(item, learn="rate = 0.5") if item.name == "constant" else item
        for item in GRAMMAR.mechanisms
    )
    other = replace(GRAMMAR, mechanisms=others)
    assert other.write_for(plain, [one_step]) == other.write_untold(plain)
    assert "rate = 0.5" in other.write(plain)
