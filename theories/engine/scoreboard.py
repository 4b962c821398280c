"""All theories on all data, side by side.

The leader is the simplest theory within one paired standard error of the best (Breiman et al., 1984, section 3.4.3), on
the most trustworthy data that the two have: sealed responses, then experiments before which both predictions were
frozen, then experiments left out in turn. Theories that cannot be read lead only where no readable one is that near.

Where responses of several data sets are there, these are left out in turn, averages go over data sets, and nothing else
decides who leads: sealed responses are of people from whom the theories learned, other data sets are not.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from lakatos.experiments.data_sets import data_sets_of, left_out_with
from lakatos.experiments.state import ExperimentsState
from lakatos.theories.engine.record import SealedScored, TheoryChecked, TheoryScored
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    average,
    chance_of_difference,
    is_tie,
    mean_over_units,
    over_data_sets,
    paired_difference,
)
from lakatos.theories.engine.state import TheoriesState
from lakatos.theories.language.theory import PUBLISHED
from lakatos.traces.digest import Digest

LEAST_SEALED: Final = 5
"""Distinct sealed trials on which a verdict may rest; fewer show nothing of others, whatever people's interval is."""
MOST_LISTED: Final = 6
"""Theories in tables of a verdict, unless more of them are initial ones."""
Scores = Mapping[tuple[Digest, str], TheoryScored]


@dataclass(frozen=True)
class TheoryStanding:
    """One theory's line of the scoreboard."""

    theory: Digest
    score: ScoreEstimate
    """Nats per choice, each experiment (or data set) predicted from the others, averaged over these."""
    prequential: ScoreEstimate | None
    """Nats per choice on the experiments for which its predictions were frozen beforehand."""
    n_prequential: int
    error: float
    """Mean squared error of choice proportions, averaged over experiments."""
    correlation: float | None
    behind: ScoreEstimate
    """Nats per choice by which the leader is ahead, paired."""
    tied: bool
    """Whether it cannot be distinguished from the leader; see `is_tie`."""
    chance: float = 0.0
    """Monte Carlo error of ``behind``."""


@dataclass(frozen=True)
class Scoreboard:
    """Standing of all theories, the best first."""

    standings: tuple[TheoryStanding, ...]
    experiments: tuple[str, ...]

    @property
    def leader(self) -> TheoryStanding:
        """The standing of the theory that leads."""
        return self.standings[0]

    def of(self, theory: Digest) -> TheoryStanding:
        """The line of one theory; raises KeyError for one that has no score on every experiment."""
        return {line.theory: line for line in self.standings}[theory]

    def listed(self, initial: Container[Digest]) -> list[Digest]:
        """Theories that tables list: the leading one, the initial ones, and the best others up to `MOST_LISTED`."""
        order = [line.theory for line in self.standings]
        always = {name for name in order if name == order[0] or name in initial}
        others = [name for name in order if name not in always]
        shown = always.union(others[: max(MOST_LISTED - len(always), 0)])
        return [name for name in order if name in shown]


def scoreboard(
    theories: Sequence[Digest],
    experiments: Sequence[str],
    scores: Scores,
    checked: Mapping[Digest, TheoryChecked] = MappingProxyType({}),
    sealed: Mapping[Digest, SealedScored] = MappingProxyType({}),
) -> Scoreboard:
    """Rank theories that have a score on every experiment.

    Averages go over experiments, not over choices, so that a large experiment does not outvote the others.

    Args:
        theories: Those to rank.
        experiments: Experiments in the order in which they were run.
        scores: Scores by theory and experiment.
        checked: How simple each theory is, and whether it can be read; of those that are not here it is not known.
        sealed: Scores on sealed responses, once these are open.
    """
    complete = [
        theory for theory in theories if all((theory, name) in scores for name in experiments)
    ]
    if not complete or not experiments:
        return Scoreboard((), tuple(experiments))
    own = {theory: [scores[theory, name] for name in experiments] for theory in complete}
    left_out = {theory: left_out_scores(theory, experiments, scores) for theory in complete}
    means = {
        theory: average([mean_over_units(item) for item in items], _parts(experiments))
        for theory, items in left_out.items()
    }
    order = sorted(complete, key=lambda theory: (-means[theory].value, theory))
    leader = simplest_of_best(order, experiments, scores, checked, sealed)
    order = [leader, *(theory for theory in order if theory != leader)]
    lines = [
        _standing(
            theory,
            own[theory],
            means[theory],
            (left_out[leader], left_out[theory]),
            experiments,
            leads=theory == leader,
        )
        for theory in order
    ]
    return Scoreboard(tuple(lines), tuple(experiments))


