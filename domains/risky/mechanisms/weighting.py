"""What probabilities count for: statements that set ``weights``, as large as ``probabilities``.

A curve ``weigh(p)`` is used in one of three ways: on every outcome by itself (Kahneman & Tversky, 1979); on the chance
of doing at least as well, in gains, or at most as well, in losses (Tversky & Kahneman, 1992); or on the chance of
doing at least as well whatever the sign (Quiggin, 1982).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lakatos.domains.kit.parameter import Literal, log_uniform, uniform
from lakatos.domains.risky.mechanisms.shared import BEAST, MONOTONE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

CURVE = {
    "weighting_curve": uniform(
        0.3, 1.3, "exponent", "1: as stated; below 1: small probabilities overrated"
    )
}
ELEVATION = {
    "weighting_elevation": log_uniform(0.3, 3.0, "factor", "above 1: probabilities look large")
}
REPAIRS = (
    "rare_outcome",
    "worst_probability_difference",
    "best_probability_difference",
    "maximum_difference",
)

READ_CURVE = 'curve = parameters["weighting_curve"][:, :, None, None]'
READ_ELEVATION = 'elevation = parameters["weighting_elevation"][:, :, None, None]'
TVERSKY_KAHNEMAN = "p**curve / (p**curve + (1 - p) ** curve) ** (1 / curve)"
WU_GONZALEZ = "p**curve / (p**curve + (1 - p) ** curve) ** elevation"
LINEAR_LOG_ODDS = "elevation * p**curve / (elevation * p**curve + (1 - p) ** curve)"
PRELEC = "xp.where(p > 0, xp.exp(-elevation * (-xp.log(xp.clip(p, 1e-300, 1.0))) ** curve), 0.0)"
PRELEC_ALONE = PRELEC.replace("elevation * ", "")

BY_ITSELF = "weights = weigh(probabilities)"
CUMULATIVE = "weights = decision_weights(weigh, xp.where(outcomes < 0, from_worst, from_best), probabilities, xp)"
BY_RANK = "weights = decision_weights(weigh, from_best, probabilities, xp)"


UNLIKELY = "rare_outcome < 0.36"
"""Trials without which nothing can be said of how small chances are seen: curves cross near 1 / e."""
BEST = "the largest gain or loss"
SMALL = "small probabilities of single outcomes"
EXTREME = "unlikely extreme outcomes"


def _extremes(what: str, parameter: str = "weighting_curve") -> Wording:
    """An exponent of probabilities: below 1 small chances and extreme outcomes get too much weight."""
    topic = "extremes" if "extreme" in what else "chances"
    return Wording(
        clause=f"{{much}}underweight {what}",
        clause_short="underweight them",
        opposite_clause=f"{{much}}overweight {what}",
        opposite_short="overweight them",
        parameter=parameter,
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
        label=f"underweighted {topic}",
        opposite_label=f"overweighted {topic}",
        if_presented=UNLIKELY,
    )


def _even(what: str) -> Wording:
    """The same exponent where no outcome is unlikely: all that it does is to weight chances of about a half."""
    return Wording(
        clause=f"give {what} {{far}}more weight than its probability",
        clause_short="more",
        opposite_clause=f"give {what} {{far}}less weight than its probability",
        opposite_short="less",
        parameter="weighting_curve",
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
        label="overweighted extremes",
        opposite_label="underweighted extremes",
        unless_presented=UNLIKELY,
    )


RANKS = Wording(clause="weight outcomes by cumulative probabilities (rank dependence)")


def _halves(what: str, parameter: str = "weighting_curve") -> Wording:
    """Tversky and Kahneman's exponent there: a chance of a half loses weight on both sides of 1."""
    return Wording(
        clause=f"give {what} {{far}}less weight than its probability",
        parameter=parameter,
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
        label="underweighted extremes",
        unless_presented=UNLIKELY,
    )


HOPEFUL = Wording(
    clause="{much}overweight probabilities in general",
    clause_short="overweight them",
    opposite_clause="{much}underweight probabilities in general",
    opposite_short="underweight them",
    parameter="weighting_elevation",
    neutral=1.0,
    unit=0.4,
    log_ratio=True,
    label="optimism",
    opposite_label="pessimism",
)
DOUBTFUL = replace(
    HOPEFUL,
    clause=HOPEFUL.opposite_clause,
    clause_short=HOPEFUL.opposite_short,
    opposite_clause=HOPEFUL.clause,
    opposite_short=HOPEFUL.clause_short,
    label=HOPEFUL.opposite_label,
    opposite_label=HOPEFUL.label,
)
"""Prelec's and Wu and Gonzalez's factor works the other way round than that of odds."""
PESSIMISTIC = replace(
    DOUBTFUL,
    clause="{much}overweight the worse outcomes (pessimism)",
    clause_short="the worse ones (pessimism)",
    opposite_clause="{much}overweight the better outcomes (optimism)",
    opposite_short="the better ones (optimism)",
)


