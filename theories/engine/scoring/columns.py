"""View that a generic learner has of a response: one row of numbers for each option, seen from that option's side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import HasLandmarks
from lakatos.experiments.outcomes import HasOutcomes
from lakatos.experiments.task import Domain, Stimuli, Trials

Array = NDArray[np.float64]
MOST_COLUMNS = 200
"""Maximum number of columns of a raw stimulus; longer ones are described by the domain's features alone."""
DECAYS = (0.2, 0.6)
"""Shares by which what was seen moves at each step, for running means of rewards and choices."""
N_STATES = 3
MOST_DEGREE = 4
"""Largest degree of the polynomials that describe a distribution over the outcomes of a scale."""


def trial_columns(domain: Domain, trials: Sequence[Trials]) -> tuple[Array, Array]:
    """Every trial from the side of each option, which is put where the last option is.

    Args:
        domain: Its properties of trials are the vocabulary.
        trials: Experiments of tasks whose trials stand alone.

    Returns:
        The raw stimuli ``(n_trials of all experiments, n_options, n_columns)``, and the domain's properties likewise.
    """
    raw, described = [], []
    shapes = _largest_shapes([item.stimuli for item in trials])
    for item in trials:
        seen = _sides(domain, item.stimuli, item.n_options)
        raw.append(np.stack([_flattened(side, shapes) for side in seen], axis=1))
        properties = np.stack([_described(domain, side) for side in seen], axis=1)
        described.append(np.concatenate([properties, _places(domain, item.stimuli)], axis=-1))
    return np.concatenate(raw), np.concatenate(described)


def _sides(domain: Domain, stimuli: Stimuli, n_options: int) -> list[Stimuli]:
    """The trials once for each option, with that option last."""
    if n_options == 2:
        return [domain.swap_sides(stimuli), stimuli]
    found = []
    for option in range(n_options):
        order = [*(place for place in range(n_options) if place != option), option]
        arrays = {
            name: array[:, order] if array.shape[1:2] == (n_options,) else array
            for name, array in stimuli.arrays.items()
        }
        found.append(Stimuli(arrays))
    return found


def _described(domain: Domain, stimuli: Stimuli) -> Array:
    columns = [np.asarray(column, dtype=np.float64) for column in domain.features(stimuli).values()]
    return np.nan_to_num(np.stack(columns, axis=1))


def _places(domain: Domain, stimuli: Stimuli) -> Array:
    """``(n_trials, n_options, n_columns)`` where each outcome of a scale lies, and how far from landmarks of the trial.

    Of a choice with its time, also which option was chosen. Polynomials of the outcome's rank let the shape of a
    distribution differ between people. No columns where responses are options.
    """
    if not isinstance(domain, HasLandmarks):
        return np.zeros((len(stimuli), domain.n_options(stimuli), 0))
    places = np.array(domain.scale.places)
    shape = (len(stimuli), len(places))
    option, rank = np.divmod(np.arange(len(places)), domain.scale.n_bins)
    polynomials = legvander(2 * rank / max(domain.scale.n_bins - 1, 1) - 1, MOST_DEGREE)[:, 1:]
    of_outcome = [places, *polynomials.T]
    if domain.scale.options:
        of_outcome += [option, *(option * column for column in polynomials.T)]
    columns = [np.broadcast_to(column, shape) for column in of_outcome]
    for landmark in domain.landmarks(stimuli).values():
        away = places - np.asarray(landmark, dtype=np.float64)[:, None]
        columns += [away, np.abs(away), 1.0 * (np.abs(away) < 1e-6)]
    return np.stack(columns, axis=-1)


def _largest_shapes(stimuli: Sequence[Stimuli]) -> dict[str, tuple[int, ...]]:
    """The largest shape of each array over experiments, which may differ in their numbers of cues or outcomes."""
    found = {}
    for name in sorted(stimuli[0].arrays):
        found[name] = tuple(np.max([item[name].shape[1:] for item in stimuli], axis=0, initial=0))
    return found


def _flattened(stimuli: Stimuli, shapes: dict[str, tuple[int, ...]]) -> Array:
    """``(n_trials, n_columns)`` numbers of a stimulus, with zeros where others have more."""
    columns = []
    for name, shape in shapes.items():
        array = np.asarray(stimuli[name], dtype=np.float64)
        widths = [(0, int(most) - own) for most, own in zip(shape, array.shape[1:], strict=True)]
        columns.append(np.pad(array, [(0, 0), *widths]).reshape(len(stimuli), -1))
    flat = np.concatenate(columns, axis=1)
    return flat if flat.shape[1] <= MOST_COLUMNS else flat[:, :0]


