"""Code of a column of responses where a study states none: the option that each cell names."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.cell_units import amount_said
from lakatos.experiments.adoption.expression import ColumnExpression
from lakatos.experiments.adoption.layouts import SIDES
from lakatos.experiments.adoption.mapping import OPEN_QUESTION, AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import CHOICES, column_option, words_of
from lakatos.experiments.adoption.row_cells import MANY_ROWS, RowCells, read_part
from lakatos.experiments.adoption.tables import by_distinct, whole
from lakatos.experiments.errors import TrialsError

EARLY = {
    "ss",
    "sooner",
    "now",
    "today",
    "soon",
    "early",
    "earlier",
    "immediate",
    "impulsive",
    "impatient",
}
LATE = {"ll", "later", "then", "late", "delayed", "wait", "patient"}
SAFE, RISKY = {"safe", "safer", "sure", "certain"}, {"risky", "riskier", "gamble", "lottery"}
OPPOSITES: tuple[tuple[set[str], set[str]], ...] = (
    (EARLY, LATE),
    (SAFE, RISKY),
    ({"left", "l"}, {"right", "r"}),
    ({"first", "1"}, {"second", "2"}),
    ({"a"}, {"b"}),
    ({"x"}, {"y"}),
)
"""Words for one of two options and for the other one, the usual first option first."""
NEED_A_VERB = {"first", "second", "1", "2", "then"}
"""Words that are no option in a name such as ``first_choice``; nor is any single letter."""
ACCEPT = {
    "accept", "accepts", "accepted", "play", "played", "bet", "took", "annehmen", "angenommen", "akzeptiert", "acepta",
    "acepto", "aceptado", "aceptada", "aceita", "aceitou", "accetta", "accettata", "accettare", "geaccepteerd",
}  # fmt: skip
REJECT = {
    "reject", "rejects", "rejected", "refuse", "refused", "decline", "declined", "pass", "skip", "leave", "ablehnen",
    "abgelehnt", "rechaza", "rechazo", "rechazada", "refus", "rejeita", "rejeitou", "recusa", "recusou",
    "rifiuta", "rifiutata", "rifiutare", "geweigerd", "weigert",
}  # fmt: skip
"""Words for taking and for leaving what is offered."""
NEGATIVE = {
    "less", "least", "not", "worse", "worst", "lost", "wrong", "incorrect", "unlikely", "weniger", "wenigsten", "nicht",
    "schlechter", "schlechtere", "falsch", "verworfen", "moins", "pas", "non", "pire", "rejete", "menos", "peor",
    "rechazado", "minder", "niet", "slechter", "afgewezen", "meno", "peggiore", "rifiutato", "nao", "pior", "rejeitado",
}  # fmt: skip
"""Words in names of responses that name the option which has less of what is asked, or was not chosen."""
VERBS = {
    "accept", "accepted", "choose", "chooses", "chose", "chosen", "pick", "picked", "picks", "prefer", "preferred",
    "select", "selected", "take", "taken", "takes", "took", "share", "shares", "proportion", "prop", "percent", "pct",
}  # fmt: skip
PLACES = {"left", "right", "l", "r", "links", "rechts", "top", "bottom", "up", "down"}
"""Cells that say where an option stood."""
SWAPPED = {"swap", "swapped", "flip", "flipped", "mirrored", "switched"}
"""Words in names of columns that say whether options changed places."""
WHOLE_NUMBER = re.compile(r"[+-]?\d+")
NEITHER = " (neither)"
"""Words behind a cell of a response that is none of the two with which it is compared."""
RARE = 0.5
"""Share of 0 beside that of the rarest other code, below which it may stand for an answer that was missed."""
MOST_MISSED = 0.1
"""Share of responses beyond which a cell is hardly the mark of a missed one."""
DECLARE = "`lakatos domain new FILE.toml` writes an example to change, which --domain FILE.toml then names"
MOST_PARTS = 12
"""Different cells of a column that may tell apart the rows of two codes."""
TRUTH = {
    "false": "0", "true": "1", "no": "0", "yes": "1", "nein": "0", "ja": "1", "falsch": "0", "wahr": "1",
    "faux": "0", "vrai": "1", "non": "0", "oui": "1", "falso": "0", "verdadero": "1", "si": "1", "sí": "1",
    "onwaar": "0", "waar": "1", "nee": "0", "vero": "1", "sì": "1", "sim": "1", "não": "0", "nao": "0",
}  # fmt: skip
"""Words for 0 and 1."""


def code_of_cells(
    cells: RowCells,
    columns: AnswerColumns,
    n_options: int,
    labels: Sequence[str],
    notes: list[str],
    *,
    names_of_arms: bool = False,
) -> dict[str, int]:
    """The option, from 0, that each cell of the responses names: by labels, or by numbers from 0 or from 1.

    Of two options, -1 and 1 are the first and the second one; and where the column's name names an option, as
    ``chose_now`` does, 1 and true stand for it.

    Where cells name what is learned about (``names_of_arms``), their order means nothing, and is that of the alphabet.

    Returns:
        Nothing where the cells can be read in two ways, or in none.

    Raises:
        TrialsError: The cells are numbers that can be read in two ways; the message says both.
    """
    column = columns.response or "response"
    distinct = {str(cell).strip() for cell in set(cells.text(column))} - {""}
    by_label = _by_label(distinct, labels)
    if len(by_label) < len(distinct) and n_options == 2:
        by_label = code_of_pair(distinct) or by_label
    if distinct and len(by_label) == len(distinct):
        return _not_negative(cells, column, by_label, n_options, names_of_arms=names_of_arms)
    _refuse_two_codes(cells, column, distinct)
    truth = {cell: TRUTH[cell.casefold()] for cell in distinct if cell.casefold() in TRUTH}
    if n_options == 2 and distinct and len(truth) == len(distinct):
        zero_or_one = {"0": 0, "1": 1}
        code = {cell: zero_or_one[number] for cell, number in truth.items()}
        words = sorted(truth, key=lambda cell: truth[cell])
        notes.append(
            f"{column}: {words[0].casefold()} is taken for the first option and {words[-1].casefold()} for the second"
        )
    else:
        numbers = {cell: int(cell) for cell in distinct if WHOLE_NUMBER.fullmatch(cell)}
        code = _by_number(cells, column, numbers, n_options, notes)
        code = code or by_label or _by_letter(distinct, n_options)
        is_of_names = not numbers and not {cell.casefold() for cell in distinct} & PLACES
        if not code and names_of_arms and is_of_names and len(distinct) == n_options:
            code = {cell: place for place, cell in enumerate(sorted(distinct))}
            notes.append(
                f"{column}: {' and '.join(code)} are the options, in the order of the alphabet"
            )
    if n_options == 2 and code and not set(code) <= {"1", "2"}:
        return _turned(cells, columns, code, labels, notes, names_of_arms=names_of_arms)
    return _not_negative(cells, column, code, n_options, names_of_arms=names_of_arms)


def _refuse_two_codes(cells: RowCells, column: str, distinct: set[str]) -> None:
    """Refuse responses that are words in many rows and numbers in many others.

    Raises:
        TrialsError: They are; the message has what tells the rows of both apart.
    """
    numbers = {cell for cell in distinct if WHOLE_NUMBER.fullmatch(cell)}
    own = pd.Series(cells.text(column)).str.strip()
    own = own[(own != "").to_numpy()]
    is_number = own.isin(numbers)
    if min(len(numbers), len(distinct - numbers)) < 2:
        return
    if not MOST_MISSED < is_number.mean() < 1 - MOST_MISSED:
        return
    rows = cells.frame.iloc[own.index]
    parts = {
        name: is_number.groupby(rows[name].to_numpy()).agg(["min", "max"])
        for name in map(str, rows.columns)
        if name != column and 2 <= rows[name].nunique() <= MOST_PARTS
    }
    split = [name for name, kind in parts.items() if (kind["min"] == kind["max"]).all()]
    where = [""] * 2
    advice = ""
    if split:
        name = min(split, key=lambda own: len(parts[own]))
        cells_of = [
            [str(cell) for cell in parts[name].index[parts[name]["max"] == kind]]
            for kind in (False, True)
        ]
        where = [f" where {name} is {' or '.join(own)}" for own in cells_of]
        kept = [f"--column 'where.{name}={json.dumps(own)}'" for own in cells_of]
        advice = f", or read the rows of one code alone: {' or '.join(kept)}"
    words = [", ".join(sorted(own)) for own in (distinct - numbers, numbers)]
    options = " ".join(column_option(f"responses.{cell}=PLACE") for cell in sorted(distinct))
    raise TrialsError(
        f"{cells.name}: {column} holds words ({words[0]}){where[0]}, and numbers ({words[1]}){where[1]}. If these are "
        f"two codes of the same options, say the place of each, from 0: {options} "
        f"(participants.columns.responses){advice}."
    )


def _by_label(distinct: Collection[str], labels: Sequence[str]) -> dict[str, int]:
    places = {label.casefold(): place for place, label in enumerate(labels)}
    counts = [re.fullmatch(r"(-?\d+(?:\.\d+)?)\s+\D+", label) for label in labels]
    if all(counts):  # as in "3 coins": the number is enough
        places |= {found[1]: place for place, found in enumerate(counts) if found}
    return {cell: places[cell.casefold()] for cell in distinct if cell.casefold() in places}


def _by_letter(distinct: Collection[str], n_options: int) -> dict[str, int]:
    """The option of each cell where cells are the letters from A on, one for each option; nothing for other cells."""
    letters = {chr(ord("a") + place): place for place in range(n_options)}
    found = {cell: letters[cell.casefold()] for cell in distinct if cell.casefold() in letters}
    return found if len(found) == len(distinct) == n_options else {}


def code_of_pair(distinct: Collection[str]) -> dict[str, int]:
    """The place of each of two cells in a pair of words for options, such as left and right or gauche and droite."""
    words = {cell: " ".join(words_of(cell)) for cell in distinct}
    for pair in SIDES:
        if not pair[0].isdigit() and len(words) == 2 and set(words.values()) == set(pair):
            return {cell: pair.index(word) for cell, word in sorted(words.items())}
    return {}


def _by_number(
    cells: RowCells, column: str, numbers: Mapping[str, int], n_options: int, notes: list[str]
) -> dict[str, int]:
    """The option of each number; numbers that no option has are left out, for the rows to be refused."""
    name, found = cells.name, set(numbers.values())
    from_zero, from_one = set(range(n_options)), set(range(1, n_options + 1))
    if n_options == 2 and found == {-1, 1}:
        notes.append(f"{column}: -1 is taken for the first option and 1 for the second")
        return _written(numbers, {-1: 0, 1: 1})
    if found and found <= from_one and n_options in found:
        notes.append(f"responses 1 to {n_options} are the options in their order")
        return _written(numbers, {place + 1: place for place in range(n_options)})
    if 0 not in found:
        if from_one <= found:  # other numbers are refused where they stand
            return _written(numbers, {place + 1: place for place in range(n_options)})
        if n_options > 2 and found and found <= from_one:
            raise TrialsError(
                f"{name}: {column} never says 0 and never {n_options}, so that its {n_options} options may be numbered "
                f"from 0 or from 1. {_say_which(numbers, n_options)}"
            )
        return {}
    other = found - from_zero
    if other & {-1, n_options}:
        if len(found) > n_options + 2:
            raise TrialsError(
                f"{name}: {column} says {len(found)} numbers from {min(found)} to {max(found)}, and there are "
                f"{n_options} options. If each is an answer, the task needs them all as its options: {DECLARE}."
            )
        others = " and ".join(str(number) for number in sorted(other))
        raise TrialsError(
            f"{name}: {column} says 0 to {n_options - 1} and also {others}, and there are {n_options} options: 0 may "
            f"be an option, or an answer that was missed. Say which cell stands for a missed one: --column "
            f"missing.{column}={_missed(cells, column, numbers, n_options)} (participants.columns.missing). Or else: "
            f"{_say_which(numbers, n_options)}"
        )
    return _written(numbers, {place: place for place in range(n_options)})


def _missed(cells: RowCells, column: str, numbers: Mapping[str, int], n_options: int) -> int:
    """The number that most likely stands for a missed response: the rarest of those whose absence leaves a code."""
    found = set(numbers.values())
    texts = pd.Series(cells.text(column)).str.strip().map(numbers).value_counts()
    known = (set(range(n_options)), set(range(1, n_options + 1)), {-1, 1})
    may_be = [number for number in sorted(found) if found - {number} in known]
    ends = sorted(
        {min(found), max(found)} - set(range(n_options))
    )  # what lies between is an answer
    return min(may_be or ends, key=lambda number: int(texts[number]))


def rare_zero(cells: Sequence[str]) -> float:
    """The share of 0 among codes from 0 to 2 or more, if it is much rarer than the others; else 0."""
    distinct, counts = np.unique([cell for cell in cells if cell], return_counts=True)
    shares = dict(zip(distinct.tolist(), (counts / max(counts.sum(), 1)).tolist(), strict=True))
    if len(shares) < 3 or set(shares) != {str(n) for n in range(len(shares))}:
        return 0.0
    zero = float(shares.pop("0"))
    return zero if zero < RARE * min(shares.values()) else 0.0


def zero_question(column: str, cells: Sequence[str]) -> str:
    """State what to do where 0 may be an option or a missed response; empty where that is no question."""
    share = rare_zero(cells)
    if not share:
        return ""
    n_others = len({cell for cell in cells if cell}) - 1
    return (
        f"{column}: 0 is in {share:.0%} of rows only. Is it an option (--column options={n_others + 1}), or an answer "
        f"that was missed (--column missing.{column}=0)?"
    )


def _written(numbers: Mapping[str, int], code: Mapping[int, int]) -> dict[str, int]:
    """The option of each number, by how cells write it."""
    as_said = {cell: code[number] for cell, number in numbers.items() if number in code}
    return {str(number): place for number, place in code.items()} | as_said


def _say_which(numbers: Mapping[str, int], n_options: int) -> str:
    """Explain how to state which cell is which option, with an example."""
    options = sorted(numbers, key=lambda cell: numbers[cell])[-n_options:]
    example = " ".join(
        column_option(f"responses.{cell}={place}") for place, cell in enumerate(options)
    )
    return (
        "Say which cell is which option, from 0, in the study's section participants.columns.responses, or such as "
        f"`{example}`."
    )


def _turned(
    cells: RowCells,
    columns: AnswerColumns,
    code: dict[str, int],
    labels: Sequence[str],
    notes: list[str],
    *,
    names_of_arms: bool,
) -> dict[str, int]:
    """The code with 1 for the option that the column's name names, if it names one."""
    column = columns.response or "response"
    named = option_named(column, cells, columns, labels)
    if named is None:
        _not_negative(cells, column, code, 2, names_of_arms=names_of_arms)
        if code == {"0": 0, "1": 1} and not names_of_arms:
            notes.append(
                f"{column}: 0 is taken for the first option and 1 for the second, as no name says which"
            )
        return code
    high = max(code, key=lambda cell: code[cell])
    why = "where both are equal" if "==" in column else "which the column's name names"
    notes.append(f"{column}: {high} is taken for the {('first', 'second')[named]} option, {why}")
    return {cell: place if named else 1 - place for cell, place in code.items()}


