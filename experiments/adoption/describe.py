"""Description of a table of responses: people, trials, columns and their meanings, oddities."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd
from pydantic import ValidationError

from lakatos.experiments.adoption.chosen_rows import chosen_rows, with_joined_participant
from lakatos.experiments.adoption.column_meanings import (
    ColumnSummary,
    flat,
    meanings_of,
    summary_of,
    with_meaning,
    with_participant,
    without_practice,
)
from lakatos.experiments.adoption.expression import ColumnExpression, columns_in
from lakatos.experiments.adoption.guessed_mapping import (
    columns_of_labels,
    guessed_stimulus,
    mapping_of,
    ranked,
    task_with_feedback,
    with_named_units,
    with_numbers,
    with_outcomes,
    with_reading,
    with_side,
    with_times,
    won_and_lost,
)
from lakatos.experiments.adoption.layouts import (
    Reading,
    counts_options,
    layout_of,
    layouts_to_guess,
)
from lakatos.experiments.adoption.mapping import (
    ALL_COLUMNS,
    ONE_PARTICIPANT,
    OPEN_QUESTION,
    AnswerColumns,
    leaves_of,
)
from lakatos.experiments.adoption.menu import Menu, menu_of
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import TRUTH, code_of_pair
from lakatos.experiments.adoption.option_kind import KINDS
from lakatos.experiments.adoption.own_tasks import NOT_READ, gift_of
from lakatos.experiments.adoption.plausible import bad_rows_in_words, rows_that_count
from lakatos.experiments.adoption.prepared import (
    AlternativeRows,
    alternative_rows,
    computed_cells,
    prepared,
    with_questions_marked,
)
from lakatos.experiments.adoption.recognised import (
    MISSED,
    completed,
    missed_cells,
    missed_in_words,
    recognised,
    shared_marks,
    sides_of,
)
from lakatos.experiments.adoption.side_columns import SIDE
from lakatos.experiments.adoption.signatures import (
    MOST_SEEN,
    ColumnSignature,
    TableSignature,
    order_by_values,
    table_signature,
)
from lakatos.experiments.adoption.table_notes import (
    again_in_words,
    alternatives_in_words,
    always_the_same,
    assumed_chances,
    assumed_unit,
    beyond_the_grid,
    doubts_of,
    facts_of,
    heaped,
    is_answered,
    labels_in_words,
    marks_in_words,
    nameless_in_words,
    not_counting,
    oddities,
    own_task_question,
    people_in_words,
    practice_in_words,
    taken_by_values,
)
from lakatos.experiments.adoption.tables import AnswerTable, whole
from lakatos.experiments.adoption.wide_rows import (
    NUMBER,
    games_in_words,
    guessed_wide,
    items_in_words,
    numbered_items,
    numbered_rows,
    wide_in_words,
)
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.domain_lookup import all_domains
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import HasOutcomes
from lakatos.experiments.task import Domain

GUESSED_ROLES = ("share", "count", "reward", "order", "experiment", "response time")
"""Meanings that names suggest, which a column has only where the mapping reads it so."""


@dataclass(frozen=True)
class TableDescription:
    """Description of what a file seems to hold, and how it would be adopted."""

    name: str
    n_rows: int
    columns: tuple[ColumnSummary, ...]
    domain: str
    """Kind of task that the trials seem to be of; empty where none fits."""
    mapping: AnswerColumns
    """Guessed mapping; a question mark stands where nothing could be guessed."""
    facts: tuple[str, ...]
    """People, repeated trials, response times, conditions."""
    odd: tuple[str, ...]
    """Oddities that the user should look at."""
    doubts: tuple[str, ...] = ()
    """Readings that are open, with the option for each."""
    beyond_grid: tuple[str, ...] = ()
    """Outcomes that the domain cannot show, as far as columns mean what they seem to mean."""
    source: AnswerTable | None = field(default=None, repr=False, compare=False)
    """The table that was described, as it was read."""
    task: Domain | None = field(default=None, repr=False, compare=False)
    """The domain that the user named; None where it was guessed."""

    @property
    def doubts_in_words(self) -> str:
        """Readings that are open, as sentences that a message ends with."""
        return "".join(f" {line[:1].upper()}{line[1:]}." for line in self.doubts)

    def meaning_of(self, column: ColumnSummary) -> str:
        """Return the meaning of a column: its role, or the parts of the trials that it is in, with their unit."""
        mapping, name = self.mapping, column.name
        roles = {
            mapping.participant: "participant",
            mapping.order: "order",
            mapping.experiment: "experiment",
            mapping.response_time: f"response time ({mapping.response_time_unit})",
            mapping.condition: "condition",
            mapping.response: "response",
            mapping.share: "share",
            mapping.count: "count",
            **{name: f"count of option {place}" for place, name in enumerate(mapping.counts, 1)},
            **dict.fromkeys(mapping.attributes, "of participants"),
        }
        found = []
        for part, cells in (mapping.feedback | mapping.stimulus).items():
            if name in [own for cell in flat(cells) for own in self._columns_in(str(cell))]:
                is_delay = part == "delays_days"
                usual = "days" if is_delay else ""
                unit = mapping.stimulus.get(f"{part.split('_')[0].removesuffix('s')}_unit", usual)
                words = "delays" if is_delay else part.replace("_", " ")
                found.append(f"{words} ({unit})" if unit else words)
        in_words = roles.get(name) or ", ".join(found)
        is_read = not self.domain or column.meaning not in GUESSED_ROLES
        is_response = bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", mapping.response))
        return in_words or (column.meaning if is_read or is_response else "")

    def _columns_in(self, name: str) -> tuple[str, ...]:
        """The columns behind a name or an expression."""
        empty = pd.DataFrame(columns=[item.name for item in self.columns])
        return columns_in(name, empty)

    def with_columns(self, columns: Mapping[str, Any]) -> TableDescription:
        """The same with meanings of columns that somebody says, in place of guessed ones.

        Parts of the trials that are not said stay as they were guessed; one that is said to be "" is dropped.

        Raises:
            TrialsError: A key says nothing about columns.
        """
        return _with_tried_advice(self._corrected(columns)) if columns else self

    def _corrected(self, columns: Mapping[str, Any]) -> TableDescription:
        """`with_columns`, before its advice is tried out; the kind of task stays where all of it is still known."""
        found = self._with(columns)
        if found.domain or self.domain not in all_domains():
            return found
        parts = {part for key in ("stimulus", "feedback") for part in columns.get(key) or {}}
        layout = layout_of(all_domains()[self.domain])
        may_stay = OF_RESPONSES | {"where", "stimulus", "feedback"}
        if not set(columns) <= may_stay or not layout or not parts <= {*layout.parts, "reward"}:
            return found
        kept = self._with(columns, all_domains()[self.domain])
        return found if OPEN_QUESTION in leaves_of(kept.mapping.model_dump()) else kept

    def _with(self, columns: Mapping[str, Any], task: Domain | None = None) -> TableDescription:
        """`with_columns`, as values tell it.

        Where a task is given, as values no longer tell it, parts of its trials stay as they were guessed before.
        """
        try:
            stated = AnswerColumns.model_validate(columns)
            is_changed = any(getattr(stated, key) for key in CHANGES_GUESSES)
            if self.source is not None and (is_changed or (stated.feedback and not self.domain)):
                # What is missing, recoded, left out or a response changes what the other columns seem to mean.
                before = self.mapping.stimulus if task else {}
                task = self.task or task or (None if self.domain else _implied(stated))
                self = replace(_described(self.source, task, stated), task=self.task)
                shown = {part: own for part, own in before.items() if part != SIDE}
                for part, own in self.mapping.stimulus.items():
                    if part not in shown or OPEN_QUESTION not in leaves_of(own):
                        shown[part] = own
                self = replace(self, mapping=self.mapping.model_copy(update={"stimulus": shown}))
            guessed = _beside(self.mapping, stated).model_dump(exclude_defaults=True)
            taken = _newly_said(self.mapping, stated) - {stated.condition}
            guesses = self.mapping.stimulus.items()
            parts = {part: own for part, own in guesses if str(own) not in taken} | stated.stimulus
            parts |= _chances_of_said_amounts(self.mapping.stimulus, stated.stimulus)
            kept = {part: value for part, value in parts.items() if value != ""}
            kept |= _open_again(kept, stated)
            rows = {
                "where": {**self.mapping.where, **stated.where},
                "missing": _with_marks(stated.missing, self.mapping.missing),
            }
            mapping = AnswerColumns.model_validate(
                guessed | dict(columns) | {"stimulus": kept} | rows
            )
            mapping = with_named_units(mapping)
            if ONE_PARTICIPANT in mapping.accept and mapping.participant == OPEN_QUESTION:
                mapping = mapping.model_copy(update={"participant": ""})
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"])) or "columns"
            raise TrialsError(
                f"columns: {key}: {first['msg']}; keys are {', '.join(AnswerColumns.model_fields)} "
                "(--column KEY=VALUE, or participants.columns of a study)."
            ) from None
        grid = self.beyond_grid
        if mapping.time_window:  # the reading of the file states what is outside of it
            grid = tuple(line for line in grid if not line.startswith(f"{mapping.response_time}: "))
        return replace(self, mapping=mapping, beyond_grid=grid)


def _chances_of_said_amounts(
    guessed: Mapping[str, Any], stated: Mapping[str, Any]
) -> dict[str, Any]:
    """Guessed probabilities of two amounts that the user gives in the other order, so that each keeps its own."""
    found = {}
    for part, amounts in stated.items():
        chances_of = part.replace("amounts", "probabilities")
        before, chances = guessed.get(part), guessed.get(chances_of)
        if chances_of in {part, *stated} or not isinstance(before, list | tuple):
            continue
        names, own = (
            [str(leaf).lstrip("-") for leaf in leaves_of(each)] for each in (before, amounts)
        )
        if len(names) == 2 and names == own[::-1] and isinstance(chances, list | tuple):
            first = str(chances[0])
            rest: Any = first.removeprefix("1 - ") if first.startswith("1 - ") else f"1 - {first}"
            if isinstance(chances[0], int | float):
                rest = 1 - chances[0]
            found[chances_of] = [rest] if len(chances) == 1 else list(chances)[::-1]
    return found


def describe_table(table: AnswerTable, domain: Domain | None = None) -> TableDescription:
    """Describe a table, and guess what its columns mean.

    Args:
        table: As read.
        domain: Kind of task of the trials; guessed from the columns' names among those of the package where it is None.
    """
    return _with_tried_advice(_described(table, domain, AnswerColumns()))


def menu_in(table: AnswerTable, stated: AnswerColumns) -> Menu | None:
    """The options and attributes that the choices of a file are among, as a task of one's own would have them.

    Args:
        table: As read.
        stated: Meanings of columns that the user states.
    """
    table, summaries, changes, _ = _prepared(
        with_joined_participant(table, stated.participant), stated
    )
    meanings = meanings_of(table.frame, summaries, table.made)
    signature = table_signature(without_practice(table.frame), meanings)
    return menu_of(signature, 2 if "alternative" in changes else 3)


def _with_tried_advice(found: TableDescription) -> TableDescription:
    """The description with those of several answers to a question that do not end in a table nobody can read.

    Where none is left, what was guessed stood on thin grounds, and the kind of task is open.
    """
    doubts = [_with_tried_answers(found, line) for line in found.doubts]
    if all(doubts):
        return replace(found, doubts=tuple(doubts))
    kind = found.domain if found.task is not None else ""
    return replace(found, domain=kind, doubts=tuple(line for line in doubts if line))


def _with_tried_answers(found: TableDescription, line: str) -> str:
    """A question with those of its answers that lead on, each an option; empty where none does."""
    words, _, options = line.partition(SAY_WHICH)
    if not options:
        return line
    answers = [
        answer
        for answer in options.split(" or ")
        if not answer.startswith("--column ") or _leads_on(found, answer)
    ]
    return f"{words}{SAY_WHICH}{' or '.join(answers)}" if answers else ""


def _leads_on(found: TableDescription, answer: str) -> bool:
    key, _, value = answer.removeprefix("--column ").partition("=")
    try:
        return bool(found._corrected({key: value}).domain)
    except TrialsError:
        return False


SAY_WHICH = "; say which: "
"""Words before the answers to a question."""


def _implied(stated: AnswerColumns) -> Domain | None:
    """The only kind of task that has the parts of trials that the user names; None where several have, or none.

    What follows choices names the only kind of task that learns from it.
    """
    own = {part for part in stated.stimulus if part not in (SIDE, "amount_unit")}
    layouts = {name: layout_of(task) for name, task in all_domains().items()}
    fits = [name for name, layout in layouts.items() if layout and own <= set(layout.parts)]
    if stated.feedback:
        fits = [name for name in fits if counts_options(all_domains()[name])]
    return all_domains()[fits[0]] if (own or stated.feedback) and len(fits) == 1 else None


CHANGES_GUESSES = (
    "missing", "recode", "where", "wide", "accept", "participant", "experiment", "condition", "alternative", "response",
    "responses", "response_time", "response_time_unit", "stimulus",
)  # fmt: skip
"""Keys of a mapping that change the rows and cells of which meanings are guessed, or what follows from them."""


OF_RESPONSES = {
    "response",
    "responses",
    "response_time",
    "response_time_unit",
    "order",
    "recode",
    "missing",
}
"""Keys that say what responses mean, and so do not speak against the kind of task that was guessed."""


def _beside(guessed: AnswerColumns, stated: AnswerColumns) -> AnswerColumns:
    """Guessed meanings without those of columns that are said to be something else, and of another response."""
    taken = _newly_said(guessed, stated)
    keys = ("experiment", "order", "response_time")
    changes: dict[str, Any] = {key: "" for key in keys if getattr(guessed, key) in taken}
    if set(stated.stimulus) & {"block", "round", "stage"}:
        changes.pop("order", None)  # both may be one column
    if stated.response and stated.response != guessed.response:
        changes["responses"] = {}
    is_one_item = NUMBER not in stated.wide and fnmatchcase(guessed.response, stated.wide)
    if is_one_item and not stated.response:  # all items are the response, in a column of this name
        changes |= {"response": "response", "responses": {}}
    if guessed.response in taken and not stated.response:
        changes |= {"response": OPEN_QUESTION, "responses": {}}
    changes["feedback"] = {
        part: OPEN_QUESTION if own in taken else own for part, own in guessed.feedback.items()
    }
    return guessed.model_copy(update=changes)


def _newly_said(guessed: AnswerColumns, stated: AnswerColumns) -> set[str]:
    """Columns to which the user gives another meaning than the guessed one, which takes its place."""
    pairs = [
        (getattr(stated, key), getattr(guessed, key))
        for key in ("response", "response_time", "condition")
    ]
    for key in ("stimulus", "feedback"):
        own, before = getattr(stated, key), getattr(guessed, key)
        pairs += [(value, before.get(part)) for part, value in own.items()]
    return {str(leaf) for now, before in pairs if now != before for leaf in leaves_of(now)} - {""}


def _named_rows(frame: pd.DataFrame) -> str:
    """The first column, where it has no name and a label of its own in each row, as R writes the names of rows."""
    name = str(frame.columns[0])
    is_label = frame[name].str.fullmatch(r"[A-Za-z_. -]+\d+").all() and frame[name].is_unique
    return name if name == "column 1" and is_label else ""


def _open_again(stimulus: Mapping[str, Any], stated: AnswerColumns) -> dict[str, str]:
    """Guessed parts of trials whose column is said to be the response, its time or the participant: questions again."""
    taken = {
        stated.response,
        stated.response_time,
        stated.participant,
        *stated.feedback.values(),
    } - {""}
    guessed = {part: own for part, own in stimulus.items() if part not in stated.stimulus}
    return {
        part: OPEN_QUESTION
        for part, own in guessed.items()
        if part in PARTS_OF_CHOICES and taken & set(map(str, leaves_of(own)))
    }


PARTS_OF_CHOICES = ("amounts", "delays_days", "a_amounts", "b_amounts", "ratings")
"""Parts of which no column is the response as well."""


def _prepared(
    source: AnswerTable, stated: AnswerColumns
) -> tuple[AnswerTable, list[ColumnSummary], dict[str, Any], AlternativeRows | None]:
    """The rows and cells of which meanings are guessed, their columns, and the parts of the mapping they rest on.

    At the end the columns of alternatives, where a row is one of them and no column names them.
    """
    summaries = [summary_of(source.frame, name) for name in source.columns]
    meanings = meanings_of(source.frame, summaries, source.made)
    by_meaning = {meaning: name for name, meaning in meanings.items()}
    who = stated.participant or by_meaning.get("participant", "")
    changes = {key: getattr(stated, key) for key in ("missing", "recode")}
    named = stated.response or by_meaning.get("response", "")
    changes |= {"where": _where(source.frame, stated, named)}
    if not stated.wide:
        changes["wide"] = guessed_wide(
            source.frame, who or _named_rows(source.frame), source.questions
        )
    elif NUMBER in stated.wide:
        changes["wide"] = stated.wide
    changes = {key: value for key, value in changes.items() if value}
    wide = stated.model_copy(update={"wide": stated.wide or changes.get("wide", "")})
    source, rest = with_questions_marked(source, wide)
    if NUMBER in changes.get("wide", ""):
        kept = chosen_rows(source, AnswerColumns(where=changes.get("where", {})))
        note = wide_in_words(source.frame, changes["wide"])
        frame = numbered_rows(kept, changes["wide"], source.questions, source.name)
        source = replace(source, frame=frame, notes=(*source.notes, note))
        summaries = [summary_of(source.frame, name) for name in source.columns]
        meanings = meanings_of(source.frame, summaries, source.made)
        who = who or next((name for name, own in meanings.items() if own == "participant"), "")
        changes["participant"] = who
        meanings = with_participant(meanings, who) if who else meanings
        by_meaning = {meaning: name for name, meaning in meanings.items()}
    rows = alternative_rows(source.frame, who) if not stated.alternative else None
    if stated.alternative:
        changes |= {"alternative": stated.alternative, "choice_set": stated.choice_set}
    elif rows is not None and rows.alternative:
        changes |= {"alternative": rows.alternative, "choice_set": rows.choice_set}
        by_meaning["response"] = rows.response
    known = AnswerColumns(
        participant=who,
        response=stated.response or by_meaning.get("response", ""),
        order=stated.order or by_meaning.get("order", ""),
        experiment=stated.experiment or by_meaning.get("experiment", ""),
        **{key: value for key, value in changes.items() if key != "participant"},
    )
    if wide.wide:  # what is missing in columns that are not there yet
        marks = {
            name: own
            for name, own in rest.missing.items()
            if name in {*source.columns, ALL_COLUMNS}
        }
        known = known.model_copy(update={"missing": marks})
    labels = {name: _labels_of_options(source, name, stated) for name in source.labels}
    if labels := {name: own for name, own in labels.items() if own}:
        changes["recode"] = {**changes.get("recode", {}), **labels}
        known = known.model_copy(update={"recode": changes["recode"]})
    signature = table_signature(source.frame, meanings)
    missing = shared_marks(signature)
    if known.response in signature.columns and (
        missed := _missed(signature, signature.columns[known.response])
    ):
        missing |= {known.response: missed}
    if missing:
        changes["missing"] = _with_marks(stated.missing, missing)
        known = known.model_copy(update={"missing": _with_marks(known.missing, missing)})
    if reward := by_meaning.get("reward", ""):
        known = known.model_copy(update={"feedback": {"reward": reward}})
    is_long = NUMBER in changes.get("wide", "")
    frame = chosen_rows(source, known) if known.where and not is_long else source.frame
    table = prepared(replace(source, frame=frame), known)
    if table.frame is not source.frame:
        summaries = [summary_of(table.frame, name) for name in table.columns]
    changes |= {"response": known.response} if known.alternative else {}
    return table, summaries, changes, None if known.alternative else rows


def _with_marks(
    stated: Mapping[str, tuple[str, ...]], found: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Marks of missing values that the user names, and those that values tell, by column."""
    more = {
        name: (*stated.get(name, ()), *(mark for mark in marks if mark not in stated.get(name, ())))
        for name, marks in found.items()
    }
    return {**stated, **more}


