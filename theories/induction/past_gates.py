"""Gates that divide answers by what a person chose and saw before."""

from __future__ import annotations

import numpy as np

from lakatos.theories.induction.option_score import TINY
from lakatos.theories.induction.past_terms import (
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
    _balance,
    _before,
    _earlier,
    _last,
    _run,
    sums,
)
from lakatos.theories.induction.terms import (
    ChoiceTerm,
    InductionAnswers,
    StateMemory,
    TermTable,
    distinct,
    side,
    thresholds,
)


def past_gates(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Divisions of the rows by one's own past: the last sides, the number of the trial, what was followed last."""
    last, before, number = _last(answers), _before(answers), answers.number
    items = [
        ChoiceTerm('state["last"] > 0', "B was chosen last", 1, memory=(LAST,)),
        ChoiceTerm('state["last"] < 0', "A was chosen last", 1, memory=(LAST,)),
        ChoiceTerm(
            'state["last"] * state["before"] > 0',
            "the last two choices were on the same side",
            2,
            memory=(LAST, BEFORE),
        ),
        ChoiceTerm('state["number"] % 2 == 1', "the trial's number is even", 2, memory=(NUMBER,)),
        ChoiceTerm(
            'state["number"] % 3 == 2',
            "the trial's number is a multiple of three",
            4,
            memory=(NUMBER,),
        ),
    ]
    columns = [last > 0, last < 0, last * before > 0, number % 2 == 1, number % 3 == 2]
    for length in (2, 3):
        items.append(
            ChoiceTerm(
                f'state["run"] > {length}',
                f"one side was chosen more than {length} times in a row",
                2.5,
                (),
                (LAST, RUN),
            )
        )
        columns.append(_run(answers) > length)
    balance = _balance(answers)
    for cut in (0, 2, 4):
        items.append(
            ChoiceTerm(
                f'xp.abs(state["balance"]) > {cut}',
                f"one side was chosen more often than the other by over {cut}",
                3,
                memory=(BALANCE,),
            )
        )
        columns.append(np.abs(balance) > cut)
    longest = number.max() + 1
    for share in np.arange(1, 8) / 8:
        cut = round(share * longest)
        items.append(
            ChoiceTerm(
                f'state["number"] >= {cut}', f"{cut} trials have gone by", 2.5, memory=(NUMBER,)
            )
        )
        columns.append(number >= cut)
    rows = {score: row for row, score in enumerate(answers.vocabulary.scores)}
    for term in of.items:
        score = term.scores[0]
        value = answers.scores[rows[score]]
        lead = side(value[:, 1] - value[:, 0])
        agreed = _earlier(answers, lead[answers.trial] * (2 * answers.response - 1))
        memory = StateMemory(
            "agreed_{0}", "(response[..., 1] - response[..., 0]) * side(lead({0}), xp)"
        )
        for comparison, words in (("> 0", "greater"), ("< 0", "smaller")):
            items.append(
                ChoiceTerm(
                    f'state["agreed_{{0}}"] {comparison}',
                    f"the product chosen last had the {words} {score.words}",
                    2 + score.price,
                    (score,),
                    (memory,),
                )
            )
            columns.append(agreed > 0 if words == "greater" else agreed < 0)
        had = _earlier(answers, value[answers.trial, answers.response])
        levels = thresholds(value, 3)
        for level in levels:
            items.append(
                ChoiceTerm(
                    f'state["had_{{0}}"] > {level:g}',
                    f"the {score.words} of the product chosen last was above {level:g}",
                    2 + score.price + float(np.log(len(levels))),
                    (score,),
                    (HAD,),
                )
            )
            columns.append(had > level)
        items.append(
            ChoiceTerm(
                '({0}.max(axis=1) > state["had_{0}"]) * (state["last"] != 0) > 0',
                f"some product's {score.words} is above that of the product chosen last",
                3 + score.price,
                (score,),
                (LAST, HAD),
            )
        )
        columns.append((value[answers.trial].max(axis=1) > had) & (last != 0))
        size = np.abs(value[:, 1] - value[:, 0])
        for memory, code, now, words in (
            (
                GAP,
                "xp.abs(lead({0}))",
                size,
                f"the products' {score.words} differ by {{0}} than on the trial before",
            ),
            (
                TOP,
                "{0}.max(axis=1)",
                value.max(axis=1),
                f"the greater {score.words} is {{1}} than on the trial before",
            ),
        ):
            name, earlier = memory.name, _earlier(answers, now[answers.trial])
            for sign, which in ((">", ("more", "greater")), ("<", ("less", "smaller"))):
                edge = "+ 1e-9" if sign == ">" else "- 1e-9"
                gate = f'({code} {sign} state["{name}"] {edge}) * (state["last"] != 0) > 0'
                items.append(
                    ChoiceTerm(
                        gate, words.format(*which), 3 + score.price, (score,), (LAST, memory)
                    )
                )
                apart = now[answers.trial] - earlier
                columns.append((apart > TINY if sign == ">" else apart < -TINY) & (last != 0))
        for memory, kind, words in (
            (
                FORGONE,
                1,
                f"choices of the smaller {score.words} have cost more than {{cut}} since one of the greater",
            ),
            (
                INDULGED,
                -1,
                f"choices of the greater {score.words} have won more than {{cut}} since one of the smaller",
            ),
        ):
            column = sums(answers, lead, size, kind)
            levels = thresholds(column, N_SUMS)
            for level in levels:
                price = 3 + score.price + float(np.log(len(levels)))
                gate, text = (
                    f'state["{memory.name}"] > {level:g}',
                    words.replace("{cut}", f"{level:g}"),
                )
                items.append(ChoiceTerm(gate, text, price, (score,), (memory,)))
                columns.append(column > level)
    return distinct(TermTable(tuple(items), np.array(columns, dtype=np.float32)), is_signed=False)
