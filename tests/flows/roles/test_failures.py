"""A run whose language models answer nothing shows it on screen, in its report and in its exit status."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lakatos.flows.roles.failures import failures, failures_in, useless
from lakatos.language_models.probe import SYSTEM
from lakatos.theories.discovery.roles.record import RoleAnswered
from lakatos.theories.discovery.roles.state import RolesState
from lakatos.traces.step import Recorded

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


def said(role: str, cycle: int, *outcomes: str) -> RolesState:
    records = [
        answered(outcome, answer=A if outcome == "answered" else None).model_copy(
            update={"role": role, "cycle": cycle}
        )
        for outcome in outcomes
    ]
    kept = {str(place): Recorded(item, A) for place, item in enumerate(records)}
    return RolesState(answered=kept)


@pytest.mark.parametrize(
    ("outcomes", "cycle", "reason"),
    [
        (["not_json"] * 4, 2, "none of its 4 answers could be read"),
        (["not_json"] * 4, 1, ""),  # of this cycle
        (["not_json"] * 3, 2, ""),
        ([*["not_json"] * 6, "answered"], 2, ""),
        (["no_answer"] * 9, 2, ""),  # of the server
    ],
)
def test_a_role_is_left_out_once_nothing_that_its_model_said_could_be_read(
    outcomes: list[str], cycle: int, reason: str
) -> None:
    assert useless(said("arbiter", 1, *outcomes), "arbiter", cycle) == reason
    assert useless(said("auditor", 1, *outcomes), "arbiter", cycle) == ""


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


def after_the_probe(body: Any) -> tuple[int, Any] | None:
    """A server that refuses all questions but the first, which looks for the model."""
    return None if body["messages"][0]["content"] == SYSTEM else refused(body)


def unreadable(body: Any) -> tuple[int, Any] | None:
    return reasoning_openai(body)


ARGUMENTS = ("--engine", "none", "--runs")


@pytest.mark.slow
@pytest.mark.parametrize("refuse", [after_the_probe, unreadable])
def test_a_run_in_which_every_call_failed_says_so(tmp_path: Path, refuse: Any) -> None:
    with provider(refuse, lambda body: "I would rather not say.") as served:
        file = study_file(tmp_path, served.base_url, unreachable="go_on")
        done = lakatos("run", str(file), "--name", "silent", *ARGUMENTS, str(tmp_path))
    folder = tmp_path / "silent"
    assert done.returncode == UNANSWERED, done.stderr
    n_put = len(records(folder, RoleAnswered))
    silent, none = failures_in(folder)
    assert none
    assert silent.startswith(f"none of {n_put} questions to language models brought an answer")
    if refuse is after_the_probe:
        assert "RequestRefusedError: model 'writer' at" in silent
        assert "may not use this model" in silent
    else:
        assert "not json" in silent
        assert "does not enforce the form of answers, so the prompt states it" in done.stderr
    assert silent in " ".join(done.stderr.split())
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert report.count("questions to language models brought an answer") >= 2
    again = lakatos("resume", str(folder), *ARGUMENTS, str(tmp_path))
    assert (again.returncode, silent in again.stderr) == (UNANSWERED, True)


@pytest.mark.slow
def test_a_model_that_cannot_be_asked_ends_a_run_before_it_costs_anything_and_can_be_changed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "late"
    with provider(refused, lambda body: "", models=("m", "other")) as served:
        file = study_file(tmp_path, served.base_url, unreachable="go_on")
        done = lakatos("run", str(file), "--name", "late", *ARGUMENTS, str(tmp_path))
        assert served.n_requests == 1
    assert done.returncode == 2, done.stderr
    last = done.stderr.splitlines()[-1]
    assert "This account may not use this model." in last
    assert f"lakatos models change {folder} writer" in last
    assert not records(folder, RoleAnswered)
    with provider(unreadable, lambda body: "no") as served:
        to = ("--base-url", served.base_url, "--context-tokens", "30000")
        changed = lakatos("models", "change", str(folder), "writer", *to)
        assert changed.returncode == 0, changed.stderr
        again = lakatos("resume", str(folder), *ARGUMENTS, str(tmp_path))
        assert served.n_requests > 1
    assert again.returncode == UNANSWERED, again.stderr
    assert records(folder, RoleAnswered)
    wrong = lakatos("models", "change", str(folder), "reader", "--model", "m")
    assert (wrong.returncode, "has no model 'reader'; it has writer" in wrong.stderr) == (2, True)


@pytest.mark.slow
def test_a_context_shorter_than_every_prompt_is_named_with_its_setting(tmp_path: Path) -> None:
    with provider(lambda body: None, lambda body: "", entry={"max_model_len": 2500}) as served:
        file = study_file(tmp_path, served.base_url)
        done = lakatos("run", str(file), *ARGUMENTS, str(tmp_path))
        assert served.n_requests == 0
    assert done.returncode == 2
    assert "its context holds 2500 tokens" in done.stderr.splitlines()[-1]
    assert "OLLAMA_CONTEXT_LENGTH" in done.stderr.splitlines()[-1]
