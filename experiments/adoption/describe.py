"""What a table of answers seems to hold: people, trials, columns and their meanings, what is odd."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from lakatos.experiments.adoption.cell_units import has_units
from lakatos.experiments.adoption.chosen_rows import chosen_rows, with_joined_participant
from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.layouts import (
    DAYS,
    HUNDREDTHS,
    Reading,
    layout_of,
    layouts_to_guess,
)
from lakatos.experiments.adoption.mapping import (
    ONE_PARTICIPANT,
    OPEN_QUESTION,
    AnswerColumns,
    leaves_of,
)
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import (
    MOST_MISSED,
    PLACES,
    TRUTH,
    code_of_pair,
    is_negative,
    option_offered,
    rare_zero,
    zero_question,
)
from lakatos.experiments.adoption.option_kind import (
    KINDS,
    kind_of_columns,
    names_places,
    side_compared,
)
from lakatos.experiments.adoption.own_tasks import own_task_in_words, speaks_of_conflict
from lakatos.experiments.adoption.plausible import (
    MOST_AGAIN,
    STIMULUS_WORDS,
    bad_rows_in_words,
    marks_of_missing,
    response_at_places,
    rows_in_words,
    rows_that_count,
    rows_that_do_not_count,
    shown_option,
    stimuli_at_places,
)
from lakatos.experiments.adoption.prepared import AlternativeRows, alternative_rows, prepared
from lakatos.experiments.adoption.recognised import (
    MISSED,
    accepts,
    code_by_sides,
    completed,
    missed_cells,
    missed_in_words,
    recognised,
    shared_marks,
    sides_of,
)
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.shown_stimuli import places_of_cells
from lakatos.experiments.adoption.side_columns import SIDE, guessed_side, has_places
from lakatos.experiments.adoption.signatures import (
    ITEMS,
    RANKS,
    SCHEDULES,
    ColumnSignature,
    TableSignature,
    order_by_values,
    participant_by_values,
    ranks_rows,
    table_signature,
)
from lakatos.experiments.adoption.step_cells import is_loss, is_reward_in_words, outcome_of_choice
from lakatos.experiments.adoption.tables import AnswerTable, numbers_of, places_of, whole
from lakatos.experiments.adoption.timed_answers import (
    ACCURACY,
    ERRORS,
    folded,
    guessed_correctness,
    guessed_keys,
    guessed_response,
)
from lakatos.experiments.adoption.wide_rows import (
    NUMBER,
    guessed_wide,
    items_in_words,
    numbered_rows,
    wide_in_words,
)
from lakatos.experiments.answer_scale import heaping_in_words, scale_of
from lakatos.experiments.domain_lookup import all_domains
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import HasOutcomes
from lakatos.experiments.task import Domain
from lakatos.traces.wording import plural

NAMES: dict[str, str] = {
    "participant": "participant subject subj sub pid person worker ppt ppn prolific responder respondent user vp vpn "
    "versuchsperson proband probandin teilnehmer teilnehmerin id file",
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
WEAK = {"id", "file", "r"}
"""Words that suggest a meaning only where values speak for it too, or where the name is nothing else."""
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
SUMS = {"total", "balance", "bank"}
"""Words in names of columns of what was won so far."""
IDENTIFIERS = {"id", "ids", "pid", "code", "number", "num", "nr", "no"}
"""Words in names of columns that name participants, beside those such as ``Participant Status``."""
OF_TRIALS = {
    "trial", "stimulus", "stim", "image", "step", "event", "condition", "group", *ITEMS, *SCHEDULES
}  # fmt: skip
"""Words in names of columns of identifiers that are not those of participants."""
TIMED = {"response", "reaction", "decision", "choice"}
"""Words that stand before "time" in names of columns of response times."""
PREDICTIONS = {"prediction", "predicted", "predict"}
OUTCOMES = {"outcome", "actual", "event", "occurred", "result"}
"""Words in names of columns of predictions, and of outcomes, which are rewards where they were predicted."""
GAINS, LOSSES = {"gain", "gains", "win", "wins", "won"}, {"loss", "losses", "lose", "lost"}
"""Words in names of columns of what was won and lost at a step."""
SCHEDULE = {"block", "session", "phase", "run"}
"""Words in names of columns that divide the steps of a task with feedback."""
STAGES = ({"1", "first", "a"}, {"2", "second", "b"})
"""Words in names of columns of choices at the two stages of a trial."""
UNITS = {unit: unit for unit in DAYS} | {unit.removesuffix("s"): unit for unit in DAYS}
UNITS |= {
    "hrs": "hours",
    "wks": "weeks",
    "wk": "weeks",
    "mths": "months",
    "yrs": "years",
    "yr": "years",
}
"""Words for units of delays in names of columns."""
PERSONAL = ("age", "gender", "sex", "group", "country", "education", "language", "diagnosis")
GUESSED_ROLES = ("share", "count", "reward", "order", "experiment", "response time")
"""Meanings that names suggest, which a column has only where the mapping reads it so."""
NUMBERS = frozenset((
    "response", "answer", "estimate", "estimation", "rating", "judgment", "judgement", "guess", "bid", "offer",
    "contribution", "price", "value",
))  # fmt: skip
"""Words of names of columns that may hold answers that are numbers."""
VISITS = {"date", "datum", "fecha", "session", "sess", "visit", "wave", "day"}
"""Words in names of columns that say when a participant took part."""
MOST_SHOWN = 4
LONGEST_SHOWN = 40
"""Letters of a cell."""
LONG_NUMBER = re.compile(r"^(-?\d+[.,]\d{4})\d{3,}$")
"""A number with more decimals than anybody reads."""
FEWEST_ANSWERS = 10
"""Of a person whose answers are all the same, before that is odd."""
FEW_VALUES = 12
LARGE_ID = 1e6
"""Numbers of participants from which on they are shown in full."""
FEWEST_NUMBERS = 6
"""Different values of a column whose numbers may be answers."""


@dataclass(frozen=True)
class ColumnSummary:
    """What one column holds."""

    name: str
    meaning: str
    """What it seems to be; empty where nothing suggests itself."""
    n_missing: int
    n_distinct: int
    numeric: bool
    low: float
    high: float
    examples: tuple[str, ...]

    @property
    def words(self) -> str:
        """Its values, for people to read."""
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


@dataclass(frozen=True)
class TableDescription:
    """What a file seems to hold, and how it would be brought in."""

    name: str
    n_rows: int
    columns: tuple[ColumnSummary, ...]
    domain: str
    """Whose trials these seem to be; empty where none fits."""
    mapping: AnswerColumns
    """Guessed; a question mark stands where nothing could be guessed."""
    facts: tuple[str, ...]
    """People, repeated trials, response times, conditions."""
    odd: tuple[str, ...]
    """What somebody should look at."""
    doubts: tuple[str, ...] = ()
    """What may be read in two ways, with the option for each."""
    beyond_grid: tuple[str, ...] = ()
    """Likewise: what the outcomes of the domain cannot show, as far as columns mean what they seem to mean."""
    source: AnswerTable | None = field(default=None, repr=False, compare=False)
    """The table that was described, as it was read."""
    task: Domain | None = field(default=None, repr=False, compare=False)
    """The domain that the user named; None where it was guessed."""

    @property
    def doubts_in_words(self) -> str:
        """What may be read in two ways, as sentences that a message ends with."""
        return "".join(f" {line[:1].upper()}{line[1:]}." for line in self.doubts)

    def meaning_of(self, column: ColumnSummary) -> str:
        """What a column is read as: its role, or the parts of the trials that it is in, with their unit."""
        mapping, name = self.mapping, column.name
        roles = {
            mapping.participant: "participant",
            mapping.order: "order",
            mapping.experiment: "experiment",
            mapping.response_time: "response time",
            mapping.condition: "condition",
            mapping.response: "response",
            mapping.share: "share",
            mapping.count: "count",
            **{name: f"count of option {place}" for place, name in enumerate(mapping.counts, 1)},
            **dict.fromkeys(mapping.attributes, "of participants"),
        }
        found = []
        for part, cells in (mapping.feedback | mapping.stimulus).items():
            if name in [own for cell in _flat(cells) for own in self._columns_in(str(cell))]:
                unit = mapping.stimulus.get(f"{part.split('_')[0].removesuffix('s')}_unit", "")
                words = "delays" if part == "delays_days" else part.replace("_", " ")
                found.append(f"{words} ({unit})" if unit else words)
        said = roles.get(name) or ", ".join(found)
        is_read = not self.domain or column.meaning not in GUESSED_ROLES
        is_response = bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", mapping.response))
        return said or (column.meaning if is_read or is_response else "")

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
        if not columns:
            return self
        try:
            said = AnswerColumns.model_validate(columns)
            if self.source is not None and any(getattr(said, key) for key in CHANGES_GUESSES):
                # What is missing, recoded, left out or a response changes what the other columns seem to mean.
                task = self.task or (None if self.domain else _implied(said))
                self = replace(_described(self.source, task, said), task=self.task)
            guessed = _beside(self.mapping, said).model_dump(exclude_defaults=True)
            parts = self.mapping.stimulus | said.stimulus
            kept = {part: value for part, value in parts.items() if value != ""}
            kept |= _open_again(kept, said)
            rows = {"where": {**self.mapping.where, **said.where}}
            mapping = AnswerColumns.model_validate(
                guessed | dict(columns) | {"stimulus": kept} | rows
            )
            mapping = _with_named_units(mapping)
            if ONE_PARTICIPANT in mapping.accept and mapping.participant == OPEN_QUESTION:
                mapping = mapping.model_copy(update={"participant": ""})
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"])) or "columns"
            raise TrialsError(
                f"columns: {key}: {first['msg']}; keys are {', '.join(AnswerColumns.model_fields)} "
                "(--column KEY=VALUE, or participants.columns of a study)."
            ) from None
        return replace(self, mapping=mapping)


def describe_table(table: AnswerTable, domain: Domain | None = None) -> TableDescription:
    """Describe a table, and guess what its columns mean.

    Args:
        table: As read.
        domain: Whose trials they are; guessed from the columns' names among those of the package where it is None.
    """
    return _described(table, domain, AnswerColumns())


def _implied(said: AnswerColumns) -> Domain | None:
    """The only kind of task that has the parts of trials that the user names; None where several have, or none."""
    own = {part for part in said.stimulus if part not in (SIDE, "amount_unit")}
    layouts = {name: layout_of(task) for name, task in all_domains().items()}
    fits = [name for name, layout in layouts.items() if layout and own <= set(layout.parts)]
    return all_domains()[fits[0]] if own and len(fits) == 1 else None


CHANGES_GUESSES = (
    "missing", "recode", "where", "wide", "accept", "participant", "experiment", "condition", "alternative", "response",
    "responses", "response_time", "response_time_unit", "stimulus",
)  # fmt: skip
"""Keys of a mapping that change the rows and cells of which meanings are guessed, or what follows from them."""


def _beside(guessed: AnswerColumns, said: AnswerColumns) -> AnswerColumns:
    """Guessed meanings without those of columns that are said to be something else, and of another response."""
    taken = {str(leaf) for leaf in leaves_of([said.stimulus, said.feedback, said.response])}
    keys = ("experiment", "order", "response_time")
    taken |= {said.condition}  # what differs within participants divides no experiments
    changes: dict[str, Any] = {key: "" for key in keys if getattr(guessed, key) in taken - {""}}
    if set(said.stimulus) & {"block", "round", "stage"}:
        changes.pop("order", None)  # both may be one column
    if said.response and said.response != guessed.response:
        changes["responses"] = {}
    return guessed.model_copy(update=changes)


def _open_again(stimulus: Mapping[str, Any], said: AnswerColumns) -> dict[str, str]:
    """Guessed parts of trials whose column is said to be the response, its time or the participant: questions again."""
    taken = {said.response, said.response_time, said.participant} - {""}
    guessed = {part: own for part, own in stimulus.items() if part not in said.stimulus}
    return {
        part: OPEN_QUESTION
        for part, own in guessed.items()
        if part in PARTS_OF_CHOICES and taken & set(map(str, leaves_of(own)))
    }


PARTS_OF_CHOICES = ("amounts", "delays_days", "a_amounts", "b_amounts", "ratings")
"""Of which no column is the response as well."""


def _prepared(
    source: AnswerTable, said: AnswerColumns
) -> tuple[AnswerTable, list[ColumnSummary], dict[str, Any], AlternativeRows | None]:
    """The rows and cells of which meanings are guessed, their columns, and the parts of the mapping they rest on.

    At the end the columns of alternatives, where a row is one of them and no column names them.
    """
    summaries = [_summary(source.frame, name) for name in source.columns]
    meanings = _meanings(source.frame, summaries)
    by_meaning = {meaning: name for name, meaning in meanings.items()}
    who = said.participant or by_meaning.get("participant", "")
    changes = {key: getattr(said, key) for key in ("missing", "recode")}
    named = said.response or by_meaning.get("response", "")
    changes |= {"where": _where(source.frame, said, named)}
    if not said.wide:
        changes["wide"] = guessed_wide(source.frame, who, source.questions)
    elif NUMBER in said.wide:
        changes["wide"] = said.wide
    changes = {key: value for key, value in changes.items() if value}
    if NUMBER in changes.get("wide", ""):
        kept = chosen_rows(source, AnswerColumns(where=changes.get("where", {})))
        note = wide_in_words(source.frame, changes["wide"])
        frame = numbered_rows(kept, changes["wide"], source.questions, source.name)
        source = replace(source, frame=frame, notes=(*source.notes, note))
        changes["participant"] = who
        summaries = [_summary(source.frame, name) for name in source.columns]
        meanings = _with_participant(_meanings(source.frame, summaries), who)
        by_meaning = {meaning: name for name, meaning in meanings.items()}
    rows = alternative_rows(source.frame, who) if not said.alternative else None
    if said.alternative:
        changes |= {"alternative": said.alternative, "choice_set": said.choice_set}
    elif rows is not None and rows.alternative:
        changes |= {"alternative": rows.alternative, "choice_set": rows.choice_set}
        by_meaning["response"] = rows.response
    known = AnswerColumns(
        participant=who,
        response=said.response or by_meaning.get("response", ""),
        order=said.order or by_meaning.get("order", ""),
        experiment=said.experiment or by_meaning.get("experiment", ""),
        **{key: value for key, value in changes.items() if key != "participant"},
    )
    labels = {name: _labels_of_options(source, name, said) for name in source.labels}
    if labels := {name: own for name, own in labels.items() if own}:
        changes["recode"] = {**changes.get("recode", {}), **labels}
        known = known.model_copy(update={"recode": changes["recode"]})
    if not said.missing:
        signature = table_signature(source.frame, meanings)
        missing = shared_marks(signature)
        if known.response in signature.columns and (
            missed := _missed(signature, signature.columns[known.response])
        ):
            missing |= {known.response: missed}
        if missing:
            changes["missing"] = missing
            known = known.model_copy(update={"missing": missing})
    if reward := by_meaning.get("reward", ""):
        known = known.model_copy(update={"feedback": {"reward": reward}})
    is_long = NUMBER in changes.get("wide", "")
    frame = chosen_rows(source, known) if known.where and not is_long else source.frame
    table = prepared(replace(source, frame=frame), known)
    if table.frame is not source.frame:
        summaries = [_summary(table.frame, name) for name in table.columns]
    changes |= {"response": known.response} if known.alternative else {}
    return table, summaries, changes, None if known.alternative else rows


def _labels_of_options(
    source: AnswerTable, response: str, said: AnswerColumns
) -> Mapping[str, str]:
    """What a file of SPSS says that the cells of a column are, where these are words for two options.

    A label such as ``no answer`` makes a cell empty.
    """
    labels = source.labels.get(response, {})
    is_said = response in said.recode or bool(set(said.responses) & set(labels))
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


def _with_participant(meanings: Mapping[str, str], who: str) -> dict[str, str]:
    """The meanings of columns, given the one that names participants."""
    rest = {name: own for name, own in meanings.items() if own != "participant" and name != who}
    return rest | {who: "participant"}


def _where(frame: pd.DataFrame, said: AnswerColumns, response: str) -> dict[str, Any]:
    """The rows that count: those that the user names, and of them none of practice unless these are accepted."""
    if "practice_rows" in said.accept:
        return dict(said.where)
    used = {said.participant, said.response, said.experiment, said.condition, *said.attributes}
    used |= {str(leaf) for leaf in leaves_of([said.stimulus, said.feedback])} | set(said.where)
    return {**rows_that_count(frame, sorted(used), response), **said.where}


def _practice_in_words(
    frame: pd.DataFrame, where: Mapping[str, Any], said: AnswerColumns
) -> list[str]:
    """Which rows of practice or of nobody are left out without the user having said so."""
    lines = []
    for column, wanted in where.items():
        if column in said.where:
            continue
        kept = {wanted} if isinstance(wanted, str) else set(wanted)
        cells = frame[column].str.strip()
        rows = frame.index.to_numpy()[(~cells.isin(kept) & (cells != "")).to_numpy()]
        others = sorted(set(cells) - kept - {""})
        why = f"{column} is {' or '.join(others[:3])}" if wanted else f"{column} is not empty"
        told = rows_that_do_not_count(frame, column)
        is_said = told and told[2].startswith(("missed", "attention"))
        what = told[2] if told and is_said else "practice or of nobody"
        lines.append(
            f"{rows_named(rows)} are left out as {what}, since {why}; --accept practice_rows reads them"
        )
    return lines


def _described(source: AnswerTable, domain: Domain | None, said: AnswerColumns) -> TableDescription:
    """Describe a table as far as ``said`` changes its rows and cells."""
    source = with_joined_participant(source, said.participant)
    table, summaries, changes, nameless = _prepared(source, said)
    meanings = _meanings(table.frame, summaries)
    if who := changes.get("participant", "") or said.participant:
        meanings = _with_participant(meanings, who)
    response = changes.get("response", said.response)
    if response in table.columns:
        meanings = {n: m for n, m in meanings.items() if m != "response"}
        meanings[response] = "response"
    columns = tuple(
        ColumnSummary(**{**vars(item), "meaning": meanings.get(item.name, "")})
        for item in summaries
    )
    chosen, stimulus = _guessed_stimulus(_without_practice(table.frame), domain)
    if not chosen:
        chosen = _task_with_feedback(table, meanings)
    reading, kinds = _recognised(table, meanings, chosen, stimulus, domain, said)
    if len(kinds) == 1:
        chosen = kinds[0]
    if domain is None and (nameless or _has_more_alternatives(table, changes, chosen)):
        chosen, stimulus, reading, kinds = "", {}, Reading({}), ()
    stimulus = dict(reading.stimulus) if reading.stimulus else stimulus
    if reading.response in table.columns:
        meanings = {name: meaning for name, meaning in meanings.items() if meaning != "response"}
        meanings[reading.response] = "response"
    mapping = _mapping(table, meanings, chosen, stimulus, said)
    mapping = _with_reading(mapping, reading, said)
    if reading.recode and "recode" in changes:
        changes["recode"] = {**reading.recode, **changes["recode"]}
    mapping = mapping.model_copy(update=changes)
    mapping = _with_times(table, mapping, reading, said)
    if chosen and not mapping.order and (order := _ranked(table, meanings, mapping)):
        mapping = mapping.model_copy(update={"order": order})
    mapping = _with_named_units(mapping)
    parts, again_in_words = _again_in_words(table, mapping, domain or all_domains().get(chosen))
    if parts and not set(parts) & set(said.stimulus):
        mapping = mapping.model_copy(update={"stimulus": {**mapping.stimulus, **parts}})
    mapping, side_in_words = _with_side(table, mapping, domain or all_domains().get(chosen), said)
    items = "" if mapping.wide else items_in_words(table.frame, mapping.participant)
    if domain is not None and scale_of(domain) is None and mapping.response == "?":
        named = _columns_of_labels(table, domain)
        mapping = mapping.model_copy(update={"response": named[0] if len(named) == 1 else "?"})
    if isinstance(domain, HasOutcomes):
        mapping = _with_outcomes(mapping, meanings, table, domain)
    task = domain or (all_domains()[chosen] if chosen else None)
    if task is not None and scale_of(task) is not None:
        mapping = _with_numbers(mapping, table, columns, task, said, reading.response)
        columns = tuple(_with_meaning(item, mapping) for item in columns)
    return TableDescription(
        name=table.name,
        n_rows=len(table.frame),
        columns=columns,
        domain=chosen,
        mapping=mapping,
        facts=tuple(_facts(table, mapping, columns)),
        doubts=(
            *_doubts(
                reading,
                kinds,
                ""
                if chosen or nameless
                else _own_task(table, meanings, is_long="alternative" in changes),
            ),
            *_alternatives_in_words(changes, said),
            *((_nameless_in_words(nameless),) if nameless else ()),
            *((items,) if items and not chosen else ()),
        ),
        odd=(
            *table.notes,
            *_practice_in_words(source.frame, changes.get("where", {}), said),
            *_labels_in_words(source, changes, said),
            *(() if said.participant else _taken_by_values(meanings)),
            *(line for line in reading.notes if not _is_answered(line, said)),
            *side_in_words,
            *(line for line in again_in_words if not set(parts) & set(said.stimulus)),
            *_assumed_unit(source, mapping, said),
            *_assumed_chances(table, mapping, reading),
            *_not_counting(table, mapping, chosen),
            *bad_rows_in_words(
                table.frame,
                {str(leaf) for leaf in leaves_of(mapping.model_dump(exclude={"attributes"}))}
                | set(said.where)
                | set(changes.get("where", {})),
            ),
            *(() if chosen else _marks_in_words(table, columns)),
            *_odd(table, mapping, columns),
            *_always_the_same(table, mapping),
            *_heaped(table, columns),
        ),
        beyond_grid=tuple(_beyond_the_grid(table, mapping, columns, task)),
        source=source,
        task=domain,
    )


def _recognised(
    table: AnswerTable,
    meanings: Mapping[str, str],
    chosen: str,
    stimulus: Mapping[str, Any],
    domain: Domain | None,
    said: AnswerColumns,
) -> tuple[Reading, tuple[str, ...]]:
    """What values are recognised as where names leave something open, and the kinds of tasks that fit.

    Where several kinds fit, or none, the reading is empty.
    """
    nothing = Reading({})
    is_known = (
        bool(chosen) and bool(stimulus) and OPEN_QUESTION not in _flat(list(stimulus.values()))
    )
    named_response = "response" in meanings.values() or bool(said.response)
    is_timed = is_known and set(stimulus) == {"congruence"}
    if is_known and named_response and not is_timed:
        return nothing, ()
    is_paid = "reward" in meanings.values() or _won_and_lost(table) != OPEN_QUESTION
    frame = _without_practice(table.frame)
    signature = table_signature(frame, meanings, said.response, said.participant)
    if domain is not None and domain.sequential and named_response and is_paid:
        layout = layouts_to_guess().get(domain.name)
        reading = layout.recognise(signature) if layout and layout.recognise else None
        if reading is None or not (_names_stimuli(reading) or _is_other(reading, meanings, said)):
            return nothing, ()
        return reading, ()
    if is_known and domain is None:
        task = all_domains()[chosen]
        if scale_of(task) is not None or task.sequential:
            return _with_right_keys(signature, chosen, stimulus, said), ()
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


def _ranked(table: AnswerTable, meanings: Mapping[str, str], mapping: AnswerColumns) -> str:
    """The column that is called a rank and numbers the rows of each participant, where no column counts them."""
    used = {str(leaf) for leaf in leaves_of(mapping.model_dump())}
    named = [
        name for name in table.columns if set(words_of(name)) & RANKS and name not in used
        and meanings.get(name, "order") == "order"
    ]  # fmt: skip
    if len(named) != 1 or mapping.participant not in table.columns:
        return ""
    person = places_of(table.frame[mapping.participant])
    column = ColumnSignature(named[0], table.frame[named[0]].str.strip().reset_index(drop=True))
    return named[0] if ranks_rows(column, person) else ""


def _names_stimuli(reading: Reading) -> bool:
    """Whether a reading says which stimuli stood where, or are learned apart, or what words of rewards are worth."""
    return bool(reading.experiment) or bool(reading.recode) or "shown" in reading.stimulus


def _is_other(reading: Reading, meanings: Mapping[str, str], said: AnswerColumns) -> bool:
    """Whether values tell that another column than the one that is called so holds the responses."""
    return (
        bool(reading.response)
        and not said.response
        and meanings.get(reading.response) != "response"
    )


def _filled(stimulus: Mapping[str, Any], reading: Reading) -> Reading:
    """A reading with the parts that names say, and its own ones where they say nothing."""
    said = {part: value for part, value in stimulus.items() if value != OPEN_QUESTION}
    return replace(reading, stimulus={**reading.stimulus, **said})


def _with_right_keys(
    signature: TableSignature, chosen: str, stimulus: Mapping[str, Any], said: AnswerColumns
) -> Reading:
    """The keys of responses with their times, where names of columns say no more than which trials were congruent."""
    nothing = Reading({})
    layout = layouts_to_guess()[chosen]
    if layout.recognise is None or set(stimulus) != {"congruence"} or "side" in said.stimulus:
        return nothing
    reading = layout.recognise(signature)
    if reading is None or "right_key" not in reading.stimulus:
        return nothing
    if said.response not in ("", reading.response):
        return nothing
    return replace(reading, stimulus={**reading.stimulus, **stimulus})


def _with_reading(mapping: AnswerColumns, reading: Reading, said: AnswerColumns) -> AnswerColumns:
    """The mapping with what values are recognised as."""
    changes: dict[str, Any] = {}
    is_compared = reading.response != "" and mapping.response.startswith(f"{reading.response} == ")
    if reading.response and not is_compared:
        changes["response"] = reading.response
    elif not reading.response and reading.questions:
        changes["response"] = said.response or OPEN_QUESTION
    if reading.responses and not is_compared:
        changes["responses"] = dict(reading.responses)
    if reading.feedback:
        changes["feedback"] = dict(reading.feedback)
    if reading.recode:
        changes["recode"] = dict(reading.recode)
    if reading.missing:
        changes["missing"] = dict(reading.missing)
    if reading.order:
        changes["order"] = reading.order
    if reading.time:
        changes["response_time"] = reading.time
    if reading.experiment:
        changes["experiment"] = reading.experiment
    if reading.response and reading.response in (mapping.experiment, mapping.order):
        changes |= {
            key: "" for key in ("experiment", "order") if getattr(mapping, key) == reading.response
        }
    return mapping.model_copy(update=changes)


def _with_side(
    table: AnswerTable, mapping: AnswerColumns, domain: Domain | None, said: AnswerColumns
) -> tuple[AnswerColumns, tuple[str, ...]]:
    """The mapping with the column that says where options stood, where responses follow it, and what to say of it."""
    is_said = said.responses or SIDE in said.stimulus or "==" in said.response
    if domain is None or not has_places(domain) or is_said:
        return mapping, ()
    known = mapping.model_copy(update={"stimulus": {**mapping.stimulus, **said.stimulus}})
    try:
        name, words = guessed_side(table.frame, known, domain.options)
    except TrialsError:  # a part is open, or names no column of numbers, which the reading says
        return mapping, ()
    if not name:
        return mapping, ()
    stimulus = {**mapping.stimulus, SIDE: name}
    return mapping.model_copy(update={"stimulus": stimulus}), (words,)


def _with_times(
    table: AnswerTable, mapping: AnswerColumns, reading: Reading, said: AnswerColumns
) -> AnswerColumns:
    """The mapping with the user's column of times and its unit, or that of a column that values tell."""
    changes: dict[str, Any] = {}
    if reading.time or said.response_time:
        changes["response_time"] = time = said.response_time or reading.time
        changes["response_time_unit"] = _unit(table, time if time in table.columns else "")
    if "response_time_unit" in said.model_fields_set:
        changes["response_time_unit"] = said.response_time_unit
    return mapping.model_copy(update=changes)


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


