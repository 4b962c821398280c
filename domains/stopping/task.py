"""Stopping: a balloon is pumped up step by step, until the participant collects what it holds or it bursts.

This is the balloon analogue risk task. Each pump adds a point to the balloon, and may burst it, so that its points are
lost; who collects keeps them. A trial is one decision, *pump* or *collect*, so that a balloon is a sequence of trials
and a burst leaves open when the participant would have collected. What participants have seen is a part of each trial:

- ``pumps``: pumps of this balloon so far;
- ``balloons``: balloons before this one; ``bursts``: how many of them burst; ``made``: the pumps that they had in all;
- ``last_burst``: 1 if the balloon before burst.

These have an axis of draws first, ``(n_draws or 1, n_sequences)``, as they depend on what was done. ``most`` is the
largest number of pumps. What follows a decision is ``burst``, ``reward`` (the points collected) and the counts above.

A session made here has a fixed number of decisions, not of balloons, as all participants make equally many. Each pump
bursts the balloon with a constant probability, or, as in Lejuez et al. (2002), so that all numbers of pumps up to the
largest are equally likely to burst it: with probability 1 / (most - pumps).

References:
    Lejuez et al. (2002), Journal of Experimental Psychology: Applied 8(2), 75-84;
    Wallsten, Pleskac & Lejuez (2005), Psychological Review 112(4), 862-880.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.settings import check_limits, refuse_unknown
from lakatos.domains.kit.walked import WalkedDomain, shown_number
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.language.family import Family
from lakatos.traces.wording import plural

Array = NDArray[Any]
MOST_STEPS = 2000
MOST_PUMPS = 1000
SHOWN = ("available", "position", "most")
"""Arrays of a step that people see; the others are what would follow."""
HIDDEN = ("luck", "burst_chance")
SEEN = ("pumps", "balloons", "made", "bursts", "last_burst")
"""Arrays of what people have seen before a step, which depends on what they did."""
FULLEST = 100.0
"""Width of the picture of a balloon that has the largest number of pumps."""


@dataclass(frozen=True)
class StoppingSettings:
    """A study's task after the checks."""

    n_steps: int = 200
    """Decisions of each participant."""
    most: int = 16
    """Largest number of pumps of a balloon."""
    burst_chance: float = 0.0
    """Probability with which each pump bursts the balloon; 0: all numbers of pumps are equally likely to burst it."""


def read_settings(settings: Mapping[str, Any]) -> StoppingSettings:
    """Read a study's settings of the space, and refuse those that make no sense.

    Raises:
        StimuliError: A setting is unknown or out of range; the message names it.
    """
    known = StoppingSettings.__dataclass_fields__
    refuse_unknown(known, settings, "stopping")
    for name, value in settings.items():
        kinds = int if known[name].type == "int" else int | float
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise StimuliError(f"setting {name} of the stopping domain cannot be {value!r}.")
    read = StoppingSettings(**settings)
    limits = {"n_steps": (1, MOST_STEPS), "most": (2, MOST_PUMPS), "burst_chance": (0, 0.99)}
    check_limits(read, limits)
    return read


def decisions(
    n_steps: int, most: float, *, luck: Array | None = None, burst_chance: float = 0.0
) -> Stimuli:
    """The steps of a session.

    Args:
        n_steps: Decisions.
        most: Largest number of pumps.
        luck: ``(n_steps,)`` numbers between 0 and 1 that decide whether a pump bursts the balloon: the larger, the
            sooner. None: unknown, as in files.
        burst_chance: See `StoppingSettings`.
    """
    return Stimuli(
        {
            "available": np.ones((n_steps, 2)),
            "position": np.arange(n_steps, dtype=np.float64),
            "most": np.full(n_steps, float(most)),
            "luck": np.zeros(n_steps) if luck is None else luck,
            "burst_chance": np.full(n_steps, float(burst_chance)),
        }
    )


def burst_probability(arrays: Mapping[str, Array], pumps: Array) -> Array:
    """Probability with which the next pump bursts a balloon that has so many."""
    left = np.maximum(arrays["most"] - pumps, 1.0)
    return np.where(arrays["burst_chance"] > 0, arrays["burst_chance"], 1 / left)


