"""Induction in learning: what can be remembered, and the rules that are found in it."""

import sys
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "domains" / "declared"))

from feedback_tasks import BANDIT, WEATHER
from feedback_tasks import changed as changed_text

from lakatos.domains.declared.feedback_task import FeedbackDomain
from lakatos.domains.learning.task import LearningDomain
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.discovery.induction.lesson_terms import (
    KEPT,
    SCORES,
    pairs_of,
    remembered,
    remembered_of,
    scores_of,
)
from lakatos.theories.discovery.induction.lessons import N_FOLDS, _predictive_scores
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.checks.complexity import why_unreadable
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = LearningDomain()


def games(rule, n_options=2, n_people=20, n_games=2, seed=0):
    """People who choose by ``rule(past, n_options)``, probabilities, where ``past`` holds choices and rewards."""
    rng = np.random.default_rng(seed)
    found, truths = [], []
    for number in range(n_games):
        settings = {"task": "reversal", "n_steps": 50, "n_options": n_options}
        stimuli = DOMAIN.candidates(settings, rng, 100)
        response, reward = np.zeros((n_people, 50), dtype=np.int64), np.zeros((n_people, 50))
        truth = np.zeros((n_people, 50, n_options))
        for person in range(n_people):
            past = []
            for step in range(50):
                p = rule(past, n_options) if past else np.ones(n_options) / n_options
                choice = rng.choice(n_options, p=p)
                past.append((choice, stimuli["payoff"][step, 0, choice]))
                truth[person, step], (response[person, step], reward[person, step]) = p, past[-1]
        found.append(
            Trials(
                f"game {number}",
                stimuli,
                np.repeat(np.arange(n_people), 50),
                np.tile(np.arange(50), n_people),
                response.ravel(),
                np.ones(response.size, dtype=np.int64),
                n_options=n_options,
                n_people=n_people,
                feedback={"reward": reward.ravel(), "next_state": 0 * reward.ravel()},
            )
        )
        truths.append(truth)
    return found, truths


def three_tries(past, n_options):
    """Try an option three times, then leave it as soon as it pays nothing."""
    last, paid = past[-1]
    stay = next((k for k, (choice, _) in enumerate(reversed(past)) if choice != last), len(past))
    there = np.arange(n_options) == last
    return ~there / (n_options - 1) if stay >= 3 and paid == 0 else 1.0 * there


def two_losses(past, n_options):
    """Change after two losses in a row, whatever was chosen, in four of five steps."""
    there = np.arange(n_options) == past[-1][0]
    leaves = len(past) > 1 and not past[-1][1] and not past[-2][1]
    follows = ~there / (n_options - 1) if leaves else 1.0 * there
    return 0.8 * follows + 0.2 / n_options


def odd_ones(past, n_options):
    """Return to an option that was tried an odd number of times, and among such not to the last one."""
    tried = np.bincount([choice for choice, _ in past], minlength=n_options)
    hope = 2.0 * (tried % 2) - (np.arange(n_options) == past[-1][0])
    return (hope == hope.max()) / (hope == hope.max()).sum()


def softmax(past, n_options):
    value = np.zeros(n_options)
    for choice, paid in past:
        value *= 0.7
        value[choice] += 0.3 * paid
    return np.exp(4 * value) / np.exp(4 * value).sum()


def changed(chosen):
    """Number of the visit that a step belongs to."""
    visit = np.cumsum(np.diff(chosen, prepend=chosen[:1]) != 0)
    return lambda step: visit[step]


