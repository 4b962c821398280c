"""Parts of the past that a rule of learning may read: memories, and scores of options made of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.outcomes import HasOutcomes
from lakatos.experiments.task import Domain, Trials
from lakatos.theories.discovery.induction.expression import normalized
from lakatos.theories.discovery.induction.phrase import ODDNESS, having
from lakatos.theories.discovery.induction.term_text import carry_out
from lakatos.theories.discovery.induction.terms import ChoiceTerm, TermTable
from lakatos.theories.language.option_score import OptionScore

Array = NDArray[Any]
SMALLEST = 1e-4


@dataclass(frozen=True)
class KeptMemory:
    """A memory, for every option or for the game as a whole."""

    name: str
    renewed: str
    is_option: bool = True
    start: float = 0.0


CHANGED = "(state['last'] * (1.0 - response)).sum(axis=-1)"
"""1 where the choice is another than the last one."""
LEFT = "state['last'] * (1.0 - response) > 0"
OPTION_MEMORIES = (
    KeptMemory("last", "response + 0.0 * state['last']"),
    KeptMemory("before", "state['last'] + 0.0 * response"),
    KeptMemory("streak", "(state['streak'] + 1.0) * response"),
    KeptMemory("tried", "state['tried'] + response"),
    KeptMemory("since", "(state['since'] + 1.0) * (1.0 - response)"),
    KeptMemory("wins", "state['wins'] + response * won"),
    KeptMemory("earned", "state['earned'] + response * reward"),
    KeptMemory("losing", "xp.where(response > 0, (state['losing'] + 1.0) * (1.0 - won), state['losing'])"),
    KeptMemory("winning", "xp.where(response > 0, (state['winning'] + 1.0) * won, state['winning'])"),
    KeptMemory("visit_wins", "(state['visit_wins'] * state['last'] + won) * response"),
    KeptMemory("past_visit_wins", f"xp.where({LEFT}, state['visit_wins'], state['past_visit_wins'])"),
    KeptMemory("past_visit_tries", f"xp.where({LEFT}, state['streak'], state['past_visit_tries'])"),
    KeptMemory("newest", "xp.where(response > 0, reward, state['newest'])"),
    KeptMemory("second_newest", "xp.where(response > 0, state['newest'], state['second_newest'])"),
    KeptMemory("third_newest", "xp.where(response > 0, state['second_newest'], state['third_newest'])"),
    KeptMemory("best", "xp.where(response > 0, xp.maximum(state['best'], reward), state['best'])"),
)  # fmt: skip
GAME_MEMORIES = (
    KeptMemory("steps", "state['steps'] + 1.0 + 0.0 * reward[..., 0]", is_option=False),
    KeptMemory("won_last", "won[..., 0]", is_option=False),
    KeptMemory("won_before", "state['won_last'] + 0.0 * won[..., 0]", is_option=False),
    KeptMemory("in_a_row_lost", "(state['in_a_row_lost'] + 1.0) * (1.0 - won[..., 0])", is_option=False),
    KeptMemory("in_a_row_won", "(state['in_a_row_won'] + 1.0) * won[..., 0]", is_option=False),
    KeptMemory("switched", "1.0 - (response * state['last']).sum(axis=-1)", is_option=False),
    KeptMemory("changed", CHANGED, is_option=False),
)  # fmt: skip
SWITCHES = "state['switches'] + 1.0 - (response * state['last']).sum(axis=-1)"


def _kept() -> Iterator[KeptMemory]:
    """Everything that may be remembered, in the order in which theories keep it."""
    yield from OPTION_MEMORIES
    # Values of options that move by a share of each surprise, as in Lau & Glimcher (2005), and traces that fade.
    for rate in (0.1, 0.2, 0.35, 0.5, 0.7):
        name = f"value_{100 * rate:.0f}"
        moved = f"state['{name}'] + {rate:g} * (reward - state['{name}'])"
        yield KeptMemory(name, f"xp.where(response > 0, {moved}, state['{name}'])", start=0.5)
    for rate in (0.1, 0.3, 0.5):
        for kind, mark in (("fading", "response * reward"), ("habit", "response")):
            name = f"{kind}_{100 * rate:.0f}"
            yield KeptMemory(name, f"state['{name}'] + {rate:g} * ({mark} - state['{name}'])")
    yield from GAME_MEMORIES
    # What staying with an option has paid, and what leaving it has.
    for name, act in (("staying", f"1.0 - {CHANGED}"), ("leaving", CHANGED)):
        value, paid = f"{name}_value", f"{name}_paid"
        moved = f"state['{value}'] + 0.3 * ({act}) * (reward[..., 0] - state['{value}'])"
        yield KeptMemory(value, moved, is_option=False, start=0.5)
        last_paid = f"xp.where({act} > 0, reward[..., 0], state['{paid}'])"
        yield KeptMemory(paid, last_paid, is_option=False)
    yield KeptMemory("switches", SWITCHES, is_option=False)


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


def learn_code(domain: Domain) -> str:
    """Return code by which rules read an outcome: as it is, or in a task with a declared range as a share of it."""
    if not isinstance(domain, HasOutcomes):
        return 'reward = feedback["reward"][..., None]\nwon = 1.0 * (reward > 0)'
    low, high = domain.outcome_range
    return (
        f'won = 1.0 * (feedback["reward"][..., None] > {domain.win_above:.10g})\n'
        f'reward = (feedback["reward"][..., None] - {low:.10g}) / {high - low:.10g}'
    )


PLAIN_SCORES = (
    OptionScore("state['last']", "having been chosen last", 0.5),
    OptionScore("state['before']", "having been chosen the time before the last", 1.5),
    OptionScore("state['streak']", "number of choices in a row", 1.5),
    OptionScore("state['tried']", "number of tries", 1),
    OptionScore("state['since']", "time since the last try", 1.5),
    OptionScore("state['wins']", "number of wins", 1),
    OptionScore("state['earned']", "total earned", 1),
    OptionScore("(state['tried'] - state['wins'])", "number of losses", 1),
    OptionScore("state['earned'] / xp.maximum(state['tried'], 1.0)", "mean outcome", 1),
    OptionScore("(state['wins'] + 1.0) / (state['tried'] + 2.0)", "smoothed mean outcome", 1),
    OptionScore("xp.where(state['tried'] > 0, state['earned'] / xp.maximum(state['tried'], 1.0), 1.0)",
                "mean outcome (untried options count as 1)", 2),
    OptionScore("(2.0 * state['wins'] - state['tried'])", "surplus of wins over losses", 1.5),
    OptionScore("state['newest']", "last outcome", 1),
    OptionScore("xp.where(state['tried'] > 0, state['newest'], 0.5)",
                "last outcome (untried options count as one half)", 1.5),
    OptionScore("xp.where(state['tried'] > 0, state['newest'], 1.0)", "last outcome (untried options count as 1)", 2),
    OptionScore("(state['newest'] + state['second_newest'])", "total of the last two outcomes", 1.5),
    OptionScore("(state['newest'] + state['second_newest'] + state['third_newest'])",
                "total of the last three outcomes", 2),
    OptionScore("state['losing']", "number of losses in a row", 1),
    OptionScore("state['winning']", "number of wins in a row", 1.5),
    OptionScore("state['visit_wins']", "number of wins since the last switch to it", 2),
    OptionScore("(state['streak'] - state['visit_wins'])", "number of losses since the last switch to it", 2),
    OptionScore("state['visit_wins'] / xp.maximum(state['streak'], 1.0)",
                "share of wins since the last switch to it", 2.5),
    OptionScore("(2.0 * state['visit_wins'] - state['streak'])",
                "surplus of wins over losses since the last switch to it", 2.5),
    OptionScore("state['past_visit_wins']", "number of wins in the previous run of choices", 2),
    OptionScore("state['past_visit_tries']", "length of the previous run of choices", 2),
    OptionScore("state['best']", "best outcome so far", 2),
)  # fmt: skip
ACTS = {
    "having been chosen last": ("repeat the last choice", "switch from the last choice"),
    "having been chosen the time before the last": (
        "repeat the choice before the last",
        "avoid the choice before the last",
    ),
    "having won last, or not lost": (
        "repeat a choice that won and switch after one that lost",
        "switch after a choice that won and repeat one that lost",
    ),
    "having won last": ("repeat a choice that won", "switch after a choice that won"),
    "not having lost last": ("switch after a choice that lost", "repeat a choice that lost"),
}
"""Words for following such a score, and for doing the opposite."""
REACHED_ONCE = {
    "at least 1 tries": ("an option that was tried before", "an untried option"),
    "at least 1 choices in a row": ("the option chosen last", "another option than the last"),
    "at least 1 losses in a row": ("an option that last lost", "an option that did not lose last"),
    "at least 1 wins in a row": ("an option that last won", "an option that did not win last"),
    "at least 1 trials since the last try": (
        "another option than the last",
        "the option chosen last",
    ),
}
"""Options with a number that is not 0, and those without."""
COUNTS = ("number of ", "time since ", "length of ")
"""Beginnings of the words of scores that are whole numbers."""
FADING_WORDS = {
    "value": "learned value (learning rate {rate}%)",
    "fading": "recency-weighted sum of rewards (decay {rate}% per trial)",
    "habit": "recency-weighted frequency of choices (decay {rate}% per trial)",
}
"""Words of memories that are kept at several rates, such as ``value_10``."""
AFTER_OUTCOME = (
    OptionScore("(2.0 * state['won_last'][..., None] - 1.0) * state['last']", "having won last, or not lost", 0.7),
    OptionScore("state['won_last'][..., None] * state['last']", "having won last", 1.2),
    OptionScore("(state['won_last'][..., None] - 1.0) * state['last']", "not having lost last", 1.2),
)  # fmt: skip
ODD_NUMBERS = (
    ("winning", "wins in a row"),
    ("losing", "losses in a row"),
    ("wins", "wins"),
    ("tried", "tries"),
    ("streak", "choices in a row"),
)
BETTER_ACTS = (
    ("paid", "outcome the last time"),
    ("value", "learned value (learning rate 30%)"),
)
LEAST_NUMBERS = (
    ("tried", "tries"),
    ("streak", "choices in a row"),
    ("losing", "losses in a row"),
    ("winning", "wins in a row"),
    ("since", "trials since the last try"),
)


def _scores() -> Iterator[OptionScore]:
    """Numbers of every option, ``(n_draws, n_sequences, n_options)``; the last one means the one chosen last."""
    yield from PLAIN_SCORES
    for name in KEPT:
        kind, _, rate = name.rpartition("_")
        if kind in FADING_WORDS and rate.isdigit():
            yield OptionScore(f"state['{name}']", FADING_WORDS[kind].format(rate=rate), 2)
    yield from AFTER_OUTCOME
    for name, words in ODD_NUMBERS:
        yield OptionScore(f"state['{name}'] % 2", f"{ODDNESS}number of {words}", 3.5)
    for name, words in BETTER_ACTS:
        better = f"(state['staying_{name}'] - state['leaving_{name}'])[..., None] * state['last']"
        merit = f"merit of doing with it what has the better {words}, staying or leaving"
        yield OptionScore(better, merit, 3.5)
    for name, words in LEAST_NUMBERS:
        for level in (1, 2, 3, 4, 5):
            reached = f"1.0 * (state['{name}'] >= {level})"
            yield OptionScore(reached, f"at least {level} {words}", 3.5)


@dataclass(frozen=True)
class GameNumber:
    """A number of the game, ``(n_draws, n_sequences)``, that gates are made of by thresholds."""

    code: str
    words: str
    """The number in words, with ``{cut}`` for the threshold, or ``{least}`` for the whole number above it."""
    price: float
    cuts: Sequence[float]

    def gates(self) -> Iterator[tuple[str, ChoiceTerm]]:
        """Code of the number with each gate that a threshold makes of it."""
        price = self.price + np.log(len(self.cuts))
        for cut in self.cuts:
            words = at_threshold(self.words, cut)
            yield self.code, ChoiceTerm(f"({self.code}) > {cut:g}", words, price)


def at_threshold(words: str, cut: float) -> str:
    """Words of a gate with its threshold; of one choice, step or change they speak in the singular."""
    least = math.floor(cut) + 1
    text = words.format(cut=f"{cut:g}", least=least)
    return SINGULAR.get(text, text)


SINGULAR = {
    "at least 1 choices in a row have lost": "the last choice lost",
    "at least 1 choices in a row have won": "the last choice won",
    "there were at least 1 switches so far": "there was a switch before",
    "at least 1 trials have gone by": "it is not the first trial",
}
FEW = (0.5, 1.5, 2.5, 3.5, 4.5, 5.5)
PLAIN_GAME = (
    GameNumber("state['won_last']", "the last choice won", 0.5, (0.5,)),
    GameNumber("state['won_before']", "the choice before the last won", 1, (0.5,)),
    GameNumber("state['in_a_row_lost']", "at least {least} choices in a row have lost", 1, FEW),
    GameNumber("state['in_a_row_won']", "at least {least} choices in a row have won", 1, FEW),
    GameNumber("state['switched']", "the last choice was a switch", 1, (0.5,)),
    GameNumber("state['switches']", "there were at least {least} switches so far", 3, FEW),
    GameNumber("state['steps']", "at least {least} trials have gone by", 2,
               (*FEW, 7.5, 9.5, 14.5, 19.5, 29.5, 39.5)),
)  # fmt: skip
EVENTS = (
    ("won_last", "the last choice won"),
    ("won_before", "the choice before the last won"),
    ("changed", "the last choice was a switch from another option"),
)
VISITS = (
    ("past_visit_wins", "the number of wins in the previous run"),
    ("past_visit_tries", "the previous run"),
)


def _games() -> Iterator[GameNumber]:
    """Numbers of the game: its last outcomes and changes, how long one has stayed, and its steps."""
    yield from PLAIN_GAME
    for (one, first), (other, second) in combinations(EVENTS, 2):
        apart = f"xp.abs(state['{one}'] - state['{other}'])"
        yield GameNumber(apart, f"either {first} or {second}, but not both", 2, (0.5,))
    for name, words in VISITS:
        for none in (0, 1):
            before = f"xp.where(state['tried'] > state['streak'], state['{name}'], {none:.1f})"
            longer = f"(state['last'] * (state['streak'] - {before})).sum(axis=-1)"
            text = f"the current run of choices is longer by more than {{cut}} than {words} ({none} if there was none)"
            yield GameNumber(longer, text, 2.5, (-1.5, -0.5, 0.5, 1.5, 2.5))
    for period in (2, 3, 4, 5):
        text = (
            f"the number of the trial divided by {period} leaves a remainder of at least {{least}}"
        )
        rests = tuple(k + 0.5 for k in range(period - 1))
        yield GameNumber(f"state['steps'] % {period}", text, 3, rests)


@dataclass(frozen=True)
class RememberedResponses:
    """People's responses with what they could remember before each."""

    person: NDArray[np.intp]
    """``(n_rows,)``."""
    response: NDArray[np.intp]
    allowed: Array
    """``(n_rows, n_options)``."""
    scores: Array
    """``(n_scores, n_rows, n_options)``."""
    gates: TermTable
    """Gates with their values on the rows."""
    options: tuple[OptionScore, ...]
    """``(n_scores,)`` what the scores are."""
    learn: str
    """Code by which outcomes are read; see `learn_code`."""

    @property
    def places(self) -> dict[str, int]:
        """Places of the gates, by their code."""
        return {term.code: place for place, term in enumerate(self.gates.items)}

    @cached_property
    def score_places(self) -> dict[str, int]:
        """Places of the scores, by their code."""
        return {score.code: place for place, score in enumerate(self.options)}

    def at(self, rows: NDArray[np.intp]) -> RememberedResponses:
        """The responses at some rows only."""
        gates = TermTable(self.gates.items, self.gates.values[:, rows])
        return replace(
            self,
            person=self.person[rows],
            response=self.response[rows],
            allowed=self.allowed[rows],
            scores=self.scores[:, rows],
            gates=gates,
        )