class StoppingDomain(WalkedDomain):
    """Decisions to go on or to stop."""

    name: str = "stopping"
    options: tuple[str, ...] = ("pump", "collect")
    shown_arrays = SHOWN
    hidden_arrays = HIDDEN
    seen_arrays = SEEN

    def layout(self) -> StimulusLayout:
        """Return how balloons are written as columns of a file."""
        from lakatos.domains.stopping.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.stopping.theories import FAMILY

        return FAMILY

    def shown(
        self, arrays: Mapping[str, Array], before: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """The arrays that people see, and what they have seen of this balloon and of those before."""
        return {name: arrays[name] for name in SHOWN} | self.seen(arrays, before)

    def feedback(
        self, arrays: Mapping[str, Array], shown: Mapping[str, Array], response: Array
    ) -> dict[str, Array]:
        """``burst``, ``reward``, and what was seen before the next decision; a balloon with all its pumps is kept."""
        is_pumped = np.asarray(response) == 0
        pumps = shown["pumps"] + is_pumped
        burst = is_pumped & (arrays["luck"] > 1 - burst_probability(arrays, shown["pumps"]))
        is_over = ~is_pumped | burst | (pumps >= arrays["most"])
        return {
            "burst": 1.0 * burst,
            "reward": np.where(is_over & ~burst, pumps, 0.0),
            "pumps": np.where(is_over, 0.0, pumps),
            "balloons": shown["balloons"] + is_over,
            "made": shown["made"] + np.where(is_over, pumps, 0.0),
            "bursts": shown["bursts"] + burst,
            "last_burst": np.where(is_over, 1.0 * burst, shown["last_burst"]),
        }

    def outcome_of(self, feedback: Mapping[str, float]) -> str:
        """Return what followed a decision; see `experiments.outcomes.NamesOutcomes`."""
        if feedback["burst"]:
            return "burst"
        return "" if feedback["pumps"] else "collected"

    def estimated_outcomes(
        self, trials: Trials, n_people: int, rng: np.random.Generator
    ) -> tuple[Stimuli, str]:
        """Estimate when balloons of simulated participants burst; see `experiments.outcomes.EstimatesOutcomes`.

        Raises:
            TrialsError: The bursts of the file follow none of the two laws.
        """
        from lakatos.domains.stopping.reader import estimated_bursts

        return estimated_bursts(trials, n_people, rng)

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """One session, whole, whatever ``n_most``; when balloons burst is drawn at random.

        Raises:
            StimuliError: A setting is wrong.
        """
        read = read_settings(settings)
        luck = 1 - rng.random(read.n_steps)
        return decisions(read.n_steps, read.most, luck=luck, burst_chance=read.burst_chance)

    def rules(self, stimuli: Stimuli) -> Sequence[tuple[Array, str]]:
        """See `WalkedDomain.rules`: sizes of balloons and chances of bursts."""
        most, luck, chance = stimuli["most"], stimuli["luck"], stimuli["burst_chance"]
        return (
            (
                np.isin(most, np.arange(1, MOST_PUMPS + 1)),
                f"most is a whole number from 1 to {MOST_PUMPS}",
            ),
            ((luck >= 0) & (luck <= 1), "luck is a number from 0 to 1"),
            ((chance >= 0) & (chance < 1), "burst_chance is a number from 0 to below 1"),
        )

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: sessions of the study's length with its balloons, whole."""
        read = read_settings(settings)
        alike = (stimuli["most"] == read.most) & (stimuli["burst_chance"] == read.burst_chance)
        return np.asarray(alike & (len(stimuli) == read.n_steps))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Short sessions with small and large balloons, of both laws."""
        plans = (
            {"n_steps": 16, "most": 8},
            {"n_steps": 12, "most": 2},
            {"n_steps": 20, "most": 128},
            {"n_steps": 16, "most": 30, "burst_chance": 0.1},
        )
        return [self.candidates(plan, rng, 0) for plan in plans]

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of steps that are known beforehand."""
        return {name: np.asarray(stimuli[name], dtype=np.float64) for name in ("position", "most")}

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The balloon within its largest size, and what it holds; without pumps where these are not known."""
        pumps, most = (shown_number(stimuli, name, row) for name in ("pumps", "most"))
        width = 12 + (FULLEST - 12) * (pumps / most) ** 0.5
        middle, bottom = FULLEST / 2 + 10, FULLEST + 20
        points = "1 point" if pumps == 1 else f"{pumps:g} points"
        return (
            '<div style="font-family:system-ui,sans-serif;color:#222;text-align:center">'
            f'<svg viewBox="0 0 {2 * middle:g} {bottom + 14:g}" width="220" aria-hidden="true">'
            f'<line x1="{middle:g}" y1="{bottom:g}" x2="{middle:g}" y2="{bottom + 14:g}" stroke="#555"/>'
            f"{_outline(FULLEST, bottom)} fill='none' stroke='#999' stroke-dasharray='3 3'/>"
            f"{_outline(width, bottom)} fill='#c0392b'/></svg>"
            f"<p>Balloon {shown_number(stimuli, 'balloons', row) + 1:g}: {points}</p></div>"
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a decision in a line: its balloon and the pumps so far, where these are known."""
        words = f"decision {int(stimuli['position'][row]) + 1}"
        if "pumps" not in stimuli.arrays:
            return words
        balloon, pumps = (shown_number(stimuli, name, row) for name in ("balloons", "pumps"))
        return f"{words}: balloon {balloon + 1:g} after {plural(int(pumps), 'pump')}"


def _outline(width: float, bottom: float) -> str:
    """The beginning of an ellipse that stands on a thread."""
    middle = FULLEST / 2 + 10
    return (
        f"<ellipse cx='{middle:g}' cy='{bottom - 0.55 * width:.1f}' rx='{width / 2:.1f}' "
        f"ry='{0.55 * width:.1f}'"
    )


DOMAIN = StoppingDomain()
