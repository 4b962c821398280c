"""Audit: whether the trace is whole, everything was done in the promised order, and the numbers come out again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.domains import DOMAINS
from experiments.participants.table import get_trials
from experiments.preregistration import Preregistration
from experiments.record import (
    AnswersArrived,
    ConsentAsked,
    PersonExcluded,
    PersonWithdrawn,
    Recruited,
    SealedOpened,
    TrialsCollected,
)
from flows.errors import RunMissingError
from flows.record import ACTS, RECORD_TYPES, FoldFinished
from theories.errors import TheoryError
from theories.laboratory import Laboratory
from theories.record import TheoryChecked, TheoryScored
from theories.score import log_predictive, telling
from theories.theory import TheoryProgram, read_program
from traces.errors import TraceError
from traces.fold import canonical_digest
from traces.journal import INTENT, Event
from traces.record import Record, Tombstone, kind_of
from traces.step import JOURNAL_FILE, Recorded, Trace
from traces.validity import Validity
from traces.verify import verify


@dataclass(frozen=True)
class Finding:
    """One line of an audit."""

    name: str
    passed: bool
    detail: str
    withdrawn: bool = False
    """Whether it tells of answers that were withdrawn: neither a failure nor something that could be recomputed."""


@dataclass(frozen=True)
class Audit:
    """All findings on a run and on the runs of its folds."""

    folder: Path
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether every finding passed."""
        return all(finding.passed for finding in self.findings)


def audit(folder: Path, *, recompute: bool = True, n_workers: int = 2) -> Audit:
    """Check a run: chain and artifacts, the order of things, validity, and every score anew.

    Args:
        folder: Of the run.
        recompute: Run every scored theory again in the sandbox and compare.
        n_workers: Theories that run at the same time.

    Raises:
        RunMissingError: There is no run.
    """
    if not (folder / JOURNAL_FILE).exists():
        raise RunMissingError(f"there is no run in {folder}. `lakatos status` lists the runs that there are.")
    report = verify(folder, RECORD_TYPES)
    findings = [Finding(check.name, check.ok, check.detail) for check in report.checks]
    if not report.ok:
        return Audit(folder, tuple(findings))
    try:
        with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
            events = [event for event in trace.journal.events() if event.kind != INTENT]
            records = [trace.read(event) for event in events]
            findings += _order(records)
            validity = Validity(trace.journal.events(), roots=trace.artifacts.has, acts=ACTS)
            findings += _people(trace, records)
            findings.append(_validity(validity, events))
            valid = [item for item in records if validity.valid(item.digest)]
            if recompute:
                with Laboratory(DOMAINS[trace.journal.meta["study"]["domain"]], n_workers) as laboratory:
                    findings.append(_recompute(trace, records, valid, laboratory))
            findings.append(_sealed(trace, valid))
            folds = [item.record for item in records if isinstance(item.record, FoldFinished)]
    except TraceError as error:
        return Audit(folder, (*findings, Finding("reading", False, str(error))))
    for fold in folds:
        below = audit(folder / fold.run, recompute=recompute, n_workers=n_workers)
        wrong = [finding.detail for finding in below.findings if not finding.passed]
        if not wrong and _form(folder / fold.run) != fold.form:
            wrong = [f"its journal in {fold.run} is not the one that the fold's record was made from"]
        passed = f"its own run passes {len(below.findings)} checks"
        findings.append(Finding(f"fold {fold.fold + 1}", not wrong, wrong[0] if wrong else passed))
    return Audit(folder, tuple(findings))


