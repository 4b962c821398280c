"""The folder of each kind of task holds all its parts, and everything about it stands there."""

from functools import partial
from pathlib import Path

import pytest

from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.domains.kit.readme import FOLDER, readme_of

PARTS = ("__init__.py", "README.md", "task.py", "theories.py", "reader.py")
"""What the folder of every kind of task holds."""


def missing_parts(folder: Path) -> list[str]:
    """The parts of a kind of task that its folder lacks."""
    return [name for name in PARTS if not (folder / name).is_file()]


@pytest.mark.parametrize("name", DOMAINS)
def test_the_folder_of_a_kind_of_task_has_every_part(name):
    assert missing_parts(FOLDER / name) == []


def test_a_folder_without_a_part_is_found_by_the_name_of_the_part(tmp_path):
    for name in PARTS[:-1]:
        (tmp_path / name).touch()
    assert missing_parts(tmp_path) == ["reader.py"]


@pytest.mark.parametrize("name", DOMAINS)
def test_the_readme_of_a_kind_of_task_is_what_its_code_contains(name):
    """`python -m lakatos.domains.kit.readme` writes them again."""
    assert (FOLDER / name / "README.md").read_text(encoding="utf-8") == readme_of(name)


@pytest.mark.parametrize("name", DOMAINS)
def test_the_theories_and_data_of_a_kind_of_task_stand_in_its_folder(name):
    assert DOMAINS[name].family() is FAMILIES[name]
    assert type(DOMAINS[name]).__module__ == f"lakatos.domains.{name}.task"
    readers = [item for item in ARCHIVES.values() if item.domain == name]
    for reader in readers:
        read = reader.read.func if isinstance(reader.read, partial) else reader.read
        assert read.__module__.startswith(f"lakatos.domains.{name}.archives.")


def test_every_folder_is_a_kind_of_task_or_shared_by_several():
    folders = {path.name for path in FOLDER.iterdir() if (path / "__init__.py").is_file()}
    assert folders == {*DOMAINS, "declared", "kit"}
