"""Gates that divide responses by what a person chose and saw before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lakatos.theories.discovery.induction.past_terms import (
    AGREED,
    BALANCE,
    BEFORE,
    FORGONE,
    GAP,
    HAD,
    INDULGED,
    LAST,
    N_SUMS,
    NUMBER,
    RUN,
    TOP,
    TermColumn,
    _balance,
    _before,
    _earlier,
    _last,
    _run,
    agreed_before,
    had_before,
    sums,
    table_of,
)
from lakatos.theories.discovery.induction.phrase import figure, having
from lakatos.theories.discovery.induction.terms import (
    Array,
    ChoiceTerm,
    InductionAnswers,
    StateMemory,
    TermTable,
    distinct,
    side,
    thresholds,
)
from lakatos.theories.language.option_score import TINY, OptionScore


def past_gates(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Divisions of the rows by one's own past: the last sides, the number of the trial, what was followed last.

    Args:
        answers: Responses in presentation order.
        of: Leads on the distinct trials whose scores may be remembered.
    """
    found = list(_side_gates(answers))
    rows = {score: row for row, score in enumerate(answers.vocabulary.scores)}
    for score in (term.scores[0] for term in of.items):
        value = answers.scores[rows[score]]
        found += _chosen_gates(answers, score, value)
        found += _change_gates(answers, score, value)
        found += _sum_gates(answers, score, value)
    return distinct(table_of(found), is_signed=False)


def _side_gates(answers: InductionAnswers) -> Iterator[TermColumn]:
    """Gates by the sides chosen before and by the number of the trial."""

    def gate(code: str, words: str, price: float, *memory: StateMemory) -> ChoiceTerm:
        return ChoiceTerm(code, words, price, memory=memory)

    last, before, number = _last(answers), _before(answers), answers.number
    yield gate('state["last"] > 0', "B was chosen last", 1, LAST), last > 0
    yield gate('state["last"] < 0', "A was chosen last", 1, LAST), last < 0
    same = "the last two choices were on the same side"
    yield gate('state["last"] * state["before"] > 0', same, 2, LAST, BEFORE), last * before > 0
    even, third = "the trial's number is even", "the trial's number is a multiple of three"
    yield gate('state["number"] % 2 == 1', even, 2, NUMBER), number % 2 == 1
    yield gate('state["number"] % 3 == 2', third, 4, NUMBER), number % 3 == 2
    run, balance = _run(answers), _balance(answers)
    for length in (2, 3):
        words = f"one side was chosen more than {length} times in a row"
        yield gate(f'state["run"] > {length}', words, 2.5, LAST, RUN), run > length
    for cut in (0, 2, 4):
        words = f"one side was chosen more often than the other by over {cut}"
        yield gate(f'xp.abs(state["balance"]) > {cut}', words, 3, BALANCE), np.abs(balance) > cut
    for share in np.arange(1, 8) / 8:
        cut = round(share * (number.max() + 1))
        words = f"{cut} trials have gone by"
        yield gate(f'state["number"] >= {cut}', words, 2.5, NUMBER), number >= cut


def _chosen_gates(
    answers: InductionAnswers, score: OptionScore, value: Array
) -> Iterator[TermColumn]:
    """Gates by the score that the product chosen last had, alone and beside the products of now."""
    agreed, had = agreed_before(answers, value), had_before(answers, value)
    for sign, more, column in (("> 0", True, agreed > 0), ("< 0", False, agreed < 0)):
        gate = f'state["agreed_{{0}}"] {sign}'
        text = f"the product chosen last was the one {having(score.words, more=more)}"
        yield ChoiceTerm(gate, text, 2 + score.price, (score,), (AGREED,)), column
    levels = thresholds(value, 3)
    for level in levels:
        price = 2 + score.price + float(np.log(len(levels)))
        gate = f'state["had_{{0}}"] > {level:g}'
        text = f"the {score.words} of the product chosen last was above {figure(level)}"
        yield ChoiceTerm(gate, text, price, (score,), (HAD,)), had > level
    gate = '({0}.max(axis=1) > state["had_{0}"]) * (state["last"] != 0) > 0'
    text = f"some product's {score.words} is above that of the product chosen last"
    exceeds = value[answers.trial].max(axis=1) > had
    yield (
        ChoiceTerm(gate, text, 3 + score.price, (score,), (LAST, HAD)),
        exceeds & (_last(answers) != 0),
    )


def _change_gates(
    answers: InductionAnswers, score: OptionScore, value: Array
) -> Iterator[TermColumn]:
    """Gates by whether the products differ by more than on the trial before, and whether they offer more."""
    name, is_later = score.words, _last(answers) != 0
    size, top = np.abs(value[:, 1] - value[:, 0]), value.max(axis=1)
    for memory, code, now, sign, words in (
        (GAP, "xp.abs(lead({0}))", size, 1, f"the products differ more in their {name}"),
        (GAP, "xp.abs(lead({0}))", size, -1, f"the products differ less in their {name}"),
        (TOP, "{0}.max(axis=1)", top, 1, f"the highest {name} presented is higher"),
        (TOP, "{0}.max(axis=1)", top, -1, f"the highest {name} presented is lower"),
    ):
        earlier = f'state["{memory.name}"]'
        beyond = f"> {earlier} + 1e-9" if sign > 0 else f"< {earlier} - 1e-9"
        gate = f'({code} {beyond}) * (state["last"] != 0) > 0'
        text = f"{words} than on the trial before"
        change = now[answers.trial] - _earlier(answers, now[answers.trial])
        column = (change > TINY if sign > 0 else change < -TINY) & is_later
        yield ChoiceTerm(gate, text, 3 + score.price, (score,), (LAST, memory)), column


def _sum_gates(answers: InductionAnswers, score: OptionScore, value: Array) -> Iterator[TermColumn]:
    """Gates by what choices of one kind have come to since the last one of the other kind."""
    difference = value[:, 1] - value[:, 0]
    lead, size, name = side(difference), np.abs(difference), score.words
    cost = f"choices of the smaller {name} have cost more than {{cut}} since one of the greater"
    won = f"choices of the greater {name} have won more than {{cut}} since one of the smaller"
    for memory, kind, words in ((FORGONE, 1, cost), (INDULGED, -1, won)):
        column = sums(answers, lead, size, kind)
        levels = thresholds(column, N_SUMS)
        for level in levels:
            gate = f'state["{memory.name}"] > {level:g}'
            text = words.replace("{cut}", f"{level:g}")
            price = 3 + score.price + float(np.log(len(levels)))
            yield ChoiceTerm(gate, text, price, (score,), (memory,)), column > level
