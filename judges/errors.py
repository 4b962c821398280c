"""Errors that judges and their gate raise.

JudgeError
├── EpochMismatchError     verdicts of two epochs were mixed
├── VerdictError           a judge did not return a probability
├── EpochStateError        a step of an epoch out of order
├── AnchorError            an anchor set that cannot be used
│   └── VaultError         the vault was opened before
├── GateError              a challenge that cannot be decided
│   └── ReplayError        a decision does not come out again
├── LedgerError            error probability that is not there to spend
└── MeasurementError       a measurement that cannot be counted
"""


class JudgeError(Exception):
    """Root of all errors of this package."""


class EpochMismatchError(JudgeError):
    """Verdicts of two epochs were mixed."""


class VerdictError(JudgeError):
    """A judge did not return a probability."""


class EpochStateError(JudgeError):
    """A step of an epoch out of order: only OPEN, FREEZE, DECIDE, COMMIT, REFILL follow one another."""


class AnchorError(JudgeError):
    """An anchor set, or an item of one, that cannot be used."""


class VaultError(AnchorError):
    """The vault was opened before; it opens once."""


class GateError(JudgeError):
    """A challenge that cannot be decided as it was put."""


class ReplayError(GateError):
    """A recorded decision does not come out again from what it cites."""


class LedgerError(JudgeError):
    """A test wants error probability that is not there to spend."""


class MeasurementError(JudgeError):
    """A measurement that cannot be counted: given twice with two values, or from a future epoch."""
