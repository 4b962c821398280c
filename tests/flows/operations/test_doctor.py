"""What the doctor finds, the figures for Prometheus, and lines of JSON for machines that collect logs."""

from __future__ import annotations

import http.server
import io
import json
import os
import socket
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lakatos.flows.errors import FlowError
from lakatos.flows.operations import doctor
from lakatos.flows.operations.backup import restore
from lakatos.flows.operations.metrics import metrics, serve_metrics
from lakatos.flows.run.logs import json_lines, line
from lakatos.flows.run.progress import CampaignProgress, LeaderRow
from lakatos.traces.inbox import Inbox
from lakatos.traces.journal import Journal
from lakatos.traces.step import INBOX_FILE, JOURNAL_FILE

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "format-1.tar.gz"
NOW = datetime.now(UTC)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    restore(GOLDEN, tmp_path / "runs")
    return tmp_path / "runs"


@contextmanager
def server(status: int = 200, body: bytes = b"{}", date: datetime | None = None) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response_only(status)
            self.send_header(
                "Date", (date or datetime.now(UTC)).strftime("%a, %d %b %Y %H:%M:%S GMT")
            )
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}"
        finally:
            listening.shutdown()
            thread.join()


def test_versions_with_which_prefect_does_not_work_are_named() -> None:
    assert doctor._below("pytest", (999, 0), "nothing").state == "ok"
    found = doctor._below("pytest", (1, 0), "the sky falls")
    assert found.state == "wrong"
    assert "from 1.0 on the sky falls" in found.detail
    assert doctor._below("no-such-package", (1, 0), "").state == "wrong"


def test_the_versions_that_are_installed_are_those_that_work() -> None:
    assert {item.name: item.state for item in doctor._versions()}["sqlalchemy"] == "ok"
    assert all(item.state == "ok" for item in doctor._versions())


def test_a_database_is_really_written_and_nothing_is_left(tmp_path: Path) -> None:
    assert doctor._database(tmp_path).state == "ok"
    assert not list(tmp_path.iterdir())
    assert doctor._database(tmp_path / "nothing").state == "wrong"


def test_a_port_that_is_taken_is_named_with_what_wants_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        (found,) = doctor._ports({"page": port})
        assert found.state == "missing"
        assert "another for the page" in found.detail
    (found,) = doctor._ports({"page": port})
    assert found.state == "ok"


def test_servers_are_asked_and_one_whose_clock_differs_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with server() as address:
        monkeypatch.setenv("PREFECT_API_URL", f"{address}/api")
        assert doctor._prefect_server().state == "ok"
    assert "cannot be reached" in doctor._prefect_server().detail
    with server(date=datetime.now(UTC) - timedelta(hours=1)) as address:
        monkeypatch.setenv("PREFECT_API_URL", f"{address}/api")
        found = doctor._prefect_server()
    assert found.state == "wrong"
    assert "its clock is -36" in found.detail
    with server(body=b'{"data": [{"id": "tiny"}]}') as address:
        assert doctor._model_server(f"{address}/v1").detail.endswith("tiny")
    with server(status=503) as address:
        assert "status 503" in doctor._model_server(f"{address}/v1").detail


def test_a_clock_that_was_set_back_behind_a_journal_is_wrong(runs: Path) -> None:
    assert [item.state for item in doctor._clock(runs, NOW)] == ["ok"]
    with Journal.open(runs / "people" / JOURNAL_FILE, read_only=True) as journal:
        last = journal.store.last()
    assert last is not None
    (found,) = doctor._clock(runs, datetime.fromisoformat(last.time_utc) - timedelta(days=2))
    assert found.state == "wrong"
    assert "it was set back" in found.detail
    (found,) = doctor._clock(None, datetime(2001, 1, 1, tzinfo=UTC))
    assert "before this version was made" in found.detail


def test_runs_that_cannot_be_read_or_were_begun_by_other_code_are_named(runs: Path) -> None:
    (runs / "broken").mkdir()
    (runs / "broken" / JOURNAL_FILE).write_bytes(b"no database " * 100)
    found = {item.name: item for item in doctor._runs(runs)}
    assert found["run broken"].state == "wrong"
    assert "runs" in found


# -- metrics ---------------------------------------------------------------------------------------------------------


def test_metrics_are_read_by_prometheus_own_reader_and_count_what_is_there(runs: Path) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    Inbox(runs / "people" / INBOX_FILE).deliver("file", {"n": 1}, batch_key="1")
    (runs / "broken").mkdir()
    (runs / "broken" / JOURNAL_FILE).write_bytes(b"no database " * 100)
    strange = runs / 'a "run"\\'
    os.rename(runs / "simulated", strange)
    families = {family.name: family for family in text_string_to_metric_families(metrics(runs))}
    values = {
        (sample.name, sample.labels.get("run", "")): sample.value
        for family in families.values()
        for sample in family.samples
    }
    assert values["lakatos_runs", ""] == 2
    assert values["lakatos_runs_unreadable", ""] == 1
    assert values["lakatos_run_batches_pending", "people"] == 1
    assert values["lakatos_run_due", "people"] == 1
    assert values["lakatos_run_records", strange.name] > 20
    assert all(family.documentation for family in families.values())


def test_metrics_are_whole_for_the_reader_of_open_metrics(runs: Path) -> None:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    text = metrics(runs)
    assert text.endswith("\n# EOF\n")
    assert {family.name for family in text_string_to_metric_families(text)} >= {"lakatos_runs"}
    with pytest.raises(ValueError, match="EOF"):
        list(text_string_to_metric_families(text.removesuffix("# EOF\n")))
    with serve_metrics(runs) as port:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/metrics",
            headers={"Accept": "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"},
        )
        with urllib.request.urlopen(asked) as answer:
            assert answer.headers["Content-Type"].startswith(
                "application/openmetrics-text; version=1.0.0"
            )
            assert answer.read().endswith(b"\n# EOF\n")


def test_metrics_are_served_on_their_path_only_and_a_taken_port_is_named(runs: Path) -> None:
    with serve_metrics(runs) as port:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert b"lakatos_runs 2" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/")
        with (
            pytest.raises(FlowError, match=f"cannot listen on port {port}"),
            serve_metrics(runs, port=port),
        ):
            pass


# -- logs ------------------------------------------------------------------------------------------------------------


def test_progress_as_lines_of_json_escapes_what_could_disturb_a_terminal() -> None:
    stream = io.StringIO()
    progress = CampaignProgress(json_lines(stream, run="a"))
    progress.start("Which rule?", 5)
    progress.stage(1, "score", "3 theories")
    progress.leaderboard([LeaderRow("evil\x1b[2J\n", -0.5, 0.1, False)])
    with progress:
        progress.finish("done")
    text = stream.getvalue()
    assert "\x1b" not in text
    lines = [json.loads(item) for item in text.splitlines()]
    assert [item["event"] for item in lines] == ["campaign", "stage", "leaderboard", "finished"]
    assert all(item["run"] == "a" and datetime.fromisoformat(item["time"]).tzinfo for item in lines)
    assert json.loads(line("x", "error", path=Path("a")))["level"] == "error"
