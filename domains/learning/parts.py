"""Parts of a file of learners, such as games or sessions: where learning begins anew, and where it may do so unread."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr

from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.plausible import is_mixed, question
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.signatures import SCHEDULES
from lakatos.experiments.adoption.tables import numbers_of
from lakatos.experiments.errors import TrialsError

Array = NDArray[Any]
MOSTLY = 0.9
"""Share of cells that are 0 or 1 in a column of flags, of which some may be wrong."""
FEWEST_STEPS = 4
"""Steps of a game."""
GAMES = {"game", "games", "spiel"}
"""Words in names of columns that number games."""
SESSIONS = {"day", "days", "visit", "date", "appointment", "sitzung", "termin", "durchgang"}
"""Further words in names of columns that divide the rows of a participant."""
RECENT, FIRST = 5, 3
"""Choices before a change of part, which show what was learned, and choices after it, which may repeat them."""
FEWEST_PAIRS = 5
SURPRISING = 0.01
DOUBTFUL = 0.1
"""Probability by chance above which the first choices alone do not show a new beginning."""
SHARED = 0.5
"""Share of participants whose parts begin at one step, where a column is no response of theirs."""


def games_of(cells: RowCells, given: Any, participant: Array) -> Array:
    """``(n_rows,)`` number of each participant's game, from 0.

    Args:
        cells: Rows by participant and in the order of the participant's steps.
        given: A column that flags where a game begins, numbers games or numbers the steps of each; a list of columns
            that number games together; or nothing, for one game.
        participant: ``(n_rows,)`` number of the participant.

    Raises:
        TrialsError: The column does none of these.
    """
    names = [str(name) for name in (given if isinstance(given, list | tuple) else [given]) if name]
    if not names:
        return np.zeros(len(participant), dtype=np.int64)
    for name in names:
        cells.refuse_empty(cells.text(name) == "", name)
    column, texts = " and ".join(names), _joined(cells, names)
    is_new = np.diff(participant, prepend=-1) != 0
    begins = np.append(False, texts[1:] != texts[:-1])
    if len(names) == 1:
        is_0_or_1, is_one = np.isin(texts, ("0", "1", "0.0", "1.0")), np.isin(texts, ("1", "1.0"))
        # A flag is 1 at one step of a game, a number at all of them.
        goes_on = is_one & ~is_new & np.append(False, is_one[:-1])
        if is_0_or_1.mean() > MOSTLY and 2 * goes_on.sum() <= is_one.sum():
            cells.refuse(~is_0_or_1, column, "is neither 0 nor 1")
            return _numbered(begins & is_one & ~is_new, participant)
        if numbers_of(cells.frame[column]).notna().mean() > 0.5:
            values = cells.numbers(column)  # a cell that is no number is wrong there
            if (falls := falls_of_counter(values, participant)) is not None:
                return _numbered(falls, participant)
    n_runs = int((begins | is_new).sum())
    if is_mixed(texts, participant) and len(texts) <= FEWEST_STEPS * n_runs:
        raise TrialsError(
            f"{cells.name}: {column} comes and goes within participants, so that it numbers no games: say which column "
            "does, or is 1 where a game begins (--column block_start=COLUMN)."
        )
    return _numbered(begins & ~is_new, participant)


def _joined(cells: RowCells, names: Sequence[str]) -> Array:
    """``(n_rows,)`` the cells of some columns as one text."""
    rows = zip(*(cells.text(name) for name in names), strict=True)
    return np.array(["\x1f".join(row) for row in rows], dtype=object)


def _numbered(begins: Array, participant: Array) -> Array:
    """``(n_rows,)`` number of the participant's part, which is one more where a part begins after another."""
    count = np.cumsum(begins)
    is_new = np.diff(participant, prepend=-1) != 0
    first = np.maximum.accumulate(np.where(is_new, np.arange(len(count)), 0))
    return np.asarray(count - count[first], dtype=np.int64)


