"""Features of the two gambles that add to the evidence, beside the comparison.

Each sets ``feature``: for gamble B minus that for gamble A, about 1 in size where it is strong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.kit.parameter import LOG_ODDS, Literal, log_uniform, uniform
from lakatos.domains.risky.mechanisms.shared import BEAST, MONOTONE, THORNGATE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

WEIGHT_UNIT = "log odds at full strength of the feature"


def _attention(
    *,
    parameter: str,
    code: str,
    meaning: str,
    clause: str = "",
    label: str = "",
    feature: str = "",
    further: Mapping[str, Literal] | None = None,
    wording: Wording | None = None,
    **more: Any,
) -> Mechanism:
    """A mechanism whose ``feature`` adds to the evidence, with a weight above 0 unless ``further`` says otherwise."""
    weight = log_uniform(0.05, 6.0, WEIGHT_UNIT, meaning)
    return Mechanism(
        slot="attention",
        code=f'{code.strip()}\nevidence = evidence + parameters["{parameter}"] * feature',
        parameters={parameter: weight, **(further or {})},
        wording=wording or Wording(clause, parameter, unit=LOG_ODDS, feature=feature, label=label),
        **more,
    )


ATTENTION = (
    _attention(
        name="worst outcome",
        parameter="pessimism",
        clause="{much}prefer the gamble whose worst outcome is better",
        code="feature = (worst[:, 1] - worst[:, 0]) / at_stake",
        meaning="pull of the better worst outcome",
        label="pessimism",
        feature="minimum_difference",
        repairs=("minimum_difference",),
        breaks=("best_amount", "reflection"),
        source=BEAST,
    ),
    _attention(
        name="best outcome",
        parameter="optimism",
        clause="are {much}drawn to the gamble whose best outcome is better",
        code="feature = (best[:, 1] - best[:, 0]) / at_stake",
        meaning="pull of the better best outcome",
        label="optimism",
        feature="maximum_difference",
        repairs=("maximum_difference",),
        breaks=("worst_amount", "reflection"),
        source="Lopes (1987), Advances in Experimental Social Psychology 20, 255-295",
    ),
    _attention(
        name="equal weighting",
        parameter="equal_weighting",
        clause="{much}prefer the gamble that would be better if all outcomes were equally likely",
        code="""
average = xp.where(shown, outcomes, 0.0).sum(axis=-1) / shown.sum(axis=-1)
feature = (average[:, 1] - average[:, 0]) / at_stake
""",
        meaning="pull of the better plain average",
        label="equal weighting",
        feature="equal_weight_difference",
        repairs=("equal_weight_difference",),
        breaks=("best_amount", "worst_amount"),
        source=BEAST,
    ),
    _attention(
        name="signs",
        parameter="sign_focus",
        clause="{much}prefer the gamble that is more likely to gain and less likely to lose, whatever the amounts",
        code="""
balance = (probabilities * xp.sign(outcomes)).sum(axis=-1)
feature = (balance[:, 1] - balance[:, 0]) / 2
""",
        meaning="pull of the gamble that more often gains than loses",
        label="sign focus",
        repairs=("gain_probability_difference", "loss_probability_difference"),
        breaks=("ignores best_probability",),
        source=f"{BEAST}; Payne (2005), Journal of Risk and Uncertainty 30, 5-19",
    ),
    _attention(
        name="loss chance",
        parameter="loss_fear",
        clause="{much}avoid the gamble with the greater chance of any loss",
        code="""
