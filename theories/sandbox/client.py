"""Run theory programs in a process that can do nothing but compute.

A `Sandbox` owns a zygote (see `theories.sandbox.zygote`); a `Session` is one child of it with one theory and one body
of stimuli, asked again and again for other parameters. The child has no files, network, environment or held-out data;
what it sends back is read with a deadline, by its expected length, and believed only as far as it is checked here.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn

import numpy as np
import scipy
from numpy.typing import NDArray

from theories.errors import (
    SandboxUnavailableError,
    TheoryError,
    TheoryProbabilityError,
    TheoryRaisedError,
    TheoryResourceError,
    TheoryShapeError,
    TheoryTimeoutError,
)
from theories.sandbox import wire
from theories.sandbox.lint import check_source

Array = NDArray[np.float64]
StimuliArrays = Mapping[str, NDArray[Any]]
"""One set of stimuli: arrays whose first axis is ``n_trials``."""

START_SECONDS = 60.0
ANSWER_SECONDS = 10.0
"""How long the zygote, which is not under a theory's control, may take to start and to answer."""
TOLERANCE = 1e-6
"""How far probabilities may be from summing to one."""
PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Limits:
    """What one call of a theory may use."""

    wall_seconds: float = 10.0
    cpu_seconds: float = 10.0
    memory_bytes: int = 2 * 2**30
    """Address space beyond that of Python and NumPy."""
    output_bytes: int = 512 * 2**20
    """Probabilities of one call, all sets of stimuli together."""
    source_bytes: int = 65536


@dataclass(frozen=True)
class Level:
    """Which layers of protection are active, for the trace."""

    layers: tuple[str, ...]
    landlock_abi: int
    python: str
    numpy: str
    notes: tuple[str, ...] = ()
    """Why a layer is missing, where that is known."""


class Sandbox:
    """Runs theories; starts its zygote when first needed, and again whenever it was lost.

    Args:
        require: Names of layers (see `Level`) without which nothing is run.
        limits: Used where a call names none.
        bwrap: With False bubblewrap is not used even where it is found.

    Raises:
        SandboxUnavailableError: From every method that runs something, when a required layer is missing.
    """

    def __init__(
        self, *, require: frozenset[str] = frozenset(), limits: Limits = Limits(), bwrap: bool = True
    ) -> None:
        self.require = frozenset(require)
        self.limits = limits
        self._bwrap = shutil.which("bwrap") if bwrap else None
        self._zygote: _Zygote | None = None
        self._lock = threading.RLock()

    def probabilities(
        self,
        source: str,
        parameters: Mapping[str, NDArray[Any]],
        stimuli: Sequence[StimuliArrays],
        *,
        n_options: int = 2,
        limits: Limits | None = None,
        lint: bool = True,
    ) -> list[Array]:
        """What a theory predicts for each set of stimuli, in a process of its own.

        Args:
            source: Text that defines ``choose(parameters, trials, xp)``.
            parameters: ``(n_draws,)`` for each name.
            stimuli: Sets of arrays with first axis ``n_trials``.
            n_options: Options of each trial.
            limits: Instead of the sandbox's own.
            lint: With False the text is not looked at before it runs.

        Returns:
            ``(n_draws, n_trials, n_options)`` probabilities for each set, normalised.

        Raises:
            TheoryError: What was wrong with the theory, by its kind; see `theories.errors`.
        """
        with self.open_session(source, stimuli, n_options=n_options, limits=limits, lint=lint) as session:
            return session.probabilities(parameters)

    def open_session(
        self,
        source: str,
        stimuli: Sequence[StimuliArrays],
        *,
        n_options: int = 2,
        limits: Limits | None = None,
        lint: bool = True,
    ) -> Session:
        """A process that keeps a theory and its stimuli for repeated calls; arguments as in `probabilities`."""
        limits = limits or self.limits
        if lint:
            check_source(source, limits.source_bytes)
        elif len(source.encode(errors="surrogatepass")) > limits.source_bytes:
            raise TheoryResourceError(f"the source is longer than {limits.source_bytes} bytes; shorten it.")
        sets = [_prepared(arrays, index) for index, arrays in enumerate(stimuli)]
        with self._lock:
            child = self._fork(limits)
        return Session(child, source, sets, n_options, limits)

    @property
    def level(self) -> Level:
        """The layers that are active; starts the zygote."""
        with self._lock:
            return self._started().level

    def close(self) -> None:
        """End the zygote and all sessions. The sandbox starts again if it is used again."""
        with self._lock:
            if self._zygote:
                self._zygote.close()
            self._zygote = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _started(self) -> _Zygote:
        if self._zygote and not self._zygote.alive:
            self.close()
        if not self._zygote:
            notes: tuple[str, ...] = ()
            if self._bwrap:
                try:
                    self._zygote = _Zygote(_bwrap_command(self._bwrap), ("bwrap", "userns", "netns", "pidns"))
                except SandboxUnavailableError as error:
                    notes = (f"bwrap: {error}",)
            if not self._zygote:
                self._zygote = _Zygote([], (), notes)
        missing = self.require - set(self._zygote.level.layers)
        if missing:
            level = self._zygote.level
            self.close()
            raise SandboxUnavailableError(
                f"theories must run with {', '.join(sorted(missing))}, which this machine does not offer (it has "
                f"{', '.join(level.layers)}{'; ' if level.notes else ''}{'; '.join(level.notes)}). "
                "Run `lakatos doctor`, use another machine, or require less."
            )
        return self._zygote

    def _fork(self, limits: Limits) -> _Child:
        for attempt in (1, 2):
            zygote = self._started()
            try:
                return zygote.fork(limits)
            except SandboxUnavailableError:
                self.close()
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")


