"""On which responses rivals are compared, which published theories stand beside them, and who is ahead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.experiments.record import SealedOpened
from lakatos.experiments.task import Trials
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.record import SealedScored, UnitLogPredictives
from lakatos.theories.engine.scoreboard import LEAST_SEALED
from lakatos.theories.engine.scoring.score import UnitScores, paired_difference
from lakatos.theories.findings.generic_learners.learners import LearnerPrediction
from lakatos.theories.findings.verdicts.company import (
    SEALED,
    CompanyAnswers,
    CompanyFound,
    _measured,
    _scores_in_pool,
    answers_of_company,
    fit_published,
    learn_generically,
)
from lakatos.theories.language.theory import read_program
from lakatos.traces.step import Recorded

EXPERIMENTS = ("1.1", "2.1")


def with_sealed(evidence: TheoryEvidence, n_trials: int) -> TheoryEvidence:
    """The second experiment's responses sealed, on which each theory has a log score of its place in the pool."""
    table = evidence.experiments.collected["2.1"].record.trials
    opened = SealedOpened(experiments=("2.1",), trials=(table,), n_trials=n_trials, n_responses=100)
    sealed = {
        name: Recorded(
            SealedScored(
                theory=name, experiments=("2.1",), n_draws=4, squared=((0.0,),),
                scores=(UnitLogPredictives(log_predictive=(-1.0 - place,) * 12, n_choices=(1.0,) * 12),),
            ),
            name,
        )
        for place, name in enumerate(evidence.theories.pool)
    }  # fmt: skip
    return replace(
        evidence,
        experiments=replace(evidence.experiments, sealed=Recorded(opened, "e" * 64)),
        theories=replace(evidence.theories, sealed_scores=sealed),
    )


def test_without_sealed_trials_each_experiment_is_predicted_from_the_others(
    evidence: TheoryEvidence,
) -> None:
    answers = answers_of_company(evidence)
    assert answers.experiments == EXPERIMENTS
    assert answers.basis == "experiments held out in turn"
    assert (answers.unseen, len(answers.learned)) == ([], 2)
    assert answers.scored is answers.learned
    assert answers.n_options == [2, 2]


@pytest.mark.parametrize(("n_trials", "decides"), [(LEAST_SEALED, True), (LEAST_SEALED - 1, False)])
def test_sealed_trials_are_predicted_where_there_are_enough_of_them(
    evidence: TheoryEvidence, n_trials: int, decides: bool
) -> None:
    answers = answers_of_company(with_sealed(evidence, n_trials))
    assert len(answers.learned) == 2
    if decides:
        assert (answers.experiments, answers.basis) == (("2.1",), SEALED)
        assert answers.scored == answers.unseen == [evidence.trials("2.1")]
    else:
        assert (answers.experiments, answers.unseen) == (EXPERIMENTS, [])


def test_scores_of_the_pool_are_those_on_sealed_trials_or_of_experiments_left_out(
    evidence: TheoryEvidence,
) -> None:
    (first, second, *_) = evidence.theories.pool
    scores = evidence.theories.scores
    left_out = [scores[second, name].record.left_out.scores.mean for name in EXPERIMENTS]
    assert [item.mean for item in _scores_in_pool(evidence, second)] == left_out
    (found,) = _scores_in_pool(with_sealed(evidence, LEAST_SEALED), second)
    assert found.mean == -2.0
    assert _scores_in_pool(with_sealed(evidence, LEAST_SEALED - 1), first)[0].mean != -1.0


def few_people(evidence: TheoryEvidence, n_people: int) -> list[Trials]:
    """The responses of a few participants, so that models are fitted in a second."""
    tables = [evidence.trials(name) for name in EXPERIMENTS]
    return [table.of_people(np.arange(table.n_participants) < n_people) for table in tables]


def test_generic_learners_predict_the_responses_that_theories_predict(
    evidence: TheoryEvidence,
) -> None:
    first, second = few_people(evidence, 6), few_people(evidence, 5)
    left_out = CompanyAnswers(first, [], EXPERIMENTS, "experiments held out in turn")
    found = learn_generically(evidence.domain, 0, left_out)
    assert [len(item.n_choices) for item in found.scores] == [6, 6]
    sealed = CompanyAnswers(first, second[1:], ("2.1",), SEALED)
    found = learn_generically(evidence.domain, 0, sealed)
    assert [len(item.n_choices) for item in found.scores] == [5]


