"""What the trace keeps about experiments, beside the preregistration."""

from __future__ import annotations

from typing import Literal

from lakatos.language_models.client import TokenSampling
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record


class PairPower(Record):
    """How well a design tells two rivals apart, by simulated recovery."""

    kind: Literal["pair_power"] = "pair_power"
    version: Literal[1] = 1
    first: Digest
    second: Digest
    power_first: float
    """Share of simulations in which the first was true and was recovered."""
    power_second: float
    separable: bool


class ProposalWeighed(Record):
    """What proposed trials would add to the design that the search finds by itself, in nats of one person's answers."""

    kind: Literal["proposal_weighed"] = "proposal_weighed"
    version: Literal[1] = 1
    proposal: Digest
    """Record of the proposal that passed its checks."""
    how: Literal["whole", "mixed", "schedule", "the same"]
    """Whether all of its trials are asked, those that tell most beside the search's own, or a schedule in place of
    the search's; or whether the search asks the same by itself."""
    n_taken: int
    """Of its trials, those in the better design with them that the search had not chosen by itself."""
    information: float
    """Expected of the better design with them."""
    information_error: float
    own_information: float
    """Expected of the search's own design, of as many trials."""
    own_error: float
    power: float
    """The weaker power with which the design with them tells theory and rival of the proposal apart."""
    own_power: float
    adopted: bool
    """Whether the design with them is asked: it is expected to say more, by more than the error of the difference."""

    @property
    def gain(self) -> float:
        """Nats that the proposal is expected to add to one person's answers."""
        return self.information - self.own_information

    @property
    def gain_error(self) -> float:
        """Standard error of `gain`, as if the two were simulated apart."""
        return float((self.information_error**2 + self.own_error**2) ** 0.5)


class DesignChosen(Record):
    """A design search ended, and chose the trials of the next experiment."""

    kind: Literal["design_chosen"] = "design_chosen"
    version: Literal[1] = 1
    cycle: int
    number: int
    """Of the experiment within its cycle."""
    experiment: str
    design: Digest
    """Artifact that holds the design."""
    rivals: tuple[Digest, ...]
    n_candidates: int
    """Trials that were looked at."""
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
    """About which rival is right, from one person's answers to all trials, in nats."""
    total_information_error: float = 0.0
    """Its standard error; 0 where it is exact over the draws."""
    cost: float = 0.0
    """Of asking everybody everything, in the study's unit."""
    looks: tuple[int, ...] = ()
    """Participants at which a sequential plan looks at the data; empty for a fixed sample."""
    bayes_factor: float = 0.0
    """Odds that end collection at a look."""
    stopping: str = ""
    """The stopping rule in words, with its error rates by simulation; empty for a fixed sample."""
    weighed: tuple[ProposalWeighed, ...] = ()
    """What language models proposed, each beside what the search finds without it."""
    n_answers: int = 0
    """Answers that there are to its trials, where an archive or a file holds them; 0 where people are asked anew."""
    groups: str = ""
    """Where groups of people are to be compared, or effects of what is known of them to be learned: by simulation, how
    often that would show a difference, in words."""


class PeopleRecruited(Record):
    """People were asked to answer an experiment."""

    kind: Literal["recruited"] = "recruited"
    version: Literal[1] = 1
    experiment: str
    source: str
    n_participants: int


class MoreAsked(Record):
    """More people were asked for than before, in place of some whose answers are excluded or by decision."""

    kind: Literal["more_asked"] = "more_asked"
    version: Literal[1] = 1
    experiment: str
    n_participants: int
    """Wanted by now, in all."""
    n_more: int
    preregistered: bool
    """Whether the preregistration says so; a deviation from it otherwise."""
    reason: str


class ConsentAsked(Record):
    """The text that people of an experiment agree to before they take part."""

    kind: Literal["consent_asked"] = "consent_asked"
    version: Literal[1] = 1
    experiment: str
    language: str
    text: Digest
    """Artifact with the text as shown; its digest stands in the answers of whoever agreed."""
    text_version: str
    """What the study calls this wording."""


