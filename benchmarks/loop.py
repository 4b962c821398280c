"""Where the time of a campaign goes, by stage, and what Prefect adds.

    python benchmarks/loop.py                # benchmarks/results/loop.json

Runs the demonstration as a command, on plain asyncio and on Prefect with its temporary server, and reads the time
of every step off the journal: from its intent to its result. The rest is the time between steps (flow bookkeeping)
and outside the journal (start of the interpreter and of the server, report). Peak memory is the proportional
set size of the process and all its descendants, sampled four times a second.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.provenance import provenance  # noqa: E402
from flows.record import RECORD_TYPES  # noqa: E402
from traces.journal import INTENT  # noqa: E402
from traces.step import Trace  # noqa: E402


def memory_mib(root: int) -> float:
    """Proportional set size of a process and all its descendants, MiB; shared pages count once."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    family, found = {root}, True
    while found:
        more = {child for child, parent in parents.items() if parent in family} - family
        family, found = family | more, bool(more)
    total = 0
    for member in family:
        try:
            lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def measure(engine: str, study: Path) -> dict[str, object]:
    """Run one campaign as a user would and take it apart."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.time()
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "flows.main",
                "run",
                str(study),
                "--engine",
                engine,
                "--runs",
                folder,
                "--name",
                "x",
            ],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, memory_mib(process.pid))
            time.sleep(0.25)
        assert process.returncode == 0, f"the run on {engine} failed"
        ended = time.time()
        with Trace.open(Path(folder) / "x", RECORD_TYPES, read_only=True) as trace:
            events = list(trace.journal.events())
    stages: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    intents: dict[str, float] = {}
    inside = 0.0
    for event in events:
        at = datetime.fromisoformat(event.time_utc).timestamp()
        if event.kind == INTENT:
            intents[event.key] = at
        elif event.key in intents:
            spent = at - intents[event.key]
            stages[event.name] += spent
            counts[event.name] += 1
            inside += spent
    first, last = (datetime.fromisoformat(events[place].time_utc).timestamp() for place in (0, -1))
    return {
        "engine": engine,
        "wall_s": ended - begun,
        "before_first_record_s": first - begun,
        "after_last_record_s": ended - last,
        "in_steps_s": inside,
        "between_steps_s": last - first - inside,
        "n_events": len(events),
        "steps_s": dict(sorted(stages.items(), key=lambda item: -item[1])),
        "n_steps": dict(counts),
        "peak_mib": peak,
    }


def main() -> None:
    """Measure both engines and print where the time went."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--study", type=Path, default=ROOT / "studies" / "demo.toml")
    options.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "loop.json")
    chosen = options.parse_args()
    runs = [measure(engine, chosen.study) for engine in ("none", "prefect")]
    plain, prefect = runs
    share = (prefect["between_steps_s"] - plain["between_steps_s"]) / prefect["wall_s"]  # type: ignore[operator]
    start = prefect["before_first_record_s"] - plain["before_first_record_s"]  # type: ignore[operator]
    result = {**provenance(), "runs": runs, "prefect_share_of_wall": share, "prefect_start_s": start}
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    for run in runs:
        print(
            f"{run['engine']}: {run['wall_s']:.1f} s, of which {run['in_steps_s']:.1f} s in steps, "
            f"{run['between_steps_s']:.1f} s between them, {run['before_first_record_s']:.1f} s before the first, "
            f"{run['after_last_record_s']:.1f} s after the last; peak {run['peak_mib']:.0f} MiB"
        )
        for name, seconds in run["steps_s"].items():  # type: ignore[union-attr]
            print(f"  {name:14s} {seconds:7.2f} s in {run['n_steps'][name]} steps")  # type: ignore[index]
    print(f"Prefect: {share:.1%} of the wall time between steps; its start {start:.1f} s")


if __name__ == "__main__":
    main()
