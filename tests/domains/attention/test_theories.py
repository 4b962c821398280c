"""Theories of answers in conflict against closed forms, other people's forms of them, and simulated walks."""

import numpy as np
import pytest
from scipy.special import expit

from lakatos.domains.attention.task import (
    EDGES,
    AttentionDomain,
    conflict_trials,
    edges_within,
)
from lakatos.domains.attention.theories import FAMILY, GRAMMAR, SEEDS, family_within
from lakatos.domains.kit import outcomes
from lakatos.domains.kit.outcomes import outcome_helpers
from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.experiments.task import Stimuli
from lakatos.theories.discovery.grammar_search.composition_search import search_compositions
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive, paired_difference
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.domains.kit.wiener import WIENER
from tests.domains.mechanisms import choose_of, one_mechanism_each

DOMAIN = AttentionDomain()
TIMES = np.array(EDGES)
N_BINS = len(EDGES) - 1
USUAL = {
    "bound": 1.2, "delay": 0.3, "delay_spread": 0.02, "rate": 3.0, "interference": 0.8, "pull": 0.3, "fade": 0.08,
    "capture": 0.6, "narrowing": 0.2, "selected_rate": 5.0, "selection": 0.15, "lapse": 0.0, "accuracy": 2.0,
    "accuracy_effect": 0.5, "time": 0.5, "slowing": 0.04, "time_sd": 0.06, "tail": 0.15,
}  # fmt: skip
BASE = {"process": ("a pull that fades",)}
ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, BASE)


def answers(composition, trials=None, **parameters):
    """Right and wrong answers by bins of time, ``(n_trials, 2, n_bins)``; a conflict and no conflict by default."""
    trials = conflict_trials(trials or {"congruence": [-1, 1], "side": [1, 1]})
    columns = {key: np.array([[value]]) for key, value in {**USUAL, **parameters}.items()}
    p = choose_of(GRAMMAR, composition)(columns, dict(trials.arrays), np)
    return p[0].reshape(len(trials), 2, N_BINS)


def mean_time(p):
    """Of right answers."""
    middles = 0.5 * (TIMES[1:] + TIMES[:-1])
    return (p[..., 0, :] * middles).sum(axis=-1) / p[..., 0, :].sum(axis=-1)


def accuracy(p):
    return p[..., 0, :].sum(axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_published_theories_pass_all_checks(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.broadcasts
    assert theory.claim.startswith("People ")


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_gives_probabilities(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0))[::2])
    priors = {
        name: parse_prior(name, literal)
        for name, literal in GRAMMAR.parameters(composition).items()
    }
    draws = check_points(priors, np.random.default_rng(0))
    draws = {name: value[:, None] for name, value in draws.items()}
    with np.errstate(all="raise", under="ignore"):
        p = choose_of(GRAMMAR, composition)(draws, dict(stimuli.arrays), np)
    assert p.shape[1:] == (len(stimuli), 2 * N_BINS)
    assert p.sum(axis=-1) == pytest.approx(1)
    assert p.min() >= 0


def test_without_conflict_it_is_the_known_diffusion():
    namespace = {}
    exec(outcome_helpers(WIENER), namespace)
    one = [np.array([value]) for value in (3.0, 1.2, 0.5, 0.3, 0.0)]
    # the delay's own distribution: its quantiles, each with the same share
    delays = 0.3 + 0.02 * np.log((np.arange(200) + 0.5) / (199.5 - np.arange(200)))
    known = np.mean(
        [namespace["wiener_bins"](TIMES, *one[:3], np.array([d]), one[4], np)[0] for d in delays],
        axis=0,
    )
    found = answers(SEEDS["steady"][1])[0].reshape(-1)
    assert found == pytest.approx(known, abs=4e-3)
    assert np.abs(found - known).sum() / 2 < 0.01


def walks(drift_at, bound, rng, n=10_000, dt=0.001):
    """Simulated walks from the middle: which bound, and when; bounds moved in by what steps overshoot (Siegmund)."""
    inward = 0.5826 * np.sqrt(dt)
    place, time, above = np.full(n, bound / 2), np.full(n, np.inf), np.zeros(n, dtype=bool)
    walking = np.arange(n)
    for step in range(int(2.5 / dt)):
        place[walking] += drift_at((step + 0.5) * dt) * dt + np.sqrt(dt) * rng.standard_normal(
            len(walking)
        )
        up, down = place[walking] >= bound - inward, place[walking] <= inward
        time[walking[up | down]] = (step + 1) * dt
        above[walking[up]] = True
        walking = walking[~(up | down)]
    return above, time


DRIFTS = {
    "fading_pull": lambda t, sign: (
        3.0 + sign * 0.5 * 1.2 * 0.3 * np.exp(1 - t / 0.08) / 0.08 * (1 - t / 0.08)
    ),
    "spotlight": lambda t, sign: 3.0 * (1 - 0.6 * np.exp(-t / 0.2) * (1 - sign)),
    "late_selection": lambda t, sign: 3.0 + 0.8 * sign if t < 0.15 else 5.0,
}


