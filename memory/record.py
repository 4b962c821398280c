"""What the trace keeps about the use of memory in a campaign; lessons and tools are in `memory.library.RECORDS`."""

from __future__ import annotations

from typing import Literal

from lakatos.theories.discovery.roles.record import CheckedStatement
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record, RecordTypes, kind_of


class LibraryTaken(Record):
    """What other campaigns had learned when this one began."""

    kind: Literal["library_taken"] = "library_taken"
    version: Literal[1] = 1
    library: Digest
    """Artifact: the library as a file."""
    n_lessons: int
    n_tools: int
    n_studies: int
    problem: str = ""
    """In records of earlier versions only: why the library could not be read."""
    found_here: tuple[str, ...] = ()
    """Studies whose winners were left out, since they were found on answers of this campaign, which are no test."""


class LibraryLookedAt(Record):
    """What of the library that a campaign took no longer counts in the traces that it came from."""

    kind: Literal["library_looked_at"] = "library_looked_at"
    version: Literal[1] = 1
    cycle: int
    doubted: tuple[Fingerprint, ...]
    """Entries whose evidence was withdrawn or displaced since they were taken."""
    hidden: tuple[Fingerprint, ...] = ()
    """Always empty: no lesson takes the place of another."""


class WinnersTaken(Record):
    """Which theories of earlier campaigns compete in this one, and what became of the others."""

    kind: Literal["winners_taken"] = "winners_taken"
    version: Literal[1] = 1
    theories: tuple[Digest, ...]
    """Admitted, the most promising first."""
    studies: tuple[str, ...]
    """In which they won."""
    refused: tuple[str, ...]
    """Those that failed the checks, with the reason."""
    n_passed_over: int
    """Found on the same archived answers, which would be no test of them."""
    n_left: int
    """Further ones, for which there was no place."""


class LessonsRecalled(Record):
    """What came back in a situation."""

    kind: Literal["lessons_recalled"] = "lessons_recalled"
    version: Literal[1] = 1
    cycle: int
    stage: str
    situation: str
    lessons: tuple[Fingerprint, ...]
    """Their own records, of this campaign or of others, the most relevant first."""
    texts: tuple[str, ...]
    notes: tuple[str, ...]
    """What speaks against each; empty where nothing does."""


class LessonsWritten(Record):
    """A language model wrote lessons after a cycle; those that records bear out are lessons of the library."""

    kind: Literal["lessons_written"] = "lessons_written"
    version: Literal[1] = 1
    cycle: int
    answer: Digest
    """Record of the answer."""
    lessons: tuple[CheckedStatement, ...]
    """Each as written, with every reason why it is not kept."""


class InquiryMade(Record):
    """Only in journals of earlier versions: the grammar's advocate called laboratory tools in the order of a plan."""

    kind: Literal["inquiry_made"] = "inquiry_made"
    version: Literal[1] = 1
    cycle: int
    number: int
    """Of the experiment in its cycle; 0 after it."""
    name: str
    signature: Fingerprint
    """Of the plan."""
    tool: str
    """Learned tool that did it; empty where each call was made by itself."""
    plan: Digest | None = None
    """Artifact: the steps."""
    calls: tuple[Digest, ...]
    """Records of the calls."""
    complete: bool
    reason: str
    """Why it is not complete, or was not made."""
    remedies: tuple[str, ...] = ()
    """``slot:mechanism`` to be tried."""
    trials: Digest | None = None
    """Artifact: trials to be asked."""


class ToolTried(Record):
    """A draft climbed the ladder of validation, or fell from it."""

    kind: Literal["tool_tried"] = "tool_tried"
    version: Literal[1] = 1
    draft: Digest
    name: str
    passed: tuple[str, ...]
    """What was proved; empty where it failed."""
    rung: str
    reason: str
    studies: tuple[str, ...]
    """Whose recorded calls it was tried on."""


MEMORY_RECORDS: RecordTypes = {
    kind_of(record): record
    for record in (
        LibraryTaken,
        LibraryLookedAt,
        WinnersTaken,
        LessonsRecalled,
        LessonsWritten,
        InquiryMade,
        ToolTried,
    )
}
