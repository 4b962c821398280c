#!/usr/bin/env python3
"""Start the demonstration and the tests where Lakatos was never run before.

    python3 tests/fresh/homes.py                                  in this checkout, as it is installed
    python3 tests/fresh/homes.py --install python3.12 python3.13  in copies of it, newly installed by other Pythons

Each *home* is a folder of a new user, empty or not to be written, with a language and a time zone. In each home the
demonstration starts, and at the same moment two test processes (in one home they collect all tests), so that all import
the science for the first time at once. The demonstration goes on until it has checked a theory, and what it says must
hold no traceback and no warning.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LONGEST_S = 300.0
"""For one start, on a busy machine."""
NOBODY = 65534
AS_NOBODY = (
    "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search",
)  # fmt: skip
"""Another user, without any right but to read, since the checkout may lie in a folder of root's."""
FIRST_STEPS = ("tests/traces/test_home.py", "tests/theories/language/test_prior.py")
"""Tests that are run; they import PyMC and ArviZ."""
BAD = re.compile(
    r"Traceback|Warning|mkdir -p failed|temporary cache directory|Permission denied|Read-only"
)


@dataclass(frozen=True)
class FreshHome:
    """Somebody who has never run Lakatos."""

    name: str
    writable: bool = True
    root: bool = True
    collects_all: bool = False
    """Whether the tests are all collected, which imports everything."""
    variables: dict[str, str] = field(default_factory=dict)

    def make(self, folder: Path) -> dict[str, str]:
        """Make the home in ``folder``; returns the whole environment of its user."""
        home = folder / "home"
        if self.writable:
            home.mkdir()
        else:
            home.write_text("root can write any folder, but no file is one")
        (folder / "tmp").mkdir()
        if not self.root:
            for place in (folder, folder / "tmp", home):
                os.chown(place, NOBODY, NOBODY)
        passed = {name: os.environ[name] for name in ("PATH", "LAKATOS_DATA") if name in os.environ}
        return passed | {"HOME": str(home), "TMPDIR": str(folder / "tmp")} | self.variables

    @property
    def prefix(self) -> tuple[str, ...]:
        """Words before a command that make it this user's."""
        return () if self.root else AS_NOBODY


HOMES = (
    FreshHome("empty home", collects_all=True),
    FreshHome("home that cannot be written", writable=False),
    FreshHome(
        "other language and time zone",
        # ASCII for texts and files: what a file holds must not depend on it.
        variables={
            "LC_ALL": "C",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONUTF8": "0",
            "TZ": "Pacific/Kiritimati",
        },
    ),
    FreshHome("not root", root=False),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all homes; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--install", nargs="+", default=[], metavar="PYTHON", help="install anew, by each of these"
    )
    parser.add_argument("--home", default="", help="only homes whose name holds this word")
    chosen = parser.parse_args(arguments)
    homes = [home for home in HOMES if chosen.home in home.name and is_possible(home)]
    failed = 0
    for python in chosen.install or [""]:
        with contextlib.ExitStack() as stack:
            checkout = stack.enter_context(installed_copy(python)) if python else ROOT
            for home in homes:
                failed += try_home(home, checkout, f"{home.name} {python}".strip())
    return 1 if failed else 0


def is_possible(home: FreshHome) -> bool:
    """Whether this machine can make such a user; another one takes root's rights, which containers may lack."""
    if home.root:
        return True
    able = os.getuid() == 0 and shutil.which("setpriv")
    if able and not subprocess.run([*home.prefix, "true"], capture_output=True).returncode:
        return True
    print(f"skipped: {home.name}: needs root, setpriv and the right to give rights away")
    return False


@contextlib.contextmanager
def installed_copy(python: str) -> Iterator[Path]:
    """A copy of the checkout, installed by another Python, as for the tests."""
    with tempfile.TemporaryDirectory(prefix="lakatos-fresh-") as folder:
        copy = Path(folder) / "a folder with spaces"
        unwanted = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "runs", "build")
        shutil.copytree(ROOT, copy, ignore=unwanted, symlinks=True)
        Path(folder).chmod(0o755)
        begun = time.monotonic()
        subprocess.run([python, "-c", "import start; start.install('test')"], check=True, cwd=copy)
        print(f"installed by {python} in {time.monotonic() - begun:.0f} s", flush=True)
        yield copy


