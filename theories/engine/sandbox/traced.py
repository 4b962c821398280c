"""Arrays that write down what is done to them: NumPy code run on them once leaves a PyTensor graph behind.

A theory is written for NumPy, with `==`, array methods and ``numpy`` itself in place of ``xp`` where its author liked.
A namespace of PyTensor functions would misread such code (two PyTensor variables compare by identity), so tracing goes
through NumPy's own protocols for foreign arrays instead. Every traced array also carries its value at one draw: shapes
are known exactly, and what needs a value (a branch, an index, an assignment in place) is refused by name.

References:
    NumPy enhancement proposals 13 (``__array_ufunc__``) and 18 (``__array_function__``).
"""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
from scipy import special

pt: Any = importlib.import_module("pytensor.tensor")  # its types cannot be checked

Tensor = Any
"""A PyTensor variable."""


class UntraceableError(Exception):
    """The code does something to a traced array that no gradient can be taken through."""


class TracedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of which both a value and the graph that computes it are known."""

    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tensor: Tensor, value: Any) -> None:
        self.tensor, self.value = tensor, np.asarray(value)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        if method == "reduce" and ufunc in REDUCTIONS:
            return apply(REDUCTIONS[ufunc], inputs, kwargs)
        # `a += b` on a traced array binds a new one; written into any other array, the graph would be lost
        if method != "__call__" or kwargs or (out is not None and out[0] is not inputs[0]):
            refuse(
                f"numpy.{ufunc.__name__}.{method} with {', '.join(kwargs) or 'another array to write into'}"
            )
        return apply(ufunc, inputs, {})

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        if function in OF_SHAPE:
            return function(*valued(args), **valued(kwargs))
        return apply(function, args, kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("turning a parameter into a plain array")

    def __getitem__(self, index: Any) -> TracedArray:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, TracedArray) and part.value.dtype == bool for part in parts):
            refuse("selecting with a condition on a parameter; use `xp.where`")
        return TracedArray(self.tensor[as_index(index)], self.value[valued(index)])

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        refuse("assigning in place")

    def __bool__(self) -> NoReturn:
        refuse("branching on a parameter; use `xp.where`")

    __float__ = __int__ = __index__ = __complex__ = __bool__

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[TracedArray]:
        return (self[place] for place in range(len(self)))

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    dtype = property(lambda self: self.value.dtype)
    T = property(lambda self: np.transpose(self))

    def astype(self, dtype: Any, **_: Any) -> TracedArray:
        """The same numbers in another type."""
        value = self.value.astype(dtype)
        return TracedArray(self.tensor.astype(value.dtype.name), value)

    def reshape(self, *shape: Any, **_: Any) -> TracedArray:
        """The same numbers in another shape."""
        value = self.value.reshape(*shape)
        return TracedArray(self.tensor.reshape(value.shape), value)

    def copy(self) -> TracedArray:
        """The array itself, since it never changes."""
        return self

    def ravel(self) -> TracedArray:
        """The array with all its elements in one dimension."""
        return self.reshape(-1)

    flatten = ravel


def refuse(what: str) -> NoReturn:
    """Say what cannot be traced."""
    raise UntraceableError(f"{what} has no gradient")


def valued(item: Any) -> Any:
    """The same arguments with values in place of traced arrays."""
    if isinstance(item, TracedArray):
        return item.value
    if isinstance(item, tuple | list):
        return type(item)(map(valued, item))
    return {name: valued(part) for name, part in item.items()} if isinstance(item, dict) else item


def as_tensor(item: Any) -> Tensor:
    """A PyTensor variable in NumPy's own type; PyTensor would give plain numbers the smallest one that holds them."""
    return item.tensor if isinstance(item, TracedArray) else pt.as_tensor_variable(np.asarray(item))


def as_index(index: Any) -> Any:
    """An index with tensors in place of traced arrays."""
    if isinstance(index, tuple):
        return tuple(map(as_index, index))
    return index.tensor if isinstance(index, TracedArray) else index


