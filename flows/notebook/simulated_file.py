"""Files of simulated responses, with the rows of the file of the participants or with general columns.

The file of the participants is copied with simulated responses, so that its settings, conditions and attributes of
participants apply to the copy. The copy is read back to verify this. If that fails (rows of several responses,
published data, a run), each response has a row with the presented trial in numerical columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.number_answers import ANSWER_RANGE
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.timed_answer import (
    RIGHT,
    TimedTask,
    draw_presses,
    timed_task,
)
from lakatos.experiments.task import Trials
from lakatos.flows.notebook.answers import PeoplesAnswers, frame_of, table_of

Array = NDArray[Any]
ROUNDED_MS = 0.1
"""Precision of response times; no time is nearer to the end of its bin."""


@dataclass(frozen=True)
class SimulatedTable:
    """Table of simulated responses."""

    frame: pd.DataFrame
    is_like_the_file: bool
    """Whether the table has the columns of the file of the responses, and can be read in the same way."""


def table_of_simulated(simulated: Sequence[Trials], answers: PeoplesAnswers) -> SimulatedTable:
    """Make a table of simulated responses.

    Args:
        simulated: Simulated responses in the rows of ``answers``.
        answers: Responses of the participants.
    """
    own = _in_columns_of_file(simulated, answers)
    if own is not None:
        return SimulatedTable(own, is_like_the_file=True)
    tables = []
    for place, item in enumerate(simulated):
        table = frame_of(item, answers.domain).drop(columns="count")
        table["trial"] = table.groupby("participant").cumcount() + 1
        known = answers.people[place] if answers.people else {}
        people = {name: np.array(values)[item.participant] for name, values in known.items()}
        cells = dict(answers.beside[place]) if answers.beside else {}
        names = cells.pop(next(iter(cells), ""), None)
        if names is not None:
            table["participant"] = names
        for name, column in (people | cells).items():
            table[name if name not in table else f"{name}_of_file"] = column
        tables.append(table)
    return SimulatedTable(pd.concat(tables, ignore_index=True), is_like_the_file=False)


def _in_columns_of_file(
    simulated: Sequence[Trials], answers: PeoplesAnswers
) -> pd.DataFrame | None:
    """Return the rows of the file with simulated responses; None if the file cannot be written in this way."""
    source = answers.source
    if source is None:
        return None
    mapping = source.mapping
    if mapping.wide or mapping.items or mapping.alternative or mapping.is_pooled:
        return None
    table = table_of(source.data)
    others = [name for name in table.columns if name != mapping.participant]
    try:
        whole = adopt(
            table, mapping.model_copy(update={"attributes": tuple(others)}), answers.domain
        )
        if not _are_equal(whole.trials, answers.trials):
            return None
        rng = np.random.default_rng(0)
        parts = [
            _rewritten(pd.DataFrame(dict(cells)), own, new, mapping, answers, rng)
            for cells, own, new in zip(whole.beside, answers.trials, simulated, strict=True)
        ]
        written = pd.concat(parts, ignore_index=True)[list(table.columns)]
        # Plausible responses of participants may be implausible ones of a theory, and yet are read in this way.
        again = adopt(table_of_frame("the simulated responses", written), mapping, answers.domain)
    except (TrialsError, _NotWrittenError):
        return None
    return written if _are_equal(again.trials, simulated) else None


class _NotWrittenError(Exception):
    """The file has no cell for a response."""


def _are_equal(first: Sequence[Trials], second: Sequence[Trials]) -> bool:
    """Return whether tables have the same responses of the same participants, with the same feedback."""
    return len(first) == len(second) and all(
        np.array_equal(one.participant, other.participant)
        and np.array_equal(one.response, other.response)
        and all(np.allclose(one.feedback[name], other.feedback[name]) for name in one.feedback)
        for one, other in zip(first, second, strict=True)
    )


def _rewritten(
    cells: pd.DataFrame,
    own: Trials,
    new: Trials,
    mapping: AnswerColumns,
    answers: PeoplesAnswers,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return rows of one experiment with simulated responses."""
    task, scale = timed_task(answers.domain), scale_of(answers.domain)
    if task is not None:
        _write_presses(cells, own, new, mapping, task, rng)
    elif scale is not None:
        try:
            cell_of = _cells_by(own.response, cells[mapping.response], {})
            cells[mapping.response] = _cells_of(new.response, cell_of)
        except _NotWrittenError:  # an outcome stands for several numbers, or nobody gave it
            low, high = mapping.stimulus.get(ANSWER_RANGE, (-1, 1))
            numbers = low + (high - low) / 2 * (np.array(scale.places)[new.response] + 1)
            cells[mapping.response] = [f"{value:.12g}" for value in numbers]
    else:
        cell_of = _cells_by(own.response, cells[mapping.response], mapping.responses)
        cells[mapping.response] = _cells_of(new.response, cell_of)
    for name, column in mapping.feedback.items():
        if name in new.feedback and column in cells:
            cells[column] = [f"{value:.12g}" for value in new.feedback[name]]
    return cells


def _write_presses(
    cells: pd.DataFrame,
    own: Trials,
    new: Trials,
    mapping: AnswerColumns,
    task: TimedTask,
    rng: np.random.Generator,
) -> None:
    """Write keys (or their correctness) and response times."""
    n_bins = task.scale.n_bins
    right = task.right_keys(own.stimuli)[own.trial]
    keys, times_ms = draw_presses(task, own.stimuli, own.trial, new.response, rng)
    ends_ms = 1000 * np.array(task.scale.edges)
    place = new.response % n_bins
    times_ms = np.clip(times_ms, ends_ms[place] + ROUNDED_MS, ends_ms[place + 1] - ROUNDED_MS)
    was_right = own.response // n_bins == RIGHT
    n_keys = task.n_keys(own.stimuli)
    known = was_right if n_keys > 2 else np.ones(len(right), dtype=bool)
    pressed = np.where(was_right, right, (n_keys - 1) - right)
    column = cells[mapping.response]
    try:
        cell_of = _cells_by(pressed[known], column[known], {})
        cells[mapping.response] = _cells_of(keys, cell_of)
    except _NotWrittenError:  # the file says whether keys were right
        cell_of = _cells_by(own.response // n_bins, column, {})
        cells[mapping.response] = _cells_of(new.response // n_bins, cell_of)
    per_unit = 1000.0 if mapping.response_time_unit == "s" else 1.0
    cells[mapping.response_time] = [f"{time / per_unit:.8g}" for time in times_ms]


def _cells_by(places: Array, cells: pd.Series, code: Mapping[str, int]) -> dict[int, str]:
    """The cell for each place: one that the file has, or that its mapping names."""
    found = {place: cell for cell, place in code.items()}
    for place in np.unique(places).tolist():
        words = pd.unique(cells[places == place])
        if len(words) > 1 and len({word.strip().casefold() for word in words}) > 1:
            raise _NotWrittenError
        found[place] = words[0]
    if len(set(found.values())) < len(found):
        raise _NotWrittenError
    return found


def _cells_of(places: Array, cell_of: Mapping[int, str]) -> list[str]:
    """Return the cells for places."""
    if not set(np.unique(places).tolist()) <= set(cell_of):
        raise _NotWrittenError
    return [cell_of[place] for place in places.tolist()]
