"""A stage that a study does not ask for does nothing."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from lakatos.flows.roles.ask import check_models
from lakatos.flows.roles.interview import check_participant
from lakatos.flows.roles.remember import take_library
from lakatos.flows.stages.exactness import weigh_exactness
from lakatos.flows.stages.inherit import admit_winners
from lakatos.flows.stages.judging.seats import seat_judges
from lakatos.flows.stages.propose import propose
from lakatos.flows.stages.verdict.confirm import confirm
from lakatos.flows.stages.verdict.effects import compare_by_group, learn_effects_of_people
from lakatos.flows.stages.verdict.sensitivity import compare_exclusions
from tests.flows.small import small_study

NOTHING: Any = None
ASKED_FOR: dict[Any, tuple[Any, ...]] = {
    check_models: (),
    check_participant: (),
    take_library: (),
    admit_winners: (),
    seat_judges: (),
    weigh_exactness: (1,),
    propose: (1, NOTHING),
    confirm: (),
    learn_effects_of_people: (),
    compare_by_group: (),
    compare_exclusions: (),
}
"""Stages that only some studies ask for, and their arguments beside the run."""


@pytest.mark.parametrize("stage", ASKED_FOR, ids=lambda stage: stage.__name__)
def test_a_stage_that_a_study_does_not_ask_for_reads_nothing_but_the_study(stage: Any) -> None:
    run: Any = SimpleNamespace(config=small_study())  # anything else that is read of it is an error
    assert asyncio.run(stage(run, *ASKED_FOR[stage])) is None


def test_a_stage_that_a_study_asks_for_is_not_left_out() -> None:
    run: Any = SimpleNamespace(config=small_study(memory={"winners": True}))
    with pytest.raises(AttributeError):  # it looks at the run
        asyncio.run(take_library(run))
