"""Stage: advocates propose experiments that their own theory should win; what simulation bears out can be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lakatos.experiments.errors import DesignError, ExperimentError
from lakatos.experiments.participants.source import ParticipantSource
from lakatos.experiments.planning.plan import PEOPLE
from lakatos.experiments.power import PowerTable, power_of_people, recovery_power
from lakatos.experiments.task import Domain, Stimuli
from lakatos.flows.roles.ask import RoleReply, ask_stage
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.theories.discovery.design_rivals import DESIGN_DRAWS
from lakatos.theories.discovery.rivals import leading_rivals
from lakatos.theories.discovery.roles.answer import ProposedTrials, trials_type
from lakatos.theories.discovery.roles.askable import (
    ALIKE,
    AskableTrials,
    askable_exhibits,
    askable_trials,
    differences,
    proposed_set,
    ranges_in_words,
    trials_in_words,
)
from lakatos.theories.discovery.roles.exhibit import Exhibit, theory_exhibit
from lakatos.theories.discovery.roles.prompt import read_prompt
from lakatos.theories.discovery.roles.question import RoleQuestion
from lakatos.theories.discovery.roles.record import TrialsProposed
from lakatos.theories.language.theory import Theory
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

LEAST_TRIALS = 2
"""Minimum number of admissible trials of a proposal."""
STAGES = ("propose trials", "mend trials", "mend trials again")
"""A proposal has two repairs at most: one for trials that cannot be asked, one for theories that are not told apart."""


@dataclass(frozen=True)
class AdvocateTurn:
    """One advocate's proposal on its way through repairs."""

    own: Digest
    rival: Digest
    askable: AskableTrials
    question: RoleQuestion[ProposedTrials]
    before: Recorded[TrialsProposed] | None = None
    """Its last try; what could be asked of it is kept."""
    repaired: frozenset[str] = frozenset()
    """Reasons for which it already had a repair."""


@task(name="propose trials")
async def propose_trials(
    run: Run, cycle: int, number: int
) -> list[Recorded[TrialsProposed]] | None:
    """The advocates of the two leading rivals propose an experiment each, and mend it where it fails."""
    if not run.config.roles.advocate:
        return None
    names = leading_rivals(run.evidence)
    first, second = names[:2]
    run.progress.stage(
        cycle,
        "propose trials",
        f"{run.state.theories.name(first)}, {run.state.theories.name(second)}",
    )
    rng = np.random.default_rng([run.config.seed, cycle, number])
    askable = askable_trials(run.evidence, run.source, [run.theory(first), run.theory(second)], rng)
    if askable is None:
        return []
    turns = {
        own: AdvocateTurn(own, rival, askable, _question(run.evidence, own, rival, names, askable))
        for own, rival in ((first, second), (second, first))
    }
    tried: list[Recorded[TrialsProposed]] = []
    for attempt, stage in enumerate(STAGES):
        heard = await ask_stage(
            run, cycle, stage, [turn.question for turn in turns.values()], number
        )
        going: dict[Digest, AdvocateTurn] = {}
        for reply in heard:
            if reply.value is None:
                continue
            turn = turns[reply.question.subject]
            found = await _try(run, cycle, number, reply, turn, names, attempt)
            tried.append(found)
            if found.record.failed and found.record.failed not in turn.repaired:
                going[turn.own] = _mending(run.evidence, turn, reply, found)
        turns = going
    return tried