@dataclass(frozen=True)
class OptionPairs:
    """Comparisons of the option chosen with each other one."""

    row: NDArray[np.intp]
    """``(n_pairs,)`` of the responses."""
    low: NDArray[np.intp]
    high: NDArray[np.intp]
    """Options; leads are those of ``high``."""
    counts: Array
    """``(n_pairs, 2)``; the comparisons of an answer weigh 1 together."""


SCORES = tuple(_scores())


def scores_of(domain: Domain) -> tuple[OptionScore, ...]:
    """Return what options may be compared by: memories of them, and attributes that a declared task shows."""
    if not isinstance(domain, HasOutcomes):
        return SCORES
    shown = (
        OptionScore(f"({code} + 0.0 * state['last'])", noun, 1)
        for code, noun in domain.cue_codes().items()
    )
    return (*SCORES, *shown)


def remembered_of(domain: Domain, trials: Sequence[Trials]) -> RememberedResponses:
    """Walk through everybody's responses with all that can be remembered.

    Args:
        domain: Domain of the trials, with ``reward`` as feedback.
        trials: All experiments of one number of options; single responses in order.
    """
    options, learn = scores_of(domain), learn_code(domain)
    made = list(_game_terms())
    space = _walking_code(options, [code for code, _ in made], learn)
    steps: list[RememberedStep] = []
    n_people = 0
    for item in trials:
        steps += _walked(domain, item, space, n_people)
        n_people += item.n_participants
    # Steps of everybody become responses, person by person.
    person = np.concatenate([step.person for step in steps])
    order = np.argsort(person, kind="stable")
    items = tuple(term for _, term in made)
    cut = np.array([float(term.code.rpartition(" > ")[2]) for term in items])
    games = np.concatenate([step.games for step in steps], axis=1)
    gates = TermTable(items, (games > cut[:, None]).astype(np.float32)[:, order])
    return RememberedResponses(
        person[order].astype(np.intp),
        np.concatenate([step.response for step in steps])[order].astype(np.intp),
        np.concatenate([step.allowed for step in steps])[order],
        np.concatenate([step.scores for step in steps], axis=1)[:, order],
        gates,
        options,
        learn,
    )


