"""Matrix games: spaces, features by hand, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.games.task import GamesDomain, games, n_equilibria, swap_columns
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.testing import DomainContract

DOMAIN = GamesDomain()
DILEMMA = (((30, 1), (45, 10)), ((30, 45), (1, 10)))
STAG_HUNT = (((40, 5), (25, 25)), ((40, 25), (5, 25)))
PENNIES = (((40, 1), (1, 40)), ((1, 40), (40, 1)))


class TestGames(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["games"]

    @pytest.fixture
    def settings(self):
        return {"n_games": 60}

    @pytest.fixture
    def empty_settings(self):
        return {"lowest": 5, "highest": 5}


def test_a_game_is_in_the_space_in_one_arrangement_only():
    stimuli = DOMAIN.space({"lowest": 0, "highest": 1, "n_games": 500})
    keys = set(stimuli.keys)
    for turned in (
        DOMAIN.swap_sides(stimuli),
        swap_columns(stimuli),
        DOMAIN.swap_sides(swap_columns(stimuli)),
    ):
        same = np.array(turned.keys) == np.array(
            stimuli.keys
        )  # some games are their own mirror image
        assert not keys & {key for key, own in zip(turned.keys, same, strict=True) if not own}


def test_features_are_those_that_a_hand_finds():
    found = DOMAIN.features(games([DILEMMA, STAG_HUNT]))
    rounded = {name: values.tolist() for name, values in found.items()}
    assert rounded["mean_difference"] == [12.0, 2.5]
    assert rounded["worst_difference"] == [9.0, 20.0]
    assert rounded["best_difference"] == [15.0, -15.0]
    assert rounded["reply_difference"] == [9.0, 20.0]  # the other gets more from the second column
    assert rounded["other_mean_difference"] == [-32.0, -17.5]
    assert rounded["dominant_row"] == [1.0, 0.0]
    assert rounded["dominant_column"] == [1.0, 0.0]
    assert rounded["largest_sum"] == [-1.0, -1.0]
    assert rounded["trade_off"] == [0.0, 15.0]


def test_equilibria_are_counted():
    stimuli = games([DILEMMA, STAG_HUNT, PENNIES])
    assert n_equilibria(stimuli["own"], stimuli["other"]).tolist() == [1, 2, 0]


def test_without_dominance_no_row_pays_more_whatever_the_other_does():
    assert not DOMAIN.features(DOMAIN.space({"dominance": False}))["dominant_row"].any()


def test_variations_change_what_they_say():
    stimuli = DOMAIN.space({"n_games": 30})
    varied = DOMAIN.variations(stimuli, np.random.default_rng(0))
    raised = varied["payoff"].after["own"] - varied["payoff"].before["own"]
    assert (raised[:, 0] == 0).all()
    assert ((raised[:, 1] > 0).sum(axis=1) == 1).all()
    dealt = varied["other_payoffs"]
    assert (dealt.after["own"] == dealt.before["own"]).all()
    assert (
        np.sort(dealt.after["other"].reshape(-1, 4))
        == np.sort(dealt.before["other"].reshape(-1, 4))
    ).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"highest": 5000}, "setting highest .* from 0 to 1000"),
        ({"lowest": 1.5}, "'lowest' of the games domain cannot be 1.5"),
        ({"rows": 3}, "unknown settings of the games domain: rows"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(StimuliError, match=words):
        DOMAIN.space(settings)


def test_payoffs_below_0_are_refused():
    with pytest.raises(StimuliError, match="trial 1 of the games domain: other is"):
        games([DILEMMA, (((1, 2), (3, 4)), ((1, 2), (3, -4)))])
