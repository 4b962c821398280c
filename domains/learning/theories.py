"""Theories of learning from feedback: values that move with rewards, and what else guides the next pick.

The skeleton: people begin with an *expectation* of every option, a reward moves it at a certain *rate*, and *credit*
goes to earlier picks as well; what became of the *other* options may change, too. In the two-step task they may *plan*
with what they know of where picks lead. A *bonus* for the unknown and *habits* add to the values, a *choice* rule turns
the sum into probabilities, and some choices are *lapses*.

Values are kept for each state, or cue, and option, ``(n_draws, n_sequences, n_states, n_options)``. A new game
starts everything anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.domains.learning.mechanisms.cues import (
    FIRST_VALUES,
    GO_BIAS,
    LOSSES,
    MEMORY,
    PAVLOVIAN,
)
from lakatos.domains.learning.mechanisms.one_state import in_one_state
from lakatos.domains.learning.mechanisms.past import HABITS, RATES, TABLE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

HELPERS = '''
def current(state, parameters, trials, xp):
    """What is remembered, and nothing of earlier games."""
    fresh, new = start(parameters, trials, xp), trials["block_start"]
    return {
        name: xp.where(new.reshape(new.shape + (1,) * (value.ndim - 2)) > 0, fresh[name], value)
        for name, value in state.items()
    }


def at(here, table):
    """Rows of (..., n_states, n_options) tables for the state that each person is in."""
    return (here[..., None] * table).sum(axis=-2)


def normal_cdf(x, xp):
    x = xp.clip(x, -12.0, 12.0)
    return 0.5 * (1 + xp.tanh(0.7978846 * (x + 0.044715 * x**3)))
'''
BEFORE = """
state = current(state, parameters, trials, xp)
available = trials["available"]
here = (trials["state"][..., None] == trials["states"]) * 1.0
value = at(here, state["value"])
evidence = value
"""
BEFORE_LEARN = """
state = current(state, parameters, trials, xp)
here = (trials["state"][..., None] == trials["states"]) * 1.0
picked = here[..., None] * response[..., None, :]
reward = feedback["reward"]
# the first stage of two pays nothing; it leads on
paid = (feedback["next_state"] == 0) * 1.0
surprise = (reward - (picked * state["value"]).sum(axis=(-2, -1))) * paid
"""


def _rate(low: float, high: float, meaning: str) -> Mapping[str, Any]:
    return uniform(low, high, "share", meaning)


EXPECTATION = (
    Mechanism(
        slot="expectation",
        name="even",
        start=f'state["value"] = 0.5 * (1 - trials["has_losses"])[..., None, None] + {TABLE}',
        wording=Wording(
            clause="initially expect every option to pay half of the time, or neither gain nor loss",
            taken_for_granted=True,
        ),
        source="Rescorla & Wagner (1972), in Classical Conditioning II, 64-99; Sutton & Barto (2018).",
    ),
    Mechanism(
        slot="expectation",
        name="prior belief",
        start=f'state["value"] = parameters["first_value"][..., None, None] + {TABLE}',
        parameters={"first_value": _rate(-1.0, 2.0, "value of an option that was never tried")},
        wording=Wording(
            clause="expect a value of {first_value} from every option at first (a reward is 1)",
            label="prior beliefs",
        ),
        repairs=("steps_since_start", "position"),
        breaks=("last_choice",),
        source="Sutton & Barto (2018), Reinforcement Learning, section 2.6 (optimistic initial values).",
    ),
)
RATE = (
    Mechanism(
        slot="rate",
        name="constant",
        learn='rate = parameters["rate"]',
        parameters={"rate": _rate(0.0, 1.0, "share of a surprise that is learned")},
        wording=Wording(
            clause="update their expectations by a constant proportion of each prediction error ({rate%})"
        ),
        source="Rescorla & Wagner (1972), in Classical Conditioning II, 64-99.",
    ),
    Mechanism(
        slot="rate",
        name="two rates",
        learn='rate = xp.where(surprise > 0, parameters["rate_up"], parameters["rate_down"])',
        parameters={
            "rate_up": _rate(0.0, 1.0, "share of a good surprise that is learned"),
            "rate_down": _rate(0.0, 1.0, "share of a bad surprise that is learned"),
        },
        wording=Wording(
            clause="learn at separate rates from positive ({rate_up%} of the error) and negative "
            "prediction errors ({rate_down%})",
            label="two rates",
        ),
        source="Frank, Moustafa, Haughey, Curran & Hutchison (2007), PNAS 104(41), 16311-16316; Niv et al. (2012).",
    ),
    Mechanism(
        slot="rate",
        name="averaging",
        clause="value an option at the mean of its outcomes so far, so that each new outcome changes "
        "the value less than the one before",
        start=f'state["times"] = {TABLE}',
        learn='state["times"] = state["times"] + picked * paid[..., None, None]\n'
        'rate = 1 / (1 + (picked * state["times"]).sum(axis=(-2, -1)))',
        repairs=("steps_since_start",),
        source="Sutton & Barto (2018), Reinforcement Learning, section 2.4.",
    ),
    Mechanism(
        slot="rate",
        name="surprise-driven",
        start=f'state["attention"] = 1.0 + {TABLE}',
        learn='attention = (picked * state["attention"]).sum(axis=(-2, -1))\n'
        'rate = parameters["rate"] * attention\n'
        'change = parameters["attention_rate"] * (xp.minimum(xp.abs(surprise), 1.0) - attention) * paid\n'
        'state["attention"] = state["attention"] + picked * change[..., None, None]',
        parameters={
            "rate": _rate(0.0, 1.0, "share of a surprise that is learned when all is surprising"),
            "attention_rate": _rate(0.0, 1.0, "how fast attention follows the size of surprises"),
        },
        wording=Wording(
            clause="learn faster after large prediction errors than after small ones",
            label="surprise",
        ),
        repairs=("steps_since_start",),
        source="Pearce & Hall (1980), Psychological Review 87(6), 532-552; Li et al. (2011).",
    ),
    Mechanism(
        slot="rate",
        name="Kalman",
        clause="assume that values can change with time, and learn faster about an option, the less certain they are "
        "of its value",
        start=f'state["variance"] = parameters["first_uncertainty"][..., None, None] + {TABLE}',
        learn='variance = (picked * state["variance"]).sum(axis=(-2, -1))\n'
        "rate = variance / (variance + 1.0)\n"
        'state["variance"] = state["variance"] * (1 - picked * (rate * paid)[..., None, None])'
        ' + (parameters["drift"] * paid)[..., None, None]',
        parameters={
            "drift": log_uniform(
                0.001, 2.0, "ratio", "variance of the drift in a step, relative to that of rewards"
            ),
            "first_uncertainty": log_uniform(
                0.1, 20.0, "ratio", "variance at first, relative to that of rewards"
            ),
        },
        repairs=("steps_since_start",),
        source="Kalman (1960); Daw, O'Doherty, Dayan, Seymour & Dolan (2006), Nature 441, 876-879.",
    ),
    Mechanism(
        slot="rate",
        name="last outcome",
        clause="remember only the last outcome of each option",
        learn="rate = paid",
        source="Estes (1950), Psychological Review 57(2), 94-107; Worthy & Maddox (2014).",
    ),
    Mechanism(
        slot="rate",
        name="none",
        clause="do not update the values of the options",
        learn="rate = 0.0 * paid",
        predictions=({"property": "ignores", "in": "last_reward"},),
        source="Baseline.",
    ),
)
CREDIT = (
    Mechanism(
        slot="credit",
        name="direct",
        start="state['first'] = xp.zeros((1, 1, trials['available'].shape[-1]))",
        learn="""
