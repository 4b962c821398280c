"""Power of an effect of what is known of people: it is what the verdict's own rule does to simulated people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.findings.differences.cell_posterior import CellPosteriors, ParameterScale
from lakatos.theories.findings.differences.effect_power import (
    EffectPower,
    Kind,
    SimulatedPool,
    power_of_effects,
    text_of_effect_powers,
)
from lakatos.theories.findings.differences.parameter_effect import (
    EXPERIMENT,
    N_RESPONSES,
    PERSON,
)
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from tests.theories.findings.differences.conftest import DOMAIN, STIMULI


@pytest.fixture(scope="module")
def theory() -> Theory:
    form = read_program(find_family(DOMAIN).program("hyperbolic"))
    people = {
        "discount_rate": form.priors["discount_rate"].narrowed(np.log(0.01), 0.8),
        "sensitivity": form.priors["sensitivity"].narrowed(np.log(1.0), 0.5),
        "lapse": form.priors["lapse"].narrowed(0.05, 0.03),
    }
    return form.with_people(people)


def test_a_theory_without_numbers_promises_nothing(laboratory: Laboratory) -> None:
    source = '''"""Sooner: people take what comes first."""
PARAMETERS = {}

def choose(parameters, trials, xp):
    return xp.zeros((1, len(trials["amounts"])))
'''
    plain = read_program(TheoryProgram(source, "somebody"))
    rng = np.random.default_rng(1)
    assert power_of_effects(plain, STIMULI, [20], laboratory, rng, kind="group") == []


def pool_of(values: np.ndarray, kind: Kind, x: Any) -> SimulatedPool:
    """A pool of participants whose cells are known."""
    n = len(values)
    n_people = n // 2 if kind == "condition" else n
    column, square = values.reshape(-1, 1), np.full((n, 1, 1), 1e-4)
    posteriors = CellPosteriors(
        (ParameterScale("rate", "plain", -100.0, 100.0),), np.zeros(1), np.eye(1), column, square,
        column, np.stack([column, column]), column, square, np.zeros(n), np.ones(n),
    )  # fmt: skip
    people = np.tile(np.arange(n_people), n // n_people)
    frame = pd.DataFrame({EXPERIMENT: 0, PERSON: people, N_RESPONSES: 10, "x": x})
    return SimulatedPool(posteriors, frame, kind, np.ones(1), ())


def halves(n: int) -> pd.Categorical:
    return pd.Categorical.from_codes(
        np.repeat([0, 1], n // 2), categories=["first", "second"], ordered=True
    )


@pytest.mark.parametrize("kind", ["condition", "group", "number"])
@pytest.mark.slow
def test_a_pools_effect_is_shown_in_studies_of_it_and_not_where_labels_are_drawn(
    kind: Kind,
) -> None:
    """The change is two standard deviations; drawn labels show one in 5% of studies at most, nearly."""
    rng, n = np.random.default_rng(3), 64
    x = np.repeat([0.0, 1.0], n // 2) if kind != "number" else np.linspace(-1, 1, n)
    labels = x if kind == "number" else halves(n)
    pool = pool_of(2 * x + rng.normal(0, 1, n), kind, labels)
    shown = [pool.study(24, rng, 99).effects[0].is_shown for _ in range(12)]
    false = [pool.study(24, rng, 99, is_null=True).effects[0].is_shown for _ in range(40)]
    assert sum(shown) >= 10
    assert sum(false) <= 6  # more have a probability of 1.4% at 5%


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["condition", "group", "number"])
def test_many_people_show_a_large_effect_and_few_people_do_not(
    theory: Theory, laboratory: Laboratory, kind: Kind
) -> None:
    few, many = power_of_effects(
        theory, STIMULI, [8, 60], laboratory, np.random.default_rng(1), kind=kind, size=1.2,
        n_trials=24, parameters=["discount_rate"], n_simulations=12,
    )  # fmt: skip
    assert many.changes.startswith("1.2 between-participant SD in discount_rate")
    assert many.power >= 0.8
    assert few.power <= many.power
    assert many.n_false <= 2  # of twelve; more have a probability of 2% at 5%


def test_the_text_says_what_is_promised() -> None:
    changes = "0.5 between-participant SD in rate for one SD of it"
    found = [EffectPower("Hyperbolic", changes, 60, 40, 30, 1)]
    text = text_of_effect_powers("age", found)
    assert "with 60 participants: the false positive rate is 0.03 (0.00 to 0.13)" in text
    assert (
        "for one SD of it: power 0.75 (0.60 to 0.86); about 68 participants would give 0.80" in text
    )
    assert text_of_effect_powers("age", []) == ""
