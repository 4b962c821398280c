"""Intertemporal choice: what later amounts are worth, by utility, the feeling of time and discounting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.kit.parameter import log_uniform, uniform
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
    name: str,
    claim: str,
    feature: str,
    weight: tuple[str, float, float, str],
    answers: tuple[str, ...],
    citation: str,
    breaks: tuple[str, ...],
) -> Mechanism:
    """A feature of the trial, above 0 where it speaks for the second option, that adds to the evidence."""
    parameter, low, high, unit = weight
    return Mechanism(
        "attention",
        name,
        claim,
        f'evidence = evidence + parameters["{parameter}"] * ({feature})',
        {parameter: log_uniform(low, high, f"log odds per {unit}", f"weight of: {name}")},
        answers,
        citation,
        breaks=breaks,
    )


CURVATURE = {
    "curvature": uniform(0.1, 1.3, "exponent", "1: linear; below 1: diminishing sensitivity")
}
AMOUNT_ANSWERS = (
    "amount_difference",
    "log_amount_ratio",
    "log_magnitude",
    "relative_amount_difference",
)

UTILITY = (
    Mechanism(
        "utility",
        "power",
        "value each further unit of money less than the one before",
        'utility = xp.sign(amounts) * size ** parameters["curvature"][..., None]',
        CURVATURE,
        AMOUNT_ANSWERS,
        f"Stevens (1957), Psychological Review 64, 153-181; {LOEWENSTEIN}",
    ),
    Mechanism(
        "utility",
        "loss-averse power",
        "value each further unit of money less than the one before, and feel losses more than equal gains",
        """
        weight = xp.where(amounts < 0, parameters["loss_aversion"][..., None], 1.0)
        utility = weight * xp.sign(amounts) * size ** parameters["curvature"][..., None]
        """,
        {
            **CURVATURE,
            "loss_aversion": log_uniform(
                0.5, 5.0, "ratio", "weight of a loss over that of an equal gain"
            ),
        },
        ("losses_present", *AMOUNT_ANSWERS),
        LOEWENSTEIN,
        breaks=("reverses reflection",),
    ),
    Mechanism(
        "utility",
        "increasing elasticity",
        "find small amounts of money more alike than large amounts in the same ratio",
        'utility = xp.sign(amounts) * (size + xp.sqrt(parameters["small_change"][..., None] * size))',
        {
            "small_change": log_uniform(
                0.1, 1e4, "money units", "amount at which the square root equals the amount"
            )
        },
        ("log_magnitude", "amount_difference"),
        f"{LOEWENSTEIN} (the property; the form is the project's)",
        breaks=("ignores scale",),
    ),
    Mechanism(
        "utility",
        "logarithmic",
        "feel amounts in proportion to their logarithm, beyond a first few units",
        """
        unit = parameters["just_noticeable"][..., None]
        utility = xp.sign(amounts) * unit * xp.log1p(size / unit)
        """,
        {
            "just_noticeable": log_uniform(
                0.1, 1e4, "money units", "amount below which value is nearly linear"
            )
        },
        AMOUNT_ANSWERS,
        "Bernoulli (1738/1954), Econometrica 22, 23-36",
        breaks=("ignores scale",),
    ),
)

DELAY_ANSWERS = (
    "delay_difference",
    "log_delay_difference",
    "relative_delay_difference",
    "longest_delay",
)

TIME = (
    Mechanism(
        "time",
        "logarithmic",
        "feel delays in proportion to their logarithm, beyond the first days",
        """
        contraction = parameters["contraction"][..., None]
        time = xp.log1p(contraction * delays) / contraction
        """,
        {"contraction": log_uniform(1e-3, 10.0, "per day", "near 0: delays count as stated")},
        (*DELAY_ANSWERS, "front_end_delay"),
        "Takahashi (2005), Medical Hypotheses 65, 691-693",
        breaks=("ignores common_delay",),
    ),
    Mechanism(
        "time",
        "power",
        "feel each further day less than the one before, or more",
        'time = 30.0 * (delays / 30.0) ** parameters["time_sensitivity"][..., None]',
        {
            "time_sensitivity": uniform(
                0.05, 1.5, "exponent", "1: as stated; near 0: only whether there is a delay"
            )
        },
        (*DELAY_ANSWERS, "front_end_delay"),
        f"Zauberman, Kim, Malkoc & Bettman (2009), Journal of Marketing Research 46, 543-556; {EBERT}",
        breaks=("ignores common_delay",),
    ),
    Mechanism(
        "time",
        "counted from the sooner date",
        "count time from the sooner of the two dates and forget that this one may be delayed too",
        "time = delays - delays.min(axis=-1)[..., None]",
        {},
        ("front_end_delay", "today_possible", "today_difference"),
        "Read (2001), Journal of Risk and Uncertainty 23, 5-32; "
        "Kable & Glimcher (2010), Journal of Neurophysiology 103, 2513-2531",
    ),
    Mechanism(
        "time",
        "extended present",
        "treat everything within the next few days as the present",
        'time = xp.maximum(delays - parameters["present_days"][..., None], 0.0)',
        {"present_days": log_uniform(0.5, 60.0, "days", "how long the present lasts")},
        ("front_end_delay", "today_difference", "delay_difference"),
        "Harris & Laibson (2013), Quarterly Journal of Economics 128, 205-248",
        breaks=("ignores common_delay",),
    ),
)

PACE = (
    Mechanism(
        "pace",
        "slower when more is at stake",
        "discount the less, the more money is at stake",
        'pace = pace * (at_stake[..., None] / 100.0) ** -parameters["stakes_effect"][..., None]',
        {
            "stakes_effect": uniform(
                0.0, 1.0, "exponent", "fall of the rate with the amount; the rate is for 100 units"
            )
        },
        ("log_magnitude", "amount_difference"),
        "Green, Myerson & McFadden (1997), Memory & Cognition 25, 715-723; "
        "Vincent (2016), Behavior Research Methods 48, 1608-1620",
        breaks=("amount", "ignores scale"),
    ),
    Mechanism(
        "pace",
        "slower for losses",
        "discount losses at another rate than gains",
        'pace = pace * xp.where(amounts < 0, parameters["loss_pace"][..., None], 1.0)',
        {"loss_pace": log_uniform(0.05, 2.0, "ratio", "rate for losses over rate for gains")},
        ("losses_present",),
        f"Thaler (1981), Economics Letters 8, 201-207; {LOEWENSTEIN}",
        breaks=("reverses reflection",),
    ),
)

RATE = {
    "discount_rate": log_uniform(1e-4, 1.0, "per day", "share of value lost per day at the start")
}

DISCOUNTING = (
    Mechanism(
        "discounting",
        "exponential",
        "discount what is delayed by the same share for each further day",
        'discount = xp.exp(-parameters["discount_rate"][..., None] * pace * time)',
        RATE,
        ("delay_difference", "interest_rate"),
        "Samuelson (1937), Review of Economic Studies 4, 155-161",
    ),
    Mechanism(
        "discounting",
        "hyperbolic",
        "discount what is delayed steeply at first and then ever less",
        'discount = 1 / (1 + parameters["discount_rate"][..., None] * pace * time)',
        RATE,
        ("front_end_delay", *DELAY_ANSWERS),
        "Mazur (1987), in Quantitative analyses of behavior 5, 55-73",
    ),
    Mechanism(
        "discounting",
        "generalised hyperbolic",
        "discount what is delayed at a rate that falls with the delay, quickly or slowly",
        """
        decline = parameters["decline"][..., None]
        discount = xp.exp(-(parameters["discount_rate"][..., None] * pace / decline) * xp.log1p(decline * time))
        """,
        {
            **RATE,
            "decline": log_uniform(
                1e-3, 10.0, "per day", "near 0: exponential; equal to the rate: hyperbolic"
            ),
        },
        ("front_end_delay", *DELAY_ANSWERS),
        f"{LOEWENSTEIN}; the same curve as Myerson & Green (1995), J. Experimental Analysis of Behavior 64, 263-276",
    ),
    Mechanism(
        "discounting",
        "quasi-hyperbolic",
        "discount everything that is not immediate once, and then by the same share for each further day",
        """
        discount = xp.exp(-parameters["discount_rate"][..., None] * pace * time)
        discount = xp.where(time > 0, parameters["present_bias"][..., None], 1.0) * discount
        """,
        {
            **RATE,
            "present_bias": uniform(0.2, 1.0, "ratio", "value of tomorrow over value of today"),
        },
        ("today_difference", "today_possible", "front_end_delay"),
        "Phelps & Pollak (1968), Review of Economic Studies 35, 185-199; "
        "Laibson (1997), Quarterly Journal of Economics 112, 443-477",
    ),
    Mechanism(
        "discounting",
        "double exponential",
        "are partly of two minds, one that discounts quickly and one that discounts slowly",
        """
        slow = parameters["discount_rate"][..., None] * pace * time
        impatient = parameters["impatient_share"][..., None]
        discount = impatient * xp.exp(-parameters["haste"][..., None] * slow) + (1 - impatient) * xp.exp(-slow)
        """,
        {
            **RATE,
            "impatient_share": uniform(
                0.0, 1.0, "share", "weight of the mind that discounts quickly"
            ),
            "haste": log_uniform(2.0, 1000.0, "ratio", "quick rate over slow rate"),
        },
        ("front_end_delay", "today_difference", *DELAY_ANSWERS),
        "McClure, Ericson, Laibson, Loewenstein & Cohen (2007), Journal of Neuroscience 27, 5796-5804",
    ),
    Mechanism(
        "discounting",
        "savouring and dread",
        "enjoy looking forward to gains and dread losses ahead, so that some delay can make both loom larger",
        """
        fading = parameters["fading"][..., None]
        anticipation = parameters["anticipation"][..., None] * (1 - xp.exp(-fading * time)) / fading
        discount = xp.exp(-parameters["discount_rate"][..., None] * pace * time) * (1 + anticipation)
        """,
        {
            **RATE,
            "anticipation": log_uniform(
                1e-4, 1.0, "per day", "value of a day of looking forward, over the amount's"
            ),
            "fading": log_uniform(
                1e-3, 1.0, "per day", "how soon a further day of looking forward adds nothing"
            ),
        },
        ("delay_difference", "longest_delay", "losses_present"),
        "Loewenstein (1987), Economic Journal 97, 666-684",
        breaks=("delay", "loss_delay", "dominance"),
    ),
)

COST = (
    Mechanism(
        "cost",
        "fixed cost of waiting",
        "charge a fixed sum for having to wait at all, however much and however long",
        'cost = parameters["waiting_cost"][..., None] * xp.sign(amounts) * (time > 0)',
        {"waiting_cost": log_uniform(0.01, 100.0, "money units", "charge for any delay")},
        ("today_difference", "log_magnitude", "today_possible"),
        BENHABIB,
        breaks=("amount", "ignores scale"),
    ),
)

VALUE = "value = discount * utility - cost"
