"""A theory that learns, written out as operations on single numbers, one list for each kind of step.

The grammar's texts combine draws and participants by broadcasting alone, and treat each pair of them alike. So their
functions can be run once on symbols, with one draw and one participant: what is left are the operations on single
numbers that one step takes. They are found for each kind of step, such as "option 2 was chosen and paid, no new game
begins", so that everything that is known of such a step is worked out beforehand. This runs where the theory runs, in
its own process; what comes out are numbers (`NODE` and the codes below), which the laboratory computes with in
`theories.engine.running.unrolled`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

CONSTANT, PARAMETER, STATE, COLUMN = range(4)
"""Codes of nodes that are no operation; their first argument is the number, or the place of what is meant."""
ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, POWER = range(4, 11)
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL = range(11, 17)
NEGATIVE, ABSOLUTE, EXP, LOG, SQRT, TANH, SELECT = range(17, 24)
N_CODES = 24
BINARY: Mapping[np.ufunc, int] = {
    np.add: ADD,
    np.subtract: SUBTRACT,
    np.multiply: MULTIPLY,
    np.divide: DIVIDE,
    np.maximum: MAXIMUM,
    np.minimum: MINIMUM,
    np.power: POWER,
    np.less: LESS,
    np.less_equal: LESS_EQUAL,
    np.greater: GREATER,
    np.greater_equal: GREATER_EQUAL,
    np.equal: EQUAL,
    np.not_equal: NOT_EQUAL,
}
UNARY: Mapping[np.ufunc, int] = {
    np.negative: NEGATIVE,
    np.absolute: ABSOLUTE,
    np.exp: EXP,
    np.log: LOG,
    np.sqrt: SQRT,
    np.tanh: TANH,
}
UFUNCS: Mapping[int, np.ufunc] = {code: ufunc for ufunc, code in (*BINARY.items(), *UNARY.items())}
MOST_NODES = 2**14
"""Nodes of a theory, all kinds of steps together."""
MOST_STATE = 256
"""Numbers that a theory may remember."""


class UnrolledError(Exception):
    """A theory does something that cannot be written out."""


class Book:
    """Nodes of a theory, each written down once."""

    def __init__(self) -> None:
        self.nodes: list[tuple[float, ...]] = []
        self._known: dict[tuple[float, ...], int] = {}

    def node(self, code: int, *given: float) -> int:
        """The place of a node, which is simplified where that changes no result."""
        if code >= ADD:
            simple = self._simple(code, [int(item) for item in given])
            if simple is not None:
                return simple
        key = (code, *given)
        if code == CONSTANT:
            key = (code, *given, float(np.signbit(given[0])))
        if key not in self._known:
            if len(self.nodes) == MOST_NODES:
                raise UnrolledError("too many operations")
            self._known[key] = len(self.nodes)
            self.nodes.append((code, *given))
        return self._known[key]

    def constant(self, value: float) -> int:
        """The node of a number."""
        return self.node(CONSTANT, float(value))

    def value(self, place: int) -> float | None:
        """The number of a node that is constant."""
        code, first, *_ = self.nodes[place]
        return first if code == CONSTANT else None

    def _simple(self, code: int, places: list[int]) -> int | None:
        """A node that gives the same and is there already, or costs less."""
        values = [self.value(place) for place in places]
        if all(value is not None for value in values):
            with np.errstate(all="ignore"):
                numbers = [np.float64(value) for value in values if value is not None]
                if code == SELECT:
                    return places[1] if numbers[0] else places[2]
                return self.constant(float(UFUNCS[code](*numbers)))
        if code == MULTIPLY and 0.0 in values:
            return self.constant(0.0)
        if code == MULTIPLY and 1.0 in values:
            return places[1 - values.index(1.0)]
        if code == ADD and 0.0 in values:
            return places[1 - values.index(0.0)]
        if code == SUBTRACT and values[1] == 0.0:
            return places[0]
        if code == DIVIDE and values[1] == 1.0:
            return places[0]
        if code == POWER and values[1] == 2.0:
            return self.node(MULTIPLY, places[0], places[0])
        if code == SELECT and (values[0] is not None or places[1] == places[2]):
            return places[1] if values[0] != 0.0 else places[2]
        return self._exp_below_largest(places[0]) if code == EXP else None

    def _exp_below_largest(self, place: int) -> int | None:
        """``exp(a - max(a, b))`` by one exponential for both options: of the larger it is 1."""
        code, *given = self.nodes[place]
        if code != SUBTRACT:
            return None
        own, largest = map(int, given)
        code, *given = self.nodes[largest]
        if code != MAXIMUM or own not in given:
            return None
        first, second = map(int, given)
        other = second if own == first else first
        apart = self.node(ABSOLUTE, self.node(SUBTRACT, first, second))
        below = self.node(EXP, self.node(NEGATIVE, apart))
        return self.node(SELECT, self.node(GREATER_EQUAL, own, other), self.constant(1.0), below)


class UnrolledArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of nodes; draws and participants are axes of length 1."""

    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, book: Book, places: Any) -> None:
        self.book, self.places = book, np.asarray(places)

    shape = property(lambda self: self.places.shape)
    ndim = property(lambda self: self.places.ndim)
    size = property(lambda self: self.places.size)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> Any:
        if method == "__call__" and not named:
            if ufunc in BINARY:
                return _each(self.book, BINARY[ufunc], *inputs)
            if ufunc in UNARY:
                return _each(self.book, UNARY[ufunc], *inputs)
        _refuse(f"numpy.{ufunc.__name__}.{method}")

    def __array_function__(
        self, function: Callable[..., Any], types: Any, given: Any, named: Any
    ) -> Any:
        if function not in FUNCTIONS:
            _refuse(f"numpy.{function.__name__}")
        return FUNCTIONS[function](self.book, *given, **named)

    def __getitem__(self, index: Any) -> UnrolledArray:
        return UnrolledArray(self.book, self.places[index])

    def __len__(self) -> int:
        return len(self.places)

    def __bool__(self) -> bool:
        value = self.book.value(int(self.places.item()))
        if value is None:
            _refuse("a branch")
        return bool(value)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        _refuse("an assignment in place")

    def __array__(self, *given: Any, **named: Any) -> NoReturn:
        _refuse("an array of plain numbers")

    def reshape(self, *shape: Any) -> UnrolledArray:
        """The same numbers in another shape."""
        return UnrolledArray(self.book, self.places.reshape(*shape))

    def sum(self, axis: Any = None, keepdims: bool = False) -> UnrolledArray:
        """Sums along axes, one number after the other."""
        return _folded(self.book, ADD, self, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> UnrolledArray:
        """Largest numbers along axes."""
        return _folded(self.book, MAXIMUM, self, axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> UnrolledArray:
        """Smallest numbers along axes."""
        return _folded(self.book, MINIMUM, self, axis, keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> UnrolledArray:
        """Whether any number along axes is not 0."""
        return _folded(self.book, MAXIMUM, self != 0, axis, keepdims)


def _refuse(what: str) -> NoReturn:
    raise UnrolledError(f"{what} cannot be written out")


def _places(book: Book, item: Any) -> Any:
    """An array of nodes for whatever stands in an expression."""
    if isinstance(item, UnrolledArray):
        return item.places
    values = np.asarray(item, dtype=np.float64)
    found = np.empty(values.shape, dtype=np.intp)
    for index in np.ndindex(values.shape):
        found[index] = book.constant(float(values[index]))
    return found


def _each(book: Book, code: int, *inputs: Any) -> UnrolledArray:
    arrays = np.broadcast_arrays(*(_places(book, item) for item in inputs))
    found = np.empty(arrays[0].shape, dtype=np.intp)
    for index in np.ndindex(found.shape):
        found[index] = book.node(code, *(int(array[index]) for array in arrays))
    return UnrolledArray(book, found)


def _folded(book: Book, code: int, item: Any, axis: Any, keepdims: bool) -> UnrolledArray:
    places = _places(book, item)
    axes = range(places.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    own = sorted(number % places.ndim for number in axes)
    moved = np.moveaxis(places, own, range(len(own)))
    rows = moved.reshape(-1, *moved.shape[len(own) :])
    found = UnrolledArray(book, rows[0])
    for row in rows[1:]:
        found = _each(book, code, found, UnrolledArray(book, row))
    return UnrolledArray(book, np.expand_dims(found.places, own)) if keepdims else found


def _where(book: Book, condition: Any, *options: Any) -> UnrolledArray:
    if len(options) != 2:
        _refuse("numpy.where without alternatives")
    return _each(book, SELECT, condition, *options)


def _clip(book: Book, item: Any, low: Any = None, high: Any = None) -> Any:
    found = item if low is None else _each(book, MAXIMUM, item, low)
    return found if high is None else _each(book, MINIMUM, found, high)


def _joined(join: Callable[..., Any]) -> Callable[..., UnrolledArray]:
    return lambda book, items, axis=0: UnrolledArray(
        book, join([_places(book, item) for item in items], axis=axis)
    )


def _method(name: str) -> Callable[..., Any]:
    return lambda book, item, *given, **named: getattr(item, name)(*given, **named)


FUNCTIONS: Mapping[Any, Callable[..., Any]] = {
    np.where: _where,
    np.clip: _clip,
    np.concatenate: _joined(np.concatenate),
    np.stack: _joined(np.stack),
    np.sum: _method("sum"),
    np.max: _method("max"),
    np.min: _method("min"),
    np.any: _method("any"),
    np.shape: lambda book, item: item.shape,
    np.ndim: lambda book, item: item.ndim,
    np.broadcast_to: lambda book, item, shape: UnrolledArray(
        book, np.broadcast_to(item.places, shape)
    ),
}


class Unrolling:
    """The functions of a theory, run on symbols for each kind of step."""

    def __init__(
        self,
        functions: Any,
        parameters: Sequence[str],
        columns: Sequence[tuple[str, str, Sequence[int]]],
        n_options: int,
        named: Callable[[dict[str, Any]], Any],
    ) -> None:
        """Begin with nothing written.

        Args:
            functions: ``choose``, ``start`` and ``learn``.
            parameters: Names.
            columns: What a kind of step is described by: for each array the part that it belongs to (``trials`` or
                ``by_draw``, those of the step before as ``before`` and ``before_by_draw``, ``feedback``), its name,
                and its shape without draws and participants. Numbers of all arrays follow one another.
            n_options: Number of options of each step.
            named: Makes the arguments of the functions from named arrays.
        """
        self.book, self.n_options, self._named = Book(), n_options, named
        self._functions, self._columns = functions, columns
        own = [
            UnrolledArray(self.book, [[self.book.node(PARAMETER, place)]])
            for place in range(len(parameters))
        ]
        self._parameters = named(dict(zip(parameters, own, strict=True)))

    def write(self, cases: Any) -> tuple[list[int], list[list[int]], list[list[int]]]:
        """Write out each kind of step.

        Args:
            cases: ``(n_cases, 1 + n_columns)``: the option chosen at the step before, -1 where there was none, and the
                numbers of each column, NaN where they are not known beforehand.

        Returns:
            Nodes of what is remembered at first; of each kind of step, those of what is remembered then, and of the
            probabilities with their sum before they were divided by it.

        Raises:
            UnrolledError: The theory does something that cannot be written out.
        """
        begun = [self._start(case) for case in cases]
        names = {name: np.shape(value) for name, value in begun[0].items()}
        first = [self._flat(state, names) for state in begun]
        if any(item != first[0] for item in first):
            _refuse("a start that depends on the first step")
        if len(first[0]) > MOST_STATE:
            _refuse("so much memory")
        # What never changes is taken for constant; whatever then changes all the same is not.
        known = [self.book.value(place) is not None for place in first[0]]
        while True:
            before = [
                place if same else self.book.node(STATE, number)
                for number, (place, same) in enumerate(zip(first[0], known, strict=True))
            ]
            steps = [self._step(case, names, before) for case in cases]
            after = [
                same and all(state[number] == first[0][number] for state, _ in steps)
                for number, same in enumerate(known)
            ]
            if after == known:
                return first[0], [state for state, _ in steps], [outcome for _, outcome in steps]
            known = after

    def tables(
        self, first: list[int], states: list[list[int]], told: list[list[int]]
    ) -> tuple[Any, Any, Any]:
        """Arrange the result of `write` as arrays of fixed size: nodes, the first memory, and each kind of step."""
        nodes = np.zeros((MOST_NODES, 4))
        for place, node in enumerate(self.book.nodes):
            nodes[place, : len(node)] = node
        begun = np.zeros(MOST_STATE)
        begun[: len(first)] = first
        steps = np.zeros((len(states), MOST_STATE + self.n_options + 1))
        for place, (state, own) in enumerate(zip(states, told, strict=True)):
            steps[place, : len(state)] = state
            steps[place, MOST_STATE:] = own
        return nodes, begun, steps

    def _step(
        self, case: Any, names: Mapping[str, tuple[int, ...]], before: list[int]
    ) -> tuple[list[int], list[int]]:
        choose, _, learn = self._functions
        parts = self._arrays(case)
        state, start = {}, 0
        for name, shape in names.items():
            size = int(np.prod(shape))
            places = np.reshape(before[start : start + size], shape)
            state[name] = UnrolledArray(self.book, places)
            start += size
        if case[0] >= 0:
            chosen = np.eye(self.n_options)[int(case[0])][None, None]
            past = self._named({**parts["before"], **parts["before_by_draw"]})
            feedback = self._named(parts["feedback"])
            state = learn(self._parameters, past, np, state, chosen, feedback)
        trials = self._named({**parts["trials"], **parts["by_draw"]})
        answer = choose(self._parameters, trials, np, state)
        return self._flat(state, names), self._probabilities(answer)

    def _start(self, case: Any) -> dict[str, Any]:
        parts = self._arrays(case)
        trials = self._named({**parts["trials"], **parts["by_draw"]})
        state = self._functions[1](self._parameters, trials, np)
        if not isinstance(state, dict):
            _refuse("what is remembered in this form")
        return state

    def _flat(self, state: Mapping[str, Any], names: Mapping[str, tuple[int, ...]]) -> list[int]:
        if state.keys() != names.keys():
            _refuse("what is remembered under other names")
        found: list[int] = []
        for name, shape in names.items():
            places = _places(self.book, state[name])
            if places.shape != shape:
                _refuse("what is remembered in another shape")
            found.extend(map(int, places.ravel()))
        return found

    def _probabilities(self, answer: Any) -> list[int]:
        """Nodes of the probabilities of all options, made to sum to one as a session does, and of their sum before."""
        places = _places(self.book, answer)
        if self.n_options == 2 and places.shape == (1, 1):
            second = int(places[0, 0])
            one = self.book.constant(1.0)
            return [self.book.node(SUBTRACT, one, second), second, one]
        if places.shape != (1, 1, self.n_options):
            _refuse("an answer of this shape")
        own = [int(place) for place in places[0, 0]]
        total = own[0]
        for place in own[1:]:
            total = self.book.node(ADD, total, place)
        return [*(self.book.node(DIVIDE, place, total) for place in own), total]

    def _arrays(self, case: Any) -> dict[str, dict[str, Any]]:
        """The arrays of a kind of step, as symbols where they are not known beforehand."""
        parts: dict[str, dict[str, Any]] = {}
        place = 1
        for part, name, shape in self._columns:
            size = int(np.prod(shape))
            values = case[place : place + size]
            # Trials have an axis of participants, everything else one of draws as well.
            whole = (1, *shape) if part in ("trials", "before") else (1, 1, *shape)
            array: Any = np.reshape(values, whole)
            if np.isnan(values).any():
                nodes = [
                    self.book.node(COLUMN, place - 1 + number)
                    if np.isnan(value)
                    else self.book.constant(value)
                    for number, value in enumerate(values)
                ]
                array = UnrolledArray(self.book, np.reshape(nodes, whole))
            parts.setdefault(part, {})[name] = array
            place += size
        for part in ("trials", "by_draw", "before", "before_by_draw", "feedback"):
            parts.setdefault(part, {})
        return parts
