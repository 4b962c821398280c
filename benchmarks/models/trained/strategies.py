"""Strategies of writing compared on equal tokens, with the trained writer: alone, duel, panel, tree of drafts.

    python -m benchmarks.models.trained.strategies run --writer DATA/writer.pt --worlds 30
    python -m benchmarks.models.trained.strategies table

Each strategy may write `TOKENS` tokens for a world. Every draft that is in the grammar is fitted to the same open
answers, the best by the search's criterion survives, and the outcome is its distance from the truth on other trials;
where nothing sound was written, the better one of the two theories that a campaign starts with stays.

- *alone*: drafts from one question, one after the other.
- *duel*: a cautious and a bold role (temperatures 0.4 and 1) with half of the tokens each; the better best survives.
- *panel*: four lenses with a quarter each: all answers, two halves of the trials, the trials that are most extreme.
- *tree*: a quarter for first drafts; then the best one is cut at a place drawn by lot and written on anew, repeatedly.
- *relay*: as the tree, but nobody tries anything: each step goes on from the last draft. It shows what errors become
  where no step is checked; the last draft is the answer.

An answer fails if it is further than `LIMIT` from the truth. The amplification of errors is the share of failures
divided by that of the writer alone on the same worlds (Kim et al., 2025, Towards a science of scaling agent systems);
carried errors are failures at the end among worlds where the first draft had failed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks.cells import mean_interval  # noqa: E402
from benchmarks.models.trained.answered import AnsweredWorld, paired  # noqa: E402
from benchmarks.models.trained.measure import (  # noqa: E402
    FIRST_SEED,
    read_result,
    world_of,
    write_result,
)
from benchmarks.models.trained.serve import TEMPERATURE  # noqa: E402
from benchmarks.models.trained.worlds import TASKS, ShownAnswers, composition_in  # noqa: E402
from benchmarks.theories.explanations import wilson  # noqa: E402
from lakatos.domains import DOMAINS  # noqa: E402
from lakatos.theories.discovery.grammar_search.proposal import CompositionAttempt  # noqa: E402
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "models" / "trained_strategies.json"
TOKENS = 300
"""That each strategy may write for a world: some eight sources."""
LIMIT = 0.1
STRATEGIES = ("alone", "duel", "panel", "tree", "relay")
LEAST_LEFT = 12
"""Tokens below which nothing more is begun."""


class DraftingDesk:
    """Drafts of one strategy in one world, and the tokens that are left."""

    def __init__(self, world: AnsweredWorld, writer: Any, rng: np.random.Generator) -> None:
        self.world, self.writer, self.rng = world, writer, rng
        self.attempts: list[CompositionAttempt | None] = []
        """In the order in which they were written; None for what is no theory of the grammar."""
        self.tokens: list[tuple[int, ...]] = []
        self.n_spent = 0

    def draft(
        self,
        answers: ShownAnswers,
        least_left: int,
        *,
        temperature: float = TEMPERATURE,
        beginning: Sequence[int] = (),
    ) -> CompositionAttempt | None:
        """One draft, cut where the tokens down to ``least_left`` end; only what is newly written is counted."""
        room = TOKENS - self.n_spent - least_left
        (written,) = self.writer.write(
            answers, self.rng, temperature=temperature, beginning=beginning,
            most=min(self.writer.place.num_embeddings - 1, len(beginning) + room),
        )  # fmt: skip
        self.n_spent += len(written.tokens) - len(beginning)
        composition = composition_in(answers.domain, written.source)
        self.attempts.append(None if composition is None else self.world.attempt(composition))
        self.tokens.append(written.tokens)
        return self.attempts[-1]

    def left(self, least_left: int = 0) -> bool:
        """Whether there is room for another draft."""
        return TOKENS - self.n_spent - least_left >= LEAST_LEFT

    def best_place(self) -> int | None:
        """Of the draft with the best criterion."""
        there = [place for place, item in enumerate(self.attempts) if item is not None]
        return max(there, key=lambda place: _criterion(self.attempts[place]), default=None)


def _criterion(attempt: CompositionAttempt | None) -> float:
    return -np.inf if attempt is None else attempt.criterion


def write_alone(desk: DraftingDesk) -> None:
    """Drafts from one question."""
    while desk.left():
        desk.draft(desk.world.shown, 0)


def write_duel(desk: DraftingDesk) -> None:
    """A cautious role, then a bold one."""
    for temperature, least_left in ((0.4, TOKENS // 2), (1.0, 0)):
        while desk.left(least_left):
            desk.draft(desk.world.shown, least_left, temperature=temperature)


def write_panel(desk: DraftingDesk) -> None:
    """Four lenses on the answers."""
    shown = desk.world.shown
    halves = np.array_split(desk.rng.permutation(len(shown.rows)), 2)
    extreme = np.argsort(-np.abs(shown.rows[:, -1] - 0.5), kind="stable")[: len(shown.rows) // 2]
    for place, rows in enumerate((np.arange(len(shown.rows)), *halves, extreme), start=1):
        least_left = TOKENS - place * TOKENS // 4
        while desk.left(least_left):
            desk.draft(replace(shown, rows=shown.rows[rows]), least_left)


def write_tree(desk: DraftingDesk, *, tries: bool = True) -> None:
    """First drafts, then the best (or, where nothing is tried, the last) one written on anew from a place by lot."""
    least_left = 3 * TOKENS // 4
    while desk.left(least_left) and (tries or not desk.tokens):
        desk.draft(desk.world.shown, least_left)
    while desk.left():
        place = desk.best_place() if tries else len(desk.tokens) - 1
        parent = () if place is None else desk.tokens[place]
        kept = parent[: int(desk.rng.integers(0, max(len(parent) - 1, 1)))]
        desk.draft(desk.world.shown, 0, beginning=kept)


def work_of(strategy: str, desk: DraftingDesk) -> dict[str, Any]:
    """What a strategy came to in a world."""
    relay = strategy == "relay"
    writers = {"alone": write_alone, "duel": write_duel, "panel": write_panel, "tree": write_tree}
    if relay:
        write_tree(desk, tries=False)
    else:
        writers[strategy](desk)
    place = len(desk.attempts) - 1 if relay else desk.best_place()
    end = None if place is None else desk.attempts[place]
    first = desk.attempts[0]
    return {
        "strategy": strategy,
        "n_drafts": len(desk.attempts),
        "n_sound": sum(item is not None for item in desk.attempts),
        "n_different": len({item.composition.key for item in desk.attempts if item is not None}),
        "n_tokens": desk.n_spent,
        "first": desk.world.distance(first or desk.world.start),
        "end": desk.world.distance(end or desk.world.start),
    }


def run(path: Path, worlds: Sequence[int], out: Path) -> None:
    """All strategies on the same worlds."""
    import torch

    from benchmarks.models.trained.network import load_writer

    torch.set_num_threads(1)
    writer = load_writer(path)
    kept = read_result(out)
    cells = kept.setdefault("cells", [])
    for number in worlds:
        if any(item["world"] == number for item in cells):
            continue
        truth = world_of(number)
        with Laboratory(DOMAINS[truth.domain], n_workers=1) as lab:
            world = AnsweredWorld(truth, lab, np.random.default_rng([FIRST_SEED, number, 2]))
            works = [
                work_of(name, DraftingDesk(world, writer, np.random.default_rng([FIRST_SEED, number, 10 + place])))
                for place, name in enumerate(STRATEGIES)
            ]  # fmt: skip
        cells.append({"world": number, "domain": truth.domain, "works": works})
        print(json.dumps(cells[-1]), flush=True)
        write_result(out, kept)


def table(cells: Sequence[Mapping[str, Any]], rng: np.random.Generator) -> dict[str, Any]:
    """Distances, failures, their amplification and carried errors, with 95% intervals; paired by world."""
    works = {
        name: [item["works"][place] for item in cells] for place, name in enumerate(STRATEGIES)
    }
    ends = {name: np.array([item["end"] for item in own]) for name, own in works.items()}
    failed = {name: own > LIMIT for name, own in ends.items()}
    found: dict[str, Any] = {}
    for name, own in works.items():
        wrong_first = np.array([item["first"] > LIMIT for item in own])
        carried = int((failed[name] & wrong_first).sum())
        chosen = rng.integers(len(cells), size=(4000, len(cells)))
        ratios = failed[name][chosen].sum(axis=1) / np.maximum(
            failed["alone"][chosen].sum(axis=1), 1
        )
        found[name] = {
            "distance": mean_interval(ends[name]),
            "distance - alone": paired(ends[name], ends["alone"]),
            "failed": (int(failed[name].sum()), wilson(int(failed[name].sum()), len(cells))),
            "amplification": (float(failed[name].sum() / max(failed["alone"].sum(), 1)),
                              *map(float, np.quantile(ratios, [0.025, 0.975]))),
            "carried": (carried, int(wrong_first.sum()), wilson(carried, int(wrong_first.sum()))),
            "drafts": mean_interval([item["n_drafts"] for item in own]),
            "different": mean_interval([item["n_different"] for item in own]),
            "tokens": mean_interval([item["n_tokens"] for item in own]),
        }  # fmt: skip
    tested = np.stack([ends[name] for name in STRATEGIES if name != "relay"])
    best = int(tested.mean(axis=1).argmin())
    found["bandit"] = {
        "best on average": STRATEGIES[best],
        "gain of knowing the best strategy of each domain": _gain_by_domain(cells, tested),
    }
    return found


def _gain_by_domain(cells: Sequence[Mapping[str, Any]], tested: Any) -> float:
    """How much less the mean distance would be if each domain had the strategy that is best in it."""
    domains = np.array([item["domain"] for item in cells])
    own = sum(tested[:, domains == name].mean(axis=1).min() * (domains == name).mean()
              for name in TASKS if (domains == name).any())  # fmt: skip
    return float(tested.mean(axis=1).min() - own)


def main() -> None:
    """Run what is missing, or tell what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--writer", type=Path)
    parser.add_argument("--worlds", type=int, default=30)
    parser.add_argument("--first", type=int, default=1000, help="world to begin with")
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.writer, range(chosen.first, chosen.first + chosen.worlds), chosen.out)
    else:
        print(
            json.dumps(table(read_result(chosen.out)["cells"], np.random.default_rng(0)), indent=1)
        )


if __name__ == "__main__":
    main()
