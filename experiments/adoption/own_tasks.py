"""Files whose trials no kind of task of the package has: what they seem to be, and what to do with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lakatos.experiments.adoption.cell_units import dated_amounts
from lakatos.experiments.adoption.mapping import leaves_of
from lakatos.experiments.adoption.menu import REWARDS, menu_of
from lakatos.experiments.adoption.names import CHOICES, words_of
from lakatos.experiments.adoption.option_code import DECLARE
from lakatos.experiments.adoption.plausible import marks_of_missing
from lakatos.experiments.adoption.signatures import (
    ColumnSignature,
    TableSignature,
    association,
    is_not_above,
)
from lakatos.experiments.adoption.tables import places_of
from lakatos.traces.wording import in_a_list

WORD_CELLS = {"word", "woord", "wort", "mot", "palabra", "parola", "palavra"}
"""Cells that say of what is shown that it is a word."""
COHERENCE = {
    "coherence", "coh", "coherency", "coherentie", "coherencia", "cohérence", "kohärenz", "kohaerenz", "coerenza",
}  # fmt: skip
ITEM_RATINGS = re.compile(r"slider|rating|likert", re.IGNORECASE)
CONFLICT = re.compile(
    r"^(in|non|un)?(congru|kongru|compat|kompat|consisten|konsist|conflict|konflikt|conflit|discord|concord|flank"
    r"|distract|distrak|stroop|simon)",
    re.IGNORECASE,
)
"""Beginnings of words that speak of something that distracts from the right response."""
COLOURS = {"color", "colour", "ink", "farbe", "kleur", "couleur"}
SHORTEST_SEQUENCE = 8
GO, NO_GO = {"go"}, {"nogo", "no-go", "no_go", "no go"}
COINS = {"tokens", "token", "endowment", "coins", "budget", "pie", "taler"}
GIVEN = {
    "passed", "given", "gave", "gift", "transfer", "transferred", "sent", "offer", "offered", "donated", "donation",
    "contribution",
}  # fmt: skip
CONTRIBUTION = re.compile("contribut", re.IGNORECASE)
ROUNDS = {"round", "period"}
PAIR = re.compile(r"\(?-?\d+ ?[,;/|] ?-?\d+\)?")
"""Two numbers in a cell, such as the payoffs of two players."""
KEPT = {"kept", "keep", "keeps"}
RATED = {
    "rating",
    "rate",
    "rated",
    "liking",
    "like",
    "likely",
    "would",
    "wouldbuy",
    "judgment",
    "judgement",
    "buy",
}
"""Words in cells, and in names of columns."""
ESTIMATES = {
    "estimate",
    "estimated",
    "estimation",
    "guess",
    "judgment",
    "judgement",
    "reported",
    "schaetzung",
}
MOST_LEVELS, FEWEST_LEVELS = 11, 4
CLOSE = 0.5
"""Correlation of an estimate with what is estimated."""
FEWEST_GIFTS = 6
NOT_READ = "the file is not read"
"""End of messages where nothing can be done."""


def own_task_in_words(table: TableSignature, fewest_options: int = 3) -> str:
    """Describe trials of a kind of task that the package does not have; empty where nothing is recognised.

    Args:
        table: The columns.
        fewest_options: Least number for a menu with one attribute; two, where rows were alternatives.
    """
    if _is_go_no_go(table):
        return (
            "these look like trials of a go/no-go task, in which responses are given or withheld: without a reward "
            "for each response that is no kind of task here, and the file is not read"
        )
    if nested := _nested(table):
        return (
            f"{nested} holds a list of trials in each cell, and trials are read from rows: write a file with a row for "
            "each of them, and the participant in each row"
        )
    if pairs := [
        item.name
        for item in table.columns.values()
        if item.distinct and all(map(PAIR.fullmatch, item.distinct))
    ]:
        return (
            f"{pairs[0]}{' and the like hold' if len(pairs) > 1 else ' holds'} two numbers in each cell, such as "
            f"{table.columns[pairs[0]].distinct[0]}: write a column for each number. If they are payoffs of two "
            'players, say --domain games --column \'own=[["COLUMN", "COLUMN"], ["COLUMN", "COLUMN"]]\' and '
            "other likewise"
        )
    if found := _strength(table) or _rewarded(table) or _repeated_gift(table):
        return found
    if found := _stated_amount(table) or _one_sequence(table):
        return found
    if found := _not_covered(table) or _not_of_choices(table):
        return f"{found}: that is no kind of task here, and the file is not read"
    if menu := menu_of(table, fewest_options):
        attributes = in_a_list(list(menu.attributes))
        return (
            f"each choice seems to be among {in_a_list(menu.options)}, described by {attributes}: that is a task of "
            "your own. `lakatos domain new FILE.toml --data DATA` writes it, with these options and attributes, and "
            f"--domain FILE.toml then names it{menu.none_in_words}"
        )
    if gift := _gift(table):
        given, coins = gift
        what = "what is kept" if set(words_of(given)) & KEPT else "a gift"
        return (
            f"{given} seems to be {what} out of {coins}: that is a task of your own, such as "
            "studies/tasks/giving.toml for 10 coins, or studies/tasks/sharing.toml for shares of any number of them "
            f"(--domain studies/tasks/sharing.toml reads steps of 10%). {DECLARE}"
        )
    if estimated := _estimate(table):
        number, of = estimated
        return (
            f"{number} seems to be an estimate of {of}: no kind of task here is about estimates of what is seen, since "
            "`estimation` is about places on a line, and the file is not read"
        )
    if rating := _rating(table):
        return (
            f"{rating} seems to be a rating of what a row shows, and kinds of tasks here are choices between options, "
            "estimates of a place, and gifts: ratings are not read"
        )
    for column in table.columns.values():
        if column.distinct and all(map(ITEM_RATINGS.search, column.distinct)):
            return (
                f"{column.name} says {column.distinct[0]}, so that these seem to be ratings of single items: that is "
                "no kind of task here, and the file is not read"
            )
    return ""


def _rewarded(table: TableSignature) -> str:
    """Explain how to read two choices and a reward in each row; empty where there are others."""
    columns = table.columns.values()
    chosen = [item.name for item in columns if item.words & CHOICES and len(item.distinct) <= 3]
    paid = [item.name for item in table.numbers() if item.words and item.words <= REWARDS]
    if len(chosen) != 2 or len(paid) != 1:
        return ""
    return (
        f"{in_a_list(chosen)} seem to be choices, and {paid[0]} what they brought: if participants learn from it, say "
        "--domain learning"
    )


def _repeated_gift(table: TableSignature) -> str:
    """Explain what to do where each gift in a round stands in several rows, as where rows are pairs; else empty."""
    columns = table.columns
    rounds = [item for item in columns.values() if item.words & ROUNDS and item.is_number]
    gifts = [item for item in columns.values() if CONTRIBUTION.search(item.name) and item.is_number]
    if table.participant not in columns or len(rounds) != 1:
        return ""
    turn = places_of(table.person, rounds[0].code)
    if np.bincount(turn).min() < 2:
        return ""
    own = [item.name for item in gifts if places_of(turn, item.code).max() == turn.max()]
    if len(own) != 1:
        return ""
    once = f"each {table.participant} and {rounds[0].name}"
    return (
        f"{own[0]} is the same in all rows of {once}, so that a row seems to be a pair of participants. In the kind "
        f"`public_goods` a row is a gift: write a file with one row for {once}, and say --domain public_goods --column "
        f"group=COLUMN --column round={rounds[0].name} --column response={own[0]}"
    )


def _strength(table: TableSignature) -> str:
    """Explain how to read a column of coherences, or of contrasts beside directions; empty without any."""
    sides = [item.name for item in table.columns.values() if item.words & {"direction"}]
    names = COHERENCE | ({"contrast", "strength"} if sides else set())
    for column in table.columns.values():
        if column.words & names and column.is_number:
            return (
                f"{column.name} seems to say how strong stimuli were, as in how coherently dots move: say --domain "
                f"perception --column strength={column.name} --column right_key={(sides or ['COLUMN'])[0]} --column "
                "response=COLUMN"
            )
    return ""


STATED = {"ce", "wtp", "wta", "equivalent", "valuation", "indifference", "indiff"}
"""Words in names of columns of amounts that participants stated."""
NONE_FITS = "no kind of task here fits"


def _stated_amount(table: TableSignature) -> str:
    """Explain what to do with amounts that participants stated, such as certainty equivalents; empty without any."""
    amounts = [item for item in table.numbers() if item.words & STATED]
    if len(amounts) != 1 or len(amounts[0].distinct) <= MOST_LEVELS:
        return ""
    name = amounts[0].name
    return (
        f"{name} seems to hold amounts that participants stated, such as certainty equivalents, indifference points or "
        f"prices: {NONE_FITS}, since responses are choices, places on a line, or gifts. A task of your own can have "
        "such responses in at most 21 steps of the largest amount, as options = { from = 0, to = 100, step = 5 } and "
        f"--column 'response=round({name} / LARGEST * 20) * 5'. {DECLARE}"
    )


def _one_sequence(table: TableSignature) -> str:
    """Explain what to do where each row shows one sequence and a column has the judgement of it; else empty."""
    shown = [item for item in table.free if _is_sequence(item, shared=True)]
    judged = [item for item in table.free if item.words & (CHOICES | RATED)]
    judged = [item for item in judged if 2 <= len(item.distinct) <= MOST_LEVELS]
    if len(shown) != 1 or len(judged) != 1:
        return ""
    options = sorted(judged[0].distinct)
    return (
        f"{shown[0].name} seems to hold one sequence in each row, and {judged[0].name} what was judged of it: "
        f"{NONE_FITS}, since `sequences` has choices which of two looks more random. In a task of your own with the "
        f"options {in_a_list(options)}, numbers that describe a sequence, such as that of its changes, can be "
        f"attributes of {options[-1]}, with 0 for the other: add a column for each to the file. {DECLARE}"
    )


def _nested(table: TableSignature) -> str:
    """The column whose cells are lists of trials; empty without any."""
    filled = (item for item in table.columns.values() if item.distinct)
    lists = (item.name for item in filled if all(cell.startswith("[{") for cell in item.distinct))
    return next(lists, "")


OTHER_TASKS = {
    frozenset({"ssd"}): "when to stop a response (a stop-signal task)",
    frozenset({"stop", "signal"}): "when to stop a response (a stop-signal task)",
    frozenset({"pumps"}): "what each pump was (`stopping` has a row for each balloon)",
    frozenset({"response", "deg"}): "angles that were reported",
    frozenset({"response", "angle"}): "angles that were reported",
    frozenset({"reported", "angle"}): "angles that were reported",
    frozenset({"sent", "back"}): "what was sent back in a trust game",
}
"""Words in names, or in cells, of columns of tasks that no kind here holds, and what they say."""


def _not_covered(table: TableSignature) -> str:
    """Describe trials without options by their cells and names; empty where nothing shows what they are."""
    columns = list(table.columns.values())
    for column in columns:
        distinct_cells = {cell.casefold() for cell in column.distinct}
        words = distinct_cells & WORD_CELLS
        other = next(iter(distinct_cells - words), "")
        own = (
            column.words
            if column.is_number
            else {word for cell in distinct_cells for word in words_of(cell)}
        )
        if others := [what for words, what in OTHER_TASKS.items() if words <= own]:
            return f"{column.name} seems to say {others[0]}"
        is_other = other.startswith(("pseud", "non")) or any(word in other for word in words)
        if len(distinct_cells) == 2 and len(words) == 1 and is_other:
            return f"{column.name} says of each item whether it is a word, as in lexical decision"
        if _is_sequence(column):
            return (
                f"{column.name} seems to hold sequences that participants produced (the kind `sequences` has choices "
                "which of two looks more random)"
            )
    return ""


def _not_of_choices(table: TableSignature) -> str:
    """Describe rows without choices: items, signals, texts, judgements; empty where none is clear."""
    columns = table.columns
    n_people = int(table.person.max(initial=0)) + 1
    stems: dict[str, list[str]] = {}
    for name, own in columns.items():
        n_levels = len(own.distinct) - len(marks_of_missing(own.values[np.isfinite(own.values)]))
        if own.is_whole and MOST_LEVELS >= n_levels > 2 and not own.words & CHOICES:
            stems.setdefault(name.rstrip("0123456789"), []).append(name)
    several = [name for own in stems.values() if len(own) >= FEWEST_OF_SCALE for name in own]
    items = several if len(several) >= MANY_ITEMS else max(stems.values(), key=len, default=[])
    is_of_people = n_people == len(table.person) or (not table.participant and items == several)
    if len(items) >= FEWEST_ITEMS and is_of_people:
        return f"{items[0]} to {items[-1]} seem to be items of a questionnaire"
    response = next((name for name, own in table.named.items() if own == "response"), "")
    stem = response.rstrip("0123456789")
    is_item = [name.rstrip("0123456789") for name in columns].count(stem) >= FEWEST_ITEMS
    if (
        response
        and not is_item
        and not [own for own in table.free if own.name != response and not own.words & CLOCKS]
    ):
        return f"{response} stands alone, without options or rewards beside it"
    for name, own in columns.items():
        same = np.diff(table.person) == 0
        steps = np.diff(own.values)[same] if own.is_number else np.zeros(0)
        is_clock = len(steps) > FEWEST_SAMPLES and np.ptp(steps) == 0 and steps[0] > MOST_COUNTED
        has_times = any(other.words & {"rt", "reaction"} for other in columns.values())
        if is_clock and own.words & CLOCKS and not response and not has_times:
            return f"{name} rises by {steps[0]:g} from row to row, so that these seem to be samples of a signal"
        n_words = [len(cell.split()) for cell in own.distinct]
        is_new = len(own.distinct) > 0.7 * len(own.cells) and response in ("", name)
        if (
            is_new
            and np.mean(n_words) >= WORDS_OF_TEXT
            and not any(map(dated_amounts, own.distinct))
        ):
            return f"{name} seems to hold texts in the words of participants"
    return ""


CLOCKS = {"time", "date", "timestamp", "t", "ms", "sec", "sample", "frame"}
"""Words in names of columns."""
FEWEST_OF_SCALE, MANY_ITEMS = 3, 12
"""Columns of one scale of a questionnaire, and of several scales, so that rows are people where nothing says it."""
FEWEST_ITEMS, FEWEST_SAMPLES, WORDS_OF_TEXT, MOST_COUNTED = 6, 20, 3, 2
"""Columns of a questionnaire, rows of a signal, words of a text, and the step of what counts trials."""


def _is_sequence(column: ColumnSignature, *, shared: bool = False) -> bool:
    """Whether cells are long strings of the same two to four letters, nearly all different unless they are shared."""
    cells = [cell for cell in column.cells if cell]
    letters = set("".join(column.distinct))
    return (
        2 <= len(letters) <= 4
        and all(letter.isalnum() for letter in letters)
        and min(map(len, cells)) >= SHORTEST_SEQUENCE
        and len(column.distinct) > (MOST_LEVELS if shared else len(cells) / 2)
    )


def speaks_of_conflict(table: TableSignature) -> bool:
    """Whether names or cells speak of congruence, of what distracts, or of a word and a colour."""
    named = set().union(*(words_of(name) for name in table.columns))
    found = [
        cell
        for column in table.columns.values()
        if len(column.distinct) <= 12
        for cell in column.distinct
    ]
    has_word = bool(named & {"word", "wort", "woord", "mot", "palabra"})
    return (has_word and bool(named & COLOURS)) or any(map(CONFLICT.search, [*named, *found]))


def _is_go_no_go(table: TableSignature) -> bool:
    cells = [{cell.casefold() for cell in own.distinct} for own in table.columns.values()]
    return any(
        len(own_values) == 2 and own_values & GO and own_values & NO_GO for own_values in cells
    )


def _gift(table: TableSignature) -> tuple[str, str] | None:
    """A column of gifts that never lies above one of coins."""
    numbers = table.numbers()
    named = [item for item in numbers if item.words & GIVEN]
    named = named or [
        item for item in table.columns.values() if item.words & KEPT and item.is_number
    ]
    given = [item for item in named if len(item.distinct) >= FEWEST_GIFTS]
    coins = [item for item in (*numbers, *table.constants()) if item.words & COINS]
    coins = coins or [item for item in numbers if item.is_whole and item not in given]
    fits = [(a, b) for a in given for b in coins if a is not b and is_not_above(a.values, b.values)]
    return (fits[0][0].name, fits[0][1].name) if len(fits) == 1 else None


def gift_of(
    table: TableSignature, stimulus: Mapping[str, Any], options: Sequence[str]
) -> list[str]:
    """The response in a task of gifts out of a column of coins, also as what is not kept; none where it is unclear.

    Where options are shares in per cent, it is the nearest of them.
    """
    given, coins = _gift(table) or ("", "")
    leaves = [str(leaf) for leaf in leaves_of(stimulus)]
    if not given.isidentifier() or not {coins} & {
        re.split(r"\W", leaf.lstrip("("))[0] for leaf in leaves
    }:
        return []
    is_kept = bool(set(words_of(given)) & KEPT)
    if all(label.endswith("%") for label in options):
        n_steps = len(options) - 1
        share = f"round({given} / {coins} * {n_steps}) * {100 / n_steps:.10g}"
        return [f"100 - {share}" if is_kept else share]
    return [f"{coins} - {given}" if is_kept else given]


def _estimate(table: TableSignature) -> tuple[str, str] | None:
    """A column of numbers that are called estimates, and the only one that they follow closely."""
    numbers = [item for item in table.numbers() if len(item.distinct) >= FEWEST_LEVELS]
    distinct_cells = [
        item for item in numbers if item.words & ESTIMATES and len(item.distinct) > MOST_LEVELS
    ]
    if len(distinct_cells) != 1:
        return None
    strength = np.sqrt(len(distinct_cells[0].values)) * CLOSE
    fits = [
        item
        for item in numbers
        if item is not distinct_cells[0]
        and association(item.values, distinct_cells[0].values) > strength
    ]
    return (distinct_cells[0].name, fits[0].name) if len(fits) == 1 else None


def _rating(table: TableSignature) -> str:
    found = [item.name for item in table.numbers() if item.words & RATED and _is_scale(item)]
    return found[0] if len(found) == 1 else ""


def _is_scale(item: ColumnSignature) -> bool:
    """Whether a column says whole numbers of a scale."""
    known = item.values[np.isfinite(item.values)]
    return item.is_whole and 3 <= len(item.distinct) <= MOST_LEVELS and bool(np.ptp(known) <= 100)