def _again_in_words(
    table: AnswerTable, mapping: AnswerColumns, domain: Domain | None
) -> tuple[dict[str, Any], list[str]]:
    """Where few participants took part twice: the part of the trials that says so, and what to say of it."""
    name, people = _visits(table, mapping)
    if not name:
        return {}, []
    more = ", ..." if len(people) > MOST_SHOWN else ""
    told = (
        f"{', '.join(people[:MOST_SHOWN])}{more} took part more than once: {name} has several values there, with "
        f"{mapping.order} beginning anew"
    )
    if domain is None or not domain.sequential or "block_start" in mapping.stimulus:
        return {}, [told]
    who = table.frame[mapping.participant]
    firsts = (
        table.frame.groupby([who, name], sort=False).size().groupby(level=0, sort=False).first()
    )
    starts = set(firsts[people])
    if len(starts) > 1 or who.value_counts().drop(people).max() > min(starts):
        return {}, [
            f"{told}. What was learned is taken to go on; to leave these rows out, delete them from the file"
        ]
    return {"block_start": name}, [
        f"{told}. What was learned is taken to begin anew there (--column block_start={name}); --column block_start= "
        "takes all of their rows as one game"
    ]


def _has_more_alternatives(table: AnswerTable, changes: Mapping[str, Any], kind: str) -> bool:
    """Whether rows were alternatives, of which there are more than a kind of task has options."""
    if "alternative" not in changes or kind not in all_domains():
        return False
    n_chosen = len(set(table.frame[changes["response"]]) - {""})
    return n_chosen > max(len(all_domains()[kind].options), 2)


