"""Responses that name what an option is, where columns show options by their place; and the other way round."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.layouts import StimulusLayout, layout_of
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import PLACE_WORDS, column_option, words_of
from lakatos.experiments.adoption.option_code import (
    EARLY,
    LATE,
    NEGATIVE,
    PLACES,
    RISKY,
    SAFE,
    TRUTH,
    names_option,
    option_named,
    words_of_option,
)
from lakatos.experiments.adoption.row_cells import RowCells, RowsWrongError
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.tables import whole
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Stimuli

KINDS: Mapping[str, tuple[set[str], set[str]]] = {
    "delay": (EARLY, LATE),
    "spread of outcomes": (SAFE, RISKY),
}
"""Properties of options (`StimulusLayout.properties`), with words for the option that has less, and for the other."""
ALIKE = 1e-9


def kind_of_columns(stimulus: Mapping[str, Any]) -> str:
    """The property by which the columns of a stimulus name options, as ``ss`` and ``ll`` do; empty for other names."""
    shown = [words_of_option(stimulus, place) for place in (0, 1)]
    for name, (less, more) in KINDS.items():
        if shown[0] & (less | more) and shown[1] & (less | more):
            return name
    return ""


def kind_of_responses(
    cells: RowCells, columns: AnswerColumns, layout: StimulusLayout
) -> tuple[str, dict[str, int]]:
    """The property by which responses name options that columns show by their place, and what each cell means.

    Returns:
        The property, and for each cell whether it names the option that has less (0) or more (1) of it. Empty where
        responses name no such property, columns name options by it, or the mapping says which cell is which option.
    """
    column = columns.response or columns.share
    if columns.responses or not column or layout.properties is None:
        return "", {}
    shown = [words_of_option(columns.stimulus, place) for place in (0, 1)]
    distinct = {whole(str(cell).strip()) for cell in set(cells.text(column))} - {""}
    for name, (less, more) in KINDS.items():
        if (shown[0] | shown[1]) & (less | more):
            continue
        words = {cell: set(words_of(cell)) for cell in distinct}
        if distinct and all(bool(own & less) != bool(own & more) for own in words.values()):
            return name, {cell: int(bool(own & more)) for cell, own in words.items()}
        named = [names_option(set(words_of(column)), side) for side in (less, more)]
        named = named[::-1] if set(words_of(column)) & NEGATIVE else named
        if named[0] == named[1]:
            continue
        truth = {
            cell: int(TRUTH.get(cell.casefold(), cell)) for cell in distinct if _is_truth(cell)
        }
        if columns.share and named[1]:
            return name, {}
        if not columns.share and len(truth) == len(distinct):
            return name, {cell: (code if named[1] else 1 - code) for cell, code in truth.items()}
    return "", {}


def _is_truth(cell: str) -> bool:
    return cell in ("0", "1") or cell.casefold() in TRUTH


def place_of_more(
    stimuli: Stimuli,
    trial: NDArray[Any],
    kind: str,
    layout: StimulusLayout,
    cells: RowCells,
    column: str,
) -> NDArray[np.int64]:
    """``(n_rows,)`` place of the option that has more of a property.

    Raises:
        RowsWrongError: Both options are alike in it in some rows, whose responses therefore name none of them.
        TrialsError: Options do not have the property.
    """
    assert layout.properties is not None  # see `kind_of_responses`
    values = np.asarray(layout.properties(stimuli).get(kind, np.zeros((len(stimuli), 0))))
    if values.ndim != 2 or values.shape[1] != 2:
        raise TrialsError(
            f"{cells.name}: {column} names options by their {kind}, which trials of two options alone have. Say which "
            "cell is which option, from 0: --column responses.CELL=PLACE (participants.columns.responses)."
        )
    difference = (values[:, 1] - values[:, 0])[trial]
    is_alike = np.abs(difference) < ALIKE
    if is_alike.any():
        raise RowsWrongError(
            f"{cells.name}: {rows_named(cells.row_numbers(is_alike))}: {column} names an option by its {kind}, which "
            "is the same for both options.",
            cells.frame.index.to_numpy()[is_alike],
            f"{column} names an option by its {kind}, which is the same for both",
            empty=False,
        )
    return np.asarray(difference > 0, dtype=np.int64)


def label_of_option(stimuli: Stimuli, trial: int, code: int, domain: Domain) -> str:
    """The label of an option: what it is in this trial, where a domain's labels say so, else that of its place."""
    layout = layout_of(domain)
    for kind, sides in KINDS.items():
        is_kind = [label in side for label, side in zip(domain.options[:2], sides, strict=True)]
        if layout is None or layout.properties is None or not all(is_kind):
            continue
        values = layout.properties(stimuli.take(np.array([trial])))[kind].ravel()
        if abs(values[1] - values[0]) > ALIKE:
            return domain.options[int(values[code] > values[1 - code])]
    return domain.options[code]


def side_compared(frame: pd.DataFrame, response: str, stimulus: Mapping[str, Any]) -> str:
    """A comparison of responses with the column that says where an option stood, as in ``choice == ll_side``.

    Empty where columns show options by their place, or where not exactly one column says it.
    """
    if not kind_of_columns(stimulus) or response not in frame.columns:
        return ""
    distinct = set(frame[response].str.strip().str.casefold()) - {""}
    columns = AnswerColumns(response=response, stimulus=dict(stimulus))
    found = [
        name
        for name in map(str, frame.columns)
        if name != response and set(words_of(name)) & PLACE_WORDS
        and set(frame[name].str.strip().str.casefold()) - {""} == distinct
        and option_named(f"{response} == {name}", RowCells(frame, ""), columns, ()) is not None
    ]  # fmt: skip
    is_one = len(found) == 1 and len(distinct) == 2
    return f"{response} == {found[0]}" if is_one else ""


def names_places(stimulus: Mapping[str, Any]) -> bool:
    """Whether columns name the options by their place, or number them, or no column shows them."""
    shown = [words_of_option(stimulus, place) for place in (0, 1)]
    if kind_of_columns(stimulus):
        return False
    numbered = {"1", "2", "first", "second", "one", "two"}
    return not any(shown) or all((shown[k] - shown[1 - k]) & (PLACES | numbered) for k in (0, 1))


def refuse_places(cells: RowCells, columns: AnswerColumns) -> None:
    """Refuse responses that say where an option stood, while columns do not name options by places.

    Raises:
        TrialsError: The message says both ways out.
    """
    column = columns.response
    if columns.responses or not column or names_places(columns.stimulus):
        return
    distinct = sorted({str(cell).strip() for cell in set(cells.text(column))} - {""})
    words = {word for cell in distinct for word in words_of(cell)}
    if not words or not words <= PLACES:
        return
    code = " ".join(column_option(f"responses.{cell}=PLACE") for cell in distinct[:2])
    shown = "; ".join(
        f"{part}: {json.dumps(own, ensure_ascii=False)}" for part, own in columns.stimulus.items()
    )
    raise TrialsError(
        f"{cells.name}: {column} says {' and '.join(distinct)}, where an option stood, and columns name options by "
        "something else. If another column says which option was chosen, say --column response=COLUMN. If options "
        f"changed places, say --column response='{column} == COLUMN' with the column that says where the second option "
        "stood (from 0 and 1, 1 is then the second option); if they never did, say which is which: "
        f"{code} (participants.columns.responses), where PLACE is 0 for the option or row that is listed first in the "
        f"parts of the trial ({shown}), and 1 for the second."
    )