losing = (probabilities * (outcomes < 0)).sum(axis=-1)
feature = losing[:, 0] - losing[:, 1]
""",
        meaning="pull of the gamble that loses less often",
        label="loss fear",
        repairs=("loss_probability_difference", "losses_present"),
        breaks=("reflection", "ignores best_probability"),
        source="Zeisberger (2022), Management Science 68, 6004-6026",
    ),
    _attention(
        name="more often better",
        parameter="win_rate",
        clause="{much}prefer the gamble that is more likely to pay more than the other, and so is less often regretted",
        code="feature = beats(outcomes, probabilities, trials['correlation'], xp)",
        meaning="pull of the gamble that is likelier to pay more than the other",
        label="rare regret",
        feature="beats_difference",
        repairs=("probability_b_beats_a", "beats_difference", "correlation"),
        breaks=("ignores best_probability",),
        source=f"{BEAST}; Loomes & Sugden (1982), Economic Journal 92, 805-824",
    ),
    _attention(
        name="dominance",
        parameter="dominance",
        clause="{much}favour a gamble that stochastically dominates the other",
        code="""
steps = outcomes.reshape(len(outcomes), 1, -1, 1)
reached = (probabilities[:, :, None, :] * (outcomes[:, :, None, :] <= steps)).sum(axis=-1)
lead = reached[:, 0] - reached[:, 1]
ahead = (lead >= -1e-9).all(axis=-1) & (lead > 1e-9).any(axis=-1)
behind = (lead <= 1e-9).all(axis=-1) & (lead < -1e-9).any(axis=-1)
feature = 1.0 * ahead - 1.0 * behind
""",
        meaning="pull of a gamble that dominates the other",
        label="dominance",
        feature="dominance",
        repairs=("dominance",),
        breaks=("ignores best_probability",),
        source=f"{BEAST}; Kahneman & Tversky (1979), Econometrica 47, 263-291",
    ),
    _attention(
        name="ambiguity aversion",
        parameter="ambiguity_aversion",
        clause="{much}avoid the gamble whose probabilities are not shown",
        code="feature = trials['ambiguous'][:, 0] - trials['ambiguous'][:, 1]",
        meaning="pull of the gamble with known probabilities",
        label="ambiguity aversion",
        repairs=("ambiguity_difference",),
        breaks=("reflection", "ambiguity"),
        source="Ellsberg (1961), Quarterly Journal of Economics 75, 643-669",
    ),
    _attention(
        name="simplicity",
        parameter="simplicity",
        clause="{much}prefer the gamble with fewer outcomes",
        code="""
length = xp.log(shown.sum(axis=-1))
feature = (length[:, 0] - length[:, 1]) / 2.302585
""",
        meaning="pull of one outcome against ten",
        label="simplicity",
        repairs=("n_outcomes_difference",),
        breaks=("reflection",),
        source="Sonsino, Benzion & Mador (2002), Economic Journal 112, 936-965",
    ),
    _attention(
        name="variety",
        parameter="variety",
        clause="{much}prefer the gamble with more outcomes",
        code="""
length = xp.log(shown.sum(axis=-1))
feature = (length[:, 1] - length[:, 0]) / 2.302585
""",
        meaning="pull of ten outcomes against one",
        label="variety",
        feature="n_outcomes_difference",
        repairs=("n_outcomes_difference",),
        breaks=("reflection",),
        source="Starmer & Sugden (1993), Journal of Risk and Uncertainty 6, 235-254 (event splitting)",
    ),
    _attention(
        name="certainty",
        parameter="certainty",
        clause="{much}favour a certain outcome beyond its value",
        code="""
sure = 1.0 * (shown.sum(axis=-1) == 1)
feature = sure[:, 1] - sure[:, 0]
""",
        meaning="pull of a sure outcome",
        label="certainty",
        feature="sure_option",
        repairs=("sure_option",),
        breaks=("reflection",),
        source="Allais (1953), Econometrica 21, 503-546; Kahneman & Tversky (1979)",
    ),
    _attention(
        name="most likely outcome",
        parameter="likeliest_outcome",
        clause="{much}prefer the gamble whose most likely outcome is better",
        code="feature = (likeliest[:, 1] - likeliest[:, 0]) / at_stake",
        meaning="pull of the better most likely outcome",
        label="likely outcomes",
        feature="modal_outcome_difference",
        repairs=("modal_outcome_difference",),
        breaks=("best_amount", "worst_amount", "reflection", "ignores best_probability"),
        source=THORNGATE,
    ),
    _attention(
        name="better on average",
        parameter="better_average",
        clause="{much}favour the gamble that is better on average, however small the difference",
        code="""
