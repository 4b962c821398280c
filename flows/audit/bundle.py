"""A bundle: one archive of a run that somebody else can verify, and compute again, without the laboratory that made it.

It holds the journal as text, the artifacts, the signed heads, the public key, versions, the laboratory's own source
with its lock file, and ``verify.py``. Each file stands in a signed list. It never holds what names a person: the page's
collection, the books of a recruitment service, the inbox and the keys of pseudonyms stay behind, and a bundle in whose
text an identifier is found all the same is not written.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import lakatos
from lakatos import IMPORT_ROOT
from lakatos.experiments.participants.prolific.books import LEDGER_FILE
from lakatos.experiments.participants.web.collection import COLLECTION_FILE
from lakatos.experiments.record import PersonWithdrawn
from lakatos.flows.errors import check_file_place
from lakatos.flows.run.code import ROOT
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import ENGINE_VERSION, check_run
from lakatos.flows.run.taking_part import check_published
from lakatos.flows.run.task import science_of
from lakatos.traces import standalone
from lakatos.traces.artifact import ArtifactStore, written_at
from lakatos.traces.digest import Digest, canonical_json, digest_bytes
from lakatos.traces.errors import ChainBrokenError, HeadError
from lakatos.traces.head import (
    HEADS_FILE,
    kept_apart,
    laboratory_key,
    public_key,
    read_lines,
    write_head,
)
from lakatos.traces.journal import Journal
from lakatos.traces.owner import for_owner
from lakatos.traces.step import ARTIFACT_FOLDER, JOURNAL_FILE, Trace
from lakatos.traces.stores import STORES
from lakatos.traces.stores.store import EventRow
from lakatos.traces.verify import verify

PACKAGES: Final = (
    "flows",
    "memory",
    "judges",
    "theories",
    "experiments",
    "language_models",
    "traces",
    "studies",
)
OF_THE_PROJECT: Final = (
    "pyproject.toml",
    "start.py",
    "requirements.lock",
    "requirements-test.lock",
    "README.md",
)
LABORATORY: Final = "laboratory/"
"""Folder of the source in a bundle."""
WHEN: Final = (2020, 1, 1, 0, 0, 0)
"""Hour of every file in an archive, so that equal runs give equal archives."""
MAIN: Final = "import sys\n\nsys.dont_write_bytecode = True\nfrom verify import main\n\nraise SystemExit(main())\n"
README: Final = """# A run of Lakatos, to be verified by anybody

Name: {name}. Signed with the public key {key}; compare it with what its authors have published.

## Verify

    python3 {file}                        # or unpack it and run: python3 verify.py

Only Python is needed. It says whether anything was changed, dropped, moved or cut off since it was signed.

## Compute everything again

With Python {python}, beside the archive:

    python3 -m zipfile -e {file} unpacked
    python3 -m venv environment
    environment/bin/pip install --no-deps --require-hashes -r unpacked/laboratory/requirements.lock
    environment/bin/pip install --no-deps unpacked/laboratory/
    environment/bin/lakatos audit {file}

`--data FOLDER` names the published data sets, for studies on archives. Every deterministic record is computed from its
inputs by the laboratory's own source, which is in `laboratory/`, in its sandbox, and compared.

## What is in it

