"""Choice of what to search next: a tree of what was tried, its best in every place, and a submodular choice of a batch.

Every composition tried is a node; its children are compositions made from it, from it and another, or afresh. What
the children are worth is predicted from all nodes by Gaussian process regression on the mechanisms that two
compositions share, so that a mechanism that only helps together with another is found from what both did elsewhere.
A batch of children is then chosen that together are most likely to explain some cell (the whole data, one person,
one trial) better than anything so far, lie in places of the archive that were seen little, and teach most.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import entr, ndtr

from lakatos.theories.discovery.grammar_search.prior_odds import parts_of
from lakatos.theories.discovery.grammar_search.proposal import DIGITS, settled
from lakatos.theories.language.grammar import Composition, Grammar

Array = NDArray[np.float64]
T = TypeVar("T")
Place = tuple[tuple[tuple[str, ...], ...], int, bool]
"""Family (mechanisms of the key slots), number of parameters, memory."""
N_KEY_SLOTS = 2
EVIDENCE_DIGITS = 6
"""Decimals of the evidence for rates; rates that nothing depends on have equal evidence."""
SCALES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Decay of likeness per mechanism that differs, tried for every slot."""
NOISE = 1e-3
"""Noise of the surrogate, as a share of its variance; keeps the regression solvable."""


@dataclass(frozen=True)
class CandidateObjective:
    """Value of a set of candidates: ``coverage + exploration + entropy``, monotone and submodular.

    Coverage is ``sum_i weights_i (1 - prod_{v in S} (1 - chances_vi))``; exploration counts every place once, so that a
    second candidate in it adds nothing; entropy is a sum that is cut off at ``cap``.

    References:
        Krause & Golovin (2014), Submodular function maximization, in Tractability, Cambridge University Press.
    """

    chances: Array
    """``(n_candidates, n_cells)`` probability that a candidate explains a cell better than anything so far."""
    weights: Array
    """``(n_cells,)``, not negative."""
    places: NDArray[np.int64]
    """``(n_candidates,)`` place of each candidate."""
    exploration: Array
    """``(n_places,)`` value of trying something in a place, not negative."""
    entropy: Array
    """``(n_candidates,)`` what is open about a candidate, not negative."""
    cap: float = 1.0

    def value(self, chosen: Sequence[int]) -> float:
        """F of a set of candidates."""
        covered = CandidateCoverage(self.weights, frozenset(), 0.0)
        total = 0.0
        for candidate in dict.fromkeys(chosen):
            total += self.gain(covered, candidate)
            covered = self.add(covered, candidate)
        return total

    def gain(self, covered: CandidateCoverage, candidate: int) -> float:
        """Compute what a candidate adds to the coverage."""
        place = int(self.places[candidate])
        explored = 0.0 if place in covered.places else float(self.exploration[place])
        left = max(self.cap - covered.entropy, 0.0)
        return (
            float(covered.missing @ self.chances[candidate])
            + explored
            + min(left, float(self.entropy[candidate]))
        )

    def add(self, covered: CandidateCoverage, candidate: int) -> CandidateCoverage:
        """Return the coverage with one candidate more."""
        return CandidateCoverage(
            covered.missing * (1 - self.chances[candidate]),
            covered.places | {int(self.places[candidate])},
            covered.entropy + float(self.entropy[candidate]),
        )

    @property
    def singles(self) -> Array:
        """``(n_candidates,)`` F of every candidate alone."""
        return np.asarray(
            self.chances @ self.weights
            + self.exploration[self.places]
            + np.minimum(self.entropy, self.cap)
        )


@dataclass(frozen=True)
class CandidateCoverage:
    """Coverage of a set of candidates."""

    missing: Array
    """``(n_cells,)`` weight that is left."""
    places: frozenset[int]
    entropy: float


