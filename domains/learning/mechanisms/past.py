"""Mechanisms of learning that look further back than the last pick, at picks and outcomes one by one.

They add to the slots of `domains.learning.theories`, and use the variables that are set there.
"""

from __future__ import annotations

from lakatos.domains.kit.parameter import LOG_ODDS, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

N_OUTCOMES = 6
"""Outcomes of an option that can be remembered."""
N_PICKS = 3
"""Picks ago that can matter by themselves."""
LAGS = tuple(range(1, N_PICKS + 1))
AGO = {1: "last", 2: "two trials ago", 3: "three trials ago"}
TABLE = "xp.zeros((1, 1, trials['states'].shape[-1], trials['available'].shape[-1]))"
"""Code of a table with nothing in each state, for each option."""
FEW_LAST = Mechanism(
    slot="rate",
    name="few last outcomes",
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
    parameters={
        "window": uniform(
            1.0, float(N_OUTCOMES), "outcomes", "how many outcomes of an option are remembered"
        )
    },
    wording=Wording(
        clause="remember the last few outcomes of each option (about {window}), and weight these equally"
    ),
    source="Erev & Barron (2005), Psychological Review 112(4), 912-931; Plonsky, Teodorescu & Erev (2015).",
)


def _run(
    *,
    name: str,
    what: tuple[str, str],
    counted: str,
    unit: str,
    names: tuple[str, str, str],
    label: str,
    source: str,
    breaks: tuple[str, ...] = ("last_reward", "last_choice"),
) -> Mechanism:
    """Staying with an option until something has happened on it so many times in a row.

    Args:
        name, source, breaks: Name, source and broken predictions of the mechanism.
        what: An option on which it has not happened, and on which it has: words after "an option that".
        counted: Truth value that a pick counts, from ``reward``; the others end the run, as does another pick.
        unit: What is counted.
        names: Names of the parameters: the number, the pull until then, and the push away then.
        label: Label for the theory's name, where people leave an option then.
    """
    most, pull, push = names
    times = f"[{{{most}#}}|a number of times in a row]"
    stay = Wording(
        clause=f"{{much}}tend to stay with an option that {what[0]} {times}",
        clause_short="to stay with it",
        opposite_clause=f"{{much}}tend to leave an option that {what[0]} {times}",
        opposite_short="to leave it",
        parameter=pull,
        unit=LOG_ODDS,
        label="staying",
        opposite_label="change",
    )
    leave = Wording(
        clause=f"{{much}}tend to leave an option that {what[1]} {times}",
        clause_short="to leave it",
        opposite_clause=f"{{much}}tend to stay with an option that {what[1]} {times}",
        opposite_short="to stay with it",
        parameter=push,
        unit=LOG_ODDS,
        label=label,
        opposite_label="persistence",
    )
    return Mechanism(
        slot="habit",
        name=name,
        code=f'before = (at(here, state["{name}"]) < parameters["{most}"][..., None]) * 1.0\n'
        f'pull = parameters["{pull}"][..., None] * before - parameters["{push}"][..., None] * (1 - before)\n'
        f'habit = habit + at(here, state["{name}, held"]) * pull',
        start=f'state["{name}, held"] = {TABLE}\nstate["{name}"] = {TABLE}',
        learn=f"counts = ({counted}) * 1.0 * paid\n"
        f'run = picked * ((state["{name}"] + 1.0) * counts[..., None, None])\n'
        f'state["{name}"] = run + (1 - here)[..., None] * state["{name}"]\n'
        f'state["{name}, held"] = picked + (1 - here)[..., None] * state["{name}, held"]',
        parameters={
            most: uniform(0.5, 5.5, unit, f"{unit} in a row after which an option is left"),
            pull: normal(0.0, 2.0, 10.0, "log odds", "pull of the last pick until then"),
            push: normal(0.0, 2.0, 10.0, "log odds", "push away from it then"),
        },
        wording=(stay, leave),
        repairs=("last_choice",),
        breaks=breaks,
        source=source,
    )


