"""What a campaign's scoring and bookkeeping cost as work grows, measured, and on paper to a billion answers.

    python benchmarks/run.py growth                       # benchmarks/raw/growth.json; goes on where it stopped
    python benchmarks/run.py growth --axes theories experiments --most 100 --out /tmp/growth.json

One thing grows at a time, and every point stands beside its floor. Scoring is `Laboratory.scores_of`, experiment
after experiment, as a campaign scores: 10 theories, 10 experiments of 10 people with 100 answers each (10,000 in all)
and 512 draws, unless that is what grows. Theories beyond the published ones are the published ones again under other
digests. Records are written as the scores of a campaign are, one durable commit each, and walked once with every hash
checked, as each pass begins. Fan-out is the search's own question, `Laboratory.evaluate`, on a cluster of processes
of this machine: its overhead is the share of workers' time, from the question to the last answer, that they did not
spend inside it. A point that takes less than `CHEAP_S` is measured `N_REPEATS` times, and its median counts; others
are measured once.

Floors: of scoring, the matrix product at the speed of a large one and all probabilities read once at the speed of a
copy (`benchmarks.theories.engine.parts`); of records, their bytes hashed twice, once written and once walked, and on
the clock as many appended pages made durable; of fan-out, the work inside, spread evenly. That every theory is
asked about every experiment in a process of its own is in no floor, and is most of what a small experiment costs.

How scoring a single pool grows with answers and with people is in `benchmarks/theories/engine.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.cells import complete
from benchmarks.provenance import ROOT
from benchmarks.theories.engine import (
    DOMAIN,
    N_DRAWS,
    N_TRIALS,
    SEED,
    experiments,
    growth,
    parts,
    peak_memory,
    theories,
)
from lakatos.domains import FAMILIES
from lakatos.flows.run.cluster import ClusterLaboratory
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.journal import Journal, step_key

AXES = {
    "theories": (10, 30, 100, 300, 1000),
    "experiments": (5, 15, 50, 150, 500),
    "responses": (10_000, 100_000, 1_000_000, 10_000_000),
    "records": (1_000, 3_000, 10_000, 30_000),
    "fanout": (1, 2, 3),
}
N_THEORIES, N_EXPERIMENTS, N_PEOPLE = 10, 10, 10
N_CANDIDATES = 24
PAPER = 1_000_000_000
N_REPEATS, CHEAP_S = 3, 10.0


def pool_of(n: int) -> list[Theory]:
    """``n`` theories with digests of their own."""
    published = theories()
    return [
        published[index]
        if index < len(published)
        else read_program(
            TheoryProgram(
                f"{published[index % len(published)].program.source}\n# {index}\n", "copy"
            )
        )
        for index in range(n)
    ]


def processor_s() -> float:
    """Processor seconds of this process and all its descendants, the ended ones included."""
    total = 0.0
    for process in (own := psutil.Process(), *own.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
        if process is not own:
            total += times.children_user + times.children_system
    return total


def scoring(n_theories: int, n_experiments: int, n_people: int) -> dict[str, float]:
    """Cost of every theory's score on every experiment."""
    trials = experiments(n_experiments, n_people, np.random.default_rng(SEED))
    pool = pool_of(n_theories)
    with Laboratory(DOMAIN, 1) as laboratory, peak_memory() as peak:
        laboratory.layers  # noqa: B018  (starts the sandbox)
        own, wall = processor_s(), time.perf_counter()
        nats = [
            item.left_out.mean
            for items in laboratory.scores_of(pool, trials, N_DRAWS)
            if not isinstance(items, Exception)
            for item in items
        ]
        own, wall = processor_s() - own, time.perf_counter() - wall
    n_bytes = sum(
        array.nbytes
        for item in trials
        for array in (item.participant, item.trial, item.response, item.count)
    )
    floor = n_theories * parts(trials)["floor_s"]
    return {
        "n_scores": len(nats),
        "mean_nats": float(np.mean(nats)),
        "processor_s": own,
        "floor_s": floor,
        "wall_s": wall,
        "peak_mib": peak[0],
        "bytes_per_response": n_bytes / (n_experiments * n_people * N_TRIALS),
    }


def bookkeeping(n: int) -> dict[str, float]:
    """Writing ``n`` records one by one, and walking them once."""
    body = {
        "scores": [0.125] * N_PEOPLE,
        "proportions": [0.5] * N_TRIALS,
        "theory": "a" * 64,
        "error": 0.01,
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        Journal.create(Path(folder) / "journal.sqlite", {}) as journal,
    ):
        own, wall = processor_s(), time.perf_counter()
        for number in range(n):
            position = {"number": number}
            key = step_key("score", (), position)
            journal.append("scored", body, key=key, name="score", position=position, inputs=())
        written, written_wall = processor_s() - own, time.perf_counter() - wall
        own = processor_s()
        n_events = sum(1 for _ in journal.events())
        walked = processor_s() - own
        assert n_events == n
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        durable_s = durable_page_s(Path(folder))
    return {
        "processor_s": written + walked,
        "floor_s": 2 * size / hashed_bytes_per_s(),
        "written_s": written,
        "written_wall_s": written_wall,
        "written_floor_wall_s": n * durable_s,
        "walked_s": walked,
        "bytes_per_record": size / n,
    }


