"""Explanations: does what a theory says agree with what it does, and is every part of it needed.

    python benchmarks/run.py theories/explanations          # resumes; benchmarks/raw/theories/explanations.json

*Agreement.* Eight theories of each domain (three of `WIDE`), published ones with one further mechanism, are fitted to
the answers of 32 simulated people who follow them with numbers of their own. Every clause of each fitted theory is
tried on its code, on the study's own trials: its parameter is set to the clause's null value, and what changes must be
what the clause says.

*Contradictions.* In each fitted theory a number is reversed (reflected about its null value, so that nearly all people
come to lie on its other side) or put at its null value, or two clauses exchange the parameters that they speak of. The
old words are tried on the changed code (are they refused?), and the changed theory is told anew (is it reworded, and do
the new words hold?).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.claim_exam import check_clauses
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.laboratory import LIMITS, Laboratory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.account import StatedClause
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism
from lakatos.theories.language.prior import Prior, parse_prior
from lakatos.theories.language.rewrite import with_literal
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "explanations.json"
SPACES: dict[str, dict[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]},
    "learning": {"task": "reversal", "n_steps": 40},
}
"""Settings of domains that need some."""
N_THEORIES, N_FITTED, N_TRIALS = 8, 32, 48
N_OF_WIDE = 3
WIDE = ("games", "estimation", "public_goods", "attention")
"""Domains whose fits take longest, of which fewer theories make a set."""


def n_theories_of(domain: str) -> int:
    """Theories of one set."""
    return N_OF_WIDE if domain in WIDE else N_THEORIES


def hanging(grammar: Grammar) -> list[Mechanism]:
    """Mechanisms of which some clause hangs on a number."""
    return [
        item for item in grammar.mechanisms if any(wording.parameter for wording in item.wordings)
    ]


def planted(grammar: Grammar, composition: Composition, rng: np.random.Generator) -> Theory:
    """A theory whose numbers are drawn from the inner four fifths of their ranges, with small differences."""
    literals = {}
    for name, literal in grammar.parameters(composition).items():
        prior = parse_prior(name, literal)
        low, high = prior.latent(np.array([prior.low, prior.high]))
        center, spread = (
            rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low)),
            0.05 * (high - low),
        )
        literals[name] = Prior.narrowed(prior, float(center), float(spread)).to_literal()
    if "lapse" in literals:
        literals["lapse"] |= {"mean": 0.02, "sd": 0.01}
    return read_program(
        TheoryProgram(grammar.write(Composition(composition.slots, literals)), "planted")
    )


def answers(
    theory: Theory, lab: Laboratory, stimuli: Stimuli, n_people: int, rng: np.random.Generator
) -> Trials:
    """Simulated people's answers."""
    (found,) = lab.simulate([theory], stimuli, n_people, rng)
    return replace(found, experiment="1")


def fitted_theories(domain: str, seed: int, lab: Laboratory) -> list[tuple[Theory, Stimuli]]:
    """Published theories with one further mechanism, fitted to people who follow them."""
    family, rng = FAMILIES[domain], np.random.default_rng(11 + seed)
    further, names = hanging(family.grammar), list(family.seeds)
    found: list[tuple[Theory, Stimuli]] = []
    while len(found) < n_theories_of(domain):
        part = further[int(rng.integers(len(further)))]
        published = family.seeds[names[int(rng.integers(len(names)))]][1]
        composition = Composition({**published.slots, part.slot: (part.name,)})
        truth = planted(family.grammar, composition, rng)
        stimuli = DOMAINS[domain].candidates(SPACES.get(domain, {}), rng, N_TRIALS)
        (fit,) = lab.evaluate(
            family.grammar, [(composition, None)], [answers(truth, lab, stimuli, N_FITTED, rng)]
        )
        if isinstance(fit, EvaluatedComposition) and any(
            clause.direction for clause in fit.theory.account().clauses
        ):
            found.append((fit.theory, stimuli))
    return found


def with_numbers(theory: Theory, clause: StatedClause, kind: str) -> Theory | None:
    """The theory with one number reversed or at its null value; None where the range does not reach there."""
    wording, prior = clause.wording, theory.priors[clause.wording.parameter]
    low, high = (float(value) for value in prior.latent(np.array([prior.low, prior.high])))
    null = max(wording.neutral, prior.low)
    if null > prior.high:
        return None
    latent = float(prior.latent(np.array([null]))[0])
    center = latent if kind == "at null" else 2 * latent - prior.center
    if kind == "reversed" and (
        not wording.opposite_clause or not low <= center <= high or clause.strength == "hardly"
    ):
        return None
    # Nearly all people come to lie on the other side: where half of them do, words of both sides stay true.
    widest = min(prior.spread, abs(latent - center) / 2)
    spread = widest if kind == "reversed" else 1e-3 * (high - low)
    literal = {name: item.to_literal() for name, item in theory.priors.items()}
    literal[wording.parameter] = prior.narrowed(center, spread).to_literal()
    source = with_literal(theory.program.source, "PARAMETERS", literal)
    changed = read_program(replace(theory.program, source=source))
    told = next(item for item in changed.account().clauses if item.wording == wording)
    # Where people differ as much as the range allows, most of them stay on their side.
    return None if kind == "reversed" and told.direction == clause.direction else changed


