"""From evidence to a response: what happens to the evidence, other strategies, and errors.

A twist changes ``evidence``; a choice rule turns it into ``p_b``, the probability of gamble B; a mixture lets another
strategy decide in some of the choices.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.kit.parameter import Literal, log_uniform, uniform
from lakatos.domains.risky.mechanisms.citation import HEURISTICS, THORNGATE
from lakatos.domains.risky.mechanisms.comparison import AVERAGE, PRIORITY
from lakatos.theories.language.grammar import Mechanism

TOOLBOX = "Payne, Bettman & Johnson (1988), JEP: Learning, Memory, and Cognition 14, 534-552"

TWIST = (
    Mechanism(
        "twist",
        "threshold",
        "do not notice evidence that is weaker than a threshold",
        'evidence = xp.sign(evidence) * xp.maximum(xp.abs(evidence) - parameters["threshold"], 0.0)',
        {"threshold": log_uniform(0.02, 5.0, "log odds", "evidence that goes unnoticed")},
        ("relative_ev_difference", "ev_difference"),
        "Luce (1956), Econometrica 24, 178-191",
    ),
    Mechanism(
        "twist",
        "too good to be true",
        "distrust an advantage that is too large, and then take the other gamble",
        'evidence = evidence * (1 - xp.minimum(xp.abs(evidence) / parameters["credulity"], 3.0))',
        {
            "credulity": log_uniform(
                0.5, 50.0, "log odds", "evidence at which trust turns into distrust"
            )
        },
        ("dominance", "ev_difference", "relative_ev_difference"),
        "Pleskac & Hertwig (2014), JEP: General 143, 2000-2019: large rewards are expected to be unlikely",
        breaks=("best_amount", "worst_amount", "amounts", "best_probability", "dominance"),
    ),
    Mechanism(
        "twist",
        "contrarian",
        "do the opposite of what the evidence says",
        "evidence = -evidence",
        {},
        ("ev_difference", "dominance"),
        "Brehm (1966), A theory of psychological reactance",
        breaks=("best_amount", "worst_amount", "amounts", "best_probability", "dominance"),
    ),
)

SIDE = (
    Mechanism(
        "side",
        "side bias",
        "lean towards one place whatever is shown there",
        'evidence = evidence + parameters["side_bias"]',
        {"side_bias": uniform(-2.0, 2.0, "log odds", "above 0: towards the second gamble")},
        (),
        "Nisbett & Wilson (1977), Psychological Review 84, 231-259",
        breaks=("sides", "reflection"),
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


def _mixture(
    name: str,
    parameter: str,
    claim: str,
    lead: str,
    answers: tuple[str, ...],
    citation: str,
    breaks: tuple[str, ...] = (),
) -> Mechanism:
    """In some choices another strategy decides alone: B where ``lead`` is above 0, A below, a coin at 0."""
    share: Mapping[str, Literal] = {
        parameter: uniform(0.0, 0.9, "share of choices", f"choices in which people {claim}")
    }
    code = f"""{lead.strip()}
other = 0.5 + 0.5 * xp.where(abs(lead) > 1e-9, xp.sign(lead), 0.0)
p_b = (1 - parameters["{parameter}"]) * p_b + parameters["{parameter}"] * other
"""
    return Mechanism(
        "mixture", name, f"at times {claim}", code, share, answers, citation, breaks=breaks
    )


MIXTURE = (
    _mixture(
        "at times the worst outcome",
        "share_worst",
        "go by the better worst outcome alone",
        "lead = worst[:, 1] - worst[:, 0]",
        ("minimum_difference",),
        f"{TOOLBOX}; Wald (1950)",
        breaks=("reflection",),
    ),
    _mixture(
        "at times the best outcome",
        "share_best",
        "go by the better best outcome alone",
        "lead = best[:, 1] - best[:, 0]",
        ("maximum_difference",),
        TOOLBOX,
        breaks=("reflection",),
    ),
    _mixture(
        "at times the most likely outcome",
        "share_likeliest",
        "go by the better most likely outcome alone",
        "lead = likeliest[:, 1] - likeliest[:, 0]",
        ("modal_outcome_difference",),
        f"{TOOLBOX}; {THORNGATE}",
        breaks=("reflection", "ignores best_probability"),
    ),
    _mixture(
        "at times equal weights",
        "share_average",
        "go by the better plain average alone",
        f"{AVERAGE}\nlead = average[:, 1] - average[:, 0]",
        ("equal_weight_difference",),
        f"{TOOLBOX}; {THORNGATE}",
    ),
    _mixture(
        "at times the expected value",
        "share_expected",
        "work out which gamble is better on average and take it",
        "expected = (probabilities * outcomes).sum(axis=-1)\nlead = expected[:, 1] - expected[:, 0]",
        ("ev_difference", "relative_ev_difference"),
        "Harless & Camerer (1994), Econometrica 62, 1251-1289; Payne, Bettman & Johnson (1988)",
        breaks=("ignores best_probability",),
    ),
    _mixture(
        "at times the chance to gain",
        "share_sign",
        "go by the better chance to gain rather than to lose alone",
        "balance = (probabilities * xp.sign(outcomes)).sum(axis=-1)\nlead = balance[:, 1] - balance[:, 0]",
        ("gain_probability_difference", "loss_probability_difference"),
        f"{TOOLBOX}; Payne (2005)",
        breaks=("ignores best_probability",),
    ),
    _mixture(
        "at times the priority heuristic",
        "share_priority",
        "go through worst outcomes, their chances and best outcomes and stop at the first large difference",
        f"{PRIORITY}lead = by_priority",
        ("minimum_difference", "worst_probability_difference"),
        f"{HEURISTICS}; Rieskamp (2008), JEP: Learning, Memory, and Cognition 34, 1446-1465",
        breaks=("best_amount", "worst_amount", "amounts", "reflection", "ignores best_probability"),
    ),
    Mechanism(
        "mixture",
        "at times the opposite",
        "at times do the opposite of what they prefer",
        'p_b = (1 - parameters["share_opposite"]) * p_b + parameters["share_opposite"] * (1 - p_b)',
        {
            "share_opposite": uniform(
                0.0, 0.9, "share of choices", "choices against one's preference"
            )
        },
        (),
        "Harless & Camerer (1994), Econometrica 62, 1251-1289: errors as reversals; Brehm (1966)",
        breaks=("best_amount", "worst_amount", "amounts", "best_probability", "dominance"),
    ),
)

LAPSE = (
    Mechanism(
        "lapse",
        "random",
        "now and then choose at random",
        'p_b = parameters["lapse"] / 2 + (1 - parameters["lapse"]) * p_b',
        {"lapse": uniform(0.0, 0.4, "share of choices", "choices made without looking")},
        (),
        "Harless & Camerer (1994), Econometrica 62, 1251-1289",
        is_null=True,
    ),
)
