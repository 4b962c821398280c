"""Navon and Stroop tasks with response times: Busch, Geyer and Zinchenko (2024), two data sets of the same people.

Navon: a large letter (H or S) made of small letters, and people say which the small ones are. Stroop: a colour word,
and people say in which of three colours it is written. Read are congruence, the right key, the answer and its time,
and, of the trial before, congruence, error and whether its key is right again. Not read are the letters' quadrant, the
word that conflicts, and how long the session has lasted.

Answers faster than 0.2 s or slower than 3 s are left out (Navon: 4 and 23 of 6,301; Stroop: 1 and 11 of 8,712), and
still tell what happened before the next one. Bins of time hide 1 to 2% of the variance of times. No person is left
out; of Navon some answer as if they had been asked for the large letter. Each folder holds four fifths of the people.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lakatos.domains.attention.task import FASTEST, SLOWEST, conflict_trials
from lakatos.domains.attention.task import SCALE as TIMED_ANSWERS
from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import gzip_lines, read_session
from lakatos.domains.kit.timed_domain import timed_outcomes
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "prompts.jsonl.gz"
SIDES = {"s": -1, "h": 1, "left": -1, "down": 0, "right": 1}
"""Sides of the keys. In the Navon task only their difference is known, and S is taken as the left one."""
_ANSWER = r"You press <<(\w+)>> after (\d+(?:\.\d+)?) milliseconds\. The correct answer was pressing (\w+)\."


@dataclass(frozen=True)
class ConflictTask:
    """One of the two tasks, as its sessions are written down."""

    name: str
    n_answers: int
    level: int
    """See `domains.attention.task.NUMBERS`."""
    trial: re.Pattern[str]
    """Finds distractor, target, key pressed, milliseconds and the right key."""
    key_of: dict[str, str]
    """The right key of each target."""


NAVON = ConflictTask(
    name="small_letters",
    n_answers=2,
    level=-1,
    trial=re.compile(
        r"The stimulus is a large letter ([HS]) that is comprised of small letters ([HS])\. "
        rf"After 200 milliseconds, [^<]*{_ANSWER}"
    ),
    key_of={"H": "h", "S": "s"},
)
STROOP = ConflictTask(
    name="ink_colours",
    n_answers=3,
    level=0,
    trial=re.compile(
        rf"is the word (\w+), the letters of the word are colored in (\w+)\. {_ANSWER}"
    ),
    key_of={"red": "left", "green": "down", "blue": "right"},
)


class ConflictAnswer(NamedTuple):
    """One answer of a session."""

    distractor: str
    target: str
    pressed: str
    time_s: float
    right: str

    @property
    def congruence(self) -> int:
        """1 where target and distractor are alike, otherwise -1."""
        return 1 if self.distractor == self.target else -1


@dataclass(frozen=True)
class AttendingPerson:
    """A person's age and answers in their order."""

    age_years: float
    answers: tuple[ConflictAnswer, ...]


def read(folder: Path, task: ConflictTask) -> tuple[Trials, ...]:
    """One experiment, with everybody's ``age_years``.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not as described; the message names the line.
    """
    path = folder / FILE
    people = [
        read_record(line, f"{path}, line {number}", task) for number, line in gzip_lines(path)
    ]
    return (_trials(people, task),)


def read_record(line: str, where: str, task: ConflictTask) -> AttendingPerson:
    """One person from a line of the file.

    Raises:
        TrialsError: Something in it is not as described; the message says what.
    """
    record = read_session(line, where)
    try:
        age = float(record.get("age", ""))
        listed = [float(item) for item in record.get("RTs", [])]
    except (TypeError, ValueError):
        raise TrialsError(f"{where}: age and RTs must be numbers.") from None
    found = task.trial.findall(record["text"])
    if not found or len(found) != record["text"].count("<<"):
        raise TrialsError(
            f"{where}: {len(found)} of {record['text'].count('<<')} answers can be read."
        )
    answers = []
    for number, (distractor, target, pressed, time_ms, right) in enumerate(found, start=1):
        if task.key_of.get(target) != right or pressed not in task.key_of.values():
            raise TrialsError(f"{where}: answer {number} has a key that does not belong to it.")
        answers.append(ConflictAnswer(distractor, target, pressed, float(time_ms) / 1000, right))
    if [round(1000 * item.time_s, 3) for item in answers] != listed:
        raise TrialsError(f"{where}: RTs are not the times in the text.")
    return AttendingPerson(age, tuple(answers))


