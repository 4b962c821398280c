"""Design search: processor time, memory, what is gained by searching, and whether promised power is kept.

    python benchmarks/run.py design                           # benchmarks/raw/design.json
    python benchmarks/run.py design --adopy VENV/bin/python   # and adopy beside it, from an environment of its own
    python benchmarks/run.py design --parts select power      # some parts only; the others stay as they are

Parts:

- ``select``: 8 trials from 10,000 of the risky domain for 8 rivals with 512 draws each, beside a plain implementation
  of the same formula, which enumerates the ways to answer every candidate batch anew. The plain one runs on some of the
  candidates, on which both must choose the same trials, and its time is extrapolated in proportion to the candidates.
- ``batches``: 32 trials for 4 rivals with 200 draws, from 10,000 and from 122,760 candidates, lazy and not.
- ``gain``: information of the 8 trials against random ones and against the best of 1,000 random designs, exact.
- ``power``: power promised by the search's own simulation against the share of 500 simulated studies in which the
  analysis names the generating theory; those people are no draws that the search knew, and answer in the sandbox.
- ``adaptive``: one person's next trial over grids of parameters, on the task of choice under risk and ambiguity with
  the grids of adopy's documentation, and on a large grid; the same computation as adopy's, and adopy itself.

Memory is the peak resident size of a process of its own, the arrays that it is given included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from benchmarks.provenance import ROOT, RUNNER, provenance
from lakatos.experiments.design import choose_trials
from lakatos.experiments.information import BLOCK, information_of_batch, p_log_p, with_last

Array = NDArray[Any]
RESULT = ROOT / "benchmarks" / "raw" / "design.json"
RIVALS = (
    "expected_value",
    "expected_utility",
    "rank_dependent_utility",
    "cumulative_prospect_theory",
    "transfer_of_attention",
    "regret",
    "salience",
    "priority_heuristic",
)
SPACE = {"amounts": [0, 1, 2, 3, 5, 8, 12, 20, 30, 50], "n_outcomes": 3}
N_PLAIN = 24
"""Candidates on which the plain implementation runs."""
PARTS = ("select", "batches", "gain", "power", "adaptive")
REWARDS = (10, 15, 21, 31, 45, 66, 97, 141, 206, 300)
AMBIGUOUS = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75)
GRIDS = {"documented": (11, 11, 11), "large": (31, 31, 21)}
"""Values of risk attitude, ambiguity attitude and inverse temperature."""
N_ADAPTIVE = 20
"""Trials of each adaptive run."""


def information_about_people(outcomes: NDArray[np.float32], weights: Array) -> Array:
    """Mutual information between the draws of one theory and the answer to each trial: what it says about a person.

    For choosing one person's next trial in the course of an experiment, with the weights that the answers so far give.

    Args:
        outcomes: ``(n_outcomes - 1, n_draws, n_trials)`` probabilities of all answers but the last.
        weights: ``(n_draws,)`` summing to 1.

    Returns:
        ``(n_trials,)`` nats, in single precision.
    """
    n_draws, n_trials = outcomes.shape[1:]
    own = np.asarray(weights, dtype=np.float32)
    marginal = np.stack(with_last([own @ part for part in outcomes]))
    value = np.asarray(entr(marginal.astype(np.float64)).sum(axis=0))
    n_rows = max(1, BLOCK * 256 // n_trials)
    for start in range(0, n_draws, n_rows):
        rows = slice(start, start + n_rows)
        for part in with_last(list(outcomes[:, rows])):
            value += own[rows] @ p_log_p(part)
    return value


def probabilities(n_rivals: int, n_draws: int, n_candidates: int) -> tuple[list[Array], float]:
    """Choice probabilities of risky theories in single precision, and the seconds that the theories took."""
    from lakatos.domains import DOMAINS, FAMILIES
    from lakatos.theories.engine.laboratory import Laboratory
    from lakatos.theories.language.theory import read_program

    domain, family = DOMAINS["risky"], FAMILIES["risky"]
    stimuli = domain.candidates(SPACE, np.random.default_rng(1), n_candidates)
    assert len(stimuli) == n_candidates
    found = []
    begun = time.perf_counter()
    with Laboratory(domain, n_workers=1) as laboratory:
        for name in RIVALS[:n_rivals]:
            theory = read_program(family.program(name))
            own = np.empty((n_draws, n_candidates, 2), dtype=np.float32)
            for start in range(0, n_candidates, 4096):
                rows = range(start, min(start + 4096, n_candidates))
                own[:, start : start + len(rows)] = laboratory.answers_of(
                    [theory], [stimuli.take(rows)], n_draws
                )[0][0]
            found.append(own)
    return found, time.perf_counter() - begun


def peak_mib() -> float:
    """Largest resident size of this process so far; what its parent used does not count, as in `getrusage` it does."""
    line = next(
        line
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        if line.startswith("VmHWM")
    )
    return int(line.split()[1]) / 1024


def uniform(n: int) -> Array:
    """Log prior."""
    return np.full(n, -np.log(n))


def search_stored(folder: Path, n_trials: int, lazy: bool) -> dict[str, Any]:
    """Choose among stored probabilities, in a process of its own."""
    stored = [np.load(path) for path in sorted(folder.glob("*.npy"))]
    given = peak_mib()
    begun = time.process_time()
    found = choose_trials(
        stored,
        uniform(len(stored)),
        n_trials=n_trials,
        rng=np.random.default_rng(1),
        random_share=0,
        lazy=lazy,
    )
    return {
        "processor_seconds": round(time.process_time() - begun, 3),
        "peak_mib": round(peak_mib(), 1),
        "peak_mib_before": round(given, 1),
        "rows": list(found.rows),
        "information": found.total,
        "n_proved": found.n_proved,
    }


def in_own_process(arguments: list[str], python: str = sys.executable) -> Any:
    """What a call of this benchmark prints."""
    limits = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, **limits},
    )
    return json.loads(done.stdout.splitlines()[-1])


def searched(own: list[Array], n_trials: int, *, lazy: bool = True) -> Any:
    """`search_stored` in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for place, array in enumerate(own):
            np.save(Path(folder) / f"{place:02d}.npy", array)
        return in_own_process(
            [str(RUNNER), "design", "--child", folder, str(n_trials), str(int(lazy))]
        )