def is_negative(name: str) -> bool:
    """Whether a response's name names what has less of what is asked, or was not chosen, as ``less_random`` does."""
    words = set(words_of(name))
    return bool(words & (NEGATIVE | REJECT)) and not words & ACCEPT and "==" not in name


def _not_negative(
    cells: RowCells, column: str, code: dict[str, int], n_options: int, *, names_of_arms: bool
) -> dict[str, int]:
    """The code, unless the response's name is negative, so that cells may name the option that was not chosen.

    Raises:
        TrialsError: They may; the message has the code of both readings.
    """
    if n_options != 2 or names_of_arms or not is_negative(column):
        return code
    turned, same = (
        " ".join(
            column_option(f"responses.{cell}={abs(turn - place)}") for cell, place in code.items()
        )
        or "--column responses.CELL=PLACE, from 0"
        for turn in (1, 0)
    )
    raise TrialsError(
        f"{cells.name}: by its name, {column} may name the option that was not chosen, or that has less of what is "
        f"asked. If so, turn it round: {turned}. If it names the chosen option, say {same} "
        "(participants.columns.responses)."
    )


def check_share(cells: RowCells, columns: AnswerColumns, labels: Sequence[str]) -> None:
    """Refuse shares that are called those of the first option, which are read as those of the second one.

    Raises:
        TrialsError: The column's name names the first option; the message says both readings.
    """
    named = option_named(columns.share, cells, columns, labels)
    if named == 0 or (named is None and is_negative(columns.share)):
        raise TrialsError(f"{cells.name}: {two_readings(columns.share)}")


