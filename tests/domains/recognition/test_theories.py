"""Theories of recognition: exact probabilities, what each mechanism does, and what is recovered from responses."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, ndtr, ndtri

import lakatos
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.recognition.task import MOST, RecognitionDomain, recognition_trials
from lakatos.domains.recognition.theories import FAMILY, GRAMMAR, SEEDS
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

DOMAIN = RecognitionDomain()
USUAL = {
    "sensitivity": 1.5, "criterion": 0.2, "spacing": 0.5, "lapse": 0.0, "old_sd": 1.25, "exponent": 0.5,
    "similarity": 0.4, "base_rate_weight": 0.5, "stretch": 1.5, "spread": 0.8, "skew": 0.3, "attention": 0.7,
    "doubt": 0.3, "recollection": 0.3, "rejection": 0.2, "false_detection": 0.1,
}  # fmt: skip
BASE = {
    "strength": ("any strength",), "bias": ("response bias",), "criteria": ("equally spaced",), "evidence": ("normal",),
}  # fmt: skip
ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, BASE)


def probabilities(slots=None, stimuli=None, **parameters):
    """``(n_trials, n_categories)``, by default of a new and of an old item on a scale of six."""
    stimuli = recognition_trials([0, 1]) if stimuli is None else stimuli
    columns = {key: np.array([[value]]) for key, value in {**USUAL, **parameters}.items()}
    composition = Composition.of({**BASE, **(slots or {})})
    p = choose_of(GRAMMAR, composition)(columns, dict(stimuli.arrays), np)[0]
    return p[:, stimuli["available"][0] > 0]


def above(p):
    """``(n_trials, n_criteria)`` share of responses above each criterion, from the strictest one."""
    return np.cumsum(p[:, :0:-1], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_published_theories_pass_all_checks(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.broadcasts
    assert theory.claim.startswith(("Memory evidence ", "People guess "))


@pytest.mark.parametrize("name", SEEDS)
def test_sources_are_rules_and_no_tables(name):
    assert table_size(GRAMMAR.write(SEEDS[name][1])) < MOST_NUMBERS


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_gives_probabilities_of_the_categories_that_a_scale_has(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    priors = {
        name: parse_prior(name, literal)
        for name, literal in GRAMMAR.parameters(composition).items()
    }
    draws = check_points(priors, np.random.default_rng(0))
    draws = {name: value[:, None] for name, value in draws.items()}
    with np.errstate(all="raise", under="ignore"):
        p = choose_of(GRAMMAR, composition)(draws, dict(stimuli.arrays), np)
    assert p.shape[1:] == (len(stimuli), 2 * MOST + 1)
    assert p.sum(axis=-1) == pytest.approx(1)
    assert p.min() >= 0
    assert p[:, stimuli["available"] == 0].max() == 0


@pytest.mark.parametrize("categories", range(2, 11))
def test_equal_variances_have_the_sensitivity_z_of_hits_minus_z_of_false_alarms(categories):
    z = ndtri(above(probabilities(stimuli=recognition_trials([0, 1], categories=categories))))
    assert z.shape == (2, categories - 1)
    assert z[1] - z[0] == pytest.approx(1.5, abs=1e-9)
    steps = np.arange(categories - 1) - (categories - 2) / 2
    assert -0.5 * (z[0] + z[1]) == pytest.approx(0.2 + 0.5 * steps[::-1], abs=1e-9)


def test_the_example_of_a_published_program_is_reproduced():
    """Function ``signal`` of Bonett's statpsych: rates of (82 + .5) / 101 and (46 + .5) / 101, after Wickens (2002)."""
    new, old = probabilities(
        stimuli=recognition_trials([0, 1], categories=2), sensitivity=1.002793, criterion=-0.4019603
    )
    assert old[1] == pytest.approx(0.8168317, abs=1e-6)
    assert new[1] == pytest.approx(0.460396, abs=1e-6)


