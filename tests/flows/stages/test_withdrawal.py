"""What is left of a participant who withdrew: two worlds in which the participant had responded otherwise are alike."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.flows.audit.audit import audit
from lakatos.flows.audit.bundle import bundle
from lakatos.flows.commands.main import app
from lakatos.flows.operations.people import withdraw
from lakatos.flows.report.report import write_report
from lakatos.flows.run.places import OWN_EXPORTS
from lakatos.flows.run.records import ACTS, RECORD_TYPES
from lakatos.flows.start import resume_run
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.journal import INTENT
from lakatos.traces.step import Trace

sys.path.insert(0, str(Path(__file__).parent.parent))
from arriving import Asked, ask

GONE = 3
IN_FOLDER = (
    ("data", "export", "{run}"),
    *(("export", "{run}", "--to", form) for form in ("tables", "prov", "crate", "html")),
)
"""Commands that write files in the run's own folder."""
ELSEWHERE = (
    ("data", "export", "{run}", "--psych-ds", "--out", "psych_ds"),
    ("export", "{run}", "--to", "crate", "--out", "crate"),
    ("export", "{run}", "--to", "prov", "--out", "prov.json"),
    ("report", "{run}", "--out", "report.html"),
    ("bundle", "{run}", "--out", "whole.zip"),
    ("theory", "score", "{run}", "tallying", "--out", "scores.csv"),
)
"""Commands that write files elsewhere; the last word names the file or folder."""
DIGEST = re.compile(rb"[0-9a-f]{64}")
OF_THE_WORLD = ("journal.sqlite", "inbox.sqlite", "heads.jsonl", "summary.json", "pass.json")
"""Files that hold digests of what was erased: compared by content, or without digests."""
PLACES = ("LAKATOS_HOME", "LAKATOS_HEADS")
TIMES = re.compile(rb'"(at|time_utc)":("[^"]*"|[0-9.]+)')


KINDS: dict[str, dict[str, Any]] = {
    "multiattribute": {},
    "perception": {
        "domain": "perception",
        "space": {},
        "theories__seeds": ["ddm", "lba"],
        "design__trials": 4,
    },
    "sequences": {
        "domain": "sequences",
        "space": {"lengths": [4]},
        "theories__seeds": ["representativeness", "local_balance"],
    },
}
"""Changes of the small study for each kind of task."""


def begun(place: Path, kind: str) -> Asked:
    """A run to which everybody has responded but the participant who will withdraw."""
    asked = ask(place / "asked", **KINDS[kind])
    asked.deliver(asked.folder, *(number for number in range(13) if number != GONE))
    return asked


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return begun(tmp_path_factory.mktemp("worlds"), "multiattribute")


def enter(
    place: Path, monkeypatch: pytest.MonkeyPatch, laboratory: dict[str, str] | None = None
) -> None:
    """Use the laboratory of a world, which is a copy of ``laboratory`` where it is new."""
    for name in PLACES:
        if laboratory:
            shutil.copytree(laboratory[name], place / name)
        monkeypatch.setenv(name, str(place / name))


