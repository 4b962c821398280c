"""Write the responses of a run as files for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, get_args

from lakatos.experiments.conditions import CONDITION, conditions_of
from lakatos.experiments.design import design_from_json
from lakatos.experiments.participants.answers import LeftOut, LeftOutPress, PersonAnswers
from lakatos.experiments.participants.file import stimulus_columns
from lakatos.experiments.participants.table import get_answers
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.presentation import PREFIX
from lakatos.experiments.record import AnswersArrived
from lakatos.experiments.task import Design, Domain
from lakatos.flows.argument import Argument, NamedRunFolder
from lakatos.flows.errors import UnusableError
from lakatos.flows.operations.codebook import (
    LABEL,
    Row,
    codebook,
    columns_of,
    psych_ds_description,
    psych_ds_name,
    readme,
)
from lakatos.flows.report.spreadsheet import safe_cell
from lakatos.flows.run.evidence import trials_in
from lakatos.flows.run.places import OWN_EXPORTS
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.traces.artifact import whole_folder, write_whole
from lakatos.traces.digest import canonical_json
from lakatos.traces.step import Recorded, Trace

EXPORTS_FILE = "exports.jsonl"
"""List of the exports and bundles of a run, so that a participant who withdraws can be informed of them."""
SHOWN = 16
"""Digits of a pseudonym in exports and lists: enough to find rows again, too few to be mistaken for the whole."""


def export(
    folder: NamedRunFolder,
    out: Annotated[Path | None, Argument(flag="--out")] = None,
    *,
    psych_ds: bool = False,
) -> list[Path]:
    """Write the responses of a run without identifiers, as CSV with a codebook.

    Responses in the inbox that no pass has used yet are included and marked.

    Args:
        folder: The run's folder.
        out: Folder to write; the folder `export` in the run by default.
        psych_ds: Write the format Psych-DS, with the attributes of the participant beside each response.

    Raises:
        UnusableError: Nothing was collected.
        ArtifactError: A file cannot be written.

    Examples:
        $ lakatos data export mine-1 --out shared
    """
    out = out or folder / "export"
    state, trace = read_state(folder)
    with trace:
        config = _config(state, folder)
        domain = domain_of(config)
        people = list(_people(trace, state))
        rows = [*_answer_rows(trace, state, domain, people), *_table_rows(trace, state, domain)]
        persons = [_person_row(item, state, config) for item in people]
    if not rows and not persons:
        raise UnusableError(
            f"nothing was collected in {folder} yet, so there is nothing to export."
        )
    notes = _grid_words(people, domain)
    files = (_as_psych_ds if psych_ds else _as_tables)(config, domain, rows, persons, notes)
    with whole_folder(out):
        for name, content in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(out / name, content, private=name.endswith(".csv"))
    list_export(folder, out, n_rows=len(rows))
    return [out / name for name in files]


def _as_tables(
    config: CampaignConfig,
    domain: Domain,
    rows: list[Row],
    people: list[Row],
    notes: Sequence[str],
) -> dict[str, bytes]:
    """Files of an export, by name; ``notes`` are sentences for the README."""
    answers, persons = columns_of(rows, config, domain), columns_of(people, config, domain)
    tables = {"answers.csv": answers} | ({"people.csv": persons} if people else {})
    return {
        "answers.csv": _csv(rows),
        **({"people.csv": _csv(people)} if people else {}),
        "codebook.csv": _csv(codebook(tables)),
        "README.md": readme(config, domain, answers, persons, notes).encode(),
    }


def _as_psych_ds(
    config: CampaignConfig,
    domain: Domain,
    rows: list[Row],
    people: list[Row],
    notes: Sequence[str],
) -> dict[str, bytes]:
    """Files of an export in the form of Psych-DS, by name; ``notes`` are sentences for the README."""
    known = {(row["experiment"], row["person"]): row for row in people}
    whole = [{**row, **known.get((row["experiment"], row["person"]), {})} for row in rows]
    columns, persons = columns_of(whole, config, domain), columns_of(people, config, domain)
    description = psych_ds_description(config, columns)
    return {
        "dataset_description.json": json.dumps(description, indent=2, ensure_ascii=False).encode(),
        f"data/{psych_ds_name(config)}": _csv(whole),
        **({"documentation/people.csv": _csv(people)} if people else {}),
        "README.md": readme(config, domain, columns, persons, notes).encode(),
    }


def _config(state: RunState, folder: Path) -> CampaignConfig:
    if state.campaign.config is None:
        raise UnusableError(f"the run {folder} has not begun; `lakatos resume` begins it.")
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


def list_export(folder: Path, out: Path | str, n_rows: int) -> None:
    """Write down that responses, or numbers computed from them, were written to ``out``."""
    line = {
        "path": out if isinstance(out, str) else str(out.resolve()),
        "time_utc": _now().isoformat(timespec="seconds"),
        "n_rows": n_rows,
    }
    before = (folder / EXPORTS_FILE).read_bytes() if (folder / EXPORTS_FILE).exists() else b""
    write_whole(folder / EXPORTS_FILE, before + canonical_json(line) + b"\n")


def note_export(folder: Path, out: Path | str) -> None:
    """List a file, folder or address to which numbers from a run's responses are written, if the run has any."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        n_rows = sum(item.record.n_answers for item in trace.records(AnswersArrived))
    if n_rows:
        list_export(folder, out, n_rows=n_rows)


