"""The demonstration as a user starts it: time on the clock, processor seconds by part, memory, and what it found.

    python benchmarks/run.py demonstration                # benchmarks/raw/demonstration.json
    python benchmarks/run.py demonstration --study FILE   # with `--engine none --workers 1`; also of published data

Processor seconds are those of a control group (`cpuacct`, or version 2) that the command is started in, so that
every process counts: the children of sandboxes live for milliseconds, and those that are killed are missed by `time`.
They are given to the steps of the journal by reading the group's total twenty times a second. Peak memory is the
proportional set size of all processes, sampled four times a second. The errors are those against the hidden rule.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory_use import memory_mib
from benchmarks.provenance import ROOT, provenance
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.theories.engine.record import SearchFinished
from lakatos.traces.journal import INTENT
from lakatos.traces.step import Trace

GROUPS = (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
SAMPLES_A_SECOND = 20
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COUNTED = ("n", "wall_s", "cpu_s", "peak_mib")
"""What is told of each kind of step; a step that ends between two samples of memory has no peak (0)."""
LEADER = re.compile(r"nats per choice")
"""A line above or in the standings: from here on it is told who leads."""


class ProcessorMeter:
    """A control group of its own, whose processes' time is read off the kernel."""

    def __init__(self) -> None:
        """Make the group.

        Raises:
            SystemExit: No control group can be made here.
        """
        for parent in GROUPS:
            self.folder = parent / f"lakatos-{os.getpid()}"
            with contextlib.suppress(OSError):
                self.folder.mkdir()
                self.seconds()
                return
        sys.exit(
            "no control group can be made below "
            + ", ".join(map(str, GROUPS))
            + "; start this as a user who may (root in a container)."
        )

    def seconds(self) -> float:
        """Processor seconds that all processes of the group have used."""
        with contextlib.suppress(FileNotFoundError):
            return int((self.folder / "cpuacct.usage").read_text()) / 1e9
        used = (self.folder / "cpu.stat").read_text().split()
        return int(used[used.index("usage_usec") + 1]) / 1e6

    def enter(self) -> None:
        """Put the process that calls this into the group."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def leave(self) -> None:
        """Put the process that calls this back where groups are made."""
        (self.folder.parent / "cgroup.procs").write_text(str(os.getpid()))

    def close(self) -> None:
        """Remove the group once its processes have ended."""
        for _ in range(100):
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.1)


class CommandSamples:
    """What was seen while a command ran: processor seconds, memory, and the lines that it printed."""

    def __init__(self, root: int, meter: ProcessorMeter, screen: int) -> None:
        """Begin to look at a process, its group and its screen."""
        self.root, self.meter, self.screen = root, meter, screen
        self.used: list[tuple[float, float]] = []
        self.memory: list[tuple[float, float]] = []
        self.lines: list[tuple[float, str]] = []
        self._done = threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._count, self._read)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop looking."""
        self._done.set()
        for thread in self._threads:
            thread.join()
        self.used.append((time.time(), self.meter.seconds()))

    def _count(self) -> None:
        number = 0
        while not self._done.wait(1 / SAMPLES_A_SECOND):
            self.used.append((time.time(), self.meter.seconds()))
            if number % 5 == 0:
                self.memory.append((time.time(), memory_mib(self.root)))
            number += 1

    def _read(self) -> None:
        came = b""
        with contextlib.suppress(OSError):  # the other side of the screen was closed
            while piece := os.read(self.screen, 65536):
                *whole, came = (came + piece).split(b"\n")
                self.lines += [(time.time(), line.decode(errors="replace")) for line in whole]


@contextlib.contextmanager
def watched(words: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], CommandSamples]]:
    """A command on a terminal of its own, and what is seen of it; it is waited for at the end."""
    meter = ProcessorMeter()
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
            preexec_fn=meter.enter, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        samples = CommandSamples(process.pid, meter, ours)
        yield process, samples
        process.wait()
        samples.end()
    finally:
        os.close(ours)
        meter.close()


