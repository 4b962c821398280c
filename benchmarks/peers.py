"""How long Lakatos and other laboratories take for the same work, in one run.

    python benchmarks/run.py peers                           # benchmarks/raw/peers.json
    python benchmarks/run.py peers --adopy VENV/bin/python   # with adopy 0.4.1 itself, which needs NumPy below 1.24
    python benchmarks/run.py peers --parts simulation scoring

Where the other's program cannot be installed beside ours, its published algorithm is written down here as plainly as
it is published, and the line says so.

- ``simulation``: AutoCog's loop, one trial of one person at a time, beside the same theory of 1,000 people at a time in
  the sandbox (`benchmarks.theories.sandbox`); choices a second of one thread.
- ``scoring``: AutoCog's score of a candidate is a statistic of 50 simulated people on every experiment so far. Here
  nine candidates and ten experiments, with 96 choices of each person, 60 times; the median is told. The loop runs for
  two seconds, the rest is extrapolated.
- ``selection``: 32 of 10,000 trials for four rivals with 200 draws each: auto-psych's exact greedy search by the
  information that 1,000 simulated worlds give, of which some picks run, and all take the same work.
- ``fits``: GeCCo fits a theory to each person by L-BFGS-B from eight starts, on a likelihood that walks through the
  answers in Python; beside `fit_each_person`. Who reaches more is told, too.
- ``adaptive``: one person's next trial, beside adopy (`benchmarks.design`).

Processor seconds count every process that the work starts, sandboxes included, where a control group can be made.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.demonstration import ProcessorMeter
from benchmarks.design import part_adaptive, probabilities, uniform
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.sandbox import (
    DOMAIN,
    LIMITS,
    REPETITIONS,
    SETTINGS,
    people,
    per_second,
    plain_loop,
)
from lakatos.domains import FAMILIES
from lakatos.domains.learning.task import LearningDomain
from lakatos.experiments.design import choose_trials
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.person_fits import fit_each_person
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import Theory, read_program

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "peers.json"
PARTS = ("simulation", "scoring", "selection", "fits", "adaptive")
N_CANDIDATES, N_EXPERIMENTS, N_RUNS = 9, 10, 50
N_SCORINGS = 60
N_PICKS, N_WORLDS, N_CHUNK = 2, 1000, 256
N_STARTS, SEED = 8, 42

_meter: ProcessorMeter | None = None


def processor_seconds() -> float:
    """Of this process and all that it started."""
    return _meter.seconds() if _meter is not None else time.process_time()


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What ``work`` returns, its processor seconds and its seconds on the clock."""
    used, begun = processor_seconds(), time.perf_counter()
    found = work()
    return found, processor_seconds() - used, time.perf_counter() - begun


def part_simulation() -> dict[str, Any]:
    """Choices a second."""
    theory = read_program(FAMILIES["multiattribute"].program("weighted_additive"))
    theirs, ours = plain_loop(2.0), per_second(theory, 1000, 2.0, "kept process", n_threads=1)
    return {
        "peer": "AutoCog, its loop as published",
        "unit": "choices a second on the clock, one thread",
        "theirs": theirs,
        "ours": ours,
        "ratio": ours / theirs,
    }


def part_scoring() -> dict[str, Any]:
    """Nine candidates on ten experiments of 50 simulated people."""
    family, rng = FAMILIES["multiattribute"], np.random.default_rng(SEED)
    theories = [read_program(family.program(name)) for name in list(family.seeds)[:N_CANDIDATES]]
    theories = [theory for theory in theories if not theory.learns]
    space = DOMAIN.space(SETTINGS)
    stimuli = [space.take(rng.choice(len(space), 8, replace=False)) for _ in range(N_EXPERIMENTS)]

    def score() -> list[list[tuple[float, float]]]:
        with Sandbox(limits=LIMITS) as sandbox:
            return [scores_of(theory, sandbox, stimuli, rng) for theory in theories]

    score()  # the sandbox and the modules have started once
    with Sandbox(limits=LIMITS) as sandbox:
        sandbox.level  # noqa: B018  (starts it)
        times = [
            timed(lambda: [scores_of(theory, sandbox, stimuli, rng) for theory in theories])[1:]
            for _ in range(N_SCORINGS)
        ]
    used, elapsed = (float(median) for median in np.median(times, axis=0))
    n_choices = len(theories) * N_EXPERIMENTS * N_RUNS * 8 * REPETITIONS
    theirs = n_choices / plain_loop(2.0)
    return {
        "peer": "AutoCog, its loop as published, extrapolated by the number of choices",
        "unit": "seconds on the clock",
        "n_candidates": len(theories),
        "n_choices": n_choices,
        "theirs": theirs,
        "ours": elapsed,
        "ours_processor_s": used,
        "each_processor_and_clock_s": [[round(value, 4) for value in each] for each in times],
        "ratio": theirs / elapsed,
    }


