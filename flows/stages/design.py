"""Stage: choose an experiment that tells the leading rivals apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import both_sides, choose_trials, design_to_json, refine_trials
from lakatos.experiments.errors import ArchiveExhaustedError, DesignError, EmptyDesignSpaceError
from lakatos.experiments.information import (
    DesignInformation,
    information_of_batch,
    information_of_people,
    outcome_probabilities,
    pair_prior,
)
from lakatos.experiments.power import (
    Pair,
    PowerTable,
    find_n_of_people,
    find_n_participants,
    judge_design,
    power_of_people,
    recovery_power,
    scores_of_people,
)
from lakatos.experiments.proposal import are_forbidden, costs_of
from lakatos.experiments.record import DesignChosen, PairPower
from lakatos.experiments.stopping import StoppingPlan, operate, plan_looks
from lakatos.experiments.task import Design, Stimuli, StimulusOffer, identities, with_random_sides
from lakatos.experiments.variation import HasMoves
from lakatos.flows.run.engine import task
from lakatos.flows.run.run import Run
from lakatos.theories.errors import TheoryError
from lakatos.theories.record import UnitLogPredictives
from lakatos.theories.scoring.score import is_tie
from lakatos.theories.theory import Theory
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

Array = NDArray[Any]
DESIGN_DRAWS = 256
"""People per theory in a design search; the power check uses the same."""
CHUNK = 4096
"""Trials sent to a theory at once."""
PEOPLE, FEW_PEOPLE = 64, 16
"""Simulated people per theory, where answers depend on earlier ones: for the final power, and for a first look."""
FINALISTS = 4
"""Schedules that are left after a first look."""
DISTINCT = 0.02
"""Root mean square distance of choice proportions at which two theories count as different rivals."""
ELSEWHERE = 400
"""Trials of the space on which theories that predict the same so far may differ."""


@dataclass(frozen=True)
class DesignRival:
    """A theory in a design search, with the people that the answers so far have taught."""

    digest: Digest
    theory: Theory


@task(name="design")
async def design(run: Run, cycle: int, number: int) -> Recorded[DesignChosen]:
    """Search a design for the leading rivals and check by simulation that it can tell them apart."""
    names = leading_rivals(run)
    run.progress.stage(cycle, "design", f"experiment {number} for {len(names)} rivals")
    run.progress.rivals([run.state.theories.name(name) for name in names])
    inputs = [run.state.theories.pool[name].digest for name in names]
    inputs += [item.digest for item in run.state.experiments.collected.values()]
    inputs += [
        run.state.theories.scores[name, item].digest
        for name in names
        for item in run.state.experiments.collected
    ]
    inputs += [item.digest for item in run.state.roles.proposals(cycle, number)]
    return await run.step(
        "design",
        lambda context: search_design(run, context, cycle, number, names),
        returns=DesignChosen,
        inputs=inputs,
        position={"cycle": cycle, "number": number},
    )


def leading_rivals(run: Run) -> list[Digest]:
    """The best theories that differ in what they predict, and the best first rival among them."""
    most = run.config.theories.rivals
    board = run.state.board()
    if not board.standings:
        return list(run.state.theories.pool)[:most]
    ranked = [line.theory for line in board.standings]
    chosen: list[Digest] = []
    differ = differing(run)
    for name in ranked:
        if all(differ(name, other) for other in chosen):
            chosen.append(name)
        if len(chosen) == most:
            break
    best_seed = next((name for name in ranked if name in run.state.seeds), None)
    if best_seed is not None and best_seed not in chosen:
        chosen = [*chosen[: most - 1], best_seed]
    if len(chosen) < 2:
        chosen += [name for name in ranked if name not in chosen][:1]
    return chosen


def differing(run: Run) -> Callable[[Digest, Digest], bool]:
    """Tells whether two theories predict differently, on the trials so far or on others that may be asked.

    Rules that explain all answers equally well and part where nobody was asked yet are what an experiment is for.
    """
    drawn = sample_of_space(run, np.random.default_rng(run.config.seed), ELSEWHERE)
    sample = drawn.take(
        np.flatnonzero(~are_forbidden(run.domain, drawn, run.config.design.forbidden))
    )

    @cache
    def elsewhere(name: Digest) -> Array | None:
        if run.domain.sequential or run.theory(name).learns or not len(sample):
            return None
        try:
            return run.laboratory.proportions(run.theory(name), sample, DESIGN_DRAWS)
        except TheoryError:
            return None

    def differ(first: Digest, second: Digest) -> bool:
        if distance(run, first, second) >= DISTINCT:
            return True
        own, other = elsewhere(first), elsewhere(second)
        return (
            own is not None
            and other is not None
            and float(np.sqrt(np.mean((own - other) ** 2))) >= DISTINCT
        )

    return differ


def distance(run: Run, first: Digest, second: Digest) -> float:
    """Root mean square difference of two theories' choice proportions on the trials so far."""
    own, other = (
        [run.state.theories.scores[theory, name].record for name in run.state.experiments.collected]
        for theory in (first, second)
    )
    gaps = [np.subtract(a.proportions, b.proportions) for a, b in zip(own, other, strict=True)]
    apart = float(np.sqrt(np.mean(np.concatenate(gaps) ** 2)))
    if any(
        run.theory(theory).learns for theory in (first, second)
    ):  # they may differ along sequences alone
        apart = max(
            apart, _apart_along_sequences([a.left_out for a in own], [b.left_out for b in other])
        )
    return apart


