"""Sentences that a user should check before a file is read: rows left out, odd columns, and what was assumed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lakatos.experiments.adoption.cell_units import dated_amounts, has_units, times_of
from lakatos.experiments.adoption.column_meanings import (
    FEW_VALUES,
    LONGEST_SHOWN,
    MOST_SHOWN,
    NAMES,
    ONE_OF_SEVERAL,
    ColumnSummary,
    flat,
    may_be_answers,
    without_practice,
)
from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.guessed_mapping import UNITS, begins_anew
from lakatos.experiments.adoption.layouts import (
    DAYS,
    Reading,
    counts_options,
    layout_of,
    layouts_to_guess,
)
from lakatos.experiments.adoption.mapping import OPEN_QUESTION, AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import ERRORS, MISSING_NUMBERS, words_of
from lakatos.experiments.adoption.option_code import MOST_MISSED, zero_question
from lakatos.experiments.adoption.own_tasks import NOT_READ, own_task_in_words, speaks_of_conflict
from lakatos.experiments.adoption.plausible import (
    MOST_AGAIN,
    marks_of_missing,
    response_at_places,
    rows_in_words,
    rows_that_do_not_count,
    screens_with_responses,
    shown_option,
    stimuli_at_places,
)
from lakatos.experiments.adoption.prepared import AlternativeRows
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.shown_stimuli import places_of_cells
from lakatos.experiments.adoption.side_columns import SIDE
from lakatos.experiments.adoption.signatures import TableSignature, table_signature
from lakatos.experiments.adoption.tables import AnswerTable, numbers_of, places_of
from lakatos.experiments.adoption.timed_answers import OF_RIGHT
from lakatos.experiments.adoption.wide_rows import numbered_items
from lakatos.experiments.answer_scale import heaping_in_words, scale_of
from lakatos.experiments.task import Domain
from lakatos.traces.wording import in_a_list, plural

VISITS = {"date", "datum", "fecha", "session", "sess", "visit", "wave", "day"}
"""Words in names of columns that say when a participant took part."""
FEWEST_ANSWERS = 10
"""Fewest responses of a participant who always responds alike, from which this is reported as odd."""


def practice_in_words(
    frame: pd.DataFrame, where: Mapping[str, Any], stated: AnswerColumns
) -> list[str]:
    """List the rows of practice, or of no participant, that are excluded although the user did not state this."""
    lines = []
    for column, wanted in where.items():
        if column in stated.where:
            continue
        kept = {wanted} if isinstance(wanted, str) else set(wanted)
        cells = frame[column].str.strip()
        rows = frame.index.to_numpy()[(~cells.isin(kept) & (cells != "")).to_numpy()]
        others = sorted(set(cells) - kept - {""})
        why = f"{column} is {' or '.join(others[:3])}" if wanted else f"{column} is not empty"
        found = rows_that_do_not_count(frame, column)
        is_said = found and found[2].startswith(("missed", "attention", "excluded"))
        what = found[2] if found and is_said else "practice or previews"
        name, screens = screens_with_responses(frame)
        if column == name and kept == set(screens):
            what = "screens without a response"
        lines.append(
            f"{rows_named(rows)} {'is' if len(rows) == 1 else 'are'} left out as {what}, since {why}; --accept "
            "practice_rows reads them"
        )
    return lines


def _visits(table: AnswerTable, mapping: AnswerColumns) -> tuple[str, list[str]]:
    """The column, such as a date, of which few participants have several values, and these participants.

    Their numbers of trials begin anew where it changes.
    """
    who, order = mapping.participant, mapping.order
    if not {who, order} <= set(table.columns):
        return "", []
    used = {str(leaf) for leaf in leaves_of(mapping.model_dump())}
    by_person = table.frame.groupby(who, sort=False)
    again = table.frame[table.frame.duplicated([who, order]).to_numpy()][who].unique()
    for name in table.columns:
        words = set(words_of(name))
        if name in used or not (words & VISITS):
            continue
        several = by_person[name].nunique()
        several = several.index[(several > 1).to_numpy()]
        is_told = len(several) and set(again) == set(several)
        is_rare = len(several) <= MOST_AGAIN * len(by_person)
        if is_told and is_rare and not table.frame.duplicated([who, name, order]).any():
            return name, [str(own) for own in several]
    return "", []


def again_in_words(
    table: AnswerTable, mapping: AnswerColumns, domain: Domain | None
) -> tuple[dict[str, Any], list[str]]:
    """Find a few participants who took part twice: the part of the trials that shows it, and a note about it."""
    name, people = _visits(table, mapping)
    if not name:
        return {}, []
    more = ", ..." if len(people) > MOST_SHOWN else ""
    words = (
        f"{', '.join(people[:MOST_SHOWN])}{more} took part more than once: {name} has several values there, with "
        f"{mapping.order} beginning anew"
    )
    if domain is None or not counts_options(domain) or "block_start" in mapping.stimulus:
        return {}, [words]
    who = table.frame[mapping.participant]
    firsts = (
        table.frame.groupby([who, name], sort=False).size().groupby(level=0, sort=False).first()
    )
    starts = set(firsts[people])
    if len(starts) > 1 or who.value_counts().drop(people).max() > min(starts):
        return {}, [
            f"{words}. What was learned is taken to go on; to leave these rows out, delete them from the file"
        ]
    return {"block_start": name}, [
        f"{words}. What was learned is taken to begin anew there (--column block_start={name}); --column block_start= "
        "takes all of their rows as one game"
    ]


def alternatives_in_words(changes: Mapping[str, Any], stated: AnswerColumns) -> tuple[str, ...]:
    """State the options with which rows are read as alternatives, where the user did not state them."""
    if stated.alternative or "alternative" not in changes:
        return ()
    options = (
        f"--column alternative={changes['alternative']} --column choice_set={changes['choice_set']}"
    )
    return (f"rows are read as alternatives, of which one was chosen: {options}",)


def nameless_in_words(rows: AlternativeRows) -> str:
    """State what to do where each row is one alternative and no column names the alternatives."""
    return (
        f"{rows.response} is 1 in exactly one row for each {rows.choice_set}, so that a row seems to be one "
        "alternative of a choice, and no column names the alternatives. Add one (first, second and so on within each "
        f"choice), and say --column alternative=COLUMN --column choice_set={rows.choice_set}"
    )


def people_in_words(meanings: Mapping[str, str]) -> tuple[str, ...]:
    """The question whose responses rows hold, where several columns may name participants."""
    names = [name for name, meaning in meanings.items() if meaning == ONE_OF_SEVERAL]
    if not names:
        return ()
    options = " or ".join(f"--column participant={name}" for name in names)
    return (
        f"{in_a_list(names)} may each name participants. Name the one who responded: {options}",
    )


def _places_in_words(table: AnswerTable, meanings: Mapping[str, str]) -> str:
    """State what to do where columns show the same stimuli at changing places; empty where none do."""
    frame = without_practice(table.frame)
    named = {meaning: name for name, meaning in meanings.items()}
    response, who = named.get("response", ""), named.get("participant", "")
    judged = set(words_of(response)) & OF_RIGHT
    response = response_at_places(RowCells(frame, "")) if judged else response
    if response not in frame.columns or who not in frame.columns:
        return ""
    cells = {str(cell) for cell in frame[response].str.strip().unique() if cell}
    shown = stimuli_at_places(RowCells(frame, ""), places_of(frame[who]), cells, {response, who})
    if not shown or not places_of_cells(cells):
        return ""
    return (
        f"{shown[0]} and {shown[1]} hold the same stimuli at changing places, and {response} "
        f"({', '.join(sorted(cells))}) may say a place. If participants learn from rewards which stimulus is better, "
        f"say --column response={response} {shown_option(shown)} --column feedback.reward=COLUMN"
    )


def _dated_in_words(table: TableSignature) -> str:
    """State what to do where texts in several columns give amounts and when each is paid; empty where they do not."""
    names = [
        item.name
        for item in table.columns.values()
        if item.distinct and all(len(dated_amounts(cell)) == 1 for cell in item.distinct)
    ]
    if len(names) < 2:
        return ""
    return (
        f"{' and '.join(names)} say amounts and when each is paid, as text. Write each into two columns of numbers, "
        "such as amount_1 and days_1, amount_2 and days_2; the kind is then --domain intertemporal"
    )


def own_task_question(table: AnswerTable, meanings: Mapping[str, str], *, is_long: bool) -> str:
    """The question where no kind of task fits: places, times, a task of one's own; empty where nothing can be asked."""
    signature = table_signature(without_practice(table.frame), meanings)
    if found := _places_in_words(table, meanings) or _dated_in_words(signature):
        return found
    words = own_task_in_words(signature, 2 if is_long else 3)
    if not words or words.endswith(NOT_READ):
        hints = (layout.hint(signature) for layout in layouts_to_guess().values() if layout.hint)
        words = next(filter(None, hints), words)
    is_wide = bool(numbered_items(table.frame, signature.participant))
    if (
        not words
        and "response_time" in meanings.values()
        and any(set(words_of(name)) & (OF_RIGHT | ERRORS) for name in table.columns)
    ):
        if not speaks_of_conflict(signature):
            return (
                "these are responses with their times, and no column speaks of congruence. If something "
                "distracted from the right response, say --domain attention; if a column says how strong stimuli were, "
                "or which were old, --domain perception or --domain recognition; if participants learned from "
                "feedback, --domain learning"
            )
        return (
            "these may be responses with their times, as in a Stroop, flanker or Simon task: if a column says which "
            "trials were congruent, say --column congruence=COLUMN"
        )
    has_codes = bool(signature.participant) and any(
        2 <= len(item.distinct) <= FEW_VALUES for item in signature.free
    )
    if not words and "response" not in meanings.values() and not is_wide and not has_codes:
        n_participants = 1 + max(signature.person, default=0)
        has_rows = n_participants > 1 and len(signature.person) > n_participants
        if signature.numbers() and has_rows:
            return (
                "no column is called a response; if one holds choices, or amounts that participants chose, say "
                "--domain NAME --column response=COLUMN, where COLUMN may compute, as in 'ENDOWMENT - KEPT'"
            )
        return (
            "no column seems to hold choices, so that there may be nothing here that theories of choices explain; if "
            "one does, say --domain NAME --column response=COLUMN"
        )
    response = next((name for name, meaning in meanings.items() if meaning == "response"), "")
    marks = [mark for mark in table.marked.get(response, ()) if mark.strip().casefold() == "none"]
    if words and marks:
        words += (
            f"; {response} says {marks[0]} in some rows, which are read as empty: if it is an answer of its own, give "
            "it another name in the file, and an option in the task"
        )
    return words


