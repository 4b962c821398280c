"""The audit of a run: what was promised, whether every number comes out again, and bundles that others can verify."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from forging import rewrite
from threadpoolctl import threadpool_info
from typer.testing import CliRunner

from lakatos.experiments.participants.web.collection import COLLECTION_FILE
from lakatos.flows.audit.audit import audit
from lakatos.flows.audit.bundle import bundle, identifiers_in, unbundle
from lakatos.flows.audit.recompute import difference, walk_again
from lakatos.flows.commands.main import app
from lakatos.flows.run.records import RECORD_TYPES, MachineUsed
from lakatos.flows.start import run_study
from lakatos.theories.engine.record import TheoryScored
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces import standalone
from lakatos.traces.errors import HeadError
from lakatos.traces.fold import canonical_digest
from lakatos.traces.head import write_head
from lakatos.traces.journal import INTENT, Journal
from lakatos.traces.machine import machine_here
from lakatos.traces.step import JOURNAL_FILE, Trace
from lakatos.traces.stores.store import EventRow

sys.path.insert(0, str(Path(__file__).parent))
from small import SHORT, small_study


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "audited"
    # So many people, half of them careless, that some are excluded whatever the seed of a step is.
    people = {"design__participants": 16, "participants__careless": 0.5}
    study = small_study(**{**SHORT, **people})
    assert isinstance(run_study(study, folder, n_workers=1), CampaignConcluded)
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def forge(
    folder: Path, kind: str, change: Callable[[dict[str, Any]], Any], *, cited: bool = True
) -> int:
    """Change a record of a kind and hash everything after it anew, as somebody would who knows this code.

    It is the first of its kind, or with ``cited`` False the first that no other record cites. The heads beside the
    journal are removed; those in the second place are not.
    """
    with closing(Journal.open(folder / JOURNAL_FILE, read_only=True)) as journal:
        rows = list(journal.store.rows())
    seq = next(
        row.seq
        for row in rows
        if row.kind == kind
        and (cited or not any(row.record_digest in f"{other.inputs}{other.body}" for other in rows))
    )

    def changed(row: EventRow) -> EventRow:
        body = json.loads(row.body)
        change(body)
        return row._replace(
            body=json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        )

    rewrite(folder, seq, changed)
    (folder / "heads.jsonl").unlink(missing_ok=True)
    return seq


@pytest.mark.long
def test_every_deterministic_record_comes_out_again_bit_for_bit(finished: Path) -> None:
    with Trace.open(finished, RECORD_TYPES, read_only=True) as trace:
        form = canonical_digest(trace.journal.events())
        found = walk_again(trace, wanted=lambda event: True, n_workers=1)
        kinds = {event.kind for event in trace.journal.events()} - {INTENT}
        assert canonical_digest(trace.journal.events()) == form
    assert found.wrong == []
    assert found.near == 0
    assert found.end == ""
    assert kinds - set(found.again) <= {"more_asked", "machine_used"}
    for kind in (
        "design_chosen",
        "preregistration",
        "theory_scored",
        "diagnosis",
        "cycle_closed",
        "concluded",
    ):
        assert found.again[kind] >= 1


def test_the_audit_answers_every_question(finished: Path) -> None:
    found = audit(finished, n_workers=1)
    assert found.passed, [item for item in found.findings if not item.passed]
    states = {item.name: item.state for item in found.findings}
    for name in ("chain", "heads", "order", "prequential", "people", "validity", "conclusion", "exclusions",
                 "people budget", "recomputation", "campaign"):  # fmt: skip
        assert states[name] == "passed", name
    assert "model budget" not in states


def test_a_score_that_was_forged_with_the_whole_chain_is_named(copy: Path) -> None:
    def better(body: dict[str, Any]) -> None:
        body["error"] = body["error"] / 2

    seq = forge(copy, "theory_scored", better)
    with Trace.open(copy, RECORD_TYPES, read_only=True) as trace:
        found = walk_again(trace, wanted=lambda event: event.kind == "theory_scored", n_workers=1)
    assert len(found.wrong) == 1
    assert f"theory_scored (event {seq}, score" in found.wrong[0]
    assert "error is recorded as" in found.wrong[0]


def test_a_journal_written_anew_is_found_by_heads_that_are_kept_elsewhere(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAKATOS_HEADS")  # where they went when the run was made
    forge(copy, "concluded", lambda body: body.update(text="Something else."))
    found = audit(copy, recompute="none")
    assert not found.passed
    assert {item.name for item in found.findings if not item.passed} >= {"heads"}
    (trust,) = [item for item in found.findings if item.name == "trustworthy"]
    assert "are as they were written" in trust.detail


def test_an_exclusion_that_the_rules_do_not_ask_for_is_found(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "LAKATOS_HEADS", str(tmp_path / "empty")
    )  # a forger who holds the second place and the key, too
    forge(copy, "person_excluded", lambda body: body.update(rule="another_rule"))
    write_head(copy, begins=True)
    found = {item.name: item for item in audit(copy, recompute="none").findings}
    assert found["heads"].passed
    assert not found["exclusions"].passed
    assert "by 'another_rule', which the responses do not break" in " ".join(
        found["exclusions"].problems
    )
    assert "and was not excluded" in " ".join(found["exclusions"].problems)


def test_a_sample_is_computed_again_and_the_rest_is_said_to_be_taken_as_it_is(
    finished: Path,
) -> None:
    found = audit(finished, recompute="sample", n_sampled=2, n_workers=1)
    (line,) = [item for item in found.findings if item.name == "recomputation"]
    assert "taken as they are" in line.detail
    assert found.passed


def test_the_audit_speaks_to_machines_and_says_with_its_exit_status_whether_it_passes(
    copy: Path,
) -> None:
    told = CliRunner().invoke(app, ["audit", str(copy), "--recompute", "none", "--json"])
    assert told.exit_code == 0, told.output
    value = json.loads(told.output)
    assert value["passed"]
    assert value["head"]["seq"] > 10
    assert {item["state"] for item in value["findings"]} == {"passed", "skipped"}
    artifact = next(path for path in (copy / "artifacts").rglob("*") if path.is_file())
    artifact.write_bytes(artifact.read_bytes()[:-1])
    failed = CliRunner().invoke(app, ["audit", str(copy), "--recompute", "none", "--json"])
    assert failed.exit_code == 1
    assert artifact.name in failed.output
    refused = CliRunner().invoke(app, ["audit", str(copy), "--recompute", "some"])
    assert refused.exit_code == 2


def test_a_run_notes_the_kernel_and_the_processor_that_compute_it(finished: Path) -> None:
    with Trace.open(finished, RECORD_TYPES, read_only=True) as trace:
        (noted,) = [item.record for item in trace.records(MachineUsed)]
    here = machine_here()
    assert (noted.processor, noted.kernels) == (here.processor, here.kernels)
    assert noted.processor
    libraries = [item for item in threadpool_info() if item["user_api"] == "blas"]
    assert any(item["architecture"] in noted.kernels[0] for item in libraries)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "by", "status", "said"),
    [
        (("openblas 0.3.30 Elsewhere",), 1e-5, 3, "openblas 0.3.30 Elsewhere"),
        (("openblas 0.3.30 Elsewhere",), 1e-3, 1, "is recorded as"),
        (None, 1e-5, 1, "is recorded as"),
    ],
)
def test_a_small_difference_on_another_kernel_neither_passes_nor_fails(
    copy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kernel: tuple[str, ...] | None,
    by: float,
    status: int,
    said: str,
) -> None:
    monkeypatch.setenv("LAKATOS_HEADS", str(tmp_path / "empty"))
    if kernel:
        forge(copy, "machine_used", lambda body: body.update(kernels=kernel))

    def other_effect(body: dict[str, Any]) -> None:
        body["claims"][0]["effect"] += by

    forge(copy, "diagnosis", other_effect, cited=False)
    write_head(copy, begins=True)
    told = CliRunner().invoke(app, ["audit", str(copy), "--workers", "1"])
    assert told.exit_code == status, told.output
    assert said in told.output
    assert "claims[0].effect is recorded as" in told.output
    assert ("FAILED" in told.output) == (status == 1)
    assert ("neither passes nor fails" in told.output) == (status == 3)


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="kernels of this processor are not known"
)
@pytest.mark.parametrize("kernel_type", ["Prescott", "Nehalem"])
def test_an_audit_with_another_kernel_of_linear_algebra_passes(
    finished: Path, kernel_type: str
) -> None:
    command = [sys.executable, "-m", "lakatos.flows.commands.main", "audit", str(finished)]
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel_type}
    kernel = subprocess.run(
        [sys.executable, "-c", "from lakatos.traces.machine import *; print(machine_here().words)"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    if machine_here().words in kernel:
        pytest.skip("OpenBLAS takes the same kernel whatever it is told")
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout
    assert "equal within rounding" in told.stdout


def test_a_missing_artifact_is_named_with_what_to_do(copy: Path) -> None:
    with Trace.open(copy, RECORD_TYPES, read_only=True) as trace:
        digest = next(trace.records(TheoryScored)).record.trials
    (copy / "artifacts" / digest[:2] / digest).unlink()
    found = audit(copy, recompute="none")
    assert not found.passed
    text = " ".join(item.detail for item in found.findings)
    assert digest in text
    assert "restore" in text


def test_numbers_that_differ_by_rounding_are_near_and_others_are_told_apart() -> None:
    def nothing(digest: str) -> str:
        return digest

    assert difference({"a": [1.0, 2.0]}, {"a": [1.0, 2.0 + 1e-9]}, nothing) == ""
    assert "a[1] is recorded as 2.0" in difference({"a": [1.0, 2.0]}, {"a": [1.0, 2.1]}, nothing)
    assert "in one of the two only" in difference({"a": 1}, {"b": 1}, nothing)
    assert difference(1, 2, nothing)
    held = {"a" * 64: {"x": 0.5}, "b" * 64: {"x": 0.5 + 1e-10}, "c" * 64: {"x": 0.6}}
    assert difference("a" * 64, "b" * 64, held.__getitem__) == ""
    assert difference("a" * 64, "c" * 64, held.__getitem__)


# --- bundles ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archive(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle(finished, tmp_path_factory.mktemp("bundles") / "audited.bundle.zip")


def verified(path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", str(path), *more], capture_output=True, text=True, check=False
    )


def test_python_alone_verifies_a_bundle(archive: Path, tmp_path: Path) -> None:
    done = verified(archive)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the bundle is as it was signed" in done.stdout
    with zipfile.ZipFile(archive) as whole:
        whole.extractall(tmp_path)
    unpacked = verified(tmp_path / "verify.py")
    assert unpacked.returncode == 0, unpacked.stdout
    other = verified(archive, "--key", "ab" * 32)
    assert other.returncode == 1
    assert "not by abab" in other.stdout


@pytest.mark.parametrize(
    "what", ["journal/events.jsonl", "heads.jsonl", "manifest.json", "laboratory/pyproject.toml"]
)
def test_one_changed_byte_of_a_bundle_is_found(archive: Path, tmp_path: Path, what: str) -> None:
    with zipfile.ZipFile(archive) as whole:
        whole.extractall(tmp_path)
    data = bytearray((tmp_path / what).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / what).write_bytes(bytes(data))
    done = verified(tmp_path / "verify.py")
    assert done.returncode == 1
    assert "FAILED" in done.stdout


def test_a_bundle_becomes_a_run_again_that_passes_its_audit(
    archive: Path, finished: Path, tmp_path: Path
) -> None:
    again = unbundle(archive, tmp_path / "again")
    for folder in (finished, again):
        with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
            rows = [EventRow(*row) for row in journal.store.rows()]
        if folder == finished:
            expected = rows
    assert rows == expected
    assert audit(again, recompute="none").passed


def test_a_bundle_holds_nothing_that_says_who_somebody_is(
    archive: Path, copy: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(archive) as whole:
        names = whole.namelist()
    assert not [
        name
        for name in names
        if name.endswith((".sqlite", ".key")) and not name.startswith("laboratory/")
    ]
    with closing(sqlite3.connect(copy / COLLECTION_FILE, isolation_level=None)) as sql:
        sql.execute("CREATE TABLE identifier (participant TEXT, submission TEXT)")
        sql.execute("CREATE TABLE access (token TEXT)")
        sql.execute(
            "INSERT INTO identifier VALUES ('weighted_additive', 'visit-7')"
        )  # words of the study itself
    assert identifiers_in(copy) == {"weighted_additive", "visit-7"}
    with pytest.raises(HeadError, match="holds an identifier of a person"):
        bundle(copy, tmp_path / "refused.zip")
    assert not (tmp_path / "refused.zip").exists()


def test_a_forgery_from_the_first_event_on_fails_its_audit_and_is_not_bundled(
    copy: Path, tmp_path: Path
) -> None:
    """All events written anew a day earlier, all heads beside the journal deleted: no key, no second place."""
    earlier = datetime(2020, 1, 1, tzinfo=UTC).isoformat(timespec="microseconds")
    rewrite(copy, range(1, 10**6), lambda row: row._replace(time_utc=earlier))
    (copy / "heads.jsonl").unlink()
    found = {item.name: item for item in audit(copy, recompute="none").findings}
    assert not found["heads"].passed
    assert "no signed head covers the journal" in found["heads"].detail
    with pytest.raises(HeadError, match=r"does not verify \(heads: no signed head covers"):
        bundle(copy, tmp_path / "forged.zip")
    assert not (tmp_path / "forged.zip").exists()
    assert not (copy / "heads.jsonl").exists(), "nothing was signed"


def test_a_verdict_after_the_last_signed_head_does_not_pass(copy: Path) -> None:
    lines = (copy / "heads.jsonl").read_text().splitlines(keepends=True)
    (copy / "heads.jsonl").write_text("".join(lines[:-1]))  # as if killed before the end was signed
    found = {item.name: item for item in audit(copy, recompute="none").findings}
    assert found["heads"].passed
    assert not found["verdict signed"].passed
    assert "nothing shows who wrote it" in found["verdict signed"].detail


def test_a_run_that_only_other_code_can_compute_again_neither_passes_nor_fails(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakatos.flows.run.task.science", lambda _: "0" * 64)
    told = CliRunner().invoke(app, ["audit", str(copy)])
    assert told.exit_code == 3, told.output
    assert "neither passes nor fails" in told.output
    assert "git rev-list -1 --before=" in told.output
    assert audit(copy, n_workers=1).outcome == "not recomputed"


# --- bundles that hide something -------------------------------------------------------------------------------------


def repacked(archive: Path, out: Path, more: list[tuple[str, bytes]]) -> Path:
    shutil.copy(archive, out)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as whole:
        for name, data in more:
            whole.writestr(name, data)
    return out


@pytest.mark.parametrize(
    "name",
    [
        "__pycache__/verify.cpython-311.pyc",
        "laboratory/theories/__pycache__/score.cpython-311.pyc",
        "x__pycache__y",
        "a.py",
    ],
)
def test_a_file_that_nobody_listed_is_found_whatever_its_name(
    archive: Path, tmp_path: Path, name: str
) -> None:
    forged = repacked(archive, tmp_path / "forged.zip", [(name, b"bytecode")])
    trusted = verified(Path(standalone.__file__), str(forged))
    assert trusted.returncode == 1
    assert f"{name} is not listed" in trusted.stdout
    with pytest.raises(HeadError, match="is not listed"):
        unbundle(forged, tmp_path / "out")


@pytest.mark.parametrize("name", ["../escaped.py", "/escaped.py", "a\\..\\escaped.py", "README.md"])
def test_names_that_lead_elsewhere_or_come_twice_are_refused(
    archive: Path, tmp_path: Path, name: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the name that comes twice
        forged = repacked(archive, tmp_path / "forged.zip", [(name, b"text")])
    trusted = verified(Path(standalone.__file__), str(forged))
    assert trusted.returncode == 1
    assert "cannot be read" in trusted.stdout
    with pytest.raises(HeadError, match="is not read"):
        unbundle(forged, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bundle_that_would_fill_the_disk_is_refused_unread(archive: Path, tmp_path: Path) -> None:
    forged = repacked(archive, tmp_path / "forged.zip", [("zeros", bytes(2**24))])
    assert forged.stat().st_size < archive.stat().st_size + 2**16
    with pytest.raises(standalone.BundleRefusedError, match="bytes unpacked; at most"):
        standalone.BundleFiles(forged, most_bytes=2**24)


def test_a_link_in_an_unpacked_bundle_is_refused(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as whole:
        whole.extractall(tmp_path / "unpacked")
    (tmp_path / "unpacked" / "hidden").symlink_to("/etc")
    trusted = verified(Path(standalone.__file__), str(tmp_path / "unpacked"))
    assert trusted.returncode == 1
    assert "is a link" in trusted.stdout


def test_a_run_that_does_not_verify_is_not_bundled(copy: Path, tmp_path: Path) -> None:
    artifact = next(path for path in (copy / "artifacts").rglob("*") if path.is_file())
    artifact.write_bytes(b"changed")
    with pytest.raises(HeadError, match="does not verify"):
        bundle(copy, tmp_path / "x.zip")
