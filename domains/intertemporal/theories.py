"""Intertemporal choice: published accounts of how people choose between amounts of money at different times.

Two traditions meet here. In discounting, each amount loses value with its delay and the values are compared. In
attribute-based accounts, the amounts are compared with each other and the delays with each other, and no option has a
value of its own. A composition picks how amounts and delays are felt, how they are discounted and compared, what cuts
the comparison short, and how much attention goes to further features of the pair beside it.

Amounts are in money units and may be losses; delays are in days. Waiting is a burden where the two amounts add up to
a gain, and a relief where they add up to a loss.

References:
    Frederick, Loewenstein & O'Donoghue (2002), Journal of Economic Literature 40, 351-401;
    Ericson, White, Laibson & Cohen (2015), Psychological Science 26(6), 826-833.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.intertemporal.mechanisms.choice import (
    ATTENTION,
    BIAS,
    CHOICE,
    COMPARISON,
    LAPSE,
    OTHER,
    SHORTCUT,
)
from lakatos.domains.intertemporal.mechanisms.worth import COST, DISCOUNTING, PACE, TIME, UTILITY
from lakatos.domains.intertemporal.vocabulary import dated_vocabulary
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, SkeletonSlot

HEADS = (
    (("discounting:exponential",), "Exponential discounting"),
    (("discounting:hyperbolic",), "Hyperbolic discounting"),
    (("discounting:generalised hyperbolic",), "Generalised hyperbolic discounting"),
    (("discounting:quasi-hyperbolic",), "Quasi-hyperbolic discounting"),
    (("discounting:double exponential",), "Double exponential discounting"),
    (("discounting:savouring and dread",), "Savouring and dread"),
    (("comparison:trade-off",), "Trade-off"),
    (("comparison:trade-off by intervals",), "Trade-off by intervals"),
    (("comparison:proportional difference",), "Proportional difference"),
    (("comparison:required premium",), "Required premium"),
    (("comparison:larger amount",), "Larger amount"),
    (("comparison:first to come",), "First to come"),
    (("comparison:weighted differences",), "Weighted differences"),
    (("comparison",), "Comparing values"),
    (("attention",), "Choice by features"),
    (("shortcut:similarity",), "Similarity"),
    (("shortcut",), "A shortcut"),
    ((), "Random choice"),
)

GRAMMAR = Grammar(
    domain="intertemporal",
    silence="choose at random",
    slots=(
        SkeletonSlot("utility", least=0),
        SkeletonSlot("time", least=0),
        SkeletonSlot("pace", least=0, most=2, sentence=2),
        SkeletonSlot("discounting", least=0),
        SkeletonSlot("cost", least=0),
        SkeletonSlot("comparison", least=0),
        SkeletonSlot("attention", least=0, most=6, sentence=2),
        SkeletonSlot("bias", least=0, sentence=2),
        SkeletonSlot("shortcut", least=0, sentence=3),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("other", least=0, sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(
        *UTILITY,
        *TIME,
        *PACE,
        *DISCOUNTING,
        *COST,
        *COMPARISON,
        *ATTENTION,
        *BIAS,
        *SHORTCUT,
        *CHOICE,
        *OTHER,
        *LAPSE,
    ),
    heads=HEADS,
    before="""
        amounts, delays = trials["amounts"], trials["delays_days"]
        size = xp.abs(amounts)
        at_stake = xp.maximum(size.max(axis=-1), 0.01)
        gap, wait = amounts[:, 1] - amounts[:, 0], delays[:, 1] - delays[:, 0]
        # a longer wait is worse where there is something to gain, and better where there is something to lose
        burden = xp.sign(amounts.sum(axis=-1))
        patient = burden * xp.sign(wait)
        growth = xp.log(xp.maximum(size[:, 1], 0.01) / xp.maximum(size[:, 0], 0.01))
        sooner_size = xp.where(wait > 0, size[:, 0], xp.where(wait < 0, size[:, 1], size.min(axis=-1)))
        utility, time, pace, discount, cost, evidence = amounts, delays, 1.0, 1.0, 0.0, 0.0 * gap
        """,
    after="return p",
    predictions=(
        {"property": "non_decreasing", "in": "amount"},
        {"property": "non_increasing", "in": "delay"},
        {"property": "non_decreasing", "in": "loss_delay"},
        {"property": "non_decreasing", "in": "dominance"},
        {"property": "reverses", "in": "sides"},
        {"property": "reverses", "in": "reflection"},
    ),
)


def _composition(**slots: str | tuple[str, ...]) -> Composition:
    """Mechanisms by slot, over the plainest choice rule with lapses."""
    named = {"choice": "logistic", "lapse": "random"} | slots
    return Composition.of(named)


def _discounting(name: str, **slots: str | tuple[str, ...]) -> Composition:
    return _composition(discounting=name, comparison="difference in value", **slots)


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "random": ("Random choice", _composition()),
    "exponential": ("Exponential discounting", _discounting("exponential")),
    "hyperbolic": ("Hyperbolic discounting", _discounting("hyperbolic")),
    "generalised_hyperbolic": (
        "Generalised hyperbolic discounting",
        _discounting("generalised hyperbolic"),
    ),
    # Rachlin (2006), Journal of the Experimental Analysis of Behavior 85, 425-435
    "power_delay_hyperbolic": (
        "Hyperbolic discounting, contracted time",
        _discounting("hyperbolic", time="power"),
    ),
    "quasi_hyperbolic": ("Quasi-hyperbolic discounting", _discounting("quasi-hyperbolic")),
    "constant_sensitivity": ("Constant sensitivity", _discounting("exponential", time="power")),
    "double_exponential": ("Double exponential discounting", _discounting("double exponential")),
    "fixed_cost": (
        "Exponential discounting, fixed cost",
        _discounting("exponential", cost="fixed cost of waiting"),
    ),
    "magnitude_hyperbolic": (
        "Hyperbolic discounting, magnitude effect",
        _discounting("hyperbolic", pace="slower when more is at stake"),
    ),
    "trade_off": ("Trade-off model", _composition(comparison="trade-off")),
    "proportional_difference": (
        "Proportional difference",
        _composition(comparison="proportional difference"),
    ),
    "similarity": ("Similarity", _composition(shortcut="similarity")),
    # Stevens (2016), Journal of Behavioral Decision Making 29, 12-24
    "similarity_then_discounting": (
        "Similarity, then discounting",
        _discounting("hyperbolic", shortcut="similarity"),
    ),
    "itch": (
        "Intertemporal choice heuristics",
        _composition(
            attention=(
                "amount difference",
                "relative amount difference",
                "delay difference",
                "relative delay difference",
            ),
            bias="leaning",
        ),
    ),
    "drift": (
        "Difference, growth, interest and time",
        _composition(
            attention=("amount difference", "growth", "interest", "delay difference"),
            bias="leaning",
        ),
    ),
}

FAMILY = Family("intertemporal", GRAMMAR, SEEDS, dated_vocabulary)
