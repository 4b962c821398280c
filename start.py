#!/usr/bin/env python3
"""Install Lakatos beside this file and run it; needs nothing but Python 3.11 or newer.

python3 start.py demo               install, then watch a demonstration; on Windows: py start.py demo
python3 start.py test               install, then check everything; further words go to pytest
python3 start.py docs               install, then build the documentation as a site and check its links
python3 start.py lakatos ...        install, then any command: `lakatos --help` lists them

Everything goes into `.venv` beside this file, in the versions and with the digests of `requirements.lock`. When that is
done already, it starts at once and needs no network.
"""

import contextlib
import errno
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

# Down to here, and in its syntax, this file is one for Python 3.6.
if sys.version_info < (3, 11):  # noqa: UP036
    for newer in ("python3.14", "python3.13", "python3.12", "python3.11"):
        found = shutil.which(newer)
        if (
            found
            and os.system(f"{shlex.quote(found)} -c 'import venv, ensurepip' >/dev/null 2>&1") == 0
        ):
            os.execv(found, [found, *sys.argv])
    sys.exit(
        f"start.py: Lakatos needs Python 3.11 or newer, and this is Python {sys.version.split()[0]}. "
        "Install a newer one and run it by name, for example: "
        + ("py -3.12 start.py demo" if os.name == "nt" else "python3.12 start.py demo")
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PROGRAMS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = PROGRAMS / ("python.exe" if os.name == "nt" else "python")
LOG = VENV / "install.log"
LOCKS = {"run": ROOT / "requirements.lock", "test": ROOT / "requirements-test.lock"}
NEEDED_MB = {"run": 1400, "test": 1800}
"""Disk space of an installation, with room for downloads."""
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("lint-imports",),
)
TYPES = ("mypy",)
"""Takes minutes on one processor the first time, so it runs beside the tests."""


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; returns the exit status."""
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(__doc__)
        return 0 if arguments else 2
    command, rest = arguments[0], list(arguments[1:])
    if command == "test":
        install("test")
        return test(rest)
    if command == "docs":
        install("test")
        return build_site(rest)
    if command == "demo":
        rest = ["demo", *rest]
    elif command != "lakatos":
        fail(f"there is no command {command!r}; there are: demo, test, docs, lakatos")
    install("run")
    sys.stdout.flush()
    if os.name == "nt":  # there a program that is replaced gives the terminal back at once
        command = [str(PYTHON), "-m", "lakatos.flows.commands.door", *rest]
        return subprocess.call(command, env=clean_environment())
    os.execve(PYTHON, [str(PYTHON), str(PROGRAMS / "lakatos"), *rest], clean_environment())


def test(arguments: Sequence[str]) -> int:
    """Run every check, also when an earlier one failed; the tests come last."""
    selected = (
        []
        if any(word in {"-m", "--co"} or word.startswith("-m=") for word in arguments)
        else ["-m", "not long and not slow"]
    )
    # By whole files, so that what the tests of a file share is made once, not once in each process. Three processes
    # keep two processors busy: each spends half of its time waiting for programs and sandboxes.
    workers = (
        []
        if any(word in {"-n", "-s", "--pdb"} for word in arguments)
        else ["-n", "3", "--dist", "loadfile"]
    )
    failed = []

    def note_failure(check: Sequence[str], status: int) -> None:
        if status:
            failed.append(check[0] if len(check) == 1 else f"{check[0]} {check[1]}")

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as words:
        types = subprocess.Popen(
            command_of(TYPES), cwd=ROOT, env=clean_environment(), stdout=words, stderr=words
        )
        try:
            for check in (*CHECKS, ("pytest", *workers, *selected, *arguments)):
                print(f"== {shlex.join(check)}", flush=True)
                command = command_of(check)
                note_failure(check, subprocess.call(command, cwd=ROOT, env=clean_environment()))
        except BaseException:
            types.kill()
            raise
        note_failure(TYPES, types.wait())
        words.seek(0)
        print(f"== {shlex.join(TYPES)}\n{words.read()}", end="", flush=True)
    if failed:
        print(f"start.py: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def command_of(check: Sequence[str]) -> list[str]:
    """The command that starts a program of the environment."""
    program, *options = check
    with_python = program != "ruff" and os.name != "nt"
    return [*([str(PYTHON)] if with_python else []), str(PROGRAMS / program), *options]


def build_site(arguments: Sequence[str]) -> int:
    """Build the site; a link that leads nowhere, or a page that nothing leads to, is an error."""
    command = [str(PYTHON), "-m", "mkdocs", "build", "--strict", *arguments]
    status = subprocess.run(command, cwd=ROOT, env=clean_environment(), check=False).returncode
    if not status:
        print(f"the site: {ROOT / 'build' / 'site' / 'index.html'}")
    return status


def install(kind: str) -> None:
    """Bring `.venv` to what the lock file says, unless it is there already."""
    if is_installed(kind):
        return
    with only_one():
        if is_installed(kind):
            return
        free_mb = shutil.disk_usage(ROOT).free // 2**20
        if free_mb < NEEDED_MB[kind]:
            fail(
                f"the disk of {ROOT} has {free_mb} MB left; the installation needs {NEEDED_MB[kind]} MB"
            )
        make_environment()
        say(f"installing into {VENV} (once; a minute or two)")
        pip(
            "install", "--no-deps", "--require-hashes", "--requirement", str(LOCKS[kind])
        )  # the lock is complete
        pip("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
        for done in ("run", "test") if kind == "test" else ("run",):
            stamp(done).write_text(digest(done), encoding="utf-8")


def is_installed(kind: str) -> bool:
    """Whether `.venv` was made here, by this Python, from the present lock file."""
    wanted = digest(kind)
    try:
        return stamp(kind).read_text(encoding="utf-8") == wanted and os.access(PYTHON, os.X_OK)
    except OSError:
        return False


def stamp(kind: str) -> Path:
    """File that says what was installed."""
    return VENV / f"installed-{kind}"


def digest(kind: str) -> str:
    """Identity of an installation: its place, its lock file and `pyproject.toml`."""
    value = hashlib.sha256(str(ROOT).encode())
    for path in (LOCKS[kind], ROOT / "pyproject.toml"):
        try:
            value.update(path.read_bytes())
        except OSError as error:
            fail(f"cannot read {path}: {error.strerror}; the checkout is not complete")
    return value.hexdigest()


def make_environment() -> None:
    """Make `.venv`, anew if it is broken or was made for another place."""
    if PYTHON.exists():
        code = "import sys, pip; sys.exit(sys.version_info < (3, 11) or sys.prefix != sys.argv[1])"
        if is_here() and run([str(PYTHON), "-c", code, str(VENV)]).returncode == 0:
            return
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        fail(
            "this Python cannot make virtual environments. On Debian or Ubuntu: sudo apt install python3-venv"
        )
    say(f"making a virtual environment for Python {sys.version.split()[0]}")
    made = run([sys.executable, "-m", "venv", "--clear", str(VENV)])
    if made.returncode:
        explain("cannot make a virtual environment", made.stdout)


def is_here() -> bool:
    """Whether the programs of `.venv` point into it: they do not after the checkout was moved."""
    try:
        return (
            str(VENV).encode()
            in (PROGRAMS / ("pip.exe" if os.name == "nt" else "pip")).read_bytes()
        )
    except OSError:
        return False


def pip(*arguments: str) -> None:
    """Run pip without a word, unless it fails."""
    done = run(
        [
            str(PYTHON),
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--no-input",
            "--retries",
            "2",
            *arguments,
        ]
    )
    with contextlib.suppress(OSError):
        LOG.write_text(done.stdout, encoding="utf-8")
    if done.returncode:
        explain("cannot install", done.stdout)


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program and keep what it says."""
    return subprocess.run(
        command, cwd=ROOT, env=clean_environment(), check=False, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def clean_environment() -> Mapping[str, str]:
    """The environment without what would mix other installations into this one, or compile every module anew."""
    unwanted = {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIREMENT", "PIP_CONSTRAINT",
                "__PYVENV_LAUNCHER__", "PYTHONDONTWRITEBYTECODE"}  # fmt: skip
    return {name: value for name, value in os.environ.items() if name not in unwanted} | {
        "PIP_USER": "0"
    }


def explain(what: str, output: str) -> NoReturn:
    """End with the cause in one line and the last lines of what a program said."""
    quiet = ("WARNING: The directory", "Ignoring ", "Looking in ")
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith(quiet)]
    for line in lines[-12:]:
        print(f"    {line[:300]}", file=sys.stderr)
    lowered = output.lower()
    if "no space left" in lowered or "disk quota" in lowered:
        fail(
            f"{what}: the disk is full. Free {NEEDED_MB['test']} MB and run the same command again"
        )
    if "do not match the hashes" in lowered:
        fail(
            f"{what}: a package does not have the digest that the lock file names; nothing of it was installed"
        )
    network = ("newconnectionerror", "connectionerror", "name resolution", "network is unreachable", "timed out",
               "no matching distribution", "proxyerror", "ssl")  # fmt: skip
    if any(word in lowered for word in network):
        fail(f"{what}: the package index cannot be reached or lacks a package. Check the network and pip's settings, "
             "then run the same command again")  # fmt: skip
    fail(f"{what}; the lines above say why. After mending that, run the same command again")


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Keep a second start.py waiting while one installs."""
    try:
        import sqlite3
    except ImportError:
        fail("this Python was built without SQLite, which Lakatos needs; install another Python")
    lock = ROOT / ".venv.lock"
    lock.touch()  # names the folder if it cannot be written
    # SQLite's lock exists on every system and ends with its process, however that ends.
    waits = False
    while True:
        try:
            held = sqlite3.connect(str(lock), isolation_level=None, timeout=1)
            held.execute("PRAGMA journal_mode = MEMORY")
            held.execute("BEGIN EXCLUSIVE")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                fail(f"cannot lock {lock}: {error}. Remove it and run the same command again")
        if not waits:
            say("another start.py is installing; waiting for it")
        waits = True
    with contextlib.closing(held):
        yield


def say(text: str) -> None:
    """Tell the person at the terminal what is going on."""
    print(f"start.py: {text} ...", file=sys.stderr, flush=True)


def fail(text: str) -> NoReturn:
    """End the program with one line that says why."""
    sys.exit(f"start.py: {text}.")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print(
            "\nstart.py: interrupted; the same command goes on where it stopped.", file=sys.stderr
        )
        sys.exit(130)
    except OSError as problem:
        if problem.errno in {errno.ENOSPC, errno.EDQUOT}:
            fail(f"the disk is full. Free {NEEDED_MB['test']} MB and run the same command again")
        if problem.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            fail(
                f"cannot write {problem.filename or ROOT}: {problem.strerror}. Use a checkout of your own"
            )
        raise
