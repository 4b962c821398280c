"""Errors that have a sentence for people: a command ends with it in place of a traceback."""

from __future__ import annotations


def known_errors() -> tuple[type[Exception], ...]:
    """What a command answers with one line instead of a traceback."""
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
