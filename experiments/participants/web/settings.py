"""Settings of the page: what a study may choose, and what a task allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.web.manner import (
    LONGEST_FIXATION_MS,
    PageCondition,
    PracticeTrials,
    VisitFact,
    check_for_task,
    check_manner,
)
from lakatos.experiments.participants.web.questions import (
    PageQuestion,
    QuestionBlock,
    check_questions,
)
from lakatos.experiments.participants.web.study_list import StudiesItems, StudyList
from lakatos.experiments.participants.web.timed import (
    TimedAnswers,
    check_timed,
)
from lakatos.experiments.task import Domain


@dataclass(frozen=True)
class PageSettings:
    """How the page treats people."""

    language: str = "en"
    """Language that is shown first; people may choose another available one."""
    checks: int = 2
    """Attention checks, strewn among the trials."""
    most_attempts: int = 3
    """Maximum attempts at the comprehension check; then the study ends for the participant."""
    idle_minutes: float = 30.0
    """Minutes without a response after which a person counts as having stopped and the place is given to another."""
    limit_minutes: float = 120.0
    """Maximum minutes from consent to the end."""
    minutes: int = 0
    """Minutes that the consent page states; 0 for an estimate by the number of trials."""
    contact: str = ""
    """Whom people can ask: a name and an address."""
    completion_code: str = ""
    """Code shown at the end, the same for all, as recruitment services want it; by default each person gets one."""
    completion_url: str = ""
    """Address to which participants return; ``{code}`` stands for the completion code."""
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
    """Time limit of a decision; one that is not made in time is recorded as missed, never as a choice. 0 for no
    limit."""
    fixation_ms: float = 0.0
    """A cross is shown for so long before each decision; 0 for none."""
    keys: tuple[str, ...] = ()
    """Keys of the options in their order; by default 1, 2, ..., and for two options the arrows."""
    slider: bool = False
    """Whether responses that are numbers are given on a slider, not by a button for each."""
    record: tuple[VisitFact, ...] = ()
    """Facts that are recorded of a visit beside responses and times; people read of it before they agree."""
    conditions: Mapping[str, PageCondition] = field(default_factory=dict)
    """Conditions to which participants are randomly assigned in equal numbers."""
    study: StudyList = field(default_factory=StudyList)
    """Items that participants study before the trials."""
    timed: TimedAnswers = field(default_factory=TimedAnswers)
    """Settings of trials whose responses are keys with their times."""

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

        if not self.study:
            return
        if not isinstance(domain, StudiesItems):
            raise ValueError(f"page.study: the {domain.name} domain has no items to be studied")
        if self.practice:
            raise ValueError(
                "page.practice: trials for practice would need items of their own; leave it out"
            )
        if self.study.break_s >= 60 * self.idle_minutes:
            raise ValueError(
                f"page.study.break_s: a break of {self.study.break_s:g} s is longer than page.idle_minutes, after "
                "which a participant counts as having stopped"
            )
        if self.returning == "admit":
            raise ValueError(
                'page.returning: participants would study the same items again; give "refuse"'
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
        question_fields = [question.model_dump(mode="json") for question in self.questions]
        divided = {name: item.model_dump(mode="json") for name, item in self.conditions.items()}
        parts = {
            name: getattr(self, name).model_dump(mode="json")
            for name in ("practice", "study", "timed")
        }
        return plain | {"questions": question_fields, "conditions": divided} | parts

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
            "study": StudyList.model_validate(value.get("study", {})),
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