def swapped(theory: Theory, first: int, second: int) -> TheoryProgram:
    """The theory's source with what two of its clauses say exchanged."""
    clauses = list(theory.clauses)
    a, b = clauses[first], clauses[second]
    clauses[first] = replace(
        a, clause=b.clause, opposite_clause=b.opposite_clause, feature=b.feature
    )
    clauses[second] = replace(
        b, clause=a.clause, opposite_clause=a.opposite_clause, feature=a.feature
    )
    literal = [item.to_literal() for item in clauses]
    return replace(theory.program, source=with_literal(theory.program.source, "CLAUSES", literal))


def cell(domain: str, seed: int) -> dict[str, Any]:
    """Clauses of fitted theories on their own code, and contradictions planted into them."""
    kinds: dict[str, list[dict[str, Any]]] = {"reversed": [], "at null": [], "swapped": []}
    tried, disagree = [], []
    with (
        Laboratory(DOMAINS[domain], n_workers=1) as lab,
        Sandbox(limits=LIMITS) as sandbox,
    ):
        for theory, stimuli in fitted_theories(domain, seed, lab):
            own = check_clauses(theory, DOMAINS[domain], sandbox, candidates=stimuli)
            tried += own
            disagree += [item.sentence for item in own if not item.held and not item.idle]
            for kind in ("reversed", "at null"):
                for item in own:
                    changed = with_numbers(theory, item.clause, kind) if not item.idle else None
                    if changed is not None and item.clause.strength != "hardly":
                        kinds[kind].append(
                            _planted_numbers(changed, item.clause, domain, sandbox, stimuli)
                        )
            places = [
                number
                for number, clause in enumerate(theory.clauses)
                if clause.parameter and "{who}" not in clause.clause
            ]
            for first, second in pairwise(places):
                report = check_theory(
                    swapped(theory, first, second), DOMAINS[domain], sandbox, candidates=stimuli
                )
                errors = {check.error for check in report.failures}
                kinds["swapped"].append(
                    {"refused": "ClaimContradictedError" in errors, "reworded": False}
                )
    return {
        "commit": provenance()["commit"], "domain": domain, "seed": seed, "n_theories": n_theories_of(domain),
        "n_clauses": len(tried), "n_idle": sum(item.idle for item in tried),
        "n_hardly": sum(item.clause.strength == "hardly" for item in tried),
        "disagree": disagree,
        "contradictions": {
            kind: {
                "n": len(items), "refused": sum(item["refused"] for item in items),
                "reworded": sum(item["reworded"] for item in items),
                "either": sum(item["refused"] or item["reworded"] for item in items),
            }
            for kind, items in kinds.items()
        },
    }  # fmt: skip


def _planted_numbers(
    changed: Theory, clause: StatedClause, domain: str, sandbox: Sandbox, stimuli: Stimuli
) -> dict[str, Any]:
    """Whether old words are refused on changed code, and whether the changed theory is told otherwise and truly."""
    old = check_clauses(changed, DOMAINS[domain], sandbox, clauses=[clause], candidates=stimuli)
    place = [item.wording for item in changed.account().clauses].index(clause.wording)
    new = check_clauses(changed, DOMAINS[domain], sandbox, candidates=stimuli)
    true = all(item.held or item.idle for item in new if item.clause.wording == clause.wording)
    text = changed.account().clauses[place].text
    # New words that the code refuses keep the theory out as old ones do: a strength next to nothing decides ties.
    refused = any(not item.held for item in old) or not true
    return {"refused": refused, "reworded": text != clause.text and true}


def wilson(k: int, n: int) -> tuple[float, float, float]:
    """A share with its 95% interval."""
    if n == 0:
        return float("nan"), 0.0, 1.0
    p, z2 = k / n, 1.96**2
    center, half = (
        (p + z2 / (2 * n)) / (1 + z2 / n),
        1.96 * np.sqrt(p * (1 - p) / n + z2 / (4 * n**2)) / (1 + z2 / n),
    )
    return p, float(center - half), float(center + half)


def summary(cells: list[Mapping[str, Any]]) -> dict[str, Any]:
    """All shares, with intervals."""
    kinds: dict[str, Any] = {}
    for kind in ("reversed", "at null", "swapped"):
        counts = [item["contradictions"][kind] for item in cells]
        kinds[kind] = {
            name: sum(item[name] for item in counts)
            for name in ("n", "refused", "reworded", "either")
        }
    return {
        "n_theories": sum(item["n_theories"] for item in cells), "n_clauses": sum(item["n_clauses"] for item in cells),
        "n_idle": sum(item["n_idle"] for item in cells), "n_disagree": sum(len(item["disagree"]) for item in cells),
        "contradictions": kinds,
    }  # fmt: skip


def main() -> None:
    """Run what is missing and print the shares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=2, help="sets of theories of each domain")
    parser.add_argument("--domains", nargs="+", default=list(DOMAINS))
    settings = parser.parse_args()
    wanted = [(domain, seed) for seed in range(settings.seeds) for domain in settings.domains]
    fields = ("domain", "seed")
    cells = complete(
        settings.out,
        cell,
        wanted,
        fields,
        settings.workers,
        order=lambda item: tuple(str(item[key]) for key in fields),
    )
    print(json.dumps(summary(cells), indent=1))
