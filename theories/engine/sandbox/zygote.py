"""The process that theories are forked from: NumPy is loaded, nothing of the laboratory is in its memory.

It is started fresh by `sandbox.client`, never forked from the laboratory, and does three things: fork a child
on a pair of pipes, tell a child's processor time, and kill a child and clear it away. Standard input is the control
socket; when that closes, everything ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

import numpy as np

from lakatos.theories.engine.sandbox import layers, wire
from lakatos.theories.engine.sandbox.limits import MOST_THREADS
from lakatos.theories.engine.sandbox.serving import ANSWERS, serve
from lakatos.theories.engine.sandbox.shared import map_shared

LEFT_OUT = ("numpy.f2py", "concurrent.futures")
"""Modules that SciPy has NumPy load, and no theory may import: its reader of Fortran, and the threads of its tests.
They bring loggers, parsers and tables of characters: a tenth of the memory that a fork copies, and work in each
child."""


Serve = Callable[[memoryview, memoryview], None]
"""Function that a child calls with the memory that it shares with the laboratory; see `serve`."""
GiveUp = Callable[[int], tuple[str, ...]]
"""`theories.engine.sandbox.layers.give_up_rights` as a zygote applies it."""


def main() -> NoReturn:
    """Load what theories use and serve the control socket until it closes."""
    address_space = prepare()
    command(layers.enter_namespaces(), address_space, serve)


def command(
    namespaces: Sequence[str],
    address_space: int,
    serve: Serve,
    *,
    compiling: bool = False,
    is_root: bool = False,
) -> NoReturn:
    """Serve the control socket until it closes: say which layers there are, then fork, time and end children.

    Args:
        namespaces: Layers that this process has entered.
        address_space: Address space of this process, in bytes.
        serve: What a child does once it has given up its rights.
        compiling: Whether children keep threads and executable memory.
        is_root: Whether the laboratory runs as root.
    """
    control = socket.socket(fileno=os.dup(0))
    diverted = not compiling and layers.divert_clocks()
    give_up = functools.partial(
        layers.give_up_rights, compiling=compiling, diverted=diverted, is_root=is_root
    )
    layers.prepare_rights(compiling)
    warnings.simplefilter("ignore")  # of theories: nobody would read them
    expected = probe(address_space, give_up)
    hello = json.dumps({
        "layers": [*namespaces, *expected],
        "landlock_abi": layers.landlock_abi(),
        "python": sys.version.split()[0],
        "numpy": np.__version__,
    }).encode()  # fmt: skip
    control.sendall(struct.pack("<I", len(hello)) + hello)
    children: set[int] = set()
    dropped: set[int] = set()
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, wire.COMMAND.size, 4)
        dropped = {pid for pid in dropped if os.waitpid(pid, os.WNOHANG)[0] == 0}
        if len(data) < wire.COMMAND.size:
            for pid in children:
                kill(pid)
            os._exit(0)
        name, argument = wire.COMMAND.unpack(data)
        if name == b"fork":
            pid = os.fork()
            if pid == 0:
                child(descriptors, address_space + argument, expected, serve, give_up)
            children.add(pid)
            answer = pid
        elif argument not in children:
            answer = -1
        elif name == b"time":
            too_many = threads_of(argument) > MOST_THREADS
            answer = wire.TOO_MANY_THREADS if too_many else processor_nanoseconds(argument)
        else:
            kill(argument)
            children.discard(argument)
            if name == b"drop":  # the kernel takes its time over a process's memory
                dropped.add(argument)
                answer = 0
            else:
                answer = os.waitpid(argument, 0)[1]
        for descriptor in descriptors:
            os.close(descriptor)
        control.sendall(wire.REPLY.pack(answer))


def prepare() -> int:
    """Load what theories use, and return the address space in bytes that this takes."""
    with left_out(LEFT_OUT):
        for module in wire.IMPORTS:
            importlib.import_module(module)
    for part in (
        "fft",
        "linalg",
        "ma",
        "polynomial",
        "random",
    ):  # NumPy would load them on first use
        importlib.import_module(f"numpy.{part}")
    np.random.seed(0)  # noqa: NPY002
    np.ones((2, 2)) @ np.ones((2, 2))
    np.linalg.svd(np.eye(2))
    repr(np.ones(3)), np.array2string(np.ones(3))
    with contextlib.suppress(ValueError):  # how an error is written down needs modules, too
        raise ValueError("é")
    gc.collect()
    gc.freeze()  # children then share these pages instead of copying them
    return layers.address_space_bytes()


@contextlib.contextmanager
def left_out(names: Sequence[str]) -> Iterator[None]:
    """Have imports find empty modules of these names, unless they are loaded already; afterwards they can be loaded."""
    missing = [name for name in names if name not in sys.modules]
    for name in missing:
        package, _, own = name.rpartition(".")
        sys.modules[name] = empty = types.ModuleType(name)
        setattr(importlib.import_module(package), own, empty)
    try:
        yield
    finally:
        for name in missing:
            package, _, own = name.rpartition(".")
            delattr(sys.modules[package], own)
            del sys.modules[name]


def processor_nanoseconds(pid: int) -> int:
    """Processor time that a process has used, or -1 where the kernel does not tell."""
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)  # clock_getcpuclockid(3)
    except (OSError, OverflowError):
        return -1


def threads_of(pid: int) -> int:
    """Threads of a process, or 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[17])
    except (OSError, ValueError, IndexError):
        return 0


def kill(pid: int) -> None:
    """End a child and what it may have started."""
    for send in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            send(pid, signal.SIGKILL)


def probe(address_space: int, give_up: GiveUp) -> tuple[str, ...]:
    """The layers that a child gets here, found out by a child that tries them all."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, json.dumps(give_up(address_space + 2**30)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    text = os.read(reader, 4096)
    os.close(reader)
    os.waitpid(pid, 0)
    return tuple(json.loads(text or b"[]"))


def child(
    descriptors: Sequence[int],
    address_space: int,
    expected: tuple[str, ...],
    serve: Serve,
    give_up: GiveUp,
) -> NoReturn:
    """Give up all rights, then read one theory and answer for it until the requests end.

    Args:
        descriptors: Pipes of requests and answers, and the memory shared with the laboratory, if there is any.
        address_space: Largest address space, in bytes.
        expected: Layers without which nothing is run.
        serve: As in `command`.
        give_up: Applies the layers for so many bytes of address space, and names them.
    """
    try:
        os.setsid()
        sent, room = map_shared(descriptors[2:])
        null = os.open(os.devnull, os.O_RDWR)
        sources = [
            fcntl.fcntl(descriptor, fcntl.F_DUPFD, 32)
            for descriptor in (null, null, null, *descriptors[:2])
        ]
        for descriptor, source in enumerate(
            sources
        ):  # copied above 32 first, so that none overwrites another
            os.dup2(source, descriptor)
        os.closerange(ANSWERS + 1, 256)  # the zygote never holds more than a handful
        forget_number()
        if give_up(address_space) == expected:
            os.write(ANSWERS, wire.READY)
            serve(sent, room)
    finally:
        os._exit(70)


def forget_number() -> None:
    """Take away what Python noted of this process's number, which tells how many theories ran before."""
    with contextlib.suppress(AttributeError):
        threading.main_thread()._native_id = 0  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
