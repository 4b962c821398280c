"""What people answered in a run, as files for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lakatos.experiments.design import design_from_json
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.file import stimulus_columns
from lakatos.experiments.participants.table import get_answers
from lakatos.experiments.participants.web.questions import PageQuestion
from lakatos.experiments.record import AnswersArrived
from lakatos.experiments.task import Design, Domain
from lakatos.flows.errors import FlowError
from lakatos.flows.run.evidence import trials_in
from lakatos.flows.run.run import read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json
from lakatos.traces.step import Recorded, Trace

EXPORTS_FILE = "exports.jsonl"
"""Where each export of a run went, so that a person who withdraws can be told of."""
SHOWN = 16
"""Digits of a pseudonym in exports and lists: enough to find rows again, too few to be mistaken for the whole."""


def export(folder: Path, out: Path) -> list[Path]:
    """Write a run's answers without identifiers: ``answers.csv``, ``people.csv`` and a README of their columns.

    Raises:
        FlowError: Nothing was collected.
        ArtifactError: A file cannot be written.
    """
    state, trace = read_state(folder)
    with trace:
        config = _config(state, folder)
        domain = domain_of(config)
        rows = list(_answer_rows(trace, state, domain))
        people = list(_people_rows(trace, state))
    if not rows:
        raise FlowError(f"nothing was collected in {folder} yet, so there is nothing to export.")
    out.mkdir(parents=True, exist_ok=True)
    written = [out / "answers.csv", out / "README.md"]
    write_whole(written[0], _csv(rows), private=True)
    if people:
        written.insert(1, out / "people.csv")
        write_whole(written[1], _csv(people), private=True)
    write_whole(written[-1], _readme(config, domain, rows, people).encode())
    line = {
        "path": str(out.resolve()),
        "time_utc": _now().isoformat(timespec="seconds"),
        "n_rows": len(rows),
    }
    before = (folder / EXPORTS_FILE).read_bytes() if (folder / EXPORTS_FILE).exists() else b""
    write_whole(folder / EXPORTS_FILE, before + canonical_json(line) + b"\n")
    return written


def _config(state: RunState, folder: Path) -> CampaignConfig:
    if state.campaign.config is None:
        raise FlowError(f"the run {folder} has not begun; `lakatos resume` begins it.")
    return state.campaign.config


def _designs(trace: Trace, state: RunState) -> dict[str, Design]:
    """Designs of the experiments that people were asked for."""
    plans = {
        name: state.experiments.preregistrations[name].record
        for name in state.experiments.recruited
    }
    return {
        name: design_from_json(trace.artifacts.get_json(plan.design))
        for name, plan in plans.items()
    }


def _exports(folder: Path) -> list[str]:
    file = folder / EXPORTS_FILE
    found = (
        [json.loads(line)["path"] for line in file.read_text().splitlines()]
        if file.exists()
        else []
    )
    reports = [str(path) for path in (folder / "report.html",) if path.exists()]
    return [*dict.fromkeys(found), *reports]


def _answer_rows(trace: Trace, state: RunState, domain: Domain) -> Iterator[dict[str, Any]]:
    designs = _designs(trace, state)
    for name, people in state.experiments.answers.items():
        columns = stimulus_columns(designs[name].stimuli)
        for item in people:
            answers = get_answers(trace.artifacts, item.record.answers)
            for place, trial in enumerate(answers.trial):
                yield {
                    "experiment": name,
                    "person": item.record.person[:SHOWN],
                    **_answered_by(state),
                    "excluded": _rules(state, item),
                    "position": place + 1,
                    "trial": trial,
                    "response": answers.response[place],
                    "response_time_ms": answers.response_time_ms[place]
                    if answers.response_time_ms
                    else "",
                    **{feedback: column[place] for feedback, column in answers.feedback.items()},
                    **{column: float(values[trial]) for column, values in columns.items()},
                }
    for name in state.experiments.collected:
        if name in state.experiments.answers:
            continue
        trials = trials_in(trace.artifacts, state, name)
        columns = stimulus_columns(trials.stimuli)
        for row, trial in enumerate(trials.trial.tolist()):
            yield {
                "experiment": name,
                "person": "" if trials.pooled else int(trials.participant[row]),
                "count": int(trials.count[row]),
                "trial": trial,
                "response": int(trials.response[row]),
                **{feedback: float(column[row]) for feedback, column in trials.feedback.items()},
                **{column: float(values[trial]) for column, values in columns.items()},
            }


def _people_rows(trace: Trace, state: RunState) -> Iterator[dict[str, Any]]:
    for name, people in state.experiments.answers.items():
        for item in people:
            answers: PersonAnswers = get_answers(trace.artifacts, item.record.answers)
            yield {
                "experiment": name,
                "person": item.record.person[:SHOWN],
                "status": answers.status,
                "n_answers": len(answers.trial),
                "checks_passed": sum(answers.checks),
                "checks_failed": len(answers.checks) - sum(answers.checks),
                "comprehension_attempts": answers.comprehension_attempts,
                "language": answers.language,
                "consent": answers.consent,
                "source": answers.source,
                **{name: _cell(value) for name, value in answers.replies.items()},
                **_answered_by(state),
                **_session(state, item),
                "excluded": _rules(state, item),
            }


def _cell(value: Any) -> Any:
    """A reply as a spreadsheet shows it: what would begin a formula there does not."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return (
        f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value
    )


