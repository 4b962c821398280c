"""Words for theories of choice among offers; `theories.language.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
LOG_ODDS = 0.5


def _taste(
    by: str, says: str, opposite: str, label: str, other: str, shows: str = ""
) -> dict[str, Any]:
    return {
        "says": says, "opposite": opposite, "by": by, "unit": LOG_ODDS, "label": label, "opposite_label": other,
        "shows": shows,
    }  # fmt: skip


WORDS: Words = {
    "expectation:expected prices": (
        {"says": "expect a price of their own where rates vary by the time of day (about {expected_time_of_day} cents) "
         "or by the season (about {expected_seasonal} cents)"},
    ),
    "expectation:one expected price": (
        {"says": "expect one price wherever rates vary (about {expected_price} cents)"},
    ),
    "context:loss averse": (
        {
            "says": "feel a cent above the mean price on offer {far}more than one below",
            "opposite": "feel a cent below the mean price on offer {far}more than one above",
            "rest": "one below more", "opposite_rest": "one above more", "by": "loss_aversion", "null": 1.0,
            "unit": 0.4, "ratio": True,
            "label": "loss aversion", "opposite_label": "gain seeking",
        },
    ),
    "context:distance from the best price": (
        {
            "says": "feel each further cent above the lowest price on offer {far}more than the one before",
            "opposite": "feel each further cent above the lowest price on offer {far}less than the one before",
            "rest": "less", "opposite_rest": "more", "by": "regret_curvature", "null": 1.0, "unit": 0.4, "ratio": True,
            "label": "increasing regret", "opposite_label": "diminishing regret",
        },
    ),
    "evaluation:weighted sum": (
        {"says": "{much}prefer lower prices", "by": "price_weight", "unit": LOG_ODDS},
        _taste("contract_weight", "{much}like longer contracts", "{much}dislike longer contracts",
               "long contracts", "short contracts", "contract_years_difference")
        | {"rest": "dislike them", "opposite_rest": "like them"},
        _taste("local_weight", "{much}like local suppliers", "{much}dislike local suppliers",
               "local suppliers", "distant suppliers", "local_difference")
        | {"rest": "dislike them", "opposite_rest": "like them"},
        _taste("known_weight", "{much}like well-known suppliers", "{much}dislike well-known suppliers",
               "known suppliers", "unknown suppliers", "well_known_difference")
        | {"rest": "dislike them", "opposite_rest": "like them"},
    ),
    "evaluation:price alone": (
        {"says": "compare prices and nothing else, and {much}prefer the lower", "by": "price_weight",
         "unit": LOG_ODDS},
    ),
    "evaluation:elimination by aspects": (
        {"says": "look for one aspect at a time, the more important the sooner, and drop the offers that do not have "
         "it (a price up to {cheap} cents counts as cheap)"},
    ),
    "attention:no contract": (
        _taste("freedom", "{much}value being free to leave at any time", "{much}dislike offers without contract",
               "freedom", "contracts", "no_contract_difference"),
    ),
    "attention:steady rate": (
        _taste("steadiness", "{much}avoid rates that vary, whatever they cost",
               "are {much}drawn to rates that vary, whatever they cost", "steady rates", "varying rates"),
    ),
    "screening:about the cheapest": (
        {"says": "look only at the cheapest offers, among which they do not notice small differences in price "
         "(up to {just_noticeable} cents)", "label": "price screening", "turns": True},
    ),
    "screening:cheap enough": (
        {"says": "look at all offers that are cheap enough (up to {aspiration} cents), or, where there are none, at "
                 "the "
         "cheapest", "label": "cheap-enough screening", "turns": True},
    ),
    "screening:the most familiar": (
        {"says": "look only at local suppliers if there are any left, or else at well-known ones",
         "label": "familiarity", "turns": True},
    ),
    "screening:the shortest contract": (
        {"says": "of the offers left, look only at those with the shortest contract", "label": "short contracts",
         "turns": True},
    ),
    "choice:deterministic": (
        {"says": "choose the offer for which the evidence speaks, by however little, and any of the best where several "
         "are"},
    ),
    "choice:logistic": (
        {"says": "choose the better offer the more often, the stronger the evidence", "plain": True},
    ),
    "lapse:random": ({"says": "{lapse~} choose at random ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {"attention": 2, "screening": 2, "choice": 3, "lapse": 3}

HEADS = (
    (("evaluation:weighted sum",), "Weighted attributes"),
    (("evaluation:price alone",), "Price alone"),
    (("evaluation:equal weights",), "Equal weights"),
    (("evaluation:elimination by aspects",), "Elimination by aspects"),
    (("screening",), "Screening offers"),
    (("attention",), "One feature"),
    ((), "Random choice"),
)
