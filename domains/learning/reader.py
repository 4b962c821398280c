"""Answers of people who learn from step to step, from a table with a row for each step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.learning.task import N_STATES, steps, two_step_trials
from lakatos.experiments.adoption.layouts import (
    HasAttributes,
    NeededParts,
    StimulusLayout,
    layout_of_attributes,
)
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.option_code import chosen_options
from lakatos.experiments.adoption.row_cells import RowCells, read_part
from lakatos.experiments.adoption.step_cells import number_of_options, rewards
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import HasOutcomes
from lakatos.experiments.task import Domain, Stimuli, Trials

Array = NDArray[Any]
RARE_STATE = 0.2
"""Share of the rows of a state, below which a third one is a wrong cell."""
SAY_STATE = "say which column says to which one a first choice led: --column state=COLUMN"
SECOND = "second_choice"
"""Part of a trial of two stages that stands in one row."""
PAYOFF = "payoff"
"""Part that says what every option would have paid, chosen or not."""


def sequence_of_steps(
    name: str,
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    domain: Domain,
    size: float,
    notes: list[str],
) -> Trials:
    """Answers of people who learn: everybody's steps are numbered in their order.

    Args:
        name: Of the experiment.
        cells: Its rows, by person and in the order of the person's steps.
        columns: What they mean.
        participant: ``(n_rows,)`` number of the person.
        domain: Of the trials.
        size: What a reward of 1 is in the file; see `size_of_rewards`.
        notes: What is assumed is added to them.
    """
    n_options, needed = number_of_options(columns, domain), _outcomes_of(domain)
    for key in needed:
        if key not in columns.feedback:
            what = "people received" if key == "reward" else "an option would have paid"
            raise TrialsError(
                f"say which column holds what {what}: --column feedback.{key}=COLUMN "
                "(participants.columns.feedback)."
            )
    if PAYOFF in columns.stimulus and {SECOND, "stage"} & set(columns.stimulus):
        raise TrialsError(f"{PAYOFF}: what options would have paid can be given of one stage only.")
    if SECOND in columns.stimulus:
        return _two_stages(name, cells, columns, participant, size, notes)
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
    payoff = None
    if PAYOFF in columns.stimulus:
        payoff = np.zeros((n_steps, N_STATES, n_options))
        payoff[:, 0] = _payoffs(cells, columns.stimulus[PAYOFF], n_options, step, n_steps) / size
    stimuli = Stimuli(
        dict(steps(n_steps, n_options, payoff=payoff, **schedule).arrays)
        | _step_attributes(cells, columns, domain, step, n_steps)
    )
    domain.check(stimuli)
    chosen = chosen_options(cells, columns)
    cells.refuse(
        chosen >= n_options,
        columns.response,
        f"is none of {n_options} options; say how many there are: --column options=NUMBER",
    )
    feedback = {"next_state": np.zeros(len(step))}
    for key, column in columns.feedback.items():
        feedback[key] = rewards(cells, column, notes)
    feedback["reward"] = (feedback["reward"] / size).round(12)
    if payoff is not None:
        told = payoff[step, 0, chosen]
        cells.refuse(
            ~np.isclose(told, feedback["reward"]),
            columns.feedback["reward"],
            f"is not what {PAYOFF} says that the chosen option paid",
        )
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


def _two_stages(
    name: str,
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    size: float,
    notes: list[str],
) -> Trials:
    """Responses of the two-step task, of which each row is a trial: two choices, the state between them, the reward.

    Raises:
        TrialsError: The choices or the states are not two.
    """
    second, state = str(columns.stimulus[SECOND]), str(columns.stimulus.get("state", ""))
    said = cells.text(state)
    cells.refuse_empty(said == "", state)
    counts = pd.Series(said).value_counts()
    if len(counts) > 2 and counts.iloc[2] < RARE_STATE * counts.iloc[1]:
        others = ~np.isin(said, counts.index[:2].to_numpy())
        cells.refuse(
            others,
            state,
            f"is none of the states {' and '.join(sorted(counts.index[:2]))}; {SAY_STATE}",
        )
    states = sorted(counts.index)
    if len(states) != 2:
        raise TrialsError(
            f"{cells.name}: {state} says {', '.join(states[:6])}; a first choice leads to one of two states; "
            f"{SAY_STATE}."
        )
    notes.append(f"{state}: {states[0]} is the first and {states[1]} the second state")
    first = chosen_options(cells, columns)
    then = chosen_options(cells, columns.model_copy(update={"response": second}))
    gained = (rewards(cells, columns.feedback["reward"], notes) / size).round(12)
    rows = zip(
        first.tolist(),
        [1 + states.index(cell) for cell in said],
        then.tolist(),
        gained.tolist(),
        strict=True,
    )
    people: list[list[Any]] = [[] for _ in range(int(participant.max()) + 1)]
    for who, trial in zip(participant.tolist(), rows, strict=True):
        people[who].append(trial)
    return two_step_trials(name, people)


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
        kept = np.stack([_most_say(own, step, n_steps) for own in values.T], axis=1)
        cells.refuse(
            (values != kept[step]).any(axis=1),
            str(leaves_of(given)[0]),
            "differs between people at one step; bring them in as experiments apart: --column experiment=COLUMN",
        )
        found[name] = kept
    return found


def _payoffs(cells: RowCells, given: Any, n_options: int, step: Array, n_steps: int) -> Array:
    """``(n_steps, n_options)`` what each option would have paid, the same for everybody.

    Raises:
        TrialsError: There is not one column for each option, or participants differ.
    """
    if not isinstance(given, list | tuple) or len(given) != n_options:
        raise TrialsError(
            f"{PAYOFF}: give a list of {n_options} columns, one for each option "
            f"(participants.columns.stimulus.{PAYOFF})."
        )
    values = read_part(cells, given, PAYOFF)
    kept = np.zeros((n_steps, n_options))
    kept[step[::-1]] = values[::-1]
    cells.refuse(
        (values != kept[step]).any(axis=1),
        str(given[0]),
        "differs between people at one step; bring them in as experiments apart",
    )
    return kept


def _same_for_all(cells: RowCells, column: str, step: Array, n_steps: int) -> Array:
    """``(n_steps,)`` what a column says of each step, which must be the same for everybody."""
    values = cells.numbers(column)
    cells.refuse(~np.isin(values, (0, 1)), column, "is neither 0 nor 1")
    found = _most_say(values, step, n_steps)
    cells.refuse(
        values != found[step],
        column,
        "differs between people at one step; bring them in as experiments apart: --column experiment=COLUMN",
    )
    return found


def _most_say(values: Array, step: Array, n_steps: int) -> Array:
    """``(n_steps,)`` the median of what rows say of each step, so that a wrong row is told from the right ones."""
    found = pd.Series(values).groupby(step).quantile(0.5, interpolation="lower")
    return np.asarray(found.reindex(np.arange(n_steps)))


LAYOUT = StimulusLayout(
    {
        "options": "number of options",
        PAYOFF: "list of columns: what each option would have paid at the step, for participants who are simulated",
        "stage": "column: 0 for a first or only stage, 1 for the second",
        "block_start": "column: 1 where a new game begins",
        SECOND: "column: the choice at the second stage, where a row is a trial of two stages",
        "state": "column: likewise the state that the first choice led to",
    },
    (),
    None,
    from_steps=sequence_of_steps,
    inputs={
        "second_stage": NeededParts(
            (SECOND, "stage"),
            "which choices are of a second stage",
            "planning over two stages, and credit that a first choice receives for the second",
        )
    },
)
"""The steps of this kind of task as columns; they are made from the order of the responses."""


def steps_with_attributes(domain: HasAttributes) -> StimulusLayout:
    """The layout of steps whose options are described by attributes."""
    plain = layout_of_attributes(domain)
    parts = {**plain.parts, "block_start": "column: 1 where a new game begins"}
    parts[PAYOFF] = LAYOUT.parts[PAYOFF]
    return replace(plain, parts=parts, from_steps=sequence_of_steps)
