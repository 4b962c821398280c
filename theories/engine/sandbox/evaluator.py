"""Work of a child of the zygote on a theory: load it, call its functions, and walk through sequences."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lakatos.theories.engine.sandbox import wire
from lakatos.theories.engine.sandbox.layout import FEW, columns

Function = Callable[..., Any]
NOTHING = memoryview(b"")
FAR = 1e-6
"""A difference of probabilities beyond rounding."""


class NamedArrays(dict[str, Any]):
    """Named arrays, read as ``arguments["name"]`` or ``arguments.name``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"there is no {name!r} here; there are {', '.join(map(repr, self))}"
            ) from None

    def __missing__(self, name: str) -> Any:
        raise KeyError(f"there is no {name!r} here; there are {', '.join(map(repr, self))}")


class ShapeError(Exception):
    """The theory's answer is no array of the right shape."""


class MixedDrawsError(ShapeError):
    """The theory answers for a draw by the draws that are asked about with it."""


class TheoryFunctions(NamedTuple):
    """The functions of a theory."""

    choose: Function
    start: Function | None
    learn: Function | None


def load(source: str) -> TheoryFunctions:
    """Run the theory's module in a fresh namespace and return its functions."""
    module = types.ModuleType("theory")
    sys.modules["theory"] = module  # dataclasses look their module up
    with np.errstate(all="ignore"):
        exec(compile(source, wire.SOURCE_NAME, "exec", dont_inherit=True), module.__dict__)
    choose, start, learn = (getattr(module, name, None) for name in TheoryFunctions._fields)
    if not callable(choose):
        raise ShapeError("the source defines no function `choose(parameters, trials, xp)`")
    if callable(start) != callable(learn):
        raise ShapeError("the source defines one of `start` and `learn` without the other")
    return TheoryFunctions(choose, start, learn)


class TheoryEvaluator:
    """A theory on one set of stimuli; remembers whether the theory takes all draws at once."""

    def __init__(
        self,
        choose: Function,
        trials: NamedArrays,
        n_options: int,
        broadcasts: bool | None = None,
    ) -> None:
        self.choose, self.trials, self.n_options = choose, trials, n_options
        self.n_trials = len(next(iter(trials.values())))
        self.broadcasts = broadcasts
        self.scalars = False

    def probabilities(self, parameters: Mapping[str, wire.AnyArray]) -> wire.AnyArray:
        """``(n_draws, n_trials, n_options)``, all draws at once if the theory can, else one at a time.

        A first answer to several draws is believed only if the first and the last draw, asked alone, say the same.
        """
        n_draws = len(next(iter(parameters.values())))
        if n_draws == 1:
            return self.alone(parameters, 0)
        if self.broadcasts is not False:
            try:
                together = self.ask(
                    {name: values[:, None] for name, values in parameters.items()}, n_draws
                )
                if self.broadcasts is None:
                    self.broadcasts = all(
                        agree(together[draw : draw + 1], self.alone(parameters, draw), draw)
                        for draw in (0, n_draws - 1)
                    )
                if self.broadcasts:
                    return together
            except (MemoryError, MixedDrawsError):
                raise
            except Exception:
                pass  # one at a time it either works, or says what is wrong in simpler terms
        alone = joined([self.alone(parameters, draw) for draw in range(n_draws)])
        self.broadcasts = False
        return alone

    def alone(self, parameters: Mapping[str, wire.AnyArray], draw: int) -> wire.AnyArray:
        """One draw, as arrays ``(1, 1)``; as plain numbers if the theory takes these only, as `float` and `math` do."""
        if not self.scalars:
            try:
                return self.ask(
                    {name: values[draw : draw + 1, None] for name, values in parameters.items()}, 1
                )
            except TypeError as error:
                first = error
        try:
            answer = self.ask({name: values[draw] for name, values in parameters.items()}, 1)
        except Exception:
            if self.scalars:
                raise
            raise first from None
        self.scalars, self.broadcasts = True, False
        return answer

    def ask(self, parameters: Mapping[str, Any], n_draws: int) -> wire.AnyArray:
        """Call the theory once, with the global generator always in the same state."""
        np.random.seed(0)  # noqa: NPY002
        with np.errstate(all="ignore"):
            answer = self.choose(NamedArrays(parameters), self.trials, np)
        return shaped(answer, n_draws, self.n_trials, self.n_options)


