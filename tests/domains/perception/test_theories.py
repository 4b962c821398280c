"""Theories of perceptual decisions: checks, what each mechanism does, and what is recovered from responses."""

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.domains.perception.task import EDGES, PerceptionDomain, edges_within, perception_trials
from lakatos.domains.perception.theories import (
    FAMILY,
    GRAMMAR,
    SEEDS,
    TIME_EDGES,
    family_within,
    grid_of,
)
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.checks.exam import MOST_NUMBERS, table_size
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive, paired_difference
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.domains.mechanisms import choose_of, one_mechanism_each

DOMAIN = PerceptionDomain()
N_BINS = len(EDGES) - 1
MIDDLES = 0.5 * (np.array(EDGES[1:]) + np.array(EDGES[:-1]))
USUAL = {
    "rate": 3.0, "bound": 1.4, "delay": 0.3, "lapse": 0.0, "base_rate": 1.0, "median": 0.4, "scatter_of_times": 0.5,
    "exponent": 1.5, "half": 0.5, "threshold": 0.3, "key_bias": 0.4, "criterion": 0.6, "unevenness": 1.0,
    "start_range": 0.6, "delay_range": 0.2, "meeting": 1.5, "halving": 0.5, "deadline": 0.8,
}  # fmt: skip
BASE = {"evidence": ("in proportion",), "process": ("diffusion",)}
RACES = ("a race", "a race without noise", "a log-normal race")
ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, BASE)
TRIALS = ([0.3, 0.3, 1.0, 1.0], [-1, 1, -1, 1])


def responses(slots=None, trials=TRIALS, **parameters):
    """Right and wrong responses by bins of time, ``(n_trials, 2, n_bins)``."""
    stimuli = perception_trials(*trials)
    columns = {key: np.array([[value]]) for key, value in {**USUAL, **parameters}.items()}
    composition = Composition.of({**BASE, **(slots or {})})
    return choose_of(GRAMMAR, composition)(columns, dict(stimuli.arrays), np)[0].reshape(
        len(stimuli), 2, N_BINS
    )


def accuracy(p):
    return p[:, 0].sum(axis=-1)


