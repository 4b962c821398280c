"""Errors that theories, their sandbox and their checks raise.

TheoryError
├── TheorySourceError       the text is not a theory: it does not parse or lacks a part
│   └── TheoryLintError     the text uses what a theory may not use
├── PriorError              a declared prior is not proper
├── TheoryRaisedError       the theory raised an exception while it ran
├── TheoryShapeError        the answer has the wrong shape
├── TheoryProbabilityError  the answer is no set of probabilities
├── TheoryTimeoutError      the theory took too long
├── ForeignTheoryError      the package did not write it, and this system has no sandbox
├── TheoryResourceError     the theory was stopped at a limit, or ended its process
└── ClaimContradictedError  the code does other than what the theory predicts in words
PosteriorError              nothing can be inferred from these answers, or these posteriors not be compared
SandboxUnavailableError     this machine lacks a layer that the study requires
GrammarError                a composition names what the grammar does not have
BenchError                  the workbench was asked about what it does not have
"""


class TheoryError(Exception):
    """Root of what can be wrong with a theory; a campaign records it and goes on."""


class TheorySourceError(TheoryError):
    """The text is not a theory: it does not parse or lacks a part."""


class TheoryLintError(TheorySourceError):
    """The text uses what a theory may not use."""


class PriorError(TheoryError):
    """A declared prior is not proper."""


class TheoryRaisedError(TheoryError):
    """The theory raised an exception while it ran."""


class TheoryShapeError(TheoryError):
    """The answer has the wrong shape."""


class TheoryProbabilityError(TheoryError):
    """The answer is no set of probabilities."""


class TheoryTimeoutError(TheoryError):
    """The theory took too long."""


class ForeignTheoryError(TheoryError):
    """The package did not write the theory, and this system has no sandbox for it."""


class TheoryResourceError(TheoryError):
    """The theory was stopped at a limit, or ended its process."""


class TheoryMemoryError(TheoryResourceError):
    """The theory asked for more memory than it may have, in a process that goes on."""


class ClaimContradictedError(TheoryError):
    """The code does other than what the theory predicts in words."""

    def __init__(self, message: str, counterexample: object = None) -> None:
        """The message has it in words; ``counterexample`` is a `checks.prediction.ClaimCounterexample`."""
        super().__init__(message)
        self.counterexample = counterexample


class SandboxUnavailableError(Exception):
    """This machine lacks a layer that the study requires."""


class GrammarError(Exception):
    """A composition names what the grammar does not have."""


class PosteriorError(Exception):
    """Nothing can be inferred from these answers, or these posteriors cannot be compared."""


class BenchError(Exception):
    """The workbench was asked about what it does not have."""
