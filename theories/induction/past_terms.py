"""Leads and gates that look at what a person chose and saw before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli
from lakatos.theories.induction.library import namespace
from lakatos.theories.induction.option_score import TINY, OptionScore
from lakatos.theories.induction.terms import (
    Array,
    ChoiceTerm,
    InductionAnswers,
    StateMemory,
    TermTable,
    side,
    thresholds,
)

LAST = StateMemory("last", "response[..., 1] - response[..., 0]")
BEFORE = StateMemory("before", 'state["last"]')
NUMBER = StateMemory("number", 'state["number"] + 1.0')
BALANCE = StateMemory("balance", 'state["balance"] + response[..., 1] - response[..., 0]')
RUN = StateMemory(
    "run",
    'xp.where(state["last"] == response[..., 1] - response[..., 0], state["run"] + 1.0, 1.0)',
)
HABIT = StateMemory("habit", '0.7 * state["habit"] + 0.3 * (response[..., 1] - response[..., 0])')
HAD = StateMemory("had_{0}", "(response * {0}).sum(axis=-1)")
GAP = StateMemory("gap_{0}", "xp.abs(lead({0})) + 0.0 * response[..., 0]")
TOP = StateMemory("top_{0}", "{0}.max(axis=1) + 0.0 * response[..., 0]")
FORGONE = StateMemory(
    "forgone_{0}",
    "xp.where((response[..., 1] - response[..., 0]) * side(lead({0}), xp) > 0, 0.0, "
    'state["forgone_{0}"] + xp.abs(lead({0})))',
)
INDULGED = StateMemory(
    "indulged_{0}",
    "xp.where((response[..., 1] - response[..., 0]) * side(lead({0}), xp) < 0, 0.0, "
    'state["indulged_{0}"] + xp.abs(lead({0})))',
)
"""What choices of one kind have come to since the last one of the other kind."""
N_SUMS = 16
"""Thresholds on such sums."""
FADING = 0.7
"""What a habit keeps from one trial to the next."""


def past_leads(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Sides that one's own past suggests, on the rows: repeating, and comparing with what was chosen last.

    Args:
        answers: In presentation order.
        of: Leads (numbers) on the distinct trials whose scores may be remembered.
    """
    last, before = _last(answers), _before(answers)
    items = [
        ChoiceTerm(
            'state["last"]',
            "repeat the side chosen last",
            1,
            memory=(LAST,),
            opposite="leave the side chosen last",
        ),
        ChoiceTerm(
            'state["before"]',
            "repeat the side chosen before the last one",
            2,
            memory=(LAST, BEFORE),
            opposite="leave the side chosen before the last one",
        ),
        ChoiceTerm(
            'state["last"] * (state["last"] == state["before"])',
            "repeat the side chosen twice in a row",
            2,
            memory=(LAST, BEFORE),
            opposite="leave the side chosen twice in a row",
        ),
    ]
    columns = [last, before, last * (last == before)]
    for memory, words, column in (
        (BALANCE, "the side chosen more often so far", _balance(answers)),
        (HABIT, "the side chosen more often of late", _habit(answers)),
    ):
        items.append(
            ChoiceTerm(
                f'state["{memory[0]}"]',
                f"repeat {words}",
                2,
                memory=(memory,),
                opposite=f"leave {words}",
            )
        )
        columns.append(column)
    rows = {score: row for row, score in enumerate(answers.vocabulary.scores)}
    for term in of.items:
        score = term.scores[0]
        value = answers.scores[rows[score]]
        lead = side(value[:, 1] - value[:, 0])
        agreed = _earlier(answers, lead[answers.trial] * (2 * answers.response - 1))
        had = _earlier(answers, value[answers.trial, answers.response])
        items.append(
            ChoiceTerm(
                'state["last"] * state["agreed_{0}"]',
                f"repeat the side chosen last if it had the greater {score.words}, else leave it",
                2 + score.price,
                (score,),
                (
                    LAST,
                    StateMemory(
                        "agreed_{0}", "(response[..., 1] - response[..., 0]) * side(lead({0}), xp)"
                    ),
                ),
                f"repeat the side chosen last if it had the smaller {score.words}, else leave it",
            )
        )
        columns.append(last * agreed)
        for option, letter in ((1, "B"), (0, "A")):
            sign = 1 if option else -1
            items.append(
                ChoiceTerm(
                    f'({{0}}[:, {option}] - state["had_{{0}}"]) * (state["last"] != 0)'
                    + ("" if option else " * -1"),
                    f"prefer {letter} where its {score.words} is greater than that of the product chosen last",
                    3 + score.price,
                    (score,),
                    (LAST, HAD),
                    f"prefer {letter} where its {score.words} is smaller than that of the product chosen last",
                )
            )
            columns.append(sign * (value[answers.trial, option] - had) * (last != 0))
        items.append(
            ChoiceTerm(
                '(xp.abs({0}[:, 0] - state["had_{0}"]) - xp.abs({0}[:, 1] - state["had_{0}"])) * (state["last"] != 0)',
                f"take the product with the {score.words} more like that of the product chosen last",
                3 + score.price,
                (score,),
                (LAST, HAD),
                f"take the product with the {score.words} less like that of the product chosen last",
            )
        )
        apart = np.abs(value[answers.trial] - had[:, None])
        columns.append((apart[:, 0] - apart[:, 1]) * (last != 0))
        items.append(
            ChoiceTerm(
                '(1.0 * ({0}[:, 1] > state["had_{0}"] + 1e-9) - ({0}[:, 0] > state["had_{0}"] + 1e-9))'
                ' * (state["last"] != 0)',
                f"take the product whose {score.words} alone is greater than that of the product chosen last",
                3 + score.price,
                (score,),
                (LAST, HAD),
                f"leave the product whose {score.words} alone is greater than that of the product chosen last",
            )
        )
        beats = 1.0 * (value[answers.trial] > had[:, None] + TINY)
        columns.append((beats[:, 1] - beats[:, 0]) * (last != 0))
    own = TermTable(tuple(items), np.array(columns, dtype=np.float32))
    return own.joined(remembered_leads(answers)).joined(kept_leads(answers, of))