def _labels_of_options(
    source: AnswerTable, response: str, stated: AnswerColumns
) -> Mapping[str, str]:
    """Return the labels of a column's cells in a file of SPSS, where these are words for two options.

    A label such as ``no answer`` makes a cell empty.
    """
    labels = source.labels.get(response, {})
    is_said = response in stated.recode or bool(set(stated.responses) & set(labels))
    if not labels or response not in source.frame or is_said:
        return {}
    cells = {whole(cell) for cell in source.frame[response].str.strip().unique() if cell}
    labels = {cell: "" if own.casefold() in MISSED else own for cell, own in labels.items()}
    words = {labels[cell] for cell in cells & set(labels)} - {""}
    kinds = [side for sides in KINDS.values() for side in sides]
    is_kind = all(any(set(words_of(word)) & side for side in kinds) for word in words)
    is_truth = all(word.casefold() in TRUTH for word in words)
    is_known = is_kind or is_truth or bool(code_of_pair(words))
    return (
        {cell: labels[cell] for cell in sorted(cells & set(labels))} if words and is_known else {}
    )


def _missed(table: TableSignature, column: ColumnSignature) -> tuple[str, ...]:
    """Cells of a response that say in words that it was missed, or in whose rows alone the time is 0 or empty."""
    named = missed_in_words(table, column)
    if table.time not in table.columns:
        return named
    took = table.columns[table.time].values > 0
    found = missed_cells(table, column)
    return tuple(
        cell for cell in found if cell in named or not took[(column.cells == cell).to_numpy()].any()
    )


