"""Risky choice: published accounts of how people choose between gambles, as a grammar.

Three traditions meet here. Utility theories add up subjective amounts weighted by subjective probabilities; heuristics
compare a few features of the gambles and ignore the rest; in BEAST people's best estimate of the expected values is
pulled by simple tools, such as looking at the worst outcome or treating all outcomes as equally likely. A composition
picks how gambles are compared, and how much attention goes to further features beside that comparison.

Reference for the last: Erev, Ert, Plonsky, Cohen & Cohen (2017), Psychological Review 124(4), 369-409.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from theories.families.family import Family
from theories.grammar import Composition, Grammar, Mechanism, Slot

BEAST = "Erev, Ert, Plonsky, Cohen & Cohen (2017), Psychological Review 124(4), 369-409"
WEIGHT_UNIT = "log odds at full strength of the feature"


def _log_uniform(low: float, high: float, unit: str, meaning: str) -> Mapping[str, Any]:
    return {"prior": "log_uniform", "low": low, "high": high, "unit": unit, "meaning": meaning}


def _uniform(low: float, high: float, unit: str, meaning: str) -> Mapping[str, Any]:
    return {"prior": "uniform", "low": low, "high": high, "unit": unit, "meaning": meaning}


def _sensitivity(low: float, high: float, unit: str) -> Mapping[str, Any]:
    meaning = "how strongly a difference in value decides the choice"
    return {"sensitivity": _log_uniform(low, high, f"log odds per {unit}", meaning)}


def _attention(
    name: str, parameter: str, claim: str, feature: str, meaning: str, answers: tuple[str, ...], citation: str
) -> Mechanism:
    """A feature of the trial, B minus A and at most 1 in size, that adds to the evidence."""
    return Mechanism(
        slot="attention",
        name=name,
        claim=claim,
        code=f'{feature.strip()}\nevidence = evidence + parameters["{parameter}"] * feature',
        parameters={parameter: _log_uniform(0.05, 6.0, WEIGHT_UNIT, meaning)},
        answers=answers,
        citation=citation,
    )


UTILITY = (
    Mechanism(
        "utility",
        "power",
        "value each further unit of money less than the one before, in gains and in losses alike",
        """
        curvature = parameters["curvature"][:, :, None, None]
        utility = xp.sign(outcomes) * xp.abs(outcomes) ** curvature
        """,
        {"curvature": _uniform(0.2, 1.2, "exponent", "1: linear; below 1: diminishing sensitivity")},
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
        {
            "curvature": _uniform(0.2, 1.2, "exponent", "1: linear; below 1: diminishing sensitivity"),
            "loss_aversion": _log_uniform(0.5, 5.0, "ratio", "weight of a loss over that of an equal gain"),
        },
        ("losses_present", "loss_probability_difference", "mixed_amounts", "minimum_difference"),
        "Kahneman & Tversky (1979), Econometrica 47, 263-291",
    ),
    Mechanism(
        "utility",
        "loss-averse linear",
        "take gains at face value but feel losses more than equal gains",
        """
        aversion = parameters["loss_aversion"][:, :, None, None]
        utility = xp.where(outcomes < 0, aversion, 1.0) * outcomes
        """,
        {"loss_aversion": _log_uniform(0.5, 5.0, "ratio", "weight of a loss over that of an equal gain")},
        ("losses_present", "loss_probability_difference", "mixed_amounts"),
        "Tversky & Kahneman (1991), Quarterly Journal of Economics 106, 1039-1061",
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
        {"satiation": _log_uniform(0.05, 5.0, "per largest amount", "near 0: linear; large: any gain is as good")},
        ("variance_difference", "sd_difference", "maximum_difference"),
        "Pratt (1964), Econometrica 32, 122-136",
    ),
    Mechanism(
        "utility",
        "logarithmic",
        "feel amounts in proportion to their logarithm, beyond a first few units",
        """
        unit = parameters["just_noticeable"][:, :, None, None]
        utility = xp.sign(outcomes) * unit * xp.log1p(xp.abs(outcomes) / unit)
        """,
        {"just_noticeable": _log_uniform(1.0, 200.0, "points", "amount below which value is nearly linear")},
        ("variance_difference", "amount_size", "maximum_difference"),
        "Bernoulli (1738/1954), Econometrica 22, 23-36",
    ),
)

CURVE = 'curve = parameters["weighting_curve"][:, :, None, None]'
ELEVATION = 'elevation = parameters["weighting_elevation"][:, :, None, None]'
CURVE_PRIOR = {
    "weighting_curve": _uniform(0.3, 1.3, "exponent", "1: as stated; below 1: small probabilities overrated")
}
ELEVATION_PRIOR = {"weighting_elevation": _log_uniform(0.3, 3.0, "factor", "above 1: probabilities look large")}
WEIGHTING_ANSWERS = (
    "rare_outcome",
    "worst_probability_difference",
    "best_probability_difference",
    "maximum_difference",
)

WEIGHTING = (
    Mechanism(
        "weighting",
        "Tversky-Kahneman",
        "overweight small and underweight large probabilities, each outcome by itself",
        f"""
        {CURVE}
        def weigh(p):
            return p**curve / (p**curve + (1 - p) ** curve) ** (1 / curve)
        weights = weigh(probabilities)
        """,
        CURVE_PRIOR,
        WEIGHTING_ANSWERS,
        "Kahneman & Tversky (1979), Econometrica 47, 263-291; Tversky & Kahneman (1992)",
    ),
    Mechanism(
        "weighting",
        "cumulative Tversky-Kahneman",
        "overweight the extreme outcomes, by an inverse-S curve over the chance of doing at least as well",
        f"""
        {CURVE}
        def weigh(p):
            return p**curve / (p**curve + (1 - p) ** curve) ** (1 / curve)
        weights = decision_weights(weigh, outcomes, probabilities, xp)
        """,
        CURVE_PRIOR,
        WEIGHTING_ANSWERS,
        "Tversky & Kahneman (1992), Journal of Risk and Uncertainty 5, 297-323",
    ),
    Mechanism(
        "weighting",
        "cumulative Prelec",
        "overweight the extreme outcomes, by a curve over the chance of doing at least as well that can be high or low",
        f"""
        {CURVE}
        {ELEVATION}
        def weigh(p):
            return xp.where(p > 0, xp.exp(-elevation * (-xp.log(xp.clip(p, 1e-300, 1.0))) ** curve), 0.0)
        weights = decision_weights(weigh, outcomes, probabilities, xp)
        """,
        {**CURVE_PRIOR, **ELEVATION_PRIOR},
        WEIGHTING_ANSWERS,
        "Prelec (1998), Econometrica 66, 497-527",
    ),
    Mechanism(
        "weighting",
        "linear in log odds",
        "distort the odds of every outcome, each by itself, towards a point that attracts them",
        f"""
        {CURVE}
        {ELEVATION}
        def weigh(p):
            return elevation * p**curve / (elevation * p**curve + (1 - p) ** curve)
        weights = weigh(probabilities)
        """,
        {**CURVE_PRIOR, **ELEVATION_PRIOR},
        WEIGHTING_ANSWERS,
        "Goldstein & Einhorn (1987), Psychological Review 94, 236-254; Gonzalez & Wu (1999)",
    ),
    Mechanism(
        "weighting",
        "equal chances in part",
        "treat stated probabilities as if they lay partway to equal chances of all amounts shown",
        """
        blur = parameters["blur"][:, :, None, None]
        weights = (1 - blur) * probabilities + blur * shown / shown.sum(axis=-1, keepdims=True)
        """,
        {"blur": _uniform(0.0, 0.9, "share", "0: as stated; 1: all amounts equally likely")},
        (*WEIGHTING_ANSWERS, "equal_weight_difference"),
        f"Viscusi (1989), Journal of Risk and Uncertainty 2, 235-263; {BEAST}",
    ),
)

COMPARISON = (
    Mechanism(
        "comparison",
        "weighted sum",
        "add up what the amounts are worth, each weighted by its probability",
        """
        value = (weights * utility).sum(axis=-1)
        advantage = value[..., 1] - value[..., 0]
        """,
        {},
        ("ev_difference", "relative_ev_difference"),
        "von Neumann & Morgenstern (1944)",
    ),
    Mechanism(
        "comparison",
        "priority heuristic",
        "look at the worst outcomes first, then at their chances, then at the best outcomes, and stop at the first "
        "difference that is a tenth of the scale",
        """
        # amounts turn round when all are losses: then the smallest loss comes first, as the smallest gain does
        sign = xp.where((worst.min(axis=-1) < 0) & (best.max(axis=-1) <= 0), -1.0, 1.0)
        first = xp.where(sign[:, None] > 0, worst, -best)
        last = xp.where(sign[:, None] > 0, best, -worst)
        final = xp.take_along_axis(probabilities, shown.sum(axis=-1)[..., None] - 1, axis=-1)[..., 0]
        chance = xp.where(sign[:, None] > 0, probabilities[..., 0], final)
        top_chance = xp.where(sign[:, None] > 0, final, probabilities[..., 0])
        step = 0.1 * xp.maximum(xp.abs(outcomes).max(axis=(-2, -1)), 1e-9)
        by_first = sign * (first[:, 1] - first[:, 0])
        by_chance = -sign * (chance[:, 1] - chance[:, 0])
        by_last = sign * (last[:, 1] - last[:, 0])
        by_top_chance = sign * (top_chance[:, 1] - top_chance[:, 0])
        rest = xp.where(by_last != 0, xp.sign(by_last), xp.sign(by_top_chance))
        advantage = xp.where(
            xp.abs(by_first) >= step - 1e-9,
            xp.sign(by_first),
            xp.where(xp.abs(by_chance) >= 0.1 - 1e-9, xp.sign(by_chance), rest),
        )
        """,
        {},
        ("minimum_difference", "worst_probability_difference"),
        "Brandstätter, Gigerenzer & Hertwig (2006), Psychological Review 113, 409-432",
    ),
    Mechanism(
        "comparison",
        "worst outcome",
        "compare nothing but the worst outcomes",
        "advantage = worst[:, 1] - worst[:, 0]",
        {},
        ("minimum_difference",),
        "Wald (1950), Statistical decision functions",
    ),
    Mechanism(
        "comparison",
        "equal weights",
        "compare the plain averages of the amounts and ignore their probabilities",
        """
        average = xp.where(shown, outcomes, 0.0).sum(axis=-1) / shown.sum(axis=-1)
        advantage = average[:, 1] - average[:, 0]
        """,
        {},
        ("equal_weight_difference",),
        "Thorngate (1980), Behavioral Science 25, 219-225",
    ),
    Mechanism(
        "comparison",
        "most likely outcome",
        "compare nothing but the most likely outcomes",
        "advantage = likeliest[:, 1] - likeliest[:, 0]",
        {},
        ("modal_outcome_difference",),
        "Thorngate (1980), Behavioral Science 25, 219-225",
    ),
)

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
        """
        value_range = xp.maximum(utility.max(axis=(-2, -1)) - utility.min(axis=(-2, -1)), 1e-9)
        evidence = parameters["sensitivity"] * advantage / value_range
        """,
        _sensitivity(0.5, 60.0, "range"),
        ("amount_size", "relative_ev_difference"),
        "Wilcox (2011), Journal of Econometrics 162, 89-104",
    ),
    Mechanism(
        "scale",
        "partly by the range at stake",
        "judge a difference in value partly against the range between the worst and the best outcome in sight",
        """
        value_range = xp.maximum(utility.max(axis=(-2, -1)) - utility.min(axis=(-2, -1)), 1e-9)
        evidence = parameters["sensitivity"] * advantage / value_range ** parameters["adaptation"]
        """,
        {
            **_sensitivity(0.01, 60.0, "range to the power of the adaptation"),
            "adaptation": _uniform(0.0, 1.0, "exponent", "0: differences count in points; 1: relative to the range"),
        },
        ("amount_size", "relative_ev_difference"),
        "Parducci (1965), Psychological Review 72, 407-418; Wilcox (2011), Journal of Econometrics 162, 89-104",
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
    ),
)

ATTENTION = (
    _attention(
        "worst outcome",
        "pessimism",
        "prefer the gamble whose worst outcome is better",
        "feature = (worst[:, 1] - worst[:, 0]) / at_stake",
        "pull of the better worst outcome",
        ("minimum_difference",),
        BEAST,
    ),
    _attention(
        "best outcome",
        "optimism",
        "are drawn to the gamble whose best outcome is better",
        "feature = (best[:, 1] - best[:, 0]) / at_stake",
        "pull of the better best outcome",
        ("maximum_difference",),
        "Lopes (1987), Advances in Experimental Social Psychology 20, 255-295",
    ),
    _attention(
        "equal weighting",
        "equal_weighting",
        "also compare the gambles as if all their outcomes were equally likely",
        """