def apply(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Call a function of NumPy on the values, and its counterpart on the graphs."""
    with np.errstate(all="ignore"):
        value = function(*valued(tuple(args)), **valued(dict(kwargs)))
    if function in ELEMENTWISE:
        tensors = [as_tensor(item) for item in args]
        if value.dtype != bool:  # PyTensor adds truth values as such
            tensors = [
                item.astype(value.dtype.name) if item.dtype == "bool" else item for item in tensors
            ]
        tensor = ELEMENTWISE[function](*tensors)
    elif function in POINTWISE_WITH_ZEROS:
        tensor = POINTWISE_WITH_ZEROS[function](*args)
    elif function in STRUCTURAL:
        tensor = STRUCTURAL[function](value, *args, **kwargs)
    else:
        refuse(
            f"{getattr(function, '__module__', None) or 'numpy'}.{getattr(function, '__name__', function)}"
        )
    if tensor.type.ndim != np.ndim(value):
        refuse(f"numpy.{function.__name__} in this form")
    return TracedArray(tensor, value)


def power(base: Any, exponent: Any) -> Tensor:
    """``base ** exponent`` whose gradient is 0 where the base is 0: there, no parameter is in play."""
    x, y = as_tensor(base).astype("float64"), as_tensor(exponent)
    if not isinstance(exponent, TracedArray) and np.ndim(exponent) == 0 and exponent == 2:
        return x**2
    if not (np.asarray(valued(base)) == 0).any():
        return x**y
    nought = pt.eq(x, 0)
    return pt.switch(nought, pt.switch(pt.eq(y, 0), 1.0, 0.0), pt.switch(nought, 1.0, x) ** y)


def root(base: Any) -> Tensor:
    """Square root, with a gradient of 0 at 0."""
    x = as_tensor(base).astype("float64")
    nought = pt.eq(x, 0)
    return pt.switch(nought, 0.0, pt.sqrt(pt.switch(nought, 1.0, x)))


def normal_log_cdf(x: Tensor) -> Tensor:
    """Log of the normal distribution function, exact in the lower tail."""
    y = x / math.sqrt(2)
    low = pt.log(pt.erfcx(-pt.minimum(y, 0.0)) / 2) - pt.minimum(y, 0.0) ** 2
    return pt.switch(x < -1, low, pt.log1p(-pt.erfc(pt.maximum(y, -1.0)) / 2))


def along(name: str) -> Callable[..., Tensor]:
    """A reduction of PyTensor with NumPy's arguments."""

    def reduced(
        value: Any,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
    ) -> Any:
        x = as_tensor(a)
        if x.dtype == "bool" and name not in ("any", "all"):
            x = x.astype("int64")
        return getattr(pt, name)(x, axis=axis, keepdims=bool(keepdims))

    return reduced


def place_of(name: str) -> Callable[..., Tensor]:
    """Make the traced counterpart of ``argmax`` or ``argmin``."""
    return lambda value, a, axis=None, out=None, keepdims=False: getattr(pt, name)(
        as_tensor(a), axis=axis, keepdims=bool(keepdims)
    )


def axes_after(function: Callable[..., Any], a: Any, args: Any, kwargs: Any) -> tuple[int, ...]:
    """Find where a rearrangement of axes puts them, on an array whose axes have different lengths."""
    shape = tuple(range(2, 2 + np.ndim(valued(a))))
    moved: tuple[int, ...] = function(np.empty(shape, dtype=bool), *args, **kwargs).shape
    return tuple(shape.index(length) for length in moved)


def rearranged(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make the traced counterpart of ``transpose``, ``swapaxes`` or ``moveaxis``."""
    return lambda value, a, *args, **kwargs: as_tensor(a).transpose(
        *axes_after(function, a, args, kwargs)
    )


def clipped(value: Any, a: Any, a_min: Any = None, a_max: Any = None, **limits: Any) -> Tensor:
    """``clip``, with either limit left out."""
    low, high = limits.get("min", a_min), limits.get("max", a_max)
    x = as_tensor(a)
    x = x if low is None else pt.maximum(x, as_tensor(low))
    return x if high is None else pt.minimum(x, as_tensor(high))


def chosen(value: Any, condition: Any, *options: Any) -> Tensor:
    """Traced counterpart of ``where``, with both alternatives given."""
    if len(options) != 2:
        refuse("numpy.where without alternatives")
    yes, no = (as_tensor(item).astype(value.dtype.name) for item in options)
    return pt.switch(as_tensor(condition), yes, no)


def _sequence(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda value, arrays, axis=0, **_: function(
        [as_tensor(item) for item in arrays], axis=axis
    )


def _plain(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda value, a, *args, **kwargs: function(as_tensor(a), *args, **kwargs)


def _reshaped(value: Any, a: Any, *_: Any, **__: Any) -> Tensor:
    return as_tensor(a).reshape(value.shape)


ELEMENTWISE: dict[Any, Callable[..., Tensor]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: pt.true_div,
    np.floor_divide: pt.int_div,
    np.remainder: pt.mod,
    np.negative: operator.neg,
    np.positive: lambda x: x,
    np.absolute: pt.abs,
    np.fabs: pt.abs,
    np.sign: pt.sign,
    np.exp: pt.exp,
    np.exp2: pt.exp2,
    np.expm1: pt.expm1,
    np.log: pt.log,
    np.log2: pt.log2,
    np.log10: pt.log10,
    np.log1p: pt.log1p,
    np.logaddexp: pt.logaddexp,
    np.square: pt.sqr,
    np.reciprocal: pt.reciprocal,
    np.sin: pt.sin,
    np.cos: pt.cos,
    np.tan: pt.tan,
    np.arctan: pt.arctan,
    np.sinh: pt.sinh,
    np.cosh: pt.cosh,
    np.tanh: pt.tanh,
    np.floor: pt.floor,
    np.ceil: pt.ceil,
    np.rint: lambda x: pt.round(x, mode="half_to_even"),
    np.maximum: pt.maximum,
    np.minimum: pt.minimum,
    np.less: pt.lt,
    np.less_equal: pt.le,
    np.greater: pt.gt,
    np.greater_equal: pt.ge,
    np.equal: pt.eq,
    np.not_equal: pt.neq,
    np.logical_and: lambda x, y: pt.and_(x.astype("bool"), y.astype("bool")),
    np.logical_or: lambda x, y: pt.or_(x.astype("bool"), y.astype("bool")),
    np.logical_xor: lambda x, y: pt.xor(x.astype("bool"), y.astype("bool")),
    np.logical_not: lambda x: pt.eq(x, 0),
    np.bitwise_and: pt.and_,
    np.bitwise_or: pt.or_,
    np.bitwise_xor: pt.xor,
    np.invert: pt.invert,
    np.isnan: pt.isnan,
    np.isinf: pt.isinf,
    np.isfinite: lambda x: pt.invert(pt.or_(pt.isnan(x), pt.isinf(x))),
    np.matmul: pt.matmul,
    special.expit: pt.sigmoid,
    special.log_expit: lambda x: -pt.softplus(-x),
    special.logit: lambda x: pt.log(x) - pt.log1p(-x),
    special.ndtr: lambda x: pt.erfc(-x / math.sqrt(2)) / 2,
    special.log_ndtr: normal_log_cdf,
    special.erf: pt.erf,
    special.erfc: pt.erfc,
    special.gammaln: pt.gammaln,
    special.xlogy: lambda x, y: pt.switch(
        pt.eq(x, 0), 0.0, x * pt.log(pt.switch(pt.eq(x, 0), 1.0, y))
    ),
}
POINTWISE_WITH_ZEROS: dict[Any, Callable[..., Tensor]] = {
    np.power: power,
    np.float_power: power,
    np.sqrt: root,
}
REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
STRUCTURAL: dict[Any, Callable[..., Tensor]] = {
    **{
        getattr(np, name): along(name)
        for name in ("sum", "mean", "prod", "max", "min", "any", "all", "var", "std")
    },
    np.argmax: place_of("argmax"),
    np.argmin: place_of("argmin"),
    np.where: chosen,
    np.clip: clipped,
    np.argsort: lambda value, a, axis=-1, **_: pt.argsort(
        as_tensor(a), axis=axis, kind="mergesort"
    ),
    np.sort: lambda value, a, axis=-1, **_: pt.sort(as_tensor(a), axis=axis),
    np.cumsum: _plain(pt.cumsum),
    np.cumprod: _plain(pt.cumprod),
    np.diff: _plain(pt.diff),
    np.stack: _sequence(pt.stack),
    np.concatenate: _sequence(pt.concatenate),
    np.transpose: rearranged(np.transpose),
    np.swapaxes: rearranged(np.swapaxes),
    np.moveaxis: rearranged(np.moveaxis),
    np.reshape: _reshaped,
    np.ravel: _reshaped,
    np.squeeze: _reshaped,
    np.expand_dims: _reshaped,
    np.broadcast_to: lambda value, a, *_, **__: pt.broadcast_to(as_tensor(a), value.shape),
    np.take_along_axis: lambda value, a, indices, axis=-1: pt.take_along_axis(
        as_tensor(a), as_tensor(indices), axis
    ),
    np.take: lambda value, a, indices, axis=None, **_: pt.take(
        as_tensor(a), as_tensor(indices), axis=axis
    ),
    np.dot: lambda value, a, b, out=None: pt.dot(as_tensor(a), as_tensor(b)),
    np.tensordot: lambda value, a, b, axes=2: pt.tensordot(as_tensor(a), as_tensor(b), axes=axes),
    np.einsum: lambda value, pattern, *arrays, **_: pt.einsum(pattern, *map(as_tensor, arrays)),
    np.outer: lambda value, a, b, out=None: pt.outer(as_tensor(a).ravel(), as_tensor(b).ravel()),
    np.repeat: lambda value, a, repeats, axis=None: pt.repeat(as_tensor(a), repeats, axis=axis),
    np.tile: lambda value, a, reps: pt.tile(as_tensor(a), reps),
    np.copy: _plain(lambda x, *_, **__: x),
}
"""Counterparts that also get the value, for its shape and type."""
OF_SHAPE = frozenset(
    (np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.shape, np.ndim, np.size)
)
"""Functions of the shape alone."""


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: function(self, *args, **kwargs)


# fmt: off
for _name in ("sum", "mean", "prod", "max", "min", "any", "all", "var", "std", "argmax", "argmin", "argsort", "cumsum",
              "cumprod", "clip", "transpose", "swapaxes", "squeeze", "take", "dot", "repeat"):
    setattr(TracedArray, _name, _method(getattr(np, _name)))
# fmt: on
