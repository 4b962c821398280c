"""What judges are shown of a candidate: scores of both theories, shares of all options, and who wrote them."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.stages.judging.measures import scored, scored_from, submission_of
from lakatos.theories.engine.scoring.score import paired_difference

EXPERIMENTS = ("1.1", "2.1")


def by_cycle(evidence: RunEvidence, cycle: int) -> str:
    """A theory of the pool that was first checked in this cycle."""
    checked = evidence.theories.checked
    return next(name for name in evidence.theories.pool if checked[name].record.cycle == cycle)


def test_theories_that_the_study_began_with_are_not_machine_written_and_later_ones_are(
    evidence: RunEvidence,
) -> None:
    first, later = by_cycle(evidence, 0), by_cycle(evidence, 1)
    assert submission_of(evidence, later, first).features["machine_written"] == 1.0
    assert submission_of(evidence, first, later).features["machine_written"] == -1.0
    assert submission_of(evidence, later, later).features["machine_written"] == 0.0


def test_the_advantage_is_that_of_the_candidate_on_experiments_left_out(
    evidence: RunEvidence,
) -> None:
    first, later = by_cycle(evidence, 0), by_cycle(evidence, 1)
    found = submission_of(evidence, later, first)
    scores = evidence.theories.scores
    own, other = (
        [scores[name, item].record.left_out.scores for item in EXPERIMENTS]
        for name in (later, first)
    )
    assert (found.candidate, found.incumbent) == (later, first)
    assert found.advantage == paired_difference(own, other).value
    assert found.n_choices == sum(evidence.trials(name).n_responses for name in EXPERIMENTS)


def test_of_two_options_the_share_of_the_first_completes_that_of_the_second(
    evidence: RunEvidence,
) -> None:
    name = by_cycle(evidence, 0)
    record = evidence.theories.scores[name, "1.1"].record
    found = scored(evidence, name, "1.1")
    np.testing.assert_array_equal(found.proportions[:, 1], record.proportions)
    np.testing.assert_allclose(found.proportions.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.observed, evidence.trials("1.1").proportions)


def test_of_three_options_the_shares_are_those_of_each_trial_in_turn(evidence: RunEvidence) -> None:
    name = by_cycle(evidence, 0)
    record = evidence.theories.scores[name, "1.1"].record
    shares = (0.2, 0.3, 0.5, 0.1, 0.1, 0.8)
    three = record.model_copy(update={"n_options": 3, "proportions": shares})
    found = scored_from(three, evidence.trials("1.1")).proportions
    assert found == pytest.approx(np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]))
