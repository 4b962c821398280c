"""Intertemporal choice: spaces by counting, features by hand, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.intertemporal.task import (
    LARGEST_AMOUNT,
    LONGEST_DELAY_DAYS,
    IntertemporalDomain,
    dated,
    dominance,
)
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import Stimuli
from lakatos.experiments.testing import DomainContract

DOMAIN = IntertemporalDomain()
SMALL = {
    "amounts": [10, 100],
    "ratios": [1.1, 2],
    "delays_days": [0, 30],
    "intervals_days": [7, 60],
}
SIGNED = {
    "amount_difference",
    "relative_amount_difference",
    "log_amount_ratio",
    "delay_difference",
    "relative_delay_difference",
    "log_delay_difference",
    "today_difference",
    "roundness_difference",
    "dominance",
}


class TestIntertemporal(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["intertemporal"]

    @pytest.fixture
    def settings(self):
        return SMALL | {"losses": True, "dominated": True}

    @pytest.fixture
    def empty_settings(self):
        return {"ratios": [1]}


def test_the_space_is_the_product_of_the_settings():
    stimuli = DOMAIN.space(SMALL)
    assert len(stimuli) == 2**4
    assert len(DOMAIN.space(SMALL | {"losses": True})) == 2 * 2**4
    assert (np.diff(stimuli["delays_days"], axis=1) > 0).all()
    assert (np.diff(stimuli["amounts"], axis=1) > 0).all()


def test_later_amounts_are_rounded_and_coinciding_trials_are_listed_once():
    stimuli = DOMAIN.space(
        {"amounts": [1], "ratios": [1.331, 1.332, 1.336], "delays_days": [0], "intervals_days": [7]}
    )
    assert stimuli["amounts"].tolist() == [[1, 1.33], [1, 1.34]]


def test_dominated_trials_come_only_when_asked_for():
    settings = {
        "amounts": [10],
        "ratios": [0.5, 1, 2],
        "delays_days": [0],
        "intervals_days": [0, 7],
    }
    assert [DOMAIN.describe(DOMAIN.space(settings), 0)] == ["10 today | 20 in 7 days"]
    everything = DOMAIN.space(settings | {"dominated": True})
    assert len(everything) == 5  # all but the option against itself
    assert np.abs(dominance(everything)).sum() == 4


def test_candidates_of_a_huge_space_come_without_writing_it_out():
    settings = {
        name: np.arange(1, 61).tolist() for name in ("amounts", "delays_days", "intervals_days")
    }
    settings["ratios"] = np.linspace(1.1, 3, 60).tolist()
    stimuli = DOMAIN.candidates(settings, np.random.default_rng(0), 300)
    DOMAIN.check(stimuli)
    assert len(set(stimuli.keys)) == 300
    assert stimuli.keys == DOMAIN.candidates(settings, np.random.default_rng(0), 300).keys
    with pytest.raises(StimuliError, match="12960000 trials, too many to list"):
        DOMAIN.space(settings)
    with pytest.raises(EmptyDesignSpaceError, match=r"no trial .* ratios above 1"):
        DOMAIN.candidates(
            settings | {"ratios": np.linspace(0.1, 0.9, 60).tolist()}, np.random.default_rng(0), 5
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"amount": [1]}, "unknown settings .* amount"),
        ({"amounts": [-5]}, "setting amounts .*from 0.01"),
        ({"ratios": [0]}, "setting ratios .*from 0.01"),
        ({"delays_days": [-1]}, "setting delays_days .*from 0 to 36525"),
        ({"intervals_days": [float("nan")]}, "setting intervals_days"),
        ({"amounts": 3}, "cannot be 3"),
        ({"losses": "yes"}, "cannot be 'yes'"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(StimuliError, match=message):
        DOMAIN.space(settings)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ((np.nan, 1), "trial 1 .*amounts are"),
        ((2 * LARGEST_AMOUNT, 1), "amounts are"),
        ((5, -1), "trial 1 .*delays_days are .* from 0 to"),
        ((5, 2 * LONGEST_DELAY_DAYS), "delays_days are"),
        ((5, np.inf), "delays_days are"),
    ],
)
def test_a_trial_that_is_not_allowed_is_named(option, message):
    with pytest.raises(StimuliError, match=message):
        dated([((1, 0), (2, 7)), ((1, 0), option)])


def test_trials_of_another_form_are_refused():
    with pytest.raises(StimuliError, match="have the arrays amounts, delays_days, not amounts"):
        DOMAIN.check(Stimuli({"amounts": np.ones((3, 2))}))
    with pytest.raises(StimuliError, match=r"array 'delays_days' has shape \(1, 3\), not \(1, 2\)"):
        DOMAIN.check(Stimuli({"amounts": np.ones((1, 2)), "delays_days": np.ones((1, 3))}))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((10, 0), (20, 7), 0),
        ((10, 7), (20, 7), 1),
        ((10, 7), (20, 0), 1),
        ((10, 0), (10, 7), -1),
        ((10, 7), (10, 7), 0),
        ((-10, 0), (-20, 7), 0),
        ((-10, 0), (-10, 7), 1),
        ((-10, 7), (-5, 0), 0),
        ((-10, 0), (5, 300), 1),
        ((0, 0), (5, 300), 1),
        ((0, 0), (-5, 300), -1),
        ((0, 0), (0, 300), 0),
    ],
)
def test_dominance_holds_for_all_who_like_money_and_discount(first, second, expected):
    assert dominance(dated([(first, second), (second, first)])).tolist() == [expected, -expected]


def test_dominance_agrees_with_every_discounter():
    rng = np.random.default_rng(0)
    stimuli = dated(
        [((a, s), (b, t)) for a, b, s, t in rng.integers([-3, -3, 0, 0], 4, size=(400, 4)).tolist()]
    )
    best, worst = np.full(400, -np.inf), np.full(400, np.inf)
    for rate in (1e-3, 0.1, 1.0, 10.0):
        for power in (0.05, 1.0, 20.0):
            x = stimuli["amounts"]
            value = np.sign(x) * np.abs(x) ** power * np.exp(-rate * stimuli["delays_days"])
            difference = value[:, 1] - value[:, 0]
            best, worst = np.maximum(best, difference), np.minimum(worst, difference)
    assert (worst[dominance(stimuli) == 1] >= 0).all()
    assert (best[dominance(stimuli) == -1] <= 0).all()
    undecided = dominance(stimuli) == 0
    assert ((best > 0) & (worst < 0) | (best == worst))[undecided].all()


def test_probes_hold_every_extreme():
    joined = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    x, t = joined["amounts"], joined["delays_days"]
    assert {-LARGEST_AMOUNT, 0, 0.01, LARGEST_AMOUNT} <= set(x.ravel())
    assert {0, LONGEST_DELAY_DAYS} <= set(t.ravel())
    for extreme in (x[:, 0] == x[:, 1], t[:, 0] == t[:, 1], (x < 0).all(axis=1), t[:, 0] > t[:, 1]):
        assert extreme.any()
    assert ((x[:, 0] == x[:, 1]) & (t[:, 0] == t[:, 1])).any()


def test_features_of_a_known_trial():
    features = DOMAIN.features(dated([((100, 0), (150, 30))]))
    known = {
        "amount_difference": 50,
        "relative_amount_difference": 1 / 3,
        "log_amount_ratio": np.log(1.5),
        "delay_difference": 30,
        "relative_delay_difference": 1,
        "log_delay_difference": np.log(31),
        "interest_rate": np.log(1.5) / 30,
        "front_end_delay": 0,
        "today_difference": -1,
        "today_possible": 1,
        "longest_delay": 30,
        "log_larger_amount": np.log10(150),
        "roundness_difference": -0.5,
        "losses_present": 0,
        "dominance": 0,
    }
    assert set(features) == set(known)
    for name, value in known.items():
        assert features[name] == pytest.approx([value]), name


def test_features_of_extreme_trials_are_numbers():
    for probe in DOMAIN.probes(np.random.default_rng(0)):
        for name, values in DOMAIN.features(probe).items():
            assert np.isfinite(values).all(), name


def test_swapping_sides_turns_differences_round_and_leaves_the_rest():
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(1)))
    there = DOMAIN.features(DOMAIN.swap_sides(stimuli))
    for name, values in DOMAIN.features(stimuli).items():
        assert there[name] == pytest.approx(-values if name in SIGNED else values), name


def test_variations_are_admissible_and_change_what_they_say():
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(2)))
    for name, made in DOMAIN.variations(stimuli, np.random.default_rng(3)).items():
        DOMAIN.check(made.before)
        DOMAIN.check(made.after)
        assert len(made.before) == len(made.after) > 0
        x, t = (made.after[array] - made.before[array] for array in ("amounts", "delays_days"))
        if name == "amount":
            assert ((x > 0) == [False, True]).all()
            assert (t == 0).all()
        elif name in ("delay", "loss_delay"):
            assert ((t > 0) == [False, True]).all()
            assert ((made.before["amounts"] >= 0).all(axis=1) == (name == "delay")).all()
        elif name == "common_delay":
            assert (t[:, 0] > 0).all()
            assert t[:, 0] == pytest.approx(t[:, 1])
        elif name == "dominance":
            assert (dominance(made.before) == -1).all()
            assert (dominance(made.after) == 1).all()


def test_a_trial_is_described_and_shown_with_its_units():
    stimuli = dated([((10, 0), (20.5, 1)), ((-10, 14), (-0.0, 365))])
    assert [DOMAIN.describe(stimuli, row) for row in (0, 1)] == [
        "10 today | 20.5 in 1 day",
        "-10 in 14 days | 0 in 365 days",
    ]
    picture = DOMAIN.picture(stimuli, 0)
    assert (
        picture.index(">10<")
        < picture.index(">today<")
        < picture.index(">20.5<")
        < picture.index(">in 1 day<")
    )
