"""What orchestration costs: Prefect and our own bookkeeping, beside the same loop called directly.

    python benchmarks/run.py orchestration                # benchmarks/raw/orchestration.json

The demonstration (five cycles) runs three times: as a function call on plain asyncio, as a command on plain asyncio,
and as a command on Prefect with its temporary server. The time of every step is read off the journal, from its intent
to its result. What is left between steps is orchestration: Prefect's flows and tasks, and our own flow code.
Bookkeeping within steps is reckoned from the measured cost of an event (digests, a durable write) times the number of
events. The start of the interpreter, of the laboratory and of the temporary server is reported apart. Peak memory is
the proportional set size of the process and all its descendants, sampled four times a second. The cost per step is that
of empty tasks, with Prefect's server up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.memory_use import memory_mib
from benchmarks.provenance import ROOT, provenance
from lakatos.flows.run.engine import execute
from lakatos.flows.run.parts import (
    EngineName,
    flow,
    task,
)
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.traces.fold import canonical_digest
from lakatos.traces.journal import INTENT, step_key
from lakatos.traces.record import Tombstone
from lakatos.traces.step import Recorded, StepContext, Trace

DIRECTLY = """
import sys
from pathlib import Path
from lakatos.flows.start import run_study
run_study(Path(sys.argv[1]), Path(sys.argv[2]) / "x")
"""


def command(how: str, study: Path, folder: str) -> list[str]:
    """The program to measure."""
    if how == "directly":
        return [sys.executable, "-c", DIRECTLY, str(study), folder]
    words = [
        sys.executable,
        "-m",
        "lakatos.flows.commands.main",
        "run",
        str(study),
        "--engine",
        how,
        "--runs",
        folder,
        "--name",
        "x",
    ]
    return words


def measure(how: str, study: Path) -> dict[str, Any]:
    """Run one campaign and take it apart."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.time()
        process = subprocess.Popen(
            command(how, study, folder), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, memory_mib(process.pid))
            time.sleep(0.25)
        assert process.stderr is not None
        said = process.stderr.read().decode(errors="replace")
        assert process.returncode == 0, f"the run ({how}) failed: {said[-2000:]}"
        ended = time.time()
        with Trace.open(Path(folder) / "x", RECORD_TYPES, read_only=True) as trace:
            events = list(trace.journal.events())
    stages: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    intents: dict[str, float] = {}
    spans: list[tuple[float, float]] = []
    for event in events:
        at = datetime.fromisoformat(event.time_utc).timestamp()
        if event.kind == INTENT:
            intents.setdefault(event.key, at)
        elif event.key in intents:
            stages[event.name] += at - intents[event.key]
            counts[event.name] += 1
            spans.append((intents[event.key], at))
    first, last = (datetime.fromisoformat(events[place].time_utc).timestamp() for place in (0, -1))
    inside = covered(spans)
    return {
        "how": how,
        "form": canonical_digest(events),
        "wall_s": ended - begun,
        "before_first_record_s": first - begun,
        "after_last_record_s": ended - last,
        "in_steps_s": inside,
        "between_steps_s": last - first - inside,
        "n_events": len(events),
        "steps_s": dict(sorted(stages.items(), key=lambda item: -item[1])),
        "n_steps": dict(counts),
        "peak_mib": peak,
        "foreign_tracebacks": said.count("Traceback"),
    }


def covered(spans: list[tuple[float, float]]) -> float:
    """Seconds in which at least one step was going on; steps may run side by side."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def cost_of_an_event(n: int = 300) -> float:
    """Seconds for one durable event of a step that does nothing, half of its intent and result."""

    async def work(folder: Path) -> float:
        with Trace.create(folder, seed=1, types={"tombstone": Tombstone}) as trace:

            def nothing(context: StepContext) -> Tombstone:
                return Tombstone(target=step_key("a", [], {}), reason="none")

            begun = time.perf_counter()
            for number in range(n):
                found: Recorded[Tombstone] = await trace.step(
                    "a", nothing, returns=Tombstone, position={"n": number}
                )
                assert found
            return (time.perf_counter() - begun) / (2 * n)

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(work(Path(folder)))


@task(name="empty")
async def empty(number: int) -> int:
    """A task that does nothing."""
    return number


@flow(name="empty tasks")
async def empty_tasks(n: int) -> float:
    """Seconds for each of ``n`` empty tasks, one after another."""
    await empty(0)
    begun = time.perf_counter()
    for number in range(n):
        await empty(number)
    return (time.perf_counter() - begun) / n


@flow(name="empty flow")
async def empty_flow(number: int) -> int:
    """A flow that does nothing."""
    return number


@flow(name="empty flows")
async def empty_flows(n: int) -> float:
    """Seconds for each of ``n`` empty flows in a flow."""
    begun = time.perf_counter()
    for number in range(n):
        await empty_flow(number)
    return (time.perf_counter() - begun) / n


def cost_of_a_stage(engine: EngineName) -> dict[str, float]:
    """Milliseconds per empty task and flow, and seconds until the first one ran."""
    begun = time.perf_counter()
    first: list[float] = []

    async def both() -> tuple[float, float]:
        first.append(time.perf_counter() - begun)
        return await empty_tasks(200), await empty_flows(20)

    tasks, flows = execute(engine, both)
    return {"start_s": first[0], "task_ms": tasks * 1000, "flow_ms": flows * 1000}


def main() -> None:
    """Measure and print where the time went."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--study", type=Path, default=ROOT / "studies" / "demo.toml")
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "orchestration.json"
    )
    chosen = options.parse_args()
    stages = {engine: cost_of_a_stage(engine) for engine in ("none", "prefect")}  # type: ignore[arg-type]
    event_s = cost_of_an_event()
    runs = [measure(how, chosen.study) for how in ("directly", "none", "prefect")]
    assert len({run["form"] for run in runs}) == 1, "the engines gave different results"
    direct, _, prefect = runs
    for run in runs:
        run["bookkeeping_in_steps_s"] = run["n_events"] * event_s
        loop_s = run["wall_s"] - run["before_first_record_s"] - run["after_last_record_s"]
        run["orchestration_share"] = (
            run["between_steps_s"] + run["bookkeeping_in_steps_s"]
        ) / loop_s
    result = {
        **provenance(),
        "runs": runs,
        "stages": stages,
        "event_ms": event_s * 1000,
        "orchestration_share": prefect["orchestration_share"],
        "prefect_share": (prefect["between_steps_s"] - direct["between_steps_s"])
        / prefect["wall_s"],
        "prefect_start_s": prefect["before_first_record_s"] - direct["before_first_record_s"],
        "prefect_peak_mib": prefect["peak_mib"] - direct["peak_mib"],
    }
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    for run in runs:
        print(
            f"{run['how']}: {run['wall_s']:.1f} s, of which {run['in_steps_s']:.1f} s in steps, "
            f"{run['between_steps_s']:.1f} s between them, {run['before_first_record_s']:.1f} s before the first, "
            f"{run['after_last_record_s']:.1f} s after the last; peak {run['peak_mib']:.0f} MiB; "
            f"orchestration {run['orchestration_share']:.1%}"
        )
    for name, seconds in prefect["steps_s"].items():
        print(f"  {name:14s} {seconds:7.2f} s in {prefect['n_steps'][name]} steps")
    print(
        f"an event {event_s * 1000:.2f} ms; stages {stages}; start of Prefect {result['prefect_start_s']:.1f} s"
    )
