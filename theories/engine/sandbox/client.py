"""Run theory programs in a process that can do nothing but compute.

A `Sandbox` owns a zygote (see `theories.engine.sandbox.zygote`); a `TheorySession` is one child of it with
one theory and one body of stimuli, asked again and again for other parameters. The child has no
files, network, environment or held-out data; what it sends back is read with a deadline, by its
expected length, and believed only as far as it is checked here.
"""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from numpy.typing import NDArray

from lakatos.theories.engine.sandbox.limits import USUAL_LIMITS, SandboxLimits
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.engine.sandbox.plain import NOTE, PlainHost, PlainProcess, check_own
from lakatos.theories.engine.sandbox.process import (
    ChildProcess,
    ZygoteProcess,
    bwrap_command,
    import_roots,
)
from lakatos.theories.engine.sandbox.session import (
    Array,
    StimuliArrays,
    TheoryProcess,
    TheorySession,
    _prepared,
)
from lakatos.theories.engine.sandbox.shared import make_shared
from lakatos.theories.errors import (
    SandboxUnavailableError,
    TheoryResourceError,
)
from lakatos.traces.system import can_isolate

NOTHING_YET = "def choose(parameters, trials, xp): ..."
"""Source in a process before its first composition; see `TheorySession.hold`."""


@dataclass(frozen=True)
class ProtectionLevel:
    """Layers of protection that are active, for the trace."""

    layers: tuple[str, ...]
    landlock_abi: int
    python: str
    numpy: str
    notes: tuple[str, ...] = ()
    """Reasons why layers are missing, where they are known."""


def start_protected(
    prefix: Sequence[str], start: Callable[[Sequence[str]], ZygoteProcess]
) -> tuple[ZygoteProcess, ProtectionLevel]:
    """Start a zygote inside bubblewrap if that works, and find out which layers protect it.

    Args:
        prefix: Command of bubblewrap; empty where it is not wanted or not there.
        start: Starts a zygote, by the command that goes before it.
    """
    zygote: ZygoteProcess | None = None
    outer: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if prefix:
        try:
            zygote = start(prefix)
            outer = ("bwrap", "userns", "netns", "pidns")
        except SandboxUnavailableError as error:
            notes = (f"bwrap: {error}",)
    zygote = zygote or start(())
    hello = zygote.hello
    layers = tuple(dict.fromkeys((*outer, *hello["layers"])))
    return zygote, ProtectionLevel(
        layers, hello["landlock_abi"], hello["python"], hello["numpy"], notes
    )


