"""Leads and gates that look at what a person chose and saw before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli
from lakatos.theories.discovery.induction.library import namespace
from lakatos.theories.discovery.induction.phrase import having
from lakatos.theories.discovery.induction.term_text import compute, read_expression
from lakatos.theories.discovery.induction.terms import (
    Array,
    ChoiceTerm,
    InductionAnswers,
    StateMemory,
    TermTable,
    side,
    thresholds,
)
from lakatos.theories.language.option_score import TINY, OptionScore, PricedExpression, filled

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
"""Memory of what choices of one kind have come to since the last one of the other kind."""
N_SUMS = 16
"""Thresholds on such sums."""
FADING = 0.7
"""Share of a habit that is kept from one trial to the next."""


AGREED = StateMemory("agreed_{0}", "(response[..., 1] - response[..., 0]) * side(lead({0}), xp)")
"""Whether the option chosen last had the greater score (1) or the smaller one (-1)."""
TermColumn = tuple[ChoiceTerm, Array]
"""A term and its values on the rows."""


def table_of(terms: Iterable[TermColumn]) -> TermTable:
    """Terms with their values, as a table."""
    items, columns = zip(*terms, strict=True)
    return TermTable(items, np.array(columns, dtype=np.float32))


def past_leads(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Sides that one's own past suggests, on the rows: repeating, and comparing with what was chosen last.

    Args:
        answers: Responses in presentation order.
        of: Leads (numbers) on the distinct trials whose scores may be remembered.
    """
    own = table_of((*_repeated_sides(answers), *_beside_last(answers, of)))
    return own.joined(remembered_leads(answers)).joined(kept_leads(answers, of))


def _repeated_sides(answers: InductionAnswers) -> Iterator[TermColumn]:
    """Leads to a side chosen before, whatever it showed."""
    last, before = _last(answers), _before(answers)
    twice = 'state["last"] * (state["last"] == state["before"])'
    for code, side_, price, memory, column in (
        ('state["last"]', "the side chosen last", 1, (LAST,), last),
        ('state["before"]', "the side chosen before the last one", 2, (LAST, BEFORE), before),
        (twice, "the side chosen twice in a row", 2, (LAST, BEFORE), last * (last == before)),
        ('state["balance"]', "the side chosen more often so far", 2, (BALANCE,), _balance(answers)),
        ('state["habit"]', "the side chosen more often of late", 2, (HABIT,), _habit(answers)),
    ):
        opposite = f"leave {side_}"
        yield ChoiceTerm(code, f"repeat {side_}", price, (), memory, opposite), column


class LeadBesideLast(NamedTuple):
    """A lead that compares with the product chosen last; ``{score}`` stands for the words of a score."""

    code: str
    words: str
    opposite: str
    price: float
    memory: tuple[StateMemory, ...]


BESIDE_LAST = (
    LeadBesideLast(
        'state["last"] * state["agreed_{0}"]',
        "repeat the side chosen last if it had the greater {score}, else leave it",
        "repeat the side chosen last if it had the smaller {score}, else leave it",
        2,
        (LAST, AGREED),
    ),
    LeadBesideLast(
        '({0}[:, 1] - state["had_{0}"]) * (state["last"] != 0)',
        "prefer B where its {score} is greater than that of the product chosen last",
        "prefer B where its {score} is smaller than that of the product chosen last",
        3,
        (LAST, HAD),
    ),
    LeadBesideLast(
        '({0}[:, 0] - state["had_{0}"]) * (state["last"] != 0) * -1',
        "prefer A where its {score} is greater than that of the product chosen last",
        "prefer A where its {score} is smaller than that of the product chosen last",
        3,
        (LAST, HAD),
    ),
    LeadBesideLast(
        '(xp.abs({0}[:, 0] - state["had_{0}"]) - xp.abs({0}[:, 1] - state["had_{0}"])) * (state["last"] != 0)',
        "take the product with the {score} more like that of the product chosen last",
        "take the product with the {score} less like that of the product chosen last",
        3,
        (LAST, HAD),
    ),
    LeadBesideLast(
        '(1.0 * ({0}[:, 1] > state["had_{0}"] + 1e-9) - ({0}[:, 0] > state["had_{0}"] + 1e-9))'
        ' * (state["last"] != 0)',
        "take the product whose {score} alone is greater than that of the product chosen last",
        "leave the product whose {score} alone is greater than that of the product chosen last",
        3,
        (LAST, HAD),
    ),
)


