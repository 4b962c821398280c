"""Trials of `attention` from rows of a file: what was shown, which key was right, and what happened just before.

A file says what each trial was, by a column of conditions or by a target and a distractor, and what was answered, by
the key or by right and wrong. What happened before a trial is read off the person's row before it, which counts there
even where it is no answer itself, because it came too early, too late or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.attention.task import SCALE, conflict_trials, timed_outcomes
from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.layouts import NeededParts, Reading, StimulusLayout
from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import BY_PARTICIPANT, AnswerColumns
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import MOST_MISSED
from lakatos.experiments.adoption.plausible import FEWEST, in_larger_numbers, question
from lakatos.experiments.adoption.recognised import CHOICES
from lakatos.experiments.adoption.row_cells import RowCells, RowsWrongError
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.signatures import (
    NEARLY_ALL,
    ColumnSignature,
    TableSignature,
    is_clock,
    is_function_of,
)
from lakatos.experiments.adoption.tables import by_distinct, distinct_rows
from lakatos.experiments.adoption.timed_answers import (
    ACCURACY,
    CORRECT,
    ERRORS,
    KEYS,
    MOST_KEYS,
    RIGHT,
    WRONG,
    folded,
    guessed_correctness,
    guessed_keys,
)
from lakatos.experiments.answer_scale import AnswerScale
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli
from lakatos.traces.wording import plural

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
"""What words for a distractor that suggests another answer, and the right one, begin with."""


def said_of_distractor(cell: str) -> float | None:
    """What a cell says of the distractor: 1 the right answer, -1 another one, 0 none; None where it says nothing."""
    against, with_it = (any(map(cell.startswith, words)) for words in BEGINNINGS)
    if cell in CONGRUENCE or not (against or with_it):
        return CONGRUENCE.get(cell)
    return -1.0 if against else 1.0


YES_OR_NO = {"0": 0, "0.0": 0, "1": 1, "1.0": 1, "false": 0, "true": 1, "no": 0, "yes": 1}
"""Cells of a column whose name says what they are about."""
SLOWER, STRONG_REVERSAL = 3.0, 0.1
"""Standard errors, and correlation with log times, from which on congruent trials are questioned that take longer."""
FEWEST_PEOPLE = 5
"""From which on differences within participants are compared over participants."""
SIDES = {
    "left": -1.0, "l": -1.0, "-1": -1.0, "middle": 0.0, "down": 0.0, "0": 0.0, "right": 1.0, "r": 1.0, "1": 1.0,
}  # fmt: skip
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
TIMES = {"rt", "latency", "reaction", "time"}
"""Words of names of columns."""
UNLIKELY_SHARE = 0.5
"""Share of times that are no outcome, beyond which the unit must be wrong."""


@dataclass(frozen=True)
class ConflictRows:
    """Rows of a file, in the order in which each person saw them; ``(n_rows,)`` each."""

    participant: Array
    block: Array
    """Number of the block."""
    congruence: Array
    right: Array
    """Place of the right key from the left, from 0; NaN where that is not known."""
    pressed: Array
    """Likewise of the key that was pressed."""
    is_right: Array
    """False where there was no answer."""
    time_s: Array
    """NaN where there was no answer."""
    n_answers: int
    level: float

    def stimuli(self) -> Mapping[str, Array]:
        """What each row shows and what came before it, by the numbers of the domain."""
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

    def can_be_answers(self, scale: AnswerScale) -> Array:
        """``(n_rows,)`` whether the time is an outcome of the scale."""
        low, high = scale.edges[0], scale.edges[-1]
        return np.asarray((self.time_s >= low) & (self.time_s <= high))


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
    _question_accuracy(rows, cells, columns, notes)
    fine = rows.can_be_answers(scale)
    _check_times(rows.time_s, fine, cells.name, columns, scale)
    _question_congruence(rows, fine, cells, columns, notes)
    kept = np.flatnonzero(fine)
    _leave_out(rows.time_s, fine, cells, columns, scale, left_out)
    _refuse_people_without_answers(cells, participant, kept)
    notes.extend(_times_in_words(rows.time_s, columns, scale))
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
    told, code = columns.stimulus, columns.responses
    n_rows = len(participant)
    time_s = _seconds(cells, columns, participant, notes)
    said = folded(cells.text(columns.response))
    answered = (said != "") & ~np.isnan(time_s)
    if "right_key" not in told:
        answered &= ~_without_key(cells, columns, said, notes)
    if not answered.all():
        missing = np.flatnonzero(~answered)
        if columns.bad_rows == "refuse":
            cells.refuse_empty(~answered, f"{columns.response} or {columns.response_time}")
        notes.append(
            f"for the trial after it, {'a' if len(missing) == 1 else 'each'} row without a key or a time counts as an "
            "error"
        )
    cells.refuse(
        (said != "") & ~pd.Series(said).isin(list(code)).to_numpy(),
        columns.response,
        f"is no answer; answers are {', '.join(code)}. If it stands for a missed response, say --column "
        f"missing.{columns.response.partition(' == ')[0]}=CELL",
    )
    chosen = by_distinct(pd.Series(said), lambda cell: code.get(cell, -1)).astype(np.float64)
    if "right_key" in told:
        right = _right_keys(cells, str(told["right_key"]), code)
        is_right, pressed = answered & (chosen == right), np.where(answered, chosen, np.nan)
        n_answers = len(set(code.values()))
    else:
        n_answers = _whole_number(told.get("n_answers", 2), "n_answers")
        right = _sides(cells, told, n_answers, notes)
        is_right = answered & (chosen == 0)
        pressed = _pressed(right, is_right, answered, n_answers)
    if n_answers not in (2, 3):
        raise TrialsError(
            f"{cells.name}: trials of attention have 2 or 3 keys, and these have {n_answers}. Say which cells are "
            "keys, from the left from 0: --column responses.CELL=PLACE (participants.columns.responses)."
        )
    block = np.zeros(n_rows, dtype=np.int64)
    if "block" in told:
        block = pd.factorize(pd.Series(cells.text(str(told["block"]))))[0].astype(np.int64)
    return ConflictRows(
        participant=participant,
        block=block,
        congruence=_congruence(
            cells,
            told["congruence"],
            notes,
            lambda own: _slower_cell(own, participant, is_right, time_s),
        ),
        right=right,
        pressed=pressed,
        is_right=is_right,
        time_s=np.where(answered, time_s, np.nan),
        n_answers=n_answers,
        level=_whole_number(told.get("level", 0), "level"),
    )


def _without_key(
    cells: RowCells, columns: AnswerColumns, said: Array, notes: list[str]
) -> NDArray[np.bool_]:
    """``(n_rows,)`` whether no key was pressed in a trial that counts as wrong, by the column of keys."""
    is_wrong = pd.Series(said).map(columns.responses).fillna(1).to_numpy() != 0
    for name in map(str, cells.frame.columns):
        words = set(words_of(name))
        if name == columns.response or not words & KEYS or words & {*CORRECT, *ACCURACY, *TIMES}:
            continue
        pressed = folded(cells.text(name))
        empty = (pressed == "") & (said != "")
        is_key = bool(guessed_keys(set(pressed.tolist()) - {""}))
        if is_key and empty.any() and is_wrong[empty].all() and empty.mean() <= MOST_MISSED:
            notes.append(
                f"{columns.response}: {rows_named(cells.row_numbers(empty))} have no answer, as {name} is empty there"
            )
            return np.asarray(empty, dtype=bool)
    return np.zeros(len(said), dtype=bool)


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


def _whole_number(value: Any, name: str) -> int:
    if not isinstance(value, int):
        raise TrialsError(
            f"{name} is {value!r}, which is no whole number; say --column {name}=2 "
            "(participants.columns.stimulus)."
        )
    return value


def _congruence(
    cells: RowCells, told: Any, notes: list[str], slower: Callable[[Array], tuple[str, str]]
) -> Array:
    """What the distractor suggests: 1 the right answer, -1 another one, 0 none.

    Of cells, ``slower`` tells the one whose trials are harder, empty where none is, and what shows it.
    """
    if isinstance(told, str):
        said = folded(cells.text(told))
        cells.refuse_empty(said == "", told)
        is_computed = columns_in(told, cells.frame.drop(columns=told)) != (told,)
        known = set(said.tolist())
        code = (
            {cell: 1.0 if value else -1.0 for cell, value in YES_OR_NO.items()}
            if is_computed and known <= set(YES_OR_NO)  # what is computed is 1 where it holds
            else _congruence_code(cells.name, told, known, notes, lambda: slower(said))
        )
        cells.refuse(
            ~pd.Series(said).isin(list(code)).to_numpy(),
            told,
            "is none of congruent, incongruent and neutral (or 1, -1 and 0). Say what it means: --column "
            f"'recode.{told}={{CELL = \"congruent\"}}'",
        )
        return by_distinct(pd.Series(said), code.__getitem__).astype(np.float64)
    if not isinstance(told, list | tuple) or len(told) != 2:
        raise TrialsError(
            "congruence: name one column, or two: what is asked for, and what distracts from it (--column "
            'congruence=COLUMN, or congruence=\'["TARGET", "DISTRACTOR"]\').'
        )
    target, distractor = (folded(cells.text(str(column))) for column in told)
    cells.refuse_empty(target == "", str(told[0]))
    # A distractor that is never asked for suggests no answer.
    suggests = np.isin(distractor, target)
    if not (target == distractor).any():
        raise TrialsError(
            f"{cells.name}: {told[1]} is never the same as {told[0]}, so that no row tells what is congruent; "
            "name a column that says it (--column congruence=COLUMN)."
        )
    return np.where(target == distractor, 1.0, np.where(suggests, -1.0, 0.0))


def _congruence_code(
    name: str,
    column: str,
    said: set[str],
    notes: list[str],
    slower: Callable[[], tuple[str, str]],
) -> Mapping[str, float]:
    """What each cell says of the distractor; 0 is another answer, not none, where the other cells say 1 alone.

    Raises:
        TrialsError: The cells are 0 and 1, and the column's name does not say which of them is congruent.
    """
    if not said <= set(YES_OR_NO):
        known = {cell: said_of_distractor(cell) for cell in said}
        return {**CONGRUENCE, **{cell: sign for cell, sign in known.items() if sign is not None}}
    words = set(words_of(column))
    if not words & (SAME | OTHER):
        harder, why = slower()
        code = {cell: "incongruent" if cell == harder else "congruent" for cell in sorted(said)}
        if not harder:
            code = dict.fromkeys(code, "WORD")
        raise TrialsError(
            f"{name}: {column} says {' and '.join(sorted(said))}, and no name says which is congruent. {why}: --column "
            f"{_recoded(column, code)}{'' if harder else ', each WORD congruent or incongruent'} "
            "(participants.columns.recode in a study)."
        )
    sign = -1.0 if words & OTHER else 1.0
    notes.append(
        f"{column}: 1 is {'in' * (sign < 0)}congruent and 0 is {'in' * (sign > 0)}congruent"
    )
    return {cell: sign if value else -sign for cell, value in YES_OR_NO.items()}


def _recoded(column: str, words: Mapping[str, str]) -> str:
    """The option by which cells of a column mean words."""
    said = ", ".join(f'{cell} = "{word}"' for cell, word in words.items())
    return f"'recode.{column}={{{said}}}'"


def _slower_cell(
    said: Array, participant: Array, is_right: Array, time_s: Array
) -> tuple[str, str]:
    """Of two cells, the one in whose trials participants are slower, or else less accurate; and the advice with it.

    Empty where times and accuracies differ by no more than chance, or speak against each other.
    """
    cells = sorted(set(said.tolist()))
    frame = pd.DataFrame({"who": participant, "said": said, "right": is_right, "time": time_s})
    frame = frame[np.isfinite(time_s)]
    if len(cells) != 2:
        return "", "Say what each is"
    times = _within(frame[frame["right"]], "time", cells)
    errors = _within(frame.assign(error=1.0 - frame["right"]), "error", cells)
    told = (
        f"of {plural(len(times), 'participant')}, {int((times > 0).sum())} take longer to respond rightly when it is "
        f"{cells[1]} (on average {1000 * times.mean():.0f} ms), and {int((errors > 0).sum())} make more errors then"
        if len(times)
        else "no participant has right responses to both"
    )
    signs = {int(np.sign(t)) for t in (_t_of_means(times), _t_of_means(errors)) if abs(t) > SLOWER}
    if len(signs) != 1:
        return "", f"The data do not tell it ({told}); say what each is"
    return cells[
        int(signs == {1})
    ], f"Trials that are harder are likely the incongruent ones: {told}"


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


def _right_keys(cells: RowCells, column: str, code: Mapping[str, int]) -> Array:
    said = folded(cells.text(column))
    cells.refuse_empty(said == "", column)
    cells.refuse(
        ~pd.Series(said).isin(list(code)).to_numpy(),
        column,
        f"is no key; keys are {', '.join(code)}. Say which cells are keys, from the left from 0: --column "
        "responses.CELL=PLACE (participants.columns.responses)",
    )
    return by_distinct(pd.Series(said), code.__getitem__).astype(np.float64)


def _sides(cells: RowCells, told: Mapping[str, Any], n_answers: int, notes: list[str]) -> Array:
    """Places of right keys where the response says right or wrong; NaN where nothing tells them."""
    if "side" not in told:
        notes.append(
            "which key was right is not known (neither right_key nor side names a column): no trial repeats the key "
            "before, and all are said to have the right key on the right"
        )
        return np.full(len(cells.frame), np.nan)
    column = str(told["side"])
    said = folded(cells.text(column))
    cells.refuse_empty(said == "", column)
    places = {word: side for word, side in SIDES.items() if side or n_answers == 3}
    cells.refuse(
        ~pd.Series(said).isin(list(places)).to_numpy(),
        column,
        f"is none of {', '.join(places)}. Say what it means: --column 'recode.{column}={{CELL = \"left\"}}'",
    )
    side = by_distinct(pd.Series(said), places.__getitem__).astype(np.float64)
    return (side + 1) / 2 if n_answers == 2 else side + 1


def _pressed(right: Array, is_right: Array, answered: Array, n_answers: int) -> Array:
    """Keys that were pressed, as far as right and wrong tell: of three keys not which wrong one."""
    other = 1 - right if n_answers == 2 else np.full(len(right), np.nan)
    return np.where(answered, np.where(is_right, right, other), np.nan)


def _question_accuracy(
    rows: ConflictRows, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Refuse responses of which fewer are right than chance would have, unless the mapping accepts them."""
    answered = ~np.isnan(rows.time_s)
    n_rows, n_right = int(answered.sum()), int((rows.is_right & answered).sum())
    chance = 1 / rows.n_answers
    if n_rows < FEWEST or n_right >= n_rows * chance - 2 * np.sqrt(n_rows * chance * (1 - chance)):
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


