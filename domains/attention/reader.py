"""Trials of `attention` from rows of a file: what was shown, which key was right, and what happened just before.

A file says what each trial was, by a column of conditions or by a target and a distractor, and what was answered, by
the key or by right and wrong. What happened before a trial is read off the person's row before it, which counts there
even where it is no answer itself, because it came too early, too late or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.attention.task import SCALE, conflict_trials
from lakatos.domains.kit.timed_domain import timed_outcomes
from lakatos.domains.kit.timed_rows import (
    MOSTLY_RIGHT,
    PRESSED,
    RIGHT_KEYS,
    TIMES,
    YES_OR_NO,
    TimedRows,
    alike_keys,
    code_of_keys,
    judged_accuracy,
    judged_code,
    kept_rows,
    pressed_and_right,
    question_accuracy,
    read_timed_rows,
    time_by_values,
    times_within,
    whole_number,
)
from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.layouts import NeededParts, Reading, StimulusLayout
from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import CHOICES, ERRORS, words_of
from lakatos.experiments.adoption.plausible import FEWEST, question
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.signatures import (
    NEARLY_ALL,
    ColumnSignature,
    TableSignature,
    is_function_of,
)
from lakatos.experiments.adoption.tables import by_distinct, distinct_rows, numbers_of
from lakatos.experiments.adoption.timed_answers import (
    CORRECT,
    KEYS,
    MOST_KEYS,
    OF_RIGHT,
    folded,
    guessed_keys,
)
from lakatos.experiments.answer_scale import AnswerScale
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli
from lakatos.traces.wording import in_a_list, plural

Array = NDArray[Any]
PARTS: Mapping[str, str] = {
    "congruence": "column: congruent, incongruent or neutral (or 1, -1, 0); or two columns: what is asked for and what "
    "distracts from it",
    "right_key": "column: the key that is right, named as in response; left out where response says right or wrong",
    "side": "column: where the right key is (left, middle, right, or -1, 0, 1), where response says right or wrong",
    "level": "of figures made of small ones, 1: the large one is asked for, -1: the small ones; 0: no such figures",
    "n_answers": "keys that there are, 2 or 3; counted where right_key names a column",
    "block": "column: where it changes, the next trial is a first one",
}
"""Parts of a trial, for people to read."""
CONGRUENCE = {
    "congruent": 1.0, "compatible": 1.0, "consistent": 1.0, "con": 1.0, "cong": 1.0, "c": 1.0, "1": 1.0, "1.0": 1.0,
    "incongruent": -1.0, "incompatible": -1.0, "inconsistent": -1.0, "inc": -1.0, "incon": -1.0, "incong": -1.0,
    "i": -1.0, "-1": -1.0, "-1.0": -1.0,
    "kongruent": 1.0, "inkongruent": -1.0, "congruente": 1.0, "incongruente": -1.0,
    "neutral": 0.0, "neut": 0.0, "none": 0.0, "n": 0.0, "0": 0.0, "0.0": 0.0,
}  # fmt: skip
BEGINNINGS = (("incong", "incomp", "incons", "inkong"), ("cong", "comp", "cons", "kong"))
"""Beginnings of words for a distractor that suggests another answer, and for one that suggests the right one."""


MOST_WRONG_CODES = 0.1
"""Share of rows of a cell up to which it may be a wrong one."""


def said_of_distractor(cell: str) -> float | None:
    """Return a cell's distractor: 1 the right answer, -1 another one, 0 none; None where the cell does not show it."""
    against, with_it = (any(map(cell.startswith, words)) for words in BEGINNINGS)
    if cell in CONGRUENCE or not (against or with_it):
        return CONGRUENCE.get(cell)
    return -1.0 if against else 1.0


SLOWER, STRONG_REVERSAL = 3.0, 0.1
"""Standard errors, and correlation with log times, from which on congruent trials are questioned that take longer."""
FEWEST_PEOPLE = 5
"""Number of participants from which on differences within participants are compared over participants."""
SAME = {
    "congruence",
    "congruency",
    "congruent",
    "compatibility",
    "compatible",
    "consistent",
    "cong",
}
OTHER = {"incongruent", "incompatible", "inconsistent", "conflict", "incong"}
CONDITIONS = {"congruence", "congruency", "congruent", "compatibility", "compatible", "conflict"}
TARGETS = {"target"}
DISTRACTORS = {"distractor", "distractors", "flanker", "flankers", "distracter"}