class RememberedStep(NamedTuple):
    """One step of one experiment, for those of its people who came so far."""

    person: NDArray[np.intp]
    """``(n_there,)``."""
    response: NDArray[np.intp]
    allowed: Array
    """``(n_there, n_options)``."""
    scores: Array
    """``(n_scores, n_there, n_options)``."""
    games: Array
    """``(n_game_numbers, n_there)``."""


def _walking_code(
    options: Sequence[OptionScore], games: Sequence[str], learn: str
) -> dict[str, Any]:
    """The functions ``start``, ``current`` and ``learn`` of a theory, and ``numbers``: all scores and ``games``."""
    lines = ["def numbers(trials, xp, state):", "    return ["]
    lines += [f"        {score.code}," for score in options]
    lines += ["    ], ["]
    lines += [f"        {code}," for code in games]
    space: dict[str, Any] = {}
    carry_out(state_code(tuple(KEPT), learn), space)
    carry_out("\n".join([*lines, "    ]"]), space)
    return space


def _walked(
    domain: Domain, item: Trials, space: dict[str, Any], n_before: int
) -> Iterator[RememberedStep]:
    """The steps of one experiment, whose people are numbered from ``n_before`` on."""
    own = item.sequences
    before: dict[str, Array] = {}
    state: Any = None
    for step in range(own.trial.shape[1]):
        # What is shown, to people who have left too: their rows are dropped below.
        row, there = np.maximum(own.trial[:, step], 0), own.trial[:, step] >= 0
        arrays = {name: array[row] for name, array in item.stimuli.arrays.items()}
        shown = dict(domain.shown(arrays, before))
        # What is remembered before the response, and all numbers of it.
        state = space["start"]({}, shown, np) if state is None else state
        state = space["current"](state, {}, shown, np)
        by_option, by_game = space["numbers"](shown, np, state)
        free = shown["available"]
        scores = np.stack([np.broadcast_to(part[0], free.shape) for part in by_option])
        games = np.stack([np.broadcast_to(part[0], len(free)) for part in by_game])
        yield RememberedStep(
            n_before + np.flatnonzero(there),
            own.response[there, step],
            free[there],
            scores[:, there],
            games[:, there],
        )
        # The answer and what it brought.
        one_hot = (own.response[:, step, None] == np.arange(free.shape[1])) * 1.0
        before = {name: column[None, :, step] for name, column in own.feedback.items()}
        state = space["learn"]({}, shown, np, state, one_hot[None], before)


