"""Facts about judges for pages: verdicts and their outcomes, how the panel changed, and errors beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from lakatos.flows.report import charts
from lakatos.flows.report.download import small
from lakatos.flows.report.figures import accuracy_chart, error_chart, folds_scatter
from lakatos.flows.report.reader import RunReading, scattered_option
from lakatos.flows.report.svg import NARROW
from lakatos.flows.run.records import ACTS
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.judging.epoch import accuracy_by_epoch
from lakatos.judges.calibration import JudgeCalibration, calibration
from lakatos.judges.epoch import EpochOpened
from lakatos.judges.erasure import JudgeMeasured
from lakatos.judges.gate_record import GateDecided
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.judges.transition import EpochCommitted, EpochFrozen, EpochRefilled, why_ended
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, Trace
from lakatos.traces.validity import Validity

FEW_VERDICTS = 10
"""Settled verdicts below which a normal interval means nothing."""
COIN = float(np.log(0.5))


@dataclass(frozen=True)
class VerdictRow:
    """One verdict and what the data said."""

    digest: Digest
    verdict: Verdict
    resolved: VerdictResolved | None

    @property
    def favoured(self) -> bool | None:
        """Whether the data spoke for the candidate; None where they have not spoken."""
        return self.resolved.favoured if self.resolved else None

    @property
    def experiment(self) -> str:
        """Name of the experiment that settled the verdict."""
        return self.resolved.experiment if self.resolved else ""

    @property
    def log_score(self) -> float | None:
        """Log probability of what happened, nats."""
        return self.resolved.log_score if self.resolved else None

    @property
    def overturned(self) -> bool:
        """Whether the data spoke against what the judges leaned to."""
        if self.favoured is None or self.verdict.probability == 0.5:
            return False
        return self.favoured != (self.verdict.probability > 0.5)


def verdict_rows(state: RunState) -> list[VerdictRow]:
    """All verdicts that count, in order."""
    rows = []
    for digest, item in state.judging.verdicts.items():
        resolved = state.judging.resolved.get(digest)
        rows.append(VerdictRow(digest, item.record, resolved.record if resolved else None))
    return rows


def decisions_of(state: RunState) -> list[Recorded[Any]]:
    """Decisions about candidates, by cycle."""
    return sorted(state.judging.decided.values(), key=lambda item: item.record.cycle)


@dataclass(frozen=True)
class EndedEpoch:
    """An epoch of judges that ended."""

    number: int
    n_evaluations: int
    """Verdicts of judges that evolve, up to its end."""
    changed: tuple[str, ...]
    """Slots whose judge was displaced."""
    n_erased: int
    """Records that do not hold any more because of it."""
    n_queued: int
    """Submissions that were to be judged again."""
    n_rescored: int
    """Number of these submissions that were judged again, in the epoch that followed."""
    gates: tuple[GateDecided, ...]
    quality: JudgeCalibration | None
    """Calibration on the panel's verdicts that data have settled since; None where there is none."""
    reason: str


def ended_epochs(trace: Trace) -> list[EndedEpoch]:
    """All ends of epochs, also those whose verdicts do not count any more: what was said stays on record."""
    validity = Validity(trace.journal.events(), roots=trace.artifacts.has, acts=ACTS)
    quality = quality_by_epoch(trace)
    frozen = {item.record.epoch: item.record for item in trace.records(EpochFrozen)}
    queues = {item.record.epoch: set(item.record.queue) for item in trace.records(EpochRefilled)}
    measured = [item.record for item in trace.records(JudgeMeasured)]
    decided = [item.record for item in trace.records(GateDecided)]
    found = []
    for item in trace.records(EpochCommitted):
        number = item.record.epoch
        queue = queues.get(number + 1, set())
        gates = tuple(gate for gate in decided if gate.epoch == number)
        erased: set[Digest] = set()
        for seat in item.record.erases:
            erased |= {seat, *validity.downstream(seat)}
        again = {one.subject for one in measured if one.epoch == number + 1}
        ended = EndedEpoch(
            number=number,
            n_evaluations=frozen[number].n_evaluations,
            changed=item.record.changed,
            n_erased=sum(not validity.valid(name) for name in erased),
            n_queued=len(queue),
            n_rescored=len(again & queue),
            gates=gates,
            quality=quality.get(number),
            reason=why_ended(gates),
        )
        found.append(ended)
    return found


