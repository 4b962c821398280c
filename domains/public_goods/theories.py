"""Theories of public goods games: what makes people give to a fund that is multiplied and shared by all.

The skeleton: each number of coins has a value, and is given the more often, the higher its value is. *Payoff* is what
giving costs and brings; *taste* and *rules* add what a coin given is worth by itself and under the rules of the game;
*opening* is for first rounds, where nothing is known of the others; *others* and *habit* draw people to what the
others, or they themselves, gave before; *reaction* is what deductions, rewards and gains of the last round do; *time*
is what rounds do; *heaps* are numbers that people like. A *choice* rule turns values into probabilities, and some
answers are *lapses*.

``level`` is the share given, ``(21,)``; ``slope`` is what giving all is worth more than giving nothing, ``(n_draws or
1, n_trials)``; ``value`` is what does not grow evenly with the share, ``(n_draws or 1, n_trials, 21)``. Values are log
odds. Numbers of coins that may not be given have a probability of 0, whatever the mechanisms are.

References:
    Ledyard (1995), Public goods: a survey of experimental research, in The handbook of experimental economics;
    Anderson, Goeree & Holt (1998), Journal of Public Economics 70, 297-323 (logit choice of contributions).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.kit.lapses import lapse
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.public_goods.task import ENDOWMENT, NUMBERS
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

ISAAC = "Isaac & Walker (1988), Quarterly Journal of Economics 103, 179-199"
TALK = "Isaac & Walker (1988), Economic Inquiry 26, 585-608 (communication)"
ANDREONI = "Andreoni (1995), American Economic Review 85, 891-904 (kindness or confusion)"
WARM = "Andreoni (1990), Economic Journal 100, 464-477; Palfrey & Prisbrey (1997), American Economic Review 87, 829-846"
ALTRUISM = "Goeree, Holt & Laury (2002), Journal of Public Economics 83, 255-276"
FISCHBACHER = "Fischbacher, Gächter & Fehr (2001), Economics Letters 71, 397-404"
IMPERFECT = "Fischbacher & Gächter (2010), American Economic Review 100, 541-556"
KESER = "Keser & van Winden (2000), Scandinavian Journal of Economics 102, 23-39"
INEQUITY = "Fehr & Schmidt (1999), Quarterly Journal of Economics 114, 817-868"
SANCTIONS = "Fehr & Gächter (2000), American Economic Review 90, 980-994"
REWARDS = "Sefton, Shupp & Walker (2007), Economic Inquiry 45, 671-690"
LEARNING = "Burton-Chellew & West (2013), PNAS 110, 216-221 (learning from payoffs)"
FRAMING = "Andreoni (1995), Quarterly Journal of Economics 110, 1-21; Cookson (2000), Experimental Economics 3, 55-79"
INERTIA = "Wood & Neal (2007), Psychological Review 114, 843-863 (habits); Erev & Roth (1998)"
CRITICAL = "Croson (2007), Economic Inquiry 45, 199-216 (the lowest, the highest or the middle of the others)"
END = "Keser & van Winden (2000); Selten & Stoecker (1986), Journal of Economic Behavior & Organization 7, 47-70"

HELPERS = '''
def only_available(p, available, xp):
    """Probabilities of what may be given; 0 of anything else."""
    p = p * available
    return p / p.sum(axis=-1)[..., None]
'''
WHOLE = "log odds of all coins against none"
ODDS = 0.8
"""Log odds of all coins against none that deserve their clause."""
PULL = log_uniform(
    0.02, 30.0, "log odds for each endowment away", "strictness with which people stay near"
)


def _odds(meaning: str, limit: float = 10.0, unit: str = WHOLE) -> Mapping[str, Any]:
    return normal(0.0, round(0.3 * limit, 6), limit, unit, meaning)


def _effect(
    *,
    parameter: str,
    clause: str,
    opposite_clause: str,
    label: str,
    opposite_label: str,
    of: str,
    meaning: str,
    feature: str = "",
    **more: Any,
) -> Mechanism:
    """A mechanism that makes giving all worth more in proportion to ``of``."""
    return Mechanism(
        code=f'slope = slope + parameters["{parameter}"] * {of}',
        parameters={parameter: _odds(meaning)},
        wording=Wording(
            clause=clause,
            opposite_clause=opposite_clause,
            parameter=parameter,
            unit=ODDS,
            feature=feature,
            label=label,
            opposite_label=opposite_label,
        ),
        **more,
    )


def _pull(*, parameter: str, to: str, **more: Any) -> Mechanism:
    """A mechanism that draws people towards the share ``to`` in all rounds but the first."""
    code = f"""
    away = xp.abs(level - {to}[..., None])
    value = value - (parameters["{parameter}"] * later)[..., None] * away
    """
    return Mechanism(code=code, parameters={parameter: PULL}, **more)


PAYOFF = (
    Mechanism(
        slot="payoff",
        name="cost of giving",
        clause="give less, the lower the return from the fund is",
        code='slope = slope - parameters["selfishness"] * (1 - returned)',
        parameters={
            "selfishness": log_uniform(0.02, 30.0, WHOLE, "weight of what giving costs oneself")
        },
        repairs=("return",),
        breaks=("multiplier",),
        source=f"{ISAAC} (marginal per capita return)",
    ),
    Mechanism(
        slot="payoff",
        name="coins kept",
        clause="prefer to keep their coins, whatever the fund brings",
        code='slope = slope - parameters["selfishness"]',
        parameters={"selfishness": log_uniform(0.02, 30.0, WHOLE, "worth of keeping all coins")},
        source="Null account of free riding",
    ),
    Mechanism(
        slot="payoff",
        name="cost and others' gain",
        code="""
        gained = parameters["altruism"] * (multiplier - returned)
        slope = slope - parameters["selfishness"] * (1 - returned) + gained
        """,
        parameters={
            "selfishness": log_uniform(0.02, 30.0, WHOLE, "weight of what giving costs oneself"),
            "altruism": _odds(
                "weight of what giving brings the others", 3.0, "log odds for each endowment"
            ),
        },
        wording=(
            Wording(clause="give less, the lower the return from the fund is"),
            Wording(
                clause="{much}value what the others gain from their contribution",
                opposite_clause="{much}dislike it if the others gain from their contribution",
                parameter="altruism",
                unit=0.2,
                label="altruism",
                opposite_label="rivalry",
            ),
        ),
        repairs=("return", "group_size"),
        breaks=("multiplier",),
        source=ALTRUISM,
    ),
    Mechanism(
        slot="payoff",
        name="no cost",
        source=f"{ANDREONI}: what people give does not depend on what it costs",
    ),
)
TASTE = (
    _effect(
        slot="taste",
        name="warm glow",
        parameter="warm_glow",
        clause="{much}like giving for its own sake",
        opposite_clause="{much}dislike giving, whatever it costs",
        of="1.0",
        meaning="worth of giving all for its own sake",
        label="warm glow",
        opposite_label="giving aversion",
        source=WARM,
    ),
    _effect(
        slot="taste",
        name="where coins lie",
        parameter="default_effect",
        clause="{much}leave their coins where they are at the start",
        opposite_clause="{much}avoid leaving their coins where they are at the start",
        of="(2 * starts_in_fund - 1)",
        meaning="worth of leaving all coins where they are",
        label="default effects",
        opposite_label="restlessness",
        feature="starts_in_fund",
        repairs=("starts_in_fund",),
        breaks=("sides",),
        needs=("starts_in_fund",),
        source=FRAMING,
    ),
)
RULES = (
    _effect(
        slot="rules",
        name="talk",
        parameter="trust",
        clause="give {far}more where they can talk to one another",
        opposite_clause="give {far}less where they can talk to one another",
        of="talk",
        meaning="what talk adds",
        label="trusted talk",
        opposite_label="distrusted talk",
        feature="talk",
        repairs=("talk",),
        breaks=("talk",),
        needs=("talk",),
        source=TALK,
    ),
    _effect(
        slot="rules",
        name="deductions possible",
        parameter="fear",
        clause="give {far}more where others can take coins from them",
        opposite_clause="give {far}less where others can take coins from them",
        of="can_deduct",
        meaning="what the possibility of deductions adds",
        label="deterrence",
        opposite_label="defiance",
        feature="deduction_effect",
        repairs=("deduction_effect",),
        breaks=("sanctions",),
        needs=("deductions",),
        source=SANCTIONS,
    ),
    _effect(
        slot="rules",
        name="rewards possible",
        parameter="expectancy",
        clause="give {far}more where others can reward them",
        opposite_clause="give {far}less where others can reward them",
        of="can_reward",
        meaning="what the possibility of rewards adds",
        label="reward expectations",
        opposite_label="reward disdain",
        feature="reward_effect",
        repairs=("reward_effect",),
        breaks=("sanctions",),
        needs=("rewards",),
        source=REWARDS,
    ),
    _effect(
        slot="rules",
        name="all or nothing",
        parameter="boldness",
        clause="give {far}more where they can only give all or nothing than where they can give any amount",
        opposite_clause="give {far}less where they can only give all or nothing than where they can give any amount",
        of="all_or_nothing",
        meaning="what the lack of a middle adds",
        label="all-or-nothing generosity",
        opposite_label="all-or-nothing caution",
        feature="all_or_nothing",
        repairs=("all_or_nothing",),
        source="Cadsby & Maynes (1999), Journal of Public Economics 71, 53-73 (binary contributions)",
    ),
)
OPENING = (
    Mechanism(
        slot="opening",
        name="a usual start",
        code="""
        away = xp.abs(level - (parameters["start"] + 0.0 * first)[..., None])
        value = value - (parameters["firmness"] * first)[..., None] * away
        """,
        parameters={
            "start": uniform(0.0, 1.0, "share of the coins", "share given in a first round"),
            "firmness": PULL,
        },
        wording=Wording(
            clause="contribute [about {start%} of their coins|a usual amount] in the first round"
        ),
        repairs=("first_round",),
        source=IMPERFECT,
    ),
    _effect(
        slot="opening",
        name="a generous start",
        parameter="opening",
        clause="give {far}more in a first round",
        opposite_clause="give {far}less in a first round",
        of="first",
        meaning="what a first round adds",
        label="generous starts",
        opposite_label="careful starts",
        feature="first_round",
        repairs=("first_round",),
        source=ISAAC,
    ),
)
GAVE = ("others", "others_minus_own")
PAST = ("others_past",)
OTHERS = (
    _pull(
        slot="others",
        name="match the average",
        parameter="matching",
        clause="give about what the others gave on average",
        to="others",
        repairs=GAVE,
        breaks=PAST,
        source=f"{KESER}; {FISCHBACHER}",
    ),
    Mechanism(
        slot="others",
        name="match a part",
        code="""
        away = xp.abs(level - (parameters["part"] * others)[..., None])
        value = value - (parameters["part_matching"] * later)[..., None] * away
        """,
        parameters={
            "part_matching": PULL,
            "part": uniform(0.2, 1.2, "share", "part of the others' mean that is matched"),
        },
        wording=Wording(clause="give about [{part%}|a part] of what the others gave on average"),
        repairs=GAVE,
        breaks=PAST,
        source=f"{FISCHBACHER}; {IMPERFECT} (imperfect conditional cooperation)",
    ),
    Mechanism(
        slot="others",
        name="inequity aversion",
        code="""
        over = level - others[..., None]
        value = value - (parameters["envy"] * later)[..., None] * xp.maximum(over, 0.0)
        value = value - (parameters["guilt"] * later)[..., None] * xp.maximum(-over, 0.0)
        """,
        parameters={
            "envy": _odds("loss for each endowment given beyond the others' mean"),
            "guilt": _odds("loss for each endowment given below the others' mean"),
        },
        wording=(
            Wording(
                clause="{much}dislike giving more than the others give",
                opposite_clause="{much}like giving more than the others give",
                parameter="envy",
                unit=ODDS,
                label="envy",
                opposite_label="leadership",
            ),
            Wording(
                clause="{much}dislike giving less than the others give",
                opposite_clause="{much}like giving less than the others give",
                parameter="guilt",
                unit=ODDS,
                label="guilt",
                opposite_label="shamelessness",
            ),
        ),
        repairs=GAVE,
        breaks=PAST,
        source=f"{INEQUITY} (others taken to give as on average last time)",
    ),
    _pull(
        slot="others",
        name="follow the lowest",
        parameter="following_low",
        clause="give about what the lowest contributor gave",
        to="lowest",
        repairs=("others_lowest",),
        breaks=PAST,
        source=CRITICAL,
    ),
    _pull(
        slot="others",
        name="follow the highest",
        parameter="following_high",
        clause="give about what the highest contributor gave",
        to="highest",
        repairs=("others_highest",),
        breaks=PAST,
        source=CRITICAL,
    ),
)
OWN = ("own_past",)
HABIT = (
    _pull(
        slot="habit",
        name="near the last gift",
        parameter="inertia",
        clause="give about what they gave in the previous round",
        to="own",
        repairs=("own", "others_minus_own"),
        breaks=OWN,
        source=INERTIA,
    ),
    Mechanism(
        slot="habit",
        name="the same again",
        code="""
        same = 1.0 * (xp.abs(level - own[..., None]) < 0.01)
        value = value + (parameters["repetition"] * later)[..., None] * same
        """,
        parameters={"repetition": _odds("what giving the same again adds", 8.0, "log odds")},
        wording=Wording(
            clause="{much}tend to give exactly what they gave in the round before",
            opposite_clause="{much}avoid giving exactly what they gave in the round before",
            parameter="repetition",
            unit=ODDS,
            label="repetition",
            opposite_label="variety",
        ),
        repairs=("own",),
        breaks=OWN,
        source=INERTIA,
    ),
    _pull(
        slot="habit",
        name="near their average",
        parameter="custom",
        clause="give about what they themselves gave on average",
        to="average",
        repairs=("own_average",),
        breaks=OWN,
        source=f"{INERTIA}; stable types: {IMPERFECT}",
    ),
)
REACTION = (
    _effect(
        slot="reaction",
        name="to deductions",
        parameter="deterrence",
        clause="give {far}more after coins were taken from them",
        opposite_clause="give {far}less after coins were taken from them",
        of="deducted / (deducted + 0.25)",
        meaning="what large deductions add",
        label="compliance",
        opposite_label="retaliation",
        repairs=("deducted",),
        breaks=("deducted",),
        needs=("deducted",),
        source=SANCTIONS,
    ),
    _effect(
        slot="reaction",
        name="to rewards",
        parameter="encouragement",
        clause="give {far}more after others rewarded them",
        opposite_clause="give {far}less after others rewarded them",
        of="rewarded / (rewarded + 0.25)",
        meaning="what large rewards add",
        label="encouragement",
        opposite_label="complacency",
        repairs=("rewarded",),
        breaks=("rewarded",),
        needs=("rewarded",),
        source=REWARDS,
    ),
    _effect(
        slot="reaction",
        name="to falling behind",
        parameter="resentment",
        clause="give {far}less after they gained less than the others",
        opposite_clause="give {far}more after they gained less than the others",
        of="(-xp.clip(-ahead, 0.0, 1.0))",
        meaning="what having gained one endowment less takes away",
        label="resentment",
        opposite_label="forbearance",
        repairs=("ahead",),
        breaks=("ahead",),
        source=f"{LEARNING}; {INEQUITY}",
    ),
)
TIME = (
    _effect(
        slot="time",
        name="decay",
        parameter="decay",
        clause="give {far}less from round to round",
        opposite_clause="give {far}more from round to round",
        of="(-xp.log(number))",
        meaning="what each increase of the rounds by a factor of 2.7 takes away",
        label="decay",
        opposite_label="growth",
        repairs=("round",),
        breaks=("time",),
        source=f"{ISAAC}; {ANDREONI}",
    ),
    _effect(
        slot="time",
        name="last round",
        parameter="last_round",
        clause="give {far}less in a round that they know to be the last",
        opposite_clause="give {far}more in a round that they know to be the last",
        of="(-end_known * (left < 0.5))",
        meaning="what the last round takes away",
        label="selfish ends",
        opposite_label="generous ends",
        repairs=("nearness_of_end",),
        breaks=("time",),
        needs=("n_rounds",),
        source=END,
    ),
    _effect(
        slot="time",
        name="nearness of the end",
        parameter="end_effect",
        clause="give {far}less as a known final round approaches",
        opposite_clause="give {far}more as a known final round approaches",
        of="(-end_known / (1 + left))",
        meaning="what the last round takes away; the one before, half of it",
        label="end effects",
        opposite_label="rising ends",
        repairs=("nearness_of_end",),
        breaks=("time",),
        needs=("n_rounds",),
        source=END,
    ),
)
HEAPS = (
    Mechanism(
        slot="heaps",
        name="multiples of five",
        code=f"""
        fives = 1.0 * (xp.abs(xp.sin(3.141592653589793 * {ENDOWMENT} / 5 * level)) < 1e-6)
        value = value + parameters["roundness"][..., None] * fives
        """,
        parameters={"roundness": _odds("what being a multiple of five adds", 6.0, "log odds")},
        wording=Wording(
            clause="{much}prefer to give multiples of five coins",
            clause_short="prefer to give them",
            opposite_clause="{much}avoid giving multiples of five coins",
            opposite_short="avoid it",
            parameter="roundness",
            unit=ODDS,
            label="round numbers",
            opposite_label="unround amounts",
        ),
        repairs=("all_or_nothing",),
        source="Albers & Albers (1983), On the prominence theory of tuning; Selten (1987)",
    ),
    Mechanism(
        slot="heaps",
        name="all or none",
        code="""
        ends = 1.0 * (xp.abs(2 * level - 1) > 0.99)
        value = value + parameters["extremity"][..., None] * ends
        """,
        parameters={"extremity": _odds("what giving all or nothing adds", 8.0, "log odds")},
        wording=Wording(
            clause="{much}tend to give all of their coins or none",
            clause_short="tend to give all or none",
            opposite_clause="{much}avoid giving all of their coins or none",
            opposite_short="avoid it",
            parameter="extremity",
            unit=ODDS,
            label="extremes",
            opposite_label="moderation",
        ),
        repairs=("all_or_nothing",),
        source=f"{ANDREONI}; Goeree, Holt & Laury (2002)",
    ),
)
CHOICE = (
    Mechanism(
        slot="choice",
        name="logistic",
        code="""
        value = value + slope[..., None] * (level - 0.5)
        value = value - (value - 1e6 * (1 - available)).max(axis=-1)[..., None]
        p = only_available(xp.exp(xp.clip(value, -500.0, 0.0)), available, xp)
        """,
        source="Luce (1959), Individual choice behavior; Anderson, Goeree & Holt (1998)",
    ),
)
LAPSE = (
    lapse(
        "anything",
        """
        anything = only_available(1.0 + 0.0 * available, available, xp)
        p = p + parameters["lapse"][..., None] * (anything - p)
        """,
        "give a random amount {lapse~}",
        f"{ANDREONI} (confusion)",
        meaning="gifts without a reason",
        most=0.5,
    ),
)
NAMES = {
    "own_average": "average",
    "others_lowest": "lowest",
    "others_highest": "highest",
    "round": "number",
    "rounds_left": "left",
}
UNPACKED = "\n".join(
    f'{NAMES.get(name, name)} = trials["{name}"][None]' for name in NUMBERS if "cost" not in name
)
BEFORE = f"""
{UNPACKED}
available = trials["available"][None]
level = xp.linspace(0.0, 1.0, {ENDOWMENT + 1})
first = 1.0 * (number < 1.5)
later = 1.0 - first
returned = multiplier / group_size
can_deduct, can_reward = 1.0 * (deduction_effect > 0), 1.0 * (reward_effect > 0)
all_or_nothing = 1.0 * (available.sum(axis=-1) < 2.5)
slope, value = 0.0 * returned, 0.0 * available
"""

HEADS = (
    (("others:match the average", "habit"), "Matching and habit"),
    (("others:match a part", "habit"), "Partly matching habit"),
    (("others:inequity aversion", "habit"), "Inequity-averse habit"),
    (("others:match the average",), "Conditional cooperation"),
    (("others:match a part",), "Proportional cooperation"),
    (("others:inequity aversion",), "Inequity aversion"),
    (("others:follow the lowest",), "Following the lowest"),
    (("others:follow the highest",), "Following the highest"),
    (("habit",), "Habit"),
    (("payoff:cost and others' gain",), "Altruism"),
    (("payoff:cost of giving",), "Response to the return"),
    (("payoff:coins kept",), "Free riding"),
    ((), "Giving by chance"),
)

GRAMMAR = Grammar(
    domain="public_goods",
    slots=(
        SkeletonSlot("payoff"),
        SkeletonSlot("taste", least=0, most=2, sentence=2),
        SkeletonSlot("rules", least=0, most=3, sentence=2),
        SkeletonSlot("opening", least=0, most=2, sentence=3),
        SkeletonSlot("others", least=0, most=2),
        SkeletonSlot("habit", least=0, most=3),
        SkeletonSlot("reaction", least=0, most=2, sentence=2),
        SkeletonSlot("time", least=0, most=2, sentence=3),
        SkeletonSlot("heaps", least=0, most=2, sentence=3),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(
        *PAYOFF,
        *TASTE,
        *RULES,
        *OPENING,
        *OTHERS,
        *HABIT,
        *REACTION,
        *TIME,
        *HEAPS,
        *CHOICE,
        *LAPSE,
    ),
    heads=HEADS,
    before=BEFORE,
    after="return only_available(p, available, xp)",
    helpers=HELPERS,
    predictions=tuple(
        {"property": "ignores", "in": varied}
        for varied in (
            "own_past",
            "others_past",
            "deducted",
            "rewarded",
            "ahead",
            "multiplier",
            "talk",
            "sanctions",
            "time",
            "sides",
        )
    ),
)


def _composition(payoff: str = "cost of giving", **slots: str | tuple[str, ...]) -> Composition:
    """Mechanisms by slot, over logistic choice with lapses."""
    named = {"payoff": payoff, "choice": "logistic", "lapse": "anything"} | slots
    return Composition.of(named)


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "free_riding": ("Free riding with noise", _composition("coins kept")),
    "return": ("Response to the return", _composition()),
    "altruism": ("Altruism", _composition("cost and others' gain")),
    "warm_glow": ("Warm glow", _composition(taste="warm glow")),
    "conditional_cooperation": (
        "Conditional cooperation",
        _composition("no cost", others="match the average", opening="a usual start"),
    ),
    "imperfect_cooperation": (
        "Imperfect conditional cooperation",
        _composition("no cost", others="match a part", opening="a usual start"),
    ),
    "inequity_aversion": ("Inequity aversion", _composition(others="inequity aversion")),
    "habit": (
        "Habit",
        _composition(
            "no cost", habit=("near the last gift", "the same again"), opening="a usual start"
        ),
    ),
    "matching_and_habit": (
        "Conditional cooperation and habit",
        _composition(
            "no cost",
            others="match the average",
            habit="near the last gift",
            opening="a usual start",
        ),
    ),
    "decaying_warm_glow": (
        "Warm glow with decay",
        _composition(taste="warm glow", time=("decay", "nearness of the end")),
    ),
}

FAMILY = Family("public_goods", GRAMMAR, SEEDS)
