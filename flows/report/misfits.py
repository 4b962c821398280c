"""Predictive checks of the leading theory, apart from diagnoses of theories that did not lead."""

from __future__ import annotations

from dataclasses import dataclass

from lakatos.flows.report.reader import RunReading
from lakatos.theories.engine.record import Diagnosis
from lakatos.theories.findings.verdicts.record import ExactnessWeighed
from lakatos.traces.step import Recorded
from lakatos.traces.wording import plural


@dataclass(frozen=True)
class ChecksOfLeader:
    """Predictive checks of the leading theory, and diagnoses of the others."""

    text: str
    """Result of the newest checks of the leading theory, or that there were none; empty without a leading theory."""
    own: Recorded[Diagnosis] | None
    """Newest diagnosis of the leading theory."""
    others: tuple[Recorded[Diagnosis], ...]
    """All other diagnoses, in the order of cycles."""


def checks_of_leader(reading: RunReading) -> ChecksOfLeader:
    """Find the checks of the leading theory; a cycle diagnoses the best theory that does not lead it."""
    diagnoses = reading.state.theories.diagnoses
    own = next((item for item in diagnoses[::-1] if item.record.loser == reading.leader), None)
    others = tuple(item for item in diagnoses if item is not own)
    if reading.leader is None:
        return ChecksOfLeader("", own, others)
    found = {
        item.record.cycle: (item.record.n_checks, len(item.record.misfits))
        for item in reading.trace.records(ExactnessWeighed)
        if item.record.leader == reading.leader
    }
    if own is not None and own.record.cycle not in found:
        n_misfits = sum(bool(claim.feature) for claim in own.record.claims)
        found[own.record.cycle] = (own.record.n_checks, n_misfits)
    cycle = max(found, default=0)
    last = max(
        (item.record.cycle for item in reading.state.experiments.designs.values()), default=0
    )
    text = checks_in_words(*found.get(cycle, (0, 0)), cycle, is_last=cycle >= last)
    return ChecksOfLeader(text, own, others)


def checks_in_words(n_checks: int, n_misfits: int, cycle: int, *, is_last: bool) -> str:
    """State how many predictive checks of the leading theory found a misfit.

    Args:
        n_checks: Checks against data sets simulated from it; 0 if it was not checked.
        n_misfits: Those that found a misfit.
        cycle: Cycle of the checks.
        is_last: Whether no responses were collected after them.
    """
    if not n_checks and not n_misfits:
        return "The leading theory was not checked against data sets simulated from it."
    of_all = f" of {plural(n_checks, 'predictive check')}" if n_checks else " predictive checks"
    find = "finds" if n_misfits <= 1 else "find"
    later = "" if is_last else "; it was not checked on the responses collected later"
    return f"{n_misfits or 'None'}{of_all} of the leading theory (cycle {cycle}) {find} a misfit{later}."
