"""Memory in a campaign and across campaigns: where it is kept, what is recalled, and which tools may be called.

The library of a folder is a fold over the traces of all runs there, made whenever it is wanted. No file holds it, so
none can be stale or forged. A campaign that shares it takes it once, when it begins, into its own trace, so that a
resumed run recalls what it recalled the first time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakatos.experiments.errors import ExperimentError
from lakatos.experiments.participants.table import get_trials
from lakatos.experiments.record import TrialsCollected
from lakatos.experiments.same_answers import are_same_answers
from lakatos.experiments.task import Trials
from lakatos.flows.errors import StudyError
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.records import ACTS, RECORD_TYPES
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.memory.library import Library, Valid, library_from_bytes, rebuild
from lakatos.memory.plan import Plan
from lakatos.memory.recall import (
    LessonRecall,
    LexicalRecall,
    Recalled,
    RecallNothing,
    RecallSituation,
)
from lakatos.memory.record import (
    LessonsRecalled,
    LibraryLookedAt,
    LibraryTaken,
)
from lakatos.memory.tool import ToolDraft, ToolStanding
from lakatos.memory.tools import TOOLS
from lakatos.memory.winner import SEED, TheoryWon, may_compete
from lakatos.memory.winner_start import (
    campaigns_found,
    can_be_tested,
    has_bins_of,
    rank_winners,
    starts_of_winners,
)
from lakatos.theories.discovery.grammar_search.prior_odds import EQUAL_ODDS, PriorOdds, prior_odds
from lakatos.theories.discovery.grammar_search.proposal import SearchStart
from lakatos.theories.engine.record import Diagnosis
from lakatos.theories.engine.scoreboard import left_out_advantage
from lakatos.theories.engine.scoring.score import is_tie
from lakatos.theories.language.grammar import composition_of
from lakatos.traces.digest import Digest
from lakatos.traces.errors import ArtifactError, TraceError
from lakatos.traces.head import known_key, signed_up_to
from lakatos.traces.journal import INTENT, Event
from lakatos.traces.place import holds_journal, run_folders
from lakatos.traces.step import Recorded, StepContext, Trace
from lakatos.traces.validity import Validity
from lakatos.traces.wording import plural

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run
    from lakatos.flows.run.state import RunState
    from lakatos.flows.run.study_sections import ParticipantsConfig

MEMORY_FOLDER = ".memory"
DESK = "desk"
"""Trace of decisions about learned tools that commands of earlier versions made; it is still read."""
ARCHIVES_APART = " + "
"""Text between the names of archives."""
START_SHARE = 3
"""One candidate of a search in so many may be a theory that won elsewhere."""


# --- across campaigns -----------------------------------------------------------------------------------------------


def desk_path(runs: Path) -> Path:
    """Folder of the desk's trace."""
    return runs / MEMORY_FOLDER / DESK


def traces_in(runs: Path) -> Iterator[tuple[Path, list[Event]]]:
    """Folders and events of all runs of a folder in the order in which they began, then of the desk.

    A run that cannot be read is passed over: `lakatos audit` says what is wrong with it.
    """
    found = [(folder, _events(folder)) for folder in run_folders(runs)]
    there = [(folder, events) for folder, events in found if events]
    yield from sorted(there, key=lambda item: (item[1][0].time_utc, item[0].name))
    if events := _events(desk_path(runs)):
        yield desk_path(runs), events


def _events(folder: Path) -> list[Event]:
    if not holds_journal(folder):
        return []
    try:
        with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
            return [event for event in trace.journal.events() if event.kind != INTENT]
    except TraceError:
        return []


def shared_library(runs: Path) -> Library:
    """The library of a folder of runs, from their traces alone; the same traces make the same library.

    Of a run counts what a head covers that this laboratory signed: anybody could have written the rest.
    """
    library = Library()
    for folder, events in traces_in(runs):
        unsigned = _unsigned(runs, folder, events)
        signed = [event for event in events if event.record_digest not in unsigned]
        # What was erased since the last head counts as erased all the same.
        library = rebuild(signed, library, Validity(events, roots=_anything, acts=ACTS).valid)
    return library


def _unsigned(runs: Path, folder: Path, events: Sequence[Event]) -> frozenset[Digest]:
    """Records of a run that no head of this laboratory covers; the desk, which a person writes, has no heads."""
    if folder == desk_path(runs):
        return frozenset()
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        last = signed_up_to(folder, trace.journal, known_key() or "")
    return frozenset(event.record_digest for event in events if event.seq > last)