def test_the_roc_of_unequal_variances_is_a_line_whose_slope_is_one_by_the_ratio():
    z = ndtri(above(probabilities({"variability": "old items vary"})))
    assert np.diff(z[1]) / np.diff(z[0]) == pytest.approx(1 / 1.25, abs=1e-9)
    assert z[1] - z[0] / 1.25 == pytest.approx(1.5 / 1.25, abs=1e-9)


def test_recollection_lifts_the_whole_roc_by_a_share_of_what_is_missed():
    plain, lifted = above(probabilities()), above(probabilities({"detection": "old items"}))
    assert lifted[0] == pytest.approx(plain[0])
    assert lifted[1] == pytest.approx(0.3 + 0.7 * plain[1])


def test_two_high_thresholds_have_a_straight_roc():
    p = probabilities({"evidence": "guesses", "detection": ("old items", "new items")})
    false_alarms, hits = above(p)
    assert hits == pytest.approx(0.3 + 0.7 * false_alarms / 0.8)


def test_a_low_threshold_has_a_roc_from_its_point_to_one():
    p = probabilities({"evidence": "guesses", "detection": ("old items", "false alarms")})
    false_alarms, hits = above(p)
    assert (hits - 0.3) / 0.7 == pytest.approx((false_alarms - 0.1) / 0.9)


def test_old_items_without_attention_are_like_new_ones():
    plain, mixed = probabilities(), probabilities({"attention": "some old items"})
    assert mixed[0] == pytest.approx(plain[0])
    assert mixed[1] == pytest.approx(0.7 * plain[1] + 0.3 * plain[0])


@pytest.mark.parametrize(
    ("evidence", "below"),
    [("logistic", expit), ("extreme values", lambda z: np.exp(-np.exp(-z))), ("guesses", None)],
)
def test_evidence_has_the_distribution_of_its_name(evidence, below):
    criteria = 0.2 + 0.5 * np.arange(2, -3, -1)
    means = (0.0, 0.0) if below is None else (-0.75, 0.75)
    wanted = [1 - (below or ndtr)(criteria - mean) for mean in means]
    assert above(probabilities({"evidence": evidence})) == pytest.approx(np.array(wanted))


@pytest.mark.parametrize(
    ("slots", "wanted"),
    [
        ({"criteria": "equally spaced"}, [-1.0, -0.5, 0.0, 0.5, 1.0]),
        ({"criteria": "stretched"}, [-0.5 * 2**1.5, -0.5, 0.0, 0.5, 0.5 * 2**1.5]),
        ({"criteria": "log odds"}, 0.8 * np.log([1 / 5, 1 / 2, 1, 2, 5])),
        ({"asymmetry": "one side wider"}, np.array([-1, -0.5, 0, 0, 0]) * np.exp(-0.3)
         + np.array([0, 0, 0, 0.5, 1]) * np.exp(0.3)),
    ],
)  # fmt: skip
def test_criteria_lie_where_their_formula_places_them(slots, wanted):
    z = ndtri(above(probabilities(slots)))
    assert -0.5 * (z[0] + z[1])[::-1] - 0.2 == pytest.approx(np.asarray(wanted), abs=1e-9)


@pytest.mark.parametrize(
    ("strength", "wanted"),
    [("any strength", 1.5), ("in proportion", 0.375), ("a power", 0.75)],
)
def test_sensitivity_follows_from_strength_by_its_formula(strength, wanted):
    stimuli = recognition_trials([0, 1], [1.0, 0.25])
    z = ndtri(above(probabilities({"strength": strength}, stimuli)))
    assert z[1] - z[0] == pytest.approx(wanted, abs=1e-9)


def test_mirror_images_keep_the_middle_where_it_is():
    stimuli = recognition_trials([0, 1], [0.5, 0.5])
    z = ndtri(
        above(probabilities({"strength": "in proportion", "mirror": "mirror images"}, stimuli))
    )
    assert z[1] - z[0] == pytest.approx(0.75, abs=1e-9)
    assert -0.5 * (z[0] + z[1])[2] == pytest.approx(0.2, abs=1e-9)


