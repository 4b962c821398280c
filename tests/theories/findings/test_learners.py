"""Generic learners: what they predict, of whom, and that they are always the same."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.findings.generic_learners.learners import (
    PEOPLE,
    better_size,
    ceiling_of_people,
    cross_fitted,
    fit_learners,
    folds_of,
    log_answers,
    log_choices,
    most_cells,
    predict_left_out,
    predict_others,
    read_rows,
    strengths,
)

DOMAIN = DOMAINS["multiattribute"]
VALIDITIES = np.array([0.9, 0.7, 0.6])
SPACE = {"validities": VALIDITIES.tolist(), "levels": [0, 1, 2]}


def asked(n_trials, seed) -> Stimuli:
    return DOMAIN.candidates(SPACE, np.random.default_rng(seed), n_trials)


def probability(stimuli: Stimuli, strictness) -> np.ndarray:
    """``(n_people, n_trials)`` share of the second product by weighted adding."""
    difference = stimuli["ratings"][:, 1] - stimuli["ratings"][:, 0]
    evidence = ((stimuli["validities"] - 0.5) * difference).sum(axis=1)
    return 1 / (1 + np.exp(-np.asarray(strictness)[:, None] * evidence))


def answered(stimuli, chances, seed, n_each=2, *, name="e", pooled=False) -> Trials:
    rng = np.random.default_rng(seed)
    n_people, n_trials = chances.shape
    person = np.repeat(np.arange(n_people), n_trials * n_each)
    trial = np.tile(np.repeat(np.arange(n_trials), n_each), n_people)
    response = (rng.random(len(trial)) < chances[person, trial]).astype(int)
    if pooled:
        person = np.zeros_like(person)
    return Trials(name, stimuli, person, trial, response, np.ones(len(trial)), pooled=pooled)


def truth(trials: Trials, chances) -> float:
    """Nats per choice of somebody who knows every person's rule."""
    log_p = np.log(np.stack([1 - chances, chances], axis=-1))
    return float((trials.counts * log_p).sum() / trials.counts.sum())


@pytest.fixture(scope="module")
def experiments():
    strictness = np.random.default_rng(0).lognormal(1.5, 0.5, 25)
    made = []
    for seed in range(3):
        stimuli = asked(40, seed)
        chances = probability(stimuli, strictness)
        made.append((answered(stimuli, chances, seed, name=f"e{seed}"), chances))
    return made


@pytest.mark.slow
def test_they_come_close_to_the_rule_on_experiments_that_they_did_not_see(experiments):
    trials = [item for item, _ in experiments]
    found = predict_left_out(DOMAIN, trials).scores
    best = np.mean([truth(*item) for item in experiments])
    mean = np.mean([item.mean for item in found])
    assert -np.log(2) + 0.7 * (best + np.log(2)) < mean < best


@pytest.mark.slow
def test_units_are_those_of_theories(experiments):
    trials = [item for item, _ in experiments]
    for own, item in zip(predict_left_out(DOMAIN, trials).scores, trials, strict=True):
        np.testing.assert_array_equal(own.n_choices, item.counts.sum(axis=(1, 2)))
    pooled = answered(asked(30, 4), probability(asked(30, 4), [4.0] * 9), 1, pooled=True)
    (own,) = predict_left_out(DOMAIN, [pooled]).scores
    np.testing.assert_array_equal(own.n_choices, pooled.counts.sum(axis=(0, 2)))


@pytest.mark.slow
def test_the_same_answers_and_seed_make_the_same_learners(experiments):
    trials = [item for item, _ in experiments[:2]]
    first, second, other = (predict_left_out(DOMAIN, trials, seed=n).scores for n in (4, 4, 5))
    for own, again, different in zip(first, second, other, strict=True):
        np.testing.assert_array_equal(own.log_predictive, again.log_predictive)
        assert not np.array_equal(own.log_predictive, different.log_predictive)


@pytest.mark.slow
def test_answers_that_are_predicted_teach_nothing(experiments):
    (first, _), (second, _), _ = experiments
    turned = Trials(
        second.experiment, second.stimuli, second.participant, second.trial, 1 - second.response, second.count
    )  # fmt: skip
    own, other = (
        predict_others(DOMAIN, [first], [new], kind="trials").scores[0] for new in (second, turned)
    )
    assert own.mean > -np.log(2) > other.mean