def try_home(home: FreshHome, checkout: Path, title: str) -> bool:
    """Start everything at once in a new home; says what is wrong, and returns whether something is."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lakatos-home-") as place:
        folder = Path(place)
        environment = home.make(folder)
        runs = folder / "tmp" / "runs"
        with (
            begin(demonstration(home, checkout, runs), folder, environment) as demo,
            begin(first_tests(home, checkout), folder, environment, checkout) as tests,
        ):
            wrong = fault_of_demonstration(demo, runs) + fault_of_tests(tests)
    took = time.monotonic() - begun
    print(f"{'FAILED' if wrong else 'passed'}: {title} ({took:.0f} s){wrong}", flush=True)
    return bool(wrong)


def demonstration(home: FreshHome, checkout: Path, runs: Path) -> list[str]:
    """The words of `lakatos demo`."""
    # `start.py` asks whether this user may run the environment's Python, which may lie in a folder of root's.
    program = checkout / "start.py" if home.root else checkout / ".venv" / "bin" / "lakatos"
    python = checkout / ".venv" / "bin" / "python"
    return [
        *home.prefix,
        str(python),
        str(program),
        "demo",
        "--engine",
        "prefect",
        "--runs",
        str(runs),
    ]


def first_tests(home: FreshHome, checkout: Path) -> list[str]:
    """Two processes run a few tests, after all were collected in one of the homes."""
    python = checkout / ".venv" / "bin" / "python"
    words = [*home.prefix, str(python), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
    if not home.collects_all:
        return [*words, *FIRST_STEPS]
    return [*words, "-m", "not long", "-k", " or ".join(Path(name).stem for name in FIRST_STEPS)]


@dataclass
class StartedProcess:
    """A program in a fresh home, and the file with all that it says."""

    process: subprocess.Popen[bytes]
    told: Path

    @property
    def text(self) -> str:
        """What it said so far."""
        return self.told.read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def begin(
    command: Sequence[str], folder: Path, environment: dict[str, str], stand_in: Path | None = None
) -> Iterator[StartedProcess]:
    """Start a program; it is killed where it has not ended by itself."""
    told = Path(tempfile.mkstemp(dir=folder, suffix=".txt")[1])
    with told.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=stand_in or folder / "tmp", env=environment, stdout=out, stderr=out,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    try:
        yield StartedProcess(process, told)
    finally:
        process.kill()
        process.wait()


def fault_of_demonstration(demo: StartedProcess, runs: Path) -> str:
    """Wait until a theory was checked, and interrupt the demonstration there; returns what was wrong."""
    deadline, process = time.monotonic() + LONGEST_S, demo.process
    while not is_going(runs) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.3)
    went = is_going(runs)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        return f"\nthe demonstration did not end when it was interrupted\n{demo.text[-2000:]}"
    if went and not BAD.search(demo.text):
        return ""
    said = "said what it should not" if went else "checked no theory"
    return f"\nthe demonstration {said}, status {process.returncode}\n{demo.text[-2000:]}"


def is_going(runs: Path) -> bool:
    """Whether a journal holds a checked theory; read as bytes, since opening it would make files of this user's."""
    journals = runs.glob("*/journal.sqlite*")
    return any(b"theory_checked" in path.read_bytes() for path in journals if path.is_file())


def fault_of_tests(tests: StartedProcess) -> str:
    """Wait for the tests; returns what was wrong."""
    try:
        status = tests.process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        return f"\nthe tests did not end\n{tests.text[-3000:]}"
    if status == 0 and " passed" in tests.text:
        return ""
    return f"\ntests: status {status}\n{tests.text[-3000:]}"


if __name__ == "__main__":
    sys.exit(main())
