"""What the trace keeps about roles that language models took: what they said, what was believed, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lakatos.language_models.ledger import Budget
from lakatos.language_models.routing import ModelChoice
from lakatos.theories.engine.record import SuccessorSubmitted
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record, RecordTypes, kind_of


class ModelsChosen(Record):
    """Which model serves each question of a stage, or why none is asked."""

    kind: Literal["models_chosen"] = "models_chosen"
    version: Literal[1] = 1
    cycle: int
    stage: str
    choices: tuple[ModelChoice, ...]
    """One for each question, in order."""
    contexts: tuple[int, ...]
    """Tokens of prompt and answer for which each question was made."""
    asked: bool
    reason: str
    """Why nothing is asked; empty when it is."""


class RoleAnswered(Record):
    """A language model answered in a role, or did not."""

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
    """As the study names it."""
    model_version: Fingerprint
    """As the study declares it."""
    served: Fingerprint
    """Of what answered, its server included; of what answered before where nothing did."""
    calls: tuple[Digest, ...]
    """Records of the calls, the last one of which was read."""
    outcome: str
    """``answered``, or why there is no answer that could be read."""
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
    """Version of what is said about tools."""
    model: str
    """As the study names it."""
    calls: tuple[Digest, ...]
    """Records of the calls to the model."""
    results: tuple[Digest, ...]
    """Records of the calls of tools that returned something, in order."""
    refused: tuple[str, ...]
    """Calls that were not made or came to nothing: the tool, what became of it, and what the model was told."""
    outcome: str
    """``answered``, or how the conversation ended otherwise."""
    reason: str
    notes: str
    """What the model says that it found; empty where records do not bear it out."""
    problems: tuple[str, ...]
    """What it said that no record bears out."""

    @property
    def is_cut(self) -> bool:
        """Whether it ended with a call that was not answered, and of which there is no record."""
        return self.outcome in ("too_long", "out_of_budget", "unreachable")


class CheckedStatement(Record):
    """Something that a role said, held against the records it cites."""

    kind: Literal["checked_statement"] = "checked_statement"
    version: Literal[1] = 1
    text: str
    """In the role's own words, which nothing checks."""
    cites: tuple[str, ...]
    """As written."""
    supported: bool
    """Whether it has typed claims and all of them came out when they were computed from the cited records."""
    problems: tuple[str, ...]
    """What the records do not bear out."""
    told: str = ""
    """Its claims in the laboratory's words, if they came out: this is passed on as supported, never the text."""
    computed: bool | None = None
    """Whether there was anything to compute; None for earlier versions, which looked for digits in the records."""

    @property
    def outcome(self) -> Literal["supported", "not borne out", "not checked"]:
        """What it is called wherever it is shown."""
        if self.problems:
            return "not borne out"
        return "supported" if self.supported and self.computed else "not checked"


class CaseRead(Record):
    """What the arbiter, or a rival's advocate, says of a theory."""

    kind: Literal["case_read"] = "case_read"
    version: Literal[1] = 1
    cycle: int
    answer: Digest
    """Record of the answer that was read."""
    task: str
    theory: Digest
    statements: tuple[CheckedStatement, ...]
    hypothesis: str
    """A conjecture, not checked; empty where a pinned rule forbids it."""
    change: str


class SuccessorTried(Record):
    """A theory that a reviser wrote was checked and fitted."""

    kind: Literal["successor_tried"] = "successor_tried"
    version: Literal[1] = 1
    cycle: int
    lens: str
    attempt: int
    """Round at the workbench, from 0 on."""
    answer: Digest
    """Record of the answer that holds it."""
    model: str
    outcome: Literal["submitted", "refused", "duplicate"]
    """``submitted`` if it passed; of each lens the best in a cycle goes to the judges (`best_drafts`)."""
    reason: str
    """Why it was refused, as its author is told; empty when it was submitted."""
    name: str
    source: Digest
    """Artifact with what was written."""
    fitted: Digest | None
    """Artifact with the same theory, its ranges narrowed to the answers so far."""
    parents: tuple[Digest, ...]
    change: str
    criterion: float | None
    """As of the search's own candidates, nats per choice."""
    error: float | None
    """Mean squared error of choice proportions on the answers so far."""
    report: Digest | None = None
    """Artifact with what its author is told of it: scores beside other theories', what was learned, what it misses."""


