"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.games.task import PLAYERS
from lakatos.experiments.adoption.layouts import Reading, StimulusLayout
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import ACCEPT
from lakatos.experiments.adoption.recognised import accepts, completed
from lakatos.experiments.adoption.signatures import (
    NEARLY_ALL,
    OF_AMOUNTS,
    ColumnSignature,
    TableSignature,
    counterparts,
    is_not_above,
)
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


def _guess_games(names: Sequence[str]) -> dict[str, Any]:
    """Columns whose names hold the player and the cell, as ``own_12`` does; all eight or none."""
    found = {}
    for player in PLAYERS:
        rows = [[_of_cell(names, player, f"{row}{column}") for column in (1, 2)] for row in (1, 2)]
        if not all(name for row in rows for name in row):
            return {}
        found[player] = rows
    return found


def _of_cell(names: Sequence[str], player: str, cell: str) -> str:
    """The column of a player's payoff in a cell; empty where there is none."""
    return next((name for name in names if {player, cell} <= set(words_of(name))), "")


SELF = {
    "own", "self", "me", "my", "mine", "you", "your", "keep", "decider", "dictator", "player", "subject", "ich",
    "selbst", "moi", "soi", "propio", "ego", "yo", "io", "eu", "ik", "je",
}  # fmt: skip
OTHER = {
    "other", "others", "recipient", "partner", "receiver", "them", "their", "opponent", "counterpart", "andere",
    "anderer", "empfaenger", "autre", "otro", "otra", "pareja", "alter", "rec",
}  # fmt: skip
"""Words in names of columns of what one gets, and of what the other one gets."""
OFFERED = {"offer", "offered", "offers", "proposal", "proposed", "angebot", "offre", "oferta"}
"""Words in names of columns of what a responder would get."""
NO_MONEY = {"p", "prob", "probability", "chance", "delay", "days", "weeks", "months", "rt", "time"}


def recognise(table: TableSignature) -> Reading | None:
    """Two divisions of money between oneself and another one; or an offer out of a sum, which is taken or refused."""
    numbers = [item for item in table.numbers() if not item.words & NO_MONEY]
    numbers = [item for item in numbers if item.name != table.response]
    found = _dilemma(table) or _matrix(table, numbers)
    return found or _divisions(numbers) or _offer(table, numbers)


COOPERATES, DEFECTS = {"c", "coop", "cooperate", "cooperation"}, {"d", "defect", "defection"}
"""Cells of choices in a prisoner's dilemma."""


def _dilemma(table: TableSignature) -> Reading | None:
    """Payoffs of dilemmas by their letters: temptation, reward, punishment and sucker's payoff; and who cooperated."""
    named = {name.upper(): name for name, own in table.columns.items() if own.is_number}
    if not {"T", "R", "P", "S"} <= set(named):
        return None
    t, r, p, s = (named[letter] for letter in "TRPS")
    codes = {
        item.name: {cell: int(cell.casefold() in DEFECTS) for cell in item.distinct}
        for item in table.free
        if len(item.distinct) == 2
        and all(
            {cell.casefold() for cell in item.distinct} & kind for kind in (COOPERATES, DEFECTS)
        )
        and not item.words & OTHER
    }
    if not codes:
        return None
    stimulus = {"own": [[r, s], [t, p]], "other": [[r, t], [s, p]]}
    note = (
        f"{t}, {r}, {p}, {s} are taken for payoffs of a dilemma; the first option is to cooperate"
    )
    if len(codes) > 1:
        options = " or ".join(f"--column response={name}" for name in codes)
        question = f"several columns say who cooperated; say which holds the responses: {options}"
        return Reading(stimulus, (t, r, p, s), notes=(note,), questions=(question,))
    ((response, code),) = codes.items()
    return Reading(stimulus, (t, r, p, s), response=response, responses=code, notes=(note,))


def _matrix(table: TableSignature, numbers: Sequence[ColumnSignature]) -> Reading | None:
    """Payoffs of two players by the row and the column, each named by a word, as ``own_up_left``; else nothing."""
    cells: dict[str, dict[frozenset[str], str]] = {"own": {}, "other": {}}
    words: list[str] = []
    for item in numbers:
        own_words = words_of(item.name)
        for player, mark, no_mark in (("own", SELF, OTHER), ("other", OTHER, SELF)):
            rest = [word for word in own_words if word not in mark]
            if len(rest) == len(own_words) - 1 == 2 and not set(own_words) & no_mark:
                cells[player][frozenset(rest)] = item.name
                words += [word for word in rest if word not in words]
    own, other = cells["own"], cells["other"]
    if not (len(own) == 4 and set(own) == set(other) and len(words) == 4):
        return None
    sides = [pair for pair in combinations(words, 2) if not any(set(pair) <= cell for cell in own)]
    if len(sides) != 2:
        return None
    chosen = [
        (column, pair)
        for column in table.columns.values()
        for pair in sides
        if {" ".join(words_of(cell)) for cell in column.distinct} == set(pair)
        and not column.words & OTHER
    ]
    shown = (*own.values(), *other.values())
    if len(chosen) != 1:
        stimulus = {player: _by_rows(cells[player], *sides) for player in PLAYERS}
        options = [
            f"--column response=COLUMN --column 'own={json.dumps(_by_rows(own, *pairs))}' --column "
            f"'other={json.dumps(_by_rows(other, *pairs))}'"
            for pairs in (sides, sides[::-1])
        ]
        question = (
            "these seem to be payoffs in games of two players, and no column says "
            f"{' or '.join(sides[0])}, or {' or '.join(sides[1])}, as a choice. Name the column of responses, and the "
            f"payoffs by one's own options: {' or '.join(options)}"
        )
        return Reading(stimulus, shown, questions=(question,))
    ((column, rows),) = chosen
    columns = sides[1 - sides.index(rows)]
    code = {cell: rows.index(" ".join(words_of(cell))) for cell in column.distinct}
    stimulus = {player: _by_rows(cells[player], rows, columns) for player in PLAYERS}
    return Reading(stimulus, shown, rows, response=column.name, responses=code)


