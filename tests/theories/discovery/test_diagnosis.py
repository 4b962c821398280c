"""The arbiter: a planted flaw is found, named and priced; where nothing is wrong, little is claimed."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logsumexp, softmax
from scipy.stats import binom, norm

from lakatos.domains import DOMAINS
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.discovery.diagnosis import (
    TheoryPredictions,
    TrialFeatures,
    case_predictions,
    diagnose,
)
from lakatos.theories.discovery.diagnosis import correction as corrections
from lakatos.theories.discovery.diagnosis.case_file import (
    FALSE_DISCOVERY_RATE,
    MOST_CLAIMS,
    _hypothesis,
    _in_words,
    _p_in_words,
    _size,
    _stated,
    _test,
    _without_mechanism,
    confidence,
    examine,
)
from lakatos.theories.discovery.diagnosis.correction import PanelCorrector
from lakatos.theories.discovery.diagnosis.panel import AnswerPanel, thin
from lakatos.theories.discovery.diagnosis.pool import pool_evidence, scores_of_people, sharing
from lakatos.theories.discovery.diagnosis.rule import (
    OWN_FEATURES,
    RULES,
    DiagnosisCheck,
    DiagnosisSheet,
    _regions,
    words,
)
from lakatos.theories.discovery.diagnosis.slope import ResidualSample, slope_of
from lakatos.theories.engine.scoring.score import (
    ExperimentEvidence,
    ScoreEstimate,
    learn_population,
    log_predictive,
)
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Grammar, Mechanism, SkeletonSlot
from lakatos.traces.digest import digest_of

GRAMMAR = Grammar(
    domain="small",
    slots=(SkeletonSlot("value"),),
    mechanisms=(
        Mechanism(slot="value", name="plain", clause="take it"),
        Mechanism(slot="value", name="root", clause="take its root", repairs=("size",)),
        Mechanism(
            slot="value", name="log", clause="take its logarithm", repairs=("size", "evidence")
        ),
        Mechanism(slot="value", name="habit", clause="repeat it", repairs=("last_choice",)),
    ),
    before="",
    after="",
)
SENSITIVITY = np.exp(np.random.default_rng(0).uniform(np.log(0.5), np.log(2.0), 128))


def features_of(n_trials, rng, n_features=8):
    """Correlated features, ``size`` the first and ``evidence`` the second."""
    shared = rng.normal(size=(n_trials, 3))
    names = ["size", "evidence", *(f"other_{number}" for number in range(n_features - 2))]
    return {name: shared @ rng.normal(size=3) / 2 + rng.normal(size=n_trials) for name in names}


def world(
    rng,
    *,
    planted=None,
    n_experiments=1,
    n_trials=24,
    n_people=25,
    pooled=False,
    draws=SENSITIVITY,
    amount=1.0,
):
    """People who follow their own multiple of the evidence and, ``planted``, something else by an ``amount``.

    The loser lacks what is planted; the other theory follows ``other_0`` alone.
    """
    items, features = [], []
    for number in range(n_experiments):
        own = features_of(n_trials, rng)
        features.append(own)
        index = rng.permuted(np.tile(np.repeat(np.arange(n_trials), 2), (n_people, 1)), axis=1)
        sensitivity = rng.choice(draws, size=n_people)
        defectors = rng.random(n_people) < {"mixture": 0.4, "another": 1.0}.get(planted, 0.0)
        taste = amount * rng.normal(size=n_people) if planted == "spread" else np.zeros(n_people)
        lasting = (
            amount * rng.normal(size=(n_people, n_trials)) if planted == "consistency" else None
        )
        response = np.zeros(index.shape, dtype=np.int64)
        for step in range(index.shape[1]):
            row = index[:, step]
            odds = np.where(
                defectors, 3 * own["other_0"][row], sensitivity * own["evidence"][row] + taste
            )
            if planted == "slope":
                odds = odds + amount * own["size"][row] / own["size"].std()
            if planted == "side":
                odds = odds + amount
            if planted == "repetition" and step:
                odds = odds + amount * (2 * response[:, step - 1] - 1)
            if planted == "drift":
                odds = odds + amount * (2 * step / index.shape[1] - 1)
            if lasting is not None:
                odds = odds + lasting[np.arange(n_people), row]
            response[:, step] = rng.random(n_people) < expit(odds)
        rows = (np.repeat(np.arange(n_people), index.shape[1]), index.ravel(), response.ravel())
        items.append(
            trials_of(*rows, n_trials, name=f"e{number}", pooled=pooled, n_people=n_people)
        )
    return items, features


def trials_of(participant, trial, response, n_trials, *, name="e", pooled=False, n_people=0):
    stimuli = Stimuli({"number": np.arange(float(n_trials))})
    if pooled:
        cells = np.stack([trial, response], axis=1)
        (rows, count) = np.unique(cells, axis=0, return_counts=True)
        nobody = np.zeros(len(rows), dtype=np.int64)
        return Trials(
            name, stimuli, nobody, rows[:, 0], rows[:, 1], count, pooled=True, n_people=n_people
        )
    return Trials(name, stimuli, participant, trial, response, np.ones(len(trial), dtype=np.int64))


def both(p):
    return np.stack([1 - p, p], axis=-1)


def predictions(name, items, features, log_odds):
    """A theory whose draws multiply ``log_odds`` of the features, with the population that the answers teach."""
    evidence = [
        ExperimentEvidence(item, both(expit(log_odds(own))))
        for item, own in zip(items, features, strict=True)
    ]
    return TheoryPredictions(
        digest_of(name),
        name,
        learn_population(evidence),
        evidence,
        (digest_of(f"score of {name}"),),
    )


def rivals(items, features):
    return (
        predictions("Loser", items, features, lambda own: SENSITIVITY[:, None] * own["evidence"]),
        predictions(
            "Other", items, features, lambda own: 3 * SENSITIVITY[:, None] * own["other_0"]
        ),
    )


def diagnosed(rng, *, standard_error=0.01, **settings):
    items, features = world(rng, **settings)
    residuals = [
        TrialFeatures(own, (digest_of(item.experiment),))
        for item, own in zip(items, features, strict=True)
    ]
    loser, other = rivals(items, features)
    return diagnose(3, loser, other, ScoreEstimate(0.05, standard_error), residuals, GRAMMAR, rng)


def found_in(rng, **settings):
    items, features = world(rng, **settings)
    loser, other = rivals(items, features)
    return examine(loser, [other], [TrialFeatures(own, ()) for own in features], rng).found


class TestSlope:
    def slope(self, observed, predicted, n_answers, x, people=(), controls=None, replicas=None):
        sample = ResidualSample(observed, predicted, n_answers, people, replicas)
        return slope_of(sample, x, np.ones((len(x), 1)) if controls is None else controls)

    def test_effect_is_the_least_squares_slope(self):
        x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
        observed = 0.5 + np.array([-0.1, -0.05, -0.03, 0.03, 0.05, 0.1])
        found = self.slope(observed, np.full(6, 0.5), np.full(6, 40.0), x)
        assert found.effect == pytest.approx(np.polyfit(x, observed, 1)[0])

    def test_effect_with_others_held_is_that_of_the_multiple_regression(self):
        rng = np.random.default_rng(1)
        x, y, observed = rng.normal(size=(3, 20))
        held = np.stack([np.ones(20), y], axis=1)
        found = self.slope(observed, np.full(20, 0.5), np.full(20, 40.0), x, controls=held)
        table = np.concatenate([held, x[:, None]], axis=1)
        assert found.effect == pytest.approx(
            np.linalg.lstsq(table, observed - 0.5, rcond=None)[0][-1]
        )

    def test_robust_error_is_that_of_leaving_each_trial_out(self):
        # With equal weights, HC3 is the jackknife but for its centring (Long & Ervin, 2000).
        rng = np.random.default_rng(0)
        x = rng.normal(size=30)
        observed = 0.5 + 0.05 * np.abs(x) * rng.normal(size=30)  # noise that grows with the feature
        found = self.slope(observed, np.full(30, 0.5), np.full(30, 400.0), x)
        left_out = [np.polyfit(np.delete(x, i), np.delete(observed, i), 1)[0] for i in range(30)]
        assert found.error == pytest.approx(
            math.sqrt(sum((value - found.effect) ** 2 for value in left_out))
        )

    def test_error_is_never_below_what_the_answers_noise_alone_implies(self):
        x = np.tile([-1.0, 0.0, 1.0], 4)
        observed = 0.5 + 0.01 * x  # exactly on a line, by chance
        found = self.slope(observed, np.full(12, 0.5), np.full(12, 50.0), x)
        assert found.error == pytest.approx(math.sqrt(0.25 / 50 / 8))

    def test_clustered_error_is_that_of_the_mean_over_people(self):
        x = np.tile([-1.0, 1.0], 10)
        own = np.repeat([0.0, 1.0], [3, 9])  # each person always goes with x or always against it
        chosen = np.where(x[None] > 0, own[:, None], 1 - own[:, None])
        found = self.slope(
            chosen.mean(axis=0), np.full(20, 0.5), np.full(20, 12), x, [(0, chosen - 0.5)]
        )
        per_person = own - 0.5
        assert found.effect == pytest.approx(per_person.mean())
        assert found.error == pytest.approx(per_person.std(ddof=1) / math.sqrt(12))

    def test_error_is_never_below_the_spread_over_replicas(self):
        rng = np.random.default_rng(2)
        x = rng.normal(size=40)
        replicas = np.outer(rng.choice([-1.0, 1.0], 60), x)  # whose slopes are -1 and 1
        found = self.slope(
            0.5 + 0.1 * x, np.full(40, 0.5), np.full(40, 1000.0), x, replicas=replicas
        )
        assert found.error == pytest.approx(1.0)

    @pytest.mark.parametrize(
        "column", [np.ones(8), np.eye(8)[0]], ids=["constant", "varies in one trial"]
    )
    def test_a_column_that_says_nothing_gets_no_slope(self, column):
        rng = np.random.default_rng(2)
        assert self.slope(rng.random(8), np.full(8, 0.5), np.full(8, 10.0), column) is None

    def test_turning_a_feature_around_turns_its_effect_around(self):
        rng = np.random.default_rng(3)
        x, observed = rng.normal(size=20), rng.random(20)
        there, back = (
            self.slope(observed, np.full(20, 0.5), np.full(20, 30.0), way) for way in (x, -x)
        )
        assert there.effect == pytest.approx(-back.effect)
        assert there.p == pytest.approx(back.p)


class TestPanel:
    def test_thinning_keeps_the_population(self):
        rng = np.random.default_rng(4)
        log_weights = np.log(rng.dirichlet(np.full(2000, 0.5)))
        rows, kept = thin(log_weights, 256)
        values = np.sort(rng.normal(size=2000))
        assert len(rows) <= 256
        assert np.exp(kept).sum() == pytest.approx(1)
        # Systematic resampling moves the distribution function by at most half a stratum.
        exact = np.cumsum(np.exp(log_weights))
        thinned = np.array([np.exp(kept[rows <= place]).sum() for place in range(2000)])
        assert np.abs(exact - thinned).max() <= 0.5 / 256 + 1e-9
        assert values[rows] @ np.exp(kept) == pytest.approx(values @ np.exp(log_weights), abs=0.02)

    def test_people_are_scored_as_the_score_scores_them(self):
        items, features = world(np.random.default_rng(5))
        loser = rivals(items, features)[0]
        panel = AnswerPanel(loser.evidence[0], loser.log_weights)
        exact = log_predictive(loser.evidence[0], loser.log_weights).log_predictive
        assert panel.observed().own[0] == pytest.approx(exact, abs=1e-3)  # single precision

    def test_sums_are_those_counted_by_hand(self):
        # One person, one trial at even odds shown eight times, answers 0 0 1 1 1 1 1 1.
        response = np.array([0, 0, 1, 1, 1, 1, 1, 1])
        items = trials_of(np.zeros(8, int), np.zeros(8, int), response, 1)
        panel = AnswerPanel(ExperimentEvidence(items, np.full((1, 1, 2), 0.5)), np.zeros(1))
        summary = panel.observed()
        assert summary.sums["discord"][0] == 2 * 6
        assert summary.sums["side_drift"][0] == pytest.approx(4 - 2)
        # Six of seven repeat, where even odds and the person's own mean of 3/4 for the last option expect
        # 0.25 + 0.25 after the two first answers and 0.75 after each of the other five.
        assert summary.sums["repeat"][0] == pytest.approx(6 - (0.25 * 2 + 0.75 * 5))
        assert summary.sums["against"][0] == 0

    def test_replicas_of_one_draw_have_binomial_moments(self):
        rng = np.random.default_rng(6)
        items, features = world(rng)
        p = expit(features[0]["evidence"])
        panel = AnswerPanel(ExperimentEvidence(items[0], both(p)[None]), np.zeros(1))
        chosen = panel.replicas(rng, 2000).chosen
        n = panel.n_answers
        z = (chosen.mean(axis=0) - n * p) / np.sqrt(n * p * (1 - p) / 2000)
        assert np.abs(z).max() < norm.isf(0.0005 / len(p))
        assert chosen.var(axis=0).sum() == pytest.approx((n * p * (1 - p)).sum(), rel=0.05)

    def test_replicas_vary_as_people_drawn_anew_do(self):
        # Half of the people always take the last option, half never: a share is a mean over people, not answers.
        rng = np.random.default_rng(7)
        items, _ = world(rng, n_people=10)
        for trials in (items[0], world(rng, n_people=10, pooled=True)[0][0]):
            p = both(np.array([[0.0], [1.0]]) * np.ones(24))
            chosen = (
                AnswerPanel(ExperimentEvidence(trials, p), np.log([0.5, 0.5]))
                .replicas(rng, 1000)
                .chosen
            )
            assert chosen.var(axis=0)[0] == pytest.approx(20**2 * 0.25 / 10, rel=0.15)


class TestGain:
    def test_an_offset_gains_what_a_logistic_regression_gains(self):
        rng = np.random.default_rng(8)
        response = (rng.random(400) < 0.7).astype(int)
        items = trials_of(np.repeat(np.arange(20), 20), np.tile(np.arange(20), 20), response, 20)
        corrector = PanelCorrector(
            [AnswerPanel(ExperimentEvidence(items, np.full((1, 20, 2), 0.5)), np.zeros(1))]
        )
        gain = corrector.fixed(corrections.offset([np.ones(20)]))
        share = response.mean()
        exact = share * np.log(share) + (1 - share) * np.log(1 - share) - np.log(0.5)
        assert gain.per_choice.value == pytest.approx(exact, rel=1e-3)
        assert gain.parameter == pytest.approx(np.log(share / (1 - share)), abs=0.03)
        own = response.reshape(20, 20).mean(axis=1)
        slope = np.log(share / (1 - share))
        assert gain.per_choice.standard_error == pytest.approx(
            slope * own.std(ddof=1) / math.sqrt(20), rel=0.05
        )

    def test_repetition_gains_the_information_of_a_markov_chain(self):
        response = np.zeros((10, 41), dtype=int)
        rng = np.random.default_rng(9)
        for step in range(1, 41):
            stays = rng.random(10) < 0.8
            response[:, step] = np.where(stays, response[:, step - 1], 1 - response[:, step - 1])
        items = trials_of(np.repeat(np.arange(10), 41), np.zeros(410, int), response.ravel(), 1)
        corrector = PanelCorrector(
            [AnswerPanel(ExperimentEvidence(items, np.full((1, 1, 2), 0.5)), np.zeros(1))]
        )
        stay = (response[:, 1:] == response[:, :-1]).mean()
        exact = (stay * np.log(stay) + (1 - stay) * np.log(1 - stay) - np.log(0.5)) * 40 / 41
        assert corrector.fixed(corrections.repeat_last).per_choice.value == pytest.approx(
            exact, rel=1e-3
        )

    def test_a_tilt_that_does_nothing_gains_nothing(self):
        items, features = world(np.random.default_rng(10))
        loser = rivals(items, features)[0]
        gain = PanelCorrector([AnswerPanel(loser.evidence[0], loser.log_weights)]).fixed(
            corrections.offset([np.zeros(24)])
        )
        assert gain.total == pytest.approx(0, abs=1e-9)

    def test_sharing_with_another_theory_is_the_likelihood_of_the_mixture(self):
        # Ten people answer 1 throughout, ten 0; each theory is nearly sure of one kind.
        response = np.repeat([1, 0], [10 * 4, 10 * 4])
        items = trials_of(np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20), response, 4)
        one, two = (
            TheoryPredictions(
                digest_of(name),
                name,
                np.zeros(1),
                [ExperimentEvidence(items, both(np.full((1, 4), p)))],
            )
            for name, p in (("one", 0.9), ("two", 0.1))
        )
        found = sharing(scores_of_people(one), scores_of_people(two))
        likely, unlikely = 0.9**4, 0.1**4
        exact = 10 * np.log((likely + unlikely) / 2 / likely) + 10 * np.log(
            (likely + unlikely) / 2 / unlikely
        )
        assert found.share == pytest.approx(0.5)
        assert found.interval[0] < 0.35 < 0.65 < found.interval[1]
        assert found.gain.total == pytest.approx(exact)
        assert found.log_ratios[4] == pytest.approx(exact)
        assert found.log_ratio == pytest.approx(0.0, abs=1e-9)
        mixture = logsumexp(found.log_ratios) - np.log(9)
        assert pool_evidence([found]).mixture_p == pytest.approx(np.exp(-mixture))
        assert pool_evidence([found]).replaced_p == pytest.approx(1.0)


class TestDiagnosis:
    def test_finds_names_and_prices_a_planted_misprediction(self):
        found = diagnosed(np.random.default_rng(11), planted="slope", n_experiments=2)
        first = found.claims[0]
        assert (first.rule, first.feature) == ("slope", "size")
        assert first.effect > 0
        assert first.interval[0] > 0
        assert first.q <= FALSE_DISCOVERY_RATE
        assert "more often than Loser predicts for each standard deviation of size" in first.text
        assert first.trigger.startswith("a trend along one property of the trials; unadjusted p")
        assert found.location.startswith("size")
        assert first.remedies == ("value:root", "value:log")
        assert found.proposal.startswith(
            "try mechanisms of root and log; a parameter for this pattern"
        )
        assert found.remedies[:2] == ("value:root", "value:log")
        assert found.test.startswith(
            "trials that vary size and hold the other properties constant; at the effect size found here, about"
        )
        assert first.gain > 2 * first.gain_error > 0
        assert found.confidence == first.confidence
        assert found.n_checks > 20

    def test_the_stated_gain_is_that_of_the_theory_with_the_flaw_repaired(self):
        rng = np.random.default_rng(12)
        items, features = world(rng, planted="slope", n_experiments=3)
        loser, other = rivals(items, features)
        repaired = predictions(
            "Repaired",
            items,
            features,
            lambda own: SENSITIVITY[:, None] * own["evidence"] + own["size"] / own["size"].std(),
        )
        residuals = [TrialFeatures(own, ()) for own in features]
        claim = diagnose(1, loser, other, ScoreEstimate(0.1, 0.01), residuals, GRAMMAR, rng).claims[
            0
        ]
        gained = np.mean(
            [
                log_predictive(b, repaired.log_weights).mean
                - log_predictive(a, loser.log_weights).mean
                for a, b in zip(loser.evidence, repaired.evidence, strict=True)
            ]
        )
        assert claim.gain == pytest.approx(gained, abs=3 * claim.gain_error)
        assert claim.gain == pytest.approx(gained, rel=0.2)

    def test_a_misprediction_in_the_other_direction_is_called_less(self):
        found = diagnosed(np.random.default_rng(11), planted="slope", amount=-1.0, n_experiments=2)
        assert found.claims[0].effect < 0
        assert "less often than Loser" in found.claims[0].text

    @pytest.mark.parametrize(
        ("planted", "feature"),
        [
            ("side", "constant"),
            ("repetition", "last_choice"),
            ("drift", "side_drift"),
            ("consistency", "repeated_trial"),
            ("mixture", "mixture"),
            ("spread", "person_side"),
        ],
    )
    def test_names_what_is_planted_in_people_and_sequences(self, planted, feature):
        found = diagnosed(np.random.default_rng(13), planted=planted, n_experiments=2)
        assert (found.claims[0].rule, found.claims[0].feature) == (planted, feature)
        assert found.claims[0].gain > 0
        assert found.hypothesis
        assert found.dependencies
        assert ("value:habit" in found.remedies) == (planted == "repetition")

    @pytest.mark.slow
    def test_where_everybody_follows_the_leader_it_speaks_of_no_second_kind_of_people(self):
        for seed in range(5):
            rng = np.random.default_rng(100 + seed)
            found = diagnosed(rng, planted="another", n_experiments=2)
            rules = [claim.rule for claim in found.claims]
            assert "mixture" not in rules
            said = next(claim for claim in found.claims if claim.rule == "another")
            assert re.fullmatch(
                r"Other fits an estimated \d+% of participants "
                r"\(one-sided 95% interval: at least \d+%\) better than Loser",
                said.text,
            )
            assert "one more parameter" not in said.recommendation

    def test_every_claim_cites_the_records_that_carry_it(self):
        found = diagnosed(np.random.default_rng(14), planted="mixture", n_experiments=2)
        everything = {digest_of(name) for name in ("score of Loser", "score of Other", "e0", "e1")}
        assert all(set(claim.cites) == everything for claim in found.claims if claim.feature)
        assert all(claim.cites for claim in found.claims)
        assert len(found.claims) <= MOST_CLAIMS + 1

    def test_names_the_trial_on_which_the_leader_gains_most(self):
        rng = np.random.default_rng(15)
        items, features = world(rng, n_experiments=2)
        loser, _ = rivals(items, features)
        p = loser.evidence[1].probabilities.copy()
        share = items[1].proportions[7, 1]
        p[:, 7] = [0.0, 1.0] if share < 0.5 else [1.0, 0.0]
        wrong = replace(
            loser, evidence=[loser.evidence[0], replace(loser.evidence[1], probabilities=p)]
        )
        residuals = [TrialFeatures(own, (digest_of("r"),)) for own in features]
        last = diagnose(1, wrong, loser, ScoreEstimate(0.1, 0.01), residuals, GRAMMAR, rng).claims[
            -1
        ]
        assert last.text.startswith(
            "the trial that most favours Loser is trial 8 of e1: the second option was chosen in "
            f"{share:.0%} of responses; estimated from these responses, Loser predicts "
        )
        assert last.feature == ""

    def test_no_trial_illustrates_a_lead_on_which_both_predict_the_same_percentage(self):
        rng = np.random.default_rng(15)
        items, features = world(rng, n_experiments=2)
        loser, _ = rivals(items, features)
        alike = replace(loser, name="Leader")
        residuals = [TrialFeatures(own, (digest_of("r"),)) for own in features]
        found = diagnose(1, loser, alike, ScoreEstimate(0.1, 0.01), residuals, GRAMMAR, rng)
        assert not any("most favours" in claim.text for claim in found.claims)

    def test_where_nothing_is_found_it_says_so_and_proposes_single_changes(self):
        found = diagnosed(np.random.default_rng(16))
        assert found.location == "no single property of trials, participants or order"
        assert found.remedies == ()
        assert found.proposal == "change one mechanism at a time"
        assert found.confidence is None

    def test_pooled_answers_are_diagnosed_by_trials_alone_and_it_says_so(self):
        found = diagnosed(np.random.default_rng(17), planted="slope", n_trials=60, pooled=True)
        assert found.claims[0].feature == "size"
        assert "participants and the order of their responses are not known" in found.dependencies
        assert not {claim.rule for claim in found.claims} & {
            "spread",
            "mixture",
            "another",
            "lapse",
            "repetition",
            "drift",
        }

    def test_a_theory_that_learns_is_diagnosed_by_trials_alone(self):
        rng = np.random.default_rng(18)
        items, features = world(rng, planted="slope", n_experiments=2)
        loser, other = rivals(items, features)
        followed = replace(
            loser, evidence=[replace(item, followed=item.log_likelihood) for item in loser.evidence]
        )
        found = examine(followed, [other], [TrialFeatures(own, ()) for own in features], rng)
        assert found.found[0].check.feature == "size"
        assert {check.rule for check in found.checks} <= {
            "slope", "curvature", "interaction", "extremity", "side", "region", "mixture", "another",
        }  # fmt: skip

    def test_features_that_only_some_experiments_have_are_left_out(self):
        rng = np.random.default_rng(19)
        items, features = world(rng, n_experiments=2)
        del features[1]["size"]
        loser, other = rivals(items, features)
        seen = examine(loser, [other], [TrialFeatures(own, ()) for own in features], rng)
        assert not any("size" in check.answered_by for check in seen.checks)

    def test_a_name_with_braces_is_printed_as_it_is(self):
        rng = np.random.default_rng(20)
        items, features = world(rng, planted="mixture", n_experiments=2)
        loser, other = rivals(items, features)
        names = [replace(loser, name="{size} {0}"), replace(other, name="{x!r} {{name}}")]
        found = diagnose(
            1,
            *names,
            ScoreEstimate(0, 1),
            [TrialFeatures(own, ()) for own in features],
            GRAMMAR,
            rng,
        )
        assert (
            "a mixture of {size} {0} and {x!r} {{name}} describes participants better than {size} {0} alone"
            in found.claims[0].text
        )

    def test_one_person_and_one_trial_leave_nothing_to_check_but_do_not_fail(self):
        rng = np.random.default_rng(21)
        for settings in (
            {"n_people": 1},
            {"n_trials": 2, "n_people": 3},
            {"n_trials": 1, "n_people": 1},
        ):
            found = diagnosed(rng, **settings)
            assert found.claims[-1].text.startswith("the trial that most favours")

    def test_a_habit_is_found_among_three_options(self):
        rng = np.random.default_rng(27)
        values, draws = rng.normal(size=(20, 3)), np.exp(rng.uniform(-0.5, 1, 64))
        index = rng.permuted(np.tile(np.repeat(np.arange(20), 2), (20, 1)), axis=1)
        own, response = rng.choice(draws, size=20), np.zeros((20, 40), dtype=np.int64)
        for step in range(40):
            odds = own[:, None] * values[index[:, step]]
            odds = odds + (np.eye(3)[response[:, step - 1]] if step else 0.0)
            response[:, step] = (
                np.cumsum(softmax(odds, axis=1), axis=1) < rng.random((20, 1))
            ).sum(axis=1)
        trials = Trials(
            "e", Stimuli({"values": values}), np.repeat(np.arange(20), 40), index.ravel(), response.ravel(),
            np.ones(800, dtype=np.int64), n_options=3,
        )  # fmt: skip
        evidence = ExperimentEvidence(trials, softmax(draws[:, None, None] * values, axis=2))
        theory = TheoryPredictions(digest_of("A"), "A", learn_population([evidence]), [evidence])
        first = examine(theory, [], [TrialFeatures({"last_value": values[:, 2]}, ())], rng).found[0]
        assert first.check.feature == "last_choice"
        assert first.gain.parameter == pytest.approx(1.0, abs=0.25)

    def test_the_same_seed_gives_the_same_case_file(self):
        first, second = (diagnosed(np.random.default_rng(22), planted="side") for _ in range(2))
        assert first == second

    @pytest.mark.parametrize(("standard_error", "tie"), [(0.01, False), (0.03, True)])
    def test_reports_a_tie_as_a_tie(self, standard_error, tie):
        assert diagnosed(np.random.default_rng(23), standard_error=standard_error).tie is tie

    def test_confidence_rises_with_the_evidence_and_falls_with_the_lag(self):
        assert confidence("slope", 1e-6, 0.0) > confidence("slope", 1e-3, 0.0)
        assert (
            confidence("slope", 1e-3, 0.0)
            > confidence("slope", 1e-3, -5.0)
            > confidence("slope", 1e-3, -9.0)
        )
        assert 0 <= confidence("slope", 0.0, -1e9) <= confidence("slope", 0.0, 0.0) <= 1

    def test_every_rule_is_described(self):
        found = [
            claim
            for seed in range(3)
            for claim in found_in(np.random.default_rng(seed), planted="slope")
        ]
        assert {item.check.rule for item in found} <= set(RULES)


@pytest.mark.statistical
@pytest.mark.long
@pytest.mark.parametrize("n_trials", [12, 24, 100])
@pytest.mark.parametrize("pooled", [False, True])
def test_where_nothing_is_wrong_false_discovery_stays_at_its_rate(n_trials, pooled):
    """Where no claim is true, the false discovery rate is the share of diagnoses that claim anything."""
    rng = np.random.default_rng(24)
    n_false = sum(bool(found_in(rng, n_trials=n_trials, pooled=pooled)) for _ in range(200))
    assert n_false <= binom.isf(0.001, 200, FALSE_DISCOVERY_RATE)


@pytest.mark.slow
@pytest.mark.statistical
def test_where_nothing_is_wrong_few_diagnoses_claim_anything():
    rng = np.random.default_rng(25)
    n_false = sum(bool(found_in(rng)) for _ in range(40))
    assert n_false <= binom.isf(0.001, 40, FALSE_DISCOVERY_RATE)


@pytest.mark.statistical
@pytest.mark.long
def test_a_planted_misprediction_is_found_first_in_most_diagnoses():
    rng = np.random.default_rng(26)
    found = [found_in(rng, planted="slope", amount=0.8) for _ in range(100)]
    assert sum(bool(item) and item[0].check.feature == "size" for item in found) >= binom.ppf(
        0.001, 100, 0.8
    )


def test_a_region_leaves_as_many_trials_outside_as_it_must_have_inside() -> None:
    def sizes(n_high: int) -> list[int]:
        high = np.arange(32) < n_high
        sheet: Any = SimpleNamespace(features={"size": high * 1.0}, n_answers=np.ones(32))
        return sorted(_regions(sheet)[0].sum(axis=1).tolist())

    # At least 15% of 32 trials, which are 4.8.
    assert sizes(2) == sizes(30) == []
    assert sizes(5) == [5, 27]


def test_another_theory_can_be_all_that_is_found() -> None:
    """No feature of the grammar answers it, and no other finding stands before it."""
    check = DiagnosisCheck(
        rule="another", feature="another theory", answered_by=(), effect=1.0, error=0.0, z=4.0, p=1e-4,
        analysis="", gain=lambda corrector: None,
    )  # fmt: skip
    assert "another theory fits the responses better than Tallying" in _hypothesis(
        "Tallying", [check]
    )
    sheet = SimpleNamespace(n_answers=np.array([100.0]))
    said = _test(sheet, "Tallying", check)
    assert "closer to the predictions of the other one" in said
    assert re.search(
        r"at the effect size found here, about \d+ new responses would have an expected z of 3 \(the largest",
        said,
    )


def test_of_very_many_people_some_are_looked_at_and_always_the_same(monkeypatch) -> None:
    stimuli = Stimuli({"x": np.arange(10.0)})
    ones = np.ones(2000, dtype=int)
    trials = Trials(
        "e", stimuli, np.repeat(np.arange(200), 10), np.tile(np.arange(10), 200), ones * 0, ones
    )
    assert case_predictions._few_enough([trials]) == [trials]
    monkeypatch.setattr(case_predictions, "MOST_CELLS", 500)
    (few,), (again,) = (
        case_predictions._few_enough([trials]),
        case_predictions._few_enough([trials]),
    )
    assert few.n_participants == 50
    assert few.digest == again.digest
    assert len(few.trial) == 500


def _check(rule: str, effect: float) -> DiagnosisCheck:
    return DiagnosisCheck(
        rule=rule, feature="size", answered_by=(), effect=effect, error=0.1, z=1.0, p=0.3, analysis="",
        gain=lambda corrector: None,
    )  # fmt: skip


def test_the_interval_of_an_effect_keeps_the_end_on_the_other_side_of_zero() -> None:
    assert _size(_check("slope", 0.125), (-0.05, 0.3)) == (
        "12.5 percentage points (95% interval -5.0 to 30.0) more often"
    )
    assert _size(_check("slope", -0.125), (-0.3, 0.05)) == (
        "12.5 percentage points (95% interval -5.0 to 30.0) less often"
    )


@pytest.mark.parametrize(("n", "words"), [(2, "the second option"), (4, "the last option")])
def test_findings_name_the_option_whose_responses_are_compared(n: int, words: str) -> None:
    trials = replace(trials_of(np.zeros(3, int), np.arange(3), np.zeros(3, int), 3), n_options=n)
    panel = AnswerPanel(ExperimentEvidence(trials, np.full((1, 3, n), 1 / n)), np.zeros(1))
    assert DiagnosisSheet([panel], [], [], {}).option == words


def test_responses_are_compared_for_the_last_option_that_a_trial_offers() -> None:
    scale = DOMAINS["recognition"].space({"categories": 6}).take([0, 1])
    last = scale.last_available(11)
    first = int(scale.available(11)[0].argmax())
    trials = Trials(
        experiment="e",
        stimuli=scale,
        participant=np.array([0, 0, 1, 1]),
        trial=np.array([0, 1, 0, 1]),
        response=np.array([last, last, first, last]),
        count=np.ones(4, dtype=int),
        n_options=11,
    )
    p = scale.available(11) / scale.available(11).sum(axis=1, keepdims=True)
    panel = AnswerPanel(ExperimentEvidence(trials, p[None]), np.zeros(1))
    assert panel.option == last < 10
    assert panel.observed().chosen.tolist() == [[1.0, 2.0]]
    assert DiagnosisSheet([panel], [], [], {}).predicted == pytest.approx(1 / 6)


def test_random_responses_are_added_where_errors_are_too_few_and_removed_where_they_are_too_many() -> (
    None
):
    assert "add a proportion of random responses" in _without_mechanism(_check("lapse", 0.1))
    assert "reduce or remove random responses" in _without_mechanism(_check("lapse", -0.1))
    assert "widen the differences" in _without_mechanism(_check("spread", 0.1))
    assert "narrow the differences" in _without_mechanism(_check("spread", -0.1))
    assert "weigh a trial differently" in _without_mechanism(_check("consistency", 0.1))
    assert "predict more agreement" in _without_mechanism(_check("consistency", -0.1))


def test_replicas_support_no_smaller_probability_than_one_in_ten_thousand() -> None:
    assert [_p_in_words(p) for p in (0.031, 1e-4, 1e-38)] == [
        "p = 0.031",
        "p = 0.0001",
        "p < 0.0001",
    ]


def test_a_change_is_proposed_by_what_clauses_are_about_and_not_by_internal_names():
    curve = Wording("a", label="increasing returns", opposite_label="diminishing returns")
    named = Mechanism(slot="value", name="power_of_ratings", wording=curve)
    plain = Mechanism(slot="value", name="plain_ratings", clause="add them up")
    assert _in_words([named, plain]) == "try mechanisms of curved values"
    assert _in_words([plain]) == "try mechanisms of plain ratings"
    many = [Mechanism(slot="value", name=name, clause="x") for name in "abcde"]
    assert _in_words(many[:3]) == "try mechanisms of a, b and c"
    assert _in_words(many) == "try mechanisms of a, b, c and 2 others"


def test_only_findings_with_an_adjusted_p_below_5_percent_are_stated_as_misfits() -> None:
    clear, faint = SimpleNamespace(q=0.049), SimpleNamespace(q=0.0735)
    assert _stated([clear, faint]) == [clear]


def test_a_check_that_is_not_about_trials_is_named_in_words() -> None:
    internal = {
        "person_side",
        "person_spread",
        "person_score_spread",
        "repeated_trial",
        "last_choice",
    }
    assert internal <= set(OWN_FEATURES)
    assert (
        words("person_side") == "differences between participants in their preference for an option"
    )
    assert words("amount_difference") == "amount difference"


def test_a_change_without_a_mechanism_is_one_proposal_that_says_so():
    check = SimpleNamespace(rule="consistency", effect=-0.2)
    assert _without_mechanism(check) == (
        "try rules with a better fit, which also predict more agreement between responses to a repeated trial; the "
        "search has no mechanism for this pattern alone"
    )
    check = SimpleNamespace(rule="mixture", effect=0.2)
    assert _without_mechanism(check) == (
        "let some participants follow the one theory and some the other"
    )
