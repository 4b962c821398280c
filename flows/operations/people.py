"""Participants' data in a run: import, list, export and erase them."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.table import Table

from lakatos.experiments.adoption.tables import read_cells
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import LANGUAGE_MODEL, PersonAnswers, pseudonym
from lakatos.experiments.participants.file import read_answers
from lakatos.experiments.participants.table import name_of_answers
from lakatos.experiments.participants.web.collection import (
    COLLECTION_FILE,
    KEY_FILE,
    collection_key,
)
from lakatos.experiments.participants.web.session import WithheldAnswers
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.planning.settings import MOST_COUNTED
from lakatos.experiments.record import AnswersArrived, PersonWithdrawn
from lakatos.experiments.state import ExperimentsState
from lakatos.flows.argument import NamedRunFolder
from lakatos.flows.audit.audit import audit_place
from lakatos.flows.errors import UnusableError
from lakatos.flows.operations.lab import LAB_FOLDER
from lakatos.flows.operations.people_export import (
    SHOWN,
    _config,
    _designs,
    _exports,
    _now,
    own_files,
)
from lakatos.flows.result import Result, Shown
from lakatos.flows.roles.remember import MEMORY_FOLDER
from lakatos.flows.run.console import escape
from lakatos.flows.run.next_pass import PASS_FILE
from lakatos.flows.run.now import NOW_FILE
from lakatos.flows.run.places import REPORTS
from lakatos.flows.run.records import ACTS, MADE, NAMED, RECORD_TYPES
from lakatos.flows.run.run import check_run, read_state
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.summary import SUMMARY_FILE
from lakatos.flows.run.task import domain_of
from lakatos.flows.stages.asked import erased, key_of, waiting_in
from lakatos.flows.stages.enough import more_asked
from lakatos.traces.digest import is_digest
from lakatos.traces.erasure import erase_file
from lakatos.traces.errors import InboxError
from lakatos.traces.inbox import InboxBatch
from lakatos.traces.record import Tombstone
from lakatos.traces.step import Recorded, Trace
from lakatos.traces.wording import plural


@dataclass(frozen=True, repr=False)
class ImportedAnswers(Result):
    """Numbers of people and responses that an import brought, by experiment."""

    folder: Path
    """Folder of the run."""
    n_answers: dict[str, int]
    """Number of responses by experiment."""
    n_people: dict[str, int]
    n_new: int
    """People whose responses were not in the inbox or the run before."""
    without_outcome: dict[str, int]
    """Further responses that are no outcome of the task, by why: a key too early or too late, or none at all."""
    notes: tuple[str, ...] = ()
    """Assumptions made in reading the file."""

    def lines(self) -> Iterator[Shown]:
        """Yield how the file was read, responses and participants of each experiment, and what does not count."""
        for note in self.notes:
            yield f"the file: {escape(note)}"
        for name, n_people in self.n_people.items():
            yield (
                f"experiment {escape(name)}: {plural(self.n_answers[name], 'response')} of "
                f"{plural(n_people, 'participant')}"
            )
        if self.without_outcome:
            why = (
                f"{n} {why.replace('_', ' ')}" for why, n in sorted(self.without_outcome.items())
            )
            n_without = sum(self.without_outcome.values())
            yield f"{n_without} further responses are no outcome and do not count: {', '.join(why)}"
        new = f"{plural(self.n_new, 'participant')} {'is' if self.n_new == 1 else 'are'} new"
        yield f"{new}. `lakatos resume {escape(str(self.folder))}` continues with their responses."


def import_answers(folder: NamedRunFolder, file: Path) -> ImportedAnswers:
    """Import responses that were collected elsewhere: all rows, or none if a row is wrong.

    The responses of each participant enter the run's inbox; the next pass takes them from there.

    Args:
        folder: The run's folder.
        file: CSV, TSV or Parquet file with one row per response; see docs/data.md.

    Raises:
        TrialsError: Something in the file is wrong; the message names the row and what to do.
        InboxError: The responses of a participant were delivered before with another content.
        UnusableError: The run's people do not answer one by one, or the key of their pseudonyms was erased.

    Examples:
        $ lakatos data import mine-1 responses.csv
    """
    state, trace = read_state(folder)
    with trace:
        config = _config(state, folder)
        if not config.source.one_by_one:
            raise UnusableError(
                f"the run {folder} takes no responses from files: its participants are {config.participants.source}. "
                "Use a "
                'study with participants.source = "file".'
            )
        if config.source.origin == LANGUAGE_MODEL:
            raise UnusableError(
                f"the run {folder} has a language model as participant, whose responses are never "
                "mixed with those of people; import "
                f'{file} into a run of its own, with participants.source = "file".'
            )
        designs = _designs(trace, state)
        keys = {
            item.record.experiment: key_of(trace, item)
            for item in state.experiments.recruited.values()
        }
        before = len(trace.inbox.stored())
        if not (folder / KEY_FILE).exists() and (before or any(trace.records(AnswersArrived))):
            raise UnusableError(
                f"the key of the pseudonyms of {folder} is gone, so that no participant in {file} can be "
                "distinguished from those who responded before or withdrew. If all are new participants, make "
                f"another key: `head -c 32 /dev/urandom > {folder / KEY_FILE}`."
            )
        table = read_cells(file)
        names: dict[str, str] = {}

        def named(key: bytes, participant: str) -> str:
            person = pseudonym(key, "file", participant)
            names[person] = participant
            return person

        def read_with(key: bytes) -> list[PersonAnswers]:
            return read_answers(
                table,
                designs,
                domain_of(config),
                lambda participant: named(key, participant),
            )

        if not (folder / KEY_FILE).exists():
            read_with(secrets.token_bytes(32))  # a file that is refused leaves no key
        found = read_with(collection_key(folder))
        batches = {f"{keys[item.experiment]}:{item.person}": item for item in found}
        try:
            trace.inbox.deliver_all(
                "file", [(item.to_json(), key) for key, item in batches.items()]
            )
        except InboxError as error:
            other = next((item for key, item in batches.items() if repr(key) in str(error)), None)
            if other is None:
                raise
            raise InboxError(
                f"{file}: the responses of participant {names[other.person]!r} in experiment {other.experiment} were "
                "imported before, and others are in the file; the first ones stand and nothing was imported. Remove "
                "the participant's rows from the file."
            ) from error
        return ImportedAnswers(
            folder=folder,
            n_answers=dict(
                Counter(name for item in found for name in [item.experiment] * len(item.trial))
            ),
            n_people=dict(Counter(item.experiment for item in found)),
            n_new=len(trace.inbox.stored()) - before,
            without_outcome=dict(
                Counter(answer.reason for item in found for answer in item.left_out)
            ),
            notes=table.notes,
        )


@dataclass(frozen=True, repr=False)
class WithdrawalReport(Result):
    """Result of a withdrawal: what was erased, and what is out of reach."""

    folder: Path
    """Folder of the run."""
    person: str
    experiments: tuple[str, ...]
    n_batches: int
    """Number of batches erased from the inbox."""
    n_sessions: int
    """Number of sessions erased from what the page keeps."""
    exports: tuple[str, ...]
    """Exports, bundles, branches and the database of Prefect, which may hold rows, or numbers computed from them."""
    n_derived: int = 0
    """Records that were derived from the responses, and whose content is erased with them."""
    keeps_numbers: bool = False
    """Whether an earlier version began the run, so that numbers about the person stay in its records."""

    def lines(self) -> Iterator[Shown]:
        """Lines about what is erased and what remains to be done."""
        yield (
            f"{self.person[:SHOWN]}: responses to {escape(', '.join(self.experiments)) or 'no experiment'} are erased "
            f"({plural(self.n_batches, 'batch', 'batches')}, {plural(self.n_sessions, 'session')} of the page), and "
            f"so is what was computed from them ({plural(self.n_derived, 'record')}). "
            f"`lakatos resume {escape(str(self.folder))}` computes anew what rested on them."
        )
        if self.n_derived:
            yield (
                "A reader of the journal can still see how many rows were erased, when passes ended, why more "
                "participants were requested or collection was closed, and the designs, theories and predictions that "
                "were frozen later. From these, a reader who has all other responses can compute the withdrawn ones."
            )
        if self.keeps_numbers:
            yield (
                "An earlier version began this run: its records keep numbers about each participant, from which "
                "responses can be computed. Do not hand on its folder; it is not bundled any more."
            )
        for path in self.exports:
            yield f"delete the person's rows here yourself, or make it anew: {escape(path)}"
        yield (
            "Backups of the run's folder, books of a recruitment service, and messages that were sent with a verdict "
            "are out of this command's reach."
        )


def find_person(folder: Path, name: str, service: str = "") -> str:
    """The pseudonym of a person, by its beginning, or by what a recruitment service calls them.

    Raises:
        UnusableError: Nobody, or more than one, is called so.
    """
    check_run(folder)
    if service:
        if not (folder / KEY_FILE).exists():
            raise UnusableError(
                f"{folder} has no key of pseudonyms, so that participants are found by pseudonym only; give one."
            )
        name = pseudonym(collection_key(folder), service, name)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        people = {item.record.person for item in trace.records(AnswersArrived)}
        people |= {answers["person"] for _, answers in _batches(trace)}
        people |= {item.record.person for item in trace.records(PersonWithdrawn)}
        # A withdrawal may have been cut short before it recorded anything: keys of batches end in the pseudonym.
        people |= {key[-64:] for key in trace.inbox.erased_keys() if is_digest(key[-64:])}
    people |= _identified(folder)  # somebody may be taking part now
    found = sorted(person for person in people if person.startswith(name))
    if len(found) != 1 or len(name) < 6:
        raise UnusableError(
            f"{len(found)} people of {folder} have a pseudonym that begins with {name[:SHOWN]!r}; give more of it (at "
            "least 6 digits; `lakatos data list` and exports show them), or --service and the service's identifier."
        )
    return found[0]


def withdraw(folder: Path, person: str, reason: str = "withdrew") -> WithdrawalReport:
    """Erase everything that a person left in a run; scores that used it are computed anew by the next pass.

    The responses, in an artifact of their own, are gone, and so are reports and exports in the run's folder, and all
    records that were derived from the responses: each of their rows keeps its number, digest and hashes, so that the
    chain still verifies. Designs and predictions that were frozen later stay, because others responded to them. Doing
    it twice changes nothing.

    Raises:
        LockedError: A pass is writing the run; stop it first.
        UnusableError: The run has no such person.
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
            # A pass that was cut short may have stored the responses and not have recorded them.
            with suppress(TrialsError):
                trace.artifacts.erase(name_of_answers(PersonAnswers.from_json(answers), batch.salt))
        trace.inbox.erase(*(batch.digest for batch, _ in batches))
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
        n_derived = trace.erase_derived(
            [item.digest for item in own], acts=ACTS, named=NAMED, made=MADE, sweep=True
        )
        keeps_numbers = bool(own) and not trace.journal.erases
    for path in _told_elsewhere(folder):
        erase_file(path)
    return WithdrawalReport(
        folder=folder,
        person=person,
        experiments=tuple(sorted(experiments)),
        n_batches=len(batches),
        n_sessions=n_sessions,
        exports=tuple(_exports(folder)),
        n_derived=n_derived,
        keeps_numbers=keeps_numbers,
    )


