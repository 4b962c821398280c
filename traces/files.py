"""Names of the files in the folder of a run, and how new files are made to stay there."""

import os
from pathlib import Path
from typing import Final

JOURNAL_FILE: Final = "journal.sqlite"
ARTIFACT_FOLDER: Final = "artifacts"
INBOX_FILE: Final = "inbox.sqlite"


def sync_folder(folder: Path) -> None:
    """Make new names in ``folder`` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
