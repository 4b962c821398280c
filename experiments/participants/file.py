"""Responses that were collected elsewhere, read from a table and checked row by row before any of them is taken.

One row is one response. Columns:

``participant``        who answered, as the collector calls them; kept nowhere, only a keyed pseudonym of it is
``experiment``         name of the experiment; may be left out where only one is open
``trial``              row of the design's trials, from 0; or instead the stimulus' own columns, see `stimulus_columns`
``response``           the option chosen: its label, or its place from 0
``response_time_ms``   optional
``key``                in place of ``response``, where a response is a key with its time: the place of the key
                       pressed, from the left and from 0, empty where none was; needs ``response_time_ms``
``order``              optional: place among the person's responses; rows are in order otherwise
``status``             optional, the same in all rows of a person: ``completed`` (default), ``partial``, ...
``checks_passed``, ``checks_failed``, ``comprehension_attempts``, ``language``, ``consent``     optional, likewise
feedback               a column for each name where something followed a response, such as ``reward``
"""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from lakatos.experiments.adoption.tables import AnswerTable
from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import STATUSES, PersonAnswers
from lakatos.experiments.participants.source import (
    NewParticipants,
    Recruitment,
    SourceProfile,
    StudySettings,
    Waiting,
    check_new_people,
)
from lakatos.experiments.participants.table import check_answers, domain_feedback
from lakatos.experiments.participants.timed_answer import TimedPress, timed_columns, timed_task
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.task import Design, Domain, Stimuli
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest, canonical_json

ASKED_FOLDER = "asked"
"""Folder of a run with the trials of each experiment, for whoever collects elsewhere."""
WHOLE = ("trial", "order", "checks_passed", "checks_failed", "comprehension_attempts")
PER_PERSON = (
    "status",
    "checks_passed",
    "checks_failed",
    "comprehension_attempts",
    "language",
    "consent",
)
KNOWN = ("participant", "experiment", "response", "response_time_ms", *WHOLE, *PER_PERSON)


class FileParticipants(NewParticipants):
    """People who are asked elsewhere; their responses are brought in as a file."""

    sections: ClassVar[frozenset[str]] = frozenset(
        {"space", "exclusions", "privacy", "confirmation"}
    )
    profile: ClassVar[SourceProfile] = SourceProfile(
        origin="people",
        brought_by="`lakatos data import` brings their responses",
        responds_later=True,
        one_by_one=True,
    )

    def __init__(self, folder: Path, *, domain: Domain, settings: Mapping[str, Any]) -> None:
        """Make a source that waits for answers collected elsewhere.

        Args:
            folder: Folder of the run; the trials to present are written there, in ``asked``.
            domain: Makes the stimuli that people can be asked.
            settings: Describe the design space to the domain.
        """
        self.folder, self.domain, self.settings = Path(folder), domain, settings

    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Write down what to ask, as a table and as JSON; see `ParticipantSource`."""
        check_new_people(preregistration, design, self.domain, "people elsewhere")
        place = self.folder / ASKED_FOLDER / design.name.replace("/", "_")
        write_whole(
            place.with_name(f"{place.name}.json"), canonical_json(design_to_json(design)) + b"\n"
        )
        write_whole(place.with_name(f"{place.name}.csv"), asked_table(design, self.domain).encode())
        return Recruitment(key, design.name, design.n_participants)

    def collect(self, recruitment: Recruitment, n_participants: int) -> Waiting:
        """Wait: an import leaves responses in the inbox by itself."""
        return Waiting()

    @classmethod
    def of_study(cls, study: StudySettings) -> Self:
        """People who are asked elsewhere what a study asks."""
        return cls(study.folder, domain=study.domain, settings=study.space)

    def want(self, recruitment: Recruitment, n_participants: int) -> None:
        """Do nothing: the researcher who collects recruits as many as the run waits for."""

    def close(self, recruitment: Recruitment) -> None:
        """Do nothing: no participant is recruited from here."""


def asked_table(design: Design, domain: Domain) -> str:
    """The trials of a design as a table: row, description, and the stimulus' own columns."""
    out = io.StringIO()
    columns = stimulus_columns(design.stimuli)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["trial", "times", "description", *columns])
    for row in range(len(design.stimuli)):
        described = domain.describe(design.stimuli, row)
        writer.writerow(
            [
                row,
                design.repetitions,
                described,
                *(f"{column[row]:.17g}" for column in columns.values()),
            ]
        )
    return out.getvalue()


