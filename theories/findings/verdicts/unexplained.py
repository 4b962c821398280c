"""Unexplained error of a theory on the presented trials; see `theories.engine.scoring.unexplained`.

Shares of responses to each trial are compared where trials have at least five responses. Where they have fewer, a
theory that only knew the mean would look perfect, since a single response deviates from any share by what chance makes
of it. Trials that are alike are then compared together: in bins of each of their properties, of two properties crossed,
and, of more than two options, of each attribute of the options. Where responses depend on earlier ones, participants
are simulated response by response, and repetitions of the last response are compared, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.errors import ExperimentError
from lakatos.experiments.subset import some_people
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import ExperimentEvidence
from lakatos.theories.engine.scoring.unexplained import (
    ErrorRatio,
    error_ratio,
    weights_of_moves,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.participant_estimate import simulate_participants
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
N_SIMULATED = 200
"""Data sets that a theory simulates."""
FEWEST_WALKED, MOST_WALKED = 24, 100
"""The same where responses are simulated one by one."""
MOST_ROWS, MOST_STEPS, MOST_STEPS_IN_ALL = 100_000, 40_000, 1_500_000
"""Responses that are compared, at most; of more, those of participants drawn at random."""
LEAST_PER_TRIAL = 5
"""Responses to a trial, on average, from which on single trials are compared."""
LEAST_IN_CELL = 10
"""Responses to trials that are compared together."""
N_BINS, N_CROSSED, MOST_CROSSED = 6, 3, 6
"""Bins of a property, of each of two crossed ones, and properties that are crossed."""
N_PARTS = 4
"""Parts of a session in which repetitions are compared."""
DIGITS = 12
"""Digits of probabilities with which responses are drawn and trials divided: a generator draws otherwise above one half
than below, and a tie that is missed by rounding would make other responses on another processor."""


def left_unexplained(
    laboratory: Laboratory, theory: Theory, trials: Sequence[Trials], n_draws: int
) -> ErrorRatio | None:
    """The misfit ratio of a theory on the presented trials.

    Args:
        laboratory: Laboratory in which the theory runs.
        theory: Theory with the population estimated from these responses.
        trials: Experiments.
        n_draws: Number of draws of the population.

    Returns:
        The ratio; None where the theory has as many parameters as the data have shares, or where participants cannot
        be simulated.
    """
    rng = np.random.default_rng(int(theory.digest[:16], 16))
    domain = laboratory.domain
    walks = (theory.learns or domain.sequential) and not any(
        item.pooled or (item.count != 1).any() for item in trials
    )
    few = some_people(trials, MOST_STEPS if walks else MOST_ROWS, rng)
    try:
        if walks:
            parts = [_walked(laboratory, theory, item, rng) for item in few]
        else:
            drawn = theory.population(n_draws)
            latent = _latent(theory, drawn)
            parts = [
                _drawn(domain, laboratory.evidence(theory, [item], n_draws)[0], latent, rng)
                for item in few
            ]
    except (TheoryError, ExperimentError):
        return None
    parts = [part for part in parts if part.observed.size]
    if not parts:
        return None
    n_sets = min(len(part.simulated) for part in parts)
    return error_ratio(
        np.concatenate([part.observed for part in parts]),
        np.concatenate([part.simulated[:n_sets] for part in parts], axis=1),
        np.concatenate([part.directions for part in parts], axis=1),
    )


@dataclass(frozen=True)
class ExperimentDeviations:
    """Deviations of one experiment's shares, times the square root of the number of responses; see `error_ratio`."""

    observed: Array
    simulated: Array
    directions: Array


def _latent(theory: Theory, drawn: Mapping[str, Array]) -> Array:
    """``(n_draws, n_parameters)`` of people, on the scale of their distribution."""
    columns = [prior.latent(drawn[name]) for name, prior in theory.priors.items() if not prior.idle]
    n_draws = len(next(iter(drawn.values())))
    return np.stack(columns, axis=1) if columns else np.zeros((n_draws, 0))


# --- cells: which responses are compared together -------------------------------------------------------------------


