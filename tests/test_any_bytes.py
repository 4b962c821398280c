"""Every reader of files from outside, on damaged copies of real files and on any bytes: a value, or a known error."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import shutil
import tarfile
import time
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakatos.domains import FAMILIES
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import READERS, read_answers, read_cells
from lakatos.experiments.participants.prolific.plan import load_settings
from lakatos.flows.audit.audit import audit
from lakatos.flows.audit.bundle import bundle, unbundle
from lakatos.flows.commands.status_view import status
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.operations.backup import restore, save
from lakatos.flows.operations.carry import read_study
from lakatos.flows.operations.known_errors import known_errors
from lakatos.flows.operations.report_page import run_name
from lakatos.flows.operations.schedule import load_schedules
from lakatos.flows.operations.tasks import examine_task
from lakatos.flows.run.study import load_study
from lakatos.flows.stages.judging.anchor import read_anchor
from lakatos.flows.start import run_study
from lakatos.language_models.serving.profile import load_profile
from lakatos.theories.engine.checks.hidden_numbers import table_size
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.theories.language.theory_file import read_theory_file
from lakatos.traces import standalone
from lakatos.traces.stores.store import EventRow
from tests.flows.small import SHORT, small_study, write_study
from tests.forging import rehashed

ROOT = Path(__file__).resolve().parent.parent
ANCHOR = b'{"parts": {"dev": [], "confirm": [], "vault": []}, "hard_cases": []}'
STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(32))
PUBLIC = STRANGER.public_key().public_bytes_raw().hex()
SECONDS = float(os.environ.get("LAKATOS_FUZZ_SECONDS", "5"))
"""For each reader; 180 and more before a release."""
LONGEST_S = 20.0
ROWS = "subject,trial,ss_amount,ss_delay,ll_amount,ll_delay,choice\r\n" + "\n".join(
    f"s{n % 3},{n},1{n}.5,0,2{n},7,{n % 2}" for n in range(30)
)
NASTY = [
    b"\0", b"\r", b"\n", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[31m", b'"', b"'''", b"[[", b"{" * 40,
    b"(" * 300, b"1e999", b"NaN", b"-0", b"9" * 400, b"../", b"\x00" * 8, b"=cmd()", b"&a [*a,*a]", b"\xe2\x80\xae",
]  # fmt: skip


def plain_table() -> pd.DataFrame:
    return pd.DataFrame({"subject": ["a", "b"] * 8, "choice": [0, 1] * 8, "amount": [1.5] * 16})


def unpacked_bundle(run: Path, out: Path) -> dict[str, bytes]:
    """The files of a run's bundle that a reader looks into."""
    with zipfile.ZipFile(bundle(run, out)) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if not name.startswith("laboratory/")
        }


def manifest_of(files: dict[str, bytes]) -> bytes:
    """The list of files that a stranger signs."""
    listed = {
        name: sha256(data).hexdigest()
        for name, data in files.items()
        if name not in standalone.FILES
    }
    return standalone.canonical({"format": 1, "public_key": PUBLIC, "files": listed})


def signed(files: dict[str, bytes], out: Path) -> Path:
    """A bundle of files with their list, which a stranger signed."""
    signature = STRANGER.sign(standalone.MANIFEST_TAG + files["manifest.json"]).hex().encode()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in {**files, "manifest.sig": signature}.items():
            archive.writestr(name, data)
    return out


def audited(path: Path, whole: dict[str, bytes], name: str) -> None:
    """Read a bundle in which one file is that of ``path``, by somebody who chained and signed everything anew."""
    files = {**whole, name: path.read_bytes()}
    if name != "manifest.json":
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            meta = json.loads(files["journal/meta.json"])
            before = standalone.start_of(
                [(a.encode(), b.encode()) for a, b in meta.items()]
            ).decode()
            lines, row = list[str](), None
            for line in files["journal/events.jsonl"].splitlines():
                row = rehashed(EventRow(*json.loads(line)), before)
                before = row.hash
                lines.append(json.dumps(list(row), ensure_ascii=False))
            if row is not None:
                files["journal/events.jsonl"] = "\n".join(lines).encode() + b"\n"
                head = {"seq": row.seq, "hash": row.hash, "time_utc": row.time_utc, "previous": "",
                        "journal": json.loads(lines[0])[-1], "public_key": PUBLIC}  # fmt: skip
                head["signature"] = STRANGER.sign(
                    standalone.HEAD_TAG + standalone.canonical(head)
                ).hex()
                files["heads.jsonl"] = standalone.canonical(head) + b"\n"
        files["manifest.json"] = manifest_of(files)
    place = path.with_suffix("")
    try:
        audit(
            unbundle(signed(files, path.with_suffix(".zip")), place),
            recompute="none",
            key=PUBLIC,
            is_copy=True,
        )
    finally:
        shutil.rmtree(place, ignore_errors=True)


