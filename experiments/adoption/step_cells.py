"""Steps of a schedule in a file: how many options there are, and the scale of their rewards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.layouts import counts_options
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.tables import AnswerTable
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain

WON = {
    "win", "won", "reward", "rewarded", "gain", "hit", "true", "yes", "correct", "gewinn", "gewonnen", "treffer",
    "gagné", "gagne", "ganancia", "ganado", "winst",
}  # fmt: skip
NOT_WON = {
    "no win", "nowin", "no reward", "noreward", "unrewarded", "nonreward", "nothing", "miss", "false", "no",
    "incorrect", "neutral", "zero", "omission", "nichts", "niete", "rien", "nada", "niets",
}  # fmt: skip
LOST = {
    "loss", "lose", "lost", "punishment", "punished", "verlust", "verloren", "perte", "perdu", "pérdida", "perdido",
    "verlies",
}  # fmt: skip
"""Words for what followed a step, in small letters."""


GO = "go"
"""Part of the trials: the cell of the response that stands for responding, where another one is to withhold one."""
WITHHELD = "nothing pressed"
"""Word for a response that was withheld where its cell is empty."""


def with_withheld(
    table: AnswerTable, columns: AnswerColumns, notes: list[str]
) -> tuple[AnswerTable, AnswerColumns]:
    """The table with a word for withheld responses, where responses are the key for responding or nothing.

    Only rows in which something followed, as rewards and cues say, show a trial.
    """
    go, response = str(columns.stimulus.get(GO, "")), columns.response
    if not go or response not in table.columns:
        return table, columns
    texts = table.frame[response].str.strip()
    if set(texts) != {go, ""}:
        return table, columns
    named = [*leaves_of(columns.feedback), *leaves_of(columns.stimulus)]
    shown = [name for name in named if name in table.columns]
    is_shown = (table.frame[shown] != "").all(axis=1)
    is_withheld = (texts == "") & is_shown
    frame = table.frame.assign(**{response: texts.mask(is_withheld, WITHHELD).astype("str")})
    notes.append(
        f"{response}: {go} is a response, and an empty cell is a response that was withheld "
        f"({int(is_withheld.sum()):,} rows)"
    )
    place = columns.responses.get(go, 1)
    code = {WITHHELD: 1 - place, go: place}
    return replace(table, frame=frame), columns.model_copy(update={"responses": code})


def is_reward_in_words(cells: Sequence[str]) -> bool:
    """Whether all cells are words for what was won or lost."""
    distinct = {cell.strip().casefold() for cell in cells} - {""}
    return bool(distinct & WON) and distinct <= WON | NOT_WON | LOST


def rewards(cells: RowCells, column: str, notes: list[str]) -> NDArray[np.float64]:
    """``(n_rows,)`` numbers of a column of rewards; words such as TRUE and FALSE are 1 and 0.

    Raises:
        TrialsError: The words are win and loss alone, of which the latter may be 0 or -1.
    """
    distinct = {cell: cell.strip().casefold() for cell in set(cells.text(column).tolist())}
    if not is_reward_in_words(list(distinct)):
        return cells.numbers(column)
    words = set(distinct.values()) - {""}
    if words & LOST and not words & NOT_WON:
        won, lost = (
            next(c for c, word in sorted(distinct.items()) if word in kind) for kind in (WON, LOST)
        )
        raise TrialsError(
            f"{cells.name}: {column} says {won} and {lost}. Is {lost} nothing won (--column "
            f"'recode.{column}={{{won} = 1, {lost} = 0}}') or something lost (--column "
            f"'recode.{column}={{{won} = 1, {lost} = -1}}')? In a study: participants.columns.recode."
        )
    number = {
        cell: 1.0 if word in WON else 0.0 if word in NOT_WON else -1.0
        for cell, word in distinct.items()
    }
    listed = ", ".join(f"{cell} is {number[cell]:g}" for cell in sorted(distinct) if cell.strip())
    notes.append(f"{column}: {listed}")
    cells.refuse_empty(cells.changed(column, str.strip) == "", column)
    return cells.changed(column, number.__getitem__).astype(np.float64)


GAINED = {"gain", "gains", "win", "wins", "won"}
OF_LOSSES = {
    "loss", "losses", "lose", "lost", "punishment", "punished", "punish", "shock", "shocks", "cost", "costs", "penalty",
    "pain", "fine",
}  # fmt: skip
"""Words in names of columns of what is won, and of what nobody wants."""


def is_loss(name: str, values: NDArray[np.float64]) -> bool:
    """Whether a column's name and its numbers, none of them negative, say how much was lost."""
    words = set(words_of(name))
    return (
        bool(words & OF_LOSSES) and not words & GAINED and bool(np.nanmin(values, initial=0) >= 0)
    )


def outcome_of_choice(
    reward: str, response: str, cells: Sequence[str], names: Sequence[str]
) -> str:
    """The reward as the outcome of the option chosen, such as ``outcome_{choice}``; empty where it is no such thing.

    So it is where its column is named by a cell of the response, and with another cell in its place it is the name
    of another column: every option has its outcome, chosen or not. One cell, of missed responses, may have no column.
    """
    known = {name.casefold() for name in names if name != response}
    distinct = sorted({cell.strip().casefold() for cell in cells if cell.strip()})
    for cell in distinct if len(distinct) > 1 else ():
        for found in re.finditer(re.escape(cell), reward.casefold()):
            before, after = reward[: found.start()], reward[found.end() :]
            n_known = len({f"{before}{own}{after}".casefold() for own in distinct} & known)
            if n_known >= max(2, len(distinct) - 1):
                return f"{before}{{{response}}}{after}"
    return ""


@dataclass(frozen=True)
class RewardScale:
    """The rewards of a file."""

    size: float = 1.0
    """The largest reward or loss, which stands for 1."""
    has_losses: bool = False
    """Whether some rewards are below 0, so that participants expect 0 at first, and not half of the largest reward."""

    def of(self, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rewards as shares of the largest one."""
        return (rewards / self.size).round(12)


def scale_of_rewards(
    cells: RowCells, columns: AnswerColumns, domain: Domain, notes: list[str]
) -> RewardScale:
    """The scale of a file's rewards, so that theories do not depend on their unit.

    Declared tasks state the range of their outcomes; there rewards stay as they are.
    """
    column = columns.feedback.get("reward", "")
    if not counts_options(domain) or not column:
        return RewardScale()
    found = rewards(cells, column, [])
    size = float(np.abs(found).max(initial=0.0)) or 1.0
    if size != 1.0:
        notes.append(
            f"{column}: rewards are divided by {size:g}, the largest one, so that theories do not depend on their unit"
        )
    has_losses = bool(found.min(initial=0.0) < 0)
    if has_losses:
        notes.append(f"{column}: some rewards are losses, so expectations begin at 0")
    return RewardScale(size, has_losses)


def number_of_options(columns: AnswerColumns, domain: Domain) -> int:
    """Return the number of options of each trial or step: the domain's, or the mapping's.

    Raises:
        TrialsError: The mapping has to say it, and does not.
    """
    if not counts_options(domain):
        return len(domain.options)
    n_stated = columns.stimulus.get("options")
    if not isinstance(n_stated, int) or n_stated < 2:
        raise TrialsError(
            "say how many options each step has, from 2: --column options=2 "
            "(participants.columns.stimulus.options)."
        )
    return n_stated
