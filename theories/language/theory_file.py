"""The text of a theory's file, which anybody may have written."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lakatos.theories.errors import TheorySourceError

LARGEST: Final = 2**20
"""Bytes of a theory's file; those of the package have 20,000 at most."""


def read_theory_file(path: Path) -> str:
    """The text of a theory's file.

    Raises:
        TheorySourceError: It is no file, too large, or no text; the message says what to give.
    """
    if not path.is_file():
        what = "it is no file" if path.exists() else "there is no such file"
        raise TheorySourceError(
            f"cannot read the theory {path}: {what}. Give the file of a theory."
        )
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise TheorySourceError(f"cannot read the theory {path}: {error.strerror}.") from None
    if len(data) > LARGEST:
        raise TheorySourceError(
            f"cannot read the theory {path}: it has more than {LARGEST:,} bytes. A theory is a short program; give its "
            "file."
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise TheorySourceError(
            f"cannot read the theory {path}: it is not UTF-8 text (byte {error.start}). Give the file of a theory."
        ) from None