expected = (probabilities * outcomes).sum(axis=-1)
gap = expected[:, 1] - expected[:, 0]
feature = xp.where(xp.abs(gap) > 1e-9 * at_stake, xp.sign(gap), 0.0)
""",
        meaning="pull of the higher expected value whatever its size",
        label="averages",
        feature="ev_difference",
        repairs=("ev_difference", "relative_ev_difference"),
        breaks=("ignores best_probability",),
        source=BEAST,
    ),
    _attention(
        name="spread",
        parameter="caution",
        code="""
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
spread = xp.sqrt((probabilities * (outcomes - expected) ** 2).sum(axis=-1))
feature = 2 * (spread[:, 0] - spread[:, 1]) / at_stake
""",
        further={
            "caution": uniform(
                -6.0, 6.0, WEIGHT_UNIT, "pull of the steadier gamble; below 0 of the riskier one"
            )
        },
        meaning="pull of the steadier gamble",
        wording=Wording(
            clause="{much}dislike outcomes that vary",
            clause_short="dislike them",
            opposite_clause="{much}like outcomes that vary",
            opposite_short="like them",
            parameter="caution",
            unit=LOG_ODDS,
            label="caution",
            opposite_label="risk seeking",
        ),
        repairs=("sd_difference", "variance_difference"),
        breaks=(*MONOTONE, "reflection"),
        source="Markowitz (1952), Journal of Finance 7, 77-91; Weber, Shafir & Blais (2004)",
    ),
    _attention(
        name="large regret",
        parameter="regret",
        clause="{much}avoid the gamble that may be regretted most, because the other would have paid far more",
        code="feature = regrets(outcomes, probabilities, trials['correlation'], at_stake, xp)",
        meaning="pull away from large differences against the chosen gamble",
        label="regret",
        repairs=("beats_difference", "maximum_difference", "correlation"),
        breaks=("best_amount", "worst_amount", "ignores best_probability"),
        source="Loomes & Sugden (1982), Economic Journal 92, 805-824",
    ),
    _attention(
        name="best chance",
        parameter="chance_of_best",
        clause="{much}prefer the gamble whose best outcome is more likely",
        code="feature = p_best[:, 1] - p_best[:, 0]",
        meaning="pull of the likelier best outcome",
        label="best chances",
        feature="best_probability_difference",
        repairs=("best_probability_difference",),
        breaks=("reflection", "ignores best_probability"),
        source="Slovic & Lichtenstein (1968), Journal of Experimental Psychology Monograph 78(3), part 2",
    ),
    _attention(
        name="aspiration",
        parameter="aspiration_pull",
        clause=(
            "{much}prefer the gamble that is more likely to reach an aspiration level (about "
            "{aspiration_level%} of the range of outcomes presented)"
        ),
        code="""
