"""One theory in a process of its own: its questions and its answers."""

from __future__ import annotations

import functools
import json
import math
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.engine.sandbox import wire
from lakatos.theories.engine.sandbox.limits import CELLS_IN_TIME, SandboxLimits
from lakatos.theories.engine.sandbox.unrolled import MOST_NODES, MOST_STATE
from lakatos.theories.errors import (
    TheoryError,
    TheoryMemoryError,
    TheoryProbabilityError,
    TheoryRaisedError,
    TheoryResourceError,
    TheoryShapeError,
    TheoryTimeoutError,
)

Array = NDArray[np.float64]
StimuliArrays = Mapping[str, NDArray[Any]]
"""One set of stimuli: arrays whose first axis is ``n_trials``."""

Reader = Callable[[int], memoryview]
"""Function that returns so many of the bytes that came next; copy them before looking at them."""

TOLERANCE = 1e-6
"""Largest distance of a sum of probabilities from one."""
MOST_PRINTED = 6
"""Probabilities of an answer that an error prints one by one."""
MOST_CELLS = 2**19
"""Draws times trials that a theory is asked about at once."""
BLOCK_SIZE = 32768
"""Probabilities that are copied and looked at together, while the processor still holds them."""


@dataclass(frozen=True)
class _Kept:
    """One person's answers from one of several calls, to be asked for again."""

    call: int
    parameters: dict[str, NDArray[Any]]
    answers: list[Array]
    """``(n_trials, n_options)`` for each set of stimuli."""


class TheoryProcess(Protocol):
    """A process that holds one theory, as a session uses it; all may raise a `TheoryError`."""

    limits: SandboxLimits

    @property
    def closed(self) -> bool:
        """Whether it was ended."""

    def start_clock(self, calls: float = 1.0) -> None:
        """Begin a call, which may take as long as ``calls`` calls."""

    def send(self, header: Mapping[str, Any], payload: bytes) -> None:
        """Send a request."""

    def keep(self, n_bytes: int) -> None:
        """Keep the first payload, of ``n_bytes``, as it is from now on."""

    def payload_reader(self, n_bytes: int) -> Reader:
        """Return a reader that gives an answer's payload of ``n_bytes`` piece by piece."""

    def read(self, buffer: bytearray | memoryview) -> None:
        """Fill ``buffer`` with what comes next."""

    def processor_seconds(self) -> float:
        """Time that it has used."""

    def close(self) -> None:
        """End it."""


@dataclass(frozen=True)
class SequenceStep:
    """Arrays that people see at one step of their sequences, and what followed the step before."""

    trials: Mapping[str, NDArray[Any]]
    """Arrays of what each person sees now, first axis ``n_sequences``."""
    by_draw: Mapping[str, NDArray[Any]]
    """Further arrays of what is seen, ``(n_draws or 1, n_sequences, ...)``."""
    response: NDArray[Any] | None
    """``(n_draws or 1, n_sequences)`` option chosen at the step before; None at the first step."""
    feedback: Mapping[str, NDArray[Any]]
    """``(n_draws or 1, n_sequences)`` what followed that response."""

    def arrays(self, n_options: int) -> dict[str, dict[str, NDArray[Any]]]:
        """Everything as named arrays, options as ones among zeros."""
        chosen = {} if self.response is None else {"response": one_hot(self.response, n_options)}
        parts = {
            "trials": self.trials,
            "by_draw": self.by_draw,
            "response": chosen,
            "feedback": self.feedback,
        }
        return {
            name: {key: np.asarray(array) for key, array in own.items()}
            for name, own in parts.items()
        }


