"""Studies for responses that exist already."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import pandas as pd

from lakatos.domains import DOMAINS, open_domain
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt, adopt_file
from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.file_conditions import (
    check_attributes,
    check_conditions,
    with_file_conditions,
)
from lakatos.experiments.adoption.layouts import known_layout, names_with_layouts
from lakatos.experiments.adoption.mapping import OPEN_QUESTION, AnswerColumns
from lakatos.experiments.adoption.read_back import possible_conditions
from lakatos.experiments.adoption.study_text import mapping_text, study_text
from lakatos.experiments.adoption.tables import AnswerTable, read_answers
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.participants.archival import trials_to_use_all
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import task_file_of
from lakatos.flows.errors import StudyError
from lakatos.flows.run.places import check_output
from lakatos.theories.engine.scoreboard import LEAST_SEALED
from lakatos.theories.engine.scoring.score import LEAST_OF_INTERVAL
from lakatos.theories.language.family import find_family
from lakatos.traces.artifact import write_whole
from lakatos.traces.wording import plural

MOST_FIRST_RIVALS = 6
UNREAD_TRIALS = 60
"""Distinct trials in a cycle where the file cannot be read before somebody fills in what is open."""
SEALED_SHARE = 0.2
"""Share of distinct trials that is sealed, if that suffices for a verdict; otherwise none is sealed."""


@dataclass(frozen=True)
class NewStudy:
    """A study file that was written for a file of responses."""

    study: Path
    assumed: tuple[str, ...]
    """Guesses from names and values."""
    read: tuple[str, ...]
    """How the file is read, as `how_it_is_read` says; empty where something is still open."""
    open_questions: tuple[str, ...]
    """Questions that the user must answer before it can run."""
    too_few: str = ""
    """That no finding can follow, as `too_few_for_a_finding` states it."""


def describe_file(
    file: Path, domain: str = "", columns: Mapping[str, Any] | None = None
) -> TableDescription:
    """What a file of answers holds, and what its columns seem to mean.

    Raises:
        TrialsError: It cannot be read.
        TaskFileError: There is no such domain.
    """
    found = describe_table(read_answers(file), open_domain(domain) if domain else None)
    return found.with_columns(columns or {})


def how_it_is_read(found: TableDescription, data: Path | None) -> tuple[str, ...]:
    """How a described file is read: what is assumed and left out, some responses read back; or why it is refused."""
    if not found.domain:
        return ()
    assert found.source is not None  # `describe_file` has read it
    domain = found.task or DOMAINS[found.domain]
    try:
        if data is None:  # a data frame
            return adopt(found.source, found.mapping, domain).told
        return _adopted(data, found.source, found.mapping, domain).told
    except TrialsError as error:
        return (f"not read yet: {error}",)


def write_mapping(found: TableDescription, place: Path) -> None:
    """Write what the columns mean as the section of a study file.

    Raises:
        StudyError: The file exists, or it is not known whose trials these are.
    """
    if place.exists():
        raise StudyError(f"{place} exists; name another file, or delete it.")
    if not found.domain:
        raise StudyError(
            "whose trials the file holds is not known, so that no mapping can be written; say --domain."
        )
    write_whole(place, mapping_text(found.mapping, found.task or DOMAINS[found.domain]).encode())


def new_study(
    study: Path,
    data: Path,
    domain: str = "",
    question: str = "",
    *,
    cycles: int = 4,
    columns: Mapping[str, Any] | None = None,
) -> NewStudy:
    """Write a commented study file for a file of responses.

    Args:
        study: The file to write; it must not exist.
        data: The responses.
        domain: Of the trials, or the file that declares it; guessed from the names of columns where it is empty.
        question: Research question of the study.
        cycles: Cycles of search: each collects or releases responses, scores and revises theories.
        columns: Meanings of columns that replace guessed ones.

    Raises:
        UnusableError: ``study`` is in a folder of a run.
        StudyError: It exists, or the domain can be neither read off nor guessed.
        TrialsError: The file of answers cannot be read, or responses of this domain cannot be brought in so.
    """
    if study.exists():
        raise StudyError(f"{study} exists; name another file, or delete it.")
    check_output(study)
    chosen = open_domain(domain) if domain else None
    if chosen is not None:
        known_layout(chosen)
    table = read_answers(data)
    found = describe_table(table, chosen).with_columns(columns or {})
    if not found.domain:
        doubts = "".join(f"{line[:1].upper()}{line[1:]}. " for line in found.doubts)
        raise StudyError(
            f"the kind of task of {data} cannot be guessed from its columns ({', '.join(table.columns[:12])}). {doubts}"
            f"Say --domain: {', '.join(names_with_layouts())}, or the file of a task of your own "
            f"(`lakatos domain new FILE.toml` writes an example). `lakatos data describe {data}` shows its contents."
            f"{found.doubts_in_words}"
        )
    task = chosen or DOMAINS[found.domain]
    open_questions = tuple(_open_questions(found, task))
    few = too_few_for_a_finding(_described_people(found))
    try:
        adopted = None if open_questions else _adopted(data, table, found.mapping, task)
    except TrialsError as error:
        raise (TrialsError(f"{error} {few}") if few else error) from None
    closed = adopted.closed if adopted else {}
    numbers = [len(item.stimuli) for item in adopted.trials] if adopted else []
    can_seal = SEALED_SHARE * min(numbers, default=LEAST_SEALED / SEALED_SHARE) >= LEAST_SEALED
    per_cycle = max(ceil(len(numbers) / cycles), 1)
    beside = study.resolve().parent
    text = study_text(
        name=_name(study.stem),
        question=question or f"How do people choose in {data.name}?",
        domain=task,
        domain_file=os.path.relpath(Path(domain).resolve(), beside) if task_file_of(task) else "",
        file=os.path.relpath(data.resolve(), beside),
        columns=found.mapping,
        theories=tuple(find_family(task).without(closed).seeds)[:MOST_FIRST_RIVALS],
        sealed_share=SEALED_SHARE if can_seal else 0.0,
        cycles=cycles,
        per_cycle=per_cycle,
        trials=trials_to_use_all(numbers, cycles * per_cycle) if numbers else UNREAD_TRIALS,
        conditions={}
        if found.mapping.condition
        else possible_conditions(table.frame, found.mapping),
    )
    study.parent.mkdir(parents=True, exist_ok=True)
    write_whole(study, text.encode())
    notes = adopted.told if adopted else ()
    people = [item.n_participants for item in adopted.trials if not item.pooled] if adopted else []
    few = too_few_for_a_finding(max(people)) if people else few
    return NewStudy(study, tuple(_assumed(found)), notes, open_questions, few)


def _described_people(found: TableDescription) -> int:
    """Participants of a described file, before its rows are read; as many as are needed where no column names them."""
    frame, name = found.source.frame if found.source else pd.DataFrame(), found.mapping.participant
    return int(frame[name].nunique()) if name in frame.columns else LEAST_UNITS


def too_few_for_a_finding(n_people: int) -> str:
    """That nothing follows from so few participants, not even an interval; else empty."""
    if n_people >= LEAST_OF_INTERVAL:
        return ""
    return (
        f"No finding: the file has responses of {plural(n_people, 'participant')}. Responses of at least "
        f"{LEAST_UNITS} are needed."
    )


def _adopted(
    data: Path, table: AnswerTable, mapping: AnswerColumns, domain: Domain
) -> AdoptedAnswers:
    """The experiments of a file that was read, with the second file and the conditions that its mapping may name."""
    found = adopt_file(data, mapping, domain) if mapping.items else adopt(table, mapping, domain)
    check_attributes(found, mapping)
    found = check_conditions(found, mapping, domain)
    if not mapping.condition:
        return found
    return with_file_conditions(found, mapping.condition, domain)


def new_study_place(runs: Path, data: Path) -> Path:
    """A place beside the runs for a study of a file of responses that is not taken."""
    stem, number = _name(data.stem), 1
    while (place := runs / f"{stem}{f'-{number}' if number > 1 else ''}.toml").exists():
        number += 1
    return place


def _name(text: str) -> str:
    """A name for a study, made of letters, digits, points and hyphens."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-_.")[:60] or "answers"


