"""The packages are ours, lie together, and import only rightwards."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lakatos.flows.errors import InstallationError
from lakatos.flows.guard import PACKAGES, check_packages

ROOT = Path(__file__).resolve().parent.parent


def test_all_packages_lie_in_one_folder() -> None:
    assert check_packages() == ROOT


def test_the_guard_knows_every_package_that_the_layers_name() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert list(PACKAGES) == settings["importlinter"]["root_packages"]
    assert list(PACKAGES) == settings["importlinter"]["contracts"][0]["layers"]
    assert list(PACKAGES) == settings["mypy"]["packages"]
    assert [f"{name}*" for name in PACKAGES] == settings["setuptools"]["packages"]["find"][
        "include"
    ][: len(PACKAGES)]


def test_no_module_is_named_after_a_package() -> None:
    named = [
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.stem in PACKAGES
    ]
    assert named == []


@pytest.mark.parametrize("kind", ["folder", "module"])
def test_a_foreign_package_is_named_with_what_to_do(tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        (tmp_path / "judges").mkdir()
        (tmp_path / "judges" / "__init__.py").touch()
    else:
        (tmp_path / "judges.py").touch()
    program = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}]
import lakatos.flows.guard
sys.path[:0] = [{str(tmp_path)!r}]
try:
    flows.guard.check_packages()
except Exception as error:
    print(type(error).__name__, error)
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert said.startswith("InstallationError ")
    assert "'judges'" in said
    assert "virtual environment of its own" in said
    assert said.count("\n") == 1


def test_a_missing_package_is_named() -> None:
    with pytest.raises(
        InstallationError,
        match=r"the package 'phlogiston' of Lakatos is not a folder beside .*flows",
    ):
        check_packages((*PACKAGES, "phlogiston"))


def test_only_the_engine_and_the_deployments_name_prefect() -> None:
    """Import-linter keeps Prefect out of the other packages; within `flows` it belongs to two modules."""
    imports = [
        path.relative_to(ROOT)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("import prefect", "from prefect"))
    ]
    assert set(imports) <= {Path("flows/run/engine.py"), Path("flows/operations/deploy.py")}
