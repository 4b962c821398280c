"""What is erased is overwritten where it is a file of its own, and nothing beyond the folder is touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakatos.traces.erasure import erase_file


def test_a_file_is_overwritten_before_it_is_removed(tmp_path: Path) -> None:
    file, other_name = tmp_path / "summary.html", tmp_path / "other"
    file.write_bytes(b"responses")
    os.link(file, other_name)
    erase_file(file)
    assert not file.exists()
    assert other_name.read_bytes() == bytes(9)


def test_of_a_link_only_the_link_is_removed(tmp_path: Path) -> None:
    outside, link = tmp_path / "outside.csv", tmp_path / "summary.html"
    outside.write_bytes(b"somebody else's")
    link.symlink_to(outside)
    erase_file(link)
    assert not link.is_symlink()
    assert outside.read_bytes() == b"somebody else's"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_is_removed_and_nothing_is_written_into_it(tmp_path: Path) -> None:
    pipe = tmp_path / "summary.html"
    os.mkfifo(pipe)
    erase_file(pipe)
    assert not pipe.exists()


def test_what_is_not_there_is_gone_already(tmp_path: Path) -> None:
    erase_file(tmp_path / "nothing")