@pytest.mark.parametrize("name", DRIFTS)
def test_bins_hold_what_simulated_walks_with_that_drift_do(name):
    rng = np.random.default_rng(3)
    found = answers(SEEDS[name][1])
    for row, sign in enumerate((-1, 1)):
        above, time = walks(lambda t, sign=sign: DRIFTS[name](t, sign), 1.2, rng)
        time = time + 0.3 + 0.02 * rng.logistic(size=len(time))
        kept = (time >= TIMES[0]) & (time <= TIMES[-1])
        counts = np.stack([np.histogram(time[kept & side], TIMES)[0] for side in (above, ~above)])
        n = counts.sum()
        error = np.sqrt(found[row] * (1 - found[row]) / n)
        # four errors of the simulation, and 0.003 for steps of the walk and of the bins
        assert (np.abs(counts / n - found[row]) < 4 * error + 3e-3).all()


def test_a_pull_that_fades_costs_least_late_and_a_late_one_more():
    """Differences between conditions shrink over quantiles where the pull is early, and grow where it is late."""

    def slowing(**parameters):
        p = answers(SEEDS["fading_pull"][1], **parameters)[:, 0]
        below = np.cumsum(p, axis=1) / p.sum(axis=1, keepdims=True)
        at = [[np.interp(q, own, TIMES[1:]) for own in below] for q in (0.2, 0.8)]
        return [conflict - none for conflict, none in at]

    early, late = slowing(fade=0.05), slowing(fade=0.4)
    assert early[1] < early[0]
    assert late[1] > late[0]