def _apart_along_sequences(
    first: Sequence[UnitLogPredictives], second: Sequence[UnitLogPredictives]
) -> float:
    """Difference of probabilities that would explain how people's log scores differ.

    At even odds a log ratio of two answers' probabilities has the variance ``4 d**2`` when they differ by ``d``.
    """
    squared = np.concatenate(
        [
            np.subtract(a.log_predictive, b.log_predictive) ** 2
            for a, b in zip(first, second, strict=True)
        ]
    )
    n_choices = np.concatenate([np.asarray(item.n_choices) for item in first])
    return float(0.5 * np.sqrt(squared.sum() / n_choices.sum()))


def sample_of_space(run: Run, rng: np.random.Generator, n_most: int) -> Stimuli:
    """Trials on which theories can be compared: of the study's space, or of the largest archived experiment so far."""
    if run.config.participants.source != "archival":
        return with_random_sides(
            run.domain, run.domain.candidates(run.config.space, rng, n_most), rng
        )
    largest = max((run.trials(name).stimuli for name in run.state.experiments.collected), key=len)
    return (
        largest
        if run.domain.sequential
        else largest.take(np.sort(rng.permutation(len(largest))[:n_most]))
    )


def trials_of_study(run: Run, n_most: int = 200) -> Stimuli:
    """Trials of the study on which a theory must keep its word: those asked so far, and others that may be asked."""
    rng = np.random.default_rng(run.config.seed)
    parts = [run.trials(name).stimuli for name in reversed(list(run.state.experiments.collected))]
    if run.config.participants.source != "archival":
        parts.append(sample_of_space(run, rng, n_most))
    elif not parts:
        offered = [offer.stimuli for offer in run.source.offers(rng, n_most)]
        parts = [max(offered, key=len)]
    if run.domain.sequential:
        return parts[0]
    forms = [{name: array.shape[1:] for name, array in part.arrays.items()} for part in parts]
    alike = [part for part, form in zip(parts, forms, strict=True) if form == forms[0]]
    share = -(-n_most // len(alike))
    return Stimuli.concatenate(
        [part.take(np.sort(rng.permutation(len(part))[:share])) for part in alike]
    )


def people_of_study(run: Run) -> int:
    """As many people as are asked together, about, where the study leaves it to the power of a design."""
    return run.config.design.participants or 25


def search_design(
    run: Run, context: StepContext, cycle: int, number: int, names: Sequence[Digest]
) -> DesignChosen:
    """Look at every offer, choose trials by expected information, keep the most informative offer with power."""
    rivals = [DesignRival(name, run.theory(name)) for name in names]
    question = _question(run, rivals)
    offers = [
        _with_proposals(run, context, item, cycle, number) for item in _offers(run, context, cycle)
    ]
    people: list[Array | None] = [None] * len(offers)
    if run.domain.sequential:
        offers, people = _schedules(run, context, question, offers)
    elif len(offers) > 1:
        offers = _most_informative_first(run, context, question, offers)
    best: PlannedDesign | None = None
    for offer, scores in zip(offers, people, strict=True):
        proposed = bool(run.config.design.proposed) and (cycle, number) == (1, 1)
        rows, information, random = _choose(run, context, question, offer, proposed=proposed)
        planned = _plan(
            run, context, f"{cycle}.{number}", question, offer, rows, information, random, scores
        )
        if best is None or planned.accepted:
            best = planned
        if planned.accepted:
            break
    assert best is not None
    accepted, reason = best.accepted, best.reason
    if not accepted and run.config.design.refused == "cover":
        accepted, reason = True, f"Accepted as coverage only. {reason}"
    plan = best.design
    return DesignChosen(
        cycle=cycle,
        number=number,
        experiment=plan.name,
        design=context.artifacts.put_json(design_to_json(plan)),
        rivals=tuple(names),
        n_candidates=best.n_candidates,
        n_trials=len(plan.stimuli),
        repetitions=plan.repetitions,
        n_participants=plan.n_participants,
        n_random=len(plan.random_coverage),
        archive=plan.archive,
        information=tuple(0.0 if np.isnan(value) else value for value in plan.information),
        powers=best.powers,
        accepted=accepted,
        reason=reason,
        total_information=best.information.value,
        total_information_error=best.information.standard_error,
        cost=best.cost,
        looks=() if best.stopping is None else best.stopping.looks,
        bayes_factor=0.0 if best.stopping is None else best.stopping.bayes_factor,
        stopping=best.stopping_text,
    )


@dataclass(frozen=True)
class DesignQuestion:
    """What an experiment is to decide."""

    rivals: tuple[DesignRival, ...]
    open_pairs: tuple[Pair, ...]
    """Pairs of rivals that data have not settled, of which at least one is to be told apart."""
    log_prior: Array
    """``(n_rivals,)`` of the rivals for the search: all alike, or two alone."""

    @property
    def theories(self) -> list[Theory]:
        """The theories that the experiment is to tell apart."""
        return [rival.theory for rival in self.rivals]

    @property
    def learns(self) -> bool:
        """Whether some rival's people depend on what they did before."""
        return any(rival.theory.learns for rival in self.rivals)


@dataclass(frozen=True)
class PlannedDesign:
    """A design with everything that simulation says about it."""

    design: Design
    n_candidates: int
    information: DesignInformation
    powers: tuple[PairPower, ...]
    accepted: bool
    reason: str
    cost: float
    stopping: StoppingPlan | None
    stopping_text: str


def _question(run: Run, rivals: Sequence[DesignRival]) -> DesignQuestion:
    """Which pairs are open, and whether all rivals count or the two best that are not told apart."""
    every = list(combinations(range(len(rivals)), 2))
    pairs = [
        (a, b) for a, b in every if not _decided(run, rivals[a].digest, rivals[b].digest)
    ] or every
    log_prior = np.full(len(rivals), -np.log(len(rivals)))
    if run.config.design.focus == "leaders":
        pairs = pairs[:1]
        log_prior = pair_prior(len(rivals), pairs[0])
    return DesignQuestion(tuple(rivals), tuple(pairs), log_prior)


def _offers(run: Run, context: StepContext, cycle: int) -> list[StimulusOffer]:
    """What can be asked, without what the study forbids."""
    settings = run.config.design
    n_most = max(settings.candidates, settings.trials)
    offers = list(run.source.offers(context.rng, n_most))
    if not offers:
        raise ArchiveExhaustedError(
            f"no unused answers are left for cycle {cycle}; ask for fewer cycles or fewer trials in each."
        )
    if run.domain.sequential:
        if not offers[0].archive:  # schedules can be made at will
            drawn = [
                run.domain.candidates(run.config.space, context.rng, settings.candidates)
                for _ in range(settings.schedules - len(offers))
            ]
            offers = [
                *offers[: settings.schedules],
                *(replace(offers[0], stimuli=stimuli) for stimuli in drawn),
            ]
        return offers
    allowed = [
        np.flatnonzero(~are_forbidden(run.domain, offer.stimuli, settings.forbidden))
        for offer in offers
    ]
    kept = [
        replace(offer, stimuli=offer.stimuli.take(rows))
        for offer, rows in zip(offers, allowed, strict=True)
        if len(rows)
    ]
    if not kept:
        raise EmptyDesignSpaceError(
            f"the study forbids every trial that could be asked ({'; '.join(settings.forbidden)}). Allow some."
        )
    return kept


def _with_proposals(
    run: Run, context: StepContext, offer: StimulusOffer, cycle: int, number: int
) -> StimulusOffer:
    """An offer to new people with the trials that advocates proposed and simulation bore out."""
    proposals = run.state.roles.proposals(cycle, number)
    if offer.archive or not proposals:
        return offer
    tables = [item.record.trials for item in proposals if item.record.trials]
    found = [Stimuli.from_json(context.artifacts.get_json(table)) for table in tables]
    stimuli = with_random_sides(run.domain, Stimuli.concatenate(found), context.rng)
    there = set(identities(run.domain, offer.stimuli))
    new = {key: row for row, key in enumerate(identities(run.domain, stimuli)) if key not in there}
    if not new:
        return offer
    return replace(
        offer, stimuli=Stimuli.concatenate([offer.stimuli, stimuli.take(sorted(new.values()))])
    )


def _most_informative_first(
    run: Run, context: StepContext, question: DesignQuestion, offers: list[StimulusOffer]
) -> list[StimulusOffer]:
    """Offers in the order of what all their trials together would say."""
    answers = run.laboratory.answers_of(
        question.theories, [offer.stimuli for offer in offers], DESIGN_DRAWS
    )
    values = [
        information_of_batch(
            [own[place] for own in answers],
            question.log_prior,
            rng=context.rng,
            n_people=200,
        ).value
        for place in range(len(offers))
    ]
    return [
        offers[place]
        for place in sorted(range(len(offers)), key=lambda place: (-values[place], place))
    ]


def _schedules(
    run: Run, context: StepContext, question: DesignQuestion, offers: list[StimulusOffer]
) -> tuple[list[StimulusOffer], list[Array | None]]:
    """Schedules in the order of what they say, with simulated people; many are first tried on a few people each."""

    def ranked(schedules: list[StimulusOffer], n_people: int) -> list[tuple[StimulusOffer, Array]]:
        scores = [
            _simulated_people(run, context, question, offer.stimuli, 1, n_people)
            for offer in schedules
        ]
        values = [information_of_people(item, question.log_prior).value for item in scores]
        order = sorted(range(len(schedules)), key=lambda place: (-values[place], place))
        return [(schedules[place], scores[place]) for place in order]

    if len(offers) > FINALISTS:
        offers = [offer for offer, _ in ranked(offers, FEW_PEOPLE)[:FINALISTS]]
    found = ranked(offers, PEOPLE)
    return [offer for offer, _ in found], [scores for _, scores in found]


def _choose(
    run: Run,
    context: StepContext,
    question: DesignQuestion,
    offer: StimulusOffer,
    *,
    proposed: bool,
) -> tuple[Stimuli, tuple[float, ...], tuple[int, ...]]:
    """Trials to ask, what each was expected to add, and the places of those drawn at random."""
    settings = run.config.design
    if proposed:
        stimuli = Stimuli.from_json(settings.proposed)
        return stimuli, (0.0,) * len(stimuli), ()
    if run.domain.sequential:  # a schedule is shown whole
        return offer.stimuli, (0.0,) * len(offer.stimuli), ()
    repetitions = 1 if offer.archive else settings.repetitions

    def ways_to_answer(stimuli: Stimuli) -> list[Array]:
        if not _both_sides(run, offer):
            return [outcome_probabilities(p, repetitions) for p in _answers(run, question, stimuli)]
        sides = (stimuli, run.domain.swap_sides(stimuli))
        first, second = (
            [outcome_probabilities(p, repetitions // 2) for p in _answers(run, question, side)]
            for side in sides
        )
        return [both_sides(p, q) for p, q in zip(first, second, strict=True)]

    selection = choose_trials(
        ways_to_answer(offer.stimuli),
        question.log_prior,
        n_trials=min(settings.trials, len(offer.stimuli)),
        rng=context.rng,
        random_share=settings.random_share,
        costs=_costs(run, offer.stimuli, repetitions),
        budget=settings.cost.most_per_participant or float("inf"),
    )
    chosen = offer.stimuli.take(selection.rows)
    if settings.continuous and not offer.archive:
        if not isinstance(run.domain, HasMoves):
            raise DesignError(
                f"trials of the {run.domain.name} domain cannot be moved between levels; leave `continuous` out."
            )
        domain: HasMoves = run.domain

        def moves(stimuli: Stimuli, step: float) -> tuple[Stimuli, Array]:
            moved, origin = domain.moves(run.config.space, stimuli, step)
            forbidden = are_forbidden(run.domain, moved, settings.forbidden)
            kept = np.flatnonzero(~forbidden)
            return moved.take(kept), origin[kept]

        chosen, _ = refine_trials(
            chosen,
            [row for row in range(len(chosen)) if row not in selection.random_rows],
            moves,
            ways_to_answer,
            question.log_prior,
            identify=lambda stimuli: identities(run.domain, stimuli),
            rng=context.rng,
        )
    return chosen, selection.information, selection.random_rows


def _plan(
    run: Run,
    context: StepContext,
    number: str,
    question: DesignQuestion,
    offer: StimulusOffer,
    stimuli: Stimuli,
    information: tuple[float, ...],
    random: tuple[int, ...],
    people: Array | None,
) -> PlannedDesign:
    """How many people to ask, when to stop, and whether that tells an open pair apart."""
    settings = run.config.design
    repetitions = offer.repetitions or settings.repetitions
    n_trials = len(stimuli)
    if _both_sides(run, offer):
        stimuli = Stimuli.concatenate([stimuli, run.domain.swap_sides(stimuli)])
        information = (
            *information,
            *(0.0 if row not in random else float("nan") for row in range(n_trials)),
        )
        random = (*random, *(n_trials + row for row in random))
        repetitions //= 2
    if people is None and question.learns and not offer.pooled:
        people = _simulated_people(run, context, question, stimuli, repetitions, PEOPLE)
    answers = [] if people is not None else _answers(run, question, stimuli)
    table = _power(run, context, question, offer, answers, repetitions, people)
    plan = Design(
        name=number + (f" {offer.archive}" if offer.archive else ""),
        stimuli=stimuli,
        repetitions=repetitions,
        n_participants=_n_people(run, offer) or table.n_units,
        random_coverage=random,
        information=information,
        archive=offer.archive,
    )
    names = [run.state.theories.name(rival.digest) for rival in question.rivals]
    every = list(combinations(range(len(names)), 2))
    pairs = tuple(
        PairPower(
            first=question.rivals[a].digest,
            second=question.rivals[b].digest,
            power_first=float(table.power[a, b]),
            power_second=float(table.power[b, a]),
            separable=table.separates((a, b), settings.power),
        )
        for a, b in every
    )
    decision = judge_design(table, question.open_pairs, names=names, required=settings.power)
    if people is not None:
        worth = information_of_people(people, question.log_prior)
    else:
        worth = information_of_batch(
            answers,
            question.log_prior,
            rng=context.rng,
            n_people=500,
            repetitions=repetitions,
        )
    stopping, text = None, ""
    if settings.stopping.rule == "bayes_factor" and not offer.pooled:
        ties = [pair for pair in every if not table.separates(pair, settings.power)]
        stopping = plan_looks(
            settings.stopping.first_look,
            settings.stopping.look_every,
            plan.n_participants,
            settings.stopping.bayes_factor,
        )
        if people is None:
            people = scores_of_people(answers, repetitions, 512, context.rng)
        found = operate(stopping, people, context.rng, ties=ties)
        text = f"{stopping.to_text()}. By simulation: {found.to_text(names)}."
    costs = _costs(run, stimuli, repetitions)
    return PlannedDesign(
        design=plan,
        n_candidates=len(offer.stimuli),
        information=worth,
        powers=pairs,
        accepted=decision.accepted,
        reason=decision.reason,
        cost=plan.n_participants * (settings.cost.per_participant + float(costs.sum())),
        stopping=stopping,
        stopping_text=text,
    )


def _n_people(run: Run, offer: StimulusOffer) -> int:
    """People that a design asks for, 0 where the number is to be found."""
    wanted = run.config.design.participants
    if (
        run.domain.sequential
    ):  # people are released whole, so that those not needed now can answer later
        return min(offer.n_participants or wanted, wanted)
    return offer.n_participants or wanted


def _power(
    run: Run,
    context: StepContext,
    question: DesignQuestion,
    offer: StimulusOffer,
    answers: Sequence[Array],
    repetitions: int,
    people: Array | None,
) -> PowerTable:
    """Power of the planned people, or of the fewest that have it."""
    settings, n_participants = run.config.design, _n_people(run, offer)
    most = min(offer.n_participants or settings.most_participants, settings.most_participants)
    if people is not None:
        if n_participants:
            return power_of_people(people, n_participants, context.rng, n_simulations=100)
        return find_n_of_people(
            people,
            context.rng,
            most=most,
            power=settings.power,
            pairs=question.open_pairs,
            n_simulations=200,
        )
    if n_participants or offer.pooled:
        return recovery_power(
            answers,
            repetitions,
            n_participants or most,
            context.rng,
            n_simulations=100,
            pooled=offer.pooled,
        )
    return find_n_participants(
        answers,
        repetitions,
        context.rng,
        most=most,
        power=settings.power,
        pairs=question.open_pairs,
        n_simulations=200,
    )


def _both_sides(run: Run, offer: StimulusOffer) -> bool:
    """Whether each trial is shown with its options on either side, equally often."""
    design = run.config.design
    return design.sides == "both" and not (
        offer.archive or run.domain.sequential or design.repetitions % 2
    )


def _costs(run: Run, stimuli: Stimuli, repetitions: int) -> Array:
    """``(n_trials,)`` cost of all of one person's answers to each trial."""
    cost = run.config.design.cost
    return costs_of(
        run.domain,
        stimuli,
        per_response=cost.per_response,
        features=cost.features,
        repetitions=repetitions,
    )


def _answers(run: Run, question: DesignQuestion, stimuli: Stimuli) -> list[Array]:
    """Per rival ``(n_draws, n_trials, n_options)``, a few thousand trials at a time."""
    size = len(stimuli) if run.domain.sequential else CHUNK
    parts = [
        stimuli.take(range(start, min(start + size, len(stimuli))))
        for start in range(0, len(stimuli), size)
    ]
    found = run.laboratory.answers_of(question.theories, parts, DESIGN_DRAWS)
    return [np.concatenate(own, axis=1) for own in found]


def _simulated_people(
    run: Run,
    context: StepContext,
    question: DesignQuestion,
    stimuli: Stimuli,
    repetitions: int,
    n_people: int,
) -> Array:
    """``(n_rivals, n_people, n_rivals)`` scores of simulated people; see `Laboratory.scores_of_simulated_people`."""
    return run.laboratory.scores_of_simulated_people(
        question.theories,
        DESIGN_DRAWS,
        stimuli,
        context.rng,
        repetitions=repetitions,
        n_people=n_people,
    )


def _decided(run: Run, first: Digest, second: Digest) -> bool:
    """Whether frozen predictions have already told two theories apart."""
    found = run.state.frozen_advantage(first, second)
    return found is not None and not is_tie(found[0])
