"""How two gambles are compared, and against what the difference is judged.

A comparison sets ``advantage``: by how much gamble B is ahead, in points of value, or as a count or sign where a rule
knows no more. A scale turns it into ``evidence``, the log odds of choosing B.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.kit.parameter import Literal, log_uniform, uniform
from lakatos.domains.risky.mechanisms.shared import HEURISTICS, MONOTONE, THORNGATE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

DIFFERENCE = "advantage = value[..., 1] - value[..., 0]"

PRIORITY = """
# amounts turn round when all are losses: then the smallest loss comes first, as the smallest gain does
sign = xp.where((worst.min(axis=-1) < 0) & (best.max(axis=-1) <= 0), -1.0, 1.0)
first = xp.where(sign[:, None] > 0, worst, -best)
last = xp.where(sign[:, None] > 0, best, -worst)
chance = xp.where(sign[:, None] > 0, p_worst, p_best)
top_chance = xp.where(sign[:, None] > 0, p_best, p_worst)
step = 0.1 * xp.maximum(xp.abs(outcomes).max(axis=(-2, -1)), 1e-9)
by_first = sign * (first[:, 1] - first[:, 0])
by_chance = -sign * (chance[:, 1] - chance[:, 0])
by_last = sign * (last[:, 1] - last[:, 0])
by_top_chance = sign * (top_chance[:, 1] - top_chance[:, 0])
rest = xp.where(xp.abs(by_last) > 0, xp.sign(by_last), xp.sign(by_top_chance))
by_priority = xp.where(
    xp.abs(by_first) >= step - 1e-9,
    xp.sign(by_first),
    xp.where(xp.abs(by_chance) >= 0.1 - 1e-9, xp.sign(by_chance), rest),
)
"""
"""Sets ``by_priority`` to 1 where the priority heuristic takes B, -1 where it takes A."""

AVERAGE = "average = xp.where(shown, outcomes, 0.0).sum(axis=-1) / shown.sum(axis=-1)"

DISTORTED = (("weighting",), "sum the weighted outcomes")


def _value(*, code: str, **more: Any) -> Mechanism:
    """A comparison that gives each gamble a ``value`` of its own."""
    return Mechanism(slot="comparison", code=f"{code.strip()}\n{DIFFERENCE}", **more)


def _heuristic(*, breaks: tuple[str, ...] = (), **more: Any) -> Mechanism:
    """A comparison in points or counts, which no utility scales."""
    return Mechanism(slot="comparison", breaks=("scale", *breaks), **more)


COMPARISON = (
    _value(
        name="weighted sum",
        clause="weight outcomes by their probabilities",
        beside=DISTORTED,
        code="value = (weights * utility).sum(axis=-1)",
        repairs=("ev_difference", "relative_ev_difference"),
        source="von Neumann & Morgenstern (1944)",
    ),
    _value(
        name="disappointment",
        code="""
value = (weights * utility).sum(axis=-1)
shortfall = (weights * xp.maximum(value[..., None] - utility, 0.0)).sum(axis=-1)
value = value - parameters["disappointment"][:, :, None] * shortfall
""",
        parameters={
            "disappointment": uniform(
                -1.0, 1.0, "points per point", "pain of falling short, less the joy of doing better"
            )
        },
        wording=(
            Wording(clause="weight outcomes by their probabilities"),
            Wording(
                clause="{much}overweight outcomes below the mean of a gamble (disappointment)",
                clause_short="those below it (disappointment)",
                opposite_clause="{much}overweight outcomes above the mean of a gamble (elation)",
                opposite_short="those above it (elation)",
                parameter="disappointment",
                unit=0.3,
                label="disappointment",
                opposite_label="elation",
            ),
        ),
        beside=DISTORTED,
        repairs=("sd_difference", "variance_difference", "sure_option", "ev_difference"),
        breaks=(*MONOTONE, "reflection"),
        source="Bell (1985), Operations Research 33, 1-27; Loomes & Sugden (1986), Review of Economic Studies "
        "53, 271-282",
    ),
    _value(
        name="disappointment aversion",
        code="""