SPOKE = "(response[..., 1] - response[..., 0])[..., None] * xp.sign(x[:, 1] - x[:, 0])"
REMEMBERED = (
    StateMemory("sided", SPOKE, "0.0 * x[:, 0][None]"),
    StateMemory("taken", "(response[..., None] * x).sum(axis=-2)", "0.0 * x[:, 0][None]"),
    StateMemory("refused", "((1 - response)[..., None] * x).sum(axis=-2)", "0.0 * x[:, 0][None]"),
)
"""Of rated products, for each cue: whether it spoke for the product that was chosen last, that product's rating, and
the other one's."""
TALLIES = tuple(
    StateMemory(
        name,
        f'state["{name}"] + ({SPOKE} {sign} 0)',
        "0.0 * x[:, 0][None]",
    )
    for name, sign in (("heeded", ">"), ("overruled", "<"))
)
"""Likewise, how often it has spoken for the product chosen, or against it."""
MARKS = (
    StateMemory(
        "verdict", f'xp.where(x[:, 1] != x[:, 0], {SPOKE}, state["verdict"])', "0.0 * x[:, 0][None]"
    ),
    *(
        StateMemory(
            name,
            f'xp.maximum(lifted(state["{name}"], x, xp), 1.0 * ({SPOKE} {sign} 0))',
            "0.0 * x[:, 0][None]",
        )
        for name, sign in (("barred", "<"), ("served", ">"))
    ),
)
"""Likewise, for which product it spoke when it last told them apart; and marks that a cue gets when it is overruled, or
followed, and that all cues lose when none of those without a mark tells the products apart."""
MASKS = (
    ('state["sided"] > 0', "spoke for the product chosen last", 1.5),
    ('state["sided"] < 0', "spoke against the product chosen last", 1.5),
    ('state["sided"] >= 0', "did not speak against the product chosen last", 1.5),
    ('state["sided"] <= 0', "did not speak for the product chosen last", 1.5),
    ('state["sided"] == 0', "spoke for neither product last", 2.5),
    ('state["verdict"] > 0', "were followed when they last spoke", 2.0),
    ('state["verdict"] >= 0', "were not overruled when they last spoke", 2.0),
    ('state["verdict"] < 0', "were overruled when they last spoke", 2.0),
    (
        'lifted(state["barred"], x, xp) == 0',
        "were not overruled since all were last let in again",
        2.5,
    ),
    (
        'lifted(state["served"], x, xp) == 0',
        "were not followed since all were last let in again",
        2.5,
    ),
)
"""All are let in again when none of those left tells the products apart."""


