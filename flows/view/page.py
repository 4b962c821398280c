"""Content of each page of the observatory; one function for each, from what was recorded alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from lakatos.experiments.record import DesignChosen
from lakatos.flows.report.charts import chart_interval
from lakatos.flows.report.download import both
from lakatos.flows.report.experiment_facts import data_facts
from lakatos.flows.report.limits import limits
from lakatos.flows.report.reader import RunReading
from lakatos.flows.report.words import STEPS
from lakatos.flows.run.now import PassMoment, read_now
from lakatos.flows.run.records import CycleClosed
from lakatos.flows.view.theory_pages import history, shortened_source
from lakatos.flows.view.watch import RunMoment
from lakatos.flows.view.words import address
from lakatos.traces.digest import Digest

FIRST_PICTURES: Final = 6
STILL_S: Final = 120.0
"""Seconds for which a pass's message holds, while the pass records the results of the stage."""


# --- all pages ------------------------------------------------------------------------------------------------------


def sections(look: RunMoment) -> list[tuple[str, str, int | None]]:
    """The run's pages: address, name, and how many there are of what it shows."""
    name, state = look.watch.name, look.state
    to = partial(address, name)
    return [
        (to("") , "Story", None),
        (to("steps"), "Step by step", None),
        (to("theories"), "Theories", len(state.theories.checked)),
        (to("compare"), "Two theories", None),
        (to("curves"), "Curves", None),
        (to("leaderboard"), "Leaderboard", len(state.campaign.cycles) or None),
        (to("experiments"), "Experiments", len(state.experiments.designs)),
        (to("people"), "People", None),
        (to("diagnoses"), "Diagnoses", len(state.theories.diagnoses)),
        (to("judges"), "Judges", len(state.judging.verdicts)),
        (to("memory"), "Memory", len(look.library().entries)),
        (to("trace"), "Trace", look.outline.n_records),
        (to("audit"), "Audit", None),
        (to("cost"), "Cost and time", None),
    ]  # fmt: skip


def now(look: RunMoment) -> str:
    """State what the run does at the moment."""
    match look.progress:
        case "concluded":
            return "concluded"
        case "waiting":
            assert look.waiting is not None
            return f"waits for people: {look.waiting.n_completed} of {look.waiting.n_planned} have answered"
    if look.progress == "running" and (current := said_now(look)) is not None:
        return current.words
    row = look.outline.row(look.seq)
    doing = STEPS.get(row.name, row.name.replace("_", " ")) if row else "beginning"
    if look.progress == "stopped":
        return "stopped; `lakatos resume` carries it on"
    cycles = look.config.stop.cycles
    return f"cycle {min(len(look.state.campaign.cycles) + 1, cycles)} of at most {cycles}: {doing}"


def said_now(look: RunMoment) -> PassMoment | None:
    """Return the last message of the pass that goes on; None where the journal has something newer, or without one."""
    state = read_now(look.folder)
    if state is None or not state.stage or not look.times[1]:
        return state
    written = datetime.fromisoformat(look.times[1]).timestamp()
    return state if state.at >= written - STILL_S else None


def who(look: RunReading) -> str:
    """Describe in two words whose choices these are."""
    if look.model:
        return "language model"
    if look.simulated:
        return "simulated participants"
    if look.config.participants.file:
        return "responses collected before the study"
    return "published responses" if look.is_collected_before else "participants' responses"


# --- story ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CycleChapter:
    """Summary of what was tried in one cycle."""

    number: int
    experiments: list[tuple[str, DesignChosen, Any]]
    """Name, design, and what was collected, if anything was yet."""
    diagnoses: list[tuple[int, Any]]
    admitted: list[Digest]
    closed: CycleClosed | None
    overtaken: bool
    """Whether another theory led at its end than before."""


def chapters(look: RunMoment) -> list[CycleChapter]:
    """The run cycle by cycle."""
    state = look.state
    closed = {item.record.cycle: item.record for item in state.campaign.cycles}
    begun = [item.record.cycle for item in state.experiments.designs.values()]
    found = []
    for number in sorted({*closed, *begun}):
        before = closed.get(number - 1)
        end = closed.get(number)
        found.append(
            CycleChapter(
                number=number,
                experiments=[
                    (
                        name,
                        item.record,
                        state.experiments.collected[name].record
                        if name in state.experiments.collected
                        else None,
                    )
                    for name, item in state.experiments.designs.items()
                    if item.record.cycle == number
                ],
                diagnoses=[
                    (place, item.record)
                    for place, item in enumerate(state.theories.diagnoses)
                    if item.record.cycle == number
                ],
                admitted=[
                    name
                    for name, item in state.theories.pool.items()
                    if item.record.cycle == number
                ],
                closed=end,
                overtaken=bool(end and before and end.leader != before.leader),
            )
        )
    return found


def first_trial(look: RunMoment) -> tuple[Markup, str] | None:
    """The trial that told most in the first experiment, as participants saw it, and its experiment."""
    for name, item in look.state.experiments.designs.items():
        if item.record.accepted:
            design = look.design(item.record)
            return Markup(look.domain.picture(design.stimuli, 0)), name
    return None


def story(look: RunMoment) -> dict[str, Any]:
    """The discovery from first rivals to verdict."""
    concluded, state = look.concluded, look.state
    strip = Markup("")
    if (
        concluded
        and concluded.advantage is not None
        and all(map(math.isfinite, concluded.interval or [math.nan]))
    ):
        assert concluded.interval is not None
        names = ("a first rival is ahead", "the winner is ahead")
        draw = partial(chart_interval, concluded.advantage, *concluded.interval)
        strip = both(lambda width: draw(width, "nats per choice", names))
    return {
        "whose": data_facts(look),
        "strip": strip,
        "trial": look.watch.kept(
            ("trial", len(state.experiments.designs) > 0), lambda: first_trial(look)
        ),
        "chapters": chapters(look),
        "history": history(look),
        "n_tried": state.n_tried,
        "source": shortened_source(look),
        "notes": current.notes
        if look.progress == "running" and (current := read_now(look.folder))
        else (),
        "standing": next(
            (
                line
                for line in (
                    state.campaign.cycles[-1].record.leaderboard if state.campaign.cycles else ()
                )
                if line.theory == look.leader
            ),
            None,
        ),
    }


def limits_part(look: RunMoment) -> dict[str, Any]:
    """State what the result does not show; needs every score, so that it comes after the page."""
    found = look.watch.kept(("limits", look.seq), lambda: limits(look.with_scores()))
    return {"limits": [text.replace(" (section 6)", "") for text in found]}
