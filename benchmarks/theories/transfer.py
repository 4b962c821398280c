"""How well a theory found on some people predicts others, beside published theories and a learner of the same people.

    python benchmarks/run.py theories/transfer      # resumes where it stopped; benchmarks/raw/theories/transfer.json
    python benchmarks/run.py theories/transfer --only multiattribute --target "*/binary-5a"

Games are divided by whether either player has a row or column that pays more whatever the other does; people who learn
by age. Of each experiment of the two-step and probability data some people are drawn by a fixed seed (`N_PEOPLE`).

Each cell is a pair of sources and a target: answers that had no part in anything. On the sources a search of the
grammar, from all published theories of the domain, names a theory, as campaigns search. The published theories are
fitted to the same answers, and the one that is best there (experiments left out in turn) is the textbook's; generic
learners learn from them too. The target is then predicted by all three as they are. Completeness is the share of the
learners' gain over guessing. `transfer_before.json` holds what the search named before it climbed (commits 8a5f2a2
and fa995eb).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.domains.games.task import dominant_row
from lakatos.domains.published_data import find_reader, load_archive
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.grammar_search.composition_search import search_compositions
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief, SearchStart
from lakatos.theories.discovery.induction.induce import looks_back
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    log_predictive,
    mean_score,
    paired_difference,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.completeness import completeness
from lakatos.theories.findings.generic_learners.learners import left_out_kind, predict_others
from lakatos.theories.findings.transfer import relearned
from lakatos.theories.language.theory import Theory, read_program

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "transfer.json"
N_CANDIDATES, N_DRAWS = 40, 256
N_CANDIDATES_LEARNING = 16
"""Of people who learn, whose answers must be walked through."""
N_PEOPLE = 24
"""Drawn of each experiment in which people learn."""
FIELDS = ("group", "source", "target")


def pairs() -> Iterator[tuple[str, str, str]]:
    """Group, source and target, each ``data set``, or ``data set/experiment`` with ``*`` for any.

    ``data set/kind/-name`` is all of a kind but that experiment; of games, "dominance" and "no dominance" are kinds.
    """
    autocog = "multiattribute_autocog"
    for kind, n_parts in (("cardinal", 5), ("binary", 5)):
        for part in range(1, n_parts + 1):
            for half in "ab":
                name = f"{kind}-{part}{half}"
                yield f"multiattribute, {kind}", f"{autocog}/{kind}/-{name}", f"{autocog}/{name}"
    yield "risky", "risky_cpc18", "risky_spektor2024"
    yield "risky", "risky_spektor2024", "risky_cpc18"
    yield "risky", "risky_cpc18", "allais"
    for number in range(1, 6):
        name, data = f"framing-{number}", "intertemporal_ericson2015"
        yield "intertemporal", f"{data}/framing/-{name}", f"{data}/{name}"
    yield "games", "games_zhu2024/dominance", "games_zhu2024/no dominance"
    yield "games", "games_zhu2024/no dominance", "games_zhu2024/dominance"
    ages = "learning_probability_thoma2025"
    yield "learning, ages", f"{ages}/*-children", f"{ages}/*-adults"
    yield "learning, ages", f"{ages}/*-adults", f"{ages}/*-children"
    later, by_age = "learning_two_step_shahar2019", "learning_two_step_nussenbaum2020"
    yield "learning, two steps", later, by_age
    yield "learning, two steps", by_age, later


def read(place: str, data: Path) -> list[Trials]:
    """The experiments that a place of `pairs` stands for."""
    name, *rest = place.split("/")
    trials: Sequence[Trials] = load_archive(name, data)
    if name.startswith("games"):
        return [games_of_kind(trials[0].in_counts(), solvable=rest == ["dominance"])]
    if name.startswith("learning"):
        trials = [some_people(item, N_PEOPLE) for item in trials]
    if not rest:
        return list(trials)
    if len(rest) == 1:
        return [item for item in trials if fnmatch(item.experiment, rest[0])]
    kind, left_out = rest
    return [
        item
        for item in trials
        if item.experiment.startswith(kind) and item.experiment != left_out.removeprefix("-")
    ]


def games_of_kind(trials: Trials, *, solvable: bool) -> Trials:
    """Counts of the games in which either player has a dominant choice, or of all others."""
    seen = trials.stimuli
    own, others = dominant_row(seen["own"]), dominant_row(seen["other"].swapaxes(1, 2))
    chosen = ((own != 0) | (others != 0)) == solvable
    kept = chosen[trials.trial]
    return replace(
        trials,
        experiment="dominance" if solvable else "no dominance",
        stimuli=seen.take(np.flatnonzero(chosen)),
        participant=trials.participant[kept],
        trial=(np.cumsum(chosen) - 1)[trials.trial[kept]],
        response=trials.response[kept],
        count=trials.count[kept],
    )


def some_people(trials: Trials, n_people: int) -> Trials:
    """At most so many of them, drawn by a fixed seed."""
    rng = np.random.default_rng(1)
    chosen = np.zeros(trials.n_participants, dtype=bool)
    chosen[rng.permutation(trials.n_participants)[:n_people]] = True
    return trials.of_people(chosen)


def named_theory(laboratory: Laboratory, trials: Sequence[Trials]) -> Theory:
    """What a search of the grammar submits, pruned, with the people that the answers taught."""
    family = FAMILIES[laboratory.domain.name]
    published = tuple(composition for _, composition in family.seeds.values())
    learns, rng = laboratory.domain.sequential, np.random.default_rng(0)
    brief = AdvocateBrief(
        tuple(SearchStart(None, composition) for composition in published),
        published=published,
        n_candidates=len(published) + (N_CANDIDATES_LEARNING if learns else N_CANDIDATES),
        n_successors=1,
        looks_back=looks_back(laboratory.domain, trials, rng),
    )
    proposal = search_compositions(laboratory, family.grammar, brief, trials, rng)
    best = proposal.submitted[0].evaluated
    assert best is not None
    form = read_program(best.theory.program)
    (people,) = laboratory.people_of([form], [{}], trials)
    if isinstance(people, TheoryError):
        raise people
    return form.with_people(people, pooled=all(item.pooled for item in trials))


def cell(group: str, source: str, target: str, data: Path) -> dict[str, Any]:
    """One pair."""
    began = time.time()
    domain = DOMAINS[find_reader(source.split("/")[0]).domain]
    family = FAMILIES[domain.name]
    learned, unseen = read(source, data), read(target, data)
    n_options = [item.n_options for item in unseen]
    published = {name: read_program(family.program(name)) for name in family.seeds}
    learner = predict_others(domain, learned, unseen, kind=left_out_kind(learned)).scores
    with Laboratory(domain, n_workers=1) as laboratory:
        named = named_theory(laboratory, learned)
        rivals, _ = relearned(published, learned, laboratory, N_DRAWS)
        textbook = max(rivals, key=lambda item: mean_score(item[1]).value)[0]
        scores: dict[str, list[UnitScores]] = {}
        for theory in (named, *(theory for theory, _ in rivals)):
            evidence = laboratory.evidence(theory, unseen, N_DRAWS)
            scores[theory.digest] = [log_predictive(item) for item in evidence]
    best_there = max(
        (theory for theory, _ in rivals), key=lambda theory: mean_score(scores[theory.digest]).value
    )

    def told(theory: Theory) -> dict[str, Any]:
        own = scores[theory.digest]
        share = completeness(own, learner, n_options)
        return {
            "name": theory.name,
            "n_parameters": len(theory.priors),
            "score": mean_score(own).value,
            "completeness": _pair(share),
        }

    return {
        "commit": provenance()["commit"],
        "group": group,
        "source": source,
        "target": target,
        "named": told(named),
        "textbook": told(textbook),
        "best_published_there": told(best_there),
        "learner": mean_score(learner).value,
        "guessing": float(np.mean(-np.log(n_options))),
        "ahead_of_textbook": _pair(
            paired_difference(scores[named.digest], scores[textbook.digest])
        ),
        "ahead_of_best_there": _pair(
            paired_difference(scores[named.digest], scores[best_there.digest])
        ),
        "ahead_of_learner": _pair(paired_difference(scores[named.digest], learner)),
        "seconds": round(time.time() - began, 1),
    }


def _pair(estimate: ScoreEstimate | None) -> list[float] | None:
    return None if estimate is None else [estimate.value, estimate.standard_error]


def summary(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For each group of pairs: means with standard errors over pairs, and in how many the named theory is ahead."""
    found = {}
    for group in dict.fromkeys(item["group"] for item in cells):
        own = [item for item in cells if item["group"] == group]
        line: dict[str, Any] = {"n": len(own)}
        for key in (
            "ahead_of_textbook",
            "ahead_of_best_there",
            "ahead_of_learner",
        ):
            values = np.array([item[key][0] for item in own])
            errors = np.array([item[key][1] for item in own])
            spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else errors[0]
            line[key] = {
                "mean": float(values.mean()),
                "standard_error": float(spread),
                "not_worse": int((values >= -errors).sum()),
                "ahead": int((values > 0).sum()),
            }
        for who in ("named", "textbook"):
            shares = [item[who]["completeness"][0] for item in own if item[who]["completeness"]]
            line[f"completeness_{who}"] = {
                "mean": float(np.mean(shares)) if shares else None,
                "n": len(shares),
            }
        found[group] = line
    return found


def main() -> None:
    """Run the pairs that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", default="", help="beginning of a group's name")
    parser.add_argument("--target", default="*", help="pattern of targets")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LAKATOS_DATA", "data")))
    options = parser.parse_args()
    order = list(pairs())
    wanted = [
        item
        for item in order
        if item[0].startswith(options.only) and fnmatch(item[2], options.target)
    ]
    cells = complete(
        options.out, cell, wanted, FIELDS, options.workers,
        order=lambda item: order.index(tuple(item[name] for name in FIELDS)), extra=(options.data,),
    )  # fmt: skip
    found = summary(cells)
    options.out.write_text(
        json.dumps({**provenance(), "summary": found, "cells": cells}, indent=1) + "\n"
    )
    for group, line in found.items():
        print(group, line)
