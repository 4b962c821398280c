"""What of the past a rule of learning may look at: memories that are kept, and scores of options made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from textwrap import indent
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Trials
from lakatos.theories.induction.expression import normalized
from lakatos.theories.induction.option_score import OptionScore
from lakatos.theories.induction.terms import ChoiceTerm, TermTable

Array = NDArray[Any]
SMALLEST = 1e-4


@dataclass(frozen=True)
class KeptMemory:
    """What is remembered, for every option or for the game as a whole."""

    name: str
    renewed: str
    is_option: bool = True
    start: float = 0.0


def _kept() -> Iterator[KeptMemory]:
    chosen = "response > 0"
    yield KeptMemory("last", "response + 0.0 * state['last']")
    yield KeptMemory("before", "state['last'] + 0.0 * response")
    yield KeptMemory("streak", "(state['streak'] + 1.0) * response")
    yield KeptMemory("tried", "state['tried'] + response")
    yield KeptMemory("since", "(state['since'] + 1.0) * (1.0 - response)")
    yield KeptMemory("wins", "state['wins'] + response * won")
    yield KeptMemory("earned", "state['earned'] + response * reward")
    yield KeptMemory(
        "losing", f"xp.where({chosen}, (state['losing'] + 1.0) * (1.0 - won), state['losing'])"
    )
    yield KeptMemory(
        "winning", f"xp.where({chosen}, (state['winning'] + 1.0) * won, state['winning'])"
    )
    yield KeptMemory("visit_wins", "(state['visit_wins'] * state['last'] + won) * response")
    left = "state['last'] * (1.0 - response) > 0"
    for name, visit in (("past_visit_wins", "visit_wins"), ("past_visit_tries", "streak")):
        yield KeptMemory(name, f"xp.where({left}, state['{visit}'], state['{name}'])")
    yield KeptMemory("newest", f"xp.where({chosen}, reward, state['newest'])")
    yield KeptMemory(
        "second_newest", f"xp.where({chosen}, state['newest'], state['second_newest'])"
    )
    yield KeptMemory(
        "third_newest", f"xp.where({chosen}, state['second_newest'], state['third_newest'])"
    )
    yield KeptMemory(
        "best", f"xp.where({chosen}, xp.maximum(state['best'], reward), state['best'])"
    )
    for rate in (0.1, 0.2, 0.35, 0.5, 0.7):
        name = f"value_{100 * rate:.0f}"
        moved = f"state['{name}'] + {rate:g} * (reward - state['{name}'])"
        yield KeptMemory(name, f"xp.where({chosen}, {moved}, state['{name}'])", start=0.5)
    for rate in (0.1, 0.3, 0.5):
        name = f"fading_{100 * rate:.0f}"
        yield KeptMemory(
            name, f"state['{name}'] + {rate:g} * (response * reward - state['{name}'])"
        )
        name = f"habit_{100 * rate:.0f}"
        yield KeptMemory(name, f"state['{name}'] + {rate:g} * (response - state['{name}'])")
    yield KeptMemory("steps", "state['steps'] + 1.0 + 0.0 * reward[..., 0]", is_option=False)
    yield KeptMemory("won_last", "won[..., 0]", is_option=False)
    yield KeptMemory("won_before", "state['won_last'] + 0.0 * won[..., 0]", is_option=False)
    yield KeptMemory(
        "in_a_row_lost", "(state['in_a_row_lost'] + 1.0) * (1.0 - won[..., 0])", is_option=False
    )
    yield KeptMemory("in_a_row_won", "(state['in_a_row_won'] + 1.0) * won[..., 0]", is_option=False)
    yield KeptMemory("switched", "1.0 - (response * state['last']).sum(axis=-1)", is_option=False)
    changed = "(state['last'] * (1.0 - response)).sum(axis=-1)"
    yield KeptMemory("changed", changed, is_option=False)
    for name, act in (("staying", f"1.0 - {changed}"), ("leaving", changed)):
        moved = f"state['{name}_value'] + 0.3 * ({act}) * (reward[..., 0] - state['{name}_value'])"
        yield KeptMemory(f"{name}_value", moved, is_option=False, start=0.5)
        yield KeptMemory(
            f"{name}_paid",
            f"xp.where({act} > 0, reward[..., 0], state['{name}_paid'])",
            is_option=False,
        )
    yield KeptMemory(
        "switches",
        "state['switches'] + 1.0 - (response * state['last']).sum(axis=-1)",
        is_option=False,
    )


KEPT = {item.name: item for item in _kept()}
HEAD = '''
def current(state, parameters, trials, xp):
    """What is remembered, and nothing of earlier games."""
    fresh, new = start(parameters, trials, xp), trials["block_start"] > 0
    return {
        name: xp.where(new.reshape(new.shape + (1,) * (value.ndim - 2)), fresh[name], value)
        for name, value in state.items()
    }
'''
BEST = '''
def best_of(score, allowed, xp):
    """The options with the largest score."""
    return allowed * (score >= xp.where(allowed > 0, score, -1e9).max(axis=-1)[..., None] - 1e-9)
'''
EVENLY = """
def evenly(allowed):
    return allowed / allowed.sum(axis=-1)[..., None]
