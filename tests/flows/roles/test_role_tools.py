"""Roles that call the laboratory's tools before they answer: over HTTP, with a good model, a bad one, and a kill."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.errors import StudyError
from lakatos.flows.report.report import write_report
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.start import resume_run, run_study
from lakatos.language_models.client import ModelCompletion, ModelRequest, TokenUsage, ToolCall
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.errors import ContextTooLongError
from lakatos.language_models.ledger import spending_of
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.settings import ModelSettings
from lakatos.language_models.tool_record import ToolCalled
from lakatos.theories.discovery.roles.record import CaseRead, MatterInvestigated, RoleAnswered
from lakatos.traces.step import Trace
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.fault import ServerMisbehaviour
from tests.rehearsal.serve import running

sys.path.insert(0, str(Path(__file__).parent))
from answering import HIDDEN, Speaker, claim, good, task_of
from small import form, records, small_study, spawn, write_study

LARGE = RehearsalSettings(context_tokens=32768)
TOOLS = ["score", "compare_predictions", "simulate"]
Call = tuple[str, dict[str, Any]]
ATTACK = "People look at odd sums.<script>alert(1)</script><img src=x onerror=alert(1)>"


def changes(base_url: str, **roles: Any) -> dict[str, Any]:
    """One cycle and the beginning of the next, an arbiter and a reviser with tools."""
    named = {
        "arbiter": "writer",
        "reviser": "writer",
        "lenses": ["leap"],
        "max_tokens": 1500,
        "tools": TOOLS,
    }
    return {
        "models": {"writer": {"base_url": base_url, "model": LARGE.model}},
        "roles": {**named, **roles},
        "participants": {"source": "simulated", "program": HIDDEN},
        "theories__induction": False,
        "theories__candidates": 2,
        "theories__seeds": ["take_the_best", "tallying"],
    }


def looking(body: Mapping[str, Any], rng: np.random.Generator) -> str | Sequence[Call] | None:
    """A model that scores the theories first, slips twice, says what it found, and then answers as the good one."""
    if "response_format" in body:
        return _citing(body) if task_of(body) == "arbiter" else good(body, rng)
    n_turns = sum(message["role"] == "assistant" for message in body["messages"])
    shown = "\n".join(message["content"] for message in body["messages"])
    experiment = re.findall(r"(?m)^experiments: ([^;\s]+)", shown)[0]
    score: Call = (
        "score",
        {"theories": ["Take the best", "Tallying"], "experiments": [experiment]},
    )
    if n_turns == 0:
        slips: list[Call] = [("scroe", {}), ("score", {"theory": "Tallying"}), score]
        return slips
    if n_turns == 1:
        return [score, score]
    mark = re.findall(r"from score, record (#[0-9a-f]+)", shown)[0]
    best = re.findall(r'"score": (-[0-9.]+)', shown)[0]
    return f"The best score is {float(best):.3f} {mark}."


def _citing(body: Mapping[str, Any]) -> str:
    """The arbiter's answer: one number from a tool's result, one made up."""
    shown = "\n".join(message["content"] for message in body["messages"])
    mark, best = re.findall(r'from score \{.*? (#[0-9a-f]+)>\n.*?"score": (-[0-9.]+)', shown)[0]
    statements = [
        {
            "text": f"The best score is {value} nats per choice.",
            "cites": [mark],
            "claims": [claim("lines.0.score", "", "", "", value=value, unit="none")],
        }
        for value in (f"{float(best):.3f}", "-0.111")
    ]
    return json.dumps({"statements": statements, "hypothesis": ATTACK, "change": "Look at sums."})


@pytest.fixture(scope="module")
def speaker() -> Speaker:
    return Speaker(looking)


@pytest.fixture(scope="module")
def finished(
    tmp_path_factory: pytest.TempPathFactory, speaker: Speaker
) -> Iterator[tuple[Path, Any]]:
    """A campaign whose roles call tools well, and its server."""
    folder = tmp_path_factory.mktemp("runs") / "tools"
    with running(LARGE, speaker) as served:
        run_study(small_study(**changes(served.base_url)), folder, n_workers=1)
        yield folder, served


@pytest.mark.long
def test_every_call_of_a_tool_is_a_step_with_exactly_what_it_returned(
    finished: tuple[Path, Any],
) -> None:
    folder, _ = finished
    looked = records(folder, MatterInvestigated)
    assert {(item.role, item.outcome) for item in looked} == {
        ("arbiter", "answered"),
        ("reviser", "answered"),
    }
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        for item in looked:
            assert len(item.calls) == 3
            # The same call is made twice and no more; both times it gives the same.
            first, second = (trace.get(digest, ToolCalled) for digest in item.results)
            assert (first.tool, first.value, first.arguments) == (
                "score",
                second.value,
                second.arguments,
            )
            value = trace.artifacts.get_json(first.value)
            assert value["lines"][0]["score"] >= value["lines"][1]["score"]


@pytest.mark.long
def test_slips_are_refused_with_the_closest_valid_name_and_loops_are_cut(
    finished: tuple[Path, Any],
) -> None:
    for item in records(finished[0], MatterInvestigated):
        unknown, invented, repeated = item.refused
        assert "there is no tool 'scroe'; the closest are score" in unknown
        assert "there is no argument 'theory'; the closest are theories" in invented
        assert "was made 2 times already" in repeated


@pytest.mark.long
def test_numbers_quoted_are_held_against_what_the_tool_returned(finished: tuple[Path, Any]) -> None:
    for item in records(finished[0], MatterInvestigated):
        assert item.problems == ()
        assert item.notes.startswith("The best score is -0.")
    for item in records(finished[0], CaseRead):
        assert [statement.supported for statement in item.statements] == [True, False]


@pytest.mark.long
def test_an_answer_cites_its_conversation_and_falls_with_what_its_tools_saw(
    finished: tuple[Path, Any],
) -> None:
    folder, _ = finished
    looked = {(item.cycle, item.subject): item for item in records(folder, MatterInvestigated)}
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        events = {event.record_digest: event for event in trace.journal.events()}
        collected = {digest for digest, event in events.items() if event.kind == "trials_collected"}
        said = [
            item for item in records(folder, RoleAnswered) if item.task in ("arbiter", "reviser")
        ]
        first = {(item.cycle, item.subject): item for item in reversed(said)}
        for (
            place,
            item,
        ) in first.items():  # what is mended afterwards has no conversation of its own
            own = looked[place]
            assert item.calls[: len(own.calls)] == own.calls
            assert set(own.results) <= set(events[item.calls[-1]].inputs)
            assert all(set(events[digest].inputs) & collected for digest in own.results)
    assert audit(folder, n_workers=1).passed


@pytest.mark.long
def test_the_report_shows_what_was_said_and_what_became_of_it_as_text(
    finished: tuple[Path, Any], tmp_path: Path
) -> None:
    page = write_report(finished[0], tmp_path / "report.html").read_text()
    section = page[page.index('id="models"') : page.index('id="limits"')]
    assert "9 Language models" in section
    assert "10 Limitations" in page
    assert "&lt;script&gt;alert(1)" in section
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "accepted</span> supported: " in section
    assert "not accepted</span> not borne out" in section
    assert "call not made: scroe: unknown_tool: there is no tool" in section
    assert "first called <code>score {" in section
    assert "rehearsal (vllm-" in section
    with Trace.open(finished[0], RECORD_TYPES, read_only=True) as trace:
        spent = spending_of(trace.journal.events()).total
    assert f"In all {spent.requests} requests and {spent.tokens:,} tokens" in section


@pytest.mark.long
def test_a_conversation_killed_between_its_calls_ends_as_if_nothing_had_happened(
    finished: tuple[Path, Any], speaker: Speaker, tmp_path: Path
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def hanging(body: Mapping[str, Any], rng: np.random.Generator) -> Any:
        if any(message["role"] == "tool" for message in body["messages"]) and not go_on.is_set():
            reached.set()
            go_on.wait(60)
        return looking(body, rng)

    whole, served = finished
    file = write_study(tmp_path, **changes(served.base_url))
    speaker.answer = hanging
    process = spawn("run", str(file), "--runs", str(tmp_path), "--name", "killed")
    try:
        assert reached.wait(200)
    finally:
        process.kill()
        process.wait()
        go_on.set()
        speaker.answer = looking
    assert records(tmp_path / "killed", ToolCalled)
    assert not records(tmp_path / "killed", MatterInvestigated)
    n_before, n_recorded = speaker.n_asked, len(records(tmp_path / "killed", LanguageModelCalled))
    resume_run(tmp_path / "killed", n_workers=1)
    # What was recorded is not asked again.
    assert (
        speaker.n_asked - n_before
        == len(records(tmp_path / "killed", LanguageModelCalled)) - n_recorded
    )
    assert form(tmp_path / "killed") == form(whole)


FAULTS: dict[Any, float] = {
    "server_error": 0.05,
    "dropped": 0.05,
    "repetition": 0.1,
    "empty": 0.1,
    "truncated": 0.1,
    "injection": 0.1,
    "invented_tool": 0.15,
    "malformed_arguments": 0.15,
}


@pytest.mark.long
def test_a_model_that_calls_tools_at_random_and_badly_is_harmless(tmp_path: Path) -> None:
    misbehaving = LARGE.model_copy(
        update={"misbehaviour": ServerMisbehaviour(rates=FAULTS, seed=4, retry_after_s=0)}
    )
    with running(misbehaving) as served:
        roles = {"advocate": "writer", "lenses": ["leap", "simplify", "steelman"]}
        run_study(small_study(**changes(served.base_url, **roles)), tmp_path / "bad", n_workers=1)
    state, trace = read_state(tmp_path / "bad")
    trace.close()
    assert state.campaign.concluded is not None
    assert all(
        "language model" not in item.record.author for item in state.theories.checked.values()
    )
    looked = records(tmp_path / "bad", MatterInvestigated)
    assert {item.role for item in looked} == {"arbiter", "advocate", "reviser"}
    assert len({item.outcome for item in looked}) >= 3
    assert any("unknown_tool" in reason for item in looked for reason in item.refused)
    assert all(not item.notes for item in looked if item.outcome != "answered" or item.problems)
    assert audit(tmp_path / "bad", n_workers=1).passed


def test_a_study_names_tools_that_there_are() -> None:
    models = {"writer": {"client": "scripted"}}
    with pytest.raises(StudyError, match="no tool 'scor'; did you mean 'score'"):
        small_study(models=models, roles={"arbiter": "writer", "tools": ["scor"]})
    with pytest.raises(StudyError, match="a tool is named twice"):
        small_study(models=models, roles={"arbiter": "writer", "tools": ["score", "score"]})


@dataclass(frozen=True)
class Narrow:
    """A model whose context holds the beginning of a conversation, but no question with its exhibits."""

    settings: ModelSettings
    name: str = "writer"
    says: Literal["a call", "nothing"] = "nothing"
    """In the first turn; after a call comes a second turn, which does not fit."""

    @property
    def version(self) -> str:
        return self.settings.version

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        if request.answer_schema is not None or any(
            item.role == "assistant" for item in request.messages
        ):
            raise ContextTooLongError("the prompt does not fit")
        usage = TokenUsage(n_prompt_tokens=100, n_completion_tokens=9)
        calls = (
            (ToolCall(call_id="1", name="recall", arguments="{}"),) if self.says == "a call" else ()
        )
        return ModelCompletion(
            content="Nothing to add.",
            tool_calls=calls,
            finish_reason="stop",
            model_name="narrow",
            usage=usage,
        )


@pytest.mark.long
@pytest.mark.parametrize("says", ["a call", "nothing"])
def test_what_does_not_fit_after_the_beginning_of_a_conversation_is_not_put_again(
    says: Literal["a call", "nothing"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CLIENTS, "narrow", lambda settings: Narrow(settings, says=says))
    study = small_study(
        **{**changes("http://localhost"), "models": {"writer": {"client": "narrow"}}}
    )
    run_study(study, tmp_path / "narrow", n_workers=1)
    answers = records(tmp_path / "narrow", RoleAnswered)
    assert {item.outcome for item in answers} == {"too_long"}
    assert all(item.calls for item in answers)  # of the conversation
    cut = {item.is_cut for item in records(tmp_path / "narrow", MatterInvestigated)}
    assert cut == {says == "a call"}
    found = audit(tmp_path / "narrow", n_workers=1)
    assert found.passed, [item for item in found.findings if not item.passed]
