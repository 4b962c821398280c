"""How two gambles are compared, and against what the difference is judged.

A comparison sets ``advantage``: by how much gamble B is ahead, in points of value, or as a count or sign where a rule
knows no more. A scale turns it into ``evidence``, the log odds of choosing B.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.kit.parameter import Literal, log_uniform, uniform
from lakatos.domains.risky.mechanisms.citation import HEURISTICS, THORNGATE
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


def _value(
    name: str,
    claim: str,
    code: str,
    parameters: Mapping[str, Literal],
    answers: tuple[str, ...],
    citation: str,
    breaks: tuple[str, ...] = (),
) -> Mechanism:
    """A comparison that gives each gamble a ``value`` of its own."""
    return Mechanism(
        "comparison",
        name,
        claim,
        f"{code.strip()}\n{DIFFERENCE}",
        parameters,
        answers,
        citation,
        breaks=breaks,
    )


def _heuristic(
    name: str,
    claim: str,
    code: str,
    answers: tuple[str, ...],
    citation: str,
    breaks: tuple[str, ...] = (),
    predictions: tuple[Mapping[str, Any], ...] = (),
) -> Mechanism:
    """A comparison in points or counts, which no utility scales."""
    return Mechanism(
        "comparison",
        name,
        claim,
        code,
        {},
        answers,
        citation,
        breaks=("scale", *breaks),
        predictions=predictions,
    )


COMPARISON = (
    _value(
        "weighted sum",
        "add up what the amounts are worth, each weighted by its probability",
        "value = (weights * utility).sum(axis=-1)",
        {},
        ("ev_difference", "relative_ev_difference"),
        "von Neumann & Morgenstern (1944)",
    ),
    _value(
        "disappointment",
        "add up what the amounts are worth, less the disappointment to expect of outcomes below that sum",
        """
value = (weights * utility).sum(axis=-1)
shortfall = (weights * xp.maximum(value[..., None] - utility, 0.0)).sum(axis=-1)
value = value - parameters["disappointment"][:, :, None] * shortfall
""",
        {
            "disappointment": uniform(
                -1.0, 1.0, "points per point", "pain of falling short, less the joy of doing better"
            )
        },
        ("sd_difference", "variance_difference", "sure_option", "ev_difference"),
        "Bell (1985), Operations Research 33, 1-27; Loomes & Sugden (1986), Review of Economic Studies 53, 271-282",
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
        ),
    ),
    _value(
        "disappointment aversion",
        "value a gamble at the sure amount from which all that falls short is counted more",
        """
# the value solves an equation in itself; with n outcomes it is the least (or, for lovers of
# surprise, the greatest) of n sums, one for each number of outcomes that disappoint
weighted, aversion = weights * utility, parameters["disappointment_aversion"][:, :, None]
below, mass = weighted.cumsum(axis=-1), weights.cumsum(axis=-1)
sums = (below[..., -1:] + aversion[..., None] * below) / (mass[..., -1:] + aversion[..., None] * mass)
value = xp.where(aversion >= 0, sums.min(axis=-1), sums.max(axis=-1))
""",
        {
            "disappointment_aversion": uniform(
                -0.7, 4.0, "share", "extra weight of outcomes that disappoint"
            )
        },
        ("sd_difference", "sure_option", "ev_difference"),
        "Gul (1991), Econometrica 59, 667-686",
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
        ),
    ),
    _value(
        "mean and variance",
        "trade the mean of what a gamble is worth against its variance",
        """
