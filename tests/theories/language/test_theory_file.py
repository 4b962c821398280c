"""A theory's file is text of a program's size; anything else is refused before it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakatos.theories.errors import TheorySourceError
from lakatos.theories.language.theory_file import LARGEST, read_theory_file


def test_a_text_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text('"""Mine: people wait."""\n', encoding="utf-8")
    assert read_theory_file(tmp_path / "mine.py") == '"""Mine: people wait."""\n'


def test_what_is_no_text_of_a_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\xff\x00")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(LARGEST + 1)
    os.mkfifo(tmp_path / "pipe.py")  # to read it would wait for ever
    for name, said in (
        ("binary.py", r"not UTF-8 text \(byte 4\)"),
        ("large.py", "more than 1,048,576 bytes"),
        ("pipe.py", "it is no file"),
        (".", "it is no file"),
        ("gone.py", "there is no such file"),
    ):
        with pytest.raises(TheorySourceError, match=f"cannot read the theory .*{said}.*[Gg]ive "):
            read_theory_file(tmp_path / name)