average = xp.where(shown, outcomes, 0.0).sum(axis=-1) / shown.sum(axis=-1)
feature = (average[:, 1] - average[:, 0]) / at_stake
""",
        "pull of the better plain average",
        ("equal_weight_difference",),
        BEAST,
    ),
    _attention(
        "signs",
        "sign_focus",
        "want to gain and not to lose, however much",
        """
balance = (probabilities * xp.sign(outcomes)).sum(axis=-1)
feature = (balance[:, 1] - balance[:, 0]) / 2
""",
        "pull of the gamble that more often gains than loses",
        ("gain_probability_difference", "loss_probability_difference"),
        f"{BEAST}; Payne (2005), Journal of Risk and Uncertainty 30, 5-19",
    ),
    _attention(
        "loss chance",
        "loss_fear",
        "shun the gamble with the greater chance of any loss",
        """
losing = (probabilities * (outcomes < 0)).sum(axis=-1)
feature = losing[:, 0] - losing[:, 1]
""",
        "pull of the gamble that loses less often",
        ("loss_probability_difference", "losses_present"),
        "Zeisberger (2022), Management Science 68, 6004-6026",
    ),
    _attention(
        "more often better",
        "win_rate",
        "prefer the gamble that would pay more in most cases, and so is seldom regretted",
        "feature = beats(outcomes, probabilities, trials['correlation'], xp)",
        "pull of the gamble that is likelier to pay more than the other",
        ("probability_b_beats_a", "beats_difference", "correlation"),
        f"{BEAST}; Loomes & Sugden (1982), Economic Journal 92, 805-824",
    ),
    _attention(
        "dominance",
        "dominance",
        "see it when one gamble is at least as good as the other in every respect",
        """
