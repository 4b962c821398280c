"""Verdicts of runs on the same responses in two forms are equal: ``python benchmarks/run.py forms/verdicts``.

Chains of changes (`benchmarks.forms.chains`) of every kind of task are read as studies, as is the plain form of their
data set. Where both are the same study to the last bit, nothing in a run can differ, since all random numbers follow
from the study. Some chains of each kind go through small imported runs in both forms besides: one cycle, two
candidates, a sealed part where the data suffice. Compared are the sentences of the verdicts, and the leaderboards with
their scores to the last bit. Two kinds of changes are more than a change of form, and are counted apart: those that
take away what says in which order trials were presented, so that memory is not considered, and those that add or
rename an attribute of participants. Chains that were run are not run again.
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
from lakatos.experiments.errors import ExperimentError
from lakatos.flows.errors import StudyError
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.run.study import CampaignConfig, load_study

RESULTS = ROOT / "benchmarks" / "raw" / "forms" / "verdicts.json"
DONE = RESULTS.with_suffix(".jsonl")
"""A line for each chain that was tried."""
EQUAL, DIFFERENT = "equal", "different"
SAME, OTHER = "the same study", "another study"
N_STUDIES = 12
"""Chains of each kind of task that are read as studies."""
N_RUNS = 3
"""Chains of each kind of task of which both forms are run."""
SMALL = {"theories": {"candidates": 2}, "validation": {"comparison_models": False}}


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


def study_of(file: FormedFile) -> CampaignConfig:
    """The study that `lakatos new` writes for a file."""
    with tempfile.TemporaryDirectory() as place:
        study = Path(place) / "study.toml"
        new_study(study, file.write(Path(place)), file.domain, cycles=1, columns=file.columns())
        return load_study(study)


@lru_cache(maxsize=64)
def plain_study(kind: str, seed: int) -> CampaignConfig:
    """The study of a data set in its plain form."""
    return study_of(plain_file(kind, seed)[0])


@lru_cache(maxsize=64)
def plain_verdict(kind: str, seed: int) -> tuple[str, list[list[Any]]]:
    """The verdict on a data set in its plain form."""
    return verdict(plain_file(kind, seed)[0])


def compare_studies(chain: Chain) -> dict[str, Any]:
    """Whether both forms of a chain's data set are the same study, as a line of the results."""
    plain, wanted = plain_file(chain.kind, chain.seed // CHAINS_OF_A_FILE)
    changed, made = changed_file(plain, chain)
    line: dict[str, Any] = {"kind": chain.kind, "seed": chain.seed, "changes": "; ".join(made)}
    if not made:
        return line | {"study": "no change"}
    try:
        if run_chain(chain).reason:
            return line | {"study": "refused"}
        with tempfile.TemporaryDirectory() as place:
            found = lakatos.adopt(changed.write(Path(place)), changed.domain, changed.columns())
        if difference := what_differs(wanted, found):
            return line | {"study": difference}
        own = study_of(changed)
    except ThirdResultError:
        return line | {"study": "not read"}  # a fault that `forms/chains` finds
    except (ExperimentError, StudyError):  # by a study, which names the kind of task
        return line | {"study": "refused"}
    is_same = own.digest == plain_study(chain.kind, chain.seed // CHAINS_OF_A_FILE).digest
    return line | {"study": SAME if is_same else OTHER}


def compare_verdicts(chain: Chain) -> dict[str, Any]:
    """Whether runs on both forms of a chain's data set end in the same verdict."""
    started = time.monotonic()
    plain, _ = plain_file(chain.kind, chain.seed // CHAINS_OF_A_FILE)
    first = plain_verdict(chain.kind, chain.seed // CHAINS_OF_A_FILE)
    second = verdict(changed_file(plain, chain)[0])
    if first != second:
        print(f"{chain.words}\n  {first}\n  {second}", flush=True)
    took = round(time.monotonic() - started)
    return {"verdict": EQUAL if first == second else DIFFERENT, "seconds": took}


def main() -> None:
    """Compare studies and verdicts on both forms of data sets of each kind of task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", default=list(KINDS), help="kinds of tasks")
    parser.add_argument("--studies", type=int, default=N_STUDIES, help="of each kind of task")
    parser.add_argument("--runs", type=int, default=N_RUNS, help="of each kind of task")
    given = parser.parse_args()
    DONE.parent.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for kind in given.only:
        for seed in range(given.studies):
            if (kind, seed) not in _done():
                _add(compare_studies(drawn_chain(kind, seed)))
    _write()
    for number in range(1, given.runs + 1):  # all kinds before the next of each
        for kind in given.only:
            own = [item for item in _done().values() if item["kind"] == kind]
            left = [
                item for item in own if item["study"] in (SAME, OTHER) and "verdict" not in item
            ]
            if sum("verdict" in item for item in own) < number and left:
                _add(left[0] | compare_verdicts(drawn_chain(kind, left[0]["seed"])))
                _write()


def _add(line: dict[str, Any]) -> None:
    with DONE.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _done() -> dict[tuple[str, int], dict[str, Any]]:
    """What is known of each chain, by kind of task and seed."""
    lines = DONE.read_text().splitlines() if DONE.exists() else []
    return {(item["kind"], item["seed"]): item for item in map(json.loads, lines)}


def _write() -> None:
    """How many studies and verdicts are equal, all together and by kind of task, and why others were not compared."""
    done = list(_done().values())
    counts = Counter(item["study"] for item in done)
    summary = {
        "chains": len(done),
        "the same study to the last bit": counts.pop(SAME, 0),
        "another study": counts.pop(OTHER, 0),
        "not compared:": dict(counts.most_common()),
        **_verdicts(done),
        "kinds": [
            {
                "kind": kind,
                "the same study to the last bit": sum(
                    item["kind"] == kind and item["study"] == SAME for item in done
                ),
                **_verdicts([item for item in done if item["kind"] == kind]),
            }
            for kind in KINDS
        ],
    }
    RESULTS.write_text(json.dumps({**provenance(), **summary}, indent=1) + "\n")


def _verdicts(chains: list[dict[str, Any]]) -> dict[str, int]:
    counts = Counter(item.get("verdict") for item in chains)
    return {"equal verdicts": counts[EQUAL], "different verdicts": counts[DIFFERENT]}


if __name__ == "__main__":
    main()
