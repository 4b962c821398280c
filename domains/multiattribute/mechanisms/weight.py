"""What a cue counts: its rank, weight, selection, direction, and how these change with the context.

Sets ``rank`` (``order``), then ``weight``, ``(..., n_trials, n_cues)``; a negative weight counts against.
"""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import (
    FIRST,
    PAYNE,
    POSITIVE,
    REACTANCE,
    SHARE,
)
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

VALIDITY = ("difference_weighted_above_chance", "validity_spread")
STEEP = (
    "difference_weighted_above_chance",
    "n_cues_favouring",
    "best_cue_favours",
    "conflict",
    "validity_spread",
)
PLACE = ("first_shown_favours", "last_shown_favours")
LEAST = ("least_valid_favours", "difference_weighted_above_chance", "best_cue_favours")
CENTRED_RANK = "(0.5 - (rank + 0.5) / validities.shape[-1])"
ABOVE_CHANCE = "weight = xp.maximum(2 * validities - 1, 0.02)"
EMPHASIS = {
    "emphasis": log_uniform(
        0.02,
        20.0,
        "exponent",
        "0 treats cues alike, 1 weighs them by validity above guessing, large follows the best cue",
    )
}
AS_VALID = "validities = xp.take_along_axis(-xp.sort(-validities, axis=-1), rank, axis=-1)"
"""Gives the best validity to the cue that is taken for the best, and so on."""
RANKS = {
    "best": "the best cue",
    "second": "the second cue",
    "third": "the third cue",
    "rest": "every further cue",
}
BERGERT = "Bergert & Nosofsky (2007), JEP: LMC 33(1), 107-129; Lee & Newell (2011)."

_order = partial(Mechanism, slot="order")
_weight = partial(Mechanism, slot="weight")
_selection = partial(Mechanism, slot="selection")
_direction = partial(Mechanism, slot="direction")
_context = partial(Mechanism, slot="context")