def doubts_of(reading: Reading, kinds: Sequence[str], own_task: str) -> tuple[str, ...]:
    """State what values leave open: which kind of task, which of several columns, a kind that is not here."""
    doubts = list(reading.questions)
    if own_task and len(kinds) < 2:
        doubts.append(own_task)
    if len(kinds) > 1:
        options = " or ".join(f"--domain {kind}" for kind in kinds)
        doubts.append(f"the columns fit several kinds of tasks; say which: {options}")
    return tuple(doubts)


def labels_in_words(
    source: AnswerTable, changes: Mapping[str, Any], stated: AnswerColumns
) -> list[str]:
    """State how words for the cells of a column, stored in the file, are read."""
    lines = []
    for column, own in changes.get("recode", {}).items():
        if column not in stated.recode and column in source.labels:
            words = ", ".join(f"{cell} is {label or 'no response'}" for cell, label in own.items())
            lines.append(f"{column}: {words}, as labels of the file say")
    return lines


def taken_by_values(meanings: Mapping[str, str]) -> list[str]:
    """The column that is taken for that of participants by its values alone, for the user to check."""
    words = set(NAMES["participant"].split())
    return [
        f"{name} is taken for the participant by its values; --column participant=COLUMN says another one"
        for name, meaning in meanings.items()
        if meaning == "participant" and not words & set(words_of(name))
    ]


