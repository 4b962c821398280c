"""Stage: choose an experiment that tells the leading rivals apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.design import (
    Selection,
    choose_trials,
    design_to_json,
    information_of_batch,
    information_of_people,
)
from experiments.errors import ArchiveExhaustedError
from experiments.power import judge_design, power_of_people, recovery_power
from experiments.record import DesignChosen, PairPower
from experiments.task import Design, Offer, Stimuli, with_random_sides
from flows.engine import task
from flows.run import Run
from theories.record import Units
from theories.score import is_tie, learn_population
from theories.theory import Theory
from traces.digest import Digest
from traces.step import Recorded, StepContext

Array = NDArray[Any]
DESIGN_DRAWS = 256
"""People per theory in a design search; the power check uses the same."""
DISTINCT = 0.02
"""Root mean square distance of choice proportions at which two theories count as different rivals."""


@dataclass(frozen=True)
class Rival:
    """A theory in a design search, with the population that the data so far have taught."""

    digest: Digest
    theory: Theory
    log_weights: Array


@task(name="design")
async def design(run: Run, cycle: int, number: int) -> Recorded[DesignChosen]:
    """Search a design for the leading rivals and check by simulation that it can tell them apart."""
    names = leading_rivals(run)
    run.progress.stage(cycle, "design", f"experiment {number} for {len(names)} rivals")
    run.progress.rivals([run.state.name(name) for name in names])
    inputs = [run.state.pool[name].digest for name in names]
    inputs += [item.digest for item in run.state.collected.values()]
    inputs += [run.state.scores[name, item].digest for name in names for item in run.state.collected]
    return await run.step(
        "design",
        lambda context: search_design(run, context, cycle, number, names),
        returns=DesignChosen,
        inputs=inputs,
        position={"cycle": cycle, "number": number},
    )


def leading_rivals(run: Run) -> list[Digest]:
    """The best theories that differ in what they predict, and the best published one among them."""
    most = run.config.theories.rivals
    board = run.state.board()
    if not board.standings:
        return list(run.state.pool)[:most]
    ranked = [line.theory for line in board.standings]
    chosen: list[Digest] = []
    for name in ranked:
        if all(distance(run, name, other) >= DISTINCT for other in chosen):
            chosen.append(name)
        if len(chosen) == most:
            break
    best_seed = next((name for name in ranked if name in run.state.seeds), None)
    if best_seed is not None and best_seed not in chosen:
        chosen = [*chosen[: most - 1], best_seed]
    if len(chosen) < 2:
        chosen += [name for name in ranked if name not in chosen][:1]
    return chosen


def distance(run: Run, first: Digest, second: Digest) -> float:
    """Root mean square difference of two theories' choice proportions on the trials so far."""
    own, other = ([run.state.scores[theory, name].record for name in run.state.collected] for theory in (first, second))
    gaps = [np.subtract(a.proportions, b.proportions) for a, b in zip(own, other, strict=True)]
    apart = float(np.sqrt(np.mean(np.concatenate(gaps) ** 2)))
    if any(run.theory(theory).learns for theory in (first, second)):  # they may differ along sequences alone
        apart = max(apart, _apart_along_sequences([a.declared for a in own], [b.declared for b in other]))
    return apart


def _apart_along_sequences(first: Sequence[Units], second: Sequence[Units]) -> float:
    """Difference of probabilities that would explain how people's log scores differ.

    At even odds a log ratio of two answers' probabilities has the variance ``4 d**2`` when they differ by ``d``.
    """
    squared = np.concatenate(
        [np.subtract(a.log_predictive, b.log_predictive) ** 2 for a, b in zip(first, second, strict=True)]
    )
    n_choices = np.concatenate([np.asarray(item.n_choices) for item in first])
    return float(0.5 * np.sqrt(squared.sum() / n_choices.sum()))


def sample_of_space(run: Run, rng: np.random.Generator, n_most: int) -> Stimuli:
    """Trials on which theories can be compared: of the study's space, or of the largest archived experiment so far."""
    if run.config.participants.source == "simulated":
        return with_random_sides(run.domain, run.domain.candidates(run.config.space, rng, n_most), rng)
    largest = max((run.trials(name).stimuli for name in run.state.collected), key=len)
    return largest if run.domain.sequential else largest.take(np.sort(rng.permutation(len(largest))[:n_most]))


def learned_weights(run: Run, theories: Sequence[Theory], n_draws: int) -> list[Array]:
    """``(n_draws,)`` log weights of each theory's draws, taught by all experiments collected so far."""
    collected = [run.trials(name) for name in run.state.collected]
    if not collected:
        return [np.full(n_draws, -np.log(n_draws)) for _ in theories]
    return [learn_population(own) for own in run.laboratory.evidence_of(theories, collected, n_draws)]


