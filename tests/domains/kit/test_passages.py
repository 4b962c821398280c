"""Starts that vary, bounds that fall and accumulators that race, against equations, closed forms and simulation."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from lakatos.domains.attention.task import EDGES, AttentionDomain, conflict_trials
from lakatos.domains.attention.theories import GRAMMAR, SEEDS
from lakatos.domains.kit import outcomes
from lakatos.domains.kit.outcomes import outcome_helpers
from lakatos.theories.engine.checks.exam import MOST_NUMBERS, table_size
from lakatos.theories.language.grammar import Composition
from tests.domains.kit.diffusion_equation import solved
from tests.domains.kit.wiener import WIENER
from tests.domains.mechanisms import choose_of

TIMES = np.array(EDGES)
BLOCKS = {}
exec(
    outcome_helpers(outcomes.CHANGING_DRIFT, outcomes.SHIFTED_WALD, outcomes.RACE),
    BLOCKS,
)
FINE = np.linspace(0.02, 1.2, 25)
STEPS = BLOCKS["step_times"](np.array([1.0]), np)[0]
FALLS = {
    "stay": (lambda t: 1.0, lambda t: 0.0),
    "evenly": (lambda t: 1 - 0.8 * min(t, 1.0), lambda t: -0.8 * (t < 1.0)),
    "at first": (lambda t: 1 / (1 + t / 0.3), lambda t: -1 / 0.3 / (1 + t / 0.3) ** 2),
}


def one(value):
    return np.array([[float(value)]])


def passed(drift, start, span=None, remaining=None):
    """Shares of both bounds in each step, of bounds at a distance of 1."""
    left = None if remaining is None else np.array([remaining(t) for t in STEPS])[None]
    own = None if span is None else np.array([span])
    return BLOCKS["passages"](
        np.full((1, 35), float(drift)), np.array([1.0]), np.array([start]), np, own, left
    )[0]


@pytest.mark.parametrize("fall", FALLS)
@pytest.mark.parametrize(("drift", "start"), [(0.0, 0.5), (2.5, 0.4), (8.0, 0.3)])
def test_walks_between_bounds_that_fall_follow_the_diffusion_equation(fall, drift, start):
    share, change = FALLS[fall]
    known = solved(drift, start, share, change, STEPS, 200, 60)
    found = passed(drift, start, remaining=share)
    # the equation's own grid: 200 places instead of 400 move it by less than 0.0007
    assert np.abs(found - known).sum() / 2 < 1e-3


def test_starts_that_vary_are_a_mixture_of_starts():
    places, weights = np.polynomial.legendre.leggauss(60)
    known = sum(
        weight / 2 * passed(2.0, 0.45 + 0.5 * 0.6 * place)
        for place, weight in zip(places, weights, strict=True)
    )
    assert passed(2.0, 0.45, span=0.6) == pytest.approx(known, abs=1e-5)
    wiener = {}
    exec(outcome_helpers(WIENER), wiener)
    numbers = [np.array([x]) for x in (2.0, 1.0, 0.45, 0.0, 0.0)]
    series = wiener["wiener_bins"](FINE, *numbers, np, np.array([0.6]))
    mixed = sum(
        weight / 2 * _unscaled(wiener, 2.0, 0.45 + 0.3 * place)
        for place, weight in zip(places, weights, strict=True)
    )
    assert series[0] == pytest.approx(mixed / mixed.sum(), abs=1e-5)


def _unscaled(wiener, drift, start):
    """Both bounds by bins of time, not divided by what falls between the first and the last edge."""
    bins = []
    for side in ((-drift, 1.0, 1 - start, 0.0), (drift, 1.0, start, 0.0)):
        for low, high in pairwise(FINE):
            density = partial(wiener["wiener"], xp=np)
            bins.append(integrate.quad(density, low, high, args=side, epsabs=1e-9)[0])
    return np.array(bins)


def test_a_start_at_a_bound_and_times_of_zero_are_no_trouble():
    with np.errstate(all="raise", under="ignore"):
        p = passed(3.0, 0.99, span=0.9)
        assert p.sum() == pytest.approx(1, abs=2e-3)
        zero = BLOCKS["ballistic"](np.zeros(1), one(1), one(1), one(1), one(0.5), np)
        assert zero.tolist() == [[0.0]]


@pytest.mark.parametrize("span", [1e-9, 0.5, 0.95])
def test_a_ballistic_time_is_that_of_its_definition(span):
    times = np.array([0.1, 0.5, 1.0, 3.0])
    found = BLOCKS["ballistic"](times, one(1.2), one(0.7), one(1.5), one(span), np)[0]
    distances = 1.5 * (1 + span * np.linspace(-1, 1, 2001))
    known = [stats.norm(1.2 * t, 0.7 * t).sf(distances).mean() for t in times]
    assert found == pytest.approx(known, abs=2e-3 * max(span, 1e-3))


def wins(times):
    """How often each of two accumulators with noise comes first, and the share of races that end."""
    below = [
        BLOCKS["shifted_wald"](times, drift, distance, 0.0, np)
        for drift, distance in ((3.0, 1.0), (1.5, 1.2))
    ]
    won = BLOCKS["race"](below, np)
    return [item.sum() for item in won], 1 - np.prod([1 - own[-1] for own in below])


def test_two_accumulators_share_all_that_ends_and_each_gets_what_it_wins():
    times = BLOCKS["race_times"](np)
    halves = np.sort(np.concatenate([times, 0.5 * (times[1:] + times[:-1])]))
    first, second = stats.invgauss(1 / 3.0, 0.0, 1.0), stats.invgauss(1 / 1.8, 0.0, 1.44)
    known = integrate.quad(lambda t: first.pdf(t) * second.sf(t), 0, 3, limit=200)[0]
    errors = []
    for ends in (times, halves):
        won, ended = wins(ends)
        assert sum(won) == pytest.approx(ended)
        errors.append(abs(won[0] - known))
    # what steps cost falls with their square
    assert errors[0] < 1e-3
    assert errors[1] < 0.35 * errors[0]


def test_a_distance_that_falls_evenly_is_one_that_stays_with_more_drift():
    times = BLOCKS["race_times"](np)
    numbers = one(2.0)[..., None, None], one(1.5)[..., None, None], 0.0
    falling = BLOCKS["arrivals_by_tangents"](times, *numbers, lambda t: 1 - t / 8.0, np)[0, 0]
    known = BLOCKS["shifted_wald"](times, 2.0 + 1.5 / 8.0, 1.5, 0.0, np)
    # three points in each step
    assert falling == pytest.approx(known, abs=1e-3)


def answers(slots, trials=None, **parameters):
    """Right and wrong answers by bins of time."""
    usual = {
        "bound": 1.2, "delay": 0.3, "delay_spread": 0.02, "rate": 3.0, "wrong_rate": 1.0, "interference": 0.8,
        "pull": 0.3, "fade": 0.08, "meeting": 1.0, "halving": 0.4, "deadline": 0.6, "start_range": 0.7,
        "accuracy": 2.0, "accuracy_effect": 0.5, "time": 0.5, "slowing": 0.04, "time_sd": 0.06, "tail": 0.15,
    }  # fmt: skip
    stimuli = conflict_trials(trials or {"congruence": [-1, 1], "side": [1, 1]})
    columns = {key: one(value) for key, value in {**usual, **parameters}.items()}
    p = choose_of(GRAMMAR, Composition.of(slots))(columns, dict(stimuli.arrays), np)
    return p[0].reshape(len(stimuli), 2, -1)


def late_and_right(p):
    """Mean time of all answers, and accuracy of those that are slower and quicker than most."""
    middles = 0.5 * (TIMES[1:] + TIMES[:-1])
    both = p.sum(axis=0)
    below = np.cumsum(both)
    slow = below > 0.5
    return (
        (both * middles).sum(),
        p[0, slow].sum() / both[slow].sum(),
        p[0, ~slow].sum() / both[~slow].sum(),
    )


PATIENCE = ("falling evenly", "falling at first", "a deadline")
PROCESSES = (
    "evidence from both",
    "a pull that fades",
    "description",
    "a race",
    "a race without noise",
)


@pytest.mark.parametrize("patience", PATIENCE)
@pytest.mark.parametrize("process", PROCESSES)
def test_whoever_settles_for_less_is_less_often_right_and_quicker(process, patience):
    start = {
        "habit": "now this, now that"
    }  # without it a race without noise has one winner at any bound
    plain = late_and_right(answers({"process": process, **start})[0])
    hasty = late_and_right(answers({"process": process, "patience": patience, **start})[0])
    assert hasty[1] < plain[1]
    if process != "description":
        assert hasty[0] < plain[0]


@pytest.mark.parametrize("process", ["evidence from both", "a race", "a race without noise"])
def test_starts_that_vary_make_errors_quick(process):
    def quicker(p):
        middles = 0.5 * (TIMES[1:] + TIMES[:-1])
        right, wrong = ((own * middles).sum() / own.sum() for own in p)
        return right - wrong

    plain, varying = (
        quicker(answers({"process": process, **more})[1])
        for more in ({}, {"habit": "now this, now that"})
    )
    assert varying > plain + 0.005


@pytest.mark.parametrize("process", ["a race", "a race without noise"])
def test_a_third_key_adds_a_rival(process):
    trials = {"congruence": [1, 1], "side": [1, 1], "n_answers": [2, 3]}
    two, three = answers({"process": process}, trials)
    assert three[0].sum() < two[0].sum()


@pytest.mark.parametrize("name", SEEDS)
def test_sources_are_rules_and_no_tables(name):
    assert table_size(GRAMMAR.write(SEEDS[name][1])) < MOST_NUMBERS


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("extreme", [0.0, 1.0])
def test_numbers_at_the_ends_of_their_ranges_give_probabilities(process, extreme):
    composition = Composition.of({
        "process": process, "habit": ("one key", "now this, now that"), "clearness": "varying",
        "patience": "falling at first", "lapse": "anything",
    })  # fmt: skip
    ends = {
        name: one(prior["high" if extreme else "low"])
        for name, prior in GRAMMAR.parameters(composition).items()
    }
    stimuli = AttentionDomain().space({})
    with np.errstate(all="raise", under="ignore"):
        p = choose_of(GRAMMAR, composition)(ends, dict(stimuli.arrays), np)
    assert p.sum(axis=-1) == pytest.approx(1)
    assert p.min() >= 0
