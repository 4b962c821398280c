"""Tool calls in the trace: each is a step, so that a call that was made is not made again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from lakatos.language_models.pins import Effect
from lakatos.language_models.tool import PreparedCall, ToolResult
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record, RecordTypes
from lakatos.traces.step import StepContext, Trace

EXTERNAL: Final[frozenset[Effect]] = frozenset({"spends", "recruits"})
"""Effects that running a call again would have twice."""


class ToolCalled(Record):
    """A model called a tool, or a rule forbade the call."""

    kind: Literal["tool_called"] = "tool_called"
    version: Literal[1] = 1
    tool: str
    """Name of the tool."""
    arguments: Digest
    """Artifact with the validated arguments, defaults filled in."""
    outcome: Literal["returned", "failed", "blocked"]
    """Whether it returned, failed, or was forbidden."""
    value: Digest
    """Artifact with the returned value; null if it returned nothing."""
    reason: str
    """Reason why it returned nothing."""


RECORDS: Final[RecordTypes] = {"tool_called": ToolCalled}
"""Records of tools, for the table of a trace's types."""


@dataclass(frozen=True)
class TracedTools:
    """Records the calls of one conversation as steps; the digest of the record is what a model cites."""

    trace: Trace
    position: Mapping[str, int | str]
    """Place of the conversation in the campaign: cycle, role, sample number."""
    inputs: Sequence[Digest] = field(default=())
    """Inputs of the conversation."""

    async def __call__(
        self, position: int, prepared: PreparedCall, work: Callable[[], Awaitable[ToolResult]]
    ) -> tuple[str, ToolResult]:
        """Return the result of the call, from the trace where it was made before.

        Raises:
            StepInterruptedError: A call with effects outside was cut short, and a person has to say what it did.
        """

        async def call(context: StepContext) -> ToolCalled:
            result = await work()
            return ToolCalled(
                tool=prepared.tool.name,
                arguments=context.artifacts.put_json(prepared.values),
                outcome=result.outcome,
                value=context.artifacts.put_json(result.value),
                reason=result.reason,
            )

        done = await self.trace.step(
            "tool call",
            call,
            returns=ToolCalled,
            inputs=self.inputs,
            position={**self.position, "call": position, "asked": prepared.digest},
            effect="repeatable" if EXTERNAL.isdisjoint(prepared.tool.effects) else "external",
        )
        value = self.trace.artifacts.get_json(done.record.value)
        return done.digest, ToolResult(
            outcome=done.record.outcome, value=value, reason=done.record.reason
        )
