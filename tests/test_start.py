"""The bootstrap `start.py` and the lock files it installs from."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {name: ROOT / name for name in ("requirements.lock", "requirements-test.lock")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked(name: str) -> list[Requirement]:
    """Requirements of a lock file, without their digests."""
    lines = LOCKS[name].read_text().replace("\\\n", " ").splitlines()
    return [Requirement(re.sub(r"\s+--hash=\S+", "", line)) for line in lines if line.strip()]


def start(
    *arguments: str, folder: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``start.py`` with nothing in the environment but what is given."""
    return subprocess.run(
        [sys.executable, str(folder / "start.py"), *arguments],
        env={"PATH": os.defpath, "HOME": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in a folder with spaces, whose lock file names a package that there is not."""
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    shutil.copy(ROOT / "start.py", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name in LOCKS:
        (folder / name).write_text(f"phlogiston-of-stahl==1.0 --hash=sha256:{'0' * 64}\n")
    return folder


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_pin_everything_by_digest_and_name_no_address(name: str) -> None:
    text = LOCKS[name].read_text()
    for block in text.replace("\\\n", " ").splitlines():
        assert "--hash=sha256:" in block, block
    assert not re.search(r"https?://|file:|^--|^-", text, flags=re.MULTILINE)
    assert all(str(requirement.specifier).startswith("==") for requirement in locked(name))


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_hold_what_the_project_asks_for(name: str) -> None:
    asked = [Requirement(line) for line in PROJECT["dependencies"] + ["setuptools>=77"]]
    if "test" in name:
        asked += [Requirement(line) for line in PROJECT["optional-dependencies"]["test"]]
    pinned: dict[str, list[Requirement]] = {}
    for requirement in locked(name):
        pinned.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    for requirement in asked:
        pins = pinned.get(canonicalize_name(requirement.name), [])
        assert pins, f"{name} lacks {requirement}; compile it again"
        for found in pins:
            (pin,) = found.specifier
            assert requirement.specifier.contains(pin.version), (
                f"{name} has {found}, asked is {requirement}"
            )


def test_both_lock_files_pin_the_same_versions() -> None:
    assert {str(requirement) for requirement in locked("requirements.lock")} <= {
        str(requirement) for requirement in locked("requirements-test.lock")
    }


def test_the_bootstrap_imports_only_the_standard_library() -> None:
    tree = ast.parse((ROOT / "start.py").read_text())
    modules = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
        )
    }
    assert modules <= sys.stdlib_module_names


def test_the_bootstrap_can_be_read_by_old_versions_of_python() -> None:
    ast.parse((ROOT / "start.py").read_text(), feature_version=(3, 7))


def test_without_a_command_it_says_what_there_is() -> None:
    done = start()
    assert done.returncode == 2
    assert "start.py demo" in done.stdout
    assert start("--help").returncode == 0


def test_an_unknown_command_is_answered_in_one_line() -> None:
    done = start("dmeo")
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr
        == "start.py: there is no command 'dmeo'; there are: demo, test, docs, lakatos.\n"
    )


def test_python_without_virtual_environments_is_named(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "ensurepip.py").write_text("raise ImportError")
    done = start("demo", folder=checkout, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == (
        "start.py: this Python cannot make virtual environments. On Debian or Ubuntu: sudo apt install python3-venv.\n"
    )


def test_an_incomplete_checkout_is_named(checkout: Path) -> None:
    (checkout / "requirements.lock").unlink()
    done = start("demo", folder=checkout)
    assert done.stderr.startswith("start.py: cannot read ")
    assert done.stderr.endswith(
        "requirements.lock: No such file or directory; the checkout is not complete.\n"
    )


@pytest.mark.slow
def test_a_failed_installation_shows_its_last_lines_and_is_tried_again(checkout: Path) -> None:
    done = start("demo", folder=checkout, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(checkout))
    assert done.returncode == 1
    assert "    ERROR: No matching distribution found for phlogiston-of-stahl==1.0" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        "start.py: cannot install: the package index cannot be reached or lacks a package."
    )
    assert not list((checkout / ".venv").glob("installed-*"))


@pytest.mark.long
def test_a_clean_checkout_installs_and_runs(tmp_path: Path) -> None:
    folder = tmp_path / "a folder with spaces"
    unwanted = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "runs", "build")
    shutil.copytree(ROOT, folder, ignore=unwanted)
    first = start("lakatos", "--help", folder=folder)
    assert first.returncode == 0, first.stderr
    assert "Usage: lakatos" in first.stdout
    again = start("lakatos", "--help", folder=folder, PIP_NO_INDEX="1")
    assert (again.returncode, again.stderr, again.stdout) == (0, "", first.stdout)
