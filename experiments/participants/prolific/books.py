"""Places of the books of recruiting."""

from typing import Final

LEDGER_FILE: Final = "prolific.sqlite"
"""The books of recruiting, in the run's folder."""
