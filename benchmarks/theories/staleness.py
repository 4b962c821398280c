"""How often a true theory of the first cycle leads in the end, with ornate theories admitted after it.

    python benchmarks/run.py theories/staleness      # resumes where it stopped; benchmarks/raw/theories/staleness.json

In every campaign simulated people follow a published theory, which is among the first rivals. In place of a search,
each later cycle admits the theories that, of some elaborations of the truth, fit all answers so far best, without any
price for what was added: the truth with one to three further mechanisms of the grammar, in the form of a file as a
person would bring one along. All other stages are the laboratory's own: designs, frozen predictions, collection, fits,
scores. The measure is how often the truth leads when the last experiment has been scored.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import FAMILIES
from lakatos.flows.cycle import ask
from lakatos.flows.run.engine import execute
from lakatos.flows.run.run import Run, begin, create_run
from lakatos.flows.run.study import parse_study
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.flows.stages.collect import collect
from lakatos.flows.stages.score import score
from lakatos.theories.engine.checks.complexity import code_length, form_of_source
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.record import TheoryAdmitted, TheoryChecked
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "staleness.json"
TRUTHS = {
    "multiattribute": ("weighted_additive", "equal_weights", "take_the_best", "exemplar"),
    "risky": ("expected_value", "expected_utility", "prospect_theory", "mean_variance"),
}
RIVALS = {"multiattribute": "tallying", "risky": "maximax"}
SPACES: dict[str, dict[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]},
    "risky": {},
}
N_SEEDS = 5
N_CYCLES = 4
N_TRIED, N_ADMITTED = 5, 2
"""Elaborations that are fitted in a cycle, and those of them that enter."""


def study(domain: str, truth: str, seed: int) -> dict[str, Any]:
    """Few people, few trials, and nothing to search."""
    return {
        "name": "staleness",
        "question": "Does what was right from the beginning lead in the end?",
        "domain": domain,
        "seed": seed,
        "space": SPACES[domain],
        "theories": {"seeds": [truth, RIVALS[domain]], "draws": 256, "induction": False},
        "design": {
            "trials": 16,
            "participants": 30,
            "candidates": 60,
            "refused": "cover",
            "random_share": 0.5,
        },
        "participants": {"source": "simulated", "theory": truth},
        "stop": {"cycles": N_CYCLES, "least_cycles": N_CYCLES},
    }


def elaborations(domain: str, truth: str, rng: np.random.Generator) -> list[Composition]:
    """The truth with one to three mechanisms added, none of which needs a memory."""
    grammar, (_, plain) = FAMILIES[domain].grammar, FAMILIES[domain].seeds[truth]
    found: dict[object, Composition] = {}
    while len(found) < N_TRIED:
        composition = Composition(plain.slots)
        for _ in range(int(rng.integers(1, 4))):
            edits = [edit for words, edit in grammar.edits(composition) if words.startswith("add ")]
            additions = [
                edit for edit in edits if not any(item.learn for item in grammar.used(edit))
            ]
            composition = additions[int(rng.integers(len(additions)))]
        found[composition.key] = composition
    return list(found.values())


def enter(run: Run, cycle: int, program: TheoryProgram) -> None:
    """Let a planted theory in as it is; the grammar's theories pass their checks, which would take most of the time."""
    theory = read_program(program)
    checked = run.record(
        TheoryChecked(
            theory=run.trace.artifacts.put(program.source.encode()),
            passed=True,
            name=theory.name,
            claim=theory.claim,
            author=program.author,
            parents=(),
            change="",
            cycle=cycle,
            n_parameters=len(theory.priors),
            code_length=code_length(program.source),
            checks=(),
            reason="",
        ),
        name="check",
        position={"cycle": cycle, "theory": program.digest},
    )
    record = TheoryAdmitted(theory=program.digest, cycle=cycle, reason=program.author)
    run.record(record, name="admit", inputs=[checked.digest], position={"cycle": cycle})


def admit_ornate(run: Run, cycle: int, truth: str) -> None:
    """Let in the elaborations that fit best so far, as a search without a price for parts would."""
    rng = np.random.default_rng([run.config.seed, cycle])
    trials = [run.trials(name) for name in run.state.experiments.collected]
    asked = [(item, None) for item in elaborations(run.config.domain, truth, rng)]
    tried = run.laboratory.evaluate(run.family.grammar, asked, trials, n_draws=128)
    fitted = sorted(
        (item for item in tried if isinstance(item, EvaluatedComposition)),
        key=lambda item: -item.mean,
    )
    known = {form_of_source(run.form(name).program.source) for name in run.state.theories.checked}
    new = [item for item in fitted if form_of_source(item.theory.program.source) not in known]
    for item in new[:N_ADMITTED]:
        enter(run, cycle, TheoryProgram(item.theory.program.source, "ornate"))


async def campaign(run: Run, truth: str) -> None:
    """Cycles without search, judges and diagnosis."""
    begin(run)
    for name in run.config.theories.seeds:
        enter(run, 0, run.family.program(name))
    for cycle in range(1, N_CYCLES + 1):
        asked = await ask(run, cycle, 1)
        assert asked is not None
        collected = await collect(run, cycle, asked.plan, asked.recruited)
        assert not isinstance(collected, AnswersAwaited)
        await score(run, cycle, list(run.state.theories.checked))
        if cycle < N_CYCLES:
            admit_ornate(run, cycle, truth)


def cell(domain: str, truth: str, seed: int) -> dict[str, Any]:
    """One campaign: who leads in the end, and who is ahead on average."""
    begun = time.perf_counter()
    config = parse_study(study(domain, truth, seed), "staleness")
    with (
        tempfile.TemporaryDirectory() as folder,
        create_run(config, Path(folder) / "run", n_workers=1) as run,
    ):
        execute("none", campaign, run, truth)
        board, state, own = run.state.board(), run.state, run.family.program(truth).digest
    behind = board.of(own).behind
    return {
        "commit": provenance()["commit"],
        "domain": domain,
        "truth": truth,
        "seed": seed,
        "leads": board.leader.theory == own,
        "best_on_average": max(board.standings, key=lambda line: line.score.value).theory == own,
        "leader": state.theories.name(board.leader.theory),
        "n_theories": len(board.standings),
        "truth_behind": behind.value,
        "truth_behind_error": behind.standard_error,
        "most_draws": max(item.record.n_draws for item in state.theories.scores.values()),
        "seconds": round(time.perf_counter() - begun, 1),
    }


def table(cells: list[dict[str, Any]]) -> str:
    """Share of campaigns in which the truth leads, with its 95% interval."""
    lines = []
    for what in ("leads", "best_on_average"):
        n = sum(item[what] for item in cells)
        interval = binomtest(n, len(cells)).proportion_ci(method="wilson")
        lines.append(f"{what}: {n} of {len(cells)} ({interval.low:.2f} to {interval.high:.2f})")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=N_SEEDS)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    seeds = range(1, chosen.seeds + 1)
    wanted = [
        (domain, truth, seed)
        for seed in seeds
        for domain, truths in TRUTHS.items()
        for truth in truths
    ]
    fields = ("domain", "truth", "seed")
    cells = complete(
        chosen.out,
        cell,
        wanted,
        fields,
        chosen.workers,
        order=lambda item: tuple(item[name] for name in fields),
    )
    print(table(cells))
