"""Answers of other makers brought in by a file: ``python benchmarks/run.py adoption [--data FOLDER]``.

Three published data sets are written anew with columns that the project has no names for, rows of different people
mixed; three are synthetic, in the forms of Qualtrics, jsPsych and R. For each: the words that a user types to say what
the columns mean, the seconds from the file to experiments, and whether every trial has the answers that it had.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS
from lakatos.domains.published_data import load_archive
from lakatos.experiments.adoption.adopt import adopt_file
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.task import Stimuli, Trials

RESULTS = ROOT / "benchmarks" / "raw" / "adoption.json"
SEED = 7


@dataclass(frozen=True)
class AdoptedSet:
    """One file, what a user says of it, and the answers that it was made from."""

    name: str
    domain: str
    file: str
    columns: Mapping[str, Any]
    truth: tuple[Trials, ...]


@dataclass(frozen=True)
class AdoptionResult:
    """What became of a file."""

    name: str
    form: str
    n_answers: int
    n_people: int
    n_trials: int
    n_words: int
    """Keys and values of the mapping."""
    seconds: float
    equal: bool
    """Whether every trial of every experiment has the answers that it had."""


def published(folder: Path, data: Path) -> Iterator[AdoptedSet]:
    """Published answers under other names."""
    rng = np.random.default_rng(SEED)
    trials = load_archive("intertemporal_ericson2015", data)
    names = ("frueh_geld", "spaet_geld"), ("frueh_tage", "spaet_tage")
    frame = pd.concat(
        rows_of(item, {"amounts": names[0], "delays_days": names[1]}, "Wahl").assign(
            Teil=item.experiment
        )
        for item in trials
    )
    mixed(frame, rng).to_csv(folder / "waehlen.csv", sep=";", decimal=",", index=False)
    stimulus = {"amounts": list(names[0]), "delays_days": list(names[1])}
    yield AdoptedSet("intertemporal_ericson2015", "intertemporal", "waehlen.csv",
                     {"participant": "Vp", "response": "Wahl", "experiment": "Teil", "order": "Platz",
                      "stimulus": stimulus}, trials)  # fmt: skip

    (pooled,) = load_archive("risky_cpc18", data)
    frame, stimulus = gambles_of(pooled)
    mixed(frame, rng).to_csv(folder / "loterias.tsv", sep="\t", index=False)
    yield AdoptedSet("risky_cpc18", "risky", "loterias.tsv",
                     {"counts": ("eligio_1", "eligio_2"), "stimulus": stimulus}, (pooled,))  # fmt: skip

    learners = load_archive("learning_reversal_zorowitz2023", data)
    frame = pd.concat(rows_of(item, {}, "bras").assign(lieu=item.experiment, gain=item.feedback["reward"])
                      for item in learners)  # fmt: skip
    mixed(frame, rng).to_parquet(folder / "apprendre.parquet")
    yield AdoptedSet("learning_reversal_zorowitz2023", "learning", "apprendre.parquet",
                     {"participant": "Vp", "response": "bras", "experiment": "lieu", "order": "Platz",
                      "stimulus": {"options": 3}, "feedback": {"reward": "gain"}}, learners)  # fmt: skip


def synthetic(folder: Path) -> Iterator[AdoptedSet]:
    """Answers drawn at random, in the forms that programs write."""
    rng = np.random.default_rng(SEED)
    dated = simulated("intertemporal", {}, rng, n_people=40, n_trials=24)
    yield qualtrics(folder, dated)
    rated = simulated(
        "multiattribute", {"validities": [0.9, 0.8, 0.7], "levels": [0, 1, 2, 3]}, rng, 30, 36
    )
    yield jspsych(folder, rated)
    risky = simulated("risky", {}, rng, n_people=50, n_trials=40)
    yield r_form(folder, risky)


def simulated(
    domain: str, space: Mapping[str, Any], rng: np.random.Generator, n_people: int, n_trials: int
) -> Trials:
    """Everybody answers every trial at random, in an order of their own."""
    stimuli = DOMAINS[domain].candidates(space, rng, n_trials)
    order = np.concatenate([rng.permutation(n_trials) for _ in range(n_people)])
    return Trials("answers", stimuli, np.repeat(np.arange(n_people), n_trials), order,
                  rng.integers(0, 2, n_people * n_trials), np.ones(n_people * n_trials, dtype=np.int64),
                  n_people=n_people)  # fmt: skip


def qualtrics(folder: Path, trials: Trials) -> AdoptedSet:
    """A row a person, a column a question, two rows that are no answers; questions in a second file."""
    n_trials = len(trials.stimuli)
    table = np.full((trials.n_participants, n_trials), "", dtype=object)
    table[trials.participant, trials.trial] = np.where(trials.response == 1, "Later", "Sooner")
    asked = [f"Q{row + 1}" for row in range(n_trials)]
    frame = pd.DataFrame(table, columns=asked)
    frame.insert(0, "ResponseId", [f"R_{person:04d}" for person in range(len(frame))])
    texts = pd.DataFrame([["Response ID", *("Which do you prefer?" for _ in asked)],
                          [f'{{"ImportId":"{name}"}}' for name in frame.columns]], columns=frame.columns)  # fmt: skip
    pd.concat([texts, frame]).to_csv(folder / "survey.csv", index=False)
    stimuli = trials.stimuli
    items = {"question": asked, "now": stimuli["amounts"][:, 0], "then": stimuli["amounts"][:, 1],
             "d_now": stimuli["delays_days"][:, 0], "d_then": stimuli["delays_days"][:, 1]}  # fmt: skip
    pd.DataFrame(items).to_csv(folder / "questions.csv", index=False)
    return AdoptedSet("Qualtrics", "intertemporal", "survey.csv",
                      {"participant": "ResponseId", "wide": "Q*", "item": "question", "items": "questions.csv",
                       "responses": {"Sooner": 0, "Later": 1},
                       "stimulus": {"amounts": ["now", "then"], "delays_days": ["d_now", "d_then"]}},
                      (trials,))  # fmt: skip


def jspsych(folder: Path, trials: Trials) -> AdoptedSet:
    """A list of a person's trials for each person, among them screens that ask nothing."""
    people: list[list[dict[str, Any]]] = [[] for _ in range(trials.n_participants)]
    for person, trial, response in zip(
        trials.participant, trials.trial, trials.response, strict=True
    ):
        ratings = trials.stimuli["ratings"][trial]
        shown = {f"{side}_{cue}": int(ratings[place, cue]) for place, side in enumerate(("lhs", "rhs"))
                 for cue in range(ratings.shape[1])}  # fmt: skip
        people[person] += [
            {"trial_type": "html-keyboard-response", "part": "fixation", "rt": None, "response": None},
            {"trial_type": "html-keyboard-response", "part": "choice", "rt": 640.5,
             "response": "fj"[response], "data": shown},
        ]  # fmt: skip
    (folder / "jspsych.json").write_text(json.dumps(people))
    n_cues = trials.stimuli["ratings"].shape[2]
    ratings = [[f"data.{side}_{cue}" for cue in range(n_cues)] for side in ("lhs", "rhs")]
    validities = trials.stimuli["validities"][0].tolist()
    return AdoptedSet("jsPsych", "multiattribute", "jspsych.json",
                      {"participant": "session", "response": "response", "responses": {"f": 0, "j": 1},
                       "where": {"part": "choice"},
                       "stimulus": {"ratings": ratings, "validities": validities,
                                    "rating_max": float(trials.stimuli["rating_max"][0])}},
                      (trials,))  # fmt: skip


