"""Balloons from a file with a row for each: how many pumps it had, and whether it burst.

A row becomes one decision for each pump and, unless the balloon burst, the decision to collect. Of a balloon that burst
nobody knows when the participant would have collected, so there is no decision beyond its last pump. Neither is there
one to collect a balloon that has the largest possible number of pumps, where the file says that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.kit.walked import place_of_decision, walked_trials
from lakatos.domains.stopping.task import MOST_PUMPS, burst_probability, decisions
from lakatos.experiments.adoption.layouts import NeededParts, Reading, StimulusLayout
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import chosen_options
from lakatos.experiments.adoption.plausible import FEWEST, question
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.recognised import missed_cells
from lakatos.experiments.adoption.row_cells import RowCells, read_part, whole_numbers
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.signatures import ColumnSignature, TableSignature
from lakatos.experiments.adoption.step_cells import RewardScale
from lakatos.experiments.adoption.tables import numbers_of
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Stimuli, Trials

Array = NDArray[Any]
PUMP, COLLECT = 0, 1
PUMPS = {
    "pump",
    "pumps",
    "npumps",
    "numpumps",
    "npump",
    "pumped",
    "pumpcount",
    "inflations",
    "inflation",
}
"""Words in names of columns of how many pumps a balloon had."""
ADJUSTED = {
    "adjusted",
    "adj",
    "mean",
    "avg",
    "average",
    "total",
    "sum",
    "max",
    "maximum",
    "possible",
    "limit",
    "rt",
}
"""Further words in names of columns that hold something else than the pumps of one balloon."""
BURST = {
    "explosion", "explosions", "exploded", "explode", "burst", "bursts", "bursted", "pop", "popped", "popping", "blown",
    "broke", "broken", "bang", "bust", "busted",
}  # fmt: skip
KEPT = {
    "cashed", "cash", "cashout", "cashin", "collected", "collect", "banked", "bank", "saved", "save", "kept", "intact",
    "success", "stopped", "stop", "safe", "won", "win",
}  # fmt: skip
"""Words in names of columns, and in cells, of balloons that burst and that were collected."""
YES, NO = {"1", "1.0", "true", "t", "yes", "y"}, {"0", "0.0", "false", "f", "no", "n"}
LARGEST = {"max", "maximum", "limit", "capacity", "most", "possible"}
MOST_DEVIATION = 3.0
"""Standard errors by which the bursts of a file may depart from a law."""
WAY = 'say which cell means what: --column \'responses={"CELL": 0, "CELL": 1}\', 0 for a burst and 1 for a collection'


def code_of_bursts(name: str, cells: Sequence[str]) -> dict[str, int]:
    """The last decision that each cell of a column stands for: a pump that burst the balloon, or a collection.

    Words say so by themselves; 1 and true by the name of the column. Nothing where one of them is unclear.
    """
    words = set(words_of(name))
    code = {}
    for cell in cells:
        own = set(words_of(cell))
        if own & BURST or own & KEPT:
            is_burst = bool(own & BURST) != bool(own & {"not", "no", "un", "never"})
        elif cell.casefold() in YES | NO and bool(words & BURST) != bool(words & KEPT):
            is_burst = (cell.casefold() in YES) == bool(words & BURST)
        else:
            return {}
        code[cell] = PUMP if is_burst else COLLECT
    return code


def recognise(table: TableSignature) -> Reading | None:
    """Whole numbers that are called pumps beside what says which balloons burst."""
    pumps = [
        item
        for item in table.numbers()
        if item.words & PUMPS and not item.words & (ADJUSTED | BURST | KEPT) and item.is_whole
    ]
    if len(pumps) != 1:
        return None
    distinct = {item.name: _said(table, item) for item in table.free if item is not pumps[0]}
    ends = [table.columns[name] for name, own in distinct.items() if code_of_bursts(name, own)]
    if table.response:
        ends = [item for item in ends if item.name == table.response]
    ends = [item for item in ends if item.words & BURST] or ends
    most = _largest(table)
    parts = {"pumps": pumps[0].name} | ({"most": most} if most else {})
    if len(ends) != 1:
        columns = " or ".join(f"--column response={item.name}" for item in ends[:4])
        listed = (
            f"which column says which balloons burst; say: {columns or '--column response=COLUMN'}"
        )
        return Reading(parts, questions=(listed,))
    note = f"{pumps[0].name} is taken for the pumps of each balloon, with the one that burst it"
    return Reading(
        parts,
        response=ends[0].name,
        responses=code_of_bursts(ends[0].name, distinct[ends[0].name]),
        notes=(note,),
    )


def _said(table: TableSignature, column: ColumnSignature) -> list[str]:
    """Different cells of a column without those that stand for a missed response."""
    missed = missed_cells(table, column)
    return [cell for cell in column.distinct if cell not in missed]


def _largest(table: TableSignature) -> str:
    """The column that says one largest number of pumps."""
    found = [
        item.name
        for item in table.constants()
        if item.words & LARGEST and item.words & (PUMPS | {"balloon"})
    ]
    return found[0] if len(found) == 1 else ""


def decisions_of_balloons(
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
    column = str(columns.stimulus["pumps"])
    pumps = whole_numbers(cells, column)
    _check_code_of_bursts(columns, notes)
    is_burst = chosen_options(cells, columns) == PUMP
    cells.refuse(pumps > MOST_PUMPS, column, f"is more than {MOST_PUMPS:,} pumps")
    _check_last_pump(cells, columns, pumps, is_burst, notes)
    cells.refuse(
        is_burst & (pumps < 1), column, "is 0 pumps of a balloon that burst; a burst follows a pump"
    )
    _check_row_for_each_pump(cells, columns, pumps, participant, notes)
    is_said = "most" in columns.stimulus
    most = _said_most(cells, columns, pumps) if is_said else max(int(pumps.max()), 1)
    if len(pumps) >= FEWEST and len(np.unique(pumps)) == 1:
        question(
            columns,
            notes,
            "constant_response",
            f"{cells.name}: {column} is {pumps[0]} in all {len(pumps)} rows, so that participants made no decisions of "
            "their own",
        )
    n_burst = int(is_burst.sum())
    notes.append(
        f"{n_burst:,} of {len(pumps):,} balloons burst; nothing is taken to follow their last pump"
    )
    is_full = ~is_burst & (pumps >= most) & is_said
    row = np.repeat(np.arange(len(pumps)), pumps + ~(is_burst | is_full))
    within = _count_within(row)
    response = np.where(within < pumps[row], PUMP, COLLECT)
    is_over = np.append(row[1:] != row[:-1], True)
    who = participant[row]

    def before(values: Array) -> Array:
        """Sums over the balloons that a participant had before each."""
        sums = pd.Series(values).groupby(participant).cumsum().to_numpy()
        return np.asarray(sums - values)[row]

    done, burst = 1.0 * is_over, 1.0 * (is_over & is_burst[row])
    ones = np.ones(len(pumps))
    last = pd.Series(1.0 * is_burst).groupby(participant).shift(1, fill_value=0.0).to_numpy()[row]
    feedback = {
        "burst": burst,
        "reward": np.where(is_over & ~is_burst[row], pumps[row], 0.0),
        "pumps": np.where(is_over, 0.0, within + 1.0),
        "balloons": before(ones) + done,
        "made": before(1.0 * pumps) + done * pumps[row],
        "bursts": before(1.0 * is_burst) + burst,
        "last_burst": np.where(is_over, 1.0 * is_burst[row], last),
    }
    step = place_of_decision(who)
    session, n_people = decisions(int(step.max()) + 1, most), int(participant.max()) + 1
    trials = walked_trials(name, session, who, step, response, n_people, feedback)
    return trials, row


def _check_code_of_bursts(columns: AnswerColumns, notes: list[str]) -> None:
    """Question a mapping of responses by which cells whose words say a burst stand for a collection."""
    by_words = code_of_bursts(columns.response, list(columns.responses))
    if any(columns.responses[cell] != own for cell, own in by_words.items()):
        words = ", ".join(f"{cell} = {own}" for cell, own in columns.responses.items())
        question(
            columns,
            notes,
            "reversed_code",
            f"responses = {{{words}}}: 0 stands for a burst and 1 for a collection, and cells of {columns.response} "
            "seem to say the opposite",
        )


def _check_last_pump(
    cells: RowCells, columns: AnswerColumns, pumps: Array, is_burst: Array, notes: list[str]
) -> None:
    """Question pumps without the one that burst a balloon, and intended pumps that a burst cut short."""
    column, response = str(columns.stimulus["pumps"]), columns.response
    without = is_burst & (pumps < 1)
    if without.sum() > 1 and len(pumps) >= FEWEST:  # one may be a slip
        distinct = set(cells.text(response).tolist()) - {""}
        numbers = {cell: code for cell, code in columns.responses.items() if cell in distinct}
        more = {"1": response, "0": f"1 - {response}"}
        bursts = [cell for cell, code in numbers.items() if code == PUMP]
        way = more.get(bursts[0]) if set(numbers) == {"0", "1"} and len(bursts) == 1 else None
        say = f"say --column 'pumps={column} + {way}'" if way else "add 1 to those in the file"
        question(
            columns,
            notes,
            "contradicted",
            f"{cells.name}: {column} is 0 in {rows_named(cells.row_numbers(without))}, where the balloon burst, so "
            f"that the pump that burst a balloon seems not to be counted in any row. If so, {say}",
        )
    for name in columns_not_read(cells.frame, columns):
        own = numbers_of(cells.frame[name]).to_numpy()
        is_cut = bool(((own <= pumps) == is_burst).all() and (own < pumps).any())
        if is_cut and len(own) >= FEWEST and (own[is_burst] >= 1).all():
            question(
                columns,
                notes,
                "contradicted",
                f"{cells.name}: {name} is at most {column} exactly where the balloon burst, so that {column} seems to "
                f"be what a participant intended. If so, say --column 'pumps=min({column}, {name})'",
            )


def _check_row_for_each_pump(
    cells: RowCells, columns: AnswerColumns, pumps: Array, participant: Array, notes: list[str]
) -> None:
    """Question rows in which pumps are counted one by one, since each row is read as a balloon."""
    rise = np.diff(pumps)[participant[1:] == participant[:-1]]
    rise = rise[rise != 0]
    if len(rise) >= FEWEST and (rise == 1).mean() > 0.5 and not (rise > 1).any():
        column = str(columns.stimulus["pumps"])
        question(
            columns,
            notes,
            "one_row_per_choice",
            f"{cells.name}: {column} counts up by one from row to row, so that a row seems to be a pump, and rows are "
            "read as balloons. Keep only the last row of each balloon",
        )


def _count_within(row: Array) -> Array:
    """Place of each decision among those of its balloon, from 0; decisions of a balloon are neighbours."""
    first = np.append(True, row[1:] != row[:-1])
    return np.arange(len(row)) - np.maximum.accumulate(np.where(first, np.arange(len(row)), 0))


def _said_most(cells: RowCells, columns: AnswerColumns, pumps: Array) -> int:
    """The largest number of pumps that the mapping says."""
    values = columns.stimulus["most"]
    most = read_part(cells, values, "most")
    if len(np.unique(most)) > 1:
        raise TrialsError(
            f"{cells.name}: {values} is {' and '.join(f'{own:g}' for own in np.unique(most)[:4])}: all balloons of an "
            f"experiment have one largest number of pumps. Read them apart: --column experiment={values}."
        )
    cells.refuse(
        pumps > most,
        str(columns.stimulus["pumps"]),
        f"is more than {most[0]:g}, the largest number of pumps; --column most=NUMBER says another one",
    )
    return int(most[0])


def estimated_bursts(
    trials: Trials, n_people: int, rng: np.random.Generator
) -> tuple[Stimuli, str]:
    """Sessions of simulated participants with bursts by the law that the file's bursts follow.

    The laws are tested by the number of bursts that they lead to expect of the pumps that were made, at small and at
    large numbers of pumps: observed minus expected bursts are sums of martingale differences.

    Raises:
        TrialsError: They follow neither law.
    """
    pumped = trials.response == PUMP
    burst = trials.feedback["burst"][pumped]
    goes_on = np.append(False, trials.participant[1:] == trials.participant[:-1])
    before = np.where(goes_on, np.append(0.0, trials.feedback["pumps"][:-1]), 0.0)[pumped]
    most = float(trials.stimuli["most"][0])
    is_large = before > np.median(before)
    alike = {"most": np.full(len(before), most)}
    rate = float(burst.mean())
    for law, chance in (("equal", 0.0), ("constant", rate)):
        p = burst_probability({**alike, "burst_chance": np.full(len(before), chance)}, before)
        departs = [
            abs(float((burst - p)[part].sum()))
            / np.sqrt(max(float((p * (1 - p))[part].sum()), 1e-12))
            for part in (is_large, ~is_large)
        ]
        if max(departs) < MOST_DEVIATION:
            session = decisions(n_people * len(trials.stimuli), most, burst_chance=chance)
            luck = 1 - rng.random(len(session))
            arrays = {
                **session.arrays,
                "luck": luck,
                "position": np.tile(trials.stimuli["position"], n_people),
            }
            words = (
                f"all numbers of pumps up to {most:g} are equally likely to burst a balloon"
                if law == "equal"
                else f"each pump bursts the balloon with probability {chance:.3f}, as in the file"
            )
            return Stimuli(arrays), f"{trials.experiment}: for simulated participants {words}"
    raise TrialsError(
        f"{trials.experiment}: participants cannot be simulated, since bursts are neither equally likely after all "
        f"pumps ({rate:.3f}) nor at all numbers of pumps up to {most:g}; say the largest number: --column most=NUMBER "
        "(participants.columns.stimulus.most)."
    )


LAYOUT = StimulusLayout(
    {
        "pumps": "column: pumps of the balloon, with the one that burst it",
        "most": "column, or number: largest number of pumps that a balloon can have",
    },
    ("pumps",),
    None,
    recognise=recognise,
    code=code_of_bursts,
    kind="balloons that are pumped up until they burst or are collected",
    guess_rank=1,
    from_steps=decisions_of_balloons,
    inputs={
        "most": NeededParts(
            ("most",),
            "the largest number of pumps",
            "beliefs that bursts are equally likely at all numbers of pumps",
        )
    },
)
"""A balloon for each row of a file."""