def _remembered_forms() -> Iterator[tuple[str, str, float]]:
    """Numbers of each option ``(n_draws, n_trials, 2)`` that rest on the last trial's ratings: code, words, price."""
    other = "x[:, ::-1]"
    for mask, cues, price in MASKS:
        heard = f"({mask})[:, :, None]"
        yield f"({heard} * x).sum(axis=-1)", f"total of the ratings on cues that {cues}", price + 1
        yield (
            f"({heard} * (x > {other})).sum(axis=-1)",
            f"number of cues ahead among those that {cues}",
            price + 1.5,
        )
        yield (
            f"xp.where({heard}, x, 1e3).min(axis=-1)",
            f"lowest rating on cues that {cues}",
            price + 2,
        )
        yield (
            f"xp.where({heard}, x, -1e3).max(axis=-1)",
            f"highest rating on cues that {cues}",
            price + 2,
        )
        for order, which in (("0.5", "most"), ("2.0", "least")):
            decay = f"{order} ** xp.arange(x.shape[-1])"
            words = f"rating on the {which} valid cue that differs among those that {cues}"
            yield f"({heard} * (x > {other}) * {decay}).sum(axis=-1)", words, price + 2
    for name, words in (("taken", "the product chosen last"), ("refused", "the product left last")):
        before = f'state["{name}"][:, :, None]'
        seen = '(state["last"] != 0)[..., None]'
        yield (
            f"-xp.abs(x - {before}).sum(axis=-1) * {seen}",
            f"likeness in all ratings to {words}",
            3,
        )
        yield (
            f"(x == {before}).sum(axis=-1) * {seen}",
            f"number of ratings equal to those of {words}",
            3,
        )
        yield (
            f"(x > {before}).sum(axis=-1) * {seen}",
            f"number of ratings above those of {words}",
            3,
        )
        yield (
            f"(x >= {before}).sum(axis=-1) * {seen}",
            f"number of ratings not below those of {words}",
            3.5,
        )
    place = "xp.arange(x.shape[-1])"
    for name, words in (("heeded", "followed"), ("overruled", "overruled")):
        tally = f'state["{name}"][:, :, None]'
        yield (
            f"((x > {other}) * {tally}).sum(axis=-1)",
            f"number of times that the cues ahead were {words}",
            3,
        )
        for sign, how in (("", "most"), ("-", "least")):
            for order, tie in (("-", "more"), ("+", "less")):
                claim = f"xp.where(x > {other}, {sign}{tally} {order} 1e-3 * {place}, -1e6).max(axis=-1)"
                yield (
                    claim,
                    f"advantage on the cue {words} {how} often so far, of several the {tie} valid",
                    3.5,
                )


def remembered_leads(answers: InductionAnswers) -> TermTable:
    """Leads, on the rows, of numbers that put the ratings of now beside those of the last trial."""
    if answers.domain != "multiattribute":
        return TermTable((), np.zeros((0, len(answers.trial)), dtype=np.float32))
    forms = list(_remembered_forms())
    parts = Stimuli.in_few_parts(answers.stimuli)
    first = np.cumsum([0, *map(len, parts)])
    found = np.zeros((len(forms), len(answers.trial), 2), dtype=np.float32)
    last = _last(answers)
    for number, stimuli in enumerate(parts):
        rows = np.flatnonzero(
            (answers.trial >= first[number]) & (answers.trial < first[number + 1])
        )
        shown = namespace(answers.vocabulary, stimuli.take(answers.trial[rows] - first[number]))
        state = {"last": last[rows][None]}
        for memory in (*REMEMBERED, *TALLIES, *MARKS):
            state[memory.name] = _renewed(
                answers, memory, rows, shown, {"x": shown["x"]}, shown["x"].shape[-1]
            )
        for place, (code, _, _) in enumerate(forms):
            found[place, rows] = eval(code, {**shown, "state": state})[0]
    items = tuple(
        ChoiceTerm(
            f"(({code})[..., 1] - ({code})[..., 0])",
            f"take the product with the greater {words}",
            price,
            memory=(
                LAST,
                *(
                    memory
                    for memory in (*REMEMBERED, *TALLIES, *MARKS)
                    if f'"{memory.name}"' in code
                ),
            ),
            opposite=f"take the product with the smaller {words}",
        )
        for code, words, price in forms
    )
    return TermTable(items, found[..., 1] - found[..., 0])