def _in_columns(domain: Domain, table: Array) -> Array:
    """Shares, or counts, of what is compared: the second of two options, each of more, cumulated on a scale.

    Cumulated shares show at once that responses lie higher than predicted, which shares of single numbers hide.

    Args:
        domain: Domain of the responses.
        table: ``(..., n_options)``.
    """
    if table.shape[-1] == 2:
        return table[..., -1:]
    return table if scale_of(domain) is None else np.cumsum(table, axis=-1)[..., :-1]


def _bins(values: Array, n_bins: int) -> NDArray[np.int64]:
    """The bin of each value; bins hold about equally many, and equal values are in one."""
    ends = np.unique(np.quantile(values, np.arange(1, n_bins) / n_bins))
    return np.asarray(np.searchsorted(ends, values, side="right"))


def _groups_of_trials(domain: Domain, stimuli: Stimuli, mean: Array) -> Iterator[NDArray[np.int64]]:
    """``(n_trials,)`` numbers of groups of trials that are alike, in one way after another.

    Args:
        domain: Domain of the trials.
        stimuli: The trials.
        mean: ``(n_trials, n_options)`` predicted shares.
    """
    places = np.arange(mean.shape[1])
    properties = {"predicted": np.round(mean @ places, DIGITS), **domain.features(stimuli)}
    known = [np.asarray(own, dtype=np.float64) for own in properties.values()]
    varied = [own for own in known if np.isfinite(own).all() and np.ptp(own) > 0]
    for own in varied:
        yield _bins(own, N_BINS)
    for first, second in combinations(varied[:MOST_CROSSED], 2):
        yield _bins(first, N_CROSSED) * N_BINS + _bins(second, N_CROSSED)


def _groups_of_options(stimuli: Stimuli, mean: Array) -> Iterator[NDArray[np.int64]]:
    """``(n_trials, n_options)`` numbers of groups of options that are alike, in one way after another."""
    yield _bins(np.round(mean.ravel(), DIGITS), 2 * N_BINS).reshape(mean.shape)
    for array in stimuli.arrays.values():
        own = np.asarray(array)
        if own.shape == mean.shape and own.dtype.kind in "fiub" and np.ptp(own) > 0:
            values = own.astype(np.float64)
            yield _bins(values.ravel(), N_BINS).reshape(mean.shape)
            yield np.argsort(np.argsort(values, axis=1, kind="stable"), axis=1)


def _cells(domain: Domain, trials: Trials, mean: Array) -> Callable[[Array, Array], Array]:
    """Return a function that sums deviations over the responses that are compared together.

    Returns:
        A function of ``(..., n_trials, n_options)`` counts beyond those predicted and ``(n_trials,)`` responses, to
        ``(..., n_cells)`` sums, each divided by the square root of its number of responses.
    """
    n_responses = trials.totals.sum(axis=1)
    answered = n_responses > 0
    if n_responses[answered].mean() >= LEAST_PER_TRIAL:

        def of_trials(beyond: Array, n: Array) -> Array:
            own = _in_columns(domain, beyond)[..., answered, :]
            scaled = own / np.sqrt(n[answered])[:, None]
            size = scaled.shape[-2] * scaled.shape[-1]
            return np.asarray(scaled.reshape(*scaled.shape[:-2], size))

        return of_trials
    by_trial = [
        group == number
        for group in _groups_of_trials(domain, trials.stimuli, mean)
        for number in np.unique(group)
    ]
    by_trial = [rows for rows in by_trial if n_responses[rows].sum() >= LEAST_IN_CELL]
    by_option: list[NDArray[np.bool_]] = []
    if mean.shape[1] > 2 and scale_of(domain) is None:
        by_option = [
            group == number
            for group in _groups_of_options(trials.stimuli, mean)
            for number in np.unique(group)
        ]
        by_option = [item for item in by_option if n_responses @ item.any(axis=1) >= LEAST_IN_CELL]
    of_rows = np.stack(by_trial).astype(np.float64) if by_trial else np.zeros((0, len(n_responses)))
    of_options = np.stack(by_option).astype(np.float64) if by_option else np.zeros((0, *mean.shape))

    def of_groups(beyond: Array, n: Array) -> Array:
        sums = np.einsum("ct,...tk->...ck", of_rows, _in_columns(domain, beyond))
        sums = sums / np.sqrt(of_rows @ n)[:, None]
        sums = sums.reshape(*sums.shape[:-2], sums.shape[-2] * sums.shape[-1])
        own = np.einsum("cto,...to->...c", of_options, beyond)
        return np.concatenate([sums, own / np.sqrt(of_options.sum(axis=2) @ n)], axis=-1)

    return of_groups


