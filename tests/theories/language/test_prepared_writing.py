"""What trials alone decide is worked out once, and every answer stays what it was."""

from collections import Counter
from textwrap import dedent

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.theories.engine.sandbox.evaluator import NamedArrays, TheoryEvaluator, load
from lakatos.theories.language.grammar import Composition, Grammar
from lakatos.theories.language.prepared_writing import helpers_for, prepared, write_prepared
from lakatos.theories.language.theory import TheoryProgram, read_program

MEMORYLESS = [name for name in FAMILIES if not DOMAINS[name].sequential]
"""Domains in which the same trials are asked about again and again."""
N_DRAWS = 5


def covering(grammar: Grammar, rng: np.random.Generator, n_random: int) -> list[Composition]:
    """Compositions without memory: each mechanism in a random one, and some further random ones."""
    learns = {item.slot for item in grammar.mechanisms if item.learn}
    drawn = [grammar.compose(rng) for _ in grammar.mechanisms]
    found = [
        Composition(dict(item.slots) | {mechanism.slot: (mechanism.name,)})
        for item, mechanism in zip(drawn, grammar.mechanisms, strict=True)
    ]
    found += [grammar.compose(rng) for _ in range(n_random)]
    still = [
        Composition({slot: names for slot, names in item.slots.items() if slot not in learns})
        for item in found
    ]
    return [item for item in still if item.size]