def lazy_greedy(
    objective: CandidateObjective,
    n: int,
    *,
    rationed: NDArray[np.bool_] | None = None,
    most: int = 0,
) -> list[int]:
    """``n`` candidates, each the one that adds most to those before: at least 1 - 1/e of the best set's value.

    Of the ``rationed`` candidates, ``(n_candidates,)``, at most ``most`` are chosen: then it is at least half of the
    best such set's (Fisher, Nemhauser & Wolsey, 1978, Mathematical Programming Study 8, 73-87).

    A gain that was computed for a smaller set bounds the present one, so that most are never computed again. Of equal
    gains the first candidate's counts.

    References:
        Nemhauser, Wolsey & Fisher (1978), Mathematical Programming 14, 265-294; Minoux (1978); Leskovec et al. (2007),
        KDD, 420-429.
    """
    singles = objective.singles.round(DIGITS)
    queue = [(-float(gain), place, 0) for place, gain in enumerate(singles)]
    heapq.heapify(queue)
    chosen: list[int] = []
    covered = CandidateCoverage(objective.weights, frozenset(), 0.0)
    while queue and len(chosen) < n:
        _, place, known = heapq.heappop(queue)
        is_rationed = rationed is not None and bool(rationed[place])
        if is_rationed and most <= 0:
            continue
        if known == len(chosen):
            most -= is_rationed
            chosen.append(place)
            covered = objective.add(covered, place)
        else:
            heapq.heappush(queue, (-settled(objective.gain(covered, place)), place, len(chosen)))
    return chosen


def archive(
    items: Iterable[T], place: Callable[[T], Hashable], quality: Callable[[T], float]
) -> list[T]:
    """The best of every place, best first; of equals the first.

    References:
        Mouret & Clune (2015), Illuminating search spaces by mapping elites, arXiv 1504.04909.
    """
    best: dict[Hashable, T] = {}
    for item in sorted(items, key=lambda item: -quality(item)):
        best.setdefault(place(item), item)
    return list(best.values())


class ArchiveMap:
    """The places of a grammar's archive."""

    def __init__(self, grammar: Grammar) -> None:
        """Tell families apart by the slots that take one mechanism and offer the widest choice."""
        width = Counter(item.slot for item in grammar.mechanisms)
        single = [slot.name for slot in grammar.slots if slot.most == 1]
        self.key_slots = tuple(sorted(single, key=lambda name: -width[name])[:N_KEY_SLOTS])
        self._parameters = {
            (item.slot, item.name): frozenset(item.parameters) for item in grammar.mechanisms
        }
        self._learns = {(item.slot, item.name) for item in grammar.mechanisms if item.learn}
        self._known: dict[object, Place] = {}

    def family(self, composition: Composition) -> tuple[tuple[str, ...], ...]:
        """Mechanisms of the key slots."""
        return tuple(composition.slots.get(slot, ()) for slot in self.key_slots)

    def place(self, composition: Composition) -> Place:
        """Family, number of parameters, and whether people learn from what they did."""
        known = self._known.get(composition.key)
        if known is None:
            used = parts_of(composition)
            parameters = frozenset().union(*map(self._parameters.__getitem__, used))
            learns = not self._learns.isdisjoint(used)
            known = self.family(composition), len(parameters), learns
            self._known[composition.key] = known
        return known

    def has_memory(self, composition: Composition) -> bool:
        """Whether people learn from what they did or saw before."""
        return self.place(composition)[2]


