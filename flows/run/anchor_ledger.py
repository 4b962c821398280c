"""The ledger of an anchor file: which tests read its labels, in all campaigns that use it, and what its vault said.

It is a journal of its own in a folder beside the file, signed and kept twice as those of runs are (`traces.head`). The
second place also says which journal is the ledger of which items, so that one that was removed, or a copy of the file
under another name, does not begin to count anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lakatos.judges.anchor import AnchorItem, AnchorSet, LabelAccess
from lakatos.judges.errors import LedgerError, VaultError
from lakatos.judges.ledger import LevelDrawn, VaultReported, draw_level
from lakatos.judges.record import LabelsExposed
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.errors import JournalError, LockedError
from lakatos.traces.head import (
    identity,
    laboratory_key,
    public_key,
    read_lines,
    second_place,
    uncovered,
    write_head,
)
from lakatos.traces.record import Record
from lakatos.traces.step import JOURNAL_FILE, Trace

SUFFIX: Final = ".ledger"
"""Suffix of a ledger's folder, after the name of the anchor file."""
PATIENCE_S: Final = 60.0
"""Seconds that a campaign waits for another one that writes the ledger."""
TYPES: Final[Mapping[str, type[Record]]] = {
    "level_drawn": LevelDrawn,
    "anchor_exposed": LabelsExposed,
    "vault_reported": VaultReported,
}


