"""The sandbox profile in which a posterior is traced, compiled and sampled: PyMC is loaded, threads may be started.

It differs from the profile of `theories.engine.sandbox.zygote` in three system calls' worth of rights: threads (never
processes), executable memory (never a program), and the entropy that a hash table asks for. PyTensor is told to use no
C compiler, Numba to keep no files; nothing could be written anyway. A first small model is compiled and sampled before
anything untrusted arrives, so that all modules are loaded: a child can open no file.

A child is told a theory, its priors, the stimuli and the answers of all experiments. It traces the theory, compiles the
posterior's density and its gradient, and says whether both are fit for use; asked again, it samples. The answers may be
replaced between two samplings, without a new compilation.

The posterior, for units (people, or pooled experiments) u and parameters j, on the scale where a declared prior is the
standard normal distribution::

    center_j ~ Normal(0, 1)    spread_j ~ HalfNormal(1)    offset_uj ~ Normal(0, 1)
    z_uj = center_j + spread_j * offset_uj       for people, who share a population
    z_uj = offset_uj                             for pooled experiments and for a person alone: the declared prior
    parameter_uj = quantile of the declared prior j at Phi(z_uj)
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import io
import logging
import math
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from lakatos.theories.engine.sandbox import evaluator, layers, serving, wire, zygote

ENVIRONMENT = {
    "PYTENSOR_FLAGS": "cxx=,numba__cache=False,base_compiledir=.,compiledir_format=cache,traceback__limit=0",
    "MPLBACKEND": "Agg",
}
"""Variables that libraries read when they are loaded: no C compiler is run and no compiled code kept."""
N_PROBES = 16
"""Points drawn from the prior at which the gradient must be finite."""
N_LINE = 64
"""Intervals of a line along one parameter, from -2 to 2 standard deviations of its prior."""
JUMP = 0.2
"""Nats by which the density may differ from the integral of its gradient over an interval that is all but a point."""

Array = np.ndarray[Any, np.dtype[np.float64]]
Density = Callable[[Array], tuple[float, Array]]
"""Log density and its gradient at a point; NaN where either is not finite."""


def main() -> NoReturn:
    """Serve the control socket until it closes."""
    os.environ.update(
        ENVIRONMENT, HOME=os.getcwd()
    )  # its working folder is private, empty and soon deleted
    is_root = hasattr(os, "getuid") and os.getuid() == 0
    with layers.named_users():  # before anything is loaded: it needs a process with one thread
        namespaces = layers.enter_namespaces()
    zygote.command(namespaces, prepare(), serve, compiling=True, is_root=is_root)


def prepare() -> int:
    """Load PyMC by using all of it once, and return the address space in bytes that this takes."""
    zygote.prepare()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    read_no_more_files()
    importlib.import_module("scipy.special.cython_special")  # Numba looks functions up in it
    importlib.import_module("lakatos.theories.engine.sandbox.traced")
    header = {
        "source": "def choose(parameters, trials, xp):\n    return parameters['p'] + 0 * xp.exp(trials['x'])\n",
        "n_options": 2,
        "priors": [{"name": "p", "kind": "uniform", "low": 0.1, "high": 0.9}],
        "tiny": 1e-12,
        "shared": [False, False],
        "units": [2],
    }
    counts = [np.ones((2, 3, 2))]
    extra = {"values": np.array([[0.2], [0.4]]), "centering": np.array([[0.3], [0.5]])}
    fitted = FittedTheory(header, [evaluator.NamedArrays({"x": np.ones(3)})], counts, extra)
    fitted.problem(counts)
    fitted.sample({"draws": 10, "tune": 10, "chains": 2, "seed": 1}, counts)
    gc.collect()
    gc.freeze()
    return layers.address_space_bytes()


def load_library(name: str) -> Any:
    """A module whose types cannot be checked, loaded when first used: the laboratory reads this file without them."""
    return importlib.import_module(name)


TARGET_ACCEPT = 0.9
"""Acceptance at which NUTS sets its step; 0.8 left a few divergent transitions where a spread may be near 0."""


class DiscardedFile(io.BytesIO):
    """A file that is not kept."""

    name = "<graph>"


def read_no_more_files() -> None:
    """Have PyTensor read and write no files when it builds and compiles a graph: no child of this process can.

    Some of its operations read their source in C, which is never compiled here, and what it hands to Numba it first
    writes into a temporary file, for debuggers.
    """
    utils, cache, operations = map(
        load_library, ("pytensor.link.utils", "pytensor.link.numba.cache", "pytensor.link.c.op")
    )

    def no_c_code(operation: Any, files: Any) -> None:
        operation.code_sections = {"code": ""}

    operations.ExternalCOp.load_c_code = no_c_code
    os.getcwd = lambda: "/"  # Numba writes file names relative to it
    utils.NamedTemporaryFile = cache.NamedTemporaryFile = lambda **_: DiscardedFile()


def serve(sent: memoryview, room: memoryview) -> None:
    """Trace and compile the theory of the first request, then sample as often as asked; no memory is shared."""
    header, payload = serving.read_request()
    stimuli, start = [], 0
    for description in header["stimuli"]:
        arrays, start = wire.arrays_from(description, payload, start)
        stimuli.append(evaluator.NamedArrays(arrays))
    (counts, extra), start = answers_from(header, payload, start)
    begun = time.monotonic()
    try:
        fitted = FittedTheory(header, stimuli, counts, extra)
        problem = fitted.problem(counts)
    except MemoryError as error:
        serving.write_answer(serving.failure(error), status=wire.FAILED)
        return
    except BaseException as error:
        failure = serving.failure(error)
        line = f" at line {failure['line']}" if failure["line"] else ""
        serving.write_answer({"problem": f"{failure['type']}{line}: {failure['message']}"})
        return
    serving.write_answer(
        {
            "problem": problem,
            "seconds": time.monotonic() - begun,
            "n_dimensions": fitted.n_dimensions,
        }
    )
    while not problem:
        header, payload = serving.read_request()
        (counts, _), _ = answers_from(header, payload, 0)
        try:
            drawn, seconds = fitted.sample(header, counts)
            serving.write_answer({"seconds": seconds}, drawn)
        except BaseException as error:
            serving.write_answer(serving.failure(error), status=wire.FAILED)


def answers_from(
    header: Mapping[str, Any], payload: memoryview, start: int
) -> tuple[tuple[list[Array], dict[str, Array]], int]:
    """Responses of every experiment, and what else came along: see `FittedTheory`."""
    arrays, start = wire.arrays_from(header["answers"], payload, start)
    counts = [array for name, array in arrays.items() if name.isdigit()]
    return (counts, {name: array for name, array in arrays.items() if not name.isdigit()}), start


class FittedTheory:
    """A theory with its posterior's density, compiled.

    Args:
        header: ``source``, ``n_options``, ``priors`` (name, kind, low, high, center, spread of each), ``tiny`` (the
            smallest probability), ``shared`` (for each unit, whether it is ruled by the declared prior).
        stimuli: Arrays of each experiment.
        counts: Responses of each experiment: ``(n_units, n_trials, n_options)``, units in the order of experiments; or
            ``(n_cells, n_options)``, where ``stimuli`` holds a trial for each cell and ``extra`` the cells' units.
        extra: ``values``: ``(n_units, n_parameters)`` values of the parameters at which the theory is run while it is
            traced. ``centering``: ``(n_units, n_parameters)`` from 0 to 1, see `fitting.posterior`. ``unit 0``, ...:
            ``(n_cells,)`` number of each cell's unit among all units, of experiments that come as cells.

    Raises:
        Exception: The theory cannot be traced or compiled; the message says why.
    """

    def __init__(
        self,
        header: Mapping[str, Any],
        stimuli: Sequence[Any],
        counts: Sequence[Array],
        extra: Mapping[str, Array],
    ) -> None:
        nutpie, pm, pt = map(load_library, ("nutpie", "pymc", "pytensor.tensor"))
        from lakatos.theories.engine.sandbox.traced import TracedArray

        values, centering = extra["values"], extra["centering"]
        self.priors, self.shared = header["priors"], np.array(header["shared"], dtype=bool)
        n_units, n_parameters = values.shape
        program = evaluator.load(header["source"])
        if program.learn is not None:
            raise ValueError("a theory that learns from answer to answer is not traced")
        with pm.Model() as model:
            if self.shared.all():
                offset = pm.Normal("offset", 0.0, 1.0, shape=(n_units, n_parameters))
                z = offset
            else:
                center = pm.Normal("center", 0.0, 1.0, shape=n_parameters)
                spread = pm.HalfNormal("spread", 1.0, shape=n_parameters)
                ruled = ~self.shared[:, None]
                share = np.where(ruled, centering, 0.0)
                at, width = share * center, spread**share
                offset = pm.Normal("offset", at, width, shape=(n_units, n_parameters))
                z = pt.switch(ruled, center + spread / width * (offset - at), offset)
            columns = {
                prior["name"]: quantile(prior, z[:, place])
                for place, prior in enumerate(self.priors)
            }
            total, first = 0.0, 0
            for index, (trials, answers) in enumerate(zip(stimuli, counts, strict=True)):
                if f"unit {index}" in extra:
                    rows: Any = extra[f"unit {index}"].astype(np.intp)[None]
                    shape = (1, *answers.shape)
                else:
                    rows = slice(first, first + len(answers))
                    shape = answers.shape
                first += int(header["units"][index])
                parameters = evaluator.NamedArrays(
                    {
                        name: TracedArray(column[rows], values[rows, place])
                        if len(shape) > len(answers.shape)
                        else TracedArray(column[rows, None], values[rows, place, None])
                        for place, (name, column) in enumerate(columns.items())
                    }
                )
                log_p = log_probabilities(
                    program.choose(parameters, trials, np), shape, header["tiny"]
                )
                total = total + (pm.Data(f"answers_{index}", answers) * log_p).sum()
            pm.Potential("log_likelihood", total)
        self.names = [str(variable.name) for variable in model.free_RVs]
        self.compiled = nutpie.compile_pymc_model(model)
        self.n_dimensions = int(self.compiled.n_dim)

    def problem(self, counts: Sequence[Array]) -> str:
        """Explain why the gradient is of no use; empty when it is."""
        rng = np.random.default_rng(0)
        for answers in (counts, [scattered(item, rng) for item in counts]):
            if problem := self.problem_with(answers, rng):
                return problem
        return ""

    def problem_with(self, counts: Sequence[Array], rng: np.random.Generator) -> str:
        """`problem` for these answers alone."""
        density = density_of(self.with_answers(counts))
        points = rng.standard_normal((N_PROBES, self.n_dimensions))
        bad = sum(not np.isfinite(density(point)[1]).all() for point in points)
        if bad:
            return f"the gradient is not finite at {bad} of {N_PROBES} points drawn from the prior"
        for place, prior in enumerate(self.priors):
            direction, base = self.line(place)
            for start in (base, base + 0.7 * points[0] * (direction == 0)):
                if jumps(density, start, direction):
                    return (
                        f"the probabilities change in steps along {prior['name']!r}, where the gradient does not show "
                        "them"
                    )
        return ""

    def line(self, place: int) -> tuple[Array, Array]:
        """A direction that moves one parameter of all units alike, and where all parameters are at their medians."""
        n_parameters, n_units = len(self.priors), len(self.shared)
        offset = np.zeros((n_units, n_parameters))
        offset[self.shared, place] = 1.0
        pieces = {
            "offset": offset.ravel(),
            "center": np.eye(n_parameters)[place],
            "spread": np.zeros(n_parameters),
        }
        direction = np.concatenate([pieces[name] for name in self.names])
        return direction, np.zeros(self.n_dimensions)

    def with_answers(self, counts: Sequence[Array]) -> Any:
        """The compiled model for these answers."""
        return self.compiled.with_data(
            **{f"answers_{index}": answers for index, answers in enumerate(counts)}
        )

    def sample(
        self, settings: Mapping[str, Any], counts: Sequence[Array]
    ) -> tuple[list[Array], float]:
        """Sample the posterior by NUTS; returns draws and the time they took.

        Returns:
            ``(n_chains, n_draws, n)`` each of offset, center and spread (these two with n = 0 where no unit is ruled by
            a population) and of `wire.STATISTICS`; and the seconds that this took.
        """
        nutpie = load_library("nutpie")
        begun = time.monotonic()
        found = nutpie.sample(
            self.with_answers(counts),
            draws=settings["draws"],
            tune=settings["tune"],
            chains=settings["chains"],
            cores=settings.get("cores", 2),
            seed=settings["seed"],
            target_accept=TARGET_ACCEPT,
            save_warmup=False,
            progress_bar=False,
        )
        seconds = time.monotonic() - begun
        size = (settings["chains"], settings["draws"], -1)
        nothing = np.zeros((*size[:2], 0))
        drawn = [
            np.asarray(found.posterior[name], dtype=np.float64).reshape(size)
            if name in self.names
            else nothing
            for name in ("offset", "center", "spread")
        ]
        statistics = [
            np.asarray(found.sample_stats[name], dtype=np.float64) for name in wire.STATISTICS
        ]
        return [*drawn, np.stack(statistics, axis=-1)], seconds


def quantile(prior: Mapping[str, Any], z: Any) -> Any:
    """A declared prior's quantile at Phi(z), as a tensor; see `theories.language.prior.Prior.quantile`."""
    pt = load_library("pytensor.tensor")
    is_log = prior["kind"].startswith("log")
    low, high = (math.log(prior[end]) if is_log else prior[end] for end in ("low", "high"))
    u = pt.erfc(-z / math.sqrt(2)) / 2
    if prior["kind"].endswith("uniform"):
        latent = low + (high - low) * u
    else:
        below, above = (
            math.erfc(-(end - prior["center"]) / prior["spread"] / math.sqrt(2)) / 2
            for end in (low, high)
        )
        share = pt.clip(below + (above - below) * u, 1e-15, 1 - 1e-15)
        latent = pt.clip(prior["center"] + prior["spread"] * normal_quantile(share), low, high)
    return pt.exp(latent) if is_log else latent


