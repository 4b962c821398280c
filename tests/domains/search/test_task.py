"""Sequential search: sessions by hand, what follows a decision, what is refused, and how a decision looks."""

import re

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.search.task import NORMAL, RANKS, UNIFORM, decisions, read_settings
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.participants.web.texts import texts_for_domain, translated, words_of
from lakatos.experiments.task import Stimuli, seen_trial
from lakatos.experiments.testing import DomainContract

DOMAIN = DOMAINS["search"]
CONTINUE, TAKE = 0, 1


class TestSearch(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAIN

    @pytest.fixture
    def settings(self):
        return {"n_steps": 12, "length": 6, "values": "normal(180, 20)", "goal": "lowest"}

    def test_candidates_are_different_admissible_trials_of_the_space(
        self, domain, settings, stimuli
    ):
        domain.check(stimuli)  # a session comes whole; it cannot be found in a list of all
        assert len(set(stimuli.keys)) == len(stimuli) == 12

    def test_an_empty_space_is_refused(self, domain):
        assert len(domain.space({"n_steps": 1})) == 1  # every admissible setting has a session

    def test_swapping_sides_twice_changes_nothing(self, domain, stimuli):
        assert domain.swap_sides(stimuli) is stimuli  # continue and take have an order of their own


def walked(session, responses):
    """What one participant sees at each decision, and what follows it."""
    seen, after, before = [], [], {}
    for step, response in enumerate(responses):
        arrays = session.take([step]).arrays
        shown = DOMAIN.shown(arrays, before)
        before = DOMAIN.feedback(arrays, shown, np.array([[response]]))
        seen.append({name: float(np.ravel(value)[0]) for name, value in shown.items()})
        after.append({name: float(value[0, 0]) for name, value in before.items()})
    return seen, after


def column(rows, name):
    return [row[name] for row in rows]


def test_a_sequence_ends_with_a_value_that_is_taken_or_with_the_last_one():
    draw, last = np.array([0.5, -1.0, 1.0, 0.2, 0.4]), np.array([9, 9, 9, 9, -0.5])
    session = decisions(3, draw, kind=NORMAL, center=100, scale=10, last=last)
    seen, after = walked(session, [CONTINUE, TAKE, TAKE, CONTINUE, CONTINUE])
    assert column(seen, "seen") == [0, 1, 0, 0, 1]
    assert column(after, "ended") == [0, 1, 1, 0, 2]
    assert column(after, "reward") == [0, 90, 110, 0, 95]
    assert column(after, "problems") == [0, 1, 2, 2, 3]


def test_candidates_and_values_since_the_last_one_are_counted_within_a_sequence():
    session = decisions(7, np.array([0.0, -1.0, -2.0, 0.5, 0.5, 1.0]), kind=UNIFORM)
    seen, _ = walked(session, [CONTINUE] * 6)
    assert column(seen, "leads") == [1, 0, 0, 1, 0, 1]  # an equal value is no new best one
    assert column(seen, "candidates") == [0, 1, 1, 1, 2, 2]
    assert column(seen, "since") == [0, 0, 1, 2, 0, 1]
    assert column(seen, "best") == [0, 0, 0, 0, 0.5, 0.5]


def test_low_values_are_good_where_the_scale_is_negative():
    session = decisions(4, np.array([0.0, 1.0]), kind=NORMAL, center=180, scale=-20)
    seen, after = walked(session, [CONTINUE, TAKE])
    assert (seen[1]["leads"], after[1]["reward"]) == (1, 160)


def test_a_rank_is_one_of_those_that_there_can_be_so_far():
    session = decisions(6, np.array([0.99, 0.49, 0.4, 0.999, 0.0]), kind=RANKS)
    seen, _ = walked(session, [CONTINUE] * 5)
    assert column(seen, "rank") == [1, 1, 2, 4, 1]
    assert column(seen, "leads") == [1, 1, 0, 0, 1]
    # the expected standing of rank r among k is r / (k + 1), of values between 0 and 1
    assert column(seen, "value")[2] == pytest.approx(12**0.5 * (0.5 - 2 / 4))


@pytest.mark.parametrize(("luck", "reward"), [(0.24, 1), (0.26, 0)])
def test_where_only_the_best_pays_a_value_pays_if_all_later_ones_are_worse(luck, reward):
    # two values are left, each worse than the middle of the distribution with probability one half
    session = decisions(
        4, np.array([-1.0, 0.0]), kind=UNIFORM, luck=np.full(2, luck), best_only=True
    )
    _, after = walked(session, [CONTINUE, TAKE])
    assert (after[1]["reward"], after[1]["ended"]) == (reward, 4 - reward)


def test_where_only_the_best_pays_another_value_than_the_best_so_far_pays_nothing():
    session = decisions(4, np.array([1.0, 0.0]), kind=UNIFORM, best_only=True)
    assert walked(session, [CONTINUE, TAKE])[1][1]["reward"] == 0


@pytest.mark.statistical
@pytest.mark.parametrize("values", ["ranks", "uniform(0, 1000)", "normal(0, 1000)"])
def test_passing_over_a_third_and_taking_the_next_candidate_finds_the_best_as_often_as_known(
    values,
):
    """Of ten candidates with probability 3 / 10 * (1/3 + ... + 1/9)."""
    settings = {"n_steps": 2000, "length": 10, "values": values, "reward": "best"}
    session = DOMAIN.candidates(settings, np.random.default_rng(1), 1)
    before, won = {}, []
    for step in range(2000):
        arrays = session.take([step]).arrays
        shown = DOMAIN.shown(arrays, before)
        response = (shown["seen"] >= 3) & (shown["leads"] > 0)
        before = DOMAIN.feedback(arrays, shown, 1 * response)
        won += [before["reward"][0, 0]] if before["ended"][0, 0] else []
    known = 0.3 * sum(1 / k for k in range(3, 10))
    assert abs(np.mean(won) - known) < 4 * np.sqrt(known * (1 - known) / len(won))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"values": "uniform(5, 5)"}, "setting values of the search domain is 'uniform"),
        ({"values": "beta(1, 2)"}, "give ranks, uniform"),
        ({"values": "ranks"}, 'values of the search domain is ranks.*give reward = "best"'),
        ({"goal": "best"}, "setting goal of the search domain is 'best'; give highest or lowest"),
        ({"length": 1}, "setting length is 1; give 2 to 100"),
        ({"n_steps": True}, "setting n_steps of the search domain cannot be True"),
        ({"most": 3}, "unknown settings of the search domain: most"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(StimuliError, match=words):
        read_settings(settings)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"length": np.full(3, 1.0)}, "length is a whole number from 2 to 100"),
        ({"kind": np.full(3, 4.0)}, "kind is 0, 1, 2 or 3"),
        ({"draw": np.full(3, np.nan)}, "draw and last are numbers"),
        (
            {"kind": np.full(3, 3.0), "draw": np.full(3, 1.0)},
            "draw and last are numbers, of ranks from 0",
        ),
        ({"luck": np.full(3, 2.0)}, "luck is a number from 0 to 1"),
        ({"best_only": np.full(3, 0.5)}, "best_only is 0 or 1"),
        ({"scale": np.full(3, np.inf)}, "scale is a number"),
        ({"available": np.zeros((3, 2))}, "both options are available"),
    ],
)
def test_steps_that_no_session_can_have_are_refused(changes, words):
    session = decisions(5, np.zeros(3))
    with pytest.raises(StimuliError, match=f"step 0 of the session: {words}"):
        DOMAIN.check(Stimuli(dict(session.arrays) | changes))


