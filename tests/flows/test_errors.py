"""Where a file can be written."""

from __future__ import annotations

import pytest

from lakatos.flows.errors import UnusableError, check_file_place


def test_a_new_file_and_one_that_is_replaced_are_allowed(tmp_path):
    there = tmp_path / "there.html"
    there.write_text("old")
    check_file_place(there)
    check_file_place(tmp_path / "new" / "file.html")
    assert there.read_text() == "old"
    assert not (tmp_path / "new").exists()


def test_a_folder_and_a_device_are_refused(tmp_path):
    for place in (tmp_path, type(tmp_path)("/dev/null")):
        with pytest.raises(UnusableError, match="is a folder or a device; name a file"):
            check_file_place(place)


def test_a_folder_that_must_be_there_is_asked_for(tmp_path):
    with pytest.raises(UnusableError, match="name a file in a folder that exists"):
        check_file_place(tmp_path / "missing" / "links.txt", folder_exists=True)
