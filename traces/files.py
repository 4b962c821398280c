"""Names of the files in the folder of a run, for whoever only looks whether they are there."""

from typing import Final

JOURNAL_FILE: Final = "journal.sqlite"
ARTIFACT_FOLDER: Final = "artifacts"
INBOX_FILE: Final = "inbox.sqlite"
