"""What proposed trials would add to the search's own design; the better design is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import choose_trials
from lakatos.experiments.planning.plan import PEOPLE, PlannedDesign, plan_design
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.planning.trials import ChosenTrials, asked_whole, choose_from
from lakatos.experiments.record import ProposalWeighed
from lakatos.experiments.task import Stimuli, StimulusOffer, identities, with_random_sides
from lakatos.traces.digest import Digest

Array = NDArray[Any]
HowTaken = Literal["whole", "mixed", "schedule", "the same"]
HOW_SAME: HowTaken = "the same"


@dataclass(frozen=True)
class DesignProposal:
    """Trials that somebody proposed for telling two rivals apart."""

    digest: Digest
    """Digest of the record of the proposal."""
    archive: str
    """Experiment of the archive that they are of, or empty."""
    stimuli: Stimuli
    pair: tuple[Digest, Digest]


@dataclass(frozen=True)
class DesignWithProposal:
    """A design of as many trials as the search's own, with proposed ones in it."""

    how: HowTaken
    n_taken: int
    """Number of proposed trials that the search had not chosen itself."""
    offer: StimulusOffer
    chosen: ChosenTrials
    people: Array | None = None
    """Scores of simulated people, of a schedule."""


def weigh_proposals(
    question: DesignQuestion,
    offers: Sequence[StimulusOffer],
    own: PlannedDesign,
    proposals: Sequence[DesignProposal],
    rng: np.random.Generator,
) -> tuple[PlannedDesign, tuple[ProposalWeighed, ...]]:
    """The search's own design, or one with proposed trials that says more; and how they compare.

    Args:
        question: As of the search.
        offers: From which it chose.
        own: What it chose without any proposal.
        proposals: That passed their checks.
        rng: For choices and simulated people.
    """
    weighed: list[ProposalWeighed] = []
    designs: list[PlannedDesign] = []
    for item in proposals:
        planned = [
            (plan_design(question, own.name, made.offer, made.chosen, made.people, rng), made)
            for made in _designs_with(question, offers, own, item, rng)
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
    item: DesignProposal,
    own: PlannedDesign,
    other: PlannedDesign,
    how: HowTaken,
    n_taken: int,
) -> ProposalWeighed:
    return ProposalWeighed(
        proposal=item.digest,
        how=how,
        n_taken=n_taken,
        information=other.information.value,
        information_error=other.information.standard_error,
        own_information=own.information.value,
        own_error=own.information.standard_error,
        power=other.power_of(*item.pair),
        own_power=own.power_of(*item.pair),
        adopted=False,
    )


def _designs_with(
    question: DesignQuestion,
    offers: Sequence[StimulusOffer],
    own: PlannedDesign,
    proposed: DesignProposal,
    rng: np.random.Generator,
) -> list[DesignWithProposal]:
    """Designs with proposed trials in them; none where the search asks the same by itself.

    Either all proposed trials are asked, in place of those that the search chose last; or a search among its own
    choice and the proposed trials takes those that tell most.
    """
    stimuli, domain = proposed.stimuli, question.domain
    offer = next((item for item in offers if item.archive == proposed.archive), None)
    if offer is None:
        return []
    if domain.sequential:
        if stimuli.keys == own.chosen.stimuli.keys:
            return []
        people = question.rivals.scores_of_people(stimuli, rng, n_people=PEOPLE)
        made = replace(offer, stimuli=stimuli)
        return [DesignWithProposal("schedule", len(stimuli), made, asked_whole(stimuli), people)]
    chosen = own.chosen
    if own.offer.archive != proposed.archive:
        chosen = choose_from(question, offer, rng)
    elif not proposed.archive:
        stimuli = with_random_sides(domain, stimuli, rng)
    there = set(identities(domain, chosen.stimuli))
    keys = identities(domain, stimuli)
    new = [row for row, key in enumerate(keys) if key not in there][: len(chosen.searched)]
    if not new:
        same = chosen is own.chosen
        return [] if same else [DesignWithProposal("whole", len(stimuli), offer, chosen)]
    return _exchanged(question, offer, chosen, stimuli.take(new), rng)


def _exchanged(
    question: DesignQuestion,
    offer: StimulusOffer,
    chosen: ChosenTrials,
    new: Stimuli,
    rng: np.random.Generator,
) -> list[DesignWithProposal]:
    """A design with new trials in place of some that a search chose: all of them, or those that tell most."""
    settings = question.settings
    n_searched = len(chosen.searched)
    both = Stimuli.concatenate([chosen.stimuli.take(chosen.searched), new])
    selection = choose_trials(
        question.ways_to_answer(offer, both),
        question.log_prior,
        n_trials=n_searched,
        rng=rng,
        random_share=0.0,
        costs=question.costs(both, 1 if offer.archive else settings.repetitions),
        budget=settings.cost.most_per_participant or float("inf"),
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
