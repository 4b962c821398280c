"""Rewind: carry a run on again from one of its records with one thing changed, and compare how it comes out.

Every branch is a campaign of its own, carried on by the same code. Replays without a change, from the same record and
with seeds of their own, are the baseline: what differs between them is chance. Outside effects are ``recorded`` (people
who are asked the same question under the same preregistration answer the same, and a language model that is sent the
same request says the same; what was never asked is asked now, except of people) or ``live`` (simulated people and
language models are asked anew). A branch never recruits anybody.
"""

from __future__ import annotations

import shutil
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from rich.table import Table

from lakatos.experiments.errors import ExperimentError, SourceError
from lakatos.experiments.participants.source import ParticipantSource, Recruitment, Waiting
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import PeopleRecruited
from lakatos.experiments.task import Design, StimulusOffer
from lakatos.flows.branches.branch import RecordEdit, branch, edited, find_record
from lakatos.flows.branches.rates import (
    ReplayArm,
    baseline_repeats,
    difference_interval,
    fisher_p,
    holm,
)
from lakatos.flows.campaign import run_campaign
from lakatos.flows.errors import FlowError, RewindError
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.engine import execute
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import Run, check_code_of, check_run, open_run, read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.language_models.client import LanguageModel, ModelCompletion, ModelRequest
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.discovery.roles.record import ModelsChosen
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.journal import Event
from lakatos.traces.step import JOURNAL_FILE, Trace
from lakatos.traces.wording import plural

Effects = Literal["recorded", "live"]
Outcome = Callable[[RunState, RunState], bool | None]
"""Whether a concluded branch succeeded, given its origin; None where it cannot be told."""
RECOVERED = 0.01
"""Mean squared error of choice proportions up to which the hidden rule of simulated people counts as found."""


def _same_leader(state: RunState, origin: RunState) -> bool | None:
    if state.campaign.concluded is None or origin.campaign.concluded is None:
        return None
    return state.campaign.concluded.record.leader == origin.campaign.concluded.record.leader


def _holds(state: RunState, origin: RunState) -> bool | None:
    return None if state.campaign.concluded is None else state.campaign.concluded.record.holds


def _new_leader(state: RunState, origin: RunState) -> bool | None:
    return (
        None
        if state.campaign.concluded is None
        else state.campaign.concluded.record.leader not in state.seeds
    )


def _recovered(state: RunState, origin: RunState) -> bool | None:
    if state.campaign.concluded is None or state.campaign.truth is None:
        return None
    error = state.campaign.truth.record.corrected.get(state.campaign.concluded.record.leader)
    return None if error is None else error <= RECOVERED


OUTCOMES: Mapping[str, Outcome] = {
    "same_leader": _same_leader,
    "holds": _holds,
    "new_leader": _new_leader,
    "recovered": _recovered,
}
"""The leader is the origin's; the verdict holds; the leader is none of the first theories; the leader predicts like the
hidden rule of simulated people."""


@dataclass(frozen=True)
class ComparedEdit:
    """One change against replays without it."""

    edit: RecordEdit
    arm: ReplayArm
    difference: float
    """Difference of the rates, change minus baseline."""
    interval: tuple[float, float]
    """Covers the difference with at least 95%."""
    p_value: float
    """Fisher's exact test, two-sided."""
    adjusted: float
    """p value after Holm's correction, over all changes compared."""


@dataclass(frozen=True, repr=False)
class RewindResult(Result):
    """Effect of a change."""

    run: str
    at: int
    """Number of the record."""
    kind: str
    outcome: str
    baseline: ReplayArm
    compared: tuple[ComparedEdit, ...]
    n_undecided: int
    """Branches that came to no outcome, and are left out."""

    def lines(self) -> Iterator[Shown]:
        """Lines of the result, beside its baseline."""
        low, high = self.baseline.interval()
        yield (
            f"record {self.at} ({self.kind}), outcome {self.outcome!r}; as it was: {self.baseline.n_successes} of "
            f"{self.baseline.n} replays (95% interval {low:.2f} to {high:.2f})"
        )
        if self.compared:
            table = Table(
                "change",
                "replays",
                "rate",
                "difference",
                "95% interval",
                "p",
                "p (Holm)",
            )
            for item in self.compared:
                table.add_row(
                    escape(item.edit.words), f"{item.arm.n_successes} of {item.arm.n}", f"{item.arm.rate:.2f}",
                    f"{item.difference:+.2f}", f"{item.interval[0]:+.2f} to {item.interval[1]:+.2f}",
                    f"{item.p_value:.3g}", f"{item.adjusted:.3g}",
                )  # fmt: skip
            yield table
        if self.n_undecided:
            yield (
                f"left out, as they came to no outcome: {plural(self.n_undecided, 'branch', 'branches')}"
            )