class DraftsScreened(Record):
    """Of several drafts in one answer few are fitted: the best by a score before any fit."""

    kind: Literal["drafts_screened"] = "drafts_screened"
    version: Literal[1] = 1
    cycle: int
    lens: str
    attempt: int
    answer: Digest
    """Record of the answer that holds them."""
    sources: tuple[Digest, ...]
    scores: tuple[float | None, ...]
    """Nats per choice, with the people that each declares; None for a draft that cannot be run."""
    reasons: tuple[str, ...]
    """Why a draft cannot be run."""
    fitted: tuple[int, ...]
    """Places of those that are fitted."""

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
    """A language model's code looked at the open answers in the sandbox."""

    kind: Literal["analysis_made"] = "analysis_made"
    version: Literal[1] = 1
    cycle: int
    lens: str
    attempt: int
    """Round at the workbench, from 0 on."""
    answer: Digest
    """Record of the answer that holds it."""
    code: Digest
    """Artifact with the code."""
    outcome: Literal["returned", "refused"]
    told: str
    """What it showed, or why there is nothing, as its author is told."""


class ClaimAudited(Record):
    """A claim was read without its code, and the code was asked what the words predict."""

    kind: Literal["claim_audited"] = "claim_audited"
    version: Literal[1] = 1
    cycle: int
    answer: Digest
    """Record of the auditor's answer."""
    theory: Digest
    """Artifact with the source."""
    held: tuple[str, ...]
    contradicted: tuple[str, ...]
    """Sentences with counterexamples: words and code differ, or the auditor misread the words. Refuses nobody."""
    not_tried: tuple[str, ...]
    """Predictions that cannot be tried, and why."""
    unclear: str


class SuccessorsProposed(Record):
    """What language models submit in a cycle, beside the search."""

    kind: Literal["successors_proposed"] = "successors_proposed"
    version: Literal[1] = 1
    cycle: int
    n_asked: int
    n_answered: int
    submissions: tuple[SuccessorSubmitted, ...]


class TrialsProposed(Record):
    """An advocate proposed trials, which were checked by simulation."""

    kind: Literal["trials_proposed"] = "trials_proposed"
    version: Literal[1] = 1
    cycle: int
    number: int
    answer: Digest | None = None
    """Record of the advocate's answer; None where no language model proposed them."""
    theory: Digest
    """Of the advocate."""
    rival: Digest
    trials: Digest | None
    """Artifact with the trials; None where they are none of the domain."""
    n_trials: int
    power: float | None
    """With which the study's people, if they follow the theory, would show it better than its rival."""
    power_of_rival: float | None
    """Likewise if they follow the rival: an experiment that only one of them can win is none."""
    passed: bool
    reason: str
    left_out: tuple[str, ...] = ()
    """Trials that are not asked, each with the reason; the others were tried without them."""
    contrast: str = ""
    """Where the two theories part, in the advocate's own words, which nothing checks."""
    where: tuple[str, ...] = ()
    """Ranges in which trials were looked for."""
    n_found: int = 0
    """Trials that the laboratory found in these ranges."""
    archive: str = ""
    """The archived experiment that has the trials; empty where new people can be asked."""
    failed: Literal["", "form", "power"] = ""
    """What a repair has to mend: trials that cannot be asked, or theories that they do not tell apart."""


class BudgetRaised(Record):
    """The researcher raised the budget for language models."""

    kind: Literal["budget_raised"] = "budget_raised"
    version: Literal[1] = 1
    budget: Budget
    """In place of the study's."""


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
        TrialsProposed,
        BudgetRaised,
    )
}
"""For the table of a trace's types."""