def test_the_short_way_for_two_options_gives_the_same(experiments):
    trials = [item for item, _ in experiments[:1]]
    rows = read_rows(DOMAIN, trials)
    rng = np.random.default_rng(2)
    strength, tastes = (
        rng.normal(size=(len(rows.cell), 2)),
        rng.normal(size=(len(rows.columns), 2, 2)),
    )
    drawn = {name: prior.quantile(rng.random(8)) for name, prior in PEOPLE.items()}
    drawn |= {"taste_0": rng.normal(size=8), "taste_1": rng.normal(size=8)}
    log_p = log_choices(strength, tastes[rows.cell], rows.available[rows.cell], drawn)
    own = log_p[:, np.arange(len(rows.cell)), rows.response] * rows.count
    expected = np.stack([np.bincount(rows.person, line) for line in own])
    np.testing.assert_allclose(log_answers(rows, strength, tastes, drawn), expected, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("pooled", [(True, False), (False, True)])
def test_counts_teach_about_people_and_people_about_counts(experiments, pooled):
    strictness = [5.0] * 20
    (seen, unseen), (one, other) = pooled, (asked(40, 8), asked(40, 9))
    learned = answered(one, probability(one, strictness), 1, pooled=seen)
    new = answered(other, probability(other, strictness), 2, pooled=unseen)
    (own,) = predict_others(DOMAIN, [learned], [new], kind="trials").scores
    counts = new.counts.sum(axis=(0, 2)) if unseen else new.counts.sum(axis=(1, 2))
    np.testing.assert_array_equal(own.n_choices, counts)
    best = truth(answered(other, probability(other, strictness), 2), probability(other, strictness))
    assert -np.log(2) + 0.6 * (best + np.log(2)) < own.mean < best


@pytest.mark.slow
def test_people_who_follow_opposite_rules_are_told_apart(experiments):
    stimuli = asked(40, 7)
    half = np.repeat([3.0, -3.0], 15)
    chances = probability(stimuli, half)
    trials = answered(stimuli, chances, 3)
    learner = predict_left_out(DOMAIN, [trials]).scores[0].mean
    ceiling = ceiling_of_people(DOMAIN, [trials])
    assert ceiling is not None
    best = truth(trials, chances)
    # Nobody who takes people for alike beats guessing here.
    assert learner > -np.log(2) + 0.5 * (best + np.log(2))
    assert ceiling[0].mean > -np.log(2) + 0.5 * (best + np.log(2))


def test_there_is_no_ceiling_of_people_without_people_who_share_a_trial():
    stimuli = asked(20, 1)
    alone = Trials("e", stimuli, np.arange(20), np.arange(20), np.zeros(20, int), np.ones(20))
    assert ceiling_of_people(DOMAIN, [alone]) is None


@pytest.mark.slow
def test_learners_of_a_task_with_steps_use_what_was_done_and_got():
    domain = DOMAINS["learning"]
    rng = np.random.default_rng(3)
    schedule = domain.candidates({"task": "reversal", "n_steps": 80, "n_options": 2}, rng, 1)
    n_people, payoff = 20, schedule["payoff"][:, 0]
    response = np.zeros((n_people, 80), int)
    for step in range(1, 80):  # win-stay, lose-shift, with a tenth of errors
        last = response[:, step - 1]
        follow = np.where(payoff[step - 1, last] > 0, last, 1 - last)
        response[:, step] = np.where(rng.random(n_people) < 0.1, 1 - follow, follow)
    trial = np.tile(np.arange(80), n_people)
    chosen = response.ravel()
    trials = Trials(
        "e", schedule, np.repeat(np.arange(n_people), 80), trial, chosen, np.ones(len(trial)),
        feedback={"reward": payoff[trial, chosen], "next_state": np.zeros(len(trial))},
    )  # fmt: skip
    (own,) = predict_left_out(domain, [trials]).scores
    best = 0.9 * np.log(0.9) + 0.1 * np.log(0.1)
    assert own.mean > -np.log(2) + 0.8 * (best + np.log(2))


@pytest.mark.parametrize("large", [False, True])
def test_on_a_scale_they_see_where_outcomes_lie_and_which_there_are(large):
    """People give what the others gave; where only all or nothing is allowed, what is nearer."""
    domain = DOMAINS["public_goods"]
    stimuli = domain.space({"n_trials": 200})
    far = np.abs(np.arange(21) - 20 * stimuli["others"][:, None]) + 100 * (1 - stimuli["available"])
    n_trials = len(stimuli)
    people, trial = np.repeat(np.arange(2), n_trials), np.tile(np.arange(n_trials), 2)
    given = Trials(
        "e", stimuli, people, trial, far.argmin(axis=1)[trial], np.ones(2 * n_trials), n_options=21
    )
    rows = read_rows(domain, [given])
    np.testing.assert_array_equal(rows.available, stimuli["available"] > 0)
    learned = strengths(
        fit_learners(rows.columns, rows.counts(rows.cell >= 0), 0, large=large), rows.columns
    )
    guessed = np.where(rows.available, learned, -np.inf).argmax(axis=1)
    assert np.abs(guessed - far.argmin(axis=1)).mean() < 1


@pytest.mark.parametrize("large", [False, True])
def test_on_a_timed_scale_they_see_which_option_was_chosen_and_when(large):
    """People are right and quick without conflict, and wrong and slow with it."""
    domain = DOMAINS["attention"]
    stimuli = domain.space({})
    given = np.where(stimuli["congruence"] == 1, 5, 30)
    n_trials = len(stimuli)
    people, trial = np.repeat(np.arange(4), n_trials), np.tile(np.arange(n_trials), 4)
    answers = Trials("e", stimuli, people, trial, given[trial], np.ones(4 * n_trials), n_options=40)
    rows = read_rows(domain, [answers])
    learned = strengths(
        fit_learners(rows.columns, rows.counts(rows.cell >= 0), 0, large=large), rows.columns
    )
    assert (learned.argmax(axis=1) == given).all()


def log_loss(rows, strength) -> float:
    """Least log loss in nats of two options over weights of the learners' log odds."""
    lead = (strength[:, 1] - strength[:, 0]) * np.where(rows.response == 1, 1, -1)
    p = [0.98 / (1 + np.exp(-scale * lead)) + 0.01 for scale in (0.2, 0.3, 0.45, 0.65, 1.0)]
    return float(min(-(rows.count * np.log(item)).sum() for item in p))


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["odd or even", "linear and noisy"])
def test_the_size_that_predicts_left_out_answers_better_is_taken(rule):
    """Large learners find that odd totals are preferred; small ones predict noisy responses better."""
    is_odd = rule == "odd or even"
    stimuli = asked(300, 5) if is_odd else asked(150, 7)
    total = stimuli["ratings"][:, 1].sum(axis=1)
    odd = np.tile(np.where(total % 2 == 1, 0.9, 0.1), (4, 1))
    chances = odd if is_odd else probability(stimuli, np.ones(2))
    rows = read_rows(DOMAIN, [answered(stimuli, chances, 6, 1)])
    fold = folds_of(DOMAIN, rows, "trials")
    both = [cross_fitted(rows, fold, 0, large=large) for large in (False, True)]
    strength, large = better_size(rows, fold, 0)
    assert (log_loss(rows, both[1]) < log_loss(rows, both[0])) == large == is_odd
    np.testing.assert_array_equal(strength, both[large])


