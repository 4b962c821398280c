"""Properties of the whole display that add to the evidence, with a bonus of either sign; alone, whole rules.

Each is a ``score`` of both products, ``(..., n_trials, 2)``, or a ``lead`` of product B, ``(..., n_trials)``.
"""

from __future__ import annotations

from typing import Any

from lakatos.domains.kit.parameter import LOG_ODDS, Literal, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import (
    EINHORN,
    FIRST,
    ORDER_EFFECTS,
    SHARE,
)
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

PAIRS = ("difference_on_both_best_cues", "difference_in_unlike_best_cues")
EVERYWHERE = ("rating", "lead", "less_valid_rating", "dominance", "validity")
"""Predictions that a bonus of either sign destroys, whatever it is for."""
EDGELL = (
    "Edgell (1978), Organizational Behavior and Human Performance 22(3), 404-416 (configural cues)."
)


def _accent(
    *,
    name: str,
    clause: str,
    opposite_clause: str,
    label: str,
    code: str,
    general: str = "",
    clause_short: str = "prefer the other one",
    opposite_short: str = "prefer the other one",
    feature: str = "",
    more: dict[str, Literal] | None = None,
    breaks: tuple[str, ...] = (),
    **further: Any,
) -> Mechanism:
    """Add ``lead``, or the difference in ``score``, times a bonus to the evidence."""
    bonus = f"{name}_bonus"
    by_lead = code.startswith("lead") or "\nlead = " in code
    lead = "lead" if by_lead else "(score[..., 1] - score[..., 0])"
    worth = normal(0.0, 1.0, 5.0, "evidence", "what it adds; below 0 it counts against")
    return Mechanism(
        slot="accent",
        name=name,
        clause=general,
        code=f'{code}\nevidence = evidence + parameters["{bonus}"] * {lead}',
        parameters={bonus: worth} | (more or {}),
        wording=Wording(
            clause=clause,
            clause_short=clause_short,
            opposite_clause=opposite_clause,
            opposite_short=opposite_short,
            parameter=bonus,
            unit=LOG_ODDS,
            multiplied_by="sensitivity",
            feature=feature,
            label=label,
        ),
        breaks=(*EVERYWHERE, *breaks),
        **further,
    )


