"""How far does a search of the grammar come? The advocate's tree against best-first search and random composition.

    python benchmarks/run.py theories/search     # resumes where it stopped; benchmarks/raw/theories/search.json

25 simulated people see distinct trials of the demonstration's space twice and follow a rule of the grammar: a canonical
one, or one of two to four mechanisms that only predict well together. Every search starts from take-the-best and
tallying and may fit equally many candidates. The measure is the mean squared error of choice proportions against
the rule's own on trials of the space drawn once for all: of the theory *named* (submitted first), of the *best* that
was fitted, and, as the floor of what these answers can teach, of the rule's own composition fitted to them.

Best-first search is the advocate as it was before the tree: all edits of the best composition not yet expanded.
``--methods campaign`` is the search as campaigns have it, which also knows the published forms, glances and eliminates
where the laboratory can, and fits by itself; run at two commits, with files of their own, it compares their searches.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import standard_error
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import FAMILIES
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.composition_search import search_compositions
from lakatos.theories.discovery.grammar_search.proposal import (
    AdvocateBrief,
    CompositionAttempt,
    Evaluate,
    SearchStart,
    ranked,
)
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "search.json"
DOMAIN = MultiattributeDomain()
FULL = FAMILIES["multiattribute"].grammar
GRAMMAR = replace(
    FULL,
    slots=tuple(slot for slot in FULL.slots if slot.name != "history"),
    mechanisms=tuple(item for item in FULL.mechanisms if item.slot != "history"),
)
"""Without memories, which no rule here has: fitting one takes some forty times as long."""
SETTINGS = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}
N_PEOPLE, REPETITIONS, N_SPACE, N_DRAWS = 25, 2, 2000, 256
STARTS = ("take_the_best", "tallying")
METHODS = ("tree", "best-first", "random")
CAMPAIGN = "campaign"
SLACKS = (1.0, 1.1, 1.25, 1.5, np.inf)
"""Rules by which the named theory could be chosen: the best by criterion within this much of the least error."""

Rule = tuple[dict[str, tuple[str, ...]], dict[str, tuple[float, float]]]
"""Mechanisms by slot beside the skeleton's plainest, and center and spread of some parameters on their scale."""
DETERMINISTIC = ("deterministic",)
CANONICAL: dict[str, Rule] = {
    "weighted additive": ({"choice": DETERMINISTIC}, {}),
    "equal weights": ({"weight": ("equal",)}, {"sensitivity": (8.0, 0.2)}),
    "diminishing returns": (
        {"utility": ("diminishing",)},
        {"curvature": (0.4, 0.2), "sensitivity": (10.0, 0.2)},
    ),
    "satisficing": (
        {"utility": ("satisficing",)},
        {"aspiration": (0.6, 0.05), "sensitivity": (5.0, 0.2)},
    ),
}
COMPOSED: dict[str, Rule] = {
    "parity and weights": (
        {"weight": ("log_odds",), "accent": ("odd_sum",)},
        {"odd_sum_bonus": (1.5, 0.2), "sensitivity": (3.0, 0.2)},
    ),
    "best two unlike, alone": (
        {"integration": ("nothing",), "accent": ("best_two_unlike",)},
        {"best_two_unlike_bonus": (1.0, 0.05), "sensitivity": (4.0, 0.2)},
    ),
    "single-peaked, best cue inverted": (
        {"utility": ("single_peaked",), "direction": ("best_inverted",)},
        {"bend": (1.5, 0.1), "sensitivity": (6.0, 0.2)},
    ),
    "proportional, fading, first reason": (
        {
            "comparison": ("proportional",),
            "selection": ("fading",),
            "integration": ("noisy_reasons",),
            "accent": ("first_reason",),
        },
        {"persistence": (0.6, 0.05), "first_reason_bonus": (0.4, 0.05), "sensitivity": (6.0, 0.2)},
    ),
    "best few, balance, some who count": (
        {
            "weight": ("above_chance",),
            "selection": ("best_few",),
            "integration": ("balance",),
            "other": ("tallying",),
        },
        {"n_looked_up": (2.5, 0.3), "sensitivity": (5.0, 0.2), "counting_type": (0.0, 1.0)},
    ),
    "veto against the majority": (
        {"weight": ("equal",), "accent": ("veto", "majority")},
        {
            "veto_bonus": (1.5, 0.2),
            "least_acceptable": (0.2, 0.05),
            "majority_bonus": (-1.0, 0.2),
            "sensitivity": (3.0, 0.2),
        },
    ),
}
RULES = CANONICAL | COMPOSED


