"""Mechanisms of learning that look further back than the last pick, at picks and outcomes one by one.

They add to the slots of `theories.families.learning`, and use the variables that are set there.
"""

from __future__ import annotations

from theories.families.parameter import normal, uniform
from theories.grammar import Mechanism

N_OUTCOMES = 6
"""Outcomes of an option that can be remembered."""
N_PICKS = 3
"""Picks ago that can matter by themselves."""
LAGS = tuple(range(1, N_PICKS + 1))
TABLE = "xp.zeros((1, 1, 3, trials['available'].shape[-1]))"
FEW_LAST = Mechanism(
    "rate",
    "few last outcomes",
    "remember of each option the last few outcomes, and weigh these alike",
    "",
    {"window": uniform(1.0, float(N_OUTCOMES), "outcomes", "how many outcomes of an option are remembered")},
    answers=("last_outcome", "times_tried"),
    citation="Erev & Barron (2005), Psychological Review 112(4), 912-931; Plonsky, Teodorescu & Erev (2015).",
    start=f'state["outcomes"] = state["value"][..., None] + xp.zeros({N_OUTCOMES})',
    learn=f"""
outcomes = state["outcomes"] + 0.0 * reward[..., None, None, None]
newest = reward[..., None, None, None] + 0.0 * outcomes[..., :1]
moved = xp.concatenate([newest, outcomes[..., :-1]], axis=-1)
state["outcomes"] = xp.where((picked * paid[..., None, None])[..., None] > 0, moved, outcomes)
counted = xp.clip(parameters["window"][..., None] - xp.arange({N_OUTCOMES}), 0.0, 1.0)
remembered = (picked[..., None] * state["outcomes"]).sum(axis=(-3, -2))
mean = (counted * remembered).sum(axis=-1) / counted.sum(axis=-1)
# one step of this rate leads from what was expected to the mean
rate = paid / parameters["window"]
surprise = (mean - (picked * state["value"]).sum(axis=(-2, -1))) * paid * parameters["window"]
""",
)
GIVING_UP = Mechanism(
    "habit",
    "giving up",
    "stay with an option until it has failed a number of times in a row, and then leave it",
    'patient = (at(here, state["failures"]) < parameters["patience"][..., None]) * 1.0\n'
    'pull = parameters["loyalty"][..., None] * patient - parameters["giving_up"][..., None] * (1 - patient)\n'
    'habit = habit + at(here, state["held"]) * pull',
    {
        "patience": uniform(0.5, 5.5, "failures", "failures in a row after which an option is left"),
        "loyalty": normal(0.0, 2.0, 10.0, "log odds", "pull of the last pick until then"),
        "giving_up": normal(0.0, 2.0, 10.0, "log odds", "push away from it then"),
    },
    answers=("last_outcome", "last_choice"),
    citation="Lima (1984), Ecology 65(1), 166-174 (giving up after a run of failures); Charnov (1976).",
    start=f'state["held"] = {TABLE}\nstate["failures"] = {TABLE}',
    learn='failed = xp.where(reward[..., None, None] > 0, 0.0, state["failures"] + 1.0) * paid[..., None, None]\n'
    'state["failures"] = picked * failed + (1 - here)[..., None] * state["failures"]\n'
    'state["held"] = picked + (1 - here)[..., None] * state["held"]',
)


def _kept(name: str, newest: str) -> str:
    """Statements that move a table of what happened one pick on, for the state that each person is in."""
    return (
        f'past = state["{name}"] + 0.0 * picked[..., None]\n'
        f"newest = ({newest})[..., None] + 0.0 * past[..., :1]\n"
        "moved = xp.concatenate([newest, past[..., :-1]], axis=-1)\n"
        f'state["{name}"] = xp.where(here[..., None, None] > 0, moved, past)'
    )


def _pull(name: str, parameter: str) -> str:
    """Statements that add the pull of each of a table's lags."""
    terms = [f'parameters["{parameter}_{lag}"][..., None] * past[..., {lag - 1}]' for lag in LAGS]
    return f'past = (here[..., None, None] * state["{name}"]).sum(axis=-3)\n' + f"habit = habit + {' + '.join(terms)}"


def _ago(lag: int) -> str:
    return "the last pick" if lag == 1 else f"the pick {lag} ago"


LAST_PICKS = Mechanism(
    "habit",
    "last picks",
    "are drawn to what they picked once, twice and three times ago, or away from it, each with a pull of its own",
    _pull("picks", "pull"),
    {f"pull_{lag}": normal(0.0, 1.5, 8.0, "log odds", f"pull of {_ago(lag)}") for lag in LAGS},
    answers=("last_choice",),
    citation="Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579.",
    start=f'state["picks"] = {TABLE}[..., None] + xp.zeros({N_PICKS})',
    learn=_kept("picks", "picked"),
)
LAST_OUTCOMES = Mechanism(
    "habit",
    "last outcomes",
    "are drawn to what paid, and away from what did not, once, twice and three times ago, each with a pull of its own",
    _pull("results", "result"),
    {f"result_{lag}": normal(0.0, 1.5, 8.0, "log odds", f"pull of {_ago(lag)} if it paid") for lag in LAGS},
    answers=("last_outcome", "last_choice"),
    citation="Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579.",
    start=f'state["results"] = {TABLE}[..., None] + xp.zeros({N_PICKS})',
    learn=_kept("results", "picked * (xp.where(reward > 0, 1.0, -1.0) * paid)[..., None, None]"),
)
RATES = (FEW_LAST,)
HABITS = (GIVING_UP, LAST_PICKS, LAST_OUTCOMES)