def looked_at(path: Path, run: Path, name: str) -> None:
    """Look at a copy of a run in which one file is that of ``path``."""
    place = shutil.copytree(run, path.with_suffix(""))
    try:
        shutil.copy(path, place / name)
        audit(place, recompute="none")
        for shown in status(place).lines():
            str(shown)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def members(archive: Path) -> dict[str, bytes]:
    """The files of a backup."""
    with tarfile.open(archive) as opened:
        return {item.name: opened.extractfile(item).read() for item in opened}  # type: ignore[union-attr]


def repacked(manifest: Path, archive: Path) -> Path:
    """A backup with another manifest."""
    with tarfile.open(manifest.with_suffix(".tar.gz"), "w:gz") as made:
        for name, data in {**members(archive), "manifest.json": manifest.read_bytes()}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
    return manifest.with_suffix(".tar.gz")


def examined(path: Path) -> int:
    """Read a theory as an import does, as far as nothing of it runs."""
    source = read_theory_file(path)
    read_program(TheoryProgram(source, "somebody"))
    return table_size(source)


def samples(folder: Path) -> dict[str, tuple[str, bytes, Callable[[Path], Any]]]:
    """By name: the end of the file's name, a real file, and the reader."""

    def described(path: Path) -> Any:
        return describe_table(read_answers(path))

    def restored(path: Path) -> Any:
        return restore(path, path.with_name(f"restored-{time.monotonic_ns()}"))

    def unpacked(path: Path) -> Any:
        return unbundle(path, path.with_name(f"unpacked-{time.monotonic_ns()}"))

    frame = plain_table()
    frame.to_parquet(folder / "a.parquet")
    parquet = (folder / "a.parquet").read_bytes()
    found: dict[str, tuple[str, bytes, Callable[[Path], Any]]] = {
        f"answers{suffix}": (suffix, ROWS.encode(), described) for suffix in READERS
    }
    found["answers.json"] = (".json", frame.to_json(orient="records").encode(), described)
    lines = frame.to_json(orient="records", lines=True).encode()
    for suffix in (".jsonl", ".ndjson"):
        found[f"answers{suffix}"] = (suffix, lines, described)
    for suffix in (".parquet", ".pq"):
        found[f"answers{suffix}"] = (suffix, parquet, described)
    with contextlib.suppress(ImportError):  # pip install 'lakatos[formats]'
        import pyreadr
        import pyreadstat

        pyreadr.write_rds(str(folder / "a.rds"), frame)
        pyreadr.write_rdata(str(folder / "a.rdata"), frame)
        pyreadstat.write_sav(frame, str(folder / "a.sav"))
        for suffix in (".rds", ".rdata", ".sav"):
            found[f"answers{suffix}"] = (suffix, (folder / f"a{suffix}").read_bytes(), described)
    found["import.csv"] = (".csv", b"participant,trial,choice\na,0,1\nb,1,0\n", read_cells)
    found["import.parquet"] = (".parquet", parquet, read_cells)
    (folder / "runs").mkdir()
    (folder / "runs" / "schedules.json").write_text('{"version": 1, "schedules": {}}')
    save(folder / "runs", folder / "b.tar.gz")
    task = (ROOT / "studies" / "tasks").glob("*.toml")
    run_study(small_study(**SHORT), folder / "one" / "run", n_workers=1)
    whole = unpacked_bundle(folder / "one" / "run", folder / "whole.zip")
    (folder / "answers.csv").write_text(ROWS)
    new_study(folder / "mapping.toml", folder / "answers.csv")
    mapping = (
        (folder / "mapping.toml").read_text().replace("answers.csv", str(folder / "answers.csv"))
    )
    published = FAMILIES["risky"].program("prospect_theory").source
    found |= {
        "mapping": (".toml", mapping.encode(), load_study),
        "journal": (".sqlite", (folder / "one" / "run" / "journal.sqlite").read_bytes(),
                    lambda path: looked_at(path, folder / "one" / "run", "journal.sqlite")),
        "heads": (".jsonl", (folder / "one" / "run" / "heads.jsonl").read_bytes(),
                  lambda path: looked_at(path, folder / "one" / "run", "heads.jsonl")),
        "signed.events": (".jsonl", whole["journal/events.jsonl"],
                          lambda path: audited(path, whole, "journal/events.jsonl")),
        "signed.meta": (".json", whole["journal/meta.json"],
                        lambda path: audited(path, whole, "journal/meta.json")),
        "signed.manifest": (".json", manifest_of(whole),
                            lambda path: audited(path, whole, "manifest.json")),
        "backup.manifest": (".json", members(folder / "b.tar.gz")["manifest.json"],
                            lambda path: restored(repacked(path, folder / "b.tar.gz"))),
        "theory.published": (".py", published.encode(), examined),
        "study": (".toml", write_study(folder).read_bytes(), load_study),
        "study.json": (".json", small_study().model_dump_json().encode(), read_study),
        "task": (".toml", next(iter(sorted(task))).read_bytes(), lambda path: examine_task(str(path))),
        "theory": (".py", b'"""A claim."""\nPARAMETERS = {}\n', read_theory_file),
        "plan": (".toml", b'experiment = "1.1"\ntitle = "a"\ndescription = "b"\n'
                 b'url = "https://a.example/b"\npeople = 3\nminutes = 5\nreward = "1.00"\n', load_settings),
        "anchor": (".json", ANCHOR, read_anchor),
        "anchor.gz": (".json.gz", gzip.compress(ANCHOR), read_anchor),
        "profile": (".toml", b'model = "m"\nport = 8000\n', load_profile),
        "schedules": (".json", b'{"version": 1, "schedules": {"a": {"name": "a", "study": "a.toml"}}}',
                      lambda path: load_schedules(path.rename(path.with_name("schedules.json")).parent)),
        "backup": (".tar.gz", (folder / "b.tar.gz").read_bytes(), restored),
        "bundle": (".zip", signed({**whole, "manifest.json": manifest_of(whole)}, folder / "b.zip").read_bytes(),
                   unpacked),
        "report": (".html", b'<meta name="lakatos-journal" content="1 ' + b"0" * 64 + b' a">', run_name),
    }  # fmt: skip
    return found


