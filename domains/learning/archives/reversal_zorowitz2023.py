"""A three-armed task whose best option changes without notice: Zorowitz, Solis, Niv and Bennett (2023).

People recruited on two platforms, which are read as two experiments. At any time one option paid on about 80% of the
trials and the others on about 20%; what the others would have paid is not published.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.learning.task import steps
from lakatos.experiments.errors import DataMissingError, TrialsError
from lakatos.experiments.task import Trials

FILE = "data.csv"
PLATFORMS = ("mturk", "prolific")
N_STEPS, N_OPTIONS = 90, 3
COLUMNS = {"trial": range(1, N_STEPS + 1), "choice": range(N_OPTIONS), "outcome": range(2)}


def read(folder: Path) -> tuple[Trials, ...]:
    """Two experiments, one for each platform.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not as published; the message names the line.
    """
    path = folder / FILE
    if not path.is_file():
        raise DataMissingError(
            f"{path} is missing; fetch the data set learning_reversal_zorowitz2023 first."
        )
    people: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), start=2):
                _add(row, people, f"{path}, line {number}")
    except UnicodeDecodeError:
        raise TrialsError(f"{path} is no text in UTF-8.") from None
    short = [
        f"{platform} {subject}"
        for (platform, subject), answers in people.items()
        if len(answers) != N_STEPS
    ]
    if short or {platform for platform, _ in people} != set(PLATFORMS):
        raise TrialsError(
            f"{path}: {len(short)} people without {N_STEPS} answers, or a platform without anybody."
        )
    return tuple(
        _trials(platform, [own for (name, _), own in people.items() if name == platform])
        for platform in PLATFORMS
    )


def _add(
    row: dict[str, str], people: dict[tuple[str, str], dict[int, tuple[int, int]]], where: str
) -> None:
    """Check one row of the file and add its answer to the person who gave it."""
    numbers = {}
    for name, allowed in COLUMNS.items():
        try:
            value = float(row[name])
        except (KeyError, TypeError, ValueError):
            raise TrialsError(f"{where}: no number in the column {name!r}.") from None
        if value not in allowed:
            raise TrialsError(
                f"{where}: {name} is {value:g}, not one of {min(allowed)} to {max(allowed)}."
            )
        numbers[name] = int(value)
    platform = row.get("platform")
    if platform not in PLATFORMS or not row.get("subject"):
        raise TrialsError(
            f"{where}: the platform must be one of {', '.join(PLATFORMS)}, and there must be a subject."
        )
    own = people.setdefault((platform, row["subject"]), {})
    if numbers["trial"] in own:
        raise TrialsError(f"{where}: a second answer to trial {numbers['trial']}.")
    own[numbers["trial"]] = (numbers["choice"], numbers["outcome"])


def _trials(experiment: str, people: list[dict[int, tuple[int, int]]]) -> Trials:
    table = np.array([[own[trial] for trial in COLUMNS["trial"]] for own in people])
    n_people = len(people)
    return Trials(
        experiment=experiment,
        stimuli=steps(N_STEPS, N_OPTIONS),
        participant=np.repeat(np.arange(n_people), N_STEPS),
        trial=np.tile(np.arange(N_STEPS), n_people),
        response=table[..., 0].ravel(),
        count=np.ones(n_people * N_STEPS, dtype=np.int64),
        n_options=N_OPTIONS,
        n_people=n_people,
        feedback={
            "reward": table[..., 1].ravel().astype(np.float64),
            "next_state": np.zeros(n_people * N_STEPS),
        },
    )


READER = ArchiveReader(
    name="learning_reversal_zorowitz2023",
    domain="learning",
    title="Zorowitz et al. (2023): three options, one of them good, and changes without notice",
    source=ArchiveSource(
        repository="nivlab/sciops",
        commit="ed7ac3114f394e6942c053abce1e2a6da4742684",
        folder="01_Original/data",
        licence="MIT",
        cite=(
            "Zorowitz, S., Solis, J., Niv, Y., & Bennett, D. (2023). Inattentive responding can induce spurious "
            "associations between task behaviour and symptom measures. Nature Human Behaviour. "
            "https://doi.org/10.1038/s41562-023-01640-7"
        ),
        files={FILE: "f303f8c2ee5b45dac8a72269cfe1d36ba493ef8618f65cbf0a4c2e2ac95a521d"},
        remote={FILE: f"01_Original/data/{FILE}"},
    ),
    read=read,
)
