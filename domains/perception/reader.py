"""Trials of `perception` from rows of a file: how strong each stimulus was, and which response was right.

A file says how strong the evidence was, by numbers (coherence, contrast, a difference) or by levels of difficulty, and
what was responded, by the response beside the one that was right, or by right and wrong. Signed numbers say both: how
strong the evidence was, and for which response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.kit.strengths import PLACE_OF, STRENGTHS, read_strengths
from lakatos.domains.kit.timed_domain import timed_outcomes
from lakatos.domains.kit.timed_rows import (
    MOSTLY_RIGHT,
    PRESSED,
    TimedRows,
    alike_keys,
    code_of_keys,
    judged_accuracy,
    kept_rows,
    pressed_and_right,
    question_accuracy,
    read_timed_rows,
    time_by_values,
    times_within,
)
from lakatos.domains.perception.task import DOMAIN, perception_trials
from lakatos.experiments.adoption.layouts import NeededParts, Reading, StimulusLayout
from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import MOST_MISSED
from lakatos.experiments.adoption.plausible import FEWEST, JUDGED, question
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.signatures import (
    ColumnSignature,
    TableSignature,
    signed_pair,
)
from lakatos.experiments.adoption.tables import distinct_rows, numbers_of
from lakatos.experiments.adoption.timed_answers import folded
from lakatos.experiments.answer_scale import AnswerScale
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli

Array = NDArray[Any]
PARTS: Mapping[str, str] = {
    "strength": "column: how strong the evidence in the stimulus was, from 0, in any unit (coherence, contrast, a "
    "difference; signs do not count), or easy, medium and hard; left out where all stimuli are alike",
    "strongest": "number that counts as strength 1; by default the largest of the file",
    "right_key": "column: the response that is right, named as in response, or signed evidence for the second one; "
    "left out where response says right or wrong",
    "side": "column: the response that is right (left or right, or signed evidence for the second one), where response "
    "says right or wrong",
}
"""Parts of a trial, for people to read."""
ALIKE = 0.3
"""Correlation from which on a column may say which response was right; that of being right with a condition is less."""
STRONG_REVERSAL = -0.1
"""Correlation of strength with right responses from which down the code is questioned."""
WORDS = ({"word", "w"}, {"nonword", "non-word", "pseudoword", "nw", "non_word"})
"""Cells that say what letters are."""


def perception_answers(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    notes: list[str],
    left_out: RowsLeftOut,
    scale: AnswerScale = DOMAIN.scale,
) -> tuple[Stimuli, Array, Array, Array]:
    """Answers with their times.

    Returns:
        Distinct trials; and of each answer whose time can be one, the trial, the outcome, and the place of its row.

    Raises:
        RowsWrongError: A cell cannot be read, or a person has no time that can be that of an answer.
        TrialsError: The mapping cannot be right.
    """
    _question_unread_key(cells, columns, notes)
    rows = read_timed_rows(
        cells, columns, participant, notes, signed=True,
        unknown_keys="no theory can have a bias to one response, and all trials count as having the second one right",
    )  # fmt: skip
    if rows.n_answers != 2:
        raise TrialsError(
            f"{cells.name}: trials of perception have 2 responses, and these have {rows.n_answers}. Say which cells "
            "are the first (0) and the second (1): --column responses.CELL=PLACE (participants.columns.responses)."
        )
    question_accuracy(rows, cells, columns, notes)
    fine = times_within(rows, cells, columns, scale)
    _check_spread(rows.time_s, columns, cells.name)
    side = np.where(np.isnan(rows.right), 1.0, 2 * rows.right - 1)
    strength = read_strengths(cells, columns, notes, np.ones(len(cells.frame), dtype=bool))
    # without evidence no response is right: the second one counts as such
    is_right = np.where(strength == 0, rows.is_right == (side > 0), rows.is_right)
    side = np.where((strength == 0) & ~np.isnan(rows.right), 1.0, side)
    _question_boundary(rows, fine, cells, columns, notes)
    _question_strength(strength, rows.is_right, fine, cells, columns, notes)
    kept = kept_rows(rows, fine, cells, columns, participant, scale, notes, left_out)
    first, which = distinct_rows(strength[kept], side[kept])
    outcome = timed_outcomes(is_right[kept], rows.time_s[kept], scale)
    return perception_trials(strength[kept][first], side[kept][first]), which, outcome, kept


def _question_unread_key(cells: RowCells, columns: AnswerColumns, notes: list[str]) -> None:
    """Question a response read as right or wrong beside a column of two cells which it, or its sign, often says."""
    response, side = columns.response, columns.stimulus.get("side")
    words = set(words_of(response))
    if "right_key" in columns.stimulus or not words & PRESSED or words & JUDGED:
        return
    texts = folded(cells.text(response))
    both = sorted(set(texts.tolist()) - {""})
    is_signed = both == ["-1", "1"]
    for name in columns_not_read(cells.frame, columns) + [str(side)] * (is_signed and bool(side)):
        other = folded(cells.text(name))
        codes = sorted(set(other.tolist()) - {""})
        if set(words_of(name)) & JUDGED or len(codes) != 2 or not (is_signed or codes == both):
            continue
        same = np.corrcoef(texts == both[0], other == codes[0])[0, 1]
        if (abs(same) if is_signed else same) > ALIKE:
            pairs = dict(zip(both, codes if same > 0 else codes[::-1], strict=True))
            recode = ", ".join(f'{own} = "{cell}"' for own, cell in pairs.items())
            turn = "" if codes == both else f" --column 'recode.{response}={{{recode}}}'"
            question(
                columns,
                notes,
                "unread_column",
                f"{cells.name}: {response} often says what {name} says, so that {name} seems to be the stimulus, or "
                f"the right response, and {response} what was responded, not whether it was right. Say --column "
                f"right_key={name} --column response={response}{turn}",
            )


def _check_spread(time_s: Array, columns: AnswerColumns, name: str) -> None:
    known = time_s[~np.isnan(time_s)]
    if len(known) >= FEWEST and np.ptp(known) == 0:
        raise TrialsError(
            f"{name}: all times in {columns.response_time} are {known[0]:g} s; name the column that holds the times of "
            "responses: --column response_time=COLUMN."
        )


def _question_boundary(
    rows: TimedRows, fine: Array, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question strengths about a boundary: on its two sides other responses are right, and near it fewer are."""
    column = columns.stimulus.get("strength", "")
    if column not in cells.frame.columns or "strongest" in columns.stimulus:
        return
    value, right = numbers_of(cells.frame[column]).to_numpy(), 1.0 * rows.is_right
    kept = fine & np.isfinite(value) & np.isfinite(rows.right)
    if kept.sum() < FEWEST or value[kept].min() < 0 or len(np.unique(value[kept])) < 3:
        return
    middle = (value[kept].min() + value[kept].max()) / 2
    both = np.stack([value, value > middle, np.abs(value - middle), right, rows.right])[:, kept]
    if (np.ptp(both, axis=1) == 0).any():
        return
    together = np.corrcoef(both)
    stronger, farther, sides = together[0, 3], together[2, 3], together[1, 4]
    if abs(sides) < ALIKE or farther * np.sqrt(kept.sum()) < 3 or farther < abs(stronger):
        return
    question(
        columns,
        notes,
        "reversed_code",
        f"{cells.name}: {column} seems to be signed about {middle:g}: on its two sides other responses are right, and "
        f"responses are the more often right the farther it is from there (correlation {farther:.2f} over "
        f"{int(kept.sum()):,} responses). Say --column 'strength=abs({column} - {middle:g})'",
    )


