"""Conditions within participants in a file: the column that holds them becomes a part of each trial."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.adopt import AdoptedAnswers
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import ORDER
from lakatos.experiments.adoption.plausible import question
from lakatos.experiments.conditions import CONDITION, MOST_CONDITIONS_WITHIN
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Stimuli, Trials

Array = NDArray[Any]
LEAST_PARTICIPANTS = 2
"""Participants with responses in each condition, and in several."""


def check_attributes(
    found: AdoptedAnswers, columns: AnswerColumns, conditions: Collection[str] = ()
) -> None:
    """Refuse an attribute of participants that says different things of one of them.

    Args:
        found: What was read.
        columns: With the attributes.
        conditions: Attributes that may differ within participants, since they are compared as conditions.

    Raises:
        TrialsError: An attribute differs; the message says what to do.
    """
    for name in sorted({*columns.attributes} - {*conditions, columns.condition}):
        for own, item in zip(found.beside, found.trials, strict=True):
            if name not in own:
                continue
            values = pd.DataFrame({"who": item.participant, "cell": own[name]})
            several = values[values["cell"] != ""].groupby("who")["cell"].nunique()
            if n_people := int((several > 1).sum()):
                raise TrialsError(
                    f"{name} (--column attributes={name}) is no attribute of participants, since it differs within "
                    f"{n_people} of {item.n_participants}. If it is a condition, say --column condition={name}, or "
                    f"compare parameters by it: `lakatos theory effects FILE THEORY --by {name}`; if cells are wrong, "
                    "correct the file."
                )


def condition_names(found: AdoptedAnswers, column: str) -> dict[str, str]:
    """The name of each condition by the cells that say it, in the order of the cells.

    Raises:
        TrialsError: The column cannot hold conditions within participants; the message says why.
    """
    key = f"participants.columns.condition: {column}"
    cells = [np.array([str(cell).strip() for cell in own[column]]) for own in found.beside]
    whole = np.concatenate(cells) if cells else np.empty(0, dtype=str)
    levels = sorted(set(whole.tolist()) - {""})
    if (whole == "").any():
        rows = f"where.{column}='{json.dumps(levels[:MOST_CONDITIONS_WITHIN], ensure_ascii=False)}'"
        raise TrialsError(
            f"{key} is empty beside {int((whole == '').sum())} responses; say which rows count: --column {rows} "
            "(participants.columns.where)."
        )
    if not 2 <= len(levels) <= MOST_CONDITIONS_WITHIN:
        raise TrialsError(
            f"{key} has {len(levels)} different value{'s' * (len(levels) != 1)} ({', '.join(levels[:4])}"
            f"{', ...' if len(levels) > 4 else ''}); conditions are 2 to {MOST_CONDITIONS_WITHIN}."
        )
    varies = [
        len(set(own[item.participant == person].tolist())) > 1
        for item, own in zip(found.trials, cells, strict=True)
        for person in range(item.n_participants)
    ]
    if not any(varies):
        raise TrialsError(
            f"{key} is the same in all responses of a participant; name it in attributes instead."
        )
    names = {level: _as_name(level) for level in levels}
    if len(set(names.values())) < len(names):
        raise TrialsError(
            f"{key} has values that differ in signs only: {', '.join(levels)}; rename them, by recode."
        )
    return names


def check_conditions(
    found: AdoptedAnswers, columns: AnswerColumns, domain: Domain
) -> AdoptedAnswers:
    """Refuse conditions that cannot be compared within participants; else the same responses, with what was accepted.

    Raises:
        TrialsError: A condition has responses of one participant only, or too few participants have several conditions.
        ImplausibleError: All of them had the conditions in one order, and the mapping does not accept it.
    """
    if not columns.condition:
        return found
    key = f"participants.columns.condition: {columns.condition}"
    orders = [order for order in _orders_met(found, columns.condition) if order]
    several = [order for order in orders if len(set(order)) > 1]
    for cell in condition_names(found, columns.condition):
        if sum(cell in order for order in orders) < LEAST_PARTICIPANTS:
            raise TrialsError(
                f"{key} is {cell} in responses of one participant only, and a comparison needs two; leave these rows "
                "out (participants.columns.where)."
            )
    if len(several) < LEAST_PARTICIPANTS:
        raise TrialsError(
            f"{key} differs within one participant only, and otherwise between participants; name it in attributes "
            "instead."
        )
    notes: list[str] = []
    is_ordered = domain.sequential or ORDER not in found.closed
    if is_ordered and len(set(several)) == 1 and len(set(several[0])) == len(several[0]):
        question(
            columns,
            notes,
            "one_order",
            f"{key} comes in one order for all participants ({', '.join(several[0])}), so that its effect cannot be "
            "distinguished from one of time",
        )
    return replace(found, notes=(*found.notes, *notes))


def _orders_met(found: AdoptedAnswers, column: str) -> list[tuple[str, ...]]:
    """The conditions of each participant of each experiment in the order of presentation, each as long as it lasted."""
    orders = []
    for item, own in zip(found.trials, found.beside, strict=True):
        cells = pd.Series(own[column]).astype(str).str.strip()
        for _, met in cells.groupby(np.asarray(item.participant)):
            orders.append(tuple(met[met != met.shift()]))
    return orders


def _as_name(cell: str) -> str:
    """A cell as the name of a condition: small letters, digits and _."""
    name = re.sub(r"[^a-z0-9]+", "_", cell.lower()).strip("_")
    return (name if name[:1].isalpha() else f"level_{name}")[:40]


def with_file_conditions(found: AdoptedAnswers, column: str, domain: Domain) -> AdoptedAnswers:
    """The same responses, each to a trial in its condition.

    Raises:
        TrialsError: See `condition_names`.
    """
    places = {cell: place for place, cell in enumerate(condition_names(found, column))}
    trials = []
    for item, own in zip(found.trials, found.beside, strict=True):
        place = np.array([places[str(cell).strip()] for cell in own[column]])
        pairs, trial = _rows_in_conditions(item, item.trial * len(places) + place, domain)
        arrays = item.stimuli.take(pairs // len(places)).arrays
        shown = Stimuli({**arrays, CONDITION: (pairs % len(places)).astype(np.float64)})
        trials.append(replace(item, stimuli=shown, trial=trial))
    return replace(found, trials=tuple(trials))


def _rows_in_conditions(trials: Trials, pair: Array, domain: Domain) -> tuple[Array, Array]:
    """The trials in their conditions that are rows of the stimuli, and the row of each response.

    Steps of a schedule follow one another: each order of conditions that participants met is a schedule of its own.
    These stand one after the other, longest first, and participants who stopped earlier share rows with others.

    Args:
        trials: Responses.
        pair: ``(n_rows,)`` number of each response's trial in its condition.
        domain: Of the trials.
    """
    if not domain.sequential:
        pairs, trial = np.unique(pair, return_inverse=True)
        return pairs, trial.reshape(-1)
    own_rows = [np.flatnonzero(trials.participant == who) for who in range(trials.n_participants)]
    met = {tuple(pair[rows].tolist()) for rows in own_rows}
    schedules: list[tuple[int, ...]] = []
    first_row: dict[tuple[int, ...], int] = {}
    for own in sorted(met, key=lambda item: (-len(item), item)):
        same = (item for item in schedules if item[: len(own)] == own)
        shared = next(same, None)
        if shared is None:
            first_row[own] = sum(map(len, schedules))
            schedules.append(own)
        else:
            first_row[own] = first_row[shared]
    trial = np.zeros(len(pair), dtype=np.int64)
    for rows in own_rows:
        trial[rows] = first_row[tuple(pair[rows].tolist())] + np.arange(len(rows))
    return np.concatenate([np.array(own, dtype=np.int64) for own in schedules]), trial
