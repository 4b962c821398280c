"""Adoption of a file: a table of responses and the meaning of its columns become experiments that score theories."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.chosen_rows import (
    alike_names,
    chosen_rows,
    melted,
    with_items,
    with_joined_participant,
    without_copies,
)
from lakatos.experiments.adoption.inputs import missing_inputs
from lakatos.experiments.adoption.layouts import (
    DAYS,
    HUNDREDTHS,
    StimulusLayout,
    as_table,
    counts_options,
    known_layout,
    layout_of,
)
from lakatos.experiments.adoption.left_out import LeftOutTable, RowsLeftOut, gone_people
from lakatos.experiments.adoption.mapping import (
    ONE_PARTICIPANT,
    OPEN_QUESTION,
    AnswerColumns,
    leaves_of,
)
from lakatos.experiments.adoption.names import ALL, words_of
from lakatos.experiments.adoption.number_answers import RANGES, in_own_range, number_outcomes
from lakatos.experiments.adoption.option_code import (
    check_share,
    chosen_options,
    code_of_cells,
    whole_word,
    zero_question,
)
from lakatos.experiments.adoption.option_kind import (
    kind_of_responses,
    place_of_more,
    refuse_places,
)
from lakatos.experiments.adoption.plausible import (
    FEWEST,
    check_accepted,
    check_amounts,
    check_begins_anew,
    check_cells,
    check_cumulated,
    check_forced,
    check_places,
    check_practice,
    check_responses,
    check_shared_names,
    check_steps,
    check_unit_of_delays,
    check_units,
    question,
    turned_ratings,
)
from lakatos.experiments.adoption.prepared import (
    alternative_rows,
    prepared,
    with_questions_marked,
)
from lakatos.experiments.adoption.read_back import (
    columns_not_read,
    conditions_not_read,
    read_back,
)
from lakatos.experiments.adoption.row_cells import (
    RowCells,
    RowsWrongError,
    WrongRows,
    read_part,
    shown_rows,
    texts_in,
    whole_numbers,
)
from lakatos.experiments.adoption.row_order import (
    order_of_rows,
    question_countdown,
    with_time_stamp,
)
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.shown_stimuli import stimuli_in_sets, with_chosen_stimuli
from lakatos.experiments.adoption.side_columns import (
    SIDE,
    check_crossed,
    check_properties,
    has_places,
    refuse_roles,
    refuse_unread_sides,
    with_chosen_options,
)
from lakatos.experiments.adoption.signatures import begins_anew, table_signature
from lakatos.experiments.adoption.step_cells import (
    RewardScale,
    number_of_options,
    scale_of_rewards,
    with_withheld,
)
from lakatos.experiments.adoption.tables import (
    AnswerTable,
    distinct_rows,
    numbers_of,
    read_answers,
)
from lakatos.experiments.adoption.time_window import (
    check_window,
    window_in_words,
    window_of,
)
from lakatos.experiments.adoption.timed_answers import with_answer_code
from lakatos.experiments.adoption.wide_rows import (
    NUMBER,
    numbered_rows,
    one_answer_items,
    stem_of,
)
from lakatos.experiments.answer_scale import in_window, scale_of
from lakatos.experiments.errors import ExperimentError, StimuliError, TrialsError
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.traces.wording import in_a_list, plural

Array = NDArray[Any]
SETTINGS = {"delay_unit", "amount_unit", "options", "x_range", "y_range", "go", SIDE}
"""Parts of `AnswerColumns.stimulus` that are no columns."""
MOST_ANSWERS = 2_000_000
"""Single answers that a campaign takes; a search on a million of ten thousand people was tried."""
LEAST_NOT_OFFERED = 0.02
"""Share of rows in which an option has no values, from which on it is a question whether it was on offer."""
MOST_BAD_TRIALS = 200
"""Different trials that no domain has, beyond which it is the mapping that is wrong."""
MOST_CELLS_NAMED = 40
"""Cells of a row that shows no possible trial, in the message about it."""
MOST_NAMED = 6
"""Columns of a list that is asked for."""
MOST_CHECKED = 2_000_000
"""Trials that are built anew, all together, to find those that no domain has."""


@dataclass(frozen=True)
class AdoptedAnswers:
    """Experiments from a file, and what had to be left out or assumed."""

    trials: tuple[Trials, ...]
    notes: tuple[str, ...]
    confounds: tuple[str, ...] = ()
    """Notes that state which properties of trials go together."""
    people: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    """Attributes of the participants of each experiment, by column, in their order, as the cells have them."""
    about_rows: tuple[str, ...] = ()
    """Notes about rows and responses, not about files; they name nobody."""
    left_out: LeftOutTable = field(default_factory=LeftOutTable)
    """Rows that are not read, by kind."""
    closed: Mapping[str, str] = field(default_factory=dict)
    """Inputs that the file does not show, so that theories that need them cannot be tested, by name; and why."""
    first_option: str = ""
    """Description of the first option in every trial, where that is one thing."""
    time_window: tuple[float, float] | None = None
    """Seconds between which responses count, where the mapping says or asks for them."""
    read_back: tuple[str, ...] = ()
    """Some responses in words, and which columns are not read; they name participants."""
    beside: tuple[Mapping[str, Array], ...] = ()
    """Cells of attributes, and of the participant, beside each response of each experiment, as text."""

    @property
    def excluded(self) -> dict[str, str]:
        """Participants none of whose responses are read, with the reasons, by name."""
        read = {str(name) for own in self.beside for name in next(iter(own.values()), ())}
        reasons: dict[str, list[str]] = {}
        for kind in self.left_out.kinds:
            for name in kind.participants:
                if name.strip() and name not in read:
                    reasons.setdefault(name, []).append(kind.reason)
        return {name: "; ".join(own) for name, own in reasons.items()}

    @property
    def told(self) -> tuple[str, ...]:
        """Account of how the file was read, for the user: assumptions, exclusions, and some responses read back."""
        return (*self.notes, *self.left_out.lines(), *self.read_back)

    @property
    def in_brief(self) -> tuple[str, ...]:
        """Account that each analysis of the file repeats: all but what goes together, with one response read back."""
        notes = (note for note in self.notes if note not in self.confounds)
        return (*notes, *self.left_out.lines(), *self.read_back[:1])


def check_fits(n_answers: int, name: str, columns: AnswerColumns) -> None:
    """Refuse more single answers than a campaign can work with, before it is begun.

    Raises:
        TrialsError: There are more than `MOST_ANSWERS`.
    """
    if n_answers <= MOST_ANSWERS or columns.is_pooled:
        return
    raise TrialsError(
        f"{name} holds {n_answers:,} single answers; a campaign takes {MOST_ANSWERS:,} at most, since its fits keep "
        "what each person's answers say of hundreds of drawn people. Nothing was begun. Bring in some of the people (a "
        'column that names them, and where = { part = "1" } in participants.columns), or rows that stand for many '
        "answers (count or counts in place of participant), which may be as many as you have. Single theories "
        "(`lakatos theory score` and `fit`) take all of them."
    )


def adopt_file(path: Path, columns: AnswerColumns, domain: Domain) -> AdoptedAnswers:
    """Read a file of answers as experiments of a domain; the same file is read once.

    Raises:
        TrialsError: The file is not what ``columns`` says; the message names the row and what to do.
    """
    files = (path, path.parent / columns.items) if columns.items else (path,)
    state = tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.exists())
    return _adopt_file(files, state, columns.model_dump_json(), cast(Any, domain))


@lru_cache(maxsize=1)
def _adopt_file(
    files: tuple[Path, ...], state: tuple[tuple[int, int], ...], columns: str, domain: Domain
) -> AdoptedAnswers:
    """`adopt_file`, for files that were changed and are as large as ``state`` says."""
    tables = [read_answers(file) for file in files]
    return adopt(tables[0], AnswerColumns.model_validate_json(columns), domain, *tables[1:])


def adopt(
    table: AnswerTable, columns: AnswerColumns, domain: Domain, items: AnswerTable | None = None
) -> AdoptedAnswers:
    """The experiments that a table holds.

    Args:
        table: One row for each answer, or for each group of counted answers, or for each person (`wide`).
        columns: What its columns mean.
        domain: Domain of the trials.
        items: What was shown, by question, where the table names questions only.

    Raises:
        TrialsError: A column is missing, or a row cannot be read; the message names it and what to do.
    """
    try:
        return _adopted(table, columns, domain, items)
    except TrialsError as error:
        if table.name not in str(error):  # whatever is wrong, the message names the file
            error.args = (f"{table.name}: {error}",)
        raise


def _adopted(
    table: AnswerTable, columns: AnswerColumns, domain: Domain, items: AnswerTable | None
) -> AdoptedAnswers:
    """`adopt`, whose messages need not name the file."""
    check_accepted(columns)
    notes: list[str] = []
    table = with_joined_participant(table, columns.participant)
    table, columns = _with_one_participant(table, columns, notes)
    _check_zero(table, columns)
    _check_answered(columns, domain, table)
    left_out = RowsLeftOut()
    rows = replace(table, frame=chosen_rows(table, columns, left_out), notes=())
    if not columns.wide and items is None:
        rows = prepared(rows, columns)
    rows, columns = with_questions_marked(rows, columns)
    frame = without_copies(rows.frame, columns, table.name, notes, left_out)
    notes += alike_names(frame, columns)
    if NUMBER in columns.wide:
        if alike := one_answer_items(frame, columns.wide, table.questions):
            question(columns, notes, "constant_response", f"{table.name}: {alike}")
        frame = numbered_rows(frame, columns.wide, table.questions, table.name)
    elif columns.wide:
        frame = melted(frame, columns, table.name)
    if items is not None:
        frame = with_items(frame, items, columns, table.name)
    if columns.wide or items is not None:
        rows = prepared(replace(rows, frame=frame), columns)
        frame = rows.frame
    is_there = columns.feedback.get("reward", "") in table.columns
    check_forced(table.frame if is_there else rows.frame, table.name, columns, notes)
    rows, columns = with_chosen_stimuli(replace(rows, frame=frame), columns, notes)
    rows, columns = with_withheld(rows, columns, notes)
    if has_places(domain):
        rows, columns = with_chosen_options(rows, columns, domain.options, notes)
    frame = rows.frame
    notes += rows.notes
    _check_named(rows, columns, notes)
    _check_grouped(rows, columns, notes)
    _check_rows_are_choices(frame, columns, table.name, notes)
    check_shared_names(frame, table.name, columns, notes)
    columns = with_time_stamp(frame, columns, notes)
    question_countdown(frame, columns, table.name, notes)
    frame = shown_rows(frame, columns, known_layout(domain), left_out)
    # Rows are known by their places from here on, since several questions may stand in one row of the file.
    numbers = frame.index.to_numpy()
    frame = frame.set_axis(pd.RangeIndex(len(frame)))
    window = window_of(frame, columns)
    domain = in_window(domain, window)
    notes += window_in_words(frame, columns, window)
    wrong, whole = WrongRows(columns, numbers, left_out), frame
    while True:
        try:
            found_notes, unused = list[str](), RowsLeftOut()
            cells = RowCells(frame, table.name, numbers)
            check_window(cells, columns, domain, window)
            found, people, used, is_ordered = _experiments(
                cells, columns, domain, found_notes, unused
            )
            break
        except RowsWrongError as error:
            frame = wrong.without(frame, error)
        except TrialsError:
            wrong.check()  # what is wrong may follow from the rows that are refused
            raise
    wrong.check()
    left_out.add_all(unused)
    notes += [*gone_people(whole, frame, columns), *found_notes]
    are_read = whole[whole.index.isin(np.concatenate(used))]
    not_read = left_out.table(are_read, columns)
    if unequal := left_out.unequal(are_read, columns):
        question(
            columns,
            notes,
            "unequal_losses",
            f"{table.name}: {unequal} ({'; '.join(kind.sentence for kind in not_read.kinds)}). Effects of these "
            "conditions would be those of what is missing",
        )
    unread = columns_not_read(are_read, columns)
    of_file = are_read.set_axis(numbers[are_read.index.to_numpy()])
    check_units(of_file, table.name, columns, unread, notes)
    check_unit_of_delays(table.frame, table.name, columns, notes)
    check_practice(of_file, table.name, columns, unread, notes)
    _check_unread_parts(of_file, table.name, columns, domain, notes)
    check_begins_anew(of_file, table.name, columns, unread, notes, is_game=domain.sequential)
    missing = missing_inputs(found, columns, domain, is_ordered=is_ordered)
    notes += missing.notes
    notes += conditions_not_read(whole, columns)
    cells = RowCells(whole, table.name, numbers)
    back = read_back(found, used, cells, columns, domain)
    return AdoptedAnswers(
        trials=found,
        notes=(*table.notes, *notes),
        confounds=missing.confounds,
        people=people,
        about_rows=(*not_read.sentences(), *notes),
        left_out=not_read,
        closed=missing.reasons,
        first_option=missing.first_option,
        time_window=window,
        read_back=tuple(back),
        beside=tuple(_beside(cells.of(whole.loc[rows]), columns) for rows in used),
    )


def _beside(cells: RowCells, columns: AnswerColumns) -> dict[str, Array]:
    """Return attributes beside each response of an experiment, whether or not they vary within participants."""
    if columns.is_pooled or columns.participant not in cells.frame.columns:
        return {}
    named = [columns.participant, *columns.attributes, columns.condition]
    names = dict.fromkeys(filter(None, named))
    return {name: cells.text(name) for name in names}


NOBODY_NAMED = (
    "If no column names participants since all rows are of one, say --accept one_participant (accept = "
    '["one_participant"] in participants.columns).'
)


def _nobody_named(frame: pd.DataFrame) -> str:
    """State what to do where no column names participants, who may have been pasted below one another."""
    name, n_times = _beginning_anew(frame)
    if not name:
        return NOBODY_NAMED
    return (
        f"As {name} begins anew {plural(n_times, 'time')}, rows of {n_times + 1} participants may stand below one "
        "another: add a column that names the participant in each row, or give the folder of their files in place of "
        f"this one. {NOBODY_NAMED}"
    )


def _beginning_anew(frame: pd.DataFrame) -> tuple[str, int]:
    """The column of numbers that begins anew least often, and how often it does; empty without any."""
    counts = {
        own.name: int((np.diff(own.values) <= 0).sum())
        for own in table_signature(frame, {}).columns.values()
        if begins_anew(own)
    }
    name = min(counts, key=lambda own: counts[own], default="")
    return name, counts.get(name, 0)


def _with_one_participant(
    table: AnswerTable, columns: AnswerColumns, notes: list[str]
) -> tuple[AnswerTable, AnswerColumns]:
    """The table with a column that names its only participant, where the mapping says that there is one."""
    if columns.is_pooled or columns.participant not in ("", OPEN_QUESTION):
        return table, columns
    if ONE_PARTICIPANT not in columns.accept:
        return table, columns
    name = next(
        n
        for n in ("participant", "the participant", "the only participant")
        if n not in table.columns
    )
    column, n_times = _beginning_anew(table.frame)
    anew = f", although {column} begins anew {plural(n_times, 'time')}" if column else ""
    notes.append(
        f"accepted ({ONE_PARTICIPANT}): all {len(table.frame):,} rows are of one participant{anew}"
    )
    made = replace(table, frame=table.frame.assign(**{name: "1"}))
    return made, columns.model_copy(update={"participant": name})


def _check_zero(table: AnswerTable, columns: AnswerColumns) -> None:
    """Refuse a table of which nobody has said whether 0 is an option or a missed response."""
    if columns.stimulus.get("options") != OPEN_QUESTION or columns.response not in table.columns:
        return
    if named := zero_question(columns.response, table.frame[columns.response].str.strip().tolist()):
        raise TrialsError(f"{table.name}: {named}")


def _check_named(table: AnswerTable, columns: AnswerColumns, notes: list[str]) -> None:
    """Question rows whose participant is a word such as NA, which may be an identifier or no participant at all."""
    marks = table.marked.get(columns.participant, ())
    if not marks:
        return
    rows = table.frame.index.to_numpy()[(table.frame[columns.participant] == "").to_numpy()]
    question(
        columns,
        notes,
        "unknown_participants",
        f"{table.name}: {columns.participant} is {' or '.join(mark.strip() for mark in marks)} in "
        f"{rows_named(rows)}, which stands for a missing value, so that nobody would know whose rows these are. "
        "If it is an identifier, write another one into the file; accepting this leaves the rows out",
    )


def _check_grouped(table: AnswerTable, columns: AnswerColumns, notes: list[str]) -> None:
    """Question numbers such as 1.000 and 2.500, which may be thousands or have three decimals."""
    for part, leaf in (
        *((part, leaf) for part, value in columns.stimulus.items() for leaf in leaves_of(value)),
        *((f"feedback.{name}", leaf) for name, leaf in columns.feedback.items()),
    ):
        if leaf in table.grouped:
            question(
                columns,
                notes,
                "three_decimals",
                f"{table.name}: {leaf} ({part}) is {' and '.join(table.grouped[leaf])} and the like in all rows, which "
                f"may be thousands, or numbers with three decimals. If they are thousands, say 1000 * {leaf} in place "
                f"of {leaf}, in --column {part} (participants.columns)",
            )


def _check_rows_are_choices(
    frame: pd.DataFrame, columns: AnswerColumns, name: str, notes: list[str]
) -> None:
    """Question rows that seem to be single alternatives, of which one in each choice was chosen."""
    if columns.is_pooled or columns.alternative or columns.wide:
        return
    rows = alternative_rows(frame, columns.participant, columns.response)
    if rows is None:
        return
    column = rows.alternative or "COLUMN"
    question(
        columns,
        notes,
        "one_row_per_choice",
        f"{name}: {rows.response} is 1 in exactly one row for each {rows.choice_set}, so that a row seems to be one "
        f"alternative of a choice. Say --column alternative={column} --column choice_set={rows.choice_set} (in "
        "participants.columns)",
    )


def _experiments(
    cells: RowCells,
    columns: AnswerColumns,
    domain: Domain,
    notes: list[str],
    unused: RowsLeftOut,
) -> tuple[tuple[Trials, ...], tuple[Mapping[str, tuple[str, ...]], ...], list[Array], bool]:
    """Experiments, what is known of their people, the places of rows of the answers, and whether their order is known.

    All rows must be right.

    Rows that are right and yet no answers go to ``unused``.

    Raises:
        RowsWrongError: Some rows are not.
    """
    scale = scale_of(domain)
    if (
        scale is None or scale.kind != "timed"
    ):  # else a row without an answer tells what came before the next one
        _check_response(cells, columns)
    participant = None if columns.is_pooled else _people(cells, columns)
    check_cells(cells, columns, participant, notes)
    check_amounts(cells, columns, known_layout(domain), notes)
    _check_offered(cells, columns, domain, notes)
    if participant is not None and scale is None and not domain.sequential:
        check_properties(cells, columns, domain.options, known_layout(domain).parts, notes)
    if participant is not None and domain.sequential:
        check_cumulated(cells, columns, participant, notes)
        check_places(cells, columns, participant, notes)
        if not columns.experiment and "cue" in known_layout(domain).parts:
            check_steps(cells, columns, participant, notes)
    columns, kind = _with_code(cells, columns, domain, notes)
    if participant is not None and not kind and (has_places(domain) or domain.sequential):
        check_crossed(cells, columns, participant, notes)
    _check_zeros(cells, columns, domain, notes)
    reward_scale = scale_of_rewards(cells, columns, domain, notes)
    frame, name_of = cells.frame, columns.experiment
    groups = cells.text(name_of) if name_of else np.full(len(frame), ALL)
    found, people, used, is_ordered = [], [], [], True
    for name in dict.fromkeys(groups.tolist()):
        own = cells.of(frame[groups == name])
        known = {} if columns.is_pooled else _known_of_people(own, columns, notes)
        own, is_known = _in_order(name or ALL, own, columns, domain, notes)
        trials, rows = _experiment(
            name or ALL, own, columns, domain, notes, reward_scale, unused, kind
        )
        is_ordered &= is_known
        used.append(rows)
        attributes = {attribute: np.array(distinct) for attribute, distinct in known.items()}
        found.append(replace(trials, attributes=attributes) if attributes else trials)
        people.append(known)
    layout = known_layout(domain)
    if scale is None:
        turned = turned_ratings(frame, columns)
        check_responses(
            found, layout.in_favour, layout.dominance, columns, notes, turned, layout.properties
        )
    return tuple(found), tuple(people), used, is_ordered


def _in_order(
    name: str, cells: RowCells, columns: AnswerColumns, domain: Domain, notes: list[str]
) -> tuple[RowCells, bool]:
    """The rows of an experiment by participant and order, and whether the order is known; counts stay as they are."""
    if columns.is_pooled:
        return cells, True
    found_notes, scale = list[str](), scale_of(domain)
    is_needed = domain.sequential or (scale is not None and scale.kind == "timed")
    participant = _people(cells, columns)
    order, is_known = order_of_rows(
        cells, columns, participant, found_notes, is_needed=is_needed, has_games=domain.sequential
    )
    notes += _of_experiment(name, found_notes, columns)
    return cells.of(cells.frame.iloc[order]), is_known


def _of_experiment(name: str, own_notes: list[str], columns: AnswerColumns) -> list[str]:
    """Notes with the name of the experiment, where there may be several."""
    return [f"{name}: {line}" if columns.experiment else line for line in own_notes]


def _check_offered(
    cells: RowCells, columns: AnswerColumns, domain: Domain, notes: list[str]
) -> None:
    """Question rows in which all cells of one option are empty, since it may not have been on offer there."""
    found: dict[str, tuple[list[str], Array]] = {}
    for place, option in enumerate(domain.options):
        own = _columns_of_option(cells, columns, domain, place)
        gone = [name for name in own if len(cells.frame) and (cells.frame[name] == "").all()]
        if gone:
            parts = [
                f"--column '{part}={json.dumps([*value[:place], 0, *value[place + 1 :]], ensure_ascii=False)}'"
                for part, value in columns.stimulus.items()
                if isinstance(value, list) and set(gone) & set(map(str, value))
            ]
            raise TrialsError(
                f"{cells.name}: {' and '.join(gone)}: empty in all rows, so that option {option} has no properties. "
                f"Say a number in their place, such as 0: {' '.join(parts)} (participants.columns.stimulus)."
            )
        if own:
            found[option] = own, (cells.frame[own] == "").all(axis=1).to_numpy()
    _question_offered(cells, columns, domain, found, notes)


def _question_offered(
    cells: RowCells,
    columns: AnswerColumns,
    domain: Domain,
    found: Mapping[str, tuple[list[str], Array]],
    notes: list[str],
    *,
    is_zero: bool = False,
) -> None:
    """Question all options together whose columns are empty, or 0, in some rows."""
    least = max(2.0, LEAST_NOT_OFFERED * len(cells.frame))
    found = {option: own for option, own in found.items() if own[1].sum() >= least}
    if not found:
        return
    names = [name for own, _ in found.values() for name in own]
    rows = np.any([own for _, own in found.values()], axis=0)
    are, options = "are" if len(names) > 1 else "is", in_a_list(list(found))
    why, way = (
        f"so that option {options}",
        "such rows cannot be read, and accepting this leaves them out",
    )
    if is_zero:
        why = f"in none of which option {options} was chosen, so that it"
        missing = " ".join(f"--column missing.{name}=0" for name in names)
        way = f"to leave such rows out, say {missing} --accept not_offered"
    question(
        columns,
        notes,
        "not_offered",
        f"{cells.name}: {in_a_list(names)} {are} {'0' if is_zero else 'empty'} in {int(rows.sum()):,} of {len(rows):,} "
        f"rows ({rows_named(cells.row_numbers(rows))}), {why} seems not to have been on offer there. Trials of the "
        f"domain {domain.name!r} always offer all of {len(domain.options)} options: {way}",
    )


def _columns_of_option(
    cells: RowCells, columns: AnswerColumns, domain: Domain, place: int
) -> list[str]:
    """The columns that show an option, where each of its parts may be missing or not."""
    layout = known_layout(domain)
    lists = [
        value
        for part, value in columns.stimulus.items()
        if isinstance(value, list | tuple) and len(value) == len(domain.options)
        and part not in layout.ragged and part not in SETTINGS
    ]  # fmt: skip
    named = [value[place] for value in lists if isinstance(value[place], str)]
    return [name for name in named if name in cells.frame.columns]


def _check_zeros(cells: RowCells, columns: AnswerColumns, domain: Domain, notes: list[str]) -> None:
    """Question rows in which all properties of one of several options are 0 and it is never chosen."""
    if len(domain.options) < 3 or columns.is_pooled or scale_of(domain) or domain.sequential:
        return
    found: dict[str, tuple[list[str], Array]] = {}
    for place, option in enumerate(domain.options):
        own = _columns_of_option(cells, columns, domain, place)
        if len(own) < 2:
            continue
        is_zero = np.all([numbers_of(cells.frame[name]).to_numpy() == 0 for name in own], axis=0)
        names = [whole_word(cell) for cell, code in columns.responses.items() if code == place]
        if (
            not is_zero.all()
            and not cells.is_in(columns.response, names, whole_word)[is_zero].any()
        ):
            found[option] = own, is_zero
    _question_offered(cells, columns, domain, found, notes, is_zero=True)


def stimuli_of_table(
    table: AnswerTable, columns: AnswerColumns, domain: Domain
) -> tuple[Stimuli, Array]:
    """Distinct trials that a table shows, and the trial of each row; nobody needs to have answered.

    Raises:
        TrialsError: A row shows no trial of the domain, or steps of a schedule, which are not made row by row.
    """
    _check_parts(columns, domain)
    _check_nothing_open({"stimulus": columns.stimulus}, domain)
    if known_layout(domain).build is None or domain.sequential:
        raise TrialsError(
            f"trials of {domain.name!r} follow from the answers before them; give answers, not single rows."
        )
    return _stimuli(RowCells(prepared(table, columns).frame, table.name), columns, domain)


def _check_parts(columns: AnswerColumns, domain: Domain) -> None:
    """Refuse a mapping whose parts are not those of the domain's trials."""
    layout = known_layout(domain)
    known = {*layout.parts, SIDE} if has_places(domain) else set(layout.parts)
    unknown = sorted(set(columns.stimulus) - known)
    missing = [name for name in layout.needed if name not in columns.stimulus]
    if unknown[:1] == ["reward"] and domain.sequential:
        raise TrialsError(
            "what followed a choice is no part of a trial: in place of reward, say --column "
            f"'feedback.reward={columns.stimulus['reward']}' (participants.columns.feedback)."
        )
    if unknown or missing:
        raise TrialsError(
            f"trials of the domain {domain.name!r}: "
            + (
                f"there is no part {unknown[0]!r}"
                if unknown
                else f"the part {missing[0]!r} is missing"
            )
            + "; parts are: "
            + "; ".join(f"{name} ({words})" for name, words in layout.parts.items())
            + ". Say --column PART=COLUMN (participants.columns.stimulus)."
        )