def _answered_by(state: RunState) -> dict[str, str]:
    """Which language model gave the answers; nothing where none did."""
    name = state.campaign.config.participants.model if state.campaign.config else ""
    return {"language_model": name} if name else {}


def _session(state: RunState, item: Recorded[AnswersArrived]) -> dict[str, Any]:
    """What is known of a language model's session besides."""
    held = state.experiments.sessions.get(item.record.experiment, ())
    found = next(
        (known.record for known in held if known.record.person == item.record.person), None
    )
    if found is None:
        return {}
    return {
        "served_model": " ".join(found.model_names),
        "persona": found.persona,
        "n_missing": len(found.missing_trials),
        "missing_reasons": " ".join(sorted(set(found.missing_reasons))),
    }


def _rules(state: RunState, item: Recorded[AnswersArrived]) -> str:
    return " ".join(
        known.record.rule
        for known in state.experiments.excluded
        if known.record.answers == item.digest
    )


def _csv(rows: list[dict[str, Any]]) -> bytes:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


MADE_BY_MODEL = (
    "**These are answers of the language model {model!r}, not of people.** One `person` is one session of it. Never "
    "put them into one score with answers of people."
)
MEANINGS = {
    "experiment": "name of the experiment",
    "person": "beginning of a keyed pseudonym, or a number; the same person has the same one within the run",
    "excluded": "preregistered exclusion rules that the person broke, by key; empty where the answers count",
    "position": "place of the answer among the person's answers, from 1",
    "trial": "row of the design's trials, from 0",
    "response": "place of the option chosen, from 0, in the order of the stimulus' columns",
    "response_time_ms": "milliseconds from the trial's appearance to the answer; empty if unknown",
    "count": "equal answers that the row stands for",
    "status": "completed, partial, stopped, returned, timed_out or screened_out",
    "n_answers": "answers given",
    "checks_passed": "attention checks passed",
    "checks_failed": "attention checks failed",
    "comprehension_attempts": "attempts at the comprehension check",
    "language": "of the page",
    "consent": "SHA-256 of the consent text that was agreed to; empty when not asked",
    "source": "who collected",
    "language_model": "language model that gave the answer, as the study names it: no person did",
    "served_model": "as its server names it",
    "persona": "whom it was told to be",
    "n_missing": "trials shown to which it gave no answer that could be read",
    "missing_reasons": "why",
}


def _readme(
    config: CampaignConfig, domain: Domain, rows: list[dict[str, Any]], people: list[dict[str, Any]]
) -> str:
    """Text that tells what each column of the exported tables means."""
    meanings = MEANINGS | {item.name: _asked(item, config) for item in config.page.questions}

    def table(some: list[dict[str, Any]]) -> list[str]:
        names = dict.fromkeys(name for row in some for name in row)
        return [
            f"- `{name}`: {meanings.get(name, 'of the stimulus, or what followed the answer')}"
            for name in names
        ]

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
        "names, identifiers of recruitment services or times of day. Text is UTF-8, numbers have decimal points.",
        "",
        "If somebody withdraws later, delete the rows with their `person` from every copy of these files.",
        "",
        "## answers.csv: one row is one answer",
        "",
        *table(rows),
    ]
    if people:
        lines += ["", "## people.csv: one row is one person in one experiment", "", *table(people)]
    return "\n".join(lines) + "\n"


def _asked(question: PageQuestion, config: CampaignConfig) -> str:
    """A question about the person and what its numbers mean, for the codebook."""
    shown = question.shown(config.page.language, config.page.language)
    text = " ".join(f"“{shown['text']}”".split())
    if question.kind == "scale":
        ends = [
            f"{shown['least']:g} {shown['answers'][0]}",
            f"{shown['most']:g} {shown['answers'][1]}",
        ]
        return f"{text} ({ends[0]} to {ends[1]})"
    labels = [f"{place} {label}" for place, label in enumerate(shown["answers"])]
    return f"{text} ({'; '.join(labels)})" if labels else text


def _now() -> datetime:
    return datetime.now(UTC)
