"""What people left behind in a run: bring it in, list it, export it, erase it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lakatos.experiments.design import design_from_json
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import LANGUAGE_MODEL, PersonAnswers, pseudonym
from lakatos.experiments.participants.file import read_answers, read_table, stimulus_columns
from lakatos.experiments.participants.table import get_answers, name_of_answers
from lakatos.experiments.participants.web.questions import PageQuestion
from lakatos.experiments.participants.web.store import (
    COLLECTION_FILE,
    KEY_FILE,
    SessionStore,
    WithheldAnswers,
    collection_key,
)
from lakatos.experiments.record import AnswersArrived, PersonWithdrawn
from lakatos.experiments.task import Design, Domain
from lakatos.flows.errors import FlowError
from lakatos.flows.run.evidence import trials_in
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run, read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.flows.stages.collect import erased, key_of, more_asked, waiting_in
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json
from lakatos.traces.inbox import InboxBatch
from lakatos.traces.record import Tombstone
from lakatos.traces.step import Recorded, Trace

EXPORTS_FILE = "exports.jsonl"
"""Where each export of a run went, so that a person who withdraws can be told of."""
SHOWN = 16
"""Digits of a pseudonym in exports and lists: enough to find rows again, too few to be mistaken for the whole."""


@dataclass(frozen=True)
class ImportedAnswers:
    """How many people and answers an import brought, by experiment."""

    n_answers: dict[str, int]
    """By experiment."""
    n_people: dict[str, int]
    n_new: int
    """People whose answers were not in the inbox or the run before."""


def import_answers(folder: Path, file: Path) -> ImportedAnswers:
    """Check a table of answers row by row and leave each person's in the inbox: all of them or none.

    Raises:
        TrialsError: Something in the file is wrong; the message names the row and what to do.
        InboxError: Somebody's answers were delivered before with another content.
        FlowError: The run's people do not answer one by one, or the key of their pseudonyms was erased.
    """
    state, trace = read_state(folder)
    with trace:
        config = _config(state, folder)
        if not config.by_person:
            raise FlowError(
                f"the run {folder} takes no answers from files: its people are {config.participants.source}. Use a "
                'study with participants.source = "file".'
            )
        if config.participants.source == LANGUAGE_MODEL:
            raise FlowError(
                f"the run {folder} asks a language model, and its answers are never mixed with those of people; import "
                f'{file} into a run of its own, with participants.source = "file".'
            )
        designs = _designs(trace, state)
        keys = {
            item.record.experiment: key_of(trace, item)
            for item in state.experiments.recruited.values()
        }
        before = len(trace.inbox.stored())
        if not (folder / KEY_FILE).exists() and (before or any(trace.records(AnswersArrived))):
            raise FlowError(
                f"the key of the pseudonyms of {folder} is gone, so that nobody in {file} can be told from those who "
                "answered before or withdrew. If all in it are new people, make another key: "
                f"`head -c 32 /dev/urandom > {folder / KEY_FILE}`."
            )
        key = collection_key(folder)
        found = read_answers(
            read_table(file),
            designs,
            domain_of(config),
            lambda participant: pseudonym(key, "file", participant),
        )
        trace.inbox.deliver_all(
            "file", [(item.to_json(), f"{keys[item.experiment]}:{item.person}") for item in found]
        )
        return ImportedAnswers(
            n_answers=dict(
                Counter(name for item in found for name in [item.experiment] * len(item.trial))
            ),
            n_people=dict(Counter(item.experiment for item in found)),
            n_new=len(trace.inbox.stored()) - before,
        )


@dataclass(frozen=True)
class WithdrawalReport:
    """What was erased when somebody withdrew, and what is out of reach."""

    person: str
    experiments: tuple[str, ...]
    n_batches: int
    """Erased from the inbox."""
    n_sessions: int
    """Erased from what the page keeps."""
    exports: tuple[str, ...]
    """Files outside the run that may hold the rows."""


def find_person(folder: Path, name: str, service: str = "") -> str:
    """The pseudonym of a person, by its beginning, or by what a recruitment service calls them.

    Raises:
        FlowError: Nobody, or more than one, is called so.
    """
    check_run(folder)
    if service:
        if not (folder / KEY_FILE).exists():
            raise FlowError(
                f"{folder} has no key of pseudonyms, so that only a pseudonym finds somebody; give one."
            )
        name = pseudonym(collection_key(folder), service, name)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        people = {item.record.person for item in trace.records(AnswersArrived)}
        people |= {answers["person"] for _, answers in _batches(trace)}
        people |= {item.record.person for item in trace.records(PersonWithdrawn)}
    people |= _identified(folder)  # somebody may be taking part now
    found = sorted(person for person in people if person.startswith(name))
    if len(found) != 1 or len(name) < 6:
        raise FlowError(
            f"{len(found)} people of {folder} have a pseudonym that begins with {name[:SHOWN]!r}; give more of it (at "
            "least 6 digits; `lakatos data list` and exports show them), or --service and the service's identifier."
        )
    return found[0]


def withdraw(folder: Path, person: str, reason: str = "withdrew") -> WithdrawalReport:
    """Erase everything that a person left in a run; scores that used it are computed anew by the next pass.

    The records stay, so that the chain still verifies; the answers, in an artifact of their own, are gone. Doing it
    twice changes nothing.

    Raises:
        LockedError: A pass is writing the run; stop it first.
        FlowError: The run has no such person.
    """
    check_run(folder)
    person = find_person(folder, person)
    with Trace.open(folder, RECORD_TYPES) as trace:
        n_sessions = _forget(
            folder, person
        )  # first: the page leaves nothing more in the inbox then
        own = [item for item in trace.records(AnswersArrived) if item.record.person == person]
        gone = erased(trace)
        fresh = [item for item in own if item.digest not in gone]
        batches = [
            (batch, answers) for batch, answers in _batches(trace) if answers["person"] == person
        ]
        experiments = {item.record.experiment for item in own} | {
            answers["experiment"] for _, answers in batches
        }
        for batch, answers in batches:
            # A pass that was cut short may have stored the answers and not have recorded them.
            with suppress(TrialsError):
                trace.artifacts.erase(name_of_answers(PersonAnswers.from_json(answers), batch.salt))
            trace.inbox.erase(batch.digest)
        trace.inbox.empty_log()
        if fresh:
            decision = trace.record(
                PersonWithdrawn(
                    person=person,
                    experiments=tuple(sorted({item.record.experiment for item in fresh})),
                    reason=reason,
                ),
                name="withdraw",
                inputs=[item.digest for item in fresh],
            )
            for item in fresh:
                trace.record(
                    Tombstone(
                        target=item.digest, reason=f"a person {reason}", decision=decision.digest
                    ),
                    name="erase",
                    inputs=[decision.digest],
                    position={"experiment": item.record.experiment, "answers": item.digest},
                )
        for item in own:
            trace.artifacts.erase(item.record.answers)
    return WithdrawalReport(
        person=person,
        experiments=tuple(sorted(experiments)),
        n_batches=len(batches),
        n_sessions=n_sessions,
        exports=tuple(_exports(folder)),
    )


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


@dataclass(frozen=True)
class ExperimentHolding:
    """What a run holds of the people of one experiment."""

    experiment: str
    n_wanted: int
    statuses: dict[str, int]
    n_excluded: int
    n_withdrawn: int
    n_waiting: int
    """Batches in the inbox that no pass has taken."""
    n_apart: int
    """People who came with identifiers of a recruitment service that it does not list; their answers are kept apart."""


@dataclass(frozen=True)
class RunHoldings:
    """What a run holds of people, and until when it may."""

    experiments: tuple[ExperimentHolding, ...]
    due: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """People whose ``identifiers`` or ``answers`` are past their limit."""
    next_due: datetime | None = None
    """When the next limit ends."""


def holdings(folder: Path, now: datetime | None = None) -> RunHoldings:
    """What a run holds of people, experiment by experiment, and what is past its limit at ``now``."""
    state, trace = read_state(folder)
    with trace:
        pending = Counter(batch.json().get("experiment") for batch in trace.inbox.pending())
        apart = Counter(item.experiment for item in _withheld(folder))
        found = []
        for name, asked in state.experiments.recruited.items():
            people = state.experiments.answers.get(name, ())
            excluded = {
                item.record.answers
                for item in state.experiments.excluded
                if item.record.experiment == name
            }
            found.append(
                ExperimentHolding(
                    experiment=name,
                    n_wanted=state.experiments.wanted.get(name, asked.record.n_participants),
                    statuses=dict(sorted(Counter(item.record.status for item in people).items())),
                    n_excluded=len(excluded),
                    n_withdrawn=len(set(state.experiments.withdrawn.get(name, ()))),
                    n_waiting=pending[name],
                    n_apart=apart[name],
                )
            )
        ends = list(_limits(folder, trace, _config(state, folder)))
    at = now or _now()
    due = {
        kind: tuple(sorted({person for what, person, end in ends if what == kind and end <= at}))
        for kind in ("identifiers", "answers")
    }
    later = [end for _, _, end in ends if end > at]
    return RunHoldings(
        tuple(found),
        {kind: people for kind, people in due.items() if people},
        min(later, default=None),
    )


def expire(folder: Path, now: datetime | None = None) -> dict[str, tuple[str, ...]]:
    """Erase what is past its limit; returns whose identifiers and whose answers.

    A batch that no pass has taken yet is kept: it holds no identifier, and is the only copy of the answers. Once nobody
    is left in the page's sessions and in the inbox, the key of the pseudonyms goes too, and nobody can link them any
    more.
    """
    due = holdings(folder, now).due
    for person in due.get("answers", ()):
        withdraw(folder, person, "was forgotten at the end of the retention limit")
    apart = {item.person for item in _withheld(folder)}
    for person in due.get("identifiers", ()):
        _forget(folder, person, keep_place=person not in apart)  # answers kept apart never count
        with Trace.open(folder, RECORD_TYPES) as trace:
            untaken = {batch.digest for batch in trace.inbox.pending()}
            for batch, answers in _batches(trace):
                if answers["person"] == person and batch.digest not in untaken:
                    trace.inbox.erase(batch.digest)
    if due.get("identifiers") and not _identified(folder):
        with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
            if not _batches(trace):
                (folder / KEY_FILE).unlink(missing_ok=True)
    return due


def _limits(
    folder: Path, trace: Trace, config: CampaignConfig
) -> Iterator[tuple[str, str, datetime]]:
    """What is kept, of whom, and until when."""
    days = config.privacy.identifiers_days
    arrived = [(item.record.person, item.record.arrived_utc) for item in _held(trace)]
    batches = [(answers["person"], batch.delivered_utc) for batch, answers in _batches(trace)]
    if days:
        known = _identified(folder) | {person for person, _ in batches}
        for person, since in {**dict(arrived), **dict(batches)}.items():
            if since and person in known:
                yield "identifiers", person, datetime.fromisoformat(since) + timedelta(days=days)
        for item in _withheld(folder):  # never released: the answers go with the identifiers
            yield (
                "identifiers",
                item.person,
                datetime.fromtimestamp(item.since, UTC) + timedelta(days=days),
            )
    if config.privacy.answers_days:
        untaken = {batch.digest for batch in trace.inbox.pending()}
        waiting = [(answers["person"], batch.delivered_utc) for batch, answers in _batches(trace)
                   if batch.digest in untaken]  # fmt: skip
        for person, since in (*arrived, *waiting):
            if since:
                yield (
                    "answers",
                    person,
                    datetime.fromisoformat(since) + timedelta(days=config.privacy.answers_days),
                )


def _held(trace: Trace) -> list[Recorded[AnswersArrived]]:
    gone = erased(trace)
    return [item for item in trace.records(AnswersArrived) if item.digest not in gone]


def _withheld(folder: Path) -> list[WithheldAnswers]:
    """People whose answers the page keeps apart."""
    if not (folder / COLLECTION_FILE).exists():
        return []
    store = SessionStore(folder)
    try:
        return store.withheld()
    finally:
        store.shut()


def ask_more(folder: Path, n_more: int, experiment: str = "") -> int:
    """Ask for more people than planned in an experiment that is still collecting; returns how many are wanted now.

    It is a record and a deviation from the preregistration. On the page there is room at once.

    Args:
        folder: Of the run.
        n_more: People beyond those wanted by now.
        experiment: Its name; the one that the run waits in by default.

    Raises:
        FlowError: Nothing is being collected under this name, or people do not answer one by one.
        LockedError: A pass is writing the run; stop it first.
    """
    state, trace = read_state(folder)
    trace.close()
    waiting = waiting_in(state)
    name = experiment or (waiting.experiment if waiting else "")
    by_person = state.campaign.config is not None and state.campaign.config.by_person
    if (
        not by_person
        or name not in state.experiments.recruited
        or name in state.experiments.collected
        or name in state.experiments.closed
        or n_more < 1
    ):
        raise FlowError(
            f"the run {folder} does not collect answers to {name or 'anything'} now, or is asked for {n_more} people; "
            "ask for at least one more while it waits. People who answer later can still join by an import."
        )
    with Trace.open(folder, RECORD_TYPES) as writing:
        asked = state.experiments.recruited[name]
        before = state.experiments.wanted.get(name, asked.record.n_participants)
        item = writing.record(
            more_asked(
                name, before, n_more, "the researcher asked for more people", preregistered=False
            ),
            name="ask_more",
            inputs=[asked.digest],
            position={"experiment": name, "wanted": before + n_more},
        )
        key = key_of(writing, asked)
    if (folder / COLLECTION_FILE).exists():
        store = SessionStore(folder)
        try:
            store.want(key, item.record.n_participants)
        finally:
            store.shut()
    return item.record.n_participants


def _identified(folder: Path) -> set[str]:
    """People of whom the page keeps a session."""
    if not (folder / COLLECTION_FILE).exists():
        return set()
    store = SessionStore(folder)
    try:
        return store.people()
    finally:
        store.shut()


def _forget(folder: Path, person: str, *, keep_place: bool = False) -> int:
    """Erase what the page keeps of a person; see `SessionStore.erase`."""
    if not (folder / COLLECTION_FILE).exists():
        return 0
    store = SessionStore(folder)
    try:
        return store.erase(person, keep_place=keep_place)
    finally:
        store.shut()


def _batches(trace: Trace) -> list[tuple[InboxBatch, dict[str, Any]]]:
    """Single people's batches whose payload is in the inbox, taken or not."""
    found = [(batch, batch.json()) for batch in trace.inbox.stored()]
    return [(batch, value) for batch, value in found if "person" in value]


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