def _beside_last(answers: InductionAnswers, of: TermTable) -> Iterator[TermColumn]:
    """Leads that compare the products of now with the one chosen last, score by score."""
    last = _last(answers)
    rows = {score: row for row, score in enumerate(answers.vocabulary.scores)}
    for term in of.items:
        score = term.scores[0]
        columns = _columns_beside_last(answers, answers.scores[rows[score]], last)
        for lead, column in zip(BESIDE_LAST, columns, strict=True):
            words, opposite = (
                text.format(score=score.words) for text in (lead.words, lead.opposite)
            )
            price = lead.price + score.price
            yield ChoiceTerm(lead.code, words, price, (score,), lead.memory, opposite), column


def _columns_beside_last(answers: InductionAnswers, value: Array, last: Array) -> tuple[Array, ...]:
    """Values of `BESIDE_LAST` on the rows, for one score with values ``(n_trials, 2)``."""
    now, had = value[answers.trial], had_before(answers, value)
    follows = last != 0
    apart = np.abs(now - had[:, None])
    beats = 1.0 * (now > had[:, None] + TINY)
    return (
        last * agreed_before(answers, value),
        (now[:, 1] - had) * follows,
        -1 * (now[:, 0] - had) * follows,
        (apart[:, 0] - apart[:, 1]) * follows,
        (beats[:, 1] - beats[:, 0]) * follows,
    )


def agreed_before(answers: InductionAnswers, value: Array) -> Array:
    """For each row, return 1 where the option chosen before had the greater value, -1 where it had the smaller one."""
    lead = side(value[:, 1] - value[:, 0])
    return _earlier(answers, lead[answers.trial] * _chosen(answers))


def had_before(answers: InductionAnswers, value: Array) -> Array:
    """For each row, return the value ``(n_trials, 2)`` of the option chosen before; 0 at a person's first row."""
    return _earlier(answers, value[answers.trial, answers.response])


SPOKE = "(response[..., 1] - response[..., 0])[..., None] * xp.sign(x[:, 1] - x[:, 0])"
NO_CUE = "0.0 * x[:, 0][None]"
"""A zero for each cue."""
REMEMBERED = (
    StateMemory("sided", SPOKE, NO_CUE),
    StateMemory("taken", "(response[..., None] * x).sum(axis=-2)", NO_CUE),
    StateMemory("refused", "((1 - response)[..., None] * x).sum(axis=-2)", NO_CUE),
)
"""Memories of each cue of rated products: whether it favoured the product chosen last, that product's rating, and the
other product's."""
TALLIES = tuple(
    StateMemory(
        name,
        f'state["{name}"] + ({SPOKE} {sign} 0)',
        NO_CUE,
    )
    for name, sign in (("heeded", ">"), ("overruled", "<"))
)
"""Memories of each cue: how often it has favoured the product chosen, and how often it has not."""
MARKS = (
    StateMemory("verdict", f'xp.where(x[:, 1] != x[:, 0], {SPOKE}, state["verdict"])', NO_CUE),
    *(
        StateMemory(
            name,
            f'xp.maximum(lifted(state["{name}"], x, xp), 1.0 * ({SPOKE} {sign} 0))',
            NO_CUE,
        )
        for name, sign in (("barred", "<"), ("served", ">"))
    ),
)
"""Memories of each cue: which product it favoured when it last discriminated; and marks that a cue gets when it is
overruled, or followed, and that all cues lose when no cue without a mark discriminates between the products."""
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


ON_CUES = (
    PricedExpression("(({mask})[:, :, None] * x).sum(axis=-1)", "total of the ratings on cues that {cues}", 1),
    PricedExpression("(({mask})[:, :, None] * (x > x[:, ::-1])).sum(axis=-1)",
                     "number of cues ahead among those that {cues}", 1.5),
    PricedExpression("xp.where(({mask})[:, :, None], x, 1e3).min(axis=-1)", "lowest rating on cues that {cues}", 2),
    PricedExpression("xp.where(({mask})[:, :, None], x, -1e3).max(axis=-1)", "highest rating on cues that {cues}", 2),
    PricedExpression("(({mask})[:, :, None] * (x > x[:, ::-1]) * 0.5 ** xp.arange(x.shape[-1])).sum(axis=-1)",
                     "rating on the most valid cue that differs among those that {cues}", 2),
    PricedExpression("(({mask})[:, :, None] * (x > x[:, ::-1]) * 2.0 ** xp.arange(x.shape[-1])).sum(axis=-1)",
                     "rating on the least valid cue that differs among those that {cues}", 2),
)  # fmt: skip
"""Numbers of each option that rest on the cues of a mask."""
PRODUCTS_BEFORE = (("taken", "the product chosen last"), ("refused", "the product left last"))
LIKE_BEFORE = (
    PricedExpression("-xp.abs(x - {before}).sum(axis=-1) * {seen}", "likeness in all ratings to {product}", 3),
    PricedExpression("(x == {before}).sum(axis=-1) * {seen}", "number of ratings equal to those of {product}", 3),
    PricedExpression("(x > {before}).sum(axis=-1) * {seen}", "number of ratings above those of {product}", 3),
    PricedExpression("(x >= {before}).sum(axis=-1) * {seen}", "number of ratings not below those of {product}", 3.5),
)  # fmt: skip
CUE_FATES = (("heeded", "followed"), ("overruled", "overruled"))
BY_TALLY = (
    PricedExpression("((x > x[:, ::-1]) * {tally}).sum(axis=-1)",
                     "number of times that the cues ahead were {fate}", 3),
    *(
        PricedExpression("xp.where(x > x[:, ::-1], " + claim + " 1e-3 * xp.arange(x.shape[-1]), -1e6).max(axis=-1)",
                         f"advantage on the cue {{fate}} {how}, of several the {tie} valid", 3.5)
        for claim, how, tie in (
            ("{tally} -", "most often so far", "more"),
            ("{tally} +", "most often so far", "less"),
            ("-{tally} -", "least often so far", "more"),
            ("-{tally} +", "least often so far", "less"),
        )
    ),
)  # fmt: skip


