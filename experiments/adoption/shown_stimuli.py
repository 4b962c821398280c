"""Responses that say where the chosen stimulus stood: the stimulus is what is learned about, not its place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.option_code import code_of_pair
from lakatos.experiments.adoption.tables import AnswerTable
from lakatos.experiments.adoption.timed_answers import guessed_keys
from lakatos.experiments.errors import TrialsError

SHOWN = "shown"
"""Part of the trials: a column for each place, with the stimulus that stood there, places from the left."""


def with_chosen_stimuli(
    table: AnswerTable, columns: AnswerColumns, notes: list[str]
) -> tuple[AnswerTable, AnswerColumns]:
    """The table with the stimulus that was chosen as the response, where columns say what stood at each place.

    Raises:
        TrialsError: A column is missing, cells of the response name no place, or there are more stimuli than options.
    """
    shown = columns.stimulus.get(SHOWN)
    if shown is None:
        return table, columns
    names = [str(name) for name in shown] if isinstance(shown, list | tuple) else []
    response = columns.response
    if len(names) < 2 or not {response, *names} <= set(table.columns):
        raise TrialsError(
            f"{table.name}: {SHOWN} is {shown!r}; name a column of stimuli for each place, from the left: --column "
            f'\'{SHOWN}=["LEFT", "RIGHT"]\' (participants.columns.stimulus.{SHOWN}).'
        )
    texts = table.frame[response].str.strip()
    cells = {cell for cell in texts.unique() if cell}
    code = columns.responses or places_of_cells(cells, len(names))
    if not code:
        raise TrialsError(
            f"{table.name}: {response} says {', '.join(sorted(set(texts) - {''})[:6])}; say at which place each stood, "
            f"from the left from 0: --column responses.CELL=PLACE (participants.columns.responses)."
        )
    chosen = texts.to_numpy(dtype=object)
    for cell, place in code.items():
        if place < len(names):
            rows = (texts.str.casefold() == cell.casefold()).to_numpy()
            chosen = np.where(rows, table.frame[names[place]].str.strip().to_numpy(), chosen)
    frame = table.frame.assign(**{response: pd.Series(chosen, table.frame.index, dtype="str")})
    where = ", ".join(
        f"{cell} is {names[place]}" for cell, place in code.items() if place < len(names)
    )
    notes.append(f"{response}: {where}, and the stimulus there is what was chosen")
    known = texts.str.casefold().isin([cell.casefold() for cell in code]) | (texts == "")
    responses = stimuli_in_sets(frame[known], response, columns.experiment, len(names))
    if not known.all() and not responses:  # other cells name no stimulus, and are refused later
        stimuli = sorted(set(frame[response][known].str.strip()) - {""})
        responses = {cell: place for place, cell in enumerate(stimuli)}
    return replace(table, frame=frame), columns.model_copy(update={"responses": responses})


def places_of_cells(distinct: set[str], n_places: int = 2) -> dict[str, int]:
    """The place, from the left, that each cell says: numbers in a row; of two, left and right, or keys as they lie."""
    for first in (0, 1):
        code = {str(first + place): place for place in range(n_places)}
        if distinct == set(code):
            return code
    if len(distinct) != 2:
        return {}
    pair = code_of_pair(distinct)
    if pair:
        return pair
    keys = guessed_keys({cell.casefold() for cell in distinct})
    return {cell: keys[cell.casefold()] for cell in sorted(distinct)} if keys else {}


def stimuli_in_sets(
    frame: pd.DataFrame, response: str, sets: str, n_options: int
) -> dict[str, int]:
    """The option of each stimulus, by the alphabet within its set; empty where that is the alphabet of all of them.

    Args:
        frame: Rows of text cells.
        response: Column of chosen stimuli.
        sets: Column that names sets of stimuli that are learned apart; empty where there is none.
        n_options: How many stimuli are in a set.
    """
    if sets not in frame.columns or frame[response].nunique() <= n_options:
        return {}
    code: dict[str, int] = {}
    for _, cells in frame[response].groupby(frame[sets], sort=True):
        own = sorted(set(cells.str.strip()) - {""})
        if len(own) != n_options:
            return {}
        for place, cell in enumerate(own):
            if code.setdefault(cell, place) != place:
                return {}
    return code
