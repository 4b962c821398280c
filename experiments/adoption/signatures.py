"""Signatures of columns: what their values show of their roles, whatever the columns are called.

A *signature* is a property of values: a column counts up within each participant, lies below another one in every row,
takes two values, is a function of others, or is followed by a repeated choice. Kinds of tasks recognise their files by
such properties (`StimulusLayout.recognise`); words of names are one more piece of evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.cell_units import days_of, has_units, with_unit
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.tables import by_distinct, numbers_of, places_of
from lakatos.experiments.adoption.units import CURRENCIES, PER_CENT

Array = NDArray[np.float64]
Places = NDArray[np.int64]
MOST_SEEN = 20_000
"""Rows that are looked at; a role shows in these."""
MOST_CELLS = 1_000_000
"""Cells that are looked at, so that tables of many columns take no longer."""
NEARLY_ALL = 0.98
"""Share of rows in which a relation between columns holds; the others may be wrong cells."""
FEWEST_ROWS = 4
"""Fewest rows of a participant."""
MOST_CODES = 12
"""Different cells of a column of responses."""
CLEAR = 4.0
"""Standard errors from which on a relation is no chance."""
SCHEDULES = {"block", "session", "phase", "run", "stage", "part", "round", "wave", "set"}
"""Words in names of columns that divide the rows of a participant."""
ITEMS = {"item", "question", "q", "row", "problem", "game", "card", "list"}
"""Words in names of columns that number what is shown, in which order that may be."""
SHOWN_ITEMS = {"stimulus", "stim", "image", *ITEMS}
"""Words in names of columns that number what is shown, which may stand in the same order for each participant."""
STEPS = {
    "trial", "step", "event", "node", "sender", "screen", "page", "slide", "component",
    "condition", "group", *SHOWN_ITEMS, *SCHEDULES,
}  # fmt: skip
"""Words in names of columns of identifiers that are those of steps, trials or what these show, not of participants."""
RANKS = {
    "rank",
    "rang",
    "order",
    "position",
    "pos",
    "sequence",
    "seq",
    "volgorde",
    "reihenfolge",
    "ordre",
    "orden",
}
"""Words in names of columns that number rows as they came, in whatever order they stand in the file."""
COUNTERS = {
    "trial", "task", "aufgabe", "taak", "tache", "tarea", "index", "sequence", "number", "num", "nr", "no", "id",
    *ITEMS, *SCHEDULES,
}  # fmt: skip
"""Words of which names of columns consist that number what is shown, and so are no amounts."""
DERIVED = {"est", "estimated", "fitted", "k", "kappa", "logk", "ev", "sv", "auc", "beta", "utility"}
"""Words in names of columns of what was computed from trials or responses, such as a rate of discounting."""
OF_AMOUNTS = {
    "amount", "amounts", "amt", "money", "payoff", "payout", "outcome", "outcomes", "out", "reward", "value", "val",
    "x", "v", "o", "gain", "gains", "win", "loss", "losses", "lose", "magnitude", "mag", "prize", "price", "eur",
    "euro", "euros", "usd", "dollar", "dollars", "cents", "sure", "safe", "cert", "certain", "fixed", "guaranteed",
    "high", "low", "hi", "lo", "sum", "total", "pie", "pot", "stake", "stakes", "endowment", "budget", "cake",
    "betrag", "gewinn", "verlust",
}  # fmt: skip
"""Words in names of columns of amounts."""
PARTS_OF_NAMES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d{1,18}")


@dataclass(frozen=True, eq=False)
class ColumnSignature:
    """A column's cells, and its numbers."""

    name: str
    cells: pd.Series
    """Text without spaces around."""

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of its name, in English."""
        return frozenset(words_of(self.name))

    @cached_property
    def code(self) -> Places:
        """``(n_rows,)`` number of each cell in the order in which cells come."""
        return np.asarray(pd.factorize(self.cells)[0], dtype=np.int64)

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """Different cells that are not empty."""
        return tuple(cell for cell in pd.unique(self.cells).tolist() if cell)

    @cached_property
    def is_delay_in_words(self) -> bool:
        """Whether cells say delays with their unit, such as ``in 7 days``."""
        if self._plain or not self.distinct:
            return False
        return all(days_of(cell) is not None for cell in self.distinct)

    @cached_property
    def _plain(self) -> bool:
        return bool(np.isfinite(numbers_of(pd.Series(self.distinct, dtype=object))).all())

    @cached_property
    def values(self) -> Array:
        """``(n_rows,)`` its numbers, without their units; NaN where there is none."""
        if self._plain:
            return np.asarray(numbers_of(self.cells), dtype=np.float64)
        if self.is_delay_in_words:
            return np.asarray(by_distinct(self.cells, _days), dtype=np.float64)
        if has_units(self.distinct):
            return np.asarray(by_distinct(self.cells, _number), dtype=np.float64)
        return np.full(len(self.cells), np.nan)

    @cached_property
    def is_number(self) -> bool:
        """Whether all of its filled cells are numbers."""
        filled = (self.cells != "").to_numpy()
        return bool(filled.any()) and bool(np.isfinite(self.values[filled]).all())

    @cached_property
    def is_money(self) -> bool:
        """Whether its numbers have a unit of money beside them, such as ``£12``."""
        if self._plain or not self.is_number:
            return False
        found = [with_unit(cell) for cell in self.distinct]
        return any(item is not None and item.unit in CURRENCIES for item in found)

    @cached_property
    def is_whole(self) -> bool:
        """Whether its numbers are whole."""
        known = self.values[np.isfinite(self.values)]
        return self.is_number and bool((known == np.round(known)).all())

    def between(self, low: float, high: float) -> bool:
        """Whether all of its numbers are in a range."""
        known = self.values[np.isfinite(self.values)]
        return self.is_number and bool(((known >= low) & (known <= high)).all())


def _days(cell: str) -> float:
    days = days_of(cell) if cell else None
    return np.nan if days is None else days


def _number(cell: str) -> float:
    found = with_unit(cell) if cell else None
    if found is None:
        return np.nan
    value = pd.to_numeric(found.number.replace(",", "."), errors="coerce")
    value = float(value) / 100 if found.unit in PER_CENT else float(value)
    return -value if found.is_negative else value


@dataclass(frozen=True, eq=False)
class TableSignature:
    """The columns of a table, and those that are known to name participants, their order and times."""

    columns: Mapping[str, ColumnSignature]
    participant: str = ""
    order: str = ""
    time: str = ""
    response: str = ""
    """The column of responses that the user named; empty where none was."""
    named: Mapping[str, str] = field(default_factory=dict)
    """The meaning that the name of each column suggests."""

    @cached_property
    def person(self) -> Places:
        """``(n_rows,)`` number of the participant."""
        if self.participant in self.columns:
            return self.columns[self.participant].code
        n_rows = len(next(iter(self.columns.values())).cells)
        return np.zeros(n_rows, dtype=np.int64)

    @cached_property
    def free(self) -> tuple[ColumnSignature, ...]:
        """Columns that may describe a trial or a response: they vary, and within participants."""
        taken = {self.participant, self.order, self.time}
        return tuple(
            column
            for name, column in self.columns.items()
            if name not in taken
            and len(column.distinct) > 1
            and not is_fixed_within(column, self.person)
            and not (counts_up(column, self.person) and column.name != self.response)
        )

    def where_filled(self, names: Sequence[str]) -> TableSignature:
        """The rows in which one of some columns says something; all of them where that is so in all, or in none."""
        filled = [(self.columns[name].cells != "").to_numpy() for name in names]
        rows = np.any(filled, axis=0) if filled else np.ones(len(self.person), dtype=bool)
        if rows.all() or not rows.any():
            return self
        columns = {
            name: ColumnSignature(name, own.cells[rows].reset_index(drop=True))
            for name, own in self.columns.items()
        }
        return replace(self, columns=columns)

    def numbers(self) -> list[ColumnSignature]:
        """Free columns of numbers, without those that a name tells to be computed from trials or responses."""
        return [own for own in self.free if own.is_number and not own.words & DERIVED]

    def measures(self) -> list[ColumnSignature]:
        """Free columns of numbers that may be amounts: none that numbers choices or rows."""
        return [
            column
            for column in self.numbers()
            if not column.words <= COUNTERS and not counts_choices(column, self.person)
        ]

    def constants(self) -> list[ColumnSignature]:
        """Columns that say one number in all rows."""
        return [own for own in self.columns.values() if len(own.distinct) == 1 and own.is_number]


def table_signature(
    frame: pd.DataFrame, named: Mapping[str, str], response: str = "", participant: str = ""
) -> TableSignature:
    """The signatures of a table's first rows.

    Args:
        frame: Cells as text.
        named: The meaning that the name of each column suggests.
        response: Column of responses that the user named.
        participant: Column of participants that the user named.
    """
    some = frame.head(max(MOST_CELLS // max(len(frame.columns), 1), 1)).head(MOST_SEEN)
    columns = {
        str(name): ColumnSignature(str(name), some[name].str.strip().reset_index(drop=True))
        for name in some.columns
    }
    by_meaning = {meaning: name for name, meaning in named.items() if name in columns}
    who = participant or by_meaning.get("participant", "") or participant_by_values(columns)
    return TableSignature(
        columns,
        participant=who,
        order=by_meaning.get("order", ""),
        time=by_meaning.get("response_time", ""),
        response=response,
        named=dict(named),
    )


# One column ------------------------------------------------------------------------------------


def is_fixed_within(column: ColumnSignature, person: Places) -> bool:
    """Whether a column says the same in all rows of each participant, of whom there are several."""
    if person.max(initial=0) == 0:
        return False
    frame = pd.DataFrame({"who": person, "cell": column.code})[(column.cells != "").to_numpy()]
    return bool((frame.groupby("who")["cell"].nunique() <= 1).all())


def counts_up(column: ColumnSignature, person: Places) -> bool:
    """Whether a column counts the rows of each participant up from 0 or 1, with few numbers left out."""
    if not column.is_whole or len(column.distinct) < FEWEST_ROWS or (column.cells == "").any():
        return False
    values = pd.Series(column.values)
    steps = values.groupby(person).diff().dropna()
    starts = values.groupby(person).first()
    if not len(steps) or not bool(((starts >= 0) & (starts <= 3)).mean() >= NEARLY_ALL):
        return False
    return bool((steps > 0).mean() >= NEARLY_ALL) and float(steps.mean()) <= 2


def is_clock(column: ColumnSignature, person: Places, least: float = NEARLY_ALL) -> bool:
    """Whether a column rises from row to row of each participant, as times since the beginning do."""
    steps = pd.Series(column.values).groupby(person).diff().dropna()
    return bool(len(steps) > FEWEST_ROWS) and bool((steps > 0).mean() >= least)


def counts_choices(column: ColumnSignature, person: Places) -> bool:
    """Whether a column counts from 0 or 1 and says each number in several rows, as where a row is an alternative."""
    if not column.is_whole or len(column.distinct) < FEWEST_ROWS:
        return False
    values = pd.Series(column.values)
    steps, starts = values.groupby(person).diff().dropna(), values.groupby(person).first()
    is_count = bool(len(steps)) and bool(steps.isin([0, 1]).mean() >= NEARLY_ALL)
    return is_count and bool(starts.isin([0, 1]).all()) and bool((steps == 1).any())


def ranks_rows(column: ColumnSignature, person: Places) -> bool:
    """Whether a column numbers the rows of each participant from 1 on, each once, in whatever order they stand."""
    if not column.is_whole or (column.cells == "").any() or len(column.distinct) < FEWEST_ROWS:
        return False
    frame = pd.DataFrame({"who": person, "number": column.values})
    own = frame.groupby("who")["number"].agg(["min", "max", "nunique", "size"])
    is_each_once = own["nunique"] == own["size"]
    return bool((is_each_once & (own["min"] == 1) & (own["max"] <= own["size"] + 1)).all())


def changes_within(column: ColumnSignature, person: Places) -> float:
    """Share of a participant's rows in which a column says something else than in the row before."""
    order = np.argsort(person, kind="stable")  # rows of several participants may come by turns
    own, who = column.code[order], person[order]
    same_person = who[1:] == who[:-1]
    if not same_person.any():
        return 0.0
    return float((own[1:] != own[:-1])[same_person].mean())


