"""Builders of anchor items: balanced, disjoint, described as the loop describes them, and right about the truth."""

import re

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.domains.published_data import load_archive
from lakatos.experiments.task import Trials
from lakatos.judges.anchor import AnchorItem, components
from lakatos.judges.description import ScoredExperiment, describe, favoured
from lakatos.judges.errors import AnchorError
from lakatos.judges.feature import FEATURES, features_of
from lakatos.judges.items.ground_truth import archived_items, machine_theory, simulated_items
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.language.theory import read_program

NAME = "intertemporal"
pytestmark = pytest.mark.slow
DOMAIN, FAMILY = DOMAINS[NAME], FAMILIES[NAME]


@pytest.fixture(scope="module")
def laboratory():
    with Laboratory(DOMAIN, 1) as running:
        yield running


@pytest.fixture(scope="module")
def items(laboratory):
    return simulated_items(DOMAIN, FAMILY, laboratory, np.random.default_rng(1), 8)


def test_origin_and_label_fill_all_cells_evenly(items):
    cells = [(item.strata["origin"], item.strata["quality"]) for item in items]
    assert {cell: cells.count(cell) for cell in cells} == {
        (origin, quality): 2 for origin in ("human", "machine") for quality in ("good", "bad")
    }
    assert all((item.strata["quality"] == "good") == item.label for item in items)
    assert all(item.strata["domain"] == NAME for item in items)


def test_no_two_simulated_items_share_a_problem_or_a_person(items):
    assert len(set(components(items))) == len(items)


def test_items_have_every_feature_and_read_back(items):
    for item in items:
        assert set(features_of(item.submission)) == set(FEATURES)
        assert AnchorItem.from_json(item.to_json()).digest == item.digest
    assert {item.submission.features["machine_written"] for item in items} <= {-1.0, 0.0, 1.0}


def test_the_same_seed_builds_the_same_items(laboratory, items):
    first, second = (
        simulated_items(DOMAIN, FAMILY, laboratory, np.random.default_rng(2), 2) for _ in range(2)
    )
    assert [item.digest for item in first] == [item.digest for item in second]


def test_a_theory_that_is_true_is_the_one_that_is_favoured(items):
    true = [
        (item.label, item.submission.candidate[:6] in item.provenance)
        for item in items
        if {item.submission.candidate[:6], item.submission.incumbent[:6]}
        & set(re.findall(r"\w{6}", item.provenance))
    ]
    assert len(true) > 2
    assert all(label == candidate for label, candidate in true)


def test_where_nothing_can_be_settled_it_says_so(laboratory):
    with pytest.raises(AnchorError, match="only 0 of 1 comparisons of intertemporal were settled"):
        simulated_items(DOMAIN, FAMILY, laboratory, np.random.default_rng(1), 1, settled=1e6)


def test_machine_theories_are_readable_and_differ_from_published_ones():
    rng = np.random.default_rng(2)
    published = {FAMILY.program(name).digest for name in FAMILY.seeds}
    found = [machine_theory(FAMILY, rng) for _ in range(10)]
    assert sum(theory.digest not in published for theory in found) == 10
    assert all(theory.claim for theory in found)


def people(n_people, n_trials, rng):
    """Answers of people who mostly wait, to pairs of amounts."""
    stimuli = DOMAIN.candidates({}, rng, n_trials)
    shape = (n_people, n_trials)
    return Trials(
        experiment="made up",
        stimuli=stimuli,
        participant=np.repeat(np.arange(n_people), n_trials),
        trial=np.tile(np.arange(n_trials), n_people),
        response=(rng.random(shape) < 0.9).astype(int).ravel(),
        count=np.ones(n_people * n_trials, dtype=int),
        n_people=n_people,
    )


def test_blocks_of_an_archive_share_neither_trials_nor_people(laboratory):
    trials = people(60, 48, np.random.default_rng(3))
    found = archived_items(
        [trials], DOMAIN, FAMILY, laboratory, np.random.default_rng(4), n_blocks=3, n_pairs=4
    )
    blocks = {}
    for item in found:
        blocks.setdefault(item.people, set()).update(item.problems)
    assert len(blocks) > 1
    sets = list(blocks.values())
    assert not any(sets[i] & sets[j] for i in range(len(sets)) for j in range(i))
    assert len(set(components(found))) == len(blocks)
    assert all("made up, block" in item.provenance for item in found)


def test_published_counts_give_items_without_people(laboratory, data_folder):
    with Laboratory(DOMAINS["risky"], 1) as risky:
        archive = load_archive("risky_cpc18", data_folder)
        found = archived_items(
            archive[:1],
            DOMAINS["risky"],
            FAMILIES["risky"],
            risky,
            np.random.default_rng(5),
            n_blocks=2,
            n_pairs=3,
        )
    assert found
    assert {item.people for item in found} == {()}


def test_the_description_by_hand():
    one, other = (read_program(FAMILY.program(name)) for name in ("hyperbolic", "exponential"))
    observed = np.array([[0.4, 0.6], [0.2, 0.8]])
    own = ScoredExperiment(
        UnitScores(np.array([-1.0, -3.0]), np.array([2.0, 2.0])),
        np.array([[0.4, 0.6], [0.3, 0.7]]),
        observed,
    )
    rival = ScoredExperiment(
        UnitScores(np.array([-2.0, -2.5]), np.array([2.0, 2.0])), np.full((2, 2), 0.5), observed
    )
    found = describe(one, other, [own], [rival], machine_written=(True, False))
    assert found.advantage == pytest.approx((1.0 - 0.5) / 4)
    assert found.n_choices == 4
    assert found.distance == pytest.approx(np.sqrt((2 * 0.1**2 + 2 * 0.2**2) / 4))
    assert found.features["share_favouring"] == 0.5
    assert found.features["error_difference"] == pytest.approx((0.1**2 + 0.3**2) / 2 - 0.1**2 / 2)
    assert found.features["boldness"] == pytest.approx(0.15)
    assert found.features["machine_written"] == 1.0
    assert favoured([own], [rival])[0] == found.advantage
