"""A Prefect server of one's own: started for a run, ended with it, or found where one runs already."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final

from lakatos import IMPORT_ROOT
from lakatos.traces.files import read_toml
from lakatos.traces.home import cache_home
from lakatos.traces.owner import for_owner
from lakatos.traces.system import require_handing

# -- Prefect and its temporary server --------------------------------------------------------------------------------

QUIET = {
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
}
PRIVATE = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
}
SERVER_SECRET = "PREFECT_SERVER_API_AUTH_STRING"
"""Variable with the credentials that a server requires, as ``user:password``."""


def start_server(
    listener: socket.socket, home: Path, environment: dict[str, str], *, keep: bool = False
) -> subprocess.Popen[bytes]:
    """Start Prefect's server on a listening socket; it writes ``ready`` when it answers, and ends when its input does.

    Args:
        listener: Bound and listening.
        home: Folder of its log, and of its database where ``PREFECT_HOME`` says so.
        environment: Environment of the process.
        keep: Leave ``home`` when it ends.
    """
    require_handing("Prefect's server")
    words = [sys.executable, "-P", "-c", _SERVER, str(IMPORT_ROOT)]
    words += [str(listener.fileno()), str(home), *(["keep"] if keep else [])]
    with open(home / "server.log", "wb", opener=for_owner) as log:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            pass_fds=[listener.fileno()],
            start_new_session=True,
            env={**environment, "PYTHONUNBUFFERED": "1"},
        )


def new_secret() -> str:
    """A user and a random password, as Prefect's server and its clients take them."""
    return f"lakatos:{secrets.token_urlsafe(24)}"


def basic(secret: str) -> tuple[str, str] | None:
    """User and password of a secret, as HTTP clients take them; None where there is no secret."""
    user, _, password = secret.partition(":")
    return (user, password) if secret else None


def closed(address: str, secret: str) -> dict[str, str]:
    """Settings of a server that answers only to who knows the secret, and to no page but its own."""
    pages = [address, address.replace("127.0.0.1", "localhost")]
    return {
        SERVER_SECRET: secret,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": ",".join(dict.fromkeys(pages)),
    }


def lasting_environment(
    home: Path, address: str, secret: str, names: Collection[str] = ()
) -> dict[str, str]:
    """Environment of a server that keeps what it is told, shows its pages and reports to nobody.

    Args:
        home: Folder of its database.
        address: Address at which it will answer, without ``/api``.
        secret: Secret that clients must give; see `new_secret`.
        names: Names by which it may be addressed, beside addresses in numbers and ``localhost``.
    """
    dropped = {"PREFECT_API_URL", "PREFECT_PROFILE"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return (
        kept
        | {**QUIET, **PRIVATE, **closed(address, secret)}
        | {
            _NAMES: ",".join(names),
            "PREFECT_HOME": str(home),
            "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
            "PREFECT_UI_STATIC_DIRECTORY": str(home / "ui"),
            "PREFECT_UI_API_URL": f"{address}/api",
            "PREFECT__SERVER_FINAL": "1",
        }
    )


_NAMES = "LAKATOS_SERVER_NAMES"


def configured_server() -> str | None:
    """Address of the Prefect server that the user has configured, by variable or profile; None without one."""
    if address := os.environ.get("PREFECT_API_URL"):
        return address
    home = Path(os.environ.get("PREFECT_HOME") or os.path.expanduser("~/.prefect"))
    profiles = Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    try:
        stored = read_toml(profiles.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    name = os.environ.get("PREFECT_PROFILE") or stored.get("active")
    address = stored.get("profiles", {}).get(name, {}).get("PREFECT_API_URL")
    return str(address) if address else None


_SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
from lakatos.flows.run.prefect_server import serve_temporary
serve_temporary(int(sys.argv[2]), sys.argv[3], keep=sys.argv[4:] == ["keep"])
"""


def serve_temporary(listener: int, home: str, *, keep: bool = False) -> None:
    """Be Prefect's server, in a process of its own, until told to end or until the parent is gone.

    Args:
        listener: File descriptor of a listening socket.
        home: Folder of Prefect, removed when the parent is gone.
        keep: Leave that folder where it is, with everything in it.
    """

    def watch(parent: IO[bytes]) -> None:
        parent.read()
        if (
            not keep and os.fork() == 0
        ):  # what this process still writes must not outlive the folder
            time.sleep(0.2)
            shutil.rmtree(home, ignore_errors=True)
        os._exit(0)

    os.umask(0o077)  # its database, log and storage are for their owner alone
    threading.Thread(target=watch, args=[sys.stdin.buffer], daemon=True).start()
    own_database = Path(home) / "prefect.db" if os.environ.get("PREFECT_HOME") == home else None
    if own_database and not own_database.exists():
        _copy_database(_empty_database(), own_database)
    for kept in Path(home).glob("prefect.db*"):
        kept.chmod(0o600)
    import uvicorn
    from prefect.server.api.server import create_app

    from lakatos.experiments.participants.web.door import HostGuard

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                if own_database and not keep and not _empty_database().exists():
                    _copy_database(own_database, _empty_database())
                print("ready", flush=True)

    names = list(filter(None, os.environ.get(_NAMES, "").split(",")))
    app = HostGuard(without_docs(create_app()), names, own_pages=True)
    config = uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    Server(config).run(sockets=[socket.socket(fileno=listener)])


DOCS: Final = ("/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json")
"""Pages that Prefect's server shows without its secret: the description of its interface."""


def without_docs(app: Any) -> Any:
    """Prefect's server without the pages that need no secret and that nobody needs here.

    An application that is mounted at the same place, as that of Prefect's own pages is, has them once more.
    """
    app.router.routes = [
        route for route in app.router.routes if getattr(route, "path", "") not in DOCS
    ]
    for route in app.router.routes:
        if getattr(route, "path", None) == "" and hasattr(route.app, "router"):
            without_docs(route.app)
    return app


def _empty_database() -> Path:
    """Place of an empty database with Prefect's tables, because making the tables takes 5 s, half of the start."""
    return cache_home() / "lakatos" / f"prefect-{version('prefect')}.db"


def _copy_database(source: Path, target: Path) -> None:
    """Copy a sound SQLite database; do nothing where that cannot be done, since it only saves time."""
    if not source.is_file():
        return
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            contextlib.closing(sqlite3.connect(source)) as old,
            contextlib.closing(sqlite3.connect(temporary)) as new,
        ):
            if old.execute("pragma quick_check").fetchall() == [("ok",)]:
                old.backup(new)
                new.close()
                temporary.replace(target)
            elif source == _empty_database():
                source.unlink()
    except (OSError, sqlite3.Error):
        with contextlib.suppress(OSError):
            if source == _empty_database():
                source.unlink()
    finally:
        temporary.unlink(missing_ok=True)
