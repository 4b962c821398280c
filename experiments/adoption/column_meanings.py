"""Possible meanings of each column of a file, by its name and its cells: the participant, a response, an order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.cell_units import has_units
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import CHOICES, words_of
from lakatos.experiments.adoption.signatures import (
    STEPS,
    ColumnSignature,
    changes_by_step,
    counts_choices,
    counts_up,
    is_clock,
    is_fixed_within,
    participant_by_values,
    ranks_rows,
    table_signature,
)
from lakatos.experiments.adoption.step_cells import is_reward_in_words
from lakatos.experiments.adoption.tables import numbers_of, places_of

NAMES: dict[str, str] = {
    "participant": "participant subject subj sub pid person worker ppt ppn prolific responder respondent user vp vpn "
    "versuchsperson proband probandin teilnehmer teilnehmerin subjects id file filename",
    "response": "response choice choose chosen chose chooses resp answer decision action key keys pick picked accept "
    "accepted gamble gambled prediction predicted passed gave sent wahl antwort arm deck r",
    "response_time": "rt latency reaction reaktionszeit",
    "order": "trial order index step sequence durchgang runde",
    "experiment": "experiment study exp condition platform task",
    "count": "n count answers total",
    "share": "share rate proportion prop",
    "reward": "reward points outcome payoff feedback won win money",
}
"""Words of columns' names that suggest a meaning, the most telling first."""
ONE_OF_SEVERAL = "participant?"
"""Meaning of each of several columns that may name participants."""
WEAK = {"id", "file", "filename", "r"}
"""Words that suggest a meaning only where values speak for it too, or where the name is nothing else."""
ALONE = {"r", "subjects"}
"""Words that suggest a meaning only where the name is nothing else."""
LAB_JS = {"sender", "ended_on"}
"""Columns of a file of lab.js, whose exports name two meanings in their own way."""
OF_LAB_JS = {"observation": "participant", "duration": "response_time"}
PRACTICE = {
    "practice",
    "prac",
    "training",
    "train",
    "demo",
    "instruction",
    "instructions",
    "warmup",
}
"""Words in names of columns of trials that do not count."""
SUMMARIES = {"avg", "average", "mean", "median", "cum", "cumul", "cumulative", "running"}
"""Words in names of columns that sum up several responses, and so are no response, time or reward of one."""
IDENTIFIERS = {"id", "ids", "pid", "code", "number", "num", "nr", "no"}
"""Words in names of columns that name participants, beside those such as ``Participant Status``."""
OF_EXPERIMENTS = {"experiment", "study", "exp"}
"""Words in names of columns of experiments; other columns tell experiments apart where participants are in one each."""
TIMED = {"response", "reaction", "decision", "choice"}
"""Words that stand before "time" in names of columns of response times."""
PERSONAL = ("age", "gender", "sex", "group", "country", "education", "language", "diagnosis")
NUMBERS = frozenset((
    "response", "answer", "estimate", "estimation", "rating", "judgment", "judgement", "guess", "bid", "offer",
    "contribution", "price", "value",
))  # fmt: skip
"""Words of names of columns that may hold answers that are numbers."""
MOST_SHOWN = 4
LONGEST_SHOWN = 40
"""Letters of a cell."""
LONG_NUMBER = re.compile(r"^(-?\d+[.,]\d{4})\d{3,}$")
"""A number with more decimals than anybody reads."""
FEW_VALUES = 12
LARGE_ID = 1e6
"""Numbers of participants from which on they are shown in full."""
FEWEST_NUMBERS = 6
"""Different values of a column whose numbers may be answers."""


@dataclass(frozen=True)
class ColumnSummary:
    """Summary of one column."""

    name: str
    meaning: str
    """Meaning that it seems to have; empty where nothing suggests itself."""
    n_missing: int
    n_distinct: int
    numeric: bool
    low: float
    high: float
    examples: tuple[str, ...]

    @property
    def words(self) -> str:
        """Values of the column, for people to read."""
        is_id = self.meaning == "participant" and self.high >= LARGE_ID
        if self.numeric and self.n_distinct > FEW_VALUES and not is_id:
            return f"{self.low:g} to {self.high:g}, {self.n_distinct:,} different"
        cells = self.examples[:MOST_SHOWN]
        if self.numeric:  # a cell may have sixteen digits
            cells = tuple(LONG_NUMBER.sub(r"\1", cell) for cell in cells)
        shown = ", ".join(f"{cell:.{LONGEST_SHOWN}}" for cell in cells)
        return shown + (
            f", ... {self.n_distinct:,} different" if self.n_distinct > MOST_SHOWN else ""
        )