def _check_unread_parts(
    frame: pd.DataFrame, name: str, columns: AnswerColumns, domain: Domain, notes: list[str]
) -> None:
    """Question a column called like a part of trials that nothing says (``Amb``: ``ambiguous``), or a player's role."""
    parts = known_layout(domain).parts
    still = {
        part: words for part, words in parts.items() if part not in {*columns.stimulus, *SETTINGS}
    }
    unread = columns_not_read(frame, columns) if known_layout(domain).build else []
    lots = [column for column in unread if {"lot", "num"} <= set(words_of(column))]
    lots = [column for column in lots if (numbers_of(frame[column].str.strip()) > 1).any()]
    if lots and "b_amounts" in parts:
        where = " ".join(f"--column where.{column}=1" for column in lots)
        question(
            columns,
            notes,
            "unread_column",
            f"{name}: {' and '.join(lots)} {'says' if len(lots) == 1 else 'say'} that some gambles have more outcomes "
            f"than their columns. Read the others, {where}, or name columns of all outcomes: --column "
            "b_amounts='[\"COLUMN\", ...]' and b_probabilities likewise",
        )
    for column in unread:
        distinct = sorted(set(frame[column].str.strip()) - {""})
        words = [word for word in words_of(column) if len(word) > 2]
        is_role = {"own", "other"} <= set(parts) and {"role", "player", "position"} & set(
            words[-1:]
        )
        by_person = frame[column].groupby(frame.get(columns.participant, frame[column])).nunique()
        if is_role and len(distinct) == 2 and (by_person == 1).all():
            what = f"{column} ({', '.join(distinct)}) is not read: in one role, own payoffs may be the other player's"
            way = f"Read each role by itself: --column where.{column}={distinct[0]}"
            question(columns, notes, "unread_column", f"{name}: {what}. {way}")
        part = next((own for own in still if any(own.startswith(word) for word in words)), "")
        if part and 2 <= len(distinct) <= MOST_CELLS_NAMED:
            question(
                columns,
                notes,
                "unread_column",
                f"{name}: {column} ({', '.join(distinct[:4])}) is not read, and may say {part} ({still[part]}). Say "
                f"{_as_option(part, OPEN_QUESTION, known_layout(domain), 2)}, or read "
                f"rows of one kind: --column where.{column}={distinct[0]}",
            )


