"""Each participant's own parameters: most likely, shrunken and mean values, and whether a design recovers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.outcomes import OutcomeSchedules, outcome_schedules
from lakatos.experiments.participants.simulated import SimulatedBehaviour
from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.person_fits import PersonFits, fit_each_person
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.findings.differences.cell_posterior import (
    CellPosteriors,
    find_cell_posteriors,
)
from lakatos.theories.language.prior import as_normal
from lakatos.theories.language.theory import Theory, read_program

Array = NDArray[np.float64]
NEAR_END = 0.01
"""Share of a parameter's range from an end, within which a most likely value stands at the limit."""
FLAT = 0.1
"""Share of the population's variance that responses must resolve, or they say next to nothing of a parameter."""

ALL = "all"
"""Estimates of all conditions together."""


@dataclass(frozen=True)
class ParticipantEstimates:
    """Parameters of each participant, in the order of experiments and of their participants."""

    most_likely: PersonFits
    """Estimates of each participant alone, by maximum likelihood within the declared ranges."""
    posteriors: CellPosteriors
    """Posteriors under the population of all participants: modes are shrunken estimates (empirical Bayes)."""

    def flags(self) -> list[str]:
        """State what should be known of each participant's estimates; empty where nothing is odd."""
        found: list[list[str]] = [[] for _ in range(self.posteriors.n_cells)]
        resolved = self.posteriors.reliability()
        for person in np.flatnonzero(~self.posteriors.has_interval).tolist():
            found[person].append("few effective draws")
        for k, scale in enumerate(self.posteriors.scales):
            values = scale.to_scale(self.most_likely.parameters[scale.name])
            place = (values - scale.low) / (scale.high - scale.low)
            for person, own in enumerate(found):
                if resolved[person, k] < FLAT:
                    own.append(f"{scale.name} not identified")
                elif place[person] <= NEAR_END or place[person] >= 1 - NEAR_END:
                    own.append(f"{scale.name} at the limit")
        return ["; ".join(own) for own in found]


def estimate_participants(
    theory: Theory, trials: Sequence[Trials], laboratory: Laboratory, *, seed: int = 0
) -> ParticipantEstimates:
    """Estimate each participant's parameters.

    Args:
        theory: Theory with its declared ranges.
        trials: Experiments whose participants can be told apart.
        laboratory: Laboratory in which the theory runs.
        seed: Seed of the points that are tried.

    Raises:
        TrialsError: Participants cannot be told apart.
        TheoryError: The theory does not run on these responses.
    """
    alone = fit_each_person(theory, trials, laboratory, seed=seed)
    cells = [np.asarray(item.participant, dtype=np.int64) for item in trials]
    return ParticipantEstimates(
        alone, find_cell_posteriors(theory, trials, cells, laboratory, seed=seed)
    )


@dataclass(frozen=True)
class SimulatedResponses:
    """Responses of simulated participants to the trials that participants had, and their true parameters."""

    trials: tuple[Trials, ...]
    parameters: Mapping[str, Array]
    """``(n_people,)`` each, of all experiments in turn."""
    notes: tuple[str, ...] = ()
    """Notes on how outcomes were estimated that a file does not hold."""


