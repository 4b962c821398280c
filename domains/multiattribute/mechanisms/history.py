"""How people's own earlier choices, and what they saw, bear on the next one. Changes ``weight`` or ``bias``.

``state`` holds arrays ``(n_draws or 1, n_sequences or 1)``, or with a last axis over the cues as shown.
"""

from __future__ import annotations

from functools import partial

from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.multiattribute.mechanisms.shared import SHARE
from lakatos.domains.multiattribute.mechanisms.weight import CENTRED_RANK
from lakatos.theories.language.grammar import Mechanism

SIDE = "(response[..., 1] - response[..., 0])"
RATINGS = 'trials["ratings"] / trials["rating_max"][:, None, None]'
CHOSEN = f"(response[..., None] * ({RATINGS})).sum(axis=-2)"
NOTHING_YET = "xp.zeros((1, 1))"
NO_CUES_YET = 'xp.zeros((1, 1, trials["validities"].shape[-1]))'
STAY = "log odds"
OTTO = "Rieskamp & Otto (2006), JEP: General 135(2), 207-236."

_history = partial(Mechanism, "history")
_history_of_side = partial(
    _history, start=f'state["side"] = {NOTHING_YET}', learn=f'state["side"] = {SIDE}'
)
_history_of_count = partial(
    _history,
    start=f'state["n_seen"] = {NOTHING_YET}',
    learn='state["n_seen"] = state["n_seen"] + 1',
)

