"""From evidence to a probability: how evidence is taken, what biases it, other strategies, lapses.

``appraisal`` changes ``evidence``, ``bias`` sets ``bias`` (log odds), ``choice`` sets ``p``, ``(..., n_trials)``, and
``other`` and ``lapse`` change it.
"""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import (
    COOMBS,
    COUNTS,
    FIRST,
    ORDER_EFFECTS,
    PAYNE,
    REACTANCE,
    SHARE,
)
from lakatos.theories.language.grammar import Mechanism

RATINGS_DIFFER = "ratings[:, 1] - ratings[:, 0]"
FIRST_REASON = f"xp.sign(first_that_differs({RATINGS_DIFFER}, rank, xp))"
MAJORITY = f"xp.sign(xp.sign({RATINGS_DIFFER}).sum(axis=-1))"
LEVEL = "ratings.mean(axis=(1, 2))"
N_DIFFERENCES = "(ratings[:, 1] != ratings[:, 0]).mean(axis=-1)"
EVIDENCE = "weighted difference"
BRODER = "Broder & Schiffer (2003), Journal of Behavioral Decision Making 16(3), 193-213."
SHARES = ("integration:balance", "integration:average")
"""What gives evidence that is a balance of reasons, between -1 and 1."""
LOG_SHARES = "share = 0.5 + 0.5 * xp.clip(evidence, -1 + 1e-9, 1 - 1e-9)\nlog_shares = xp.log(share / (1 - share))"
"""Log odds of the shares of reasons for B and for A, of evidence that is a balance."""
CLOSE_CALL = log_uniform(0.02, 3.0, EVIDENCE, "lead below which it is a close call")

_appraisal = partial(Mechanism, "appraisal")
_choice = partial(Mechanism, "choice")