class Session:
    """One theory on one body of stimuli, for repeated calls. Made by `Sandbox.open_session`; close it after use."""

    def __init__(
        self, child: _Child, source: str, stimuli: list[dict[str, NDArray[Any]]], n_options: int, limits: Limits
    ) -> None:
        self.broadcasts = True
        """False once a call had to be made one draw at a time."""
        self._child = child
        self._limits = limits
        self._n_options = n_options
        self._n_trials = [len(next(iter(arrays.values()))) for arrays in stimuli]
        self._lock = threading.Lock()
        header = {"source": source, "n_options": n_options, "stimuli": [wire.describe(arrays) for arrays in stimuli]}
        payload = b"".join(wire.payload_of(arrays) for arrays in stimuli)
        try:
            self._ask(header, payload, [])
        except BaseException:
            self.close()
            raise

    def probabilities(self, parameters: Mapping[str, NDArray[Any]]) -> list[Array]:
        """Predictions for ``(n_draws,)`` values of each parameter; see `Sandbox.probabilities`."""
        values = {name: np.asarray(array) for name, array in parameters.items()} or {"": np.zeros(1)}
        shapes = {array.shape for array in values.values()}
        if len(shapes) > 1 or any(len(shape) != 1 or not shape[0] for shape in shapes):
            raise ValueError(
                f"parameters have shapes {[array.shape for array in values.values()]}; give each one value per draw, (n_draws,)."
            )
        ((n_draws,),) = shapes
        for name, array in values.items():
            _check_dtype(name, array)
        sizes = [(n_draws, n_trials, self._n_options) for n_trials in self._n_trials]
        expected = 8 * sum(map(math.prod, sizes))
        if expected > self._limits.output_bytes:
            raise TheoryResourceError(
                f"{n_draws} draws on {sum(self._n_trials)} trials give {expected} bytes of probabilities, more than "
                f"`Limits.output_bytes` = {self._limits.output_bytes}. Ask for fewer draws at once."
            )
        answers = [np.empty(size) for size in sizes]
        with self._lock:
            flags = self._ask({"parameters": wire.describe(values)}, wire.payload_of(values), answers)
        self.broadcasts = self.broadcasts and flags.get("broadcasts") is not False
        for index, answer in enumerate(answers):
            _check_probabilities(answer, index, values)
        return answers

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _ask(self, header: Mapping[str, Any], payload: bytes, answers: list[Array]) -> dict[str, Any]:
        """One request and its answer, whose payload fills ``answers``."""
        child = self._child
        child.start_clock(self._limits)
        child.write(wire.opening(header, len(payload)) + payload)
        opening = bytearray(wire.HEADER.size)
        child.read(opening)
        magic, status, json_bytes, payload_bytes = wire.HEADER.unpack(opening)
        expected = sum(answer.nbytes for answer in answers) if status == wire.OK else 0
        if magic != wire.MAGIC or json_bytes > wire.MAX_JSON_BYTES or payload_bytes != expected:
            self._reject()
        text = bytearray(json_bytes)
        child.read(text)
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            self._reject()
        if not isinstance(said, dict):
            self._reject()
        if status != wire.OK:
            raise _error_from(said)
        for answer in answers:
            if answer.size:
                child.read(answer.data.cast("B"))
        return said

    def _reject(self) -> NoReturn:
        """End a process that writes to the pipe itself."""
        self.close()
        raise TheoryResourceError(
            "what came back is no answer of the expected form; the theory wrote to the pipe. Return the probabilities only."
        )


@dataclass(eq=False)
class _Child:
    """A child process as the laboratory sees it: two pipes with a deadline."""

    zygote: _Zygote
    pid: int
    requests: int
    answers: int
    limits: Limits
    closed: bool = False
    deadline: float = math.inf
    processor_start: int = field(default=0)

    def start_clock(self, limits: Limits) -> None:
        if self.closed:
            raise TheoryResourceError("this session has ended; open another one.")
        self.limits = limits
        self.deadline = time.monotonic() + limits.wall_seconds
        self.processor_start = -1  # asked for at the first wait that is long enough to matter

    def write(self, data: bytes) -> None:
        if select.select([self.answers], [], [], 0)[0]:
            self._died("it answered before it was asked")
        view = memoryview(data)
        while view:
            self._wait(self.requests, select.POLLOUT)
            try:
                view = view[os.write(self.requests, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self._died("it stopped listening")

    def read(self, buffer: bytearray | memoryview) -> None:
        view = memoryview(buffer)
        while view:
            self._wait(self.answers, select.POLLIN)
            got = os.readv(self.answers, [view])
            if not got:
                self._died("it stopped before it answered")
            view = view[got:]
