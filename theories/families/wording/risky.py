"""Words for theories of choice between gambles; `theories.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
LOG_ODDS = 0.5


def _pull(by: str, says: str, label: str, shows: str = "") -> tuple[dict[str, Any]]:
    return ({"says": says, "by": by, "unit": LOG_ODDS, "label": label, "shows": shows},)


CURVATURE = {
    "says": "{much}value each further unit of money more than the one before",
    "opposite": "{much}value each further unit of money less than the one before, in gains and in losses alike",
    "by": "curvature", "null": 1.0, "unit": 0.4, "ratio": True,
    "label": "increasing returns", "opposite_label": "diminishing returns",
}  # fmt: skip
LOSS_AVERSION = {
    "says": "feel losses {much}more than equal gains",
    "opposite": "feel gains {much}more than equal losses",
    "by": "loss_aversion", "null": 1.0, "unit": 0.4, "ratio": True,
    "label": "loss aversion", "opposite_label": "gain seeking",
}  # fmt: skip


def _curve(what: str, by: str = "weighting_curve") -> dict[str, Any]:
    """An exponent of probabilities: below 1 extremes loom large."""
    return {
        "says": f"{{much}}underweight {what}",
        "opposite": f"{{much}}overweight {what}",
        "by": by, "null": 1.0, "unit": 0.4, "ratio": True,
        "label": "underweighted extremes" if "extreme" in what else "underweighted chances",
        "opposite_label": "overweighted extremes" if "extreme" in what else "overweighted chances",
    }  # fmt: skip


def _elevation(above: str, below: str) -> dict[str, Any]:
    return {
        "says": above, "opposite": below, "by": "weighting_elevation", "null": 1.0, "unit": 0.4, "ratio": True,
        "label": "optimism" if "hope" in above else "pessimism",
        "opposite_label": "pessimism" if "hope" in above else "optimism",
    }  # fmt: skip


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
            "says": "are {much}satiated as amounts, compared with the largest at stake, grow",
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
    "weighting:cumulative Tversky-Kahneman": (_curve(EXTREME),),
    "weighting:cumulative Tversky-Kahneman, losses apart": (
        _curve("the extreme gains where they are unlikely"),
        _curve("the extreme losses where they are unlikely", "weighting_curve_losses"),
    ),
    "weighting:cumulative Prelec, one parameter": (_curve(EXTREME),),
    "weighting:cumulative Prelec": (_curve(EXTREME), DOUBTFUL),
    "weighting:linear in log odds": (_curve(SMALL), HOPEFUL),
    "weighting:cumulative linear in log odds": (_curve(EXTREME), HOPEFUL),
    "weighting:cumulative Wu-Gonzalez": (_curve(EXTREME), DOUBTFUL),
    "weighting:by rank, Prelec": (
        _curve("the worst and the best outcome where they are unlikely"),
        _elevation(
            "are {much}pessimists, who look at the worse outcomes", "are {much}optimists, who look at the better ones"
        ),
    ),
    "weighting:security and potential": (
        {
            "says": "look more from the bottom up, for security, than from the top down, for potential",
            "opposite": "look more from the top down, for potential, than from the bottom up, for security",
            "by": "security_share", "null": 0.5, "unit": 0.15,
            "label": "security", "opposite_label": "potential",
        },
    ),
    "weighting:neo-additive": (
        {
            "says": "give the best and the worst outcome {much}extra weight, whatever their probabilities",
            "by": "insensitivity", "unit": 0.2, "label": "insensitivity",
        },
    ),
    "weighting:transfer of attention": (
        _curve(SMALL),
        {
            "says": "turn attention {much}from each outcome to every worse one",
            "opposite": "turn attention {much}from each outcome to every better one",
            "by": "attention_transfer", "unit": 0.3,
            "label": "pessimism", "opposite_label": "optimism",
        },
    ),
    "weighting:equal chances in part": (
        {
            "says": "{much}treat stated probabilities as if they lay nearer to equal chances of all amounts shown",
            "by": "blur", "unit": 0.2, "label": "blurred chances",
        },
    ),
    "comparison:disappointment": (
        {
            "says": "add up what the amounts are worth, {much}less for outcomes below that sum, which disappoint",
            "opposite": "add up what the amounts are worth, {much}more for outcomes above that sum, which elate",
            "by": "disappointment", "unit": 0.3, "label": "disappointment", "opposite_label": "elation",
        },
    ),
    "comparison:disappointment aversion": (
        {
            "says": "value a gamble at the sure amount from which all that falls short {much}counts more",
            "opposite": "value a gamble at the sure amount from which all that falls short {much}counts less",
            "by": "disappointment_aversion", "unit": 0.4,
            "label": "disappointment aversion", "opposite_label": "elation seeking",
        },
    ),
    "comparison:mean and variance": (
        {
            "says": "trade the mean of what a gamble is worth against its variance, which they {much}dislike",
            "opposite": "add to the mean of what a gamble is worth for its variance, which they {much}like",
            "by": "risk_price", "unit": 0.005, "label": "risk aversion", "opposite_label": "risk seeking",
        },
    ),
    "comparison:salience": (
        {
            "says": "weigh all cases alike in which the gambles differ",
            "opposite": "weigh the cases in which the two gambles differ most conspicuously {much}above the others",
            "by": "local_thinking", "null": 1.0, "unit": 0.3, "opposite_label": "salience",
        },
    ),
    "scale:partly by the range at stake": (
        {
            "says": "judge a difference in value {much}against the range between the worst and the best outcome in "
            "sight",
            "by": "adaptation", "unit": 0.4,
        },
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
        "sign_focus", "{much}want to gain and not to lose, however much", "sign focus"
    ),
    "attention:loss chance": ({
        "says": "{much}shun the gamble with the greater chance of any loss", "by": "loss_fear", "unit": LOG_ODDS,
        "label": "loss fear"},),
    "attention:more often better": _pull(
        "win_rate", "{much}prefer the gamble that would pay more in most cases, and so is seldom regretted",
        "rare regret", "beats_difference",
    ),
    "attention:dominance": _pull(
        "dominance", "{much}favour a gamble whose chances of any amount or more are never lower", "dominance",
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
        "relative_caution", "{much}shun the gamble that varies more for each unit that it pays on average", "caution"
    ),
    "attention:skewness": _pull(
        "long_shots", "{much}like a small chance of something far better, and dread one of something far worse",
        "long shots",
    ),
    "attention:moderate risk": _pull(
        "moderation", "{much}like a certain amount of risk, and neither more nor less", "moderate risk"
    ),
    "attention:odd number of advantages": _pull(
        "parity", "{much}take the gamble that is ahead on one or on all three of the worst, the best and the likeliest "
        "outcome", "odd advantages",
    ),
    "attention:conflict": _pull(
        "boldness_in_conflict", "{much}look at the best outcomes when losses are possible and at the worst when they "
        "are not", "conflict",
    ),
    "twist:threshold": (
        {
            "says": "{much}overlook evidence that is weaker than a threshold", "by": "threshold", "unit": LOG_ODDS,
            "label": "a threshold",
        },
    ),
    "twist:contrarian": ({"says": "do the opposite of what the evidence says", "turns": True,
                          "label": "contrariness"},),
    "twist:too good to be true": (
        {
            "says": "distrust an advantage that is too large, and then take the other gamble", "turns": True,
            "label": "distrust",
        },
    ),
    "side:side bias": (
        {
            "says": "{much}lean towards the second place whatever is shown there",
            "opposite": "{much}lean towards the first place whatever is shown there",
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
            "says": "{much}leave a place that they have chosen a number of times in a row (about {longest_run})",
            "opposite": "{much}hold on to a place that they have chosen a number of times in a row "
            "(about {longest_run})",
            "by": "switching", "unit": LOG_ODDS, "label": "switching", "opposite_label": "repetition",
        },
    ),
    "history:same risk again": (
        {
            "says": "{much}tend to take the gamble that varies more when they did so last",
            "opposite": "{much}tend to turn from bold to cautious and back from trial to trial",
            "by": "boldness_kept", "unit": LOG_ODDS, "label": "repetition", "opposite_label": "alternation",
        },
    ),
    "history:drifting reference": (
        {
            "says": "{much}seek risk where there is less to be had than lately and shun it where there is more",
            "opposite": "{much}shun risk where there is less to be had than lately and seek it where there is more",
            "by": "contrast", "unit": LOG_ODDS, "label": "contrast", "opposite_label": "contrast",
        },
    ),
    "history:fatigue": (
        {
            "says": "care {much}less about the evidence as trials go by",
            "opposite": "care {much}more about the evidence as trials go by",
            "by": "fatigue", "unit": 0.15, "label": "fatigue", "opposite_label": "growing care",
        },
    ),
    "history:take turns": (
        {
            "says": "{much}follow the evidence in every second trial (times {second_turn})",
            "opposite": "{much}go against the evidence in every second trial (times {second_turn})",
            "by": "second_turn", "turns": True, "label": "turn taking", "opposite_label": "turn taking",
        },
    ),
    "history:simplify later": (
        {
            "says": "weigh up everything at first and go by the worst outcome alone after a number of trials "
            "(about {full_effort})",
            "label": "later simplifying",
        },
    ),
    **{
        f"mixture:at times {name}": (
            {
                "says": f"{{much}}{says} in some choices ({{{by}%}} of them)", "by": by, "unit": 0.1,
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
    "lapse:random": ({"says": "now and then choose at random ({lapse%} of the time)"},),
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

HEADS = (
    (("comparison:weighted sum", "utility:loss-averse power", "weighting"), "Prospect theory"),
    (("comparison:weighted sum", "utility", "weighting"), "Rank-dependent utility"),
    (("comparison:weighted sum", "weighting"), "Weighted probabilities"),
    (("comparison:weighted sum", "utility"), "Expected utility"),
    (("comparison:weighted sum",), "Expected value"),
    (("comparison:disappointment",), "Disappointment theory"),
    (("comparison:disappointment aversion",), "Disappointment theory"),
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
