"""What learners miss of a theory's predictions is little for rules, and most for whatever holds trials by heart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.domains.published_data import load_archive
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.exam import MEMORISED, MOST_NUMBERS, _table
from lakatos.theories.engine.checks.hidden_numbers import table_size
from lakatos.theories.engine.checks.memorised import (
    LEAST_ERROR,
    LEAST_TRIALS,
    MOST_UNEXPLAINED,
    missed,
    typical_predictions,
    unexplained_predictions,
)
from lakatos.theories.engine.checks.tested_theory import TestedTheory
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = DOMAINS["multiattribute"]
SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2, 3]}
RNG = np.random.default_rng(4)
X = RNG.normal(size=(160, 3))
GROUP = np.arange(160)


def of_two(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is known of two options, and their probabilities."""
    return np.stack([-X, X], axis=1), np.stack([1 - p, p], axis=1)


@pytest.mark.parametrize(
    "p",
    [
        1 / (1 + np.exp(-X @ [1.0, 0.5, -0.5])),
        np.where(X[:, 0] > 0.3, 0.9, 0.2),
        np.where(np.abs(X[:, 0]) > 0.5, X[:, 0] > 0, X[:, 1] > 0) * 0.8 + 0.1,
    ],
    ids=["a sum", "a limit", "one cue after another"],
)
def test_rules_are_learned_from_half_of_their_predictions(p):
    share, _ = missed(*of_two(p), GROUP)
    assert share < MOST_UNEXPLAINED


def test_of_a_table_nothing_is_learned():
    share, error = missed(*of_two(RNG.random(160)), GROUP)
    assert share > 0.9
    assert error == pytest.approx(12**-0.5, abs=0.05)  # standard deviation of a uniform number


def test_of_predictions_that_never_differ_nothing_is_missed():
    assert missed(*of_two(np.full(160, 0.7)), GROUP) == (0.0, 0.0)


def test_trials_of_one_group_are_never_on_both_sides():
    """Half of the rows repeat the others: as groups of two, a table stays a table."""
    twice = np.tile(RNG.random(80), 2)
    columns = np.stack([-np.tile(X[:80], (2, 1)), np.tile(X[:80], (2, 1))], axis=1)
    predicted = np.stack([1 - twice, twice], axis=1)
    alone, _ = missed(columns, predicted, np.arange(160))
    grouped, _ = missed(columns, predicted, np.tile(np.arange(80), 2))
    assert alone < 0.6 < 0.9 < grouped


def test_distributions_over_a_scale_are_learned_and_tables_of_them_are_not():
    places = np.arange(20)
    centers = 10 + 3 * X[:, 0]
    columns = np.repeat(X[:, None], 20, axis=1)

    def around(middle: np.ndarray) -> np.ndarray:
        weights = np.exp(-((places - middle[:, None]) ** 2) / 8)
        return weights / weights.sum(axis=1, keepdims=True)

    assert missed(columns, around(centers), GROUP)[0] < 0.2
    share, error = missed(columns, around(RNG.permutation(centers)), GROUP)
    assert share > 0.8
    assert error > LEAST_ERROR


HEAD = '"""A rule: it is followed."""\nPARAMETERS = {"s": {"prior": "uniform", "low": 0.2, "high": 2.0}}\n'
NUMBER = (
    'flat = xp.round(trials["ratings"].reshape(len(trials["ratings"]), -1))\n'
    "    n = flat @ 5.0 ** xp.arange(flat.shape[-1])"
)
FUNCTIONS = {
    "digits of a sine": "u = xp.sin(n + 1) * 1e4 % 1",
    "digits of a root": "u = xp.sqrt(n + 2) * 1e3 % 1",
    "digits of a tangent": "u = xp.tan(n * 1e3 + 1) % 1",
    "digits of an exponential": "u = xp.exp(n % 19 + n / 1e3) % 1",
    "digits of a logarithm": "u = xp.log(n + 2) * 1e5 % 1",
    "multiples of an irrational number": "u = (n * n + n) * 0.618034 % 1",
    "a linear congruence": "u = (n * 16807 + 11) % 2147483647 * 16807 % 2147483647 / 2147483647",
    "a remainder": "u = n * n % 997 / 997",
    "a chaotic map": "u = n % 613 / 613\n    for _ in range(40): u = 3.99 * u * (1 - u)",
    "bits": "u = (n.astype(int) * 2654435761 >> 16 & 255) / 256",
    "exclusive or": "k = n.astype(int); k = k ^ k << 13; k = k ^ k >> 7; u = (k ^ k << 17) % 1021 / 1021",
    "parity of bits": "k = n.astype(int) * 40503; u = sum(k >> j & 1 for j in range(16)) % 2 * 0.8 + 0.1",
    "texts of numbers": "u = xp.array([int(f'{v * v + v:.0f}'[-4:-2] or 0) / 100 for v in n.tolist()])",
    "texts of fractions": "u = xp.array([int(f'{1 / (v + 7):.12f}'[-4:-2]) / 100 for v in n.tolist()])",
    "powers in a field": "u = xp.array([pow(3, int(v) + 5, 1009) / 1009 for v in n.tolist()])",
    "a hash": "u = xp.array([hash((v, 7)) % 1000 / 1000 for v in n.tolist()])",
    "texts of roots": "u = xp.array([int(f'{(v + 3) ** 0.5:.12f}'[-4:-2]) / 100 for v in n.tolist()])",
    "digits of a sine of a sine": "u = xp.sin(xp.sin(n * 12.9898 + 4) * 43758.5453) / 2 + 0.5",
}
"""Ways to make a number of each trial from a source that holds hardly any: a seed that was searched for fits data."""


