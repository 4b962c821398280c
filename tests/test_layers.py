"""The packages are ours, lie together, and import only rightwards."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from benchmarks import structure
from lakatos.flows.errors import InstallationError
from lakatos.flows.guard import PACKAGES, check_packages

ROOT = Path(__file__).resolve().parent.parent


def test_all_packages_lie_in_one_folder() -> None:
    assert check_packages() == ROOT


def test_the_guard_knows_every_package_that_the_layers_name() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    layers = settings["importlinter"]["contracts"][0]["layers"]
    assert [f"lakatos.{name}" for name in PACKAGES] == layers
    links = {path.name for path in (ROOT / "lakatos").iterdir() if path.is_symlink()}
    assert links == {*PACKAGES, "studies"}


@pytest.mark.long
def test_a_wheel_claims_one_name_only(tmp_path: Path) -> None:
    """`judges`, `traces`, `flows` and `memory` are packages of others on PyPI."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    subprocess.run([*command, "-w", str(tmp_path), str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("lakatos-*.whl")
    with zipfile.ZipFile(wheel) as held:
        names = held.namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"lakatos"}
    for wanted in ("flows/cycle.py", "studies/demo.toml", "judges/rubrics/parsimony.py"):
        assert f"lakatos/{wanted}" in names


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_foreign_package_in_place_of_a_link_is_named_with_what_to_do(
    tmp_path: Path, kind: str
) -> None:
    copy = tmp_path / "lakatos"
    shutil.copytree(ROOT / "lakatos", copy, symlinks=True)
    for link in copy.iterdir():
        if link.is_symlink():
            link.unlink()
            link.symlink_to(ROOT / link.name)
    (copy / "judges").unlink()
    if kind == "folder":
        (copy / "judges").mkdir()
        (copy / "judges" / "__init__.py").touch()
    program = f"""
import sys
sys.path[:0] = [{str(tmp_path)!r}]
from lakatos.flows.guard import check_packages
try:
    check_packages()
except Exception as error:
    print(type(error).__name__, error)
"""
    said = subprocess.run(
        [sys.executable, "-P", "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={},
    ).stdout
    assert said.startswith("InstallationError ")
    assert "'lakatos.judges'" in said
    assert "git checkout -- lakatos" in said
    assert said.count("\n") == 1


def test_a_missing_package_is_named() -> None:
    with pytest.raises(
        InstallationError,
        match=r"the package 'lakatos.phlogiston' is not .*missing",
    ):
        check_packages((*PACKAGES, "phlogiston"))


def test_only_the_engine_and_the_deployments_name_prefect() -> None:
    """Import-linter keeps Prefect out of the other packages; within `flows` it belongs to three modules."""
    imports = [
        path.relative_to(ROOT)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("import prefect", "from prefect"))
    ]
    own = ("flows/run/engine.py", "flows/run/prefect_server.py", "flows/operations/deploy.py")
    assert set(imports) <= {Path(name) for name in own}


@pytest.mark.slow
def test_modules_import_one_another_in_a_circle_only_within_one_kind_of_task() -> None:
    """A kind of task reads its files and names its theories inside functions; imports for type checkers count too."""
    files = structure.read_files(ROOT)
    modules = {file.module for file in files}
    imports = {file.module: structure.imports_of(file, modules, inside=True) for file in files}
    rooms = {file.module: file.room for file in files}
    around = [{rooms[module] for module in group} for group in structure.circles(imports)]
    assert all(len(group) == 1 and min(group).startswith("domains/") for group in around), around
    assert structure.layers_broken(ROOT, imports) == []


def test_a_circle_and_an_import_against_the_order_are_found() -> None:
    names = ("lakatos.traces.one", "lakatos.traces.two", "lakatos.flows.cycle")
    imports = {names[0]: {names[1]}, names[1]: {names[0], names[2]}, names[2]: set[str]()}
    assert structure.circles(imports) == [set(names[:2])]
    assert f"{names[1]} -> {names[2]}" in structure.layers_broken(ROOT, imports)
