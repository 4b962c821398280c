"""Planted truths: does the theory that a search names have the truth's mechanisms, and no others.

    python benchmarks/run.py theories/planted          # resumes; benchmarks/raw/theories/planted.json

Simulated people follow a published theory with one to four further mechanisms, at numbers drawn from the inner four
fifths of their ranges. In each of three experiments 32 of them answer 32 random trials (12 who learn, 40 steps). A
search of 60 candidates on all answers, from two other theories, ends in elimination; the published forms, the truth's
base among them, are candidates like others. Counted are mechanisms that the named theory has and the truth has not, and
the other way round, before and after elimination.

What data cannot tell is counted apart. A mechanism of the truth that the same elimination leaves out of the truth
itself, on the same answers, left no trace in them. Where the named theory then still differs, the truth's own form,
whole and as elimination left it, is fitted to the very same answers by the same procedure. If people whom others taught
are predicted better by it, beyond two standard errors of the paired difference, or no worse while its code is shorter,
the answers could tell: the search missed it. Else the theory cannot be told from the truth by these answers. New people
who follow the truth, on new trials, show what more answers would tell.

The search was mended on the seeds of `MENDED_ON`; of the others nothing was looked at before it was as it is.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.explanations import SPACES, hanging, planted, wilson
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Trials, with_random_sides
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.proposal import (
    AdvocateBrief,
    CompositionAttempt,
    SearchStart,
)
from lakatos.theories.discovery.grammar_search.prune import prune
from lakatos.theories.engine.checks.complexity import code_length
from lakatos.theories.engine.fitted_compositions import FittedCompositions
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.fitting.fit import FITTING_DRAWS
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import (
    UnitScores,
    log_predictive,
    paired_difference,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition, Grammar
from lakatos.theories.language.theory import Theory

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "planted.json"
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
N_NEW = 64
"""New people of each of as many new experiments, who show what more answers would tell."""
CLEAR = 2.0
"""Standard errors beyond which a theory is better than another."""
MENDED_ON = (1, 4, 7)
"""Seeds on which the search was mended."""


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
        self,
        domain: str,
        truth: Theory,
        lab: Laboratory,
        rng: np.random.Generator,
        n_draws: int = FITTING_DRAWS,
        n_learning: int = N_LEARNING,
    ) -> None:
        self.domain, self.truth = domain, truth
        self.lab = lab
        n_people = n_learning if domain == "learning" else N_PEOPLE
        self.trials = [
            self._experiment(str(number + 1), n_people, rng) for number in range(N_EXPERIMENTS)
        ]
        self.n_draws = n_draws
        self.fits = FittedCompositions(lab, FAMILIES[domain].grammar, self.trials, n_draws)

    def in_laboratory(self, lab: Laboratory) -> PlantedAnswers:
        """The same answers in another laboratory, where nothing was fitted."""
        there = copy(self)
        there.lab = lab
        there.fits = FittedCompositions(
            lab, FAMILIES[self.domain].grammar, self.trials, self.n_draws
        )
        return there

    def _experiment(self, name: str, n_people: int, rng: np.random.Generator) -> Trials:
        space = SPACES.get(self.domain, {})
        stimuli = DOMAINS[self.domain].candidates(space, rng, N_TRIALS)
        asked = with_random_sides(DOMAINS[self.domain], stimuli, rng)
        (answers,) = self.lab.simulate([self.truth], asked, n_people, rng)
        return replace(answers, experiment=name)

    def distance(self, theory: Theory) -> float:
        """Root mean square difference between what a theory and the truth predict for other trials."""
        rng = np.random.default_rng(99)
        fresh = DOMAINS[self.domain].candidates(SPACES.get(self.domain, {}), rng, 200)
        own, wanted = (self.lab.proportions(item, fresh, N_DRAWS) for item in (theory, self.truth))
        return float(np.sqrt(np.mean((own - wanted) ** 2)))

    def predicted_of_others(self, theories: Sequence[Theory]) -> list[list[UnitScores]]:
        """How well fitted theories predict new people who follow the truth, on new trials; the same for all seeds."""
        rng = np.random.default_rng(98)
        new = [self._experiment(str(number), N_NEW, rng) for number in range(N_EXPERIMENTS)]
        found = self.lab.evidence_of(theories, new, N_DRAWS)
        return [[log_predictive(item) for item in evidence] for evidence in found]


@dataclass(frozen=True)
class FormOfTruth:
    """The truth's form, fitted to the answers as any candidate is, beside a named theory."""

    ahead: tuple[float, float]
    """Nats per choice, with the standard error, by which it predicts people better whom others taught."""
    ahead_of_new: tuple[float, float]
    """The same for new people on new trials."""
    code_length: int

    def is_told(self, ahead: tuple[float, float], named_length: int) -> bool:
        """Whether it is better than a theory beyond doubt, or no worse and shorter."""
        value, error = ahead
        shorter = self.code_length < named_length
        return value > CLEAR * error or (value >= -CLEAR * error and shorter)