def _standing(
    theory: Digest,
    items: Sequence[TheoryScored],
    mean: ScoreEstimate,
    pair: tuple[Sequence[UnitScores], Sequence[UnitScores]],
    experiments: Sequence[str],
    *,
    leads: bool,
) -> TheoryStanding:
    """One line of the scoreboard, with the leader's scores on what was left out and the theory's own."""
    frozen = {item.experiment: item.frozen.scores for item in items if item.frozen is not None}
    correlations = [item.correlation for item in items if item.correlation is not None]
    behind = paired_difference(*pair, _parts(experiments))
    prequential = [mean_over_units(item) for item in frozen.values()]
    return TheoryStanding(
        theory=theory,
        score=mean,
        prequential=average(prequential, list(frozen)) if frozen else None,
        n_prequential=len(frozen),
        error=float(np.mean([item.error for item in items])),
        correlation=float(np.mean(correlations)) if correlations else None,
        behind=behind,
        tied=leads or is_tie(behind),
        chance=chance_of_difference(*pair),
    )


def simplest_of_best(
    order: Sequence[Digest],
    experiments: Sequence[str],
    scores: Scores,
    checked: Mapping[Digest, TheoryChecked],
    sealed: Mapping[Digest, SealedScored],
) -> Digest:
    """The leader; see the module docstring.

    Few sealed responses cannot separate many theories. Of those that are near the best there, a theory does not lead if
    another one predicts the experiments that were left out in turn better, by more than a tie. A new theory does not
    lead where a published one near the best predicts at least as well, however short the new one is.

    Args:
        order: Theories, the best first by experiments left out in turn.
        experiments, scores, checked, sealed: As in `scoreboard`.
    """
    best = order[0]
    if sealed and not data_sets_of(experiments):
        tested = (name for name in order if name in sealed)
        best = max(tested, key=lambda name: _sealed_mean(sealed[name]))

    def is_near(name: Digest) -> bool:
        trusted = paired_difference(*trusted_scores(best, name, experiments, scores, sealed))
        everywhere = _left_out_difference(best, name, experiments, scores)
        is_as_good = everywhere.value <= 0 or is_tie(everywhere)
        return trusted.value <= trusted.standard_error and is_as_good

    def is_ahead(first: Digest, second: Digest) -> bool:
        advantage = _left_out_difference(first, second, experiments, scores)
        return advantage.value > 0 and not is_tie(advantage)

    near = [best, *(name for name in order if name != best and is_near(name))]
    near = [name for name in near if not any(is_ahead(other, name) for other in near)]
    if best not in near:
        best = near[0]
    known = [name for name in near if name in checked and checked[name].code_length]
    if best not in known:
        return best
    readable = [name for name in known if not checked[name].unreadable]

    def simplest(names: Sequence[Digest]) -> Digest:
        return min(names, key=lambda name: checked[name].code_length)

    def predicts_as_well(first: Digest, second: Digest) -> bool:
        pair = trusted_scores(first, second, experiments, scores, sealed)
        everywhere = _left_out_difference(first, second, experiments, scores)
        return paired_difference(*pair).value >= 0 and everywhere.value >= 0

    leader = simplest(readable or known)
    published = [name for name in readable if checked[name].author == PUBLISHED]
    if leader in published:
        return leader
    return simplest([name for name in published if predicts_as_well(name, leader)] or [leader])


def trusted_scores(
    first: Digest,
    second: Digest,
    experiments: Sequence[str],
    scores: Scores,
    sealed: Mapping[Digest, SealedScored] = MappingProxyType({}),
) -> tuple[list[UnitScores], list[UnitScores]]:
    """Scores of two theories on the most trustworthy data that both have: sealed, then frozen, then left out.

    Where there are several data sets, those left out in turn.
    """
    if data_sets_of(experiments):
        return _left_out(first, second, experiments, scores)
    if first in sealed and second in sealed:
        own, other = ([units.scores for units in sealed[name].scores] for name in (first, second))
        return own, other
    frozen = _frozen(first, second, experiments, scores)
    if frozen:
        return list(frozen[1]), list(frozen[2])
    return _left_out(first, second, experiments, scores)


def _sealed_mean(scored: SealedScored) -> float:
    return float(np.mean([units.scores.mean for units in scored.scores]))


def _left_out(
    first: Digest, second: Digest, experiments: Sequence[str], scores: Scores
) -> tuple[list[UnitScores], list[UnitScores]]:
    own, other = (left_out_scores(theory, experiments, scores) for theory in (first, second))
    return own, other


