"""Planted truths: does the theory that a search names have the truth's mechanisms, and no others.

    python benchmarks/theories/planted.py          # resumes; benchmarks/results/theories/planted.json

Simulated people follow a published theory with one to four further mechanisms, at numbers drawn from the inner four
fifths of their ranges. In each of three experiments 32 of them answer 32 random trials (12 who learn, 40 steps). A
search of 60 candidates on all answers, from two other theories, ends in elimination; the published forms, the truth's
base among them, are candidates like others. Counted are mechanisms that the named theory has and the truth has not, and
the other way round, before and after elimination.

Two things that data cannot tell are counted apart. A named theory that predicts as the truth does (within 0.02 root
mean square over 200 other trials) is the truth in other words. A mechanism of the truth that the same elimination
leaves out of the truth itself, on the same answers, left no trace in them; what is left of the truth is what could be
found.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.cells import complete  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.theories.explanations import SPACES, hanging, planted, wilson  # noqa: E402
from lakatos.experiments.domains import DOMAINS  # noqa: E402
from lakatos.experiments.task import Trials, with_random_sides  # noqa: E402
from lakatos.theories.families import FAMILIES  # noqa: E402
from lakatos.theories.grammar import Composition, Grammar  # noqa: E402
from lakatos.theories.grammar_search.advocate import AdvocateBrief, GrammarAdvocate, SearchStart  # noqa: E402
from lakatos.theories.grammar_search.prune import prune  # noqa: E402
from lakatos.theories.laboratory import FittedCompositions, Laboratory  # noqa: E402
from lakatos.theories.theory import Theory  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "theories" / "planted.json"
STARTS = {
    "multiattribute": ("take_the_best", "tallying"),
    "risky": ("expected_value", "minimax"),
    "intertemporal": ("random", "exponential"),
    "learning": ("random", "averaging"),
    "offers": ("random", "cheapest"),
}
BASES = {
    "multiattribute": "weighted_additive",
    "risky": "expected_value",
    "intertemporal": "hyperbolic",
    "learning": "rescorla_wagner",
    "offers": "logit",
}
"""Published theories that truths elaborate."""
N_EXPERIMENTS, N_PEOPLE, N_TRIALS, N_CANDIDATES, N_DRAWS = 3, 32, 32, 60, 128
N_LEARNING = 12
"""People of an experiment where their answers must be walked through, which costs most of the time."""
SAME = 0.02
"""Root mean square difference of predicted proportions below which two theories are not told apart."""


def truth_of(domain: str, seed: int) -> Composition:
    """A published theory with one to four further mechanisms, whose clauses hang on numbers, of different slots."""
    family, rng = FAMILIES[domain], np.random.default_rng(1000 + seed)
    base = dict(family.seeds[BASES[domain]][1].slots)
    optional = {slot.name for slot in family.grammar.slots if slot.least == 0}
    further = [
        item
        for item in hanging(family.grammar)
        if item.slot in optional and not item.is_null and (domain == "learning" or not item.learn)
    ]
    wanted = 1 + seed % 4
    for place in rng.permutation(len(further)):
        item = further[place]
        if item.slot not in base and wanted:
            base[item.slot] = (item.name,)
            wanted -= 1
    return Composition(base)


def parts(grammar: Grammar, composition: Composition) -> set[str]:
    """Mechanisms that say something."""
    return {f"{item.slot}:{item.name}" for item in grammar.used(composition) if not item.is_null}


class PlantedAnswers:
    """Answers of people who follow a planted truth, and fits to them."""

    def __init__(
        self, domain: str, truth: Theory, lab: Laboratory, rng: np.random.Generator
    ) -> None:
        self.domain, self.truth, self.lab = domain, truth, lab
        trials = [self._experiment(str(number + 1), rng) for number in range(N_EXPERIMENTS)]
        self.fits = FittedCompositions(lab, FAMILIES[domain].grammar, trials, N_DRAWS)

    def _experiment(self, name: str, rng: np.random.Generator) -> Trials:
        space = SPACES.get(self.domain, {})
        stimuli = DOMAINS[self.domain].candidates(space, rng, N_TRIALS)
        asked = with_random_sides(DOMAINS[self.domain], stimuli, rng)
        n_people = N_LEARNING if self.domain == "learning" else N_PEOPLE
        (answers,) = self.lab.simulate([self.truth], asked, n_people, rng)
        return replace(answers, experiment=name)

    def distance(self, theory: Theory) -> float:
        """Root mean square difference between what a theory and the truth predict for other trials."""
        rng = np.random.default_rng(99)
        fresh = DOMAINS[self.domain].candidates(SPACES.get(self.domain, {}), rng, 200)
        own, wanted = (self.lab.proportions(item, fresh, N_DRAWS) for item in (theory, self.truth))
        return float(np.sqrt(np.mean((own - wanted) ** 2)))


def cell(domain: str, seed: int) -> dict[str, Any]:
    """One search for a planted truth."""
    begun, family, rng = time.perf_counter(), FAMILIES[domain], np.random.default_rng(2000 + seed)
    grammar, composition = family.grammar, truth_of(domain, seed)
    starts = tuple(SearchStart(None, family.seeds[name][1]) for name in STARTS[domain])
    published = tuple(form for _, form in family.seeds.values())
    brief = AdvocateBrief(starts, published=published, n_candidates=N_CANDIDATES, n_successors=1)
    advocate = GrammarAdvocate(grammar)
    with Laboratory(DOMAINS[domain], n_workers=1) as lab:
        answers = PlantedAnswers(domain, planted(grammar, composition, rng), lab, rng)
        before = advocate.revise(brief, answers.fits.evaluate, rng)
        after = advocate.pruned(
            before, replace(brief, starts=()), answers.fits.evaluate, answers.fits.validate, rng
        )
        left = prune(grammar, composition, answers.fits.validate, price=advocate.price)
        (own,) = answers.fits.evaluate([(composition, None)])
        true, tellable = parts(grammar, composition), parts(grammar, left.composition)
        found: dict[str, Any] = {
            "commit": provenance()["commit"],
            "domain": domain,
            "seed": seed,
            "truth": sorted(true),
            "without_trace": sorted(true - tellable),
            "criterion": advocate.attempt(composition, None, "", own).criterion,
        }
        for when, proposal in (("before", before), ("after", after)):
            best = proposal.submitted[0]
            assert best.evaluated is not None
            named = parts(grammar, best.composition)
            gap = answers.distance(best.evaluated.theory)
            found[when] = {
                "name": best.evaluated.theory.name,
                "n_parts": len(named),
                "extra": sorted(named - true),
                "missing": sorted((true & tellable) - named),
                "criterion": best.criterion,
                "gap": gap,
                "same": gap < SAME,
            }
    found["seconds"] = round(time.perf_counter() - begun, 1)
    return found


def shares(cells: Sequence[Mapping[str, Any]], when: str) -> dict[str, Any]:
    """How often a named theory has nothing that the truth has not, and all that it has, with 95% intervals."""
    exact = [item for item in cells if not item[when]["extra"] + item[when]["missing"]]
    told = [item for item in cells if item in exact or not item[when]["same"]]
    return {
        "n": len(cells),
        "n_exact": len(exact),
        "n_same_in_other_words": len(cells) - len(told),
        "nothing_extra": wilson(sum(not item[when]["extra"] for item in cells), len(cells)),
        "all_found": wilson(sum(not item[when]["missing"] for item in cells), len(cells)),
        "nothing_extra_told_apart": wilson(
            sum(not item[when]["extra"] for item in told), len(told)
        ),
        "all_found_told_apart": wilson(sum(not item[when]["missing"] for item in told), len(told)),
        "exact_or_same": wilson(len(cells) - len(told) + len(exact), len(cells)),
        "mean_parts": float(np.mean([item[when]["n_parts"] for item in cells])),
        "mean_gap": float(np.mean([item[when]["gap"] for item in cells])),
    }


def main() -> None:
    """Run what is missing and print the shares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=8, help="planted truths of each domain")
    parser.add_argument("--domains", nargs="+", default=list(STARTS))
    settings = parser.parse_args()
    wanted = [(domain, seed) for seed in range(settings.seeds) for domain in settings.domains]
    cells = complete(
        settings.out,
        cell,
        wanted,
        ("domain", "seed"),
        settings.workers,
        order=lambda item: (item["domain"], item["seed"]),
    )
    for when in ("before", "after"):
        print(when, json.dumps(shares(cells, when), indent=1))


if __name__ == "__main__":
    main()
