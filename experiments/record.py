"""Records of experiments, beside the preregistration."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from lakatos.language_models.client import TokenSampling
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record


class PairPower(Record):
    """Power of a design to distinguish two rivals, by simulated recovery."""

    kind: Literal["pair_power"] = "pair_power"
    version: Literal[1] = 1
    first: Digest
    second: Digest
    power_first: float
    """Share of simulations in which the first was true and was recovered."""
    power_second: float
    separable: bool


class DesignChosen(Record):
    """A search for a design ended and chose the trials of the next experiment."""

    kind: Literal["design_chosen"] = "design_chosen"
    version: Literal[1] = 1
    cycle: int
    number: int
    """Number of the experiment within its cycle."""
    experiment: str
    design: Digest
    """Artifact that holds the design."""
    rivals: tuple[Digest, ...]
    n_candidates: int
    """Number of trials that were considered."""
    n_trials: int
    repetitions: int
    n_participants: int
    n_random: int
    archive: str
    information: tuple[float, ...]
    """``(n_trials,)`` expected information in nats when each trial was chosen; 0 for random ones."""
    powers: tuple[PairPower, ...]
    accepted: bool
    reason: str
    total_information: float = 0.0
    """Expected information about which rival is right from one participant's responses to all trials, in nats."""
    total_information_error: float = 0.0
    """Standard error of ``total_information``; 0 if it is exact over the draws."""
    cost: float = 0.0
    """Cost of all trials for all participants, in the study's unit."""
    looks: tuple[int, ...] = ()
    """Participants at which a sequential plan looks at the data; empty for a fixed sample."""
    bayes_factor: float = 0.0
    """Odds that end collection at a look."""
    stopping: str = ""
    """The stopping rule in words, with its error rates by simulation; empty for a fixed sample."""
    n_answers: int = 0
    """Number of existing responses to these trials in an archive or a file; 0 if participants are recruited."""
    groups: str = ""
    """Simulated power for differences between groups or effects of attributes, in words."""

    @property
    def is_exhaustive(self) -> bool:
        """Whether it has all trials that there were, so that none was selected and none drawn at random."""
        return self.n_trials == self.n_candidates

    @model_validator(mode="before")
    @classmethod
    def _without_proposals(cls, body: Any) -> Any:
        """Earlier versions compared the design with proposals of language models."""
        if not isinstance(body, dict):
            return body
        return {name: value for name, value in body.items() if name != "weighed"}


class PeopleRecruited(Record):
    """Participants were recruited for an experiment."""

    kind: Literal["recruited"] = "recruited"
    version: Literal[1] = 1
    experiment: str
    source: str
    n_participants: int


class MoreAsked(Record):
    """More participants were requested, in place of excluded ones or by decision."""

    kind: Literal["more_asked"] = "more_asked"
    version: Literal[1] = 1
    experiment: str
    n_participants: int
    """Total number of participants that is now wanted."""
    n_more: int
    preregistered: bool
    """Whether the preregistration announces it; otherwise it is a deviation."""
    reason: str


class ConsentAsked(Record):
    """The consent text of an experiment was fixed."""

    kind: Literal["consent_asked"] = "consent_asked"
    version: Literal[1] = 1
    experiment: str
    language: str
    text: Digest
    """Artifact with the text as shown; the responses of each participant who agreed contain its digest."""
    text_version: str
    """The study's name for this wording."""


class AnswersArrived(Record):
    """One participant's responses in one experiment arrived; they are stored in an artifact of their own."""

    kind: Literal["answers_arrived"] = "answers_arrived"
    version: Literal[1] = 1
    experiment: str
    person: str
    """Keyed pseudonym of the participant."""
    status: str
    """Status of the visit, such as ``completed``; see `experiments.participants.answers.Status`."""
    answers: Digest
    """Artifact with the responses and a salt, so that equal responses of two participants differ and cannot be
    guessed."""
    n_answers: int
    consent: str
    """Digest of the consent text; empty if no consent was requested."""
    language: str
    source: str
    """Source that collected the responses."""
    arrived_utc: str
    """Time of delivery, ISO 8601; empty for runs that must be repeatable."""