def own_files(folder: Path) -> Iterator[Path]:
    """Files of exports in a run's own folder; links lead elsewhere, and are none."""
    for place in map(folder.joinpath, OWN_EXPORTS):
        if place.is_symlink():
            continue
        yield from (path for path in (place, *place.rglob("*")) if path.is_file())


def _exports(folder: Path) -> list[str]:
    file = folder / EXPORTS_FILE
    found = (
        [json.loads(line)["path"] for line in file.read_text(encoding="utf-8").splitlines()]
        if file.exists()
        else []
    )
    own = [(folder / name).resolve() for name in OWN_EXPORTS]
    found = [path for path in found if not any(map(Path(path).is_relative_to, own))]
    elsewhere = (folder / "branches", folder.resolve().parent / ".lab" / "prefect" / "prefect.db")
    return [*dict.fromkeys(found), *(str(place) for place in elsewhere if place.exists())]


@dataclass(frozen=True)
class ExportedPerson:
    """Responses of a participant in one experiment, taken by a pass or waiting for one."""

    answers: PersonAnswers
    item: Recorded[AnswersArrived] | None
    """The record of its arrival; None while it waits in the inbox."""


def _people(trace: Trace, state: RunState) -> Iterator[ExportedPerson]:
    """Everybody whose answers a pass took, then those whose answers wait, in the order of their arrival."""
    for people in state.experiments.answers.values():
        for item in people:
            yield ExportedPerson(get_answers(trace.artifacts, item.record.answers), item)
    for batch in trace.inbox.pending():
        value = batch.json()
        if is_of_recruited(value, state.experiments.recruited):
            yield ExportedPerson(PersonAnswers.from_json(value), None)


def is_of_recruited(value: Mapping[str, Any], recruited: Container[str]) -> bool:
    """Whether a delivery in the inbox holds responses of a participant to an experiment with recruitment."""
    return "person" in value and value.get("experiment") in recruited


