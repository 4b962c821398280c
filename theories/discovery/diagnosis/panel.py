"""One experiment's people, and replicas of them: the same people, trials and repetitions, answered by the theory.

A replica draws every person from the theory's learned population and lets them answer the trials that the real person
saw, in the same order. What is computed from the responses is computed from those of the replicas in the same way, so
that a statistic needs no distribution of its own: it is compared with the replicas'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lakatos.experiments.task import Trials
from lakatos.theories.engine.running.sequence import TINY
from lakatos.theories.engine.scoring.score import ExperimentEvidence
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
AnyArray = NDArray[Any]
MOST_DRAWS = 256
"""Draws of a population that are kept; more make a diagnosis slower, not sharper."""
NEAR_CERTAIN = 0.05
"""An answer that its person's own prediction gave less than this goes against a near-certain prediction."""
CHUNK = 4_000_000
"""Numbers held at once."""
LEAST_SEQUENCE = 8
"""Responses of a person from which anything about their order is read."""


@dataclass(frozen=True)
class TheoryPredictions:
    """One theory: its learned population and what that says of every experiment."""

    theory: Digest
    name: str
    log_weights: Array
    """``(n_draws,)`` of the population that all the responses have taught, normalised."""
    evidence: Sequence[ExperimentEvidence]
    """Predictions of each draw for every experiment."""
    records: tuple[Digest, ...] = ()
    """Scores of the theory on these experiments."""
    n_left_out: int = 0
    """People who are not looked at, since there are so many."""

    def thinned(self) -> TheoryPredictions:
        """Return the same predictions with at most `MOST_DRAWS` draws."""
        rows, log_weights = thin(self.log_weights)
        few = [
            replace(
                item,
                probabilities=item.probabilities[rows],
                followed=None if item.followed is None else item.followed[rows],
            )
            for item in self.evidence
        ]
        return replace(self, log_weights=log_weights, evidence=few)


@dataclass(frozen=True)
class TrialFeatures:
    """Description of the trials of one experiment, whose residuals are examined."""

    features: Mapping[str, Array]
    """``(n_trials,)`` each."""
    records: tuple[Digest, ...]
    """The collection of its responses."""


def thin(log_weights: Array, most: int = MOST_DRAWS) -> tuple[NDArray[np.intp], Array]:
    """Choose at most ``most`` draws that represent a population, by systematic resampling.

    Returns:
        Rows of the draws kept, and their ``(n_kept,)`` log weights, multiples of 1 / ``most``.

    References:
        Kitagawa (1996), Journal of Computational and Graphical Statistics 5(1), 1-25.
    """
    weights = np.exp(log_weights - logsumexp(log_weights))
    if len(weights) <= most:
        return np.arange(len(weights)), np.log(np.maximum(weights, 1e-300))
    points = (np.arange(most) + 0.5) / most
    rows = np.minimum(np.searchsorted(np.cumsum(weights), points), len(weights) - 1)
    kept, times = np.unique(rows, return_counts=True)
    return kept, np.log(times / most)


@dataclass(frozen=True)
class PanelSummary:
    """Statistics of one experiment's responses, or of those of ``n_replicas`` replicas of them."""

    chosen: Array
    """``(n_replicas, n_trials)`` responses for the last option."""
    own: Array
    """``(n_replicas, n_people)`` log predictive probability of a person, nats; when pooled there are no people."""
    agreement: Array
    """``(n_replicas, n_people)`` how much more than expected a person's answers follow the theory, nats."""
    side: Array
    """``(n_replicas, n_people)`` responses for the last option beyond those expected."""
    sums: Mapping[str, Array]
    """``(n_replicas,)`` each, additive over experiments: see `AnswerPanel.summarise`."""


