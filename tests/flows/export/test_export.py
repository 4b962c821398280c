"""What leaves a run, and that others can read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lakatos.flows.errors import ExportError, RunMissingError
from lakatos.flows.export.crate import write_crate
from lakatos.flows.export.evaluation_log import write_logs
from lakatos.flows.export.markdown import as_markdown
from lakatos.flows.export.spans import send_spans
from lakatos.flows.export.training import _credited, is_recovery, write_training
from lakatos.flows.report.why import why
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.theories.findings.verdicts.record import CampaignConcluded

sys.path.insert(0, str(Path(__file__).parent))
from rewinding import run_of_a_model, tiny_run
from small import records

HERE = Path(__file__).parent


@contextmanager
def collector(*answers: tuple[int, str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A collector that keeps what it is sent, and answers as told, then 200."""
    bodies: list[dict[str, Any]] = []
    todo = list(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version: ClassVar[str] = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, text = todo.pop(0) if todo else (200, "{}")
            if status == 200 and self.path == "/v1/traces":
                bodies.append(json.loads(body))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *values: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    finally:
        server.shutdown()
        server.server_close()


def spans_in(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        span
        for body in bodies
        for part in body["resourceSpans"]
        for scope in part["scopeSpans"]
        for span in scope["spans"]
    ]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}


# -- without language models -----------------------------------------------------------------------------------------


def test_a_verdict_is_followed_down_to_all_responses() -> None:
    found = why(tiny_run())
    assert (found.n_responses, found.n_people, found.by_machine) == (192, 16, True)
    lines = list(found.tree())
    assert "responses of 8 simulated participants to experiment 2.1" in "\n".join(lines)
    assert lines[0].endswith(f"[record {found.reason.seq}, #{found.reason.digest[:8]}]")
    assert not [kind for kind in RECORD_TYPES if "_" in kind and kind in "\n".join(lines)]
    assert len(list(found.tree(1))) == 2
    assert found.broken == ()
    assert all(item.nats > 0 for item in found.carried)
    assert 3 <= len(found.brief) <= 5
    assert (
        found.brief[-1]
        == "It is based on 192 responses of 16 participants, simulated or given by a language model."
    )
    assert any("The strongest" in line and "95% interval" in line for line in found.brief)
    (verdict,) = records(tiny_run(), CampaignConcluded)
    state, trace = read_state(tiny_run())
    trace.close()
    assert verdict.rival in state.seeds
    rival = state.theories.name(verdict.rival)
    assert f"choices better than {rival}, the closest" in verdict.text
    assert f"The closest initial theory is {rival}." in found.brief
    leader = why(tiny_run(), "leader")
    assert leader.reason.kind == "cycle_closed"
    assert len(leader.brief) == 1
    record = why(tiny_run(), str(leader.reason.seq))
    assert record.reason == leader.reason
    with pytest.raises(RunMissingError, match="nothing is called 'phlogiston'"):
        why(tiny_run(), "phlogiston")
    with pytest.raises(RunMissingError):
        why(Path("nowhere"))


def test_a_crate_describes_every_file_it_holds_and_names_nobody(tmp_path: Path) -> None:
    metadata = json.loads(
        write_crate(
            tiny_run(), tmp_path / "crate", author="https://orcid.org/0000 Ada"
        ).read_bytes()
    )
    entities = {item["@id"]: item for item in metadata["@graph"]}
    files = {
        path.relative_to(tmp_path / "crate").as_posix()
        for path in (tmp_path / "crate").rglob("*")
        if path.is_file()
    }
    listed = {item["@id"] for item in entities["./"]["hasPart"]}
    assert listed == files - {"ro-crate-metadata.json"}
    assert {
        "records.jsonl",
        "prov.json",
        "report.html",
        "report.md",
        "answers/answers.csv",
        "theories/T1.py",
    } <= listed
    assert entities["#run"]["actionStatus"].endswith("CompletedActionStatus")
    assert entities["https://orcid.org/0000"]["name"] == "Ada"
    prov = json.loads((tmp_path / "crate" / "prov.json").read_bytes())
    assert set(prov["wasGeneratedBy"]) and set(prov["used"])  # noqa: PT018
    known = {*prov["entity"], *prov["activity"], *prov["agent"]}
    parts = ("used", "wasGeneratedBy", "wasDerivedFrom", "wasAssociatedWith")
    related = [item for part in parts for item in prov[part].values()]
    assert {
        value for item in related for name, value in item.items() if name != "prov:time"
    } <= known
    with pytest.raises(ExportError, match="not empty"):
        write_crate(tiny_run(), tmp_path / "crate")