def _question_strength(
    strength: Array,
    is_right: Array,
    fine: Array,
    cells: RowCells,
    columns: AnswerColumns,
    notes: list[str],
) -> None:
    """Question strengths with which participants are less often right: they may count difficulty."""
    kept = fine & (strength > 0)
    if kept.sum() < FEWEST or np.ptp(strength[kept]) == 0 or is_right[kept].all():
        return
    correlation = float(np.corrcoef(strength[kept], is_right[kept])[0, 1])
    if correlation * np.sqrt(kept.sum()) > -3 or correlation > STRONG_REVERSAL:
        return
    column = columns.stimulus["strength"]
    question(
        columns,
        notes,
        "reversed_code",
        f"{cells.name}: responses are less often right the stronger stimuli are by {column} (correlation "
        f"{correlation:.2f} over {int(kept.sum()):,} responses), so that it may count difficulty. Give strengths: "
        f"--column 'strength=NUMBER - {column}' with the largest number, or --column 'recode.{column}=...'",
    )


# What columns seem to mean -----------------------------------------------------------------------


def recognise(table: TableSignature) -> Reading | None:
    """Read the strength of stimuli, a time, and whether the response was right, or it beside the right response."""
    time = table.time or time_by_values(table)
    if not time:
        return None
    columns = [item for item in table.free if item.name not in (time, table.response)]
    if reading := _both_sides(table, columns, time) or _accuracy_of_hddm(table, columns):
        return reading
    named = [item for item in columns if _is_strength(item)]
    words = [item for item in columns if _is_word_or_not(item)]
    is_of_factors = not named and {"S", "R"} <= set(table.columns)
    if len(named) != 1 and not (words and not named) and not is_of_factors:
        return None
    if is_of_factors and not table.response:
        table = replace(table, response="R")  # files of EMC2 and DMC name stimulus and response so
    stimulus: dict[str, Any] = {"strength": named[0].name} if named else {}
    shown = tuple(item.name for item in (*named, *words[:1]))
    judged = judged_accuracy(table)
    keys = pressed_and_right(table) or alike_keys(table, judged)
    if keys is not None and len(keys[1].distinct) == 2:
        right = keys[1]
        code = code_of_keys(keys) or {
            cell.casefold(): place for place, cell in enumerate(sorted(right.distinct))
        }
        stimulus |= {"right_key": right.name}
        return Reading(stimulus, shown, response=keys[0].name, time=time, responses=code)
    is_signed = bool(named) and named[0].is_number and bool((named[0].values < 0).any())
    if judged is not None:
        stimulus |= {"side": named[0].name} if is_signed else {}
        return Reading(stimulus, shown, response=judged.name, time=time)
    if is_signed and (pressed := _signed_response(table, named[0])):
        stimulus |= {"right_key": named[0].name}
        return Reading(stimulus, shown, response=pressed[0], time=time, responses=pressed[1])
    return None


