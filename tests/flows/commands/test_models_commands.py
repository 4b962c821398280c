"""The commands of `lakatos models`, as far as they need no vLLM."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from lakatos.flows.commands.main import app
from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.serving.errors import InstallationError
from tests.rehearsal.serve import running
from tests.rehearsal.tiny import write_tiny_profile

ROOT = Path(__file__).resolve().parents[3]


def run(*words: str):
    return CliRunner().invoke(app, ["models", *words], env={"COLUMNS": "200"})


def test_profiles_are_listed_with_what_they_are_for():
    found = run("profiles")
    assert found.exit_code == 0
    for text in ("consumer-gpu", "h200", "several-gpus", "cpu", "Qwen/Qwen3-32B"):
        assert text in found.output


@pytest.mark.slow
def test_a_server_is_checked_and_what_works_is_shown():
    with running() as served:
        found = run("check", "--base-url", served.base_url, "--model", served.model, "--calls", "2")
    assert found.exit_code == 1, found.output  # it writes nonsense, so no role could use it
    assert "0 of 2 answers could be used" in " ".join(found.output.split())
    assert "structured output" in found.output
    assert "log probabilities" in found.output


def test_a_check_without_a_server_named_says_what_to_name():
    found = run("check")
    assert found.exit_code == 2
    assert "give a profile" in found.output


def test_serving_needs_an_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKATOS_SERVING", str(tmp_path))
    write_tiny_profile(tmp_path, port=free_port())
    found = run("serve", str(tmp_path / "tiny.toml"), "--log", str(tmp_path))
    assert isinstance(found.exception, InstallationError)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["serve", "h100"], 2, "there is no profile 'h100'"),
        (
            ["check", "--base-url", f"http://127.0.0.1:{free_port()}/v1", "--model", "m"],
            1,
            "could not be reached",
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_line(words, code, says):
    done = subprocess.run(
        [sys.executable, "-m", "lakatos.flows.commands.main", "models", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=False,
    )
    assert done.returncode == code
    assert done.stderr.startswith("lakatos: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_bridge_serves_until_it_is_stopped_and_its_folder_outlives_it(tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "lakatos.flows.commands.main", "models", "bridge"]
    command += [str(tmp_path / "questions"), "--port", str(port), "--who", "me"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        assert f'base_url = "http://127.0.0.1:{port}/v1"' in process.stderr.readline()
        body = {"model": "bridge", "messages": [{"role": "user", "content": "What?"}]}
        address = f"http://127.0.0.1:{port}/v1/chat/completions"
        for foreign in ({"Host": "elsewhere.example"}, {"Origin": "http://elsewhere.example"}):
            said = httpx.post(address, json=body, headers=foreign, trust_env=False)
            assert said.status_code == 421
        with pytest.raises(httpx.TimeoutException):
            httpx.post(address, json=body, timeout=1.0, trust_env=False)
    finally:
        process.terminate()
        assert process.wait(30) == 0
        process.stderr.close()
    (page,) = (tmp_path / "questions").glob("*.question.md")
    assert "What?" in page.read_text()
