"""Walks of the grammar's theories through many responses, in machine code.

A theory's process writes out what it does in each kind of step as operations on single numbers
(`theories.engine.sandbox.unrolled`); this computes them, person by person, with all draws side by side. Nothing of a
theory's text runs here. Numbers are those of the step-by-step walk up to rounding: the operations are the same in the
same order, except that adding 0, multiplying by 0 or 1, and dividing by 1 are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lakatos.theories.engine.sandbox import unrolled as codes
from lakatos.theories.engine.sandbox.session import TOLERANCE, SequenceStep, TheorySession
from lakatos.theories.errors import TheoryError

Array = NDArray[np.float64]
AnyArray = NDArray[Any]
MOST_VALUES = 3
"""Values of a column by which kinds of steps are told apart; a column with more is looked up at each step."""
MOST_CASES = 64
"""Kinds of steps that are written out."""
AT_ONCE = 2**21
"""Probabilities that a walk hands over at once."""
COPY = codes.N_CODES
NO_SLOT = 0


@dataclass(frozen=True)
class StepCases:
    """The kinds of steps of people's sequences."""

    columns: tuple[tuple[str, str, tuple[int, ...]], ...]
    """Arrays that describe a step; see `sandbox.unrolled.Unrolling`."""
    cases: Array
    """``(n_cases, 1 + n_columns)``; see `sandbox.unrolled.Unrolling.write`."""
    case: NDArray[np.int32]
    """``(n_participants, n_steps)`` kind of each step, -1 after a person's last."""
    looked_up: tuple[int, ...]
    """Columns that are looked up at each step."""
    inputs: Array
    """``(n_participants, n_steps, n_looked_up)``."""
    response: NDArray[np.int32]
    """``(n_participants, n_steps)`` options chosen."""


def cases_of(
    steps: Sequence[SequenceStep], response: AnyArray, there: NDArray[np.bool_]
) -> StepCases | None:
    """The kinds of steps of people's sequences; None where there are too many.

    Args:
        steps: What people saw at each step, and what followed the step before.
        response: ``(n_participants, n_steps)`` options chosen.
        there: ``(n_participants, n_steps)`` whether there is such a step.
    """
    seen: dict[tuple[str, str], list[AnyArray]] = {}
    for step in steps:
        if any(len(array) != 1 for array in (*step.by_draw.values(), *step.feedback.values())):
            return None  # what is seen depends on the draw
        parts: dict[str, Mapping[str, AnyArray]] = {
            "trials": step.trials,
            "by_draw": {name: array[0] for name, array in step.by_draw.items()},
            "feedback": {name: array[0] for name, array in step.feedback.items()},
        }
        for part, own in parts.items():
            for name, array in own.items():
                seen.setdefault((part, name), []).append(array)
    n_people, n_steps = there.shape
    for (part, _), arrays in seen.items():
        if part == "feedback":  # nothing followed before the first step
            arrays.insert(0, np.zeros_like(arrays[0]))
        if len(arrays) != n_steps or arrays[0].dtype.kind not in "biuf":
            return None
    before = np.full((n_people, n_steps), -1, dtype=np.int64)
    before[:, 1:] = response[:, :-1]
    code, radix = before + 1, int(response.max(initial=0)) + 2
    columns, known, wide = [], [np.arange(-1, radix - 1, dtype=np.float64)], []
    for (part, name), arrays in seen.items():
        table = np.stack(arrays, axis=1).astype(np.float64)  # people first
        shape = table.shape[2:]
        table = table.reshape(n_people, n_steps, -1)
        pasts = {"trials": "before", "by_draw": "before_by_draw"}
        shifted = table[:, np.maximum(np.arange(n_steps) - 1, 0)] if part in pasts else None
        for own_part, numbers in ((part, table), (pasts.get(part), shifted)):
            if own_part is None or numbers is None:
                continue
            columns.append((own_part, name, shape))
            for number in range(numbers.shape[2]):
                column = numbers[:, :, number]
                values = _few_values(column[there])
                if values is None:
                    wide.append((len(known) - 1, column))
                    known.append(np.array([np.nan]))
                    continue
                known.append(values)
                if len(values) > 1:
                    place = np.minimum(np.searchsorted(values, column), len(values) - 1)
                    code, radix = code * len(values) + place, radix * len(values)
                if radix > 2**40:
                    return None
    found, case = np.unique(code[there], return_inverse=True)
    if len(found) > MOST_CASES:
        return None
    cases, rest = np.empty((len(found), len(known))), found
    for number in range(len(known) - 1, -1, -1):
        rest, place = np.divmod(rest, len(known[number]))
        cases[:, number] = known[number][place]
    kinds = np.full((n_people, n_steps), -1, dtype=np.int32)
    kinds[there] = case
    inputs = np.zeros((n_people, n_steps, len(wide)))
    for number, (_, column) in enumerate(wide):
        inputs[:, :, number] = column
    return StepCases(
        tuple(columns),
        cases,
        kinds,
        tuple(place for place, _ in wide),
        inputs,
        response.astype(np.int32),
    )


