"""The study file: what a campaign asks, of whom, and when it stops.

Every key is checked; an unknown one is refused with the nearest known one. ``json_schema()`` describes the format for
editors and stands in ``studies/schema.json``.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.packing import answers_digest
from lakatos.experiments.archives import ARCHIVES
from lakatos.experiments.domains import DOMAINS
from lakatos.experiments.domains.task_file import TaskFile
from lakatos.experiments.errors import DesignError, ExperimentError
from lakatos.experiments.participants import SOURCES
from lakatos.experiments.participants.answers import LANGUAGE_MODEL
from lakatos.experiments.participants.language_model import PAGE_KEYS
from lakatos.experiments.participants.web.questions import PageQuestion, check_questions
from lakatos.experiments.proposal import are_forbidden, check_proposal, costs_of, read_condition
from lakatos.experiments.quality import (
    ComprehensionAttempts,
    ConstantAlternation,
    ExclusionRule,
    FailedChecks,
    FastAnswers,
    ImpossibleTimes,
    IncompleteAnswers,
    MissingAnswers,
    OneKey,
    RepeatedParticipation,
    TooFast,
)
from lakatos.experiments.task import Stimuli
from lakatos.experiments.variation import HasMoves
from lakatos.flows.errors import StudyError
from lakatos.flows.run.judge_settings import JudgesConfig
from lakatos.flows.run.memory_settings import MemoryConfig
from lakatos.flows.run.model_settings import (
    Budget,
    ModelSettings,
    RolesConfig,
    check_models,
    with_names,
)
from lakatos.flows.run.task import domain_of, family_of, with_domain
from lakatos.theories.errors import GrammarError, TheoryError
from lakatos.theories.families import FAMILIES
from lakatos.theories.grammar import Composition
from lakatos.theories.theory import TheoryProgram, read_program
from lakatos.traces.digest import Digest, digest_of

OWN = "study"
"""Author of theories that a study brings along."""


class _ConfigSection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


ADVOCATES: Final = ("grammar", "induction", "language_model")


class TheoriesConfig(_ConfigSection):
    """Where the search starts and how far it goes in a cycle."""

    seeds: tuple[str, ...] = ()
    """Published theories, by name; `lakatos theories DOMAIN` lists them. With your own, at least two."""
    programs: tuple[str, ...] = ()
    """Sources of theories of your own that are among the first rivals."""
    files: tuple[str, ...] = ()
    """Files that hold such sources, relative to the study file; their texts are taken into the study."""
    on_refusal: Literal["stop", "drop"] = "stop"
    """When a theory of your own fails its checks: stop, with the reason, or go on without it."""
    draws: int = Field(512, ge=32, le=65536)
    """People drawn from each theory's declared population when it is scored; a power of two."""
    candidates: int = Field(60, ge=0, le=10000)
    """Compositions that an advocate may try in a cycle."""
    successors: int = Field(3, ge=0, le=20)
    """New theories that enter the pool in a cycle, at most."""
    advocates: tuple[Literal["grammar", "induction", "language_model"], ...] = ADVOCATES
    """Who writes theories: the search among the grammar's mechanisms, rules sought in the answers themselves, and the
    language models that `roles.reviser` names; one of them alone, or several side by side."""
    rivals: int = Field(4, ge=2, le=12)
    """Leading theories that an experiment is designed to tell apart."""

    @model_validator(mode="before")
    @classmethod
    def _without_induction(cls, value: Any) -> Any:
        """Read the switch that studies had before `advocates`."""
        if not isinstance(value, dict) or "induction" not in value:
            return value
        if "advocates" in value:
            raise ValueError("induction is said by `advocates` now; remove the key `induction`")
        rest = {name: item for name, item in value.items() if name != "induction"}
        if value["induction"] not in (True, False):
            raise ValueError('induction is true or false; better say advocates = ["grammar"]')
        wanted = [name for name in ADVOCATES if value["induction"] or name != "induction"]
        return {**rest, "advocates": wanted}

    @field_validator("advocates")
    @classmethod
    def _each_advocate_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names or len(set(names)) < len(names):
            raise ValueError(f"name each advocate once, and at least one of {', '.join(ADVOCATES)}")
        return names

    @model_validator(mode="after")
    def _power_of_two(self) -> TheoriesConfig:
        if self.draws & (self.draws - 1):
            raise ValueError(f"draws must be a power of two, not {self.draws}")
        return self

    @model_validator(mode="after")
    def _different(self) -> TheoriesConfig:
        repeated = sorted({seed for seed in self.seeds if self.seeds.count(seed) > 1})
        if repeated:
            raise ValueError(f"the seed {repeated[0]!r} is named twice; name different theories")
        if self.files:
            raise ValueError(
                "files are read with a study file only; give the texts themselves as programs"
            )
        if len(self.seeds) + len(self.programs) < 2:
            raise ValueError("name at least two theories as seeds, or give programs of your own")
        for number, program in enumerate(self.programs):
            try:
                read_program(TheoryProgram(program, OWN))
            except TheoryError as error:
                raise ValueError(f"programs.{number}: {str(error).removesuffix('.')}") from None
        return self


