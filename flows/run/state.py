"""The state of a run: a pure fold over its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import (
    AnswersArrived,
    CollectionClosed,
    ConsentAsked,
    DesignChosen,
    MoreAsked,
    PeopleRecruited,
    PersonExcluded,
    PersonWithdrawn,
    SealedOpened,
    SessionHeld,
    TrialsCollected,
)
from lakatos.flows.run.memory_records import (
    InquiryMade,
    LessonsRecalled,
    LibraryLookedAt,
    LibraryTaken,
    WinnersTaken,
)
from lakatos.flows.run.records import (
    CampaignConcluded,
    CampaignStarted,
    ConfirmationFinished,
    CycleClosed,
    ExclusionSensitivity,
    FoldFinished,
    TheoriesMapped,
    TruthCompared,
)
from lakatos.flows.run.study import CampaignConfig
from lakatos.judges.anchor import LabelsExposed
from lakatos.judges.decision import CandidateDecided
from lakatos.judges.epoch import EpochOpened
from lakatos.judges.erasure import JudgeMeasured
from lakatos.judges.gate import GateDecided
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.judges.ledger import LevelDrawn
from lakatos.judges.record import (
    AnchorTaken,
    JudgeBred,
    PairDescribed,
    StrategyChosen,
)
from lakatos.judges.rubrics.language_model import PairRead
from lakatos.judges.transition import (
    Epoch,
    EpochCommitted,
    EpochFrozen,
    EpochRefilled,
    JudgeSeated,
)
from lakatos.judges.transition import advance as advance_epoch
from lakatos.memory.library import RECORDS as LESSON_RECORDS
from lakatos.memory.library import Library
from lakatos.theories.record import (
    CompletenessMeasured,
    Diagnosis,
    SealedScored,
    SearchFinished,
    TheoryAdmitted,
    TheoryChecked,
    TheoryFailed,
    TheoryFitted,
    TheoryScored,
)
from lakatos.theories.roles.record import (
    AnalysisMade,
    CaseRead,
    ClaimAudited,
    MatterInvestigated,
    RoleAnswered,
    SuccessorTried,
    TrialsProposed,
)
from lakatos.theories.score import ScoreEstimate, paired_difference
from lakatos.theories.scoreboard import Scoreboard, prequential_advantage, scoreboard
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded


@dataclass(frozen=True)
class RunState:
    """Everything a run knows. Keys of ``theories`` are source digests; values keep the records' own digests."""

    config: CampaignConfig | None = None
    started: Recorded[CampaignStarted] | None = None
    theories: Mapping[Digest, Recorded[TheoryChecked]] = field(default_factory=dict)
    """Checked and passed, in order of arrival."""
    refused: tuple[Recorded[TheoryChecked], ...] = ()
    failed: tuple[Recorded[TheoryFailed], ...] = ()
    """Passed their checks, and failed on answers."""
    pool: Mapping[Digest, Recorded[TheoryAdmitted]] = field(default_factory=dict)
    """Rivals, in order of admission."""
    designs: Mapping[str, Recorded[DesignChosen]] = field(default_factory=dict)
    preregistrations: Mapping[str, Recorded[Preregistration]] = field(default_factory=dict)
    recruited: Mapping[str, Recorded[PeopleRecruited]] = field(default_factory=dict)
    """By experiment."""
    wanted: Mapping[str, int] = field(default_factory=dict)
    """By experiment, people wanted by now, where more were asked for than planned."""
    consents: tuple[Recorded[ConsentAsked], ...] = ()
    answers: Mapping[str, tuple[Recorded[AnswersArrived], ...]] = field(default_factory=dict)
    """By experiment, of people who answer one by one, in order of arrival."""
    sessions: Mapping[str, tuple[Recorded[SessionHeld], ...]] = field(default_factory=dict)
    """By experiment, of a language model that answers in place of people."""
    excluded: tuple[Recorded[PersonExcluded], ...] = ()
    closed: Mapping[str, Recorded[CollectionClosed]] = field(default_factory=dict)
    """By experiment, where collection ended before all planned people had completed."""
    withdrawn: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By experiment, people who withdrew."""
    collected: Mapping[str, Recorded[TrialsCollected]] = field(default_factory=dict)
    """By experiment, in order of collection."""
    fits: Mapping[Digest, Recorded[TheoryFitted]] = field(default_factory=dict)
    """Newest, by theory."""
    scores: Mapping[tuple[Digest, str], Recorded[TheoryScored]] = field(default_factory=dict)
    diagnoses: tuple[Recorded[Diagnosis], ...] = ()
    searches: tuple[Recorded[SearchFinished], ...] = ()
    answered: Mapping[Digest, Recorded[RoleAnswered]] = field(default_factory=dict)
    """Of language models in roles, by the digest of their record."""
    cases: tuple[Recorded[CaseRead], ...] = ()
    """Read by language models."""
    audited: tuple[Recorded[ClaimAudited], ...] = ()
    tried: tuple[Recorded[SuccessorTried], ...] = ()
    """Drafts that language models wrote."""
    analyses: tuple[Recorded[AnalysisMade], ...] = ()
    """Of answers, by code that language models wrote."""
    trials_proposed: tuple[Recorded[TrialsProposed], ...] = ()
    """By advocates that are language models."""
    readings: Mapping[tuple[Digest, Digest], Recorded[PairRead]] = field(default_factory=dict)
    """Of candidate and incumbent, by a judge that is a language model."""
    epochs: tuple[Recorded[EpochOpened], ...] = ()
    verdicts: Mapping[Digest, Recorded[Verdict]] = field(default_factory=dict)
    """By the digest of their record."""
    resolved: Mapping[Digest, Recorded[VerdictResolved]] = field(default_factory=dict)
    """By the digest of the verdict's record."""
    decided: Mapping[Digest, Recorded[CandidateDecided]] = field(default_factory=dict)
    """By candidate, the last decision about it."""
    judging: Epoch | None = None
    """Where the evolution of judges stands; None where they take no seats."""
    anchors: tuple[Recorded[AnchorTaken], ...] = ()
    exposed: tuple[LabelsExposed, ...] = ()
    """Looks at labels of the anchor set."""
    bred: Mapping[Digest, Recorded[JudgeBred]] = field(default_factory=dict)
    """By the judge's version."""
    seats: Mapping[str, Recorded[JudgeSeated]] = field(default_factory=dict)
    """In force, by slot."""
    pairs: Mapping[tuple[Digest, int], Recorded[PairDescribed]] = field(default_factory=dict)
    """By candidate and cycle."""
    measured: Mapping[Digest, Recorded[JudgeMeasured]] = field(default_factory=dict)
    """By the digest of their record, those of judges that still have their seat."""
    n_measured: int = 0
    """All that were ever made."""
    n_rescored: int = 0
    """Those of them that only judge again what a displaced judge had judged."""
    frozen: tuple[Recorded[EpochFrozen], ...] = ()
    drawn: tuple[Recorded[LevelDrawn], ...] = ()
    """Levels of tests on the anchor set."""
    gates: tuple[Recorded[GateDecided], ...] = ()
    committed: tuple[Recorded[EpochCommitted], ...] = ()
    refilled: tuple[Recorded[EpochRefilled], ...] = ()
    strategies: tuple[Recorded[StrategyChosen], ...] = ()
    """In the order of cycles."""
    library: Library = field(default_factory=Library)
    """What was learned in this campaign."""
    taken: Recorded[LibraryTaken] | None = None
    """What others had learned before."""
    looked_at: Recorded[LibraryLookedAt] | None = None
    """What of it no longer counts, by the newest look."""
    winners: Recorded[WinnersTaken] | None = None
    """Theories of earlier campaigns that compete."""
    recalled: tuple[Recorded[LessonsRecalled], ...] = ()
    inquiries: tuple[Recorded[InquiryMade], ...] = ()
    investigated: tuple[Recorded[MatterInvestigated], ...] = ()
    """What language models looked into with the laboratory's tools."""
    displaced: frozenset[Digest] = frozenset()
    """Seats of judges that lost them: what they justified is doubted."""
    cycles: tuple[Recorded[CycleClosed], ...] = ()
    sealed: Recorded[SealedOpened] | None = None
    sealed_scores: Mapping[Digest, Recorded[SealedScored]] = field(default_factory=dict)
    """By theory."""
    completeness: Recorded[CompletenessMeasured] | None = None
    """Of the leader and its rivals, at the verdict."""
    truth: Recorded[TruthCompared] | None = None
    map: Recorded[TheoriesMapped] | None = None
    folds: tuple[Recorded[FoldFinished], ...] = ()
    confirmation: Recorded[ConfirmationFinished] | None = None
    sensitivity: Recorded[ExclusionSensitivity] | None = None
    concluded: Recorded[CampaignConcluded] | None = None

    def name(self, theory: Digest) -> str:
        """A theory's name, with the beginning of its digest where another of the pool has the same."""
        name = self.theories[theory].record.name
        same = sum(known.record.name == name for known in self.theories.values())
        return f"{name} ({theory[:6]})" if same > 1 else name

    def board(self) -> Scoreboard:
        """All rivals on all experiments."""
        return scoreboard(
            list(self.pool),
            list(self.collected),
            {key: item.record for key, item in self.scores.items()},
            {name: item.record for name, item in self.theories.items()},
            {name: item.record for name, item in self.sealed_scores.items()},
        )

    @property
    def n_tried(self) -> int:
        """Theories among which the rivals were picked: candidates of searches, and drafts of language models."""
        return sum(item.record.n_attempts for item in self.searches) + len(self.tried)

    def frozen_advantage(self, first: Digest, second: Digest) -> tuple[ScoreEstimate, int] | None:
        """`prequential_advantage` of one theory over another on all experiments so far."""
        scores = {key: item.record for key, item in self.scores.items()}
        return prequential_advantage(first, second, list(self.collected), scores)

    def left_out_advantage(self, first: Digest, second: Digest) -> ScoreEstimate:
        """Of one theory over another on all data so far, each experiment predicted from the others."""
        own, other = (
            [self.scores[name, item].record.left_out.scores for item in self.collected]
            for name in (first, second)
        )
        return paired_difference(own, other)

    def proposals(self, cycle: int, number: int) -> list[Recorded[TrialsProposed]]:
        """Trials proposed for an experiment that passed their checks."""
        found = [
            item
            for item in self.trials_proposed
            if (item.record.cycle, item.record.number) == (cycle, number)
        ]
        return [item for item in found if item.record.passed]

    @property
    def seeds(self) -> list[Digest]:
        """The theories that the study started from: published ones and its own, not those of earlier campaigns."""
        won = self.from_library
        return [
            digest
            for digest, item in self.pool.items()
            if item.record.cycle == 0 and digest not in won
        ]

    @property
    def from_library(self) -> frozenset[Digest]:
        """Theories that came from earlier campaigns."""
        return frozenset(self.winners.record.theories) if self.winners else frozenset()