def search_design(run: Run, context: StepContext, cycle: int, number: int, names: Sequence[Digest]) -> DesignChosen:
    """Look at every offer, choose trials by expected information, keep the most informative offer with power."""
    settings = run.config.design
    offers = run.source.offers(context.rng, settings.candidates)
    if not offers:
        raise ArchiveExhaustedError(
            f"no unused answers are left for cycle {cycle}; ask for fewer cycles or fewer trials in each."
        )
    theories = [run.theory(name) for name in names]
    weights = learned_weights(run, theories, DESIGN_DRAWS)
    rivals = [Rival(*parts) for parts in zip(names, theories, weights, strict=True)]
    answers = (
        [] if run.domain.sequential else run.laboratory.answers_of(theories, [o.stimuli for o in offers], DESIGN_DRAWS)
    )
    log_prior = np.full(len(rivals), -np.log(len(rivals)))
    order = []
    people: list[Array | None] = [None] * len(offers)
    for place, offer in enumerate(offers):
        value = 0.0
        if run.domain.sequential:
            people[place] = scores = _simulated_people(run, context, rivals, offer.stimuli, 1)
            value = information_of_people(scores, log_prior).value
        elif len(offers) > 1:
            own = [answer[place] for answer in answers]
            value = information_of_batch(own, log_prior, rng=context.rng, n_people=200, log_weights=weights).value
        order.append((-value, place))
    best: tuple[Design, tuple[PairPower, ...], str, bool, int] | None = None
    for _, place in sorted(order):
        own = [answer[place] for answer in answers]
        planned = _plan(run, context, cycle, number, offers[place], own, rivals, people[place])
        if best is None or planned[3]:
            best = planned
        if planned[3]:
            break
    assert best is not None
    plan, powers, reason, accepted, n_candidates = best
    if not accepted and run.config.design.refused == "cover":
        accepted, reason = True, f"Accepted as coverage only. {reason}"
    return DesignChosen(
        cycle=cycle,
        number=number,
        experiment=plan.name,
        design=context.artifacts.put_json(design_to_json(plan)),
        rivals=tuple(names),
        n_candidates=n_candidates,
        n_trials=len(plan.stimuli),
        repetitions=plan.repetitions,
        n_participants=plan.n_participants,
        n_random=len(plan.random_coverage),
        archive=plan.archive,
        information=tuple(0.0 if np.isnan(value) else value for value in plan.information),
        powers=powers,
        accepted=accepted,
        reason=reason,
    )


def _plan(
    run: Run,
    context: StepContext,
    cycle: int,
    number: int,
    offer: Offer,
    answers: Sequence[Array],
    rivals: Sequence[Rival],
    people: Array | None,
) -> tuple[Design, tuple[PairPower, ...], str, bool, int]:
    settings = run.config.design
    weights = [rival.log_weights for rival in rivals]
    log_prior = np.full(len(rivals), -np.log(len(rivals)))
    if run.domain.sequential:  # a schedule is shown whole
        selection = Selection(tuple(range(len(offer.stimuli))), (0.0,) * len(offer.stimuli), ())
    else:
        selection = choose_trials(
            answers,
            log_prior,
            n_trials=min(settings.trials, len(offer.stimuli)),
            rng=context.rng,
            random_share=settings.random_share,
            repetitions=1 if offer.archive else settings.repetitions,
            log_weights=weights,
        )
    rows = list(selection.rows)
    name = f"{cycle}.{number}" + (f" {offer.archive}" if offer.archive else "")
    repetitions = offer.repetitions or settings.repetitions
    n_participants = offer.n_participants or settings.participants
    if run.domain.sequential:  # people are released whole, so that those not needed now can answer later
        n_participants = min(n_participants, settings.participants)
    plan = Design(
        name=name,
        stimuli=offer.stimuli.take(rows),
        repetitions=repetitions,
        n_participants=n_participants,
        random_coverage=selection.random_rows,
        information=selection.information,
        archive=offer.archive,
    )
    if people is None and any(rival.theory.learns for rival in rivals) and not offer.pooled:
        people = _simulated_people(run, context, rivals, plan.stimuli, repetitions)
    if people is not None:
        table = power_of_people(people, n_participants, context.rng, n_simulations=100)
    else:
        chosen = [answer[:, rows] for answer in answers]
        table = recovery_power(
            chosen,
            repetitions,
            n_participants,
            context.rng,
            n_simulations=100,
            log_weights=weights,
            pooled=offer.pooled,
        )
    every = list(combinations(range(len(rivals)), 2))
    pairs = tuple(
        PairPower(
            first=rivals[a].digest,
            second=rivals[b].digest,
            power_first=float(table.power[a, b]),
            power_second=float(table.power[b, a]),
            separable=table.separates((a, b), settings.power),
        )
        for a, b in every
    )
    open_pairs = [(a, b) for a, b in every if not _decided(run, rivals[a].digest, rivals[b].digest)]
    names = [run.state.name(rival.digest) for rival in rivals]
    decision = judge_design(table, open_pairs or None, names=names, required=settings.power)
    return plan, pairs, decision.reason, decision.accepted, len(offer.stimuli)


def _simulated_people(
    run: Run, context: StepContext, rivals: Sequence[Rival], stimuli: Stimuli, repetitions: int
) -> Array:
    """``(n_rivals, n_people, n_rivals)`` scores of simulated people; see `Laboratory.scores_of_simulated_people`."""
    return run.laboratory.scores_of_simulated_people(
        [rival.theory for rival in rivals],
        [rival.log_weights for rival in rivals],
        stimuli,
        context.rng,
        repetitions=repetitions,
    )


def _decided(run: Run, first: Digest, second: Digest) -> bool:
    """Whether frozen predictions have already told two theories apart."""
    found = run.state.frozen_advantage(first, second)
    return found is not None and not is_tie(found[0])
