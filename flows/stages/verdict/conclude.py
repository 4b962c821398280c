"""Stage: the verdict, on data that the loop has not seen where there are any."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.record import SealedOpened
from lakatos.flows.run.engine import task
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.records import EXPLORATORY, CampaignConcluded, CrossValidated, ErrorOnTrials
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.inherit import say_of_library
from lakatos.flows.stages.verdict.company import measure_completeness
from lakatos.flows.stages.verdict.compare import compare_truth, map_theories
from lakatos.flows.stages.verdict.tell import tell_theories
from lakatos.theories.account import names_held_back
from lakatos.theories.record import SealedScored, UnitLogPredictives
from lakatos.theories.scoreboard import frozen_advantage
from lakatos.theories.scoring.score import (
    ScoreEstimate,
    log_predictive,
    paired_difference,
    squared_errors,
)
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

Array = NDArray[np.float64]


@task(name="open_sealed")
async def open_sealed(run: Run) -> Recorded[SealedOpened] | None:
    """Open the sealed answers of an archive, once the loop has ended."""
    source = run.source
    if not isinstance(source, ArchivalParticipants):
        return None
    trials, people = list(source.sealed()), list(source.sealed_people())
    if not trials and not people:
        return None

    def work(context: StepContext) -> SealedOpened:
        names = [item.experiment for item in trials]
        names += [f"{item.experiment}, new people" for item in people]
        sealed = trials + people
        return SealedOpened(
            experiments=tuple(names),
            trials=tuple(context.artifacts.put_json(item.to_json()) for item in sealed),
            n_trials=sum(len(item.stimuli) for item in sealed),
            n_responses=sum(item.n_responses for item in sealed),
            of_people=tuple(place >= len(trials) for place in range(len(sealed))) if people else (),
        )

    return await run.step(
        "open_sealed", work, returns=SealedOpened, inputs=[run.state.campaign.cycles[-1].digest]
    )


@task(name="score_sealed")
async def score_sealed(run: Run) -> None:
    """Score all rivals on the sealed answers, with the people that the open ones taught."""
    opened = run.state.experiments.sealed
    if opened is None:
        return
    trials = [run.trials_of(digest) for digest in opened.record.trials]
    n_draws = run.config.theories.draws

    def score(name: Digest, context: StepContext) -> SealedScored:
        evidence = run.laboratory.evidence(run.theory(name), trials, n_draws)
        squared = [
            squared_errors(item.probabilities.mean(axis=0), item.trials) for item in evidence
        ]
        return SealedScored(
            theory=name,
            experiments=opened.record.experiments,
            n_draws=n_draws,
            scores=tuple(UnitLogPredictives.of(log_predictive(item)) for item in evidence),
            squared=tuple(tuple(item.tolist()) for item in squared),
        )

    for name in run.state.theories.pool:
        inputs = [
            opened.digest,
            run.state.theories.checked[name].digest,
            *run.state.theories.fit_records([name]),
        ]
        await run.step("score_sealed", partial(score, name), returns=SealedScored, inputs=inputs)


@task(name="conclude")
async def conclude(run: Run) -> Recorded[CampaignConcluded]:
    """Say which theory leads, on what evidence, and by how much."""
    run.progress.stage(len(run.state.campaign.cycles), "verdict", "")
    opened = run.state.experiments.sealed
    await score_sealed(run)
    named = await tell_theories(run)
    company = await measure_completeness(run)
    truth = await compare_truth(run)
    await map_theories(run)
    inputs = [run.state.campaign.cycles[-1].digest]
    campaign = run.state.campaign
    further = (company, campaign.confirmation, campaign.sensitivity, run.state.theories.groups)
    inputs += [item.digest for item in (opened, named, truth, *further) if item is not None]
    inputs += [item.digest for item in run.state.theories.sealed_scores.values()]
    inputs += [fold.digest for fold in run.state.campaign.folds]
    inputs += run.state.theories.score_records(
        run.state.theories.pool, run.state.experiments.collected
    )

    told = [in_new_names(run.state, item.record.text) for item in further if item is not None]

    def work(context: StepContext) -> CampaignConcluded:
        return _concluded(run.evidence, told)

    return await run.step("conclude", work, returns=CampaignConcluded, inputs=inputs)


def in_new_names(state: RunState, text: str) -> str:
    """A text of before the verdict with the names that theories have since."""
    names = {
        item.record.name: state.theories.bare_name(theory)
        for theory, item in state.theories.checked.items()
    }
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return text
    # Unchanged names are met too, so that no part of a longer name is taken for a shorter one.
    longest_first = sorted(names, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda found: names[found[0]], text)


def _concluded(evidence: RunEvidence, told: Sequence[str]) -> CampaignConcluded:
    """The verdict on the evidence so far.

    Args:
        evidence: What the run knows.
        told: What further comparisons found, in words.
    """
    state = evidence.state
    board = state.board()
    leader = board.leader.theory
    seeds = [line.theory for line in board.standings if line.theory in state.seeds]
    rivals = [name for name in seeds if name != leader]
    errors = tuple(_errors(evidence, name) for name in dict.fromkeys([leader, *seeds]))
    rival, advantage, basis, n_compared = _advantage(state, leader, rivals)
    interval = advantage.interval_of_chosen(n_compared) if advantage else None
    holds = basis != EXPLORATORY and interval is not None and interval[0] > 0
    cross_validated = _cross_validated(state)
    text = _text(
        evidence, leader, rival, advantage, n_compared, basis, holds, errors, cross_validated
    )
    return CampaignConcluded(
        leader=leader,
        runner_up=board.standings[1].theory if len(board.standings) > 1 else None,
        holds=holds,
        text=" ".join([text, *told, *say_of_library(state, leader), *_whose(evidence.config)]),
        stop=state.campaign.cycles[-1].record.stop,
        advantage=advantage.value if advantage else None,
        advantage_error=advantage.standard_error if advantage else None,
        interval=interval,
        n_compared=n_compared,
        basis=basis,
        errors=errors,
        cross_validated=cross_validated,
    )


def _errors(evidence: RunEvidence, name: Digest) -> ErrorOnTrials:
    """Errors on open and sealed trials; averages go over archived experiments, as published ones do."""
    groups: dict[str, list[Array]] = {}
    opened = []
    for experiment in evidence.state.experiments.collected:
        trials = evidence.trials(experiment)
        predicted = np.asarray(evidence.state.theories.scores[name, experiment].record.proportions)
        squared = squared_errors(predicted.reshape(len(trials.stimuli), -1), trials)
        opened.append(squared.mean())
        groups.setdefault(
            evidence.state.experiments.designs[experiment].record.archive or experiment, []
        ).append(squared)
    if name not in evidence.state.theories.sealed_scores:
        return ErrorOnTrials(
            theory=name,
            open=float(np.mean(opened)),
            sealed=None,
            sealed_error=None,
            all=float(np.mean(opened)),
            sealed_score=None,
        )
    sealed = evidence.state.theories.sealed_scores[name].record
    for experiment, values in zip(sealed.experiments, sealed.squared, strict=True):
        if experiment in groups:
            groups[experiment].append(np.asarray(values))
    flat = np.concatenate(sealed.squared)
    scores = [item.scores.mean for item in sealed.scores]
    return ErrorOnTrials(
        theory=name,
        open=float(np.mean(opened)),
        sealed=float(flat.mean()),
        sealed_error=float(flat.std(ddof=1) / np.sqrt(len(flat))) if len(flat) > 1 else None,
        all=float(np.mean([np.concatenate(parts).mean() for parts in groups.values()])),
        sealed_score=float(np.mean(scores)),
    )


def _advantage(
    state: RunState, leader: Digest, rivals: Sequence[Digest]
) -> tuple[Digest | None, ScoreEstimate | None, str, int]:
    """The first rival that comes closest to the leader on the most trustworthy data there are, and by how much.

    The leader was chosen on the same data, so it counts how many theories it was chosen from. That it must beat every
    rival needs no correction: a false claim would have to be false for each.
    """
    if not rivals:
        return None, None, "no first rival", 1
    found, basis, n_compared = (
        _on_sealed(state, leader, rivals)
        or _on_frozen(state, leader, rivals)
        or _on_all_data(state, rivals)
    )
    closest = min(found, key=lambda name: found[name].value)
    return closest, found[closest], basis, n_compared


def _nearest_of_all(state: RunState, leader: Digest, told: Digest) -> list[str]:
    """A sentence about the rival that comes closest of all on sealed trials, where it is not the one told already.

    Rivals that the campaign itself found are often much closer than those that it began with.
    """
    others = [name for name in state.decisive_sealed if name != leader]
    found = _on_sealed(state, leader, others) if others else None
    if found is None:
        return []
    gains, _, n_compared = found
    nearest = min(gains, key=lambda name: gains[name].value)
    if nearest == told:
        return []
    gain = gains[nearest]
    return [
        f"Of all rivals {state.theories.name(nearest)} comes closest there: "
        f"{gain.value:+.4f} ({gain.interval_in_words(n_compared)})."
    ]


RivalAdvantages: TypeAlias = tuple[dict[Digest, ScoreEstimate], str, int]
"""By how much the leader is ahead of each rival, on what, and of how many theories it was chosen."""


def _on_sealed(state: RunState, leader: Digest, rivals: Sequence[Digest]) -> RivalAdvantages | None:
    """On answers that were sealed from the loop; None where there are none."""
    sealed, opened = state.decisive_sealed, state.experiments.sealed
    if not sealed or opened is None:
        return None
    scores = {name: [units.scores for units in item.scores] for name, item in sealed.items()}
    found = {name: paired_difference(scores[leader], scores[name]) for name in rivals}
    basis = f"{opened.record.n_trials} sealed trials, populations learned from the open ones"
    return found, basis, len(scores)


def _on_all_data(state: RunState, rivals: Sequence[Digest]) -> RivalAdvantages:
    """On the answers that the theories were made from."""
    return {name: state.board().of(name).behind for name in rivals}, EXPLORATORY, 1


def _on_frozen(state: RunState, leader: Digest, rivals: Sequence[Digest]) -> RivalAdvantages | None:
    """On predictions that were frozen before the answers; None where a rival has none."""
    advantages = {
        name: frozen_advantage(state.theories, state.experiments, leader, name) for name in rivals
    }
    frozen = {name: item for name, item in advantages.items() if item is not None}
    if len(frozen) < len(rivals):
        return None
    n_experiments = min(item[1] for item in frozen.values())
    basis = (
        f"predictions frozen before {n_experiments} experiment{'s' if n_experiments > 1 else ''}"
    )
    scores = state.theories.scores.items()
    predicted = {name for (name, _), item in scores if item.record.frozen is not None}
    n_compared = len(predicted & set(state.theories.pool))
    return {name: item[0] for name, item in frozen.items()}, basis, n_compared


def _cross_validated(state: RunState) -> tuple[CrossValidated, ...]:
    folds = [item.record for item in state.campaign.folds]
    if not folds:
        return ()
    n_trials = sum(len(fold.rows) for fold in folds)
    observed = np.concatenate([fold.observed for fold in folds])
    predictions = {"leader": np.concatenate([fold.predicted for fold in folds])}
    for name in sorted(
        set(folds[0].baselines).intersection(*(fold.baselines for fold in folds))
    ):  # as read from disk
        predictions[name] = np.concatenate([fold.baselines[name] for fold in folds])
    lines = []
    for name, predicted in predictions.items():
        squared = ((predicted - observed) ** 2).reshape(n_trials, -1).mean(axis=1)
        lines.append(
            CrossValidated(
                name=name,
                error=float(squared.mean()),
                standard_error=float(squared.std(ddof=1) / np.sqrt(len(squared))),
            )
        )
    return tuple(lines)


def _what_it_says(evidence: RunEvidence, leader: Digest) -> list[str]:
    """The leader's claim, whether its form was published before, and which of its numbers lie at limits."""
    theory, told = evidence.theory(leader), evidence.state.theories.told
    parts = [f"It says: {theory.claim}"]
    title = told.record.published.get(leader) if told else None
    if title:
        apart = "" if theory.name == title else ", random choices apart"
        parts.append(f"This is a published theory ({title}){apart}, with numbers learned here.")
    held = [name.replace("_", " ") for name in names_held_back(theory.priors)]
    if held:
        parts.append(
            f"At a limit of the declared range: {', '.join(held)}; people may be more extreme than it says."
        )
    return parts


