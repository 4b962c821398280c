"""In a campaign: calls of a language model become a plan, a recurring plan a tool, and no fault stops the campaign."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.roles.remember import shared_library
from lakatos.flows.run.run import open_run, read_state
from lakatos.flows.start import resume_run, run_study
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.item import PlanUsed
from lakatos.memory.plan import Plan
from lakatos.memory.signature import canonical_form
from lakatos.memory.tools import TOOLS
from lakatos.traces.fold import canonical_digest
from tests.flows.answering import Speaker, good
from tests.flows.remembering import tool_in, write_run, write_tool
from tests.flows.small import small_study
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running

LARGE = RehearsalSettings(context_tokens=32768)
SMALL = {
    "stop": {"cycles": 2, "least_cycles": 1},
    "design": {"trials": 6, "participants": 20, "candidates": 25, "power": 0.5, "refused": "cover"},
    "theories": {
        "seeds": ["take_the_best", "tallying"],
        "candidates": 2,
        "successors": 1,
        "draws": 64,
        "rivals": 3,
        "induction": False,
    },
}
PAIR = ["Take the best", "Tallying"]
N_STUDIES = 3
"""As many as a plan must recur in to become a tool."""
Script = Callable[[Mapping[str, Any], np.random.Generator], str | Sequence[tuple[str, Any]]]


def step_by_step(n_trials: int) -> Script:
    """A model that searches a design and asks with which power it recovers the theories, call by call."""

    def answer(
        body: Mapping[str, Any], rng: np.random.Generator
    ) -> str | Sequence[tuple[str, Any]]:
        if "response_format" in body:
            return good(body, rng)
        results = [item["content"] for item in body["messages"] if item["role"] == "tool"]
        if not results:
            return [("search_design", {"theories": PAIR, "n_trials": n_trials})]
        if len(results) == 1:
            (design,) = set(re.findall(r'"design": "([0-9a-f]{64})"', results[0]))
            return [("recover", {"theories": PAIR, "design": design})]
        return "The design was looked at."

    return answer


def at_once(body: Mapping[str, Any], rng: np.random.Generator) -> str | Sequence[tuple[str, Any]]:
    """A model that calls the learned tool that it is offered, once, with values of the right types."""
    if "response_format" in body:
        return good(body, rng)
    if any(item["role"] == "tool" for item in body["messages"]):
        return "The design was looked at."
    offers = {item["function"]["name"]: item["function"] for item in body["tools"]}
    (learned,) = set(offers) - set(TOOLS)
    fields = offers[learned]["parameters"]["properties"]
    return [(learned, {name: value_of(field) for name, field in fields.items()})]


def value_of(field: Mapping[str, Any]) -> Any:
    """A value that every argument of this type may have; lists have two items."""
    if field["type"] != "array":
        return {"integer": 20, "number": 0.0, "string": PAIR[0]}[field["type"]]
    inner = field["items"]
    return PAIR if inner["type"] == "string" else [value_of(inner)] * 2


def study(base_url: str, **memory: Any) -> Any:
    return small_study(
        **SMALL,
        name=memory.pop("name", "study"),
        models={"writer": {"base_url": base_url, "model": LARGE.model}},
        roles={"arbiter": "writer", "max_tokens": 1500, "tools": ["search_design", "recover"]},
        memory={"winners": False, **memory},
    )


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Speaker, str]]:
    """Three studies in which a model followed one plan with other values, the last of which makes a tool of it."""
    runs, speaker = tmp_path_factory.mktemp("runs"), Speaker(step_by_step(4))
    with running(LARGE, speaker) as served:
        for number in range(N_STUDIES):
            speaker.answer = step_by_step(4 + number)
            arm = "tools" if number == N_STUDIES - 1 else "text"
            asked = study(served.base_url, name=f"study{number}", arm=arm, shared=True)
            run_study(asked, runs / f"study{number}", n_workers=1)
        yield runs, speaker, served.base_url


def calls_in(folder: Path) -> list[str]:
    """Tools that were called in a conversation, in their order."""
    _, trace = read_state(folder)
    with trace:
        made = [item.record for item in trace.records(ToolCalled)]
    return [item.tool for item in made if item.tool != "analyse_residuals"]


@pytest.mark.long
def test_a_conversation_is_recorded_call_by_call_and_read_off_as_the_plan_that_was_followed(
    lab: tuple[Path, Speaker, str],
) -> None:
    runs, _, _ = lab
    state, trace = read_state(runs / "study0")
    trace.close()
    assert calls_in(runs / "study0") == ["search_design", "recover"]
    ((_, plan),) = state.memory.library.all(Plan)
    (looked,) = state.roles.investigated
    assert plan.evidence == looked.record.results
    assert len(canonical_form(plan.steps).operations) == 2


@pytest.mark.long
def test_a_plan_that_recurs_in_three_studies_becomes_a_validated_tool(
    lab: tuple[Path, Speaker, str],
) -> None:
    library = shared_library(lab[0])
    signatures = {canonical_form(plan.steps).digest for _, plan in library.all(Plan)}
    assert signatures == {library.drafts()[tool_in(library)][1].signature}
    assert library.standing(tool_in(library)).status == "active"


@pytest.mark.long
def test_a_learned_tool_is_offered_to_a_model_and_its_use_is_counted(
    lab: tuple[Path, Speaker, str],
) -> None:
    runs, speaker, base_url = lab
    speaker.answer = at_once
    name, folder = tool_in(shared_library(runs)), runs / "using"
    run_study(study(base_url, name="using", arm="tools", shared=True), folder, n_workers=1)
    assert calls_in(folder) == [name]
    state, trace = read_state(folder)
    with trace:
        used = [item.record for item in trace.records(PlanUsed)]
    assert [(item.tool, item.success, item.calls_saved) for item in used] == [(name, True, 1)]
    assert shared_library(runs).standing(name).successes == 1
    assert state.campaign.concluded is not None
    # What was done is found again: another pass records nothing.
    with open_run(folder, n_workers=1) as run:
        before = canonical_digest(run.trace.journal.events())
    resume_run(folder, n_workers=1)
    with open_run(folder, n_workers=1) as run:
        assert canonical_digest(run.trace.journal.events()) == before
    assert audit(folder, n_workers=1).passed


@pytest.mark.long
def test_a_tool_that_would_call_something_else_fails_into_its_plan_and_is_retired(
    tmp_path: Path,
) -> None:
    plans = [write_run(tmp_path, number) for number in range(N_STUDIES)]
    draft = write_tool(
        tmp_path, plans, lambda draft: draft.model_copy(update={"steps": draft.steps[:1]})
    )
    with running(LARGE, Speaker(at_once)) as served:
        asked = study(served.base_url, name="using", arm="tools", shared=True)
        run_study(asked, tmp_path / "using", n_workers=1)
    state, trace = read_state(tmp_path / "using")
    with trace:
        used = [item.record for item in trace.records(PlanUsed)]
    (looked,) = state.roles.investigated
    assert "Go on from its plan" in looked.record.refused[0]
    assert [(item.success, item.failure) for item in used] == [(False, "difference")]
    assert state.campaign.concluded is not None
    assert shared_library(tmp_path).standing(draft.name).status == "retired"
