"""Figures and sentences of a verdict, each on a case worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.record import SealedScored, UnitLogPredictives
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.engine.scoring.unexplained import ErrorRatio
from lakatos.theories.findings.verdicts.conclude import (
    ComparedLeader,
    RivalComparison,
    _advantage_in_words,
    _cross_validated,
    _error_in_words,
    _error_of_all,
    _errors,
    _few_in_words,
    _guessing_in_words,
    _noise_beside,
    _ties_in_words,
    _truth_in_words,
    compare_leader,
    conclude_from,
    frozen_basis,
    random_choices_in_words,
    tied_with,
)
from lakatos.theories.findings.verdicts.record import (
    EXPLORATORY,
    LEADERBOARD,
    ErrorOnTrials,
    FoldFinished,
    TruthCompared,
)
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import read_program
from lakatos.traces.step import Recorded

LEADER, RIVAL = "a" * 64, "b" * 64


def compared(n_units: int) -> ComparedLeader:
    found = ScoreEstimate(0.1, 0.01, n_units, float(max(n_units - 1, 1)))
    return ComparedLeader(LEADER, (RivalComparison(RIVAL, found, "sealed"),))


@pytest.mark.parametrize(
    ("n_units", "words"),
    [
        (1, "The comparison is based on 1 participant; with fewer than 10"),
        (9, "The comparison is based on 9 participants; with fewer than 10"),
    ],
)
def test_too_few_participants_are_counted_and_more_are_asked_for(
    evidence: TheoryEvidence, n_units: int, words: str
) -> None:
    (sentence,) = _few_in_words(evidence, compared(n_units))
    assert sentence.startswith(words)
    assert sentence.endswith("Recruit more (design.participants).")
    archived = replace(evidence, terms=replace(evidence.terms, archival=True))
    (sentence,) = _few_in_words(archived, compared(n_units))
    assert sentence.endswith("no difference is claimed.")


def test_choices_attributed_to_chance_are_stated_where_something_is_left() -> None:
    """Of counts there is no median participant."""
    family = FAMILIES["risky"]
    theory = read_program(family.program("expected_value"))
    assert "lapse" in theory.priors
    lapsing = theory.with_people({"lapse": Prior("uniform", 0.2, 0.2000001)}, pooled=True)
    left, nothing_left = ErrorRatio(1.3, 1.1, 1.5, 20.0), ErrorRatio(1.1, 0.9, 1.3, 20.0)
    begin, end = "The theory attributes 20% of", "to chance; it does not explain them."
    (sentence,) = random_choices_in_words(lapsing, left)
    assert sentence == f"{begin} the choices of the median participant {end}"
    (sentence,) = random_choices_in_words(lapsing, left, pooled=True)
    assert sentence == f"{begin} choices {end}"
    assert random_choices_in_words(lapsing, nothing_left) == []
    assert random_choices_in_words(lapsing, None) == []


def test_a_leader_that_may_be_no_better_than_guessing_is_said_to_be_so() -> None:
    (sentence,) = _guessing_in_words("Sum", ScoreEstimate(0.01, 0.01, 20, 19.0))
    assert sentence.startswith(
        "Whether Sum predicts better than guessing is open: +0.0100 nats per choice (95% interval -0.01"
    )
    assert _guessing_in_words("Sum", ScoreEstimate(0.03, 0.01, 20, 19.0)) == []
    assert _guessing_in_words("Random choice", ScoreEstimate(0.0, 0.0, 20, 19.0)) == []


def test_a_comparison_on_the_responses_of_the_derivation_is_called_explored(
    evidence: TheoryEvidence,
) -> None:
    gain = ScoreEstimate(0.1, 0.01, 20, 19.0)
    leader, rival = (line.theory for line in evidence.board().standings[:2])
    explored = ComparedLeader(leader, (RivalComparison(rival, gain, EXPLORATORY),))
    (sentence, *_) = _advantage_in_words(evidence, explored)
    assert sentence.startswith("It was only explored whether ")
    data, _, remark = EXPLORATORY.partition(": ")
    assert f"; 20 participants) on {data} ({remark})." in sentence
    tested = ComparedLeader(leader, (RivalComparison(rival, gain, "sealed"),))
    (sentence, *_) = _advantage_in_words(evidence, tested)
    assert sentence.startswith(f"{evidence.theories.name(leader)} predicts choices better than")


def test_an_undecided_leader_is_stated_with_its_difference_on_all_data_compared(
    evidence: TheoryEvidence,
) -> None:
    """The leaderboard comes last, also where it decides; a rival that is ahead on one set only is no winner."""
    leader, rival = (line.theory for line in evidence.board().standings[:2])
    behind, ahead = ScoreEstimate(-0.12, 0.2, 25, 24.0), ScoreEstimate(0.03, 0.02, 25, 24.0)
    found = ComparedLeader(
        leader,
        (RivalComparison(rival, ahead, "sealed"), RivalComparison(rival, behind, LEADERBOARD)),
    )
    (sentence, further, *_) = _advantage_in_words(evidence, found)
    name, other = (evidence.theories.name(theory) for theory in (leader, rival))
    assert sentence.startswith(
        f"There is no clear evidence that {name} predicts choices better than {other}, the closest "
    )
    assert (
        "the difference in mean log score is +0.0300 nats per choice (95% interval -0.0" in sentence
    )
    assert sentence.endswith("; 25 participants) on sealed.")
    assert further.startswith("The difference is -0.1200 nats per choice (95% interval -0.5")
    assert further.endswith(
        "; 25 participants) on all responses, each experiment predicted from the others."
    )


def test_of_ten_participants_nothing_is_said(evidence: TheoryEvidence) -> None:
    assert _few_in_words(evidence, compared(10)) == []


def test_of_counts_problems_are_too_few(evidence: TheoryEvidence) -> None:
    collected = {
        name: Recorded(item.record.model_copy(update={"pooled": True}), item.digest)
        for name, item in evidence.experiments.collected.items()
    }
    pooled = replace(evidence, experiments=replace(evidence.experiments, collected=collected))
    (sentence,) = _few_in_words(pooled, compared(4))
    assert sentence == (
        "The comparison is based on 4 problems; with fewer than 10 no difference is claimed."
    )


def fold(number: int, observed: list[float], predicted: list[float], **others: list[float]):
    return FoldFinished(
        fold=number, run="f", form="0" * 64, leader_name="x", claim="",
        rows=tuple(range(len(observed))), observed=tuple(observed), predicted=tuple(predicted),
        baselines={name: tuple(values) for name, values in others.items()},
    )  # fmt: skip


def test_errors_over_folds_are_those_of_all_their_trials() -> None:
    folds = [
        fold(0, [0.5, 0.5], [0.5, 0.7], books=[0.1, 0.5], other=[0.0, 0.0]),
        fold(1, [1.0], [0.8], books=[1.0]),
    ]
    leader, books = _cross_validated(folds)
    assert (leader.name, books.name) == ("leader", "books")
    squared = np.array([0.0, 0.04, 0.04])
    assert leader.error == pytest.approx(squared.mean())
    assert leader.standard_error == pytest.approx(squared.std(ddof=1) / np.sqrt(3))
    assert books.error == pytest.approx(0.16 / 3)
    assert _cross_validated([]) == ()


def test_errors_on_open_trials_are_averaged_over_experiments(evidence: TheoryEvidence) -> None:
    name = next(iter(evidence.theories.pool))
    expected = []
    for experiment in evidence.experiments.collected:
        predicted = np.array(evidence.theories.scores[name, experiment].record.proportions)
        trials = evidence.trials(experiment)
        observed = trials.proportions[:, 1]
        expected.append(((predicted - observed) ** 2).mean())
    found = _errors(evidence, name)
    assert found.open == found.all == pytest.approx(np.mean(expected))
    assert (found.sealed, found.sealed_error, found.sealed_score) == (None, None, None)


def test_errors_on_sealed_trials_stand_beside_those_on_open_ones(evidence: TheoryEvidence) -> None:
    name = next(iter(evidence.theories.pool))
    units = UnitLogPredictives(log_predictive=(-3.0, -5.0), n_choices=(10.0, 10.0))
    sealed = SealedScored(
        theory=name, experiments=("1.1",), n_draws=4, scores=(units,), squared=((0.2, 0.4, 0.6),)
    )
    known = replace(
        evidence,
        theories=replace(evidence.theories, sealed_scores={name: Recorded(sealed, name)}),
    )
    found = _errors(known, name)
    assert found.sealed == pytest.approx(0.4)
    assert found.sealed_error == pytest.approx(0.2 / np.sqrt(3))
    assert found.sealed_score == pytest.approx(-0.4)
    opened = {
        item: np.array(evidence.theories.scores[name, item].record.proportions)
        - evidence.trials(item).proportions[:, 1]
        for item in ("1.1", "2.1")
    }
    first = np.concatenate([opened["1.1"] ** 2, [0.2, 0.4, 0.6]])
    assert found.all == pytest.approx(np.mean([first.mean(), (opened["2.1"] ** 2).mean()]))


def test_the_error_of_all_trials_follows_from_those_of_open_and_sealed_ones() -> None:
    # Two experiments of one archive: open (0.1 + 0.4) / 2, sealed 0.5; all (4 * 0.25 + 1 * 0.5) / 5.
    opened = [np.array([0.1, 0.1, 0.1]), np.array([0.4])]
    assert _error_of_all(opened, [0.5]) == pytest.approx(0.3)
    assert _error_of_all(opened, ()) == pytest.approx(0.25)


def test_the_error_on_presented_trials_states_that_parameters_were_estimated_from_them() -> None:
    own = ErrorOnTrials(
        theory=LEADER, open=0.01, sealed=0.02, sealed_error=None, all=0.02, sealed_score=-0.5
    )
    assert _error_in_words(own) == (
        "The mean squared error of its choice proportions is 0.0100 on the unsealed trials (parameters estimated from "
        "these responses) and 0.0200 on sealed trials."
    )


def test_the_distance_from_the_hidden_rule_is_stated_with_lapses_and_without() -> None:
    truth = TruthCompared(
        hidden="Rule", n_trials=162, corrected={LEADER: 0.01}, uncorrected={LEADER: 0.25}, pool={},
        sequence={},
    )  # fmt: skip
    (sentence,) = _truth_in_words(truth, LEADER)
    assert (
        "over 162 trials that a design can present, its mean squared error is 0.25 (0.01"
        in sentence
    )
    assert _truth_in_words(None, LEADER) == []


def test_the_verdict_names_the_leader_the_decisive_rival_and_why_it_ended(
    evidence: TheoryEvidence,
) -> None:
    found = conclude_from(evidence, truth=None, folds=[], comparisons=["And so on."], stop="cycles")
    standings = evidence.board().standings
    assert (found.leader, found.runner_up) == (standings[0].theory, standings[1].theory)
    assert found.rival in evidence.seeds
    assert found.stop == "cycles"
    leader = evidence.theories.name(found.leader)
    assert found.verdict == "nothing_left"
    assert found.headline.startswith(f"Undecided: {leader} was not shown to predict better than ")
    assert "these data give no evidence of its misfit: its misfit ratio" in found.headline
    assert found.text.startswith(
        f"{found.headline} There is no clear evidence that {leader} predicts"
    )
    assert found.unexplained[0].theory == found.leader
    assert {found.rival} < {item.theory for item in found.unexplained}
    assert not found.marks
    assert found.text.endswith("And so on.")
    low, high = found.interval or (0.0, 0.0)
    assert found.advantage is not None
    assert low < found.advantage < high
    assert [item.theory for item in found.errors] == evidence.board().listed(evidence.seeds)
    assert found.errors[0].theory == found.leader


def test_a_theory_is_tied_exactly_if_the_verdict_would_not_call_the_leader_ahead_of_it(
    evidence: TheoryEvidence,
) -> None:
    theories, experiments = evidence.theories, evidence.experiments
    standings = [line.theory for line in evidence.board().standings]
    for leader in standings:
        others = [name for name in standings if name != leader]
        ties = tied_with(theories, experiments, leader)
        ahead = {
            name
            for name in others
            if all(
                item.is_ahead
                for item in compare_leader(theories, experiments, leader, [name]).comparisons
            )
        }
        assert list(ties) == [name for name in others if name not in ahead]
    assert tied_with(theories, experiments, standings[-1])


def test_the_verdict_names_tied_theories_and_counts_those_beyond_four(
    evidence: TheoryEvidence,
) -> None:
    (line, *_) = evidence.board().standings
    name = evidence.theories.name(line.theory)
    assert _ties_in_words(evidence, line.theory, []) == []
    (two,) = _ties_in_words(evidence, line.theory, [line.theory] * 2)
    assert two == f"The data do not separate {name} from {name} and {name}."
    (six,) = _ties_in_words(evidence, line.theory, [line.theory] * 6)
    assert six.endswith(f"{name} and 2 further theories.")


def test_experiments_before_which_predictions_were_frozen_are_named_and_many_are_counted() -> None:
    assert frozen_basis(["2.1"]) == "predictions frozen before experiment 2.1"
    assert frozen_basis(["2.1", "3.1"]) == "predictions frozen before experiments 2.1 and 3.1"
    assert frozen_basis(["2.1", "3.1", "4.1", "5.1"]) == "predictions frozen before 4 experiments"


@pytest.mark.parametrize(("lapse", "words"), [(True, ", with lapses"), (False, ", without lapses")])
def test_a_theory_of_a_published_form_is_said_to_have_random_choices_only_if_it_has_some(
    lapse: bool, words: str
) -> None:
    theory = SimpleNamespace(priors={"lapse": 1} if lapse else {"weight": 1})
    assert _noise_beside(theory) == words
