"""A run whose language models answer nothing shows it on screen, in its report and in its exit status."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lakatos.flows.roles.failures import failures, silence_in
from lakatos.theories.discovery.roles.record import RoleAnswered

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "language_models"))
from providing import openai_error, provider, reasoning_openai
from small import ROOT, SHORT, records, write_study

UNANSWERED = 4
A = "a" * 64


def answered(outcome: str, reason: str = "", answer: str | None = None) -> RoleAnswered:
    return RoleAnswered(
        cycle=1, role="arbiter", task="arbiter", subject=A, prompt=A, rules=A, model="writer",
        model_version=A, served=A, calls=(), outcome=outcome, reason=reason, answer=answer,
    )  # fmt: skip


def test_questions_without_an_answer_are_counted_with_their_reasons() -> None:
    assert failures([answered("answered", answer=A)]) == ""
    assert failures([answered("out_of_budget", "the budget does not cover it")]) == ""
    some = [answered("answered", answer=A), answered("not_json", "not JSON: x"), answered("empty")]
    assert failures(some) == (
        "1 of 3 questions to language models brought an answer: writer: not json, not JSON: x (1); writer: empty (1)"
    )
    assert failures([answered("refused")] * 2).startswith("none of 2 questions to language models")


def lakatos(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lakatos.flows.commands.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def study_file(folder: Path, base_url: str, **roles: Any) -> Path:
    return write_study(
        folder,
        **SHORT | {
            "participants__careless": 0.0,
            "stop": {"cycles": 2, "least_cycles": 2},
            "models": {"writer": {"base_url": base_url, "model": "m", "stream": True}},
            "roles": {"arbiter": "writer", "reviser": "writer", "lenses": ["leap"], "drafts": 1} | roles,
        },
    )  # fmt: skip


def refused(body: Any) -> tuple[int, Any]:
    return openai_error("This account may not use this model.", None, None)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["refused", "unreadable"])
def test_a_run_in_which_every_call_failed_says_so(tmp_path: Path, fault: str) -> None:
    refuse = refused if fault == "refused" else reasoning_openai
    with provider(refuse, lambda body: "I would rather not say.") as served:
        file = study_file(tmp_path, served.base_url, unreachable="go_on")
        arguments = ("--engine", "none", "--runs", str(tmp_path))
        done = lakatos("run", str(file), "--name", "silent", *arguments)
    folder = tmp_path / "silent"
    assert done.returncode == UNANSWERED, done.stderr
    n_put = len(records(folder, RoleAnswered))
    silent = silence_in(folder)
    assert silent.startswith(f"none of {n_put} questions to language models brought an answer")
    if fault == "refused":
        assert "RequestRefusedError: model 'writer' at" in silent
        assert "may not use this model" in silent
    else:
        assert "not json" in silent
    assert silent in " ".join(done.stderr.split())
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert report.count("questions to language models brought an answer") >= 2
    again = lakatos("resume", str(folder), *arguments)
    assert (again.returncode, silent in again.stderr) == (UNANSWERED, True)


@pytest.mark.slow
def test_a_study_that_stops_without_an_answer_says_what_the_server_said(tmp_path: Path) -> None:
    with provider(refused, lambda body: "") as served:
        file = study_file(tmp_path, served.base_url)
        done = lakatos("run", str(file), "--engine", "none", "--runs", str(tmp_path))
    assert done.returncode == 1
    assert "may not use this model" in done.stderr.splitlines()[-1]
    assert "lakatos resume" in done.stderr.splitlines()[-1]
