"""Attention and conflict: people answer to a target as fast as they can while something else suggests an answer.

Such as a large letter made of small ones (Navon), a colour word in another ink (Stroop) or arrows beside an arrow. The
answer is right or wrong, together with a bin of its time. A trial is what the distractor suggests, where the key of
the right answer is, and what happened in the trial before (`NUMBERS` says what each number means and how far it goes).
Turning the sides of a trial means that the right key is on the other side.

References:
    Eriksen & Eriksen (1974), Perception & Psychophysics 16, 143-149;
    Navon (1977), Cognitive Psychology 9, 353-383; Stroop (1935), Journal of Experimental Psychology 18, 643-662.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.attention.figure import (
    ARROWS,
    arrows,
    colour_word,
    distractor_of,
    letters,
)
from lakatos.domains.kit.settings import check_limits, refuse_unknown
from lakatos.domains.kit.timed_domain import OPTIONS, TimedDomain, TrialNumber, check_window
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.answer_scale import timed
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli
from lakatos.experiments.variation import TrialVariation, varied
from lakatos.theories.language.family import Family

Array = NDArray[Any]
FASTEST, SLOWEST = 0.2, 3.0
"""Seconds; who is faster has not seen the target, and who is slower did something else."""
EDGES = (
    FASTEST, 0.3, 0.35, 0.4, 0.44, 0.48, 0.52, 0.56, 0.6, 0.64, 0.68, 0.72, 0.76, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0,
    SLOWEST,
)  # fmt: skip
"""Edges of the time bins, in seconds; bins are narrow where most responses are."""
SCALE = timed(OPTIONS, EDGES)
LATER_EDGES = (4.0, 5.0, 7.0)
"""Edges of bins beyond the usual ones, where a study's window is wider."""
SHORTEST, LONGEST = 0.05, 10.0
"""Seconds between which a study's window may lie."""


def edges_within(low_s: float, high_s: float) -> tuple[float, ...]:
    """Edges of bins for a window of times: the usual ones in it, and its ends.

    Raises:
        TrialsError: It is no window, or too narrow.
    """
    check_window(low_s, high_s, SHORTEST, LONGEST)
    inside = [edge for edge in (*EDGES, *LATER_EDGES) if 1.02 * low_s < edge < 0.98 * high_s]
    return (low_s, *inside, high_s)


NUMBERS: Mapping[str, TrialNumber] = {
    "congruence": TrialNumber(
        "1: the distractor suggests the right answer, -1: another one, 0: none", (-1, 0, 1)
    ),
    "level": TrialNumber(
        "of a figure made of small figures, 1: the large one is asked for, -1: the small ones; 0: no such figure",
        (-1, 0, 1),
    ),
    "n_answers": TrialNumber("keys that there are", (2, 3)),
    "side": TrialNumber("the right key is on the left (-1), in the middle (0) or on the right (1)", (-1, 0, 1)),
    "has_previous": TrialNumber("1 unless it is the first trial", (0, 1)),
    "previous_congruence": TrialNumber("congruence of the trial before", (-1, 0, 1), past=True),
    "previous_error": TrialNumber("1 if the trial before was answered wrongly", (0, 1), past=True),
    "repeats": TrialNumber("1 if the right key is the one that was pressed just before", (0, 1), past=True),
}  # fmt: skip


@dataclass(frozen=True)
class AttentionSettings:
    """A space of trials: every combination of a task's conditions with what may have happened before."""

    n_answers: int = 2
    """Keys."""
    level: int = 0
    """Level as in `NUMBERS`."""
    neutral: bool = False
    """Whether there are trials in which the distractor suggests no answer."""
    past: bool = True
    """Whether trials differ by what happened before; otherwise each is a first trial."""