# the value solves an equation in itself; with n outcomes it is the least (or, for lovers of
# surprise, the greatest) of n sums, one for each number of outcomes that disappoint
weighted, aversion = weights * utility, parameters["disappointment_aversion"][:, :, None]
below, mass = weighted.cumsum(axis=-1), weights.cumsum(axis=-1)
sums = (below[..., -1:] + aversion[..., None] * below) / (mass[..., -1:] + aversion[..., None] * mass)
value = xp.where(aversion >= 0, sums.min(axis=-1), sums.max(axis=-1))
""",
        parameters={
            "disappointment_aversion": uniform(
                -0.7, 4.0, "share", "extra weight of outcomes that disappoint"
            )
        },
        wording=(
            Wording(clause="value a gamble by its certainty equivalent"),
            Wording(
                clause="{much}overweight outcomes that fall short of this value",
                clause_short="overweight them",
                opposite_clause="{much}underweight outcomes that fall short of this value",
                opposite_short="underweight them",
                parameter="disappointment_aversion",
                unit=0.4,
                label="disappointment aversion",
                opposite_label="elation seeking",
            ),
        ),
        repairs=("sd_difference", "sure_option", "ev_difference"),
        breaks=(*MONOTONE, "reflection"),
        source="Gul (1991), Econometrica 59, 667-686",
    ),
    _value(
        name="mean and variance",
        code="""
value = (weights * utility).sum(axis=-1)
variance = (weights * (utility - value[..., None]) ** 2).sum(axis=-1)
value = value - parameters["risk_price"][:, :, None] * variance
""",
        parameters={
            "risk_price": uniform(
                -0.02, 0.06, "per point", "points given up to be rid of a squared point of variance"
            )
        },
        wording=(
            Wording(clause="value a gamble by its mean"),
            Wording(
                clause="{much}dislike its variance",
                clause_short="dislike it",
                opposite_clause="{much}like its variance",
                opposite_short="like it",
                parameter="risk_price",
                unit=0.005,
                label="risk aversion",
                opposite_label="risk seeking",
            ),
        ),
        repairs=("variance_difference", "sd_difference", "ev_difference"),
        breaks=(*MONOTONE, "reflection", "scale"),
        source="Markowitz (1952), Journal of Finance 7, 77-91; Weber, Shafir & Blais (2004), Psychological Review 111, "
        "430-445",
    ),
    Mechanism(
        slot="comparison",
        name="salience",
        code="""
a, b = outcomes[:, 0, :, None], outcomes[:, 1, None, :]
cases = joint(probabilities, trials["correlation"], xp)
n_cases = outcomes.shape[-1] ** 2
salience = xp.where(cases > 0, abs(b - a) / (abs(a) + abs(b) + 0.1), -1.0)
this, other = salience.reshape((-1, n_cases, 1)), salience.reshape((-1, 1, n_cases))
alike = (abs(this - other) < 1e-9).sum(axis=-1)
rank = ((other > this + 1e-9) / alike[:, None, :]).sum(axis=-1).reshape(cases.shape)
seen = cases * parameters["local_thinking"][:, :, None, None] ** rank
gap = utility[..., 1, None, :] - utility[..., 0, :, None]
advantage = (seen * gap).sum(axis=(-2, -1)) / seen.sum(axis=(-2, -1))
""",
        parameters={
            "local_thinking": uniform(
                0.05, 1.0, "factor per rank", "1: all cases count; near 0: the most salient alone"
            )
        },
        wording=Wording(
            clause="weight states by their probabilities alone",
            opposite_clause="{much}overweight the states in which the two gambles differ most conspicuously",
            neutral_clause="weight states by their probabilities alone",
            parameter="local_thinking",
            neutral=1.0,
            unit=0.3,
            opposite_label="salience",
        ),
        repairs=("beats_difference", "correlation", "maximum_difference", "minimum_difference"),
        breaks=(*MONOTONE, "scale"),
        source="Bordalo, Gennaioli & Shleifer (2012), Quarterly Journal of Economics 127, 1243-1285",
    ),
    _heuristic(
        name="priority heuristic",
        clause="compare first the worst outcomes (a difference of a tenth of the largest outcome decides), then their "
        "probabilities (ten percentage points decide), then the best outcomes",
        code=f"{PRIORITY}advantage = by_priority",
        repairs=("minimum_difference", "worst_probability_difference"),
        breaks=("best_amount", "worst_amount", "amounts", "reflection"),
        source=HEURISTICS,
    ),
    _heuristic(
        name="worst outcome",
        clause="compare only the worst outcomes",
        code="advantage = worst[:, 1] - worst[:, 0]",
        repairs=("minimum_difference",),
        predictions=({"property": "ignores", "in": "best_probability"},),
        breaks=("reflection",),
        source="Wald (1950), Statistical decision functions",
    ),
    _heuristic(
        name="best outcome",
        clause="compare only the best outcomes",
        code="advantage = best[:, 1] - best[:, 0]",
        repairs=("maximum_difference",),
        predictions=({"property": "ignores", "in": "best_probability"},),
        breaks=("reflection",),
        source=f"Edwards (1954), Psychological Bulletin 51, 380-417; {HEURISTICS}",
    ),
    _heuristic(
        name="equal weights",
        clause="compare the unweighted averages of the amounts and ignore their probabilities",
        code=f"{AVERAGE}\nadvantage = average[:, 1] - average[:, 0]",
        repairs=("equal_weight_difference",),
        predictions=({"property": "ignores", "in": "best_probability"},),
        source=THORNGATE,
    ),
    _heuristic(
        name="better than average",
        clause="choose the gamble with more amounts that reach the average of all amounts shown",
        code="""