class CostConfig(_ConfigSection):
    """What asking costs, in any one unit: money, or seconds of people's time."""

    per_participant: float = Field(0.0, ge=0)
    """For each person, however much they answer."""
    per_response: float = Field(1.0, gt=0)
    """For each answer."""
    features: dict[str, float] = {}
    """Further cost of an answer for each unit of a feature of its trial, by name, as in ``n_cues = 0.5``."""
    most_per_participant: float = Field(0.0, ge=0)
    """Most that the trials asked of one person may cost, repetitions included; 0 for no limit but their number."""


class StoppingConfig(_ConfigSection):
    """When collection ends before everybody planned has answered."""

    rule: Literal["fixed", "bayes_factor"] = "fixed"
    """Everybody planned, or until a Bayes factor says enough."""
    bayes_factor: float = Field(10.0, gt=1)
    """Odds, at even odds beforehand, at which one theory counts as better than another."""
    first_look: int = Field(10, ge=2)
    """Participants before nothing is decided."""
    look_every: int = Field(5, ge=1)
    """Further participants between two looks."""


class DesignConfig(_ConfigSection):
    """What an experiment may cost and must achieve."""

    trials: int = Field(24, ge=1)
    """Distinct trials in an experiment, at most."""
    repetitions: int = Field(2, ge=1)
    """Presentations of each trial to each person."""
    participants: int = Field(25, ge=0)
    """People in an experiment; 0 to have the smallest number found that has the power."""
    most_participants: int = Field(200, ge=2)
    """People that can be afforded, where the number is to be found."""
    per_cycle: int = Field(1, ge=1)
    """Experiments in a cycle."""
    random_share: float = Field(0.25, ge=0, le=1)
    """Share of trials drawn at random, so that surprises outside all current theories stay visible."""
    power: float = Field(0.9, gt=0, lt=1)
    """Probability with which the planned people must recover the generating theory."""
    candidates: int = Field(2000, ge=1)
    """Trials of the space that a design search looks at."""
    schedules: int = Field(4, ge=1)
    """Learning: schedules that a design search looks at."""
    focus: Literal["rivals", "leaders"] = "rivals"
    """Tell all leading rivals apart, or only the two best that data have not settled."""
    sides: Literal["random", "both"] = "random"
    """Whether a trial's options stand on sides drawn by lot, or on each side in half of its repetitions."""
    continuous: bool = False
    """Whether the attributes of chosen trials are also moved between the levels of the space."""
    forbidden: tuple[str, ...] = ()
    """Trials that are never asked, as conditions on their features, for example ``amount_size > 100``."""
    proposed: dict[str, list[Any]] = {}
    """Trials of your own for the first experiment, as arrays; they go through the same checks as found ones."""
    cost: CostConfig = CostConfig()
    stopping: StoppingConfig = StoppingConfig()
    refused: Literal["stop", "cover"] = "stop"
    """When no design tells an open pair apart: end the campaign, or, where answers cost nothing, as in an archive, ask
    for the most informative trials all the same, as coverage in which theories nobody has thought of may show."""

    @field_validator("participants")
    @classmethod
    def _enough_for_an_error(cls, participants: int) -> int:
        if participants == 1:
            raise ValueError(
                "differences between people need at least 2; give 0 to have the number found"
            )
        return participants

    @field_validator("forbidden")
    @classmethod
    def _conditions(cls, forbidden: tuple[str, ...]) -> tuple[str, ...]:
        for text in forbidden:
            try:
                read_condition(text)
            except DesignError as error:
                raise ValueError(str(error).removesuffix(".")) from None
        return forbidden


