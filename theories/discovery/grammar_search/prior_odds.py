"""Prior odds of mechanisms: what earlier campaigns found makes some compositions likelier than chance would.

Let q0(s, m) be the share of random compositions of the grammar that have mechanism m in slot s, and q(s, m) its share
among the theories of earlier campaigns, with two pseudo-counts for q0. A composition gains log(q / q0) for each
mechanism that it has, and, in slots that may be empty or hold several, log((1 - q) / (1 - q0)) for each that it lacks.
Without earlier campaigns all odds are equal and nothing changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lakatos.theories.language.grammar import Composition, Grammar

Part = tuple[str, str]
"""A slot of a grammar and the name of a mechanism in it."""
PSEUDO_COUNTS: Final = 2.0
"""Random compositions' weight beside the theories of earlier campaigns."""
N_DRAWN: Final = 600
"""Random compositions that estimate how often chance chooses a mechanism."""


@dataclass(frozen=True)
class PriorOdds:
    """Log odds of mechanisms against chance, in nats."""

    present: Mapping[Part, float] = field(default_factory=dict)
    """Gain of a composition from having a mechanism."""
    absent: Mapping[Part, float] = field(default_factory=dict)
    """Gain from not having one; only of slots that may be empty or hold several."""

    def of(self, composition: Composition) -> float:
        """Log odds of a composition, in nats; 0 where nothing is known.

        Args:
            composition: Composition of the grammar that the odds belong to.
        """
        # Sets have no order that two processes share, and sums of floats depend on it.
        parts = sorted(parts_of(composition))
        gained = sum(self.present.get(part, 0.0) - self.absent.get(part, 0.0) for part in parts)
        return gained + sum(self.absent.values())


EQUAL_ODDS: Final = PriorOdds()


def parts_of(composition: Composition) -> frozenset[Part]:
    """Mechanisms of a composition, each with its slot."""
    return frozenset((slot, name) for slot, names in composition.slots.items() for name in names)


def prior_odds(grammar: Grammar, earlier: Sequence[Composition]) -> PriorOdds:
    """Log odds of a grammar's mechanisms, given the theories that earlier campaigns found.

    Args:
        grammar: Grammar of the campaign that uses the odds.
        earlier: One composition for each earlier campaign; mechanisms that the grammar lacks are ignored.

    Returns:
        Equal odds where there are no earlier campaigns.
    """
    if not earlier:
        return EQUAL_ODDS
    rng = np.random.default_rng(0)
    chance = _counts([grammar.compose(rng) for _ in range(N_DRAWN)])
    found = _counts(earlier)
    free = {slot.name for slot in grammar.slots if not slot.least or slot.most > 1}
    present, absent = {}, {}
    for item in grammar.mechanisms:
        part = (item.slot, item.name)
        by_chance = (chance[part] + 0.5) / (N_DRAWN + 1)
        share = (found[part] + PSEUDO_COUNTS * by_chance) / (len(earlier) + PSEUDO_COUNTS)
        present[part] = float(np.log(share / by_chance))
        if item.slot in free:
            absent[part] = float(np.log((1 - share) / (1 - by_chance)))
    return PriorOdds(present, absent)


def _counts(compositions: Collection[Composition]) -> Counter[Part]:
    return Counter(part for item in compositions for part in parts_of(item))