def not_counting(table: AnswerTable, mapping: AnswerColumns, kind: str) -> list[str]:
    """Rows of practice and of nobody, where the file cannot be read yet; else the reading itself asks about them."""
    if kind and OPEN_QUESTION not in leaves_of(mapping.model_dump()):
        return []
    found = {name: rows_that_do_not_count(table.frame, name) for name in table.columns}
    return [
        rows_in_words(table.frame, name, *own)
        for name, own in found.items()
        if own and not own[2].startswith("forced")  # whether rewards were seen tells what to do
    ]


def is_answered(line: str, stated: AnswerColumns) -> bool:
    """Whether the option that an assumption names was given."""
    parts = [*stated.stimulus, *(f"feedback.{part}" for part in stated.feedback)]
    return any(f"--column {mark}{part}=" in line for part in parts for mark in ("", "'"))


def assumed_unit(source: AnswerTable, mapping: AnswerColumns, stated: AnswerColumns) -> list[str]:
    """State that delays are assumed to be days, where neither names of columns nor cells nor the user state a unit."""
    parts = mapping.stimulus | stated.stimulus
    if "delay_unit" in parts:
        return []
    assumed = []
    for leaf in flat(parts.get("delays_days", [])):
        if leaf not in source.columns or set(words_of(leaf)) & set(UNITS):
            continue
        cells = source.frame[leaf]
        known = numbers_of(cells).dropna()
        if bool((known != 0).any()) and not has_units(tuple(cells[cells != ""].unique())):
            assumed.append(leaf)
    if not assumed:
        return []
    return [
        f"{' and '.join(assumed)}: taken to be in days, since no name and no cell says a unit; --column "
        f"delay_unit=UNIT says it (one of {', '.join(DAYS)})"
    ]