def _question_congruence(
    rows: ConflictRows, fine: Array, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question a congruence in numbers by which congruent trials take longer, since the code may be reversed."""
    column = columns.stimulus["congruence"]
    if not isinstance(column, str):
        return
    said = set(folded(cells.text(column)).tolist())
    if not said <= {*YES_OR_NO, "-1", "-1.0"} and column not in columns.recode:
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
    """How to say the other way round what is congruent."""
    column = columns.stimulus["congruence"]
    words = {1.0: "incongruent", -1.0: "congruent", 0.0: "neutral"}
    if columns_in(column, cells.frame.drop(columns=column)) != (column,):
        return "Name a column, or a comparison, that is 1 where trials are congruent: --column congruence=COLUMN"
    said = folded(cells.text(column)).tolist()
    signs = dict(zip(said, rows.congruence.tolist(), strict=True))
    given = columns.recode.get(column, {})
    code = {
        cell: signs[str(to).casefold()] for cell, to in given.items() if str(to).casefold() in signs
    } or signs
    turned = {cell: words[code[cell]] for cell in sorted(code, reverse=True)}
    return f"Say which is which: --column {_recoded(column, turned)} (participants.columns.recode)"


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


def _times_in_words(time_s: Array, columns: AnswerColumns, scale: AnswerScale) -> list[str]:
    """The unit, what is left out, and what bins of time hide."""
    known = time_s[~np.isnan(time_s)]
    unit = {"s": "seconds", "ms": "milliseconds"}.get(columns.response_time_unit, "seconds or ms")
    fit = scale.fit_in_words(known.tolist()).rstrip(".")
    return [
        f"times in {columns.response_time} are {unit} (median {float(np.median(known)):.3g} s)",
        f"{fit}. What is no outcome is left out, and counts as what happened before the next trial",
    ]


# What columns seem to mean -----------------------------------------------------------------------


def guessed_parts(frame: pd.DataFrame) -> dict[str, Any]:
    """Parts of trials that names and cells of columns suggest; none without conflict and a time."""
    words = {str(name): set(words_of(str(name))) for name in frame.columns}
    congruence = _guessed_congruence(frame, words)
    if not congruence or not any(said & TIMES for said in words.values()):
        return {}
    found: dict[str, Any] = {"congruence": congruence}
    used = {congruence} if isinstance(congruence, str) else set(congruence)
    cells = {
        name: set(folded(frame[name].unique())) - {""}
        for name, said in words.items()
        if name not in used and said & (KEYS | RIGHT_KEYS)
    }
    right = [
        name
        for name, said in cells.items()
        if guessed_keys(said)
        and ((words[name] & CORRECT and words[name] & KEYS) or "cresp" in words[name])
    ]
    # Of several, the one in whose words the keys that were pressed stand.
    pressed = [said for name, said in cells.items() if said and name not in right]
    fits = [name for name in right if any(said <= cells[name] for said in pressed)]
    return found | {"right_key": (fits or right)[0]} if right else found


def _are_opposites(cells: set[str]) -> bool:
    """Whether cells are words for distractors that go with the right answer and against it, such as comp and incomp."""
    signs = [said_of_distractor(cell) for cell in cells]
    is_word = all(len(cell) > 3 for cell in cells)
    return is_word and None not in signs and {1.0, -1.0} <= set(signs)


def _guessed_congruence(frame: pd.DataFrame, words: Mapping[str, set[str]]) -> Any:
    """The column whose name or cells tell of conflict, or those of target and distractor; empty if there are none."""
    for name, said in words.items():
        cells = set(folded(frame[name].unique())) - {""}
        if _are_opposites(cells):
            return name
        if len(cells) < 2 or not cells <= {*CONGRUENCE, *YES_OR_NO}:
            continue
        if said & (SAME | OTHER) and cells <= set(YES_OR_NO):
            return name
        if not cells <= set(CONGRUENCE):
            continue
        if said & CONDITIONS or all(len(cell) > 3 and cell[0].isalpha() for cell in cells):
            return name
    target = next((name for name, said in words.items() if said & TARGETS and not said & KEYS), "")
    other = next((name for name, said in words.items() if said & DISTRACTORS), "")
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
MOSTLY_RIGHT = 0.55
"""Share of right responses, from which on a column may judge them."""


def recognise(table: TableSignature) -> Reading | None:
    """Conflict in each trial, a time, and whether the response was right, or the key beside the right key."""
    time = table.time or _time_by_values(table)
    columns = [item for item in table.free if item.name != time and item.name != table.response]
    if not time:
        return None
    keys = _keys(table)
    judged = _accuracy(table)
    congruence: Any = _conflict(table, columns, keys)
    strings = {} if congruence else _rows_of_letters(columns)
    if len(strings) == 1:
        congruence = next(iter(strings))
    if not congruence or not (keys or judged or table.response):
        return None
    stimulus: dict[str, Any] = {"congruence": congruence}
    shown = tuple([congruence] if isinstance(congruence, str) else congruence)
    if keys and guessed_keys({cell.casefold() for cell in keys[1].distinct}):
        stimulus["right_key"] = keys[1].name
        response = keys[0].name
    elif judged or table.response:
        response = judged.name if judged else table.response
    elif keys and len(keys[1].distinct) > MOST_KEYS:
        response = f"{keys[0].name} == {keys[1].name}"
    else:
        return None
    recode = strings if len(strings) == 1 else {}
    return Reading(stimulus, shown, response=response, time=time, recode=recode)


def _rows_of_letters(columns: Sequence[ColumnSignature]) -> dict[str, dict[str, str]]:
    """Columns of rows such as ``HHSHH`` or ``<<><<``, with what each row says of the letters around the middle one."""
    found = {}
    for item in columns:
        said = {}
        for cell in item.distinct:
            text = cell.replace(" ", "")
            middle, around = (
                text[len(text) // 2],
                {*text[: len(text) // 2], *text[len(text) // 2 + 1 :]},
            )
            if len(text) < 3 or len(text) % 2 == 0 or len(around) != 1 or text.isdigit():
                break
            said[cell] = "congruent" if around == {middle} else "incongruent"
        if len(said) == len(item.distinct) and len(set(said.values())) == 2:
            found[item.name] = said
    return found


def _time_by_values(table: TableSignature) -> str:
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


def _accuracy(table: TableSignature) -> ColumnSignature | None:
    """The column that says of most responses that they were right."""
    found = []
    for item in table.columns.values():
        if not item.words & {*ACCURACY, *ERRORS} or len(item.distinct) < 2:
            continue
        code = guessed_correctness({cell.casefold() for cell in item.distinct}, item.name)
        is_right = item.cells.str.casefold().map(code) == 0
        if code and is_right[(item.cells != "").to_numpy()].mean() >= MOSTLY_RIGHT:
            found.append(item)
    return found[0] if found else None


def _keys(table: TableSignature) -> tuple[ColumnSignature, ColumnSignature] | None:
    """The key that was pressed and the right one: two columns with the same few cells, mostly equal.

    The right key follows from what was shown, or a column judges whether both are the same.
    """
    few = [
        item
        for item in table.free
        if 2 <= len(item.distinct) <= 6 and item.words & (RIGHT_KEYS | PRESSED | KEYS)
        and not {cell.casefold() for cell in item.distinct} <= {*YES_OR_NO, *RIGHT, *WRONG} - {"1", "0"}
    ]  # fmt: skip
    judged = _accuracy(table)
    for pressed, right in permutations(few, 2):
        said, known = set(pressed.distinct), set(right.distinct)
        if not said <= known or pressed.words & RIGHT_KEYS:
            continue
        if not right.words & RIGHT_KEYS and not _follows_from_what_is_shown(right, pressed, table):
            continue
        filled = (pressed.cells != "").to_numpy() & (right.cells != "").to_numpy()
        same = (pressed.cells == right.cells).to_numpy()
        if same[filled].mean() < MOSTLY_RIGHT:
            continue
        if judged is None or judged is right or judged is pressed:
            return pressed, right
        code = guessed_correctness({cell.casefold() for cell in judged.distinct}, judged.name)
        is_right = (judged.cells.str.casefold().map(code) == 0).to_numpy()
        if (is_right == same)[filled].mean() >= NEARLY_ALL:
            return pressed, right
    return None


def _follows_from_what_is_shown(
    right: ColumnSignature, pressed: ColumnSignature, table: TableSignature
) -> bool:
    """Whether some other column says which key is right, and not which was pressed."""
    others = [
        item for item in table.free if item not in (right, pressed) and len(item.distinct) > 1
    ]
    return any(is_function_of(right, item) and not is_function_of(pressed, item) for item in others)


def _conflict(
    table: TableSignature,
    columns: Sequence[ColumnSignature],
    keys: tuple[ColumnSignature, ColumnSignature] | None,
) -> Any:
    """The column that says what is congruent, or those of target and distractor; empty where there are none."""
    for item in columns:
        said = {cell.casefold() for cell in item.distinct}
        signs = {said_of_distractor(cell) for cell in said}
        is_word = all(len(cell) > 2 for cell in said) or {"c", "i"} <= said
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
    judged = _accuracy(table)
    fits = [
        item for item in fits if not item.words & {*ACCURACY, *ERRORS} or (keys and item is keys[1])
    ]
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


def _judges(judged: ColumnSignature, one: ColumnSignature, other: ColumnSignature) -> bool:
    """Whether a response is right where two columns say the same, so that one of them is the response."""
    code = guessed_correctness({cell.casefold() for cell in judged.distinct}, judged.name)
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
