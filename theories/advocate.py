"""The grammar advocate: defends a theory, and revises it from its diagnosis with published mechanisms.

It searches compositions by single edits from its starting points and from some drawn at random: in every round the
edits of the best compositions that have not been expanded are tried, those that answer the diagnosis first and
those that a lesson warns of last. The leader and the loser, each with its own case, are expanded first, so that a
rival of another kind is not crowded out by variants of the leader. Candidates are compared by log score less a
price for every parameter and mechanism. What is submitted must also be among the best in its error on choice
proportions: with few distinct trials, the log score alone finds mechanisms that describe how these people differ
and distort what they do on average. Without a language model this is the whole of invention; every theory that it
submits is source that a person can read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from theories.errors import TheoryError
from theories.evaluate import Evaluated
from theories.grammar import Composition, Grammar
from traces.digest import Digest

Trial = tuple[Composition, Digest | None, str]
"""A composition to try, the theory that it is made from, and the change in words."""
Evaluate = Callable[[Sequence[tuple[Composition, Digest | None]]], Sequence[Evaluated | TheoryError]]
"""Compositions with their parents, each fitted and scored, or the error that stopped it."""


@dataclass(frozen=True)
class Start:
    """A theory from which the search sets out."""

    digest: Digest | None
    composition: Composition
    change: str = "narrow the declared ranges"


@dataclass(frozen=True)
class Brief:
    """What an advocate is given: never the hidden truth, never a sealed answer."""

    starts: tuple[Start, ...]
    remedies: tuple[str, ...] = ()
    """``slot:mechanism`` that the diagnosis proposes."""
    warnings: tuple[str, ...] = ()
    """Changes that lessons warn of, in the words of `Grammar.edits`."""
    n_candidates: int = 60
    n_successors: int = 3


@dataclass(frozen=True)
class Attempt:
    """One composition tried."""

    composition: Composition
    parent: Digest | None
    """Theory that it was made from; None when composed afresh."""
    change: str
    evaluated: Evaluated | None
    criterion: float
    """Nats per choice by which candidates are compared: the score less the price of its parts."""
    error: str = ""


@dataclass(frozen=True)
class Proposal:
    """All that was tried, best first, and the attempts submitted."""

    attempts: tuple[Attempt, ...]
    submitted: tuple[Attempt, ...] = field(default=())


class Advocate(Protocol):
    """Writes successors."""

    @property
    def name(self) -> str:
        """As author of what it submits."""

    def revise(self, brief: Brief, evaluate: Evaluate, rng: np.random.Generator) -> Proposal:
        """Search for better theories and submit the best."""


@dataclass(frozen=True)
class GrammarAdvocate:
    """Searches a grammar best first: always all edits of the best composition that has not been expanded."""

    grammar: Grammar
    price: float = 1e-3
    """Nats per choice that a parameter must be worth, at least; with few answers, what fitting it gains by itself."""
    slack: float = 1.1
    """A submission's error on choice proportions, at most, relative to the smallest error found."""
    afresh: float = 0.15
    """Share of the candidates composed at random, so that the search does not circle around where it started."""
    name: str = "grammar"

    def revise(self, brief: Brief, evaluate: Evaluate, rng: np.random.Generator) -> Proposal:
        """Search; see the module docstring."""
        tried: dict[object, Attempt] = {}
        expanded: set[object] = set()
        todo: list[Trial] = [(start.composition, start.digest, start.change) for start in brief.starts]
        turns = [start.composition.key for start in brief.starts[:2]]
        todo += [
            (self.grammar.compose(rng), None, "compose afresh") for _ in range(int(self.afresh * brief.n_candidates))
        ]
        while len(tried) < brief.n_candidates:
            self._try([item for item in todo if item[0].key not in tried], brief.n_candidates, tried, evaluate)
            open_ = {item.composition.key: item for item in ranked(tried.values()) if item.evaluated}
            order = [key for key in (*turns, *open_) if key in open_ and key not in expanded]
            if not order:
                break
            expanded.add(order[0])
            todo = self._edits(open_[order[0]], brief, rng)
        working = [attempt for attempt in ranked(tried.values()) if attempt.evaluated is not None]
        least = min((attempt.evaluated.error for attempt in working if attempt.evaluated), default=0.0)
        fit = [attempt for attempt in working if attempt.evaluated and attempt.evaluated.error <= self.slack * least]
        return Proposal(tuple(ranked(tried.values())), tuple(fit[: brief.n_successors]))

    def _try(self, items: Sequence[Trial], most: int, tried: dict[object, Attempt], evaluate: Evaluate) -> None:
        """Evaluate what is new among ``items``, until ``most`` have been tried in all."""
        new = list({item[0].key: item for item in reversed(items)}.values())[::-1][: most - len(tried)]
        results = evaluate([(composition, parent) for composition, parent, _ in new]) if new else []
        for (composition, parent, change), result in zip(new, results, strict=True):
            tried[composition.key] = self._attempt(composition, parent, change, result)

    def _attempt(
        self, composition: Composition, parent: Digest | None, change: str, result: Evaluated | TheoryError
    ) -> Attempt:
        if isinstance(result, TheoryError):
            return Attempt(composition, parent, change, None, -np.inf, f"{type(result).__name__}: {result}")
        n_choices = sum(float(scores.n_choices.sum()) for scores in result.scores)
        n_units = sum(len(scores.n_choices) for scores in result.scores)
        price = max(self.price, float(np.log(max(n_units, 2))) / n_choices)
        if result.pooled:  # each trial was predicted from the others, so that parts pay for themselves already
            price = self.price / 50
        size = len(result.theory.priors) + 0.3 * result.n_mechanisms
        return Attempt(result.composition, parent, change, result, result.mean - price * size)

    def _edits(self, here: Attempt, brief: Brief, rng: np.random.Generator) -> list[Trial]:
        """All edits of a composition: answers to the diagnosis first, warned ones last."""
        edits: dict[object, Trial] = {}
        for words, composition in self.grammar.edits(here.composition):
            change = words if here.change.startswith("narrow") else f"{here.change}; {words}"
            edits.setdefault(composition.key, (composition, here.parent, change))
        shuffled = [list(edits.values())[place] for place in rng.permutation(len(edits))]

        def priority(item: Trial) -> int:
            last = item[2].split("; ")[-1]
            if last in brief.warnings:
                return 2
            wanted = (remedy.split(":", 1) for remedy in brief.remedies)
            return (
                0
                if any(last.endswith((f" by {name} in {slot}", f"add {name} to {slot}")) for slot, name in wanted)
                else 1
            )

        return sorted(shuffled, key=priority)


def ranked(attempts: Iterable[Attempt]) -> list[Attempt]:
    """Best criterion first; the failed ones last."""
    return sorted(attempts, key=lambda attempt: -attempt.criterion)
