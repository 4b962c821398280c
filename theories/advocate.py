"""The grammar advocate: defends a theory, and revises it from its diagnosis with published mechanisms.

It searches compositions one edit at a time from its starting points, in rounds: the edits of the best compositions so
far are tried, those that answer the diagnosis first and those that a lesson warns of last. Without a language model
this is the whole of invention; every theory it submits is source that a person can read.
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

Evaluate = Callable[[Sequence[tuple[Composition, Digest]]], Sequence[Evaluated | TheoryError]]
"""Compositions with their parents, each fitted and scored, or the error that stopped it."""


@dataclass(frozen=True)
class Start:
    """A theory from which the search sets out."""

    digest: Digest
    composition: Composition


@dataclass(frozen=True)
class Brief:
    """What an advocate is given: never the hidden truth, never a sealed answer."""

    starts: tuple[Start, ...]
    remedies: tuple[str, ...] = ()
    """``slot:mechanism`` that the diagnosis proposes."""
    warnings: tuple[str, ...] = ()
    """Changes that lessons warn of, in the words of `Grammar.edits`."""
    known: frozenset[object] = frozenset()
    """Keys of compositions already in the pool with a fit to all data."""
    n_candidates: int = 60
    n_successors: int = 3


@dataclass(frozen=True)
class Attempt:
    """One composition tried."""

    composition: Composition
    parent: Digest
    change: str
    evaluated: Evaluated | None
    criterion: float
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
    """Searches a grammar by rounds of edits on a beam."""

    grammar: Grammar
    beam: int = 3
    batch: int = 24
    """Edits tried in a round."""
    penalty: float = 0.0
    """Nats per choice that each parameter must be worth."""
    name: str = "grammar"

    def revise(self, brief: Brief, evaluate: Evaluate, rng: np.random.Generator) -> Proposal:
        """Search; see the module docstring."""
        tried: dict[object, Attempt] = {}
        todo = [(start.composition, start.digest, "narrow the declared ranges") for start in brief.starts]
        while True:
            # Loser and leader may be one structure with different ranges: it is fitted once.
            fresh: dict[object, tuple[Composition, Digest, str]] = {}
            for item in todo:
                if item[0].key not in tried:
                    fresh.setdefault(item[0].key, item)
            todo = list(fresh.values())[: max(brief.n_candidates - len(tried), 0)]
            if not todo:
                break
            results = evaluate([(composition, parent) for composition, parent, _ in todo])
            for (composition, parent, change), result in zip(todo, results, strict=True):
                tried[composition.key] = self._attempt(composition, parent, change, result)
            best = sorted(tried.values(), key=_rank)[: self.beam]
            todo = self._edits(best, tried, brief, rng)[: self.batch]
        attempts = sorted(tried.values(), key=_rank)
        working = [attempt for attempt in attempts if attempt.evaluated is not None]
        return Proposal(tuple(attempts), tuple(working[: brief.n_successors]))

    def _attempt(
        self, composition: Composition, parent: Digest, change: str, result: Evaluated | TheoryError
    ) -> Attempt:
        if isinstance(result, TheoryError):
            return Attempt(composition, parent, change, None, -np.inf, f"{type(result).__name__}: {result}")
        return Attempt(
            result.composition, parent, change, result, result.mean - self.penalty * len(result.theory.priors)
        )

    def _edits(
        self, best: Iterable[Attempt], tried: dict[object, Attempt], brief: Brief, rng: np.random.Generator
    ) -> list[tuple[Composition, Digest, str]]:
        """Untried edits of the best compositions: answers to the diagnosis first, warned ones last."""
        edits: dict[object, tuple[Composition, Digest, str]] = {}
        for attempt in best:
            if attempt.evaluated is None:
                continue
            for words, composition in self.grammar.edits(attempt.composition):
                change = words if attempt.change.startswith("narrow") else f"{attempt.change}; {words}"
                if composition.key not in tried:
                    edits.setdefault(composition.key, (composition, attempt.parent, change))
        order = rng.permutation(len(edits))
        shuffled = [list(edits.values())[index] for index in order]

        def priority(item: tuple[Composition, Digest, str]) -> int:
            last = item[2].split("; ")[-1]
            if last in brief.warnings:
                return 2
            slots_and_names = (remedy.split(":", 1) for remedy in brief.remedies)
            new = any(
                last.endswith((f" by {name} in {slot}", f"add {name} to {slot}")) for slot, name in slots_and_names
            )
            return 0 if new else 1

        return sorted(shuffled, key=priority)


def _rank(attempt: Attempt) -> float:
    return -attempt.criterion