def test_spans_of_every_step_reach_a_collector_under_one_trace() -> None:
    with collector((503, "busy")) as (endpoint, bodies):
        n = send_spans(tiny_run(), endpoint)
    spans = spans_in(bodies)
    assert len(spans) == n
    root = next(span for span in spans if "parentSpanId" not in span)
    assert {span["traceId"] for span in spans} == {root["traceId"]}
    assert len({span["spanId"] for span in spans}) == n
    assert {span["parentSpanId"] for span in spans if span is not root} == {root["spanId"]}
    assert all(len(span["traceId"]) == 32 and len(span["spanId"]) == 16 for span in spans)
    assert all(
        int(root["startTimeUnixNano"]) <= int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"])
        for s in spans
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [((400, "no"), "refused the spans: 400"),
     ((200, '{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "old"}}'), "rejected 3 spans .old.")],
)  # fmt: skip
def test_a_collector_that_does_not_take_spans_is_an_error(
    answer: tuple[int, str], words: str
) -> None:
    with collector(answer) as (endpoint, _), pytest.raises(ExportError, match=words):
        send_spans(tiny_run(), endpoint)


def test_exports_that_cannot_be_say_why(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="is no address"):
        send_spans(tiny_run(), "collector")
    with pytest.raises(ExportError, match="cannot be reached"):
        send_spans(tiny_run(), "http://127.0.0.1:9")
    with pytest.raises(ExportError, match="nothing to log"):
        write_logs(tiny_run(), tmp_path)
    with pytest.raises(ExportError, match="nothing to learn from"):
        write_training(tiny_run(), tmp_path)
    with pytest.raises(RunMissingError):
        write_crate(tmp_path / "none", tmp_path / "out")


def test_markdown_keeps_headings_tables_lists_and_code() -> None:
    page = """<head><title>x</title></head><body><nav>no</nav><h2>1 Verdict</h2>
    <p>A <b>bold</b> <em>claim</em> &amp; 2 * 3.</p><ul><li>one</li><li>two</li></ul>
    <table><tr><th>a</th><th>b|c</th></tr><tr><td>1</td><td>2</td></tr></table>
    <svg><text>drawn</text></svg><pre><code>def f(x):
    return x * 2
</code></pre></body>"""
    text = as_markdown(page)
    assert text.startswith(
        "## 1 Verdict\n\nA **bold** *claim* & 2 \\* 3.\n\n- one\n- two\n\n| a | b\\|c |\n| --- | --- |\n| 1 | 2 |"
    )
    assert "```python\ndef f(x):\n    return x * 2\n```" in text
    assert "drawn" not in text
    assert "no" not in text.split()


def test_credit_is_the_rise_of_the_share_that_ends_well_and_what_was_cut_off_has_none() -> None:
    def line(*states: str, outcome: float | None) -> dict[str, Any]:
        steps = [{"action": "write", "from": one, "to": two} for one, two in pairwise(states)]
        return {"steps": steps, "outcome": outcome}

    lines = [
        line("asked", "refused", "submitted", outcome=1.0),
        line("asked", "refused", outcome=0.0),
        line("asked", "submitted", outcome=1.0),
        line("asked", "cut off", outcome=None),
    ]
    first, second, third, cut = (item["steps"] for item in _credited(lines))
    # Of three that came to an end two ended well; of two through a refusal one; of two that were submitted both.
    assert [step["credit"] for step in first] == pytest.approx([1 / 2 - 2 / 3, 1 - 1 / 2])
    assert [step["credit"] for step in second] == pytest.approx([1 / 2 - 2 / 3])
    assert [step["credit"] for step in third] == pytest.approx([1 - 2 / 3])
    assert [(step["credit"], step["masked"]) for step in cut] == [(None, True)]


# -- read back by others ---------------------------------------------------------------------------------------------


def interpreter(variable: str, require: Any) -> str:
    """Python of an environment that holds what the test needs."""
    found = os.environ.get(variable, "")
    require(found, f"{variable} names no Python; docs/forensics.md says what it needs")
    return found


def read_back(python: str, *arguments: str) -> Any:
    done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
def test_the_public_validator_takes_the_crate(tmp_path: Path, require: Any) -> None:
    python = interpreter("LAKATOS_CRATE_PYTHON", require)
    write_crate(tiny_run(), tmp_path / "crate", author="Ada")
    for profile in ("ro-crate-1.1", "process-run-crate-0.5"):
        found = read_back(
            python, str(HERE / "validating.py"), str(tmp_path / "crate"), profile, "REQUIRED"
        )
        assert found["issues"] == []
        assert found["same"] is True


