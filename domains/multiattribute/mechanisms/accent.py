"""Properties of the whole display that add to the evidence, with a bonus of either sign; alone, whole rules.

Each is a ``score`` of both products, ``(..., n_trials, 2)``, or a ``lead`` of product B, ``(..., n_trials)``.
"""

from __future__ import annotations

from lakatos.domains.kit.parameter import Literal, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import EINHORN, FIRST, ORDER_EFFECTS, SHARE
from lakatos.theories.language.grammar import Mechanism

PAIRS = ("best_two_both_difference", "best_two_unlike_difference")
EVERYWHERE = ("rating", "lead", "less_valid_rating", "dominance", "validity")
"""Predictions that a bonus of either sign destroys, whatever it is for."""
EDGELL = (
    "Edgell (1978), Organizational Behavior and Human Performance 22(3), 404-416 (configural cues)."
)


def _accent(
    name: str,
    claim: str,
    code: str,
    answers: tuple[str, ...],
    citation: str,
    more: dict[str, Literal] | None = None,
    breaks: tuple[str, ...] = (),
) -> Mechanism:
    """Add ``lead``, or the difference in ``score``, times a bonus to the evidence."""
    bonus = f"{name}_bonus"
    lead = (
        "lead"
        if code.startswith("lead") or "\nlead = " in code
        else "(score[..., 1] - score[..., 0])"
    )
    return Mechanism(
        "accent",
        name,
        claim,
        f'{code}\nevidence = evidence + parameters["{bonus}"] * {lead}',
        {bonus: normal(0.0, 1.0, 5.0, "evidence", "what it adds; below 0 it counts against")}
        | (more or {}),
        answers,
        citation,
        breaks=(*EVERYWHERE, *breaks),
    )