`journal/events.jsonl` holds one event per line, in the columns {columns}; `journal/meta.json` what the first is
chained to. `artifacts/` holds what records name by its SHA-256. People appear under keyed pseudonyms; nothing here says
who they are. The responses of participants who withdrew are erased, with the content of all records that were computed
from them: of the lines of these records in the journal, only numbers, digests and hashes are left.
"""


def bundle(folder: Path, out: Path) -> Path:
    """Write a run and the runs of its folds into one signed archive.

    Raises:
        RunMissingError: There is no run.
        UnusableError: ``out`` is a folder or a device, or too few participants responded.
        HeadError: The run does not verify, no earlier head of this laboratory covers it, an identifier of a person is
            found in it, or nothing can be signed.
    """
    check_run(folder)
    check_file_place(out)
    check_published(folder)
    key = laboratory_key()
    runs = {"": folder}
    runs |= {f"{below.parent.relative_to(folder).as_posix()}/": below.parent
             for below in sorted(folder.glob(f"folds/*/{JOURNAL_FILE}"))}  # fmt: skip
    for place in runs.values():
        # Before anything is signed: a bundle must not lend this laboratory's name to what somebody else wrote.
        if failures := verify(place, RECORD_TYPES, key=public_key(key)).failures:
            raise HeadError(
                f"{place} does not verify ({failures[0].name}: {failures[0].detail}) and is not bundled; "
                "`lakatos audit` has the whole story."
            )
        _refuse_numbers_of_withdrawn(place)
    for place in runs.values():
        write_head(place)
    files: dict[str, bytes] = {}
    for prefix, place in runs.items():
        files |= {prefix + name: data for name, data in _run_files(place)}
    _refuse_identifiers(list(runs.values()), files)
    contents = {
        "name": folder.resolve().name,
        "key": public_key(key),
        "file": out.name,
        "python": "3.11",
    }
    files["README.md"] = README.format(**contents, columns=", ".join(EventRow._fields)).encode()
    files["verify.py"] = Path(standalone.__file__).read_bytes()
    files["__main__.py"] = MAIN.encode()
    files["public_key.txt"] = (public_key(key) + "\n").encode()
    files["versions.json"] = canonical_json(_versions(folder))
    files |= dict(_source())
    listed = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    manifest = canonical_json({"format": 1, "public_key": public_key(key), "files": listed})
    files["manifest.json"] = manifest
    files["manifest.sig"] = (key.sign(standalone.MANIFEST_TAG + manifest).hex() + "\n").encode()
    out.parent.mkdir(parents=True, exist_ok=True)
    made = out.with_name(f".{out.name}.new")
    made.unlink(missing_ok=True)
    try:
        with (
            written_at(out),
            open(made, "wb", opener=for_owner) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for name, data in sorted(files.items()):
                archive.writestr(zipfile.ZipInfo(name, WHEN), data, zipfile.ZIP_DEFLATED)
        made.replace(out)
    finally:
        made.unlink(missing_ok=True)
    return out


def _refuse_numbers_of_withdrawn(folder: Path) -> None:
    """Refuse a run of an earlier version whose records keep numbers about a participant who withdrew."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        if not trace.journal.erases and any(trace.records(PersonWithdrawn)):
            raise HeadError(
                f"{folder} was begun by an earlier version, and a participant has withdrawn since: its records keep "
                "numbers about each participant, from which the responses can be computed, so it is not bundled. Hand "
                "on `lakatos data export` of it, or a run that is begun anew with the responses that are left."
            )


def _run_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        yield "journal/meta.json", canonical_json(journal.store.meta())
        lines = (json.dumps(list(row), ensure_ascii=False).encode() for row in journal.store.rows())
        yield "journal/events.jsonl", b"".join(line + b"\n" for line in lines)
        first = next(iter(journal.store.rows()), None)
    artifacts = ArtifactStore(folder / ARTIFACT_FOLDER)
    for digest in artifacts.digests():
        yield f"artifacts/{digest[:2]}/{digest}", artifacts.get(digest)
    lines_apart = read_lines(kept_apart(first.hash)) if first else []
    lines_here = read_lines(folder / HEADS_FILE)
    # Heads of versions that did not sign are left out: nobody else can tell who wrote them.
    lines_kept = max(
        lines_here, lines_apart, key=lambda some: sum(b'"signature"' in line for line in some)
    )
    yield "heads.jsonl", b"".join(line + b"\n" for line in lines_kept if b'"signature"' in line)


def _versions(folder: Path) -> dict[str, Any]:
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        first = next(
            (event.body for event in journal.events() if event.kind == "campaign_started"), {}
        )
    return {
        "lakatos": ENGINE_VERSION,
        "science": science_of(first.get("config", {})),
        "run": first.get("versions", {}),
        "science_of_run": first.get("science", ""),
    }


def _source() -> Iterator[tuple[str, bytes]]:
    """The laboratory itself: what a bundle is computed again with."""
    for name in OF_THE_PROJECT:
        if (IMPORT_ROOT / name).is_file():
            yield LABORATORY + name, (IMPORT_ROOT / name).read_bytes()
    # The packages lie in `lakatos`, as in a wheel: an archive holds no links.
    yield f"{LABORATORY}lakatos/__init__.py", Path(lakatos.__file__).read_bytes()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                yield f"{LABORATORY}lakatos/{path.relative_to(ROOT).as_posix()}", path.read_bytes()