def plain_information(own: list[Array], rows: list[int]) -> float:
    """Mutual information between theory and the answers to a batch, written down as the formula stands."""
    joint = []
    for p in own:
        likelihood = np.ones((1, len(p)))
        for row in rows:
            likelihood = np.concatenate(
                [likelihood * p[:, row, answer] for answer in range(p.shape[2])]
            )
        joint.append(likelihood.mean(axis=1))
    table = np.array(joint)
    return float(entr(table.mean(axis=0)).sum() - entr(table).sum(axis=1).mean())


def plain_greedy(own: list[Array], n_trials: int) -> list[int]:
    """Greedy choice with `plain_information` of every candidate batch."""
    chosen: list[int] = []
    for _ in range(n_trials):
        rest = [row for row in range(own[0].shape[1]) if row not in chosen]
        chosen.append(max(rest, key=lambda row: plain_information(own, [*chosen, row])))
    return chosen


def part_select() -> dict[str, Any]:
    """8 of 10,000."""
    own, seconds = probabilities(8, 512, 10_000)
    result = {"theories_seconds": round(seconds, 1), "ours": searched(own, 8)}
    few = [p[:, :N_PLAIN].astype(np.float64) for p in own]
    begun = time.process_time()
    rows = plain_greedy(few, 8)
    spent = time.process_time() - begun
    ours = choose_trials(few, uniform(8), n_trials=8, rng=np.random.default_rng(1), random_share=0)
    result["plain"] = {
        "candidates": N_PLAIN,
        "processor_seconds": round(spent, 2),
        "extrapolated_to_10000_seconds": round(spent * (8 * 10_000 - 28) / (8 * N_PLAIN - 28), 0),
        "same_trials": rows == list(ours.rows),
        "same_information": abs(plain_information(few, rows) - ours.total) < 1e-5,
    }
    return result


def part_batches() -> dict[str, Any]:
    """32 of 10,000 and of 122,760."""
    result = {}
    for n_candidates in (10_000, 122_760):
        own, seconds = probabilities(4, 200, n_candidates)
        line: dict[str, Any] = {"theories_seconds": round(seconds, 1)}
        random = np.random.default_rng(2).choice(n_candidates, 32, replace=False).tolist()
        for name, lazy in (("lazy", True), ("every_candidate", False)):
            line[name] = searched(own, 32, lazy=lazy)
        for name, rows in (
            *((name, line[name].pop("rows")) for name in ("lazy", "every_candidate")),
            ("random", random),
        ):
            worth = information_of_batch(
                [p[:, rows] for p in own], uniform(4), rng=np.random.default_rng(3), n_people=5000
            )
            line.setdefault("information_by_simulation", {})[name] = [
                worth.value,
                worth.standard_error,
            ]
        result[str(n_candidates)] = line
    return result


