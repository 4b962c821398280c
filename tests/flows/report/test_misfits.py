"""Checks of the leading theory are told apart from diagnoses of theories that lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rewinding import tiny_run

from lakatos.flows.report.misfits import checks_in_words, checks_of_leader
from lakatos.flows.report.reader import open_reading


@pytest.mark.parametrize(
    ("n_checks", "n_misfits", "is_last", "text"),
    [
        (61, 0, True, "None of 61 predictive checks of the leading theory (cycle 2) finds a misfit."),
        (22, 1, False, "1 of 22 predictive checks of the leading theory (cycle 2) finds a misfit; it was not checked "
         "on the responses collected later."),
        (0, 2, True, "2 predictive checks of the leading theory (cycle 2) find a misfit."),
        (0, 0, True, "The leading theory was not checked against data sets simulated from it."),
    ],
)  # fmt: skip
def test_checks_of_the_leading_theory_are_stated_with_their_cycle_or_as_missing(
    n_checks: int, n_misfits: int, is_last: bool, text: str
) -> None:
    assert checks_in_words(n_checks, n_misfits, 2, is_last=is_last) == text


def test_a_diagnosis_of_another_theory_is_not_one_of_the_leading_theory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with open_reading(tiny_run()) as reading:
        (first, *_) = reading.state.theories.diagnoses
        assert reading.leader is not None
        for diagnosed, own in ((reading.leader, 1), ("other", 0)):
            record = first.record.model_copy(update={"loser": diagnosed, "n_checks": 5})
            theories = replace(reading.state.theories, diagnoses=(replace(first, record=record),))
            monkeypatch.setattr(reading, "state", replace(reading.state, theories=theories))
            found = checks_of_leader(reading)
            assert (found.own is not None, len(found.others)) == (bool(own), 1 - own)
            assert found.text.startswith("The leading theory was not checked") == (not own)
