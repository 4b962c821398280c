"""Log scores of small and large generic learners on left-out responses, and which of the two are taken.

    python benchmarks/run.py theories/learners --data ../shared/data   # resumes; benchmarks/raw/theories/learners.json

For each selection of published responses (those of `benchmarks.theories.people`): what completeness leaves out in turn
(experiments, participants or trials) is predicted by gradient boosting and a network, small and large. Reported is the
log score in nats per response, without a population of participants on top, and the size that completeness uses.
"""

from __future__ import annotations

import argparse
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT
from benchmarks.theories.people import SELECTIONS, domain_of, load
from lakatos.domains import DOMAINS
from lakatos.theories.findings.generic_learners.learners import (
    best_followed,
    cross_fitted,
    folds_of,
    left_out_kind,
    read_rows,
)

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "learners.json"


def cell(selection: str, data: Path) -> dict[str, Any]:
    """Log scores on one selection."""
    domain, trials = DOMAINS[domain_of(selection)], load(selection, data)
    rows = read_rows(domain, trials)
    fold = folds_of(domain, rows, left_out_kind(trials))
    scores = {
        name: best_followed(rows, cross_fitted(rows, fold, 0, large=name == "large"))
        / float(rows.count.sum())
        for name in ("small", "large")
    }
    guessing = -np.log(rows.available[rows.cell].sum(axis=1)) @ rows.count / rows.count.sum()
    taken = "large" if scores["large"] > scores["small"] else "small"
    n_responses = int(rows.count.sum())
    return {"selection": selection, "n_responses": n_responses, "guessing": float(guessing)} | {
        **scores,
        "taken": taken,
    }


def main() -> None:
    """Run what is missing, write every result as it comes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--selections", nargs="*", default=list(SELECTIONS))
    chosen = parser.parse_args()
    wanted = [(name,) for name in chosen.selections]
    order = itemgetter("selection")
    cells = complete(RESULT, cell, wanted, ("selection",), 1, order=order, extra=(chosen.data,))
    for item in cells:
        print(
            f"{item['selection']:20s} guessing {item['guessing']:.4f}, small {item['small']:.4f}, "
            f"large {item['large']:.4f}: {item['taken']}"
        )
