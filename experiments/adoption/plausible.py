"""Whether responses that were read can mean what they were read as; what is implausible is refused or confirmed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.expression import JOINED, columns_in
from lakatos.experiments.adoption.layouts import DAYS, StimulusLayout
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import (
    CHOICES,
    JUDGING,
    MISSING_NUMBERS,
    PLACE_WORDS,
    column_option,
    words_of,
)
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.signatures import ColumnSignature, signed_pair
from lakatos.experiments.adoption.tables import numbers_of, places_of
from lakatos.experiments.adoption.units import UNITS_OF_TIME
from lakatos.experiments.errors import ImplausibleError, TrialsError
from lakatos.experiments.task import Stimuli, Trials

Array = NDArray[Any]
FEWEST = 20
"""Responses from which anything is concluded."""
MOST_DOMINATED = 0.4
"""Share of dominated options among the choices in which one option dominates, beyond which they are questioned."""
MOST_AT_ONE_TIME = 0.2
"""Share of choices of the smaller of two amounts at the same time beyond which they are questioned."""
REVERSED = -5.0
"""Standard errors by which choices go against what speaks for an option, beyond which they are questioned."""
STRONG = 0.2
"""Least correlation at which reversed choices are questioned, so that a small tendency of many participants is not."""
MOST_MARKED = 0.1
"""Share of a column's numbers beyond which a positive one is no mark of missing values."""
FAR = 100.0
"""Times by which a single number is larger than all others where it may be a slip."""
THOUSAND = 50.0
"""Least factor between the medians of participants whose numbers seem to be in two units."""
FACTORS = (7, 12, 24, 30, 60, 100, 365, 1000)
"""Factors between units of time or money."""
STIMULUS_WORDS = {
    "type", "pair", "pairs", "stim", "stimulus", "stimuli", "cue", "cues", "context", "state", "setsize", "symbol",
    "symbols", "problem", "condition", "cond", "image", "card", "machine",
}  # fmt: skip
"""Words in names of columns that say at which stimuli a step was made."""
CUE_WORDS = {"cue", "cues", "context", "contexts"}
"""Words in names of columns that say at which stimuli a step was made, whatever the cells."""
JUDGED = {
    "correct", "corr", "accuracy", "acc", "error", "errors", "wrong", "hit", "outcome", "reward", "feedback", "points",
    "won", "payoff", "score", "better", "best", "optimal",
}  # fmt: skip
"""Words in names of columns that say what came of a response, or how good it was."""
AT_PLACES = {"left", "right", "l", "r", "top", "bottom", "upper", "lower"}
"""Words in names of columns that say at which place a stimulus stood."""
LOSSES = {"loss", "losses", "lose", "lost"}
"""Words in names of columns of losses."""
SECOND_PLACES = {"right", "r", "rechts", "bottom", "lower"}
MOST_STIMULI = 50
MOST_CONTEXTS = 8
MOST_COLUMNS = 12
CLEAR_CONTEXT = 6.0
"""Standard errors by which rewards of a choice differ between stimuli."""
UNIT_WORDS = {"unit", "units", "einheit"}
"""Words in names of columns that say in which unit the numbers of a row are."""
UNITS_OF_DELAYS = {word: unit for unit in DAYS for word in (unit, unit.removesuffix("s"))}
MOST_UNITS = 6
PRACTICE = {
    "practice", "prac", "warmup", "instruction", "instructions", "demo", "uebung", "oefening", "oefen",
    "entrainement", "aufwaermen", "ejercicio", "practica", "tutorial", "uebungsblock", "demonstration", "pratica",
    "allenamento", "riscaldamento", "treino", "aquecimento", "calentamiento", "echauffement", "opwarming",
}  # fmt: skip
TRAINING, MAIN = (
    {"training", "train", "prueba", "entrenamiento", "trainingsblock", "essai", "ensayo"},
    {"main", "experiment", "exp", "real", "task", "haupt", "experimental", "principal", "test"},
)
"""Words for practice where the other rows are called the main part; elsewhere training may be part of the task."""
"""Words in names and cells of columns that tell trials that do not count from the others."""
STATUS = {"status", "channel"}
UNREAL = {"preview", "spam"}
"""Words in names and cells of columns that mark rows of nobody, such as those of tests of a questionnaire."""
QUALITY = {"validity", "valid", "quality", "status", "usable", "flag", "check", "tracking", "qc"}
BAD = {
    "bad", "rejected", "returned", "excluded", "exclude", "artifact", "artefact", "noisy", "unusable", "aborted",
    "schlecht", "mauvais", "malo", "slecht",
}  # fmt: skip
"""Words in names and cells of columns that may say that a row is of no use."""
MOST_BAD_ROWS = 0.2
FINISHED = "finished"
"""Name of the column in which exports of questionnaires say whether a participant came to the end."""
YES = {
    "yes", "y", "true", "1", "1.0", "ja", "wahr", "oui", "vrai", "si", "sí", "verdadero", "vero", "waar", "sim",
    "verdadeiro",
}  # fmt: skip
MISSED_FLAGS = (
    {"timeout"}, {"timeouts"}, {"timed", "out"}, {"time", "out"}, {"missed"}, {"no", "response"}, {"no", "resp"},
    {"noresponse"}, {"noresp"}, {"omission"}, {"too", "slow"}, {"verpasst"}, {"gemist"},
)  # fmt: skip
EXCLUDED_FLAGS = (
    {"bot"}, {"outlier"}, {"outliers"}, {"excluded"}, {"exclude"}, {"bad", "trial"}, {"invalid"},
)  # fmt: skip
BESIDE_FLAGS = {
    "trial",
    "trials",
    "response",
    "resp",
    "is",
    "was",
    "flag",
    "player",
    "participant",
    "choice",
}
"""Words in names of columns that say whether a response was missed, or is to be left out, and others beside them."""
CHECKS = ({"attention", "check"}, {"attn", "check"}, {"attention", "trial"}, {"catch"})
CHECK_CELLS = {"catch", "attentioncheck", "attncheck", "catchtrial"}
"""Words in names and cells of columns that mark trials which test whether participants read."""
MOST_CHECKS = 0.3
"""Share of rows that such trials may be."""
MOST_PHASES = 12
MOST_PRACTICE = 0.5
"""Share of rows that practice, and rows of nobody, may be without a question."""
MOST_NOT_NUMBERED = 0.1
"""Share of rows that have a word where others have the number of a trial."""
COUNTS = {"n", "trial", "trials", "count", "number", "index", "nr", "num", "no"}
"""Words in names of columns that count the rows of a loop."""
SITES = {
    "site", "lab", "laboratory", "center", "centre", "location", "country", "city", "school", "class", "university",
    "hospital", "clinic", "group", "cohort", "sample", "standort", "klasse", "schule", "ort",
}  # fmt: skip
"""Words in names of columns of places, or sets of participants, in each of which identifiers may begin anew."""
MOST_AGAIN = 0.25
"""Share of participants who took part more than once by mistake."""
FEWEST_TRIALS = 4
"""Different numbers that trials of a participant have where they are counted."""
USUAL_AMOUNT = 20.0
USUAL_AMOUNTS = (0.5, 500.0)
"""Medians of amounts of money between which priors of sensitivities hold the values that participants have."""
FILE = "file"
NUMBER_OF_FILE = re.compile(r"[A-Za-z]{0,12}[_-]?\d+(?=[^0-9])")
"""Letters and a number with which a file's name begins."""
"""Column of a folder's rows that names their file."""
SESSION_WORDS = {
    "session",
    "sess",
    "ses",
    "run",
    "block",
    "day",
    "visit",
    "wave",
    "time",
    "part",
    "pre",
    "post",
    "week",
}
"""Words in names of files of which each is a part of what the same participants did."""
FEWEST_SUMS = 4
"""Different rewards from which on rewards that never fall may be sums."""