def falls_of_counter(values: Array, participant: Array) -> Array | None:
    """``(n_rows,)`` where numbers that rise from row to row begin anew; None where they do not rise like a counter."""
    is_same = np.diff(participant, prepend=-1) == 0
    change = np.diff(values, prepend=np.nan)
    falls, rises = is_same & (change < 0), is_same & (change > 0)
    is_counter = rises.sum() > MOSTLY * (is_same.sum() - falls.sum())
    is_counter &= FEWEST_STEPS * falls.sum() <= is_same.sum()
    return falls if is_counter and rises.any() else None


def steps_of_games(game: Array, participant: Array) -> tuple[Array, Array]:
    """``(n_rows,)`` step of each row, and ``(n_steps,)`` whether a game begins there.

    Each game has as many steps as the participant with most steps in it, so that those who missed one begin the next
    game at the same step as the others.
    """
    within = pd.Series(game).groupby([participant, game]).cumcount().to_numpy()
    lengths = np.zeros(int(game.max()) + 1, dtype=np.int64)
    np.maximum.at(lengths, game, within + 1)
    firsts = np.cumsum(lengths) - lengths
    return firsts[game] + within, 1.0 * np.isin(np.arange(lengths.sum()), firsts)


def check_parts_go_on(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    cue: Array | None,
    chosen: Array,
    notes: list[str],
) -> None:
    """Note columns of runs or games that are not read, and question those where first choices show a new beginning.

    Args:
        cells: Rows by participant and in the order of the participant's steps.
        columns: What they mean.
        participant: ``(n_rows,)`` number of the participant.
        cue: ``(n_rows,)`` cue, or None.
        chosen: ``(n_rows,)`` chosen option.
        notes: What is assumed is added to them.

    Raises:
        ImplausibleError: Choices after a change of a column are unlike those before it.
    """
    if "block_start" in columns.stimulus:
        return
    begins_in = _possible_parts(cells, columns, participant)
    level = SURPRISING / max(len(begins_in), 1)
    anew: dict[str, tuple[float, float]] = {}
    for name, begins in begins_in.items():
        # A change of session is one of block, too: the own changes of the finer column are tested.
        known = [begins_in[other] for other in anew]
        tested = begins & ~np.any(known, axis=0) if known else begins
        part = np.cumsum(begins)
        first = [
            likeness_to_choices_before(part, participant, cue, chosen, tested=tested, n_first=n)
            for n in (FIRST, 1)
        ]
        if p_of_less(*first[0]) < level and p_of_less(*first[1]) < DOUBTFUL:
            anew[name] = float(np.nanmean(first[0][0])), float(np.nanmean(first[0][1]))
    if anew:
        name, (after, others) = next(reversed(anew.items()))
        where = [other for other in anew if (begins_in[other] & ~begins_in[name]).any()] + [name]
        given = name if len(where) == 1 else f"'{json.dumps(where)}'"
        question(
            columns,
            notes,
            "goes_on",
            f"{cells.name}: {_words(name)}, but the first {FIRST} choices after a change of {name} repeat "
            f"{after:.0%} of the {RECENT} before it, and other choices {others:.0%}. If learning begins anew there, "
            f"say --column block_start={given}",
        )
    notes.extend(
        f"{_words(name)}; if a new game begins there, say --column block_start={name}"
        for name in begins_in
        if name not in anew and _divides_by_name(name)
    )


def _words(name: str) -> str:
    return f"{name} changes within participants, and what was learned is taken to go on from one to the next"


def _divides_by_name(name: str) -> bool:
    return bool(set(words_of(name)) & (SCHEDULES | GAMES | SESSIONS))


