"""Locks, links, owners and processes where the system lacks what Linux has."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakatos.traces import system
from lakatos.traces.errors import PlatformError
from lakatos.traces.system import FileLock, HeldLockError

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "domains", "experiments", "flows", "judges", "language_models", "memory", "theories", "traces", "lakatos",
)  # fmt: skip
UNIX_MODULES = {"crypt", "fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
UNIX_NAMES = {
    "os": {
        "O_DIRECTORY", "O_NOFOLLOW", "chown", "fork", "getegid", "geteuid", "getgid", "getloadavg", "getuid", "killpg",
        "link", "memfd_create", "mkfifo", "nice", "pread", "pwrite", "readv", "sched_getaffinity", "setsid", "statvfs",
        "symlink", "sysconf", "uname", "waitpid", "writev",
    },
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "alarm", "setitimer"},
    "select": {"epoll", "poll"},
}  # fmt: skip
SANDBOX = "theories/engine/sandbox/"
ALLOWED = {
    "traces/system.py": "this is the one module",
    "language_models/serving/server.py": "a server of models, which `require_groups` refuses first",
    "flows/run/prefect_server.py": "a server of Prefect, which `require_handing` refuses first",
}


def product_files() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_what_only_some_systems_have_is_used_in_one_module(package: str) -> None:
    found = []
    for path in product_files():
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(f"{package}/") or place in ALLOWED or place.startswith(SANDBOX):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found += [(place, item.name) for item in node.names if item.name in UNIX_MODULES]
            elif isinstance(node, ast.ImportFrom) and node.module in UNIX_MODULES:
                found.append((place, node.module))
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.attr in UNIX_NAMES.get(node.value.id, ())
            ):
                found.append((place, f"{node.value.id}.{node.attr}"))
    assert found == []


def test_files_name_their_encoding() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("ruff"), "check", "--preview", "--select", "PLW1514", "."],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    for path in product_files():  # ruff looks only at what it takes for a path
        found = re.findall(
            r"\.(?:read|write)_text\((?:errors=[^,)]*)?\)", path.read_text(encoding="utf-8")
        )
        assert not found, path


@pytest.fixture(params=["flock", "SQLite"])
def locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of lock, each in this process and in the programs that `held_by_another` starts."""
    if request.param == "SQLite":
        monkeypatch.setattr(system, "fcntl", None)
    return str(request.param)


def held_by_another(path: Path, locks: str) -> subprocess.Popen[str]:
    """Another process that holds a lock until it is killed."""
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        + ("sys.modules['fcntl'] = None\n" if locks == "SQLite" else "")
        + "from lakatos.traces.system import FileLock\n"
        "from pathlib import Path\n"
        "lock = FileLock(Path(sys.argv[1]))\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_excludes_other_processes_until_its_holder_is_killed(
    tmp_path: Path, locks: str
) -> None:
    path = tmp_path / "journal.sqlite.lock"
    with held_by_another(path, locks) as holder:
        with pytest.raises(HeldLockError, match=f"^{holder.pid}$"):
            FileLock(path)
        assert system.is_locked(path)
        assert system.holder_of(path) == str(holder.pid)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert system.holder_of(path) == ""
        assert not system.is_locked(path)
        with FileLock(path):
            assert system.note_of(path) == str(os.getpid())


def test_a_lock_excludes_a_second_one_in_its_own_process(tmp_path: Path, locks: str) -> None:
    path = tmp_path / "a.lock"
    with FileLock(path):
        with pytest.raises(HeldLockError):
            FileLock(path)
        assert system.is_named(path)
    assert not system.is_named(path)
    FileLock(path).release()
    assert all(item.name.endswith(".lock") for item in tmp_path.iterdir())


def test_who_waits_for_a_lock_gets_it_when_it_is_free(tmp_path: Path, locks: str) -> None:
    path = tmp_path / "a.lock"
    with held_by_another(path, locks) as holder:
        waits = subprocess.Popen(
            [sys.executable, "-c", "import sys\n"
             f"sys.path.insert(0, {str(ROOT)!r})\n"
             + ("sys.modules['fcntl'] = None\n" if locks == "SQLite" else "")
             + "from lakatos.traces.system import FileLock\nfrom pathlib import Path\n"
             "FileLock(Path(sys.argv[1]), wait=True).release()\nprint('had it')", str(path)],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with pytest.raises(subprocess.TimeoutExpired):
            waits.wait(1.5)
        holder.kill()
        assert waits.communicate(timeout=60)[0] == "had it\n"


def test_a_look_at_a_lock_that_is_taken_meanwhile_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "fcntl", None)
    path = tmp_path / "a.lock"
    FileLock(path).release()
    looking = system._take_apart(path, 0.1)
    import threading

    threading.Timer(0.05, looking.close).start()
    FileLock(path).release()


def test_a_file_is_given_a_free_name_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    first, second, name = tmp_path / "1", tmp_path / "2", tmp_path / "name"
    first.write_bytes(b"first")
    second.write_bytes(b"second")
    system.give_name(first, name)
    with pytest.raises(FileExistsError):
        system.give_name(second, name)
    assert name.read_bytes() == b"first"


def test_a_symbolic_link_that_may_not_be_made_is_refused_and_nothing_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr(os, "symlink", refuse)
    (tmp_path / "origin").write_bytes(b"responses")
    with pytest.raises(PlatformError, match="developer mode of Windows"):
        system.link_file(tmp_path / "origin", tmp_path / "place")
    assert not (tmp_path / "place").exists()


def test_servers_are_refused_where_the_system_cannot_carry_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system.require_handing("Prefect's server")
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(PlatformError, match=r"^Prefect's server cannot be started on Windows"):
        system.require_handing("Prefect's server")
    monkeypatch.delattr(os, "killpg")
    with pytest.raises(PlatformError, match=r"^a model server needs process groups"):
        system.require_groups("a model server")


def test_without_owners_permissions_of_files_are_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "heads.key"
    key.write_bytes(b"")
    key.chmod(0o666)
    assert system.is_open_to_others(key)
    monkeypatch.setattr(system, "HAS_OWNERS", False)
    assert not system.is_open_to_others(key)
    assert system.is_private(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    assert not system.is_private(tmp_path / "link")


def test_the_page_on_platforms_lists_what_refuses() -> None:
    page = re.sub(r"\s+", " ", (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8"))
    for words in ("Prefect's server", "model server", "symbolic links", "rule induction"):
        assert words in page
