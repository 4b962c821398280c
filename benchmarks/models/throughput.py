"""Whether concurrent roles keep a server's batch full, and what that gives.

For 1 to 64 calls in flight, the roles' prompts are asked in turn for a while; the server's own count of running
requests is looked at every 50 ms meanwhile. Without `--profile`, the tiny random model is served on the processor.

    python benchmarks/run.py models/throughput                     # writes benchmarks/raw/models/throughput.json

On a machine with a GPU, serve a profile first and name it; random weights do where there are no others:

    lakatos models install --runtime gpu
    lakatos models serve h200                                  # in another terminal
    python benchmarks/run.py models/throughput --profile h200 --out benchmarks/raw/models/throughput-h200.json
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.serving.environment import find_environment, install
from lakatos.language_models.serving.launch import prepare, settings_of
from lakatos.language_models.serving.load import (
    TimedCall,
    http_client,
    quantiles_s,
    time_call,
    time_calls,
)
from lakatos.language_models.serving.metrics import read_metrics
from lakatos.language_models.serving.profile import load_profile
from lakatos.language_models.serving.server import served
from lakatos.language_models.serving.shape import REPRESENTATIVE
from lakatos.language_models.settings import ModelSettings
from tests.rehearsal.tiny import write_tiny_profile

LEVELS = (1, 2, 4, 8, 16, 32, 64)
LOOK_EVERY_S = 0.05


async def level(settings: ModelSettings, n_in_flight: int, seconds: float) -> dict[str, Any]:
    """Keep so many calls in flight for a while; figures of the time in which all of them were."""
    numbers = itertools.count()
    calls: list[TimedCall] = []
    running: list[tuple[float, float, float]] = []
    begun = time.perf_counter()

    async with http_client(settings) as client:

        async def role() -> None:
            while time.perf_counter() - begun < seconds:
                number = next(numbers)
                shape = REPRESENTATIVE[number % len(REPRESENTATIVE)]
                request = shape.request.model_copy(update={"seed": 1000 * n_in_flight + number})
                calls.append(await time_call(client, settings, request))

        async def look() -> None:
            while True:
                seen = await read_metrics(settings.base_url, client)
                now = time.perf_counter() - begun
                running.append(
                    (
                        now,
                        seen.total("vllm:num_requests_running"),
                        seen.total("vllm:num_requests_waiting"),
                    )
                )
                await asyncio.sleep(LOOK_EVERY_S)

        before = await read_metrics(settings.base_url, client)
        looking = asyncio.create_task(look())
        await asyncio.gather(*(role() for _ in range(n_in_flight)))
        took = time.perf_counter() - begun
        looking.cancel()
        counted = (await read_metrics(settings.base_url, client)).since(before)
    # The first moments fill the batch and the last ones empty it.
    full = (
        np.array([point[1:] for point in running if 0.1 * seconds < point[0] < seconds])
        / n_in_flight
    )
    good = [call for call in calls if not call.error]
    median, tail = quantiles_s([call.total_s for call in good])
    first, first_tail = quantiles_s([call.first_token_s for call in good])
    return {
        "in_flight": n_in_flight,
        "calls": len(calls),
        "failed": len(calls) - len(good),
        "seconds": round(took, 1),
        "tokens_per_second": round(counted.total("vllm:generation_tokens_total") / took, 1),
        "prompt_tokens_per_second": round(counted.total("vllm:prompt_tokens_total") / took, 1),
        "prefix_cache_hits": round(
            counted.total("vllm:prefix_cache_hits_total")
            / max(1.0, counted.total("vllm:prefix_cache_queries_total")),
            3,
        ),
        "running_share_mean": round(float(full[:, 0].mean()), 3) if full.size else None,
        "running_share_p10": round(float(np.quantile(full[:, 0], 0.1)), 3) if full.size else None,
        "waiting_share_mean": round(float(full[:, 1].mean()), 3) if full.size else None,
        "looks": len(full),
        "latency_s": {"p50": round(median, 3), "p99": round(tail, 3)},
        "first_token_s": {"p50": round(first, 3), "p99": round(first_tail, 3)},
    }


async def measure(settings: ModelSettings, seconds: float) -> list[dict[str, Any]]:
    async with http_client(settings) as client:  # grammars are made once, prefixes are read once
        await time_calls(client, settings, [shape.request for shape in REPRESENTATIVE], 1)
    found = []
    for n_in_flight in LEVELS:
        found.append(await level(settings, n_in_flight, seconds))
        print(found[-1], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--seconds", type=float, default=15, help="for each number of calls in flight"
    )
    parser.add_argument("--profile", default="", help="a profile that is being served")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "models" / "throughput.json"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.profile:
            profile = load_profile(given.profile)
            version = find_environment(profile.runtime).version
            levels = asyncio.run(measure(settings_of(profile), given.seconds))
        else:
            install("cpu")
            profile = load_profile(write_tiny_profile(Path(folder), port=free_port()))
            environment = find_environment("cpu")
            version = environment.version
            with served(prepare(profile, environment), Path(folder) / "log", print):
                levels = asyncio.run(measure(settings_of(profile), given.seconds))
    found = {
        "provenance": provenance(),
        "vllm": version,
        "runtime": profile.runtime,
        "model": profile.asked_name,
        "weights": profile.weights if given.profile else "random",
        "max_requests": profile.max_requests,
        "levels": levels,
        "not_measured": "on a GPU: speed, accepted drafts, cost of an accepted theory; commands: docs/serving.md"
        if profile.runtime == "cpu"
        else "",
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