APPRAISAL = (
    _appraisal(
        "contrarian",
        "and then prefer the product that is behind",
        "evidence = -evidence",
        answers=("weighted_difference", "total_difference", "n_cues_favouring"),
        citation=REACTANCE,
        breaks=("rating", "dominance", "validity"),
    ),
    _appraisal(
        "suspicious_lead",
        "and distrust a lead that is too large, the more the larger it is",
        'evidence = evidence * xp.maximum(1 - xp.abs(evidence) / parameters["credible_lead"], -1.0)',
        {
            "credible_lead": log_uniform(
                0.1, 6.0, EVIDENCE, "lead beyond which it speaks against the product"
            )
        },
        ("weighted_difference", "total_difference", "largest_difference"),
        COOMBS,
        breaks=("rating", "dominance", "validity"),
    ),
    _appraisal(
        "indifference",
        "and are indifferent where the lead is too small to matter",
        'evidence = evidence * (xp.abs(evidence) >= parameters["margin"])',
        {"margin": log_uniform(0.02, 3.0, EVIDENCE, "smallest lead that matters")},
        ("weighted_difference", "largest_difference"),
        "Luce (1956), Econometrica 24(2), 178-191.",
        breaks=("cue_order",),
    ),
    _appraisal(
        "close_calls_by_accents",
        "and let what they weighed up decide alone but in close calls, which the rest decides alone",
        'evidence = xp.where(xp.abs(weighed) < parameters["close_call_by_accents"], evidence - weighed, weighed)',
        {"close_call_by_accents": CLOSE_CALL},
        ("weighted_difference", "unevenness_difference", "worst_rating_difference"),
        PAYNE,
        breaks=("cue_order",),
    ),
    _appraisal(
        "close_calls_by_first_reason",
        "but decide close calls by the most valid cue on which the products differ",
        f'evidence = xp.where(xp.abs(evidence) < parameters["close_call_by_first_reason"], {FIRST_REASON}, evidence)',
        {"close_call_by_first_reason": CLOSE_CALL},
        FIRST,
        PAYNE,
        breaks=("rating", "cue_order", "validity", "validity_order"),
    ),
    _appraisal(
        "close_calls_by_majority",
        "but decide close calls by counting cues",
        f'evidence = xp.where(xp.abs(evidence) < parameters["close_call_by_majority"], {MAJORITY}, evidence)',
        {"close_call_by_majority": CLOSE_CALL},
        COUNTS,
        PAYNE,
        breaks=("cue_order", "rating", "less_valid_rating", "validity"),
    ),
    _appraisal(
        "clear_calls_by_first_reason",
        "and weigh up close calls only, deciding clear ones by the most valid cue on which the products differ",
        f'evidence = xp.where(xp.abs(evidence) >= parameters["clear_call"], {FIRST_REASON}, evidence)',
        {"clear_call": log_uniform(0.02, 3.0, EVIDENCE, "lead from which it is a clear call")},
        FIRST,
        PAYNE,
        breaks=("rating", "cue_order", "validity", "validity_order"),
    ),
    _appraisal(
        "high_level_by_first_reason",
        "but decide by the most valid cue on which the products differ where ratings are high overall",
        f'evidence = xp.where({LEVEL} >= parameters["high_level"], {FIRST_REASON}, evidence)',
        {
            "high_level": uniform(
                0.0, 1.0, SHARE, "mean rating of both products from which they do so"
            )
        },
        (*FIRST, "level"),
        PAYNE,
        breaks=(
            "sides",
            "rating",
            "lead",
            "cue_order",
            "validity",
            "validity_order",
            "less_valid_rating",
            "shared_rating",
        ),
    ),
    _appraisal(
        "low_level_by_first_reason",
        "but decide by the most valid cue on which the products differ where ratings are low overall",
        f'evidence = xp.where({LEVEL} < parameters["low_level"], {FIRST_REASON}, evidence)',
        {
            "low_level": uniform(
                0.0, 1.0, SHARE, "mean rating of both products below which they do so"
            )
        },
        (*FIRST, "level"),
        PAYNE,
        breaks=(
            "sides",
            "rating",
            "lead",
            "cue_order",
            "validity",
            "validity_order",
            "less_valid_rating",
            "shared_rating",
        ),
    ),
    _appraisal(
        "many_differences_by_first_reason",
        "but decide by the most valid cue on which the products differ where they differ on many",
        f'evidence = xp.where({N_DIFFERENCES} >= parameters["too_many"] - 1e-9, {FIRST_REASON}, evidence)',
        {
            "too_many": uniform(
                0.0, 1.0, "share of the cues", "cues that differ, from which they do so"
            )
        },
        (*FIRST, "n_discriminating_cues"),
        PAYNE,
        breaks=("rating", "less_valid_rating", "cue_order", "validity", "validity_order"),
    ),
    _appraisal(
        "few_differences_by_first_reason",
        "but decide by the most valid cue on which the products differ where they differ on few",
        f'evidence = xp.where({N_DIFFERENCES} < parameters["too_few"], {FIRST_REASON}, evidence)',
        {
            "too_few": uniform(
                0.0, 1.0, "share of the cues", "cues that differ, below which they do so"
            )
        },
        (*FIRST, "n_discriminating_cues"),
        PAYNE,
        breaks=("rating", "less_valid_rating", "cue_order", "validity", "validity_order"),
    ),
)
BIAS = (
    Mechanism(
        "bias",
        "side",
        "lean to one side of the screen",
        'bias = bias + parameters["lean"]',
        {
            "lean": normal(
                0.0, 0.3, 4.0, "log odds", "preference for product B whatever the ratings"
            )
        },
        ("constant",),
        "Nicholls, Bradshaw & Mattingley (1999), Neuropsychologia 37(3), 307-314.",
        breaks=("sides", "deterministic"),
    ),
)
CHOICE = (
    _choice(
        "logistic",
        "choose the better product more surely, the larger its lead",
        'p = logistic(parameters["sensitivity"] * evidence + bias, xp)',
        {
            "sensitivity": log_uniform(
                0.1,
                200.0,
                "log odds per unit of evidence",
                "how strictly choices follow the evidence",
            )
        },
        citation="Luce (1959), Individual Choice Behavior.",
    ),
    _choice(
        "deterministic",
        "always choose the product that is ahead, and either one when there is no lead",
        "p = xp.where(xp.abs(evidence) < 1e-9, logistic(bias, xp), (evidence > 0) * 1.0)",
        citation=BRODER,
        is_null=True,
        predictions=({"property": "deterministic"},),
    ),
    _choice(
        "calibrated",
        "choose a product as often as the evidence, read as log odds, says that it is better",
        "p = logistic(evidence + bias, xp)",
        answers=("extremeness",),
        citation="Vulkan (2000), Journal of Economic Surveys 14(1), 101-118 (probability matching).",
    ),
    _choice(
        "random_walk",
        "note one reason after the other, at random by their share, until one product is so many reasons ahead",
        f'{LOG_SHARES}\np = logistic(parameters["reasons_ahead"] * log_shares + bias, xp)',
        {
            "reasons_ahead": log_uniform(
                0.3, 30.0, "reasons", "lead at which one product is chosen; 1 takes the first"
            )
        },
        ("extremeness",),
        "Feller (1968), An Introduction to Probability Theory I, section XIV.2; Nosofsky & Palmeri (1997).",
        rests_on=SHARES,
    ),
    _choice(
        "first_reason_drawn",
        "draw reasons at random by their share and take the first",
        f"{LOG_SHARES}\np = logistic(log_shares + bias, xp)",
        answers=("extremeness",),
        citation="Tversky (1972), Psychological Review 79(4), 281-299; Bergert & Nosofsky (2007).",
        rests_on=SHARES,
    ),
    _choice("guessing", "but then guess", "p = 0.5 + 0.0 * evidence"),
)

