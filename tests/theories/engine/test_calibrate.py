"""Narrowing declared ranges: a known population is recovered, limits are kept, nothing is learned from nothing."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.fitting.calibrate import calibrate, leave_groups_out
from lakatos.theories.engine.fitting.normals import (
    FIRST_SPREAD,
    SMALLEST_SPREAD,
    most_likely_normals,
)
from lakatos.theories.engine.fitting.pooled import explained_near_of_pooled, leave_one_out
from lakatos.theories.engine.scoring.score import ExperimentEvidence, log_predictive
from lakatos.theories.language.population_interval import median_of, sd_of, share_above
from lakatos.theories.language.prior import Prior, parse_prior

LEAN = parse_prior("lean", {"prior": "uniform", "low": -4.0, "high": 4.0})
SLOPE = parse_prior("slope", {"prior": "log_uniform", "low": 0.05, "high": 20.0})


def logistic(x):
    return 1 / (1 + np.exp(-x))


def binomial_trials(chosen, asked, *, pooled=False, experiment="e") -> Trials:
    """Trials in which each person chose the last option ``chosen`` of ``asked`` times, ``(n_people, n_trials)``."""
    chosen = np.asarray(chosen)
    person, trial = (axis.ravel() for axis in np.indices(chosen.shape))
    return Trials(
        experiment=experiment,
        stimuli=Stimuli({"x": np.arange(float(chosen.shape[1]))}),
        participant=np.tile(person * (not pooled), 2),
        trial=np.tile(trial, 2),
        response=np.repeat([0, 1], person.size),
        count=np.concatenate([(asked - chosen).ravel(), chosen.ravel()]),
        pooled=pooled,
    )


def lean_alone(parameters):
    """One trial; the log odds are the lean."""
    p = logistic(parameters["lean"])[:, None]
    return [np.stack([1 - p, p], axis=-1)]


X = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])


def slope_and_lean(parameters):
    p = logistic(parameters["slope"][:, None] * X + parameters["lean"][:, None])
    return [np.stack([1 - p, p], axis=-1)]


def test_without_parameters_or_answers_nothing_is_narrowed():
    assert calibrate({}, [], lean_alone) == {}
    assert calibrate({"lean": LEAN}, [], lean_alone) == {"lean": LEAN}


def test_keeps_limits_and_unit_and_becomes_normal_on_the_priors_scale():
    people = binomial_trials(np.full((5, 6), 2), 4)
    found = calibrate(
        {"slope": SLOPE, "lean": LEAN}, [people], slope_and_lean, n_draws=128, n_iterations=2
    )
    assert (found["slope"].kind, found["lean"].kind) == ("log_normal", "normal")
    for name, declared in (("slope", SLOPE), ("lean", LEAN)):
        assert (found[name].low, found[name].high) == (declared.low, declared.high)
        assert parse_prior(name, found[name].to_literal()).kind == found[name].kind


def test_the_same_answers_give_the_same_population():
    people = binomial_trials([[3], [7], [5]], 10)
    first, again = (calibrate({"lean": LEAN}, [people], lean_alone, n_draws=64) for _ in range(2))
    assert first == again


@pytest.mark.statistical
@pytest.mark.parametrize(("mean", "sd"), [(0.5, 0.8), (-1.0, 0.4)])
def test_recovers_mean_and_sd_of_a_known_population(mean, sd):
    rng = np.random.default_rng(21)
    n_people, n_answers = 500, 100
    own = rng.normal(mean, sd, size=n_people)
    people = binomial_trials(rng.binomial(n_answers, logistic(own))[:, None], n_answers)
    found = calibrate({"lean": LEAN}, [people], lean_alone, n_iterations=20)["lean"]
    # A person's lean is known up to about the error of n_answers at the mean lean.
    noise = 1 / (n_answers * logistic(mean) * logistic(-mean))
    spread = sd**2 + noise
    assert abs(found.center - mean) < 4 * math.sqrt(spread / n_people)
    assert abs(found.spread - sd) < 4 * spread / (sd * math.sqrt(2 * n_people))


@pytest.mark.statistical
def test_recovers_a_population_on_the_logarithmic_scale():
    rng = np.random.default_rng(22)
    n_people, repetitions = 300, 20
    log_slope, lean = (
        rng.normal(math.log(1.5), 0.5, size=n_people),
        rng.normal(0.3, 0.5, size=n_people),
    )
    p = logistic(np.exp(log_slope)[:, None] * X + lean[:, None])
    people = binomial_trials(rng.binomial(repetitions, p), repetitions)
    found = calibrate(
        {"slope": SLOPE, "lean": LEAN}, [people], slope_and_lean, n_draws=1024, n_iterations=20
    )
    # Errors of one person's two parameters from the Fisher information at the population's center.
    center = logistic(1.5 * X + 0.3)
    weight = repetitions * center * (1 - center)
    design = np.stack([1.5 * X, np.ones_like(X)])
    noise = np.diag(np.linalg.inv((design * weight) @ design.T))
    for name, mean, variance in (("slope", math.log(1.5), noise[0]), ("lean", 0.3, noise[1])):
        spread = 0.5**2 + variance
        assert abs(found[name].center - mean) < 4 * math.sqrt(spread / n_people)
        assert abs(found[name].spread - 0.5) < 4 * spread / (0.5 * math.sqrt(2 * n_people))


def test_people_who_are_all_beyond_a_limit_put_the_center_on_it():
    narrow = Prior("uniform", -1.0, 1.0)
    people = binomial_trials(np.full((20, 1), 99), 100)
    found = calibrate({"lean": narrow}, [people], lean_alone, n_draws=128)["lean"]
    assert found.center == pytest.approx(1.0, abs=0.02)
    assert parse_prior("lean", found.to_literal()).center <= 1.0


@pytest.mark.parametrize("seed", range(5))
def test_a_calibrated_population_scores_the_same_answers_better_than_the_declared_one(seed):
    rng = np.random.default_rng(seed)
    own = rng.normal(rng.uniform(-2, 2), 0.5, size=60)
    people = binomial_trials(rng.binomial(20, logistic(own))[:, None], 20)
    uniform = (np.arange(512) + 0.5) / 512
    found = calibrate({"lean": LEAN}, [people], lean_alone)["lean"]
    before, after = (
        log_predictive(
            ExperimentEvidence(people, lean_alone({"lean": prior.quantile(uniform)})[0])
        ).mean
        for prior in (LEAN, found)
    )
    assert after > before


@pytest.mark.statistical
@pytest.mark.parametrize(("spread", "doubtful"), [(0.6, False), (0.0, True)])
def test_a_spread_is_as_uncertain_as_it_varies_between_samples(spread, doubtful):
    """Twenty samples of 40 people, 20 answers each, who differ or do not."""
    logarithms, doubts = [], []
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        own = rng.normal(0.3, spread, size=40)
        people = binomial_trials(rng.binomial(20, logistic(own))[:, None], 20)
        found = calibrate({"lean": LEAN}, [people], lean_alone)["lean"]
        logarithms.append(np.log(found.spread))
        doubts.append(found.doubt)
    if doubtful:
        assert np.median(doubts) > 0.5
    else:
        error = np.std(logarithms, ddof=1)
        assert np.mean(doubts) == pytest.approx(error, abs=4 * error / np.sqrt(2 * 19))


@pytest.mark.statistical
def test_intervals_cover_the_true_median_spread_and_proportion_of_a_population():
    """Sixty samples of 30 participants with 20 responses each."""
    covered = []
    for seed in range(60):
        rng = np.random.default_rng(500 + seed)
        own = rng.normal(0.3, 0.6, size=30)
        people = binomial_trials(rng.binomial(20, logistic(own))[:, None], 20)
        prior = calibrate({"lean": LEAN}, [people], lean_alone)["lean"]
        above = share_above(prior, 0.0, 30)
        for found, true in (
            (median_of(prior, 30), 0.3),
            (sd_of(prior, 30), 0.6),
            (above, ndtr(0.5)),
        ):
            assert found.interval is not None
            covered.append(found.interval[0] <= true <= found.interval[1])
    error = np.sqrt(0.95 * 0.05 / 60)
    for place in range(3):
        assert np.mean(covered[place::3]) > 0.95 - 4 * error


@pytest.mark.statistical
def test_pooled_answers_put_the_center_where_everybody_shares_it():
    rng = np.random.default_rng(23)
    n_answers = 4000
    pooled = binomial_trials(
        rng.binomial(n_answers, logistic(np.array([[0.7]]))), n_answers, pooled=True
    )
    found = calibrate({"lean": LEAN}, [pooled], lean_alone)["lean"]
    error = 1 / math.sqrt(n_answers * logistic(0.7) * logistic(-0.7))
    assert abs(found.center - 0.7) < 4 * math.hypot(error, found.spread)
    assert found.spread < 0.5


@pytest.mark.statistical
def test_a_population_without_a_group_is_what_the_others_alone_would_have_taught():
    rng = np.random.default_rng(24)
    own = np.concatenate([rng.normal(-0.5, 0.5, size=100), rng.normal(0.5, 0.5, size=100)])
    chosen = rng.binomial(40, logistic(own))[:, None]
    people = binomial_trials(chosen, 40)
    groups = np.repeat([0, 1], 100)
    found = calibrate({"lean": LEAN}, [people], lean_alone, n_iterations=20)
    uniform = (np.arange(4096) + 0.5) / 4096
    drawn = {"lean": found["lean"].quantile(uniform)}
    log_p = ExperimentEvidence(people, lean_alone(drawn)[0]).log_likelihood
    weights = np.exp(leave_groups_out(found, drawn, log_p, groups))
    assert weights.sum(axis=1) == pytest.approx([1, 1])
    for group in (0, 1):
        rest = calibrate(
            {"lean": LEAN},
            [binomial_trials(chosen[groups != group], 40)],
            lean_alone,
            n_iterations=20,
        )
        assert weights[group] @ drawn["lean"] == pytest.approx(rest["lean"].center, abs=0.02)


def test_pooled_experiments_left_out_are_predicted_by_the_point_that_the_others_teach():
    pooled = [
        binomial_trials(np.array([[n]]), 1000, pooled=True, experiment=name)
        for name, n in (("e", 600), ("f", 700))
    ]

    def twice(parameters):
        return lean_alone(parameters) * 2

    found = calibrate({"lean": LEAN}, pooled, twice)
    first, second = leave_one_out(found, pooled, twice, by_experiment=True)
    wanted = 600 * math.log(0.7) + 400 * math.log(0.3), 700 * math.log(0.6) + 300 * math.log(0.4)
    assert first.log_predictive[0] == pytest.approx(wanted[0], abs=1.0)
    assert second.log_predictive[0] == pytest.approx(wanted[1], abs=1.0)


def test_a_glance_at_pooled_answers_comes_near_a_fit_for_a_fraction_of_its_questions():
    n_asked = []

    def bent(parameters):
        n_asked.append(len(parameters["lean"]))
        slope = parameters["lean"][:, None] * np.linspace(-1, 1, 9) + parameters["side"][:, None]
        p = logistic(slope)
        return [np.stack([1 - p, p], axis=-1)]

    rng = np.random.default_rng(5)
    shares = bent({"lean": np.array([1.4]), "side": np.array([-0.3])})[0][0, :, 1]
    pooled = binomial_trials(rng.binomial(400, shares)[None], 400, pooled=True)
    priors = {"lean": LEAN, "side": LEAN}
    near = {"lean": LEAN.narrowed(0.5, 0.2), "side": LEAN}
    n_asked.clear()
    found = calibrate(priors, [pooled], bent)
    (fitted,) = leave_one_out(found, [pooled], bent)
    n_of_fit = sum(n_asked)
    n_asked.clear()
    glanced = explained_near_of_pooled(priors, near, [pooled], bent, n_draws=8, n_rounds=3)
    assert sum(n_asked) < n_of_fit / 3
    assert glanced == pytest.approx(fitted.mean, abs=1e-4)


def test_a_glance_at_a_theory_without_parameters_is_its_score():
    pooled = binomial_trials(np.array([[300, 150]]), 400, pooled=True)

    def even(parameters):
        return [np.full((len(next(iter(parameters.values()), [0])), 2, 2), 0.5)]

    glanced = explained_near_of_pooled({}, {}, [pooled], even, n_draws=8, n_rounds=3)
    assert glanced == pytest.approx(-math.log(2))


def test_equal_participants_are_found_equal_in_a_wide_range():
    """Choices that follow the evidence strictly: the population must not be wider than the responses allow."""
    rng = np.random.default_rng(5)
    wide = parse_prior("k", {"prior": "normal", "mean": 0.0, "sd": 5.0, "low": -25.0, "high": 25.0})
    shown = rng.uniform(-3, 3, 80)

    def strict(parameters):
        p = logistic(np.clip(20 * (parameters["k"][:, None] - shown), -30, 30))
        return [np.stack([1 - p, p], axis=-1)]

    p = strict({"k": np.array([0.5])})[0][0]
    people = binomial_trials(rng.binomial(1, np.tile(p[:, 1], (40, 1))), 1)
    found = calibrate({"k": wide}, [people], strict, n_draws=256, n_iterations=6)["k"]
    assert found.center == pytest.approx(0.5, abs=0.02)
    assert found.spread < 0.06  # a fiftieth of the range would be 1.0

    def loss(parameters):
        return -(people.count.mean(axis=0) * np.log(parameters)).sum(axis=-1).mean()

    drawn = found.quantile((np.arange(200) + 0.5) / 200)
    assert loss(strict({"k": drawn})[0].mean(axis=0)) - loss(p) < 0.001


def surprise(mean, variance, center, spread, low, high):
    """Nats by which draws with these moments are less likely under a truncated normal, up to a constant."""
    inside = ndtr((high - center) / spread) - ndtr((low - center) / spread)
    return ((mean - center) ** 2 + variance) / (2 * spread**2) + np.log(spread) + np.log(inside)


def test_no_normal_of_a_fine_grid_is_likelier_than_those_found():
    """Draws of all shapes, among them crowds at a limit, single points and more than flat ones."""
    rng = np.random.default_rng(0)
    low, high = -1.0, 4.0
    bent = rng.random((200, 64)) ** np.exp(rng.normal(0, 1.5, (200, 1)))
    weights = rng.random((200, 64)) ** np.exp(rng.normal(0, 1.5, (200, 1)))
    weights /= weights.sum(axis=1, keepdims=True)
    draws = np.where(rng.random((200, 1)) < 0.5, bent, 1 - bent)
    mean = np.concatenate([(weights * draws).sum(axis=1), [0.0, 1.0, 0.3, 0.5, 0.5]])
    square = np.concatenate([(weights * draws**2).sum(axis=1), [0.0, 1.0, 0.09, 0.5, 0.3333]])
    variance = np.maximum(square - mean**2, 0.0) * (high - low) ** 2
    mean = low + (high - low) * mean
    ends = np.full(len(mean), low), np.full(len(mean), high)
    found = most_likely_normals(mean[None], variance[None], *ends)
    centers = np.linspace(low, high, 81)[:, None, None]
    spreads = np.geomspace(FIRST_SPREAD, 1.0, 81)[:, None] * (high - low)
    best = surprise(mean, variance, centers, spreads, low, high).min(axis=(0, 1))
    assert (surprise(mean, variance, *found, low, high) <= best + 1e-6).all()


def test_weights_that_all_grow_together_are_learned_in_full():
    """Three weights far from the middle of wide ranges: a few rounds of short steps would leave them too small."""
    rng = np.random.default_rng(4)
    wide = parse_prior("w", {"prior": "normal", "mean": 0.0, "sd": 1.0, "low": -20.0, "high": 20.0})
    shown, wanted = rng.normal(size=(60, 3)), np.array([7.0, -6.0, 5.0])

    def weighed(parameters):
        weights = np.stack([parameters[name] for name in "abc"], axis=1)
        p = logistic(np.clip(weights @ shown.T, -30, 30))
        return [np.stack([1 - p, p], axis=-1)]

    p = weighed({name: np.array([value]) for name, value in zip("abc", wanted, strict=True)})[0]
    people = binomial_trials(rng.binomial(1, np.tile(p[0, :, 1], (40, 1))), 1)
    found = calibrate(dict.fromkeys("abc", wide), [people], weighed, n_draws=256, n_iterations=3)
    grown = np.array([found[name].center for name in "abc"]) @ wanted / (wanted @ wanted)
    assert 0.8 < grown < 1.2  # 2,400 answers say it to within 0.06


def test_a_fit_that_begins_from_a_narrow_population_can_leave_it():
    """What earlier responses taught may be wrong; a population as narrow as fits end with moves by thousandths."""
    rng = np.random.default_rng(7)
    wide = parse_prior("k", {"prior": "normal", "mean": 0.0, "sd": 5.0, "low": -25.0, "high": 25.0})
    shown = rng.uniform(-6, 6, 80)

    def strict(parameters):
        p = logistic(np.clip(4 * (parameters["k"][:, None] - shown), -30, 30))
        return [np.stack([1 - p, p], axis=-1)]

    p = strict({"k": np.array([3.0])})[0][0]
    people = binomial_trials(rng.binomial(1, np.tile(p[:, 1], (40, 1))), 1)
    start = {"k": wide.narrowed(0.0, SMALLEST_SPREAD * 50)}
    found = calibrate({"k": wide}, [people], strict, start=start, n_draws=256, n_iterations=6)["k"]
    assert found.center == pytest.approx(3.0, abs=0.05)
