"""Random data sets as files, and what a file is read as."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.task import Trials

Rng = np.random.Generator


def read(table: Path | pd.DataFrame, domain: Any = None, **said: Any) -> AdoptedAnswers:
    """What a file is read as, by guessed meanings of columns and those that are said."""
    if isinstance(table, pd.DataFrame):
        rows = table_of_frame("answers.csv", table)
    else:
        rows = read_answers(table)
    found = describe_table(rows, domain).with_columns(said)
    return adopt(rows, found.mapping, domain or DOMAINS[found.domain])


def only(found: AdoptedAnswers) -> Trials:
    (trials,) = found.trials
    return trials


@dataclass(frozen=True)
class WrittenFile:
    """A table and how it is written."""

    frame: pd.DataFrame
    domain: str
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    first_line: str = ""
    n_files: int = 1
    said: Mapping[str, Any] = field(default_factory=dict)
    """Corrections that a user would make, as each change needs."""

    def write(self, folder: Path) -> Path:
        """The file, or a folder of files."""
        if self.n_files == 1:
            return self._write(folder / "answers.csv", self.frame)
        place = folder / "parts"
        place.mkdir()
        people = self.frame["subject"].unique()
        for number, some in enumerate(np.array_split(people, self.n_files)):
            rows = self.frame[self.frame["subject"].isin(some)]
            self._write(place / f"part{number}.csv", rows)
        return place

    def _write(self, file: Path, rows: pd.DataFrame) -> Path:
        text = rows.to_csv(index=False, sep=self.separator, decimal=self.decimal)
        file.write_bytes((self.first_line + text).encode(self.encoding))
        return file


# Data sets ------------------------------------------------------------------------------------


def delays(rng: Rng) -> WrittenFile:
    """Choices between sooner and later amounts, of participants who discount hyperbolically."""
    n_people, n_trials = 4, 30
    n = n_people * n_trials
    soon, wait = rng.integers(5, 20, n), rng.choice([7, 14, 30, 90, 180], n)
    late = soon + rng.integers(1, 30, n)
    rate = np.repeat(rng.uniform(0.005, 0.05, n_people), n_trials)
    p = 1 / (1 + np.exp(-(late / (1 + rate * wait) - soon)))
    frame = pd.DataFrame(
        {
            "subject": np.repeat([f"P{who:02d}" for who in range(n_people)], n_trials),
            "trial": np.tile(np.arange(1, n_trials + 1), n_people),
            "amount_sooner": soon,
            "amount_later": late,
            "delay_sooner": 0,
            "delay_later": wait,
            "choice": (rng.random(n) < p).astype(int),
        }
    )
    return WrittenFile(frame, "intertemporal")


def gambles(rng: Rng) -> WrittenFile:
    """Choices between a sure amount and a gamble, of participants who weigh expected values."""
    n_people, n_trials = 4, 30
    n = n_people * n_trials
    sure, high = rng.integers(2, 12, n), rng.integers(12, 40, n)
    chance = rng.choice([0.1, 0.25, 0.5, 0.75, 0.9], n)
    p = 1 / (1 + np.exp(-0.5 * (high * chance - sure)))
    frame = pd.DataFrame(
        {
            "subject": np.repeat([f"P{who:02d}" for who in range(n_people)], n_trials),
            "trial": np.tile(np.arange(1, n_trials + 1), n_people),
            "a_x": sure,
            "a_p": 1.0,
            "b_x1": high,
            "b_p1": chance,
            "b_x2": 0,
            "b_p2": (1 - chance).round(2),
            "choice": (rng.random(n) < p).astype(int),
        }
    )
    return WrittenFile(frame, "risky")


def bandits(rng: Rng) -> WrittenFile:
    """Choices between two arms, of participants who stay after a win."""
    n_people, n_trials = 4, 40
    rows = []
    for who in range(n_people):
        choice = int(rng.integers(2))
        for trial in range(1, n_trials + 1):
            won = int(rng.random() < (0.75 if choice else 0.25))
            rows.append((f"P{who:02d}", trial, choice, won))
            choice = choice if rng.random() < (0.9 if won else 0.4) else 1 - choice
    return WrittenFile(
        pd.DataFrame(rows, columns=["subject", "trial", "choice", "reward"]), "learning"
    )


def conflicts(rng: Rng) -> WrittenFile:
    """Responses of a flanker task in milliseconds."""
    n_people, n_trials = 4, 40
    n = n_people * n_trials
    condition = rng.choice(["congruent", "incongruent"], n)
    frame = pd.DataFrame(
        {
            "subject": np.repeat([f"P{who:02d}" for who in range(n_people)], n_trials),
            "trial": np.tile(np.arange(1, n_trials + 1), n_people),
            "condition": condition,
            "correct": (rng.random(n) < np.where(condition == "congruent", 0.97, 0.88)).astype(int),
            "rt": rng.integers(350, 900, n) + 60 * (condition == "incongruent"),
        }
    )
    return WrittenFile(frame, "attention")


DATA_SETS: dict[str, Callable[[Rng], WrittenFile]] = {
    "delays": delays, "gambles": gambles, "bandits": bandits, "conflicts": conflicts,
}  # fmt: skip
RESPONSES = {
    "intertemporal": "choice",
    "risky": "choice",
    "learning": "choice",
    "attention": "correct",
}
