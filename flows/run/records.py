"""Records about a campaign as a whole, and the table of all record types."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import (
    AnswersArrived,
    CollectionClosed,
    ConsentAsked,
    DesignChosen,
    ModelTakesPart,
    MoreAsked,
    PeopleRecruited,
    PersonExcluded,
    PersonWithdrawn,
    SealedOpened,
    SessionHeld,
    TrialsCollected,
)
from lakatos.judges.decision import CandidateDecided, CriticAnswered
from lakatos.judges.epoch import EpochOpened
from lakatos.judges.erasure import JudgeMeasured
from lakatos.judges.gate_record import GateDecided, GateRegistered
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.judges.ledger import LevelDrawn
from lakatos.judges.record import (
    AnchorTaken,
    JudgeBred,
    LabelsExposed,
    PairDescribed,
)
from lakatos.judges.transition import EpochCommitted, EpochFrozen, EpochRefilled, JudgeSeated
from lakatos.language_models.record import RECORDS as CALL_RECORDS
from lakatos.language_models.tool_record import RECORDS as TOOL_RECORDS
from lakatos.memory.library import RECORDS as LESSON_RECORDS
from lakatos.memory.record import MEMORY_RECORDS
from lakatos.theories.discovery.roles.record import ROLE_RECORDS
from lakatos.theories.engine.record import (
    CompletenessMeasured,
    Diagnosis,
    DrawsLimited,
    EffectsLearned,
    GroupsCompared,
    PopulationRelearned,
    SealedScored,
    SearchFinished,
    TheoriesTold,
    TheoryAdmitted,
    TheoryChecked,
    TheoryCompared,
    TheoryFailed,
    TheoryFitted,
    TheoryScored,
)
from lakatos.theories.findings.verdicts.record import (
    CampaignConcluded,
    ConfirmationFinished,
    ExactnessWeighed,
    ExclusionSensitivity,
    FoldFinished,
    TheoriesMapped,
    TruthCompared,
)
from lakatos.traces.apart import ApartKinds
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record, RecordTypes, Tombstone, kind_of


class CampaignStarted(Record):
    """A campaign began: its study, and the versions of everything that computes."""

    kind: Literal["campaign_started"] = "campaign_started"
    version: Literal[1] = 1
    config: dict[str, Any]
    """The study, complete with defaults."""
    versions: dict[str, str]
    """Versions of the laboratory, Python and the numerical libraries."""
    science: Fingerprint
    """Digest of the laboratory's own code for theories, experiments, judges and memory."""


class MachineUsed(Record):
    """A pass computes on this machine from here on; another one may differ from it in the last digits.

    No step has it among its inputs, so that keys and random numbers are the same on every machine.
    """

    kind: Literal["machine_used"] = "machine_used"
    version: Literal[1] = 1
    processor: str
    """Model of the processor."""
    kernels: tuple[str, ...]
    """Library, version and kernel of each linear algebra library."""


class AnalysesNoted(Record):
    """Before the verdict, the laboratory's home knew of other runs on the same responses.

    It names none of them. No step has it among its inputs, and another home may know of others.
    """

    kind: Literal["analyses_noted"] = "analyses_noted"
    version: Literal[1] = 1
    n_runs: int = Field(ge=1)
    """Number of other runs, over folders and seeds."""
    n_verdicts: int = Field(ge=0)
    """Number of them that have a verdict."""
    n_opened: int = Field(ge=0)
    """Number of openings of sealed responses by these runs."""


class CodeAccepted(Record):
    """The researcher let a run continue although its code had changed."""

    kind: Literal["code_accepted"] = "code_accepted"
    version: Literal[1] = 1
    before: Fingerprint
    """Fingerprint of the code that computed the records so far."""
    science: Fingerprint
    """Fingerprint of the code that computes the following records."""
    because: str
    """The researcher's reason why the results remain valid."""
    versions: dict[str, str]
    """Versions as in `CampaignStarted`."""


class LeaderboardLine(Record):
    """A theory's standing at the end of a cycle."""

    kind: Literal["leaderboard_line"] = "leaderboard_line"
    version: Literal[1, 2] = 2
    theory: Digest
    score: float
    standard_error: float
    prequential: float | None
    error: float
    correlation: float | None
    behind: float
    behind_error: float
    behind_interval: tuple[float, float] | None = None
    """95% interval of ``behind``; lines of earlier versions do not tell it."""
    tied: bool

    @model_validator(mode="before")
    @classmethod
    def _read_version_1(cls, body: Any) -> Any:
        if not isinstance(body, dict) or "skill" not in body:
            return body
        return {name: value for name, value in body.items() if name != "skill"}


