"""What the trained writer is worth: whether its proposals enter, and whether they shorten a search.

    python -m benchmarks.models.trained.measure reads --writer DATA/writer.pt --data DATA
    python -m benchmarks.models.trained.measure look --writer DATA/writer.pt --worlds 60
    python -m benchmarks.models.trained.measure enter --writer DATA/writer.pt --worlds 20
    python -m benchmarks.models.trained.measure seed --writer DATA/writer.pt --worlds 30
    python -m benchmarks.models.trained.measure table

``reads``: what the writer makes of answers: how much dearer a source is with the answers of another world.
``look``: whether sources that are written for answers are theories at all, and how much of the truth they name.
``enter``: campaigns in which a reviser alone writes theories, paired by world: the trained writer, the same network
with random weights, and compositions drawn by lot without a look at the answers, as often as they occur in training.
A proposal passes if it is checked and fitted; it enters if it becomes a rival.
``seed``: a search of the grammar from the same starts on the same answers, with and without the writer's proposals
among its first candidates, which count as candidates. Both write `benchmarks/results/models/trained.json`, and resume.
Truths of measured worlds come from other seeds than those of training, and are
compositions drawn by lot in the same way, none of them published.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks.cells import mean_interval  # noqa: E402
from benchmarks.models.trained.answered import STARTS, AnsweredWorld, paired  # noqa: E402
from benchmarks.models.trained.serve import (  # noqa: E402
    MODEL,
    TEMPERATURE,
    Propose,
    drawn_by_lot,
    served,
    written_by,
)
from benchmarks.models.trained.worlds import (  # noqa: E402
    N_PEOPLE,
    SPACES,
    TASKS,
    DrawnTruth,
    ShownAnswers,
    composition_in,
    contract_source,
    draw_truth,
    mechanisms_of,
    simulated_answers,
)
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.theories.explanations import wilson  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.flows.run.run import read_state  # noqa: E402
from lakatos.flows.run.study import CampaignConfig, parse_study  # noqa: E402
from lakatos.flows.start import run_study  # noqa: E402
from lakatos.theories.discovery.grammar_search.proposal import (  # noqa: E402
    AdvocateBrief,
    CompositionAttempt,
    SearchStart,
)
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402
from lakatos.theories.language.grammar import Composition  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "models" / "trained.json"
ARMS = ("trained", "untrained", "lot")
FIRST_SEED = 500_000
"""Of measured worlds; those of training have seeds below."""
LENSES, DRAFTS, CYCLES = ["residual", "leap"], 2, 2


def world_of(number: int) -> DrawnTruth:
    """The truth of a measured world; domains take turns."""
    domain = TASKS[number % len(TASKS)]
    return draw_truth(domain, np.random.default_rng([FIRST_SEED + number]), published=0.0)


def study_of(truth: DrawnTruth, number: int, base_url: str) -> CampaignConfig:
    """A small campaign in which a model alone writes theories."""
    hidden = contract_source(FAMILIES[truth.domain].grammar, truth.composition, truth.people)
    value: dict[str, Any] = {
        "name": "trained",
        "question": "Which rule do these people follow?",
        "domain": truth.domain,
        "seed": number,
        "space": SPACES[truth.domain],
        "theories": {"seeds": STARTS[truth.domain], "draws": 128, "advocates": ["language_model"]},
        "design": {"trials": 40, "participants": N_PEOPLE, "candidates": 200, "refused": "cover",
                   "random_share": 0.5},
        "participants": {"source": "simulated", "program": hidden},
        "stop": {"cycles": CYCLES, "least_cycles": CYCLES},
        "validation": {"company": False},
        "memory": {"winners": False},
        "models": {"writer": {"base_url": base_url, "model": MODEL, "timeout_s": 300.0}},
        "roles": {"reviser": "writer", "lenses": LENSES, "drafts": DRAFTS, "max_tokens": 3000},
    }  # fmt: skip
    return parse_study(value, "this benchmark")


def campaign_of(arm: str, number: int, propose: Propose, folder: Path) -> dict[str, Any]:
    """One campaign, and what became of every draft."""
    begun, truth = time.perf_counter(), world_of(number)
    with served(propose, seed=number) as base_url:
        run_study(study_of(truth, number, base_url), folder, n_workers=1)
    state, trace = read_state(folder)
    trace.close()
    tried = [item.record for item in state.roles.tried]
    admitted = {theory for theory, item in state.theories.pool.items() if item.record.cycle > 0}
    assert state.campaign.truth is not None
    pool = state.campaign.truth.record.pool
    return {
        "arm": arm,
        "world": number,
        "domain": truth.domain,
        "n_drafts": len(tried),
        "n_passed": sum(item.outcome == "submitted" for item in tried),
        "n_asked": len(state.roles.answered),
        "n_places": len(LENSES) * CYCLES,
        "n_admitted": len(admitted),
        "best_error": min(pool.values()),
        "error_of_starts": min(pool[name] for name in state.seeds if name in pool),
        "reasons": [item.reason[:80] for item in tried if item.outcome != "submitted"][:3],
        "seconds": round(time.perf_counter() - begun, 1),
    }


def enter(
    writer: Path | None, worlds: Sequence[int], out: Path, arms: Sequence[str], runs: Path | None
) -> None:
    """Campaigns of every arm on the same worlds."""
    kept = read_result(out)
    cells = kept.setdefault("enter", [])
    proposers: dict[str, Propose] = {}
    for number in worlds:
        for arm in arms:
            if any(item["arm"] == arm and item["world"] == number for item in cells):
                continue
            if arm not in proposers:
                makers = {"lot": lambda: drawn_by_lot, "untrained": lambda: written_by(None)}
                proposers[arm] = makers.get(arm, lambda: written_by(writer))()
            with tempfile.TemporaryDirectory() as folder:
                run = (runs or Path(folder)) / f"{arm}-{number}"
                cells.append(campaign_of(arm, number, proposers[arm], run))
            print(json.dumps(cells[-1]), flush=True)
            write_result(out, kept)


def read_result(out: Path) -> dict[str, Any]:
    """What was measured so far."""
    return json.loads(out.read_text()) if out.exists() else {}


def write_result(out: Path, kept: Mapping[str, Any]) -> None:
    """Keep what was measured, and where it came from."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({**kept, **provenance()}, indent=1) + "\n")


