"""Differences of theories' predictions: distances, duplicates, and a map of the theory space.

The distance of two theories is the root mean square difference of the choice proportions that they predict over a set
of trials (of more than two options, the root of half the sum of their squares), each with its declared population; and
*after adaptation*, with what remains when one theory's population may become any other within its declared ranges, in
order to predict as the other theory does. Adaptation runs both ways: a special case can be imitated by what it is a
case of, not the other way round; duplicates can stand in for one another.

Two theories can agree in every proportion and differ in how people differ. The level ``person`` therefore compares the
probabilities of *pairs* of responses of one person to two trials, which the level ``mean`` does not use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.language.points import at_fractions
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
Level = Literal["mean", "person"]
DUPLICATE = 0.02
"""Theories that predict within this root mean square difference after adaptation are duplicates."""
MOST_TRIALS = {"mean": 1024, "person": 512}
"""Trials on which theories are compared; of more, some are taken at random."""
SPREADS = (0.15, 0.05)
"""Shares of the declared range: how far around the people found so far better ones are looked for, round by round."""
N_NEW = 128
"""People tried in each round, for all targets of a theory together."""
FEW = 8
"""Fewest people tried for each target."""
LEAST_WEIGHT = 1e-4


@dataclass(frozen=True)
class TheoryDistance:
    """Distance of two theories, as root mean square differences of probabilities."""

    declared: float
    """Distance with the declared populations."""
    first_by_second: float
    """Remainder of the first theory's predictions when the second adapts to them."""
    second_by_first: float
    level: Level

    @property
    def adapted(self) -> float:
        """The larger of both directions: small only if each theory can stand in for the other."""
        return max(self.first_by_second, self.second_by_first)


@dataclass(frozen=True)
class TheoryDistances:
    """Distances of several theories' predictions."""

    theories: tuple[Theory, ...]
    declared: Array
    """``(n_theories, n_theories)`` with the declared populations."""
    imitation: Array
    """``(n_theories, n_theories)`` what remains of the row's predictions when the column adapts to them."""
    level: Level

    @property
    def adapted(self) -> Array:
        """``(n_theories, n_theories)`` the larger of both directions."""
        return np.maximum(self.imitation, self.imitation.T)

    def between(self, first: int, second: int) -> TheoryDistance:
        """Distance between two of the theories."""
        return TheoryDistance(
            declared=float(self.declared[first, second]),
            first_by_second=float(self.imitation[first, second]),
            second_by_first=float(self.imitation[second, first]),
            level=self.level,
        )


_COMPARED: Mapping[Level, str] = {
    "mean": "choice proportions",
    "person": "probabilities of pairs of one person's answers",
}
"""Quantity that is compared at each level."""


@dataclass(frozen=True)
class DuplicateTheory:
    """A theory of the pool that predicts as the candidate does."""

    theory: Theory
    distance: TheoryDistance
    """The candidate is the first of the two."""

    @property
    def sentence(self) -> str:
        """Say in a sentence, for a record, why it counts as a duplicate."""
        what, apart = _COMPARED[self.distance.level], self.distance
        return (
            f"predicts as {self.theory.short} does: {what} differ by {apart.adapted:.4f} root mean square after "
            f"adaptation ({apart.declared:.4f} with the declared populations)."
        )