def simulate_participants(
    theory: Theory,
    trials: Sequence[Trials],
    laboratory: Laboratory,
    rng: np.random.Generator,
    parameters: Sequence[Mapping[str, Array]] = (),
) -> SimulatedResponses:
    """Simulate as many participants as there are, with the same trials in the same order.

    Args:
        theory: Theory with its population, from which participants are drawn.
        trials: Experiments whose participants can be told apart.
        laboratory: Laboratory in which the theory runs.
        rng: Generator for participants and their responses.
        parameters: ``(n_participants,)`` of each experiment, by name, in place of drawn ones.

    Returns:
        Responses in the rows of ``trials``.

    Raises:
        TrialsError: What unchosen options would have led to is neither known nor can be estimated.
    """
    people = replace(theory, priors={name: as_normal(own) for name, own in theory.priors.items()})
    answered, drawn, notes = [], [], []
    for place, item in enumerate(trials):
        sequences = item.sequences
        order = np.maximum(sequences.trial, 0)
        values = dict(parameters[place]) if parameters else _people(people, len(order), rng)
        values = {name: own[: len(order)] for name, own in values.items()}
        drawn.append(values)
        schedules = outcome_schedules(laboratory.domain, item, len(order), rng)
        notes += [schedules.note] * bool(schedules.note)

        def answer(
            domain: Domain,
            sandbox: Sandbox,
            order: NDArray[np.int64] = order,
            values: Mapping[str, Array] = values,
            schedules: OutcomeSchedules = schedules,
        ) -> SimulatedBehaviour:
            stimuli, rows = schedules.stimuli, schedules.order(order)
            return behave(theory, domain, sandbox, values, stimuli, rows, rng)

        done = laboratory.with_sandbox(answer)
        # What was done in the steps of each participant, in the rows of the table.
        rows = np.argsort(item.participant, kind="stable")
        where = np.nonzero(sequences.trial >= 0)

        def in_rows(
            column: NDArray[Any],
            rows: NDArray[np.int64] = rows,
            where: tuple[NDArray[np.int64], ...] = where,
        ) -> NDArray[Any]:
            found = np.empty(len(rows), dtype=column.dtype)
            found[rows] = column[where]
            return found

        feedback = {name: in_rows(column) for name, column in done.feedback.items()}
        answered.append(
            replace(item, response=in_rows(done.response), feedback=feedback, attributes={})
        )
    joined = {name: np.concatenate([own[name] for own in drawn]) for name in theory.priors}
    return SimulatedResponses(tuple(answered), joined, tuple(notes))


def _people(theory: Theory, n_people: int, rng: np.random.Generator) -> dict[str, Array]:
    """Parameters of people drawn from a population."""
    whole = theory.population(1024)
    chosen = rng.choice(1024, size=n_people, replace=n_people > 1024)
    return {name: own[chosen] for name, own in whole.items()}


@dataclass(frozen=True)
class RecoveredParameter:
    """Recovery of a parameter of simulated participants, on its scale."""

    parameter: str
    scale: str
    correlation_most_likely: float
    correlation_mean: float
    """Correlation of posterior means with the true values."""
    bias_most_likely: float
    bias_mean: float
    """Mean of estimate minus truth."""
    covered: float
    """Share of participants whose middle 95% hold the truth, of those who have an interval."""
    among: str = ALL
    """The condition of these estimates."""


def recover_parameters(
    simulated: SimulatedResponses,
    theory: Theory,
    laboratory: Laboratory,
    conditions: Mapping[str, NDArray[np.bool_]] | None = None,
) -> tuple[RecoveredParameter, ...]:
    """Estimate the parameters of simulated participants, and compare them with the truth.

    Args:
        simulated: Result of `simulate_participants`.
        theory: Theory that they followed.
        laboratory: Laboratory in which it runs.
        conditions: ``(n_participants,)`` of all experiments, by name: estimates that are also looked at by themselves.

    Returns:
        One for each parameter among all, then one for each condition.
    """
    found = estimate_participants(read_program(theory.program), simulated.trials, laboratory)
    everybody = np.ones(found.posteriors.n_cells, dtype=bool)
    rows = []
    for among, own in {ALL: everybody, **(conditions or {})}.items():
        for k, scale in enumerate(found.posteriors.scales):
            truth = scale.to_scale(simulated.parameters[scale.name])[own]
            alone = scale.to_scale(found.most_likely.parameters[scale.name])[own]
            mean = found.posteriors.mean[own, k]
            known = found.posteriors.has_interval[own]
            low, high = found.posteriors.interval[:, own, k]
            holds = ((low <= truth) & (truth <= high))[known]
            rows.append(
                RecoveredParameter(
                    scale.name,
                    scale.kind,
                    _correlation(truth, alone),
                    _correlation(truth, mean),
                    float((alone - truth).mean()),
                    float((mean - truth).mean()),
                    float(holds.mean()) if known.any() else float("nan"),
                    among,
                )
            )
    return tuple(rows)


def _correlation(first: Array, second: Array) -> float:
    """Pearson's correlation; not a number where one of both does not vary."""
    if first.std() < 1e-12 or second.std() < 1e-12:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])