def _told_elsewhere(folder: Path) -> Iterator[Path]:
    """Files that repeat what a run concluded, all of which are made anew."""
    yield from map(folder.joinpath, (*REPORTS, SUMMARY_FILE, PASS_FILE, NOW_FILE))
    yield from list(own_files(folder))
    yield folder.resolve().parent / LAB_FOLDER / f"pass-{folder.resolve().name}.log"
    yield audit_place(folder)
    # Earlier versions kept what the runs of a folder had taught in a file.
    library = folder.resolve().parent / MEMORY_FOLDER / "library.json"
    if library.exists():
        yield library


@dataclass(frozen=True)
class ExperimentHolding:
    """Data of the participants of one experiment in a run."""

    experiment: str
    n_wanted: int
    statuses: dict[str, int]
    n_excluded: int
    n_withdrawn: int
    n_waiting: int
    """Batches in the inbox that no pass has taken."""
    n_apart: int
    """People who came with identifiers of a recruitment service that it does not list; they are kept apart."""


@dataclass(frozen=True, repr=False)
class RunHoldings(Result):
    """Data of participants in a run, and their retention limits."""

    experiments: tuple[ExperimentHolding, ...]
    due: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """People whose ``identifiers`` or ``answers`` are past their retention limit."""
    next_due: datetime | None = None
    """Time of the next limit."""

    def lines(self) -> Iterator[Shown]:
        """A row for each experiment, and what is past its limit."""
        table = Table(
            "experiment", "wanted", "people by status", "excluded", "withdrawn", "in the inbox", "kept apart"
        )  # fmt: skip
        for item in self.experiments:
            statuses = ", ".join(f"{number} {status}" for status, number in item.statuses.items())
            numbers = (item.n_excluded, item.n_withdrawn, item.n_waiting, item.n_apart)
            table.add_row(escape(item.experiment), str(item.n_wanted), statuses, *map(str, numbers))
        yield table
        for kind, people in self.due.items():
            found = f"{kind} of {len(people)} participants are past their retention limit"
            yield f"[yellow]{found}[/yellow]; `lakatos data expire`"
        if self.next_due is not None:
            yield f"the next retention limit ends on {self.next_due:%Y-%m-%d}"