def r_form(folder: Path, trials: Trials) -> AdoptedSet:
    """A data frame that R saved."""
    import pyreadr

    frame, stimulus = gambles_of(trials)
    frame = frame.drop(columns=["eligio_1", "eligio_2"]).iloc[trials.trial].reset_index(drop=True)
    frame = frame.assign(who=[f"s{person}" for person in trials.participant],
                         pick=np.where(trials.response == 1, "second", "first"))  # fmt: skip
    pyreadr.write_rds(str(folder / "study.rds"), frame)
    return AdoptedSet("R", "risky", "study.rds",
                      {"participant": "who", "response": "pick", "responses": {"first": 0, "second": 1},
                       "stimulus": stimulus}, (trials,))  # fmt: skip


def rows_of(trials: Trials, parts: Mapping[str, tuple[str, str]], response: str) -> pd.DataFrame:
    """Single answers as rows, with what was shown in columns named so."""
    n_before = np.zeros(trials.n_participants, dtype=int)
    place = np.empty(len(trials.participant), dtype=int)
    for row, person in enumerate(trials.participant):
        n_before[person] += 1
        place[row] = n_before[person]
    shown = {name: trials.stimuli[part][trials.trial, side]
             for part, names in parts.items() for side, name in enumerate(names)}  # fmt: skip
    people = [f"{trials.experiment}-{person}" for person in trials.participant]
    return pd.DataFrame({"Vp": people, response: trials.response, "Platz": place, **shown})


