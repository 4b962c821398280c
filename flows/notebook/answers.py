"""Responses of a file or a data frame as the laboratory reads them, without a study."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lakatos.domains import ARCHIVES, DOMAINS, open_domain
from lakatos.domains.published_data import find_reader, load_archive
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt_file, check_adopted
from lakatos.experiments.adoption.adopt import adopt as adopt_table
from lakatos.experiments.adoption.content_order import in_content_order
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.file_conditions import check_attributes
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import ORDER
from lakatos.experiments.adoption.role_reasons import role_reasons
from lakatos.experiments.adoption.tables import (
    AnswerTable,
    read_answers,
    release_cells,
    table_of_frame,
)
from lakatos.experiments.answer_scale import in_window
from lakatos.experiments.conditions import named_conditions
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import knows_outcomes, lacking_inputs
from lakatos.experiments.participants.file import stimulus_columns
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.flows.advice import advice_for_caller, in_callers_words, is_by_command
from lakatos.flows.errors import StudyError
from lakatos.flows.notebook.frames import as_pandas
from lakatos.flows.operations.adopt import how_it_is_read
from lakatos.flows.run.study import load_study
from lakatos.flows.run.task import domain_of
from lakatos.theories.language.theory import Theory
from lakatos.traces.wording import plural

N_SHOWN = 5
"""Rows of responses that a notebook shows."""


@dataclass(frozen=True)
class DataDescription:
    """Guessed content of a table of responses, as `describe` returns it; printing it shows all of it."""

    domain: str
    """Guessed kind of task; empty if none fits."""
    n_rows: int
    columns: pd.DataFrame
    """A row for each column: name, guessed meaning, values, and number of empty cells."""
    facts: tuple[str, ...]
    """Participants, repeated trials, response times, conditions."""
    odd: tuple[str, ...]
    """Oddities that the user should check."""
    mapping: Mapping[str, Any]
    """The guessed meaning of the columns, as `adopt` and a study file take it; "?" where no meaning was guessed."""
    read: tuple[str, ...] = ()
    """Assumptions, exclusions and some responses in words; or the reason why the rows are refused."""

    def __str__(self) -> str:
        lines = [
            f"{plural(self.n_rows, 'row')}, trials of {self.domain or 'no domain that is known'}"
        ]
        lines += [f"  {fact}" for fact in self.facts]
        lines += [self.columns.to_string(index=False)]
        lines += [f"look at this: {line}" for line in self.odd]
        lines += ["how it is read:"] * bool(self.read) + [f"  {line}" for line in self.read]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        before, table, after = str(self).partition(self.columns.to_string(index=False))
        shown = self.columns.to_html(index=False) if table else ""
        return f"<pre>{escape(before)}</pre>{shown}<pre>{escape(after)}</pre>"


def describe(
    data: Any, domain: str = "", columns: Mapping[str, Any] | None = None
) -> DataDescription:
    """Describe a table of responses: kind of task, guessed meaning of each column, oddities; the table is not changed.

    Args:
        data: A path (CSV, Parquet, JSON, SPSS, R, a folder), or a data frame of pandas or polars.
        domain: Kind of task: a domain of the package, or a file that declares one. Guessed by default.
        columns: Meanings of columns that replace guessed ones, as for `adopt`.

    Raises:
        TrialsError: The table cannot be read.
        TaskFileError: There is no such domain.

    Example:
        >>> import lakatos
        >>> print(lakatos.describe("responses.csv"))  # doctest: +SKIP
    """
    with advice_for_caller():
        found = describe_table(table_of(data), open_domain(domain) if domain else None)
        found = found.with_columns(columns or {})
        reasons = role_reasons(found, columns or {})
    table = pd.DataFrame(
        {
            "column": [item.name for item in found.columns],
            "is read as": [found.meaning_of(item) for item in found.columns],
            "because of": [reasons.get(item.name, "") for item in found.columns],
            "values": [item.words for item in found.columns],
            "empty": [item.n_missing for item in found.columns],
        }
    )
    mapping = found.mapping.model_dump(exclude_defaults=True)
    odd = tuple(map(in_callers_words, (*found.doubts, *found.odd, *found.beyond_grid)))
    read = how_it_is_read(found, Path(data) if isinstance(data, str | os.PathLike) else None)
    read = tuple(map(in_callers_words, read))
    return DataDescription(found.domain, found.n_rows, table, found.facts, odd, mapping, read)


@dataclass(frozen=True)
class AnswerSource:
    """File or data frame from which responses were read, so that further columns of its rows can be read."""

    data: Any
    """A path or a data frame."""
    mapping: AnswerColumns
    """Meaning of its columns."""


@dataclass(frozen=True)
class PeoplesAnswers:
    """Responses of participants as theories receive them. Returned by `adopt`, or read from a run."""

    domain: Domain
    trials: tuple[Trials, ...]
    """Responses of each experiment."""
    notes: tuple[str, ...] = ()
    """Exclusions and assumptions."""
    people: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    """Attributes of the participants of each experiment, by column, in their order."""
    closed: Mapping[str, str] = field(default_factory=dict)
    """Properties of trials that a file lacks, with the reason: published theories that need one are not considered."""
    beside: tuple[Mapping[str, Any], ...] = ()
    """Cells of the columns in ``known`` beside each response of each experiment, as text."""
    columns: tuple[str, ...] = ()
    """Columns of the file or data frame."""
    counted_again: str = ""
    """Sentence for a run in which a participant counts once in each of several experiments; otherwise empty."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Participants of a file without a readable response: the reason, by name."""
    source: AnswerSource | None = None
    """File or data frame of the responses; None for a run."""

    def taught(self, theories: Iterable[Theory]) -> tuple[Trials, ...]:
        """The experiments in the order in which theories are fitted to them: for a file, the order of their content.

        The order of participants or responses changes a fit in the fourth digit.
        Rows keep the order of presentation where a theory learns from trial to trial.
        """
        if not self.columns:
            return self.trials
        is_ordered = ORDER not in self.closed and any(theory.learns for theory in theories)
        return in_content_order(self.trials, self.domain, is_ordered=is_ordered)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row for each response (or group of counted responses), with the presented trial in numerical columns.

        ``participant`` is a number within the experiment; ``participant_id`` is the participant's name in the file,
        by which the frame can be merged with other tables, if the file has one.
        """
        parts = []
        names = self.participant_names
        for place, item in enumerate(self.trials):
            part = frame_of(item, self.domain)
            if names:
                part["participant_id"] = names[place]
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    @property
    def participant_names(self) -> list[list[str]]:
        """Names in the file of the participant at each row of each experiment's table; empty if unknown."""
        named = [[str(name) for name in next(iter(beside.values()), ())] for beside in self.beside]
        lengths = [len(item.trial) for item in self.trials]
        return named if [len(names) for names in named] == lengths else []

    @cached_property
    def conditions(self) -> pd.DataFrame:
        """The distinct trials of each experiment, in words and as numerical columns."""
        parts = [
            pd.DataFrame({"experiment": item.experiment, **_shown(item, self.domain)})
            for item in self.trials
        ]
        return pd.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        lines = [
            f"{item.experiment}: {plural(item.n_responses, 'response')} of "
            f"{plural(item.n_people or item.n_participants, 'participant')} to "
            f"{plural(len(item.stimuli), 'trial')}"
            for item in self.trials
        ]
        lines += self.notes
        return f"responses of the task {self.domain.name!r}\n  " + "\n  ".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>{self.frame.head(N_SHOWN).to_html(index=False)}"


