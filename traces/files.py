"""Names of the files in the folder of a run, and the reading of files that a user names."""

import errno
from pathlib import Path
from typing import Final

JOURNAL_FILE: Final = "journal.sqlite"
ARTIFACT_FOLDER: Final = "artifacts"
INBOX_FILE: Final = "inbox.sqlite"
MOST_BYTES: Final = 2**26
"""Of a file that a user names and that is held in memory as a whole."""


def read_named(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a file that a user named, and unpack it if its name ends in ``.gz``.

    Args:
        path: Of the file. A folder, a pipe or a device is refused before it is opened, because it may never end.
        most: Bytes that are read at most, after unpacking.

    Raises:
        OSError: It cannot be read, is no file, is larger, or is damaged; ``strerror`` states which.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EISDIR if path.is_dir() else errno.ENOTDIR, "it is no file", str(path))
    if path.suffix == ".gz":
        data = _unpacked(path, most + 1)
    else:
        with path.open("rb") as file:
            data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return data


def _unpacked(path: Path, most: int) -> bytes:
    import gzip
    import zlib

    try:
        with gzip.open(path, "rb") as file:
            return file.read(most)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise OSError(errno.EINVAL, f"it is damaged or not gzipped ({error})", str(path)) from None