def test_lures_give_a_share_of_the_evidence_of_old_items():
    stimuli = recognition_trials([0, 0], lure=[0, 1])
    z = ndtri(above(probabilities({"similarity": "similar items"}, stimuli)))
    assert z[1] - z[0] == pytest.approx(0.4 * 1.5, abs=1e-9)


def test_criteria_shift_by_log_odds_of_old_items():
    stimuli = recognition_trials([1, 1], old_share=[0.5, 0.8])
    z = ndtri(above(probabilities({"bias": ("response bias", "base rates")}, stimuli)))
    assert z[1] - z[0] == pytest.approx(0.5 * np.log(4), abs=1e-9)


def test_doubt_spreads_what_is_detected_over_categories_of_the_same_side():
    slots = {"evidence": "guesses", "detection": "old items", "report": "less than sure"}
    plain, doubted = probabilities({**slots, "report": ()}), probabilities(slots)
    weights = np.array([0.09, 0.3, 1.0]) / 1.39
    assert doubted[1, 3:] == pytest.approx(plain[1, 3:] - [0, 0, 0.3] + 0.3 * weights)
    assert doubted[1, :3] == pytest.approx(plain[1, :3])


def test_lapses_are_even_over_the_categories_of_the_scale():
    lapsed = probabilities({"lapse": "anything"}, lapse=0.3)
    assert lapsed == pytest.approx(0.7 * probabilities() + 0.3 / 6)


PRONOUNCED = {
    "sensitivity": log_uniform(1.0, 2.0, "x", "x"), "criterion": normal(0.0, 0.3, 1.0, "x", "x"),
    "spacing": log_uniform(0.3, 0.8, "x", "x"),
    "old_sd": log_uniform(1.2, 1.6, "x", "x"), "recollection": uniform(0.2, 0.6, "share", "x"),
    "rejection": uniform(0.2, 0.6, "share", "x"), "attention": uniform(0.4, 0.8, "share", "x"),
    "doubt": uniform(0.2, 0.6, "ratio", "x"),
}  # fmt: skip
"""Ranges in which what a theory states shows."""
MIDDLE = np.array([0.1, 0.5, 0.9])
RIVALS = ("sdt", "uvsd", "dual_process", "two_high_threshold")


def people_who_follow(name, **ranges):
    """A theory with pronounced numbers, as the truth of simulated responses."""
    composition = SEEDS[name][1]
    known = set(GRAMMAR.parameters(composition))
    own = {key: value for key, value in (PRONOUNCED | ranges).items() if key in known}
    source = GRAMMAR.write(Composition(composition.slots, own), "Hidden")
    return read_program(TheoryProgram(source, "test"))


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["sdt", "uvsd", "dual_process", "mixture", "two_high_threshold"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_population_of_forty_participants_is_recovered(hidden, seed):
    truth, form = people_who_follow(hidden), read_program(FAMILY.program(hidden))
    with Laboratory(DOMAIN, 1) as laboratory:
        taught = laboratory.simulate(
            [truth], DOMAIN.space({}), 40, np.random.default_rng(seed), n_draws=64, repetitions=100
        )
        (people,) = laboratory.people_of([form], [{}], taught)
    for name in {"sensitivity", "criterion", "spacing", "old_sd", "recollection"} & set(people):
        known, found = truth.priors[name].quantile(MIDDLE), people[name].quantile(MIDDLE)
        # a median of 40 has an error of 1.25 standard deviations over their root; parameters trade off besides
        error = 1.25 * (known[2] - known[0]) / 2.56 / np.sqrt(40)
        assert abs(found[1] - known[1]) < 4 * error, name


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["uvsd", "dual_process"])
def test_unequal_variances_and_two_processes_are_told_apart_and_never_mistaken(hidden):
    """In six samples of 40 participants nobody is clearly ahead of the truth; over all samples the truth leads."""
    forms = {name: read_program(FAMILY.program(name)) for name in RIVALS}
    truth, scores = people_who_follow(hidden), {name: [] for name in RIVALS}
    with Laboratory(DOMAIN, 1) as laboratory:
        for seed in range(6):
            taught, new = laboratory.simulate(
                [truth, truth],
                DOMAIN.space({}),
                40,
                np.random.default_rng(seed),
                n_draws=64,
                repetitions=100,
            )
            people = laboratory.people_of(list(forms.values()), [{}] * len(forms), [taught])
            for (name, form), own in zip(forms.items(), people, strict=True):
                evidence = laboratory.evidence(form.with_people(own), [new], 256)[0]
                scores[name].append(log_predictive(evidence))
    for name in set(RIVALS) - {hidden}:
        pairs = list(zip(scores[name], scores[hidden], strict=True))
        apart = [paired_difference([own], [of_truth]) for own, of_truth in pairs]
        assert all(item.interval[0] <= 0 for item in apart), name
        assert paired_difference(scores[name], scores[hidden]).interval[1] < 0, name


