"""Declared tasks in which people see what came of their choices."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from feedback_tasks import BANDIT, PAIRS, TASKS, WEATHER, changed

from lakatos.domains.declared.declaration import read_task
from lakatos.domains.declared.feedback_task import FeedbackDomain, declared_domain
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.experiments.errors import StimuliError, TaskFileError
from lakatos.experiments.testing import DomainContract

DOMAINS = {name: FeedbackDomain(text) for name, text in TASKS.items()}


def drawn(text, seed=0, **settings):
    return FeedbackDomain(text).candidates(settings, np.random.default_rng(seed), 1)


def answered(domain, stimuli, responses):
    """What follows each of one person's responses."""
    return [
        domain.feedback(
            {name: array[[row]] for name, array in stimuli.arrays.items()},
            domain.shown({name: array[[row]] for name, array in stimuli.arrays.items()}, {}),
            np.array([[response]]),
        )
        for row, response in enumerate(responses)
    ]


class TestFeedbackDomain(DomainContract):
    @pytest.fixture(params=list(TASKS))
    def domain(self, request):
        return DOMAINS[request.param]

    @pytest.fixture
    def settings(self):
        return {"reversal_every": 0}

    def test_candidates_are_different_admissible_trials_of_the_space(
        self, domain, settings, stimuli
    ):
        domain.check(stimuli)  # a schedule is drawn anew each time, so that the space holds another
        assert domain.admits(settings, stimuli).all()

    def test_an_empty_space_is_refused(self, domain):
        with pytest.raises(StimuliError):
            domain.space({"steps": 0})


def test_a_declaration_with_feedback_is_a_schedule_and_one_without_stands_alone():
    assert declared_domain(BANDIT).sequential
    without = WEATHER.partition("[feedback]")[0]
    assert type(declared_domain(without)) is DeclaredDomain


def test_outcomes_come_as_often_as_declared():
    pays = np.concatenate([drawn(BANDIT, seed)["payoff"][:, 0] for seed in range(100)])
    share = (pays == 10).mean(axis=0)
    error = np.sqrt(0.7 * 0.3 / len(pays))
    assert set(np.unique(pays)) == {0, 10}
    assert np.abs(share - [0.7, 0.3]).max() < 4 * error


def test_a_sequence_is_paid_as_it_stands():
    text = changed(
        BANDIT, ("amounts = [10, 0]\nchances = [0.7, 0.3]", f"sequence = {list(range(24))}")
    )
    assert drawn(text)["payoff"][:, 0, 0].tolist() == list(range(24))


def test_lot_decides_which_option_has_which_outcomes_where_they_are_mixed():
    sure = changed(BANDIT, ("[0.7, 0.3]", "[1, 0]"), ("[0.3, 0.7]", "[0, 1]"))
    assert (drawn(sure)["payoff"][:, 0] == [10, 0]).all()
    mixed = changed(sure, ("steps = 24", "steps = 24\nblocks = 4\nmixed = true"))
    better = [tuple(drawn(mixed, seed)["payoff"][::6, 0, 0]) for seed in range(20)]
    assert len(set(better)) > 5


def test_outcomes_pass_on_to_another_option_about_as_often_as_said():
    sure = changed(BANDIT, ("[0.7, 0.3]", "[1, 0]"), ("[0.3, 0.7]", "[0, 1]"))
    stimuli = drawn(sure, steps=600, reversal_every=20)
    better = stimuli["payoff"][:, 0, 0]
    lengths = np.diff(np.flatnonzero(np.diff(better)))
    assert lengths.min() >= 16
    assert lengths.max() <= 24


def test_all_sets_of_options_are_offered_equally_often():
    there = drawn(PAIRS, steps=24)["available"]
    assert (there.sum(axis=1) == 2).all()
    assert np.unique(there, axis=0, return_counts=True)[1].tolist() == [4] * 6


def test_attributes_foretell_what_is_paid():
    text = changed(WEATHER, ("noise = 0.5", "noise = 0"))
    stimuli = drawn(text)
    assert stimuli["payoff"][:, 0] == pytest.approx(
        -2 + 0.1 * stimuli["height"] + 2 * stimuli["leaf"]
    )
    noisy = drawn(WEATHER, steps=2000)
    missed = noisy["payoff"][:, 0] - (-2 + 0.1 * noisy["height"] + 2 * noisy["leaf"])
    assert missed.std() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(2 * missed.size))


def test_people_see_the_outcome_of_what_they_chose_or_of_all():
    domain = DOMAINS["bandit"]
    stimuli = drawn(BANDIT)
    found = answered(domain, stimuli, [0, 1])
    assert set(found[0]) == {"reward", "next_state"}
    assert found[1]["reward"] == stimuli["payoff"][1, 0, 1]
    domain, stimuli = DOMAINS["weather"], drawn(WEATHER)
    (first,) = answered(domain, stimuli, [1])
    assert first["reward"] == first["outcome_2"] == stimuli["payoff"][0, 0, 1]
    assert first["outcome_1"] == stimuli["payoff"][0, 0, 0]


def test_nothing_of_what_will_be_paid_is_shown():
    for name, domain in DOMAINS.items():
        stimuli = domain.candidates({}, np.random.default_rng(0), 1)
        assert "payoff" not in domain.shown(dict(stimuli.arrays), {}), name


