"""The laboratory's side of the inference profile: hand a theory over to be traced and sampled, and doubt the answer.

See `theories.engine.sandbox.inference` for what happens inside and what that profile allows.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.engine.sandbox import wire
from lakatos.theories.engine.sandbox.client import ProtectionLevel, Sandbox, start_protected
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.engine.sandbox.process import ChildProcess, ZygoteProcess, bwrap_command
from lakatos.theories.engine.sandbox.session import TheorySession
from lakatos.theories.errors import TheoryResourceError
from lakatos.theories.language.prior import Prior

Array = NDArray[np.float64]
LIMITS = SandboxLimits(
    wall_seconds=3600.0, cpu_seconds=900.0, memory_bytes=4 * 2**30, output_bytes=2**30
)
"""Limits of every sampling; tracing and compiling may use less processor time, `COMPILING_SECONDS`."""
COMPILING_SECONDS = 300.0
"""Most processor time for tracing and compiling. Theories of choices take 17 to 37 s, diffusions by their series 80 s,
and twice that on a busy machine. A walk through 35 steps of time (a diffusion of bounds that fall) had not ended after
260 s, and is sampled without gradients in less."""
START_SECONDS = 600.0
"""PyMC is loaded and a small model compiled: some 15 s of processor time."""
SCRATCH_BYTES = 16 * 2**20


@dataclass(frozen=True)
class NutsSample:
    """Result of NUTS; finite and of the right shape, otherwise as the theory's process claims."""

    offset: Array
    """``(n_chains, n_draws, n_units, n_parameters)``."""
    center: Array
    """``(n_chains, n_draws, n_parameters)``; of no parameters where no unit is ruled by a population."""
    spread: Array
    """Spread of the population, of the shape of ``center``, above 0."""
    statistics: Mapping[str, Array]
    """``(n_chains, n_draws)`` each."""
    seconds: float


class TracerSandbox(Sandbox):
    """A sandbox in which PyMC is loaded and machine code may be made. It starts slowly; keep it."""

    def __init__(
        self,
        *,
        require: frozenset[str] = frozenset(),
        limits: SandboxLimits = LIMITS,
        bwrap: bool = True,
    ) -> None:
        super().__init__(require=require, limits=limits, bwrap=bwrap)

    def compile(
        self,
        source: str,
        priors: Mapping[str, Prior],
        stimuli: Sequence[Mapping[str, NDArray[Any]]],
        counts: Sequence[Array],
        shared: Sequence[bool],
        values: Array,
        *,
        tiny: float,
        centering: Array | None = None,
        units: Sequence[NDArray[Any] | None] = (),
        n_units: Sequence[int] = (),
        limits: SandboxLimits | None = None,
        lint: bool = True,
    ) -> CompiledSession:
        """A process that has traced a theory, or says why it could not.

        Args:
            source: Text of the theory.
            priors: Declared priors.
            stimuli: Arrays of each experiment.
            counts: ``(n_units, n_trials, n_options)`` responses of each experiment, or ``(n_cells, n_options)``.
            shared: Whether for each unit the declared prior rules it, instead of a population.
            values: ``(n_units, n_parameters)`` example values, at which the theory runs while it is traced.
            tiny: Smallest probability taken at face value.
            centering: ``(n_units, n_parameters)`` how far each unit's offsets are centered, from 0 to 1; 0 by default.
            units: The unit of each cell ``(n_cells,)``, among all units, where an experiment comes as cells.
            n_units: Number of units of each experiment; needed where one comes as cells.
            limits: Instead of the tracer's own.
            lint: Whether the text is checked before it runs.

        Raises:
            SandboxUnavailableError: A required layer is missing, or forbids compilation.
            TheoryTimeoutError, TheoryResourceError: The theory hung or ended its process.
        """
        limits = limits or self.limits
        if lint:
            check_source(source, limits.source_bytes)
        compiling = replace(limits, cpu_seconds=min(limits.cpu_seconds, COMPILING_SECONDS))
        with self._lock:
            child = self._fork(compiling)
        header = {
            "source": source,
            "priors": [_literal(name, prior) for name, prior in priors.items()],
            "shared": [bool(item) for item in shared],
            "tiny": tiny,
            "units": [int(number) for number in n_units or map(len, counts)],
            "stimuli": [wire.describe(arrays) for arrays in stimuli],
        }
        extra: dict[str, NDArray[Any]] = {
            f"unit {index}": np.asarray(unit, dtype=np.int64)
            for index, unit in enumerate(units)
            if unit is not None
        }
        share = np.zeros(values.shape) if centering is None else centering
        for name, array in (("values", values), ("centering", share)):
            extra[name] = np.ascontiguousarray(array, dtype=np.float64)
        session = CompiledSession(
            child, header, b"".join(map(wire.payload_of, stimuli)), counts, extra, limits
        )
        child.limits = limits
        return session

    def _start(self) -> tuple[ZygoteProcess, ProtectionLevel]:
        prefix = bwrap_command(self._bwrap, SCRATCH_BYTES) if self._bwrap else ()
        return start_protected(prefix, _zygote)


