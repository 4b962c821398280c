"""Error probability is spent, and never won back: what each test of one campaign may use.

`AlphaSpending` bounds the probability that any certified replacement of the campaign is false; `FalseDiscovery` the
expected share of false ones. A test that keeps the incumbent has spent as much as one that replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb, pi

from lakatos.judges.errors import LedgerError


def share(number: int) -> float:
    """Share of the whole for test ``number``, from 1: 6 / (pi number)^2, which sums to 1 over all tests."""
    return 6 / (pi * number) ** 2


@dataclass(frozen=True)
class AlphaSpending:
    """Family-wise error: test t may use alpha * 6 / (pi t)^2, however many tests follow."""

    alpha: float = 0.05
    spent: tuple[float, ...] = ()

    @property
    def left(self) -> float:
        """Probability of a false replacement that is not spent yet."""
        return self.alpha - sum(self.spent)

    @property
    def level(self) -> float:
        """Level of the next test."""
        return self.alpha * share(len(self.spent) + 1)

    def debit(self, level: float, *, replaced: bool) -> AlphaSpending:
        """The ledger after a test of this level, whatever came out of it.

        Raises:
            LedgerError: More than is left.
        """
        if not 0 < level <= self.left + 1e-15:
            raise LedgerError(
                f"a test of level {level:.3g} was asked for, and {self.left:.3g} of {self.alpha} is left after "
                f"{len(self.spent)} tests; test at the level that the ledger offers ({self.level:.3g})."
            )
        return replace(self, spent=(*self.spent, level))


@dataclass(frozen=True)
class FalseDiscovery:
    """e-LOND: test t replaces when its e value is at least 1 / (alpha share(t) (replacements so far + 1)).

    The expected share of false replacements stays below alpha under any dependence between the tests.

    References:
        Xu & Ramdas (2024), Online multiple testing with e-values, AISTATS, PMLR 238.
    """

    alpha: float = 0.05
    replaced: tuple[bool, ...] = ()

    @property
    def left(self) -> float:
        """Level of the next test: it never runs out, and is never reset."""
        return self.level

    @property
    def level(self) -> float:
        """Of the next test; its e value must reach one over this."""
        return self.alpha * share(len(self.replaced) + 1) * (sum(self.replaced) + 1)

    def debit(self, level: float, *, replaced: bool) -> FalseDiscovery:
        """The ledger after a test of this level.

        Raises:
            LedgerError: The level is above what the ledger offers.
        """
        if not 0 < level <= self.level + 1e-15:
            raise LedgerError(
                f"a test of level {level:.3g} was asked for, and the next may use {self.level:.3g}."
            )
        return replace(self, replaced=(*self.replaced, replaced))


Ledger = AlphaSpending | FalseDiscovery


def n_transcripts(n_tests: int, most_replacements: int) -> int:
    """Sequences of decisions that challengers could have learned from: dividing a level by it makes reuse rigorous.

    References:
        Blum & Hardt (2015), The Ladder, ICML; Dwork et al. (2015), Science 349, 636-638.
    """
    return sum(comb(n_tests, k) for k in range(most_replacements + 1))
