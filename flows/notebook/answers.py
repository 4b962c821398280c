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
    """What a table of answers seems to hold; printing it shows all."""

    domain: str
    """Whose trials these seem to be; empty where none fits."""
    n_rows: int
    columns: pd.DataFrame
    """A row for each column: its name, what it seems to mean, its values, and how many cells are empty."""
    facts: tuple[str, ...]
    """People, repeated trials, response times, conditions."""
    odd: tuple[str, ...]
    """What somebody should look at."""
    mapping: Mapping[str, Any]
    """The guessed meaning of the columns, as `adopt` and a study file take it; "?" where nothing was guessed."""
    read: tuple[str, ...] = ()
    """How the rows are read: what is assumed and left out, and some responses read back; or why they are refused."""

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
    """Say what a table of answers holds, and what its columns seem to mean; nothing is changed.

    Args:
        data: A path (CSV, Parquet, JSON, SPSS, R, a folder), or a data frame of pandas or polars.
        domain: Whose trials these are: a domain of the package, or a file that declares one. Guessed by default.
        columns: Meanings of columns that replace guessed ones, as for `adopt`.

    Raises:
        TrialsError: It cannot be read.
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
    """From where responses were read, so that more of the same rows can be read."""

    data: Any
    """A path or a data frame."""
    mapping: AnswerColumns
    """What its columns mean."""


@dataclass(frozen=True)
class PeoplesAnswers:
    """People's responses as theories see them. Made by `adopt`, or read from a run."""

    domain: Domain
    trials: tuple[Trials, ...]
    """Of each experiment."""
    notes: tuple[str, ...] = ()
    """What was left out or assumed."""
    people: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    """For each experiment what is known of its people, by column, in their order."""
    closed: Mapping[str, str] = field(default_factory=dict)
    """What a file does not show, and why: published theories that need it are not considered."""
    beside: tuple[Mapping[str, Any], ...] = ()
    """For each experiment the cells of further columns beside each response, of those named as known, in text."""
    columns: tuple[str, ...] = ()
    """Of the file or data frame."""
    counted_again: str = ""
    """Of a run: a sentence where a participant counts once in each of several experiments."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Participants of a file none of whose responses are read, and why, by name."""
    source: AnswerSource | None = None
    """Of a file or data frame."""

    def taught(self, theories: Iterable[Theory]) -> tuple[Trials, ...]:
        """The experiments as theories are fitted to them: those of a file in the order of their content.

        A fit ends at another number in the fourth digit where participants, or their responses, stand in another order.
        Rows keep the order of presentation where a theory learns from trial to trial.
        """
        if not self.columns:
            return self.trials
        is_ordered = ORDER not in self.closed and any(theory.learns for theory in theories)
        return in_content_order(self.trials, self.domain, is_ordered=is_ordered)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row for each answer (or group of counted responses), with what was shown in columns of numbers.

        ``participant`` is a number within the experiment; ``participant_id`` is what the file says of the participant,
        by which the frame can be merged with other tables, where that is known.
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
        """For each experiment the participant at each row of its table, as a file names them; empty if unknown."""
        named = [[str(name) for name in next(iter(beside.values()), ())] for beside in self.beside]
        lengths = [len(item.trial) for item in self.trials]
        return named if [len(names) for names in named] == lengths else []

    @cached_property
    def conditions(self) -> pd.DataFrame:
        """The different trials of each experiment: in words, and as columns of numbers."""
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
    """Read responses as experiments on which theories can be scored; what columns mean is guessed unless you say it.

    Args:
        data: A path, a data frame of pandas or polars, the name of a published data set, or a study, whose responses
            and meanings of columns are taken.
        domain: Whose trials these are; guessed by default.
        columns: Meanings of columns that replace guessed ones, with the keys of ``[participants.columns]`` in a
            study, as in ``{"response": "choice", "stimulus": {"amounts": ["ss", "ll"], "delays_days": [0, "t"]}}``.
        folder: Where published data sets are.
        known: Further columns that say something of people, such as their group.
        compared: Whether theories are compared on them, which takes two participants.

    Raises:
        StudyError: It is a study file that cannot be read, or names no file of responses.
        TrialsError: It cannot be read, or a column's meaning is neither told nor guessed; the message names it.

    Example:
        >>> answers = lakatos.adopt("responses.csv")  # doctest: +SKIP
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
    """What `adopt` returns; notes and refusals name options of commands."""
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
    """The responses that a study's own file holds, with the meanings of columns that it says."""
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
    """What was adopted, as responses at hand."""
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
    """The mapping with further columns that say something of people, where there are such columns."""
    further = [name for name in known if name in columns and name not in mapping.attributes]
    return mapping.model_copy(update={"attributes": (*mapping.attributes, *further)})


def table_of(data: Any) -> AnswerTable:
    """A table of text cells from a path or a data frame.

    Raises:
        TrialsError: It cannot be read.
    """
    if isinstance(data, str | os.PathLike):
        return read_answers(Path(data))
    return table_of_frame("the data frame", as_pandas(data))


def _items(data: Any, columns: AnswerColumns) -> tuple[AnswerTable, ...]:
    """The second table that says what each question showed, where the mapping names one."""
    if not columns.items:
        return ()
    beside = Path(data).parent if isinstance(data, str | os.PathLike) else Path()
    return (read_answers(beside / columns.items),)


def _shown(trials: Trials, domain: Domain) -> dict[str, Any]:
    """What each trial shows: in words, and as columns of numbers."""
    rows = range(len(trials.stimuli))
    described = [domain.describe(trials.stimuli, row) for row in rows]
    return {
        "trial": np.arange(len(rows)),
        "shown": described,
        **stimulus_columns(trials.stimuli),
        **named_conditions(domain, trials.stimuli),
    }


def frame_of(trials: Trials, domain: Domain) -> pd.DataFrame:
    """A row for each response (or group of counted responses) of an experiment, with what was shown."""
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