class CompositionSurrogate:
    """Predicts what compositions are worth from those tried.

    Likeness decays by a factor for every mechanism that one of two compositions has and the other has not, with one
    rate per slot, chosen by marginal likelihood: with small rates mechanisms add up, with large ones their company
    matters.

    References:
        Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, chapters 2 and 5.
    """

    def __init__(self, grammar: Grammar) -> None:
        """Prepare to learn from tried compositions; nothing is known yet."""
        self._column = {
            (item.slot, item.name): index for index, item in enumerate(grammar.mechanisms)
        }
        slots = [slot.name for slot in grammar.slots]
        self._slot = np.array([slots.index(item.slot) for item in grammar.mechanisms])
        self._rates = np.full(len(slots), 0.1)
        self._n_learned_from = 0

    def encode(self, compositions: Sequence[Composition]) -> Array:
        """``(n_compositions, n_mechanisms)`` of 0 and 1."""
        table = np.zeros((len(compositions), len(self._column)))
        for row, composition in enumerate(compositions):
            for slot, names in composition.slots.items():
                for name in names:
                    table[row, self._column[slot, name]] = 1.0
        return table

    def predict(self, known: Array, values: Array, unknown: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of each value of unknown compositions, ``(n_unknown, n_values)`` each.

        Args:
            known: ``(n_known, n_mechanisms)`` compositions tried, from `encode`.
            values: ``(n_known, n_values)`` what each was worth; rates are learned from the first column.
            unknown: ``(n_unknown, n_mechanisms)``.
        """
        if len(known) >= 1.25 * self._n_learned_from:
            self._learn_rates(known, values[:, 0])
            self._n_learned_from = len(known)
        lower, mean, residual, variance = _regress(self._kernel(known, known, self._rates), values)
        reached = solve_triangular(
            lower, self._kernel(known, unknown, self._rates), lower=True, check_finite=False
        )
        share = np.maximum(1 - (reached**2).sum(axis=0), 1e-9)
        return mean + reached.T @ residual, np.sqrt(share[:, None] * variance)

    def _kernel(self, first: Array, second: Array, rates: Array) -> Array:
        scale = np.sqrt(rates[self._slot])
        a, b = first * scale, second * scale
        distance = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
        return np.asarray(np.exp(-np.maximum(distance, 0.0)))

    def _learn_rates(self, known: Array, values: Array) -> None:
        def evidence(rates: Array) -> float:
            lower, _, _, variance = _regress(self._kernel(known, known, rates), values[:, None])
            fit = -0.5 * len(known) * np.log(variance[0] + 1e-30)
            return round(float(fit - np.log(np.diag(lower)).sum()), EVIDENCE_DIGITS)

        best = evidence(self._rates)
        for slot in range(len(self._rates)):
            for rate in SCALES:
                rates = self._rates.copy()
                rates[slot] = rate
                found = evidence(rates)
                if found > best:
                    best, self._rates = found, rates


def _regress(kernel: Array, values: Array) -> tuple[Array, Array, Array, Array]:
    """Cholesky factor, generalised least squares mean, whitened residuals and variance of each column."""
    lower = cholesky(kernel + NOISE * np.eye(len(kernel)), lower=True, check_finite=False)
    whitened = solve_triangular(
        lower,
        np.concatenate([values, np.ones((len(values), 1))], axis=1),
        lower=True,
        check_finite=False,
    )
    one = whitened[:, -1]
    mean = whitened[:, :-1].T @ one / (one @ one)
    residual = whitened[:, :-1] - one[:, None] * mean
    return lower, mean, residual, (residual**2).mean(axis=0)


def chances_of_improvement(mean: Array, deviation: Array, best: Array) -> Array:
    """``(n_candidates, n_cells)`` normal probability of being above the best value of a cell.

    References:
        Kushner (1964), Journal of Basic Engineering 86, 97-106.
    """
    return np.asarray(ndtr((mean - best) / np.maximum(deviation, 1e-12)))


def uncertainty(chances: Array) -> Array:
    """Entropy in nats of yes-or-no questions with these probabilities."""
    return np.asarray(entr(chances) + entr(1 - chances))


def crossed(
    grammar: Grammar, first: Composition, second: Composition, rng: np.random.Generator
) -> Composition:
    """Every slot from one of two compositions, at random."""
    return Composition(
        {
            slot.name: names
            for slot in grammar.slots
            if (names := (first if rng.random() < 0.5 else second).slots.get(slot.name, ()))
        }
    )


def combined(
    grammar: Grammar, base: Composition, edits: Sequence[Composition]
) -> Composition | None:
    """Several edits of one composition at once; None where they do not go together."""
    slots = dict(base.slots)
    for slot in grammar.slots:
        own = base.slots.get(slot.name, ())
        others = [edit.slots.get(slot.name, ()) for edit in edits]
        if all(other == own for other in others):
            continue
        before = set(own)
        names = set(before)
        for after in map(set, others):
            names = (names - (before - after)) | (after - before)
        if names != before:
            if not slot.least <= len(names) <= slot.most:
                return None
            slots[slot.name] = tuple(name for name in grammar.names[slot.name] if name in names)
    both = Composition(
        {slot.name: slots[slot.name] for slot in grammar.slots if slots.get(slot.name)}, base.priors
    )
    return both if grammar.is_coherent(both) else None


def change_in_words(grammar: Grammar, before: Composition, after: Composition) -> str:
    """Describe how one composition becomes another, in the words of `Grammar.edits`, separated by semicolons."""
    words = []
    for slot in grammar.slots:
        old, new = before.slots.get(slot.name, ()), after.slots.get(slot.name, ())
        gone = [name for name in old if name not in new]
        come = [name for name in new if name not in old]
        pairs = min(len(gone), len(come))
        words += [f"replace {a} by {b} in {slot.name}" for a, b in zip(gone, come, strict=False)]
        words += [f"drop {name} from {slot.name}" for name in gone[pairs:]]
        words += [f"add {name} to {slot.name}" for name in come[pairs:]]
    return "; ".join(words)