def _mending(
    evidence: RunEvidence,
    turn: AdvocateTurn,
    heard: RoleReply[ProposedTrials],
    found: Recorded[TrialsProposed],
) -> AdvocateTurn:
    """One more chance: what is kept, what was left out, and what has to be mended."""
    record = found.record
    assert heard.value is not None
    said = heard.value.model_dump(mode="json")
    kept: list[Exhibit] = []
    stimuli = _kept(evidence.domain, evidence.artifacts, record)
    if stimuli is not None:
        words = trials_in_words(
            evidence.domain,
            evidence.laboratory,
            stimuli,
            [evidence.theory(turn.own), evidence.theory(record.rival)],
        )
        kept = [Exhibit("trials that are kept", words)]
    what = "Your experiment does not tell the theories apart; add to it, or propose others."
    if record.failed == "form":
        what = "Too few of your trials can be asked; put others in place of those."
    if stimuli is not None and not evidence.domain.sequential:
        what += " What is kept need not be given again."
    question = replace(
        turn.question,
        task=f"{turn.question.task} {what}",
        last=(
            Exhibit("your last answer", said),
            *kept,
            Exhibit("why it was refused", [record.reason, *record.left_out]),
        ),
        inputs=(found.digest, *turn.question.inputs),
        tools=False,
    )
    return replace(turn, question=question, before=found, repaired=turn.repaired | {record.failed})


def _kept(domain: Domain, artifacts: ArtifactStore, record: TrialsProposed) -> Stimuli | None:
    if record.trials is None or domain.sequential:
        return None
    return Stimuli.from_json(artifacts.get_json(record.trials))


def _question(
    evidence: RunEvidence,
    own: Digest,
    rival: Digest,
    names: Sequence[Digest],
    askable: AskableTrials,
) -> RoleQuestion[ProposedTrials]:
    theories = [evidence.theory(own), evidence.theory(rival)]
    name_of = evidence.state.theories.name
    space = {name: str(value) for name, value in sorted(evidence.config.space.items())}
    others = [
        f"{name_of(name)}: {evidence.state.theories.checked[name].record.claim}"
        for name in names
        if name != own
    ]
    inputs = [evidence.state.theories.pool[name].digest for name in names]
    inputs += evidence.state.theories.score_records(names, evidence.state.experiments.collected)
    return RoleQuestion(
        role="advocate",
        prompt=read_prompt("experiment"),
        subject=own,
        task=f"You are the advocate of {name_of(own)}; its rival is {name_of(rival)}. "
        "Propose an experiment.",
        exhibits=(
            *askable_exhibits(evidence.domain, evidence.laboratory, askable, theories),
            Exhibit("settings of the space", space),
            Exhibit("rivals that you can name, and what they say", others),
            theory_exhibit(theories[0], "your theory"),
            theory_exhibit(theories[1], "the rival"),
        ),
        answer=trials_type(
            askable.sample, n_listed=len(askable.listed), sequential=evidence.domain.sequential
        ),
        inputs=tuple(inputs),
        tools=True,
    )


async def _try(
    run: Run,
    cycle: int,
    number: int,
    heard: RoleReply[ProposedTrials],
    turn: AdvocateTurn,
    names: Sequence[Digest],
    attempt: int,
) -> Recorded[TrialsProposed]:
    """Leave out trials that cannot be asked, then simulate people who follow either theory on the others."""
    value = heard.value
    assert value is not None
    before = None if turn.before is None else turn.before.record

    def work(context: StepContext) -> TrialsProposed:
        base = TrialsProposed(
            cycle=cycle, number=number, answer=heard.answered.digest, theory=turn.own, rival=turn.rival,
            trials=None, n_trials=len(value.made) or len(value.numbers), power=None, power_of_rival=None,
            passed=False, reason="", contrast=value.reason, where=ranges_in_words(value), failed="form",
        )  # fmt: skip
        try:
            rival = _rival_named(run.state, value.rival, turn, names)
            base = base.model_copy(update={"rival": rival})
            return _tried(run.evidence, run.source, context, base, value, turn, before)
        except (ExperimentError, ValueError, TypeError, IndexError) as error:
            return base.model_copy(update={"reason": f"{type(error).__name__}: {error}"})

    return await run.step(
        "try trials",
        work,
        returns=TrialsProposed,
        inputs=[heard.answered.digest, *heard.question.inputs],
        position={"cycle": cycle, "number": number, "theory": turn.own, "attempt": attempt},
    )


