"""Advocates' strategies: versioned, credited by what their descendants achieve, chosen by Thompson sampling.

A strategy says how an advocate searches: which mechanisms it prefers, which prompt it is given, how much it explores.
Its credit is that of its clade: the theories that it proposed and all that descend from them, since a theory that loses
may have children that win (clade metaproductivity, after the Huxley-Goedel Machine, arXiv 2510.21614).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lakatos.traces.digest import Digest, digest_of

SHARED = 0.3
"""Correlation of outcomes within one line of descent, by which counts are tempered."""
WIDENING = 0.6
"""Exponent of outcomes that a further strategy must have been earned with."""
SPREAD = 0.5
"""Standard deviation of the log of a preference when a strategy is varied."""


@dataclass(frozen=True)
class SearchStrategy:
    """How an advocate searches: the mechanisms it prefers, and its prompt."""

    preferences: Mapping[str, float]
    """Positive weight by mechanism; mechanisms that are not named have the weight 1."""
    prompt: str
    """Name of the prompt's variant; empty for an advocate without a language model."""
    exploration: float
    """Share of proposals that leave the leading theories, between 0 and 1."""
    parents: tuple[Digest, ...] = ()
    """Strategies that it was bred from; no part of its version, as it changes nothing that the strategy does."""

    @property
    def digest(self) -> Digest:
        """Version: everything that can change what is proposed."""
        kept = {name: value for name, value in self.preferences.items() if value != 1}
        return digest_of(
            {"preferences": kept, "prompt": self.prompt, "exploration": self.exploration}
        )


@dataclass(frozen=True)
class StrategyResult:
    """What people's data said about one theory in one experiment."""

    theory: Digest
    experiment: str
    favoured: bool
    record: Digest
    """Which says so; where it no longer holds, this does not count."""


@dataclass(frozen=True)
class StrategyCredit:
    """Outcomes of a strategy's clade."""

    successes: float
    failures: float
    """Tempered counts: outcomes in one line of descent share what made them, and count for less than as many others."""
    n_outcomes: int

    @property
    def mean(self) -> float:
        """Expected success, from a uniform prior."""
        return (1 + self.successes) / (2 + self.successes + self.failures)


def clade(
    theories: Iterable[Digest], parents: Mapping[Digest, Sequence[Digest]]
) -> frozenset[Digest]:
    """Some theories and all their descendants, each once, however many ways lead to it."""
    children: dict[Digest, list[Digest]] = defaultdict(list)
    for child, named in parents.items():
        for parent in named:
            children[parent].append(child)
    found: set[Digest] = set()
    waiting = list(theories)
    while waiting:
        theory = waiting.pop()
        if theory not in found:
            found.add(theory)
            waiting.extend(children.get(theory, ()))
    return frozenset(found)


def credit(
    strategy: Digest,
    proposed: Mapping[Digest, Digest],
    parents: Mapping[Digest, Sequence[Digest]],
    achieved: Iterable[StrategyResult],
    valid: Callable[[Digest], bool],
    shared: float = SHARED,
) -> StrategyCredit:
    """Tempered successes and failures of a strategy's clade, from records that hold.

    Outcomes fall into lines of descent, one for each theory that the strategy proposed itself; one that several lines
    share counts in the first. A line of m outcomes with correlation r counts for m / (1 + (m - 1) r) (Kish 1965, Survey
    Sampling). An outcome of one theory in one experiment counts once.

    Args:
        strategy: Version.
        proposed: Strategy under which each theory was proposed.
        parents: Of each theory.
        achieved: All outcomes.
        valid: Whether a record still holds.
        shared: Correlation r of outcomes within a line.
    """
    outcomes: dict[Digest, dict[str, bool]] = defaultdict(dict)
    for item in achieved:
        if valid(item.record):
            outcomes[item.theory].setdefault(item.experiment, item.favoured)
    successes = failures = 0.0
    n_outcomes, counted = 0, set[Digest]()
    for founder in sorted(theory for theory, author in proposed.items() if author == strategy):
        line = clade([founder], parents) - counted
        counted |= line
        results = [favoured for theory in line for favoured in outcomes.get(theory, {}).values()]
        if results:
            weight = 1 / (1 + (len(results) - 1) * shared)
            successes += weight * sum(results)
            failures += weight * (len(results) - sum(results))
            n_outcomes += len(results)
    return StrategyCredit(successes, failures, n_outcomes)


def choose(credits: Mapping[Digest, StrategyCredit], rng: np.random.Generator) -> Digest:
    """The strategy with the largest draw from its Beta posterior (Thompson 1933, Biometrika 25, 285-294).

    Raises:
        ValueError: There is no strategy.
    """
    if not credits:
        raise ValueError(
            "there is no strategy to choose from; begin with one that prefers nothing."
        )
    draws = {
        name: rng.beta(1 + item.successes, 1 + item.failures)
        for name, item in sorted(credits.items())
    }
    return max(draws, key=lambda name: draws[name])


def may_widen(n_outcomes: int, n_strategies: int, exponent: float = WIDENING) -> bool:
    """Whether there are outcomes enough for a further strategy (Wang, Audibert & Munos 2008, NIPS 21)."""
    return bool(n_outcomes**exponent >= n_strategies)


def vary(
    strategy: SearchStrategy,
    mechanisms: Sequence[str],
    prompts: Sequence[str],
    rng: np.random.Generator,
) -> SearchStrategy:
    """A strategy one step away: another preference for one mechanism, another prompt, or more or less exploration."""
    preferences, prompt, exploration = (
        dict(strategy.preferences),
        strategy.prompt,
        strategy.exploration,
    )
    others = [name for name in prompts if name != prompt]
    kinds = [
        "exploration",
        *(["preference"] if mechanisms else []),
        *(["prompt"] if others else []),
    ]
    kind = rng.choice(kinds)
    if kind == "preference":
        mechanism = str(rng.choice(list(mechanisms)))
        preferences[mechanism] = round(
            float(preferences.get(mechanism, 1.0) * np.exp(rng.normal(0, SPREAD))), 6
        )
    elif kind == "prompt":
        prompt = str(rng.choice(others))
    else:
        log_odds = np.log(np.clip(exploration, 0.01, 0.99) / (1 - np.clip(exploration, 0.01, 0.99)))
        exploration = round(float(1 / (1 + np.exp(-log_odds - rng.normal(0, SPREAD)))), 6)
    return SearchStrategy(preferences, prompt, exploration, (strategy.digest,))


def recombine(
    first: SearchStrategy, second: SearchStrategy, rng: np.random.Generator
) -> SearchStrategy:
    """A child that takes every part from one of two strategies."""

    def either() -> SearchStrategy:
        return first if rng.random() < 0.5 else second

    names = sorted({*first.preferences, *second.preferences})
    preferences = {name: either().preferences.get(name, 1.0) for name in names}
    return SearchStrategy(
        preferences, either().prompt, either().exploration, (first.digest, second.digest)
    )
