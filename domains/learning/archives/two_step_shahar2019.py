"""The two-step task of a large cohort, twice: Shahar, Hauser, Moutoussis et al. (2019).

The second measurement, 18 months later, is an experiment of its own. Trials that the authors dropped are absent, so
people have different numbers of trials. Each trial is two steps: the first pick leads to a state, the second pick is
made there and is rewarded or not. What the options left alone would have done is not published.
"""

from __future__ import annotations

import re
from pathlib import Path

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import packed_lines, read_session
from lakatos.domains.learning.task import TwoStepTrial, two_step_trials
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "prompts.jsonl.zip"
EXPERIMENTS = ("first", "later")
_LATER = re.compile(r"You are now back 18 months later[^\n]*")
_FIRST = re.compile(
    r"In the first stage, you will choose between two options: ([A-Z]) and ([A-Z])\."
)
_STATES = re.compile(r"will lead to one of two second-stage states: ([A-Z]) or ([A-Z])\.")
_SECOND = re.compile(r"you will make another choice between two options: ([A-Z]) and ([A-Z])\.")
_TRIAL = re.compile(
    r"You are presented with first-stage options ([A-Z]) and ([A-Z])\. You choose <<([A-Z])>>\. This leads to state "
    r"([A-Z])\. In state ([A-Z]), you choose <<([A-Z])>>\. You receive (a|no) reward\."
)


def read(folder: Path) -> tuple[Trials, ...]:
    """Two experiments: the first measurement and the later one.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not as published; the message names the line.
    """
    path = folder / FILE
    sessions = [read_record(line, f"{path}, line {number}") for number, line in packed_lines(path)]
    groups = [
        [session[place] for session in sessions if session[place]]
        for place in range(len(EXPERIMENTS))
    ]
    if not all(groups):
        raise TrialsError(f"{path} lacks one of the two measurements.")
    return tuple(
        two_step_trials(name, group) for name, group in zip(EXPERIMENTS, groups, strict=True)
    )


def read_record(line: str, where: str) -> tuple[list[TwoStepTrial], list[TwoStepTrial]]:
    """Both measurements of one person, from one line of the file; the later one may be empty.

    Raises:
        TrialsError: Something in it is not as published; the message says what.
    """
    text = read_session(line, where)["text"]
    named = [pattern.findall(text) for pattern in (_FIRST, _STATES, _SECOND)]
    if any(len(found) != 1 or found[0][0] == found[0][1] for found in named):
        raise TrialsError(
            f"{where}: the instructions must name two options, two states and two further options."
        )
    first, states, second = (found[0] for found in named)
    parts = _LATER.split(text)
    if len(parts) > 2:
        raise TrialsError(f"{where}: more than two measurements.")
    sessions = [_read_trials(part, first, states, second, where) for part in parts]
    if not sessions[0]:
        raise TrialsError(f"{where}: no trial in the first measurement.")
    return sessions[0], sessions[1] if len(sessions) > 1 else []


def _read_trials(
    text: str, first: tuple[str, str], states: tuple[str, str], second: tuple[str, str], where: str
) -> list[TwoStepTrial]:
    trials = []
    for line in text.split("\n"):
        if not line.startswith("You are presented"):
            continue
        found = _TRIAL.fullmatch(line.strip())
        if (
            found is None
            or (found[1], found[2]) != first
            or found[3] not in first
            or found[4] != found[5]
            or found[4] not in states
            or found[6] not in second
        ):
            raise TrialsError(f"{where}: {line[:200]!r} is no trial of the two-step task.")
        trials.append(
            (
                first.index(found[3]),
                1 + states.index(found[4]),
                second.index(found[6]),
                int(found[7] == "a"),
            )
        )
    return trials


READER = ArchiveReader(
    name="learning_two_step_shahar2019",
    domain="learning",
    title="Shahar et al. (2019): the two-step task, twice in 18 months",
    source=ArchiveSource(
        repository="marcelbinz/Psych-201",
        commit="c63dea18897393b706227b50024b27fa8d8907d8",
        folder="shahar2019twosteptask",
        licence="Apache-2.0",
        cite=(
            "Shahar, N., Hauser, T. U., Moutoussis, M., Moran, R., Keramati, M., NSPN consortium, & Dolan, R. J. "
            "(2019). "
            "Improving the reliability of model-based decision-making estimates in the two-stage decision task with "
            "reaction-times and drift-diffusion modeling. PLOS Computational Biology. Original data: "
            "https://osf.io/zc24g"
        ),
        files={FILE: "a0bbea891b2ab743fff2028141c3e8d55109afb6dc5a2f19f6a17602f0a8b186"},
        remote={FILE: f"shahar2019twosteptask/{FILE}"},
    ),
    read=read,
)
