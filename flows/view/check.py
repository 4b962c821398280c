"""Audits that run beside the pages: they read the run and write nothing."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from lakatos.flows.audit.audit import AuditFinding, KeptAudit, audit, kept_audit
from lakatos.flows.errors import FlowError
from lakatos.flows.report.reader import UNREADABLE
from lakatos.flows.view.watch import RunWatch

SMALL: Final = 5_000
"""Events up to which a run is checked without being asked to."""


@dataclass(frozen=True)
class AuditProgress:
    """An audit of a run up to a number of the journal."""

    seq: int
    phase: Literal["running", "done", "failed"]
    findings: tuple[AuditFinding, ...] = ()
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether everything that was looked at holds."""
        return self.phase == "done" and all(finding.passed for finding in self.findings)


class NewestAudits:
    """The newest audit of every run."""

    def __init__(self) -> None:
        self._found: dict[str, AuditProgress] = {}
        self._guard = threading.Lock()

    def of(self, name: str) -> AuditProgress | None:
        """The newest audit of a run."""
        return self._found.get(name)

    def version(self, name: str) -> str:
        """A text that changes whenever `of` does, so that browsers know when to ask again."""
        check = self.of(name)
        return f"{check.seq}{check.phase}" if check else ""

    def consider(self, watch: RunWatch, seq: int) -> None:
        """Check a small run that was not checked up to its end yet."""
        check = self.of(watch.name)
        if seq <= SMALL and (check is None or check.seq < seq):
            self.start(watch, seq)

    def start(self, watch: RunWatch, seq: int) -> None:
        """Check a run, unless that goes on already."""
        with self._guard:
            check = self._found.get(watch.name)
            if check is not None and check.phase == "running":
                return
            self._found[watch.name] = replace(
                check or AuditProgress(seq, "running"), seq=seq, phase="running"
            )
        threading.Thread(target=self._run, args=(watch, seq), daemon=True).start()

    def _run(self, watch: RunWatch, seq: int) -> None:
        try:
            self._found[watch.name] = AuditProgress(
                seq, "done", audit(watch.folder, recompute=False).findings
            )
        except (*UNREADABLE, FlowError, OSError) as error:
            self._found[watch.name] = AuditProgress(seq, "failed", error=str(error))


def last_audit(folder: Path) -> KeptAudit | None:
    """The last audit by command that was kept on this machine, if there is one."""
    try:
        return kept_audit(folder)
    except UNREADABLE:
        return None
