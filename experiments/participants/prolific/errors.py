"""Errors of recruiting through Prolific.

SourceError
└── ProlificError                the service, the plan or the books do not allow what is asked
    ├── PlanError                the plan cannot be carried out as written
    ├── BudgetError              it would cost more than the limit, or nobody confirmed the cost
    ├── LedgerError              the books cannot be read or written
    ├── RefusedError             the service understood the request and said no
    ├── UnreachableError         the service did not answer, and nothing was changed by asking
    └── OutcomeUnknownError      the service may or may not have done what it was asked; look before asking again
"""

from lakatos.experiments.errors import SourceError


class ProlificError(SourceError):
    """The service, the plan or the books do not allow what is asked."""


class PlanError(ProlificError):
    """The plan cannot be carried out as written."""


class BudgetError(ProlificError):
    """It would cost more than the limit, or nobody confirmed the cost."""


class LedgerError(ProlificError):
    """The books cannot be read or written."""


class RefusedError(ProlificError):
    """The service understood the request and said no."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status of the response."""


class UnreachableError(ProlificError):
    """The service did not answer, and nothing was changed by asking."""


class OutcomeUnknownError(ProlificError):
    """The service may or may not have done what it was asked; look before asking again."""
