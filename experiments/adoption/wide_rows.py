"""Tables with a row for each participant, whose columns number the trials: ``choice_1``, ``choice_2`` and so on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lakatos.experiments.adoption.cell_units import dated_amounts
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.plausible import lengths_of_games
from lakatos.experiments.errors import TrialsError

NUMBER = "#"
"""Mark in a pattern for the number of the trial, as in ``choice_#``."""
FEWEST = 6
"""Numbers of a column's name, from which on they may be those of trials."""
TRIAL = ("trial", "number", "number of the trial")
"""Names for the column of numbers; the first that the table does not have."""


MOST_TWICE = 0.1
"""Share of rows that may be another one of a participant who took part twice."""


def guessed_wide(frame: pd.DataFrame, participant: str, questions: Mapping[str, str]) -> str:
    """Patterns of the columns that number trials, separated by commas; empty where a row is no participant.

    Several columns have the same numbers, from 0 or from 1; or questions or answers say what was offered in each of
    one's cells.

    Args:
        frame: Rows of text cells.
        participant: The column that names participants.
        questions: What a questionnaire asked, by column.
    """
    if participant not in frame.columns or frame[participant].duplicated().mean() > MOST_TWICE:
        return ""
    return numbered_patterns(frame, questions)


def numbered_patterns(frame: pd.DataFrame, questions: Mapping[str, str]) -> str:
    """`guessed_wide` whatever a row is."""
    numbers: dict[tuple[str, str], dict[int, str]] = {}
    for name in map(str, frame.columns):
        for found in re.finditer(r"\d+", name):
            key = name[: found.start()], name[found.end() :]
            own = numbers.setdefault(key, {})
            if int(found[0]) not in own:  # 01 and 1 are one number
                own[int(found[0])] = name
    groups: dict[tuple[int, ...], list[tuple[str, str]]] = {}
    for key, own in numbers.items():
        places = tuple(sorted(own))
        is_count = places[0] in (0, 1) and places == tuple(
            range(places[0], places[0] + len(places))
        )
        if len(places) >= FEWEST and is_count and "," not in "".join(key):
            groups.setdefault(places, []).append(key)
    for places in sorted(groups, key=lambda own: (-len(groups[own]), -len(own))):
        keys = groups[places]
        of_one = [numbers[keys[0]][place] for place in places]
        if len(keys) > 1 or all(
            len(dated_amounts(questions.get(name, ""))) == 2 for name in of_one
        ):
            return ",".join(NUMBER.join(key) for key in keys)
    offers = offers_of(frame, questions)
    offered = [
        key for key, own in numbers.items() if len(set(own.values()) & set(offers)) >= FEWEST
    ]
    return NUMBER.join(offered[0]) if len(offered) == 1 and "," not in "".join(offered[0]) else ""


def offers_of(frame: pd.DataFrame, questions: Mapping[str, str]) -> dict[str, str]:
    """Read what each column's question offered, two amounts and when each is paid, from questions or responses.

    Answers such as ``$54 today`` and ``$55 in 117 days`` repeat what was offered, the sooner option first here.
    """
    found = {name: text for name, text in questions.items() if len(dated_amounts(text)) == 2}
    for name in map(str, frame.columns):
        distinct = [cell for cell in frame[name].str.strip().unique() if cell]
        if name in found or len(distinct) != 2:
            continue
        dated = [dated_amounts(cell) for cell in distinct]
        if all(len(own) == 1 for own in dated):
            first, second = sorted(distinct, key=lambda cell: dated_amounts(cell)[0][::-1])
            found[name] = f"{first}, or {second}"
    return found


def numbered_rows(
    frame: pd.DataFrame, wide: str, questions: Mapping[str, str], name: str
) -> pd.DataFrame:
    """A row for each number of the columns that patterns name, with the cells of each pattern in one column.

    Where questions or answers say two amounts and when each is paid, they are ``amount_1``, ``days_1``, ``amount_2``
    and ``days_2``.

    Raises:
        TrialsError: No column is like a pattern.
    """
    named = {pattern: _numbered(frame.columns, pattern) for pattern in wide.split(",")}
    for pattern, own in named.items():
        if not own:
            raise TrialsError(
                f"{name} has no columns like {pattern!r}, where {NUMBER} stands for the number of a trial; say "
                f"--column 'wide=choice_{NUMBER},reward_{NUMBER}' (participants.columns.wide)."
            )
    offers = offers_of(frame, questions) if len(named) == 1 else {}
    for pattern, own in named.items():
        item_columns = {number: column for number, column in own.items() if column in offers}
        if len(item_columns) >= FEWEST:  # the others are other questions of the same questionnaire
            named[pattern] = item_columns
    numbers = sorted({number for own in named.values() for number in own})
    taken = {column for own in named.values() for column in own.values()}
    others = [column for column in frame.columns if column not in taken]
    n_rows, n_each = len(frame), len(numbers)
    made = {
        str(column): np.repeat(frame[column].to_numpy(dtype=object), n_each) for column in others
    }
    trial = next(own for own in TRIAL if own not in frame.columns)
    made[trial] = np.tile(np.array([str(number) for number in numbers], dtype=object), n_rows)
    for pattern, own in named.items():
        empty = np.full(n_rows, "", dtype=object)
        cells = [
            frame[own[number]].to_numpy(dtype=object) if number in own else empty
            for number in numbers
        ]
        made[stem_of(pattern, made)] = np.stack(cells, axis=1).ravel()
    if len(named) == 1:
        (own,) = named.values()
        made |= _offered([offers.get(own.get(number, ""), "") for number in numbers], n_rows)
    index = np.repeat(frame.index.to_numpy(), n_each)
    return pd.DataFrame(made, index=index).astype("str")


