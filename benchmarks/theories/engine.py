"""What scoring theories on a million answers costs, how that grows, and what one more experiment costs.

    python benchmarks/run.py theories/engine                # benchmarks/raw/theories/engine.json
    python benchmarks/run.py theories/engine --responses 10000 100000 --repeats 1 --out /tmp/engine.json

Twenty published theories of multi-attribute choice, 512 draws each, are scored on experiments of 100 answers per
person, by `TheoryView.evidence` and `log_predictive`, as a campaign scores them. Processor seconds are those of the
laboratory and of the theories' processes together. Peak memory is the proportional set size of the process and all its
descendants.
The floor is the arithmetic of the matrix product at the speed that a large product reaches in the same run, and the
reading of all probabilities once at the speed of a copy.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from benchmarks.memory_use import memory_mib
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running.sequence import TINY
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.session import SandboxLimits
from lakatos.theories.engine.scoring.score import log_likelihood, log_predictive
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory, read_program

DOMAIN = DOMAINS["multiattribute"]
SETTINGS = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3, 4]}
N_THEORIES, N_DRAWS, N_TRIALS, SEED = 20, 512, 100, 7
LIMITS = SandboxLimits(wall_seconds=600.0, cpu_seconds=120.0)


def theories() -> list[Theory]:
    """Published theories, as their files are."""
    family = FAMILIES["multiattribute"]
    return [read_program(family.program(name)) for name in list(family.seeds)[:N_THEORIES]]


def experiments(n: int, n_people: int, rng: np.random.Generator) -> list[Trials]:
    """Experiments of ``N_TRIALS`` trials, each answered once by everybody."""
    space = DOMAIN.space(SETTINGS)
    size = n_people * N_TRIALS

    def one(index: int) -> Trials:
        stimuli: Stimuli = space.take(rng.choice(len(space), N_TRIALS, replace=False))
        person, trial = (
            np.repeat(np.arange(n_people), N_TRIALS),
            np.tile(np.arange(N_TRIALS), n_people),
        )
        return Trials(
            f"e{index}", stimuli, person, trial, rng.integers(0, 2, size), np.ones(size, dtype=int)
        )

    return [one(index) for index in range(n)]


def score(theory: Theory, trials: Sequence[Trials], sandbox: Sandbox) -> tuple[float, float]:
    """Nats per choice, averaged over experiments, and the processor seconds of the theory's process."""
    with TheoryView(theory, DOMAIN, sandbox, [item.stimuli for item in trials]) as view:
        evidence = view.evidence(theory.population(N_DRAWS), trials)
        scores = []
        while evidence:  # each experiment's probabilities go once they are scored
            scores.append(log_predictive(evidence.pop()).mean)
        return float(np.mean(scores)), view._session.processor_seconds


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Highest memory of this process and its descendants meanwhile, MiB."""
    seen, done = [memory_mib(os.getpid())], threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            seen[0] = max(seen[0], memory_mib(os.getpid()))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield seen
    done.set()
    watcher.join()


def cost(pool: Sequence[Theory], trials: Sequence[Trials], n_workers: int = 1) -> dict[str, float]:
    """Processor and wall seconds of scoring every theory on every experiment."""
    for item in trials:
        item.__dict__.pop("counts", None)
    local = threading.local()
    sandboxes: list[Sandbox] = []

    def one(theory: Theory) -> tuple[float, float]:
        return score(theory, trials, local.sandbox)

    def begin() -> None:
        local.sandbox = Sandbox(limits=LIMITS)
        local.sandbox.level  # noqa: B018  (starts it)
        sandboxes.append(local.sandbox)

    with ThreadPoolExecutor(n_workers, initializer=begin) as workers:
        list(workers.map(lambda _: time.sleep(0.1), range(n_workers)))
        own, wall = time.process_time(), time.perf_counter()
        results = list(workers.map(one, pool))
        own, wall = time.process_time() - own, time.perf_counter() - wall
    for sandbox in sandboxes:
        sandbox.close()
    inside = sum(seconds for _, seconds in results)
    return {
        "processor_s": own + inside,
        "laboratory_s": own,
        "theories_s": inside,
        "wall_s": wall,
        "mean_nats": float(np.mean([value for value, _ in results])),
    }


def learned_from(
    laboratory: Laboratory,
    pool: Sequence[Theory],
    starts: Sequence[Mapping[str, Prior]],
    trials: Sequence[Trials],
) -> list[dict[str, Prior]]:
    """People of theories of which none fails."""
    found = laboratory.people_of(pool, starts, trials)
    return [people for people in found if not isinstance(people, Exception)]


def one_more(pool: Sequence[Theory], trials: Sequence[Trials]) -> dict[str, float]:
    """Seconds on the clock of what a campaign does before and when the last of many experiments arrives."""
    clock = time.perf_counter
    with Laboratory(DOMAIN, n_workers=2) as laboratory:
        begun = clock()
        first = learned_from(laboratory, pool, [{}] * len(pool), trials[:-1])
        before = clock()
        people = learned_from(laboratory, pool, first, trials)
        learned = clock()
        fitted = [theory.with_people(own) for theory, own in zip(pool, people, strict=True)]
        laboratory.scores_of(fitted, trials, N_DRAWS)
        scored = clock()
    return {
        "n_experiments": len(trials),
        "all_before_s": before - begun,
        "learning_s": learned - before,
        "scoring_s": scored - learned,
    }


def parts(trials: Sequence[Trials]) -> dict[str, float]:
    """Processor seconds of logarithms, matrix product and integration for one theory, and of their floor."""
    rng = np.random.default_rng(SEED)
    p = rng.random((N_DRAWS, N_TRIALS, 2))
    p /= p.sum(axis=-1, keepdims=True)
    counts = [item.counts for item in trials]

    def seconds(work: object) -> float:
        begun = time.process_time()
        for table in counts:
            work(table)  # type: ignore[operator]
        return time.process_time() - begun

    log_p = np.log(np.maximum(p, TINY)).reshape(N_DRAWS, -1)
    product = min(seconds(lambda table: log_p @ table.reshape(len(table), -1).T) for _ in range(3))
    both = min(seconds(lambda table: log_likelihood(p, table)) for _ in range(3))
    square = rng.random((1500, 1500))
    speed = 2 * 1500**3 / min(_processor(lambda: square @ square) for _ in range(3))
    block = np.zeros(2**24)
    bandwidth = block.nbytes / min(_processor(block.copy) for _ in range(3))
    flops = sum(2.0 * N_DRAWS * N_TRIALS * 2 * len(table) for table in counts)
    n_bytes = 8.0 * N_DRAWS * N_TRIALS * 2 * len(counts)
    return {
        "product_s": product,
        "logarithms_s": both - product,
        "flops": flops,
        "bytes": n_bytes,
        "flops_per_s": speed,
        "bytes_per_s": bandwidth,
        "floor_s": flops / speed + n_bytes / bandwidth,
    }


def _processor(work: object) -> float:
    begun = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - begun


def growth(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """How processor seconds grow with answers.

    Returns:
        Fixed cost and cost per million answers by weighted least squares (errors are a share of the time), the largest
        departure from that line as a share of the time, and for comparison the exponent by least squares on logarithms,
        with a 95% interval, which a fixed cost pulls below 1.
    """
    n, seconds = (np.array([row[name] for row in rows]) for name in ("n_responses", "processor_s"))
    x, y = np.log(n) - np.log(n).mean(), np.log(seconds)
    slope = float((x * y).sum() / (x**2).sum())
    residual = y - y.mean() - slope * x
    free = len(rows) - 2
    error = float(np.sqrt((residual**2).sum() / free / (x**2).sum())) if free > 0 else float("nan")
    half = float(student.ppf(0.975, free)) * error if free > 0 else float("nan")
    design = np.stack([np.ones(len(n)), n / 1e6], axis=1)
    line = np.linalg.lstsq(design / seconds[:, None], np.ones(len(n)), rcond=None)[0]
    return {
        "fixed_s": float(line[0]),
        "s_per_million": float(line[1]),
        "largest_departure": float(np.abs(design @ line / seconds - 1).max()),
        "exponent": slope,
        "low": slope - half,
        "high": slope + half,
    }


def main() -> None:
    """Measure, print and write."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--responses", type=int, nargs="+", default=[10_000, 30_000, 100_000, 300_000, 1_000_000]
    )
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "theories" / "engine.json"
    )
    chosen = options.parse_args()
    pool, rng = theories(), np.random.default_rng(SEED)
    most = max(chosen.responses)
    result: dict[str, object] = {
        **provenance(),
        "seed": SEED,
        "load_average": os.getloadavg(),
        "n_theories": len(pool),
        "n_draws": N_DRAWS,
        "n_trials": N_TRIALS,
    }
    trials = experiments(max(most // 10_000, 1) + 1, 100, rng)
    rows = []
    for n in chosen.responses:
        for _ in range(chosen.repeats):
            rows.append({"n_responses": n, **cost(pool, trials[: n // 10_000])})
            print(
                f"{n:9,d} answers of 100 people: {rows[-1]['processor_s']:.2f} s of processor time",
                flush=True,
            )
    result["growth_rows"], result["growth"] = rows, growth(rows)
    print("growth:", {name: round(value, 3) for name, value in growth(rows).items()})
    large = [row for row in rows if row["n_responses"] >= most / 10]
    if len({row["n_responses"] for row in large}) > 1:
        result["growth_of_large"] = growth(large)
        print(
            "growth of the upper tenth:",
            {name: round(value, 3) for name, value in growth(large).items()},
        )
    with peak_memory() as peak:
        whole = cost(pool, trials[: most // 10_000], n_workers=2)
    result["two_workers"] = whole | {"peak_mib": peak[0]}
    print(f"two workers: {whole['wall_s']:.2f} s, peak {peak[0]:.0f} MiB")
    shapes = []
    for n_people in (25, 1000, 10_000):
        own = experiments(max(most // (n_people * N_TRIALS), 1), n_people, rng)
        with peak_memory() as peak:
            shapes.append(
                {
                    "n_people": n_people,
                    "n_experiments": len(own),
                    **cost(pool, own),
                    "peak_mib": peak[0],
                }
            )
        print(
            f"{len(own)} x {n_people} people: {shapes[-1]['processor_s']:.2f} s, peak {peak[0]:.0f} MiB",
            flush=True,
        )
    result["shapes"] = shapes
    share = parts(trials[: most // 10_000])
    product, floor = (len(pool) * share[name] for name in ("product_s", "floor_s"))
    total = min(row["processor_s"] for row in rows if row["n_responses"] == most)
    result["parts"] = share | {
        "share_in_product": product / total,
        "times_the_floor": total / floor,
    }
    print(
        f"matrix product {product:.2f} s of {total:.2f} s, {product / total:.0%}; floor {floor:.2f} s"
    )
    one = min(
        (cost(pool, trials[-1:]) for _ in range(chosen.repeats)), key=lambda row: row["processor_s"]
    )
    result["one_more_experiment"] = one | {
        "share_of_all": one["processor_s"] / total,
        "how": "library call",
    }
    print(f"one more experiment: {one['processor_s']:.2f} s, {one['wall_s']:.2f} s on the clock")
    result["arrival"] = arrival = one_more(pool, trials)
    print(
        "an experiment arrives:",
        {name: round(value, 3) for name, value in arrival.items()},
        flush=True,
    )
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(
        json.dumps(result | {"load_average_after": os.getloadavg()}, indent=1) + "\n"
    )
