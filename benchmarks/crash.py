"""Kill the demonstration at random points, resume it, and compare with the run that was not interrupted.

    python benchmarks/run.py crash               # 30 kills; benchmarks/raw/crash.json

Each chain starts the demonstration as a command of its own, kills it (SIGKILL, the whole process group) after a random
time, resumes it, kills that too, and so on; after the last kill it runs to its end. The canonical form of its journal
must equal that of an uninterrupted run, and its audit must pass.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.flows.audit.audit import audit
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.traces.fold import canonical_digest
from lakatos.traces.step import JOURNAL_FILE, Trace


def command(folder: Path, study: Path, *, engine: str) -> list[str]:
    """Start the run, or resume it where it exists already."""
    base = [sys.executable, "-m", "lakatos.flows.commands.main"]
    if (folder / JOURNAL_FILE).exists():
        return [*base, "resume", str(folder), "--engine", engine]
    return [
        *base,
        "run",
        str(study),
        "--engine",
        engine,
        "--runs",
        str(folder.parent),
        "--name",
        folder.name,
    ]


def carry(folder: Path, study: Path, *, engine: str, kill_after_s: float | None = None) -> bool:
    """Carry the run on, to its end or to its death; True when it ended by itself."""
    process = subprocess.Popen(
        command(folder, study, engine=engine),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(kill_after_s) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def form(folder: Path) -> tuple[str, int]:
    """Digest of the canonical form and the number of events."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        events = list(trace.journal.events())
    return canonical_digest(events), len(events)


def main() -> None:
    """Run the chains and say whether every journal came out the same."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--study", type=Path, default=ROOT / "studies" / "demo.toml")
    options.add_argument("--chains", type=int, default=5)
    options.add_argument("--kills", type=int, default=6, help="in each chain")
    options.add_argument("--engine", default="none")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "raw" / "crash.json")
    chosen = options.parse_args()
    rng = np.random.default_rng(chosen.seed)
    with tempfile.TemporaryDirectory() as name:
        whole = Path(name) / "whole"
        begun = time.perf_counter()
        assert carry(whole, chosen.study, engine=chosen.engine), "the uninterrupted run failed"
        seconds = time.perf_counter() - begun
        expected, n_events = form(whole)
        assert audit(whole).passed, "the audit of the uninterrupted run fails"
        chains = []
        for number in range(chosen.chains):
            folder = Path(name) / f"chain-{number}"
            kills = []
            # Later kills come as long after the last as a share of the run, so that the points spread over all of it.
            for pause in rng.uniform(1.0, max(2 * seconds / (chosen.kills + 1), 2.0), chosen.kills):
                ended = carry(folder, chosen.study, engine=chosen.engine, kill_after_s=float(pause))
                reached = form(folder)[1] if (folder / JOURNAL_FILE).exists() else 0
                kills.append(
                    {"after_s": round(float(pause), 2), "n_events": reached, "ended": ended}
                )
            assert carry(folder, chosen.study, engine=chosen.engine), "the last resume failed"
            found, _ = form(folder)
            passed = audit(folder).passed
            chains.append({"kills": kills, "equal": found == expected, "audit": passed})
            print(chains[-1], flush=True)
    n_kills = sum(not kill["ended"] for chain in chains for kill in chain["kills"])
    result = {
        **provenance(),
        "seconds": seconds,
        "n_events": n_events,
        "n_kills": n_kills,
        "chains": chains,
        "all_equal": all(chain["equal"] and chain["audit"] for chain in chains),
    }
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{n_kills} kills in {len(chains)} chains; all equal: {result['all_equal']}")
    sys.exit(0 if result["all_equal"] else 1)
