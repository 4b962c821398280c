"""Measures of detection against worked examples and closed forms."""

import numpy as np
import pytest
from scipy.special import ndtr

from lakatos.domains.recognition.measures import detection_measures, measures_of, roc_curve
from lakatos.domains.recognition.task import recognition_trials
from lakatos.experiments.task import Trials


def counts(new, old, categories):
    """Counts of a scale in the places of its categories."""
    there = recognition_trials([0], categories=categories)["available"][0] > 0
    made = np.zeros((2, 11))
    made[:, there] = [new, old]
    return made


def test_the_example_of_a_published_program_is_reproduced():
    """Function ``signal`` of Bonett's statpsych (82 of 100 hits, 46 of 100 false alarms), after Wickens (2002)."""
    d_prime, criterion, _ = measures_of(counts([54, 46], [18, 82], 2))
    assert d_prime == pytest.approx(1.002793, abs=1e-6)
    assert criterion == pytest.approx(-0.4019603, abs=1e-6)


def test_the_area_is_the_share_of_pairs_in_which_the_old_item_has_the_higher_response():
    new, old = [3, 2, 1, 0], [0, 1, 2, 3]
    (_, _, area) = measures_of(counts(new, old, 4))
    places = [np.repeat(np.arange(4), own) for own in (new, old)]
    pairs = np.subtract.outer(places[1], places[0])
    assert area == pytest.approx((pairs > 0).mean() + 0.5 * (pairs == 0).mean())


def test_the_area_of_a_fine_scale_is_nearly_that_of_normal_evidence():
    cut = np.linspace(-1.6, 1.6, 9)
    new, old = (np.diff(ndtr(np.r_[-np.inf, cut - mean, np.inf])) for mean in (-0.5, 0.5))
    (_, _, area) = measures_of(counts(new, old, 10))
    assert area == pytest.approx(ndtr(1 / 2**0.5), abs=0.01)


def answers():
    """Two participants, 4 responses each to a new item and to a weak and a strong old one."""
    stimuli = recognition_trials([0, 1, 1], [1.0, 0.5, 1.0], categories=2)
    said = [[4, 4, 4, 6], [4, 6, 4, 6], [6, 6, 6, 4]] * 2
    return Trials(
        experiment="answers",
        stimuli=stimuli,
        participant=np.repeat([0, 1], 12),
        trial=np.tile(np.repeat([0, 1, 2], 4), 2),
        response=np.ravel(said),
        count=np.ones(24, dtype=np.int64),
        n_options=11,
    )


def test_each_strength_has_its_points():
    trials = answers()
    curve = roc_curve(trials.stimuli, trials.proportions, trials.totals.sum(axis=1))
    points = {name: (x.tolist(), y.tolist()) for name, (x, y) in curve.lines.items()}
    assert points == {"strength 0.5": ([0.25], [0.5]), "strength 1": ([0.25], [0.75])}


def test_points_begin_at_the_strictest_criterion_and_trials_without_responses_do_not_count():
    stimuli = recognition_trials([0, 1, 1], categories=4)
    shares = np.zeros((3, 11))
    shares[:, [3, 4, 6, 7]] = [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [np.nan] * 4]
    ((x, y),) = roc_curve(stimuli, shares, np.array([2, 5, 0])).lines.values()
    assert x == pytest.approx([0.1, 0.3, 0.6])
    assert y == pytest.approx([0.4, 0.7, 0.9])


def test_each_strength_has_its_measures():
    table = detection_measures(answers())
    assert table["n_participants"].tolist() == [2] * 6
    strong = table[(table["strength"] == 1.0) & (table["measure"] == "area")].iloc[0]
    assert (strong["mean"], strong["low"], strong["high"]) == pytest.approx((0.75, 0.75, 0.75))
