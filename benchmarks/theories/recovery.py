"""Which family member is named when each in turn is true? Confusion matrices of all domains, 25 participants.

    python benchmarks/run.py theories/recovery       # resumes where it stopped; benchmarks/raw/theories/recovery.json

Groups of 25 people follow a published theory with parameters drawn from its declared ranges, on an experiment of 40
random trials shown twice (in learning a schedule of 80 steps). All theories of the domain score the answers with their
declared populations, in nats per choice integrated over parameters, and the best is named. Nested theories share
behaviour, so that a group of the simpler one can rightly be named the richer one only with a loss.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.interval import wilson_interval
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive
from lakatos.theories.language.theory import read_program

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "recovery.json"
SPACES: dict[str, dict[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]},
    "risky": {"losses": True},
    "intertemporal": {},
    "learning": {"task": "reversal", "n_steps": 80, "n_options": 3},
    "offers": {},
}
N_PEOPLE, N_TRIALS, N_REPETITIONS = 25, 40, 2
N_DRAWS = {"learning": 128}
N_GROUPS = {"learning": 8}


def confusion(name: str, seed: int) -> dict[str, Any]:
    """``named[i][j]``: groups that follow theory i and are named theory j."""
    domain, rng = DOMAINS[name], np.random.default_rng(seed)
    n_draws, n_groups = N_DRAWS.get(name, 256), N_GROUPS.get(name, 20)
    theories = {key: read_program(FAMILIES[name].program(key)) for key in FAMILIES[name].seeds}
    stimuli = domain.candidates(SPACES[name], rng, N_TRIALS)
    repetitions = 1 if domain.sequential else N_REPETITIONS
    named = np.zeros((len(theories), len(theories)), dtype=int)
    with Laboratory(domain, 2) as laboratory:
        n_people = 1 << (n_groups * N_PEOPLE - 1).bit_length()
        simulated = laboratory.simulate(
            list(theories.values()), stimuli, n_people, rng, repetitions=repetitions
        )
        scores = []
        for theory in theories.values():
            evidence = laboratory.evidence(theory, simulated, n_draws)
            scores.append([log_predictive(item).log_predictive for item in evidence])
    for true, own in enumerate(
        np.moveaxis(np.array(scores), 0, -1)
    ):  # (true, person, scoring theory)
        people = rng.permutation(len(own))[: n_groups * N_PEOPLE].reshape(n_groups, N_PEOPLE)
        best = own[people].sum(axis=1).argmax(axis=-1)
        named[true] += np.bincount(best, minlength=len(theories))
    right = int(np.trace(named))
    low, high = wilson_interval(right, int(named.sum()))
    return {
        "commit": provenance()["commit"],
        "domain": name,
        "seed": seed,
        "theories": list(theories),
        "named": named.tolist(),
        "n_groups": n_groups,
        "share_right": right / int(named.sum()),
        "interval": [low, high],
    }


def table(cell: dict[str, Any]) -> str:
    """Each theory with how often it is named when true, and what else it is taken for."""
    named, names = np.array(cell["named"]), cell["theories"]
    low, high = cell["interval"]
    lines = [
        f"{cell['domain']}: {cell['share_right']:.2f} of groups named rightly (95% interval {low:.2f} to {high:.2f}; "
        f"chance {1 / len(names):.2f})"
    ]
    for place, name in enumerate(names):
        row = named[place] / named[place].sum()
        others = [
            f"{names[other]} {row[other]:.2f}"
            for other in np.argsort(-row)
            if other != place and row[other] > 0.1
        ]
        lines.append(f"  {name:38s} {row[place]:.2f}   {', '.join(others)}")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--domains", nargs="*", default=list(SPACES))
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    done = json.loads(chosen.out.read_text())["cells"] if chosen.out.exists() else []
    for name in chosen.domains:
        if (name, chosen.seed) not in {(item["domain"], item["seed"]) for item in done}:
            done.append(confusion(name, chosen.seed))
            chosen.out.parent.mkdir(parents=True, exist_ok=True)
            chosen.out.write_text(json.dumps({**provenance(), "cells": done}, indent=1) + "\n")
    for item in done:
        print(table(item))
