"""The laboratory's verbs on a run, as tools that a language model may call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakatos.flows.roles.remember import library_in, offers_in, recall_in, validity_in
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.state import RunState
from lakatos.language_models.errors import ToolError
from lakatos.language_models.tool import Toolbox
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.signature import canonical_form
from lakatos.memory.tools.laboratory import caller_on, tools_on
from lakatos.memory.use import LearnedTool
from lakatos.theories.discovery.bench import TheoryBench
from lakatos.theories.discovery.roles.exhibit import Exhibit
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run

BENCH_DRAWS = 256


def bench_of(evidence: RunEvidence) -> TheoryBench:
    """The run's theories and answers, as they are now; nothing that is sealed or hidden is on it."""
    return TheoryBench(
        laboratory=evidence.laboratory,
        theories={digest: evidence.theory(digest) for digest in evidence.state.theories.checked},
        answers={name: evidence.trials(name) for name in evidence.state.experiments.collected},
        shelf=evidence.artifacts,
        space=evidence.config.space,
        seed=evidence.config.seed,
        n_draws=min(evidence.config.theories.draws, BENCH_DRAWS),
    )


def toolbox_of(evidence: RunEvidence) -> Toolbox:
    """The tools that the study names, and the learned ones on offer.

    What a learned tool calls is part of its own call, as what a verb does is of the verb's.
    """
    named, bench, memory = evidence.config.roles.tools, bench_of(evidence), recall_in(evidence)
    call = caller_on(bench, memory)

    async def invoke(name: str, arguments: Mapping[str, Any]) -> Any:
        return await asyncio.to_thread(call, name, arguments)

    library = library_in(evidence)
    learned = [
        LearnedTool(draft, canonical_form(plans[-1].steps), standing, invoke)
        for draft, standing in offers_in(evidence).values()
        if (plans := library.plans_with(draft.signature, validity_in(evidence.state)))
    ]
    return Toolbox([*(tool for tool in tools_on(bench, memory) if tool.name in named), *learned])


async def call_tool(
    run: Run,
    name: str,
    arguments: Mapping[str, Any],
    *,
    inputs: Sequence[Digest],
    position: Mapping[str, int | str],
) -> Recorded[ToolCalled]:
    """Call one of the laboratory's verbs as a step of the trace; a call that cannot be made is a record, too."""
    call = caller_on(bench_of(run.evidence), recall_in(run.evidence))

    def work(context: StepContext) -> ToolCalled:
        try:
            value, reason = call(name, arguments), ""
        except ToolError as error:
            value, reason = None, str(error)
        return ToolCalled(
            tool=name,
            arguments=context.artifacts.put_json(dict(arguments)),
            outcome="failed" if reason else "returned",
            value=context.artifacts.put_json(value),
            reason=reason,
        )

    return await run.step(
        "tool call", work, returns=ToolCalled, inputs=inputs, position={**position, "tool": name}
    )


def names_exhibit(state: RunState) -> Exhibit:
    """Names for tool calls: experiments, and theories by name, or by digest if another one has the same name."""
    names = [item.record.name for item in state.theories.checked.values()]
    theories = [
        item.record.name if names.count(item.record.name) == 1 else digest[:12]
        for digest, item in state.theories.checked.items()
    ]
    return Exhibit(
        "names for tools",
        {"theories": theories, "experiments": list(state.experiments.collected)},
    )
