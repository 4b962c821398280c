"""A run: a study, its trace, and the parts that act for it."""

from __future__ import annotations

import asyncio
import platform
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast

from lakatos import __version__
from lakatos.experiments.participants.source import ParticipantSource
from lakatos.experiments.task import Domain, Trials
from lakatos.flows.errors import RunMissingError, UnusableError
from lakatos.flows.run.begun import note_begun
from lakatos.flows.run.cluster import laboratory_of
from lakatos.flows.run.evidence import RunEvidence, terms_of
from lakatos.flows.run.models import RoleModels
from lakatos.flows.run.now import KeptMoment
from lakatos.flows.run.progress import CampaignProgress, LeaderRow, clean
from lakatos.flows.run.records import (
    ACTS,
    APART_KINDS,
    RECORD_TYPES,
    CampaignStarted,
    CodeAccepted,
    CycleClosed,
    MachineUsed,
)
from lakatos.flows.run.source import keep_answers, make_source
from lakatos.flows.run.state import RunState, advance
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import (
    check_unchanged,
    domain_of,
    family_of,
    read_own_domain,
    science_of,
)
from lakatos.judges.epoch import JudgeEpoch
from lakatos.memory.library import Library
from lakatos.theories.language.family import Family
from lakatos.theories.language.theory import Theory
from lakatos.traces.apart import ERASED
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest, Fingerprint, digest_bytes, digest_of
from lakatos.traces.errors import JournalError
from lakatos.traces.head import write_head
from lakatos.traces.inbox import claim_place
from lakatos.traces.journal import INTENT
from lakatos.traces.machine import machine_here
from lakatos.traces.place import holds_journal, is_elsewhere, settle
from lakatos.traces.record import Record
from lakatos.traces.step import INBOX_PLACE, Recorded, StepContext, Trace
from lakatos.traces.validity import Validity

R = TypeVar("R", bound=Record)
ENGINE_VERSION = __version__


