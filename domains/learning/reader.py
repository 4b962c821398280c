"""Answers of people who learn from step to step, from a table with a row for each step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.learning.task import steps
from lakatos.experiments.adoption.layouts import HasAttributes, StimulusLayout, layout_of_attributes
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.option_code import chosen_options
from lakatos.experiments.adoption.row_cells import RowCells, read_part
from lakatos.experiments.adoption.step_cells import number_of_options
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import HasOutcomes
from lakatos.experiments.task import Domain, Stimuli, Trials

Array = NDArray[Any]


def sequence_of_steps(
    name: str,
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    domain: Domain,
    size: float,
) -> Trials:
    """Answers of people who learn: everybody's steps are numbered in their order.

    Args:
        name: Of the experiment.
        cells: Its rows, by person and in the order of the person's steps.
        columns: What they mean.
        participant: ``(n_rows,)`` number of the person.
        domain: Of the trials.
        size: What a reward of 1 is in the file; see `size_of_rewards`.
    """
    n_options, needed = number_of_options(columns, domain), _outcomes_of(domain)
    for key in needed:
        if key not in columns.feedback:
            what = "people received" if key == "reward" else "an option would have paid"
            raise TrialsError(f"columns.feedback.{key}: say which column holds what {what}.")
    lengths = np.bincount(participant)
    n_steps = int(lengths.max())
    step = np.concatenate([np.arange(length) for length in lengths])
    order = np.argsort(participant, kind="stable")
    step[order] = step.copy()
    schedule = {
        part: _same_for_all(cells, str(columns.stimulus[part]), step, n_steps)
        for part in ("stage", "block_start")
        if part in columns.stimulus
    }
    stimuli = Stimuli(
        dict(steps(n_steps, n_options, **schedule).arrays)
        | _step_attributes(cells, columns, domain, step, n_steps)
    )
    domain.check(stimuli)
    chosen = chosen_options(cells, columns)
    cells.refuse(chosen >= n_options, columns.response, f"is none of {n_options} options")
    feedback = {"next_state": np.zeros(len(step))}
    feedback |= {key: cells.numbers(column) for key, column in columns.feedback.items()}
    feedback["reward"] = (feedback["reward"] / size).round(12)
    return Trials(
        experiment=name,
        stimuli=stimuli,
        participant=participant,
        trial=step,
        response=chosen,
        count=np.ones(len(step), dtype=np.int64),
        n_options=n_options,
        n_people=len(lengths),
        feedback=feedback,
    )


def _outcomes_of(domain: Domain) -> tuple[str, ...]:
    """What follows a choice, by the names of the domain."""
    return domain.outcome_names if isinstance(domain, HasOutcomes) else ("reward",)


def _step_attributes(
    cells: RowCells, columns: AnswerColumns, domain: Domain, step: Array, n_steps: int
) -> dict[str, Array]:
    """``(n_steps, n_options)`` of each attribute of a declared task, the same for everybody."""
    if not isinstance(domain, HasOutcomes):
        return {}
    words, found = domain.attribute_words(), {}
    for name in domain.attribute_labels():
        given = columns.stimulus[name]
        values = read_part(cells, given, name, words.get(name, ()))
        kept = np.zeros((n_steps, len(domain.options)))
        kept[step[::-1]] = values[::-1]
        cells.refuse(
            (values != kept[step]).any(axis=1),
            str(leaves_of(given)[0]),
            "differs between people at one step; bring them in as experiments apart",
        )
        found[name] = kept
    return found


def _same_for_all(cells: RowCells, column: str, step: Array, n_steps: int) -> Array:
    """``(n_steps,)`` what a column says of each step, which must be the same for everybody."""
    values = cells.numbers(column)
    found = np.zeros(n_steps)
    found[step[::-1]] = values[::-1]
    cells.refuse(
        values != found[step],
        column,
        "differs between people at one step; bring them in as experiments apart",
    )
    return found


LAYOUT = StimulusLayout(
    {
        "options": "number of options",
        "stage": "column: 0 for a first or only stage, 1 for the second",
        "block_start": "column: 1 where a new game begins",
    },
    (),
    None,
    from_steps=sequence_of_steps,
)
"""The steps of this kind of task as columns; they are made from the order of the responses."""


def steps_with_attributes(domain: HasAttributes) -> StimulusLayout:
    """The layout of steps whose options are described by attributes."""
    plain = layout_of_attributes(domain)
    parts = {**plain.parts, "block_start": "column: 1 where a new game begins"}
    return replace(plain, parts=parts, from_steps=sequence_of_steps)
