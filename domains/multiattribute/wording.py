"""Words for theories of choice between rated products; `account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]

LOG_ODDS = 0.5
"""A pull of so many log odds is worth its name: it moves one choice in eight."""


def _accent(
    name: str, says: str, opposite: str, shows: str = "", label: str = ""
) -> tuple[str, tuple[dict[str, Any]]]:
    one = other = "prefer the other one"
    if "{much}drawn" in says:
        one, other = "avoid it", "prefer it"
    if says.startswith("{much}overweight"):
        them = "them" if "cues" in says else "it"
        one, other = f"underweight {them}", f"overweight {them}"
    elif says.startswith("{much}like"):
        dislike = opposite.startswith("{much}dislike")
        one, other = ("dislike them", "like them") if dislike else ("", "")
    entry = {
        "says": says,
        "opposite": opposite,
        "rest": one,
        "opposite_rest": other,
        "by": f"{name}_bonus",
        "times": "sensitivity",
        "unit": LOG_ODDS,
    }
    return f"accent:{name}", (entry | {"shows": shows, "label": label},)


def _pull(by: str, says: str, opposite: str = "", **more: Any) -> tuple[dict[str, Any]]:
    return ({"says": says, "opposite": opposite, "by": by, "unit": LOG_ODDS} | more,)


def _focus(
    by: str, says: str, opposite: str, label: str = "", **more: Any
) -> tuple[dict[str, Any]]:
    """Log ratio of the weights of cues."""
    return ({"says": says, "opposite": opposite, "by": by, "unit": 0.7, "label": label} | more,)


def _type(by: str, says: str, label: str) -> tuple[dict[str, Any]]:
    return ({"says": f"{{who}} {says}", "by": by, "label": label},)


WORDS: Words = {
    "utility:linear": ({"says": "value a rating as it stands", "plain": True},),
    "comparison:difference": (
        {"says": "compare the products cue by cue, by how much better one is", "plain": True},
    ),
    "choice:deterministic": (
        {"says": "choose the product that is ahead, by however little, and either one where none is"},
    ),
    "choice:logistic": (
        {"says": "choose the better product more surely, the larger its lead", "plain": True},
    ),
    "utility:diminishing": (
        {
            "says": "{much}value each further rating point more than the one before",
            "opposite": "{much}value each further rating point less than the one before",
            "by": "curvature", "null": 1.0, "unit": 0.4, "ratio": True,
            "rest": "less", "opposite_rest": "more",
            "label": "increasing returns", "opposite_label": "diminishing returns",
        },
    ),
    "utility:satisficing": (
        {
            "says": "call a rating good enough or not, by an aspiration level ({aspiration%} of the top rating), "
            "and ask no more",
            "label": "an aspiration level",
        },
    ),
    "utility:saturating": (
        {
            "says": "care for higher ratings above a level that is good enough ({enough%} of the top rating)",
            "opposite": "stop caring for higher ratings above a level that is good enough "
            "({enough%} of the top rating)",
            "by": "enough", "null": 1.0, "unit": 0.2, "opposite_label": "a ceiling",
        },
    ),
    "utility:loss_averse": (
        {
            "says": "see ratings below a reference ({reference%} of the top rating) as losses, which {much}loom larger "
            "than gains",
            "opposite": "see ratings above a reference ({reference%} of the top rating) as gains, which {much}loom "
            "larger than losses",
            "rest": "feel the gains above it more", "opposite_rest": "feel the losses below it more",
            "by": "loss_aversion", "null": 1.0, "unit": 0.4, "ratio": True,
            "label": "loss aversion", "opposite_label": "gain seeking",
        },
    ),
    "utility:s_shaped": (
        {
            "says": "tell ratings apart best near a middle level ({middle%} of the top rating)",
            "label": "a sensitive middle",
        },
    ),
    "utility:ideal_point": (
        {
            "says": "want ratings near an ideal level ({ideal%} of the top rating), and dislike those above it as much "
            "as those below",
            "label": "an ideal level",
        },
    ),
    "utility:single_peaked": (
        {
            "says": "value middle ratings {far}above half of what the top is worth",
            "opposite": "value middle ratings {far}below half of what the top is worth",
            "by": "bend", "unit": 0.4, "rest": "below that", "opposite_rest": "above that",
            "label": "a bend", "opposite_label": "a bend",
        },
    ),
    "utility:too_good": (
        {
            "says": "believe in the very best ratings (up to {credible%} of the top)",
            "opposite": "distrust ratings that are too good (above {credible%} of the top), as if they were the "
            "worst",
            "by": "credible", "null": 1.0, "unit": 0.1, "opposite_label": "distrust",
        },
    ),
    "utility:cyclic": ({"says": "like and dislike ratings in turns as they rise (anew every {period} points)",
    "label": "cycles"},),
    "comparison:compressed": (
        {
            "says": "{much}overrate large advantages on a cue",
            "opposite": "{much}overrate small advantages on a cue",
            "by": "compression", "null": 1.0, "unit": 0.4, "ratio": True,
            "rest": "small ones", "opposite_rest": "large ones",
            "label": "striking differences", "opposite_label": "compressed differences",
        },
    ),
    "comparison:just_noticeable": (
        {
            "says": "overlook differences on a cue that are too small to notice (up to {noticeable%} of the scale)",
            "by": "noticeable", "unit": 0.1, "label": "a noticing threshold",
        },
    ),
    "comparison:suspicious_difference": (
        {
            "says": "distrust a difference on a cue that is too large (from {credible_difference%} of the scale), and "
            "more so the larger it is",
            "label": "distrust", "turns": True, "reverses": True,
        },
    ),
    "comparison:divisive": (
        {
            "says": "judge an advantage in proportion to both ratings together and a constant "
            "({semi_saturation} of the scale)",
            "label": "relative differences",
        },
    ),
    "weight:power": (
        {"says": "weight cues by how far their validity is above guessing"},
        {
            "says": "{much}sharpen the differences between these weights",
            "opposite": "{much}level the differences between these weights",
            "rest": "level them", "opposite_rest": "sharpen them",
            "by": "emphasis", "null": 1.0, "unit": 0.7, "ratio": True,
            "label": "focused weights", "opposite_label": "flattened weights",
        },
    ),
    "weight:relative_power": (
        {"says": "weight cues by their validity relative to the best"},
        {
            "says": "{much}sharpen the differences between these weights",
            "opposite": "{much}level the differences between these weights",
            "rest": "level them", "opposite_rest": "sharpen them",
            "by": "emphasis", "null": 1.0, "unit": 0.7, "ratio": True,
            "label": "focused weights", "opposite_label": "flattened weights",
        },
    ),
    "weight:exponential": (
        {
            "says": "weight cues by their validity, {much}favouring the most valid",
            "base": "treat all cues alike", "by": "focus", "unit": 3.0, "label": "focused weights",
        },
    ),
    "weight:rank_decay": (
        {
            "says": "treat all cues alike", "base": "treat all cues alike",
            "opposite": "weight cues by the rank of their validity, each less than the one before (times {decay})",
            "by": "decay", "null": 1.0, "unit": 0.3, "opposite_label": "ranked cues",
        },
    ),
    "weight:free_ranks": tuple(
        {
            "says": f"{{much}}count {cue} in favour of a product",
            "opposite": f"{{much}}count {cue} against a product",
            "rest": "against it", "opposite_rest": "in its favour",
            "by": f"weight_{place}", "times": "sensitivity", "unit": LOG_ODDS,
        }
        for place, cue in {
            "best": "the best cue", "second": "the second cue", "third": "the third cue", "rest": "every further cue",
        }.items()
    ),
    "selection:unreliable_ignored": (
        {
            "says": "ignore cues whose validity is below a limit (about {least_validity%})",
            "by": "least_validity", "null": 0.5, "unit": 0.1, "label": "ignored cues",
        },
    ),
    "selection:best_few": (
        {"says": "look only at the most valid cues ({n_looked_up+} of them)", "label": "few cues"},
    ),
    "selection:single_cue": ({"says": "look at one cue only, always the one of a certain rank", "label": "one cue"},),
    "selection:one_left_out": (
        {"says": "leave out one cue, always the one of a certain rank", "label": "one omission"},
    ),
    "selection:fading": (
        {
            "says": "keep their interest down to the last cue",
            "opposite": "lose interest as they go down the cues from the most valid (times {persistence} each)",
            "by": "persistence", "null": 1.0, "unit": 0.3, "opposite_label": "fading interest",
        },
    ),
    "direction:best_inverted": ({"says": "take the best cue to say the opposite of what it says", "turns": True,
                                 "label": "inversion"},),
    "direction:last_inverted": ({"says": "take the cue of the last rank to say the opposite of what it says",
                                 "turns": True, "label": "inversion"},),
    "direction:unreliable_inverted": (
        {
            "says": "take cues below a certain validity (about {trusted%}) to say the opposite of what they say",
            "by": "trusted", "null": 0.5, "unit": 0.1, "turns": True, "label": "inversion",
        },
    ),
    "context:level_focus": _focus(
        "level_focus",
        "look {far}more at the best cues, the higher the ratings on display are overall",
        "look {far}more at the lesser cues, the higher the ratings on display are overall",
        "shifting focus", rest="at the lesser ones", opposite_rest="at the best ones",
    ),
    "context:conflict_focus": _focus(
        "conflict_focus",
        "look {far}more at the best cues, the more the cues disagree",
        "look {far}more at the lesser cues, the more the cues disagree",
        "shifting focus", rest="at the lesser ones", opposite_rest="at the best ones",
    ),
    "context:reversal_at_low_level": (
        {
            "says": "prefer the worse product where the ratings on display are low overall "
            "(below {reversal_level%} of the scale)",
            "by": "reversal_level", "unit": 0.2, "turns": True, "label": "reversals",
        },
    ),
    "context:cue_level": _focus(
        "cue_level",
        "look {far}more at cues on which the ratings are high",
        "look {far}more at cues on which the ratings are low",
        "shifting focus", rest="at those on which they are low", opposite_rest="at those on which they are high",
    ),
    "context:extreme_ratings_focus": _focus(
        "extreme_focus",
        "look {far}more at cues with a rating at the end of the scale",
        "look {far}less at cues with a rating at the end of the scale",
        "shifting focus",
    ),
    "history:perseveration": _pull(
        "stickiness", "{much}tend to the side that they chose last", "{much}tend away from the side that they chose "
        "last", shows="last_choice", label="repetition", opposite_label="alternation",
    ),
    "history:habit": _pull(
        "habit_strength", "{much}tend to the side that they have chosen more often lately",
        "{much}tend away from the side that they have chosen more often lately", label="habit",
        opposite_label="alternation",
    ),
    "history:streak": _pull(
        "switching", "{much}leave a side that they have chosen [{longest_run#}|a number of times in a row]",
        "{much}hold on to a side that they have chosen [{longest_run#}|a number of times in a row]",
        rest="hold on to it", opposite_rest="leave it",
        label="switching", opposite_label="repetition",
    ),
    "history:two_back": _pull(
        "two_back", "{much}tend to the side that they chose two trials ago",
        "{much}tend away from the side that they chose two trials ago", label="repetition",
        opposite_label="alternation",
    ),
    "history:rebellion": (
        {
            "says": "take all reasons to say the opposite after choosing one side [{patience#}|a number of times in "
                    "a row]",
            "turns": True, "label": "rebellion",
        },
    ),
    "history:side_focus": _focus(
        "side_focus",
        "look {far}more at the best cues after choosing the second product",
        "look {far}more at the best cues after choosing the first product",
        "shifting focus", rest="after choosing the first", opposite_rest="after choosing the second",
    ),
    "history:side_drift": _pull(
        "side_drift", "{much}come to lean to the second product as trials go by",
        "{much}come to lean to the first product as trials go by", label="drift", opposite_label="drift",
        rest="to the first", opposite_rest="to the second",
    ),
    "history:fatigue": (
        {
            "says": "care {far}less about the cues as trials go by",
            "opposite": "care {far}more about the cues as trials go by",
            "by": "fatigue", "unit": 0.3, "label": "fatigue", "opposite_label": "growing care",
        },
    ),
    "history:carry_over": (
        {
            "says": "{much}carry the evidence of the trial before over to this one",
            "opposite": "{much}contrast this trial with the one before",
            "by": "carry_over", "unit": LOG_ODDS, "label": "carry-over", "opposite_label": "contrast",
        },
    ),
    "history:supporting_cues": _focus(
        "confirmation",
        "look {far}more at the cues that spoke for the product chosen last",
        "look {far}less at the cues that spoke for the product chosen last",
        "confirmation",
    ),
    "history:stay_when_satisfied": _pull(
        "satisfied_stay",
        "{much}stay on a side where the product chosen last was good enough, and leave it otherwise",
        "{much}leave a side where the product chosen last was good enough, and stay otherwise",
        rest="do the reverse", opposite_rest="do the reverse",
        label="satisfied staying", opposite_label="switching",
    ),
    "history:similar_to_last": _pull(
        "same_again", "{much}tend to the product that resembles the one they chose last",
        "{much}tend away from the product that resembles the one they chose last",
        label="repetition", opposite_label="variety seeking",
    ),
    "history:take_turns": (
        {
            "says": "follow the reasons more in every second trial (times {second_turn})",
            "opposite": "follow the reasons less, or go against them, in every second trial (times {second_turn})",
            "by": "second_turn", "null": 1.0, "turns": True, "label": "turn taking", "opposite_label": "turn taking",
        },
    ),
    "history:later_best_cue": (
        {
            "says": "weigh up all cues at first and go by the best alone after a number of trials "
            "(about {full_effort+})",
            "label": "later simplifying",
        },
    ),
    "integration:threshold": (
        {
            "says": "go through the cues from the most valid and stop as soon as one product is far enough ahead "
            "(by {caution})",
        },
    ),
    "integration:exemplar": (
        {
            "says": "recall a thoroughly good and a thoroughly bad product, and go by which of the two each product "
            "resembles more",
        },
    ),
    **dict(
        (
            _accent("first_reason", "{much}overweight the most valid cue on which the products differ",
                    "{much}underweight the most valid cue on which the products differ",
                    "first_difference_favours", "a first reason"),
            _accent("majority", "are {much}drawn to the product that more cues favour",
                    "{much}avoid the product that more cues favour, other things equal", "n_cues_favouring",
                    "counting"),
            _accent("dominance", "are {much}drawn to a product that is nowhere worse",
                    "{much}avoid a product that is nowhere worse, other things equal", "n_cues_favouring", "dominance"),
            _accent("best_cue", "{much}overweight the most valid cue", "{much}underweight the most valid cue",
            "best_cue_favours",
                    "best-cue focus"),
            _accent("last_cue", "{much}overweight the least valid cue", "{much}underweight the least valid cue",
            "least_valid_favours",
                    "last-cue focus"),
            _accent("first_shown", "{much}overweight the cue that is shown first",
            "{much}underweight the cue that is shown first", "first_shown_favours",
                    "primacy"),
            _accent("last_shown", "{much}overweight the cue that is shown last",
            "{much}underweight the cue that is shown last", "last_shown_favours",
                    "recency"),
            _accent("worst_rating", "{much}prefer the product whose worst rating is better",
                    "{much}prefer the product whose worst rating is worse, other things equal",
                    "worst_rating_difference", "caution"),
            _accent("best_rating", "{much}prefer the product whose best rating is better",
                    "{much}prefer the product whose best rating is worse, other things equal",
                    "best_rating_difference", "best ratings"),
            _accent("median_rating", "{much}prefer the product whose middle rating is better",
                    "{much}prefer the product whose middle rating is worse, other things equal", "", "middle ratings"),
            _accent("unevenness", "{much}prefer the product whose ratings disagree with each other",
                    "{much}prefer the product whose ratings agree with each other", "unevenness_difference",
                    "evenness"),
            _accent("extreme_ratings", "{much}like ratings at the ends of the scale",
                    "{much}dislike ratings at the ends of the scale", "", "extremes"),
            _accent("middling", "{much}want a product whose mean rating is near an ideal ({ideal_total%} of the top)",
                    "{much}want a product whose mean rating is far from a certain one ({ideal_total%} of the top)", "",
                    "an ideal total"),
            _accent("veto", "{much}reject a product with any rating below a limit ({least_acceptable%} of the top)",
                    "{much}favour a product with a rating below a limit ({least_acceptable%} of the top), other "
                    "things equal", "",
                    "vetoes"),
            _accent("excellence", "{much}accept a product with any rating above a limit ({excellent%} of the top)",
                    "{much}avoid a product with any rating above a limit ({excellent%} of the top), other things "
                    "equal", "", "excellence"),
            _accent("enough_cues", "{much}accept a product once enough of its ratings are good",
                    "{much}avoid a product once enough of its ratings are good, other things equal", "", "enough cues"),
            _accent("odd_count", "{much}prefer a product with an odd number of good ratings",
                    "{much}prefer a product with an even number of good ratings", "odd_count_difference", "parity"),
            _accent("odd_sum", "{much}prefer a product whose ratings add up to an odd number",
                    "{much}prefer a product whose ratings add up to an even number", "odd_sum_difference", "parity"),
            _accent("odd_lead", "{much}prefer a product that an odd number of cues favour",
                    "{much}prefer a product that an even number of cues favour", "odd_lead_difference", "parity"),
            _accent("best_two_both", "{much}overweight the two most valid cues where both are good",
                    "{much}underweight the two most valid cues where both are good",
                    "best_two_both_difference", "paired cues"),
            _accent("best_two_unlike", "{much}prefer a product on which the two most valid cues disagree",
                    "{much}prefer a product on which the two most valid cues agree", "best_two_unlike_difference",
                    "paired cues"),
            _accent("pairs", "{much}prefer a product on which the three most valid cues are alike in pairs",
                    "{much}prefer a product on which the three most valid cues are unlike in pairs", "",
                    "paired cues"),
            _accent("pairs_with_fourth", "{much}prefer a product on which the fourth cue is like the three most "
                                         "valid ones",
                    "{much}prefer a product on which the fourth cue is unlike the three most valid ones", "",
                    "paired cues"),
            _accent("best_two_agree", "{much}overweight the two most valid cues where they agree",
                    "{much}underweight the two most valid cues where they agree", "", "agreeing cues"),
            _accent("variety", "{much}prefer the product with more different ratings",
                    "{much}prefer the product with fewer different ratings", "", "variety"),
            _accent("symmetry", "{much}like ratings that look the same from the top and from the bottom of the list",
                    "{much}dislike ratings that look the same from the top and from the bottom of the list",
                    "symmetry_difference", "symmetry"),
            _accent("smoothness", "{much}like ratings that change little from one cue to the next",
                    "{much}like ratings that change a lot from one cue to the next", "smoothness_difference",
                    "smoothness"),
        )
    ),
    "appraisal:contrarian": ({"says": "and then prefer the product that is behind", "turns": True,
                              "label": "contrariness"},),
    "appraisal:suspicious_lead": (
        {
            "says": "and distrust a lead that is too large (from {credible_lead}), and more so the larger it is",
            "turns": True, "reverses": True, "label": "distrust",
        },
    ),
    "appraisal:indifference": (
        {"says": "and are indifferent where the lead is too small to matter (below {margin})", "label": "indifference"},
    ),
    **{
        f"appraisal:{name}": ({"says": says, "label": label, "turns": True},)
        for name, says, label in (
            ("close_calls_by_accents", "and let what they weighed up decide alone but in close calls, which the rest "
             "decides alone", "close calls"),
            ("close_calls_by_first_reason", "but decide close calls by the most valid cue on which the products "
             "differ", "close calls"),
            ("close_calls_by_majority", "but decide close calls by counting cues", "close calls"),
            ("clear_calls_by_first_reason", "and weigh up close calls only, deciding clear ones by the most valid cue "
             "on which the products differ", "clear calls"),
            ("high_level_by_first_reason", "but decide by the most valid cue on which the products differ where "
             "ratings are high overall (from {high_level%})", "a shortcut"),
            ("low_level_by_first_reason", "but decide by the most valid cue on which the products differ where "
             "ratings are low overall (below {low_level%})", "a shortcut"),
            ("many_differences_by_first_reason", "but decide by the most valid cue on which the products differ where "
             "they differ on many (from {too_many%} of the cues)", "a shortcut"),
            ("few_differences_by_first_reason", "but decide by the most valid cue on which the products differ where "
             "they differ on few (below {too_few%} of the cues)", "a shortcut"),
        )
    },
    "bias:side": _pull(
        "lean", "{much}lean to the second side of the screen", "{much}lean to the first side of the screen",
        rest="to the first", opposite_rest="to the second",
        label="a side bias", opposite_label="a side bias",
    ),
    "choice:random_walk": (
        {
            "says": "note one reason after the other, at random by their share, until one product is a number of "
                    "reasons "
            "ahead (about {reasons_ahead})",
        },
    ),
    "other:best_reason": _type("one_reason_type", "decide by the most valid cue on which the products differ instead",
                               "two types"),
    "other:tallying": _type("counting_type", "count the cues that favour each product instead", "two types"),
    "other:weighing": _type("weighing_type", "add up the ratings, weighted by validity, instead", "two types"),
    "other:worst_rating": _type("cautious_type", "take the product whose worst rating is better", "two types"),
    "other:first_shown": _type("first_shown_type", "take the product that is better on the cue shown first",
                               "two types"),
    "other:contrarians": (
        {"says": "{who} choose the product against which all this speaks", "by": "contrary_type", "turns": True,
         "label": "contrarians"},
    ),
    **{
        f"other:sometimes_{name}": (
            {"says": f"{says} in some trials ({{{by}%}} of them)", "by": by, "unit": 0.1, "label": "a mixture"},
        )
        for name, by, says in (
            ("best_reason", "one_reason_share", "decide by the most valid cue on which the products differ"),
            ("tallying", "counting_share", "count the cues that favour each product"),
            ("weighing", "weighing_share", "add up the ratings, weighted by validity,"),
            ("worst_rating", "cautious_share", "take the product whose worst rating is better"),
            ("first_shown", "first_shown_share", "take the product that is better on the cue shown first"),
        )
    },
    "lapse:random": ({"says": "{lapse~} choose at random ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {
    "context": 2,
    "history": 2,
    "accent": 2,
    "appraisal": 3,
    "bias": 3,
    "choice": 3,
    "other": 3,
    "lapse": 3,
}
"""The sentence of the claim in which each slot is told, where it is not the first."""

HEADS = (
    (("choice:guessing",), "Guessing"),
    (("integration:one_reason", "utility:satisficing"), "Good-enough first reason"),
    (("integration:one_reason",), "Take the best"),
    (("integration:two_reasons",), "Take two"),
    (("integration:strongest_reasons",), "Strongest reasons"),
    (("integration:threshold",), "Sequential weighing"),
    (("integration:exemplar",), "Exemplar comparison"),
    (("integration:nothing",), "Overall impression"),
    (("choice:random_walk",), "Random walk"),
    (("choice:first_reason_drawn",), "A drawn reason"),
    (("comparison:direction", "weight:equal"), "Tallying"),
    (("comparison:direction",), "Weighted tallying"),
    (("integration:average", "weight:equal"), "Equal averaging"),
    (("integration:average",), "Weighted averaging"),
    (("integration:balance",), "Balance of reasons"),
    (("integration:noisy_reasons",), "Noisy adding"),
    (("weight:equal",), "Equal weights"),
    (("weight:free_ranks",), "Free weights"),
    ((), "Weighted adding"),
)
"""Names of forms: the first of which a composition has all mechanisms."""
