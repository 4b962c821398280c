"""Lessons beside plans and pitfalls: facts, and what was made of the offers of memory."""

from __future__ import annotations

from typing import Literal

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record


class Fact(Record):
    """Something true of the domain, the data or the tools."""

    kind: Literal["fact"] = "fact"
    version: Literal[1] = 1
    domain: str
    subject: str
    """Subject; two facts about one subject contradict each other if they differ."""
    statement: str
    valid_from: str = ""
    valid_until: str = ""
    """End of validity; always empty, as is ``valid_from``: no campaign writes when a fact holds."""
    confidence: float = 1.0
    evidence: tuple[Digest, ...]
    justified_by: tuple[Digest, ...] = ()
    """The data or the judge that it rests on."""

    def contradicts(self, other: Fact) -> bool:
        """Whether both facts are about one subject and say different things of it."""
        same = (self.domain, self.subject) == (other.domain, other.subject)
        return same and self.statement != other.statement


class PlanUsed(Record):
    """A plan was followed, from text or by the tool made from it."""

    kind: Literal["plan_used"] = "plan_used"
    version: Literal[2] = 2
    signature: Fingerprint
    study: str
    tool: str = ""
    """Name of the tool; empty for text."""
    success: bool
    failure: str = ""
    """Kind of failure, see `memory.errors.ToolFailedError`; ``outage`` if the machine failed, which does not
    count."""
    calls_saved: float = 0.0
    evidence: tuple[Digest, ...]
    justified_by: tuple[Digest, ...] = ()
    """Judge that decided on success, if one did."""


class ToolValidated(Record):
    """A draft passed every check that is possible before use."""

    kind: Literal["tool_validated"] = "tool_validated"
    version: Literal[1] = 1
    draft: Digest
    name: str
    passed: tuple[str, ...]
    """Checks that the draft passed, one sentence each."""


class ToolRefused(Record):
    """A draft failed validation, and the plan stays text."""

    kind: Literal["tool_refused"] = "tool_refused"
    version: Literal[1] = 1
    signature: Fingerprint
    rung: str
    reason: str


class ToolWithdrawn(Record):
    """A tool is no longer offered, by decision of the user or because something it depends on changed."""

    kind: Literal["tool_withdrawn"] = "tool_withdrawn"
    version: Literal[1] = 1
    name: str
    reason: str
    until_validated: bool
    """Whether validating it again brings it back."""
