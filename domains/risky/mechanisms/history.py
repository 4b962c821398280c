"""How people's own earlier choices, and what they saw, bear on the next one: statements that change ``evidence``.

``state`` holds arrays ``(n_draws or 1, n_sequences or 1)``.
"""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.domains.kit.side_history import NOTHING_YET, SIDE, side_history
from lakatos.domains.risky.mechanisms.shared import MONOTONE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

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
"""Code that also sets ``bolder``: 1 where gamble B varies more, -1 where A does."""

_history = partial(Mechanism, slot="history")

HISTORY = (
    *side_history("evidence", ("sides", "reflection"), place="place"),
    _history(
        name="same risk again",
        code=f'{BOLDER}evidence = evidence + parameters["boldness_kept"] * state["bold"] * bolder',
        start=f'state["bold"] = {NOTHING_YET}',
        learn=f'{BOLDER}state["bold"] = {SIDE} * bolder',
        parameters={
            "boldness_kept": normal(
                0.0, 1.0, 6.0, PULL, "for as much risk as taken last; below 0 people turn"
            )
        },
        wording=Wording(
            clause="{much}tend to take as much or as little risk as in the previous trial",
            opposite_clause="{much}tend to alternate between more and less risk from trial to trial",
            parameter="boldness_kept",
            unit=LOG_ODDS,
            label="repetition",
            opposite_label="alternation",
        ),
        repairs=("sd_difference",),
        breaks=(*MONOTONE, "reflection"),
        source="Thaler & Johnson (1990), Management Science 36(6), 643-660: risk taking depends on what went before",
    ),
    _history(
        name="drifting reference",
        code=f"""{BOLDER}
contrast = (state["level"] - level) / at_stake
evidence = evidence + parameters["contrast"] * contrast * bolder
""",
        start=f'state["level"] = {NOTHING_YET}',
        learn=f'{LEVEL}state["level"] = state["level"] + parameters["reference_rate"] * (level - state["level"])',
        parameters={
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
        wording=Wording(
            clause=(
                "{much}seek risk when the amounts are smaller than on recent trials, and avoid it when "
                "they are larger"
            ),
            clause_short="do the reverse",
            opposite_clause=(
                "{much}avoid risk when the amounts are smaller than on recent trials, and seek it when "
                "they are larger"
            ),
            opposite_short="do the reverse",
            parameter="contrast",
            unit=LOG_ODDS,
            label="contrast",
            opposite_label="contrast",
        ),
        repairs=("amount_size", "mixed_amounts", "losses_present"),
        breaks=(*MONOTONE, "reflection"),
        source="Helson (1964), Adaptation-level theory; Arkes, Hirshleifer, Jiang & Lim (2008), Organizational "
        "Behavior and "
        "Human Decision Processes 105, 99-112",
    ),
    _history(
        name="fatigue",
        code='evidence = evidence * xp.exp(-parameters["fatigue"] * state["n_seen"] / 50)',
        start=COUNT_FROM_0,
        learn=COUNT,
        parameters={
            "fatigue": normal(
                0.0, 0.2, 1.0, "per 50 trials", "log ratio by which evidence loses weight"
            )
        },
        wording=Wording(
            clause="choose {far}more randomly as trials go by",
            opposite_clause="choose {far}less randomly as trials go by",
            parameter="fatigue",
            unit=0.15,
            label="fatigue",
            opposite_label="growing care",
        ),
        source="Savage & Waldman (2008), Journal of Applied Econometrics 23, 351-371",
    ),
    _history(
        name="take turns",
        code='evidence = evidence * xp.where(state["n_seen"] % 2 > 0.5, parameters["second_turn"], 1.0)',
        start=COUNT_FROM_0,
        learn=COUNT,
        parameters={
            "second_turn": uniform(
                -2.0, 2.0, "ratio", "weight in every second trial; below 0 evidence counts against"
            )
        },
        wording=Wording(
            clause="follow the evidence more in every second trial (by a factor of {second_turn})",
            opposite_clause="follow the evidence less, or go against it, in every second trial "
            "(by a factor of {second_turn})",
            parameter="second_turn",
            neutral=1.0,
            label="turn taking",
            opposite_label="turn taking",
            overrides=True,
        ),
        breaks=MONOTONE,
        source="Rieskamp & Otto (2006), JEP: General 135(2), 207-236",
    ),
    _history(
        name="simplify later",
        code="""
        simple = parameters["sensitivity"] * xp.sign(worst[:, 1] - worst[:, 0])
        evidence = xp.where(state["n_seen"] < parameters["full_effort"], evidence, simple)
        """,
        start=COUNT_FROM_0,
        learn=COUNT,
        parameters={"full_effort": log_uniform(1.0, 400.0, "trials", "before people simplify")},
        wording=Wording(
            clause=(
                "weigh up all outcomes at first, and compare only the worst ones after about {full_effort+} trials"
            ),
            label="later simplifying",
        ),
        repairs=("minimum_difference",),
        breaks=("reflection",),
        source="Payne, Bettman & Johnson (1993), The adaptive decision maker",
    ),
)
