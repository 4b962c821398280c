"""What learners miss of theories' predictions at the parameters that responses select: of honest ones, and of tables.

    python benchmarks/run.py theories/in_use --compositions 20     # benchmarks/raw/theories/in_use.json

Published theories, compositions and induced theories are fitted to responses of simulated people who follow two
published theories and a composition (compositions and induced theories to those of one of them in turn). Theories that
follow a table behind a part of a declared range (`tests/theories/engine/test_in_use.py`) are fitted to people who
follow the table.
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
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.judges.items.ground_truth import SETTINGS
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.engine.checks.in_use import unexplained_in_use
from lakatos.theories.engine.checks.memorised import LEAST_ERROR, UnexplainedPredictions
from lakatos.theories.engine.fitting.fit import fitting_draws, learn_people
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.prior import draw_population
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.theories.engine.test_in_use import DOMAIN, GATES, STIMULI, gated, responses

N_TRIALS, N_PEOPLE = 60, 24
WITHOUT_INDUCTION = ("games", "stopping", "attention", "perception", "recognition", "estimation")


def main() -> None:
    """Measure all of them."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--compositions", type=int, default=40, help="of each domain")
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "theories" / "in_use.json"
    )
    options.add_argument("--domains", nargs="+", default=list(DOMAINS))
    chosen = options.parse_args()
    found: list[dict[str, Any]] = []
    if chosen.out.is_file():
        found = json.loads(chosen.out.read_text())["theories"]
    with Sandbox() as sandbox:
        for name in chosen.domains:
            if name not in {line["domain"] for line in found}:
                found += measured(name, chosen.compositions, sandbox)
                write(chosen.out, found)
                print(name, len(found), flush=True)
        table = responses(gated("1.0"), sandbox)
        found = [line for line in found if line["kind"] != "hidden"]
        for name, source in GATES.items():
            missed = of_program(TheoryProgram(source, "x"), DOMAIN, STIMULI, table, sandbox)
            found.append({"kind": "hidden", "domain": "a table", "theory": name, **missed})
    write(chosen.out, found)


def write(out: Path, found: list[dict[str, Any]]) -> None:
    """Keep every line, and what they come to by kind."""
    counts: dict[str, float] = {}
    for kind in sorted({line["kind"] for line in found}):
        own = [line for line in found if line["kind"] == kind]
        shares = [line["missed"] for line in own if line["error"] > LEAST_ERROR]
        counts[f"{kind}_n"] = len({(line["domain"], line["theory"]) for line in own})
        counts[f"{kind}_refused"] = sum(line["refused"] for line in own)
        counts[f"{kind}_largest_share_missed"] = max(shares, default=0.0)
        counts[f"{kind}_smallest_share_missed"] = min(shares, default=0.0)
    out.write_text(
        json.dumps({**provenance(), **counts, "theories": found}, indent=1) + "\n", encoding="utf-8"
    )


def measured(name: str, n_compositions: int, sandbox: Sandbox) -> Iterator[dict[str, Any]]:
    """What is missed of each theory of a domain, on each set of responses that it is fitted to."""
    domain, family, rng = DOMAINS[name], FAMILIES[name], np.random.default_rng(23)
    stimuli = domain.candidates(SETTINGS.get(name, {}), np.random.default_rng(0), 200)

    def composed(rng: np.random.Generator) -> TheoryProgram:
        while not family.grammar.clauses(drawn := family.grammar.compose(rng)):
            pass  # without a clause it has no claim, and is no theory
        return TheoryProgram(family.grammar.write(drawn), "grammar")

    seeds = list(family.seeds)
    followed = [family.program(str(seed)) for seed in rng.choice(seeds, 2, replace=False)]
    data = [
        people(program, domain, stimuli, sandbox, rng) for program in (*followed, composed(rng))
    ]
    programs = [("published", seed, family.program(seed), data[::2]) for seed in seeds]
    drawn = np.random.default_rng(11)
    programs += [
        ("composed", f"{number}", composed(drawn), [data[number % 3]])
        for number in range(n_compositions)
    ]
    if name not in WITHOUT_INDUCTION:
        programs += [
            ("induced", f"{place} {number}", TheoryProgram(item.source, "induced"), [trials])
            for place, trials in enumerate(data)
            for number, item in enumerate(induce(domain, [trials], rng))
        ]
    for kind, key, program, sets in programs:
        for trials in sets:
            about = {"kind": kind, "domain": name, "theory": key}
            try:
                yield {**about, **of_program(program, domain, stimuli, trials, sandbox)}
            except TheoryError as error:
                print(about, error)


def people(
    program: TheoryProgram,
    domain: Domain,
    stimuli: Stimuli,
    sandbox: Sandbox,
    rng: np.random.Generator,
) -> Trials:
    """Responses of people who follow a theory."""
    theory = read_program(program)
    drawn = draw_population(theory.priors, N_PEOPLE, rng) or {"": np.zeros(N_PEOPLE)}
    asked = stimuli if domain.sequential else stimuli.take(np.arange(min(len(stimuli), N_TRIALS)))
    rows = np.tile(np.arange(len(asked)), (N_PEOPLE, 1))
    order = rows if domain.sequential else rng.permuted(rows, axis=1)
    behaviour = behave(theory, domain, sandbox, drawn, asked, order, rng)
    return as_trials("1", asked, order, behaviour, domain.n_options(asked))


def of_program(
    program: TheoryProgram, domain: Domain, stimuli: Stimuli, trials: Trials, sandbox: Sandbox
) -> dict[str, Any]:
    """What is missed of a theory that is fitted to responses."""
    form = read_program(program)
    with TheoryView(form, domain, sandbox, [trials.stimuli]) as view:
        learned = learn_people(view, [trials], n_draws=fitting_draws(form, [trials]))
    fitted = form.with_people(learned)
    found = unexplained_in_use(fitted, domain, sandbox, [trials], stimuli)
    if found is None:
        found = UnexplainedPredictions(0.0, 0.0, 0)
    return {
        "missed": found.share,
        "error": found.error,
        "n_trials": found.n_trials,
        "refused": found.by_heart,
    }
