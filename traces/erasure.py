"""Erase what was deleted from an SQLite file from the disk as well, and look whether it is gone.

``secure_delete`` overwrites the pages that a deletion frees. Copies stay where SQLite moved rows between pages before
the deletion, in parts of pages that it takes for free, and in the write-ahead log.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from lakatos.traces.system import sync_folder

PIECE: Final = 16
"""Bytes of what was erased that are searched for together; no shorter value is distinctive."""
_MOST_PIECES: Final = 64
_SUFFIXES: Final = ("", "-wal", "-journal", "-shm")


def erase_file(path: Path) -> None:
    """Overwrite and remove a file; one that is not there is gone already.

    A link or a pipe is removed and nothing is written into it.

    Raises:
        OSError: It cannot be written or removed.
    """
    with suppress(FileNotFoundError):
        if stat.S_ISREG(path.lstat().st_mode):
            with path.open("r+b") as file:
                file.write(bytes(path.stat().st_size))
                file.flush()
                os.fsync(file.fileno())
        path.unlink()
        sync_folder(path.parent)


def clear_free_pages(connection: sqlite3.Connection) -> bool:
    """Write an SQLite file anew without free pages and empty its log; whether no other program kept that from it.

    Raises:
        sqlite3.Error: Another program writes, or the disk is full or fails; the file is what it was.
    """
    # The copy that is made meanwhile holds other people's responses, and stays out of the folder of temporary files.
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("VACUUM")
    return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]


def values_in(connection: sqlite3.Connection, statement: str, *values: str) -> list[bytes]:
    """All values that a query finds, as the bytes that the file would hold; numbers and short texts are left out."""
    rows = connection.execute(statement, values).fetchall()
    texts = (
        value.encode() if isinstance(value, str) else value
        for row in rows
        for value in tuple(row)
        if isinstance(value, str | bytes)
    )
    return [text for text in texts if len(text) >= PIECE]


def everything_in(connection: sqlite3.Connection) -> bytes:
    """All texts that the tables of an SQLite file hold."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    held = (
        value
        for (name,) in map(tuple, tables)
        for value in values_in(connection, f'SELECT * FROM "{name}"')
    )
    return b"\x00".join(held)


def is_gone(path: Path, erased: Iterable[bytes], held: bytes) -> bool:
    """Whether no file of an SQLite database holds a piece of what was erased that its tables do not hold.

    Args:
        path: Path of the database; its log and journal are searched with it.
        erased: What the tables held before.
        held: What they hold now, from `everything_in`.
    """
    pieces = {piece for value in erased for piece in _pieces(value) if piece not in held}
    if not pieces:
        return True
    files = (path.with_name(path.name + suffix) for suffix in _SUFFIXES)
    stored = b"\x00".join(file.read_bytes() for file in files if file.exists())
    return not any(piece in stored for piece in pieces)


def _pieces(value: bytes) -> list[bytes]:
    """Pieces of a value, evenly over its length."""
    step = max(PIECE, len(value) // _MOST_PIECES)
    return [value[start : start + PIECE] for start in range(0, len(value) - PIECE + 1, step)]