def _few_values(values: AnyArray) -> Array | None:
    """The values of a column in order, if there are few."""
    found: Array = np.empty(0)
    for start in range(0, len(values), 2**16):
        found = np.unique(np.concatenate([found, values[start : start + 2**16]]))
        if len(found) > MOST_VALUES or np.isnan(found).any():
            return None
    return found


@dataclass(frozen=True)
class WrittenTheory:
    """A theory in each kind of step, as operations on rows of numbers, one for each draw."""

    once: NDArray[np.int32]
    """``(n_operations, 5)`` what depends on parameters alone: code, row of the result, rows of what is given."""
    operations: NDArray[np.int32]
    """``(n_operations, 5)`` those of all kinds of steps, one after the other."""
    ends: NDArray[np.int32]
    """``(n_cases + 1,)`` where those of each kind of step begin and end."""
    told: NDArray[np.int32]
    """``(n_cases, n_options + 1)`` rows of the probabilities, and of their sum before they were divided by it."""
    constants: tuple[tuple[int, float], ...]
    """Rows of constants."""
    parameters: tuple[tuple[int, int], ...]
    """Rows of parameters, and which these are."""
    inputs: NDArray[np.int32]
    """``(n_looked_up,)`` rows of what is looked up."""
    begun: NDArray[np.int32]
    """``(n_state,)`` rows of what is remembered at first."""
    state: NDArray[np.int32]
    """``(n_state,)`` rows of what is remembered."""
    n_rows: int

    @property
    def same_digits(self) -> bool:
        """Whether NumPy and the system's library compute every operation alike."""
        used = np.concatenate([self.once[:, 0], self.operations[:, 0]])
        return not np.isin(used, (codes.TANH, codes.POWER)).any()


def written_theory(
    session: TheorySession, parameters: Sequence[str], cases: StepCases
) -> WrittenTheory | None:
    """Write out what the theory of a session does in each kind of step; None if that is impossible."""
    try:
        nodes, begun, steps = session.unroll(parameters, cases.columns, cases.cases)
    except TheoryError:
        return None
    n_state = len(begun)
    if not _is_sound(nodes, begun, steps, len(parameters), n_state, cases.cases.shape[1] - 1):
        return None
    return _Writer(nodes, begun.astype(int), steps.astype(int), cases).written()


def _is_sound(
    nodes: Array, begun: Array, steps: Array, n_parameters: int, n_state: int, n_columns: int
) -> bool:
    """Whether nodes are operations on nodes before them, and everything named is one of them."""
    code, places = nodes[:, 0], np.arange(len(nodes))
    most = {codes.PARAMETER: n_parameters, codes.STATE: n_state, codes.COLUMN: n_columns}
    fine = np.isin(code, np.arange(codes.N_CODES))
    for kind, number in most.items():
        own = nodes[code == kind, 1]
        fine[code == kind] &= (own >= 0) & (own < number) & (own == np.floor(own))
    given = nodes[code >= codes.ADD, 1:]
    sound = (given >= 0) & (given == np.floor(given)) & (given <= places[code >= codes.ADD, None])
    # An operation has no number of its own below it only at place 0, where no operation can be.
    sound &= (given < places[code >= codes.ADD, None]) | (given == 0)
    named = np.concatenate([begun.ravel(), steps.ravel()])
    inside = (named >= 0) & (named < len(nodes)) & (named == np.floor(named))
    return bool(fine.all() and sound.all() and inside.all() and code[0] < codes.ADD)