STRATEGIES = (
    (
        "best_reason",
        "decide by the most valid cue on which the products differ",
        "one_reason",
        FIRST_REASON,
        FIRST,
        "Broder (2000), JEP: LMC 26(5), 1332-1346; Scheibehenne, Rieskamp & Wagenmakers (2013).",
        ("ignores rating", "cue_order", "validity", "validity_order"),
    ),
    (
        "tallying",
        "count the cues that favour each product",
        "counting",
        MAJORITY,
        COUNTS,
        "Dawes (1979), American Psychologist 34(7), 571-582; Scheibehenne et al. (2013).",
        ("ignores rating", "less_valid_rating"),
    ),
    (
        "weighing",
        "add up the ratings, weighted by validity",
        "weighing",
        f"xp.sign(xp.round((validities * ({RATINGS_DIFFER})).sum(axis=-1), 9))",
        ("weighted_difference", "above_chance_difference"),
        "Lee & Newell (2011), Judgment and Decision Making 6(8), 832-842.",
        ("ignores rating", "lead", "less_valid_rating", "validity_order"),
    ),
    (
        "worst_rating",
        "take the product whose worst rating is better",
        "cautious",
        "xp.sign(ratings[:, 1].min(axis=-1) - ratings[:, 0].min(axis=-1))",
        ("worst_rating_difference",),
        "Wald (1945), Annals of Mathematics 46(2), 265-280.",
        ("ignores rating", "lead", "less_valid_rating", "shared_rating"),
    ),
    (
        "first_shown",
        "take the product that is better on the cue shown first",
        "first_shown",
        "xp.sign(ratings[:, 1, 0] - ratings[:, 0, 0])",
        ("first_shown_favours",),
        ORDER_EFFECTS,
        ("ignores rating", "less_valid_rating", "cue_order"),
    ),
)
"""Name, claim, prefix of the parameter, side taken, answers, citation and what it breaks of each other strategy."""


def _by_people(
    name: str,
    claim: str,
    prefix: str,
    side: str,
    answers: tuple[str, ...],
    citation: str,
    breaks: tuple[str, ...],
) -> Mechanism:
    return Mechanism(
        "other",
        name,
        f"but some people {claim}",
        f'p = xp.where(parameters["{prefix}_type"] > 0, 0.5 + 0.5 * {side}, p)',
        {
            f"{prefix}_type": normal(
                -1.0, 1.0, 4.0, "standard deviations", "disposition; people above 0 do so"
            )
        },
        answers,
        citation,
        breaks=breaks,
    )


def _by_trials(
    name: str,
    claim: str,
    prefix: str,
    side: str,
    answers: tuple[str, ...],
    citation: str,
    breaks: tuple[str, ...],
) -> Mechanism:
    return Mechanism(
        "other",
        f"sometimes_{name}",
        f"but in some trials {claim}",
        f'p = p + parameters["{prefix}_share"] * (0.5 + 0.5 * {side} - p)',
        {
            f"{prefix}_share": uniform(
                0.0, 1.0, "probability", "share of trials in which they do so"
            )
        },
        answers,
        citation,
        breaks=(*breaks, "deterministic"),
    )


OTHER = (
    *(_by_people(*strategy) for strategy in STRATEGIES),
    Mechanism(
        "other",
        "contrarians",
        "but some people choose the other product",
        'p = xp.where(parameters["contrary_type"] > 0, 1 - p, p)',
        {
            "contrary_type": normal(
                -1.0, 1.0, 4.0, "standard deviations", "disposition; people above 0 do so"
            )
        },
        ("extremeness", "weighted_difference"),
        REACTANCE,
        breaks=("rating", "dominance", "validity"),
    ),
    *(_by_trials(*strategy) for strategy in STRATEGIES),
)
LAPSE = (
    Mechanism(
        "lapse",
        "random",
        "sometimes press either key",
        'p = (1 - parameters["lapse"]) * p + 0.5 * parameters["lapse"]',
        {"lapse": uniform(0.0, 1.0, "probability", "share of choices made at random")},
        ("extremeness",),
        BRODER,
        is_null=True,
    ),
)
