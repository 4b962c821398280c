"""Messages about runs that concluded arrive at a web address, and stop nothing if they cannot."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from lakatos.flows.run.notify import VARIABLE, notify
from lakatos.flows.start import resume_run, run_study
from tests.flows.small import SHORT, small_study


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An address that receives JSON, and what arrived there."""
    arrived: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            arrived.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"json://127.0.0.1:{server.server_address[1]}/hook", arrived
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_a_run_that_concludes_is_reported_once(
    receiver: tuple[str, list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, arrived = receiver
    monkeypatch.setenv(VARIABLE, address)
    verdict = run_study(small_study(**SHORT), tmp_path / "mine", n_workers=1)
    resume_run(tmp_path / "mine", n_workers=1)
    (message,) = arrived
    assert message["title"] == "Lakatos: the run mine has concluded"
    assert message["message"].startswith(verdict.text[:60])


@pytest.mark.parametrize("address", ["nosuch://x", "json://127.0.0.1:1/", "%%%", "/dev/null"])
def test_a_message_that_cannot_be_sent_stops_nothing(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert not notify("title", "text", {VARIABLE: address})
    assert "did not reach every address" in caplog.text
    assert address not in caplog.text


def test_one_wrong_address_keeps_no_message_from_the_others(
    receiver: tuple[str, list[dict[str, Any]]],
) -> None:
    address, arrived = receiver
    assert not notify("title", "te\x1b[31mxt", {VARIABLE: f"nosuch://x {address}"})
    assert [message["message"] for message in arrived] == ["te\\x1b[31mxt"]


def test_without_addresses_nothing_is_sent() -> None:
    assert notify("title", "text", {})