def _open_questions(found: TableDescription, domain: Domain) -> Iterator[str]:
    value = found.mapping.model_dump(exclude_defaults=True)
    for key, item in _walk(value, "participants.columns"):
        if item == OPEN_QUESTION:
            yield key
    response = found.mapping.response
    summary = next((item for item in found.columns if item.name == response), None)
    if summary and not summary.numeric and not found.mapping.responses:
        labels = {label.lower() for label in domain.options}
        is_known = {cell.lower() for cell in summary.examples} <= labels
        if not is_known and (OPEN_QUESTION in str(value) or not _reads(found, domain)):
            yield (
                f"participants.columns.responses: which option is each of {', '.join(summary.examples)}? "
                'For example: responses = { "' + summary.examples[0] + '" = 0, ... }'
            )


def _reads(found: TableDescription, domain: Domain) -> bool:
    """Whether responses are read as they are, so that nobody need say which cell is which option."""
    if found.source is None or found.mapping.items:
        return False
    try:
        adopt(found.source, found.mapping, domain)
    except TrialsError:
        return False
    return True


def _walk(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Each text or number in nested tables and lists, with the key under which it stands."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _walk(item, f"{key}.{name}")
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _walk(item, key)
    else:
        yield key, value


def _plain(value: Any) -> str:
    """A name, names or codes as a sentence lists them."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return str(value)


def _assumed(found: TableDescription) -> Iterator[str]:
    yield f"kind of task = {found.domain}"
    value = found.mapping.model_dump(exclude_defaults=True)
    attributes = value.pop("attributes", ())
    parts = value.pop("stimulus", {})
    for key, item in (value | parts).items():
        if item != OPEN_QUESTION:
            yield f"{key} = {_plain(item)}"
    if attributes:
        yield f"{', '.join(attributes)}: attribute of participants; kept in the file, not used by theories"
    yield from found.odd
