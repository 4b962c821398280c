"""Files that a user names: read whole, up to a limit, and refused before they are opened if they may never end."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from lakatos.traces.files import read_named


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