ACCEPTABLE = (
    "unknown_participants", "far_numbers", "two_units", "below_chance", "dominated_choices", "reversed_code",
    "unusual_amounts", "practice_rows", "forced_choices", "contradicted", "counts_up", "cumulated_rewards",
    "doubtful_reward", "shared_names", "constant_response", "unread_column", "one_set_of_options",
    "one_row_per_choice", "not_offered", "unequal_losses", "three_decimals", "one_participant", "row_order",
    "one_order", "goes_on",
)  # fmt: skip
"""Names of what a mapping can accept; the documentation says what each is."""


def check_accepted(columns: AnswerColumns) -> None:
    """Refuse names of what nothing questions, such as misspelt ones: raise `TrialsError`."""
    unknown = [name for name in columns.accept if name not in ACCEPTABLE]
    if unknown:
        raise TrialsError(
            f"--accept {unknown[0]} (accept in the section participants.columns of a study): nothing has this name. "
            f"Names are {', '.join(sorted(ACCEPTABLE))}."
        )


def question(columns: AnswerColumns, notes: list[str], name: str, words: str) -> None:
    """Refuse what seems implausible, unless the mapping accepts it by its name.

    Raises:
        ImplausibleError: It is not accepted; the message says how to accept it.
    """
    if name in columns.accept:
        notes.append(f"accepted ({name}): {words.partition('. ')[0]}")
        return
    raise ImplausibleError(
        f'{words}. If the file is right as it was read, say --accept {name} (accept = ["{name}"] in the section '
        "participants.columns of a study)."
    )


def check_cells(
    cells: RowCells, columns: AnswerColumns, participant: Array | None, notes: list[str]
) -> None:
    """Question numbers that look like marks of missing values, and numbers in two units, in columns that are read.

    Args:
        cells: Rows that count.
        columns: What they mean.
        participant: ``(n_rows,)`` number of the participant; None where rows are counts.
        notes: What was accepted is added to them.
    """
    used = [*leaves_of(columns.stimulus), *columns.feedback.values(), columns.response_time]
    named = [name for name in used if isinstance(name, str)]
    for column in dict.fromkeys(own for name in named for own in columns_in(name, cells.frame)):
        if column not in cells.frame.columns:
            continue
        values = numbers_of(cells.frame[column]).to_numpy()
        check_marks(cells, columns, column, notes)
        n_known = np.isfinite(values).sum()
        if participant is None or column == columns.response_time or n_known < FEWEST:
            continue  # units of times are looked at where times are read
        larger = in_larger_numbers(values, participant, FACTORS)
        if larger is not None:
            n_larger, n_all = len(np.unique(participant[larger])), len(np.unique(participant))
            own = [float(np.nanmedian(np.abs(values[part]))) for part in (larger, ~larger)]
            of_larger = rows_named(cells.row_numbers(larger))
            question(
                columns,
                notes,
                "two_units",
                f"{cells.name}: {column} seems to be in another unit for {n_larger} of {n_all} participants "
                f"({of_larger}): their median is {own[0]:g}, that of the others {own[1]:g}. Bring all into one unit",
            )


def check_marks(
    cells: RowCells,
    columns: AnswerColumns,
    column: str,
    notes: list[str],
    *,
    is_scale: bool = False,
) -> None:
    """Question numbers of a column, which may be the levels of a scale, that may stand for missing values."""
    values = numbers_of(cells.frame[column]).to_numpy()
    known = values[~np.isnan(values)]
    for mark in marks_of_missing(known) or (_off_the_scale(known) if is_scale else []):
        rows = cells.row_numbers(np.flatnonzero(values == mark))
        question(
            columns,
            notes,
            "far_numbers",
            f"{cells.name}: {column} is {mark:g} in {rows_named(rows)}, and the other numbers are from "
            f"{known[known != mark].min():g} to {known[known != mark].max():g}. If {mark:g} stands for a missing "
            f"value, say --column missing.{column}={mark:g} (participants.columns.missing)",
        )


def _off_the_scale(values: Array) -> list[float]:
    """Rare numbers apart from the levels of a scale, which are whole and in a row, such as 9 beside 1 to 6."""
    different, counts = np.unique(values, return_counts=True)
    runs = np.split(np.arange(len(different)), np.flatnonzero(np.diff(different) > 1) + 1)
    scale = max(runs, key=lambda run: counts[run].sum())
    apart = np.setdiff1d(np.arange(len(different)), scale)
    is_rare = counts[apart].sum() <= MOST_MARKED * len(values)
    is_whole = bool((different == np.round(different)).all())
    is_known = (
        len(values) >= FEWEST
        and FEWEST_LEVELS <= len(scale) <= MOST_LEVELS
        and is_whole
        and is_rare
    )
    return [float(value) for value in different[apart]] if is_known else []


FEWEST_LEVELS, MOST_LEVELS = 3, 20
"""Numbers in a row that are the levels of a scale."""


def marks_of_missing(values: Array) -> list[float]:
    """Numbers such as -999 or 99 that lie far from all others of a column and so may stand for missing values.

    A single number that is larger than all others by far is one of them.
    """
    different = np.unique(values)
    found = []
    is_mark = np.isin(np.abs(different), MISSING_NUMBERS)
    rest = different[~is_mark]
    for mark in different[is_mark].tolist():
        is_frequent = len(values) >= FEWEST and (values == mark).mean() > MOST_MARKED
        if len(rest) < 2 or (mark > 0 and is_frequent):
            continue
        low, high = float(rest[0]), float(rest[-1])
        gap = max(mark - high, low - mark)
        if gap > (high - low) * (0.5 if abs(mark) >= 999 else 1.0) or mark < 0 <= low:
            found.append(float(mark))
    sizes = np.sort(np.abs(values[values != 0]))
    if len(sizes) >= FEWEST and sizes[-1] > FAR * sizes[-2]:
        found.append(float(values[np.abs(values).argmax()]))
    return list(dict.fromkeys(found))


