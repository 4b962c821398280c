"""What clauses with two sides are about, for names that must not say which side people turn out to be on."""

from __future__ import annotations

TOPICS = {
    ("increasing returns", "diminishing returns"): "curved values",
    ("loss aversion", "gain seeking"): "gain-loss asymmetry",
    ("striking differences", "compressed differences"): "rescaled differences",
    ("focused weights", "flattened weights"): "reshaped weights",
    ("repetition", "alternation"): "sequential dependence",
    ("habit", "alternation"): "choice traces",
    ("switching", "repetition"): "streaks",
    ("fatigue", "growing care"): "time on task",
    ("carry-over", "contrast"): "sequential contrast",
    ("satisfied staying", "switching"): "satisfaction",
    ("repetition", "variety seeking"): "likeness",
    ("underweighted chances", "overweighted chances"): "weighted chances",
    ("underweighted extremes", "overweighted extremes"): "weighted extremes",
    ("pessimism", "optimism"): "outlook",
    ("optimism", "pessimism"): "outlook",
    ("security", "potential"): "security-potential focus",
    ("disappointment", "elation"): "anticipated feelings",
    ("disappointment aversion", "elation seeking"): "anticipated feelings",
    ("risk aversion", "risk seeking"): "risk attitudes",
    ("caution", "risk seeking"): "risk attitudes",
    ("stretched time", "contracted time"): "curved time",
    ("impatience", "patience"): "a waiting bias",
    ("patience", "impatience"): "a waiting bias",
    ("curiosity", "caution"): "exploration",
    ("win-stay", "win-shift"): "win effects",
    ("lose-shift", "lose-stay"): "loss effects",
    ("giving up", "change"): "giving up",
    ("cashing in", "change"): "cashing in",
    ("weariness", "change"): "weariness",
    ("last outcomes", "reversed outcomes"): "last outcomes",
    ("increasing regret", "diminishing regret"): "curved regret",
    ("long contracts", "short contracts"): "contract length",
    ("local suppliers", "distant suppliers"): "supplier distance",
    ("known suppliers", "unknown suppliers"): "supplier fame",
    ("freedom", "contracts"): "contract effects",
    ("steady rates", "varying rates"): "rate stability",
    ("increasing worth", "diminishing worth"): "curved worth",
    ("envy", "humility"): "being behind",
    ("guilt", "pride"): "being ahead",
    ("care", "spite"): "the other's payoff",
    ("caution", "recklessness"): "worst payoffs",
    ("hope", "modesty"): "best payoffs",
    ("efficiency", "inefficiency"): "largest sums",
    ("equal splits", "unequal splits"): "equality",
    ("dominance", "missed dominance"): "dominance",
    ("risk dominance", "risky equilibria"): "risk dominance",
    ("payoff dominance", "poor equilibria"): "payoff dominance",
    ("central tendency", "exaggeration"): "central tendency",
    ("growth expected", "decline expected"): "expected growth",
    ("anchoring", "contrast"): "anchoring",
}
"""By the labels of both sides."""


def topic_of(label: str, opposite_label: str) -> str:
    """What a clause is about, by the labels of its sides; empty where there is no word for both."""
    if not label or not opposite_label or label == opposite_label:
        return label or opposite_label
    return TOPICS.get((label, opposite_label), "")
