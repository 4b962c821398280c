"""Topics of clauses with two sides, for names that must not state which side people turn out to be on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    ("overweighted extremes", "underweighted extremes"): "weighted extremes",
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
    ("staying", "change"): "staying or leaving",
    ("giving up", "persistence"): "repeated failures",
    ("cashing in", "persistence"): "repeated successes",
    ("weariness", "persistence"): "repeated choices",
    ("last outcomes", "reversed outcomes"): "last outcomes",
    ("increasing regret", "diminishing regret"): "curved regret",
    ("long contracts", "short contracts"): "contract length",
    ("local suppliers", "distant suppliers"): "supplier distance",
    ("known suppliers", "unknown suppliers"): "supplier fame",
    ("freedom", "contract seeking"): "contract effects",
    ("fixed rates", "varying rates"): "rate stability",
    ("increasing utility", "diminishing utility"): "curved utility",
    ("envy", "humility"): "being behind",
    ("guilt", "pride"): "being ahead",
    ("care", "spite"): "the other's payoff",
    ("altruism", "spite"): "the other's payoff",
    ("caution", "recklessness"): "worst payoffs",
    ("efficiency", "inefficiency"): "largest sums",
    ("equal splits", "unequal splits"): "equality",
    ("dominance", "missed dominance"): "dominance",
    ("risk dominance", "risky equilibria"): "risk dominance",
    ("payoff dominance", "best-equilibrium avoidance"): "payoff dominance",
    ("central tendency", "exaggeration"): "central tendency",
    ("a rising prior", "a falling prior"): "expected growth",
    ("anchoring", "contrast"): "anchoring",
    ("altruism", "rivalry"): "others' gain",
    ("warm glow", "giving aversion"): "giving itself",
    ("default effects", "restlessness"): "defaults",
    ("trusted talk", "distrusted talk"): "talk",
    ("deterrence", "defiance"): "possible deductions",
    ("reward expectations", "reward disdain"): "possible rewards",
    ("all-or-nothing generosity", "all-or-nothing caution"): "all or nothing",
    ("generous starts", "careful starts"): "first rounds",
    ("envy", "leadership"): "giving more",
    ("guilt", "shamelessness"): "giving less",
    ("repetition", "variety"): "repetition",
    ("compliance", "retaliation"): "deductions",
    ("encouragement", "complacency"): "rewards",
    ("resentment", "forbearance"): "falling behind",
    ("decay", "growth"): "rounds",
    ("selfish ends", "generous ends"): "the last round",
    ("end effects", "rising ends"): "the end",
    ("round numbers", "unround amounts"): "round numbers",
    ("extremes", "moderation"): "extremes",
    ("interference", "contrast"): "interference",
    ("right-key bias", "left-key bias"): "key bias",
    ("second-response bias", "first-response bias"): "response bias",
    ("second-category bias", "first-category bias"): "category bias",
    ("conservative responses", "liberal responses"): "response bias",
    ("base rates", "rare items"): "base rates",
    ("stretched criteria", "compressed criteria"): "criteria",
    ("quick repetitions", "slow repetitions"): "repetition",
    ("adaptation", "exhaustion"): "conflict after-effects",
    ("post-error caution", "post-error haste"): "post-error caution",
    ("post-error distraction", "post-error focus"): "post-error clarity",
    ("post-error pauses", "post-error hurry"): "post-error timing",
    ("pull", "push"): "the distractor's pull",
    ("slowing", "speeding"): "slowing",
    ("errors", "fewer errors"): "errors",
    ("risk seeking", "risk aversion"): "risk attitudes",
    ("falling targets", "defiance"): "effects of bursts",
    ("rising targets", "retreat"): "effects of collections",
    ("caution after bursts", "boldness after bursts"): "post-burst caution",
    ("growing boldness", "growing caution"): "trends over balloons",
    ("a pumping bias", "a collecting bias"): "response bias",
    ("falling thresholds", "rising thresholds"): "changing thresholds",
    ("high thresholds", "low thresholds"): "biased thresholds",
    ("growing ambition", "fading ambition"): "thresholds by depth",
    ("candidates only", "lowered standards"): "candidates",
    ("growing patience", "fading patience"): "trends over sequences",
    ("loss sensitivity", "gain sensitivity"): "outcome sensitivity",
    ("a go bias", "a no-go bias"): "response bias",
    ("a Pavlovian bias", "reversed Pavlovian bias"): "Pavlovian bias",
}
"""Topics by the labels of both sides."""


@dataclass(frozen=True)
class DirectedTitle:
    """Words of a title that name one side of what clauses state, by other words than the labels of these."""

    signs: Mapping[str, int]
    """Side of a clause on which the words are true, by the clause's label."""
    opposite: str
    """The words where all of these clauses lie on the other side."""
    both: str
    """The words where the clauses lie on different sides, or people do."""


DIRECTED_TITLES = {
    "inequity aversion": DirectedTitle(
        {"envy": 1, "guilt": 1}, "inequity seeking", "concern for inequity"
    ),
    "altruism": DirectedTitle({"care": 1}, "spite", "concern for the other"),
    "streak aversion": DirectedTitle({"streaks": -1}, "streak seeking", "effects of streaks"),
    "loss averse": DirectedTitle({"loss aversion": 1}, "gain sensitive", "reference point"),
}


def topic_of(label: str, opposite_label: str) -> str:
    """Return the topic of a clause by the labels of its sides; empty where there is no word for both."""
    if not label or not opposite_label or label == opposite_label:
        return label or opposite_label
    return TOPICS.get((label, opposite_label), "")
