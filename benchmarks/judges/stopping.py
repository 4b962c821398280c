"""The probability that any further cycle changes the leader, before it is paid for; and what stopping by it spares.

    python benchmarks/judges/stopping.py            # resumes; benchmarks/results/judges/stopping.json
    python benchmarks/judges/stopping.py --table    # only the tables of what is there

Campaigns of five cycles in four domains ask simulated people who follow a rule drawn from the grammar. People, trials
and candidates in a cycle differ between campaigns; in a fifth of them rules are sought in the answers as well. Nothing
ends a campaign before its budget. After every cycle a leaderboard is on record, and from it alone follows what a judge
of stopping may know (`FEATURES`). The truth is whether any later cycle has another leader; and, since leaders may
change without any gain, how far the choice proportions of the leader then and in the end are from those of the hidden
rule, on all trials of the space.

Probabilities for a campaign come from a logistic regression learned on all others (by domain: on the other domains).
They are compared, at as many cycles spared, with rules that ask no judge: a number of cycles, cycles without
improvement (`stop.patience`), and the lead over the second in standard errors.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.optimize import minimize  # noqa: E402
from scipy.special import expit  # noqa: E402

from benchmarks.cells import complete, mean_interval  # noqa: E402
from benchmarks.memory.winners import SPACES, drawn, laboratory_of  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.experiments.interval import wilson_interval  # noqa: E402
from lakatos.flows.run.evidence import theory_of  # noqa: E402
from lakatos.flows.run.run import read_state  # noqa: E402
from lakatos.flows.run.study import CampaignConfig, parse_study  # noqa: E402
from lakatos.flows.start import run_study  # noqa: E402
from lakatos.theories.language.theory import TheoryProgram, read_program  # noqa: E402

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "results" / "judges" / "stopping.json"
CYCLES = 5
FEATURES = (
    "constant", "log of the cycles left", "cycles with this leader", "lead over the nearest in standard errors",
    "tied with the leader", "share of cycles that changed the leader", "first cycle",
)  # fmt: skip
"""Fixed before anything was learned from campaigns."""
PENALTY = 1.0
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.01)
PAIRS = (
    ("probability below 0.1", "patience 3"),
    ("probability below 0.3", "patience 2"),
    ("probability below 0.2", "after cycle 4"),
)
"""Rules that lose about as many changes."""
LIMITS = (0.1, 0.2, 0.3, 0.4, 0.5)
PEOPLE, TRIALS, CANDIDATES = (12, 24, 48), (8, 16), (6, 12)


def study(domain: str, number: int) -> CampaignConfig:
    """One small campaign; how much it asks and searches is drawn by lot."""
    family = FAMILIES[domain]
    rng = np.random.default_rng([list(SPACES).index(domain), number, 70])
    people, trials, candidates = (int(rng.choice(item)) for item in (PEOPLE, TRIALS, CANDIDATES))
    return parse_study(
        {
            "name": f"{domain}-{number}",
            "question": "Which rule do these people follow?",
            "domain": domain,
            "seed": 3000 + number,
            "space": SPACES[domain],
            "theories": {
                "seeds": list(family.seeds)[:2],
                "candidates": candidates,
                "successors": 1,
                "draws": 64,
                "rivals": 3,
                "advocates": ["grammar", "induction"] if number % 5 == 4 else ["grammar"],
            },
            "design": {
                "trials": trials,
                "participants": people,
                "candidates": 40,
                "power": 0.5,
                "refused": "cover",
            },
            "participants": {
                "source": "simulated",
                "program": family.grammar.write(drawn(domain, rng), "hidden"),
            },
            "stop": {"cycles": CYCLES, "least_cycles": CYCLES, "patience": CYCLES},
            "validation": {"company": False},
            "memory": {"winners": False},
        },
        domain,
    )


def cell(domain: str, number: int, options: argparse.Namespace) -> dict[str, Any]:
    """One campaign: its leaderboards, and how far every leader is from the hidden rule."""
    config = study(domain, number)
    folder = Path(options.runs) / domain / f"{number:03d}"
    if folder.exists():  # cut short
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    used = time.process_time()
    run_study(config, folder, n_workers=1)
    spent = round(time.process_time() - used, 1)
    found = {"domain": domain, "number": number, "processor": spent, **measured(folder, config)}
    shutil.rmtree(folder)
    return found


def measured(folder: Path, config: CampaignConfig) -> dict[str, Any]:
    """The leaderboards of a run as lists of numbers, and the leaders' errors against the hidden rule."""
    state, trace = read_state(folder)
    stimuli = DOMAINS[config.domain].space(config.space)
    hidden = read_program(TheoryProgram(config.participants.program, "hidden"))
    laboratory = laboratory_of(config.domain)
    errors: dict[str, float] = {}
    with trace:
        truth = laboratory.proportions(hidden, stimuli, 512)
        for leader in dict.fromkeys(item.record.leader for item in state.campaign.cycles):
            theory = theory_of(trace.artifacts, state, leader)
            found = laboratory.proportions(theory, stimuli, 512)
            errors[leader] = round(float(np.sqrt(np.mean((found - truth) ** 2))), 5)
        cycles = [
            {
                "leader": item.record.leader[:12],
                "error": errors[item.record.leader],
                "improved": item.record.improved,
                "board": [
                    [line.theory[:12], round(line.score, 5), round(line.behind, 5),
                     round(line.behind_error, 5), line.tied, round(line.error, 6)]
                    for line in item.record.leaderboard
                ],
            }
            for item in state.campaign.cycles
        ]  # fmt: skip
    return {"cycles": cycles}


