"""When is another experiment not worth its cost? Rules that end a campaign, on simulated participants of a known rule.

    python benchmarks/run.py judges/stopping --seeds 4        # resumes; benchmarks/raw/judges/stopping.json

Every campaign runs `N_EXPERIMENTS` experiments without stopping. After each cycle stand the error of the leader (root
mean square difference of its choice proportions from the rule, over a sample of the space, lapses of both set to 0)
and what a rule may read: how far the leader's proportions have moved since the last cycle, whether it improved, and
what it leaves unexplained. Rules are then applied to the same campaigns. The default threshold was fixed before, on
other campaigns. Half of the rules that participants follow are in no grammar.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete, mean_interval
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.discovery import ALL, SEEDS, SPACES
from benchmarks.theories.response_rules import RULES as RESPONSE_RULES
from benchmarks.theories.responses import FIRST_RIVALS
from benchmarks.theories.responses import SPACES as RESPONSE_SPACES
from lakatos.domains import DOMAINS
from lakatos.experiments.task import with_random_sides
from lakatos.flows.run.evidence import theory_of, trials_in
from lakatos.flows.run.run import read_state
from lakatos.flows.run.source import hidden_theory
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.start import run_study
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.apart import answers_apart
from lakatos.theories.findings.verdicts.unexplained import left_unexplained

RESULT = ROOT / "benchmarks" / "raw" / "judges" / "stopping.json"
N_EXPERIMENTS = 5
N_SAMPLED = 800
N_DRAWS = 256
TRUTHS = (
    ("multiattribute", "diminishing_returns"),
    ("multiattribute", "veto"),
    ("risky", "transfer_of_attention"),
    ("risky", "safe unless much better"),
    ("intertemporal", "trade_off"),
    ("intertemporal", "daily gain"),
    ("games", "caution with curved worth"),
    ("games", "the other's dream"),
    ("estimation", "a curve anchored and unsure"),
    ("estimation", "the highest on its side"),
)
"""Kinds of task and rules: of each, one of the grammar or published, and one that no grammar has."""
MOVED = (0.006, 0.008, 0.012, 0.016, 0.02, 0.03)


def study(domain: str, rule: str, seed: int) -> CampaignConfig:
    """A campaign of small experiments that does not stop by itself."""
    if rule in ALL:
        people: dict[str, str] = {"program": ALL[rule].program}
    elif rule in RESPONSE_RULES:
        people = {"program": RESPONSE_RULES[rule].program}
    else:
        people = {"theory": rule}
    space = ALL[rule].space if rule in ALL else None
    return parse_study(
        {
            "name": "stopping",
            "question": "Which rule do they follow?",
            "domain": domain,
            "seed": seed,
            "space": space or {**RESPONSE_SPACES, **SPACES}[domain],
            "theories": {
                "seeds": {**FIRST_RIVALS, **SEEDS}[domain],
                "candidates": 24,
                "draws": 128,
            },
            "design": {
                "trials": 16,
                "participants": 30,
                "candidates": 300,
                "refused": "cover",
            },
            "participants": {"source": "simulated", **people},
            "stop": {
                "cycles": N_EXPERIMENTS,
                "least_cycles": N_EXPERIMENTS,
                "patience": N_EXPERIMENTS,
            },
            "validation": {"comparison_models": False},
        },
        f"{rule}, seed {seed}",
    )


def followed(folder: Path) -> list[dict[str, Any]]:
    """The error of the leader after each cycle, and what a rule may read there."""
    state, trace = read_state(folder)
    trace.close()
    assert state.campaign.config is not None
    config, closed = state.campaign.config, state.campaign.cycles
    domain, rng = DOMAINS[config.domain], np.random.default_rng(0)
    sample = with_random_sides(domain, domain.candidates(config.space, rng, N_SAMPLED), rng)
    cycles: list[dict[str, Any]] = []
    with Laboratory(domain, n_workers=1) as laboratory:
        truth = laboratory.proportions(hidden_theory(config), sample, 512, lapse=False)
        before = None
        for item in closed:
            at_its_end, trace = read_state(folder, until=item.digest)
            with trace:
                leader = theory_of(trace.artifacts, at_its_end, item.record.leader)
                trials = [
                    trials_in(trace.artifacts, at_its_end, name)
                    for name in at_its_end.experiments.collected
                ]
            shown = laboratory.proportions(leader, sample, N_DRAWS)
            pure = laboratory.proportions(leader, sample, N_DRAWS, lapse=False)
            left = left_unexplained(laboratory, leader, trials, N_DRAWS)
            cycles.append(
                {
                    "error": answers_apart(pure, truth),
                    "moved": None if before is None else answers_apart(shown, before),
                    "improved": item.record.improved,
                    "left": None if left is None else float(left.value),
                    "theories": len(item.record.leaderboard),
                }
            )
            before = shown
    return cycles


def cell(domain: str, rule: str, seed: int) -> dict[str, Any]:
    """One campaign."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run_study(study(domain, rule, seed), Path(folder) / "run", n_workers=1)
        cycles = followed(Path(folder) / "run")
    return {
        "commit": provenance()["commit"],
        "domain": domain,
        "rule": rule,
        "seed": seed,
        "cycles": cycles,
        "seconds": round(time.perf_counter() - begun, 1),
    }