def _check_nothing_open(
    meanings: Mapping[str, Any], domain: Domain, names: Sequence[str] = (), nobody: str = ""
) -> None:
    """Refuse meanings of columns of which some are still a question, with one command that answers all of them."""
    given = {key: value for key, value in meanings.items() if not isinstance(value, Mapping)}
    for group in ("stimulus", "feedback"):
        given |= {f"{group}.{name}": value for name, value in meanings.get(group, {}).items()}
    still_open = [key for key, value in given.items() if OPEN_QUESTION in leaves_of(value)]
    if not still_open:
        return
    layout = known_layout(domain)
    parts = {key: layout.parts.get(key.removeprefix("stimulus."), "") for key in still_open}
    n_options = len(domain.options) if scale_of(domain) is None else 2
    options = " ".join(_as_option(key, given[key], layout, n_options) for key in still_open)
    words = "; ".join(
        f"{key.removeprefix('stimulus.')}: {own}" for key, own in parts.items() if own
    )
    used = {str(leaf) for leaf in leaves_of(dict(meanings))}
    free = [name for name in names if name not in used][:MOST_CELLS_NAMED]
    raise TrialsError(
        f"nothing says yet which column, number or cell is {' and '.join(still_open)}. Write it into the study's "
        f"section participants.columns in place of {OPEN_QUESTION!r}, or say {options}"
        f"{f' ({words})' if words else ''}."
        + (f" Columns that mean nothing yet are {', '.join(free)}." if free else "")
        + nobody
    )