def _remembered_forms() -> Iterator[PricedExpression]:
    """Numbers of each option ``(n_draws, n_trials, 2)`` that rest on the last trial's ratings."""
    for mask, cues, price in MASKS:
        yield from filled(ON_CUES, price, mask=mask, cues=cues)
    seen = '(state["last"] != 0)[..., None]'
    for name, product in PRODUCTS_BEFORE:
        before = f'state["{name}"][:, :, None]'
        yield from filled(LIKE_BEFORE, before=before, seen=seen, product=product)
    for name, fate in CUE_FATES:
        yield from filled(BY_TALLY, tally=f'state["{name}"][:, :, None]', fate=fate)


CUE_MEMORIES = (*REMEMBERED, *TALLIES, *MARKS)


def remembered_leads(answers: InductionAnswers) -> TermTable:
    """Leads, on the rows, of numbers that put ratings of now beside those of the last trial."""
    if not answers.vocabulary.n_cues:
        return TermTable((), np.zeros((0, len(answers.trial)), dtype=np.float32))
    forms = list(_remembered_forms())
    parts = Stimuli.in_few_parts(answers.stimuli)
    first = np.cumsum([0, *map(len, parts)])
    found = np.zeros((len(forms), len(answers.trial), 2), dtype=np.float32)
    last = _last(answers)
    # Experiments with equally many cues together: what is remembered before each row, then the forms.
    for number, stimuli in enumerate(parts):
        is_here = (answers.trial >= first[number]) & (answers.trial < first[number + 1])
        rows = np.flatnonzero(is_here)
        shown = namespace(answers.vocabulary, stimuli.take(answers.trial[rows] - first[number]))
        x, state = shown["x"], {"last": last[rows][None]}
        for memory in CUE_MEMORIES:
            state[memory.name] = _renewed(answers, memory, rows, shown, {"x": x}, x.shape[-1])
        for place, form in enumerate(forms):
            found[place, rows] = compute(form.code, {**shown, "state": state})[0]
    return TermTable(tuple(map(_remembered_lead, forms)), found[..., 1] - found[..., 0])


def _remembered_lead(form: PricedExpression) -> ChoiceTerm:
    """The lead of a number that rests on the last trial's ratings."""
    read = (memory for memory in CUE_MEMORIES if f'"{memory.name}"' in form.code)
    return ChoiceTerm(
        f"(({form.code})[..., 1] - ({form.code})[..., 0])",
        f"take the product {having(form.words, more=True)}",
        form.price,
        memory=(LAST, *read),
        opposite=f"take the product {having(form.words, more=False)}",
    )


BOTH = "xp.stack([nothing, nothing], axis=-1)"
N_CLASSES = (2, 3, 4, 6)
"""Into which the values of a score are divided."""
CALENDAR = (0.0, 7.0, 30.0, 90.0, 365.0)
"""Days up to which a payment is one of today, of the week, the month, the quarter, the year; some people look less far
ahead."""


@dataclass(frozen=True)
class KeptForm:
    """A lead that rests on what was taken before."""

    code: str
    """Expression of a number of each option, ``(n_draws, n_trials, 2)``."""
    words: str
    opposite: str
    more: float
    """Price beside that of its score, nats."""
    memory: StateMemory
    width: int
    """Numbers that the memory keeps."""


