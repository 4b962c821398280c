"""Backups of runs in use, what is refused, and journals of every released format, which must still say the same."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import stat
import sys
import tarfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "golden"))
from golden_file import summary

from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.main import app
from lakatos.flows.errors import FlowError
from lakatos.flows.operations.backup import restore, save
from lakatos.flows.run.next_pass import look
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.traces.errors import NewerFormatError
from lakatos.traces.home import home
from lakatos.traces.inbox import Inbox
from lakatos.traces.journal import INTENT
from lakatos.traces.step import INBOX_FILE, JOURNAL_FILE, Trace

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
NAMES = sorted(path.name.removesuffix(".tar.gz") for path in GOLDEN.glob("*.tar.gz"))


@pytest.fixture(autouse=True)
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A laboratory without a key: the golden files were signed by another."""
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A laboratory: the runs of the newest golden file, and schedules."""
    runs = tmp_path_factory.mktemp("kept") / "runs"
    restore(GOLDEN / f"{NAMES[-1]}.tar.gz", runs)
    (runs / "schedules.json").write_text('{"version": 1, "schedules": {}}')
    return runs


@pytest.fixture
def runs(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "runs"))


@pytest.mark.parametrize("name", NAMES)
def test_journals_of_every_format_replay_to_what_they_said_when_they_were_written(
    name: str, tmp_path: Path
) -> None:
    restore(GOLDEN / f"{name}.tar.gz", tmp_path / "runs")
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    assert {
        run: json.loads(json.dumps(summary(tmp_path / "runs" / run))) for run in expected
    } == expected
    for run in expected:
        found = audit(tmp_path / "runs" / run, recompute=False)
        assert found.passed, [item for item in found.findings if not item.passed]


def test_a_golden_file_holds_people_who_joined_late_and_one_who_withdrew(kept: Path) -> None:
    kinds = json.loads((GOLDEN / f"{NAMES[-1]}.json").read_text())["people"]["kinds"]
    assert kinds["tombstone"] >= 2
    assert kinds["person_withdrawn"] == 1


def test_a_journal_of_a_newer_format_is_refused_with_what_to_do(runs: Path) -> None:
    path = runs / "people" / JOURNAL_FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER meta_update")
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
        connection.commit()
    with pytest.raises(NewerFormatError, match=r"has format 99.* Install a newer one"):
        look(runs / "people")


def test_a_backup_taken_while_a_pass_writes_and_people_answer_is_restored_and_audited(
    runs: Path, tmp_path: Path
) -> None:
    stop = threading.Event()
    written = 0
    folder = runs / "people"

    def write() -> None:
        nonlocal written
        with Trace.open(folder, RECORD_TYPES) as trace:
            start = next(trace.journal.events()).record_digest
            while not stop.is_set():
                artifact = trace.artifacts.put(os.urandom(1000))
                trace.journal.append(
                    INTENT,
                    {"effect": "repeatable"},
                    key=start,
                    name="x",
                    position={},
                    inputs=[artifact],
                )
                Inbox(folder / INBOX_FILE).deliver("file", {"n": written}, batch_key=str(written))
                written += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        made = save(runs, tmp_path / "backup.tar.gz")
    finally:
        stop.set()
        thread.join()
    assert written > 0
    assert set(made.runs) == {"people", "simulated"}
    assert stat.S_IMODE((tmp_path / "backup.tar.gz").stat().st_mode) == 0o600
    back = tmp_path / "back"
    restore(tmp_path / "backup.tar.gz", back)
    assert (back / "schedules.json").exists()
    with Trace.open(back / "people", RECORD_TYPES, read_only=True) as trace:
        cited = {
            digest
            for event in trace.journal.events()
            for digest in event.inputs
            if event.name == "x"
        }
        assert all(trace.artifacts.has(digest) for digest in cited)
    assert summary(back / "simulated") == summary(runs / "simulated")


def test_a_restored_laboratory_is_the_old_one_and_leaves_no_file_beside_it(
    runs: Path, tmp_path: Path
) -> None:
    runner, before = CliRunner(), {run: summary(runs / run) for run in ("people", "simulated")}
    made = runner.invoke(app, ["backup", str(tmp_path / "b.tar.gz"), "--runs", str(runs)])
    assert made.exit_code == 0, made.output
    assert "2 runs" in made.output
    done = runner.invoke(
        app, ["restore", str(tmp_path / "b.tar.gz"), "--runs", str(tmp_path / "back")]
    )
    assert done.exit_code == 0, done.output
    assert done.output.count("the audit passes") == 2
    assert {run: summary(tmp_path / "back" / run) for run in before} == before
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "b.tar.gz", "back"}


def test_what_a_backup_may_not_do_is_refused(runs: Path, tmp_path: Path) -> None:
    save(runs, tmp_path / "b.tar.gz")
    with pytest.raises(FlowError, match="never overwritten"):
        save(runs, tmp_path / "b.tar.gz")
    with pytest.raises(FlowError, match="lies in"):
        save(runs, runs / "b.tar.gz")
    with pytest.raises(FlowError, match="no folder"):
        save(tmp_path / "nothing", tmp_path / "c.tar.gz")
    with pytest.raises(FlowError, match="never two of one run"):
        restore(tmp_path / "b.tar.gz", runs)
    with pytest.raises(FlowError, match="there is no backup"):
        restore(tmp_path / "nothing.tar.gz", tmp_path / "back")
    (tmp_path / "text.tar.gz").write_text("text")
    with pytest.raises(FlowError, match="is no backup, or damaged"):
        restore(tmp_path / "text.tar.gz", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_backup_that_is_cut_off_changed_or_escapes_its_folder_restores_nothing(
    runs: Path, tmp_path: Path
) -> None:
    whole = tmp_path / "b.tar.gz"
    save(runs, whole)
    data = whole.read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(FlowError, match="damaged"):
        restore(tmp_path / "cut.tar.gz", tmp_path / "back")

    def rewritten(name: str, change: dict[str, bytes]) -> Path:
        with tarfile.open(whole) as old, tarfile.open(tmp_path / name, "w:gz") as new:
            for entry in old:
                content = old.extractfile(entry)
                assert content is not None
                text = change.pop(entry.name, content.read())
                entry.size = len(text)
                new.addfile(entry, io.BytesIO(text))
            for extra, text in change.items():
                entry = tarfile.TarInfo(extra)
                entry.size = len(text)
                new.addfile(entry, io.BytesIO(text))
        return tmp_path / name

    def says(manifest: object) -> Path:
        return rewritten("told.tar.gz", {"manifest.json": json.dumps(manifest).encode()})

    with tarfile.open(whole) as archive:
        member = archive.extractfile("manifest.json")
        assert member is not None
        told = json.loads(member.read())
    one = {"sha256": "0" * 64, "size": 1}
    malformed: list[object] = [
        [], {}, "x", told | {"files": []}, told | {"files": {"a": {}}}, told | {"files": {"../a": one}},
        told | {"files": {"/etc/a": one}}, told | {"format": "1"}, told | {"runs": 3},
        told | {"files": {"a": {"sha256": 7, "size": 1}}}, told | {"files": {"people/journal.url": one}},
    ]  # fmt: skip
    for manifest in malformed:
        with pytest.raises(FlowError, match="its manifest is malformed"):
            restore(says(manifest), tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists()
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FlowError, match="is a link to another place"):
        restore(whole, tmp_path / "link")
    assert not list((tmp_path / "target").iterdir())

    changed = rewritten("changed.tar.gz", {"runs/people/heads.jsonl": b"{}\n"})
    with pytest.raises(FlowError, match=r"heads\.jsonl is missing or not what was saved"):
        restore(changed, tmp_path / "back")
    for name, text in (
        ("../escaped", "which no backup does"),
        ("runs/people/more", "manifest does not list"),
    ):
        with pytest.raises(FlowError, match=text):
            restore(rewritten("extra.tar.gz", {name: b"x"}), tmp_path / "back")
    assert not (tmp_path / "back").exists()
    assert not (tmp_path.parent / "escaped").exists()


def test_the_message_of_a_backup_names_what_it_does_not_hold(runs: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["backup", str(tmp_path / "kept.tar.gz"), "--runs", str(runs)])
    said = " ".join(done.output.split())
    assert "does not hold the laboratory's signing key, heads and audits" in said
    assert str(home()) in done.output.replace("\n", "")