def _as_option(key: str, value: Any, layout: StimulusLayout, n_options: int) -> str:
    """The option that says a meaning which is still a question, in the form that it has."""
    part = key.removeprefix("stimulus.")
    words = layout.parts.get(part, "")
    if isinstance(value, list | tuple):
        text = json.dumps(_without_questions(value, layout.neutral.get(part, "COLUMN")))
    elif "for each option" in words:
        text = json.dumps(["COLUMN"] * min(n_options, MOST_NAMED))
    elif "two lists" in words:
        text = '[["COLUMN", "COLUMN"], ["COLUMN", "COLUMN"]]'
    elif words.startswith(("column", "cell")):
        return f"--column {key}={words.split()[0].strip(':,').upper()}"
    elif any(word in words for word in ("list", "two", "likewise", "and of the second")):
        text = '["COLUMN", "COLUMN"]'
    else:
        return f"--column {key}=COLUMN"
    return f"--column {key}='{text}'"


def _without_questions(value: Any, instead: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_without_questions(item, instead) for item in value]
    return instead if value == OPEN_QUESTION else value


def _check_answered(columns: AnswerColumns, domain: Domain, table: AnswerTable) -> None:
    """Refuse a mapping of a table that leaves something open."""
    names: Sequence[str] = table.columns
    _check_parts(columns, domain)
    patterns = [own for own in columns.wide.split(",") if NUMBER in own]
    wide = [own.partition(NUMBER) for own in patterns]
    names = [n for n in names if not any(n.startswith(a) and n.endswith(b) for a, _, b in wide)]
    names += [stem_of(own, {}) for own in patterns]
    nobody = ""
    if not columns.is_pooled and columns.participant in ("", OPEN_QUESTION):
        nobody = f" {_nobody_named(table.frame)}"
    _check_nothing_open(columns.model_dump(), domain, names, nobody)
    if not columns.is_pooled and not (columns.participant and (columns.response or columns.wide)):
        raise TrialsError(
            "name the columns 'participant' and 'response' (--column participant=COLUMN --column response=COLUMN), or "
            "'count' with 'share', or 'counts', where the file holds no single answers (participants.columns)."
            + nobody
        )
    scale = scale_of(domain)
    if scale is not None and columns.is_pooled:
        raise TrialsError(
            f"answers of the domain {domain.name!r} are numbers or have times, which cannot be counted by option; name "
            "the columns 'participant' and 'response' (--column participant=COLUMN --column response=COLUMN)."
        )
    if scale is not None and scale.kind == "timed" and (columns.wide or not columns.response_time):
        raise TrialsError(
            f"answers of the domain {domain.name!r} have their times: give a row for each, and name the columns "
            "'response' and 'response_time' (--column response=COLUMN --column response_time=COLUMN)."
        )


