"""Learned tools in use: an offer with its record of success, checked after every call, failing into its plan.

`run_tool` is one use; `LearnedTool` offers it to a model beside the laboratory's own verbs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from lakatos.language_models.errors import ToolError
from lakatos.language_models.pins import Effect
from lakatos.memory.codifier import arguments_of
from lakatos.memory.draft import PlanParameter, ToolDraft
from lakatos.memory.errors import PlanError, ToolFailedError
from lakatos.memory.item import PlanUsed
from lakatos.memory.plan import Call
from lakatos.memory.retirement import ToolStanding
from lakatos.memory.runner import ToolSandbox
from lakatos.memory.signature import PlanOperation, follow_form
from lakatos.memory.validation import called_by, repeated_lines, steps_returned
from lakatos.theories.errors import SandboxUnavailableError
from lakatos.traces.digest import Digest, canonical_json

Invoke = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Makes one call as a step of the trace."""
PYTHON_TYPES: dict[str, Any] = {"int": int, "float": float, "bool": bool}


def run_tool(
    draft: ToolDraft, arguments: Mapping[str, Any], call: Call, sandbox: ToolSandbox
) -> list[Any]:
    """What a tool gives for each line of its plan.

    Raises:
        ToolFailedError: It did not; the plan and the results so far are handed back.
        SandboxUnavailableError: The machine failed, not the tool.
    """
    ran = sandbox.run(
        draft.source, with_defaults(draft.parameters, arguments), call, allowed=called_by(draft)
    )
    if not ran.failure:
        steps = steps_returned(ran, repeated_lines(draft))
        if steps is not None:
            return steps
    kind = ran.kind or "postcondition"
    reason = ran.failure or "it returned something else than what its calls gave"
    raise ToolFailedError(
        f"the tool {draft.name} failed ({kind}): {reason.rstrip('.')}. Go on from its plan; "
        f"{len(ran.results)} calls were answered.",
        kind=kind,
        plan=draft.plan_text,
        done=ran.results,
        hard=kind != "call",
    )


def with_defaults(
    parameters: Sequence[PlanParameter], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments with the defaults of those that were left out."""
    given = {item.name: item.default for item in parameters if item.default is not None}
    return {**given, **arguments}


def use_tool(
    draft: ToolDraft,
    operations: Sequence[PlanOperation],
    values: Sequence[Any],
    call: Call,
    sandbox: ToolSandbox,
    *,
    study: str,
    evidence: tuple[Digest, ...],
    shadow: bool,
    justified_by: tuple[Digest, ...] = (),
) -> tuple[list[Any], PlanUsed]:
    """One use with all that follows: on probation the text plan runs beside it, on failure in its place.

    Args:
        draft: Of a tool on offer.
        operations: Of its plan's form.
        values: ``(n_holes,)`` what it is given.
        call: Makes one call; one that was recorded is answered from the trace.
        sandbox: Where it runs.
        study: Of this use.
        evidence: Records behind it.
        shadow: Whether it is on probation or on trial.
        justified_by: A judge that will say how it went, if one does.

    Returns:
        Results for each line of the plan, those of the text where the two differ, and the record of the use.

    Raises:
        ToolError: The text plan cannot be followed either.
    """
    record = {
        "signature": draft.signature,
        "study": study,
        "evidence": evidence,
        "justified_by": justified_by,
    }
    arguments = arguments_of(draft.parameters, tuple(values))
    try:
        steps = run_tool(draft, arguments, call, sandbox)
    except ToolFailedError as error:
        results = follow_form(operations, values, call)
        return results, PlanUsed(
            **record, tool=draft.name, success=False, failure=error.kind, hard=error.hard
        )
    except SandboxUnavailableError:
        results = follow_form(operations, values, call)
        return results, PlanUsed(**record, tool=draft.name, success=False, failure="outage")
    if not shadow:
        return steps, PlanUsed(**record, tool=draft.name, success=True)
    text = follow_form(operations, values, call)
    same = canonical_json(text) == canonical_json(steps)
    failure = "" if same else "postcondition"
    return text, PlanUsed(
        **record, tool=draft.name, success=same, failure=failure, hard=not same, shadow_matches=same
    )


@dataclass(frozen=True)
class LearnedTool:
    """A learned tool on offer; a `language_models.tool.Tool`."""

    draft: ToolDraft
    standing: ToolStanding
    invoke: Invoke
    sandbox: ToolSandbox

    @property
    def name(self) -> str:
        """Name of the tool, as its draft gives it."""
        return self.draft.name

    @property
    def description(self) -> str:
        """What it does in place of, and how it has done."""
        done = self.standing
        return (
            f"Does at once what this plan does step by step:\n{self.draft.plan_text}\n"
            f"Record: {done.status}, {done.successes} of {done.n_uses} uses succeeded. "
            "If it fails you get the plan and what was done."
        )

    @property
    def arguments(self) -> type[BaseModel]:
        """A field for each parameter."""
        fields: dict[str, Any] = {
            item.name: (_type(item.kind), ... if item.default is None else item.default)
            for item in self.draft.parameters
        }
        config = ConfigDict(extra="forbid", frozen=True)
        return create_model(f"ArgumentsOf_{self.draft.name}", __config__=config, **fields)

    @property
    def effects(self) -> frozenset[Effect]:
        """What the tool does to the world, as declared and validated."""
        return frozenset(self.draft.effects)

    def costs(self, arguments: Any) -> Mapping[str, float]:
        """Costs nothing that is counted: its calls compute here."""
        return {}

    async def call(self, arguments: BaseModel) -> list[Any]:
        """Run it in a thread, with every call that it makes going through ``invoke``."""
        loop = asyncio.get_running_loop()

        def call(name: str, given: Mapping[str, Any]) -> Any:
            return asyncio.run_coroutine_threadsafe(
                _awaited(self.invoke(name, given)), loop
            ).result()

        try:
            given = arguments.model_dump(mode="json")
            return await asyncio.to_thread(run_tool, self.draft, given, call, self.sandbox)
        except ToolFailedError as error:
            done = json.dumps(error.done, ensure_ascii=False, sort_keys=True)
            raise ToolError(f"{error}\nPlan:\n{error.plan}\nDone: {done}") from error
        except (SandboxUnavailableError, PlanError) as error:
            raise ToolError(
                f"{self.name} cannot run here: {error}\nPlan:\n{self.draft.plan_text}"
            ) from error


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result


def _type(kind: str) -> Any:
    if kind.startswith("each "):
        return list[_type(kind.removeprefix("each "))]  # type: ignore[misc]
    if kind.endswith("?"):
        return _type(kind[:-1]) | None
    if kind.endswith("*"):
        return list[_type(kind[:-1])]  # type: ignore[misc]
    return PYTHON_TYPES.get(kind, Any if kind == "Any" else str)
