"""Whether responses that were read can mean what they were read as; what is implausible is refused or confirmed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.tables import numbers_of
from lakatos.experiments.errors import ImplausibleError
from lakatos.experiments.task import Stimuli, Trials

Array = NDArray[Any]
FEWEST = 20
"""Responses from which anything is concluded."""
MOST_DOMINATED = 0.4
"""Share of dominated options among the choices in which one option dominates, beyond which they are questioned."""
REVERSED = -5.0
"""Standard errors by which choices go against what speaks for an option, beyond which they are questioned."""
STRONG = 0.2
"""Likewise the least correlation, so that a small tendency of many participants is not questioned."""
MARKS = {
    sign * mark
    for sign in (-1, 1)
    for mark in (9, 77, 88, 99, 777, 888, 999, 7777, 8888, 9999, 99999, 999999)
}
"""Numbers that stand for missing values in many laboratories."""
FAR = 100.0
"""Times by which a single number is larger than all others where it may be a slip."""
THOUSAND = 50.0
"""Least factor between the medians of participants whose numbers seem to be in two units."""
FACTORS = (7, 12, 24, 30, 60, 100, 365, 1000)
"""Between units of time or money."""
STIMULUS_WORDS = {
    "type", "pair", "pairs", "stim", "stimulus", "stimuli", "cue", "cues", "context", "state", "setsize", "symbol",
    "symbols", "problem", "condition", "cond", "image", "card", "machine",
}  # fmt: skip
"""Words in names of columns that say at which stimuli a step was made."""
MOST_STIMULI = 50


def question(columns: AnswerColumns, notes: list[str], name: str, words: str) -> None:
    """Refuse what seems implausible, unless the mapping accepts it by its name.

    Raises:
        ImplausibleError: It is not accepted; the message says how to accept it.
    """
    if name in columns.accept:
        notes.append(f"accepted ({name}): {words}")
        return
    raise ImplausibleError(
        f'{words}. If the file is right as it was read, say --accept {name} (accept = ["{name}"] in the section '
        "participants.columns of a study)."
    )


def check_cells(
    cells: RowCells, columns: AnswerColumns, participant: Array | None, notes: list[str]
) -> None:
    """Question numbers that look like marks of missing values, and numbers in two units, in columns that are read.

    Args:
        cells: Rows that count.
        columns: What they mean.
        participant: ``(n_rows,)`` number of the participant; None where rows are counts.
        notes: What was accepted is added to them.
    """
    used = [*leaves_of(columns.stimulus), *columns.feedback.values(), columns.response_time]
    named = [name for name in used if isinstance(name, str)]
    for column in dict.fromkeys(own for name in named for own in columns_in(name, cells.frame)):
        if column not in cells.frame.columns:
            continue
        values = numbers_of(cells.frame[column]).to_numpy()
        known = values[~np.isnan(values)]
        for mark in marks_of_missing(known):
            rows = cells.row_numbers(np.flatnonzero(values == mark))
            question(
                columns,
                notes,
                "far_numbers",
                f"{cells.name}: {column} is {mark:g} in {rows_named(rows)}, and the other numbers are from "
                f"{known[known != mark].min():g} to {known[known != mark].max():g}. If {mark:g} stands for a missing "
                f"value, say --column missing.{column}={mark:g} (participants.columns.missing)",
            )
        if participant is None or column == columns.response_time or len(known) < FEWEST:
            continue  # units of times are looked at where times are read
        larger = in_larger_numbers(values, participant, FACTORS)
        if larger is not None:
            n_larger, n_all = len(np.unique(participant[larger])), len(np.unique(participant))
            own = [float(np.nanmedian(np.abs(values[part]))) for part in (larger, ~larger)]
            of_larger = rows_named(cells.row_numbers(larger))
            question(
                columns,
                notes,
                "two_units",
                f"{cells.name}: {column} seems to be in another unit for {n_larger} of {n_all} participants "
                f"({of_larger}): their median is {own[0]:g}, that of the others {own[1]:g}. Bring all into one unit",
            )


def marks_of_missing(values: Array) -> list[float]:
    """Numbers such as -999 or 99 that lie far from all others of a column and so may stand for missing values.

    A single number that is larger than all others by far is one of them.
    """
    different = np.unique(values)
    found = []
    for mark in sorted(MARKS & set(different.tolist())):
        rest = different[~np.isin(different, list(MARKS))]
        if len(rest) < 2:
            continue
        low, high = float(rest[0]), float(rest[-1])
        gap = max(mark - high, low - mark)
        if gap > (high - low) * (0.5 if abs(mark) >= 999 else 1.0) or mark < 0 <= low:
            found.append(float(mark))
    sizes = np.sort(np.abs(values[values != 0]))
    if len(sizes) >= FEWEST and sizes[-1] > FAR * sizes[-2]:
        found.append(float(values[np.abs(values).argmax()]))
    return list(dict.fromkeys(found))


def in_larger_numbers(
    values: Array, participant: Array, factors: Sequence[int] = ()
) -> Array | None:
    """``(n_rows,)`` whether a row is of a participant whose numbers are in a smaller unit, and so larger.

    Participants are in two units where their medians fall into two sets far apart, or where the numbers of one set
    are those of the other times a factor between units. None where all seem to be in one unit.

    Args:
        values: ``(n_rows,)`` numbers, NaN where there is none.
        participant: ``(n_rows,)`` number of the participant.
        factors: Factors between units that count, too.
    """
    size = pd.Series(np.abs(values)).where(np.abs(values) > 0)
    medians = size.groupby(participant).median().dropna().sort_values()
    if len(medians) < 2:
        return None
    steps = np.diff(np.log(medians.to_numpy()))
    cut = int(steps.argmax())
    ratio = float(np.exp(steps[cut]))
    is_larger = np.isin(participant, medians.index[cut + 1 :])
    if ratio >= THOUSAND:
        return is_larger
    of_larger, of_smaller = (set(size[part].dropna().tolist()) for part in (is_larger, ~is_larger))
    for factor in factors:
        if 0.5 < ratio / factor < 2 and len(of_smaller) > 2:
            scaled = {f"{number * factor:.6g}" for number in of_smaller}
            if np.mean([f"{number:.6g}" in scaled for number in of_larger]) > 0.6:
                return is_larger
    return None


def check_steps(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> None:
    """Question steps of learning whose stimuli a column names that is not read."""
    used = set(map(str, leaves_of(columns.model_dump())))
    for name in map(str, cells.frame.columns):
        if name in used or not set(words_of(name)) & STIMULUS_WORDS:
            continue
        said = cells.text(name)
        if not 2 <= len(set(said) - {""}) <= MOST_STIMULI or not _is_mixed(said, participant):
            continue
        shown = ", ".join(sorted(set(said) - {""})[:4])
        question(
            columns,
            notes,
            "one_set_of_options",
            f"{cells.name}: {name} ({shown}) changes from step to step within participants, and is not read: options "
            f"would be the same at all steps. Say --column experiment={name} (experiment in participants.columns) "
            f"where each {name} is learned apart",
        )


def check_places(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> None:
    """Question responses that name places, where two columns tell which of the same stimuli stood at each place."""
    used = set(map(str, leaves_of(columns.stimulus)))
    said = {
        name: cells.text(name)
        for name in map(str, cells.frame.columns)
        if name not in used and set(words_of(name)) & STIMULUS_WORDS
    }
    chosen = set(cells.text(columns.response).tolist()) if columns.response else set()
    for one, other in combinations(said, 2):
        shown = set(said[one].tolist()) - {""}
        if not 2 <= len(shown) <= MOST_STIMULI or shown != set(said[other].tolist()) - {""}:
            continue
        is_pair = (said[one] != said[other]).all() and _is_mixed(said[one], participant)
        if not is_pair or not chosen or chosen & shown:
            continue
        question(
            columns,
            notes,
            "one_set_of_options",
            f"{cells.name}: {one} and {other} hold the same stimuli ({', '.join(sorted(shown)[:4])}) at changing "
            f"places, and {columns.response} ({', '.join(sorted(chosen)[:4])}) names none of them: places would be "
            "learned, not stimuli. Add a column that says which stimulus was chosen, and say --column response=COLUMN",
        )


def _is_mixed(said: Array, participant: Array) -> bool:
    """Whether values of a column come and go within participants, more often than in blocks."""
    order = np.argsort(participant, kind="stable")
    own, who = said[order], participant[order]
    n_changes = int(((own[1:] != own[:-1]) & (who[1:] == who[:-1])).sum())
    frame = pd.DataFrame({"who": who, "said": own})
    n_needed = int((frame.groupby("who")["said"].nunique() - 1).sum())
    return n_changes > 2 * max(n_needed, 1)


def check_responses(
    trials: Sequence[Trials],
    in_favour: Callable[[Stimuli], Array] | None,
    dominance: Callable[[Stimuli], Array] | None,
    columns: AnswerColumns,
    notes: list[str],
) -> None:
    """Question responses that are all the same, choose what is dominated, or go against what speaks for an option.

    Args:
        trials: Choices of each experiment.
        in_favour: ``(n_trials,)`` how much speaks for the second option; None where nothing is known.
        dominance: ``(n_trials,)`` 1 where the second option is better whatever one's taste, -1 where the first one
            is; None where nothing is known.
        columns: What the mapping accepts.
        notes: What was accepted is added to them.
    """
    column = columns.response or columns.share or "the response"
    n_all = sum(item.n_responses for item in trials)
    chosen = {int(code) for item in trials for code in np.unique(item.response[item.count > 0])}
    if n_all >= FEWEST and len(chosen) == 1:
        question(
            columns,
            notes,
            "constant_response",
            f"all {n_all:,} responses ({column}) are the same option; a column that varies may hold the choices",
        )
    if any(item.n_options != 2 for item in trials):
        return
    if dominance is not None:
        _check_dominated(trials, dominance, columns, column, notes)
    if in_favour is not None:
        _check_direction(trials, in_favour, columns, column, notes)


def _check_dominated(
    trials: Sequence[Trials],
    dominance: Callable[[Stimuli], Array],
    columns: AnswerColumns,
    column: str,
    notes: list[str],
) -> None:
    n_dominated = n_rows = 0
    for item in trials:
        side = np.sign(dominance(item.stimuli)[item.trial])
        is_worse = (side != 0) & ((side > 0) != (item.response == 1))
        n_dominated += int(item.count[is_worse].sum())
        n_rows += int(item.count[side != 0].sum())
    if n_rows < FEWEST or n_dominated <= MOST_DOMINATED * n_rows:
        return
    question(
        columns,
        notes,
        "dominated_choices",
        f"in {n_rows:,} choices one option is better whatever one's taste, and in {n_dominated:,} of them the other "
        f"one was chosen. Either {column} is coded the other way round (say which cell is which option from 0: "
        "--column responses.0=1 --column responses.1=0), or a loss is written as a positive number (say -COLUMN in "
        'place of COLUMN, as in b_amounts = ["gain", "-loss"])',
    )


def _check_direction(
    trials: Sequence[Trials],
    in_favour: Callable[[Stimuli], Array],
    columns: AnswerColumns,
    column: str,
    notes: list[str],
) -> None:
    """Whether choices go against what speaks for an option, within participants."""
    products, n_rows = [], 0
    for item in trials:
        speaks = np.asarray(in_favour(item.stimuli), dtype=np.float64)[item.trial]
        frame = pd.DataFrame(
            {"who": item.participant, "speaks": speaks, "chosen": 1.0 * (item.response == 1)}
        )
        if item.pooled:
            frame = frame.loc[frame.index.repeat(np.minimum(item.count, FEWEST))]
        frame["speaks"] = frame["speaks"].rank()
        own = frame[["speaks", "chosen"]] - frame.groupby("who")[["speaks", "chosen"]].transform(
            "mean"
        )
        products.append(own / np.maximum(own.std(ddof=0), 1e-12))
        n_rows += len(own) - frame["who"].nunique()
    both = pd.concat(products)
    correlation = float((both["speaks"] * both["chosen"]).mean())
    error = 1 / np.sqrt(max(n_rows, 1))
    if n_rows < FEWEST or correlation > REVERSED * error or correlation > -STRONG:
        return
    question(
        columns,
        notes,
        "reversed_code",
        f"participants choose the second option the less, the more speaks for it (correlation {correlation:.2f} over "
        f"{n_all_words(trials)}): {column} seems to be coded the other way round. Say which cell is which option, from "
        "0: --column responses.0=1 --column responses.1=0 (participants.columns.responses)",
    )


def n_all_words(trials: Sequence[Trials]) -> str:
    """How many responses there are, in words."""
    return f"{sum(item.n_responses for item in trials):,} responses"
