"""True and false mechanisms named after one experiment, with prior odds from earlier campaigns and without.

    python benchmarks/run.py memory/prior_odds      # resumes; benchmarks/raw/memory/prior_odds.json

A world is a kind of task, a rule that its campaigns have in common, and a campaign. The campaign's hidden rule keeps
each slot of the common rule with probability 0.7 (in the control with probability 0), as do the rules of six earlier
campaigns. Each of these left a theory: its own rule with probability 0.4, otherwise a rule one to three edits away.
All rules have four to eight mechanisms. Forty simulated participants respond to 16 random trials, and a search of 16
candidates names a theory. All arms have the same responses: no memory, the six theories as starts of the search,
their prior odds, and both.

Counted are mechanisms of the named theory that the hidden rule has and has not, and the error of its predictions for
200 other trials. Differences are paired by world; intervals are 95% bootstraps over worlds.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.memory.winners import drawn, interval, tells_apart
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.explanations import SPACES, planted
from benchmarks.theories.planted import STARTS, parts
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import with_random_sides
from lakatos.theories.discovery.grammar_search.composition_search import search_compositions
from lakatos.theories.discovery.grammar_search.prior_odds import EQUAL_ODDS, prior_odds
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief, SearchStart
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.grammar import Composition

RESULT = ROOT / "benchmarks" / "raw" / "memory" / "prior_odds.json"
TASKS = ("multiattribute", "risky", "intertemporal", "offers")
ARMS = {
    "none": (False, False),
    "starts": (True, False),
    "odds": (False, True),
    "both": (True, True),
}
"""Whether earlier theories begin the search, and whether their prior odds count."""
COMMON = {"shared": 0.7, "control": 0.0}
N_EARLIER, RIGHT, MOST_EDITS = 6, 0.4, 3
N_TRIALS, N_PEOPLE, N_CANDIDATES, N_NEW, N_DRAWS = 16, 40, 16, 200, 256


def small(domain: str, rng: np.random.Generator) -> Composition:
    """A rule of four to eight mechanisms."""
    while True:
        found = drawn(domain, rng)
        if 4 <= len(parts(FAMILIES[domain].grammar, found)) <= 8:
            return found


def rule(domain: str, number: int, common: float, place: int) -> Composition:
    """A rule that keeps each slot of the world's common rule with a probability."""
    core = small(domain, np.random.default_rng([number, 70]))
    rng = np.random.default_rng([number, place, 71])
    while True:
        own = small(domain, rng)
        slots = {
            slot.name: (core if rng.random() < common else own).slots.get(slot.name, ())
            for slot in FAMILIES[domain].grammar.slots
        }
        found = Composition({name: chosen for name, chosen in slots.items() if chosen})
        if FAMILIES[domain].grammar.is_coherent(found) and tells_apart(domain, found):
            return found


def left_by(domain: str, number: int, common: float, place: int) -> Composition:
    """The theory that an earlier campaign left: its rule, or one that is one to three edits away."""
    rng, found = np.random.default_rng([number, place, 72]), rule(domain, number, common, place)
    if rng.random() >= RIGHT:
        for _ in range(int(rng.integers(1, MOST_EDITS + 1))):
            edits = FAMILIES[domain].grammar.edits(found)
            found = edits[int(rng.integers(len(edits)))][1]
    return found


def cell(domain: str, number: int, world: str) -> dict[str, Any]:
    """One world in all arms."""
    family, common = FAMILIES[domain], COMMON[world]
    hidden = rule(domain, number, common, 0)
    earlier = [left_by(domain, number, common, place + 1) for place in range(N_EARLIER)]
    starts = tuple(SearchStart(None, family.seeds[name][1]) for name in STARTS[domain])
    published = tuple(form for _, form in family.seeds.values())
    true = parts(family.grammar, hidden)
    found: dict[str, Any] = {
        "domain": domain,
        "number": number,
        "world": world,
        "n_true": len(true),
    }
    with Laboratory(DOMAINS[domain], n_workers=1) as lab:
        rng = np.random.default_rng([number, 73])
        truth = planted(family.grammar, hidden, rng)
        stimuli = DOMAINS[domain].candidates(SPACES.get(domain, {}), rng, N_TRIALS)
        presented = with_random_sides(DOMAINS[domain], stimuli, rng)
        (trials,) = lab.simulate([truth], presented, N_PEOPLE, rng)
        trials = replace(trials, experiment="1")
        fresh = DOMAINS[domain].candidates(SPACES.get(domain, {}), np.random.default_rng(99), N_NEW)
        wanted = lab.proportions(truth, fresh, N_DRAWS)
        for arm, (begins, counts) in ARMS.items():
            own = (
                [
                    SearchStart(None, item, "earlier")
                    for item in {item.key: item for item in earlier}.values()
                ]
                if begins
                else []
            )
            brief = AdvocateBrief(
                (*starts, *own[: N_CANDIDATES // 3]),
                published=published,
                n_candidates=N_CANDIDATES,
                n_successors=1,
                looks_back=False,
                odds=prior_odds(family.grammar, earlier) if counts else EQUAL_ODDS,
            )
            rng = np.random.default_rng([number, 74])
            best = search_compositions(lab, family.grammar, brief, [trials], rng).submitted[0]
            assert best.evaluated is not None
            named = parts(family.grammar, best.composition)
            error = lab.proportions(best.evaluated.theory, fresh, N_DRAWS) - wanted
            found[arm] = {
                "true": len(named & true),
                "false": len(named - true),
                "error": round(float(np.sqrt(np.mean(error**2))), 4),
            }
    return found


def table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Each arm beside the one without memory."""
    found: dict[str, Any] = {}
    for world in COMMON:
        own = [row for row in rows if row["world"] == world]
        if len(own) < 2:
            continue
        for arm in ARMS:
            for name in ("true", "false", "error"):
                values, base = (np.array([row[key][name] for row in own]) for key in (arm, "none"))
                found[f"{world}: {arm}: {name}"] = {
                    "mean": interval(values),
                    "more than none": interval(values - base),
                }
        found[f"{world}: true mechanisms in all"] = interval(
            np.array([row["n_true"] for row in own])
        )
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--numbers", type=int, nargs="*", default=list(range(8)))
    arguments.add_argument("--tasks", nargs="*", default=list(TASKS), choices=TASKS)
    arguments.add_argument("--out", type=Path, default=RESULT)
    given = arguments.parse_args()
    wanted = [
        (domain, number, world)
        for number in given.numbers
        for domain in given.tasks
        for world in COMMON
    ]
    rows = complete(
        given.out,
        cell,
        wanted,
        ("domain", "number", "world"),
        1,
        order=lambda row: (row["number"], row["domain"], row["world"]),
    )
    given.out.write_text(
        json.dumps({**provenance(), "tables": table(rows), "cells": rows}, indent=1) + "\n"
    )
    print(json.dumps(table(rows), indent=1))


if __name__ == "__main__":
    main()
