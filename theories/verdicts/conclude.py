"""The verdict in figures and words, on data that the loop has not seen where there are any."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.data_sets import data_sets_of
from lakatos.experiments.state import ExperimentsState
from lakatos.theories.account import names_held_back
from lakatos.theories.evidence import TheoryEvidence
from lakatos.theories.scoreboard import (
    board_of,
    decisive_sealed_of,
    frozen_advantage,
    left_out_scores,
)
from lakatos.theories.scoring.score import (
    ScoreEstimate,
    over_data_sets,
    paired_difference,
    squared_errors,
)
from lakatos.theories.state import TheoriesState
from lakatos.theories.verdicts.record import (
    EXPLORATORY,
    CampaignConcluded,
    CrossValidated,
    ErrorOnTrials,
    FoldFinished,
    TruthCompared,
)
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RivalAdvantages:
    """By how much the leader is ahead of each of some rivals."""

    advantages: Mapping[Digest, ScoreEstimate]
    basis: str
    """On which data."""
    n_compared: int
    """Theories among which the leader was chosen on these data; 1 where it was chosen without them."""

    @property
    def closest(self) -> Digest:
        """The rival that comes closest."""
        return min(self.advantages, key=lambda name: self.advantages[name].value)


@dataclass(frozen=True)
class ComparedLeader:
    """The leader beside the first rival that comes closest to it."""

    leader: Digest
    rival: Digest | None
    """None where there is no first rival, and then no advantage."""
    advantage: ScoreEstimate | None
    basis: str
    n_compared: int = 1

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of the advantage, corrected for all theories that could have been chosen."""
        return self.advantage.interval_of_chosen(self.n_compared) if self.advantage else None

    @property
    def holds(self) -> bool:
        """Whether it is ahead, beyond its interval, on data that it was not fitted to."""
        return self.basis != EXPLORATORY and self.interval is not None and self.interval[0] > 0


def in_new_names(theories: TheoriesState, text: str) -> str:
    """A text of before the verdict with the names that theories have since."""
    names = {
        item.record.name: theories.bare_name(theory) for theory, item in theories.checked.items()
    }
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return text
    # Unchanged names are met too, so that no part of a longer name is taken for a shorter one.
    longest_first = sorted(names, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda found: names[found[0]], text)


def conclude_from(
    evidence: TheoryEvidence,
    *,
    truth: TruthCompared | None,
    folds: Sequence[FoldFinished],
    told: Sequence[str],
    stop: str,
) -> CampaignConcluded:
    """The verdict on the evidence so far.

    Args:
        evidence: What is known of theories.
        truth: Errors against the hidden rule, where there is one.
        folds: Campaigns with other trials sealed.
        told: What further comparisons found, in words.
        stop: Why the campaign ended.
    """
    board = evidence.board()
    leader = board.leader.theory
    seeds = [line.theory for line in board.standings if line.theory in evidence.seeds]
    errors = tuple(_errors(evidence, name) for name in dict.fromkeys([leader, *seeds]))
    found = compare_leader(evidence.theories, evidence.experiments, leader, seeds)
    cross_validated = _cross_validated(folds)
    parts = [*_advantage_in_words(evidence, found), *_what_it_says(evidence, leader)]
    parts += [*_on_each_data_set(evidence, found), _error_in_words(errors[0])]
    parts += _truth_in_words(truth, leader)
    if cross_validated:
        best = cross_validated[0]
        parts.append(
            f"Over {len(folds)} folds of problems that the whole loop had not seen, "
            f"the error is {best.error:.4f} (standard error {best.standard_error:.4f})."
        )
    return CampaignConcluded(
        leader=leader,
        runner_up=board.standings[1].theory if len(board.standings) > 1 else None,
        rival=found.rival,
        holds=found.holds,
        text=" ".join([*parts, *told]),
        stop=stop,
        advantage=found.advantage.value if found.advantage else None,
        advantage_error=found.advantage.standard_error if found.advantage else None,
        interval=found.interval,
        n_compared=found.n_compared,
        basis=found.basis,
        errors=errors,
        cross_validated=cross_validated,
    )