def _where(frame: pd.DataFrame, stated: AnswerColumns, response: str) -> dict[str, Any]:
    """The rows that count: those that the user names, and of them none of practice unless these are accepted."""
    if "practice_rows" in stated.accept:
        return dict(stated.where)
    used = {
        stated.participant,
        stated.response,
        stated.experiment,
        stated.condition,
        *stated.attributes,
    }
    used |= {str(leaf) for leaf in leaves_of([stated.stimulus, stated.feedback])} | set(
        stated.where
    )
    return {**rows_that_count(frame, sorted(used), response), **stated.where}


def _described(
    source: AnswerTable, domain: Domain | None, stated: AnswerColumns
) -> TableDescription:
    """Describe a table as far as ``said`` changes its rows and cells."""
    source = with_joined_participant(source, stated.participant)
    table, summaries, changes, nameless = _prepared(source, stated)
    meanings = meanings_of(table.frame, summaries, table.made)
    if who := changes.get("participant", "") or stated.participant:
        meanings = with_participant(meanings, who)
    response = changes.get("response", stated.response)
    if response in table.columns:
        meanings = {n: m for n, m in meanings.items() if m != "response"}
        meanings[response] = "response"
    columns = tuple(
        ColumnSummary(**{**vars(item), "meaning": meanings.get(item.name, "")})
        for item in summaries
    )
    chosen, stimulus = guessed_stimulus(without_practice(table.frame), domain)
    if not chosen:
        chosen = task_with_feedback(table, meanings)
    reading, kinds = _recognised(table, meanings, chosen, stimulus, domain, stated)
    if len(kinds) == 1:
        chosen = kinds[0]
    if domain is None and (nameless or _has_more_alternatives(table, changes, chosen)):
        chosen, stimulus, reading, kinds = "", {}, Reading({}), ()
    stimulus = dict(reading.stimulus) if reading.stimulus else stimulus
    if reading.response in table.columns:
        meanings = {name: meaning for name, meaning in meanings.items() if meaning != "response"}
        meanings[reading.response] = "response"
    mapping = mapping_of(table, meanings, chosen, stimulus, stated)
    mapping = with_reading(mapping, reading, stated)
    if reading.missing and "missing" in changes:
        changes["missing"] = _with_marks(changes["missing"], reading.missing)
    if reading.recode and "recode" in changes:
        changes["recode"] = {**reading.recode, **changes["recode"]}
    mapping = mapping.model_copy(update=changes)
    mapping = with_times(table, mapping, reading, stated)
    if chosen and not mapping.order and (order := ranked(table, meanings, mapping)):
        mapping = mapping.model_copy(update={"order": order})
    if domain is not None:
        mapping = _with_parts_beside(table, meanings, mapping, domain, stated)
    mapping = with_named_units(mapping)
    parts, visits = again_in_words(table, mapping, domain or all_domains().get(chosen))
    if parts and not set(parts) & set(stated.stimulus):
        mapping = mapping.model_copy(update={"stimulus": {**mapping.stimulus, **parts}})
    mapping, side_in_words = with_side(table, mapping, domain or all_domains().get(chosen), stated)
    items = "" if mapping.wide else numbered_items(table.frame, mapping.participant)
    games = "" if mapping.wide else games_in_words(table.frame, mapping.participant)
    if domain is not None and scale_of(domain) is None and mapping.response == "?":
        signature = table_signature(table.frame, meanings)
        named = columns_of_labels(table, domain) or gift_of(
            signature, mapping.stimulus, domain.options
        )
        mapping = mapping.model_copy(update={"response": named[0] if len(named) == 1 else "?"})
    if isinstance(domain, HasOutcomes):
        mapping = with_outcomes(mapping, meanings, table, domain)
    own_task = ""
    if not (chosen or nameless or games):
        own_task = own_task_question(table, meanings, is_long="alternative" in changes)
    if items and own_task.endswith(NOT_READ) and not own_task.startswith(items):
        own_task = ""  # a questionnaire beside choices
    is_read = not own_task.endswith(NOT_READ)
    is_open = not chosen or OPEN_QUESTION in leaves_of(mapping.stimulus)
    task = domain or (all_domains()[chosen] if chosen else None)
    if task is not None and scale_of(task) is not None:
        mapping = with_numbers(mapping, table, columns, task, stated, reading.response)
        columns = tuple(with_meaning(item, mapping) for item in columns)
    return TableDescription(
        name=table.name,
        n_rows=len(table.frame),
        columns=columns,
        domain=chosen,
        mapping=mapping,
        facts=tuple(facts_of(table, mapping, columns)),
        doubts=(
            *doubts_of(reading, kinds, own_task),
            *people_in_words(meanings),
            *alternatives_in_words(changes, stated),
            *((nameless_in_words(nameless),) if nameless else ()),
            *((items_in_words(items),) if items and is_open and is_read else ()),
            *((games,) if games and (not chosen or reading.questions) else ()),
        ),
        odd=(
            *table.notes,
            *practice_in_words(source.frame, changes.get("where", {}), stated),
            *labels_in_words(source, changes, stated),
            *(() if stated.participant else taken_by_values(meanings)),
            *(line for line in reading.notes if not is_answered(line, stated)),
            *side_in_words,
            *(line for line in visits if not set(parts) & set(stated.stimulus)),
            *assumed_unit(source, mapping, stated),
            *assumed_chances(table, mapping, reading),
            *not_counting(table, mapping, chosen),
            *bad_rows_in_words(
                table.frame,
                {str(leaf) for leaf in leaves_of(mapping.model_dump(exclude={"attributes"}))}
                | set(stated.where)
                | set(changes.get("where", {})),
            ),
            *(() if chosen or not is_read else marks_in_words(table, columns)),
            *oddities(table, mapping, columns),
            *always_the_same(table, mapping),
            *heaped(table, mapping, columns),
        ),
        beyond_grid=()
        if "y_range" in stated.stimulus  # the reader of the task compares answers with this range
        else tuple(beyond_the_grid(table, mapping, columns, task)),
        source=source,
        task=domain,
    )


