"""Errors that memory, its library and its tools raise.

MemoryLibraryError
├── LessonError           a lesson without evidence, or one that cannot be read
├── PlanError             a plan names what does not exist, or cannot be followed
├── CodifierError         a plan cannot be compiled
├── ToolRejectedError     a draft failed a rung of validation
├── ToolFailedError       a learned tool failed; it hands back its plan and what was done so far
├── ToolUnavailableError  a learned tool that is not on offer was called
└── LibraryCorruptError   a library file cannot be read
"""

from __future__ import annotations

from typing import Any


class MemoryLibraryError(Exception):
    """Root of all errors of this package; the loop goes on from text."""


class LessonError(MemoryLibraryError):
    """A lesson without evidence, or one that cannot be read."""


class PlanError(MemoryLibraryError):
    """A plan names what does not exist, or cannot be followed."""


class CodifierError(MemoryLibraryError):
    """A plan cannot be compiled."""


class ToolRejectedError(MemoryLibraryError):
    """A draft failed a rung of validation."""

    def __init__(self, message: str, rung: str) -> None:
        super().__init__(message)
        self.rung = rung
        """Which: see `memory.validation.RUNGS`."""


class ToolFailedError(MemoryLibraryError):
    """A learned tool failed; the caller can go on from the plan and what was done so far."""

    def __init__(
        self, message: str, *, kind: str, plan: str, done: tuple[Any, ...], hard: bool
    ) -> None:
        super().__init__(message)
        self.kind = kind
        """``call`` (a verb that it calls could not), ``postcondition``, ``program`` (its code raised), ``limit``."""
        self.plan = plan
        """The plan as text."""
        self.done = done
        """Results of the steps that were done, in order."""
        self.hard = hard
        """Whether the tool is to blame; a verb that could not do what the arguments asked is not its fault."""


class ToolUnavailableError(MemoryLibraryError):
    """A learned tool that is not on offer was called."""


class LibraryCorruptError(MemoryLibraryError):
    """A library file cannot be read; rebuild it from the traces."""
