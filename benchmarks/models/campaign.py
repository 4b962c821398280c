"""A campaign with language models in every role against a server, and what became of each answer.

Against a model of random weights, or a server that writes nonsense, this shows that everything around a model holds:
answers are of the right form, nonsense is refused for stated reasons, and the campaign ends correctly. Nothing is
claimed about discovery. A server that goes away stops a pass; the next one goes on.

    python benchmarks/run.py models/campaign --rehearsal                       # no server needed
    python benchmarks/run.py models/campaign --base-url http://127.0.0.1:8000/v1 --model tiny --name "random weights"
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from benchmarks.provenance import ROOT, provenance
from lakatos.flows.audit.audit import audit
from lakatos.flows.errors import FlowError
from lakatos.flows.roles.answers import answers_in
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.start import resume_run, run_study
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.fault import ServerMisbehaviour
from tests.rehearsal.serve import RehearsalServer, running

OUT = ROOT / "benchmarks" / "raw" / "models" / "campaign.json"
ROLES = ("arbiter", "reviser", "advocate", "auditor", "reflector")
CALLED = ("compare_predictions", "analyse_residuals", "recall")
"""Tools that arbiter, advocate and reviser are offered."""
MISBEHAVING = {
    "too_many_requests": 0.03,
    "server_error": 0.03,
    "unavailable": 0.02,
    "dropped": 0.03,
    "cut_body": 0.02,
    "not_json": 0.02,
    "no_choices": 0.02,
    "malformed_json": 0.06,
    "wrong_schema": 0.06,
    "repetition": 0.06,
    "refusal": 0.06,
    "empty": 0.06,
    "truncated": 0.06,
    "injection": 0.06,
}
"""Rates of faults of the second rehearsal; the first has none."""


def study(
    base_url: str, model: str, seed: int, cycles: int, changes: dict[str, Any]
) -> CampaignConfig:
    """A small campaign with simulated people, the model in every role."""
    value: dict[str, Any] = {
        "name": "roles",
        "question": "Which rule do simulated people follow?",
        "domain": "multiattribute",
        "seed": seed,
        "space": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]},
        "theories": {
            "seeds": ["take_the_best", "tallying"],
            "candidates": 12,
            "draws": 128,
            "rivals": 3,
        },
        "design": {
            "trials": 16,
            "participants": 30,
            "candidates": 100,
            "power": 0.6,
            "refused": "cover",
        },
        "participants": {"source": "simulated", "theory": "weighted_additive"},
        "memory": {"winners": False},
        "stop": {"cycles": cycles, "least_cycles": cycles},
        "models": {"writer": {"base_url": base_url, "model": model, **changes}},
        "roles": {
            **dict.fromkeys(ROLES, "writer"),
            "tools": CALLED,
            "max_tokens": 1024,
            "temperature": 1.0,
        },
        "budget": {"requests": 2000},
    }
    return parse_study(value, "this benchmark")


def campaign(config: CampaignConfig, folder: Path, *, patience: int) -> dict[str, Any]:
    """Run it to its end, resumed whenever the server was gone, and count.

    Args:
        config: The study.
        folder: Of the run.
        patience: Passes, at most, a few seconds apart.
    """
    began, stops = time.perf_counter(), []
    while True:
        try:
            if stops and (folder / "journal.sqlite").exists():
                resume_run(folder, n_workers=1)
            else:
                run_study(config, folder, n_workers=1)
            break
        except FlowError as error:
            stops.append(str(error).replace(str(folder), "RUN"))
            if len(stops) >= patience:
                raise
            time.sleep(5)
    seconds = time.perf_counter() - began
    state, trace = read_state(folder)
    trace.close()
    found = audit(folder, n_workers=1)
    assert state.campaign.concluded is not None
    leader = state.theories.checked[state.campaign.concluded.record.leader].record
    return {
        "seed": config.seed,
        "cycles": len(state.campaign.cycles),
        "seconds": round(seconds, 1),
        "passes": len(stops) + 1,
        "stopped_for": stops,
        "audit_passed": found.passed,
        "leader": leader.name,
        "leader_author": leader.author,
        "verdict": state.campaign.concluded.record.text,
        **answers_in(folder),
    }


def main() -> None:
    """Parse arguments, run, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rehearsal",
        action="store_true",
        help="start servers that write nonsense, in this process",
    )
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--key-variable", default="")
    parser.add_argument("--name", default="", help="of the server, in the results")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--cycles", type=int, default=3)
    parser.add_argument(
        "--patience", type=int, default=20, help="passes, when the server is gone for a while"
    )
    parser.add_argument("--folder", type=Path, help="of the runs; a temporary one by default")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    servers: list[tuple[str, AbstractContextManager[RehearsalServer]]] = []
    if given.rehearsal:
        for name, rates in (("rehearsal", {}), ("rehearsal, misbehaving", MISBEHAVING)):
            misbehaviour = ServerMisbehaviour(rates=rates, retry_after_s=0)
            servers.append(
                (name, running(RehearsalSettings(context_tokens=32768, misbehaviour=misbehaviour)))
            )
    if given.base_url:
        servers.append(
            (
                given.name or given.base_url,
                nullcontext(RehearsalServer(given.base_url, given.model)),
            )
        )
    done: list[dict[str, Any]] = (
        json.loads(given.out.read_text())["cells"] if given.out.exists() else []
    )
    home = given.folder or Path(tempfile.mkdtemp(prefix="campaign-"))
    for name, server in servers:
        with server as served:
            for seed in given.seeds:
                changes = {"key_variable": given.key_variable} if given.key_variable else {}
                config = study(served.base_url, served.model, seed, given.cycles, changes)
                folder = home / f"{name.replace(' ', '-').replace('/', '-')}-{seed}"
                commit = provenance()["commit"]
                cell = {
                    "server": name,
                    "commit": commit,
                    **campaign(config, folder, patience=given.patience),
                }
                print(json.dumps(cell, indent=1), flush=True)
                done = [item for item in done if (item["server"], item["seed"]) != (name, seed)] + [
                    cell
                ]
                given.out.parent.mkdir(parents=True, exist_ok=True)
                given.out.write_text(json.dumps({**provenance(), "cells": done}, indent=1) + "\n")
    if given.folder is None:
        shutil.rmtree(home, ignore_errors=True)
