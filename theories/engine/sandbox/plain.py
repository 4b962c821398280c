"""The package's own theories in plain processes, where the layers of the sandbox do not exist: on macOS and Windows.

A plain process can do whatever its user can. So it is given only what the grammar of a domain writes, the published
theories among it, and everything else is refused. Calls have a time limit, and no limit of memory. A process serves one
theory after another, because starting one takes half a second.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from lakatos.theories.engine.sandbox import wire
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.errors import (
    ForeignTheoryError,
    SandboxUnavailableError,
    TheoryResourceError,
    TheoryTimeoutError,
)

START_SECONDS = 120.0
"""Seconds that a process may take to import NumPy; a virus scanner that sees it for the first time takes most of it."""
ANSWER_SECONDS = 10.0
"""Seconds that an idle process may take to answer."""
AT_ONCE = 2**20
"""Bytes read from a pipe in one go."""
NOTE = "plain processes: this system has no sandbox, so only theories that the package itself writes are run"
"""Statement about the protection."""


def check_own(source: str, is_own: Callable[[str], bool] | None) -> None:
    """Raise unless the package itself would write this theory.

    Args:
        source: Text of the theory.
        is_own: Knows the texts of the package; None knows none.

    Raises:
        ForeignTheoryError: It would not.
    """
    if is_own is None or not is_own(source):
        raise ForeignTheoryError(
            f"a theory that the package did not write runs only in the sandbox, which needs Linux, and this is "
            f"{sys.platform}: use WSL2, a container or a Linux machine (docs/platforms.md). Published theories and "
            "compositions of their mechanisms run here."
        )


class PlainWorker:
    """A running process and what came from it; a thread reads, since pipes of Windows have no deadline."""

    def __init__(self, roots: list[str]) -> None:
        """Start it.

        Args:
            roots: Folders that it imports from.

        Raises:
            SandboxUnavailableError: It does not start.
        """
        environment = os.environ | {
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, [*roots, os.environ.get("PYTHONPATH")])),
        }
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        code = "from lakatos.theories.engine.sandbox.plain_child import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env=environment,
            bufsize=0,
        )
        self._pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._rest = memoryview(b"")
        threading.Thread(target=self._follow, name="plain process", daemon=True).start()
        ready = bytearray(1)
        if (
            not self.read(memoryview(ready), time.monotonic() + START_SECONDS)
            or ready != wire.READY
        ):
            text = self._last_words()
            self.end()
            raise SandboxUnavailableError(f"a process for theories does not start: {text}")

    @property
    def is_alive(self) -> bool:
        """Whether it runs and has nothing unread to say."""
        return self._process.poll() is None and not self._rest and self._pieces.empty()

    def write(self, data: bytes) -> bool:
        """Hand all of ``data`` over; False if it stopped listening."""
        assert self._process.stdin is not None
        view = memoryview(data)
        try:
            while view:
                view = view[self._process.stdin.write(view[: 2**24]) or 0 :]
        except OSError:
            return False
        return True

    def read(self, view: memoryview, deadline: float) -> bool:
        """Fill ``view`` with what comes next; False if the process ended before.

        Raises:
            TimeoutError: It did not come by the deadline, a time of `time.monotonic`.
        """
        while view:
            if not self._rest:
                try:
                    piece = self._pieces.get(timeout=max(deadline - time.monotonic(), 0.0))
                except queue.Empty:
                    raise TimeoutError from None
                if not piece:
                    self._pieces.put(b"")  # whoever reads again learns it as well
                    return False
                self._rest = memoryview(piece)
            got = min(len(self._rest), len(view))
            view[:got] = self._rest[:got]
            self._rest, view = self._rest[got:], view[got:]
        return True

    def let_go(self) -> bool:
        """Make the process forget its theory; return False if it does not answer."""
        answer = bytearray(len(wire.opening({}, 0)))
        try:
            return self.write(wire.opening({"end": True}, 0)) and self.read(
                memoryview(answer), time.monotonic() + ANSWER_SECONDS
            )
        except TimeoutError:
            return False

    def end(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._complaints):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _follow(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            while piece := answers.read(AT_ONCE):
                self._pieces.put(piece)
        self._pieces.put(b"")

    def _last_words(self) -> str:
        self._complaints.seek(0)
        text = self._complaints.read(2000).decode(errors="replace").strip()
        return text.splitlines()[-1] if text else "it left no message"


class PlainHost:
    """Plain processes that are kept for the next theory."""

    def __init__(self, roots: list[str]) -> None:
        """Start nothing yet; ``roots`` are the folders that processes import from."""
        self._roots = roots
        self._idle: list[PlainWorker] = []
        self._lock = threading.Lock()

    def take(self) -> PlainWorker:
        """A process that holds no theory."""
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                return PlainWorker(self._roots)
            if worker.is_alive:
                return worker
            worker.end()

    def give_back(self, worker: PlainWorker) -> None:
        """Keep a process whose theory is no longer needed."""
        if not worker.is_alive or not worker.let_go():
            worker.end()
            return
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        """End all processes that are kept."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()


