"""Everything that differs between operating systems, in one place: locks, links, owners, signals and processes.

Linux offers all of it. macOS lacks ``/proc``; Windows lacks ``fcntl``, ``fork``, owners and permissions of files, most
signals and, for ordinary users, symbolic links. Each function states what it does where the facility is missing. What a
system cannot do at all raises `PlatformError`, whose message says so in one sentence. Only the sandbox, which needs
Linux anyway, uses the system directly (`lakatos.theories.engine.sandbox`).

Locks use ``flock`` and, where Python has no ``fcntl``, the lock of a SQLite database beside the lock file. Both end
with the process that holds them, also when it is killed, and both exclude a second holder in the same process. The
package ``filelock`` was considered: its locks empty the file whenever someone tries to take them, and so would erase
the number of the process that holds the journal.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lakatos.traces.errors import PlatformError

if TYPE_CHECKING:
    import sqlite3

try:
    fcntl: Any = importlib.import_module("fcntl")
except ImportError:
    fcntl = None

HAS_OWNERS: Final = hasattr(os, "geteuid")
"""Whether files have an owner and permissions that keep other users out. On Windows they belong to the profile."""
HAS_SIGNALS: Final = hasattr(signal, "SIGKILL")
"""Whether a process can be signalled. Windows ends it at once instead, whatever the signal."""
PROCESS_LOCKS: Final = Path("/proc/locks")
"""File in which Linux lists the locks that are held."""
_PATIENCE_S: Final = 0.25
"""Seconds that taking a SQLite lock waits, so that `is_locked`, which holds it for a moment, keeps nobody out."""
_MOST_NOTE: Final = 32


class HeldLockError(Exception):
    """Another holder has the lock; its message is what that holder wrote into the file, mostly its process number."""


class FileLock:
    """A lock that ends with the process that holds it, on a file that names this process; free it with `release`.

    The file stays when the lock is given back: removing it would let two holders lock two files of one name.
    """

    def __init__(self, path: Path, *, wait: bool = False, mode: int = 0o644) -> None:
        """Take the lock.

        Args:
            path: Path of the lock file, which is made.
            wait: Wait until the lock is free.
            mode: Permissions of a new file.

        Raises:
            HeldLockError: Another process, or another lock in this one, holds it.
            OSError: The file cannot be made, or the disk has no locks.
        """
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, mode)
        self._apart: sqlite3.Connection | None = None
        try:
            if fcntl is None:
                self._apart = _take_apart(path, None if wait else _PATIENCE_S)
            else:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, str(os.getpid()).encode())
        except OSError as error:
            os.close(self._descriptor)
            if self._apart is not None:
                self._apart.close()
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise HeldLockError(note_of(path)) from error
            raise

    def release(self) -> None:
        """Give the lock back; the file no longer names a process."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        if self._apart is not None:
            self._apart.close()

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


def _apart(path: Path) -> Path:
    """The database whose lock stands for the lock of a file; its name ends in ``.lock``, so that no backup holds it."""
    return path.with_name(f"{path.name.removesuffix('.lock')}.held.lock")


def _take_apart(path: Path, patience_s: float | None) -> sqlite3.Connection:
    """Hold SQLite's own lock on an empty database beside ``path``; raises `BlockingIOError` if it is held."""
    import sqlite3  # only here, since every command loads this module

    while True:
        connection = sqlite3.connect(
            _apart(path), isolation_level=None, check_same_thread=False, timeout=patience_s or 1.0
        )
        try:
            connection.execute("PRAGMA journal_mode = MEMORY")  # nothing is written, so no file
            connection.execute("BEGIN EXCLUSIVE")
            return connection
        except sqlite3.Error as error:
            connection.close()
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code != sqlite3.SQLITE_BUSY:
                raise OSError(errno.EIO, str(error), str(path)) from error
            if patience_s is not None:
                raise BlockingIOError(errno.EAGAIN, "it is locked", str(path)) from error


def note_of(path: Path) -> str:
    """Read what the holder of a lock wrote into its file, mostly its process's number; empty without a holder."""
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_NOTE).decode(errors="replace").strip()
    except OSError:
        return ""