def step_columns(domain: Domain, trials: Trials) -> Array:
    """``(n_answers, n_options, n_columns)`` what each person did and got before each response, for one schedule.

    For each option: running means of its reward and of how often it was taken in the same state, whether it was the
    last choice there, alone and with its reward, where it has led so far, and what was got there; of declared tasks
    also its attributes; and what a step shows of what was done before. Rows are in the order of `Trials.participant`
    within each person.
    """
    sequences = trials.sequences
    n_people, n_steps = sequences.trial.shape
    nothing = np.zeros((n_people, n_steps))
    reward = sequences.feedback.get("reward", nothing)
    cues = []
    if isinstance(domain, HasOutcomes):
        low, high = domain.outcome_range
        reward = (reward - low) / (high - low)
        cues = domain.cue_values(trials.stimuli)
    reached = sequences.feedback.get("next_state", nothing).astype(np.intp)
    one_game = np.zeros(len(trials.stimuli))
    starts = np.asarray(trials.stimuli.arrays.get("block_start", one_game))
    stages = np.asarray(trials.stimuli.arrays.get("stage", one_game))
    first_states = trials.stimuli.arrays.get("cue", one_game).astype(np.intp)
    n_states = max(N_STATES, int(first_states.max()) + 1)
    memory = _StepMemory(n_people, trials.n_options, n_states)
    found = []
    before: dict[str, Array] = {}
    for step in range(n_steps):
        row = np.maximum(sequences.trial[:, step], 0)
        arrays = {name: array[row] for name, array in trials.stimuli.arrays.items()}
        shown = domain.shown(arrays, before)
        before = {name: column[None, :, step] for name, column in sequences.feedback.items()}
        stage = stages[row]
        memory.begin(stage, first_states[row], is_start=starts[row] > 0)
        seen = [cue[row][..., None] for cue in cues]
        seen += [
            np.broadcast_to(shown[name][0][:, None, None], (n_people, trials.n_options, 1))
            for name in sequences.feedback
            if name in shown
        ]
        found.append(np.concatenate([memory.columns(stage), *seen], axis=-1))
        memory.learn(stage, sequences.response[:, step], reward[:, step], reached[:, step])
    table = np.stack(found, axis=1)
    return relative(table[sequences.trial >= 0])


class _StepMemory:
    """Responses and outcomes of people up to now, each in the state in which it happened."""

    def __init__(self, n_people: int, n_options: int, n_states: int) -> None:
        self.people: NDArray[np.intp] = np.arange(n_people)
        self.n_options, self.n_states = n_options, n_states
        self.state: NDArray[np.intp] = np.zeros(n_people, dtype=np.intp)
        # Running means, one for each speed of forgetting.
        self.paid = np.zeros((len(DECAYS), n_people, n_states, n_options))
        self.taken = np.zeros((len(DECAYS), n_people, n_states, n_options))
        # The last choice in each state, alone and with the sign of its reward.
        self.last_taken = np.zeros((n_people, n_states, n_options))
        self.last_paid = np.zeros((n_people, n_states, n_options))
        # How often each option of the first stage led to which state, and what was got there last.
        self.led = np.zeros((n_people, n_options, n_states))
        self.worth = np.zeros((n_people, n_states))

    def begin(self, stage: Array, cue: NDArray[np.intp], is_start: NDArray[np.bool_]) -> None:
        """Forget everything where a block begins; the first stage has one state for each cue."""
        self.paid[:, is_start] = 0.0
        self.taken[:, is_start] = 0.0
        for kept in (self.last_taken, self.last_paid, self.led, self.worth):
            kept[is_start] = 0.0
        self.state = np.where(stage > 0, self.state, cue)

    def columns(self, stage: Array) -> Array:
        """``(n_people, n_options, n_columns)`` what is remembered in the present state."""
        here = self.people, self.state
        n_led = self.led.sum(axis=-1, keepdims=True)
        likely = self.led / np.maximum(n_led, 1.0)
        worth = likely * self.worth[:, None]
        option = np.arange(self.n_options, dtype=np.float64)
        columns = [
            *self.paid[:, *here],
            *self.taken[:, *here],
            self.last_taken[here],
            self.last_paid[here],
            likely[..., 1],
            likely[..., 2],
            worth.sum(axis=-1),
            np.repeat(stage[:, None], self.n_options, axis=1),
            np.tile(option, (len(self.people), 1)),
        ]
        return np.stack(columns, axis=-1)

    def learn(
        self,
        stage: Array,
        response: NDArray[np.int64],
        reward: Array,
        reached: NDArray[np.intp],
    ) -> None:
        """Take in what was chosen, what it paid, and where it led."""
        here = self.people, self.state
        chosen = np.eye(self.n_options)[response]
        got = reward[:, None]
        for decay, paid, taken in zip(DECAYS, self.paid, self.taken, strict=True):
            paid[here] += decay * chosen * (got - paid[here])
            taken[here] += decay * (chosen - taken[here])
        self.last_taken[here] = chosen
        self.last_paid[here] = chosen * (2 * got - 1)
        next_state = np.clip(reached, 0, self.n_states - 1)
        arrived = np.eye(self.n_states)[next_state]
        is_first = (stage == 0)[:, None, None]
        self.led += is_first * chosen[..., None] * arrived[:, None]
        self.worth[here] = np.where(stage > 0, reward, self.worth[here])
        self.state = next_state.astype(np.intp)


def relative(columns: Array) -> Array:
    """Each option's columns, and beside them how far they lie from the mean of the other options."""
    n_options = columns.shape[1]
    others = (columns.sum(axis=1, keepdims=True) - columns) / (n_options - 1)
    return np.concatenate([columns, columns - others], axis=-1)
