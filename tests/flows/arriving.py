"""A run that waits for people, and what they will answer: the very same batches for every copy of it."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lakatos.experiments.design import design_from_json
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.timed_answer import TimedPress, timed_columns, timed_task
from lakatos.experiments.participants.web.collection import collection_key
from lakatos.experiments.task import Stimuli
from lakatos.flows.run.run import read_state
from lakatos.flows.run.task import domain_of
from lakatos.flows.start import run_study
from lakatos.traces.inbox import Inbox
from lakatos.traces.step import INBOX_FILE

sys.path.insert(0, str(Path(__file__).parent))
from small import small_study

STUDY: dict[str, Any] = {
    "participants": {"source": "file"},
    "theories__candidates": 0,
    "theories__successors": 0,
    "theories__induction": False,
    "design__trials": 8,
    "design__participants": 12,
    "design__refused": "cover",
    "stop": {"cycles": 1, "least_cycles": 1},
}


@dataclass(frozen=True)
class Asked:
    """A waiting run that tests copy, and the people who will answer."""

    folder: Path
    people: list[PersonAnswers]
    contrary: list[PersonAnswers]
    """The same people, had they chosen the other option or key in every trial."""

    def copy(self, place: Path) -> Path:
        """A run of the test's own."""
        return Path(shutil.copytree(self.folder, place))

    def deliver(self, folder: Path, *numbers: int) -> None:
        """Leave people's answers in a run's inbox, with salts that are the same in every copy."""
        inbox = Inbox(folder / INBOX_FILE)
        for number in numbers:
            person = self.people[number]
            inbox.deliver("file", person.to_json(), batch_key=person.person, salt=f"{number:032x}")


def ask(folder: Path, n_people: int = 14, **changes: Any) -> Asked:
    """Begin a run and make up answers of people who nearly always take the better option or the right key."""
    config = small_study(**(STUDY | changes))
    domain = domain_of(config)
    run_study(config, folder, n_workers=1)
    collection_key(folder)
    state, trace = read_state(folder)
    with trace:
        (name,) = state.experiments.preregistrations
        design = design_from_json(
            trace.artifacts.get_json(state.experiments.preregistrations[name].record.design)
        )
    task = timed_task(domain)
    better = task.right_keys(design.stimuli) if task else better_options(design.stimuli)

    def answers(number: int, *, is_contrary: bool = False) -> PersonAnswers:
        rng = np.random.default_rng(number)
        trials = rng.permutation(np.repeat(np.arange(len(better)), design.repetitions))
        chosen = np.where(rng.random(trials.size) < 0.95, better[trials], 1 - better[trials])
        responses, times = np.abs(chosen - is_contrary).tolist(), (700.0 + trials).tolist()
        columns: dict[str, Any] = {
            "trial": tuple(trials.tolist()),
            "response": tuple(responses),
            "response_time_ms": tuple(times),
        }
        if task:
            presses = map(TimedPress, trials.tolist(), responses, times)
            columns = timed_columns(task, design.stimuli, list(presses), "left_out")
        return PersonAnswers(
            experiment=name,
            person=f"{number:064x}",
            source="file",
            status="completed",
            feedback={},
            checks=(),
            comprehension_attempts=0,
            consent="",
            language="",
            **columns,
        )

    people = [answers(number) for number in range(n_people)]
    contrary = [answers(number, is_contrary=True) for number in range(n_people)]
    return Asked(folder, people, contrary)


def better_options(stimuli: Stimuli) -> Any:
    """The option with the higher sum of ratings of each trial; of other tasks, each option by turns."""
    if "ratings" not in stimuli.arrays:
        return np.arange(len(stimuli)) % 2
    sums = stimuli["ratings"].sum(axis=2)
    return (sums[:, 1] > sums[:, 0]).astype(int)


def outcome(folder: Path) -> dict[str, Any]:
    """What a run holds to be true now: whom its tables hold, all scores, the leader and the verdict."""
    state, trace = read_state(folder)
    with trace:
        return {
            "people": {
                name: sorted(answers.record.person for answers in state.experiments.answers[name])
                for name in state.experiments.collected
            },
            "trials": {
                name: item.record.trials for name, item in state.experiments.collected.items()
            },
            "scores": {
                key: item.record.left_out.log_predictive
                for key, item in state.theories.scores.items()
            },
            "verdict": state.campaign.concluded.record.text if state.campaign.concluded else "",
        }
