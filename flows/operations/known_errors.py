"""Errors that have a sentence for people: a command ends with it, and with a status, in place of a traceback."""

from __future__ import annotations

import errno
from typing import Final

FAILED: Final = 1
NOT_USABLE: Final = 2
"""Exit status for a file, a name or an option that cannot be used."""
NO_SUCH_PLACE: Final = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP}
)
"""Errors of the system for a path that cannot be used; a disk that is full or fails is another matter."""


def exit_status(error: Exception) -> int:
    """The exit status of a command that ends with an error."""
    from lakatos.experiments.errors import (
        DataMissingError,
        StimuliError,
        TaskFileError,
        TrialsError,
    )
    from lakatos.experiments.participants.prolific.errors import BudgetError, PlanError
    from lakatos.judges.errors import AnchorError, GateError, LedgerError, ReplayError
    from lakatos.language_models.errors import ModelSettingsError
    from lakatos.memory.errors import LessonError, LibraryCorruptError
    from lakatos.theories.errors import GrammarError, TheoryError
    from lakatos.traces.errors import InboxError

    given = (
        *(DataMissingError, StimuliError, TaskFileError, TrialsError, TheoryError, GrammarError),
        *(AnchorError, GateError, LedgerError, LessonError, LibraryCorruptError),
        *(ModelSettingsError, PlanError, BudgetError, InboxError),
    )
    is_unusable = isinstance(error, given) and not isinstance(error, ReplayError)
    if isinstance(error, OSError):
        is_unusable = error.errno in NO_SUCH_PLACE
    status: int = getattr(error, "exit_code", NOT_USABLE if is_unusable else FAILED)
    return status


def known_errors() -> tuple[type[Exception], ...]:
    """Errors that a command reports in one line instead of a traceback."""
    from lakatos.experiments.errors import ExperimentError
    from lakatos.flows.errors import FlowError
    from lakatos.judges.errors import JudgeError
    from lakatos.language_models.errors import LanguageModelError
    from lakatos.memory.errors import MemoryLibraryError
    from lakatos.theories.errors import (
        BenchError,
        GrammarError,
        SandboxUnavailableError,
        TheoryError,
    )
    from lakatos.traces.errors import TraceError

    return (
        ExperimentError,
        FlowError,
        JudgeError,
        LanguageModelError,
        MemoryLibraryError,
        BenchError,
        GrammarError,
        SandboxUnavailableError,
        TheoryError,
        TraceError,
        OSError,
        MemoryError,
    )