def in_larger_numbers(
    values: Array, participant: Array, factors: Sequence[int] = ()
) -> Array | None:
    """``(n_rows,)`` whether a row is of a participant whose numbers are in a smaller unit, and so larger.

    Participants are in two units where their medians fall into two sets far apart, or where the numbers of one set
    are those of the other times a factor between units. None where all seem to be in one unit.

    Args:
        values: ``(n_rows,)`` numbers, NaN where there is none.
        participant: ``(n_rows,)`` number of the participant.
        factors: Factors between units that count, too.
    """
    size = pd.Series(np.abs(values)).where(np.abs(values) > 0)
    medians = size.groupby(participant).median().dropna().sort_values()
    if len(medians) < 2:
        return None
    steps = np.diff(np.log(medians.to_numpy()))
    cut = int(steps.argmax())
    ratio = float(np.exp(steps[cut]))
    is_larger = np.isin(participant, medians.index[cut + 1 :])
    if ratio >= THOUSAND:
        return is_larger
    of_larger, of_smaller = (set(size[part].dropna().tolist()) for part in (is_larger, ~is_larger))
    known = {f"{number:.6g}" for number in of_smaller}
    n_decimals = max(len(cell.partition(".")[2]) for cell in known)
    for factor in factors:
        if 0.5 < ratio / factor < 2 and len(of_smaller) > 2:
            is_same = [_is_among(number / factor, known, n_decimals) for number in of_larger]
            if np.mean(is_same) > 0.6:
                return is_larger
    return None


def _is_among(number: float, known: set[str], n_decimals: int) -> bool:
    """Whether a number is one of others that may be rounded to some decimals, as 30 days are 4.29 weeks.

    Whole numbers are not taken as rounded, and rounding changes a number by less than a hundredth.
    """
    rounded = round(number, n_decimals) if n_decimals else number
    is_near = abs(rounded - number) < 0.01 * number
    return f"{number:.6g}" in known or (is_near and f"{rounded:.6g}" in known)


