"""An anchor set from simulated truth in all domains and from published choices, and what judges make of it.

    python benchmarks/run.py judges/anchor --build DOMAIN       # one domain's items into --items (a folder), resumable
    python benchmarks/run.py judges/anchor --items FOLDER       # benchmarks/raw/judges/anchor.json, from the items
    python benchmarks/run.py judges/anchor --items FOLDER --write FILE      # one anchor set of all items, for campaigns

The items themselves are not kept in the repository: they are rebuilt bit for bit from the seed. The rule judge is the
panel's own; the program judge is bred on dev from a program that only reads the advantage, and goes through the gate.
The vault is opened once, for both.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.judges.replacement import Gatekeeper
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.domains.published_data import load_archive
from lakatos.experiments.interval import wilson_interval
from lakatos.judges.anchor import AnchorItem, AnchorSet, LabelAccess, check_disjoint, split
from lakatos.judges.answer import ask
from lakatos.judges.feature import FEATURES
from lakatos.judges.gate_record import GATES
from lakatos.judges.items.ground_truth import archived_items, simulated_items
from lakatos.judges.judge import Judge
from lakatos.judges.program import (
    JudgeProgram,
    ProgramFactor,
    ProgramJudge,
    ProgramTerm,
    breed,
    fit,
    labelled,
)
from lakatos.judges.rubrics.parsimony import ParsimonyJudge
from lakatos.theories.engine.laboratory import Laboratory

RESULT = ROOT / "benchmarks" / "raw" / "judges" / "anchor.json"
SEED, PER_DOMAIN = 1, 128
BLOCKS, PAIRS, MOST_EXPERIMENTS = 4, 3, 10


def build(domain: str, folder: Path, data: Path | None, per_domain: int) -> None:
    """Items of one domain: simulated, and from its archives where the data are there."""
    begun = time.perf_counter()
    rng = np.random.default_rng([SEED, *domain.encode()])
    with Laboratory(DOMAINS[domain], 1) as laboratory:
        if data is None:
            found = simulated_items(DOMAINS[domain], FAMILIES[domain], laboratory, rng, per_domain)
        else:
            found = []
            for reader in (reader for reader in ARCHIVES.values() if reader.domain == domain):
                experiments = load_archive(reader.name, data)[:MOST_EXPERIMENTS]
                own = archived_items(
                    experiments,
                    DOMAINS[domain],
                    FAMILIES[domain],
                    laboratory,
                    rng,
                    n_blocks=BLOCKS,
                    n_pairs=PAIRS,
                )
                print(reader.name, len(experiments), "experiments,", len(own), "items", flush=True)
                found += own
    folder.mkdir(parents=True, exist_ok=True)
    kind = "simulated" if data is None else "archived"
    value = {"seconds": time.perf_counter() - begun, "items": [item.to_json() for item in found]}
    with gzip.open(folder / f"{kind}-{domain}.json.gz", "wt") as file:
        json.dump(value, file)
    print(domain, kind, len(found), f"{value['seconds']:.0f} s", flush=True)


def read(path: Path) -> tuple[list[AnchorItem], float]:
    """Items of one file, and the seconds that they took."""
    with gzip.open(path, "rt") as file:
        value = json.load(file)
    return [AnchorItem.from_json(item) for item in value["items"]], value["seconds"]


def share(values: list[bool]) -> dict[str, Any]:
    """Share with its 95% interval (Wilson)."""
    low, high = wilson_interval(sum(values), len(values))
    return {"share": sum(values) / len(values), "low": low, "high": high, "n": len(values)}


def accuracy(judge: Judge, items: tuple[AnchorItem, ...]) -> dict[str, Any]:
    """Right answers, log score and Brier score of one judge, over all and by stratum."""
    answers = ask(judge, [item.submission for item in items])
    labels = np.array([item.label for item in items])
    right = (answers.side > 0) == labels
    given = np.where(labels, answers.probability, 1 - answers.probability)
    found: dict[str, Any] = {
        "right": share(right.tolist()),
        "log_score": float(np.nanmean(np.log(given))),
        "brier": float(np.nanmean((1 - given) ** 2)),
        "failures": len(answers.failures),
    }
    for name in ("domain", "origin"):
        for value in sorted({item.strata[name] for item in items}):
            inside = [
                bool(r) for r, item in zip(right, items, strict=True) if item.strata[name] == value
            ]
            found[f"{name}={value}"] = share(inside)
    return found


def judge_all(items: list[AnchorItem]) -> dict[str, Any]:
    """Breed on dev, decide on confirm, report on the vault."""
    anchor: AnchorSet = split(items, SEED)
    check_disjoint(anchor)
    access = LabelAccess()
    dev, access = access.read(anchor, "dev", "breed", [])
    names = [name for name in FEATURES if name != "machine_written"]
    table = labelled([item.submission for item in dev], [item.label for item in dev], names)
    naive = fit(JudgeProgram((ProgramTerm((ProgramFactor("advantage_z"),)),)), table)
    begun = time.perf_counter()
    best = breed(naive, table, np.random.default_rng(SEED), n_generations=20, n_children=24)[0]
    judges: dict[str, Judge] = {
        "rule": ParsimonyJudge(),
        "sign of the advantage, calibrated": ProgramJudge(naive),
        "program": ProgramJudge(best),
    }
    incumbent, challenger = ParsimonyJudge(), judges["program"]
    decisions, gate = [], Gatekeeper(GATES["exact"])
    for test in ("exact", "loss"):
        gate.settings = GATES[test]
        decided, access = gate.challenge(incumbent, challenger, anchor, access)
        decisions.append({"test": test, **decided.model_dump(mode="json")})
    vault, access = access.read(
        anchor, "vault", "report", [judge.digest for judge in judges.values()]
    )
    return {
        "digest": anchor.digest,
        "parts": {part: len(found) for part, found in anchor.parts.items()},
        "program": best.to_json(),
        "seconds_to_breed": time.perf_counter() - begun,
        "decisions": decisions,
        "vault": {name: accuracy(judge, vault) for name, judge in judges.items()},
        "exposed": [record.model_dump(mode="json") for record in access.exposed],
    }


def main() -> None:
    """Build items, or report on those that are there."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--items", type=Path, required=True, help="folder of the items")
    options.add_argument("--build", choices=sorted(DOMAINS))
    options.add_argument("--data", type=Path, help="folder of published data: build archived items")
    options.add_argument("--per-domain", type=int, default=PER_DOMAIN)
    options.add_argument(
        "--write", type=Path, help="file for one anchor set of all items; makes no report"
    )
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    if chosen.write:
        everything = [
            item for path in sorted(chosen.items.glob("*.json.gz")) for item in read(path)[0]
        ]
        anchor = split(everything, SEED)
        with gzip.open(chosen.write, "wt") as file:
            json.dump(anchor.to_json(), file)
        print(anchor.digest, {part: len(found) for part, found in anchor.parts.items()})
        return
    if chosen.build:
        build(chosen.build, chosen.items, chosen.data, chosen.per_domain)
        return
    result: dict[str, Any] = {**provenance(), "seed": SEED}
    for kind in ("simulated", "archived"):
        found, seconds = [], {}
        for path in sorted(chosen.items.glob(f"{kind}-*.json.gz")):
            own, taken = read(path)
            seconds[path.name.partition(".")[0].partition("-")[2]] = round(taken, 1)
            found += own
        if not found:
            continue
        cells = Counter("/".join(sorted(item.strata.values())) for item in found)
        result[kind] = {
            "n": len(found),
            "seconds": seconds,
            "cells": dict(sorted(cells.items())),
            **judge_all(found),
        }
        print(kind, len(found), "items", dict(result[kind]["parts"]))
        for decided in result[kind]["decisions"]:
            print("  gate,", decided["test"], decided["verdict"], decided["reason"])
        for name, own in result[kind]["vault"].items():
            right = own["right"]
            interval = f"{right['share']:.3f} [{right['low']:.3f}, {right['high']:.3f}]"
            print(f"  vault, {name:34s} right {interval}  log score {own['log_score']:.3f}")
            print("   ", own["bias"]["sentence"])
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