LOGS = """
import json, sys
from inspect_ai.log import read_eval_log
found = []
for path in sys.argv[1:]:
    log = read_eval_log(path)
    found.append([log.status, log.eval.model, len(log.samples), log.samples[0].scores["checked"].value,
                  log.samples[0].output.completion[:20], log.results.scores[0].metrics["accuracy"].value])
print(json.dumps(found))
"""


@pytest.mark.long
def test_inspect_reads_the_logs_of_calls(tmp_path: Path, require: Any) -> None:
    python = interpreter("LAKATOS_INSPECT_PYTHON", require)
    paths = write_logs(run_of_a_model(), tmp_path)
    found = read_back(python, "-c", LOGS, *map(str, paths))
    assert len(found) == len(paths) > 3
    assert all(
        status == "success" and model.startswith("openai-api/") and n > 0
        for status, model, n, *_ in found
    )


DECODED = """
import json, sys
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
n = 0
for line in open(sys.argv[1]):
    value = json.loads(line)
    for part in value["resourceSpans"]:
        for scope in part["scopeSpans"]:
            for span in scope["spans"]:  # OTLP writes identifiers in hexadecimal where protobuf's JSON has base64
                import base64
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    request = Parse(json.dumps(value), ExportTraceServiceRequest())
    n += sum(len(scope.spans) for part in request.resource_spans for scope in part.scope_spans)
print(n)
"""


@pytest.mark.long
def test_the_protocols_own_definition_decodes_the_spans(tmp_path: Path, require: Any) -> None:
    python = interpreter("LAKATOS_OTLP_PYTHON", require)
    with collector() as (endpoint, bodies):
        n = send_spans(tiny_run(), endpoint)
    (tmp_path / "bodies").write_text("".join(json.dumps(body) + "\n" for body in bodies))
    assert read_back(python, "-c", DECODED, str(tmp_path / "bodies")) == n


# -- with language models --------------------------------------------------------------------------------------------


@pytest.mark.long
def test_calls_are_spans_by_the_conventions_and_contents_stay_unless_asked_for() -> None:
    with collector() as (endpoint, bodies):
        send_spans(run_of_a_model(), endpoint)
    chats = [span for span in spans_in(bodies) if span["name"].startswith("chat ")]
    agents = {
        span["spanId"]: span
        for span in spans_in(bodies)
        if span["name"].startswith("invoke_agent ")
    }
    assert chats
    assert all(span["kind"] == 3 for span in chats)
    assert all(span["parentSpanId"] in agents for span in chats)
    one = attributes(chats[0])
    assert one["gen_ai.operation.name"] == "chat"
    assert int(one["gen_ai.usage.input_tokens"]) > 0
    assert not any("gen_ai.input.messages" in attributes(span) for span in chats)
    with collector() as (endpoint, bodies):
        send_spans(run_of_a_model(), endpoint, contents=True)
    assert any("gen_ai.input.messages" in attributes(span) for span in spans_in(bodies))


@pytest.mark.parametrize("before", ["asked", "looked", "submitted", "cut off"])
def test_a_draft_after_one_that_was_not_refused_is_no_recovery(before: str) -> None:
    assert not is_recovery(before, "submitted")


@pytest.mark.parametrize("before", ["refused: TheoryLintError", "duplicate: this", "unreadable: x"])
def test_a_draft_after_a_refused_one_is_a_recovery_once_it_is_fitted(before: str) -> None:
    assert is_recovery(before, "submitted")
    assert not is_recovery(before, "refused: TheoryLintError")


@pytest.mark.long
def test_training_data_hold_what_passed_repairs_as_preferences_and_recoveries(
    tmp_path: Path,
) -> None:
    paths = {path.stem: path for path in write_training(run_of_a_model(), tmp_path)}
    lines = {name: [json.loads(line) for line in path.read_text().splitlines()]
             for name, path in paths.items() if path.suffix == ".jsonl"}  # fmt: skip
    assert all(line["messages"][-1]["role"] == "assistant" for line in lines["supervised"])
    repaired = [line for line in lines["preferences"] if line["metadata"]["reason"] == "repaired"]
    assert any("parametres" in line["rejected"][0]["content"] for line in repaired)
    assert not any("parametres" in line["chosen"][0]["content"] for line in repaired)
    steps = [step for line in lines["trajectories"] for step in line["steps"]]
    assert any(step["recovery"] for step in steps)
    assert all(step["credit"] is None for step in steps if step["masked"])
    assert "| supervised.jsonl |" in paths["README"].read_text()