N_CANDIDATES, N_PROPOSED, LIMITS = 30, 6, (0.15, 0.1, 0.05)
SEARCHES = ("alone", "lot", "trained")


def search_of(how: str, number: int, world: AnsweredWorld, writer: Any) -> dict[str, Any]:
    """One search, and after how many candidates its best was near the truth."""
    rng = np.random.default_rng([FIRST_SEED, number])
    family = FAMILIES[world.shown.domain]
    proposed = proposals_of(how, world, writer, np.random.default_rng([FIRST_SEED, number, 1]))
    own = [family.seeds[name][1] for name in STARTS[world.shown.domain]]
    brief = AdvocateBrief(
        tuple(SearchStart(None, item, "proposed") for item in [*proposed, *own]),
        published=tuple(form for _, form in family.seeds.values()),
        n_candidates=N_CANDIDATES,
        n_successors=1,
        looks_back=False,
    )
    asked: list[Composition] = []

    def evaluate(items: Sequence[tuple[Composition, Any]]) -> Any:
        asked.extend(item for item, _ in items)
        return world.fits.evaluate(items)

    world.advocate.revise(brief, evaluate, rng)
    distances: list[float] = []
    best: CompositionAttempt | None = None
    for item in asked[:N_CANDIDATES]:
        attempt = world.attempt(item)
        best = attempt if best is None or attempt.criterion > best.criterion else best
        distances.append(world.distance(best))
    until = {
        str(limit): next(
            (place for place, gap in enumerate(distances, 1) if gap < limit), N_CANDIDATES + 1
        )
        for limit in LIMITS
    }
    assert best is not None
    return {
        "how": how,
        "n_proposed": len(proposed),
        "until": until,
        "gap": distances[-1],
        "mean_gap": float(np.mean(distances)),
        "gap_of_proposals": distances[max(len(proposed) - 1, 0)],
        "criterion": best.criterion,
    }


