"""Runs whose journal is in a database, reached from two folders: people answer them in one, and reading goes on in all.

The two folders stand for two machines that share a database and no disk.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from arriving import Asked, ask, outcome
from servers import PostgresServer
from small import small_study

from lakatos.flows.commands.collect import serve
from lakatos.flows.commands.main import app
from lakatos.flows.operations.carry import carry
from lakatos.flows.operations.desk import page_runs
from lakatos.flows.operations.people import holdings, import_answers, withdraw
from lakatos.flows.run.next_pass import look
from lakatos.flows.run.places import check_collects
from lakatos.flows.run.run import create_run, open_run, read_state
from lakatos.flows.start import resume_run
from lakatos.traces.errors import InboxError
from lakatos.traces.inbox import PLACE_FILE
from lakatos.traces.step import INBOX_FILE

REFUSED = r"people answer the run of .* in another folder, .*:.*/here/run, which has its inbox"


@pytest.fixture
def shared(tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals in a database, and artifacts where both folders find them."""
    monkeypatch.setenv("LAKATOS_JOURNAL", postgres.url)
    monkeypatch.setenv("LAKATOS_ARTIFACTS", f"file://{tmp_path / 'artifacts'}")


@pytest.fixture
def asked(tmp_path: Path, shared: None) -> Asked:
    return ask(tmp_path / "here" / "run")


def other_folder(folder: Path, place: Path) -> Path:
    """What another machine needs of a run: its two addresses."""
    place.mkdir(parents=True)
    for name in ("journal.url", "artifacts.url"):
        shutil.copy(folder / name, place / name)
    return place


@pytest.mark.long
def test_another_folder_reads_such_a_run_and_is_refused_what_would_make_a_second_inbox(
    asked: Asked, tmp_path: Path
) -> None:
    there = other_folder(asked.folder, tmp_path / "there" / "run")
    assert outcome(there) == outcome(asked.folder)
    for words in (["status", "run"], ["audit", "run"]):
        done = CliRunner().invoke(app, [*words, "--runs", str(tmp_path / "there")])
        assert done.exit_code == 0, (done.output, done.exception)
    asked.deliver(asked.folder, *range(12))
    before = look(asked.folder)
    table = tmp_path / "answers.csv"
    table.write_text("person,experiment,trial,response\n")
    attempts: tuple[Callable[[], object], ...] = (
        lambda: carry(there, workers=1),
        lambda: serve(there, port=0),
        lambda: import_answers(there, table),
        lambda: withdraw(there, asked.people[0].person),
        lambda: holdings(there),
        lambda: check_collects(there),
    )
    for attempt in attempts:
        with pytest.raises(InboxError, match=REFUSED) as caught:
            attempt()
        assert "\n" not in str(caught.value)
    assert look(asked.folder) == before
    assert not (there / INBOX_FILE).exists()
    carry(asked.folder, workers=1)
    assert outcome(there) == outcome(asked.folder)
    assert outcome(there)["verdict"]


@pytest.mark.slow
def test_a_folder_that_is_lost_is_replaced_as_the_message_says(
    asked: Asked, tmp_path: Path
) -> None:
    there = other_folder(asked.folder, tmp_path / "there" / "run")
    with pytest.raises(InboxError) as caught:
        check_collects(there)
    shutil.rmtree(asked.folder)
    command = str(caught.value).rpartition(": `")[2].removesuffix("`.")
    assert command.endswith(PLACE_FILE)
    subprocess.run(command, shell=True, check=True)
    asked.deliver(there, *range(12))
    carry(there, workers=1)
    assert len(next(iter(outcome(there)["people"].values()))) == 12


@pytest.mark.slow
def test_simulated_people_answer_in_whatever_folder_a_pass_runs(
    tmp_path: Path, shared: None
) -> None:
    config = small_study(
        theories__candidates=0, theories__successors=0, theories__induction=False, design__trials=8,
        design__participants=12, design__refused="cover", stop={"cycles": 1, "least_cycles": 1},
    )  # fmt: skip
    here = tmp_path / "here" / "run"
    with create_run(config, here, n_workers=1):
        pass
    there = other_folder(here, tmp_path / "there" / "run")
    resume_run(there, n_workers=1)
    state, trace = read_state(here)
    trace.close()
    assert state.campaign.concluded is not None
    assert not (here / PLACE_FILE).exists()


def test_pages_are_served_where_people_answer(tmp_path: Path, shared: None) -> None:
    config = small_study(participants={"source": "web"}, design__participants=12)
    here = tmp_path / "here" / "run"
    with create_run(config, here, n_workers=1):
        pass
    there = other_folder(here, tmp_path / "there" / "run")
    assert page_runs(here.parent) == [here]
    assert page_runs(there.parent) == []


@pytest.mark.slow
def test_a_run_in_a_folder_needs_no_mark_and_can_be_copied(tmp_path: Path) -> None:
    own = ask(tmp_path / "run")
    assert not (own.folder / PLACE_FILE).exists()
    copy = own.copy(tmp_path / "copy")
    check_collects(copy)
    open_run(copy, n_workers=1).close()
