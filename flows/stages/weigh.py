"""What language models' proposed trials would add to the search's own design; the better design is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import choose_trials
from lakatos.experiments.record import ProposalWeighed
from lakatos.experiments.task import Stimuli, StimulusOffer, identities, with_random_sides
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.stages.plan import (
    PEOPLE,
    ChosenTrials,
    DesignQuestion,
    PlannedDesign,
    choose_from,
    costs_of_trials,
    plan_design,
    simulated_people,
    ways_to_answer,
)
from lakatos.theories.roles.record import TrialsProposed
from lakatos.traces.step import Recorded, StepContext

Array = NDArray[Any]
HowTaken = Literal["whole", "mixed", "schedule", "the same"]
HOW_SAME: HowTaken = "the same"


@dataclass(frozen=True)
class DesignWithProposal:
    """A design of as many trials as the search's own, with proposed ones in it."""

    how: HowTaken
    n_taken: int
    """Of the proposed trials, those that the search had not chosen by itself."""
    offer: StimulusOffer
    chosen: ChosenTrials
    people: Array | None = None
    """Scores of simulated people, of a schedule."""


def weigh_proposals(
    evidence: RunEvidence,
    context: StepContext,
    question: DesignQuestion,
    offers: Sequence[StimulusOffer],
    own: PlannedDesign,
    proposals: Sequence[Recorded[TrialsProposed]],
) -> tuple[PlannedDesign, tuple[ProposalWeighed, ...]]:
    """The search's own design, or one with trials of language models that says more; and how they compare.

    Args:
        evidence, context, question: As of the search.
        offers: From which it chose.
        own: What it chose without any proposal.
        proposals: That passed their checks.
    """
    weighed: list[ProposalWeighed] = []
    designs: list[PlannedDesign] = []
    for item in proposals:
        planned = [
            (
                plan_design(
                    evidence, context, own.name, question, made.offer, made.chosen, made.people
                ),
                made,
            )
            for made in _designs_with(evidence, context, question, offers, own, item.record)
        ]
        design, how, n_taken = own, HOW_SAME, 0
        if planned:
            design, made = max(planned, key=lambda pair: pair[0].information.value)
            how, n_taken = made.how, made.n_taken
        designs.append(design)
        weighed.append(_weighed(item, own, design, how, n_taken))
    if not designs:
        return own, ()
    best = max(range(len(designs)), key=lambda place: designs[place].information.value)
    if not is_better(designs[best], own):
        return own, tuple(weighed)
    weighed[best] = weighed[best].model_copy(update={"adopted": True})
    return designs[best], tuple(weighed)


def is_better(design: PlannedDesign, other: PlannedDesign) -> bool:
    """Whether a design is expected to say more than another, by more than the error of the difference."""
    own, rest = design.information, other.information
    error = float(np.hypot(own.standard_error, rest.standard_error))
    return own.value - rest.value > error


def _weighed(
    item: Recorded[TrialsProposed],
    own: PlannedDesign,
    other: PlannedDesign,
    how: HowTaken,
    n_taken: int,
) -> ProposalWeighed:
    pair = item.record.theory, item.record.rival
    return ProposalWeighed(
        proposal=item.digest,
        how=how,
        n_taken=n_taken,
        information=other.information.value,
        information_error=other.information.standard_error,
        own_information=own.information.value,
        own_error=own.information.standard_error,
        power=other.power_of(*pair),
        own_power=own.power_of(*pair),
        adopted=False,
    )


def _designs_with(
    evidence: RunEvidence,
    context: StepContext,
    question: DesignQuestion,
    offers: Sequence[StimulusOffer],
    own: PlannedDesign,
    record: TrialsProposed,
) -> list[DesignWithProposal]:
    """Designs with proposed trials in them; none where the search asks the same by itself.

    Either all proposed trials are asked, in place of those that the search chose last; or a search among its own
    choice and the proposed trials takes those that tell most.
    """
    assert record.trials is not None
    stimuli = Stimuli.from_json(context.artifacts.get_json(record.trials))
    offer = next((item for item in offers if item.archive == record.archive), None)
    if offer is None:
        return []
    if evidence.domain.sequential:
        if stimuli.keys == own.chosen.stimuli.keys:
            return []
        people = simulated_people(evidence.laboratory, context, question, stimuli, 1, PEOPLE)
        whole = ChosenTrials(stimuli, (0.0,) * len(stimuli), ())
        made = replace(offer, stimuli=stimuli)
        return [DesignWithProposal("schedule", len(stimuli), made, whole, people)]
    chosen = own.chosen
    if own.offer.archive != record.archive:
        chosen = choose_from(evidence, context, question, offer, proposed=False)
    elif not record.archive:
        stimuli = with_random_sides(evidence.domain, stimuli, context.rng)
    there = set(identities(evidence.domain, chosen.stimuli))
    keys = identities(evidence.domain, stimuli)
    new = [row for row, key in enumerate(keys) if key not in there][: len(chosen.searched)]
    if not new:
        same = chosen is own.chosen
        return [] if same else [DesignWithProposal("whole", len(stimuli), offer, chosen)]
    return _exchanged(evidence, context, question, offer, chosen, stimuli.take(new))


def _exchanged(
    evidence: RunEvidence,
    context: StepContext,
    question: DesignQuestion,
    offer: StimulusOffer,
    chosen: ChosenTrials,
    new: Stimuli,
) -> list[DesignWithProposal]:
    """A design with new trials in place of some that a search chose: all of them, or those that tell most."""
    n_searched = len(chosen.searched)
    both = Stimuli.concatenate([chosen.stimuli.take(chosen.searched), new])
    selection = choose_trials(
        ways_to_answer(evidence, question, offer)(both),
        question.log_prior,
        n_trials=n_searched,
        rng=context.rng,
        random_share=0.0,
        costs=costs_of_trials(
            evidence.config,
            evidence.domain,
            both,
            1 if offer.archive else evidence.config.design.repetitions,
        ),
        budget=evidence.config.design.cost.most_per_participant or float("inf"),
    )
    gains = dict(zip(selection.rows, selection.information, strict=True))
    whole = (*range(n_searched, len(both)), *range(n_searched - len(new)))
    random = chosen.stimuli.take(list(chosen.random))
    designs = []
    ways: tuple[tuple[HowTaken, Sequence[int]], ...] = (
        ("whole", whole),
        ("mixed", selection.rows),
    )
    for how, rows in ways:
        trials = Stimuli.concatenate([both.take(rows), random])
        information = (*(gains.get(row, 0.0) for row in rows), *[float("nan")] * len(random))
        places = tuple(range(len(rows), len(trials)))
        n_taken = sum(row >= n_searched for row in rows)
        if n_taken:
            made = ChosenTrials(trials, information, places)
            designs.append(DesignWithProposal(how, n_taken, offer, made))
    return designs
