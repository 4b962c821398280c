"""Files that declare a task, and its images: small files beside the declaration, which become part of its text.

A declaration names them by a pattern, ``images = "faces/{level}.png"``. When it is read, each file is put behind the
text, so that the study, its digest and every page hold the very images that people see, wherever the run is.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Final

from lakatos.domains.declared.declaration import read_task
from lakatos.domains.declared.feedback_task import declared_domain
from lakatos.domains.declared.task_file import TaskFileKind, kept_text
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import TaskFile
from lakatos.traces.files import read_named

BEGINNINGS: Final = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"GIF8": "gif",
    b"RIFF": "webp",
}
"""First bytes of the kinds of files that are taken."""
LARGEST_IMAGE: Final = 100 * 1024
"""Bytes of one; a page holds the images of several trials at once."""
LARGEST_ALL: Final = 1024 * 1024
EMBEDDED: Final = "\n# Read from the files that the attributes name.\n[embedded]\n"
"""Stands between a declaration and its images."""


def with_images(text: str, path: Path) -> str:
    """The text of a declaration with the images that it names behind it; one without images as it is.

    Args:
        text: Of the file.
        path: Of the file; images lie in its folder or below.

    Raises:
        TaskFileError: An image is not there, too large, no image, or lies elsewhere; the message names it.
    """
    task = read_task(text, str(path))
    if task.embedded:
        raise TaskFileError(f"{path}: embedded is written when the file is read; leave it out.")
    names = [name for item in task.attributes.values() for name in item.image_names]
    if not names:
        return text
    folder = path.resolve().parent
    found = {name: _read(folder, name, path) for name in dict.fromkeys(names)}
    size = sum(map(len, found.values()))
    if size > LARGEST_ALL:
        raise TaskFileError(
            f"{path}: its images have {size:,} bytes, more than {LARGEST_ALL:,}; make them smaller."
        )
    lines = [f"{json.dumps(name)} = {json.dumps(_address(data))}" for name, data in found.items()]
    return text + EMBEDDED + "\n".join(lines) + "\n"


def _read(folder: Path, name: str, path: Path) -> bytes:
    place = (folder / name).resolve()
    if not place.is_relative_to(folder):
        raise TaskFileError(f"{path}: the image {name} lies outside {folder}; put it beside the file.")  # fmt: skip
    try:
        data = read_named(place)
    except OSError as error:
        raise TaskFileError(
            f"{path}: cannot read the image {name} ({error.strerror}). Each level of the attribute needs one."
        ) from None
    if len(data) > LARGEST_IMAGE:
        raise TaskFileError(
            f"{path}: the image {name} has {len(data):,} bytes, more than {LARGEST_IMAGE:,}; make it smaller."
        )
    if not any(data.startswith(beginning) for beginning in BEGINNINGS):
        raise TaskFileError(f"{path}: {name} is no PNG, JPEG, GIF or WebP image.")
    return data


def _address(data: bytes) -> str:
    """The image as an address that holds it whole."""
    kind = next(kind for beginning, kind in BEGINNINGS.items() if data.startswith(beginning))
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


class DeclarationFile(TaskFileKind):
    """Declarations, with their images behind them."""

    def text_of(self, path: Path) -> str:
        """The text of a file and its images."""
        return with_images(kept_text(path), path)

    def is_changed(self, file: TaskFile) -> bool:
        """Whether the file or one of its images holds something else by now."""
        path = Path(file.file)
        declared = file.text.split(EMBEDDED)[0]
        if path.read_bytes() != declared.encode():
            return True
        return declared != file.text and with_images(declared, path) != file.text

    def domain(self, file: TaskFile) -> Domain:
        """The domain that the text declares."""
        return declared_domain(file.text)


DECLARATION: Final = DeclarationFile()
