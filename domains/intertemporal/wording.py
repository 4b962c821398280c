"""Words for theories of choice over time; `theories.language.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
LOG_ODDS = 0.5

CURVATURE = {
    "says": "{much}value each further unit of money more than the one before",
    "opposite": "{much}value each further unit of money less than the one before",
    "rest": "less", "opposite_rest": "more",
    "by": "curvature", "null": 1.0, "unit": 0.4, "ratio": True,
    "label": "increasing returns", "opposite_label": "diminishing returns",
}  # fmt: skip
LOSS_AVERSION = {
    "says": "feel losses {far}more than equal gains",
    "opposite": "feel gains {far}more than equal losses",
    "rest": "gains more", "opposite_rest": "losses more",
    "by": "loss_aversion", "null": 1.0, "unit": 0.4, "ratio": True,
    "label": "loss aversion", "opposite_label": "gain seeking",
}  # fmt: skip


def _pull(by: str, says: str, label: str, shows: str = "") -> tuple[dict[str, Any]]:
    return ({"says": says, "by": by, "unit": LOG_ODDS, "label": label, "shows": shows},)


WORDS: Words = {
    "utility:power": (CURVATURE,),
    "utility:loss-averse power": (CURVATURE, LOSS_AVERSION),
    "utility:increasing elasticity": (
        {"says": "find small amounts of money (below about {small_change}) more alike than large amounts in the same "
         "ratio", "label": "small change"},
    ),
    "utility:logarithmic": (
        {"says": "feel amounts in proportion to their logarithm, beyond a first few units (about {just_noticeable})",
         "label": "diminishing returns"},
    ),
    "time:logarithmic": (
        {"says": "feel delays in proportion to their logarithm, beyond the first days", "label": "contracted time"},
    ),
    "time:power": (
        {
            "says": "feel each further day {far}more than the one before",
            "opposite": "feel each further day {far}less than the one before",
            "rest": "less", "opposite_rest": "more",
            "by": "time_sensitivity", "null": 1.0, "unit": 0.4, "ratio": True,
            "label": "stretched time", "opposite_label": "contracted time",
        },
    ),
    "time:extended present": (
        {"says": "treat everything within the next days (about {present_days}) as the present",
         "label": "extended present"},
    ),
    "pace:slower when more is at stake": (
        {"says": "discount {far}less where more money is at stake", "by": "stakes_effect", "unit": 0.3,
         "label": "magnitude effects"},
    ),
    "pace:slower for losses": (
        {
            "says": "discount losses {far}faster than gains",
            "opposite": "discount losses {far}more slowly than gains",
            "rest": "more slowly", "opposite_rest": "faster", "by": "loss_pace", "null": 1.0, "unit": 0.4,
            "ratio": True,
            "label": "sign effects", "opposite_label": "sign effects",
        },
    ),
    "discounting:quasi-hyperbolic": (
        {
            "says": "discount what is delayed by the same share for each further day",
            "base": "discount what is delayed by the same share for each further day",
            "opposite": "discount everything that is not immediate at once (times {present_bias}), and then by the "
                        "same "
            "share for each further day",
            "by": "present_bias", "null": 1.0, "unit": 0.2,
        },
    ),
    "discounting:double exponential": (
        {"says": "are of two minds, one that discounts quickly ({impatient_share%} of the weight) and one that "
         "discounts slowly"},
    ),
    "cost:fixed cost of waiting": (
        {"says": "charge a fixed sum (about {waiting_cost}) for having to wait at all, however much and however long",
         "label": "waiting costs"},
    ),
    "comparison:difference in value partly by the larger amount": (
        {
            "says": "compare what the options are worth now, {much}scaled by the larger of the two amounts",
            "base": "compare what the options are worth now",
            "by": "adaptation", "unit": 0.4,
        },
    ),
    "comparison:trade-off by intervals": (
        {"says": "set the felt advantage in amount against the felt interval between the dates, both felt less and "
         "less as they grow"},
        {
            "says": "{much}overlook very short intervals", "by": "superadditivity", "null": 1.0, "unit": 0.5,
            "ratio": True,
        },
    ),
    "comparison:proportional difference": (
        {"says": "set the difference in amount, as a share of the larger, against that in delay, as a share of the "
         "longer"},
        {
            "says": "care {far}more for delays than for amounts", "opposite": "care {far}more for amounts than for "
            "delays", "rest": "more for amounts", "opposite_rest": "more for delays", "by": "decision_threshold",
            "unit": 0.2, "label": "impatience", "opposite_label": "patience",
        },
    ),
    "comparison:required premium": (
        {"says": "wait if it pays a fixed share more ({premium%} of the larger amount), however long it takes"},
    ),
    "attention:amount difference": (
        {"says": "wait more, the larger the difference in amount", "label": "amounts"},
    ),
    "attention:relative amount difference": _pull(
        "weight_of_relative_amount", "are {much}moved to wait by a difference in amount that is large for these "
        "amounts", "relative amounts",
    ),
    "attention:growth": _pull(
        "weight_of_growth", "are {much}moved to wait by a large percentage of growth",
        "growth",
    ),
    "attention:interest": (
        {"says": "wait more, the higher the rate of interest that waiting earns", "label": "interest"},
    ),
    "attention:delay difference": ({"says": "wait less, the longer the further wait", "label": "delays"},),
    "attention:relative delay difference": _pull(
        "weight_of_relative_delay", "are {much}kept from waiting by a further wait that is long for these delays",
        "relative delays",
    ),
    "attention:immediacy": _pull(
        "pull_of_today", "are {much}drawn to gains that come today, and put off losses", "immediacy"
    ),
    "attention:stakes": _pull("pull_of_stakes", "are {much}moved to wait where more money is at stake", "stakes"),
    "attention:waiting anyway": _pull(
        "pull_of_waiting_anyway", "are {much}moved to wait where either option is far away",
        "waiting anyway",
    ),
    "attention:too good to be true": _pull(
        "distrust", "{much}distrust an option that pays many times as much as the other", "distrust"
    ),
    "attention:round amounts": _pull("pull_of_round_amounts", "{much}like round sums of money", "round amounts"),
    "bias:leaning": (
        {
            "says": "{much}lean to waiting, whatever is offered", "opposite": "{much}lean to not waiting, whatever is "
            "offered", "rest": "to not waiting", "opposite_rest": "to waiting", "by": "leaning", "unit": LOG_ODDS,
            "label": "patience", "opposite_label": "impatience",
        },
    ),
    "comparison:difference in value": (
        {"says": "compare what the options are worth now, in money", "plain": True},
    ),
    "choice:deterministic": (
        {"says": "choose the option for which the evidence speaks, by however little, and either one where it speaks "
         "for none"},
    ),
    "choice:logistic": (
        {"says": "choose the better option the more often, the stronger the evidence", "plain": True},
    ),
    "shortcut:similarity": (
        {"says": "decide by the delays alone where only the amounts are similar (within {similar_amounts%}), and by "
         "the amounts alone where only the delays are (within {similar_delays%})", "label": "similarity",
         "turns": True},
    ),
    "shortcut:longest wait": (
        {"says": "take the other option where one lies beyond the longest wait they would consider (about "
         "{longest_wait} days)", "label": "a longest wait", "turns": True},
    ),
    "shortcut:good enough": (
        {"says": "take the sooner option where its amount is good enough (from about {aspiration})",
         "label": "an aspiration", "turns": True},
    ),
    "shortcut:short wait": (
        {"says": "take the larger amount where the further wait is too short to matter (up to {negligible_days} days)",
         "label": "short waits", "turns": True},
    ),
    "shortcut:small gain": (
        {"says": "do not wait for a difference that is too small to matter (up to {negligible_amount})",
         "label": "small gains", "turns": True},
    ),
    "choice:indifference zone": (
        {
            "says": "choose either option while the evidence is weak, and the better one the more often beyond that",
        },
    ),
    "choice:contrarian": ({"says": "choose against the evidence, the more often the stronger it is", "turns": True},),
    "other:some people take the larger amount": (
        {"says": "{who} always take the larger amount", "by": "other_type", "label": "two types"},
    ),
    "other:some people never wait": (
        {"says": "{who} always take what comes first", "by": "other_type", "label": "two types"},
    ),
    "other:at times the larger amount": (
        {"says": "just take the larger amount in some choices ({other_share%} of them)", "by": "other_share",
         "unit": 0.1, "label": "a mixture"},
    ),
    "other:at times the first to come": (
        {"says": "just take what comes first in some choices ({other_share%} of them)", "by": "other_share",
         "unit": 0.1, "label": "a mixture"},
    ),
    "lapse:random": ({"says": "{lapse~} choose at random ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {"attention": 2, "bias": 2, "shortcut": 3, "choice": 3, "other": 3, "lapse": 3}

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
    (("attention",), "Waiting by features"),
    (("shortcut",), "A shortcut"),
    ((), "Random choice"),
)