class SequenceWalk:
    """A theory on its way through people's sequences, one step at a time, with all draws at once if it can.

    That the theory takes all draws at once is believed only if, throughout the first walk, the first and the last draw
    walked alone say the same. If it cannot, all that was walked so far is walked again one draw at a time.

    In a ``paired`` walk every draw has one sequence of its own: parameters are ``(1, n_sequences)``.
    """

    def __init__(
        self,
        program: TheoryFunctions,
        parameters: Mapping[str, wire.AnyArray],
        n_options: int,
        broadcasts: bool | None,
        paired: bool = False,
    ) -> None:
        self.program, self.parameters, self.n_options, self.paired = (
            program,
            parameters,
            n_options,
            paired,
        )
        self.n_draws = len(next(iter(parameters.values())))
        self.broadcasts = broadcasts
        self.past: list[dict[str, Any]] = []
        self.strands: dict[int | None, DrawStrand] = {}
        if self.n_draws > 1 and broadcasts is not False:
            together = {
                name: values[None] if paired else values[:, None]
                for name, values in parameters.items()
            }
            self.strands[None] = DrawStrand(program, together)
        watched = {0, self.n_draws - 1} if broadcasts is None else set()
        self.strands.update(
            {
                draw: self.alone(draw)
                for draw in watched or (() if self.strands else range(self.n_draws))
            }
        )

    def step(
        self,
        trials: Mapping[str, wire.AnyArray],
        by_draw: Mapping[str, wire.AnyArray],
        response: Mapping[str, wire.AnyArray],
        feedback: Mapping[str, wire.AnyArray],
    ) -> wire.AnyArray:
        """``(n_draws, n_sequences, n_options)``: what is chosen now, after learning from the step before."""
        now = {"trials": trials, "by_draw": by_draw, "response": response, "feedback": feedback}
        if None not in self.strands:
            return self.one_by_one(now)
        try:
            everything = (slice(None), slice(None))
            together = self.strands[None].advance(
                now, everything, 1 if self.paired else self.n_draws, self.n_options
            )
            watched = [draw for draw in self.strands if draw is not None]
            same = all(
                agree(together[self.part(draw)], self.ahead(draw, now), draw) for draw in watched
            )
        except MixedDrawsError:
            # In a paired walk people stand where others have sequences, and each alone is right all the same.
            if not self.paired:
                raise
            same = False
        except MemoryError:
            raise
        except Exception:
            if self.broadcasts:
                raise
            same = False  # one at a time it either works, or says what is wrong in simpler terms
        if same:
            if self.strands.keys() != {None}:
                self.past.append(now)
            return together
        self.broadcasts = False
        self.strands = {draw: self.alone(draw) for draw in range(self.n_draws)}
        for before in self.past:
            self.one_by_one(before)
        return self.one_by_one(now)

    def one_by_one(self, now: Mapping[str, Any]) -> wire.AnyArray:
        """Ask for each draw alone, where a theory does not broadcast."""
        return joined(
            [self.ahead(draw, now) for draw in range(self.n_draws)], axis=1 if self.paired else 0
        )

    def ahead(self, draw: int, now: Mapping[str, Any]) -> wire.AnyArray:
        """Take one draw a step further."""
        return self.strands[draw].advance(now, self.part(draw), 1, self.n_options)

    def part(self, draw: int) -> tuple[slice, slice]:
        """Return where one draw is in arrays of draws and sequences."""
        own, every = slice(draw, draw + 1), slice(None)
        return (every, own) if self.paired else (own, every)

    def alone(self, draw: int) -> DrawStrand:
        """One draw at the beginning."""
        return DrawStrand(
            self.program,
            {name: values[draw : draw + 1, None] for name, values in self.parameters.items()},
        )


