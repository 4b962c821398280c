"""Lines of text inside a published zip file, read without trusting its size or its contents."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from lakatos.experiments.errors import DataMissingError, TrialsError

MEMBER = "prompts.jsonl"
"""Name of the file inside, in the repositories that publish sessions in words."""
MOST_BYTES = 200_000_000
"""Size of the unpacked lines beyond which the file is refused."""
UNREADABLE = (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, RuntimeError, EOFError)
"""What `zipfile` raises for a file that is damaged, locked, of another kind, or lacks the member."""


def packed_lines(path: Path, most_bytes: int = MOST_BYTES) -> Iterator[tuple[int, str]]:
    """Lines of the packed file that are not empty, with their numbers.

    Raises:
        DataMissingError: There is no such file.
        TrialsError: It is no zip file of text that holds `MEMBER`, or holds more than ``most_bytes`` of it.
    """
    if not path.is_file():
        raise DataMissingError(f"{path} is missing; fetch the data set {path.parent.name} first.")
    try:
        with zipfile.ZipFile(path) as packed, packed.open(MEMBER) as file:
            data = file.read(most_bytes + 1)
    except UNREADABLE as error:
        raise TrialsError(f"{path} is no zip file that holds {MEMBER}: {error}.") from None
    if len(data) > most_bytes:
        raise TrialsError(
            f"{path}: {MEMBER} is larger than {most_bytes} bytes; it is not the published file."
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise TrialsError(f"{path}: {MEMBER} is no text in UTF-8: {error}.") from None
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
