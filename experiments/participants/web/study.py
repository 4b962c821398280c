"""What the page asks of one person, step by step: pure functions of the design, the seed and the person's place.

Nothing of a step that a person has not reached yet leaves the server where something follows an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import design_from_json, design_to_json
from lakatos.experiments.domains import find_domain
from lakatos.experiments.domains.task_file import TaskFile, task_file_of
from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.source import rng_of
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.participants.web.manner import (
    LONGEST_FIXATION_MS,
    PageCondition,
    PracticeTrials,
    VisitFact,
    check_for_task,
    check_manner,
    practice_stimuli,
)
from lakatos.experiments.participants.web.questions import (
    PageQuestion,
    QuestionBlock,
    check_questions,
)
from lakatos.experiments.participants.web.timed import (
    TimedAnswers,
    check_timed,
    check_timed_trials,
    figures_of,
)
from lakatos.experiments.task import Design, Domain, Stimuli
from lakatos.traces.digest import Digest

Array = NDArray[Any]
MINUTES_BEFORE_TASK = 3
SECONDS_PER_STEP = 7


@dataclass(frozen=True)
class PageSettings:
    """How the page treats people."""

    language: str = "en"
    """Shown first; people may choose another one that there is."""
    checks: int = 2
    """Attention checks, strewn among the trials."""
    most_attempts: int = 3
    """At the comprehension check; then the study ends for this person."""
    idle_minutes: float = 30.0
    """Without an answer, after which a person counts as having stopped and the place is given to another."""
    limit_minutes: float = 120.0
    """From consent to the end."""
    minutes: int = 0
    """What the consent page says it takes; 0 for an estimate by the number of trials."""
    contact: str = ""
    """Whom people can ask: a name and an address."""
    completion_code: str = ""
    """Shown at the end, the same for all, as recruitment services want it; by default each person gets one."""
    completion_url: str = ""
    """Where people return to; ``{code}`` stands for the completion code."""
    returning: Literal["refuse", "admit"] = "refuse"
    """Whether people of an earlier experiment of the run are admitted to this one."""
    access: Literal["invited", "open"] = "invited"
    """Whether people come by invitation or through a recruitment service, or whoever has the link comes in."""
    hourly_from_address: int = 10
    """Open link: people who may begin within an hour from one internet address; 0 for any number."""
    questions: tuple[PageQuestion, ...] = ()
    """About the person, before or after the task."""
    practice: PracticeTrials = field(default_factory=PracticeTrials)
    """Decisions before the first one that counts."""
    break_every: int = 0
    """Decisions after which people may rest as long as they like; 0 for no breaks."""
    timeout_ms: float = 0.0
    """For a decision; one that is not made in time is noted as missed and never as a choice. 0 for no limit."""
    fixation_ms: float = 0.0
    """A cross is shown for so long before each decision; 0 for none."""
    keys: tuple[str, ...] = ()
    """On the keyboard, one for each option in their order; by default 1, 2, ..., and for two options the arrows."""
    slider: bool = False
    """Whether answers that are numbers are given on a slider, not by a button for each."""
    record: tuple[VisitFact, ...] = ()
    """What is noted of a visit beside answers and times; people read of it before they agree."""
    conditions: Mapping[str, PageCondition] = field(default_factory=dict)
    """By which people are divided by lot, as many in each."""
    timed: TimedAnswers = field(default_factory=TimedAnswers)
    """How trials are given whose answers are keys with their times."""

    def __post_init__(self) -> None:
        limits = {
            "checks": (0, 100),
            "most_attempts": (1, 100),
            "idle_minutes": (0.01, 1e6),
            "limit_minutes": (0.01, 1e6),
            "minutes": (0, 1000),
            "hourly_from_address": (0, 1_000_000),
            "break_every": (0, 10_000),
            "timeout_ms": (0, 1e6),
            "fixation_ms": (0, LONGEST_FIXATION_MS),
        }
        for name, (least, most) in limits.items():
            if not least <= getattr(self, name) <= most:
                raise SourceError(
                    f"page setting {name} is {getattr(self, name)}; give {least:g} to {most:g}."
                )
        if self.completion_url and not self.completion_url.startswith(("https://", "http://")):
            raise SourceError(
                f"page setting completion_url is {self.completion_url!r}; give an address with https://."
            )
        try:
            check_questions(self.questions, [self.language])
        except ValueError as error:
            raise SourceError(f"page setting questions: {error}.") from None
        try:
            check_manner(
                keys=self.keys,
                timeout_ms=self.timeout_ms,
                conditions=self.conditions,
                language=self.language,
            )
        except ValueError as error:
            raise SourceError(f"{error}.") from None

    def check_for(self, domain: Domain, n_options: int) -> None:
        """Raise `ValueError` where a task cannot be given so."""
        own = [condition.timeout_ms or 0.0 for condition in self.conditions.values()]
        fixations = [self.under(name).fixation_ms for name in ("", *self.conditions)]
        check_timed(
            domain,
            timed=self.timed,
            checks=self.checks,
            fixation_ms=min(fixations),
            timeouts_ms=[self.timeout_ms, *own],
        )
        check_for_task(
            domain,
            n_options,
            keys=self.keys,
            timeouts_ms=[self.timeout_ms, *own],
            practice=self.practice,
            slider=self.slider,
        )

    def under(self, condition: str) -> PageSettings:
        """The settings that people of a condition meet."""
        known = self.conditions.get(condition)
        if known is None:
            return self
        timeout_ms, fixation_ms = known.timeout_ms, known.fixation_ms
        return replace(
            self,
            timeout_ms=self.timeout_ms if timeout_ms is None else timeout_ms,
            fixation_ms=self.fixation_ms if fixation_ms is None else fixation_ms,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the store."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        asked = [question.model_dump(mode="json") for question in self.questions]
        divided = {name: item.model_dump(mode="json") for name, item in self.conditions.items()}
        parts = {
            name: getattr(self, name).model_dump(mode="json") for name in ("practice", "timed")
        }
        return plain | {"questions": asked, "conditions": divided} | parts

    @classmethod
    def of_study(cls, page: Mapping[str, Any]) -> PageSettings:
        """The settings in the section ``page`` of a study."""
        return cls.from_json({key: page[key] for key in page if key in cls.__dataclass_fields__})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PageSettings:
        """Read the settings that `to_json` wrote; as they were before there were invitations, where older."""
        divided = value.get("conditions", {})
        parts: dict[str, Any] = {
            "questions": tuple(map(PageQuestion.model_validate, value.get("questions", ()))),
            "practice": PracticeTrials.model_validate(value.get("practice", {})),
            "timed": TimedAnswers.model_validate(value.get("timed", {})),
            "conditions": {
                name: PageCondition.model_validate(item) for name, item in divided.items()
            },
            **{name: tuple(value.get(name, ())) for name in ("keys", "record")},
        }
        return cls(**{"access": "open", **value, **parts})

    def asked(self, block: QuestionBlock) -> tuple[PageQuestion, ...]:
        """The questions before the task, or after it."""
        return tuple(question for question in self.questions if question.when == block)


@dataclass(frozen=True, eq=False)
class PageExperiment:
    """What a recruitment registered: everything that the server needs to show it."""

    key: Digest
    """Of the recruitment."""
    domain: str
    design: Design
    seed: int
    """Of the campaign."""
    settings: PageSettings = field(default_factory=PageSettings)
    texts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What people read, by language; see `experiments.participants.web.texts`."""
    domain_file: TaskFile | None = None
    """What declares the domain, where it is not of the package."""
    practice: Stimuli | None = None
    """Trials that do not count, before the first one that does."""

    @classmethod
    def of(
        cls,
        key: Digest,
        domain: Domain,
        design: Design,
        seed: int,
        settings: PageSettings,
        texts: Mapping[str, Mapping[str, Any]],
        space: Mapping[str, Any] | None = None,
        forbidden: Sequence[str] = (),
    ) -> PageExperiment:
        """An experiment of a domain, of the package or of a file.

        Args:
            key: Of the recruitment.
            domain: That its trials belong to.
            design: What is asked, and of how many people.
            seed: Of the campaign.
            settings: How the page treats people.
            texts: What people read, by language.
            space: From which trials for practice are drawn.
            forbidden: Trials that are never shown, as conditions on their features.

        Raises:
            SourceError: The settings do not fit the design's trials.
        """
        try:
            settings.check_for(domain, n_choices(domain, design.stimuli))
            check_timed_trials(domain, design.stimuli, settings.timed)
        except ValueError as error:
            raise SourceError(f"{design.name}: {error}.") from None
        rng = rng_of(seed, key, "practice")
        drawn = practice_stimuli(settings.practice, domain, space or {}, design, rng, forbidden)
        return cls(key, domain.name, design, seed, settings, texts, task_file_of(domain), drawn)

    @property
    def name(self) -> str:
        """Name of the experiment, which is that of its design."""
        return self.design.name

    @property
    def task(self) -> Domain:
        """The domain that its trials belong to."""
        return find_domain(self.domain, self.domain_file)

    @property
    def n_options(self) -> int:
        """Number of options in each trial, or of keys where answers are keys with their times."""
        return n_choices(self.task, self.design.stimuli)

    @property
    def figures(self) -> str:
        """How trials are drawn whose answers are keys with their times; empty for others."""
        return figures_of(self.task, self.design, self.settings.timed)

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """A trial as people see it."""
        task = timed_task(self.task)
        return task.figure(stimuli, row, self.figures) if task else self.task.picture(stimuli, row)

    @property
    def minutes(self) -> int:
        """What taking part takes, about."""
        estimate = MINUTES_BEFORE_TASK + self.n_steps * SECONDS_PER_STEP / 60
        return self.settings.minutes or max(1, round(estimate))

    @property
    def n_steps(self) -> int:
        """Answers of each person, attention checks, practice and breaks among them."""
        return len(plan_of(self, 0))

    def stimuli_of(self, step: PageStep) -> Stimuli:
        """The trials of which a step is one."""
        practising = step.kind == "practice" and self.practice is not None
        return self.practice if practising and self.practice else self.design.stimuli

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the store."""
        plain = {"key": self.key, "domain": self.domain, "seed": self.seed, "texts": self.texts}
        if self.domain_file is not None:
            plain["domain_file"] = self.domain_file.model_dump()
        if self.practice is not None:
            plain["practice"] = self.practice.to_json()
        return plain | {
            "design": design_to_json(self.design),
            "settings": self.settings.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PageExperiment:
        """Read the experiment that `to_json` wrote."""
        settings = PageSettings.from_json(value["settings"])
        given: dict[str, Any] = {
            "design": design_from_json(value["design"]),
            "settings": settings,
        }
        if "domain_file" in value:
            given["domain_file"] = TaskFile.model_validate(value["domain_file"])
        if "practice" in value:
            given["practice"] = Stimuli.from_json(value["practice"])
        return cls(**{**value, **given})


def n_choices(domain: Domain, stimuli: Stimuli) -> int:
    """Among how many options people choose: keys, where answers are keys with their times."""
    task = timed_task(domain)
    return domain.n_options(stimuli) if task is None else task.n_keys(stimuli)


@dataclass(frozen=True)
class PageStep:
    """One thing that a person answers on the page: a trial, an attention check, or that a break is over."""

    kind: Literal["trial", "check", "practice", "break"]
    row: int
    """Trial: row of the stimuli; practice: of the trials for practice. Check: the option that is asked for. Break: the
    number of decisions before it."""


@lru_cache(maxsize=1024)
def plan_of(experiment: PageExperiment, place: int) -> tuple[PageStep, ...]:
    """Everything that the person at ``place`` is asked, in order; the same whenever it is computed.

    Each repetition shows all trials in an order of its own; steps of a schedule keep theirs. Attention checks stand
    between trials, never first, and neither they nor breaks ever between the stages of one trial. Practice comes before
    everything else, and a break behind it.
    """
    design, rng = experiment.design, rng_of(experiment.seed, experiment.key, "page", str(place))
    rows = np.tile(np.arange(len(design.stimuli)), (design.repetitions, 1))
    if not experiment.task.sequential:
        rows = rng.permuted(rows, axis=1)
    order = rows.ravel()
    if timed_task(
        experiment.task
    ):  # of few trials the last of each round would be known beforehand
        order = rng.permutation(order)
    stage = design.stimuli.arrays.get("stage", np.zeros(len(design.stimuli)))
    before = np.flatnonzero(np.asarray(stage)[order] == 0)
    free = before[before > 0]
    checked = rng.choice(free, size=min(experiment.settings.checks, len(free)), replace=False)
    steps: list[PageStep] = []
    rested, every = 0, experiment.settings.break_every
    for position, row in enumerate(order.tolist()):
        if every and position - rested >= every and position in free:
            steps.append(PageStep("break", position))
            rested = position
        if position in checked:
            steps.append(PageStep("check", int(rng.integers(experiment.n_options))))
        steps.append(PageStep("trial", row))
    return (*_practised(experiment), *steps)


def _practised(experiment: PageExperiment) -> list[PageStep]:
    """Steps before the first trial that counts."""
    if experiment.practice is None:
        return []
    return [
        *(PageStep("practice", row) for row in range(len(experiment.practice))),
        PageStep("break", 0),
    ]


def available(experiment: PageExperiment, step: PageStep) -> tuple[bool, ...]:
    """Which options can be chosen; of a break there is one, to go on."""
    if step.kind == "break":
        return (True,)
    free = experiment.stimuli_of(step).arrays.get("available")
    if step.kind == "check" or free is None:
        return (True,) * experiment.n_options
    return tuple(bool(option) for option in np.asarray(free)[step.row])


def game_begins(steps: Sequence[PageStep], position: int) -> int:
    """Where the steps begin that what was done before ``position`` bears on: practice and what counts are apart."""
    first = next(place for place, step in enumerate(steps) if step.kind == "trial")
    return first if position >= first else 0


def is_timed(step: PageStep) -> bool:
    """Whether a step may end without a choice where time is limited; a check must not differ from a trial in it."""
    return step.kind != "break"


def shown(
    experiment: PageExperiment, step: PageStep, before: Mapping[str, float]
) -> Mapping[str, Array]:
    """What the person sees of a trial, after the feedback of the trial before; see `experiments.task.Domain.shown`."""
    arrays = experiment.stimuli_of(step).take([step.row]).arrays
    return experiment.task.shown(
        arrays, {name: np.full((1, 1), value) for name, value in before.items()}
    )


def follows(
    experiment: PageExperiment, step: PageStep, before: Mapping[str, float], response: int
) -> dict[str, float]:
    """What follows the response to a trial, a number for each name; nothing where nothing does."""
    if step.kind not in ("trial", "practice"):
        return {}
    arrays = experiment.stimuli_of(step).take([step.row]).arrays
    seen = shown(experiment, step, before)
    after = experiment.task.feedback(arrays, seen, np.full((1, 1), response))
    return {name: float(np.ravel(value)[0]) for name, value in after.items()}