def stimulus_columns(stimuli: Stimuli) -> dict[str, np.ndarray[Any, Any]]:
    """The stimuli as columns of numbers: an array of shape ``(n_trials, 2, 3)`` is ``name.0.0``, ``name.0.1``, ..."""
    columns = {}
    for name, array in sorted(stimuli.arrays.items()):
        for index in np.ndindex(array.shape[1:]):
            columns[".".join([name, *map(str, index)])] = np.asarray(
                array[(slice(None), *index)], dtype=np.float64
            )
    return columns


def read_answers(
    table: AnswerTable, designs: Mapping[str, Design], domain: Domain, name_of: Callable[[str], str]
) -> list[PersonAnswers]:
    """Read each person's responses, checked against the designs of the experiments that are open.

    Args:
        table: As `read_cells` reads it.
        designs: Designs by name of the experiment.
        domain: Domain of the task.
        name_of: A person's identifier in the file to a pseudonym.

    Raises:
        TrialsError: Something is missing, unknown or was not asked; the message names file, row and remedy.
    """
    _check_columns(table, designs, domain)
    people: dict[tuple[str, str], FileRows] = {}
    only = next(iter(designs)) if len(designs) == 1 else None
    for number, row in _rows_of(table):
        experiment = str(row.get("experiment") or only or "")
        if experiment not in designs:
            _refuse(
                table,
                number,
                f"names the experiment {experiment!r}; there are {', '.join(designs)}",
            )
        participant = str(row["participant"])
        if not participant:
            _refuse(table, number, "names no participant; fill in who responded")
        people.setdefault((experiment, participant), []).append((number, row))
    if not people:
        raise TrialsError(f"{table.name} has no rows below its header.")
    return [
        _person(table, rows, designs[experiment], domain, name_of(participant))
        for (experiment, participant), rows in people.items()
    ]


def _check_columns(table: AnswerTable, designs: Mapping[str, Design], domain: Domain) -> None:
    if not designs:
        raise TrialsError(
            "no experiment waits for responses; run the study until it waits for participants."
        )
    own = {name for design in designs.values() for name in stimulus_columns(design.stimuli)}
    feedback = {name for design in designs.values() for name in domain_feedback(domain, design)}
    keys = ["key"] if timed_task(domain) is not None else []
    known = [*dict.fromkeys(KNOWN), *keys, *sorted(own), *sorted(feedback)]
    if keys and {"key", "response"} <= set(table.columns):
        raise TrialsError(
            f"{table.name}: row 1 has the columns 'key' and 'response'; give the key with its time, or the outcome "
            "that these are, not both."
        )
    for name in table.columns:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = (
                f"did you mean {near[0]!r}?"
                if near
                else f"the columns are {', '.join(dict.fromkeys(KNOWN))}."
            )
            raise TrialsError(f"{table.name}: row 1 has an unknown column {name!r}; {hint}")
    has_keys = timed_task(domain) is not None and "response" not in table.columns
    answered = ["key", "response_time_ms"] if has_keys else ["response"]
    needed = ["participant", *answered, *sorted(feedback)]
    if len(designs) > 1:
        needed.append("experiment")
    missing = next((name for name in needed if name not in table.columns), None)
    if missing is not None:
        raise TrialsError(
            f"{table.name}: row 1 lacks the column {missing!r}; it needs {', '.join(needed)}, and trial."
        )
    if "trial" not in table.columns and not own <= set(table.columns):
        lacking = sorted(own - set(table.columns))
        raise TrialsError(
            f"{table.name}: row 1 names no trials; give the column 'trial' (row of the design's trials, from 0), or "
            f"all of the stimulus' own columns (lacking {', '.join(lacking[:4])}{', ...' if len(lacking) > 4 else ''})."
        )


FileRows = list[tuple[int, dict[str, str]]]
"""Rows of a file with their numbers there."""