class Run:
    """One campaign being carried on. Make it with `create_run` or `open_run`; a context manager.

    Attributes:
        config: The study.
        folder: Holds the journal, the artifacts, the inbox and the report.
        trace: The only record of what happened.
        state: Fold over the records that this pass has made or found again, in the order of the flow.
    """

    def __init__(
        self,
        folder: Path,
        trace: Trace,
        config: CampaignConfig,
        source: ParticipantSource,
        *,
        progress: CampaignProgress | None,
        hidden: Theory | None,
        data: Path | None,
        n_workers: int,
    ) -> None:
        self.folder, self.trace, self.config = folder, trace, config
        self.source = source
        shown = progress.sinks if progress is not None else ()
        self.progress = CampaignProgress(*shown, KeptMoment(folder))
        self.data, self.n_workers = data, n_workers
        self.domain: Domain = domain_of(config)
        self.laboratory = laboratory_of(self.domain, n_workers, seconds=config.theories.seconds)
        self.family: Family = family_of(config)
        self.open_family: Family = self.family.without(config.closed_inputs)
        self.state = RunState()
        self.panel: JudgeEpoch | None = None
        """The judges that have a seat now; None before they are asked for the first time."""
        self._models: RoleModels | None = None
        self._hidden = hidden
        self._forms: dict[Digest, Theory] = {}
        self._trials: dict[Digest, Trials] = {}
        self.libraries: dict[Digest, Library] = {}
        """Read already, by artifact."""

    async def step(
        self,
        name: str,
        function: Callable[[StepContext], R | Awaitable[R]],
        *,
        returns: type[R],
        inputs: Sequence[Digest] = (),
        position: Mapping[str, int | str] | None = None,
        effect: Literal["repeatable", "external"] = "repeatable",
    ) -> Recorded[R]:
        """`Trace.step`, with the state advanced by what it returns.

        Plain functions run in a thread, so that the loop can go on waiting for people and for Ctrl-C.
        """

        async def in_thread(context: StepContext) -> R:
            return cast(R, await asyncio.to_thread(function, context))

        work = function if asyncio.iscoroutinefunction(function) else in_thread
        found = await self.trace.step(
            name, work, returns=returns, inputs=inputs, position=position, effect=effect
        )
        self.state = advance(self.state, cast(Recorded[Record], found))
        return found

    def record(
        self,
        record: R,
        *,
        name: str,
        inputs: Sequence[Digest] = (),
        position: Mapping[str, int | str] | None = None,
    ) -> Recorded[R]:
        """`Trace.record`, with the state advanced."""
        found = self.trace.record(record, name=name, inputs=inputs, position=position)
        self.state = advance(self.state, cast(Recorded[Record], found))
        return found

    def recall(self, item: Recorded[Any]) -> None:
        """Advance the state by a record that the trace holds."""
        self.state = advance(self.state, item)

    @property
    def evidence(self) -> RunEvidence:
        """The run's present state, for functions that only read."""
        return RunEvidence(
            terms=terms_of(self.config),
            domain=self.domain,
            family=self.family,
            laboratory=self.laboratory,
            artifacts=self.trace.artifacts,
            experiments=self.state.experiments,
            theories=self.state.theories,
            seeds=tuple(self.state.seeds),
            forms=self._forms,
            tables=self._trials,
            config=self.config,
            state=self.state,
            libraries=self.libraries,
        )

    def form(self, digest: Digest) -> Theory:
        """A checked theory with its declared ranges, read from its artifact."""
        return self.evidence.form(digest)

    def theory(self, digest: Digest) -> Theory:
        """A checked theory with the people that its newest fit found."""
        return self.evidence.theory(digest)

    def trials(self, experiment: str) -> Trials:
        """The answers collected in an experiment."""
        return self.evidence.trials(experiment)

    def trials_of(self, artifact: Digest) -> Trials:
        """A trial table by its artifact."""
        return self.evidence.trials_of(artifact)

    @property
    def models(self) -> RoleModels:
        """The language models of the study, connected when they are used first."""
        if self._models is None:
            self._models = RoleModels(self.config, self.trace)
        return self._models

    async def close_pass(self) -> None:
        """Close the connections to language models, and forget what belongs to one pass alone.

        Whatever makes an event loop for a run calls this before the loop ends. What is used later is made anew.
        """
        models, self._models, self.panel = self._models, None, None
        if models is not None:
            await models.close()

    @property
    def hidden(self) -> Theory | None:
        """The rule that simulated people follow; for the verdict only, never handed to an advocate."""
        return self._hidden

    def show_leaderboard(self) -> None:
        """Tell the progress display how the rivals stand."""
        tied = self.state.tied()
        rows = [
            LeaderRow(
                name=self.state.theories.both_names(line.theory),
                nats=line.score.value,
                error=line.error,
                tied=line.theory in tied,
            )
            for line in self.state.board().standings[:8]
        ]
        self.progress.leaderboard(rows)

    def sign(self) -> None:
        """Sign the present end of the journal."""
        write_head(self.folder)

    def note_machine(self) -> None:
        """Write down on which machine the pass computes, where that is not the one noted last."""
        assert self.state.campaign.started is not None
        noted = [item.record for item in self.trace.records(MachineUsed)]
        here = machine_here()
        now = MachineUsed(processor=here.processor, kernels=here.kernels)
        if not noted or noted[-1] != now:
            self.record(
                now,
                name="machine",
                inputs=[self.state.campaign.started.digest],
                position={"number": len(noted)},
            )

    def close(self) -> None:
        """End the sandbox and let others write the journal, also where the sandbox cannot be ended."""
        try:
            self.laboratory.close()
        finally:
            self.trace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _may_withdraw(config: CampaignConfig) -> bool:
    """Whether the participants of a run are people of its own, who may withdraw one by one."""
    source = config.source
    return source.origin == "people" and source.one_by_one and source.responds_later


def create_run(
    config: CampaignConfig,
    folder: Path,
    *,
    data: Path | None = None,
    progress: CampaignProgress | None = None,
    n_workers: int = 2,
    sealed_rows: Mapping[str, Sequence[int]] | None = None,
    kept: ArtifactStore | None = None,
) -> Run:
    """Begin a run in ``folder``.

    Everything that can be wrong with the study is found before the folder is made.

    Args:
        config: The study.
        folder: Must not hold a run yet.
        data: Folder of the published data sets, for archival studies.
        progress: Display of what happens; silent by default.
        n_workers: Theories that run at the same time; does not change results.
        sealed_rows: Trials sealed from the loop, by archived experiment; chosen by the seed when None.
        kept: Artifacts of a run that holds the responses of the study's file; they are read from the file when None.

    Raises:
        DataMissingError: The study needs data that are not there.
        EmptyDesignSpaceError: The study's space has no admissible trial.
        JournalError: The folder holds a run already or cannot be written.
    """
    source, hidden = make_source(config, folder, data, sealed_rows, kept)
    meta: dict[str, Any] = {
        "study": config.model_dump(mode="json"),
        "sealed_rows": {name: list(rows) for name, rows in (sealed_rows or {}).items()} or None,
        "data": str(data.resolve()) if data else None,
    }
    if config.domain_file is not None:
        meta["domain_file"] = digest_bytes(config.domain_file.text.encode())
    settle(folder)
    if config.source.responds_later and is_elsewhere(folder):
        meta[INBOX_PLACE] = claim_place(folder)
    with ExitStack() as after_error:
        trace = Trace.create(
            folder,
            seed=config.seed,
            types=RECORD_TYPES,
            meta=meta,
            apart=APART_KINDS if _may_withdraw(config) else None,
            identity=digest_of(config.identity),
        )
        after_error.callback(trace.close)
        keep_answers(config, trace.artifacts, kept)
        if config.domain_file is not None:
            trace.artifacts.put(config.domain_file.text.encode())
        run = Run(
            folder,
            trace,
            config,
            source,
            progress=progress,
            hidden=hidden,
            data=data,
            n_workers=n_workers,
        )
        after_error.pop_all()
    if sealed_rows is None:  # else the run is a fold of another one
        note_begun(config, folder)
    return run


