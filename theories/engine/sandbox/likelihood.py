"""The sandbox profile in which a likelihood function of one participant's columns is called, as often as requested."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from lakatos.theories.engine.sandbox import layers, serving, wire, zygote
from lakatos.theories.engine.sandbox.evaluator import ShapeError
from lakatos.theories.engine.sandbox.shared import kept_bytes


def main() -> NoReturn:
    """Serve the control socket until it closes."""
    namespaces = layers.enter_namespaces()
    zygote.command(namespaces, zygote.prepare(), serve)


def serve(sent: memoryview, room: memoryview) -> None:
    """Answer for the function of the first request, which also brings the columns of all participants."""
    header, payload = serving.read_request(sent, keep=True)
    sent = sent[kept_bytes(len(payload)) :]
    people, start = [], 0
    for description in header["people"]:
        columns, start = wire.arrays_from(description, payload, start)
        people.append(columns)
    try:
        function = LikelihoodFunction(header)
    except BaseException as error:
        serving.write_answer(serving.failure(error), status=wire.FAILED)
        return
    serving.write_answer({})
    while True:
        header, payload = serving.read_request(sent)
        try:
            given, start = wire.arrays_from(header["vectors"], payload)
            columns, _ = wire.arrays_from(header["columns"], payload, start)
            columns = columns or people[header["person"]]
            vectors, function.seed = given["vectors"], header["seed"]
            if header["simulate"]:
                made = function.simulate(vectors[0], columns)
                serving.write_answer({"names": [*made]}, [*made.values()], room=room)
                continue
            values = function.together if header["together"] else function.one_by_one
            serving.write_answer({}, [values(vectors, columns)], room=room)
        except BaseException as error:
            serving.write_answer(serving.failure(error), status=wire.FAILED)


class LikelihoodFunction:
    """A function of one participant's columns and parameters, with the roles of its arguments."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        module = types.ModuleType("likelihood")
        sys.modules["likelihood"] = module
        code = compile(header["source"], wire.SOURCE_NAME, "exec", dont_inherit=True)
        with np.errstate(all="ignore"):
            exec(code, module.__dict__)
        self.function = module.__dict__[header["function"]]
        self.simulation = module.__dict__.get("simulate")
        self.roles: list[tuple[str, str]] = [(name, role) for name, role in header["roles"]]
        self.responses = frozenset(header["responses"])
        self.names: list[str] = header["parameters"]
        self.seed = 0

    def one_by_one(
        self, vectors: wire.AnyArray, columns: Mapping[str, wire.AnyArray]
    ) -> wire.AnyArray:
        """``(n_vectors, 1 or n_trials)`` what the function returns for each vector of parameters."""
        n_trials = len(next(iter(columns.values())))
        return np.stack([_row(self.call(vector, columns), n_trials) for vector in vectors])

    def together(
        self, vectors: wire.AnyArray, columns: Mapping[str, wire.AnyArray]
    ) -> wire.AnyArray:
        """The same from one call, in which each parameter is an array ``(n_vectors, 1)``."""
        n_vectors, n_trials = len(vectors), len(next(iter(columns.values())))
        values = np.asarray(self.call(vectors.T[:, :, None], columns), dtype=np.float64)
        if values.shape not in ((n_vectors,), (n_vectors, 1), (n_vectors, n_trials)):
            raise ShapeError(
                f"for {n_vectors} vectors of parameters the function returned {values.shape}"
            )
        return np.ascontiguousarray(values.reshape(n_vectors, -1))

    def call(self, vector: wire.AnyArray, columns: Mapping[str, wire.AnyArray]) -> Any:
        """Call the function; it may change its arguments, which are copies."""
        np.random.seed(self.seed)  # noqa: NPY002
        with np.errstate(all="ignore"):
            return self.function(*self.arguments(self.roles, vector, columns).values())

    def arguments(
        self,
        roles: Sequence[tuple[str, str]],
        vector: wire.AnyArray,
        columns: Mapping[str, wire.AnyArray],
    ) -> dict[str, Any]:
        """Values of some arguments, in their order."""
        place = {name: number for number, name in enumerate(self.names)}
        given: dict[str, Any] = {}
        for name, role in roles:
            if role == wire.COLUMN:
                given[name] = columns[name].copy()
            elif role == wire.VECTOR:
                given[name] = vector.copy()
            else:
                value = vector[place[name]]
                given[name] = float(value) if np.ndim(value) == 0 else value.copy()
        return given

    def simulate(
        self, vector: wire.AnyArray, columns: Mapping[str, wire.AnyArray]
    ) -> dict[str, wire.AnyArray]:
        """Columns of a simulated participant: the responses, and what else `simulate` returns by name."""
        if not callable(self.simulation):
            raise ShapeError("the file has no function `simulate`")
        code = self.simulation.__code__
        wanted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        roles = [item for item in self.roles if item[0] in wanted]
        given = self.arguments(roles, vector, columns)
        if "rng" in wanted:
            given["rng"] = np.random.default_rng(self.seed)
        np.random.seed(self.seed)  # noqa: NPY002
        made = self.simulation(**given)
        if not isinstance(made, Mapping):
            made = dict.fromkeys(self.responses, made)
        return {name: np.asarray(values, dtype=np.float64) for name, values in made.items()}


def _row(returned: Any, n_trials: int) -> wire.AnyArray:
    """Convert the result of one call to ``(1,)`` or ``(n_trials,)``."""
    try:
        values = np.asarray(returned)
        kind = (
            f"an array of shape {values.shape} of {values.dtype}"
            if values.ndim
            else f"{values.dtype}"
        )
    except ValueError:  # of parts of different lengths
        values, kind = np.empty(0, object), type(returned).__name__
    if values.dtype.kind not in "biuf" or (values.size != 1 and values.shape != (n_trials,)):
        raise ShapeError(
            f"the function returned {kind}; it must return one number, or a number for each of {n_trials} trials"
        )
    return values.astype(np.float64).reshape(-1)


if __name__ == "__main__":
    main()
