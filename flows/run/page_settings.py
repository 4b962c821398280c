"""The section of a study file about the page on which people take part."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from lakatos.experiments.participants.web.manner import (
    LONGEST_FIXATION_MS,
    PageCondition,
    PracticeTrials,
    VisitFact,
    check_manner,
)
from lakatos.experiments.participants.web.questions import PageQuestion, check_questions
from lakatos.experiments.participants.web.timed import TimedAnswers
from lakatos.traces.section import ConfigSection

CONDITION: Final = "condition"
"""What divides people, as an attribute of theirs."""
LATER_PAGE_KEYS: Final = (
    "practice",
    "break_every",
    "timeout_ms",
    "fixation_ms",
    "keys",
    "slider",
    "record",
    "conditions",
    "timed",
)


class PageConfig(ConfigSection):
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
    texts: dict[str, dict[str, Any]] = {}  # noqa: RUF012
    """Sentences of your own, by language, laid out as in the packaged files."""
    practice: PracticeTrials = PracticeTrials()
    break_every: int = Field(0, ge=0, le=10_000)
    """Decisions after which people may rest as long as they like; 0 for no breaks."""
    timeout_ms: float = Field(0.0, ge=0, le=1e6)
    """For a decision; one that is not made in time is noted as missed and never as a choice. 0 for no limit."""
    fixation_ms: float = Field(0.0, ge=0, le=LONGEST_FIXATION_MS)
    """A cross is shown for so long before each decision; 0 for none."""
    keys: tuple[str, ...] = ()
    """On the keyboard, one for each option in their order, as in ``["f", "j"]``; by default 1, 2, ..., and for two
    options the arrows."""
    slider: bool = False
    """Whether answers that are numbers are given on a slider, not by a button for each; it shows no place before it is
    touched."""
    record: tuple[VisitFact, ...] = ()
    """What is noted beside answers and times, and said in the consent text: ``"focus"`` (how often and for how long the
    page was left), ``"device"`` (kind, system, browser, window) and ``"hour"`` of the day."""
    conditions: dict[str, PageCondition] = {}  # noqa: RUF012
    """By which people are divided by lot, as many in each; it is an attribute of the person, and theories do not see
    it."""

    timed: TimedAnswers = TimedAnswers()
    """Of tasks whose answers are keys with their times: how trials are drawn (``figures``), what becomes of times off
    the grid (``off_grid``) and after which trials people are told whether they were right (``feedback``)."""

    @property
    def words(self) -> tuple[str, ...]:
        """How trials are given, for the preregistration; nothing where all is as it always was."""
        n_practice = self.practice.trials or max(map(len, self.practice.own.values()), default=0)
        limits = [f"{name} {item.timeout_ms / 1000:g} s" for name, item in self.conditions.items()
                  if item.timeout_ms is not None]  # fmt: skip
        said = [
            (n_practice, f"{n_practice} trials for practice come first and are not analysed."),
            (self.break_every, f"There is a break after every {self.break_every} decisions."),
            (
                self.timeout_ms,
                f"A decision that is not made within {self.timeout_ms / 1000:g} s is missed and no answer.",
            ),
            (self.fixation_ms, f"A cross is shown for {self.fixation_ms:g} ms before each trial."),
            (
                self.conditions,
                f"People are divided by lot into the conditions {', '.join(self.conditions)}, between people; no "
                "theory knows of them.",
            ),
            (limits, f"The time limit depends on the condition: {', '.join(limits)}."),
            (self.record, f"Noted besides: {', '.join(self.record)}."),
        ]
        return tuple(words for used, words in said if used)

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
                f"a question is called {CONDITION!r}, like the column that says a person's condition; rename it"
            )
        return self

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that came later are left out where they say nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        unused = [name for name in LATER_PAGE_KEYS if not getattr(self, name)]
        return {key: value[key] for key in value if key not in unused}