def two_readings(column: str) -> str:
    """State what to do where a column of shares, or of 0 and 1, is called by the first option."""
    return (
        f"the name of {column} names the first option, and numbers there are taken for choices of the second. If they "
        "are of the first, give 1 minus each under a name of the second; if they are of the second, rename the column."
    )


def option_named(
    name: str, cells: RowCells, columns: AnswerColumns, labels: Sequence[str]
) -> int | None:
    """Find which of two options a column's name names, as ``chose_now`` and ``choice == left`` do; None without one.

    What is computed from columns, as in ``1 - chose_now``, has no name. ``not_risky`` names the other option.
    """
    named = _option_named(name, cells, columns, labels)
    is_turned = "==" not in name and bool(set(words_of(name)) & NEGATIVE)
    return named if named is None or not is_turned else 1 - named


def _option_named(
    name: str, cells: RowCells, columns: AnswerColumns, labels: Sequence[str]
) -> int | None:
    if "==" not in name and _is_computed(name, [own for own in cells.frame.columns if own != name]):
        return None
    compared = {part.strip() for part in name.split("==")} if "==" in name else set()
    shown = [
        compared & set(map(str, leaves_of_option(columns.stimulus, place))) for place in (0, 1)
    ]
    if bool(shown[0]) != bool(shown[1]):
        return int(bool(shown[1]))
    words = set(words_of(name))
    if (marked := _by_mark(words, columns.stimulus)) is not None:
        return marked
    by_label = [
        place for place, label in enumerate(labels) if names_option(words, {label.casefold()})
    ]
    for sides in OPPOSITES:
        named = [place for place, side in enumerate(sides) if names_option(words, side)]
        if len(named) == 1:
            place = named[0]
            return 1 - place if _begins_with_second(cells, columns.stimulus, sides) else place
    if words & (ACCEPT | REJECT) and (offered := option_offered(columns.stimulus)) is not None:
        return offered if words & ACCEPT else 1 - offered
    return by_label[0] if len(by_label) == 1 else None


