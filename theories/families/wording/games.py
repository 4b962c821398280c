"""Words for theories of matrix games; `theories.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
SHARE, POINTS = 0.15, 2.0


def _drawn(by: str, what: str, label: str, other: str) -> tuple[dict[str, Any], ...]:
    return (
        {"says": f"are {{much}}drawn to {what}", "opposite": f"{{much}}shun {what}", "by": by, "unit": POINTS,
         "times": "sensitivity", "label": label, "opposite_label": other},
    )  # fmt: skip


WORDS: Words = {
    "worth:curved": (
        {"says": "feel each further point {much}more than the one before",
         "opposite": "feel each further point {much}less than the one before", "by": "curvature", "null": 1.0,
         "unit": 0.4, "ratio": True, "label": "increasing worth", "opposite_label": "diminishing worth"},
    ),
    "social:inequity aversion": (
        {"says": "{much}dislike getting less than the other",
         "opposite": "where they get less, {much}care for what the other gets",
         "by": "envy", "unit": SHARE, "label": "envy", "opposite_label": "humility"},
        {"says": "where they get more, {much}care for what the other gets",
         "opposite": "{much}like getting more than the other",
         "by": "guilt", "unit": SHARE, "label": "guilt", "opposite_label": "pride"},
    ),
    "social:care for the other": (
        {"says": "{much}value what the other gets", "opposite": "{much}dislike what the other gets", "by": "care",
         "unit": SHARE, "label": "care", "opposite_label": "spite"},
    ),
    "tastes:selfish others": ({"says": ""},),
    "belief:some others think": (
        {"says": "expect some others ({thinking_share%}) to take the column that pays more on average, and the rest to "
         "choose by chance"},
    ),
    "belief:steps of thinking": (
        {"says": "believe that others think few steps ahead ({mean_steps}), each answering to those who think less"},
    ),
    "attention:worst payoff": (
        {"says": "give {much}weight to the worst that each row can pay",
         "opposite": "{much}underweight the worst that each row can pay", "by": "caution", "unit": SHARE,
         "shows": "worst_difference", "label": "caution", "opposite_label": "recklessness"},
    ),
    "attention:best payoff": (
        {"says": "give {much}weight to the best that each row can pay",
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
    "strictness:constant": ({"says": "choose the row that leads the more often, the larger its lead"},),
    "choice:logistic": ({"says": ""},),
    "lapse:random": ({"says": "now and then choose at random ({lapse%} of the time)"},),
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