def rule(name: str) -> Theory:
    """The hidden rule, with its people."""
    mechanisms, values = RULES[name]
    plain = {
        "utility": ("linear",),
        "comparison": ("difference",),
        "weight": ("validity",),
        "integration": ("sum",),
        "choice": ("logistic",),
    }
    composition = Composition(plain | mechanisms)
    priors: dict[str, Mapping[str, Any]] = {}
    for parameter, declared in GRAMMAR.parameters(composition).items():
        center, spread = values[parameter]
        is_log = declared["prior"].startswith("log")
        shape = {"prior": "log_normal", "median": center, "log_sd": spread}
        shape = shape if is_log else {"prior": "normal", "mean": center, "sd": spread}
        priors[parameter] = shape | {"low": declared["low"], "high": declared["high"]}
    return read_program(
        TheoryProgram(GRAMMAR.write(Composition(composition.slots, priors), name), "hidden")
    )


class Problem:
    """Answers of people who follow one rule, and the fits of all compositions that some search asked for."""

    def __init__(self, laboratory: Laboratory, name: str, n_trials: int, seed: int) -> None:
        """Simulate the people."""
        rng = np.random.default_rng([seed, n_trials, *name.encode()])
        self.laboratory, self.hidden = laboratory, rule(name)
        stimuli = DOMAIN.candidates(SETTINGS, rng, n_trials)
        self.trials: list[Trials] = laboratory.simulate(
            [self.hidden], stimuli, N_PEOPLE, rng, repetitions=REPETITIONS
        )
        self.space = DOMAIN.candidates(SETTINGS, np.random.default_rng(0), N_SPACE)
        self.truth = laboratory.proportions(self.hidden, self.space, 1024)[:, 1]
        self._fits: dict[object, EvaluatedComposition | TheoryError] = {}
        self._errors: dict[object, float] = {}

    def evaluate(
        self, items: Sequence[tuple[Composition, Digest | None]]
    ) -> list[EvaluatedComposition | TheoryError]:
        """Each composition is fitted once, whoever asks."""
        new = {composition.key: (composition, parent) for composition, parent in items}
        new = {key: item for key, item in new.items() if key not in self._fits}
        fits = self.laboratory.evaluate(GRAMMAR, list(new.values()), self.trials, n_draws=N_DRAWS)
        self._fits |= dict(zip(new, fits, strict=True))
        return [self._fits[composition.key] for composition, _ in items]

    def error(self, fit: EvaluatedComposition) -> float:
        """Mean squared error against the rule."""
        key = fit.composition.key
        if key not in self._errors:
            predicted = self.laboratory.proportions(fit.theory, self.space, N_DRAWS, lapse=False)[
                :, 1
            ]
            self._errors[key] = float(np.mean((predicted - self.truth) ** 2))
        return self._errors[key]


def search(
    method: str, brief: AdvocateBrief, evaluate: Evaluate, rng: np.random.Generator
) -> list[CompositionAttempt]:
    """All that a method tried, best first."""
    advocate = GrammarAdvocate(GRAMMAR)
    if method == "tree":
        return list(advocate.revise(brief, evaluate, rng).attempts)
    tried: dict[object, CompositionAttempt] = {}

    def attempt(compositions: Sequence[Composition]) -> None:
        new = {item.key: item for item in reversed(compositions) if item.key not in tried}
        items = list(new.values())[::-1][: brief.n_candidates - len(tried)]
        for item, result in zip(items, evaluate([(item, None) for item in items]), strict=True):
            tried[item.key] = advocate.attempt(item, None, "", result)

    share = 1.0 if method == "random" else 0.15
    attempt([start.composition for start in brief.starts])
    attempt([GRAMMAR.compose(rng) for _ in range(int(share * brief.n_candidates))])
    expanded: set[object] = set()
    while len(tried) < brief.n_candidates:
        if method == "random":
            attempt([GRAMMAR.compose(rng)])
            continue
        turns = [start.composition.key for start in brief.starts]
        order = [
            *turns,
            *(item.composition.key for item in ranked(tried.values()) if item.evaluated),
        ]
        key = next(key for key in order if key not in expanded)
        expanded.add(key)
        edits = GRAMMAR.edits(tried[key].composition)
        attempt([edits[place][1] for place in rng.permutation(len(edits))])
    return ranked(tried.values())


def as_in_campaigns(
    problem: Problem, brief: AdvocateBrief, rng: np.random.Generator
) -> list[CompositionAttempt]:
    """What the whole search of a campaign submits and tried, best first."""
    forms = [form for _, form in FAMILIES["multiattribute"].seeds.values()]
    published = tuple(form for form in forms if "history" not in form.slots)
    known = replace(brief, published=published)
    found = search_compositions(problem.laboratory, GRAMMAR, known, problem.trials, rng)
    return [*found.submitted, *ranked(found.attempts)]