def read_settings(settings: Mapping[str, Any]) -> AttentionSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or wrong; the message says which and what there is.
    """
    known = AttentionSettings.__dataclass_fields__
    refuse_unknown(known, settings, "attention")
    for name, value in settings.items():
        if type(value) is not type(known[name].default):
            raise StimuliError(f"setting {name!r} of the attention domain cannot be {value!r}.")
    read = AttentionSettings(**settings)
    check_limits(read, {"n_answers": (2, 3), "level": (-1, 1)})
    return read


def conflict_trials(numbers: Mapping[str, Sequence[float] | Array]) -> Stimuli:
    """Trials from `NUMBERS`, of which those left out are 0, and 2 keys."""
    n_trials = len(next(iter(numbers.values())))
    usual = {name: np.full(n_trials, 2.0 * (name == "n_answers")) for name in NUMBERS}
    given = {name: np.asarray(values, dtype=np.float64) for name, values in numbers.items()}
    return Stimuli(usual | given)


class AttentionDomain(TimedDomain):
    """A target is answered to while a distractor suggests an answer, too."""

    kind = "attention"
    usual_edges = EDGES
    numbers = NUMBERS
    compared_by = "congruence"
    edges_within = staticmethod(edges_within)

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.attention.reader import layout_within

        return layout_within(self.scale)

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.attention.theories import family_within

        return family_within(self.edges)

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Every trial that the settings allow.

        Raises:
            StimuliError: A setting is wrong.
        """
        read = read_settings(settings)
        congruence = (-1, 0, 1) if read.neutral else (-1, 1)
        sides = (-1, 1) if read.n_answers == 2 else (-1, 0, 1)
        before = [(0, 0, 0, 0)]
        if read.past:
            before += list(product((1,), congruence, (0, 1), (0, 1)))
        rows = np.array([(*now, *past) for now in product(congruence, sides) for past in before])
        names = (
            "congruence",
            "side",
            "has_previous",
            "previous_congruence",
            "previous_error",
            "repeats",
        )
        fixed = {
            "level": np.full(len(rows), read.level),
            "n_answers": np.full(len(rows), read.n_answers),
        }
        return conflict_trials(dict(zip(names, rows.T, strict=True)) | fixed)  # fmt: skip

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """See `experiments.task.Domain.candidates`; of two keys one of each two mirror images, as sides are drawn."""
        whole = self.space(settings)
        once = whole.take(np.flatnonzero((whole["n_answers"] == 3) | (whole["side"] == -1)))
        return once.some(n_most, rng)

    def rules(self, stimuli: Stimuli) -> Sequence[tuple[Array, str]]:
        """See `kit.timed_domain.TimedDomain.rules`."""
        past = np.stack([stimuli[name] for name, number in NUMBERS.items() if number.past])
        return (
            ((stimuli["has_previous"] == 1) | (past == 0).all(axis=0), "in a first trial all that is past is 0"),
            ((stimuli["n_answers"] == 3) | (stimuli["side"] != 0), "of two keys none is in the middle"),
        )  # fmt: skip

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: trials of the task that the settings describe."""
        read = read_settings(settings)
        fits = (stimuli["n_answers"] == read.n_answers) & (stimuli["level"] == read.level)
        if not read.neutral:
            conflict = (stimuli["congruence"] != 0) & (
                (stimuli["previous_congruence"] != 0) | (stimuli["has_previous"] == 0)
            )
            fits &= conflict
        return np.asarray(fits & (read.past | (stimuli["has_previous"] == 0)))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """All trials of two tasks: with two keys, and with three and trials without conflict."""
        two = self.space({"level": int(rng.integers(-1, 2))})
        three = self.space({"n_answers": 3, "neutral": True}).some(60, rng)
        return (two, self.swap_sides(two), three, self.swap_sides(three))

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials: the conflict, the key, and what happened before."""
        after_conflict = 1.0 * (stimuli["previous_congruence"] == -1)
        return {
            "congruence": stimuli["congruence"],
            "level": stimuli["level"],
            "n_answers": stimuli["n_answers"],
            "side": stimuli["side"],
            "first_trial": 1.0 - stimuli["has_previous"],
            "after_conflict": after_conflict,
            "congruence_after_conflict": after_conflict * stimuli["congruence"],
            "after_error": stimuli["previous_error"],
            "repeats": stimuli["repeats"],
        }

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`."""
        later = stimuli["has_previous"] == 1
        turned = {
            "previous_error": "the trial before was answered wrongly, not rightly, or the other way round",
            "repeats": "the right key was pressed just before, where it was not, or the other way round",
        }
        return {
            "congruence": varied(
                stimuli, stimuli["congruence"] == -1, "the distractor suggests the right answer, not another one",
                lambda before, rows: {"congruence": -before["congruence"]},
            ),
            "previous_congruence": varied(
                stimuli, later & (stimuli["previous_congruence"] == -1), "there was no conflict in the trial before",
                lambda before, rows: {"previous_congruence": -before["previous_congruence"]},
            ),
            **{name: _turned(stimuli, later, name, meaning) for name, meaning in turned.items()},
        }  # fmt: skip

    def n_keys(self, stimuli: Stimuli) -> int:
        """See `experiments.participants.timed_answer.TimedTask`."""
        return int(stimuli["n_answers"][0])

    def right_keys(self, stimuli: Stimuli) -> Array:
        """See `experiments.participants.timed_answer.TimedTask`: from the left."""
        side = np.asarray(stimuli["side"])
        place = np.where(np.asarray(stimuli["n_answers"]) == 2, (side + 1) / 2, side + 1)
        return np.asarray(place, dtype=np.int64)

    def conditions(self, stimuli: Stimuli) -> Array:
        """See `experiments.participants.timed_answer.TimedTask`."""
        columns = np.stack([stimuli[name] for name in NUMBERS if name != "side"], axis=1)
        return np.asarray(np.unique(columns, axis=0, return_inverse=True)[1]).reshape(-1)

    def tells_of_past(self, stimuli: Stimuli) -> Array:
        """See `experiments.participants.timed_answer.TimedTask`."""
        return np.asarray(stimuli["has_previous"] == 1)

    def figures(self, stimuli: Stimuli) -> tuple[str, ...]:
        """See `experiments.participants.timed_answer.TimedTask`: letters have two levels, and nothing else has."""
        level = int(stimuli["level"][0])
        return {1: ("large_letters",), -1: ("small_letters",)}.get(
            level, ("arrows", "colour_words")
        )

    def figure(self, stimuli: Stimuli, row: int, name: str) -> str:
        """See `experiments.participants.timed_answer.TimedTask`."""
        places = (0, 1, 2) if stimuli["n_answers"][row] == 3 else (0, 2)
        right = int(stimuli["side"][row]) + 1
        other = distractor_of(right, int(stimuli["congruence"][row]), places)
        if name == "colour_words":
            return colour_word(right, other)
        return (
            arrows(right, other)
            if name == "arrows"
            else letters(right, other, int(stimuli["level"][row]))
        )

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """A large letter made of small ones where there are levels, else an arrow between others."""
        return self.figure(stimuli, row, self.figures(stimuli.take([row]))[0])

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial, such as ``right key → of 2, incongruent, after congruent and right, the same key``."""
        of = {name: int(array[row]) for name, array in stimuli.arrays.items()}
        conflict = {-1: "incongruent", 0: "neutral", 1: "congruent"}
        level = {-1: ", small figures", 0: "", 1: ", large figure"}[of["level"]]
        now = f"right key {ARROWS[of['side'] + 1]} of {of['n_answers']}{level}, {conflict[of['congruence']]}"
        if not of["has_previous"]:
            return f"{now}, first trial"
        ended = "wrong" if of["previous_error"] else "right"
        key = "the same key" if of["repeats"] else "another key"
        return f"{now}, after {conflict[of['previous_congruence']]} and {ended}, {key}"


DOMAIN = AttentionDomain()


def _turned(stimuli: Stimuli, possible: Array, name: str, meaning: str) -> TrialVariation:
    """A variation in which a number that is 0 or 1 is the other one."""
    return varied(stimuli, possible, meaning, lambda before, rows: {name: 1 - before[name]})
