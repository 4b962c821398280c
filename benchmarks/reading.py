"""What it takes to read files of 10 thousand to a million rows: ``python benchmarks/run.py reading [--rows 10000]``.

Simulated responses of 1,000 participants: choices between money now and later, choices with rewards (also of 100
participants with long sequences, and of many with 100 responses each), and responses with their times. Each file is
described (`lakatos data describe`) and two or three published theories are scored on it (`lakatos theory score`, and
`lakatos.score` as a notebook calls it), with two workers: seconds of the processor, seconds on the clock, and the peak
memory, of the command and all processes that it starts (pages that they share count once). A cell that is in the JSON
is not run again; `--again` drops those of the sizes that are asked for.

``--floor`` measures what a walk of Rescorla-Wagner through responses costs, in nanoseconds for each draw and response:
of the laboratory, step by step and in machine code, and written by hand for this theory alone, in NumPy and in Numba.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numba import njit
from numpy.typing import NDArray

from benchmarks.memory_use import memory_mib, processor_s
from benchmarks.provenance import ROOT, provenance
from lakatos.domains.learning.task import LearningDomain, steps
from lakatos.experiments.task import Trials
from lakatos.theories.engine.running.sequence import log_likelihood_of_all
from lakatos.theories.engine.sandbox.client import NOTHING_YET, Sandbox
from lakatos.theories.language.family import find_family
from lakatos.theories.language.grammar import composition_of
from lakatos.theories.language.theory import read_program

Array = NDArray[Any]

RESULTS = ROOT / "benchmarks" / "raw" / "reading.json"
N_PEOPLE = 1_000
SEED = 3
SAMPLED_EVERY_S = 0.2
NOTEBOOK = "import lakatos, sys; print(lakatos.score(sys.argv[1], sys.argv[2:]))"


def two_options(rng: np.random.Generator, n_people: int, n_each: int) -> dict[str, Any]:
    """Choices between money now and later of people who discount hyperbolically."""
    rates = np.exp(rng.normal(-4.5, 1.0, (n_people, 1)))
    sensitivities = np.exp(rng.normal(-1.5, 0.4, (n_people, 1)))
    n_pairs = 2_000
    soon = rng.integers(5, 80, n_pairs)
    late, days = soon + rng.integers(1, 80, n_pairs), rng.integers(1, 365, n_pairs)
    pair = rng.integers(n_pairs, size=(n_people, n_each))
    gain = late[pair] / (1 + rates * days[pair]) - soon[pair]
    chosen = rng.random(pair.shape) < 1 / (1 + np.exp(-sensitivities * gain))
    return {
        "ss_amount": soon[pair], "ss_delay": np.zeros_like(pair), "ll_amount": late[pair],
        "ll_delay": days[pair], "choice": 1 * chosen,
    }  # fmt: skip


def learning(rng: np.random.Generator, n_people: int, n_each: int) -> dict[str, Any]:
    """Choices of people who learn which of two options pays more often."""
    chances = np.array([0.3, 0.7])
    rates, inverse_temperatures = rng.beta(2, 3, n_people), rng.gamma(4, 1, n_people)
    values, people = np.zeros((n_people, 2)), np.arange(n_people)
    chosen, won = np.zeros((2, n_people, n_each), dtype=np.int64)
    for step in range(n_each):
        ahead = inverse_temperatures * (values[:, 1] - values[:, 0])
        chosen[:, step] = rng.random(n_people) < 1 / (1 + np.exp(-ahead))
        won[:, step] = rng.random(n_people) < chances[chosen[:, step]]
        error = won[:, step] - values[people, chosen[:, step]]
        values[people, chosen[:, step]] += rates * error
    return {"choice": chosen, "reward": won}


def times(rng: np.random.Generator, n_people: int, n_each: int) -> dict[str, Any]:
    """Responses to congruent and incongruent trials, right or wrong, with their times."""
    congruent = rng.integers(2, size=(n_people, n_each))
    right = rng.random(congruent.shape) < np.where(congruent, 0.97, 0.92)
    own = rng.normal(0, 40, (n_people, 1))
    time_ms = 300 + rng.gamma(4, 50, congruent.shape) + 40 * (1 - congruent) + own
    return {
        "condition": np.where(congruent, "congruent", "incongruent"), "correct": 1 * right,
        "rt": time_ms.clip(210, 2_500).astype(int),
    }  # fmt: skip


Made = Callable[[np.random.Generator, int, int], dict[str, Any]]
TWO = ("rescorla_wagner", "two_rates")
KINDS: Mapping[str, tuple[Made, tuple[str, ...], Callable[[int], int]]]
KINDS = {
    "two options": (two_options, ("hyperbolic", "exponential"), lambda n_rows: N_PEOPLE),
    "learning": (learning, (), lambda n_rows: N_PEOPLE),
    "learning, two theories": (learning, TWO, lambda n_rows: N_PEOPLE),
    "learning, 100 participants, two theories": (learning, TWO, lambda n_rows: 100),
    "learning, 100 responses each, two theories": (learning, TWO, lambda n_rows: n_rows // 100),
    "times": (times, (), lambda n_rows: N_PEOPLE),
}
"""What writes the responses of a kind, the theories that are scored (all published ones where none is named), and how
many participants there are."""


def write_responses(path: Path, kind: str, n_rows: int) -> None:
    """A file with a row for each response."""
    made, _, people_of = KINDS[kind]
    n_people = people_of(n_rows)
    n_each = n_rows // n_people
    cells = made(np.random.default_rng(SEED), n_people, n_each)
    head = {
        "subject": np.repeat(np.arange(n_people), n_each),
        "trial": np.tile(np.arange(1, n_each + 1), n_people),
    }
    pd.DataFrame(head | {name: own.ravel() for name, own in cells.items()}).to_csv(
        path, index=False
    )


def by_hand_in_numpy(rate: Array, strictness: Array, chosen: Array, reward: Array) -> Array:
    """Log likelihood ``(n_draws, n_participants)`` of Rescorla-Wagner, for all draws and participants side by side."""
    values = np.full((2, len(rate), len(chosen)), 0.5)
    total = np.zeros(values.shape[1:])
    for step in range(chosen.shape[1]):
        second = chosen[:, step] == 1
        own = np.where(second, values[1], values[0])
        other = np.where(second, values[0], values[1])
        total -= np.log1p(np.exp(-strictness[:, None] * (own - other)))
        own += rate[:, None] * (reward[:, step] - own)
        values[0], values[1] = np.where(second, other, own), np.where(second, own, other)
    return total


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def by_hand_in_numba(rate: Array, strictness: Array, chosen: Array, reward: Array) -> Array:
    """The same, participant by participant, with draws side by side."""
    n_people, n_steps = chosen.shape
    total, values = np.zeros((n_people, len(rate))), np.empty((2, len(rate)))
    for person in range(n_people):
        values[:] = 0.5
        for step in range(n_steps):
            own, other = values[chosen[person, step]], values[1 - chosen[person, step]]
            for draw in range(len(rate)):
                ahead = strictness[draw] * (own[draw] - other[draw])
                total[person, draw] -= math.log(1 + math.exp(-ahead))
                own[draw] += rate[draw] * (reward[person, step] - own[draw])
    return total.T


def floor(n_steps: int = 100, n_draws: int = 64) -> dict[str, float]:
    """Nanoseconds for each draw and response of walks of Rescorla-Wagner; all find the same log likelihoods."""
    made = learning(np.random.default_rng(SEED), N_PEOPLE, n_steps)
    chosen, reward = made["choice"], made["reward"].astype(float)
    domain = LearningDomain()
    theory = read_program(find_family(domain).program("rescorla_wagner"))
    people = theory.population(n_draws)
    own = people["rate"], people["sensitivity"]
    rows = np.arange(N_PEOPLE * n_steps)
    trials = Trials(
        "x", steps(n_steps, 2), rows // n_steps, rows % n_steps, chosen.ravel(), np.ones_like(rows),
        N_PEOPLE, feedback={"reward": reward.ravel(), "next_state": np.zeros(len(rows))},
    )  # fmt: skip
    ways: dict[str, Callable[[], Array]] = {
        "NumPy, by hand": lambda: by_hand_in_numpy(*own, chosen, reward),
        "Numba, by hand": lambda: by_hand_in_numba(*own, chosen, reward),
    }
    found, answers = {}, []
    with (
        Sandbox() as sandbox,
        sandbox.open_session(NOTHING_YET, [], n_options=2, lint=False) as session,
    ):
        session.hold(find_family(domain).grammar.write_for(
            composition_of(theory.composition or {}, {}), [trials.stimuli]
        ))  # fmt: skip

        def walked(in_machine_code: bool) -> Array:
            session.walks_written = in_machine_code
            return log_likelihood_of_all(session, domain, people, [trials])

        ways["laboratory, step by step"] = lambda: walked(False)
        ways["laboratory, machine code"] = lambda: walked(True)
        for name, way in ways.items():
            answers.append(way())  # compiled
            used = time.perf_counter()
            way()
            found[name] = round((time.perf_counter() - used) / (len(rows) * n_draws) * 1e9, 1)
    low = own[1] < 20  # beyond, the laboratory takes no probability below `TINY` at face value
    for answer in answers[1:]:
        np.testing.assert_allclose(answer[low], answers[0][low], rtol=1e-9)
    return found


def measured(words: list[str]) -> dict[str, Any]:
    """Run a command to its end: seconds, and the peak memory of it and of all processes that it starts."""
    begun, most, spent = time.perf_counter(), 0.0, dict[int, float]()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen([sys.executable, *words], cwd=ROOT, stdout=out, stderr=out)
        while True:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            most = max(most, memory_mib(process.pid))
            spent |= processor_s(process.pid)
            time.sleep(SAMPLED_EVERY_S)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read()
    print(said[-600:], flush=True)
    return {
        "status": process.returncode,
        "processor_s": round(max(used.ru_utime + used.ru_stime, sum(spent.values())), 1),
        "clock_s": round(time.perf_counter() - begun, 1),
        "peak_mib": round(max(most, used.ru_maxrss / 1024)),
    }


def main() -> None:
    """Measure each size that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--commands", nargs="+", default=["describe", "score", "notebook"])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--floor", action="store_true")
    given = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cells": []}
    if given.floor:
        found["nanoseconds for each draw and response"] = floor()
        found |= provenance()
        RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        return
    asked = {(kind, n_rows) for kind in given.kinds for n_rows in given.rows}
    if given.again:
        found["cells"] = [c for c in found["cells"] if (c["kind"], c["rows"]) not in asked]
    there = {(cell["kind"], cell["rows"], cell["command"]) for cell in found["cells"]}
    command = ["-m", "lakatos.flows.commands.main"]
    with tempfile.TemporaryDirectory() as folder:
        for kind, n_rows in sorted(asked, key=lambda item: item[1]):
            file = Path(folder) / "responses.csv"
            write_responses(file, kind, n_rows)
            theories = KINDS[kind][1]
            commands = {
                "describe": [*command, "data", "describe", str(file)],
                "score": [*command, "theory", "score", str(file), *theories, "--workers", "2"],
                "notebook": ["-c", NOTEBOOK, str(file), *theories],
            }
            for name, words in commands.items():
                if name in given.commands and (kind, n_rows, name) not in there:
                    cell = {"kind": kind, "rows": n_rows, "command": name, **measured(words)}
                    found["cells"].append(cell)
                    found |= provenance()
                    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
