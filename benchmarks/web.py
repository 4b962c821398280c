"""Two hundred people at once for a minute: is an answer lost or doubled, how long does one take, does memory grow.

The server runs in a process of its own on a loopback port, as ``lakatos collect`` starts it. Each simulated browser
begins (consent, comprehension check), then answers step after step with pauses drawn from an exponential distribution,
and sends one answer in twenty a second time, as a browser does whose connection broke. Whoever has finished is followed
by a new person. Afterwards every answer that was confirmed is looked for in the collection and in the inbox.

    python benchmarks/run.py web            # writes benchmarks/raw/web.json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import shutil
import socket
import sqlite3
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.source import WebParticipants
from lakatos.experiments.participants.web.texts import texts_for
from lakatos.experiments.task import Design
from lakatos.experiments.testing import KEY, preregister
from lakatos.traces.inbox import Inbox

TRIALS, REPETITIONS = 8, 2


@dataclass
class Seen:
    """What the browsers were told."""

    latencies_ms: list[float] = field(default_factory=list)
    saved: list[dict[int, int]] = field(default_factory=list)
    """Confirmed answers of each person, by position."""
    completed: int = 0
    failures: dict[str, int] = field(default_factory=dict)


def recruit(folder: Path) -> None:
    stimuli = DOMAINS["risky"].candidates({}, np.random.default_rng(1), TRIALS)
    design = Design("1.1", stimuli, REPETITIONS, 100_000)
    page = PageSettings(checks=2, access="open", hourly_from_address=0)
    source = WebParticipants(folder, domain=DOMAINS["risky"], settings={}, seed=1, page=page)
    source.recruit(preregister(design), design, KEY)


def serve(folder: Path, port: int) -> None:
    import uvicorn

    from lakatos.experiments.participants.web.app import create_app
    from lakatos.experiments.participants.web.door import SERVER

    uvicorn.run(create_app(folder), host="127.0.0.1", port=port, **SERVER)


async def take_part(url: str, until: float, pause: float, rng: random.Random, seen: Seen) -> None:
    """People one after another in one place, until time is up."""
    right = [item["right"] for item in texts_for("risky")["en"]["domains"]["risky"]["questions"]]
    await asyncio.sleep(rng.uniform(0, pause))
    while time.monotonic() < until:
        async with httpx.AsyncClient(
            base_url=url, timeout=60, verify=False, trust_env=False
        ) as browser:

            async def post(path: str, body: Any, browser: httpx.AsyncClient = browser) -> Any:
                while True:
                    try:
                        response = await browser.post(f"api/{path}", json=body)
                        if response.status_code == 200:
                            return response.json()
                        name = f"{path} {response.status_code}"
                    except httpx.TransportError as error:
                        name = f"{path} {type(error).__name__}"
                    seen.failures[name] = (
                        seen.failures.get(name, 0) + 1
                    )  # and again, as the page does
                    await asyncio.sleep(0.5)

            await browser.get("")
            digest = (await browser.get("api/texts")).json()["consent"]["digest"]
            await post("consent", {"consent": digest, "language": "en"})
            state = await post("comprehension", {"attempt": 0, "answers": right})
            mine: dict[int, int] = {}
            seen.saved.append(mine)
            while state["phase"] == "task" and time.monotonic() < until:
                await asyncio.sleep(rng.expovariate(1 / pause))
                position, response = state["position"], rng.randrange(2)
                body = {
                    "position": position,
                    "response": response,
                    "response_time_ms": 1000 * pause,
                }
                begun = time.perf_counter()
                answered = await post("answers", body)
                seen.latencies_ms.append(1000 * (time.perf_counter() - begun))
                mine[position] = response
                if rng.random() < 0.05:
                    again = await post("answers", {**body, "response": 1 - response})
                    assert not again["saved"]
                state = answered["state"]
            seen.completed += state["phase"] == "end"


async def browse(url: str, people: int, seconds: float, pause: float, watch: Any) -> Seen:
    seen, until = Seen(), time.monotonic() + seconds
    watching = asyncio.create_task(watch())
    await asyncio.gather(
        *(take_part(url, until, pause, random.Random(number), seen) for number in range(people))
    )
    watching.cancel()
    return seen


def memory_mib(pid: int) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def compare(folder: Path, seen: Seen) -> dict[str, int]:
    """What was confirmed and is not there, what is there and was not confirmed, and what is there twice."""
    with sqlite3.connect(folder / "collection.sqlite") as sql:
        stored: dict[int, dict[int, int]] = {}
        for session, position, response in sql.execute(
            "SELECT session, position, response FROM answer"
        ):
            stored.setdefault(session, {})[position] = response
        n_ended = sql.execute("SELECT count(*) FROM session WHERE status = 'completed'").fetchone()[
            0
        ]
    confirmed = sorted(tuple(sorted(person.items())) for person in seen.saved if person)
    kept = sorted(tuple(sorted(person.items())) for person in stored.values())
    batches = [batch.json() for batch in Inbox(folder / "inbox.sqlite").pending()]
    return {
        "answers_confirmed": sum(map(len, seen.saved)),
        "answers_stored": sum(map(len, stored.values())),
        "people_whose_answers_differ": len(set(confirmed) ^ set(kept))
        + abs(len(confirmed) - len(kept)),
        "people_completed": n_ended,
        "batches_in_inbox": len(batches),
        "answers_in_inbox_wanted": n_ended * TRIALS * REPETITIONS,
        "answers_in_inbox": sum(len(batch["trial"]) for batch in batches),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=3.0, help="mean seconds before an answer")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "raw" / "web.json")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="lakatos-web-"))
    recruit(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(folder, port), daemon=True
    )
    server.start()
    assert server.pid is not None
    url = f"http://127.0.0.1:{port}/study/"
    for _ in range(600):
        try:
            httpx.get(url)
            break
        except httpx.TransportError:
            time.sleep(0.1)
    memory: list[tuple[float, float]] = []
    begun, loads = time.monotonic(), os.getloadavg()

    async def watch() -> None:
        while True:
            memory.append((time.monotonic() - begun, memory_mib(server.pid or 0)))
            await asyncio.sleep(0.5)

    seen = asyncio.run(browse(url, given.people, given.seconds, given.pause, watch))
    elapsed = time.monotonic() - begun
    processor = sum(
        map(
            float,
            Path(f"/proc/{server.pid}/stat")
            .read_text(encoding="utf-8")
            .rsplit(")", 1)[1]
            .split()[11:13],
        )
    )
    server.terminate()
    server.join(30)
    latencies = np.array(seen.latencies_ms)
    later = np.array([point for point in memory if point[0] > elapsed / 3])
    slope = float(np.polyfit(later[:, 0], later[:, 1], 1)[0])
    found: dict[str, Any] = {
        "provenance": provenance(),
        "people_at_once": given.people,
        "seconds": given.seconds,
        "mean_pause_seconds": given.pause,
        "load_average_before": round(loads[0], 2),
        **compare(folder, seen),
        "people_begun": len(seen.saved),
        "answers_per_second": round(len(latencies) / elapsed, 1),
        "requests_sent_again": seen.failures,
        "latency_ms": {
            **{
                f"p{share:g}": round(float(np.percentile(latencies, share)), 1)
                for share in (50, 95, 99, 99.9)
            },
            "largest": round(float(latencies.max()), 1),
        },
        "server_processor_seconds": round(processor / os.sysconf("SC_CLK_TCK"), 1),
        "server_memory_mib": {
            "first": round(memory[0][1], 1),
            "after_a_third": round(float(later[0, 1]), 1),
            "last": round(memory[-1][1], 1),
            "largest": round(max(point[1] for point in memory), 1),
            "slope_mib_per_minute_in_the_last_two_thirds": round(60 * slope, 2),
        },
    }
    shutil.rmtree(folder)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
