"""Records about the use of memory in a campaign; lessons and tools are in `memory.library.RECORDS`."""

from __future__ import annotations

from typing import Literal

from lakatos.theories.discovery.roles.record import CheckedStatement
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record, RecordTypes, kind_of


class LibraryTaken(Record):
    """Knowledge of other campaigns at the beginning of this one."""

    kind: Literal["library_taken"] = "library_taken"
    version: Literal[1] = 1
    library: Digest
    """Artifact with the library as a file."""
    n_lessons: int
    n_tools: int
    n_studies: int
    problem: str = ""
    """Reason why the library could not be read, in records of earlier versions only."""
    found_here: tuple[str, ...] = ()
    """Studies whose winners were left out because they were found on responses of this campaign."""


class LibraryLookedAt(Record):
    """Entries of the library that a campaign took are no longer valid in their own traces."""

    kind: Literal["library_looked_at"] = "library_looked_at"
    version: Literal[1] = 1
    cycle: int
    doubted: tuple[Fingerprint, ...]
    """Entries whose evidence was withdrawn or displaced since they were taken."""
    hidden: tuple[Fingerprint, ...] = ()
    """Hidden entries; always empty: no lesson takes the place of another."""


class WinnersTaken(Record):
    """Theories of earlier campaigns that compete in this one, and those that were refused."""

    kind: Literal["winners_taken"] = "winners_taken"
    version: Literal[1] = 1
    theories: tuple[Digest, ...]
    """Admitted theories, the most promising first."""
    studies: tuple[str, ...]
    """Studies in which they won."""
    refused: tuple[str, ...]
    """Theories that failed the checks, with the reason."""
    n_passed_over: int
    """Theories found on the same archived responses, which could not test them."""
    n_left: int
    """Number of further theories for which there was no place."""


class LessonsRecalled(Record):
    """Lessons were recalled in a situation."""

    kind: Literal["lessons_recalled"] = "lessons_recalled"
    version: Literal[1] = 1
    cycle: int
    stage: str
    situation: str
    lessons: tuple[Fingerprint, ...]
    """Records of the lessons, of this campaign or others, the most relevant first."""
    texts: tuple[str, ...]
    notes: tuple[str, ...]
    """Objections to each lesson; empty if there are none."""


class LessonsWritten(Record):
    """A language model wrote lessons after a cycle; supported ones enter the library."""

    kind: Literal["lessons_written"] = "lessons_written"
    version: Literal[1] = 1
    cycle: int
    answer: Digest
    """Record of the answer."""
    lessons: tuple[CheckedStatement, ...]
    """Each lesson as written, with every reason why it is not kept."""


class ToolTried(Record):
    """A draft was validated, or failed validation."""

    kind: Literal["tool_tried"] = "tool_tried"
    version: Literal[1] = 1
    draft: Digest
    name: str
    passed: tuple[str, ...]
    """Checks that the draft passed; empty if it failed one."""
    rung: str
    reason: str
    studies: tuple[str, ...]
    """Studies whose recorded calls were used."""


MEMORY_RECORDS: RecordTypes = {
    kind_of(record): record
    for record in (
        LibraryTaken,
        LibraryLookedAt,
        WinnersTaken,
        LessonsRecalled,
        LessonsWritten,
        ToolTried,
    )
}