NAMES = sorted(
    {
        *(f"answers{suffix}" for suffix in READERS), "import.csv", "import.parquet", "study", "study.json", "task",
        "theory", "plan", "anchor", "anchor.gz", "transfer", "profile", "schedules", "backup", "bundle",
        "report", "mapping", "journal", "heads", "signed.events", "signed.meta", "signed.manifest",
        "backup.manifest", "theory.published",
    }
)  # fmt: skip


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """A copy with a few changes: bytes flipped, removed, repeated, exchanged or put in."""
    if rng.random() < 0.1:
        return bytes(rng.integers(0, 256, rng.integers(0, 300), dtype=np.uint8))
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at, length = int(rng.integers(0, len(changed) + 1)), int(rng.integers(1, 30))
        kind = rng.integers(0, 5)
        if kind == 0 and at < len(changed):
            changed[at] = int(rng.integers(0, 256))
        if kind == 1:
            del changed[at : at + length]
        if kind == 2:
            changed[at:at] = changed[at : at + length] * int(rng.integers(1, 50))
        if kind == 3:
            changed[at:at] = NASTY[int(rng.integers(0, len(NASTY)))]
        if kind == 4:
            del changed[at:]
    if rng.random() < 0.1:
        return (
            bytes(changed)
            .decode("latin-1")
            .encode(str(rng.choice(["utf-16", "utf-16-le", "utf-32"])))
        )
    return bytes(changed)


@pytest.fixture(scope="module")
def real(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[str, bytes, Callable[[Path], Any]]]:
    return samples(tmp_path_factory.mktemp("real"))


@pytest.mark.slow
def test_every_reader_has_a_name(real: dict[str, Any]) -> None:
    assert set(real) == set(NAMES)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_any_bytes_are_read_or_refused_with_a_known_error(
    name: str, tmp_path: Path, real: dict[str, Any]
) -> None:
    suffix, data, reader = real[name]
    undamaged = tmp_path / f"undamaged{suffix}"
    undamaged.write_bytes(data)
    with contextlib.suppress(*known_errors()):
        reader(undamaged)  # libraries are loaded before anything is timed
    rng, end, number = np.random.default_rng(hash(name) % 2**32), time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        number += 1
        place = tmp_path / "damaged"
        place.mkdir(exist_ok=True)
        path = place / f"file{number}{suffix}"
        path.write_bytes(changed := damaged(data, rng))
        begun = time.process_time()  # other programs may hold the machine up
        try:
            reader(path)
        except known_errors():
            pass
        except Exception as error:
            kept = Path(os.environ.get("LAKATOS_FUZZ_KEEP", tmp_path)) / f"found-{name}{suffix}"
            kept.write_bytes(changed)
            raise AssertionError(f"{kept}: {type(error).__name__}: {error}") from error
        assert time.process_time() - begun < LONGEST_S, changed[:200]
        path.unlink(missing_ok=True)
