"""What status, metrics and invitations state about participants and passes, read off the files of a run."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.record import AnswersArrived, PersonExcluded
from lakatos.flows.commands.collect import invite
from lakatos.flows.commands.main import app
from lakatos.flows.errors import UnusableError
from lakatos.flows.operations.metrics import metrics
from lakatos.flows.operations.people import withdraw
from lakatos.flows.run.next_pass import PASS_FILE
from lakatos.flows.run.now import NOW_FILE
from lakatos.flows.run.run import begin, create_run
from lakatos.flows.run.summary import SUMMARY_FILE, read_summary
from lakatos.flows.run.taking_part import check_published, taking_part
from lakatos.flows.start import resume_run, run_study
from tests.flows.arriving import Asked, ask
from tests.flows.small import SHORT, records, small_study


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return ask(tmp_path_factory.mktemp("asked") / "run")


def status_of(folder: Path) -> str:
    done = CliRunner().invoke(app, ["status", str(folder)])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_status_of_a_waiting_run_shows_who_has_taken_part(asked: Asked, tmp_path: Path) -> None:
    folder = asked.copy(tmp_path / "runs" / "run")
    asked.deliver(folder, 0, 1, 2)
    shown = status_of(folder)
    assert "participants: 3 started, 3 completed, 0 excluded" in shown
    assert "00000000 completed, 00000000 completed, 00000000 completed" in shown
    assert "3 batches of responses have arrived" in shown
    resume_run(folder, n_workers=1)
    shown = status_of(folder)
    assert "participants: 3 started, 3 completed, 0 excluded" in shown
    assert "batches of responses" not in shown
    lines = metrics(folder.parent).splitlines()
    assert 'lakatos_run_participants_completed{run="run"} 3' in lines
    assert 'lakatos_run_participants_invited{run="run"} 0' in lines


def test_nothing_is_published_of_the_responses_of_fewer_than_five_participants(
    asked: Asked, tmp_path: Path
) -> None:
    folder = asked.copy(tmp_path / "run")
    check_published(folder)  # nobody has responded: the preregistration may be published
    asked.deliver(folder, 0, 1, 2, 3)
    resume_run(folder, n_workers=1)
    for command in (["bundle"], ["export", "--to", "html"], ["export", "--to", "otel"]):
        name, *options = command
        done = CliRunner().invoke(app, [name, str(folder), *options])
        assert isinstance(done.exception, UnusableError), done.output
        assert "come from 4 of at least 5 participants" in str(done.exception)
    asked.deliver(folder, 4)
    resume_run(folder, n_workers=1)
    check_published(folder)


@pytest.mark.slow
def test_excluded_and_withdrawn_people_do_not_count_towards_the_five(tmp_path: Path) -> None:
    rules = {"median_time_below_ms": 450.0, "replacements": 4}
    asked = ask(tmp_path / "asked", exclusions=rules)
    folder = asked.copy(tmp_path / "run")
    last = asked.people[5]
    hasty = replace(last, response_time_ms=(400.0,) * len(last.response))
    asked = replace(asked, people=[*asked.people[:5], hasty])
    asked.deliver(folder, 0, 1, 2, 3, 4, 5)
    resume_run(folder, n_workers=1)
    assert [item.person for item in records(folder, PersonExcluded)] == [hasty.person]
    check_published(folder)  # five others
    withdraw(folder, asked.people[0].person)
    with pytest.raises(
        UnusableError, match="come from 4 of at least 5 participants, excluded ones"
    ):
        check_published(folder)


def test_people_who_are_excluded_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "run"
    run_study(
        small_study(**SHORT | {"participants__careless": 0.5, "design__participants": 16}),
        folder,
        n_workers=1,
    )
    found = taking_part(folder)
    assert found.started == found.completed == len(records(folder, AnswersArrived)) > 8
    assert found.excluded == len(records(folder, PersonExcluded)) > 0


def test_invitations_are_counted_and_a_run_without_participants_has_none(tmp_path: Path) -> None:
    assert taking_part_of_new(tmp_path / "new").words == "0 started, 0 completed, 0 excluded"
    store = SessionStore(tmp_path / "new")
    store.invite(4)
    store.shut()
    assert taking_part(tmp_path / "new").words == "4 invited, 0 started, 0 completed, 0 excluded"


def taking_part_of_new(folder: Path):  # type: ignore[no-untyped-def]
    create_run(small_study(), folder).close()
    return taking_part(folder)


def test_status_says_that_the_last_pass_did_not_come_to_its_end(tmp_path: Path) -> None:
    with create_run(small_study(), tmp_path / "run") as run:
        begin(run)
        assert f"process {__import__('os').getpid()} works on it" in status_of(tmp_path / "run")
    shown = status_of(tmp_path / "run")
    assert "no process works on it, and the last pass did not come to its end" in shown
    assert "`lakatos resume" in shown


def test_a_summary_that_somebody_else_wrote_is_not_shown(asked: Asked, tmp_path: Path) -> None:
    folder = asked.copy(tmp_path / "run")
    assert read_summary(folder) is not None
    file = folder / SUMMARY_FILE
    told = json.loads(file.read_bytes())
    for change in (
        {"verdict": "everything is proven"},
        {"n_rivals": 3},
        {"code": "0" * 64},
        {"code": None},
        {"more": 1},
    ):
        file.write_text(json.dumps(told | change))
        assert read_summary(folder) is None
    file.write_text(json.dumps({key: value for key, value in told.items() if key != "code"}))
    assert read_summary(folder) is None
    assert "proven" not in status_of(folder)
    assert read_summary(folder) is not None  # status wrote it anew
    for text in (
        "3",
        "[" * 100_000,
        '{"cycle": 1e999, "stage": "", "detail": "", "notes": [], "at": 0}',
    ):
        for name in (SUMMARY_FILE, NOW_FILE, PASS_FILE):
            (folder / name).write_text(text)
        assert "cycle 1 of" in status_of(folder)
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    assert read_summary(other) == read_summary(folder)


@pytest.mark.slow
def test_no_links_are_made_for_a_run_whose_only_design_was_refused(tmp_path: Path) -> None:
    refused = {
        **{key: value for key, value in SHORT.items() if key != "participants__careless"},
        "participants": {"source": "web"},
        "design__refused": "stop",
        "design__power": 0.999,
        "design__participants": 2,
    }
    folder = tmp_path / "run"
    with pytest.raises(Exception, match="no experiment could be run"):
        run_study(small_study(**refused), folder, n_workers=1)
    with pytest.raises(
        UnusableError, match="no experiment was opened, because its design was refused"
    ):
        invite(folder, 3)
    assert not (folder / "collection.sqlite").exists()
