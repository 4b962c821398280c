"""The command `lakatos preregister`: what was frozen before people were asked, in the form that registries ask for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from lakatos.experiments.design import design_from_json
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.participants.web.collection import COLLECTION_FILE
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.presentation import presentation_of
from lakatos.experiments.registration import registration, to_markdown
from lakatos.flows.argument import Argument, RunFolder
from lakatos.flows.errors import UnusableError
from lakatos.flows.result import PlainText
from lakatos.flows.run.evidence import form_of
from lakatos.flows.run.run import read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.traces.artifact import write_whole
from lakatos.traces.step import Trace
from lakatos.traces.wording import plural


def registration_of(folder: Path, experiment: str = "") -> dict[str, Any]:
    """The registration of an experiment of a run, the newest by default; see `experiments.registration`.

    Raises:
        UnusableError: The run has preregistered no such experiment.
    """
    state, trace = read_state(folder)
    with trace:
        names = list(state.experiments.preregistrations)
        name = experiment or (names[-1] if names else "")
        if state.campaign.config is None or name not in state.experiments.preregistrations:
            if not names:
                raise UnusableError(
                    f"the run {folder} has preregistered nothing yet; `lakatos resume {folder}` designs the first "
                    "experiment."
                )
            raise UnusableError(
                f"the run {folder} has preregistered no experiment {name!r}; there are: {', '.join(names)}."
            )
        plan = state.experiments.preregistrations[name]
        then, frozen = read_state(folder, plan.digest)
        with frozen:
            claims = {
                digest: form_of(frozen.artifacts, then, digest).claim
                for digest in then.theories.checked
            }
        people = state.campaign.config.participants
        return registration(
            plan.record,
            design_from_json(trace.artifacts.get_json(plan.record.design)),
            domain_of(state.campaign.config),
            trace.artifacts.get_arrays(plan.record.predictions),
            record=plan.digest,
            study=state.campaign.config.name,
            question=state.campaign.config.question,
            source="own file" if people.file else people.source,
            n_answers=state.experiments.designs[name].record.n_answers,
            asked=_began(folder, state, trace, name),
            said=claims,
            manner=_manner(state.campaign.config),
            earlier=_earlier(then),
        )


def _earlier(then: RunState) -> dict[str, str]:
    """How many responses there were to experiments before a plan was frozen."""
    counts = {}
    for name, item in then.experiments.collected.items():
        n_people = item.record.n_people or item.record.n_participants
        of = "" if item.record.pooled else f" of {plural(n_people, 'participant')}"
        counts[name] = f"{plural(item.record.n_responses, 'response')}{of}"
    return counts


def _manner(config: CampaignConfig) -> tuple[str, ...]:
    """How trials are given, in sentences."""
    domain = domain_of(config)
    task = timed_task(domain) if config.source.on_page else None
    presentation = presentation_of(domain) if config.source.on_page else None
    return (
        *config.page.words(within=bool(config.conditions)),
        *(config.page.timed.words(task) if task else ()),
        *(presentation.words if presentation else ()),
    )


def _began(folder: Path, state: RunState, trace: Trace, name: str) -> bool:
    """Whether somebody has begun to answer an experiment."""
    if name in state.experiments.answers or name in state.experiments.collected:
        return True
    if any(batch.json().get("experiment") == name for batch in trace.inbox.stored()):
        return True
    if not (folder / COLLECTION_FILE).exists():
        return False
    store = SessionStore(folder)
    try:
        return any(item["name"] == name and item["people"] for item in store.status())
    finally:
        store.shut()


def preregister(
    folder: RunFolder,
    *,
    experiment: str = "",
    form: Annotated[Literal["markdown", "json"], Argument(flag="--format")] = "markdown",
    out: Path | None = None,
) -> PlainText | None:
    """Print what was frozen before data collection, under the headings of OSF and AsPredicted.

    Args:
        folder: The run's folder.
        experiment: Name of an experiment; the newest by default.
        form: Format of the text.
        out: File to write; printed by default.

    Examples:
        $ lakatos preregister allais-1 --out registration.md
        >>> lakatos.flows.commands.preregister.registration_of(folder)  # doctest: +SKIP
    """
    value = registration_of(folder, experiment)
    text = (
        to_markdown(value)
        if form == "markdown"
        else json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    )
    if out is None:
        return PlainText(text)
    write_whole(out, text.encode())
    return None