COUNT_CUTS = (0.5, 1.5, 2.5, 3.5, 4.5)
SHARE_CUTS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8)
SHARE_WORDS = ("value", "recency", "mean", "share")
"""Words of scores that lie between 0 and 1."""
ALLOWED = 'xp.where(trials["available"] > 0, {score}, {edge})'


def _game_terms() -> Iterator[tuple[str, ChoiceTerm]]:
    """Code of a number and the gate that a threshold makes of it: numbers of the game, and scores over its options."""
    for number in _games():
        yield from number.gates()
    for score in SCORES:
        if score.price <= 3:
            yield from _score_gates(score)


def _score_gates(score: OptionScore) -> Iterator[tuple[str, ChoiceTerm]]:
    """Gates by a score's range over the options, by its extremes, and by that of the option chosen last."""
    is_share = any(word in score.words for word in SHARE_WORDS)
    cuts = SHARE_CUTS if is_share else COUNT_CUTS
    is_count = score.words.startswith(COUNTS)
    high = ALLOWED.format(score=score.code, edge=-1e9) + ".max(axis=-1)"
    low = ALLOWED.format(score=score.code, edge=1e9) + ".min(axis=-1)"
    last = f"(({score.code}) * state['last']).sum(axis=-1)"
    for code, which, price in (
        (f"({high} - {low})", "", 2.0),
        (high, "some option", 2.5),
        (low, "every option", 2.5),
        (last, "the option chosen last", 1.5),
    ):
        words = _reaching(score.words, which, "at least {least}" if is_count else "{cut}")
        paid = score.price + price + np.log(len(cuts))
        for cut in cuts:
            yield code, ChoiceTerm(f"{code} > {cut:g}", at_threshold(words, cut), paid)


