"""Words for theories of choice between gambles; `account.ClauseWording` says what each entry means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
LOG_ODDS = 0.5


def _pull(by: str, says: str, label: str, shows: str = "") -> tuple[dict[str, Any]]:
    return ({"says": says, "by": by, "unit": LOG_ODDS, "label": label, "shows": shows},)


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


UNLIKELY = "rare_outcome < 0.36"
"""Trials without which nothing can be said of how small chances are seen: curves cross near 1 / e."""


def _curve(what: str, by: str = "weighting_curve") -> dict[str, Any]:
    """An exponent of probabilities: below 1 extremes loom large."""
    return {
        "says": f"{{much}}underweight {what}",
        "opposite": f"{{much}}overweight {what}",
        "by": by, "null": 1.0, "unit": 0.4, "ratio": True,
        "rest": "overweight them", "opposite_rest": "underweight them", "needs": UNLIKELY,
        "label": "underweighted extremes" if "extreme" in what else "underweighted chances",
        "opposite_label": "overweighted extremes" if "extreme" in what else "overweighted chances",
    }  # fmt: skip


def _even(what: str, by: str = "weighting_curve") -> dict[str, Any]:
    """The same exponent where no outcome is unlikely: all that it does is to weight chances of about a half."""
    return {
        "says": f"give {what} {{far}}more weight than its chance",
        "opposite": f"give {what} {{far}}less weight than its chance",
        "by": by, "null": 1.0, "unit": 0.4, "ratio": True,
        "rest": "less", "opposite_rest": "more", "lacks": UNLIKELY,
        "label": "overweighted extremes", "opposite_label": "underweighted extremes",
    }  # fmt: skip


def _halves(what: str, by: str = "weighting_curve") -> dict[str, Any]:
    """Tversky and Kahneman's exponent there: a chance of a half loses weight on both sides of 1."""
    even = _even(what, by)
    return even | {"says": even["opposite"], "opposite": "", "rest": "", "opposite_rest": "",
                   "label": even["opposite_label"], "opposite_label": ""}  # fmt: skip


def _attitude(side: str) -> str:
    """What a side is called, without what it means."""
    return re.split("[:,]", side.replace("{much}", ""))[0]


def _elevation(above: str, below: str) -> dict[str, Any]:
    return {
        "says": above, "opposite": below, "rest": _attitude(below), "opposite_rest": _attitude(above),
        "by": "weighting_elevation", "null": 1.0, "unit": 0.4, "ratio": True,
        "label": "optimism" if "hope" in above else "pessimism",
        "opposite_label": "pessimism" if "hope" in above else "optimism",
    }  # fmt: skip


BEST = "the largest gain or loss"
SMALL, EXTREME = (
    "small probabilities, each outcome by itself",
    "the extreme outcomes where they are unlikely",
)
HOPEFUL = _elevation(
    "are {much}hopeful: stated chances look large to them",
    "are {much}doubtful: stated chances look small to them",
)
DOUBTFUL = _elevation(
    "are {much}doubtful: stated chances look small to them",
    "are {much}hopeful: stated chances look large to them",
)
"""Prelec's and Wu and Gonzalez's factor works the other way round than that of odds."""