def _by_mark(words: set[str], stimulus: Mapping[str, Any]) -> int | None:
    """The option whose columns alone all have a word, as ``self_x`` and ``other_x`` do, that ``choice_x`` has too.

    A number is no such word, since ``choice_2`` may be the second choice.
    """
    names = [
        [set(words_of(leaf)) for leaf in leaves_of_option(stimulus, place) if isinstance(leaf, str)]
        for place in (0, 1)
    ]
    if not all(names) or not words & (CHOICES | VERBS):
        return None
    marks = {word for word in words - CHOICES - VERBS if not word.isdigit()}
    shared = [set.intersection(*own) for own in names]
    of_any = [{word for leaf in own for word in leaf} for own in names]
    named = [bool(marks & shared[place] - of_any[1 - place]) for place in (0, 1)]
    return named.index(True) if len(marks) == 1 and named[0] != named[1] else None


def _is_computed(name: str, columns: Sequence[str]) -> bool:
    """Whether a name computes something from columns of other names."""
    try:
        return bool(ColumnExpression(name, columns).columns)
    except ValueError:
        return False


def option_offered(stimulus: Mapping[str, Any]) -> int | None:
    """The place of what is offered, where the other option is the same numbers in all rows, such as nothing."""
    is_fixed = [
        all(not isinstance(leaf, str) for leaf in leaves_of_option(stimulus, place))
        for place in (0, 1)
    ]
    return None if is_fixed[0] == is_fixed[1] else is_fixed.index(False)


