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
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

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

SHARE = 0.15
"""A point of the other, or of an extreme, that weighs so much deserves its clause."""

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
        slot="worth",
        name="curved",
        code="""
        # ten points are worth ten whatever the curvature
        own = 10.0 * (xp.maximum(own, 1e-9) / 10.0) ** parameters["curvature"][..., None, None]
        other = 10.0 * (xp.maximum(other, 1e-9) / 10.0) ** parameters["curvature"][..., None, None]
        """,
        parameters={
            "curvature": log_uniform(0.2, 2.5, "exponent", "how the worth of points grows")
        },
        wording=Wording(
            clause="value each further point {far}more than the one before",
            clause_short="more",
            opposite_clause="value each further point {far}less than the one before",
            opposite_short="less",
            parameter="curvature",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="increasing utility",
            opposite_label="diminishing utility",
        ),
        repairs=("payoff_size", "payoff_range", "best_difference"),
        breaks=("common_payoff",),
        source="Bernoulli (1738); Goeree, Holt & Palfrey (2003), Games and Economic Behavior 45, 97-113",
    ),
    Mechanism(
        slot="worth",
        name="relative to the range",
        clause="scale payoffs by the range at stake for each player",
        code="""
        at_stake = own.max(axis=(-2, -1)) - own.min(axis=(-2, -1))
        own = 20.0 * own / xp.maximum(at_stake, 1e-9)[..., None, None]
        at_stake = other.max(axis=(-2, -1)) - other.min(axis=(-2, -1))
        other = 20.0 * other / xp.maximum(at_stake, 1e-9)[..., None, None]
        """,
        repairs=("payoff_range", "payoff_size"),
        predictions=({"property": "ignores", "in": "scale"},),
        breaks=("payoff", "payoffs"),
        source=f"Parducci (1965), Psychological Review 72, 407-418; {WILCOX}",
    ),
)

SOCIAL = (
    Mechanism(
        slot="social",
        name="inequity aversion",
        code="""
        gap = other - own
        behind, before = xp.maximum(gap, 0.0), xp.maximum(-gap, 0.0)
        envy, guilt = parameters["envy"][..., None, None], parameters["guilt"][..., None, None]
        gain = gain - envy * behind - guilt * before
        their_gain = their_gain - envy * before - guilt * behind
        """,
        parameters={
            "envy": _weight("loss for a point that the other gets more"),
            "guilt": _weight("loss for a point that the other gets less"),
        },
        wording=(
            Wording(
                clause="{much}dislike earning less than the other player",
                opposite_clause="{much}like earning less than the other player",
                parameter="envy",
                unit=SHARE,
                label="envy",
                opposite_label="humility",
            ),
            Wording(
                clause="{much}dislike earning more than the other player",
                opposite_clause="{much}like earning more than the other player",
                parameter="guilt",
                unit=SHARE,
                label="guilt",
                opposite_label="pride",
            ),
        ),
        repairs=(*OTHERS, "behind_difference"),
        breaks=("payoff", "payoffs", "common_payoff", "other_payoffs"),
        source=FEHR,
    ),
    Mechanism(
        slot="social",
        name="care for the other",
        code="""
        gain = gain + parameters["care"][..., None, None] * other
        their_gain = their_gain + parameters["care"][..., None, None] * own
        """,
        parameters={"care": _weight("worth of a point that the other gets")},
        wording=Wording(
            clause="{much}add a share of the other player's payoff to their own",
            clause_short="add it",
            opposite_clause="{much}subtract a share of the other player's payoff from their own",
            opposite_short="subtract it",
            parameter="care",
            unit=SHARE,
            label="altruism",
            opposite_label="spite",
        ),
        repairs=OTHERS,
        breaks=("other_payoffs",),
        source=f"{CHARNESS}; Andreoni & Miller (2002), Econometrica 70, 737-753",
    ),
)

AHEAD = """
up, across = own[..., 1, :] - own[..., 0, :], other[..., :, 1] - other[..., :, 0]
chance = 0.5 + 0.0 * up[..., 0]
"""
TASTES = (
    Mechanism(
        slot="tastes",
        name="selfish others",
        code=f"own, other = own + gain, other{AHEAD}",
        source=COSTA_GOMES,
    ),
    Mechanism(
        slot="tastes",
        name="others alike",
        clause="expect the other player to have the same preferences as themselves",
        code=f"own, other = own + gain, other + their_gain{AHEAD}",
        repairs=OTHERS,
        breaks=("payoff", "payoffs"),
        source="Ross, Greene & House (1977), Journal of Experimental Social Psychology 13, 279-301 (false consensus)",
    ),
)
DEEP = ("payoff", "payoffs", "other_payoffs")