def test_a_published_theory_that_did_not_compete_is_fitted_to_the_open_responses(
    evidence: TheoryEvidence,
) -> None:
    seeds = {name: evidence.family.seeds[name] for name in ("tallying", "weighted_additive")}
    family = replace(evidence.family, seeds=seeds)
    forms = {name: read_program(family.program(name)) for name in seeds}
    pool = {
        **evidence.theories.pool,
        forms["tallying"].digest: next(iter(evidence.theories.pool.values())),
    }
    known = replace(evidence, family=family, theories=replace(evidence.theories, pool=pool))
    answers = CompanyAnswers(few_people(evidence, 6), [], EXPERIMENTS, "experiments left out")
    found, failed = fit_published(known, answers)
    assert (list(found), failed) == (["weighted_additive"], {})
    theory, scores = found["weighted_additive"]
    form = forms["weighted_additive"]
    assert theory.digest == form.digest
    assert theory.priors != form.priors  # its population was estimated
    assert [len(item.n_choices) for item in scores] == [6, 6]
    # Simulated participants weigh and add, so that it predicts them better than chance.
    assert all(item.mean > np.log(0.5) for item in scores)


def scores(*per_choice: float) -> list[UnitScores]:
    """Scores of ten participants with ten choices each, in two experiments."""
    jitter = np.linspace(-0.01, 0.01, 10)
    return [UnitScores(10 * (value + jitter), np.full(10, 10.0)) for value in per_choice]


def test_the_record_has_the_leader_first_and_its_advantage_over_the_best_published_theory(
    evidence: TheoryEvidence,
) -> None:
    names = [line.theory for line in evidence.board().standings]
    checked = evidence.theories.checked
    leader, first = names[0], next(n for n in names if checked[n].record.author == "published")
    assert leader != first
    form = read_program(evidence.family.program("weighted_additive"))
    learner = LearnerPrediction(scores(-0.40, -0.40), [])
    found = CompanyFound(
        own={leader: scores(-0.45, -0.47), first: scores(-0.60, -0.62)},
        learner=learner,
        noise=None,
        published={"weighted_additive": (form, scores(-0.50, -0.53))},
        failed={"lexicographic": "TheoryError: no"},
    )
    answers = CompanyAnswers(
        [evidence.trials(name) for name in EXPERIMENTS], [], EXPERIMENTS, "experiments left out"
    )
    record = _measured(evidence, evidence.artifacts, answers, found)
    assert record.leader == record.theories[0].theory == leader
    assert [line.name for line in record.theories] == [
        evidence.theories.name(name) for name in (leader, first)
    ]
    assert record.guessing == pytest.approx(np.log(0.5))
    assert record.ceiling == pytest.approx(-0.40)
    assert (record.noise, record.failed) == (None, {"lexicographic": "TheoryError: no"})
    assert [line.score for line in record.published] == pytest.approx([-0.515, -0.61])
    assert record.published[0].name == form.name
    ahead = paired_difference(found.own[leader], found.published["weighted_additive"][1])
    assert (record.ahead, record.ahead_error) == (ahead.value, ahead.standard_error)
    assert record.ahead == pytest.approx(0.055)
    share = (-0.46 - np.log(0.5)) / (-0.40 - np.log(0.5))
    assert record.theories[0].completeness == pytest.approx(share)


def test_a_leader_that_is_itself_published_is_compared_with_the_best_other_published_theory(
    evidence: TheoryEvidence,
) -> None:
    checked = evidence.theories.checked
    own = [n for n in evidence.theories.pool if checked[n].record.author == "published"]
    found = CompanyFound(
        own={own[0]: scores(-0.45, -0.45), own[1]: scores(-0.50, -0.52)},
        learner=LearnerPrediction(scores(-0.40, -0.40), []),
        noise=scores(-0.42, -0.44),
        published={},
        failed={},
    )
    answers = CompanyAnswers(
        [evidence.trials(name) for name in EXPERIMENTS], [], EXPERIMENTS, "experiments left out"
    )
    record = _measured(evidence, evidence.artifacts, answers, found)
    ahead = paired_difference(found.own[own[0]], found.own[own[1]])
    assert (record.ahead, record.ahead_error) == (ahead.value, ahead.standard_error)
    assert [line.theory for line in record.published] == own[:2]
    assert record.noise == pytest.approx(-0.43)
