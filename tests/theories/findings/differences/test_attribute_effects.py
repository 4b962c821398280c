"""Numbers that depend on what is known of people: recovered where they do, and not claimed where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, norm, truncnorm

from lakatos.domains import FAMILIES
from lakatos.experiments.errors import TrialsError
from lakatos.theories.engine.fitting.effects import (
    CenterRegression,
    PeopleOnDraws,
    effect_errors,
    learn_regression,
)
from lakatos.theories.engine.scoring.score import ScoreEstimate, UnitScores, advantage
from lakatos.theories.findings.differences.attribute_effects import (
    LearnedEffect,
    TheoryWithEffects,
    columns_of,
    predicted_by_others,
    said_of_effects,
)
from lakatos.theories.language.theory import read_program

N_PEOPLE, N_TRIALS, N_DRAWS = 80, 20, 256
FREE = np.array([[True], [True]])
NONE = np.zeros((2, 1), dtype=bool)
START = CenterRegression(np.array([0.5, 0.5]), np.zeros((2, 1)), np.log([0.3, 0.3]))
PRIOR_SD = 0.25


def studied(effect: float, seed: int) -> PeopleOnDraws:
    """People with two chances, of which the first depends on their age; each is tried twenty times."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(N_PEOPLE)
    z = (z - z.mean()) / z.std()
    centers = np.stack([np.clip(0.45 + effect * z, 0, 1), np.full(N_PEOPLE, 0.6)])
    chances = truncnorm.rvs(-centers / 0.15, (1 - centers) / 0.15, centers, 0.15, random_state=rng)
    successes = rng.binomial(N_TRIALS, chances)
    latent = rng.random((2, N_DRAWS))
    log_p = sum(binom.logpmf(successes[j][None], N_TRIALS, latent[j][:, None]) for j in range(2))
    return PeopleOnDraws(latent, np.zeros(N_DRAWS), np.asarray(log_p), z[:, None])


def found(people: PeopleOnDraws) -> tuple[CenterRegression, NDArray[np.float64]]:
    learned = learn_regression(people, START, FREE, PRIOR_SD)
    return learned, effect_errors(people, learned, FREE, PRIOR_SD)


@pytest.mark.statistical
def test_effects_lie_in_their_intervals_as_often_as_they_should() -> None:
    truth, n_studies = 0.1, 40
    inside, shown, values = np.zeros(2), 0, []
    for seed in range(n_studies):
        people = studied(truth, seed)
        learned, errors = found(people)
        away = learned.effects[:, 0] - [truth, 0.0]
        inside += np.abs(away) < 1.96 * errors[:, 0]
        shown += learned.effects[0, 0] - 1.96 * errors[0, 0] > 0
        values.append(learned.effects[0, 0])
    # 40 studies of coverage 0.95: fewer than 33 inside have a probability of 0.1%
    assert (inside >= 33).all()
    assert shown > 0.9 * n_studies
    assert np.mean(values) == pytest.approx(truth, abs=3 * np.std(values) / np.sqrt(n_studies))


@pytest.mark.slow
@pytest.mark.statistical
def test_an_effect_pays_for_people_left_out_only_where_there_is_one() -> None:
    n_studies, n_shown = 15, {0.0: 0, 0.2: 0}
    for effect in n_shown:
        for seed in range(n_studies):
            people = studied(effect, 1000 + seed)
            learned, _ = found(people)
            plain = learn_regression(people, START, NONE, PRIOR_SD)
            with_effect = predicted_by_others(people, learned, FREE, PRIOR_SD)
            without = predicted_by_others(people, plain, NONE, PRIOR_SD)
            gain = advantage(with_effect - without, np.full(N_PEOPLE, 2.0 * N_TRIALS))
            n_shown[effect] += gain.interval[0] > 0
    assert n_shown[0.2] >= 13
    # three of fifteen and more have a probability of 0.6% at the level of 2.5%
    assert n_shown[0.0] <= 2


def test_a_narrow_prior_holds_an_effect_back() -> None:
    people = studied(0.2, 1)
    free = learn_regression(people, START, FREE, PRIOR_SD).effects[0, 0]
    held = learn_regression(people, START, FREE, 0.01).effects[0, 0]
    assert 0 < held < 0.7 * free