# a reward at the second stage goes to the first pick in full
second = (trials["stage"] > 0) * paid
first = state["first"][..., None, :] * (trials["states"] == 0)[..., None]
gap = (reward - (first * state["value"]).sum(axis=(-2, -1))) * second
step = picked * (rate * surprise)[..., None, None] + first * (rate * gap)[..., None, None]
state["value"] = state["value"] + step
state["first"] = response * (trials["stage"] == 0)[..., None] * (1 - paid)[..., None]
""",
        source="Daw, Gershman, Seymour, Dayan & Dolan (2011), Neuron 69(6), 1204-1215.",
    ),
    Mechanism(
        slot="credit",
        name="eligibility",
        needs=("second_stage",),
        start="state['first'] = xp.zeros((1, 1, trials['available'].shape[-1]))",
        learn="""
second = (trials["stage"] > 0) * paid
first = state["first"][..., None, :] * (trials["states"] == 0)[..., None]
led = ((picked - first) * state["value"]).sum(axis=(-2, -1))
gap = (led + parameters["eligibility"] * surprise) * second
step = picked * (rate * surprise)[..., None, None] + first * (rate * gap)[..., None, None]
state["value"] = state["value"] + step
state["first"] = response * (trials["stage"] == 0)[..., None] * (1 - paid)[..., None]
""",
        parameters={
            "eligibility": _rate(
                0.0, 1.0, "share of a second-stage surprise that reaches the first pick"
            )
        },
        wording=Wording(
            clause="update the value of the first choice by that of the state reached and by part of the second "
            "prediction error (eligibility {eligibility%})",
            parameter="eligibility",
            unit=0.3,
            label="eligibility",
        ),
        repairs=("stage",),
        source="Sutton (1988), Machine Learning 3, 9-44; Daw et al. (2011), Neuron 69(6), 1204-1215.",
    ),
)
OTHERS = (
    Mechanism(
        slot="others",
        name="forgetting",
        learn="""