def _validity(validity: Validity, events: list[Event]) -> Finding:
    """Nothing rests on what is unknown; what rests on answers that people withdrew, or changed, is told apart."""
    stale = [event for event in events if not validity.valid(event.record_digest)]
    unknown = [event for event in stale if "was erased" not in validity.explain(event.record_digest)[-1].problem]
    if unknown:
        first = f"first: {unknown[0].kind} (record {unknown[0].seq})"
        return Finding("validity", False, f"{len(unknown)} records rest on unknown ones, {first}")
    if stale:
        reasons = {validity.explain(event.record_digest)[-1].problem for event in stale}
        reason = sorted(reasons)[0] + (f", and {len(reasons) - 1} other reasons" if len(reasons) > 1 else "")
        text = f"{len(stale)} records do not count any more, since something {reason}; all others rest on valid ones"
        return Finding("validity", True, text, withdrawn=True)
    return Finding("validity", True, "every record rests on valid records")


def _people(trace: Trace, records: list[Recorded[Record]]) -> Iterator[Finding]:
    """Answers of single people came after they were asked, and each is where its record says, or was withdrawn."""
    asked: dict[str, int] = {}
    texts: dict[str, set[str]] = {}
    early, unread, n_there, n_arrived = "", "", 0, 0
    for number, item in enumerate(records):
        if isinstance(item.record, Recruited):
            asked[item.record.experiment] = number
        elif isinstance(item.record, ConsentAsked):
            texts.setdefault(item.record.experiment, set()).add(item.record.text)
        elif isinstance(item.record, AnswersArrived):
            n_arrived += 1
            n_there += trace.artifacts.has(item.record.answers)
            if item.record.experiment not in asked:
                early = early or item.record.person[:12]
            if item.record.experiment in texts and item.record.consent not in texts[item.record.experiment]:
                unread = unread or item.record.person[:12]
    if not n_arrived:
        return
    excluded = {item.record.answers for item in records if isinstance(item.record, PersonExcluded)}
    fine = f"answers of {n_there} people, each in an artifact of its own; {len(excluded)} of them excluded by the rules"
    yield Finding("people", not early, f"answers of {early} came before anybody was asked" if early else fine)
    if texts:
        fine = "everybody on the page agreed to a text that is on record"
        yield Finding("consent", not unread, f"{unread} agreed to a text that is not on record" if unread else fine)
    withdrawn = [item.record for item in records if isinstance(item.record, PersonWithdrawn)]
    if withdrawn:
        gone = len({record.person for record in withdrawn})
        text = f"{gone} people withdrew or were forgotten; their answers are erased and the chain is whole"
        targets = {item.record.target for item in records if isinstance(item.record, Tombstone)}
        left = [item.record.person[:12] for item in records if isinstance(item.record, AnswersArrived)
                and item.digest in targets and trace.artifacts.has(item.record.answers)]  # fmt: skip
        if left:
            text = f"answers of {left[0]}, who withdrew, are still there; `lakatos data withdraw` again erases them"
        yield Finding("withdrawn", not left, text, withdrawn=not left)


def _order(records: list[Recorded[Record]]) -> Iterator[Finding]:
    """Preregistration before recruitment before data before score, for every experiment."""
    place = {item.digest: number for number, item in enumerate(records)}
    wrong: list[str] = []
    unfrozen: list[str] = []
    frozen: dict[str, int] = {}
    asked: dict[str, int] = {}
    collected: dict[str, int] = {}
    preregistered: dict[str, frozenset[str]] = {}
    n_scores = n_frozen = 0
    for item in records:
        record, here = item.record, place[item.digest]
        match record:
            case Preregistration():
                frozen[record.experiment] = here
                preregistered[record.experiment] = frozenset(record.rivals)
            case Recruited():
                asked[record.experiment] = here
                if record.experiment not in frozen:
                    wrong.append(f"people were asked for {record.experiment} before it was preregistered")
            case TrialsCollected():
                collected[record.experiment] = here
                if record.experiment not in asked or place.get(record.preregistration, here) >= here:
                    wrong.append(f"answers to {record.experiment} came before its preregistration or recruitment")
            case TheoryScored():
                n_scores += 1
                n_frozen += record.learned is not None
                if record.experiment not in collected:
                    wrong.append(f"{record.theory[:8]} was scored on {record.experiment} before its answers came")
                if record.learned is not None and record.theory not in preregistered.get(record.experiment, ()):
                    unfrozen.append(
                        f"{record.theory[:8]} has a prequential score on {record.experiment} without "
                        "predictions frozen for it"
                    )
    yield Finding(
        "order",
        not wrong,
        wrong[0]
        if wrong
        else f"{len(collected)} experiments: preregistered, then recruited, then collected, then scored",
    )
    yield Finding(
        "prequential", not unfrozen, f"{n_frozen} of {n_scores} scores use predictions frozen before the data"
    )


