"""Files that a declared task names become part of its text, and are what participants see."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from tasks import gifts

from lakatos.domains.declared.files import with_files
from lakatos.domains.declared.presentation_declaration import LARGEST
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.domains.declared.task_file import domain_in, is_changed, read_task_file
from lakatos.experiments.errors import TaskFileError

LEVELS = ("plain", "red", "gold")
NAMED = (
    'levels = ["plain", "red", "gold"]',
    'levels = ["plain", "red", "gold"]\nimages = "paper/{level}.png"',
)


def png(grey: int) -> bytes:
    """An image of one grey point."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))  # fmt: skip

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    points = zlib.compress(bytes([0, grey]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", points) + chunk(b"IEND", b"")  # fmt: skip


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    """A declaration with an image for each wrapping."""
    (tmp_path / "paper").mkdir()
    for place, level in enumerate(LEVELS):
        (tmp_path / "paper" / f"{level}.png").write_bytes(png(place))
    path = tmp_path / "gifts.toml"
    path.write_text(gifts(NAMED))
    return path


def test_people_see_the_images_and_hear_their_words(declared: Path) -> None:
    file = read_task_file(declared)
    domain = domain_in(file)
    assert file.text.startswith(declared.read_text(encoding="utf-8"))
    trial = domain.candidates({}, np.random.default_rng(1), 1)
    picture = domain.picture(trial, 0)
    words = [LEVELS[int(value)] for value in np.asarray(trial.arrays["wrapping"])[0]]
    for word in words:
        assert f'alt="{word}"' in picture
    assert picture.count('src="data:image/png;base64,') == 2
    # Whoever has the text has the images, wherever the files are.
    assert DeclaredDomain(file.text).picture(trial, 0) == picture


def test_another_image_is_another_task_and_one_that_is_gone_changes_nothing(declared: Path) -> None:
    file = read_task_file(declared)
    assert not is_changed(file)
    (declared.parent / "paper" / "red.png").write_bytes(png(99))
    assert is_changed(file)
    assert read_task_file(declared).digest != file.digest
    (declared.parent / "paper" / "red.png").unlink()
    assert not is_changed(file)
    declared.write_text(declared.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert is_changed(file)


def test_a_declaration_without_images_stays_as_it_is(tmp_path: Path) -> None:
    assert with_files(gifts(), tmp_path / "gifts.toml") == gifts()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "gifts.toml, line 18: cannot read paper/gold.png, a PNG"),
        (
            b"<svg onload='alert(1)'/>",
            "line 18: .* ends in .png, but its content is no PNG, JPEG, GIF or WebP",
        ),
        (b"\xff\xd8\xff", "ends in .png, but its content is image/jpeg"),
        (b"RIFF0000WAVE", "ends in .png, but its content is audio/wav"),
        (
            png(1) + bytes(LARGEST["images"]),
            "line 18: paper/gold.png has more than 102,400 bytes; make it smaller",
        ),
    ],
)
def test_what_is_no_small_image_is_refused(declared: Path, data: bytes | None, words: str) -> None:
    place = declared.parent / "paper" / "gold.png"
    if data is None:
        place.unlink()
    else:
        place.write_bytes(data)
    with pytest.raises(TaskFileError, match=words):
        read_task_file(declared)


@pytest.mark.parametrize(
    ("changes", "add", "words"),
    [
        ("../{level}.png", "", "lies outside"),
        ("paper.png", "", "a file for each"),
        ("paper/{level}.png", '\n[embedded]\n"x.png" = "data:image/png;base64,AA=="\n', "leave it out"),
        ("paper/{level}.png", '\n[embedded]\n"x.png" = "javascript:alert(1)"\n', "embedded"),
    ],
)  # fmt: skip
def test_images_lie_beside_the_file_and_only_the_reader_puts_them_in(
    declared: Path, changes: str, add: str, words: str
) -> None:
    (declared.parent.parent / "plain.png").write_bytes(png(1))
    declared.write_text(
        gifts((NAMED[0], NAMED[1].replace("paper/{level}.png", changes)), add=add), encoding="utf-8"
    )
    with pytest.raises(TaskFileError, match=words):
        read_task_file(declared)
