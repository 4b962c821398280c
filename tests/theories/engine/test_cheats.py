"""Theories that cheat are not admitted, and honest theories that learn are."""

import numpy as np
import pytest

from benchmarks.theories import cheats
from lakatos.theories.engine.checks.exam import table_size
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryProbabilityError
from lakatos.theories.language.theory import TheoryProgram, read_program

EVERY = {cheat.name: cheat for cheat in cheats.cheats()}


@pytest.fixture(scope="module")
def experiments(sandbox):
    return {name: cheats.experiment(name, sandbox) for name in ("learning", "multiattribute")}


def test_thirty_kinds_are_planted():
    assert len(EVERY) >= 30


@pytest.mark.parametrize("name", EVERY)
def test_every_cheat_would_gain(experiments, name):
    assert cheats.unguarded_gain(EVERY[name], experiments[EVERY[name].domain]) > 0


@pytest.mark.parametrize(
    ("name", "where"),
    [
        (
            "pools people from five people on",
            "size: predictions for 12 participants depend on one another",
        ),
        ("pools people through a module", "memory: "),
        ("looks at the clock of another process", "PermissionError"),
        ("pools draws", "draw 0 is answered otherwise among other draws"),
        ("knows the exam by the number of draws", "draw 0 is answered otherwise among other draws"),
        ("looks 25 trials up in a table", "table: "),
        ("contradicts its claim on the study's own trials only", "claim"),
    ],
)
def test_cheats_are_refused_and_told_why(sandbox, experiments, name, where):
    cheat = EVERY[name]
    found = cheats.outcome(cheat.source, cheat.domain, experiments[cheat.domain], sandbox)
    assert found.refused
    assert where in found.reason


@pytest.mark.long
@pytest.mark.parametrize("name", EVERY)
def test_no_cheat_is_admitted(sandbox, experiments, name):
    cheat = EVERY[name]
    found = cheats.outcome(cheat.source, cheat.domain, experiments[cheat.domain], sandbox)
    assert found.refused


@pytest.mark.long
def test_honest_theories_that_learn_are_admitted(sandbox, experiments):
    programs = cheats.honest_learners(100)
    assert len(programs) == 100
    found = [
        cheats.outcome(item.source, "learning", experiments["learning"], sandbox)
        for item in programs
    ]
    assert [item.reason for item in found if item.refused] == []


def test_a_walk_knows_nothing_of_the_walks_before(sandbox, experiments):
    theory = read_program(
        TheoryProgram(EVERY["remembers in a list in the module"].source, "planted")
    )
    trials = experiments["learning"]
    with TheoryView(theory, cheats.DOMAINS["learning"], sandbox, [trials.stimuli]) as view:
        found = [view.log_likelihood(theory.population(1), [trials]) for _ in range(2)]
    assert np.array_equal(*found)


def test_a_scored_person_is_asked_again_alone(sandbox, experiments):
    theory = read_program(TheoryProgram(EVERY["pools people from ten people on"].source, "planted"))
    trials = experiments["learning"]
    with (
        TheoryView(theory, cheats.DOMAINS["learning"], sandbox, [trials.stimuli]) as view,
        pytest.raises(
            TheoryProbabilityError,
            match=r"the study's: about person \d+ at step \d+ .* among 12 people",
        ),
    ):
        view.evidence(theory.population(8), [trials])


def test_calls_of_one_process_are_tried_in_another(sandbox):
    source = EVERY["knows the exam by the number of calls"].source
    source = source.replace("p.mean(axis=0)[None] + 0 * p", "0.5 * p + 0.25").replace("> 2", "> 1")
    stimuli = cheats.study_of("multiattribute")[1]
    with sandbox.open_session(source, [stimuli.arrays]) as session:
        for _ in range(2):
            session.probabilities({"s": np.ones(1)})
        with pytest.raises(TheoryProbabilityError, match=r"at call 2 of 2 .* asked nothing before"):
            session.check_forgetful()


@pytest.mark.parametrize(
    ("body", "size"),
    [
        ("return 0.5 * trials['x'][..., 0]", 0),
        ("return 0.7978846", 3),
        ("return [0, 1, 2, 3, 4, 5, 6, 7, 8]", 9),
        ("return '31415926'", 4),
        ("return 0x3141592653", 5),
    ],
)
def test_numbers_that_a_source_holds_are_counted(body, size):
    source = f'"""A rule: it is followed."""\nPARAMETERS = {{}}\ndef choose(parameters, trials, xp):\n    {body}\n'
    assert table_size(source) == size