def names_option(words: set[str], side: set[str]) -> bool:
    """Whether a name holds a word for a side; a letter or a number needs a verb beside it."""
    hits = words & side
    return any(word not in NEED_A_VERB and len(word) > 1 for word in hits) or bool(
        hits and words & VERBS
    )


def _begins_with_second(
    cells: RowCells, stimulus: Mapping[str, Any], sides: tuple[set[str], set[str]]
) -> bool:
    """Whether the first option of the trials is the one that usually is the second: the later one, or the right one."""
    delayed = stimulus.get("delays_days", OPEN_QUESTION)
    if sides == (EARLY, LATE) and OPEN_QUESTION not in leaves_of(delayed):
        delays = read_part(cells, stimulus["delays_days"], "delays_days", ragged=True)
        return bool(np.nanmean(delays[:, 0]) > np.nanmean(delays[:, 1]))
    first, second = sides
    shown = [words_of_option(stimulus, place) for place in (0, 1)]
    return bool(shown[0] & second - shown[1]) or bool(shown[1] & first - shown[0])


def words_of_option(stimulus: Mapping[str, Any], place: int) -> set[str]:
    """Words in the names of the columns that show an option."""
    return {word for leaf in leaves_of_option(stimulus, place) for word in words_of(str(leaf))}