OWN_ANSWERS = ("file", "columns", "answers")
"""Keys of the section ``participants`` that mean something where answers come from a file of one's own."""


class ParticipantsConfig(_ConfigSection):
    """Who answers: the source of people, and what it needs to know."""

    source: str = Field(json_schema_extra={"enum": list(SOURCES)})
    """A hidden rule; people's published answers; people on the laboratory's own page, whoever sends them there; or
    answers that you collect elsewhere and bring with `lakatos data import`."""
    theory: str = ""
    """Simulated: the hidden theory that people follow, by name."""
    program: str = ""
    """Simulated: source of a theory of your own that people follow, instead of a published one."""
    program_file: str = ""
    """Simulated: file that holds it, relative to the study file; its text is taken into the study."""
    mechanisms: dict[str, tuple[str, ...]] = {}
    """Simulated: mechanisms that replace the hidden theory's own, by slot, as in ``choice = ["deterministic"]``."""
    random_choices: float = Field(0.0, ge=0, le=1)
    """Simulated: share of answers given at random."""
    dropouts: float = Field(0.0, ge=0, le=0.95)
    """Simulated: share of people who stop before the end; others take their places."""
    careless: float = Field(0.0, ge=0, le=1)
    """Simulated: share of people who answer fast and without looking."""
    archive: str = ""
    """Archival: data set, by name; `lakatos data list` lists them."""
    experiments: str = "*"
    """Archival: pattern of experiment names, for example ``binary-*``."""
    pooled: bool = False
    """Archival: whether only counts of answers are used, as if nobody knew who gave them; much faster where thousands
    of people each answered a few of very many trials."""
    file: str = ""
    """Archival: file with answers of your own, relative to the study file, instead of a data set."""
    columns: AnswerColumns | None = None
    """Archival: what the columns of ``file`` mean."""
    answers: str = ""
    """Archival: digest of the answers that ``file`` held when the study was read; found by itself."""
    model: str = ""
    """Language model: the one of ``models`` that answers in place of people."""
    personas: tuple[str, ...] = ()
    """Language model: whom it is told to be, session by session in turn; nobody in particular where there is none."""
    temperature: float = Field(1.0, ge=0, le=2)
    """Language model: of its answers; at 0 all sessions of one persona that see trials in one order are the same."""
    max_tokens: int = Field(256, ge=16, le=65536)
    """Language model: of an answer."""
    memory: int | None = Field(None, ge=0)
    """Language model: decisions that stay in its conversation; as many as fit its context where nothing is said."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that came later are left out where they say nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        unused = (() if self.file else OWN_ANSWERS) + (() if self.pooled else ("pooled",))
        return {key: value[key] for key in value if key not in unused}

    @field_validator("source")
    @classmethod
    def _listed(cls, source: str) -> str:
        _known("source", source, SOURCES)
        return source

    @model_validator(mode="after")
    def _complete(self) -> ParticipantsConfig:
        for key, field in type(self).model_fields.items():
            applies = [name for name, source in SOURCES.items() if key in source.keys]
            if (
                key != "source"
                and self.source not in applies
                and getattr(self, key) != field.default
            ):
                raise ValueError(_only_for(key, applies, self.source))
        if self.source == "archival" and bool(self.archive) == bool(self.file):
            raise ValueError(
                "the source 'archival' needs the key 'archive', or 'file', and not both"
            )
        if bool(self.file) != (self.columns is not None):
            raise ValueError(
                "file and columns go together: `lakatos new STUDY --data FILE` writes both"
            )
        if self.source == LANGUAGE_MODEL and not self.model:
            raise ValueError("the source 'language_model' needs the key 'model'")
        if any(not persona.strip() for persona in self.personas):
            raise ValueError("personas: one is empty; say who it is, or leave it out")
        if self.program_file:
            raise ValueError(
                "program_file is read with a study file only; give the text itself as program"
            )
        if self.source == "simulated" and bool(self.theory) == bool(self.program):
            raise ValueError(
                "the source 'simulated' needs the key 'theory', or 'program', and not both"
            )
        if self.program and self.mechanisms:
            raise ValueError("mechanisms replace those of a published theory; a program has none")
        if self.program:
            try:
                read_program(TheoryProgram(self.program, "hidden"))
            except TheoryError as error:
                raise ValueError(f"program: {str(error).removesuffix('.')}") from None
        return self


class ExclusionsConfig(_ConfigSection):
    """Whose answers do not count, preregistered; a rule whose key is left out is not applied."""

    median_time_below_ms: float | None = Field(None, gt=0)
    """People whose median response time is shorter, or whose mean time between answers by the server's clock is."""
    impossible_times_above: float | None = Field(None, ge=0, lt=1)
    """People of whose answers a larger share than this has a response time longer than the server's clock allows."""
    fast_answers_above: float | None = Field(None, ge=0, lt=1)
    """People of whose answers a larger share than this is faster than ``fast_answer_ms``."""
    fast_answer_ms: float = Field(200.0, gt=0)
    """Milliseconds below which an answer is fast."""
    one_side_above: float | None = Field(None, gt=0, lt=1)
    """People who chose one side in a larger share of their answers."""
    alternation_above: float | None = Field(None, gt=0, lt=1)
    """People who changed sides after a larger share of their answers."""
    failed_checks_above: int | None = Field(None, ge=0)
    """People who failed more attention checks than this."""
    comprehension_attempts_above: int | None = Field(None, ge=1)
    """People who needed more attempts at the comprehension check."""
    duplicates: Literal["experiment", "campaign"] = "experiment"
    """Whether only a person's first answers count in an experiment, or in the whole campaign."""
    partial: Literal["exclude", "keep"] = "exclude"
    """Whether people who stopped before the end count with what they answered, if it is enough."""
    partial_share: float = Field(0.5, ge=0, le=1)
    """Share of the trials that they must have answered for it."""
    missing_answers_above: float | None = Field(None, ge=0, lt=1)
    """Sessions of a language model that gave no answer to a larger share of the trials."""
    replacements: int = Field(0, ge=0)
    """People asked in place of excluded ones, at most, in each experiment; 0 for none."""

    @property
    def rules(self) -> tuple[ExclusionRule, ...]:
        """The rules in the order in which they are tried."""
        found: list[ExclusionRule] = [
            self._incomplete,
            RepeatedParticipation(self.duplicates == "campaign"),
        ]
        if self.median_time_below_ms is not None:
            found.append(TooFast(self.median_time_below_ms))
        if self.impossible_times_above is not None:
            found.append(ImpossibleTimes(self.impossible_times_above))
        if self.fast_answers_above is not None:
            found.append(FastAnswers(self.fast_answer_ms, self.fast_answers_above))
        if self.one_side_above is not None:
            found.append(OneKey(self.one_side_above))
        if self.alternation_above is not None:
            found.append(ConstantAlternation(self.alternation_above))
        if self.failed_checks_above is not None:
            found.append(FailedChecks(self.failed_checks_above))
        if self.comprehension_attempts_above is not None:
            found.append(ComprehensionAttempts(self.comprehension_attempts_above))
        if self.missing_answers_above is not None:
            found.append(MissingAnswers(self.missing_answers_above))
        return tuple(found)

    @property
    def _incomplete(self) -> IncompleteAnswers:
        return (
            IncompleteAnswers(True, self.partial_share)
            if self.partial == "keep"
            else IncompleteAnswers()
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The rules in words, and what becomes of the places of people who are excluded."""
        found = [rule.words for rule in self.rules]
        if self.replacements:
            found.append(
                "People who completed and were excluded are replaced by new people, at most "
                f"{self.replacements} in an experiment, before anything is analysed."
            )
        return tuple(found)


class ConfirmationConfig(_ConfigSection):
    """A last, preregistered test of what the winner alone predicts, on new people."""

    participants: int = Field(0, ge=0)
    """0 for no such test."""
    trials: int = Field(12, ge=2)
    """Those on which the winner differs most from the best other theory."""
    repetitions: int = Field(2, ge=1)
    """Presentations of each trial to each person."""

    @field_validator("participants")
    @classmethod
    def _enough_for_an_error(cls, participants: int) -> int:
        if participants == 1:
            raise ValueError(
                "differences between people need at least 2; give 0 for no confirmation"
            )
        return participants


class PrivacyConfig(_ConfigSection):
    """How long what people left behind is kept; `lakatos data expire` enforces it."""

    identifiers_days: int = Field(0, ge=0)
    """After a person's answers arrived, until the page's sessions, recruitment identifiers and batches in the inbox are
    erased; 0 for no limit."""
    answers_days: int = Field(0, ge=0)
    """Until the answers themselves are erased, as if the person had withdrawn; 0 for no limit."""


class PageConfig(_ConfigSection):
    """Web: how the page treats people, and what it says."""

    language: str = "en"
    """Shown first; people may choose another one that there is."""
    checks: int = Field(2, ge=0, le=100)
    """Attention checks, strewn among the trials."""
    most_attempts: int = Field(3, ge=1, le=100)
    """At the comprehension check; then the study ends for this person."""
    idle_minutes: float = Field(30.0, ge=0.01, le=1e6)
    """Without an answer, after which a place is given to another."""
    limit_minutes: float = Field(120.0, ge=0.01, le=1e6)
    """From consent to the end."""
    minutes: int = Field(0, ge=0, le=1000)
    """What the consent page says it takes; 0 for an estimate by the number of trials."""
    contact: str = ""
    """Whom people can ask: a name and an address."""
    completion_code: str = ""
    """Shown at the end, the same for all, as recruitment services want it; by default each person gets one."""
    completion_url: str = ""
    """Where people return to; ``{code}`` stands for the completion code."""
    returning: Literal["refuse", "admit"] = "refuse"
    """Whether people of an earlier experiment of the run are admitted to a later one."""
    access: Literal["invited", "open"] = "invited"
    """Whether everybody needs an invitation (`lakatos invite`) or to be sent by a recruitment service, or whoever has
    the link comes in."""
    hourly_from_address: int = Field(10, ge=0, le=1_000_000)
    """Open link: people who may begin within an hour from one internet address; 0 for any number."""
    consent_version: str = ""
    """What you call the wording of the consent text, for the records."""
    questions: tuple[PageQuestion, ...] = ()
    """About the person, before or after the task: ``[[page.questions]]`` with ``name``, ``kind``, ``text``."""

    @model_validator(mode="after")
    def _questions_fit(self) -> PageConfig:
        check_questions(self.questions, [self.language])
        return self

    texts: dict[str, dict[str, Any]] = {}
    """Sentences of your own, by language, laid out as in the packaged files."""


class StopConfig(_ConfigSection):
    """When the campaign ends: after how many cycles, and when it gives up."""

    cycles: int = Field(5, ge=1)
    """Budget."""
    least_cycles: int = Field(2, ge=1)
    """No verdict before this many."""
    patience: int = Field(3, ge=1)
    """Cycles without improvement of the best score after which the campaign gives up."""
    exact: float = Field(0.0, ge=0, lt=1)
    """Squared error of choice proportions, beyond what chance makes, that the leader's frozen predictions must stay
    below with 95% confidence for the campaign to end at once, even before ``least_cycles``, if no check of its people's
    answers finds a misfit either; 0 for never."""


class ValidationConfig(_ConfigSection):
    """What stays hidden from the loop until the verdict, and with what its rivals are compared there."""

    sealed_share: float = Field(0.0, ge=0, lt=1)
    """Archival: share of distinct trials that are sealed until the verdict; of people, where trials are steps."""
    sealed_people: float = Field(0.0, ge=0, lt=1)
    """Archival: share of each experiment's people all of whose answers are sealed until the verdict; of their groups,
    where people have the attribute ``playing_group``."""
    folds: int = Field(0, ge=0)
    """Archival: run the whole loop once for each of so many folds of trials, each sealed in turn."""
    company: bool = True
    """Compare the rivals, at the verdict, with all published theories of the domain and with generic learners."""

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_runs(cls, value: Any) -> Any:
        """Studies in journals of earlier versions hold the number of a fold, which means nothing any more."""
        return (
            {name: item for name, item in value.items() if name != "fold"}
            if isinstance(value, dict)
            else value
        )

    @field_validator("folds")
    @classmethod
    def _more_than_one(cls, folds: int) -> int:
        if folds == 1:
            raise ValueError(
                "one fold leaves nothing to learn from; give 0 for none, or at least 2"
            )
        return folds


OWN_DOMAIN: dict[str, Any] = {
    "type": ["string", "object"],
    "properties": {"file": {"type": "string"}},
    "required": ["file"],
    "additionalProperties": False,
}
"""Schema of ``domain`` in a study file."""


class CampaignConfig(_ConfigSection):
    """A whole study as its file describes it, complete with defaults."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
    """Of the study; runs are called after it."""
    question: str = Field(min_length=1)
    """What the study asks, in a sentence."""
    domain: str = Field(json_schema_extra=OWN_DOMAIN)
    """A domain of the package by its name, or the section ``[domain]`` with the file that declares one."""
    domain_file: TaskFile | None = None
    """Filled in from the section ``domain``: the file, and its whole text."""
    seed: int = Field(1, ge=0)
    """Decides everything that is left to chance."""
    space: dict[str, Any] = {}
    """Settings of the domain's design space; not used by archival studies."""
    theories: TheoriesConfig
    design: DesignConfig = DesignConfig()
    participants: ParticipantsConfig
    exclusions: ExclusionsConfig = ExclusionsConfig()
    confirmation: ConfirmationConfig = ConfirmationConfig()
    page: PageConfig = PageConfig()
    privacy: PrivacyConfig = PrivacyConfig()
    stop: StopConfig = StopConfig()
    validation: ValidationConfig = ValidationConfig()
    baselines: dict[str, float] = {}
    """Published proportion errors to compare with, by name."""
    models: dict[str, ModelSettings] = {}
    """Language models, by the names that ``roles`` use."""
    roles: RolesConfig = RolesConfig()
    budget: Budget = Budget()
    """The most that language models may take in the whole run."""
    judges: JudgesConfig = JudgesConfig()
    memory: MemoryConfig = MemoryConfig()

    @field_validator("models", mode="before")
    @classmethod
    def _named(cls, models: Any) -> Any:
        return with_names(models)

    @model_validator(mode="after")
    def _models_exist(self) -> CampaignConfig:
        check_models(self.models, self.roles, self.budget)
        models_write = "language_model" in self.theories.advocates
        if self.roles.reviser and not models_write:
            raise ValueError(
                'roles.reviser names a model, and theories.advocates leaves "language_model" out; change one of the two'
            )
        if self.theories.advocates == ("language_model",) and not self.roles.reviser:
            raise ValueError(
                'theories.advocates: only "language_model" is to write theories, and roles.reviser names none; name one'
            )
        if self.roles.reflector and self.memory.arm == "none":
            raise ValueError(
                "roles.reflector: with memory.arm = 'none' nobody reads its lessons; remove one of the two"
            )
        return self

    @model_serializer(mode="wrap")
    def _without_unused_sections(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Sections that are not used are written as if they did not exist, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        unused = [name for name in _UNUSED if getattr(self, name) == _UNUSED[name]]
        return {name: item for name, item in value.items() if name not in unused}

    @property
    def digest(self) -> Digest:
        """Identity of the study: it changes with every setting."""
        return digest_of(self.model_dump(mode="json"))

    @property
    def by_person(self) -> bool:
        """Whether answers arrive person by person, so that people can be waited for, excluded and withdraw."""
        people = self.participants
        if people.source in ("simulated", "archival"):
            singly = (
                bool(people.dropouts or people.careless) or self.exclusions != ExclusionsConfig()
            )
            singly |= self.design.stopping.rule != "fixed"
            return singly and people.source == "simulated"
        return True

    @property
    def asks_people(self) -> bool:
        """Whether people answer while the run goes on; else a computer does, and there is no hour of an answer."""
        return self.participants.source not in ("simulated", "archival", LANGUAGE_MODEL)

    @model_validator(mode="after")
    def _names_exist(self) -> CampaignConfig:
        if self.domain_file is None:
            _known("domain", self.domain, DOMAINS)
            _known("family of theories", self.domain, FAMILIES)
        family = family_of(self)
        for seed in self.theories.seeds:
            _known("theory", seed, family.seeds)
        if self.participants.program:
            self._open_only()
        elif self.participants.source == "simulated":
            _known("theory", self.participants.theory, family.seeds)
            hidden = family.seeds[self.participants.theory][1]
            try:
                family.grammar.used(Composition({**hidden.slots, **self.participants.mechanisms}))
            except GrammarError as error:
                raise ValueError(
                    f"participants.mechanisms: {str(error).removesuffix('.')}"
                ) from None
            self._open_only()
        elif "validation" not in SOURCES[self.participants.source].sections:
            self._open_only()
        else:
            if self.exclusions != ExclusionsConfig():
                raise ValueError(
                    "exclusions need people who are asked anew; published answers come as they are"
                )
            if self.design.stopping.rule != "fixed":
                raise ValueError(
                    "design.stopping: published answers come all at once; leave the rule at 'fixed'"
                )
            if self.confirmation.participants:
                raise ValueError(
                    "a confirmation needs new people; an archive has sealed_share instead"
                )
            if self.participants.file:
                return self
            _known("archive", self.participants.archive, ARCHIVES)
            if ARCHIVES[self.participants.archive].domain != self.domain:
                raise ValueError(
                    f"the archive {self.participants.archive!r} is of the domain "
                    f"{ARCHIVES[self.participants.archive].domain!r}, not {self.domain!r}"
                )
        return self

    @model_validator(mode="after")
    def _sections_apply(self) -> CampaignConfig:
        own = {"space", "page", "privacy"}  # for the others there are messages of their own
        for name in sorted(own):
            applies = [known for known, source in SOURCES.items() if name in source.sections]
            default = type(self).model_fields[name].default
            if self.participants.source not in applies and getattr(self, name) != default:
                raise ValueError(_only_for(name, applies, self.participants.source))
        return self

    @model_validator(mode="after")
    def _model_takes_part(self) -> CampaignConfig:
        people, by_model = self.participants, self.participants.source == LANGUAGE_MODEL
        if people.model:
            _known("model", people.model, self.models)
        timed = (
            "median_time_below_ms",
            "impossible_times_above",
            "fast_answers_above",
            "fast_answer_ms",
        )
        set_here = {
            f"exclusions.{name}"
            for name in ExclusionsConfig.model_fields
            if _set(self.exclusions, name)
        }
        set_here |= {f"page.{name}" for name in PageConfig.model_fields if _set(self.page, name)}
        for name in sorted(set_here):
            section, key = name.split(".")
            means = key in PAGE_KEYS if section == "page" else key not in timed
            if by_model and not means:
                raise ValueError(
                    f"{name} means nothing where the source is 'language_model'; remove it"
                )
            if not by_model and key == "missing_answers_above":
                raise ValueError(_only_for(name, [LANGUAGE_MODEL], people.source))
        return self

    @model_validator(mode="after")
    def _design_fits(self) -> CampaignConfig:
        domain, design = domain_of(self), self.design
        example = domain.probes(np.random.default_rng(0))[0].take([0])
        try:
            if domain.sequential and design.forbidden:
                raise DesignError("design.forbidden: the steps of a schedule cannot be left out")
            are_forbidden(domain, example, design.forbidden)
            costs_of(domain, example, per_response=1e9, features=design.cost.features)
            if design.continuous and not isinstance(domain, HasMoves):
                raise DesignError(
                    f"design.continuous: trials of the {self.domain} domain have levels only"
                )
            if design.proposed and self.participants.source == "archival":
                raise DesignError("design.proposed: an archive has answers to its own trials only")
            if design.proposed:
                check_proposal(
                    domain,
                    self.space,
                    Stimuli.from_json(design.proposed),
                    forbidden=design.forbidden,
                )
        except (ExperimentError, IndexError, TypeError, ValueError) as error:
            raise ValueError(str(error).removesuffix(".")) from None
        return self

    def _open_only(self) -> None:
        hidden = self.validation
        if hidden.sealed_share or hidden.sealed_people or hidden.folds:
            raise ValueError("sealed trials, sealed people and folds need an archival source")


_SECTIONS = ("models", "roles", "budget", "judges", "memory", "domain_file")
_UNUSED = {name: CampaignConfig.model_fields[name].default for name in _SECTIONS}


def _set(section: _ConfigSection, name: str) -> bool:
    """Whether a study says something of its own there."""
    return bool(getattr(section, name) != type(section).model_fields[name].default)


def _known(what: str, name: str, table: Any) -> None:
    if name not in table:
        near = difflib.get_close_matches(name, list(table), n=1)
        raise ValueError(
            f"there is no {what} {name!r}"
            + (f"; did you mean {near[0]!r}?" if near else ".")
            + f" Known: {', '.join(table) or 'none'}"
        )


def _only_for(key: str, applies: list[str], source: str) -> str:
    """That a setting means nothing here, and what to do."""
    names = " or ".join(repr(name) for name in applies)
    return (
        f"{key} means nothing where the source is {source!r}, only where it is {names}; remove it"
    )


def load_study(path: Path) -> CampaignConfig:
    """Read a study file, and check everything that can be checked before a run.

    Raises:
        StudyError: It is missing, is not TOML, or says what a study cannot say; the message names the key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise StudyError(
            f"cannot read the study {path}: {error.strerror or error}. "
            "`lakatos run` takes a study file, such as studies/demo.toml."
        ) from None
    except UnicodeDecodeError:
        raise StudyError(f"the study {path} is not UTF-8 text. Save it as UTF-8.") from None
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"the study {path} is not valid TOML: {error}.") from None
    return _with_answers(parse_study(_with_programs(value, path), str(path)))


def _with_answers(config: CampaignConfig) -> CampaignConfig:
    """The study with the digest of the answers that its file holds now."""
    people = config.participants
    if not people.file or people.columns is None:
        return config
    from lakatos.experiments.adoption.adopt import adopt_file  # loads pandas

    found = adopt_file(Path(people.file), people.columns, domain_of(config))
    digest = answers_digest(found.trials)
    if people.answers and people.answers != digest:
        raise StudyError(
            f"the file {people.file} does not hold the answers that the study names "
            f"({people.answers[:8]}, now {digest[:8]}); leave out participants.answers to take it as it is."
        )
    return config.model_copy(update={"participants": people.model_copy(update={"answers": digest})})


def _with_programs(value: dict[str, Any], path: Path) -> dict[str, Any]:
    """The study with the texts of the files that it names."""
    value = with_domain(value, path)
    people, theories, judges = value.get("participants"), value.get("theories"), value.get("judges")
    if (
        isinstance(people, dict)
        and isinstance(people.get("program_file"), str)
        and people["program_file"]
    ):
        text = _read(path, people["program_file"], "participants.program_file")
        value = value | {"participants": people | {"program_file": "", "program": text}}
    people = value.get("participants")
    if isinstance(people, dict) and isinstance(people.get("file"), str) and people["file"]:
        file = str((path.parent / people["file"]).resolve())
        value = value | {"participants": people | {"file": file}}
    if isinstance(theories, dict) and isinstance(theories.get("files"), list):
        texts = [_read(path, str(file), "theories.files") for file in theories["files"]]
        programs = [*theories.get("programs", ()), *texts]
        value = value | {"theories": theories | {"files": [], "programs": programs}}
    if isinstance(judges, dict) and isinstance(judges.get("anchor"), str) and judges["anchor"]:
        anchor = (path.parent / judges["anchor"]).resolve()
        if not anchor.is_file():
            raise StudyError(
                f"the study {path}: judges.anchor: there is no file {anchor}. "
                "Make one with `lakatos judges anchor build`, or give the number of items to build."
            )
        value = value | {"judges": judges | {"anchor": str(anchor)}}
    return value


def _read(study: Path, name: str, key: str) -> str:
    try:
        return (study.parent / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            f"the study {study}: {key}: cannot read {study.parent / name}: {getattr(error, 'strerror', error)}. "
            "Name a file beside the study."
        ) from None


def parse_study(value: dict[str, Any], where: str) -> CampaignConfig:
    """Check a study given as plain values; ``where`` names it in errors."""
    try:
        return CampaignConfig.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        text = _explain(first)
        raise StudyError(f"the study {where}: {text}{'' if text.endswith('?') else '.'}") from None


def _explain(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        section: Any = CampaignConfig
        for part in error["loc"][:-1]:
            fields = getattr(section, "model_fields", {})
            section = fields[part].annotation if part in fields else get_args(section)[-1]
        near = difflib.get_close_matches(str(error["loc"][-1]), list(section.model_fields), n=1)
        return f"unknown key {place!r}" + (
            f"; did you mean {near[0]!r}?"
            if near
            else f"; known here: {', '.join(section.model_fields)}"
        )
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{place + ': ' if place else ''}{message}"


def json_schema() -> dict[str, Any]:
    """JSON schema of study files."""
    return CampaignConfig.model_json_schema()


if __name__ == "__main__":
    import json

    print(json.dumps(json_schema(), indent=1))
