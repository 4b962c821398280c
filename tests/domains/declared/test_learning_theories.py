"""Theories of declared tasks with feedback, against their formulas and against what they say of themselves."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from feedback_tasks import BANDIT, TASKS, changed

from lakatos.domains.declared.feedback_task import FeedbackDomain
from lakatos.domains.declared.learning_theories import feedback_family
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.claim import check_claim
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.language.grammar import Composition, composition_of
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAINS = {name: FeedbackDomain(text) for name, text in TASKS.items()}
FAMILIES = {name: feedback_family(domain) for name, domain in DOMAINS.items()}
NEEDED = {
    "expectation": "even",
    "rate": "none",
    "credit": "direct",
    "choice": "logistic",
}


def walk(sandbox, text, slots, parameters, responses, rewards, *, arrays=None, **outcomes):
    """``(n_steps, n_options)`` probabilities of one person with these choices and outcomes."""
    domain = FeedbackDomain(text)
    n_steps = len(responses)
    stimuli = domain.candidates({}, np.random.default_rng(0), 1).take(range(n_steps))
    feedback = {"reward": rewards, "next_state": [0] * n_steps} | outcomes
    trials = Trials(
        "x", Stimuli(dict(stimuli.arrays) | (arrays or {})), np.zeros(n_steps, int), np.arange(n_steps),
        np.array(responses), np.ones(n_steps, int), n_options=len(domain.options),
        feedback={name: np.array(column, dtype=float) for name, column in feedback.items()},
    )  # fmt: skip
    source = feedback_family(domain).grammar.write(Composition.of(NEEDED | slots), "Test")
    with sandbox.open_session(source, [], n_options=len(domain.options)) as session:
        points = {key: np.array([value]) for key, value in parameters.items()}
        return follow(session, domain, points, trials).own[0]


def softmax(evidence):
    strength = np.exp(np.asarray(evidence) - np.max(evidence))
    return strength / strength.sum()


def test_a_value_moves_by_a_share_of_each_surprise_over_the_declared_range(sandbox):
    text = changed(BANDIT, ("amounts = [10, 0]", "amounts = [20, -20]"))
    p = walk(
        sandbox,
        text,
        {"rate": "constant"},
        {"rate": 0.5, "value_weight": 4.0},
        [0, 1, 0],
        [20, -20, 0],
    )
    assert p[0] == pytest.approx([0.5, 0.5])
    assert p[1] == pytest.approx(softmax([4 * 0.75, 4 * 0.5]))
    assert p[2] == pytest.approx(softmax([4 * 0.75, 4 * 0.25]))


def test_forgone_outcomes_are_learned_at_a_rate_of_their_own(sandbox):
    text = changed(BANDIT, ('unit = "points"', 'unit = "points"\nshows = "all"'))
    slots = {"rate": "constant", "others": "forgone outcomes"}
    parameters = {"rate": 0.5, "forgone_rate": 0.2, "value_weight": 4.0}
    told = {"outcome_1": [10, 0], "outcome_2": [0, 0]}
    p = walk(sandbox, text, slots, parameters, [0, 0], [10, 0], **told)
    assert p[1] == pytest.approx(softmax([4 * 0.75, 4 * (0.5 - 0.2 * 0.5)]))
    alike = {"rate": "constant", "others": "outcomes alike"}
    p = walk(sandbox, text, alike, {"rate": 0.5, "value_weight": 4.0}, [0, 0], [10, 0], **told)
    assert p[1] == pytest.approx(softmax([4 * 0.75, 4 * 0.25]))


def test_the_worth_of_attributes_is_learned_by_the_delta_rule(sandbox):
    arrays = {"height": np.array([[0.0, 30.0], [30.0, 0.0]]), "leaf": np.array([[0.0, 1.0]] * 2)}
    p = walk(
        sandbox, TASKS["weather"], {"lessons": "weights of attributes"},
        {"lesson_rate": 0.6, "lesson_weight": 5.0}, [1, 1], [4.0, 0.0],
        arrays=arrays, outcome_1=[-2.0, 0.0], outcome_2=[4.0, 0.0],
    )  # fmt: skip
    assert p[0] == pytest.approx([0.5, 0.5])
    # two cues of 1 and a constant predict 0.5; the outcome is 1 of the range: each weight moves by 0.6 * 0.5 / 3
    step = 0.6 * 0.5 / 3
    assert p[1] == pytest.approx(softmax([5 * step, 5 * step]))


def test_attributes_stand_beside_a_learned_value(sandbox):
    arrays = {"height": np.array([[0.0, 30.0]]), "leaf": np.array([[0.0, 0.0]])}
    p = walk(
        sandbox, TASKS["weather"], {"evaluation": "height alone"}, {"height_weight": 2.0}, [0], [0.0],
        arrays=arrays, outcome_1=[0.0], outcome_2=[0.0],
    )  # fmt: skip
    assert p[0] == pytest.approx(softmax([0, 2]))


def test_options_that_are_not_there_are_never_chosen(sandbox):
    slots = {"rate": "constant", "lapse": "random"}
    p = walk(
        sandbox,
        TASKS["pairs"],
        slots,
        {"rate": 0.5, "value_weight": 4.0, "lapse": 0.4},
        [0, 0],
        [5, 5],
    )
    there = DOMAINS["pairs"].candidates({}, np.random.default_rng(0), 1)["available"][:2]
    assert (p[there == 0] == 0).all()
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[there > 0].min() >= 0.2 - 1e-9


@pytest.mark.parametrize("name", TASKS)
def test_mechanisms_have_claims_sources_units_and_answers(name):
    family = FAMILIES[name]
    for item in family.grammar.mechanisms:
        assert item.claim or item.slot == "credit", item.name
        assert item.source, item.name
        assert all(prior["unit"] and prior["meaning"] for prior in item.parameters.values())
        signed = {key for key, prior in item.parameters.items() if prior["prior"] == "normal"}
        assert signed <= {wording.parameter for wording in item.wordings if wording.opposite_clause}


@pytest.mark.parametrize("name", TASKS)
def test_sources_name_their_mechanisms_and_read_back(name):
    for title, composition in FAMILIES[name].seeds.values():
        source = FAMILIES[name].grammar.write(composition, title)
        theory = read_program(TheoryProgram(source, "published"))
        assert theory.learns
        assert composition_of(theory.composition, {}).key == composition.key


def test_rivals_are_those_that_the_task_allows():
    common = {"rescorla_wagner", "two_rates", "perseveration", "win_stay_lose_shift", "random"}
    assert all(common <= set(family.seeds) for family in FAMILIES.values())
    assert "fictive_learning" in FAMILIES["bandit"].seeds
    counterfactual = {"counterfactual", "all_outcomes"}
    attributes = {"learned_attributes", "value_and_attributes", "weighted_adding", "lexicographic"}
    assert counterfactual | attributes <= set(FAMILIES["weather"].seeds)
    assert not (counterfactual | attributes) & set(FAMILIES["bandit"].seeds)
    assert "fictive_learning" not in FAMILIES["weather"].seeds


@pytest.mark.long
@pytest.mark.parametrize("name", TASKS)
def test_published_theories_pass_all_checks(name, sandbox):
    domain, family = DOMAINS[name], FAMILIES[name]
    candidates = domain.candidates({}, np.random.default_rng(0), 1)
    for seed in family.seeds:
        report = check_theory(family.program(seed), domain, sandbox, candidates=candidates)
        assert report.passed, (seed, report.failures)


@pytest.mark.long
@pytest.mark.parametrize("name", TASKS)
def test_random_compositions_do_as_they_predict(name, sandbox):
    grammar, rng = FAMILIES[name].grammar, np.random.default_rng(1)
    n_tried = 0
    for _ in range(25):
        source = grammar.write(grammar.compose(rng), "Test")
        report = check_claim(read_program(TheoryProgram(source, "t")), DOMAINS[name], sandbox)
        report.raise_for_contradiction()
        n_tried += len(report.tried)
    assert n_tried > 12
