"""Power of a comparison of groups: it is what the comparison itself does to simulated people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.experiments.interval import exact_interval
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.findings.differences.group_difference import differences_between_groups
from lakatos.theories.findings.differences.group_power import (
    GroupPower,
    as_normal,
    power_by_parameter,
    power_of_groups,
    shifted,
    text_of_powers,
)
from lakatos.theories.findings.differences.groups import compare_groups
from lakatos.theories.language.family import find_family
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory, read_program
from tests.theories.findings.differences.conftest import DOMAIN, STIMULI

N_EACH, REPETITIONS = 20, 2


@pytest.fixture(scope="module")
def theory() -> Theory:
    form = read_program(find_family(DOMAIN).program("hyperbolic"))
    people = {
        "discount_rate": form.priors["discount_rate"].narrowed(np.log(0.01), 0.6),
        "sensitivity": form.priors["sensitivity"].narrowed(np.log(1.0), 0.5),
        "lapse": form.priors["lapse"].narrowed(0.05, 0.03),
    }
    return form.with_people(people)


def test_a_population_is_moved_by_standard_deviations_of_its_people() -> None:
    u = (np.arange(2000) + 0.5) / 2000
    for prior in (
        Prior("normal", -5.0, 5.0, 0.3, 1.0),
        Prior("log_normal", 1e-4, 1.0, np.log(0.01), 0.6),
    ):
        moved = shifted(prior, 0.5)
        before, after = (item.latent(item.quantile(u)) for item in (prior, moved))
        assert after.mean() - before.mean() == pytest.approx(0.5 * before.std(), rel=0.03)


def test_an_even_population_is_planned_as_a_normal() -> None:
    u = (np.arange(2000) + 0.5) / 2000
    even = Prior("uniform", 0.0, 1.0)
    before, after = as_normal(even).quantile(u), shifted(even, 0.5).quantile(u)
    assert before.mean() == pytest.approx(0.5, abs=1e-3)
    assert after.mean() - before.mean() == pytest.approx(0.5 * before.std(), rel=0.03)


def test_where_the_range_ends_the_population_is_moved_the_other_way() -> None:
    u = (np.arange(2000) + 0.5) / 2000
    prior = Prior("normal", 0.0, 1.0, 0.97, 0.3)
    moved = shifted(prior, 2.0)
    assert moved.quantile(u).mean() < prior.quantile(u).mean() - prior.quantile(u).std()


def test_other_numbers_are_shown_the_oftener_the_more_they_differ(
    theory: Theory, laboratory: Laboratory
) -> None:
    def power(shift: float) -> GroupPower:
        other = dict(theory.priors) | {
            "discount_rate": shifted(theory.priors["discount_rate"], shift)
        }
        rng = np.random.default_rng(0)
        groups = (theory.priors, other)
        return power_of_groups(theory, groups, STIMULI, N_EACH, laboratory, rng, n_simulations=60)

    small, large = power(0.5), power(3.0)
    assert large.power > 0.9 > small.power
    assert large.n_needed is not None
    assert small.n_needed is None or small.n_needed > N_EACH > large.n_needed


def test_each_parameter_is_told_but_those_that_no_trial_depends_on(
    theory: Theory, laboratory: Laboratory
) -> None:
    idle = theory.with_people(
        dict(theory.priors) | {"lapse": replace(theory.priors["lapse"], idle=True)}
    )
    found = power_by_parameter(
        idle, STIMULI, N_EACH, laboratory, np.random.default_rng(0), n_simulations=10
    )
    assert [item.differs.partition(" in ")[2].partition(" ")[0] for item in found] == [
        "discount_rate",
        "sensitivity",
    ]
    text = text_of_powers("age", found)
    assert "20 participants in each of two groups" in text
    assert "0.5 between-participant SD in discount_rate (medians 0.01 and 0.0135)" in text


@pytest.mark.long
def test_the_promised_power_is_that_of_the_comparison_itself(
    theory: Theory, laboratory: Laboratory
) -> None:
    """The comparison of groups as a verdict makes it, on 60 studies with a difference and 60 without."""
    rate = shifted(theory.priors["discount_rate"], 1.5)
    groups = (theory.priors, dict(theory.priors) | {"discount_rate": rate})
    rng = np.random.default_rng(1)
    promised = power_of_groups(
        theory, groups, STIMULI, N_EACH, laboratory, rng, repetitions=REPETITIONS, n_simulations=400
    )
    shown = [_shows(theory, groups, laboratory, rng) for _ in range(60)]
    false = [_shows(theory, (groups[0], groups[0]), laboratory, rng) for _ in range(60)]
    assert promised.n_needed is not None
    low, high = exact_interval(sum(shown), len(shown), confidence=0.99)
    assert low <= promised.power <= high
    low, high = exact_interval(sum(false), len(false), confidence=0.99)
    assert low <= promised.false_alarms <= high


def _shows(
    theory: Theory,
    groups: tuple[dict[str, Prior], dict[str, Prior]],
    laboratory: Laboratory,
    rng: np.random.Generator,
) -> bool:
    """Whether the verdict's own comparison of one study shows a difference of any parameter."""
    people = [theory.with_people(own) for own in groups]
    first, second = laboratory.simulate(
        people, STIMULI, N_EACH, rng, n_draws=1024, repetitions=REPETITIONS
    )
    # all in one experiment, or groups could not be told from experiments
    columns = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("trial", "response", "count")
    }
    who = np.concatenate([first.participant, second.participant + N_EACH])
    trials = [replace(first, participant=who, n_people=2 * N_EACH, **columns)]
    in_first = np.arange(2 * N_EACH) < N_EACH
    members = {"first": [in_first], "second": [~in_first]}
    form = read_program(theory.program)
    populations = compare_groups(form, trials, members, laboratory, 256).populations
    found = differences_between_groups(form, populations, trials, members, laboratory, rng)
    return any(item.differs for item in found)