BOTH = "xp.stack([nothing, nothing], axis=-1)"
N_CLASSES = (2, 3, 4, 6)
"""Into which the values of a score are divided."""
CALENDAR = (0.0, 7.0, 30.0, 90.0, 365.0)
"""Days up to which a payment is one of today, of the week, the month, the quarter, the year; some people look less far
ahead."""


def _kept_forms(score: OptionScore, value: Array) -> Iterator[tuple[ChoiceTerm, StateMemory, int]]:
    """Leads that rest on what was taken on either side, or of either kind, with what they remember and its width."""
    price = 3 + score.price

    def lead(code: str, words: tuple[str, str], memory: StateMemory, more: float) -> ChoiceTerm:
        text = f"({code}[..., 1] - {code}[..., 0])"
        return ChoiceTerm(text, words[0], price + more, (score,), (memory,), words[1])

    for name, renewed, words in (
        (
            "newest",
            "xp.where(response > 0, {0}, {old})",
            "{which} {score} the last time that it was taken",
        ),
        ("summed", "{old} + response * {0}", "{which} total of the {score} taken there so far"),
    ):
        entry = f'state["{name}_{{0}}"]'
        memory = StateMemory(f"{name}_{{0}}", renewed.replace("{old}", entry), BOTH)
        greater, smaller = (
            words.format(which=which, score=score.words) for which in ("greater", "smaller")
        )
        says = (f"take the side with the {greater}", f"take the side with the {smaller}")
        yield lead(entry, says, memory, 0.0), memory, 2
    levels = thresholds(value, 3)
    for number, level in enumerate(levels):
        for name, sign, how in (("high", ">", "above"), ("low", "<=", "not above")):
            entry = f'state["{name}_{number}_{{0}}"]'
            memory = StateMemory(
                f"{name}_{number}_{{0}}",
                f"xp.maximum({entry}, response) * ({{0}} {sign} {level:g})",
                BOTH,
            )
            where = f"side where the {score.words} has been {how} {level:g} ever since such a product was taken there"
            yield (
                lead(
                    entry,
                    (f"take the {where}", f"leave the {where}"),
                    memory,
                    np.log(2 * len(levels)),
                ),
                memory,
                2,
            )
    divided = {tuple(thresholds(value, n - 1)) for n in N_CLASSES}
    if score.code == "t":
        divided |= {CALENDAR[:n] for n in range(2, len(CALENDAR) + 1)}
    for number, cuts in enumerate(sorted(divided)):
        at = ", ".join(f"{cut:g}" for cut in cuts)
        own = f"classes({{0}}, [{at}], xp)"
        entry = f'state["tally_{number}_{{0}}"]'
        memory = StateMemory(
            f"tally_{number}_{{0}}",
            f"{entry} + (response[..., None] * {own}).sum(axis=-2)",
            f"nothing[..., None] + xp.zeros({len(cuts) + 1})",
        )
        code = f"({entry}[..., None, :] * {own}).sum(axis=-1)"
        kind = f"class of {score.words} (divided at {at}) was taken"
        says = (
            f"take the product whose {kind} more often so far",
            f"take the product whose {kind} less often so far",
        )
        yield lead(code, says, memory, np.log(len(divided))), memory, len(cuts) + 1