def part_gain() -> dict[str, Any]:
    """Searched against random designs of 8 trials."""
    own, _ = probabilities(8, 512, 10_000)
    rng, prior = np.random.default_rng(4), uniform(8)
    found = choose_trials(own, prior, n_trials=8, rng=rng, random_share=0)
    worth = information_of_batch([p[:, found.rows] for p in own], prior, rng=rng).value
    designs = [rng.choice(10_000, 8, replace=False) for _ in range(1000)]
    random = np.array(
        [information_of_batch([p[:, rows] for p in own], prior, rng=rng).value for rows in designs]
    )
    return {
        "searched_nats": worth,
        "random_mean_nats": float(random.mean()),
        "random_sd_nats": float(random.std(ddof=1)),
        "best_of_1000_random_nats": float(random.max()),
        "over_random": worth / float(random.mean()),
        "over_best_of_1000": worth / float(random.max()),
        "prior_entropy_nats": float(np.log(8)),
    }


def part_power() -> dict[str, Any]:
    """Promised and recovered power, for every ordered pair of three theories of ratings."""
    from lakatos.domains import DOMAINS, FAMILIES
    from lakatos.experiments.interval import wilson_interval
    from lakatos.experiments.power import find_n_participants, recovery_power
    from lakatos.theories.engine.laboratory import Laboratory
    from lakatos.theories.engine.scoring.score import log_predictive
    from lakatos.theories.language.theory import read_program

    names = ("diminishing_returns", "weighted_additive", "exemplar")
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    space = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}
    rng, n_studies = np.random.default_rng(5), 500
    theories = [read_program(family.program(name)) for name in names]
    with Laboratory(domain, n_workers=1) as laboratory:
        stimuli = domain.candidates(space, rng, 1000)
        answers = [own[0] for own in laboratory.answers_of(theories, [stimuli], 512)]
        chosen = choose_trials(answers, uniform(3), n_trials=16, rng=rng, random_share=0.25)
        own = [p[:, chosen.rows] for p in answers]
        table = find_n_participants(own, 1, rng, most=100, n_simulations=1000)
        promised = recovery_power(own, 1, table.n_units, rng, n_simulations=4000)
        n_people = 1 << (n_studies * table.n_units - 1).bit_length()
        simulated = laboratory.simulate(theories, stimuli.take(chosen.rows), n_people, rng)
        scores = [
            [
                log_predictive(item).log_predictive
                for item in laboratory.evidence(theory, simulated, 512)
            ]
            for theory in theories
        ]
    lines = []
    for true in range(3):
        for rival in range(3):
            if rival == true:
                continue
            people = rng.permutation(n_people)[: n_studies * table.n_units].reshape(n_studies, -1)
            ahead = (scores[true][true] - scores[rival][true])[people]
            error = ahead.std(axis=1, ddof=1) / np.sqrt(table.n_units)
            n_recovered = int((ahead.mean(axis=1) > 2 * error).sum())
            low, high = wilson_interval(n_recovered, n_studies)
            lines.append(
                {
                    "true": names[true],
                    "rival": names[rival],
                    "promised": float(promised.power[true, rival]),
                    "recovered": n_recovered / n_studies,
                    "interval": [low, high],
                    "inside": bool(low <= promised.power[true, rival] <= high),
                }
            )
    return {"n_participants": table.n_units, "n_trials": 16, "n_studies": n_studies, "pairs": lines}


def designs() -> Array:
    """``(675, 4)`` probability, ambiguity, varying and fixed reward of the documented task."""
    offers = [(p, 0.0) for p in np.arange(0.05, 0.46, 0.05).round(2)] + [
        (0.5, a) for a in AMBIGUOUS
    ]
    rewards = [(high, low) for high in REWARDS for low in REWARDS if high > low]
    return np.array([(*offer, *reward) for offer in offers for reward in rewards])


