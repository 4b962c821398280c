"""Servers that tests start for themselves, from what the distribution or PyPI gives."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def postgres_programs() -> Path | None:
    """Folder of an installed PostgreSQL's server programs, the newest one."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    if found:
        return found[-1].parent
    named = shutil.which("initdb")
    return Path(named).parent if named and shutil.which("postgres") else None


class PostgresServer:
    """A real server on a Unix socket, whose data go with it; ``stop`` and ``start`` as often as wanted."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self.folder = programs, folder
        # The server refuses to run as root.
        self._user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
        if self._user is not None:
            os.chown(folder, self._user, -1)
        self._run(
            "initdb",
            "-D",
            self.data,
            "-U",
            "lakatos",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
        )

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    @property
    def url(self) -> str:
        return f"postgresql://lakatos@/postgres?host={self.folder}"

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c max_connections=30"
        self._run(
            "pg_ctl", "-D", self.data, "-w", "-l", str(self.folder / "log"), "-o", options, "start"
        )

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def address(self) -> str:
        """An address for a run that no other test uses."""
        return f"{self.url}#{uuid.uuid4().hex}"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._programs / program), *arguments],
            user=self._user, cwd=self.folder, env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip


@contextmanager
def postgres_server(programs: Path) -> Iterator[PostgresServer]:
    """A running server, until the context ends."""
    # Below /tmp itself: folders of pytest cannot be entered by another user, and names of sockets must be short.
    folder = Path(tempfile.mkdtemp(prefix="lakatos-postgres-"))
    try:
        server = PostgresServer(programs, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