class Sandbox:
    """Runs theories; starts its zygote when first needed, and again whenever it was lost.

    Args:
        require: Names of layers (see `ProtectionLevel`) without which nothing is run.
        limits: Used where a call names none.
        bwrap: Whether bubblewrap is used where it is found.
        is_own: Whether the package itself would write a text. Only such theories run where the system has no sandbox;
            see `theories.engine.sandbox.plain`.

    Raises:
        SandboxUnavailableError: From every method that runs something, when a required layer is missing.
    """

    module = "lakatos.theories.engine.sandbox.zygote"
    """Module whose ``main`` the zygote runs."""

    def __init__(
        self,
        *,
        require: frozenset[str] = frozenset(),
        limits: SandboxLimits = USUAL_LIMITS,
        bwrap: bool = True,
        is_own: Callable[[str], bool] | None = None,
    ) -> None:
        self.require = frozenset(require)
        self._is_own = is_own
        self._plain: PlainHost | None = None
        self.limits = limits
        self._bwrap = shutil.which("bwrap") if bwrap else None
        self._zygote: ZygoteProcess | None = None
        self._level = ProtectionLevel((), 0, "", "")
        self._lock = threading.RLock()

    def probabilities(
        self,
        source: str,
        parameters: Mapping[str, NDArray[Any]],
        stimuli: Sequence[StimuliArrays],
        *,
        n_options: int = 2,
        limits: SandboxLimits | None = None,
        lint: bool = True,
    ) -> list[Array]:
        """Compute a theory's predictions for each set of stimuli, in a process of its own.

        Args:
            source: Text that defines ``choose(parameters, trials, xp)``.
            parameters: ``(n_draws,)`` for each name.
            stimuli: Sets of arrays with first axis ``n_trials``.
            n_options: Options of each trial.
            limits: Instead of the sandbox's own.
            lint: Whether the text is checked before it runs.

        Returns:
            ``(n_draws, n_trials, n_options)`` probabilities for each set, normalised.

        Raises:
            TheoryError: What was wrong with the theory, by its kind; see `theories.errors`.
        """
        with self.open_session(
            source, stimuli, n_options=n_options, limits=limits, lint=lint
        ) as session:
            return session.probabilities(parameters)

    def open_session(
        self,
        source: str,
        stimuli: Sequence[StimuliArrays],
        *,
        n_options: int = 2,
        limits: SandboxLimits | None = None,
        lint: bool = True,
        walks_apart: bool = True,
    ) -> TheorySession:
        """A process that keeps a theory and its stimuli for repeated calls; arguments as in `probabilities`.

        With ``walks_apart`` False walks share one process, which shows whether the theory keeps what it was told.
        """
        limits = limits or self.limits
        if lint:
            check_source(source, limits.source_bytes)
        elif len(source.encode(errors="surrogatepass")) > limits.source_bytes:
            raise TheoryResourceError(
                f"the source is longer than {limits.source_bytes} bytes; shorten it."
            )
        sets = [_prepared(arrays, index) for index, arrays in enumerate(stimuli)]

        def start(n_bytes: int) -> TheoryProcess:
            with self._lock:
                if not can_isolate():
                    return PlainProcess(self._host(), limits)
                return self._fork(limits, n_bytes)

        if not can_isolate() and not (source == NOTHING_YET and not walks_apart):
            check_own(source, self._is_own)

        return TheorySession(start, source, sets, n_options, limits, walks_apart)

    @property
    def level(self) -> ProtectionLevel:
        """The layers that are active; starts the zygote."""
        with self._lock:
            if not can_isolate():
                self._host()
                return ProtectionLevel(
                    (), 0, platform.python_version(), importlib.metadata.version("numpy"), (NOTE,)
                )
            self._started()
            return self._level

    def close(self) -> None:
        """End the zygote and all sessions. The sandbox starts again if it is used again."""
        with self._lock:
            if self._zygote:
                self._zygote.close()
            if self._plain:
                self._plain.close()
            self._zygote = self._plain = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _host(self) -> PlainHost:
        """The plain processes of this sandbox."""
        if self.require:
            raise SandboxUnavailableError(
                f"theories must run with {', '.join(sorted(self.require))}, and this system has no sandbox at all; use "
                "Linux, or require nothing."
            )
        self._plain = self._plain or PlainHost([str(root) for root in import_roots()])
        return self._plain

    def _started(self) -> ZygoteProcess:
        if not can_isolate():
            raise SandboxUnavailableError(
                f"this needs the sandbox, which exists on Linux only, and this is {sys.platform} (docs/platforms.md)."
            )
        if self._zygote and not self._zygote.alive:
            self.close()
        if not self._zygote:
            self._zygote, self._level = self._start()
        missing = self.require - set(self._level.layers)
        if missing:
            self.close()
            raise SandboxUnavailableError(
                f"theories must run with {', '.join(sorted(missing))}, which this machine does not offer "
                f"(it has {', '.join(self._level.layers)}{'; '.join(('', *self._level.notes))}). "
                "Run `lakatos doctor`, use another machine, or require less."
            )
        return self._zygote

    def _start(self) -> tuple[ZygoteProcess, ProtectionLevel]:
        """A new zygote, inside bubblewrap if that works, and the layers that it reports."""
        prefix = bwrap_command(self._bwrap) if self._bwrap else ()
        return start_protected(prefix, partial(ZygoteProcess, module=self.module))

    def _fork(self, limits: SandboxLimits, first_bytes: int | None = None) -> ChildProcess:
        """A child; with shared memory if it is told how many bytes are sent first."""
        for attempt in (1, 2):
            zygote = self._started()
            try:
                return zygote.fork(
                    limits,
                    None if first_bytes is None else make_shared(first_bytes, limits.output_bytes),
                )
            except SandboxUnavailableError:
                self.close()
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")
