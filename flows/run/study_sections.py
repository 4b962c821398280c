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
from lakatos.experiments.participants import SOURCES
from lakatos.experiments.participants.timed_answer import CLOCKS_DIFFER_MS
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
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.section import ConfigSection

OWN = "study"
"""Author of theories that a study brings along."""


SHIFT: Final = 0.5
"""Standard deviations of people: a medium difference between two groups."""
EFFECT_SD: Final = 0.25
"""Share of a parameter's range: a prior that leaves room for any effect that few people could show."""
ADVOCATES: Final = ("grammar", "induction", "language_model")


class TheoriesConfig(ConfigSection):
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


OWN_ANSWERS = ("file", "columns", "answers", "told", "closed", "first_option", "time_window")
"""Keys of the section ``participants`` that mean something where answers come from a file of one's own."""


class ParticipantsConfig(ConfigSection):
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
    mechanisms: dict[str, tuple[str, ...]] = Field({})
    """Simulated: mechanisms that replace the hidden theory's own, by slot, as in ``choice = ["deterministic"]``."""
    random_choices: float = Field(0.0, ge=0, le=1)
    """Simulated: share of answers given at random."""
    dropouts: float = Field(0.0, ge=0, le=0.95)
    """Simulated: share of people who stop before the end; others take their places."""
    careless: float = Field(0.0, ge=0, le=1)
    """Simulated: share of people who answer fast and without looking."""
    archive: str | tuple[str, ...] = ""
    """Archival: data set, by name; `lakatos data list` lists them. Or a list of several of one domain: theories are
    then scored on all of them, and compared by what they predict for each data set from the others."""
    experiments: str = "*"
    """Archival: pattern of experiment names, for example ``binary-*``; of several data sets, of names such as
    ``risky_cpc18/cpc18``."""
    pooled: bool = False
    """Archival: whether only counts of answers are used, as if nobody knew who gave them; much faster where thousands
    of people each answered a few of very many trials."""
    file: str = ""
    """Archival: file with answers of your own, relative to the study file, instead of a data set."""
    columns: AnswerColumns | None = None
    """Archival: what the columns of ``file`` mean."""
    answers: str = ""
    """Archival: digest of the answers that ``file`` held when the study was read; found by itself."""
    told: tuple[str, ...] = ()
    """Archival: rows that were left out of ``file``, and what was assumed in reading it; found by itself."""
    closed: dict[str, str] = Field({})
    """Archival: what ``file`` does not show, and why, so that theories that need it are not considered; found by
    itself. An earlier study, which lacks the key, considers all."""
    first_option: str = ""
    """Archival: what the first option of ``file`` always is, where it is one thing; found by itself."""
    time_window: tuple[float, float] | None = None
    """Archival: seconds between which responses of ``file`` count, where ``columns`` say or ask for them; found by
    itself. An earlier study, which lacks the key, keeps the usual ones."""
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
        unused += tuple(
            name
            for name in ("told", "closed", "first_option", "time_window")
            if not getattr(self, name)
        )
        return {key: value[key] for key in value if key not in unused}

    @property
    def archives(self) -> tuple[str, ...]:
        """The data sets that the study names, however many."""
        if isinstance(self.archive, str):
            return (self.archive,) if self.archive else ()
        return self.archive

    @property
    def of_what(self) -> str:
        """The data sets, or the file, whose answers there are, in words; empty where people are asked."""
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
                "name the data sets, or one of them; a list without a name says nothing"
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
            raise ValueError("personas: one is empty; say who it is, or leave it out")
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
    """Whose answers do not count, preregistered; a rule whose key is left out is not applied."""

    median_time_below_ms: float | None = Field(None, gt=0)
    """People whose median response time is shorter, or whose mean time between answers by the server's clock is."""
    impossible_times_above: float | None = Field(None, ge=0, lt=1)
    """People of whose answers a larger share than this has a response time longer than the server's clock allows."""
    clocks_disagree_above: float | None = Field(None, ge=0, lt=1)
    """Web, where answers are keys with their times: people of whose answers a larger share than this has a time by the
    browser's clock that differs from the server's interval by more than ``clocks_differ_ms``."""
    clocks_differ_ms: float = Field(CLOCKS_DIFFER_MS, gt=0)
    """Milliseconds by which the two clocks may differ."""
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
    """People who missed a larger share of the trials, where time is limited; sessions of a language model that gave no
    answer to so many."""
    replacements: int = Field(0, ge=0)
    """People asked in place of excluded ones, at most, in each experiment; 0 for none."""

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


class ConfirmationConfig(ConfigSection):
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


class PrivacyConfig(ConfigSection):
    """How long what people left behind is kept; `lakatos data expire` enforces it."""

    identifiers_days: int = Field(0, ge=0)
    """After a person's answers arrived, until the page's sessions, recruitment identifiers and batches in the inbox are
    erased; 0 for no limit."""
    answers_days: int = Field(0, ge=0)
    """Until the answers themselves are erased, as if the person had withdrawn; 0 for no limit."""


class StopConfig(ConfigSection):
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


class ValidationConfig(ConfigSection):
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
    groups: str = ""
    """What is known of people and divides them, such as ``age_years``, ``condition`` or the name of a question: the
    verdict says whether the leading theories hold for each group, with the same numbers or with their own."""
    group_cuts: tuple[float, ...] = ()
    """Where ranges of a number that divides people begin; by default the halves around the median are compared where
    there are more than six values."""
    group_shift: float = Field(SHIFT, gt=0)
    """By how many standard deviations of people a parameter is taken to differ between two groups, where the power of
    a design to show that is simulated."""
    effects: str = ""
    """What is known of people and may change a theory's numbers, such as ``age_years``: the verdict says which numbers
    of the leading theories depend on it, by how much, and whether that predicts other people better."""
    effect_sd: float = Field(EFFECT_SD, gt=0)
    """Standard deviation of the normal prior of each effect, a share of the parameter's range, for a standard deviation
    of what is known."""
    effect_size: float = Field(SHIFT, gt=0)
    """By how many standard deviations of people a parameter is taken to change for one of what is known, where the
    power of a design to show that is simulated."""

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
            raise ValueError("group_cuts means nothing without groups; say what divides people")
        if self.group_shift != SHIFT and not self.groups:
            raise ValueError("group_shift means nothing without groups; say what divides people")
        if (self.effect_sd, self.effect_size) != (EFFECT_SD, SHIFT) and not self.effects:
            raise ValueError(
                "effect_sd and effect_size mean nothing without effects; say what may have one"
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
    """That a setting means nothing here, and what to do."""
    names = " or ".join(repr(name) for name in applies)
    return (
        f"{key} means nothing where the source is {source!r}, only where it is {names}; remove it"
    )