def _left_out_difference(
    first: Digest, second: Digest, experiments: Sequence[str], scores: Scores
) -> ScoreEstimate:
    """Advantage of the first theory over the second, each part predicted from the others."""
    own, other = _left_out(first, second, experiments, scores)
    return paired_difference(own, other, _parts(experiments))


def _parts(experiments: Sequence[str]) -> Sequence[str]:
    """Names of the parts of which each is predicted from the others; data sets share no participants."""
    return tuple(dict.fromkeys(left_out_with(experiments)))


def left_out_scores(theory: Digest, experiments: Sequence[str], scores: Scores) -> list[UnitScores]:
    """Scores of a theory on each experiment, predicted from the others; on each data set where there are several."""
    own = [scores[theory, name].left_out.scores for name in experiments]
    return over_data_sets(experiments, own)


def _frozen(
    first: Digest, second: Digest, experiments: Sequence[str], scores: Scores
) -> tuple[tuple[str, ...], tuple[UnitScores, ...], tuple[UnitScores, ...]] | None:
    """Experiments, and scores of them with predictions of both frozen.

    The first experiment counts only alone: its predictions were frozen with declared populations, before any response.
    """
    found = []
    for name in experiments:
        own, other = scores.get((first, name)), scores.get((second, name))
        if (
            own is not None
            and other is not None
            and own.frozen is not None
            and other.frozen is not None
        ):
            found.append((name, own.frozen.scores, other.frozen.scores))
    later = [item for item in found if item[0] != experiments[0]] or found
    if not later:
        return None
    names, own_scores, other_scores = zip(*later, strict=True)
    return names, own_scores, other_scores


def advantage_on(first: TheoryScored, second: TheoryScored) -> ScoreEstimate:
    """Advantage of the first theory on one experiment: as frozen before it where both were, else as left out."""
    if first.frozen is not None and second.frozen is not None:
        return paired_difference([first.frozen.scores], [second.frozen.scores])
    return paired_difference([first.left_out.scores], [second.left_out.scores])


def prequential_advantage(
    first: Digest, second: Digest, experiments: Sequence[str], scores: Scores
) -> tuple[ScoreEstimate, int] | None:
    """Advantage of the first over the second where the predictions of both were frozen before the data.

    Returns:
        Nats per choice with its standard error and the number of experiments, or None without any.
    """
    found = _frozen(first, second, experiments, scores)
    if found is None:
        return None
    names, own, other = found
    return paired_difference(own, other, names), len(names)


def board_of(theories: TheoriesState, experiments: ExperimentsState) -> Scoreboard:
    """All rivals on all experiments."""
    return scoreboard(
        list(theories.pool),
        list(experiments.collected),
        {key: item.record for key, item in theories.scores.items()},
        {name: item.record for name, item in theories.checked.items()},
        decisive_sealed_of(theories, experiments),
    )


def decisive_sealed_of(
    theories: TheoriesState, experiments: ExperimentsState
) -> Mapping[Digest, SealedScored]:
    """Scores on sealed responses; none of so few trials, or participants, that no verdict can rest on them."""
    opened = experiments.sealed
    if opened is None or opened.record.n_trials < LEAST_SEALED:
        return {}
    scores = {name: item.record for name, item in theories.sealed_scores.items()}
    n_units = [sum(len(units.n_choices) for units in item.scores) for item in scores.values()]
    return scores if min(n_units, default=0) >= LEAST_SEALED else {}


def frozen_advantage(
    theories: TheoriesState, experiments: ExperimentsState, first: Digest, second: Digest
) -> tuple[ScoreEstimate, int] | None:
    """`prequential_advantage` of one theory over another on all experiments so far."""
    scores = {key: item.record for key, item in theories.scores.items()}
    return prequential_advantage(first, second, list(experiments.collected), scores)


def frozen_experiments(
    theories: TheoriesState, experiments: ExperimentsState, first: Digest, second: Digest
) -> tuple[str, ...]:
    """Experiments on which `frozen_advantage` rests."""
    scores = {key: item.record for key, item in theories.scores.items()}
    found = _frozen(first, second, list(experiments.collected), scores)
    return () if found is None else found[0]


def left_out_advantage(
    theories: TheoriesState, experiments: ExperimentsState, first: Digest, second: Digest
) -> ScoreEstimate:
    """Advantage of one theory over another on all data so far, each part predicted from the others."""
    scores = {key: item.record for key, item in theories.scores.items()}
    return _left_out_difference(first, second, list(experiments.collected), scores)