def advance(state: RunState, item: Recorded[Any]) -> RunState:
    """The state after one more record; records it has no place for change nothing."""
    record = item.record
    match record:
        case CampaignStarted():
            return replace(state, started=item, config=CampaignConfig.model_validate(record.config))
        case TheoryChecked():
            if not record.passed:
                return replace(state, refused=(*state.refused, item))
            return replace(state, theories={**state.theories, record.theory: item})
        case TheoryAdmitted():
            return replace(state, pool={**state.pool, record.theory: item})
        case DesignChosen():
            return replace(state, designs={**state.designs, record.experiment: item})
        case Preregistration():
            return replace(
                state, preregistrations={**state.preregistrations, record.experiment: item}
            )
        case PeopleRecruited():
            return replace(state, recruited={**state.recruited, record.experiment: item})
        case MoreAsked():
            return replace(state, wanted={**state.wanted, record.experiment: record.n_participants})
        case ConsentAsked():
            return replace(state, consents=(*state.consents, item))
        case AnswersArrived():
            own = state.answers.get(record.experiment, ())
            if item in own:
                return state
            return replace(state, answers={**state.answers, record.experiment: (*own, item)})
        case SessionHeld():
            held = state.sessions.get(record.experiment, ())
            if item in held:
                return state
            return replace(state, sessions={**state.sessions, record.experiment: (*held, item)})
        case PersonExcluded():
            return replace(state, excluded=(*state.excluded, item))
        case CollectionClosed():
            return replace(state, closed={**state.closed, record.experiment: item})
        case PersonWithdrawn():
            gone = {
                name: (*state.withdrawn.get(name, ()), record.person) for name in record.experiments
            }
            return replace(state, withdrawn={**state.withdrawn, **gone})
        case TrialsCollected():
            return replace(state, collected={**state.collected, record.experiment: item})
        case TheoryFailed():
            rest = {name: known for name, known in state.theories.items() if name != record.theory}
            pool = {name: known for name, known in state.pool.items() if name != record.theory}
            return replace(state, theories=rest, pool=pool, failed=(*state.failed, item))
        case TheoryFitted():
            return replace(state, fits={**state.fits, record.theory: item})
        case TheoryScored():
            return replace(state, scores={**state.scores, (record.theory, record.experiment): item})
        case Diagnosis():
            return replace(state, diagnoses=(*state.diagnoses, item))
        case SearchFinished():
            return replace(state, searches=(*state.searches, item))
        case RoleAnswered():
            return replace(state, answered={**state.answered, item.digest: item})
        case CaseRead():
            return replace(state, cases=(*state.cases, item))
        case ClaimAudited():
            return replace(state, audited=(*state.audited, item))
        case SuccessorTried():
            return replace(state, tried=(*state.tried, item))
        case AnalysisMade():
            return replace(state, analyses=(*state.analyses, item))
        case TrialsProposed():
            return replace(state, trials_proposed=(*state.trials_proposed, item))
        case PairRead():
            return replace(
                state, readings={**state.readings, (record.candidate, record.incumbent): item}
            )
        case EpochOpened():
            return replace(state, epochs=(*state.epochs, item))
        case Verdict():
            return replace(state, verdicts={**state.verdicts, item.digest: item})
        case VerdictResolved():
            return replace(state, resolved={**state.resolved, record.verdict: item})
        case CandidateDecided():
            return replace(state, decided={**state.decided, record.candidate: item})
        case AnchorTaken():
            return replace(state, anchors=(*state.anchors, item))
        case LabelsExposed():
            return replace(state, exposed=(*state.exposed, record))
        case JudgeBred():
            return replace(state, bred={record.judge: item, **state.bred})
        case JudgeSeated():
            seated = replace(state, seats={**state.seats, record.slot: item})
            if record.epoch:
                return seated
            slots = dict(state.judging.slots) if state.judging else {}
            return replace(seated, judging=Epoch({**slots, record.slot: record.judge}))
        case PairDescribed():
            return replace(state, pairs={**state.pairs, (record.candidate, record.cycle): item})
        case JudgeMeasured():
            if item.digest in state.measured:
                return state
            again = any(record.subject in queued.record.queue for queued in state.refilled)
            return replace(
                state,
                measured={**state.measured, item.digest: item},
                n_measured=state.n_measured + 1,
                n_rescored=state.n_rescored + again,
            )
        case EpochFrozen():
            # Read back, the first judges' seats may be erased by now; the snapshot says who sat there.
            judging = state.judging if record.epoch and state.judging else Epoch(record.slots)
            return replace(
                state, judging=advance_epoch(judging, record), frozen=(*state.frozen, item)
            )
        case LevelDrawn():
            return replace(state, drawn=(*state.drawn, item))
        case GateDecided():
            assert state.judging is not None
            return replace(
                state, judging=advance_epoch(state.judging, record), gates=(*state.gates, item)
            )
        case EpochCommitted():
            assert state.judging is not None
            ended = replace(
                state,
                judging=advance_epoch(state.judging, record),
                committed=(*state.committed, item),
            )
            return _without_displaced(ended, record) if record.changed else ended
        case EpochRefilled():
            assert state.judging is not None
            return replace(
                state,
                judging=advance_epoch(state.judging, record),
                refilled=(*state.refilled, item),
            )
        case StrategyChosen():
            return replace(state, strategies=(*state.strategies, item))
        case LibraryTaken():
            return replace(state, taken=item)
        case LibraryLookedAt():
            return replace(state, looked_at=item)
        case WinnersTaken():
            return replace(state, winners=item)
        case LessonsRecalled():
            return replace(state, recalled=(*state.recalled, item))
        case MatterInvestigated():
            return replace(state, investigated=(*state.investigated, item))
        case InquiryMade():
            return replace(state, inquiries=(*state.inquiries, item))
        case CycleClosed():
            return replace(state, cycles=(*state.cycles, item))
        case SealedOpened():
            return replace(state, sealed=item)
        case SealedScored():
            return replace(state, sealed_scores={**state.sealed_scores, record.theory: item})
        case CompletenessMeasured():
            return replace(state, completeness=item)
        case TheoriesMapped():
            return replace(state, map=item)
        case TruthCompared():
            return replace(state, truth=item)
        case FoldFinished():
            return replace(state, folds=(*state.folds, item))
        case ConfirmationFinished():
            return replace(state, confirmation=item)
        case ExclusionSensitivity():
            return replace(state, sensitivity=item)
        case CampaignConcluded():
            return replace(state, concluded=item)
        case _ if type(record) in _LESSONS:
            return replace(state, library=state.library.with_record(item.digest, record))
        case _:
            return state


_LESSONS = frozenset(LESSON_RECORDS.values())


def _without_displaced(state: RunState, committed: EpochCommitted) -> RunState:
    """Verdicts rest on the whole panel, so that a displaced judge takes all of them, and what followed, with it."""
    kept = {
        digest: item
        for digest, item in state.measured.items()
        if item.record.seat not in committed.erases
    }
    displaced = state.displaced | frozenset(committed.erases)
    return replace(state, measured=kept, verdicts={}, resolved={}, decided={}, displaced=displaced)