def _recognised(
    table: AnswerTable,
    meanings: Mapping[str, str],
    chosen: str,
    stimulus: Mapping[str, Any],
    domain: Domain | None,
    stated: AnswerColumns,
) -> tuple[Reading, tuple[str, ...]]:
    """Recognise values where names leave something open, and the kinds of tasks that fit.

    Where several kinds fit, or none, the reading is empty.
    """
    nothing = Reading({})
    is_known = (
        bool(chosen) and bool(stimulus) and OPEN_QUESTION not in flat(list(stimulus.values()))
    )
    named_response = "response" in meanings.values() or bool(stated.response)
    is_timed = is_known and set(stimulus) == {"congruence"}
    if is_known and named_response and not is_timed:
        return nothing, ()
    is_paid = "reward" in meanings.values() or won_and_lost(table) != OPEN_QUESTION
    frame = without_practice(table.frame)
    signature = table_signature(frame, meanings, stated.response, stated.participant)
    if domain is not None and counts_options(domain) and named_response and is_paid:
        layout = layouts_to_guess().get(domain.name)
        reading = layout.recognise(signature) if layout and layout.recognise else None
        if reading is None or not (_names_stimuli(reading) or _is_other(reading, meanings, stated)):
            return nothing, ()
        return reading, ()
    if is_known and domain is None:
        task = all_domains()[chosen]
        if scale_of(task) is not None or task.sequential:
            return _with_right_keys(signature, chosen, stimulus, stated), ()
        shown = tuple(name for name in leaves_of(stimulus) if name in frame.columns)
        return completed(signature, Reading(stimulus, shown, sides_of(stimulus))), ()
    layouts = layouts_to_guess()
    if chosen and domain is None:
        recognise = layouts[chosen].recognise
        reading = recognise(signature) if recognise else None
        if reading is None or not (stimulus or _names_stimuli(reading)):
            return nothing, ()
        return _filled(stimulus, reading), ()
    if domain is not None:
        if domain.name not in layouts:
            return nothing, ()
        layouts = {domain.name: layouts[domain.name]}
    found = recognised(signature, layouts)
    if len(found) != 1:
        return nothing, tuple(found)
    ((kind, reading),) = found.items()
    order = ""
    if "order" not in meanings.values():
        order = order_by_values(signature, reading.shown)
    return replace(reading, order=order), (kind,)


