"""The bootstrap `start.py` and the lock files it installs from."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shutil
import signal
import sqlite3
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


OLD_PYTHON = (
    "import runpy, sys\n"
    "sys.version_info, sys.version = (3, 8, 10, 'final', 0), '3.8.10 (default)'\n"
    "sys.argv = sys.argv[1:]\n"
)
"""Code that makes this Python one of an old version."""


def test_an_old_version_of_python_is_named_with_what_to_do() -> None:
    code = f"{OLD_PYTHON}runpy.run_path(sys.argv[0], run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "start.py"), "demo"],
        env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "start.py: Lakatos needs Python 3.11 or newer, and this is Python 3.8.10. Install a newer one and run it by "
        "name, for example: python3.12 start.py demo\n"
    )


def test_the_command_names_an_old_version_of_python() -> None:
    code = f"{OLD_PYTHON}from lakatos.flows.commands.door import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", code, "lakatos", "status"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "lakatos: Python 3.11 or newer is needed, and this is 3.8.10. `python3 start.py"
    )
    assert done.stderr.count("\n") == 1


def test_what_old_versions_of_python_load_before_that_can_be_read_by_them() -> None:
    for name in (
        "__init__.py",
        "flows/__init__.py",
        "flows/commands/__init__.py",
        "flows/commands/door.py",
    ):
        ast.parse((ROOT / "lakatos" / name).read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("package", ["typer", "pydantic", "numpy"])
def test_an_installation_that_was_interrupted_is_named_by_the_command(package: str) -> None:
    code = (
        f"import sys\nsys.modules[{package!r}] = None\nfrom lakatos.flows.commands.door import main\n"
        "sys.argv = ['lakatos', 'theories']\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"lakatos: the package {package!r} is missing in {sys.prefix}: its installation was not finished, or this is "
        "another Python. Run `python3 start.py lakatos --help` in the checkout, or install lakatos again.\n"
    )


def test_a_second_installation_waits_and_can_be_interrupted(checkout: Path) -> None:
    with contextlib.closing(sqlite3.connect(checkout / ".venv.lock", isolation_level=None)) as held:
        held.execute("BEGIN EXCLUSIVE")
        waits = subprocess.Popen(
            [sys.executable, str(checkout / "start.py"), "demo"],
            env={"PATH": os.defpath, "HOME": str(checkout)}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert waits.stderr is not None
        assert waits.stderr.readline() == (
            "start.py: another start.py is installing; waiting for it ...\n"
        )
        waits.send_signal(signal.SIGINT)
        assert waits.communicate(timeout=60)[1].strip() == (
            "start.py: interrupted; the same command goes on where it stopped."
        )
        assert waits.returncode == 130
    assert not (checkout / ".venv").exists()


def test_a_checkout_that_cannot_be_written_is_named(checkout: Path) -> None:
    (checkout / ".venv").write_text("a file where the environment would be")
    (checkout / ".venv.lock").mkdir()  # no file can be made here, not even by root
    done = start("demo", folder=checkout)
    assert done.returncode == 1
    assert re.fullmatch(
        r"start\.py: cannot lock .*\.venv\.lock: unable to open database file\. "
        r"Remove it and run the same command again\.\n",
        done.stderr,
    )


@pytest.mark.slow
def test_a_half_made_environment_is_made_again(checkout: Path) -> None:
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    done = start("demo", folder=checkout, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(checkout))
    assert "start.py: making a virtual environment for Python" in done.stderr
    assert "phlogiston-of-stahl" in done.stderr
    assert subprocess.run([python, "-c", "import pip"], check=False).returncode == 0


def test_a_folder_of_runs_that_cannot_be_made_is_named_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where the folder would be")
    done = subprocess.run(
        [sys.executable, "-m", "lakatos.flows.commands.door", "demo"],
        cwd=tmp_path, env={"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in {1, 2}
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("lakatos: ")
    assert "runs" in last
    assert "Traceback" not in done.stderr


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