class _Writer:
    """Gives nodes rows, and puts operations in order."""

    def __init__(
        self, nodes: Array, begun: NDArray[np.int_], steps: NDArray[np.int_], cases: StepCases
    ) -> None:
        self._nodes, self._begun, self._steps, self._cases = nodes, begun, steps, cases
        self._code = nodes[:, 0].astype(int)
        self._n_state = len(begun)
        self._row_of: dict[int, int] = {}
        """Rows that keep their number throughout."""
        self._n_rows = 0
        self._passing: list[int] = []
        """Rows that every kind of step uses anew."""
        self._once: list[tuple[int, ...]] = []
        moving = np.isin(self._code, (codes.STATE, codes.COLUMN))
        for place in np.flatnonzero(self._code >= codes.ADD).tolist():
            moving[place] = moving[self._given(place)].any()
        self._moving = moving
        """Nodes that differ from step to step."""

    def _given(self, place: int) -> list[int]:
        n_given = 3 if self._code[place] == codes.SELECT else 2
        if codes.NEGATIVE <= self._code[place] < codes.SELECT:
            n_given = 1
        return [int(item) for item in self._nodes[place, 1 : 1 + n_given]]

    def _new_row(self) -> int:
        self._n_rows += 1
        return self._n_rows - 1

    def written(self) -> WrittenTheory:
        """Write everything."""
        n_options = self._steps.shape[1] - self._n_state
        rows_of_state = [self._new_row() for _ in range(self._n_state)]
        inputs = {column: self._new_row() for column in self._cases.looked_up}
        for place, code in enumerate(self._code.tolist()):
            number = int(self._nodes[place, 1]) if code in (codes.STATE, codes.COLUMN) else 0
            if code == codes.STATE:
                self._row_of[place] = rows_of_state[number]
            elif code == codes.COLUMN:
                self._row_of[place] = inputs.get(number, NO_SLOT)
        operations: list[tuple[int, ...]] = []
        ends, lines = [0], []
        begun = [self._still(place) for place in self._begun.tolist()]
        for own in self._steps.tolist():
            lines.append(self._case(own[: self._n_state], own[self._n_state :], operations))
            ends.append(len(operations))
        constants, parameters = [], []
        for place, row in self._row_of.items():
            if self._code[place] == codes.CONSTANT:
                constants.append((row, float(self._nodes[place, 1])))
            elif self._code[place] == codes.PARAMETER:
                parameters.append((row, int(self._nodes[place, 1])))
        return WrittenTheory(
            np.array(self._once, dtype=np.int32).reshape(-1, 5),
            np.array(operations, dtype=np.int32).reshape(-1, 5),
            np.array(ends, dtype=np.int32),
            np.array(lines, dtype=np.int32).reshape(-1, n_options),
            tuple(constants),
            tuple(parameters),
            np.array([inputs[column] for column in self._cases.looked_up], dtype=np.int32),
            np.array(begun, dtype=np.int32),
            np.array(rows_of_state, dtype=np.int32),
            self._n_rows,
        )

    def _still(self, place: int) -> int:
        """The row of a node that is the same in all steps; computed once."""
        if place not in self._row_of:
            if self._code[place] >= codes.ADD:
                given = [self._still(item) for item in self._given(place)]
                row = self._new_row()
                self._once.append((int(self._code[place]), row, *given, *(0,) * (3 - len(given))))
            else:
                row = self._new_row()
            self._row_of[place] = row
        return self._row_of[place]

    def _case(
        self, state: list[int], outcome: list[int], operations: list[tuple[int, ...]]
    ) -> list[int]:
        """Write the operations of a kind of step; the rows of what it tells."""
        needed: set[int] = set()
        waiting = [*state, *outcome]
        while waiting:
            place = waiting.pop()
            if place not in needed:
                needed.add(place)
                if self._moving[place] and self._code[place] >= codes.ADD:
                    waiting.extend(self._given(place))
        last: dict[int, float] = dict.fromkeys((*state, *outcome), math.inf)
        for place in sorted(needed):
            if self._moving[place] and self._code[place] >= codes.ADD:
                for item in self._given(place):
                    last[item] = max(last.get(item, 0), place)
        own: dict[int, int] = {}
        free = [*self._passing]
        for place in sorted(needed):
            if not self._moving[place] or self._code[place] < codes.ADD:
                continue
            given = self._given(place)
            rows = [own[item] if item in own else self._row(item) for item in given]
            free.extend(own[item] for item in set(given) if item in own and last[item] == place)
            row = own[place] = self._passing_row(free)
            operations.append((int(self._code[place]), row, *rows, *(0,) * (3 - len(rows))))
        # What is remembered is written over only after everything that may read it.
        moves, held = [], []
        for number, place in enumerate(state):
            row = own[place] if place in own else self._row(place)
            target = number  # rows of what is remembered come first
            if row == target:
                continue
            if self._code[place] == codes.STATE:
                kept = self._passing_row(free)
                held.append((COPY, kept, row, 0, 0))
                row = kept
            moves.append((COPY, target, row, 0, 0))
        found = []
        for place in outcome:
            row = own[place] if place in own else self._row(place)
            if self._code[place] == codes.STATE:
                kept = self._passing_row(free)
                held.append((COPY, kept, row, 0, 0))
                row = kept
            found.append(row)
        operations.extend([*held, *moves])
        return found

    def _passing_row(self, free: list[int]) -> int:
        """A row for what is needed within one step only."""
        if free:
            return free.pop()
        self._passing.append(self._new_row())
        return self._passing[-1]

    def _row(self, place: int) -> int:
        return self._row_of[place] if place in self._row_of else self._still(place)


