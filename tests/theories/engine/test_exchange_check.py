"""Clauses without a number are tried by exchanging the part of the theory that they tell."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.clause_check import LEAST, share_reversed
from lakatos.theories.engine.checks.exchange_check import exchanges, try_exchanges
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN, FAMILY = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
SPACE = {"levels": [0, 1, 2, 3], "validities": [0.9, 0.8, 0.7, 0.6]}
SPACES = {"multiattribute": SPACE, "risky": {}}


@pytest.fixture(scope="module")
def laboratory():
    with Laboratory(DOMAIN, n_workers=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def trials() -> Stimuli:
    return DOMAIN.candidates(SPACE, np.random.default_rng(0), 40)


def tried(laboratory: Laboratory, name: str, trials: Stimuli) -> dict[str, tuple[bool, str]]:
    theory = read_program(FAMILY.program(name))
    found = laboratory.with_sandbox(partial(try_exchanges, theory, FAMILY.grammar, trials=[trials]))
    return {item.clause.wording.clause: (item.idle, item.sentence) for item in found}


def test_what_only_one_way_of_deciding_says_is_tried_against_another(laboratory, trials) -> None:
    found = tried(laboratory, "take_the_best", trials)
    idle, sentence = found[
        "decide by the most valid cue on which the products differ and ignore the rest"
    ]
    assert not idle
    assert "if instead they sum over all cues, probabilities change by" in sentence
    # Any weights that keep the order of validities name the same most valid cue, so none are stated.
    assert "weight cues by their validity" not in found


def test_a_part_that_the_plainest_other_does_not_change_is_tried_against_the_next(
    laboratory, trials
) -> None:
    """Sums and means over as many cues choose alike where only signs are weighed alike; one good reason does not."""
    idle, sentence = tried(laboratory, "tallying", trials)["sum over all cues"]
    assert not idle
    assert "average" not in sentence.split(";")[1].split(",")[0]


def test_what_no_trial_can_show_is_idle(laboratory, trials) -> None:
    """Products that nobody can tell apart: whatever is done with the cues, nothing changes."""
    first = trials["ratings"][:, :1]
    alike = Stimuli({**trials.arrays, "ratings": np.repeat(first, 2, axis=1)})
    found = tried(laboratory, "tallying", alike)
    assert all(idle for idle, _ in found.values())
    assert "no probability changes here" in found["sum over all cues"][1]


def test_clauses_with_numbers_and_theories_of_others_have_no_exchanges() -> None:
    theory = read_program(FAMILY.program("take_the_best"))
    with_numbers = {clause.clause for clause in theory.clauses if clause.parameter}
    said = {
        clause.wording.clause
        for item in exchanges(theory, FAMILY.grammar)
        for clause in item.clauses
    }
    assert said
    assert not said & with_numbers
    assert not list(exchanges(replace(theory, composition=None), FAMILY.grammar))


def test_people_who_learn_are_asked_along_the_same_answers() -> None:
    family, domain = FAMILIES["learning"], DOMAINS["learning"]
    theory = read_program(family.program("choice_kernel"))
    schedule = domain.candidates({}, np.random.default_rng(1), 20)
    with Laboratory(domain, n_workers=1) as opened:
        found = opened.with_sandbox(
            partial(try_exchanges, theory, family.grammar, trials=[schedule])
        )
    (item,) = [
        each
        for each in found
        if each.clause.wording.clause == "do not update the values of the options"
    ]
    assert not item.idle
    assert item.size > 0.05


@pytest.mark.parametrize(
    ("domain", "seed", "slot", "name", "parameter", "ends"),
    [
        ("risky", "expected_value", "twist", "too good to be true", "credulity", (0.5, 50.0)),
        (
            "multiattribute", "weighted_additive", "appraisal", "suspicious_lead", "credible_lead",
            (0.1, 6.0),
        ),
        (
            "multiattribute", "weighted_additive", "comparison", "suspicious_difference",
            "credible_difference", (0.1, 5.0),
        ),
    ],
)  # fmt: skip
def test_distrust_is_told_only_where_presented_trials_lie_beyond_the_turning_point(
    domain, seed, slot, name, parameter, ends
) -> None:
    """Before it choices change as well, but nobody takes the other option."""
    family, task = FAMILIES[domain], DOMAINS[domain]
    trials = task.candidates(SPACES[domain], np.random.default_rng(0), 40)
    found, usual = {}, {"sensitivity": 1.0}
    with Laboratory(task, n_workers=1) as opened:
        for value in ends:
            slots = {**family.seeds[seed][1].slots, slot: (name,)}
            priors = {}
            for name_of, literal in family.grammar.parameters(Composition(slots)).items():
                prior = parse_prior(name_of, literal)
                center = value if name_of == parameter else usual.get(name_of, prior.quantile(0.5))
                priors[name_of] = prior.narrowed(float(prior.latent(center)), 0.01).to_literal()
            source = family.grammar.write(Composition(slots, priors))
            theory = read_program(TheoryProgram(source, "grammar"))
            tried = opened.with_sandbox(
                partial(try_exchanges, theory, family.grammar, trials=[trials])
            )
            (found[value],) = [item for item in tried if item.clause.wording.reverses_choices]
    early, late = (found[value] for value in ends)
    assert not early.idle
    assert late.idle
    assert "no trial here can test this" in late.sentence
    assert late.size >= LEAST  # it changes choices all the same


def test_a_trial_counts_as_reversed_only_where_another_option_is_preferred() -> None:
    own = np.array([[[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.3, 0.7]]])
    other = np.array([[[0.2, 0.8], [0.1, 0.9], [0.1, 0.9], [0.5 + 1e-9, 0.5 - 1e-9]]])
    assert share_reversed([own], [other]) == 1 / 4
