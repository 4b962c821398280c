"""How often is a judge replaced that should not be, and how often one that should? The gate beside other rules.

    python benchmarks/judges/gate.py         # resumes where it stopped; benchmarks/results/judges/gate.json

Every judge is right with a probability of its own; items are hard or easy for all judges (a latent correlation), and
come alone or in clusters of four. *Null*: all challengers are exactly as good as the incumbent; any replacement in ten
checkpoints is false. *Power*: one challenger is better by so much, at one checkpoint. *Progress*: challengers are the
incumbent plus a normal change, and what counts is the true accuracy after ten checkpoints.

Rules: naive (a higher share on the anchor), published (arXiv 2606.26294: a higher lower quantile), the exact test at
.05 without correction, ours `working` (selected on dev, exact test at .05 on confirm, floor), ours `certified`
(spending over tests), and the same with an e value. The rules read right and wrong answers only, so the benchmark calls
the gate's tests on simulated ones; `tests/judges/test_gate.py` holds the records to the same verdicts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.stats import norm  # noqa: E402

from benchmarks.provenance import provenance  # noqa: E402
from lakatos.experiments.power import wilson_interval  # noqa: E402
from lakatos.judges.gate import CERTIFIED, WORKING  # noqa: E402
from lakatos.judges.ledger import AlphaSpending, FalseDiscovery, Ledger  # noqa: E402
from lakatos.judges.paired import (  # noqa: E402
    betting_e_values,
    exact_p,
    leak_p,
    minimum_detectable_gain,
    mixture_e_value,
    published_rule,
    sign_flip_p,
)

RESULT = ROOT / "benchmarks" / "results" / "judges" / "gate.json"
N_CHECKPOINTS, START, CORRELATION = 10, 0.75, 0.5
DEV = 0.25
"""Share of the anchor on which one of several challengers is selected."""
MORE = 10
"""Times as many seeds where a small share is what is claimed."""
Rule = Callable[[np.ndarray, np.ndarray, "State"], int | None]


class State:
    """What a rule remembers between checkpoints."""

    def __init__(
        self, n: int, cluster: int, rng: np.random.Generator, ledger: Ledger | None = None
    ) -> None:
        self.ledger, self.rng, self.clusters = ledger, rng, np.arange(n) // cluster
        self.is_alone = cluster == 1
        # Clusters stay together in dev or confirm.
        self.dev = rng.permutation(self.clusters.max() + 1)[self.clusters] < DEV * (
            self.clusters.max() + 1
        )
        self.gains: list[tuple[float, float]] = []


def answers(
    accuracy: np.ndarray, items: np.ndarray, rng: np.random.Generator, correlation: float
) -> np.ndarray:
    """``(n_judges, n_items)`` right answers; ``items`` are the latent difficulties, standard normal."""
    noise = rng.normal(size=(len(accuracy), len(items)))
    latent = np.sqrt(correlation) * items + np.sqrt(1 - correlation) * noise
    return latent < norm.ppf(accuracy)[:, None]


def counts(right: np.ndarray) -> tuple[int, int]:
    return int(right.sum()), int((~right).sum())


def naive(incumbent: np.ndarray, challengers: np.ndarray, state: State) -> int | None:
    totals = challengers.sum(axis=1)
    best = int(np.argmax(totals))
    return best if totals[best] > incumbent.sum() else None


def published(incumbent: np.ndarray, challengers: np.ndarray, state: State) -> int | None:
    return published_rule(counts(incumbent), [counts(right) for right in challengers])


def p_of(incumbent: np.ndarray, challenger: np.ndarray, state: State, kept: np.ndarray) -> float:
    gains = challenger[kept].astype(float) - incumbent[kept]
    if state.is_alone:
        return exact_p(int((gains > 0).sum()), int((gains < 0).sum()))
    return sign_flip_p(gains, state.clusters[kept].tolist(), rng=state.rng)


def uncorrected(incumbent: np.ndarray, challengers: np.ndarray, state: State) -> int | None:
    everything = np.ones(len(incumbent), dtype=bool)
    found = [p_of(incumbent, right, state, everything) for right in challengers]
    return int(np.argmin(found)) if min(found) <= 0.05 else None


def select(challengers: np.ndarray, state: State) -> tuple[int, np.ndarray]:
    """The challenger to test, and the items to test it on; with one challenger nothing is selected."""
    if len(challengers) == 1:
        return 0, np.ones(challengers.shape[1], dtype=bool)
    return int(np.argmax(challengers[:, state.dev].sum(axis=1))), ~state.dev


def working(incumbent: np.ndarray, challengers: np.ndarray, state: State) -> int | None:
    best, kept = select(challengers, state)
    gain = (challengers[best, kept].sum() - incumbent[kept].sum()) / kept.sum()
    passed = (
        p_of(incumbent, challengers[best], state, kept) <= WORKING.working_level
        and gain >= WORKING.floor
    )
    return best if passed else None


def expected_gain(incumbent: np.ndarray, challengers: np.ndarray, state: State) -> int | None:
    """Working tier by empirical Bayes: replace where the expected gain is above .01, given all gains seen so far."""
    differences = challengers.astype(float) - incumbent
    for row in differences:
        state.gains.append((float(row.mean()), float(row.var(ddof=1) / len(row)) + 1e-9))
    mean, error = np.array(state.gains).T
    # Two pseudo-observations of no gain with standard deviation .04; the variance has a floor.
    center = mean.sum() / (len(mean) + 2)
    spread = max((((mean - center) ** 2 - error).sum() + 2 * 0.04**2) / (len(mean) + 2), 0.01**2)
    own = mean[-len(challengers) :], error[-len(challengers) :]
    posterior = (own[0] * spread + center * own[1]) / (spread + own[1])
    best = int(np.argmax(posterior))
    return best if posterior[best] > 0.01 else None


def certified(evidence: str) -> Rule:
    def decide(incumbent: np.ndarray, challengers: np.ndarray, state: State) -> int | None:
        best, kept = select(challengers, state)
        assert state.ledger is not None
        level = state.ledger.level
        gains = challengers[best, kept].astype(float) - incumbent[kept]
        wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
        if evidence == "exact":
            convincing = p_of(incumbent, challengers[best], state, kept) <= level
        elif evidence == "mixture":
            convincing = mixture_e_value(wins, losses) >= 1 / level
        else:
            convincing = betting_e_values(gains[gains != 0]).max(initial=1.0) >= 1 / level
        replaces = bool(convincing and gains.mean() >= CERTIFIED.floor)
        state.ledger = state.ledger.debit(level, replaced=replaces)
        return best if replaces else None

    return decide


RULES: dict[str, tuple[Rule, Callable[[], Ledger] | None]] = {
    "naive": (naive, None),
    "published": (published, None),
    "exact, uncorrected": (uncorrected, None),
    "working": (working, None),
    "working, expected gain": (expected_gain, None),
    "certified": (certified("exact"), AlphaSpending),
    "certified, e mixture": (certified("mixture"), AlphaSpending),
    "certified, e bets": (certified("bets"), AlphaSpending),
    "certified, e-LOND": (certified("mixture"), FalseDiscovery),
}
LONE = ("certified, e mixture", "certified, e bets", "certified, e-LOND")
"""Rules that take items for independent; with clusters they are not offered."""


def campaign(
    name: str,
    n: int,
    k: int,
    seed: int,
    change: Callable[..., np.ndarray],
    correlation: float,
    cluster: int,
) -> dict[str, Any]:
    """Ten checkpoints on one anchor."""
    rng = np.random.default_rng([seed, n, k, cluster, int(100 * correlation)])
    rule, ledger = RULES[name]
    state = State(n, cluster, rng, ledger() if ledger else None)
    items = rng.normal(size=-(-n // cluster))[np.arange(n) // cluster]
    truth = START
    incumbent = answers(np.array([truth]), items, rng, correlation)[0]
    start = incumbent.mean()
    replaced, worse = 0, 0
    for _ in range(N_CHECKPOINTS):
        accuracy = np.clip(change(truth, k, rng), 0.01, 0.99)
        right = answers(accuracy, items, rng, correlation)
        chosen = rule(incumbent, right, state)
        if chosen is not None:
            replaced += 1
            worse += accuracy[chosen] <= truth
            truth, incumbent = float(accuracy[chosen]), right[chosen]
    return {
        "truth": truth,
        "replaced": replaced,
        "false": worse,
        "inflation": float(incumbent.mean() - truth),
        "start": float(start),
    }


def same(truth: float, k: int, rng: np.random.Generator) -> np.ndarray:
    return np.full(k, truth)


class Around:
    """Challengers are the incumbent plus a normal change."""

    def __init__(self, mean: float) -> None:
        self.mean = mean

    def __call__(self, truth: float, k: int, rng: np.random.Generator) -> np.ndarray:
        """``(k,)`` accuracies."""
        return truth + rng.normal(self.mean, 0.04, size=k)


def wilson(k: int, n: int) -> list[float]:
    return [round(end, 4) for end in wilson_interval(k, n)]


def null_cell(
    name: str, n: int, k: int, correlation: float, cluster: int, n_seeds: int
) -> dict[str, Any]:
    begun = time.perf_counter()
    runs = [campaign(name, n, k, seed, same, correlation, cluster) for seed in range(n_seeds)]
    any_false = sum(run["replaced"] > 0 for run in runs)
    return {
        "part": "null", "rule": name, "n": n, "k": k, "correlation": correlation, "cluster": cluster,
        "n_seeds": n_seeds,
        "false": any_false / n_seeds, "interval": wilson(any_false, n_seeds),
        "replacements": float(np.mean([run["replaced"] for run in runs])),
        "inflation": float(np.mean([run["inflation"] for run in runs])),
        "seconds": round(time.perf_counter() - begun, 1),
    }  # fmt: skip


def power_cell(name: str, n: int, k: int, gain: float, n_seeds: int) -> dict[str, Any]:
    """One checkpoint: the last challenger is better by ``gain``, the others as good as the incumbent."""
    begun = time.perf_counter()
    installed, calls = 0, []
    rule, ledger = RULES[name]
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, n, k, int(1000 + 100 * gain)])
        state = State(n, 1, rng, ledger() if ledger else None)
        items = rng.normal(size=n)
        right = answers(
            np.array([START, *[START] * (k - 1), START + gain]), items, rng, CORRELATION
        )
        installed += rule(right[0], right[1:], state) == k - 1
        if name == "certified, e bets":
            signs = right[-1].astype(float) - right[0]
            wealth = betting_e_values(signs)
            reached = np.flatnonzero(wealth >= 20)
            calls.append(int(reached[0]) + 1 if len(reached) else n)
    row = {
        "part": "power", "rule": name, "n": n, "k": k, "gain": gain, "n_seeds": n_seeds, "power": installed / n_seeds,
        "interval": wilson(installed, n_seeds), "seconds": round(time.perf_counter() - begun, 1),
    }  # fmt: skip
    if calls:
        row["mean_calls_at_05"] = float(np.mean(calls))
        row["reached_at_05"] = float(np.mean(np.array(calls) < n))
    return row


def progress_cell(name: str, n: int, k: int, mean: float, n_seeds: int) -> dict[str, Any]:
    begun = time.perf_counter()
    runs = [campaign(name, n, k, seed, Around(mean), CORRELATION, 1) for seed in range(n_seeds)]
    truth = np.array([run["truth"] for run in runs])
    below = int((truth < START).sum())
    return {
        "part": "progress", "rule": name, "n": n, "k": k, "mean": mean, "n_seeds": n_seeds,
        "final": float(truth.mean()), "final_error": float(truth.std(ddof=1) / np.sqrt(n_seeds)),
        "worst": float(truth.min()), "below_start": below / n_seeds, "below_interval": wilson(below, n_seeds),
        "replacements": float(np.mean([run["replaced"] for run in runs])),
        "seconds": round(time.perf_counter() - begun, 1),
    }  # fmt: skip


def leak_cell(n: int, n_seeds: int) -> dict[str, Any]:
    """Two judges of the same worth: one has seen the labels of confirm. Either's answers there against the vault's."""
    fired = {"saw confirm": 0, "honest": 0}
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, n, 7])
        honest, vault = (int(rng.binomial(size, START)) for size in (n, 2 * n // 5))
        for name, right in (("saw confirm", n), ("honest", honest)):
            fired[name] += leak_p(right, n, vault, 2 * n // 5) <= 0.01
    return {
        "part": "leak",
        "n": n,
        "n_seeds": n_seeds,
        **{name: k / n_seeds for name, k in fired.items()},
    }


def cells(n_seeds: int) -> list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]]:
    wanted: list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = []
    for name, n, k in product(RULES, (100, 400), (1, 5)):
        for correlation, cluster in ((0.0, 1), (0.5, 1), (0.8, 1), (0.5, 4)):
            if cluster > 1 and (name in LONE or n == 100):
                continue
            few = (
                max(n_seeds // 4, 100)
                if cluster > 1
                else n_seeds * (MORE if name == "certified" else 1)
            )
            wanted.append((null_cell, (name, n, k, correlation, cluster, few)))
    wanted += [
        (power_cell, (name, n, k, gain, n_seeds))
        for name, n, k, gain in product(RULES, (200, 400, 800), (1, 5), (0.05, 0.1, 0.15, -0.1))
    ]
    wanted += [
        (
            progress_cell,
            (name, n, 5, mean, n_seeds * (MORE // 2 if name.startswith("working") else 1)),
        )
        for name in RULES
        for n, mean in ((100, -0.1), (100, -0.03), (400, -0.1), (400, -0.03), (400, 0.0))
    ]
    return [*wanted, (leak_cell, (200, n_seeds))]


def main() -> None:
    """Compute all cells and print the tables."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=400)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    rows: list[dict[str, Any]] = (
        json.loads(chosen.out.read_text())["rows"] if chosen.out.exists() else []
    )
    done = {row["cell"] for row in rows}
    detectable = {
        f"n={n}, test {t}": minimum_detectable_gain(n, 0.25, 0.05 * 6 / (np.pi * t) ** 2, 0.02)
        for n in (200, 400, 800)
        for t in (1, 5, 10)
    }
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    for function, arguments in cells(chosen.seeds):
        name = f"{function.__name__}{arguments}"
        if name in done:
            continue
        rows.append({"cell": name, **function(*arguments)})
        result = {**provenance(), "minimum_detectable": detectable, "rows": rows}
        chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    print(
        "any false replacement in 10 checkpoints (n=100 k=1, k=5; n=400 k=1, k=5; correlation .5), largest of all cells"
    )
    for name in RULES:
        own = [row for row in rows if row["part"] == "null" and row["rule"] == name]
        shown = [row["false"] for row in own if row["correlation"] == 0.5 and row["cluster"] == 1]
        print(
            f"{name:24s}",
            " ".join(f"{value:.3f}" for value in shown),
            f"  largest {max(row['false'] for row in own):.3f}",
        )
    print("power at +.10 (n=200, 400, 800; k=1 | k=5)")
    for name in RULES:
        own = {
            (row["n"], row["k"]): row["power"]
            for row in rows
            if row["part"] == "power" and row["rule"] == name and row["gain"] == 0.1
        }
        print(f"{name:24s}", " ".join(f"{own[n, k]:.3f}" for k in (1, 5) for n in (200, 400, 800)))
    print("final accuracy / below start (n=100: -.10, -.03; n=400: -.10, -.03, 0)")
    for name in RULES:
        own = [row for row in rows if row["part"] == "progress" and row["rule"] == name]
        print(
            f"{name:24s}", "  ".join(f"{row['final']:.3f}/{row['below_start']:.3f}" for row in own)
        )


if __name__ == "__main__":
    main()
