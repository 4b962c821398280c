"""An error that a user can mend is one line that says what was wrong, where, and what to do."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lakatos.flows.commands.ending import run_command
from lakatos.flows.errors import UnusableError
from lakatos.flows.operations.desk import check_public

ROOT = Path(__file__).resolve().parents[3]


def too_large() -> None:
    raise MemoryError("Unable to allocate 1.46 TiB")


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("work", "status", "said"),
    [
        (too_large, 1, "this machine has too little memory (Unable to allocate 1.46 TiB). Use fewer trials"),
        (full, 1, "No space left on device. Free the space or mend the permission"),
        (lambda: Path("no/where.md").write_bytes(b""), 2, "no/where.md: No such file or directory. Name another place"),
        (lambda: os.rename("gone", "there"), 2, "there: No such file or directory. Name another place"),
        (lambda: Path("/").read_bytes(), 2, "/: Is a directory. Name another place, or mend its permission"),
    ],
)  # fmt: skip
def test_errors_of_the_system_end_in_one_line(
    work: Callable[[], object], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_command(work)
    assert ended.value.code == status
    printed = capsys.readouterr().err
    assert printed.startswith(f"lakatos: {said}")
    assert printed.count("\n") == 1
    assert "Errno" not in printed


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", 'https://a.example/"b', "https://a.example/?b=c", "https://a.example/#b",
        "https://user@a.example", "ftp://a.example", "https://", "a.example", "https://a.example:99999",
        "https://a.example:0", "https://[::1", "https://a.example/\nb", "",
    ],
)  # fmt: skip
def test_only_addresses_of_pages_are_given_to_participants(address: str) -> None:
    with pytest.raises(UnusableError, match="is no address of a page; give one such as https"):
        check_public(address)


@pytest.mark.parametrize(
    "address", ["https://a.example", "http://127.0.0.1:8000", "https://a.example:8443/study/run-1"]
)
def test_addresses_of_pages_are_taken(address: str) -> None:
    check_public(address)


HALF_DONE = """
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from lakatos.flows.commands.ending import run_command
def work():
    try:
        Path("half").write_text("responses")
        os.kill(os.getpid(), getattr(signal, sys.argv[2]))
        time.sleep(60)
    finally:
        Path("half").unlink()
run_command(work)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_command_that_is_told_to_end_removes_what_is_half_done(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HALF_DONE, str(ROOT), name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-getattr(signal, name), "")
    assert not list(tmp_path.iterdir())


def test_after_a_command_signals_act_as_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    seen: list[object] = []
    run_command(lambda: seen.append(signal.getsignal(signal.SIGTERM)))
    assert seen[0] != before
    assert signal.getsignal(signal.SIGTERM) == before
    elsewhere = threading.Thread(target=run_command, args=[lambda: seen.append(1)])
    elsewhere.start()
    elsewhere.join()
    assert seen[-1] == 1