def adopt(
    data: Any,
    domain: str = "",
    columns: Mapping[str, Any] | None = None,
    *,
    folder: str = "data",
    known: Sequence[str] = (),
    compared: bool = True,
) -> PeoplesAnswers:
    """Read responses as experiments on which theories can be scored; the meaning of columns is guessed by default.

    Args:
        data: A path, a data frame of pandas or polars, the name of a published data set, or a study, whose responses
            and meanings of columns are taken.
        domain: Kind of task; guessed by default.
        columns: Meanings of columns that replace guessed ones, with the keys of ``[participants.columns]`` in a
            study, as in ``{"response": "choice", "stimulus": {"amounts": ["ss", "ll"], "delays_days": [0, "t"]}}``.
        folder: Folder of published data sets.
        known: Further columns with attributes of participants, such as their group.
        compared: Whether theories are compared on the responses, which takes two participants.

    Raises:
        StudyError: The study file cannot be read, or names no file of responses.
        TrialsError: The data cannot be read, or a column's meaning is neither given nor guessed; the message names it.

    Example:
        >>> responses = lakatos.adopt("responses.csv")  # doctest: +SKIP
        >>> responses.frame.head()  # doctest: +SKIP
    """
    with advice_for_caller():
        found = _adopted(data, domain, columns, folder=folder, known=known, compared=compared)
    release_cells()  # of a million rows 150 MiB, which fits of theories need
    return replace(found, notes=tuple(map(in_callers_words, found.notes)))


