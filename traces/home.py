"""The user's home, also where it cannot be written, and libraries that write into it when they are imported.

ArviZ, Matplotlib, Numba and Prefect keep caches in the home. An account without a home, or a home on a read-only disk,
must not stop a campaign, and two commands that start at the same moment must not trip over each other's files.
"""

import contextlib
import importlib
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from lakatos.traces.system import is_private, turn, user_name

KEY_FILE = "heads.key"
CACHES = {"MPLCONFIGDIR": "matplotlib", "NUMBA_CACHE_DIR": "numba"}
"""Variables that name a library's cache, and its folder where the home cannot be written."""


def user_home() -> Path | None:
    """The user's home, or a folder in the virtual environment where the home cannot be written; None without both."""
    home = Path(os.path.expanduser("~"))
    if is_writable(home):
        return home
    substitute = Path(sys.prefix) / "home"
    return substitute if sys.prefix != sys.base_prefix and is_made(substitute) else None


def home() -> Path:
    """The laboratory's home on this machine."""
    named = os.environ.get("LAKATOS_HOME")
    return Path(named) if named else (user_home() or Path.home()) / ".lakatos"


def cache_home() -> Path:
    """Return the folder in which libraries and the laboratory keep what can be made again; it can be written.

    ``XDG_CACHE_HOME``, or ``.cache`` in the user's home, or a private folder for temporary files.
    """
    named = os.environ.get("XDG_CACHE_HOME")
    if named and is_made(Path(named)):
        return Path(named)
    home = user_home()
    wanted = home / ".cache" if home else None
    if wanted and is_made(wanted):
        return wanted
    private = Path(tempfile.gettempdir()) / f"lakatos-{user_name()}"
    with contextlib.suppress(OSError):
        private.mkdir(mode=0o700, exist_ok=True)
        if is_private(private):
            return private
    return Path(tempfile.mkdtemp(prefix="lakatos-"))


def is_writable(folder: Path) -> bool:
    """Whether there is such a folder, and files can be made in it."""
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def is_made(folder: Path) -> bool:
    """Make a folder that only its user can read, if there is none; say whether it can be written."""
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return is_writable(folder)


def settle_caches() -> Path:
    """Name another cache to all libraries, and to programs started from here, if the user's cannot be written.

    Returns:
        The folder of caches.
    """
    home, cache = Path(os.path.expanduser("~")), cache_home()
    usual = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    if cache != usual or not is_writable(home):
        os.environ["XDG_CACHE_HOME"] = str(cache)
        for variable, name in CACHES.items():
            os.environ.setdefault(variable, str(cache / name))
    return cache


def import_alone(name: str) -> ModuleType:
    """Import a library while no other process of this user does.

    ArviZ 0.23 writes a file under a fixed temporary name on its first import of a day; of two processes that do so at
    once, one would find its file gone.
    """
    with turn(settle_caches() / "lakatos" / "import.lock"):
        return importlib.import_module(name)
