"""Intertemporal choice: what later amounts are worth, by utility, the feeling of time and discounting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

ITCH = "Ericson, White, Laibson & Cohen (2015), Psychological Science 26(6), 826-833"
DRIFT = "Read, Frederick & Scholten (2013), Journal of Experimental Psychology: LMC 39, 573-588"
SIMON = "Simon (1955), Quarterly Journal of Economics 69(1), 99-118"
BENHABIB = "Benhabib, Bisin & Schotter (2010), Games and Economic Behavior 69, 205-223"
SCHOLTEN = "Scholten & Read (2010), Psychological Review 117, 925-944"
LOEWENSTEIN = "Loewenstein & Prelec (1992), Quarterly Journal of Economics 107, 573-597"
EBERT = "Ebert & Prelec (2007), Management Science 53, 1423-1438"
SEQUENTIAL = (
    "Tversky (1969), Psychological Review 76, 31-48; "
    "Manzini & Mariotti (2007), American Economic Review 97, 1824-1839"
)
HARLESS = "Harless & Camerer (1994), Econometrica 62, 1251-1289"


def _sensitivity(low: float, high: float, unit: str) -> Mapping[str, Any]:
    meaning = "how strongly a difference decides the choice"
    return {"sensitivity": log_uniform(low, high, f"log odds per {unit}", meaning)}


def _attention(
    *, name: str, code: str, weight: tuple[str, float, float, str], **more: Any
) -> Mechanism:
    """A feature of the trial, above 0 where it speaks for the second option, that adds to the evidence."""
    parameter, low, high, unit = weight
    prior = log_uniform(low, high, f"log odds per {unit}", f"weight of: {name}")
    return Mechanism(
        slot="attention",
        name=name,
        code=f'evidence = evidence + parameters["{parameter}"] * ({code})',
        parameters={parameter: prior},
        **more,
    )


CURVATURE_RANGE = {
    "curvature": uniform(0.1, 1.3, "exponent", "1: linear; below 1: diminishing sensitivity")
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
FEATURES_OF_AMOUNTS = (
    "amount_difference",
    "log_amount_ratio",
    "log_larger_amount",
    "relative_amount_difference",
)

UTILITY = (
    Mechanism(
        slot="utility",
        name="power",
        code='utility = xp.sign(amounts) * size ** parameters["curvature"][..., None]',
        parameters=CURVATURE_RANGE,
        wording=CURVATURE,
        repairs=FEATURES_OF_AMOUNTS,
        source=f"Stevens (1957), Psychological Review 64, 153-181; {LOEWENSTEIN}",
    ),
    Mechanism(
        slot="utility",
        name="loss-averse power",
        code="""
        weight = xp.where(amounts < 0, parameters["loss_aversion"][..., None], 1.0)
        utility = weight * xp.sign(amounts) * size ** parameters["curvature"][..., None]
        """,
        parameters={
            **CURVATURE_RANGE,
            "loss_aversion": log_uniform(
                0.5, 5.0, "ratio", "weight of a loss over that of an equal gain"
            ),
        },
        wording=(CURVATURE, LOSS_AVERSION),
        repairs=("losses_present", *FEATURES_OF_AMOUNTS),
        breaks=("reverses reflection",),
        source=LOEWENSTEIN,
    ),
    Mechanism(
        slot="utility",
        name="increasing elasticity",
        code='utility = xp.sign(amounts) * (size + xp.sqrt(parameters["small_change"][..., None] * size))',
        parameters={
            "small_change": log_uniform(
                0.1, 1e4, "money units", "amount at which the square root equals the amount"
            )
        },
        wording=Wording(
            clause=(
                "find small amounts of money (below about {small_change}) more alike than large amounts in "
                "the same ratio"
            ),
            label="small change",
        ),
        repairs=("log_larger_amount", "amount_difference"),
        breaks=("ignores scale",),
        source=f"{LOEWENSTEIN} (the property; the form is the project's)",
    ),
    Mechanism(
        slot="utility",
        name="logarithmic",
        code="""
        unit = parameters["just_noticeable"][..., None]
        utility = xp.sign(amounts) * unit * xp.log1p(size / unit)
        """,
        parameters={
            "just_noticeable": log_uniform(
                0.1, 1e4, "money units", "amount below which value is nearly linear"
            )
        },
        wording=Wording(
            clause=(
                "value amounts in proportion to their logarithm, beyond the first few units "
                "(about {just_noticeable})"
            ),
            label="diminishing returns",
        ),
        repairs=FEATURES_OF_AMOUNTS,
        breaks=("ignores scale",),
        source="Bernoulli (1738/1954), Econometrica 22, 23-36",
    ),
)

FEATURES_OF_DELAYS = (
    "delay_difference",
    "log_delay_difference",
    "relative_delay_difference",
    "longest_delay",
)

TIME = (
    Mechanism(
        slot="time",
        name="logarithmic",
        code="""
        contraction = parameters["contraction"][..., None]
        time = xp.log1p(contraction * delays) / contraction
        """,
        parameters={
            "contraction": log_uniform(1e-3, 10.0, "per day", "near 0: delays count as stated")
        },
        wording=Wording(
            clause="perceive delays in proportion to their logarithm, beyond the first days",
            label="contracted time",
        ),
        repairs=(*FEATURES_OF_DELAYS, "front_end_delay"),
        breaks=("ignores common_delay",),
        source="Takahashi (2005), Medical Hypotheses 65, 691-693",
    ),
    Mechanism(
        slot="time",
        name="power",
        code='time = 30.0 * (delays / 30.0) ** parameters["time_sensitivity"][..., None]',
        parameters={
            "time_sensitivity": uniform(
                0.05, 1.5, "exponent", "1: as stated; near 0: only whether there is a delay"
            )
        },
        wording=Wording(
            clause="weight each further day {far}more than the one before",
            clause_short="more",
            opposite_clause="weight each further day {far}less than the one before",
            opposite_short="less",
            parameter="time_sensitivity",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="stretched time",
            opposite_label="contracted time",
        ),
        repairs=(*FEATURES_OF_DELAYS, "front_end_delay"),
        breaks=("ignores common_delay",),
        source=f"Zauberman, Kim, Malkoc & Bettman (2009), Journal of Marketing Research 46, 543-556; {EBERT}",
    ),
    Mechanism(
        slot="time",
        name="counted from the sooner date",
        clause="count time from the sooner of the two dates and ignore the delay of that date",
        code="time = delays - delays.min(axis=-1)[..., None]",
        repairs=("front_end_delay", "today_possible", "today_difference"),
        source="Read (2001), Journal of Risk and Uncertainty 23, 5-32; "
        "Kable & Glimcher (2010), Journal of Neurophysiology 103, 2513-2531",
    ),
    Mechanism(
        slot="time",
        name="extended present",
        code='time = xp.maximum(delays - parameters["present_days"][..., None], 0.0)',
        parameters={"present_days": log_uniform(0.5, 60.0, "days", "how long the present lasts")},
        wording=Wording(
            clause=("subtract a grace period from every delay ({present_days} days)"),
            label="extended present",
        ),
        repairs=("front_end_delay", "today_difference", "delay_difference"),
        breaks=("ignores common_delay",),
        source="Harris & Laibson (2013), Quarterly Journal of Economics 128, 205-248",
    ),
)

PACE = (
    Mechanism(
        slot="pace",
        name="slower when more is at stake",
        code='pace = pace * (at_stake[..., None] / 100.0) ** -parameters["stakes_effect"][..., None]',
        parameters={
            "stakes_effect": uniform(
                0.0, 1.0, "exponent", "fall of the rate with the amount; the rate is for 100 units"
            )
        },
        wording=Wording(
            clause="discount {far}less where more money is at stake",
            parameter="stakes_effect",
            unit=0.3,
            label="magnitude effects",
        ),
        repairs=("log_larger_amount", "amount_difference"),
        breaks=("amount", "ignores scale"),
        source="Green, Myerson & McFadden (1997), Memory & Cognition 25, 715-723; "
        "Vincent (2016), Behavior Research Methods 48, 1608-1620",
    ),
    Mechanism(
        slot="pace",
        name="slower for losses",
        code='pace = pace * xp.where(amounts < 0, parameters["loss_pace"][..., None], 1.0)',
        parameters={
            "loss_pace": log_uniform(0.05, 2.0, "ratio", "rate for losses over rate for gains")
        },
        wording=Wording(
            clause="discount losses {far}faster than gains",
            clause_short="more slowly",
            opposite_clause="discount gains {far}faster than losses",
            opposite_short="more slowly",
            parameter="loss_pace",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="sign effects",
            opposite_label="sign effects",
        ),
        repairs=("losses_present",),
        breaks=("reverses reflection",),
        source=f"Thaler (1981), Economics Letters 8, 201-207; {LOEWENSTEIN}",
    ),
)

RATE = {"discount_rate": log_uniform(1e-4, 1.0, "per day", "discount rate k")}

DISCOUNTING = (
    Mechanism(
        slot="discounting",
        name="exponential",
        code='discount = xp.exp(-parameters["discount_rate"][..., None] * pace * time)',
        parameters=RATE,
        wording=Wording(
            clause="discount delayed amounts exponentially (k = {discount_rate} per day)"
        ),
        repairs=("delay_difference", "interest_rate"),
        source="Samuelson (1937), Review of Economic Studies 4, 155-161",
    ),
    Mechanism(
        slot="discounting",
        name="hyperbolic",
        code='discount = 1 / (1 + parameters["discount_rate"][..., None] * pace * time)',
        parameters=RATE,
        wording=Wording(
            clause="discount delayed amounts hyperbolically (k = {discount_rate} per day)"
        ),
        repairs=("front_end_delay", *FEATURES_OF_DELAYS),
        source="Mazur (1987), in Quantitative analyses of behavior 5, 55-73",
    ),
    Mechanism(
        slot="discounting",
        name="generalised hyperbolic",
        clause="discount delayed amounts at a rate that declines with the delay",
        code="""
        decline = parameters["decline"][..., None]
        discount = xp.exp(-(parameters["discount_rate"][..., None] * pace / decline) * xp.log1p(decline * time))
        """,
        parameters={
            **RATE,
            "decline": log_uniform(
                1e-3, 10.0, "per day", "near 0: exponential; equal to the rate: hyperbolic"
            ),
        },
        repairs=("front_end_delay", *FEATURES_OF_DELAYS),
        source=f"{LOEWENSTEIN}; the same curve as Myerson & Green (1995), J. Experimental Analysis of Behavior "
        f"64, 263-276",
    ),
    Mechanism(
        slot="discounting",
        name="quasi-hyperbolic",
        code="""
        discount = xp.exp(-parameters["discount_rate"][..., None] * pace * time)
        discount = xp.where(time > 0, parameters["present_bias"][..., None], 1.0) * discount
        """,
        parameters={
            **RATE,
            "present_bias": uniform(0.2, 1.0, "ratio", "value of tomorrow over value of today"),
        },
        wording=Wording(
            clause="discount delayed amounts by the same share for each further day",
            opposite_clause=(
                "discount everything that is not immediate at once (by a factor of {present_bias}), and "
                "then by the same share for each further day"
            ),
            neutral_clause="discount delayed amounts by the same share for each further day",
            parameter="present_bias",
            neutral=1.0,
            unit=0.2,
        ),
        repairs=("today_difference", "today_possible", "front_end_delay"),
        source="Phelps & Pollak (1968), Review of Economic Studies 35, 185-199; "
        "Laibson (1997), Quarterly Journal of Economics 112, 443-477",
    ),
    Mechanism(
        slot="discounting",
        name="double exponential",
        code="""
        slow = parameters["discount_rate"][..., None] * pace * time
        impatient = parameters["impatient_share"][..., None]
        discount = impatient * xp.exp(-parameters["haste"][..., None] * slow) + (1 - impatient) * xp.exp(-slow)
        """,
        parameters={
            **RATE,
            "impatient_share": uniform(
                0.0, 1.0, "share", "weight of the mind that discounts quickly"
            ),
            "haste": log_uniform(2.0, 1000.0, "ratio", "quick rate over slow rate"),
        },
        wording=Wording(
            clause=(
                "discount by the weighted mean of a fast exponential function (weight {impatient_share%}) and a "
                "slow one"
            )
        ),
        repairs=("front_end_delay", "today_difference", *FEATURES_OF_DELAYS),
        source="McClure, Ericson, Laibson, Loewenstein & Cohen (2007), Journal of Neuroscience 27, 5796-5804",
    ),
    Mechanism(
        slot="discounting",
        name="savouring and dread",
        clause="enjoy looking forward to gains and dread losses ahead, so that some delay can make both loom larger",
        code="""
        fading = parameters["fading"][..., None]
        anticipation = parameters["anticipation"][..., None] * (1 - xp.exp(-fading * time)) / fading
        discount = xp.exp(-parameters["discount_rate"][..., None] * pace * time) * (1 + anticipation)
        """,
        parameters={
            **RATE,
            "anticipation": log_uniform(
                1e-4, 1.0, "per day", "value of a day of looking forward, over the amount's"
            ),
            "fading": log_uniform(
                1e-3, 1.0, "per day", "how soon a further day of looking forward adds nothing"
            ),
        },
        repairs=("delay_difference", "longest_delay", "losses_present"),
        breaks=("delay", "loss_delay", "dominance"),
        source="Loewenstein (1987), Economic Journal 97, 666-684",
    ),
)

COST = (
    Mechanism(
        slot="cost",
        name="fixed cost of waiting",
        code='cost = parameters["waiting_cost"][..., None] * xp.sign(amounts) * (time > 0)',
        parameters={
            "waiting_cost": log_uniform(0.01, 100.0, "money units", "charge for any delay")
        },
        wording=Wording(
            clause=(
                "subtract a fixed sum (about {waiting_cost} monetary units) for having to wait at all, "
                "whatever the amount and the delay"
            ),
            label="waiting costs",
        ),
        repairs=("today_difference", "log_larger_amount", "today_possible"),
        breaks=("amount", "ignores scale"),
        source=BENHABIB,
    ),
)

VALUE = "value = discount * utility - cost"
