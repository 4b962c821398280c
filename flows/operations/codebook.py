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
from lakatos.experiments.task import Domain
from lakatos.flows.run.study import CampaignConfig

LABEL = "_label"
"""End of the name of a column that says in words what another one says in numbers."""
MADE_BY_MODEL = (
    "**These are answers of the language model {model!r}, not of people.** One `person` is one session of it. Never "
    "put them into one score with answers of people."
)
MEANINGS = {
    "experiment": "name of the experiment",
    "person": "beginning of a keyed pseudonym, or a number; the same person has the same one within the run",
    "excluded": "preregistered exclusion rules that the person broke, by key; empty where the answers count",
    "in_run": "whether a pass has taken the answers: no where they wait, and exclusion rules were not applied yet",
    "condition": "of the participant, drawn by lot, or of the trial, within participants",
    "position": "place of the answer among the person's answers, from 1",
    "trial": "row of the design's trials, from 0",
    "response": "place of the option chosen, from 0, in the order of the stimulus' columns",
    "option": "the option chosen, in words",
    "response_time_ms": "milliseconds from the trial's appearance to the answer; empty if unknown",
    "onset_ms": "milliseconds from the beginning of the task to the trial's appearance, by the browser's clock",
    "focus_losses": "how often the page was left between the answer before and this one",
    "away_ms": "milliseconds for which it was left, in all",
    "key": "place of the key pressed, from the left and from 0; empty where none was",
    "right_key": "place of the right key, from the left and from 0",
    "correct": "1 if the right key was pressed, 0 if another one; empty where none was",
    "interval_ms": "milliseconds by the server's clock from the report that the target appeared to the answer's "
    "arrival; empty where no report came",
    "bin": "place of the bin of the answer's time, from 0",
    "bin_from_s": "where this bin begins, in seconds",
    "bin_to_s": "where this bin ends, in seconds",
    "left_out": "why the trial has no outcome: no_answer, too_early, too_late, or impossible where the server's clock "
    "contradicts the time; empty where it has one",
    "n_no_answer": "trials in which no key was pressed in time",
    "n_too_early": "answers faster than the first bin of time, which are left out",
    "n_too_late": "answers slower than the last bin of time, which are left out",
    "n_impossible": "answers whose time the server's clock contradicts, which are left out",
    "count": "equal answers that the row stands for",
    "status": "completed, partial, stopped, returned, timed_out or screened_out",
    "n_answers": "answers given",
    "n_missed": "trials shown and not answered in time",
    "missed_trials": "rows of these trials, in order",
    "checks_passed": "attention checks passed",
    "checks_failed": "attention checks failed",
    "checks": "attention checks in order, 1 passed and 0 failed",
    "comprehension_attempts": "attempts at the comprehension check",
    "task_minutes": "minutes from the beginning of the task to the last answer, by the server's clock",
    "language": "of the page",
    "consent": "SHA-256 of the consent text that was agreed to; empty when not asked",
    "source": "who collected",
    "visit_device": "phone, tablet or computer",
    "visit_browser": "name of the browser",
    "visit_system": "operating system",
    "visit_window": "width and height of the window in pixels of the page, when the person agreed",
    "visit_hour": "hour of the day where the person was, 0 to 23, when the person agreed",
    "language_model": "language model that gave the answer, as the study names it: no person did",
    "served_model": "as its server names it",
    "persona": "whom it was told to be",
    "n_missing": "trials shown to which it gave no answer that could be read",
    "missing_reasons": "why",
}
OTHER = "of the stimulus, or what followed the answer"
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
    asked = {question.name: question for question in config.page.questions}
    return [
        _column(name, [row.get(name, "") for row in rows], asked, config, domain)
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
            "meaning": column.meaning,
            "kind": column.kind,
            "levels": "; ".join(f"{value} = {label}" for value, label in column.levels.items()),
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
        f"# Answers of the study {config.name}",
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
        "If somebody withdraws later, delete the rows with their `person` from every copy of these files.",
        "",
        "## answers.csv: one row is one answer",
        "",
        *map(_line, answers),
    ]
    if people:
        heading = "## people.csv: one row is one person in one experiment"
        lines += ["", heading, "", *map(_line, people)]
    return "\n".join(lines) + "\n"


def _line(column: ColumnMeaning) -> str:
    levels = "; ".join(f"{value} {label}" for value, label in column.levels.items())
    return f"- `{column.name}`: {column.meaning}{f' ({levels})' if levels else ''}"


def psych_ds_name(config: CampaignConfig) -> str:
    """Name of the file with the answers, by the rules of Psych-DS."""
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
