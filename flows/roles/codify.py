"""A language model writes the function of a plan that recurs; it is told the plan and clean queries, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakatos.flows.roles.ask import ask_stage
from lakatos.memory.codifier import draft_of_source, instructions
from lakatos.memory.draft import PlanBundle, ToolDraft
from lakatos.memory.errors import CodifierError
from lakatos.theories.roles.answer import CodifiedTool
from lakatos.theories.roles.exhibit import Exhibit
from lakatos.theories.roles.prompt import read_prompt
from lakatos.theories.roles.question import RoleQuestion
from lakatos.traces.digest import Digest

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run


async def codify(run: Run, bundle: PlanBundle) -> tuple[ToolDraft, Digest] | None:
    """The function as the study's codifier writes it, and the record of its answer; None where there is none."""
    if not run.config.roles.codifier:
        return None
    assert run.state.concluded is not None
    question = codifier_question(bundle, (run.state.concluded.digest,))
    for heard in await ask_stage(
        run, len(run.state.cycles), f"codify {bundle.signature[:12]}", [question]
    ):
        if heard.value is None:
            continue
        try:
            draft = draft_of_source(
                bundle, heard.value.source, f"language model {heard.answered.record.model}"
            )
        except CodifierError as error:
            run.progress.note(f"what the codifier wrote is no draft: {error}")
            continue
        return draft, heard.answered.digest
    return None


def codifier_question(bundle: PlanBundle, inputs: tuple[Digest, ...]) -> RoleQuestion[CodifiedTool]:
    """What a model is asked about a plan. Names in it may be a model's own, so the whole of it is data."""
    return RoleQuestion(
        role="codifier",
        prompt=read_prompt("codifier"),
        subject=bundle.signature,
        task="Write the function.",
        exhibits=(Exhibit("plan", instructions(bundle)),),
        answer=CodifiedTool,
        inputs=inputs,
    )
