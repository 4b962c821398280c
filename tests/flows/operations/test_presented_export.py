"""A study with screens and a plugin, from its file to the export: files by content, recorded values, failures."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "domains" / "declared"))
from test_presentation import PLUGIN, VOICES, task

from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.participants.web.session import StepRecord
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.experiments.presentation import presentation_of
from lakatos.flows.commands.preregister import registration_of
from lakatos.flows.operations.people_export import export
from lakatos.flows.operations.tasks import examine_task
from lakatos.flows.run.study import load_study
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.flows.start import resume_run, run_study
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.inbox import Inbox

N_PEOPLE = 12
STUDY = f"""
name = "presents"
question = "Which gifts do people take?"
seed = 4
[domain]
file = "gifts.toml"
[theories]
seeds = ["worth_alone", "weighted_adding"]
candidates = 0
successors = 0
induction = false
draws = 64
[design]
trials = 8
participants = {N_PEOPLE}
candidates = 30
power = 0.5
refused = "cover"
[participants]
source = "web"
[page]
checks = 1
access = "open"
[stop]
cycles = 1
least_cycles = 1
[validation]
company = false
"""


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the study that waits for participants; its files beside it are gone."""
    folder = tmp_path_factory.mktemp("presented")
    task(folder, VOICES, add=PLUGIN)
    (folder / "study.toml").write_text(STUDY)
    config = load_study(folder / "study.toml")
    run = folder / "run"
    assert isinstance(run_study(config, run, n_workers=1), AnswersAwaited)
    (folder / "tap.js").unlink()
    return run


def take_part(store: SessionStore, number: int) -> None:
    """A participant whose plugin sends other data than declared in the second step."""
    session = store.join(f"person {number}", consent="c" * 64, language="en")
    session = store.comprehension(session, 0, passed=True)
    for position, step in enumerate(plan_of(session.experiment, session.place)):
        if step.kind == "check":
            session = store.answer(session, position, step.row, 900.0)[2]
            continue
        data: dict[str, Any] = {"choice": (position + number) % 2, "rt": 700.5, "taps": position}
        wrong = {"taps": -1} if position == 1 and step.kind == "trial" else {}
        given = StepRecord(data | wrong)
        session = store.answer(session, position, None, 800.0, given=given)[2]
    assert session.status == "completed"


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_run_keeps_the_files_and_a_study_without_one_is_refused(waiting: Path) -> None:
    with pytest.raises(TaskFileError, match=r"gifts.toml, line \d+: cannot read tap.js"):
        load_study(waiting.parent / "study.toml")
    resume_run(waiting, n_workers=1)
    store = SessionStore(waiting)
    experiment = store.find("1.1")
    store.shut()
    assert experiment is not None
    presentation = presentation_of(experiment.task)
    assert presentation is not None
    assert presentation.plugin is not None
    assert presentation.plugin.script.startswith("class Tap")


def test_the_preregistration_states_how_trials_are_presented(waiting: Path) -> None:
    registration = registration_of(waiting, "")
    assert "The jsPsych plugin tap.js (SHA-256 " in str(registration)
    assert "presents trials and returns choice, rt, taps." in str(registration)


def test_a_check_of_the_task_states_it_too(tmp_path: Path) -> None:
    words = examine_task(str(task(tmp_path, VOICES))).to_text()
    assert (
        "Sounds and films are played once; a response is possible after they have ended." in words
    )


@pytest.mark.slow
def test_theories_see_the_responses_and_the_export_what_else_was_recorded(waiting: Path) -> None:
    store = SessionStore(waiting)
    for number in range(N_PEOPLE):
        take_part(store, number)
    store.deliver(Inbox(waiting / "inbox.sqlite"))
    store.shut()
    assert isinstance(resume_run(waiting, n_workers=1), CampaignConcluded)
    out = waiting.parent / "out"
    export(waiting, out)
    rows, people = table(out / "answers.csv"), table(out / "people.csv")
    n_failed = sum(int(row.get("n_failed_to_load") or 0) for row in people)
    assert n_failed == sum(int(row["n_missed"]) for row in people) > 0
    assert {row["response_time_ms"] for row in rows} == {"700.5"}
    assert all(row["recorded.taps"] == str(float(row["recorded.taps"])) for row in rows)
    assert any("taps is -1, outside 0 to 100" in row["failures"] for row in people)
    known = {(row["table"], row["column"]): row for row in table(out / "codebook.csv")}
    assert known["answers.csv", "recorded.taps"]["meaning"] == "number of taps"
    assert "failed to load" in known["people.csv", "n_failed_to_load"]["meaning"]
