"""Whether responses depend on one's own past at all, before rules with memory are searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from lakatos.theories.discovery.induction.past_gates import past_gates
from lakatos.theories.discovery.induction.past_terms import past_leads
from lakatos.theories.discovery.induction.terms import InductionAnswers, TermTable, signs

Array = NDArray[Any]
PAYS = 18.0
"""Nats that some term must explain: of a hundred thousand, the best of responses in a random order explains 9 to 16."""
N_SHUFFLES = 2
"""Copies of the responses with each person's trials in another order."""


def depends_on_past(
    answers: InductionAnswers, plain: TermTable, signed: TermTable, rng: np.random.Generator
) -> bool:
    """Whether some term of one's own past says how responses to the same trial differ from one another.

    Score statistics of past leads, and of leads behind past gates, against each trial's own proportion, so that what
    a trial is like explains nothing here. Where people differ, their past says who they are, whatever its order; what
    a term says when each person's trials are shuffled is therefore taken off, and the largest rest must beat the
    largest rest of every shuffled copy (a permutation test: Good, 2005).

    Args:
        answers: Responses in presentation order.
        plain, signed: Leads on the distinct trials, as numbers and as sides.
        rng: Shuffles.

    References:
        Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, Springer, 3rd ed.
    """
    basic = plain.take(
        [row for row, score in enumerate(answers.vocabulary.scores) if score.is_basic]
    )
    copies = beside_one_another([answers, *(shuffled(answers, rng) for _ in range(N_SHUFFLES))])
    statistics = _statistics(copies, basic, signed, 1 + N_SHUFFLES)
    # Each copy's distance from the mean of all others, which has 1 + 1 / N_SHUFFLES times the variance of one.
    others = (statistics.sum(axis=0) - statistics) / N_SHUFFLES
    gains = 0.5 * np.max((statistics - others) ** 2, axis=1) / (1 + 1 / N_SHUFFLES)
    return bool(gains[0] > max(PAYS, gains[1:].max()))


def shuffled(answers: InductionAnswers, rng: np.random.Generator) -> InductionAnswers:
    """The same responses to the same trials, each person's in a random order."""
    order = np.lexsort((answers.number, answers.person))
    drawn = np.lexsort((rng.random(len(order)), answers.person))
    source = np.empty_like(order)
    source[order] = drawn
    trial, response, count = answers.trial[source], answers.response[source], answers.count[source]
    return replace(answers, trial=trial, response=response, count=count)


def beside_one_another(copies: Sequence[InductionAnswers]) -> InductionAnswers:
    """Copies of the same responses as one table, as if other people had given each: terms then mean the same in all."""
    first = copies[0]
    n_rows, n_people = len(first.trial), int(first.person.max()) + 1
    names = ("trial", "person", "response", "count", "previous", "number")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(copy, name) for copy in copies]) for name in names
    }
    number = np.repeat(np.arange(len(copies)), n_rows)
    columns["person"] += number * n_people
    columns["previous"] += np.where(columns["previous"] >= 0, number * n_rows, 0)
    return replace(first, **columns)


def _statistics(
    answers: InductionAnswers, basic: TermTable, signed: TermTable, n_copies: int
) -> Array:
    """``(n_copies, n_terms)`` score statistics, in standard errors, of past leads and of leads behind past gates."""
    # What each response is beyond the share of its trial, and its variance by chance.
    counts = answers.counts
    share = counts[:, 1] / np.maximum(counts.sum(axis=1), 1)
    p = share[answers.trial]
    residual = (answers.response - p) * answers.count
    variance = p * (1 - p) * answers.count

    own, gates = signs(past_leads(answers, basic)), past_gates(answers, basic)
    found = []
    for rows in np.split(np.arange(len(answers.trial)), n_copies):
        places = (answers.trial[rows], np.arange(len(rows)))
        by_trial = csr_matrix((np.ones(len(rows)), places), shape=(len(counts), len(rows)))
        total = np.maximum(by_trial @ variance[rows], 1e-12)[:, None]

        # Leads of the past by themselves, held against other responses to the same trial.
        lead = own.values[:, rows]
        inside = by_trial @ (lead * variance[rows]).T
        information = lead**2 @ variance[rows] - (inside**2 / total).sum(axis=0)
        alone = _standardised(lead @ residual[rows], information)

        # Leads of the trial, where a gate of the past is open.
        gate = gates.values[:, rows]
        inside = by_trial @ (gate * variance[rows]).T
        information = (inside - inside**2 / total).T @ (signed.values**2).T
        beyond = by_trial @ (gate * residual[rows]).T
        behind = _standardised(beyond.T @ signed.values.T, information)
        found.append(np.concatenate([alone, behind.ravel()]).astype(np.float32))
    return np.array(found)


def _standardised(scores: Array, information: Array) -> Array:
    """Scale scores to standard errors; 0 where there is too little information."""
    return np.where(information > 1, scores / np.sqrt(np.maximum(information, 1)), 0.0)