def check_unit_of_delays(
    frame: pd.DataFrame, name: str, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question delays that are the whole numbers from 1 to a few, of which nothing says the unit: they may be levels.

    Args:
        frame: Cells as they stand in the file.
        name: Name of the file.
        columns: What its columns mean.
        notes: What was accepted is added to them.
    """
    if "delays_days" not in columns.stimulus or "delay_unit" in columns.stimulus:
        return
    for leaf in map(str, leaves_of(columns.stimulus["delays_days"])):
        if leaf not in frame.columns or leaf in columns.recode or len(frame) < FEWEST:
            continue
        known = set(numbers_of(frame[leaf])) - {0.0}
        is_level = FEWEST_LEVELS <= len(known) <= MOST_DELAY_LEVELS
        is_level &= known == {1.0 + place for place in range(len(known))}
        if is_level and not set(words_of(leaf)) & set(UNITS_OF_TIME):
            question(
                columns,
                notes,
                "two_units",
                f"{name}: {leaf} holds the numbers from 1 to {len(known)}, and no name and no cell says their "
                f"unit. Say it: --column delay_unit=UNIT (one of {', '.join(DAYS)}). If they number levels, say how "
                f'many days each is: --column \'recode.{leaf}={{"1" = "DAYS", "2" = "DAYS"}}\'',
            )


MOST_DELAY_LEVELS = 10
"""Different delays that may be numbered."""


def check_units(
    frame: pd.DataFrame, name: str, columns: AnswerColumns, unread: Sequence[str], notes: list[str]
) -> None:
    """Question a column of units that is not read: numbers of all units would be taken alike.

    Args:
        frame: Rows that count.
        name: Name of the file.
        columns: What its columns mean.
        unread: Names of columns that are not read.
        notes: What was accepted is added to them.
    """
    for column in unread:
        distinct = sorted(set(frame[column].str.strip().unique()) - {""})
        words = words_of(column)
        if not set(words) & UNIT_WORDS or not 1 <= len(distinct) <= MOST_UNITS:
            continue
        unit = columns.stimulus.get("delay_unit", "days")
        if len(distinct) == 1:
            only = UNITS_OF_DELAYS.get(distinct[0].casefold(), unit)
            if only != unit and "delays_days" in columns.stimulus:
                question(
                    columns,
                    notes,
                    "two_units",
                    f"{name}: {column} is {distinct[0]} in all rows, and delays are read in {unit}. Say --column "
                    f"delay_unit={only} (participants.columns.stimulus.delay_unit)",
                )
            continue
        numbers = [UNITS_OF_DELAYS.get(cell.casefold(), "") for cell in distinct]
        code = ", ".join(
            f"{cell} = {DAYS[number]:g}" if number else f"{cell} = NUMBER"
            for cell, number in zip(distinct, numbers, strict=True)
        )
        question(
            columns,
            notes,
            "two_units",
            f"{name}: {column} says {', '.join(distinct[:4])} and is not read, so that numbers of all units would be "
            f"taken alike. Say how much each unit is (--column 'recode.{column}={{{code}}}'), and multiply the "
            f"numbers by it: NUMBERS * {column} in place of NUMBERS (participants.columns.recode and stimulus)",
        )


def words_of_cell(cell: str) -> set[str]:
    """The words of a cell, and all of it as one word."""
    return {*words_of(cell), cell.casefold().replace("-", "").replace(" ", "")}


def rows_that_do_not_count(
    frame: pd.DataFrame, column: str
) -> tuple[list[str], list[str], str] | None:
    """Cells of a column that mark rows of practice or of nobody, the other ones, and what the rows seem to be."""
    distinct = [cell for cell in map(str, frame[column].str.strip().unique()) if cell]
    if not 2 <= len(distinct) <= MOST_PHASES:
        return None
    words = {cell: words_of_cell(cell) for cell in distinct}
    named = set(words_of(column))
    of_practice = PRACTICE | TRAINING if any(own & MAIN for own in words.values()) else PRACTICE
    is_named = bool(named & PRACTICE)
    odd = [
        cell
        for cell in distinct
        if words[cell] & of_practice or (is_named and cell.casefold() in YES)
    ]
    what = "practice"
    if not odd and named & STATUS:
        odd = [cell for cell in distinct if words[cell] & UNREAL]
        what = "no responses of participants"
    flagged = {"missed responses": MISSED_FLAGS, "excluded by the file": EXCLUDED_FLAGS}
    for meaning, flags in flagged.items() if len(distinct) == 2 and not odd else ():
        if any(flag <= named and named - flag <= BESIDE_FLAGS for flag in flags):
            odd, what = [cell for cell in distinct if cell.casefold() in YES], meaning
    if not odd and any(flag <= named and named - flag <= BESIDE_FLAGS for flag in CHECKS):
        odd = [cell for cell in distinct if len(distinct) == 2 and cell.casefold() in YES]
    odd = odd or [cell for cell in distinct if words[cell] & CHECK_CELLS]
    if not odd and ("forced" in named or any("free" in own for own in words.values())):
        odd = [
            c for c in distinct if words[c] & ({"forced"} | (YES if "forced" in named else set()))
        ]
        what = "forced choices"
    if odd and what == "practice" and not any(words[cell] & of_practice for cell in odd):
        rows = frame[column].str.strip().isin(odd).to_numpy()
        # Not all rows of some participants, which stand together.
        is_single = 2 * np.diff(rows.astype(int), prepend=0).clip(0).sum() > rows.sum()
        what = "practice" if is_named else "attention checks"
        odd = odd if is_named or (is_single and rows.mean() <= MOST_CHECKS) else []
    if not odd and column.casefold() == FINISHED and len(distinct) == 2:
        odd = [cell for cell in distinct if cell.casefold() in ("false", "0")]
        what = "of participants who did not finish"
    others = [cell for cell in distinct if cell not in odd]
    is_trained = what == "practice" and not any(words[cell] & PRACTICE for cell in odd)
    if odd and is_trained and not is_named and _only_they_say(frame, column, odd):
        return None
    return (odd, others, what) if odd and others else None


def _only_they_say(frame: pd.DataFrame, column: str, odd: Sequence[str]) -> bool:
    """Whether a column, such as one of feedback, says something in these rows, and nothing in any other."""
    rows = frame[column].str.strip().isin(odd).to_numpy()
    filled = ((frame[name].str.strip() != "").to_numpy() for name in frame.columns)
    return any(own[rows].mean() > 0.5 and not own[~rows].any() for own in filled)


def rows_that_count(
    frame: pd.DataFrame, used: Sequence[str], response: str = ""
) -> dict[str, str | tuple[str, ...]]:
    """Find the cells of rows that count (`AnswerColumns.where`), where columns mark others as practice or of nobody.

    Nothing where the marked rows are the larger part, which may be a part of the study.

    Args:
        frame: All rows.
        used: Columns that the mapping uses for something else.
        response: Column of responses; rows without one, which say what came before others, are kept.
    """
    where: dict[str, str | tuple[str, ...]] = {}
    name, screens = screens_with_responses(frame)
    if screens and name not in used:
        where[name] = screens if len(screens) > 1 else screens[0]
        frame = frame[frame[name].str.strip().isin(screens).to_numpy()]
    marked: list[tuple[NDArray[np.bool_], str, str | tuple[str, ...]]] = []
    for column in (name for name in map(str, frame.columns) if name not in where):
        cells = frame[column].str.strip()
        # A column that says something in some responses alone is one of the trials there, not of all.
        is_empty = (cells == "") & (frame[response] != "" if response in frame.columns else True)
        is_of_practice = bool(set(words_of(column)) & PRACTICE) and bool(is_empty.any())
        is_free = column not in used and not is_of_practice
        found = rows_that_do_not_count(frame, column) if is_free else None
        if found is not None:
            odd, rest, what = found
            rows = cells.isin(odd)
            if what.startswith(("missed", "excluded")) and (
                rows.mean() > MOST_MISSED_ROWS or not _says_something(frame[rows], response)
            ):
                continue
            if what.startswith("forced") or any(
                not words_of_cell(cell) & PRACTICE and words_of_cell(cell) & TRAINING
                for cell in odd
            ):
                continue  # training may be a part of the task, so that the user is asked
            wanted = rest[0] if len(rest) == 1 else tuple(rest)
            marked.append((cells.isin(odd).to_numpy(), column, wanted))
        elif column not in used and _counts_practice(frame, column):
            marked.append(((cells != "").to_numpy(), column, ""))
    others: dict[str, str | tuple[str, ...]] = {}
    gone = np.zeros(len(frame), dtype=bool)
    for rows, column, wanted in sorted(marked, key=lambda item: -int(item[0].sum())):
        if (rows & ~gone).any() and rows.mean() <= MOST_PRACTICE:
            others[column] = wanted
            gone |= rows
    return where | others if gone.mean() <= MOST_PRACTICE else where


SCREENS = (("sender", "response", "ended_on"), ("Zone Type", "Response", "Reaction Time"))
"""Columns of lab.js, and of Gorilla, that name the screen of each row, its response, and one beside them."""


def screens_with_responses(frame: pd.DataFrame) -> tuple[str, tuple[str, ...]]:
    """The column of screens, and those that ever have a response, beside others such as fixation crosses."""
    for name, response, beside in SCREENS:
        if {name, response, beside} <= set(frame.columns):
            screen, filled = frame[name].str.strip(), (frame[response].str.strip() != "").to_numpy()
            kept = tuple(screen[filled].unique())
            return name, kept if set(kept) < set(screen) else ()
    return "", ()


MOST_MISSED_ROWS = 0.3
"""Share of rows that are missed responses, beyond which a column does not say so."""


def _says_something(rows: pd.DataFrame, column: str) -> bool:
    return column not in rows.columns or bool((rows[column].str.strip() != "").any())


def _counts_practice(frame: pd.DataFrame, column: str) -> bool:
    """Whether a column, such as ``practice_trials.thisN``, counts rows of practice and is empty in the others."""
    words = set(words_of(column))
    if not words & PRACTICE or not words & COUNTS:
        return False
    filled = frame[column].str.strip() != ""
    is_count = bool(numbers_of(frame[column][filled]).notna().all())
    return is_count and bool(0 < filled.mean() < 1)


def bad_rows_in_words(frame: pd.DataFrame, used: Collection[str]) -> list[str]:
    """Columns that are not read and call a few rows bad, each with the option that leaves these out."""
    lines = []
    for column in map(str, frame.columns):
        distinct = [cell for cell in map(str, frame[column].str.strip().unique()) if cell]
        if (
            column in used
            or not set(words_of(column)) & QUALITY
            or not 2 <= len(distinct) <= MOST_PHASES
        ):
            continue
        odd = [cell for cell in distinct if words_of_cell(cell) & BAD]
        others = [cell for cell in distinct if cell not in odd]
        if odd and others and frame[column].str.strip().isin(odd).mean() <= MOST_BAD_ROWS:
            lines.append(
                rows_in_words(frame, column, odd, others, "of no use by the file's own mark")
            )
    return lines


def check_practice(
    frame: pd.DataFrame, name: str, columns: AnswerColumns, unread: Sequence[str], notes: list[str]
) -> None:
    """Question rows of practice among those that are read, which a column that is not read tells from the others.

    Args:
        frame: Rows that are read.
        name: Name of the file.
        columns: What its columns mean.
        unread: Names of columns that are not read.
        notes: What was accepted is added to them.
    """
    for column in unread:
        if column in columns.where:
            continue
        found = rows_that_do_not_count(frame, column) or _rows_beside_numbers(frame, column)
        # What is learned in training is tested later, so that training is no practice.
        is_learned = found and columns.feedback and "test" in map(str.casefold, found[1])
        if found and not (is_learned and words_of_cell(found[0][0]).isdisjoint(PRACTICE)):
            words = rows_in_words(frame, column, *found)
            kind = "forced_choices" if found[2].startswith("forced") else "practice_rows"
            question(columns, notes, kind, f"{name}: {words}")


HORIZON, MOST_LENGTHS = {"game", "length"}, 4
"""Words in the name of a column of lengths of games, some choices in which are forced, and how many there are."""


def lengths_of_games(frame: pd.DataFrame) -> list[str]:
    """Columns of lengths of games, as in the horizon task, whose first choices are forced."""
    named = [name for name in map(str, frame.columns) if set(words_of(name)) >= HORIZON]
    return [name for name in named if 1 < frame[name].nunique() <= MOST_LENGTHS]


def check_forced(frame: pd.DataFrame, name: str, columns: AnswerColumns, notes: list[str]) -> None:
    """Question forced choices that brought rewards: they are no choices, and participants learned from them.

    Args:
        frame: All rows, whether they are read or left out.
        name: Name of the file.
        columns: What its columns mean.
        notes: What was accepted is added to them.
    """
    reward = columns.feedback.get("reward", "")
    if reward not in frame.columns:
        return
    for column in map(str, frame.columns):
        odd, _, what = rows_that_do_not_count(frame, column) or ([], [], "")
        rows = frame[column].str.strip().isin(odd) & (frame[reward] != "")
        if what.startswith("forced") and rows.any():
            which = f"{column} is {odd[0]} in {rows_named(frame.index[rows.to_numpy()])}, which"
        elif column in lengths_of_games(frame):
            which = f"{column} holds lengths of games, as in the horizon task, whose first choices"
        else:
            continue
        question(
            columns,
            notes,
            "forced_choices",
            f"{name}: {which} seem to be forced, and participants saw what these choices brought ({reward}). "
            "Steps without a choice are no part of this kind of task: read, they count as choices, and left out, "
            "theories lack what participants knew",
        )


def _rows_beside_numbers(
    frame: pd.DataFrame, column: str
) -> tuple[list[str], list[str], str] | None:
    """The words of a column that numbers trials, such as ``Bonus``, as `rows_that_do_not_count` has them."""
    cells = frame[column].str.strip()
    is_word = numbers_of(cells).isna().to_numpy() & (cells != "").to_numpy()
    if not set(words_of(column)) & COUNTS or not 0 < is_word.mean() <= MOST_NOT_NUMBERED:
        return None
    odd, others = (sorted(set(cells[rows]) - {""}) for rows in (is_word, ~is_word))
    return (odd, sorted(others, key=float), "no trials, as other rows have numbers")


def check_begins_anew(
    frame: pd.DataFrame,
    name: str,
    columns: AnswerColumns,
    unread: Sequence[str],
    notes: list[str],
    *,
    is_game: bool = False,
) -> None:
    """Question participants whose numbers of trials begin anew with a column that is not read, such as a site.

    Where most participants have several sites, their identifiers begin anew at each; where few have several values of
    any column, such as a date, these took part more than once.

    Args:
        frame: Rows that are read.
        name: Name of the file.
        columns: What its columns mean.
        unread: Names of columns that are not read.
        notes: What was accepted is added to them.
        is_game: Whether participants may have several games, whose beginnings the mapping says.
    """
    who = columns.participant
    if columns.is_pooled or columns.items or who not in frame.columns:
        return
    by_person = frame.groupby(who)
    for count in [columns.order] if columns.order else unread:
        if count not in frame.columns or not frame.duplicated([who, count]).any():
            continue
        values = numbers_of(frame[count])
        if values.isna().any() or (values != values.round()).any():
            continue
        of_person = values.groupby(frame[who])
        if of_person.min().nunique() > 1 or (of_person.nunique() < FEWEST_TRIALS).any():
            continue
        for part in unread:
            named = [own for own in (who, columns.experiment, part) if own]
            own = values.groupby([frame[column] for column in named])
            is_count = (own.nunique() >= FEWEST_TRIALS).all() and own.min().nunique() == 1
            is_within = bool(set(words_of(part)) & OF_PARTS or LOOP.search(part))
            if part == count or is_within or not is_count:
                continue
            if frame.duplicated([*named, count]).any():
                continue
            several = by_person[part].nunique() > 1
            if several.sum() <= max(MOST_AGAIN * len(several), 1):
                if is_game:
                    continue
                rows = frame.index[frame[who].isin(several.index[several]).to_numpy()]
                question(
                    columns,
                    notes,
                    "shared_names",
                    f"{name}: {count} begins anew with {part} for {several.sum()} of {len(several)} participants "
                    f"({rows_named(rows.to_numpy())}), who seem to have taken part more than once. Delete the rows "
                    "that do not count from the file",
                )
            elif set(words_of(part)) & SITES:
                question(
                    columns,
                    notes,
                    "shared_names",
                    f"{name}: {count} begins anew with each {part}, so that one {who} may be several participants, one "
                    f"of each {part}. If so, say --column 'participant={part}{JOINED}{who}' "
                    "(participants.columns.participant)",
                )


OF_PARTS = {"block", "blocks", "blk", "loop", "game", "round"}
LOOP = re.compile(r"\.this(N|RepN|TrialN|Index)$")
"""Words in names of columns of parts of a session, and loops of PsychoPy, in which trials begin anew by design."""


def rows_in_words(
    frame: pd.DataFrame, column: str, odd: Sequence[str], others: Sequence[str], what: str
) -> str:
    """Rows that do not seem to count, and the option that leaves them out."""
    rows = frame.index.to_numpy()[frame[column].str.strip().isin(odd).to_numpy()]
    wanted = others[0] if len(others) == 1 else json.dumps(list(others), ensure_ascii=False)
    return (
        f"{column} is {odd[0]} in {rows_named(rows)}, which seem to be {what}. To leave them out, say --column "
        f"'where.{column}={wanted}' (participants.columns.where)"
    )


def check_amounts(
    cells: RowCells, columns: AnswerColumns, layout: StimulusLayout, notes: list[str]
) -> None:
    """Question amounts of money far outside of the range for which theories' priors are made.

    Learning divides rewards by the largest; elsewhere a theory's sensitivity is per unit of money.
    """
    if "amount_unit" not in layout.parts:
        return
    parts = {name: value for name, value in columns.stimulus.items() if name.endswith("amounts")}
    named = {leaf for leaf in leaves_of(parts) if leaf in cells.frame.columns}
    sizes = [np.abs(numbers_of(cells.frame[name]).to_numpy()) for name in sorted(named)]
    known = np.concatenate([np.zeros(0), *(own[own > 0] for own in sizes)])
    if len(known) < FEWEST:
        return
    middle = float(np.median(known)) / (100 if columns.stimulus.get("amount_unit") else 1)
    low, high = USUAL_AMOUNTS
    if low <= middle <= high:
        return
    power = 10 ** abs(round(np.log10(middle / USUAL_AMOUNT)))
    part, value = next(iter(parts.items()))
    leaves = value if isinstance(value, list) else [value]
    whole = [leaf if leaf in cells.frame.columns else f"({leaf})" for leaf in map(str, leaves)]
    changed = [f"{leaf} / {power}" if middle > high else f"{power} * {leaf}" for leaf in whole]
    is_cents = middle > high and "amount_unit" not in columns.stimulus
    question(
        columns,
        notes,
        "unusual_amounts",
        f"{cells.name}: the median of the amounts ({', '.join(sorted(named))}) is {middle:g}. Theories fit worse "
        f"where it is not from {low:g} to {high:g}. "
        f"{'If they are hundredths, say --column amount_unit=cents. ' if is_cents else ''}Bring them into another "
        f"unit, as in --column {part}='{json.dumps(changed, ensure_ascii=False)}' (participants.columns.stimulus)",
    )


def check_shared_names(
    frame: pd.DataFrame, name: str, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question participants who are in several files of a folder in which numbers of trials begin anew.

    They may be others of the same name. Names of files that speak of sessions answer the question.
    """
    if columns.participant in (FILE, "filename") and columns.participant in frame.columns:
        _question_files_of_one(frame[columns.participant], name, columns, notes)
    named = [columns.participant, columns.order]
    if FILE in (columns.participant, columns.experiment) or not {*named, FILE} <= set(
        frame.columns
    ):
        return
    pairs = frame[[columns.participant, FILE]].drop_duplicates()
    n_files = pairs.groupby(columns.participant, sort=False).size()
    shared = list(map(str, n_files.index[n_files > 1]))
    files = sorted(pairs.loc[pairs[columns.participant].isin(shared), FILE].unique())
    is_session = all(set(words_of(file)) & SESSION_WORDS for file in files)
    begins_anew = bool(frame[[*named, FILE]].drop_duplicates().duplicated(named).any())
    if len(shared) < 2 or is_session or not begins_anew:
        return
    more = ", ..." if len(shared) > 3 else ""
    question(
        columns,
        notes,
        "shared_names",
        f"{name}: {len(shared)} participants ({', '.join(shared[:3])}{more}) are in several files "
        f"({', '.join(files[:3])}{', ...' if len(files) > 3 else ''}), in which {columns.order} begins anew. If each "
        f"file is another participant, say --column participant={FILE} (participants.columns.participant). If they are "
        f"others of the same name, say --column experiment={FILE}. If they are the same participants, accept it",
    )


def _question_files_of_one(
    files: pd.Series, name: str, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question files that are taken for participants while several begin with one number, as P07_game, P07_practice."""
    by_number: dict[str, list[str]] = {}
    for file in sorted(map(str, files.unique())):
        found = NUMBER_OF_FILE.match(file)
        if found is not None:
            by_number.setdefault(found[0], []).append(file)
    shared = [own for own in by_number.values() if len(own) > 1]
    if len(shared) < 2 or 2 * len(shared) < len(by_number):
        return
    question(
        columns,
        notes,
        "shared_names",
        f"{name}: each file is taken for a participant, and {len(shared)} numbers begin the names of several files "
        f"({', '.join(shared[0][:3])}). If these are of one participant, move files of practice out of the folder, or "
        "name the participants in a column. If each file is a participant, accept it",
    )


def check_cumulated(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> None:
    """Question rewards that never fall within participants and mostly rise over many values, as sums of all so far."""
    column = columns.feedback.get("reward", "")
    if column not in cells.frame.columns:
        return
    values = numbers_of(cells.frame[column]).to_numpy()
    order = np.argsort(participant, kind="stable")
    own, who = values[order], participant[order]
    steps = np.diff(own)[who[1:] == who[:-1]]
    steps = steps[~np.isnan(steps)]
    if len(steps) < FEWEST or (steps < 0).any() or len(np.unique(own)) <= FEWEST_SUMS:
        return
    question(
        columns,
        notes,
        "cumulated_rewards",
        f"{cells.name}: {column} never falls from a row of a participant to the next, as a sum of all rewards so far. "
        "Name the column of each step's own reward: --column feedback.reward=COLUMN (participants.columns.feedback)",
    )


def check_steps(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> None:
    """Question steps of learning whose stimuli a column holds that is not read, by its name or by what rewards say.

    A column with which the reward is computed is read.
    """
    used = set(map(str, leaves_of(columns.model_dump())))
    for own in columns.feedback.values():
        used |= set(columns_in(own, cells.frame.drop(columns=own, errors="ignore")))
    free = [name for name in map(str, cells.frame.columns) if not set(words_of(name)) & JUDGED]
    unread = {name: pd.Series(cells.text(name)).str.strip() for name in free if name not in used}
    if pair := [item.name for item in signed_pair(map(ColumnSignature, unread, unread.values()))]:
        question(
            columns,
            notes,
            "one_set_of_options",
            f"{cells.name}: {' and '.join(pair)} say how strong a stimulus was on the left or on the right, and are "
            "not read. If participants judged stimuli, say --domain perception",
        )
    if _judges_one_option(cells, columns):
        return  # the option that was right is one and the same wherever it stood
    for name in map(str, cells.frame.columns):
        words = set(words_of(name))
        if words & JUDGED:
            continue  # what came of a response is no stimulus
        is_named = bool(words & STIMULUS_WORDS)
        if name in used or not (is_named or rewards_depend(cells, columns, participant, name)):
            continue
        texts = cells.text(name)
        if not 2 <= len(set(texts) - {""}) <= MOST_STIMULI or not is_mixed(texts, participant):
            continue
        chosen = cells.text(columns.response)[texts != ""] if columns.response else texts[:0]
        is_place = set(texts) - {""} == set(chosen) - {""}
        if is_place and not words & CUE_WORDS:
            continue  # where the options stood that responses name
        shown = ", ".join(sorted(set(texts) - {""})[:4])
        question(
            columns,
            notes,
            "one_set_of_options",
            f"{cells.name}: {name} ({shown}) changes from step to step within participants, and is not read: options "
            f"would be the same at all steps. Say --column cue={name} (participants.columns.stimulus) where each "
            f"{name} is learned apart",
        )


def rewards_depend(cells: RowCells, columns: AnswerColumns, participant: Array, name: str) -> bool:
    """Whether rewards of one and the same choice differ by a column, which comes and goes as what is shown does.

    A column that follows from the reward, or that changes only with the choice, says what came of a step.
    """
    reward, response = columns.feedback.get("reward", ""), columns.response
    frame = cells.frame
    if not {reward, response, name} <= set(frame.columns) or "second_choice" in columns.stimulus:
        return False
    texts = cells.text(name)
    if not 2 <= len(set(texts)) <= MOST_CONTEXTS:
        return False
    paid, chosen, shown = (pd.factorize(frame[own])[0] for own in (reward, response, name))
    if places_of(paid, shown).max() == paid.max() or places_of(paid, chosen, shown).max() == (
        places_of(paid, chosen).max()
    ):
        return False
    if not is_mixed(texts, places_of(participant, chosen)):
        return False
    high = pd.Series((paid == np.argmax(np.bincount(paid))) * 1.0)
    rest = (high - high.groupby(chosen).transform("mean")).to_numpy()
    spread = float(rest.std())
    if spread == 0:
        return False
    pair = places_of(chosen, shown)
    for place in np.unique(pair):
        own = rest[pair == place]
        if len(own) >= FEWEST and abs(own.mean()) * np.sqrt(len(own)) / spread > CLEAR_CONTEXT:
            return True
    return False


def check_places(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> None:
    """Question responses of right or wrong, places where columns tell which stimuli stood at each, changing menus."""
    used = set(map(str, leaves_of(columns.stimulus)))
    chosen = set(cells.text(columns.response).tolist()) - {""} if columns.response else set()
    is_judged = bool(set(words_of(columns.response)) & JUDGING) and "==" not in columns.response
    shown = stimuli_at_places(cells, participant, {""} if is_judged else chosen, used)
    if is_judged and not _judges_one_option(cells, columns):
        placed = f" {shown_option(shown)}" if shown else ""
        question(
            columns,
            notes,
            "one_set_of_options",
            f"{cells.name}: by its name, {columns.response} says whether a response was right, and not which option it "
            "was: where the right option changes, options would be mixed up. Say which column holds the responses: "
            f"--column response={response_at_places(cells) or 'COLUMN'}{placed}",
        )
    if shown and not is_judged:
        stimuli = sorted(set(cells.text(shown[0]).tolist()) - {""})
        question(
            columns,
            notes,
            "one_set_of_options",
            f"{cells.name}: {' and '.join(shown)} hold the same stimuli ({', '.join(stimuli[:4])}) at changing "
            f"places, and {columns.response} ({', '.join(sorted(chosen)[:4])}) names none of them: places would be "
            f"learned, not stimuli. Say {shown_option(shown)}",
        )
    if columns.response:
        _check_menus(cells, columns, notes)


def _judges_one_option(cells: RowCells, columns: AnswerColumns) -> bool:
    """Whether one and the same option is right for each cue, as another column says which option was chosen."""
    cue, frame = columns.stimulus.get("cue"), cells.frame
    if not isinstance(cue, str) or not {cue, columns.response} <= set(frame.columns):
        return False
    code = {name: pd.factorize(frame[name])[0] for name in map(str, frame.columns)}
    judged = places_of(code[cue], code[columns.response])
    return any(
        set(words_of(name)) & CHOICES
        and len(set(own)) > 2
        and places_of(code[cue], own).max() == judged.max() == places_of(judged, own).max()
        for name, own in code.items()
    )


def _check_menus(cells: RowCells, columns: AnswerColumns, notes: list[str]) -> None:
    """Question choices that each are one cell of some columns which no part reads, where these show a changing menu."""
    rows = cells.frame[cells.text(columns.response) != ""]
    own, sets = rows[columns.response], rows.get(columns.experiment, [""] * len(rows))
    used = set(map(str, leaves_of(columns.model_dump(exclude={"stimulus": {"shown"}}))))
    free = {*map(str, rows.columns)} - used if own.nunique() > 2 else set()
    equal = {name: rows[name] == own for name in sorted(free) if (rows[name] != "").all()}
    shown = [name for name, same in equal.items() if same.nunique() == 2][:MOST_COLUMNS]
    for names in chain(*(combinations(shown, n) for n in (2, 3, 4))):
        if not (np.sum([equal[name] for name in names], axis=0) == 1).all():
            continue
        each = zip(sets, *(rows[name] for name in names), strict=True)
        shows = [frozenset(menu) for _, *menu in each]
        menus = set(zip(sets, shows, strict=True))
        if len(menus) > len({one for one, _ in menus}):
            is_place = "shown" in columns.stimulus
            choice = f"what {columns.response} stands for" if is_place else columns.response
            question(
                columns,
                notes,
                "one_set_of_options",
                f"{cells.name}: {choice} is always the cell of {' or of '.join(names)}, and what these show "
                f"differs between steps, while all {own.nunique()} options would be offered at all steps. Say --column "
                f"experiment={_column_of_sets(rows, shows, columns) or 'COLUMN'} (experiment in participants.columns) "
                "where each set of options is learned apart; where one option is in several sets, no theory of "
                "learning can read the file",
            )


def _column_of_sets(
    rows: pd.DataFrame, shows: Sequence[frozenset[str]], columns: AnswerColumns
) -> str:
    """The first column that names the set of options of each step; empty without any."""
    read = {columns.participant, columns.response, columns.order}
    code = pd.factorize(pd.Series(shows))[0]
    for name in map(str, rows.columns):
        own = pd.factorize(rows[name])[0]
        if name not in read and own.max() == code.max() == places_of(own, code).max():
            return name
    return ""


def response_at_places(cells: RowCells) -> str:
    """The first column whose cells are two places, such as left and right, and which is no judgement; else nothing."""
    for name in map(str, cells.frame.columns):
        distinct = {cell for cell in cells.frame[name].str.strip().unique() if cell}
        is_free = not set(words_of(name)) & (JUDGED | PLACE_WORDS - {"key"})
        if (
            is_free
            and len(distinct) == 2
            and all(set(words_of(cell)) <= AT_PLACES for cell in distinct)
        ):
            return name
    return ""


def stimuli_at_places(
    cells: RowCells, participant: Array, chosen: set[str], used: Collection[str]
) -> tuple[str, ...]:
    """The columns that hold the same stimuli at changing places, from the left; empty without any.

    Args:
        cells: Cells of a table.
        participant: ``(n_rows,)`` number of the person.
        chosen: Cells of the response; stimuli that it names are none of places.
        used: Columns that are read as something else.
    """
    distinct = {
        name: cells.text(name)
        for name in map(str, cells.frame.columns)
        if name not in used and _shows_stimulus(name, cells)
    }
    alike: dict[frozenset[str], list[str]] = {}
    for name, own in distinct.items():
        alike.setdefault(frozenset(own.tolist()) - {""}, []).append(name)
    for shown, names in alike.items():
        if not 2 <= len(shown) <= MOST_STIMULI or not chosen or chosen & shown:
            continue
        for some in [names] if len(names) > 2 else combinations(names, 2):
            pairs = combinations([distinct[name] for name in some], 2)
            is_one_each = all((one != other).all() for one, other in pairs)
            if len(some) > 1 and is_one_each and is_mixed(distinct[some[0]], participant):
                return tuple(
                    sorted(some, key=lambda name: bool(set(words_of(name)) & SECOND_PLACES))
                )
    return ()


def _shows_stimulus(name: str, cells: RowCells) -> bool:
    """Whether a column's name says that it shows a stimulus, or names a place and its cells are no numbers."""
    words = set(words_of(name))
    if words & STIMULUS_WORDS or not words & (AT_PLACES | PLACE_WORDS) or words & JUDGED:
        return bool(words & STIMULUS_WORDS)
    return bool(numbers_of(cells.frame[name]).isna().all())


def shown_option(shown: Sequence[str]) -> str:
    """The option that names the columns of stimuli from the left."""
    return f"--column 'shown={json.dumps(list(shown), ensure_ascii=False)}'"


def is_mixed(texts: Array, participant: Array) -> bool:
    """Whether values of a column come and go within participants, more often than in blocks."""
    order = np.argsort(participant, kind="stable")
    own, who = texts[order], participant[order]
    n_changes = int(((own[1:] != own[:-1]) & (who[1:] == who[:-1])).sum())
    frame = pd.DataFrame({"who": who, "said": own})
    n_needed = int((frame.groupby("who")["said"].nunique() - 1).sum())
    return n_changes > 2 * max(n_needed, 1)


def check_responses(
    trials: Sequence[Trials],
    in_favour: Callable[[Stimuli], Array] | None,
    dominance: Callable[[Stimuli], Array] | None,
    columns: AnswerColumns,
    notes: list[str],
    turned: str = "",
    properties: Callable[[Stimuli], Mapping[str, Array]] | None = None,
) -> None:
    """Question responses that are all the same, choose what is dominated, or go against what speaks for an option.

    Args:
        trials: Choices of each experiment.
        in_favour: ``(n_trials,)`` how much speaks for the second option; None where nothing is known.
        dominance: ``(n_trials,)`` 1 where the second option is better whatever one's taste, -1 where the first one
            is; None where nothing is known.
        columns: What the mapping accepts.
        notes: What was accepted is added to them.
        turned: The option that turns scales round on which less is better; empty where there are none.
        properties: Properties of options, by name; None where they have none.
    """
    column = columns.response or columns.share or "the response"
    n_all = sum(item.n_responses for item in trials)
    chosen = {int(code) for item in trials for code in np.unique(item.response[item.count > 0])}
    if n_all >= FEWEST and len(chosen) == 1:
        question(
            columns,
            notes,
            "constant_response",
            f"all {n_all:,} responses ({column}) are the same option; a column that varies may hold the choices",
        )
    if any(item.n_options != 2 for item in trials):
        return
    n_dominated, n_rows = _dominated(trials, dominance) if dominance else (0, 0)
    follows, error = _direction(trials, in_favour) if in_favour else (0.0, 1.0)
    is_reversed, would_be_reversed = (
        sign * follows <= min(REVERSED * error, -STRONG) for sign in (1, -1)
    )
    is_dominated, would_be_dominated = (
        n_rows >= FEWEST and n_worse > MOST_DOMINATED * n_rows
        for n_worse in (n_dominated, n_rows - n_dominated)
    )
    shown = ", ".join(
        f"{part} = {json.dumps(own, ensure_ascii=False)}" for part, own in columns.stimulus.items()
    )
    other = f"a column is not what it is read as ({shown}), since neither code of {column} fits"
    turn = f"say which cell is which option, from 0: {_turned_round(columns)}"
    if is_dominated:
        moved = "says a place, and options changed places (--column side=COLUMN with the column of places)"
        coded = f"is coded the other way round ({turn})"
        first = f"{column} {moved if would_be_dominated else coded}"
        question(
            columns,
            notes,
            "dominated_choices",
            f"in {n_rows:,} choices one option is better whatever one's taste, and in {n_dominated:,} of them the "
            f"other one was chosen. Either {other if would_be_reversed else first}, or a loss is written as a positive "
            f"number (say -COLUMN in place of COLUMN, as in {_with_negative_losses(columns)})",
        )
    elif dominance and properties and "delays_days" in columns.stimulus:
        _check_times(trials, dominance, properties, columns, notes)
    if is_reversed:
        coded = f"{column} seems to be coded the other way round: {turn} (participants.columns.responses)"
        question(
            columns,
            notes,
            "reversed_code",
            f"participants choose the second option the less, the more speaks for it (correlation {follows:.2f} over "
            f"{n_all:,} responses): {other if would_be_dominated else coded}. If smaller values of a column are "
            f"better, as school grades can be, turn it round: {turned or '7 - COLUMN in place of COLUMN'}",
        )


def _with_negative_losses(columns: AnswerColumns) -> str:
    """Amounts as they are read, in their order, with the columns of losses as negative numbers; else an example."""
    for part, own in columns.stimulus.items():
        leaves = list(map(str, leaves_of(own)))
        lost = [leaf for leaf in leaves if set(words_of(leaf)) & LOSSES and leaf.isidentifier()]
        if part.endswith("amounts") and isinstance(own, list) and lost:
            changed = [f"-{leaf}" if leaf in lost else leaf for leaf in own]
            return f"--column '{part}={json.dumps(changed, ensure_ascii=False)}'"
    return 'b_amounts = ["gain", "-loss"]'


def _dominated(trials: Sequence[Trials], dominance: Callable[[Stimuli], Array]) -> tuple[int, int]:
    """Count the choices of a dominated option, and the choices in which one option dominates."""
    n_dominated = n_rows = 0
    for item in trials:
        side = np.sign(dominance(item.stimuli)[item.trial])
        is_worse = (side != 0) & ((side > 0) != (item.response == 1))
        n_dominated += int(item.count[is_worse].sum())
        n_rows += int(item.count[side != 0].sum())
    return n_dominated, n_rows


def turned_ratings(frame: pd.DataFrame, columns: AnswerColumns) -> str:
    """The option that turns all ratings round, their largest and smallest number changing places; empty without any."""
    ratings = columns.stimulus.get("ratings")
    names = [leaf for leaf in leaves_of(ratings) if leaf in frame.columns]
    if not names or not isinstance(ratings, list | tuple):
        return ""
    ends = numbers_of(pd.concat([frame[name] for name in names])).dropna()
    both = f"{ends.min() + ends.max():g}" if len(ends) else "7"
    turned = [[f"{both} - {name}" for name in leaves_of(own)] for own in ratings]
    return f"--column 'ratings={json.dumps(turned, ensure_ascii=False)}'"


def _turned_round(columns: AnswerColumns) -> str:
    """The options that turn the code of two responses round, in the words of the file."""
    code = columns.responses if set(columns.responses.values()) == {0, 1} else {"0": 0, "1": 1}
    turned = sorted(code.items(), key=lambda item: item[1])
    return " ".join(column_option(f"responses.{cell}={1 - place}") for cell, place in turned)


def _check_times(
    trials: Sequence[Trials],
    dominance: Callable[[Stimuli], Array],
    properties: Callable[[Stimuli], Mapping[str, Array]],
    columns: AnswerColumns,
    notes: list[str],
) -> None:
    """Question delays that are often equal though the smaller amount is chosen: one may count from the other."""

    def at_one_time(stimuli: Stimuli) -> Array:
        return np.asarray(dominance(stimuli) * (np.ptp(properties(stimuli)["delay"], axis=1) == 0))

    n_dominated, n_rows = _dominated(trials, at_one_time)
    delays = list(map(str, leaves_of(columns.stimulus["delays_days"])))
    if n_rows >= FEWEST and n_dominated > MOST_AT_ONE_TIME * n_rows:
        both = json.dumps([delays[0], " + ".join(delays)], ensure_ascii=False)
        way = f"If the second delay counts from the first payment, add them: --column delays_days='{both}'"
        if delays[0].replace(".", "", 1).isdigit():
            way = "Options may differ in more than amounts and delays"
        question(
            columns,
            notes,
            "dominated_choices",
            f"in {n_rows:,} choices both amounts come at the same time, and in {n_dominated:,} of them the smaller one "
            f"was chosen. {way}",
        )


def _direction(
    trials: Sequence[Trials], in_favour: Callable[[Stimuli], Array]
) -> tuple[float, float]:
    """Measure how choices of the second option follow what favours it, within participants; with standard error."""
    products, n_rows = [], 0
    for item in trials:
        speaks = np.asarray(in_favour(item.stimuli), dtype=np.float64)[item.trial]
        frame = pd.DataFrame(
            {"who": item.participant, "speaks": speaks, "chosen": 1.0 * (item.response == 1)}
        )
        if item.pooled:
            frame = frame.loc[frame.index.repeat(np.minimum(item.count, FEWEST))]
        frame["speaks"] = frame["speaks"].rank()
        own = frame[["speaks", "chosen"]] - frame.groupby("who")[["speaks", "chosen"]].transform(
            "mean"
        )
        products.append(own / np.maximum(own.std(ddof=0), 1e-12))
        n_rows += len(own) - frame["who"].nunique()
    if n_rows < FEWEST:
        return 0.0, 1.0
    both = pd.concat(products)
    return float((both["speaks"] * both["chosen"]).mean()), float(1 / np.sqrt(n_rows))