def _kept_forms(score: OptionScore, value: Array) -> Iterator[KeptForm]:
    """Leads that rest on what was taken on either side, or of either kind."""
    yield from _kept_values(score)
    yield from _kept_marks(score, thresholds(value, 3))
    divided = {tuple(thresholds(value, n - 1)) for n in N_CLASSES}
    if score.code == "t":
        divided |= {CALENDAR[:n] for n in range(2, len(CALENDAR) + 1)}
    yield from _kept_tallies(score, sorted(divided))


def _kept_values(score: OptionScore) -> Iterator[KeptForm]:
    """The score that each side had when it was last taken, and what the sides taken had together."""
    for name, renewed, what in (
        ("newest", "xp.where(response > 0, {0}, {old})", f"{score.words} the last time that it was taken"),
        ("summed", "{old} + response * {0}", f"total of the {score.words} taken there so far"),
    ):  # fmt: skip
        entry = f'state["{name}_{{0}}"]'
        memory = StateMemory(f"{name}_{{0}}", renewed.replace("{old}", entry), BOTH)
        greater, smaller = (
            f"take the side with the {how} {what}" for how in ("greater", "smaller")
        )
        yield KeptForm(entry, greater, smaller, 0.0, memory, 2)


def _kept_marks(score: OptionScore, levels: Sequence[float]) -> Iterator[KeptForm]:
    """Sides where the score has stayed above a level, or not above it, since such an option was taken there."""
    for number, level in enumerate(levels):
        for kind, sign, how in (("high", ">", "above"), ("low", "<=", "not above")):
            name = f"{kind}_{number}_{{0}}"
            entry = f'state["{name}"]'
            renewed = f"xp.maximum({entry}, response) * ({{0}} {sign} {level:g})"
            where = f"side where the {score.words} has been {how} {level:g} ever since such a product was taken there"
            yield KeptForm(
                entry,
                f"take the {where}",
                f"leave the {where}",
                np.log(2 * len(levels)),
                StateMemory(name, renewed, BOTH),
                2,
            )


def _kept_tallies(score: OptionScore, divided: Sequence[tuple[float, ...]]) -> Iterator[KeptForm]:
    """Yield leads by how often options of either one's class were taken, for some divisions into classes."""
    for number, cuts in enumerate(divided):
        at = ", ".join(f"{cut:g}" for cut in cuts)
        own = f"classes({{0}}, [{at}], xp)"
        name, n_classes = f"tally_{number}_{{0}}", len(cuts) + 1
        entry = f'state["{name}"]'
        renewed = f"{entry} + (response[..., None] * {own}).sum(axis=-2)"
        kind = f"class of {score.words} (divided at {at}) was taken"
        yield KeptForm(
            f"({entry}[..., None, :] * {own}).sum(axis=-1)",
            f"take the product whose {kind} more often so far",
            f"take the product whose {kind} less often so far",
            np.log(len(divided)),
            StateMemory(name, renewed, f"nothing[..., None] + xp.zeros({n_classes})"),
            n_classes,
        )


def kept_leads(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Leads, on the rows, of what was taken before on either side of the screen, or of either option's kind.

    Args:
        answers: Responses in presentation order.
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
        for form in _kept_forms(score, value):
            lead = f"({form.code}[..., 1] - {form.code}[..., 0])"
            price = 3 + score.price + form.more
            items.append(
                ChoiceTerm(lead, form.words, price, (score,), (form.memory,), form.opposite)
            )
            # Its text, evaluated with the score's values under the name "score".
            name = form.memory.name.format("score")
            memory = StateMemory(name, form.memory.renewed.format("score"))
            kept = _renewed(answers, memory, every, space, {"score": shown}, form.width)
            known = {**space, "score": shown, "state": {name: kept}}
            columns.append(compute(lead.format("score"), known)[0])
    values = np.array(columns, dtype=np.float32)
    return TermTable(tuple(items), values.reshape(-1, len(answers.trial)))


def _renewed(
    answers: InductionAnswers,
    memory: StateMemory,
    rows: NDArray[np.intp],
    space: dict[str, Any],
    columns: dict[str, Array],
    width: int,
) -> Array:
    """Compute what is kept before each of some rows, by the text that renews it; 0 at a person's first.

    Args:
        answers: Responses in presentation order.
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
    renew = read_expression(memory.renewed)
    found = np.zeros((1, len(rows), width))
    for place in range(1, int(answers.number[rows].max(initial=0)) + 1):
        now = np.flatnonzero(answers.number[rows] == place)
        before = at[answers.previous[rows[now]]]
        then = {name: column[before] for name, column in columns.items()}
        then |= {"response": response[None, before], "state": {memory.name: found[:, before]}}
        found[:, now] = renew({**space, **then})
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
    """Sum the differences since the side ``sign * lead`` was last chosen, before each row."""
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
