"""The same responses in one order and with one rounding, whatever form their file has.

Sealed trials are drawn, random numbers are spent and sums are formed in the order of a table, so that a study begins
with a table that depends on what the responses are, and neither on the order of rows, participants or files nor on the
last digits that a unit leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.adopt import AdoptedAnswers
from lakatos.experiments.adoption.names import ALL, ORDER
from lakatos.experiments.adoption.packing import answers_digest
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.traces.digest import Digest

Array = NDArray[Any]
SHOWN_DIGITS = 10
"""Significant digits of what was shown; a sum of probabilities stays within the tolerance of its domain."""
FEEDBACK_DECIMALS = 8
"""Decimals of feedback, which is a share of the largest reward."""


def trials_of_study(
    found: AdoptedAnswers, domain: Domain, answers: Digest | str = "", experiments: str = "*"
) -> tuple[Trials, ...]:
    """The experiments of a file as a study takes them: in the order of their content.

    Args:
        found: What the file holds.
        domain: Domain of the trials.
        answers: Digest of the experiments that a study names. Studies of earlier versions took them in the order of the
            file; where it names these, they are returned.
        experiments: Pattern of the experiments that the study uses. Where all of a file are used, and there is one, its
            name says nothing, and is that of a file without a column of experiments.
    """
    if answers and answers_digest(found.trials) == answers:
        return found.trials
    trials = found.trials
    if len(trials) == 1 and experiments == "*":
        trials = (replace(trials[0], experiment=ALL),)
    return in_content_order(trials, domain, is_ordered=ORDER not in found.closed)


def in_content_order(
    trials: Sequence[Trials], domain: Domain, *, is_ordered: bool
) -> tuple[Trials, ...]:
    """Experiments by their names; their trials, participants and responses by content; numbers rounded.

    Participants with the same responses and attributes may stand in either order, which makes no difference.

    Args:
        trials: Experiments as a file holds them.
        domain: Domain of the trials; steps of a schedule keep their order.
        is_ordered: Whether rows of a participant stand in the order of presentation, which is then kept.
    """
    by_name = sorted(trials, key=lambda item: item.experiment)
    is_ordered = is_ordered or domain.sequential
    return tuple(_ordered(item, domain, is_ordered=is_ordered) for item in by_name)


def _ordered(trials: Trials, domain: Domain, *, is_ordered: bool) -> Trials:
    stimuli, trial = _rounded_stimuli(trials.stimuli), trials.trial
    if not domain.sequential:
        stimuli, place = _sorted_stimuli(stimuli)
        trial = place[trial]
    feedback = {
        name: np.round(np.asarray(values, dtype=np.float64), FEEDBACK_DECIMALS) + 0.0
        for name, values in sorted(trials.feedback.items())
    }
    rows = np.column_stack([trial, trials.response, trials.count, *feedback.values()])
    within = [] if is_ordered else [*rows.T[::-1]]
    by_participant = np.lexsort([*within, trials.participant])  # stable
    old = _participants_by_content(trials, rows[by_participant])
    new = np.argsort(old)
    order = by_participant[np.argsort(new[trials.participant[by_participant]], kind="stable")]
    return replace(
        trials,
        stimuli=stimuli,
        participant=new[trials.participant[order]],
        trial=trial[order],
        response=trials.response[order],
        count=trials.count[order],
        feedback={name: values[order] for name, values in feedback.items()},
        attributes={
            name: np.asarray(column)[old] for name, column in sorted(trials.attributes.items())
        },
    )


def _rounded_stimuli(stimuli: Stimuli) -> Stimuli:
    """Trials with numbers of `SHOWN_DIGITS` significant digits, as a file would say them; zeros have no sign."""
    arrays = {}
    for name, array in stimuli.arrays.items():
        values, place = np.unique(np.asarray(array, dtype=np.float64), return_inverse=True)
        rounded = [float(f"{value:.{SHOWN_DIGITS}g}") for value in values.tolist()]
        arrays[name] = (np.array(rounded) + 0.0)[place].reshape(np.shape(array))
    return Stimuli(arrays)


def _sorted_stimuli(stimuli: Stimuli) -> tuple[Stimuli, Array]:
    """The different trials in the order of their numbers, and the place of each trial among them."""
    flat = [
        np.asarray(array, dtype=np.float64).reshape(len(stimuli), -1)
        for _, array in sorted(stimuli.arrays.items())
    ]
    table = np.concatenate(flat, axis=1)
    _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return stimuli.take(first), place.reshape(-1)


def _participants_by_content(trials: Trials, rows: Array) -> Array:
    """``(n_participants,)`` participants, those with fewer responses first; ``rows`` are those of one after another."""
    known = trials.attributes_in_words
    counts = np.bincount(trials.participant, minlength=trials.n_participants)
    parts = np.split(rows.astype(">f8"), np.cumsum(counts)[:-1])  # bytes in the order of numbers
    keys = [
        (len(part), part.tobytes(), [known[name][who] for name in sorted(known)])
        for who, part in enumerate(parts)
    ]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