def quality_by_epoch(trace: Trace) -> dict[int, JudgeCalibration]:
    """Evaluate the verdicts of each epoch's panel, as far as data have settled them."""
    panels = {item.record.epoch: item.record.number for item in trace.records(EpochOpened)}
    verdicts = {item.digest: item.record for item in trace.records(Verdict)}
    settled: dict[int, dict[Digest, tuple[float, bool]]] = defaultdict(dict)
    for item in trace.records(VerdictResolved):
        verdict = verdicts[item.record.verdict]
        came = (verdict.probability, item.record.favoured)
        settled[panels[verdict.epoch]][item.record.verdict] = came
    found = {}
    for number, own in sorted(settled.items()):
        given, favoured = zip(*own.values(), strict=True)
        found[number] = calibration(given, favoured)
    return found


def reliability_chart(panels: Sequence[JudgeCalibration]) -> Markup:
    """Draw how often predictions of panels came true, by their probability."""
    if not panels:
        return Markup("")
    return small(charts.reliability([panel.curve for panel in panels], NARROW))


def judging_facts(reading: RunReading) -> dict[str, Any]:
    """Decisions about candidates, and how the judges changed."""
    state, artifacts = reading.state, reading.trace.artifacts
    quality = quality_by_epoch(reading.trace)
    return {
        "decisions": decisions_of(state),
        "panel": reading.config.judges.panel,
        "anchor": state.seats.anchors[-1].record if state.seats.anchors else None,
        "epochs": ended_epochs(reading.trace),
        "gates": state.seats.gates,
        "quality": quality,
        "reliability": reliability_chart(list(quality.values())),
        "accuracy": accuracy_chart(accuracy_by_epoch(state, artifacts)),
    }


def _error_rows(reading: RunReading) -> list[dict[str, Any]]:
    """Errors as the verdict states them; before it, those of the same theories on open trials."""
    if reading.concluded is not None:
        return [
            item.model_dump() | {"label": reading.label(item.theory)}
            for item in reading.concluded.errors
        ]
    blank = {"sealed": None, "sealed_error": None, "all": None, "sealed_score": None}
    return [
        {"theory": name, "label": reading.label(name), "open": reading.board.of(name).error} | blank
        for name in reading.board.listed(reading.state.seeds)
    ]


def error_facts(reading: RunReading) -> dict[str, Any]:
    """Mean squared errors of choice proportions, with the published ones beside them."""
    state, rows = reading.state, _error_rows(reading)
    folds = [item.record for item in state.campaign.folds]
    cross_validated = [
        {"name": item.name, "error": item.error, "standard_error": item.standard_error}
        for item in (reading.concluded.cross_validated if reading.concluded else ())
    ]
    return {
        "rows": rows,
        "n_others": len(reading.board.standings) - len(rows),
        "sealed": state.experiments.sealed.record if state.experiments.sealed else None,
        "figure": error_chart(reading, rows, cross_validated),
        "cross_validated": cross_validated,
        "folds": folds,
        "folds_figure": folds_scatter(folds, scattered_option(reading)) if folds else "",
        "truth": state.campaign.truth.record if state.campaign.truth else None,
        "truth_rows": (truth_rows := _truth_rows(reading)),
        "has_lapses": any(value != whole for _, value, whole in truth_rows),
    }


def _truth_rows(reading: RunReading) -> list[tuple[Digest, float, float | None]]:
    """Distance of theories from the hidden rule, without and with lapses; the leader first, then the nearest."""
    if reading.state.campaign.truth is None:
        return []
    truth = reading.state.campaign.truth.record
    near = sorted(truth.corrected.items(), key=lambda item: (item[0] != reading.leader, item[1]))
    return [(name, value, truth.uncorrected.get(name)) for name, value in near]