def _rows_of(table: AnswerTable) -> FileRows:
    """The rows of a table with their numbers; blanks around cells do not count, nor do rows of empty cells."""
    numbers = [int(number) for number in table.frame.index]
    columns = [[cell.strip() for cell in table.frame[name]] for name in table.frame]
    rows = zip(*columns, strict=True)
    return [
        (number, dict(zip(table.columns, row, strict=True)))
        for number, row in zip(numbers, rows, strict=True)
        if any(row)
    ]


def _person(
    table: AnswerTable,
    rows: FileRows,
    design: Design,
    domain: Domain,
    person: str,
) -> PersonAnswers:
    """One person's responses, checked against the design."""
    rows = _in_order(table, rows)
    _check_alike(table, rows)
    given = _given_answers(table, rows, design, domain)
    number, first = rows[0]
    status = str(first.get("status") or "completed")
    if status not in STATUSES:
        _refuse(table, number, f"has the status {status!r}; give one of {', '.join(STATUSES)}")
    n_passed, n_failed, n_attempts = (
        _count(table, number, name, first.get(name, ""))
        for name in ("checks_passed", "checks_failed", "comprehension_attempts")
    )
    answers = PersonAnswers(
        experiment=design.name,
        person=person,
        status=status,
        **given,
        feedback={
            name: tuple(_number(table, number, name, row[name]) for number, row in rows)
            for name in domain_feedback(domain, design)
        },
        checks=(True,) * n_passed + (False,) * n_failed,
        comprehension_attempts=n_attempts,
        consent=str(first.get("consent", "")),
        language=str(first.get("language", "")),
        source="file",
    )
    try:
        check_answers(answers, design, domain)
    except TrialsError:
        _refuse_first(table, [number for number, _ in rows], answers, design, domain)
    wanted = design.n_presentations
    if status == "completed" and len(rows) < wanted:
        _refuse(
            table,
            rows[-1][0],
            f"is the last of {len(rows)} responses of a participant with the status 'completed', to whom {wanted} "
            "trials were presented; give the status 'partial', or the missing responses",
        )
    return answers


def _in_order(table: AnswerTable, rows: FileRows) -> FileRows:
    """A person's rows as the column ``order`` puts them; as the file has them where there is none."""
    if "order" not in table.columns:
        return rows
    places = {
        number: _number(table, number, "order", row["order"], whole=True) for number, row in rows
    }
    if len(set(places.values())) != len(rows):
        _refuse(
            table,
            rows[-1][0],
            "has the same order as another response of this participant; number them",
        )
    return sorted(rows, key=lambda item: places[item[0]])


def _check_alike(table: AnswerTable, rows: FileRows) -> None:
    """Refuse rows of one person that differ in what is said of the person."""
    first, known = rows[0]
    for name in PER_PERSON:
        for number, row in rows:
            if row.get(name, "") != known.get(name, ""):
                _refuse(
                    table,
                    number,
                    f"has another {name} than row {first} of the same participant; give one for all",
                )


def _given_answers(
    table: AnswerTable, rows: FileRows, design: Design, domain: Domain
) -> dict[str, Any]:
    """Trials, responses and times; in a timed task these come from keys."""
    trial = [_trial(table, number, row, design) for number, row in rows]
    task = timed_task(domain) if "key" in table.columns else None
    if task is not None:
        presses = [
            _press(table, number, row, place, task.n_keys(design.stimuli))
            for (number, row), place in zip(rows, trial, strict=True)
        ]
        return timed_columns(task, design.stimuli, presses, "left_out")
    response = [_response(table, number, row["response"], domain, design) for number, row in rows]
    return {
        "trial": tuple(trial),
        "response": tuple(response),
        "response_time_ms": _response_times(table, rows),
    }


def _response_times(table: AnswerTable, rows: FileRows) -> tuple[float, ...]:
    """Times of all of a person's responses, or of none."""
    without = [number for number, row in rows if row.get("response_time_ms", "") == ""]
    if len(without) == len(rows):
        return ()
    if without:
        _refuse(
            table,
            without[0],
            "has no response time, and other responses of this participant have one",
        )
    return tuple(
        _number(table, number, "response_time_ms", row["response_time_ms"]) for number, row in rows
    )


def _count(table: AnswerTable, number: int, name: str, value: object) -> int:
    """A whole number; 0 where the cell is empty."""
    return 0 if value == "" else int(_number(table, number, name, value, whole=True))