def trial_numbers(answers: Sequence[ConflictAnswer], task: ConflictTask) -> list[tuple[float, ...]]:
    """Return what each trial shows and what came before it, in the order of `COLUMNS`."""
    found = []
    for before, now in zip((None, *answers), answers, strict=False):
        past: tuple[float, ...] = (0, 0, 0, 0)
        if before is not None:
            is_wrong, repeats = before.pressed != before.right, before.pressed == now.right
            past = (1, before.congruence, is_wrong, repeats)
        found.append((now.congruence, task.level, task.n_answers, SIDES[now.right], *past))
    return found


COLUMNS = (
    "congruence", "level", "n_answers", "side", "has_previous", "previous_congruence", "previous_error", "repeats",
)  # fmt: skip


def _trials(people: Sequence[AttendingPerson], task: ConflictTask) -> Trials:
    """All answers whose times can be answers to the target."""
    rows = [
        (person, numbers, answer)
        for person, one in enumerate(people)
        for numbers, answer in zip(trial_numbers(one.answers, task), one.answers, strict=True)
        if FASTEST <= answer.time_s <= SLOWEST
    ]
    trial_of: dict[tuple[float, ...], int] = {}
    trial = [trial_of.setdefault(numbers, len(trial_of)) for _, numbers, _ in rows]
    answers = [answer for _, _, answer in rows]
    table = np.array(list(trial_of), dtype=np.float64)
    return Trials(
        experiment=task.name,
        stimuli=conflict_trials(dict(zip(COLUMNS, table.T, strict=True))),
        participant=np.array([person for person, _, _ in rows], dtype=np.int64),
        trial=np.array(trial, dtype=np.int64),
        response=timed_outcomes(
            [item.pressed == item.right for item in answers],
            [item.time_s for item in answers],
            TIMED_ANSWERS,
        ),
        count=np.ones(len(rows), dtype=np.int64),
        n_options=TIMED_ANSWERS.n_outcomes,
        n_people=len(people),
        attributes={"age_years": np.array([person.age_years for person in people])},
    )


CITE = (
    "Busch, N., Geyer, T., & Zinchenko, A. (2024). Individual peak alpha frequency does not index individual "
    "differences in inhibitory cognitive control. Psychophysiology, 61, e14586. https://doi.org/10.1111/psyp.14586. "
    "Original data: https://osf.io/4nfzs"
)
NAVON_READER = ArchiveReader(
    name="attention_navon_busch2024",
    domain="attention",
    title="Busch et al. (2024): small letters within large ones, with response times (Navon)",
    source=ArchiveSource(
        repository="valentinkm/Psych-201",
        commit="5046a7a5f1e70d2ffbf9b179bc101e6746da93e4",
        folder="busch2024_navon",
        licence="Apache-2.0",
        cite=CITE,
        files={FILE: "ceef866b0a51a574521975f332ba1b0d77eb3e0acd5afba7591ac67a6c70288d"},
        remote={},
    ),
    read=partial(read, task=NAVON),
)
STROOP_READER = ArchiveReader(
    name="attention_stroop_busch2024",
    domain="attention",
    title="Busch et al. (2024): the ink of colour words, with response times (Stroop)",
    source=ArchiveSource(
        repository="marcelbinz/Psych-201",
        commit="c63dea18897393b706227b50024b27fa8d8907d8",
        folder="busch2024_stroop",
        licence="Apache-2.0",
        cite=CITE,
        files={FILE: "91259632e618ed5c2ae647dd9b458e066dbce6e88f6a37dc90a75e804c3c8f3a"},
        remote={},
    ),
    read=partial(read, task=STROOP),
)
