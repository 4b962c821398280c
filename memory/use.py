"""Learned tools as a language model meets them: an offer with its record, failing into its plan."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from lakatos.language_models.errors import ToolError
from lakatos.language_models.pins import Effect
from lakatos.memory.errors import ToolFailedError
from lakatos.memory.signature import PlanForm
from lakatos.memory.tool import ToolDraft, ToolStanding, run_tool, with_arguments

Invoke = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Makes one call as a step of the trace."""
PYTHON_TYPES: dict[str, Any] = {"int": int, "float": float, "bool": bool}


@dataclass(frozen=True)
class LearnedTool:
    """A learned tool on offer; a `language_models.tool.Tool`."""

    draft: ToolDraft
    plan: PlanForm
    """The plan for which it stands, as the library has it."""
    standing: ToolStanding
    invoke: Invoke

    @property
    def name(self) -> str:
        """Name of the tool, as its draft gives it."""
        return self.draft.name

    @property
    def description(self) -> str:
        """Description of the plan that it replaces, and its record of use."""
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
            item.name: (_type(item.kind), ...) for item in self.draft.parameters
        }
        config = ConfigDict(extra="forbid", frozen=True)
        return create_model(f"ArgumentsOf_{self.draft.name}", __config__=config, **fields)

    @property
    def effects(self) -> frozenset[Effect]:
        """Effects of the tool, as declared and validated."""
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

        plan = with_arguments(self.draft, self.plan, arguments.model_dump(mode="json"))
        try:
            return await asyncio.to_thread(run_tool, self.draft, plan, call)
        except ToolFailedError as error:
            done = json.dumps(error.done, ensure_ascii=False, sort_keys=True)
            raise ToolError(f"{error}\nPlan:\n{error.plan}\nDone: {done}") from error


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
