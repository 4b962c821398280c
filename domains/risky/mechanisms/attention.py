"""Features of the two gambles that add to the evidence, beside the comparison.

Each sets ``feature``: for gamble B minus that for gamble A, about 1 in size where it is strong.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.kit.parameter import Literal, log_uniform, uniform
from lakatos.domains.risky.mechanisms.citation import BEAST, THORNGATE
from lakatos.theories.language.grammar import Mechanism

WEIGHT_UNIT = "log odds at full strength of the feature"


def _attention(
    name: str,
    parameter: str,
    claim: str,
    feature: str,
    meaning: str,
    answers: tuple[str, ...],
    citation: str,
    further: Mapping[str, Literal] | None = None,
    breaks: tuple[str, ...] = (),
) -> Mechanism:
    return Mechanism(
        slot="attention",
        name=name,
        claim=claim,
        code=f'{feature.strip()}\nevidence = evidence + parameters["{parameter}"] * feature',
        parameters={parameter: log_uniform(0.05, 6.0, WEIGHT_UNIT, meaning), **(further or {})},
        answers=answers,
        citation=citation,
        breaks=breaks,
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
        breaks=("best_amount", "reflection"),
    ),
    _attention(
        "best outcome",
        "optimism",
        "are drawn to the gamble whose best outcome is better",
        "feature = (best[:, 1] - best[:, 0]) / at_stake",
        "pull of the better best outcome",
        ("maximum_difference",),
        "Lopes (1987), Advances in Experimental Social Psychology 20, 255-295",
        breaks=("worst_amount", "reflection"),
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
        breaks=("best_amount", "worst_amount"),
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
        breaks=("ignores best_probability",),
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
        breaks=("reflection", "ignores best_probability"),
    ),
    _attention(
        "more often better",
        "win_rate",
        "prefer the gamble that would pay more in most cases, and so is seldom regretted",
        "feature = beats(outcomes, probabilities, trials['correlation'], xp)",
        "pull of the gamble that is likelier to pay more than the other",
        ("probability_b_beats_a", "beats_difference", "correlation"),
        f"{BEAST}; Loomes & Sugden (1982), Economic Journal 92, 805-824",
        breaks=("ignores best_probability",),
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
        breaks=("ignores best_probability",),
    ),
    _attention(
        "ambiguity aversion",
        "ambiguity_aversion",
        "avoid the gamble whose probabilities are not shown",
        "feature = trials['ambiguous'][:, 0] - trials['ambiguous'][:, 1]",
        "pull of the gamble with known probabilities",
        ("ambiguity_difference",),
        "Ellsberg (1961), Quarterly Journal of Economics 75, 643-669",
        breaks=("reflection", "ambiguity"),
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
        breaks=("reflection",),
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
        breaks=("reflection",),
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
        breaks=("reflection",),
    ),
    _attention(
        "most likely outcome",
        "likeliest_outcome",
        "also compare what is most likely to happen in either gamble",
        "feature = (likeliest[:, 1] - likeliest[:, 0]) / at_stake",
        "pull of the better most likely outcome",
        ("modal_outcome_difference",),
        THORNGATE,
        breaks=("best_amount", "worst_amount", "reflection", "ignores best_probability"),
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
        breaks=("ignores best_probability",),
    ),
    _attention(
        "spread",
        "caution",
        "dislike outcomes that vary, or like it",
        """
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
spread = xp.sqrt((probabilities * (outcomes - expected) ** 2).sum(axis=-1))
feature = 2 * (spread[:, 0] - spread[:, 1]) / at_stake
""",
        "pull of the steadier gamble",
        ("sd_difference", "variance_difference"),
        "Markowitz (1952), Journal of Finance 7, 77-91; Weber, Shafir & Blais (2004)",
        {
            "caution": uniform(
                -6.0, 6.0, WEIGHT_UNIT, "pull of the steadier gamble; below 0 of the riskier one"
            )
        },
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
        ),
    ),
    _attention(
        "large regret",
        "regret",
        "dread the one case in which the other gamble would have paid far more",
        "feature = regrets(outcomes, probabilities, trials['correlation'], at_stake, xp)",
        "pull away from large differences against the chosen gamble",
        ("beats_difference", "maximum_difference", "correlation"),
        "Loomes & Sugden (1982), Economic Journal 92, 805-824",
        breaks=("best_amount", "worst_amount", "ignores best_probability"),
    ),
    _attention(
        "best chance",
        "chance_of_best",
        "prefer the gamble whose best outcome is more likely",
        "feature = p_best[:, 1] - p_best[:, 0]",
        "pull of the likelier best outcome",
        ("best_probability_difference",),
        "Slovic & Lichtenstein (1968), Journal of Experimental Psychology Monograph 78(3), part 2",
        breaks=("reflection", "ignores best_probability"),
    ),
    _attention(
        "aspiration",
        "aspiration_pull",
        "want to reach a certain level, which depends on what is in sight",
        """