def kept_leads(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Leads, on the rows, of what was taken before on either side of the screen, or of either option's kind.

    Args:
        answers: In presentation order.
        of: Leads on the distinct trials whose scores are remembered where they are what an option may be worth.
    """
    places = {score: row for row, score in enumerate(answers.vocabulary.scores)}
    space = namespace(answers.vocabulary, answers.stimuli[0])
    every = np.arange(len(answers.trial))
    items: list[ChoiceTerm] = []
    columns: list[Array] = []
    for score in (term.scores[0] for term in of.items if term.scores[0].is_worth):
        value = answers.scores[places[score]]
        if np.ptp(value) == 0:
            continue
        shown = value[answers.trial]
        for term, memory, width in _kept_forms(score, value):
            name = memory.name.format("score")
            named = StateMemory(name, memory.renewed.format("score"))
            state = {name: _renewed(answers, named, every, space, {"score": shown}, width)}
            items.append(term)
            columns.append(
                eval(term.code.format("score"), {**space, "score": shown, "state": state})[0]
            )
    return TermTable(
        tuple(items), np.array(columns, dtype=np.float32).reshape(-1, len(answers.trial))
    )


def _renewed(
    answers: InductionAnswers,
    memory: StateMemory,
    rows: NDArray[np.intp],
    space: dict[str, Any],
    columns: dict[str, Array],
    width: int,
) -> Array:
    """What is kept before each of some rows, by the text that renews it; nothing at a person's first.

    Args:
        answers: In presentation order.
        memory: Entry of the state.
        rows: All of some experiments.
        space: What the text may call.
        columns: Variables that it reads, first axis ``n_rows``.
        width: Numbers that are kept.

    Returns:
        ``(1, n_rows, width)``.
    """
    at = np.full(len(answers.trial), -1)
    at[rows] = np.arange(len(rows))
    response = (answers.response[rows, None] == np.arange(2)) * 1.0
    code = compile(memory.renewed, memory.name, "eval")
    found = np.zeros((1, len(rows), width))
    for place in range(1, int(answers.number[rows].max(initial=0)) + 1):
        now = np.flatnonzero(answers.number[rows] == place)
        before = at[answers.previous[rows[now]]]
        then = {name: column[before] for name, column in columns.items()}
        then |= {"response": response[None, before], "state": {memory.name: found[:, before]}}
        found[:, now] = eval(code, {**space, **then})
    return found


def _last(answers: InductionAnswers) -> Array:
    return _earlier(answers, 2.0 * answers.response - 1)


def _before(answers: InductionAnswers) -> Array:
    return _earlier(answers, _last(answers))


def _balance(answers: InductionAnswers) -> Array:
    chosen = _chosen(answers)
    return _along(answers, lambda balance, before: balance + chosen[before])


def _habit(answers: InductionAnswers) -> Array:
    chosen = _chosen(answers)
    return _along(answers, lambda habit, before: FADING * habit + (1 - FADING) * chosen[before])


def _run(answers: InductionAnswers) -> Array:
    same = _last(answers) == _chosen(answers)
    return _along(answers, lambda run, before: np.where(same[before], run + 1, 1.0))


def sums(answers: InductionAnswers, lead: Array, size: Array, sign: int) -> Array:
    """What the differences add up to since the side ``sign * lead`` was last chosen, before each row."""
    ended, size = sign * lead[answers.trial] * _chosen(answers) > 0, size[answers.trial]
    return _along(answers, lambda total, before: np.where(ended[before], 0.0, total + size[before]))


def _chosen(answers: InductionAnswers) -> Array:
    """1 for the second option, -1 for the first."""
    return 2.0 * answers.response - 1


def _along(answers: InductionAnswers, renew: Callable[[Array, NDArray[np.intp]], Array]) -> Array:
    """A number carried from row to row of a person, 0 at first: ``renew(number, rows)`` as it was before these rows."""
    found = np.zeros(len(answers.trial))
    for place in range(1, int(answers.number.max()) + 1):
        rows = np.flatnonzero(answers.number == place)
        before = answers.previous[rows]
        found[rows] = renew(found[before], before)
    return found


def _earlier(answers: InductionAnswers, column: Array) -> Array:
    """A column's value at the same person's row before, 0 at the first row."""
    return np.where(answers.previous >= 0, column[answers.previous], 0.0)
