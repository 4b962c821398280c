"""Rivals of an experiment: the theories that it is to distinguish, and the trials on which their predictions differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.information import pair_prior
from lakatos.experiments.participants.source import ParticipantSource
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.proposal import are_forbidden
from lakatos.experiments.task import Domain, Stimuli, with_random_sides
from lakatos.theories.discovery.design_rivals import DESIGN_DRAWS, RivalTheories
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.scoreboard import Scoreboard, frozen_advantage
from lakatos.theories.engine.scoring.apart import answers_apart, apart_along_sequences
from lakatos.theories.engine.scoring.score import is_tie
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import Theory
from lakatos.traces.digest import Digest

Array = NDArray[Any]
DISTINCT = 0.02
"""Root mean square distance of choice proportions at which two theories count as different rivals."""
ELSEWHERE = 400
"""Trials of the space on which theories that predict the same so far may differ."""


def leading_rivals(evidence: TheoryEvidence) -> list[Digest]:
    """The best theories that differ in what they predict, and the best first rival among them."""
    most = evidence.terms.n_rivals
    board = evidence.board()
    if not board.standings:
        return list(evidence.theories.pool)[:most]
    ranked = [line.theory for line in board.standings]
    chosen: list[Digest] = []
    differ = differing(evidence)
    for name in ranked:
        if all(differ(name, other) for other in chosen):
            chosen.append(name)
        if len(chosen) == most:
            break
    best_seed = next((name for name in ranked if name in evidence.seeds), None)
    if best_seed is not None and best_seed not in chosen:
        chosen = [*chosen[: most - 1], best_seed]
    if len(chosen) < 2:
        chosen += [name for name in ranked if name not in chosen][:1]
    return chosen


def differing(evidence: TheoryEvidence) -> Callable[[Digest, Digest], bool]:
    """Tells whether two theories predict differently, on the trials so far or on others that may be asked.

    Rules that explain all answers equally well and part where nobody was asked yet are what an experiment is for.
    """
    predicted = _elsewhere(evidence)

    @cache
    def elsewhere(name: Digest) -> Array | None:
        return predicted(evidence.theory(name))

    def differ(first: Digest, second: Digest) -> bool:
        if distance(evidence, first, second) >= DISTINCT:
            return True
        own, other = elsewhere(first), elsewhere(second)
        return (
            own is not None
            and other is not None
            and answers_apart(own, other, _n_outcomes(evidence.domain)) >= DISTINCT
        )

    return differ


def moved(evidence: TheoryEvidence, before: Theory, now: Theory) -> float | None:
    """Measure how far the predictions of two theories differ on trials of the study's space; see `answers_apart`.

    Args:
        evidence: What is known now.
        before: The leader of the last cycle, with the population of then.
        now: The present leader.

    Returns:
        A root mean square difference of proportions; None where theories learn, or a prediction fails.
    """
    predicted = _elsewhere(evidence)
    own, other = predicted(before), predicted(now)
    if own is None or other is None:
        return None
    return answers_apart(own, other, _n_outcomes(evidence.domain))


def _elsewhere(evidence: TheoryEvidence) -> Callable[[Theory], Array | None]:
    """Predicts proportions on trials that may be presented; None for theories that learn, or that fail there."""
    drawn = sample_of_space(evidence, np.random.default_rng(evidence.terms.seed), ELSEWHERE)
    sample = drawn.take(
        np.flatnonzero(~are_forbidden(evidence.domain, drawn, evidence.terms.design.forbidden))
    )

    def predicted(theory: Theory) -> Array | None:
        if evidence.domain.sequential or theory.learns or not len(sample):
            return None
        try:
            return evidence.laboratory.proportions(theory, sample, DESIGN_DRAWS)
        except TheoryError:
            return None

    return predicted


def _n_outcomes(domain: Domain) -> int:
    scale = scale_of(domain)
    return 0 if scale is None else scale.n_outcomes


def distance(evidence: TheoryEvidence, first: Digest, second: Digest) -> float:
    """Measure how far two theories' choice proportions differ on the trials so far; see `answers_apart`."""
    own, other = (
        [evidence.theories.scores[theory, name].record for name in evidence.experiments.collected]
        for theory in (first, second)
    )
    mean, others = (np.concatenate([item.proportions for item in score]) for score in (own, other))
    apart = answers_apart(mean, others, _n_outcomes(evidence.domain))
    if any(
        evidence.theory(theory).learns for theory in (first, second)
    ):  # they may differ along sequences alone
        left_out = [[item.left_out for item in score] for score in (own, other)]
        first_log, second_log = (
            [np.asarray(item.log_predictive) for item in score] for score in left_out
        )
        n_choices = [np.asarray(item.n_choices) for item in left_out[0]]
        apart = max(apart, apart_along_sequences(first_log, second_log, n_choices))
    return apart


