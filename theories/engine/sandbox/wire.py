"""Messages between the laboratory and a theory's process: fixed lengths, JSON and raw arrays, never pickle."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = struct.Struct("<4sB3xIQ")
"""Magic, status, length of the JSON in bytes, length of the payload in bytes."""
MAGIC = b"LKS1"
READY = b"R"
"""Byte that a child writes once it has given up its rights, before it reads any theory."""
OK, FAILED = 0, 1
MAX_JSON_BYTES = 65536
"""Longest JSON that is accepted from a child."""

COMMAND = struct.Struct("<4sq")
"""Form of the laboratory's commands to the zygote: name and argument."""
REPLY = struct.Struct("<q")
"""Form of the zygote's answers."""
TOO_MANY_THREADS = -2
"""Answer to a question about time, where a child has more threads than it may."""

STATISTICS = ("logp", "diverging", "n_steps", "depth", "step_size", "mean_tree_accept", "energy")
"""Statistics that NUTS reports of every draw, in this order."""

COLUMN, PARAMETER, VECTOR = "column", "parameter", "vector"
"""Content of an argument of a likelihood function: a column, one parameter, or all parameters in their order."""

SOURCE_NAME = "<theory>"
"""File name of a theory in tracebacks."""
IMPORTS = (
    "__future__",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "itertools",
    "math",
    "numpy",
    "operator",
    "scipy.special",
    "statistics",
    "typing",
)
"""Modules that a theory may import; they are loaded before it starts, since it can open no file."""

AnyArray = NDArray[Any]


def describe(arrays: Mapping[str, AnyArray]) -> list[tuple[str, str, tuple[int, ...]]]:
    """Name, dtype and shape of each array: what a reader needs to find them in a payload."""
    return [(name, array.dtype.str, array.shape) for name, array in arrays.items()]


def payload_of(arrays: Mapping[str, AnyArray]) -> bytes:
    """The arrays one after the other, each padded to 8 bytes."""
    return b"".join(array.tobytes() + bytes(-array.nbytes % 8) for array in arrays.values())


def arrays_from(
    description: Sequence[tuple[str, str, Sequence[int]]], payload: memoryview, start: int = 0
) -> tuple[dict[str, AnyArray], int]:
    """Read-only views on a payload, and where the next one begins."""
    arrays = {}
    for name, dtype, shape in description:
        array = np.frombuffer(payload, np.dtype(dtype), math.prod(shape), start).reshape(shape)
        arrays[name] = array
        start += array.nbytes + -array.nbytes % 8
    return arrays, start


def parts_from(
    description: Mapping[str, Sequence[tuple[str, str, Sequence[int]]]],
    payload: memoryview,
    start: int = 0,
) -> tuple[dict[str, dict[str, AnyArray]], int]:
    """Several named sets of arrays from one payload; see `arrays_from`."""
    parts = {}
    for name, own in description.items():
        parts[name], start = arrays_from(own, payload, start)
    return parts, start


def opening(header: Mapping[str, Any], payload_bytes: int, status: int = OK) -> bytes:
    """Make the bytes before the payload."""
    text = json.dumps(header).encode()
    return HEADER.pack(MAGIC, status, len(text), payload_bytes) + text
