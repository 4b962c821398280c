"""How much of a design should be random? Experiments until a hidden rule is recovered, by share of random coverage.

    python benchmarks/run.py coverage                       # resumes where it stopped; benchmarks/raw/coverage.json
    python benchmarks/run.py coverage --domains risky --seeds 3 --shares 0 1

For each domain simulated people follow a published theory that is not among the first rivals, or a rule that is in no
family. Campaigns differ in the share of trials that are drawn at random instead of being chosen for their information:
none, a quarter, half, or all; everything else, seeds included, is the same. In learning a design is one schedule: the
most informative of many, or the first one drawn. After each experiment's cycle the mean
squared error of the leader's choice proportions against the rule is taken on a sample of the space, declared lapses set
to 0. A rule counts as recovered from the first experiment from which on the error stays below `RECOVERED`; campaigns
that never get there are counted as one experiment more than they had. Shares are compared within rule and seed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete, standard_error
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.discovery import RULES, SEEDS, SPACES
from lakatos.domains import DOMAINS
from lakatos.experiments.task import with_random_sides
from lakatos.flows.run.evidence import theory_of
from lakatos.flows.run.run import read_state
from lakatos.flows.run.source import hidden_theory
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.start import run_study
from lakatos.theories.engine.laboratory import Laboratory

RESULT = ROOT / "benchmarks" / "raw" / "coverage.json"
SHARES = (0.0, 0.25, 0.5, 1.0)
N_EXPERIMENTS = 5
RECOVERED = 0.01
"""Mean squared error of choice proportions: as if each were off by a tenth."""
N_SAMPLED = 1500
HIDDEN = {
    "multiattribute": ("diminishing_returns", "veto"),
    "risky": ("transfer_of_attention", "safe unless much better"),
    "intertemporal": ("trade_off", "not beyond a month"),
    "learning": ("forgetting", "two losses"),
}
"""A published theory and a rule of no family."""


def study(domain: str, rule: str, share: float, seed: int) -> CampaignConfig:
    """A campaign of small experiments."""
    outside = rule in RULES
    people = {"program": RULES[rule].program} if outside else {"theory": rule}
    space = RULES[rule].space if outside else None
    return parse_study(
        {
            "name": "coverage",
            "question": "Which rule do they follow?",
            "domain": domain,
            "seed": seed,
            "space": space or SPACES[domain],
            "theories": {"seeds": SEEDS[domain], "candidates": 24, "draws": 128},
            "design": {
                "trials": 12,
                "participants": 20,
                "candidates": 600,
                "refused": "cover",
                "random_share": share,
                **({"schedules": 1} if domain == "learning" and share else {}),
            },
            "participants": {"source": "simulated", **people},
            "stop": {"cycles": N_EXPERIMENTS, "least_cycles": N_EXPERIMENTS},
        },
        f"{rule}, {share:g} random",
    )


def errors(folder: Path) -> list[float]:
    """Of the leader after each experiment."""
    state, trace = read_state(folder)
    with trace:
        assert state.campaign.config is not None
        leaders = [item.record.leader for item in state.campaign.cycles]
        theories = {name: theory_of(trace.artifacts, state, name) for name in set(leaders)}
    domain, rng = DOMAINS[state.campaign.config.domain], np.random.default_rng(0)
    sample = with_random_sides(
        domain, domain.candidates(state.campaign.config.space, rng, N_SAMPLED), rng
    )
    with Laboratory(domain, n_workers=1) as laboratory:
        truth = laboratory.proportions(
            hidden_theory(state.campaign.config), sample, 512, lapse=False
        )
        missed = {
            name: float(
                np.mean((laboratory.proportions(theory, sample, 512, lapse=False) - truth) ** 2)
            )
            for name, theory in theories.items()
        }
    return [missed[name] for name in leaders]


def until_recovered(missed: list[float]) -> int:
    """Experiments after which the error stays below `RECOVERED`; one more than all where it does not."""
    late = [place + 1 for place, value in enumerate(missed) if value >= RECOVERED]
    return (late[-1] if late else 0) + 1


def cell(domain: str, rule: str, share: float, seed: int) -> dict[str, Any]:
    """One campaign."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run_study(study(domain, rule, share, seed), Path(folder) / "run", n_workers=1)
        missed = errors(Path(folder) / "run")
    return {
        "commit": provenance()["commit"],
        "domain": domain,
        "rule": rule,
        "random_share": share,
        "seed": seed,
        "errors": missed,
        "experiments": until_recovered(missed),
        "seconds": round(time.perf_counter() - begun, 1),
    }


def table(cells: list[dict[str, Any]]) -> str:
    """Mean experiments and last errors by domain and share, and paired differences from no random trials."""
    lines = [
        "domain           random   experiments until recovery   recovered   last error        fewer than without"
    ]
    for domain in (*dict.fromkeys(item["domain"] for item in cells), "all"):
        for share in sorted({item["random_share"] for item in cells}):
            own = [
                item
                for item in cells
                if item["random_share"] == share and domain in ("all", item["domain"])
            ]
            if not own:
                continue
            needed = np.array([item["experiments"] for item in own])
            last = np.array([item["errors"][-1] for item in own])
            without = {
                (item["rule"], item["seed"]): item["experiments"]
                for item in cells
                if not item["random_share"]
            }
            pairs = [(item["rule"], item["seed"]) for item in own]
            ahead = np.array(
                [
                    without[pair] - n
                    for pair, n in zip(pairs, needed, strict=True)
                    if pair in without
                ]
            )
            paired = (
                f"{ahead.mean():+.2f} ± {standard_error(ahead):.2f}" if len(ahead) and share else ""
            )
            lines.append(
                f"{domain:16s} {share:6.0%}   {needed.mean():5.2f} ± {standard_error(needed):.2f} "
                f"(n={len(own):2d})          "
                f"{np.mean(needed <= N_EXPERIMENTS):9.0%}   {last.mean():.4f} ± {standard_error(last):.4f}   {paired}"
            )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--domains", nargs="*", default=list(HIDDEN), choices=list(HIDDEN))
    options.add_argument("--shares", nargs="*", type=float, default=list(SHARES))
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    wanted = [
        (domain, rule, share, seed)
        for seed in range(1, chosen.seeds + 1)
        for domain in chosen.domains
        for rule in HIDDEN[domain]
        for share in chosen.shares
        if domain != "learning" or share in (0, 1)
    ]
    fields = ("domain", "rule", "random_share", "seed")
    order = itemgetter(*fields)
    print(table(complete(chosen.out, cell, wanted, fields, chosen.workers, order=order)))
