"""The report's figure of responses over the steps of a task."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from lakatos.domains.learning.task import steps
from lakatos.experiments.task import Stimuli
from lakatos.flows.report.learning_curve import curve_lines, is_first_stage, mean_point, step_of

TABLE = pd.DataFrame(
    {
        "step": np.tile(np.arange(8), 2),
        "condition": np.tile([0, 0, 0, 0, 1, 1, 1, 1], 2),
        "person": np.repeat(["1 0", "1 1"], 8),
        "observed": [0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1],
        "predicted": np.tile([0.1, 0.3, 0.5, 0.7, 0.6, 0.6, 0.4, 0.2], 2),
    }
)


def test_each_part_of_the_steps_has_the_mean_of_participants() -> None:
    observed, predicted = curve_lines(TABLE.assign(condition=0), (), "T1", "#t1")
    assert [point.x for point in observed.points] == [
        1,
        3,
        5,
        7,
    ]  # parts of two steps, counted from 1
    assert [point.value for point in observed.points] == [0.25, 1.0, 1.0, 0.5]
    assert [point.value for point in predicted.points] == pytest.approx([0.2, 0.6, 0.6, 0.3])
    assert (observed.name, predicted.name, predicted.tag) == ("observed", "predicted", "T1")
    assert not any(point.has_interval for point in predicted.points)


def test_each_condition_has_lines_of_its_own_steps() -> None:
    lines = curve_lines(TABLE, ("calm", "time_pressure"), "T1", "")
    assert [line.name for line in lines] == [
        "observed, calm",
        "predicted, calm",
        "observed, time pressure",
        "predicted, time pressure",
    ]
    assert [[point.x for point in line.points] for line in lines] == [
        [1, 3],
        [1, 3],
        [5, 7],
        [5, 7],
    ]


def test_a_participant_with_more_responses_counts_once() -> None:
    more = pd.concat([TABLE, *[TABLE[TABLE["person"] == "1 1"]] * 3])
    same, again = (curve_lines(table.assign(condition=0), (), "T1", "") for table in (TABLE, more))
    assert same == again


def test_intervals_are_those_of_a_t_test_over_participants() -> None:
    values = np.array([0.2, 0.4, 0.9, 0.5])
    found, expected = mean_point(3, values), ttest_1samp(values, 0.0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert not mean_point(3, values[:1]).has_interval


def test_schedules_one_after_the_other_begin_at_the_first_step() -> None:
    assert step_of(steps(3, 2)).tolist() == [0, 1, 2]
    assert step_of(Stimuli({"position": np.array([0.0, 1, 0, 1])})).tolist() == [0, 1, 0, 1]
    assert is_first_stage(steps(2, 2, stage=np.array([0, 1]))).tolist() == [True, False]
