#!/usr/bin/env python3
"""Start the demonstration and the tests where Lakatos was never run before.

    python3 tests/fresh/homes.py                                  in this checkout, as it is installed
    python3 tests/fresh/homes.py --install python3.12 python3.13  in copies of it, newly installed by other Pythons

Each *home* is a folder of a new user, empty or not to be written, with a language and a time zone. In each home the
demonstration runs until its first experiment is designed, while a second one starts at the same moment; then two test
processes collect all tests at once and run a few. What they say must hold no traceback and no warning.
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
FIRST_STEPS = ("tests/traces/test_home.py", "tests/theories/test_prior.py")
"""Tests that are run after all were collected."""
BAD = re.compile(r"Traceback|Warning|mkdir -p failed|temporary cache directory|Permission denied|Read-only")


@dataclass(frozen=True)
class FreshHome:
    """Somebody who has never run Lakatos."""

    name: str
    writable: bool = True
    root: bool = True
    variables: dict[str, str] = field(default_factory=dict)

    def make(self, folder: Path) -> dict[str, str]:
        """Make the home in ``folder``; returns the whole environment of its user."""
        home = folder / "home"
        if self.writable or not self.root:
            home.mkdir(mode=0o755 if self.writable else 0o555)
        else:
            home.write_text("root can write any folder, but no file is one")
        (folder / "tmp").mkdir()
        if not self.root:
            for place in (folder, folder / "tmp", *([home] if self.writable else [])):
                os.chown(place, NOBODY, NOBODY)
        passed = {name: os.environ[name] for name in ("PATH", "LAKATOS_DATA") if name in os.environ}
        return passed | {"HOME": str(home), "TMPDIR": str(folder / "tmp")} | self.variables

    @property
    def prefix(self) -> tuple[str, ...]:
        """Words before a command that make it this user's."""
        return () if self.root else AS_NOBODY


HOMES = (
    FreshHome("empty home"),
    FreshHome("home that cannot be written", writable=False),
    FreshHome(
        "other language and time zone",
        # ASCII for texts and files: what a file holds must not depend on it.
        variables={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "TZ": "Pacific/Kiritimati"},
    ),
    FreshHome("not root", root=False),
    FreshHome("not root, home that cannot be written", root=False, writable=False),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all homes; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", nargs="+", default=[], metavar="PYTHON", help="install anew, by each of these")
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
    """Whether this machine can make another user; only root can."""
    if home.root or (os.getuid() == 0 and shutil.which("setpriv")):
        return True
    print(f"skipped: {home.name}: needs root and setpriv")
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
    """Start everything in a new home; says what is wrong, and returns whether something is."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lakatos-home-") as place:
        folder = Path(place)
        environment = home.make(folder)
        wrong = start_demonstrations(home, checkout, folder, environment)
        wrong = wrong or start_tests(home, checkout, environment)
    print(f"{'FAILED' if wrong else 'passed'}: {title} ({time.monotonic() - begun:.0f} s){wrong}", flush=True)
    return bool(wrong)


def start_demonstrations(home: FreshHome, checkout: Path, folder: Path, environment: dict[str, str]) -> str:
    """Two demonstrations at once, with Prefect and without, each until its first experiment is designed."""
    words = [*home.prefix, str(checkout / ".venv" / "bin" / "python"), str(checkout / "start.py"), "demo"]
    started = {}
    for engine in ("prefect", "none"):
        runs, told = folder / "tmp" / engine, folder / f"{engine}.txt"
        command = [*words, "--engine", engine, "--runs", str(runs)]
        with told.open("wb") as out:
            process = subprocess.Popen(
                command, cwd=folder / "tmp", env=environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL
            )
        started[process] = (runs, told)
    return "".join(watched(process, runs, told) for process, (runs, told) in started.items())


def watched(process: subprocess.Popen[bytes], runs: Path, told: Path) -> str:
    """Wait for the first design, and interrupt the demonstration there; returns what was wrong."""
    begun = time.monotonic()
    while not is_designed(runs) and process.poll() is None and time.monotonic() - begun < LONGEST_S:
        time.sleep(0.3)
    designed = is_designed(runs)
    process.send_signal(signal.SIGINT)
    try:
        process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"\n{runs.name}: did not end when it was interrupted"
    text = told.read_text(encoding="utf-8", errors="replace")
    if designed and not BAD.search(text):
        return ""
    return f"\n{runs.name}: {'designed' if designed else 'no design'}, status {process.returncode}\n{text[-2000:]}"


def is_designed(runs: Path) -> bool:
    """Whether a journal in ``runs`` holds a design; read as bytes, since opening it would make files of this user's."""
    return any(b"design_chosen" in path.read_bytes() for path in runs.glob("*/journal.sqlite*"))


def start_tests(home: FreshHome, checkout: Path, environment: dict[str, str]) -> str:
    """Two processes collect all tests, which imports everything, and run a few; returns what was wrong."""
    wanted = " or ".join(Path(name).stem for name in FIRST_STEPS)
    words = [str(checkout / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
    words += ["-k", wanted, "-m", "not long"]
    done = subprocess.run(
        [*home.prefix, *words], cwd=checkout, env=environment, capture_output=True, text=True, check=False,
        errors="replace", timeout=LONGEST_S,
    )  # fmt: skip
    if done.returncode == 0 and " passed" in done.stdout:
        return ""
    return f"\ntests: status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-1000:]}"


if __name__ == "__main__":
    sys.exit(main())