def proposals_of(
    how: str, world: AnsweredWorld, writer: Any, rng: np.random.Generator
) -> list[Composition]:
    """Different compositions with which a search begins."""
    if how == "alone":
        return []
    domain = world.shown.domain
    if how == "lot":
        return [draw_truth(domain, rng).composition for _ in range(N_PROPOSED)]
    drafts = writer.write(world.shown, rng, n=2 * N_PROPOSED)
    found = (composition_in(domain, draft.source) for draft in drafts)
    return list({item.key: item for item in found if item is not None}.values())[:N_PROPOSED]


def seed(path: Path, worlds: Sequence[int], out: Path) -> None:
    """Searches with and without proposals on the same answers."""
    import torch

    from benchmarks.models.trained.network import load_writer

    torch.set_num_threads(1)
    writer = load_writer(path)
    kept = read_result(out)
    cells = kept.setdefault("seed", [])
    for number in worlds:
        if any(item["world"] == number for item in cells):
            continue
        begun, truth = time.process_time(), world_of(number)
        with Laboratory(DOMAINS[truth.domain], n_workers=1) as lab:
            world = AnsweredWorld(truth, lab, np.random.default_rng([FIRST_SEED, number, 2]))
            searches = [search_of(how, number, world, writer) for how in SEARCHES]
        cells.append({"world": number, "domain": truth.domain, "searches": searches,
                      "seconds": round(time.process_time() - begun, 1)})  # fmt: skip
        print(json.dumps(cells[-1]), flush=True)
        write_result(out, kept)


N_LOOKED = 5


def look(path: Path, worlds: Sequence[int], out: Path) -> None:
    """Sources written for the answers of each world: whether they are theories, and how much of the truth they name."""
    import torch

    from benchmarks.models.trained.network import load_writer, untrained_writer

    torch.set_num_threads(1)
    trained = load_writer(path)
    random_weights = untrained_writer(trained.vocabulary, 0)
    kept = read_result(out)
    kept["look"] = []
    for number in worlds:
        truth, rng = world_of(number), np.random.default_rng([FIRST_SEED, number, 3])
        shown = simulated_answers(truth, 48, rng)
        written = {
            "lot": [drawn_by_lot(shown, rng) for _ in range(N_LOOKED)],
            "trained": _sources(trained, shown, rng),
            "untrained": _sources(random_weights, shown, rng),
        }
        told = {name: _likeness(truth, sources) for name, sources in written.items()}
        kept["look"].append({"world": number, "domain": truth.domain, **told})
        write_result(out, kept)


def reads(path: Path, data: Path, out: Path, *, n_batches: int = 4, size: int = 100) -> None:
    """Nats that a source costs more with the answers of another world in place of its own, on worlds left out."""
    import torch

    from benchmarks.models.trained.network import load_writer
    from benchmarks.models.trained.train import read_worlds

    torch.set_num_threads(1)
    writer, rng = load_writer(path), np.random.default_rng(3)
    kept = read_result(out)
    kept["reads"] = {}
    for domain, worlds in read_worlds(data, writer.vocabulary).items():
        costs = []
        for _ in range(n_batches):
            rows, tokens = worlds.parts()[1].batch(rng, size)
            table, length = (
                torch.tensor(rows, dtype=torch.float32),
                (tokens != 0).sum() / len(tokens),
            )
            asked = (TASKS.index(domain), torch.tensor(tokens))
            with torch.no_grad():
                both = [
                    float(writer.loss(asked[0], item, asked[1]))
                    for item in (table, table.roll(1, 0))
                ]
            costs.append([cost * float(length) for cost in both])
        own, other = np.array(costs).T
        kept["reads"][domain] = {"own": mean_interval(own), "more": paired(other, own)}
    write_result(out, kept)


def _sources(writer: Any, shown: ShownAnswers, rng: np.random.Generator) -> list[str]:
    drafts = writer.write(shown, rng, n=N_LOOKED, temperature=TEMPERATURE)
    return [item.source for item in drafts]


