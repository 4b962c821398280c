"""Pages of the observatory about judges and memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lakatos.flows.report.judging_facts import (
    VerdictRow,
    decisions_of,
    ended_epochs,
    reliability_chart,
    verdict_rows,
)
from lakatos.flows.view.trace_pages import MEMORY_STEPS, MOST_STEPS, line_of
from lakatos.flows.view.watch import RunMoment
from lakatos.judges.calibration import calibration
from lakatos.memory.item import PlanUsed, ToolRefused, ToolValidated, ToolWithdrawn
from lakatos.memory.library import Library, Pitfall
from lakatos.memory.plan import Plan
from lakatos.memory.record import LessonsRecalled
from lakatos.memory.tool import ToolStanding
from lakatos.traces.digest import Digest

ENOUGH: Final = 20
"""Settled verdicts below which nobody is called miscalibrated."""


def judges(look: RunMoment) -> dict[str, Any]:
    """Verdicts and how they came out, decisions, and how the panel changed."""
    state = look.state
    verdicts = verdict_rows(state)
    settled = [item for item in verdicts if item.favoured is not None]
    probability = [item.verdict.probability for item in settled]
    favoured = [bool(item.favoured) for item in settled]
    quality = calibration(probability, favoured) if settled else None
    return {
        "verdicts": list(reversed(verdicts)),
        "n_settled": len(settled),
        "quality": quality,
        "curve": reliability_chart([quality]) if quality else "",
        "bias": lean(settled),
        "decisions": decisions_of(state)[::-1],
        "epochs": state.judging.epochs,
        "gates": list(reversed(state.seats.gates)),
        "seats": state.seats.held,
        "anchor": state.seats.anchors[-1].record if state.seats.anchors else None,
        "evolves": look.config.judges.panel,
        "n_judged": state.seats.n_measured,
    }


@dataclass(frozen=True)
class JudgeLean:
    """Mean excess of a judge's probabilities over what then happened."""

    name: str
    n: int
    given: float
    happened: float
    standard_error: float

    @property
    def excess(self) -> float:
        """Positive where it promises too much."""
        return self.given - self.happened

    @property
    def told(self) -> bool:
        """Whether it is beyond two standard errors, of enough verdicts to say so."""
        return (
            self.n >= ENOUGH
            and math.isfinite(self.standard_error)
            and abs(self.excess) > 2 * self.standard_error
        )


def lean(settled: Sequence[VerdictRow]) -> list[JudgeLean]:
    """Calibration in the large, for the panel and for every judge, on verdicts that data have settled."""
    given: dict[str, list[tuple[float, float]]] = {}
    for item in settled:
        probabilities = {"the whole panel": item.verdict.probability, **item.verdict.opinions}
        for name, value in probabilities.items():
            given.setdefault(name, []).append((value, float(bool(item.favoured))))
    found = []
    for name, pairs in given.items():
        table = np.array(pairs)
        said_mean, happened_mean = table.mean(axis=0)
        excess, error = table[:, 0] - table[:, 1], math.inf
        if len(excess) > 1:
            error = float(np.std(excess, ddof=1) / np.sqrt(len(excess)))
        found.append(JudgeLean(name, len(pairs), float(said_mean), float(happened_mean), error))
    return found


def epochs_part(look: RunMoment) -> dict[str, Any]:
    """Ends of judge epochs with what was erased; reads the whole journal, so that it comes after the page."""
    if not look.state.seats.committed:
        return {"ended": []}
    return {"ended": look.watch.kept(("epochs", look.seq), lambda: ended_epochs(look.trace))}


@dataclass(frozen=True)
class ToolUsed:
    """A learned tool and what became of it."""

    name: str
    draft: Any
    validated: Sequence[Any]
    withdrawn: Sequence[Any]
    uses: Sequence[tuple[Digest, PlanUsed]]
    standing: ToolStanding


def memory(look: RunMoment) -> dict[str, Any]:
    """Lessons, tools and their use in this run."""
    library: Library = look.library()
    look.journal_entries.learn(digest for digest, _ in library.entries)
    drafts = library.drafts()
    tools = [
        ToolUsed(
            name=name,
            draft=(digest, draft),
            validated=[item for _, item in library.all(ToolValidated) if item.name == name],
            withdrawn=[item for _, item in library.all(ToolWithdrawn) if item.name == name],
            uses=[(key, use) for key, use in library.all(PlanUsed) if use.tool == name],
            standing=library.standing(name, look.valid),
        )
        for name, (digest, draft) in drafts.items()
    ]
    return {
        **_lessons_by_kind(library),
        "tools": tools,
        "refused": library.all(ToolRefused),
        "uses": list(reversed(library.all(PlanUsed))),
        "doubtful": library.doubtful(look.valid),
        "events": [
            line_of(look, row)
            for row in look.outline.rows(look.outline.seqs(*MEMORY_STEPS)[: -MOST_STEPS - 1 : -1])
        ],
        "taken": look.state.memory.taken,
        "recalled": list(reversed(look.records(LessonsRecalled)))[:MOST_STEPS],
        "called": sorted(look.outline.counted("tool_called", "tool", "outcome")),
        "n_entries": len(library.entries),
    }


def _lessons_by_kind(library: Library) -> dict[str, Any]:
    """Pitfalls, plans and other lessons, the newest first."""
    found: dict[str, Any] = {"pitfalls": [], "plans": [], "others": []}
    for digest, item in reversed(library.lessons()):
        if isinstance(item, Pitfall):
            found["pitfalls"].append((digest, item))
        elif isinstance(item, Plan):
            found["plans"].append((digest, item))
        else:
            found["others"].append((digest, item))
    return found
