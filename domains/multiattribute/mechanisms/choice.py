"""From evidence to a probability: how evidence is taken, what biases it, other strategies, lapses.

``appraisal`` changes ``evidence``, ``bias`` sets ``bias`` (log odds), ``choice`` sets ``p``, ``(..., n_trials)``, and
``other`` and ``lapse`` change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import (
    COOMBS,
    COUNTS,
    FIRST,
    ORDER_EFFECTS,
    PAYNE,
    REACTANCE,
    SHARE,
)
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

RATINGS_DIFFER = "ratings[:, 1] - ratings[:, 0]"
FIRST_REASON = f"xp.sign(first_that_differs({RATINGS_DIFFER}, rank, xp))"
MAJORITY = f"xp.sign(xp.sign({RATINGS_DIFFER}).sum(axis=-1))"
LEVEL = "ratings.mean(axis=(1, 2))"
N_DIFFERENCES = "(ratings[:, 1] != ratings[:, 0]).mean(axis=-1)"
EVIDENCE = "weighted difference"
BRODER = "Broder & Schiffer (2003), Journal of Behavioral Decision Making 16(3), 193-213."
CONTRARY = ("appraisal:contrarian", "other:contrarians")
"""Mechanisms that make people choose the other product than the evidence favours."""
SHARES = ("integration:balance", "integration:average")
"""Mechanisms whose evidence is a balance of reasons, between -1 and 1."""
LOG_SHARES = "share = 0.5 + 0.5 * xp.clip(evidence, -1 + 1e-9, 1 - 1e-9)\nlog_shares = xp.log(share / (1 - share))"
"""Log odds of the shares of reasons for B and for A, of evidence that is a balance."""
DISPOSITION = normal(-1.0, 1.0, 4.0, "standard deviations", "disposition; people above 0 do so")
CLOSE_CALL = log_uniform(0.02, 3.0, EVIDENCE, "lead below which it is a close call")

_appraisal = partial(Mechanism, slot="appraisal")
_choice = partial(Mechanism, slot="choice")

APPRAISAL = (
    _appraisal(
        name="contrarian",
        code="evidence = -evidence",
        wording=Wording(
            clause="and then prefer the product that is behind",
            label="contrariness",
            overrides=True,
        ),
        repairs=("difference_weighted_by_validity", "total_difference", "n_cues_favouring"),
        breaks=("rating", "dominance", "validity"),
        source=REACTANCE,
    ),
    _appraisal(
        name="suspicious_lead",
        code='evidence = evidence * xp.maximum(1 - xp.abs(evidence) / parameters["credible_lead"], -1.0)',
        parameters={
            "credible_lead": log_uniform(
                0.1, 6.0, EVIDENCE, "lead beyond which it speaks against the product"
            )
        },
        wording=Wording(
            clause="and distrust a lead that is too large (from {credible_lead}), and more so the larger it is",
            label="distrust",
            overrides=True,
            reverses_choices=True,
        ),
        repairs=("difference_weighted_by_validity", "total_difference", "largest_difference"),
        breaks=("rating", "dominance", "validity"),
        source=COOMBS,
    ),
    _appraisal(
        name="indifference",
        code='evidence = evidence * (xp.abs(evidence) >= parameters["margin"])',
        parameters={"margin": log_uniform(0.02, 3.0, EVIDENCE, "smallest lead that matters")},
        wording=Wording(
            clause="and are indifferent where the lead is below a threshold ({margin})",
            label="indifference",
        ),
        repairs=("difference_weighted_by_validity", "largest_difference"),
        breaks=("cue_order",),
        source="Luce (1956), Econometrica 24(2), 178-191.",
    ),
    _appraisal(
        name="close_calls_by_accents",
        code='evidence = xp.where(xp.abs(weighed) < parameters["close_call_by_accents"], evidence - weighed, weighed)',
        parameters={"close_call_by_accents": CLOSE_CALL},
        wording=Wording(
            clause="but let only the other considerations decide close calls",
            label="close calls",
            overrides=True,
        ),
        repairs=(
            "difference_weighted_by_validity",
            "unevenness_difference",
            "worst_rating_difference",
        ),
        breaks=("cue_order",),
        source=PAYNE,
    ),
    _appraisal(
        name="close_calls_by_first_reason",
        code='evidence = xp.where(xp.abs(evidence) < parameters["close_call_by_first_reason"], '
        f"{FIRST_REASON}, evidence)",
        parameters={"close_call_by_first_reason": CLOSE_CALL},
        wording=Wording(
            clause="but decide close calls by the most valid cue on which the products differ",
            label="close calls",
            overrides=True,
        ),
        repairs=FIRST,
        breaks=("rating", "cue_order", "validity", "validity_order"),
        source=PAYNE,
    ),
    _appraisal(
        name="close_calls_by_majority",
        code=f'evidence = xp.where(xp.abs(evidence) < parameters["close_call_by_majority"], {MAJORITY}, evidence)',
        parameters={"close_call_by_majority": CLOSE_CALL},
        wording=Wording(
            clause="but decide close calls by counting cues",
            label="close calls",
            overrides=True,
        ),
        repairs=COUNTS,
        breaks=("cue_order", "rating", "less_valid_rating", "validity"),
        source=PAYNE,
    ),
    _appraisal(
        name="clear_calls_by_first_reason",
        code=f'evidence = xp.where(xp.abs(evidence) >= parameters["clear_call"], {FIRST_REASON}, evidence)',
        parameters={
            "clear_call": log_uniform(0.02, 3.0, EVIDENCE, "lead from which it is a clear call")
        },
        wording=Wording(
            clause=("but decide clear cases by the most valid cue on which the products differ"),
            label="clear calls",
            overrides=True,
        ),
        repairs=FIRST,
        breaks=("rating", "cue_order", "validity", "validity_order"),
        source=PAYNE,
    ),
    _appraisal(
        name="high_level_by_first_reason",
        code=f'evidence = xp.where({LEVEL} >= parameters["high_level"], {FIRST_REASON}, evidence)',
        parameters={
            "high_level": uniform(
                0.0, 1.0, SHARE, "mean rating of both products from which they do so"
            )
        },
        wording=Wording(
            clause=(
                "but decide by the most valid cue on which the products differ if ratings are "
                "high overall (from {high_level%})"
            ),
            label="a shortcut",
            overrides=True,
        ),
        repairs=(*FIRST, "level"),
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
        source=PAYNE,
    ),
    _appraisal(
        name="low_level_by_first_reason",
        code=f'evidence = xp.where({LEVEL} < parameters["low_level"], {FIRST_REASON}, evidence)',
        parameters={
            "low_level": uniform(
                0.0, 1.0, SHARE, "mean rating of both products below which they do so"
            )
        },
        wording=Wording(
            clause=(
                "but decide by the most valid cue on which the products differ if ratings are "
                "low overall (below {low_level%})"
            ),
            label="a shortcut",
            overrides=True,
        ),
        repairs=(*FIRST, "level"),
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
        source=PAYNE,
    ),
    _appraisal(
        name="many_differences_by_first_reason",
        code=f'evidence = xp.where({N_DIFFERENCES} >= parameters["too_many"] - 1e-9, {FIRST_REASON}, evidence)',
        parameters={
            "too_many": uniform(
                0.0, 1.0, "share of the cues", "cues that differ, from which they do so"
            )
        },
        wording=Wording(
            clause=(
                "but decide by the most valid cue on which the products differ if they differ on "
                "many (from {too_many%} of the cues)"
            ),
            label="a shortcut",
            overrides=True,
        ),
        repairs=(*FIRST, "n_discriminating_cues"),
        breaks=("rating", "less_valid_rating", "cue_order", "validity", "validity_order"),
        source=PAYNE,
    ),
    _appraisal(
        name="few_differences_by_first_reason",
        code=f'evidence = xp.where({N_DIFFERENCES} < parameters["too_few"], {FIRST_REASON}, evidence)',
        parameters={
            "too_few": uniform(
                0.0, 1.0, "share of the cues", "cues that differ, below which they do so"
            )
        },
        wording=Wording(
            clause=(
                "but decide by the most valid cue on which the products differ if they differ on "
                "few (below {too_few%} of the cues)"
            ),
            label="a shortcut",
            overrides=True,
        ),
        repairs=(*FIRST, "n_discriminating_cues"),
        breaks=("rating", "less_valid_rating", "cue_order", "validity", "validity_order"),
        source=PAYNE,
    ),
)
BIAS = (
    Mechanism(
        slot="bias",
        name="side",
        code='bias = bias + parameters["lean"]',
        parameters={
            "lean": normal(
                0.0, 0.3, 4.0, "log odds", "preference for product B whatever the ratings"
            )
        },
        wording=Wording(
            clause="{much}favour the second side of the screen",
            clause_short="towards the second",
            opposite_clause="{much}favour the first side of the screen",
            opposite_short="towards the first",
            parameter="lean",
            unit=LOG_ODDS,
            label="a side bias",
            opposite_label="a side bias",
        ),
        repairs=("constant",),
        breaks=("sides", "deterministic"),
        needs=("sides",),
        source="Nicholls, Bradshaw & Mattingley (1999), Neuropsychologia 37(3), 307-314.",
    ),
)
CHOICE = (
    _choice(
        name="logistic",
        code='p = logistic(parameters["sensitivity"] * evidence + bias, xp)',
        parameters={
            "sensitivity": log_uniform(
                0.1,
                200.0,
                "log odds per unit of evidence",
                "choice sensitivity (inverse temperature)",
            )
        },
        wording=Wording(
            clause="choose the better product with a probability that rises with its lead (logistic)",
            taken_for_granted=True,
        ),
        source="Luce (1959), Individual Choice Behavior.",
    ),
    _choice(
        name="deterministic",
        clause="choose the product that comes out better, and guess if neither does",
        beside=(CONTRARY, "guess only if neither product is ahead"),
        code="p = xp.where(xp.abs(evidence) < 1e-9, logistic(bias, xp), (evidence > 0) * 1.0)",
        predictions=({"property": "deterministic"},),
        is_null=True,
        source=BRODER,
    ),
    _choice(
        name="calibrated",
        clause="choose a product with the probability that it is better, reading the evidence as log odds",
        beside=(CONTRARY, "decide as often as they read the evidence to be right, as log odds"),
        code="p = logistic(evidence + bias, xp)",
        repairs=("extremeness",),
        source="Vulkan (2000), Journal of Economic Surveys 14(1), 101-118 (probability matching).",
    ),
    _choice(
        name="random_walk",
        code=f'{LOG_SHARES}\np = logistic(parameters["reasons_ahead"] * log_shares + bias, xp)',
        parameters={
            "reasons_ahead": log_uniform(
                0.3, 30.0, "reasons", "lead at which one product is chosen; 1 takes the first"
            )
        },
        wording=Wording(
            clause=(
                "sample cues one at a time, in proportion to their weight, until the lead of one "
                "product reaches a threshold ({reasons_ahead} cues; at 1 the first cue decides)"
            )
        ),
        repairs=("extremeness",),
        rests_on=SHARES,
        source="Feller (1968), An Introduction to Probability Theory I, section XIV.2; Nosofsky & Palmeri (1997).",
    ),
    _choice(
        name="first_reason_drawn",
        clause="sample one cue in proportion to its weight and decide by it",
        beside=(("weight:equal",), "sample one cue, each with equal probability, and decide by it"),
        code=f"{LOG_SHARES}\np = logistic(log_shares + bias, xp)",
        repairs=("extremeness",),
        rests_on=SHARES,
        source="Tversky (1972), Psychological Review 79(4), 281-299; Bergert & Nosofsky (2007).",
    ),
    _choice(
        name="guessing",
        clause="guess, whatever the cues favour",
        code="p = 0.5 + 0.0 * evidence",
    ),
)


@dataclass(frozen=True)
class OtherStrategy:
    """A strategy that rules some people, or some trials of everybody."""

    name: str
    clause: str
    parameter: str
    """Beginning of the names of its parameters."""
    side: str
    """1 where it takes product B, -1 where it takes A, 0 where it cannot tell."""
    repairs: tuple[str, ...]
    breaks: tuple[str, ...]
    source: str
    instead: str = ""
    """Text after the clause, where it states what some people do."""


STRATEGIES = (
    OtherStrategy(
        name="best_reason",
        clause="decide by the most valid cue on which the products differ",
        instead=" instead",
        parameter="one_reason",
        side=FIRST_REASON,
        repairs=FIRST,
        breaks=("ignores rating", "cue_order", "validity", "validity_order"),
        source="Broder (2000), JEP: LMC 26(5), 1332-1346; Scheibehenne, Rieskamp & Wagenmakers (2013).",
    ),
    OtherStrategy(
        name="tallying",
        clause="count the cues that favour each product",
        instead=" instead",
        parameter="counting",
        side=MAJORITY,
        repairs=COUNTS,
        breaks=("ignores rating", "less_valid_rating"),
        source="Dawes (1979), American Psychologist 34(7), 571-582; Scheibehenne et al. (2013).",
    ),
    OtherStrategy(
        name="weighing",
        clause="add up the ratings, weighted by validity,",
        instead=" instead",
        parameter="weighing",
        side=f"xp.sign(xp.round((validities * ({RATINGS_DIFFER})).sum(axis=-1), 9))",
        repairs=("difference_weighted_by_validity", "difference_weighted_above_chance"),
        breaks=("ignores rating", "lead", "less_valid_rating", "validity_order"),
        source="Lee & Newell (2011), Judgment and Decision Making 6(8), 832-842.",
    ),
    OtherStrategy(
        name="worst_rating",
        clause="take the product whose worst rating is better",
        parameter="cautious",
        side="xp.sign(ratings[:, 1].min(axis=-1) - ratings[:, 0].min(axis=-1))",
        repairs=("worst_rating_difference",),
        breaks=("ignores rating", "lead", "less_valid_rating", "shared_rating"),
        source="Wald (1945), Annals of Mathematics 46(2), 265-280.",
    ),
    OtherStrategy(
        name="first_shown",
        clause="take the product that is better on the cue shown first",
        parameter="first_shown",
        side="xp.sign(ratings[:, 1, 0] - ratings[:, 0, 0])",
        repairs=("first_shown_favours",),
        breaks=("ignores rating", "less_valid_rating", "cue_order"),
        source=ORDER_EFFECTS,
    ),
)


def _by_people(strategy: OtherStrategy) -> Mechanism:
    """Some people follow another strategy in all trials."""
    parameter = f"{strategy.parameter}_type"
    return Mechanism(
        slot="other",
        name=strategy.name,
        code=f'p = xp.where(parameters["{parameter}"] > 0, 0.5 + 0.5 * {strategy.side}, p)',
        parameters={parameter: DISPOSITION},
        wording=Wording(
            clause=f"{{who}} {strategy.clause}{strategy.instead}",
            parameter=parameter,
            label="two types",
        ),
        repairs=strategy.repairs,
        breaks=strategy.breaks,
        source=strategy.source,
    )


def _by_trials(strategy: OtherStrategy) -> Mechanism:
    """Everybody follows another strategy in some trials."""
    parameter = f"{strategy.parameter}_share"
    share = uniform(0.0, 1.0, "probability", "share of trials in which they do so")
    return Mechanism(
        slot="other",
        name=f"sometimes_{strategy.name}",
        code=f'p = p + parameters["{parameter}"] * (0.5 + 0.5 * {strategy.side} - p)',
        parameters={parameter: share},
        wording=Wording(
            clause=f"instead {strategy.clause} {{{parameter}~}}",
            parameter=parameter,
            unit=0.1,
            label="a mixture",
        ),
        repairs=strategy.repairs,
        breaks=(*strategy.breaks, "deterministic"),
        source=strategy.source,
    )


OTHER = (
    *(_by_people(strategy) for strategy in STRATEGIES),
    Mechanism(
        slot="other",
        name="contrarians",
        code='p = xp.where(parameters["contrary_type"] > 0, 1 - p, p)',
        parameters={"contrary_type": DISPOSITION},
        wording=Wording(
            clause="{who} choose the product that has less in its favour",
            parameter="contrary_type",
            label="contrarians",
            overrides=True,
        ),
        repairs=("extremeness", "difference_weighted_by_validity"),
        breaks=("rating", "dominance", "validity"),
        source=REACTANCE,
    ),
    *(_by_trials(strategy) for strategy in STRATEGIES),
)
LAPSE = (
    Mechanism(
        slot="lapse",
        name="random",
        code='p = (1 - parameters["lapse"]) * p + 0.5 * parameters["lapse"]',
        parameters={"lapse": uniform(0.0, 1.0, "probability", "share of choices made at random")},
        wording=Wording(clause="choose at random {lapse~}"),
        repairs=("extremeness",),
        is_null=True,
        source=BRODER,
    ),
)