def sample_of_space(evidence: TheoryEvidence, rng: np.random.Generator, n_most: int) -> Stimuli:
    """Trials on which theories can be compared: of the study's space, or of the largest archived experiment so far."""
    if not evidence.terms.archival:
        return with_random_sides(
            evidence.domain, evidence.domain.candidates(evidence.terms.space, rng, n_most), rng
        )
    largest = max(
        (evidence.trials(name).stimuli for name in evidence.experiments.collected), key=len
    )
    return (
        largest
        if evidence.domain.sequential
        else largest.take(np.sort(rng.permutation(len(largest))[:n_most]))
    )


def trials_of_study(
    evidence: TheoryEvidence, source: ParticipantSource, n_most: int = 200
) -> Stimuli:
    """Trials of the study on which a theory must keep its word: those asked so far, and others that may be asked."""
    rng = np.random.default_rng(evidence.terms.seed)
    parts = [
        evidence.trials(name).stimuli for name in reversed(list(evidence.experiments.collected))
    ]
    if not evidence.terms.archival:
        parts.append(sample_of_space(evidence, rng, n_most))
    elif not parts:
        offered = [offer.stimuli for offer in source.offers(rng, n_most)]
        parts = [max(offered, key=len)]
    if evidence.domain.sequential:
        return parts[0]
    forms = [{name: array.shape[1:] for name, array in part.arrays.items()} for part in parts]
    alike = [part for part, form in zip(parts, forms, strict=True) if form == forms[0]]
    share = -(-n_most // len(alike))
    return Stimuli.concatenate(
        [part.take(np.sort(rng.permutation(len(part))[:share])) for part in alike]
    )


def design_question(evidence: TheoryEvidence, names: Sequence[Digest]) -> DesignQuestion:
    """Find the open pairs, and decide whether all rivals count or only the two best that are not distinguished."""
    theories = [evidence.theory(name) for name in names]
    every = list(combinations(range(len(names)), 2))
    pairs = [(a, b) for a, b in every if not _decided(evidence, names[a], names[b])] or every
    log_prior = np.full(len(names), -np.log(len(names)))
    if evidence.terms.design.focus == "leaders":
        pairs = pairs[:1]
        log_prior = pair_prior(len(names), pairs[0])
    return DesignQuestion(
        domain=evidence.domain,
        space=evidence.terms.space,
        settings=evidence.terms.design,
        rivals=RivalTheories(evidence.laboratory, theories),
        digests=tuple(names),
        names=tuple(evidence.theories.name(name) for name in names),
        open_pairs=tuple(pairs),
        log_prior=log_prior,
    )


def _decided(evidence: TheoryEvidence, first: Digest, second: Digest) -> bool:
    """Whether frozen predictions have already told two theories apart."""
    found = frozen_advantage(evidence.theories, evidence.experiments, first, second)
    return found is not None and not is_tie(found[0])


def leader_and_loser(board: Scoreboard) -> tuple[Digest, Digest]:
    """The leader, and the best rival that is behind it by more than a tie; the second best if all are tied."""
    lines = board.standings
    behind = [line for line in lines[1:] if not line.tied]
    loser = behind[0] if behind else lines[1]
    return lines[0].theory, loser.theory


def holds(evidence: TheoryEvidence, board: Scoreboard) -> bool:
    """Whether the leader beat every rival of other behaviour on predictions that were frozen before the data."""
    leader = board.leader.theory
    others = [
        line.theory
        for line in board.standings[1:]
        if distance(evidence, leader, line.theory) >= DISTINCT
    ]

    def beaten(other: Digest) -> bool:
        found = frozen_advantage(evidence.theories, evidence.experiments, leader, other)
        return found is not None and found[0].value > 0 and not is_tie(found[0])

    return bool(others) and all(beaten(other) for other in others)