value = (weights * utility).sum(axis=-1)
variance = (weights * (utility - value[..., None]) ** 2).sum(axis=-1)
value = value - parameters["risk_price"][:, :, None] * variance
""",
        {
            "risk_price": uniform(
                -0.02, 0.06, "per point", "points given up to be rid of a squared point of variance"
            )
        },
        ("variance_difference", "sd_difference", "ev_difference"),
        "Markowitz (1952), Journal of Finance 7, 77-91; Weber, Shafir & Blais (2004), Psychological Review 111, "
        "430-445",
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
            "scale",
        ),
    ),
    Mechanism(
        "comparison",
        "salience",
        "weigh the cases in which the two gambles differ most conspicuously above the others",
        """
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
        {
            "local_thinking": uniform(
                0.05, 1.0, "factor per rank", "1: all cases count; near 0: the most salient alone"
            )
        },
        ("beats_difference", "correlation", "maximum_difference", "minimum_difference"),
        "Bordalo, Gennaioli & Shleifer (2012), Quarterly Journal of Economics 127, 1243-1285",
        breaks=("best_amount", "worst_amount", "amounts", "best_probability", "dominance", "scale"),
    ),
    _heuristic(
        "priority heuristic",
        "look at the worst outcomes first, then at their chances, then at the best outcomes, and stop at the first "
        "difference that is a tenth of the scale",
        f"{PRIORITY}advantage = by_priority",
        ("minimum_difference", "worst_probability_difference"),
        HEURISTICS,
        breaks=("best_amount", "worst_amount", "amounts", "reflection"),
    ),
    _heuristic(
        "worst outcome",
        "compare nothing but the worst outcomes",
        "advantage = worst[:, 1] - worst[:, 0]",
        ("minimum_difference",),
        "Wald (1950), Statistical decision functions",
        breaks=("reflection",),
        predictions=({"property": "ignores", "in": "best_probability"},),
    ),
    _heuristic(
        "best outcome",
        "compare nothing but the best outcomes",
        "advantage = best[:, 1] - best[:, 0]",
        ("maximum_difference",),
        f"Edwards (1954), Psychological Bulletin 51, 380-417; {HEURISTICS}",
        breaks=("reflection",),
        predictions=({"property": "ignores", "in": "best_probability"},),
    ),
    _heuristic(
        "equal weights",
        "compare the plain averages of the amounts and ignore their probabilities",
        f"{AVERAGE}\nadvantage = average[:, 1] - average[:, 0]",
        ("equal_weight_difference",),
        THORNGATE,
        predictions=({"property": "ignores", "in": "best_probability"},),
    ),
    _heuristic(
        "better than average",
        "compare how many amounts of each gamble are at least the average of all amounts in sight",
        """
everything = xp.where(shown, outcomes, 0.0).sum(axis=(-2, -1)) / shown.sum(axis=(-2, -1))
good = (shown & (outcomes >= everything[:, None, None] - 1e-9)).sum(axis=-1)
advantage = 1.0 * good[:, 1] - good[:, 0]
""",
        ("equal_weight_difference", "n_outcomes_difference"),
        f"{THORNGATE}; {HEURISTICS}",
        breaks=("best_amount", "worst_amount", "reflection"),
    ),
    _heuristic(
        "most likely outcome",
        "compare nothing but the most likely outcomes",
        "advantage = likeliest[:, 1] - likeliest[:, 0]",
        ("modal_outcome_difference",),
        THORNGATE,
        breaks=("reflection",),
    ),
    _heuristic(
        "likely outcomes in turn",
        "compare the most likely outcomes, and where these are equal the next most likely, until one is better",
        """
turn = (-probabilities).argsort(axis=-1, kind="stable")
ordered = xp.take_along_axis(outcomes, turn, axis=-1)
there = xp.take_along_axis(1.0 * shown, turn, axis=-1).min(axis=-2)
lead = xp.sign(ordered[:, 1] - ordered[:, 0]) * there
advantage = (lead * (xp.cumsum(abs(lead), axis=-1) < 1.5)).sum(axis=-1)
""",
        ("modal_outcome_difference",),
        f"{THORNGATE}; {HEURISTICS}",
        breaks=("best_probability", "reflection"),
    ),
    _heuristic(
        "least likely outcome",
        "take the gamble whose worst outcome is less likely",
        "advantage = p_worst[:, 0] - p_worst[:, 1]",
        ("worst_probability_difference",),
        f"{THORNGATE}; {HEURISTICS}",
        breaks=("reflection",),
    ),
    _heuristic(
        "probable outcomes",
        "strike out what is less likely than an equal share and compare the plain averages of what is left",
        """
# 0.99: a third is written as .33
probable = shown & (probabilities * shown.sum(axis=-1, keepdims=True) >= 0.99)
left = xp.where(probable, outcomes, 0.0).sum(axis=-1) / probable.sum(axis=-1)
advantage = left[:, 1] - left[:, 0]
""",
        ("modal_outcome_difference", "rare_outcome"),
        f"{THORNGATE}; {HEURISTICS}",
    ),
    _heuristic(
        "tallying",
        "count which gamble has the better worst and best outcome and the better chance of either",
        """
leads = [end[:, 1] - end[:, 0] for end in (worst, best, -p_worst, p_best)]
advantage = sum(xp.where(abs(lead) > 1e-9, xp.sign(lead), 0.0) for lead in leads)
""",
        (
            "minimum_difference",
            "maximum_difference",
            "worst_probability_difference",
            "best_probability_difference",
        ),
        HEURISTICS,
    ),
    _heuristic(
        "chance to gain",
        "compare nothing but the chances to gain rather than to lose",
        """
balance = (probabilities * xp.sign(outcomes)).sum(axis=-1)
advantage = balance[:, 1] - balance[:, 0]
""",
        ("gain_probability_difference", "loss_probability_difference"),
        "Payne (2005), Journal of Risk and Uncertainty 30, 5-19",
    ),
    _heuristic(
        "more often better",
        "take the gamble that would pay more in most cases, by however little",
        "advantage = beats(outcomes, probabilities, trials['correlation'], xp)",
        ("probability_b_beats_a", "beats_difference", "correlation"),
        "Blavatskyy (2006), Theory and Decision 60, 17-33",
    ),
)


