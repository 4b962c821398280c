"""The real loop over a sequence of campaigns in several domains: with memory and tools, with text only, and without.

    python benchmarks/memory/loop.py         # resumes where it stopped; benchmarks/results/memory/loop.json

Every campaign asks simulated people who follow a rule that nobody knows. In each domain one rule, drawn from the
grammar, is what its people have in common: each campaign's rule keeps each slot of it with probability ``--common`` and
draws the others anew. All three arms run the same campaigns, from the same seeds, in the same order: *none* recalls
nothing, *text* recalls lessons of earlier campaigns (what led, which changes failed, what inquiries brought), *tools*
also has recurring inquiries become tools and calls these. In all of them the grammar's advocate asks the laboratory
before it designs and revises; see `lakatos.flows.stages.inquire`.

At the end of every cycle the leader's choice proportions are compared with those of the hidden rule on all trials
of the space; within 0.05 root mean square it counts as recovered (other limits are in the table, too). A campaign
that never gets there counts with one cycle more than it had. Processor seconds are of the campaign's process and its
sandboxes, sampled twice a second; until recovery, they are those of the whole campaign times the share of the time of
its steps that lies before the end of that cycle. Differences are paired by campaign; intervals are 95% bootstraps over
campaigns.

What would make this fail: campaigns that have nothing in common (``--common 0``), or that a single cycle settles.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.cells import complete  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.experiments.domains import DOMAINS  # noqa: E402
from lakatos.flows.roles.remember import shared_library  # noqa: E402
from lakatos.flows.run.memory_records import InquiryMade, ToolTried  # noqa: E402
from lakatos.flows.run.records import CycleClosed  # noqa: E402
from lakatos.flows.run.run import read_state, theory_of  # noqa: E402
from lakatos.flows.run.study import CampaignConfig, parse_study  # noqa: E402
from lakatos.flows.start import run_study  # noqa: E402
from lakatos.language_models.tool_record import ToolCalled  # noqa: E402
from lakatos.memory.item import PlanUsed  # noqa: E402
from lakatos.memory.tools import TOOLS  # noqa: E402
from lakatos.theories.families import FAMILIES  # noqa: E402
from lakatos.theories.grammar import Composition, Grammar  # noqa: E402
from lakatos.theories.laboratory import Laboratory  # noqa: E402
from lakatos.theories.theory import TheoryProgram, read_program  # noqa: E402
from lakatos.traces.journal import INTENT  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "memory" / "loop.json"
DOMAINS_USED = ("multiattribute", "risky", "intertemporal", "offers")
"""Of single trials: a campaign about learning takes forty times as long."""
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
"""Of 160 to 425 trials: what is compared with the hidden rule is all of them."""
ARMS: dict[str, dict[str, Any]] = {
    "none": {"arm": "none"},
    "text": {"arm": "text", "shared": True},
    "tools": {"arm": "tools", "shared": True},
}
CYCLES = 3
RECOVERED = 0.05
"""Root mean square difference of choice proportions."""
LIMITS = (0.02, 0.03, 0.05, 0.1)
N_BOOTSTRAP = 4000


def hidden_rule(domain: str, number: int, common: float) -> Composition:
    """The rule of one campaign: what the domain's people have in common, with some slots drawn anew."""
    grammar = FAMILIES[domain].grammar
    core = drawn(grammar, np.random.default_rng([DOMAINS_USED.index(domain), 60]))
    rng = np.random.default_rng([DOMAINS_USED.index(domain), number, 61])
    other, keep = drawn(grammar, rng), {slot.name: rng.random() < common for slot in grammar.slots}
    return Composition(
        {
            slot.name: (core if keep[slot.name] else other).slots.get(slot.name, ())
            for slot in grammar.slots
        }
    )


def drawn(grammar: Grammar, rng: np.random.Generator) -> Composition:
    """A composition at random none of whose mechanisms remembers earlier trials."""
    while True:
        found = grammar.compose(rng)
        if not any(item.learn or item.start for item in grammar.used(found)):
            return found