def text(picture):
    return " ".join(re.sub(r"<[^>]*>", " ", picture).split())


@pytest.mark.parametrize(
    ("settings", "seen", "picture", "line"),
    [
        (
            {"values": "uniform(0, 100)"}, {"seen": 2, "problems": 3},
            r"Number 3 of 10 \d+ All numbers from 0 to 100 are equally likely\. High numbers are good\.",
            r"decision 1: sequence 4, 3 of 10, value \d+",
        ),
        (
            {"values": "normal(180, 20)", "goal": "lowest"}, {},
            r"Number 1 of 10 \d+ Two of three numbers are from 160 to 200\. Low numbers are good\.",
            r"decision 1: sequence 1, 1 of 10, value \d+",
        ),
        (
            {"values": "ranks", "reward": "best"}, {"seen": 4},
            r"Candidate 5 of 10 Rank [1-5] among 5 so far; rank 1 is the best Only the best of a sequence counts\.",
            r"decision 1: sequence 1, 5 of 10, rank [1-5] so far",
        ),
    ],
)  # fmt: skip
def test_a_decision_is_shown_and_described_with_what_was_seen(settings, seen, picture, line):
    session = DOMAIN.space(settings)
    trial = seen_trial(DOMAIN, session, 0, seen)
    assert re.fullmatch(picture, text(DOMAIN.picture(trial, 0)))
    assert re.fullmatch(line, DOMAIN.describe(trial, 0))
    german = translated(DOMAIN.picture(trial, 0), texts_for_domain(DOMAIN)["de"])
    assert not set(words_of(german)) & {
        own for own in words_of(DOMAIN.picture(trial, 0)) if not own.isdigit()
    }
