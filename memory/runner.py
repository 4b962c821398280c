"""Runs the text of a tool in the sandbox that theories run in; see `theories.sandbox.program` for the other side."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lakatos.language_models.errors import ToolError
from lakatos.memory.plan import Call
from lakatos.theories.errors import TheoryResourceError, TheoryTimeoutError
from lakatos.theories.sandbox import wire
from lakatos.theories.sandbox.client import Sandbox, SandboxLimits
from lakatos.theories.sandbox.process import ChildProcess
from lakatos.traces.digest import canonical_json

LIMITS: Final = SandboxLimits(
    wall_seconds=20.0, cpu_seconds=10.0, memory_bytes=2**29, output_bytes=2**20
)
"""Of the program's own computing between two calls; what it calls has limits of its own."""
MOST_CALLS: Final = 256


@dataclass(frozen=True)
class RanProgram:
    """What came of a program."""

    returned: Any
    """What it returned; None where it failed."""
    results: tuple[Any, ...]
    """Of the calls that were answered, in their order."""
    failure: str = ""
    """Why it failed, in words."""
    kind: str = ""
    """``call``: a call could not be done, ``program``: its own code raised, ``limit``: it was stopped."""


class ToolSandbox(Sandbox):
    """A sandbox whose children run programs."""

    module = "lakatos.theories.sandbox.program"

    def __init__(
        self,
        *,
        require: frozenset[str] = frozenset(),
        limits: SandboxLimits = LIMITS,
        bwrap: bool = True,
    ) -> None:
        super().__init__(require=require, limits=limits, bwrap=bwrap)

    def run(
        self,
        source: str,
        arguments: Mapping[str, Any],
        call: Call,
        *,
        allowed: Collection[str] = (),
        compile_only: bool = False,
    ) -> RanProgram:
        """Run ``run(arguments, call)`` of a source in a process of its own.

        Args:
            source: Text of the program.
            arguments: Plain values.
            call: Does what the program asks; `ToolError` is told to the program.
            allowed: Names that it may call.
            compile_only: Only read the source, and find `run`.

        Raises:
            SandboxUnavailableError: This machine cannot run it as required.
        """
        results: list[Any] = []
        with self._lock:
            child = self._fork(self.limits)
        try:
            child.start_clock()
            request = {"source": source, "arguments": dict(arguments), "compile_only": compile_only}
            child.send(json.loads(canonical_json(request)), b"")
            refused = ""
            while True:
                said, status = _read(child)
                if status != wire.OK:
                    kind = "call" if said.get("refused") is True else "program"
                    line = said.get("line")
                    where = f" at line {line}" if isinstance(line, int) else ""
                    told = (
                        refused
                        if kind == "call"
                        else f"{said.get('type')}{where}: {said.get('message')}"
                    )
                    return RanProgram(None, tuple(results), told[:2000], kind)
                if "returned" in said:
                    return RanProgram(said["returned"], tuple(results))
                if len(results) == MOST_CALLS:
                    return RanProgram(
                        None, tuple(results), f"it made more than {MOST_CALLS} calls", "limit"
                    )
                name, asked = said.get("call"), said.get("arguments")
                if name not in allowed:
                    return RanProgram(
                        None,
                        tuple(results),
                        f"it called {str(name)[:80]!r}, which it may not",
                        "program",
                    )
                try:
                    result = call(str(name), asked if isinstance(asked, dict) else {})
                    results.append(result)
                    answer: dict[str, Any] = {"result": result}
                except ToolError as error:
                    refused = str(error)
                    answer = {"refused": refused}
                child.start_clock()
                child.send(answer, b"")
        except (TheoryTimeoutError, TheoryResourceError) as error:
            return RanProgram(
                None, tuple(results), str(error).replace("the theory", "the tool"), "limit"
            )
        finally:
            child.close()


def _read(child: ChildProcess) -> tuple[dict[str, Any], int]:
    """The next thing that the program says, never believed to be well formed."""
    opening = bytearray(wire.HEADER.size)
    child.read(opening)
    magic, status, json_bytes, payload_bytes = wire.HEADER.unpack(opening)
    if magic != wire.MAGIC or json_bytes > wire.MAX_JSON_BYTES or payload_bytes:
        raise TheoryResourceError(
            "the tool wrote what is no answer, or a very long one; return less."
        )
    text = bytearray(json_bytes)
    child.read(text)
    try:
        said = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise TheoryResourceError("the tool wrote what is no JSON.") from None
    if not isinstance(said, dict):
        raise TheoryResourceError("the tool wrote what is no answer.")
    return said, status


def _no_constant(name: str) -> float:
    raise ValueError(name)
