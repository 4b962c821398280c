"""Kinds of tasks and columns of files that are guessed right without help: ``python benchmarks/run.py guesses``.

Ten files of choices by simple rules, with names of columns as laboratories write them. With ``--inputs FOLDER`` also
small files cut from public data. Of each file: whether the kind of task and all needed columns are right.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lakatos.domains import open_domain
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import read_answers

GIVING = Path(__file__).parents[1] / "studies" / "tasks" / "giving.toml"
N_PEOPLE, N_TRIALS = 6, 24
Rng = np.random.Generator


@dataclass(frozen=True)
class GuessedRight:
    """What of a file was guessed right."""

    name: str
    kind: bool
    """The kind of task."""
    columns: bool
    """All columns that are needed to read it."""
    wrong: str
    """The first that is not, and what was guessed."""


@dataclass(frozen=True)
class FileToGuess:
    """A file, and what there is to guess of it."""

    frame: pd.DataFrame
    domain: str
    right: Mapping[str, Any]
    """Keys of the mapping, as dots divide them, with their values."""
    task: str = ""
    """File of the declared task that a user names."""


def _frame(columns: str, rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


def _people(prefix: str) -> list[tuple[str, int]]:
    return [
        (f"{prefix}{who}", trial) for who in range(N_PEOPLE) for trial in range(1, N_TRIALS + 1)
    ]


def _chosen(rng: Rng, difference: float) -> int:
    return int(rng.random() < 1 / (1 + np.exp(-difference)))


def own_files(rng: Rng) -> dict[str, FileToGuess]:
    """Ten files by their names."""
    return {
        "giving.csv": _gifts(rng),
        "predictions.csv": _predictions(rng, "id trial prediction outcome", (0, 1)),
        "vorhersagen.csv": _predictions(
            rng, "Versuchsperson Durchgang prediction outcome", ("left", "right")
        ),
        "lotteries.csv": _lotteries(rng),
        "immediate.csv": _waits(rng, "PROLIFIC_PID trial_index immediate_amount delayed_amount delay_days response"),
        "short.csv": _short(rng),
        "arms.csv": _arms(rng),
        "bets.csv": _bets(rng),
        "flanker.csv": _flanker(rng),
        "weeks.csv": _waits(rng, "responder number money_now money_later wait_weeks picked", ("now", "later")),
    }  # fmt: skip


def _gifts(rng: Rng) -> FileToGuess:
    rows = [
        (who, trial, 10, 1 + trial % 3, int(rng.integers(0, 11))) for who, trial in _people("V")
    ]
    right = {
        "participant": "vp",
        "response": "passed",
        "order": "runde",
        "stimulus.own": [f"tokens - {gift}" for gift in range(11)],
        "stimulus.other": [f"value * {gift}" for gift in range(11)],
    }
    return FileToGuess(_frame("vp runde tokens value passed", rows), "giving", right, str(GIVING))


def _predictions(rng: Rng, columns: str, cells: tuple[Any, Any]) -> FileToGuess:
    rows = [
        (who, trial, cells[int(rng.integers(2))], cells[int(rng.random() < 0.7)])
        for who, trial in _people("S")
    ]
    who, order, *_ = columns.split()
    right = {
        "participant": who,
        "order": order,
        "response": "prediction",
        "feedback.reward": "prediction == outcome",
        "stimulus.options": 2,
    }
    return FileToGuess(_frame(columns, rows), "learning", right)


def _lotteries(rng: Rng) -> FileToGuess:
    rows = []
    for who, trial in _people("P"):
        high, low, chance = (
            rng.integers(9, 30, 2),
            rng.integers(0, 9, 2),
            rng.choice([0.2, 0.5, 0.9], 2),
        )
        worth = high * chance + low * (1 - chance)
        numbers = [value for side in (0, 1) for value in (high[side], chance[side], low[side])]
        rows.append((who, trial, *numbers, _chosen(rng, worth[1] - worth[0])))
    names = "subjid trialnum opt1hval opt1hprob opt1lval opt2hval opt2hprob opt2lval chose_opt2"
    right = {
        "participant": "subjid",
        "order": "trialnum",
        "response": "chose_opt2",
        "stimulus.a_amounts": ["opt1hval", "opt1lval"],
        "stimulus.a_probabilities": ["opt1hprob"],
        "stimulus.b_amounts": ["opt2hval", "opt2lval"],
        "stimulus.b_probabilities": ["opt2hprob"],
    }
    return FileToGuess(_frame(names, rows), "risky", right)


def _offer(rng: Rng) -> tuple[int, int, int, int]:
    """Two amounts, a wait in days, and the choice."""
    soon, wait = int(rng.integers(5, 20)), int(rng.choice([7, 14, 28, 84]))
    late = soon + int(rng.integers(1, 30))
    return soon, late, wait, _chosen(rng, late / (1 + 0.03 * wait) - soon)


def _waits(rng: Rng, columns: str, words: tuple[str, str] | None = None) -> FileToGuess:
    rows = []
    names = columns.split()
    is_weeks = "weeks" in names[4]
    for who, trial in _people("R"):
        soon, late, wait, chosen = _offer(rng)
        cell: Any = words[chosen] if words else chosen
        rows.append((who, trial, soon, late, wait // 7 if is_weeks else wait, cell))
    right = {
        "participant": names[0],
        "response": names[5],
        "stimulus.amounts": names[2:4],
        "stimulus.delays_days": [0, names[4]],
        "stimulus.delay_unit": "weeks" if is_weeks else None,
    }
    return FileToGuess(_frame(columns, rows), "intertemporal", right)


def _short(rng: Rng) -> FileToGuess:
    rows = []
    for who, trial in _people("P"):
        soon, late, wait, chosen = _offer(rng)
        rows.append((who, trial, soon, late, 0, wait, chosen))
    right = {
        "participant": "ppn",
        "response": "R",
        "stimulus.amounts": ["V1", "V2"],
        "stimulus.delays_days": ["W1", "W2"],
    }
    return FileToGuess(_frame("ppn nr V1 V2 W1 W2 R", rows), "intertemporal", right)


def _arms(rng: Rng) -> FileToGuess:
    rows = []
    for who, trial in _people("s"):
        arm = int(rng.integers(1, 5))
        rows.append((who, trial, arm, int(rng.random() < 0.2 * arm)))
    right = {
        "participant": "s_id",
        "response": "arm",
        "feedback.reward": "win",
        "stimulus.options": 4,
    }
    return FileToGuess(_frame("s_id trial arm win", rows), "learning", right)


def _bets(rng: Rng) -> FileToGuess:
    rows = []
    for who, trial in _people("B"):
        gain, loss = int(rng.integers(5, 40)), int(rng.integers(5, 20))
        rows.append((who, trial, gain, loss, _chosen(rng, 0.3 * (gain - 2 * loss))))
    right = {
        "participant": "subject_nr",
        "response": "accept",
        "stimulus.a_amounts": [0],
        "stimulus.b_amounts": ["gain_amount", "-loss_amount"],
        "stimulus.b_probabilities": [0.5, 0.5],
    }
    return FileToGuess(
        _frame("subject_nr trial gain_amount loss_amount accept", rows), "risky", right
    )


def _flanker(rng: Rng) -> FileToGuess:
    rows = []
    for who, trial in _people("F"):
        word = str(rng.choice(["congruent", "incongruent"]))
        rows.append((who, trial, word, int(rng.integers(350, 900)), int(rng.random() < 0.93)))
    right = {
        "participant": "participant_id",
        "response": "acc",
        "response_time": "rt_ms",
        "response_time_unit": "ms",
        "stimulus.congruence": "congruency",
    }
    return FileToGuess(
        _frame("participant_id trial_nr congruency rt_ms acc", rows), "attention", right
    )


SOONER_LATER = {
    "participant": "subjID",
    "order": "trial",
    "stimulus.amounts": ["amount_sooner", "amount_later"],
    "stimulus.delays_days": ["delay_sooner", "delay_later"],
}
CORRECT = {
    "participant": "subject",
    "response": "correct",
    "response_time": "rt",
    "stimulus.congruence": "condition",
}
BANDIT = {
    "participant": "subjID",
    "response": "choice",
    "order": "trial",
    "feedback.reward": "outcome",
}
INPUTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "accuracy_in_words.csv": ("attention", {
        "participant": "SubjectID", "response": "Accuracy", "response_time": "RT", "stimulus.congruence": "Stroop"}),
    "alternative_unavailable.csv": ("", {"participant": "id", "response": "choice"}),
    "chose_now_01.csv": ("intertemporal", SOONER_LATER | {"response": "chose_now"}),
    "codes_as_floats.csv": ("intertemporal", SOONER_LATER | {"response": "choice"}),
    "codes_minus1_1.csv": ("intertemporal", SOONER_LATER | {"response": "choice"}),
    "delay_in_weeks_by_name.csv": ("intertemporal", SOONER_LATER | {
        "response": "choice", "stimulus.delays_days": ["delay_sooner_weeks", "delay_later_weeks"],
        "stimulus.delay_unit": "weeks"}),
    "discrete_choice_long.csv": ("", {
        "participant": "id", "response": "choice", "alternative": "alt", "choice_set": "chid"}),
    "excel_sep_line.csv": ("attention", CORRECT | {"response_time_unit": "s"}),
    "gain_and_loss_columns.csv": ("learning", BANDIT | {"feedback.reward": "gain + loss", "stimulus.options": 4}),
    "glued_names.csv": ("intertemporal", {
        "participant": "subjid", "response": "choice", "order": "trialid", "stimulus.amounts": ["smag", "rewmag"],
        "stimulus.delays_days": ["sdelay", "delay"]}),
    "jatos_results.txt": ("attention", CORRECT),
    "loss_as_positive_number.csv": ("risky", {
        "participant": "sub", "response": "respcat", "stimulus.a_amounts": [0],
        "stimulus.b_amounts": ["gain", "-loss"]}),
    "missed_coded_zero.csv": ("learning", BANDIT),
    "na_lower_case.csv": ("attention", CORRECT | {"response_time_unit": "s"}),
    "pairs_of_stimuli.csv": ("learning", {
        "participant": "subjID", "response": "choice", "feedback.reward": "reward", "stimulus.cue": "type"}),
    "psychopy_one_person.csv": ("attention", {
        "participant": "participant", "response": "keyResp_test_run.keys", "response_time": "keyResp_test_run.rt",
        "stimulus.congruence": "congruent", "stimulus.right_key": "corrAns"}),
    "reward_in_points.csv": ("learning", BANDIT | {"stimulus.options": 4}),
    "seconds_and_milliseconds.csv": ("attention", CORRECT | {"response_time_unit": "by participant"}),
    "short_names.csv": ("intertemporal", {
        "participant": "Participant", "response": "R", "stimulus.amounts": ["RA", "RB"],
        "stimulus.delays_days": ["DA", "DB"]}),
    "trial_restarts_in_block.csv": ("learning", BANDIT | {"stimulus.options": 2}),
    "two_step_wide.csv": ("learning", {
        "participant": "id", "response": "choice1", "feedback.reward": "money", "stimulus.second_choice": "choice2",
        "stimulus.state": "state"}),
    "within_person_condition.csv": ("risky", {
        "participant": "subjID", "response": "gamble", "stimulus.a_amounts": ["cert"],
        "stimulus.b_amounts": ["gain", "loss"]}),
}  # fmt: skip
"""Small files cut from public data: the kind of task (none where it is a task of one's own), and needed columns."""


def guessed(file: Path, domain: str, right: Mapping[str, Any], task: str = "") -> GuessedRight:
    """Compare what is guessed of a file with what is right."""
    found = describe_table(read_answers(file), open_domain(task) if task else None)
    mapping = found.mapping.model_dump()
    wrong = [
        f"{key} = {said!r}"
        for key, value in right.items()
        if (said := _value(mapping, key)) != value
    ]
    if found.domain != domain:
        wrong.insert(0, f"kind = {found.domain!r}")
    columns = not any(not item.startswith("kind") for item in wrong)
    return GuessedRight(file.name, found.domain == domain, columns, wrong[0] if wrong else "")


def _value(mapping: Mapping[str, Any], key: str) -> Any:
    first, _, rest = key.partition(".")
    value = mapping[first].get(rest) if rest else mapping[first]
    return list(value) if isinstance(value, tuple) else value


def guessed_of_own(folder: Path) -> list[GuessedRight]:
    """What is guessed of the ten files, which are written into a folder."""
    found = []
    for name, item in own_files(np.random.default_rng(11)).items():
        item.frame.to_csv(folder / name, index=False)
        found.append(guessed(folder / name, item.domain, item.right, item.task))
    return found


def guessed_of_inputs(folder: Path) -> list[GuessedRight]:
    """What is guessed of the small files cut from public data."""
    return [guessed(folder / name, *item) for name, item in INPUTS.items()]


def main() -> None:
    """Print a line for each file and how many are right."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--inputs", type=Path, default=os.environ.get("LAKATOS_INPUTS"))
    folder = parser.parse_args().inputs
    with tempfile.TemporaryDirectory() as place:
        groups = {"own": guessed_of_own(Path(place))}
        if folder is not None:
            groups["inputs"] = guessed_of_inputs(Path(folder))
    for name, found in groups.items():
        for item in found:
            print(f"{item.name:32} kind {item.kind!s:6} columns {item.columns!s:6} {item.wrong}")
        kinds, columns = sum(item.kind for item in found), sum(item.columns for item in found)
        print(f"{name}: kind right in {kinds} of {len(found)}, all columns in {columns}")
