"""Responses with their times from rows of a file: which key was right, what was pressed, and how long it took.

Tasks in which one of several keys is right share these. A file says what was responded by the key, beside the one that
was right, or by right and wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import BY_PARTICIPANT, AnswerColumns
from lakatos.experiments.adoption.names import ERRORS, JUDGING, words_of
from lakatos.experiments.adoption.option_code import MOST_MISSED
from lakatos.experiments.adoption.plausible import (
    FEWEST,
    MOST_MISSED_ROWS,
    MOST_PHASES,
    in_larger_numbers,
    question,
    rows_in_words,
)
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.reversed_people import question_reversed_people
from lakatos.experiments.adoption.row_cells import RowCells, RowsWrongError
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.signatures import (
    NEARLY_ALL,
    ColumnSignature,
    TableSignature,
    is_clock,
    is_function_of,
)
from lakatos.experiments.adoption.tables import NUMBER, by_distinct
from lakatos.experiments.adoption.timed_answers import (
    KEYS,
    OF_RIGHT,
    RIGHT,
    SIDE_WORDS,
    WRONG,
    folded,
    guessed_correctness,
    guessed_keys,
)
from lakatos.experiments.answer_scale import AnswerScale
from lakatos.experiments.errors import TrialsError
from lakatos.traces.wording import plural

Array = NDArray[Any]
YES_OR_NO = {"0": 0, "0.0": 0, "1": 1, "1.0": 1, "false": 0, "true": 1, "no": 0, "yes": 1}
"""Cells of a column whose name says what they are about."""
SIDES = {
    "left": -1.0, "l": -1.0, "-1": -1.0, "middle": 0.0, "down": 0.0, "0": 0.0, "right": 1.0, "r": 1.0, "1": 1.0,
    "<": -1.0, ">": 1.0,
}  # fmt: skip
RIGHT_KEYS = {
    "correct",
    "corr",
    "cresp",
    "expected",
    "solution",
    "correctkey",
    "solltaste",
    "target",
    "right",
}
PRESSED = {"resp", "response", "key", "keys", "answer", "ans", "button", "pressed", "choice"}
"""Words in names of columns."""
TIMES = {"rt", "latency", "reaction", "time"}
"""Words of names of columns."""
MOSTLY_RIGHT = 0.55
"""Share of right responses, from which on a column may judge them."""
MOST_KEYS = 6
"""Different cells of a column of keys."""
UNLIKELY_SHARE = 0.5
"""Share of times that are no outcome, beyond which the unit must be wrong."""


@dataclass(frozen=True)
class TimedRows:
    """Response in each row of a file; ``(n_rows,)`` each."""

    right: Array
    """Place of the right key from the left, from 0; NaN where that is not known."""
    pressed: Array
    """Place of the key that was pressed, from the left, from 0; NaN where that is not known."""
    is_right: Array
    """Whether the response was right; False where there was none."""
    time_s: Array
    """NaN where there was no answer."""
    n_answers: int


def read_timed_rows(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    notes: list[str],
    *,
    unknown_keys: str,
    missed: str = "",
    signed: bool = False,
) -> TimedRows:
    """The cells of a file as what they mean.

    Args:
        cells, columns, participant, notes: See `experiments.adoption.layouts.StimulusLayout.from_rows`.
        unknown_keys: What follows for the trials where nothing names the right keys, in words.
        missed: What follows where a row has no answer, in words.
        signed: Whether numbers in place of right keys are told by their sign.

    Raises:
        RowsWrongError: A cell cannot be read.
        TrialsError: The mapping cannot be right.
    """
    parts, code = columns.stimulus, columns.responses
    time_s = _seconds(cells, columns, participant, notes)
    keys_pressed = folded(cells.text(columns.response))
    answered = (keys_pressed != "") & ~np.isnan(time_s)
    if "right_key" not in parts:
        answered &= ~_without_key(cells, columns, keys_pressed, time_s, notes)
    _check_rows_without_responses(cells, columns, answered, notes)
    if not answered.all():
        missing = np.flatnonzero(~answered)
        if columns.bad_rows == "refuse":
            cells.refuse_empty(~answered, f"{columns.response} or {columns.response_time}")
        if missed:
            each = "a" if len(missing) == 1 else "each"
            notes.append(missed.format(each=each))
    cells.refuse(
        (keys_pressed != "") & ~pd.Series(keys_pressed).isin(list(code)).to_numpy(),
        columns.response,
        f"is no answer; answers are {', '.join(code)}. If it stands for a missed response, say --column "
        f"missing.{columns.response.partition(' == ')[0]}=CELL",
    )
    cells.refuse(
        answered & (time_s < 0),
        columns.response_time,
        "is a time below zero. If its sign says which response was given, or whether it was right, say --column "
        f"'response_time=abs({columns.response_time})'; if it stands for a missed response, say --column "
        f"missing.{columns.response_time}=CELL",
    )
    chosen = by_distinct(pd.Series(keys_pressed), lambda cell: code.get(cell, -1)).astype(
        np.float64
    )
    if "right_key" in parts:
        right = _right_keys(cells, str(parts["right_key"]), code, signed=signed)
        is_right, pressed = answered & (chosen == right), np.where(answered, chosen, np.nan)
        n_answers = len(set(code.values()))
    else:
        n_answers = whole_number(parts.get("n_answers", 2), "n_answers")
        right = _sides(cells, parts, n_answers, notes, unknown_keys, signed=signed)
        is_right = answered & (chosen == 0)
        pressed = _pressed(right, is_right, answered, n_answers)
    _check_deadline(cells, columns, is_right, np.where(answered, time_s, np.nan), notes)
    return TimedRows(right, pressed, is_right, np.where(answered, time_s, np.nan), n_answers)


def _check_rows_without_responses(
    cells: RowCells, columns: AnswerColumns, answered: NDArray[np.bool_], notes: list[str]
) -> None:
    """Question many rows without a response which one cell of a column marks, such as those of a fixation screen.

    They would count as missed trials before the next ones.
    """
    if (~answered).mean() <= MOST_MISSED_ROWS:
        return
    for name in columns_not_read(cells.frame, columns):
        text = cells.frame[name].str.strip()
        if not 2 <= text.nunique() <= MOST_PHASES:
            continue
        odd = [
            cell for cell in text.unique() if cell and not answered[(text == cell).to_numpy()].any()
        ]
        others = [cell for cell in text.unique() if cell and cell not in odd]
        if odd and others and text[~answered].isin(odd).mean() > 1 - MOST_MISSED_ROWS:
            frame = cells.frame.set_axis(cells.row_numbers(np.arange(len(text))))
            words = rows_in_words(frame, name, odd, others, "no trials, since none has a response")
            question(columns, notes, "practice_rows", f"{cells.name}: {words}")


FEWEST_AT_DEADLINE, MOST_BY_CHANCE = 3, 0.001
"""Rows with the longest time, and the probability that all are errors, from which on they seem to be missed trials."""


def _check_deadline(
    cells: RowCells, columns: AnswerColumns, is_right: Array, time_s: Array, notes: list[str]
) -> None:
    """Question rows that share the longest time, more than share any other long time, where all are wrong.

    So are trials that ended without a response at a deadline, where a program counts these as errors.
    """
    known = ~np.isnan(time_s)
    if known.sum() < FEWEST:
        return
    times, counts = np.unique(time_s[known], return_counts=True)
    is_long = times[:-1] > np.median(time_s[known])
    at_end = known & (time_s == times[-1])
    n_others, n_wrong = int((known & ~at_end).sum()), int((known & ~at_end & ~is_right).sum())
    by_chance = ((n_wrong + 1) / (n_others + 2)) ** counts[-1]
    is_shared = counts[-1] >= max(FEWEST_AT_DEADLINE, 1 + counts[:-1][is_long].max(initial=0))
    if not is_shared or is_right[at_end].any() or by_chance > MOST_BY_CHANCE:
        return
    column = columns.response_time
    cell = cells.text(column)[at_end][0] if column in cells.frame.columns else "NUMBER"
    question(
        columns,
        notes,
        "far_numbers",
        f"{cells.name}: {column} is {cell}, the longest time, in {rows_named(cells.row_numbers(at_end))}, and all "
        f"{counts[-1]} responses there are wrong, as where nobody responded before a deadline. If so, say --column "
        f"missing.{column}={cell} (participants.columns.missing)",
    )


def times_within(
    rows: TimedRows, cells: RowCells, columns: AnswerColumns, scale: AnswerScale
) -> NDArray[np.bool_]:
    """``(n_rows,)`` whether the time is an outcome of the scale.

    Raises:
        TrialsError: Most times are not, so that their unit must be another one, or no row has one.
    """
    fine = (rows.time_s >= scale.edges[0]) & (rows.time_s <= scale.edges[-1])
    _check_times(rows.time_s, fine, cells.name, columns, scale)
    return np.asarray(fine)


def kept_rows(
    rows: TimedRows,
    fine: NDArray[np.bool_],
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    scale: AnswerScale,
    notes: list[str],
    left_out: RowsLeftOut,
    besides: str = "",
) -> NDArray[np.intp]:
    """Places of the rows that are answers; the others are left out, with the reason, and with what they mean besides.

    Raises:
        RowsWrongError: A person has no time that can be that of an answer.
    """
    kept = np.flatnonzero(fine)
    _leave_out(rows.time_s, fine, cells, columns, scale, left_out)
    _refuse_people_without_answers(cells, participant, kept)
    notes += _times_in_words(rows.time_s, columns, scale, besides)
    return kept


def _without_key(
    cells: RowCells, columns: AnswerColumns, keys_pressed: Array, time_s: Array, notes: list[str]
) -> NDArray[np.bool_]:
    """``(n_rows,)`` whether no key was pressed in a trial that counts as wrong, by the column of keys.

    A rare key that counts as wrong and always has the longest time of all is questioned.
    """
    is_wrong = pd.Series(keys_pressed).map(columns.responses).fillna(1).to_numpy() != 0
    for name in map(str, cells.frame.columns):
        words = set(words_of(name))
        if name == columns.response or not words & KEYS or words & (OF_RIGHT | TIMES):
            continue
        pressed = folded(cells.text(name))
        empty = (pressed == "") & (keys_pressed != "")
        keys = sorted(set(pressed.tolist()) - {""})
        is_key = 2 <= len(keys) <= MOST_KEYS
        for key in keys if len(keys) > 2 and is_key else ():
            rows = pressed == key
            is_late = is_wrong[rows].all() and (time_s[rows] == np.nanmax(time_s)).all()
            if is_late and rows.sum() > 1 and rows.mean() <= MOST_MISSED:
                question(
                    columns,
                    notes,
                    "unread_column",
                    f"{cells.name}: {name} is {key} in {rows_named(cells.row_numbers(rows))}, always with a wrong "
                    f"response and the longest time ({time_s[rows][0]:g} s), as where nobody responded in time. Say "
                    f"--column missing.{name}={key} (participants.columns.missing)",
                )
        if is_key and empty.any() and is_wrong[empty].all() and empty.mean() <= MOST_MISSED:
            notes.append(
                f"{columns.response}: {rows_named(cells.row_numbers(empty))} have no answer, as {name} is empty there"
            )
            return np.asarray(empty, dtype=bool)
    return np.zeros(len(keys_pressed), dtype=bool)


def _seconds(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> Array:
    """``(n_rows,)`` response times in seconds; NaN where there is none.

    Raises:
        TrialsError: Some participants' times are about a thousand times those of the others.
    """
    times = cells.numbers(columns.response_time, empty=True)
    in_larger = in_larger_numbers(times, participant)
    if columns.response_time_unit == BY_PARTICIPANT:
        is_ms = (
            in_larger if in_larger is not None else np.full(len(times), np.nanmedian(times) >= 20)
        )
        n_ms = len(np.unique(participant[is_ms]))
        notes.append(
            f"{columns.response_time}: {plural(n_ms, 'participant')} in ms, the others in s"
        )
        return np.where(is_ms, times / 1000, times)
    if in_larger is not None:
        rows = rows_named(cells.row_numbers(in_larger))
        raise TrialsError(
            f"{cells.name}: {columns.response_time} seems to be in ms for "
            f"{len(np.unique(participant[in_larger]))} of {len(np.unique(participant))} participants "
            f"({rows}) and in s for the others: their medians differ by a factor of a thousand or so. Say --column "
            f"'response_time_unit={BY_PARTICIPANT}' to convert each participant's times (response_time_unit in "
            "participants.columns), or correct the file."
        )
    return times / 1000 if columns.response_time_unit == "ms" else times


def whole_number(value: Any, name: str) -> int:
    """A number that a mapping gives for a part of trials; raises `TrialsError` where it is no whole number."""
    if not isinstance(value, int):
        raise TrialsError(
            f"{name} is {value!r}, which is no whole number; say --column {name}=2 "
            "(participants.columns.stimulus)."
        )
    return value


def _right_keys(cells: RowCells, column: str, code: Mapping[str, int], *, signed: bool) -> Array:
    keys = folded(cells.text(column))
    cells.refuse_empty(keys == "", column)
    if signed and set(code.values()) == {0, 1} and not set(keys.tolist()) <= set(code):
        places = _by_sign(keys)
        if (places == 0).any() and not np.isnan(places).any():
            return places
    cells.refuse(
        ~pd.Series(keys).isin(list(code)).to_numpy(),
        column,
        f"is no key; keys are {', '.join(code)}. Say which cells are keys, from the left from 0: --column "
        "responses.CELL=PLACE (participants.columns.responses)",
    )
    return by_distinct(pd.Series(keys), code.__getitem__).astype(np.float64)


def _sides(
    cells: RowCells,
    side_column: Mapping[str, Any],
    n_answers: int,
    notes: list[str],
    unknown_keys: str,
    *,
    signed: bool,
) -> Array:
    """Places of right keys where the response says right or wrong; NaN where nothing tells them."""
    if "side" not in side_column:
        notes.append(
            f"which key was right is not known (neither right_key nor side names a column): {unknown_keys}"
        )
        return np.full(len(cells.frame), np.nan)
    column = str(side_column["side"])
    sides = folded(cells.text(column))
    cells.refuse_empty(sides == "", column)
    if signed and ((own := _by_sign(sides)) == 0).any() and not np.isnan(own).any():
        return own
    places = {word: side for word, side in SIDES.items() if side or n_answers == 3}
    cells.refuse(
        ~pd.Series(sides).isin(list(places)).to_numpy(),
        column,
        f'is none of {", ".join(places)}. Say what it means: --column \'recode.{column}={{"CELL" = "left"}}\'',
    )
    side = by_distinct(pd.Series(sides), places.__getitem__).astype(np.float64)
    return (side + 1) / 2 if n_answers == 2 else side + 1


def _by_sign(signed: Array) -> Array:
    """Places of keys by the signs of numbers, the second one for 0; NaN where a cell is no number."""
    return by_distinct(
        pd.Series(signed),
        lambda cell: 1.0 * (float(cell) >= 0) if NUMBER.fullmatch(cell) else np.nan,
    ).astype(np.float64)


def _pressed(right: Array, is_right: Array, answered: Array, n_answers: int) -> Array:
    """Keys that were pressed, as far as right and wrong tell: of three keys not which wrong one."""
    other = 1 - right if n_answers == 2 else np.full(len(right), np.nan)
    return np.where(answered, np.where(is_right, right, other), np.nan)


def question_accuracy(
    rows: TimedRows, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Refuse responses of which fewer are right than chance would have, unless the mapping accepts them.

    A column that judges the responses otherwise than the right keys do is questioned, too.
    """
    answered = ~np.isnan(rows.time_s)
    _question_judgements(rows, answered, cells, columns, notes)
    n_rows, n_right = int(answered.sum()), int((rows.is_right & answered).sum())
    chance = 1 / rows.n_answers
    if n_rows < FEWEST:
        return
    if n_right >= n_rows * chance - 2 * np.sqrt(n_rows * chance * (1 - chance)):
        if "contradicted" not in columns.accept:  # which explains reversed participants
            _question_people(rows, answered, cells, columns, notes)
        return
    code = ", ".join(f"{cell} = {place}" for cell, place in columns.responses.items())
    meaning = "keys from the left" if "right_key" in columns.stimulus else "0 is right, 1 is wrong"
    question(
        columns,
        notes,
        "below_chance",
        f"{cells.name}: {n_right:,} of {n_rows:,} responses are right, fewer than by chance ({chance:.0%}), with the "
        f"code {code} of {columns.response} ({meaning}). Say what the cells mean in participants.columns.responses "
        f"(--column responses.CELL=PLACE)",
    )