def not_signed(runs: Path) -> list[str]:
    """Names of the runs of a folder of which nothing counts, because this laboratory signed nothing of them."""
    return [
        folder.name
        for folder, events in traces_in(runs)
        if len(_unsigned(runs, folder, events)) == len({event.record_digest for event in events})
    ]


def _anything(digest: Digest) -> bool:
    """Whatever no record has is an artifact or a declared root, whether or not it is still there."""
    return True


def study_of(name: str, seed: int) -> str:
    """Name of a study in what it leaves behind: run again with the same seed it is the same study."""
    return f"{name}{SEED}{seed}"


def recorded_calls(runs: Path, plans: Sequence[Plan]) -> dict[Digest, tuple[str, Any, Any]]:
    """Tool, arguments and value of the recorded calls behind plans, by record, wherever a trace still holds them."""
    wanted = {digest for plan in plans for digest in plan.evidence}
    found: dict[Digest, tuple[str, Any, Any]] = {}
    for folder, events in traces_in(runs):
        own = [
            event
            for event in events
            if event.record_digest in wanted and event.body.get("outcome") == "returned"
        ]
        if not own:
            continue
        with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
            for event in own:
                try:
                    arguments, value = (
                        trace.artifacts.get_json(event.body[name])
                        for name in ("arguments", "value")
                    )
                except ArtifactError:  # erased, as somebody withdrew
                    continue
                found[event.record_digest] = (event.body["tool"], arguments, value)
    return found


# --- in a campaign --------------------------------------------------------------------------------------------------


async def take_library(run: Run) -> None:
    """Take what the other runs of the folder have learned, once: all of it where the study shares, else winners."""
    if not run.config.memory.takes_library:
        return
    settings = run.config.memory

    def work(context: StepContext) -> LibraryTaken:
        library = shared_library(run.folder.parent)
        if not settings.shared:
            library = library.of_kind(TheoryWon)
        seen = found_on_these_answers(run.evidence, run.folder, run.data, library)
        found_in = {item.study for digest, item in library.all(TheoryWon) if digest in seen}
        library = library.without(seen, ())
        studies = {item.study for _, item in library.all(Plan)}
        return LibraryTaken(
            found_here=tuple(sorted(found_in)),
            library=context.artifacts.put(library.to_bytes()),
            n_lessons=len(library.lessons()),
            n_tools=len(library.drafts()),
            n_studies=len(studies),
        )

    assert run.state.campaign.started is not None
    taken = await run.step(
        "take library", work, returns=LibraryTaken, inputs=[run.state.campaign.started.digest]
    )
    if found_in := taken.record.found_here:
        run.progress.note(
            f"what won in {', '.join(found_in)} was found on these same answers and does not compete"
        )


def found_on_these_answers(
    evidence: RunEvidence, folder: Path, data: Path | None, library: Library
) -> frozenset[Digest]:
    """Winners that were found on answers of this campaign, which can be no test of them.

    Answers are known again as `experiments.same_answers` does it, in whatever file or part they stand. Where the
    answers that a winner was found on can be read no more, it is taken for one that saw these.
    """
    people = evidence.config.participants
    there = {
        digest: item
        for digest, item in library.all(TheoryWon)
        if item.domain == evidence.config.domain
    }
    if not evidence.config.source.is_archive or not there:
        return frozenset()
    own = archive_trials(evidence.config, data, evidence.artifacts)
    unread = {digest for digest, item in there.items() if item.answers}
    own_names = answers_of(people)
    seen = {
        digest
        for digest, item in there.items()
        if item.answers and share_answers(item.answers, own_names)
    }
    for other_folder, events in traces_in(folder.parent):
        left = there.keys() & {event.record_digest for event in events} - seen
        if not left:
            continue
        other = _answers_seen(other_folder, data)
        unread -= left if other else set()
        seen |= left if other and are_same_answers(own, other, evidence.domain) else set()
    return frozenset(seen | unread)


