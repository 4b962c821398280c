"""Lessons beside plans and pitfalls: facts, what corrects what, and what was made of the offers of memory."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record


class Fact(Record):
    """Something true of the domain, the data or the tools, for as long as it is known to hold."""

    kind: Literal["fact"] = "fact"
    version: Literal[1] = 1
    domain: str
    subject: str
    """What it is about; two facts about one subject contradict each other where they say different things."""
    statement: str
    valid_from: str = ""
    """ISO 8601; empty for always."""
    valid_until: str = ""
    """ISO 8601, the first moment at which it does not hold; empty while no end is known."""
    confidence: float = 1.0
    evidence: tuple[Digest, ...]
    justified_by: tuple[Digest, ...] = ()
    """The data or the judge that it rests on."""

    def holds_at(self, time_utc: str) -> bool:
        """Whether a moment lies in its interval; at no moment in particular, with an empty text, it does."""
        return not time_utc or (
            (not self.valid_from or self.valid_from <= time_utc)
            and (not self.valid_until or time_utc < self.valid_until)
        )

    def contradicts(self, other: Fact) -> bool:
        """Whether both cannot be true."""
        return (
            (self.domain, self.subject) == (other.domain, other.subject)
            and self.statement != other.statement
            and (
                not self.valid_until or not other.valid_from or other.valid_from < self.valid_until
            )
            and (
                not other.valid_until or not self.valid_from or self.valid_from < other.valid_until
            )
        )


class LessonSuperseded(Record):
    """One lesson takes the place of another, which is kept."""

    kind: Literal["lesson_superseded"] = "lesson_superseded"
    version: Literal[1] = 1
    old: Digest
    new: Digest
    reason: str


class SupersessionUndone(Record):
    """A correction was wrong: the old lesson counts again, the new one does not."""

    kind: Literal["supersession_undone"] = "supersession_undone"
    version: Literal[1] = 1
    link: Digest
    """The `LessonSuperseded` record."""
    reason: str


class PlanUsed(Record):
    """A plan was followed, from text or by the tool that was made of it."""

    kind: Literal["plan_used"] = "plan_used"
    version: Literal[1, 2] = 2
    signature: Fingerprint
    study: str
    tool: str = ""
    """Name of the tool; empty for text."""
    success: bool
    failure: str = ""
    """Kind, see `memory.errors.ToolFailedError`; ``outage`` where the machine failed, which counts for nobody."""
    calls_saved: float = 0.0
    evidence: tuple[Digest, ...]
    justified_by: tuple[Digest, ...] = ()
    """What decided on success, where a judge did."""

    @model_validator(mode="before")
    @classmethod
    def _read_version_1(cls, body: Any) -> Any:
        """Leave out what told of tools that were code."""
        if not isinstance(body, dict) or "hard" not in body:
            return body
        gone = ("hard", "shadow_matches")
        return {name: value for name, value in body.items() if name not in gone} | {"version": 2}


class ToolValidated(Record):
    """A draft passed every rung that can be climbed without use."""

    kind: Literal["tool_validated"] = "tool_validated"
    version: Literal[1] = 1
    draft: Digest
    name: str
    passed: tuple[str, ...]
    """What was proved, a sentence each."""


class ToolRefused(Record):
    """A draft failed, and the plan stays text."""

    kind: Literal["tool_refused"] = "tool_refused"
    version: Literal[1] = 1
    signature: Fingerprint
    rung: str
    reason: str

    @property
    def for_want_of_studies(self) -> bool:
        """Whether only too few studies were there to try it on, as earlier versions recorded it."""
        return (
            self.rung == "studies" and "studies with different values to be tried on" in self.reason
        )


class ToolWithdrawn(Record):
    """A tool is no longer on offer, by decision of a person or because what it depends on changed."""

    kind: Literal["tool_withdrawn"] = "tool_withdrawn"
    version: Literal[1] = 1
    name: str
    reason: str
    until_validated: bool
    """Whether validating it again brings it back."""
