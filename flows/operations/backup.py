"""Backup and restore of a laboratory, while passes and pages go on writing.

Copies are taken in an order in which nothing can be missing: first what people left on the page, then the books, the
inbox, the journal, and last the artifacts. Whatever is told of in a later copy but not in an earlier one is delivered
again, and recorded once; an artifact is written before the record that names it. Only an erasure goes the other way, so
that a run in which a record was erased meanwhile is copied anew.

A backup has all that runs have: responses, and identifiers of people where the page or a recruitment service has some.
It is readable for its owner only. People who withdraw later are still in it; delete old backups.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from lakatos.flows.errors import FlowError, UnusableError
from lakatos.flows.operations.lab import LAB_FOLDER
from lakatos.traces.artifact import written_at
from lakatos.traces.journal import Journal
from lakatos.traces.place import address_file
from lakatos.traces.step import ARTIFACT_FOLDER, JOURNAL_FILE

FORMAT = 1
MANIFEST = "manifest.json"
ELSEWHERE = (address_file(JOURNAL_FILE), address_file(ARTIFACT_FOLDER))
"""Files of a run whose journal or artifacts are not in its folder."""
_DATABASES = (".sqlite", ".db")
_LEFT_OUT = ("-wal", "-shm", "-journal", ".lock")
_MOST_TRIES = 5


@dataclass(frozen=True)
class BackupContents:
    """Content of a backup: its runs, and the number and size of its files."""

    path: Path
    runs: tuple[str, ...]
    n_files: int
    n_bytes: int


def _check_places(runs: Path, out: Path) -> None:
    """Refuse a backup that would overwrite one, lie among what it copies, or miss what is kept elsewhere."""
    if out.exists():
        raise UnusableError(f"{out} exists; a backup is never overwritten. Give another name.")
    if not runs.is_dir():
        raise UnusableError(f"there is no folder {runs}; --runs names another one.")
    if out.resolve().is_relative_to(runs.resolve()):
        raise UnusableError(
            f"{out} lies in {runs}, whose disk it would share; write the backup somewhere else."
        )
    elsewhere = [path.parent.name for name in ELSEWHERE for path in runs.rglob(name)]
    if elsewhere:
        raise UnusableError(
            f"the run {elsewhere[0]} in {runs} keeps its journal or artifacts in a database or an object store, which "
            "this does not copy: use pg_dump and the store's own copies, and back up other runs from a folder of "
            "their own."
        )


def save(runs: Path, out: Path) -> BackupContents:
    """Copy all runs of a folder, their schedules included, into one compressed archive.

    Args:
        runs: Folder of the runs; they may be in use.
        out: The archive; must not exist.

    Raises:
        UnusableError: There is nothing to copy, the archive exists, or a database is damaged.
        FlowError: A run is erased from faster than it can be copied.
    """
    _check_places(runs, out)
    out.parent.mkdir(parents=True, exist_ok=True)
    folders = [
        journal.parent
        for journal in sorted(runs.rglob(JOURNAL_FILE))
        if LAB_FOLDER not in journal.parts
    ]
    files: dict[str, dict[str, Any]] = {}
    part = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with (
            written_at(out),
            tempfile.TemporaryDirectory(dir=out.parent, prefix=".lakatos-backup-") as scratch,
        ):
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with (
                os.fdopen(descriptor, "wb") as file,
                tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as archive,
            ):
                for number, folder in enumerate(folders):
                    place = Path(scratch) / str(number)
                    copy_run(folder, place)
                    _add(archive, files, place, folder.relative_to(runs).as_posix())
                    shutil.rmtree(place)
                for file_path in _others(runs, folders):
                    _add_file(archive, files, file_path, file_path.relative_to(runs).as_posix())
                if not files:
                    raise UnusableError(f"there is nothing in {runs} to back up.")
                made = datetime.now(UTC).isoformat(timespec="seconds")
                names = [folder.relative_to(runs).as_posix() for folder in folders]
                text = json.dumps(
                    {"format": FORMAT, "made_utc": made, "runs": names, "files": files}
                ).encode()
                entry = tarfile.TarInfo(MANIFEST)
                entry.size, entry.mode = len(text), 0o600
                archive.addfile(entry, io.BytesIO(text))
            with part.open("rb") as written:
                os.fsync(written.fileno())
        part.rename(out)
    finally:
        part.unlink(missing_ok=True)
    return BackupContents(out, tuple(names), len(files), out.stat().st_size)


def copy_run(folder: Path, place: Path) -> None:
    """Copy one run, consistently, while others write it.

    Raises:
        UnusableError: One of its databases is damaged.
        FlowError: Records are erased from it again and again meanwhile.
    """
    for _ in range(_MOST_TRIES):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, mode=0o700)
        databases = [
            path for path in folder.iterdir() if path.suffix in _DATABASES and path.is_file()
        ]
        order = {"collection.sqlite": 0, "prolific.sqlite": 1, "inbox.sqlite": 2, JOURNAL_FILE: 3}
        for path in sorted(databases, key=lambda path: (order.get(path.name, 1), path.name)):
            _copy_database(path, place / path.name)
        for path in sorted(folder.iterdir()):
            if (
                path.is_file()
                and path not in databases
                and not path.name.endswith(_LEFT_OUT)
                and path.name[0] != "."
            ):
                shutil.copy2(path, place / path.name)
            elif (
                path.is_dir() and path.name != ARTIFACT_FOLDER and not any(path.rglob(JOURNAL_FILE))
            ):
                shutil.copytree(path, place / path.name)
        _copy_artifacts(folder / ARTIFACT_FOLDER, place / ARTIFACT_FOLDER)
        if _n_erased(folder) == _n_erased(place):
            return
    raise FlowError(
        f"records of {folder} were erased while it was copied, {_MOST_TRIES} times; back it up again later."
    )


def _copy_artifacts(source: Path, target: Path) -> None:
    for path in sorted(source.glob("??/*")):
        place = target / path.parent.name / path.name
        if not path.name.startswith("."):
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                shutil.copy2(path, place)
            except (
                FileNotFoundError
            ):  # erased this moment; the journal will say so, and the copy is made anew
                continue


def _copy_database(source: Path, target: Path) -> None:
    if not source.stat().st_size:
        target.touch(mode=0o600)
        return
    os.close(os.open(target, os.O_RDWR | os.O_CREAT, 0o600))
    address = f"{source.absolute().as_uri()}?mode=rw"  # a reader that may not write would leave its files behind
    try:
        with (
            closing(sqlite3.connect(address, uri=True, timeout=60)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
            new.execute("PRAGMA journal_mode = WAL")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise UnusableError(
            f"{source} is damaged or no database ({error}), so nothing was backed up. Restore it from an older backup, "
            "or move its folder elsewhere, and back up the others."
        ) from error


def _n_erased(folder: Path) -> int:
    journal = folder / JOURNAL_FILE
    if not journal.stat().st_size:
        return 0
    with Journal.open(journal, read_only=True) as opened:
        return sum(row.kind == "tombstone" for row in opened.store.rows())


def _others(runs: Path, folders: list[Path]) -> Iterator[Path]:
    """Files beside the runs, such as schedules."""
    inside = tuple(folders)
    for path in sorted(runs.rglob("*")):
        if not path.is_file() or path.is_symlink() or LAB_FOLDER in path.relative_to(runs).parts:
            continue
        if path.name.endswith(_LEFT_OUT) or path.name.startswith("."):
            continue
        if not any(path.is_relative_to(folder) for folder in inside):
            yield path


def _add(
    archive: tarfile.TarFile, files: dict[str, dict[str, Any]], place: Path, name: str
) -> None:
    for path in sorted(place.rglob("*")):
        if path.is_file():
            _add_file(archive, files, path, f"{name}/{path.relative_to(place).as_posix()}")


def _add_file(
    archive: tarfile.TarFile, files: dict[str, dict[str, Any]], path: Path, name: str
) -> None:
    data = path.read_bytes()
    entry = tarfile.TarInfo(f"runs/{name}")
    entry.size, entry.mtime, entry.mode = (
        len(data),
        int(path.stat().st_mtime),
        path.stat().st_mode & 0o700,
    )
    archive.addfile(entry, io.BytesIO(data))
    files[name] = {"sha256": sha256(data).hexdigest(), "size": len(data)}


class SavedFile(BaseModel):
    """One file in a manifest."""

    model_config = ConfigDict(strict=True)

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class BackupManifest(BaseModel):
    """The stated content of a backup. Its author is unknown, so everything in it is checked."""

    model_config = ConfigDict(strict=True)

    format: int
    runs: list[str] = []
    files: dict[str, SavedFile]

    @field_validator("files")
    @classmethod
    def _stay_inside(cls, files: dict[str, SavedFile]) -> dict[str, SavedFile]:
        for name in files:
            parts = name.split("/")
            if "\0" in name or any(part in ("", ".", "..") for part in parts):
                raise ValueError(f"{name!r} is no file of a folder of runs")
            if parts[-1] in ELSEWHERE:
                raise ValueError(
                    f"{name!r} refers to a run that is kept elsewhere, which no backup contains"
                )
        return files


def restore(archive: Path, runs: Path) -> BackupContents:
    """Unpack a backup into a folder that does not exist or is empty, whole or not at all.

    Raises:
        UnusableError: It is no backup, a newer format, damaged, or the folder holds something.
    """
    if not archive.is_file():
        raise UnusableError(
            f"there is no backup {archive}; name the file that `lakatos backup` wrote."
        )
    if runs.is_symlink():
        raise UnusableError(
            f"{runs} is a link to another place; name a folder, so that it is clear what is written."
        )
    if runs.exists() and (not runs.is_dir() or any(runs.iterdir())):
        raise UnusableError(
            f"{runs} holds something; restore into a new folder, so that there are never two of one run."
        )
    with _scratch_beside(runs) as scratch:
        manifest = _unpack(archive, scratch)
        _compare(archive, scratch / "runs", manifest)
        if runs.exists():
            runs.rmdir()
        (scratch / "runs").rename(runs)
    return BackupContents(
        archive,
        tuple(manifest.runs),
        len(manifest.files),
        sum(file.size for file in manifest.files.values()),
    )


@contextmanager
def _scratch_beside(runs: Path) -> Iterator[Path]:
    """A folder next to ``runs`` while the context lasts; where that fails, folders that were made for it go too."""
    missing = [folder for folder in runs.absolute().parents if not folder.exists()]
    runs.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=runs.parent, prefix=".lakatos-restore-"))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        for folder in missing:
            with suppress(OSError):  # it holds what was restored
                folder.rmdir()


def _compare(archive: Path, place: Path, manifest: BackupManifest) -> None:
    """Raise unless exactly the files of the manifest are there, byte for byte.

    Raises:
        UnusableError: One is missing, changed, or not listed.
    """
    for name, known in manifest.files.items():
        path = place / name
        if not path.is_file() or sha256(path.read_bytes()).hexdigest() != known.sha256:
            raise UnusableError(
                f"{archive} is damaged: {name} is missing or not what was saved. Use another backup."
            )
    found = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    if extra := sorted(found - set(manifest.files)):
        raise UnusableError(
            f"{archive} holds {extra[0]}, which its manifest does not list; it was tampered with."
        )


def _unpack(archive: Path, scratch: Path) -> BackupManifest:
    try:
        with tarfile.open(archive, "r:gz") as opened:
            for entry in opened:
                parts = PurePosixPath(entry.name).parts
                wanted = entry.name == MANIFEST or (parts[:1] == ("runs",) and ".." not in parts)
                if not (entry.isfile() and wanted):
                    raise UnusableError(
                        f"{archive} holds {entry.name!r}, which no backup does; it was tampered with."
                    )
                opened.extract(entry, scratch, filter="data")
        manifest = BackupManifest.model_validate_json((scratch / MANIFEST).read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part)[:80] for part in first["loc"])
        raise UnusableError(
            f"{archive} is no backup: its manifest is malformed ({where}: {first['msg']}). Use another one."
        ) from None
    except (tarfile.TarError, EOFError, ValueError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None and not archive.exists():
            raise UnusableError(f"there is no backup {archive}.") from None
        raise UnusableError(
            f"{archive} is no backup, or damaged ({error}). Use another one."
        ) from None
    if manifest.format > FORMAT:
        raise UnusableError(
            f"{archive} has format {manifest.format}, and this version reads up to {FORMAT}. Install a newer one."
        )
    (scratch / "runs").mkdir(exist_ok=True)
    return manifest
