"""A theory as formulas of single numbers: its code, run once on symbols instead of arrays.

A theory is written for arrays of NumPy. Run on one trial whose numbers and parameters are symbols, the same code leaves
behind the formula of each option's probability, and of a theory that learns also the formulas by which its state is
updated. Formulas of numbers can be written in any language (`written`). Where the code branches on a symbol, both
branches are followed and joined by a condition. Code that needs the value of a symbol in another way (as an index or
as a length) is refused by name.

References:
    King (1976), Communications of the ACM 19(7), 385-394 (symbolic execution).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import numpy as np
from scipy import special

from lakatos.theories.errors import TheoryError

Array = np.ndarray[Any, Any]
MOST_NODES: Final = 4_000
"""Operations of the formulas of one trial."""
MOST_PATHS: Final = 64
"""Ways through the code that branches on symbols may open."""
COMPARISONS: Final = frozenset(
    {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
)
LOGICAL: Final = frozenset({"logical_and", "logical_or", "logical_not"})
ARITHMETIC: Final = frozenset(
    {
        "add",
        "subtract",
        "multiply",
        "divide",
        "power",
        "negative",
        "absolute",
        "sign",
        "exp",
        "log",
        "log1p",
    }
    | {
        "expm1",
        "log10",
        "sqrt",
        "tanh",
        "sin",
        "cos",
        "floor",
        "rint",
        "maximum",
        "minimum",
        "ndtr",
        "log_ndtr",
    }
)
SAME: Final[Mapping[str, str]] = {
    "fabs": "absolute", "bitwise_and": "logical_and", "bitwise_or": "logical_or", "invert": "logical_not",
    "fmax": "maximum", "fmin": "minimum", "float_power": "power",
}  # fmt: skip


class UnwritableError(TheoryError):
    """The code of a theory cannot be written as formulas of single numbers."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A number, a symbol, or an operation on formulas; equal ones are one object (`_node`)."""

    op: str
    args: tuple[Any, ...]

    @property
    def is_number(self) -> bool:
        """Whether its value is known."""
        return self.op == "number"

    @property
    def is_true_or_false(self) -> bool:
        """Whether it is a condition."""
        return self.op in COMPARISONS or self.op in LOGICAL or isinstance(self.args[0], bool)

    # NumPy multiplies matrices of objects by these two.
    def __add__(self, other: Any) -> Formula:
        return apply("add", self, other)

    def __mul__(self, other: Any) -> Formula:
        return apply("multiply", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __bool__(self) -> bool:
        return bool(self.args[0]) if self.is_number else _PATHS.decide(self)

    def __float__(self) -> float:
        return (
            float(self.args[0]) if self.is_number else _refuse("the value of a symbol as a number")
        )

    def __int__(self) -> int:
        return int(float(self))


def number(value: float | bool) -> Formula:
    """A formula whose value is known."""
    return _node("number", bool(value) if isinstance(value, bool | np.bool_) else float(value))


def symbol(name: str) -> Formula:
    """A formula that stands for a number."""
    return _node("symbol", name)


@functools.cache
def _shared(op: str, kinds: tuple[type, ...], args: tuple[Any, ...]) -> Formula:
    return Formula(op, args)


def _node(op: str, *args: Any) -> Formula:
    return _shared(op, tuple(map(type, args)), args)


def _lifted(item: Any) -> Formula:
    return item if isinstance(item, Formula) else number(item)


def _numeric(item: Formula) -> Formula:
    return choose_between(item, number(1.0), number(0.0)) if item.is_true_or_false else item


def _condition(item: Formula) -> Formula:
    return item if item.is_true_or_false else apply("not_equal", item, number(0.0))


def choose_between(condition: Any, first: Any, second: Any) -> Formula:
    """One formula where a condition holds, and another one elsewhere."""
    test, one, other = _condition(_lifted(condition)), _lifted(first), _lifted(second)
    if test.is_number:
        return one if test.args[0] else other
    if one is other:
        return one
    if one.is_true_or_false and other.is_true_or_false:
        return apply(
            "logical_or",
            apply("logical_and", test, one),
            apply("logical_and", apply("logical_not", test), other),
        )
    return _node("where", test, _numeric(one), _numeric(other))


def apply(op: str, *items: Any) -> Formula:
    """An operation of NumPy on single formulas, simplified as for finite numbers.

    Raises:
        UnwritableError: There is no such operation in formulas.
    """
    args = tuple(map(_lifted, items))
    op = SAME.get(op, op)
    if op in {"add", "maximum"} and all(item.is_true_or_false for item in args):
        op = "logical_or"  # as NumPy adds up truth values
    elif op in {"multiply", "minimum"} and all(item.is_true_or_false for item in args):
        op = "logical_and"
    if op in COMPOSED:
        return COMPOSED[op](*args)
    if op in LOGICAL:
        args = tuple(map(_condition, args))
    elif op in ARITHMETIC or op in COMPARISONS:
        args = tuple(map(_numeric, args))
    else:
        _refuse(f"numpy.{op} of a symbol")
    if all(item.is_number for item in args):
        with np.errstate(all="ignore"):
            return number(_function(op)(*(item.args[0] for item in args)))
    simpler = _simplified(op, args)
    return _node(op, *args) if simpler is None else simpler


COMPOSED: Final[Mapping[str, Callable[..., Formula]]] = {
    "square": lambda item: apply("multiply", item, item),
    "reciprocal": lambda item: apply("divide", 1.0, item),
    "positive": lambda item: item,
    "logical_xor": lambda one, other: apply("not_equal", _numeric(one), _numeric(other)),
    "bitwise_xor": lambda one, other: apply("not_equal", _numeric(one), _numeric(other)),
}


def _function(op: str) -> Callable[..., Any]:
    """The function of numbers that an operation is."""
    found: Callable[..., Any] = getattr(special if op in {"ndtr", "log_ndtr"} else np, op)
    return found


def _simplified(op: str, args: tuple[Formula, ...]) -> Formula | None:
    """The argument that an operation with a neutral number leaves as it is, or 0 for a product with it."""
    if len(args) != 2:
        return None
    first, second = args
    neutral = {"add": 0.0, "subtract": 0.0, "multiply": 1.0, "divide": 1.0, "power": 1.0}.get(op)
    if op in {"logical_and", "logical_or"}:
        for known, other in ((first, second), (second, first)):
            if known.is_number:
                return other if bool(known.args[0]) == (op == "logical_and") else known
        return first if first is second else None
    if neutral is None:
        return first if op in {"maximum", "minimum"} and first is second else None
    if second.is_number and second.args[0] == neutral:
        return first
    if op in {"add", "multiply"} and first.is_number and first.args[0] == neutral:
        return second
    zero = number(0.0)
    if op == "multiply" and zero in (first, second):
        return zero
    return zero if op == "divide" and first is zero else None


def _refuse(what: str) -> NoReturn:
    raise UnwritableError(
        f"the theory's code uses {what}, which has no formula; export it as python or json instead."
    )


def _largest(formula: Formula) -> float:
    """The largest value that a count can have."""
    if formula.is_number:
        return float(formula.args[0])
    if formula.op == "where":
        return max(map(_largest, formula.args[1:]))
    if formula.op in {"add", "maximum"}:
        return (sum if formula.op == "add" else max)(map(_largest, formula.args))
    _refuse("a symbol as a number of places")


# --- branches ---------------------------------------------------------------------------------------------------------


@dataclass
class _Paths:
    """Ways taken at the branches on a symbol, in one of the ways through the code."""

    taken: dict[Formula, bool] = field(default_factory=dict)
    given: dict[Formula, bool] = field(default_factory=dict)

    def decide(self, formula: Formula) -> bool:
        condition = _condition(formula)
        way = self.given.get(condition, True)
        self.taken[condition] = way
        return way


_PATHS = _Paths()


def joined(code: Callable[[], Any]) -> Any:
    """Run code with both ways of each branch on a symbol joined by its condition.

    Args:
        code: Returns an array of formulas, or a mapping of such arrays.

    Raises:
        UnwritableError: There are too many ways.
    """
    todo: list[dict[Formula, bool]] = [{}]
    found: list[tuple[dict[Formula, bool], Any]] = []
    while todo:
        if len(found) >= MOST_PATHS:
            _refuse(f"more than {MOST_PATHS} ways through its branches")
        _PATHS.given, _PATHS.taken = todo.pop(), {}
        new = (dict(_PATHS.given), code())
        opened = {key: way for key, way in _PATHS.taken.items() if key not in _PATHS.given}
        before = dict(_PATHS.given)
        for condition in opened:
            todo.append({**before, condition: False})
            before[condition] = True
        found.append(({**new[0], **opened}, new[1]))
    result = found[-1][1]
    for ways, value in reversed(found[:-1]):
        condition = number(True)
        for key, way in ways.items():
            condition = apply("logical_and", condition, key if way else apply("logical_not", key))
        result = _either(condition, value, result)
    return result


def _either(condition: Formula, first: Any, second: Any) -> Any:
    if isinstance(first, Mapping):
        return {key: _either(condition, first[key], second[key]) for key in first}
    one, other = np.broadcast_arrays(cells(first), cells(second))
    return _each(lambda a, b: choose_between(condition, a, b), one, other)


# --- arrays of formulas -----------------------------------------------------------------------------------------------


class Cells(Array):
    """An array of formulas on which the code of a theory works as on numbers."""

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        if method == "reduce":
            found = _reduced(ufunc.__name__, inputs[0], **kwargs)
        elif method == "accumulate" and not kwargs.get("dtype"):
            found = _accumulated(ufunc.__name__, inputs[0], kwargs.get("axis", 0))
        elif method == "__call__" and ufunc is np.matmul:
            found = cells(np.matmul(*(_plain(cells(item)) for item in inputs)))
        elif method == "__call__" and ufunc.__name__ == "clip":
            found = _clipped(*inputs)
        elif method == "__call__" and ufunc.nout == 1:
            found = _each(functools.partial(apply, ufunc.__name__), *inputs)
        else:
            _refuse(f"numpy.{ufunc.__name__}.{method}")
        if out is None:
            return found
        out[0][...] = found
        return out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        if name in OWN:
            return OWN[name](*args, **kwargs)
        if name in UNKNOWN:
            _refuse(f"numpy.{name}")
        found = super().__array_function__(function, (Cells, np.ndarray), args, kwargs)
        return cells(found) if isinstance(found, np.ndarray) and found.dtype == object else found

    def __getitem__(self, index: Any) -> Any:
        """A part; a single formula is an array without axes, on which NumPy works, too."""
        found = super().__getitem__(index)
        return cells(found) if isinstance(found, Formula) else found

    def astype(self, dtype: Any, **_: Any) -> Cells:  # type: ignore[override]
        """Numbers instead of truth values; formulas have no other types."""
        if np.dtype(dtype) == bool:
            return _each(lambda item: _condition(_lifted(item)), self)
        if np.issubdtype(dtype, np.integer):
            _refuse("a symbol as a whole number")
        return _each(lambda item: _numeric(_lifted(item)), self)

    def round(self, decimals: int = 0, out: Any = None) -> Cells:  # type: ignore[override]
        """The nearest multiples of a power of ten, of two equally near ones the even one."""
        return _rounded(self, decimals)

    def argmax(self, axis: int = -1, **_: Any) -> Cells:  # type: ignore[override]
        """The place of the largest number, the first of equal ones."""
        return _place_of("greater", self, axis)

    def argmin(self, axis: int = -1, **_: Any) -> Cells:  # type: ignore[override]
        """The place of the smallest number, the first of equal ones."""
        return _place_of("less", self, axis)

    def argsort(self, axis: int = -1, **_: Any) -> Cells:  # type: ignore[override]
        """The places of numbers from the smallest on, of equal ones the first first."""
        return _order_of(self, axis)

    def __bool__(self) -> bool:
        return bool(self.item())

    def __index__(self) -> int:
        """A number of places that depends on symbols is the largest that it can be: places beyond are not used."""
        return operator.index(int(_largest(self.item())))


def cells(item: Any) -> Cells:
    """An array of formulas from an array of numbers, of formulas, or a single one of them."""
    if isinstance(item, Cells):
        return item
    array = np.empty((), dtype=object)
    if isinstance(item, Formula):
        array[()] = item
        return array.view(Cells)
    plain = np.asarray(item, dtype=object)
    found = np.empty(plain.shape, dtype=object)
    for place in np.ndindex(plain.shape):
        found[place] = _lifted(plain[place])
    return found.view(Cells)


def _plain(item: Cells) -> Array:
    return item.view(np.ndarray)


def _each(function: Callable[..., Formula], *inputs: Any) -> Cells:
    """A function of single formulas, applied to arrays of them."""
    arrays = np.broadcast_arrays(*(_plain(cells(item)) for item in inputs))
    found = np.empty(arrays[0].shape, dtype=object)
    for place in np.ndindex(found.shape):
        found[place] = function(*(array[place] for array in arrays))
    return found.view(Cells)


def _reduced(
    op: str, array: Any, axis: Any = 0, keepdims: bool = False, where: Any = True, **others: Any
) -> Cells:
    """A sum, a largest number, ... over axes; ``where`` leaves numbers out, which then count as ``initial``."""
    initial = others.get("initial")
    has_initial = initial is not None and initial is not np._NoValue
    if where is not True:
        left_out = initial if has_initial else {"add": 0.0, "multiply": 1.0}.get(op)
        array = _each(choose_between, where, array, left_out)
    plain = _plain(_each(_numeric if op in {"add", "multiply"} else _lifted, array))
    axes = range(plain.ndim) if axis is None else np.atleast_1d(axis) % max(plain.ndim, 1)
    combine = functools.partial(_each, functools.partial(apply, op))
    for place in sorted(map(int, axes), reverse=True):
        whole = functools.reduce(combine, list(np.moveaxis(plain, place, 0)))
        plain = _plain(_each(_condition if op in LOGICAL else _lifted, whole))
        if keepdims:
            plain = np.expand_dims(plain, place)
    found = plain.view(Cells)
    return combine(found, initial) if has_initial else found


def _accumulated(op: str, array: Any, axis: int) -> Cells:
    parts = [cells(part) for part in np.moveaxis(_plain(_each(_numeric, array)), axis, 0)]
    found = [parts[0]]
    for part in parts[1:]:
        found.append(_each(functools.partial(apply, op), found[-1], part))
    return cells(np.moveaxis(np.stack([_plain(item) for item in found]), 0, axis))


def _clipped(array: Any, low: Any = None, high: Any = None, *_: Any, **__: Any) -> Cells:
    found = cells(array)
    if low is not None:
        found = _each(functools.partial(apply, "maximum"), found, low)
    return found if high is None else _each(functools.partial(apply, "minimum"), found, high)


def _rounded(array: Any, decimals: int = 0, *_: Any, **__: Any) -> Cells:
    factor = 10.0**decimals
    return _each(
        lambda item: apply("divide", apply("rint", apply("multiply", item, factor)), factor), array
    )


def _sorted(array: Any, axis: int = -1, *_: Any, **__: Any) -> Cells:
    """Smallest first: neighbours exchanged until none is left."""
    parts = list(np.moveaxis(_plain(cells(array)), axis, -1).T)
    for last in range(len(parts) - 1, 0, -1):
        for place in range(last):
            one, other = parts[place], parts[place + 1]
            parts[place] = _plain(_each(functools.partial(apply, "minimum"), one, other))
            parts[place + 1] = _plain(_each(functools.partial(apply, "maximum"), one, other))
    return cells(np.moveaxis(np.stack(parts).T, -1, axis))


def _place_of(op: str, array: Any, axis: int = -1, **_: Any) -> Cells:
    parts = [cells(part) for part in np.moveaxis(_plain(cells(array)), axis, 0)]
    best, place = parts[0], cells(np.zeros(parts[0].shape))
    for index, part in enumerate(parts[1:], start=1):
        better = _each(functools.partial(apply, op), part, best)
        best, place = _where(better, part, best), _where(better, float(index), place)
    return place


def _order_of(array: Any, axis: int = -1, **_: Any) -> Cells:
    parts = [cells(part) for part in np.moveaxis(_plain(cells(array)), axis, 0)]
    found = [cells(np.zeros(parts[0].shape)) for _ in parts]
    for index, part in enumerate(parts):
        rank: Array = cells(np.zeros(part.shape))
        for other, beside in enumerate(parts):
            if other != index:
                before = np.less_equal(beside, part) if other < index else np.less(beside, part)
                rank = rank + _where(before, 1.0, 0.0)
        for place, item in enumerate(found):
            here = _each(functools.partial(apply, "equal"), rank, float(place))
            found[place] = _where(here, float(index), item)
    return cells(np.moveaxis(np.stack([_plain(item) for item in found]), 0, axis))


def _taken(array: Any, indices: Any, axis: int = -1) -> Cells:
    """One of the numbers along an axis, by a place that may be a formula."""
    parts = np.moveaxis(_plain(cells(array)), axis, 0)
    places = np.moveaxis(_plain(cells(indices)), axis, 0)
    found = cells(parts[0])
    for index, part in enumerate(parts[1:], start=1):
        found = _where(_each(functools.partial(apply, "equal"), places, float(index)), part, found)
    return cells(np.moveaxis(_plain(found), 0, axis))


def _where(condition: Any, *values: Any) -> Cells:
    if len(values) != 2:
        _refuse("numpy.where without values")
    return _each(choose_between, condition, *values)


OWN: Final[Mapping[str, Callable[..., Any]]] = {
    "where": _where,
    "clip": _clipped,
    "round": _rounded,
    "around": _rounded,
    "sort": _sorted,
    "argsort": _order_of,
    "argmax": functools.partial(_place_of, "greater"),
    "argmin": functools.partial(_place_of, "less"),
    "take_along_axis": _taken,
    "zeros_like": lambda array, *_, **__: cells(np.zeros(np.shape(array))),
    "ones_like": lambda array, *_, **__: cells(np.ones(np.shape(array))),
}
UNKNOWN: Final = frozenset(
    {"unique", "searchsorted", "nonzero", "flatnonzero", "lexsort", "interp"}
    | {"median", "percentile", "quantile", "isin", "histogram", "var", "std"}
)


class _Namespace:
    """NumPy for the code of a theory: arrays that it makes can hold formulas."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def zeros(*args: Any, **_: Any) -> Cells:
        return cells(np.zeros(*args))

    @staticmethod
    def ones(*args: Any, **_: Any) -> Cells:
        return cells(np.ones(*args))

    @staticmethod
    def full(shape: Any, value: Any, **_: Any) -> Cells:
        return _each(_lifted, np.broadcast_to(_plain(cells(value)), shape))

    @staticmethod
    def array(value: Any, *_: Any, **__: Any) -> Any:
        return (
            np.stack(value)
            if any(isinstance(item, Cells) for item in _items(value))
            else np.array(value)
        )

    asarray = array


def _items(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else ()


# --- a theory ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TheoryFormulas:
    """A theory as formulas of one trial of one participant."""

    parameters: tuple[str, ...]
    columns: tuple[str, ...]
    """Numbers of a trial that formulas read, such as ``amounts_1``: the first of the trial's ``amounts``."""
    feedback: tuple[str, ...]
    """Consequences of a response that a theory that learns reads."""
    probabilities: tuple[Formula, ...]
    """Probability of each option."""
    state: tuple[str, ...] = ()
    """Numbers that a theory that learns keeps."""
    first: tuple[Formula, ...] = ()
    """Values of the state before the first trial."""
    updated: tuple[Formula, ...] = ()
    """Values of the state after a trial, which read ``@chosen_1``, ... : 1 for the option that was chosen, 0 for
    others."""
    constants: Mapping[str, float] = field(default_factory=dict)
    """Numbers of trials that are the same in all of them, and so are numbers in the formulas."""


def formulas_of(
    functions: Mapping[str, Callable[..., Any]],
    parameters: Iterable[str],
    trials: Mapping[str, Array],
    feedback: Mapping[str, Array],
) -> TheoryFormulas:
    """Run the code of a theory on symbols; numbers that are the same in all trials are numbers in the formulas, too.

    Args:
        functions: ``choose``, and of a theory that learns ``start`` and ``learn``.
        parameters: Names.
        trials: ``(n_trials, ...)`` arrays of what is shown.
        feedback: ``(n_trials,)`` what follows each response.

    Raises:
        UnwritableError: The code cannot be written as formulas, or only with more than `MOST_NODES` operations.
    """
    _shared.cache_clear()  # formulas of other theories are not kept
    names, xp = tuple(parameters), _Namespace()
    held = {name: cells(np.full((1, 1), symbol(name), dtype=object)) for name in names}
    shown = {name: _symbols(name, array) for name, array in trials.items()}
    followed = {
        name: cells(_plain(_symbols(name, array))[None]) for name, array in feedback.items()
    }
    try:
        if "learn" not in functions:
            chosen = joined(lambda: cells(functions["choose"](held, shown, xp)))
            found = TheoryFormulas(names, (), (), _options(chosen))
        else:
            found = _learner(functions, names, held, shown, followed, xp)
    except (TypeError, ValueError, IndexError, AttributeError, KeyError) as error:
        _refuse(f"something that symbols do not support ({type(error).__name__}: {error})")
    every = list(nodes((*found.probabilities, *found.first, *found.updated)))
    if len(every) > MOST_NODES:
        _refuse(f"{len(every):,} operations in one trial (at most {MOST_NODES:,})")
    read = {str(item.args[0]) for item in every if item.op == "symbol"}
    columns = [str(cell.args[0]) for array in shown.values() for cell in _plain(array).ravel()]
    return TheoryFormulas(
        names,
        tuple(name for name in columns if name in read),
        tuple(name for name in followed if name in read),
        found.probabilities,
        found.state,
        found.first,
        found.updated,
        {
            name: float(column[0])
            for shape in (trials, feedback)
            for key, array in shape.items()
            for name, column in columns_of(key, array).items()
            if len(column) and (column == column[0]).all()
        },
    )


def _learner(
    functions: Mapping[str, Callable[..., Any]], names: tuple[str, ...], held: Mapping[str, Cells],
    shown: Mapping[str, Cells], followed: Mapping[str, Cells], xp: Any,
) -> TheoryFormulas:  # fmt: skip
    begun = joined(
        lambda: {key: cells(value) for key, value in functions["start"](held, shown, xp).items()}
    )
    state = {
        name: cells(
            np.array(
                [symbol(_place(f"@state_{name}", at)) for at in np.ndindex(value.shape)],
                dtype=object,
            ).reshape(value.shape)
        )
        for name, value in begun.items()
    }
    options = _options(joined(lambda: cells(functions["choose"](held, shown, xp, dict(state)))))
    response = cells([[[symbol(name) for name in chosen_of(len(options))]]])

    def learned() -> dict[str, Cells]:
        new = functions["learn"](held, shown, xp, dict(state), response, dict(followed))
        return {
            name: cells(np.broadcast_to(_plain(cells(new[name])), state[name].shape))
            for name in state
        }

    after = joined(learned)
    every = list(state)
    return TheoryFormulas(
        names, (), (), options,
        tuple(str(cell.args[0]) for name in every for cell in _plain(state[name]).ravel()),
        tuple(_numeric(cell) for name in every for cell in _plain(begun[name]).ravel()),
        tuple(_numeric(cell) for name in every for cell in _plain(after[name]).ravel()),
    )  # fmt: skip


def chosen_of(n_options: int) -> list[str]:
    """Symbols that are 1 for the option chosen and 0 for the others."""
    return [_place("@chosen", (option,)) for option in range(n_options)]


def _symbols(name: str, array: Array) -> Cells:
    """One trial: ``(1, ...)`` symbols, or numbers where all trials have the same."""
    found = np.empty((1, *np.shape(array)[1:]), dtype=object)
    for place in np.ndindex(found.shape[1:]):
        column = np.asarray(array)[(slice(None), *place)]
        is_same = len(column) > 0 and bool((column == column[0]).all())
        found[(0, *place)] = number(column[0]) if is_same else symbol(_place(name, place))
    return found.view(Cells)


def columns_of(name: str, array: Array) -> dict[str, Array]:
    """``(n_trials,)`` column of each number of an array of trials, by its symbol."""
    places = np.ndindex(np.shape(array)[1:])
    return {_place(name, place): np.asarray(array)[(slice(None), *place)] for place in places}


def _place(name: str, place: tuple[int, ...]) -> str:
    return "_".join([name, *(str(index + 1) for index in place)])


def _options(found: Cells) -> tuple[Formula, ...]:
    """Probability of each option from what ``choose`` returns: of every option, or of the second of two."""
    plain = [_numeric(item) for item in _plain(found).ravel()]
    if found.ndim < 3:
        if len(plain) != 1:
            _refuse("predictions of several trials from one")
        return apply("subtract", 1.0, plain[0]), plain[0]
    if len(plain) != found.shape[-1]:
        _refuse("predictions of several trials from one")
    return tuple(plain)


def nodes(formulas: Iterable[Formula]) -> Iterator[Formula]:
    """Every formula within these, each once, arguments before what is made of them."""
    seen: set[int] = set()
    stack: list[tuple[Formula, bool]] = [(item, False) for item in reversed(list(formulas))]
    while stack:
        item, done = stack.pop()
        if done:
            yield item
        elif id(item) not in seen:
            seen.add(id(item))
            stack.append((item, True))
            stack.extend((arg, False) for arg in reversed(item.args) if isinstance(arg, Formula))


def value_of(formula: Formula, values: Mapping[str, float]) -> float:
    """The number that a formula gives for numbers in place of its symbols."""
    found: dict[int, Any] = {}
    for item in nodes([formula]):
        if item.op == "number":
            found[id(item)] = item.args[0]
        elif item.op == "symbol":
            found[id(item)] = values[item.args[0]]
        else:
            args = [found[id(arg)] for arg in item.args]
            with np.errstate(all="ignore"):
                found[id(item)] = _function(item.op)(*args)
    return float(found[id(formula)])
