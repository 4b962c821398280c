"""Models that only predict stand beside theories, taught by other people's answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.notebook.predictors import LEAST, scores_of_predictor
from tests.flows.notebook.test_groups import two_groups


@pytest.fixture(scope="module")
def answers() -> lakatos.PeoplesAnswers:
    return lakatos.adopt(two_groups(0.01))


def test_an_estimator_that_knows_shares_alone_has_the_score_of_these_shares(answers) -> None:
    (item,) = answers.trials
    (found,) = scores_of_predictor("shares", DummyClassifier(strategy="prior"), [item])
    expected = np.zeros(item.n_people)
    for part in range(5):
        own = item.participant % 5 == part
        share = item.response[~own].mean()
        log_p = np.where(item.response == 1, np.log(share), np.log(1 - share))
        np.add.at(expected, item.participant[own], log_p[own])
    assert found.log_predictive == pytest.approx(expected)
    assert (found.n_choices == 12).all()


@pytest.mark.slow
def test_rivals_stand_in_the_table_of_scores(answers) -> None:
    rivals = {"boosting": HistGradientBoostingClassifier(max_iter=20), "line": LinearRegression()}
    table = lakatos.score(answers, ["hyperbolic", "random"], rivals=rivals, n_workers=1).set_index(
        "theory"
    )
    assert table.index[0] == "hyperbolic"
    assert (
        table.loc["random", "score"]
        < table.loc["boosting", "score"]
        < table.loc["hyperbolic", "score"]
    )
    assert table.loc["line", "claim"] == "only predicts"
    assert pd.isna(table.loc["line", "parameters"])


def test_counts_are_predicted_from_other_trials(answers) -> None:
    pooled = answers.trials[0].in_counts()
    (found,) = scores_of_predictor("line", LinearRegression(), [pooled])
    assert len(found.n_choices) == len(pooled.stimuli)
    assert found.n_choices.sum() == pooled.count.sum()
    assert found.log_predictive.min() >= found.n_choices.max() * np.log(LEAST / 2)


def test_of_several_experiments_one_is_predicted_from_the_others(answers) -> None:
    (item,) = answers.trials
    seen = []

    class Watching(DummyClassifier):
        def fit(self, conditions, observations):
            seen.append(len(conditions))
            return super().fit(conditions, observations)

    scores_of_predictor(
        "watching", Watching(strategy="prior"), [item, item.of_people(np.arange(32) < 10)]
    )
    assert seen == [120, 384]


def test_columns_are_words_that_a_formula_can_have(answers) -> None:
    seen = []

    class Looks(DummyClassifier):
        def fit(self, conditions, observations):
            seen.extend(conditions.columns)
            return super().fit(conditions, observations)

    scores_of_predictor("shares", Looks(strategy="prior"), answers.trials)
    assert {"delays_days_0", "delays_days_1"} <= set(seen)
    assert all(name.isidentifier() for name in seen)


class Sure:
    def fit(self, conditions, observations):
        return self

    def predict(self, conditions):
        return np.full(len(conditions), 7.0)


def test_what_predicts_no_probabilities_is_refused(answers) -> None:
    with pytest.raises(TrialsError, match="Sure predicts -6 to 7, which are no probabilities"):
        scores_of_predictor("Sure", Sure(), answers.trials)
    with pytest.raises(TrialsError, match="odd is a str; a rival has fit and predict"):
        lakatos.score(answers, ["random"], rivals={"odd": "x"})
    broken = LinearRegression(fit_intercept="perhaps")
    with pytest.raises(TrialsError, match="broken cannot be taught"):
        scores_of_predictor("broken", broken, answers.trials)
