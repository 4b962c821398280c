"""Bins of first passages against another package, closed forms, numerical integration and a differential equation."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from lakatos.domains.kit import first_passages, outcomes
from lakatos.domains.kit.outcomes import outcome_helpers
from tests.domains.kit.diffusion_equation import solved

BLOCKS = {}
exec(
    outcome_helpers(
        outcomes.STARTS,
        outcomes.PASSAGES,
        first_passages.PANELS,
        first_passages.WIENER,
        first_passages.DIFFUSION,
        first_passages.RACERS,
    ),
    BLOCKS,
)
EDGES = np.array([0.2, 0.35, 0.5, 0.7, 1.0, 1.6, 5.0])
KNOWN = {
    # v, sv, a, z, sz, t, st: bins of the upper and the lower bound
    (1.5, 0.0, 1.4, 0.5, 0.0, 0.3, 0.0): (
        [0.004752, 0.284284, 0.309049, 0.194632, 0.08715, 0.011037],
        [0.000582, 0.034812, 0.037845, 0.023834, 0.010672, 0.001351],
    ),
    (-0.8, 0.0, 2.2, 0.62, 0.0, 0.35, 0.0): (
        [0.0, 0.015299, 0.060137, 0.062503, 0.058971, 0.043358],
        [0.0, 0.001227, 0.056591, 0.176312, 0.278528, 0.247073],
    ),
    (3.0, 1.2, 1.0, 0.4, 0.0, 0.3, 0.0): (
        [0.041604, 0.573938, 0.210095, 0.044232, 0.005561, 0.00013],
        [0.021989, 0.070821, 0.023167, 0.007083, 0.001335, 4.7e-05],
    ),
    (1.0, 0.7, 1.8, 0.5, 0.5, 0.4, 0.25): (
        [0.001735, 0.05971, 0.2034, 0.244377, 0.196279, 0.079969],
        [0.000605, 0.017914, 0.053489, 0.059407, 0.053842, 0.029274],
    ),
}
"""Densities of hddm-wfpt 0.1.7 (Wiecki, Sofer & Frank, 2013) integrated over bins, divided by their sum."""


def one(value):
    return np.array([[float(value)]])


def diffusion(edges, v, sv=0.0, a=1.0, z=0.5, sz=0.0, t=0.3, st=0.0, remaining=None):
    """Both responses by bins of time, ``(2, n_bins)``."""
    varies = [one(value) if value else None for value in (st, sv, sz)]
    near = one(1 - abs(2 * z - 1))
    p = BLOCKS["diffusion_bins"](
        edges, one(v), one(a), one(z), near, one(t), *varies, remaining, np
    )
    return p[0, 0].reshape(2, -1)


@pytest.mark.parametrize("numbers", KNOWN)
def test_a_diffusion_has_the_probabilities_of_another_package(numbers):
    assert diffusion(EDGES, *numbers) == pytest.approx(np.array(KNOWN[numbers]), abs=2e-5)


@pytest.mark.parametrize("v", [0.0, 1.0, 4.0])
def test_accuracy_and_mean_time_are_those_of_the_closed_form(v):
    edges = np.concatenate([[0.001], np.geomspace(0.2, 60.0, 400)])
    p = diffusion(edges, v, a=1.6, t=0.3)
    accuracy = 1 / (1 + np.exp(-1.6 * v))
    mean = 1.6**2 / 4 if v == 0 else 1.6 / (2 * v) * np.tanh(0.8 * v)
    assert p[0].sum() == pytest.approx(accuracy, abs=1e-5)
    middles = 0.5 * (edges[1:] + edges[:-1])
    assert (p.sum(axis=0) * middles).sum() == pytest.approx(0.3 + mean, abs=1e-3)


def test_ez_diffusion_finds_the_numbers_of_a_diffusion():
    """Wagenmakers, van der Maas & Grasman (2007), Psychonomic Bulletin & Review 14, 3-22, with a noise of 1."""
    v, a, t = 1.3, 1.5, 0.35
    edges = np.concatenate([[0.001], np.linspace(0.3, 20.0, 3000)])
    p = diffusion(edges, v, a=a, t=t)
    right = p[0] / p[0].sum()
    middles = 0.5 * (edges[1:] + edges[:-1])
    mean = (right * middles).sum()
    variance = (right * (middles - mean) ** 2).sum()
    share = p[0].sum()
    log_odds = np.log(share / (1 - share))
    rest = log_odds * (share**2 * log_odds - share * log_odds + share - 0.5)
    ez_v = (rest / variance) ** 0.25
    ez_a = log_odds / ez_v
    decided = ez_a / (2 * ez_v) * (1 - np.exp(-ez_v * ez_a)) / (1 + np.exp(-ez_v * ez_a))
    assert (ez_v, ez_a, mean - decided) == pytest.approx((v, a, t), abs=2e-3)


def test_the_responses_are_exchanged_with_the_sign_of_drift_and_start():
    p = diffusion(EDGES, 1.2, 0.5, 1.3, 0.4, 0.2, 0.3, 0.1)
    turned = diffusion(EDGES, -1.2, 0.5, 1.3, 0.6, 0.2, 0.3, 0.1)
    assert turned[::-1] == pytest.approx(p, abs=1e-12)


def test_a_delay_that_varies_is_a_mixture_of_delays():
    places, weights = np.polynomial.legendre.leggauss(200)
    known = sum(
        weight / 2 * diffusion(EDGES, 1.0, a=1.2, t=0.4 + 0.1 * place)
        for place, weight in zip(places, weights, strict=True)
    )
    assert diffusion(EDGES, 1.0, a=1.2, t=0.4, st=0.2) == pytest.approx(known, abs=1e-4)


def test_bounds_that_fall_follow_the_diffusion_equation():
    a, meeting = 1.5, 2.0
    ends = np.linspace(0.0, 1.8, 181)
    share = 1 - ends.max() / meeting
    assert share > 0.05
    known = solved(
        1.0 * a, 0.5, lambda s: 1 - s * a**2 / meeting, lambda s: -(a**2) / meeting, ends / a**2, 200, 20
    )  # fmt: skip
    edges = np.array([0.3, 0.5, 0.7, 0.9, 1.2, 1.5, 2.0])
    at = np.searchsorted(ends + 0.3, edges - 1e-9)
    wanted = np.stack([[side[i:j].sum() for i, j in pairwise(at)] for side in known])
    found = diffusion(edges, 1.0, a=a, t=0.3, remaining=lambda t: 1 - t / meeting)
    assert found == pytest.approx(wanted / wanted.sum(), abs=5e-4)


@pytest.mark.parametrize("sv", [0.0, 1.0])
@pytest.mark.parametrize(("v", "a"), [(0.5, 0.8), (2.0, 1.3), (4.0, 2.0)])
def test_bounds_that_stay_are_those_of_the_series(v, a, sv):
    walked = diffusion(EDGES, v, sv, a, remaining=lambda t: 1.0 + 0.0 * t)
    assert walked == pytest.approx(diffusion(EDGES, v, sv, a), abs=1e-9)


def raced(racers, edges, delay, near=0.02):
    """Both responses by bins of time; ``racers`` gives (distribution function, density) of each at points."""
    ends = BLOCKS["panels"](one(near), np.maximum(edges[-1] - one(delay), 0.05), np)
    t = BLOCKS["points_of"](ends, np)
    densities = BLOCKS["first_of"](racers(t), np)
    p = BLOCKS["decided_bins"](densities, edges, ends, one(delay), one(0.0), np)
    return p[0, 0].reshape(2, -1)


def integrated(first, second, edges, delay):
    """The same by numerical integration of densities, from two distributions of `scipy.stats`."""
    found = []
    for own, other in ((first, second), (second, first)):
        row = [
            integrate.quad(
                lambda t, own=own, other=other: own.pdf(t) * other.sf(t),
                max(low - delay, 0.0), max(high - delay, 0.0), epsabs=1e-10, limit=200,
            )[0]
            for low, high in pairwise(edges)
        ]  # fmt: skip
        found.append(row)
    return np.array(found) / np.sum(found)


def test_accumulators_with_noise_share_their_wins_as_two_walds_do():
    def racers(t):
        return [
            BLOCKS["noisy"](t, one(rate)[..., None], 0.0, one(far)[..., None], np)
            for rate, far in ((3.0, 1.2), (1.5, 1.0))
        ]

    # a Wald has the mean distance / rate and the shape distance squared
    walds = [
        stats.invgauss(far / rate / far**2, 0.0, far**2) for rate, far in ((3.0, 1.2), (1.5, 1.0))
    ]
    assert raced(racers, EDGES, 0.25) == pytest.approx(integrated(*walds, EDGES, 0.25), abs=2e-5)


def test_rates_that_vary_are_a_mixture_of_rates():
    t = np.array([0.1, 0.4, 1.0, 3.0])
    places, weights = np.polynomial.hermite_e.hermegauss(60)
    below, density = BLOCKS["noisy"](t, 2.0, 0.8, 1.3, np)
    known = [
        sum(w * BLOCKS["noisy"](t, 2.0 + 0.8 * z, 0.0, 1.3, np)[part] for z, w in zip(places, weights, strict=True))
        / weights.sum()
        for part in (0, 1)
    ]  # fmt: skip
    assert below == pytest.approx(known[0], abs=1e-6)
    assert density == pytest.approx(known[1], abs=1e-6)


def test_log_normal_times_share_their_wins_as_their_distributions_say():
    def racers(t):
        return [BLOCKS["log_normal"](t, rate, 0.5, 1.0, np) for rate in (1.2, 0.3)]

    known = integrated(*(stats.lognorm(0.5, 0.0, np.exp(-rate)) for rate in (1.2, 0.3)), EDGES, 0.2)
    assert raced(racers, EDGES, 0.2) == pytest.approx(known, abs=2e-5)


@pytest.mark.parametrize("span", [0.2, 0.8])
def test_ballistic_accumulators_have_the_published_density(span):
    """Brown & Heathcote (2008), equations 1 and 2: starts even from 0 to A, threshold b, drift normal (v, 1)."""
    v, distance = 2.5, 1.1
    reach = 2 * span * distance
    b = distance + reach / 2
    t = np.array([0.15, 0.3, 0.5, 1.0, 2.0])
    near, far = (b - reach - t * v) / t, (b - t * v) / t
    norm = stats.norm
    below = 1 + (
        (b - reach - t * v) * norm.cdf(near) - (b - t * v) * norm.cdf(far)
        + t * (norm.pdf(near) - norm.pdf(far))
    ) / reach  # fmt: skip
    density = (-v * norm.cdf(near) + norm.pdf(near) + v * norm.cdf(far) - norm.pdf(far)) / reach
    own = BLOCKS["at_starts"](
        lambda rate, gap: BLOCKS["even_paced"](t, rate[..., None], 1.0, gap[..., None], np),
        one(v), one(distance), one(span), np,
    )  # fmt: skip
    assert own[0][0, 0] == pytest.approx(below, abs=1e-3)
    assert own[1][0, 0] == pytest.approx(density, abs=0.02)


@pytest.mark.parametrize("a", [0.4, 6.0])
@pytest.mark.parametrize("v", [0.0, 20.0])
def test_extreme_numbers_give_probabilities_without_warnings(a, v):
    with np.errstate(all="raise", under="ignore"):
        p = diffusion(EDGES, v, 4.0, a, 0.05, 0.9, 1.0, 0.6)
    assert p.sum() == pytest.approx(1)
    assert p.min() >= 0
