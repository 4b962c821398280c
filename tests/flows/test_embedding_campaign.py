"""In a campaign lessons are recalled by embeddings of an endpoint: recorded, within the budget, and asked for once."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.errors import FlowError
from lakatos.flows.roles.budget import raise_budget
from lakatos.flows.roles.remember import LED
from lakatos.flows.run.memory_records import TextsEmbedded
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.start import resume_run, run_study
from lakatos.language_models.ledger import Budget, spending_of
from lakatos.memory.item import Fact
from lakatos.traces.step import Trace

sys.path.insert(0, str(Path(__file__).parent))
from small import QUICK, form, small_study

N_TOKENS = 7
"""Of each text, as the endpoint counts."""
NEAR, FAR = "comparison:noise", "comparison:memory"
"""Two compositions that led elsewhere, in words of which the situation shares none."""


class Endpoint(BaseHTTPRequestHandler):
    """Near is what speaks of noise, and the situation; what speaks of memory is far from both."""

    def do_POST(self) -> None:
        self.server.n_asked += 1  # type: ignore[attr-defined]
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        vectors = [[0.0, 1.0] if FAR in text else [1.0, 0.0] for text in texts]
        data = [
            {"object": "embedding", "index": place, "embedding": vector}
            for place, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": N_TOKENS * len(texts), "total_tokens": N_TOKENS * len(texts)}
        body = json.dumps({"object": "list", "data": data, "model": "x", "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    server.n_asked = 0  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with the trace of a study that left two facts behind."""
    with Trace.create(tmp_path / "before", seed=1, types=RECORD_TYPES) as trace:
        for number, statement in enumerate((NEAR, FAR)):
            evidence = (trace.artifacts.put_json([number]),)
            fact = Fact(
                domain="multiattribute",
                subject=f"{LED} in {number}",
                statement=statement,
                evidence=evidence,
            )
            trace.record(fact, name="fact", inputs=evidence)
    return tmp_path


def study(server: HTTPServer, **changes: Any) -> Any:
    address = f"http://127.0.0.1:{server.server_port}/v1"
    return small_study(
        models={"near": {"base_url": address, "model": "x", "price": {"input": 2.0}}},
        memory={"shared": True, "embeddings": "near"},
        **QUICK,
        **changes,
    )


def embedded(folder: Path) -> tuple[list[TextsEmbedded], Any]:
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return [item.record for item in trace.records(TextsEmbedded)], spending_of(
            trace.journal.events()
        ).total


@pytest.mark.long
def test_what_is_near_comes_back_once_asked_for_counted_and_never_asked_again(
    runs: Path, server: HTTPServer
) -> None:
    folder = runs / "own"
    run_study(study(server, budget={"tokens": 5000}), folder, n_workers=1)
    (record,), total = embedded(folder)
    assert record.vectors is not None
    assert (total.requests, total.tokens, total.millionths) == (1, 3 * N_TOKENS, 2 * 3 * N_TOKENS)
    state, trace = read_state(folder)
    trace.close()
    before = form(folder)
    (back,) = (item.record for item in state.recalled if item.record.stage == "revise")
    assert [NEAR in text for text in back.texts] == [True]
    # The endpoint is gone: nothing of it is needed again.
    server.shutdown()
    server.server_close()
    resume_run(folder, n_workers=1)
    assert audit(folder, n_workers=1).passed
    assert form(folder) == before
    assert server.n_asked == 1  # type: ignore[attr-defined]


@pytest.mark.long
def test_a_budget_that_does_not_cover_it_stops_the_run_which_goes_on_with_a_larger_one(
    runs: Path, server: HTTPServer
) -> None:
    folder = runs / "own"
    with pytest.raises(FlowError, match="lakatos models budget"):
        run_study(study(server, budget={"tokens": 10}), folder, n_workers=1)
    assert server.n_asked == 0  # type: ignore[attr-defined]
    assert embedded(folder)[0] == []
    raise_budget(folder, Budget(tokens=5000))
    resume_run(folder, n_workers=1)
    assert [item.vectors is not None for item in embedded(folder)[0]] == [True]
    assert audit(folder, recompute="none").passed


@pytest.mark.long
def test_without_budget_or_endpoint_a_study_that_goes_on_recalls_by_shared_words(
    runs: Path, server: HTTPServer
) -> None:
    folder = runs / "own"
    run_study(
        study(server, budget={"tokens": 10}, roles={"exhausted": "go_on"}), folder, n_workers=1
    )
    (record,), total = embedded(folder)
    assert (record.vectors, record.reason, total.tokens) == (
        None,
        "the budget does not cover it",
        0,
    )
    server.shutdown()
    server.server_close()
    run_study(study(server), runs / "another", n_workers=1)
    (record,), total = embedded(runs / "another")
    assert record.vectors is None
    assert "recalled by shared words" in record.reason
    assert total.tokens > 0  # nobody knows what the server did