def _refuse_first(
    table: AnswerTable,
    numbers: Sequence[int],
    answers: PersonAnswers,
    design: Design,
    domain: Domain,
) -> NoReturn:
    """Name the row of the first answer to something that was not asked."""
    for end, number in enumerate(numbers, start=1):
        part = replace(
            answers,
            trial=answers.trial[:end],
            response=answers.response[:end],
            response_time_ms=answers.response_time_ms[:end],
            key=(),
            interval_ms=(),
            left_out=(),
            missed=(),
            feedback={name: column[:end] for name, column in answers.feedback.items()},
        )
        try:
            check_answers(part, design, domain)
        except TrialsError as error:
            _refuse(
                table,
                number,
                f"holds what was not presented: {str(error).split(': ')[-1].removesuffix('.')}",
            )
    raise AssertionError("the answers are as asked")


def _trial(table: AnswerTable, number: int, row: Mapping[str, Any], design: Design) -> int:
    if "trial" in table.columns:
        found = int(_number(table, number, "trial", row["trial"], whole=True))
        if found >= len(design.stimuli):
            last = len(design.stimuli) - 1
            _refuse(
                table,
                number,
                f"responds to trial {found}, which was not presented; there are 0 to {last}",
            )
        return found
    columns = stimulus_columns(design.stimuli)
    fits = np.ones(len(design.stimuli), dtype=bool)
    for name, column in columns.items():
        value = _number(table, number, name, row[name], negative=True)
        fits &= np.isclose(column, value, rtol=1e-9, atol=1e-9)
    rows = np.flatnonzero(fits)
    if len(rows) != 1:
        found_words = (
            "was not presented"
            if len(rows) == 0
            else f"stands for trials {', '.join(map(str, rows))}"
        )
        _refuse(
            table,
            number,
            f"responds to a stimulus that {found_words}; give the column 'trial', or only stimuli that were presented",
        )
    return int(rows[0])


def _press(
    table: AnswerTable, number: int, row: Mapping[str, Any], trial: int, n_keys: int
) -> TimedPress:
    """Read the key and its time in a trial; without a key nothing was pressed."""
    time = row.get("response_time_ms", "")
    if row["key"] == "":
        return TimedPress(
            trial, None, 0.0 if time == "" else _number(table, number, "response_time_ms", time)
        )
    key = int(_number(table, number, "key", row["key"], whole=True))
    if key >= n_keys:
        _refuse(table, number, f"has the key {key}; give 0 to {n_keys - 1}, from the left")
    if time == "":
        _refuse(table, number, "has a key and no response time; an answer is a key with its time")
    return TimedPress(trial, key, _number(table, number, "response_time_ms", time))


def _response(table: AnswerTable, number: int, value: Any, domain: Domain, design: Design) -> int:
    labels = {label.lower(): place for place, label in enumerate(domain.options)}
    if isinstance(value, str) and value.strip().lower() in labels:
        return labels[value.strip().lower()]
    if value == "":
        _refuse(table, number, "has no response; leave out rows without a response")
    n_options = domain.n_options(design.stimuli)
    ways = f"give 0 to {n_options - 1}, or one of {', '.join(domain.options)}"
    if not any(letter.isdigit() for letter in str(value)):
        _refuse(table, number, f"has the response {value!r}; {ways}")
    found = int(_number(table, number, "response", value, whole=True))
    if found >= n_options:
        _refuse(table, number, f"has the response {found}; {ways}")
    return found


def _number(
    table: AnswerTable,
    number: int,
    column: str,
    value: Any,
    *,
    whole: bool = False,
    negative: bool = False,
) -> float:
    if isinstance(value, str) and "," in value:
        _refuse(
            table,
            number,
            f"has {value!r} in the column {column!r}; write decimal points, not commas",
        )
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found) or (whole and found != int(found)) or (found < 0 and not negative):
        what = "a whole number from 0" if whole else "a number" if negative else "a number from 0"
        _refuse(table, number, f"has {value!r} in the column {column!r}; give {what}")
    return found


def _refuse(table: AnswerTable, number: int, words: str) -> NoReturn:
    raise TrialsError(f"{table.name}: row {number} {words}. Nothing was imported.")
