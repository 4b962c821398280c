"""The competition's problems, as published."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from lakatos.domains.risky.archives.cpc18 import FILE, READER, people_behind
from lakatos.domains.risky.task import RiskyDomain
from lakatos.experiments.errors import DataMissingError


@pytest.fixture(scope="module")
def folder(data_folder, require):
    place = data_folder / READER.directory
    require((place / FILE).is_file(), f"{place / FILE} is missing")
    return place


@pytest.fixture(scope="module")
def trials(folder):
    (experiment,) = READER.read(folder)
    return experiment


def test_the_file_is_the_cited_one(folder):
    assert READER.source is not None
    assert hashlib.sha256((folder / FILE).read_bytes()).hexdigest() == READER.source.files[FILE]


def per_problem(trials):
    """Rates of B and choices of the 210 problems; 13 and 20 repeat 12 and 19."""
    rows = np.insert(np.arange(208), [12, 18], [11, 17])
    return trials.proportions[rows, 1], trials.counts.sum(axis=(0, 2))[rows]


def test_210_problems_make_208_distinct_admissible_trials(trials):
    RiskyDomain().check(trials.stimuli)
    assert len(trials.stimuli) == len(set(trials.stimuli.keys)) == 208
    assert trials.pooled


def test_the_rates_are_the_published_ones(trials):
    rates, _ = per_problem(trials)
    assert len(rates) == 210
    assert rates.mean() == pytest.approx(0.488, abs=5e-4)
    assert 100 * rates.var() == pytest.approx(5.93, abs=0.01)
    assert rates[:3] == pytest.approx([0.4224, 0.6128, 0.5792])
    assert rates[11] == pytest.approx((0.3376 + 0.3616) / 2)  # problems 12 and 13
    assert rates[-1] == pytest.approx(0.638983051)


def test_the_people_behind_every_problem_are_recovered(trials):
    _, choices = per_problem(trials)
    people = choices / 5
    repeated = [11, 12, 18, 19]
    assert set(people[repeated]) == {250}
    assert set(np.delete(people[:30], repeated)) == {125}
    assert set(people[30:150]) == {80, 81}
    assert people[150:].min() >= 112
    assert people[150:].max() <= 120


def test_the_sampling_noise_is_the_published_one(trials):
    rates, choices = trials.proportions[:, 1], trials.counts.sum(axis=(0, 2))
    # the published 0.115 allows for answers of one person being alike; separate choices would vary less
    assert 0.02 < 100 * np.mean(rates * (1 - rates) / choices) < 0.115


def test_chances_that_people_did_not_see_are_not_in_the_stimuli(trials):
    hidden = trials.stimuli["ambiguous"][:, 1] == 1
    assert hidden.sum() == 28
    assert trials.stimuli["probabilities"][19, 1, :2].tolist() == [
        0.5,
        0.5,
    ]  # problem 22, in truth 0.9 and 0.1


def test_people_are_the_smallest_number_that_makes_whole_choices():
    assert people_behind([0.4224, 0.5712], problem=1) == 125
    with pytest.raises(ValueError, match="no number of people"):
        people_behind([np.sqrt(0.2)], problem=1)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(DataMissingError, match="fetch"):
        READER.read(tmp_path)
