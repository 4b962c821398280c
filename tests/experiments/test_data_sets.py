"""Experiments of several data sets are told apart by their names, and answers that measure other things are refused."""

from dataclasses import replace

import numpy as np
import pytest

from lakatos.experiments.data_sets import (
    check_alike,
    data_set_of,
    data_sets_of,
    left_out_with,
    named_by_data_set,
    published_name,
)
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli, Trials

TWO = ["1.1 risky_cpc18/cpc18", "2.1 risky_spektor2024/exp1-large-gains", "3.1 risky_cpc18/cpc18"]


def answers(name="cpc18", **changes) -> Trials:
    trials = Trials(
        experiment=name,
        stimuli=Stimuli({"x": np.arange(2.0)}),
        participant=np.array([0, 1]),
        trial=np.array([0, 1]),
        response=np.array([0, 1]),
        count=np.ones(2, dtype=np.int64),
    )
    return replace(trials, **changes)


@pytest.mark.parametrize(
    ("name", "data_set", "published"),
    [
        ("risky_cpc18/cpc18", "risky_cpc18", "cpc18"),
        ("2.1 risky_cpc18/cpc18", "risky_cpc18", "cpc18"),
        ("allais/kahneman_tversky_1979, new people", "allais", "kahneman_tversky_1979, new people"),
        ("cpc18", "", "cpc18"),
        ("mine/first", "", "mine/first"),
        ("risky_cpc18", "", "risky_cpc18"),
    ],
)
def test_a_name_says_the_data_set_and_what_the_experiment_is_called_there(
    name, data_set, published
):
    assert (data_set_of(name), published_name(name)) == (data_set, published)


def test_a_data_set_is_left_out_as_a_whole_where_there_are_several():
    assert data_sets_of(TWO) == ("risky_cpc18", "risky_spektor2024")
    assert left_out_with(TWO) == ["risky_cpc18", "risky_spektor2024", "risky_cpc18"]


@pytest.mark.parametrize("names", [["1", "2"], TWO[:1], [TWO[0], TWO[2]], [*TWO, "4.1 mine"]])
def test_else_each_experiment_is_left_out_by_itself(names):
    assert data_sets_of(names) == ()
    assert left_out_with(names) == names


def test_experiments_get_the_data_set_s_name_and_keep_their_answers():
    (named,) = named_by_data_set("risky_cpc18", [answers()])
    assert named.experiment == "risky_cpc18/cpc18"
    assert replace(named, experiment="cpc18").digest == answers().digest


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"n_options": 3}, "2 options in the one and 3 in the other"),
        ({"pooled": True, "participant": np.zeros(2, dtype=np.int64)}, "pooled = true"),
        ({"feedback": {"reward": np.ones(2)}}, "nothing in the one and reward in the other"),
    ],
)
def test_answers_that_measure_other_things_are_refused_with_both_names(other, problem):
    with pytest.raises(TrialsError, match=rf"allais/a and risky_cpc18/b .*{problem}"):
        check_alike([answers("allais/a"), answers("risky_cpc18/b", **other)])


def test_answers_of_one_measure_pass():
    check_alike([answers("allais/a"), answers("risky_cpc18/b")])
