"""Declarations of tasks about outcomes that follow a choice, and outcomes for simulated participants.

A file of responses says what followed the chosen options only. Participants who are simulated on its trials choose
others, so that their outcomes must come from elsewhere: from a schedule that is known, or from the file, as stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Stimuli, Trials, first_schedule

Array = NDArray[np.float64]


@runtime_checkable
class HasOutcomes(Protocol):
    """A domain whose outcomes have a declared range, a unit, and names."""

    options: tuple[str, ...]

    @property
    def outcome_names(self) -> tuple[str, ...]:
        """Names of the outcomes of a choice in columns of tables; ``reward`` is the first."""

    @property
    def outcome_range(self) -> tuple[float, float]:
        """Lowest and highest outcome that there can be."""

    @property
    def win_above(self) -> float:
        """An outcome is a gain above this number."""

    def told_after(self, feedback: Mapping[str, float]) -> str:
        """Return the text of an outcome that people read."""

    def attribute_labels(self) -> Mapping[str, str]:
        """Return the label of each attribute of the options, for people to read."""

    def attribute_words(self) -> Mapping[str, tuple[str, ...]]:
        """The words of attributes that are categories."""

    def cue_codes(self) -> Mapping[str, str]:
        """Return the names in theories of what options are compared by, by code."""

    def cue_values(self, stimuli: Stimuli) -> list[Array]:
        """``(n_trials, n_options)`` of each of these things."""


@runtime_checkable
class HasCues(Protocol):
    """A domain whose steps may have declared cues, and an option that is to respond while the other one is not to."""

    @property
    def cue_names(self) -> tuple[str, ...]:
        """Names of the cues in the order of their numbers; none without cues."""

    @property
    def go(self) -> int:
        """1 if the second option is to respond, -1 if the first one is, 0 if both are options like any other."""


@runtime_checkable
class NamesOptions(Protocol):
    """A domain whose options have other names in other trials, such as to withhold a response and to respond."""

    def option_names(self, stimuli: Stimuli, row: int) -> list[str]:
        """The options of a trial, in their order."""


@runtime_checkable
class NamesOutcomes(Protocol):
    """A domain with sentences of its own, in the page's texts, for what followed a response."""

    def outcome_of(self, feedback: Mapping[str, float]) -> str:
        """Key of the sentence in ``after`` of the domain's texts; empty where nothing is to be said."""


@runtime_checkable
class EstimatesOutcomes(Protocol):
    """A domain that can estimate from responses what options would have paid."""

    def estimated_outcomes(
        self, trials: Trials, n_people: int, rng: np.random.Generator
    ) -> tuple[Stimuli, str]:
        """Schedules of simulated participants, and how they were estimated, in a sentence.

        Returns:
            The trials ``n_people`` times, one person's after another's, each with outcomes of its own; once where
            each trial is that of one participant.

        Raises:
            TrialsError: The responses do not say what options would have paid.
        """


@runtime_checkable
class LacksInputs(Protocol):
    """A domain some of whose trials lack what some theories need."""

    def lacking(self, settings: Mapping[str, Any]) -> Mapping[str, str]:
        """State what trials of a study's settings lack, by the name by which mechanisms need it, and why.

        Raises:
            StimuliError: A setting is wrong.
        """


def lacking_inputs(domain: Domain, settings: Mapping[str, Any]) -> Mapping[str, str]:
    """State what trials of these settings lack; see `LacksInputs`."""
    return domain.lacking(settings) if isinstance(domain, LacksInputs) else {}


@dataclass(frozen=True)
class OutcomeSchedules:
    """Outcomes of each choice of simulated participants."""

    stimuli: Stimuli
    rows: NDArray[np.int64]
    """``(n_people, n_trials)`` row of ``stimuli`` that stands for each trial of the file."""
    note: str = ""
    """Note on how unknown outcomes were estimated; empty where the schedule is known."""

    def order(self, trials: NDArray[np.int64]) -> NDArray[np.int64]:
        """``(n_people, n_steps)`` rows of ``stimuli`` for each person's trials."""
        return np.take_along_axis(self.rows, trials, axis=1)