def _alternatives_in_words(changes: Mapping[str, Any], said: AnswerColumns) -> tuple[str, ...]:
    """With which options rows are read as alternatives, where the user did not say so."""
    if said.alternative or "alternative" not in changes:
        return ()
    options = (
        f"--column alternative={changes['alternative']} --column choice_set={changes['choice_set']}"
    )
    return (f"rows are read as alternatives, of which one was chosen: {options}",)


def _nameless_in_words(rows: AlternativeRows) -> str:
    """What to do where each row is one alternative and no column names the alternatives."""
    return (
        f"{rows.response} is 1 in exactly one row for each {rows.choice_set}, so that a row seems to be one "
        "alternative of a choice, and no column names the alternatives. Add one (first, second and so on within each "
        f"choice), and say --column alternative=COLUMN --column choice_set={rows.choice_set}"
    )


def _places_in_words(table: AnswerTable, meanings: Mapping[str, str]) -> str:
    """What to say where columns show the same stimuli at changing places; empty where none do."""
    frame = _without_practice(table.frame)
    named = {meaning: name for name, meaning in meanings.items()}
    response, who = named.get("response", ""), named.get("participant", "")
    judged = set(words_of(response)) & ACCURACY
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


def _own_task(table: AnswerTable, meanings: Mapping[str, str], *, is_long: bool) -> str:
    signature = table_signature(_without_practice(table.frame), meanings)
    if told := _places_in_words(table, meanings):
        return told
    words = own_task_in_words(signature, 2 if is_long else 3)
    is_wide = bool(items_in_words(table.frame, signature.participant))
    if (
        not words
        and "response_time" in meanings.values()
        and any(set(words_of(name)) & (ACCURACY | ERRORS) for name in table.columns)
    ):
        if not speaks_of_conflict(signature):
            return (
                "these are responses with their times, and no column speaks of congruence: kinds of tasks here are "
                "choices between options, and tasks in which something distracts from the right response"
            )
        return (
            "these may be responses with their times, as in a Stroop, flanker or Simon task: if a column says which "
            "trials were congruent, say --column congruence=COLUMN"
        )
    has_codes = bool(signature.participant) and any(
        2 <= len(item.distinct) <= FEW_VALUES for item in signature.free
    )
    if not words and "response" not in meanings.values() and not is_wide and not has_codes:
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


