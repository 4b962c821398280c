"""All theories on all data, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from theories.record import TheoryScored
from theories.score import Estimate, average, is_tie, mean_over_units, paired_difference, skill
from traces.digest import Digest


@dataclass(frozen=True)
class Standing:
    """One theory's line of the scoreboard."""

    theory: Digest
    score: Estimate
    """Nats per choice with the declared population, averaged over experiments."""
    skill: float | None
    """Between chance (0) and the noise ceiling (1), averaged over experiments that have a ceiling."""
    prequential: Estimate | None
    """Nats per choice on the experiments for which its predictions were frozen beforehand."""
    n_prequential: int
    error: float
    """Mean squared error of choice proportions, averaged over experiments."""
    correlation: float | None
    behind: Estimate
    """Nats per choice by which the leader is ahead, paired."""
    tied: bool
    """Closer to the leader than two standard errors."""


@dataclass(frozen=True)
class Scoreboard:
    """Standings, best first."""

    standings: tuple[Standing, ...]
    experiments: tuple[str, ...]

    @property
    def leader(self) -> Standing:
        """The first line."""
        return self.standings[0]

    def of(self, theory: Digest) -> Standing:
        """The line of one theory; raises KeyError for one that has no score on every experiment."""
        return {line.theory: line for line in self.standings}[theory]


def scoreboard(
    theories: Sequence[Digest],
    experiments: Sequence[str],
    scores: Mapping[tuple[Digest, str], TheoryScored],
    ceilings: Mapping[str, float | None],
    twins: Mapping[Digest, Sequence[Digest]] = MappingProxyType({}),
) -> Scoreboard:
    """Rank theories that have a score on every experiment.

    Averages go over experiments, not over choices, so that a large experiment does not outvote the others. The leader
    gives way to a twin that predicts the same with fewer parameters, unless the data tell the two apart.

    Args:
        theories: Those to rank.
        experiments: On which.
        scores: By theory and experiment.
        ceilings: Noise ceiling of each experiment.
        twins: For a theory the simpler ones that predict the same.
    """
    complete = [theory for theory in theories if all((theory, name) in scores for name in experiments)]
    if not complete or not experiments:
        return Scoreboard((), tuple(experiments))
    own = {theory: [scores[theory, name] for name in experiments] for theory in complete}
    means = {
        theory: average([mean_over_units(item.declared.scores) for item in items]) for theory, items in own.items()
    }
    order = sorted(complete, key=lambda theory: (-means[theory].value, theory))
    leader = _simplest(order, own, twins)
    order = [leader, *(theory for theory in order if theory != leader)]
    first = [item.declared.scores for item in own[leader]]
    lines = []
    for theory in order:
        items = own[theory]
        skills = [
            skill(item.declared.scores.mean, ceilings[item.experiment], item.n_options)
            for item in items
            if ceilings[item.experiment] is not None
        ]
        known = [value for value in skills if value is not None]
        frozen = [item.learned.scores for item in items if item.learned is not None]
        correlations = [item.correlation for item in items if item.correlation is not None]
        behind = paired_difference(first, [item.declared.scores for item in items])
        lines.append(
            Standing(
                theory=theory,
                score=means[theory],
                skill=float(np.mean(known)) if known else None,
                prequential=average([mean_over_units(item) for item in frozen]) if frozen else None,
                n_prequential=len(frozen),
                error=float(np.mean([item.error for item in items])),
                correlation=float(np.mean(correlations)) if correlations else None,
                behind=behind,
                tied=theory == order[0] or is_tie(behind),
            )
        )
    return Scoreboard(tuple(lines), tuple(experiments))


def _simplest(
    order: Sequence[Digest], own: Mapping[Digest, Sequence[TheoryScored]], twins: Mapping[Digest, Sequence[Digest]]
) -> Digest:
    """The best theory, or its simplest twin that is tied with it; twins are strictly simpler, so that this ends."""
    best = leader = order[0]
    while True:
        tied = [
            twin
            for twin in order
            if twin in twins.get(leader, ())
            and is_tie(paired_difference(*([item.declared.scores for item in own[name]] for name in (best, twin))))
        ]
        if not tied:
            return leader
        leader = tied[0]


def prequential_advantage(
    first: Digest, second: Digest, experiments: Sequence[str], scores: Mapping[tuple[Digest, str], TheoryScored]
) -> tuple[Estimate, int] | None:
    """Advantage of the first over the second where the predictions of both were frozen before the data.

    Returns:
        Nats per choice with its standard error and the number of experiments, or None without any.
    """
    pairs = [
        (a.learned.scores, b.learned.scores)
        for name in experiments
        if (a := scores.get((first, name))) is not None
        and (b := scores.get((second, name))) is not None
        and a.learned is not None
        and b.learned is not None
    ]
    if not pairs:
        return None
    return paired_difference([a for a, _ in pairs], [b for _, b in pairs]), len(pairs)