def rewind(
    folder: Path,
    at: str,
    edits: Sequence[RecordEdit],
    *,
    repeats: int,
    outcome: str = "same_leader",
    effects: Effects = "recorded",
    branches: Path | None = None,
    data: Path | None = None,
    n_workers: int = 2,
    progress: Callable[[str], None] = lambda text: None,
) -> RewindResult:
    """Branch a run at a record, once for each change and repeat and oftener without a change, and compare.

    Args:
        folder: Folder of the run; only read.
        at: A record, by number or beginning of its digest.
        edits: Hypotheses, one changed field each.
        repeats: Replays of each hypothesis; the baseline, which all share, has more (see `baseline_repeats`).
        outcome: A name in `OUTCOMES`.
        effects: Whether outside effects are as recorded wherever the same was asked, or all asked anew.
        branches: Folder of the branches; ``branches`` in the run's folder by default. One that is there is carried on.
        data: Folder of the published data sets, for archival studies.
        n_workers: Theories that run at the same time.
        progress: Told what goes on.

    Raises:
        RunMissingError: There is no run.
        UnusableError: Other code computed the run.
        RewindError: A change, the record, the outcome or the number of repeats cannot be.
    """
    if repeats < 1:
        raise RewindError(f"{repeats} repeats show nothing; give a larger number.")
    judged = _outcome(outcome)
    place = _BranchPlace(
        folder, branches or folder / "branches", effects, data, n_workers, judged, progress
    )
    chosen = _record(folder, at, edits)
    check_code_of(folder)
    n_baseline = baseline_repeats(repeats, len(edits))
    arms = [
        _arm(place, chosen, None, n_baseline),
        *(_arm(place, chosen, edit, repeats) for edit in edits),
    ]
    baseline, *changed = [arm for arm, _ in arms]
    n_undecided = sum(undecided for _, undecided in arms)
    p_values = [fisher_p(arm, baseline) for arm in changed]
    compared = tuple(
        ComparedEdit(
            edit=edit,
            arm=arm,
            difference=arm.rate - baseline.rate,
            interval=difference_interval(arm, baseline),
            p_value=p_value,
            adjusted=adjusted,
        )
        for edit, arm, p_value, adjusted in zip(
            edits, changed, p_values, holm(p_values), strict=True
        )
    )
    return RewindResult(
        run=folder.name,
        at=chosen.seq,
        kind=chosen.kind,
        outcome=outcome,
        baseline=baseline,
        compared=compared,
        n_undecided=n_undecided,
    )


def _outcome(name: str) -> Outcome:
    if name not in OUTCOMES:
        raise RewindError(f"there is no outcome {name!r}; there are: {', '.join(OUTCOMES)}.")
    return OUTCOMES[name]


def _record(folder: Path, at: str, edits: Sequence[RecordEdit]) -> Event:
    """The record to branch at, once it is known that every change can be made in it."""
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        chosen = find_record(list(trace.journal.events()), at)
        record = trace.read(chosen).record
    for edit in edits:
        edited(record, edit)
    if len({edit.words for edit in edits}) < len(edits):
        raise RewindError("one change is listed twice; name each hypothesis once.")
    return chosen


def _arm(
    place: _BranchPlace, at: Event, edit: RecordEdit | None, repeats: int
) -> tuple[ReplayArm, int]:
    """Replays under one condition, and how many of them came to no outcome."""
    found = [place.carry_on(at, edit, number) for number in range(1, repeats + 1)]
    decided = [item for item in found if item is not None]
    return ReplayArm(sum(decided), len(decided)), len(found) - len(decided)


@dataclass(frozen=True)
class _BranchPlace:
    """Place and settings of branches."""

    origin: Path
    branches: Path
    effects: Effects
    data: Path | None
    n_workers: int
    outcome: Outcome
    progress: Callable[[str], None]

    def carry_on(self, at: Event, edit: RecordEdit | None, number: int) -> bool | None:
        """The outcome of one branch, which is made unless it is there."""
        condition = (
            "as-it-was"
            if edit is None
            else digest_of({"field": edit.field, "value": edit.value})[:8]
        )
        folder = self.branches / f"{at.seq}-{self.effects}-{condition}-{number}"
        seed = (
            int(digest_of({"origin": at.hash, "repeat": number, "condition": condition}), 16)
            % 2**31
        )
        is_new = not (folder / JOURNAL_FILE).exists()
        if is_new:
            branch(self.origin, folder, str(at.seq), edit=edit, seed=seed, effects=self.effects)
        self.progress(f"branch {folder.name}")
        try:
            carry_branch_on(folder, self.origin, data=self.data, n_workers=self.n_workers)
        except (FlowError, ExperimentError):
            if is_new:  # what is refused leaves no branch behind
                shutil.rmtree(folder)
                with suppress(OSError):
                    self.branches.rmdir()
            raise
        (state, trace), (before, own) = read_state(folder), read_state(self.origin)
        trace.close()
        own.close()
        return self.outcome(state, before)


