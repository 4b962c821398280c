"""Estimating functions: features by hand, what is refused, what is read."""

import json

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.estimation.archives.little2024 import READER, read_record
from lakatos.domains.estimation.task import EstimationDomain, asked
from lakatos.domains.published_data import load_archive
from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.experiments.testing import DomainContract

DOMAIN = EstimationDomain()
POINTS = [(-0.5, -0.4), (0.0, 0.2), (0.5, 0.6)]
GRAPH = "".join(f"x={x / 10}, y={x / 20}\n" for x in range(6))
TASK = (
    "In task 1, the six input-output pairs you saw on the graph were as follows:\n"
    + GRAPH
    + "Now, you predict the values for outputs, y, for different values of input, x:\n"
    "x=-0.7912, you predict y = <<-0.8422>>.\nx=-0.7912, you predict y = <<-0.8422>>.\n"
    "x=0.0266, you predict y = <<-0.075>>.\n"
)


class TestEstimation(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["estimation"]

    @pytest.fixture
    def settings(self):
        return {"n_points": [6], "n_samples": 1}

    @pytest.fixture
    def empty_settings(self):
        return {"n_samples": 0}


def test_features_are_those_that_a_hand_finds():
    found = DOMAIN.features(asked([POINTS, POINTS], [0.1, 0.8]))
    assert found["slope"] == pytest.approx(1.0)
    assert found["line_y"] == pytest.approx([0.4 / 3 + 0.1, 0.4 / 3 + 0.8])
    assert found["nearest_y"].tolist() == [0.2, 0.6]
    assert found["nearest_distance"] == pytest.approx([0.1, 0.3])
    assert found["beyond"] == pytest.approx([0.0, 0.3])


@pytest.mark.parametrize(
    ("points", "query", "words"),
    [
        ([(0, 0)], 0.0, "at least two points"),
        (POINTS, 1.2, "places are from -1 to 1"),
        ([(0, 3), (1, 0)], 0.0, "points are from -2 to 2"),
    ],
)
def test_trials_that_cannot_be_asked_are_refused(points, query, words):
    with pytest.raises(StimuliError, match=words):
        DOMAIN.check(asked([points], [query]))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"shapes": ["circle"]}, "unknown shapes: circle"),
        ({"noise": 3.0}, "setting noise is 3.0; give 0.0 to 0.5"),
        ({"points": 3}, "unknown settings of the estimation domain: points"),
        ({"n_points": [40]}, "n_points: give numbers from 2 to 24"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(StimuliError, match=words):
        DOMAIN.space(settings)


def test_published_answers_are_bins_of_the_heights_that_people_drew(data_folder, require):
    require((data_folder / READER.name).is_dir(), f"the data set {READER.name} is missing")
    sparse, dense = load_archive(READER.name, data_folder)
    for trials, n_points in ((sparse, 6), (dense, 24)):
        DOMAIN.check(trials.stimuli)
        assert trials.n_people == 127
        assert trials.n_options == 22
        assert (trials.stimuli["shown"].sum(axis=1) == n_points).all()
        # people follow the points: the mean answer goes along with the line through them
        mean = trials.proportions @ np.array(DOMAIN.scale.places)
        line = DOMAIN.features(trials.stimuli)["line_y"]
        assert np.corrcoef(mean, line)[0, 1] > 0.5


def test_the_end_of_a_curve_is_read_once_and_places_are_those_of_the_measurement():
    answers = read_record(json.dumps({"text": TASK}), "here")
    assert [(place, height) for _, place, height in answers] == [
        (-0.7949, -0.8422),
        (0.0256, -0.075),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TASK.replace("x=0.5, y=0.25\n", ""), "graph 1 has 5 points"),
        (TASK.replace("<<-0.075>>", "<<high>>"), "an answer to graph 1 is no number"),
    ],
)
def test_damaged_records_are_refused(text, words):
    with pytest.raises(TrialsError, match=f"here: .*{words}"):
        read_record(json.dumps({"text": text}), "here")
