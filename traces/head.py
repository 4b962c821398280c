"""Signed heads: the end of a journal at one moment, signed and kept outside of it.

A chain alone cannot show that its tail was cut off, nor that it was written anew from its beginning. So each head is
signed with the laboratory's key (Ed25519) and kept twice: beside the journal, and in a second place, by default in the
laboratory's home. Each line of either file names the one before it by its digest.

A head is a signature with a time. It shows that the events up to it stood there then. So nothing is
signed for a journal that no earlier head covers, unless it has just begun: who writes a journal anew
would get it signed by the next pass otherwise.

The key and the second place are found by the environment: ``LAKATOS_HOME`` (``~/.lakatos`` by default) and
``LAKATOS_HEADS`` (``heads`` in the home by default; a folder on another machine is better).
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest, digest_bytes, is_digest
from lakatos.traces.errors import HeadError
from lakatos.traces.home import KEY_FILE, home
from lakatos.traces.journal import Journal
from lakatos.traces.owner import for_owner
from lakatos.traces.standalone import CLOCK_SLACK, HEAD_TAG, canonical, head_problem, seconds_of
from lakatos.traces.system import give_name, is_open_to_others, sync_folder

HEADS_FILE: Final = "heads.jsonl"


@dataclass(frozen=True)
class JournalHead:
    """The end of a journal at one moment."""

    seq: int
    hash: Digest


def second_place() -> Path:
    """Return the folder in which heads are kept besides the run's folder."""
    named = os.environ.get("LAKATOS_HEADS")
    return Path(named) if named else home() / "heads"


def laboratory_key() -> Ed25519PrivateKey:
    """The key that this laboratory signs with; made when it is first asked for.

    Raises:
        HeadError: It cannot be made or read, or others than its owner may read it.
    """
    path = home() / KEY_FILE
    try:
        if not path.exists():
            _make_key(path)
        if is_open_to_others(path):
            raise HeadError(
                f"others may read the laboratory's key {path}, and could sign in its name: `chmod 600 {path}`; if "
                "somebody may have read it, remove it, so that a new one is made, and publish the new public key."
            )
        return Ed25519PrivateKey.from_private_bytes(path.read_bytes())
    except OSError as error:
        raise HeadError(
            f"the laboratory's key {path} cannot be made or read: {error.strerror}; name a folder that can be written "
            "in LAKATOS_HOME."
        ) from error
    except ValueError as error:
        raise HeadError(
            f"{path} holds no key; restore it from a copy, or remove it for a new one."
        ) from error


def _make_key(path: Path) -> None:
    """Two processes that make it at once end up with one key."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = path.with_name(f".{path.name}-{os.getpid()}")
    with open(made, "xb", opener=for_owner) as file:
        file.write(Ed25519PrivateKey.generate().private_bytes_raw())
        file.flush()
        os.fsync(file.fileno())
    try:
        give_name(made, path)
    except FileExistsError:
        pass
    finally:
        made.unlink(missing_ok=True)
    sync_folder(path.parent)


def public_key(key: Ed25519PrivateKey) -> str:
    """64 hexadecimal digits, to be published."""
    return key.public_key().public_bytes_raw().hex()


def known_key() -> str | None:
    """The public key of this machine's laboratory, if it has one; none is made."""
    try:
        return public_key(laboratory_key()) if (home() / KEY_FILE).exists() else None
    except HeadError:
        return None


def identity(journal: Journal) -> Digest:
    """Return what distinguishes a journal from all others: the hash of its first event, in which the time stands.

    Raises:
        JournalError: The journal cannot be read.
    """
    first = next(iter(journal.store.rows()), None)
    return journal.head[1] if first is None else first.hash