steps = outcomes.reshape(len(outcomes), 1, -1, 1)
reached = (probabilities[:, :, None, :] * (outcomes[:, :, None, :] <= steps)).sum(axis=-1)
lead = reached[:, 0] - reached[:, 1]
ahead = (lead >= -1e-9).all(axis=-1) & (lead > 1e-9).any(axis=-1)
behind = (lead <= 1e-9).all(axis=-1) & (lead < -1e-9).any(axis=-1)
feature = 1.0 * ahead - 1.0 * behind
""",
        "pull of a gamble that dominates the other",
        ("dominance",),
        f"{BEAST}; Kahneman & Tversky (1979), Econometrica 47, 263-291",
    ),
    _attention(
        "ambiguity aversion",
        "ambiguity_aversion",
        "avoid the gamble whose probabilities are not shown",
        "feature = trials['ambiguous'][:, 0] - trials['ambiguous'][:, 1]",
        "pull of the gamble with known probabilities",
        ("ambiguity_difference",),
        "Ellsberg (1961), Quarterly Journal of Economics 75, 643-669",
    ),
    _attention(
        "simplicity",
        "simplicity",
        "prefer the gamble with fewer outcomes",
        """
length = xp.log(shown.sum(axis=-1))
feature = (length[:, 0] - length[:, 1]) / 2.302585
""",
        "pull of one outcome against ten",
        ("n_outcomes_difference",),
        "Sonsino, Benzion & Mador (2002), Economic Journal 112, 936-965",
    ),
    _attention(
        "variety",
        "variety",
        "prefer the gamble with more outcomes",
        """