def study(domain: str, number: int, arm: str, common: float) -> CampaignConfig:
    """One small campaign."""
    family = FAMILIES[domain]
    hidden = family.grammar.write(hidden_rule(domain, number, common), "the hidden rule")
    return parse_study(
        {
            "name": f"{domain}-{number}",
            "question": "Which rule do these people follow?",
            "domain": domain,
            "seed": 1000 + number,
            "space": SPACES[domain],
            "theories": {
                "seeds": list(family.seeds)[:2],
                "candidates": 10,
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
            "participants": {"source": "simulated", "program": hidden},
            "stop": {"cycles": CYCLES, "least_cycles": CYCLES, "patience": CYCLES},
            "memory": {**ARMS[arm], "inquiries": True, "horizon": 32},
        },
        domain,
    )


class Processor:
    """Seconds of processor time that this process and its descendants take while it is entered."""

    def __enter__(self) -> Processor:
        self._before, self.seconds = tree_seconds(), 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            self.seconds = max(self.seconds, tree_seconds() - self._before)

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()


def tree_seconds() -> float:
    """Processor time of this process and its living descendants, with that of those they have waited for."""
    ticks, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        ticks[int(stat.parent.name)] = sum(map(int, fields[11:15]))
    family, found = {os.getpid()}, True
    while found:
        more = {child for child, parent in parents.items() if parent in family} - family
        family, found = family | more, bool(more)
    return sum(ticks.get(member, 0) for member in family) / os.sysconf("SC_CLK_TCK")


def cell(number: int, arm: str, options: argparse.Namespace) -> dict[str, Any]:
    """One campaign of one arm, after all campaigns before it."""
    domain = DOMAINS_USED[number % len(DOMAINS_USED)]
    config = study(domain, number, arm, options.common)
    runs = Path(options.runs) / arm
    folder = runs / f"{number:03d}"
    runs.mkdir(parents=True, exist_ok=True)
    if folder.exists():  # cut short
        shutil.rmtree(folder)
    begun = time.perf_counter()
    with Processor() as used:
        run_study(config, folder, n_workers=1)
    spent = {"seconds": round(time.perf_counter() - begun, 1), "processor": round(used.seconds, 1)}
    return {"number": number, "arm": arm, "domain": domain, **spent, **measured(folder, config)}


def measured(folder: Path, config: CampaignConfig) -> dict[str, Any]:
    """How near the leader of every cycle was to the hidden rule, and what inquiries and tools took."""
    state, trace = read_state(folder)
    domain = DOMAINS[config.domain]
    stimuli = domain.space(config.space)
    hidden = read_program(TheoryProgram(config.participants.program, "hidden"))
    with trace, Laboratory(domain, 1) as laboratory:
        truth = laboratory.proportions(hidden, stimuli, 512)
        errors: dict[str, float] = {}
        for item in state.cycles:
            leader = item.record.leader
            if leader not in errors:
                found = laboratory.proportions(theory_of(trace, state, leader), stimuli, 512)
                errors[leader] = float(np.sqrt(np.mean((found - truth) ** 2)))
        events = list(trace.journal.events())
        tried = [item.record for item in trace.records(ToolTried)]
        inquiries = [item.record for item in trace.records(InquiryMade)]
        uses = [item.record for item in trace.records(PlanUsed)]
        calls = {item.digest: item.record for item in trace.records(ToolCalled)}
    spent, shares, waiting = {}, [], {}
    total = 0.0
    for event in events:
        at = datetime.fromisoformat(event.time_utc).timestamp()
        if event.kind == INTENT:
            waiting[event.key] = at
        elif event.key in waiting:
            total += at - waiting[event.key]
            spent[event.record_digest] = at - waiting[event.key]
        if event.kind == CycleClosed.model_fields["kind"].default:
            shares.append(total)
    by_text = [item for item in inquiries if item.complete and not item.tool]
    by_tool = [item for item in uses if item.tool and item.calls_saved]
    return {
        "errors": [round(errors[item.record.leader], 4) for item in state.cycles],
        "experiments": [sum(known.record.cycle <= item.record.cycle for known in state.designs.values()
                            if known.record.experiment in state.collected) for item in state.cycles],
        "step_share": [round(value / max(total, 1e-9), 4) for value in shares],
        "recalled": sum(len(item.record.lessons) for item in state.recalled),
        "inquiries": len(inquiries),
        "inquiries_skipped": sum(not item.calls for item in inquiries),
        "calls_by_text": sum(len(item.calls) for item in by_text),
        "seconds_by_text": round(sum(spent.get(call, 0.0) for item in by_text for call in item.calls), 3),
        "tool_uses": len(by_tool),
        "tool_shadowed": sum(item.shadow_matches is not None for item in uses),
        "tool_failed": sum(bool(item.tool) and not item.success for item in uses),
        "calls_saved": sum(item.calls_saved for item in by_tool),
        "seconds_of_tools": round(
            sum(spent.get(digest, 0.0) for digest, call in calls.items() if call.tool not in TOOLS), 3
        ),
        "tools_made": [item.name for item in tried if item.passed],
        "tools_refused": [item.rung for item in tried if not item.passed],
    }  # fmt: skip


def until(row: dict[str, Any], limit: float = RECOVERED) -> dict[str, float]:
    """Cycles, experiments and processor seconds until recovery."""
    first = next((place for place, error in enumerate(row["errors"]) if error <= limit), None)
    if first is None:
        n = len(row["errors"])
        return {
            "cycles": n + 1,
            "experiments": row["experiments"][-1] + 1,
            "processor": row["processor"],
        }
    return {
        "cycles": first + 1,
        "experiments": row["experiments"][first],
        "processor": row["processor"] * row["step_share"][first],
    }


def interval(values: np.ndarray) -> dict[str, float]:
    """Mean with its 95% bootstrap interval over campaigns."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(len(values), size=(N_BOOTSTRAP, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": float(values.mean()), "low": float(low), "high": float(high), "n": len(values)}


def table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By arm, and paired differences: of all campaigns, and of the second half, when there is something to recall."""
    by_arm = {arm: {row["number"]: row for row in rows if row["arm"] == arm} for arm in ARMS}
    shared = sorted(set.intersection(*(set(own) for own in by_arm.values())))
    if len(shared) < 2:
        return {}
    found: dict[str, Any] = {"n_campaigns": len(shared), "arms": {}, "paired": {}}
    halves = {"all": shared, "second half": shared[len(shared) // 2 :]}
    for arm, own in by_arm.items():
        chosen = [own[number] for number in shared]
        measures = {
            name: np.array([until(row)[name] for row in chosen]) for name in until(chosen[0])
        }
        measures["error at the end"] = np.array([row["errors"][-1] for row in chosen])
        measures["error after the first cycle"] = np.array([row["errors"][0] for row in chosen])
        measures["processor in all"] = np.array([row["processor"] for row in chosen])
        found["arms"][arm] = {name: interval(values) for name, values in measures.items()}
        found["arms"][arm]["recovered"] = {
            str(limit): sum(min(row["errors"]) <= limit for row in chosen) for limit in LIMITS
        }
        names = ("tool_uses", "tool_shadowed", "tool_failed", "calls_saved", "inquiries_skipped", "calls_by_text",
                 "seconds_by_text", "seconds_of_tools", "recalled")  # fmt: skip
        found["arms"][arm] |= {
            name: round(float(sum(row[name] for row in chosen)), 3) for name in names
        }
        found["arms"][arm]["tools"] = {
            name: row["number"] for row in chosen for name in row["tools_made"]
        }
    for arm, other in (("text", "none"), ("tools", "none"), ("tools", "text")):
        for half, numbers in halves.items():
            pairs = [(by_arm[arm][number], by_arm[other][number]) for number in numbers]
            differences = {
                name: np.array([until(own)[name] - until(base)[name] for own, base in pairs])
                for name in ("cycles", "experiments", "processor")
            }
            for limit in LIMITS:
                differences[f"cycles until {limit}"] = np.array(
                    [
                        until(own, limit)["cycles"] - until(base, limit)["cycles"]
                        for own, base in pairs
                    ]
                )
            for name, place in (("error at the end", -1), ("error after the first cycle", 0)):
                differences[name] = np.array(
                    [own["errors"][place] - base["errors"][place] for own, base in pairs]
                )
            differences["processor in all"] = np.array(
                [own["processor"] - base["processor"] for own, base in pairs]
            )
            key = f"{arm} less {other}, {half}"
            found["paired"][key] = {name: interval(values) for name, values in differences.items()}
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--campaigns", type=int, default=32)
    arguments.add_argument("--common", type=float, default=0.7)
    arguments.add_argument("--runs", type=Path, default=ROOT / "runs" / "memory-loop")
    arguments.add_argument("--out", type=Path, default=RESULT)
    arguments.add_argument(
        "--table", action="store_true", help="only write the tables of the cells that are there"
    )
    given = arguments.parse_args()
    if given.table:
        summarise(given, json.loads(given.out.read_text())["cells"])
        return
    wanted = [(number, arm) for number in range(given.campaigns) for arm in ARMS]
    rows = complete(
        given.out,
        cell,
        wanted,
        ("number", "arm"),
        1,
        order=lambda row: (row["number"], row["arm"]),
        extra=(given,),
    )
    summarise(given, rows)


def summarise(given: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    """Write the tables beside the cells."""
    tools = {}
    runs = given.runs / "tools"
    if runs.exists():
        library = shared_library(runs)
        for name, (_, draft) in library.drafts().items():
            standing = library.standing(name)
            tools[name] = {"plan": draft.plan_text.splitlines(), "status": standing.status,
                           "uses": standing.n_uses, "successes": standing.successes}  # fmt: skip
    value = {**provenance(), "common": given.common, **table(rows), "tools": tools, "cells": rows}
    given.out.write_text(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    main()
