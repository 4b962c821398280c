"""Records of roles that language models took: what they stated, what was believed, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import model_validator

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.ledger import Budget
from lakatos.language_models.settings import ModelSettings
from lakatos.theories.engine.record import SuccessorSubmitted
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record, RecordTypes, kind_of


class ModelChoice(FrozenPart):
    """The model that takes a role."""

    role: str
    model: str
    version: str
    """Version that answered last under this name; before that, the version that the study declares."""

    @model_validator(mode="before")
    @classmethod
    def _without_draws(cls, body: Any) -> Any:
        """Earlier versions chose among several models by draws from what was believed of them."""
        if not isinstance(body, dict):
            return body
        return {
            name: item for name, item in body.items() if name not in ("how", "draws", "n_evidence")
        }


class ModelsChosen(Record):
    """The model for each question of a stage, or why none is asked."""

    kind: Literal["models_chosen"] = "models_chosen"
    version: Literal[1] = 1
    cycle: int
    stage: str
    choices: tuple[ModelChoice, ...]
    """One for each question, in order."""
    contexts: tuple[int, ...]
    """Tokens of prompt and answer for each question."""
    asked: bool
    reason: str
    """Reason why no model is asked; empty otherwise."""


class RoleAnswered(Record):
    """A language model answered in a role, or failed to."""

    kind: Literal["role_answered"] = "role_answered"
    version: Literal[1] = 1
    cycle: int
    role: str
    task: str
    """Name of the prompt."""
    subject: str
    """Lens, theory or pair that the question was about."""
    prompt: Fingerprint
    """Version of the prompt."""
    rules: Fingerprint
    """Version of the rules pinned to the request."""
    model: str
    """Name of the model in the study."""
    model_version: Fingerprint
    """Version that the study declares."""
    served: Fingerprint
    """Version of model and server that answered, or that answered last before a failure."""
    calls: tuple[Digest, ...]
    """Records of the calls; the last one was read."""
    outcome: str
    """``answered``, or the reason why there is no readable answer."""
    reason: str
    answer: Digest | None
    """Artifact that holds the typed answer."""


class MatterInvestigated(Record):
    """A language model called tools before it answered in a role."""

    kind: Literal["investigated"] = "investigated"
    version: Literal[1] = 1
    cycle: int
    role: str
    task: str
    """Name of the prompt of the question."""
    subject: str
    """Lens, theory or pair that the question is about."""
    prompt: Fingerprint
    """Version of the instructions about tools."""
    model: str
    """Name of the model in the study."""
    calls: tuple[Digest, ...]
    """Records of the calls to the model."""
    results: tuple[Digest, ...]
    """Records of successful tool calls, in order."""
    refused: tuple[str, ...]
    """Calls that were not made or failed: the tool, the outcome, and the message to the model."""
    outcome: str
    """``answered``, or another end of the conversation."""
    reason: str
    notes: str
    """Findings that the model states; empty if records do not support them."""
    problems: tuple[str, ...]
    """Statements that no record supports."""

    @property
    def is_cut(self) -> bool:
        """Whether it ended with a call that was not answered, and of which there is no record."""
        return self.outcome in ("too_long", "out_of_budget", "unreachable")


class CheckedStatement(Record):
    """Something that a role said, held against the records it cites."""

    kind: Literal["checked_statement"] = "checked_statement"
    version: Literal[1] = 1
    text: str
    """The statement in the role's own words, which nothing checks."""
    cites: tuple[str, ...]
    """Records that it cites, as the role wrote them."""
    supported: bool
    """Whether it has typed claims and all of them came out when they were computed from the cited records."""
    problems: tuple[str, ...]
    """Parts that the records do not support."""
    told: str = ""
    """Its claims in the laboratory's words, if they came out: this is passed on as supported, never the text."""
    computed: bool | None = None
    """Whether there was anything to compute; None for earlier versions, which looked for digits in the records."""

    @property
    def outcome(self) -> Literal["supported", "not borne out", "not checked"]:
        """Name of the outcome wherever it is shown."""
        if self.problems:
            return "not borne out"
        return "supported" if self.supported and self.computed else "not checked"


class CaseRead(Record):
    """Statements of the arbiter, or of a rival's advocate, about a theory."""

    kind: Literal["case_read"] = "case_read"
    version: Literal[1] = 1
    cycle: int
    answer: Digest
    """Record of the answer."""
    task: str
    theory: Digest
    statements: tuple[CheckedStatement, ...]
    hypothesis: str
    """A conjecture, not checked; empty where a pinned rule forbids it."""
    change: str