def begins_anew(column: ColumnSignature) -> bool:
    """Whether a column counts on over many rows, and again from the beginning, as numbers of trials do."""
    if not column.is_whole or len(column.values) < 2 or column.words & SHOWN_ITEMS:
        return False
    steps = np.diff(column.values)
    starts = column.values[np.append(True, ~(steps > 0))]
    is_long = len(column.values) >= FEWEST_ROWS * len(starts) > FEWEST_ROWS
    is_count = is_long and bool(np.isin(starts, (0, 1, 2, 3)).all())
    return is_count and (bool(column.words & OF_ORDER) or float(np.median(steps[steps > 0])) <= 2)


def changes_by_step(column: ColumnSignature, others: Iterable[ColumnSignature]) -> bool:
    """Whether a column mostly changes where another one, which begins anew again and again, counts on.

    So it names steps, such as ``internal_node_id``, and not participants, who change where trials begin anew. Where
    each row has a cell of its own, as where rows are participants, the other column must be called one of trials.
    """
    changes = np.diff(column.code) != 0
    if not changes.any():
        return False
    is_of_rows = len(column.distinct) == len(column.code)
    orders = (
        other
        for other in others
        if other is not column and begins_anew(other) and (other.words & OF_ORDER or not is_of_rows)
    )
    return any(float((np.diff(own.values) > 0)[changes].mean()) > 0.5 for own in orders)


