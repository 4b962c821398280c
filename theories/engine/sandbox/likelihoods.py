"""Calls a likelihood function in the sandbox that theories run in; `sandbox.likelihood` is the other side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.engine.sandbox import wire
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.limits import WALL_PER_PROCESSOR, SandboxLimits
from lakatos.theories.engine.sandbox.process import ChildProcess
from lakatos.theories.engine.sandbox.session import error_from, read_head
from lakatos.theories.errors import TheoryResourceError, TheoryTimeoutError

Array = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]
"""One participant's columns, ``(n_trials,)`` each, by the argument of the function."""
CALL_SECONDS: Final = 10.0
"""Processor time of one call of a function with one participant and one vector of parameters."""


def limits_of_calls(seconds: float = CALL_SECONDS) -> SandboxLimits:
    """Limits of a function that may use so many seconds of its own processor time in a call."""
    return SandboxLimits(
        wall_seconds=WALL_PER_PROCESSOR * seconds, cpu_seconds=seconds, output_bytes=64 * 2**20
    )


@dataclass(frozen=True)
class CalledFunction:
    """A function and the roles of its arguments, as the sandbox calls it."""

    source: str
    function: str
    roles: tuple[tuple[str, str], ...]
    """Arguments in their order, each with its role (`sandbox.likelihood`)."""
    parameters: tuple[str, ...]
    responses: tuple[str, ...]
    """Arguments that hold responses."""


class LikelihoodSandbox(Sandbox):
    """A sandbox whose children call likelihood functions."""

    module = "lakatos.theories.engine.sandbox.likelihood"

    def open_function(
        self, function: CalledFunction, people: Sequence[Columns], limits: SandboxLimits
    ) -> LikelihoodSession:
        """A process that holds a function and the columns of participants; close it after use.

        Raises:
            TheoryError: The source cannot be run.
            SandboxUnavailableError: This system has no sandbox.
        """
        payload = b"".join(map(wire.payload_of, people))
        with self._lock:
            child = self._fork(limits, len(payload))
        return LikelihoodSession(child, function, people, payload)


class LikelihoodSession:
    """One likelihood function with the participants to whom it is applied."""

    def __init__(
        self,
        child: ChildProcess,
        function: CalledFunction,
        people: Sequence[Columns],
        payload: bytes,
    ) -> None:
        self._child, self._n_trials = child, [len(next(iter(own.values()))) for own in people]
        self._n_parameters = len(function.parameters)
        self.together = False
        """Whether one call takes all vectors of parameters at once."""
        self.seed = 0
        """Seed of random numbers that a likelihood draws."""
        header = {
            **vars(function),
            "people": [wire.describe(own) for own in people],
        }
        try:
            self._ask(header, payload)
            child.keep(len(payload))
        except BaseException:
            child.close()
            raise

    def values(self, person: int, vectors: Array, columns: Columns | None = None) -> Array:
        """Compute the values of the function for one participant.

        Args:
            person: Place of the participant; ignored with ``columns``.
            vectors: ``(n_vectors, n_parameters)``.
            columns: Columns in place of the participant's.

        Returns:
            ``(n_vectors, 1)`` for one number, ``(n_vectors, n_trials)`` for a number for each trial.

        Raises:
            TheoryError: It fails, returns something else, or takes too long.
        """
        n_trials = len(next(iter(columns.values()))) if columns else self._n_trials[person]
        _, values = self._call(person, vectors, columns or {})
        width, rest = divmod(values.size, len(vectors))
        if rest or width not in (1, n_trials):
            raise TheoryResourceError("what came back is no answer of the expected form.")
        return values.reshape(len(vectors), width)

    def simulate(self, person: int, vector: Array, seed: int) -> dict[str, Array]:
        """Columns of a simulated participant in the place of one participant, by argument.

        Raises:
            TheoryError: It fails, or returns columns of another length.
        """
        reply, values = self._call(person, vector[None], {}, simulate=True, seed=seed)
        names, n_trials = reply.get("names"), self._n_trials[person]
        if not isinstance(names, list) or values.size != len(names) * n_trials:
            raise TheoryResourceError(
                f"`simulate` must return {n_trials} responses, or a dictionary of columns of that length."
            )
        return {
            str(name): part
            for name, part in zip(names, values.reshape(len(names), n_trials), strict=True)
        }

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _call(
        self,
        person: int,
        vectors: Array,
        columns: Columns,
        *,
        simulate: bool = False,
        seed: int | None = None,
    ) -> tuple[dict[str, Any], Array]:
        """One request about one participant, and its answer."""
        given = {"vectors": np.ascontiguousarray(vectors, dtype=np.float64)}
        header = {
            "person": person,
            "vectors": wire.describe(given),
            "columns": wire.describe(columns),
            "together": self.together,
            "simulate": simulate,
            "seed": self.seed if seed is None else seed,
        }
        payload = wire.payload_of(given) + wire.payload_of(columns)
        return self._ask(header, payload, calls=float(len(vectors)))

    def _ask(
        self, header: Mapping[str, Any], payload: bytes, calls: float = 1.0
    ) -> tuple[dict[str, Any], Array]:
        """One request and its answer, as one row of numbers."""
        child = self._child
        try:
            child.start_clock(calls)
            child.send(header, payload)
            reply, status, n_bytes = read_head(child)
            if n_bytes % 8 or n_bytes > child.limits.output_bytes:
                raise TheoryResourceError("what came back is no answer of the expected form.")
            piece = bytes(child.payload_reader(n_bytes)(n_bytes)) if n_bytes else b""
        except BaseException as error:
            child.close()
            if isinstance(error, TheoryTimeoutError):
                each = child.limits.cpu_seconds
                raise TheoryTimeoutError(
                    f"the function used more than {each * calls:g} s of processor time, {each:g} s a call. Allow more "
                    "for a call with --seconds (in Python: seconds=...)."
                ) from None
            raise
        if status != wire.OK:
            raise error_from(reply)
        return reply, np.frombuffer(piece, dtype=np.float64).copy()
