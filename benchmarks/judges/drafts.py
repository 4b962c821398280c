"""How often the best of fifty drafts is among the ten fitted, where a score before any fit chooses these.

    python benchmarks/judges/drafts.py            # resumes; benchmarks/results/judges/drafts.json
    python benchmarks/judges/drafts.py --table    # only sums up the worlds that are there

Worlds are those of `elsewhere.py`: half of the people of two experiments of an archive, or of people who follow a rule
drawn from the grammar. A planted writer sends fifty drafts: published theories, edits of them, compositions by lot
and, where there is a rule, edits of that rule. All are fitted, so that the best is known: by the score of each person
with people learned from the others. Which would have been fitted is chosen by scores of drafts with declared people:

- *declared*: what their population says of the answers as it stands;
- *before fit*: draws of it, weighted by what one half of the people teaches, on the other half, as the workbench does
  (`lakatos.theories.engine.fitting.screen`). Chance would keep the best in 0.2.

Counted is how often the best of all is among the ten, and by how much the best of these ten is behind, nats per choice.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.cells import complete, mean_interval  # noqa: E402
from benchmarks.judges.elsewhere import (  # noqa: E402
    ARCHIVES,
    GROUPS,
    archived_world,
    simulated_world,
)
from benchmarks.memory.winners import drawn  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.experiments.interval import wilson_interval  # noqa: E402
from lakatos.experiments.task import Trials  # noqa: E402
from lakatos.theories.discovery.grammar_search.search_tree import ArchiveMap  # noqa: E402
from lakatos.theories.engine.fitting.screen import (  # noqa: E402
    SCREEN_DRAWS,
    score_before_fit,
    worth_fitting,
)
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402
from lakatos.theories.engine.scoring.score import log_predictive  # noqa: E402
from lakatos.theories.errors import TheoryError  # noqa: E402
from lakatos.theories.language.grammar import Composition, Grammar  # noqa: E402
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "judges" / "drafts.json"
N_DRAFTS = 50
SHORT = [name for name in GROUPS if name not in ("cardinal", "gambles")]
"""Those whose fits take seconds; the other two can be named."""
N_PUBLISHED, N_BY_LOT, N_NEAR_RULE = 10, 8, 12


def planted_drafts(
    grammar: Grammar, published: Sequence[Composition], rule: Composition | None, seed: int
) -> list[Composition]:
    """What the writer sends: good, bad and ornate drafts, each once, none with a memory."""
    rng, has_memory = np.random.default_rng([seed, 9]), ArchiveMap(grammar).has_memory
    found: dict[object, Composition] = {}
    known = [item for item in published if not has_memory(item)]

    def edited(form: Composition) -> Composition:
        for _ in range(rng.integers(1, 4)):
            edits = grammar.edits(form)
            form = edits[rng.integers(len(edits))][1]
        return form

    def fill(n: int, write: Any) -> None:
        for _ in range(200 * n):
            if len(found) >= n:
                return
            form = write()
            if not has_memory(form):
                found.setdefault(form.key, form)

    for place in rng.permutation(len(known))[:N_PUBLISHED]:
        found[known[place].key] = known[place]
    fill(len(found) + N_BY_LOT, lambda: grammar.compose(rng))
    if rule is not None:
        fill(len(found) + N_NEAR_RULE, lambda: edited(rule))
    fill(N_DRAFTS, lambda: edited(known[rng.integers(len(known))]))
    return list(found.values())


def cell(group: str, seed: int, data: Path) -> dict[str, Any]:
    """One world: every draft's scores before a fit, and after it."""
    rng = np.random.default_rng([seed, GROUPS.index(group), 5])
    domain = ARCHIVES[group][1] if group in ARCHIVES else group.split()[1]
    family, rule = FAMILIES[domain], None
    with Laboratory(DOMAINS[domain], n_workers=1) as laboratory:
        if group in ARCHIVES:
            world = archived_world(group, rng, data)
        else:
            # `simulated_world` draws its rule first, from the same numbers.
            rule = drawn(domain, np.random.default_rng([seed, GROUPS.index(group), 5]))
            world = simulated_world(domain, rng, laboratory)
        published = [item for _, item in family.seeds.values()]
        drafts = planted_drafts(family.grammar, published, rule, seed)
        programs = [
            TheoryProgram(family.grammar.write(Composition(item.slots)), "writer")
            for item in drafts
        ]
        began = time.perf_counter()
        before = [screened(laboratory, read_program(item), world.taught) for item in programs]
        between = time.perf_counter()
        pairs = [(item, None) for item in drafts]
        fitted = laboratory.evaluate(family.grammar, pairs, world.taught)
        seconds = round(between - began, 1), round(time.perf_counter() - between, 1)
    lines = [
        {**scores, "fitted": round(float(np.mean([item.mean for item in after.left_out])), 6)}
        for scores, after in zip(before, fitted, strict=True)
        if not isinstance(after, TheoryError)
    ]
    return {"group": group, "seed": seed, "seconds": seconds, "drafts": lines}


def screened(laboratory: Laboratory, theory: Theory, trials: Sequence[Trials]) -> dict[str, float]:
    """Scores of a draft before any fit, nats per choice."""
    evidence = laboratory.evidence(theory, trials, SCREEN_DRAWS)
    declared = float(np.mean([log_predictive(item).mean for item in evidence]))
    return {
        "declared": round(declared, 6),
        "before fit": round(score_before_fit(evidence), 6),
    }


def summary(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """For every score how often it keeps the best of all, with Wilson's 95%, and what it loses, nats per choice."""
    names = [name for name in cells[0]["drafts"][0] if name != "fitted"]
    found = {}
    for name in names:
        kept, lost = [], []
        for item in cells:
            fits = [draft["fitted"] for draft in item["drafts"]]
            chosen = worth_fitting([draft[name] for draft in item["drafts"]])
            best, ten = max(fits), max(fits[place] for place in chosen)
            kept.append(ten == best)
            lost.append(best - ten)
        low, high = wilson_interval(sum(kept), len(kept))
        found[name] = {"kept": float(np.mean(kept)), "low": low, "high": high, "n": len(kept),
                       "lost": mean_interval(lost)}  # fmt: skip
    return found


def main() -> None:
    """Run some of the worlds that are missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--seeds", type=int, nargs=2, default=(100, 108), help="from, to")
    parser.add_argument("--groups", nargs="*", default=SHORT)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LAKATOS_DATA", "data")))
    parser.add_argument("--table", action="store_true", help="only sum up what is there")
    options = parser.parse_args()
    wanted = [(group, seed) for seed, group in product(range(*options.seeds), options.groups)]
    cells = complete(
        options.out, cell, [] if options.table else wanted, ("group", "seed"), 1,
        order=lambda item: (GROUPS.index(item["group"]), item["seed"]), extra=(options.data,),
    )  # fmt: skip
    found = summary(cells)
    options.out.write_text(json.dumps({**provenance(), "summary": found, "cells": cells}) + "\n")
    for name, line in found.items():
        print(name, line)


if __name__ == "__main__":
    main()