def _doubts(reading: Reading, kinds: Sequence[str], own_task: str) -> tuple[str, ...]:
    """What values leave open: which of several kinds of tasks, which of several columns, a kind that is not here."""
    doubts = list(reading.questions)
    if own_task and len(kinds) < 2:
        doubts.append(own_task)
    if len(kinds) > 1:
        options = " or ".join(f"--domain {kind}" for kind in kinds)
        doubts.append(f"the columns fit several kinds of tasks; say which: {options}")
    return tuple(doubts)


def _labels_in_words(
    source: AnswerTable, changes: Mapping[str, Any], said: AnswerColumns
) -> list[str]:
    lines = []
    for column, own in changes.get("recode", {}).items():
        if column not in said.recode and column in source.labels:
            told = ", ".join(f"{cell} is {label or 'no response'}" for cell, label in own.items())
            lines.append(f"{column}: {told}, as labels of the file say")
    return lines


def _taken_by_values(meanings: Mapping[str, str]) -> list[str]:
    """The column that is taken for that of participants by its values alone, for the user to check."""
    words = set(NAMES["participant"].split())
    return [
        f"{name} is taken for the participant by its values; --column participant=COLUMN says another one"
        for name, meaning in meanings.items()
        if meaning == "participant" and not words & set(words_of(name))
    ]


