"""How many people must a fit draw: planted truths' own forms, fitted to the answers of people who follow them.

    python benchmarks/theories/fit_draws.py     # resumes; benchmarks/results/theories/fit_draws.json

The answers are those of `planted.py`. Each form is fitted from its declared ranges with several numbers of draws. What
a fit explains is told in nats per choice beyond what the true population explains of the same answers, both by 4,096
draws; a fit may be better than the truth, which these answers did not choose.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.special import logsumexp  # noqa: E402

from benchmarks.cells import complete, mean_interval  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.theories.explanations import planted  # noqa: E402
from benchmarks.theories.planted import PlantedAnswers, truth_of  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.theories.engine.fitting.fit import learn_people  # noqa: E402
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402
from lakatos.theories.engine.sandbox.client import Sandbox  # noqa: E402
from lakatos.theories.engine.scoring.view import TheoryView  # noqa: E402
from lakatos.theories.language.grammar import Composition  # noqa: E402
from lakatos.theories.language.prior import Prior  # noqa: E402
from lakatos.theories.language.theory import TheoryProgram, read_program  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "theories" / "fit_draws.json"
DRAWS = (128, 256, 512, 1024)
N_MEASURED = 4096
SHORT = 0.001
"""Nats per choice by which a fit stops short of the truth."""


def cell(domain: str, seed: int) -> dict[str, Any]:
    """One planted truth, fitted with each number of draws."""
    grammar, form = FAMILIES[domain].grammar, truth_of(domain, seed)
    rng = np.random.default_rng(2000 + seed)
    with Laboratory(DOMAINS[domain], n_workers=1) as laboratory, Sandbox() as sandbox:
        truth = planted(grammar, form, rng)
        trials = PlantedAnswers(domain, truth, laboratory, rng).trials
        n_choices = sum(item.n_responses for item in trials)
        theory = read_program(TheoryProgram(grammar.write(Composition(form.slots)), "grammar"))
        with TheoryView(
            theory, laboratory.domain, sandbox, [item.stimuli for item in trials]
        ) as view:

            def explained(people: Mapping[str, Prior]) -> float:
                log_p = view.log_likelihood(
                    theory.with_people(people).population(N_MEASURED), trials
                )
                each = logsumexp(log_p, axis=0) - np.log(N_MEASURED)
                return float(each.sum()) / n_choices

            true, beyond, seconds = explained(truth.priors), {}, {}
            for n_draws in DRAWS:
                begun = time.perf_counter()
                people = learn_people(view, trials, n_draws=n_draws)
                seconds[str(n_draws)] = round(time.perf_counter() - begun, 3)
                beyond[str(n_draws)] = explained(people) - true
    return {
        "commit": provenance()["commit"],
        "domain": domain,
        "seed": seed,
        "n_parameters": len(theory.priors),
        "truth": true,
        "beyond": beyond,
        "seconds": seconds,
    }


def summary(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of each number of draws: nats beyond the truth, beyond half as many draws, and how many fits stop short."""
    found: dict[str, Any] = {}
    for n_draws in map(str, DRAWS):
        own = np.array([item["beyond"][n_draws] for item in cells])
        half = str(int(n_draws) // 2)
        line = {
            "beyond_truth": mean_interval(own),
            "worst": float(own.min()),
            "short": int((own < -SHORT).sum()),
            "seconds": float(np.sum([item["seconds"][n_draws] for item in cells])),
        }
        if int(half) in DRAWS:
            line["beyond_half"] = mean_interval(
                own - np.array([item["beyond"][half] for item in cells])
            )
        found[n_draws] = line
    return found


def main() -> None:
    """Run what is missing and print the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=8)
    settings = parser.parse_args()
    domains = ("offers", "risky", "multiattribute", "intertemporal")
    cells = complete(
        settings.out,
        cell,
        [(domain, seed) for seed in range(settings.seeds) for domain in domains],
        ("domain", "seed"),
        settings.workers,
        order=lambda item: (item["domain"], item["seed"]),
    )
    found = summary(cells)
    settings.out.write_text(
        json.dumps({**provenance(), "summary": found, "cells": cells}, indent=1) + "\n"
    )
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