def answers(source, stimuli, n_options, population):
    """Those of a fresh process to the same question twice, since the second may look things up."""
    evaluator = TheoryEvaluator(load(source).choose, NamedArrays(stimuli.arrays), n_options, True)
    first, second = (np.array(evaluator.probabilities(population)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    return first


@pytest.mark.parametrize("domain", MEMORYLESS)
def test_every_mechanism_answers_alike_to_the_last_bit(domain):
    grammar, rng = FAMILIES[domain].grammar, np.random.default_rng(3)
    stimuli = max(DOMAINS[domain].probes(rng), key=len)
    stimuli = stimuli.take(rng.permutation(len(stimuli))[:40])
    n_options, n_prepared = DOMAINS[domain].n_options(stimuli), 0
    for composition in covering(grammar, rng, 10):
        used = grammar.used(composition)
        plain = grammar.write_untold(composition)
        parts = (grammar.before, *(item.code for item in used), grammar.after)
        source = write_prepared(grammar.helpers, parts)
        n_prepared += source is not None
        population = read_program(TheoryProgram(plain, "grammar")).population(8)
        population = {name: values[:N_DRAWS] for name, values in population.items()}
        np.testing.assert_array_equal(
            answers(source or plain, stimuli, n_options, population),
            answers(plain, stimuli, n_options, population),
            err_msg=str(composition.slots),
        )
    assert n_prepared > 0


RULE = (
    "gap = helper(trials['b']) - helper(trials['a'])\nfeature = xp.sign(gap)",
    "evidence = parameters['weight'] * feature",
    "feature = xp.abs(helper(trials['b']))\nevidence = evidence + parameters['other'] * feature",
    "return 1 / (1 + xp.exp(-evidence))",
)
TRIALS = NamedArrays(a=np.array([1.0, 2.0, 5.0]), b=np.array([3.0, 1.0, 4.0]))
PARAMETERS = {"weight": np.array([0.5, 1.0]), "other": np.array([0.1, -0.2])}


class TestOneRule:
    """A rule of four parts, whose helper counts its calls."""

    @pytest.fixture
    def counted(self):
        source = write_prepared("def helper(x):\n    return 2.0 * x", RULE)
        assert source is not None
        functions, calls = load(source), Counter()
        inner = functions.choose.__globals__["helper"]

        def helper(x):
            calls["helper"] += 1
            return inner(x)

        functions.choose.__globals__["helper"] = helper
        return TheoryEvaluator(functions.choose, TRIALS, 2, True), calls

    def test_what_trials_decide_is_worked_out_once_and_equal_expressions_are_one(self, counted):
        evaluator, calls = counted
        gap = np.sign(2 * TRIALS["b"] - 2 * TRIALS["a"])
        for _ in range(3):
            found = evaluator.probabilities(PARAMETERS)
            evidence = PARAMETERS["weight"][:, None] * gap
            evidence = evidence + PARAMETERS["other"][:, None] * np.abs(2 * TRIALS["b"])
            np.testing.assert_array_equal(found, 1 / (1 + np.exp(-evidence)))
        assert calls["helper"] == 3  # once for `a`, twice for `b`, which stands in two expressions

    def test_other_trials_are_worked_out_for_themselves(self, counted):
        evaluator, calls = counted
        evaluator.probabilities(PARAMETERS)
        others = NamedArrays(a=np.zeros(2), b=np.array([1.0, -1.0]))
        other = TheoryEvaluator(evaluator.choose, others, 2, True)
        one = {name: values[:1] for name, values in PARAMETERS.items()}
        expected = 1 / (1 + np.exp(-(0.5 * np.array([1.0, -1.0]) + 0.1 * np.array([2.0, 2.0]))))
        np.testing.assert_allclose(other.probabilities(one)[0], expected, rtol=1e-15)
        assert calls["helper"] == 6


@pytest.mark.parametrize(
    "statement",
    [
        "evidence = 0.0 * trials['a']\nevidence += parameters['weight']",
        "table = trials['a']\ntable[0] = 1.0",
        "terms = [trials['a']]\nterms.append(parameters['weight'])",
        "for place in range(2):\n    total = parameters['weight'] * place",
        "here, *there = parameters['weight'], 1.0, 2.0",
    ],
)
def test_what_changes_in_place_or_is_not_understood_stays_whole(statement):
    assert prepared((statement, "return parameters['weight'] * trials['a']")) is None


def check_predicts_as_written(parts):
    """The prepared text gives, to the last bit, what its statements give one after another."""
    source = write_prepared("", parts)
    body = "\n".join(parts).replace("\n", "\n    ")
    plain = f"def choose(parameters, trials, xp):\n    {body}\n"
    found = [
        TheoryEvaluator(load(text).choose, TRIALS, 2, True).probabilities(PARAMETERS)
        for text in (source, plain)
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    "statements",
    [
        "a, b = trials['a'], trials['b']\na, b = b, a",
        "a = b = trials['a'] + parameters['weight']\na, b = b + trials['b'], a * 2.0",
        "a, b = trials['a'], parameters['weight'] + trials['b']\na, b = b, a",
        "a, b = (trials[name] for name in ('b', 'a'))",
        "a, b = (trials[name] * parameters['weight'] for name in ('b', 'a'))",
        "none = None\na, b = trials['a'], parameters['other']\nb = b if none is None else b * (1 + none)",
    ],
)
def test_several_values_at_once_are_given_as_they_were_written(statements):
    parts = (statements, "return 1 / (1 + xp.exp(parameters['other'] + a - 2.0 * b * trials['b']))")
    check_predicts_as_written(parts)


def test_a_function_within_a_rule_sees_what_it_was_written_with():
    parts = (
        "scale = trials['a'] + 1.0\npower = parameters['weight']\n"
        "def bend(x):\n    return (x / scale) ** power\nscaled = bend(trials['b'])",
        "return scaled / (1 + scaled)",
    )
    check_predicts_as_written(parts)
    changed = (parts[0] + "\nscale = 2.0\nscaled = bend(trials['b'])", parts[1])
    assert prepared(changed) is None


def test_helpers_that_nobody_calls_are_left_out():
    helpers = dedent(
        """
        def second(x):
            return first(x) * 2

        def first(x):
            return x + 1

        def third(x):
            return x
        """
    )
    found = helpers_for(helpers, "second(trials['a'])")
    assert found.index("def second") < found.index("def first")
    assert "def third" not in found


def test_a_form_is_what_reading_its_source_makes_of_it():
    grammar, rng = FAMILIES["risky"].grammar, np.random.default_rng(5)
    for _ in range(20):
        composition = grammar.compose(rng)
        source = grammar.write_untold(composition)
        form, read = grammar.form(composition, source), read_program(TheoryProgram(source, "x"))
        assert form.priors == read.priors
        assert list(form.priors) == list(read.priors)
        assert form.learns == read.learns
        assert form.digest == read.digest