def one_answer_items(frame: pd.DataFrame, wide: str, questions: Mapping[str, str]) -> str:
    """Items that all participants answered alike, so that nothing says what else they offered; empty without any."""
    item_columns = _numbered(frame.columns, wide).values() if "," not in wide else ()
    offers = offers_of(frame, questions) if item_columns else {}
    alike = [
        name for name in item_columns
        if name not in offers and [len(dated_amounts(own)) for own in set(frame[name]) - {""}] == [1]
    ]  # fmt: skip
    if not alike:
        return ""
    n_left, n_all = (int((frame[list(names)] != "").sum().sum()) for names in (alike, item_columns))
    return (
        f"{len(alike)} of {len(item_columns)} items ({', '.join(alike[:3])}{', ...' if len(alike) > 3 else ''}) have "
        f"one and the same answer of all participants, so that nothing says what else they offered: {n_left:,} of "
        f"{n_all:,} responses would not be read, and those that are left are of the undecided items. Write a file with "
        "a row for each item, and say --column items=FILE --column item=item"
    )


def _numbered(columns: Sequence[str], pattern: str) -> dict[int, str]:
    before, _, after = pattern.partition(NUMBER)
    shape = re.compile(rf"{re.escape(before)}(\d+){re.escape(after)}")
    found = {str(column): shape.fullmatch(str(column)) for column in columns}
    return {int(match[1]): column for column, match in found.items() if match}


def stem_of(pattern: str, taken: Mapping[str, object]) -> str:
    """The name of a pattern's column: the pattern without the number and the mark before it."""
    before, _, after = pattern.partition(NUMBER)
    stem = (before.rstrip("_.- ") + after).strip("_.- ") or "cell"
    return stem if stem not in taken else f"{stem} {NUMBER}"


def _offered(questions: Sequence[str], n_rows: int) -> dict[str, np.ndarray]:
    """Two amounts and their delays in days, as each question says them; nothing where one does not."""
    values = [dated_amounts(text) for text in questions]
    if not all(len(own) == 2 for own in values):
        return {}
    found = {}
    for place in (0, 1):
        for key, part in (("amount", 0), ("days", 1)):
            cells = np.array([f"{own[place][part]:g}" for own in values], dtype=object)
            found[f"{key}_{place + 1}"] = np.tile(cells, n_rows)
    return found


def wide_in_words(frame: pd.DataFrame, wide: str) -> str:
    """State how columns are read as rows, for the user to check."""
    patterns = wide.split(",")
    numbers = sorted(_numbered(frame.columns, patterns[0]))
    shown = " and ".join(patterns[:4]) + (" and others" if len(patterns) > 4 else "")
    return (
        f"a row is a participant, and columns {shown}, numbered {numbers[0]} to {numbers[-1]}, are read as a row for "
        f"each number: --column 'wide={wide if len(wide) < 200 else patterns[0] + ',...'}'"
    )


def games_in_words(frame: pd.DataFrame, participant: str) -> str:
    """The question whether rows are games, whose steps columns number; empty where a row is a participant."""
    wide = numbered_patterns(frame, {}) if participant in frame.columns else ""
    if "," not in wide or frame[participant].duplicated().mean() <= MOST_TWICE:
        return ""
    if lengths := lengths_of_games(frame):
        return (
            f"{lengths[0]} holds lengths of games, as in the horizon task, whose first choices are forced: steps "
            "without a choice are no part of a kind of task here, and the file is not read"
        )
    return (
        f"columns {wide.replace(',', ' and ')} number the steps of each row: if a row is a game, say --domain NAME "
        f"--column 'wide={wide}'"
    )


def numbered_items(frame: pd.DataFrame, participant: str) -> str:
    """The name, without its number, of columns that number questions of which nothing says what they offered."""
    if participant not in frame.columns or frame[participant].duplicated().any():
        return ""
    stems: dict[str, int] = {}
    for name in map(str, frame.columns):
        found = re.fullmatch(r"(.*?[A-Za-z_.])\d+", name)
        if found and frame[name].nunique() <= 4 and words_of(found[1]):
            stems[found[1]] = stems.get(found[1], 0) + 1
    named = [
        stem
        for stem, count in stems.items()
        if count >= FEWEST
        and any(frame[name].nunique() >= 2 for name in frame if str(name).startswith(stem))
    ]
    return named[0] if len(named) == 1 else ""


def items_in_words(stem: str) -> str:
    """State what to do with columns that number questions, given their name without its number."""
    return (
        f"a row is a participant, and columns {stem}1 and so on seem to hold one response each, while nothing says "
        f"what each offered: write a file with a row for each column (item) and columns of what it offers, and say "
        f"--domain NAME --column 'wide={stem}*' --column items=FILE --column item=item --column "
        "response=response, with --column PART=COLUMN for each part of a trial"
    )
