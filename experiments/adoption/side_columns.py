"""Responses that say a place, where a column says at which place each of two options stood."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import JUDGING, PLACE_WORDS, column_option, words_of
from lakatos.experiments.adoption.option_code import (
    MOST_MISSED,
    SWAPPED,
    TRUTH,
    code_of_pair,
    leaves_of_option,
    option_named,
    words_of_option,
)
from lakatos.experiments.adoption.option_kind import KINDS
from lakatos.experiments.adoption.plausible import AT_PLACES, JUDGED, LOSSES, is_mixed, question
from lakatos.experiments.adoption.read_back import OF_RESPONSES, columns_not_read
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.shown_stimuli import SHOWN, places_of_cells
from lakatos.experiments.adoption.signatures import CLEAR, ColumnSignature, stays_after_reward
from lakatos.experiments.adoption.tables import AnswerTable, numbers_of, places_of
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain

SIDE = "side"
"""Part of the trials: the column that says where an option stood, or which one stood on the left."""
FIRST_PLACE = {"left", "l", "top", "upper", "up", "first"}
SECOND_PLACE = {"right", "r", "bottom", "lower", "down", "second"}
"""Words in names of columns."""
CLEARER = 2.0
"""Factor by which one meaning of responses follows what options offer more clearly than the other one."""


@dataclass(frozen=True)
class SideColumn:
    """A column by which responses that say places name options."""

    name: str
    on_left: Mapping[str, int]
    """The option, from 0, that stood at the first place, by cell."""


def has_places(domain: Domain) -> bool:
    """Whether trials are choices of one of two options, which may stand at either place."""
    return len(domain.options) == 2 and scale_of(domain) is None and not domain.sequential


def place_code(distinct: set[str]) -> dict[str, int]:
    """The place, from the left, that each of two cells of a response may say; empty where they say none."""
    return places_of_cells(distinct)


def side_columns(
    frame: pd.DataFrame, columns: AnswerColumns, labels: Sequence[str] = ()
) -> list[SideColumn]:
    """Columns of two cells that say where an option stood, by their names and cells.

    Args:
        frame: Rows of text cells.
        columns: What its columns mean.
        labels: Labels of a domain's options.
    """
    found = []
    for name in map(str, frame.columns):
        used = {columns.participant, columns.response, columns.response_time, columns.order}
        if name in used:
            continue
        distinct = {cell for cell in frame[name].str.strip().unique() if cell}
        if len(distinct) == 2 and (code := _on_left(name, distinct, columns.stimulus, labels)):
            found.append(SideColumn(name, code))
    return found


def _on_left(
    name: str, distinct: set[str], stimulus: Mapping[str, Any], labels: Sequence[str]
) -> dict[str, int]:
    """The option that stood at the first place, by cell; empty where name and cells do not say it."""
    own = _words_of_options(stimulus, labels)
    words = set(words_of(name))
    place = {*(k for k, side in enumerate((FIRST_PLACE, SECOND_PLACE)) if words & side)}
    truth = {cell: int(TRUTH.get(cell.casefold(), cell)) for cell in distinct if _is_truth(cell)}
    if words & SWAPPED and len(truth) == 2:
        return truth
    named = {cell: _option_of(set(words_of(cell)), own) for cell in distinct}
    if len(place) == 1 and set(named.values()) == {0, 1}:  # left_option: ss or ll
        return {cell: option ^ min(place) for cell, option in named.items() if option is not None}
    option = _option_of(words - FIRST_PLACE - SECOND_PLACE, own)
    if option is None:
        return {}
    if len(place) == 1 and len(truth) == 2:  # ll_is_left: 1 or 0
        return {cell: option ^ min(place) ^ 1 ^ value for cell, value in truth.items()}
    places = code_of_pair(distinct) or (place_code(distinct) if words & PLACE_WORDS else {})
    return {cell: option ^ value for cell, value in places.items()}  # side_of_ll: left or right


def _is_truth(cell: str) -> bool:
    return cell in ("0", "1") or cell.casefold() in TRUTH


def _words_of_options(
    stimulus: Mapping[str, Any], labels: Sequence[str]
) -> tuple[set[str], set[str]]:
    """Words that name the first and the second option alone: those of their columns, of their kind, and labels."""
    shown = [words_of_option(stimulus, place) for place in (0, 1)]
    own = [shown[0] - shown[1], shown[1] - shown[0]]
    for kind in KINDS.values():
        for place in (0, 1):
            if own[place] & kind[place] or own[1 - place] & kind[1 - place]:
                own = [own[0] | kind[0], own[1] | kind[1]]
                break
            if own[place] & kind[1 - place]:
                own = [own[0] | kind[1], own[1] | kind[0]]
                break
    if len(labels) == 2:
        own = [own[k] | {labels[k].casefold()} for k in (0, 1)]
    places = FIRST_PLACE | SECOND_PLACE
    return own[0] - own[1] - places, own[1] - own[0] - places


def _option_of(words: set[str], own: tuple[set[str], set[str]]) -> int | None:
    """The option that words name; None where they name none or both."""
    named = [bool(words & side) for side in own]
    return named.index(True) if named[0] != named[1] else None


def follows_places(frame: pd.DataFrame, columns: AnswerColumns, side: SideColumn) -> bool | None:
    """Whether responses follow what options offer as places do (True), or as options do (False); None: neither."""
    texts = frame[columns.response].str.strip()
    code = columns.responses or place_code(_common_cells(texts))
    stood = frame[side.name].str.strip()
    known = (texts.isin(list(code)) & stood.isin(list(side.on_left))).to_numpy()
    place = texts.map(code).to_numpy(dtype=np.float64)
    left = stood.map(side.on_left).to_numpy(dtype=np.float64)
    chosen = np.where(place == 0, left, 1 - left)
    offered = _offered(frame[known], columns.stimulus)
    by_place, by_option = (_clearness(values[known], offered) for values in (chosen, place))
    if max(by_place, by_option) <= CLEAR:
        return None
    if by_place > CLEARER * by_option:
        return True
    return False if by_option > CLEARER * by_place else None


def _offered(frame: pd.DataFrame, stimulus: Mapping[str, Any]) -> NDArray[np.float64]:
    """``(n_rows, n_columns)`` the numbers that show the options, and products of those of one option."""
    found: list[NDArray[np.float64]] = []
    for option in (0, 1):
        names = [str(leaf) for leaf in leaves_of_option(stimulus, option)]
        own = [
            ColumnSignature(name, frame[name].str.strip().reset_index(drop=True)).values
            for name in dict.fromkeys(names)
            if name in frame.columns
        ]
        found += [*own, *(one * other for one, other in combinations(own, 2))]
    varied = [item for item in found if np.isfinite(item).any() and np.nanstd(item) > 0]
    return np.stack(varied, axis=1) if varied else np.zeros((len(frame), 0))


def _clearness(values: NDArray[np.float64], offered: NDArray[np.float64]) -> float:
    """Compute by how many standard errors choices follow what was offered: a multiple correlation, less chance."""
    known = np.isfinite(values) & np.isfinite(offered).all(axis=1)
    n_rows, n_columns = int(known.sum()), offered.shape[1]
    if not n_columns or n_rows <= n_columns + 1 or np.ptp(values[known]) == 0:
        return 0.0
    scaled = (offered[known] - offered[known].mean(axis=0)) / (offered[known].std(axis=0) + 1e-12)
    wanted = values[known] - values[known].mean()
    rest = wanted - scaled @ np.linalg.lstsq(scaled, wanted, rcond=None)[0]
    unexplained = (
        float((rest**2).sum() / (wanted**2).sum()) * (n_rows - 1) / (n_rows - n_columns - 1)
    )
    return float(np.sqrt(max(1 - unexplained, 0.0) * n_rows))


def guessed_side(
    frame: pd.DataFrame, columns: AnswerColumns, labels: Sequence[str]
) -> tuple[str, str]:
    """The column by which responses are read as places, and why; empty where it is none, or a question."""
    found = _open_sides(frame, columns, labels)
    if len(found) != 1 or not follows_places(frame, columns, found[0]):
        return "", ""
    name, response = found[0].name, columns.response
    distinct = sorted(place_code(_common_cells(frame[response])))
    return name, (
        f"{response}: {' and '.join(distinct)} are taken for places, and {name} for where the options stood, as "
        f"choices then follow what options offer, and do not otherwise (--column {SIDE}={name}); if they are options, "
        f"say {_options_said(distinct)}"
    )


def _options_said(cells: Sequence[str]) -> str:
    return " ".join(column_option(f"responses.{cell}={place}") for place, cell in enumerate(cells))


def _common_cells(cells: pd.Series) -> set[str]:
    """The cells of a response without those, such as 0 beside two numbers of keys, that may mark a missed one."""
    counts = cells.str.strip().value_counts()
    counts = counts[counts.index != ""]
    rare = (counts <= MOST_MISSED * counts.sum()).to_numpy()
    return set(counts.index[~rare]) if (~rare).sum() == 2 else set(counts.index)


def _open_sides(
    frame: pd.DataFrame, columns: AnswerColumns, labels: Sequence[str]
) -> list[SideColumn]:
    """Columns of sides that nothing reads, where responses may say places."""
    response = columns.response
    if SIDE in columns.stimulus or response not in frame.columns:
        return []
    if "==" in response or option_named(response, RowCells(frame, ""), columns, labels) is not None:
        return []
    if not place_code(_common_cells(frame[response])):
        return []
    return side_columns(frame, columns, labels)


def refuse_unread_sides(
    cells: RowCells, columns: AnswerColumns, labels: Sequence[str], notes: list[str]
) -> None:
    """Refuse responses that may say places while a column says where options stood and nothing reads it.

    Where the user says which cell is which option, these are questioned only if choices follow what options offer
    as places do.

    Raises:
        TrialsError: Values do not show that responses name options; the message has an option for each reading.
    """
    frame, name, response = cells.frame, cells.name, columns.response
    for side in _open_sides(frame, columns, labels):
        follows = follows_places(frame, columns, side)
        if follows is False or (columns.responses and follows is None):
            continue
        distinct = sorted(place_code(_common_cells(frame[response])))
        stood = " or ".join(sorted(side.on_left))
        found = f"{name}: {side.name} ({stood}) says where an option stood, and {response} ({', '.join(distinct)})"
        if columns.responses:
            question(
                columns,
                notes,
                "reversed_code",
                f"{found} says a place, since choices then follow what options offer, and do not otherwise. Say "
                f"--column {SIDE}={side.name}",
            )
            continue
        others = sorted(set(frame[response].str.strip()) - {"", *distinct})
        missed = " ".join(f"--column missing.{response}={cell}" for cell in others)
        raise TrialsError(
            f"{found} may say a place. If {distinct[0]} is left and {distinct[1]} is right, say --column "
            f"{SIDE}={side.name}. If they are options wherever these stood, say {_options_said(distinct)}."
            + (
                f" If {' and '.join(others)} stands for a missed response, add {missed}."
                if others
                else ""
            )
        )


def refuse_roles(cells: RowCells, columns: AnswerColumns) -> None:
    """Refuse responses of several roles, each of which chooses among options of its own, as rows and columns of games.

    Raises:
        TrialsError: A column that nothing reads divides the cells of responses; the message has the rows of each role.
    """
    if columns.response not in cells.frame.columns or "==" in columns.response:
        return
    frame = pd.DataFrame({"said": cells.text(columns.response)})
    for name in columns_not_read(cells.frame, columns):
        own = frame["said"].groupby(cells.text(name)).unique()
        sets = [set(distinct) - {""} for distinct in own]
        if not 2 <= len(sets) <= 4 or set(map(len, sets)) != {2} or set.intersection(*sets):
            continue
        if len(set.union(*sets)) < 2 * len(sets):
            continue
        first, second = own.index[:2]
        turned = {
            part: [list(row) for row in zip(*columns.stimulus[other], strict=True)]
            for part, other in (("own", "other"), ("other", "own"))
            if isinstance(columns.stimulus.get(other), list)
        }
        as_options = " ".join(
            f"--column '{part}={json.dumps(value, ensure_ascii=False)}'"
            for part, value in turned.items()
        )
        raise TrialsError(
            f"{cells.name}: {columns.response} says {' or '.join(sorted(sets[0]))} where {name} is {first}, and "
            f"{' or '.join(sorted(sets[1]))} where it is {second}: roles with options of their own. Read each role by "
            f"itself: --column where.{name}={first}, or --column where.{name}={second}."
            + (
                f" For the role whose payoffs are now those of the other player, say {as_options}"
                if turned
                else ""
            )
        )


def check_crossed(
    cells: RowCells, columns: AnswerColumns, participant: NDArray[Any], notes: list[str]
) -> None:
    """Question a column of two cells, which nothing reads, that may say where an option stood.

    Responses follow what options offer, or rewards, only if compared with it; or else, where rewards are learned, its
    name and cells say places, as the response does. Beside rewards it comes and goes within participants.
    """
    response, reward = columns.response, columns.feedback.get("reward", "")
    is_read = {SIDE, SHOWN, "second_choice", "stage"} & set(columns.stimulus) or "==" in response
    if is_read or set(columns.responses.values()) != {0, 1} or response not in cells.frame.columns:
        return
    rows = np.argsort(participant, kind="stable")
    frame, person = cells.frame.iloc[rows], participant[rows]
    for name in columns_not_read(frame, columns):
        distinct = sorted(set(frame[name].str.strip()) - {""})
        if len(distinct) != 2 or set(words_of(name)) & (JUDGED | JUDGING):
            continue
        is_steady = not is_mixed(cells.text(name), participant)
        if is_steady and reward:
            continue
        side = SideColumn(name, {distinct[0]: 0, distinct[1]: 1})
        same = set(distinct) == set(frame[response].str.strip()) - {""}
        if not reward:
            is_side = follows_places(frame, columns, side)
        elif same and _says_where(name, distinct):
            is_side = (
                places_of(frame[name], frame[response]).max() > 2
            )  # no other code of responses
        else:
            is_side = follows_rewards(frame, columns, side, person)
        if not is_side:
            continue
        lost = [cell for cell in distinct if set(words_of(cell)) & LOSSES]
        if lost and len(lost) < len(distinct) and not reward:
            (gained,) = {*distinct} - {*lost}
            question(
                columns,
                notes,
                "unread_column",
                f"{cells.name}: {name} ({', '.join(distinct)}), which is not read, seems to say whether amounts are "
                f"gains or losses: responses go the opposite way where it is {lost[0]}. Read one kind of rows: "
                f"--column where.{name}={gained}, or write losses as negative amounts in the file",
            )
            continue
        if is_steady:
            _question_steady(cells, columns, side, notes)
            continue
        recode = f" (after recode.{name}=... with the cells of {response})" if not same else ""
        question(
            columns,
            notes,
            "unread_column",
            f"{cells.name}: {name} ({', '.join(distinct)}), which is not read, seems to say where an option stood, and "
            f"{response} where the chosen one stood. Say --column 'response={response} == {name}'{recode}",
        )


def _question_steady(
    cells: RowCells, columns: AnswerColumns, side: SideColumn, notes: list[str]
) -> None:
    """Question a column that is the same in all rows of a participant and changes what responses mean."""
    name, response = side.name, columns.response
    level, key = (
        {place: cell for cell, place in own.items()} for own in (side.on_left, columns.responses)
    )
    quoted = partial(json.dumps, ensure_ascii=False)
    recode = ", ".join(f"{quoted(level[place])} = {quoted(key[place])}" for place in (0, 1))
    question(
        columns,
        notes,
        "unread_column",
        f"{cells.name}: responses go the opposite way for participants with {level[1]} in {name}, which is not read, "
        "as where keys or places were exchanged between participants. Compare the two: --column "
        f"'recode.{name}={{{recode}}}' --column 'response={response} == {name}', without options for its cells",
    )


def check_properties(
    cells: RowCells,
    columns: AnswerColumns,
    labels: Sequence[str],
    parts: Collection[str],
    notes: list[str],
) -> None:
    """Question a column of numbers that its name makes a property of options, and that nothing reads.

    It comes and goes within participants and does not follow from columns that are read. Its name speaks of
    probabilities, or has the words of a known part of trials and of one option.
    """
    frame, of_options = cells.frame, set.union(*_words_of_options(columns.stimulus, labels))
    known = {word.removesuffix("s") for part in parts for word in words_of(part)} - {"a", "b"}
    read = [name for name in leaves_of(columns.stimulus) if name in frame.columns]
    participant = places_of(frame[columns.participant])
    for name in columns_not_read(frame, columns):
        words, values = set(words_of(name)), numbers_of(frame[name])
        is_part = bool(words & of_options and {word.removesuffix("s") for word in words} & known)
        is_number = values.nunique() > 1 and not (values.isna() & (frame[name] != "")).any()
        if words & (JUDGED | OF_RESPONSES) or not (is_part or words & CHANCES) or not is_number:
            continue
        others = [frame[own] for own in read if frame[own].nunique() < len(frame) / 2]
        follows = any(places_of(own, frame[name]).max() == places_of(own).max() for own in others)
        follows = follows or _is_combination(values, [numbers_of(frame[own]) for own in read])
        if not follows and is_mixed(cells.text(name), participant):
            own_values = list(map(str, frame[name].value_counts().index))
            question(
                columns,
                notes,
                "unread_column",
                f"{cells.name}: {name} ({', '.join(own_values[:4])}) is not read, and its name is that of a property "
                "of options. If it is a part of the trials, say --column PART=COLUMN; if this kind of task has no such "
                f"part, read rows of one kind: --column where.{name}={own_values[0]}",
            )


def _is_combination(values: pd.Series, read: Sequence[pd.Series]) -> bool:
    """Whether numbers are a weighted sum of other columns', as a difference of amounts is, in many different rows."""
    rows = np.column_stack([*read, np.ones(len(values)), values])
    rows = np.unique(rows[np.isfinite(rows).all(axis=1)], axis=0)
    if len(rows) < FEWEST_SUMS * rows.shape[1]:
        return False
    own, others = rows[:, -1], rows[:, :-1]
    weights = np.linalg.lstsq(others, own, rcond=None)[0]
    return bool(np.allclose(others @ weights, own, atol=1e-6 * max(float(np.ptp(own)), 1e-9)))


