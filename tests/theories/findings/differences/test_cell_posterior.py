"""What cells say of parameters: beside a closed form, and without the population."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.findings.differences.cell_posterior import (
    _summary,
    _Tried,
    find_cell_posteriors,
    scale_of_parameter,
    without_population,
)
from lakatos.theories.language.grammar import composition_of
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.theories.findings.differences.conftest import STIMULI

COIN = '''"""Coin: people take the second option with a probability of their own."""
PARAMETERS = {"bias": {"prior": "uniform", "low": -4.0, "high": 4.0}}

def choose(parameters, trials, xp):
    evidence = parameters["bias"] + 0.0 * trials["amounts"][:, 0]
    return 1.0 / (1.0 + xp.exp(-evidence))
'''


def test_scales_are_those_of_priors_and_log_odds_of_shares() -> None:
    def kind(**prior: object) -> str:
        return scale_of_parameter("x", parse_prior("x", prior)).kind

    assert kind(prior="log_uniform", low=0.1, high=10.0) == "log"
    assert kind(prior="uniform", low=0.0, high=0.4) == "logit"
    assert kind(prior="uniform", low=-1.0, high=1.0) == "plain"
    share = scale_of_parameter("x", parse_prior("x", {"prior": "uniform", "low": 0.0, "high": 0.4}))
    np.testing.assert_allclose(share.to_unit(share.to_scale(np.array([0.1, 0.3]))), [0.1, 0.3])


def test_a_population_that_is_divided_out_and_put_back_gives_the_posterior() -> None:
    rng = np.random.default_rng(0)
    prior_mean, prior_spread = rng.normal(0, 1, 3), np.diag([1.0, 2.0, 0.5]) + 0.2
    errors = rng.normal(0, 0.5, (5, 3, 3))
    variance = errors @ np.swapaxes(errors, 1, 2) + 0.1 * np.eye(3)
    value = rng.normal(0, 1, (5, 3))
    precision = np.linalg.inv(prior_spread)
    spread = np.linalg.inv(np.linalg.inv(variance) + precision)
    told = np.einsum("cij,cj->ci", np.linalg.inv(variance), value) + precision @ prior_mean
    mean = np.einsum("cij,cj->ci", spread, told)
    found, errors = without_population(mean, spread, prior_mean, prior_spread)
    np.testing.assert_allclose(found, value, atol=1e-8)
    np.testing.assert_allclose(errors, variance, rtol=1e-6, atol=1e-8)


def test_a_posterior_as_wide_as_the_population_says_next_to_nothing() -> None:
    spread = np.eye(2)[None]
    _, variance = without_population(np.zeros((1, 2)), spread, np.zeros(2), np.eye(2))
    assert np.diagonal(variance[0]).min() >= 49.9


def test_a_parameter_of_which_responses_say_nothing_does_not_repeat_another() -> None:
    """Its posterior follows the one it is correlated with, and its value says nothing."""
    rng = np.random.default_rng(5)
    together = np.array([[1.0, 0.99], [0.99, 1.0]])
    points = rng.normal(0, 1.2, (40_000, 2))
    at = np.array([-1.0, 0.0, 1.0])
    log_p = -0.5 * (points[:, :1] - at) ** 2 / 0.1
    tried = _Tried(points, log_p, np.zeros((1, 2)), 1.44 * np.eye(2)[None])
    found = _summary(tried, np.zeros(2), together, (np.zeros(2), np.eye(2)))
    np.testing.assert_allclose(found["mean"][:, 1], 0.99 * found["mean"][:, 0], atol=0.05)
    np.testing.assert_allclose(found["value"][:, 0], at, atol=0.05)
    np.testing.assert_allclose(found["variance"][:, 0, 0], 0.1, rtol=0.1)
    assert found["variance"][:, 1, 1].min() > 20  # of a population whose variance is 1


def test_posteriors_of_coins_are_those_of_quadrature(laboratory: Laboratory) -> None:
    """Cells of different participants and sizes; log odds of a coin with the population that was found."""
    rng = np.random.default_rng(1)
    theory = read_program(TheoryProgram(COIN, "somebody"))
    n_people, n_rows = 20, 40
    bias = rng.normal(0.3, 0.8, n_people)
    participant = np.repeat(np.arange(n_people), n_rows)
    response = (rng.random(len(participant)) < expit(bias[participant])).astype(int)
    trials = Trials(
        "coins", Stimuli(dict(STIMULI.arrays)), participant,
        rng.integers(len(STIMULI), size=len(participant)), response, np.ones(len(participant), dtype=int),
    )  # fmt: skip
    cells = participant * 2 + (np.arange(len(participant)) % n_rows >= 10)
    found = find_cell_posteriors(theory, [trials], [cells], laboratory)
    grid = np.linspace(-4, 4, 4001)
    prior = -0.5 * (grid - found.center[0]) ** 2 / found.covariance[0, 0]
    for cell in range(2 * n_people):
        own = response[cells == cell]
        log_p = prior - own.sum() * np.logaddexp(0, -grid) - (1 - own).sum() * np.logaddexp(0, grid)
        weights = np.exp(log_p - log_p.max())
        weights /= weights.sum()
        mean = weights @ grid
        sd = np.sqrt(weights @ (grid - mean) ** 2)
        error = sd / np.sqrt(found.n_effective[cell])
        assert found.mean[cell, 0] == pytest.approx(mean, abs=5 * error)
        assert np.sqrt(found.spread[cell, 0, 0]) == pytest.approx(sd, rel=0.15)
    assert found.n_effective.min() > 50


def test_labels_have_no_part_in_what_cells_say(laboratory: Laboratory) -> None:
    """The cells of a participant in another order are the same cells."""
    rng = np.random.default_rng(2)
    theory = read_program(TheoryProgram(COIN, "somebody"))
    participant = np.repeat(np.arange(8), 20)
    response = rng.integers(2, size=160)
    trials = Trials(
        "coins", Stimuli(dict(STIMULI.arrays)), participant, rng.integers(len(STIMULI), size=160), response,
        np.ones(160, dtype=int),
    )  # fmt: skip
    half = np.arange(160) % 20 >= 10
    one = find_cell_posteriors(theory, [trials], [participant * 2 + half], laboratory)
    other = find_cell_posteriors(theory, [trials], [participant * 2 + ~half], laboratory)
    swapped = np.arange(16).reshape(8, 2)[:, ::-1].ravel()
    np.testing.assert_allclose(other.center, one.center, atol=0.05)
    np.testing.assert_allclose(other.mean[swapped], one.mean, atol=0.2)


@pytest.mark.slow
def test_the_first_points_do_not_draw_the_population_of_learners_to_the_best_of_them() -> None:
    """Learned from the first points alone, learning rates came out at .74 to .83 with these seeds."""
    slots = {
        "expectation": ["even"], "rate": ["two rates"], "credit": ["direct"],
        "habit": ["perseveration"], "choice": ["softmax"],
    }  # fmt: skip
    domain, grammar = DOMAINS["learning"], FAMILIES["learning"].grammar
    form = read_program(TheoryProgram(grammar.write(composition_of(slots, {})), "test"))
    true = {"rate_up": 0.4, "rate_down": 0.5, "stickiness": 0.5, "sensitivity": 4.5}
    people = {
        name: form.priors[name].narrowed(float(form.priors[name].latent(np.array(value))), 0.4)
        for name, value in true.items()
    }
    rng = np.random.default_rng(1)
    stimuli = domain.candidates({"task": "reversal", "n_steps": 60}, rng, 60)
    with Laboratory(domain, 1) as laboratory:
        (trials,) = laboratory.simulate([form.with_people(people)], stimuli, 30, rng, n_draws=64)
        trials = replace(trials, experiment="1")
        found = [
            find_cell_posteriors(
                form, [trials], [np.asarray(trials.participant)], laboratory, seed=seed
            )
            for seed in (7, 9, 10)
        ]
    place = [scale.name for scale in found[0].scales].index("rate_up")
    scale = found[0].scales[place]
    centers = [float(scale.to_unit(item.center[place])) for item in found]
    assert max(centers) < 0.72
    assert abs(float(np.mean(centers)) - true["rate_up"]) < 0.22