def _holding(
    known: ExperimentsState, name: str, *, n_waiting: int, n_apart: int
) -> ExperimentHolding:
    """Data of the participants of one experiment in a run."""
    statuses = Counter(item.record.status for item in known.answers.get(name, ()))
    excluded = {item.record.answers for item in known.excluded if item.record.experiment == name}
    return ExperimentHolding(
        experiment=name,
        n_wanted=known.wanted.get(name, known.recruited[name].record.n_participants),
        statuses=dict(sorted(statuses.items())),
        n_excluded=len(excluded),
        n_withdrawn=len(set(known.withdrawn.get(name, ()))),
        n_waiting=n_waiting,
        n_apart=n_apart,
    )


def holdings(folder: Path, now: datetime | None = None) -> RunHoldings:
    """Data of participants in a run by experiment, and what is past its limit at ``now``."""
    state, trace = read_state(folder)
    with trace:
        pending = Counter(batch.json().get("experiment") for batch in trace.inbox.pending())
        apart = Counter(item.experiment for item in _withheld(folder))
        found = [
            _holding(state.experiments, name, n_waiting=pending[name], n_apart=apart[name])
            for name in state.experiments.recruited
        ]
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
    """Erase what is past its limit; returns whose identifiers and whose responses.

    A batch that no pass has taken yet is kept: it has no identifier, and is the only copy of the responses. Once nobody
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
            own = [
                batch.digest
                for batch, answers in _batches(trace)
                if answers["person"] == person and batch.digest not in untaken
            ]
            trace.inbox.erase(*own)
    if due.get("identifiers") and not _identified(folder):
        with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
            if not _batches(trace):
                (folder / KEY_FILE).unlink(missing_ok=True)
    return due


def _limits(
    folder: Path, trace: Trace, config: CampaignConfig
) -> Iterator[tuple[str, str, datetime]]:
    """Stored data with participant and retention limit."""
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
    if config.privacy.responses_days:
        untaken = {batch.digest for batch in trace.inbox.pending()}
        waiting = [(answers["person"], batch.delivered_utc) for batch, answers in _batches(trace)
                   if batch.digest in untaken]  # fmt: skip
        for person, since in (*arrived, *waiting):
            if since:
                yield (
                    "answers",
                    person,
                    datetime.fromisoformat(since) + timedelta(days=config.privacy.responses_days),
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
        folder: Folder of the run.
        n_more: People beyond those wanted by now.
        experiment: Name of the experiment; the one that is collecting by default.

    Raises:
        UnusableError: Nothing is being collected under this name, or people do not answer one by one.
        LockedError: A pass is writing the run; stop it first.
    """
    state, trace = read_state(folder)
    trace.close()
    waiting = waiting_in(state)
    name = experiment or (waiting.experiment if waiting else "")
    config = state.campaign.config
    if (
        config is None
        or not config.source.one_by_one
        or name not in state.experiments.recruited
        or name in state.experiments.collected
        or name in state.experiments.closed
        or not 1 <= n_more <= MOST_COUNTED
    ):
        raise UnusableError(
            f"the run {folder} does not collect responses to {name or 'anything'} now, or {n_more} "
            f"participants were requested; request 1 to {MOST_COUNTED:,} more while it waits. "
            "Later responses can still be imported."
        )
    with Trace.open(folder, RECORD_TYPES) as writing:
        recruitment = state.experiments.recruited[name]
        before = state.experiments.wanted.get(name, recruitment.record.n_participants)
        item = writing.record(
            more_asked(
                name,
                before,
                n_more,
                "the researcher asked for more participants",
                preregistered=False,
            ),
            name="ask_more",
            inputs=[recruitment.digest],
            position={"experiment": name, "wanted": before + n_more},
        )
        key = key_of(writing, recruitment)
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