def _check_response(cells: RowCells, columns: AnswerColumns) -> None:
    """Refuse rows without an answer: raise `RowsWrongError`."""
    if columns.is_pooled and not columns.response:
        return
    column = columns.response or "response"
    empty = cells.changed(column, str.strip) == ""
    if empty.all():
        raise TrialsError(
            f"{cells.name}: the column {column!r} is empty in every row. Say which one holds the responses: --column "
            "response=COLUMN (participants.columns)."
        )
    cells.refuse_empty(empty, column, "the response" if columns.wide else column)


# Answers --------------------------------------------------------------------------------------


def _experiment(
    name: str,
    cells: RowCells,
    columns: AnswerColumns,
    domain: Domain,
    notes: list[str],
    reward_scale: RewardScale,
    unused: RowsLeftOut,
    kind: str,
) -> tuple[Trials, Array]:
    """The rows of one experiment, in order, as trials and answers, and the places of those that are answers.

    Rewards have one scale in all experiments; a ``kind`` is the property by which responses name options.
    """
    if columns.is_pooled:
        return _counted(name, cells, columns, domain, kind), cells.frame.index.to_numpy()
    participant, found_notes = _people(cells, columns), list[str]()
    rows = cells.frame.index.to_numpy()
    layout = known_layout(domain)
    if layout.from_steps:
        try:
            trials, row = layout.from_steps(
                name, cells, columns, participant, domain, reward_scale, found_notes
            )
        except StimuliError as error:
            step = np.concatenate([np.arange(n) for n in np.bincount(participant)])
            first = np.unique(step, return_index=True)[1]
            words = _with_row(str(error), cells.name, cells.row_numbers(first)).rstrip(".")
            place = _trial_named(str(error))
            shown = "" if place is None else f" ({_cells_in_words(cells, columns)(first[place])})"
            raise TrialsError(
                f"{words}{shown}. Correct it, or say --column PART=COLUMN (participants.columns)."
            ) from None
        notes += _of_experiment(name, found_notes, columns)
        return trials, rows[row]
    scale = scale_of(domain)
    response: Array
    if layout.from_rows:
        stimuli, trial, response, kept = layout.from_rows(
            cells, columns, participant, found_notes, unused
        )
        participant, rows = participant[kept], rows[kept]
        try:
            domain.check(stimuli)
        except StimuliError as error:
            rows = cells.row_numbers(kept[np.unique(trial, return_index=True)[1]])
            raise TrialsError(_with_row(str(error), cells.name, rows)) from None
    else:
        stimuli, trial = _stimuli(cells, columns, domain)
        response = (
            chosen_options(cells, columns)
            if scale is None
            else number_outcomes(cells, columns, scale, found_notes)
        )
        if kind:
            more = place_of_more(stimuli, trial, kind, layout, cells, columns.response)
            response = np.where(response == 1, more, 1 - more)
    notes += _of_experiment(name, found_notes, columns)
    trials = Trials(
        experiment=name,
        stimuli=stimuli,
        participant=participant,
        trial=trial,
        response=response,
        count=np.ones(len(trial), dtype=np.int64),
        n_options=domain.n_options(stimuli),
        n_people=int(participant.max()) + 1,
    )
    return trials, rows


