"""Takes away from every Python program that is started what only some systems have, as the environment asks.

Python imports a module of this name when it starts. ``windows`` takes away the modules and functions that Python
documents as available on Unix only, permission to make symbolic links, and ``/proc``. ``macos`` takes away ``/proc``
and what Linux alone has. What the standard library needs on this machine to start a process stays, and so do paths. So
it is shown that Lakatos needs nothing of what is missing, not that it runs on those systems.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.abc
import io
import os
import sys
from typing import Any

VARIABLE = "LAKATOS_TEST_WITHOUT"
MODULES = {
    "windows": ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"),
    "macos": (),
}
FUNCTIONS = {
    "windows": (
        "chown", "chroot", "fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg",
        "getpgid", "getpgrp", "getsid", "getuid", "killpg", "lchown", "memfd_create", "mkfifo", "mknod", "nice",
        "pread", "pwrite", "readv", "sched_getaffinity", "sched_setaffinity", "setpgid", "setsid", "statvfs", "sysconf",
        "wait", "writev", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC",
    ),
    "macos": ("memfd_create", "sched_getaffinity", "sched_setaffinity", "pidfd_open", "O_PATH"),
}  # fmt: skip
SIGNALS = (
    "SIGALRM",
    "SIGCHLD",
    "SIGCONT",
    "SIGHUP",
    "SIGKILL",
    "SIGQUIT",
    "SIGSTOP",
    "SIGUSR1",
    "SIGUSR2",
)
STARTED_EARLIER = (
    "asyncio", "concurrent.futures.thread", "ctypes.util", "ctypes", "getpass", "http.client", "logging.handlers",
    "multiprocessing.connection", "multiprocessing.context", "multiprocessing.util", "platform", "shutil", "socket",
    "sqlite3", "ssl", "subprocess", "tempfile", "urllib.request", "uuid", "webbrowser", "zipfile", "zoneinfo",
    "selectors",
)  # fmt: skip
"""Modules of the standard library that choose their code by the system when they are imported."""


class MissingModules(importlib.abc.MetaPathFinder):
    """Says of some modules that there are none."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def take_away(system: str) -> None:
    """Take away what ``system`` lacks, in this process."""
    for name in STARTED_EARLIER:
        __import__(name)
    with contextlib.suppress(ImportError):  # a package that chooses in the same way
        __import__("platformdirs")
    import select
    import signal
    import subprocess

    for name in MODULES[system]:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, MissingModules(MODULES[system]))
    for name in FUNCTIONS[system]:
        if hasattr(os, name):
            delattr(os, name)
    hide("/proc", "/sys", "/dev/shm")
    if system == "macos":
        with contextlib.suppress(ImportError):  # it would look for a library of macOS
            __import__("llvmlite.binding")
        sys.platform = "darwin"
        return
    for name in SIGNALS:
        if hasattr(signal, name):
            delattr(signal, name)
    for name in ("poll", "epoll"):
        if hasattr(select, name):
            delattr(select, name)
    subprocess.Popen.kill = subprocess.Popen.terminate  # as on Windows
    os.symlink = refuse_link  # type: ignore[assignment]
    os.kill = only_end(os.kill)  # type: ignore[assignment]


def refuse_link(*arguments: Any, **options: Any) -> None:
    """As Windows answers a user without its developer mode."""
    raise OSError(1314, "A required privilege is not held by the client")


def only_end(kill: Any) -> Any:
    """``os.kill`` of Windows, which ends a process whatever the number: looking by signal 0 is an error."""

    def end(process: int, number: int) -> None:
        if number == 0:
            raise AssertionError("os.kill(process, 0) interrupts programs on Windows")
        kill(process, number)

    return end


def hide(*folders: str) -> None:
    """Have files below some folders be missing."""
    opened, looked = io.open, os.stat

    def is_hidden(path: Any) -> bool:
        try:
            return os.fspath(path).startswith(tuple(f"{folder}/" for folder in folders))
        except TypeError:
            return False

    def open_other(file: Any, *arguments: Any, **options: Any) -> Any:
        if is_hidden(file):
            raise FileNotFoundError(2, "No such file or directory", str(file))
        return opened(file, *arguments, **options)

    def stat_other(path: Any, **options: Any) -> Any:
        if is_hidden(path):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return looked(path, **options)

    io.open = builtins.open = open_other  # type: ignore[assignment]
    os.stat = stat_other  # type: ignore[assignment]


if os.environ.get(VARIABLE):
    take_away(os.environ[VARIABLE])
