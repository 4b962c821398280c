"""The exam's two numbers about tables, for published, composed and induced theories, and sources that hold tables.

    python benchmarks/run.py theories/memorised --compositions 56     # benchmarks/raw/theories/memorised.json

Its figure is `docs/images/memorised.svg`.

The first number counts what a source writes down (`checks.hidden_numbers`), the second is the share of the variance of
its predictions that learners miss which saw some of them (`checks.memorised`). Sources that hold trials by heart are
those of the tests (tables in many forms, and functions that make a number of each trial), the cheats of
`theories/cheats` and the attacks of `theories/hidden_tables`. Theories are induced from responses of people who follow
compositions. Besides, every published theory answers by a mixture with a table: with such a weight on numbers that were
drawn for each trial.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.cheats import cheats
from benchmarks.theories.hidden_tables import hidden_tables
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Domain, Stimuli
from lakatos.judges.items.ground_truth import SETTINGS
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.engine.checks.exam import MOST_NUMBERS
from lakatos.theories.engine.checks.hidden_numbers import table_size
from lakatos.theories.engine.checks.memorised import (
    LEAST_ERROR,
    MOST_UNEXPLAINED,
    predictions_of_study,
    unexplained,
)
from lakatos.theories.engine.checks.tested_theory import TestedTheory
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.prior import draw_population
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.theories.engine.test_hidden_numbers import HIDDEN
from tests.theories.engine.test_memorised import FUNCTIONS, by_heart

FIGURE = ROOT / "docs" / "images" / "memorised.svg"
SHOWN = {
    "composed": ("#8a8f98", "o"),
    "published": ("#0068a5", "o"),
    "induced": ("#2a8a3e", "^"),
    "function of trials": ("#d98200", "s"),
    "hidden": ("#b3261e", "X"),
}
"""Colour and marker of each kind in the figure."""
N_TRIALS, N_PEOPLE = 60, 20


def main() -> None:
    """Measure all of them."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--compositions", type=int, default=56, help="of each domain")
    options.add_argument("--weights", type=float, nargs="*", default=[0.25, 0.5, 1.0])
    options.add_argument("--induced", type=int, default=3, help="data sets of each domain")
    options.add_argument("--trials", type=int, nargs="+", default=[200, 60])
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
                whole = n_trials == max(chosen.trials)
                numbers = (chosen.compositions, chosen.induced) if whole else (0, 0)
                lines = measured(name, n_trials, *numbers, chosen.weights, sandbox)
                found += [{**line, "asked": n_trials} for line in lines]
                write(chosen.out, found)
                print(name, n_trials, len(found), flush=True)
    hidden = [
        {"kind": "hidden table", "theory": name, "size": size, "refused": size > MOST_NUMBERS}
        for name, source in HIDDEN.items()
        if (size := table_size(source))
    ]
    found = [line for line in found if line["kind"] != "hidden table"] + hidden
    write(chosen.out, found)
    draw([line for line in found if line.get("asked", 0) == max(chosen.trials)])


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


def draw(found: list[dict[str, Any]]) -> None:
    """Both numbers of every theory that was measured, with the limits of the exam, as an SVG file."""
    mpl.rcParams.update({"svg.hashsalt": "memorised", "svg.fonttype": "none", "font.size": 9})
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for kind, (colour, marker) in SHOWN.items():
        own = [line for line in found if line["kind"] == kind]
        sizes, shares = ([line[number] for line in own] for number in ("size", "missed"))
        label = f"{kind} ({len(own)})"
        axes.scatter(sizes, shares, s=14, c=colour, marker=marker, alpha=0.6, lw=0, label=label)
    axes.axvline(MOST_NUMBERS, color="0.4", lw=0.8)
    axes.axhline(MOST_UNEXPLAINED, color="0.4", lw=0.8)
    axes.set_xscale("symlog", linthresh=10)
    axes.set(
        xlim=(-0.5, 2000),
        ylim=(-0.03, 1.45),
        xlabel="numbers of two digits that the source may hold",
    )
    axes.set_ylabel("share of the variance of predictions missed by learners")
    axes.legend(frameon=False, loc="center right")
    figure.savefig(FIGURE, metadata={"Date": None})


def measured(
    name: str,
    n_trials: int,
    n_compositions: int,
    n_induced: int,
    weights: Sequence[float],
    sandbox: Sandbox,
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
        programs += [
            ("hidden", key, TheoryProgram(text, "x")) for key, text in hidden_tables().items()
        ]
        tables = (cheat for cheat in cheats() if cheat.kind == "table")
        programs += [("hidden", cheat.name, TheoryProgram(cheat.source, "x")) for cheat in tables]
    programs += [
        ("induced", f"{number}", TheoryProgram(text, "induced"))
        for number, text in enumerate(induced(name, n_induced, sandbox))
    ]
    for kind, key, program in programs:
        yield from _of_program(kind, key, program, domain, stimuli, weights, sandbox)


def induced(name: str, n_sets: int, sandbox: Sandbox) -> Iterator[str]:
    """Sources of what is induced from responses to 60 trials by people who follow drawn compositions."""
    domain, family, rng = DOMAINS[name], FAMILIES[name], np.random.default_rng(17)
    stimuli = domain.candidates(SETTINGS.get(name, {}), rng, N_TRIALS)
    for _ in range(n_sets):
        truth = read_program(
            TheoryProgram(family.grammar.write(family.grammar.compose(rng)), "grammar")
        )
        drawn = draw_population(truth.priors, N_PEOPLE, rng)
        people = drawn or {"": np.zeros(N_PEOPLE)}
        rows = np.tile(np.arange(len(stimuli)), (N_PEOPLE, 1))
        order = rows if domain.sequential else rng.permuted(rows, axis=1)
        behaviour = behave(truth, domain, sandbox, people, stimuli, order, rng)
        trials = as_trials("1", stimuli, order, behaviour, domain.n_options(stimuli))
        yield from (item.source for item in induce(domain, [trials], rng))


def _of_program(
    kind: str,
    key: str,
    program: TheoryProgram,
    domain: Domain,
    stimuli: Stimuli,
    weights: Sequence[float],
    sandbox: Sandbox,
) -> Iterator[dict[str, Any]]:
    """Both numbers of one theory; of a published one also with shares of a table in its predictions."""
    about = {"domain": domain.name, "theory": key}
    try:
        trial = TestedTheory(read_program(program), domain, sandbox, lambda _: [], stimuli, 0)
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
    for weight in weights:
        mixed = unexplained(seen.mixed_with(table, weight))
        numbers = {"missed": mixed.share, "error": mixed.error, "refused": mixed.by_heart}
        yield {"kind": f"{weight:.0%} table".replace("%", " percent"), **about, **numbers}