def _answers_seen(folder: Path, data: Path | None) -> list[Trials]:
    """Answers that a run's theories were found on: all of its archive or file, else those that it collected."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        try:
            config = CampaignConfig.model_validate(trace.journal.meta.get("study", {}))
            if config.source.is_archive:
                return list(archive_trials(config, data, trace.artifacts))
        except (ValueError, ExperimentError, StudyError):  # no campaign, or its data are not here
            pass
        try:
            collected = list(trace.records(TrialsCollected))
            return [get_trials(trace.artifacts, item.record.trials) for item in collected]
        except (ArtifactError, TraceError, ExperimentError):  # erased, as somebody withdrew
            return []


def library_in(evidence: RunEvidence) -> Library:
    """All that a campaign may recall: what it took, and what it has learned itself."""
    if evidence.config.memory.arm == "none":
        return Library()
    taken = evidence.state.memory.taken
    if taken is None:
        return evidence.state.memory.library
    library = taken_library(evidence, taken.record.library)
    if evidence.state.memory.looked_at is not None:
        gone = evidence.state.memory.looked_at.record
        library = library.without((), gone.doubted)
    return library.joined(evidence.state.memory.library)


def doubted_since(runs: Path, library: Library) -> frozenset[Digest]:
    """Entries of an earlier library that no longer count in the traces beside it."""
    mine = {digest for digest, _ in library.entries}
    return (shared_library(runs).doubted - library.doubted) & mine


async def look_at_library(run: Run, cycle: int) -> None:
    """See once a cycle whether what was taken still counts where it came from: evidence may have been withdrawn."""
    taken = run.state.memory.taken
    if taken is None or not taken.record.n_lessons + taken.record.n_tools:
        return
    known = taken_library(run.evidence, taken.record.library)

    def work(context: StepContext) -> LibraryLookedAt:
        gone = doubted_since(run.folder.parent, known)
        return LibraryLookedAt(cycle=cycle, doubted=tuple(sorted(gone)))

    before = run.state.memory.looked_at
    found = await run.step(
        "look at library",
        work,
        returns=LibraryLookedAt,
        inputs=[taken.digest],
        position={"cycle": cycle},
    )
    gone = len(found.record.doubted)
    if gone > (len(before.record.doubted) if before else 0):
        run.progress.note(
            plural(
                gone,
                "lesson of an earlier campaign no longer counts",
                "lessons of earlier campaigns no longer count",
            )
        )


def taken_library(evidence: RunEvidence, artifact: Digest) -> Library:
    """The library that a campaign took when it began."""
    if artifact not in evidence.libraries:
        evidence.libraries[artifact] = library_from_bytes(evidence.artifacts.get(artifact))
    return evidence.libraries[artifact]


def validity_in(state: RunState) -> Valid:
    """Return the test for records that count: all but the seats of judges that were displaced."""
    displaced = state.seats.displaced
    return lambda digest: digest not in displaced


def cited(state: RunState, *kinds: type) -> list[Digest]:
    """Records of a campaign's memory that a step which recalls is derived from."""
    own = [
        digest
        for digest, item in state.memory.library.entries
        if not kinds or isinstance(item, kinds)
    ]
    return own + ([state.memory.taken.digest] if state.memory.taken else [])


def recall_in(evidence: RunEvidence, *kinds: str) -> LessonRecall:
    """Return how a campaign recalls: not at all, or by shared words, without winners that may not compete in it."""
    if evidence.config.memory.arm == "none":
        return RecallNothing()
    library, competing = library_in(evidence), winners_in(evidence)
    untold = [digest for digest, item in library.all(TheoryWon) if item not in competing]
    return LexicalRecall(library.without(untold, ()), validity_in(evidence.state), kinds)


def note_recalled(
    run: Run, cycle: int, situation: RecallSituation, found: Recalled
) -> Recorded[LessonsRecalled] | None:
    """Write down what came back; nothing where nothing did."""
    if not found.lessons:
        return None
    record = LessonsRecalled(
        cycle=cycle,
        stage=situation.stage,
        situation=situation.text.strip(),
        lessons=tuple(item.lesson for item in found.lessons),
        texts=tuple(item.text for item in found.lessons),
        notes=tuple(item.note for item in found.lessons),
    )
    return run.record(
        record,
        name="recall",
        inputs=cited(run.state),
        position={"cycle": cycle, "stage": situation.stage},
    )


@dataclass(frozen=True)
class RevisionAdvice:
    """Advice from memory for revisions."""

    warnings: tuple[str, ...] = ()
    """Changes that failed in situations like this one."""
    starts: tuple[SearchStart, ...] = ()
    """Theories that won in earlier campaigns."""
    odds: PriorOdds = EQUAL_ODDS
    """Prior odds of mechanisms, from the leaders of these campaigns."""
    n_campaigns: int = 0
    """Campaigns that the odds rest on."""
    inputs: tuple[Digest, ...] = ()
    """Records behind it."""