FEWEST_SUMS = 4
"""Different rows for each weight from which on a sum is no accident."""
CHANCES = {"p", "prob", "probs", "probability", "chance", "chances", "risk", "odds"}
"""Words in names of columns of probabilities."""


def _says_where(name: str, distinct: Sequence[str]) -> bool:
    """Whether a column whose cells are those of the response says where a stimulus stood, not what was right."""
    words = set(words_of(name))
    is_place = {word for cell in distinct for word in words_of(cell)} <= AT_PLACES
    is_free = not words & {"best", "better", "optimal", "prediction", "previous", "last"}
    is_number = all(cell.isdigit() for cell in distinct)
    return is_free and not is_number and (bool(words & PLACE_WORDS) or is_place)


def follows_rewards(
    frame: pd.DataFrame, columns: AnswerColumns, side: SideColumn, person: NDArray[np.int64]
) -> bool:
    """Whether responses are repeated after rewards as places are compared with a column, and not as they stand."""
    won = numbers_of(frame[columns.feedback["reward"]]).to_numpy()
    place = frame[columns.response].str.strip().map(columns.responses)
    crossed = place != frame[side.name].str.strip().map(side.on_left)
    plain, compared = (
        abs(stays_after_reward(ColumnSignature("", own.astype(str)), won, person))
        for own in (place, crossed)
    )
    return compared > CLEAR and compared > CLEARER * plain