def _without_practice(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns that do not belong to practice trials alone; all of them where there are no others."""
    kept = [name for name in frame.columns if not _is_of_practice(frame, str(name))]
    return frame[kept] if kept else frame


def _is_of_practice(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column's name speaks of practice; a train may be one on rails where every row says something."""
    words = set(words_of(name)) & PRACTICE
    return bool(words) and not (words == {"train"} and bool((frame[name] != "").all()))


def _with_named_units(mapping: AnswerColumns) -> AnswerColumns:
    """The mapping with the units that names of columns of delays and amounts say, where nothing else says them."""
    return _with_unit_of_amounts(_with_unit_of_delays(mapping))


def _with_unit_of_amounts(mapping: AnswerColumns) -> AnswerColumns:
    """The mapping with cents as the unit of amounts, where the names of all of their columns say so."""
    parts = {part: value for part, value in mapping.stimulus.items() if part.endswith("amounts")}
    names = [leaf for value in parts.values() for leaf in _flat(value) if isinstance(leaf, str)]
    is_in_cents = [bool(set(words_of(name)) & HUNDREDTHS) for name in names]
    if "amount_unit" in mapping.stimulus or not any(is_in_cents):
        return mapping
    # Where some names say so and others do not, nobody knows the unit of the others.
    unit = "cents" if all(is_in_cents) else OPEN_QUESTION
    return mapping.model_copy(update={"stimulus": {**mapping.stimulus, "amount_unit": unit}})


def _with_unit_of_delays(mapping: AnswerColumns) -> AnswerColumns:
    """The mapping with the unit that names of columns of delays say, where nothing else says it."""
    if "delay_unit" in mapping.stimulus or "delays_days" not in mapping.stimulus:
        return mapping
    names = [leaf for leaf in _flat(mapping.stimulus["delays_days"]) if isinstance(leaf, str)]
    units = {UNITS[word] for name in names for word in words_of(name) if word in UNITS}
    if len(units) != 1 or units == {"days"}:
        return mapping
    stimulus = {**mapping.stimulus, "delay_unit": units.pop()}
    return mapping.model_copy(update={"stimulus": stimulus})


def _not_counting(table: AnswerTable, mapping: AnswerColumns, kind: str) -> list[str]:
    """Rows of practice and of nobody, where the file cannot be read yet; else the reading itself asks about them."""
    if kind and OPEN_QUESTION not in leaves_of(mapping.model_dump()):
        return []
    found = {name: rows_that_do_not_count(table.frame, name) for name in table.columns}
    return [rows_in_words(table.frame, name, *own) for name, own in found.items() if own]


def _is_answered(line: str, said: AnswerColumns) -> bool:
    """Whether the option that an assumption names was given."""
    return any(f"--column {part}=" in line for part in said.stimulus)


def _assumed_unit(source: AnswerTable, mapping: AnswerColumns, said: AnswerColumns) -> list[str]:
    """That delays are taken to be days, where neither names of columns nor cells nor the user say a unit."""
    parts = mapping.stimulus | said.stimulus
    if "delay_unit" in parts:
        return []
    assumed = []
    for leaf in _flat(parts.get("delays_days", [])):
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


def _assumed_chances(table: AnswerTable, mapping: AnswerColumns, reading: Reading) -> list[str]:
    """That probabilities are taken for numbers that no column says, where nothing else says so."""
    assumed = [
        f"--column '{part}={json.dumps(value)}'"
        for part, value in mapping.stimulus.items()
        if part.endswith("probabilities") and not reading.notes
        and any(isinstance(leaf, float) and 0 < leaf < 1 for leaf in _flat(value))
    ]  # fmt: skip
    words = "probabilities that no column says are taken to be"
    return [f"{words} {' and '.join(assumed)}"] if assumed else []


def _marks_in_words(table: AnswerTable, columns: Sequence[ColumnSummary]) -> list[str]:
    """Rare numbers such as -99 or 999 that may stand for missing values, where no reading asks about them."""
    lines = []
    for item in columns:
        values = numbers_of(table.frame[item.name]).dropna().to_numpy() if item.numeric else []
        for mark in marks_of_missing(np.asarray(values, dtype=np.float64)):
            n_rows = int((np.asarray(values) == mark).sum())
            if abs(mark) in MISSING_MARKS and n_rows <= MOST_MISSED * len(table.frame):
                lines.append(
                    f"{item.name}: {mark:g} in {plural(n_rows, 'row')} may stand for a missing value; "
                    f"--column missing.{item.name}={mark:g} says so"
                )
    return lines


MISSING_MARKS = {99.0, 999.0, 9999.0, 77.0, 88.0, 777.0, 888.0}


def _summary(frame: pd.DataFrame, name: str) -> ColumnSummary:
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


def _meanings(frame: pd.DataFrame, summaries: Sequence[ColumnSummary]) -> dict[str, str]:
    """The meaning that each column's name suggests; each meaning goes to the column whose name tells it best."""
    found: dict[str, str] = {}
    names = set(_without_practice(frame).columns)
    has_ids = any(_is_id_of_rows(item, len(frame)) for item in summaries)
    for meaning, words in NAMES.items():
        ranked = []
        for item in summaries:
            said = words_of(item.name)
            hits = [place for place, word in enumerate(words.split()) if _names_it(said, word)]
            if meaning == "response_time" and "time" in said and TIMED & set(said):
                hits = [0]
            if hits and item.name not in found and item.name in names and _can_be(item, meaning):
                # Of several columns about participants, the one that tells them apart.
                is_name = len(said) == 1 or bool(set(said) & IDENTIFIERS)
                is_other = meaning == "participant" and not (is_name and item.n_distinct > 1)
                is_none = meaning == "participant" and has_ids and not _tells_apart(item)
                ranked.append((is_none, hits[0], is_other, len(said), item.name))
        if ranked:
            found[min(ranked)[-1]] = meaning
    _add_roles_by_values(frame, found)
    who = next((name for name, meaning in found.items() if meaning == "participant"), "")
    for item in summaries:
        of_people = item.name not in found and set(words_of(item.name)) & set(PERSONAL)
        if of_people and (not who or _is_fixed(frame, who, item.name)):
            found[item.name] = "attribute of people"
    return found


def _is_id_of_rows(item: ColumnSummary, n_rows: int) -> bool:
    """Whether a column names the participant of each row, as ``ResponseId`` does: no numbers, no trials, none twice."""
    said = set(words_of(item.name))
    is_named = bool(said & IDENTIFIERS) and not said & OF_TRIALS
    return is_named and not item.numeric and item.n_distinct == n_rows > 1


def _tells_apart(item: ColumnSummary) -> bool:
    """Whether a column varies, and is no property of participants such as their language."""
    said = set(words_of(item.name))
    return item.n_distinct > 1 and (bool(said & IDENTIFIERS) or not said & set(PERSONAL))


def _add_roles_by_values(frame: pd.DataFrame, found: dict[str, str]) -> None:
    """Add the participant where values tell it, and drop meanings that values speak against."""
    kinds = set(found.values())
    if "participant" not in kinds and not {"count", "share"} <= kinds:
        columns = table_signature(frame, {}).columns
        columns = {n: own for n, own in columns.items() if not own.words & set(PERSONAL)}
        if who := participant_by_values(columns):
            found[who] = "participant"
    for name in [name for name, meaning in found.items() if meaning == "experiment"]:
        if frame[name].nunique() < 2:
            del found[name]  # one name tells no experiments apart
    if "participant" in found.values():
        for name in [name for name, meaning in found.items() if meaning == "count"]:
            del found[name]
        who = next(name for name, meaning in found.items() if meaning == "participant")
        named = [name for name, meaning in found.items() if meaning == "experiment"]
        for name in named:
            if _counts_choices(frame, who, name):
                del found[name]


def _counts_choices(frame: pd.DataFrame, who: str, name: str) -> bool:
    """Whether a column counts the choices of each participant, as ``Task`` does in files of conjoint analyses."""
    numbers = numbers_of(frame[name])
    if numbers.isna().any() or numbers.nunique() <= FEWEST_NUMBERS:
        return False
    steps = numbers.groupby(frame[who], sort=False).diff().dropna()
    return bool(len(steps)) and bool(((steps == 0) | (steps == 1)).mean() > 0.95)


def _names_it(said: Sequence[str], word: str) -> bool:
    """Whether the words of a name hold a word; a single letter must be all of it."""
    return list(said) == [word] if len(word) == 1 and word in WEAK else word in said


def _is_fixed(frame: pd.DataFrame, who: str, name: str) -> bool:
    """Whether a column says the same in all rows of each participant, as far as it says anything."""
    said = frame[[who, name]][(frame[name] != "").to_numpy()]
    return bool((said.groupby(who, sort=False)[name].nunique() <= 1).all())


def _can_be(item: ColumnSummary, meaning: str) -> bool:
    """Whether a column's values, and the other words of its name, allow a meaning."""
    if meaning in ("response", "response_time", "reward") and set(words_of(item.name)) & SUMMARIES:
        return False
    if meaning == "response":
        return 2 <= item.n_distinct <= FEW_VALUES
    if meaning == "reward":
        return item.numeric or is_reward_in_words(item.examples) or has_units(item.examples)
    if meaning == "response_time" and set(words_of(item.name)) & {"confidence", "conf"}:
        return False
    if meaning in ("response_time", "share"):
        return item.numeric or has_units(item.examples)
    if meaning in ("order", "count"):
        return item.numeric and (meaning == "count" or item.n_distinct > 1)
    if meaning == "participant":
        strong = set(NAMES["participant"].split()) - WEAK
        return item.n_distinct > 1 or bool(set(words_of(item.name)) & strong)
    return item.n_distinct <= 200


def _guessed_stimulus(frame: pd.DataFrame, domain: Domain | None) -> tuple[str, dict[str, Any]]:
    """The domain, and the parts of its trials, that the columns suggest: by their names, else by their values."""
    if domain is not None:
        layout = layout_of(domain)
        if layout is None:
            return domain.name, {}
        return domain.name, layout.guessed(frame) or dict.fromkeys(layout.needed, "?")
    names, layouts = [str(name) for name in frame.columns], layouts_to_guess()
    named = {name: layout for name, layout in layouts.items() if layout.guess(names)}
    for name, layout in (named | layouts).items():
        if found := layout.guessed(frame):
            return name, found
    return "", {}


def _mapping(
    table: AnswerTable,
    meanings: dict[str, str],
    domain: str,
    stimulus: dict[str, Any],
    said: AnswerColumns,
) -> AnswerColumns:
    """What the columns mean, as far as it can be guessed; which cell is which option follows from what is said."""
    by_meaning = {meaning: name for name, meaning in meanings.items()}
    used = {str(leaf) for value in stimulus.values() for leaf in _flat(value)}
    free = {key: name for key, name in by_meaning.items() if name not in used}
    attributes = tuple(
        name for name, meaning in meanings.items() if meaning.startswith("attribute")
    )
    common: dict[str, Any] = {"attributes": attributes}
    if "participant" not in free and "count" in free and len(words_of(free["count"])) <= 2:
        common |= {"count": free["count"], "share": free.get("share", "?")}
        return AnswerColumns(**common, stimulus=stimulus)
    time = free.get("response_time", "")
    common["experiment"] = free.get("experiment", "")
    response = free.get("response", "?")
    shown = stimulus | said.stimulus
    if SIDE not in said.stimulus:
        response = side_compared(table.frame, response, shown) or response
    common |= {
        "participant": free.get("participant", "?"),
        "response": response,
        "responses": _guessed_code(table, response, shown),
        "order": free.get("order", ""),
        "response_time": time,
        "response_time_unit": _unit(table, time),
    }
    if domain in all_domains() and all_domains()[domain].sequential:
        places = said.responses.values()
        n_options = max(*places, 1) + 1 if places else _guessed_options(table, response)
        stimulus = {"options": n_options, **stimulus}
        if second := _second_stage(table, response, free.get("order", "")):
            stimulus |= second
        named, both = free.get("reward", ""), _won_and_lost(table)
        if both != OPEN_QUESTION and set(words_of(named)) & (GAINS | LOSSES):
            named = ""  # a column of gains is half of the reward where another has the losses
        won = _prediction_came_true(table, response) or _of_choice(table, named, response)
        lost = _lost(table) if both == OPEN_QUESTION else ""
        reward = won or lost or both
        common["feedback"] = {"reward": reward}
    return AnswerColumns(**common, stimulus=stimulus)


def _task_with_feedback(table: AnswerTable, meanings: Mapping[str, str]) -> str:
    """The kind of task in which only a choice and its reward stand in each row; empty where rows hold more.

    A column of numbers that means nothing yet may be a property of the options, so nothing is guessed then.
    """
    known = set(meanings.values())
    gains = _won_and_lost(table)
    named = next((name for name, meaning in meanings.items() if meaning == "response"), "")
    is_paid = "reward" in known or gains != OPEN_QUESTION or _prediction_came_true(table, named)
    if not {"participant", "response"} <= known or not is_paid:
        return ""
    tasks = [name for name, task in all_domains().items() if task.sequential]
    response = next(name for name, meaning in meanings.items() if meaning == "response")
    explained = {*columns_in(gains, table.frame), *_second_stage(table, response, "").values()}
    unexplained = [
        name
        for name in table.columns
        if not meanings.get(name)
        and name not in explained
        and not set(words_of(name)) & (SCHEDULE | STIMULUS_WORDS | OUTCOMES | SUMS)
        and numbers_of(table.frame[name]).nunique() > 1
    ]
    return tasks[0] if len(tasks) == 1 and not unexplained else ""


def _prediction_came_true(table: AnswerTable, response: str) -> str:
    """The reward as whether a prediction came true, where a column of outcomes has the cells of one of predictions."""
    if response not in table.columns or not set(words_of(response)) & PREDICTIONS:
        return ""
    said = set(table.frame[response].str.strip()) - {""}
    came = [
        name
        for name in table.columns
        if name != response
        and set(words_of(name)) & OUTCOMES
        and set(table.frame[name].str.strip()) - {""} <= said
    ]
    if len(came) != 1:
        return ""
    return f"{response} == {came[0]}"


def _won_and_lost(table: AnswerTable) -> str:
    """The reward as what two columns of gains and losses say together; a question where there are no such columns.

    Where every row has a gain and a loss, they may be what a gamble offers, not what was won and lost.
    """
    of = [[n for n in table.columns if set(words_of(n)) & kind] for kind in (GAINS, LOSSES)]
    if not all(len(names) == 1 for names in of):
        return OPEN_QUESTION
    gain, loss = of[0][0], of[1][0]
    lost = numbers_of(table.frame[loss]).dropna()
    if (lost != 0).all() and (numbers_of(table.frame[gain]).dropna() != 0).all():
        return OPEN_QUESTION
    return f"{gain} - {loss}" if (lost > 0).any() else f"{gain} + {loss}"


def _lost(table: AnswerTable) -> str:
    """The reward as what the only column of losses, shocks or costs says, turned round; empty without any."""
    lost = [n for n in table.columns if is_loss(n, numbers_of(table.frame[n]).to_numpy())]
    return f"-{lost[0]}" if len(lost) == 1 and table.frame[lost[0]].nunique() > 1 else ""


def _of_choice(table: AnswerTable, reward: str, response: str) -> str:
    """The reward as the outcome of the option chosen, where its column is that of one option; else as it is."""
    cells = table.frame[response].unique().tolist() if response in table.columns else ()
    return outcome_of_choice(reward, response, cells, table.columns) or reward


def _second_stage(table: AnswerTable, response: str, order: str) -> dict[str, str]:
    """The choice at the second stage and the state before it, where a row is a trial of two stages."""
    words = set(words_of(response))
    if not words & STAGES[0]:
        return {}
    rest = words - STAGES[0]
    second = [n for n in table.columns if set(words_of(n)) & STAGES[1] and rest <= set(words_of(n))]
    state = [n for n in table.columns if "state" in words_of(n) and n not in second]
    if len(second) != 1:
        return {}
    return {"second_choice": second[0], "state": state[0] if len(state) == 1 else OPEN_QUESTION}


def _guessed_options(table: AnswerTable, response: str) -> int | str:
    """How many options steps have; a question where 0 is so rare that it may stand for no answer."""
    if response not in table.columns:
        return 2
    if rare_zero(table.frame[response].str.strip().tolist()):
        return OPEN_QUESTION
    cells = table.frame[response].str.strip()
    said = cells[cells != ""]
    numbers = numbers_of(said)
    if len(said) and numbers.notna().all():
        return n_options_in_a_row(set(numbers.tolist()))
    return int(said.nunique())


def n_options_in_a_row(codes: Collection[float]) -> int:
    """The number of options that numbers stand for: those in a row from 0 or 1; all of them where none is 0 or 1.

    A number outside of the row, such as -999 or 99, is no option; its rows are refused later.
    """
    first = next((number for number in (0, 1) if number in codes), None)
    if first is None:
        return len(codes)
    last = first
    while last + 1 in codes:
        last += 1
    return max(last - first + 1, 2)


def _columns_of_labels(table: AnswerTable, domain: Domain) -> list[str]:
    """Columns whose cells are the labels of a domain's options."""
    labels = {label.lower() for label in domain.options}
    cells = {name: set(table.frame[name].str.strip().str.lower()) - {""} for name in table.columns}
    return [name for name, said in cells.items() if len(said) > 1 and said <= labels]


def _with_outcomes(
    mapping: AnswerColumns,
    meanings: Mapping[str, str],
    table: AnswerTable,
    domain: Domain,
) -> AnswerColumns:
    """The mapping with a column for everything that follows a choice in a declared task."""
    assert isinstance(domain, HasOutcomes)
    by_meaning = {meaning: name for name, meaning in meanings.items()}
    names = table.columns
    found = {name: name if name in names else OPEN_QUESTION for name in domain.outcome_names}
    came_true = _prediction_came_true(table, mapping.response)
    if found["reward"] == OPEN_QUESTION:
        named = by_meaning.get("reward", OPEN_QUESTION)
        found["reward"] = came_true or _of_choice(table, named, mapping.response)
    events = _events(table, mapping.response, domain.options) if came_true else []
    for name, event in zip(list(found)[1:], events, strict=False):
        if found[name] == OPEN_QUESTION:  # an option would have paid where it is what came
            found[name] = f"{came_true.partition(' == ')[2]} == {event!r}"
    return mapping.model_copy(update={"feedback": found})


def _events(table: AnswerTable, response: str, options: Sequence[str]) -> list[str]:
    """The cell that stands for each option: its label, or numbers in their order; nothing where that is not known."""
    said = sorted(set(table.frame[response].str.strip()) - {""})
    by_label = {cell.casefold(): cell for cell in said}
    labels = [by_label.get(label.casefold(), "") for label in options]
    if all(labels):
        return labels
    is_number = len(said) == len(options) and all(cell.isdigit() for cell in said)
    return sorted(said, key=int) if is_number else []


def _with_numbers(
    mapping: AnswerColumns,
    table: AnswerTable,
    columns: Sequence[ColumnSummary],
    domain: Domain,
    said: AnswerColumns,
    recognised_response: str,
) -> AnswerColumns:
    """The mapping with the column that holds numbers, or keys with their times.

    Where the user names the right key, responses are keys, and a column of right and wrong is none.
    """
    scale = scale_of(domain)
    assert scale is not None  # see `describe_table`
    used = {str(leaf) for value in mapping.stimulus.values() for leaf in _flat(value)}
    if scale.kind != "timed":
        if recognised_response in table.columns and not said.response:
            return mapping
        named = [item.name for item in columns if _may_be_answers(item) and item.name not in used]
        response = named[0] if named else "?"
        return mapping.model_copy(update={"response": response, "responses": {}})
    used |= {mapping.participant, mapping.response_time, mapping.order}
    right_key = str((mapping.stimulus | said.stimulus).get("right_key", ""))
    has_keys = bool(right_key)
    rows = _without_practice(_shown_rows(table.frame, mapping))
    response = said.response or recognised_response
    if response not in table.columns and "==" not in response:
        response = guessed_response(
            rows, used | {right_key}, mapping.response, has_keys=has_keys, right_key=right_key
        )
    code = {}
    if response in table.columns and (not has_keys or right_key in table.columns):
        told = [response, right_key] if has_keys else [response]
        shown = _shown_rows(table.frame, mapping)
        cells = {str(cell) for name in told for cell in folded(shown[name].unique())} - {""}
        if not has_keys:
            code = guessed_correctness(cells, response)
        elif cells <= {str(cell) for cell in folded(shown[told[1]].unique())} | {""}:
            code = guessed_keys(
                cells
            )  # a key that is never right is asked for when responses are read
    if not code and response == mapping.response:
        code = mapping.responses
    changes = {
        "response": response,
        "responses": code,
        "order": "" if _begins_anew(table.frame, mapping) else mapping.order,
        "response_time": mapping.response_time or "?",
    }
    return mapping.model_copy(update=changes)


def _shown_rows(frame: pd.DataFrame, mapping: AnswerColumns) -> pd.DataFrame:
    """The rows in which some column of the trials says something; all where no column is known."""
    told = [leaf for leaf in leaves_of(mapping.stimulus) if leaf in frame.columns]
    return frame[(frame[told] != "").any(axis=1)] if told else frame


def _begins_anew(frame: pd.DataFrame, mapping: AnswerColumns) -> bool:
    """Whether numbers of trials occur twice for a person, as where they begin anew in each block; copies aside."""
    told = [mapping.participant, mapping.experiment, mapping.order]
    named = [name for name in told if name in frame.columns]
    if mapping.order not in named:
        return False
    rows = frame[(frame[mapping.order] != "").to_numpy()].drop_duplicates()
    return bool(rows.duplicated(named).any())


def _with_meaning(item: ColumnSummary, mapping: AnswerColumns) -> ColumnSummary:
    """A column with what the mapping takes it for, where that is another meaning than its name alone suggests."""
    parts = [part for part, value in mapping.stimulus.items() if item.name in _flat(value)]
    if parts:
        return replace(item, meaning=parts[0])
    if item.name == mapping.response:
        return replace(item, meaning="response")
    return replace(item, meaning="") if item.meaning == "response" else item


def _flat(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _flat(item)] if isinstance(value, list) else [value]


def _guessed_code(table: AnswerTable, response: str, stimulus: Mapping[str, Any]) -> dict[str, int]:
    """Which cell names which option, where the words for the two are known: left and right, ss and ll.

    Words for places say nothing where columns name options by what they are, nor the other way round.
    """
    if response not in table.columns:
        return {}
    said = {cell for cell in table.frame[response].str.strip().unique() if cell}
    if is_negative(response):
        return {}
    code, kind = code_of_pair(said), kind_of_columns(stimulus)
    words = {word for cell in said for word in words_of(cell)}
    names_kinds = any(words & (less | more) for less, more in KINDS.values())
    is_placed = not words <= PLACES or names_places(stimulus)
    if stimulus and (not is_placed or (names_kinds and not kind)):
        return {}
    column = ColumnSignature(response, table.frame[response].str.strip())
    code = code or code_by_sides(column, sorted(said), sides_of(stimulus))
    offered = option_offered(stimulus) if stimulus else None
    if code or offered is None:
        return code
    taken = accepts(column, sorted(said))
    return {cell: offered if place else 1 - offered for cell, place in taken.items()}


def _unit(table: AnswerTable, column: str) -> Any:
    """Seconds where half of the times are below 20, else milliseconds."""
    if not column:
        return "ms"
    values = numbers_of(table.frame[column]).dropna()
    return "s" if len(values) and float(values.median()) < 20 else "ms"


# Facts ----------------------------------------------------------------------------------------


def _facts(
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
        said = frame[mapping.response].value_counts()
        shares = [
            f"{cell[:LONGEST_SHOWN] or '(empty)'} {n / len(frame):.0%}"
            for cell, n in said.head(6).items()
        ]
        facts.append(f"responses: {', '.join(shares)}")
    if mapping.response_time in table.columns:
        times = numbers_of(frame[mapping.response_time]).dropna()
        quartiles = np.quantile(times, [0.25, 0.5, 0.75]) if len(times) else np.zeros(3)
        unit = mapping.response_time_unit
        facts.append(
            f"response times: half of them {quartiles[0]:g} to {quartiles[2]:g} {unit}, median {quartiles[1]:g} {unit}"
        )
    facts.extend(_repeated(table, mapping))
    return facts


def _repeated(table: AnswerTable, mapping: AnswerColumns) -> list[str]:
    """How many different trials the rows show."""
    parts = {k: own for k, own in mapping.stimulus.items() if k not in (SIDE, "block_start")}
    told = {name for leaf in leaves_of(parts) for name in columns_in(str(leaf), table.frame)}
    shown = [name for name in table.columns if name in told]
    if not shown:
        return []
    n_trials = len(table.frame[shown].drop_duplicates())
    return [
        f"{plural(n_trials, 'different trial')}, each in {len(table.frame) / n_trials:.1f} rows on average"
    ]


def _odd(table: AnswerTable, mapping: AnswerColumns, columns: Sequence[ColumnSummary]) -> list[str]:
    """What should be looked at before anything is believed."""
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
    if _begins_anew(table.frame, mapping):
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
    told = [mapping.participant, mapping.experiment, mapping.order]
    is_twice = frame.duplicated([name for name in told if name in frame.columns]).to_numpy()
    people = frame[mapping.participant]
    again = people[is_twice].unique()
    return f" ({', '.join(again)} alone)" if len(again) <= MOST_AGAIN * people.nunique() else ""


def _odd_times(table: AnswerTable, mapping: AnswerColumns) -> list[str]:
    """Response times that no person has."""
    if mapping.response_time not in table.columns:
        return []
    values = numbers_of(table.frame[mapping.response_time])
    times = values * (1000.0 if mapping.response_time_unit == "s" else 1.0)
    fast, slow = int((times < 150).sum()), int((times > 60_000).sum())
    odd = [f"{plural(fast, 'response time')} below 150 ms"] if fast else []
    return odd + ([f"{plural(slow, 'response time')} above a minute"] if slow else [])


def _always_the_same(table: AnswerTable, mapping: AnswerColumns) -> list[str]:
    """People who gave one and the same response all the time."""
    if not {mapping.participant, mapping.response} <= set(table.columns):
        return []
    answered = table.frame[table.frame[mapping.response] != ""]
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


def _heaped(table: AnswerTable, columns: Sequence[ColumnSummary]) -> list[str]:
    """Columns of numbers that people rounded, as far as their names say that they are answers."""
    found = []
    for item in columns:
        if _may_be_answers(item):
            numbers = numbers_of(table.frame[item.name]).dropna()
            if said := heaping_in_words(numbers.tolist()):
                found.append(f"{item.name}: {said}")
    return found


def _may_be_answers(item: ColumnSummary) -> bool:
    """Whether a column's name says that it may hold answers that are numbers, and it has more than a few."""
    return (
        item.numeric
        and item.n_distinct >= FEWEST_NUMBERS
        and bool(set(words_of(item.name)) & NUMBERS)
    )


def _beyond_the_grid(
    table: AnswerTable,
    mapping: AnswerColumns,
    columns: Sequence[ColumnSummary],
    domain: Domain | None,
) -> list[str]:
    """What the outcomes of a domain cannot show of the answers or of their times."""
    scale = None if domain is None else scale_of(domain)
    if scale is None:
        return []
    column = mapping.response_time if scale.kind == "timed" else mapping.response
    if column not in table.columns and scale.kind != "timed":
        column = next((item.name for item in columns if _may_be_answers(item)), column)
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
    said = f"{column}: {scale.fit_in_words(numbers.tolist())}"
    if has_range and not numbers.between(*ends).all():
        said += " Where the file has another range, say it: x_range and y_range are what stands for -1 and 1."
    return [said]