class TestMemory:
    @pytest.mark.slow
    def test_what_is_remembered_is_what_one_would_count(self):
        (data, *_), _ = games(softmax, n_options=3, n_people=3)
        told = remembered_of(DOMAIN, [data])
        numbers = {score.words: told.scores[place] for place, score in enumerate(SCORES)}
        chosen, reward = data.sequences.response, data.sequences.feedback["reward"]
        for row, person in enumerate(told.person):
            step = row - 50 * person
            before, paid = chosen[person, :step], reward[person, :step]
            for option in range(3):
                own = paid[before == option]
                assert numbers["number of tries"][row, option] == len(own)
                assert numbers["number of wins"][row, option] == own.sum()
                assert numbers["mean outcome"][row, option] == pytest.approx(
                    own.mean() if len(own) else 0
                )
                assert numbers["total of the last two outcomes"][row, option] == own[-2:].sum()
                losses = next((k for k, won in enumerate(own[::-1]) if won), len(own))
                assert numbers["number of losses in a row"][row, option] == losses
                visits = [
                    list(visit)
                    for _, visit in groupby(np.flatnonzero(before == option), changed(before))
                ]
                past = visits[:-1] if step and before[-1] == option else visits
                assert numbers["oddness of the number of wins in a row"][row, option] == (
                    next((k for k, won in enumerate(own[::-1]) if not won), len(own)) % 2
                )
                length = len(past[-1]) if past else 0
                assert numbers["length of the previous run of choices"][row, option] == length
                won = paid[past[-1]].sum() if past else 0
                assert numbers["number of wins in the previous run of choices"][row, option] == won
                value = 0.5
                for outcome in own:
                    value += 0.2 * (outcome - value)
                assert numbers["learned value (learning rate 20%)"][row, option] == pytest.approx(
                    value
                )

    def test_moves_are_remembered_by_what_they_paid(self):
        (data, *_), _ = games(softmax, n_options=3, n_people=3)
        told = remembered_of(DOMAIN, [data])
        numbers = {score.words: told.scores[place] for place, score in enumerate(SCORES)}
        merit = numbers[
            "merit of doing with it what has the better outcome the last time, staying or leaving"
        ]
        (gate,) = [
            told.gates.values[place]
            for place, term in enumerate(told.gates.items)
            if term.words
            == "either the last choice won or the last choice was a switch from another option, but not both"
        ]
        chosen, reward = data.sequences.response, data.sequences.feedback["reward"]
        for row, person in enumerate(told.person):
            step = row - 50 * person
            before, paid = chosen[person, :step], reward[person, :step]
            left = np.diff(before, prepend=before[:1]) != 0
            newest = [
                paid[left == move][-1] if (left == move).any() else 0 for move in (False, True)
            ]
            here = before[-1] == np.arange(3) if step else np.zeros(3)
            np.testing.assert_array_equal(merit[row], here * (newest[0] - newest[1]))
            assert gate[row] == (step > 0 and (paid[-1] > 0) != left[-1])

    def test_every_memory_renews_itself_from_what_is_remembered(self):
        for entry in KEPT.values():
            assert remembered(entry.renewed) <= set(KEPT)

    def test_comparisons_of_an_answer_weigh_one_together(self):
        (data, *_), _ = games(softmax, n_options=4, n_people=2)
        told = remembered_of(DOMAIN, [data])
        pairs = pairs_of(told)
        np.testing.assert_allclose(np.bincount(pairs.row, pairs.counts.sum(axis=1)), 1)
        took_high = pairs.counts[:, 1] > 0
        np.testing.assert_array_equal(
            np.where(took_high, pairs.high, pairs.low), told.response[pairs.row]
        )


