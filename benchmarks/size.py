"""What a candidate costs as answers grow: processor seconds and memory of fit, scores and search, beside the floor.

    python benchmarks/run.py size                      # benchmarks/raw/size.json; goes on where it stopped
    python benchmarks/run.py size --problems 200 1000 --answers 10000 --parts fit search

Answers are those of simulated people of cumulative prospect theory to random gambles. They are *pooled* (of each
problem only how many people chose what) or *single* (each person answered 200 problems drawn at random). ``fit`` learns
the people of the richest published theory, and predicts answers that were left out; ``search`` is the grammar's whole
search of a cycle, elimination included, with 24 candidates; ``campaign`` a whole study of one cycle and 8
candidates. Each cell runs in a process of its own in a control
group, so that the children of sandboxes count; peak memory is that of all its processes.

Floor: one pass of the likelihood over the data for one draw of the richest theory, its process included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.demonstration import ProcessorMeter
from benchmarks.memory_use import memory_mib
from benchmarks.provenance import ROOT, RUNNER
from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.domains.kit.archive import ArchiveReader
from lakatos.domains.risky.space import pairs
from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.run.study import parse_study
from lakatos.flows.start import run_study
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.theory import Theory, read_program

PROBLEMS = (200, 1000, 4000, 12000)
ANSWERS = (10_000, 100_000, 1_000_000)
PER_PERSON = 200
N_CANDIDATES = 24
TRUTH = "cumulative_prospect_theory"
SAMPLES_A_SECOND = 10
PEOPLE_AT_ONCE = 64
N_FLOOR = 32
"""Draws with which one pass over the answers is timed."""


def problems(n: int, rng: np.random.Generator) -> Stimuli:
    """Random pairs of gambles with one to three outcomes."""

    def gamble() -> list[tuple[float, float]]:
        n_outcomes = int(rng.integers(1, 4))
        chances = rng.dirichlet(np.ones(n_outcomes))
        amounts = np.round(rng.normal(10, 20, n_outcomes), 1)
        return list(zip(amounts.tolist(), chances.tolist(), strict=True))

    return pairs([(gamble(), gamble()) for _ in range(n)])


def answered(n_problems: int, n_answers: int, kind: str, seed: int = 0) -> Trials:
    """Answers of people of `TRUTH`, the same for the same arguments."""
    rng = np.random.default_rng([seed, n_problems, n_answers])
    stimuli = problems(n_problems, rng)
    theory = read_program(FAMILIES["risky"].program(TRUTH))
    n_people = max(n_answers // min(PER_PERSON, n_problems), 2)
    asked = [rng.choice(n_problems, n_answers // n_people, replace=False) for _ in range(n_people)]
    chose = np.empty((n_people, n_answers // n_people), dtype=np.int64)
    with Laboratory(DOMAINS["risky"], 1) as laboratory:
        people = theory.population(1 << (n_people - 1).bit_length())
        for start in range(0, n_people, PEOPLE_AT_ONCE):
            group = range(start, min(start + PEOPLE_AT_ONCE, n_people))
            own = {name: values[group] for name, values in people.items()}
            (shares,) = laboratory.look(
                theory, [stimuli], lambda view, own=own: view.probabilities(own)
            )
            for place, person in enumerate(group):
                second = shares[place, asked[person], 1]
                chose[person] = rng.random(len(second)) < second
    trial, response = np.concatenate(asked), chose.ravel()
    if kind == "single":
        person = np.repeat(np.arange(n_people), chose.shape[1])
        return Trials("e", stimuli, person, trial, response, np.ones(len(trial), dtype=np.int64))
    table = np.zeros((n_problems, 2), dtype=np.int64)
    np.add.at(table, (trial, response), 1)
    rows, options = np.nonzero(table)
    nobody = np.zeros(len(rows), dtype=np.int64)
    return Trials("e", stimuli, nobody, rows, options, table[rows, options], pooled=True)


def richest() -> Theory:
    """The published theory with most parameters."""
    family = FAMILIES["risky"]
    theories = [read_program(family.program(name)) for name in family.seeds]
    return max((item for item in theories if not item.learns), key=lambda item: len(item.priors))


def work(part: str, trials: Trials) -> dict[str, Any]:
    """One cell's work, with what it found."""
    from lakatos.theories.discovery.grammar_search.composition_search import search_compositions
    from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief

    if part == "campaign":
        return campaign(trials)
    with Laboratory(DOMAINS["risky"], 2) as laboratory:
        if part == "fit":
            theory = richest()
            (people,) = laboratory.people_of([theory], [{}], [trials])
            if isinstance(people, Exception):
                return {"error": str(people)}
            (scored,) = laboratory.scores_of([theory.with_people(people)], [trials], 512)
            if isinstance(scored, Exception):
                return {"error": str(scored)}
            return {"nats": scored[0].left_out.mean, "theory": theory.name}
        family = FAMILIES["risky"]
        published = tuple(composition for _, composition in family.seeds.values())
        brief = AdvocateBrief((), published=published, n_candidates=N_CANDIDATES, looks_back=False)
        found = search_compositions(
            laboratory, family.grammar, brief, [trials], np.random.default_rng(1)
        )
        best = found.submitted[0]
        assert best.evaluated is not None
        return {
            "nats": best.evaluated.mean,
            "criterion": best.criterion,
            "theory": best.evaluated.theory.name,
            "n_failed": sum(bool(item.error) for item in found.attempts),
            "n_tried": len(found.attempts),
        }