def knows_outcomes(domain: Domain, trials: Trials) -> bool:
    """Whether the schedule of an experiment holds what followed each response to it, as a file's own does not."""
    if trials.pooled or not trials.feedback or (trials.count != 1).any():
        return True
    arrays = trials.stimuli.arrays
    shown = domain.shown({name: array[:1] for name, array in arrays.items()}, {})
    if any(np.any(array) for name, array in arrays.items() if name not in shown):
        return True  # a schedule; where it is not known, it holds zeros only
    sequences = trials.sequences
    before: dict[str, NDArray[Any]] = {}
    for step in range(sequences.trial.shape[1]):
        there = sequences.trial[:, step] >= 0
        rows = np.maximum(sequences.trial[:, step], 0)
        arrays = {name: array[rows] for name, array in trials.stimuli.arrays.items()}
        response = sequences.response[None, :, step]
        found = domain.feedback(arrays, domain.shown(arrays, before), response)
        own = {name: table[None, :, step] for name, table in sequences.feedback.items()}
        for name in set(found) & set(own):
            if not np.allclose(found[name][..., there], own[name][..., there]):
                return False
        before = own
    return True


def rewards_of_options(domain: Domain, stimuli: Stimuli, n_options: int) -> Array | None:
    """``(n_trials, n_options)`` rewards that options would bring at first; None where no schedule holds them."""
    if not domain.sequential:
        return None
    shown = domain.shown(stimuli.arrays, {})
    followed = [
        domain.feedback(stimuli.arrays, shown, np.full((1, len(stimuli)), option))
        for option in range(n_options)
    ]
    none = np.zeros((1, len(stimuli)))
    table = np.stack([item.get("reward", none)[0] for item in followed], axis=1)
    return table if (table != table[:, :1]).any() else None


def outcome_schedules(
    domain: Domain, trials: Trials, n_people: int, rng: np.random.Generator
) -> OutcomeSchedules:
    """Return the outcomes of choices of participants who are simulated on an experiment's trials.

    Args:
        domain: Domain of the trials.
        trials: An experiment.
        n_people: Simulated participants.
        rng: Generator for outcomes that are drawn.

    Raises:
        TrialsError: It is neither known nor can be estimated.
    """
    n_trials = len(trials.stimuli)
    if knows_outcomes(domain, trials):
        return OutcomeSchedules(trials.stimuli, np.tile(np.arange(n_trials), (n_people, 1)))
    if not isinstance(domain, EstimatesOutcomes):
        raise TrialsError(
            f"{trials.experiment}: participants cannot be simulated, since it is not known what the options that "
            "were not chosen would have led to."
        )
    stimuli, note = domain.estimated_outcomes(trials, n_people, rng)
    rows = np.arange(len(stimuli)).reshape(-1, n_trials)
    return OutcomeSchedules(stimuli, np.resize(rows, (n_people, n_trials)), note)


@dataclass(frozen=True)
class SimulatedSchedule:
    """What a participant goes through who is simulated before any theory is fitted to an experiment."""

    stimuli: Stimuli | None = None
    """One schedule with estimated outcomes; None where the experiment's own is as good as any."""
    lacks_outcomes: bool = False
    """Whether outcomes are neither known nor can be estimated, so that simulated participants receive nothing."""


def simulated_schedule(
    domain: Domain, trials: Trials, rng: np.random.Generator
) -> SimulatedSchedule:
    """Return the schedule of one simulated participant of an experiment."""
    if not domain.sequential or knows_outcomes(domain, trials):
        return SimulatedSchedule()
    try:
        return SimulatedSchedule(first_schedule(outcome_schedules(domain, trials, 1, rng).stimuli))
    except TrialsError:
        return SimulatedSchedule(lacks_outcomes=True)
