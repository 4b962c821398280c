"""Work of a process that holds a theory: read requests, answer them, report what failed.

The same code serves in a child of the zygote (`theories.engine.sandbox.zygote`) and in a plain process
(`theories.engine.sandbox.plain_child`), on every operating system.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lakatos.theories.engine.sandbox import wire
from lakatos.theories.engine.sandbox.evaluator import (
    NOTHING,
    NamedArrays,
    SequenceWalk,
    ShapeError,
    TheoryEvaluator,
    load,
)
from lakatos.theories.engine.sandbox.shared import is_shared, kept_bytes
from lakatos.theories.engine.sandbox.unrolled import Unrolling

REQUESTS, ANSWERS = 3, 4
"""The child's two pipes; its standard input, output and error are the null device."""
AT_ONCE = 65536
"""Bytes of a pipe that are read or written in one go."""


def serve(sent: memoryview, room: memoryview) -> None:
    """Answer requests with the theory that the first of them brings, until one of them ends it.

    Args:
        sent: Memory in which the laboratory lays large payloads down.
        room: Memory for large answers.
    """
    header, payload = read_request(sent, keep=True)
    if "end" in header:
        return
    sent = sent[kept_bytes(len(payload)) :]
    n_options: int = header["n_options"]
    stimuli, start = [], 0
    for description in header["stimuli"]:
        arrays, start = wire.arrays_from(description, payload, start)
        stimuli.append(NamedArrays(arrays))
    try:
        program = load(header["source"])
    except BaseException as error:
        write_answer(failure(error), status=wire.FAILED)
        return
    write_answer({})
    evaluators = [TheoryEvaluator(program.choose, trials, n_options) for trials in stimuli]
    walk: SequenceWalk | None = None
    while True:
        header, payload = read_request(sent)
        if "end" in header:  # only plain processes are used again
            return
        try:
            if "source" in header:  # the next composition of the grammar
                program = load(header["source"])
                evaluators = [
                    TheoryEvaluator(program.choose, trials, n_options, broadcasts=True)
                    for trials in stimuli
                ]
                write_answer({})
                continue
            if "unroll" in header:
                cases = wire.arrays_from(header["cases"], payload)[0]["cases"]
                unrolling = Unrolling(
                    program, header["unroll"], header["columns"], n_options, NamedArrays
                )
                written = unrolling.write(cases)
                write_answer({"n_state": len(written[0])}, unrolling.tables(*written))
                continue
            if "steps" in header:
                assert walk is not None
                answers, start = [], 0
                for description in header["steps"]:
                    parts, start = wire.parts_from(description, payload, start)
                    answers.append(walk.step(**parts))
                write_answer(
                    {"broadcasts": walk.broadcasts, "second": seconds(answers)}, answers, room=room
                )
                continue
            parameters, _ = wire.arrays_from(header["parameters"], payload)
            if header.get("begin"):
                walk = SequenceWalk(
                    program, parameters, n_options, header["broadcasts"], header["paired"]
                )
                write_answer({})
                continue
            answers = [evaluator.probabilities(parameters) for evaluator in evaluators]
            broadcasts = all(evaluator.broadcasts is not False for evaluator in evaluators)
            write_answer({"broadcasts": broadcasts, "second": seconds(answers)}, answers, room=room)
        except BaseException as error:
            write_answer(failure(error), status=wire.FAILED)


def seconds(answers: Sequence[wire.AnyArray]) -> list[bool]:
    """Mark the answers that hold the second option's probabilities only."""
    return [answer.ndim == 2 for answer in answers]


def failure(error: BaseException) -> dict[str, Any]:
    """Describe an error in words, with the line of the source."""
    kind = (
        "memory"
        if isinstance(error, MemoryError)
        else "shape"
        if isinstance(error, ShapeError)
        else "raised"
    )
    line = (
        error.lineno
        if isinstance(error, SyntaxError) and error.filename == wire.SOURCE_NAME
        else None
    )
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == wire.SOURCE_NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        text = "(its message cannot be read)"
    return {
        "kind": kind,
        "type": type(error).__name__[:200],
        "message": str(text)[:2000],
        "line": line,
    }


def read_request(
    sent: memoryview = NOTHING, *, keep: bool = False
) -> tuple[dict[str, Any], memoryview]:
    """The next request; ends the process when there is none.

    Args:
        sent: Memory in which the laboratory lays a large payload down.
        keep: Whether that payload stays there; if not, it is copied.
    """
    came = os.read(REQUESTS, AT_ONCE)
    came += read_exactly(wire.HEADER.size - len(came))
    _, _, json_bytes, payload_bytes = wire.HEADER.unpack_from(came)
    start = wire.HEADER.size + json_bytes
    came += read_exactly(start - len(came))
    header: dict[str, Any] = json.loads(came[wire.HEADER.size : start])
    if is_shared(payload_bytes, len(sent)):
        payload = sent[:payload_bytes]
        return header, payload if keep else memoryview(bytes(payload))
    payload, early = memoryview(bytearray(payload_bytes)), came[start:]
    payload[: len(early)] = early
    fill(payload[len(early) :])
    return header, payload.toreadonly()


def read_exactly(n_bytes: int) -> bytes:
    """``n_bytes`` from the laboratory, none for a negative number; ends the process when they do not come."""
    buffer = bytearray(max(n_bytes, 0))
    fill(memoryview(buffer))
    return bytes(buffer)


def fill(buffer: memoryview) -> None:
    """Read from the laboratory until ``buffer`` is full; ends the process when that does not happen."""
    while buffer:
        got = read_into(buffer)
        if not got:
            os._exit(0)
        buffer = buffer[got:]


def read_into(buffer: memoryview) -> int:
    """Read once into ``buffer`` and return the number of bytes; Windows has no ``readv``."""
    if hasattr(os, "readv"):
        return os.readv(REQUESTS, [buffer])
    came = os.read(REQUESTS, min(len(buffer), 2**20))
    buffer[: len(came)] = came
    return len(came)


def write_answer(
    header: Mapping[str, Any],
    arrays: Sequence[wire.AnyArray] = (),
    status: int = wire.OK,
    room: memoryview = NOTHING,
) -> None:
    """Hand an answer to the laboratory, a large one in ``room``."""
    n_bytes = sum(array.nbytes for array in arrays)
    opening = wire.opening(header, n_bytes, status)
    if is_shared(n_bytes, len(room)):
        start = 0
        for array in arrays:
            np.frombuffer(room, array.dtype, array.size, start).reshape(array.shape)[...] = array
            start += array.nbytes
        pieces = [memoryview(opening)]
    elif n_bytes < AT_ONCE:
        pieces = [memoryview(b"".join([opening, *(array.tobytes() for array in arrays)]))]
    else:
        contents = [np.ascontiguousarray(array).data.cast("B") for array in arrays if array.size]
        pieces = [memoryview(opening), *contents]
    for piece in pieces:
        while len(piece):
            piece = piece[os.write(ANSWERS, piece) :]
