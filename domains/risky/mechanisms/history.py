"""How people's own earlier choices, and what they saw, bear on the next one: statements that change ``evidence``.

``state`` holds arrays ``(n_draws or 1, n_sequences or 1)``.
"""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.theories.language.grammar import Mechanism

SIDE = "(response[..., 1] - response[..., 0])"
NOTHING_YET = "xp.zeros((1, 1))"
COUNT_FROM_0 = f'state["n_seen"] = {NOTHING_YET}'
COUNT = 'state["n_seen"] = state["n_seen"] + 1'
PULL = "log odds"

LEVEL = """
means = (trials["probabilities"] * trials["outcomes"]).sum(axis=-1)
level = means.mean(axis=-1)
"""
"""Sets ``level``, ``(n_trials,)``: what the two gambles pay on average."""
BOLDER = f"""{LEVEL.strip()}
variances = (trials["probabilities"] * (trials["outcomes"] - means[..., None]) ** 2).sum(axis=-1)
lead = variances[:, 1] - variances[:, 0]
bolder = xp.where(abs(lead) > 1e-9 * (1 + variances.sum(axis=-1)), xp.sign(lead), 0.0)
"""
"""Also sets ``bolder``: 1 where gamble B varies more, -1 where A does."""

_history = partial(Mechanism, "history")

HISTORY = (
    _history(
        "perseveration",
        "tend to the place that they chose last, or away from it",
        'evidence = evidence + parameters["stickiness"] * state["side"]',
        {
            "stickiness": normal(
                0.0, 1.0, 6.0, PULL, "for the place chosen last; below 0 people alternate"
            )
        },
        citation="Fründ, Wichmann & Macke (2014), Journal of Vision 14(7), 9",
        start=f'state["side"] = {NOTHING_YET}',
        learn=f'state["side"] = {SIDE}',
        breaks=("sides", "reflection"),
    ),
    _history(
        "habit",
        "tend to the place that they have chosen more often lately, or away from it",
        'evidence = evidence + parameters["habit_strength"] * state["habit"]',
        {
            "habit_strength": normal(
                0.0, 1.5, 8.0, PULL, "for a place always chosen lately; below 0 people avoid it"
            ),
            "habit_rate": uniform(
                0.02, 1.0, "share per choice", "how fast a habit forms and fades"
            ),
        },
        citation="Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579",
        start=f'state["habit"] = {NOTHING_YET}',
        learn=f'state["habit"] = state["habit"] + parameters["habit_rate"] * ({SIDE} - state["habit"])',
        breaks=("sides", "reflection"),
    ),
    _history(
        "streak",
        "leave, or hold on to, a place that they have chosen a number of times in a row",
        """
        tired = xp.sign(state["run"]) * (xp.abs(state["run"]) >= parameters["longest_run"])
        evidence = evidence - parameters["switching"] * tired
        """,
        {
            "switching": normal(
                1.0, 2.0, 8.0, PULL, "against the place; below 0 people hold on to it"
            ),
            "longest_run": uniform(
                1.0, 8.0, "choices", "of one place in a row after which it begins"
            ),
        },
        citation="Rapoport & Budescu (1997), Psychological Review 104(3), 603-617",
        start=f'state["run"] = {NOTHING_YET}',
        learn=f'state["run"] = {SIDE} + xp.where(state["run"] * {SIDE} > 0, state["run"], 0.0)',
        breaks=("sides", "reflection"),
    ),
    _history(
        "same risk again",
        "tend to take the gamble that varies more when they did so last, or to do the other thing",
        f'{BOLDER}evidence = evidence + parameters["boldness_kept"] * state["bold"] * bolder',
        {
            "boldness_kept": normal(
                0.0, 1.0, 6.0, PULL, "for as much risk as taken last; below 0 people turn"
            )
        },
        ("sd_difference",),
        "Thaler & Johnson (1990), Management Science 36(6), 643-660: risk taking depends on what went before",
        start=f'state["bold"] = {NOTHING_YET}',
        learn=f'{BOLDER}state["bold"] = {SIDE} * bolder',
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
        ),
    ),
    _history(
        "drifting reference",
        "seek risk where there is less to be had than lately and shun it where there is more, or the other way round",
        f"""{BOLDER}
contrast = (state["level"] - level) / at_stake
evidence = evidence + parameters["contrast"] * contrast * bolder
""",
        {
            "contrast": normal(
                0.0,
                2.0,
                10.0,
                PULL,
                "for the riskier gamble when it pays less by all that is at stake",
            ),
            "reference_rate": uniform(
                0.02, 1.0, "share per choice", "how fast people get used to an average amount"
            ),
        },
        ("amount_size", "mixed_amounts", "losses_present"),
        "Helson (1964), Adaptation-level theory; Arkes, Hirshleifer, Jiang & Lim (2008), Organizational Behavior and "
        "Human Decision Processes 105, 99-112",
        start=f'state["level"] = {NOTHING_YET}',
        learn=f'{LEVEL}state["level"] = state["level"] + parameters["reference_rate"] * (level - state["level"])',
        breaks=(
            "best_amount",
            "worst_amount",
            "amounts",
            "best_probability",
            "dominance",
            "reflection",
        ),
    ),
    _history(
        "fatigue",
        "care less about the evidence as trials go by, or more",
        'evidence = evidence * xp.exp(-parameters["fatigue"] * state["n_seen"] / 50)',
        {
            "fatigue": normal(
                0.0, 0.2, 1.0, "per 50 trials", "log ratio by which evidence loses weight"
            )
        },
        citation="Savage & Waldman (2008), Journal of Applied Econometrics 23, 351-371",
        start=COUNT_FROM_0,
        learn=COUNT,
    ),
    _history(
        "take turns",
        "decide every second trial with another weight on the evidence, even against it",
        'evidence = evidence * xp.where(state["n_seen"] % 2 > 0.5, parameters["second_turn"], 1.0)',
        {
            "second_turn": uniform(
                -2.0, 2.0, "ratio", "weight in every second trial; below 0 evidence counts against"
            )
        },
        citation="Rieskamp & Otto (2006), JEP: General 135(2), 207-236",
        start=COUNT_FROM_0,
        learn=COUNT,
        breaks=("best_amount", "worst_amount", "amounts", "best_probability", "dominance"),
    ),
    _history(
        "simplify later",
        "weigh up everything at first and go by the worst outcome alone after a number of trials",
        """
        simple = parameters["sensitivity"] * xp.sign(worst[:, 1] - worst[:, 0])
        evidence = xp.where(state["n_seen"] < parameters["full_effort"], evidence, simple)
        """,
        {"full_effort": log_uniform(1.0, 400.0, "trials", "before people simplify")},
        ("minimum_difference",),
        "Payne, Bettman & Johnson (1993), The adaptive decision maker",
        start=COUNT_FROM_0,
        learn=COUNT,
        breaks=("reflection",),
    ),
)