everything = xp.where(shown, outcomes, 0.0).sum(axis=(-2, -1)) / shown.sum(axis=(-2, -1))
good = (shown & (outcomes >= everything[:, None, None] - 1e-9)).sum(axis=-1)
advantage = 1.0 * good[:, 1] - good[:, 0]
""",
        repairs=("equal_weight_difference", "n_outcomes_difference"),
        breaks=("best_amount", "worst_amount", "reflection"),
        source=f"{THORNGATE}; {HEURISTICS}",
    ),
    _heuristic(
        name="most likely outcome",
        clause="compare only the most likely outcomes",
        code="advantage = likeliest[:, 1] - likeliest[:, 0]",
        repairs=("modal_outcome_difference",),
        breaks=("reflection",),
        source=THORNGATE,
    ),
    _heuristic(
        name="likely outcomes in turn",
        clause="compare the most likely outcomes, and where these are equal the next most likely, until one is better",
        code="""
turn = (-probabilities).argsort(axis=-1, kind="stable")
ordered = xp.take_along_axis(outcomes, turn, axis=-1)
there = xp.take_along_axis(1.0 * shown, turn, axis=-1).min(axis=-2)
lead = xp.sign(ordered[:, 1] - ordered[:, 0]) * there
advantage = (lead * (xp.cumsum(abs(lead), axis=-1) < 1.5)).sum(axis=-1)
""",
        repairs=("modal_outcome_difference",),
        breaks=("best_probability", "reflection"),
        source=f"{THORNGATE}; {HEURISTICS}",
    ),
    _heuristic(
        name="least likely outcome",
        clause="choose the gamble whose worst outcome is less likely",
        code="advantage = p_worst[:, 0] - p_worst[:, 1]",
        repairs=("worst_probability_difference",),
        breaks=("reflection",),
        source=f"{THORNGATE}; {HEURISTICS}",
    ),
    _heuristic(
        name="probable outcomes",
        clause=(
            "ignore outcomes that are less likely than an equal share and compare the "
            "unweighted averages of the others"
        ),
        code="""
# 0.99: a third is written as .33
probable = shown & (probabilities * shown.sum(axis=-1, keepdims=True) >= 0.99)
left = xp.where(probable, outcomes, 0.0).sum(axis=-1) / probable.sum(axis=-1)
advantage = left[:, 1] - left[:, 0]
""",
        repairs=("modal_outcome_difference", "rare_outcome"),
        source=f"{THORNGATE}; {HEURISTICS}",
    ),
    _heuristic(
        name="tallying",
        clause="count in how many of four respects a gamble is better (worst outcome, best outcome "
        "and the chance of each)",
        code="""