def holder_of(path: Path) -> str:
    """Read what the present holder of a lock wrote into its file; empty if the lock is free.

    It looks by taking the lock for a moment, together with others who look, so a holder who comes then is refused.
    """
    if fcntl is None:
        return note_of(path) if is_locked(path) else ""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return note_of(path)
    else:
        return ""
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a lock file is held now, found out without disturbing whoever takes it."""
    if fcntl is None:
        if not _apart(path).exists():
            return False
        try:
            _take_apart(path, _PATIENCE_S).close()
        except OSError:
            return True
        return False
    try:
        node = path.stat()
    except OSError:
        return False  # the lock itself still keeps a second holder out
    try:
        held = PROCESS_LOCKS.read_text(encoding="utf-8")
    except OSError:
        return is_named(path)
    place = f"{os.major(node.st_dev):02x}:{os.minor(node.st_dev):02x}:{node.st_ino}"
    return any(place in line.split() for line in held.splitlines())


def is_named(path: Path) -> bool:
    """Whether the process that a lock file names runs; where processes cannot be looked up, whether it is locked."""
    holder = note_of(path)
    if not holder.isdecimal() or int(holder) <= 0:
        return False
    if not HAS_SIGNALS:  # there `os.kill` would end the process
        return is_locked(path)
    try:
        os.kill(int(holder), 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


@contextlib.contextmanager
def turn(path: Path) -> Iterator[None]:
    """Wait until no other process holds the file; some network disks have no locks, and then nobody waits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            held.enter_context(FileLock(path, wait=True))
        yield


def sync_folder(folder: Path) -> None:
    """Make new names in ``folder`` survive a power cut; Windows cannot open folders, and records names by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def give_name(made: Path, path: Path) -> None:
    """Give a finished file a second name unless that name is taken; ``made`` may be gone afterwards.

    Without hard links, as on some disks, the file is moved while a lock keeps other processes of Lakatos out.

    Raises:
        FileExistsError: The name is taken, and nothing was changed.
    """
    try:
        os.link(made, path)
        return
    except FileExistsError:
        raise
    except (OSError, AttributeError, NotImplementedError):
        pass
    with turn(path.with_name(f"{path.name}.lock")):
        if path.exists():
            raise FileExistsError(errno.EEXIST, "it exists", str(path))
        os.replace(made, path)


def link_file(origin: Path, place: Path) -> None:
    """Make ``place`` a symbolic link to a file. Nothing replaces it: a copy would outlive responses that are erased.

    Raises:
        PlatformError: This user may make none, as on Windows without its developer mode.
    """
    try:
        place.symlink_to(origin)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError) as error:
        raise PlatformError(
            f"cannot make the symbolic link {place}: {error}; choose a disk that has links, or switch on the developer "
            "mode of Windows."
        ) from error


def user_name() -> str:
    """Return what distinguishes users of a machine in a folder that they share."""
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def is_private(folder: Path) -> bool:
    """Whether a folder, which is no link, belongs to this user and no other may read it.

    Where files have no owners, folders of the user's profile, those for temporary files included, count as private.
    """
    found = folder.lstat()
    if not HAS_OWNERS:
        return folder.is_dir() and not folder.is_symlink()
    return found.st_uid == os.getuid() and found.st_mode & 0o170077 == 0o040000


def is_open_to_others(path: Path) -> bool:
    """Whether the permissions of a file let other users read it."""
    return HAS_OWNERS and bool(path.stat().st_mode & 0o077)


def ask_to_end(process: int) -> None:
    """Ask a process to end in order; Windows ends it at once, which a journal survives."""
    os.kill(process, signal.SIGTERM)


def ending_signals() -> tuple[signal.Signals, ...]:
    """Signals beside Ctrl-C that ask a program to end, as far as this system has them."""
    names = ("SIGTERM", "SIGHUP")
    return tuple(getattr(signal, name) for name in names if hasattr(signal, name))


def end_with_parent() -> None:
    """End this process when the one that started it dies, where the system can do that."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGTERM)


def require_handing(what: str) -> None:
    """Raise where a listening socket cannot be handed to a process that is started.

    Args:
        what: Needs it, as the subject of the message.

    Raises:
        PlatformError: This system is Windows.
    """
    if sys.platform == "win32":
        raise PlatformError(
            f"{what} cannot be started on Windows, where a program is handed no socket; use WSL2 (docs/platforms.md)."
        )


def require_groups(what: str) -> None:
    """Raise where a program cannot be ended together with everything that it started.

    Args:
        what: Needs it, as the subject of the message.

    Raises:
        PlatformError: This system has no process groups.
    """
    if not hasattr(os, "killpg"):
        raise PlatformError(
            f"{what} needs process groups, which this system lacks; use Linux, or WSL2 on Windows (docs/platforms.md)."
        )


def let_console_replace() -> None:
    """Print a question mark for what the encoding of the console lacks, such as cp1252, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors="replace")


def can_isolate() -> bool:
    """Whether theories of unknown origin can be run here: the layers of the sandbox exist on Linux only."""
    return sys.platform == "linux" and hasattr(os, "fork") and fcntl is not None