RUNS = (
    _run(
        name="giving up",
        what=("has not yet failed", "has failed"),
        names=("patience", "loyalty", "giving_up"),
        counted="reward <= 0",
        unit="failures",
        label="giving up",
        source="Lima (1984), Ecology 65(1), 166-174 (giving up after a run of failures); Charnov (1976).",
    ),
    _run(
        name="cashing in",
        what=("has not yet paid", "has paid"),
        names=("streak", "streak_loyalty", "streak_end"),
        counted="reward > 0",
        unit="successes",
        label="cashing in",
        source="Croson & Sundali (2005), Journal of Risk and Uncertainty 30(3), 195-209 (gambler's fallacy after "
        "streaks).",
    ),
    _run(
        name="growing tired",
        what=("they have not yet chosen", "they have chosen"),
        names=("stamina", "stamina_loyalty", "weariness"),
        counted="reward == reward",
        unit="picks",
        label="weariness",
        breaks=("last_choice",),
        source="McAlister (1982), Journal of Consumer Research 9(2), 141-150 (satiation and variety seeking).",
    ),
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
    return (
        f'past = (here[..., None, None] * state["{name}"]).sum(axis=-3)\n'
        + f"habit = habit + {' + '.join(terms)}"
    )


def _ago(lag: int) -> str:
    return "the last pick" if lag == 1 else f"the pick {lag} ago"


LAST_PICKS = Mechanism(
    slot="habit",
    name="last picks",
    clause="repeat or avoid their last three choices, with a separate weight for each lag",
    code=_pull("picks", "pull"),
    start=f'state["picks"] = {TABLE}[..., None] + xp.zeros({N_PICKS})',
    learn=_kept("picks", "picked"),
    parameters={
        f"pull_{lag}": normal(0.0, 1.5, 8.0, "log odds", f"pull of {_ago(lag)}") for lag in LAGS
    },
    wording=tuple(
        Wording(
            clause=f"are {{much}}drawn to the option that they chose {AGO[lag]}",
            opposite_clause=f"are {{much}}driven away from the option that they chose {AGO[lag]}",
            parameter=f"pull_{lag}",
            unit=LOG_ODDS,
            label="repetition",
            opposite_label="alternation",
        )
        for lag in LAGS
    ),
    repairs=("last_choice",),
    breaks=("last_choice",),
    source="Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579.",
)
LAST_OUTCOMES = Mechanism(
    slot="habit",
    name="last outcomes",
    clause=(
        "prefer options that were rewarded, and avoid those that were not, one, two and three trials ago, "
        "with a separate weight for each lag"
    ),
    code=_pull("results", "result"),
    start=f'state["results"] = {TABLE}[..., None] + xp.zeros({N_PICKS})',
    learn=_kept("results", "picked * (xp.where(reward > 0, 1.0, -1.0) * paid)[..., None, None]"),
    parameters={
        f"result_{lag}": normal(0.0, 1.5, 8.0, "log odds", f"pull of {_ago(lag)} if it paid")
        for lag in LAGS
    },
    wording=tuple(
        Wording(
            clause=f"{{much}}prefer the option that was rewarded {AGO[lag]}, and avoid one that was not",
            clause_short="do the reverse",
            opposite_clause=f"{{much}}avoid the option that was rewarded {AGO[lag]}, and prefer one that was not",
            opposite_short="do the reverse",
            parameter=f"result_{lag}",
            unit=LOG_ODDS,
            label="last outcomes",
            opposite_label="reversed outcomes",
        )
        for lag in LAGS
    ),
    repairs=("last_choice",),
    breaks=("last_reward", "last_choice"),
    source="Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579.",
)
MEMORIES = [
    f"{last}_{place}_{before}"
    for last in ("lost", "won")
    for place in ("other", "same")
    for before in ("lost", "won")
]


def _meaning(memory: str) -> str:
    last, place, before = memory.split("_")
    return f"pull of a pick that {last}, after the {place} option {before}"


def _remembered(memory: str) -> Wording:
    """Make the wording of what a pull after a certain course of the last two picks does."""
    last, place, before = memory.split("_")
    now, then = ("a rewarded" if what == "won" else "an unrewarded" for what in (last, before))
    course = f"{now} choice that followed {then} one of the {place} option"
    return Wording(
        clause=f"{{much}}tend to repeat {course}",
        clause_short="to repeat it",
        opposite_clause=f"{{much}}tend to switch after {course}",
        opposite_short="to switch",
        parameter=memory,
        unit=LOG_ODDS,
        label="two-step memory",
        opposite_label="two-step memory",
    )


LAST_TWO = Mechanism(
    slot="habit",
    name="memory of two",
    clause=(
        "stay or leave depending on the outcomes of their last two choices, and on whether "
        "these were the same option"
    ),
    code='after = (here[..., None] * state["memory"]).sum(axis=-2)\n'
    + "pull = "
    + " + ".join(
        f'parameters["{memory}"] * after[..., {place}]' for place, memory in enumerate(MEMORIES)
    )
    + '\nhabit = habit + at(here, state["remembered"]) * pull[..., None]',
    start=f'state["memory"] = xp.zeros((1, 1, trials["states"].shape[-1], {len(MEMORIES)}))\n'
    f'state["remembered"] = {TABLE}',
    learn=f"""
after = (here[..., None] * state["memory"]).sum(axis=-2)
won_before = after[..., {len(MEMORIES) // 2}:].sum(axis=-1)
same = (picked * state["remembered"]).sum(axis=(-2, -1))
number = 4.0 * (reward > 0) + 2.0 * same + won_before
now = (number[..., None] == xp.arange({len(MEMORIES)})) * 1.0
state["memory"] = here[..., None] * now[..., None, :] + (1 - here)[..., None] * state["memory"]
state["remembered"] = picked + (1 - here)[..., None] * state["remembered"]
""",
    parameters={
        memory: normal(0.0, 2.0, 10.0, "log odds", _meaning(memory)) for memory in MEMORIES
    },
    wording=tuple(map(_remembered, MEMORIES)),
    repairs=("last_choice",),
    breaks=("last_reward", "last_choice"),
    source="Hauert & Schuster (1997), Proceedings of the Royal Society B 264, 513-519; Hilbe et al. (2017), PNAS.",
)
RATES = (FEW_LAST,)
HABITS = (*RUNS, LAST_PICKS, LAST_OUTCOMES, LAST_TWO)