def by_heart(body: str) -> str:
    return (
        f"{HEAD}\ndef choose(parameters, trials, xp):\n    {NUMBER}\n    {body}\n"
        '    return 0.02 + 0.96 * u + 0 * parameters["s"]\n'
    )


def table_checks(source: str, sandbox, n_trials: int = 200):
    stimuli = DOMAIN.candidates(SPACE, np.random.default_rng(0), n_trials)
    report = check_theory(
        TheoryProgram(source, "test"), DOMAIN, sandbox, candidates=stimuli, steps=[_table]
    )
    return {check.name: check for check in report.checks}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_made_of_trials_are_refused_whatever_makes_them(name, sandbox):
    source = by_heart(FUNCTIONS[name])
    assert table_size(source) < MOST_NUMBERS
    found = table_checks(source, sandbox)
    assert not found[MEMORISED].passed, found[MEMORISED].sentence
    assert "knows trials by heart" in found[MEMORISED].sentence


def test_the_exam_states_both_numbers_and_the_same_ones_again(sandbox):
    source = HEAD + (
        "\ndef choose(parameters, trials, xp):\n"
        '    evidence = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)\n'
        '    return 1 / (1 + xp.exp(-parameters["s"] * evidence))\n'
    )
    first, again = (table_checks(source, sandbox) for _ in range(2))
    assert first["table"].value == 0
    assert first[MEMORISED].passed
    assert first[MEMORISED].value == again[MEMORISED].value
    assert "of the variance of the others" in first[MEMORISED].sentence


def test_of_few_trials_nothing_is_measured_and_the_check_states_it(sandbox):
    source = by_heart(FUNCTIONS["bits"])
    found = table_checks(source, sandbox, LEAST_TRIALS - 1)[MEMORISED]
    assert (found.passed, found.required, found.value) == (False, False, None)
    assert found.sentence.startswith("not measured: the study has fewer than 60 distinct trials.")
    assert "may hold a response for each of them" in found.sentence


@pytest.mark.parametrize("n_trials", [16, 40])
def test_no_published_theory_is_refused_for_the_small_number_of_gambles(sandbox, n_trials):
    domain = DOMAINS["risky"]
    (archive,) = load_archive("allais", Path("nowhere"))
    stimuli = (
        archive.stimuli if n_trials == 16 else domain.candidates({}, np.random.default_rng(1), 40)
    )
    for name in ("expected_utility", "priority_heuristic"):
        theory = read_program(FAMILIES["risky"].program(name))
        trial = TestedTheory(theory, domain, sandbox, domain.probes, stimuli, 1)
        assert unexplained_predictions(trial) is None


def test_a_table_that_a_parameter_turns_round_is_measured_by_its_pattern():
    table = np.random.default_rng(2).random((200, 1)) - 0.5
    weights = np.linspace(-1, 1, 33)[:, None, None]
    turned = 0.5 + weights * np.concatenate([-table, table], axis=1)
    assert np.allclose(turned.mean(axis=0), 0.5)
    found = typical_predictions(turned)
    assert abs(np.corrcoef(found[:, 1], table[:, 0])[0, 1]) > 0.999
    straight = np.clip(0.5 + np.abs(weights) * np.concatenate([-table, table], axis=1), 0, 1)
    assert np.array_equal(typical_predictions(straight), straight.mean(axis=0))