def _reaching(name: str, which: str, level: str) -> str:
    """State that an option's number exceeds a level; without an option, that the options differ by more than it."""
    is_count = level.startswith("at least")
    if not which:
        return (
            f"the options differ by {level if is_count else f'more than {level}'} in their {name}"
        )
    if name == "number of choices in a row":
        return f"{which} was chosen {level} times in a row"
    if is_count and name.startswith("number of "):
        return f"{which} has {level} {name.removeprefix('number of ')}"
    return f"the {name} of {which} is {level if is_count else f'above {level}'}"


def pairs_of(remembered: RememberedResponses) -> OptionPairs:
    """Turn every answer into comparisons of the chosen option with each other one."""
    n_options = remembered.allowed.shape[1]
    rows, low, high, first, weight = [], [], [], [], []
    others = np.maximum(remembered.allowed.sum(axis=1) - 1, 1)
    for option in range(n_options):
        which = np.flatnonzero(
            (remembered.allowed[:, option] > 0) & (remembered.response != option)
        )
        chosen = remembered.response[which]
        rows.append(which)
        low.append(np.minimum(chosen, option))
        high.append(np.maximum(chosen, option))
        first.append(chosen < option)
        weight.append(1.0 / others[which])
    counts = np.zeros((sum(map(len, rows)), 2))
    took_low, weights = np.concatenate(first), np.concatenate(weight)
    counts[np.arange(len(counts)), np.where(took_low, 0, 1)] = weights
    return OptionPairs(np.concatenate(rows), np.concatenate(low), np.concatenate(high), counts)


