"""Experiments until recovery with the library of winners and without, where campaigns have much in common and nothing.

    python benchmarks/run.py memory/winners      # resumes where it stopped; benchmarks/raw/memory/winners.json

Every campaign asks simulated people who follow a rule that nobody knows. In each domain one rule, drawn from the
grammar, is what its people have in common: each campaign's rule keeps each slot of it with probability 0.7, or with
probability 0, and draws the others anew, until its choices differ between trials. Campaigns of a domain follow one
another. Arms of 0.7: *none* takes nothing from earlier campaigns, *winners* takes the library of winners, *wrong* as
well, but before every campaign a rival laboratory puts the rule of people with whom these have nothing in common into
the library, as the verdict of a campaign that held; it is then the newest winner, and half of all are wrong. Arms of 0
are *none* and *winners*: the negative control.

After every cycle the leader's choice proportions are compared with those of the hidden rule on all trials of the space;
within 0.05 root mean square it counts as recovered (tables have other limits, too). A campaign that never gets there
counts with one experiment more than it had. The first campaign of a domain has no library and is not counted.
Differences are paired by campaign; intervals are 95% bootstraps over campaigns.

What would make this fail: rules that the first experiment settles, or that the search does not reach in any arm.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.flows.run.evidence import theory_of
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.start import run_study
from lakatos.memory.winner import TheoryTried, TheoryWon
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.head import write_head
from lakatos.traces.step import Trace

RESULT = ROOT / "benchmarks" / "raw" / "memory" / "winners.json"
SPACES: dict[str, dict[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]},
    "risky": {"amounts": [0, 2, 5, 10, 20], "probabilities": [0.1, 0.25, 0.5, 0.75, 0.9]},
    "intertemporal": {
        "amounts": [10, 50, 100, 500],
        "ratios": [1.05, 1.2, 1.5, 2, 4],
        "delays_days": [0, 30],
        "intervals_days": [7, 30, 120, 365],
    },
    "offers": {},
}
"""Domains of single trials, of 160 to 425 each: what is compared with the hidden rule is all of them."""
ARMS = {
    "none": (0.7, False, False),
    "winners": (0.7, True, False),
    "wrong": (0.7, True, True),
    "control none": (0.0, False, False),
    "control winners": (0.0, True, False),
}
"""What campaigns have in common, whether the library is taken, and whether a rival laboratory fills it, too."""
PAIRS = (("winners", "none"), ("wrong", "none"), ("control winners", "control none"))
CYCLES = 3
RECOVERED = 0.05
"""Root mean square difference of choice proportions."""
LIMITS = (0.02, 0.03, 0.05, 0.1)
N_BOOTSTRAP = 4000
LEAST_SPREAD = 0.1
"""Standard deviation of choice proportions over trials."""


def hidden_rule(domain: str, number: int, common: float) -> Composition:
    """The rule of one campaign: what the domain's people have in common, with some slots drawn anew."""
    grammar, place = FAMILIES[domain].grammar, list(SPACES).index(domain)
    core = drawn(domain, np.random.default_rng([place, 60]))
    rng = np.random.default_rng([place, number, 61])
    while True:
        other = drawn(domain, rng)
        slots = {
            slot.name: (core if rng.random() < common else other).slots.get(slot.name, ())
            for slot in grammar.slots
        }
        if tells_apart(domain, found := Composition(slots)):
            return found


def drawn(domain: str, rng: np.random.Generator) -> Composition:
    """A composition at random none of whose mechanisms remembers earlier trials, and whose choices differ."""
    grammar = FAMILIES[domain].grammar
    while True:
        found = grammar.compose(rng)
        if any(item.learn or item.start for item in grammar.used(found)):
            continue
        if tells_apart(domain, found):
            return found


@cache
def laboratory_of(domain: str) -> Laboratory:
    """One laboratory for each domain, which ends with the process."""
    return Laboratory(DOMAINS[domain], 1)