def log_likelihood(
    theory: WrittenTheory, cases: StepCases, parameters: Mapping[str, Array], tiny: float
) -> Array | None:
    """``(n_draws, n_participants)`` nats; None where probabilities are none."""
    rows = _rows(theory, parameters)
    total = np.zeros((len(cases.case), rows.shape[1]))
    fine = _add_up(
        rows,
        theory.operations,
        theory.ends,
        theory.told,
        theory.inputs,
        theory.begun,
        theory.state,
        cases.case,
        cases.inputs,
        cases.response,
        total,
        tiny,
    )
    return np.ascontiguousarray(total.T) if fine else None


def probabilities(
    theory: WrittenTheory, cases: StepCases, parameters: Mapping[str, Array]
) -> Iterator[Array]:
    """``(n_draws, n_participants, n_options)`` of each step; ends early where probabilities are none."""
    rows = _rows(theory, parameters)
    n_people, n_steps = cases.case.shape
    n_draws, n_options = rows.shape[1], theory.told.shape[1] - 1
    state = np.empty((n_people, len(theory.state), n_draws))
    state[:] = rows[theory.begun]
    n_at_once = max(1, AT_ONCE // max(n_draws * n_people * n_options, 1))
    for first in range(0, n_steps, n_at_once):
        n_now = min(n_at_once, n_steps - first)
        found = np.full((n_now, n_people, n_options, n_draws), 1.0 / n_options)
        fine = _go_on(
            rows,
            theory.operations,
            theory.ends,
            theory.told,
            theory.inputs,
            theory.state,
            cases.case,
            cases.inputs,
            state,
            found,
            first,
        )
        if not fine:
            return
        for step in range(n_now):
            yield np.ascontiguousarray(np.moveaxis(found[step], -1, 0))


def _rows(theory: WrittenTheory, parameters: Mapping[str, Array]) -> Array:
    """``(n_rows, n_draws)`` with constants, parameters, and what depends on these alone."""
    values = [np.asarray(item, dtype=np.float64) for item in parameters.values()]
    rows = np.zeros((max(theory.n_rows, 1), len(values[0]) if values else 1))
    for row, value in theory.constants:
        rows[row] = value
    for row, place in theory.parameters:
        rows[row] = values[place]
    _compute(rows, theory.once, 0, len(theory.once))
    return rows


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _compute(rows: Array, operations: NDArray[np.int32], first: int, end: int) -> None:
    """Some operations, each on whole rows."""
    n_draws = rows.shape[1]
    for place in range(first, end):
        code = operations[place, 0]
        out, x = rows[operations[place, 1]], rows[operations[place, 2]]
        y, z = rows[operations[place, 3]], rows[operations[place, 4]]
        if code == codes.ADD:
            for draw in range(n_draws):
                out[draw] = x[draw] + y[draw]
        elif code == codes.SUBTRACT:
            for draw in range(n_draws):
                out[draw] = x[draw] - y[draw]
        elif code == codes.MULTIPLY:
            for draw in range(n_draws):
                out[draw] = x[draw] * y[draw]
        elif code == codes.DIVIDE:
            for draw in range(n_draws):
                out[draw] = x[draw] / y[draw]
        elif code == COPY:
            for draw in range(n_draws):
                out[draw] = x[draw]
        elif code == codes.EXP:
            for draw in range(n_draws):
                out[draw] = math.exp(x[draw])
        elif code == codes.SELECT:
            for draw in range(n_draws):
                out[draw] = y[draw] if x[draw] != 0.0 else z[draw]
        elif code == codes.GREATER_EQUAL:
            for draw in range(n_draws):
                out[draw] = 1.0 if x[draw] >= y[draw] else 0.0
        elif code == codes.GREATER:
            for draw in range(n_draws):
                out[draw] = 1.0 if x[draw] > y[draw] else 0.0
        elif code == codes.LESS:
            for draw in range(n_draws):
                out[draw] = 1.0 if x[draw] < y[draw] else 0.0
        elif code == codes.LESS_EQUAL:
            for draw in range(n_draws):
                out[draw] = 1.0 if x[draw] <= y[draw] else 0.0
        elif code == codes.EQUAL:
            for draw in range(n_draws):
                out[draw] = 1.0 if x[draw] == y[draw] else 0.0
        elif code == codes.NOT_EQUAL:
            for draw in range(n_draws):
                out[draw] = 1.0 if x[draw] != y[draw] else 0.0
        elif code == codes.NEGATIVE:
            for draw in range(n_draws):
                out[draw] = -x[draw]
        elif code == codes.ABSOLUTE:
            for draw in range(n_draws):
                out[draw] = abs(x[draw])
        elif code == codes.MAXIMUM:  # a NaN is handed on, as NumPy does
            for draw in range(n_draws):
                out[draw] = x[draw] if x[draw] >= y[draw] or x[draw] != x[draw] else y[draw]
        elif code == codes.MINIMUM:
            for draw in range(n_draws):
                out[draw] = x[draw] if x[draw] <= y[draw] or x[draw] != x[draw] else y[draw]
        elif code == codes.LOG:
            for draw in range(n_draws):
                out[draw] = math.log(x[draw])
        elif code == codes.SQRT:
            for draw in range(n_draws):
                out[draw] = math.sqrt(x[draw])
        elif code == codes.TANH:
            for draw in range(n_draws):
                out[draw] = math.tanh(x[draw])
        elif code == codes.POWER:
            for draw in range(n_draws):
                out[draw] = x[draw] ** y[draw]


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _no_probabilities(rows: Array, outcome: NDArray[np.int32]) -> int:
    """Count the totals of a step that differ from 1, and the probabilities below 0."""
    n_bad, n_options = 0, len(outcome) - 1
    total = rows[outcome[n_options]]
    for draw in range(len(total)):
        n_bad += not abs(total[draw] - 1.0) <= TOLERANCE
    for option in range(n_options):
        own = rows[outcome[option]]
        for draw in range(len(own)):
            n_bad += not own[draw] >= 0.0
    return n_bad


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _add_up(
    rows: Array,
    operations: NDArray[np.int32],
    ends: NDArray[np.int32],
    outcome: NDArray[np.int32],
    inputs: NDArray[np.int32],
    begun: NDArray[np.int32],
    state: NDArray[np.int32],
    case: NDArray[np.int32],
    looked_up: Array,
    response: NDArray[np.int32],
    total: Array,
    tiny: float,
) -> bool:
    """Add the log probabilities of people's answers up, ``(n_participants, n_draws)``; False where they are none."""
    n_people, n_steps = case.shape
    n_draws = rows.shape[1]
    for person in range(n_people):
        own = total[person]
        for number in range(len(state)):
            rows[state[number]] = rows[begun[number]]
        for step in range(n_steps):
            kind = case[person, step]
            if kind < 0:
                break
            for number in range(len(inputs)):
                rows[inputs[number]] = looked_up[person, step, number]
            _compute(rows, operations, ends[kind], ends[kind + 1])
            if _no_probabilities(rows, outcome[kind]):
                return False
            chosen = rows[outcome[kind, response[person, step]]]
            for draw in range(n_draws):
                own[draw] += math.log(max(chosen[draw], tiny))
    return True


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _go_on(
    rows: Array,
    operations: NDArray[np.int32],
    ends: NDArray[np.int32],
    outcome: NDArray[np.int32],
    inputs: NDArray[np.int32],
    state: NDArray[np.int32],
    case: NDArray[np.int32],
    looked_up: Array,
    remembered: Array,
    found: Array,
    first: int,
) -> bool:
    """Take everybody some steps further: probabilities ``(n_steps, n_participants, n_options, n_draws)``."""
    n_steps, n_people = found.shape[:2]
    for person in range(n_people):
        for number in range(len(state)):
            rows[state[number]] = remembered[person, number]
        for step in range(n_steps):
            kind = case[person, first + step]
            if kind < 0:
                break
            for number in range(len(inputs)):
                rows[inputs[number]] = looked_up[person, first + step, number]
            _compute(rows, operations, ends[kind], ends[kind + 1])
            if _no_probabilities(rows, outcome[kind]):
                return False
            for option in range(outcome.shape[1] - 1):
                found[step, person, option] = rows[outcome[kind, option]]
        for number in range(len(state)):
            remembered[person, number] = rows[state[number]]
    return True