@dataclass(frozen=True)
class StoppingMoment:
    """The end of one cycle that is not the last: what is known then, and what came later."""

    campaign: int
    domain: str
    cycle: int
    known: Array
    """`FEATURES`."""
    changes: bool
    """Whether any later cycle has another leader."""
    lost: float
    """Error of the leader then less that of the leader in the end."""
    stalled: int
    """Cycles without improvement so far, as `stop.patience` counts them."""


def moments(cells: Sequence[dict[str, Any]]) -> list[StoppingMoment]:
    """All ends of cycles of all campaigns."""
    found = []
    for number, cell in enumerate(cells):
        cycles = cell["cycles"]
        leaders = [item["leader"] for item in cycles]
        for place in range(len(cycles) - 1):
            improved = [item["improved"] for item in cycles[: place + 1]]
            found.append(
                StoppingMoment(
                    number,
                    cell["domain"],
                    place + 1,
                    known_then(cycles[: place + 1], len(cycles) - 1 - place),
                    any(item != leaders[place] for item in leaders[place + 1 :]),
                    cycles[place]["error"] - cycles[-1]["error"],
                    improved[::-1].index(True) if True in improved else len(improved),
                )
            )
    return found


def known_then(cycles: Sequence[dict[str, Any]], n_left: int) -> Array:
    """`FEATURES` from the leaderboards so far."""
    leaders = [item["leader"] for item in cycles]
    unchanged = next(
        (n for n, item in enumerate(reversed(leaders)) if item != leaders[-1]), len(leaders)
    )
    leads = [line[2] / max(line[3], 1e-6) for line in cycles[-1]["board"][1:]]
    n_tied = sum(bool(line[4]) for line in cycles[-1]["board"]) - 1
    changed = sum(first != second for first, second in pairwise(leaders))
    return np.array([
        1.0, np.log(n_left), min(unchanged, 3), float(np.clip(min(leads, default=5), -2, 5)),
        min(n_tied, 4), changed / max(len(leaders) - 1, 1), float(len(leaders) == 1),
    ])  # fmt: skip


def learned(rows: Sequence[StoppingMoment]) -> Array:
    """Weights of a logistic regression, penalised on standardised features, the constant not."""
    known = np.stack([item.known for item in rows])
    scale = np.append(1.0, known[:, 1:].std(axis=0) + 1e-9)
    scaled, came = known / scale, np.array([item.changes for item in rows], dtype=np.float64)

    def loss(beta: Array) -> tuple[float, Array]:
        odds, free = scaled @ beta, np.append(0.0, beta[1:])
        lost = np.logaddexp(0, odds) - came * odds
        return float(lost.sum() + PENALTY * free @ free / 2), (
            scaled.T @ (expit(odds) - came) + PENALTY * free
        )

    return np.asarray(minimize(loss, np.zeros(len(scale)), jac=True).x) / scale


def foretold(rows: Sequence[StoppingMoment], left_out: Callable[[StoppingMoment], Any]) -> Array:
    """Probability of a change at each moment, learned on all moments but those left out with it."""
    found = np.zeros(len(rows))
    for group in dict.fromkeys(map(left_out, rows)):
        weights = learned([item for item in rows if left_out(item) != group])
        own = [place for place, item in enumerate(rows) if left_out(item) == group]
        found[own] = expit(np.stack([rows[place].known for place in own]) @ weights)
    return found


def policies(rows: Sequence[StoppingMoment], p: Array) -> dict[str, Array]:
    """For every rule, at which moments it says stop."""
    cycle = np.array([item.cycle for item in rows])
    stalled = np.array([item.stalled for item in rows])
    lead = np.array([item.known[3] for item in rows])
    return {
        **{f"after cycle {n}": cycle >= n for n in range(1, CYCLES)},
        **{f"patience {n}": stalled >= n for n in (1, 2, 3)},
        **{f"lead of {n} standard errors": lead >= n for n in (1, 2, 3)},
        **{f"probability below {limit}": p < limit for limit in LIMITS},
    }