def one(
    name: str, n_trials: int, seed: int, n_candidates: int, methods: Sequence[str] = METHODS
) -> list[dict[str, object]]:
    """Every method on one problem."""
    starts = tuple(
        SearchStart(None, Composition(dict(FAMILIES["multiattribute"].seeds[seed_theory][1].slots)))
        for seed_theory in STARTS
    )
    brief = AdvocateBrief(starts, n_candidates=n_candidates)
    with Laboratory(DOMAIN, n_workers=1) as laboratory:
        problem = Problem(laboratory, name, n_trials, seed)
        assert problem.hidden.composition is not None
        (own,) = problem.evaluate([(Composition(dict(problem.hidden.composition)), None)])
        assert isinstance(own, EvaluatedComposition)
        cells = []
        for method in methods:
            begun, rng = time.process_time(), np.random.default_rng(seed)
            if method == CAMPAIGN:
                attempts = as_in_campaigns(problem, brief, rng)
            else:
                attempts = search(method, brief, problem.evaluate, rng)
            seconds = time.process_time() - begun
            working = [(item, item.evaluated) for item in attempts if item.evaluated is not None]
            least = min(fit.error for _, fit in working)
            named = {
                str(slack): problem.error(
                    next(fit for _, fit in working if fit.error <= slack * least)
                )
                for slack in SLACKS
            }
            best = min(working, key=lambda pair: problem.error(pair[1]))[1]
            cells.append(
                {
                    "rule": name,
                    "composed": name in COMPOSED,
                    "n_trials": n_trials,
                    "seed": seed,
                    "n_candidates": n_candidates,
                    "method": method,
                    "named": (
                        problem.error(working[0][1])
                        if method == CAMPAIGN
                        else named[str(GrammarAdvocate(GRAMMAR).slack)]
                    ),
                    "named_by_slack": named,
                    "best": problem.error(best),
                    "own": problem.error(own),
                    "criterion": working[0][0].criterion,
                    "theory": working[0][1].theory.name,
                    "n_mechanisms": sum(map(len, working[0][0].composition.slots.values())),
                    "seconds": round(seconds, 1),
                }
            )
    return cells


def summary(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Means with standard errors over rules and seeds, and the tree's paired advantage."""
    rows: list[dict[str, object]] = []
    for composed in (False, True):
        here = [cell for cell in cells if cell["composed"] == composed]
        tree = np.array([cell["named"] for cell in here if cell["method"] == "tree"])
        for method in (*METHODS, CAMPAIGN):
            mine = [cell for cell in here if cell["method"] == method]
            if not mine:
                continue
            row: dict[str, object] = {
                "rules": "composed" if composed else "canonical",
                "method": method,
            }
            for what in ("named", "best", "own"):
                row[what] = _mean([cell[what] for cell in mine])
            if len(tree) == len(mine):
                errors = np.array([cell["named"] for cell in mine])
                row["advantage of the tree"] = _mean(errors - tree)
            row["named by slack"] = {
                str(slack): _mean([cell["named_by_slack"][str(slack)] for cell in mine])
                for slack in SLACKS
            }
            rows.append(row)
    return rows


def _mean(values: Sequence[float] | Array) -> list[float]:
    """Mean and standard error."""
    array = np.asarray(values, dtype=float)
    return [round(float(array.mean()), 6), round(standard_error(array), 6)]


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--trials", type=int, nargs="+", default=[48, 120])
    options.add_argument("--candidates", type=int, default=60)
    options.add_argument("--rules", nargs="+", default=list(RULES))
    options.add_argument("--methods", nargs="+", default=METHODS, choices=(*METHODS, CAMPAIGN))
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    cells = json.loads(chosen.out.read_text())["cells"] if chosen.out.exists() else []
    have = {(cell["rule"], cell["n_trials"], cell["seed"], cell["n_candidates"]) for cell in cells}
    todo = [
        (name, n_trials, seed, chosen.candidates)
        for seed in range(1, chosen.seeds + 1)
        for n_trials in chosen.trials
        for name in chosen.rules
        if (name, n_trials, seed, chosen.candidates) not in have
    ]
    with ProcessPoolExecutor(chosen.workers) as pool:
        for future in as_completed([pool.submit(one, *item, chosen.methods) for item in todo]):
            found = future.result()
            cells += found
            print(
                found[0]["rule"],
                {cell["method"]: (cell["named"], cell["best"]) for cell in found},
                flush=True,
            )
            cells.sort(
                key=lambda cell: (cell["rule"], cell["n_trials"], cell["seed"], cell["method"])
            )
            chosen.out.parent.mkdir(parents=True, exist_ok=True)
            result = {**provenance(), "summary": summary(cells), "cells": cells}
            chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    for row in summary(cells):
        print(row)
