"""What amounts are worth: statements that set ``utility``, as large as ``outcomes``, in points where it is linear."""

from __future__ import annotations

from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.theories.language.grammar import Mechanism

CURVATURE = {
    "curvature": uniform(0.2, 1.2, "exponent", "1: linear; below 1: diminishing sensitivity")
}
LOSS_AVERSION = {
    "loss_aversion": log_uniform(0.5, 5.0, "ratio", "weight of a loss over that of an equal gain")
}

UTILITY = (
    Mechanism(
        "utility",
        "power",
        "value each further unit of money less than the one before, in gains and in losses alike",
        """
        curvature = parameters["curvature"][:, :, None, None]
        utility = xp.sign(outcomes) * xp.abs(outcomes) ** curvature
        """,
        CURVATURE,
        ("variance_difference", "sd_difference", "maximum_difference", "amount_size"),
        "Bernoulli (1738/1954), Econometrica 22, 23-36; Stevens (1957), Psychological Review 64, 153-181",
    ),
    Mechanism(
        "utility",
        "loss-averse power",
        "value each further unit of money less than the one before, and feel losses more than equal gains",
        """
        curvature = parameters["curvature"][:, :, None, None]
        aversion = parameters["loss_aversion"][:, :, None, None]
        utility = xp.where(outcomes < 0, -aversion, 1.0) * xp.abs(outcomes) ** curvature
        """,
        {**CURVATURE, **LOSS_AVERSION},
        ("losses_present", "loss_probability_difference", "mixed_amounts", "minimum_difference"),
        "Kahneman & Tversky (1979), Econometrica 47, 263-291",
        breaks=("reflection",),
    ),
    Mechanism(
        "utility",
        "loss-averse linear",
        "take gains at face value but feel losses more than equal gains",
        """
        aversion = parameters["loss_aversion"][:, :, None, None]
        utility = xp.where(outcomes < 0, aversion, 1.0) * outcomes
        """,
        LOSS_AVERSION,
        ("losses_present", "loss_probability_difference", "mixed_amounts"),
        "Tversky & Kahneman (1991), Quarterly Journal of Economics 106, 1039-1061",
        breaks=("reflection",),
    ),
    Mechanism(
        "utility",
        "exponential",
        "are satiated at a constant rate as amounts, compared with the largest at stake, grow",
        """
        satiation = parameters["satiation"][:, :, None, None]
        stake = xp.maximum(xp.abs(outcomes).max(axis=(-2, -1)), 1e-9)[:, None, None]
        utility = stake * xp.sign(outcomes) * (1 - xp.exp(-satiation * xp.abs(outcomes) / stake)) / satiation
        """,
        {
            "satiation": log_uniform(
                0.05, 5.0, "per largest amount", "near 0: linear; large: any gain is as good"
            )
        },
        ("variance_difference", "sd_difference", "maximum_difference"),
        "Pratt (1964), Econometrica 32, 122-136; Köbberling & Wakker (2005), Journal of Economic Theory 122, 119-131",
        breaks=("best_amount", "worst_amount", "amounts"),
    ),
    Mechanism(
        "utility",
        "constant risk aversion",
        "take the same premium for the same risk however rich they are, and so suffer ever more from larger losses",
        """
        aversion_to_risk = parameters["risk_aversion"][:, :, None, None]
        utility = -xp.expm1(xp.clip(-aversion_to_risk * outcomes, -40.0, 40.0)) / aversion_to_risk
        """,
        {"risk_aversion": log_uniform(5e-4, 0.2, "per point", "Arrow-Pratt measure: -u''/u'")},
        ("variance_difference", "sd_difference", "minimum_difference"),
        "Pratt (1964), Econometrica 32, 122-136; Arrow (1965), Aspects of the theory of risk-bearing",
        breaks=("reflection", "scale"),
    ),
    Mechanism(
        "utility",
        "logarithmic",
        "feel amounts in proportion to their logarithm, beyond a first few units",
        """
        unit = parameters["just_noticeable"][:, :, None, None]
        utility = xp.sign(outcomes) * unit * xp.log1p(xp.abs(outcomes) / unit)
        """,
        {
            "just_noticeable": log_uniform(
                1.0, 200.0, "points", "amount below which value is nearly linear"
            )
        },
        ("variance_difference", "amount_size", "maximum_difference"),
        "Bernoulli (1738/1954), Econometrica 22, 23-36",
        breaks=("scale",),
    ),
)
