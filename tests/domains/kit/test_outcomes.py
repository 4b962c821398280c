"""Building blocks for levels, numbers and times against other people's code, closed forms and simulation."""

import numpy as np
import pytest
from scipy import integrate, stats

from lakatos.domains.kit import outcomes
from lakatos.domains.kit.outcomes import outcome_helpers
from tests.domains.kit.wiener import WIENER

EDGES = np.linspace(-1, 1, 9)


def function(name):
    namespace = {}
    text = WIENER if name.startswith("wiener") else getattr(outcomes, name.upper())
    exec(outcome_helpers(text), namespace)
    return namespace[name]


def test_the_censored_normal_piles_up_at_the_ends():
    p = function("censored_normal")(np.array([0.9]), np.array([0.3]), EDGES, np)[0]
    below = stats.norm(0.9, 0.3).cdf(EDGES[1:-1])
    assert p == pytest.approx(np.diff([0, *below, 1]))


@pytest.mark.parametrize(("mean", "sd", "tail"), [(0.4, 0.05, 0.2), (0.4, 0.2, 0.01), (2, 0.1, 3)])
def test_the_ex_gaussian_is_that_of_scipy(mean, sd, tail):
    t = np.linspace(0.05, 6, 50)
    known = stats.exponnorm(tail / sd, mean, sd).cdf(t)
    assert function("ex_gaussian")(t, mean, sd, tail, np) == pytest.approx(known, abs=1e-9)


@pytest.mark.parametrize(("drift", "bound"), [(2.0, 1.0), (0.3, 2.0), (8.0, 6.0)])
def test_the_shifted_wald_is_that_of_scipy(drift, bound):
    t = np.linspace(0.05, 6, 50)
    known = stats.invgauss(1 / (drift * bound), 0.2, bound**2).cdf(t)
    assert function("shifted_wald")(t, drift, bound, 0.2, np) == pytest.approx(known, abs=1e-9)


def test_contaminants_are_spread_by_width():
    widths = np.array([1.0, 1.0, 2.0])
    p = function("contaminated")(np.array([[1.0, 0.0, 0.0]]), np.array([0.2]), widths, np)
    assert p[0] == pytest.approx([0.85, 0.05, 0.1])


DIFFUSIONS = [(1.2, 1.4, 0.5), (-0.7, 0.8, 0.3), (0.0, 2.5, 0.8), (4.0, 1.0, 0.6)]


def lower_chance(drift, bound, start):
    """Closed form of the probability of the lower bound (Ratcliff & Tuerlinckx, 2002, equation A8)."""
    if drift == 0:
        return 1 - start
    down, whole = np.exp(-2 * drift * bound * start), np.exp(-2 * drift * bound)
    return (whole - down) / (whole - 1)


@pytest.mark.parametrize(("drift", "bound", "start"), DIFFUSIONS)
def test_first_passages_have_the_known_probabilities_and_mean_time(drift, bound, start):
    wiener = function("wiener")

    def moment(power, v, w):
        found = integrate.quad(
            lambda t: t**power * wiener(t, v, bound, w, 0.0, np), 0, 60, limit=400
        )
        return found[0]

    lower, upper = moment(0, drift, start), moment(0, -drift, 1 - start)
    assert lower == pytest.approx(lower_chance(drift, bound, start), abs=1e-7)
    assert lower + upper == pytest.approx(1, abs=1e-7)
    mean = moment(1, drift, start) + moment(1, -drift, 1 - start)
    expected = (
        bound**2 * start * (1 - start)  # without drift
        if drift == 0
        else bound * ((1 - lower) - start) / drift  # Wald's identity
    )
    assert mean == pytest.approx(expected, abs=1e-6)


def test_varying_drifts_are_a_mixture_of_drifts():
    wiener, t = function("wiener"), np.array([0.2, 0.6, 1.5])
    drifts, weights = np.polynomial.hermite_e.hermegauss(40)
    mixed = sum(
        weight * wiener(t, 0.8 + 0.9 * z, 1.3, 0.4, 0.0, np)
        for z, weight in zip(drifts, weights / weights.sum(), strict=True)
    )
    assert wiener(t, 0.8, 1.3, 0.4, 0.9, np) == pytest.approx(mixed, rel=1e-8)


def test_both_series_agree_where_they_meet():
    wiener, bound = function("wiener"), 1.3
    at = 0.3 * bound**2
    early, late = (wiener(np.array(at * (1 + e)), 0.5, bound, 0.35, 0.0, np) for e in (-1e-9, 1e-9))
    assert early == pytest.approx(late, rel=1e-7)


@pytest.mark.slow
def test_bins_of_time_hold_what_simulated_walks_do():
    rng, drift, bound, start, non_decision = np.random.default_rng(4), 1.0, 1.5, 0.4, 0.3
    n, dt = 20_000, 0.0005
    place, time = np.full(n, start * bound), np.zeros(n)
    walking = np.arange(n)
    for _ in range(int(3 / dt)):
        place[walking] += drift * dt + np.sqrt(dt) * rng.standard_normal(len(walking))
        time[walking] += dt
        walking = walking[(place[walking] > 0) & (place[walking] < bound)]
    edges = np.array([0.0, 0.45, 0.6, 0.8, 1.1, 1.6, 3.0])
    ended = (place <= 0) | (place >= bound)
    upper, when = place[ended] >= bound, time[ended] + non_decision
    kept = when < 3.0
    counts = np.concatenate([np.histogram(when[kept & side], edges)[0] for side in (upper, ~upper)])
    one = [np.array([x]) for x in (drift, bound, start, non_decision, 0.0)]
    p = function("wiener_bins")(edges, *one, np)[0]
    assert p.sum() == pytest.approx(1)
    # steps of dt overshoot a bound by 0.58 sqrt(dt), as if it lay further out by that (Siegmund, 1979)
    further = 0.5826 * np.sqrt(dt)
    wider = [bound + 2 * further, (start * bound + further) / (bound + 2 * further)]
    one[1:3] = [np.array([x]) for x in wider]
    expected = function("wiener_bins")(edges, *one, np)[0]
    error = np.sqrt(expected * (1 - expected) / counts.sum())
    assert np.abs(counts / counts.sum() - expected).max() < (4 * error + 1e-3).max()
