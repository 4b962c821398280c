"""What probabilities count for: statements that set ``weights``, as large as ``probabilities``.

A curve ``weigh(p)`` is used in one of three ways: on every outcome by itself (Kahneman & Tversky, 1979); on the chance
of doing at least as well, in gains, or at most as well, in losses (Tversky & Kahneman, 1992); or on the chance of
doing at least as well whatever the sign (Quiggin, 1982).
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.kit.parameter import Literal, log_uniform, uniform
from lakatos.domains.risky.mechanisms.citation import BEAST
from lakatos.theories.language.grammar import Mechanism

CURVE = {
    "weighting_curve": uniform(
        0.3, 1.3, "exponent", "1: as stated; below 1: small probabilities overrated"
    )
}
ELEVATION = {
    "weighting_elevation": log_uniform(0.3, 3.0, "factor", "above 1: probabilities look large")
}
ANSWERS = (
    "rare_outcome",
    "worst_probability_difference",
    "best_probability_difference",
    "maximum_difference",
)

READ_CURVE = 'curve = parameters["weighting_curve"][:, :, None, None]'
READ_ELEVATION = 'elevation = parameters["weighting_elevation"][:, :, None, None]'
TVERSKY_KAHNEMAN = "p**curve / (p**curve + (1 - p) ** curve) ** (1 / curve)"
WU_GONZALEZ = "p**curve / (p**curve + (1 - p) ** curve) ** elevation"
LOG_ODDS = "elevation * p**curve / (elevation * p**curve + (1 - p) ** curve)"
PRELEC = "xp.where(p > 0, xp.exp(-elevation * (-xp.log(xp.clip(p, 1e-300, 1.0))) ** curve), 0.0)"
PRELEC_ALONE = PRELEC.replace("elevation * ", "")

BY_ITSELF = "weights = weigh(probabilities)"
CUMULATIVE = "weights = decision_weights(weigh, xp.where(outcomes < 0, from_worst, from_best), probabilities, xp)"
BY_RANK = "weights = decision_weights(weigh, from_best, probabilities, xp)"


def _curve(
    name: str,
    claim: str,
    formula: str,
    use: str,
    citation: str,
    *,
    read: tuple[str, ...] = (READ_CURVE,),
    parameters: Mapping[str, Literal] = CURVE,
    breaks: tuple[str, ...] = (),
) -> Mechanism:
    code = "\n".join((*read, "def weigh(p):", f"    return {formula}", use))
    return Mechanism("weighting", name, claim, code, parameters, ANSWERS, citation, breaks=breaks)


BOTH = {**CURVE, **ELEVATION}
READ_BOTH = (READ_CURVE, READ_ELEVATION)

WEIGHTING = (
    _curve(
        "Tversky-Kahneman",
        "overweight small and underweight large probabilities, each outcome by itself",
        TVERSKY_KAHNEMAN,
        BY_ITSELF,
        "Kahneman & Tversky (1979), Econometrica 47, 263-291; Tversky & Kahneman (1992)",
        breaks=("best_probability",),
    ),
    _curve(
        "cumulative Tversky-Kahneman",
        "overweight the extreme outcomes, by an inverse-S curve over the chance of doing at least as well",
        TVERSKY_KAHNEMAN,
        CUMULATIVE,
        "Tversky & Kahneman (1992), Journal of Risk and Uncertainty 5, 297-323",
    ),
    _curve(
        "cumulative Tversky-Kahneman, losses apart",
        "overweight the extreme outcomes, by one inverse-S curve for gains and another for losses",
        TVERSKY_KAHNEMAN,
        CUMULATIVE,
        "Tversky & Kahneman (1992), Journal of Risk and Uncertainty 5, 297-323",
        read=(
            READ_CURVE,
            'curve = xp.where(outcomes < 0, parameters["weighting_curve_losses"][:, :, None, None], curve)',
        ),
        parameters={**CURVE, "weighting_curve_losses": CURVE["weighting_curve"]},
        breaks=("reflection",),
    ),
    _curve(
        "cumulative Prelec, one parameter",
        "overweight the extreme outcomes, by a curve over the chance of doing at least as well that leaves 1/e alone",
        PRELEC_ALONE,
        CUMULATIVE,
        "Prelec (1998), Econometrica 66, 497-527",
    ),
    _curve(
        "cumulative Prelec",
        "overweight the extreme outcomes, by a curve over the chance of doing at least as well that can be high or low",
        PRELEC,
        CUMULATIVE,
        "Prelec (1998), Econometrica 66, 497-527",
        read=READ_BOTH,
        parameters=BOTH,
    ),
    _curve(
        "linear in log odds",
        "distort the odds of every outcome, each by itself, towards a point that attracts them",
        LOG_ODDS,
        BY_ITSELF,
        "Goldstein & Einhorn (1987), Psychological Review 94, 236-254; Lattimore, Baker & Witte (1992), Journal of "
        "Economic Behavior and Organization 17, 377-400",
        read=READ_BOTH,
        parameters=BOTH,
        breaks=("best_probability",),
    ),
    _curve(
        "cumulative linear in log odds",
        "distort the odds of doing at least as well towards a point that attracts them",
        LOG_ODDS,
        CUMULATIVE,
        "Gonzalez & Wu (1999), Cognitive Psychology 38, 129-166",
        read=READ_BOTH,
        parameters=BOTH,
    ),
    _curve(
        "cumulative Wu-Gonzalez",
        "overweight the extreme outcomes, by a curve whose height is free of its shape",
        WU_GONZALEZ,
        CUMULATIVE,
        "Wu & Gonzalez (1996), Management Science 42, 1676-1690",
        read=READ_BOTH,
        parameters=BOTH,
        breaks=("best_amount", "worst_amount", "amounts", "best_probability", "dominance"),
    ),
    _curve(
        "by rank, Prelec",
        "weight outcomes by their rank, gains and losses in one order: the optimist the best, the pessimist the worst",
        PRELEC,
        BY_RANK,
        "Quiggin (1982), Journal of Economic Behavior and Organization 3, 323-343; Prelec (1998)",
        read=READ_BOTH,
        parameters=BOTH,
        breaks=("reflection",),
    ),
    _curve(
        "security and potential",
        "look from the bottom up for security, and from the top down for potential",
        "secure * p ** (1 + security) + (1 - secure) * (1 - (1 - p) ** (1 + potential))",
        BY_RANK,
        "Lopes (1987), Advances in Experimental Social Psychology 20, 255-295; Lopes & Oden (1999), Journal of "
        "Mathematical Psychology 43, 286-313",
        read=(
            'security = parameters["security"][:, :, None, None]',
            'potential = parameters["potential"][:, :, None, None]',
            'secure = parameters["security_share"][:, :, None, None]',
        ),
        parameters={
            "security": log_uniform(
                0.05, 8.0, "exponent less 1", "weight of the worst outcomes among the secure"
            ),
            "potential": log_uniform(
                0.05, 8.0, "exponent less 1", "weight of the best outcomes among the hopeful"
            ),
            "security_share": uniform(
                0.0, 1.0, "share", "1: looks for security alone; 0: for potential alone"
            ),
        },
        breaks=("reflection",),
    ),
    Mechanism(
        "weighting",
        "neo-additive",
        "give the best and the worst outcome extra weight, whatever their probabilities",
        """
        insensitivity = parameters["insensitivity"][:, :, None, None]
        hope = parameters["hope"][:, :, None, None]
        top, bottom = shown & (outcomes == best[..., None]), shown & (outcomes == worst[..., None])
        weights = (1 - insensitivity) * probabilities + insensitivity * (hope * top + (1 - hope) * bottom)
        """,
        {
            "insensitivity": uniform(
                0.0, 0.9, "share", "weight that goes to the extremes whatever their chances"
            ),
            "hope": uniform(0.0, 1.0, "share", "of that weight, what the best outcome gets"),
        },
        (*ANSWERS, "sure_option", "minimum_difference"),
        "Chateauneuf, Eichberger & Grant (2007), Journal of Economic Theory 137, 538-567",
        breaks=("reflection",),
    ),
    Mechanism(
        "weighting",
        "transfer of attention",
        "divide attention by probability, then turn a share of it from each outcome to every worse one",
        """
        curve = parameters["weighting_curve"][:, :, None, None]
        transfer = parameters["attention_transfer"][:, :, None, None]
        strength = probabilities**curve
        share = transfer / (shown.sum(axis=-1, keepdims=True) + 1)
        better = strength[..., ::-1].cumsum(axis=-1)[..., ::-1] - strength
        worse = strength.cumsum(axis=-1) - strength
        n_better = shown[..., ::-1].cumsum(axis=-1)[..., ::-1] - shown
        n_worse = shown.cumsum(axis=-1) - shown
        taken = xp.where(transfer > 0, better - strength * n_worse, strength * n_better - worse)
        weights = shown * (strength + share * taken) / strength.sum(axis=-1, keepdims=True)
        """,
        {
            **CURVE,
            "attention_transfer": uniform(
                -1.1, 1.1, "share", "above 0: towards worse outcomes; below 0: better ones"
            ),
        },
        (*ANSWERS, "minimum_difference", "n_outcomes_difference"),
        "Birnbaum (2008), Psychological Review 115, 463-501",
        breaks=("reflection",),
    ),
    Mechanism(
        "weighting",
        "equal chances in part",
        "treat stated probabilities as if they lay partway to equal chances of all amounts shown",
        """
        blur = parameters["blur"][:, :, None, None]
        weights = (1 - blur) * probabilities + blur * shown / shown.sum(axis=-1, keepdims=True)
        """,
        {"blur": uniform(0.0, 0.9, "share", "0: as stated; 1: all amounts equally likely")},
        (*ANSWERS, "equal_weight_difference"),
        f"Viscusi (1989), Journal of Risk and Uncertainty 2, 235-263; {BEAST}",
    ),
)