@dataclass(frozen=True, kw_only=True)
class ConflictRows(TimedRows):
    """Rows of a file, in the order in which each person saw them; ``(n_rows,)`` each."""

    participant: Array
    block: Array
    """Number of the block."""
    congruence: Array
    level: float

    def stimuli(self) -> Mapping[str, Array]:
        """Return what each row shows and what came before it, by the numbers of the domain."""
        later = np.zeros(len(self.participant), dtype=bool)
        same_person = self.participant[1:] == self.participant[:-1]
        later[1:] = same_person & (self.block[1:] == self.block[:-1])
        before = np.maximum(np.arange(len(later)) - 1, 0)
        middle = (self.n_answers - 1) / 2
        side = np.where(np.isnan(self.right), 1.0, np.sign(self.right - middle))
        return {
            "congruence": self.congruence,
            "level": np.full(len(later), self.level),
            "n_answers": np.full(len(later), float(self.n_answers)),
            "side": side,
            "has_previous": 1.0 * later,
            "previous_congruence": np.where(later, self.congruence[before], 0.0),
            "previous_error": 1.0 * (later & ~self.is_right[before]),
            "repeats": 1.0 * (later & (self.pressed[before] == self.right)),
        }


def conflict_answers(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    notes: list[str],
    left_out: RowsLeftOut,
    scale: AnswerScale = SCALE,
) -> tuple[Stimuli, Array, Array, Array]:
    """Answers with their times, from rows in the order in which each person saw them.

    Returns:
        Distinct trials; and of each answer whose time can be one, the trial, the outcome, and the place of its row.

    Raises:
        RowsWrongError: A cell cannot be read, or a person has no time that can be that of an answer.
        TrialsError: Most times cannot, so that their unit must be another one.
    """
    _check_order(cells, columns, participant)
    rows = _rows(cells, columns, participant, notes)
    question_accuracy(rows, cells, columns, notes)
    fine = times_within(rows, cells, columns, scale)
    _question_congruence(rows, fine, cells, columns, notes)
    besides = ", and counts as what happened before the next trial"
    kept = kept_rows(rows, fine, cells, columns, participant, scale, notes, left_out, besides)
    shown = {name: values[kept] for name, values in rows.stimuli().items()}
    first, which = distinct_rows(*shown.values())
    distinct = {name: values[first] for name, values in shown.items()}
    outcome = timed_outcomes(rows.is_right[kept], rows.time_s[kept], scale)
    return conflict_trials(distinct), which, outcome, kept


def _check_order(cells: RowCells, columns: AnswerColumns, participant: Array) -> None:
    """Refuse numbers of trials that begin anew in each block: what came before a trial would be of another block."""
    if not columns.order:
        return
    twice = pd.DataFrame({"who": participant, "when": cells.numbers(columns.order)}).duplicated()
    if twice.any():
        raise TrialsError(
            f"{cells.name}: {rows_named(cells.row_numbers(twice))}: {columns.order} says the same as in another row of "
            "this person, so that nobody knows what came before. Name a column that counts through all blocks "
            "(--column order=COLUMN), or leave order out where rows are in their order (--column order=)."
        )