BELIEF = (
    Mechanism(
        slot="belief",
        name="any column",
        clause="choose the row with the higher mean payoff, as if all columns of the other player were equally likely",
        predictions=({"property": "ignores", "in": "other_payoffs"},),
        source=f"{STAHL} (level 1)",
    ),
    Mechanism(
        slot="belief",
        name="a simple opponent",
        clause=(
            "choose the row that is best against an opponent who favours the column that pays the opponent more on "
            "average"
        ),
        code='chance = reply(across, chance, parameters["other_strictness"], xp)',
        parameters={"other_strictness": STRICT},
        repairs=REPLIES,
        breaks=("other_payoffs",),
        source=f"{STAHL}; {NAGEL} (level 2)",
    ),
    Mechanism(
        slot="belief",
        name="an opponent who thinks ahead",
        clause=(
            "choose the row that is best against an opponent who best responds to the row that pays the player more on "
            "average"
        ),
        code="""
        strictness = parameters["other_strictness"]
        chance = reply(across, reply(up, chance, strictness, xp), strictness, xp)
        """,
        parameters={"other_strictness": STRICT},
        repairs=REPLIES,
        breaks=DEEP,
        source=f"{STAHL}; {NAGEL} (level 3)",
    ),
    Mechanism(
        slot="belief",
        name="some others think",
        code="""
        better = leads(across, chance)
        decided = xp.where(better > 1e-9, 1.0, xp.where(better < -1e-9, 0.0, 0.5))
        chance = chance + parameters["thinking_share"] * (decided - chance)
        """,
        parameters={
            "thinking_share": uniform(0.0, 1.0, "share", "others who think, as people believe")
        },
        wording=Wording(
            clause=(
                "respond to opponents of whom a share ({thinking_share%}) takes the column that pays more on "
                "average, while the rest choose at random"
            )
        ),
        repairs=REPLIES,
        breaks=("other_payoffs",),
        source=f"{STAHL}; {COSTA_GOMES}",
    ),
    Mechanism(
        slot="belief",
        name="steps of thinking",
        code="""
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
        parameters={
            "mean_steps": uniform(0.05, 5.0, "steps", "steps that others think on average"),
            "other_strictness": STRICT,
        },
        wording=Wording(
            clause=(
                "respond to a mixture of opponents who think different numbers of steps ahead ({mean_steps} on "
                "average), each responding to those who think fewer"
            )
        ),
        repairs=REPLIES,
        breaks=DEEP,
        source=CAMERER,
    ),
    Mechanism(
        slot="belief",
        name="equilibrium",
        clause=(
            "choose the better row more often, given correct expectations of the other player's choice "
            "probabilities, and expect the same of the other player (quantal response equilibrium)"
        ),
        code="""
        strictness, rows = parameters["other_strictness"], chance
        for _ in range(24):
            rows = 0.5 * (rows + reply(up, chance, strictness, xp))
            chance = 0.5 * (chance + reply(across, rows, strictness, xp))
        """,
        parameters={"other_strictness": STRICT},
        repairs=REPLIES,
        breaks=DEEP,
        source=MCKELVEY,
    ),
    Mechanism(
        slot="belief",
        name="noisy introspection",
        clause="reason about what the other player thinks about them, and so on, with more noise at each further step",
        code="""
        strictness, blur = parameters["other_strictness"], parameters["blur"]
        rows, columns = chance, chance
        for step in (4, 3, 2, 1, 0):
            blurred = strictness / blur**step
            rows, columns = reply(up, columns, blurred, xp), reply(across, rows, blurred, xp)
        chance = columns
        """,
        parameters={
            "other_strictness": STRICT,
            "blur": log_uniform(1.05, 20.0, "ratio", "loss of strictness with each further step"),
        },
        repairs=REPLIES,
        breaks=DEEP,
        source=GOEREE,
    ),
)

EVALUATION = (
    Mechanism(
        slot="evaluation",
        name="expected payoff",
        code="lead = leads(up, chance)",
        wording=Wording(
            clause="compare what the rows pay on average, by the columns that they expect",
            taken_for_granted=True,
        ),
        repairs=MEANS,
        source=STAHL,
    ),
    Mechanism(
        slot="evaluation",
        name="the worst payoff",
        clause="choose the row with the higher minimum payoff (maximin)",
        code="lead = own[..., 1, :].min(axis=-1) - own[..., 0, :].min(axis=-1)",
        repairs=("worst_difference",),
        source="Wald (1950), Statistical decision functions (maximin)",
    ),
    Mechanism(
        slot="evaluation",
        name="the best payoff",
        clause="choose the row with the higher maximum payoff (maximax)",
        code="lead = own[..., 1, :].max(axis=-1) - own[..., 0, :].max(axis=-1)",
        repairs=("best_difference",),
        source=f"{COSTA_GOMES} (optimistic)",
    ),
    Mechanism(
        slot="evaluation",
        name="the largest regret",
        clause="choose the row with the smaller maximum regret (minimax regret)",
        code="lead = xp.maximum(up, 0.0).max(axis=-1) - xp.maximum(-up, 0.0).max(axis=-1)",
        repairs=("mean_difference", "best_difference"),
        source="Savage (1951), Journal of the American Statistical Association 46, 55-67 (minimax regret)",
    ),
)

POINTS = "points"


def _drawn(what: str, parameter: str, *, label: str, opposite_label: str) -> Wording:
    """A row that attracts or repels; two points are worth the clause."""
    return Wording(
        clause=f"are {{much}}drawn to {what}",
        clause_short="are drawn to it",
        opposite_clause=f"{{much}}avoid {what}, other things being equal",
        opposite_short="avoid it",
        parameter=parameter,
        unit=2.0,
        multiplied_by="sensitivity",
        label=label,
        opposite_label=opposite_label,
    )


ATTENTION = (
    Mechanism(
        slot="attention",
        name="worst payoff",
        code="""
        worst = own[..., 1, :].min(axis=-1) - own[..., 0, :].min(axis=-1)
        lead = lead + parameters["caution"] * worst
        """,
        parameters={"caution": _weight("weight of the worst payoff")},
        wording=Wording(
            clause="{much}overweight the minimum payoff of each row",
            opposite_clause="{much}underweight the minimum payoff of each row",
            parameter="caution",
            unit=SHARE,
            feature="worst_difference",
            label="caution",
            opposite_label="recklessness",
        ),
        repairs=("worst_difference",),
        breaks=("payoff", "payoffs"),
        source="Wald (1950), Statistical decision functions (maximin)",
    ),
    Mechanism(
        slot="attention",
        name="best payoff",
        code="""
        best = own[..., 1, :].max(axis=-1) - own[..., 0, :].max(axis=-1)
        lead = lead + parameters["hope"] * best
        """,
        parameters={"hope": _weight("weight of the best payoff")},
        wording=Wording(
            clause="{much}overweight the maximum payoff of each row",
            opposite_clause="{much}underweight the maximum payoff of each row",
            parameter="hope",
            unit=SHARE,
            feature="best_difference",
            label="optimism",
            opposite_label="pessimism",
        ),
        repairs=("best_difference",),
        breaks=("payoff", "payoffs"),
        source=f"{COSTA_GOMES} (optimistic)",
    ),
    Mechanism(
        slot="attention",
        name="largest sum",
        code="""
        together = (own + other).max(axis=-1)
        lead = lead + parameters["efficiency"] * xp.sign(together[..., 1] - together[..., 0])
        """,
        parameters={
            "efficiency": _weight("worth of having the largest sum in the row", 20.0, POINTS)
        },
        wording=_drawn(
            "the row that contains the largest joint payoff",
            "efficiency",
            label="efficiency",
            opposite_label="inefficiency",
        ),
        repairs=("largest_sum", "other_mean_difference"),
        breaks=("payoff", "payoffs", "other_payoffs"),
        source=f"{CHARNESS}; Schelling (1960), The strategy of conflict (focal points)",
    ),
    Mechanism(
        slot="attention",
        name="equal split",
        code="""
        apart = xp.abs(own - other).min(axis=-1)
        lead = lead + parameters["equality"] * xp.sign(apart[..., 0] - apart[..., 1])
        """,
        parameters={
            "equality": _weight("worth of having the most equal cell in the row", 20.0, POINTS)
        },
        wording=_drawn(
            "the row that contains the most equal payoffs",
            "equality",
            label="equal splits",
            opposite_label="unequal splits",
        ),
        repairs=("inequality_difference",),
        breaks=("payoff", "payoffs", "common_payoff", "other_payoffs"),
        source="Schelling (1960), The strategy of conflict (focal points); Bolton & Ockenfels (2000), American "
        "Economic "
        "Review 90, 166-193",
    ),
    Mechanism(
        slot="attention",
        name="dominant row",
        code="""
        dominant = 1.0 * (up.min(axis=-1) > 0) - (up.max(axis=-1) < 0)
        lead = lead + parameters["dominance"] * dominant
        """,
        parameters={"dominance": _weight("worth of paying more in every column", 20.0, POINTS)},
        wording=_drawn(
            "a dominant row",
            "dominance",
            label="dominance",
            opposite_label="missed dominance",
        ),
        repairs=("dominant_row",),
        breaks=("payoff", "payoffs"),
        source=f"{COSTA_GOMES} (dominance)",
    ),
    Mechanism(
        slot="attention",
        name="safest equilibrium",
        code="""
        own_loss, other_loss = own - own[..., ::-1, :], other - other[..., :, ::-1]
        stable = (own_loss >= 0) & (other_loss >= 0)
        safety = xp.where(stable, own_loss * other_loss, 0.0).max(axis=-1)
        lead = lead + parameters["risk_dominance"] * xp.sign(safety[..., 1] - safety[..., 0])
        """,
        parameters={"risk_dominance": _weight("worth of the row's risk dominance", 20.0, POINTS)},
        wording=_drawn(
            "the row of the risk-dominant equilibrium",
            "risk_dominance",
            label="risk dominance",
            opposite_label="risky equilibria",
        ),
        repairs=("n_equilibria", "dominant_column"),
        breaks=("payoff", "payoffs", "other_payoffs"),
        source=f"{HARSANYI} (risk dominance)",
    ),
    Mechanism(
        slot="attention",
        name="richest equilibrium",
        code="""
        stable = (own >= own[..., ::-1, :]) & (other >= other[..., :, ::-1])
        riches = xp.where(stable, own, -1e6).max(axis=-1)
        lead = lead + parameters["payoff_dominance"] * xp.sign(riches[..., 1] - riches[..., 0])
        """,
        parameters={
            "payoff_dominance": _weight("worth of the row's payoff dominance", 20.0, POINTS)
        },
        wording=_drawn(
            "the row of the equilibrium with their highest payoff",
            "payoff_dominance",
            label="payoff dominance",
            opposite_label="best-equilibrium avoidance",
        ),
        repairs=("n_equilibria", "best_difference"),
        breaks=("payoff", "payoffs", "other_payoffs"),
        source=f"{HARSANYI} (payoff dominance)",
    ),
)

SENSITIVITY = {"sensitivity": log_uniform(0.005, 5.0, "log odds per point", "strictness of choice")}
STRICTNESS = (
    Mechanism(
        slot="strictness",
        name="constant",
        code='evidence = parameters["sensitivity"] * lead',
        parameters=SENSITIVITY,
        wording=Wording(
            clause="choose the better row more often, the larger the difference",
            taken_for_granted=True,
        ),
        source="Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        slot="strictness",
        name="relative to the range",
        clause="scale differences between rows by the range of their own payoffs in the game",
        code="""
        at_stake = own.max(axis=(-2, -1)) - own.min(axis=(-2, -1))
        evidence = parameters["sensitivity"] * 20.0 * lead / xp.maximum(at_stake, 1e-9)
        """,
        parameters=SENSITIVITY,
        repairs=("payoff_range",),
        breaks=("payoff", "payoffs"),
        source=WILCOX,
    ),
    Mechanism(
        slot="strictness",
        name="trade-offs confuse",
        clause="choose more randomly, the more evenly the columns are divided over which row is better",
        code="""
        disagreement = xp.abs(up).mean(axis=-1) - xp.abs(up.mean(axis=-1))
        evidence = parameters["sensitivity"] * lead / (1 + parameters["confusion"] * disagreement)
        """,
        parameters=SENSITIVITY
        | {"confusion": log_uniform(0.002, 2.0, "per point", "loss of strictness with trade-offs")},
        repairs=("trade_off", "dominant_row"),
        breaks=("payoff", "payoffs"),
        source=ENKE,
    ),
)

CHOICE = (
    Mechanism(
        slot="choice",
        name="logistic",
        code="p = 0.5 * (1 + xp.tanh(0.5 * evidence))",
        source="Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        slot="choice",
        name="deterministic",
        clause="choose the row that is ahead, however small its lead, and guess if none is ahead",
        code="p = xp.where(evidence > 1e-9, 1.0, xp.where(evidence < -1e-9, 0.0, 0.5))",
        predictions=({"property": "deterministic"},),
        is_null=True,
        source="Harless & Camerer (1994), Econometrica 62, 1251-1289",
    ),
)

LAPSE = (
    Mechanism(
        slot="lapse",
        name="random",
        code='p = 0.5 * parameters["lapse"] + (1 - parameters["lapse"]) * p',
        parameters={"lapse": uniform(0.0, 0.6, "share of choices", "lapse rate")},
        wording=Wording(clause="choose at random {lapse~}"),
        is_null=True,
        source="Harless & Camerer (1994), Econometrica 62, 1251-1289",
    ),
)

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

GRAMMAR = Grammar(
    domain="games",
    slots=(
        SkeletonSlot("worth", least=0),
        SkeletonSlot("social", least=0, most=2),
        SkeletonSlot("tastes"),
        SkeletonSlot("belief"),
        SkeletonSlot("evaluation"),
        SkeletonSlot("attention", least=0, most=3, sentence=2),
        SkeletonSlot("strictness", sentence=3),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(
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
    heads=HEADS,
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