def distances(
    theories: Sequence[Theory],
    stimuli: Stimuli,
    domain: Domain,
    sandbox: Sandbox,
    *,
    level: Level = "mean",
    n_draws: int = 256,
    n_workers: int = 2,
) -> TheoryDistances:
    """Distances among theories, with declared populations and after adaptation.

    A population is a weighting of people, that is, of points of the declared ranges: first of the declared population's
    own, then also of points around those that came to bear weight, ever closer. Weights are the best in the sense of
    least squares, so that adaptation never makes a distance larger.

    Args:
        theories: What is compared.
        stimuli: Trials of the design space; a schedule in a sequential domain.
        domain: Domain of the trials.
        sandbox: Sandbox in which the theories run.
        level: Whether proportions are compared, or also how people differ.
        n_draws: Size of each declared population, a power of two.
        n_workers: Theories that run at the same time.

    Raises:
        TheoryError: A theory cannot be run on these trials.
    """
    places = range(len(theories))
    targets = [[other for other in places if other != own] for own in places]
    with _TheoryComparison(
        theories, stimuli, domain, sandbox, level, n_draws, n_workers
    ) as comparison:
        remaining = comparison.imitate(targets)
        imitation = np.zeros((len(theories), len(theories)))
        for own, (others, values) in enumerate(zip(targets, remaining, strict=True)):
            imitation[others, own] = values
        return TheoryDistances(tuple(theories), comparison.declared(), imitation, level)


def find_duplicate(
    candidate: Theory,
    pool: Sequence[Theory],
    stimuli: Stimuli,
    domain: Domain,
    sandbox: Sandbox,
    *,
    level: Level = "mean",
    limit: float = DUPLICATE,
    n_draws: int = 256,
    n_workers: int = 2,
) -> DuplicateTheory | None:
    """The theory of the pool that is nearest to the candidate, if it is a duplicate.

    Args:
        candidate: The new theory.
        pool: Those that are there already.
        limit: Root mean square difference up to which two theories are the same.
        stimuli, domain, sandbox, level, n_draws, n_workers: As in `distances`.

    Returns:
        None when no theory of the pool and the candidate can stand in for one another. Theories whose people differ by
        what is known of them predict the same of everybody together, and are no duplicates of those that differ
        otherwise.

    Raises:
        TheoryError: A theory cannot be run on these trials.
    """
    pool = [item for item in pool if _dependences(item) == _dependences(candidate)]
    if not pool:
        return None
    theories = [candidate, *pool]
    with _TheoryComparison(
        theories, stimuli, domain, sandbox, level, n_draws, n_workers
    ) as comparison:
        by_pool = np.concatenate(comparison.imitate([[], *[[0]] * len(pool)]))
        near = [index for index in np.argsort(by_pool, kind="stable") if by_pool[index] <= limit]
        if not near:
            return None
        # Only theories that can imitate the candidate are imitated by it in turn.
        by_candidate = comparison.imitate([[index + 1 for index in near], *[[]] * len(pool)])[0]
        best = int(np.argmin(np.maximum(by_pool[near], by_candidate)))
        place = near[best]
        found = TheoryDistance(
            declared=float(comparison.declared()[0, place + 1]),
            first_by_second=float(by_pool[place]),
            second_by_first=float(by_candidate[best]),
            level=level,
        )
        return DuplicateTheory(pool[place], found) if found.adapted <= limit else None


def _dependences(theory: Theory) -> set[tuple[str, str]]:
    """Return the attributes, each with its group, on which parameters of a theory depend."""
    return {
        (one.attribute, one.group) for prior in theory.priors.values() for one in prior.depends_on
    }