class SuccessorTried(Record):
    """A draft of a reviser was checked and fitted."""

    kind: Literal["successor_tried"] = "successor_tried"
    version: Literal[1] = 1
    cycle: int
    lens: str
    attempt: int
    """Round of the reviser, from 0."""
    answer: Digest
    """Record of the answer with the draft."""
    model: str
    outcome: Literal["submitted", "refused", "duplicate"]
    """``submitted`` if it passed; of each lens the best in a cycle goes to the judges (`best_drafts`)."""
    reason: str
    """Reason of a refusal, as returned to the author; empty if submitted."""
    name: str
    source: Digest
    """Artifact with the text."""
    fitted: Digest | None
    """Artifact with the same theory, its ranges narrowed to the responses so far."""
    parents: tuple[Digest, ...]
    change: str
    criterion: float | None
    """Criterion of the search, nats per choice."""
    error: float | None
    """Mean squared error of choice proportions on the responses so far."""
    report: Digest | None = None
    """Artifact with the feedback to the author: scores beside other theories', estimates, and errors."""


class DraftsScreened(Record):
    """A few of several drafts in one answer were selected for fitting, by a score before any fit."""

    kind: Literal["drafts_screened"] = "drafts_screened"
    version: Literal[1] = 1
    cycle: int
    lens: str
    attempt: int
    answer: Digest
    """Record of the answer with the drafts."""
    sources: tuple[Digest, ...]
    scores: tuple[float | None, ...]
    """Nats per choice with each draft's declared population; None for a draft that cannot be run."""
    reasons: tuple[str, ...]
    """Reason why a draft cannot be run, for each draft; empty if it can."""
    fitted: tuple[int, ...]
    """Places of the drafts that are fitted."""

    @property
    def n_passed_over(self) -> int:
        """Drafts that were looked at and not fitted."""
        return len(self.sources) - len(self.fitted)


def best_drafts(tried: Sequence[SuccessorTried]) -> list[SuccessorTried]:
    """The best draft of each lens and cycle among those that passed, by their criterion, the best first."""
    best: dict[tuple[int, str], SuccessorTried] = {}
    for item in tried:
        if item.outcome == "submitted":
            key = (item.cycle, item.lens)
            other = best.get(key)
            if other is None or (item.criterion or 0.0) > (other.criterion or 0.0):
                best[key] = item
    return sorted(best.values(), key=lambda item: -(item.criterion or 0.0))


class AnalysisMade(Record):
    """Code of a language model analysed the open responses in the sandbox."""

    kind: Literal["analysis_made"] = "analysis_made"
    version: Literal[1] = 1
    cycle: int
    lens: str
    attempt: int
    """Round of the reviser, from 0."""
    answer: Digest
    """Record of the answer with the code."""
    code: Digest
    """Artifact with the code."""
    outcome: Literal["returned", "refused"]
    told: str
    """Output, or the reason why there is none, as returned to the author."""


class ClaimAudited(Record):
    """A model read a claim without its code, and its predictions were tested on the code."""

    kind: Literal["claim_audited"] = "claim_audited"
    version: Literal[1] = 1
    cycle: int
    answer: Digest
    """Record of the auditor's answer."""
    theory: Digest
    """Artifact with the source."""
    held: tuple[str, ...]
    contradicted: tuple[str, ...]
    """Predictions with counterexamples: words and code differ, or the auditor misread the words. They refuse no
    theory."""
    not_tried: tuple[str, ...]
    """Predictions that cannot be tested, and why."""
    unclear: str


class SuccessorsProposed(Record):
    """Theories that language models submit in a cycle, beside the search."""

    kind: Literal["successors_proposed"] = "successors_proposed"
    version: Literal[1] = 1
    cycle: int
    n_asked: int
    n_answered: int
    submissions: tuple[SuccessorSubmitted, ...]


class BudgetRaised(Record):
    """The researcher raised the budget for language models."""

    kind: Literal["budget_raised"] = "budget_raised"
    version: Literal[1] = 1
    budget: Budget
    """Budget in place of the study's."""


class ModelChanged(Record):
    """The researcher changed the settings of a model of the run."""

    kind: Literal["model_changed"] = "model_changed"
    version: Literal[1] = 1
    settings: ModelSettings
    """Settings in place of those with the same name."""


ROLE_RECORDS: RecordTypes = {
    kind_of(record): record
    for record in (
        ModelsChosen,
        RoleAnswered,
        MatterInvestigated,
        CaseRead,
        SuccessorTried,
        AnalysisMade,
        DraftsScreened,
        ClaimAudited,
        SuccessorsProposed,
        BudgetRaised,
        ModelChanged,
    )
}
"""Records of roles, for the table of a trace's types."""
