"""Sequences from a file: a row for each value that was seen, with the decision, or a row for each sequence.

A row of a sequence has all its values in columns and the place of the one that was taken. The last value of a sequence
must be taken, so that a row of it is no decision. Nothing is decided after a value was taken. What other columns and
the values themselves show against a reading stands in `evidence`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.kit.walked import place_of_decision, walked_trials
from lakatos.domains.search.evidence import (
    NO,
    YES,
    Steps,
    check_direction,
    check_one_scale,
    check_other_lengths,
    check_ranks,
    could_be_length,
    directions,
    errors_above,
    first_place,
    goal_column,
    is_called_length,
    longest_of,
    stated_first_place,
)
from lakatos.domains.search.task import LONGEST, NORMAL, RANKS, SPREAD, UNIFORM, UNKNOWN, decisions
from lakatos.experiments.adoption.layouts import NeededParts, Reading, StimulusLayout
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import CHOICES, words_of
from lakatos.experiments.adoption.option_code import chosen_options
from lakatos.experiments.adoption.recognised import missed_cells
from lakatos.experiments.adoption.row_cells import RowCells, read_part, whole_numbers
from lakatos.experiments.adoption.signatures import (
    CLEAR,
    NEARLY_ALL,
    ColumnSignature,
    TableSignature,
)
from lakatos.experiments.adoption.step_cells import RewardScale
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Trials

Array = NDArray[Any]
CONTINUE, TAKE = 0, 1
TAKEN = {
    "take", "takes", "taken", "took", "accept", "accepts", "accepted", "stop", "stopped", "stops", "select", "selected",
    "choose", "chosen", "chose", "pick", "picked", "hire", "hired", "buy", "bought", "purchase", "purchased", "keep",
    "nehmen", "genommen", "behalten", "stopp", "gestoppt",
}  # fmt: skip
PASSED = {
    "continue", "continued", "continues", "go", "reject", "rejected", "pass", "passed", "skip", "skipped", "next",
    "wait", "waited", "search", "searched", "leave", "left", "decline", "declined", "not", "weiter", "ablehnen",
}  # fmt: skip
"""Words in cells, and in names of columns, for taking a value and for going on."""
COSTS = {"price", "prices", "cost", "costs", "fare", "rent", "fee", "preis"}
"""Words in names of columns of which low values are good."""
VALUES = {
    "value",
    "values",
    "val",
    "number",
    "score",
    "quality",
    "offer",
    "amount",
    "rank",
    "wert",
    *COSTS,
}
STOPS = {"stop", "stopped", "stopping", "taken", "accepted", "gestoppt"}
NORMATIVE = {"optimal", "optimum", "best", "ideal", "model", "correct", "predicted", "expected"}
"""Words in names of columns of what would have been right, which is no response."""
VAGUE = {"number", "rank"}
"""Words of values that also name other numbers, so that they decide nothing beside further numbers."""
"""Words in names of columns of values, and of the place of the value that was taken."""
LOW, HIGH = {"low", "lowest", "min", "minimum"}, {"high", "highest", "max", "maximum"}
NUMBERED = re.compile(r"(.*?)(\d{1,3})")
POSITIONS = {"position", "place", "index"}
VIEWED = {"viewed", "seen", "inspected", "searched"}
"""Words in names of columns of places, and of how many values were seen."""
NO_DECISIONS = {"left", "not", "go"}
"""Words that alone show no decision."""
MOST_DECISIONS = 3
"""Different cells of a column of decisions, of which one may stand for a value that had to be taken."""
FEWEST_VALUES = 3
"""Values of the shortest sequence whose columns are recognised by their numbers."""
GOLDEN = 0.6180339887498949


def code_of_decisions(name: str, cells: Sequence[str]) -> dict[str, int]:
    """The option that each cell of a column stands for; places of values that were taken all stand for taking.

    Words say so by themselves; 1 and true by the name of the column. Nothing where one of them is unclear.
    """
    words = set(words_of(name))
    if len(cells) > 2 and all(cell.isdigit() for cell in cells):
        return dict.fromkeys(cells, TAKE)
    code = {}
    for cell in cells:
        own = set(words_of(cell))
        if own & TAKEN or own & PASSED:
            is_taken = not own & PASSED
        elif cell.casefold() in YES | NO and bool(words & TAKEN) != bool(words & PASSED):
            is_taken = (cell.casefold() in YES) == bool(words & TAKEN)
        else:
            return {}
        code[cell] = TAKE if is_taken else CONTINUE
    return code


def sequences_of_rows(
    name: str,
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    domain: Domain,
    scale: RewardScale,
    notes: list[str],
) -> tuple[Trials, Array]:
    """Decisions of an experiment, and the place of the row that each is of; see `StimulusLayout.from_steps`.

    Raises:
        RowsWrongError: A cell cannot be read.
        TrialsError: The mapping cannot be right.
    """
    of_row = isinstance(columns.stimulus["value"], list | tuple)
    found = (_in_columns if of_row else _in_rows)(cells, columns, participant, notes)
    row, place, length = (found[key].to_numpy() for key in ("row", "place", "length"))
    is_taken, value = found["taken"].to_numpy(), found["value"].to_numpy()
    steps = Steps(row, place, is_taken)
    if "length" not in columns.stimulus:
        check_other_lengths(cells, columns, steps, length)
    check_ranks(cells, columns, place, value)
    kind, center, spread = _distribution(cells, columns, found["value"], notes)
    better = directions(cells, columns)[row]
    if kind == UNKNOWN:
        check_one_scale(cells, columns, steps, value, better)
    number = place_of_decision(participant[row])
    if kind == RANKS:
        # any number below the rank and above the one before stands for it; the same for a step of every participant
        draw = (value - 1 + (GOLDEN * (number + 1)) % 1) / place
        worth = -value
    else:
        draw = worth = (better * (value - center) / spread).round(9)
    check_direction(cells, columns, participant, steps, worth, place < length, notes)
    is_last = place == length
    follows = np.append(is_last[1:] & (row[1:] >= row[:-1]), False)
    final = np.append((value[1:] - 0.5) / length[1:] if kind == RANKS else draw[1:], 0.0)
    kept = ~is_last
    who, response = participant[row[kept]], np.where(is_taken[kept], TAKE, CONTINUE)
    step = place_of_decision(who)
    last = np.where(follows, final, 0.0)[kept]
    # sessions stand in the order of their content, whatever that of participants in the file
    contents = np.column_stack([length[kept], draw[kept], last, response])
    sessions = np.split(np.arange(len(who)), np.flatnonzero(np.diff(who)) + 1)
    order = np.concatenate(
        sorted(sessions, key=lambda own: (len(own), contents[own].astype(">f8").tobytes()))
    )
    scales = better[kept][order] * spread
    session = decisions(
        length[kept][order],
        draw[kept][order],
        kind=kind,
        # standard deviations of a file mean the same in any unit
        center=0.0 if kind == UNKNOWN else center,
        scale=1.0 if kind == UNKNOWN else scales,
        last=last[order],
        position=step[order],
    )
    trial, n_people = np.argsort(order), int(participant.max()) + 1
    trials = walked_trials(name, session, who, trial, response, n_people, {})
    domain.check(trials.stimuli)
    return replace(trials, feedback=_feedback(domain, trials)), row[kept]


def _feedback(domain: Domain, trials: Trials) -> dict[str, Array]:
    """What followed each decision, as the task has it."""
    sequences, before = trials.sequences, dict[str, Array]()
    who, found = np.asarray(trials.participant), dict[str, Array]()
    step = place_of_decision(who)
    for number in range(sequences.trial.shape[1]):
        arrays = trials.stimuli.take(np.maximum(sequences.trial[:, number], 0)).arrays
        response = sequences.response[None, :, number]
        before = domain.feedback(arrays, domain.shown(arrays, before), response)
        now = step == number
        for name, own in before.items():
            column = np.broadcast_to(own, response.shape)[0]
            found.setdefault(name, np.zeros(len(who)))[now] = column[who[now]]
    return found


def _in_rows(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> pd.DataFrame:
    """Decisions of rows of which each is a value that was seen.

    Raises:
        RowsWrongError: A row cannot follow the one before it.
    """
    named = {
        part: str(own) for part, own in columns.stimulus.items() if part in ("position", "problem")
    }
    if not named:
        raise TrialsError(
            f"{cells.name}: no column says where a sequence begins. Say --column position=COLUMN (the place of a value "
            "in its sequence) or --column problem=COLUMN (the number of the sequence)."
        )
    value = read_part(cells, columns.stimulus["value"], "value")
    is_taken = chosen_options(cells, columns) == TAKE
    begins = np.append(True, participant[1:] != participant[:-1])
    if "problem" in named:
        problem = cells.text(named["problem"])
        begins[1:] |= problem[1:] != problem[:-1]
    if "position" in named:
        position = whole_numbers(cells, named["position"])
        first = int(position.min())
        if "problem" not in named:
            begins |= position == first
    start = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
    place = np.arange(len(begins)) - start + 1
    if "position" in named:
        cells.refuse(
            (position - first + 1 != place) | (first > 1),
            named["position"],
            "does not follow the row before: values of a sequence are counted from 1 without gaps",
        )
    ends = np.append(begins[1:], True)
    cells.refuse(
        ~begins & np.append(False, is_taken[:-1]),
        columns.response,
        "follows a row in which a value was taken, after which nothing is decided in a sequence",
    )
    row = np.arange(len(place))
    if "length" in columns.stimulus:
        length = _lengths(cells, columns)
    else:
        most = longest_of(cells, columns, Steps(row, place, is_taken))
        length = np.full(len(place), most)
        notes.append(
            f"sequences have {most} values, as the longest ones of the file, all of which end with a value that was "
            "taken (--column length=NUMBER says another number)"
        )
    wrong = place > length
    other = named.get("position", columns.response)
    cells.refuse(
        wrong,
        other,
        "is beyond the last value of its sequence; --column length=NUMBER says another length",
    )
    cells.refuse(
        (place == length) & ~is_taken,
        columns.response,
        "goes on after the last value of a sequence, which must be taken; --column length=NUMBER says another length",
    )
    is_open = ends & ~is_taken & (place < length - 1)
    cells.refuse(
        np.isin(start, start[is_open]),
        columns.response,
        "is in a sequence that ends without a value that was taken: its last decisions are missing",
    )
    return pd.DataFrame(
        {"row": row, "place": place, "length": length, "value": value, "taken": is_taken}
    )


def _in_columns(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> pd.DataFrame:
    """Decisions of rows of which each is a sequence, with its values in columns.

    Raises:
        RowsWrongError: No value stands at the place that was taken, or before it.
    """
    named = columns.stimulus["value"]
    values = read_part(cells, named, "value", ragged=True)
    column = str(columns.stimulus.get("stop", columns.response))
    stop = whole_numbers(cells, column)
    first = stated_first_place(cells, columns, stop, values)
    stop = stop + 1 - first
    is_there = np.isfinite(values)
    length = is_there.shape[1] - is_there[:, ::-1].argmax(axis=1)
    is_short = length < values.shape[1]
    if "length" in columns.stimulus:
        length = _lengths(cells, columns)
    elif (length == stop)[is_short].all():
        length = np.full(len(stop), values.shape[1])
        if is_short.any():
            notes.append(
                f"cells after the value that was taken are empty; sequences have {values.shape[1]} values, as many as "
                "columns (--column length=NUMBER says another number)"
            )
    place = np.arange(values.shape[1])
    cells.refuse(
        (stop < 1) | (stop > length),
        column,
        f"is no place of a value of the sequence, of which the first is {first}",
    )
    is_seen = place < stop[:, None]
    cells.refuse((is_seen & ~is_there).any(axis=1), column, "comes after a value that is empty")
    if int(columns.stimulus.get("ranked", 0)) and (np.sort(values, axis=1) == place + 1).all():
        notes.append("ranks among all candidates are read as ranks among those so far")
        so_far = values[:, :, None] >= values[:, None, :]
        values = (so_far & np.tri(len(place), dtype=bool)).sum(axis=-1).astype(np.float64)
    row, at = np.nonzero(is_seen)
    return pd.DataFrame(
        {
            "row": row,
            "place": at + 1,
            "length": length[row],
            "value": values[row, at],
            "taken": at + 1 == stop[row],
        }
    )


def _lengths(cells: RowCells, columns: AnswerColumns) -> Array:
    """``(n_rows,)`` number of values of the sequence of each row."""
    own = columns.stimulus["length"]
    length = read_part(cells, own, "length")
    wrong = ~np.isin(length, np.arange(2, LONGEST + 1))
    words = f"is no length of a sequence, a whole number from 2 to {LONGEST}; say --column length=COLUMN or NUMBER"
    if isinstance(own, str):
        cells.refuse(wrong, own, words)
    elif wrong.any():
        raise TrialsError(f"{cells.name}: length {words.replace('is', f'= {own} is', 1)}.")
    return length.astype(np.intp)


def _distribution(
    cells: RowCells, columns: AnswerColumns, value: pd.Series, notes: list[str]
) -> tuple[int, float, float]:
    """The kind of values, their mean and their standard deviation.

    Raises:
        RowsWrongError: A value is none that the distribution has.
        TrialsError: The numbers of the mapping make no distribution.
    """
    stated = {name: _number(cells, columns, name) for name in ("low", "high", "mean", "sd")}
    known = {name: own for name, own in stated.items() if own is not None}
    if int(columns.stimulus.get("ranked", 0)):
        return RANKS, 0.0, 0.0
    if not known:
        center, spread = float(value.mean()), float(value.std(ddof=0))
        if not spread > 0:
            raise TrialsError(
                f"{cells.name}: all values are {center:g}, so that there was nothing to decide."
            )
        notes.append(
            "values are compared with the mean and the standard deviation of all values seen, since no number says "
            "their distribution (--column low=NUMBER --column high=NUMBER, or mean and sd)"
        )
        return UNKNOWN, center, spread
    if set(known) == {"low", "high"} and known["low"] < known["high"]:
        low, high = known["low"], known["high"]
        if isinstance(columns.stimulus["value"], str):
            own = cells.numbers(columns.stimulus["value"])
            words = f"is not from {low:g} to {high:g}, as --column low and high say"
            cells.refuse((own < low) | (own > high), columns.stimulus["value"], words)
        elif not value.between(low, high).all():
            raise TrialsError(
                f"{cells.name}: a value is not from {low:g} to {high:g}, as low and high say."
            )
        return UNIFORM, (low + high) / 2, (high - low) / SPREAD
    if set(known) == {"mean", "sd"} and known["sd"] > 0:
        return NORMAL, known["mean"], known["sd"]
    raise TrialsError(
        f"{cells.name}: {' and '.join(f'{name} = {own:g}' for name, own in known.items())} is no distribution: say low "
        "and high, of equally likely values, or mean and sd, of normal ones."
    )


def _number(cells: RowCells, columns: AnswerColumns, part: str) -> float | None:
    """The number that a part is in all rows; None where the mapping has none."""
    if part not in columns.stimulus:
        return None
    column = columns.stimulus[part]
    own = read_part(cells, column, part)
    values, counts = np.unique(own, return_counts=True)
    number = float(values[counts.argmax()])
    cells.refuse(
        own != number,
        str(column),
        f"is not {number:g} as in the other rows: all sequences of an experiment have one distribution. Read them "
        f"apart: --column experiment={column}",
    )
    return number


# What columns seem to mean -----------------------------------------------------------------------


def recognise(table: TableSignature) -> Reading | None:
    """Read rows of values in which a sequence ends where one is taken, or rows of sequences with the place taken."""
    return _recognised_rows(_in_order(table)) or _recognised_columns(table)


def _in_order(table: TableSignature) -> TableSignature:
    """The rows of each participant in the order of the column that numbers them, where each number occurs once."""
    if table.order not in table.columns:
        return table
    numbers = table.columns[table.order].values
    rows = pd.DataFrame({"who": table.person, "number": numbers})
    if not np.isfinite(numbers).all() or rows.duplicated().any():
        return table
    order = np.lexsort([numbers, table.person])
    columns = {
        name: ColumnSignature(name, own.cells.iloc[order].reset_index(drop=True))
        for name, own in table.columns.items()
    }
    return replace(table, columns=columns)


def _recognised_rows(table: TableSignature) -> Reading | None:
    """Find places that begin anew just where a value was taken."""
    others = [own for name, own in table.columns.items() if name != table.participant]
    for position in others:
        begins = _beginnings(position, table)
        if begins is None:
            continue
        ends = np.append(begins[1:], True)
        found = [(own, code) for own in others if (code := _decision_code(own, ends, table))]
        named = [item for item in found if item[0].words & (CHOICES | TAKEN)] or found
        if table.response:
            named = [item for item in found if item[0].name == table.response]
        if len(named) != 1:
            continue
        (decision, code), place = named[0], position.values - np.nanmin(position.values) + 1
        numbers = [
            own
            for own in table.numbers()
            if own not in (position, decision) and own.name != table.time and _varies(own, begins)
        ]
        known = VALUES if len(numbers) == 1 else VALUES - VAGUE
        values = [own for own in numbers if own.words & known] or numbers
        if len(values) != 1:
            continue
        is_rank = values[0].is_whole and bool((values[0].values <= place).all())
        if "rank" in values[0].words and not is_rank:
            continue  # ranks among all candidates, which nobody saw
        return _reading(values[0], position, decision, code, place, table)
    return None


def _beginnings(position: ColumnSignature, table: TableSignature) -> Array | None:
    """``(n_rows,)`` whether a sequence begins; None where a column does not count values of sequences."""
    values = position.values
    if not position.is_whole or not np.isfinite(values).all() or np.nanmin(values) not in (0, 1):
        return None
    begins = values == values.min()
    same = np.append(False, table.person[1:] == table.person[:-1])
    follows = same & np.append(False, np.diff(values) == 1)
    many = int(begins.sum()) > 2 * (int(table.person.max()) + 1) and values.max() > values.min() + 1
    return begins if many and float((begins | follows).mean()) >= NEARLY_ALL else None


def _decision_code(own: ColumnSignature, ends: Array, table: TableSignature) -> dict[str, int]:
    """Which cell of a column ends sequences; nothing where none of two does."""
    missed = missed_cells(table, own)
    cells = [cell for cell in own.distinct if cell not in missed]
    if len(cells) != 2:
        return {}
    for taken, passed in (cells, cells[::-1]):
        is_taken = (own.cells == taken).to_numpy()
        goes_on = (own.cells == passed).to_numpy()[~ends]
        is_end = ends[is_taken].mean() >= NEARLY_ALL and goes_on.mean() >= NEARLY_ALL
        if is_end and is_taken.sum() > ends.sum() / 2:
            return {passed: CONTINUE, taken: TAKE}
    return {}


def _varies(own: ColumnSignature, begins: Array) -> bool:
    """Whether a column changes within sequences, and not only from one to the next."""
    changes = np.append(True, np.diff(own.code) != 0)
    return float(changes[~begins].mean()) > 0.5


def _reading(
    value: ColumnSignature,
    position: ColumnSignature,
    decision: ColumnSignature,
    code: Mapping[str, int],
    place: Array,
    table: TableSignature,
) -> Reading:
    stimulus: dict[str, Any] = {"value": value.name, "position": position.name}
    is_rank = value.is_whole and bool(((value.values >= 1) & (value.values <= place)).all())
    is_taken = decision.cells.map(code).to_numpy() == TAKE
    steps = Steps(np.arange(len(place)), place, is_taken)
    lengths = [
        own
        for own in table.columns.values()
        if is_called_length(own.name)
        and own not in (position, value)
        and steps.is_steady(own.code)
        and could_be_length(own.name, own.values, place)
    ]
    if len(lengths) == 1:
        stimulus["length"] = lengths[0].name
    notes = [
        f"{value.name}: each row is a value that was seen, and {decision.name} whether it was taken"
    ]
    if is_rank:
        stimulus["ranked"] = 1
        notes.append(f"{value.name}: ranks among the candidates so far, of which 1 is the best")
    else:
        is_free = place < place.max()
        stimulus["better"], note = _goal(
            _others(table, (value, position, decision)),
            steps,
            value.values,
            is_free,
            bool(value.words & COSTS),
        )
        notes.append(f"{value.name}: {note}")
        for part, words in (("low", LOW), ("high", HIGH)):
            ends = [own.name for own in table.constants() if own.words & words]
            stimulus |= {part: ends[0]} if len(ends) == 1 else {}
        if ("low" in stimulus) != ("high" in stimulus):
            stimulus = {part: own for part, own in stimulus.items() if part not in ("low", "high")}
    return Reading(
        stimulus,
        (value.name, position.name),
        response=decision.name,
        responses=code,
        notes=tuple(notes),
    )


def _others(table: TableSignature, used: Sequence[ColumnSignature]) -> list[ColumnSignature]:
    """Columns that are neither read as something nor name participants."""
    return [
        own for name, own in table.columns.items() if name != table.participant and own not in used
    ]


def _goal(
    others: Sequence[ColumnSignature], steps: Steps, value: Array, is_free: Array, is_cost: bool
) -> tuple[str | int, str]:
    """What says which values are good: a column, 1 or -1; and a note about it.

    Args:
        others: Columns that may say so.
        steps: Values that were seen.
        value: ``(n_steps,)`` the values.
        is_free: Whether each of them could be left.
        is_cost: Whether their name says that they are costs.
    """
    texts = {own.name: own.cells.to_numpy(dtype=object) for own in others}
    if column := goal_column(texts, steps, value, is_free):
        return column, f"{column} is taken to say whether high or low values are good"
    errors = errors_above(value, steps.is_taken & is_free, is_free & ~steps.is_taken)
    is_low = errors < -CLEAR or (errors < CLEAR and is_cost)
    return (
        -1 if is_low else 1
    ), f"{'low' if is_low else 'high'} values are taken for the good ones"


def hint(table: TableSignature) -> str:
    """State what files of sequences need, where a table seems to hold them and cannot be read; else empty."""
    few = [own for own in table.columns.values() if 1 <= len(own.distinct) <= MOST_DECISIONS]
    cells = [set().union(*(words_of(cell) for cell in own.distinct)) - NO_DECISIONS for own in few]
    is_decided = any(own & TAKEN and own & PASSED for own in cells)
    counts = any(
        own.words & (POSITIONS | STOPS | VIEWED) and "signal" not in own.words
        for own in table.columns.values()
    )
    chosen = [own for own in table.columns.values() if own.words & (CHOICES | TAKEN)]
    # a value that was chosen, not the answer to a question of a scale
    chooses_value = any(own.is_number and len(own.distinct) > MOST_DECISIONS for own in chosen)
    is_wide = sum(bool(NUMBERED.fullmatch(name)) for name in table.columns) >= FEWEST_VALUES
    if not (is_decided or (counts and (chosen or is_wide)) or (chooses_value and is_wide)):
        return ""
    return (
        "if these are values that come one after another until one is taken (--domain search), a file needs a row for "
        "each value that was seen, with its place in the sequence and the decision (--column value=COLUMN --column "
        "position=COLUMN --column response=COLUMN), or a row for each sequence, with all values in columns and the "
        'place that was taken (--column \'value=["COLUMN", "COLUMN"]\' --column stop=COLUMN --column response=COLUMN)'
    )


def _recognised_columns(table: TableSignature) -> Reading | None:
    """Find numbered columns of values beside one that is called the place at which a participant stopped."""
    groups: dict[str, list[tuple[int, ColumnSignature]]] = {}
    for name, own in table.columns.items():
        found = NUMBERED.fullmatch(name)
        if found and (own.is_number or not own.distinct):  # values that nobody saw may be empty
            groups.setdefault(found[1], []).append((int(found[2]), own))
    rows = [sorted(own, key=lambda item: item[0]) for own in groups.values()]
    rows = [
        own
        for own in rows
        if sum(item.is_number for _, item in own) >= FEWEST_VALUES
        and [number for number, _ in own] == list(range(own[0][0], own[0][0] + len(own)))
    ]
    if len(rows) != 1:
        return None
    values = [own for _, own in rows[0]]
    places = [
        own
        for own in table.free
        if own not in values
        and own.is_whole
        and own.between(0, len(values))
        and len(own.distinct) >= FEWEST_VALUES
        and not own.words & NORMATIVE
    ]
    stops = [own for own in places if own.words & STOPS]
    others = [own for own in places if own.words & (CHOICES | TAKEN | POSITIONS)]
    if len(stops) != 1 or set(others) - set(stops) or not np.isfinite(stops[0].values).all():
        return None
    table_of_values = np.stack([own.values for own in values], axis=1)
    place = np.arange(1, len(values) + 1)
    stop = stops[0].values
    is_rank = bool((np.sort(table_of_values, axis=1) == place).all())
    # whether the first place is 0 or 1 can be open, and is then asked where sequences are read
    first = first_place(stop, table_of_values)
    stop = stop + 1 - (1 if first is None else first)
    row, at = np.nonzero(place <= stop[:, None])
    steps = Steps(row, at + 1, at + 1 == stop[row])
    names = [own.name for own in values]
    better, note = _goal(
        _others(table, (*values, stops[0])),
        steps,
        table_of_values[row, at],
        at + 1 < len(values),
        any(own.words & COSTS for own in values),
    )
    return Reading(
        {"value": names, "stop": stops[0].name}
        | ({"ranked": 1} if is_rank else {"better": better}),
        tuple(names),
        response=stops[0].name,
        responses=dict.fromkeys(stops[0].distinct, TAKE),
        notes=(
            f"each row is a sequence of {len(names)} values, of which the one at {stops[0].name} was taken; "
            + ("1 is the best rank" if is_rank else note),
        ),
    )


LAYOUT = StimulusLayout(
    {
        "value": "column: the value that was there; or columns: all values of a sequence in their order",
        "position": "column: place of the value in its sequence, from 1",
        "problem": "column: number of the sequence",
        "length": "column, or number: values of a sequence",
        "stop": "column: place of the value that was taken, where a row is a sequence",
        "first": "number: place of the first value in a column of stops, 0 or 1",
        "ranked": "number: 1 if values are ranks among the candidates so far, of which 1 is the best",
        "better": "number: 1 if high values are good, -1 if low ones are; or column: one of them, or max and min",
        "low": "column, or number: lowest of equally likely values",
        "high": "column, or number: highest of equally likely values",
        "mean": "column, or number: mean of normal values",
        "sd": "column, or number: standard deviation of normal values",
    },
    ("value",),
    None,
    recognise=recognise,
    hint=hint,
    code=code_of_decisions,
    kind="values that come one after another until one is taken",
    guess_rank=0,
    ragged=("value",),
    from_steps=sequences_of_rows,
    inputs={
        "distribution": NeededParts(
            ("low", "mean", "ranked"),
            "the distribution of values",
            "optimal thresholds",
        )
    },
)
"""A value, or a sequence, for each row of a file."""
