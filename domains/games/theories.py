"""Theories of one-shot matrix games: what payoffs are worth, what the other will do, and how a row is chosen.

The skeleton: payoffs have a *worth*, and people may have *social* tastes for what the other gets. They expect of the
other some *tastes*, and form a *belief* about the column that the other will choose. An *evaluation* turns that into
the lead of the second row over the first, *attention* to further features of the game adds to it, and *strictness*
turns the lead into log odds. A *choice* rule gives the probability; some choices are *lapses*.

``own`` and ``other`` are payoffs as they are felt, ``(n_draws or 1, n_games, 2, 2)`` by one's own row and the other's
column; ``up`` is the second row minus the first, by column, and ``across`` the second column minus the first in what
the other gets, by row. ``chance`` is the believed probability of the second column, ``(n_draws or 1, n_games)``.

References:
    Costa-Gomes, Crawford & Broseta (2001), Econometrica 69, 1193-1235;
    Zhu, Peterson, Enke & Griffiths (2024), arXiv:2408.07865.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.games.vocabulary import game_vocabulary
from lakatos.domains.games.wording import HEADS, SENTENCES, WORDS
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot, worded

STAHL = "Stahl & Wilson (1995), Games and Economic Behavior 10, 218-254"
NAGEL = "Nagel (1995), American Economic Review 85, 1313-1326"
COSTA_GOMES = "Costa-Gomes, Crawford & Broseta (2001), Econometrica 69, 1193-1235"
CAMERER = "Camerer, Ho & Chong (2004), Quarterly Journal of Economics 119, 861-898"
MCKELVEY = "McKelvey & Palfrey (1995), Games and Economic Behavior 10, 6-38"
GOEREE = "Goeree & Holt (2004), Games and Economic Behavior 46, 365-382"
FEHR = "Fehr & Schmidt (1999), Quarterly Journal of Economics 114, 817-868"
CHARNESS = "Charness & Rabin (2002), Quarterly Journal of Economics 117, 817-869"
HARSANYI = "Harsanyi & Selten (1988), A general theory of equilibrium selection in games"
ENKE = "Enke & Shubatt (2023), Quantifying lottery choice complexity; Zhu and others (2024), arXiv:2408.07865"
WILCOX = "Wilcox (2011), Journal of Econometrics 162, 89-104 (contextual utility)"

MEANS = ("mean_difference", "reply_difference")
REPLIES = ("reply_difference", "dominant_column", "n_equilibria")
OTHERS = ("other_mean_difference", "largest_sum", "inequality_difference")

HELPERS = '''
def leads(ahead, chance):
    """Expected lead of the second over the first, where the opponent takes the second with a chance."""
    return ahead[..., 0] + (ahead[..., 1] - ahead[..., 0]) * chance


def reply(ahead, chance, strictness, xp):
    """Chance of the second, chosen by the logit of its expected lead."""
    return 0.5 * (1 + xp.tanh(0.5 * strictness * leads(ahead, chance)))
'''
STRICT = log_uniform(
    0.01, 10.0, "log odds per point", "strictness that the other is believed to have"
)


def _weight(meaning: str, limit: float = 2.0, unit: str = "share of a point") -> Mapping[str, Any]:
    return normal(0.0, 0.3 * limit, limit, unit, meaning)


WORTH = (
    Mechanism(
        "worth",
        "curved",
        "feel each further point less, or more, than the one before",
        """
        # ten points are worth ten whatever the curvature
        own = 10.0 * (xp.maximum(own, 1e-9) / 10.0) ** parameters["curvature"][..., None, None]
        other = 10.0 * (xp.maximum(other, 1e-9) / 10.0) ** parameters["curvature"][..., None, None]
        """,
        {"curvature": log_uniform(0.2, 2.5, "exponent", "how the worth of points grows")},
        ("payoff_size", "payoff_range", "best_difference"),
        "Bernoulli (1738); Goeree, Holt & Palfrey (2003), Games and Economic Behavior 45, 97-113",
        breaks=("common_payoff",),
    ),
    Mechanism(
        "worth",
        "relative to the range",
        "see payoffs as shares of what is at stake for a player in the game",
        """
        at_stake = own.max(axis=(-2, -1)) - own.min(axis=(-2, -1))
        own = 20.0 * own / xp.maximum(at_stake, 1e-9)[..., None, None]
        at_stake = other.max(axis=(-2, -1)) - other.min(axis=(-2, -1))
        other = 20.0 * other / xp.maximum(at_stake, 1e-9)[..., None, None]
        """,
        {},
        ("payoff_range", "payoff_size"),
        f"Parducci (1965), Psychological Review 72, 407-418; {WILCOX}",
        predictions=({"property": "ignores", "in": "scale"},),
        breaks=("payoff", "payoffs"),
    ),
)

SOCIAL = (
    Mechanism(
        "social",
        "inequity aversion",
        "dislike getting less than the other, and getting more",
        """
        gap = other - own
        behind, before = xp.maximum(gap, 0.0), xp.maximum(-gap, 0.0)
        envy, guilt = parameters["envy"][..., None, None], parameters["guilt"][..., None, None]
        gain = gain - envy * behind - guilt * before
        their_gain = their_gain - envy * before - guilt * behind
        """,
        {
            "envy": _weight("loss for a point that the other gets more"),
            "guilt": _weight("loss for a point that the other gets less"),
        },
        (*OTHERS, "behind_difference"),
        FEHR,
        breaks=("payoff", "payoffs", "common_payoff", "other_payoffs"),
    ),
    Mechanism(
        "social",
        "care for the other",
        "value what the other gets",
        """
        gain = gain + parameters["care"][..., None, None] * other
        their_gain = their_gain + parameters["care"][..., None, None] * own
        """,
        {"care": _weight("worth of a point that the other gets")},
        OTHERS,
        f"{CHARNESS}; Andreoni & Miller (2002), Econometrica 70, 737-753",
        breaks=("other_payoffs",),
    ),
)

AHEAD = """
up, across = own[..., 1, :] - own[..., 0, :], other[..., :, 1] - other[..., :, 0]
chance = 0.5 + 0.0 * up[..., 0]
"""
TASTES = (
    Mechanism(
        "tastes",
        "selfish others",
        "",
        f"own, other = own + gain, other{AHEAD}",
        {},
        (),
        COSTA_GOMES,
    ),
    Mechanism(
        "tastes",
        "others alike",
        "expect the other to have the same tastes as they have themselves",
        f"own, other = own + gain, other + their_gain{AHEAD}",
        {},
        OTHERS,
        "Ross, Greene & House (1977), Journal of Experimental Social Psychology 13, 279-301 (false consensus)",
        breaks=("payoff", "payoffs"),
    ),
)
DEEP = ("payoff", "payoffs", "other_payoffs")

BELIEF = (
    Mechanism(
        "belief",
        "any column",
        "take each of the other's columns to be as likely as the other",
        "",
        {},
        (),
        f"{STAHL} (level 1)",
        predictions=({"property": "ignores", "in": "other_payoffs"},),
    ),
    Mechanism(
        "belief",
        "a simple opponent",
        "expect the other to answer to chance, preferring the column that pays more on average",
        'chance = reply(across, chance, parameters["other_strictness"], xp)',
        {"other_strictness": STRICT},
        REPLIES,
        f"{STAHL}; {NAGEL} (level 2)",
        breaks=("other_payoffs",),
    ),
    Mechanism(
        "belief",
        "an opponent who thinks ahead",
        "expect the other to think ahead: to answer to what they would do themselves if they knew nothing",
        """
        strictness = parameters["other_strictness"]
        chance = reply(across, reply(up, chance, strictness, xp), strictness, xp)
        """,
        {"other_strictness": STRICT},
        REPLIES,
        f"{STAHL}; {NAGEL} (level 3)",
        breaks=DEEP,
    ),
    Mechanism(
        "belief",
        "some others think",
        "expect some others to take the column that pays more on average, and the rest to choose by chance",
        """
        better = leads(across, chance)
        decided = xp.where(better > 1e-9, 1.0, xp.where(better < -1e-9, 0.0, 0.5))
        chance = chance + parameters["thinking_share"] * (decided - chance)
        """,
        {"thinking_share": uniform(0.0, 1.0, "share", "others who think, as people believe")},
        REPLIES,
        f"{STAHL}; {COSTA_GOMES}",
        breaks=("other_payoffs",),
    ),
    Mechanism(
        "belief",
        "steps of thinking",
        "believe that others think few steps ahead, some none and some more, each answering to those who think less",
        """
        strictness, steps = parameters["other_strictness"], parameters["mean_steps"]
        weight, total = xp.exp(-steps), xp.exp(-steps)
        rows = columns = expected_rows = expected_columns = chance
        for level in range(1, 5):
            rows, columns = reply(up, expected_columns, strictness, xp), reply(across, expected_rows, strictness, xp)
            weight = weight * steps / level
            total = total + weight
            expected_rows = expected_rows + weight / total * (rows - expected_rows)
            expected_columns = expected_columns + weight / total * (columns - expected_columns)
        chance = expected_columns
        """,
        {
            "mean_steps": uniform(0.05, 5.0, "steps", "steps that others think on average"),
            "other_strictness": STRICT,
        },
        REPLIES,
        CAMERER,
        breaks=DEEP,
    ),
    Mechanism(
        "belief",
        "equilibrium",
        "expect the other to answer to what they themselves will do, each knowing the other's errors",
        """
        strictness, rows = parameters["other_strictness"], chance
        for _ in range(24):
            rows = 0.5 * (rows + reply(up, chance, strictness, xp))
            chance = 0.5 * (chance + reply(across, rows, strictness, xp))
        """,
        {"other_strictness": STRICT},
        REPLIES,
        MCKELVEY,
        breaks=DEEP,
    ),
    Mechanism(
        "belief",
        "noisy introspection",
        "think about what the other thinks about them, and so on, each step more blurred than the one before",
        """
        strictness, blur = parameters["other_strictness"], parameters["blur"]
        rows, columns = chance, chance
        for step in (4, 3, 2, 1, 0):
            blurred = strictness / blur**step
            rows, columns = reply(up, columns, blurred, xp), reply(across, rows, blurred, xp)
        chance = columns
        """,
        {
            "other_strictness": STRICT,
            "blur": log_uniform(1.05, 20.0, "ratio", "loss of strictness with each further step"),
        },
        REPLIES,
        GOEREE,
        breaks=DEEP,
    ),
)

EVALUATION = (
    Mechanism(
        "evaluation",
        "expected payoff",
        "compare what the rows pay against the columns expected",
        "lead = leads(up, chance)",
        {},
        MEANS,
        STAHL,
    ),
    Mechanism(
        "evaluation",
        "the worst payoff",
        "compare the worst that each row can pay",
        "lead = own[..., 1, :].min(axis=-1) - own[..., 0, :].min(axis=-1)",
        {},
        ("worst_difference",),
        "Wald (1950), Statistical decision functions (maximin)",
    ),
    Mechanism(
        "evaluation",
        "the best payoff",
        "compare the best that each row can pay",
        "lead = own[..., 1, :].max(axis=-1) - own[..., 0, :].max(axis=-1)",
        {},
        ("best_difference",),
        f"{COSTA_GOMES} (optimistic)",
    ),
    Mechanism(
        "evaluation",
        "the largest regret",
        "compare how much each row could make them regret",
        "lead = xp.maximum(up, 0.0).max(axis=-1) - xp.maximum(-up, 0.0).max(axis=-1)",
        {},
        ("mean_difference", "best_difference"),
        "Savage (1951), Journal of the American Statistical Association 46, 55-67 (minimax regret)",
    ),
)

POINTS = "points"
ATTENTION = (
    Mechanism(
        "attention",
        "worst payoff",
        "look at the worst that each row can pay",
        """
        worst = own[..., 1, :].min(axis=-1) - own[..., 0, :].min(axis=-1)
        lead = lead + parameters["caution"] * worst
        """,
        {"caution": _weight("weight of the worst payoff")},
        ("worst_difference",),
        "Wald (1950), Statistical decision functions (maximin)",
        breaks=("payoff", "payoffs"),
    ),
    Mechanism(
        "attention",
        "best payoff",
        "look at the best that each row can pay",
        """
        best = own[..., 1, :].max(axis=-1) - own[..., 0, :].max(axis=-1)
        lead = lead + parameters["hope"] * best
        """,
        {"hope": _weight("weight of the best payoff")},
        ("best_difference",),
        f"{COSTA_GOMES} (optimistic)",
        breaks=("payoff", "payoffs"),
    ),
    Mechanism(
        "attention",
        "largest sum",
        "are drawn to the row with the cell in which both together get most",
        """
        together = (own + other).max(axis=-1)
        lead = lead + parameters["efficiency"] * xp.sign(together[..., 1] - together[..., 0])
        """,
        {"efficiency": _weight("worth of having the largest sum in the row", 20.0, POINTS)},
        ("largest_sum", "other_mean_difference"),
        f"{CHARNESS}; Schelling (1960), The strategy of conflict (focal points)",
        breaks=("payoff", "payoffs", "other_payoffs"),
    ),
    Mechanism(
        "attention",
        "equal split",
        "are drawn to the row with the cell in which both get about the same",
        """
        apart = xp.abs(own - other).min(axis=-1)
        lead = lead + parameters["equality"] * xp.sign(apart[..., 0] - apart[..., 1])
        """,
        {"equality": _weight("worth of having the most equal cell in the row", 20.0, POINTS)},
        ("inequality_difference",),
        "Schelling (1960), The strategy of conflict (focal points); Bolton & Ockenfels (2000), American Economic "
        "Review 90, 166-193",
        breaks=("payoff", "payoffs", "common_payoff", "other_payoffs"),
    ),
    Mechanism(
        "attention",
        "dominant row",
        "notice a row that pays more whatever the other does",
        """
        dominant = 1.0 * (up.min(axis=-1) > 0) - (up.max(axis=-1) < 0)
        lead = lead + parameters["dominance"] * dominant
        """,
        {"dominance": _weight("worth of paying more in every column", 20.0, POINTS)},
        ("dominant_row",),
        f"{COSTA_GOMES} (dominance)",
        breaks=("payoff", "payoffs"),
    ),
    Mechanism(
        "attention",
        "safest equilibrium",
        "are drawn to the row of the equilibrium from which straying would cost both most",
        """
        own_loss, other_loss = own - own[..., ::-1, :], other - other[..., :, ::-1]
        stable = (own_loss >= 0) & (other_loss >= 0)
        safety = xp.where(stable, own_loss * other_loss, 0.0).max(axis=-1)
        lead = lead + parameters["risk_dominance"] * xp.sign(safety[..., 1] - safety[..., 0])
        """,
        {"risk_dominance": _weight("worth of the row's risk dominance", 20.0, POINTS)},
        ("n_equilibria", "dominant_column"),
        f"{HARSANYI} (risk dominance)",
        breaks=("payoff", "payoffs", "other_payoffs"),
    ),
    Mechanism(
        "attention",
        "richest equilibrium",
        "are drawn to the row of the equilibrium that pays them most",
        """
        stable = (own >= own[..., ::-1, :]) & (other >= other[..., :, ::-1])
        riches = xp.where(stable, own, -1e6).max(axis=-1)
        lead = lead + parameters["payoff_dominance"] * xp.sign(riches[..., 1] - riches[..., 0])
        """,
        {"payoff_dominance": _weight("worth of the row's payoff dominance", 20.0, POINTS)},
        ("n_equilibria", "best_difference"),
        f"{HARSANYI} (payoff dominance)",
        breaks=("payoff", "payoffs", "other_payoffs"),
    ),
)

SENSITIVITY = {"sensitivity": log_uniform(0.005, 5.0, "log odds per point", "strictness of choice")}
STRICTNESS = (
    Mechanism(
        "strictness",
        "constant",
        "choose the row that leads the more often, the larger its lead",
        'evidence = parameters["sensitivity"] * lead',
        SENSITIVITY,
        (),
        "Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        "strictness",
        "relative to the range",
        "judge a lead by what is at stake for them in the game",
        """
        at_stake = own.max(axis=(-2, -1)) - own.min(axis=(-2, -1))
        evidence = parameters["sensitivity"] * 20.0 * lead / xp.maximum(at_stake, 1e-9)
        """,
        SENSITIVITY,
        ("payoff_range",),
        WILCOX,
        breaks=("payoff", "payoffs"),
    ),
    Mechanism(
        "strictness",
        "trade-offs confuse",
        "choose less strictly the more the columns disagree about the better row",
        """
        disagreement = xp.abs(up).mean(axis=-1) - xp.abs(up.mean(axis=-1))
        evidence = parameters["sensitivity"] * lead / (1 + parameters["confusion"] * disagreement)
        """,
        SENSITIVITY
        | {"confusion": log_uniform(0.002, 2.0, "per point", "loss of strictness with trade-offs")},
        ("trade_off", "dominant_row"),
        ENKE,
        breaks=("payoff", "payoffs"),
    ),
)

CHOICE = (
    Mechanism(
        "choice",
        "logistic",
        "",
        "p = 0.5 * (1 + xp.tanh(0.5 * evidence))",
        {},
        (),
        "Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        "choice",
        "deterministic",
        "always choose the row that leads, and either where none does",
        "p = xp.where(evidence > 1e-9, 1.0, xp.where(evidence < -1e-9, 0.0, 0.5))",
        {},
        (),
        "Harless & Camerer (1994), Econometrica 62, 1251-1289",
        predictions=({"property": "deterministic"},),
        is_null=True,
    ),
)

LAPSE = (
    Mechanism(
        "lapse",
        "random",
        "now and then choose at random",
        'p = 0.5 * parameters["lapse"] + (1 - parameters["lapse"]) * p',
        {"lapse": uniform(0.0, 0.6, "share of choices", "choices made without looking")},
        (),
        "Harless & Camerer (1994), Econometrica 62, 1251-1289",
        is_null=True,
    ),
)

GRAMMAR = Grammar(
    domain="games",
    slots=(
        SkeletonSlot("worth", least=0),
        SkeletonSlot("social", least=0, most=2),
        SkeletonSlot("tastes"),
        SkeletonSlot("belief"),
        SkeletonSlot("evaluation"),
        SkeletonSlot("attention", least=0, most=3),
        SkeletonSlot("strictness"),
        SkeletonSlot("choice"),
        SkeletonSlot("lapse", least=0),
    ),
    mechanisms=worded(
        (
            *WORTH,
            *SOCIAL,
            *TASTES,
            *BELIEF,
            *EVALUATION,
            *ATTENTION,
            *STRICTNESS,
            *CHOICE,
            *LAPSE,
        ),
        WORDS,
    ),
    heads=HEADS,
    sentences=SENTENCES,
    before="""
        own, other = trials["own"][None], trials["other"][None]
        gain, their_gain = 0.0 * own, 0.0 * own
        """,
    after="return xp.stack([1 - p, p], axis=-1)",
    helpers=HELPERS,
    predictions=(
        {"property": "reverses", "in": "sides"},
        {"property": "ignores", "in": "columns"},
        {"property": "ignores", "in": "common_payoff"},
        {"property": "non_decreasing", "in": "payoff"},
        {"property": "non_decreasing", "in": "payoffs"},
    ),
)


def _composition(**slots: str | tuple[str, ...]) -> Composition:
    """Mechanisms by slot, over expected payoffs of selfish players and logistic choice with lapses."""
    named = {
        "tastes": "selfish others",
        "belief": "any column",
        "evaluation": "expected payoff",
        "strictness": "constant",
        "choice": "logistic",
        "lapse": "random",
    } | slots
    return Composition.of(named)


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "level_1": ("Level 1", _composition()),
    "level_2": ("Level 2", _composition(belief="a simple opponent")),
    "level_3": ("Level 3", _composition(belief="an opponent who thinks ahead")),
    "some_think": ("Levels mixed", _composition(belief="some others think")),
    "cognitive_hierarchy": ("Cognitive hierarchy", _composition(belief="steps of thinking")),
    "quantal_response": ("Quantal response equilibrium", _composition(belief="equilibrium")),
    "noisy_introspection": ("Noisy introspection", _composition(belief="noisy introspection")),
    "maximin": ("Maximin", _composition(evaluation="the worst payoff")),
    "maximax": ("Maximax", _composition(evaluation="the best payoff")),
    "minimax_regret": ("Minimax regret", _composition(evaluation="the largest regret")),
    "risk_averse_quantal_response": (
        "Risk-averse quantal response",
        _composition(worth="curved", belief="equilibrium"),
    ),
    "inequity_aversion": (
        "Inequity aversion, level 2",
        _composition(social="inequity aversion", belief="a simple opponent"),
    ),
    "altruism": ("Altruism, level 1", _composition(social="care for the other")),
    "focal_points": (
        "Focal points",
        _composition(attention=("largest sum", "equal split")),
    ),
    "risk_dominance": (
        "Risk dominance",
        _composition(belief="a simple opponent", attention="safest equilibrium"),
    ),
    "payoff_dominance": (
        "Payoff dominance",
        _composition(belief="a simple opponent", attention="richest equilibrium"),
    ),
    "complexity": (
        "Complexity-dependent noise",
        _composition(belief="a simple opponent", strictness="trade-offs confuse"),
    ),
}

FAMILY = Family("games", GRAMMAR, SEEDS, game_vocabulary)