def _curve(
    *,
    formula: str,
    use: str,
    read: tuple[str, ...] = (READ_CURVE,),
    parameters: Mapping[str, Literal] = CURVE,
    **more: Any,
) -> Mechanism:
    """A mechanism whose weights follow the curve that ``formula`` gives for a probability ``p``."""
    code = "\n".join((*read, "def weigh(p):", f"    return {formula}", use))
    return Mechanism(slot="weighting", code=code, parameters=parameters, repairs=REPAIRS, **more)


BOTH = {**CURVE, **ELEVATION}
READ_BOTH = (READ_CURVE, READ_ELEVATION)

WEIGHTING = (
    _curve(
        name="Tversky-Kahneman",
        clause="overweight small and underweight large probabilities of single outcomes",
        formula=TVERSKY_KAHNEMAN,
        use=BY_ITSELF,
        wording=_extremes(SMALL),
        breaks=("best_probability",),
        source="Kahneman & Tversky (1979), Econometrica 47, 263-291; Tversky & Kahneman (1992)",
    ),
    _curve(
        name="cumulative Tversky-Kahneman",
        clause=(
            "overweight the extreme outcomes, by an inverse-S-shaped function of the "
            "probability of doing at least as well"
        ),
        formula=TVERSKY_KAHNEMAN,
        use=CUMULATIVE,
        wording=(_extremes(EXTREME), _halves(BEST), RANKS),
        source="Tversky & Kahneman (1992), Journal of Risk and Uncertainty 5, 297-323",
    ),
    _curve(
        name="cumulative Tversky-Kahneman, losses apart",
        clause="overweight the extreme outcomes, by one inverse-S curve for gains and another for losses",
        formula=TVERSKY_KAHNEMAN,
        use=CUMULATIVE,
        read=(
            READ_CURVE,
            'curve = xp.where(outcomes < 0, parameters["weighting_curve_losses"][:, :, None, None], curve)',
        ),
        parameters={**CURVE, "weighting_curve_losses": CURVE["weighting_curve"]},
        wording=(
            _extremes("unlikely extreme gains"),
            _halves("the largest gain"),
            _extremes("unlikely extreme losses", "weighting_curve_losses"),
            _halves("the largest loss", "weighting_curve_losses"),
            RANKS,
        ),
        breaks=("reflection",),
        source="Tversky & Kahneman (1992), Journal of Risk and Uncertainty 5, 297-323",
    ),
    _curve(
        name="cumulative Prelec, one parameter",
        clause=(
            "overweight the extreme outcomes, by a function of the probability of doing at "
            "least as well with its fixed point at 1/e"
        ),
        formula=PRELEC_ALONE,
        use=CUMULATIVE,
        wording=(_extremes(EXTREME), _even(BEST), RANKS),
        source="Prelec (1998), Econometrica 66, 497-527",
    ),
    _curve(
        name="cumulative Prelec",
        clause=(
            "overweight the extreme outcomes, by a function of the probability of doing at "
            "least as well whose elevation can vary"
        ),
        formula=PRELEC,
        use=CUMULATIVE,
        read=READ_BOTH,
        parameters=BOTH,
        wording=(_extremes(EXTREME), _even(BEST), DOUBTFUL, RANKS),
        source="Prelec (1998), Econometrica 66, 497-527",
    ),
    _curve(
        name="linear in log odds",
        clause="distort the log odds of each outcome linearly, towards a fixed point",
        formula=LINEAR_LOG_ODDS,
        use=BY_ITSELF,
        read=READ_BOTH,
        parameters=BOTH,
        wording=(_extremes(SMALL), HOPEFUL),
        breaks=("best_probability",),
        source="Goldstein & Einhorn (1987), Psychological Review 94, 236-254; Lattimore, Baker & Witte (1992), "
        "Journal of "
        "Economic Behavior and Organization 17, 377-400",
    ),
    _curve(
        name="cumulative linear in log odds",
        clause="distort the log odds of doing at least as well linearly, towards a fixed point",
        formula=LINEAR_LOG_ODDS,
        use=CUMULATIVE,
        read=READ_BOTH,
        parameters=BOTH,
        wording=(_extremes(EXTREME), HOPEFUL, RANKS),
        source="Gonzalez & Wu (1999), Cognitive Psychology 38, 129-166",
    ),
    _curve(
        name="cumulative Wu-Gonzalez",
        clause="overweight the extreme outcomes, by a function whose elevation is independent of its curvature",
        formula=WU_GONZALEZ,
        use=CUMULATIVE,
        read=READ_BOTH,
        parameters=BOTH,
        wording=(_extremes(EXTREME), DOUBTFUL, RANKS),
        breaks=MONOTONE,
        source="Wu & Gonzalez (1996), Management Science 42, 1676-1690",
    ),
    _curve(
        name="by rank, Prelec",
        clause="weight outcomes by their rank, gains and losses in one order: the optimist the best, the "
        "pessimist the worst",
        formula=PRELEC,
        use=BY_RANK,
        read=READ_BOTH,
        parameters=BOTH,
        wording=(
            _extremes("the worst and the best outcome where they are unlikely"),
            PESSIMISTIC,
            RANKS,
        ),
        breaks=("reflection",),
        source="Quiggin (1982), Journal of Economic Behavior and Organization 3, 323-343; Prelec (1998)",
    ),
    _curve(
        name="security and potential",
        formula="secure * p ** (1 + security) + (1 - secure) * (1 - (1 - p) ** (1 + potential))",
        use=BY_RANK,
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
        wording=(
            Wording(
                clause="attend {far}more to the worse outcomes (security) than to the better ones (potential)",
                clause_short="more to the worse ones",
                opposite_clause="attend {far}more to the better outcomes (potential) than to the worse ones (security)",
                opposite_short="more to the better ones",
                parameter="security_share",
                neutral=0.5,
                unit=0.15,
                label="security",
                opposite_label="potential",
            ),
            RANKS,
        ),
        breaks=("reflection",),
        source="Lopes (1987), Advances in Experimental Social Psychology 20, 255-295; Lopes & Oden (1999), Journal of "
        "Mathematical Psychology 43, 286-313",
    ),
    Mechanism(
        slot="weighting",
        name="neo-additive",
        code="""
        insensitivity = parameters["insensitivity"][:, :, None, None]
        hope = parameters["hope"][:, :, None, None]
        top, bottom = shown & (outcomes == best[..., None]), shown & (outcomes == worst[..., None])
        weights = (1 - insensitivity) * probabilities + insensitivity * (hope * top + (1 - hope) * bottom)
        """,
        parameters={
            "insensitivity": uniform(
                0.0, 0.9, "share", "weight that goes to the extremes whatever their chances"
            ),
            "hope": uniform(0.0, 1.0, "share", "of that weight, what the best outcome gets"),
        },
        wording=Wording(
            clause="{much}overweight the best and the worst outcome, whatever their probabilities",
            parameter="insensitivity",
            unit=0.2,
            label="insensitivity",
        ),
        repairs=(*REPAIRS, "sure_option", "minimum_difference"),
        breaks=("reflection",),
        source="Chateauneuf, Eichberger & Grant (2007), Journal of Economic Theory 137, 538-567",
    ),
    Mechanism(
        slot="weighting",
        name="transfer of attention",
        clause="divide attention by probability, then turn a share of it from each outcome to every worse one",
        code="""
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
        parameters={
            **CURVE,
            "attention_transfer": uniform(
                -1.1, 1.1, "share", "above 0: towards worse outcomes; below 0: better ones"
            ),
        },
        wording=(
            _extremes(SMALL),
            Wording(
                clause="{much}shift attention from each outcome to every worse one",
                clause_short="to every worse one",
                opposite_clause="{much}shift attention from each outcome to every better one",
                opposite_short="to every better one",
                parameter="attention_transfer",
                unit=0.3,
                label="pessimism",
                opposite_label="optimism",
            ),
        ),
        repairs=(*REPAIRS, "minimum_difference", "n_outcomes_difference"),
        breaks=("reflection",),
        source="Birnbaum (2008), Psychological Review 115, 463-501",
    ),
    Mechanism(
        slot="weighting",
        name="equal chances in part",
        code="""
        blur = parameters["blur"][:, :, None, None]
        weights = (1 - blur) * probabilities + blur * shown / shown.sum(axis=-1, keepdims=True)
        """,
        parameters={
            "blur": uniform(0.0, 0.9, "share", "0: as stated; 1: all amounts equally likely")
        },
        wording=Wording(
            clause="{much}shift stated probabilities towards equal probabilities of all amounts shown",
            parameter="blur",
            unit=0.2,
            label="blurred chances",
        ),
        repairs=(*REPAIRS, "equal_weight_difference"),
        source=f"Viscusi (1989), Journal of Risk and Uncertainty 2, 235-263; {BEAST}",
    ),
)
