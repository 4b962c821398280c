"""Perception: participants decide as fast as they can to which of two categories a stimulus belongs.

Such as the direction of moving dots, the brighter of two patches, the larger of two numbers of dots, or whether letters
are a word. The response is right or wrong, together with a bin of its time. A trial is how strong the evidence in the
stimulus is, as a share of the strongest stimulus (coherence, contrast, difference or an ordered level of difficulty),
and which response is right; without evidence (strength 0) one of the two counts as right. Turning the sides of a trial
means that the other response is right.

References:
    Britten, Shadlen, Newsome & Movshon (1992), Journal of Neuroscience 12, 4745-4765 (moving dots);
    Ratcliff & Rouder (1998), Psychological Science 9, 347-356 (brightness);
    Ratcliff, Gomez & McKoon (2004), Psychological Review 111, 159-182 (words).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.dots import dots
from lakatos.domains.kit.settings import refuse_unknown
from lakatos.domains.kit.timed_domain import TimedDomain, TrialNumber, check_window
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import Stimuli
from lakatos.experiments.variation import TrialVariation, varied
from lakatos.theories.language.family import Family

Array = NDArray[Any]
SHORTEST, LONGEST = 0.02, 300.0
"""Seconds between which a study's window may lie."""
WIDEST, MOST_BINS = 1.12, 48
"""Ratio of the edges of a bin, as far as so many bins allow."""
STRONGER = 1.25
"""Factor by which a stimulus becomes stronger where theories are tested on it."""


def edges_within(low_s: float, high_s: float) -> tuple[float, ...]:
    """Edges of bins for a window of times, each as many times the one before, to three digits.

    Raises:
        TrialsError: It is no window, or too narrow.
    """
    check_window(low_s, high_s, SHORTEST, LONGEST)
    n_bins = min(ceil(log(high_s / low_s) / log(WIDEST)), MOST_BINS)
    inside = (float(f"{edge:.3g}") for edge in np.geomspace(low_s, high_s, n_bins + 1)[1:-1])
    return (low_s, *inside, high_s)


FASTEST, SLOWEST = 0.2, 5.0
"""Seconds; who is faster has not seen the stimulus, and who is slower did something else."""
EDGES = edges_within(FASTEST, SLOWEST)
NUMBERS: Mapping[str, TrialNumber] = {
    "strength": TrialNumber("evidence in the stimulus as a share of the strongest one, 0 to 1"),
    "side": TrialNumber("the first (-1) or the second response (1) is right", (-1, 1)),
}


@dataclass(frozen=True)
class PerceptionSettings:
    """A space of trials: every strength with each of the two responses being the right one."""

    strengths: tuple[float, ...] = (0.1, 0.2, 0.4, 0.7, 1.0)
    """Strengths of stimuli, from 0 to 1."""


def read_settings(settings: Mapping[str, Any]) -> PerceptionSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or wrong; the message says which and what there is.
        EmptyDesignSpaceError: There are no strengths.
    """
    refuse_unknown(PerceptionSettings.__dataclass_fields__, settings, "perception")
    given = settings.get("strengths", PerceptionSettings.strengths)
    is_list = isinstance(given, list | tuple) and all(type(item) in (int, float) for item in given)
    if not is_list or not all(0 <= item <= 1 for item in given):
        raise StimuliError(
            f"setting strengths of the perception domain cannot be {given!r}; give numbers from 0 to 1."
        )
    if not given:
        raise EmptyDesignSpaceError("the setting strengths of the perception domain is empty.")
    return PerceptionSettings(tuple(sorted({float(item) for item in given})))


def perception_trials(strength: Sequence[float] | Array, side: Sequence[float] | Array) -> Stimuli:
    """Trials from their numbers, see `NUMBERS`."""
    return Stimuli(
        {
            "strength": np.asarray(strength, dtype=np.float64),
            "side": np.asarray(side, dtype=np.float64),
        }
    )


class PerceptionDomain(TimedDomain):
    """A stimulus of some strength is assigned to one of two categories."""

    kind = "perception"
    usual_edges = EDGES
    numbers = NUMBERS
    edges_within = staticmethod(edges_within)
    measured = ("strength",)
    compared_by = "strength"

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.perception.reader import layout_within

        return layout_within(self.scale)

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.perception.theories import family_within

        return family_within(self.edges)

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Every strength with each right response.

        Raises:
            StimuliError: A setting is wrong.
            EmptyDesignSpaceError: There are no strengths.
        """
        strengths = read_settings(settings).strengths
        return perception_trials(np.repeat(strengths, 2), np.tile([-1, 1], len(strengths)))

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """See `experiments.task.Domain.candidates`; one of each two mirror images, as sides are drawn."""
        whole = self.space(settings)
        return whole.take(np.flatnonzero(whole["side"] == -1)).some(n_most, rng)

    def rules(self, stimuli: Stimuli) -> Sequence[tuple[Array, str]]:
        """See `kit.timed_domain.TimedDomain.rules`."""
        strength = stimuli["strength"]
        return (((strength >= 0) & (strength <= 1), "strength is a number from 0 to 1"),)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: trials of the strengths that the settings list."""
        return np.isin(stimuli["strength"], read_settings(settings).strengths)

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """All trials of a task with five strengths, and random strengths with none and the strongest among them."""
        usual = self.space({})
        strength = np.concatenate([[0.0, 1.0, 0.01], rng.random(5)])
        drawn = perception_trials(strength, rng.choice([-1, 1], len(strength)))
        return (usual, self.swap_sides(usual), drawn, self.swap_sides(drawn))

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials: strength, its logarithm, and the right response."""
        strength = stimuli["strength"]
        return {
            "strength": strength,
            "log_strength": np.log(np.maximum(strength, 0.01)),
            "no_evidence": 1.0 * (strength == 0),
            "side": stimuli["side"],
        }

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`."""
        return {
            "strength": varied(
                stimuli, stimuli["strength"] < 1, "the stimulus is stronger",
                lambda before, _: {"strength": np.clip(STRONGER * before["strength"] + 0.05, 0, 1)},
            ),
        }  # fmt: skip

    def n_keys(self, stimuli: Stimuli) -> int:
        """See `experiments.participants.timed_answer.TimedTask`."""
        return 2

    def right_keys(self, stimuli: Stimuli) -> Array:
        """See `experiments.participants.timed_answer.TimedTask`."""
        return np.asarray((stimuli["side"] + 1) / 2, dtype=np.int64)

    def conditions(self, stimuli: Stimuli) -> Array:
        """See `experiments.participants.timed_answer.TimedTask`."""
        return np.asarray(np.unique(stimuli["strength"], return_inverse=True)[1]).reshape(-1)

    def tells_of_past(self, stimuli: Stimuli) -> Array:
        """See `experiments.participants.timed_answer.TimedTask`: trials know nothing of it."""
        return np.zeros(len(stimuli), dtype=bool)

    def figures(self, stimuli: Stimuli) -> tuple[str, ...]:
        """See `experiments.participants.timed_answer.TimedTask`."""
        return ("dots",)

    def figure(self, stimuli: Stimuli, row: int, name: str) -> str:
        """See `experiments.participants.timed_answer.TimedTask`."""
        return dots(float(stimuli["strength"][row]), int(stimuli["side"][row]))

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """Dots of two colours, of which the right response's are more."""
        return self.figure(stimuli, row, "dots")

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial, such as ``strength 0.2, second response right``."""
        response = "first" if stimuli["side"][row] < 0 else "second"
        return f"strength {stimuli['strength'][row]:g}, {response} response right"


DOMAIN = PerceptionDomain()