"""
FOLLOW = '''
def follow(within, best, consistency, allowed, xp):
    """Choose among the best options with one probability, and else among the others."""
    others = allowed - best
    number = others.sum(axis=-1)[..., None]
    return xp.where(number > 0, consistency * within + (1 - consistency) * others / xp.maximum(number, 1.0), within)
'''
LEARN = 'reward = feedback["reward"][..., None]\nwon = 1.0 * (reward > 0)'


def _scores() -> Iterator[OptionScore]:
    """Numbers of every option, ``(n_draws, n_sequences, n_options)``; the last one means the one chosen last."""
    s = {name: f"state['{name}']" for name in KEPT}
    yield OptionScore(s["last"], "having been chosen last", 0.5)
    yield OptionScore(s["before"], "having been chosen the time before the last", 1.5)
    yield OptionScore(s["streak"], "number of choices in a row", 1.5)
    yield OptionScore(s["tried"], "number of tries", 1)
    yield OptionScore(s["since"], "time since the last try", 1.5)
    yield OptionScore(s["wins"], "number of wins", 1)
    yield OptionScore(s["earned"], "total earned", 1)
    yield OptionScore(f"({s['tried']} - {s['wins']})", "number of losses", 1)
    yield OptionScore(f"{s['earned']} / xp.maximum({s['tried']}, 1.0)", "mean outcome", 1)
    yield OptionScore(
        f"({s['wins']} + 1.0) / ({s['tried']} + 2.0)", "mean outcome, half at first", 1
    )
    yield OptionScore(
        f"xp.where({s['tried']} > 0, {s['earned']} / xp.maximum({s['tried']}, 1.0), 1.0)",
        "mean outcome, one if untried",
        2,
    )
    yield OptionScore(f"(2.0 * {s['wins']} - {s['tried']})", "wins less losses", 1.5)
    yield OptionScore(s["newest"], "last outcome", 1)
    yield OptionScore(
        f"xp.where({s['tried']} > 0, {s['newest']}, 0.5)", "last outcome, half if untried", 1.5
    )
    yield OptionScore(
        f"xp.where({s['tried']} > 0, {s['newest']}, 1.0)", "last outcome, one if untried", 2
    )
    yield OptionScore(
        f"({s['newest']} + {s['second_newest']})", "total of the last two outcomes", 1.5
    )
    yield OptionScore(
        f"({s['newest']} + {s['second_newest']} + {s['third_newest']})",
        "total of the last three outcomes",
        2,
    )
    yield OptionScore(s["losing"], "number of losses in a row", 1)
    yield OptionScore(s["winning"], "number of wins in a row", 1.5)
    yield OptionScore(s["visit_wins"], "number of wins since it was turned to", 2)
    yield OptionScore(
        f"({s['streak']} - {s['visit_wins']})", "number of losses since it was turned to", 2
    )
    yield OptionScore(
        f"{s['visit_wins']} / xp.maximum({s['streak']}, 1.0)",
        "share of wins since it was turned to",
        2.5,
    )
    yield OptionScore(
        f"(2.0 * {s['visit_wins']} - {s['streak']})", "wins less losses since it was turned to", 2.5
    )
    yield OptionScore(s["past_visit_wins"], "number of wins of the visit before", 2)
    yield OptionScore(s["past_visit_tries"], "length of the visit before", 2)
    yield OptionScore(s["best"], "best outcome so far", 2)
    for name in KEPT:
        kind, _, rate = name.rpartition("_")
        if kind in ("value", "fading", "habit") and rate.isdigit():
            words = {
                "value": f"value that moves by {rate}% of each surprise",
                "fading": f"trace of what it earned that fades by {rate}% a step",
                "habit": f"trace of choices that fades by {rate}% a step",
            }[kind]
            yield OptionScore(s[name], words, 2)
    yield OptionScore(
        "(2.0 * state['won_last'][..., None] - 1.0) * state['last']",
        "having won last, or not lost",
        0.7,
    )
    yield OptionScore("state['won_last'][..., None] * state['last']", "having won last", 1.2)
    yield OptionScore(
        "(state['won_last'][..., None] - 1.0) * state['last']", "not having lost last", 1.2
    )
    for name, words in (
        ("winning", "wins in a row"),
        ("losing", "losses in a row"),
        ("wins", "wins"),
        ("tried", "tries"),
        ("streak", "choices in a row"),
    ):
        yield OptionScore(f"{s[name]} % 2", f"oddness of the number of {words}", 3.5)
    for name, words in (
        ("paid", "outcome the last time"),
        ("value", "value that moves by 30% of each surprise"),
    ):
        better = f"(state['staying_{name}'] - state['leaving_{name}'])[..., None] * state['last']"
        yield OptionScore(
            better, f"merit of doing with it what has the better {words}, staying or leaving", 3.5
        )
    for name, words in (
        ("tried", "tries"),
        ("streak", "choices in a row"),
        ("losing", "losses in a row"),
        ("winning", "wins in a row"),
        ("since", "steps since the last try"),
    ):
        for level in (1, 2, 3, 4, 5):
            yield OptionScore(f"1.0 * ({s[name]} >= {level})", f"at least {level} {words}", 3.5)


def _games() -> Iterator[tuple[str, str, float, Sequence[float]]]:
    """Numbers of the game, ``(n_draws, n_sequences)``: code, words with ``{cut}``, price and thresholds."""
    few = (0.5, 1.5, 2.5, 3.5, 4.5, 5.5)
    yield "state['won_last']", "the last choice won", 0.5, (0.5,)
    yield "state['won_before']", "the choice before the last won", 1, (0.5,)
    yield "state['in_a_row_lost']", "more than {cut} choices in a row have lost", 1, few
    yield "state['in_a_row_won']", "more than {cut} choices in a row have won", 1, few
    yield "state['switched']", "the last choice was a change", 1, (0.5,)
    yield "state['switches']", "there were more than {cut} changes so far", 3, few
    yield (
        "state['steps']",
        "more than {cut} steps have gone by",
        2,
        (0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 7.5, 9.5, 14.5, 19.5, 29.5, 39.5),
    )
    events = (
        ("won_last", "the last choice won"),
        ("won_before", "the choice before the last won"),
        ("changed", "the last choice was a change from another"),
    )
    for (one, first), (other, second) in combinations(events, 2):
        yield (
            f"xp.abs(state['{one}'] - state['{other}'])",
            f"just one is so: {first}; {second}",
            2,
            (0.5,),
        )
    again = "state['tried'] > state['streak']"
    for name, words in (
        ("past_visit_wins", "the visit before had wins"),
        ("past_visit_tries", "the visit before"),
    ):
        for none in (0, 1):
            before = f"xp.where({again}, state['{name}'], {none:.1f})"
            words_none = f", counting {none} where there was none"
            yield (
                f"(state['last'] * (state['streak'] - {before})).sum(axis=-1)",
                f"one has stayed longer by more than {{cut}} than {words}{words_none}",
                2.5,
                (-1.5, -0.5, 0.5, 1.5, 2.5),
            )
    for period in (2, 3, 4, 5):
        yield (
            f"state['steps'] % {period}",
            f"the step's number divided by {period} leaves more than {{cut}}",
            3,
            tuple(k + 0.5 for k in range(period - 1)),
        )


@dataclass(frozen=True)
class RememberedAnswers:
    """People's answers with what they could remember before each."""

    person: NDArray[np.intp]
    """``(n_rows,)``."""
    response: NDArray[np.intp]
    allowed: Array
    """``(n_rows, n_options)``."""
    scores: Array
    """``(n_scores, n_rows, n_options)``."""
    gates: TermTable
    """On the rows."""

    @property
    def places(self) -> dict[str, int]:
        """Of the gates by their code."""
        return {term.code: place for place, term in enumerate(self.gates.items)}

    def at(self, rows: NDArray[np.intp]) -> RememberedAnswers:
        """The answers at some rows only."""
        gates = TermTable(self.gates.items, self.gates.values[:, rows])
        return RememberedAnswers(
            self.person[rows], self.response[rows], self.allowed[rows], self.scores[:, rows], gates
        )