def _people(cells: RowCells, columns: AnswerColumns) -> Array:
    """``(n_rows,)`` number of the person."""
    names = cells.text(columns.participant)
    cells.refuse_empty(names == "", columns.participant)
    return np.asarray(pd.factorize(names)[0], dtype=np.int64)


def _known_of_people(
    cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> dict[str, tuple[str, ...]]:
    """Return each person's attributes, in the order of `_people`; what differs within a person is excluded."""
    participant = _people(cells, columns)
    found = {}
    for attribute in columns.attributes:
        texts = cells.text(attribute)
        first = texts[np.unique(participant, return_index=True)[1]]
        if (texts != first[participant]).any():
            notes.append(
                f"{attribute} differs between rows of one person and is no attribute of people"
            )
        else:
            found[attribute] = tuple(first.tolist())
    return found


def _counted(
    name: str, cells: RowCells, columns: AnswerColumns, domain: Domain, kind: str
) -> Trials:
    """Counts of answers, by trial and option."""
    stimuli, trial = _stimuli(cells, columns, domain)
    n_options = domain.n_options(stimuli)
    table = np.zeros((len(stimuli), n_options), dtype=np.int64)
    counts = _counts(cells, columns, domain, n_options, kind)
    if kind:
        column = columns.response or columns.share
        more = place_of_more(stimuli, trial, kind, known_layout(domain), cells, column)
        counts = np.where((more == 1)[:, None], counts, counts[:, ::-1])
    np.add.at(table, trial, counts)
    row_of = np.arange(len(stimuli))
    return Trials(
        experiment=name,
        stimuli=stimuli,
        participant=np.zeros(table.size, dtype=np.int64),
        trial=np.repeat(row_of, n_options),
        response=np.tile(np.arange(n_options), len(stimuli)),
        count=table.ravel(),
        n_options=n_options,
        pooled=True,
        n_people=columns.people or int(table.sum(axis=1).max()),
    )


def _counts(
    cells: RowCells, columns: AnswerColumns, domain: Domain, n_options: int, kind: str
) -> Array:
    """``(n_rows, n_options)`` answers that each row stands for; of a ``kind``, those with less of it first."""
    if columns.counts:
        if len(columns.counts) != n_options:
            raise TrialsError(
                f"counts names {len(columns.counts)} columns, and the trials have {n_options} options: name a column "
                'for each: --column counts=\'["A", "B"]\' (participants.columns.counts).'
            )
        counts = np.stack([whole_numbers(cells, column) for column in columns.counts], axis=1)
        return counts
    totals = whole_numbers(cells, columns.count)
    table = np.zeros((len(totals), n_options), dtype=np.int64)
    if not columns.share:
        chosen = chosen_options(cells, columns)
        table[np.arange(len(totals)), chosen] = totals
        return table
    if n_options != 2:
        raise TrialsError(
            "share is a share of the second of two options; name a column of counts for each of more "
            'options: --column counts=\'["A", "B", "C"]\' (participants.columns.counts).'
        )
    if not kind:
        check_share(cells, columns, domain.options)
    share = cells.numbers(columns.share)
    if share.max() > 1:
        share = share / 100
    cells.refuse(
        (share < 0) | (share > 1),
        columns.share,
        "is no share from 0 to 1 or per cent; --column share=COLUMN says which column holds shares",
    )
    table[:, 1] = np.rint(share * totals)
    table[:, 0] = totals - table[:, 1]
    return table


def _with_code(
    cells: RowCells, columns: AnswerColumns, domain: Domain, notes: list[str]
) -> tuple[AnswerColumns, str]:
    """The mapping with the option that each cell of the responses names, the same in all experiments.

    Also the property by which they name options that columns show by their place; empty where they name none.
    """
    if scale := scale_of(domain):
        is_timed, signed = scale.kind == "timed", "strength" in known_layout(domain).parts
        return (with_answer_code(cells, columns, notes, signed=signed) if is_timed else columns), ""
    columns = _with_options_of_experiments(cells, columns, domain, notes)
    n_options = number_of_options(columns, domain)
    if n_options == 2 and not columns.is_pooled:
        refuse_roles(cells, columns)
    if columns.responses:
        if n_options == 2 and not domain.sequential:
            refuse_unread_sides(cells, columns, domain.options, notes)
        return columns, ""
    layout = known_layout(domain)
    if n_options == 2 and not domain.sequential:
        kind, code = kind_of_responses(cells, columns, layout)
        if kind:
            words = layout.always.get(
                kind, (f"the one with less {kind}", f"the one with more {kind}")
            )
            listed = [f"{cell} is {words[place]}" for cell, place in sorted(code.items())]
            column = columns.response or columns.share
            in_words = ", ".join(listed) if columns.response else f"shares are those of {words[1]}"
            notes.append(f"{column}: {in_words}, wherever it stands")
            return columns.model_copy(update={"responses": code if columns.response else {}}), kind
        refuse_places(cells, columns)
        refuse_unread_sides(cells, columns, domain.options, notes)
    if columns.is_pooled and not columns.response:
        return columns, ""
    labels = domain.options if len(domain.options) == n_options else ()
    is_free = counts_options(domain) and "payoff" not in columns.stimulus
    if layout.code is None:
        code = code_of_cells(cells, columns, n_options, labels, notes, names_of_arms=is_free)
    else:
        code = layout.code(columns.response, sorted(set(cells.text(columns.response)) - {""}))
    return columns.model_copy(update={"responses": code}), ""


def _with_options_of_experiments(
    cells: RowCells, columns: AnswerColumns, domain: Domain, notes: list[str]
) -> AnswerColumns:
    """The mapping with the options of each experiment, where responses name others in each of them.

    Raises:
        ImplausibleError: Options would be offered in experiments in which nobody chose them.
    """
    sets, response = columns.experiment, columns.response
    is_free = counts_options(domain) and domain.sequential and "payoff" not in columns.stimulus
    if not is_free or not sets or response not in cells.frame.columns:
        return columns
    named_columns = [
        response,
        *(own for own in columns.feedback.values() if own in cells.frame.columns),
    ]
    frame = cells.frame[(cells.frame[named_columns] != "").all(axis=1).to_numpy()][[sets, response]]
    own = frame.groupby(sets, sort=True)[response].agg(["nunique", "size"])
    if not len(own) or frame[response].nunique() == own["nunique"].max():
        return columns
    n_options = int(own["nunique"].max())
    code = stimuli_in_sets(frame, response, sets, n_options) if n_options > 1 else {}
    if code:
        own_values = frame.drop_duplicates().groupby(sets, sort=True)[response]
        named = "; ".join(f"{name}: {', '.join(sorted(own))}" for name, own in list(own_values)[:3])
        notes.append(f"each {sets} has its own {n_options} options ({named})")
        stimulus = {**columns.stimulus, "options": n_options}
        return columns.model_copy(update={"responses": code, "stimulus": stimulus})
    n_all = frame[response].nunique()
    if (own["size"] >= FEWEST * n_all).any():
        question(
            columns,
            notes,
            "one_set_of_options",
            f"{cells.name}: {n_all} different cells stand in {response}, and no {sets} has all of "
            "them, while all would be offered in each. Leave out rows with options that are in several sets (--column "
            "where.COLUMN=CELL), or write into a column which option of its set was chosen, from 1",
        )
    return columns


# Trials ---------------------------------------------------------------------------------------


def _stimuli(cells: RowCells, columns: AnswerColumns, domain: Domain) -> tuple[Stimuli, Array]:
    """Distinct trials, and the ``(n_rows,)`` trial that each row shows."""
    layout = layout_of(domain)
    assert layout is not None  # see `_check_answered`
    texts = {
        name: texts_in(cells, value)
        for name, value in columns.stimulus.items()
        if name in layout.texts
    }
    words = {**layout.words, **texts}
    parts = {
        name: read_part(cells, value, name, words.get(name, ()), ragged=name in layout.ragged)
        for name, value in columns.stimulus.items()
        if name not in SETTINGS
    }
    first, which = distinct_rows(
        *(column for part in parts.values() for column in as_table(part).T)
    )
    parts = {name: part[first] for name, part in parts.items()}
    if unit := columns.stimulus.get("delay_unit"):
        if unit not in DAYS:
            raise TrialsError(
                f"the unit of delays is {unit!r}; say --column delay_unit=UNIT "
                f"(participants.columns.stimulus.delay_unit) with one of {', '.join(DAYS)}."
            )
        parts["delays_days"] = parts["delays_days"] * DAYS[unit]
    if unit := columns.stimulus.get("amount_unit"):
        if unit not in HUNDREDTHS:
            raise TrialsError(
                f"stimulus.amount_unit is {unit!r}; give cents, or leave it out where amounts are whole units of money "
                "(--column amount_unit=cents)."
            )
        parts |= {name: part / 100 for name, part in parts.items() if name.endswith("amounts")}
    parts = {
        name: in_own_range(part, columns.stimulus, RANGES.get(name, ""))
        for name, part in parts.items()
    }
    parts |= {
        name: np.array(own)[parts[name].astype(np.intp)] for name, own in texts.items() if own
    }
    shown = _cells_in_words(cells, columns)
    stimuli = _checked_trials(cells, layout, parts, domain, first, which, shown)
    # Trials that are written differently may be the same, and keep the order in which they come in the file.
    place: dict[bytes, int] = {}
    number = np.array([place.setdefault(key, len(place)) for key in stimuli.keys])
    kept = np.unique(number, return_index=True)[1]
    return stimuli.take(kept), number[which]


def _checked_trials(
    cells: RowCells,
    layout: StimulusLayout,
    parts: Mapping[str, Array],
    domain: Domain,
    first: Array,
    which: Array,
    shown: Callable[[int], str],
) -> Stimuli:
    """Distinct trials, if the domain has all of them; ``shown`` says what the cells of a row are.

    Raises:
        RowsWrongError: It does not have some; their rows are told.
    """
    assert layout.build is not None  # see `stimuli_of_table` and `_experiment`
    numbers = cells.row_numbers(first)
    kept = np.arange(len(first))
    bad: list[int] = []
    problem, most = "", min(MOST_BAD_TRIALS, max(MOST_CHECKED // len(first), 3))
    while True:
        try:
            stimuli = layout.build({name: part[kept] for name, part in parts.items()})
            domain.check(stimuli)
            break
        except StimuliError as error:
            row = _trial_named(str(error))
            if not problem:
                problem = _with_row(str(error), cells.name, numbers[kept])
                if row is not None and row < len(kept):
                    problem = problem.rstrip(".") + f" ({shown(int(first[kept[row]]))})."
            if row is None or row >= len(kept) or len(bad) >= most or len(kept) == 1:
                raise TrialsError(problem) from None
            bad.append(int(kept[row]))
            kept = np.delete(kept, row)
    if bad:
        reason = (
            "it shows no such trial: " + problem.rpartition("domain: ")[2].partition(". Where ")[0]
        )
        places = cells.frame.index.to_numpy()[np.isin(which, bad)]
        also = rows_named(cells.row_numbers(np.isin(which, bad))[1:])
        problem = problem.rstrip(".") + (f" (likewise {also})" if also else "") + "."
        raise RowsWrongError(problem, places, reason.rstrip("."), empty=False)
    return stimuli


def _cells_in_words(cells: RowCells, columns: AnswerColumns) -> Callable[[int], str]:
    """Return a function that states which cells of a row show its trial, given its place."""
    names = [str(leaf) for leaf in leaves_of(columns.stimulus) if leaf in cells.frame.columns]

    def shown(place: int) -> str:
        words = [f"{name} = {cells.frame[name].iloc[place]}" for name in names[:MOST_CELLS_NAMED]]
        more = f" and {len(names) - len(words)} more" if len(names) > len(words) else ""
        return ", ".join(words) + more

    return shown


def _trial_named(words: str) -> int | None:
    """The trial that a domain complains about; None where it names none."""
    place = words.removeprefix("trial ").split(" ")[0].rstrip(":")
    return int(place) if words.startswith("trial ") and place.isdigit() else None


def _with_row(words: str, name: str, rows: NDArray[Any]) -> str:
    """A domain's complaint about a trial, with the row of the file that shows it."""
    place = _trial_named(words)
    if place is not None and place < len(rows):
        words = words.removeprefix(f"trial {place}").lstrip(": ")
        return f"{name}: row {rows[place]} shows no such trial: {words}"
    return f"{name}: {words}"


def check_adopted(found: AdoptedAnswers) -> None:
    """Refuse experiments on which theories cannot be compared: raise `ExperimentError`."""
    names = [item.experiment for item in found.trials]
    if len(set(names)) != len(names):
        raise ExperimentError(f"two experiments are called {names[0]!r}.")
    for item in found.trials:
        item.check_comparable()