left = here[..., None] * (1 - response)[..., None, :]
fade = left * parameters["forgetting"][..., None, None]
state["value"] = state["value"] + fade * (start(parameters, trials, xp)["value"] - state["value"])
""",
        parameters={"forgetting": _rate(0.0, 1.0, "share of what is known that is lost in a step")},
        wording=Wording(
            clause="gradually forget the outcomes of options that they do not choose ({forgetting%} each time)",
            parameter="forgetting",
            unit=0.1,
            label="forgetting",
        ),
        repairs=("position",),
        source="Barraclough, Conroy & Lee (2004), Nature Neuroscience 7, 404-410; Ito & Doya (2009).",
    ),
    Mechanism(
        slot="others",
        name="what would have been",
        learn="""
left = here[..., None] * ((1 - response) * trials["available"])[..., None, :]
imagined = ((1 - trials["has_losses"] - reward) * paid)[..., None, None] - state["value"] * paid[..., None, None]
state["value"] = state["value"] + left * parameters["fictive_rate"][..., None, None] * imagined
""",
        parameters={
            "fictive_rate": _rate(0.0, 1.0, "share of the imagined surprise that is learned")
        },
        wording=Wording(
            clause="{much}assume that the unchosen option would have paid the opposite",
            parameter="fictive_rate",
            unit=0.1,
            label="imagined outcomes",
        ),
        breaks=("ignores last_reward",),
        source="Hampton, Bossaerts & O'Doherty (2006), Journal of Neuroscience 26(32), 8360-8367; Lohrenz (2007).",
    ),
)
AHEAD = """
chance = state["led_to"] / state["led_to"].sum(axis=-1)[..., None]
best = state["value"].max(axis=-1)[..., 1:]
ahead = (chance * best[..., None, :]).sum(axis=-1)
n_led_to = (trials["states"].shape[-1] - 1) * trials["available"].shape[-1]
first_of_two = (trials["stage"] == 0) * (state["led_to"].sum(axis=(-2, -1)) > n_led_to + 0.5)
"""
LED_TO = 'state["led_to"] = 1.0 + xp.zeros((1, 1, trials["available"].shape[-1], trials["states"].shape[-1] - 1))'
LEARN_LED_TO = (
    'to = (feedback["next_state"][..., None] == trials["states"][..., 1:]) * 1.0\n'
    'state["led_to"] = state["led_to"] + response[..., None] * to[..., None, :]'
)
PLANNING = (
    Mechanism(
        slot="planning",
        name="model-based",
        needs=("second_stage",),
        clause="value a first choice by the best option in the state to which it mostly leads (model-based)",
        code=AHEAD + "evidence = evidence + (1.0 * first_of_two)[..., None] * (ahead - value)",
        start=LED_TO,
        learn=LEARN_LED_TO,
        repairs=("stage",),
        source="Daw, Gershman, Seymour, Dayan & Dolan (2011), Neuron 69(6), 1204-1215.",
    ),
    Mechanism(
        slot="planning",
        name="hybrid",
        needs=("second_stage",),
        code=AHEAD
        + 'evidence = evidence + (parameters["planning"] * first_of_two)[..., None] * (ahead - value)',
        start=LED_TO,
        learn=LEARN_LED_TO,
        parameters={
            "planning": _rate(0.0, 1.0, "weight of planning against what first picks have paid")
        },
        wording=Wording(
            clause=(
                "value a first choice in part by the value of the best option in the state to which it mostly leads "
                "(model-based weight {planning%})"
            ),
            parameter="planning",
            unit=0.3,
            label="planning",
        ),
        repairs=("stage",),
        source="Daw, Gershman, Seymour, Dayan & Dolan (2011), Neuron 69(6), 1204-1215.",
    ),
)
TRIED = Mechanism(
    slot="bonus",
    name="for the untried",
    code='tried = at(here, state["tried"])\n'
    "total = tried.sum(axis=-1)[..., None]\n"
    'evidence = evidence + parameters["curiosity"][..., None] * xp.sqrt(xp.log(total + 1.0) / (tried + 1.0))',
    start=f'state["tried"] = {TABLE}',
    learn='state["tried"] = state["tried"] + picked',
    parameters={
        "curiosity": normal(0.0, 0.5, 3.0, "reward", "worth of an option that nothing is known of")
    },
    wording=Wording(
        clause="are {much}drawn to options that they have tried less often",
        clause_short="are drawn to them",
        opposite_clause="{much}avoid options that they have tried less often",
        opposite_short="avoid them",
        parameter="curiosity",
        unit=LOG_ODDS,
        multiplied_by="sensitivity",
        label="curiosity",
        opposite_label="caution",
    ),
    repairs=("steps_since_start",),
    breaks=("last_choice",),
    source="Auer, Cesa-Bianchi & Fischer (2002), Machine Learning 47, 235-256 (UCB1).",
)
HABIT = (
    Mechanism(
        slot="habit",
        name="perseveration",
        code='habit = habit + parameters["stickiness"][..., None] * at(here, state["last"])',
        start=f'state["last"] = {TABLE}',
        learn='state["last"] = picked + (1 - here)[..., None] * state["last"]',
        parameters={
            "stickiness": normal(
                0.0, 1.0, 6.0, "log odds", "pull of the last pick; below 0 towards change"
            )
        },
        wording=Wording(
            clause="{much}perseverate: they tend to repeat their last choice, whatever its outcome",
            clause_short="perseverate",
            opposite_clause="{much}alternate: they tend not to repeat their last choice, whatever its outcome",
            opposite_short="alternate",
            parameter="stickiness",
            unit=LOG_ODDS,
            feature="last_choice",
            label="repetition",
            opposite_label="alternation",
        ),
        repairs=("last_choice",),
        breaks=("last_choice",),
        source="Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579.",
    ),
    Mechanism(
        slot="habit",
        name="choice trace",
        code='habit = habit + parameters["habit"][..., None] * at(here, state["trace"])',
        start=f'state["trace"] = {TABLE}',
        learn='share = parameters["habit_rate"][..., None, None] * here[..., None]\n'
        'state["trace"] = state["trace"] + share * (picked - state["trace"])',
        parameters={
            "habit": normal(0.0, 2.0, 10.0, "log odds", "pull of a full habit"),
            "habit_rate": _rate(0.01, 1.0, "how fast habits follow picks"),
        },
        wording=Wording(
            clause="{much}tend to repeat choices that were frequent recently",
            opposite_clause="{much}avoid choices that were frequent recently",
            parameter="habit",
            unit=LOG_ODDS,
            feature="last_choice",
            label="habit",
            opposite_label="alternation",
        ),
        repairs=("last_choice", "position"),
        breaks=("last_choice",),
        source="Wilson & Collins (2019), eLife 8, e49547; Miller, Shenhav & Ludvig (2019).",
    ),
    Mechanism(
        slot="habit",
        name="win-stay lose-shift",
        code='habit = habit + at(here, state["outcome"])',
        start=f'state["outcome"] = {TABLE}',
        learn='won = xp.where(reward > 0, parameters["win_stay"], -parameters["lose_shift"]) * paid\n'
        'state["outcome"] = picked * won[..., None, None] + (1 - here)[..., None] * state["outcome"]',
        parameters={
            "win_stay": normal(0.0, 2.0, 10.0, "log odds", "pull of a pick that was just rewarded"),
            "lose_shift": normal(
                0.0, 2.0, 10.0, "log odds", "push away from a pick that was just not rewarded"
            ),
        },
        wording=(
            Wording(
                clause="{much}tend to repeat their last choice after a reward",
                clause_short="to repeat it",
                opposite_clause="{much}tend to switch after a reward",
                opposite_short="to switch",
                parameter="win_stay",
                unit=LOG_ODDS,
                label="win-stay",
                opposite_label="win-shift",
            ),
            Wording(
                clause="{much}tend to switch after no reward",
                clause_short="to switch",
                opposite_clause="{much}tend to repeat their last choice after no reward",
                opposite_short="to repeat it",
                parameter="lose_shift",
                unit=LOG_ODDS,
                label="lose-shift",
                opposite_label="lose-stay",
            ),
        ),
        repairs=("last_choice",),
        breaks=("last_reward", "last_choice"),
        source="Robbins (1952); Worthy & Maddox (2014), Journal of Mathematical Psychology 59, 41-49.",
    ),
)
SENSITIVITY = log_uniform(0.3, 50.0, "log odds per reward", "how strictly picks follow values")
CHOICE = (
    Mechanism(
        slot="choice",
        name="softmax",
        code='strength = parameters["sensitivity"][..., None] * evidence + habit\n'
        "strength = xp.where(available > 0, strength, -1e9)\n"
        "strength = xp.exp(strength - strength.max(axis=-1)[..., None])\n"
        "p = strength / strength.sum(axis=-1)[..., None]",
        parameters={"sensitivity": SENSITIVITY},
        wording=Wording(
            clause="choose an option more often, the higher its value",
            taken_for_granted=True,
        ),
        source="Luce (1959), Individual Choice Behavior; Daw et al. (2006), Nature 441, 876-879.",
    ),
    Mechanism(
        slot="choice",
        name="greedy",
        code="strength = xp.where(available > 0, evidence + 0.02 * habit, -1e9)\n"
        "best = (strength >= strength.max(axis=-1)[..., None] - 1e-9) * 1.0\n"
        "random = available / available.sum(axis=-1)[..., None]\n"
        'p = best / best.sum(axis=-1)[..., None] * (1 - parameters["exploration"][..., None])\n'
        'p = p + parameters["exploration"][..., None] * random',
        parameters={"exploration": _rate(0.0, 1.0, "share of picks made to try something")},
        wording=Wording(
            clause="choose the option with the highest value, but any option at random {exploration~}"
        ),
        source="Sutton & Barto (2018), Reinforcement Learning, section 2.2 (epsilon-greedy).",
    ),
    Mechanism(
        slot="choice",
        name="Thompson sampling",
        clause="choose each option with the probability that it is the best, given what they know",
        code="""