def campaign(trials: Trials) -> dict[str, Any]:
    """A study that asks for all problems at once, a fifth of them sealed: one cycle, up to its verdict."""
    ARCHIVES["size"] = ArchiveReader("size", "risky", "made", None, lambda folder: (trials,))
    n_problems = len(trials.stimuli)
    seeds = ["expected_value", "expected_utility", "prospect_theory"]
    study = {
        "name": "size",
        "question": "What do people make of very many gambles?",
        "domain": "risky",
        "seed": 1,
        "theories": {"seeds": seeds, "candidates": 8, "successors": 2, "rivals": 3},
        "design": {"trials": n_problems, "random_share": 0.5, "refused": "cover"},
        "participants": {"source": "archival", "archive": "size"},
        "stop": {"cycles": 1, "least_cycles": 1},
        "validation": {"sealed_share": 0.2, "folds": 0},
    }
    with tempfile.TemporaryDirectory() as folder:
        verdict = run_study(parse_study(study, "benchmarks/size.py"), Path(folder) / "run")
    return {"verdict": verdict.text}


def floor(trials: Trials) -> float:
    """Processor seconds of one draw's likelihood of all answers, the median of five."""
    theory, times = richest(), []
    with Laboratory(DOMAINS["risky"], 1) as laboratory:
        draws = theory.population(N_FLOOR)
        for _ in range(5):
            begun = processor_seconds()
            (shares,) = laboratory.look(
                theory, [trials.stimuli], lambda view: view.probabilities(draws)
            )
            log_p = np.log(np.maximum(shares, 1e-12))
            for own in log_p:
                (own[trials.trial, trials.response] * trials.count).sum()
            times.append((processor_seconds() - begun) / N_FLOOR)
    return float(np.median(times))


def cell(part: str, kind: str, n_problems: int, n_answers: int) -> dict[str, Any]:
    """One cell, in a process of its own."""
    meter = ProcessorMeter()
    words = [sys.executable, str(RUNNER), "size", "--one", part, kind]
    words += [str(n_problems), str(n_answers)]
    try:
        process = subprocess.Popen(
            words, cwd=ROOT, stdout=subprocess.PIPE, preexec_fn=meter.enter, text=True
        )
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, memory_mib(process.pid))
            time.sleep(1 / SAMPLES_A_SECOND)
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        found = json.loads(lines[-1]) if lines else {"error": f"status {process.returncode}"}
        total = meter.seconds()
    finally:
        meter.close()
    made = found.pop("made_s", 0.0)
    return {
        "part": part, "kind": kind, "problems": n_problems, "answers": n_answers,
        "processor_s": total - made, "peak_mib": peak, **found,
    }  # fmt: skip


def one(part: str, kind: str, n_problems: int, n_answers: int) -> None:
    """Make the answers, do the work, print what was found."""
    trials = answered(n_problems, n_answers, kind)
    passed = floor(trials)
    made = processor_seconds()
    found = work(part, trials)
    print(json.dumps({**found, "floor_s": passed, "made_s": made}))


def processor_seconds() -> float:
    """Processor seconds of this process's control group up to now, all children counted."""
    groups = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    for line in groups:
        _, controllers, path = line.split(":", 2)
        if "cpuacct" in controllers.split(","):
            used = Path("/sys/fs/cgroup/cpuacct", path.lstrip("/"), "cpuacct.usage").read_text(
                encoding="utf-8"
            )
            return int(used) / 1e9
    own = groups[-1].split("::")[-1].lstrip("/")
    used = Path("/sys/fs/cgroup", own, "cpu.stat").read_text(encoding="utf-8").split()
    return int(used[used.index("usage_usec") + 1]) / 1e6


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells that are missing."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--one", nargs=4, metavar="WORD", help=argparse.SUPPRESS)
    options.add_argument("--parts", nargs="+", default=["fit", "search"])
    options.add_argument("--kinds", nargs="+", default=["pooled", "single"])
    options.add_argument("--problems", nargs="+", type=int, default=list(PROBLEMS))
    options.add_argument("--answers", nargs="+", type=int, default=list(ANSWERS))
    options.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "raw" / "size.json")
    chosen = options.parse_args(arguments)
    if chosen.one:
        part, kind, n_problems, n_answers = chosen.one
        one(part, kind, int(n_problems), int(n_answers))
        return
    wanted = [
        (part, kind, n_problems, n_answers)
        for n_answers in chosen.answers
        for n_problems in chosen.problems
        for part in chosen.parts
        for kind in chosen.kinds
    ]
    names = ("part", "kind", "problems", "answers")
    complete(chosen.out, cell, wanted, names, 1, order=lambda item: [item[name] for name in names])