def open_run(
    folder: Path,
    *,
    data: Path | None = None,
    progress: CampaignProgress | None = None,
    n_workers: int = 2,
) -> Run:
    """Go on with the run in ``folder``.

    Raises:
        RunMissingError: There is no run.
        LockedError: Another process is writing it.
        InboxError: People answer it in another folder.
        TaskFileError: The file that declares its domain was changed.
    """
    check_run(folder)
    with ExitStack() as after_error:
        trace = Trace.open(folder, RECORD_TYPES)
        after_error.callback(trace.close)
        meta = trace.journal.meta
        config = CampaignConfig.model_validate(meta["study"])
        check_unchanged(config)
        where = data or (Path(meta["data"]) if meta.get("data") else None)
        source, hidden = make_source(
            config, folder, where, meta.get("sealed_rows"), trace.artifacts
        )
        run = Run(
            folder,
            trace,
            config,
            source,
            progress=progress,
            hidden=hidden,
            data=where,
            n_workers=n_workers,
        )
        after_error.pop_all()
    return run


def read_begun(folder: Path) -> tuple[RunState, Trace]:
    """`read_state` of a run that has begun.

    Raises:
        RunMissingError: There is no run, or nothing of it is recorded yet.
    """
    state, trace = read_state(folder)
    if state.campaign.config is None:
        trace.close()
        raise RunMissingError(
            f"the run {folder} has not begun; `lakatos resume {folder}` begins it."
        )
    return state, trace


def read_state(folder: Path, until: Digest | None = None) -> tuple[RunState, Trace]:
    """The state of a run for reading, also while another process writes it; erased records have no part in it.

    Close the trace after use.

    Args:
        folder: Folder of the run.
        until: Record after which the state is read; the newest by default.

    Raises:
        RunMissingError: There is no run.
    """
    check_run(folder)
    trace = Trace.open(folder, RECORD_TYPES, read_only=True)
    read_own_domain(trace.journal.meta.get("study", {}))
    events = list(trace.journal.events())
    validity = Validity(events, roots=trace.artifacts.has, acts=ACTS)
    state = RunState()
    for event in events:
        if event.kind != INTENT and validity.valid(event.record_digest):
            if event.kind == ERASED:
                raise JournalError(
                    f"event {event.seq} of {folder} is in force, but the artifact {event.apart} of its "
                    f"{event.body['was']} record is missing; restore it from a copy (`lakatos audit` lists all)."
                )
            state = advance(state, trace.read(event))
        if event.record_digest == until:
            break
    if (config := state.campaign.config) is not None:
        placed = config.with_places(trace.journal.meta["study"])
        state = replace(state, campaign=replace(state.campaign, config=placed))
    # A table that was made anew stands late in the journal.
    return replace(state, experiments=state.experiments.in_order_of_asking()), trace


def check_code(run: Run) -> None:
    """Refuse to go on with a run that other code computed so far, unless somebody accepted this code; writes nothing.

    Raises:
        UnusableError: Nobody has accepted this code.
    """
    before = run.trace.recorded("start")
    if before is None:
        return
    _check_science(run.folder, run.trace, before.record, started(run.config).science)


def _check_science(folder: Path, trace: Trace, begun: Record, science: Fingerprint) -> None:
    assert isinstance(begun, CampaignStarted)
    computed_by = code_in_force(trace, begun.science)
    if computed_by != science:
        raise UnusableError(
            f"the run {folder} was begun by other code for theories, experiments, judges or memory "
            f"({computed_by[:8]}, now {science[:8]}). Go on with that code, or with this one, on record: "
            f'`lakatos resume {folder} --accept-code {science[:8]} --because "..."`.'
        )


def check_code_of(folder: Path) -> None:
    """`check_code` of a run that is only read.

    Raises:
        UnusableError: Other code computed the run, and nobody has accepted this code.
    """
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        before = trace.recorded("start")
        if before is None:
            return
        config = CampaignConfig.model_validate(trace.journal.meta["study"])
        _check_science(folder, trace, before.record, started(config).science)