def leaves_of_option(stimulus: Mapping[str, Any], place: int) -> list[Any]:
    """Columns, expressions and numbers that show an option."""
    own = [value for part, value in stimulus.items() if part.startswith("ab"[place] + "_")]
    own += [
        value[place]
        for part, value in stimulus.items()
        if isinstance(value, list) and len(value) == 2 and not part.startswith(("a_", "b_"))
    ]
    return list(leaves_of(own))


def chosen_options(cells: RowCells, columns: AnswerColumns) -> NDArray[np.int64]:
    """``(n_rows,)`` place of the option that was chosen, by the code of the mapping.

    Raises:
        RowsWrongError: Cells name no option; their rows are told.
    """
    column, code = columns.response or "response", columns.responses
    code = {whole(cell): place for cell, place in code.items()}
    is_known = cells.is_in(column, code, whole_word)
    others = sorted({cell.strip() for cell in cells.text(column)[~is_known].tolist()} - {""})
    cell = others[0] if len(others) == 1 else "CELL"
    if np.sum(~is_known) >= MANY_ROWS and np.mean(~is_known) > MOST_MISSED:
        advice = (
            f"It stands in {np.mean(~is_known):.0%} of the rows, too many to be missed: say its option, from 0 "
            f"({column_option(f'responses.{cell}=PLACE')}), or, if responses are places that change, an expression "
            "that compares them with the column of places"
        )
    else:
        missed_in = column.partition(" == ")[0]
        advice = f"If it stands for a missed response, say --column missing.{missed_in}={cell.removesuffix(NEITHER)}"
    cells.refuse(
        ~is_known,
        column,
        f"is no option; options are {', '.join(f'{cell} ({place})' for cell, place in code.items())}. {advice}"
        if code
        else "names no option that is known; "
        + (
            _as_comparison(cells, columns)
            or "say which cell is which option, from 0: --column responses.CELL=PLACE (participants.columns.responses)"
        ),
    )
    return cells.changed(column, lambda cell: code[whole_word(cell)]).astype(np.int64)


def _as_comparison(cells: RowCells, columns: AnswerColumns) -> str:
    """State what to do where each response repeats a cell of one of two options; empty where they do not."""
    column, texts = columns.response, cells.text(columns.response or "response")
    shown = [
        [
            str(leaf)
            for leaf in leaves_of_option(columns.stimulus, place)
            if leaf in cells.frame.columns
        ]
        for place in (0, 1)
    ]
    for first, second in zip(*shown, strict=False):
        pair = cells.text(first), cells.text(second)
        amounts = [by_distinct(pd.Series(own), amount_said) for own in (texts, *pair)]
        if np.all((texts == pair[0]) | (texts == pair[1])) or np.all(
            (amounts[0] == amounts[1]) | (amounts[0] == amounts[2])
        ):
            says = f"response={column} == {second}"
            return f'it repeats what was chosen: --column "{says}" (participants.columns.response)'
    return ""


def whole_word(cell: str) -> str:
    """A cell without spaces around, 1.0 being 1."""
    return whole(str(cell).strip())
