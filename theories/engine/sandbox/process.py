"""The processes behind the sandbox as the laboratory sees them: the zygote, and a child for each theory.

Both are read with a deadline and never believed: a child that is late, or gone, or talks out of turn is killed.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import scipy

from lakatos import IMPORT_ROOT
from lakatos.theories.engine.sandbox import wire
from lakatos.theories.engine.sandbox.limits import (
    MOST_THREADS,
    NO_EXECUTABLE_MEMORY,
    THREAD_LIMIT,
    SandboxLimits,
)
from lakatos.theories.engine.sandbox.shared import SharedPieces, is_shared
from lakatos.theories.errors import SandboxUnavailableError, TheoryResourceError, TheoryTimeoutError

START_SECONDS = 60.0
ANSWER_SECONDS = 10.0
"""Seconds that the zygote, which is not under a theory's control, may take to start and to answer."""
PROCESSOR_CHECK_SECONDS = 0.25
"""Seconds after which the processor time of a child that keeps us waiting is looked at again."""
THREAD_CHECK_SECONDS = 0.02
"""The same where threads may be started and only looking finds out how many there are."""
PIPE_BYTES = 2**20
AT_ONCE = 65536
"""Bytes read from a pipe in one go."""


class ChildProcess:
    """A child process as the laboratory sees it: two pipes, read and written with a deadline, and shared memory."""

    def __init__(
        self,
        zygote: ZygoteProcess,
        pid: int,
        requests: int,
        answers: int,
        limits: SandboxLimits,
        shared: SharedPieces | None = None,
    ) -> None:
        self._zygote, self._pid, self._requests, self._answers = zygote, pid, requests, answers
        self.limits, self._shared = limits, shared
        # of the next call; may be replaced between two
        self._came = memoryview(b"")
        self._closed = False
        self._used_s = 0.0
        """Processor time that it was last known to have used."""
        self._too_many_threads = False
        self._calls = 1.0
        self._deadline = math.inf
        self._processor_deadline: float | None = None
        os.set_blocking(requests, False)

    @property
    def closed(self) -> bool:
        """Whether it was ended."""
        return self._closed

    def start_clock(self, calls: float = 1.0) -> None:
        """Begin a call; what the theory wrote without being asked ends it.

        Args:
            calls: How many calls' time this one may take.
        """
        if self._closed:
            raise TheoryResourceError(
                "this session has ended, because of an earlier failure or `close`; open another."
            )
        self._calls = calls
        self._deadline = time.monotonic() + calls * self.limits.wall_seconds
        self._processor_deadline = None
        if self._came or ready(self._answers, select.POLLIN, 0.0):
            self._died("it wrote to the pipe before it was asked, or ended")

    def send(self, header: Mapping[str, Any], payload: bytes) -> None:
        """Send a request, through shared memory where it fits."""
        opening = wire.opening(header, len(payload))
        if self._shared and self._shared.send(payload):
            self.write(opening)
        elif len(payload) < PIPE_BYTES:
            self.write(opening + payload)
        else:
            self.write(opening)
            self.write(payload)

    def keep(self, n_bytes: int) -> None:
        """Keep the first payload, of ``n_bytes``, as it is from now on."""
        if self._shared:
            self._shared.keep(n_bytes)

    def payload_reader(self, n_bytes: int) -> Callable[[int], memoryview]:
        """Return a reader that gives an answer's payload of ``n_bytes`` piece by piece.

        The child may still be able to change a piece: copy it before looking at it.
        """
        shared, start = self._shared, 0
        if not shared or not is_shared(n_bytes, shared.answer_bytes):

            def from_pipe(size: int) -> memoryview:
                piece = bytearray(size)
                self.read(piece)
                return memoryview(piece)

            return from_pipe

        def from_memory(size: int) -> memoryview:
            nonlocal start
            start += size
            return shared.answer(start - size, size)

        return from_memory

    def write(self, data: bytes) -> None:
        """Write all of ``data`` into the child's pipe."""
        view = memoryview(data)
        while view:
            self._wait(self._requests, select.POLLOUT)
            try:
                view = view[os.write(self._requests, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self._died("it stopped listening")

    def read(self, buffer: bytearray | memoryview) -> None:
        """Fill ``buffer`` with what comes next."""
        view = memoryview(buffer)
        while view:
            if self._came:
                got = min(len(self._came), len(view))
                view[:got] = self._came[:got]
                self._came = self._came[got:]
            else:
                self._wait(self._answers, select.POLLIN)
                if len(view) < AT_ONCE:  # most answers come whole, in one piece
                    self._came = memoryview(os.read(self._answers, AT_ONCE))
                    got = 0 if self._came else -1
                else:
                    got = os.readv(self._answers, [view]) or -1
                if got < 0:
                    self._died("it stopped before it answered")
            view = view[got:]

    def close(self) -> None:
        """Kill the child; what it leaves behind is cleared away while the laboratory goes on."""
        self._end(b"drop")

    def _end(self, command: bytes) -> int | None:
        """Kill the child by a command to the zygote; its answer, or None if that is not known."""
        if self._closed:
            return None
        self._closed = True
        os.close(self._requests)
        os.close(self._answers)
        self._shared = None
        try:
            return self._zygote.ask(command, self._pid)
        except SandboxUnavailableError:
            return None

    def _wait(self, descriptor: int, event: int) -> None:
        """Return when the pipe is ready; end the child when a limit is reached first."""
        pause = THREAD_CHECK_SECONDS if self._zygote.may_thread else PROCESSOR_CHECK_SECONDS
        while not ready(descriptor, event, min(self._deadline - time.monotonic(), pause)):
            used = self.check_threads()
            wall_s, cpu_s = (
                self._calls * item for item in (self.limits.wall_seconds, self.limits.cpu_seconds)
            )
            if time.monotonic() >= self._deadline:
                self.close()
                raise TheoryTimeoutError(
                    f"the theory took longer than {wall_s:g} s. Compute with whole arrays instead of "
                    "loops, or raise `Limits.wall_seconds`."
                )
            if self._processor_deadline is None:
                self._processor_deadline = used + cpu_s
            elif used > self._processor_deadline:
                self.close()
                raise TheoryTimeoutError(
                    f"the theory used more than {cpu_s:g} s of processor time. Compute with whole arrays "
                    "instead of loops, or allow more: --seconds, or `seconds` under [theories] in a study."
                )

    def processor_seconds(self) -> float:
        """Processor time that the child has used, as last known where it was ended; 0 where nobody can tell."""
        if not self._closed:
            with contextlib.suppress(SandboxUnavailableError):
                answer = self._zygote.ask(b"time", self._pid)
                self._too_many_threads = answer == wire.TOO_MANY_THREADS
                if not self._too_many_threads:
                    self._used_s = max(answer / 1e9, 0.0)
        return self._used_s

    def check_threads(self) -> float:
        """Processor time as by `processor_seconds`; end a child that has started more threads than sampling needs.

        Raises:
            TheoryResourceError: It has more than `MOST_THREADS`.
        """
        used = self.processor_seconds()
        if self._too_many_threads:
            self.close()
            raise TheoryResourceError(
                f"the theory started more than {MOST_THREADS} threads, and its process was ended. "
                "Compute with whole arrays; the sampler starts the threads that it needs."
            )
        return used

    def _died(self, how: str) -> NoReturn:
        status = self._end(b"reap")
        if status is None or status < 0:
            detail = "the process it ran in is gone"
        elif os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            detail = f"its process was ended by {name}, which is mostly a lack of memory or a call into C"
        else:
            detail = f"its process ended with exit code {os.WEXITSTATUS(status)}"
        raise TheoryResourceError(
            f"the theory gave no answer: {how}, and {detail}. Return the probabilities, use less memory "
            f"(`Limits.memory_bytes` is {self.limits.memory_bytes}), and leave the process alone."
        )


class ZygoteProcess:
    """The process that children are forked from, and the socket it is commanded by.

    Args:
        prefix: Command that starts it inside something else.
        module: Module whose ``main`` it runs.
        start_seconds: How long it may take to start.

    Raises:
        SandboxUnavailableError: It does not start.
    """

    def __init__(
        self,
        prefix: Sequence[str] = (),
        *,
        module: str = "lakatos.theories.engine.sandbox.zygote",
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._lock = threading.RLock()
        self._control, theirs = socket.socketpair()
        code = f"from {module} import main; main()"
        # Not `-I`: it would ignore PYTHONHASHSEED, and theories that walk over sets must answer alike in every
        # process. The environment is exactly this one, so that there is nothing else for Python to heed.
        environment = {
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            **{name: os.environ[name] for name in ("OPENBLAS_CORETYPE",) if name in os.environ},
            "PYTHONHASHSEED": "0",
            # The C library otherwise gives every array freed back to the system, which clears its pages for the next.
            "MALLOC_MMAP_THRESHOLD_": str(2**25),
            "MALLOC_TRIM_THRESHOLD_": str(2**28),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(map(str, import_roots())),
        }
        # Its working folder is empty and, once it has started, deleted, so that nothing can be put there either.
        with (
            theirs,
            tempfile.TemporaryFile() as complaints,
            tempfile.TemporaryDirectory(prefix="lakatos-") as empty,
        ):
            try:
                self._process = subprocess.Popen(
                    [*prefix, sys.executable, "-s", "-P", "-c", code],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=complaints.fileno(),
                    cwd=empty,
                    env=environment,
                    start_new_session=True,
                )
                theirs.close()
                deadline = time.monotonic() + start_seconds
                (length,) = struct.unpack("<I", self._receive(4, deadline))
                self.hello: dict[str, Any] = json.loads(self._receive(length, deadline))
                free = NO_EXECUTABLE_MEMORY not in self.hello["layers"]
                self.may_thread = free and THREAD_LIMIT not in self.hello["layers"]
            except (OSError, SandboxUnavailableError) as error:
                complaints.seek(0)
                text = complaints.read(2000).decode(errors="replace").strip()
                self.close()
                raise SandboxUnavailableError(
                    f"the sandbox does not start: {text or error}"
                ) from None

    @property
    def alive(self) -> bool:
        """Whether it still runs and has nothing unasked to say."""
        with self._lock:
            return self._process.poll() is None and not ready(
                self._control.fileno(), select.POLLIN, 0.0
            )

    def fork(self, limits: SandboxLimits, shared: SharedPieces | None = None) -> ChildProcess:
        """A child that has given up its rights and waits for its theory; it takes ``shared`` over."""
        import fcntl

        inner_requests, requests = os.pipe()
        answers, inner_answers = os.pipe()
        for pipe in (requests, answers):
            with contextlib.suppress(
                OSError, AttributeError
            ):  # large arrays take fewer turns; refused to some users
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        try:
            if shared:
                descriptors = (inner_requests, inner_answers, *shared.descriptors)
                pid = self.ask(b"fork", limits.memory_bytes + shared.n_bytes, descriptors)
            else:
                pid = self.ask(b"fork", limits.memory_bytes, (inner_requests, inner_answers))
        except SandboxUnavailableError:
            os.close(requests)
            os.close(answers)
            raise
        finally:
            os.close(inner_requests)
            os.close(inner_answers)
            if shared:
                shared.close_descriptors()
        child = ChildProcess(self, pid, requests, answers, limits, shared)
        if not ready(answers, select.POLLIN, ANSWER_SECONDS) or os.read(answers, 1) != wire.READY:
            child.close()
            raise SandboxUnavailableError(
                "a child could not give up its rights as the first one did; nothing was run."
            )
        return child

    def ask(self, name: bytes, argument: int, descriptors: tuple[int, ...] = ()) -> int:
        """One command and its answer; a zygote that does not answer is ended."""
        with self._lock:
            try:
                command = [wire.COMMAND.pack(name, argument)]
                if descriptors:
                    socket.send_fds(self._control, command, descriptors)
                else:
                    self._control.sendall(command[0])
                (answer,) = wire.REPLY.unpack(
                    self._receive(wire.REPLY.size, time.monotonic() + ANSWER_SECONDS)
                )
            except (OSError, SandboxUnavailableError) as error:
                self.close()
                raise SandboxUnavailableError(
                    f"the sandbox process does not answer: {error}"
                ) from None
        return int(answer)

    def close(self) -> None:
        """End the process; its children go with it."""
        with self._lock:
            self._control.close()
            process = getattr(self, "_process", None)
            if process:
                try:
                    process.wait(2.0)  # it ends its children and itself when the socket closes
                except subprocess.TimeoutExpired:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def _receive(self, n_bytes: int, deadline: float) -> bytes:
        data = b""
        while len(data) < n_bytes:
            if not ready(self._control.fileno(), select.POLLIN, deadline - time.monotonic()):
                raise SandboxUnavailableError("no answer in time")
            piece = self._control.recv(n_bytes - len(data))
            if not piece:
                raise SandboxUnavailableError("it ended")
            data += piece
        return data


def ready(descriptor: int, event: int, seconds: float) -> bool:
    """Whether a descriptor becomes ready within the time; a closed other end counts."""
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def import_roots() -> list[Path]:
    """Folders that the zygote imports from."""
    installed = (Path(str(module.__file__)).resolve().parents[1] for module in (np, scipy))
    return list(dict.fromkeys([IMPORT_ROOT, *installed]))


def bwrap_command(bwrap: str, scratch_bytes: int = 0) -> list[str]:
    """Bubblewrap with Python's own folders read-only, and nothing else of this machine.

    Args:
        bwrap: Its path.
        scratch_bytes: Size of a working folder in memory that can be written; 0 for an empty, read-only one.
    """
    command = [
        bwrap,
        "--unshare-all",
        "--cap-drop",
        "ALL",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--ro-bind",
        "/usr",
        "/usr",
    ]
    for folder in ("/bin", "/lib", "/lib32", "/lib64", "/sbin"):
        if os.path.islink(folder):
            command += ["--symlink", os.readlink(folder), folder]
        else:
            command += ["--ro-bind-try", folder, folder]
    roots = {
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sys.base_exec_prefix),
        Path(os.path.realpath(sys.executable)),
    }
    roots |= {*import_roots()[1:]}
    for path in (Path("/nix/store"), Path("/etc/ld.so.cache"), *sorted(roots)):
        if not path.is_relative_to("/usr"):
            command += ["--ro-bind-try", str(path), str(path)]
    # Of the laboratory only what the sandbox itself imports, where a wheel has it; in a checkout links lie there.
    for part in ("__init__.py", "theories/__init__.py", "theories/engine/sandbox"):
        place = IMPORT_ROOT / "lakatos" / part
        command += ["--ro-bind-try", str(place.resolve()), str(place)]
    scratch = ["--size", str(scratch_bytes), "--tmpfs"] if scratch_bytes else ["--dir"]
    return [*command, *scratch, "/empty", "--chdir", "/empty", "--remount-ro", "/", "--"]