length = xp.log(shown.sum(axis=-1))
feature = (length[:, 1] - length[:, 0]) / 2.302585
""",
        "pull of ten outcomes against one",
        ("n_outcomes_difference",),
        "Starmer & Sugden (1993), Journal of Risk and Uncertainty 6, 235-254 (event splitting)",
    ),
    _attention(
        "certainty",
        "certainty",
        "like an outcome that is certain",
        """
sure = 1.0 * (shown.sum(axis=-1) == 1)
feature = sure[:, 1] - sure[:, 0]
""",
        "pull of a sure outcome",
        ("sure_option",),
        "Allais (1953), Econometrica 21, 503-546; Kahneman & Tversky (1979)",
    ),
    _attention(
        "most likely outcome",
        "likeliest_outcome",
        "also compare what is most likely to happen in either gamble",
        "feature = (likeliest[:, 1] - likeliest[:, 0]) / at_stake",
        "pull of the better most likely outcome",
        ("modal_outcome_difference",),
        "Thorngate (1980), Behavioral Science 25, 219-225",
    ),
    _attention(
        "better on average",
        "better_average",
        "notice which gamble is better on average, by however little",
        """
expected = (probabilities * outcomes).sum(axis=-1)
gap = expected[:, 1] - expected[:, 0]
feature = xp.where(xp.abs(gap) > 1e-9 * at_stake, xp.sign(gap), 0.0)
""",
        "pull of the higher expected value whatever its size",
        ("ev_difference", "relative_ev_difference"),
        BEAST,
    ),
    _attention(
        "spread",
        "caution",
        "shun the gamble whose outcomes vary more",
        """
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
spread = xp.sqrt((probabilities * (outcomes - expected) ** 2).sum(axis=-1))
feature = 2 * (spread[:, 0] - spread[:, 1]) / at_stake
""",
        "pull of the steadier gamble",
        ("sd_difference", "variance_difference"),
        "Markowitz (1952), Journal of Finance 7, 77-91; Weber, Shafir & Blais (2004)",
    ),
    _attention(
        "large regret",
        "regret",
        "dread the one case in which the other gamble would have paid far more",
        "feature = regrets(outcomes, probabilities, trials['correlation'], at_stake, xp)",
        "pull away from large differences against the chosen gamble",
        ("beats_difference", "maximum_difference", "correlation"),
        "Loomes & Sugden (1982), Economic Journal 92, 805-824",
    ),
)

CHOICE = (
    Mechanism(
        "choice",
        "logistic",
        "choose the better gamble the more often, the stronger the evidence",
        "p_b = 1 / (1 + xp.exp(-xp.clip(evidence, -500.0, 500.0)))",
        {},
        (),
        "Luce (1959), Individual choice behavior; McFadden (1974)",
    ),
    Mechanism(
        "choice",
        "normal noise",
        "choose the gamble that looks better after noise has been added to the evidence",
        """
        strength = xp.clip(0.5876 * evidence, -12.0, 12.0)
        p_b = 0.5 * (1 + xp.tanh(0.7978846 * (strength + 0.044715 * strength**3)))
        """,
        {},
        (),
        "Thurstone (1927), Psychological Review 34, 273-286",
    ),
)

LAPSE = (
    Mechanism(
        "lapse",
        "random",
        "now and then choose at random",
        'p_b = parameters["lapse"] / 2 + (1 - parameters["lapse"]) * p_b',
        {"lapse": _uniform(0.0, 0.4, "share of choices", "choices made without looking")},
        (),
        "Harless & Camerer (1994), Econometrica 62, 1251-1289",
        is_null=True,
    ),
)

HELPERS = """
def decision_weights(weigh, outcomes, probabilities, xp):
    # gains by the chance of at least as much, losses by the chance of at most as much
    from_best = xp.cumsum(probabilities[..., ::-1], axis=-1)[..., ::-1]
    from_worst = xp.cumsum(probabilities, axis=-1)
    reached = xp.clip(xp.where(outcomes < 0, from_worst, from_best), 0.0, 1.0)
    before = xp.clip(reached - probabilities, 0.0, 1.0)
    return weigh(reached) - weigh(before)


