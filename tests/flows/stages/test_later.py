"""Stages are loaded when a run comes to them, and are what the table says of them."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import pytest

from lakatos.flows.run.run import Run
from lakatos.flows.stages import later
from lakatos.flows.stages.later import AskedStage, LateStage
from tests.flows.small import small_study

STAGES: dict[str, Any] = {
    name: inspect.unwrap(value)
    for name, value in vars(later).items()
    if isinstance(inspect.unwrap(value), LateStage | AskedStage)
}


def test_the_table_has_the_stages_of_a_campaign() -> None:
    assert {"arbitrate", "revise", "judge", "interview", "conclude"} <= STAGES.keys()


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_takes_and_gives_what_the_table_says(name: str) -> None:
    stage = STAGES[name]
    takes, gives = get_args(stage.__orig_class__)
    if isinstance(stage, AskedStage):
        takes = [Run, *takes]
    hints = get_type_hints(
        inspect.unwrap(resolve_name(stage.place)), localns={"Run": Run}, include_extras=True
    )
    assert hints.pop("return") == (type(None) if gives is None else gives)
    assert list(hints.values()) == list(takes)


def test_importing_the_loop_loads_no_stage_of_the_table_and_no_search() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import sys, lakatos.flows.campaign; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    places = {stage.place.partition(":")[0] for stage in STAGES.values()}
    assert not places & set(told)
    absent = ("theories.grammar_search", "theories.diagnosis", "theories.induction")
    assert not [name for name in told if name.startswith(tuple(f"lakatos.{it}" for it in absent))]


def test_a_stage_that_a_study_does_not_ask_for_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        later, "LATE", []
    )  # this one is not there, and must not be loaded by others
    stage = AskedStage[[], None]("lakatos.nowhere:nothing", lambda study: study.memory.inquiries)
    run: Any = SimpleNamespace(config=small_study())
    assert asyncio.run(stage(run)) is None
    run = SimpleNamespace(config=small_study(memory={"inquiries": True}))
    with pytest.raises(ModuleNotFoundError):
        asyncio.run(stage(run))