class ModelTakesPart(Record):
    """A language model responds in an experiment in place of participants."""

    kind: Literal["model_takes_part"] = "model_takes_part"
    version: Literal[1] = 1
    experiment: str
    model: str
    """Name of the model in the study."""
    model_version: Fingerprint
    """Digest of the study's settings of the model."""
    context_tokens: int
    """Tokens of prompt and answer to which the conversation is cut."""
    sampling: TokenSampling
    """Settings by which tokens are drawn."""
    memory: int | None
    """Decisions that stay in the conversation; None for as many as fit."""
    language: str
    texts: Digest
    """Artifact with all texts that the model reads beside the trials."""


class SessionHeld(Record):
    """A language model completed one session in place of a participant."""

    kind: Literal["session_held"] = "session_held"
    version: Literal[1] = 1
    experiment: str
    person: str
    """Identifier as in `AnswersArrived`; it belongs to no person."""
    place: int
    """Number of the session in the experiment, from 0."""
    model: str
    """Name of the model in the study."""
    model_names: tuple[str, ...]
    """Names of the model as the server reported them."""
    served_versions: tuple[Fingerprint, ...]
    """Versions of model and server together; several if the server changed meanwhile."""
    seed: int
    """Seed from which the seeds of the calls follow."""
    persona: str
    """Persona given to the model; empty for none."""
    status: str
    """Status of the session; see `experiments.participants.answers.Status`."""
    n_answers: int
    missing_trials: tuple[int, ...]
    """Rows of presented trials without a response, in order."""
    missing_reasons: tuple[str, ...]
    """Reason for each missing response: ``refused``, ``not_json``, ..."""
    n_unread: int
    """Missing replies to comprehension questions and attention checks, which count as wrong."""
    calls: tuple[Digest, ...]
    """Records of all calls, in order."""


class PersonExcluded(Record):
    """A participant was excluded by a preregistered rule."""

    kind: Literal["person_excluded"] = "person_excluded"
    version: Literal[1] = 1
    experiment: str
    person: str
    answers: Digest
    """Record of the responses' arrival."""
    rule: str
    """Key of the rule; see `experiments.quality`."""
    words: str
    """The rule as preregistered."""
    value: float
    """Value that decided."""


class CollectionClosed(Record):
    """Collection ended before all planned participants had completed."""

    kind: Literal["collection_closed"] = "collection_closed"
    version: Literal[1] = 1
    experiment: str
    n_completed: int
    n_planned: int
    n_decided: int
    """Participants at whom the preregistered stopping rule decided; 0 for a deviation from the preregistration."""
    reason: str


class PersonWithdrawn(Record):
    """A participant withdrew, or a retention limit ended; the responses were erased, and what they support is stale."""

    kind: Literal["person_withdrawn"] = "person_withdrawn"
    version: Literal[1] = 1
    person: str
    experiments: tuple[str, ...]
    reason: str


class TrialsCollected(Record):
    """Responses to one preregistered design have arrived."""

    kind: Literal["trials_collected"] = "trials_collected"
    version: Literal[1] = 1
    experiment: str
    preregistration: Digest
    """The predictions that were frozen before collection."""
    trials: Digest
    """Artifact with the trial table, or with references to the responses of the participants in it."""
    n_participants: int
    n_responses: int
    n_people: int
    pooled: bool
    ceiling: float | None
    """Noise ceiling in nats per choice; None if no trial is repeated."""
    ceiling_error: float | None
    language_model: str = ""
    """Name of the model that responded in place of participants; empty for people."""


class SealedOpened(Record):
    """Responses that were hidden from the search were opened for the verdict."""

    kind: Literal["sealed_opened"] = "sealed_opened"
    version: Literal[1] = 1
    experiments: tuple[str, ...]
    trials: tuple[Digest, ...]
    """Artifacts that hold the trial tables."""
    n_trials: int
    n_responses: int
    of_people: tuple[bool, ...] = ()
    """Whether a table holds all responses of sealed participants; empty if no participant was sealed."""