def stopped(rows: Sequence[StoppingMoment], stops: NDArray[np.bool_]) -> dict[str, Any]:
    """Cycles spared, changes of leader lost, and what they would have been worth, by campaign."""
    lost, worth = [], []
    for campaign in dict.fromkeys(item.campaign for item in rows):
        own = [
            item
            for item, stop in zip(rows, stops, strict=True)
            if item.campaign == campaign and stop
        ]
        first = min(own, key=lambda item: item.cycle, default=None)
        lost.append(first is not None and first.changes)
        worth.append(0.0 if first is None else first.lost)
    low, high = wilson_interval(sum(lost), len(lost))
    return {
        "cycles spared": mean_interval(saved(rows, stops)),
        "a change lost": [float(np.mean(lost)), low, high],
        "error lost": mean_interval(worth),
    }


def saved(rows: Sequence[StoppingMoment], stops: NDArray[np.bool_]) -> list[int]:
    """Cycles spared in each campaign."""
    first: dict[int, int] = {item.campaign: CYCLES for item in rows}
    for item, stop in zip(rows, stops, strict=True):
        if stop:
            first[item.campaign] = min(first[item.campaign], item.cycle)
    return [CYCLES - cycle for cycle in first.values()]


def reliability(rows: Sequence[StoppingMoment], p: Array) -> list[dict[str, Any]]:
    """Shares of changes where so much was foretold, with Wilson's 95% intervals as if moments were independent."""
    came = np.array([item.changes for item in rows])
    found = []
    for low, high in pairwise(BINS):
        own = (p >= low) & (p < high)
        if own.any():
            ends = wilson_interval(int(came[own].sum()), int(own.sum()))
            found.append({"foretold": float(p[own].mean()), "came": float(came[own].mean()),
                          "low": ends[0], "high": ends[1], "n": int(own.sum())})  # fmt: skip
    return found


def summary(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Everything in tables."""
    rows = moments(cells)
    came = np.array([item.changes for item in rows], dtype=np.float64)
    p = foretold(rows, lambda item: item.campaign)
    base = np.array(
        [came[[other.campaign != item.campaign for other in rows]].mean() for item in rows]
    )
    left = np.array([came[elsewhere(rows, item)].mean() for item in rows])
    campaigns = np.array([item.campaign for item in rows])

    def gains(given: Array, than: Array = base) -> tuple[float, float, float]:
        better = (than - came) ** 2 - (given - came) ** 2
        return mean_interval([better[campaigns == n].mean() for n in np.unique(campaigns)])

    other = foretold(rows, lambda item: item.domain)
    stops = policies(rows, p)
    return {
        "campaigns": len(cells),
        "moments": len(rows),
        "changes come": float(came.mean()),
        "last change": np.bincount([last_change(item) for item in cells], minlength=CYCLES + 1)[1:].tolist(),
        "Brier score": {"of the share": float(np.mean((base - came) ** 2)),
                        "of the share after as many cycles": float(np.mean((left - came) ** 2)),
                        "left-out campaign": float(np.mean((p - came) ** 2)), "less than the share": gains(p),
                        "less than after as many cycles": gains(p, left),
                        "left-out domain": float(np.mean((other - came) ** 2)), "domain, less": gains(other)},
        "reliability": reliability(rows, p),
        "weights": dict(zip(FEATURES, learned(rows).round(3).tolist(), strict=True)),
        "spared more": {
            f"{own} than {other}": mean_interval(
                np.array(saved(rows, stops[own])) - np.array(saved(rows, stops[other]))
            )
            for own, other in PAIRS
        },
        "rules": {name: stopped(rows, stop) for name, stop in stops.items()},
    }  # fmt: skip


def elsewhere(rows: Sequence[StoppingMoment], moment: StoppingMoment) -> NDArray[np.bool_]:
    """Moments after as many cycles in other campaigns."""
    return np.array([
        item.campaign != moment.campaign and item.cycle == moment.cycle for item in rows
    ])  # fmt: skip


def last_change(cell: dict[str, Any]) -> int:
    """Cycle from which on the leader is that of the end."""
    leaders = [item["leader"] for item in cell["cycles"]]
    return next((n for n in range(len(leaders), 1, -1) if leaders[n - 2] != leaders[-1]), 1)


def main() -> None:
    """Run the campaigns that are missing."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--seeds", type=int, nargs=2, default=(0, 24), help="from, to")
    arguments.add_argument("--runs", type=Path, default=ROOT / "runs" / "stopping")
    arguments.add_argument("--out", type=Path, default=RESULT)
    arguments.add_argument("--table", action="store_true", help="only sum up what is there")
    given = arguments.parse_args()
    wanted = [(domain, number) for number in range(*given.seeds) for domain in SPACES]
    cells = complete(
        given.out, cell, [] if given.table else wanted, ("domain", "number"), 1,
        order=lambda row: (row["number"], row["domain"]), extra=(given,),
    )  # fmt: skip
    found = summary(cells)
    given.out.write_text(json.dumps({**provenance(), "summary": found, "cells": cells}) + "\n")
    for name, line in {**found, **found.pop("rules")}.items():
        print(name, line)


if __name__ == "__main__":
    main()
