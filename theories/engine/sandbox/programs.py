"""Runs a program in the sandbox that theories run in; `theories.engine.sandbox.program` is the other side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lakatos.theories.engine.sandbox import wire
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.engine.sandbox.process import ChildProcess
from lakatos.theories.errors import TheoryResourceError, TheoryTimeoutError
from lakatos.traces.digest import canonical_json

LIMITS: Final = SandboxLimits(
    wall_seconds=20.0, cpu_seconds=10.0, memory_bytes=2**29, output_bytes=2**20
)


@dataclass(frozen=True)
class RanProgram:
    """Result of a program."""

    returned: Any
    """Value that it returned; None where it failed."""
    failure: str = ""
    """Reason of the failure, in words; empty without one."""


class ProgramSandbox(Sandbox):
    """A sandbox whose children run programs."""

    module = "lakatos.theories.engine.sandbox.program"

    def __init__(
        self,
        *,
        require: frozenset[str] = frozenset(),
        limits: SandboxLimits = LIMITS,
        bwrap: bool = True,
    ) -> None:
        super().__init__(require=require, limits=limits, bwrap=bwrap)

    def run(self, source: str, arguments: Mapping[str, Any]) -> RanProgram:
        """Run ``run(arguments)`` of a source, with plain values, in a process of its own.

        Raises:
            SandboxUnavailableError: This machine cannot run it as required.
        """
        with self._lock:
            child = self._fork(self.limits)
        try:
            child.start_clock()
            request = {"source": source, "arguments": dict(arguments)}
            child.send(json.loads(canonical_json(request)), b"")
            reply, status = _read(child)
        except (TheoryTimeoutError, TheoryResourceError) as error:
            return RanProgram(None, str(error).replace("the theory", "the program"))
        finally:
            child.close()
        if status == wire.OK:
            return RanProgram(reply.get("returned"))
        line = reply.get("line")
        where = f" at line {line}" if isinstance(line, int) else ""
        return RanProgram(None, f"{reply.get('type')}{where}: {reply.get('message')}"[:2000])


def _read(child: ChildProcess) -> tuple[dict[str, Any], int]:
    """Read the program's reply, never trusted to be well formed."""
    opening = bytearray(wire.HEADER.size)
    child.read(opening)
    magic, status, json_bytes, payload_bytes = wire.HEADER.unpack(opening)
    if magic != wire.MAGIC or json_bytes > wire.MAX_JSON_BYTES or payload_bytes:
        raise TheoryResourceError(
            "the program wrote what is no answer, or a very long one; return less."
        )
    text = bytearray(json_bytes)
    child.read(text)
    try:
        reply = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise TheoryResourceError("the program wrote what is no JSON.") from None
    if not isinstance(reply, dict):
        raise TheoryResourceError("the program wrote what is no answer.")
    return reply, status


def _no_constant(name: str) -> float:
    raise ValueError(name)