ACCENT = (
    _accent(
        "first_reason",
        "give extra weight to the most valid cue on which the products differ, whatever the difference",
        "lead = xp.sign(first_that_differs(ratings[:, 1] - ratings[:, 0], rank, xp))",
        FIRST,
        "Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
        breaks=("cue_order", "validity_order"),
    ),
    _accent(
        "majority",
        "are drawn to the product that more cues favour, whatever the differences",
        "lead = xp.sign(xp.sign(ratings[:, 1] - ratings[:, 0]).sum(axis=-1))",
        ("n_cues_favouring", "total_difference"),
        "Russo & Dosher (1983), JEP: LMC 9(4), 676-696.",
    ),
    _accent(
        "dominance",
        "are drawn to a product that is nowhere worse",
        "sides = xp.sign(ratings[:, 1] - ratings[:, 0])\n"
        "lead = (sides.min(axis=-1) >= 0) * 1.0 - (sides.max(axis=-1) <= 0)",
        ("n_cues_favouring", "n_discriminating_cues"),
        "Montgomery (1983), Advances in Psychology 14, 343-369.",
    ),
    _accent(
        "best_cue",
        "give extra weight to the most valid cue, and none where it is tied",
        "lead = xp.sign(((ratings[:, 1] - ratings[:, 0]) * (rank == 0)).sum(axis=-1))",
        FIRST,
        "Hogarth & Karelaia (2005), Management Science 51(12), 1860-1872.",
        breaks=("cue_order", "validity_order"),
    ),
    _accent(
        "last_cue",
        "give extra weight to the least valid cue",
        "lead = xp.sign(((ratings[:, 1] - ratings[:, 0]) * (rank == validities.shape[-1] - 1)).sum(axis=-1))",
        ("least_valid_favours",),
        "Nisbett, Zukier & Lemley (1981), Cognitive Psychology 13(2), 248-277.",
        breaks=("cue_order", "validity_order"),
    ),
    _accent(
        "first_shown",
        "give extra weight to the cue that is shown first",
        "lead = xp.sign(ratings[:, 1, 0] - ratings[:, 0, 0])",
        ("first_shown_favours",),
        ORDER_EFFECTS,
        breaks=("cue_order",),
    ),
    _accent(
        "last_shown",
        "give extra weight to the cue that is shown last",
        "lead = xp.sign(ratings[:, 1, -1] - ratings[:, 0, -1])",
        ("last_shown_favours",),
        ORDER_EFFECTS,
        breaks=("cue_order",),
    ),
    _accent(
        "worst_rating",
        "look at every product's worst rating",
        "score = value.min(axis=-1)",
        ("worst_rating_difference",),
        "Wald (1945), Annals of Mathematics 46(2), 265-280 (maximin).",
        breaks=("shared_rating",),
    ),
    _accent(
        "best_rating",
        "look at every product's best rating",
        "score = value.max(axis=-1)",
        ("best_rating_difference",),
        EINHORN,
        breaks=("shared_rating",),
    ),
    _accent(
        "median_rating",
        "look at every product's middle rating",
        "ordered = xp.sort(value, axis=-1)\n"
        "score = 0.5 * (ordered[..., (ordered.shape[-1] - 1) // 2] + ordered[..., ordered.shape[-1] // 2])",
        ("total_difference", "unevenness_difference"),
        "Galton (1907), Nature 75, 414.",
        breaks=("shared_rating",),
    ),
    _accent(
        "unevenness",
        "care whether the ratings of a product agree with each other",
        "score = value.std(axis=-1)",
        ("unevenness_difference", "worst_rating_difference"),
        "Chernev (2005), Journal of Consumer Research 32(2), 213-223 (attribute balance).",
        breaks=("shared_rating",),
    ),
    _accent(
        "extreme_ratings",
        "count ratings at the ends of the scale",
        "score = ((ratings == 0) | (ratings == 1)).mean(axis=-1)",
        ("extreme_ratings_difference", "unevenness_difference"),
        "Simonson & Tversky (1992), Journal of Marketing Research 29(3), 281-295.",
    ),
    _accent(
        "middling",
        "want a product whose ratings are, taken together, near an ideal level",
        'score = -xp.abs(value.mean(axis=-1) - parameters["ideal_total"][..., None])',
        ("middling_difference", "total_difference", "level"),
        "Coombs (1964), A Theory of Data.",
        {"ideal_total": uniform(0.0, 1.0, SHARE, "mean rating that is liked best")},
        breaks=("shared_rating",),
    ),
    _accent(
        "veto",
        "reject a product with any rating below a limit",
        'score = (ratings.min(axis=-1) >= parameters["least_acceptable"][..., None]) * 1.0',
        ("worst_rating_difference", "level"),
        EINHORN,
        {"least_acceptable": uniform(0.01, 1.0, SHARE, "lowest rating that is not rejected")},
        breaks=("shared_rating",),
    ),
    _accent(
        "excellence",
        "accept a product with any rating above a limit",
        'score = (ratings.max(axis=-1) >= parameters["excellent"][..., None]) * 1.0',
        ("best_rating_difference", "level"),
        EINHORN,
        {"excellent": uniform(0.01, 1.0, SHARE, "rating that suffices")},
        breaks=("shared_rating",),
    ),
    _accent(
        "enough_cues",
        "accept a product once enough of its ratings are good",
        'good = (ratings >= parameters["good"][..., None, None]).mean(axis=-1)\n'
        'score = (good >= parameters["enough_cues"][..., None] - 1e-9) * 1.0',
        ("n_cues_favouring", "worst_rating_difference", "best_rating_difference", "level"),
        EINHORN,
        {
            "good": uniform(0.01, 1.0, SHARE, "lowest rating that is good"),
            "enough_cues": uniform(
                0.05, 1.0, "share of the cues", "cues with a good rating that suffice"
            ),
        },
        breaks=("shared_rating",),
    ),
    _accent(
        "odd_count",
        "look whether the number of good ratings of a product is odd or even",
        "score = (ratings > 0.5).sum(axis=-1) % 2",
        ("odd_count_difference",),
        "Shepard, Hovland & Jenkins (1961), Psychological Monographs 75(13), 1-42 (type VI).",
        breaks=("shared_rating",),
    ),
    _accent(
        "odd_sum",
        "look whether the sum of a product's ratings is odd or even",
        'score = trials["ratings"].sum(axis=-1) % 2',
        ("odd_sum_difference",),
        "Hines (1990), Memory & Cognition 18(1), 40-46.",
        breaks=("shared_rating", "scale"),
    ),
    _accent(
        "odd_lead",
        "look whether the number of cues that favour a product is odd or even",
        "sides = xp.sign(ratings[:, 1] - ratings[:, 0])\n"
        "lead = (sides > 0).sum(axis=-1) % 2 - (sides < 0).sum(axis=-1) % 2",
        ("odd_lead_difference",),
        "Shepard, Hovland & Jenkins (1961), Psychological Monographs 75(13), 1-42 (type VI).",
    ),
    _accent(
        "best_two_both",
        "give extra weight to the two most valid cues where both are good for a product",
        "score = at_rank(value, 0, rank, xp) * at_rank(value, 1, rank, xp)",
        PAIRS,
        "Anderson (1981), Foundations of Information Integration Theory.",
        breaks=("shared_rating", "cue_order", "validity_order"),
    ),
    _accent(
        "best_two_unlike",
        "care whether the two most valid cues say the same of a product, whatever they say",
        "score = xp.abs(at_rank(value, 0, rank, xp) - at_rank(value, 1, rank, xp))",
        PAIRS,
        "Shepard, Hovland & Jenkins (1961), Psychological Monographs 75(13), 1-42 (type II).",
        breaks=("shared_rating", "cue_order", "validity_order"),
    ),
    _accent(
        "pairs",
        "read pairs among the three most valid cues together, beyond what each says alone",
        "best, second, third = (2 * at_rank(value, place, rank, xp) - 1 for place in range(3))\n"
        "score = best * second\n"
        'score = score + parameters["pair_best_third"][..., None] * best * third\n'
        'score = score + parameters["pair_second_third"][..., None] * second * third',
        PAIRS,
        EDGELL,
        {
            "pair_best_third": normal(
                0.0, 1.0, 3.0, "ratio", "of the best and third cue, relative to the best two"
            ),
            "pair_second_third": normal(
                0.0, 1.0, 3.0, "ratio", "of the second and third cue, likewise"
            ),
        },
        breaks=("shared_rating", "cue_order", "validity_order"),
    ),
    _accent(
        "pairs_with_fourth",
        "read the fourth cue together with each of the three most valid ones, beyond what each says alone",
        "best, second, third, fourth = (2 * at_rank(value, place, rank, xp) - 1 for place in range(4))\n"
        "score = best * fourth\n"
        'score = score + parameters["pair_second_fourth"][..., None] * second * fourth\n'
        'score = score + parameters["pair_third_fourth"][..., None] * third * fourth',
        PAIRS,
        EDGELL,
        {
            "pair_second_fourth": normal(
                0.0, 1.0, 3.0, "ratio", "of the second and fourth cue, relative to the best's"
            ),
            "pair_third_fourth": normal(
                0.0, 1.0, 3.0, "ratio", "of the third and fourth cue, likewise"
            ),
        },
        breaks=("shared_rating", "cue_order", "validity_order"),
    ),
    _accent(
        "best_two_agree",
        "give extra weight to the two most valid cues where they favour the same product",
        "sides = xp.sign(ratings[:, 1] - ratings[:, 0])\n"
        "first_side, second_side = ((sides * (rank == place)).sum(axis=-1) for place in (0, 1))\n"
        "lead = xp.where(first_side == second_side, first_side, 0.0)",
        ("best_cue_favours", "n_cues_favouring", "conflict"),
        "Dieckmann & Rieskamp (2007), Memory & Cognition 35(7), 1801-1813.",
        breaks=("cue_order", "validity_order"),
    ),
    _accent(
        "variety",
        "count how many different ratings a product has",
        "ordered = xp.sort(ratings, axis=-1)\nscore = (ordered[..., 1:] > ordered[..., :-1]).sum(axis=-1) * 1.0",
        ("unevenness_difference", "symmetry_difference"),
        "Chernev (2005), Journal of Consumer Research 32(2), 213-223 (attribute balance).",
        breaks=("shared_rating",),
    ),
    _accent(
        "symmetry",
        "like ratings that look the same from the top and from the bottom of the list",
        "score = -xp.abs(value - value[..., ::-1]).mean(axis=-1)",
        ("symmetry_difference",),
        "Reber, Schwarz & Winkielman (2004), Personality and Social Psychology Review 8(4), 364-382.",
        breaks=("shared_rating", "cue_order"),
    ),
    _accent(
        "smoothness",
        "like ratings that change little from one cue to the next",
        "score = -xp.abs(value[..., 1:] - value[..., :-1]).sum(axis=-1) / validities.shape[-1]",
        ("smoothness_difference", "unevenness_difference"),
        "Reber, Schwarz & Winkielman (2004), Personality and Social Psychology Review 8(4), 364-382.",
        breaks=("shared_rating", "cue_order"),
    ),
)
