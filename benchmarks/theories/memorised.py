"""The exam's two numbers about tables, for published theories, compositions, and sources that hold trials by heart.

    python benchmarks/run.py theories/memorised --compositions 56     # benchmarks/raw/theories/memorised.json

The first number counts what a source writes down (`checks.hidden_numbers`), the second is the share of the variance of
its predictions that learners miss which saw some of them (`checks.memorised`). Sources that hold trials by heart are
those of the tests: tables in many forms, and functions that make a number of each trial. Besides, every published
theory answers by a mixture with a table: with such a weight on numbers that were drawn for each trial.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Domain, Stimuli
from lakatos.judges.items.ground_truth import SETTINGS
from lakatos.theories.engine.checks.exam import MOST_NUMBERS
from lakatos.theories.engine.checks.hidden_numbers import table_size
from lakatos.theories.engine.checks.memorised import (
    LEAST_ERROR,
    MOST_UNEXPLAINED,
    predictions_of_study,
    unexplained,
)
from lakatos.theories.engine.checks.tested_theory import TestedTheory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.theories.engine.test_hidden_numbers import HIDDEN
from tests.theories.engine.test_memorised import FUNCTIONS, by_heart

WEIGHTS = (0.25, 0.5, 1.0)
"""Of the table in a mixture."""


def main() -> None:
    """Measure all of them."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--compositions", type=int, default=56, help="of each domain")
    options.add_argument("--trials", type=int, nargs="+", default=[200, 40])
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "theories" / "memorised.json"
    )
    options.add_argument("--domains", nargs="+", default=list(DOMAINS))
    chosen = options.parse_args()
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, Any]] = []
    if chosen.out.is_file():
        found = json.loads(chosen.out.read_text())["theories"]
    with Sandbox() as sandbox:
        for n_trials in chosen.trials:
            done = {line["domain"] for line in found if line.get("asked") == n_trials}
            for name in (name for name in chosen.domains if name not in done):
                n = chosen.compositions if n_trials == max(chosen.trials) else 0
                lines = measured(name, n_trials, n, sandbox)
                found += [{**line, "asked": n_trials} for line in lines]
                write(chosen.out, found)
                print(name, n_trials, len(found), flush=True)
    hidden = [
        {"kind": "hidden table", "theory": name, "size": size, "refused": size > MOST_NUMBERS}
        for name, source in HIDDEN.items()
        if (size := table_size(source))
    ]
    write(chosen.out, [line for line in found if line["kind"] != "hidden table"] + hidden)


def write(out: Path, found: list[dict[str, Any]]) -> None:
    """Keep every line, and what they come to by kind."""
    counts: dict[str, float] = {"most_numbers": MOST_NUMBERS, "most_unexplained": MOST_UNEXPLAINED}
    for kind in sorted({line["kind"] for line in found}):
        own = [line for line in found if line["kind"] == kind]
        word = kind.replace(" ", "_")
        counts[f"{word}_n"] = len(own)
        counts[f"{word}_refused"] = sum(line["refused"] for line in own)
        sizes = [line["size"] for line in own if "size" in line]
        counts[f"{word}_largest_size"] = max(sizes, default=0)
        shares = [line["missed"] for line in own if line.get("error", 0.0) > LEAST_ERROR]
        counts[f"{word}_largest_share_missed"] = max(shares, default=0.0)
        counts[f"{word}_smallest_share_missed"] = min(shares, default=0.0)
    out.write_text(
        json.dumps({**provenance(), **counts, "theories": found}, indent=1) + "\n", encoding="utf-8"
    )


def measured(
    name: str, n_trials: int, n_compositions: int, sandbox: Sandbox
) -> Iterator[dict[str, Any]]:
    """Both numbers of a domain's theories, and of mixtures of the published ones with a table."""
    domain, family = DOMAINS[name], FAMILIES[name]
    stimuli = domain.candidates(SETTINGS.get(name, {}), np.random.default_rng(0), n_trials)
    programs = [("published", seed, family.program(seed)) for seed in family.seeds]
    rng, grammar = np.random.default_rng(11), family.grammar
    while len(programs) < len(family.seeds) + n_compositions:
        drawn = grammar.compose(rng)
        if grammar.clauses(drawn):  # without one it has no claim, and is no theory
            number = f"{len(programs)}"
            programs.append(
                ("composed", number, TheoryProgram(grammar.write(drawn, f"C {number}"), "grammar"))
            )
    if name == "multiattribute":
        programs += [
            ("function of trials", key, TheoryProgram(by_heart(body), "cheat"))
            for key, body in FUNCTIONS.items()
        ]
    for kind, key, program in programs:
        yield from _of_program(kind, key, program, domain, stimuli, sandbox)


def _of_program(
    kind: str, key: str, program: TheoryProgram, domain: Domain, stimuli: Stimuli, sandbox: Sandbox
) -> Iterator[dict[str, Any]]:
    """Both numbers of one theory; of a published one also with shares of a table in its predictions."""
    about = {"domain": domain.name, "theory": key}
    trial = TestedTheory(read_program(program), domain, sandbox, lambda _: [], stimuli, 0)
    try:
        seen = predictions_of_study(trial)
    except TheoryError as error:
        print(about, error)
        return
    if seen is None:
        return
    size = table_size(program.source)
    found = unexplained(seen)
    refused = found.by_heart or size > MOST_NUMBERS
    numbers = {"n_trials": found.n_trials, "missed": found.share, "error": found.error}
    yield {"kind": kind, **about, "size": size, **numbers, "refused": refused}
    if kind != "published":
        return
    rng = np.random.default_rng(3)
    table = rng.dirichlet(np.ones(seen.predicted.shape[1]), found.n_trials)[seen.group]
    for weight in WEIGHTS:
        mixed = unexplained(seen.mixed_with(table, weight))
        numbers = {"missed": mixed.share, "error": mixed.error, "refused": mixed.by_heart}
        yield {"kind": f"{weight:.0%} table".replace("%", " percent"), **about, **numbers}