def _rows(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> ConflictRows:
    """The cells of a file as what they mean."""
    parts = columns.stimulus
    rows = read_timed_rows(
        cells,
        columns,
        participant,
        notes,
        unknown_keys="no trial repeats the key before, and all trials count as having the right key on the right",
        missed="for the trial after it, {each} row without a key or a time counts as an error",
    )
    if rows.n_answers not in (2, 3):
        raise TrialsError(
            f"{cells.name}: trials of attention have 2 or 3 keys, and these have {rows.n_answers}. Say which cells are "
            "keys, from the left from 0: --column responses.CELL=PLACE (participants.columns.responses)."
        )
    block = np.zeros(len(participant), dtype=np.int64)
    if "block" in parts:
        block = pd.factorize(pd.Series(cells.text(str(parts["block"]))))[0].astype(np.int64)
    return ConflictRows(
        **vars(rows),
        participant=participant,
        block=block,
        congruence=_congruence(
            cells,
            parts["congruence"],
            notes,
            lambda own: _slower_cell(own, participant, rows.is_right, rows.time_s),
        ),
        level=whole_number(parts.get("level", 0), "level"),
    )


def _congruence(
    cells: RowCells, found: Any, notes: list[str], slower: Callable[[Array], tuple[str, str]]
) -> Array:
    """Return what the distractor suggests: 1 the right answer, -1 another one, 0 none.

    Of cells, ``slower`` tells the one whose trials are harder, empty where none is, and what shows it.
    """
    if isinstance(found, str):
        texts = folded(cells.text(found))
        cells.refuse_empty(texts == "", found)
        is_computed = columns_in(found, cells.frame.drop(columns=found)) != (found,)
        known = set(texts.tolist())
        _refuse_other_numbers(cells.name, found, texts)
        code = (
            {cell: 1.0 if value else -1.0 for cell, value in YES_OR_NO.items()}
            if is_computed and known <= set(YES_OR_NO)  # what is computed is 1 where it holds
            else _congruence_code(cells.name, found, known, notes, lambda: slower(texts))
        )
        cells.refuse(
            ~pd.Series(texts).isin(list(code)).to_numpy(),
            found,
            "is none of congruent, incongruent and neutral (or 1, -1 and 0). Say what it means: --column "
            f'\'recode.{found}={{"CELL" = "congruent"}}\'',
        )
        return by_distinct(pd.Series(texts), code.__getitem__).astype(np.float64)
    if not isinstance(found, list | tuple) or len(found) != 2:
        raise TrialsError(
            "congruence: name one column, or two: what is asked for, and what distracts from it (--column "
            'congruence=COLUMN, or congruence=\'["TARGET", "DISTRACTOR"]\').'
        )
    target, distractor = (folded(cells.text(str(column))) for column in found)
    cells.refuse_empty(target == "", str(found[0]))
    # A distractor that is never asked for suggests no answer.
    suggests = np.isin(distractor, target)
    if not (target == distractor).any():
        raise TrialsError(
            f"{cells.name}: {found[1]} is never the same as {found[0]}, so that no row tells what is congruent; "
            "name a column that says it (--column congruence=COLUMN)."
        )
    return np.where(target == distractor, 1.0, np.where(suggests, -1.0, 0.0))


def _refuse_other_numbers(name: str, column: str, texts: Array) -> None:
    """Refuse numbers of congruence beside words, or beside numbers that have no meaning here, unless they are rare.

    Raises:
        TrialsError: There are such numbers, so that the meaning of none is known.
    """
    shares = pd.Series(texts).value_counts(normalize=True)
    shares = shares[(shares > MOST_WRONG_CODES).to_numpy()]
    is_number = numbers_of(pd.Series(shares.index, dtype="str")).notna().to_numpy()
    numbers = sorted(map(str, shares.index[is_number]))
    is_known = set(numbers) <= set(CONGRUENCE) or _counts_from_1(column, set(numbers))
    if not numbers or (is_number.all() and is_known):
        return
    raise TrialsError(
        f"{name}: {column} holds {in_a_list(numbers)}{'' if is_number.all() else ' beside words'}, whose meaning is "
        "not known: numbers alone may be 1, -1 and 0, for congruent, incongruent and neutral. Say the word for each: "
        f"--column {_recoded(column, dict.fromkeys(numbers, 'WORD'))}, each WORD congruent, incongruent or neutral "
        "(participants.columns.recode in a study)."
    )


def _congruence_code(
    name: str,
    column: str,
    distinct: set[str],
    notes: list[str],
    slower: Callable[[], tuple[str, str]],
) -> Mapping[str, float]:
    """Code the cells of the distractor; 0 is another answer, not none, where the other cells have only 1.

    Raises:
        TrialsError: The cells are 0 and 1, and the column's name does not say which of them is congruent.
    """
    if _counts_from_1(column, distinct):
        harder, why = slower()
        if harder == "2":
            notes.append(f"{column}: 1 is taken for congruent and 2 for incongruent. {why}")
            return {"1": 1.0, "2": -1.0}
        code = {"1": "incongruent", "2": "congruent"} if harder else {"1": "WORD", "2": "WORD"}
        raise TrialsError(
            f"{name}: {column} says 1 and 2, and no name says which is congruent. {why}: --column "
            f"{_recoded(column, code)}{'' if harder else ', each WORD congruent or incongruent'} "
            "(participants.columns.recode in a study)."
        )
    if not distinct <= set(YES_OR_NO):
        known = {cell: said_of_distractor(cell) for cell in distinct}
        return {**CONGRUENCE, **{cell: sign for cell, sign in known.items() if sign is not None}}
    words = set(words_of(column))
    if not words & (SAME | OTHER):
        harder, why = slower()
        code = {cell: "incongruent" if cell == harder else "congruent" for cell in sorted(distinct)}
        if not harder:
            code = dict.fromkeys(code, "WORD")
        raise TrialsError(
            f"{name}: {column} says {' and '.join(sorted(distinct))}, and no name says which is congruent. {why}: "
            f"--column {_recoded(column, code)}{'' if harder else ', each WORD congruent or incongruent'} "
            "(participants.columns.recode in a study)."
        )
    sign = -1.0 if words & OTHER else 1.0
    notes.append(
        f"{column}: 1 is {'in' * (sign < 0)}congruent and 0 is {'in' * (sign > 0)}congruent"
    )
    return {cell: sign if value else -sign for cell, value in YES_OR_NO.items()}


def _counts_from_1(column: str, distinct: set[str]) -> bool:
    """Whether a column that is called congruency or the like says 1 and 2, as scripts of Inquisit do."""
    return bool(set(words_of(column)) & SAME) and distinct == {"1", "2"}


def _recoded(column: str, words: Mapping[str, str]) -> str:
    """The option by which cells of a column mean words."""
    own_words = ", ".join(f'{cell} = "{word}"' for cell, word in words.items())
    return f"'recode.{column}={{{own_words}}}'"


def _slower_cell(
    texts: Array, participant: Array, is_right: Array, time_s: Array
) -> tuple[str, str]:
    """Return which of two cells has slower, or else less accurate, responses in its trials, and the advice with it.

    Empty where times and accuracies differ by no more than chance, or speak against each other.
    """
    cells = sorted(set(texts.tolist()))
    frame = pd.DataFrame({"who": participant, "said": texts, "right": is_right, "time": time_s})
    frame = frame[np.isfinite(time_s)]
    if len(cells) != 2:
        return "", "Say what each is"
    times = _within(frame[frame["right"]], "time", cells)
    errors = _within(frame.assign(error=1.0 - frame["right"]), "error", cells)
    words = (
        f"of {plural(len(times), 'participant')}, {int((times > 0).sum())} take longer to respond rightly when it is "
        f"{cells[1]} (on average {1000 * times.mean():.0f} ms), and {int((errors > 0).sum())} make more errors then"
        if len(times)
        else "no participant has right responses to both"
    )
    signs = {int(np.sign(t)) for t in (_t_of_means(times), _t_of_means(errors)) if abs(t) > SLOWER}
    if len(signs) != 1:
        return "", f"The data do not tell it ({words}); say what each is"
    return cells[
        int(signs == {1})
    ], f"Trials that are harder are likely the incongruent ones: {words}"


def _within(frame: pd.DataFrame, name: str, cells: Sequence[Any]) -> Array:
    """``(n_people,)`` each person's mean where a cell is the second of two, minus that where it is the first."""
    means = frame.groupby(["who", "said"])[name].mean().unstack()
    if not set(cells) <= set(means.columns):
        return np.zeros(0)
    return np.asarray((means[cells[1]] - means[cells[0]]).dropna(), dtype=np.float64)


def _t_of_means(differences: Array) -> float:
    """Mean over people in standard errors; 0 of fewer than `FEWEST_PEOPLE`."""
    if len(differences) < FEWEST_PEOPLE or np.ptp(differences) == 0:
        return 0.0
    error = float(np.std(differences, ddof=1)) / np.sqrt(len(differences))
    return float(differences.mean() / error)


def _question_congruence(
    rows: ConflictRows, fine: Array, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question a congruence in numbers by which congruent trials take longer, since the code may be reversed."""
    column = columns.stimulus["congruence"]
    if not isinstance(column, str):
        return
    distinct = set(folded(cells.text(column)).tolist())
    if not distinct <= {*YES_OR_NO, "-1", "-1.0"} and column not in columns.recode:
        return  # words of a file say what they mean
    known = np.flatnonzero(fine & rows.is_right & (rows.congruence != 0))
    frame = pd.DataFrame(
        {
            "who": rows.participant[known],
            "congruent": 1.0 * (rows.congruence[known] > 0),
            "time": np.log(rows.time_s[known]),
        }
    )
    own = frame[["congruent", "time"]]
    own = own - own.groupby(frame["who"]).transform("mean")
    spread = float(np.sqrt((own["congruent"] ** 2).sum() * (own["time"] ** 2).sum()))
    n_rows = len(own) - frame["who"].nunique()
    if n_rows < FEWEST or spread <= 0:
        return
    correlation = float((own["congruent"] * own["time"]).sum()) / spread
    by_person = _within(frame.rename(columns={"congruent": "said"}), "time", (0.0, 1.0))
    is_strong = correlation * np.sqrt(n_rows) >= SLOWER and correlation >= STRONG_REVERSAL
    if not is_strong and _t_of_means(by_person) < SLOWER:
        return
    question(
        columns,
        notes,
        "reversed_code",
        f"{cells.name}: right responses to trials that {column} says are congruent take longer than others, in "
        f"{int((by_person > 0).sum())} of {plural(len(by_person), 'participant')} (correlation {correlation:.2f} over "
        f"{len(own):,} responses): {column} seems to be coded the other way round. "
        f"{_turned_congruence(rows, cells, columns)}",
    )


def _turned_congruence(rows: ConflictRows, cells: RowCells, columns: AnswerColumns) -> str:
    """Explain how to exchange what is congruent and what is not."""
    column = columns.stimulus["congruence"]
    words = {1.0: "incongruent", -1.0: "congruent", 0.0: "neutral"}
    if columns_in(column, cells.frame.drop(columns=column)) != (column,):
        return "Name a column, or a comparison, that is 1 where trials are congruent: --column congruence=COLUMN"
    texts = folded(cells.text(column)).tolist()
    signs = dict(zip(texts, rows.congruence.tolist(), strict=True))
    given = columns.recode.get(column, {})
    code = {
        cell: signs[str(to).casefold()] for cell, to in given.items() if str(to).casefold() in signs
    } or signs
    turned = {cell: words[code[cell]] for cell in sorted(code, reverse=True)}
    return f"Say which is which: --column {_recoded(column, turned)} (participants.columns.recode)"


# What columns seem to mean -----------------------------------------------------------------------


def guessed_parts(frame: pd.DataFrame) -> dict[str, Any]:
    """Parts of trials that names and cells of columns suggest; none without conflict and a time."""
    words = {str(name): set(words_of(str(name))) for name in frame.columns}
    congruence = _guessed_congruence(frame, words)
    if not congruence or not any(own_words & TIMES for own_words in words.values()):
        return {}
    found: dict[str, Any] = {"congruence": congruence}
    used = {congruence} if isinstance(congruence, str) else set(congruence)
    cells = {
        name: set(folded(frame[name].unique())) - {""}
        for name, own_words in words.items()
        if name not in used and own_words & (KEYS | RIGHT_KEYS)
    }
    right = [
        name
        for name, own_words in cells.items()
        if guessed_keys(own_words)
        and ((words[name] & CORRECT and words[name] & KEYS) or "cresp" in words[name])
    ]
    # Of several, the one in whose words the keys that were pressed stand.
    pressed = [own_words for name, own_words in cells.items() if own_words and name not in right]
    fits = [name for name in right if any(own_words <= cells[name] for own_words in pressed)]
    return found | {"right_key": (fits or right)[0]} if right else found


def _are_opposites(cells: set[str]) -> bool:
    """Whether cells are words for distractors that go with the right answer and against it, such as comp and incomp."""
    signs = [said_of_distractor(cell) for cell in cells]
    is_word = all(len(cell) > 3 for cell in cells)
    return is_word and None not in signs and {1.0, -1.0} <= set(signs)


def _guessed_congruence(frame: pd.DataFrame, words: Mapping[str, set[str]]) -> Any:
    """The column whose name or cells tell of conflict, or those of target and distractor; empty if there are none."""
    for name, own_words in words.items():
        cells = set(folded(frame[name].unique())) - {""}
        if _are_opposites(cells) or _counts_from_1(name, cells):
            return name
        if len(cells) < 2 or not cells <= {*CONGRUENCE, *YES_OR_NO}:
            continue
        if own_words & (SAME | OTHER) and cells <= set(YES_OR_NO):
            return name
        if not cells <= set(CONGRUENCE):
            continue
        if own_words & CONDITIONS or all(len(cell) > 3 and cell[0].isalpha() for cell in cells):
            return name
    target = next(
        (name for name, own_words in words.items() if own_words & TARGETS and not own_words & KEYS),
        "",
    )
    other = next((name for name, own_words in words.items() if own_words & DISTRACTORS), "")
    return [target, other] if target and other else ""


TARGET_WORDS = {
    *TARGETS,
    "ink",
    "color",
    "colour",
    "center",
    "central",
    "centre",
    "direction",
    "shape",
}
DISTRACTOR_WORDS = {*DISTRACTORS, "word", "surround", "surrounding", "position", "location", "side"}


def recognise(table: TableSignature) -> Reading | None:
    """Conflict in each trial, a time, and whether the response was right, or the key beside the right key."""
    time = table.time or time_by_values(table)
    columns = [item for item in table.free if item.name != time and item.name != table.response]
    if not time:
        return None
    judged = judged_accuracy(table)
    named = pressed_and_right(table)
    keys = named or alike_keys(table, judged)
    congruence: Any = _conflict(table, columns, keys)
    strings = {} if congruence else _rows_of_letters(columns)
    if len(strings) == 1:
        congruence = next(iter(strings))
    if not congruence or not (keys or judged or table.response):
        return None
    stimulus: dict[str, Any] = {"congruence": congruence}
    shown = tuple([congruence] if isinstance(congruence, str) else congruence)
    code = code_of_keys(keys or ())
    is_key = keys and guessed_keys({cell.casefold() for cell in keys[1].distinct})
    if keys and is_key and (named or _is_right_against(table, congruence, keys, code)):
        stimulus["right_key"] = keys[1].name
        response = keys[0].name
    elif judged or table.response:
        response = judged.name if judged else table.response
    elif keys and len(keys[1].distinct) > MOST_KEYS:
        response = f"{keys[0].name} == {keys[1].name}"
    else:
        return None
    recode = strings if len(strings) == 1 else {}
    responses = code if "right_key" in stimulus else {}
    return Reading(
        stimulus, shown, response=response, responses=responses, time=time, recode=recode
    )


def _is_right_against(
    table: TableSignature,
    congruence: Any,
    keys: tuple[ColumnSignature, ColumnSignature],
    code: Mapping[str, int],
) -> bool:
    """Whether responses mostly repeat a column also in trials that are not congruent, unlike a distractor."""
    if not isinstance(congruence, str):
        return True
    signs = table.columns[congruence].cells.str.casefold().map(said_of_distractor)
    pressed, right = (item.cells.str.casefold().map(code) for item in keys)
    return bool((pressed == right)[(signs != 1) & pressed.notna()].mean() >= MOSTLY_RIGHT)


def _rows_of_letters(columns: Sequence[ColumnSignature]) -> dict[str, dict[str, str]]:
    """Columns of rows such as ``HHSHH`` or ``<<><<``, with what each row says of the letters around the middle one."""
    found = {}
    for item in columns:
        distinct_cells = {}
        for cell in item.distinct:
            text = cell.replace(" ", "")
            middle, around = (
                text[len(text) // 2],
                {*text[: len(text) // 2], *text[len(text) // 2 + 1 :]},
            )
            if len(text) < 3 or len(text) % 2 == 0 or len(around) != 1 or text.isdigit():
                break
            distinct_cells[cell] = "congruent" if around == {middle} else "incongruent"
        if len(distinct_cells) == len(item.distinct) and len(set(distinct_cells.values())) == 2:
            found[item.name] = distinct_cells
    return found


def _conflict(
    table: TableSignature,
    columns: Sequence[ColumnSignature],
    keys: tuple[ColumnSignature, ColumnSignature] | None,
) -> Any:
    """The column that says what is congruent, or those of target and distractor; empty where there are none."""
    for item in columns:
        distinct_cells = {cell.casefold() for cell in item.distinct}
        signs = {said_of_distractor(cell) for cell in distinct_cells}
        is_word = all(len(cell) > 2 for cell in distinct_cells) or {"c", "i"} <= distinct_cells
        if None not in signs and {1.0, -1.0} <= signs and is_word:
            return item.name
    said_of_keys = PRESSED | CHOICES
    fits = [
        item
        for item in columns
        if 2 <= len(item.distinct) <= 8
        and not (item.words & said_of_keys and not item.words & RIGHT_KEYS)
        and table.named.get(item.name) != "response"
    ]
    judged = judged_accuracy(table)
    fits = [
        item for item in fits if not item.words & {*OF_RIGHT, *ERRORS} or (keys and item is keys[1])
    ]
    named = keys[1] if keys and keys[1].words & CORRECT and keys[1].words & KEYS else None
    if named and any(_repeats(named, item) for item in fits if item is not named):
        fits = [item for item in fits if item is not named]  # the target says the same
    pairs = [
        (one, other)
        for one, other in combinations(fits, 2)
        if {cell.casefold() for cell in one.distinct}
        == {cell.casefold() for cell in other.distinct}
        and 0.1 < (one.cells.str.casefold() == other.cells.str.casefold()).mean() < 0.95
        and not is_function_of(one, other)
        and not (judged is not None and _judges(judged, one, other))
    ]
    if len(pairs) != 1:
        return ""
    ordered = [pair for pair in (pairs[0], pairs[0][::-1]) if _is_target(pair[0], pair[1], keys)]
    return [item.name for item in ordered[0]] if len(ordered) == 1 else ""


def _repeats(right: ColumnSignature, target: ColumnSignature) -> bool:
    """Whether a right response is the target itself, as the colour in which a word is printed."""
    return bool((right.cells == target.cells)[right.cells != ""].all())


def _judges(judged: ColumnSignature, one: ColumnSignature, other: ColumnSignature) -> bool:
    """Whether a response is right where two columns say the same, so that one of them is the response."""
    code = judged_code(judged)
    is_right = (judged.cells.str.casefold().map(code) == 0).to_numpy()
    same = (one.cells.str.casefold() == other.cells.str.casefold()).to_numpy()
    return bool((is_right == same).mean() >= NEARLY_ALL)


def _is_target(
    target: ColumnSignature,
    other: ColumnSignature,
    keys: tuple[ColumnSignature, ColumnSignature] | None,
) -> bool:
    """Whether the right key follows from a column and not from the other one, or else their names say so."""
    if keys is not None:
        right = keys[1]
        if right is target or right is other:
            return right is target
        if is_function_of(right, target) != is_function_of(right, other):
            return is_function_of(right, target)
    named = [bool(target.words & TARGET_WORDS), bool(other.words & DISTRACTOR_WORDS)]
    turned = [bool(other.words & TARGET_WORDS), bool(target.words & DISTRACTOR_WORDS)]
    return any(named) and not any(turned)


LAYOUT = StimulusLayout(
    PARTS,
    ("congruence",),
    None,
    guess_cells=guessed_parts,
    recognise=recognise,
    kind="timed responses under conflict",
    guess_rank=5,
    from_rows=conflict_answers,
    properties=lambda stimuli: {name: stimuli[name] for name in ("congruence", "side")},
    inputs={
        "keys": NeededParts(
            ("right_key", "side"),
            "which key was right",
            "leans towards a key, and repetitions of a key",
        )
    },
)
"""The trials of this kind of task as columns; they are made from the order of the responses."""


@lru_cache(maxsize=8)
def layout_within(scale: AnswerScale) -> StimulusLayout:
    """The layout where responses count between the first and the last edge of a scale."""
    return replace(LAYOUT, from_rows=partial(conflict_answers, scale=scale))
