"""A language model writes the function of a recurring plan; it climbs the same ladder, or the plan is compiled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lakatos.flows.errors import StudyError
from lakatos.flows.run.memory_records import ToolTried
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import Run, begin, create_run
from lakatos.flows.stages.consolidate import _make
from lakatos.language_models.record import LanguageModelCalled
from lakatos.memory.codifier import compile_plan, instructions
from lakatos.memory.draft import ToolDraft, bundle_of
from lakatos.memory.item import ToolRefused, ToolValidated
from lakatos.memory.library import Library
from lakatos.memory.plan import Plan
from lakatos.memory.signature import canonical_form
from lakatos.memory.tools import TOOLS
from lakatos.theories.roles.record import RoleAnswered
from lakatos.traces.step import Recorded, Trace
from tests.flows.remembering import write_run
from tests.flows.small import records, small_study


@pytest.fixture
def plans(tmp_path: Path) -> list[Plan]:
    """Of three studies beside the run."""
    return [write_run(tmp_path, number) for number in range(3)]


@contextmanager
def run_with(tmp_path: Path, answers: list[str]) -> Iterator[Run]:
    """A run at its end whose codifier says these things."""
    study = small_study(
        models={"writer": {"client": "scripted", "answers": answers}},
        roles={"codifier": "writer"},
        memory={"arm": "tools", "shared": True},
    )
    with create_run(study, tmp_path / "own", n_workers=1) as run:
        started = begin(run)
        run.state = replace(run.state, concluded=Recorded(started.record, started.digest))  # type: ignore[arg-type]
        yield run


def make(tmp_path: Path, plans: list[Plan], answers: list[str]) -> None:
    with run_with(tmp_path, answers) as run:
        asyncio.run(_make(run, Library(), plans, canonical_form(plans[0].steps).digest))


def good(plans: list[Plan]) -> str:
    """The compiled source, as a model would write it."""
    return compile_plan(bundle_of(plans[:2], TOOLS)).source.replace("step_", "found_")


def test_what_a_model_writes_becomes_a_tool_when_it_gives_what_the_plan_gives(
    tmp_path: Path, plans: list[Plan]
) -> None:
    make(tmp_path, plans, [json.dumps({"source": good(plans)})])
    (draft,) = records(tmp_path / "own", ToolDraft)
    assert draft.author == "language model writer"
    assert "found_0" in draft.source
    assert [item.name for item in records(tmp_path / "own", ToolValidated)] == [draft.name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "rung"),
    [
        ("def run(arguments, call):\n    return {'steps': []}\n", "differential"),
        ("import os\ndef run(arguments, call):\n    return {'steps': []}\n", "parse"),
        (
            "def run(arguments, call):\n    call('launch_rocket')\n    return {'steps': []}\n",
            "closure",
        ),
    ],
)
def test_what_fails_the_ladder_is_on_record_and_the_plan_is_compiled_instead(
    tmp_path: Path, plans: list[Plan], source: str, rung: str
) -> None:
    make(tmp_path, plans, [json.dumps({"source": source})])
    written, compiled = records(tmp_path / "own", ToolTried)
    assert (written.passed, written.rung) == ((), rung)
    assert compiled.passed
    assert [item.author for item in records(tmp_path / "own", ToolDraft)] == [
        "language model writer",
        "codifier",
    ]
    assert len(records(tmp_path / "own", ToolValidated)) == 1
    assert not records(
        tmp_path / "own", ToolRefused
    )  # which would make the plan wait for more studies


def test_a_model_that_says_nothing_that_can_be_read_costs_the_plan_nothing(
    tmp_path: Path, plans: list[Plan]
) -> None:
    make(tmp_path, plans, ["no JSON", "none again"])
    assert [item.outcome for item in records(tmp_path / "own", RoleAnswered)] == ["not_json"]
    assert [item.author for item in records(tmp_path / "own", ToolDraft)] == ["codifier"]
    assert len(records(tmp_path / "own", ToolValidated)) == 1


def test_the_codifier_is_told_the_plan_and_clean_queries_and_nothing_else(
    tmp_path: Path, plans: list[Plan]
) -> None:
    make(tmp_path, plans, [json.dumps({"source": good(plans)})])
    with Trace.open(tmp_path / "own", RECORD_TYPES, read_only=True) as trace:
        (called,) = trace.records(LanguageModelCalled)
        request = trace.artifacts.get_json(called.record.request)
    said = "\n".join(message["content"] for message in request["messages"])
    lines = instructions(bundle_of(plans[:2], TOOLS)).splitlines()
    assert all(line in said for line in lines)
    assert not any(digest in said for plan in plans for digest in plan.evidence)
    assert "small" not in said  # the study's own name and question
    assert "Which rule" not in said


def test_a_codifier_needs_the_arm_that_makes_tools() -> None:
    with pytest.raises(StudyError, match=r"roles.codifier: .*memory.arm"):
        small_study(models={"writer": {"client": "scripted"}}, roles={"codifier": "writer"})