level = worst.min(axis=-1) + parameters["aspiration_level"] * at_stake
steepness = 50.0 / at_stake[:, None, None]
above = 1 / (1 + xp.exp(-xp.clip(steepness * (outcomes - level[:, :, None, None]), -50.0, 50.0)))
reached = (probabilities * above).sum(axis=-1)
feature = reached[..., 1] - reached[..., 0]
""",
        "pull of the gamble that more often reaches the level",
        ("maximum_difference", "best_probability_difference", "gain_probability_difference"),
        "Lopes & Oden (1999), Journal of Mathematical Psychology 43, 286-313; Diecidue & van de Ven (2008), "
        "International Economic Review 49, 683-700",
        {
            "aspiration_level": uniform(
                0.05, 0.95, "share", "0: the worst outcome in sight; 1: the best"
            )
        },
        breaks=("best_amount", "worst_amount", "reflection", "ignores best_probability"),
    ),
    _attention(
        "relative spread",
        "relative_caution",
        "shun the gamble that varies more for each unit that it pays on average",
        """
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
spread = xp.sqrt((probabilities * (outcomes - expected) ** 2).sum(axis=-1))
variation = spread / xp.maximum(xp.abs(expected[..., 0]), 0.1 * at_stake[:, None])
feature = variation[:, 0] - variation[:, 1]
""",
        "pull of a coefficient of variation that is less by 1",
        ("sd_difference", "relative_ev_difference"),
        "Weber, Shafir & Blais (2004), Psychological Review 111, 430-445",
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
        ),
    ),
    _attention(
        "skewness",
        "long_shots",
        "like a small chance of something far better, and dread a small chance of something far worse",
        """
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
third = (probabilities * ((outcomes - expected) / at_stake[:, None, None]) ** 3).sum(axis=-1)
skewness = xp.sign(third) * xp.abs(third) ** (1 / 3)
feature = skewness[:, 1] - skewness[:, 0]
""",
        "pull of the gamble that is skewed to the better side",
        ("maximum_difference", "rare_outcome", "best_probability_difference"),
        "Golec & Tamarkin (1998), Journal of Political Economy 106, 205-225",
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
        ),
    ),
    _attention(
        "moderate risk",
        "moderation",
        "like a certain amount of risk, and neither more nor less",
        """
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
spread = 2 * xp.sqrt((probabilities * (outcomes - expected) ** 2).sum(axis=-1)) / at_stake[:, None]
distance = xp.abs(spread - parameters["ideal_risk"][:, :, None])
feature = distance[..., 0] - distance[..., 1]
""",
        "pull of the gamble whose risk is nearer to the ideal",
        ("sd_difference", "variance_difference"),
        "Coombs & Huang (1970), Journal of Experimental Psychology 85, 23-29",
        {
            "ideal_risk": uniform(
                0.0,
                1.0,
                "share",
                "0: a sure amount; 1: even odds of the worst and the best in sight",
            )
        },
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
        ),
    ),
    _attention(
        "odd number of advantages",
        "parity",
        "take the gamble that is ahead on one or on all three of the worst, the best and the likeliest outcome",
        """
signs = [xp.sign(end[:, 1] - end[:, 0]) for end in (worst, best, likeliest)]
feature = signs[0] * signs[1] * signs[2]
""",
        "pull of an odd number of advantages",
        ("minimum_difference", "maximum_difference", "modal_outcome_difference"),
        "Shepard, Hovland & Jenkins (1961), Psychological Monographs 75(13): rules by parity",
        breaks=("best_amount", "worst_amount", "amounts", "best_probability", "reflection"),
    ),
    _attention(
        "conflict",
        "boldness_in_conflict",
        "look at the best outcomes when losses are possible and at the worst when they are not",
        """
losing = 1.0 * (worst.min(axis=-1) < 0)
feature = xp.where(losing > 0, best[:, 1] - best[:, 0], worst[:, 1] - worst[:, 0]) / at_stake
""",
        "pull of the attribute that the domain of the amounts makes important",
        ("losses_present", "maximum_difference", "minimum_difference"),
        "March & Shapira (1992), Psychological Review 99, 172-183: focus shifts with survival at risk",
        breaks=("best_amount", "worst_amount", "amounts", "reflection"),
    ),
)
