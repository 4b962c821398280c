"""What amounts are worth: statements that set ``utility``, as large as ``outcomes``, in points where it is linear."""

from __future__ import annotations

from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

CURVATURE_RANGE = {
    "curvature": uniform(0.2, 1.2, "exponent", "1: linear; below 1: diminishing sensitivity")
}
CURVATURE = Wording(
    clause="value each further unit of money {far}more than the one before",
    clause_short="more",
    opposite_clause="value each further unit of money {far}less than the one before",
    opposite_short="less",
    parameter="curvature",
    neutral=1.0,
    unit=0.4,
    log_ratio=True,
    label="increasing returns",
    opposite_label="diminishing returns",
)
LOSS_AVERSION_RANGE = {
    "loss_aversion": log_uniform(0.5, 5.0, "ratio", "weight of a loss over that of an equal gain")
}
LOSS_AVERSION = Wording(
    clause="weight losses {far}more than equal gains",
    clause_short="losses more",
    opposite_clause="weight gains {far}more than equal losses",
    opposite_short="gains more",
    parameter="loss_aversion",
    neutral=1.0,
    unit=0.4,
    log_ratio=True,
    label="loss aversion",
    opposite_label="gain seeking",
)

UTILITY = (
    Mechanism(
        slot="utility",
        name="power",
        code="""
        curvature = parameters["curvature"][:, :, None, None]
        utility = xp.sign(outcomes) * xp.abs(outcomes) ** curvature
        """,
        parameters=CURVATURE_RANGE,
        wording=CURVATURE,
        repairs=("variance_difference", "sd_difference", "maximum_difference", "amount_size"),
        source="Bernoulli (1738/1954), Econometrica 22, 23-36; Stevens (1957), Psychological Review 64, 153-181",
    ),
    Mechanism(
        slot="utility",
        name="loss-averse power",
        code="""
        curvature = parameters["curvature"][:, :, None, None]
        aversion = parameters["loss_aversion"][:, :, None, None]
        utility = xp.where(outcomes < 0, -aversion, 1.0) * xp.abs(outcomes) ** curvature
        """,
        parameters={**CURVATURE_RANGE, **LOSS_AVERSION_RANGE},
        wording=(CURVATURE, LOSS_AVERSION),
        repairs=(
            "losses_present",
            "loss_probability_difference",
            "mixed_amounts",
            "minimum_difference",
        ),
        breaks=("reflection",),
        source="Kahneman & Tversky (1979), Econometrica 47, 263-291",
    ),
    Mechanism(
        slot="utility",
        name="loss-averse linear",
        code="""
        aversion = parameters["loss_aversion"][:, :, None, None]
        utility = xp.where(outcomes < 0, aversion, 1.0) * outcomes
        """,
        parameters=LOSS_AVERSION_RANGE,
        wording=LOSS_AVERSION,
        repairs=("losses_present", "loss_probability_difference", "mixed_amounts"),
        breaks=("reflection",),
        source="Tversky & Kahneman (1991), Quarterly Journal of Economics 106, 1039-1061",
    ),
    Mechanism(
        slot="utility",
        name="exponential",
        code="""
        satiation = parameters["satiation"][:, :, None, None]
        stake = xp.maximum(xp.abs(outcomes).max(axis=(-2, -1)), 1e-9)[:, None, None]
        utility = stake * xp.sign(outcomes) * (1 - xp.exp(-satiation * xp.abs(outcomes) / stake)) / satiation
        """,
        parameters={
            "satiation": log_uniform(
                0.05, 5.0, "per largest amount", "near 0: linear; large: any gain is as good"
            )
        },
        wording=Wording(
            clause="value each further unit of money {far}less, the nearer it comes to the largest at stake",
            parameter="satiation",
            label="satiation",
        ),
        repairs=("variance_difference", "sd_difference", "maximum_difference"),
        breaks=("best_amount", "worst_amount", "amounts"),
        source="Pratt (1964), Econometrica 32, 122-136; Köbberling & Wakker (2005), Journal of Economic Theory "
        "122, 119-131",
    ),
    Mechanism(
        slot="utility",
        name="constant risk aversion",
        code="""
        aversion_to_risk = parameters["risk_aversion"][:, :, None, None]
        utility = -xp.expm1(xp.clip(-aversion_to_risk * outcomes, -40.0, 40.0)) / aversion_to_risk
        """,
        parameters={
            "risk_aversion": log_uniform(5e-4, 0.2, "per point", "Arrow-Pratt measure: -u''/u'")
        },
        wording=Wording(
            clause=(
                "demand the same risk premium at any level of wealth (constant absolute risk aversion)"
            ),
            label="risk aversion",
        ),
        repairs=("variance_difference", "sd_difference", "minimum_difference"),
        breaks=("reflection", "scale"),
        source="Pratt (1964), Econometrica 32, 122-136; Arrow (1965), Aspects of the theory of risk-bearing",
    ),
    Mechanism(
        slot="utility",
        name="logarithmic",
        code="""
        unit = parameters["just_noticeable"][:, :, None, None]
        utility = xp.sign(outcomes) * unit * xp.log1p(xp.abs(outcomes) / unit)
        """,
        parameters={
            "just_noticeable": log_uniform(
                1.0, 200.0, "points", "amount below which value is nearly linear"
            )
        },
        wording=Wording(
            clause=(
                "value amounts in proportion to their logarithm, beyond the first few units "
                "(about {just_noticeable})"
            ),
            label="diminishing returns",
        ),
        repairs=("variance_difference", "amount_size", "maximum_difference"),
        breaks=("scale",),
        source="Bernoulli (1738/1954), Econometrica 22, 23-36",
    ),
)