def rows_of(trials, condition):
    """Responses as the rows of a file, on a scale from 1 to 6."""
    place = trials.response - MOST
    return pd.DataFrame(
        {
            "subject": trials.participant,
            "condition": condition,
            "item": np.array(["new", "old"])[trials.stimuli["old"][trials.trial].astype(int)],
            "rating": np.where(place < 0, place + 4, place + 3),
        }
    )


@pytest.mark.slow
def test_instructions_are_found_to_shift_the_criterion_and_nothing_else():
    truths = [
        people_who_follow("sdt", criterion={**normal(0.0, 0.1, 1.0, "x", "x"), "mean": mean})
        for mean in (-0.25, 0.25)
    ]
    with Laboratory(DOMAIN, 1) as laboratory:
        lenient, strict = laboratory.simulate(
            truths, DOMAIN.space({}), 30, np.random.default_rng(1), n_draws=64, repetitions=40
        )
    frame = pd.concat([rows_of(lenient, "lenient"), rows_of(strict, "strict")])
    found = lakatos.effects(frame, "sdt", by="condition", domain="recognition").to_frame()
    criterion = found[found["parameter"] == "criterion"].iloc[0]
    assert criterion["p"] < 0.01
    assert criterion["estimate"] == pytest.approx(0.5, abs=0.15)
    assert (found.loc[found["parameter"] != "criterion", "p"] > 0.05).all()


TRACED = {name: composition for name, (_, composition) in SEEDS.items()}
TRACED["stretched"] = Composition({**BASE, "criteria": ("stretched",), "asymmetry": ("one side wider",)})  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACED)
def test_sources_have_a_finite_gradient_where_scales_differ_and_strengths_are_0(name):
    import pytensor
    import pytensor.tensor as pt

    from lakatos.theories.engine.sandbox.traced import TracedArray

    stimuli = Stimuli.concatenate(
        [
            recognition_trials([0, 1, 1], [1, 0, 0.5], lure=[1, 0, 0], old_share=0.3, categories=n)
            for n in (2, 5, 10)
        ]
    )
    values = {key: np.array([[USUAL[key]]]) for key in GRAMMAR.parameters(TRACED[name])}
    leaves = {key: pt.as_tensor_variable(value) for key, value in values.items()}
    traced = {key: TracedArray(leaves[key], values[key]) for key in values}
    choose = choose_of(GRAMMAR, TRACED[name])
    p = choose(traced, dict(stimuli.arrays), np)
    assert p.value == pytest.approx(choose(values, dict(stimuli.arrays), np))
    total = pt.log(p.tensor + 1e-300).sum()
    found = pytensor.function([], [p.tensor, *pytensor.grad(total, list(leaves.values()))])()
    assert found[0] == pytest.approx(p.value, abs=1e-12)
    assert all(np.isfinite(own).all() for own in found[1:])