def _answer_rows(
    trace: Trace, state: RunState, domain: Domain, people: Iterable[ExportedPerson]
) -> Iterator[Row]:
    """One row for each response of people who answered one by one."""
    designs = _designs(trace, state)
    shown = {name: stimulus_columns(design.stimuli) for name, design in designs.items()}
    for person in people:
        answers = person.answers
        columns = shown[answers.experiment]
        if answers.key or answers.left_out:
            yield from _timed_rows(person, state, domain, designs[answers.experiment])
            continue
        times = ("response_time_ms", "onset_ms", "focus_losses", "away_ms")
        known = {name: getattr(answers, name) for name in times}
        for place, trial in enumerate(answers.trial):
            yield {
                "experiment": answers.experiment,
                "person": answers.person[:SHOWN],
                **_answered_by(state),
                **_condition(answers),
                **_standing(state, person),
                "position": place + 1,
                "trial": trial,
                **_chosen(domain, answers.response[place]),
                "response_time_ms": "",
                **{name: column[place] for name, column in known.items() if column},
                **{feedback: column[place] for feedback, column in answers.feedback.items()},
                **_recorded(answers, place),
                **_shown(domain, columns, trial),
            }


def _recorded(answers: PersonAnswers, place: int) -> Row:
    """What a response brought beside the option chosen."""
    values = {name: column[place] for name, column in answers.recorded.items()}
    return {
        f"{PREFIX}{name}": ""
        if value is None
        else int(value)
        if value is True or value is False
        else safe_cell(value)
        for name, value in values.items()
    }


def _timed_rows(
    person: ExportedPerson, state: RunState, domain: Domain, design: Design
) -> Iterator[Row]:
    """One row for each trial that was shown, where responses are keys with their times, those left out among them."""
    answers, columns = person.answers, stimulus_columns(design.stimuli)
    task = timed_task(domain)
    assert task is not None
    right, n_bins = task.right_keys(design.stimuli), task.scale.n_bins
    left_out = {item.position: item for item in answers.left_out}
    kept = iter(range(len(answers.trial)))
    for position in range(1, len(answers.trial) + len(left_out) + 1):
        item = left_out.get(position)
        place = None if item else next(kept)
        trial = item.trial if item else answers.trial[place or 0]
        key = item.key if item else answers.key[place or 0]
        interval = item.interval_ms if item else _at(answers.interval_ms, place)
        bin_of = None if place is None else answers.response[place] % n_bins
        yield {
            "experiment": answers.experiment,
            "person": answers.person[:SHOWN],
            **_condition(answers),
            **_standing(state, person),
            "position": position,
            "trial": trial,
            "response": "" if place is None else answers.response[place],
            "key": "" if key is None else key,
            "right_key": int(right[trial]),
            "correct": "" if key is None else int(key == right[trial]),
            "response_time_ms": "" if key is None else _time_of(answers, item, place),
            "interval_ms": "" if interval is None else interval,
            "bin": "" if bin_of is None else bin_of,
            "bin_from_s": "" if bin_of is None else task.scale.edges[bin_of],
            "bin_to_s": "" if bin_of is None else task.scale.edges[bin_of + 1],
            "left_out": item.reason if item else "",
            **{
                name: "" if place is None else _at(getattr(answers, name), place)
                for name in ("onset_ms", "focus_losses", "away_ms")
                if getattr(answers, name)
            },
            **_shown(domain, columns, trial),
        }


def _time_of(answers: PersonAnswers, item: LeftOutPress | None, place: int | None) -> float:
    return item.time_ms if item else answers.response_time_ms[place or 0]


def _at(column: Sequence[Any], place: int | None) -> Any:
    """An item of a column that may be empty."""
    return None if place is None or not column else column[place]


def _grid_words(people: Iterable[ExportedPerson], domain: Domain) -> list[str]:
    """The information that time bins hide, in tasks with response times."""
    task = timed_task(domain)
    times = [
        time / 1000
        for person in people
        if person.answers.key or person.answers.left_out
        for time in person.answers.all_times_ms
    ]
    if task is None or not times:
        return []
    return ["Times and their bins: " + task.scale.fit_in_words(times)]


