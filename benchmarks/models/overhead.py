"""What a recorded call costs beyond the bare `openai` client, at 64 calls in flight.

The rehearsal runs in a process of its own and waits a fixed time for each answer, as a server with a full batch does.
The same requests go to it through the bare client (``openai``), our client (``client``), and calls that are
steps of a trace on disk, within a budget (``recorded``). One arm follows another, in turns, several times. Two figures:
time per call over the wall (how much the lanes together get done) and processor time of this process per call, which
is what matters once the server is the bottleneck. Recorded again, all answers come from the trace.

    python benchmarks/run.py models/overhead          # writes benchmarks/raw/models/overhead.json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import openai

from benchmarks.provenance import ROOT, provenance
from lakatos.language_models.call import ModelCaller
from lakatos.language_models.client import ChatMessage, ModelRequest, TokenSampling
from lakatos.language_models.clients.openai import OpenAIModel, body_of_request
from lakatos.language_models.ledger import Budget, BudgetLedger
from lakatos.language_models.record import RECORDS
from lakatos.language_models.settings import ModelSettings, Price
from lakatos.traces.step import Trace
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running_process

OUT = ROOT / "benchmarks" / "raw" / "models" / "overhead.json"
PROMPT = (
    "People chose between a sure gain and a risky one; say which theory predicts their choices. "
    * 20
)
ARMS = ("openai", "client", "recorded", "again")


def question(number: int) -> ModelRequest:
    said = (
        ChatMessage(role="system", content=PROMPT),
        ChatMessage(role="user", content=f"Question {number}."),
    )
    return ModelRequest(messages=said, sampling=TokenSampling(max_tokens=64), seed=number + 1)


async def timed(
    call: Callable[[int], Awaitable[object]], n_calls: int, in_flight: int
) -> dict[str, float]:
    """Milliseconds of wall clock and of processor per call; the first calls, which open connections, are not timed."""
    places = asyncio.Semaphore(in_flight)

    async def one(number: int) -> None:
        async with places:
            await call(number)

    await asyncio.gather(*(one(-1 - number) for number in range(in_flight)))
    wall, processor = time.perf_counter(), time.process_time()
    await asyncio.gather(*map(one, range(n_calls)))
    return {
        "wall_ms": 1e3 * (time.perf_counter() - wall) / n_calls,
        "processor_ms": 1e3 * (time.process_time() - processor) / n_calls,
    }


async def turn(
    settings: ModelSettings, folder: Path, n_calls: int, in_flight: int
) -> dict[str, dict[str, float]]:
    found = {}
    ours, bare = OpenAIModel(settings), OpenAIModel(settings)
    client = bare.connection()
    found["openai"] = await timed(
        lambda number: client.chat.completions.create(
            **body_of_request(settings, question(number))
        ),
        n_calls,
        in_flight,
    )
    found["client"] = await timed(
        lambda number: ours.complete(question(number)), n_calls, in_flight
    )
    price = Price(input=1.0, output=4.0)
    with Trace.create(folder, seed=1, types=RECORDS) as trace:
        ledger = BudgetLedger(Budget(requests=10**6, tokens=10**12, money=10**6))
        caller = ModelCaller(ours, trace, ledger, price=price, most_in_flight=in_flight)
        for arm in ("recorded", "again"):
            found[arm] = await timed(
                lambda number: caller.ask(question(number), role="advocate"), n_calls, in_flight
            )
        assert ledger.total == BudgetLedger.of(ledger.budget, trace.journal.events()).total
    await ours.close()
    await bare.close()
    return found


def write(given: argparse.Namespace, turns: list[dict[str, dict[str, float]]]) -> None:
    """The result so far."""
    summary: dict[str, Any] = {}
    for arm in ARMS:
        for measure in ("wall_ms", "processor_ms"):
            values = [item[arm][measure] for item in turns]
            extra = [item[arm][measure] - item["openai"][measure] for item in turns]
            summary.setdefault(arm, {})[measure] = {
                "median": statistics.median(values),
                "least": min(values),
                "most": max(values),
                "median_beyond_openai": statistics.median(extra),
            }
    result = {
        **provenance(),
        "openai_package": openai.__version__,
        "n_calls": given.calls,
        "in_flight": given.in_flight,
        "server_s": given.server_s,
        "ideal_wall_ms": 1e3 * given.server_s / given.in_flight,
        "summary": summary,
        "turns": turns,
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=640)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument(
        "--server-s", type=float, default=0.5, help="time that the server takes for an answer"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    turns: list[dict[str, dict[str, float]]] = []
    with running_process(RehearsalSettings(overhead_s=given.server_s)) as server:
        settings = ModelSettings(
            name="rehearsal",
            base_url=server.base_url,
            model=server.model,
            most_in_flight=given.in_flight,
        )
        for number in range(given.turns):
            with tempfile.TemporaryDirectory() as folder:
                turns.append(
                    asyncio.run(turn(settings, Path(folder) / "run", given.calls, given.in_flight))
                )
            print(number, turns[-1], flush=True)
            write(given, turns)