doubt = parameters["doubt"][..., None] ** 2 / (1 + at(here, state["seen"]))
score = evidence + 0.1 * habit
gap = score[..., :, None] - score[..., None, :]
ahead = normal_cdf(gap / xp.sqrt(doubt[..., :, None] + doubt[..., None, :]), xp)
strength = xp.exp(xp.log(xp.maximum(ahead, 1e-12)).sum(axis=-1)) * available
p = strength / xp.maximum(strength.sum(axis=-1), 1e-300)[..., None]
""",
        start=f'state["seen"] = {TABLE}',
        learn='state["seen"] = state["seen"] + picked',
        parameters={
            "doubt": log_uniform(
                0.02, 5.0, "reward", "uncertainty about an option that was never tried"
            )
        },
        repairs=("steps_since_start",),
        # Whatever was picked is known better.
        breaks=("last_choice",),
        source="Thompson (1933), Biometrika 25, 285-294; Gershman (2018), Cognition 173, 34-42.",
    ),
    Mechanism(
        slot="choice",
        name="guessing",
        clause="but guess",
        code="p = available / available.sum(axis=-1)[..., None] + 0.0 * evidence + 0.0 * habit",
        predictions=(
            {"property": "ignores", "in": "last_reward"},
            {"property": "ignores", "in": "last_choice"},
        ),
        source="Baseline.",
    ),
)
LEAN = Mechanism(
    slot="bias",
    name="first option",
    code="place = xp.arange(available.shape[-1]) - 0.5 * (available.shape[-1] - 1)\n"
    'habit = habit + parameters["lean"][..., None] * place',
    parameters={
        "lean": normal(
            0.0, 0.3, 2.0, "log odds per place", "preference for later options whatever they paid"
        )
    },
    wording=Wording(
        clause="{much}prefer options further to the right",
        clause_short="to the later ones",
        opposite_clause="{much}prefer options further to the left",
        opposite_short="to the earlier ones",
        parameter="lean",
        unit=LOG_ODDS,
        label="a side bias",
        opposite_label="a side bias",
    ),
    repairs=("constant",),
    needs=("sides",),
    source="Nicholls, Bradshaw & Mattingley (1999), Neuropsychologia 37(3), 307-314.",
)
LAPSE = Mechanism(
    slot="lapse",
    name="random",
    code='lapse = parameters["lapse"][..., None]\n'
    "p = (1 - lapse) * p + lapse * available / available.sum(axis=-1)[..., None]",
    parameters={"lapse": _rate(0.0, 1.0, "lapse rate")},
    wording=Wording(clause="choose at random {lapse~}"),
    repairs=("extremeness",),
    is_null=True,
    source="Zorowitz, Solis, Niv & Bennett (2023), Nature Human Behaviour.",
)

MECHANISMS = (
    *EXPECTATION, *FIRST_VALUES, LOSSES, *RATE, *RATES, *CREDIT, *OTHERS, *PLANNING, TRIED, *HABIT, *HABITS, LEAN,
    GO_BIAS, PAVLOVIAN, *CHOICE, MEMORY, LAPSE,
)  # fmt: skip
HEADS = (
    (("choice:guessing",), "Guessing"),
    (("planning:model-based",), "Model-based planning"),
    (("planning:hybrid",), "Planning and learning"),
    (("memory:working memory",), "Learning with memory"),
    (("bias:Pavlovian",), "Pavlovian learning"),
    (("rate:none", "habit:win-stay lose-shift"), "Win-stay lose-shift"),
    (("rate:none", "habit"), "Habit alone"),
    (("rate:none",), "No learning"),
    (("rate:constant", "choice:Thompson sampling"), "Thompson sampling"),
    (("rate:constant",), "Error-driven learning"),
    (("rate:two rates",), "Asymmetric learning"),
    (("rate:surprise-driven",), "Surprise-driven learning"),
    (("rate:Kalman",), "Uncertainty-driven learning"),
    (("rate:averaging",), "Averaging of rewards"),
    (("rate:last outcome",), "Last outcomes"),
    (("rate:few last outcomes",), "Few remembered outcomes"),
    ((), "Learning"),
)

GRAMMAR = Grammar(
    domain="learning",
    slots=(
        SkeletonSlot("expectation"),
        SkeletonSlot("outcome", 0, 1),
        SkeletonSlot("rate"),
        SkeletonSlot("credit"),
        SkeletonSlot("others", 0, 1),
        SkeletonSlot("planning", 0, 1, sentence=2),
        SkeletonSlot("bonus", 0, 1, sentence=2),
        SkeletonSlot("habit", 0, 2, sentence=2),
        SkeletonSlot("bias", 0, 2, sentence=3),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("memory", 0, 1, sentence=3),
        SkeletonSlot("lapse", 0, 1, sentence=3),
    ),
    mechanisms=MECHANISMS,
    heads=HEADS,
    before=BEFORE + "habit = 0.0 * value\n",
    after="return p",
    helpers=HELPERS,
    before_learn=BEFORE_LEARN,
    predictions=(
        {"property": "non_decreasing", "in": "last_reward"},
        {"property": "non_increasing", "in": "last_choice"},
    ),
    quicker=in_one_state(MECHANISMS, BEFORE + "habit = 0.0 * value\n", HELPERS, BEFORE_LEARN),
)


def _composition(
    rate: str = "constant", choice: str = "softmax", **slots: str | tuple[str, ...]
) -> Composition:
    names = {"expectation": "even", "rate": rate, "credit": "direct", "choice": choice} | slots
    return Composition.of(names)


SEEDS = {
    "rescorla_wagner": ("Rescorla-Wagner", _composition()),
    "two_rates": ("Two learning rates", _composition("two rates")),
    "forgetting": ("Learning with forgetting", _composition(others="forgetting")),
    "fictive_learning": ("Fictive learning", _composition(others="what would have been")),
    "perseveration": ("Learning with perseveration", _composition(habit="perseveration")),
    "choice_kernel": ("Choice kernel", _composition("none", habit="choice trace")),
    "averaging": ("Sample averages", _composition("averaging")),
    "pearce_hall": ("Pearce-Hall", _composition("surprise-driven")),
    "kalman": ("Kalman filter", _composition("Kalman")),
    "upper_confidence_bound": (
        "Upper confidence bound",
        _composition("averaging", bonus="for the untried"),
    ),
    "thompson_sampling": ("Thompson sampling", _composition("averaging", "Thompson sampling")),
    "epsilon_greedy": ("Epsilon-greedy", _composition("constant", "greedy")),
    "win_stay_lose_shift": (
        "Win-stay lose-shift",
        _composition("none", habit="win-stay lose-shift"),
    ),
    "model_free": ("Model-free SARSA(lambda)", _composition(credit="eligibility")),
    "model_based": ("Model-based planning", _composition(planning="model-based")),
    "hybrid": (
        "Model-based/model-free hybrid",
        _composition(credit="eligibility", planning="hybrid", habit="perseveration"),
    ),
    "pst_q": ("Q-learning of pairs", _composition(expectation="nothing")),
    "pst_gainloss_q": (
        "Q-learning from gains and losses",
        _composition("two rates", expectation="nothing"),
    ),
    "gng_noise": ("Go/no-go learning", _composition(expectation="nothing", lapse="random")),
    "gng_bias": (
        "Go/no-go learning with bias",
        _composition(expectation="nothing", lapse="random", bias="responding"),
    ),
    "gng_pavlovian": (
        "Go/no-go learning with Pavlovian bias",
        _composition(expectation="nothing", lapse="random", bias=("responding", "Pavlovian")),
    ),
    "gng_pavlovian_losses": (
        "Pavlovian bias and loss sensitivity",
        _composition(
            expectation="nothing",
            outcome="losses apart",
            lapse="random",
            bias=("responding", "Pavlovian"),
        ),
    ),
    "rlwm": (
        "Learning and working memory",
        _composition(expectation="chance", memory="working memory", lapse="random"),
    ),
    "random": ("Guessing", _composition("none", "guessing")),
}
FAMILY = Family("learning", GRAMMAR, SEEDS)