def gambles_of(trials: Trials) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Pairs of gambles with counts of answers, a row each, and what the columns mean."""
    columns: dict[str, Any] = {}
    stimulus: dict[str, Any] = {}
    n_most = int((trials.stimuli["probabilities"] > 0).sum(axis=2).max())
    for side, key in enumerate("ab"):
        names = [[f"{word}{side}{place}" for place in range(n_most)] for word in ("pesos", "prob")]
        shown = trials.stimuli["probabilities"][:, side, :n_most] > 0
        for array, group in zip(("outcomes", "probabilities"), names, strict=True):
            values = np.where(shown, trials.stimuli[array][:, side, :n_most], np.nan)
            columns |= {name: values[:, place] for place, name in enumerate(group)}
        stimulus |= {f"{key}_amounts": names[0], f"{key}_probabilities": names[1]}
    for name in ("ambiguous", "correlation"):
        values = trials.stimuli[name]
        own = [f"{name}{place}" for place in range(values.shape[1])] if values.ndim == 2 else name
        columns |= dict(zip(own, values.T, strict=True)) if isinstance(own, list) else {own: values}
        stimulus[name] = own
    counts = trials.counts.sum(axis=0).astype(int)
    columns |= {"eligio_1": counts[:, 0], "eligio_2": counts[:, 1]}
    return pd.DataFrame(columns), stimulus


def mixed(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The same table with rows and columns in another order."""
    return frame.iloc[rng.permutation(len(frame))][list(rng.permutation(list(frame.columns)))]


def adopted(item: AdoptedSet, folder: Path) -> AdoptionResult:
    """Bring a file in, and compare it with what it was made from."""
    begun = time.perf_counter()
    found = adopt_file(
        folder / item.file, AnswerColumns(**item.columns), DOMAINS[item.domain]
    ).trials
    seconds = time.perf_counter() - begun
    return AdoptionResult(
        name=item.name,
        form=Path(item.file).suffix,
        n_answers=sum(trials.n_responses for trials in found),
        n_people=sum(trials.n_people for trials in found if not trials.pooled),
        n_trials=sum(len(trials.stimuli) for trials in found),
        n_words=n_words(item.columns),
        seconds=round(seconds, 2),
        equal=sorted(map(answers_of, found)) == sorted(map(answers_of, item.truth)),
    )


def answers_of(trials: Trials) -> list[tuple[bytes, tuple[float, ...]]]:
    """Each trial's counts of answers; of steps, each person's whole sequence."""
    if trials.feedback:
        shown = trials.sequences
        rewards = shown.feedback["reward"]
        return sorted(
            (row.tobytes(), tuple(own)) for row, own in zip(shown.response, rewards, strict=True)
        )
    # To nine digits: probabilities are made to sum to one each time that they are read.
    arrays = trials.stimuli.arrays.items()
    stimuli = Stimuli({name: np.round(np.asarray(array, float), 9) for name, array in arrays})
    counts = trials.counts.sum(axis=0)
    return sorted((key, tuple(counts[row])) for row, key in enumerate(stimuli.keys))


def n_words(value: Any) -> int:
    """Keys and values that somebody types."""
    if isinstance(value, Mapping):
        return sum(1 + n_words(item) for item in value.values())
    return sum(map(n_words, value)) if isinstance(value, list | tuple) else 1


def main() -> None:
    """Bring in all six, print a line each, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LAKATOS_DATA", "data")))
    data = parser.parse_args().data
    makers: list[Callable[[Path], Iterator[AdoptedSet]]] = [
        lambda place: published(place, data),
        synthetic,
    ]
    results = []
    with tempfile.TemporaryDirectory() as name:
        for make in makers:
            for item in make(Path(name)):
                results.append(adopted(item, Path(name)))
                print(results[-1], flush=True)
    value = {**provenance(), "seed": SEED, "sets": [asdict(item) for item in results]}
    RESULTS.write_text(json.dumps(value, indent=1) + "\n")