def _with_parts_beside(
    table: AnswerTable,
    meanings: Mapping[str, str],
    mapping: AnswerColumns,
    domain: Domain,
    stated: AnswerColumns,
) -> AnswerColumns:
    """The mapping with parts of trials that values tell beside those that the user names, which may be computed."""
    layout, frame = layouts_to_guess().get(domain.name), table.frame.head(MOST_SEEN)
    if layout is None or layout.recognise is None or not stated.stimulus:
        return mapping
    named = [
        (f"{part} {place}", str(leaf))
        for part, value in stated.stimulus.items()
        for place, leaf in enumerate(leaves_of(value), 1)
    ]
    cells: dict[str, Any] = {}
    for name, leaf in named:
        if leaf in frame.columns:
            cells[name] = frame[leaf]
        elif columns_in(leaf, frame) != (leaf,):
            cells[name] = computed_cells(frame, ColumnExpression(leaf, table.columns))
    used = {column for _, leaf in named for column in columns_in(leaf, frame)}
    beside = frame.drop(columns=[name for name in used if name in frame.columns]).assign(**cells)
    reading = layout.recognise(
        table_signature(beside, meanings, stated.response, stated.participant)
    )
    found = {
        part: value
        for part, value in (reading.stimulus.items() if reading is not None else ())
        if mapping.stimulus.get(part) == OPEN_QUESTION
        and not {str(leaf) for leaf in leaves_of(value)} & set(cells)
    }
    return mapping.model_copy(update={"stimulus": {**mapping.stimulus, **found}})


