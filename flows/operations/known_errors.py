"""Errors that have a sentence for people: a command ends with it, and with a status, in place of a traceback."""

from __future__ import annotations

from typing import Final

FAILED: Final = 1
NOT_USABLE: Final = 2
"""Exit status for a file, a name or an option that cannot be used."""


def exit_status(error: Exception) -> int:
    """The exit status of a command that ends with an error."""
    from lakatos.experiments.errors import (
        DataMissingError,
        StimuliError,
        TaskFileError,
        TrialsError,
    )
    from lakatos.theories.errors import TheoryError

    given = (DataMissingError, StimuliError, TaskFileError, TrialsError, TheoryError)
    status: int = getattr(error, "exit_code", NOT_USABLE if isinstance(error, given) else FAILED)
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
    )
