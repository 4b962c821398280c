"""Rules of verdicts, collection and reports, each on a case worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lakatos.flows.operations.people_export import is_of_recruited
from lakatos.flows.report.theory_facts import nats_in_favour
from lakatos.flows.stages.enough import n_until_look
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.findings.verdicts.company import not_competing
from lakatos.theories.findings.verdicts.exactness import is_exact


def test_a_theory_with_a_small_error_whose_participants_differ_from_the_real_ones_is_not_exact() -> (
    None
):
    small = ScoreEstimate(0.001, 0.0001)
    assert is_exact(small, 0.01, ())
    assert not is_exact(small, 0.01, ("how often people change sides",))
    assert not is_exact(ScoreEstimate(0.02, 0.0001), 0.01, ())


@pytest.mark.parametrize(
    ("kept", "n_decided", "n_until"),
    [
        ([True, True, True, True], 2, 2),
        ([True, False, True, True], 2, 3),  # the excluded participant does not count
        ([False, False, True, True], 1, 3),
        ([True, False], 2, 2),  # the look was never reached
    ],
)
def test_excluded_participants_do_not_count_towards_the_look_that_ends_collection(
    kept: list[bool], n_decided: int, n_until: int
) -> None:
    assert n_until_look(kept, n_decided) == n_until


def test_a_published_theory_that_competes_under_another_name_is_not_fitted_beside_itself() -> None:
    published: Any = {
        "hyperbolic": SimpleNamespace(digest="a", name="Hyperbolic discounting"),
        "exponential": SimpleNamespace(digest="b", name="Exponential discounting"),
        "trade_off": SimpleNamespace(digest="c", name="Trade-off model"),
    }
    found = not_competing(published, {"b"}, {"Hyperbolic discounting"})
    assert list(found) == ["trade_off"]


def test_a_trial_favours_a_theory_by_the_log_likelihood_ratio_of_its_responses() -> None:
    own, other = np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[0.6, 0.4], [0.0, 1.0]])
    counts = np.array([[10, 40], [0, 10]])
    expected = [10 * np.log(0.2 / 0.6) + 40 * np.log(0.8 / 0.4), 10 * np.log(0.5)]
    assert nats_in_favour(own, other, counts) == pytest.approx(np.array(expected))


def test_only_responses_to_experiments_that_somebody_was_recruited_for_are_exported() -> None:
    assert is_of_recruited({"person": "p1", "experiment": "1.1"}, {"1.1"})
    assert not is_of_recruited({"person": "p1", "experiment": "2.1"}, {"1.1"})
    assert not is_of_recruited({"trials": [], "experiment": "1.1"}, {"1.1"})