def tells_apart(domain: str, rule: Composition) -> bool:
    """Whether people who follow a rule choose differently on different trials."""
    source = FAMILIES[domain].grammar.write(rule, "a rule")
    theory = read_program(TheoryProgram(source, "hidden"))
    found = laboratory_of(domain).proportions(theory, DOMAINS[domain].space(SPACES[domain]), 64)
    return bool(found.std() >= LEAST_SPREAD)


def study(domain: str, number: int, arm: str) -> CampaignConfig:
    """One small campaign."""
    family = FAMILIES[domain]
    common, takes, _ = ARMS[arm]
    return parse_study(
        {
            "name": f"{domain}-{number}",
            "question": "Which rule do these people follow?",
            "domain": domain,
            "seed": 1000 + number,
            "space": SPACES[domain],
            "theories": {
                "seeds": list(family.seeds)[:2],
                "candidates": 12,
                "successors": 1,
                "draws": 64,
                "rivals": 3,
                "induction": False,
            },
            "design": {
                "trials": 16,
                "participants": 40,
                "candidates": 100,
                "power": 0.6,
                "refused": "cover",
            },
            "participants": {
                "source": "simulated",
                "program": family.grammar.write(hidden_rule(domain, number, common), "hidden"),
            },
            "stop": {"cycles": CYCLES, "least_cycles": CYCLES, "patience": CYCLES},
            "validation": {"comparison_models": False},
            "memory": {"winners": takes},
        },
        domain,
    )


def plant(runs: Path, domain: str, number: int) -> None:
    """A rival laboratory's run beside the others: a rule of other people, as the winner of a campaign that held."""
    folder = runs / f"rival-{number:03d}"
    if folder.exists():
        return
    family = FAMILIES[domain]
    rule = drawn(domain, np.random.default_rng([list(SPACES).index(domain), number, 62]))
    source = family.grammar.write(rule, "a rule of other people")
    theory = read_program(TheoryProgram(source, "rival"))
    with Trace.create(folder, seed=number, types=RECORD_TYPES, meta={}) as trace:
        verdict = trace.artifacts.put_json({"verdict": number})
        tried = TheoryTried(data="1.1", score=-0.4, interval=(-0.45, -0.35), behind=0.0, held=True)
        winner = TheoryWon(
            domain=domain,
            study=f"rival {number}",
            theory=theory.digest,
            source=source,
            name=theory.name,
            claim=theory.claim,
            author="rival",
            leads=True,
            holds=True,
            answers="",
            tried=(tried,),
            completeness=(1.0, 0.05),
            evidence=(verdict,),
            justified_by=(verdict,),
        )
        trace.record(winner, name="winner", inputs=[verdict])
    write_head(folder, begins=True)


def cell(domain: str, number: int, arm: str, options: argparse.Namespace) -> dict[str, Any]:
    """One campaign of one arm, after all campaigns of its domain before it."""
    config = study(domain, number, arm)
    runs = Path(options.runs) / arm.replace(" ", "-") / domain
    runs.mkdir(parents=True, exist_ok=True)
    folder = runs / f"{number:03d}"
    if folder.exists():  # cut short
        shutil.rmtree(folder)
    if ARMS[arm][2]:
        plant(runs, domain, number)
    begun, used = time.perf_counter(), time.process_time()
    run_study(config, folder, n_workers=1)
    spent = {
        "seconds": round(time.perf_counter() - begun, 1),
        "processor": round(time.process_time() - used, 1),
    }
    return {"domain": domain, "number": number, "arm": arm, **spent, **measured(folder, config)}


def measured(folder: Path, config: CampaignConfig) -> dict[str, Any]:
    """How near the leader of every cycle was to the hidden rule, and what the library brought."""
    state, trace = read_state(folder)
    domain = DOMAINS[config.domain]
    stimuli = domain.space(config.space)
    hidden = read_program(TheoryProgram(config.participants.program, "hidden"))
    laboratory = laboratory_of(config.domain)
    with trace:
        truth = laboratory.proportions(hidden, stimuli, 512)
        errors: dict[str, float] = {}
        for item in state.campaign.cycles:
            leader = item.record.leader
            if leader not in errors:
                found = laboratory.proportions(
                    theory_of(trace.artifacts, state, leader), stimuli, 512
                )
                errors[leader] = float(np.sqrt(np.mean((found - truth) ** 2)))
    there = {
        item.record.experiment: item.record.cycle for item in state.experiments.designs.values()
    }
    leaders = [item.record.leader for item in state.campaign.cycles]
    return {
        "errors": [round(errors[name], 4) for name in leaders],
        "experiments": [
            sum(there[name] <= item.record.cycle for name in state.experiments.collected)
            for item in state.campaign.cycles
        ],
        "from_library": len(state.memory.theories),
        "library_leads": leaders[-1] in state.memory.theories,
    }