class DrawStrand:
    """Some draws of a theory, with what they have learned."""

    def __init__(self, program: TheoryFunctions, parameters: Mapping[str, Any]) -> None:
        self.program, self.parameters = program, NamedArrays(parameters)
        self.state: Any = None
        self.trials: NamedArrays | None = None
        self.many = False
        """Whether there are so many draws and sequences that `theories.engine.sandbox.layout` pays."""

    def advance(
        self, now: Mapping[str, Any], part: tuple[slice, slice], n_draws: int, n_options: int
    ) -> wire.AnyArray:
        """Learn from the step before and choose at this one, which concerns ``part`` of the draws and sequences."""
        choose, start, learn = self.program
        draws, sequences = part

        def own(arrays: Mapping[str, wire.AnyArray]) -> NamedArrays:
            parts = {
                name: array[:, sequences] if len(array) == 1 else array[draws, sequences]
                for name, array in arrays.items()
            }
            long = [
                name
                for name, part in parts.items()
                if self.many and part.shape[0] * part.shape[1] >= FEW
            ]
            return NamedArrays(parts | {name: columns(parts[name]) for name in long})

        shown = {name: array[sequences] for name, array in now["trials"].items()}
        n_sequences = len(next(iter(shown.values())))
        if self.trials is None and n_draws * n_sequences >= FEW:
            self.many = True
            self.parameters = NamedArrays(
                {name: columns(values) for name, values in self.parameters.items()}
            )
        trials = NamedArrays({**shown, **own(now["by_draw"])})
        np.random.seed(0)  # noqa: NPY002
        with np.errstate(all="ignore"):
            if start is None or learn is None:
                answer = choose(self.parameters, trials, np)
            else:
                if self.trials is None:
                    self.state = start(self.parameters, trials, np)
                else:
                    response = own(now["response"])["response"]
                    self.state = learn(
                        self.parameters, self.trials, np, self.state, response, own(now["feedback"])
                    )
                self.trials = trials
                answer = choose(self.parameters, trials, np, self.state)
        # Before anything was learned an answer may be the same for all draws or all people.
        values = np.asarray(answer)
        if values.ndim in (2, 3) and all(
            size in (1, wanted)
            for size, wanted in zip(values.shape, (n_draws, n_sequences), strict=False)
        ):
            answer = np.broadcast_to(values, (n_draws, n_sequences, *values.shape[2:]))
        return shaped(answer, n_draws, n_sequences, n_options)


def shaped(answer: Any, n_draws: int, n_trials: int, n_options: int) -> wire.AnyArray:
    """The answer as float64, or a `ShapeError` that says what is wrong.

    Returns:
        ``(n_draws, n_trials, n_options)``, or ``(n_draws, n_trials)`` of the second of two options as it was given.
    """
    try:
        values = np.asarray(answer)
    except ValueError:
        raise ShapeError("`choose` returned lists of unequal length") from None
    if values.dtype.kind not in "biuf":
        raise ShapeError(
            f"`choose` returned {type(answer).__name__} of dtype {values.dtype}, not numbers"
        )
    values = values.astype(np.float64, copy=False)
    if n_draws == 1 and values.shape in ((n_trials,), (n_trials, n_options)):
        values = values[None]
    if n_options == 2 and values.shape == (n_draws, n_trials):
        return values
    if values.shape != (n_draws, n_trials, n_options):
        wanted = f"{(n_draws, n_trials, n_options)} = (n_draws, n_trials, n_options)"
        if n_options == 2:
            wanted += f" or {(n_draws, n_trials)}, the probability of the second option"
        raise ShapeError(f"`choose` returned an array of shape {values.shape}; it must be {wanted}")
    return values


def whole(values: wire.AnyArray) -> wire.AnyArray:
    """`shaped` probabilities with those of the first option, if they were left out."""
    return np.stack([1 - values, values], axis=-1) if values.ndim == 2 else values


def joined(parts: Sequence[wire.AnyArray], axis: int = 0) -> wire.AnyArray:
    """`shaped` probabilities of some draws after those of others; of some sequences, with ``axis`` 1."""
    alike = len({part.ndim for part in parts}) == 1
    return np.concatenate(parts if alike else [whole(part) for part in parts], axis=axis)


def agree(together: wire.AnyArray, alone: wire.AnyArray, draw: int) -> bool:
    """Whether two `shaped` probabilities of a draw are the same, rounding aside.

    Raises:
        MixedDrawsError: They differ by more than any rounding.
    """
    if together.shape == alone.shape and (together == alone).all():
        return True
    among, single = whole(together), whole(alone)
    gap = np.abs(among - single).max(initial=0.0)
    if gap > FAR:
        raise MixedDrawsError(
            f"draw {draw} is answered otherwise among other draws than alone, by up to {gap:.3g}; "
            "combine arrays along the first axis only by broadcasting, take no mean, maximum or count "
            "over it, draw no random numbers, and keep nothing between calls"
        )
    return bool(np.allclose(among, single, 1e-6, 1e-9, equal_nan=True))