@dataclass(frozen=True)
class OptionPairs:
    """Comparisons of the option chosen with each other one."""

    row: NDArray[np.intp]
    """``(n_pairs,)`` of the answers."""
    low: NDArray[np.intp]
    high: NDArray[np.intp]
    """Options; leads are those of ``high``."""
    counts: Array
    """``(n_pairs, 2)``; the comparisons of an answer weigh 1 together."""


SCORES = tuple(_scores())


def read_told(domain: Domain, trials: Sequence[Trials]) -> RememberedAnswers:
    """Walk through everybody's answers with all that can be remembered."""
    space: dict[str, Any] = {}
    entries = tuple(KEPT)
    exec(state_code(entries), space)  # text of this file; see `theories.induction.library.values`
    made = list(_game_terms())
    numbers = "\n".join(
        ["def numbers(trials, xp, state):", "    return ["]
        + [f"        {score.code}," for score in SCORES]
        + ["    ], ["]
        + [f"        {code}," for code, _ in made]
        + ["    ]"]
    )
    exec(numbers, space)
    persons, responses, allowed, scores, games = [], [], [], [], []
    n_people = 0
    for item in trials:
        own = item.sequences
        before: dict[str, Array] = {}
        state: Any = None
        for step in range(own.trial.shape[1]):
            row, there = np.maximum(own.trial[:, step], 0), own.trial[:, step] >= 0
            arrays = {name: array[row] for name, array in item.stimuli.arrays.items()}
            shown = dict(domain.shown(arrays, before))
            if state is None:
                state = space["start"]({}, shown, np)
            state = space["current"](state, {}, shown, np)
            by_option, by_game = space["numbers"](shown, np, state)
            free = shown["available"]
            scores.append(
                np.stack([np.broadcast_to(part[0], free.shape) for part in by_option])[:, there]
            )
            games.append(
                np.stack([np.broadcast_to(part[0], len(free)) for part in by_game])[:, there]
            )
            persons.append(n_people + np.flatnonzero(there))
            responses.append(own.response[there, step])
            allowed.append(free[there])
            one_hot = (own.response[:, step, None] == np.arange(free.shape[1])) * 1.0
            before = {name: column[None, :, step] for name, column in own.feedback.items()}
            state = space["learn"]({}, shown, np, state, one_hot[None], before)
        n_people += item.n_participants
    found = np.concatenate(games, axis=1)
    order = np.argsort(np.concatenate(persons), kind="stable")
    items = tuple(term for _, term in made)
    cut = np.array([float(term.code.rpartition(" > ")[2]) for term in items])
    gates = TermTable(items, (found > cut[:, None]).astype(np.float32)[:, order])
    return RememberedAnswers(
        np.concatenate(persons)[order].astype(np.intp),
        np.concatenate(responses)[order].astype(np.intp),
        np.concatenate(allowed)[order],
        np.concatenate(scores, axis=1)[:, order],
        gates,
    )


