"""Responses that have their times, from cells of a table: which key was pressed, or whether it was right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import ACCURACY, ERRORS, column_option, words_of
from lakatos.experiments.adoption.option_code import MOST_MISSED
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.tables import NUMBER, by_distinct, numbers_of
from lakatos.experiments.errors import TrialsError
from lakatos.traces.wording import plural

RIGHT = ("1", "1.0", "true", "correct", "right", "yes", "hit")
WRONG = ("0", "0.0", "-1", "-1.0", "false", "incorrect", "wrong", "error", "no", "miss")
"""Cells that say whether an answer was right."""
KEY_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl;", "zxcvbnm,./")
"""Rows of a keyboard, from the left; keys of a row below lie a little further to the right."""
KEY_PLACES = {
    key: place + 0.3 * row for row, keys in enumerate(KEY_ROWS) for place, key in enumerate(keys)
} | {"left": 0.0, "arrowleft": 0.0, "down": 1.0, "arrowdown": 1.0, "right": 2.0, "arrowright": 2.0}
KEY_PLACES |= {"slash": KEY_PLACES["/"], "comma": KEY_PLACES[","], "period": KEY_PLACES["."]}
SIDE_WORDS = {"left": 0, "l": 0, "<": 0, "right": 1, "r": 1, ">": 1}
"""Cells that say a side, and its place from the left."""
MOST_KEYS = 3
"""Keys of a trial."""
CODES_OF_KEYS = (
    ("18", "23"), ("30", "38"), ("33", "36"), ("32", "37"), ("203", "205"), ("37", "39"), ("65", "76"), ("70", "74"),
    ("68", "75"), ("69", "73"), ("81", "80"), ("90", "77"),
)  # fmt: skip
"""Pairs of keys from the left by their numbers: E and I, A and L, F and J, D and K, the arrows and the like."""
CORRECT = {"correct", "right", "expected", "solution", "corr"}
KEYS = {"key", "keys", "response", "resp", "answer", "button", "ans"}
OF_RIGHT = ACCURACY | CORRECT
"""Words of names of columns."""


def folded(cells: Sequence[str] | NDArray[np.object_]) -> NDArray[np.object_]:
    """Cells without the differences that mean nothing: those of case and of spaces around."""
    return by_distinct(pd.Series(cells, dtype=object), lambda cell: str(cell).strip().casefold())


def guessed_keys(distinct: set[str]) -> dict[str, int]:
    """Keys from the left, as they lie on a keyboard; empty where some are not known. L and R are left and right."""
    if distinct <= set(SIDE_WORDS) and len({SIDE_WORDS[cell] for cell in distinct}) == 2:
        return {cell: SIDE_WORDS[cell] for cell in sorted(distinct)}
    for pair in CODES_OF_KEYS:
        if distinct == set(pair):
            return {pair[0]: 0, pair[1]: 1}
    if not 2 <= len(distinct) <= 3 or not distinct <= set(KEY_PLACES) or distinct <= {"0", "1"}:
        return {}
    return {
        str(key): place
        for place, key in enumerate(sorted(distinct, key=lambda key: KEY_PLACES[key]))
    }


def guessed_correctness(distinct: set[str], name: str) -> dict[str, int]:
    """Cells that mean right (0) and wrong (1); empty where some mean neither.

    Args:
        said: The cells.
        name: Name of their column; where it speaks of errors, yes means wrong.
    """
    tells_errors = bool(ERRORS & set(words_of(name)))
    others = distinct - {*RIGHT, *WRONG}
    if any(NUMBER.fullmatch(cell) for cell in others):
        return {}  # a number such as 999 may be a missed response
    if others and OF_RIGHT & set(words_of(name)) and not tells_errors:
        # One word says that an answer was right, the others in which way it was wrong.
        return (
            {cell: int(cell not in RIGHT) for cell in sorted(distinct)}
            if len(distinct & {*RIGHT}) == 1
            else {}
        )
    if not distinct or not distinct <= {*RIGHT, *WRONG}:
        return {}
    plain = {*RIGHT, *WRONG} - {"correct", "right", "incorrect", "wrong", "error"}
    return {
        cell: int((cell in WRONG) != (tells_errors and cell in plain)) for cell in sorted(distinct)
    }


def with_answer_code(
    cells: RowCells, columns: AnswerColumns, notes: list[str], *, signed: bool
) -> AnswerColumns:
    """The mapping with what each cell of the response means: a key from the left, or right (0) and wrong (1).

    Words for several ways to be wrong are noted. Where numbers may be ``signed``, they may say which key was right.

    Raises:
        TrialsError: It cannot be told, or is said wrongly.
    """
    distinct = set(folded(cells.text(columns.response))) - {""}
    has_keys = "right_key" in columns.stimulus
    is_judged = bool(set(words_of(columns.response)) & {*OF_RIGHT, *ERRORS})
    if not (has_keys or is_judged) and len(distinct) > 1 and distinct <= set(SIDE_WORDS):
        raise TrialsError(
            f"{cells.name}: {columns.response} says {' and '.join(sorted(distinct))}, sides that do not say whether "
            "responses were right. Say which side was: --column right_key=COLUMN (participants.columns.stimulus), or "
            "name a column of right and wrong responses: --column response=COLUMN."
        )
    if columns.responses:
        code = {cell.strip().casefold(): place for cell, place in columns.responses.items()}
    elif has_keys:
        keys = set(folded(cells.text(str(columns.stimulus["right_key"])))) - {""}
        code = guessed_keys(keys | distinct)  # sides may be named in two ways
        if not code or set(code.values()) != set(guessed_keys(keys).values()):
            _refuse_other_keys(cells, columns, distinct - keys)
            code = guessed_keys(keys)
    else:
        code = guessed_correctness(distinct, columns.response)
    places = sorted(set(code.values()))
    n_keys = len(places) if columns.responses else len(distinct)
    if has_keys and n_keys > MOST_KEYS:
        raise TrialsError(
            f"{cells.name}: trials have 2 or 3 keys, and these have {n_keys} ({', '.join(sorted(distinct)[:6])}). Say "
            f"whether each response was right: --column 'response={columns.response} == "
            f"{columns.stimulus['right_key']}' --column right_key=."
        )
    if not code or places != list(range(len(places))) or (not has_keys and places[-1] > 1):
        wanted = (
            "keys from the left, from 0"
            if has_keys
            else "0 for a right answer and 1 for a wrong one"
        )
        if signed and not has_keys and (way := _signed_key(cells, columns, sorted(distinct))):
            raise TrialsError(f"{cells.name}: {way}")
        raise TrialsError(
            f"{cells.name}: {columns.response} says {', '.join(sorted(distinct)[:6])}; say what each means by --column "
            f"responses.CELL=PLACE (participants.columns.responses): {wanted}."
        )
    if not has_keys and not set(code) <= {*RIGHT, *WRONG}:
        wrong = ", ".join(cell for cell in code if code[cell])
        right = ", ".join(cell for cell in code if not code[cell])
        notes.append(f"{columns.response}: {right} is right; wrong are {wrong}")
    return columns.model_copy(update={"responses": code})


def _signed_key(cells: RowCells, columns: AnswerColumns, distinct: Sequence[str]) -> str:
    """State how to take the sign of a column for the right one of two words; else empty."""
    if len(distinct) != 2 or any(
        NUMBER.fullmatch(cell) or cell in {*RIGHT, *WRONG} for cell in distinct
    ):
        return ""
    column, time = columns.response, columns.response_time
    answer = folded(cells.text(column))
    found = []
    for name in map(str, cells.frame.columns):
        value = numbers_of(cells.frame[name]).to_numpy()
        is_key = name not in (column, time) and not set(words_of(name)) & {*OF_RIGHT, *ERRORS}
        if is_key and np.isfinite(value).all() and value.min() < 0 < value.max():
            known = (value != 0) & (answer != "")
            agree = float(((answer == distinct[1]) == (value > 0))[known].mean())
            found.append((abs(agree - 0.5), name, distinct if agree > 0.5 else distinct[::-1]))
    if not found:
        return ""
    _, name, keys = max(found, key=lambda own: own[0])
    options = [f"{part}={name}" for part in ("right_key", *({"strength"} - set(columns.stimulus)))]
    options += [f"responses.{cell}={place}" for place, cell in enumerate(keys)]
    way = " ".join(map(column_option, options))
    return (
        f"{column} says {' and '.join(distinct)}, and nothing says which was right. If the sign of {name} does, say "
        f"{way} (participants.columns), where 1 is the response that is right above 0; mostly that is {keys[1]}."
    )


def _refuse_other_keys(cells: RowCells, columns: AnswerColumns, others: set[str]) -> None:
    """Refuse keys that are never the right one: they may be wrong presses, missed trials or a third key."""
    if not others:
        return
    cell, column = min(map(str, others)), columns.response
    if set(words_of(column)) & {*OF_RIGHT, *ERRORS}:
        raise TrialsError(
            f"{cells.name}: by its name, {column} says whether responses were right, and it holds no key. Say --column "
            f"side={columns.stimulus['right_key']} --column right_key="
        )
    texts = folded(cells.text(column))
    places = np.flatnonzero(texts == cell)
    may_be_missed = np.isin(texts, list(others)).mean() <= MOST_MISSED
    keys = sorted(set(folded(cells.text(str(columns.stimulus["right_key"])))) - {""})
    raise TrialsError(
        f"{cells.name}: row {cells.row_numbers(places)[0]}: {column} is {cell!r:.60}, which is the right key in no row "
        f"({plural(len(places), 'row')} in all). "
        + (
            f"If it stands for a missed response, say --column missing.{column}={cell} (participants.columns.missing). "
            if may_be_missed
            else f"The right keys are {', '.join(keys[:6])}: if these are the same keys by other names, say --column "
            f"'recode.{column}={{{cell} = \"{keys[0]}\"}}'; if {column} is no key, name the column that is (--column "
            "response=COLUMN). "
        )
        + "If it is a key of the task, say which keys there are, from the left from 0, in "
        "participants.columns.responses, as in --column responses.f=0 --column responses.j=1."
    )


def guessed_response(
    frame: pd.DataFrame, used: set[str], named: str, *, has_keys: bool, right_key: str = ""
) -> str:
    """The column that holds the answers: keys where a column says which key is right, else right and wrong.

    Keys that were pressed are among those that are right, so that a column of 0 and 1 beside others is no key.
    """
    known = set(folded(frame[right_key].unique())) - {""} if right_key in frame.columns else set()
    of_correctness = {*OF_RIGHT, *ERRORS}
    found = KEYS if has_keys else {*of_correctness, "response"}
    fits, in_words = [], []
    for name in map(str, frame.columns):
        distinct = set(folded(frame[name].unique())) - {""}
        code = guessed_keys(distinct) if has_keys else guessed_correctness(distinct, name)
        words = set(words_of(name))
        # Everybody may be right in all trials that have an answer.
        may_be_one = not has_keys and bool(words & of_correctness)
        if has_keys and known and (not distinct & known or words & of_correctness):
            continue
        if code and (len(distinct) > 1 or may_be_one) and name not in used and words & found:
            fits.append(name)
        elif not has_keys and code and distinct & {"correct", "incorrect"} and name not in used:
            in_words.append(name)
    if not fits and len(in_words) == 1:
        return in_words[0]
    return named if named in fits else next(iter(fits), "?")
