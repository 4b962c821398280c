"""The section `design` of a study file."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from lakatos.experiments.planning.settings import DesignConfig


def test_conditions_of_forbidden_trials_are_kept_as_they_were_written() -> None:
    conditions = ("amount_size > 100", "front_end_delay == 0")
    assert DesignConfig(forbidden=conditions).forbidden == conditions


def test_a_condition_that_cannot_be_read_is_refused_with_its_text() -> None:
    with pytest.raises(ValidationError, match="amount_size large"):
        DesignConfig(forbidden=("front_end_delay == 0", "amount_size large"))


@pytest.mark.parametrize("participants", [0, 2, 25])
def test_a_study_has_two_participants_or_more_or_has_their_number_found(participants: int) -> None:
    assert DesignConfig(participants=participants).participants == participants


def test_one_participant_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least 2; give 0 to have the number found"):
        DesignConfig(participants=1)