def mean_times(p):
    """Of right and wrong responses."""
    return (p * MIDDLES).sum(axis=-1) / p.sum(axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_published_theories_pass_all_checks(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.broadcasts
    assert theory.claim.startswith("People ")


@pytest.mark.parametrize("name", SEEDS)
def test_sources_are_rules_and_no_tables(name):
    assert table_size(GRAMMAR.write(SEEDS[name][1])) < MOST_NUMBERS


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


def test_a_diffusion_is_as_accurate_as_the_closed_form_says():
    found = accuracy(responses(trials=([0.0, 0.2, 0.5, 1.0], [1, 1, 1, 1])))
    known = 1 / (1 + np.exp(-1.4 * 3.0 * np.array([0.0, 0.2, 0.5, 1.0])))
    # a few responses are slower than the last edge
    assert found == pytest.approx(known, abs=1e-3)


@pytest.mark.parametrize(
    ("evidence", "wanted"),
    [
        ("any strength", [3.0, 3.0]),
        ("in proportion", [1.2, 3.0]),
        ("a power", [3.0 * 0.4**1.5, 3.0]),
        ("saturating", [3.0 * 0.4 * 1.5 / 0.9, 3.0]),
        ("beyond a threshold", [3.0 * 0.1 / 0.7, 3.0]),
    ],
)
def test_evidence_follows_from_strength_by_its_formula(evidence, wanted):
    found = accuracy(responses({"evidence": evidence}, ([0.4, 1.0], [1, 1])))
    assert np.log(found / (1 - found)) / 1.4 == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize("process", ["diffusion", *RACES])
def test_responses_to_stronger_stimuli_are_better_and_quicker(process):
    p = responses({"process": process}, ([0.2, 0.6, 1.0], [1, 1, 1]))
    assert (np.diff(accuracy(p)) > 0).all()
    assert (np.diff(mean_times(p)[:, 0]) < 0).all()


@pytest.mark.parametrize("process", ["diffusion", *RACES])
@pytest.mark.parametrize("lean", ["one response", "one category"])
def test_a_bias_makes_the_second_response_more_frequent_and_quicker(process, lean):
    p = responses({"process": process, "lean": lean}, ([0.3, 0.3], [-1, 1]))
    assert accuracy(p)[1] > accuracy(p)[0] + 0.05
    assert mean_times(p)[1, 0] < mean_times(p)[0, 0]


@pytest.mark.parametrize("process", ["diffusion", *RACES])
def test_without_evidence_both_responses_are_alike(process):
    p = responses({"process": process}, ([0.0], [1]))[0]
    assert p[0] == pytest.approx(p[1], abs=1e-9)


def test_evidence_that_varies_makes_errors_slow_and_starts_that_vary_make_them_quick():
    plain = mean_times(responses())
    assert plain[:, 0] == pytest.approx(plain[:, 1], abs=1e-3)
    slow = mean_times(responses({"variability": "varying evidence"}))[2]
    quick = mean_times(responses({"variability": "varying start"}))[2]
    assert slow[1] > slow[0] + 0.02
    assert quick[1] < quick[0] - 0.02


def test_a_delay_that_varies_changes_the_spread_of_times_and_no_response():
    plain, varied = responses(), responses({"variability": "varying delay"}, delay_range=0.4)
    assert accuracy(varied) == pytest.approx(accuracy(plain), abs=1e-3)
    assert varied[:, 0, :4].sum() > plain[:, 0, :4].sum() + 0.01


@pytest.mark.parametrize("patience", [item.name for item in GRAMMAR.mechanisms if item.slot == "patience"])  # fmt: skip
def test_less_patience_means_quicker_and_less_accurate_responses(patience):
    plain, hasty = responses(), responses({"patience": patience})
    assert (accuracy(hasty) < accuracy(plain)).all()
    assert (mean_times(hasty)[:, 0] < mean_times(plain)[:, 0]).all()


def test_contaminants_are_even_over_responses_and_times():
    p = responses({"lapse": "anything"}, lapse=0.2)
    widths = np.diff(EDGES) / (2 * (EDGES[-1] - EDGES[0]))
    assert p == pytest.approx(0.8 * responses() + 0.2 * widths[None, None], abs=1e-12)


@pytest.mark.parametrize("window", [(0.2, 5.0), (0.03, 2.5), (0.4, 250.0)])
def test_sources_compute_the_edges_of_their_domain(window):
    namespace = {"xp": np}
    exec(TIME_EDGES, namespace)
    edges = edges_within(*window)
    found = eval(f"time_edges({grid_of(edges)}, xp)", namespace)
    assert found == pytest.approx(edges, rel=1e-12)


def test_another_window_of_times_gives_the_same_shape():
    domain = DOMAIN.within(0.1, 20.0)
    grammar = family_within(domain.edges).grammar
    columns = {key: np.array([[value]]) for key, value in USUAL.items()}
    trials = dict(perception_trials([0.5], [1]).arrays)
    p = choose_of(grammar, Composition.of(BASE))(columns, trials, np)[0, 0]
    assert len(p) == domain.scale.n_outcomes
    assert p[: len(p) // 2].sum() == pytest.approx(
        accuracy(responses(trials=([0.5], [1])))[0], abs=1e-3
    )


PRONOUNCED = {
    "rate": log_uniform(2.0, 5.0, "x", "x"), "bound": log_uniform(1.0, 2.0, "x", "x"),
    "delay": uniform(0.25, 0.4, "s", "x"), "lapse": uniform(0.0, 0.04, "share", "x"),
    "base_rate": log_uniform(0.8, 2.0, "x", "x"), "start_range": uniform(0.3, 0.7, "share", "x"),
    "unevenness": log_uniform(0.6, 1.4, "x", "x"), "delay_range": uniform(0.1, 0.25, "s", "x"),
    "meeting": log_uniform(1.0, 2.0, "s", "x"), "median": log_uniform(0.3, 0.6, "s", "x"),
    "scatter_of_times": log_uniform(0.3, 0.6, "x", "x"),
}  # fmt: skip
"""Ranges in which what a theory says shows."""
MIDDLE = np.array([0.1, 0.5, 0.9])


def people_who_follow(name, **ranges):
    """A theory with pronounced numbers, as the truth of simulated responses."""
    composition = SEEDS[name][1]
    known = set(GRAMMAR.parameters(composition))
    own = {key: value for key, value in (PRONOUNCED | ranges).items() if key in known}
    source = GRAMMAR.write(Composition(composition.slots, own), "Hidden")
    return read_program(TheoryProgram(source, "test"))


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["ddm", "full_ddm", "lba", "racing_diffusion", "collapsing"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_population_of_twenty_participants_is_recovered(hidden, seed):
    truth, form = people_who_follow(hidden), read_program(FAMILY.program(hidden))
    with Laboratory(DOMAIN, 1) as laboratory:
        taught = laboratory.simulate(
            [truth], DOMAIN.space({}), 20, np.random.default_rng(seed), n_draws=64, repetitions=40
        )
        (people,) = laboratory.people_of([form], [{}], taught)
    for name in {"rate", "bound", "delay"} & set(people):
        known = truth.priors[name].quantile(MIDDLE)
        found = people[name].quantile(MIDDLE)
        if name != "delay":
            known, found = np.log(known), np.log(found)
        # a median of 20 has an error of 1.25 standard deviations over their root; parameters trade off besides
        error = 1.25 * (known[2] - known[0]) / 2.56 / np.sqrt(20)
        assert abs(found[1] - known[1]) < 4 * error, name


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["ddm", "lba", "collapsing"])
def test_nobody_predicts_new_participants_clearly_better_than_the_theory_that_they_follow(hidden):
    names = ("ddm", "full_ddm", "lba", "racing_diffusion", "collapsing", "same_rate")
    forms = {name: read_program(FAMILY.program(name)) for name in names}
    truth = people_who_follow(hidden)
    with Laboratory(DOMAIN, 1) as laboratory:
        taught, new = laboratory.simulate(
            [truth, truth],
            DOMAIN.space({}),
            20,
            np.random.default_rng(1),
            n_draws=64,
            repetitions=20,
        )
        people = laboratory.people_of(list(forms.values()), [{}] * len(forms), [taught])
        fitted = [form.with_people(own) for form, own in zip(forms.values(), people, strict=True)]
        evidence = [laboratory.evidence(theory, [new], 256)[0] for theory in fitted]
    scores = {name: log_predictive(own) for name, own in zip(forms, evidence, strict=True)}
    ahead = {
        name: paired_difference([own], [scores[hidden]])
        for name, own in scores.items()
        if name != hidden
    }
    assert all(item.interval[0] <= 0 for item in ahead.values()), ahead
    assert ahead["same_rate"].interval[1] < 0


def rows_of(trials, condition):
    """Responses as the rows of a file, with times in the middle of their bins."""
    is_wrong, place = np.divmod(trials.response, N_BINS)
    return pd.DataFrame(
        {
            "subject": trials.participant,
            "condition": condition,
            "strength": trials.stimuli["strength"][trials.trial],
            "correct": 1 - is_wrong,
            "rt": 1000 * MIDDLES[place],
        }
    )


@pytest.mark.slow
def test_bounds_are_found_to_be_farther_apart_where_accuracy_counts():
    truths = [
        people_who_follow("ddm", rate=log_uniform(2.9, 3.1, "x", "x"), bound=log_uniform(low, 1.05 * low, "x", "x"))
        for low in (1.0, 1.6)
    ]  # fmt: skip
    with Laboratory(DOMAIN, 1) as laboratory:
        speed, accuracy_ = laboratory.simulate(
            truths, DOMAIN.space({}), 10, np.random.default_rng(1), n_draws=64, repetitions=20
        )
    frame = pd.concat([rows_of(speed, "speed"), rows_of(accuracy_, "accuracy")])
    found = lakatos.effects(frame, "ddm", by="condition", domain="perception").to_frame()
    bound = found[found["parameter"] == "bound"].iloc[0]
    # the first level is accuracy
    assert bound["p"] < 0.01
    assert bound["ratio"] == pytest.approx(1.0 / 1.6, abs=0.06)
    assert (found.loc[found["parameter"] != "bound", "p"] > 0.01).all()
