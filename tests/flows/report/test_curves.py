"""The report's figures of curves: receiver operating characteristics, accuracy and times."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from lakatos.domains import DOMAINS
from lakatos.domains.perception.task import EDGES, perception_trials
from lakatos.domains.recognition.task import recognition_trials
from lakatos.experiments.curve import DomainCurve, HasCurves
from lakatos.experiments.task import Trials
from lakatos.flows.report import charts
from lakatos.flows.report.curves import curve_lines, of_participants

N_BINS = len(EDGES) - 1


def curve(y: list[float], x: tuple[float, ...] = (0.1, 0.2)) -> DomainCurve:
    return DomainCurve("t", "x", "y", {"": (np.array(x), np.array(y))})


def test_an_observed_point_is_the_mean_of_participants_with_its_interval() -> None:
    ys = [0.2, 0.4, 0.5]
    people = [curve([y, np.nan]) for y in ys]
    ((observed, predicted),) = curve_lines(people, curve([0.3, 0.6])).values()
    low, high = ttest_1samp(ys, 0).confidence_interval(0.95)
    assert observed[0] == pytest.approx([0.1, np.mean(ys), low, high])
    assert np.isnan(observed[1]).all()  # nobody answered there
    assert predicted.tolist() == [[0.1, 0.3], [0.2, 0.6]]


def test_one_participant_has_no_interval() -> None:
    ((observed, _),) = curve_lines([curve([0.2, 0.4])], curve([0.3, 0.6])).values()
    assert observed[:, 1].tolist() == [0.2, 0.4]
    assert np.isnan(observed[:, 2:]).all()


def recognised(experiment: str, said: list[int]) -> Trials:
    """One participant, a new and an old item four times each."""
    return Trials(
        experiment=experiment,
        stimuli=recognition_trials([0, 1], categories=2),
        participant=np.zeros(8, dtype=np.int64),
        trial=np.repeat([0, 1], 4),
        response=np.array(said),
        count=np.ones(8, dtype=np.int64),
        n_options=11,
    )


def test_participants_of_other_experiments_have_curves_of_their_own() -> None:
    domain = DOMAINS["recognition"]
    assert isinstance(domain, HasCurves)
    parts = [recognised("1", [4, 4, 4, 6, 6, 6, 6, 4]), recognised("2", [4, 4, 6, 6, 6, 6, 6, 6])]
    found = of_participants(domain, parts)
    points = [tuple(own[0].lines["old items"]) for own in found]
    assert [(x.tolist(), y.tolist()) for x, y in points] == [([0.25], [0.75]), ([0.5], [1.0])]


def test_accuracy_and_times_of_right_responses_are_those_of_each_strength() -> None:
    domain = DOMAINS["perception"]
    shares = np.zeros((3, 2 * N_BINS))
    shares[0, [2, N_BINS + 5]] = 0.6, 0.4
    shares[1, [4, N_BINS + 5]] = 0.2, 0.8
    shares[2] = np.nan
    stimuli = perception_trials([0.5, 0.5, 1.0], [-1, 1, 1])
    accuracy, times = domain.curves(stimuli, shares, np.array([10.0, 30.0, 0.0]))
    middle = np.array(domain.scale.places)
    x, y = accuracy.lines["responses"]
    assert x.tolist() == [0.5, 1.0]
    assert y[0] == pytest.approx((0.6 * 10 + 0.2 * 30) / 40)
    assert np.isnan(y[1])
    assert times.lines["responses"][1][0] == pytest.approx((middle[2] + middle[4]) / 2)


def test_a_drawn_curve_keeps_its_numbers_and_draws_no_mark_without_responses() -> None:
    people = [curve([y, np.nan]) for y in (0.2, 0.4)]
    predicted = curve([0.3, 0.6])
    drawing = charts.domain_curve(curve_lines(people, predicted), predicted, "T1", 356)
    assert [row["predicted y"] for row in drawing.rows] == [0.3, 0.6]
    assert drawing.rows[0]["observed y"] == pytest.approx(0.3)
    assert drawing.svg.count('class="mark') == 1