@dataclass(frozen=True)
class AnchorLedger:
    """Every access to the labels of an anchor file: levels of tests, and the vault."""

    folder: Path
    confirm: Digest
    """Digest of the comparisons in the file's confirm part, whatever words it has for them."""
    items: frozenset[Digest]
    """Items of confirm and vault by identity; no other ledger may count access to their labels."""
    version: Digest
    """Version of the confirm part with all its words, by which ledgers of earlier versions are recognised."""
    versions: frozenset[Digest]
    """Versions of the items of confirm and vault with all their words, for the same purpose."""

    @classmethod
    def of(cls, folder: Path, anchor: AnchorSet) -> AnchorLedger:
        """The ledger of an anchor set, in a folder of its own."""
        items = [*anchor.parts["confirm"], *anchor.parts["vault"]]
        return cls(
            folder,
            confirm=digest_of(sorted(item.identity for item in anchor.parts["confirm"])),
            items=frozenset(item.identity for item in items),
            version=anchor.digest_of("confirm"),
            versions=frozenset(item.digest for item in items),
        )

    @classmethod
    def beside(cls, file: Path, anchor: AnchorSet) -> AnchorLedger:
        """The ledger of an anchor file."""
        return cls.of(file.with_name(file.name + SUFFIX), anchor)

    def drawn(self) -> list[LevelDrawn]:
        """All levels that were drawn, oldest first.

        Raises:
            LedgerError: The ledger was edited, cut off, removed, or is of other items.
            TraceError: It cannot be read.
        """
        return [item for item in self._records() if isinstance(item, LevelDrawn)]

    def draw(
        self,
        challenge: Digest,
        alpha: float,
        is_worth_it: Callable[[int, float], bool],
        own: Sequence[LevelDrawn] = (),
    ) -> LevelDrawn:
        """`draw_level`, written down; campaigns that draw at the same time wait for one another.

        Args:
            challenge, alpha, is_worth_it: As for `draw_level`.
            own: What the campaign that asks has drawn before.

        Raises:
            LedgerError: As for `drawn`; or it promises another alpha, or lacks what the campaign has drawn.
            TraceError: It cannot be read or written.
        """
        with self._writing() as trace:
            before = self.drawn()
            self.check_alpha(before, alpha)
            if lost := missing(own, before):
                raise LedgerError(f"{self.folder} {lost}")
            item = draw_level(before, challenge, alpha, is_worth_it)
            if item.is_spent and item not in before:
                trace.record(item, name="draw level", position={"number": item.number})
        return item

    def check_alpha(self, before: Sequence[LevelDrawn], alpha: float) -> None:
        """Raise `LedgerError` where the tests so far promise something else."""
        if before and before[0].alpha != alpha:
            raise LedgerError(
                f"{self.folder} promises alpha = {before[0].alpha:g} for all campaigns that use the anchor file, and "
                f"this study has {alpha:g}; write judges.alpha = {before[0].alpha:g}, or use another anchor set."
            )

    def open_vault(
        self,
        anchor: AnchorSet,
        judges: Sequence[Digest],
        report: Callable[[Sequence[AnchorItem]], VaultReported],
    ) -> VaultReported:
        """Read the labels of the vault, once, and write down what was found.

        Args:
            anchor: The items.
            judges: Versions of the judges that are held against the labels.
            report: What is found of them.

        Raises:
            VaultError: It was opened before; says what was found then.
            LedgerError: As for `drawn`.
        """
        with self._writing() as trace:
            before = self._records()
            exposed = tuple(item for item in before if isinstance(item, LabelsExposed))
            try:
                items, access = LabelAccess(exposed).read(anchor, "vault", "report", judges)
            except VaultError as error:
                reports = [item.told for item in before if isinstance(item, VaultReported)]
                lines = [f"{name}: {words}" for item in reports for name, words in item.items()]
                raise VaultError("\n  ".join([str(error), *lines])) from None
            found = report(items)
            opened = trace.record(access.exposed[-1], name="expose vault")
            trace.record(found, name="report vault", inputs=[opened.digest])
        return found

    def _records(self) -> list[Record]:
        if not self._is_there():
            self._check_known(None)
            return []
        with Trace.open(self.folder, TYPES, read_only=True) as trace:
            self._check(trace)
            return [trace.read(event).record for event in trace.journal.events()]

    @contextmanager
    def _writing(self) -> Iterator[Trace]:
        """The ledger's trace, made where nothing was drawn yet; what was written is signed at the end."""
        with self._opened() as trace:
            self._check(trace)
            is_new = trace.journal.head[0] == 0
            yield trace
            if trace.journal.head[0]:
                write_head(self.folder, begins=is_new)
                note = "\n".join([identity(trace.journal), *sorted(self.items)])
                write_whole(self._note, f"{note}\n".encode(), private=True)

    def _opened(self) -> Trace:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            is_old = self._is_there()
            try:
                if is_old:
                    return Trace.open(self.folder, TYPES)
                self._check_known(None)
                self.folder.mkdir(parents=True, exist_ok=True)
                return Trace.create(
                    self.folder, seed=0, types=TYPES, meta={"confirm": self.confirm}
                )
            except JournalError as error:
                was_made_meanwhile = not is_old and self._is_there()
                is_busy = isinstance(error, LockedError) or was_made_meanwhile
                if not is_busy or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _is_there(self) -> bool:
        return (self.folder / JOURNAL_FILE).exists()

    @property
    def _note(self) -> Path:
        """Note in the second place of heads that names the ledger's journal and the items."""
        return second_place() / f"{self.confirm}{SUFFIX}"

    def _check(self, trace: Trace) -> None:
        if trace.journal.meta.get("confirm") not in (self.confirm, self.version):
            raise LedgerError(
                f"{self.folder} is the ledger of other items: the anchor file beside it was changed. Restore the file; "
                "a new anchor set goes into a file of its own."
            )
        if not trace.journal.head[0]:  # it was made a moment ago, or a known ledger was emptied
            self._check_known(None)
            return
        self._check_known(identity(trace.journal))
        if problem := uncovered(self.folder, trace.journal, public_key(laboratory_key())):
            raise LedgerError(f"{self.folder} cannot be relied on: {problem}")

    def _check_known(self, found: Digest | None) -> None:
        """Refuse a second ledger of the same items, or of some of them, and one that was removed."""
        known = _lines(self._note)[:1] or _lines(second_place() / f"{self.version}{SUFFIX}")[:1]
        if known and known != [found]:
            raise LedgerError(
                f"{self.folder} is not the ledger that these items have: that lay in {_place_of(known[0])}. Its tests "
                "count, however the file is called: restore it, or use other items."
            )
        if known:
            return
        for note in sorted(second_place().glob(f"*{SUFFIX}")):
            lines = _lines(note)
            names = set(lines[1:])
            if shared := max(len(self.items & names), len(self.versions & names)):
                raise LedgerError(
                    f"labels of {shared} comparisons of {self.folder.name.removesuffix(SUFFIX)} were read before: "
                    f"the ledger in {_place_of(lines[0])} counts them. Use that anchor set, or other comparisons."
                )


def _lines(note: Path) -> list[str]:
    return [line.decode(errors="replace") for line in read_lines(note)]


def _place_of(journal: Digest) -> str:
    """Place of a ledger when it was last written."""
    return (_lines(second_place() / f"{journal}.place") or ["another folder"])[0]


def missing(own: Sequence[LevelDrawn], there: Sequence[LevelDrawn]) -> str:
    """Levels that a campaign has drawn and a ledger lacks, in words; empty if none."""
    lost = [item for item in own if item.is_spent and item not in there]
    if not lost:
        return ""
    return (
        f"does not hold test {lost[0].number}, which the campaign has drawn: it was edited, or is an older copy. "
        "Restore the ledger."
    )