def measure(words: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run a command that makes one campaign in ``folder``, and take it apart."""
    begun = time.time()
    with watched([*words, "--runs", str(folder)]) as (process, samples):
        pass
    ended = time.time()
    text = "\n".join(line for _, line in samples.lines)
    if process.returncode:
        sys.exit(f"{' '.join(words)} ended with status {process.returncode}:\n{text[-3000:]}")
    leads = [at for at, line in samples.lines if LEADER.search(COLOURS.sub("", line))]
    (run,) = (path for path in folder.iterdir() if (path / "journal.sqlite").exists())
    return {
        "wall_s": ended - begun,
        "processor_s": samples.used[-1][1],
        "first_leader_s": min(leads) - begun if leads else None,
        "peak_mib": max(mib for _, mib in samples.memory),
        "steps": steps_of(run, samples),
        "outcome": outcome_of(run),
    }


def steps_of(run: Path, samples: CommandSamples) -> dict[str, dict[str, float]]:
    """For each kind of step its number, its seconds on the clock and of processors, and its peak of memory."""
    times, seconds = np.array(samples.used).T
    looked, mib = np.array(samples.memory).T
    with Trace.open(run, RECORD_TYPES, read_only=True) as trace:
        events = list(trace.journal.events())
    found: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(COUNTED, 0.0))
    begun: dict[str, float] = {}
    for event in events:
        at = datetime.fromisoformat(event.time_utc).timestamp()
        if event.kind == INTENT:
            begun.setdefault(event.key, at)
        elif event.key in begun:
            before, after = np.interp([begun[event.key], at], times, seconds)
            own = found[event.name]
            own["n"] += 1
            own["wall_s"] += at - begun[event.key]
            own["cpu_s"] += after - before
            during = mib[(looked >= begun[event.key]) & (looked <= at)]
            own["peak_mib"] = max(own["peak_mib"], during.max(initial=0.0))
    return dict(sorted(found.items(), key=lambda item: -item[1]["cpu_s"]))


def outcome_of(run: Path) -> dict[str, Any]:
    """Who leads in the end, and how far the leader is from the hidden rule."""
    state, trace = read_state(run)
    trace.close()
    assert state.campaign.concluded is not None
    verdict = state.campaign.concluded.record
    leader = state.theories.checked[verdict.leader].record
    told = {
        "leader": leader.name,
        "author": leader.author,
        "holds": verdict.holds,
        "errors_on_trials": [item.model_dump(mode="json") for item in verdict.errors],
        "searches": [searched(item.record) for item in state.theories.searches],
    }
    if state.campaign.truth is None:
        return told
    truth = state.campaign.truth.record
    return told | {
        "error": truth.corrected[verdict.leader],
        "error_with_lapses": truth.uncorrected[verdict.leader],
        "best_in_pool": min(truth.pool.values()),
    }


def searched(record: SearchFinished) -> dict[str, Any]:
    """What a cycle's search tried, and by which score what it submits was chosen (nats per choice)."""
    criteria = [item.criterion for item in record.submissions]
    return {"cycle": record.cycle, "n_attempts": record.n_attempts, "criteria": criteria}


def main() -> None:
    """Measure and print where the time went."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seed", type=int)
    options.add_argument("--study", type=Path, help="instead of the demonstration")
    options.add_argument("--save", type=Path, help="folder in which the run is kept")
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "demonstration.json"
    )
    chosen = options.parse_args()
    lakatos = [sys.executable, str(ROOT / "start.py")]
    words = [*lakatos, "lakatos", "run", str(chosen.study)] if chosen.study else [*lakatos, "demo"]
    words += ["--engine", "none", "--workers", "1"] if chosen.study else []
    words += ["--seed", str(chosen.seed)] if chosen.seed is not None else []
    with tempfile.TemporaryDirectory() as folder:
        found = measure(words, chosen.save or Path(folder))
    chosen.out.write_text(json.dumps({**provenance(), **found}, indent=1) + "\n")
    print(
        f"{found['wall_s']:.1f} s on the clock, {found['processor_s']:.1f} of processors, "
        f"first leader after {found['first_leader_s']} s, at most {found['peak_mib']:.0f} MiB"
    )
    for name, own in found["steps"].items():
        print(
            f"  {name:18s} {own['n']:4.0f} steps {own['wall_s']:8.2f} s {own['cpu_s']:8.2f} processor s "
            f"{own['peak_mib']:7.0f} MiB"
        )
