"""The section of a study file about the page on which people take part."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from lakatos.experiments.conditions import CONDITION
from lakatos.experiments.participants.web.manner import (
    LONGEST_FIXATION_MS,
    PageCondition,
    PracticeTrials,
    VisitFact,
    check_manner,
)
from lakatos.experiments.participants.web.questions import PageQuestion, check_questions
from lakatos.experiments.participants.web.study_list import StudyList
from lakatos.experiments.participants.web.timed import TimedAnswers
from lakatos.traces.section import ConfigSection

LATER_PAGE_KEYS: Final = (
    "practice",
    "break_every",
    "timeout_ms",
    "fixation_ms",
    "keys",
    "slider",
    "record",
    "conditions",
    "study",
    "timed",
)


class PageConfig(ConfigSection):
    """The page on which participants take part (source `web`)."""

    language: str = "en"
    """Language shown first; participants can choose another one that exists."""
    checks: int = Field(2, ge=0, le=100)
    """Number of attention checks, distributed among the trials."""
    most_attempts: int = Field(3, ge=1, le=100)
    """Maximum number of attempts at the comprehension check; after that the study ends for the
    participant."""
    idle_minutes: float = Field(30.0, ge=0.01, le=1e6)
    """Minutes without a response after which a participant's place is given to another one."""
    limit_minutes: float = Field(120.0, ge=0.01, le=1e6)
    """Maximum minutes from consent to the end."""
    minutes: int = Field(0, ge=0, le=1000)
    """Duration stated on the consent page; 0 estimates it from the number of trials."""
    contact: str = ""
    """Name and address for participants' questions."""
    completion_code: str = ""
    """Code shown at the end, the same for all, as recruitment services require; by default each
    participant gets one."""
    completion_url: str = ""
    """Address to which participants return; ``{code}`` stands for the completion code."""
    returning: Literal["refuse", "admit"] = "refuse"
    """Whether participants of an earlier experiment of the run are admitted to a later one."""
    access: Literal["invited", "open"] = "invited"
    """Whether a participant needs an invitation (`lakatos invite`) or must come from a recruitment
    service, or the link alone suffices."""
    hourly_from_address: int = Field(10, ge=0, le=1_000_000)
    """Open link: participants who may begin within an hour from one internet address; 0 for no
    limit."""
    consent_version: str = ""
    """Your name for the version of the consent text, for the records."""
    questions: tuple[PageQuestion, ...] = ()
    """Questions about the participant: ``[[page.questions]]`` with ``name``, ``kind`` and
    ``text``."""
    texts: dict[str, dict[str, Any]] = {}  # noqa: RUF012
    """Texts of your own, by language, laid out as in the packaged files."""
    practice: PracticeTrials = PracticeTrials()
    break_every: int = Field(0, ge=0, le=10_000)
    """Number of decisions between breaks; 0 for no breaks."""
    timeout_ms: float = Field(0.0, ge=0, le=1e6)
    """Time limit of a decision; later ones are missing, never a choice. 0 for no limit."""
    fixation_ms: float = Field(0.0, ge=0, le=LONGEST_FIXATION_MS)
    """Duration of the fixation cross before each decision; 0 for none."""
    keys: tuple[str, ...] = ()
    """One key for each option, in order, as in ``["f", "j"]``; by default 1, 2, ..., and arrows for
    two options."""
    slider: bool = False
    """Whether numbers are given on a slider instead of buttons. It shows no position before it is
    touched."""
    record: tuple[VisitFact, ...] = ()
    """Further data, which the consent text states: ``"focus"`` (how often and how long the page was
    left), ``"device"`` (kind, system, browser, window) and ``"hour"`` of the day."""
    conditions: dict[str, PageCondition] = {}  # noqa: RUF012
    """Conditions to which participants are randomly assigned in equal numbers. The condition is an
    attribute of the participant; theories do not see it."""

    study: StudyList = StudyList()
    timed: TimedAnswers = TimedAnswers()
    """Tasks with response times: figures (``figures``), times outside the bins (``off_grid``) and
    feedback (``feedback``)."""

    def words(self, *, within: bool = False) -> tuple[str, ...]:
        """State how trials are presented, for the preregistration; empty where all is by default.

        Args:
            within: Whether conditions are within participants; the design's summary says their order.
        """
        n_practice = self.practice.trials or max(map(len, self.practice.own.values()), default=0)
        limits = [f"{name} {item.timeout_ms / 1000:g} s" for name, item in self.conditions.items()
                  if item.timeout_ms is not None]  # fmt: skip
        lines = [
            (n_practice, f"{n_practice} trials for practice come first and are not analysed."),
            (self.break_every, f"There is a break after every {self.break_every} decisions."),
            (
                self.timeout_ms,
                f"A decision that is not made within {self.timeout_ms / 1000:g} s is missed and no answer.",
            ),
            (
                self.study,
                f"Each participant studies a list of items first, drawn from {len(self.study.items)}: an item of "
                f"strength 1 is shown {self.study.presentations} times for {self.study.shown_ms:g} ms, with "
                f"{self.study.gap_ms:g} ms between items and a break of at least {self.study.break_s:g} s after the "
                "last one.",
            ),
            (self.fixation_ms, f"A cross is shown for {self.fixation_ms:g} ms before each trial."),
            (
                self.conditions and not within,
                f"People are divided by lot into the conditions {', '.join(self.conditions)}, between people; no "
                "theory knows of them.",
            ),
            (limits, f"The time limit depends on the condition: {', '.join(limits)}."),
            (self.record, f"Noted besides: {', '.join(self.record)}."),
        ]
        return tuple(words for used, words in lines if used)

    @property
    def limits_time(self) -> bool:
        """Whether some people must decide in a limited time."""
        return bool(self.timeout_ms) or any(
            condition.timeout_ms for condition in self.conditions.values()
        )

    @model_validator(mode="after")
    def _questions_fit(self) -> PageConfig:
        check_questions(self.questions, [self.language])
        check_manner(
            keys=self.keys,
            timeout_ms=self.timeout_ms,
            conditions=self.conditions,
            language=self.language,
        )
        if self.conditions and any(item.name == CONDITION for item in self.questions):
            raise ValueError(
                f"a question is called {CONDITION!r}, like the column of a participant's condition; rename it"
            )
        return self

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that came later are left out where they say nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        unused = [name for name in LATER_PAGE_KEYS if not getattr(self, name)]
        return {key: value[key] for key in value if key not in unused}