def assumed_chances(table: AnswerTable, mapping: AnswerColumns, reading: Reading) -> list[str]:
    """State which probabilities are assumed, where neither a column nor the user states them."""
    assumed = [
        f"--column '{part}={json.dumps(value)}'"
        for part, value in mapping.stimulus.items()
        if part.endswith("probabilities") and not reading.notes
        and any(isinstance(leaf, float) and 0 < leaf < 1 for leaf in flat(value))
    ]  # fmt: skip
    words = "probabilities that no column says are taken to be"
    return [f"{words} {' and '.join(assumed)}"] if assumed else []


def marks_in_words(table: AnswerTable, columns: Sequence[ColumnSummary]) -> list[str]:
    """Rare numbers such as -99 or 999 that may stand for missing values, where no reading asks about them."""
    lines = []
    for item in columns:
        values = numbers_of(table.frame[item.name]).dropna().to_numpy() if item.numeric else []
        for mark in marks_of_missing(np.asarray(values, dtype=np.float64)):
            n_rows = int((np.asarray(values) == mark).sum())
            if abs(mark) in MISSING_NUMBERS and n_rows <= MOST_MISSED * len(table.frame):
                lines.append(
                    f"{item.name}: {mark:g} in {plural(n_rows, 'row')} may stand for a missing value; "
                    f"--column missing.{item.name}={mark:g} says so"
                )
    return lines


def facts_of(
    table: AnswerTable, mapping: AnswerColumns, columns: Sequence[ColumnSummary]
) -> list[str]:
    """People, answers of each, response times, what differs between people."""
    frame, facts = table.frame, []
    who = mapping.participant
    if who in table.columns:
        sizes = frame.groupby(who, sort=False).size()
        low, high = int(sizes.min()), int(sizes.max())
        each = plural(low, "row") if low == high else f"{low:,} to {high:,} rows"
        facts.append(f"{plural(len(sizes), 'participant')} with {each} each")
        fixed = [
            item.name
            for item in columns
            if high > 1 and item.name != who and 1 < item.n_distinct <= 50
            and bool((frame.groupby(who, sort=False)[item.name].nunique() <= 1).all())
        ]  # fmt: skip
        if fixed:
            facts.append(f"the same in all rows of a person: {', '.join(fixed)}")
    if mapping.response in table.columns:
        counts = frame[mapping.response].value_counts()
        shares = [
            f"{cell[:LONGEST_SHOWN] or '(empty)'} {n / len(frame):.0%}"
            for cell, n in counts.head(6).items()
        ]
        facts.append(f"responses: {', '.join(shares)}")
    if mapping.response_time in table.columns:
        cells = frame[mapping.response_time].str.strip()
        unit = mapping.response_time_unit
        if with_units := times_of([cell for cell in cells.unique() if cell], unit):
            times = cells[cells != ""].map(with_units[0])
        else:
            times = numbers_of(cells).dropna()
        quartiles = np.quantile(times, [0.25, 0.5, 0.75]) if len(times) else np.zeros(3)
        facts.append(
            f"response times: half of them {quartiles[0]:g} to {quartiles[2]:g} {unit}, median {quartiles[1]:g} {unit}"
        )
    facts.extend(_repeated(table, mapping))
    return facts