def joint(probabilities, correlation, xp):
    # independent payoffs, or payoffs ordered alike or opposite
    p_a, p_b = probabilities[:, 0], probabilities[:, 1]
    top_a, top_b = p_a.cumsum(axis=-1)[:, :, None], p_b.cumsum(axis=-1)[:, None, :]
    bottom_a, bottom_b = top_a - p_a[:, :, None], top_b - p_b[:, None, :]
    alike = xp.maximum(xp.minimum(top_a, top_b) - xp.maximum(bottom_a, bottom_b), 0)
    opposite = xp.maximum(xp.minimum(top_a, 1 - bottom_b) - xp.maximum(bottom_a, 1 - top_b), 0)
    sign = correlation[:, None, None]
    return xp.where(sign > 0, alike, xp.where(sign < 0, opposite, p_a[:, :, None] * p_b[:, None, :]))


def beats(outcomes, probabilities, correlation, xp):
    gap = outcomes[:, 1, None, :] - outcomes[:, 0, :, None]
    return (joint(probabilities, correlation, xp) * xp.sign(gap)).sum(axis=(1, 2))


def regrets(outcomes, probabilities, correlation, at_stake, xp):
    gap = (outcomes[:, 1, None, :] - outcomes[:, 0, :, None]) / at_stake[:, None, None]
    return (joint(probabilities, correlation, xp) * gap * xp.abs(gap)).sum(axis=(1, 2))