def test_outcomes_are_told_in_words():
    told = DOMAINS["bandit"].told_after
    assert told({"reward": 10.0}) == "You won 10 points."
    assert told({"reward": -1.0}) == "You lost 1 point."
    assert told({"reward": 0.0}) == "You won nothing."
    every = {"reward": 1.5, "outcome_1": 1.5, "outcome_2": -2.0}
    assert DOMAINS["weather"].told_after(every) == "You won €1.50. left: €1.50, right: -€2."


def test_the_range_of_outcomes_and_what_counts_as_a_gain_follow_from_the_declaration():
    assert DOMAINS["bandit"].outcome_range == (0, 10)
    assert DOMAINS["bandit"].win_above == 0
    assert DOMAINS["weather"].outcome_range == pytest.approx((-3, 4))
    dear = FeedbackDomain(changed(BANDIT, ("amounts = [10, 0]", "amounts = [10, 4]")))
    assert dear.win_above == 7


def test_trials_that_are_listed_keep_their_places():
    listed = "\n[[space.listed]]\nheight = [0, 30]\nleaf = ['round', 'pointed']\n"
    stimuli = drawn(WEATHER + listed)
    assert (stimuli["height"] == [0, 30]).all()
    turned = drawn(WEATHER)
    assert len({tuple(row) for row in np.sign(np.diff(turned["leaf"], axis=1))}) > 1


def test_a_study_may_change_the_session():
    assert len(drawn(BANDIT, steps=10)) == 10
    assert drawn(BANDIT, blocks=3)["block_start"].sum() == 3
    with pytest.raises(StimuliError, match="setting steps of the decks domain"):
        drawn(BANDIT, steps=1)
    with pytest.raises(StimuliError, match="unknown setting"):
        drawn(BANDIT, stepps=10)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (changed(BANDIT, ('unit = "points"\n', "")), "feedback.unit' is missing"),
        (changed(BANDIT, ('unit = "points"', 'unit = ""')), "feedback.unit: "),
        (changed(BANDIT, ("steps = 24\n", "")), "feedback.steps' is missing"),
        (changed(BANDIT, ("steps = 24", "steps = 1")), "feedback.steps: "),
        (changed(BANDIT, ("steps = 24", "stepps = 24")), "did you mean 'steps'"),
        (changed(BANDIT, ("[0.7, 0.3]", "[0.7, 0.4]")), "chances add up to 1.1, not to 1"),
        (changed(BANDIT, ("[0.7, 0.3]", "[1.7, -0.7]")), "the chance 1.7 is no probability"),
        (changed(BANDIT, ("[0.7, 0.3]", "[1]")), "2 amounts have 1 chances; give one for each"),
        (changed(BANDIT, ("chances = [0.7, 0.3]", "sequence = [1]")), "either amounts with their chances"),
        (changed(BANDIT, ("amounts = [10, 0]\nchances = [0.7, 0.3]", "sequence = [1, 2]")),
         "2 amounts for 24 steps; give one for each"),
        (changed(BANDIT, ("outcomes.Red", "outcomes.Reed")), "there is no 'Reed'; did you mean 'Red'"),
        (changed(BANDIT, ("chances = [0.3, 0.7]", "chance = [0.3, 0.7]")), "did you mean 'chances'"),
        (BANDIT.partition("[feedback.outcomes.Blue]")[0], "feedback.outcomes: Blue is missing"),
        (BANDIT.partition("[feedback.outcomes")[0], "give either outcomes of each option, or weights"),
        (changed(BANDIT, ("[10, 0]", "[10, 10]")), "all options always pay the same"),
        (changed(BANDIT, ("steps = 24", "steps = 24\nblocks = 20")), "12 blocks at most"),
        (changed(BANDIT, ("steps = 24", "steps = 24\nnoise = 1")), "belong to weights"),
        (changed(BANDIT, ("steps = 24", 'steps = 24\nshows = "some"')), "feedback.shows: "),
        (changed(PAIRS, ("offered = 2", "offered = 5")), "feedback.offered: 5 of 4 options"),
        (changed(PAIRS, ("offered = 2", 'offered = 2\nshows = "all"')), "feedback.offered: some options at a time"),
        (changed(WEATHER, ("height = 0.1", "hight = 0.1")), "there is no 'hight'; did you mean 'height'"),
        (changed(WEATHER, ("height = 0.1", "height = { a = 1 }")), "feedback.weights.height: give one number"),
        (changed(WEATHER, ("{ round = 0, pointed = 2 }", "2")), "feedback.weights.leaf: give a number for each"),
        (changed(WEATHER, ("round = 0, ", "")), "feedback.weights.leaf: round is missing"),
        (changed(WEATHER, ("attributes.height", "attributes.position"), ("height = 0.1", "position = 0.1")),
         "attributes.position: no name for an attribute"),
        (changed(BANDIT, ('["Red", "Blue"]', "{ from = 0, to = 8 }")), "people learn about 6 at most"),
    ],
)  # fmt: skip
def test_a_wrong_declaration_is_refused_with_the_key_and_what_to_write(text, words):
    with pytest.raises(TaskFileError) as error:
        read_task(text, "decks.toml")
    assert words in str(error.value)
    assert re.match(r"decks\.toml(, line [1-9]\d*)?: ", str(error.value))
