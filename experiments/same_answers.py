"""Whether two tables hold answers of the same people, whatever file they stood in, in which order, or in which part.

A digest of a table changes with every row that is left out. Here people are known by their answers: somebody of one
table is *found again* in another if somebody there gave the same answers to all trials that both tables show of them.
People who answer alike are common, so that this is compared with how often people of one table seem to be found again
among each other. Where answers are counts, or people answered too few trials to be known by them, trials are compared
by their counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lakatos.experiments.task import Domain, Trials

Array = NDArray[Any]
LEAST_ANSWERS: Final = 8
"""Answers that two people must share to count as one."""
SHARED: Final = 0.75
"""Share of the responses that two people must have in common, of those of the one with fewer."""
MOST_PEOPLE: Final = 300
"""People who are looked for; of more, every second, third, ... one."""
LEAST_SHARE: Final = 0.1
"""Share of people found again, beyond chance, above which responses count as the same."""
MOST_OPTIONS: Final = 1024
"""Places for options of a trial, more than any domain has."""
LEAST_COUNTED, MANY_COUNTED, MANY_ANSWERS = 3, 8, 20
"""Trials that tables of counts must share, or so many where trials have fewer answers than `MANY_ANSWERS`."""


def are_same_answers(own: Sequence[Trials], other: Sequence[Trials], domain: Domain) -> bool:
    """Whether a noticeable part of one's own answers stands among other ones.

    Args:
        own: Experiments of one data set.
        other: Experiments of another one.
        domain: Domain of both; a trial with its options exchanged is the same trial.
    """
    keys, answers = _trial_keys([*own, *other], domain)
    mine, theirs = answers[: len(own)], answers[len(own) :]
    if not any(item.pooled for item in (*own, *other)):
        return share_found_again(mine, theirs, len(keys)) > LEAST_SHARE or _same_counts(
            mine, theirs, len(keys)
        )
    return _same_counts(mine, theirs, len(keys))


def share_found_again(own: Sequence[Array], other: Sequence[Array], n_trials: int) -> float:
    """The share of people who stand in another table too, beyond what people who answer alike make it seem.

    Args:
        own: Tables of rows (person, trial, option, number of equal answers).
        other: Tables of the same form.
        n_trials: Different trials of both.

    Returns:
        Share between 0 and 1: a lower limit, by three standard errors of chance; 0 where nobody can be known.
    """
    mine, theirs = PersonAnswersTable(own, n_trials), PersonAnswersTable(other, n_trials)
    looked_for = np.flatnonzero(mine.n_answers >= LEAST_ANSWERS)
    looked_for = looked_for[:: -(-len(looked_for) // MOST_PEOPLE) or 1]
    if not len(looked_for) or not len(theirs.n_answers):
        return 0.0
    again = mine.agree(looked_for, theirs).any(axis=1)
    alike = mine.agree(looked_for, mine)
    alike[np.arange(len(looked_for)), looked_for] = False
    # Strangers are found as often as people of one's own table are, if there are as many of them.
    n_strangers = max(len(mine.n_answers) - 1, 1)
    by_chance = min(alike.any(axis=1).mean() * max(1.0, len(theirs.n_answers) / n_strangers), 1.0)
    error = np.sqrt(by_chance * (1 - by_chance) / len(looked_for))
    return float(max(again.mean() - by_chance - 3 * error, 0.0))


class PersonAnswersTable:
    """Responses of each person to each trial, as sparse tables."""

    def __init__(self, tables: Sequence[Array], n_trials: int) -> None:
        """Answers of several experiments, whose people are different ones.

        Args:
            tables: Rows (person, trial, option, number of equal answers).
            n_trials: Different trials of all tables that are compared.
        """
        people, shift = [], 0
        for rows in tables:
            people.append(rows[:, 0] + shift)
            shift += int(rows[:, 0].max(initial=-1)) + 1
        rows = np.concatenate(tables) if tables else np.zeros((0, 4), dtype=np.int64)
        person = np.concatenate(people) if people else np.zeros(0, dtype=np.int64)
        cell = rows[:, 1] * MOST_OPTIONS + rows[:, 2]
        self.chosen = _sums(person, cell, rows[:, 3], (shift, n_trials * MOST_OPTIONS))
        self.asked = _sums(person, rows[:, 1], rows[:, 3], (shift, n_trials))
        self.n_answers: Array = np.asarray(self.asked.sum(axis=1)).ravel()

    def agree(self, people: Array, other: PersonAnswersTable) -> Array:
        """``(len(people), n_others)`` whether somebody gave the answers of one of the others, as far as both show them.

        They must share most of the answers of whoever has fewer, and `LEAST_ANSWERS`.
        """
        same = _overlap(self.chosen[people], other.chosen)
        shared = _overlap(self.asked[people], other.asked)
        fewer = np.minimum(self.n_answers[people][:, None], other.n_answers[None, :])
        enough = shared >= np.maximum(LEAST_ANSWERS, SHARED * fewer)
        return np.asarray(enough & (same == shared))


def _sums(row: Array, column: Array, values: Array, shape: tuple[int, int]) -> csr_array:
    return csr_array((values.astype(np.int64), (row, column)), shape=shape)


def _overlap(own: csr_array, other: csr_array) -> Array:
    """``(n_own, n_other)`` sums over columns of the smaller of two numbers."""
    most = int(min(own.max(), other.max())) if own.nnz and other.nnz else 0
    found = np.zeros((own.shape[0], other.shape[0]), dtype=np.int64)
    for level in range(1, most + 1):  # min(a, b) is the number of levels that both reach
        found += ((own >= level).astype(np.int64) @ (other >= level).astype(np.int64).T).toarray()
    return found


def _same_counts(own: Sequence[Array], other: Sequence[Array], n_trials: int) -> bool:
    """Whether most trials of both tables, of those in which people differ, have the same counts of answers."""
    mine, theirs = _counts(own, n_trials), _counts(other, n_trials)
    informative = (mine.sum(axis=1) > 0) & (theirs.sum(axis=1) > 0)
    informative &= ((mine > 0).sum(axis=1) > 1) | ((theirs > 0).sum(axis=1) > 1)
    if not informative.any():
        return False
    needed = (
        LEAST_COUNTED if np.median(mine[informative].sum(axis=1)) >= MANY_ANSWERS else MANY_COUNTED
    )
    same = (mine[informative] == theirs[informative]).all(axis=1)
    return bool(informative.sum() >= needed and same.mean() > 0.5)


def _counts(tables: Sequence[Array], n_trials: int) -> Array:
    """``(n_trials, n_options)`` answers of all people."""
    n_options = max((int(rows[:, 2].max(initial=0)) + 1 for rows in tables), default=1)
    found = np.zeros((n_trials, max(n_options, 8)), dtype=np.int64)
    for rows in tables:
        np.add.at(found, (rows[:, 1], rows[:, 2]), rows[:, 3])
    return found


def _trial_keys(tables: Sequence[Trials], domain: Domain) -> tuple[dict[bytes, int], list[Array]]:
    """Numbers of different trials, and each table as rows (person, trial, option, number of equal answers).

    A trial and the same with its options in the opposite order have one number, and their options one order.
    """
    place: dict[bytes, int] = {}
    answers = []
    for item in tables:
        turned = domain.swap_sides(item.stimuli).keys
        is_turned = np.array(
            [b < a for a, b in zip(item.stimuli.keys, turned, strict=True)], dtype=bool
        )
        keys = map(min, item.stimuli.keys, turned)
        number = np.array([place.setdefault(key, len(place)) for key in keys], dtype=np.int64)
        option = np.where(is_turned[item.trial], item.n_options - 1 - item.response, item.response)
        rows = np.stack([item.participant, number[item.trial], option, item.count], axis=1)
        answers.append(rows[rows[:, 3] > 0].astype(np.int64))
    return place, answers
