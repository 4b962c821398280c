"""Scores made of others, as far as they promise to explain something.

Two scores are weighed against each other, or an option is worth one number where it has some property and another
where it has not. All of these are thousands; those are kept that are best followed by everybody, by single people, or
where some gate is open or closed.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theories.induction.library import Score
from theories.induction.terms import Answers, Terms, side
from theories.induction.tree import log_likelihood

Array = NDArray[Any]
WEIGHTS = (0.1, 0.15, 0.2, 0.25, 1 / 3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
N_OVERALL = 24
N_REGION = 3
N_PERSON = 2
PRICE = 1.5
"""Nats for the weight, or for the condition's place, beyond what the scores cost."""


def with_combinations(answers: Answers, divisions: Terms) -> Answers:
    """The answers with scores made of others, the promising ones, in their vocabulary.

    Args:
        answers: All.
        divisions: Gates by whose sides promise is judged, besides everybody and every person.
    """
    made = (_weighed(answers), _conditional(answers))
    scores = [score for own, _, _ in made for score in own]
    if not scores:
        return answers
    numbers = np.cumsum([0, *(pairs.max(initial=-1) + 1 for _, pairs, _ in made)])
    pairs = np.concatenate([own + first for (_, own, _), first in zip(made, numbers, strict=False)])
    found = np.concatenate([own for _, _, own in made])
    signed = side(found[..., 1] - found[..., 0]).astype(np.float32)
    prices = np.array([score.price for score in scores])
    counts = answers.counts.astype(np.float32)
    regions = np.concatenate([np.ones((1, len(counts)), dtype=np.float32), divisions.values, 1 - divisions.values])
    tables = [(regions[:1] * counts.T[:, None], N_OVERALL), (regions[1:] * counts.T[:, None], N_REGION)]
    if answers.has_order:
        own = np.zeros((2, int(answers.person.max()) + 1, len(counts)), dtype=np.float32)
        np.add.at(own, (answers.response, answers.person, answers.trial), answers.count)
        tables.append((own, N_PERSON))
    chosen: set[int] = set()
    for (a, b), most in tables:
        net, used = (b - a) @ signed.T, (b + a) @ np.abs(signed).T
        total = (b + a).sum(axis=1)[:, None]
        score = log_likelihood(0.5 * (used + net), 0.5 * (used - net)) - (total - used) * np.log(2) - prices
        for row in score:
            chosen |= set(_best_of_pairs(row, pairs, most))
    kept = sorted(chosen)
    words = answers.vocabulary
    return replace(
        answers,
        vocabulary=replace(words, scores=(*words.scores, *(scores[place] for place in kept))),
        scores=np.concatenate([answers.scores, found[kept]]),
    )


def _weighed(answers: Answers) -> tuple[list[Score], NDArray[np.intp], Array]:
    """All weighed pairs, the number of each one's pair, and their values ``(n_made, n_trials, 2)``."""
    rows = [k for k, score in enumerate(answers.vocabulary.scores) if score.is_basic and "xp.arange" not in score.code]
    spreads = {row: float(np.std(answers.scores[row, :, 1] - answers.scores[row, :, 0])) for row in rows}
    scores: list[Score] = []
    pairs: list[int] = []
    found: list[Array] = []
    for number, (i, j) in enumerate(combinations([row for row in rows if spreads[row] > 0], 2)):
        first, second = answers.vocabulary.scores[i], answers.vocabulary.scores[j]
        unit = 10.0 ** np.round(np.log10(spreads[i] / spreads[j]))
        for factor in np.multiply.outer((1, -1), WEIGHTS).ravel() * unit:
            weight = float(f"{factor:.3g}")
            sign, verb = ("+", "plus") if weight > 0 else ("-", "less")
            times = f"{abs(weight):g} * " if abs(weight) != 1 else ""
            words = f"{first.words}, {verb} {abs(weight):g} times the {second.words}"
            code = f"({first.code}) {sign} {times}({second.code})"
            scores.append(Score(code, words, first.price + second.price + PRICE))
            pairs.append(2 * number + int(weight > 0))
            found.append(answers.scores[i] + weight * answers.scores[j])
    return scores, np.array(pairs, dtype=np.intp), np.array(found).reshape(-1, *answers.scores.shape[1:])


def _conditional(answers: Answers) -> tuple[list[Score], NDArray[np.intp], Array]:
    """As `_weighed`: one number where an option has a property, and another where it has not, by property."""
    vocabulary = answers.vocabulary.scores
    worths = [row for row, score in enumerate(vocabulary) if score.is_worth]
    scores: list[Score] = []
    pairs: list[int] = []
    found: list[Array] = []
    for row, condition in enumerate(vocabulary):
        holds = answers.scores[row] > 0
        if not condition.is_property or holds.all() or not holds.any():
            continue
        for one, other in permutations(worths, 2):
            first, second = vocabulary[one], vocabulary[other]
            words = f"{first.words} (with {condition.words}; otherwise the {second.words})"
            code = f"xp.where({condition.code}, {first.code}, {second.code})"
            scores.append(Score(code, words, first.price + second.price + condition.price + PRICE))
            pairs.append(row)
            found.append(np.where(holds, answers.scores[one], answers.scores[other]))
    return scores, np.array(pairs, dtype=np.intp), np.array(found).reshape(-1, *answers.scores.shape[1:])


def _best_of_pairs(score: Array, pairs: NDArray[np.intp], most: int) -> list[int]:
    """The best weights of the ``most`` best pairs."""
    order = np.argsort(-score, kind="stable")[: len(WEIGHTS) * most]
    _, first = np.unique(pairs[order], return_index=True)
    return [int(place) for place in order[np.sort(first)[:most]]]