Rule = Callable[[Sequence[dict[str, Any]]], bool]
"""Whether a campaign ends after the last of these cycles."""


def patience(n: int) -> Rule:
    """No improvement over ``n`` cycles."""
    return lambda seen: len(seen) > n and not any(item["improved"] for item in seen[-n:])


def settled(threshold: float) -> Rule:
    """The leader's proportions have moved by less than a threshold."""
    return lambda seen: seen[-1]["moved"] is not None and seen[-1]["moved"] < threshold


def stops_after(rule: Rule, cycles: Sequence[dict[str, Any]], least: int = 2) -> int:
    """Experiments until the rule ends the campaign, at least ``least``, at most all."""
    ends = (n for n in range(least, len(cycles)) if rule(cycles[:n]))
    return next(ends, len(cycles))


def oracle(cycles: Sequence[dict[str, Any]], least: int = 2) -> int:
    """The first experiment, from the second on, after which the error falls by less than 0.002."""
    missed = [item["error"] for item in cycles]
    return next(
        n for n in range(least, len(missed) + 1) if missed[n - 1] <= min(missed[n - 1 :]) + 0.002
    )


def summary(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Experiments spared and error lost by each rule; means with 95% intervals over campaigns."""
    rules: dict[str, Rule] = {f"patience {n}": patience(n) for n in (1, 2, 3)}
    rules |= {"three experiments": lambda seen: len(seen) >= 3}
    rules |= {f"moved less than {limit:g}": settled(limit) for limit in MOVED}
    own = [item["cycles"] for item in cells]
    found: dict[str, Any] = {"campaigns": len(own)}
    for name, rule in rules.items():
        found[name] = _worth(own, [stops_after(rule, cycles) for cycles in own])
    found["oracle"] = _worth(own, [oracle(cycles) for cycles in own])
    return found


def _worth(campaigns: Sequence[Sequence[dict[str, Any]]], ends: Sequence[int]) -> dict[str, Any]:
    spared = [len(cycles) - n for cycles, n in zip(campaigns, ends, strict=True)]
    lost = [
        cycles[n - 1]["error"] - cycles[-1]["error"]
        for cycles, n in zip(campaigns, ends, strict=True)
    ]
    return {
        "spared": [round(value, 3) for value in mean_interval(spared)],
        "lost": [round(value, 5) for value in mean_interval(lost)],
        "worst": round(max(lost), 4),
    }


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=4)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    wanted = [(*truth, seed) for seed in range(1, chosen.seeds + 1) for truth in TRUTHS]
    fields = ("domain", "rule", "seed")
    cells = complete(chosen.out, cell, wanted, fields, chosen.workers, order=itemgetter(*fields))
    print(json.dumps(summary(cells), indent=1))


if __name__ == "__main__":
    main()
