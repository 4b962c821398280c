"""Where a run keeps its journal and its artifacts: told by the environment once, and by its folder from then on."""

import os
import re
from pathlib import Path

import pytest

from lakatos.traces.errors import ArtifactError, JournalError
from lakatos.traces.place import address_file, holds_journal, is_elsewhere, run_folders, settle
from lakatos.traces.step import ARTIFACT_FOLDER, JOURNAL_FILE

JOURNAL = "postgresql://ada@host.example:5432/lakatos"
ARTIFACTS = "s3://bucket/lakatos"


def read(folder: Path, name: str) -> str:
    return (folder / address_file(name)).read_text()


def test_a_run_is_in_its_folder_where_nothing_else_is_said(tmp_path: Path) -> None:
    settle(tmp_path, {})
    assert list(tmp_path.iterdir()) == []
    assert not is_elsewhere(tmp_path)


def test_addresses_are_written_into_the_folder_under_one_name_of_the_runs_own(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "pilot"
    settle(folder, {"LAKATOS_JOURNAL": JOURNAL, "LAKATOS_ARTIFACTS": f"{ARTIFACTS}/"})
    journal, artifacts = read(folder, JOURNAL_FILE), read(folder, ARTIFACT_FOLDER)
    found = re.fullmatch(rf"{re.escape(JOURNAL)}#(pilot-[0-9a-f]{{8}})\n", journal)
    assert found
    assert artifacts == f"{ARTIFACTS}/{found[1]}\n"
    assert is_elsewhere(folder)
    assert holds_journal(folder)
    other = tmp_path / "other" / "pilot"
    settle(other, {"LAKATOS_JOURNAL": JOURNAL})
    assert read(other, JOURNAL_FILE) != journal
    assert not (other / address_file(ARTIFACT_FOLDER)).exists()


def test_artifacts_alone_may_be_elsewhere(tmp_path: Path) -> None:
    settle(tmp_path, {"LAKATOS_ARTIFACTS": ARTIFACTS})
    assert [path.name for path in tmp_path.iterdir()] == [address_file(ARTIFACT_FOLDER)]
    assert not is_elsewhere(tmp_path)
    assert not holds_journal(tmp_path)


@pytest.mark.parametrize("known", ["journal", "address"])
def test_a_folder_that_holds_a_journal_is_left_as_it_is(tmp_path: Path, known: str) -> None:
    if known == "journal":
        (tmp_path / JOURNAL_FILE).write_bytes(b"x")
    else:
        settle(tmp_path, {"LAKATOS_JOURNAL": JOURNAL})
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    settle(tmp_path, {"LAKATOS_JOURNAL": JOURNAL, "LAKATOS_ARTIFACTS": ARTIFACTS})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_empty_file_is_no_journal(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).touch()
    assert not holds_journal(tmp_path)
    settle(tmp_path, {"LAKATOS_JOURNAL": JOURNAL})
    assert holds_journal(tmp_path)


@pytest.mark.parametrize(
    ("environment", "error", "words"),
    [
        ({"LAKATOS_JOURNAL": f"{JOURNAL}#pilot-1"}, JournalError, "names the run 'pilot-1'"),
        ({"LAKATOS_JOURNAL": "x", "LAKATOS_ARTIFACTS": ARTIFACTS}, JournalError, "is no address"),
        ({"LAKATOS_JOURNAL": "host/lakatos"}, JournalError, "is no address of a journal"),
        ({"LAKATOS_JOURNAL": JOURNAL.replace("ada", "ada:pw")}, JournalError, "holds a password"),
        ({"LAKATOS_ARTIFACTS": "bucket"}, ArtifactError, "is no address of artifacts"),
        ({"LAKATOS_ARTIFACTS": "s3://a:pw@host/x"}, ArtifactError, "holds a password"),
    ],
)
def test_what_is_no_address_is_refused_and_nothing_is_written(
    tmp_path: Path, environment: dict[str, str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        settle(tmp_path, environment)
    assert list(tmp_path.iterdir()) == []


def test_folders_of_runs_are_listed_from_the_oldest_to_the_newest(tmp_path: Path) -> None:
    for number, name in enumerate(("b", "a", "c", "empty")):
        (tmp_path / name).mkdir()
        if name == "a":
            settle(tmp_path / name, {"LAKATOS_JOURNAL": JOURNAL})
        elif name != "empty":
            (tmp_path / name / JOURNAL_FILE).write_bytes(b"x")
        for path in (tmp_path / name).iterdir():
            os.utime(path, (number, number))
    assert [path.name for path in run_folders(tmp_path)] == ["b", "a", "c"]