def _repeated(table: AnswerTable, mapping: AnswerColumns) -> list[str]:
    """State how many different trials the rows show."""
    parts = {k: own for k, own in mapping.stimulus.items() if k not in (SIDE, "block_start")}
    named = {name for leaf in leaves_of(parts) for name in columns_in(str(leaf), table.frame)}
    shown = [name for name in table.columns if name in named]
    if not shown:
        return []
    n_trials = len(table.frame[shown].drop_duplicates())
    return [
        f"{plural(n_trials, 'different trial')}, each in {len(table.frame) / n_trials:.1f} rows on average"
    ]


def oddities(
    table: AnswerTable, mapping: AnswerColumns, columns: Sequence[ColumnSummary]
) -> list[str]:
    """List what should be looked at before any result is believed."""
    frame = table.frame
    by_count: dict[int, list[str]] = {}
    for item in columns:
        by_count.setdefault(item.n_missing, []).append(item.name)
    odd = [
        f"{', '.join(names[:MOST_SHOWN])}{', ...' if len(names) > MOST_SHOWN else ''}: "
        f"{plural(count, 'empty cell')}{' each' if len(names) > 1 else ''}"
        for count, names in by_count.items()
        if count
    ]
    twice = frame.duplicated()
    if twice.any() and mapping.participant in table.columns:
        rows = rows_named(frame.index[twice.to_numpy()])
        counts = frame[mapping.participant][twice].value_counts()
        whose = (
            f", all of {counts.index[0]}"
            if len(counts) == 1 and counts.iloc[0] >= FEWEST_ANSWERS
            else ""
        )
        odd.append(
            f"{plural(int(twice.sum()), 'row')} equal to an earlier one in every cell ({rows}{whose})"
        )
    if mapping.participant in table.columns:
        names = frame[mapping.participant].drop_duplicates()
        folded = names.str.strip().str.lower()
        same = sorted(names[folded.duplicated(keep=False).to_numpy()])
        if same:
            odd.append(
                f"participants who may be one person under several names: {', '.join(same[:4])}"
            )
    for item in columns:
        cells = frame[item.name]
        formula = cells.str.match(re.compile(r"[=@][A-Za-z(]")).to_numpy(dtype=bool)
        if formula.any():
            rows = rows_named(frame.index[formula])
            odd.append(f"{item.name}: a formula is read as text ({rows})")
        if not item.numeric:
            numbers = numbers_of(cells[cells != ""]).notna()
            if 0.5 < float(numbers.mean()) < 1:
                others = numbers.index[~numbers.to_numpy()]
                odd.append(
                    f"{item.name}: numbers, but {cells[others[0]]!r:.40} and the like in {rows_named(others)}"
                )
    return odd + _odd_codes(table, mapping) + _odd_times(table, mapping)


def _odd_codes(table: AnswerTable, mapping: AnswerColumns) -> list[str]:
    """Numbers of trials that begin anew, and codes that may be read in two ways."""
    odd, column = [], mapping.response
    if begins_anew(table.frame, mapping):
        whose = _whose_numbers_begin_anew(table.frame, mapping)
        odd.append(
            f"{mapping.order}: the same number in several rows of a person{whose}, as where it begins anew in each "
            "block; rows are not sorted by it alone"
        )
    if mapping.stimulus.get("options") == OPEN_QUESTION and column in table.columns:
        odd.append(zero_question(column, table.frame[column].str.strip().tolist()))
    return odd


