"""Choices between two lotteries with even chances, answer by answer: Spektor, Kellen, Rieskamp and Klauer (2024).

Every person took part in two sessions of one of three experiments. In one session gains went up to twice the largest
loss, in the other losses up to twice the largest gain; half of the people began with either. The two sets of amounts
are read as experiments of their own, ``exp1-large-gains`` and so on, because the question was whether loss aversion
depends on the amounts around. Some pairs of lotteries occur in both.

The published file holds every session in words. The lottery that is named first, in the instructions and in each
trial, is option A; amounts within a lottery are put in order, so that their order on the screen is lost.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import packed_lines
from lakatos.domains.risky.space import pairs
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "prompts.jsonl.zip"
MOST_BYTES = 100_000_000
"""Size of the unpacked lines beyond which the file is refused; published are 13 million."""
EXPERIMENTS = ("exp1", "exp2", "exp3")
CONTEXTS = ("large-gains", "large-losses")
Lottery = tuple[int, int]
_EXPERIMENT = re.compile(r"spektor2024lossaversion/(exp[123])\.csv")
_NAMES = re.compile(r"The lotteries' names are ([A-Z]) and ([A-Z])\.")
_SESSION = re.compile(r"Session ([12]):")
_AMOUNT = r"(-?[1-9][0-9]{0,3})"
_LOTTERY = rf"The outcomes of lottery ([A-Z]) are {_AMOUNT} with 50% chance and {_AMOUNT} with 50% chance\."
_TRIAL = re.compile(rf"{_LOTTERY} {_LOTTERY} You choose <<([A-Z])>>\.")


@dataclass(frozen=True)
class SpektorSession:
    """One person's answers in one session, in the order in which they were given."""

    experiment: str
    participant: int
    """Number in the file, unique within the experiment."""
    answers: tuple[tuple[Lottery, Lottery, int], ...]
    """The first and the second lottery, smaller amount first, and which was chosen."""

    @property
    def context(self) -> str:
        """Name of the context, by which amounts are the larger ones in this session."""
        amounts = [amount for first, second, _ in self.answers for amount in (*first, *second)]
        return CONTEXTS[0] if max(amounts) > -min(amounts) else CONTEXTS[1]


def read(folder: Path) -> tuple[Trials, ...]:
    """Six experiments: three, each with the two sets of amounts.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: The file is no archive of sessions; the message names line and place.
    """
    path = folder / FILE
    lines = packed_lines(path, MOST_BYTES)
    sessions = [
        session for number, line in lines for session in read_record(line, f"{path}, line {number}")
    ]
    people = [(session.experiment, session.participant, session.context) for session in sessions]
    if len(set(people)) != len(people):
        raise TrialsError(
            f"{path}: a person of an experiment has two records, or two sessions with the same amounts."
        )
    groups = {
        f"{experiment}-{context}": [
            item for item in sessions if (item.experiment, item.context) == (experiment, context)
        ]
        for experiment in EXPERIMENTS
        for context in CONTEXTS
    }
    empty = [name for name, group in groups.items() if not group]
    if empty:
        raise TrialsError(f"{path} holds no session of {', '.join(empty)}.")
    return tuple(_trials(name, group) for name, group in groups.items())


def read_record(line: str, where: str) -> tuple[SpektorSession, SpektorSession]:
    """Both sessions of one person, from one line of the file.

    Args:
        line: JSON with the session in words.
        where: Names the line in messages.

    Raises:
        TrialsError: Something in it is not as published; the message says what.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TrialsError(f"{where}: no JSON ({error}).") from None
    if not isinstance(record, dict):
        raise TrialsError(f"{where}: not an object with one person's answers.")
    experiment = _EXPERIMENT.fullmatch(str(record.get("experiment")))
    if experiment is None:
        raise TrialsError(f"{where}: experiment must end in /exp1.csv, /exp2.csv or /exp3.csv.")
    participant, text, times = record.get("participant"), record.get("text"), record.get("RTs")
    if not isinstance(participant, int) or isinstance(participant, bool) or participant < 0:
        raise TrialsError(
            f"{where}: participant must be an integer from 0 upwards, not {participant!r}."
        )
    if not isinstance(text, str):
        raise TrialsError(f"{where}: text must be the session in words.")
    first, second = _read_text(text, where)
    if not isinstance(times, list) or len(times) != len(first) + len(second):
        raise TrialsError(
            f"{where}: there must be a response time for each of {len(first) + len(second)} answers."
        )
    return SpektorSession(experiment[1], participant, first), SpektorSession(
        experiment[1], participant, second
    )


def _read_text(text: str, where: str) -> list[tuple[tuple[Lottery, Lottery, int], ...]]:
    """Answers of the two sessions; every line after the instructions must be a session's head or a trial."""
    instructions, mark, rest = text.partition("\nSession 1:\n")
    names = _NAMES.findall(instructions)
    if not mark or len(names) != 1 or names[0][0] == names[0][1]:
        raise TrialsError(
            f"{where}: the text must name two lotteries and then begin with 'Session 1:'."
        )
    sessions: list[list[tuple[Lottery, Lottery, int]]] = [[]]
    for part in filter(None, rest.split("\n")):
        head, trial = _SESSION.fullmatch(part), _TRIAL.fullmatch(part)
        if head and head[1] == "2" and len(sessions) == 1:
            sessions.append([])
        elif trial and (trial[1], trial[4]) == names[0] and trial[7] in names[0]:
            low, high = sorted((int(trial[2]), int(trial[3])))
            least, most = sorted((int(trial[5]), int(trial[6])))
            sessions[-1].append(((low, high), (least, most), names[0].index(trial[7])))
        else:
            raise TrialsError(
                f"{where}: {part[:200]!r} is no choice between the lotteries {' and '.join(names[0])}."
            )
    if len(sessions) != 2 or not all(sessions):
        raise TrialsError(f"{where}: the text must hold answers in two sessions.")
    return [tuple(session) for session in sessions]


def _trials(name: str, sessions: list[SpektorSession]) -> Trials:
    trial_of: dict[tuple[Lottery, Lottery], int] = {}
    rows = [
        (person, trial_of.setdefault((first, second), len(trial_of)), chosen)
        for person, session in enumerate(sessions)
        for first, second, chosen in session.answers
    ]
    participant, trial, response = np.array(rows, dtype=np.int64).T
    return Trials(
        experiment=name,
        stimuli=pairs(
            [([(x, 0.5) for x in first], [(x, 0.5) for x in second]) for first, second in trial_of]
        ),
        participant=participant,
        trial=trial,
        response=response,
        count=np.ones(len(rows), dtype=np.int64),
        n_people=len(sessions),
    )


READER = ArchiveReader(
    name="risky_spektor2024",
    domain="risky",
    title="Spektor et al. (2024): lotteries with even chances, gains and losses up to different amounts",
    source=ArchiveSource(
        repository="marcelbinz/Psych-201",
        commit="c63dea18897393b706227b50024b27fa8d8907d8",
        folder="spektor2024lossaversion",
        licence="Apache-2.0",
        cite=(
            "Spektor, M. S., Kellen, D., Rieskamp, J., & Klauer, K. C. (2024). Absolute and relative stability of "
            "loss aversion across contexts. Journal of Experimental Psychology: General, 153(2), 454-472. "
            "https://doi.org/10.1037/xge0001513. Original data: https://osf.io/28qzs/"
        ),
        files={FILE: "095b048dd3c88daa41b3838f3308dfcb86bf8ac2d45cc6fa5b5aed185e83ef6a"},
        remote={FILE: f"spektor2024lossaversion/{FILE}"},
    ),
    read=read,
)
