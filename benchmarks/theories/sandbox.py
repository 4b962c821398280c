"""How many choices per second are simulated, sandbox included, and what a theory's process costs.

    python benchmarks/run.py theories/sandbox               # benchmarks/raw/theories/sandbox.json
    python benchmarks/run.py theories/sandbox --seconds 0.5 --people 25 1000 --out /tmp/sandbox.json

Weighted additive choice (WADD) on 8 trials with binary ratings, each presented 12 times to everybody in an order of
their own: 96 choices per person, each drawn for itself. People come in crowds of a given size, each crowd with new
parameters; the theory's process is kept (`TheoryCrowd`), or started anew for each crowd (`behave`). Two threads have a
sandbox each. For comparison: the same theory in AutoCog's form, one trial of one person at a time with
`np.random.choice`, here without any sandbox; and the same text imported by `import_autocog`, run in the sandbox draw by
draw.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.running.behave import TheoryCrowd, behave
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.doctor import COIN, probe
from lakatos.theories.engine.sandbox.session import SandboxLimits
from lakatos.theories.findings.exchange.autocog import import_autocog
from lakatos.theories.language.theory import Theory, read_program

DOMAIN = DOMAINS["multiattribute"]
SETTINGS = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1]}
N_TRIALS, REPETITIONS, SEED = 8, 12, 11
LIMITS = SandboxLimits(wall_seconds=600.0, cpu_seconds=120.0)
PREDICT = """
def predict(parameters, stimulus, history):
    ratings = np.asarray(stimulus, dtype=float)
    scores = ratings @ np.asarray(parameters["validities"])
    z = np.exp(parameters["beta"] * (scores - scores.max()))
    return (1 - parameters["epsilon"]) * z / z.sum() + parameters["epsilon"] / 2
"""
POLICY = """
def policy(probabilities):
    return np.random.choice(len(probabilities), p=probabilities)
"""
PEER = {
    "description": "Weighing: people add ratings weighted by validity, and sometimes press any key.",
    "predict_source": PREDICT,
    "policy_source": POLICY,
    "parameters": {"beta": "[0.1, 20.0]", "epsilon": "[0.0, 0.5]", "validities": "validities"},
}


def design() -> Stimuli:
    """Eight trials with binary ratings."""
    space = DOMAIN.space(SETTINGS)
    return space.take(np.random.default_rng(SEED).choice(len(space), N_TRIALS, replace=False))


def orders(n_people: int, rng: np.random.Generator) -> np.ndarray:
    """``(n_people, 96)`` trials in an order of each person's own."""
    rows = np.tile(np.arange(N_TRIALS, dtype=np.int64), REPETITIONS)
    distinct = rng.permuted(np.tile(rows, (min(n_people, 1000), 1)), axis=1)
    return np.resize(distinct, (n_people, len(rows)))


