"""Files that declare a task, and the files that they name, which become part of their text.

A declaration names images, sounds, films, HTML fragments and a plugin. When it is read, each file is put behind the
text, so that the study, its digest and every page hold the very files that participants see, wherever the run is.
"""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Final

from lakatos.domains.declared.declaration import EMBEDDED, read_task
from lakatos.domains.declared.feedback_task import declared_domain
from lakatos.domains.declared.presentation_declaration import (
    CALLED,
    LARGEST,
    LARGEST_ALL,
    address_of,
    check_kind,
    line_of,
)
from lakatos.domains.declared.task_file import TaskFileKind, kept_text
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import TaskFile
from lakatos.traces.files import read_named


def with_files(text: str, path: Path) -> str:
    """The text of a declaration with the files that it names behind it; one without files as it is.

    Args:
        text: Of the file.
        path: Of the file; the files that it names lie in its folder or below.

    Raises:
        TaskFileError: A file is missing, too large, of another type, or lies elsewhere; the message names it and the
            line on which the declaration does.
    """
    task = read_task(text, str(path))
    if task.embedded:
        raise TaskFileError(f"{path}: embedded is written when the file is read; leave it out.")
    found: dict[str, str] = {}
    sizes = dict.fromkeys(LARGEST_ALL, 0)
    for name, (use, place) in task.files.items():
        where = f"{path}, line {line_of(text, place)}"
        data = _read(path.resolve().parent, name, use, where)
        try:
            found[name] = address_of(check_kind(use, name, data), data)
        except ValueError as error:
            raise TaskFileError(f"{where}: {error}.") from None
        most = LARGEST_ALL.get(use, len(data))
        sizes[use] = sizes.get(use, 0) + len(data)
        if sizes[use] > most:
            raise TaskFileError(
                f"{where}: all {use} together have more than {most:,} bytes; make them smaller."
            )
    if not found:
        return text
    lines = [f"{json.dumps(name)} = {json.dumps(address)}" for name, address in found.items()]
    return text + EMBEDDED + "\n".join(lines) + "\n"


def _read(folder: Path, name: str, use: str, where: str) -> bytes:
    try:
        place = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError):
        raise TaskFileError(f"{where}: {name!r} names no file; name another one.") from None
    if not place.is_relative_to(folder):
        raise TaskFileError(f"{where}: {name} lies outside {folder}; put it beside the file.")
    try:
        return read_named(place, LARGEST[use])
    except OSError as error:
        if error.errno == errno.EFBIG:
            words = f"{name} has more than {LARGEST[use]:,} bytes; make it smaller."
        else:
            words = f"cannot read {name}, a {CALLED[use]} ({error.strerror}); put it there, or name another one."
        raise TaskFileError(f"{where}: {words}") from error


class DeclarationFile(TaskFileKind):
    """Declarations, with the files that they name behind them."""

    def text_of(self, path: Path) -> str:
        """The text of a file and the files that it names."""
        return with_files(kept_text(path), path)

    def is_changed(self, file: TaskFile) -> bool:
        """Whether the file or one that it names holds something else by now."""
        path = Path(file.file)
        declared = file.text.split(EMBEDDED)[0]
        if path.read_bytes() != declared.encode():
            return True
        return declared != file.text and with_files(declared, path) != file.text

    def domain(self, file: TaskFile) -> Domain:
        """The domain that the text declares."""
        return declared_domain(file.text)


DECLARATION: Final = DeclarationFile()
