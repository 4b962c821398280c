"""The same responses in another form are read as the same trials, or refused; there is no third outcome.

A random data set is written out, a random chain of changes of form is applied to its table, and the result is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reading import DATA_SETS, RESPONSES, Rng, WrittenFile

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

# Changes of form ------------------------------------------------------------------------------


def renamed_participants(file: WrittenFile, rng: Rng) -> WrittenFile:
    """Other identifiers in the same order of appearance."""
    names = {old: f"s{1000 + 7 * at}" for at, old in enumerate(file.frame["subject"].unique())}
    return replace(file, frame=file.frame.assign(subject=file.frame["subject"].map(names)))


def another_column(file: WrittenFile, rng: Rng) -> WrittenFile:
    """A further column that says nothing."""
    return replace(file, frame=file.frame.assign(comment="", browser="Firefox"))


def columns_in_another_order(file: WrittenFile, rng: Rng) -> WrittenFile:
    names = rng.permutation(file.frame.columns.to_numpy())
    return replace(file, frame=file.frame[list(names)])


def rows_in_another_order(file: WrittenFile, rng: Rng) -> WrittenFile:
    """Trials of each participant mixed, with the first row of each left in place, so that people keep their numbers."""
    frame = file.frame
    if frame.duplicated(["subject", "trial"]).any():
        return file
    firsts = frame.groupby("subject", sort=False).head(1).index
    rest = rng.permutation(frame.index.difference(firsts).to_numpy())
    return replace(file, frame=frame.loc[[*firsts, *rest]].reset_index(drop=True))


def trials_that_begin_anew(file: WrittenFile, rng: Rng) -> WrittenFile:
    """Numbers of trials that begin anew in blocks of ten."""
    frame = file.frame.sort_values(["subject", "trial"], kind="stable")
    if frame.duplicated(["subject", "trial"]).any():
        return file
    number = frame["trial"] - 1
    return replace(file, frame=frame.assign(block=number // 10 + 1, trial=number % 10 + 1))


def coded(words: Mapping[int, Any]) -> Callable[[WrittenFile, Rng], WrittenFile]:
    """Responses 0 and 1 as other cells."""

    def change(file: WrittenFile, rng: Rng) -> WrittenFile:
        column = RESPONSES[file.domain]
        cells = file.frame[column]
        if file.domain == "attention" and -1 in words.values():
            return file
        if not set(cells.unique()) <= {0, 1}:
            return file
        return replace(file, frame=file.frame.assign(**{column: cells.map(words)}))

    return change


def missed(mark: Any) -> Callable[[WrittenFile, Rng], WrittenFile]:
    """A row without a response, as a further row at the end of the last participant."""

    def change(file: WrittenFile, rng: Rng) -> WrittenFile:
        frame = file.frame
        if file.domain == "attention":
            return file  # a missed trial is what came before the next one
        last = frame.iloc[[-1]].assign(**{RESPONSES[file.domain]: mark})
        last["trial"] = int(frame["trial"].max()) + 1
        said = dict(file.said)
        if isinstance(mark, int):
            said["missing"] = {RESPONSES[file.domain]: mark}
        return replace(file, frame=pd.concat([frame, last], ignore_index=True), said=said)

    return change


def rewards_in_points(file: WrittenFile, rng: Rng) -> WrittenFile:
    if file.domain != "learning":
        return file
    return replace(file, frame=file.frame.assign(reward=file.frame["reward"] * 50))


def rewards_in_words(file: WrittenFile, rng: Rng) -> WrittenFile:
    if file.domain != "learning" or set(file.frame["reward"]) - {0, 1}:
        return file
    return replace(
        file, frame=file.frame.assign(reward=file.frame["reward"].map({1: "TRUE", 0: "FALSE"}))
    )


def delays_in_weeks(file: WrittenFile, rng: Rng) -> WrittenFile:
    if file.domain != "intertemporal" or "delay_later" not in file.frame.columns:
        return file
    weeks = file.frame["delay_later"].astype(float) / 7
    frame = file.frame.assign(delay_later=weeks)
    return replace(file, frame=frame.rename(columns={"delay_later": "delay_later_weeks"}))


def times_in_seconds(file: WrittenFile, rng: Rng) -> WrittenFile:
    if file.domain != "attention" or float(file.frame["rt"].max()) < 20:
        return file
    return replace(file, frame=file.frame.assign(rt=file.frame["rt"] / 1000))


def semicolons(file: WrittenFile, rng: Rng) -> WrittenFile:
    return replace(file, separator=";", decimal=",")


def named_separator(file: WrittenFile, rng: Rng) -> WrittenFile:
    return replace(file, first_line=f"sep={file.separator}\n")


def sixteen_bits(file: WrittenFile, rng: Rng) -> WrittenFile:
    return replace(file, encoding="utf-16", first_line="")


def several_files(file: WrittenFile, rng: Rng) -> WrittenFile:
    return replace(file, n_files=2)


CHANGES: dict[str, Callable[[WrittenFile, Rng], WrittenFile]] = {
    "renamed participants": renamed_participants,
    "another column": another_column,
    "columns in another order": columns_in_another_order,
    "rows in another order": rows_in_another_order,
    "trials begin anew": trials_that_begin_anew,
    "1.0 and 0.0": coded({0: 0.0, 1: 1.0}),
    "TRUE and FALSE": coded({0: "FALSE", 1: "TRUE"}),
    "-1 and 1": coded({0: -1, 1: 1}),
    "1 and 2": coded({0: 1, 1: 2}),
    "missed, n/a": missed("n/a"),
    "missed, empty": missed(""),
    "missed, .a": missed(".a"),
    "missed, 99": missed(99),
    "points": rewards_in_points,
    "reward in words": rewards_in_words,
    "weeks": delays_in_weeks,
    "seconds": times_in_seconds,
    "semicolons": semicolons,
    "sep=": named_separator,
    "UTF-16": sixteen_bits,
    "several files": several_files,
}


def as_read(file: WrittenFile, folder: Path) -> Trials:
    table = read_answers(file.write(folder))
    domain = DOMAINS[file.domain]
    found = describe_table(table, domain).with_columns(dict(file.said))
    (trials,) = adopt(table, found.mapping, domain).trials
    return trials


def canonical(trials: Trials) -> list[tuple[Any, ...]]:
    """Each response with what was shown, as far as the order of rows does not matter."""
    shown = {name: np.asarray(array).round(6) for name, array in trials.stimuli.arrays.items()}
    flat = np.concatenate(
        [shown[name].reshape(len(trials.stimuli), -1) for name in sorted(shown)], axis=1
    )
    fed = [np.asarray(values).round(9) for _, values in sorted(trials.feedback.items())]
    rows = zip(
        trials.participant.tolist(),
        map(tuple, flat[trials.trial].tolist()),
        trials.response.tolist(),
        *(values.tolist() for values in fed),
        strict=True,
    )
    return sorted(rows)


def held(data: str, names: list[str], seed: int, folder: Path) -> bool:
    """Whether a chain of changes was read; False where it was refused. Fails where it was read as anything else."""
    rng = np.random.default_rng(seed)
    original = DATA_SETS[data](rng)
    (folder / "before").mkdir()
    (folder / "after").mkdir()
    wanted = canonical(as_read(original, folder / "before"))
    file = original
    for name in names:
        file = CHANGES[name](file, rng)
    try:
        found = canonical(as_read(file, folder / "after"))
    except TrialsError:
        return False
    assert found == wanted, f"{data}, seed {seed}: {' -> '.join(names)}"
    return True


OF_ONE_KIND = {
    "points": "bandits",
    "reward in words": "bandits",
    "weeks": "delays",
    "seconds": "conflicts",
}
OF_FILES = {
    "semicolons",
    "sep=",
    "UTF-16",
    "several files",
    "another column",
    "columns in another order",
}
"""Changes that one kind of task has, and changes that are tried with one kind."""
PAIRS = [
    (data, name)
    for name in CHANGES
    for data in DATA_SETS
    if data == OF_ONE_KIND.get(name, "delays" if name in OF_FILES else data)
    and not (data == "conflicts" and name.startswith("missed"))
]


@pytest.mark.parametrize(("data", "name"), PAIRS)
def test_a_change_of_form_changes_nothing(data: str, name: str, tmp_path: Path) -> None:
    refused = {("conflicts", "1 and 2")}  # nothing says which of them is right
    assert held(data, [name], 3, tmp_path) == ((data, name) not in refused)


def chain(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [str(name) for name in rng.choice(list(CHANGES), size=4, replace=False)]


@pytest.mark.parametrize("seed", range(8))
def test_a_chain_of_changes_changes_nothing_or_is_refused(seed: int, tmp_path: Path) -> None:
    held(list(DATA_SETS)[seed % len(DATA_SETS)], chain(seed), seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 120))
def test_more_chains_change_nothing_or_are_refused(seed: int, tmp_path: Path) -> None:
    held(list(DATA_SETS)[seed % len(DATA_SETS)], chain(seed), seed, tmp_path)