def scores_of(
    theory: Theory, sandbox: Sandbox, stimuli: Sequence[Stimuli], rng: np.random.Generator
) -> list[tuple[float, float]]:
    """For each experiment the share of second options, over all answers, and its variance between people."""
    with sandbox.open_session(theory.program.source, [item.arrays for item in stimuli]) as session:
        answers = session.probabilities(people(theory, N_RUNS, rng))
    found = []
    for p in answers:
        chosen = rng.random((N_RUNS, REPETITIONS, p.shape[1])) < p[:, None, :, 1]
        shares = chosen.mean(axis=(1, 2))
        found.append((float(shares.mean()), float(shares.var())))
    return found


def part_selection() -> dict[str, Any]:
    """32 of 10,000 trials."""
    own, _ = probabilities(4, 200, 10_000)
    _, ours, elapsed = timed(
        lambda: choose_trials(
            own, uniform(4), n_trials=32, rng=np.random.default_rng(1), random_share=0
        )
    )
    p = [np.asarray(item[..., 0], dtype=np.float64) for item in own]
    _, theirs, _ = timed(lambda: greedy_by_worlds(p, N_PICKS))
    return {
        "peer": "auto-psych, its exact greedy search written anew; extrapolated from some picks",
        "unit": "processor seconds",
        "picks_that_ran": N_PICKS,
        "theirs": theirs * 32 / N_PICKS,
        "ours": ours,
        "ours_clock_s": elapsed,
        "ratio": theirs * 32 / N_PICKS / ours,
    }


def greedy_by_worlds(p: Sequence[Array], n_picks: int) -> list[int]:
    """Stimuli chosen one after the other by the expected entropy of which theory is right, over simulated worlds.

    A world is a theory, one of its draws, and that draw's answers to what was chosen so far. For each candidate and
    answer one matrix product sums a theory's draws, by the likelihood of the answers so far.
    """
    rng, n_theories = np.random.default_rng(SEED), len(p)
    p = [np.clip(item, 1e-12, 1 - 1e-12) for item in p]
    theory = rng.integers(n_theories, size=N_WORLDS)
    draw = rng.integers(len(p[0]), size=N_WORLDS)
    true = np.stack(p)[theory, draw]
    log_likelihood = [np.zeros((N_WORLDS, len(item))) for item in p]
    chosen: list[int] = []
    for _ in range(n_picks):
        highest = np.max([item.max(axis=1) for item in log_likelihood], axis=0)
        weight = [np.exp(item - highest[:, None]) for item in log_likelihood]
        expected = np.empty(p[0].shape[1])
        for start in range(0, len(expected), N_CHUNK):
            part = slice(start, start + N_CHUNK)
            entropy = np.zeros(true[:, part].shape)
            for answer in (True, False):
                joint = np.stack(
                    [w @ (q[:, part] if answer else 1 - q[:, part]) for w, q in zip(weight, p, strict=True)]
                )  # fmt: skip
                joint /= joint.sum(axis=0)
                own = -(joint * np.log2(np.maximum(joint, 1e-300))).sum(axis=0)
                entropy += own * (true[:, part] if answer else 1 - true[:, part])
            expected[part] = entropy.mean(axis=0)
        expected[chosen] = np.inf
        best = int(expected.argmin())
        chosen.append(best)
        first = rng.random(N_WORLDS) < true[:, best]
        for item, q in zip(log_likelihood, p, strict=True):
            item += np.where(first[:, None], np.log(q[:, best]), np.log1p(-q[:, best]))
    return chosen