level = worst.min(axis=-1) + parameters["aspiration_level"] * at_stake
steepness = 50.0 / at_stake[:, None, None]
above = 1 / (1 + xp.exp(-xp.clip(steepness * (outcomes - level[:, :, None, None]), -50.0, 50.0)))
reached = (probabilities * above).sum(axis=-1)
feature = reached[..., 1] - reached[..., 0]
""",
        further={
            "aspiration_level": uniform(
                0.05, 0.95, "share", "0: the worst outcome in sight; 1: the best"
            )
        },
        meaning="pull of the gamble that more often reaches the level",
        label="aspiration",
        repairs=(
            "maximum_difference",
            "best_probability_difference",
            "gain_probability_difference",
        ),
        breaks=("best_amount", "worst_amount", "reflection", "ignores best_probability"),
        source="Lopes & Oden (1999), Journal of Mathematical Psychology 43, 286-313; Diecidue & van de Ven (2008), "
        "International Economic Review 49, 683-700",
    ),
    _attention(
        name="relative spread",
        parameter="relative_caution",
        clause="{much}avoid the gamble with the larger coefficient of variation",
        code="""
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
spread = xp.sqrt((probabilities * (outcomes - expected) ** 2).sum(axis=-1))
variation = spread / xp.maximum(xp.abs(expected[..., 0]), 0.1 * at_stake[:, None])
feature = variation[:, 0] - variation[:, 1]
""",
        meaning="pull of a coefficient of variation that is less by 1",
        label="caution",
        repairs=("sd_difference", "relative_ev_difference"),
        breaks=(*MONOTONE, "reflection"),
        source="Weber, Shafir & Blais (2004), Psychological Review 111, 430-445",
    ),
    _attention(
        name="skewness",
        parameter="long_shots",
        clause="{much}prefer a small chance of a far better outcome to a small chance of a far worse one",
        code="""
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
third = (probabilities * ((outcomes - expected) / at_stake[:, None, None]) ** 3).sum(axis=-1)
skewness = xp.sign(third) * xp.abs(third) ** (1 / 3)
feature = skewness[:, 1] - skewness[:, 0]
""",
        meaning="pull of the gamble that is skewed to the better side",
        label="long shots",
        repairs=("maximum_difference", "rare_outcome", "best_probability_difference"),
        breaks=(*MONOTONE, "reflection"),
        source="Golec & Tamarkin (1998), Journal of Political Economy 106, 205-225",
    ),
    _attention(
        name="moderate risk",
        parameter="moderation",
        clause="{much}prefer an intermediate amount of risk to both more and less",
        code="""
expected = (probabilities * outcomes).sum(axis=-1, keepdims=True)
spread = 2 * xp.sqrt((probabilities * (outcomes - expected) ** 2).sum(axis=-1)) / at_stake[:, None]
distance = xp.abs(spread - parameters["ideal_risk"][:, :, None])
feature = distance[..., 0] - distance[..., 1]
""",
        further={
            "ideal_risk": uniform(
                0.0,
                1.0,
                "share",
                "0: a sure amount; 1: even odds of the worst and the best in sight",
            )
        },
        meaning="pull of the gamble whose risk is nearer to the ideal",
        label="moderate risk",
        repairs=("sd_difference", "variance_difference"),
        breaks=(*MONOTONE, "reflection"),
        source="Coombs & Huang (1970), Journal of Experimental Psychology 85, 23-29",
    ),
    _attention(
        name="odd number of advantages",
        parameter="parity",
        clause=(
            "{much}prefer the gamble that is ahead on one or on all three of the worst, the best and the "
            "likeliest outcome"
        ),
        code="""
signs = [xp.sign(end[:, 1] - end[:, 0]) for end in (worst, best, likeliest)]
feature = signs[0] * signs[1] * signs[2]
""",
        meaning="pull of an odd number of advantages",
        label="odd advantages",
        repairs=("minimum_difference", "maximum_difference", "modal_outcome_difference"),
        breaks=("best_amount", "worst_amount", "amounts", "best_probability", "reflection"),
        source="Shepard, Hovland & Jenkins (1961), Psychological Monographs 75(13): rules by parity",
    ),
    _attention(
        name="conflict",
        parameter="boldness_in_conflict",
        clause="{much}overweight the best outcomes when losses are possible and the worst when they are not",
        code="""
losing = 1.0 * (worst.min(axis=-1) < 0)
feature = xp.where(losing > 0, best[:, 1] - best[:, 0], worst[:, 1] - worst[:, 0]) / at_stake
""",
        meaning="pull of the attribute that the domain of the amounts makes important",
        label="conflict",
        repairs=("losses_present", "maximum_difference", "minimum_difference"),
        breaks=("best_amount", "worst_amount", "amounts", "reflection"),
        source="March & Shapira (1992), Psychological Review 99, 172-183: focus shifts with survival at risk",
    ),
)
