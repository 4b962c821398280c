"""What a generic learner sees of an answer: one row of numbers for each option, seen from that option's side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import HasLandmarks
from lakatos.experiments.task import Domain, Stimuli, Trials

Array = NDArray[np.float64]
MOST_COLUMNS = 200
"""Of a raw stimulus; longer ones are described by the domain's properties alone."""
DECAYS = (0.2, 0.6)
"""Shares by which what was seen moves at each step, for running means of rewards and choices."""
N_STATES = 3


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

    Of a choice with its time, also which option was chosen. No columns where answers are options.
    """
    if not isinstance(domain, HasLandmarks):
        return np.zeros((len(stimuli), domain.n_options(stimuli), 0))
    places = np.array(domain.scale.places)
    shape = (len(stimuli), len(places))
    columns = [np.broadcast_to(places, shape)]
    if domain.scale.options:
        n_bins = len(places) // len(domain.scale.options)
        columns.append(np.broadcast_to(np.arange(len(places)) // n_bins, shape))
    for landmark in domain.landmarks(stimuli).values():
        away = places - np.asarray(landmark, dtype=np.float64)[:, None]
        columns += [away, np.abs(away), 1.0 * (np.abs(away) < 1e-6)]
    return np.stack(columns, axis=-1)


def _largest_shapes(stimuli: Sequence[Stimuli]) -> dict[str, tuple[int, ...]]:
    """Of each array over experiments, which may have more cues or outcomes than one another."""
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


def step_columns(trials: Trials) -> Array:
    """``(n_answers, n_options, n_columns)`` what each person did and got before each answer, for one schedule.

    For each option: running means of its reward and of how often it was taken in the same state, whether it was the
    last choice there, alone and with its reward, where it has led so far, and what was got there. Rows are in the
    order of `Trials.participant` within each person.
    """
    sequences = trials.sequences
    n_people, n_steps = sequences.trial.shape
    n_options, people = trials.n_options, np.arange(n_people)
    reward = sequences.feedback.get("reward", np.zeros((n_people, n_steps)))
    reached = sequences.feedback.get("next_state", np.zeros((n_people, n_steps))).astype(np.intp)
    taken = np.zeros((len(DECAYS), n_people, N_STATES, n_options))
    paid, last_taken = taken.copy(), np.zeros((n_people, N_STATES, n_options))
    last_paid, led = last_taken.copy(), np.zeros((n_people, n_options, N_STATES))
    worth, state = np.zeros((n_people, N_STATES)), np.zeros(n_people, dtype=np.intp)
    found = []
    for step in range(n_steps):
        row = np.maximum(sequences.trial[:, step], 0)
        is_start = np.asarray(trials.stimuli["block_start"])[row] > 0
        paid[:, is_start] = taken[:, is_start] = 0.0
        last_taken[is_start] = last_paid[is_start] = led[is_start] = worth[is_start] = 0.0
        stage = np.asarray(trials.stimuli["stage"])[row]
        state = np.where(stage > 0, state, 0)
        likely = led / np.maximum(led.sum(axis=-1, keepdims=True), 1.0)
        own = [*paid[:, people, state], *taken[:, people, state]]
        own += [last_taken[people, state], last_paid[people, state]]
        own += [likely[..., 1], likely[..., 2], (likely * worth[:, None]).sum(axis=-1)]
        own += [np.repeat(stage[:, None], n_options, axis=1)]
        own += [np.tile(np.arange(n_options, dtype=np.float64), (n_people, 1))]
        found.append(np.stack(own, axis=-1))

        chosen = np.eye(n_options)[sequences.response[:, step]]
        got = reward[:, step, None]
        for decay, paid_so, taken_so in zip(DECAYS, paid, taken, strict=True):
            paid_so[people, state] += decay * chosen * (got - paid_so[people, state])
            taken_so[people, state] += decay * (chosen - taken_so[people, state])
        last_taken[people, state], last_paid[people, state] = chosen, chosen * (2 * got - 1)
        arrived = np.eye(N_STATES)[np.clip(reached[:, step], 0, N_STATES - 1)]
        led += (stage == 0)[:, None, None] * chosen[..., None] * arrived[:, None]
        worth[people, state] = np.where(stage > 0, got[:, 0], worth[people, state])
        state = np.clip(reached[:, step], 0, N_STATES - 1)
    table = np.stack(found, axis=1)
    return relative(table[sequences.trial >= 0])


def relative(columns: Array) -> Array:
    """Each option's columns, and beside them how far they lie from the mean of the other options."""
    n_options = columns.shape[1]
    others = (columns.sum(axis=1, keepdims=True) - columns) / (n_options - 1)
    return np.concatenate([columns, columns - others], axis=-1)
