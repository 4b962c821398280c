"""Theories that revisers write: checked like all others, fitted, scored by the search's own criterion."""

import re

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.simulated import as_trials
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.roles.answer import Stated, Successor
from lakatos.theories.discovery.roles.prompt import read_prompt
from lakatos.theories.discovery.roles.tryout import program_of, try_program
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.fitting.evaluate import evaluate, evaluate_program, n_statements
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN, FAMILY = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
GOOD = '''"""Totals: people take the higher sum, and err."""
PARAMETERS = {"lapse": {"prior": "uniform", "low": 0.0, "high": 0.8}}


def choose(parameters, trials, xp):
    totals = trials["ratings"].sum(axis=-1)
    return 0.5 + (0.5 - parameters["lapse"] / 2) * xp.sign(totals[:, 1] - totals[:, 0])
'''


def successor(source: str, *stated: Stated) -> Successor:
    return Successor(change="another rule", source=source, predictions=stated)


@pytest.fixture(scope="module")
def laboratory():
    with_one = Laboratory(DOMAIN, 1)
    yield with_one
    with_one.close()


@pytest.fixture(scope="module")
def trials(laboratory):
    """Answers of 40 people who follow GOOD with a lapse of 0.2."""
    space = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
    stimuli = DOMAIN.candidates(space, np.random.default_rng(0), 24)
    truth = read_program(TheoryProgram(GOOD, "test"))
    rng = np.random.default_rng(1)
    order = np.tile(np.arange(24), (40, 1))
    people = {"lapse": np.full(40, 0.2)}
    behaviour = laboratory._pool.submit(
        lambda: behave(truth, DOMAIN, laboratory._sandbox(), people, stimuli, order, rng)
    ).result()
    return [as_trials("1", stimuli, order, behaviour, 2)]


def attempt(laboratory, trials, answer: Successor, known=()):
    return try_program(
        program_of(answer, "language model w", ()),
        laboratory.check,
        lambda program: laboratory.evaluate_program(program, trials),
        GrammarAdvocate(FAMILY.grammar),
        known,
    )


@pytest.mark.slow
def test_the_example_of_the_contract_is_a_theory(sandbox):
    sources = re.findall(r"```python\n(.*?)```", read_prompt("contract").text, re.DOTALL)
    assert len(sources) == 1
    for source in sources:
        report = check_theory(TheoryProgram(source, "contract"), DOMAIN, sandbox)
        assert report.passed, report.to_text()


def test_fences_are_taken_off_and_stated_predictions_written_in():
    stated = Stated(relation="reverses", varied="sides")
    program = program_of(successor(f"```python\n{GOOD}```", stated), "w", ())
    assert program.source.startswith(GOOD.rstrip())
    assert "PREDICTIONS = [{'property': 'reverses', 'in': 'sides'}]" in program.source
    again = program_of(
        successor(program.source, stated, Stated(relation="ignores", varied="scale")), "w", ()
    )
    assert again.source.count("PREDICTIONS") == 1
    assert again.source.count("reverses") == 1
    assert "ignores" in again.source


def test_text_that_is_no_python_is_left_for_the_checks_to_refuse():
    for text in ("not python at all (", "PREDICTIONS = 3", "\x00", "def " * 1000):
        assert (
            program_of(successor(text, Stated(relation="reverses", varied="sides")), "w", ()).source
            == text
        )


def test_what_passes_is_fitted_within_its_declared_limits_and_scored(laboratory, trials):
    found = attempt(
        laboratory, trials, successor(GOOD, Stated(relation="reverses", varied="sides"))
    )
    assert found.outcome == "submitted", found.reason
    prior = found.theory.priors["lapse"]
    assert (prior.kind, prior.low, prior.high) == ("normal", 0.0, 0.8)
    # 960 answers: the share of errors, half the lapse, has a standard error of 0.01.
    assert prior.center == pytest.approx(0.2, abs=0.08)
    assert "PREDICTIONS" in found.theory.program.source
    assert found.theory.program.author == "language model w"
    assert found.error < 0.01
    n_choices = 960
    score = found.criterion + max(1e-3, np.log(40) / n_choices) * (1 + 0.3 * n_statements(GOOD))
    # Log likelihood of choices with a known rule and 10% errors: -0.325 nats, within three standard errors.
    assert score == pytest.approx(-0.325, abs=3 * 0.66 / np.sqrt(n_choices))


def test_the_same_source_twice_is_a_duplicate_before_and_after_fitting(laboratory, trials):
    first = attempt(laboratory, trials, successor(GOOD))
    for known in ({first.program.digest}, {first.theory.digest}):
        assert attempt(laboratory, trials, successor(GOOD), known).outcome == "duplicate"


@pytest.mark.parametrize(
    ("source", "stated", "reason"),
    [
        ("nothing", (), "TheorySourceError"),
        (GOOD.replace("PARAMETERS =", "import os\nPARAMETERS ="), (), "TheoryLintError"),
        (GOOD.replace("return 0.5 +", "return 1.5 +"), (), "Error"),
        (GOOD.replace("xp.sign(", "xp.sing("), (), "Error"),
        (GOOD, (Stated(relation="ignores", varied="rating"),), "ClaimContradictedError"),
        (GOOD, (Stated(relation="ignores", varied="weather"),), "cannot vary 'weather'"),
    ],
)
def test_what_fails_is_refused_with_the_words_that_its_author_is_told(
    laboratory, trials, source, stated, reason
):
    found = attempt(laboratory, trials, successor(source, *stated))
    assert found.outcome == "refused"
    assert reason in found.reason


def test_a_composition_fitted_as_any_program_scores_as_it_does_in_the_search(sandbox, trials):
    grammar, composition = FAMILY.grammar, FAMILY.seeds["tallying"][1]
    searched = evaluate(grammar, composition, trials, DOMAIN, sandbox)
    program = FAMILY.program("tallying")
    written = evaluate_program(program, trials, DOMAIN, sandbox)
    # Different sources draw different people; their scores agree to the error of 256 draws.
    assert written.mean == pytest.approx(searched.mean, abs=0.005)
    assert written.error == pytest.approx(searched.error, abs=0.003)
