"""How two values on one cue are compared. Sets ``difference``, ``(..., n_trials, n_cues)``, positive for B."""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.domains.multiattribute.mechanisms.shared import COOMBS, COUNTS, SHARE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

_comparison = partial(Mechanism, slot="comparison")
DIFFERENCE = "difference = value[..., 1, :] - value[..., 0, :]"

COMPARISON = (
    _comparison(
        name="difference",
        code=DIFFERENCE,
        wording=Wording(
            clause="compare the products cue by cue, by how much better one is",
            taken_for_granted=True,
        ),
        source="Tversky (1969), Psychological Review 76(1), 31-48.",
    ),
    _comparison(
        name="direction",
        clause="note on each cue only which product is better, not by how much",
        code="difference = xp.sign(value[..., 1, :] - value[..., 0, :])",
        repairs=COUNTS,
        predictions=({"property": "ignores", "in": "lead"},),
        source="May (1954), Econometrica 22(1), 1-13; Russo & Dosher (1983).",
    ),
    _comparison(
        name="compressed",
        code=f"{DIFFERENCE}\n"
        'difference = xp.sign(difference) * xp.abs(difference) ** parameters["compression"][..., None]',
        parameters={
            "compression": log_uniform(
                0.05,
                2.0,
                "exponent",
                "power of a difference; near 0 only its direction counts, above 1 large ones stand out",
            )
        },
        wording=Wording(
            clause="{much}overrate large advantages on a cue",
            clause_short="large ones",
            opposite_clause="{much}overrate small advantages on a cue",
            opposite_short="small ones",
            parameter="compression",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="striking differences",
            opposite_label="compressed differences",
        ),
        repairs=COUNTS,
        source="Tversky (1969), Psychological Review 76(1), 31-48; Koszegi & Szeidl (2013).",
    ),
    _comparison(
        name="just_noticeable",
        code=f"{DIFFERENCE}\n"
        'difference = difference * (xp.abs(difference) >= parameters["noticeable"][..., None] - 1e-9)',
        parameters={"noticeable": uniform(0.01, 1.0, SHARE, "smallest difference that is noticed")},
        wording=Wording(
            clause="ignore differences on a cue up to a just noticeable difference ({noticeable%} of the scale)",
            parameter="noticeable",
            unit=0.1,
            label="a noticing threshold",
        ),
        repairs=("largest_difference", "n_cues_favouring", "first_difference_favours"),
        breaks=("less_valid_rating",),
        source="Tversky (1969), Psychological Review 76(1), 31-48 (lexicographic semiorder).",
    ),
    _comparison(
        name="suspicious_difference",
        code=f"{DIFFERENCE}\n"
        "credible = xp.maximum(1 - xp.abs(difference) / "
        'parameters["credible_difference"][..., None], -1.0)\n'
        "difference = difference * credible",
        parameters={
            "credible_difference": log_uniform(
                0.1, 5.0, SHARE, "difference beyond which it speaks against the product"
            )
        },
        wording=Wording(
            clause=(
                "distrust a difference on a cue that is too large (from {credible_difference%} of the "
                "scale), and more so the larger it is"
            ),
            label="distrust",
            overrides=True,
            reverses_choices=True,
        ),
        repairs=("largest_difference", "extreme_ratings_difference", "total_difference"),
        breaks=("rating", "lead", "less_valid_rating", "dominance", "validity"),
        source=COOMBS,
    ),
    _comparison(
        name="proportional",
        clause="judge an advantage relative to the better rating",
        code="difference = (value[..., 1, :] - value[..., 0, :]) / xp.maximum(xp.abs(value).max(axis=-2), 1e-9)",
        repairs=("level", "worst_rating_difference", "largest_difference"),
        breaks=("rating",),
        source="Gonzalez-Vallejo (2002), Psychological Review 109(1), 137-155.",
    ),
    _comparison(
        name="divisive",
        code=f"{DIFFERENCE}\n"
        'difference = difference / (parameters["semi_saturation"][..., None] + xp.abs(value).sum(axis=-2))',
        parameters={
            "semi_saturation": log_uniform(
                0.02, 10.0, SHARE, "small means fully relative, large means absolute"
            )
        },
        wording=Wording(
            clause=(
                "judge an advantage relative to the sum of both ratings and a constant "
                "({semi_saturation} of the scale)"
            ),
            label="relative differences",
        ),
        repairs=("level", "worst_rating_difference", "largest_difference"),
        source="Louie, Khaw & Glimcher (2013), PNAS 110(15), 6139-6144.",
    ),
)