"""

GRAMMAR = Grammar(
    domain="risky",
    slots=(
        Slot("utility", least=0),
        Slot("weighting", least=0),
        Slot("comparison"),
        Slot("scale"),
        Slot("attention", least=0, most=6),
        Slot("choice"),
        Slot("lapse", least=0),
    ),
    mechanisms=(*UTILITY, *WEIGHTING, *COMPARISON, *SCALE, *ATTENTION, *CHOICE, *LAPSE),
    before="""
        # amounts ascend; unused places repeat the best amount with probability 0
        outcomes, probabilities = trials["outcomes"], trials["probabilities"]
        shown = probabilities > 0
        worst, best = outcomes.min(axis=-1), outcomes.max(axis=-1)
        at_stake = xp.maximum(best.max(axis=-1) - worst.min(axis=-1), 1e-9)
        likeliest = xp.take_along_axis(outcomes, probabilities.argmax(axis=-1)[..., None], axis=-1)[..., 0]
        utility, weights = outcomes, probabilities
        """,
    after="return p_b",
    helpers=HELPERS,
)


def _composition(comparison: str, scale: str, **slots: tuple[str, ...]) -> Composition:
    return Composition(
        {
            "utility": slots.get("utility", ()),
            "weighting": slots.get("weighting", ()),
            "comparison": (comparison,),
            "scale": (scale,),
            "attention": slots.get("attention", ()),
            "choice": slots.get("choice", ("logistic",)),
            "lapse": slots.get("lapse", ("random",)),
        }
    )


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "expected_value": ("Expected value", _composition("weighted sum", "in points")),
    "expected_utility": ("Expected utility", _composition("weighted sum", "in points", utility=("power",))),
    "prospect_theory": (
        "Prospect theory",
        _composition("weighted sum", "in points", utility=("loss-averse power",), weighting=("Tversky-Kahneman",)),
    ),
    "cumulative_prospect_theory": (
        "Cumulative prospect theory",
        _composition(
            "weighted sum",
            "in points",
            utility=("loss-averse power",),
            weighting=("cumulative Tversky-Kahneman",),
        ),
    ),
    "decision_field_theory": (
        "Decision field theory, without time",
        _composition("weighted sum", "by the spread of the outcomes", utility=("power",)),
    ),
    "priority_heuristic": ("Priority heuristic", _composition("priority heuristic", "in points")),
    "minimax": ("Minimax", _composition("worst outcome", "by the range at stake")),
    "equal_weights": ("Equal weights", _composition("equal weights", "by the range at stake")),
    "best_estimate_and_tools": (
        "Best estimate and simple tools",
        _composition(
            "weighted sum",
            "in points",
            attention=("worst outcome", "equal weighting", "signs", "more often better"),
        ),
    ),
}

FAMILY = Family("risky", GRAMMAR, SEEDS)
