"""Files that a user names: read whole, up to a limit, and refused before they are opened if they may never end."""

from __future__ import annotations

import gzip
import os
import re
import time
from pathlib import Path

import pytest

from lakatos.traces.files import MOST_PARTS, MOST_TOML, read_mark, read_named, read_toml


def test_a_file_is_read_whole_and_unpacked_if_its_name_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"abc")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"abc", mtime=0))
    assert read_named(tmp_path / "a.txt", 3) == read_named(tmp_path / "a.gz", 3) == b"abc"


@pytest.mark.parametrize("name", ["a.txt", "a.gz"])
def test_no_more_than_the_limit_is_read_packed_or_not(tmp_path: Path, name: str) -> None:
    data = b"\0" * 10_000_000
    (tmp_path / name).write_bytes(gzip.compress(data, mtime=0) if name == "a.gz" else data)
    with pytest.raises(OSError, match="more than 1,000 bytes"):
        read_named(tmp_path / name, 1_000)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_pipe_a_device_and_a_folder_are_refused_before_they_are_opened(
    tmp_path: Path, suffix: str
) -> None:
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
    for name in ("pipe", "folder", "zero"):
        with pytest.raises(OSError, match="it is no file"):
            read_named(tmp_path / f"{name}{suffix}")


@pytest.mark.parametrize("data", [b"", b"abc", gzip.compress(b"abc" * 1_000, mtime=0)[:-9]])
def test_a_packed_file_that_is_cut_off_or_not_packed_is_refused(
    tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "a.gz").write_bytes(data)
    if data:
        with pytest.raises(OSError, match="damaged or not gzipped"):
            read_named(tmp_path / "a.gz")
    else:
        assert read_named(tmp_path / "a.gz") == b""


@pytest.mark.parametrize(
    "data", [b"3", b"null", b"[1]", b'"a"', b"", b"[" * 100_000, b"\xff", b"1" * 5_000]
)
def test_a_mark_that_holds_no_object_says_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "now.json").write_bytes(data)
    assert read_mark(tmp_path / "now.json") == {}


def test_a_mark_that_is_a_pipe_a_folder_or_missing_says_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "good").write_text('{"a": 1}')
    assert [read_mark(tmp_path / name) for name in ("pipe", "", "no")] == [{}, {}, {}]
    assert read_mark(tmp_path / "good") == {"a": 1}


LONG = 50_000


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a" + ".a" * LONG + " = 1", 1),
        ("[a" + ".a" * LONG + "]", 1),
        ("[[a" + ' . "a.b"' * LONG + "]]", 1),
        ("x = { 'a'" + ".'a'" * LONG + " = 1 }", 1),
        ('s = "\\"#"\na' + ".a" * LONG + " = 1", 2),
        ('s = """\n"" # \\""" \'"""\na' + ".a" * LONG + " = 1", 3),
        ("s = '''\n'' # \\'''\na" + ".a" * LONG + " = 1", 3),
        ("# it's \"\na" + ".a" * LONG + " = 1", 2),
        ("a" + ".a" * MOST_PARTS + " = 1", 1),
    ],
)
def test_a_toml_key_of_very_many_parts_is_refused_before_it_is_parsed(text: str, line: int) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match=rf"a key has [0-9,]+ parts, more than .* \(line {line}\)"):
        read_toml(text)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('s = "' + "a." * LONG + '"', "a." * LONG),
        ("s = '" + "a." * LONG + "'", "a." * LONG),
        ('s = """\n' + "a." * LONG + '\n"""', "a." * LONG + "\n"),
        ("s = 1 # " + "a." * LONG, 1),
        ("s = [" + "1.5, " * LONG + "]", [1.5] * LONG),
    ],
)
def test_points_in_texts_comments_and_numbers_of_toml_are_no_parts(
    text: str, value: object
) -> None:
    assert read_toml(text) == {"s": value}


def test_a_toml_key_of_the_most_parts_is_read() -> None:
    value = read_toml(".".join("a" * MOST_PARTS) + " = 1")
    for _ in range(MOST_PARTS):
        value = value["a"]
    assert value == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = " + "[" * LONG, "nested too deeply"),
        ("x = " + "{a = " * LONG, "nested too deeply"),
        ("x = " + "9" * 5_000, "limit"),
        ("." * LONG, "Invalid"),
        ("#" * (MOST_TOML + 1), "more than 4,194,304 characters"),
    ],
)
def test_other_toml_that_cannot_be_read_is_refused_with_one_kind_of_error(
    text: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        read_toml(text)


def test_toml_is_read_in_one_place() -> None:
    root = Path(__file__).parents[2]
    packages = [
        "flows",
        "memory",
        "judges",
        "domains",
        "theories",
        "experiments",
        "language_models",
        "traces",
    ]
    readers = {
        path.relative_to(root).as_posix()
        for package in packages
        for path in (root / package).rglob("*.py")
        if re.search(r"\btomllib\.load", path.read_text(encoding="utf-8"))
    }
    assert readers == {"traces/files.py"}
