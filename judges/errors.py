"""Errors of judges.

JudgeError
├── EpochMismatchError  verdicts of two epochs were mixed
└── VerdictError        a judge did not return a probability
"""


class JudgeError(Exception):
    """Root of all errors of this package."""


class EpochMismatchError(JudgeError):
    """Verdicts of two epochs were mixed."""


class VerdictError(JudgeError):
    """A judge did not return a probability."""
