import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from taking_part import open_experiment
from typer.testing import CliRunner

from lakatos.flows.commands.collect import serve
from lakatos.flows.commands.main import app
from lakatos.flows.errors import FlowError
from lakatos.traces.step import JOURNAL_FILE

ROOT = Path(__file__).resolve().parents[2]


def test_a_folder_without_a_run_is_refused(tmp_path):
    result = CliRunner().invoke(app, ["collect", "nothing", "--runs", str(tmp_path)])
    assert result.exit_code == 1
    assert "there is no run 'nothing'" in str(result.exception)


@pytest.mark.slow
def test_the_command_prints_links_that_work_and_leaves_the_journal_alone(tmp_path):
    run = tmp_path / "run"
    open_experiment(run)
    (run / JOURNAL_FILE).write_bytes(b"a journal that nobody may touch")
    command = [
        sys.executable,
        "-m",
        "lakatos.flows.commands.main",
        "collect",
        str(run),
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        printed = [process.stdout.readline().strip().rsplit(maxsplit=1) for _ in range(4)]
        links = {name.strip(): link for name, link in printed}
        for _ in range(300):
            try:
                assert httpx.get(links["participants"]).status_code == 200
                break
            except httpx.TransportError:
                time.sleep(0.1)
        else:
            pytest.fail("the server does not answer")
        assert httpx.get(links["preview"]).status_code == 200
        page, token = links["researcher"].split("#")
        assert httpx.get(page).status_code == 200
        status = httpx.get(f"{page}api/status", headers={"Authorization": f"Bearer {token}"})
        assert status.json()["experiments"][0]["wanted"] == 3
        assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in links["with Prolific"]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert (run / JOURNAL_FILE).read_bytes() == b"a journal that nobody may touch"


def test_a_port_that_is_taken_is_named(tmp_path):
    (tmp_path / JOURNAL_FILE).write_bytes(b"a journal")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FlowError, match=f"cannot listen on port {port}"):
            serve(tmp_path, port=port)
