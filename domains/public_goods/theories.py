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

from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.public_goods.task import ENDOWMENT, NUMBERS
from lakatos.domains.public_goods.wording import HEADS, SENTENCES, WORDS
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot, worded

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
PULL = log_uniform(
    0.02, 30.0, "log odds for each endowment away", "strictness with which people stay near"
)


def _odds(meaning: str, limit: float = 10.0, unit: str = WHOLE) -> Mapping[str, Any]:
    return normal(0.0, round(0.3 * limit, 6), limit, unit, meaning)


def _effect(
    slot: str, name: str, claim: str, by: str, of: str, meaning: str, **more: Any
) -> Mechanism:
    """A mechanism that makes giving all worth more in proportion to ``of``."""
    code = f'slope = slope + parameters["{by}"] * {of}'
    return Mechanism(slot, name, claim, code, {by: _odds(meaning)}, **more)


def _pull(slot: str, name: str, claim: str, by: str, to: str, **more: Any) -> Mechanism:
    """A mechanism that draws people towards the share ``to`` in all rounds but the first."""
    code = f"""
    away = xp.abs(level - {to}[..., None])
    value = value - (parameters["{by}"] * later)[..., None] * away
    """
    return Mechanism(slot, name, claim, code, {by: PULL}, **more)


PAYOFF = (
    Mechanism(
        "payoff",
        "cost of giving",
        "give the less, the more of each coin given is lost to them",
        'slope = slope - parameters["selfishness"] * (1 - returned)',
        {"selfishness": log_uniform(0.02, 30.0, WHOLE, "weight of what giving costs oneself")},
        ("return",),
        f"{ISAAC} (marginal per capita return)",
        breaks=("multiplier",),
    ),
    Mechanism(
        "payoff",
        "coins kept",
        "would rather keep their coins, whatever the fund brings",
        'slope = slope - parameters["selfishness"]',
        {"selfishness": log_uniform(0.02, 30.0, WHOLE, "worth of keeping all coins")},
        (),
        "Null account of free riding",
    ),
    Mechanism(
        "payoff",
        "cost and others' gain",
        "weigh what giving costs them against what it brings all others together",
        """
        gained = parameters["altruism"] * (multiplier - returned)
        slope = slope - parameters["selfishness"] * (1 - returned) + gained
        """,
        {
            "selfishness": log_uniform(0.02, 30.0, WHOLE, "weight of what giving costs oneself"),
            "altruism": _odds(
                "weight of what giving brings the others", 3.0, "log odds for each endowment"
            ),
        },
        ("return", "group_size"),
        ALTRUISM,
        breaks=("multiplier",),
    ),
    Mechanism(
        "payoff",
        "no cost",
        "",
        "",
        {},
        (),
        f"{ANDREONI}: what people give does not depend on what it costs",
    ),
)
TASTE = (
    _effect(
        "taste", "warm glow", "like to give for its own sake", "warm_glow", "1.0",
        "worth of giving all for its own sake", citation=WARM,
    ),
    _effect(
        "taste", "where coins lie", "leave their coins where they lie to begin with", "default_effect",
        "(2 * starts_in_fund - 1)", "worth of leaving all coins where they are", answers=("starts_in_fund",),
        citation=FRAMING, breaks=("sides",),
    ),
)  # fmt: skip
RULES = (
    _effect(
        "rules", "talk", "give more where they can talk to one another", "trust", "talk",
        "what talk adds", answers=("talk",), citation=TALK, breaks=("talk",),
    ),
    _effect(
        "rules", "deductions possible", "give more where others can take coins from them", "fear",
        "can_deduct", "what the possibility of deductions adds", answers=("deduction_effect",),
        citation=SANCTIONS, breaks=("sanctions",),
    ),
    _effect(
        "rules", "rewards possible", "give more where others can reward them", "expectancy", "can_reward",
        "what the possibility of rewards adds", answers=("reward_effect",), citation=REWARDS,
        breaks=("sanctions",),
    ),
    _effect(
        "rules", "all or nothing", "give more where they can only give all or nothing", "boldness",
        "all_or_nothing", "what the lack of a middle adds", answers=("all_or_nothing",),
        citation="Cadsby & Maynes (1999), Journal of Public Economics 71, 53-73 (binary contributions)",
    ),
)  # fmt: skip
OPENING = (
    Mechanism(
        "opening",
        "a usual start",
        "begin near an amount of their own",
        """
        away = xp.abs(level - (parameters["start"] + 0.0 * first)[..., None])
        value = value - (parameters["firmness"] * first)[..., None] * away
        """,
        {
            "start": uniform(0.0, 1.0, "share of the coins", "share given in a first round"),
            "firmness": PULL,
        },
        ("first_round",),
        IMPERFECT,
    ),
    _effect(
        "opening", "a generous start", "give more in a first round", "opening", "first",
        "what a first round adds", answers=("first_round",), citation=ISAAC,
    ),
)  # fmt: skip
GAVE = ("others", "others_minus_own")
PAST = ("others_past",)
OTHERS = (
    _pull(
        "others", "match the average", "give about as much as the others gave on average", "matching",
        "others", answers=GAVE, citation=f"{KESER}; {FISCHBACHER}", breaks=PAST,
    ),
    Mechanism(
        "others",
        "match a part",
        "give a part of what the others gave on average",
        """
        away = xp.abs(level - (parameters["part"] * others)[..., None])
        value = value - (parameters["part_matching"] * later)[..., None] * away
        """,
        {"part_matching": PULL, "part": uniform(0.2, 1.2, "share", "part of the others' mean that is matched")},
        GAVE,
        f"{FISCHBACHER}; {IMPERFECT} (imperfect conditional cooperation)",
        breaks=PAST,
    ),
    Mechanism(
        "others",
        "inequity aversion",
        "dislike giving more than the others, and giving less",
        """
        over = level - others[..., None]
        value = value - (parameters["envy"] * later)[..., None] * xp.maximum(over, 0.0)
        value = value - (parameters["guilt"] * later)[..., None] * xp.maximum(-over, 0.0)
        """,
        {
            "envy": _odds("loss for each endowment given beyond the others' mean"),
            "guilt": _odds("loss for each endowment given below the others' mean"),
        },
        GAVE,
        f"{INEQUITY} (others taken to give as on average last time)",
        breaks=PAST,
    ),
    _pull(
        "others", "follow the lowest", "give about as little as whoever gave least", "following_low",
        "lowest", answers=("others_lowest",), citation=CRITICAL, breaks=PAST,
    ),
    _pull(
        "others", "follow the highest", "give about as much as whoever gave most", "following_high",
        "highest", answers=("others_highest",), citation=CRITICAL, breaks=PAST,
    ),
)  # fmt: skip
OWN = ("own_past",)
HABIT = (
    _pull(
        "habit", "near the last gift", "give about as much as they gave last", "inertia", "own",
        answers=("own", "others_minus_own"), citation=INERTIA, breaks=OWN,
    ),
    Mechanism(
        "habit",
        "the same again",
        "give exactly what they gave last",
        """
        same = 1.0 * (xp.abs(level - own[..., None]) < 0.01)
        value = value + (parameters["repetition"] * later)[..., None] * same
        """,
        {"repetition": _odds("what giving the same again adds", 8.0, "log odds")},
        ("own",),
        INERTIA,
        breaks=OWN,
    ),
    _pull(
        "habit", "near their average", "give about as much as they gave on average", "custom", "average",
        answers=("own_average",), citation=f"{INERTIA}; stable types: {IMPERFECT}", breaks=OWN,
    ),
)  # fmt: skip
REACTION = (
    _effect(
        "reaction", "to deductions", "give more after coins were taken from them", "deterrence",
        "deducted / (deducted + 0.25)", "what large deductions add", answers=("deducted",),
        citation=SANCTIONS, breaks=("deducted",),
    ),
    _effect(
        "reaction", "to rewards", "give more after they were rewarded", "encouragement",
        "rewarded / (rewarded + 0.25)", "what large rewards add", answers=("rewarded",), citation=REWARDS,
        breaks=("rewarded",),
    ),
    _effect(
        "reaction", "to falling behind", "give less after they gained less than the others", "resentment",
        "(-xp.clip(-ahead, 0.0, 1.0))", "what having gained one endowment less takes away",
        answers=("ahead",), citation=f"{LEARNING}; {INEQUITY}", breaks=("ahead",),
    ),
)  # fmt: skip
TIME = (
    _effect(
        "time", "decay", "give less from round to round", "decay", "(-xp.log(number))",
        "what each increase of the rounds by a factor of 2.7 takes away", answers=("round",),
        citation=f"{ISAAC}; {ANDREONI}", breaks=("time",),
    ),
    _effect(
        "time", "last round", "give less in a round that they know to be the last", "last_round",
        "(-end_known * (left < 0.5))", "what the last round takes away", answers=("nearness_of_end",),
        citation=END, breaks=("time",),
    ),
    _effect(
        "time", "nearness of the end", "give less, the nearer the end is that they know of", "end_effect",
        "(-end_known / (1 + left))", "what the last round takes away; the one before, half of it",
        answers=("nearness_of_end",), citation=END, breaks=("time",),
    ),
)  # fmt: skip
HEAPS = (
    Mechanism(
        "heaps",
        "multiples of five",
        "like multiples of five coins",
        f"""
        fives = 1.0 * (xp.abs(xp.sin(3.141592653589793 * {ENDOWMENT} / 5 * level)) < 1e-6)
        value = value + parameters["roundness"][..., None] * fives
        """,
        {"roundness": _odds("what being a multiple of five adds", 6.0, "log odds")},
        ("all_or_nothing",),
        "Albers & Albers (1983), On the prominence theory of tuning; Selten (1987)",
    ),
    Mechanism(
        "heaps",
        "all or none",
        "give all of their coins or none",
        """
        ends = 1.0 * (xp.abs(2 * level - 1) > 0.99)
        value = value + parameters["extremity"][..., None] * ends
        """,
        {"extremity": _odds("what giving all or nothing adds", 8.0, "log odds")},
        ("all_or_nothing",),
        f"{ANDREONI}; Goeree, Holt & Laury (2002)",
    ),
)
CHOICE = (
    Mechanism(
        "choice",
        "logistic",
        "",
        """
        value = value + slope[..., None] * (level - 0.5)
        value = value - (value - 1e6 * (1 - available)).max(axis=-1)[..., None]
        p = only_available(xp.exp(xp.clip(value, -500.0, 0.0)), available, xp)
        """,
        {},
        (),
        "Luce (1959), Individual choice behavior; Anderson, Goeree & Holt (1998)",
    ),
)
LAPSE = (
    Mechanism(
        "lapse",
        "anything",
        "now and then give any amount",
        """
        anything = only_available(1.0 + 0.0 * available, available, xp)
        p = p + parameters["lapse"][..., None] * (anything - p)
        """,
        {"lapse": uniform(0.0, 0.5, "share of answers", "gifts without a reason")},
        (),
        f"{ANDREONI} (confusion)",
        is_null=True,
    ),
)
NAMES = {"own_average": "average", "others_lowest": "lowest", "others_highest": "highest", "round": "number",
         "rounds_left": "left"}  # fmt: skip
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