# --- nothing that names a person ------------------------------------------------------------------------------------


def identifiers_in(folder: Path) -> set[str]:
    """Everything by which a recruitment service, a file or a browser knows a person of this run."""
    found: set[str] = set()
    for name, queries in (
        (COLLECTION_FILE, ("SELECT participant FROM identifier", "SELECT submission FROM identifier",
                           "SELECT token FROM access")),
        (LEDGER_FILE, ()),
    ):  # fmt: skip
        if not (folder / name).exists():
            continue
        with sqlite3.connect(f"file:{folder / name}?mode=ro", uri=True) as sql:
            for query in queries or _columns_of_people(sql):
                found |= {str(value) for (value,) in sql.execute(query) if value}
    return {item for item in found if len(item) >= 6}


def _columns_of_people(sql: sqlite3.Connection) -> list[str]:
    """Queries for every column of the books that says who somebody is."""
    queries: list[str] = []
    for (table,) in sql.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        columns = [str(column[1]) for column in sql.execute(f'PRAGMA table_info("{table}")')]
        queries += [
            f'SELECT "{column}" FROM "{table}" WHERE typeof("{column}") = \'text\''
            for column in columns
            if re.search("participant|submission", column)
        ]
    return queries


def _refuse_identifiers(folders: list[Path], files: dict[str, bytes]) -> None:
    for folder in folders:
        known = [item.encode() for item in identifiers_in(folder)]
        if not known:
            continue
        for name, data in files.items():
            if hit := next((item for item in known if item in data), None):
                raise HeadError(
                    f"{name} of {folder} holds an identifier of a person (it begins with {hit[:3].decode()!r}), so the "
                    "run is not bundled. Identifiers belong in the page's collection only; this is a fault to report."
                )


# --- back again -----------------------------------------------------------------------------------------------------


def unbundle(archive: Path, folder: Path) -> Path:
    """Make a run folder of a bundle, for `lakatos audit`.

    Raises:
        HeadError: The bundle does not verify.
    """
    try:
        whole = standalone.BundleFiles(archive)
        answers = standalone.verify_bundle(whole)
    except Exception as error:  # a stranger wrote it: damaged in any way, it is refused in words
        raise HeadError(
            f"the bundle {archive} is not read: {error or type(error).__name__}."
        ) from error
    if wrong := [text for good, text in answers if not good]:
        raise HeadError(
            f"the bundle {archive} is not as it was signed ({wrong[0]}); ask for another copy."
        )
    for name in whole.names:
        if name.endswith("journal/events.jsonl") and not name.startswith(LABORATORY):
            _restore(whole, name[: -len("journal/events.jsonl")], folder)
    return folder


def _restore(whole: standalone.BundleFiles, prefix: str, folder: Path) -> None:
    place = folder / prefix
    meta: dict[str, str] = json.loads(whole.read(prefix + "journal/meta.json"))
    described = {name: value for name, value in meta.items() if name != "format"}
    store = STORES["sqlite"].create(place / JOURNAL_FILE, described)
    try:
        lines = whole.read(prefix + "journal/events.jsonl").splitlines()
        rows = [EventRow(*json.loads(line)) for line in lines]
        for first in range(0, len(rows), 1000):
            store.append_all(rows[first : first + 1000])
        if store.meta() != meta:
            raise ChainBrokenError(
                f"{prefix or 'the bundle'} has a journal of another format; use its own version."
            )
    finally:
        store.close()
    artifacts = ArtifactStore(place / ARTIFACT_FOLDER)
    start = prefix + "artifacts/"
    for name in whole.names:
        if name.startswith(start):
            _put(artifacts, name.rpartition("/")[2], whole.read(name))
    (place / HEADS_FILE).write_bytes(whole.read(prefix + "heads.jsonl"))


def _put(artifacts: ArtifactStore, digest: Digest, data: bytes) -> None:
    if digest_bytes(data) == digest:  # checked before; names come from an archive
        artifacts.put(data)