HISTORY = (
    _history_of_side(
        "perseveration",
        "tend to the side that they chose last, or away from it",
        'bias = bias + parameters["stickiness"] * state["side"]',
        {
            "stickiness": normal(
                0.0, 1.0, 6.0, STAY, "for the side chosen last; below 0 people alternate"
            )
        },
        citation="Fruend, Wichmann & Macke (2014), Journal of Vision 14(7), 9.",
        breaks=("sides", "deterministic"),
    ),
    _history(
        "habit",
        "tend to the side that they have chosen more often lately, or away from it",
        'bias = bias + parameters["habit_strength"] * state["habit"]',
        {
            "habit_strength": normal(
                0.0, 1.5, 8.0, STAY, "for a side always chosen lately; below 0 people avoid it"
            ),
            "habit_rate": uniform(
                0.02, 1.0, "share per choice", "how fast a habit forms and fades"
            ),
        },
        citation="Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579.",
        start=f'state["habit"] = {NOTHING_YET}',
        learn=f'state["habit"] = state["habit"] + parameters["habit_rate"] * ({SIDE} - state["habit"])',
        breaks=("sides", "deterministic"),
    ),
    _history(
        "streak",
        "leave, or hold on to, a side that they have chosen a number of times in a row",
        'tired = xp.sign(state["run"]) * (xp.abs(state["run"]) >= parameters["longest_run"])\n'
        'bias = bias - parameters["switching"] * tired',
        {
            "switching": normal(
                1.0, 2.0, 8.0, STAY, "against the side; below 0 people hold on to it"
            ),
            "longest_run": uniform(
                1.0, 8.0, "choices", "of one side in a row after which it begins"
            ),
        },
        citation="Rapoport & Budescu (1997), Psychological Review 104(3), 603-617.",
        start=f'state["run"] = {NOTHING_YET}',
        learn=f'state["run"] = {SIDE} + xp.where(state["run"] * {SIDE} > 0, state["run"], 0.0)',
        breaks=("sides", "deterministic"),
    ),
    _history(
        "two_back",
        "tend to the side that they chose two trials ago, or away from it",
        'bias = bias + parameters["two_back"] * state["side_before"]',
        {
            "two_back": normal(
                0.0, 1.0, 6.0, STAY, "for the side chosen two trials ago; below 0 people avoid it"
            )
        },
        citation="Treisman & Williams (1984), Psychological Review 91(1), 68-111.",
        start=f'state["side_last"] = {NOTHING_YET}\nstate["side_before"] = {NOTHING_YET}',
        learn=f'state["side_before"] = state["side_last"]\nstate["side_last"] = {SIDE}',
        breaks=("sides", "deterministic"),
    ),
    _history(
        "rebellion",
        "take all reasons to say the opposite after a number of choices of one side in a row",
        'against = xp.abs(state["same_side"]) >= parameters["patience"]\n'
        "weight = xp.where(against[..., None], -weight, weight)",
        {"patience": uniform(1.0, 8.0, "choices", "of one side in a row after which they do so")},
        citation="Rapoport & Budescu (1997), Psychological Review 104(3), 603-617.",
        start=f'state["same_side"] = {NOTHING_YET}',
        learn=f'state["same_side"] = {SIDE} + xp.where(state["same_side"] * {SIDE} > 0, state["same_side"], 0.0)',
        breaks=("rating", "dominance", "validity"),
    ),
    _history_of_side(
        "side_focus",
        "look more at the best cues after choosing one side, and more at the others after choosing the other",
        f'tilt = (parameters["side_focus"] * state["side"])[..., None] * {CENTRED_RANK}\n'
        "weight = weight * xp.exp(tilt)",
        {
            "side_focus": normal(
                0.0, 5.0, 20.0, "log ratio", "how steeply weights fall with rank after choosing B"
            )
        },
        citation=OTTO,
        breaks=("cue_order", "validity", "validity_order"),
    ),
    _history_of_count(
        "side_drift",
        "come to lean to one side as trials go by",
        'bias = bias + parameters["side_drift"] * state["n_seen"] / 50',
        {"side_drift": normal(0.0, 1.0, 6.0, "log odds per 50 trials", "towards product B")},
        citation="Danziger, Levav & Avnaim-Pesso (2011), PNAS 108(17), 6889-6892.",
        breaks=("cue_order", "validity", "validity_order"),
    ),
    _history_of_count(
        "fatigue",
        "care less about the cues as trials go by, or more",
        'weight = weight * xp.exp(-parameters["fatigue"] * state["n_seen"] / 50)[..., None]',
        {
            "fatigue": normal(
                0.0, 0.5, 3.0, "per 50 trials", "log ratio by which reasons lose weight"
            )
        },
        citation="Hockey (2013), The Psychology of Fatigue.",
    ),
    _history(
        "carry_over",
        "carry the evidence of the trial before over to this one, or contrast this one with it",
        'bias = bias + parameters["carry_over"] * state["before"]',
        {
            "carry_over": normal(
                0.0, 2.0, 10.0, "log odds per weighted difference", "below 0 for contrast"
            )
        },
        citation="Treisman & Williams (1984), Psychological Review 91(1), 68-111.",
        start=f'state["before"] = {NOTHING_YET}',
        learn=f"shown = {RATINGS}\n"
        'state["before"] = (trials["validities"] * (shown[:, 1] - shown[:, 0])).sum(axis=-1)[None, :]',
        breaks=("sides", "deterministic"),
    ),
    _history(
        "supporting_cues",
        "look more at the cues that spoke for the product chosen last, or less",
        'weight = weight * xp.exp(parameters["confirmation"][..., None] * state["supported"])',
        {
            "confirmation": normal(
                0.0, 1.0, 4.0, "log ratio", "attention to a cue that supported the last choice"
            )
        },
        citation="Russo, Medvec & Meloy (1996), Organizational Behavior and Human Decision Processes 66(1), 102-110.",
        start=f'state["supported"] = {NO_CUES_YET}',
        learn=f'shown = {RATINGS}\nstate["supported"] = xp.sign(shown[:, 1] - shown[:, 0]) * {SIDE}[..., None]',
        breaks=("cue_order", "validity", "validity_order"),
    ),
    _history(
        "stay_when_satisfied",
        "stay on a side where the product chosen last was good enough, and leave it otherwise",
        'bias = bias + parameters["satisfied_stay"] * state["side"] '
        '* xp.sign(state["obtained"] - parameters["satisfied_from"])',
        {
            "satisfied_stay": normal(
                1.0, 1.0, 6.0, STAY, "for staying when satisfied and leaving when not"
            ),
            "satisfied_from": uniform(0.0, 1.0, SHARE, "mean rating that satisfies"),
        },
        citation="Nowak & Sigmund (1993), Nature 364, 56-58.",
        start=f'state["side"] = {NOTHING_YET}\nstate["obtained"] = {NOTHING_YET}',
        learn=f'state["side"] = {SIDE}\nstate["obtained"] = {CHOSEN}.mean(axis=-1)',
        breaks=("sides", "deterministic"),
    ),
    _history(
        "similar_to_last",
        "tend to the product that resembles the one they chose last, or to the other",
        'far = xp.abs(ratings - state["chosen"][..., None, :]).mean(axis=-1)\n'
        'bias = bias + parameters["same_again"] * (far[..., 0] - far[..., 1])',
        {
            "same_again": normal(
                0.0, 3.0, 20.0, "log odds per scale", "for the more similar product"
            )
        },
        citation="Gilboa & Schmeidler (1995), Quarterly Journal of Economics 110(3), 605-639.",
        start=f'state["chosen"] = 0.5 + {NO_CUES_YET}',
        learn=f'state["chosen"] = {CHOSEN}',
        breaks=("rating", "lead", "less_valid_rating", "dominance", "cue_order", "deterministic"),
    ),
    _history_of_count(
        "take_turns",
        "decide every second trial with another weight on all reasons, even against them",
        'weight = weight * xp.where(state["n_seen"] % 2 == 1, parameters["second_turn"], 1.0)[..., None]',
        {
            "second_turn": uniform(
                -2.0, 2.0, "ratio", "weight in every second trial; below 0 reasons count against"
            )
        },
        citation=OTTO,
        breaks=("rating", "dominance", "validity"),
    ),
    _history_of_count(
        "cues_in_turn",
        "look at another cue in every trial, going round by rank",
        'weight = weight * (rank == (state["n_seen"] % validities.shape[-1])[..., None])',
        citation=OTTO,
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
    ),
    _history_of_count(
        "later_best_cue",
        "weigh up all cues at first and go by the best alone after a number of trials",
        'weight = weight * ((rank == 0) | (state["n_seen"] < parameters["full_effort"])[..., None])',
        {"full_effort": log_uniform(1.0, 200.0, "trials", "before people simplify")},
        citation="Broder & Schiffer (2006), JEP: LMC 32(4), 904-918.",
        breaks=("cue_order", "less_valid_rating", "validity", "validity_order"),
    ),
)