def _both_sides(
    table: TableSignature, columns: Sequence[ColumnSignature], time: str
) -> Reading | None:
    """Strengths in two columns, left and right: the right one less the left one is evidence for the second response."""
    pair = signed_pair(item for item in columns if item.words & STRENGTHS)
    if not pair:
        return None
    left, right = pair
    signed = f"{right.name} - {left.name}"
    cells = pd.Series(np.nan_to_num(right.values) - np.nan_to_num(left.values)).astype(str)
    if (pressed := _signed_response(table, ColumnSignature(signed, cells))) is None:
        return None
    response, code = pressed
    missed = tuple(cell for cell in table.columns[response].distinct if cell not in code)
    note = (
        f"{left.name} and {right.name} are taken for one strength with its side; empty cells are 0"
    )
    reading = Reading({"strength": signed, "right_key": signed}, (left.name, right.name), time=time)
    recode = {item.name: {"": "0"} for item in pair if (item.cells == "").any()}
    marks = {response: missed} if missed else {}
    return replace(
        reading, response=response, responses=code, recode=recode, missing=marks, notes=(note,)
    )


def _accuracy_of_hddm(table: TableSignature, columns: Sequence[ColumnSignature]) -> Reading | None:
    """The columns of HDDM, where the response is coded by accuracy: mostly 1, of nearly all participants, or 0."""
    response = table.columns.get("response")
    is_code = response is not None and {*response.distinct} in ({"0", "1"}, {"0.0", "1.0"})
    if response is None or not is_code or not {"subj_idx", "rt"} <= set(table.columns):
        return None
    if any(item.words & REWARDS for item in columns):
        return None
    right = pd.Series(response.values).groupby(table.person).mean()
    if np.nanmean(response.values) < MOSTLY_RIGHT or (right > 0.5).mean() < NEARLY_ALL_PEOPLE:
        return None
    named = [item for item in columns if _is_strength(item)]
    note = (
        "response is taken for whether responses were right (1) or wrong (0), as files of HDDM code accuracy; where it "
        "says which of two responses was given, name the right one: --column right_key=COLUMN"
    )
    stimulus = {"strength": named[0].name} if len(named) == 1 else {}
    return Reading(
        stimulus, tuple(stimulus.values()), response="response", time="rt",
        responses={cell: int(float(cell) == 0) for cell in response.distinct}, notes=(note,),
    )  # fmt: skip


