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
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lakatos.flows.errors import ExportError, RunMissingError
from lakatos.flows.export.crate import write_crate
from lakatos.flows.export.evaluation_log import write_logs
from lakatos.flows.export.spans import send_spans
from lakatos.flows.report.reader import open_reading
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
    assert found.brief[-1].startswith(
        "The verdict and the estimates behind it are based on 192 responses of 16 simulated participants"
    )
    with open_reading(tiny_run()) as reading:
        (first,) = (digest for digest, label in reading.labels.items() if label.tag == "T1")
    assert why(tiny_run(), "T1").reason == why(tiny_run(), first).reason
    assert any(
        line.startswith("No experiment by itself shows an advantage") and "95% interval" in line
        for line in found.brief
    )
    (verdict,) = records(tiny_run(), CampaignConcluded)
    state, trace = read_state(tiny_run())
    trace.close()
    assert verdict.rival in state.seeds
    rival = state.theories.name(verdict.rival)
    assert f"choices better than {rival}, the closest" in verdict.text
    assert f" than {rival}, the closest initial theory, on " in " ".join(found.brief)
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
    with pytest.raises(RunMissingError):
        write_crate(tmp_path / "none", tmp_path / "out")


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
    probes = [span for span in chats if attributes(span)["lakatos.role"] == "probe"]
    assert len(probes) == 1  # the one question that a run asks first stands in no role
    assert all((span["parentSpanId"] in agents) == (span not in probes) for span in chats)
    one = attributes(chats[0])
    assert one["gen_ai.operation.name"] == "chat"
    assert int(one["gen_ai.usage.input_tokens"]) > 0
    assert not any("gen_ai.input.messages" in attributes(span) for span in chats)
    with collector() as (endpoint, bodies):
        send_spans(run_of_a_model(), endpoint, contents=True)
    assert any("gen_ai.input.messages" in attributes(span) for span in spans_in(bodies))