# --- responses that depend on nothing before ------------------------------------------------------------------------


def _drawn(
    domain: Domain, evidence: ExperimentEvidence, latent: Array, rng: np.random.Generator
) -> ExperimentDeviations:
    """Deviations where the probabilities of each drawn participant are known.

    Args:
        domain: Domain of the trials.
        evidence: The responses and the probabilities of every draw.
        latent: ``(n_draws, n_parameters)`` of the draws.
        rng: Generator for simulated responses.
    """
    trials, p = evidence.trials, evidence.probabilities
    n_responses = trials.totals.sum(axis=1)
    people = _People.of(trials)
    mean = p.mean(axis=0)
    expected = n_responses[:, None] * mean
    ends = None
    if evidence.known is not None:  # draws have other weights for each participant
        weights = np.exp(evidence.known)
        mean, expected = np.tensordot(weights.mean(axis=1), p, 1), people.expected(p, weights)
        ends = np.cumsum(weights, axis=0)
    mean = mean / mean.sum(axis=1, keepdims=True)

    def respond() -> Array:
        if trials.pooled:
            return rng.multinomial(n_responses.astype(np.int64), _rounded(mean)).astype(np.float64)
        return people.respond(p, trials.n_participants, ends, rng)

    cells = _cells(domain, trials, mean)
    moved = weights_of_moves(latent, spreads=not trials.pooled)
    return ExperimentDeviations(
        cells(trials.totals - expected, n_responses),
        np.stack([cells(respond() - expected, n_responses) for _ in range(N_SIMULATED)]),
        cells(np.einsum("nd,dto->nto", moved, p) * n_responses[:, None], n_responses),
    )