def with_participant(meanings: Mapping[str, str], who: str) -> dict[str, str]:
    """The meanings of columns, given the one that names participants."""
    words = ("participant", ONE_OF_SEVERAL)
    rest = {name: own for name, own in meanings.items() if own not in words and name != who}
    return rest | {who: "participant"}


def without_practice(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns that do not belong to practice trials alone; all of them where there are no others."""
    kept = [name for name in frame.columns if not _is_of_practice(frame, str(name))]
    return frame[kept] if kept else frame


def _is_of_practice(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column's name speaks of practice.

    A train may be one on rails: where every row says something, or ``price_train`` stands beside ``price_bus``.
    """
    words = set(words_of(name))
    if words & PRACTICE != {"train"}:
        return bool(words & PRACTICE)
    rest = words - {"train"}
    others = [set(words_of(str(other))) for other in frame.columns]
    has_counterpart = any(rest < own and "train" not in own for own in others) and bool(rest)
    return not (has_counterpart or bool((frame[name] != "").all()))


def summary_of(frame: pd.DataFrame, name: str) -> ColumnSummary:
    """Summarise one column of a table, before its meaning is guessed."""
    cells = frame[name].str.strip()
    filled = cells[cells != ""]
    values = numbers_of(filled)
    numeric = bool(len(filled)) and bool(values.notna().all())
    examples = tuple(filled.drop_duplicates().head(MOST_SHOWN + 1))
    return ColumnSummary(
        name=name,
        meaning="",
        n_missing=len(cells) - len(filled),
        n_distinct=int(filled.nunique()),
        numeric=numeric,
        low=float(values.min()) if numeric else 0.0,
        high=float(values.max()) if numeric else 0.0,
        examples=examples,
    )


def meanings_of(
    frame: pd.DataFrame, summaries: Sequence[ColumnSummary], made: Sequence[str] = ()
) -> dict[str, str]:
    """The meaning that each column's name suggests; each meaning goes to the column whose name tells it best.

    Args:
        frame: Cells as text.
        summaries: Summaries of its columns.
        made: Columns that number lists of the file, each of which may be of one participant.
    """
    found: dict[str, str] = {}
    counts: list[str] = []
    names = set(without_practice(frame).columns)
    is_weak = any(set(words_of(item.name)) & WEAK for item in summaries)
    columns = table_signature(frame, {}, participant="nobody").columns if is_weak else {}
    has_ids = any(_is_id_of_rows(item, len(frame)) for item in summaries)
    of_program = OF_LAB_JS if {item.name for item in summaries} >= LAB_JS else {}
    for meaning, words in NAMES.items():
        ranked = []
        for item in summaries:
            own_words = words_of(item.name)
            hits = [place for place, word in enumerate(words.split()) if _names_it(own_words, word)]
            if hits and meaning == "response" and _counts_rows(frame, found, item):
                counts, hits = [*counts, item.name], []
            if meaning == "participant":
                named = [(place, words.split()[place]) for place in hits]
                hits = [place for place, own in named if _names_people(item.name, own, columns)]
            if meaning == "response_time" and "time" in own_words and TIMED & set(own_words):
                hits = [0]
            if of_program.get(item.name) == meaning:
                hits = [len(words.split())]  # a word of any program is more telling
            if hits and item.name not in found and item.name in names and _can_be(item, meaning):
                # Of several columns about participants, the one that tells them apart.
                is_name = len(own_words) == 1 or bool(set(own_words) & IDENTIFIERS)
                is_other = int(meaning == "participant" and not (is_name and item.n_distinct > 1))
                is_none = meaning == "participant" and has_ids and not _tells_apart(item)
                if meaning == "order":
                    is_other = _rank_as_order(frame, found, item)
                ranked.append((is_none, hits[0], is_other, len(own_words), item.name))
        best = [own[-1] for own in sorted(ranked) if own[:-1] == min(ranked)[:-1]]
        if meaning == "participant" and len(best) > 1:
            best = _naming_people(frame, best)
        if meaning == "participant" and len(best) > 1:
            found |= dict.fromkeys(best, ONE_OF_SEVERAL)
        elif best:
            found[best[0]] = meaning
    if len(counts) == 1 and "order" not in found.values():
        found.setdefault(counts[0], "order")
    _add_roles_by_values(frame, found, made)
    who = next((name for name, meaning in found.items() if meaning == "participant"), "")
    for item in summaries:
        of_people = item.name not in found and set(words_of(item.name)) & set(PERSONAL)
        if of_people and (not who or _is_fixed(frame, who, item.name)):
            found[item.name] = "attribute of people"
    return found


def _names_people(name: str, word: str, columns: Mapping[str, ColumnSignature]) -> bool:
    """Whether a column that a word tells to name participants does not name steps, if the word is a weak one."""
    if word not in WEAK:
        return True
    is_of_steps = bool(set(words_of(name)) & STEPS - OF_VISITS)
    return not is_of_steps and not changes_by_step(columns[name], columns.values())


OF_VISITS = {"session", "run"}
"""Words in names of columns of identifiers that each participant may have a single one of."""


def _naming_people(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Choose, of columns that may name participants, those whose names suggest no trials and whose cells coincide.

    One of them that tells apart all that the others do, and not each row from all others, is enough.
    """
    names = [name for name in names if not set(words_of(name)) & STEPS] or list(names)
    codes = {name: places_of(frame[name]) for name in names}
    n_cells = {name: int(code.max()) + 1 for name, code in codes.items()}
    names = [name for name in names if n_cells[name] < len(frame)] or names
    for name in names:
        pairs = [int(places_of(codes[name], codes[other]).max()) + 1 for other in names]
        if max(pairs) == n_cells[name]:
            return [name]
    return names


def _counts_rows(frame: pd.DataFrame, found: Mapping[str, str], item: ColumnSummary) -> bool:
    """Whether a column numbers the rows of each participant, as ``decision`` may, and so is no response."""
    who = next((name for name, meaning in found.items() if meaning == "participant"), "")
    if not who or not item.numeric or item.name in found:
        return False
    column, person = _signature(frame, item.name), places_of(frame[who])
    return counts_up(column, person) or ranks_rows(column, person)


def _rank_as_order(frame: pd.DataFrame, found: Mapping[str, str], item: ColumnSummary) -> int:
    """Rank columns that one word calls an order: 0 for one that numbers rows, 2 for one that does not.

    An identifier that numbers each participant's rows alike (1) may be that of an item.
    """
    if item.n_distinct == len(frame) and is_clock(
        _signature(frame, item.name), _people(frame, found)
    ):
        return 0
    if not _counts_rows(frame, found, item):
        return 2
    return int("id" in words_of(item.name))


def _people(frame: pd.DataFrame, found: Mapping[str, str]) -> NDArray[np.int64]:
    """``(n_rows,)`` the participant of each row; one where no column names any."""
    who = next((name for name, meaning in found.items() if meaning == "participant"), "")
    return places_of(frame[who]) if who else np.zeros(len(frame), dtype=np.int64)


def _signature(frame: pd.DataFrame, name: str) -> ColumnSignature:
    return ColumnSignature(name, frame[name].str.strip().reset_index(drop=True))


def _is_id_of_rows(item: ColumnSummary, n_rows: int) -> bool:
    """Whether a column names the participant of each row, as ``ResponseId`` does: no numbers, no trials, none twice."""
    own_words = set(words_of(item.name))
    is_named = bool(own_words & IDENTIFIERS) and not own_words & STEPS
    return is_named and not item.numeric and item.n_distinct == n_rows > 1


def _tells_apart(item: ColumnSummary) -> bool:
    """Whether a column varies, and is no property of participants such as their language."""
    own_words = set(words_of(item.name))
    return item.n_distinct > 1 and (bool(own_words & IDENTIFIERS) or not own_words & set(PERSONAL))


def _add_roles_by_values(frame: pd.DataFrame, found: dict[str, str], made: Sequence[str]) -> None:
    """Add the participant where values tell it, and drop meanings that values speak against."""
    kinds = set(found.values())
    if not kinds & {"participant", ONE_OF_SEVERAL} and not {"count", "share"} <= kinds:
        columns = table_signature(frame, {}).columns
        columns = {n: own for n, own in columns.items() if not own.words & set(PERSONAL)}
        who = participant_by_values(columns)
        # Each list is one participant's, unless another column is the same within lists.
        for name in (own for own in made if own in columns):
            is_named = bool(who) and is_fixed_within(columns[who], columns[name].code)
            who = who if is_named or len(columns[name].distinct) < 2 else name
        if who:
            found[who] = "participant"
    for name in [name for name, meaning in found.items() if meaning == "response"]:
        if chosen := _chosen_there(frame, name):
            found[chosen] = found.pop(name)
    for name in [name for name, meaning in found.items() if meaning == "experiment"]:
        if frame[name].nunique() < 2:
            del found[name]  # one name tells no experiments apart
    if "participant" in found.values():
        for name in [name for name, meaning in found.items() if meaning == "count"]:
            del found[name]
        who = next(name for name, meaning in found.items() if meaning == "participant")
        named = [name for name, meaning in found.items() if meaning == "experiment"]
        for name in named:
            column, person = _signature(frame, name), places_of(frame[who])
            is_count = len(column.distinct) > FEWEST_NUMBERS and counts_choices(column, person)
            is_within = not set(words_of(name)) & OF_EXPERIMENTS and not is_fixed_within(
                column, person
            )
            if is_count or is_within:
                del found[name]


def _chosen_there(frame: pd.DataFrame, name: str) -> str:
    """The column of what was chosen at the places that another one says, as ``x_selected`` beside ``x_response``."""
    if not _says_left_and_right(frame[name]):
        return ""
    words = set(words_of(name))
    found = [
        other
        for other in map(str, frame.columns)
        if words & set(words_of(other)) == set(words_of(other)) - CHOSEN
        and len(set(words_of(other)) & CHOSEN) == len(words - set(words_of(other))) == 1
        and len(words) > 1
        and not _says_left_and_right(frame[other])
    ]
    return found[0] if len(found) == 1 else ""


CHOSEN = CHOICES - {"response", "resp", "answer"}
"""Words in names of columns of what was chosen, beside those of the key that was pressed."""


def _says_left_and_right(cells: pd.Series) -> bool:
    return {"left", "right"} <= set(cells.str.strip().str.casefold())


def _names_it(distinct: Sequence[str], word: str) -> bool:
    """Whether the words of a name hold a word; some must be all of it."""
    return list(distinct) == [word] if word in ALONE else word in distinct


def _is_fixed(frame: pd.DataFrame, who: str, name: str) -> bool:
    """Whether a column says the same in all rows of each participant, as far as it says anything."""
    values = frame[[who, name]][(frame[name] != "").to_numpy()]
    return bool((values.groupby(who, sort=False)[name].nunique() <= 1).all())


OF_ORDERS = {"order", "counterbalance", "counterbalancing", "counterbalanced", "cb"}
"""Words in names of columns of the order in which participants met conditions, which divides no experiments."""


def _can_be(item: ColumnSummary, meaning: str) -> bool:
    """Whether a column's values, and the other words of its name, allow a meaning."""
    if meaning in ("response", "response_time", "reward") and set(words_of(item.name)) & SUMMARIES:
        return False
    if meaning == "response":
        return 2 <= item.n_distinct <= FEW_VALUES
    if meaning == "reward":
        is_amount = item.numeric or has_units(item.examples)
        return item.n_distinct > 1 and (is_amount or is_reward_in_words(item.examples))
    if meaning == "response_time" and set(words_of(item.name)) & {"confidence", "conf"}:
        return False
    if meaning in ("response_time", "share"):
        return item.numeric or has_units(item.examples)
    if meaning in ("order", "count"):
        return item.numeric and (meaning == "count" or item.n_distinct > 1)
    if meaning == "participant":
        strong = set(NAMES["participant"].split()) - WEAK
        return item.n_distinct > 1 or bool(set(words_of(item.name)) & strong)
    is_order = meaning == "experiment" and bool(set(words_of(item.name)) & OF_ORDERS)
    return item.n_distinct <= 200 and not is_order


def with_meaning(item: ColumnSummary, mapping: AnswerColumns) -> ColumnSummary:
    """A column with what the mapping takes it for, where that is another meaning than its name alone suggests."""
    parts = [part for part, value in mapping.stimulus.items() if item.name in flat(value)]
    if parts:
        return replace(item, meaning=parts[0])
    if item.name == mapping.response:
        return replace(item, meaning="response")
    return replace(item, meaning="") if item.meaning == "response" else item


def flat(value: Any) -> list[Any]:
    """The leaves of nested lists, in order."""
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, list) else [value]


def may_be_answers(item: ColumnSummary) -> bool:
    """Whether a column's name says that it may hold answers that are numbers, and it has more than a few."""
    return (
        item.numeric
        and item.n_distinct >= FEWEST_NUMBERS
        and bool(set(words_of(item.name)) & NUMBERS)
    )