def write_head(folder: Path, *, begins: bool = False) -> JournalHead:
    """Sign the present end of the journal in ``folder`` and keep it in both places; the same end is kept once.

    Args:
        folder: Folder of the run.
        begins: Whether whoever asks made this journal just now, of more than one event.

    Raises:
        JournalError: The journal cannot be read.
        HeadError: There is no key, a place cannot be written, or no earlier head covers the journal.
        ArtifactError: The disk is full or fails.
    """
    with Journal.open(Path(folder) / "journal.sqlite", read_only=True) as journal:
        head, name = JournalHead(*journal.head), identity(journal)
        if head.seq == 0:
            raise HeadError(
                f"nothing is signed for {folder}: its journal has no event yet, and such a head would fit every "
                "journal that begins with the same description. Sign it when something is written in it."
            )
        key = laboratory_key()
        if not begins and (problem := uncovered(Path(folder), journal, public_key(key))):
            raise HeadError(
                f"nothing is signed for {folder}: {problem} `lakatos audit` has the whole story."
            )
    _name_place(name, Path(folder))
    for path, private in ((Path(folder) / HEADS_FILE, False), (kept_apart(name), True)):
        before = read_lines(path)
        content = {"seq": head.seq, "hash": head.hash, "journal": name}
        if before and _same(before[-1], content):
            continue
        content |= {
            "time_utc": datetime.now(UTC).isoformat(timespec="seconds"),
            "previous": digest_bytes(before[-1]) if before else "",
            "public_key": public_key(key),
        }
        signature = key.sign(HEAD_TAG + canonical(content)).hex()
        write_whole(path, b"".join(line + b"\n" for line in (*before, canonical({**content, "signature": signature}))),
                    private=private)  # fmt: skip
    return head


def uncovered(folder: Path, journal: Journal, key: str) -> str:
    """Explain why no earlier head signed with ``key`` covers the journal; empty if one does, or it has just begun."""
    name = identity(journal)
    kept = [*kept_heads(folder / HEADS_FILE), *kept_heads(kept_apart(name))]
    signers = set[str]()
    for item in kept:
        if item.head is None or item.head.seq < 1:  # that of an empty journal fits many
            continue
        seq, start = item.head.seq, item.head.seq - 1
        stored = next(iter(journal.store.rows(start)), None)
        if stored is None or (stored.seq, stored.hash) != (seq, item.head.hash):
            return (
                f"a head of event {seq} was signed that the journal does not have: it was cut off or written anew. "
                f"If an older copy was restored on purpose, rename {kept_apart(name)} to {_set_aside(name).name}; "
                "audits go on naming it."
            )
        signers.add(item.signed_by)
    if key in signers:
        return ""
    if journal.head[0] == 1:
        begun = seconds_of(next(iter(journal.events())).time_utc)
        if begun is not None and datetime.now(UTC).timestamp() - begun < CLOCK_SLACK:
            return ""
        return "it was begun some time ago and not signed then; nothing was asked yet, so remove it and begin anew."
    if others := signers - {""}:
        return (
            f"its heads are signed by {', '.join(sorted(others))}, and this laboratory's key is {key}: copy the key "
            "of the laboratory that began the run into LAKATOS_HOME."
        )
    return f"{NO_HEAD}{told_orphans(folder, name)}."


def signed_up_to(folder: Path, journal: Journal, key: str) -> int:
    """Number of the last event of a journal that a head signed with ``key`` covers; 0 if none does."""
    kept = [*kept_heads(folder / HEADS_FILE), *kept_heads(kept_apart(identity(journal)))]
    heads = {
        (item.head.seq, item.head.hash) for item in kept if item.head and item.signed_by == key
    }
    for seq, own in sorted(heads, reverse=True):
        stored = next(iter(journal.store.rows(seq - 1)), None) if seq else None
        if stored is not None and (stored.seq, stored.hash) == (seq, own):
            return seq
    return 0


NO_HEAD: Final = (
    "no signed head covers the journal, here or in the second place. One is signed when a run begins, so the "
    "journal was written anew or its heads were removed; restore both from a copy"
)


NOTHING_YET: Final = (
    "the journal has no event, and no head of it was written: the run was stopped before its first record, or all of "
    "it was removed"
)


def kept_apart(name: Digest) -> Path:
    """The file in the second place with the heads of the journal of this `identity`."""
    return _in_second_place(name, ".jsonl")


def forget_heads(folder: Path) -> None:
    """Remove the heads in the second place of a journal that was begun in ``folder`` and holds nothing yet."""
    with Journal.open(Path(folder) / "journal.sqlite", read_only=True) as journal:
        name = identity(journal)
    for path in (kept_apart(name), _place_note(name)):
        path.unlink(missing_ok=True)