def _game_terms() -> Iterator[tuple[str, ChoiceTerm]]:
    """Code of a number and the gate that a threshold makes of it."""
    for code, words, price, cuts in _games():
        for cut in cuts:
            yield (
                code,
                ChoiceTerm(
                    f"({code}) > {cut:g}", words.format(cut=f"{cut:g}"), price + np.log(len(cuts))
                ),
            )
    counts = (0.5, 1.5, 2.5, 3.5, 4.5)
    shares = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8)
    for score in SCORES:
        if score.price > 3:
            continue
        cuts = (
            shares
            if any(word in score.words for word in ("value", "trace", "mean", "share"))
            else counts
        )
        allowed = 'xp.where(trials["available"] > 0, {}, {})'
        high, low = (
            f"{allowed.format(score.code, edge)}.{how}(axis=-1)"
            for how, edge in (("max", -1e9), ("min", 1e9))
        )
        for code, words, price in (
            (f"({high} - {low})", f"options differ in the {score.words} by more than {{cut}}", 2.0),
            (high, f"some option's {score.words} is above {{cut}}", 2.5),
            (low, f"every option's {score.words} is above {{cut}}", 2.5),
            (
                f"(({score.code}) * state['last']).sum(axis=-1)",
                f"the {score.words} of the one chosen last is above {{cut}}",
                1.5,
            ),
        ):
            for cut in cuts:
                yield (
                    code,
                    ChoiceTerm(
                        f"{code} > {cut:g}",
                        words.format(cut=f"{cut:g}"),
                        score.price + price + np.log(len(cuts)),
                    ),
                )