leads = [end[:, 1] - end[:, 0] for end in (worst, best, -p_worst, p_best)]
advantage = sum(xp.where(abs(lead) > 1e-9, xp.sign(lead), 0.0) for lead in leads)
""",
        repairs=(
            "minimum_difference",
            "maximum_difference",
            "worst_probability_difference",
            "best_probability_difference",
        ),
        source=HEURISTICS,
    ),
    _heuristic(
        name="chance to gain",
        clause="compare only the probabilities of gaining and of losing",
        code="""
balance = (probabilities * xp.sign(outcomes)).sum(axis=-1)
advantage = balance[:, 1] - balance[:, 0]
""",
        repairs=("gain_probability_difference", "loss_probability_difference"),
        source="Payne (2005), Journal of Risk and Uncertainty 30, 5-19",
    ),
    _heuristic(
        name="more often better",
        clause="choose the gamble that is more likely to pay more, however small the difference",
        code="advantage = beats(outcomes, probabilities, trials['correlation'], xp)",
        repairs=("probability_b_beats_a", "beats_difference", "correlation"),
        source="Blavatskyy (2006), Theory and Decision 60, 17-33",
    ),
)


def _sensitivity(low: float, high: float, unit: str) -> Mapping[str, Literal]:
    meaning = "how strongly a difference in value decides the choice"
    return {"sensitivity": log_uniform(low, high, f"log odds per {unit}", meaning)}


VALUE_RANGE = "xp.maximum(utility.max(axis=(-2, -1)) - utility.min(axis=(-2, -1)), 1e-9)"

SCALE = (
    Mechanism(
        slot="scale",
        name="in points",
        code='evidence = parameters["sensitivity"] * advantage',
        parameters=_sensitivity(0.01, 10.0, "point"),
        wording=Wording(
            clause="weight a difference in value equally, whatever else is at stake",
            taken_for_granted=True,
        ),
        repairs=("amount_size",),
        source="Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        slot="scale",
        name="by the range at stake",
        clause="judge differences in value relative to the range of all possible outcomes on the trial",
        code=f"""
        value_range = {VALUE_RANGE}
        evidence = parameters["sensitivity"] * advantage / value_range
        """,
        parameters=_sensitivity(0.5, 60.0, "range"),
        repairs=("amount_size", "relative_ev_difference"),
        predictions=({"property": "ignores", "in": "scale"},),
        breaks=("best_amount", "worst_amount", "amounts"),
        source="Wilcox (2011), Journal of Econometrics 162, 89-104",
    ),
    Mechanism(
        slot="scale",
        name="partly by the range at stake",
        code=f"""
        value_range = {VALUE_RANGE}
        evidence = parameters["sensitivity"] * advantage / value_range ** parameters["adaptation"]
        """,
        parameters={
            **_sensitivity(0.01, 60.0, "range to the power of the adaptation"),
            "adaptation": uniform(
                0.0, 1.0, "exponent", "0: differences count in points; 1: relative to the range"
            ),
        },
        wording=Wording(
            clause="{much}judge differences in value relative to the range of all possible outcomes on the trial",
            parameter="adaptation",
            unit=0.4,
        ),
        repairs=("amount_size", "relative_ev_difference"),
        breaks=("best_amount", "worst_amount", "amounts"),
        source="Parducci (1965), Psychological Review 72, 407-418; Wilcox (2011), Journal of Econometrics 162, 89-104",
    ),
    Mechanism(
        slot="scale",
        name="by the spread of the outcomes",
        clause="are less sensitive to a difference in value, the more the outcomes vary",
        code="""
        center = (probabilities * utility).sum(axis=-1, keepdims=True)
        variance = (probabilities * (utility - center) ** 2).sum(axis=(-2, -1))
        value_range = utility.max(axis=(-2, -1)) - utility.min(axis=(-2, -1))
        evidence = parameters["sensitivity"] * advantage / xp.sqrt(variance + 0.01 * value_range**2 + 1e-9)
        """,
        parameters=_sensitivity(0.1, 20.0, "standard deviation"),
        repairs=("sd_difference", "variance_difference", "dominance"),
        breaks=("best_amount", "worst_amount", "amounts", "best_probability"),
        source="Busemeyer & Townsend (1993), Psychological Review 100, 432-459",
    ),
)