class AnswerPanel:
    """One experiment, laid out person by person, and the theory's thinned population."""

    def __init__(self, evidence: ExperimentEvidence, log_weights: Array) -> None:
        """Lay the responses out as tables, one row a person where people can be told apart.

        Args:
            evidence: Evidence of the theory's draws, thinned.
            log_weights: ``(n_draws,)``.
        """
        self.trials = trials = evidence.trials
        # What a theory that learns expects of a person depends on the person's past; replicas of pasts are not made
        # here, so that of such a theory only the trials are examined.
        self.pooled = trials.pooled or evidence.followed is not None
        self.log_weights = log_weights
        self.probabilities = evidence.probabilities
        self.log_probabilities = np.log(np.maximum(self.probabilities, TINY))
        self.mean: Array = np.einsum("d,dto->to", np.exp(log_weights), self.probabilities)
        """``(n_trials, n_options)`` predicted shares."""
        self.option = trials.stimuli.last_available(self.mean.shape[1])
        """The last option that any trial offers: of two the second, of a scale its last category."""
        self.n_answers: Array = trials.totals.sum(axis=1)
        """``(n_trials,)``."""
        self.index, self.mask, self.response = _sequences(trials) if not self.pooled else _nobody()
        """``(n_people, n_steps)`` trial, whether there is one, and the response; no people when pooled."""

    @property
    def n_people(self) -> int:
        """People who can be told apart."""
        return len(self.index)

    @cached_property
    def counts(self) -> Array:
        """``(n_people, n_trials, n_options)`` responses; all together as one person's when pooled."""
        if self.pooled:
            return self.trials.totals[None]
        return np.asarray(self._counts(self.response[None])[0])

    @cached_property
    def half(self) -> AnyArray:
        """``(n_people, n_steps)`` -1 in the first half of a person's responses and 1 in the second; 0 where too few."""
        n_steps = self.mask.sum(axis=1, keepdims=True)
        place = np.arange(self.mask.shape[1])
        sign = np.where(2 * place < n_steps, -1, 1)
        return np.asarray(np.where(self.mask & (n_steps >= LEAST_SEQUENCE), sign, 0))

    @cached_property
    def last(self) -> AnyArray:
        """``(n_people, n_steps)`` the person's last response, -1 at the first step."""
        return np.asarray(_shifted(self.response[None], self.mask)[0])

    def observed(self) -> PanelSummary:
        """Summary of the responses that people gave."""
        if self.pooled:
            return _pooled(self.counts[:, :, self.option])
        return self.summarise(self.response[None])

    def replicas(self, rng: np.random.Generator, n_replicas: int) -> PanelSummary:
        """Summaries of responses that the theory itself would give."""
        if self.pooled:
            return _pooled(self._simulate_pooled(rng, n_replicas))
        n_cells = self.mean.size // 2
        most = max(len(self.log_weights), 4 * self.mask.shape[1], n_cells)
        size = max(1, CHUNK // max(1, self.n_people * most))
        parts = [
            self.summarise(self._simulate(rng, min(size, n_replicas - start)))
            for start in range(0, n_replicas, size)
        ]
        return PanelSummary(
            **{
                name: np.concatenate([getattr(part, name) for part in parts])
                for name in ("chosen", "own", "agreement", "side")
            },
            sums={
                name: np.concatenate([part.sums[name] for part in parts]) for name in parts[0].sums
            },
        )

    def _told_of_people(self, counts: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Compute what a person's responses show about the person, in single precision.

        Returns:
            ``(n_replicas, n_people)`` log probability of each person's responses, and
            ``(n_replicas, n_people, n_trials, n_options)`` what the draws that a person is likely to be, after all of
            the responses, predict for this person.
        """
        n_replicas, (n_draws, n_trials, n_options) = len(counts), self.probabilities.shape
        flat = counts.reshape(n_replicas * self.n_people, -1).astype(np.float32)
        log_p = self.log_probabilities.reshape(n_draws, -1).T.astype(np.float32)
        log_joint = flat @ log_p
        log_joint += self.log_weights.astype(np.float32)

        # Normalised over draws, in place: these are the largest arrays of a diagnosis.
        top = log_joint.max(axis=1, keepdims=True)
        posterior = np.exp(log_joint - top, out=log_joint)
        total = posterior.sum(axis=1, keepdims=True)
        log_predictive = (np.log(total) + top)[:, 0].reshape(n_replicas, self.n_people)

        p = self.probabilities.reshape(n_draws, -1).astype(np.float32)
        expected = (posterior / total) @ p
        return log_predictive, expected.reshape(n_replicas, self.n_people, n_trials, n_options)

    def summarise(self, response: AnyArray) -> PanelSummary:
        """Statistics of ``(n_replicas, n_people, n_steps)`` responses.

        What a person does beyond the theory is measured from the theory's prediction *for that person*, after all of
        their responses: otherwise a taste that stays the same would pass for a tendency to repeat oneself.

        Returns:
            Summary with the sums ``against`` (answers against near-certain predictions), ``repeat`` (repetitions of the
            last response beyond those expected, by person), ``side_drift`` and ``agreement_drift`` (responses for the
            last option, and for the likeliest, in the second half less those in the first, beyond those expected) and
            ``discord`` (pairs of different responses of one person to one trial).
        """
        counts = self._counts(response)
        own, expected = self._told_of_people(counts)
        people = np.arange(self.n_people)[:, None]
        own_p = expected[:, people, self.index]  # (n_replicas, n_people, n_steps, n_options)

        # What was chosen beyond it at each step: in repetition, towards the likeliest, and where it was near certain.
        options = np.arange(self.probabilities.shape[-1])
        given = options == response[..., None]
        beyond = (given - own_p) * self.mask[..., None].astype(np.float32)
        likeliest = _of_option(beyond, own_p.argmax(axis=-1))
        is_against = (_of_option(own_p, response) < NEAR_CERTAIN) & self.mask

        # Repetition of the last response, beyond a person's own tendency to each option.
        n_steps = np.maximum(self.mask.sum(axis=1), 1)
        last = _shifted(response, self.mask)
        is_long = (n_steps >= LEAST_SEQUENCE)[:, None, None]
        follows = (options == last[..., None]) & is_long
        tendency = beyond.sum(axis=2, keepdims=True) / n_steps[:, None, None]

        # Responses beyond the population's mean, and pairs of one person's responses to a trial that differ.
        n_own = np.einsum("rpto->rpt", counts)
        log_mean = np.log(np.maximum(self.mean, TINY))
        surplus = counts - n_own[..., None] * self.mean
        n_pairs = np.einsum("rpt,rpt->r", n_own, n_own)
        n_alike = np.einsum("rpto,rpto->r", counts, counts)

        return PanelSummary(
            chosen=counts[..., self.option].sum(axis=1),
            own=own.astype(np.float64),
            agreement=np.einsum("rpto,to->rp", surplus, np.maximum(log_mean, -5.0)),
            side=surplus[..., self.option].sum(axis=2),
            sums={
                "against": is_against.sum(axis=(1, 2)).astype(np.float64),
                "repeat": np.einsum("rpto,rpto->r", beyond - tendency, follows, dtype=np.float64),
                "side_drift": np.einsum(
                    "rpt,pt->r", beyond[..., self.option], self.half, dtype=np.float64
                ),
                "agreement_drift": np.einsum("rpt,pt->r", likeliest, self.half, dtype=np.float64),
                "discord": (n_pairs - n_alike) / 2,
            },
        )

    def _counts(self, response: AnyArray) -> Array:
        """``(n_replicas, n_people, n_trials, n_options)`` responses."""
        n_replicas = len(response)
        n_trials, n_options = self.mean.shape
        cell = (
            np.arange(n_replicas)[:, None, None] * self.n_people + np.arange(self.n_people)[:, None]
        ) * n_trials
        place = (cell + self.index) * n_options + response
        found = np.bincount(
            place[np.broadcast_to(self.mask, place.shape)],
            minlength=n_replicas * self.n_people * n_trials * n_options,
        )
        return found.reshape(n_replicas, self.n_people, n_trials, n_options).astype(np.float64)

    def _simulate(self, rng: np.random.Generator, n_replicas: int) -> AnyArray:
        draws = rng.choice(
            len(self.log_weights), size=(n_replicas, self.n_people), p=np.exp(self.log_weights)
        )
        p = self.probabilities[draws[:, :, None], self.index]
        below = np.cumsum(p[..., :-1], axis=-1) < rng.random((*p.shape[:-1], 1))
        return np.asarray(below.sum(axis=-1))

    def _simulate_pooled(self, rng: np.random.Generator, n_replicas: int) -> Array:
        """Responses for the last option when as many people as there were give equally many responses to every trial.

        Their number is drawn from a normal distribution with the exact mean and variance, people given.
        """
        n_people = self.trials.n_people or int(self.n_answers.max(initial=1))
        weights = np.exp(self.log_weights)
        people = rng.multinomial(n_people, weights / weights.sum(), size=n_replicas) / n_people
        p = self.probabilities[:, :, self.option]
        noise = np.sqrt(self.n_answers * (people @ (p * (1 - p)))) * rng.standard_normal(
            (n_replicas, p.shape[1])
        )
        return np.asarray(np.clip(self.n_answers * (people @ p) + noise, 0.0, self.n_answers))


def _nobody() -> tuple[AnyArray, AnyArray, AnyArray]:
    empty = np.zeros((0, 0), dtype=np.intp)
    return empty, empty.astype(bool), empty


def _sequences(trials: Trials) -> tuple[AnyArray, AnyArray, AnyArray]:
    rows = np.repeat(np.arange(len(trials.trial)), trials.count)
    rows = rows[np.argsort(trials.participant[rows], kind="stable")]
    _, person, n_steps = np.unique(
        trials.participant[rows], return_inverse=True, return_counts=True
    )
    step = np.arange(len(rows)) - np.repeat(np.cumsum(n_steps) - n_steps, n_steps)
    shape = (len(n_steps), int(n_steps.max(initial=0)))
    index, response, mask = (
        np.zeros(shape, np.intp),
        np.zeros(shape, np.intp),
        np.zeros(shape, bool),
    )
    index[person, step], response[person, step], mask[person, step] = (
        trials.trial[rows],
        trials.response[rows],
        True,
    )
    return index, mask, response


def _of_option(values: AnyArray, option: AnyArray) -> AnyArray:
    """Values of one option each, ``(..., n_options)`` and ``(...)``."""
    return np.take_along_axis(values, option[..., None], axis=-1)[..., 0]


def _shifted(response: AnyArray, mask: AnyArray) -> AnyArray:
    """Every person's answer one step before, -1 at the first step and after the last."""
    before = np.full_like(response, -1)
    before[..., 1:] = response[..., :-1]
    return np.where(mask, before, -1)


def _pooled(chosen: Array) -> PanelSummary:
    nobody = np.zeros((len(chosen), 0))
    return PanelSummary(np.asarray(chosen, dtype=np.float64), nobody, nobody, nobody, {})