def _adopted(
    data: Any,
    domain: str,
    columns: Mapping[str, Any] | None,
    *,
    folder: str,
    known: Sequence[str],
    compared: bool,
) -> PeoplesAnswers:
    """Do the work of `adopt`; notes and refusals name options of commands."""
    if isinstance(data, str) and data in ARCHIVES:
        own = DOMAINS[find_reader(data).domain]
        place = Path(os.environ.get("LAKATOS_DATA", folder))
        trials = load_archive(data, place)
        people = tuple(item.attributes_in_words for item in trials)
        return PeoplesAnswers(own, trials, people=people, closed=lacking_inputs(own, {}))
    if isinstance(data, str | Path) and Path(data).suffix == ".toml":
        return _of_study(Path(data), columns or {}, known)
    table = table_of(data)
    chosen = open_domain(domain) if domain else None
    found = describe_table(table, chosen).with_columns(columns or {})
    found = replace(found, mapping=_with_known(found.mapping, known, table.columns))
    if not found.domain:
        raise TrialsError(
            f"the kind of task of {table.name} cannot be guessed from its columns; say domain=, one of "
            f"{', '.join(DOMAINS)} or a file that declares one. `describe` shows its contents.{found.doubts_in_words}"
        )
    task = chosen or DOMAINS[found.domain]
    items = _items(data, found.mapping)
    adopted = adopt_table(table, found.mapping, task, *items)
    if is_by_command():
        check_attributes(adopted, found.mapping, known)
    if compared:
        check_adopted(adopted)
    return _of_adopted(adopted, task, table.columns, AnswerSource(data, found.mapping))


def _of_study(study: Path, columns: Mapping[str, Any], known: Sequence[str]) -> PeoplesAnswers:
    """Responses in the file of a study, with the meanings of columns that the study states."""
    people, task = load_study(study).participants, domain_of(load_study(study))
    if people.columns is None:
        raise StudyError(f"the study {study} names no file of responses (participants.file).")
    file = Path(people.file)
    mapping = people.columns.model_copy(update=dict(columns))
    mapping = AnswerColumns.model_validate(mapping.model_dump())
    names = read_answers(file).columns
    mapping = _with_known(mapping, known, names)
    adopted = adopt_file(file, mapping, task)
    if is_by_command():
        check_attributes(adopted, mapping, known)
    return _of_adopted(adopted, task, names, AnswerSource(file, mapping))


def _of_adopted(
    adopted: AdoptedAnswers, task: Domain, columns: Sequence[str], source: AnswerSource
) -> PeoplesAnswers:
    """Adopted responses, as `adopt` returns them."""
    return PeoplesAnswers(
        in_window(task, adopted.time_window),
        adopted.trials,
        adopted.in_brief,
        adopted.people,
        adopted.closed,
        adopted.beside,
        tuple(columns),
        excluded=adopted.excluded,
        source=source,
    )


def _with_known(
    mapping: AnswerColumns, known: Sequence[str], columns: Sequence[str]
) -> AnswerColumns:
    """The mapping with further columns of attributes of participants, if there are such columns."""
    further = [name for name in known if name in columns and name not in mapping.attributes]
    return mapping.model_copy(update={"attributes": (*mapping.attributes, *further)})


def table_of(data: Any) -> AnswerTable:
    """A table of text cells from a path or a data frame.

    Raises:
        TrialsError: The table cannot be read.
    """
    if isinstance(data, str | os.PathLike):
        return read_answers(Path(data))
    return table_of_frame("the data frame", as_pandas(data))


def _items(data: Any, columns: AnswerColumns) -> tuple[AnswerTable, ...]:
    """The second table, which lists what each question showed, if the mapping names one."""
    if not columns.items:
        return ()
    beside = Path(data).parent if isinstance(data, str | os.PathLike) else Path()
    return (read_answers(beside / columns.items),)


def _shown(trials: Trials, domain: Domain) -> dict[str, Any]:
    """Each trial in words and as numerical columns."""
    rows = range(len(trials.stimuli))
    described = [domain.describe(trials.stimuli, row) for row in rows]
    return {
        "trial": np.arange(len(rows)),
        "shown": described,
        **stimulus_columns(trials.stimuli),
        **named_conditions(domain, trials.stimuli),
    }


def frame_of(trials: Trials, domain: Domain) -> pd.DataFrame:
    """A row for each response (or group of counted responses) of an experiment, with the presented trial."""
    labels = [*domain.options, *map(str, range(len(domain.options), trials.n_options))]
    people = {} if trials.pooled else {"participant": trials.participant}
    known = trials.stimuli
    if not knows_outcomes(domain, trials):  # zeros that stand for what is not known are not shown
        seen = domain.shown({name: array[:1] for name, array in known.arrays.items()}, {})
        known = Stimuli({name: array for name, array in known.arrays.items() if name in seen})
    return pd.DataFrame(
        {
            "experiment": trials.experiment,
            **people,
            "trial": trials.trial,
            "response": trials.response,
            "option": [labels[place] for place in trials.response],
            "count": trials.count,
            **trials.feedback,
            **{name: column[trials.trial] for name, column in stimulus_columns(known).items()},
            **{
                name: np.array(labels, dtype=object)[trials.trial]
                for name, labels in named_conditions(domain, trials.stimuli).items()
            },
        }
    )
