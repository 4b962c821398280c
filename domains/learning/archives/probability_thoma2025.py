"""Probability learning of children and adults: Thoma, Newell and Schulze (2025).

People predict 99 times behind which of two houses an animal hides. In ``static_high`` and ``static_random`` it hides
behind exactly one, so that the reward tells what the other house would have paid; in ``ecol_dyn``, where chances
change, it may hide behind both or neither. After each pick people saw both houses. Of that, theories get the reward of
the pick alone: in ``ecol_dyn`` they know less than people did.

Each condition is two experiments, of children (3 to 11 years) and of adults (18 to 51). Two people without an age are
left out. Everybody had a schedule of their own. The folder holds four fifths of the people.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import gzip_lines, read_session
from lakatos.domains.learning.task import steps
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "prompts.jsonl.gz"
N_STEPS = 99
CONDITIONS = ("static_high", "static_random", "ecol_dyn")
AGE_GROUPS = ("children", "adults")
ADULT_YEARS = 18.0
GENDERS = ("female", "male")
_HOUSES = re.compile(r"two houses labeled '([A-Z])' and ([A-Z])'")
_TRIAL = re.compile(
    r"Trial ([1-9]\d*): You choose house <<([A-Z])>>\. At house '([A-Z])', there is (an|no) animal hiding\. "
    r"At house '([A-Z])', there is (an|no) animal hiding\.\n"
    r"Your choice was (?:correct and you receive|(in)correct and you do not receive) a reward\."
)


@dataclass(frozen=True)
class ProbabilityLearner:
    """One person: who it is, and picks and rewards in the order of the trials."""

    condition: str
    age_years: float
    """NaN where it is not known."""
    is_female: bool
    picks: tuple[int, ...]
    rewards: tuple[int, ...]

    @property
    def group(self) -> str:
        """Child or adult."""
        return AGE_GROUPS[self.age_years >= ADULT_YEARS]


def read(folder: Path) -> tuple[Trials, ...]:
    """Six experiments, three conditions of children and of adults, with everybody's ``age_years`` and ``female``.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not as described; the message names the line.
    """
    path = folder / FILE
    everybody = [read_record(line, f"{path}, line {number}") for number, line in gzip_lines(path)]
    people = [person for person in everybody if math.isfinite(person.age_years)]
    experiments = []
    for condition in CONDITIONS:
        for group in AGE_GROUPS:
            own = [item for item in people if (item.condition, item.group) == (condition, group)]
            if not own:
                raise TrialsError(f"{path} holds no {group} in the condition {condition}.")
            experiments.append(_trials(f"{condition}-{group}", own))
    return tuple(experiments)


def read_record(line: str, where: str) -> ProbabilityLearner:
    """One person from a line of the file.

    Raises:
        TrialsError: Something in it is not as described; the message says what.
    """
    record = read_session(line, where)
    condition, gender = record.get("condition"), record.get("gender")
    if condition not in CONDITIONS or gender not in GENDERS:
        raise TrialsError(f"{where}: unknown condition {condition!r} or gender {gender!r}.")
    try:
        age = float(record.get("age", ""))
    except (TypeError, ValueError):
        raise TrialsError(f"{where}: age is {record.get('age')!r}, no number.") from None
    houses = _HOUSES.findall(record["text"])
    if len(houses) != 1:
        raise TrialsError(f"{where}: the instructions must name two houses.")
    picks, rewards = _read_trials(record["text"], houses[0], where)
    return ProbabilityLearner(condition, age, gender == "female", picks, rewards)


def _read_trials(
    text: str, houses: tuple[str, str], where: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    picks, rewards = [], []
    for number, found in enumerate(_TRIAL.findall(text), start=1):
        place, pick, first, there_first, second, there_second, wrong = found
        if int(place) != number or (first, second) != houses or pick not in houses:
            raise TrialsError(f"{where}: trial {place} is out of order or about another house.")
        hides = (there_first == "an", there_second == "an")
        picks.append(houses.index(pick))
        rewards.append(int(hides[picks[-1]]))
        if rewards[-1] == (wrong == "in"):
            raise TrialsError(f"{where}: trial {place} rewards another house than the animal's.")
    if len(picks) != N_STEPS or text.count("<<") != N_STEPS:
        raise TrialsError(
            f"{where}: {len(picks)} trials of {text.count('<<')} picks, not {N_STEPS}."
        )
    return tuple(picks), tuple(rewards)


def _trials(experiment: str, people: list[ProbabilityLearner]) -> Trials:
    n_people = len(people)
    rewards = np.array([person.rewards for person in people], dtype=np.float64)
    return Trials(
        experiment=experiment,
        stimuli=steps(N_STEPS, 2),
        participant=np.repeat(np.arange(n_people), N_STEPS),
        trial=np.tile(np.arange(N_STEPS), n_people),
        response=np.array([person.picks for person in people], dtype=np.int64).ravel(),
        count=np.ones(n_people * N_STEPS, dtype=np.int64),
        n_people=n_people,
        feedback={"reward": rewards.ravel(), "next_state": np.zeros(n_people * N_STEPS)},
        attributes={
            "age_years": np.array([person.age_years for person in people]),
            "female": np.array([float(person.is_female) for person in people]),
        },
    )


READER = ArchiveReader(
    name="learning_probability_thoma2025",
    domain="learning",
    title="Thoma et al. (2025): probability learning of children and adults, in three environments",
    source=ArchiveSource(
        repository="marcelbinz/Psych-201",
        commit="c63dea18897393b706227b50024b27fa8d8907d8",
        folder="thoma2025problearn",
        licence="Apache-2.0",
        cite=(
            "Thoma, A. I., Newell, B., & Schulze, C. (2025). Emerging adaptivity in probability learning: how young "
            "minds and the environment interact. Journal of Experimental Psychology: General. "
            "https://doi.org/10.1037/xge0001747. Original data: https://osf.io/574my"
        ),
        files={FILE: "4167e232bf54a299245b7625464a6c312b9b6c2ec89d5e0d8c98d5ce41995d6a"},
        remote={},
    ),
    read=read,
)