class CompiledSession(TheorySession):
    """One theory's posterior, compiled in a process of its own; made by `TracerSandbox.compile`, close it after use."""

    def __init__(
        self,
        child: ChildProcess,
        header: Mapping[str, Any],
        payload: bytes,
        counts: Sequence[Array],
        extra: Mapping[str, NDArray[Any]],
        limits: SandboxLimits,
    ) -> None:
        self._child, self._limits, self._lock = child, limits, threading.Lock()
        self._n_units, self._n_parameters = extra["values"].shape
        self._n_center = 0 if all(header["shared"]) else self._n_parameters
        arrays = {**_named(counts), **extra}
        try:
            reply = self._ask(
                {**header, "answers": wire.describe(arrays)}, payload + wire.payload_of(arrays), []
            )
            self._child.check_threads()  # they would stay until the session is closed
        except BaseException:
            self.close()
            raise
        problem = str(reply.get("problem", "it does not say"))[:2000]
        self.problem = "".join(
            character if character.isprintable() else " " for character in problem
        )
        """Reason why the theory was not traced; empty if it was."""
        self.seconds = _number(reply.get("seconds"))
        """Seconds that tracing and compiling took."""

    def sample(
        self, counts: Sequence[Array], *, draws: int, tune: int, chains: int, cores: int, seed: int
    ) -> NutsSample:
        """Draws by NUTS, for the answers given; arguments as nutpie's.

        Raises:
            TheoryRaisedError: The sampler failed, mostly because it found no place to start from.
            TheoryResourceError: What came back are no draws.
        """
        size = (chains, draws)
        offset = np.empty((*size, self._n_units * self._n_parameters))
        center, spread = (np.empty((*size, self._n_center)) for _ in range(2))
        statistics = np.empty((*size, len(wire.STATISTICS)))
        parts = [offset, center, spread, statistics]
        if sum(part.nbytes for part in parts) > self._limits.output_bytes:
            raise TheoryResourceError(
                f"{chains} chains of {draws} draws of {self._n_units} units are more than `Limits.output_bytes` = "
                f"{self._limits.output_bytes}; ask for fewer draws."
            )
        arrays = _named(counts)
        header = {
            "draws": draws,
            "tune": tune,
            "chains": chains,
            "cores": cores,
            "seed": seed,
            "answers": wire.describe(arrays),
        }
        with self._lock:
            reply = self._ask(header, wire.payload_of(arrays), parts)
        if not all(np.isfinite(part).all() for part in parts[:3]) or not (spread > 0).all():
            raise TheoryResourceError(
                "the draws that came back are not all finite, with spreads above 0; do not use."
            )
        shaped = offset.reshape(*size, self._n_units, self._n_parameters)
        named = {name: statistics[..., place] for place, name in enumerate(wire.STATISTICS)}
        return NutsSample(shaped, center, spread, named, _number(reply.get("seconds")))


def _zygote(prefix: Sequence[str]) -> ZygoteProcess:
    return ZygoteProcess(
        prefix, module="lakatos.theories.engine.sandbox.inference", start_seconds=START_SECONDS
    )


def _literal(name: str, prior: Prior) -> dict[str, Any]:
    """A prior as JSON, which knows no NaN."""
    fields = {"name": name, "kind": prior.kind, "low": prior.low, "high": prior.high}
    return (
        fields
        if prior.kind.endswith("uniform")
        else fields | {"center": prior.center, "spread": prior.spread}
    )


def _named(counts: Sequence[Array]) -> dict[str, Array]:
    return {
        str(index): np.ascontiguousarray(item, dtype=np.float64)
        for index, item in enumerate(counts)
    }


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")