def _sensitivity(low: float, high: float, unit: str) -> Mapping[str, Literal]:
    meaning = "how strongly a difference in value decides the choice"
    return {"sensitivity": log_uniform(low, high, f"log odds per {unit}", meaning)}


VALUE_RANGE = "xp.maximum(utility.max(axis=(-2, -1)) - utility.min(axis=(-2, -1)), 1e-9)"

SCALE = (
    Mechanism(
        "scale",
        "in points",
        "count a difference in value the same whatever else is at stake",
        'evidence = parameters["sensitivity"] * advantage',
        _sensitivity(0.01, 10.0, "point"),
        ("amount_size",),
        "Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        "scale",
        "by the range at stake",
        "judge a difference in value against the range between the worst and the best outcome in sight",
        f"""
        value_range = {VALUE_RANGE}
        evidence = parameters["sensitivity"] * advantage / value_range
        """,
        _sensitivity(0.5, 60.0, "range"),
        ("amount_size", "relative_ev_difference"),
        "Wilcox (2011), Journal of Econometrics 162, 89-104",
        breaks=("best_amount", "worst_amount", "amounts"),
        predictions=({"property": "ignores", "in": "scale"},),
    ),
    Mechanism(
        "scale",
        "partly by the range at stake",
        "judge a difference in value partly against the range between the worst and the best outcome in sight",
        f"""
        value_range = {VALUE_RANGE}
        evidence = parameters["sensitivity"] * advantage / value_range ** parameters["adaptation"]
        """,
        {
            **_sensitivity(0.01, 60.0, "range to the power of the adaptation"),
            "adaptation": uniform(
                0.0, 1.0, "exponent", "0: differences count in points; 1: relative to the range"
            ),
        },
        ("amount_size", "relative_ev_difference"),
        "Parducci (1965), Psychological Review 72, 407-418; Wilcox (2011), Journal of Econometrics 162, 89-104",
        breaks=("best_amount", "worst_amount", "amounts"),
    ),
    Mechanism(
        "scale",
        "by the spread of the outcomes",
        "are the less sure of a difference in value the more the outcomes vary",
        """
        center = (probabilities * utility).sum(axis=-1, keepdims=True)
        variance = (probabilities * (utility - center) ** 2).sum(axis=(-2, -1))
        value_range = utility.max(axis=(-2, -1)) - utility.min(axis=(-2, -1))
        evidence = parameters["sensitivity"] * advantage / xp.sqrt(variance + 0.01 * value_range**2 + 1e-9)
        """,
        _sensitivity(0.1, 20.0, "standard deviation"),
        ("sd_difference", "variance_difference", "dominance"),
        "Busemeyer & Townsend (1993), Psychological Review 100, 432-459",
        breaks=("best_amount", "worst_amount", "amounts", "best_probability"),
    ),
)
