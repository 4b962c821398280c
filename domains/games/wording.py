"""Words for theories of matrix games; `theories.language.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
SHARE, POINTS = 0.15, 2.0


def _drawn(by: str, what: str, label: str, other: str) -> tuple[dict[str, Any], ...]:
    return (
        {"says": f"are {{much}}drawn to {what}", "opposite": f"{{much}}avoid {what}, other things equal", "by": by,
         "unit": POINTS,
         "rest": "avoid it", "opposite_rest": "are drawn to it", "times": "sensitivity", "label": label,
         "opposite_label": other},
    )  # fmt: skip


WORDS: Words = {
    "worth:curved": (
        {"says": "feel each further point {far}more than the one before",
         "opposite": "feel each further point {far}less than the one before", "by": "curvature", "null": 1.0,
         "unit": 0.4, "ratio": True, "rest": "less", "opposite_rest": "more", "label": "increasing worth",
         "opposite_label": "diminishing worth"},
    ),
    "social:inequity aversion": (
        {"says": "{much}dislike getting less than the other",
         "opposite": "{much}care for what the other gets where they get less",
         "by": "envy", "unit": SHARE, "label": "envy", "opposite_label": "humility"},
        {"says": "{much}care for what the other gets where they get more",
         "opposite": "{much}like getting more than the other",
         "by": "guilt", "unit": SHARE, "label": "guilt", "opposite_label": "pride"},
    ),
    "social:care for the other": (
        {"says": "{much}value what the other gets", "opposite": "{much}dislike what the other gets",
         "rest": "dislike it", "opposite_rest": "value it", "by": "care",
         "unit": SHARE, "label": "care", "opposite_label": "spite"},
    ),
    "tastes:selfish others": ({"says": ""},),
    "worth:relative to the range": (
        {"says": "see payoffs as shares of what is at stake for each player"},
    ),
    "belief:a simple opponent": (
        {"says": "expect the other to prefer the column that pays the other more on average"},
    ),
    "belief:some others think": (
        {"says": "expect some others ({thinking_share%}) to take the column that pays more on average, and the rest to "
         "choose by chance"},
    ),
    "belief:steps of thinking": (
        {"says": "believe that others think a few steps ahead ({mean_steps} on average), each answering to those who "
                 "think less"},
    ),
    "attention:worst payoff": (
        {"says": "{much}overweight the worst that each row can pay",
         "opposite": "{much}underweight the worst that each row can pay", "by": "caution", "unit": SHARE,
         "shows": "worst_difference", "label": "caution", "opposite_label": "recklessness"},
    ),
    "attention:best payoff": (
        {"says": "{much}overweight the best that each row can pay",
         "opposite": "{much}underweight the best that each row can pay", "by": "hope", "unit": SHARE,
         "shows": "best_difference", "label": "hope", "opposite_label": "modesty"},
    ),
    "attention:largest sum": _drawn(
        "efficiency", "the row with the cell in which both together get most", "efficiency", "inefficiency"
    ),
    "attention:equal split": _drawn(
        "equality", "the row with the cell in which both get about the same", "equal splits", "unequal splits"
    ),
    "attention:dominant row": _drawn(
        "dominance", "a row that pays more whatever the other does", "dominance", "missed dominance"
    ),
    "attention:safest equilibrium": _drawn(
        "risk_dominance", "the row of the equilibrium from which straying would cost both most", "risk dominance",
        "risky equilibria",
    ),
    "attention:richest equilibrium": _drawn(
        "payoff_dominance", "the row of the equilibrium that pays them most", "payoff dominance", "poor equilibria"
    ),
    "evaluation:expected payoff": (
        {"says": "compare what the rows pay on average, by the columns that they expect", "plain": True},
    ),
    "strictness:constant": (
        {"says": "choose the row that leads the more often, the larger its lead", "plain": True},
    ),
    "choice:deterministic": (
        {"says": "choose the row that leads, by however little, and either one where none does"},
    ),
    "choice:logistic": ({"says": ""},),
    "lapse:random": ({"says": "{lapse~} choose at random ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {"attention": 2, "strictness": 3, "choice": 3, "lapse": 3}

HEADS = (
    (("evaluation:the worst payoff",), "Maximin"),
    (("evaluation:the best payoff",), "Maximax"),
    (("evaluation:the largest regret",), "Minimax regret"),
    (("belief:a simple opponent",), "Level 2"),
    (("belief:an opponent who thinks ahead",), "Level 3"),
    (("belief:some others think",), "Levels mixed"),
    (("belief:steps of thinking",), "Cognitive hierarchy"),
    (("belief:equilibrium",), "Quantal response"),
    (("belief:noisy introspection",), "Noisy introspection"),
    ((), "Level 1"),
)
