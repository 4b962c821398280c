"""What tasks share whose sessions are walked decision by decision, and whose decisions are read from files.

A session is one schedule of steps for all participants. What a step shows depends on what was done before; arrays of
that have the axis of draws first. All steps offer two options in an order of their own, so that there are no sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli, Trials

Array = NDArray[Any]


class WalkedDomain:
    """Decisions between two options, of which each follows from those before it."""

    sequential: bool = True
    shown_arrays: ClassVar[tuple[str, ...]]
    """Arrays of a step that people see; ``available`` and ``position`` are among them."""
    hidden_arrays: ClassVar[tuple[str, ...]]
    """Arrays of what would follow."""
    seen_arrays: ClassVar[tuple[str, ...]]
    """Arrays of what people have seen before a step, which depends on what they did."""

    def n_options(self, stimuli: Stimuli) -> int:
        """Return 2."""
        return 2

    def sizes(self, stimuli: Stimuli) -> NDArray[np.intp]:
        """Decisions are made one by one; see `experiments.task.Domain.sizes`."""
        return np.ones(len(stimuli), dtype=np.intp)

    def seen(self, arrays: Mapping[str, Array], before: Mapping[str, Array]) -> dict[str, Array]:
        """What people have seen before a step; zeros before the first."""
        nothing = np.zeros((1, len(arrays["position"])))
        return {name: before.get(name, nothing) for name in self.seen_arrays}

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """One session, whole, whatever ``n_most``."""
        raise NotImplementedError

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """One session that stands for all, which differ in what is drawn at random.

        Raises:
            StimuliError: A setting is wrong.
        """
        return self.candidates(settings, np.random.default_rng(0), 0)

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first step that no session can have."""
        names = (*self.shown_arrays, *self.hidden_arrays)
        if set(stimuli.arrays) != set(names):
            raise StimuliError(
                f"sessions have the arrays {', '.join(names)}, not {', '.join(sorted(stimuli.arrays))}."
            )
        for name in names:
            shape = (len(stimuli), 2) if name == "available" else (len(stimuli),)
            if stimuli[name].shape != shape:
                raise StimuliError(f"array {name!r} has shape {stimuli[name].shape}, not {shape}.")
        common = (
            ((stimuli["available"] == 1).all(axis=1), "both options are available"),
            (np.isfinite(stimuli["position"]), "position is a number"),
        )
        for holds, words in (*common, *self.rules(stimuli)):
            if not holds.all():
                raise StimuliError(
                    f"step {int(np.flatnonzero(~holds)[0])} of the session: {words}."
                )

    def rules(self, stimuli: Stimuli) -> Sequence[tuple[Array, str]]:
        """Mark the steps in which further rules hold, ``(n_steps,)`` each, and state each rule in words."""
        return ()

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same session: options have an order of their own."""
        return stimuli


def shown_number(stimuli: Stimuli, name: str, row: int) -> float:
    """Return what is shown at a step, 0 where it depends on what was done and that is not known."""
    return float(stimuli[name][row]) if name in stimuli.arrays else 0.0


def place_of_decision(participant: Array) -> Array:
    """``(n_rows,)`` number of each decision among those of its participant, from 0."""
    return np.asarray(pd.Series(participant).groupby(participant).cumcount())


def walked_trials(
    name: str,
    session: Stimuli,
    participant: Array,
    trial: Array,
    response: Array,
    n_people: int,
    feedback: Mapping[str, Array],
) -> Trials:
    """Decisions of a file as trials, each of which was made once.

    Args:
        name: Of the experiment.
        session: Its steps.
        participant, trial, response: ``(n_rows,)`` who decided, at which step, and what.
        n_people: Participants of the experiment.
        feedback: ``(n_rows,)`` what followed each decision, by name.
    """
    return Trials(
        experiment=name,
        stimuli=session,
        participant=participant,
        trial=trial,
        response=response,
        count=np.ones(len(response), dtype=np.int64),
        n_people=n_people,
        feedback=feedback,
    )