def _in_second_place(name: Digest, suffix: str) -> Path:
    # A damaged journal may say anything of itself, which must not become part of a path.
    known = name if is_digest(name) else digest_bytes(name.encode(errors="surrogateescape"))
    return second_place() / f"{known}{suffix}"


def _set_aside(name: Digest) -> Path:
    """Return the file to which a laboratory that restored an older copy moves the heads of what was lost."""
    return _in_second_place(name, ".lost")


def _place_note(name: Digest) -> Path:
    """The file in the second place that says in which folder the journal of this `identity` lies."""
    return _in_second_place(name, ".place")


def _name_place(name: Digest, folder: Path) -> None:
    place = str(folder.resolve()).encode()
    if read_lines(_place_note(name)) != [place]:
        write_whole(_place_note(name), place + b"\n", private=True)


def orphans(folder: Path, name: Digest) -> Iterator["KeptHead"]:
    """The last head of every other journal that once lay in ``folder``, as the second place knows it.

    Such a journal was removed, written anew from its first event, or lost its end: either way somebody should know.
    """
    yield from list(kept_heads(_set_aside(name)))[-1:]
    place = str(folder.resolve()).encode()
    for note in sorted(second_place().glob("*.place")):
        if note.stem != name and read_lines(note) == [place]:
            yield from list(kept_heads(kept_apart(note.stem)))[-1:]


def told_orphans(folder: Path, name: Digest) -> str:
    """`orphans` as the end of a sentence; empty where there are none."""
    found = [item for item in orphans(folder, name) if item.head is not None]
    parts = [
        f"event {item.head.seq} of {item.path.stem[:8]}, {item.time_utc}"
        for item in found
        if item.head
    ]
    return (
        f"; the second place has heads of something else in this folder ({'; '.join(parts)})"
        if parts
        else ""
    )


def read_lines(path: Path) -> list[bytes]:
    """Lines of a file of heads; none where there is no file.

    Raises:
        HeadError: It cannot be read.
    """
    try:
        return path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HeadError(
            f"{path} cannot be read: {error.strerror}; restore it from a copy."
        ) from error


def _same(line: bytes, content: dict[str, Any]) -> bool:
    try:
        found = json.loads(line)
    except ValueError:
        return False
    return isinstance(found, dict) and all(
        found.get(name) == value for name, value in content.items()
    )


@dataclass(frozen=True)
class KeptHead:
    """A line of a file of heads, or what is wrong with it."""

    path: Path
    line: int
    head: JournalHead | None
    signed_by: str = ""
    """Public key; empty for heads of earlier versions, which had no signature and show nothing about a forger."""
    time_utc: str = ""
    """Time of the signature; empty for heads without a time, which show what was written and not when."""
    problem: str = ""


def kept_heads(path: Path) -> Iterator[KeptHead]:
    """The heads in a file, each checked by itself and against the line before it."""
    previous = b""
    try:
        lines = read_lines(path)
    except HeadError as error:
        yield KeptHead(path, 0, None, problem=str(error))
        return
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
            seq, event_hash = value["seq"], value["hash"]
        except (ValueError, KeyError, TypeError):
            value, seq, event_hash = None, None, None
        if not isinstance(seq, int) or not is_digest(event_hash):
            yield KeptHead(
                path,
                number,
                None,
                problem=f"line {number} of {path} is no head; restore it from a copy.",
            )
        elif "signature" in value or "previous" in value:
            problem = head_problem(value, previous, _is_signed)
            problem_words = (
                f"line {number} of {path} {problem}; restore it from a copy." if problem else ""
            )
            signed_by = "" if problem else value["public_key"]
            yield KeptHead(
                path,
                number,
                JournalHead(seq, event_hash),
                signed_by,
                str(value.get("time_utc", "")),
                problem_words,
            )
        else:
            yield KeptHead(path, number, JournalHead(seq, event_hash))
        previous = line


def _is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """`traces.standalone.is_signed`, a hundred times as fast."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