def test_without_free_effects_everybody_has_one_population() -> None:
    people = studied(0.2, 1)
    plain = learn_regression(people, START, NONE, PRIOR_SD)
    assert (plain.effects == 0).all()
    weights = people.log_weights(plain)
    assert np.allclose(weights, weights[:, :1])


def test_weights_are_those_of_each_person_s_own_truncated_normal() -> None:
    people = studied(0.2, 2)
    given = CenterRegression(np.array([0.4, 0.6]), np.array([[0.2], [0.0]]), np.log([0.2, 0.1]))
    centers = given.centers_of(people.z)
    density = sum(
        norm.logpdf(people.latent[j][:, None], centers[j][None], [0.2, 0.1][j]) for j in range(2)
    )
    wanted = np.exp(density - density.max(axis=0))
    assert np.allclose(np.exp(people.log_weights(given)), wanted / wanted.sum(axis=0))


def test_a_number_is_standardised_and_what_is_not_known_is_the_mean() -> None:
    ages = np.array([str(age) for age in range(10, 22)] + [""])
    known = columns_of([ages[:6], ages[6:]], "age")
    assert known.names == ("age",)
    assert known.is_number
    assert known.n_known == 12
    assert known.everybody[:-1].mean() == pytest.approx(0)
    assert known.everybody[:-1].std() == pytest.approx(1)
    assert known.everybody[-1, 0] == 0
    assert list(known.shown) == ["12.05", "18.95"]


def test_what_is_the_same_for_everybody_known_of_an_experiment_is_of_the_experiment() -> None:
    one, other = ["a"] * 8, ["b"] * 8
    assert columns_of([np.array(one), np.array(other)], "place").is_of_experiments
    assert columns_of([np.array([*one, ""]), np.array(other)], "place").is_of_experiments
    assert not columns_of([np.array([*one, "b"]), np.array(other)], "place").is_of_experiments


def test_groups_have_a_column_each_but_the_first() -> None:
    known = columns_of([np.array(["c", "a", "b", "a"] * 4)], "condition")
    assert known.names == ("b", "c")
    assert list(known.shown) == ["a", "b", "c"]
    assert known.everybody.mean(axis=0) == pytest.approx(0)
    assert known.everybody.std(axis=0) == pytest.approx(1)
    assert (known.z[0][1] == known.shown["a"]).all()


@pytest.mark.parametrize(
    ("labels", "refused"),
    [
        (["12"] * 30, "is 12 for everybody"),
        (["12", "13"] * 3, "known for 6 participants; estimating an effect needs 10"),
        ([f"v{number}" for number in range(12)], "12 different values that are no numbers"),
    ],
)
def test_what_can_have_no_effect_is_refused(labels: list[str], refused: str) -> None:
    with pytest.raises(TrialsError, match=refused):
        columns_of([np.array(labels)], "age")


def test_the_theory_s_own_clause_is_told_at_both_ends_where_it_differs() -> None:
    form = read_program(FAMILIES["learning"].program("perseveration"))
    ends = {
        label: {
            name: prior.narrowed(center if name == "stickiness" else 0.5, 0.1)
            for name, prior in form.priors.items()
        }
        for label, center in (("10", -1.0), ("20", 1.0))
    }
    nothing = UnitScores(np.zeros(2), np.ones(2))
    effect = LearnedEffect(
        "stickiness", "age", ScoreEstimate(0.2, 0.01), ScoreEstimate(0.1, 0.01), 0.001
    )
    found = TheoryWithEffects(
        form,
        columns_of([np.array([str(age) for age in range(5, 25)])], "age"),
        ends["10"],
        ends,
        (effect,),
        nothing,
        nothing,
        ScoreEstimate(0.1, 0.01),
    )
    said = said_of_effects({"Perseveration": found})
    assert "Knowing age improves the prediction of other participants" in said
    assert "rises with age: median -1 where age is 10, 1 where age is 20 (p = 0.001)." in said
    assert "That is, where age is 10, people" in said
    assert "; where age is 20, people" in said
