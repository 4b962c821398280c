"""How people's own earlier choices, and what they saw, bear on the next one. Changes ``weight`` or ``bias``.

``state`` holds arrays ``(n_draws or 1, n_sequences or 1)``, or with a last axis over the cues as shown.
"""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.domains.kit.side_history import NOTHING_YET, SIDE, side_history
from lakatos.domains.multiattribute.mechanisms.shared import SHARE
from lakatos.domains.multiattribute.mechanisms.weight import CENTRED_RANK
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

RATINGS = 'trials["ratings"] / trials["rating_max"][:, None, None]'
CHOSEN = f"(response[..., None] * ({RATINGS})).sum(axis=-2)"
NO_CUES_YET = 'xp.zeros((1, 1, trials["validities"].shape[-1]))'
STAY = "log odds"
OTTO = "Rieskamp & Otto (2006), JEP: General 135(2), 207-236."

_history = partial(Mechanism, slot="history")
_history_of_side = partial(
    _history, start=f'state["side"] = {NOTHING_YET}', learn=f'state["side"] = {SIDE}'
)
_history_of_count = partial(
    _history,
    start=f'state["n_seen"] = {NOTHING_YET}',
    learn='state["n_seen"] = state["n_seen"] + 1',
)

HISTORY = (
    *side_history("bias", ("sides", "deterministic")),
    _history(
        name="two_back",
        code='bias = bias + parameters["two_back"] * state["side_before"]',
        start=f'state["side_last"] = {NOTHING_YET}\nstate["side_before"] = {NOTHING_YET}',
        learn=f'state["side_before"] = state["side_last"]\nstate["side_last"] = {SIDE}',
        parameters={
            "two_back": normal(
                0.0, 1.0, 6.0, STAY, "for the side chosen two trials ago; below 0 people avoid it"
            )
        },
        wording=Wording(
            clause="{much}tend to choose the side that they chose two trials ago",
            opposite_clause="{much}tend to avoid the side that they chose two trials ago",
            parameter="two_back",
            unit=LOG_ODDS,
            label="repetition",
            opposite_label="alternation",
        ),
        breaks=("sides", "deterministic"),
        needs=("sides",),
        source="Treisman & Williams (1984), Psychological Review 91(1), 68-111.",
    ),
    _history(
        name="rebellion",
        code='against = xp.abs(state["same_side"]) >= parameters["patience"]\n'
        "weight = xp.where(against[..., None], -weight, weight)",
        start=f'state["same_side"] = {NOTHING_YET}',
        learn=f'state["same_side"] = {SIDE} + xp.where(state["same_side"] * {SIDE} > 0, state["same_side"], 0.0)',
        parameters={
            "patience": uniform(1.0, 8.0, "choices", "of one side in a row after which they do so")
        },
        wording=Wording(
            clause=(
                "reverse all reasons after choosing one side [{patience#}|a number of times "
                "in a row]"
            ),
            label="rebellion",
            overrides=True,
        ),
        breaks=("rating", "dominance", "validity"),
        source="Rapoport & Budescu (1997), Psychological Review 104(3), 603-617.",
    ),
    _history_of_side(
        name="side_focus",
        code=f'tilt = (parameters["side_focus"] * state["side"])[..., None] * {CENTRED_RANK}\n'
        "weight = weight * xp.exp(tilt)",
        parameters={
            "side_focus": normal(
                0.0, 5.0, 20.0, "log ratio", "how steeply weights fall with rank after choosing B"
            )
        },
        wording=Wording(
            clause="weight the best cues {far}more after choosing the second product",
            clause_short="after choosing the second",
            opposite_clause="weight the best cues {far}more after choosing the first product",
            opposite_short="after choosing the first",
            parameter="side_focus",
            unit=0.7,
            label="shifting focus",
        ),
        breaks=("cue_order", "validity", "validity_order"),
        needs=("sides",),
        source=OTTO,
    ),
    _history_of_count(
        name="side_drift",
        code='bias = bias + parameters["side_drift"] * state["n_seen"] / 50',
        parameters={
            "side_drift": normal(0.0, 1.0, 6.0, "log odds per 50 trials", "towards product B")
        },
        wording=Wording(
            clause="{much}shift towards the second product over the course of the trials",
            clause_short="to the second",
            opposite_clause="{much}shift towards the first product over the course of the trials",
            opposite_short="to the first",
            parameter="side_drift",
            unit=LOG_ODDS,
            label="drift",
            opposite_label="drift",
        ),
        breaks=("cue_order", "validity", "validity_order"),
        needs=("sides",),
        source="Danziger, Levav & Avnaim-Pesso (2011), PNAS 108(17), 6889-6892.",
    ),
    _history_of_count(
        name="fatigue",
        code='weight = weight * xp.exp(-parameters["fatigue"] * state["n_seen"] / 50)[..., None]',
        parameters={
            "fatigue": normal(
                0.0, 0.5, 3.0, "per 50 trials", "log ratio by which reasons lose weight"
            )
        },
        wording=Wording(
            clause="weight the cues {far}less as trials go by",
            opposite_clause="weight the cues {far}more as trials go by",
            parameter="fatigue",
            unit=0.3,
            label="fatigue",
            opposite_label="growing care",
        ),
        source="Hockey (2013), The Psychology of Fatigue.",
    ),
    _history(
        name="carry_over",
        code='bias = bias + parameters["carry_over"] * state["before"]',
        start=f'state["before"] = {NOTHING_YET}',
        learn=f"shown = {RATINGS}\n"
        'state["before"] = (trials["validities"] * (shown[:, 1] - shown[:, 0])).sum(axis=-1)[None, :]',
        parameters={
            "carry_over": normal(
                0.0, 2.0, 10.0, "log odds per weighted difference", "below 0 for contrast"
            )
        },
        wording=Wording(
            clause="{much}carry evidence over from the previous trial",
            opposite_clause="{much}contrast each trial with the previous one",
            parameter="carry_over",
            unit=LOG_ODDS,
            label="carry-over",
            opposite_label="contrast",
        ),
        breaks=("sides", "deterministic"),
        needs=("sides",),
        source="Treisman & Williams (1984), Psychological Review 91(1), 68-111.",
    ),
    _history(
        name="supporting_cues",
        code='weight = weight * xp.exp(parameters["confirmation"][..., None] * state["supported"])',
        start=f'state["supported"] = {NO_CUES_YET}',
        learn=f'shown = {RATINGS}\nstate["supported"] = xp.sign(shown[:, 1] - shown[:, 0]) * {SIDE}[..., None]',
        parameters={
            "confirmation": normal(
                0.0, 1.0, 4.0, "log ratio", "attention to a cue that supported the last choice"
            )
        },
        wording=Wording(
            clause="give {far}more weight to the cues that favoured the product chosen on the previous trial",
            opposite_clause="give {far}less weight to the cues that favoured the product chosen on the previous trial",
            parameter="confirmation",
            unit=0.7,
            label="confirmation",
        ),
        breaks=("cue_order", "validity", "validity_order"),
        source="Russo, Medvec & Meloy (1996), Organizational Behavior and Human Decision Processes 66(1), 102-110.",
    ),
    _history(
        name="stay_when_satisfied",
        code='bias = bias + parameters["satisfied_stay"] * state["side"] '
        '* xp.sign(state["obtained"] - parameters["satisfied_from"])',
        start=f'state["side"] = {NOTHING_YET}\nstate["obtained"] = {NOTHING_YET}',
        learn=f'state["side"] = {SIDE}\nstate["obtained"] = {CHOSEN}.mean(axis=-1)',
        parameters={
            "satisfied_stay": normal(
                1.0, 1.0, 6.0, STAY, "for staying when satisfied and leaving when not"
            ),
            "satisfied_from": uniform(0.0, 1.0, SHARE, "mean rating that satisfies"),
        },
        wording=Wording(
            clause=(
                "{much}tend to stay on a side where the product chosen last was good enough, and to "
                "leave it otherwise"
            ),
            clause_short="do the reverse",
            opposite_clause=(
                "{much}tend to leave a side where the product chosen last was good enough, and to "
                "stay otherwise"
            ),
            opposite_short="do the reverse",
            parameter="satisfied_stay",
            unit=LOG_ODDS,
            label="satisfied staying",
            opposite_label="switching",
        ),
        breaks=("sides", "deterministic"),
        needs=("sides",),
        source="Nowak & Sigmund (1993), Nature 364, 56-58.",
    ),
    _history(
        name="similar_to_last",
        code='far = xp.abs(ratings - state["chosen"][..., None, :]).mean(axis=-1)\n'
        'bias = bias + parameters["same_again"] * (far[..., 0] - far[..., 1])',
        start=f'state["chosen"] = 0.5 + {NO_CUES_YET}',
        learn=f'state["chosen"] = {CHOSEN}',
        parameters={
            "same_again": normal(
                0.0, 3.0, 20.0, "log odds per scale", "for the more similar product"
            )
        },
        wording=Wording(
            clause="{much}tend to choose the product that resembles the one they chose last",
            opposite_clause="{much}tend to avoid the product that resembles the one they chose last",
            parameter="same_again",
            unit=LOG_ODDS,
            label="repetition",
            opposite_label="variety seeking",
        ),
        breaks=("rating", "lead", "less_valid_rating", "dominance", "cue_order", "deterministic"),
        source="Gilboa & Schmeidler (1995), Quarterly Journal of Economics 110(3), 605-639.",
    ),
    _history_of_count(
        name="take_turns",
        code='weight = weight * xp.where(state["n_seen"] % 2 == 1, parameters["second_turn"], 1.0)[..., None]',
        parameters={
            "second_turn": uniform(
                -2.0, 2.0, "ratio", "weight in every second trial; below 0 reasons count against"
            )
        },
        wording=Wording(
            clause="follow the reasons more in every second trial (by a factor of {second_turn})",
            opposite_clause="follow the reasons less, or go against them, in every second trial "
            "(by a factor of {second_turn})",
            parameter="second_turn",
            neutral=1.0,
            label="turn taking",
            opposite_label="turn taking",
            overrides=True,
        ),
        breaks=("rating", "dominance", "validity"),
        source=OTTO,
    ),
    _history_of_count(
        name="cues_in_turn",
        clause="use a different cue in every trial, in the order of rank",
        code='weight = weight * (rank == (state["n_seen"] % validities.shape[-1])[..., None])',
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
        source=OTTO,
    ),
    _history_of_count(
        name="later_best_cue",
        code='weight = weight * ((rank == 0) | (state["n_seen"] < parameters["full_effort"])[..., None])',
        parameters={"full_effort": log_uniform(1.0, 200.0, "trials", "before people simplify")},
        wording=Wording(
            clause=(
                "weigh up all cues at first, and use only the best one after about {full_effort+} trials"
            ),
            label="later simplifying",
        ),
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
        source="Broder & Schiffer (2006), JEP: LMC 32(4), 904-918.",
    ),
)
