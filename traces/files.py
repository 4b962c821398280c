"""Names of the files in the folder of a run."""

from typing import Final

JOURNAL_FILE: Final = "journal.sqlite"
ARTIFACT_FOLDER: Final = "artifacts"
INBOX_FILE: Final = "inbox.sqlite"