def normal_quantile(p: Any) -> Any:
    """Inverse of the normal distribution function, as a tensor."""
    pt = load_library("pytensor.tensor")
    return -math.sqrt(2) * pt.erfcinv(2 * p)


def log_probabilities(answer: Any, shape: tuple[int, ...], tiny: float) -> Any:
    """The theory's answer as the tensor of ``(n_units, n_trials, n_options)`` log probabilities."""
    pt = load_library("pytensor.tensor")
    from lakatos.theories.engine.sandbox.traced import UntraceableError, as_tensor, valued

    n_units, n_trials, n_options = shape
    value, p = np.asarray(valued(answer)), as_tensor(answer).astype("float64")
    if n_units == 1 and value.shape in ((n_trials,), (n_trials, n_options)):
        value, p = value[None], p[None]
    if n_options == 2 and value.shape == (n_units, n_trials):
        return pt.log(pt.maximum(pt.stack([1 - p, p], axis=-1), tiny))
    if value.shape != shape:
        raise UntraceableError(
            f"`choose` returned an array of shape {value.shape}, not {shape} or {shape[:2]}"
        )
    return pt.log(pt.maximum(p, tiny))


def scattered(counts: Array, rng: np.random.Generator) -> Array:
    """Put as many responses to each trial on one option drawn at random: evenly split responses can hide a step."""
    option = rng.integers(counts.shape[-1], size=counts.shape[:-1])
    return np.asarray(np.eye(counts.shape[-1])[option] * counts.sum(axis=-1, keepdims=True))


