"""Set everything up in ``.venv`` beside this file, then run Lakatos; needs Python 3.11 or newer and nothing else.

python3 start.py demo              install, then run the demonstration
python3 start.py test              install, then check everything
python3 start.py lakatos ARGUMENTS install, then run any command
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
FOLDER = ROOT / ".venv"
SCRIPTS = FOLDER / ("Scripts" if os.name == "nt" else "bin")
LOCKS = {"run": "requirements.lock", "test": "requirements-test.lock"}
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports",),
    ("python", "-m", "pytest", "-q", "-n", "2", "-m", "not long"),
)


def main(arguments: list[str]) -> int:
    """Install what the task needs, run it, and return its exit status."""
    if sys.version_info < (3, 11):  # noqa: UP036  (this file is what an older Python would meet first)
        return stop(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}. Try: python3.11 start.py")
    task = arguments[0] if arguments else ""
    if task not in ("demo", "test", "lakatos"):
        print(__doc__)
        return 0 if task in ("", "-h", "--help") else 2
    problem = install(LOCKS["test" if task == "test" else "run"])
    if problem:
        return stop(problem)
    if task == "test":
        return check(arguments[1:])
    own = arguments[1:] if task == "lakatos" else arguments
    return subprocess.call([SCRIPTS / "lakatos", *own])


def check(extra: list[str]) -> int:
    """Style, types, layers and tests, one after another; stops at the first that fails."""
    for command in CHECKS:
        full = [str(SCRIPTS / command[0]), *command[1:], *(extra if "pytest" in command else [])]
        print("$", " ".join([command[0], *full[1:]]), flush=True)
        status = subprocess.call(full, cwd=ROOT)
        if status:
            return status
    return 0


def install(lock: str) -> str:
    """Install a lock file once; return what went wrong in a line, or nothing."""
    text = (ROOT / lock).read_bytes() + (ROOT / "pyproject.toml").read_bytes() + sys.version.encode()
    stamp = FOLDER / f"installed-{lock}"
    wanted = hashlib.sha256(text + str(ROOT).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return ""
    print(f"installing {lock} into {FOLDER} ...", flush=True)
    try:
        if not (SCRIPTS / "python").exists():
            venv.create(FOLDER, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return (
            f"cannot make a virtual environment in {FOLDER}: {error}. On Debian or Ubuntu, "
            "`apt install python3-venv` adds what is missing."
        )
    pip = [str(SCRIPTS / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([*pip, "--require-hashes", "-r", lock], [*pip, "--no-deps", "--no-build-isolation", "-e", "."]):
        done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
            return f"installation failed: {' '.join(lines[-2:])}. Is there a network, and space on the disk?"
    stamp.write_text(wanted)
    return ""


def stop(message: str) -> int:
    """Say what is wrong in one line."""
    print(f"start.py: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
