"""The arbiter: a planted misprediction is found and named; where nothing is wrong, little is claimed."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from theories.diagnosis import FALSE_DISCOVERY_RATE, MOST_CLAIMS, Residuals, diagnose, residual_slopes
from theories.grammar import Grammar, Mechanism, Slot
from theories.score import Estimate
from traces.digest import digest_of

LOSER, LEADER = (digest_of("loser"), "Loser"), (digest_of("leader"), "Leader")
RECORDS = tuple(digest_of(name) for name in ("score of loser", "score of leader", "collection"))
GRAMMAR = Grammar(
    domain="small",
    slots=(Slot("value"),),
    mechanisms=(
        Mechanism("value", "plain", "take it", ""),
        Mechanism("value", "root", "take its root", "", answers=("size",)),
        Mechanism("value", "log", "take its logarithm", "", answers=("size", "colour_of_it")),
    ),
    before="",
    after="",
)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def features_of(n_trials, rng, n_features=10):
    """Correlated features, ``size`` the first."""
    shared = rng.normal(size=(n_trials, 3))
    names = ["size", "colour_of_it", *(f"other_{number}" for number in range(n_features - 2))]
    return {name: shared @ rng.normal(size=3) + rng.normal(size=n_trials) for name in names}


def experiment(rng, *, n_trials=24, n_people=25, repetitions=2, planted=0.0, tastes=0.0, people=True, name="e"):
    """People whose log odds are their own multiple of a direction in the features, and ``planted`` times the size.

    The leader is right, the loser lacks ``planted``.
    """
    features = features_of(n_trials, rng)
    evidence = features["colour_of_it"] / np.std(features["colour_of_it"])
    missed = planted * features["size"] / np.std(features["size"])
    own = 1 + tastes * rng.normal(size=n_people)
    population = 1 + tastes * rng.normal(size=(2000 if tastes else 1, 1))
    chosen = rng.binomial(repetitions, logistic(own[:, None] * evidence + missed))
    return Residuals(
        experiment=name,
        features=features,
        observed=chosen.sum(axis=0) / (n_people * repetitions),
        n_answers=np.full(n_trials, n_people * repetitions),
        loser=logistic(population * evidence).mean(axis=0),
        leader=logistic(population * evidence + missed).mean(axis=0),
        records=RECORDS,
        counts=np.stack([repetitions - chosen, chosen], axis=-1) if people else None,
    )


def diagnosed(*experiments, standard_error=0.01):
    return diagnose(3, LOSER, LEADER, Estimate(0.05, standard_error), experiments, GRAMMAR)


class TestResidualSlopes:
    def test_effect_is_the_least_squares_slope_per_standard_deviation(self):
        x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
        observed = 0.5 + np.array([-0.1, -0.05, -0.03, 0.03, 0.05, 0.1])
        (slope,) = residual_slopes(observed, np.full(6, 0.5), np.full(6, 40.0), {"x": x})
        assert slope.effect == pytest.approx(np.polyfit(x / x.std(), observed, 1)[0])
        assert slope.feature == "x"

    def test_robust_error_is_that_of_leaving_each_trial_out(self):
        # With equal weights, HC3 is the jackknife but for its centring (Long & Ervin, 2000).
        rng = np.random.default_rng(0)
        x = rng.normal(size=30)
        observed = 0.5 + 0.05 * np.abs(x) * rng.normal(size=30)  # noise that grows with the feature
        (slope,) = residual_slopes(observed, np.full(30, 0.5), np.full(30, 400.0), {"x": x})
        scaled = x / x.std()
        left_out = [np.polyfit(np.delete(scaled, i), np.delete(observed, i), 1)[0] for i in range(30)]
        jackknife = math.sqrt(sum((value - slope.effect) ** 2 for value in left_out))
        assert slope.effect / slope.z == pytest.approx(jackknife, rel=1e-6)

    def test_error_is_never_below_what_the_answers_noise_alone_implies(self):
        x = np.tile([-1.0, 0.0, 1.0], 4)
        observed = 0.5 + 0.01 * x  # exactly on a line, by chance
        (slope,) = residual_slopes(observed, np.full(12, 0.5), np.full(12, 50.0), {"x": x})
        noise_alone = math.sqrt(0.25 / 50 / 12)
        assert slope.effect / slope.z == pytest.approx(noise_alone)

    def test_clustered_error_is_that_of_the_mean_over_people(self):
        x = np.tile([-1.0, 1.0], 10)
        own = np.repeat([0.0, 1.0], [3, 9])  # each person always goes with x or always against it
        chosen = np.where(x[None] > 0, own[:, None], 1 - own[:, None])
        counts = np.stack([1 - chosen, chosen], axis=-1)
        (slope,) = residual_slopes(chosen.mean(axis=0), np.full(20, 0.5), np.full(20, 12), {"x": x}, [(0, counts)])
        per_person = own - 0.5
        assert slope.effect == pytest.approx(per_person.mean())
        assert slope.effect / slope.z == pytest.approx(per_person.std(ddof=1) / math.sqrt(12))

    def test_skips_features_that_are_constant_or_vary_in_one_trial_alone(self):
        rng = np.random.default_rng(2)
        lonely = np.eye(8)[0]
        found = residual_slopes(
            rng.random(8),
            np.full(8, 0.5),
            np.full(8, 10.0),
            {"same": np.ones(8), "lonely": lonely, "x": np.arange(8.0)},
        )
        assert [slope.feature for slope in found] == ["x"]

    def test_says_nothing_about_three_trials(self):
        assert residual_slopes(np.full(3, 0.4), np.full(3, 0.5), np.full(3, 9.0), {"x": np.arange(3.0)}) == []

    def test_turning_a_feature_around_turns_its_effect_around(self):
        rng = np.random.default_rng(3)
        x, observed = rng.normal(size=20), rng.random(20)
        there, back = residual_slopes(observed, np.full(20, 0.5), np.full(20, 30.0), {"x": x, "-x": -x})
        assert there.effect == pytest.approx(-back.effect)
        assert there.p == pytest.approx(back.p)


class TestDiagnosis:
    @pytest.mark.parametrize("people", [True, False])
    def test_finds_and_names_a_planted_misprediction(self, people):
        found = diagnosed(experiment(np.random.default_rng(4), planted=1.0, n_trials=40, people=people))
        first = found.claims[0]
        assert first.feature == "size"
        assert first.effect > 0
        assert first.q <= FALSE_DISCOVERY_RATE
        assert "more often than Loser says for each standard deviation of size" in first.text
        assert found.location.startswith("size")
        assert set(found.remedies) >= {"value:root", "value:log"}
        assert found.proposal.startswith("try value:root, value:log")
        assert found.test == "trials that vary size and hold the others"

    def test_a_misprediction_in_the_other_direction_is_called_less(self):
        found = diagnosed(experiment(np.random.default_rng(4), planted=-1.0, n_trials=40))
        assert found.claims[0].effect < 0
        assert "less often than Loser" in found.claims[0].text

    def test_every_claim_cites_the_records_that_carry_it(self):
        other = tuple(digest_of(name) for name in "xyz")
        rng = np.random.default_rng(5)
        found = diagnosed(
            experiment(rng, planted=1.0, n_trials=40),
            replace(experiment(rng, planted=1.0, n_trials=40, name="f"), records=other),
        )
        assert all(set(claim.cites) == {*RECORDS, *other} for claim in found.claims if claim.feature)
        assert len(found.claims) <= MOST_CLAIMS + 1

    def test_names_the_trial_on_which_the_leader_gains_most(self):
        rng = np.random.default_rng(6)
        plain, special = experiment(rng, name="plain"), experiment(rng, name="special")
        special.leader[7] = special.observed[7]
        special.loser[7] = 0.0 if special.observed[7] > 0.5 else 1.0
        last = diagnosed(plain, special).claims[-1]
        assert last.text.startswith("the leader gains most on trial 8 of special: people")
        assert last.feature == ""

    def test_where_nothing_is_found_it_says_so_and_proposes_single_changes(self):
        rng = np.random.default_rng(7)
        exact = experiment(rng)
        found = diagnosed(replace(exact, observed=exact.loser, counts=None))
        assert found.location == "no single property of the trials"
        assert found.remedies == ()
        assert found.proposal == "change one mechanism at a time"
        assert "no single feature explains" in found.hypothesis

    def test_uses_features_that_all_experiments_share(self):
        rng = np.random.default_rng(8)
        first, second = experiment(rng, planted=2.0, n_trials=40), experiment(rng, planted=2.0, n_trials=40)
        del second.features["size"]
        assert "size" not in {claim.feature for claim in diagnosed(first, second).claims}

    @pytest.mark.parametrize(("standard_error", "tie"), [(0.01, False), (0.03, True)])
    def test_reports_a_tie_as_a_tie(self, standard_error, tie):
        found = diagnosed(experiment(np.random.default_rng(9)), standard_error=standard_error)
        assert found.tie is tie


@pytest.mark.statistical
@pytest.mark.parametrize("n_trials", [12, 24, 100])
@pytest.mark.parametrize(
    "kind", [{"people": False}, {}, {"tastes": 0.5}, {"tastes": 1.0}], ids=["pooled", "alike", "varied", "different"]
)
def test_where_nothing_is_wrong_false_discovery_stays_at_its_rate(n_trials, kind):
    """Where no claim is true, the false discovery rate is the share of diagnoses that claim anything."""
    rng = np.random.default_rng(10)
    n_diagnoses = 200
    n_false = sum(
        diagnosed(experiment(rng, n_trials=n_trials, **kind)).claims[0].feature != "" for _ in range(n_diagnoses)
    )
    assert n_false <= binom.isf(0.001, n_diagnoses, FALSE_DISCOVERY_RATE)


@pytest.mark.statistical
def test_a_planted_misprediction_is_found_first_in_most_diagnoses():
    rng = np.random.default_rng(11)
    n_diagnoses = 100
    n_found = sum(
        diagnosed(experiment(rng, planted=0.8, tastes=0.5)).claims[0].feature == "size" for _ in range(n_diagnoses)
    )
    assert n_found >= binom.ppf(0.001, n_diagnoses, 0.8)