def advice_on(evidence: RunEvidence, diagnosis: Diagnosis) -> RevisionAdvice:
    """Recall pitfalls like this diagnosis, and what won in earlier campaigns as far as it fits these people."""
    if evidence.config.memory.arm == "none":
        return RevisionAdvice()
    library, valid = library_in(evidence), validity_in(evidence.state)
    avoid = library.changes_to_avoid(evidence.config.domain, diagnosis.location, valid=valid)
    leader = evidence.theory(diagnosis.leader).composition or {}
    known = {composition_of(leader, {}).key} if leader else set()
    winners = competing_in(evidence) if library_fits(evidence.state) else []
    grammar = evidence.open_family.grammar
    starts = starts_of_winners(rank_winners(winners), grammar, known)
    campaigns = campaigns_found(winners, grammar)
    return RevisionAdvice(
        warnings=avoid,
        starts=starts[: max(evidence.config.theories.candidates // START_SHARE, 1)],
        odds=prior_odds(grammar, [composition for _, composition in campaigns]),
        n_campaigns=len(campaigns),
        inputs=tuple(cited(evidence.state)),
    )


def winners_in(evidence: RunEvidence) -> list[TheoryWon]:
    """Theories of earlier campaigns of the domain that these responses had no part in, the most promising first."""
    return rank_winners(competing_in(evidence))


def competing_in(evidence: RunEvidence) -> list[TheoryWon]:
    """Theories of earlier campaigns of the domain that these responses had no part in, the oldest first."""
    if not evidence.config.memory.takes_winners:
        return []
    there = library_in(evidence).winners(evidence.config.domain, validity_in(evidence.state))
    competing = (item for item in there if competes(item, evidence.config))
    closed = evidence.terms.closed
    return [
        item
        for item in competing
        if has_bins_of(item, evidence.domain)
        and (not closed or can_be_tested(item, evidence.family, closed))
    ]


def competes(winner: TheoryWon, config: CampaignConfig) -> bool:
    """Whether a theory of an earlier campaign may compete: on whose responses it won, and whether they are these."""
    return may_compete(winner, config.source.origin, config.name) and is_news(
        winner, answers_of(config.participants)
    )


def answers_of(people: ParticipantsConfig) -> str:
    """Names of the archived answers that a campaign uses; empty where people are asked anew."""
    return people.answers or ARCHIVES_APART.join(people.archives)


def is_news(winner: TheoryWon, answers: str) -> bool:
    """Whether a campaign's answers had no part in finding a theory, so that they can test it."""
    return not winner.answers or not share_answers(winner.answers, answers)


def share_answers(first: str, second: str) -> bool:
    """Whether two campaigns use answers of one archive, each as `answers_of` names them."""
    own, other = (set(names.split(ARCHIVES_APART)) for names in (first, second))
    return bool(own & other)


def library_fits(state: RunState) -> bool:
    """Whether the search should begin with winners: not where all that compete are clearly behind a first rival."""
    taken = state.memory.winners
    if taken is None:
        return False
    scored = {line.theory for line in state.board().standings}
    there = [name for name in taken.record.theories if name in scored]
    if not there:
        return not taken.record.refused
    return any(
        all(not clearly_behind(state, name, seed) for seed in state.seeds if seed in scored)
        for name in there
    )


def clearly_behind(state: RunState, theory: Digest, other: Digest) -> bool:
    """Whether another theory predicts all answers so far better by more than a tie."""
    gap = left_out_advantage(state.theories, state.experiments, other, theory)
    return gap.value > 0 and not is_tie(gap)


def recall_about(
    run: Run,
    cycle: int,
    stage: str,
    diagnosis: Diagnosis,
    failed: str,
    kinds: tuple[str, ...],
    most: int,
) -> Recorded[LessonsRecalled] | None:
    """Recall lessons when theories are revised, and record them; None if there are none."""
    names = (run.state.theories.name(diagnosis.leader), run.state.theories.name(diagnosis.loser))
    situation = RecallSituation(domain=run.config.domain, stage=stage, rivals=names, failed=failed)
    return note_recalled(
        run, cycle, situation, recall_in(run.evidence, *kinds).recall(situation, most)
    )


# --- tools ----------------------------------------------------------------------------------------------------------


def offers_in(evidence: RunEvidence) -> dict[str, tuple[ToolDraft, ToolStanding]]:
    """Learned tools on offer in a campaign, with their record of success."""
    return (
        library_in(evidence).offers(TOOLS, validity_in(evidence.state))
        if evidence.config.memory.arm == "tools"
        else {}
    )