def compared(
    answers: PlantedAnswers,
    named: EvaluatedComposition,
    forms: Sequence[EvaluatedComposition],
) -> list[FormOfTruth]:
    """Forms of the truth beside a named theory, on the same answers and on new people's."""
    own, *others = answers.predicted_of_others([item.theory for item in (named, *forms)])
    found = []
    for form, other in zip(forms, others, strict=True):
        here = paired_difference(form.left_out, named.left_out)
        there = paired_difference(other, own)
        length = code_length(form.theory.program.source)
        found.append(
            FormOfTruth(
                (here.value, here.standard_error), (there.value, there.standard_error), length
            )
        )
    return found


def named_beside(
    answers: PlantedAnswers,
    best: CompositionAttempt,
    forms: Sequence[EvaluatedComposition],
    true: set[str],
    tellable: set[str],
) -> dict[str, Any]:
    """What a named theory has of the truth, and whether the answers could tell the two."""
    assert best.evaluated is not None
    grammar = FAMILIES[answers.domain].grammar
    named, length = (
        parts(grammar, best.composition),
        code_length(best.evaluated.theory.program.source),
    )
    beside = compared(answers, best.evaluated, forms)
    exact = not (named - true) | ((true & tellable) - named)
    told = any(item.is_told(item.ahead, length) for item in beside)
    told_of_new = any(item.is_told(item.ahead_of_new, length) for item in beside)
    return {
        "name": best.evaluated.theory.name,
        "composition": best.composition.to_literal(),
        "n_parts": len(named),
        "extra": sorted(named - true),
        "missing": sorted((true & tellable) - named),
        "criterion": best.criterion,
        "gap": answers.distance(best.evaluated.theory),
        "code_length": length,
        "verdict": "right" if exact else "missed" if told else "not told",
        "told_by_new_people": told_of_new,
        "truth_whole": asdict(beside[0]),
        "truth_pruned": asdict(beside[-1]),
    }


def nearest(
    grammar: Grammar, attempts: Sequence[CompositionAttempt], forms: Sequence[Composition]
) -> int:
    """Mechanisms in which the candidate that is nearest to the truth (or to what is left of it) differs from it."""
    wanted = [parts(grammar, form) for form in forms]
    return min(len(parts(grammar, item.composition) ^ form) for item in attempts for form in wanted)


def processor_seconds() -> float:
    """Of the laboratory; what theories use in their sandboxes, which end without telling, is not in it."""
    return sum(
        used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN))
    )