NEARLY_ALL_PEOPLE = 0.8
"""Share of participants who are mostly right, so that a response may say whether it was right."""
REWARDS = {"reward", "feedback", "outcome", "points", "win", "won", "loss", "split"}
"""Words in names of columns of what participants learn from, as in HDDM's models of learning."""


def _is_strength(item: ColumnSignature) -> bool:
    """Whether a column is called like strengths and holds numbers or words for levels."""
    distinct_cells = {cell.casefold() for cell in item.distinct}
    if not item.words & STRENGTHS or len(distinct_cells) < 2 or distinct_cells == {"0", "1"}:
        return False
    return distinct_cells <= set(PLACE_OF) or item.is_number


def _is_word_or_not(item: ColumnSignature) -> bool:
    """Whether a column says of each row whether letters were a word."""
    distinct_cells = {cell.casefold() for cell in item.distinct}
    fits = [distinct_cells & words for words in WORDS]
    is_said = all(len(own) == 1 for own in fits) or "lexicality" in item.words
    return len(distinct_cells) == 2 and is_said and not item.words & PRESSED


def _signed_response(
    table: TableSignature, signed: ColumnSignature
) -> tuple[str, dict[str, int]] | None:
    """The column of two responses that goes with the sign of evidence, and which of them is the second one."""
    for item in table.columns.values():
        is_response = item.name == table.response or bool(item.words & PRESSED)
        distinct_cells = sorted(item.distinct)
        if distinct_cells == ["-1", "0", "1"] and (item.cells == "0").mean() <= MOST_MISSED:
            distinct_cells.remove("0")  # nobody responded
        if not is_response or len(distinct_cells) != 2 or item is signed:
            continue
        first, second = distinct_cells
        is_second = (item.cells == second).to_numpy()
        positive = signed.values > 0
        known = (signed.values != 0) & item.cells.isin(distinct_cells).to_numpy()
        agreement = float((is_second == positive)[known].mean())
        if max(agreement, 1 - agreement) < MOSTLY_RIGHT:
            continue
        pair = (first, second) if agreement > 0.5 else (second, first)
        return item.name, {cell.casefold(): place for place, cell in enumerate(pair)}
    return None


LAYOUT = StimulusLayout(
    PARTS,
    (),
    None,
    recognise=recognise,
    guess_rank=6,
    from_rows=perception_answers,
    properties=lambda stimuli: {name: stimuli[name] for name in ("strength", "side")},
    inputs={
        "keys": NeededParts(
            ("right_key", "side"), "which response was right", "biases towards a response"
        ),
        "strengths": NeededParts(
            ("strength",), "how strong stimuli were", "how evidence grows with strength"
        ),
    },
    kind="timed decisions of a stimulus's category",
)
"""The trials of this kind of task as columns."""


@lru_cache(maxsize=8)
def layout_within(scale: AnswerScale) -> StimulusLayout:
    """The layout where responses count between the first and the last edge of a scale."""
    return replace(LAYOUT, from_rows=partial(perception_answers, scale=scale))
