"""In a campaign: inquiries are recorded calls, learned tools are used and fall back to text, and no fault stops it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from lakatos.flows.roles.remember import keep_library, library_path, rebuild_library
from lakatos.flows.run.run import open_run, read_state
from lakatos.flows.start import resume_run, run_study
from lakatos.language_models.client import TokenUsage
from lakatos.language_models.embedding import embed
from lakatos.language_models.errors import LanguageModelError
from lakatos.language_models.settings import ModelSettings
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.item import PlanUsed
from lakatos.memory.plan import Plan
from lakatos.memory.runner import ToolSandbox
from lakatos.memory.signature import canonical_form
from lakatos.traces.fold import canonical_digest
from tests.flows.remembering import write_run, write_tool
from tests.flows.small import small_study

SMALL = {
    "stop": {"cycles": 1, "least_cycles": 1},
    "design": {"trials": 6, "participants": 20, "candidates": 25, "power": 0.5, "refused": "cover"},
    "theories": {
        "seeds": ["take_the_best", "tallying", "weighted_additive"],
        "candidates": 4,
        "successors": 1,
        "draws": 64,
        "rivals": 3,
        "induction": False,
    },
}


def study(**memory):
    return small_study(**SMALL, memory={"inquiries": True, **memory})


def uses(folder):
    state, trace = read_state(folder)
    with trace:
        return (
            state,
            [item.record for item in trace.records(PlanUsed)],
            [i.record for i in trace.records(ToolCalled)],
        )


@pytest.fixture
def runs(tmp_path):
    """Three studies that followed the plan of sounding out."""
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder, [write_run(folder, number) for number in range(3)]


@pytest.mark.long
def test_an_inquiry_is_recorded_call_by_call_and_read_off_as_the_plan_that_was_followed(runs):
    folder, plans = runs
    run_study(study(arm="text", shared=True), folder / "a", n_workers=1)
    state, _, calls = uses(folder / "a")
    (made,) = [item.record for item in state.inquiries]
    assert [item.tool for item in calls] == ["search_design", "recover"] * 2
    ((_, plan),) = state.library.all(Plan)
    assert plan.evidence == made.calls
    assert (
        canonical_form(plan.steps).digest == made.signature == canonical_form(plans[0].steps).digest
    )
    assert any(item.record.passed for item in state.trials_proposed)
    assert state.taken.record.n_lessons == 3
    keep_library(folder)
    assert library_path(folder).read_bytes() == rebuild_library(folder).to_bytes()


@pytest.mark.long
def test_a_learned_tool_is_used_where_its_plan_recurs_first_beside_the_text(runs):
    folder, plans = runs
    with ToolSandbox() as sandbox:
        draft = write_tool(folder, plans, sandbox)
    keep_library(folder)
    run_study(study(arm="tools", shared=True), folder / "a", n_workers=1)
    state, used, calls = uses(folder / "a")
    assert [item.record.tool for item in state.inquiries] == [draft.name]
    assert [(item.tool, item.success, item.shadow_matches) for item in used] == [
        (draft.name, True, True)
    ]
    assert [item.tool for item in calls] == [draft.name, *["search_design", "recover"] * 2]
    assert rebuild_library(folder).standing(draft.name).shadows == 1
    # What was done is found again: another pass records nothing.
    with open_run(folder / "a", n_workers=1) as run:
        before = canonical_digest(run.trace.journal.events())
    resume_run(folder / "a", n_workers=1)
    with open_run(folder / "a", n_workers=1) as run:
        assert canonical_digest(run.trace.journal.events()) == before


@pytest.mark.long
def test_a_tool_that_fails_hands_over_to_its_text_and_the_failure_counts_against_it(runs):
    folder, plans = runs

    def broken(draft):
        source = draft.source.replace(
            'return {"steps": [step_0, step_1]}', 'return {"steps": [step_1, step_0]}'
        )
        assert source != draft.source
        return draft.model_copy(update={"source": source})

    with ToolSandbox() as sandbox:
        draft = write_tool(folder, plans, sandbox, broken)
    keep_library(folder)
    run_study(study(arm="tools", shared=True), folder / "a", n_workers=1)
    state, used, _ = uses(folder / "a")
    assert [item.record.complete for item in state.inquiries] == [True]
    assert [item.record.tool for item in state.inquiries] == [""]
    assert [(item.success, item.failure, item.hard) for item in used] == [
        (False, "postcondition", True)
    ]
    assert state.concluded is not None
    assert rebuild_library(folder).standing(draft.name).failures == 1


@pytest.mark.long
def test_with_a_corrupt_library_the_campaign_goes_on_and_says_so(runs):
    folder, _ = runs
    keep_library(folder)
    library_path(folder).write_bytes(b"torn")
    run_study(study(arm="text", shared=True), folder / "a", n_workers=1)
    state, trace = read_state(folder / "a")
    trace.close()
    assert "lakatos memory rebuild" in state.taken.record.problem
    assert state.taken.record.n_lessons == 0
    assert state.concluded is not None


class Embeddings(BaseHTTPRequestHandler):
    """Three numbers for each text: how often it says conflict, how often noise, and one."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = [
            {
                "object": "embedding",
                "index": place,
                "embedding": [text.count("conflict"), text.count("noise"), 1.0],
            }
            for place, text in enumerate(asked["input"])
        ]
        n_words = sum(len(text.split()) for text in asked["input"])
        usage = {"prompt_tokens": n_words, "total_tokens": n_words}
        body = json.dumps({"object": "list", "data": data, "model": "x", "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


@pytest.fixture
def endpoint():
    server = HTTPServer(("127.0.0.1", 0), Embeddings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def test_embeddings_come_from_any_endpoint_that_speaks_the_protocol(endpoint):
    settings = ModelSettings(name="e", model="x", base_url=endpoint)
    found = embed(settings, ["conflict conflict", "noise"])
    assert np.array_equal(found.vectors, [[2, 0, 1], [0, 1, 1]])
    assert found.usage == TokenUsage(n_prompt_tokens=3)


def test_an_endpoint_that_is_not_there_says_what_happens_instead():
    settings = ModelSettings(name="e", model="x", base_url="http://127.0.0.1:9/v1", timeout_s=2.0)
    with pytest.raises(LanguageModelError, match="shared words"):
        embed(settings, ["a"])
