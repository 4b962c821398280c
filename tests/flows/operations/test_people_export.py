"""What is exported of people: tidy tables with words, a codebook, and a folder in the form of Psych-DS."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.participants.web.session import StepTimes
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.flows.notebook.study import StudyOutcome
from lakatos.flows.operations.people_export import export
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.flows.start import resume_run, run_study
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.inbox import Inbox

sys.path.insert(0, str(Path(__file__).parents[1]))
from small import small_study

N_PEOPLE = 12
GENDER = {
    "name": "gender", "kind": "choice", "text": "What is your gender?", "answers": ["woman", "man", "other"],
    "optional": True,
}  # fmt: skip
CARE = {"name": "care", "kind": "scale", "text": "How careful?", "answers": ["not", "very"]}
NOTE = {"name": "note", "kind": "text", "text": "Anything else?", "optional": True}
PAGE: dict[str, Any] = {
    "access": "open",
    "checks": 2,
    "timeout_ms": 4000,
    "record": ["focus", "device", "hour"],
    "questions": [GENDER, CARE, NOTE],
    "conditions": {"calm": {}, "pressed": {"timeout_ms": 2000}},
    "practice": {"trials": 2},
}
STUDY: dict[str, Any] = {
    "participants": {"source": "web"},
    "page": PAGE,
    "theories__candidates": 0,
    "theories__successors": 0,
    "theories__induction": False,
    "design__trials": 8,
    "design__participants": N_PEOPLE,
    "design__refused": "cover",
    "stop": {"cycles": 1, "least_cycles": 1},
}
VISIT = {
    "device": "phone",
    "browser": "Firefox",
    "system": "Android",
    "window": "390x800",
    "hour": 21,
}


def take_part(store: SessionStore, name: str, number: int) -> None:
    """Somebody goes through the page from consent to the last question, and misses one decision."""
    session = store.join(name, consent="c" * 64, language="en", visit=VISIT)
    session = store.comprehension(session, 0, passed=True)
    missed = False
    for position, step in enumerate(plan_of(session.experiment, session.place)):
        miss = step.kind == "trial" and not missed and number == 0
        missed |= miss
        option = None if miss else step.row if step.kind == "check" else (position + number) % 2
        option = 0 if step.kind == "break" else option
        times = StepTimes(1000.0 * position, 1, 250.0)
        session = store.answer(session, position, option, 4000.0 if miss else 900.0, times)[2]
    replies = {"gender": number % 3, "care": 5, "note": "=1+1" if number else None}
    assert store.reply(session, "after", replies).status == "completed"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that waits for people on its page, three of whom have answered since the last pass."""
    folder = tmp_path_factory.mktemp("export") / "run"
    assert isinstance(run_study(small_study(**STUDY), folder, n_workers=1), AnswersAwaited)
    store = SessionStore(folder)
    for number in range(3):
        take_part(store, f"person {number}", number)
    store.deliver(Inbox(folder / "inbox.sqlite"))
    store.shut()
    return folder


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_answers_are_there_before_a_pass_takes_them(asked: Path, tmp_path: Path) -> None:
    names = [path.name for path in export(asked, tmp_path)]
    assert names == ["answers.csv", "people.csv", "codebook.csv", "README.md"]
    rows, people = table(tmp_path / "answers.csv"), table(tmp_path / "people.csv")
    assert len(rows) == 3 * 8 * 2 - 1  # each trial twice, and one was missed
    assert {row["in_run"] for row in rows + people} == {"no"}
    assert {row["condition"] for row in people} == {"calm", "pressed"}
    by_person = {row["person"]: row["condition"] for row in people}
    assert all(row["condition"] == by_person[row["person"]] for row in rows)
    assert {(row["response"], row["option"]) for row in rows} == {("0", "A"), ("1", "B")}
    assert {row["focus_losses"] for row in rows} == {"1"}


def test_a_row_of_a_person_says_what_was_noted_and_replied_in_words(
    asked: Path, tmp_path: Path
) -> None:
    export(asked, tmp_path)
    people = {row["gender_label"]: row for row in table(tmp_path / "people.csv")}
    assert sorted(people) == ["man", "other", "woman"]
    first, second = people["woman"], people["man"]
    assert (first["n_missed"], second["n_missed"]) == ("1", "0")
    assert first["missed_trials"] != ""
    assert first["checks"] == "1 1"
    assert (first["visit_device"], first["visit_hour"]) == ("phone", "21")
    assert second["note"] == "'=1+1"  # no formula of a spreadsheet


def test_the_codebook_has_every_column_with_what_its_values_mean(
    asked: Path, tmp_path: Path
) -> None:
    export(asked, tmp_path)
    known = {(row["table"], row["column"]): row for row in table(tmp_path / "codebook.csv")}
    for name in ("answers.csv", "people.csv"):
        assert {column for file, column in known if file == name} == set(table(tmp_path / name)[0])
    assert known["people.csv", "gender"]["levels"] == "0 = woman; 1 = man; 2 = other"
    assert known["people.csv", "care"]["levels"] == "1 = not; 7 = very"
    assert known["answers.csv", "response"]["levels"] == "0 = A; 1 = B"
    assert known["people.csv", "care"]["kind"] == "number"


def test_a_psych_ds_folder_keeps_the_rules_of_psych_ds(asked: Path, tmp_path: Path) -> None:
    export(asked, tmp_path, psych_ds=True)
    described = json.loads((tmp_path / "dataset_description.json").read_text(encoding="utf-8"))
    assert described["@type"] == "Dataset"
    assert described["@context"].startswith("https://schema.org")
    assert all(described[name] for name in ("name", "description"))
    (file,) = (tmp_path / "data").iterdir()
    assert re.fullmatch(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv", file.name)
    rows = list(csv.reader(file.open(encoding="utf-8", newline="")))
    assert {len(row) for row in rows} == {len(rows[0])}
    variables = [item["name"] for item in described["variableMeasured"]]
    assert variables == rows[0]
    assert {item["@type"] for item in described["variableMeasured"]} == {"PropertyValue"}
    found = read_answers(tmp_path / "data")
    assert len(found.frame) == 3 * 8 * 2 - 1  # each trial twice, and one was missed
    assert {"condition", "gender_label", "visit_device"} <= set(found.columns)


@pytest.mark.slow
def test_conditions_and_replies_divide_the_people_of_a_run(asked: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "run"))
    store = SessionStore(folder)
    for number in range(3, N_PEOPLE):
        take_part(store, f"person {number}", number)
    store.deliver(Inbox(folder / "inbox.sqlite"))
    store.shut()
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    (known,) = StudyOutcome(folder).answers.people
    assert sorted(known["condition"]) == ["calm"] * 6 + ["pressed"] * 6
    assert set(known["gender"]) == {"woman", "man", "other"}
    export(folder, tmp_path / "out")
    people = table(tmp_path / "out" / "people.csv")
    assert {row["in_run"] for row in people} == {"yes"}


def test_answers_to_an_experiment_that_nobody_was_recruited_for_are_not_exported(
    asked: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "copy"))
    inbox = Inbox(folder / "inbox.sqlite")
    first = next(iter(inbox.pending())).json()
    inbox.deliver("web", {**first, "experiment": "9.1", "person": "f" * 64}, batch_key="stray")
    assert len(inbox.pending()) == 4
    export(folder, tmp_path / "out")
    for name in ("answers.csv", "people.csv"):
        rows = table(tmp_path / "out" / name)
        assert {row["experiment"] for row in rows} == {"1.1"}
        assert len({row["person"] for row in rows}) == 3
