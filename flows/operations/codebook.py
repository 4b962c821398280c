"""What the columns of exported answers mean: for people (a README), for programs (a codebook), and as Psych-DS.

References:
    Psych-DS, a community standard for behavioural datasets: https://psych-ds.github.io
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakatos.experiments.participants.web.questions import PageQuestion
from lakatos.experiments.participants.web.study_list import meaning_of
from lakatos.experiments.presentation import PREFIX, presentation_of
from lakatos.experiments.task import Domain
from lakatos.flows.report.spreadsheet import safe_cell
from lakatos.flows.run.study import CampaignConfig

LABEL = "_label"
"""End of the name of a column that says in words what another one says in numbers."""
MADE_BY_MODEL = (
    "**These are responses of the language model {model!r}, not of people.** One `person` is one of its sessions. "
    "Never score them together with human responses."
)
MEANINGS = {
    "experiment": "name of the experiment",
    "person": "beginning of a keyed pseudonym, or a number; constant for a participant within the run",
    "excluded": "preregistered exclusion rules that apply to the participant, by key; empty if the responses are "
    "included",
    "in_run": "whether the run has taken the responses; if not, exclusion rules have not been applied yet",
    "condition": "random condition of the participant, or condition of the trial within participants",
    "position": "position of the response among those of the participant, from 1",
    "trial": "row of the design's trials, from 0",
    "response": "number of the option chosen, from 0, in the order of the stimulus' columns",
    "option": "the option chosen, in words",
    "response_time_ms": "milliseconds from the moment at which a response was possible (the trial's appearance, or the "
    "end of its sounds and films) to the response, or as a plugin measured it; empty if unknown",
    "onset_ms": "milliseconds from the beginning of the task to the trial's appearance, by the browser's clock",
    "focus_losses": "how often the page was left since the previous response",
    "away_ms": "total time for which the page was left, in milliseconds",
    "key": "number of the key pressed, from the left, from 0; empty if none was pressed",
    "right_key": "number of the correct key, from the left, from 0",
    "correct": "1 if the correct key was pressed, 0 if another one; empty if none was pressed",
    "interval_ms": "milliseconds by the server's clock from the report that the target appeared to the arrival of "
    "the response; empty without a report",
    "bin": "number of the response time's bin, from 0",
    "bin_from_s": "lower limit of this bin, in seconds",
    "bin_to_s": "upper limit of this bin, in seconds",
    "left_out": "why the trial is left out: no_answer, too_early, too_late, or impossible if the server's clock "
    "contradicts the time; empty if it is included",
    "n_failed_to_load": "trials of which something failed to load; they are missed, or answered without it in tasks "
    "with feedback",
    "failures": "these trials, and what failed",
    "n_no_answer": "trials in which no key was pressed in time",
    "n_too_early": "responses faster than the first time bin, which are left out",
    "n_too_late": "responses slower than the last time bin, which are left out",
    "n_impossible": "responses whose time the server's clock contradicts, which are left out",
    "count": "number of equal responses in this row",
    "status": "completed, partial, stopped, returned, timed_out or screened_out",
    "n_answers": "number of responses",
    "n_missed": "trials presented without a response in time",
    "missed_trials": "rows of these trials, in order",
    "checks_passed": "attention checks passed",
    "checks_failed": "attention checks failed",
    "checks": "attention checks in order, 1 passed and 0 failed",
    "comprehension_attempts": "attempts at the comprehension check",
    "task_minutes": "minutes from the beginning of the task to the last response, by the server's clock",
    "language": "of the page",
    "consent": "SHA-256 of the consent text that the participant agreed to; empty without consent form",
    "source": "who collected the data",
    "visit_device": "phone, tablet or computer",
    "visit_browser": "name of the browser",
    "visit_system": "operating system",
    "visit_window": "width and height of the window in pixels of the page, at consent",
    "visit_hour": "local hour of the day of the participant, 0 to 23, at consent",
    "language_model": "language model that gave the response instead of a person, as named in the study",
    "served_model": "name of the model on its server",
    "persona": "persona that the model was instructed to take",
    "n_missing": "trials presented without a readable response",
    "missing_reasons": "reasons of missing responses",
}
OTHER = "attribute of the stimulus, or feedback after the response"
Row = dict[str, Any]


@dataclass(frozen=True)
class ColumnMeaning:
    """One column of an exported table."""

    name: str
    meaning: str
    kind: str
    """``number`` or ``text``."""
    levels: Mapping[str, str]
    """Meaning of values, if there are few."""
    n_empty: int


def columns_of(rows: Sequence[Row], config: CampaignConfig, domain: Domain) -> list[ColumnMeaning]:
    """Meaning and content of each column of a table, in order."""
    by_name = {question.name: question for question in config.page.questions}
    return [
        _column(name, [row.get(name, "") for row in rows], by_name, config, domain)
        for name in dict.fromkeys(name for row in rows for name in row)
    ]


def _column(
    name: str,
    values: Sequence[Any],
    asked: Mapping[str, PageQuestion],
    config: CampaignConfig,
    domain: Domain,
) -> ColumnMeaning:
    there = [value for value in values if value not in ("", None)]
    numbers = all(isinstance(value, int | float) for value in there)
    question = asked.get(name) or asked.get(name.removesuffix(LABEL))
    meaning, levels = MEANINGS.get(name, OTHER), _levels(name, config, domain)
    presentation = presentation_of(domain)
    if presentation and name.startswith(PREFIX):
        field = presentation.fields.get(name.removeprefix(PREFIX))
        meaning = field.meaning if field else "what failed to load, so that words were shown"
    elif config.page.study and name.startswith(PREFIX):
        meaning = meaning_of(name.removeprefix(PREFIX)) or meaning
    if question is not None:
        shown = question.shown(config.page.language, config.page.language)
        meaning = " ".join(f"“{shown['text']}”".split())
        meaning += ", in words" if name not in asked else ""
    return ColumnMeaning(
        name=name,
        meaning=meaning,
        kind="number" if numbers and there else "text",
        levels=levels,
        n_empty=len(values) - len(there),
    )


def _levels(name: str, config: CampaignConfig, domain: Domain) -> dict[str, str]:
    if name == "response":
        return {str(place): label for place, label in enumerate(domain.options)}
    question = next((item for item in config.page.questions if item.name == name), None)
    if question is None:
        return {}
    if question.kind == "tick":
        return {"0": "not ticked", "1": "ticked"}
    labels = question.labels(config.page.language, config.page.language)
    if question.kind == "scale":
        ends = (question.first, question.first + question.points - 1)
        return {f"{end:g}": label for end, label in zip(ends, labels, strict=True)}
    return {str(place): label for place, label in enumerate(labels)}


def codebook(tables: Mapping[str, Sequence[ColumnMeaning]]) -> list[Row]:
    """One row for each column of each table."""
    return [
        {
            "table": table,
            "column": column.name,
            "meaning": safe_cell(column.meaning),
            "kind": column.kind,
            "levels": safe_cell(
                "; ".join(f"{value} = {label}" for value, label in column.levels.items())
            ),
            "n_empty": column.n_empty,
        }
        for table, columns in tables.items()
        for column in columns
    ]


def readme(
    config: CampaignConfig,
    domain: Domain,
    answers: Sequence[ColumnMeaning],
    people: Sequence[ColumnMeaning],
    notes: Sequence[str] = (),
) -> str:
    """Text that tells what each column of the exported tables means; ``notes`` are further sentences."""
    lines = [
        f"# Responses of the study {config.name}",
        "",
        config.question,
        "",
        *(
            [MADE_BY_MODEL.format(model=config.participants.model), ""]
            if config.participants.model
            else []
        ),
        f"Domain: {config.domain}; options in the order of responses: {', '.join(domain.options)}. The files hold no "
        f"names and no identifiers of recruitment services. Text is UTF-8, numbers have decimal points.",
        "",
        *(line for note in notes for line in (note, "")),
        "If a participant withdraws later, delete the rows with their `person` from every copy of these files.",
        "",
        "## answers.csv: one row is one response",
        "",
        *map(_line, answers),
    ]
    if people:
        heading = "## people.csv: one row is one participant in one experiment"
        lines += ["", heading, "", *map(_line, people)]
    return "\n".join(lines) + "\n"


def _line(column: ColumnMeaning) -> str:
    levels = "; ".join(f"{value} {label}" for value, label in column.levels.items())
    return f"- `{column.name}`: {column.meaning}{f' ({levels})' if levels else ''}"


def psych_ds_name(config: CampaignConfig) -> str:
    """Name of the file with the responses, by the rules of Psych-DS."""
    study = re.sub(r"[^A-Za-z0-9]", "", config.name)
    return f"study-{study}_description-answers_data.csv"


def psych_ds_description(config: CampaignConfig, columns: Sequence[ColumnMeaning]) -> Row:
    """The content of ``dataset_description.json``: name, description and every variable of the data file."""
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": config.name,
        "description": config.question,
        "variableMeasured": [_variable(column) for column in columns],
    }


def _variable(column: ColumnMeaning) -> Row:
    named = {"@type": "PropertyValue", "name": column.name, "description": column.meaning}
    levels = [f"{value} = {label}" for value, label in column.levels.items()]
    return named | ({"valueReference": levels} if levels else {})
