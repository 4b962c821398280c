"""Theories of subjective randomness against closed forms."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lakatos.domains.sequences import measures, mechanisms
from lakatos.domains.sequences.task import SequencesDomain, sequences
from lakatos.domains.sequences.theories import FAMILY, GRAMMAR, SEEDS
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.language.grammar import Composition, composition_of
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import read_program
from tests.domains.mechanisms import choose_of, one_mechanism_each

DOMAIN = SequencesDomain()
BASE = {"choice": ("logistic",)}
EACH_WITH_AN_ACCOUNT = {"account": ("difficulty of encoding",), **BASE}
ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, EACH_WITH_AN_ACCOUNT)


def p_of(composition, pair, **parameters):
    columns = {name: np.array([[value]]) for name, value in parameters.items()}
    return choose_of(GRAMMAR, composition)(columns, dict(sequences([pair], "HT").arrays), np)[0, 0]


def evidence_of(name, pair, **parameters):
    p = p_of(SEEDS[name][1], pair, lapse=0.0, **parameters)
    return np.log(p / (1 - p))


def priors_of(composition):
    return {
        name: parse_prior(name, literal)
        for name, literal in GRAMMAR.parameters(composition).items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_published_theories_pass_all_checks(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.broadcasts
    assert theory.claim.startswith("People ")


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_gives_probabilities_that_follow_the_sequences(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    draws = check_points(priors_of(composition), np.random.default_rng(0))
    draws = {name: value[:, None] for name, value in draws.items()}
    choose = choose_of(GRAMMAR, composition)
    with np.errstate(all="raise", under="ignore"):
        here = choose(draws, dict(stimuli.arrays), np)
        there = choose(draws, dict(DOMAIN.swap_sides(stimuli).arrays), np)
    assert here.shape[1:] == (len(stimuli),)
    assert here.min() >= 0
    assert here.max() <= 1
    if "bias" not in composition.slots:
        assert there == pytest.approx(1 - here, abs=1e-9)


def test_sources_name_their_mechanisms_and_read_back():
    for name, (title, composition) in SEEDS.items():
        theory = read_program(FAMILY.program(name))
        assert theory.name == title
        assert composition_of(theory.composition, {}).key == composition.key


def test_theories_measure_sequences_as_features_do():
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0))[:4])
    letters, alphabet = stimuli["letters"], stimuli["alphabet"]
    helpers = {}
    exec("\n".join(mechanisms.HELPERS), helpers)
    for name, own in (
        ("longest_streak", measures.longest_run(letters)),
        ("description", measures.encoding(letters)),
        ("mirrored", measures.is_mirrored(letters)),
        ("motif", measures.repeats_motif(letters)),
    ):
        assert helpers[name](letters, np) == pytest.approx(1.0 * own), name
    assert helpers["unevenness"](letters, alphabet, np) == pytest.approx(
        measures.imbalance(letters, alphabet)
    )


def test_random_choice_ignores_what_is_shown():
    assert p_of(SEEDS["random"][1], ("HHHH", "HTHT"), lapse=0.3) == pytest.approx(0.5)


def test_lapses_mix_in_even_odds():
    sober = p_of(SEEDS["encoding"][1], ("HHHH", "HTTH"), lapse=0.0, difficulty=0.7)
    lapsed = p_of(SEEDS["encoding"][1], ("HHHH", "HTTH"), lapse=0.2, difficulty=0.7)
    assert lapsed == pytest.approx(0.1 + 0.8 * sober)


def test_difficulty_of_encoding_is_the_difference_in_units():
    # HHHH takes one unit, HTTH three
    assert evidence_of("encoding", ("HHHH", "HTTH"), difficulty=0.7) == pytest.approx(1.4)


def test_representativeness_weighs_the_rate_of_changes_and_balance():
    found = evidence_of(
        "representativeness",
        ("HTHTHT", "HHTTHT"),
        ideal_alternation=0.6,
        weight_of_rate=5.0,
        weight_of_balance=3.0,
    )
    # changes of 1 and of 3/5; both sequences are balanced
    assert found == pytest.approx(5.0 * (0.4 - 0.0))
    found = evidence_of(
        "representativeness",
        ("HHTTHT", "HHHTTH"),
        ideal_alternation=0.6,
        weight_of_rate=5.0,
        weight_of_balance=3.0,
    )
    assert found == pytest.approx(-5.0 * (0.6 - 0.4) - 3.0 * abs(4 / 6 - 0.5))


def regular(text, stays, ratio):
    """Probability of a sequence under the regular process, by adding up every path of motifs."""
    new = {"streak": 1 / (2 * (1 + ratio)), "alternation": ratio / (2 * (1 + ratio))}
    total = 0.0
    for path in product(new, repeat=len(text)):
        for fresh in product((True, False), repeat=len(text) - 1):
            p = new[path[0]]
            for place, begins in enumerate(fresh, start=1):
                changed = text[place] != text[place - 1]
                if begins:
                    p *= (1 - stays) * new[path[place]]
                else:
                    follows = changed == (path[place] == "alternation")
                    p *= stays * (path[place] == path[place - 1]) * follows
            total += p
    return total


@pytest.mark.parametrize("pair", [("HTHT", "HHTH"), ("HHHH", "HT"), ("TTHT", "HTTHH")])
def test_inference_compares_fair_chance_with_the_regular_process(pair):
    stays, ratio = 0.7, 0.4
    first, second = (-len(own) * np.log(2) - np.log(regular(own, stays, ratio)) for own in pair)
    found = evidence_of("bayesian", pair, stays=stays, motif_of_two=ratio, trust=1.5)
    assert found == pytest.approx(1.5 * (second - first))


def test_the_regular_process_is_a_probability():
    total = sum(regular("".join(own), 0.7, 0.4) for own in product("HT", repeat=4))
    assert total == pytest.approx(1)


def test_local_balance_judges_windows_of_four():
    # HHHHTTTT: surpluses .5, .25, 0, .25, .5; HTHT: 0
    found = evidence_of("local_balance", ("HHHHTTTT", "HTHT"), weight_of_windows=2.0)
    assert found == pytest.approx(2.0 * (1.5 / 5))
    # shorter than the window: the whole sequence
    found = evidence_of("local_balance", ("HHT", "HT"), weight_of_windows=2.0)
    assert found == pytest.approx(2.0 * (2 / 3 - 0.5))


def test_features_add_up():
    found = evidence_of(
        "regularities",
        ("HHHH", "HTHTHT"),
        pull_of_streak=-2.0,
        pull_of_mirror=-0.5,
        pull_of_motif=-0.25,
        pull_of_alternating_throughout=-1.0,
    )
    assert found == pytest.approx(-2.0 * (1 / 6 - 1) + 0.5 - 0.25 - 1.0)


def test_deterministic_choice_takes_what_looks_more_random():
    composition = Composition(
        {"account": ("difficulty of encoding",), "choice": ("deterministic",)}
    )
    assert p_of(composition, ("HHHH", "HTTH"), difficulty=0.01) == 1
    assert p_of(composition, ("HTTH", "HTTH"), difficulty=0.01) == 0.5