def _names_stimuli(reading: Reading) -> bool:
    """Whether a reading says which stimuli stood where, or are learned apart, or what words of rewards are worth."""
    return bool(reading.experiment or reading.recode or {"shown", "cue"} & set(reading.stimulus))


def _is_other(reading: Reading, meanings: Mapping[str, str], stated: AnswerColumns) -> bool:
    """Whether values tell that another column than the one that is called so holds the responses."""
    return (
        bool(reading.response)
        and not stated.response
        and meanings.get(reading.response) != "response"
    )


def _filled(stimulus: Mapping[str, Any], reading: Reading) -> Reading:
    """A reading with the parts that names say, and its own ones where they say nothing."""
    distinct = {part: value for part, value in stimulus.items() if value != OPEN_QUESTION}
    return replace(reading, stimulus={**reading.stimulus, **distinct})


def _with_right_keys(
    signature: TableSignature, chosen: str, stimulus: Mapping[str, Any], stated: AnswerColumns
) -> Reading:
    """The keys of responses with their times, where names of columns say no more than which trials were congruent."""
    nothing = Reading({})
    layout = layouts_to_guess()[chosen]
    if layout.recognise is None or set(stimulus) != {"congruence"} or "side" in stated.stimulus:
        return nothing
    reading = layout.recognise(signature)
    if reading is None or "right_key" not in reading.stimulus:
        return nothing
    if stated.response not in ("", reading.response):
        return nothing
    return replace(reading, stimulus={**reading.stimulus, **stimulus})


def _has_more_alternatives(table: AnswerTable, changes: Mapping[str, Any], kind: str) -> bool:
    """Whether rows were alternatives, of which there are more than a kind of task has options."""
    if "alternative" not in changes or kind not in all_domains():
        return False
    n_chosen = len(set(table.frame[changes["response"]]) - {""})
    return n_chosen > max(len(all_domains()[kind].options), 2)