def _likeness(truth: DrawnTruth, sources: Sequence[str]) -> dict[str, float]:
    """How many sources are theories of the grammar, and the share of mechanisms that these have in common with truth.

    That share is Dice's coefficient: 1 for the same mechanisms, 0 for none in common.
    """
    grammar = FAMILIES[truth.domain].grammar
    true = mechanisms_of(grammar, truth.composition)
    found = [item for source in sources if (item := composition_in(truth.domain, source))]
    named = [mechanisms_of(grammar, item) for item in found]
    likeness = [2 * len(own & true) / max(len(own) + len(true), 1) for own in named]
    return {"n": len(sources), "n_sound": len(found), "likeness": float(np.mean(likeness or [0.0]))}


def table(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Shares and means with 95% intervals; differences are paired by world."""
    found: dict[str, Any] = {"enter": {}, "seed": {}}
    for arm in ARMS:
        cells = [item for item in kept.get("enter", []) if item["arm"] == arm]
        if cells:
            total = {name: sum(item[name] for item in cells)
                     for name in ("n_asked", "n_passed", "n_admitted", "n_places")}  # fmt: skip
            found["enter"][arm] = {
                "worlds": len(cells),
                "passed": (total["n_passed"], total["n_asked"], wilson(total["n_passed"], total["n_asked"])),
                "admitted": (total["n_admitted"], total["n_places"],
                             wilson(total["n_admitted"], total["n_places"])),
                "best_error": mean_interval([item["best_error"] for item in cells]),
            }  # fmt: skip
    looked = kept.get("look", [])
    for arm in ARMS if looked else ():
        n, n_sound = (sum(item[arm][name] for item in looked) for name in ("n", "n_sound"))
        likeness = [item[arm]["likeness"] for item in looked]
        found.setdefault("look", {})[arm] = {
            "sound": (n_sound, n, wilson(n_sound, n)),
            "likeness": mean_interval(likeness),
            "likeness - lot": paired(likeness, [item["lot"]["likeness"] for item in looked]),
        }
    for domain in (*TASKS, "both"):
        cells = [item for item in kept.get("seed", []) if domain in (item["domain"], "both")]
        if len(cells) > 1:
            found["seed"][domain] = {"worlds": len(cells), **_compared(cells)}
    return found


def _compared(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    by = {
        how: [next(s for s in item["searches"] if s["how"] == how) for item in cells]
        for how in SEARCHES
    }
    told: dict[str, Any] = {}
    for limit in map(str, LIMITS):
        until = {how: [item["until"][limit] for item in own] for how, own in by.items()}
        told[f"candidates until {limit}"] = {
            **{how: mean_interval(values) for how, values in until.items()},
            "reached": {
                how: sum(value <= N_CANDIDATES for value in values) for how, values in until.items()
            },
            "trained - alone": paired(until["trained"], until["alone"]),
            "trained - lot": paired(until["trained"], until["lot"]),
        }
    for name in ("gap", "mean_gap", "gap_of_proposals"):
        values = {how: [item[name] for item in own] for how, own in by.items()}
        if name == "gap_of_proposals":
            del values["alone"]
        told[name] = {how: mean_interval(own) for how, own in values.items()}
        for other in sorted(values.keys() - {"trained"}):
            told[name][f"trained - {other}"] = paired(values["trained"], values[other])
    return told


def main() -> None:
    """Measure, or tell what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("reads", "look", "enter", "seed", "table"))
    parser.add_argument("--writer", type=Path)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="world to begin with")
    parser.add_argument("--arms", nargs="+", default=list(ARMS))
    parser.add_argument("--data", type=Path, help="folder of the worlds of training")
    parser.add_argument("--runs", type=Path, help="folder in which the campaigns are kept")
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args()
    worlds = range(chosen.first, chosen.first + chosen.worlds)
    if chosen.what == "reads":
        reads(chosen.writer, chosen.data, chosen.out)
    elif chosen.what == "enter":
        enter(chosen.writer, worlds, chosen.out, chosen.arms, chosen.runs)
    elif chosen.what == "look":
        look(chosen.writer, worlds, chosen.out)
    elif chosen.what == "seed":
        seed(chosen.writer, worlds, chosen.out)
    else:
        print(json.dumps(table(read_result(chosen.out)), indent=1))


if __name__ == "__main__":
    main()