def cell(domain: str, seed: int, slack: float, n_draws: int, n_learning: int) -> dict[str, Any]:
    """One search for a planted truth, whose fits draw ``n_draws`` people; see `GrammarAdvocate.slack`.

    ``n_learning`` people of each experiment answer where they learn.
    """
    family, rng = FAMILIES[domain], np.random.default_rng(2000 + seed)
    grammar, composition = family.grammar, truth_of(domain, seed)
    starts = tuple(SearchStart(None, family.seeds[name][1]) for name in STARTS[domain])
    published = tuple(form for _, form in family.seeds.values())
    brief = AdvocateBrief(starts, published=published, n_candidates=N_CANDIDATES, n_successors=1)
    advocate, begun = GrammarAdvocate(grammar, slack=slack), processor_seconds()
    with Laboratory(DOMAINS[domain], n_workers=1) as lab:
        truth = planted(grammar, composition, rng)
        answers = PlantedAnswers(domain, truth, lab, rng, n_draws, n_learning)
        fits = answers.fits
        before = advocate.revise(brief, fits.evaluate, rng, glance=fits.glance)
        after = advocate.pruned(
            before, replace(brief, starts=()), fits.evaluate, fits.validate, rng, glance=fits.glance
        )
    seconds = processor_seconds() - begun
    with Laboratory(DOMAINS[domain], n_workers=1) as lab:
        answers = answers.in_laboratory(lab)
        fits = answers.fits
        left = prune(grammar, composition, fits.validate)
        forms = fits.evaluate([(composition, None), (left.composition, None)])
        fitted = [item for item in forms if not isinstance(item, TheoryError)]
        true, tellable = parts(grammar, composition), parts(grammar, left.composition)
        found: dict[str, Any] = {
            "commit": provenance()["commit"],
            "domain": domain,
            "seed": seed,
            "slack": slack,
            "n_draws": n_draws,
            "n_learning": n_learning,
            "truth": sorted(true),
            "without_trace": sorted(true - tellable),
            "criterion": advocate.attempt(composition, None, "", forms[0]).criterion,
            "processor_seconds": round(seconds, 1),
            "n_candidates": len(after.attempts),
            "n_glances": len(after.glances),
            "nearest": nearest(grammar, after.attempts, [composition, left.composition]),
        }
        for when, proposal in (("before", before), ("after", after)):
            found[when] = named_beside(answers, proposal.submitted[0], fitted, true, tellable)
    return found


def shares(cells: Sequence[Mapping[str, Any]], when: str) -> dict[str, Any]:
    """How often a named theory has nothing that the truth has not, and all that it has, with 95% intervals."""
    verdicts = [item[when]["verdict"] for item in cells]
    told = [item for item in cells if item[when]["verdict"] != "not told"]
    return {
        "n": len(cells),
        "right": wilson(verdicts.count("right"), len(cells)),
        "not_told": wilson(verdicts.count("not told"), len(cells)),
        "missed": wilson(verdicts.count("missed"), len(cells)),
        "not_told_but_by_new_people": sum(
            item[when]["verdict"] == "not told" and item[when]["told_by_new_people"]
            for item in cells
        ),
        "nothing_extra": wilson(sum(not item[when]["extra"] for item in cells), len(cells)),
        "all_found": wilson(sum(not item[when]["missing"] for item in cells), len(cells)),
        "nothing_extra_told": wilson(sum(not item[when]["extra"] for item in told), len(told)),
        "all_found_told": wilson(sum(not item[when]["missing"] for item in told), len(told)),
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
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=list(range(8)), help="planted truths of each domain"
    )
    parser.add_argument("--domains", nargs="+", default=list(STARTS))
    parser.add_argument(
        "--slack",
        type=float,
        default=GrammarAdvocate.slack,
        help="times the least error of proportions that a submission may have; another wants a file of its own",
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=FITTING_DRAWS,
        help="people drawn in a fit; as many as campaigns draw by default",
    )
    parser.add_argument(
        "--learners",
        type=int,
        default=N_LEARNING,
        help="people of an experiment where they learn; another number wants a file of its own",
    )
    settings = parser.parse_args()
    wanted = [(domain, seed) for seed in settings.seeds for domain in settings.domains]
    cells = complete(
        settings.out,
        cell,
        wanted,
        ("domain", "seed"),
        settings.workers,
        order=lambda item: (item["domain"], item["seed"]),
        extra=(settings.slack, settings.draws, settings.learners),
    )
    for group in ("mended on", "others"):
        own = [item for item in cells if (item["seed"] in MENDED_ON) == (group == "mended on")]
        for when in ("before", "after") if own else ():
            print(group, when, json.dumps(shares(own, when), indent=1))