def part_fits() -> dict[str, Any]:
    """Rescorla-Wagner, fitted to each of 25 people who learned for 60 steps."""
    domain, theory = LearningDomain(), read_program(FAMILIES["learning"].program("rescorla_wagner"))
    stimuli = domain.candidates(
        {"task": "reversal", "n_steps": 60}, np.random.default_rng(SEED), 60
    )
    with Laboratory(domain, n_workers=1) as laboratory:
        (trials,) = laboratory.simulate(
            [theory], stimuli, 25, np.random.default_rng(SEED), n_draws=32
        )
        fit_each_person(
            theory, [trials], laboratory
        )  # the sandbox and the modules have started once
        ours, used, elapsed = timed(lambda: fit_each_person(theory, [trials], laboratory))
    ranges = {name: (prior.low, prior.high) for name, prior in theory.priors.items()}
    theirs, their_use, their_clock = timed(lambda: fits_from_starts(trials, ranges))
    ahead = ours.log_likelihood - theirs
    return {
        "peer": "GeCCo, its fit written anew",
        "unit": "processor seconds for 25 people",
        "theirs": their_use,
        "theirs_clock_s": their_clock,
        "ours": used,
        "ours_clock_s": elapsed,
        "ratio": their_use / used,
        "nats_a_person_that_ours_reaches_beyond": float(ahead.mean()),
        "least_and_most": [float(ahead.min()), float(ahead.max())],
    }


def fits_from_starts(trials: Trials, ranges: Mapping[str, tuple[float, float]]) -> Array:
    """``(n_people,)`` log-likelihood of each person's best of eight bounded descents."""
    sequences, bounds = trials.sequences, list(ranges.values())
    low, high = np.array(bounds).T
    found = []
    for answers, rewards in zip(sequences.response, sequences.feedback["reward"], strict=True):
        rng = np.random.default_rng(SEED)
        starts = [(low + high) / 2, *(rng.uniform(low, high) for _ in range(N_STARTS - 1))]
        own = list(zip(answers.tolist(), rewards.tolist(), strict=True))
        losses = [
            minimize(
                lambda x: rescorla_wagner(own, **dict(zip(ranges, x, strict=True))),  # noqa: B023
                start,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": 500},
            ).fun
            for start in starts
        ]
        found.append(-min(losses))
    return np.array(found)


def rescorla_wagner(own: Sequence[tuple[int, float]], rate: float, sensitivity: float) -> float:
    """Negative log-likelihood of one person's picks of two options, trial by trial."""
    value, loss = [0.5, 0.5], 0.0
    for choice, reward in own:
        strength = np.exp(sensitivity * (np.array(value) - max(value)))
        loss -= np.log(max(strength[choice] / strength.sum(), 1e-12))
        value[choice] += rate * (reward - value[choice])
    return float(loss)


def adaptive(adopy: str) -> dict[str, Any]:
    """One person's next trial on the grids of adopy's documentation."""
    found = part_adaptive(adopy)
    first = next(iter(found.values()))
    line: dict[str, Any] = {
        "peer": "adopy 0.4.1 itself" if adopy else "adopy (not given)",
        "unit": "processor milliseconds a trial",
        "ours": first["ours"]["milliseconds_per_trial"],
        "parts": found,
    }
    if adopy:
        line |= {"theirs": first["adopy"]["milliseconds_per_trial"], "ratio": first["faster"]}
    return line


def table(result: Mapping[str, Any]) -> str:
    """A line for each part."""
    lines = []
    for name in PARTS:
        if (line := result.get(name)) is not None:
            theirs = f"{line['theirs']:,.4g}" if "theirs" in line else "not run"
            times = f"{line['ratio']:,.1f} times" if "ratio" in line else ""
            lines.append(
                f"{name:11s} {line['unit']:42s} theirs {theirs:>12s}  ours {line['ours']:>12,.4g}  {times}"
            )
    return "\n".join(lines)


def main() -> None:
    """Run parts and write each as it comes."""
    global _meter
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS)
    options.add_argument(
        "--adopy", default="", help="Python of an environment that has adopy 0.4.1, NumPy < 1.24."
    )
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "simulation": part_simulation,
        "scoring": part_scoring,
        "selection": part_selection,
        "fits": part_fits,
        "adaptive": lambda: adaptive(chosen.adopy),
    }
    kept = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    result = {**kept, **provenance(), "load_average": os.getloadavg()}
    try:
        _meter = ProcessorMeter()
    except SystemExit as error:
        print(f"{error}\nprocessor seconds are those of this process alone")
    if _meter is not None:
        _meter.enter()
    result["counts_all_processes"] = _meter is not None
    try:
        for name in chosen.parts:
            result[name] = ways[name]()
            chosen.out.parent.mkdir(parents=True, exist_ok=True)
            chosen.out.write_text(json.dumps(result, indent=1) + "\n")
            print(table({name: result[name]}), flush=True)
    finally:
        if _meter is not None:
            _meter.leave()
            _meter.close()
