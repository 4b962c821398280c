"""What a rating is worth: from linear to non-monotone. Sets ``value``, ``(..., n_trials, 2, n_cues)``."""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import COOMBS, SHARE
from lakatos.theories.language.grammar import Mechanism

SHAPE = ("level", "largest_difference", "unevenness_difference")
NOT_MONOTONE = ("extreme_ratings_difference", "total_difference", "level", "best_rating_difference")
WORTH = "worth, the lowest rating being 0"

_utility = partial(Mechanism, "utility")

UTILITY = (
    _utility(
        "linear",
        "value a rating as it stands",
        "value = ratings",
        citation="Dawes (1979), American Psychologist 34(7), 571-582.",
    ),
    _utility(
        "diminishing",
        "value each further rating point less than the one before, or some of them more",
        'value = ratings ** parameters["curvature"][..., None, None]',
        {
            "curvature": log_uniform(
                0.05,
                4.0,
                "exponent",
                "power of the rating (share of the maximum); below 1 the first points count most",
            )
        },
        (*SHAPE, "worst_rating_difference"),
        "Stevens (1957), Psychological Review 64(3), 153-181; Keeney & Raiffa (1976).",
    ),
    _utility(
        "satisficing",
        "call a rating good enough or not, by an aspiration level, and ask no more",
        'value = (ratings >= parameters["aspiration"][..., None, None]) * 1.0',
        {"aspiration": uniform(0.01, 1.0, SHARE, "lowest rating that is good enough")},
        ("level", "largest_difference", "best_rating_difference"),
        "Simon (1955), Quarterly Journal of Economics 69(1), 99-118.",
        breaks=("lead", "less_valid_rating"),
        predictions=({"property": "ignores", "in": "rating", "beyond": "aspiration"},),
    ),
    _utility(
        "saturating",
        "value ratings as they stand up to an aspiration level, above which better is no better",
        'value = xp.minimum(ratings, parameters["enough"][..., None, None])',
        {"enough": uniform(0.05, 1.0, SHARE, "rating above which nothing is gained")},
        ("largest_difference", "best_rating_difference", "unevenness_difference"),
        "Simon (1955), Quarterly Journal of Economics 69(1), 99-118.",
        breaks=("lead", "less_valid_rating"),
        predictions=({"property": "ignores", "in": "rating", "beyond": "enough"},),
    ),
    _utility(
        "loss_averse",
        "see ratings below a reference as losses, which loom larger than gains",
        'gain = ratings - parameters["reference"][..., None, None]\n'
        'value = xp.where(gain < 0, parameters["loss_aversion"][..., None, None] * gain, gain)',
        {
            "reference": uniform(0.0, 1.0, SHARE, "rating that is neither gain nor loss"),
            "loss_aversion": log_uniform(0.2, 10.0, "ratio", "weight of losses relative to gains"),
        },
        (*SHAPE, "worst_rating_difference"),
        "Tversky & Kahneman (1991), Quarterly Journal of Economics 106(4), 1039-1061.",
    ),
    _utility(
        "s_shaped",
        "tell ratings apart near a middle level, and hardly below or above it",
        'value = logistic(parameters["steepness"][..., None, None] * (ratings - parameters["middle"][..., None, None]),'
        " xp)",
        {
            "middle": uniform(0.0, 1.0, SHARE, "rating around which differences are felt most"),
            "steepness": log_uniform(
                1.0, 50.0, "per maximum", "how narrow the region is in which differences are felt"
            ),
        },
        SHAPE,
        "Parducci (1965), Psychological Review 72(6), 407-418.",
        breaks=("lead", "less_valid_rating"),
    ),
    _utility(
        "ideal_point",
        "want ratings near an ideal level, and dislike those above it as much as those below",
        'value = -xp.abs(ratings - parameters["ideal"][..., None, None])',
        {"ideal": uniform(0.0, 1.0, SHARE, "rating that is liked best")},
        NOT_MONOTONE,
        "Coombs (1964), A Theory of Data.",
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
    ),
    _utility(
        "single_peaked",
        "gain from higher ratings only up to a point, and may lose from there on, or the other way round",
        'value = ratings + 4 * parameters["bend"][..., None, None] * ratings * (1 - ratings)',
        {
            "bend": normal(
                0.0,
                2.0,
                5.0,
                "worth of the top rating",
                "what a middle rating is worth beyond half the top",
            )
        },
        NOT_MONOTONE,
        COOMBS,
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
    ),
    _utility(
        "too_good",
        "distrust ratings that are too good, as if they were the worst",
        'value = xp.where(ratings > parameters["credible"][..., None, None], 0.0, ratings)',
        {"credible": uniform(0.3, 1.0, SHARE, "highest rating that is believed")},
        NOT_MONOTONE,
        "Maslowska, Malthouse & Bernritter (2017), International Journal of Advertising 36(1), 142-163.",
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
    ),
    _utility(
        "cyclic",
        "like ratings in turns as they rise",
        'value = 0.5 - 0.5 * xp.cos(2 * xp.pi * trials["ratings"] / parameters["period"][..., None, None])',
        # Shorter periods look like longer ones at whole ratings.
        {"period": log_uniform(2.0, 20.0, "rating points", "after which liking repeats")},
        NOT_MONOTONE,
        COOMBS,
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity", "scale"),
    ),
    _utility(
        "odd_rating",
        "like odd ratings and not even ones",
        'value = trials["ratings"] % 2',
        answers=("odd_sum_difference", "extreme_ratings_difference"),
        citation="Hines (1990), Memory & Cognition 18(1), 40-46.",
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity", "scale"),
    ),
    _utility(
        "part_worths",
        "have a worth of their own for every level of rating, in any order",
        "level = xp.floor(5 * ratings + 0.5 + 1e-9)\n"
        "value = (\n"
        '    parameters["worth_low"][..., None, None] * (level == 1)\n'
        '    + parameters["worth_below_middle"][..., None, None] * (level == 2)\n'
        '    + parameters["worth_above_middle"][..., None, None] * (level == 3)\n'
        '    + parameters["worth_high"][..., None, None] * (level == 4)\n'
        '    + parameters["worth_top"][..., None, None] * (level == 5)\n'
        ")",
        {
            "worth_low": uniform(-1.0, 1.0, WORTH, "of a rating near one fifth of the maximum"),
            "worth_below_middle": uniform(-1.0, 1.0, WORTH, "of a rating near two fifths"),
            "worth_above_middle": uniform(-1.0, 1.0, WORTH, "of a rating near three fifths"),
            "worth_high": uniform(-1.0, 1.0, WORTH, "of a rating near four fifths"),
            "worth_top": uniform(-1.0, 1.0, WORTH, "of the best rating"),
        },
        (*NOT_MONOTONE, "unevenness_difference", "largest_difference"),
        "Green & Srinivasan (1978), Journal of Consumer Research 5(2), 103-123.",
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
    ),
    _utility(
        "rank_sampled",
        "judge a rating by the share of the other ratings on display that it beats",
        "shown = ratings.reshape(ratings.shape[0], 1, 1, -1)\n"
        "beaten = (ratings[..., None] > shown).sum(axis=-1) + 0.5 * (ratings[..., None] == shown).sum(axis=-1) - 0.5\n"
        "value = beaten / xp.maximum(shown.shape[-1] - 1, 1)",
        answers=SHAPE,
        citation="Stewart, Chater & Brown (2006), Cognitive Psychology 53(1), 1-26.",
        breaks=("rating", "lead", "less_valid_rating", "shared_rating"),
    ),
    _utility(
        "range_normalised",
        "judge a rating by its place between the lowest and the highest rating on display",
        "lowest = ratings.min(axis=(1, 2))[:, None, None]\n"
        "spread = ratings.max(axis=(1, 2))[:, None, None] - lowest\n"
        "value = (ratings - lowest) / xp.maximum(spread, 1e-9)",
        answers=("level", "largest_difference", "best_rating_difference", "rating_max"),
        citation="Parducci (1965), Psychological Review 72(6), 407-418; Soltani, De Martino & Camerer (2012).",
        breaks=("rating", "lead", "less_valid_rating", "shared_rating"),
    ),
)