class _TheoryComparison:
    """Theories that are compared, each in a process of its own; a context manager."""

    def __init__(
        self,
        theories: Sequence[Theory],
        stimuli: Stimuli,
        domain: Domain,
        sandbox: Sandbox,
        level: Level,
        n_draws: int,
        n_workers: int,
    ) -> None:
        self.theories, self.level = theories, level
        if len(stimuli) > MOST_TRIALS[level] and not domain.sequential:
            rng = np.random.default_rng(0)
            chosen = rng.choice(len(stimuli), MOST_TRIALS[level], replace=False)
            stimuli = stimuli.take(np.sort(chosen))
        self._stack = ExitStack()
        try:
            threads = ThreadPoolExecutor(n_workers, thread_name_prefix="distance")
            self._threads = self._stack.enter_context(threads)
            views = (TheoryView(theory, domain, sandbox, [stimuli]) for theory in theories)
            self._views = [self._stack.enter_context(view) for view in views]
            drawn = [theory.population(n_draws) for theory in theories]
            self._people = list(self._threads.map(_answers, self._views, drawn))
        except BaseException:
            self._stack.close()
            raise
        self._fractions = [
            _fractions(theory.priors, own) for theory, own in zip(theories, drawn, strict=True)
        ]
        self._inner = [
            float(self._cross(own, index).mean()) for index, own in enumerate(self._people)
        ]

    def declared(self) -> Array:
        """``(n_theories, n_theories)`` distances of the declared populations."""
        n = len(self.theories)
        found = np.zeros((n, n))
        for i in range(n):
            for j in range(i):
                shared = float(self._cross(self._people[i], j).mean())
                squared = self._inner[i] + self._inner[j] - 2 * shared
                found[i, j] = found[j, i] = max(squared, 0.0) ** 0.5
        return found

    def imitate(self, targets: Sequence[Sequence[int]]) -> list[Array]:
        """Compute what remains of each target's predictions, for each theory that adapts to its own list of targets."""
        return list(self._threads.map(self._imitate_one, range(len(self.theories)), targets))

    def _imitate_one(self, own: int, targets: Sequence[int]) -> Array:
        theory = self.theories[own]
        rng = np.random.default_rng(own)
        people, places = self._people[own], self._fractions[own]
        remaining = np.zeros(len(targets))
        for spread in (*SPREADS, 0.0):
            gram = self._kernel(people, people)
            weights = np.zeros((len(targets), len(people)))
            for row, target in enumerate(targets):
                cross = self._cross(people, target)
                weights[row] = w = simplex_least_squares(gram, cross)
                squared = float(w @ gram @ w - 2 * w @ cross) + self._inner[target]
                remaining[row] = max(squared, 0.0) ** 0.5
            if not spread or not theory.priors or not targets:
                break
            # People who bear weight stay, and others come around them.
            kept = np.flatnonzero((weights > LEAST_WEIGHT).any(axis=0))
            n_each = max(FEW, N_NEW // len(targets))
            near = np.concatenate([rng.choice(len(people), n_each, p=w) for w in weights])
            moved = places[near] + spread * rng.standard_normal((len(near), places.shape[1]))
            fresh = np.clip(moved, 0.0, 1.0)
            answers = _answers(self._views[own], at_fractions(theory.priors, fresh))
            people = np.concatenate([people[kept], answers])
            places = np.concatenate([places[kept], fresh])
        return remaining

    def _kernel(self, first: Array, second: Array) -> Array:
        """``(n_first, n_second)`` products of people's responses, averaged over what the level compares."""
        product = first @ second.T
        return product if self.level == "mean" else product**2

    def _cross(self, people: Array, target: int) -> Array:
        """``(n_people,)`` products with the declared population of a theory."""
        if self.level == "mean":
            return np.asarray(people @ self._people[target].mean(axis=0))
        return np.asarray(self._kernel(people, self._people[target]).mean(axis=1))

    def __enter__(self) -> _TheoryComparison:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()


def _answers(view: TheoryView, parameters: Mapping[str, Array]) -> Array:
    """``(n_draws, n_features)`` vectors whose products are the mean over trials of half the sum over options.

    Not the mean over options, or theories would be the nearer the more outcomes a scale has. The
    probabilities of two options hold one number each, ``p``, and ``1/4 + (2p - 1)(2q - 1)/4`` is half their sum.
    """
    (p,) = view.probabilities(parameters)
    n_draws, n_trials, n_options = p.shape
    if n_options == 2:
        lean = (2 * p[..., 1] - 1) / np.sqrt(4 * n_trials)
        return np.concatenate([lean, np.full((n_draws, 1), 0.5)], axis=1)
    return np.asarray(p.reshape(n_draws, -1) / np.sqrt(2 * n_trials))


def _fractions(priors: Mapping[str, Prior], values: Mapping[str, Array]) -> Array:
    """``(n_draws, n_parameters)`` shares of the declared ranges, the inverse of `at_fractions`."""
    columns = []
    for name, prior in priors.items():
        low, high = prior.latent(np.array([prior.low, prior.high]))
        columns.append((prior.latent(values[name]) - low) / (high - low))
    if not columns:
        n_draws = len(next(iter(values.values())))
        return np.zeros((n_draws, 0))
    return np.asarray(np.clip(np.stack(columns, axis=1), 0.0, 1.0))


def simplex_least_squares(gram: Array, cross: Array, tolerance: float = 1e-8) -> Array:
    """Weights ``w``, not negative and summing to one, for which ``w'Gw - 2c'w`` is least.

    Args:
        gram: ``(n, n)`` inner products of what is weighted.
        cross: ``(n,)`` their inner products with the target.
        tolerance: Bound of half of what could still be gained.

    References:
        Wolfe (1976), Mathematical Programming 11, 128-149: the nearest point of a convex hull.
    """
    support = np.array([int(np.argmin(np.diag(gram) - 2 * cross))])
    weights = np.ones(1)
    ridge = 1e-13 * float(np.trace(gram)) / len(gram)
    for _ in range(10 * len(gram)):
        slope = gram[:, support] @ weights - cross
        entering = int(np.argmin(slope))
        if weights @ slope[support] - slope[entering] <= tolerance or entering in support:
            break
        support, weights = np.append(support, entering), np.append(weights, 0.0)
        while True:
            # The least where only the sum binds: a solution without bound, moved along that of ones.
            inside = gram[np.ix_(support, support)] + ridge * np.eye(len(support))
            ones = np.ones(len(support))
            both = np.linalg.solve(inside, np.stack([cross[support], ones], axis=1))
            free, along = both[:, 0], both[:, 1]
            best = free + along * (1 - free.sum()) / along.sum()
            out = best <= 0
            if not out.any():
                weights = best
                break
            # As far towards it as no weight becomes negative; those that reached zero go.
            shares = weights[out] / (weights[out] - best[out])
            step = float(shares.min())
            weights = weights + step * (best - weights)
            kept = weights > 1e-12
            if kept.all():  # rounding: let the smallest go
                kept[int(np.argmin(weights))] = False
            support, weights = support[kept], weights[kept] / weights[kept].sum()
    full = np.zeros(len(gram))
    full[support] = weights
    return full


@dataclass(frozen=True)
class TheoryMap:
    """Points in few dimensions whose distances are as near as may be to those of the theories."""

    positions: Array
    """``(n_theories, n_dimensions)``, centred; the first dimension spreads the theories most."""
    shown: float
    """Share of the variance that these dimensions show, of that of all dimensions, imaginary ones included."""


def theory_map(distances: Array, n_dimensions: int = 2) -> TheoryMap:
    """Place theories in a plane by their distances: classical multidimensional scaling.

    Distances of declared proportions are Euclidean; adapted ones need not be, and what of them fits no space of real
    dimensions lowers ``shown``.

    Args:
        distances: ``(n_theories, n_theories)``, symmetric, 0 on the diagonal.
        n_dimensions: Number of dimensions of the map.

    References:
        Torgerson (1952), Psychometrika 17, 401-419; Mardia, Kent & Bibby (1979), Multivariate analysis, section 14.4.
    """
    n = len(distances)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ np.asarray(distances) ** 2 @ centre)
    values, vectors = values[::-1], vectors[:, ::-1]
    used = np.maximum(values[:n_dimensions], 0.0)
    positions = np.zeros((n, n_dimensions))
    positions[:, : len(used)] = vectors[:, :n_dimensions] * np.sqrt(used)
    # Of the two signs of an axis the one that puts the farthest theory on its positive side.
    farthest = positions[np.abs(positions).argmax(axis=0), np.arange(n_dimensions)]
    signs = np.where(farthest < 0, -1.0, 1.0)
    total = float(np.abs(values).sum())
    shown = float(used.sum()) / total if total > 0 else 1.0
    return TheoryMap(positions * signs, shown)
