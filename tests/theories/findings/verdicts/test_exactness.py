"""Which frozen predictions weigh a leader, and how far they are from the responses that came after them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.scoring.exactness import error_beyond_chance
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.findings.verdicts.exactness import (
    error_of_all_frozen,
    error_of_frozen,
    exact_rivals,
    foretold,
    is_exact,
    weigh_exactness,
)

FIRST, SECOND = "1.1", "2.1"


def rival(evidence: TheoryEvidence, name: str) -> str:
    return next(
        digest for digest in evidence.theories.pool if evidence.theories.name(digest) == name
    )


def test_predictions_count_from_the_second_experiment_on(evidence: TheoryEvidence) -> None:
    """Those before the first experiment rest on declared ranges, since nobody had responded."""
    early = rival(evidence, "Take the best")
    plans = evidence.experiments.preregistrations
    assert early in plans[FIRST].record.rivals
    assert foretold(evidence, early) == [SECOND]


def test_a_theory_that_was_no_rival_of_an_experiment_has_no_predictions_of_it(
    evidence: TheoryEvidence,
) -> None:
    assert foretold(evidence, "f" * 64) == []
    assert error_of_all_frozen(evidence, "f" * 64) is None


def test_the_error_is_that_of_the_proportions_that_were_frozen(evidence: TheoryEvidence) -> None:
    theory = rival(evidence, "Tallying")
    plan = evidence.experiments.preregistrations[SECOND].record
    frozen = evidence.artifacts.get_arrays(plan.predictions)[f"{theory}:proportions"][0]
    expected = error_beyond_chance(evidence.trials(SECOND), frozen[:, None])
    assert expected is not None
    found = error_of_frozen(evidence, theory, SECOND)
    assert found == expected
    whole = error_of_all_frozen(evidence, theory)  # of a single experiment, its own error
    assert whole is not None
    assert (whole.value, whole.standard_error) == pytest.approx(
        (expected.value, expected.standard_error)
    )


def test_predictions_of_other_trials_than_those_answered_are_not_compared(
    evidence: TheoryEvidence,
) -> None:
    theory = rival(evidence, "Tallying")
    table = evidence.experiments.collected[SECOND].record.trials
    trials = evidence.trials(SECOND)
    more = Stimuli.concatenate([trials.stimuli, trials.stimuli.take([0])])
    longer = replace(trials, stimuli=more)
    other = replace(evidence, tables={**evidence.tables, table: longer})
    assert error_of_frozen(other, theory, SECOND) is None
    assert error_of_all_frozen(other, theory) is None


def test_three_theories_at_most_are_examined_the_leader_first(evidence: TheoryEvidence) -> None:
    standings = [line.theory for line in evidence.board().standings]
    assert len(standings) > 3
    assert exact_rivals(evidence) == standings[:3]


@pytest.mark.parametrize(
    ("value", "error", "misfits", "exact"),
    [
        (0.001, 0.0001, (), True),
        (0.001, 0.0001, ("repeats",), False),
        (0.009, 0.001, (), False),  # the interval ends at 0.011
        (0.008, 0.001, (), False),  # it ends at the limit, and must stay below
        (0.0079, 0.001, (), True),
    ],
)
def test_the_whole_interval_lies_below_what_is_allowed_and_nothing_misfits(
    value: float, error: float, misfits: tuple[str, ...], exact: bool
) -> None:
    assert is_exact(ScoreEstimate(value, error), 0.01, misfits) is exact


def test_the_record_says_what_was_weighed_and_with_which_end(evidence: TheoryEvidence) -> None:
    leader = evidence.board().leader.theory
    error = ScoreEstimate(0.5, 0.1)
    found = weigh_exactness(
        evidence, leader, error, np.random.default_rng(0), cycle=2, allowed=0.01
    )
    assert (found.cycle, found.leader, found.experiments) == (2, leader, (SECOND,))
    assert (found.error, found.standard_error, found.allowed) == (0.5, 0.1, 0.01)
    assert not found.exact
    assert (
        "may still be improved; the excess mean squared error of its predictions before"
        in found.text
    )
    assert "is 0.5000 (95% interval 0.3000 to 0.7000; limit 0.01)" in found.text
    assert f"of its {found.n_checks} predictive checks" in found.text
