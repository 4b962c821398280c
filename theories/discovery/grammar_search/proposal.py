"""Input of a search for theories, its attempts, and its proposals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lakatos.theories.discovery.grammar_search.prior_odds import EQUAL_ODDS, PriorOdds
from lakatos.theories.engine.checks.complexity import code_length
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition
from lakatos.traces.digest import Digest

DIGITS = 9
"""Decimals of what candidates are compared by. Later ones differ between processors, and equal candidates are
common."""
Trial = tuple[Composition, Digest | None, str]
"""A composition to try, the theory that it is made from, and the change in words."""
Evaluate = Callable[
    [Sequence[tuple[Composition, Digest | None]]], Sequence[EvaluatedComposition | TheoryError]
]
"""Compositions with their parents, each fitted and scored, or the error that stopped it."""

Glance = Callable[
    [Sequence[tuple[Composition, EvaluatedComposition | None]]], Sequence[float | TheoryError]
]
"""Nats per choice that compositions would explain, roughly, each given with a similar one that was fitted, if any."""


@dataclass(frozen=True)
class SearchStart:
    """A theory from which the search sets out."""

    digest: Digest | None
    composition: Composition
    change: str = "narrow the declared ranges"


@dataclass(frozen=True)
class AdvocateBrief:
    """Input of an advocate: never the hidden truth, never a sealed response."""

    starts: tuple[SearchStart, ...]
    remedies: tuple[str, ...] = ()
    """``slot:mechanism`` that the diagnosis proposes."""
    warnings: tuple[str, ...] = ()
    """Changes that lessons warn of, in the words of `Grammar.edits`."""
    published: tuple[Composition, ...] = ()
    """Forms of published theories, tried before any that are composed at random."""
    n_candidates: int = 60
    n_successors: int = 3
    odds: PriorOdds = EQUAL_ODDS
    """Log odds of mechanisms by earlier campaigns."""
    looks_back: bool = True
    """Whether compositions with a memory are worth trying where the diagnosis does not ask for them."""


@dataclass(frozen=True)
class CompositionAttempt:
    """One composition that a search tried, and what came of it."""

    composition: Composition
    parent: Digest | None
    """Theory that it was made from; None when composed afresh."""
    change: str
    evaluated: EvaluatedComposition | None
    criterion: float
    """Nats per choice by which candidates are compared: the score less the price of its parts."""
    error: str = ""


@dataclass(frozen=True)
class SearchProposal:
    """All that was tried, best first, and the attempts submitted."""

    attempts: tuple[CompositionAttempt, ...]
    submitted: tuple[CompositionAttempt, ...] = field(default=())
    unspent: str = ""
    """Reason why fewer candidates were tried than planned; empty if all were tried."""
    glances: tuple[GlancedChild, ...] = ()
    """Compositions looked at on the same responses and not fitted."""
    looked_around: frozenset[object] = frozenset()
    """Keys of the compositions whose surroundings were looked at."""
    sizes: tuple[CompositionAttempt, ...] = ()
    """The best attempts of every size, all scored on the same responses; see `grammar_search.size_path`."""


@dataclass(frozen=True)
class GlancedChild:
    """A composition that was not fitted, the node that it was seen from, and the criterion that it seems to reach."""

    composition: Composition
    node: CompositionAttempt
    criterion: float


def settled(value: float) -> float:
    """A value that decides, without digits that differ between processors."""
    return round(float(value), DIGITS)


def error_of(attempt: CompositionAttempt) -> float:
    """Mean squared error on choice proportions; infinite where nothing could be fitted."""
    return np.inf if attempt.evaluated is None else settled(attempt.evaluated.error)


def ranked(attempts: Iterable[CompositionAttempt]) -> list[CompositionAttempt]:
    """Best criterion first; the failed ones last."""
    return sorted(attempts, key=lambda attempt: -attempt.criterion)


def length_of(attempt: CompositionAttempt) -> int:
    """Return the length of a fitted source, as `theories.engine.checks.complexity` counts it."""
    assert attempt.evaluated is not None
    return code_length(attempt.evaluated.theory.program.source)
