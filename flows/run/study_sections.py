"""The sections of a study file: theories, participants, exclusions, privacy, stopping and validation."""

from __future__ import annotations

import difflib
from typing import Any, Final, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.conditions import CONDITION
from lakatos.experiments.participants import SOURCES
from lakatos.experiments.participants.timed_answer import CLOCKS_DIFFER_MS
from lakatos.experiments.planning.settings import MOST_COUNTED
from lakatos.experiments.quality import (
    ClocksDisagree,
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
from lakatos.theories.engine.sandbox.limits import USUAL_LIMITS
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.section import ConfigSection
from lakatos.traces.wording import plural

OWN = "study"
"""Author of theories that a study brings along."""


SHIFT: Final = 0.5
"""Standard deviations of people: a medium difference between two groups."""
EFFECT_SD: Final = 0.25
"""Share of a parameter's range: a prior that leaves room for any effect that few people could show."""
ADVOCATES: Final = ("grammar", "induction", "language_model")


class TheoriesConfig(ConfigSection):
    """The initial theories, and how far the search goes in a cycle."""

    seeds: tuple[str, ...] = ()
    """Published theories, by name (`lakatos theories DOMAIN` lists them). At least two initial
    theories are needed, your own included."""
    programs: tuple[str, ...] = ()
    """Sources of theories of your own that are among the initial theories."""
    files: tuple[str, ...] = ()
    """Files with theories of your own, relative to the study file. The study keeps their text."""
    seconds: float = Field(USUAL_LIMITS.cpu_seconds, ge=0.1, le=36000.0)
    """Limit of processor time in seconds for one call of a theory; more for slow theories of your
    own."""
    on_refusal: Literal["stop", "drop"] = "stop"
    """If a theory of your own fails its checks, stop with the reason, or continue without it."""
    draws: int = Field(512, ge=32, le=65536)
    """Number of participants drawn from each theory's population when it is scored; a power of
    two."""
    candidates: int = Field(60, ge=0, le=10000)
    """Maximum number of compositions that the search tries in a cycle."""
    successors: int = Field(3, ge=0, le=20)
    """Maximum number of new theories that enter the pool in a cycle."""
    advocates: tuple[Literal["grammar", "induction", "language_model"], ...] = ADVOCATES
    """Sources of new theories: the search among mechanisms, induction of rules from responses, and
    the language models that `roles.reviser` names."""
    rivals: int = Field(4, ge=2, le=12)
    """Number of leading theories that an experiment is designed to distinguish."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that came later are left out where they say nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        usual = self.seconds == USUAL_LIMITS.cpu_seconds
        return {key: value[key] for key in value if not (usual and key == "seconds")}

    @model_validator(mode="before")
    @classmethod
    def _without_induction(cls, value: Any) -> Any:
        """Read the switch that studies had before `advocates`."""
        if not isinstance(value, dict) or "induction" not in value:
            return value
        if "advocates" in value:
            raise ValueError("`advocates` replaces the key `induction`; remove `induction`")
        rest = {name: item for name, item in value.items() if name != "induction"}
        if value["induction"] not in (True, False):
            raise ValueError('induction is true or false; better write advocates = ["grammar"]')
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


OWN_ANSWERS = ("file", "columns", "answers", "told", "closed", "first_option", "time_window")
"""Keys of the section ``participants`` that mean something where responses come from a file of one's own."""


class ParticipantsConfig(ConfigSection):
    """The source of responses. The text of a key begins with the source that uses it."""

    source: str = Field(json_schema_extra={"enum": list(SOURCES)})
    """Simulated participants; published data or a file of your own; the laboratory's own page;
    responses that you collect elsewhere and bring with `lakatos data import`; or a language
    model."""
    theory: str = ""
    """Simulated: the true theory that participants follow, by name."""
    program: str = ""
    """Simulated: source of a theory of your own that participants follow."""
    program_file: str = ""
    """Simulated: file with that source, relative to the study file. The study keeps its text."""
    mechanisms: dict[str, tuple[str, ...]] = Field({})
    """Simulated: mechanisms that replace those of the true theory, by slot, as in ``choice =
    ["deterministic"]``."""
    random_choices: float = Field(0.0, ge=0, le=1)
    """Simulated: share of random responses."""
    dropouts: float = Field(0.0, ge=0, le=0.95)
    """Simulated: share of participants who stop early and are replaced."""
    careless: float = Field(0.0, ge=0, le=1)
    """Simulated: share of participants who respond fast and without looking."""
    archive: str | tuple[str, ...] = ""
    """Archival: data set by name (`lakatos data list`), or a list of data sets of one domain. With
    several, theories are compared by their predictions for each data set from the others."""
    experiments: str = "*"
    """Archival: pattern of experiment names, for example ``binary-*``; with several data sets, of
    names such as ``risky_cpc18/cpc18``."""
    pooled: bool = False
    """Archival: use counts of responses without participants. This is much faster if thousands of
    participants responded to a few of very many trials each."""
    file: str = ""
    """Archival: file with responses of your own, relative to the study file."""
    columns: AnswerColumns | None = None
    """Archival: what the columns of ``file`` mean."""
    answers: str = ""
    """Archival: digest of the responses that ``file`` contained when the study was read; filled in
    automatically."""
    told: tuple[str, ...] = ()
    """Archival: rows of ``file`` that were excluded, and assumptions made in reading it; filled in
    automatically."""
    closed: dict[str, str] = Field({})
    """Archival: inputs that ``file`` does not show, with the reason; theories that need them are
    not considered. Filled in automatically; an earlier study, which lacks the key, considers all."""
    first_option: str = ""
    """Archival: description of the first option of ``file`` if it is always the same; filled in
    automatically."""
    time_window: tuple[float, float] | None = None
    """Archival: response times of ``file`` in seconds that are used, if ``columns`` state or
    request them. Filled in automatically; an earlier study, which lacks the key, keeps the usual
    ones."""
    model: str = ""
    """Language model: the model under ``models`` that responds in place of participants."""
    personas: tuple[str, ...] = ()
    """Language model: descriptions of a person, given to sessions in turn."""
    temperature: float = Field(1.0, ge=0, le=2)
    """Language model: sampling temperature; at 0, sessions with the same persona and order of
    trials are identical."""
    max_tokens: int = Field(256, ge=16, le=65536)
    """Language model: maximum number of tokens in a response."""
    memory: int | None = Field(None, ge=0)
    """Language model: number of decisions kept in the conversation; by default as many as fit its
    context."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that came later are left out where they say nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        unused = (() if self.file else OWN_ANSWERS) + (() if self.pooled else ("pooled",))
        unused += tuple(
            name
            for name in ("told", "closed", "first_option", "time_window")
            if not getattr(self, name)
        )
        return {key: value[key] for key in value if key not in unused}

    def without_form(self) -> dict[str, Any]:
        """Return the settings, with what depends on the form of the file replaced by what every form has."""
        attributes = sorted(self.columns.attributes) if self.columns else []
        known: dict[str, Any] = {"columns": {"attributes": attributes}}
        if self.columns and self.columns.condition:
            known["columns"]["condition"] = CONDITION  # whatever the column is called
        return known | ({"closed": dict.fromkeys(self.closed, "")} if self.closed else {})

    @property
    def archives(self) -> tuple[str, ...]:
        """The data sets that the study names, however many."""
        if isinstance(self.archive, str):
            return (self.archive,) if self.archive else ()
        return self.archive

    @property
    def of_what(self) -> str:
        """The data sets, or the file, whose responses there are, in words; empty where people are asked."""
        return " and ".join(self.archives) or self.file

    @field_validator("archive")
    @classmethod
    def _different_archives(cls, archive: str | tuple[str, ...]) -> str | tuple[str, ...]:
        """One data set is the same study, whether in a list or not."""
        if isinstance(archive, str):
            return archive
        repeated = sorted({name for name in archive if archive.count(name) > 1})
        if repeated:
            raise ValueError(
                f"the archive {repeated[0]!r} is named twice; name different data sets"
            )
        if not archive or not all(archive):
            raise ValueError(
                "name one or several data sets; the list is empty, or has an empty name"
            )
        return archive if len(archive) > 1 else archive[0]

    @field_validator("source")
    @classmethod
    def _listed(cls, source: str) -> str:
        _known("source", source, SOURCES)
        return source

    def _check_keys(self) -> None:
        """Refuse keys that mean nothing to the source."""
        for key, field in type(self).model_fields.items():
            applies = [name for name, source in SOURCES.items() if key in source.keys]
            if (
                key != "source"
                and self.source not in applies
                and getattr(self, key) != field.default
            ):
                raise ValueError(only_for(key, applies, self.source))
        if self.program_file:
            raise ValueError(
                "program_file is read with a study file only; give the text itself as program"
            )

    def _check_needs(self) -> None:
        """Refuse a study that does not give exactly one of the keys that the source needs."""
        needs = SOURCES[self.source].needs
        if needs and sum(bool(getattr(self, key)) for key in needs) != 1:
            one = ", or ".join(map(repr, needs))
            both = ", and not both" if len(needs) > 1 else ""
            raise ValueError(f"the source {self.source!r} needs the key {one}{both}")

    @model_validator(mode="after")
    def _complete(self) -> ParticipantsConfig:
        self._check_keys()
        self._check_needs()
        if bool(self.file) != (self.columns is not None):
            raise ValueError(
                "file and columns go together: `lakatos new STUDY --data FILE` writes both"
            )
        if any(not persona.strip() for persona in self.personas):
            raise ValueError("personas: one is empty; describe it, or leave it out")
        self._check_rule()
        return self

    def _check_rule(self) -> None:
        """Refuse a hidden rule that cannot be read."""
        if self.program and self.mechanisms:
            raise ValueError("mechanisms replace those of a published theory; a program has none")
        if self.program:
            try:
                read_program(TheoryProgram(self.program, "hidden"))
            except TheoryError as error:
                raise ValueError(f"program: {str(error).removesuffix('.')}") from None


class ExclusionsConfig(ConfigSection):
    """Preregistered rules for excluding participants; each applies only if its key is set."""

    median_time_below_ms: float | None = Field(None, gt=0)
    """Exclude participants whose median response time, or mean time between responses by the
    server's clock, is shorter."""
    impossible_times_above: float | None = Field(None, ge=0, lt=1)
    """Exclude participants with a larger share of response times longer than the server's clock
    allows."""
    clocks_disagree_above: float | None = Field(None, ge=0, lt=1)
    """Page, tasks with response times: exclude participants with a larger share of times that
    differ between browser and server by more than ``clocks_differ_ms``."""
    clocks_differ_ms: float = Field(CLOCKS_DIFFER_MS, gt=0)
    """Tolerated difference between the two clocks, in ms."""
    fast_responses_above: float | None = Field(None, ge=0, lt=1)
    """Exclude participants with a larger share of responses faster than ``fast_response_ms``."""
    fast_response_ms: float = Field(200.0, gt=0)
    """Limit of a fast response, in ms."""
    one_side_above: float | None = Field(None, gt=0, lt=1)
    """Exclude participants who chose one side in a larger share of their responses."""
    alternation_above: float | None = Field(None, gt=0, lt=1)
    """Exclude participants who changed sides after a larger share of their responses."""
    failed_checks_above: int | None = Field(None, ge=0)
    """Exclude participants who failed more attention checks."""
    comprehension_attempts_above: int | None = Field(None, ge=1)
    """Exclude participants who needed more attempts at the comprehension check."""
    duplicates: Literal["experiment", "campaign"] = "experiment"
    """Whether only a participant's first responses count in each experiment, or in the whole
    campaign."""
    partial: Literal["exclude", "keep"] = "exclude"
    """Whether participants who stopped early are excluded, or kept if they completed
    ``partial_share`` of the trials."""
    partial_share: float = Field(0.5, ge=0, le=1)
    """Minimum share of completed trials."""
    missing_responses_above: float | None = Field(None, ge=0, lt=1)
    """Exclude participants who missed a larger share of trials with a time limit, and sessions of a
    language model with so many missing responses."""
    replacements: int = Field(0, ge=0, le=MOST_COUNTED)
    """Maximum number of participants recruited in each experiment in place of excluded ones; 0 for
    none."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that came later are left out where they say nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        later = {"clocks_disagree_above": None, "clocks_differ_ms": CLOCKS_DIFFER_MS}
        unused = [name for name, usual in later.items() if getattr(self, name) == usual]
        return {key: value[key] for key in value if key not in unused}

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
        if self.clocks_disagree_above is not None:
            found.append(ClocksDisagree(self.clocks_differ_ms, self.clocks_disagree_above))
        if self.fast_responses_above is not None:
            found.append(FastAnswers(self.fast_response_ms, self.fast_responses_above))
        if self.one_side_above is not None:
            found.append(OneKey(self.one_side_above))
        if self.alternation_above is not None:
            found.append(ConstantAlternation(self.alternation_above))
        if self.failed_checks_above is not None:
            found.append(FailedChecks(self.failed_checks_above))
        if self.comprehension_attempts_above is not None:
            found.append(ComprehensionAttempts(self.comprehension_attempts_above))
        if self.missing_responses_above is not None:
            found.append(MissingAnswers(self.missing_responses_above))
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


class ConfirmationConfig(ConfigSection):
    """A final preregistered test of the leading theory's predictions on new participants."""

    participants: int = Field(0, ge=0, le=MOST_COUNTED)
    """Number of participants; 0 for no such test."""
    trials: int = Field(12, ge=2, le=MOST_COUNTED)
    """Number of trials: those on which the leader differs most from the best other theory."""
    repetitions: int = Field(2, ge=1, le=MOST_COUNTED)
    """Presentations of each trial to each participant."""

    @field_validator("participants")
    @classmethod
    def _enough_for_an_error(cls, participants: int) -> int:
        if participants == 1:
            raise ValueError(
                "differences between people need at least 2; give 0 for no confirmation"
            )
        return participants


class PrivacyConfig(ConfigSection):
    """Storage limits of personal data; `lakatos data expire` enforces them."""

    identifiers_days: int = Field(0, ge=0, le=MOST_COUNTED)
    """Days after a participant's responses arrived until sessions of the page, identifiers of
    recruitment services and batches in the inbox are erased; 0 for no limit."""
    responses_days: int = Field(0, ge=0, le=MOST_COUNTED)
    """Days until the responses themselves are erased, as after a withdrawal; 0 for no limit."""


class StopConfig(ConfigSection):
    """Conditions under which the campaign ends."""

    cycles: int = Field(5, ge=1, le=MOST_COUNTED)
    """Maximum number of cycles."""
    least_cycles: int = Field(2, ge=1, le=MOST_COUNTED)
    """Minimum number of cycles before a verdict."""
    patience: int = Field(3, ge=1, le=MOST_COUNTED)
    """Cycles without improvement of the best score after which the campaign ends."""
    moved: float = Field(0.012, ge=0, lt=1)
    """End the campaign, after ``least_cycles``, if the choice proportions that the leader predicts
    over trials of the space have moved by less than this (root mean square) since the last cycle;
    0 for never. Not where responses exist already, nor for theories that learn."""
    exact: float = Field(0.0, ge=0, lt=1)
    """End the campaign at once, even before ``least_cycles``, if the squared error of the leader's
    frozen predictions (sampling noise subtracted) is below this value with 95% confidence and no
    check of its participants finds a misfit; 0 for never."""

    def words(self, *, is_archive: bool) -> str:
        """Every rule by which the campaign ends, as a preregistration states it.

        Args:
            is_archive: Whether responses exist already.
        """
        rules = []
        if self.least_cycles < self.cycles:
            stalled = plural(self.patience, "cycle")
            moves = f"once its predictions move by less than {self.moved:g} between two cycles, "
            rules.append(
                f"from cycle {self.least_cycles} on, after {stalled} without improvement of the leading theory, "
                f"{moves if self.moved and not is_archive else ''}or once it beats every rival on frozen predictions "
                "and no new theory improves on it"
            )
        if self.exact:
            rules.append(
                "in any cycle, once the squared error of the leading theory's frozen predictions (sampling noise "
                f"subtracted) is below {self.exact:g} with 95% confidence and no predictive check finds a misfit"
            )
        most = f"the study ends after {plural(self.cycles, 'cycle')}"
        return f"{most} at the latest, and earlier {'; '.join(rules)}" if rules else most


class ValidationConfig(ConfigSection):
    """Responses that are hidden from the search until the verdict, and the comparisons made there."""

    sealed_share: float = Field(0.0, ge=0, lt=1)
    """Archival: share of distinct trials sealed until the verdict; in learning tasks, of
    participants."""
    sealed_participants: float = Field(0.0, ge=0, lt=1)
    """Archival: share of each experiment's participants whose responses are all sealed until the
    verdict; of groups, if participants have the attribute ``playing_group``."""
    folds: int = Field(0, ge=0, le=MOST_COUNTED)
    """Archival: run the whole loop once for each fold of trials, each sealed in turn."""
    comparison_models: bool = True
    """Whether the rivals are compared at the verdict with all published theories of the domain and
    with generic learners."""
    groups: str = ""
    """Attribute that divides participants, such as ``age_years``, ``condition`` or a question's
    name. The verdict states whether the leading theories hold in each group, with the same
    parameters or with separate ones."""
    group_cuts: tuple[float, ...] = ()
    """Lower limits of the ranges of a numeric attribute; by default it is divided at the median if
    it has more than six values."""
    group_shift: float = Field(SHIFT, gt=0)
    """Assumed difference of a parameter between two groups, in standard deviations between
    participants, for the simulated power."""
    effects: str = ""
    """Attribute that may change parameters, such as ``age_years``. The verdict states which
    parameters of the leading theories depend on it, by how much, and whether this improves the
    prediction of other participants."""
    effect_sd: float = Field(EFFECT_SD, gt=0)
    """Standard deviation of the normal prior of each effect, as a share of the parameter's range
    per standard deviation of the attribute."""
    effect_size: float = Field(SHIFT, gt=0)
    """Assumed effect, in standard deviations between participants per standard deviation of the
    attribute, for the simulated power."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that came later are left out where they say nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        unused = () if self.groups else ("groups", "group_cuts")
        if self.group_shift == SHIFT:
            unused = (*unused, "group_shift")
        if not self.effects:
            unused = (*unused, "effects", "effect_sd", "effect_size")
        return {key: value[key] for key in value if key not in unused}

    @model_validator(mode="after")
    def _cuts_of_something(self) -> Self:
        if self.group_cuts and not self.groups:
            raise ValueError(
                "group_cuts means nothing without groups; name the attribute that divides participants"
            )
        if self.group_shift != SHIFT and not self.groups:
            raise ValueError(
                "group_shift means nothing without groups; name the attribute that divides participants"
            )
        if (self.effect_sd, self.effect_size) != (EFFECT_SD, SHIFT) and not self.effects:
            raise ValueError(
                "effect_sd and effect_size mean nothing without effects; name the attribute"
            )
        return self

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


def _known(what: str, name: str, table: Any) -> None:
    if name not in table:
        near = difflib.get_close_matches(name, list(table), n=1)
        raise ValueError(
            f"there is no {what} {name!r}"
            + (f"; did you mean {near[0]!r}?" if near else ".")
            + f" Known: {', '.join(table) or 'none'}"
        )


def only_for(key: str, applies: list[str], source: str) -> str:
    """A message that a setting has no meaning here, and what to do."""
    names = " or ".join(repr(name) for name in applies)
    return (
        f"{key} means nothing where the source is {source!r}, only where it is {names}; remove it"
    )