def _rival_named(state: RunState, name: str, turn: AdvocateTurn, names: Sequence[Digest]) -> Digest:
    """The theory that an answer names as the rival; the question's where it names none.

    Raises:
        DesignError: None of the leading rivals has this name.
    """
    if not name.strip():
        return turn.rival
    known = {state.theories.name(item).lower(): item for item in names if item != turn.own}
    found = known.get(" ".join(name.lower().split()))
    if found is None:
        told = ", ".join(state.theories.name(item) for item in known.values())
        raise DesignError(f"there is no rival {name!r} to compare with yours. Known: {told}")
    return found


def _tried(
    evidence: RunEvidence,
    source: ParticipantSource,
    context: StepContext,
    base: TrialsProposed,
    value: ProposedTrials,
    turn: AdvocateTurn,
    before: TrialsProposed | None,
) -> TrialsProposed:
    """The result of a proposal; see `_try`."""
    pair = [evidence.theory(base.theory), evidence.theory(base.rival)]
    stimuli = None if before is None else _kept(evidence.domain, evidence.artifacts, before)
    kept = None if stimuli is None or before is None else (stimuli, before.archive)
    found = proposed_set(evidence, source, value, turn.askable, pair, kept, context.rng)
    stimuli, left_out = found.stimuli, list(found.left_out)
    if stimuli is not None and not (
        evidence.domain.sequential or any(theory.learns for theory in pair)
    ):
        gaps = differences(evidence.laboratory, pair, stimuli)
        left_out += [
            f"{evidence.domain.describe(stimuli, int(row))}: both theories predict nearly the same"
            for row in np.flatnonzero(gaps < ALIKE)
        ]
        stimuli = stimuli.take(np.flatnonzero(gaps >= ALIKE))
    n_kept = 0 if stimuli is None else len(stimuli)
    told = base.model_copy(
        update={
            "archive": found.archive,
            "n_found": found.n_found,
            "n_trials": n_kept + len(left_out),
            "left_out": tuple(left_out),
            "trials": None if not n_kept or stimuli is None
            else context.artifacts.put_json(stimuli.to_json()),
        }
    )  # fmt: skip
    if stimuli is None or n_kept < LEAST_TRIALS:
        return told.model_copy(
            update={"reason": f"DesignError: {n_kept} of {told.n_trials} trials can be asked"}
        )
    table = _power(evidence, context, pair, stimuli, turn.askable, found.archive)
    powers = float(table.power[0, 1]), float(table.power[1, 0])
    required = evidence.config.design.power
    passed = min(powers) >= required
    chances = (
        f"with probability {powers[0]:.2f} if it is yours and {powers[1]:.2f} if it is the rival"
    )
    failed: Literal["", "power"] = "" if passed else "power"
    update: Mapping[str, object] = {
        "power": powers[0],
        "power_of_rival": powers[1],
        "passed": passed,
        "failed": failed,
        "reason": ""
        if passed
        else f"people would show the true one better {chances}; {required:g} is required",
    }
    return told.model_copy(update=update)


def _power(
    evidence: RunEvidence,
    context: StepContext,
    pair: Sequence[Theory],
    stimuli: Stimuli,
    askable: AskableTrials,
    archive: str,
) -> PowerTable:
    """Probabilities with which people who follow either theory show that one as the better one."""
    settings = evidence.config.design
    offers = [item.offer for item in askable.listed if item.offer.archive == archive]
    people = offers[0].n_participants if offers and archive else 0
    n_people = people or settings.participants or settings.most_participants
    pooled = bool(offers) and offers[0].pooled
    repetitions = (offers[0].repetitions if offers else 0) or settings.repetitions
    if evidence.domain.sequential or (any(theory.learns for theory in pair) and not pooled):
        scores = evidence.laboratory.scores_of_simulated_people(
            list(pair), DESIGN_DRAWS, stimuli, context.rng, repetitions=repetitions, n_people=PEOPLE
        )
        return power_of_people(scores, n_people, context.rng, n_simulations=100)
    answers = [
        own[0] for own in evidence.laboratory.answers_of(list(pair), [stimuli], DESIGN_DRAWS)
    ]
    return recovery_power(
        answers, repetitions, n_people, context.rng, n_simulations=100, pooled=pooled
    )
