"""Verdicts of runs on the same responses in two forms are equal: ``python benchmarks/run.py forms/verdicts``.

Of each kind of task, one chain of changes that is read, alters cells, numbers of trials or the layout, and keeps the
order of participants and trials, since sealed trials are drawn by their places in the file
(`benchmarks.forms.chains`). Both forms go through a small imported run: one cycle, two candidates, a sealed part where
the data suffice. Compared are the sentences of the verdicts and the order of theories. Kinds that were run are not run
again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import lakatos
from benchmarks.forms.chains import (
    CHAINS_OF_A_FILE,
    Chain,
    changed_file,
    drawn_chain,
    plain_file,
    run_chain,
)
from benchmarks.forms.changes import CODING, LAYOUTS, MISSING, TRIALS, UNITS, FormedFile
from benchmarks.forms.data_sets import KINDS
from benchmarks.provenance import ROOT, provenance

RESULTS = ROOT / "benchmarks" / "raw" / "forms" / "verdicts.json"
MOST_SEEDS = 24
ALTERING = {name for group in (UNITS, CODING, MISSING, TRIALS, LAYOUTS) for name in group}
SMALL = {"theories": {"candidates": 2}, "validation": {"company": False}}


def chain_of(kind: str) -> Chain:
    """The first chain of a kind of task that is read, alters cells, trials or the layout, and keeps the order."""
    for seed in range(MOST_SEEDS):
        chain = drawn_chain(kind, seed)
        outcome = run_chain(chain)
        if not outcome.reason and ALTERING & set(outcome.changes) and _keeps_order(chain):
            return chain
    raise LookupError(f"{kind}: no chain of {MOST_SEEDS} is read")


def _keeps_order(chain: Chain) -> bool:
    """Whether participants and trials have the same numbers in both forms."""
    plain, wanted = plain_file(chain.kind, chain.seed // CHAINS_OF_A_FILE)
    file, _ = changed_file(plain, chain)
    with tempfile.TemporaryDirectory() as place:
        found = lakatos.adopt(file.write(Path(place)), file.domain, file.columns())
    return all(
        np.array_equal(one.participant, other.participant)
        and np.array_equal(one.trial, other.trial)
        for one, other in zip(wanted.trials, found.trials, strict=True)
    )


def verdict(file: FormedFile) -> tuple[str, list[str]]:
    """The sentence of a small run's verdict, and its theories in their order."""
    with tempfile.TemporaryDirectory() as place:
        path = file.write(Path(place))
        outcome = lakatos.explain(
            path,
            file.domain,
            file.columns(),
            cycles=1,
            change=SMALL,
            runs=Path(place) / "runs",
            n_workers=1,
        )
        return outcome.verdict, outcome.leaderboard["theory"].tolist()


def main() -> None:
    """Compare the verdicts on both forms of a data set of each kind of task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", default=list(KINDS), help="kinds of tasks")
    given = parser.parse_args()
    known = json.loads(RESULTS.read_text())["kinds"] if RESULTS.exists() else []
    cells = {item["kind"]: item for item in known}
    for kind in given.only:
        if kind in cells and cells[kind]["same verdict"]:
            continue
        started = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chain = chain_of(kind)
            plain, _ = plain_file(kind, chain.seed // CHAINS_OF_A_FILE)
            changed, made = changed_file(plain, chain)
            first, second = verdict(plain), verdict(changed)
        cells[kind] = {
            "kind": kind,
            "seed": chain.seed,
            "changes": "; ".join(made),
            "same verdict": first[0] == second[0],
            "same order of theories": first[1] == second[1],
            "seconds": round(time.monotonic() - started),
        }
        if first != second:
            print(f"{chain.words}\n  {first}\n  {second}", flush=True)
        summary = {
            "kinds of tasks": len(cells),
            "same verdicts": sum(item["same verdict"] for item in cells.values()),
            "same orders of theories": sum(
                item["same order of theories"] for item in cells.values()
            ),
            "kinds": list(cells.values()),
        }
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps({**provenance(), **summary}, indent=1) + "\n")


if __name__ == "__main__":
    main()
