"""The verdict as it would be if nobody had been excluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakatos.experiments.task import Trials
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.record import TheoryScored
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    log_predictive,
    mean_over_units,
    paired_difference,
)
from lakatos.theories.findings.verdicts.record import ExclusionSensitivity
from lakatos.traces.digest import Digest


def without_exclusions(
    evidence: TheoryEvidence, names: Sequence[Digest], tables: Mapping[str, Trials], n_excluded: int
) -> ExclusionSensitivity:
    """The leader's advantage with the rules and on everybody's responses.

    Args:
        evidence: What the run knows.
        names: Theories, the leader first.
        tables: Everybody's responses to the experiments from which people were excluded.
        n_excluded: People who were.
    """
    known = evidence.theories
    without = {theory: _scores(evidence, theory, tables) for theory in names}
    with_rules = {
        theory: [
            known.scores[theory, name].record.left_out.scores
            for name in evidence.experiments.collected
        ]
        for theory in names
    }
    leader, rival = names[:2]
    leader_without = max(names, key=lambda theory: _mean(without[theory]))
    own = paired_difference(with_rules[leader], with_rules[rival])
    other = paired_difference(without[leader], without[rival])
    name_of = known.name
    return ExclusionSensitivity(
        experiments=tuple(tables),
        n_excluded=n_excluded,
        leader=leader,
        leader_without=leader_without,
        rival=rival,
        advantage=own.value,
        interval=own.interval,
        advantage_without=other.value,
        interval_without=other.interval,
        scores={theory: _mean(with_rules[theory]) for theory in names},
        scores_without={theory: _mean(without[theory]) for theory in names},
        text=describe(n_excluded, name_of(leader), name_of(leader_without), own, other),
    )


def describe(
    n_excluded: int, leader: str, leader_without: str, own: ScoreEstimate, other: ScoreEstimate
) -> str:
    """The effect of the exclusions on the result, in a sentence."""
    same = "also leads" if leader == leader_without else f"scores below {leader_without}"
    return (
        f"If the {n_excluded} participants excluded by the preregistered rules are included, {leader} {same}; its "
        f"advantage over the next theory is then {other.value:+.4f} nats per choice ({other.interval_in_words()}) "
        f"instead of {own.value:+.4f}."
    )


def _scores(
    evidence: TheoryEvidence, theory: Digest, tables: Mapping[str, Trials]
) -> list[UnitScores]:
    known = [name for name in evidence.experiments.collected if name in tables]
    found = evidence.laboratory.evidence(
        evidence.theory(theory), [tables[name] for name in known], evidence.terms.n_draws
    )
    fresh = dict(zip(known, map(log_predictive, found), strict=True))
    scored: dict[str, TheoryScored] = {
        name: evidence.theories.scores[theory, name].record
        for name in evidence.experiments.collected
    }
    return [
        fresh[name] if name in fresh else scored[name].left_out.scores
        for name in evidence.experiments.collected
    ]


def _mean(scores: Sequence[UnitScores]) -> float:
    """Nats per choice, averaged over experiments."""
    return float(sum(mean_over_units(item).value for item in scores) / len(scores))
