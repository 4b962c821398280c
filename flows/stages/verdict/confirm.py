"""Stage: a last, preregistered test of what the winner alone predicts, on new people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.conditions import conditions_of, in_condition, with_orders
from lakatos.experiments.design import design_to_json
from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.participants.source import ParticipantSource
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.power import power_of_people, recovery_power
from lakatos.experiments.record import DesignChosen, PairPower
from lakatos.experiments.task import Design, Domain, Stimuli, StimulusOffer, identities
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.asked import AnswersAwaited, AskedPeople
from lakatos.flows.stages.collect import collect, recruit, standing
from lakatos.flows.stages.preregister import CONFIRMATION, preregister
from lakatos.flows.stages.score import score
from lakatos.theories.discovery.design_rivals import DESIGN_DRAWS
from lakatos.theories.discovery.rivals import differing
from lakatos.theories.engine.scoring.score import ScoreEstimate, is_tie, paired_difference
from lakatos.theories.findings.verdicts.record import ConfirmationFinished
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

Array = NDArray[Any]
Outcome = Literal["confirmed", "refuted", "inconclusive"]
SIMULATED = 64
"""People per theory where responses depend on earlier ones."""


@task(name="confirm")
async def confirm(run: Run) -> Recorded[ConfirmationFinished] | AnswersAwaited | None:
    """Ask new people the trials on which the winner and its best rival differ most, and say what came out.

    Returns:
        The outcome, or what is waited for.
    """
    if not run.config.confirmation.participants:
        return None
    cycle = len(run.state.campaign.cycles) + 1
    recruitment = standing(run, cycle, experiment=CONFIRMATION)
    if recruitment is None:
        chosen = await choose(run, cycle)
        plan = await preregister(run, cycle, chosen)
        recruitment = AskedPeople(plan, await recruit(run, cycle, plan))
    collected = await collect(run, cycle, recruitment.plan, recruitment.recruited)
    if isinstance(collected, AnswersAwaited):
        return collected
    leader, rival = run.state.experiments.designs[CONFIRMATION].record.rivals
    await score(
        run,
        cycle,
        [
            name
            for name in run.state.theories.checked
            if name in {*run.state.theories.pool, leader, rival}
        ],
    )
    return finish(run, leader, rival)


def winner_and_rivals(evidence: RunEvidence) -> tuple[Digest, list[Digest]]:
    """The leader, and the best theories that differ from it in what they predict; the second best if none does."""
    ranked = [line.theory for line in evidence.state.board().standings]
    differ = differing(evidence)
    others = [name for name in ranked[1:] if differ(ranked[0], name)]
    return ranked[0], (others or ranked[1:2])[: evidence.config.theories.rivals]


async def choose(run: Run, cycle: int) -> Recorded[DesignChosen]:
    """Choose the best rival that can be told from the winner, and the trials on which the two differ most."""
    leader, rivals = winner_and_rivals(run.evidence)
    run.progress.stage(cycle, "confirm", run.state.theories.name(leader))
    inputs = [run.state.theories.pool[name].digest for name in (leader, *rivals)]
    inputs += run.state.theories.score_records((leader, *rivals), run.state.experiments.collected)
    return await run.step(
        "choose_confirmation",
        lambda context: choose_trials(run.evidence, run.source, context, cycle, leader, rivals),
        returns=DesignChosen,
        inputs=inputs,
        position={"cycle": cycle},
    )


@dataclass(frozen=True)
class ConfirmationContrast:
    """A test of the winner against one rival."""

    rival: Digest
    stimuli: Stimuli
    power: tuple[float, float]
    """Probability with which the planned people recover the winner, and the rival, where it is true."""


def choose_trials(
    evidence: RunEvidence,
    source: ParticipantSource,
    context: StepContext,
    cycle: int,
    leader: Digest,
    rivals: Sequence[Digest],
) -> DesignChosen:
    """The best rival that the planned people can tell from the winner, else the one that they nearly can."""
    settings, design = evidence.config.confirmation, evidence.config.design
    offers = source.offers(context.rng, evidence.config.design.candidates)
    contrasts: list[ConfirmationContrast] = []
    for rival in rivals:
        contrasts.append(contrast(evidence, context, offers, leader, rival))
        if min(contrasts[-1].power) >= design.power:
            break
    best = max(contrasts, key=lambda item: min(item.power))
    repetitions = repetitions_of(evidence.config, evidence.domain)
    plan = Design(CONFIRMATION, best.stimuli, repetitions, settings.participants)
    plan = with_orders(plan, conditions_of(evidence.domain), design.blocks, context.rng)
    names = [evidence.state.theories.name(name) for name in (leader, best.rival)]
    return DesignChosen(
        cycle=cycle,
        number=0,
        experiment=CONFIRMATION,
        design=context.artifacts.put_json(design_to_json(plan)),
        rivals=(leader, best.rival),
        n_candidates=sum(len(offer.stimuli) for offer in offers),
        n_trials=len(best.stimuli),
        repetitions=repetitions,
        n_participants=settings.participants,
        n_random=0,
        archive="",
        information=(0.0,) * len(best.stimuli),
        powers=(
            PairPower(
                first=leader,
                second=best.rival,
                power_first=best.power[0],
                power_second=best.power[1],
                separable=min(best.power) >= design.power,
            ),
        ),
        accepted=True,
        reason=(
            f"Trials on which the predictions of {names[0]} and {names[1]} differ most. With "
            f"{settings.participants} participants "
            f"the power is {best.power[0]:.2f} if the first theory is true and {best.power[1]:.2f} if the second is."
        ),
    )


def contrast(
    evidence: RunEvidence,
    context: StepContext,
    offers: Sequence[StimulusOffer],
    leader: Digest,
    rival: Digest,
) -> ConfirmationContrast:
    """The trials on which two theories, as the data have taught them, differ most, and the power to tell them apart."""
    settings, repetitions = (
        evidence.config.confirmation,
        repetitions_of(evidence.config, evidence.domain),
    )
    theories = [evidence.theory(leader), evidence.theory(rival)]
    found: list[tuple[float, Stimuli, list[Array], Array | None]] = []
    for offer in offers:  # one, or several schedules
        stimuli, answers = offer.stimuli, []
        if not evidence.domain.sequential:
            ways = in_each_condition(evidence.domain, stimuli)
            shown = evidence.laboratory.answers_of(theories, ways, DESIGN_DRAWS)
            rows = most_different(evidence.config, evidence.domain, ways[0], shown)
            stimuli = Stimuli.concatenate([way.take(rows) for way in ways])
            answers = [np.concatenate([way[:, rows] for way in own], axis=1) for own in shown]
            if on_both_sides(evidence.config, evidence.domain):
                swapped = evidence.domain.swap_sides(stimuli)
                others = evidence.laboratory.answers_of(theories, [swapped], DESIGN_DRAWS)
                answers = [
                    np.concatenate([own, other[0]], axis=1)
                    for own, other in zip(answers, others, strict=True)
                ]
                stimuli = Stimuli.concatenate([stimuli, swapped])
        people, gain = None, 0.0
        if evidence.domain.sequential or any(theory.learns for theory in theories):
            people = evidence.laboratory.scores_of_simulated_people(
                theories,
                DESIGN_DRAWS,
                stimuli,
                context.rng,
                repetitions=repetitions,
                n_people=SIMULATED,
            )
            gain = float(
                (people[0, :, 0] - people[0, :, 1]).mean()
                + (people[1, :, 1] - people[1, :, 0]).mean()
            )
        found.append((gain, stimuli, answers, people))
    _, stimuli, answers, people = max(found, key=lambda item: item[0])
    if people is not None:
        table = power_of_people(people, settings.participants, context.rng, n_simulations=200)
    else:
        table = recovery_power(
            answers, repetitions, settings.participants, context.rng, n_simulations=200
        )
    return ConfirmationContrast(
        rival, stimuli, (float(table.power[0, 1]), float(table.power[1, 0]))
    )


def on_both_sides(config: CampaignConfig, domain: Domain) -> bool:
    """Whether each trial is shown on either side, so that the right key does not tell the condition of a timed task."""
    is_even = config.confirmation.repetitions % 2 == 0
    return timed_task(domain) is not None and config.design.sides == "both" and is_even


def repetitions_of(config: CampaignConfig, domain: Domain) -> int:
    """Presentations of each trial, of each side where there are two; the steps of a schedule come once."""
    if domain.sequential:
        return 1
    return config.confirmation.repetitions // (2 if on_both_sides(config, domain) else 1)


def in_each_condition(domain: Domain, stimuli: Stimuli) -> list[Stimuli]:
    """The different trials as they are in each condition; as they are where there are no conditions."""
    places = range(len(conditions_of(domain)))
    return [in_condition(stimuli, place) for place in places] or [stimuli]


def most_different(
    config: CampaignConfig, domain: Domain, stimuli: Stimuli, answers: Sequence[Sequence[Array]]
) -> list[int]:
    """Rows of the trials, different ones, on which two theories' expected choices are farthest apart.

    Args:
        config: With the number of trials.
        domain: Of the trials.
        stimuli: The trials in one condition.
        answers: Of each theory in each condition, ``(n_draws, n_trials, n_options)``.
    """
    first, second = ([way.mean(axis=0) for way in own] for own in answers)
    gaps = [np.abs(one - other).sum(axis=1) for one, other in zip(first, second, strict=True)]
    gap = np.sum(gaps, axis=0)
    keys = identities(domain, stimuli)
    rows: list[int] = []
    seen: set[bytes] = set()
    for row in np.argsort(-gap, kind="stable").tolist():
        if keys[row] not in seen and len(rows) < config.confirmation.trials:
            rows.append(row)
            seen.add(keys[row])
    return rows


def finish(run: Run, leader: Digest, rival: Digest) -> Recorded[ConfirmationFinished]:
    """Compare the two on predictions frozen before the first person was asked."""
    pair = [run.state.theories.scores.get((name, CONFIRMATION)) for name in (leader, rival)]
    names = [run.state.theories.name(name) for name in (leader, rival)]
    advantage = None
    if all(item is not None and item.record.frozen is not None for item in pair):
        own, other = (
            [item.record.frozen.scores] for item in pair if item is not None and item.record.frozen
        )
        advantage = paired_difference(own, other)
    outcome, text = verdict(names[0], names[1], advantage)
    collected = run.state.experiments.collected[CONFIRMATION]
    return run.record(
        ConfirmationFinished(
            winner=leader,
            rival=rival,
            outcome=outcome,
            advantage=None if advantage is None else advantage.value,
            advantage_error=None if advantage is None else advantage.standard_error,
            interval=None if advantage is None else advantage.interval,
            n_participants=collected.record.n_people,
            text=text,
        ),
        name="confirm",
        inputs=[collected.digest, *(item.digest for item in pair if item is not None)],
    )


def verdict(winner: str, rival: str, advantage: ScoreEstimate | None) -> tuple[Outcome, str]:
    """The outcome by the preregistered interval of the winner's advantage, and in words."""
    if advantage is None:
        return "inconclusive", f"The confirmation of {winner} could not be scored."
    low, high = advantage.interval
    few = (
        f"; below {LEAST_UNITS} participants no difference is claimed"
        if advantage.is_of_few
        else ""
    )
    how = f"(95% interval of its advantage over {rival} {low:+.4f} to {high:+.4f} nats per choice{few})"
    if advantage.is_above_zero():
        return (
            "confirmed",
            f"A preregistered test with new participants confirmed the prediction of {winner} {how}.",
        )
    if advantage.value < 0 and not is_tie(advantage):
        return "refuted", f"A preregistered test with new participants contradicted {winner} {how}."
    return (
        "inconclusive",
        f"A preregistered test with new participants was inconclusive for {winner} {how}.",
    )
