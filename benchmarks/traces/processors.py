"""In how many small studies a run takes the same decisions on two kernels of linear algebra, as on two processors.

    python benchmarks/run.py traces/processors                       # twelve studies, ten minutes
    python benchmarks/run.py traces/processors --kernels Haswell Zen

Each study is run once on each kernel of OpenBLAS, in a process of its own. Compared are what was presented and to whom,
every response, which theories were admitted, what a diagnosis names, why the campaign ended and which theory leads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.provenance import ROOT, provenance

DOMAINS = (
    "multiattribute", "risky", "intertemporal", "offers", "games", "learning", "public_goods",
    "attention", "estimation", "sequences",
)  # fmt: skip
DECLARED = ("fairness", "cards")
SPACES: dict[str, dict[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.8, 0.7], "levels": [0, 1, 2, 3]},
    "learning": {"task": "reversal", "n_steps": 30},
    "attention": {"level": -1, "past": False},
}


def settings_of(name: str, seed: int) -> dict[str, Any]:
    """A small study of two cycles: of a kind of task, or a shipped one with a declared task."""
    from lakatos.domains import DOMAINS as KINDS
    from lakatos.flows.run.task import with_domain

    small = {"stop": {"cycles": 2, "least_cycles": 1}, "memory": {"winners": False}, "seed": seed}
    if name in DECLARED:
        path = ROOT / "studies" / f"{name}.toml"
        study = tomllib.loads(path.read_text(encoding="utf-8"))
        search = {"candidates": 6, "successors": 2, "draws": 64}
        design = {"trials": 8, "participants": 16, "candidates": 20, "refused": "cover"}
        theories = {"theories": study.get("theories", {}) | search, "design": design}
        return with_domain({**study, **small, **theories}, path)
    published = list(KINDS[name].family().seeds)
    study = {
        "name": name.replace("_", "-"),
        "question": "Which?",
        "domain": name,
        "theories": {
            "seeds": published[:3], "candidates": 6, "successors": 2, "draws": 64, "rivals": 3,
        },
        "design": {
            "trials": 10, "participants": 20, "candidates": 25, "power": 0.5, "refused": "cover",
        },
        "participants": {"source": "simulated", "theory": published[-1]},
    }  # fmt: skip
    return {**study, **small} | ({"space": SPACES[name]} if name in SPACES else {})


def decisions(folder: Path) -> list[Any]:
    """What a run presented, what was responded, and what it decided, in the order of its journal."""
    from lakatos.flows.run.records import RECORD_TYPES
    from lakatos.traces.step import Trace

    found: list[Any] = []
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        for event in trace.journal.events():
            body, place = event.body, [event.kind, dict(event.position)]
            if event.kind == "design_chosen":
                design = trace.artifacts.get_json(body["design"])
                del design["information"]
                found.append([*place, design])
            elif event.kind == "trials_collected":
                found.append([*place, body["trials"]])
            elif event.kind == "theory_admitted":
                found.append([*place, body["theory"]])
            elif event.kind == "diagnosis":
                found.append([*place, body["loser"], body["leader"], body["remedies"]])
            elif event.kind == "cycle_closed":
                found.append([*place, body["stop"], body["leader"]])
            elif event.kind == "concluded":
                found.append([*place, body["leader"]])
    return found


def run_here(name: str, seed: int, out: Path) -> None:
    """Run one study in this process and write its decisions and the machine."""
    from lakatos.flows.run.study import parse_study
    from lakatos.flows.start import run_study
    from lakatos.traces.machine import machine_here

    with tempfile.TemporaryDirectory() as folder:
        os.environ["LAKATOS_HOME"] = str(Path(folder) / "home")
        place = Path(folder) / "run"
        run_study(parse_study(settings_of(name, seed), name), place, n_workers=1)
        told = {"machine": machine_here().words, "decisions": decisions(place)}
    out.write_text(json.dumps(told), encoding="utf-8")


def compare(name: str, seed: int, kernels: list[str]) -> dict[str, Any]:
    """Run a study once on each kernel and say where decisions first differ."""
    told = []
    for kernel in kernels:
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            command = [
                sys.executable, str(ROOT / "benchmarks/run.py"), "traces/processors",
                "--only", name, "--seed", str(seed), "--here", out.name,
            ]  # fmt: skip
            environment = {**os.environ, "OPENBLAS_CORETYPE": kernel}
            subprocess.run(command, env=environment, check=True, capture_output=True)
            told.append(json.loads(Path(out.name).read_text(encoding="utf-8")))
    machines = {item["machine"] for item in told}
    if len(machines) < len(kernels):
        sys.exit(f"OpenBLAS took the same kernel for two of {kernels}: {sorted(machines)}.")
    first, *others = [item["decisions"] for item in told]
    n_same = min(
        next(
            (at for at, pair in enumerate(zip(first, other, strict=False)) if pair[0] != pair[1]),
            len(first),
        )
        for other in others
    )
    same = all(first == other for other in others)
    return {
        "study": name, "seed": seed, "decisions": len(first), "same_at_first": n_same,
        "same": float(same), "next": "" if same else json.dumps(first[n_same : n_same + 1])[:80],
    }  # fmt: skip


def main() -> None:
    """Run what is missing, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", nargs="+", default=["Haswell", "Nehalem", "Prescott"])
    parser.add_argument("--only", nargs="+", default=[*DOMAINS, *DECLARED])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--here", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/raw/traces/processors.json")
    given = parser.parse_args()
    if given.here:
        run_here(given.only[0], given.seed, given.here)
        return
    found = (
        json.loads(given.out.read_text(encoding="utf-8"))["studies_run"]
        if given.out.exists()
        else []
    )
    for name in given.only:
        if any((item["study"], item["seed"]) == (name, given.seed) for item in found):
            continue
        found.append(compare(name, given.seed, given.kernels))
        n_same = sum(item["same"] == 1 for item in found)
        summary = {
            "kernels": given.kernels,
            "studies": len(found),
            "same in every decision": n_same,
        }
        given.out.write_text(
            json.dumps({**provenance(), **summary, "studies_run": found}, indent=1),
            encoding="utf-8",
        )
        print(found[-1], flush=True)


if __name__ == "__main__":
    main()