OF_ORDER = {"trial", "index", "step", "round", "period"}
"""Words in names of columns that count what a participant does."""


def participant_by_values(columns: Mapping[str, ColumnSignature]) -> str:
    """The column that divides the rows into participants, as far as values say it; empty where none does.

    Its cells stand together, and within each of them another column counts up; or they are words with numbers such as
    ``K017``.
    """
    found: list[tuple[int, bool, int, str]] = []
    for name, column in columns.items():
        words = column.words
        sizes = np.bincount(column.code) if len(column.distinct) else np.zeros(1)
        n_runs = 1 + int((np.diff(column.code) != 0).sum())
        if (
            len(column.distinct) < 2
            or (column.cells == "").any()
            or n_runs != len(column.distinct)
            or sizes.min() < FEWEST_ROWS
            or (words & STEPS and "label" not in words)
            or (column.is_number and not column.is_whole)
            or changes_by_step(column, columns.values())
        ):
            continue
        is_id = all(re.fullmatch(r"[A-Za-z_.-]*\d+", cell) for cell in column.distinct)
        others = [other for other in columns.values() if other is not column]
        has_count = any(
            counts_up(other, column.code) or counts_choices(other, column.code) for other in others
        )
        is_text_id = is_id and not column.is_number and len(column.distinct) > 2
        if (has_count and len(column.distinct) > 2) or is_text_id:
            found.append((-len(column.distinct), column.is_number, len(found), name))
    return min(found)[-1] if found else ""


