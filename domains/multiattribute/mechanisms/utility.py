"""What a rating is worth: from linear to non-monotone. Sets ``value``, ``(..., n_trials, 2, n_cues)``."""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import COOMBS, SHARE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

SHAPE = ("level", "largest_difference", "unevenness_difference")
NOT_MONOTONE = ("extreme_ratings_difference", "total_difference", "level", "best_rating_difference")
WORTH = "worth, the lowest rating being 0"

_utility = partial(Mechanism, slot="utility")

UTILITY = (
    _utility(
        name="linear",
        code="value = ratings",
        wording=Wording(
            clause="value a rating as it stands",
            taken_for_granted=True,
        ),
        source="Dawes (1979), American Psychologist 34(7), 571-582.",
    ),
    _utility(
        name="diminishing",
        code='value = ratings ** parameters["curvature"][..., None, None]',
        parameters={
            "curvature": log_uniform(
                0.05,
                4.0,
                "exponent",
                "power of the rating (share of the maximum); below 1 the first points count most",
            )
        },
        wording=Wording(
            clause="value each further rating point {far}more than the one before",
            clause_short="more",
            opposite_clause="value each further rating point {far}less than the one before",
            opposite_short="less",
            parameter="curvature",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="increasing returns",
            opposite_label="diminishing returns",
        ),
        repairs=(*SHAPE, "worst_rating_difference"),
        source="Stevens (1957), Psychological Review 64(3), 153-181; Keeney & Raiffa (1976).",
    ),
    _utility(
        name="satisficing",
        code='value = (ratings >= parameters["aspiration"][..., None, None]) * 1.0',
        parameters={"aspiration": uniform(0.01, 1.0, SHARE, "lowest rating that is good enough")},
        wording=Wording(
            clause=(
                "classify each rating only as acceptable or not, by an aspiration level "
                "({aspiration%} of the highest possible rating)"
            ),
            label="an aspiration level",
        ),
        repairs=("level", "largest_difference", "best_rating_difference"),
        predictions=({"property": "ignores", "in": "rating", "beyond": "aspiration"},),
        breaks=("lead", "less_valid_rating"),
        source="Simon (1955), Quarterly Journal of Economics 69(1), 99-118.",
    ),
    _utility(
        name="saturating",
        code='value = xp.minimum(ratings, parameters["enough"][..., None, None])',
        parameters={"enough": uniform(0.05, 1.0, SHARE, "rating above which nothing is gained")},
        wording=Wording(
            clause="value higher ratings even above a satisfactory level ({enough%} of the highest possible rating)",
            opposite_clause=(
                "treat all ratings above a satisfactory level ({enough%} of the highest possible "
                "rating) as equally good"
            ),
            parameter="enough",
            neutral=1.0,
            unit=0.2,
            opposite_label="a ceiling",
        ),
        repairs=("largest_difference", "best_rating_difference", "unevenness_difference"),
        predictions=({"property": "ignores", "in": "rating", "beyond": "enough"},),
        breaks=("lead", "less_valid_rating"),
        source="Simon (1955), Quarterly Journal of Economics 69(1), 99-118.",
    ),
    _utility(
        name="loss_averse",
        code='gain = ratings - parameters["reference"][..., None, None]\n'
        'value = xp.where(gain < 0, parameters["loss_aversion"][..., None, None] * gain, gain)',
        parameters={
            "reference": uniform(0.0, 1.0, SHARE, "rating that is neither gain nor loss"),
            "loss_aversion": log_uniform(0.2, 10.0, "ratio", "weight of losses relative to gains"),
        },
        wording=Wording(
            clause=(
                "see ratings below a reference ({reference%} of the highest possible rating) as losses, which "
                "loom {far}larger than gains"
            ),
            clause_short="feel the losses below it more",
            opposite_clause=(
                "see ratings above a reference ({reference%} of the highest possible rating) as gains, which "
                "loom {far}larger than losses"
            ),
            opposite_short="feel the gains above it more",
            parameter="loss_aversion",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="loss aversion",
            opposite_label="gain seeking",
        ),
        repairs=(*SHAPE, "worst_rating_difference"),
        source="Tversky & Kahneman (1991), Quarterly Journal of Economics 106(4), 1039-1061.",
    ),
    _utility(
        name="s_shaped",
        code='value = logistic(parameters["steepness"][..., None, None] * '
        '(ratings - parameters["middle"][..., None, None]), xp)',
        parameters={
            "middle": uniform(0.0, 1.0, SHARE, "rating around which differences are felt most"),
            "steepness": log_uniform(
                1.0, 50.0, "per maximum", "how narrow the region is in which differences are felt"
            ),
        },
        wording=Wording(
            clause=(
                "are most sensitive to differences between ratings near a reference level "
                "({middle%} of the highest possible rating)"
            ),
            label="a sensitive middle",
        ),
        repairs=SHAPE,
        breaks=("lead", "less_valid_rating"),
        source="Parducci (1965), Psychological Review 72(6), 407-418.",
    ),
    _utility(
        name="ideal_point",
        code='value = -xp.abs(ratings - parameters["ideal"][..., None, None])',
        parameters={"ideal": uniform(0.0, 1.0, SHARE, "rating that is liked best")},
        wording=Wording(
            clause=(
                "prefer ratings near an ideal level ({ideal%} of the highest possible rating), and dislike "
                "those above it as much as those below"
            ),
            label="an ideal level",
        ),
        repairs=NOT_MONOTONE,
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
        source="Coombs (1964), A Theory of Data.",
    ),
    _utility(
        name="single_peaked",
        code='value = ratings + 4 * parameters["bend"][..., None, None] * ratings * (1 - ratings)',
        parameters={
            "bend": normal(
                0.0,
                2.0,
                5.0,
                "worth of the top rating",
                "what a middle rating is worth beyond half the top",
            )
        },
        wording=Wording(
            clause="value a middle rating at {far}more than half of the value of the top rating",
            clause_short="at more than that",
            opposite_clause="value a middle rating at {far}less than half of the value of the top rating",
            opposite_short="at less than that",
            parameter="bend",
            unit=0.4,
            label="a bend",
            opposite_label="a bend",
        ),
        repairs=NOT_MONOTONE,
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
        source=COOMBS,
    ),
    _utility(
        name="too_good",
        code='value = xp.where(ratings > parameters["credible"][..., None, None], 0.0, ratings)',
        parameters={"credible": uniform(0.3, 1.0, SHARE, "highest rating that is believed")},
        wording=Wording(
            clause="take even the highest ratings at face value (up to {credible%} of the highest possible rating)",
            opposite_clause=(
                "treat the highest ratings (above {credible%} of the highest possible rating) as if "
                "they were the worst"
            ),
            parameter="credible",
            neutral=1.0,
            unit=0.1,
            opposite_label="distrust",
        ),
        repairs=NOT_MONOTONE,
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
        source="Maslowska, Malthouse & Bernritter (2017), International Journal of Advertising 36(1), 142-163.",
    ),
    _utility(
        name="cyclic",
        code='value = 0.5 - 0.5 * xp.cos(2 * xp.pi * trials["ratings"] / parameters["period"][..., None, None])',
        # Shorter periods look like longer ones at whole ratings.
        parameters={
            "period": log_uniform(2.0, 20.0, "rating points", "after which liking repeats")
        },
        wording=Wording(
            clause="assign ratings a value that rises and falls periodically (with a period of {period} points)",
            label="cycles",
        ),
        repairs=NOT_MONOTONE,
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity", "scale"),
        source=COOMBS,
    ),
    _utility(
        name="odd_rating",
        clause="like odd ratings and not even ones",
        code='value = trials["ratings"] % 2',
        repairs=("odd_sum_difference", "extreme_ratings_difference"),
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity", "scale"),
        source="Hines (1990), Memory & Cognition 18(1), 40-46.",
    ),
    _utility(
        name="part_worths",
        clause="assign a separate value to every level of rating",
        code="level = xp.floor(5 * ratings + 0.5 + 1e-9)\n"
        "value = (\n"
        '    parameters["worth_low"][..., None, None] * (level == 1)\n'
        '    + parameters["worth_below_middle"][..., None, None] * (level == 2)\n'
        '    + parameters["worth_above_middle"][..., None, None] * (level == 3)\n'
        '    + parameters["worth_high"][..., None, None] * (level == 4)\n'
        '    + parameters["worth_top"][..., None, None] * (level == 5)\n'
        ")",
        parameters={
            "worth_low": uniform(-1.0, 1.0, WORTH, "of a rating near one fifth of the maximum"),
            "worth_below_middle": uniform(-1.0, 1.0, WORTH, "of a rating near two fifths"),
            "worth_above_middle": uniform(-1.0, 1.0, WORTH, "of a rating near three fifths"),
            "worth_high": uniform(-1.0, 1.0, WORTH, "of a rating near four fifths"),
            "worth_top": uniform(-1.0, 1.0, WORTH, "of the best rating"),
        },
        repairs=(*NOT_MONOTONE, "unevenness_difference", "largest_difference"),
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
        source="Green & Srinivasan (1978), Journal of Consumer Research 5(2), 103-123.",
    ),
    _utility(
        name="rank_sampled",
        clause="judge a rating by the share of the other ratings on display that it beats",
        code="shown = ratings.reshape(ratings.shape[0], 1, 1, -1)\n"
        "beaten = (ratings[..., None] > shown).sum(axis=-1) + 0.5 * (ratings[..., None] == shown).sum(axis=-1) - 0.5\n"
        "value = beaten / xp.maximum(shown.shape[-1] - 1, 1)",
        repairs=SHAPE,
        breaks=("rating", "lead", "less_valid_rating", "shared_rating"),
        source="Stewart, Chater & Brown (2006), Cognitive Psychology 53(1), 1-26.",
    ),
    _utility(
        name="range_normalised",
        clause="judge a rating by its place between the lowest and the highest rating on display",
        code="lowest = ratings.min(axis=(1, 2))[:, None, None]\n"
        "spread = ratings.max(axis=(1, 2))[:, None, None] - lowest\n"
        "value = (ratings - lowest) / xp.maximum(spread, 1e-9)",
        repairs=("level", "largest_difference", "best_rating_difference", "rating_max"),
        breaks=("rating", "lead", "less_valid_rating", "shared_rating"),
        source="Parducci (1965), Psychological Review 72(6), 407-418; Soltani, De Martino & Camerer (2012).",
    ),
)