def _errors(evidence: TheoryEvidence, name: Digest) -> ErrorOnTrials:
    """Errors on open and sealed trials; averages go over archived experiments, as published ones do."""
    groups: dict[str, list[Array]] = {}
    opened = []
    for experiment in evidence.experiments.collected:
        trials = evidence.trials(experiment)
        predicted = np.asarray(evidence.theories.scores[name, experiment].record.proportions)
        squared = squared_errors(predicted.reshape(len(trials.stimuli), -1), trials)
        opened.append(squared.mean())
        groups.setdefault(
            evidence.experiments.designs[experiment].record.archive or experiment, []
        ).append(squared)
    if name not in evidence.theories.sealed_scores:
        return ErrorOnTrials(
            theory=name,
            open=float(np.mean(opened)),
            sealed=None,
            sealed_error=None,
            all=float(np.mean(opened)),
            sealed_score=None,
        )
    sealed = evidence.theories.sealed_scores[name].record
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


def compare_leader(
    theories: TheoriesState,
    experiments: ExperimentsState,
    leader: Digest,
    first: Sequence[Digest],
) -> ComparedLeader:
    """The leader beside the first rival that comes closest, on the most trustworthy data there are.

    The leader was chosen on the same data, so it counts how many theories it was chosen from. That it must beat every
    rival needs no correction: a false claim would have to be false for each.

    Args:
        theories: With their scores.
        experiments: That these are of.
        leader: Is compared.
        first: Theories that the campaign began with, the leader perhaps among them; the earlier of two that come
            equally close is the rival.
    """
    rivals = [name for name in first if name != leader]
    if not rivals:
        return ComparedLeader(leader, None, None, "no first rival")
    found = (
        _on_sealed(theories, experiments, leader, rivals)
        or _on_frozen(theories, experiments, leader, rivals)
        or _on_all_data(theories, experiments, rivals)
    )
    advantage = found.advantages[found.closest]
    return ComparedLeader(leader, found.closest, advantage, found.basis, found.n_compared)


def _nearest_of_all(
    theories: TheoriesState, experiments: ExperimentsState, leader: Digest, told: Digest
) -> list[str]:
    """A sentence about the rival that comes closest of all on sealed trials, where it is not the one told already.

    Rivals that the campaign itself found are often much closer than those that it began with.
    """
    others = [name for name in decisive_sealed_of(theories, experiments) if name != leader]
    found = _on_sealed(theories, experiments, leader, others) if others else None
    if found is None or found.closest == told:
        return []
    gain = found.advantages[found.closest]
    return [
        f"Of all rivals {theories.name(found.closest)} comes closest there: "
        f"{gain.value:+.4f} ({gain.interval_in_words(found.n_compared)})."
    ]


def _on_sealed(
    theories: TheoriesState,
    experiments: ExperimentsState,
    leader: Digest,
    rivals: Sequence[Digest],
) -> RivalAdvantages | None:
    """On answers that were sealed from the loop; None where there are none."""
    sealed, opened = decisive_sealed_of(theories, experiments), experiments.sealed
    if not sealed or opened is None:
        return None
    scores = {
        name: over_data_sets(opened.record.experiments, [units.scores for units in item.scores])
        for name, item in sealed.items()
    }
    found = {name: paired_difference(scores[leader], scores[name]) for name in rivals}
    basis = f"{opened.record.n_trials} sealed trials, populations learned from the open ones"
    return RivalAdvantages(found, basis, len(scores))


def _on_frozen(
    theories: TheoriesState,
    experiments: ExperimentsState,
    leader: Digest,
    rivals: Sequence[Digest],
) -> RivalAdvantages | None:
    """On predictions that were frozen before the answers; None where a rival has none."""
    advantages = {name: frozen_advantage(theories, experiments, leader, name) for name in rivals}
    frozen = {name: item for name, item in advantages.items() if item is not None}
    if len(frozen) < len(rivals):
        return None
    n_experiments = min(item[1] for item in frozen.values())
    basis = (
        f"predictions frozen before {n_experiments} experiment{'s' if n_experiments > 1 else ''}"
    )
    scores = theories.scores.items()
    predicted = {name for (name, _), item in scores if item.record.frozen is not None}
    n_compared = len(predicted & set(theories.pool))
    return RivalAdvantages({name: item[0] for name, item in frozen.items()}, basis, n_compared)


