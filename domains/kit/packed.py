"""Text inside published zip and gzip files, read without trusting its size or its contents."""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lakatos.experiments.errors import DataMissingError, TrialsError

MEMBER = "prompts.jsonl"
"""Name of the file inside, in the repositories that publish sessions in words."""
MOST_BYTES = 200_000_000
"""Size of the unpacked lines beyond which the file is refused."""
UNREADABLE = (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, RuntimeError, EOFError)
"""Errors of `zipfile` for a file that is damaged, locked, of another kind, or lacks the member."""


def packed_lines(path: Path, most_bytes: int = MOST_BYTES) -> Iterator[tuple[int, str]]:
    """Lines of the packed file that are not empty, with their numbers.

    Raises:
        DataMissingError: There is no such file.
        TrialsError: It is no zip file of text that holds `MEMBER`, or holds more than ``most_bytes`` of it.
    """
    _check_there(path)
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
    return _numbered(text)


def gzip_text(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """The text of a gzip file.

    Raises:
        DataMissingError: There is no such file.
        TrialsError: It is no gzip file of text, or holds more than ``most_bytes``.
    """
    _check_there(path)
    try:
        with gzip.open(path) as file:
            data = file.read(most_bytes + 1)
        text = data.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TrialsError(f"{path} is no gzip file of text: {error}.") from None
    if len(data) > most_bytes:
        raise TrialsError(
            f"{path} holds more than {most_bytes} bytes; it is not the published file."
        )
    return text


def gzip_lines(path: Path, most_bytes: int = MOST_BYTES) -> Iterator[tuple[int, str]]:
    """Lines of a gzip file that are not empty, with their numbers; raises as `gzip_text` does."""
    return _numbered(gzip_text(path, most_bytes))


def read_session(line: str, where: str) -> dict[str, Any]:
    """One person's record from a line of JSON, which holds the whole session in words as ``text``.

    Args:
        line: Line of the file.
        where: Names the line in messages.

    Raises:
        TrialsError: It is no such record; the message says why.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TrialsError(f"{where}: no JSON ({error}).") from None
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise TrialsError(f"{where}: text must be the session in words.")
    return record


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise DataMissingError(f"{path} is missing; fetch the data set {path.parent.name} first.")


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
