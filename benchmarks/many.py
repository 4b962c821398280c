"""Many campaigns scheduled for one moment, one of them poisoned: whether all others end, and in how much memory.

    python benchmarks/run.py many                # 50 campaigns; benchmarks/raw/many.json

Every campaign is a study of its own, scheduled once and served by one `lakatos serve` with its own Prefect server, one
pass at a time. The poisoned one has people whose hidden rule never answers. Afterwards each run must hold a verdict and
pass its audit; some are compared with the same study run directly, whose canonical form must be the same. Memory is the
proportional set size of the server, of who serves, and of all passes, sampled every two seconds. What a pass takes
besides its campaign (starting a process, loading Prefect and the science, report and artifacts) is the time between the
ends of two passes, less the time between the first and the last record of a run.
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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory_use import memory_mib
from benchmarks.provenance import ROOT, provenance
from lakatos.flows.audit.audit import audit
from lakatos.flows.operations.carry import carry
from lakatos.flows.operations.schedule import change_schedules, make_schedule
from lakatos.flows.run.next_pass import PASS_FILE, look
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.traces.fold import canonical_digest
from lakatos.traces.step import Trace

STUDY = """name = "{name}"
question = "Which rule do simulated people follow?"
domain = "multiattribute"
seed = {seed}
[space]
validities = [0.9, 0.7, 0.6]
levels = [0, 1, 2]
[theories]
seeds = ["take_the_best", "tallying"]
candidates = 0
successors = 0
induction = false
draws = 64
rivals = 2
[design]
trials = 8
participants = 12
candidates = 60
power = 0.6
refused = "cover"
[participants]
source = "simulated"
{people}
[stop]
cycles = 1
least_cycles = 1
"""
POISON = """program = '''
"Stuck: people never answer."
PARAMETERS = {"sensitivity": {"prior": "log_uniform", "low": 0.1, "high": 20.0, "unit": "per point"}}


def choose(parameters, trials, xp):
    while True:
        pass
'''"""


def write_studies(folder: Path, n: int) -> dict[str, Path]:
    """Study files by name; the poisoned one is in the middle."""
    found = {}
    for number in range(n):
        name = f"campaign-{number:02d}"
        found[name] = folder / f"{name}.toml"
        found[name].write_text(
            STUDY.format(name=name, seed=number + 1, people='theory = "weighted_additive"')
        )
    found["campaign-25-poisoned"] = folder / "poisoned.toml"
    found["campaign-25-poisoned"].write_text(
        STUDY.format(name="campaign-25-poisoned", seed=1, people=POISON)
    )
    return found


def where_time_goes(runs: Path, names: list[str], limit: int) -> dict[str, float]:
    """Seconds of a pass on the clock, and of the campaign in it, each the median over runs that ended."""
    ends = sorted((runs / name / PASS_FILE).stat().st_mtime for name in names)
    inside = []
    for name in names:
        with Trace.open(runs / name, RECORD_TYPES, read_only=True) as trace:
            times = [datetime.fromisoformat(event.time_utc) for event in trace.journal.events()]
        inside.append((times[-1] - times[0]).total_seconds())
    return {
        "pass_s": limit * float(np.median(np.diff(ends))),
        "campaign_s": float(np.median(inside)),
    }


def form(folder: Path) -> str:
    """Digest of the canonical form of a run's journal."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return canonical_digest(trace.journal.events())


def main() -> None:
    """Schedule, serve, wait, compare."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--campaigns", type=int, default=50)
    options.add_argument("--limit", type=int, default=1, help="passes at the same time")
    options.add_argument("--compare", type=int, default=3, help="runs repeated directly")
    options.add_argument("--hours", type=float, default=2.0, help="longest wait")
    options.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "raw" / "many.json")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        runs, studies = base / "runs", write_studies(base, chosen.campaigns)
        at = datetime.now(UTC) + timedelta(seconds=90)
        made = {
            name: make_schedule(name, file, at=at.isoformat(), workers=1)
            for name, file in sorted(studies.items())
        }
        change_schedules(runs, lambda _: made)
        result = {**provenance(), **serve(base, runs, list(made), at, chosen)}
        poisoned = [name for name in made if "poisoned" in name]
        good = [name for name in made if name not in poisoned]
        ended = [name for name in good if look(runs / name).ended == "concluded"]
        result["concluded"] = len(ended)
        result["audits_pass"] = sum(audit(runs / name, recompute=False).passed for name in ended)
        result["poisoned_concluded"] = sum(
            look(runs / name).ended == "concluded" for name in poisoned
        )
        if len(ended) > 1:
            result |= where_time_goes(runs, ended, chosen.limit)
        equal = []
        for name in ended[:: max(1, len(ended) // chosen.compare)][: chosen.compare]:
            carry(base / "direct" / name, study=studies[name], workers=1)
            equal.append(form(base / "direct" / name) == form(runs / name))
        result |= {"n_campaigns": len(good), "n_compared": len(equal), "all_equal": all(equal)}
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps({key: value for key, value in result.items() if key != "samples"}, indent=1))
    sys.exit(0 if result["concluded"] == len(good) and result["all_equal"] else 1)


def serve(base: Path, runs: Path, names: list[str], at: datetime, chosen: Any) -> dict[str, Any]:
    """Serve all schedules until every run but the poisoned one is at rest."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")
    }
    words = [
        sys.executable,
        "-m",
        "lakatos.flows.commands.main",
        "serve",
        "--runs",
        str(runs),
        "--limit",
        str(chosen.limit),
    ]
    begun = time.monotonic()
    with (base / "serve.log").open("wb") as log:
        process = subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=log, env=environment)
    samples: list[tuple[float, float, int]] = []
    good = [name for name in names if "poisoned" not in name]
    try:
        while time.monotonic() - begun < chosen.hours * 3600:
            n_done = sum((runs / name / PASS_FILE).exists() for name in good)
            samples.append(
                (round(time.monotonic() - begun, 1), round(memory_mib(process.pid), 1), n_done)
            )
            if len(samples) % 30 == 0:
                print(*samples[-1], flush=True)
            if n_done == len(good) or process.poll() is not None:
                break
            time.sleep(2)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
    said = (base / "serve.log").read_text(errors="replace")
    print(said[-3000:])
    half = len(samples) // 2
    return {
        "limit": chosen.limit,
        "wall_s": samples[-1][0],
        "peak_mib": max(sample[1] for sample in samples),
        "peak_mib_first_half": max(sample[1] for sample in samples[: half or 1]),
        "peak_mib_second_half": max(sample[1] for sample in samples[half:]),
        "exit_status": process.returncode,
        "tracebacks": said.count("Traceback"),
        "samples": samples[::30],
    }