def _by_rows(
    cells: Mapping[frozenset[str], str], rows: tuple[str, str], columns: tuple[str, str]
) -> list[list[str]]:
    """Columns of payoffs by the word for the row and that for the column."""
    return [[cells[frozenset((row, column))] for column in columns] for row in rows]


def _divisions(numbers: Sequence[ColumnSignature]) -> Reading | None:
    names = [item.name for item in numbers if item.words & (SELF | OTHER)]
    words = {item.name: item.words for item in numbers}
    for sides, pairs in counterparts(names).items():
        own = [pair for pair in pairs if all(words[name] & SELF - OTHER for name in pair)]
        other = [pair for pair in pairs if all(words[name] & OTHER for name in pair)]
        if len(pairs) == 2 and len(own) == len(other) == 1 and len(names) == 4:
            stimulus = {
                "own": [[name, name] for name in own[0]],
                "other": [[name, name] for name in other[0]],
            }
            note = f"{', '.join(names)} are taken for two divisions with another one, who chooses nothing"
            return Reading(stimulus, (*own[0], *other[0]), sides, notes=(note,))
    return None


def _offer(table: TableSignature, numbers: Sequence[ColumnSignature]) -> Reading | None:
    """An offer that is never above the sum it comes from; leaving it is the first option, and taking it the second."""
    offers = [item for item in numbers if item.words & OFFERED and not item.words & ACCEPT]
    if len(offers) != 1 or any(item.words & SELF and item.words & OTHER for item in numbers):
        return None
    offer = offers[0]
    sums = [
        item
        for item in (*numbers, *table.constants())
        if item is not offer
        and is_not_above(offer.values, item.values)
        and item.between(1e-9, np.inf)
        and len(item.distinct) <= len(offer.distinct)
        and (item.words & OF_AMOUNTS or any(_is_rest(own, item, offer) for own in numbers))
    ]
    if len(sums) > 1:  # what the proposer keeps is the rest of the sum, and no sum
        sums = [
            item
            for item in sums
            if any(_is_rest(other, item, offer) for other in sums if other is not item)
        ]
    if len(sums) != 1:
        return None
    rest = f"{sums[0].name} - {offer.name}"
    stimulus = {"own": [[0, 0], [offer.name] * 2], "other": [[0, 0], [rest] * 2]}
    note = (
        f"{offer.name} is taken for an offer out of {sums[0].name}: refusing it, the first option, leaves both with "
        "nothing"
    )
    reading = completed(table, Reading(stimulus, (offer.name, sums[0].name), notes=(note,)))
    if reading.response not in table.columns:
        return reading
    column = table.columns[reading.response]
    distinct_cells = [
        cell for cell in column.distinct if cell not in reading.missing.get(column.name, ())
    ]
    return replace(reading, responses=accepts(column, distinct_cells))


def _is_rest(rest: ColumnSignature, whole: ColumnSignature, offer: ColumnSignature) -> bool:
    known = np.isfinite(rest.values) & np.isfinite(whole.values) & np.isfinite(offer.values)
    return bool(known.any()) and bool(
        np.isclose(rest.values + offer.values, whole.values)[known].mean() >= NEARLY_ALL
    )


def _games(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({name: parts[name] for name in PLAYERS})


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """Return the properties by which rows are compared."""
    own, other = stimuli["own"], stimuli["other"]
    return {
        "mean payoff of one's own": own.mean(axis=2),
        "worst payoff of one's own": own.min(axis=2),
        "best payoff of one's own": own.max(axis=2),
        "mean payoff of the other": other.mean(axis=2),
    }


def _divided(stimuli: Stimuli) -> tuple[Array, Array]:
    """``(n_trials, 2)`` what each gets by both options where the other one chooses nothing; 0 in other games."""
    own, other = stimuli["own"], stimuli["other"]
    is_alike = (own[:, :, 0] == own[:, :, 1]) & (other[:, :, 0] == other[:, :, 1])
    is_division = is_alike.all(axis=1, keepdims=True)
    return own[:, :, 0] * is_division, other[:, :, 0] * is_division


def _for_second(stimuli: Stimuli) -> Array:
    """Compute how much more oneself gets by the second of two divisions."""
    return np.diff(_divided(stimuli)[0], axis=1)[:, 0]


def _dominance(stimuli: Stimuli) -> Array:
    """Return values above 0 where the second of two divisions dominates, below 0 where the first does.

    A division dominates if it leaves nobody with less and is no less equal.
    """
    own, other = _divided(stimuli)
    gains = np.diff([own, other, -np.abs(own - other)], axis=2)[:, :, 0]
    low, high = gains.min(axis=0), gains.max(axis=0)
    return np.where(low >= 0, high, np.where(high <= 0, low, 0.0))


LAYOUT = StimulusLayout(
    {
        "own": "two lists of two columns: what the person gets, by the own row and the other's column",
        "other": "two lists of two columns: what the other player gets",
    },
    PLAYERS,
    _games,
    _guess_games,
    recognise=recognise,
    kind="matrix games, and offers accepted or rejected",
    guess_rank=0,
    properties=_properties,
    in_favour=_for_second,
    dominance=_dominance,
)
"""The trials of this kind of task as columns."""