def _question_people(
    rows: TimedRows, answered: Array, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question participants whose responses are right less often than by chance, as with exchanged keys."""
    chance = 1 / rows.n_answers

    def standard_errors(own: NDArray[np.bool_]) -> float:
        n_rows, n_right = int((own & answered).sum()), int((own & answered & rows.is_right).sum())
        return float(
            (n_right - n_rows * chance) / np.sqrt(max(n_rows * chance * (1 - chance), 1.0))
        )

    question_reversed_people(
        cells,
        columns,
        pd.factorize(cells.text(columns.participant))[0],
        standard_errors,
        f"fewer responses are right than by chance ({chance:.0%})",
        lambda column: (
            "If their keys were exchanged, correct their rows in the file"
            + (f", or read one kind of rows (--column where.{column}=CELL)" if column else "")
        ),
        notes,
    )


def _question_judgements(
    rows: TimedRows, answered: Array, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Refuse right keys that contradict a column of correctness, in more rows than slips explain."""
    used = {columns.response, *map(str, columns.stimulus.values())}
    for name in map(str, cells.frame.columns):
        words = set(words_of(name))
        if name in used or words & KEYS or not words & JUDGING:
            continue
        judged = pd.Series(folded(cells.text(name))).map(YES_OR_NO).to_numpy(dtype=np.float64)
        known = answered & ~np.isnan(judged)
        is_right = judged == (0 if words & ERRORS else 1)
        other = known & (is_right != rows.is_right)
        if known.sum() < FEWEST or other.sum() <= MOST_CONTRADICTED * known.sum():
            continue
        question(
            columns,
            notes,
            "contradicted",
            f"{cells.name}: {rows_named(cells.row_numbers(other))}: {name} contradicts {columns.response} and the "
            f"right key or its code, in {other.sum():,} of {known.sum():,} responses. Say which columns hold: --column "
            f"right_key=COLUMN, or --column response={name}",
        )


MOST_CONTRADICTED = 0.1
"""Share of responses in which a column of correctness may say something else, as after slips that were put right."""


def _check_times(
    time_s: Array, fine: Array, name: str, columns: AnswerColumns, scale: AnswerScale
) -> None:
    known = ~np.isnan(time_s)
    if not known.any():
        raise TrialsError(
            f"{name}: no row has both {columns.response} and {columns.response_time}. Say which columns hold them: "
            "--column response=COLUMN --column response_time=COLUMN."
        )
    if fine[known].mean() < UNLIKELY_SHARE:
        middle = float(np.median(time_s[known]))
        in_us = (time_s / 1000 >= scale.edges[0]) & (time_s / 1000 <= scale.edges[-1])
        if columns.response_time_unit == "ms" and in_us[known].mean() >= UNLIKELY_SHARE:
            raise TrialsError(
                f"{name}: half of the times in {columns.response_time} are below {middle:g} s, read in ms, and they "
                "seem to be microseconds. Say --column 'response_time="
                f"{columns.response_time} / 1000' (participants.columns.response_time)."
            )
        raise TrialsError(
            f"{name}: half of the times in {columns.response_time} are below {middle:g} s, read in "
            f"{columns.response_time_unit}, and most are not from {scale.edges[0]:g} to {scale.edges[-1]:g} s. Say the "
            "unit: --column response_time_unit=s or =ms (response_time_unit in participants.columns); or the window of "
            "times, in seconds: --column 'time_window=[0.2, 5]'."
        )


def _refuse_people_without_answers(cells: RowCells, participant: Array, kept: Array) -> None:
    gone = ~np.isin(participant, participant[kept])
    if gone.any():
        reason = "no time of this person can be that of an answer"
        raise RowsWrongError(
            f"{cells.name}: {rows_named(cells.row_numbers(gone))}: {reason}.",
            cells.frame.index.to_numpy()[gone],
            reason,
            empty=True,
        )


def _leave_out(
    time_s: Array,
    fine: Array,
    cells: RowCells,
    columns: AnswerColumns,
    scale: AnswerScale,
    left_out: RowsLeftOut,
) -> None:
    """Leave out rows without a key or a time, and those whose time is no outcome."""
    window = f"{scale.edges[0]:g} to {scale.edges[-1]:g} s"
    for is_out, reason in (
        (np.isnan(time_s), f"{columns.response} or {columns.response_time} is empty"),
        (~np.isnan(time_s) & ~fine, f"{columns.response_time} is not from {window}"),
    ):
        places = np.flatnonzero(is_out)
        left_out.add(reason, cells.frame.iloc[places], cells.row_numbers(places))


def _times_in_words(
    time_s: Array, columns: AnswerColumns, scale: AnswerScale, besides: str
) -> list[str]:
    """The unit, what is left out, and what bins of time hide."""
    known = time_s[~np.isnan(time_s)]
    unit = {"s": "seconds", "ms": "milliseconds"}.get(columns.response_time_unit, "seconds or ms")
    fit = scale.fit_in_words(known.tolist()).rstrip(".")
    return [
        f"times in {columns.response_time} are {unit} (median {float(np.median(known)):.3g} s)",
        f"{fit}. What is no outcome is left out{besides}",
    ]


# What columns seem to mean -----------------------------------------------------------------------


def time_by_values(table: TableSignature) -> str:
    """The only column of many different positive numbers that are times of responses in seconds or milliseconds."""
    found = []
    for item in table.numbers():
        known = item.values[np.isfinite(item.values) & (item.values != 0)]
        if len(item.distinct) < 20 or not len(known) or (known < 0).any():
            continue
        middle = float(np.median(known))
        if (0.2 <= middle <= 3 or 200 <= middle <= 3000) and not is_clock(item, table.person):
            found.append(item.name)
    return found[0] if len(found) == 1 else ""


def judged_accuracy(table: TableSignature) -> ColumnSignature | None:
    """The column that says of most responses that they were right."""
    found = []
    for item in table.columns.values():
        if not item.words & {*OF_RIGHT, *ERRORS} or len(item.distinct) < 2:
            continue
        code = judged_code(item)
        is_right = item.cells.str.casefold().map(code) == 0
        if code and is_right[(item.cells != "").to_numpy()].mean() >= MOSTLY_RIGHT:
            found.append(item)
    return found[0] if found else None


def judged_code(item: ColumnSignature) -> dict[str, int]:
    """Find which cells of a column that judges responses mean right (0) and wrong (1), in small letters."""
    return guessed_correctness({cell.casefold() for cell in item.distinct}, item.name)


def pressed_and_right(table: TableSignature) -> tuple[ColumnSignature, ColumnSignature] | None:
    """The key that was pressed and the right one: two columns with the same few cells, mostly equal.

    The right key follows from what was shown, or a column judges whether both are the same.
    """
    few = [
        item
        for item in table.free
        if 2 <= len(item.distinct) <= MOST_KEYS and item.words & (RIGHT_KEYS | PRESSED | KEYS)
        and not {cell.casefold() for cell in item.distinct} <= {*YES_OR_NO, *RIGHT, *WRONG} - {"1", "0"}
    ]  # fmt: skip
    judged = judged_accuracy(table)
    for pressed, right in permutations(few, 2):
        keys_pressed, known = set(pressed.distinct), set(right.distinct)
        if not keys_pressed <= known or pressed.words & RIGHT_KEYS:
            continue
        if not right.words & RIGHT_KEYS and not _follows_from_what_is_shown(right, pressed, table):
            continue
        filled = (pressed.cells != "").to_numpy() & (right.cells != "").to_numpy()
        same = (pressed.cells == right.cells).to_numpy()
        if same[filled].mean() < MOSTLY_RIGHT:
            continue
        if judged is None or judged is right or judged is pressed:
            return pressed, right
        code = judged_code(judged)
        is_right = (judged.cells.str.casefold().map(code) == 0).to_numpy()
        if (is_right == same)[filled].mean() >= NEARLY_ALL:
            return pressed, right
    return None


def alike_keys(
    table: TableSignature, judged: ColumnSignature | None
) -> tuple[ColumnSignature, ColumnSignature] | None:
    """The response, by its name, and the only column with the same two cells, or sides, that is mostly equal to it.

    Where a column judges responses, it must say which rows are equal. A response of -1 and 1 is a side, left and right,
    where it agrees with one more often than it is 1, which otherwise may mean that it was right.
    """
    two = [item for item in table.columns.values() if len(item.distinct) == 2]
    cells_of = {item.name: item.cells.str.casefold() for item in (*two, *filter(None, [judged]))}
    sides = {name: own.map(SIDE_WORDS | SIGNED_SIDES) for name, own in cells_of.items()}
    found = []
    for pressed, right in permutations(two, 2):
        is_response = pressed.name == table.response or bool(pressed.words & PRESSED)
        if not is_response or judged in (pressed, right):
            continue
        cells = (
            cells_of
            if set(cells_of[pressed.name]) - {""} == set(cells_of[right.name]) - {""}
            else sides
        )
        filled = ((pressed.cells != "") & (right.cells != "")).to_numpy()
        same = (cells[pressed.name] == cells[right.name]).to_numpy()
        is_signed = cells is sides and {*pressed.distinct} == {*SIGNED_SIDES}
        least = float((pressed.cells == "1")[filled].mean()) if is_signed else 0.0
        if same[filled].mean() < max(MOSTLY_RIGHT, least):
            continue
        is_right = same if judged is None else cells_of[judged.name].map(judged_code(judged)) == 0
        if (is_right == same).mean() >= NEARLY_ALL:
            found.append((pressed, right))
    return found[0] if len(found) == 1 else None


def _follows_from_what_is_shown(
    right: ColumnSignature, pressed: ColumnSignature, table: TableSignature
) -> bool:
    """Whether some other column says which key is right, and not which was pressed."""
    others = [
        item for item in table.free if item not in (right, pressed) and len(item.distinct) > 1
    ]
    return any(is_function_of(right, item) and not is_function_of(pressed, item) for item in others)


SIGNED_SIDES = {"-1": 0, "1": 1}
"""Cells of responses, as of HDDM and HSSM, and their place from the left beside a column that says sides."""


def code_of_keys(columns: Iterable[ColumnSignature]) -> dict[str, int]:
    """Keys from the left in columns of them, in small letters; empty where some are not known."""
    said = {cell.casefold() for item in columns for cell in item.distinct}
    known = guessed_keys(said - set(SIGNED_SIDES))
    is_signed = set(SIGNED_SIDES) <= said and set(known) <= set(SIDE_WORDS)
    return guessed_keys(said) or (known | SIGNED_SIDES if known and is_signed else {})