def live(
    asked: Asked,
    laboratory: dict[str, str],
    place: Path,
    people: list[PersonAnswers],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A world with its own laboratory, in which one of these participants responded and withdrew after the verdict."""
    enter(place, monkeypatch, laboratory)
    folder = asked.copy(place / "run")
    replace(asked, people=people).deliver(folder, GONE)
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    write_report(folder)
    for words in IN_FOLDER:
        write(folder, *words)
    assert withdraw(folder, people[GONE].person).n_derived >= 9
    return folder


def write(folder: Path, *words: str) -> None:
    """Have a command write a file from a run."""
    done = CliRunner().invoke(app, [word.format(run=folder) for word in words])
    assert done.exit_code == 0, done.output


def read(folder: Path) -> list[list[Any]]:
    """All rows but for digests, times, numbers of events, and how many were erased one after another."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        events = list(trace.journal.events())
    found = list[list[Any]]()
    for event in events:
        body = {**event.body, "arrived_utc": "", "rows": ""}
        told = [
            event.kind,
            event.name,
            dict(event.position),
            event.attempt,
            len(event.inputs),
            body,
        ]
        told = json.loads(DIGEST.sub(b"", json.dumps(told).encode()))
        if not (event.is_bare and found and found[-1] == told):
            found.append(told)
    return found


def files(folder: Path) -> dict[str, bytes]:
    """All files of a run whose content does not name digests of what was erased, without times."""
    return {
        path.relative_to(folder).as_posix(): TIMES.sub(
            b"", path.read_bytes().replace(str(folder).encode(), b"")
        )
        for path in folder.rglob("*")
        if path.is_file()
        and path.name not in OF_THE_WORLD
        and "artifacts" not in path.relative_to(folder).parts
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_worlds_in_which_a_withdrawn_participant_responded_otherwise_are_alike(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, laboratory = begun(tmp_path, kind), {name: os.environ[name] for name in PLACES}
    worlds = [
        live(asked, laboratory, tmp_path / str(number), people, monkeypatch)
        for number, people in enumerate([asked.people, asked.contrary])
    ]
    # After the withdrawal, every artifact that is left is one that both worlds have; nothing computed is left.
    one, other = ({path.name for path in folder.glob("artifacts/*/*")} for folder in worlds)
    assert one == other
    assert files(worlds[0]) == files(worlds[1])
    assert read(worlds[0]) == read(worlds[1])
    assert {kind for kind, *_ in read(worlds[0])} - ACTS - {INTENT} <= {
        "campaign_started", "machine_used", "theory_admitted", "tombstone", "erased", "rows_erased",
    }  # fmt: skip
    assert not [
        name for name in ("report.html", "summary.json", "pass.json") if (worlds[0] / name).exists()
    ]
    # The next pass computes the same from those who stay, and the audit and the bundle agree.
    for number, folder in enumerate(worlds):
        enter(tmp_path / str(number), monkeypatch)
        assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
        write_report(folder)
        found = audit(folder, n_workers=1)
        assert found.passed, [item.detail for item in found.findings if not item.passed]
        bundle(folder, tmp_path / f"{number}.zip")
    assert read(worlds[0]) == read(worlds[1])
    pages = [(folder / "summary.html").read_bytes() for folder in worlds]
    assert (
        DIGEST.sub(b"", pages[0]).splitlines()[:20] == DIGEST.sub(b"", pages[1]).splitlines()[:20]
    )
    # A new bundle holds no artifact that the folder does not hold.
    for number, folder in enumerate(worlds):
        with zipfile.ZipFile(tmp_path / f"{number}.zip") as archive:
            names = {name.rpartition("/")[2] for name in archive.namelist()
                     if name.startswith("artifacts/")}  # fmt: skip
        assert names == {path.name for path in folder.glob("artifacts/*/*")}
        assert "apart.key" not in names


def test_a_withdrawal_removes_exports_in_the_folder_and_lists_all_others(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(tmp_path, monkeypatch, {name: os.environ[name] for name in PLACES})
    folder = asked.copy(tmp_path / "run")
    asked.deliver(folder, GONE)
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    monkeypatch.chdir(tmp_path)
    for words in (*IN_FOLDER, *ELSEWHERE):
        write(folder, *words)
    outside = {str(tmp_path / words[-1]) for words in ELSEWHERE}
    listed = withdraw(folder, asked.people[GONE].person).exports
    assert {*listed} - {str(tmp_path / "crate" / "answers")} == outside
    assert all(Path(path).exists() for path in outside)
    left = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.is_file()}
    assert left.isdisjoint(OWN_EXPORTS)


@pytest.mark.parametrize("cut", ["erase_derived", ""])
def test_a_withdrawal_before_any_pass_ends_though_it_was_cut_short_or_is_repeated(
    cut: str, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = asked.copy(tmp_path / "run")
    asked.deliver(folder, GONE)
    monkeypatch.chdir(tmp_path)
    write(folder, "data", "export", "{run}")
    write(folder, "data", "export", "{run}", "--out", "shared")
    if cut:

        def end(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(Trace, cut, end)
            withdraw(folder, asked.people[GONE].person)
    else:
        withdraw(folder, asked.people[GONE].person)
    for _ in range(2):
        again = withdraw(folder, asked.people[GONE].person)
        assert (again.n_batches, again.n_derived) == (0, 0)
        assert again.exports == (str(tmp_path / "shared"),)
        assert not (folder / "export").exists() or not list((folder / "export").iterdir())


def test_an_owner_who_empties_rows_before_the_withdrawn_responses_fails_the_audit(
    asked: Asked, tmp_path: Path
) -> None:
    folder = asked.copy(tmp_path / "run")
    with Trace.open(folder, RECORD_TYPES) as trace:
        hidden = next(
            row.seq for row in trace.journal.store.rows() if row.kind == "theory_admitted"
        )
        trace.list_erased([hidden])
        trace.journal.erase_rows({hidden})
    wrong = {
        item.name: item.detail
        for item in audit(folder, recompute="none").findings
        if not item.passed
    }
    assert f"lists event {hidden} as erased, and no responses were withdrawn" in wrong["chain"]