def _on_all_data(
    theories: TheoriesState, experiments: ExperimentsState, rivals: Sequence[Digest]
) -> RivalAdvantages:
    """On the answers that the theories were made from."""
    board = board_of(theories, experiments)
    return RivalAdvantages({name: board.of(name).behind for name in rivals}, EXPLORATORY, 1)


def _cross_validated(folds: Sequence[FoldFinished]) -> tuple[CrossValidated, ...]:
    """Errors over all folds, the leader's first, then those of published theories that every fold has."""
    if not folds:
        return ()
    n_trials = sum(len(fold.rows) for fold in folds)
    observed = np.concatenate([fold.observed for fold in folds])
    predictions = {"leader": np.concatenate([fold.predicted for fold in folds])}
    for name in sorted(set.intersection(*(set(fold.baselines) for fold in folds))):
        predictions[name] = np.concatenate([fold.baselines[name] for fold in folds])
    lines = []
    for name, predicted in predictions.items():
        squared = ((predicted - observed) ** 2).reshape(n_trials, -1).mean(axis=1)
        standard_error = float(squared.std(ddof=1) / np.sqrt(len(squared)))
        lines.append(
            CrossValidated(name=name, error=float(squared.mean()), standard_error=standard_error)
        )
    return tuple(lines)


def _what_it_says(evidence: TheoryEvidence, leader: Digest) -> list[str]:
    """The leader's claim, whether its form was published before, and which of its numbers lie at limits."""
    theory, told = evidence.theory(leader), evidence.theories.told
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


def _advantage_in_words(evidence: TheoryEvidence, found: ComparedLeader) -> list[str]:
    """Whether the leader is ahead, of whom, and by how much."""
    name, advantage = evidence.theories.name(found.leader), found.advantage
    if advantage is None or found.rival is None:
        return [f"{name} leads; there is no first rival to compare it with."]
    interval = advantage.interval_in_words(found.n_compared)
    better = "predicts choices better than"
    claim = better if found.holds else "is not shown to predict choices better than"
    return [
        f"{name} {claim} {evidence.theories.name(found.rival)}, "
        f"of the rivals that the study began with the closest: "
        f"{advantage.value:+.4f} nats per choice ({interval}; {found.basis}).",
        *_nearest_of_all(evidence.theories, evidence.experiments, found.leader, found.rival),
    ]


def _on_each_data_set(evidence: TheoryEvidence, found: ComparedLeader) -> list[str]:
    """How the leader predicts each data set from the others, where there are several, and that this made it lead."""
    experiments = list(evidence.experiments.collected)
    data_sets = data_sets_of(experiments)
    if not data_sets:
        return []
    scores = {key: item.record for key, item in evidence.theories.scores.items()}
    own = left_out_scores(found.leader, experiments, scores)
    rival = found.rival or found.leader
    others = left_out_scores(rival, experiments, scores)
    lines = []
    for name, mine, other in zip(data_sets, own, others, strict=True):
        gain = paired_difference([mine], [other])
        ahead = f", {gain.value:+.4f} ({gain.interval_in_words()})" if found.rival else ""
        lines.append(f"{name} {mine.mean:.4f}{ahead}")
    beside = (
        f", and ahead of (+) or behind (-) {evidence.theories.name(rival)}" if found.rival else ""
    )
    return [
        "It leads by what it predicts for each data set with people that only the other data sets taught "
        f"(nats per choice{beside}): {'; '.join(lines)}. Its form was found on all of them."
    ]


def _error_in_words(own: ErrorOnTrials) -> str:
    """The leader's error on open and on sealed trials."""
    sealed = "" if own.sealed is None else f" and {own.sealed:.4f} on the sealed ones"
    return f"Its error on choice proportions is {own.open:.4f} on the trials the loop has seen{sealed}."


def _truth_in_words(truth: TruthCompared | None, leader: Digest) -> list[str]:
    """The leader's error against the hidden rule, where there is one."""
    if truth is None:
        return []
    return [
        f"Against the hidden rule its error over all {truth.n_trials} trials of the space is "
        f"{truth.uncorrected[leader]:.2g}, and {truth.corrected[leader]:.2g} without the lapses that both declare."
    ]
