"""Names of the files in the folder of a run, and the reading of files that a user names."""

import errno
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Final

JOURNAL_FILE: Final = "journal.sqlite"
ARTIFACT_FOLDER: Final = "artifacts"
INBOX_FILE: Final = "inbox.sqlite"
MOST_BYTES: Final = 2**26
"""Most bytes of a file that a user names and that is held in memory as a whole."""
MOST_TOML: Final = 2**22
"""Characters of a TOML text."""
MOST_PARTS: Final = 32
"""Most parts of a dotted key in TOML: the parser's time grows with their square or faster."""
_QUOTED = re.compile(
    r'"""(?:[^\\"]|\\.|"(?!""))*+(?:"""|\Z)|"(?:[^\\"\n]|\\.)*+"?'
    r"|'''(?:[^']|'(?!''))*+(?:'''|\Z)|'[^'\n]*+'?|#[^\n]*+",
    re.DOTALL,
)
_KEY = re.compile(r"[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)*+")


def read_named(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a file that a user named, and unpack it if its name ends in ``.gz``.

    Args:
        path: Path of the file. A folder, a pipe or a device is refused before it is opened, because it may never end.
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


def read_mark(path: Path) -> dict[str, Any]:
    """The JSON object in a file beside a run, which anyone may have changed; an empty one if there is none."""
    try:
        found = json.loads(read_named(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _unpacked(path: Path, most: int) -> bytes:
    import gzip
    import zlib

    try:
        with gzip.open(path, "rb") as file:
            return file.read(most)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise OSError(errno.EINVAL, f"it is damaged or not gzipped ({error})", str(path)) from None


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML that comes from outside, after looking for what would take minutes to parse.

    Raises:
        ValueError: It is not valid TOML, is too long, is nested too deeply, or has a key of too many parts.
    """
    if len(text) > MOST_TOML:
        raise ValueError(f"it has more than {MOST_TOML:,} characters")
    if any(line.count(".") >= MOST_PARTS for line in text.split("\n")):
        _check_keys(text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _check_keys(text: str) -> None:
    """Refuse keys of too many parts; a quoted text or comment counts as one part, whatever it holds."""

    def short(found: re.Match[str]) -> str:
        return "" if found[0].startswith("#") else "s" + "\n" * found[0].count("\n")

    for number, line in enumerate(_QUOTED.sub(short, text).split("\n"), 1):
        if line.count(".") < MOST_PARTS:
            continue
        parts = max((key[0].count(".") + 1 for key in _KEY.finditer(line)), default=0)
        if parts > MOST_PARTS:
            raise ValueError(f"a key has {parts:,} parts, more than {MOST_PARTS} (line {number})")
