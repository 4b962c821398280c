"""What a cue counts: its rank, weight, selection, direction, and how these change with the context.

Sets ``rank`` (``order``), then ``weight``, ``(..., n_trials, n_cues)``; a negative weight counts against.
"""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import FIRST, PAYNE, REACTANCE, SHARE
from lakatos.theories.language.grammar import Mechanism

VALIDITY = ("above_chance_difference", "validity_spread")
STEEP = (
    "above_chance_difference",
    "n_cues_favouring",
    "best_cue_favours",
    "conflict",
    "validity_spread",
)
PLACE = ("first_shown_favours", "last_shown_favours")
LEAST = ("least_valid_favours", "above_chance_difference", "best_cue_favours")
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
BERGERT = "Bergert & Nosofsky (2007), JEP: LMC 33(1), 107-129; Lee & Newell (2011)."

_order = partial(Mechanism, "order")
_weight = partial(Mechanism, "weight")
_selection = partial(Mechanism, "selection")
_direction = partial(Mechanism, "direction")
_context = partial(Mechanism, "context")

ORDER = (
    _order(
        "shown",
        "take the cue that is shown first for the best one, the next for the second, whatever the validities",
        f"rank = above = cue + 0 * rank\n{AS_VALID}",
        answers=PLACE,
        citation="Russo & Dosher (1983), JEP: LMC 9(4), 676-696; Hogarth & Einhorn (1992).",
        breaks=("cue_order", "less_valid_rating", "validity"),
        predictions=({"property": "ignores", "in": "validity_order"},),
    ),
    _order(
        "shown_backwards",
        "take the cue that is shown last for the best one, the one before for the second, whatever the validities",
        f"rank = above = validities.shape[-1] - 1 - cue + 0 * rank\n{AS_VALID}",
        answers=PLACE,
        citation="Hogarth & Einhorn (1992), Cognitive Psychology 24(1), 1-55 (recency).",
        breaks=("cue_order", "less_valid_rating", "validity"),
        predictions=({"property": "ignores", "in": "validity_order"},),
    ),
    _order(
        "least_valid_first",
        "take the least valid cue for the best one, the next for the second, and so on",
        f"rank = above = validities.shape[-1] - 1 - rank\n{AS_VALID}",
        answers=LEAST,
        citation="Newell, Rakow, Weston & Shanks (2004), Journal of Behavioral Decision Making 17(2), 117-137.",
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
    ),
    _order(
        "largest_difference_first",
        "take the cue on which the ratings differ most for the best one, and so on, whatever the validities",
        "striking = xp.abs(ratings[:, 1] - ratings[:, 0]) - 1e-6 * rank\n"
        f"rank = above = (striking[:, None, :] > striking[:, :, None]).sum(axis=-1)\n{AS_VALID}",
        answers=("largest_difference", "first_difference_favours"),
        citation="Bordalo, Gennaioli & Shleifer (2013), Journal of Political Economy 121(5), 803-843.",
        breaks=("rating", "lead", "less_valid_rating", "cue_order", "validity", "validity_order"),
    ),
    _order(
        "smallest_difference_first",
        "take the cue on which the ratings differ least, but do differ, for the best one, and so on",
        "plain = xp.abs(ratings[:, 1] - ratings[:, 0])\n"
        "plain = xp.where(plain > 0, plain, 9.0) + 1e-6 * rank\n"
        f"rank = above = (plain[:, None, :] < plain[:, :, None]).sum(axis=-1)\n{AS_VALID}",
        answers=("largest_difference", "first_difference_favours"),
        citation="Mellers & Biagini (1994), Psychological Review 101(3), 505-518.",
        breaks=("rating", "lead", "less_valid_rating", "cue_order", "validity", "validity_order"),
    ),
)
WEIGHT = (
    _weight(
        "validity",
        "weight every cue by its validity",
        "weight = validities",
        citation="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
        predictions=({"property": "non_decreasing", "in": "validity"},),
    ),
    _weight(
        "above_chance",
        "weight every cue by how far its validity is above guessing",
        "weight = 2 * validities - 1",
        answers=VALIDITY,
        citation="Dawes (1979), American Psychologist 34(7), 571-582.",
        predictions=({"property": "non_decreasing", "in": "validity"},),
    ),
    _weight(
        "log_odds",
        "weight every cue by the log odds that it is right",
        "weight = xp.log(xp.minimum(validities, 0.99) / (1 - xp.minimum(validities, 0.99)))",
        answers=(*VALIDITY, "best_cue_favours"),
        citation="Katsikopoulos & Martignon (2006), Journal of Mathematical Psychology 50(5), 488-494.",
        predictions=({"property": "non_decreasing", "in": "validity"},),
    ),
    _weight(
        "equal",
        "treat all cues alike",
        "weight = xp.ones_like(validities)",
        answers=("n_cues_favouring", "total_difference"),
        citation="Dawes (1979), American Psychologist 34(7), 571-582.",
        predictions=({"property": "ignores", "in": "validity_order"},),
    ),
    _weight(
        "power",
        "weight every cue by a subjective power of how far its validity is above guessing, "
        "from all alike to the best alone",
        f'{ABOVE_CHANCE} ** parameters["emphasis"][..., None]',
        EMPHASIS,
        STEEP,
        BERGERT,
        predictions=({"property": "non_decreasing", "in": "validity"},),
    ),
    _weight(
        "relative_power",
        "weight every cue relative to the most valid one, by a subjective power of how far it is above guessing",
        f'{ABOVE_CHANCE}\nweight = (weight / weight.max(axis=-1)[:, None]) ** parameters["emphasis"][..., None]',
        EMPHASIS,
        STEEP,
        BERGERT,
    ),
    _weight(
        "exponential",
        "weight cues by a steep function of their validity, as if attention were drawn to the most valid",
        'weight = xp.exp(parameters["focus"][..., None] * (validities - validities.max(axis=-1)[:, None]))',
        {
            "focus": log_uniform(
                0.1,
                100.0,
                "per unit of validity",
                "how much faster than in proportion weight grows with validity; near 0 treats cues alike",
            )
        },
        STEEP,
        "Roe, Busemeyer & Townsend (2001), Psychological Review 108(2), 370-392.",
    ),
    _weight(
        "rank_decay",
        "weight cues by the rank of their validity, each a constant share of the one before",
        'weight = parameters["decay"][..., None] ** above',
        {
            "decay": uniform(
                0.02,
                1.0,
                "ratio",
                "weight of a cue relative to the next more valid one; below one half the best cue decides",
            )
        },
        ("best_cue_favours", "conflict"),
        "Martignon & Hoffrage (2002), Theory and Decision 52, 29-71; Barron & Barrett (1996).",
    ),
    _weight(
        "free_ranks",
        "have a weight of their own for the best cue, the second, the third and the rest, which may count against",
        'weight = parameters["weight_best"][..., None] * (rank == 0)\n'
        'weight = weight + parameters["weight_second"][..., None] * (rank == 1)\n'
        'weight = weight + parameters["weight_third"][..., None] * (rank == 2)\n'
        'weight = weight + parameters["weight_rest"][..., None] * (rank > 2)',
        {
            f"weight_{place}": uniform(
                -1.0, 1.0, "weight", f"of {words}; below 0 it counts against"
            )
            for place, words in {
                "best": "the best cue",
                "second": "the second cue",
                "third": "the third cue",
                "rest": "every further cue",
            }.items()
        },
        (*FIRST, "least_valid_favours", "above_chance_difference", "n_cues_favouring", *PLACE),
        "Green & Srinivasan (1978), Journal of Consumer Research 5(2), 103-123.",
        breaks=("rating", "less_valid_rating", "dominance", "cue_order"),
    ),
)
SELECTION = (
    _selection(
        "unreliable_ignored",
        "ignore cues whose validity is below a limit of their own",
        'weight = weight * (validities >= parameters["least_validity"][..., None])',
        {
            "least_validity": uniform(
                0.5, 0.95, "probability", "lowest validity of a cue that is looked at"
            )
        },
        ("above_chance_difference", "n_cues", "validity_spread"),
        "Hogarth & Karelaia (2007), Psychological Review 114(3), 733-758.",
        breaks=("validity_order",),
    ),
    _selection(
        "best_few",
        "look only at a number of the most valid cues",
        'weight = weight * (rank < parameters["n_looked_up"][..., None])',
        {"n_looked_up": uniform(0.5, 8.0, "cues", "cues that are looked at, rounded up")},
        ("n_cues", "n_discriminating_cues", "best_cue_favours"),
        "Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669; Graefe & Armstrong (2012).",
        breaks=("cue_order", "validity", "validity_order"),
    ),
    _selection(
        "single_cue",
        "look at one cue only, always the one of a certain rank",
        'weight = weight * (rank == xp.floor(parameters["rank_looked_up"][..., None] * validities.shape[-1]))',
        {
            "rank_looked_up": uniform(
                0.0, 0.999, "share of the cues", "rank of the cue; 0 the best, near 1 the last"
            )
        },
        ("best_cue_favours", "least_valid_favours", *PLACE),
        "Hogarth & Karelaia (2005), Management Science 51(12), 1860-1872.",
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
    ),
    _selection(
        "one_left_out",
        "leave out one cue, always the one of a certain rank",
        'weight = weight * (rank != xp.floor(parameters["rank_left_out"][..., None] * validities.shape[-1]))',
        {
            "rank_left_out": uniform(
                0.0, 0.999, "share of the cues", "rank of the cue; 0 the best, near 1 the last"
            )
        },
        ("best_cue_favours", "least_valid_favours", *PLACE),
        "Hogarth & Karelaia (2007), Psychological Review 114(3), 733-758.",
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
    ),
    _selection(
        "fading",
        "lose interest as they go down the cues from the most valid",
        'weight = weight * parameters["persistence"][..., None] ** rank',
        {
            "persistence": uniform(
                0.05, 1.0, "ratio", "attention to a cue relative to the next more valid one"
            )
        },
        (*FIRST, "n_cues", *PLACE),
        "Wallsten & Barton (1982), JEP: LMC 8(5), 361-384.",
        breaks=("cue_order", "validity", "validity_order"),
    ),
)
DIRECTION = (
    _direction(
        "best_inverted",
        "take the best cue to say the opposite of what it says",
        "weight = xp.where(rank == 0, -weight, weight)",
        answers=FIRST,
        citation=REACTANCE,
        breaks=("rating", "dominance", "cue_order", "validity", "validity_order"),
    ),
    _direction(
        "last_inverted",
        "take the cue of the last rank to say the opposite of what it says",
        "weight = xp.where(rank == validities.shape[-1] - 1, -weight, weight)",
        answers=("least_valid_favours", "above_chance_difference"),
        citation="Einhorn & Hogarth (1975), Organizational Behavior and Human Performance 13(2), 171-192.",
        breaks=("rating", "dominance", "cue_order", "validity", "validity_order"),
    ),
    _direction(
        "unreliable_inverted",
        "take cues below a certain validity to say the opposite of what they say",
        'weight = xp.where(validities < parameters["trusted"][..., None], -weight, weight)',
        {"trusted": uniform(0.5, 1.0, "probability", "validity below which a cue counts against")},
        ("least_valid_favours", "above_chance_difference", "validity_spread"),
        "Einhorn & Hogarth (1975), Organizational Behavior and Human Performance 13(2), 171-192.",
        breaks=("rating", "dominance", "validity", "validity_order"),
    ),
)
CONTEXT = (
    _context(
        "level_focus",
        "look more at the best cues, or more at the others, the higher the ratings on display are overall",
        "level = ratings.mean(axis=(1, 2))[:, None] - 0.5\n"
        f'weight = weight * xp.exp(parameters["level_focus"][..., None] * level * {CENTRED_RANK})',
        {
            "level_focus": normal(
                0.0, 5.0, 20.0, "log ratio", "how steeply weights fall with rank at high ratings"
            )
        },
        ("level", "best_cue_favours"),
        PAYNE,
        breaks=("rating", "lead", "shared_rating", "cue_order", "validity", "validity_order"),
    ),
    _context(
        "conflict_focus",
        "look more at the best cues, or more at the others, the more the cues disagree",
        "sides = xp.sign(ratings[:, 1] - ratings[:, 0])\n"
        "conflict = 1 - xp.abs(sides.sum(axis=-1)) / xp.maximum(xp.abs(sides).sum(axis=-1), 1)\n"
        f'weight = weight * xp.exp(parameters["conflict_focus"][..., None] * conflict[:, None] * {CENTRED_RANK})',
        {
            "conflict_focus": normal(
                0.0, 3.0, 10.0, "log ratio", "how steeply weights fall with rank under conflict"
            )
        },
        ("conflict", "best_cue_favours", "n_discriminating_cues"),
        PAYNE,
        breaks=("rating", "cue_order", "validity", "validity_order"),
    ),
    _context(
        "reversal_at_low_level",
        "prefer the worse product where the ratings on display are low overall",
        "level = ratings.mean(axis=(1, 2))[:, None]\n"
        'weight = xp.where(level < parameters["reversal_level"][..., None], -weight, weight)',
        {"reversal_level": uniform(0.0, 1.0, SHARE, "mean rating below which preferences reverse")},
        ("level", "weighted_difference", "total_difference"),
        "Busemeyer & Townsend (1993), Psychological Review 100(3), 432-459.",
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
    ),
    _context(
        "cue_level",
        "look more at cues on which the ratings are high, or more at those on which they are low",
        'weight = weight * xp.exp(parameters["cue_level"][..., None] * (ratings.mean(axis=1) - 0.5))',
        {
            "cue_level": normal(
                0.0, 2.0, 10.0, "log ratio", "positive for attention to high ratings"
            )
        },
        ("level", "best_rating_difference", "worst_rating_difference"),
        "Skowronski & Carlston (1989), Psychological Bulletin 105(1), 131-142.",
        breaks=("rating", "lead", "shared_rating", "validity"),
    ),
    _context(
        "extreme_ratings_focus",
        "look more at cues with a rating at the end of the scale, or less",
        "at_end = ((ratings == 0) | (ratings == 1)).any(axis=1)\n"
        'weight = weight * xp.exp(parameters["extreme_focus"][..., None] * at_end)',
        {
            "extreme_focus": normal(
                0.0, 2.0, 6.0, "log ratio", "positive for more attention to extreme ratings"
            )
        },
        (
            "extreme_ratings_difference",
            "largest_difference",
            "best_rating_difference",
            "worst_rating_difference",
        ),
        "Fiske (1980), Journal of Personality and Social Psychology 38(6), 889-906.",
        breaks=("rating", "lead", "shared_rating", "validity"),
    ),
)
