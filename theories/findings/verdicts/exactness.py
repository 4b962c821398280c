"""Whether the leader can still be told from the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.theories.discovery.diagnosis.case_file import examine
from lakatos.theories.discovery.diagnosis.case_predictions import features_of_trials, predictions_of
from lakatos.theories.discovery.diagnosis.rule import words
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.scoring.exactness import error_beyond_chance
from lakatos.theories.engine.scoring.score import ScoreEstimate, average
from lakatos.theories.findings.verdicts.record import ExactnessWeighed
from lakatos.traces.digest import Digest

OTHERS = 2
"""Rivals that a share of the leader's people might follow."""


def weigh_exactness(
    evidence: TheoryEvidence,
    leader: Digest,
    error: ScoreEstimate,
    rng: np.random.Generator,
    *,
    cycle: int,
    allowed: float,
) -> ExactnessWeighed:
    """The leader's frozen predictions, and its simulated people, held against the responses that came after them.

    Args:
        evidence: What is known of theories.
        leader: A theory with frozen predictions.
        error: Error of these predictions, as `error_of_all_frozen` found it.
        rng: Generator for the simulated people.
        cycle: Cycle in which it is weighed.
        allowed: Squared error beyond chance that the upper end of the interval may have.
    """
    frozen = foretold(evidence, leader)
    names = exact_rivals(evidence)
    predictions = predictions_of(evidence, names)
    seen = examine(predictions[0], predictions[1:], features_of_trials(evidence), rng)
    misfits = tuple(words(item.check.feature) for item in seen.found)
    exact = is_exact(error, allowed, misfits)
    return ExactnessWeighed(
        cycle=cycle,
        leader=leader,
        experiments=tuple(frozen),
        error=error.value,
        standard_error=error.standard_error,
        allowed=allowed,
        n_checks=len(seen.checks),
        misfits=misfits,
        exact=exact,
        text=_in_words(
            evidence.theories.name(leader), frozen, error, allowed, len(seen.checks), misfits
        ),
    )


def is_exact(error: ScoreEstimate, allowed: float, misfits: Sequence[str]) -> bool:
    """Whether a theory is exact: its error is small enough, and its simulated participants look like the real ones.

    Args:
        error: Squared error of choice proportions beyond chance.
        allowed: Limit that the upper end of the error's interval must stay below.
        misfits: Features in which simulated and real participants differ.
    """
    return error.interval[1] < allowed and not misfits


def exact_rivals(evidence: TheoryEvidence) -> list[Digest]:
    """The leader, and rivals that a share of its people might follow."""
    return [line.theory for line in evidence.board().standings[: 1 + OTHERS]]


def foretold(evidence: TheoryEvidence, theory: Digest) -> list[str]:
    """Experiments before which a theory's predictions were frozen, once it had learned who people are."""
    first = next(iter(evidence.experiments.collected))
    return [
        name
        for name in evidence.experiments.collected
        if name != first and theory in evidence.experiments.preregistrations[name].record.rivals
    ]


def error_of_all_frozen(evidence: TheoryEvidence, theory: Digest) -> ScoreEstimate | None:
    """Averaged over experiments; None where nothing was frozen, or not for the trials that were answered."""
    frozen = foretold(evidence, theory)
    errors = [error_of_frozen(evidence, theory, name) for name in frozen]
    known = [item for item in errors if item is not None]
    return average(known, frozen) if known and len(known) == len(frozen) else None


def error_of_frozen(
    evidence: TheoryEvidence, theory: Digest, experiment: str
) -> ScoreEstimate | None:
    """Error beyond chance of what was frozen for a theory before an experiment."""
    frozen = evidence.artifacts.get_arrays(
        evidence.experiments.preregistrations[experiment].record.predictions
    )
    several = frozen.get(f"{theory}:shares")
    shares = frozen[f"{theory}:proportions"][0][:, None] if several is None else several[0]
    trials = evidence.trials(experiment)
    if len(shares) != len(trials.stimuli):
        return None
    return error_beyond_chance(trials, np.asarray(shares))


def _in_words(
    leader: str,
    experiments: Sequence[str],
    error: ScoreEstimate,
    allowed: float,
    n_checks: int,
    misfits: Sequence[str],
) -> str:
    """State the result and the reason."""
    low, high = error.interval
    exact = high < allowed and not misfits
    found = (
        f"{len(misfits)} of its {n_checks} predictive checks find a misfit: {', '.join(misfits)}"
        if misfits
        else f"none of its {n_checks} predictive checks finds a misfit"
    )
    text = (
        f"the misfit of {leader} is below the preset limit"
        if exact
        else f"{leader} may still be improved"
    )
    return (
        f"{text}; the excess mean squared error of its predictions before experiment "
        f"{', '.join(map(experiment_in_words, experiments))} (sampling variance subtracted, so it can be negative) is "
        f"{error.value:.4f} (95% interval {low:.4f} to {high:.4f}; limit {allowed:g}), and {found}"
    )