def until(row: dict[str, Any], limit: float = RECOVERED) -> float:
    """Experiments until recovery."""
    for error, experiments in zip(row["errors"], row["experiments"], strict=True):
        if error <= limit:
            return float(experiments)
    return float(row["experiments"][-1] + 1)


def interval(values: np.ndarray) -> dict[str, float]:
    """Mean with its 95% bootstrap interval over campaigns."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(len(values), size=(N_BOOTSTRAP, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": float(values.mean()), "low": float(low), "high": float(high), "n": len(values)}


def share_saved(own: np.ndarray, base: np.ndarray) -> dict[str, float]:
    """Share of experiments saved, with its 95% bootstrap interval over campaigns."""
    rng = np.random.default_rng(0)
    rows = rng.integers(len(own), size=(N_BOOTSTRAP, len(own)))
    shares = 1 - own[rows].mean(axis=1) / base[rows].mean(axis=1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return {"mean": float(1 - own.mean() / base.mean()), "low": float(low), "high": float(high)}


def table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Each arm beside the one without a library, on the campaigns that both have, the first of a domain left out."""
    by_arm = {
        arm: {
            (row["domain"], row["number"]): row
            for row in rows
            if row["arm"] == arm and row["number"]
        }
        for arm in ARMS
    }
    found: dict[str, Any] = {}
    for arm, base in PAIRS:
        both = sorted(set(by_arm[arm]) & set(by_arm[base]))
        if len(both) < 2:
            continue
        pairs = [(by_arm[arm][key], by_arm[base][key]) for key in both]
        line: dict[str, Any] = {"n_campaigns": len(both)}
        for limit in LIMITS:
            own, other = (np.array([until(pair[side], limit) for pair in pairs]) for side in (0, 1))
            line[f"until {limit}"] = {
                arm: interval(own),
                base: interval(other),
                "fewer": interval(other - own),
                "share_saved": share_saved(own, other),
                "recovered": [
                    sum(min(pair[side]["errors"]) <= limit for pair in pairs) for side in (0, 1)
                ],
            }
        for name, place in (("error after the first cycle", 0), ("error at the end", -1)):
            own, other = (
                np.array([pair[side]["errors"][place] for pair in pairs]) for side in (0, 1)
            )
            line[name] = {arm: interval(own), base: interval(other), "less": interval(other - own)}
        own, other = (np.array([pair[side]["processor"] for pair in pairs]) for side in (0, 1))
        line["processor"] = {arm: interval(own), base: interval(other)}
        line["library_leads"] = sum(pair[0]["library_leads"] for pair in pairs)
        found[f"{arm} against {base}"] = line
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--campaigns", type=int, default=10, help="of each domain")
    arguments.add_argument("--arms", nargs="*", default=list(ARMS), choices=list(ARMS))
    arguments.add_argument("--runs", type=Path, default=ROOT / "runs" / "memory-winners")
    arguments.add_argument("--out", type=Path, default=RESULT)
    arguments.add_argument("--table", action="store_true", help="only the tables of what is there")
    given = arguments.parse_args()
    wanted = [
        (domain, number, arm)
        for number in range(given.campaigns)
        for domain in SPACES
        for arm in given.arms
    ]
    rows = complete(
        given.out,
        cell,
        [] if given.table else wanted,
        ("domain", "number", "arm"),
        1,
        order=lambda row: (row["number"], row["domain"], row["arm"]),
        extra=(given,),
    )
    given.out.write_text(
        json.dumps({**provenance(), "tables": table(rows), "cells": rows}, indent=1) + "\n"
    )