def carry_branch_on(
    folder: Path, origin: Path, *, data: Path | None = None, n_workers: int = 2
) -> None:
    """Carry a branch on to its verdict, with the outside effects that its description names.

    Raises:
        RewindError: It would have to wait for people.
        SourceError: It would have to ask people something that they were not asked.
    """
    with open_run(folder, data=data, n_workers=n_workers) as run:
        recorded = run.trace.journal.meta["origin"]["effects"] == "recorded"
        run.source = _source(run.source, run.config, run.trace, recorded=recorded)
        if recorded and run.config.models:
            _play(run, origin)
        if isinstance(execute("none", run_campaign, run), AnswersAwaited):
            raise RewindError(
                f"the branch {folder} would wait for participants, and a branch never recruits; "
                "branch after their responses arrived."
            )


def _source(
    source: ParticipantSource, config: CampaignConfig, trace: Trace, *, recorded: bool
) -> ParticipantSource:
    """The source of a branch: never real participants; simulated ones respond anew if effects are live."""
    if config.source.responds_later:
        recruited = frozenset(item.record.experiment for item in trace.records(PeopleRecruited))
        return _AbsentPeople(source, recruited)
    if not recorded:
        source.respond_anew(trace.seed)
    return source


class _AbsentPeople(ParticipantSource):
    """A source in place of real participants: their responses are in the trace, and no others are collected."""

    def __init__(self, source: ParticipantSource, asked: frozenset[str]) -> None:
        self._source, self._asked = source, asked

    def offers(self, rng: np.random.Generator, n_most: int) -> Sequence[StimulusOffer]:
        """Return the trials that could have been presented."""
        return self._source.offers(rng, n_most)

    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Refuse, unless they were asked this before."""
        if design.name not in self._asked:
            raise SourceError(
                f"the branch would need participants for experiment {design.name}, and a branch never "
                "recruits: branch at a "
                "later record, or change only how their responses are analysed."
            )
        return Recruitment(key, design.name, design.n_participants)

    def collect(self, recruitment: Recruitment, n_participants: int) -> Waiting:
        """Bring no responses: in a branch nobody new is asked."""
        return Waiting()

    def want(self, recruitment: Recruitment, n_participants: int) -> None:
        """Refuse to ask for more."""
        raise SourceError(
            f"the branch would need more participants for {recruitment.experiment}, and a branch never recruits."
        )

    def close(self, recruitment: Recruitment) -> None:
        """Close nothing, as nobody was asked."""


def _play(run: Run, origin: Path) -> None:
    """Have every language model say again what it said to the same request in the origin."""
    with Trace.open(origin, RECORD_TYPES, read_only=True) as trace:
        calls = [item.record for item in trace.records(LanguageModelCalled)]
        contexts = [item.record for item in trace.records(ModelsChosen)]
        completions: dict[str, dict[Digest, deque[ModelCompletion]]] = defaultdict(
            lambda: defaultdict(deque)
        )
        for call in calls:
            completion = ModelCompletion.model_validate(trace.artifacts.get_json(call.completion))
            completions[call.model][call.request].append(completion)
    for name, caller in run.models.callers.items():
        caller.model = _RepeatingModel(caller.model, completions[name])
    for chosen in contexts:
        for choice, tokens in zip(chosen.choices, chosen.contexts, strict=True):
            run.models.contexts[choice.model] = tokens
    run.models.looked = True


class _RepeatingModel:
    """Says again what it said, and asks the model behind what nobody asked before."""

    def __init__(
        self, model: LanguageModel, completions: Mapping[Digest, deque[ModelCompletion]]
    ) -> None:
        self._model, self._said = model, completions

    @property
    def name(self) -> str:
        """Name of the model that answers behind it."""
        return self._model.name

    @property
    def version(self) -> str:
        """Version of the model that answers behind it."""
        return self._model.version

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """The recorded answer, in order where there are several; errors as of the model behind."""
        answers = self._said.get(
            digest_of(request.model_copy(update={"seed": 0}).model_dump(mode="json"))
        )
        if answers:
            return answers.popleft() if len(answers) > 1 else answers[0]
        return await self._model.complete(request)
