"""Words for theories of public goods games; `theories.language.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
ODDS = 0.8
"""Log odds of all coins against none that are worth a word."""


def _moved(
    says: str, opposite: str, by: str, label: str, other: str, shows: str = ""
) -> tuple[dict[str, Any], ...]:
    entry = {
        "says": says,
        "opposite": opposite,
        "by": by,
        "unit": ODDS,
        "label": label,
        "opposite_label": other,
    }
    return (entry | ({"shows": shows} if shows else {}),)


WORDS: Words = {
    "payoff:cost and others' gain": (
        {"says": "give less, the more of each coin given is lost to them"},
        {"says": "{much}value what their coins bring all others together",
         "opposite": "{much}dislike what their coins bring all others together", "by": "altruism", "unit": 0.2,
         "label": "altruism", "opposite_label": "rivalry"},
    ),
    "payoff:cost of giving": ({"says": "give less, the more of each coin given is lost to them"},),
    "payoff:no cost": ({"says": ""},),
    "taste:warm glow": _moved(
        "{much}like giving for its own sake",
        "{much}dislike giving, whatever it costs", "warm_glow", "warm glow",
        "cold shoulders",
    ),
    "taste:where coins lie": _moved(
        "{much}leave their coins where they lie to begin with",
        "{much}move their coins from where they lie to begin with",
        "default_effect", "default effects", "restlessness", "starts_in_fund",
    ),
    "rules:talk": _moved(
        "give {far}more where they can talk to one another",
        "give {far}less where they can talk to one another",
        "trust", "trusted talk", "distrusted talk", "talk",
    ),
    "rules:deductions possible": _moved(
        "give {far}more where others can take coins from them",
        "give {far}less where others can take coins from them",
        "fear", "deterrence", "defiance", "deduction_effect",
    ),
    "rules:rewards possible": _moved(
        "give {far}more where others can reward them",
        "give {far}less where others can reward them",
        "expectancy", "reward hopes", "reward disdain", "reward_effect",
    ),
    "rules:all or nothing": _moved(
        "give {far}more where they can only give all or nothing",
        "give {far}less where they can only give all or nothing", "boldness", "boldness", "caution", "all_or_nothing",
    ),
    "opening:a usual start": ({"says": "begin near an amount of their own (about {start%} of their coins)"},),
    "opening:a generous start": _moved(
        "give {far}more in a first round",
        "give {far}less in a first round", "opening", "generous starts",
        "careful starts", "first_round",
    ),
    "others:match a part": (
        {"says": "give a part of what the others gave on average ({part%} of it)"},
    ),
    "others:inequity aversion": (
        {"says": "{much}dislike giving more than the others", "opposite": "{much}like giving more than the others",
         "by": "envy", "unit": ODDS, "label": "envy", "opposite_label": "leadership"},
        {"says": "{much}dislike giving less than the others", "opposite": "{much}like giving less than the others",
         "by": "guilt", "unit": ODDS, "label": "guilt", "opposite_label": "shamelessness"},
    ),
    "habit:the same again": _moved(
        "{much}tend to give exactly what they gave last",
        "{much}avoid giving exactly what they gave last",
        "repetition", "repetition", "variety",
    ),
    "reaction:to deductions": _moved(
        "give {far}more after coins were taken from them",
        "give {far}less after coins were taken from them",
        "deterrence", "obedience", "revenge",
    ),
    "reaction:to rewards": _moved(
        "give {far}more after they were rewarded",
        "give {far}less after they were rewarded", "encouragement",
        "encouragement", "complacency",
    ),
    "reaction:to falling behind": _moved(
        "give {far}less after they gained less than the others",
        "give {far}more after they gained less than the others",
        "resentment", "resentment", "forbearance",
    ),
    "time:decay": _moved(
        "give {far}less from round to round",
        "give {far}more from round to round", "decay", "decay", "growth",
    ),
    "time:last round": _moved(
        "give {far}less in a round that they know to be the last",
        "give {far}more in a round that they know to be the last",
        "last_round", "selfish ends", "generous ends",
    ),
    "time:nearness of the end": _moved(
        "give {far}less, the nearer a known end is",
        "give {far}more, the nearer a known end is", "end_effect", "end effects", "rising ends",
    ),
    "heaps:multiples of five": _moved(
        "{much}like multiples of five coins",
        "{much}avoid multiples of five coins", "roundness", "round numbers",
        "odd numbers",
    ),
    "heaps:all or none": _moved(
        "{much}tend to give all of their coins or none",
        "{much}avoid giving all of their coins or none", "extremity",
        "extremes", "moderation",
    ),
    "choice:logistic": ({"says": ""},),
    "lapse:anything": ({"says": "{lapse~} give a random amount ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {
    "taste": 2, "rules": 2, "opening": 3, "reaction": 2, "time": 3, "heaps": 3, "choice": 3, "lapse": 3,
}  # fmt: skip

HEADS = (
    (("others:match the average", "habit"), "Matching and habit"),
    (("others:match a part", "habit"), "Partly matching habit"),
    (("others:inequity aversion", "habit"), "Inequity-averse habit"),
    (("others:match the average",), "Conditional cooperation"),
    (("others:match a part",), "Imperfect cooperation"),
    (("others:inequity aversion",), "Inequity aversion"),
    (("others:follow the lowest",), "Following the lowest"),
    (("others:follow the highest",), "Following the highest"),
    (("habit",), "Habit"),
    (("payoff:cost and others' gain",), "Altruism"),
    (("payoff:cost of giving",), "Response to the return"),
    (("payoff:coins kept",), "Free riding"),
    ((), "Giving by chance"),
)