ORDER = (
    _order(
        name="shown",
        clause=(
            "treat the cue that is shown first as the best one, the next as the second, "
            "regardless of the validities"
        ),
        code=f"rank = above = cue + 0 * rank\n{AS_VALID}",
        repairs=PLACE,
        predictions=({"property": "ignores", "in": "validity_order"},),
        breaks=("cue_order", "less_valid_rating", "validity"),
        source="Russo & Dosher (1983), JEP: LMC 9(4), 676-696; Hogarth & Einhorn (1992).",
    ),
    _order(
        name="shown_backwards",
        clause=(
            "treat the cue that is shown last as the best one, the one before as the second, "
            "regardless of the validities"
        ),
        code=f"rank = above = validities.shape[-1] - 1 - cue + 0 * rank\n{AS_VALID}",
        repairs=PLACE,
        predictions=({"property": "ignores", "in": "validity_order"},),
        breaks=("cue_order", "less_valid_rating", "validity"),
        source="Hogarth & Einhorn (1992), Cognitive Psychology 24(1), 1-55 (recency).",
    ),
    _order(
        name="least_valid_first",
        clause="treat the least valid cue as the best one, the next as the second, and so on",
        code=f"rank = above = validities.shape[-1] - 1 - rank\n{AS_VALID}",
        repairs=LEAST,
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
        source="Newell, Rakow, Weston & Shanks (2004), Journal of Behavioral Decision Making 17(2), 117-137.",
    ),
    _order(
        name="largest_difference_first",
        clause=(
            "treat the cue on which the ratings differ most as the best one, and so on, "
            "regardless of the validities"
        ),
        code="striking = xp.abs(ratings[:, 1] - ratings[:, 0]) - 1e-6 * rank\n"
        f"rank = above = (striking[:, None, :] > striking[:, :, None]).sum(axis=-1)\n{AS_VALID}",
        repairs=("largest_difference", "first_difference_favours"),
        breaks=("rating", "lead", "less_valid_rating", "cue_order", "validity", "validity_order"),
        source="Bordalo, Gennaioli & Shleifer (2013), Journal of Political Economy 121(5), 803-843.",
    ),
    _order(
        name="smallest_difference_first",
        clause="treat the cue with the smallest difference of ratings as the best one, and so on",
        code="plain = xp.abs(ratings[:, 1] - ratings[:, 0])\n"
        "plain = xp.where(plain > 0, plain, 9.0) + 1e-6 * rank\n"
        f"rank = above = (plain[:, None, :] < plain[:, :, None]).sum(axis=-1)\n{AS_VALID}",
        repairs=("largest_difference", "first_difference_favours"),
        breaks=("rating", "lead", "less_valid_rating", "cue_order", "validity", "validity_order"),
        source="Mellers & Biagini (1994), Psychological Review 101(3), 505-518.",
    ),
)
WEIGHT = (
    _weight(
        name="validity",
        clause="weight cues by their validity",
        code="weight = validities",
        predictions=({"property": "non_decreasing", "in": "validity"},),
        source="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
    ),
    _weight(
        name="above_chance",
        clause="weight cues by how far their validity is above chance",
        code="weight = 2 * validities - 1",
        repairs=VALIDITY,
        predictions=({"property": "non_decreasing", "in": "validity"},),
        source="Dawes (1979), American Psychologist 34(7), 571-582.",
    ),
    _weight(
        name="log_odds",
        clause="weight cues by the log odds that they are right",
        code="weight = xp.log(xp.minimum(validities, 0.99) / (1 - xp.minimum(validities, 0.99)))",
        repairs=(*VALIDITY, "best_cue_favours"),
        predictions=({"property": "non_decreasing", "in": "validity"},),
        source="Katsikopoulos & Martignon (2006), Journal of Mathematical Psychology 50(5), 488-494.",
    ),
    _weight(
        name="equal",
        clause="treat all cues alike",
        code="weight = xp.ones_like(validities)",
        repairs=("n_cues_favouring", "total_difference"),
        predictions=({"property": "ignores", "in": "validity_order"},),
        source="Dawes (1979), American Psychologist 34(7), 571-582.",
    ),
    _weight(
        name="power",
        code=f'{ABOVE_CHANCE} ** parameters["emphasis"][..., None]',
        parameters=EMPHASIS,
        wording=(
            Wording(clause="weight cues by how far their validity is above chance"),
            Wording(
                clause="{much}exaggerate the differences between these weights",
                clause_short="exaggerate them",
                opposite_clause="{much}reduce the differences between these weights",
                opposite_short="reduce them",
                parameter="emphasis",
                neutral=1.0,
                unit=0.7,
                log_ratio=True,
                label="focused weights",
                opposite_label="flattened weights",
            ),
        ),
        repairs=STEEP,
        predictions=({"property": "non_decreasing", "in": "validity"},),
        source=BERGERT,
    ),
    _weight(
        name="relative_power",
        code=f'{ABOVE_CHANCE}\nweight = (weight / weight.max(axis=-1)[:, None]) ** parameters["emphasis"][..., None]',
        parameters=EMPHASIS,
        wording=(
            Wording(clause="weight cues by their validity relative to the best"),
            Wording(
                clause="{much}exaggerate the differences between these weights",
                clause_short="exaggerate them",
                opposite_clause="{much}reduce the differences between these weights",
                opposite_short="reduce them",
                parameter="emphasis",
                neutral=1.0,
                unit=0.7,
                log_ratio=True,
                label="focused weights",
                opposite_label="flattened weights",
            ),
        ),
        repairs=STEEP,
        source=BERGERT,
    ),
    _weight(
        name="exponential",
        code='weight = xp.exp(parameters["focus"][..., None] * (validities - validities.max(axis=-1)[:, None]))',
        parameters={
            "focus": log_uniform(
                0.1,
                100.0,
                "per unit of validity",
                "how much faster than in proportion weight grows with validity; near 0 treats cues alike",
            )
        },
        wording=Wording(
            clause="weight cues by their validity, {much}favouring the most valid",
            neutral_clause="treat all cues alike",
            parameter="focus",
            unit=3.0,
            label="focused weights",
        ),
        repairs=STEEP,
        source="Roe, Busemeyer & Townsend (2001), Psychological Review 108(2), 370-392.",
    ),
    _weight(
        name="rank_decay",
        code='weight = parameters["decay"][..., None] ** above',
        parameters={
            "decay": uniform(
                0.02,
                1.0,
                "ratio",
                "weight of a cue relative to the next more valid one; below one half the best cue decides",
            )
        },
        wording=Wording(
            clause="treat all cues alike",
            opposite_clause=(
                "weight cues by the rank of their validity, each less than the one before ({decay} times as much)"
            ),
            neutral_clause="treat all cues alike",
            parameter="decay",
            neutral=1.0,
            unit=0.3,
            opposite_label="ranked cues",
        ),
        repairs=("best_cue_favours", "conflict"),
        source="Martignon & Hoffrage (2002), Theory and Decision 52, 29-71; Barron & Barrett (1996).",
    ),
    _weight(
        name="free_ranks",
        clause=(
            "weight the best cue, the second, the third and the rest separately, possibly "
            "negatively"
        ),
        code='weight = parameters["weight_best"][..., None] * (rank == 0)\n'
        'weight = weight + parameters["weight_second"][..., None] * (rank == 1)\n'
        'weight = weight + parameters["weight_third"][..., None] * (rank == 2)\n'
        'weight = weight + parameters["weight_rest"][..., None] * (rank > 2)',
        parameters={
            f"weight_{place}": uniform(-1.0, 1.0, "weight", f"of {cue}; below 0 it counts against")
            for place, cue in RANKS.items()
        },
        wording=tuple(
            Wording(
                clause=f"{{much}}count a high rating on {cue} in favour of a product",
                clause_short="in its favour",
                opposite_clause=f"{{much}}count a high rating on {cue} against a product",
                opposite_short="against it",
                parameter=f"weight_{place}",
                unit=LOG_ODDS,
                multiplied_by="sensitivity",
            )
            for place, cue in RANKS.items()
        ),
        repairs=(
            *FIRST,
            "least_valid_favours",
            "difference_weighted_above_chance",
            "n_cues_favouring",
            *PLACE,
        ),
        breaks=("rating", "less_valid_rating", "dominance", "cue_order"),
        source="Green & Srinivasan (1978), Journal of Consumer Research 5(2), 103-123.",
    ),
)
SELECTION = (
    _selection(
        name="unreliable_ignored",
        code='weight = weight * (validities >= parameters["least_validity"][..., None])',
        parameters={
            "least_validity": uniform(
                0.5, 0.95, "probability", "lowest validity of a cue that is looked at"
            )
        },
        wording=Wording(
            clause="ignore cues whose validity is below a limit (about {least_validity%})",
            parameter="least_validity",
            neutral=0.5,
            unit=0.1,
            label="ignored cues",
        ),
        repairs=("difference_weighted_above_chance", "n_cues", "validity_spread"),
        breaks=("validity_order",),
        source="Hogarth & Karelaia (2007), Psychological Review 114(3), 733-758.",
    ),
    _selection(
        name="best_few",
        clause="consider only some of the most valid cues",
        code='weight = weight * (rank < parameters["n_looked_up"][..., None])',
        parameters={
            "n_looked_up": uniform(0.5, 8.0, "cues", "cues that are looked at, rounded up")
        },
        wording=Wording(
            clause="use only the most valid cues (at most {n_looked_up+} of them)",
            label="few cues",
        ),
        repairs=("n_cues", "n_discriminating_cues", "best_cue_favours"),
        breaks=("cue_order", "validity", "validity_order"),
        source="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669; Graefe & Armstrong (2012).",
    ),
    _selection(
        name="single_cue",
        code='weight = weight * (rank == xp.floor(parameters["rank_looked_up"][..., None] * validities.shape[-1]))',
        parameters={
            "rank_looked_up": uniform(
                0.0, 0.999, "share of the cues", "rank of the cue; 0 the best, near 1 the last"
            )
        },
        wording=Wording(
            clause="use only one cue, of the same validity rank on every trial",
            label="one cue",
        ),
        replaces=(
            *POSITIVE,
            "integration:sum",
            "integration:average",
            "integration:balance",
            "integration:noisy_reasons",
            "integration:one_reason",
            "integration:two_reasons",
            "integration:threshold",
            "integration:strongest_reasons",
            "choice:random_walk",
            "choice:first_reason_drawn",
        ),
        repairs=("best_cue_favours", "least_valid_favours", *PLACE),
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
        source="Hogarth & Karelaia (2005), Management Science 51(12), 1860-1872.",
    ),
    _selection(
        name="one_left_out",
        code='weight = weight * (rank != xp.floor(parameters["rank_left_out"][..., None] * validities.shape[-1]))',
        parameters={
            "rank_left_out": uniform(
                0.0, 0.999, "share of the cues", "rank of the cue; 0 the best, near 1 the last"
            )
        },
        wording=Wording(
            clause="leave out one cue, of the same validity rank on every trial",
            label="one omission",
        ),
        repairs=("best_cue_favours", "least_valid_favours", *PLACE),
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
        source="Hogarth & Karelaia (2007), Psychological Review 114(3), 733-758.",
    ),
    _selection(
        name="fading",
        code='weight = weight * parameters["persistence"][..., None] ** rank',
        parameters={
            "persistence": uniform(
                0.05, 1.0, "ratio", "attention to a cue relative to the next more valid one"
            )
        },
        wording=Wording(
            clause="attend equally to all cues, down to the least valid one",
            opposite_clause="attend to each cue less than to the next more valid one ({persistence} times as much)",
            parameter="persistence",
            neutral=1.0,
            unit=0.3,
            opposite_label="fading interest",
        ),
        repairs=(*FIRST, "n_cues", *PLACE),
        breaks=("cue_order", "validity", "validity_order"),
        source="Wallsten & Barton (1982), JEP: LMC 8(5), 361-384.",
    ),
)
DIRECTION = (
    _direction(
        name="best_inverted",
        code="weight = xp.where(rank == 0, -weight, weight)",
        wording=Wording(
            clause="interpret the best cue in reverse",
            label="inversion",
            overrides=True,
        ),
        repairs=FIRST,
        breaks=("rating", "dominance", "cue_order", "validity", "validity_order"),
        source=REACTANCE,
    ),
    _direction(
        name="last_inverted",
        code="weight = xp.where(rank == validities.shape[-1] - 1, -weight, weight)",
        wording=Wording(
            clause="interpret the cue of the last rank in reverse",
            label="inversion",
            overrides=True,
        ),
        repairs=("least_valid_favours", "difference_weighted_above_chance"),
        breaks=("rating", "dominance", "cue_order", "validity", "validity_order"),
        source="Einhorn & Hogarth (1975), Organizational Behavior and Human Performance 13(2), 171-192.",
    ),
    _direction(
        name="unreliable_inverted",
        code='weight = xp.where(validities < parameters["trusted"][..., None], -weight, weight)',
        parameters={
            "trusted": uniform(0.5, 1.0, "probability", "validity below which a cue counts against")
        },
        wording=Wording(
            clause="interpret cues below a certain validity (about {trusted%}) in reverse",
            parameter="trusted",
            neutral=0.5,
            unit=0.1,
            label="inversion",
            overrides=True,
        ),
        repairs=("least_valid_favours", "difference_weighted_above_chance", "validity_spread"),
        breaks=("rating", "dominance", "validity", "validity_order"),
        source="Einhorn & Hogarth (1975), Organizational Behavior and Human Performance 13(2), 171-192.",
    ),
)
CONTEXT = (
    _context(
        name="level_focus",
        code="level = ratings.mean(axis=(1, 2))[:, None] - 0.5\n"
        f'weight = weight * xp.exp(parameters["level_focus"][..., None] * level * {CENTRED_RANK})',
        parameters={
            "level_focus": normal(
                0.0, 5.0, 20.0, "log ratio", "how steeply weights fall with rank at high ratings"
            )
        },
        wording=Wording(
            clause="weight the best cues {far}more, the higher the ratings on display are overall",
            clause_short="the best ones",
            opposite_clause="weight the lesser cues {far}more, the higher the ratings on display are overall",
            opposite_short="the lesser ones",
            parameter="level_focus",
            unit=0.7,
            label="shifting focus",
        ),
        repairs=("level", "best_cue_favours"),
        breaks=("rating", "lead", "shared_rating", "cue_order", "validity", "validity_order"),
        source=PAYNE,
    ),
    _context(
        name="conflict_focus",
        code="sides = xp.sign(ratings[:, 1] - ratings[:, 0])\n"
        "conflict = 1 - xp.abs(sides.sum(axis=-1)) / xp.maximum(xp.abs(sides).sum(axis=-1), 1)\n"
        f'weight = weight * xp.exp(parameters["conflict_focus"][..., None] * conflict[:, None] * {CENTRED_RANK})',
        parameters={
            "conflict_focus": normal(
                0.0, 3.0, 10.0, "log ratio", "how steeply weights fall with rank under conflict"
            )
        },
        wording=Wording(
            clause="weight the best cues {far}more, the more the cues disagree",
            clause_short="the best ones",
            opposite_clause="weight the lesser cues {far}more, the more the cues disagree",
            opposite_short="the lesser ones",
            parameter="conflict_focus",
            unit=0.7,
            label="shifting focus",
        ),
        repairs=("conflict", "best_cue_favours", "n_discriminating_cues"),
        breaks=("rating", "cue_order", "validity", "validity_order"),
        source=PAYNE,
    ),
    _context(
        name="reversal_at_low_level",
        code="level = ratings.mean(axis=(1, 2))[:, None]\n"
        'weight = xp.where(level < parameters["reversal_level"][..., None], -weight, weight)',
        parameters={
            "reversal_level": uniform(
                0.0, 1.0, SHARE, "mean rating below which preferences reverse"
            )
        },
        wording=Wording(
            clause=(
                "prefer the worse product where the ratings on display are low overall (below "
                "{reversal_level%} of the scale)"
            ),
            parameter="reversal_level",
            unit=0.2,
            label="reversals",
            overrides=True,
        ),
        repairs=("level", "difference_weighted_by_validity", "total_difference"),
        breaks=(
            "sides",
            "cue_order",
            "rating",
            "lead",
            "less_valid_rating",
            "shared_rating",
            "dominance",
            "validity",
        ),
        source="Busemeyer & Townsend (1993), Psychological Review 100(3), 432-459.",
    ),
    _context(
        name="cue_level",
        code='weight = weight * xp.exp(parameters["cue_level"][..., None] * (ratings.mean(axis=1) - 0.5))',
        parameters={
            "cue_level": normal(
                0.0, 2.0, 10.0, "log ratio", "positive for attention to high ratings"
            )
        },
        wording=Wording(
            clause="weight cues {far}more if their ratings are high",
            clause_short="if they are high",
            opposite_clause="weight cues {far}more if their ratings are low",
            opposite_short="if they are low",
            parameter="cue_level",
            unit=0.7,
            label="shifting focus",
        ),
        repairs=("level", "best_rating_difference", "worst_rating_difference"),
        breaks=("rating", "lead", "shared_rating", "validity"),
        source="Skowronski & Carlston (1989), Psychological Bulletin 105(1), 131-142.",
    ),
    _context(
        name="extreme_ratings_focus",
        code="at_end = ((ratings == 0) | (ratings == 1)).any(axis=1)\n"
        'weight = weight * xp.exp(parameters["extreme_focus"][..., None] * at_end)',
        parameters={
            "extreme_focus": normal(
                0.0, 2.0, 6.0, "log ratio", "positive for more attention to extreme ratings"
            )
        },
        wording=Wording(
            clause="weight cues with a rating at the end of the scale {far}more",
            opposite_clause="weight cues with a rating at the end of the scale {far}less",
            parameter="extreme_focus",
            unit=0.7,
            label="shifting focus",
        ),
        repairs=(
            "extreme_ratings_difference",
            "largest_difference",
            "best_rating_difference",
            "worst_rating_difference",
        ),
        breaks=("rating", "lead", "shared_rating", "validity"),
        source="Fiske (1980), Journal of Personality and Social Psychology 38(6), 889-906.",
    ),
)