class CycleClosed(Record):
    """A cycle ended, with its leader and whether the campaign continues."""

    kind: Literal["cycle_closed"] = "cycle_closed"
    version: Literal[1] = 1
    cycle: int
    leader: Digest
    leaderboard: tuple[LeaderboardLine, ...]
    improved: bool
    """Whether a new leader is ahead of the last one, on the same data, by more than a tie."""
    stop: str
    """Reason why the campaign ends here; empty if it continues."""


class LeaderFollowed(Record):
    """Change of the leader's predictions over trials of the space since the last cycle."""

    kind: Literal["leader_followed"] = "leader_followed"
    version: Literal[1] = 1
    cycle: int
    leader: Digest
    fit: Digest | None
    """Record of the leader's population."""
    moved: float | None
    """Root mean square difference of proportions; none in the first cycle, and for theories that learn."""


class EarlierRecord(Record):
    """A record of a kind that only earlier versions wrote. It stays in its journal, and nothing is made of it."""

    model_config = ConfigDict(extra="allow")
    kind: str = "earlier"
    version: int = 1


GONE_KINDS = ("inquiry_made", "pair_preferred", "pair_read", "strategy_chosen", "trials_proposed")
"""Inquiries, preferences and readings of theories, varied searches, and experiments proposed by language models."""

RECORD_TYPES: RecordTypes = (
    {
        kind_of(record): record
        for record in (
            CampaignStarted,
            MachineUsed,
            AnalysesNoted,
            CodeAccepted,
            CycleClosed,
            LeaderFollowed,
            ExactnessWeighed,
            CampaignConcluded,
            ConfirmationFinished,
            ExclusionSensitivity,
            TruthCompared,
            TheoriesMapped,
            FoldFinished,
            TheoryChecked,
            TheoryAdmitted,
            TheoryCompared,
            TheoryFailed,
            TheoryFitted,
            PopulationRelearned,
            TheoryScored,
            CompletenessMeasured,
            TheoriesTold,
            GroupsCompared,
            DrawsLimited,
            EffectsLearned,
            SealedScored,
            Diagnosis,
            SearchFinished,
            EpochOpened,
            Verdict,
            VerdictResolved,
            CriticAnswered,
            CandidateDecided,
            DesignChosen,
            Preregistration,
            PeopleRecruited,
            MoreAsked,
            ConsentAsked,
            AnswersArrived,
            ModelTakesPart,
            SessionHeld,
            PersonExcluded,
            CollectionClosed,
            PersonWithdrawn,
            TrialsCollected,
            SealedOpened,
            AnchorTaken,
            LabelsExposed,
            JudgeBred,
            JudgeSeated,
            PairDescribed,
            JudgeMeasured,
            EpochFrozen,
            GateRegistered,
            LevelDrawn,
            GateDecided,
            EpochCommitted,
            EpochRefilled,
        )
    }
    | {**CALL_RECORDS, **TOOL_RECORDS, **ROLE_RECORDS, **LESSON_RECORDS, **MEMORY_RECORDS}
    | dict.fromkeys(GONE_KINDS, EarlierRecord)
)

ENDED_AS_SET = "the preset number of cycles was reached"
"""Beginning of the reason with which a search stops after its last cycle; earlier versions wrote ``budget``."""
ACTS = frozenset(
    kind_of(record)
    for record in (
        CodeAccepted,
        TheoryChecked,
        DesignChosen,
        Preregistration,
        PeopleRecruited,
        MoreAsked,
        ConsentAsked,
        AnswersArrived,
        ModelTakesPart,
        SessionHeld,
        CollectionClosed,
        PersonWithdrawn,
        LabelsExposed,
        EpochFrozen,
        GateRegistered,
        LevelDrawn,
        GateDecided,
        EpochCommitted,
    )
)
"""Acts, which remain valid when the evidence behind them is withdrawn; see `traces.validity.Validity`."""
MADE = {kind_of(TheoryChecked): "theory"}
"""Acts that a withdrawal takes as well unless another record that stays names what they made, such as a theory that a
preregistration compares: the text of a theory that was found in responses may hold numbers that were fitted to them."""
APART_KINDS = ApartKinds(
    roots=frozenset([kind_of(AnswersArrived)]),
    stay=(ACTS | {kind_of(Tombstone)}) - set(MADE),
    named=frozenset(MADE),
)
"""Bodies that a run with single participants keeps apart, so that a withdrawal can erase them."""
NAMED = frozenset([kind_of(TrialsCollected)])
"""Kinds of records whose rows keep their names when their bodies are erased: that a collection had enough participants
is not decided again when one of them withdraws."""