def order_by_values(table: TableSignature, shown: Iterable[str]) -> str:
    """The column that counts the trials of each participant; empty where it may number what was shown instead.

    A number that goes with the same trial for all participants is that of an item.

    Args:
        table: The columns.
        shown: Names of those that describe the trials.
    """
    trial = [table.columns[name].code for name in shown if name in table.columns]
    for name, column in table.columns.items():
        if name == table.participant:
            continue
        is_sorted = counts_up(column, table.person) and is_clock(column, table.person, least=1.0)
        if not is_sorted and not (column.words & RANKS and ranks_rows(column, table.person)):
            continue
        if trial:
            pairs = places_of(column.code, *trial)
            is_item = int(pairs.max()) + 1 < 2 * len(column.distinct)
            if is_item:
                continue
        elif column.words & ITEMS:
            continue
        return name
    return ""


# Two columns -----------------------------------------------------------------------------------


def named_amounts(
    columns: Sequence[ColumnSignature], beside: Sequence[ColumnSignature] = ()
) -> list[ColumnSignature]:
    """The columns whose names speak of amounts, or share a word with such a name or with one of other columns.

    All of them where no name speaks of amounts, as where names mean nothing.
    """
    named = [item for item in columns if item.words & OF_AMOUNTS]
    if not named:
        return list(columns)
    shared = {part for item in (*named, *beside) for part in _parts(item.name)}
    return [item for item in columns if item in named or _parts(item.name) & shared]


def _parts(name: str) -> set[str]:
    return {part.casefold() for part in PARTS_OF_NAMES.findall(name) if not part.isdigit()}


def is_below(low: Array, high: Array) -> bool:
    """Whether one column lies below another one in nearly all rows, and equals it in few others."""
    known = np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return False
    below, above = low[known] < high[known], low[known] > high[known]
    return bool(below.mean() >= 0.9) and bool(above.mean() <= 1 - NEARLY_ALL)


def is_not_above(low: Array, high: Array) -> bool:
    """Whether one column never lies above another one, wrong cells aside."""
    known = np.isfinite(low) & np.isfinite(high)
    return bool(known.any()) and bool((low[known] <= high[known]).mean() >= NEARLY_ALL)


def is_function_of(column: ColumnSignature, *others: ColumnSignature) -> bool:
    """Whether a column follows from others, whose combinations come again often enough to show it."""
    place = places_of(*(other.code for other in others))
    n_places = int(place.max()) + 1
    if n_places > len(place) / 2:
        return False
    pairs = places_of(place, column.code)
    return int(pairs.max()) + 1 == n_places


def signed_pair(columns: Iterable[ColumnSignature]) -> tuple[ColumnSignature, ...]:
    """Two columns of strengths on the left and on the right, of which one is empty or 0 in each row; else nothing."""
    sided = [item for item in columns if item.words & {"left", "right", "l", "r"}]
    known = {item.name: item for item in sided if item.is_number and len(item.distinct) > 2}
    pairs = counterparts(list(known))
    for sides in (("left", "right"), ("right", "left"), ("l", "r"), ("r", "l")):
        for pair in pairs.get(sides, ()):
            found = [known[name] for name in (pair if sides[0][0] == "l" else pair[::-1])]
            left, right = (np.nan_to_num(item.values) for item in found)
            if left.any() and right.any() and not (left * right).any() and min(*left, *right) >= 0:
                return tuple(found)
    return ()