def _whose_numbers_begin_anew(frame: pd.DataFrame, mapping: AnswerColumns) -> str:
    """The participants of whom numbers of trials occur twice, where they are few and known."""
    if mapping.participant not in frame.columns:
        return ""
    named = [mapping.participant, mapping.experiment, mapping.order]
    is_twice = frame.duplicated([name for name in named if name in frame.columns]).to_numpy()
    people = frame[mapping.participant]
    again = people[is_twice].unique()
    return f" ({', '.join(again)} alone)" if len(again) <= MOST_AGAIN * people.nunique() else ""


def _odd_times(table: AnswerTable, mapping: AnswerColumns) -> list[str]:
    """Response times that no person has."""
    if mapping.response_time not in table.columns:
        return []
    values = numbers_of(table.frame[mapping.response_time])
    times = values * (1000.0 if mapping.response_time_unit == "s" else 1.0)
    if mapping.response in table.columns:  # 0 where nobody responded is no time
        times = times[((times > 0) | (table.frame[mapping.response] != "")).to_numpy()]
    fast, slow = int((times < 150).sum()), int((times > 60_000).sum())
    odd = [f"{plural(fast, 'response time')} below 150 ms"] if fast else []
    return odd + ([f"{plural(slow, 'response time')} above a minute"] if slow else [])


def always_the_same(table: AnswerTable, mapping: AnswerColumns) -> list[str]:
    """People who gave one and the same response all the time."""
    if not {mapping.participant, mapping.response} <= set(table.columns):
        return []
    answered = table.frame[table.frame[mapping.response] != ""]
    if answered[mapping.response].nunique() == 1:
        return []  # of all participants, as where an empty cell is a response that was withheld
    by_person = answered.groupby(mapping.participant, sort=False)[mapping.response]
    sizes, distinct = by_person.size(), by_person.nunique()
    same = [str(who) for who in sizes.index[(sizes >= FEWEST_ANSWERS) & (distinct == 1)]]
    if not same:
        return []
    more = ", ..." if len(same) > MOST_SHOWN else ""
    return [
        f"participants whose {mapping.response} is the same in all their rows: {len(same):,} of {len(sizes):,} "
        f"({', '.join(same[:MOST_SHOWN])}{more})"
    ]


def heaped(
    table: AnswerTable, mapping: AnswerColumns, columns: Sequence[ColumnSummary]
) -> list[str]:
    """Responses that people rounded; where none are known, those of the only column that may hold them by its name."""
    named = [item.name for item in columns if may_be_answers(item)]
    if mapping.response not in (OPEN_QUESTION, ""):
        named = [name for name in named if name == mapping.response]
    if len(named) != 1:
        return []
    words = heaping_in_words(numbers_of(table.frame[named[0]]).dropna().tolist())
    return [f"{named[0]}: {words}"] if words else []


def beyond_the_grid(
    table: AnswerTable,
    mapping: AnswerColumns,
    columns: Sequence[ColumnSummary],
    domain: Domain | None,
) -> list[str]:
    """State what the outcomes of a domain cannot show of the responses or of their times."""
    scale = None if domain is None else scale_of(domain)
    if scale is None:
        return []
    column = mapping.response_time if scale.kind == "timed" else mapping.response
    if column not in table.columns and scale.kind != "timed":
        named = [item.name for item in columns if may_be_answers(item)]
        column = named[0] if len(named) == 1 else column
    if column not in table.columns:
        return []
    numbers = numbers_of(table.frame[column]).dropna()
    if scale.kind == "timed" and mapping.response_time_unit == "ms":
        numbers = numbers / 1000
    if not len(numbers):
        return []
    layout = None if domain is None else layout_of(domain)
    has_range = layout is not None and "y_range" in layout.parts
    ends = (scale.edges or scale.places)[:: len(scale.edges or scale.places) - 1]
    if numbers.between(*ends).all() and not scale.share_lost(numbers.tolist()):
        return []  # each is an outcome as it is
    if scale.kind == "levels" and numbers.nunique() <= len(scale.places):
        return []  # the reader of the task finds the level of each
    words = f"{column}: {scale.fit_in_words(numbers.tolist())}"
    if has_range and not numbers.between(*ends).all():
        words += " Where the file has another range, say it: x_range and y_range are what stands for -1 and 1."
    return [words]
