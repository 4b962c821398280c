"""How much choosing theories by experiments that are predicted from the others helps.

    python benchmarks/theories/generality.py     # resumes; benchmarks/results/theories/generality.json

In each cell three experiments teach some fifty theories who their people are: the published ones and elaborations of
them by two to four edits of the grammar. One is chosen as a search would submit its best: "within" by how well the
learned people explain the same answers, or "between" by each experiment predicted from the other two; in both cases
among those with nearly the smallest error on the proportions of the same answers, unless "no errors" is said. What is
chosen then predicts other experiments as it is. In the cells of `multiattribute_autocog` these are the seven others of
the same kind; in those of a hidden rule four others at random, answered by the same simulated people.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.stats import spearmanr  # noqa: E402

from benchmarks.cells import complete, mean_interval  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.theories.discovery import ALL, SPACES  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.domains.published_data import load_archive  # noqa: E402
from lakatos.experiments.task import Trials, with_random_sides  # noqa: E402
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate  # noqa: E402
from lakatos.theories.discovery.grammar_search.proposal import CompositionAttempt, ranked  # noqa: E402
from lakatos.theories.discovery.grammar_search.search_tree import ArchiveMap  # noqa: E402
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition  # noqa: E402
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402
from lakatos.theories.engine.scoring.score import (  # noqa: E402
    UnitScores,
    log_predictive,
    paired_difference,
    proportion_error,
)
from lakatos.theories.errors import TheoryError  # noqa: E402
from lakatos.theories.language.grammar import Composition, Grammar  # noqa: E402
from lakatos.theories.language.theory import TheoryProgram, read_program  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "theories" / "generality.json"
ARCHIVE = "multiattribute_autocog"
KINDS = ("cardinal", "binary")
ARMS = ("within", "between, errors within", "between, no errors")
RULES = ("veto", "daily gain")
N_TAUGHT, N_OTHERS, N_ELABORATED, N_DRAWS = 3, 4, 24, 128
N_TRIALS, N_PEOPLE = 24, 25


def experiments_of(group: str, seed: int, data: Path) -> tuple[str, list[Trials], list[Trials]]:
    """Domain, the experiments that teach, and the others."""
    rng = np.random.default_rng(seed)
    if group in KINDS:
        own = [item for item in load_archive(ARCHIVE, data) if item.experiment.startswith(group)]
        order = rng.permutation(len(own))
        chosen = [own[place] for place in order]
        return "multiattribute", chosen[:N_TAUGHT], chosen[N_TAUGHT:]
    rule = ALL[group]
    domain, truth = DOMAINS[rule.domain], read_program(TheoryProgram(rule.program, "hidden"))
    found = []
    with Laboratory(domain, n_workers=1) as laboratory:
        for number in range(N_TAUGHT + N_OTHERS):
            space = rule.space or SPACES[rule.domain]
            stimuli = with_random_sides(domain, domain.candidates(space, rng, N_TRIALS), rng)
            (answers,) = laboratory.simulate([truth], stimuli, N_PEOPLE, rng, n_draws=32)
            found.append(replace(answers, experiment=str(number)))
    return rule.domain, found[:N_TAUGHT], found[N_TAUGHT:]


def forms(grammar: Grammar, published: Sequence[Composition], seed: int) -> list[Composition]:
    """Published forms without a memory, and elaborations of them."""
    rng, has_memory = np.random.default_rng(seed), ArchiveMap(grammar).has_memory
    found = {item.key: item for item in published if not has_memory(item)}
    bases, n_published = list(found.values()), len(found)
    while len(found) < n_published + N_ELABORATED:
        form = bases[rng.integers(len(bases))]
        for _ in range(rng.integers(2, 5)):
            edits = grammar.edits(form)
            form = edits[rng.integers(len(edits))][1]
        if not has_memory(form):
            found[form.key] = form
    return list(found.values())


def chosen_by(
    advocate: GrammarAdvocate, fits: Sequence[EvaluatedComposition]
) -> tuple[CompositionAttempt, dict[object, float]]:
    """What a search would submit first, and the criterion of every form."""
    attempts = ranked([advocate.attempt(item.composition, None, "", item) for item in fits])
    criteria = {item.composition.key: item.criterion for item in attempts}
    return advocate.submitted(attempts, 1)[0], criteria


def cell(group: str, seed: int, data: Path) -> dict[str, Any]:
    """One choice among the same theories by two criteria."""
    began = time.time()
    domain, taught, others = experiments_of(group, seed, data)
    family = FAMILIES[domain]
    candidates = forms(family.grammar, [item for _, item in family.seeds.values()], seed)
    advocate = GrammarAdvocate(family.grammar)
    arms: dict[str, list[EvaluatedComposition]] = {arm: [] for arm in ARMS}
    unseen: dict[object, list[UnitScores]] = {}
    with Laboratory(DOMAINS[domain], n_workers=1) as laboratory:
        items = [(item, None) for item in candidates]
        for fitted in laboratory.evaluate(family.grammar, items, taught, n_draws=N_DRAWS):
            if isinstance(fitted, TheoryError):
                continue
            evidence = laboratory.evidence(fitted.theory, [*taught, *others], N_DRAWS)
            scores = [log_predictive(item) for item in evidence]
            errors = [
                proportion_error(item.probabilities.mean(axis=0), item.trials)[0]
                for item in evidence[:N_TAUGHT]
            ]
            known = {"error": float(np.mean(errors))}
            arms["within"].append(replace(fitted, scores=tuple(scores[:N_TAUGHT]), **known))
            (apart,) = laboratory.scores_of([fitted.theory], taught, N_DRAWS)
            if isinstance(apart, TheoryError):
                continue
            between = tuple(item.left_out for item in apart)
            arms["between, errors within"].append(replace(fitted, scores=between, **known))
            arms["between, no errors"].append(replace(fitted, scores=between, error=0.0))
            unseen[fitted.composition.key] = scores[N_TAUGHT:]
    reached = {key: _mean(scores) for key, scores in unseen.items()}
    found: dict[str, Any] = {"group": group, "seed": seed, "n_theories": len(unseen)}
    keys = list(unseen)
    picks = {}
    for name, fits in arms.items():
        pick, criteria = chosen_by(advocate, fits)
        assert pick.evaluated is not None
        picks[name] = pick.composition.key
        found[name] = {
            "name": pick.evaluated.theory.name,
            "n_parameters": len(pick.evaluated.theory.priors),
            "score": reached[picks[name]],
            "rank_correlation": float(
                spearmanr([criteria[key] for key in keys], [reached[key] for key in keys])[0]
            ),
        }
    for name in ARMS[1:]:
        gain = paired_difference(unseen[picks[name]], unseen[picks["within"]])
        found[name]["gain"] = [gain.value, gain.standard_error]
    found["best"] = max(reached.values())
    found["seconds"] = round(time.time() - began, 1)
    return found


def _mean(scores: Sequence[UnitScores]) -> float:
    return float(np.mean([item.mean for item in scores]))


def summary(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """By group, and over all: means with 95% intervals over cells."""
    found = {}
    groups = {
        group: [item for item in cells if item["group"] == group] for group in (*KINDS, *RULES)
    }
    for group, own in (*groups.items(), ("all", list(cells))):
        if own:
            found[group] = {"n": len(own)} | {arm: _line(own, arm) for arm in ARMS}
    return found


def _line(cells: Sequence[dict[str, Any]], arm: str) -> dict[str, Any]:
    line: dict[str, Any] = {
        "short_of_best": mean_interval([item["best"] - item[arm]["score"] for item in cells]),
        "rank_correlation": mean_interval([item[arm]["rank_correlation"] for item in cells]),
        "n_parameters": float(np.mean([item[arm]["n_parameters"] for item in cells])),
    }
    if arm != ARMS[0]:
        gains = [item[arm]["gain"][0] for item in cells]
        line |= {"gain": mean_interval(gains), "n_other_choice": sum(map(bool, gains))}
    return line


def main() -> None:
    """Run the cells that are missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LAKATOS_DATA", "data")))
    options = parser.parse_args()
    wanted = [(group, seed) for seed in range(options.seeds) for group in (*KINDS, *RULES)]
    cells = complete(
        options.out, cell, wanted, ("group", "seed"), options.workers,
        order=lambda item: wanted.index((item["group"], item["seed"])), extra=(options.data,),
    )  # fmt: skip
    found = summary(cells)
    body = {**provenance(), "summary": found, "cells": cells}
    options.out.write_text(json.dumps(body, indent=1) + "\n")
    for group, line in found.items():
        print(group, line)


if __name__ == "__main__":
    main()