class TestInduce:
    @pytest.mark.long
    def test_finds_that_options_are_tried_in_twos(self, sandbox):
        data, _ = games(odd_ones, 3)
        (found, *_) = induce(DOMAIN, data, np.random.default_rng(0))
        new, (truth,) = games(odd_ones, 3, n_games=1, seed=5)
        theory = load_theory(TheoryProgram(found.source, "induction"), DOMAIN, sandbox)
        with sandbox.open_session(found.source, [], n_options=3) as session:
            own = follow(session, DOMAIN, theory.population(16, lapse=False), new[0]).own
        assert np.mean((own - truth) ** 2) < 0.001

    @pytest.mark.long
    @pytest.mark.parametrize("n_options", [2, 3])
    def test_finds_that_options_are_judged_after_three_tries(self, sandbox, n_options):
        data, _ = games(three_tries, n_options)
        found = induce(DOMAIN, data, np.random.default_rng(0))
        new, (truth,) = games(three_tries, n_options, n_games=1, seed=5)
        errors = []
        for item in found:
            theory = load_theory(TheoryProgram(item.source, "induction"), DOMAIN, sandbox)
            with sandbox.open_session(item.source, [], n_options=n_options) as session:
                own = follow(session, DOMAIN, theory.population(16, lapse=False), new[0]).own
            errors.append(np.mean((own - truth) ** 2))
        assert min(errors) < 0.0013
        assert errors[0] < 0.005

    @pytest.mark.long
    def test_graded_choice_by_recent_rewards_is_a_sum(self, sandbox):
        data, _ = games(softmax, n_people=40)
        (found, *_) = induce(DOMAIN, data, np.random.default_rng(0))
        assert found.kind == "weighed lessons"
        theory = load_theory(TheoryProgram(found.source, "induction"), DOMAIN, sandbox)
        new, (truth,) = games(softmax, n_games=1, seed=5)
        with sandbox.open_session(found.source, [], n_options=2) as session:
            own = follow(session, DOMAIN, theory.population(16, lapse=False), new[0]).own
        assert np.mean((own - truth) ** 2) < 0.005

    @pytest.mark.slow
    def test_a_change_after_two_losses_is_told_in_plain_words_and_can_be_read(self):
        data, _ = games(two_losses, n_people=20)
        (found, *_) = induce(DOMAIN, data, np.random.default_rng(0), n_most=1)
        assert found.kind == "rule list of learning"
        assert "repeat the last choice" in found.claim or "switch from the last" in found.claim
        assert "2 choices in a row have lost" in found.claim
        assert why_unreadable(read_program(TheoryProgram(found.source, "induction"))) == ""

    def test_two_stages_are_left_to_the_grammar(self):
        stimuli = DOMAIN.candidates(
            {"task": "two_step", "n_steps": 20}, np.random.default_rng(0), 100
        )
        rows = np.arange(20)
        feedback = {"reward": rows * 0.0, "next_state": rows % 2 * 1.0}
        data = Trials(
            "two", stimuli, 0 * rows, rows, rows % 2, np.ones(20, dtype=np.int64), feedback=feedback
        )
        assert induce(DOMAIN, [data], np.random.default_rng(0)) == []


# Declared tasks


def learners(domain, seed=0, n_people=30):
    """People who stay with an option until it loses, and then take another one."""
    rng = np.random.default_rng(seed)
    stimuli = domain.candidates({}, rng, 1)
    n_steps = len(stimuli)
    response, reward = np.zeros((2, n_people, n_steps))
    response = response.astype(np.int64)
    for person, step in np.ndindex(response.shape):
        lost = step > 0 and reward[person, step - 1] <= domain.win_above
        before = response[person, step - 1] if step else rng.integers(2)
        choice = 1 - before if lost else before
        choice = rng.integers(2) if rng.random() < 0.05 else choice
        response[person, step] = choice
        reward[person, step] = stimuli["payoff"][step, 0, choice]
    return Trials(
        "lessons", stimuli, np.repeat(np.arange(n_people), n_steps), np.tile(np.arange(n_steps), n_people),
        response.ravel(), np.ones(response.size, dtype=np.int64), n_people=n_people,
        feedback={"reward": reward.ravel(), "next_state": 0 * reward.ravel()},
    )  # fmt: skip


def test_a_rule_of_gains_and_losses_is_found_whatever_the_range_of_outcomes(sandbox):
    domain = FeedbackDomain(changed_text(BANDIT, ("[10, 0]", "[30, 20]")))
    trials = learners(domain)
    found = induce(domain, [trials], np.random.default_rng(0))[0]
    # 19 of 20 choices follow the rule, and half of the others do by chance
    best = 0.975 * np.log(0.975) + 0.025 * np.log(0.025)
    first = np.log(2) / len(trials.stimuli)
    assert found.cross_validated > best - first - 0.05
    theory = load_theory(TheoryProgram(found.source, "induction"), domain, sandbox)
    assert theory.learns


def test_rules_may_look_at_attributes_of_a_declared_task():
    told = {score.words for score in scores_of(FeedbackDomain(WEATHER))}
    assert {"height", "leaf 'pointed'", "last outcome"} <= told
    assert scores_of(DOMAIN) == SCORES


def test_a_form_without_any_rule_for_some_of_the_people_is_left_out() -> None:
    """Few participants who all choose alike teach nothing, and a size of rules cannot be compared then."""
    fold = np.arange(N_FOLDS)
    pairs = SimpleNamespace(row=fold, counts=np.ones((N_FOLDS, 2)))
    found = iter([{}, *({1: object()} for _ in fold[1:])])
    assert _predictive_scores(lambda terms, counts: next(found), None, None, pairs, fold) == {}