def is_one_to_one(one: ColumnSignature, other: ColumnSignature) -> bool:
    """Whether each of two columns follows from the other one."""
    return is_function_of(one, other) and is_function_of(other, one)


def association(one: Array, other: Array) -> float:
    """The correlation of two columns in standard errors; 0 where one does not vary."""
    known = np.isfinite(one) & np.isfinite(other)
    if known.sum() < 8 or np.ptp(one[known]) == 0 or np.ptp(other[known]) == 0:
        return 0.0
    r = float(np.corrcoef(one[known], other[known])[0, 1])
    return abs(r) * float(np.sqrt(known.sum()))


def dependence(response: ColumnSignature, columns: Sequence[Array]) -> float:
    """Measure how clearly a column of a few codes depends on numbers, in standard errors of the clearest relation."""
    codes = range(len(response.distinct) if len(response.distinct) > 2 else 1)
    indicators = [(response.cells == response.distinct[k]).to_numpy(np.float64) for k in codes]
    return max((association(own, values) for own in indicators for values in columns), default=0.0)


def stays_after_reward(choice: ColumnSignature, reward: Array, person: Places) -> float:
    """Compute by how many standard errors choices are repeated more often after high rewards than after low ones.

    A person's steps with one choice are compared among themselves (the statistic of Mantel and Haenszel, 1959), so that
    a number which only comes with a choice, such as an offer that is accepted, is no reward.
    """
    known = np.isfinite(reward)
    if not known.any():
        return 0.0
    pair = (person[1:] == person[:-1]) & known[:-1] & (choice.cells != "").to_numpy()[1:]
    is_high = (reward > np.nanmean(reward))[:-1][pair].astype(np.float64)
    is_same = (choice.code[1:] == choice.code[:-1])[pair].astype(np.float64)
    if min(n_high := is_high.sum(), len(is_high) - n_high) < 5:
        return 0.0
    group = places_of(person[:-1][pair], choice.code[:-1][pair])
    n, high, stay, both = (
        np.bincount(group, own).astype(np.float64)
        for own in (np.ones(len(group)), is_high, is_same, is_high * is_same)
    )
    variance = high * (n - high) * stay * (n - stay) / np.maximum(n**2 * (n - 1), 1)
    if not variance.sum():
        return 0.0
    return float((both - high * stay / n).sum() / np.sqrt(variance.sum()))


def is_running_sum(column: Array, of: Array, person: Places) -> bool:
    """Whether a column sums up another one within participants."""
    same_person = person[1:] == person[:-1]
    step, own = np.diff(column)[same_person], of[1:][same_person]
    known = np.isfinite(step) & np.isfinite(own) & (own != 0)
    return bool(known.sum() > 3) and bool(np.isclose(step, own)[known].mean() > 0.8)


# Names that differ in one place ----------------------------------------------------------------


def counterparts(names: Sequence[str]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Pairs of columns whose names differ in one word, or in one letter, by the two words, those of most pairs first.

    ``ll_amt`` and ``ss_amt`` are a pair of ``ll`` and ``ss``; ``gainL`` and ``gainR`` of ``l`` and ``r``; ``pHa`` and
    ``pHb`` of ``a`` and ``b``.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for one, other in combinations(names, 2):
        differs = _one_difference(one, other)
        if differs is None:
            continue
        if differs[::-1] in found:
            found[differs[::-1]].append((other, one))
        else:
            found.setdefault(differs, []).append((one, other))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _one_difference(one: str, other: str) -> tuple[str, str] | None:
    """The words, or else the letters, in which two names differ; None where they differ in more than one place."""
    words = [[word.casefold() for word in PARTS_OF_NAMES.findall(name)] for name in (one, other)]
    if len(words[0]) == len(words[1]) > 1:
        differs = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
        if len(differs) == 1:
            one, other = differs[0]
            letter = _one_letter(one, other) if len(one) == len(other) > 1 else None
            return letter or differs[0]
    if len(one) != len(other):
        return None
    return _one_letter(one, other)


def _one_letter(one: str, other: str) -> tuple[str, str] | None:
    """The letter in which two texts of one length differ; None where they differ in more."""
    letters = [
        pair for pair in zip(one.casefold(), other.casefold(), strict=True) if pair[0] != pair[1]
    ]
    return letters[0] if len(letters) == 1 else None
