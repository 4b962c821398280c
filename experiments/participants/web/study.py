"""What the page asks of one person, step by step: pure functions of the design, the seed and the person's place.

Nothing of a step that a person has not reached yet leaves the server where something follows a response.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.conditions import condition_of, presented_rows, with_conditions
from lakatos.experiments.design import design_from_json, design_to_json
from lakatos.experiments.domain_lookup import find_domain
from lakatos.experiments.errors import SourceError, StimuliError
from lakatos.experiments.participants.source import rng_of
from lakatos.experiments.participants.timed_answer import n_choices, timed_task
from lakatos.experiments.participants.web.manner import (
    practice_stimuli,
)
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.study_list import check_list, lists_of, presentations
from lakatos.experiments.participants.web.timed import (
    check_timed_trials,
    figures_of,
)
from lakatos.experiments.presentation import Medium, presentation_of
from lakatos.experiments.task import Design, Domain, Stimuli, seen_trial
from lakatos.experiments.task_file import TaskFile, task_file_of
from lakatos.traces.digest import Digest

Array = NDArray[Any]
MINUTES_BEFORE_TASK = 3
SECONDS_PER_STEP = 7


@dataclass(frozen=True, eq=False)
class PageExperiment:
    """What a recruitment registered: everything that the server needs to show it."""

    key: Digest
    """Key of the recruitment."""
    domain: str
    design: Design
    seed: int
    """Seed of the campaign."""
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
            check_list(settings.study, domain, design)
        except (ValueError, StimuliError) as error:
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
        own = find_domain(self.domain, self.domain_file)
        return with_conditions(own, self.design.conditions)

    @property
    def n_options(self) -> int:
        """Number of options in each trial, or of keys where responses are keys with their times."""
        return n_choices(self.task, self.design.stimuli)

    @property
    def figures(self) -> str:
        """How trials are drawn whose responses are keys with their times; empty for others."""
        return figures_of(self.task, self.design, self.settings.timed)

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """A trial as people see it."""
        task = timed_task(self.task)
        return task.figure(stimuli, row, self.figures) if task else self.task.picture(stimuli, row)

    @property
    def minutes(self) -> int:
        """What taking part takes, about."""
        presentation = presentation_of(self.task)
        screens = presentation.screens(self.design.stimuli, 0) if presentation else ()
        shown_s = sum(screen.duration_ms for screen in screens) / 1000
        steps, study = plan_of(self, 0), self.settings.study
        n_studied = sum(step.kind == "study" for step in steps)
        studied_s = n_studied * (study.shown_ms + study.gap_ms) / 1000 + study.break_s
        decided_s = (len(steps) - n_studied) * (SECONDS_PER_STEP + shown_s)
        estimate = MINUTES_BEFORE_TASK + (decided_s + studied_s) / 60
        return self.settings.minutes or max(1, round(estimate))

    @property
    def media(self) -> Mapping[Digest, Medium]:
        """Files that the page loads before the first step."""
        presentation = presentation_of(self.task)
        return {**(presentation.media if presentation else {}), **self.settings.study.media}

    @property
    def n_steps(self) -> int:
        """Responses of each person, attention checks, practice and breaks among them."""
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


@dataclass(frozen=True)
class PageStep:
    """One thing that a person answers on the page: a trial, an attention check, or that a break is over."""

    kind: Literal["trial", "check", "practice", "break", "condition", "study", "retention"]
    """``condition``: a block of a condition begins; ``study``: an item is studied; ``retention``: the study is over."""
    row: int
    """Trial: row of the stimuli; practice: of the trials for practice. Check: the option that is asked for. Break: the
    number of decisions before it. Condition: its place among those of the design. Study: the number of presentations
    before it."""
    item: str = ""
    """Item that is studied or tested, where participants study a list."""

    @property
    def has_choice(self) -> bool:
        """Whether there is something to choose; otherwise people read, and go on."""
        return self.kind not in ("break", "condition", "study", "retention")


@lru_cache(maxsize=1024)
def plan_of(experiment: PageExperiment, place: int) -> tuple[PageStep, ...]:
    """Everything that the person at ``place`` is asked, in order; the same whenever it is computed.

    Each repetition shows all trials in an order of its own; steps of a schedule keep theirs. Attention checks stand
    between trials, never first, and neither they nor breaks ever between the stages of one trial. Practice comes before
    everything else, and a break behind it.
    """
    design, rng = experiment.design, rng_of(experiment.seed, experiment.key, "page", str(place))
    order, begins = _presented(experiment, place, rng)
    stage = design.stimuli.arrays.get("stage", np.zeros(len(design.stimuli)))
    before = np.flatnonzero(np.asarray(stage)[order] == 0)
    free = before[before > 0]
    checked = rng.choice(free, size=min(experiment.settings.checks, len(free)), replace=False)
    places = condition_of(design.stimuli)[order].astype(int).tolist()
    studied, items = _studied(experiment, place)
    steps: list[PageStep] = []
    rested, every = 0, experiment.settings.break_every
    for position, row in enumerate(order.tolist()):
        if every and position - rested >= every and position in free:
            steps.append(PageStep("break", position))
            rested = position
        if position in begins:
            steps.append(PageStep("condition", places[position]))
        if position in checked:
            steps.append(PageStep("check", int(rng.integers(experiment.n_options))))
        steps.append(PageStep("trial", row, next(items[row], "")))
    return (*_practised(experiment), *studied, *steps)


def _studied(
    experiment: PageExperiment, place: int
) -> tuple[list[PageStep], Mapping[int, Iterator[str]]]:
    """Steps in which the person at ``place`` studies items, and those that the trials of each row test, in order."""
    study, design = experiment.settings.study, experiment.design
    if not study:
        return [], defaultdict(lambda: iter(()))
    times = presentations(study, experiment.task, design.stimuli)
    lists = lists_of(study, times, design.repetitions, experiment.seed, experiment.key, place)
    steps = [PageStep("study", number, item) for number, item in enumerate(lists.studied)]
    tested = {row: iter(items) for row, items in lists.tested.items()}
    return [*steps, PageStep("retention", len(steps))], tested


def _presented(
    experiment: PageExperiment, place: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], frozenset[int]]:
    """Rows of the stimuli as the person at ``place`` sees them, and where blocks of conditions begin that are shown."""
    design = experiment.design
    if design.conditions:
        sequential = experiment.task.sequential
        order, begins = presented_rows(design, place, rng, sequential=sequential)
        return order, frozenset(begins.tolist() if experiment.settings.conditions else ())
    rows = np.tile(np.arange(len(design.stimuli)), (design.repetitions, 1))
    if not experiment.task.sequential:
        rows = rng.permuted(rows, axis=1)
    order = rows.ravel()
    if timed_task(
        experiment.task
    ):  # of few trials the last of each round would be known beforehand
        order = rng.permutation(order)
    return order, frozenset()


def condition_at(experiment: PageExperiment, step: PageStep) -> str:
    """Name of the condition within participants of a trial, or of the block that begins; empty for everything else."""
    names = experiment.design.conditions
    if not names or step.kind not in ("trial", "condition"):
        return ""
    row = step.row
    place = row if step.kind == "condition" else int(condition_of(experiment.design.stimuli)[row])
    return names[place]


def _practised(experiment: PageExperiment) -> list[PageStep]:
    """Steps before the first trial that counts."""
    if experiment.practice is None:
        return []
    return [
        *(PageStep("practice", row) for row in range(len(experiment.practice))),
        PageStep("break", 0),
    ]


def available(experiment: PageExperiment, step: PageStep) -> tuple[bool, ...]:
    """Which options can be chosen; where nothing is chosen there is one, to go on."""
    if not step.has_choice:
        return (True,)
    free = experiment.stimuli_of(step).arrays.get("available")
    if step.kind == "check" or free is None:
        return (True,) * experiment.n_options
    return tuple(bool(option) for option in np.asarray(free)[step.row])


def offered(experiment: PageExperiment, step: PageStep) -> tuple[bool, ...]:
    """Options that can be chosen in some trial; the page shows no others, such as categories beyond a scale."""
    free = experiment.stimuli_of(step).arrays.get("available") if step.has_choice else None
    if step.kind == "check" or free is None:
        return (True,) * len(available(experiment, step))
    return tuple(bool(option.any()) for option in np.asarray(free).T)


def game_begins(steps: Sequence[PageStep], position: int) -> int:
    """Where the steps begin that what was done before ``position`` bears on: practice and what counts are apart."""
    first = next(place for place, step in enumerate(steps) if step.kind == "trial")
    return first if position >= first else 0


def is_timed(step: PageStep) -> bool:
    """Whether a step may end without a choice where time is limited; a check must not differ from a trial in it."""
    return step.has_choice


def seen(experiment: PageExperiment, step: PageStep, before: Mapping[str, float]) -> Stimuli:
    """A trial as the person sees it, after the feedback of the trial before; see `experiments.task.seen_trial`."""
    return seen_trial(experiment.task, experiment.stimuli_of(step), step.row, before)


def follows(
    experiment: PageExperiment, step: PageStep, before: Mapping[str, float], response: int
) -> dict[str, float]:
    """What follows the response to a trial, a number for each name; nothing where nothing does."""
    if step.kind not in ("trial", "practice"):
        return {}
    arrays = experiment.stimuli_of(step).take([step.row]).arrays
    known = {name: np.full((1, 1), value) for name, value in before.items()}
    shown = experiment.task.shown(arrays, known)
    after = experiment.task.feedback(arrays, shown, np.full((1, 1), response))
    return {name: float(np.ravel(value)[0]) for name, value in after.items()}
