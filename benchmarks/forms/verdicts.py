"""Verdicts of runs on the same responses in two forms are equal: ``python benchmarks/run.py forms/verdicts``.

Of each kind of task, chains of changes that are read (`benchmarks.forms.chains`) go through a small imported run, and
so does the plain form of their data set: one cycle, two candidates, a sealed part where the data suffice. Compared are
the sentences of the verdicts, and the leaderboards with their scores to the last bit. Two kinds of changes are more
than a change of form, and are counted apart: those that take away what says in which order trials were presented, so
that memory is not considered, and those that add or rename an attribute of participants. Chains that were run are not
run again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import lakatos
from benchmarks.forms.chains import (
    CHAINS_OF_A_FILE,
    Chain,
    ThirdResultError,
    changed_file,
    drawn_chain,
    plain_file,
    run_chain,
)
from benchmarks.forms.changes import FormedFile
from benchmarks.forms.data_sets import KINDS
from benchmarks.provenance import ROOT, provenance
from lakatos.flows.notebook.answers import PeoplesAnswers

RESULTS = ROOT / "benchmarks" / "raw" / "forms" / "verdicts.json"
DONE = RESULTS.with_suffix(".jsonl")
"""A line for each chain that was tried."""
EQUAL, DIFFERENT = "equal", "different"
N_EACH = 3
"""Verdicts compared of each kind of task."""
SMALL = {"theories": {"candidates": 2}, "validation": {"company": False}}


def what_differs(plain: PeoplesAnswers, changed: PeoplesAnswers) -> str:
    """What the changed form says more or less than the plain one; empty where it is another form only."""
    if set(plain.closed) != set(changed.closed):
        return "says less, or more, of the order of trials"
    names = [[sorted(item.attributes) for item in own.trials] for own in (plain, changed)]
    return "has other attributes of participants" if names[0] != names[1] else ""


def verdict(file: FormedFile) -> tuple[str, list[list[Any]]]:
    """The sentence of a small run's verdict, and its leaderboard."""
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
        return outcome.verdict, outcome.leaderboard.astype(str).to_numpy().tolist()


@lru_cache(maxsize=64)
def plain_verdict(kind: str, seed: int) -> tuple[str, list[list[Any]]]:
    """The verdict on a data set in its plain form."""
    return verdict(plain_file(kind, seed)[0])


def compare(chain: Chain) -> dict[str, Any]:
    """Whether both forms of a chain's data set have the same verdict, as a line of the results."""
    started = time.monotonic()
    plain, wanted = plain_file(chain.kind, chain.seed // CHAINS_OF_A_FILE)
    changed, made = changed_file(plain, chain)
    line: dict[str, Any] = {"kind": chain.kind, "seed": chain.seed, "changes": "; ".join(made)}
    try:
        if run_chain(chain).reason:
            return line | {"verdict": "refused"}
        with tempfile.TemporaryDirectory() as place:
            found = lakatos.adopt(changed.write(Path(place)), changed.domain, changed.columns())
    except (ThirdResultError, ValueError):  # a fault that `forms/chains` finds
        return line | {"verdict": "not read"}
    if difference := what_differs(wanted, found):
        return line | {"verdict": difference}
    first = plain_verdict(chain.kind, chain.seed // CHAINS_OF_A_FILE)
    second = verdict(changed)
    if first != second:
        print(f"{chain.words}\n  {first}\n  {second}", flush=True)
    took = round(time.monotonic() - started)
    return line | {"verdict": EQUAL if first == second else DIFFERENT, "seconds": took}


def main() -> None:
    """Compare the verdicts on both forms of data sets of each kind of task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", default=list(KINDS), help="kinds of tasks")
    parser.add_argument("--each", type=int, default=N_EACH, help="verdicts of each kind of task")
    given = parser.parse_args()
    DONE.parent.mkdir(parents=True, exist_ok=True)
    for number in range(1, given.each + 1):  # all kinds before the next of each
        for kind in given.only:
            while _n_compared(kind) < number:
                seeds = [item["seed"] for item in _done() if item["kind"] == kind]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    line = compare(drawn_chain(kind, max(seeds, default=-1) + 1))
                with DONE.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                _write()
    _write()


def _done() -> list[dict[str, Any]]:
    return [json.loads(line) for line in DONE.read_text().splitlines()] if DONE.exists() else []


def _n_compared(kind: str) -> int:
    """Chains of a kind of task whose verdicts were compared."""
    return sum(item["kind"] == kind and item["verdict"] in (EQUAL, DIFFERENT) for item in _done())


def _write() -> None:
    """How many verdicts are equal, all together and by kind of task, and why others were not compared."""
    done = _done()
    counts = Counter(item["verdict"] for item in done)
    summary = {
        "chains": len(done),
        "equal verdicts": counts.pop(EQUAL, 0),
        "different verdicts": counts.pop(DIFFERENT, 0),
        "not compared:": dict(counts.most_common()),
        "kinds": [
            {
                "kind": kind,
                **{
                    f"{verdict} verdicts": sum(
                        item["kind"] == kind and item["verdict"] == verdict for item in done
                    )
                    for verdict in (EQUAL, DIFFERENT)
                },
            }
            for kind in KINDS
        ],
    }
    RESULTS.write_text(json.dumps({**provenance(), **summary}, indent=1) + "\n")


if __name__ == "__main__":
    main()
