"""Bodies of records that are kept apart from the journal, so that they go with the responses behind them.

A journal is never changed, so what stands in it stays. A record that was derived from the responses of a participant
can hold enough to compute them: log predictive probabilities of each participant, or a mean before and after a
withdrawal. In a run whose participants may withdraw, the journal therefore names only the digest of the body of such a
record; the body is an artifact, which an erasure removes. It begins with a salt, so that the digest says nothing to a
reader who tries all responses that there can be. Salts come from a secret in the run's folder, which each erasure
replaces. The rows that named erased bodies are emptied as well (`traces.record.RowsErased`): their number, digest and
hashes stay, on which the chain and the signed heads rest. These say nothing either to a reader who tries names, inputs
and times: intents hold a salt, and times have random digits behind their microseconds.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lakatos.traces.artifact import ArtifactStore, write_whole
from lakatos.traces.digest import Digest, canonical_json, is_digest
from lakatos.traces.erasure import erase_file
from lakatos.traces.errors import ArtifactMissingError, JournalError
from lakatos.traces.files import ARTIFACT_FOLDER

if TYPE_CHECKING:
    from lakatos.traces.stores.store import EventRow

APART: Final = "apart"
"""Name of the rules of bodies in a journal's description, and of the artifact with the record in a row's body."""
SALT: Final = "salt"
"""Field in the body of an intent that keeps a reader from finding its inputs by its digest once its row is erased."""
ERASED: Final = "erased"
"""Kind of an event whose body was erased."""
SECRET_FILE: Final = "apart.key"
"""File in a run's folder from which the salts of its bodies come. It is never part of a bundle."""
_DIGESTS: Final = re.compile(rb"[0-9a-f]{64}")


@dataclass(frozen=True)
class ApartKinds:
    """Kinds of records whose bodies a journal keeps apart."""

    roots: frozenset[str]
    """Kinds of records that bring responses of participants who may withdraw; what derives from them is kept apart."""
    stay: frozenset[str]
    """Kinds of records that stay in the journal, whatever they derive from."""
    named: frozenset[str] = frozenset()
    """Kinds of records that are kept apart, and stay where a record that stays names what they made."""

    def to_json(self) -> dict[str, list[str]]:
        """Write the rules for a journal's description."""
        return {name: sorted(kinds) for name, kinds in vars(self).items() if kinds}

    @staticmethod
    def of(meta: Mapping[str, Any]) -> ApartKinds | None:
        """The rules in a journal's description; None where all bodies stand in the journal.

        Raises:
            JournalError: The description was damaged.
        """
        mark = meta.get(APART)
        if mark is None:
            return None
        try:
            return ApartKinds(**{name: frozenset(map(str, kinds)) for name, kinds in mark.items()})
        except (AttributeError, TypeError) as error:
            raise JournalError(
                "the description of the journal was damaged: it does not say which bodies are kept apart; restore it "
                "from a copy."
            ) from error


