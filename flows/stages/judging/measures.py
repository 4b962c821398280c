"""Descriptions of two theories for judges, their verdicts, and the outcomes in later data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lakatos.experiments.task import Trials, identities
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.judging.seats import (
    PROGRAM,
    epoch_of,
)
from lakatos.judges.anchor import AnchorItem
from lakatos.judges.description import ScoredExperiment, describe, favoured
from lakatos.judges.erasure import JudgeMeasured
from lakatos.judges.items.ground_truth import SETTLED, strata
from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.record import PairDescribed
from lakatos.theories.engine.record import TheoryScored
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest, digest_bytes
from lakatos.traces.step import Recorded

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run


TASK = "whether people's next data favour the candidate"


def submission_of(evidence: RunEvidence, candidate: Digest, incumbent: Digest) -> JudgeSubmission:
    """A candidate against the incumbent as judges see them, on all responses so far."""
    own, other = (
        [scored(evidence, name, item) for item in evidence.state.experiments.collected]
        for name in (candidate, incumbent)
    )
    machine = [
        evidence.state.theories.checked[name].record.cycle > 0 for name in (candidate, incumbent)
    ]
    return describe(
        evidence.theory(candidate),
        evidence.theory(incumbent),
        own,
        other,
        machine_written=(machine[0], machine[1]),
    )


def scored(evidence: RunEvidence, theory: Digest, experiment: str) -> ScoredExperiment:
    """Predictions of a theory for an experiment, from its record."""
    record = evidence.state.theories.scores[theory, experiment].record
    return scored_from(record, evidence.trials(experiment))


def scored_from(record: TheoryScored, trials: Trials) -> ScoredExperiment:
    """The result of `scored`, from the record and the responses."""
    shares = np.asarray(record.proportions).reshape(
        -1, 1 if record.n_options == 2 else record.n_options
    )
    whole = np.hstack([1 - shares, shares]) if record.n_options == 2 else shares
    return ScoredExperiment(record.left_out.scores, whole, trials.proportions)


def measure(
    run: Run, cycle: int, submission: JudgeSubmission, inputs: Sequence[Digest]
) -> list[Digest]:
    """Write down what the judges with a seat are shown, and what those that evolve say; what a verdict then cites.

    Args:
        run: The campaign.
        cycle: Cycle of the verdict.
        submission: What they are shown.
        inputs: Records behind it.
    """
    if not run.config.judges.seated:
        return []
    artifact = run.trace.artifacts.put_json(submission.to_json())
    pair = run.record(
        PairDescribed(
            candidate=submission.candidate,
            incumbent=submission.incumbent,
            cycle=cycle,
            submission=artifact,
        ),
        name="describe pair",
        inputs=inputs,
        position={"cycle": cycle},
    )
    written = write_measure(run, artifact, submission, pair.digest).digest
    return [
        pair.digest,
        written,
        *(run.state.seats.held[slot].digest for slot in sorted(run.state.seats.held)),
    ]


def lasting(
    state: RunState, candidate: Digest, cycle: int, otherwise: Sequence[Digest]
) -> list[Digest]:
    """Return what a record cites that was made because of a verdict but must outlive the judges who gave it.

    A theory that was let in stays in the pool, and what was learned from data stays learned, when the judge is
    displaced under whom it was selected: that it was selected is history. Without seats no judge is displaced.
    """
    pair = state.judging.pairs.get((candidate, cycle))
    return [pair.digest] if pair is not None else list(otherwise)


def write_measure(
    run: Run, artifact: Digest, submission: JudgeSubmission, pair: Digest
) -> Recorded[JudgeMeasured]:
    """Write down what the judge that evolves says of a pair that was described."""
    seat, epoch = run.state.seats.held[PROGRAM], epoch_of(run).number
    (judge,) = (judge for judge in epoch_of(run).judges if judge.name == PROGRAM)
    measured = JudgeMeasured(
        subject=artifact, task=TASK, seat=seat.digest, epoch=epoch, value=judge.judge(submission)
    )
    position: dict[str, int | str] = {"slot": PROGRAM, "epoch": epoch}
    return run.record(measured, name="measure", inputs=[pair, seat.digest], position=position)


@dataclass(frozen=True)
class VerdictOutcome:
    """Result of the first experiment after a verdict."""

    experiment: str
    advantage: float
    """Advantage of the candidate, nats per choice."""
    in_errors: float
    """The same in standard errors."""
    records: tuple[Digest, ...]
    """Scores behind it."""


def outcome(evidence: RunEvidence, pair: PairDescribed) -> VerdictOutcome | None:
    """The outcome of a pair in later data; None before there are any."""
    later = [
        name
        for name, item in evidence.state.experiments.designs.items()
        if item.record.cycle > pair.cycle and name in evidence.state.experiments.collected
    ]
    names = (pair.candidate, pair.incumbent)
    if not later or any((name, later[0]) not in evidence.state.theories.scores for name in names):
        return None
    value, in_errors = favoured(*([scored(evidence, name, later[0])] for name in names))
    return VerdictOutcome(
        later[0],
        value,
        in_errors,
        tuple(evidence.state.theories.scores[name, later[0]].digest for name in names),
    )


def submission_in(artifacts: ArtifactStore, pair: PairDescribed) -> JudgeSubmission:
    """Read what judges were shown of a pair of theories."""
    return JudgeSubmission.from_json(artifacts.get_json(pair.submission))


def settled_items(evidence: RunEvidence) -> list[tuple[AnchorItem, Digest]]:
    """Pairs of the campaign that people's data have settled, as anchor items, each with its record."""
    found: dict[Digest, tuple[AnchorItem, Digest]] = {}
    for pair in evidence.state.judging.pairs.values():
        then = outcome(evidence, pair.record)
        if then is None or abs(then.in_errors) < SETTLED:
            continue
        label = then.advantage > 0
        machine = evidence.state.theories.checked[pair.record.candidate].record.cycle > 0
        trials = evidence.trials(then.experiment)
        keys = [] if evidence.domain.sequential else identities(evidence.domain, trials.stimuli)
        item = AnchorItem(
            submission=submission_in(evidence.artifacts, pair.record),
            label=label,
            strata=strata(evidence.config.domain, machine, label),
            problems=tuple(sorted({digest_bytes(key)[:16] for key in keys})) or (then.experiment,),
            people=(f"{then.experiment} people",),
            provenance=f"people's answers here, {then.experiment}; ahead by {abs(then.in_errors):.1f} standard errors",
        )
        found.setdefault(item.digest, (item, pair.digest))
    return list(found.values())