def _rounded(p: Array) -> Array:
    """``(n, n_options)`` probabilities that are the same on every processor, and sum to one."""
    own = np.round(np.clip(p, 0, 1), DIGITS)
    return np.asarray(own / own.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _People:
    """Trials that each participant responded to, and how often."""

    person: NDArray[np.int64]
    trial: NDArray[np.int64]
    times: NDArray[np.int64]
    shape: tuple[int, int]
    """Trials and options."""

    @classmethod
    def of(cls, trials: Trials) -> _People:
        """The same for each pair of a participant and a trial with responses."""
        n_trials = len(trials.stimuli)
        pair = np.asarray(trials.participant, dtype=np.int64) * n_trials + trials.trial
        known, place = np.unique(pair, return_inverse=True)
        times = np.bincount(place, weights=trials.count).astype(np.int64)
        return cls(known // n_trials, known % n_trials, times, (n_trials, trials.n_options))

    def expected(self, p: Array, weights: Array) -> Array:
        """``(n_trials, n_options)`` predicted counts, with ``(n_draws, n_participants)`` weights of draws."""
        n_responses = np.zeros((weights.shape[1], self.shape[0]))
        np.add.at(n_responses, (self.person, self.trial), self.times)
        by_draw = weights @ n_responses
        return np.asarray(np.einsum("dt,dto->to", by_draw, p))

    def respond(
        self, p: Array, n_people: int, ends: Array | None, rng: np.random.Generator
    ) -> Array:
        """``(n_trials, n_options)`` counts of responses of new participants, each one of the draws.

        Args:
            p: ``(n_draws, n_trials, n_options)``.
            n_people: Participants.
            ends: ``(n_draws, n_participants)`` cumulated weights of draws; None where they are even.
            rng: Decides.
        """
        if ends is None:
            draw = rng.integers(len(p), size=n_people)
        else:
            draw = (ends < rng.random(n_people) * ends[-1]).sum(axis=0)
            draw = np.minimum(draw, len(p) - 1)
        own = _rounded(p[draw[self.person], self.trial])
        counts = np.zeros(self.shape)
        if self.shape[1] == 2:
            second = rng.binomial(self.times, own[:, 1])
            np.add.at(counts[:, 1], self.trial, second)
            np.add.at(counts[:, 0], self.trial, self.times - second)
            return counts
        np.add.at(counts, self.trial, rng.multinomial(self.times, own))
        return counts


# --- responses that depend on earlier ones --------------------------------------------------------------------------


def _walked(
    laboratory: Laboratory, theory: Theory, trials: Trials, rng: np.random.Generator
) -> ExperimentDeviations:
    """Deviations from the mean of data sets whose participants are simulated response by response."""
    n_people = trials.n_participants
    n_sets = int(np.clip(MOST_STEPS_IN_ALL // len(trials.trial), FEWEST_WALKED, MOST_WALKED))
    many = _times(trials, n_sets)
    done = simulate_participants(theory, [many], laboratory, rng)
    (simulated,) = done.trials
    totals = simulated.totals / n_sets
    mean = totals / np.maximum(totals.sum(axis=1), 1e-300)[:, None]
    cells = _cells(laboratory.domain, trials, mean)
    n_responses = trials.totals.sum(axis=1)
    flat = np.asarray(trials.totals - totals)
    observed = cells(flat, n_responses)
    expected = totals / n_people
    by_person = np.concatenate(
        [cells(counts - expected, n_responses) for _, counts in simulated.counts_of_some()]
    )

    # Repetitions of the last response, in parts of the session, by what followed that.
    own, n_own = _repetitions(trials)
    made, n_made = _repetitions(simulated)
    rate = made.sum(axis=0) / np.maximum(n_made.sum(axis=0), 1)
    size = n_own.sum(axis=0)
    kept = size >= LEAST_IN_CELL
    root = np.sqrt(np.maximum(size, 1))
    repeated = ((own - rate * n_own).sum(axis=0) / root)[kept]
    by_person = np.hstack([by_person, ((made - rate * n_made) / root)[:, kept]])
    observed = np.concatenate([observed, repeated])

    values = done.parameters
    latent = _latent(theory, values) if values else np.zeros((len(by_person), 0))
    data_sets = by_person.reshape(n_sets, n_people, -1).sum(axis=1)
    # Deviations from their own mean are smaller than those of the observed data by so much.
    scale = np.sqrt((n_sets + 1) / (n_sets - 1))
    return ExperimentDeviations(
        observed,
        (data_sets - data_sets.mean(axis=0)) * scale,
        weights_of_moves(latent, spreads=False) @ by_person,
    )


def _times(trials: Trials, n: int) -> Trials:
    """``n`` times as many participants with the same trials."""

    def repeat(column: NDArray[Any]) -> NDArray[Any]:
        return np.tile(np.asarray(column), n)

    first = np.repeat(np.arange(n) * trials.n_participants, len(trials.trial))
    return Trials(
        experiment=trials.experiment,
        stimuli=trials.stimuli,
        participant=repeat(trials.participant) + first,
        trial=repeat(trials.trial),
        response=repeat(trials.response),
        count=repeat(trials.count),
        n_options=trials.n_options,
        n_people=n * trials.n_participants,
        feedback={name: repeat(column) for name, column in trials.feedback.items()},
    )


def _repetitions(trials: Trials) -> tuple[Array, Array]:
    """Repetitions of the last response, and where there could be one, by participant and kind.

    Kinds are the parts of the session, each after a good outcome and after a bad one where outcomes are known.

    Returns:
        Two arrays, ``(n_participants, n_kinds)``.
    """
    sequences = trials.sequences
    there = (sequences.trial[:, 1:] >= 0) & (sequences.trial[:, :-1] >= 0)
    same = (sequences.response[:, 1:] == sequences.response[:, :-1]) & there
    n_steps = there.shape[1]
    part = np.minimum(np.arange(n_steps) * N_PARTS // max(n_steps, 1), N_PARTS - 1)
    kind = np.broadcast_to(part, there.shape)
    outcome = sequences.feedback.get("reward")
    if outcome is not None:
        kind = kind + N_PARTS * (outcome[:, :-1] > 0)
    found = [(same & (kind == number), there & (kind == number)) for number in range(2 * N_PARTS)]
    hits, all_of = zip(*((a.sum(axis=1), b.sum(axis=1)) for a, b in found), strict=True)
    return np.stack(hits, axis=1).astype(np.float64), np.stack(all_of, axis=1).astype(np.float64)
