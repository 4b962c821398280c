"""How often groups that are alike are called different where people come again in several experiments.

The same simulated people (`group_differences`, both groups with one median rate) answer the same 24 trials, which are
asked in one experiment, or a part of them in each of two or four, as the cycles of a run on a file ask them. A person
then counts as another one in each. Told is how often labels exchanged among people showed a difference of any
parameter, which has a promised rate of 5%, with 95% Wilson intervals.

    python benchmarks/run.py theories/people_again --studies 60

resumes where it stopped; the JSON names seed, commit and command.
"""

from __future__ import annotations

from typing import Any

import lakatos
from benchmarks.cells import run_studies
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.group_differences import study
from lakatos.experiments.interval import wilson_interval

RESULTS = ROOT / "benchmarks" / "raw" / "theories" / "people_again.json"
PARTS = (1, 2, 4)
"""Experiments among which the trials of everybody are divided."""
FIELDS = ("n_parts", "seed")


def one(n_parts: int, seed: int) -> dict[str, Any]:
    """What a comparison said of one study."""
    table = study(1.0, 24, "own", 5000 + seed)
    trials = table.groupby(["ss_amount", "ll_amount", "ll_delay"]).ngroup()
    table = table.assign(part=[f"part {place % n_parts}" for place in trials])
    columns = {"attributes": ["group"], **({"experiment": "part"} if n_parts > 1 else {})}
    answers = lakatos.adopt(table, columns=columns)
    found = lakatos.by_group(answers, ["hyperbolic"], by="group", n_workers=1)
    return {
        "commit": provenance()["commit"],
        "n_parts": n_parts,
        "seed": seed,
        "differs": [item.parameter for item in found.found if item.differs],
        "least_p": min(item.p for item in found.found if item.p is not None),
    }


def summary(done: list[dict[str, Any]]) -> dict[str, Any]:
    """Studies in which groups were called different, of all, with its 95% interval."""
    told = {}
    for n_parts in PARTS:
        own = [bool(item["differs"]) for item in done if item["n_parts"] == n_parts]
        if own:
            interval = [round(end, 3) for end in wilson_interval(sum(own), len(own))]
            told[f"{n_parts} experiments"] = [sum(own), len(own), *interval]
    return told


def main() -> None:
    """Run the studies that are missing, and print what they show."""
    run_studies(
        __doc__, one, summary, [(n_parts,) for n_parts in PARTS], FIELDS, out=RESULTS, n_studies=60
    )