def test_learners_learn_from_fewer_trials_where_these_have_more_options() -> None:
    assert [most_cells(n) for n in (2, 4, 10, 100)] == [20_000, 10_000, 4_000, 4_000]


@pytest.mark.slow
def test_people_may_differ_in_the_weight_of_every_attribute():
    domain, n_cues, n_people = DOMAIN, 6, 60
    rng = np.random.default_rng(5)
    space = {"validities": [0.6] * n_cues, "levels": [0, 1, 2]}
    stimuli = domain.candidates(space, rng, 40)
    difference = stimuli["ratings"][:, 1] - stimuli["ratings"][:, 0]
    weights = rng.normal(0.0, 1.0, (n_people, n_cues))
    chances = 1 / (1 + np.exp(-weights @ difference.T))
    trials = answered(stimuli, chances, 3)
    learner = predict_left_out(domain, [trials]).scores[0].mean
    # The log marginal likelihood of each person's responses under the true population.
    drawn = rng.normal(0.0, 1.0, (20_000, n_cues))
    lead = drawn @ difference.T
    log_p = np.stack([-np.logaddexp(0, lead), -np.logaddexp(0, -lead)], axis=-1)
    marginal = [
        np.logaddexp.reduce((log_p * own).sum(axis=(1, 2))) - np.log(len(drawn))
        for own in trials.counts
    ]
    best = sum(marginal) / trials.counts.sum()
    assert learner > -np.log(2) + 0.7 * (best + np.log(2))


@pytest.mark.slow
def test_people_may_differ_in_the_level_and_the_spread_of_their_responses():
    domain, n_people, n_trials = DOMAINS["public_goods"], 40, 20
    rng = np.random.default_rng(6)
    stimuli = domain.space({"n_trials": 400})
    stimuli = stimuli.take(np.flatnonzero(stimuli["available"].all(axis=1))[:n_trials])
    levels = np.arange(21)

    def shares(n):
        level, spread = rng.uniform(2, 18, (n, 1)), rng.choice([2.0, 6.0], (n, 1))
        p = np.exp(-0.5 * ((levels - level) / spread) ** 2)
        return p / p.sum(axis=1, keepdims=True)

    given = np.array([rng.choice(21, n_trials, p=own) for own in shares(n_people)])
    person, trial = np.repeat(np.arange(n_people), n_trials), np.tile(np.arange(n_trials), n_people)
    trials = Trials(
        "e", stimuli, person, trial, given.ravel(), np.ones(given.size), n_options=21
    )  # fmt: skip
    learner = predict_left_out(domain, [trials]).scores[0].mean
    log_p = np.log(shares(20_000))[:, given].sum(axis=2)
    best = (np.logaddexp.reduce(log_p, axis=0) - np.log(len(log_p))).sum() / given.size
    assert learner > -np.log(21) + 0.6 * (best + np.log(21))
