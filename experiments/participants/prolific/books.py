"""Where the books of recruiting are."""

from typing import Final

LEDGER_FILE: Final = "prolific.sqlite"
"""The books of recruiting, in the run's folder."""
