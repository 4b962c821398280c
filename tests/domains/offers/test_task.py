"""Choice among offers: spaces by counting, features by hand, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.offers.task import HIGHEST_PRICE, OffersDomain, offered
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli, identities
from lakatos.experiments.testing import DomainContract

DOMAIN = OffersDomain()
KNOWN = [(7, 0, 0, 1, 0, 0), (9, 1, 1, 0, 0, 0), (0, 5, 0, 0, 0, 1), (8, 0, 1, 0, 0, 0)]
SMALL = {
    "prices": [7, 9],
    "contracts_years": [0, 5],
    "time_of_day": True,
    "seasonal": False,
    "reputations": False,
}


class TestOffers(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["offers"]

    @pytest.fixture
    def settings(self):
        return {"n_trials": 60}

    @pytest.fixture
    def empty_settings(self):
        return SMALL | {"prices": [7], "contracts_years": [0]}


def test_a_small_space_holds_every_set_of_four():
    stimuli = DOMAIN.space(SMALL)
    assert len(stimuli) == 15  # of 3 rates x 2 contracts
    assert sets_of(stimuli) == 15


def test_a_large_space_is_a_sample_that_the_settings_fix():
    stimuli = DOMAIN.space({"n_trials": 50})
    assert len(stimuli) == sets_of(stimuli) == 50
    assert stimuli.keys == DOMAIN.space({"n_trials": 50}).keys
    assert stimuli.keys != DOMAIN.space({"n_trials": 50, "seed": 1}).keys


def sets_of(stimuli):
    """Different sets of offers, whatever their order; each offer four different ones."""
    table = np.stack([stimuli[name] for name in sorted(stimuli.arrays)], axis=2)
    sets = {frozenset(map(tuple, trial)) for trial in table.tolist()}
    assert {len(item) for item in sets} == {4}
    return len(sets)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"price": [1]}, "unknown settings .* price"),
        ({"prices": [0]}, "setting prices .*from 0.01"),
        ({"contracts_years": [-1]}, "setting contracts_years .*from 0 to 50"),
        ({"n_trials": 0}, "setting n_trials .*from 1 to 20000"),
        ({"n_trials": 2.5}, "cannot be 2.5"),
        ({"seasonal": 1}, "cannot be 1"),
        ({"prices": 7}, "cannot be 7"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(StimuliError, match=message):
        DOMAIN.space(settings)


@pytest.mark.parametrize(
    ("offer", "message"),
    [
        ((0, 0, 0, 0, 0, 0), "price is .* either a fixed price, or one kind"),
        ((7, 0, 0, 0, 1, 0), "price is .* either a fixed price, or one kind"),
        ((0, 0, 0, 0, 1, 1), "price is .* either a fixed price, or one kind"),
        ((2 * HIGHEST_PRICE, 0, 0, 0, 0, 0), "price is .* cents from 0.01 to 1000"),
        ((np.nan, 0, 0, 0, 0, 0), "price is .* cents from"),
        ((7, -1, 0, 0, 0, 0), "contract_years is .* years from 0 to 50"),
        ((7, 0, 0.5, 0, 0, 0), "local is .* 0 or 1"),
    ],
)
def test_a_trial_that_is_not_allowed_is_named(offer, message):
    with pytest.raises(StimuliError, match=f"trial 1 of the offers domain: {message}"):
        offered([KNOWN, [*KNOWN[:3], offer]])


def test_trials_of_another_form_are_refused():
    with pytest.raises(StimuliError, match="trial 0 of the offers domain has 3 offers; give 4"):
        offered([KNOWN[:3]])
    with pytest.raises(StimuliError, match=r"have the arrays price, .* not price"):
        DOMAIN.check(Stimuli({"price": np.ones((3, 4))}))
    arrays = dict(offered([KNOWN]).arrays)
    with pytest.raises(StimuliError, match=r"array 'local' has shape \(1, 3\), not \(1, 4\)"):
        DOMAIN.check(Stimuli(arrays | {"local": np.ones((1, 3))}))


def test_features_compare_the_last_offer_with_the_mean_of_the_others():
    features = DOMAIN.features(offered([KNOWN]))
    known = {
        "price_difference": 8 - (7 + 9) / 2,
        "cheapest_difference": 0 - 1 / 3,
        "contract_years_difference": 0 - 6 / 3,
        "no_contract_difference": 1 - 1 / 3,
        "local_difference": 1 - 1 / 3,
        "well_known_difference": 0 - 1 / 3,
        "time_of_day_difference": 0,
        "seasonal_difference": -1 / 3,
        "lowest_price": 7,
        "price_range": 2,
        "n_fixed_prices": 3,
        "n_cheapest": 1,
    }
    assert set(features) == set(known)
    for name, value in known.items():
        assert features[name] == pytest.approx([value]), name


def test_features_of_extreme_trials_are_numbers():
    for probe in DOMAIN.probes(np.random.default_rng(0)):
        for name, values in DOMAIN.features(probe).items():
            assert np.isfinite(values).all(), name


def test_swapping_sides_reverses_the_order_and_keeps_the_identity():
    trial = offered([KNOWN])
    swapped = DOMAIN.swap_sides(trial)
    assert swapped.keys == offered([KNOWN[::-1]]).keys
    assert identities(DOMAIN, swapped) == identities(DOMAIN, trial)
    assert identities(DOMAIN, offered([[KNOWN[1], KNOWN[0], *KNOWN[2:]]])) != identities(
        DOMAIN, trial
    )


def test_a_trial_is_described_and_shown_with_its_units():
    stimuli = offered([KNOWN])
    assert DOMAIN.describe(stimuli, 0) == (
        "7c, no contract, well known | 9c, 1 year, local | seasonal, 5 years, unknown | 8c, no contract, local"
    )
    picture = DOMAIN.picture(stimuli, 0)
    assert (
        picture.index(">A<")
        < picture.index(">7c<")
        < picture.index(">B<")
        < picture.index(">1 year<")
    )