def with_chosen_options(
    table: AnswerTable, columns: AnswerColumns, labels: Sequence[str], notes: list[str]
) -> tuple[AnswerTable, AnswerColumns]:
    """The table with the option that was chosen as the response, where a column says at which place each stood.

    Raises:
        TrialsError: The column is missing or does not say it, or cells of the response name no place.
    """
    name = str(columns.stimulus.get(SIDE, ""))
    if not name or columns.response not in table.columns:
        return table, columns
    found = side_columns(table.frame[[name]], columns, labels) if name in table.columns else []
    texts = table.frame[columns.response].str.strip()
    code = columns.responses or place_code(_common_cells(texts))
    if not found:
        raise TrialsError(
            f"{table.name}: {SIDE} is {name!r}, and it is not clear which option stood on the left there. Name one "
            "such as left_option (sooner or later) or later_side (left or right) that says it, or write one."
        )
    own = _words_of_options(columns.stimulus, labels)
    if {_option_of(set(words_of(cell)), own) for cell in code} == {0, 1}:
        raise TrialsError(
            f"{table.name}: {columns.response} says {' and '.join(sorted(code))}, which are options wherever they "
            f"stood, and no places; leave {SIDE} out (--column {SIDE}={name})."
        )
    if not code:
        raise TrialsError(
            f"{table.name}: {columns.response} says {', '.join(sorted(set(texts) - {''})[:6])}; say which place each "
            "is from the left from 0: --column responses.CELL=PLACE (participants.columns.responses)."
        )
    on_left = found[0].on_left
    left = table.frame[name].str.strip().map(on_left)
    place = texts.map(code)
    chosen = left.where(place == 0, 1 - left).where(place.notna())
    cells = chosen.map({0: labels[0], 1: labels[1]})
    frame = table.frame.assign(
        **{columns.response: cells.where(cells.notna(), texts).astype("str")}
    )
    left_cells = ", ".join(f"{cell}: {labels[k]}" for cell, k in sorted(on_left.items()))
    by_place = {place: cell for cell, place in sorted(code.items())}
    notes.append(
        f"{columns.response}: {by_place.get(0, '')} is left and {by_place.get(1, '')} is right, and {name} says which "
        f"option stood on the left ({left_cells}): read is the option that was chosen"
    )
    options = {str(label): place for place, label in enumerate(labels)}
    return replace(table, frame=frame), columns.model_copy(update={"responses": options})