def _possible_parts(
    cells: RowCells, columns: AnswerColumns, participant: Array
) -> Mapping[str, Array]:
    """``(n_rows,)`` where a column begins another part of the participant's rows, by its name; few parts first.

    A column divides the rows by its name, or at the same steps for most participants, as no response does; or it
    numbers rows and begins anew.
    """
    read = {"participant", "experiment", "order", "condition"}
    used = {*map(str, leaves_of(columns.model_dump(exclude=read))), *columns.where}
    used |= {columns.participant, columns.experiment}
    is_same = np.diff(participant, prepend=-1) == 0
    place = pd.Series(participant).groupby(participant).cumcount().to_numpy()
    n_people = len(np.unique(participant))
    found: dict[str, Array] = {}
    for name in map(str, cells.frame.columns):
        if name in used:
            continue
        texts = cells.text(name)
        begins = is_same & np.append(False, texts[1:] != texts[:-1])
        if 2 * begins.sum() > is_same.sum():
            counter = falls_of_counter(numbers_of(cells.frame[name]).to_numpy(), participant)
            if counter is None:
                continue
            begins = counter
        elif not _divides_by_name(name):
            n_at_step = np.bincount(place, weights=begins)[place]
            is_shared = n_at_step >= SHARED * np.bincount(place)[place]
            if n_people < FEWEST_PAIRS or not is_shared[begins].sum() > SHARED * begins.sum():
                continue
        is_known = any(np.array_equal(begins, other) for other in found.values())
        n_parts = int(begins.sum()) + n_people
        if begins.any() and len(begins) > FEWEST_STEPS * n_parts and not is_known:
            found[name] = begins
    return dict(sorted(found.items(), key=lambda item: int(item[1].sum())))


def likeness_to_choices_before(
    part: Array,
    participant: Array,
    cue: Array | None,
    chosen: Array,
    *,
    tested: Array | None = None,
    n_first: int = FIRST,
) -> tuple[Array, Array]:
    """Share of the `RECENT` choices at the same cue before a change of part, or before any choice, that others repeat.

    Args:
        part: ``(n_rows,)`` run or session; rows are in the order of the participant's steps.
        participant: ``(n_rows,)`` number of the participant.
        cue: ``(n_rows,)`` cue, or None.
        chosen: ``(n_rows,)`` chosen option.
        tested: ``(n_rows,)`` where the parts begin whose first choices are looked at; all by default.
        n_first: Number of choices at the beginning of a part.

    Returns:
        For each participant the mean over the first choices of parts after another, and the mean over all as many
        choices whose recent ones are of the same part; NaN where there are none.
    """
    frame = pd.DataFrame({
        "who": participant, "cue": 0 if cue is None else cue, "part": part, "chosen": chosen,
        "tested": True if tested is None else tested,
    })  # fmt: skip
    is_tested = frame.groupby(["who", "part"], sort=False)["tested"].transform("any")
    groups = frame.groupby(["who", "cue"], sort=False)
    lags = [groups["chosen"].shift(lag) for lag in range(1, RECENT + n_first)]
    run = (frame["part"] != groups["part"].shift()).groupby([frame["who"], frame["cue"]]).cumsum()
    place = frame.groupby(["who", "cue", run], sort=False).cumcount()
    is_known = groups.cumcount() - place >= RECENT
    likes = []
    for after in range(n_first):
        recent = lags[after : after + RECENT]
        like = sum((own == frame["chosen"]).astype(float) for own in recent) / RECENT
        is_first = is_known & is_tested & (place == after)
        likes.append((like.where(is_first), like.where(place >= after + RECENT)))
    first, later = (
        pd.DataFrame([own.groupby(frame["who"]).mean() for own in kind]).mean().to_numpy()
        for kind in zip(*likes, strict=True)
    )
    return first, later


def p_of_less(first: Array, later: Array) -> float:
    """Probability by chance that the paired differences of participants are as far below zero (t test, one-sided)."""
    difference = (first - later)[np.isfinite(first - later)]
    n = len(difference)
    if n < FEWEST_PAIRS or not difference.std():
        return 1.0
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(n))
    return float(stdtr(n - 1, t))