def durable_page_s(folder: Path, n: int = 100) -> float:
    """Median seconds on the clock until a page that is appended to a file is on disk."""
    page, taken = bytes(4096), []
    with (folder / "pages").open("wb", buffering=0) as file:
        for _ in range(n):
            begun = time.perf_counter()
            file.write(page)
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - begun)
    return float(np.median(taken))


def hashed_bytes_per_s(n_bytes: int = 2**26) -> float:
    """Speed of SHA-256, by processor time."""
    block, begun = bytes(n_bytes), time.process_time()
    sha256(block)
    return n_bytes / (time.process_time() - begun)


def spread(n_workers: int) -> dict[str, float]:
    """The search's question on ``n_workers`` processes: its overhead, and whether answers are those of one process."""
    family = FAMILIES[DOMAIN.name]
    names = [list(family.seeds)[index % len(family.seeds)] for index in range(N_CANDIDATES)]
    items = [(family.seeds[name][1], None) for name in names]
    (trials,) = experiments(1, N_PEOPLE, np.random.default_rng(SEED))

    def sources(laboratory: Laboratory) -> list[str]:
        return [
            str(item) if isinstance(item, Exception) else item.theory.program.source
            for item in laboratory.evaluate(family.grammar, items, [trials])
        ]

    with Laboratory(DOMAIN, 1) as alone:
        sources(alone)
        begun = time.perf_counter()
        expected = sources(alone)
        alone_s = time.perf_counter() - begun
    with ClusterLaboratory(DOMAIN, f"local:{n_workers}") as cluster:
        cluster._client.wait_for_workers(n_workers, timeout=300)
        sources(cluster)  # sandboxes start
        before, begun = cluster.inside_s, time.perf_counter()
        found = sources(cluster)
        wall, inside = time.perf_counter() - begun, cluster.inside_s - before
    assert found == expected
    return {
        "alone_wall_s": alone_s,
        "wall_s": wall,
        "inside_s": inside,
        "overhead": 1 - inside / (wall * n_workers),
        "processor_s": inside,
        "floor_wall_s": inside / n_workers,
        "equal": True,
    }


def measured(axis: str, n: int) -> dict[str, float]:
    """One point of one axis, measured once."""
    if axis == "theories":
        return scoring(n, N_EXPERIMENTS, N_PEOPLE)
    if axis == "experiments":
        return scoring(N_THEORIES, n, N_PEOPLE)
    if axis == "responses":
        return scoring(N_THEORIES, N_EXPERIMENTS, n // (N_EXPERIMENTS * N_TRIALS))
    return bookkeeping(n) if axis == "records" else spread(n)


def cell(axis: str, n: int) -> dict[str, Any]:
    """One point of one axis: the median of a few measurements where they are cheap."""
    before, begun = os.getloadavg()[0], time.perf_counter()
    found = [measured(axis, n)]
    cheap = axis != "fanout" and time.perf_counter() - begun < CHEAP_S
    found += [measured(axis, n) for _ in range(N_REPEATS - 1 if cheap else 0)]
    median = sorted(found, key=lambda item: item["processor_s"])[len(found) // 2]
    times = (
        {} if axis == "fanout" else {"times_the_floor": median["processor_s"] / median["floor_s"]}
    )
    return {
        "axis": axis,
        "n": n,
        **median,
        **times,
        "n_repeats": len(found),
        "load_average": before,
    }


def on_paper(
    fits: dict[str, dict[str, float]], cells: Sequence[dict[str, Any]]
) -> dict[str, float]:
    """Scoring `N_THEORIES` theories on a billion answers, by the line through what was measured."""
    line = fits["responses"]
    seconds = line["fixed_s"] + line["s_per_million"] * PAPER / 1e6
    largest = max(
        (item for item in cells if item["axis"] == "responses"), key=lambda item: item["n"]
    )
    return {
        "n_responses": PAPER,
        "n_theories": N_THEORIES,
        "processor_hours": seconds / 3600,
        "processor_hours_of_1000_theories": seconds / 3600 * 1000 / N_THEORIES,
        "floor_hours": largest["floor_s"] / largest["n"] * PAPER / 3600,
        "gib_of_answers": largest["bytes_per_response"] * PAPER / 2**30,
        "times_beyond_measured": PAPER / largest["n"],
    }


def main() -> None:
    """Measure what is missing, then fit and write."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--axes", nargs="+", choices=list(AXES), default=list(AXES))
    options.add_argument("--most", type=int, default=10**12, help="leave out points beyond this")
    options.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "raw" / "growth.json")
    chosen = options.parse_args()
    wanted = [(axis, n) for axis in chosen.axes for n in AXES[axis] if n <= chosen.most]
    places = {axis: place for place, axis in enumerate(AXES)}
    cells = complete(
        chosen.out,
        cell,
        wanted,
        ("axis", "n"),
        1,
        order=lambda item: (places[item["axis"]], item["n"]),
    )
    fits = {}
    for axis in ("theories", "experiments", "responses", "records"):
        rows = [
            {"n_responses": item["n"], "processor_s": item["processor_s"]}
            for item in cells
            if item["axis"] == axis
        ]
        if len(rows) > 2:
            fits[axis] = growth(rows)
            print(axis, {name: round(value, 3) for name, value in fits[axis].items()})
    result = json.loads(chosen.out.read_text()) | {"growth": fits}
    if "responses" in fits:
        result["on_paper"] = on_paper(fits, cells)
        print("on paper:", result["on_paper"])
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