@dataclass
class BodiesApart:
    """The bodies that one journal keeps apart."""

    kinds: ApartKinds
    folder: Path
    """Folder of the run."""
    artifacts: ArtifactStore
    _personal: set[Digest] | None = None
    """Records that bring responses, or derive from such records."""
    _read: dict[Digest, bytes] = field(default_factory=dict)

    @staticmethod
    def of(folder: Path, meta: Mapping[str, Any]) -> BodiesApart | None:
        """Return the bodies of the journal in ``folder``; None where all bodies stand in the journal."""
        kinds = ApartKinds.of(meta)
        if kinds is None:
            return None
        # Here, because `lakatos status` opens journals and is to load little.
        from lakatos.traces.object_store import artifacts_in

        return BodiesApart(kinds, folder, artifacts_in(folder / ARTIFACT_FOLDER))

    def learn(self, rows: Iterable[EventRow]) -> None:
        """Learn from the rows of the journal what derives from responses, before more is written."""
        if self._personal is None:
            self._personal = set()
            for row in rows:
                self.note(row.kind, json.loads(row.inputs), row.record_digest)

    def note(self, kind: str, inputs: Sequence[Digest], record_digest: Digest) -> None:
        """Take into account that a record was written."""
        assert self._personal is not None
        if kind in (*self.kinds.roots, ERASED) or not self._personal.isdisjoint(inputs):
            self._personal.add(record_digest)

    @property
    def has_learned(self) -> bool:
        """Whether `learn` was called."""
        return self._personal is not None

    def takes(self, kind: str, inputs: Sequence[Digest]) -> bool:
        """Whether the body of a new record is kept apart."""
        return kind not in self.kinds.stay and self.derives(inputs)

    def salt(self, key: Digest) -> str:
        """The salt of what a step writes."""
        return sha256(self._secret() + key.encode()).hexdigest()

    def derives(self, inputs: Sequence[Digest]) -> bool:
        """Whether something with these inputs derives from responses of participants who may withdraw."""
        assert self._personal is not None
        return not self._personal.isdisjoint(inputs)

    def put(self, key: Digest, body: bytes) -> Digest:
        """Keep a body, as canonical JSON, apart; the digest stands in the journal instead."""
        return self.artifacts.put(b'{"salt":"%b","body":%b}' % (self.salt(key).encode(), body))

    def get(self, digest: object) -> dict[str, Any] | None:
        """A body; None if it was erased.

        Raises:
            ArtifactError: It was changed, or cannot be read.
        """
        if not isinstance(digest, str) or not is_digest(digest):
            return None
        # Looked for each time: another process may have erased what this one has read.
        if digest not in self._read or not self.artifacts.has(digest):
            self._read.pop(digest, None)
            try:
                self._read[digest] = self.artifacts.get(digest)
            except ArtifactMissingError:
                return None
        held = json.loads(self._read[digest])
        body = held.get("body") if isinstance(held, dict) else None
        return body if isinstance(body, dict) else None

    def erase(
        self,
        gone: set[Digest],
        rows: Sequence[EventRow],
        meta: str,
        *,
        named: Container[str] = (),
        sweep: bool = False,
    ) -> int:
        """Erase the bodies of records, and every artifact that only they name; returns the number of bodies.

        Doing it again ends an erasure that was cut short. The secret is replaced before, so that no salt of what was
        erased can be computed.

        Args:
            gone: Digests of the records.
            rows: All rows of the journal but intents, which name nothing that their records do not name as well.
            meta: The journal's description; what it names stays.
            named: Kinds of records whose rows stay although their bodies go.
            sweep: Whether artifacts that nothing names are erased although no body is left to erase.
        """
        pointers = {_pointer(row) for row in rows if row.record_digest in gone} - {None}
        bodies = {digest for digest in pointers if digest and self.artifacts.has(digest)}
        if not bodies and not sweep:
            return 0
        self._replace_secret()
        self._read.clear()
        # Numbers that were computed on the way, and what a pass that was cut short left behind, go as well; a later
        # pass makes again what it still needs.
        texts = [meta, *(f"{row.inputs} {row.position}" for row in rows if row.kind in named)]
        texts += [told_by(row) for row in rows if row.record_digest not in gone]
        names = self.named_by("\n".join(texts))
        unnamed = [digest for digest in self.artifacts.digests() if digest not in names]
        for digest in sorted(unnamed, key=bodies.__contains__):  # bodies last, as they are counted
            self.artifacts.erase(digest)
        return len(bodies)

    def named_by(self, text: str) -> set[Digest]:
        """Artifacts that a text names, and those that these name."""
        held, found = set(self.artifacts.digests()), set[Digest]()
        texts = [text.encode()]
        while texts:
            new = {digest.decode() for digest in _DIGESTS.findall(texts.pop())} & held - found
            found |= new
            texts += [self.artifacts.get(digest) for digest in new]
        return found

    def _secret(self) -> bytes:
        make_secret(self.folder)
        return (self.folder / SECRET_FILE).read_bytes()

    def _replace_secret(self) -> None:
        # Made of the one before, so that copies of a run go on alike; nothing leads back.
        secret = sha256(b"next" + self._secret()).digest()
        erase_file(self.folder / SECRET_FILE)
        write_whole(self.folder / SECRET_FILE, secret, private=True)


def make_secret(folder: Path) -> None:
    """Make the secret of a run that has none."""
    if not (folder / SECRET_FILE).exists():
        write_whole(folder / SECRET_FILE, os.urandom(32), private=True)


def told_by(row: EventRow) -> str:
    """The text of a row in which digests of artifacts stand."""
    return f"{row.inputs} {row.position} {row.body}"


def pointer_to(digest: Digest) -> bytes:
    """Return what stands in the journal for a body that is kept apart."""
    return canonical_json({APART: digest})


def erased_body(kind: str) -> dict[str, Any]:
    """Return what is read where the body of a record of this kind was erased."""
    return {"kind": ERASED, "version": 1, "was": kind}


def _pointer(row: EventRow) -> Digest | None:
    try:
        body = json.loads(row.body)
    except ValueError:
        return None
    digest = body.get(APART) if isinstance(body, dict) and set(body) == {APART} else None
    return digest if isinstance(digest, str) and is_digest(digest) else None
