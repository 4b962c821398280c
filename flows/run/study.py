"""The study file: what a campaign asks, of whom, and when it stops.

Every key is checked; an unknown one is refused with the nearest known one. ``json_schema()`` describes the format for
editors and stands in ``studies/schema.json``.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import numpy as np
from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.experiments.adoption.packing import answers_digest
from lakatos.experiments.conditions import CONDITION
from lakatos.experiments.errors import DesignError, ExperimentError, SourceError
from lakatos.experiments.outcomes import lacking_inputs
from lakatos.experiments.participants import SOURCES
from lakatos.experiments.participants.answers import LANGUAGE_MODEL
from lakatos.experiments.participants.source import SourceProfile
from lakatos.experiments.participants.timed_answer import n_choices, timed_task
from lakatos.experiments.participants.web.manner import check_within
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.study_list import with_files
from lakatos.experiments.participants.web.timed import check_timed_trials
from lakatos.experiments.planning.settings import DesignConfig
from lakatos.experiments.proposal import are_forbidden, check_proposal, costs_of
from lakatos.experiments.task import Domain, Stimuli
from lakatos.experiments.task_file import TaskFile
from lakatos.flows.errors import FormerNameWarning, StudyError
from lakatos.flows.run.gone_keys import (
    refuse_gone_keys,
    with_former_names,
    with_present_names,
    without_gone_keys,
)
from lakatos.flows.run.judge_settings import JudgesConfig, MemoryConfig
from lakatos.flows.run.model_settings import (
    Budget,
    ModelSettings,
    RolesConfig,
    check_models,
    with_names,
)
from lakatos.flows.run.page_settings import PageConfig
from lakatos.flows.run.study_sections import (
    ConfirmationConfig,
    ExclusionsConfig,
    ParticipantsConfig,
    PrivacyConfig,
    StopConfig,
    TheoriesConfig,
    ValidationConfig,
    _known,
    only_for,
)
from lakatos.flows.run.task import domain_of, family_of, with_domain
from lakatos.theories.errors import GrammarError, TheorySourceError
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory_file import read_theory_file
from lakatos.traces.digest import Digest, digest_bytes, digest_of
from lakatos.traces.files import read_named, read_toml
from lakatos.traces.section import ConfigSection

if TYPE_CHECKING:
    from lakatos.experiments.adoption.adopt import AdoptedAnswers

OWN_DOMAIN: dict[str, Any] = {
    "type": ["string", "object"],
    "properties": {"file": {"type": "string"}},
    "required": ["file"],
    "additionalProperties": False,
}
"""Schema of ``domain`` in a study file."""


class CampaignConfig(ConfigSection):
    """A whole study, as its file describes it, with all defaults filled in."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
    """Name of the study; its runs are called after it."""
    question: str = Field(min_length=1)
    """The question that the study asks, in one sentence."""
    domain: str = Field(json_schema_extra=OWN_DOMAIN)
    """Kind of task: the name of a domain of the package, or a section ``[domain]`` with the file
    that declares one."""
    domain_file: TaskFile | None = None
    """File of a declared domain and its whole text; filled in from the section ``domain``."""
    seed: int = Field(1, ge=0)
    """Seed of all random numbers of the run."""
    space: dict[str, Any] = {}  # noqa: RUF012
    """Settings of the domain's space of trials; not used by archival studies."""
    theories: TheoriesConfig
    design: DesignConfig = DesignConfig()
    participants: ParticipantsConfig
    exclusions: ExclusionsConfig = ExclusionsConfig()
    confirmation: ConfirmationConfig = ConfirmationConfig()
    page: PageConfig = PageConfig()
    privacy: PrivacyConfig = PrivacyConfig()
    stop: StopConfig = StopConfig()
    validation: ValidationConfig = ValidationConfig()
    baselines: dict[str, float] = {}  # noqa: RUF012
    """Published errors of proportions to compare with, by name."""
    models: dict[str, ModelSettings] = {}  # noqa: RUF012
    """Language models, by the names that ``roles`` uses."""
    roles: RolesConfig = RolesConfig()
    budget: Budget = Budget()
    """Limits of what language models may use in the whole run."""
    judges: JudgesConfig = JudgesConfig()
    memory: MemoryConfig = MemoryConfig()

    @model_validator(mode="before")
    @classmethod
    def _with_present_names(cls, value: Any) -> Any:
        return with_present_names(value)

    @field_validator("design", mode="before")
    @classmethod
    def _without_keys_that_went(cls, design: Any) -> Any:
        return without_gone_keys("design", design)

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
                "roles.reflector: with memory.arm = 'none' its lessons are never read; remove one of the two"
            )
        return self

    @model_serializer(mode="wrap")
    def _without_unused_sections(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Sections that are not used are written as if they did not exist, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        unused = [name for name in _UNUSED if getattr(self, name) == _UNUSED[name]]
        return {name: item for name, item in value.items() if name not in unused}

    @property
    def identity(self) -> dict[str, Any]:
        """The study by what its files hold, not by where they are, so that it is the same study in every folder.

        Random numbers follow from it. Of a file whose responses are named by their digest it therefore holds nothing
        that depends on the form of the file, nor its name, by which a study and its question may be called.
        """
        value = self.model_dump(mode="json")
        if self.participants.file:
            value["participants"].pop("told", None)
            value["participants"]["file"] = OWN_FILE
        if self.participants.file and self.participants.answers:
            value |= {"name": OWN_FILE, "question": OWN_FILE}
            value["participants"] |= self.participants.without_form()
        if self.domain_file is not None:
            value["domain_file"]["file"] = f"task{Path(self.domain_file.file).suffix}"
        if self.judges.anchor:
            value["judges"]["anchor"] = anchor_name(Path(self.judges.anchor))
        return with_former_names(value)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions within participants."""
        return self.design.conditions

    @property
    def time_window(self) -> tuple[float, float] | None:
        """Seconds between which responses count, where the study's file says so."""
        return self.participants.time_window

    @property
    def digest(self) -> Digest:
        """Identity of the study: it changes with every setting."""
        return digest_of(self.identity)

    def with_places(self, study: Mapping[str, Any]) -> CampaignConfig:
        """The same study with the places, names and form of its files, as a journal's meta says them."""
        own = CampaignConfig.model_validate(study)
        people, mine = self.participants, own.participants
        changed: dict[str, Any] = {}
        if people.file and people.answers == mine.answers:
            found = {key: getattr(mine, key) for key in ("file", "columns", "told", "closed")}
            changed["participants"] = people.model_copy(update=found)
            changed |= {"name": own.name, "question": own.question}
        if self.domain_file is not None and own.domain_file is not None:
            changed["domain_file"] = own.domain_file
        if self.judges.anchor:
            changed["judges"] = self.judges.model_copy(update={"anchor": own.judges.anchor})
        return self.model_copy(update=changed)

    @property
    def source(self) -> SourceProfile:
        """Profile of the source of the study's participants."""
        people = self.participants
        excludes = bool(people.dropouts or people.careless) or self.exclusions != ExclusionsConfig()
        stops_early = self.design.stopping.rule != "fixed"
        return SOURCES[people.source].profile_in(follows_participants=excludes or stops_early)

    @property
    def closed_inputs(self) -> Mapping[str, str]:
        """What the trials of the study lack, so that theories that need it are not considered, and why."""
        if self.participants.file:
            return self.participants.closed
        return {**lacking_inputs(domain_of(self), self.space), **self.participants.closed}

    @model_validator(mode="after")
    def _names_exist(self) -> CampaignConfig:
        if self.domain_file is None:
            _known("domain", self.domain, DOMAINS)
            _known("family of theories", self.domain, FAMILIES)
        family = family_of(self)
        for seed in self.theories.seeds:
            _known("theory", seed, family.seeds)
        if self.participants.theory:
            _known("theory", self.participants.theory, family.seeds)
            hidden = family.seeds[self.participants.theory][1]
            try:
                family.grammar.used(Composition({**hidden.slots, **self.participants.mechanisms}))
            except GrammarError as error:
                raise ValueError(
                    f"participants.mechanisms: {str(error).removesuffix('.')}"
                ) from None
        if not self.source.is_archive:
            self._open_only()
        else:
            if self.exclusions != ExclusionsConfig():
                raise ValueError(
                    "exclusions need newly recruited participants; published responses are used as they are"
                )
            if self.design.stopping.rule != "fixed":
                raise ValueError(
                    "design.stopping: published responses come all at once; leave the rule at 'fixed'"
                )
            if self.confirmation.participants:
                raise ValueError(
                    "a confirmation needs new people; an archive has sealed_share instead"
                )
            if self.participants.file:
                return self
            for archive in self.participants.archives:
                _known("archive", archive, ARCHIVES)
                if ARCHIVES[archive].domain != self.domain:
                    raise ValueError(
                        f"the archive {archive!r} is of the domain {ARCHIVES[archive].domain!r}, not {self.domain!r}"
                    )
        return self

    @model_validator(mode="after")
    def _sections_apply(self) -> CampaignConfig:
        own = {"space", "page", "privacy"}  # for the others there are messages of their own
        for name in sorted(own):
            applies = [known for known, source in SOURCES.items() if name in source.sections]
            default = type(self).model_fields[name].default
            if self.participants.source not in applies and getattr(self, name) != default:
                raise ValueError(only_for(name, applies, self.participants.source))
        return self

    @model_validator(mode="after")
    def _keys_apply(self) -> CampaignConfig:
        people = self.participants
        if people.model:
            _known("model", people.model, self.models)
        for section, value in (("exclusions", self.exclusions), ("page", self.page)):
            for key in sorted(name for name in type(value).model_fields if _set(value, name)):
                if not SOURCES[people.source].reads(section, key):
                    raise ValueError(
                        f"{section}.{key} means nothing where the source is {people.source!r}; remove it"
                    )
        can_miss = self.page.limits_time or timed_task(domain_of(self)) is not None
        may_miss = self.source.origin == LANGUAGE_MODEL or (self.source.on_page and can_miss)
        if _set(self.exclusions, "missing_responses_above") and not may_miss:
            only = only_for("exclusions.missing_responses_above", [LANGUAGE_MODEL], people.source)
            raise ValueError(f"{only}; or limit the time of a decision (page.timeout_ms)")
        return self

    @model_validator(mode="after")
    def _conditions_apply(self) -> CampaignConfig:
        columns = self.participants.columns
        in_file = columns is not None and bool(columns.condition)
        asked_anew = self.source.on_page or self.source.origin == "simulated"
        if in_file and self.design.blocks > 1:
            raise ValueError("design.blocks means nothing where responses are there; remove it")
        if self.design.blocks > 1 and domain_of(self).sequential:
            raise ValueError(
                "design.blocks: a schedule is played once in each condition, since a block within it would interrupt "
                "what is learned; remove the key"
            )
        if self.conditions and not (asked_anew or in_file):
            raise ValueError(
                f"design.conditions means nothing where the source is {self.participants.source!r}, only where "
                "participants are simulated or take part on the page; remove it"
            )
        confirmation = self.confirmation
        n_confirmed = confirmation.trials * confirmation.repetitions
        if confirmation.participants and self.design.blocks > n_confirmed:
            raise ValueError(
                f"design.blocks is {self.design.blocks}, and a condition of the confirmation has {n_confirmed} "
                "presentations (confirmation.trials times confirmation.repetitions); give fewer blocks"
            )
        if self.conditions and any(item.name == CONDITION for item in self.page.questions):
            raise ValueError(
                f"a question is called {CONDITION!r}, like the column of a trial's condition; rename it"
            )
        if self.source.on_page:
            check_within(self.conditions, self.page.conditions)
        return self

    @model_validator(mode="after")
    def _groups_are_known(self) -> CampaignConfig:
        people = self.participants
        if people.archive:
            return self  # what an archive knows of its people, its reader says
        known = list(people.columns.attributes) if people.columns else []
        if self.source.on_page:
            known = [question.name for question in self.page.questions]
            known += [CONDITION] if self.page.conditions else []
        if self.conditions or (people.columns is not None and people.columns.condition):
            known.append(CONDITION)
            if self.validation.groups == CONDITION:
                raise ValueError(
                    "validation.groups: conditions within participants are no groups of participants; give "
                    f"validation.effects = {CONDITION!r}"
                )
        known = list(dict.fromkeys(known))
        for key, by in (("groups", self.validation.groups), ("effects", self.validation.effects)):
            if by and by not in known:
                raise ValueError(
                    f"validation.{key}: nothing called {by!r} is known of these people; "
                    f"known is {', '.join(known) or 'nothing'}"
                )
        return self

    @model_validator(mode="after")
    def _page_fits(self) -> CampaignConfig:
        if self.source.on_page:
            domain = domain_of(self)
            example = domain.probes(np.random.default_rng(0))[0].take([0])
            # How many options a schedule has, its design says; whoever recruits looks again.
            if timed_task(domain) is not None:
                example = self._timed_space(domain)
            n_options = len(self.page.keys) if domain.sequential else n_choices(domain, example)
            try:
                page = PageSettings.of_study(self.page.model_dump())
            except SourceError as error:
                raise ValueError(str(error).removesuffix(".")) from None
            page.check_for(domain, n_options)
            n_trials = self.design.trials * self.design.repetitions
            if page.study and len(page.study.items) < n_trials:
                raise ValueError(
                    f"page.study.items: there are {len(page.study.items)} items, and a participant sees {n_trials} "
                    f"({self.design.trials} trials, {self.design.repetitions} times each), each with an item of its "
                    "own; give more items, or lower design.repetitions"
                )
        return self

    def _timed_space(self, domain: Domain) -> Stimuli:
        """The trials that people may be asked whose responses are keys with their times.

        Raises:
            ValueError: The page cannot ask them.
        """
        try:
            stimuli = domain.space(self.space)
        except ExperimentError as error:
            raise ValueError(str(error).removesuffix(".")) from None
        check_timed_trials(domain, stimuli, self.page.timed)
        confirmed = self.confirmation
        if confirmed.participants and confirmed.repetitions % 2:
            raise ValueError(
                "confirmation.repetitions: give an even number; half of them have the right key on the other side"
            )
        task = timed_task(domain)
        n_keys = 2 if task is None else task.n_keys(stimuli)
        if confirmed.participants and n_keys > 2 and confirmed.trials < len(stimuli):
            raise ValueError(
                f"confirmation.trials: give {len(stimuli)}, all that there are; with fewer, some of three keys would "
                "be right more often than others"
            )
        if self.design.sides != "both" or self.design.repetitions % 2:
            raise ValueError(
                'design.sides: give "both", and an even number of design.repetitions; otherwise the right key would '
                "tell the condition"
            )
        return stimuli

    def _check_seeds_can_be_tested(self) -> None:
        """Refuse initial theories that need what the trials lack."""
        closed, family = self.closed_inputs, family_of(self)
        for seed in self.theories.seeds:
            for name in family.needed(seed, closed):
                raise ValueError(f"theories.seeds: {seed!r} needs another task: {closed[name]}")

    @model_validator(mode="after")
    def _design_fits(self) -> CampaignConfig:
        domain, design = domain_of(self), self.design
        example = domain.probes(np.random.default_rng(0))[0].take([0])
        try:
            if domain.sequential and design.forbidden:
                raise DesignError("design.forbidden: the steps of a schedule cannot be left out")
            are_forbidden(domain, example, design.forbidden)
            costs_of(domain, example, per_response=1e9, features=design.cost.features)
            if not self.participants.file:
                self._check_seeds_can_be_tested()
            if design.proposed and self.source.is_archive:
                raise DesignError(
                    "design.proposed: an archive has responses to its own trials only"
                )
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
        if hidden.sealed_share or hidden.sealed_participants or hidden.folds:
            raise ValueError("sealed trials, sealed people and folds need an archival source")


OWN_FILE = "answers"
"""Name of any file of responses, and of a study of it, where only what it holds counts."""
_SECTIONS = ("models", "roles", "budget", "judges", "memory", "domain_file")
_UNUSED = {name: CampaignConfig.model_fields[name].default for name in _SECTIONS}


LARGEST = 2**22
"""Bytes of a study file."""


def anchor_name(file: Path) -> str:
    """Digest of the content of an anchor file, or its path if it cannot be read."""
    try:
        return digest_bytes(file.read_bytes()) if file.is_file() else str(file)
    except OSError:
        return str(file)


def _set(section: ConfigSection, name: str) -> bool:
    """Whether a study says something of its own there."""
    return bool(getattr(section, name) != type(section).model_fields[name].default)


def load_study(path: Path) -> CampaignConfig:
    """Read a study file, and check everything that can be checked before a run.

    Raises:
        StudyError: It is missing, is not TOML, or says what a study cannot say; the message names the key.
    """
    try:
        text = read_named(path, LARGEST).decode()
    except OSError as error:
        raise StudyError(
            f"cannot read the study {path}: {error.strerror or error}. "
            "`lakatos run` takes a study file, such as studies/demo.toml."
        ) from None
    except UnicodeDecodeError:
        raise StudyError(f"the study {path} is not UTF-8 text. Save it as UTF-8.") from None
    try:
        value = read_toml(text)
    except ValueError as error:
        raise StudyError(f"the study {path} is not valid TOML: {error}.") from None
    config = parse_study(_with_programs(value, path), str(path))
    _check_space(config, path)
    return _with_answers(config)


def _check_space(config: CampaignConfig, path: Path) -> None:
    """Refuse settings of the space in which no trial can be drawn."""
    if config.source.is_archive:
        return
    try:
        domain_of(config).candidates(config.space, np.random.default_rng(0), 1)
    except ExperimentError as error:
        raise StudyError(f"the study {path}: space: {error}") from None


def _with_answers(config: CampaignConfig) -> CampaignConfig:
    """The study with the digest of the responses that its file holds now."""
    people = config.participants
    if not people.file or people.columns is None:
        return config
    # These load pandas.
    from lakatos.experiments.adoption.adopt import adopt_file, check_fits
    from lakatos.experiments.adoption.content_order import trials_of_study
    from lakatos.experiments.adoption.file_conditions import check_attributes, check_conditions
    from lakatos.experiments.adoption.tables import n_lines

    file, columns = Path(people.file), people.columns
    if not (columns.where or columns.wide):  # before minutes are spent on reading it
        check_fits(n_lines(file) - 1, file.name, columns)
    domain = domain_of(config)
    found = adopt_file(file, columns, domain)
    if not people.answers:  # a run that began goes on as it began
        check_attributes(found, columns)
        found = check_conditions(found, columns, domain)
    check_fits(sum(item.n_responses for item in found.trials), file.name, columns)
    if columns.condition:
        found, config = _with_conditions(config, found)
    trials = trials_of_study(found, domain, people.answers, people.experiments)
    digest = answers_digest(trials)
    if people.answers and people.answers != digest:
        raise StudyError(
            f"the file {people.file} does not hold the responses that the study names "
            f"({people.answers[:8]}, now {digest[:8]}); leave out participants.answers to take it as it is."
        )
    _check_seeds(config, found.closed)
    known = {
        "answers": digest,
        "told": found.about_rows,
        "closed": dict(found.closed),
        "first_option": found.first_option,
        "time_window": found.time_window,
    }
    return config.model_copy(update={"participants": people.model_copy(update=known)})


def _with_conditions(
    config: CampaignConfig, found: AdoptedAnswers
) -> tuple[AdoptedAnswers, CampaignConfig]:
    """Responses of a file with their conditions, and the study with the conditions' names."""
    from lakatos.experiments.adoption.file_conditions import (
        condition_names,
        with_file_conditions,
    )

    assert config.participants.columns is not None
    column = config.participants.columns.condition
    names = tuple(condition_names(found, column).values())
    if config.conditions not in ((), names):
        raise StudyError(
            f"design.conditions: {config.participants.file} has the conditions {', '.join(names)}; leave the key out, "
            "as the file names them."
        )
    design = config.design.model_copy(update={"conditions": names})
    config = config.model_copy(update={"design": design})
    return with_file_conditions(found, column, domain_of(config)), config


def _check_seeds(config: CampaignConfig, closed: Mapping[str, str]) -> None:
    """Refuse initial theories that rest on what the file does not show."""
    family = family_of(config)
    for seed in config.theories.seeds:
        for name in family.needed(seed, closed):
            left = [
                other
                for other in family.without(closed).seeds
                if other not in config.theories.seeds
            ]
            raise StudyError(
                f"theories.seeds: {seed!r} cannot be tested with the file {config.participants.file}: {closed[name]}. "
                f"Name another theory in its place, such as {', '.join(left[:3])}."
            )


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
    page = value.get("page")
    if isinstance(page, dict) and isinstance(page.get("study"), dict):
        try:
            listed = with_files(page["study"], path.parent)
        except ValueError as error:
            raise StudyError(f"the study {path}: {error}.") from None
        value = value | {"page": page | {"study": listed}}
    return value


def _read(study: Path, name: str, key: str) -> str:
    try:
        return read_theory_file(study.parent / name)
    except TheorySourceError as error:
        raise StudyError(f"the study {study}: {key}: {error}") from None


def parse_study(value: dict[str, Any], where: str) -> CampaignConfig:
    """Check a study given as plain values; ``where`` names it in errors."""
    try:
        value = with_present_names(value, _renamed)
        refuse_gone_keys(value)
    except ValueError as error:
        raise StudyError(f"the study {where}: {error}.") from None
    try:
        return CampaignConfig.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        text = _explain(first)
        raise StudyError(f"the study {where}: {text}{'' if text.endswith('?') else '.'}") from None


def _renamed(line: str) -> None:
    warnings.warn(line, FormerNameWarning, stacklevel=4)


def _explain(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        section: Any = CampaignConfig
        for part in error["loc"][:-1]:
            fields = getattr(section, "model_fields", {})
            section = fields[part].annotation if part in fields else get_args(section)[-1]
            if get_origin(section) in (Union, UnionType):  # a section that may be missing
                section = get_args(section)[0]
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