@pytest.mark.parametrize(
    ("slot", "name", "parameter", "value", "trial", "faster", "surer"),
    [
        ("habit", "one key", "key_bias", 0.2, {"side": [1, -1]}, 1, 1),
        ("habit", "the last key", "repetition", 0.2, {"repeats": [1, 0]}, 1, 1),
        ("habit", "quick repetitions", "saving", 0.06, {"repeats": [1, 0]}, 1, 0),
        ("control", "after conflict", "adaptation", 0.5, {"previous_congruence": [-1, 1]}, 1, 1),
        ("control", "caution after errors", "post_error_caution", 0.3, {"previous_error": [1, 0]}, -1, 1),
        ("control", "distraction after errors", "distraction", 0.3, {"previous_error": [1, 0]}, -1, -1),
        ("control", "pause after errors", "pause", 0.08, {"previous_error": [1, 0]}, -1, 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("process", ["a pull that fades", "description"])
def test_what_a_clause_says_is_what_its_number_does(
    process, slot, name, parameter, value, trial, faster, surer
):
    """With the sign of its words: of two trials in conflict, whether the first is faster and surer than the second."""
    trials = {"congruence": [-1, -1], "side": [1, 1], "has_previous": [1, 1]} | trial
    composition = Composition({"process": (process,), slot: (name,)})
    p = answers(composition, trials, **{parameter: value})
    times, right = mean_time(p), accuracy(p)
    if process != "description" or name not in (
        "one key",
        "the last key",
        "distraction after errors",
    ):
        assert np.sign(np.round(times[1] - times[0], 3)) == faster
    if not (process == "description" and name == "after conflict" and not surer):
        assert np.sign(np.round(right[0] - right[1], 3)) == surer
    opposite = answers(composition, trials, **{parameter: 0.0})
    assert opposite[0] == pytest.approx(opposite[1], abs=1e-12)


def test_unclear_trials_make_errors_slow():
    parts = {"process": ("evidence from both",)}
    even, uneven = (
        answers(Composition(parts | more), unevenness=2.0)[0]
        for more in ({}, {"clearness": ("varying",)})
    )

    def slower(p):
        middles = 0.5 * (TIMES[1:] + TIMES[:-1])
        right, wrong = ((own * middles).sum() / own.sum() for own in p)
        return wrong - right

    assert slower(even) == pytest.approx(0, abs=0.01)  # of a start in the middle
    assert slower(uneven) > 0.03


def test_who_neglects_the_goal_answers_to_the_distractor():
    composition = SEEDS["goal_neglect"][1]
    heeded, neglected = (answers(composition, neglect=share) for share in (0.0, 0.25))
    assert neglected[1] == pytest.approx(heeded[1])
    assert neglected[0] == pytest.approx(0.75 * heeded[0] + 0.25 * heeded[0][::-1])


def test_guesses_are_right_by_chance_and_at_any_time():
    trials = {"congruence": [-1, -1], "side": [1, 1], "n_answers": [2, 3]}
    composition, widths = SEEDS["steady"][1], np.diff(TIMES)
    plain, guessed = (answers(composition, trials, lapse=share) for share in (0.0, 0.4))
    added = (guessed - 0.6 * plain) / 0.4
    assert added[0, 0] == pytest.approx(0.5 * widths / widths.sum())
    assert added[1, 0] == pytest.approx(widths / widths.sum() / 3)


def test_described_times_are_ex_gaussian_and_accuracies_logistic():
    p = answers(SEEDS["ex_gaussian"][1])
    assert accuracy(p) == pytest.approx(expit([2.0 - 0.5, 2.0 + 0.5]), abs=2e-3)
    namespace = {}
    exec(outcome_helpers(outcomes.EX_GAUSSIAN), namespace)
    below = namespace["ex_gaussian"](TIMES, 0.5 + 0.04, 0.06, 0.15, np)
    assert p[0, 0] / p[0, 0].sum() == pytest.approx(np.diff(below) / (below[-1] - below[0]))


PRONOUNCED = {
    "bound": log_uniform(1.0, 1.4, "x", "x"), "rate": log_uniform(2.0, 4.0, "x", "x"),
    "delay": uniform(0.25, 0.35, "s", "x"), "delay_spread": log_uniform(0.01, 0.03, "s", "x"),
    "pull": uniform(0.25, 0.45, "x", "x"), "fade": log_uniform(0.04, 0.08, "s", "x"),
    "interference": uniform(0.5, 1.5, "x", "x"), "selected_rate": uniform(6.0, 8.0, "x", "x"),
    "selection": uniform(0.15, 0.25, "s", "x"), "neglect": uniform(0.1, 0.3, "share", "x"),
    "lapse": uniform(0.0, 0.05, "share", "x"), "saving": uniform(0.04, 0.08, "s", "x"),
}  # fmt: skip
"""Ranges in which what a theory says shows."""


def people_who_follow(composition):
    """A theory with pronounced numbers, as the truth of simulated answers."""
    ranges = dict(PRONOUNCED)
    if composition.slots["process"] == ("a late selection",):
        ranges["rate"] = log_uniform(0.4, 0.8, "x", "x")
    known = set(GRAMMAR.parameters(composition))
    own = {name: value for name, value in ranges.items() if name in known}
    source = GRAMMAR.write(Composition(composition.slots, own), "Hidden")
    return read_program(TheoryProgram(source, "test"))


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["fading_pull", "late_selection", "goal_neglect"])
def test_nobody_predicts_new_people_clearly_better_than_the_published_rule_that_they_follow(hidden):
    rng = np.random.default_rng(1)
    forms = {name: read_program(FAMILY.program(name)) for name in SEEDS}
    with Laboratory(DOMAIN, 1) as laboratory:
        truth = people_who_follow(SEEDS[hidden][1])
        taught, new = laboratory.simulate([truth, truth], DOMAIN.space({}), 60, rng)
        people = laboratory.people_of(list(forms.values()), [{}] * len(forms), [taught])
        fitted = [form.with_people(own) for form, own in zip(forms.values(), people, strict=True)]
        evidence = [laboratory.evidence(theory, [new], 256)[0] for theory in fitted]
    scores = {name: log_predictive(own) for name, own in zip(forms, evidence, strict=True)}
    # Nobody is clearly ahead of the rule that people follow, which is clearly ahead of a diffusion without conflict.
    ahead = {
        name: paired_difference([own], [scores[hidden]])
        for name, own in scores.items()
        if name != hidden
    }
    assert all(item.interval[0] <= 0 for item in ahead.values()), ahead
    assert ahead["steady"].interval[1] < 0


@pytest.mark.slow
def test_a_search_from_wrong_first_rivals_finds_what_no_published_form_says():
    hidden = Composition.of(
        {"process": "a pull that fades", "habit": "quick repetitions", "lapse": "anything"}
    )
    start = tuple(SEEDS[name][1] for name in ("steady", "ratcliff", "ex_gaussian"))
    brief = AdvocateBrief((), published=start, n_candidates=24, n_successors=1, looks_back=False)
    with Laboratory(DOMAIN, 1) as laboratory:
        truth = people_who_follow(hidden)
        taught = laboratory.simulate([truth], DOMAIN.space({}), 60, np.random.default_rng(1))
        found = search_compositions(laboratory, GRAMMAR, brief, taught, np.random.default_rng(2))
    slots = found.submitted[0].composition.slots
    assert slots["process"] == ("a pull that fades",)
    assert slots["habit"] == ("quick repetitions",)


@pytest.mark.parametrize("process", ["a pull that fades", "a race", "description"])
@pytest.mark.parametrize(("low", "high"), [(0.3, 1.0), (0.2, 5.0)])
def test_another_window_leaves_the_odds_of_shared_bins_as_they_are(process, low, high):
    """What a theory says of bins that two windows share differs by one factor: only the window has changed."""
    edges = edges_within(low, high)
    trials = conflict_trials({"congruence": [-1, 1], "side": [1, 1]})
    columns = {key: np.array([[value]]) for key, value in (USUAL | {"wrong_rate": 1.0}).items()}
    usual, other = (
        choose_of(family_within(own).grammar, Composition.of({"process": process}))(
            columns, dict(trials.arrays), np
        )[0].reshape(2, 2, -1)
        for own in (EDGES, edges)
    )
    shared = [k for k in range(N_BINS) if {EDGES[k], EDGES[k + 1]} <= set(edges)]
    ratio = other[..., [edges.index(EDGES[k]) for k in shared]] / usual[..., shared]
    assert len(shared) > 10
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1, :1], ratio.shape), rtol=2e-3)
    assert other.sum() == pytest.approx(2.0)
