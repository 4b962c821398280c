"""From evidence to a response: what happens to the evidence, other strategies, and errors.

A twist changes ``evidence``; a choice rule turns it into ``p_b``, the probability of gamble B; a mixture lets another
strategy decide in some of the choices.
"""

from __future__ import annotations

from typing import Any

from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, uniform
from lakatos.domains.risky.mechanisms.comparison import AVERAGE, PRIORITY
from lakatos.domains.risky.mechanisms.shared import HEURISTICS, MONOTONE, THORNGATE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

TOOLBOX = "Payne, Bettman & Johnson (1988), JEP: Learning, Memory, and Cognition 14, 534-552"

TWIST = (
    Mechanism(
        slot="twist",
        name="threshold",
        code='evidence = xp.sign(evidence) * xp.maximum(xp.abs(evidence) - parameters["threshold"], 0.0)',
        parameters={
            "threshold": log_uniform(0.02, 5.0, "log odds", "evidence that goes unnoticed")
        },
        wording=Wording(
            clause="do not notice differences between the gambles below a threshold ({threshold} log odds)",
            parameter="threshold",
            unit=LOG_ODDS,
            label="a threshold",
        ),
        repairs=("relative_ev_difference", "ev_difference"),
        source="Luce (1956), Econometrica 24, 178-191",
    ),
    Mechanism(
        slot="twist",
        name="too good to be true",
        code='evidence = evidence * (1 - xp.minimum(xp.abs(evidence) / parameters["credulity"], 3.0))',
        parameters={
            "credulity": log_uniform(
                0.5, 50.0, "log odds", "evidence at which trust turns into distrust"
            )
        },
        wording=Wording(
            clause="choose the worse gamble where the advantage of the better one is too large",
            label="distrust",
            overrides=True,
            reverses_choices=True,
        ),
        repairs=("dominance", "ev_difference", "relative_ev_difference"),
        breaks=MONOTONE,
        source="Pleskac & Hertwig (2014), JEP: General 143, 2000-2019: large rewards are expected to be unlikely",
    ),
    Mechanism(
        slot="twist",
        name="contrarian",
        code="evidence = -evidence",
        wording=Wording(
            clause="take the gamble that the comparison speaks against",
            label="contrariness",
            overrides=True,
        ),
        repairs=("ev_difference", "dominance"),
        breaks=MONOTONE,
        source="Brehm (1966), A theory of psychological reactance",
    ),
)

SIDE = (
    Mechanism(
        slot="side",
        name="side bias",
        code='evidence = evidence + parameters["side_bias"]',
        parameters={
            "side_bias": uniform(-2.0, 2.0, "log odds", "above 0: towards the second gamble")
        },
        wording=Wording(
            clause="{much}prefer the gamble in the second position",
            clause_short="towards the second",
            opposite_clause="{much}prefer the gamble in the first position",
            opposite_short="towards the first",
            parameter="side_bias",
            unit=LOG_ODDS,
            label="a side bias",
            opposite_label="a side bias",
        ),
        breaks=("sides", "reflection"),
        needs=("sides",),
        source="Nisbett & Wilson (1977), Psychological Review 84, 231-259",
    ),
)

CHOICE = (
    Mechanism(
        slot="choice",
        name="logistic",
        code="p_b = 1 / (1 + xp.exp(-xp.clip(evidence, -500.0, 500.0)))",
        wording=Wording(
            clause="choose the better gamble more often, the stronger the evidence",
            taken_for_granted=True,
        ),
        source="Luce (1959), Individual choice behavior; McFadden (1974)",
    ),
    Mechanism(
        slot="choice",
        name="normal noise",
        clause="choose the gamble that looks better in a noisy comparison",
        code="""
        strength = xp.clip(0.5876 * evidence, -12.0, 12.0)
        p_b = 0.5 * (1 + xp.tanh(0.7978846 * (strength + 0.044715 * strength**3)))
        """,
        source="Thurstone (1927), Psychological Review 34, 273-286",
    ),
)