GRAMMAR = Grammar(
    domain="public_goods",
    slots=(
        SkeletonSlot("payoff"),
        SkeletonSlot("taste", least=0, most=2),
        SkeletonSlot("rules", least=0, most=3),
        SkeletonSlot("opening", least=0, most=2),
        SkeletonSlot("others", least=0, most=2),
        SkeletonSlot("habit", least=0, most=3),
        SkeletonSlot("reaction", least=0, most=2),
        SkeletonSlot("time", least=0, most=2),
        SkeletonSlot("heaps", least=0, most=2),
        SkeletonSlot("choice"),
        SkeletonSlot("lapse", least=0),
    ),
    mechanisms=worded(
        (
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
        WORDS,
    ),
    heads=HEADS,
    sentences=SENTENCES,
    before=BEFORE,
    after="return only_available(p, available, xp)",
    helpers=HELPERS,
    predictions=tuple(
        {"property": "ignores", "in": varied}
        for varied in ("own_past", "others_past", "deducted", "rewarded", "ahead", "multiplier", "talk", "sanctions",
                       "time", "sides")
    ),
)  # fmt: skip


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
        "Warm glow, decaying",
        _composition(taste="warm glow", time=("decay", "nearness of the end")),
    ),
}

FAMILY = Family("public_goods", GRAMMAR, SEEDS)