class TheorySession:
    """One theory on one body of stimuli, for repeated calls. Made by `Sandbox.open_session`; close it after use.

    Every walk begins in a process that has been asked nothing before, so that a theory cannot answer from what an
    earlier walk told it. Other calls share a process, since they tell a theory no answers; that it keeps nothing
    between them is tried by `check_forgetful`.
    """

    def __init__(
        self,
        start: Callable[[int], TheoryProcess],
        source: str,
        stimuli: list[dict[str, NDArray[Any]]],
        n_options: int,
        limits: SandboxLimits,
        walks_apart: bool = True,
    ) -> None:
        self.broadcasts = True
        """Whether calls are made with all draws at once; False once one had to be made one draw at a time."""
        self._start, self._source, self._stimuli = start, source, stimuli
        self._limits, self._walks_apart = limits, walks_apart
        self._n_options = n_options
        self._n_trials = [len(next(iter(arrays.values()))) for arrays in stimuli]
        self._lock = threading.Lock()
        self._walking: dict[str, NDArray[Any]] = {"": np.zeros(1)}
        self._step, self._paired = 0, False
        self._together: dict[bool, bool] = {}
        """Whether walks took all draws at once, paired and not, as far as they have shown."""
        self.takes_walks = False
        """Whether several steps of a walk may be told at once; see `steps`."""
        self.walks_written = True
        """Whether what is told several steps at once may be written out; see `unroll`."""
        self.of_theory: dict[str, Any] = {}
        """Values that callers have computed about the theory and keep for later calls; `hold` empties it."""
        self.of_answers: dict[str, Any] = {}
        """The same about what is asked; several sessions may share it."""
        self._n_calls = 0
        self._kept: _Kept | None = None
        self._used_before = 0.0
        """Processor seconds of processes before this one."""
        self._most_draws = MOST_CELLS
        """Draws that are asked about at once; fewer once more of them ran into the time limit."""
        self._open()

    def _open(self) -> None:
        """Start a process that has read the theory and has been asked nothing."""
        payload = b"".join(map(wire.payload_of, self._stimuli))
        described = [wire.describe(arrays) for arrays in self._stimuli]
        header = {"source": self._source, "n_options": self._n_options, "stimuli": described}
        self._child, self._fresh = self._start(len(payload)), True
        try:
            self._ask(header, payload, [])
            self._child.keep(len(payload))
        except BaseException:
            self.close()
            raise

    def _open_again(self) -> None:
        """Go on in another process, which has been asked nothing."""
        self._used_before = self.processor_seconds
        self._child.close()
        self._open()

    @property
    def processor_seconds(self) -> float:
        """Processor time that its processes have used so far."""
        return self._used_before + self._child.processor_seconds()

    @property
    def is_open(self) -> bool:
        """Whether its process can be asked; a failure ends it."""
        return not self._child.closed

    def hold(self, source: str) -> None:
        """Have the process hold another theory, for the same stimuli.

        Only for theories of one hand, such as the grammar's: each could find what the one before left behind, and
        that it takes all draws at once is not tried.

        Raises:
            TheoryError: The theory cannot be read.
        """
        if len(source.encode(errors="surrogatepass")) > self._limits.source_bytes:
            raise TheoryResourceError(
                f"the source is longer than {self._limits.source_bytes} bytes; shorten it."
            )
        self._source, self.broadcasts, self.takes_walks = source, True, True
        self.of_theory = {}
        self._most_draws = MOST_CELLS
        self._together = {False: True, True: True}
        with self._lock:
            self._ask({"source": source}, b"", [])

    def probabilities(self, parameters: Mapping[str, NDArray[Any]]) -> list[Array]:
        """Predictions for ``(n_draws,)`` values of each parameter; see `Sandbox.probabilities`.

        Draws that together take longer or more memory than a call may take are asked about in parts, so that a slow
        machine changes no answer: a theory fails only where one draw alone takes that much.
        """
        values, n_draws = _draws(parameters)
        sizes = [(n_draws, n_trials, self._n_options) for n_trials in self._n_trials]
        n_cells = max(sum(self._n_trials), 1)
        n_most = max(1, min(MOST_CELLS // n_cells, self._most_draws))
        if n_draws > n_most:
            # What a theory computes of so many cells would not fit into its memory, and no cache.
            answers = [np.empty(size) for size in sizes]
            for start in range(0, n_draws, n_most):
                rows = slice(start, start + n_most)
                part = self.probabilities({name: array[rows] for name, array in values.items()})
                for whole, of_part in zip(answers, part, strict=True):
                    whole[rows] = of_part
            return answers
        expected = 8 * sum(map(math.prod, sizes))
        if expected > self._limits.output_bytes:
            raise TheoryResourceError(
                f"{n_draws} draws on {sum(self._n_trials)} trials give {expected} bytes of probabilities, more than "
                f"`Limits.output_bytes` = {self._limits.output_bytes}. Ask for fewer draws at once."
            )
        answers = [np.empty(size) for size in sizes]
        try:
            self._ask_probabilities(
                {"parameters": wire.describe(values)}, wire.payload_of(values), answers, values
            )
        except (TheoryTimeoutError, TheoryMemoryError):
            fewer = [size for size in (CELLS_IN_TIME // n_cells, 1) if 0 < size < n_draws]
            if not fewer:
                raise
            self._most_draws = fewer[0]
            self._open_again()
            return self.probabilities(values)
        self._fresh = False
        self._n_calls += 1
        if self._n_calls > 1 and not secrets.randbelow(
            self._n_calls - 1
        ):  # each call with equal chances
            draw = secrets.randbelow(n_draws)
            own = {name: array[draw : draw + 1].copy() for name, array in values.items()}
            self._kept = _Kept(self._n_calls, own, [answer[draw].copy() for answer in answers])
        return answers

    def check_forgetful(self) -> None:
        """Ask one person of one earlier call again, in a process that has been asked nothing else.

        Which call and which person nobody knows beforehand. A first call came from such a process anyway.

        Raises:
            TheoryProbabilityError: The theory answers otherwise than it did among other calls.
        """
        kept, self._kept = self._kept, None
        if kept is None:
            return
        self._open_again()
        n_calls = self._n_calls
        again = self.probabilities(kept.parameters)
        for index, (before, now) in enumerate(zip(kept.answers, again, strict=True)):
            gap = np.abs(before - now[0]).max(axis=-1, initial=0.0)
            if gap.max(initial=0.0) <= TOLERANCE:
                continue
            trial = int(gap.argmax())
            values = ", ".join(
                f"{name}={float(array[0]):g}" for name, array in kept.parameters.items() if name
            )
            raise TheoryProbabilityError(
                f"the theory answers {before[trial]} at call {kept.call} of {n_calls} and {now[0, trial]} in a process "
                f"that was asked nothing before, at stimuli set {index}, trial {trial}"
                f"{f' ({values})' if values else ''}. Keep nothing between calls."
            )

    def begin(self, parameters: Mapping[str, NDArray[Any]], *, paired: bool = False) -> None:
        """Begin to walk through sequences with ``(n_draws,)`` values of each parameter, forgetting an earlier walk.

        With ``paired`` every draw goes through one sequence of its own, and there are as many as draws: all answers
        are ``(1, n_sequences, ...)``.
        """
        self._walking, _ = _draws(parameters)
        self._paired = paired
        with self._lock:
            if self._walks_apart and not self._fresh:
                self._open_again()
            self._fresh = False
            header = {
                "begin": True,
                "paired": paired,
                "broadcasts": self._together.get(paired),
                "parameters": wire.describe(self._walking),
            }
            self._ask(header, wire.payload_of(self._walking), [])
        self._step = 0

    def step(
        self,
        trials: Mapping[str, NDArray[Any]],
        by_draw: Mapping[str, NDArray[Any]] = MappingProxyType({}),
        *,
        response: NDArray[Any] | None = None,
        feedback: Mapping[str, NDArray[Any]] = MappingProxyType({}),
    ) -> Array:
        """The next step of the sequences begun with `begin`: first what followed the last one, then the choice now.

        A theory learns of a response only here, after it has predicted it.

        Args:
            trials, by_draw, response, feedback: See `SequenceStep`.

        Returns:
            ``(n_draws, n_sequences, n_options)`` probabilities.

        Raises:
            TheoryError: As `Sandbox.probabilities`.
        """
        return self.steps([SequenceStep(trials, by_draw, response, feedback)])[0]

    def steps(self, wanted: Sequence[SequenceStep]) -> list[Array]:
        """Several steps in one question, as `step` answers them one by one.

        The theory's process then holds answers of people before it has predicted them. So more than one step is for
        what `hold` is for, theories of one hand, whose code is known to take every step by itself.

        Raises:
            ValueError: Several steps, of a theory that may be anybody's.
            TheoryError: As `Sandbox.probabilities`.
        """
        if len(wanted) > 1 and not self.takes_walks:
            raise ValueError("only theories that `hold` was given are told several steps at once")
        n_draws = 1 if self._paired else len(next(iter(self._walking.values())))
        n_sequences = len(next(iter(wanted[0].trials.values())))
        prepared = [item.arrays(self._n_options) for item in wanted]
        answers = [np.empty((n_draws, n_sequences, self._n_options)) for _ in wanted]
        n_bytes = sum(answer.nbytes for answer in answers)
        if n_bytes > self._limits.output_bytes:
            raise TheoryResourceError(
                f"{n_draws} draws on {n_sequences} sequences give {n_bytes} bytes of probabilities, more than "
                f"`Limits.output_bytes` = {self._limits.output_bytes}. Ask for fewer draws at once."
            )
        described = [
            {name: wire.describe(own) for name, own in parts.items()} for parts in prepared
        ]
        payload = b"".join(wire.payload_of(own) for parts in prepared for own in parts.values())
        walking = {} if self._paired else self._walking
        reply = self._ask_probabilities(
            {"steps": described},
            payload,
            answers,
            walking,
            self._step,
            ("step", "sequence"),
            calls=max(1.0, len(wanted) * n_draws * n_sequences / CELLS_IN_TIME),
        )
        self._step += len(wanted)
        if reply.get("broadcasts") is False or len(next(iter(self._walking.values()))) > 1:
            self._together[self._paired] = reply.get("broadcasts") is not False
        return answers

    def unroll(
        self,
        parameters: Sequence[str],
        columns: Sequence[tuple[str, str, tuple[int, ...]]],
        cases: Array,
    ) -> tuple[Array, Array, Array]:
        """A theory that learns as operations on single numbers, for kinds of steps; only for what `hold` was given.

        Args:
            parameters: Names.
            columns: Arrays by which kinds of steps are described; see `sandbox.unrolled.Unrolling`.
            cases: ``(n_cases, 1 + n_columns)`` kinds of steps; see `Unrolling.write`.

        Returns:
            Nodes, ``(n_nodes, 4)``; those of what is remembered at first, ``(n_state,)``; and of each kind of step
            those of what is remembered then, of the probabilities, and of their sum before they were divided by it,
            ``(n_cases, n_state + n_options + 1)``.

        Raises:
            TheoryError: It cannot be written out.
        """
        if not self.takes_walks:
            raise ValueError("only theories that `hold` was given are written out")
        nodes, begun = np.empty((MOST_NODES, 4)), np.empty(MOST_STATE)
        steps = np.empty((len(cases), MOST_STATE + self._n_options + 1))
        given = {"cases": np.ascontiguousarray(cases, dtype=np.float64)}
        header = {
            "unroll": list(parameters),
            "columns": [[part, name, list(shape)] for part, name, shape in columns],
            "cases": wire.describe(given),
        }
        with self._lock:
            reply = self._ask(header, wire.payload_of(given), [nodes, begun, steps])
        n_state = reply.get("n_state")
        if not isinstance(n_state, int) or not 0 <= n_state <= MOST_STATE:
            raise _not_an_answer()
        whole = np.concatenate([steps[:, :n_state], steps[:, MOST_STATE:]], axis=1)
        return nodes, begun[:n_state], whole

    def close(self) -> None:
        """End the process that holds the theory."""
        self._child.close()

    def __enter__(self) -> TheorySession:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _ask_probabilities(
        self,
        header: Mapping[str, Any],
        payload: bytes,
        answers: list[Array],
        parameters: Mapping[str, NDArray[Any]],
        first: int = 0,
        units: tuple[str, str] = ("stimuli set", "trial"),
        calls: float = 1.0,
    ) -> dict[str, Any]:
        """Fill ``answers``, the first of which is unit ``first``, with normalised probabilities; what else was said."""
        fine: list[bool] = []
        with self._lock:
            reply = self._ask(
                header, payload, answers, lambda *given: fine.append(_fill(*given)), calls
            )
        self.broadcasts = self.broadcasts and (reply.get("broadcasts") is not False or self._paired)
        for index, answer in enumerate(answers):
            if not fine[index]:
                raise _no_probabilities(answer, first + index, parameters, units)
        return reply

    def _ask(
        self,
        header: Mapping[str, Any],
        payload: bytes,
        answers: list[Array],
        fill: Callable[[Array, Reader, bool], None] | None = None,
        calls: float = 1.0,
    ) -> dict[str, Any]:
        """One request and its answer, whose payload fills ``answers``.

        Args:
            header, payload: The request.
            answers: What is filled.
            fill: Does it, where the first of two options may have been left out, which the third argument says.
            calls: How many calls' time it may take.
        """
        try:
            reply, status = self._exchange(self._child, header, payload, answers, fill, calls)
        except BaseException:
            self.close()  # the two sides no longer agree on where in the stream they are
            raise
        if status != wire.OK:
            raise error_from(reply)
        return reply

    def _exchange(
        self,
        child: TheoryProcess,
        header: Mapping[str, Any],
        payload: bytes,
        answers: list[Array],
        fill: Callable[[Array, Reader, bool], None] | None,
        calls: float,
    ) -> tuple[dict[str, Any], int]:
        """One request and its answer; what does not fit the request's ``answers`` is refused before it is read."""
        child.start_clock(calls)
        child.send(header, payload)
        reply, status, n_bytes = read_head(child)
        wanted = answers if status == wire.OK else []
        halves = _halves(reply.get("second") if fill else None, wanted)
        sizes = [answer.nbytes // (1 + half) for answer, half in zip(wanted, halves, strict=True)]
        if n_bytes != sum(sizes):
            raise _not_an_answer()
        read = child.payload_reader(n_bytes)
        for answer, half in zip(wanted, halves, strict=True):
            if fill:
                fill(answer, read, half)
            elif answer.size:
                child.read(answer.data.cast("B"))
        return reply, status


def read_head(child: TheoryProcess) -> tuple[dict[str, Any], int, int]:
    """Read what a child sends before the payload, its status, and the payload's size in bytes."""
    opening = bytearray(wire.HEADER.size)
    child.read(opening)
    magic, status, json_bytes, payload_bytes = wire.HEADER.unpack(opening)
    if magic != wire.MAGIC or json_bytes > wire.MAX_JSON_BYTES:
        raise _not_an_answer()
    text = bytearray(json_bytes)
    child.read(text)
    try:
        head = json.loads(text)
    except (ValueError, RecursionError):
        raise _not_an_answer() from None
    if not isinstance(head, dict):
        raise _not_an_answer()
    return head, status, payload_bytes


def _halves(reply: object, wanted: Sequence[Array]) -> list[bool]:
    """Mark the answers of which only the second of two options is sent, as far as these can be."""
    halves = [flag is True for flag in reply] if isinstance(reply, list) else [False] * len(wanted)
    if len(halves) != len(wanted):
        raise _not_an_answer()
    if any(half and item.shape[-1] != 2 for half, item in zip(halves, wanted, strict=True)):
        raise _not_an_answer()
    return halves


def _fill(answer: Array, read: Reader, second: bool) -> bool:
    """Fill ``answer`` with probabilities, divided by their sum; False if they are none.

    They are copied first and then looked at, block by block: the theory's process could still change its own.

    Args:
        answer: ``(n_draws, n_trials, n_options)``.
        read: Gives the bytes that came.
        second: Whether the second of two options is all that came.
    """
    if not answer.size:
        return True
    n_rows = max(1, BLOCK_SIZE // answer[0].size)
    fine = True
    for start in range(0, len(answer), n_rows):
        block = answer[start : start + n_rows]
        came = np.frombuffer(read(block.nbytes // (1 + second)))
        if second:
            fine = _fill_both(block, came.reshape(block.shape[:2])) and fine
        else:
            block[...] = came.reshape(block.shape)
            fine = _normalise(block) and fine
    return fine


def _fill_both(answer: Array, came: Array) -> bool:
    """Fill ``(n_draws, n_trials, 2)`` with probabilities, given those of the second option; False if they are none."""
    first, second = answer[..., 0], answer[..., 1]
    second[...] = came
    np.subtract(1, second, out=first)
    lowest = answer.min()
    if -TOLERANCE <= lowest < 0:
        np.clip(answer, 0, 1, out=answer)
    return bool(lowest >= -TOLERANCE)  # a NaN compares as False


def _normalise(answer: Array) -> bool:
    """Divide ``(n_draws, n_trials, n_options)`` by its sum, in place; False if these are no probabilities."""
    with np.errstate(invalid="ignore"):
        total = functools.reduce(
            np.add, np.moveaxis(answer, -1, 0)
        )  # much faster than sum(axis=-1)
    lowest, least, most = answer.min(), total.min(), total.max()
    if not (
        1 - least <= TOLERANCE and most - 1 <= TOLERANCE and lowest >= -TOLERANCE
    ):  # a NaN compares as False
        return False
    if lowest < 0:
        np.maximum(answer, 0, out=answer)
        total = answer.sum(axis=-1)
        least, most = total.min(), total.max()
    if least != 1 or most != 1:
        answer /= total[..., None]
    return True


def one_hot(options: NDArray[Any], n_options: int) -> Array:
    """``(..., n_options)`` 1 for the option chosen, 0 for the others."""
    chosen: Array = np.eye(n_options)[np.asarray(options)]
    return chosen


def _draws(parameters: Mapping[str, NDArray[Any]]) -> tuple[dict[str, NDArray[Any]], int]:
    """Parameters as arrays ``(n_draws,)``, and ``n_draws``."""
    values = {name: np.asarray(array) for name, array in parameters.items()} or {"": np.zeros(1)}
    shapes = {array.shape for array in values.values()}
    if len(shapes) > 1 or any(len(shape) != 1 or not shape[0] for shape in shapes):
        raise ValueError(
            f"parameters have shapes {[array.shape for array in values.values()]}; "
            "give each one value per draw, (n_draws,)."
        )
    for name, array in values.items():
        _check_dtype(name, array, "biuf")
    ((n_draws,),) = shapes
    return values, n_draws


def _not_an_answer() -> TheoryResourceError:
    return TheoryResourceError(
        "what came back is no answer of the expected form; the theory wrote to the pipe itself. It should only return."
    )


def _prepared(arrays: StimuliArrays, index: int) -> dict[str, NDArray[Any]]:
    """A set of stimuli as plain arrays with one first axis."""
    prepared = {name: np.asarray(array) for name, array in arrays.items()}
    lengths = {array.shape[:1] for array in prepared.values()}
    if len(lengths) != 1 or () in lengths:
        shapes = {name: array.shape for name, array in prepared.items()}
        raise ValueError(
            f"stimuli set {index} has shapes {shapes}; every array needs the same first axis, n_trials."
        )
    for name, array in prepared.items():
        _check_dtype(name, array)
    return prepared


def _check_dtype(name: str, array: NDArray[Any], kinds: str = "biufU") -> None:
    if array.dtype.kind not in kinds:
        allowed = "numbers, truth values or text" if "U" in kinds else "numbers"
        raise ValueError(f"the array {name!r} has dtype {array.dtype}; give {allowed}.")


def error_from(reply: Mapping[str, Any]) -> TheoryError:
    """The error that a child reported; the words are the theory's and are only quoted."""
    kind, line = reply.get("kind"), reply.get("line")
    where = f"line {line} of the source" if isinstance(line, int) else "the source"
    text = _printable(reply.get("message"))
    if kind == "shape":
        return TheoryShapeError(f"{text}.")
    if kind == "memory":
        return TheoryMemoryError(
            f"the theory ran out of memory at {where}; make smaller arrays or raise `Limits.memory_bytes`."
        )
    return TheoryRaisedError(
        f"the theory raised {_printable(reply.get('type'))} at {where}: {text}"
    )


def _printable(text: object) -> str:
    """Return at most 2000 characters of a text, without any that a terminal would act upon."""
    return "".join(
        character if character.isprintable() or character == "\n" else "?"
        for character in str(text)[:2000]
    )


def _in_short(answer: Array) -> str:
    """An answer as it is where it is short, else its sum and its ends; there are dozens of bins of a time."""
    if len(answer) <= MOST_PRINTED:
        return f"{answer}"
    return f"{len(answer)} numbers from {answer.min():.4g} to {answer.max():.4g} with the sum {answer.sum():.6g}"


def _no_probabilities(
    answer: Array, index: int, parameters: Mapping[str, NDArray[Any]], units: tuple[str, str]
) -> TheoryProbabilityError:
    """Describe what is wrong with an answer that was refused, and where."""
    with np.errstate(invalid="ignore"):
        bad = ~(np.abs(answer.sum(axis=-1) - 1) <= TOLERANCE) | ~(answer >= -TOLERANCE).all(axis=-1)
    draw, trial = (int(position) for position in np.argwhere(bad)[0])
    values = ", ".join(
        f"{name}={float(array[draw]):g}" for name, array in parameters.items() if name
    )
    first = _in_short(answer[draw, trial])
    return TheoryProbabilityError(
        f"{int(bad.sum())} of {bad.size} answers are no probabilities; the first is {first} at "
        f"{units[0]} {index}, draw {draw}{f' ({values})' if values else ''}, {units[1]} {trial}. They must be "
        "finite, not negative and sum to 1; look for a division by zero, an overflow or a missing limit."
    )
