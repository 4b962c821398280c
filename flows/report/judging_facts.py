"""What the report says about judges: their verdicts, their bias and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from lakatos.flows.report.explain import ended_epochs, quality_by_epoch
from lakatos.flows.report.figures import ReportFigures
from lakatos.flows.report.reader import RunReading, scattered_option
from lakatos.flows.stages.judging.epoch import accuracy_by_epoch, dev_items
from lakatos.flows.stages.judging.seats import present_judges
from lakatos.judges.bias import bias_of
from lakatos.judges.errors import GateError
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.traces.step import Recorded

FEW_VERDICTS = 10
"""Settled verdicts below which a normal interval means nothing."""
COIN = float(np.log(0.5))


def verdict_facts(verdict: Verdict, resolved: Recorded[VerdictResolved] | None) -> dict[str, Any]:
    """One verdict and what the data said."""
    favoured = resolved.record.favoured if resolved else None
    return {
        "verdict": verdict,
        "favoured": favoured,
        "experiment": resolved.record.experiment if resolved else "",
        "log_score": resolved.record.log_score if resolved else None,
        "overturned": favoured is not None
        and verdict.probability != 0.5
        and favoured != (verdict.probability > 0.5),
    }


def judging_facts(reading: RunReading, figures: ReportFigures) -> dict[str, Any]:
    """Decisions about candidates, and how the judges changed."""
    epochs = ended_epochs(reading.trace)
    decided = [item.record for item in reading.state.judging.decided.values()]
    quality, accuracy = (
        quality_by_epoch(reading.trace),
        accuracy_by_epoch(reading.state, reading.trace.artifacts),
    )
    return {
        "decisions": sorted(decided, key=lambda record: record.cycle),
        "panel": reading.config.judges.panel,
        "anchor": reading.state.seats.anchors[-1].record if reading.state.seats.anchors else None,
        "epochs": epochs,
        "gates": [gate for ended in epochs for gate in ended.gates],
        "figure": figures.gates(epochs) if any(ended.gates for ended in epochs) else "",
        "quality": quality,
        "judges_figure": figures.judges(accuracy, quality) if quality or accuracy else "",
        "bias": bias_facts(reading),
        "strategies": [item.record for item in reading.state.judging.strategies],
    }


def bias_facts(reading: RunReading) -> list[tuple[str, str]]:
    """What can be said of each judge's preference for machine-written theories, in a sentence."""
    items = dev_items(reading.state, reading.trace.artifacts)
    found = []
    for name, judge in (
        present_judges(reading.state, reading.trace.artifacts).items() if items else ()
    ):
        try:
            found.append((name, bias_of(judge, items).sentence))
        except GateError as error:
            found.append((name, str(error)))
    return found


def _error_rows(reading: RunReading) -> list[dict[str, Any]]:
    """Errors as the verdict says them; before it, those of the leader and the first rivals on open trials."""
    if reading.concluded is not None:
        return [
            item.model_dump() | {"label": reading.label(item.theory)}
            for item in reading.concluded.errors
        ]
    blank = {"sealed": None, "sealed_error": None, "all": None, "sealed_score": None}
    return [
        {"theory": line.theory, "label": reading.label(line.theory), "open": line.error} | blank
        for line in reading.board.standings
        if line.theory == reading.leader or line.theory in reading.state.seeds
    ]


def error_facts(reading: RunReading, figures: ReportFigures) -> dict[str, Any]:
    """Mean squared errors of choice proportions, with the published ones beside them."""
    concluded, rows = reading.concluded, _error_rows(reading)
    folds = [item.record for item in reading.state.campaign.folds]
    truth = reading.state.campaign.truth.record if reading.state.campaign.truth else None
    names = (
        sorted(truth.corrected, key=lambda name: (name != reading.leader, truth.corrected[name]))
        if truth
        else []
    )
    cross_validated = [
        {"name": item.name, "error": item.error, "standard_error": item.standard_error}
        for item in (concluded.cross_validated if concluded else ())
    ]
    return {
        "rows": rows,
        "sealed": reading.state.experiments.sealed.record
        if reading.state.experiments.sealed
        else None,
        "figure": figures.errors(rows, cross_validated, reading.config.baselines) if rows else "",
        "cross_validated": cross_validated,
        "folds": folds,
        "folds_figure": figures.folds(folds, scattered_option(reading)) if folds else "",
        "truth": truth,
        "truth_rows": [
            (name, truth.corrected[name], truth.uncorrected.get(name))
            for name in names
            if truth is not None
        ],
    }