def pairs_of(told: RememberedAnswers) -> OptionPairs:
    """Turn every answer into comparisons of the chosen option with each other one."""
    n_options = told.allowed.shape[1]
    rows, low, high, first, weight = [], [], [], [], []
    others = np.maximum(told.allowed.sum(axis=1) - 1, 1)
    for option in range(n_options):
        which = np.flatnonzero((told.allowed[:, option] > 0) & (told.response != option))
        chosen = told.response[which]
        rows.append(which)
        low.append(np.minimum(chosen, option))
        high.append(np.maximum(chosen, option))
        first.append(chosen < option)
        weight.append(1.0 / others[which])
    counts = np.zeros((sum(map(len, rows)), 2))
    took_low, weights = np.concatenate(first), np.concatenate(weight)
    counts[np.arange(len(counts)), np.where(took_low, 0, 1)] = weights
    return OptionPairs(np.concatenate(rows), np.concatenate(low), np.concatenate(high), counts)


def leads_of(told: RememberedAnswers, pairs: OptionPairs) -> TermTable:
    """Of the later option of each pair over the earlier one, as numbers."""
    values = told.scores[:, pairs.row, pairs.high] - told.scores[:, pairs.row, pairs.low]
    prices = normalized(np.array([score.price for score in SCORES]))
    items = tuple(
        ChoiceTerm(
            score.code,
            f"take the option with the greater {score.words}",
            float(price),
            opposite=f"take the option with the smaller {score.words}",
        )
        for score, price in zip(SCORES, prices, strict=True)
    )
    return TermTable(items, np.where(np.abs(values) < 1e-9, 0.0, values).astype(np.float32))


# How they are written


def state_code(entries: Sequence[str]) -> str:
    """``start``, ``current`` and ``learn`` for some of what can be remembered, and what that rests on."""
    needed = set(entries)
    while more := {name for entry in needed for name in remembered(KEPT[entry].renewed)} - needed:
        needed |= more
    kept = [item for item in KEPT.values() if item.name in needed]
    lines = [
        "def start(parameters, trials, xp):",
        '    nothing = 0.0 * trials["available"][None]',
        "    return {",
    ]
    for item in kept:
        table = "nothing" if item.is_option else "nothing[..., 0]"
        lines.append(f'        "{item.name}": {table}{f" + {item.start:g}" if item.start else ""},')
    lines += ["    }", "", HEAD, ""]
    lines += ["def learn(parameters, trials, xp, state, response, feedback):"]
    lines += [
        "    state = current(state, parameters, trials, xp)",
        *indent(LEARN, "    ").splitlines(),
        "    return {",
    ]
    lines += [f'        "{item.name}": {item.renewed},' for item in kept]
    return "\n".join([*lines, "    }", ""])


def remembered(code: str) -> set[str]:
    """Entries of the state that an expression reads."""
    return set(re.findall(r"""state\[['"](\w+)['"]\]""", code))
