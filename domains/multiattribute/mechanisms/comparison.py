"""How two values on one cue are compared. Sets ``difference``, ``(..., n_trials, n_cues)``, positive for B."""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.domains.multiattribute.mechanisms.shared import COOMBS, COUNTS, SHARE
from lakatos.theories.language.grammar import Mechanism

_comparison = partial(Mechanism, "comparison")
DIFFERENCE = "difference = value[..., 1, :] - value[..., 0, :]"

COMPARISON = (
    _comparison(
        "difference",
        "compare the products cue by cue, by how much better one is",
        DIFFERENCE,
        citation="Tversky (1969), Psychological Review 76(1), 31-48.",
    ),
    _comparison(
        "direction",
        "note on each cue only which product is better, not by how much",
        "difference = xp.sign(value[..., 1, :] - value[..., 0, :])",
        answers=COUNTS,
        citation="May (1954), Econometrica 22(1), 1-13; Russo & Dosher (1983).",
        predictions=({"property": "ignores", "in": "lead"},),
    ),
    _comparison(
        "compressed",
        "compare the products cue by cue, where small advantages count for more than their size",
        f'{DIFFERENCE}\ndifference = xp.sign(difference) * xp.abs(difference) ** parameters["compression"][..., None]',
        {
            "compression": log_uniform(
                0.05,
                2.0,
                "exponent",
                "power of a difference; near 0 only its direction counts, above 1 large ones stand out",
            )
        },
        COUNTS,
        "Tversky (1969), Psychological Review 76(1), 31-48; Koszegi & Szeidl (2013).",
    ),
    _comparison(
        "just_noticeable",
        "overlook differences on a cue that are smaller than a just noticeable one",
        f'{DIFFERENCE}\ndifference = difference * (xp.abs(difference) >= parameters["noticeable"][..., None] - 1e-9)',
        {"noticeable": uniform(0.01, 1.0, SHARE, "smallest difference that is noticed")},
        ("largest_difference", "n_cues_favouring", "first_difference_favours"),
        "Tversky (1969), Psychological Review 76(1), 31-48 (lexicographic semiorder).",
        breaks=("less_valid_rating",),
    ),
    _comparison(
        "suspicious_difference",
        "distrust a difference on a cue that is too large, the more the larger it is",
        f"{DIFFERENCE}\n"
        "credible = xp.maximum(1 - xp.abs(difference) / "
        'parameters["credible_difference"][..., None], -1.0)\n'
        "difference = difference * credible",
        {
            "credible_difference": log_uniform(
                0.1, 5.0, SHARE, "difference beyond which it speaks against the product"
            )
        },
        ("largest_difference", "extreme_ratings_difference", "total_difference"),
        COOMBS,
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
    ),
    _comparison(
        "proportional",
        "judge an advantage in proportion to the better rating",
        "difference = (value[..., 1, :] - value[..., 0, :]) / xp.maximum(xp.abs(value).max(axis=-2), 1e-9)",
        answers=("level", "worst_rating_difference", "largest_difference"),
        citation="Gonzalez-Vallejo (2002), Psychological Review 109(1), 137-155.",
        breaks=("rating",),
    ),
    _comparison(
        "divisive",
        "judge an advantage in proportion to both ratings together and a constant",
        f"{DIFFERENCE}\n"
        'difference = difference / (parameters["semi_saturation"][..., None] + xp.abs(value).sum(axis=-2))',
        {
            "semi_saturation": log_uniform(
                0.02, 10.0, SHARE, "small means fully relative, large means absolute"
            )
        },
        ("level", "worst_rating_difference", "largest_difference"),
        "Louie, Khaw & Glimcher (2013), PNAS 110(15), 6139-6144.",
    ),
)
