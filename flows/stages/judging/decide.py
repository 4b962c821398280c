"""Whether a candidate is worth people: critics are heard, and the action that is worth most is taken and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakatos.experiments.power import power_of_people
from lakatos.flows.run.evidence import fits_of
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.design import PEOPLE, sample_of_space
from lakatos.flows.stages.judging.epoch import epoch_of, rescored
from lakatos.judges.critic import (
    PROBABILITIES,
    SHARES,
    STANDARD_ERRORS,
    CriticAnswered,
    CriticProfile,
    CriticsHeard,
    fit_critic,
    grade,
    judge_critic,
    learn,
    recovery_critic,
    transitions,
)
from lakatos.judges.decision import ASK, FEWEST, REFINE, CandidateDecided, DecisionPayoffs, decide
from lakatos.judges.judge import Verdict
from lakatos.theories.scoring.score import ScoreEstimate
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

RECOVERY = "recovery"
RECOVERY_COST = 1.0
"""Of simulating people, in the unit of `judges.decision.PAYOFFS`."""
RECOVERY_DRAWS = 256
"""People drawn from each population to score with."""
SAMPLE = 25
"""Participants of a simulated sample, where the study does not say how many it asks."""


async def decide_on(
    run: Run, verdict: Recorded[Verdict], advantage: ScoreEstimate, *, has_place: bool = False
) -> Recorded[CandidateDecided]:
    """Hear critics about a candidate until it is clear whether to ask people, and say why.

    What costs nothing is always heard. A critic that costs something is asked about every candidate until its answers
    about `FEWEST` of them have been settled, or nothing would ever be learned about it; then only where the plan says
    that it is worth it.

    Args:
        run: The campaign.
        verdict: Of the panel.
        advantage: Of the candidate over the incumbent, on all answers so far.
        has_place: Whether the next experiment compares it with the incumbent in any case; see `judges.decision.decide`.
    """
    critics = critics_of(run)
    answers = {
        name: grade(opinion, PROBABILITIES) for name, opinion in verdict.record.opinions.items()
    }
    answers["fit"] = grade(advantage.value / max(advantage.standard_error, 1e-9), STANDARD_ERRORS)
    cited = [verdict.digest]
    past, sources = _past(run)
    mends, breaks = refining(run.state)
    payoffs = replace(run.config.judges.payoffs, mends=mends, breaks=breaks)
    settled = sum(item.favoured is not None and RECOVERY in item.answers for item in past)
    if settled < FEWEST:
        cited.append(await _recover(run, verdict.record, answers))
    decided = await _decide(
        run,
        verdict.record,
        payoffs,
        critics,
        answers,
        past,
        [*cited, *sources],
        has_place=has_place,
    )
    if decided.record.action == ASK + RECOVERY:
        cited += [decided.digest, await _recover(run, verdict.record, answers)]
        decided = await _decide(
            run, verdict.record, payoffs, critics, answers, past, [*cited, *sources], first=False
        )
    return decided


def critics_of(run: Run) -> list[CriticProfile]:
    """Every judge of the panel, the fit to old data, and simulated recovery, by name as in their records."""
    judges = [judge_critic(judge.name, judge.digest) for judge in epoch_of(run).judges]
    settings = {
        "people": PEOPLE,
        "draws": RECOVERY_DRAWS,
        "sample": _n_people(run),
        "trials": run.config.design.trials,
    }
    critics = [*judges, fit_critic(), recovery_critic(RECOVERY_COST, settings)]
    return sorted(critics, key=lambda critic: critic.name)


def _past(run: Run) -> tuple[list[CriticsHeard], list[Digest]]:
    """What critics said about earlier candidates whose fate people have settled, and the records that say so."""
    past, sources = [], []
    for decided in run.state.judging.decided.values():
        record = decided.record
        resolved = run.state.judging.resolved.get(record.verdict)
        if resolved is None:
            continue
        past.append(
            CriticsHeard(
                record.family,
                record.heard,
                record.critics,
                resolved.record.favoured,
                resolved.digest,
            )
        )
        sources += [decided.digest, resolved.digest]
    again, further = rescored(run, {critic.name: critic.version for critic in critics_of(run)})
    return [*past, *again], [*sources, *further]


def refined(state: RunState, cycle: int) -> list[Recorded[CandidateDecided]]:
    """Decisions of a cycle to go on from the candidate in the next search instead of asking people about it."""
    return [
        item
        for candidate, item in state.judging.decided.items()
        if item.record.action == REFINE
        and item.record.cycle == cycle
        and candidate in state.theories.checked
    ]


def refining(state: RunState) -> tuple[float, float]:
    """How often a successor of a losing candidate won, and one of a winning candidate lost, as far as settled."""
    won = {
        candidate: state.judging.resolved[item.record.verdict].record.favoured
        for candidate, item in state.judging.decided.items()
        if item.record.verdict in state.judging.resolved
    }
    return transitions(
        (won[parent], after)
        for candidate, after in won.items()
        if candidate in state.theories.checked
        for parent in state.theories.checked[candidate].record.parents
        if parent in won
    )


async def _decide(
    run: Run,
    verdict: Verdict,
    payoffs: DecisionPayoffs,
    critics: Sequence[CriticProfile],
    answers: dict[str, int],
    past: Sequence[CriticsHeard],
    inputs: Sequence[Digest],
    *,
    first: bool = True,
    has_place: bool = False,
) -> Recorded[CandidateDecided]:
    heard = dict(answers)

    def work(context: StepContext) -> CandidateDecided:
        learned = learn(past, critics, run.config.domain)
        seen = tuple(heard.get(critic.name) for critic in critics)
        decision = decide(payoffs, learned, seen, context.rng, first=first, has_place=has_place)
        return CandidateDecided(
            verdict=inputs[0],
            candidate=verdict.candidate,
            incumbent=verdict.incumbent,
            cycle=verdict.cycle,
            family=run.config.domain,
            critics={critic.name: critic.version for critic in critics},
            heard=heard,
            mends=payoffs.mends,
            breaks=payoffs.breaks,
            tables=learned.digest,
            n_lost=learned.n_lost,
            n_won=learned.n_won,
            belief=decision.belief,
            action=decision.action,
            values=decision.values,
            rule=decision.rule,
            text=decision.sentence,
        )

    position: dict[str, int | str] = {
        "cycle": verdict.cycle,
        "theory": verdict.candidate,
        "heard": len(heard),
    }
    return await run.step(
        "decide", work, returns=CandidateDecided, inputs=inputs, position=position
    )


async def _recover(run: Run, verdict: Verdict, answers: dict[str, int]) -> Digest:
    """Simulate people of candidate and incumbent, and take down how often the candidate is recovered."""
    names = [verdict.candidate, verdict.incumbent]

    def work(context: StepContext) -> CriticAnswered:
        theories = [run.theory(name) for name in names]
        stimuli = sample_of_space(run, context.rng, run.config.design.trials)
        people = run.laboratory.scores_of_simulated_people(
            theories, RECOVERY_DRAWS, stimuli, context.rng, n_people=PEOPLE
        )
        share = float(power_of_people(people, _n_people(run), context.rng).power[0, 1])
        (critic,) = (critic for critic in critics_of(run) if critic.name == RECOVERY)
        return CriticAnswered(
            critic=RECOVERY,
            critic_version=critic.version,
            candidate=verdict.candidate,
            incumbent=verdict.incumbent,
            cycle=verdict.cycle,
            value=share,
            level=grade(share, SHARES),
        )

    inputs = [run.state.theories.checked[name].digest for name in names]
    inputs += [item.digest for item in run.state.experiments.collected.values()]
    inputs += fits_of(run.state, names)
    position: dict[str, int | str] = {"cycle": verdict.cycle, "theory": verdict.candidate}
    found = await run.step(
        "recover", work, returns=CriticAnswered, inputs=inputs, position=position
    )
    answers[RECOVERY] = found.record.level
    return found.digest


def _n_people(run: Run) -> int:
    return run.config.design.participants or SAMPLE