def begin(run: Run) -> Recorded[CampaignStarted]:
    """Write down that a campaign began, or find it written down.

    Raises:
        UnusableError: Other code computed the run so far, and nobody said that it may go on with this one.
    """
    check_code(run)
    now = started(run.config)
    before = run.trace.recorded("start")
    if before is None:
        return run.record(now, name="start")
    assert isinstance(before.record, CampaignStarted)
    changed = [
        name for name, value in now.versions.items() if before.record.versions.get(name) != value
    ]
    if changed:
        run.progress.note(
            f"going on with another version of {', '.join(changed)} than the run was begun with"
        )
    return run.record(before.record, name="start")


def code_in_force(trace: Trace, begun_by: Fingerprint) -> Fingerprint:
    """The code that a run goes on with: that which began it, or the last that somebody accepted."""
    accepted = [item.record.science for item in trace.records(CodeAccepted)]
    return accepted[-1] if accepted else begun_by


def code_changes_in_words(
    trace: Trace, changes: Iterable[Recorded[CodeAccepted]], cycles: Sequence[Recorded[CycleClosed]]
) -> list[str]:
    """State which code computed what, a sentence for each accepted change; empty where one code computed everything.

    Args:
        trace: Trace of the run.
        changes: Those to tell of, the oldest first.
        cycles: Those that are closed and count.
    """
    return [
        f"Other code computed a part of this: code {change.record.before[:8]} "
        f"{_cycles_ended_before(trace, change, cycles)}, code {change.record.science[:8]} from there on, "
        f"because: {clean(change.record.because).rstrip('.')}."
        for change in changes
    ]


def _cycles_ended_before(
    trace: Trace, change: Recorded[CodeAccepted], cycles: Sequence[Recorded[CycleClosed]]
) -> str:
    """State how far a run had come, in closed cycles, when its code changed."""
    digests = [change.digest, *(item.digest for item in cycles)]
    places = [trace.journal.find_record(digest) for digest in digests]
    numbers = [event.seq for event in places if event is not None]
    n_closed = sum(number < numbers[0] for number in numbers[1:])
    if not n_closed:
        return "what there was before cycle 1 had ended"
    if n_closed == len(cycles) and cycles[-1].record.stop:
        return "all cycles"
    return f"up to cycle {n_closed} and what there was of cycle {n_closed + 1}"


def accept_code(folder: Path, digest: str, because: str) -> CodeAccepted:
    """Let a run go on with this code although other code computed it so far; it is a record, and a deviation.

    Args:
        folder: Folder of the run.
        digest: Beginning of this code's fingerprint, at least eight digits, as the refusal said it.
        because: Reason why the results are still worth having, for readers of the report.

    Raises:
        UnusableError: This is not the code that was named, the run goes on with it anyway, or no reason is given.
        LockedError: A pass is writing the run; stop it first.
        HeadError: No head can be signed for the run.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES) as trace:
        before = trace.recorded("start")
        if before is None or not isinstance(before.record, CampaignStarted):
            raise UnusableError(f"the run {folder} has not begun; `lakatos resume` carries it on.")
        now = started(CampaignConfig.model_validate(trace.journal.meta["study"]))
        computed_by = code_in_force(trace, before.record.science)
        if computed_by == now.science:
            raise UnusableError(
                f"the run {folder} goes on with this code as it is; leave out --accept-code."
            )
        if len(digest) < 8 or not now.science.startswith(digest):
            raise UnusableError(
                f"this code is {now.science[:8]}, not {digest!r}; look at what changed, then name this one."
            )
        reason = clean(because)
        if len(re.findall(r"[^\W\d_]{2,}", reason)) < 2:  # two words: "." and "ok" give no reason
            raise UnusableError(
                'give the reason why the results remain valid with --because "...", in two words or more. The report '
                "states it."
            )
        write_head(folder)  # where no head can be signed afterwards, nothing may be recorded
        number = sum(1 for _ in trace.records(CodeAccepted))
        item = trace.record(
            CodeAccepted(
                before=computed_by, science=now.science, because=reason,
                versions=now.versions,
            ),
            name="accept code", inputs=[before.digest], position={"number": number},
        )  # fmt: skip
    write_head(folder)
    return item.record


def has_run(folder: Path) -> bool:
    """Whether a journal was begun in ``folder``; a process killed while it made one leaves an empty file."""
    return holds_journal(folder)


def check_run(folder: Path) -> None:
    """Refuse a folder that holds no run: raise `RunMissingError`."""
    if not has_run(folder):
        raise RunMissingError(
            f"there is no run in {folder}. `lakatos status` lists the runs that there are."
        )


def started(config: CampaignConfig) -> CampaignStarted:
    """The first record of a run."""
    versions = {name: version(name) for name in ("numpy", "scipy", "pydantic")}
    return CampaignStarted(
        config=config.identity,
        versions={"lakatos": ENGINE_VERSION, "python": platform.python_version(), **versions},
        science=science_of(config.model_dump(mode="json")),
    )