WORDS: Words = {
    "utility:power": (CURVATURE,),
    "utility:loss-averse power": (CURVATURE, LOSS_AVERSION),
    "utility:loss-averse linear": (LOSS_AVERSION,),
    "utility:exponential": (
        {
            "says": "value each further unit of money {far}less, the nearer it comes to the largest at stake",
            "by": "satiation", "unit": 1.0, "label": "satiation",
        },
    ),
    "utility:constant risk aversion": (
        {
            "says": "take the same premium for the same risk however rich they are, and so suffer ever more from "
            "larger losses",
            "label": "risk aversion",
        },
    ),
    "utility:logarithmic": (
        {
            "says": "feel amounts in proportion to their logarithm, beyond a first few units (about "
            "{just_noticeable})",
            "label": "diminishing returns",
        },
    ),
    "weighting:Tversky-Kahneman": (_curve(SMALL),),
    "weighting:cumulative Tversky-Kahneman": (_curve(EXTREME), _halves(BEST)),
    "weighting:cumulative Tversky-Kahneman, losses apart": (
        _curve("the extreme gains where they are unlikely"),
        _halves("the largest gain"),
        _curve("the extreme losses where they are unlikely", "weighting_curve_losses"),
        _halves("the largest loss", "weighting_curve_losses"),
    ),
    "weighting:cumulative Prelec, one parameter": (_curve(EXTREME), _even(BEST)),
    "weighting:cumulative Prelec": (_curve(EXTREME), _even(BEST), DOUBTFUL),
    "weighting:linear in log odds": (_curve(SMALL), HOPEFUL),
    "weighting:cumulative linear in log odds": (_curve(EXTREME), HOPEFUL),
    "weighting:cumulative Wu-Gonzalez": (_curve(EXTREME), DOUBTFUL),
    "weighting:by rank, Prelec": (
        _curve("the worst and the best outcome where they are unlikely"),
        _elevation(
            "are {much}pessimistic, and look at the worse outcomes",
            "are {much}optimistic, and look at the better outcomes",
        ),
    ),
    "weighting:security and potential": (
        {
            "says": "look {far}more from the bottom up, for security, than from the top down, for potential",
            "opposite": "look {far}more from the top down, for potential, than from the bottom up, for security",
            "rest": "more for potential", "opposite_rest": "more for security",
            "by": "security_share", "null": 0.5, "unit": 0.15,
            "label": "security", "opposite_label": "potential",
        },
    ),
    "weighting:neo-additive": (
        {
            "says": "{much}overweight the best and the worst outcome, whatever their probabilities",
            "by": "insensitivity", "unit": 0.2, "label": "insensitivity",
        },
    ),
    "weighting:transfer of attention": (
        _curve(SMALL),
        {
            "says": "{much}turn attention from each outcome to every worse one",
            "opposite": "{much}turn attention from each outcome to every better one",
            "rest": "to every better one", "opposite_rest": "to every worse one",
            "by": "attention_transfer", "unit": 0.3,
            "label": "pessimism", "opposite_label": "optimism",
        },
    ),
    "weighting:equal chances in part": (
        {
            "says": "{much}blur stated chances towards equal ones of all amounts shown",
            "by": "blur", "unit": 0.2, "label": "blurred chances",
        },
    ),
    "comparison:disappointment": (
        {"says": "weight what amounts are worth by their chances"},
        {
            "says": "are {much}disappointed by outcomes below this mean",
            "opposite": "are {much}elated by outcomes above this mean",
            "rest": "are elated by those above it", "opposite_rest": "are disappointed by those below it",
            "by": "disappointment", "unit": 0.3, "label": "disappointment", "opposite_label": "elation",
        },
    ),
    "comparison:disappointment aversion": (
        {"says": "value a gamble by its sure equivalent"},
        {
            "says": "{much}overweight outcomes that fall short of this value",
            "opposite": "{much}underweight outcomes that fall short of this value",
            "rest": "underweight them", "opposite_rest": "overweight them",
            "by": "disappointment_aversion", "unit": 0.4,
            "label": "disappointment aversion", "opposite_label": "elation seeking",
        },
    ),
    "comparison:mean and variance": (
        {"says": "value a gamble by its mean"},
        {
            "says": "{much}dislike its variance", "opposite": "{much}like its variance",
            "rest": "like it", "opposite_rest": "dislike it",
            "by": "risk_price", "unit": 0.005, "label": "risk aversion", "opposite_label": "risk seeking",
        },
    ),
    "comparison:salience": (
        {
            "says": "weigh all cases by their chances alone", "base": "weigh all cases by their chances alone",
            "opposite": "{much}overweight the cases in which the two gambles differ most conspicuously",
            "by": "local_thinking", "null": 1.0, "unit": 0.3, "opposite_label": "salience",
        },
    ),
    "scale:partly by the range at stake": (
        {
            "says": "{much}scale a difference in value by the range between the worst and the best outcome in sight",
            "by": "adaptation", "unit": 0.4,
        },
    ),
    "comparison:weighted sum": (
        {"says": "weight what amounts are worth by their chances"},
    ),
    "scale:by the spread of the outcomes": (
        {"says": "are less sure of a difference in value, the more the outcomes vary"},
    ),
    "scale:in points": (
        {"says": "count a difference in value the same whatever else is at stake", "plain": True},
    ),
    "choice:logistic": (
        {"says": "choose the better gamble the more often, the stronger the evidence", "plain": True},
    ),
    "attention:worst outcome": _pull(
        "pessimism", "{much}prefer the gamble whose worst outcome is better", "pessimism", "minimum_difference"
    ),
    "attention:best outcome": _pull(
        "optimism", "are {much}drawn to the gamble whose best outcome is better", "optimism", "maximum_difference"
    ),
    "attention:equal weighting": _pull(
        "equal_weighting", "{much}prefer the gamble that would be better if all outcomes were equally likely",
        "equal weighting", "equal_weight_difference",
    ),
    "attention:signs": _pull(
        "sign_focus", "{much}want to gain rather than lose, by however much", "sign focus"
    ),
    "attention:loss chance": ({
        "says": "{much}avoid the gamble with the greater chance of any loss", "by": "loss_fear", "unit": LOG_ODDS,
        "label": "loss fear"},),
    "attention:more often better": _pull(
        "win_rate", "{much}prefer the gamble that would pay more in most cases, and so is seldom regretted",
        "rare regret", "beats_difference",
    ),
    "attention:dominance": _pull(
        "dominance", "{much}favour a gamble that is never less likely to pay any amount or more", "dominance",
        "dominance",
    ),
    "attention:ambiguity aversion": _pull(
        "ambiguity_aversion", "{much}avoid the gamble whose probabilities are not shown", "ambiguity aversion"
    ),
    "attention:simplicity": _pull("simplicity", "{much}prefer the gamble with fewer outcomes", "simplicity"),
    "attention:variety": _pull(
        "variety", "{much}prefer the gamble with more outcomes", "variety", "n_outcomes_difference"
    ),
    "attention:certainty": _pull("certainty", "{much}like an outcome that is certain", "certainty", "sure_option"),
    "attention:most likely outcome": _pull(
        "likeliest_outcome", "{much}prefer the gamble whose most likely outcome is better", "likely outcomes",
        "modal_outcome_difference",
    ),
    "attention:better on average": _pull(
        "better_average", "{much}favour the gamble that is better on average, by however little", "averages",
        "ev_difference",
    ),
    "attention:spread": (
        {
            "says": "{much}dislike outcomes that vary", "opposite": "{much}like outcomes that vary",
            "rest": "like them", "opposite_rest": "dislike them",
            "by": "caution", "unit": LOG_ODDS, "label": "caution", "opposite_label": "risk seeking",
        },
    ),
    "attention:large regret": _pull(
        "regret", "{much}dread the one case in which the other gamble would have paid far more", "regret"
    ),
    "attention:best chance": _pull(
        "chance_of_best", "{much}prefer the gamble whose best outcome is more likely", "best chances",
        "best_probability_difference",
    ),
    "attention:aspiration": _pull(
        "aspiration_pull", "{much}want to reach a certain level (about {aspiration_level%} of what is in sight)",
        "aspiration",
    ),
    "attention:relative spread": _pull(
        "relative_caution", "{much}avoid the gamble that varies more for each unit that it pays on average", "caution"
    ),
    "attention:skewness": _pull(
        "long_shots", "{much}like a small chance of something far better, and dread one of something far worse",
        "long shots",
    ),
    "attention:moderate risk": _pull(
        "moderation", "{much}like a certain amount of risk, and neither more nor less", "moderate risk"
    ),
    "attention:odd number of advantages": _pull(
        "parity", "{much}prefer the gamble that is ahead on one or on all three of the worst, the best and the "
                  "likeliest "
        "outcome", "odd advantages",
    ),
    "attention:conflict": _pull(
        "boldness_in_conflict", "{much}attend to the best outcomes when losses are possible and at the worst when they "
        "are not", "conflict",
    ),
    "twist:threshold": (
        {
            "says": "overlook evidence that is weaker than a threshold ({threshold} log odds)", "by": "threshold",
            "unit": LOG_ODDS,
            "label": "a threshold",
        },
    ),
    "twist:contrarian": ({"says": "do the opposite of what the evidence says", "turns": True,
                          "label": "contrariness"},),
    "twist:too good to be true": (
        {
            "says": "distrust an advantage that is too large, and then take the other gamble", "turns": True,
            "reverses": True, "label": "distrust",
        },
    ),
    "side:side bias": (
        {
            "says": "{much}lean towards the second place whatever is shown there",
            "opposite": "{much}lean towards the first place whatever is shown there",
            "rest": "towards the first", "opposite_rest": "towards the second",
            "by": "side_bias", "unit": LOG_ODDS, "label": "a side bias", "opposite_label": "a side bias",
        },
    ),
    "history:perseveration": (
        {
            "says": "{much}tend to the place that they chose last",
            "opposite": "{much}tend away from the place that they chose last",
            "by": "stickiness", "unit": LOG_ODDS, "shows": "last_choice",
            "label": "repetition", "opposite_label": "alternation",
        },
    ),
    "history:habit": (
        {
            "says": "{much}tend to the place that they have chosen more often lately",
            "opposite": "{much}tend away from the place that they have chosen more often lately",
            "by": "habit_strength", "unit": LOG_ODDS, "label": "habit", "opposite_label": "alternation",
        },
    ),
    "history:streak": (
        {
            "says": "{much}leave a place that they have chosen [{longest_run#}|a number of times in a row]",
            "opposite": "{much}hold on to a place that they have chosen [{longest_run#}|a number of times in a row]",
            "rest": "hold on to it", "opposite_rest": "leave it",
            "by": "switching", "unit": LOG_ODDS, "label": "switching", "opposite_label": "repetition",
        },
    ),
    "history:same risk again": (
        {
            "says": "{much}tend to be as bold or as cautious as they were in the trial before",
            "opposite": "{much}tend to turn from bold to cautious and back from trial to trial",
            "by": "boldness_kept", "unit": LOG_ODDS, "label": "repetition", "opposite_label": "alternation",
        },
    ),
    "history:drifting reference": (
        {
            "says": "{much}seek risk where there is less to be had than lately, and avoid it where there is more",
            "opposite": "{much}avoid risk where there is less to be had than lately, and seek it where there is more",
            "rest": "do the reverse", "opposite_rest": "do the reverse",
            "by": "contrast", "unit": LOG_ODDS, "label": "contrast", "opposite_label": "contrast",
        },
    ),
    "history:fatigue": (
        {
            "says": "care {far}less about the evidence as trials go by",
            "opposite": "care {far}more about the evidence as trials go by",
            "by": "fatigue", "unit": 0.15, "label": "fatigue", "opposite_label": "growing care",
        },
    ),
    "history:take turns": (
        {
            "says": "follow the evidence more in every second trial (times {second_turn})",
            "opposite": "follow the evidence less, or go against it, in every second trial (times {second_turn})",
            "by": "second_turn", "null": 1.0, "turns": True, "label": "turn taking", "opposite_label": "turn taking",
        },
    ),
    "history:simplify later": (
        {
            "says": "weigh up everything at first and go by the worst outcome alone after a number of trials "
            "(about {full_effort+})",
            "label": "later simplifying",
        },
    ),
    **{
        f"mixture:at times {name}": (
            {
                "says": f"{says} in some choices ({{{by}%}} of them)", "by": by, "unit": 0.1,
                "label": "a mixture", "turns": by == "share_opposite",
            },
        )
        for name, by, says in (
            ("the worst outcome", "share_worst", "go by the better worst outcome alone"),
            ("the best outcome", "share_best", "go by the better best outcome alone"),
            ("the most likely outcome", "share_likeliest", "go by the better most likely outcome alone"),
            ("equal weights", "share_average", "go by the better plain average alone"),
            ("the expected value", "share_expected", "work out which gamble is better on average and take it"),
            ("the chance to gain", "share_sign", "go by the better chance to gain rather than to lose alone"),
            ("the priority heuristic", "share_priority", "go through worst outcomes, their chances and best outcomes "
             "and stop at the first large difference"),
            ("the opposite", "share_opposite", "do the opposite of what they prefer"),
        )
    },
    "lapse:random": ({"says": "{lapse~} choose at random ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {
    "attention": 2,
    "twist": 3,
    "side": 2,
    "history": 2,
    "choice": 3,
    "mixture": 3,
    "lapse": 3,
}

SUM = "comparison:weighted sum"
LOSS_AVERSE = ("utility:loss-averse power", "utility:loss-averse linear")
BY_ITSELF = ("Tversky-Kahneman", "linear in log odds")
"""Curves that weigh the chance of every outcome by itself (Kahneman & Tversky, 1979)."""
CUMULATIVE = (
    "cumulative Tversky-Kahneman", "cumulative Tversky-Kahneman, losses apart", "cumulative Prelec, one parameter",
    "cumulative Prelec", "cumulative linear in log odds", "cumulative Wu-Gonzalez",
)  # fmt: skip
"""Curves over the chance of doing at least as well, apart for gains and losses (Tversky & Kahneman, 1992)."""
BY_RANK = ("by rank, Prelec",)
"""Curves over that chance with gains and losses in one order (Quiggin, 1982)."""

Heads = tuple[tuple[tuple[str, ...], str], ...]


def _heads_of_curves(
    curves: tuple[str, ...], *, loss_averse: str, of_utility: str, of_amounts: str
) -> Heads:
    """Names of sums that are weighted by one kind of curve, by what amounts are worth in them."""
    found: list[tuple[tuple[str, ...], str]] = []
    for curve in curves:
        weighting = f"weighting:{curve}"
        found += [((SUM, weighting, utility), loss_averse) for utility in LOSS_AVERSE]
        found += [((SUM, weighting, "utility"), of_utility), ((SUM, weighting), of_amounts)]
    return tuple(found)


HEADS: Heads = (
    *_heads_of_curves(
        BY_ITSELF,
        loss_averse="Prospect theory",
        of_utility="Subjectively weighted utility",
        of_amounts="Weighted probabilities",
    ),
    *_heads_of_curves(
        CUMULATIVE,
        loss_averse="Cumulative prospect theory",
        of_utility="Rank-and-sign-dependent utility",
        of_amounts="Cumulative weights",
    ),
    *_heads_of_curves(
        BY_RANK,
        loss_averse="Rank-dependent utility",
        of_utility="Rank-dependent utility",
        of_amounts="Dual theory",
    ),
    ((SUM, "weighting:security and potential"), "Security and potential"),
    ((SUM, "weighting:neo-additive"), "Neo-additive weights"),
    ((SUM, "weighting:transfer of attention"), "Attention exchange"),
    ((SUM, "weighting:equal chances in part"), "Prospective reference theory"),
    ((SUM, "utility"), "Expected utility"),
    ((SUM,), "Expected value"),
    (("comparison:disappointment",), "Disappointment theory"),
    (("comparison:disappointment aversion",), "Disappointment aversion"),
    (("comparison:mean and variance",), "Mean and variance"),
    (("comparison:salience",), "Salience theory"),
    (("comparison:priority heuristic",), "Priority heuristic"),
    (("comparison:worst outcome",), "Worst outcomes"),
    (("comparison:best outcome",), "Best outcomes"),
    (("comparison:equal weights",), "Equal weights"),
    (("comparison:better than average",), "Better than average"),
    (("comparison:most likely outcome",), "Most likely outcomes"),
    (("comparison:likely outcomes in turn",), "Lexicographic choice"),
    (("comparison:least likely outcome",), "Least likely outcomes"),
    (("comparison:probable outcomes",), "Probable outcomes"),
    (("comparison:tallying",), "Tallying"),
    (("comparison:chance to gain",), "Chances to gain"),
    (("comparison:more often better",), "More often better"),
    ((), "Several features"),
)