class AnswersArrived(Record):
    """What one person did in one experiment arrived; the answers are in an artifact of their own."""

    kind: Literal["answers_arrived"] = "answers_arrived"
    version: Literal[1] = 1
    experiment: str
    person: str
    """Keyed pseudonym."""
    status: str
    """Such as ``completed``; see `experiments.participants.answers.Status`."""
    answers: Digest
    """Artifact with the answers and a salt, so that equal answers of two people differ and cannot be guessed."""
    n_answers: int
    consent: str
    """Digest of the text that was agreed to; empty when not asked."""
    language: str
    source: str
    """Who collected."""
    arrived_utc: str
    """When the batch was delivered, ISO 8601; empty where runs must be repeatable."""


class ModelTakesPart(Record):
    """A language model answers an experiment in place of people: which, what it reads, and how it is asked."""

    kind: Literal["model_takes_part"] = "model_takes_part"
    version: Literal[1] = 1
    experiment: str
    model: str
    """As the study names it."""
    model_version: Fingerprint
    """Of what the study declares."""
    context_tokens: int
    """Of prompt and answer, for which what it remembers is cut."""
    sampling: TokenSampling
    """How tokens are drawn."""
    memory: int | None
    """Decisions that stay in the conversation; None for as many as fit."""
    language: str
    texts: Digest
    """Artifact with all that it reads beside the trials."""


class SessionHeld(Record):
    """A language model took part as one simulated person."""

    kind: Literal["session_held"] = "session_held"
    version: Literal[1] = 1
    experiment: str
    person: str
    """As in `AnswersArrived`; nobody's pseudonym."""
    place: int
    """Of the simulated person in the experiment, from 0."""
    model: str
    """As the study names it."""
    model_names: tuple[str, ...]
    """As the server named what answered."""
    served_versions: tuple[Fingerprint, ...]
    """Of model and server together; more than one where the server was changed meanwhile."""
    seed: int
    """The seeds of its calls follow from it."""
    persona: str
    """Whom the model was told to be; empty for nobody in particular."""
    status: str
    """See `experiments.participants.answers.Status`."""
    n_answers: int
    missing_trials: tuple[int, ...]
    """Rows of the trials that were shown and got no answer, in order."""
    missing_reasons: tuple[str, ...]
    """Why, for each of them: ``refused``, ``not_json``, ..."""
    n_unread: int
    """Missing answers to comprehension questions and attention checks, which count as wrong."""
    calls: tuple[Digest, ...]
    """Records of all calls, in order."""


class PersonExcluded(Record):
    """A person's answers do not count, by a rule that was preregistered."""

    kind: Literal["person_excluded"] = "person_excluded"
    version: Literal[1] = 1
    experiment: str
    person: str
    answers: Digest
    """The record of the answers' arrival."""
    rule: str
    """Key of the rule; see `experiments.quality`."""
    words: str
    """The rule as preregistered."""
    value: float
    """The number that decided."""


class CollectionClosed(Record):
    """Collection ended without waiting for all planned people."""

    kind: Literal["collection_closed"] = "collection_closed"
    version: Literal[1] = 1
    experiment: str
    n_completed: int
    n_planned: int
    n_decided: int
    """People whose answers decided by the preregistered stopping rule; 0 for a deviation from the preregistration."""
    reason: str


class PersonWithdrawn(Record):
    """A person withdrew, or a retention limit ended: the answers were erased, and all that rested on them is stale."""

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
    """Artifact that holds the trial table, or that names the answers of the people it is made of."""
    n_participants: int
    n_responses: int
    n_people: int
    pooled: bool
    ceiling: float | None
    """Noise ceiling in nats per choice; None where no trial is repeated."""
    ceiling_error: float | None
    language_model: str = ""
    """Which one answered in place of people, as the study names it; empty where none did."""


class SealedOpened(Record):
    """Answers that were hidden from the loop were opened for the verdict."""

    kind: Literal["sealed_opened"] = "sealed_opened"
    version: Literal[1] = 1
    experiments: tuple[str, ...]
    trials: tuple[Digest, ...]
    """Artifacts that hold the trial tables."""
    n_trials: int
    n_responses: int
    of_people: tuple[bool, ...] = ()
    """Whether a table holds all answers of sealed people; empty where no person was sealed."""