def _mixture(*, clause: str, parameter: str, lead: str, **more: Any) -> Mechanism:
    """A mixture in which another strategy decides some choices: B if ``lead`` is above 0, A below, either at 0."""
    code = f"""{lead.strip()}
other = 0.5 + 0.5 * xp.where(abs(lead) > 1e-9, xp.sign(lead), 0.0)
p_b = (1 - parameters["{parameter}"]) * p_b + parameters["{parameter}"] * other
"""
    share = uniform(0.0, 0.9, "share of choices", f"choices in which people {clause}")
    return Mechanism(
        slot="mixture",
        code=code,
        parameters={parameter: share},
        wording=Wording(
            clause=f"instead {clause} {{{parameter}~}}",
            parameter=parameter,
            unit=0.1,
            label="a mixture",
        ),
        **more,
    )


MIXTURE = (
    _mixture(
        name="at times the worst outcome",
        parameter="share_worst",
        clause="decide by the worst outcomes alone",
        lead="lead = worst[:, 1] - worst[:, 0]",
        repairs=("minimum_difference",),
        breaks=("reflection",),
        source=f"{TOOLBOX}; Wald (1950)",
    ),
    _mixture(
        name="at times the best outcome",
        parameter="share_best",
        clause="decide by the best outcomes alone",
        lead="lead = best[:, 1] - best[:, 0]",
        repairs=("maximum_difference",),
        breaks=("reflection",),
        source=TOOLBOX,
    ),
    _mixture(
        name="at times the most likely outcome",
        parameter="share_likeliest",
        clause="decide by the most likely outcomes alone",
        lead="lead = likeliest[:, 1] - likeliest[:, 0]",
        repairs=("modal_outcome_difference",),
        breaks=("reflection", "ignores best_probability"),
        source=f"{TOOLBOX}; {THORNGATE}",
    ),
    _mixture(
        name="at times equal weights",
        parameter="share_average",
        clause="decide by the unweighted mean outcomes",
        lead=f"{AVERAGE}\nlead = average[:, 1] - average[:, 0]",
        repairs=("equal_weight_difference",),
        source=f"{TOOLBOX}; {THORNGATE}",
    ),
    _mixture(
        name="at times the expected value",
        parameter="share_expected",
        clause="decide by the expected values",
        lead="expected = (probabilities * outcomes).sum(axis=-1)\nlead = expected[:, 1] - expected[:, 0]",
        repairs=("ev_difference", "relative_ev_difference"),
        breaks=("ignores best_probability",),
        source="Harless & Camerer (1994), Econometrica 62, 1251-1289; Payne, Bettman & Johnson (1988)",
    ),
    _mixture(
        name="at times the chance to gain",
        parameter="share_sign",
        clause="decide by the probabilities of gaining and of losing",
        lead="balance = (probabilities * xp.sign(outcomes)).sum(axis=-1)\nlead = balance[:, 1] - balance[:, 0]",
        repairs=("gain_probability_difference", "loss_probability_difference"),
        breaks=("ignores best_probability",),
        source=f"{TOOLBOX}; Payne (2005)",
    ),
    _mixture(
        name="at times the priority heuristic",
        parameter="share_priority",
        clause="follow the priority heuristic",
        lead=f"{PRIORITY}lead = by_priority",
        repairs=("minimum_difference", "worst_probability_difference"),
        breaks=("best_amount", "worst_amount", "amounts", "reflection", "ignores best_probability"),
        source=f"{HEURISTICS}; Rieskamp (2008), JEP: Learning, Memory, and Cognition 34, 1446-1465",
    ),
    Mechanism(
        slot="mixture",
        name="at times the opposite",
        code='p_b = (1 - parameters["share_opposite"]) * p_b + parameters["share_opposite"] * (1 - p_b)',
        parameters={
            "share_opposite": uniform(
                0.0, 0.9, "share of choices", "choices against one's preference"
            )
        },
        wording=Wording(
            clause="choose the gamble that they prefer less {share_opposite~}",
            parameter="share_opposite",
            unit=0.1,
            label="a mixture",
            overrides=True,
        ),
        breaks=MONOTONE,
        source="Harless & Camerer (1994), Econometrica 62, 1251-1289: errors as reversals; Brehm (1966)",
    ),
)

LAPSE = (
    Mechanism(
        slot="lapse",
        name="random",
        code='p_b = parameters["lapse"] / 2 + (1 - parameters["lapse"]) * p_b',
        parameters={"lapse": uniform(0.0, 0.4, "share of choices", "lapse rate")},
        wording=Wording(clause="choose at random {lapse~}"),
        is_null=True,
        source="Harless & Camerer (1994), Econometrica 62, 1251-1289",
    ),
)
