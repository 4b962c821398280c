"""Train the writer: simulate worlds, fit the network to them, then to the trajectories of real campaigns.

    python -m benchmarks.models.trained.train worlds --domain risky --n 20000 --seed 1 --out DATA/risky-1.npz
    python -m benchmarks.models.trained.train fit --data DATA --minutes 25 --out DATA/writer.pt
    python -m benchmarks.models.trained.train tune --from DATA/writer.pt --data DATA --export RUN --out DATA/tuned.pt

A world is a truth with people of its own and what is expected of them on `N_ROWS` trials; every time it is learned
from, other trials of these are drawn, and other answers. A tenth of the worlds is left out to be tried on.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks.models.trained.snippets import SnippetVocabulary  # noqa: E402
from benchmarks.models.trained.worlds import (  # noqa: E402
    N_PEOPLE,
    SPACES,
    TASKS,
    all_snippets,
    draw_truth,
    expected_choices,
    shown_answers,
    trial_bank,
)

N_ROWS = 192
BATCH = 32
LEAST_TRIALS, MOST_TRIALS = 24, 80
RATE = 1e-3
LEFT_OUT = 0.1
REPLAYED = 0.75
"""Share of the batches of tuning that are simulated worlds, so that nothing is unlearned."""


def write_worlds(domain: str, n: int, seed: int, out: Path) -> None:
    """Simulate worlds and keep what is expected of their people, with the sources of their truths."""
    rng = np.random.default_rng([seed, TASKS.index(domain)])
    stimuli, _ = trial_bank(domain)
    rows = np.empty((n, N_ROWS), dtype=np.uint16)
    shares = np.empty((n, N_ROWS), dtype=np.float16)
    sources = []
    while len(sources) < n:
        truth = draw_truth(domain, rng)
        asked = rng.choice(len(stimuli), N_ROWS, replace=False)
        expected = expected_choices(truth, stimuli.take(asked), rng).mean(axis=0)
        if not np.isfinite(expected).all():
            continue
        rows[len(sources)], shares[len(sources)] = asked, expected
        sources.append(truth.source)
    np.savez(out, rows=rows, shares=shares, sources=np.array(sources), domain=domain)


@dataclass(frozen=True)
class WorldSet:
    """Worlds of one domain."""

    domain: str
    rows: Any
    shares: Any
    tokens: Any
    """``(n_worlds, length)``, padded."""

    def parts(self) -> tuple[WorldSet, WorldSet]:
        """To learn from, and to be tried on."""
        cut = int(len(self.rows) * LEFT_OUT)
        return self.take(slice(cut, None)), self.take(slice(0, cut))

    def take(self, which: Any) -> WorldSet:
        """Some of the worlds."""
        return WorldSet(self.domain, self.rows[which], self.shares[which], self.tokens[which])

    def batch(self, rng: np.random.Generator, size: int = BATCH) -> tuple[Any, Any]:
        """New answers of some worlds: rows of a table of trials each, and the tokens of their truths."""
        _, features = trial_bank(self.domain)
        chosen = rng.choice(len(self.rows), min(size, len(self.rows)), replace=False)
        n_trials = int(rng.integers(LEAST_TRIALS, MOST_TRIALS + 1))
        which = np.argsort(rng.random((len(chosen), N_ROWS)), axis=1)[:, :n_trials]
        asked = np.take_along_axis(self.rows[chosen], which, axis=1)
        expected = np.take_along_axis(self.shares[chosen], which, axis=1).astype(np.float64)
        shares = rng.binomial(N_PEOPLE, np.clip(expected, 0, 1)) / N_PEOPLE
        tokens = self.tokens[chosen]
        tokens = tokens[:, : int((tokens != 0).sum(axis=1).max())]
        return np.concatenate([features[asked], shares[..., None]], axis=-1), tokens


def read_worlds(folder: Path, vocabulary: SnippetVocabulary) -> dict[str, WorldSet]:
    """All worlds of a folder, by domain; sources that are too long for the network are left out."""
    from benchmarks.models.trained.network import MOST_TOKENS

    found: dict[str, WorldSet] = {}
    for domain in SPACES:
        kept = [np.load(path) for path in sorted(folder.glob(f"{domain}-*.npz"))]
        sources = [str(source) for item in kept for source in item["sources"]]
        encoded = [vocabulary.encode(source) for source in sources]
        short = np.array([len(item) <= MOST_TOKENS for item in encoded])
        tokens = np.zeros((len(encoded), MOST_TOKENS), dtype=np.int64)
        for place, item in enumerate(encoded):
            tokens[place, : min(len(item), MOST_TOKENS)] = item[:MOST_TOKENS]
        rows = np.concatenate([item["rows"] for item in kept])
        shares = np.concatenate([item["shares"] for item in kept])
        found[domain] = WorldSet(domain, rows, shares, tokens).take(short)
    return found


def fit(data: Path, minutes: float, out: Path, *, seed: int = 0, start: Path | None = None) -> None:
    """Learn from simulated worlds for so many minutes of the clock."""
    import torch

    from benchmarks.models.trained.network import load_writer, untrained_writer

    torch.set_num_threads(1)
    vocabulary = SnippetVocabulary.of(all_snippets())
    writer = load_writer(start) if start else untrained_writer(vocabulary, seed)
    writer.train()
    sets = {name: item.parts() for name, item in read_worlds(data, vocabulary).items()}
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(
        writer.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01
    )
    begun, number, losses, log = time.perf_counter(), 0, [], []

    def spent() -> float:
        return (time.perf_counter() - begun) / (60 * minutes)

    print(
        writer.n_weights,
        "weights;",
        {name: len(item[0].rows) for name, item in sets.items()},
        flush=True,
    )
    while spent() < 1:
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(number, spent(), resumed=start is not None)
        for domain, (known, _) in sets.items():
            losses.append(_step(writer, optimiser, domain, *known.batch(rng)))
        number += 1
        if number % 50 == 0:
            tried = _tried(writer, {name: item[1] for name, item in sets.items()})
            log.append(
                {
                    "steps": number,
                    "share": spent(),
                    "learned": float(np.mean(losses[-100:])),
                    **tried,
                }
            )
            print(json.dumps(log[-1]), flush=True)
            writer.save(out)
    writer.save(out)
    out.with_suffix(".json").write_text(json.dumps(
        {"weights": writer.n_weights, "minutes": minutes, "seed": seed, "batch": BATCH, "log": log,
         "worlds": {name: len(item[0].rows) for name, item in sets.items()}}, indent=1))  # fmt: skip


def learning_rate(number: int, spent: float, *, resumed: bool) -> float:
    """It rises for some steps, then falls to 0 along a cosine; half as high where learning goes on."""
    warming = min(1.0, (number + 1) / (20 if resumed else 100))
    return (
        RATE * (0.5 if resumed else 1.0) * warming * 0.5 * (1 + math.cos(math.pi * min(spent, 1.0)))
    )


def _step(
    writer: Any, optimiser: Any, domain: str, rows: Any, tokens: Any, weights: Any = None
) -> float:
    import torch

    loss = writer.loss(
        TASKS.index(domain),
        torch.tensor(rows, dtype=torch.float32),
        torch.tensor(tokens),
        None if weights is None else torch.tensor(weights, dtype=torch.float32),
    )
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
    optimiser.step()
    return float(loss.detach())


def _tried(writer: Any, sets: dict[str, WorldSet]) -> dict[str, float]:
    """Nats per token on worlds that were left out."""
    import torch

    rng = np.random.default_rng(5)
    found = {}
    with torch.no_grad():
        for domain, item in sets.items():
            rows, tokens = item.batch(rng, 256)
            rows = torch.tensor(rows, dtype=torch.float32)
            found[domain] = float(writer.loss(TASKS.index(domain), rows, torch.tensor(tokens)))
    return found


@dataclass(frozen=True)
class CreditedDraft:
    """One step of a trajectory that a network can learn from."""

    domain: str
    rows: Any
    source: str
    weight: float


def credited_drafts(exports: Sequence[Path]) -> list[CreditedDraft]:
    """Drafts of exported trajectories that were fitted, each with what it was worth above 0.

    That is its step's credit, which tells states apart and not drafts that were all fitted, and how much better its
    trajectory ended than all trajectories on average. What is masked teaches nothing, good or bad.
    """
    lines = [
        json.loads(line)
        for export in exports
        for line in (export / "trajectories.jsonl").read_text().splitlines()
    ]
    expected = float(np.mean([line["outcome"] for line in lines if line["outcome"] is not None]))
    found = []
    for line in lines:
        for step in line["steps"]:
            if step["masked"] or step["to"] != "submitted":
                continue
            weight = step["credit"] + line["outcome"] - expected
            if weight > 0:
                text = "\n".join(item["content"] for item in step["messages"])
                source = json.loads(step["completion"]["content"])["source"]
                answers = shown_answers(text)
                found.append(CreditedDraft(answers.domain, answers.rows, source, weight))
    return found


def tune(
    start: Path,
    data: Path,
    exports: Sequence[Path],
    out: Path,
    *,
    n_steps: int = 150,
    seed: int = 1,
) -> None:
    """Learn from credited steps of real campaigns, weighted by their credit, beside simulated worlds."""
    import torch

    from benchmarks.models.trained.network import MOST_TOKENS, MOST_TRIALS, load_writer

    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    writer = load_writer(start).train()
    sets = {name: item.parts() for name, item in read_worlds(data, writer.vocabulary).items()}
    drafts = [(item, tokens) for item in credited_drafts(exports)
              if len(tokens := writer.vocabulary.encode(item.source)) <= MOST_TOKENS]  # fmt: skip
    optimiser = torch.optim.AdamW(
        writer.parameters(), lr=RATE / 10, betas=(0.9, 0.98), weight_decay=0.01
    )
    before = _tried(writer, {name: item[1] for name, item in sets.items()})
    largest = max((item.weight for item, _ in drafts), default=1.0)
    for _ in range(n_steps):
        if drafts and rng.random() > REPLAYED:
            item, tokens = drafts[int(rng.integers(len(drafts)))]
            rows = item.rows[rng.permutation(len(item.rows))[:MOST_TRIALS]]
            _step(
                writer,
                optimiser,
                item.domain,
                rows[None],
                np.array([tokens]),
                np.array([item.weight / largest]),
            )
        else:
            domain = TASKS[int(rng.integers(len(TASKS)))]
            _step(writer, optimiser, domain, *sets[domain][0].batch(rng, BATCH // 2))
    writer.save(out)
    told = {
        "drafts": len(drafts),
        "before": before,
        "after": _tried(writer, {n: s[1] for n, s in sets.items()}),
    }
    print(json.dumps(told))
    out.with_suffix(".json").write_text(json.dumps(told, indent=1))


def main() -> None:
    """Do one of the three things."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    worlds = commands.add_parser("worlds")
    worlds.add_argument("--domain", choices=TASKS, required=True)
    worlds.add_argument("--n", type=int, default=20_000)
    worlds.add_argument("--seed", type=int, default=1)
    fitting = commands.add_parser("fit")
    fitting.add_argument("--minutes", type=float, default=25.0)
    fitting.add_argument("--start", type=Path)
    tuning = commands.add_parser("tune")
    tuning.add_argument("--from", dest="start", type=Path, required=True)
    tuning.add_argument("--export", type=Path, nargs="+", required=True)
    for command in (fitting, tuning):
        command.add_argument("--data", type=Path, required=True)
    for command in (worlds, fitting, tuning):
        command.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    if chosen.command == "worlds":
        write_worlds(chosen.domain, chosen.n, chosen.seed, chosen.out)
    elif chosen.command == "fit":
        fit(chosen.data, chosen.minutes, chosen.out, start=chosen.start)
    else:
        tune(chosen.start, chosen.data, chosen.export, chosen.out)


if __name__ == "__main__":
    main()