def grid(size: tuple[int, int, int]) -> Array:
    """``(n_draws, 3)`` risk attitude, ambiguity attitude, inverse temperature."""
    axes = np.linspace(0, 3, size[0]), np.linspace(-3, 3, size[1]), np.linspace(0, 5, size[2])
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def adaptive_ours(size: tuple[int, int, int]) -> dict[str, Any]:
    """Choose a trial for one person, learn from the answer, and so on; the first answer is 1 and they alternate."""
    p_var, a_var, r_var, r_fix = designs().T
    people = grid(size)
    before = peak_mib()
    outcomes = np.empty((1, len(people), len(p_var)), dtype=np.float32)
    for start in range(0, len(people), 512):
        alpha, beta, gamma = (column[:, None] for column in people[start : start + 512].T)
        lead = (p_var - beta * a_var / 2) * r_var**alpha - 0.5 * r_fix**alpha
        outcomes[0, start : start + 512] = 0.5 * (1 + np.tanh(0.5 * gamma * lead))
    weights = np.full(len(people), 1 / len(people))
    seconds, chosen, gains = [], [], []
    for trial in range(N_ADAPTIVE):
        begun = time.process_time()
        gain = information_about_people(outcomes, weights)
        row = int(gain.argmax())
        p = outcomes[0, :, row].astype(np.float64)
        weights = weights * (p if trial % 2 == 0 else 1 - p)
        weights /= weights.sum()
        seconds.append(time.process_time() - begun)
        chosen.append(row)
        gains.append(float(gain[row]))
    return {
        "milliseconds_per_trial": round(1000 * float(np.median(seconds)), 3),
        "peak_mib": round(peak_mib(), 1),
        "peak_mib_before": round(before, 1),
        "n_draws": len(people),
        "n_designs": len(p_var),
        "rows": chosen,
        "information": gains,
    }


ADOPY = """
import json, sys, time
import numpy as np
from adopy import Engine
from adopy.tasks.cra import TaskCRA, ModelLinear
size, n_trials, design = json.loads(sys.argv[1])
design = np.array(design)
peak = lambda: int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
before = peak()
engine = Engine(
    TaskCRA(), ModelLinear(),
    {("p_var", "a_var", "r_var", "r_fix"): design},
    {"alpha": np.linspace(0, 3, size[0]), "beta": np.linspace(-3, 3, size[1]), "gamma": np.linspace(0, 5, size[2])},
    {"choice": [0, 1]},
)
seconds, rows, gains = [], [], []
for trial in range(n_trials):
    begun = time.process_time()
    found = engine.get_design()
    rows.append(int(np.argmax(engine.mutual_info)))
    gains.append(float(engine.mutual_info[rows[-1]]))
    engine.update(found, {"choice": 1 - trial % 2})
    seconds.append(time.process_time() - begun)
print(json.dumps({
    "milliseconds_per_trial": round(1000 * float(np.median(seconds)), 3),
    "peak_mib": round(peak(), 1), "peak_mib_before": round(before, 1), "n_draws": engine.n_p, "n_designs": engine.n_d,
    "rows": rows, "information": gains, "numpy": np.__version__,
}))
"""


def part_adaptive(adopy: str) -> dict[str, Any]:
    """One person's next trial, ours and adopy's."""
    result: dict[str, Any] = {}
    for name, size in GRIDS.items():
        line = {"ours": in_own_process([str(RUNNER), "design", "--adaptive", json.dumps(size)])}
        if adopy:
            line["adopy"] = in_own_process(
                ["-c", ADOPY, json.dumps([size, N_ADAPTIVE, designs().tolist()])], python=adopy
            )
            first, second = (np.array(line[who]["information"]) for who in ("ours", "adopy"))
            line["largest_difference_of_information_nats"] = float(np.abs(first - second).max())
            line["same_trials"] = sum(
                a == b for a, b in zip(line["ours"]["rows"], line["adopy"]["rows"], strict=True)
            )
            line["faster"] = (
                line["adopy"]["milliseconds_per_trial"] / line["ours"]["milliseconds_per_trial"]
            )
        result[name] = line
    return result


def main() -> None:
    """Run parts and write each as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS)
    options.add_argument(
        "--adopy",
        default="",
        help="Python of a virtual environment that has adopy 0.4.1, NumPy < 1.24.",
    )
    options.add_argument("--out", type=Path, default=RESULT)
    options.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options.add_argument("--adaptive", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.child:
        print(
            json.dumps(
                search_stored(
                    Path(chosen.child[0]), int(chosen.child[1]), bool(int(chosen.child[2]))
                )
            )
        )
        return
    if chosen.adaptive:
        print(json.dumps(adaptive_ours(tuple(json.loads(chosen.adaptive)))))
        return
    done = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    for name in chosen.parts:
        begun = time.perf_counter()
        found = part_adaptive(chosen.adopy) if name == "adaptive" else globals()[f"part_{name}"]()
        done[name] = {**provenance(), **found, "seconds": round(time.perf_counter() - begun, 1)}
        print(name, json.dumps(found, indent=1), flush=True)
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(json.dumps(done, indent=1) + "\n")
