"""Errors that memory, its library and its tools raise.

MemoryLibraryError
├── LessonError           a lesson without evidence, or one that cannot be read
├── PlanError             a plan names what does not exist, or cannot be followed
├── ToolRejectedError     a draft failed a rung of validation
├── ToolFailedError       a learned tool failed; it hands back its plan and what was done so far
├── ToolUnavailableError  a learned tool that is not on offer was called
└── LibraryCorruptError   the library that a run took cannot be read
"""

from __future__ import annotations

from typing import Any


class MemoryLibraryError(Exception):
    """Root of all errors of this package; the loop goes on from text."""


class LessonError(MemoryLibraryError):
    """A lesson without evidence, or one that cannot be read."""


class PlanError(MemoryLibraryError):
    """A plan names what does not exist, or cannot be followed."""


class ToolRejectedError(MemoryLibraryError):
    """A draft failed a rung of validation."""

    def __init__(self, message: str, rung: str) -> None:
        super().__init__(message)
        self.rung = rung
        """Step that failed; see `memory.tool.validate_tool`."""


class ToolFailedError(MemoryLibraryError):
    """A learned tool failed; the caller can go on from the plan and what was done so far."""

    def __init__(self, message: str, *, kind: str, plan: str, done: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.kind = kind
        """``call``: a verb that it calls could not; ``difference``: it was to call something else than its plan says;
        ``limit``: it made too many calls."""
        self.plan = plan
        """The plan as text."""
        self.done = done
        """Results of the steps that were done, in order."""


class ToolUnavailableError(MemoryLibraryError):
    """A learned tool that is not on offer was called."""


class LibraryCorruptError(MemoryLibraryError):
    """The library that a run took cannot be read."""