class PlainProcess:
    """One theory in a plain process, with the methods of `theories.engine.sandbox.process.ChildProcess`."""

    def __init__(self, host: PlainHost, limits: SandboxLimits) -> None:
        """Take a process of ``host`` for calls within ``limits``, of which only the time is kept."""
        self.limits = limits
        self._host = host
        self._worker: PlainWorker | None = host.take()
        self._deadline = time.monotonic()
        self._calls = 1.0
        self._begun = 0.0
        self._used_s = 0.0
        self._unread: int | None = 0
        """Bytes of the answer that were not read yet; None before its beginning was read."""

    @property
    def closed(self) -> bool:
        """Whether it was ended."""
        return self._worker is None

    def start_clock(self, calls: float = 1.0) -> None:
        """Begin a call, which may take as long as ``calls`` calls."""
        if self._worker is None:
            raise TheoryResourceError(
                "this session has ended, because of an earlier failure or `close`; open another."
            )
        self._calls, self._begun = calls, time.monotonic()
        self._deadline = self._begun + calls * self.limits.wall_seconds

    def send(self, header: Mapping[str, Any], payload: bytes) -> None:
        """Send a request."""
        self._unread = None
        if self._worker is None or not self._worker.write(
            wire.opening(header, len(payload)) + payload
        ):
            self._died()

    def keep(self, n_bytes: int) -> None:
        """Do nothing: the process has its own copy of the first payload."""

    def payload_reader(self, n_bytes: int) -> Callable[[int], memoryview]:
        """Return a reader that gives an answer's payload of ``n_bytes`` piece by piece."""

        def piece_of(size: int) -> memoryview:
            piece = bytearray(size)
            self.read(piece)
            return memoryview(piece)

        return piece_of

    def read(self, buffer: bytearray | memoryview) -> None:
        """Fill ``buffer`` with what comes next."""
        if self._worker is None:
            self._died()
        try:
            came = self._worker.read(memoryview(buffer), self._deadline)
        except TimeoutError:
            self.close()
            raise TheoryTimeoutError(
                f"the theory took longer than {self._calls * self.limits.wall_seconds:g} s. Compute with whole arrays "
                "instead of loops, or raise `Limits.wall_seconds`."
            ) from None
        if not came:
            self._died()
        if self._unread is None:
            _, _, json_bytes, payload_bytes = wire.HEADER.unpack(buffer)
            self._unread = json_bytes + payload_bytes
        else:
            self._unread -= len(buffer)
        if not self._unread:
            self._used_s += time.monotonic() - self._begun

    def processor_seconds(self) -> float:
        """Time that it has spent on calls, by the clock."""
        return self._used_s

    def close(self) -> None:
        """Give the process back, or end it where an answer is still to come."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if self._unread == 0:
            self._host.give_back(worker)
        else:
            worker.end()

    def _died(self) -> NoReturn:
        self.close()
        raise TheoryResourceError(
            "the theory gave no answer: its process ended, mostly by a lack of memory. Use less memory, and leave the "
            "process alone."
        )