ACCENT = (
    _accent(
        name="first_reason",
        clause="{much}overweight the most valid cue on which the products differ",
        clause_short="overweight it",
        opposite_clause="{much}underweight the most valid cue on which the products differ",
        opposite_short="underweight it",
        code="lead = xp.sign(first_that_differs(ratings[:, 1] - ratings[:, 0], rank, xp))",
        label="a first reason",
        feature="first_difference_favours",
        repairs=FIRST,
        breaks=("cue_order", "validity_order"),
        source="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
    ),
    _accent(
        name="majority",
        clause="are {much}drawn to the product that more cues favour",
        clause_short="prefer it",
        opposite_clause="{much}avoid the product that more cues favour, other things being equal",
        opposite_short="avoid it",
        code="lead = xp.sign(xp.sign(ratings[:, 1] - ratings[:, 0]).sum(axis=-1))",
        label="counting",
        feature="n_cues_favouring",
        repairs=("n_cues_favouring", "total_difference"),
        source="Russo & Dosher (1983), JEP: LMC 9(4), 676-696.",
    ),
    _accent(
        name="dominance",
        clause="are {much}drawn to a product that is worse on no cue",
        clause_short="prefer it",
        opposite_clause="{much}avoid a product that is worse on no cue, other things being equal",
        opposite_short="avoid it",
        code="sides = xp.sign(ratings[:, 1] - ratings[:, 0])\n"
        "lead = (sides.min(axis=-1) >= 0) * 1.0 - (sides.max(axis=-1) <= 0)",
        label="dominance",
        feature="n_cues_favouring",
        repairs=("n_cues_favouring", "n_discriminating_cues"),
        source="Montgomery (1983), Advances in Psychology 14, 343-369.",
    ),
    _accent(
        name="best_cue",
        general="give extra weight to the most valid cue, and none where it is tied",
        clause="{much}overweight the most valid cue",
        clause_short="overweight it",
        opposite_clause="{much}underweight the most valid cue",
        opposite_short="underweight it",
        code="lead = xp.sign(((ratings[:, 1] - ratings[:, 0]) * (rank == 0)).sum(axis=-1))",
        label="best-cue focus",
        feature="best_cue_favours",
        repairs=FIRST,
        breaks=("cue_order", "validity_order"),
        source="Hogarth & Karelaia (2005), Management Science 51(12), 1860-1872.",
    ),
    _accent(
        name="last_cue",
        clause="{much}overweight the least valid cue",
        clause_short="overweight it",
        opposite_clause="{much}underweight the least valid cue",
        opposite_short="underweight it",
        code="lead = xp.sign(((ratings[:, 1] - ratings[:, 0]) * (rank == validities.shape[-1] - 1)).sum(axis=-1))",
        label="last-cue focus",
        feature="least_valid_favours",
        repairs=("least_valid_favours",),
        breaks=("cue_order", "validity_order"),
        source="Nisbett, Zukier & Lemley (1981), Cognitive Psychology 13(2), 248-277.",
    ),
    _accent(
        name="first_shown",
        clause="{much}overweight the cue that is shown first",
        clause_short="overweight it",
        opposite_clause="{much}underweight the cue that is shown first",
        opposite_short="underweight it",
        code="lead = xp.sign(ratings[:, 1, 0] - ratings[:, 0, 0])",
        label="primacy",
        feature="first_shown_favours",
        repairs=("first_shown_favours",),
        breaks=("cue_order",),
        source=ORDER_EFFECTS,
    ),
    _accent(
        name="last_shown",
        clause="{much}overweight the cue that is shown last",
        clause_short="overweight it",
        opposite_clause="{much}underweight the cue that is shown last",
        opposite_short="underweight it",
        code="lead = xp.sign(ratings[:, 1, -1] - ratings[:, 0, -1])",
        label="recency",
        feature="last_shown_favours",
        repairs=("last_shown_favours",),
        breaks=("cue_order",),
        source=ORDER_EFFECTS,
    ),
    _accent(
        name="worst_rating",
        clause="{much}prefer the product whose worst rating is better",
        opposite_clause="{much}prefer the product whose worst rating is worse, other things being equal",
        code="score = value.min(axis=-1)",
        label="caution",
        feature="worst_rating_difference",
        repairs=("worst_rating_difference",),
        breaks=("shared_rating",),
        source="Wald (1945), Annals of Mathematics 46(2), 265-280 (maximin).",
    ),
    _accent(
        name="best_rating",
        clause="{much}prefer the product whose best rating is better",
        opposite_clause="{much}prefer the product whose best rating is worse, other things being equal",
        code="score = value.max(axis=-1)",
        label="best ratings",
        feature="best_rating_difference",
        repairs=("best_rating_difference",),
        breaks=("shared_rating",),
        source=EINHORN,
    ),
    _accent(
        name="median_rating",
        clause="{much}prefer the product whose middle rating is better",
        opposite_clause="{much}prefer the product whose middle rating is worse, other things being equal",
        code="ordered = xp.sort(value, axis=-1)\n"
        "score = 0.5 * (ordered[..., (ordered.shape[-1] - 1) // 2] + ordered[..., ordered.shape[-1] // 2])",
        label="middle ratings",
        repairs=("total_difference", "unevenness_difference"),
        breaks=("shared_rating",),
        source="Galton (1907), Nature 75, 414.",
    ),
    _accent(
        name="unevenness",
        clause="{much}prefer the product whose ratings disagree with each other",
        opposite_clause="{much}prefer the product whose ratings agree with each other",
        code="score = value.std(axis=-1)",
        label="evenness",
        feature="unevenness_difference",
        repairs=("unevenness_difference", "worst_rating_difference"),
        breaks=("shared_rating",),
        source="Chernev (2005), Journal of Consumer Research 32(2), 213-223 (attribute balance).",
    ),
    _accent(
        name="extreme_ratings",
        clause="{much}like ratings at the ends of the scale",
        clause_short="like them",
        opposite_clause="{much}dislike ratings at the ends of the scale",
        opposite_short="dislike them",
        code="score = ((ratings == 0) | (ratings == 1)).mean(axis=-1)",
        label="extremes",
        repairs=("extreme_ratings_difference", "unevenness_difference"),
        source="Simonson & Tversky (1992), Journal of Marketing Research 29(3), 281-295.",
    ),
    _accent(
        name="middling",
        clause="{much}prefer a product whose mean rating is near an ideal ({ideal_total%} of the "
        "highest possible mean)",
        opposite_clause=(
            "{much}prefer a product whose mean rating is far from a certain level "
            "({ideal_total%} of the highest possible mean)"
        ),
        code='score = -xp.abs(value.mean(axis=-1) - parameters["ideal_total"][..., None])',
        more={"ideal_total": uniform(0.0, 1.0, SHARE, "mean rating that is liked best")},
        label="an ideal total",
        repairs=("middling_difference", "total_difference", "level"),
        breaks=("shared_rating",),
        source="Coombs (1964), A Theory of Data.",
    ),
    _accent(
        name="veto",
        clause="{much}reject a product with at least one rating below a limit ({least_acceptable%} "
        "of the highest possible rating)",
        opposite_clause=(
            "{much}favour a product with a rating below a limit ({least_acceptable%} of the highest possible rating), "
            "other things being equal"
        ),
        code='score = (ratings.min(axis=-1) >= parameters["least_acceptable"][..., None]) * 1.0',
        more={"least_acceptable": uniform(0.01, 1.0, SHARE, "lowest rating that is not rejected")},
        clause_short="reject it",
        opposite_short="favour such a product",
        label="vetoes",
        repairs=("worst_rating_difference", "level"),
        breaks=("shared_rating",),
        source=EINHORN,
    ),
    _accent(
        name="excellence",
        clause="are {much}drawn to a product with at least one rating above a limit ({excellent%} of "
        "the highest possible rating)",
        opposite_clause=(
            "{much}avoid a product with at least one rating above a limit ({excellent%} of the "
            "highest possible rating), other things being equal"
        ),
        code='score = (ratings.max(axis=-1) >= parameters["excellent"][..., None]) * 1.0',
        more={"excellent": uniform(0.01, 1.0, SHARE, "rating that suffices")},
        label="excellence",
        repairs=("best_rating_difference", "level"),
        breaks=("shared_rating",),
        source=EINHORN,
    ),
    _accent(
        name="enough_cues",
        clause="{much}accept a product once enough of its ratings are good",
        opposite_clause="{much}avoid a product once enough of its ratings are good, other things being equal",
        code='good = (ratings >= parameters["good"][..., None, None]).mean(axis=-1)\n'
        'score = (good >= parameters["enough_cues"][..., None] - 1e-9) * 1.0',
        more={
            "good": uniform(0.01, 1.0, SHARE, "lowest rating that is good"),
            "enough_cues": uniform(
                0.05, 1.0, "share of the cues", "cues with a good rating that suffice"
            ),
        },
        label="enough cues",
        repairs=("n_cues_favouring", "worst_rating_difference", "best_rating_difference", "level"),
        breaks=("shared_rating",),
        source=EINHORN,
    ),
    _accent(
        name="odd_count",
        clause="{much}prefer a product with an odd number of good ratings",
        opposite_clause="{much}prefer a product with an even number of good ratings",
        code="score = (ratings > 0.5).sum(axis=-1) % 2",
        label="parity",
        feature="odd_count_difference",
        repairs=("odd_count_difference",),
        breaks=("shared_rating",),
        source="Shepard, Hovland & Jenkins (1961), Psychological Monographs 75(13), 1-42 (type VI).",
    ),
    _accent(
        name="odd_sum",
        clause="{much}prefer a product whose ratings add up to an odd number",
        opposite_clause="{much}prefer a product whose ratings add up to an even number",
        code='score = trials["ratings"].sum(axis=-1) % 2',
        label="parity",
        feature="odd_sum_difference",
        repairs=("odd_sum_difference",),
        breaks=("shared_rating", "scale"),
        source="Hines (1990), Memory & Cognition 18(1), 40-46.",
    ),
    _accent(
        name="odd_lead",
        clause="{much}prefer a product that an odd number of cues favour",
        opposite_clause="{much}prefer a product that an even number of cues favour",
        code="sides = xp.sign(ratings[:, 1] - ratings[:, 0])\n"
        "lead = (sides > 0).sum(axis=-1) % 2 - (sides < 0).sum(axis=-1) % 2",
        label="parity",
        feature="odd_lead_difference",
        repairs=("odd_lead_difference",),
        source="Shepard, Hovland & Jenkins (1961), Psychological Monographs 75(13), 1-42 (type VI).",
    ),
    _accent(
        name="best_two_both",
        clause="{much}overweight the two most valid cues where both are good",
        clause_short="overweight them",
        opposite_clause="{much}underweight the two most valid cues where both are good",
        opposite_short="underweight them",
        code="score = at_rank(value, 0, rank, xp) * at_rank(value, 1, rank, xp)",
        label="paired cues",
        feature="difference_on_both_best_cues",
        repairs=PAIRS,
        breaks=("shared_rating", "cue_order", "validity_order"),
        source="Anderson (1981), Foundations of Information Integration Theory.",
    ),
    _accent(
        name="best_two_unlike",
        clause="{much}prefer a product on which the two most valid cues disagree",
        opposite_clause="{much}prefer a product on which the two most valid cues agree",
        code="score = xp.abs(at_rank(value, 0, rank, xp) - at_rank(value, 1, rank, xp))",
        label="paired cues",
        feature="difference_in_unlike_best_cues",
        repairs=PAIRS,
        breaks=("shared_rating", "cue_order", "validity_order"),
        source="Shepard, Hovland & Jenkins (1961), Psychological Monographs 75(13), 1-42 (type II).",
    ),
    _accent(
        name="pairs",
        clause="{much}prefer a product on which the three most valid cues are alike in pairs",
        opposite_clause="{much}prefer a product on which the three most valid cues are unlike in pairs",
        code="best, second, third = (2 * at_rank(value, place, rank, xp) - 1 for place in range(3))\n"
        "score = best * second\n"
        'score = score + parameters["pair_best_third"][..., None] * best * third\n'
        'score = score + parameters["pair_second_third"][..., None] * second * third',
        more={
            "pair_best_third": normal(
                0.0, 1.0, 3.0, "ratio", "of the best and third cue, relative to the best two"
            ),
            "pair_second_third": normal(
                0.0, 1.0, 3.0, "ratio", "of the second and third cue, likewise"
            ),
        },
        label="paired cues",
        repairs=PAIRS,
        breaks=("shared_rating", "cue_order", "validity_order"),
        source=EDGELL,
    ),
    _accent(
        name="pairs_with_fourth",
        clause="{much}prefer a product on which the fourth cue is like the three most valid ones",
        opposite_clause="{much}prefer a product on which the fourth cue is unlike the three most valid ones",
        code="best, second, third, fourth = (2 * at_rank(value, place, rank, xp) - 1 for place in range(4))\n"
        "score = best * fourth\n"
        'score = score + parameters["pair_second_fourth"][..., None] * second * fourth\n'
        'score = score + parameters["pair_third_fourth"][..., None] * third * fourth',
        more={
            "pair_second_fourth": normal(
                0.0, 1.0, 3.0, "ratio", "of the second and fourth cue, relative to the best's"
            ),
            "pair_third_fourth": normal(
                0.0, 1.0, 3.0, "ratio", "of the third and fourth cue, likewise"
            ),
        },
        label="paired cues",
        repairs=PAIRS,
        breaks=("shared_rating", "cue_order", "validity_order"),
        source=EDGELL,
    ),
    _accent(
        name="best_two_agree",
        clause="{much}overweight the two most valid cues where they agree",
        clause_short="overweight them",
        opposite_clause="{much}underweight the two most valid cues where they agree",
        opposite_short="underweight them",
        code="sides = xp.sign(ratings[:, 1] - ratings[:, 0])\n"
        "first_side, second_side = ((sides * (rank == place)).sum(axis=-1) for place in (0, 1))\n"
        "lead = xp.where(first_side == second_side, first_side, 0.0)",
        label="agreeing cues",
        repairs=("best_cue_favours", "n_cues_favouring", "conflict"),
        breaks=("cue_order", "validity_order"),
        source="Dieckmann & Rieskamp (2007), Memory & Cognition 35(7), 1801-1813.",
    ),
    _accent(
        name="variety",
        clause="{much}prefer the product with more different ratings",
        opposite_clause="{much}prefer the product with fewer different ratings",
        code="ordered = xp.sort(ratings, axis=-1)\nscore = (ordered[..., 1:] > ordered[..., :-1]).sum(axis=-1) * 1.0",
        label="variety",
        repairs=("unevenness_difference", "symmetry_difference"),
        breaks=("shared_rating",),
        source="Chernev (2005), Journal of Consumer Research 32(2), 213-223 (attribute balance).",
    ),
    _accent(
        name="symmetry",
        clause="{much}like ratings that look the same from the top and from the bottom of the list",
        clause_short="like them",
        opposite_clause="{much}dislike ratings that look the same from the top and from the bottom of the list",
        opposite_short="dislike them",
        code="score = -xp.abs(value - value[..., ::-1]).mean(axis=-1)",
        label="symmetry",
        feature="symmetry_difference",
        repairs=("symmetry_difference",),
        breaks=("shared_rating", "cue_order"),
        source="Reber, Schwarz & Winkielman (2004), Personality and Social Psychology Review 8(4), 364-382.",
    ),
    _accent(
        name="smoothness",
        clause="{much}like ratings that change little from one cue to the next",
        clause_short="",
        opposite_clause="{much}like ratings that change a lot from one cue to the next",
        opposite_short="",
        code="score = -xp.abs(value[..., 1:] - value[..., :-1]).sum(axis=-1) / validities.shape[-1]",
        label="smoothness",
        feature="smoothness_difference",
        repairs=("smoothness_difference", "unevenness_difference"),
        breaks=("shared_rating", "cue_order"),
        source="Reber, Schwarz & Winkielman (2004), Personality and Social Psychology Review 8(4), 364-382.",
    ),
)