def _whose(config: CampaignConfig) -> list[str]:
    """Said wherever the verdict is, where no people answered but a language model."""
    name = config.participants.model
    return (
        [f"All answers are those of the language model {name!r}, none of people."] if name else []
    )


def _text(
    evidence: RunEvidence,
    leader: Digest,
    rival: Digest | None,
    advantage: ScoreEstimate | None,
    n_compared: int,
    basis: str,
    holds: bool,
    errors: Sequence[ErrorOnTrials],
    cross_validated: Sequence[CrossValidated],
) -> str:
    name = evidence.state.theories.name(leader)
    parts = []
    if advantage is None or rival is None:
        parts.append(f"{name} leads; there is no first rival to compare it with.")
    else:
        how = f"{advantage.value:+.4f} nats per choice ({advantage.interval_in_words(n_compared)}; {basis})"
        claim = (
            "predicts choices better than"
            if holds
            else "is not shown to predict choices better than"
        )
        parts.append(
            f"{name} {claim} {evidence.state.theories.name(rival)}, "
            f"of the rivals that the study began with the closest: {how}."
        )
        parts += _nearest_of_all(evidence.state, leader, rival)
    parts += _what_it_says(evidence, leader)
    own = errors[0]
    parts.append(
        f"Its error on choice proportions is {own.open:.4f} on the trials the loop has seen"
        + (f" and {own.sealed:.4f} on the sealed ones" if own.sealed is not None else "")
        + "."
    )
    if evidence.state.campaign.truth is not None:
        truth = evidence.state.campaign.truth.record
        parts.append(
            f"Against the hidden rule its error over all {truth.n_trials} trials of the space is "
            f"{truth.uncorrected[leader]:.2g}, and {truth.corrected[leader]:.2g} without the lapses that both declare."
        )
    if cross_validated:
        best = cross_validated[0]
        parts.append(
            f"Over {len(evidence.state.campaign.folds)} folds of problems that the whole loop had not seen, "
            f"the error is {best.error:.4f} (standard error {best.standard_error:.4f})."
        )
    return " ".join(parts)