def _form(folder: Path) -> str:
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return canonical_digest(trace.journal.events())


def _sealed(trace: Trace, records: list[Recorded[Record]]) -> Finding:
    """Sealed answers were opened after the last cycle, and none of their trials was collected before."""
    opened = [item.record for item in records if isinstance(item.record, SealedOpened)]
    if not opened:
        return Finding("sealed", True, "this run sealed nothing")
    kinds = [kind_of(type(item.record)) for item in records]
    if kinds.index("sealed_opened") < max(place for place, kind in enumerate(kinds) if kind == "cycle_closed"):
        return Finding("sealed", False, "sealed answers were opened before the last cycle had ended")

    def keys(artifacts: Iterable[str]) -> set[bytes]:
        tables = [get_trials(trace.artifacts, artifact) for artifact in artifacts]
        return {key for table in tables for key in table.stimuli.keys}

    hidden = keys(artifact for record in opened for artifact in record.trials)
    both = len(hidden & keys(item.record.trials for item in records if isinstance(item.record, TrialsCollected)))
    fine = f"{len(hidden)} sealed trials, opened after the last cycle, none of them collected before"
    return Finding("sealed", not both, f"{both} sealed trials were collected before they were opened" if both else fine)


def _recompute(
    trace: Trace, records: list[Recorded[Record]], valid: list[Recorded[Record]], laboratory: Laboratory
) -> Finding:
    """Run every scored theory on its answers again, where they were not withdrawn; scores must come out the same."""
    checked = {item.record.theory: item.record for item in records if isinstance(item.record, TheoryChecked)}
    plans = [item.record for item in records if isinstance(item.record, Preregistration)]
    predictions = {plan.experiment: plan.predictions for plan in plans}
    n_scores, worst = 0, 0.0
    for item in valid:
        record = item.record
        if not isinstance(record, TheoryScored):
            continue
        known = checked[record.theory]
        program = TheoryProgram(trace.artifacts.get(record.theory).decode(), known.author, known.parents)
        trials = get_trials(trace.artifacts, record.trials)
        try:
            (evidence,) = laboratory.evidence(read_program(program), [trials], record.n_draws)
        except TheoryError as error:
            return Finding("recomputation", False, f"{known.name} on {record.experiment}: {error}")
        pairs = [(record.declared, log_predictive(evidence))]
        if record.learned is not None:
            frozen = trace.artifacts.get_arrays(predictions[record.experiment])[f"{record.theory}:log_weights"]
            pairs.append((record.learned, log_predictive(evidence, frozen)))
        gaps = [np.abs(again.log_predictive - np.asarray(told.log_predictive)) for told, again in pairs]
        gaps.append(np.abs(telling(evidence.probabilities.mean(axis=0)).ravel() - np.asarray(record.proportions)))
        gap = float(max(part.max(initial=0.0) for part in gaps))
        worst, n_scores = max(worst, gap), n_scores + 1
        if gap > 1e-6:
            return Finding(
                "recomputation",
                False,
                f"{known.name} ({record.theory[:8]}) on {record.experiment}: the recorded score or prediction differs "
                f"from the recomputed one by {gap:.3g}",
            )
    return Finding(
        "recomputation", True, f"{n_scores} scores recomputed in the sandbox; largest difference {worst:.1g}"
    )