def density_of(compiled: Any) -> Density:
    """Call the compiled density, which is meant for the sampler, from here."""
    function, n = compiled.compiled_logp_func.ctypes, int(compiled.n_dim)
    pointer = ctypes.POINTER(ctypes.c_double)

    def density(point: Array) -> tuple[float, Array]:
        point, gradient, value = np.ascontiguousarray(point), np.empty(n), np.zeros(1)
        arguments = [array.ctypes.data_as(pointer) for array in (point, gradient, value)]
        if function(n, *arguments, compiled.user_data.ctypes.data):
            return math.nan, np.full(n, math.nan)
        return float(value[0]), gradient

    return density


def jumps(density: Density, start: Array, direction: Array) -> bool:
    """Whether the density jumps along a line: by more than its gradient explains, however close one looks.

    The difference between the ends of an interval and the trapezium under the slope shrinks with the interval for a
    smooth function and one with kinks, and stays for one with steps. The worst interval is halved until it is all but a
    point; a density whose slope is zero throughout although it changes has many steps and is caught in the same way.
    """

    def at(t: float) -> tuple[float, float]:
        value, gradient = density(start + t * direction)
        return value, float(gradient @ direction)

    places = np.linspace(-2.0, 2.0, N_LINE + 1)
    values, slopes = map(np.array, zip(*map(at, places), strict=True))
    if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
        return True
    errors = np.abs(np.diff(values) - np.diff(places) * (slopes[1:] + slopes[:-1]) / 2)
    for worst in np.argsort(errors)[-3:]:
        if errors[worst] > JUMP and _jumps_within(at, places[worst], places[worst + 1]):
            return True
    return False


def _jumps_within(at: Callable[[float], tuple[float, float]], low: float, high: float) -> bool:
    """Whether some `JUMP` remains while an interval is halved around the larger error."""
    ends = (at(low), at(high))
    while high - low > 1e-8:
        middle = (low + high) / 2
        center = at(middle)
        halves = ((low, middle, ends[0], center), (middle, high, center, ends[1]))
        errors = [
            abs(b[0] - a[0] - (right - left) * (a[1] + b[1]) / 2) for left, right, a, b in halves
        ]
        if not max(errors) > JUMP:
            return False
        low, high, *ends = halves[int(np.argmax(errors))]  # type: ignore[assignment]
    return True


if __name__ == "__main__":
    main()
