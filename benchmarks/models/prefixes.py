"""How long the prompts of a run are, and how much of them repeats the beginning of an earlier prompt.

Providers and vLLM keep the beginning of prompts that they have read; what repeats costs a tenth, or no time.

    python benchmarks/run.py models/prefixes RUN
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lakatos.flows.run.records import RECORD_TYPES
from lakatos.language_models.client import ModelRequest
from lakatos.language_models.context import count_tokens
from lakatos.language_models.record import LanguageModelCalled
from lakatos.traces.step import Trace


def repeated(prompts: Sequence[str]) -> list[int]:
    """Characters of each prompt that are the beginning of one before it."""
    found = []
    for place, prompt in enumerate(prompts):
        shared = [_n_same(prompt, earlier) for earlier in prompts[:place]]
        found.append(max(shared, default=0))
    return found


def _n_same(first: str, second: str) -> int:
    """Characters with which both texts begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(first), len(second)))


def measure(folder: Path) -> dict[str, Any]:
    """Requests, tokens and repeated share of a run's prompts, by role and in all."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        calls = [item.record for item in trace.records(LanguageModelCalled)]
        kept = [
            ModelRequest.model_validate_json(trace.artifacts.get(item.request)) for item in calls
        ]
    prompts = ["\n".join(f"{m.role}: {m.content}" for m in request.messages) for request in kept]
    rows: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for call, prompt, again in zip(calls, prompts, repeated(prompts), strict=True):
        for name in (call.role, "all"):
            rows[name].append((count_tokens(prompt), len(prompt), again))
    return {
        name: {
            "requests": len(items),
            "tokens": sum(item[0] for item in items),
            "longest": max(item[0] for item in items),
            "repeated_share": round(
                sum(item[2] for item in items) / sum(item[1] for item in items), 3
            ),
        }
        for name, items in rows.items()
    }


def main() -> None:
    """Print the figures of a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    print(json.dumps(measure(parser.parse_args().run), indent=1))


if __name__ == "__main__":
    main()