def people(theory: Theory, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Parameters drawn uniformly from the declared ranges."""
    return {name: rng.uniform(prior.low, prior.high, n) for name, prior in theory.priors.items()}


def rate(
    work: Callable[[np.random.Generator], int], seconds: float, rng: np.random.Generator
) -> tuple[int, float]:
    """Choices made by repeated ``work`` and the time it took, after one round that does not count."""
    work(rng)
    n, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        n += work(rng)
    return n, spent


def crowds(
    theory: Theory, n_people: int, seconds: float, rng: np.random.Generator, how: str
) -> tuple[int, float]:
    """Choices and seconds of one thread with a sandbox of its own."""
    stimuli, order = design(), orders(n_people, rng)
    with Sandbox(limits=LIMITS) as sandbox:
        sandbox.level  # noqa: B018  (starts it)
        if how == "new process":

            def anew(rng: np.random.Generator) -> int:
                own = people(theory, n_people, rng)
                return behave(theory, DOMAIN, sandbox, own, stimuli, order, rng).response.size

            return rate(anew, seconds, rng)
        if how == "counts":
            with sandbox.open_session(theory.program.source, [stimuli.arrays]) as session:

                def counted(rng: np.random.Generator) -> int:
                    (p,) = session.probabilities(people(theory, n_people, rng))
                    return rng.binomial(REPETITIONS, p[..., 1]).size * REPETITIONS

                return rate(counted, seconds, rng)
        with TheoryCrowd(theory, DOMAIN, sandbox, stimuli) as crowd:
            return rate(
                lambda rng: crowd.behave(people(theory, n_people, rng), order, rng).response.size,
                seconds,
                rng,
            )


def per_second(
    theory: Theory, n_people: int, seconds: float, how: str, n_threads: int = 2
) -> float:
    """Choices per second of some threads together."""
    generators = np.random.default_rng([SEED, n_people]).spawn(n_threads)
    with ThreadPoolExecutor(n_threads) as threads:
        found = list(
            threads.map(lambda rng: crowds(theory, n_people, seconds, rng, how), generators)
        )
    return sum(n / spent for n, spent in found)


def plain_loop(seconds: float) -> float:
    """Choices per second of AutoCog's form, one trial of one person at a time, in this process."""
    names: dict[str, Callable[..., np.ndarray]] = {}
    exec("import numpy as np" + PREDICT + POLICY, names)
    stimuli, rng = design(), np.random.default_rng(SEED)
    ratings, validities = stimuli["ratings"], stimuli["validities"]
    order = orders(25, rng)
    predict, policy = names["predict"], names["policy"]
    n, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        for person in order:
            parameters = {"beta": rng.uniform(0.1, 20), "epsilon": rng.uniform(0, 0.5)}
            history: dict[str, list[object]] = {"stimulus": [], "response": []}
            for trial in person:
                p = predict(
                    {**parameters, "validities": validities[trial]}, ratings[trial], history
                )
                history["stimulus"].append(ratings[trial])
                history["response"].append(policy(p))
                n += 1
    return n / spent


def calls() -> dict[str, dict[str, float]]:
    """Milliseconds, least and median, of a new theory and of warm calls with answers of several sizes."""
    constant = (
        "kept = {}\ndef choose(parameters, trials, xp):\n    shape = (len(parameters['x']), len(trials['x']))\n"
        "    if shape not in kept: kept[shape] = xp.full(shape, 0.5)\n    return kept[shape]\n"
    )

    def measured(work: Callable[[], object], times: int) -> dict[str, float]:
        spent = []
        for _ in range(times):
            begun = time.perf_counter()
            work()
            spent.append(1000 * (time.perf_counter() - begun))
        return {"least_ms": min(spent), "median_ms": statistics.median(spent)}

    found = {}
    one = {"x": np.zeros(1)}
    with Sandbox(limits=LIMITS) as sandbox:
        found["new theory"] = measured(
            lambda: sandbox.probabilities(COIN, one, [{"x": np.zeros(2)}]), 50
        )
        for n_draws, n_trials in ((1, 2), (512, 25), (512, 100), (512, 1000), (512, 4000)):
            draws = {"x": np.zeros(n_draws)}
            with sandbox.open_session(constant, [{"x": np.zeros(n_trials)}]) as session:
                found[f"{16e-6 * n_draws * n_trials:.3g} MB"] = measured(
                    lambda: session.probabilities(draws),  # noqa: B023
                    300,
                )
    return found


def main() -> None:
    """Measure, print and write."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--people", type=int, nargs="+", default=[25, 100, 1000, 10_000, 100_000, 1_000_000]
    )
    options.add_argument("--seconds", type=float, default=3.0, help="per measurement")
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "theories" / "sandbox.json"
    )
    chosen = options.parse_args()
    theory = read_program(FAMILIES["multiattribute"].program("weighted_additive"))
    result: dict[str, object] = {
        **provenance(),
        "seed": SEED,
        "load_average": os.getloadavg(),
        "probe": probe(),
    }
    result["calls"] = calls()
    for name, row in result["calls"].items():  # type: ignore[attr-defined]
        print(
            f"{name:>12s}: {row['least_ms']:.3f} ms at least, median {row['median_ms']:.3f} ms",
            flush=True,
        )
    loop = plain_loop(chosen.seconds)
    print(f"plain loop: {loop:,.0f} choices per second", flush=True)
    rates: dict[str, dict[str, float]] = {}
    for how in ("kept process", "new process", "counts"):
        rates[how] = {}
        for n_people in chosen.people:
            rates[how][str(n_people)] = own = per_second(theory, n_people, chosen.seconds, how)
            print(
                f"{how}, {n_people:9,d} people: {own / 1e6:8.2f} million per second, {own / loop:,.0f} x",
                flush=True,
            )
    single = per_second(theory, 10_000, chosen.seconds, "kept process", n_threads=1)
    print(f"one thread, 10,000 people: {single / 1e6:.2f} million per second")
    peers = {}
    with Sandbox(limits=LIMITS) as sandbox:
        looking_back = PREDICT.replace(
            "    ratings =", "    n_before = len(history)\n    ratings ="
        )
        for name, text in (("trial by trial", PREDICT), ("with history", looking_back)):
            peer = read_program(import_autocog({**PEER, "predict_source": text}, sandbox))
            for n_people in (25, 100):
                peers[f"{name}, {n_people} people"] = own = per_second(
                    peer, n_people, chosen.seconds, "kept process"
                )
                print(
                    f"peer, {name}, {n_people} people: {own:,.0f} per second, {own / loop:.1f} x",
                    flush=True,
                )
    result |= {
        "plain_loop_per_s": loop,
        "choices_per_s": rates,
        "one_thread_per_s": single,
        "peer_per_s": peers,
        "ratio_of_best": max(rates["kept process"].values()) / loop,
        "ratios_of_peer": {name: value / loop for name, value in peers.items()},
        "load_average_after": os.getloadavg(),
    }
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
