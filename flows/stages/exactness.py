"""Stage: look whether the leader can still be told from the truth, so that no search is made for what is found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lakatos.flows.run.engine import task
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.records import ExactnessWeighed
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.arbitrate import features_of_trials, predictions_of, scores_behind
from lakatos.flows.stages.close import holds
from lakatos.theories.diagnosis.case_file import examine
from lakatos.theories.diagnosis.rule import words
from lakatos.theories.scoring.exactness import error_beyond_chance
from lakatos.theories.scoring.score import ScoreEstimate, average
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

OTHERS = 2
"""Rivals that a share of the leader's people might follow."""


@task(name="weigh")
async def weigh_exactness(run: Run, cycle: int) -> Recorded[ExactnessWeighed] | None:
    """Hold the leader's frozen predictions, and its simulated people, against the answers that came after them.

    Returns:
        What was found; None where the study does not ask, nothing was frozen, or a rival was not beaten yet.
    """
    board = run.state.board()
    leader = board.leader.theory
    frozen = foretold(run.state, leader)
    if not run.config.stop.exact or not frozen or not holds(run.evidence, board):
        return None
    estimates = [error_of_frozen(run.evidence, leader, name) for name in frozen]
    known = [item for item in estimates if item is not None]
    if len(known) < len(frozen):
        return None
    names = [line.theory for line in board.standings[: 1 + OTHERS]]

    def work(context: StepContext) -> ExactnessWeighed:
        predictions = predictions_of(run.evidence, names)
        seen = examine(
            predictions[0], predictions[1:], features_of_trials(run.evidence), context.rng
        )
        misfits = tuple(words(item.check.feature) for item in seen.found)
        return weighed(
            run.state, run.config, cycle, leader, frozen, average(known), len(seen.checks), misfits
        )

    inputs = scores_behind(run.state, names)
    inputs += [run.state.experiments.preregistrations[name].digest for name in frozen]
    return await run.step(
        "weigh", work, returns=ExactnessWeighed, inputs=inputs, position={"cycle": cycle}
    )


def foretold(state: RunState, theory: Digest) -> list[str]:
    """Experiments before which a theory's predictions were frozen, once it had learned who people are."""
    first = next(iter(state.experiments.collected))
    return [
        name
        for name in state.experiments.collected
        if name != first and theory in state.experiments.preregistrations[name].record.rivals
    ]


def error_of_frozen(evidence: RunEvidence, theory: Digest, experiment: str) -> ScoreEstimate | None:
    """Error beyond chance of what was frozen for a theory before an experiment."""
    frozen = evidence.artifacts.get_arrays(
        evidence.state.experiments.preregistrations[experiment].record.predictions
    )
    several = frozen.get(f"{theory}:shares")
    shares = frozen[f"{theory}:proportions"][0][:, None] if several is None else several[0]
    trials = evidence.trials(experiment)
    if len(shares) != len(trials.stimuli):
        return None
    return error_beyond_chance(trials, np.asarray(shares))


def weighed(
    state: RunState,
    config: CampaignConfig,
    cycle: int,
    leader: Digest,
    experiments: Sequence[str],
    error: ScoreEstimate,
    n_checks: int,
    misfits: tuple[str, ...],
) -> ExactnessWeighed:
    """The record, with the reason in words."""
    allowed, (low, high) = config.stop.exact, error.interval
    exact = high < allowed and not misfits
    found = (
        f"{len(misfits)} of {n_checks} checks find a misfit: {', '.join(misfits)}"
        if misfits
        else f"none of {n_checks} checks of its people's answers finds a misfit"
    )
    text = (
        f"exact: {state.theories.name(leader)} cannot be told from the truth"
        if exact
        else f"{state.theories.name(leader)} may still be improved"
    )
    return ExactnessWeighed(
        cycle=cycle,
        leader=leader,
        experiments=tuple(experiments),
        error=error.value,
        standard_error=error.standard_error,
        allowed=allowed,
        n_checks=n_checks,
        misfits=misfits,
        exact=exact,
        text=f"{text}; the squared error of what it predicted before {', '.join(experiments)} is "
        f"{error.value:.4f} beyond chance (95% interval {low:.4f} to {high:.4f}, up to {allowed:g} allowed), and "
        f"{found}",
    )
