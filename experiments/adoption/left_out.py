"""Rows of a file that are not read, by kind: how many, of which participants and conditions, in one small table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc

from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.row_words import MOST_ROWS_NAMED, rows_named
from lakatos.traces.wording import plural

HEADER = ("rows left out", "rows", "participants", "conditions")
MOST_IN_SENTENCES = 5
"""Rows that a sentence names."""
MOST_PARTICIPANTS = 3
MOST_CONDITIONS = 12
LEAST_UNEQUAL = 0.1
"""Difference of shares of lost trials between conditions from which on it is questioned."""
MOST_BY_CHANCE = 1e-4
"""Probability of such shares by chance (a chi-squared test of rows), from which on they are not."""
MOST_ZEROS = 4
"""Conditions up to which those that lose no row are shown, too."""
CONDITIONS = {"condition", "cond", "group", "treatment", "arm"}
"""Words in names of columns of conditions; the table counts the rows that each condition loses."""
PRACTICE_LOOPS = {"practice", "prac", "training", "train", "warmup"}
"""Words in names of columns that are filled in trials of practice alone."""


@dataclass(frozen=True)
class LeftOutKind:
    """Rows that are left out for one reason."""

    reason: str
    rows: tuple[int, ...]
    """Numbers of the rows in the file; several responses may stand in one row."""
    participants: Mapping[str, int]
    """Number of these rows by participant; empty where rows are of none."""
    conditions: Mapping[str, Mapping[str, int]]
    """Number of these rows by the cell of each column of conditions."""

    @property
    def sentence(self) -> str:
        """State the number of rows and which they are, without names of participants."""
        different = sorted(set(self.rows))
        what = "row" if len(different) == len(self.rows) else "answer"
        are = "is" if len(self.rows) == 1 else "s are"
        return (
            f"{len(self.rows):,} {what}{' ' if len(self.rows) == 1 else ''}{are} left out: {self.reason} "
            f"({rows_named(different, MOST_IN_SENTENCES)})"
        )


@dataclass(frozen=True)
class LeftOutTable:
    """Rows that are left out, by kind; the same table in whatever reads the file."""

    kinds: tuple[LeftOutKind, ...] = ()
    n_all: int = 0
    """Rows of the file, or responses where several stand in a row."""
    participants: int = 0
    """Participants of the whole file."""
    conditions: Mapping[str, Mapping[str, int]] | None = None
    """Rows of the whole file by the cell of each column of conditions."""

    @property
    def n_rows(self) -> int:
        """Rows of all kinds."""
        return sum(len(kind.rows) for kind in self.kinds)

    def lines(self) -> tuple[str, ...]:
        """The table as text, aligned, with a line for each kind and one for all; nothing where no row is left out."""
        if not self.kinds:
            return ()
        cells = [HEADER, *map(self._cells, self.kinds), self._all()]
        used = [place for place in range(len(HEADER)) if any(row[place] for row in cells[1:])]
        widths = [max(len(row[place]) for row in cells) for place in used]
        return tuple(
            "  ".join(row[place].ljust(width) for place, width in zip(used, widths, strict=True)).rstrip()
            for row in cells
        )  # fmt: skip

    def sentences(self) -> tuple[str, ...]:
        """The same in sentences, without names of participants, as a run keeps them."""
        if not self.kinds:
            return ()
        by_condition = (
            f"rows left out by {name}: "
            + ", ".join(
                f"{cell or '(empty)'} {n:,} of {all_of[cell]:,}" for cell, n in left.items()
            )
            for name, (left, all_of) in self._by_condition().items()
        )
        return (*(kind.sentence for kind in self.kinds), *by_condition)

    def _by_condition(self) -> dict[str, tuple[dict[str, int], Mapping[str, int]]]:
        """For each column of conditions, count the excluded rows, and all rows, by cell."""
        return {
            name: (
                {cell: sum(kind.conditions.get(name, {}).get(cell, 0) for kind in self.kinds)
                 for cell in all_of},
                all_of,
            )
            for name, all_of in (self.conditions or {}).items()
        }  # fmt: skip

    def _cells(self, kind: LeftOutKind) -> tuple[str, ...]:
        rows = rows_named(sorted(set(kind.rows)), MOST_ROWS_NAMED).partition(" ")[2]
        return (
            kind.reason,
            f"{len(kind.rows):,} ({rows})",
            _participants_in_words(kind.participants),
            "; ".join(filter(None, (_counts_in_words(*item) for item in kind.conditions.items()))),
        )

    def _all(self) -> tuple[str, ...]:
        n_people = len({who for kind in self.kinds for who in kind.participants})
        by_condition = (
            _counts_in_words(name, left, all_of)
            for name, (left, all_of) in self._by_condition().items()
        )
        return (
            "all",
            f"{self.n_rows:,} of {self.n_all:,}",
            f"{n_people:,} of {self.participants:,}" if self.participants else "",
            "; ".join(filter(None, by_condition)),
        )


def _counts_in_words(
    name: str, counts: Mapping[str, int], all_of: Mapping[str, int] | None = None
) -> str:
    """Rows by cell; where there are many cells, only those that have some."""
    shown = counts if len(counts) <= MOST_ZEROS else {cell: n for cell, n in counts.items() if n}
    of = {} if all_of is None else {cell: f" of {all_of[cell]:,}" for cell in shown}
    parts = (f"{cell or '(empty)'}: {n:,}{of.get(cell, '')}" for cell, n in shown.items())
    return f"{name} {', '.join(parts)}" if shown else ""


def _participants_in_words(counts: Mapping[str, int]) -> str:
    """State the number of participants, and the rows of those with most of them."""
    if not counts:
        return ""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    named = [f"{who or '(empty)'}: {n:,}" for who, n in ordered[:MOST_PARTICIPANTS]]
    more = ", ..." if len(counts) > MOST_PARTICIPANTS else ""
    return f"{len(counts):,} ({', '.join(named)}{more})"


class RowsLeftOut:
    """Rows that are left out while a file is read, by reason."""

    def __init__(self) -> None:
        """No row is left out yet."""
        self._parts: dict[str, list[tuple[pd.DataFrame, NDArray[Any]]]] = {}
        self._no_trials: set[str] = set()

    def add(
        self,
        reason: str,
        rows: pd.DataFrame,
        numbers: Sequence[int] | NDArray[Any],
        *,
        is_trial: bool = True,
    ) -> None:
        """Leave rows out, given their numbers in the file; ``is_trial``: whether a response is lost with each."""
        if len(rows):
            self._parts.setdefault(reason, []).append((rows, np.asarray(numbers)))
            if not is_trial:
                self._no_trials.add(reason)

    def add_all(self, other: RowsLeftOut) -> None:
        """Leave out the rows of another collection, too."""
        for reason, parts in other._parts.items():
            self._parts.setdefault(reason, []).extend(parts)

    def unequal(self, read: pd.DataFrame, columns: AnswerColumns) -> str:
        """The conditions that lose unequal shares of their trials, in words; empty where there are none.

        Unequal are shares that differ by a tenth or more, and by more than chance, also without the participant who
        lost most.

        Args:
            read: The rows that are read.
            columns: Columns that name participants, experiments and congruence.
        """
        lost = [
            _without_practice(rows, read)
            for reason, own in self._parts.items()
            for rows, _ in own
            if reason not in self._no_trials
        ]
        who = columns.participant
        lost = [rows for rows in lost if len(rows)]
        if not lost or not all(who in rows.columns for rows in (read, *lost)):
            return ""
        by_name = columns.model_copy(update={"attributes": ()})
        for name in _columns_that_tell([read, *lost], by_name):
            if not all(name in rows.columns for rows in (read, *lost)):
                continue
            both = pd.concat([read[[who, name]], *(rows[[who, name]] for rows in lost)])
            both["lost"] = np.arange(len(both)) >= len(read)
            if not 2 <= both[name].nunique() <= MOST_CONDITIONS:
                continue
            worst = both.groupby(who)["lost"].sum().idxmax()
            if _are_unequal(both, name) and _are_unequal(both[both[who] != worst], name):
                shares = both.groupby(name)["lost"].agg(["sum", "size"])
                words = (
                    f"{cell or '(empty)'} {n:,} of {size:,}"
                    for cell, n, size in shares.itertuples()
                )
                return (
                    f"conditions ({name}) lose unequal shares of their trials: {', '.join(words)}"
                )
        return ""

    def table(self, read: pd.DataFrame, columns: AnswerColumns) -> LeftOutTable:
        """Tabulate what is excluded, by kind.

        Args:
            read: The rows that are read.
            columns: Columns that name participants, experiments, attributes and congruence.
        """
        if not self._parts:
            return LeftOutTable()
        frames = [read, *(rows for own in self._parts.values() for rows, _ in own)]
        who = columns.participant
        # Few columns are looked at, so that a million rows take little room.
        named = [who, *_columns_that_tell(frames, columns)]
        parts = {
            reason: pd.concat([_only(rows, named) for rows, _ in own])
            for reason, own in self._parts.items()
        }
        whole = pd.concat([_only(read, named), *parts.values()])
        named = [name for name in named[1:] if name in read]
        names = [name for name in named if 2 <= whole[name].nunique() <= MOST_CONDITIONS]
        all_of = {name: _counts(whole, name) for name in names}
        who = who if who in whole.columns else ""
        return LeftOutTable(
            kinds=tuple(
                LeftOutKind(
                    reason=reason,
                    rows=tuple(int(n) for _, numbers in self._parts[reason] for n in numbers),
                    participants=_counts(rows, who),
                    conditions={
                        name: dict.fromkeys(all_of[name], 0) | _counts(rows, name) for name in names
                    },
                )
                for reason, rows in parts.items()
            ),
            n_all=len(whole),
            participants=whole.loc[whole[who] != "", who].nunique() if who else 0,
            conditions=all_of,
        )


def _without_practice(rows: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """Rows without those of practice, as columns say that are named by it and empty in all rows that are read."""
    named = [name for name in rows.columns if set(words_of(str(name))) & PRACTICE_LOOPS]
    named = [name for name in named if name in read.columns and not (read[name] != "").any()]
    return rows[~(rows[named] != "").any(axis=1).to_numpy()] if named else rows


def _are_unequal(both: pd.DataFrame, name: str) -> bool:
    """Whether the shares of lost rows differ between the cells of a column by enough, and by more than chance."""
    counts = pd.crosstab(both[name], both["lost"])
    if counts.shape[0] < 2 or counts.shape[1] < 2:
        return False
    shares = counts[True] / counts.sum(axis=1)
    if shares.max() - shares.min() < LEAST_UNEQUAL:
        return False
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(both)
    statistic = float(((counts.to_numpy() - expected) ** 2 / expected).sum())
    return bool(chdtrc(counts.shape[0] - 1, statistic) < MOST_BY_CHANCE)


def _only(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    return rows[[name for name in dict.fromkeys(names) if name in rows.columns]]


def _counts(rows: pd.DataFrame, name: str) -> dict[str, int]:
    """Number of rows by the cell of a column, in the order of the cells."""
    if name not in rows.columns:
        return {}
    counts = rows[name].fillna("").value_counts()
    return {str(cell): int(n) for cell, n in sorted(counts.items())}


def _columns_that_tell(frames: Sequence[pd.DataFrame], columns: AnswerColumns) -> list[str]:
    """The columns of conditions, experiments, attributes and congruence, by their names; not what people did."""
    found = {
        columns.experiment,
        *columns.attributes,
        *leaves_of(columns.stimulus.get("congruence", "")),
    }
    done = {columns.response, columns.response_time, *columns.feedback.values()}
    names = dict.fromkeys(str(name) for frame in frames for name in frame.columns)
    return [
        name
        for name in names
        if name in found or (name not in done and set(words_of(name)) & CONDITIONS)
    ]


def gone_people(whole: pd.DataFrame, left: pd.DataFrame, columns: AnswerColumns) -> list[str]:
    """State how many people have no row left; not their names, as a run keeps these words."""
    if columns.participant not in whole.columns:
        return []
    before, after = (set(frame[columns.participant].unique()) for frame in (whole, left))
    n_gone = len(before - after - {""})
    return [f"{plural(n_gone, 'person has', 'people have')} no row left"] if n_gone else []