def lead_words(score: OptionScore, *, is_greater: bool) -> str:
    """Describe what people do who take the option whose number is greater, or smaller."""
    if acts := ACTS.get(score.words):
        return acts[0] if is_greater else acts[1]
    if both := REACHED_ONCE.get(score.words):
        return f"take {both[0] if is_greater else both[1]}"
    if score.words.startswith("at least "):
        few = score.words.replace("at least", "fewer than", 1)
        return f"take an option with {score.words if is_greater else few}"
    return f"take the option {having(score.words, more=is_greater)}"


def leads_of(remembered: RememberedResponses, pairs: OptionPairs) -> TermTable:
    """Leads of the later option of each pair over the earlier one, as numbers."""
    values = (
        remembered.scores[:, pairs.row, pairs.high] - remembered.scores[:, pairs.row, pairs.low]
    )
    prices = normalized(np.array([score.price for score in remembered.options]))
    items = tuple(
        ChoiceTerm(
            score.code,
            lead_words(score, is_greater=True),
            float(price),
            opposite=lead_words(score, is_greater=False),
        )
        for score, price in zip(remembered.options, prices, strict=True)
    )
    return TermTable(items, np.where(np.abs(values) < 1e-9, 0.0, values).astype(np.float32))


# How they are written


def state_code(entries: Sequence[str], learned: str) -> str:
    """``start``, ``current`` and ``learn`` for some of what can be remembered, and what that rests on.

    Args:
        entries: Names of what is remembered.
        learned: How outcomes are read; see `learn_code`.
    """
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
        *indent(learned, "    ").splitlines(),
        "    return {",
    ]
    lines += [f'        "{item.name}": {item.renewed},' for item in kept]
    return "\n".join([*lines, "    }", ""])


def remembered(code: str) -> set[str]:
    """Entries of the state that an expression reads."""
    return set(re.findall(r"""state\[['"](\w+)['"]\]""", code))
