"""The two-step task of children, adolescents and adults: Nussenbaum, Scheuplein, Phaneuf, Evans and Hartley (2020).

Three experiments, one for each age group of the paper. In the story people send one of two spaceships to one of two
planets and ask one of two aliens there for treasure. A trial counts only if both picks were made in time; the options
are numbered in the order in which the instructions name their keys. The folder holds four fifths of the people.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import gzip_lines, read_session
from lakatos.domains.learning.task import TwoStepTrial, two_step_trials
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "prompts.jsonl.gz"
AGE_GROUPS = {"children": (8, 13), "adolescents": (13, 18), "adults": (18, 26)}
"""Years from the first number on, up to and without the second."""
_KEYS = r"by pressing the ([A-Z]) key and the other {thing} by pressing the ?([A-Z]) ?key"
_ALIENS = re.compile(_KEYS.format(thing="alien"))
_SHIPS = re.compile(_KEYS.format(thing="spaceship"))
_FIRST = r"You press <<([A-Z])>> and arrive at planet ([01])\. *"
_SECOND = r"You press <<([A-Z])>> to ask alien [A-Z] for space treasure\. *"
_OUTCOME = r"The alien gives you ([01]) treasure\. *"
_TRIAL = re.compile(rf"^{_FIRST}\n{_SECOND}\n{_OUTCOME}$", re.MULTILINE)
_TOO_SLOW = (
    r"You were too slow to select (?:an alien|a spaceship)\. *|"
    r"You press <<[A-Z]>> but you were too slow to select a spaceship so you did not see the planet you arrived at\. *"
)
_OF_MISSED_TRIAL = re.compile(rf"{_TOO_SLOW}|{_FIRST}|{_SECOND}|{_OUTCOME}")


def read(folder: Path) -> tuple[Trials, ...]:
    """Three experiments: children, adolescents and adults, with everybody's ``age_years``.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not as described; the message names the line.
    """
    path = folder / FILE
    people = [read_record(line, f"{path}, line {number}") for number, line in gzip_lines(path)]
    experiments = []
    for name, (least, below) in AGE_GROUPS.items():
        group = [(age, trials) for age, trials in people if least <= age < below]
        if not group:
            raise TrialsError(
                f"{path} has no participant of {least} to {below - 1} years ({name})."
            )
        ages, trials = zip(*group, strict=True)
        experiments.append(two_step_trials(name, trials, {"age_years": np.array(ages)}))
    return tuple(experiments)


def read_record(line: str, where: str) -> tuple[float, list[TwoStepTrial]]:
    """One person's age in years and complete trials.

    Raises:
        TrialsError: Something in it is not as described; the message says what.
    """
    record = read_session(line, where)
    text, age = record["text"], record.get("age")
    if not isinstance(age, int | float) or not 8 <= age < 26:
        raise TrialsError(f"{where}: age is {age!r}; people are 8 to 25 years old.")
    ships, aliens = (pattern.findall(text) for pattern in (_SHIPS, _ALIENS))
    if len(ships) != 1 or len(aliens) != 1:
        raise TrialsError(f"{where}: the instructions must name two keys for ships and for aliens.")
    begin = text.find("You press <<")
    session = text[begin:] if begin >= 0 else ""
    trials = []
    for ship, planet, alien, treasure in _TRIAL.findall(session):
        if ship not in ships[0] or alien not in aliens[0]:
            raise TrialsError(f"{where}: the keys {ship} and {alien} are not those of this person.")
        picks = ships[0].index(ship), aliens[0].index(alien)
        trials.append((picks[0], 1 + int(planet), picks[1], int(treasure)))
    for rest in filter(None, (part.strip() for part in _TRIAL.sub("", session).split("\n"))):
        if not _OF_MISSED_TRIAL.fullmatch(rest):
            raise TrialsError(f"{where}: {rest[:200]!r} is no part of a trial.")
    if not trials:
        raise TrialsError(f"{where}: no complete trial.")
    return float(age), trials


READER = ArchiveReader(
    name="learning_two_step_nussenbaum2020",
    domain="learning",
    title="Nussenbaum et al. (2020): the two-step task of children, adolescents and adults",
    source=ArchiveSource(
        repository="valentinkm/Psych-201",
        commit="5046a7a5f1e70d2ffbf9b179bc101e6746da93e4",
        folder="nussenbaum2020twostep",
        licence="Apache-2.0",
        cite=(
            "Nussenbaum, K., Scheuplein, M., Phaneuf, C. V., Evans, M. D., & Hartley, C. A. (2020). Moving "
            "developmental research online: comparing in-lab and web-based studies of model-based reinforcement "
            "learning. Collabra: Psychology, 6(1), 17213. https://doi.org/10.1525/collabra.17213. Original data: "
            "https://github.com/hartleylabnyu/online_two_step_replication"
        ),
        files={FILE: "f9e92b4fde55a336540487ad82da3d82ec7e5cfe5939d07c0c47f9e710585b0f"},
        remote={},
    ),
    read=read,
)