def _table_rows(trace: Trace, state: RunState, domain: Domain) -> Iterator[Row]:
    """One row for each response, or group of equal ones, of people whose answers came as a table."""
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
                **_chosen(domain, int(trials.response[row])),
                **{feedback: float(column[row]) for feedback, column in trials.feedback.items()},
                **_shown(domain, columns, trial),
            }


def _person_row(person: ExportedPerson, state: RunState, config: CampaignConfig) -> Row:
    """One row for one person in one experiment."""
    answers = person.answers
    passed = sum(answers.checks)
    return {
        "experiment": answers.experiment,
        "person": answers.person[:SHOWN],
        "status": answers.status,
        **_condition(answers),
        "n_answers": len(answers.trial),
        "n_missed": len(answers.missed),
        "missed_trials": " ".join(map(str, answers.missed)),
        **_n_left_out(answers),
        **_failures(answers),
        "checks_passed": passed,
        "checks_failed": len(answers.checks) - passed,
        "checks": " ".join(str(int(check)) for check in answers.checks),
        "comprehension_attempts": answers.comprehension_attempts,
        "task_minutes": round(sum(answers.server_time_ms) / 60_000, 2)
        if answers.server_time_ms
        else "",
        "language": answers.language,
        "consent": answers.consent,
        "source": answers.source,
        **{f"visit_{name}": value for name, value in answers.visit.items()},
        **_replies(answers, config),
        **_answered_by(state),
        **(_session(state, person.item) if person.item else {}),
        **_standing(state, person),
    }


def _failures(answers: PersonAnswers) -> Row:
    """Trials of which something failed to load."""
    if not answers.failures:
        return {}
    said = "; ".join(f"trial {trial}: {words}" for trial, words in answers.failures)
    return {"n_failed_to_load": len(answers.failures), "failures": safe_cell(said)}


def _n_left_out(answers: PersonAnswers) -> Row:
    """Trials without an outcome by why, where responses are keys with their times."""
    if not answers.key and not answers.left_out:
        return {}
    found = Counter(item.reason for item in answers.left_out)
    return {f"n_{reason}": found[reason] for reason in get_args(LeftOut)}


def _chosen(domain: Domain, response: int) -> Row:
    """The place of an option, and its name where it has one."""
    named = response < len(domain.options)
    return {
        "response": response,
        "option": safe_cell(domain.options[response]) if named else response,
    }


def _shown(domain: Domain, columns: Mapping[str, Any], trial: int) -> Row:
    """What was shown in a trial, by column; a condition within participants by its name."""
    found: Row = {column: float(values[trial]) for column, values in columns.items()}
    names = conditions_of(domain)
    return found | ({CONDITION: names[int(found[CONDITION])]} if names else {})


def _condition(answers: PersonAnswers) -> Row:
    return {"condition": answers.condition} if answers.condition else {}


def _standing(state: RunState, person: ExportedPerson) -> Row:
    """Whether a pass has taken a person's responses, and which rules exclude them."""
    if person.item is None:
        return {"excluded": "", "in_run": "no"}
    return {"excluded": _rules(state, person.item), "in_run": "yes"}


def _replies(answers: PersonAnswers, config: CampaignConfig) -> Row:
    """A participant's replies to questions, in numbers as the page has them, and in words if there are labels."""
    row: Row = {name: safe_cell(value) for name, value in answers.replies.items()}
    for question in config.page.questions:
        if question.kind in ("choice", "choices") and question.name in answers.replies:
            reply = question.said(answers.replies[question.name], config.page.language)
            row[f"{question.name}{LABEL}"] = safe_cell(reply)
    return row


def _answered_by(state: RunState) -> dict[str, str]:
    """Which language model gave the responses; nothing where none did."""
    name = state.campaign.config.participants.model if state.campaign.config else ""
    return {"language_model": name} if name else {}


def _session(state: RunState, item: Recorded[AnswersArrived]) -> dict[str, Any]:
    """Further facts about a language model's session."""
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


def _now() -> datetime:
    return datetime.now(UTC)
