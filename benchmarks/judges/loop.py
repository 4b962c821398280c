"""The real loop on people's published choices: what judges are worth, counted in expensive experiments.

    python benchmarks/run.py judges/loop --anchor anchor.json.gz --data FOLDER
        # resumes where it stopped; benchmarks/raw/judges/loop.json

Every arm runs the same studies from the same seeds, a fifth of each experiment's trials sealed, one experiment a cycle:

- *none*: every successor that passes its checks becomes a rival (naive).
- *rules*: the laboratory's rules, as by default.
- *frozen*: also rules with calibrated levels and a program judge, made on the anchor set before the first cycle.
- *evolving*: the same, and challengers bred at the ends of epochs, behind the gate, with erasure.

At the end of every cycle the leader is tested on the sealed trials, in nats per choice of its declared population. The
improvement is over the best of the published theories that the study starts from. Reported are experiments, and
answers, per 0.01 nats of improvement at the end (a ratio of sums, whose interval is a bootstrap over seeds), the mean
improvement after every experiment, the experiments until half of the arm's final mean is reached, and differences from
*none* paired by study and seed. What shares problems or people with the archive is left out of the anchor set.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import mean_interval
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS
from lakatos.experiments.participants.table import get_trials
from lakatos.flows.run.evidence import theory_of
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import CampaignConfig, load_study, parse_study
from lakatos.flows.stages.judging.anchor import read_anchor
from lakatos.flows.start import run_study
from lakatos.judges.erasure import JudgeMeasured
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive

RESULT = ROOT / "benchmarks" / "raw" / "judges" / "loop.json"
STUDIES = ("multiattribute-binary", "intertemporal")
ARMS: dict[str, dict[str, Any]] = {
    "none": {"panel": "none"},
    "rules": {},
    "frozen": {"panel": "frozen"},
    "evolving": {"panel": "evolving"},
}
UNIT = 0.01
"""Nats per choice of improvement in which costs are given."""
N_BOOTSTRAP = 2000


def study(
    name: str, arm: str, seed: int, anchor: Path, cycles: int, candidates: int
) -> CampaignConfig:
    """A packaged study with one experiment a cycle and the arm's judges."""
    value = load_study(ROOT / "studies" / f"{name}.toml").model_dump(mode="json")
    judges = dict(ARMS[arm])
    if judges.get("panel") in ("frozen", "evolving"):
        judges |= {"anchor": str(anchor.resolve()), "first": 4}
    value |= {"name": f"{name}-{arm}-{seed}", "seed": seed, "judges": judges}
    value["design"] |= {"per_cycle": 1}
    value["stop"] = {"cycles": cycles, "least_cycles": cycles, "patience": cycles}
    value["theories"] |= {"candidates": candidates}
    value["validation"] = {"sealed_share": 0.2, "folds": 0}
    return parse_study(value, name)


def cell(name: str, arm: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """One campaign: improvement on sealed trials after every experiment, and what it took."""
    config = study(name, arm, seed, options.anchor, options.cycles, options.candidates)
    begun, used = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        run_study(config, folder, data=options.data, n_workers=options.workers)
        row = measured(folder, config)
        shutil.rmtree(folder)
    seconds = {
        "seconds": round(time.perf_counter() - begun, 1),
        "processor": round(time.process_time() - used, 1),
    }
    return {"study": name, "arm": arm, "seed": seed, **row, **seconds}


def measured(folder: Path, config: CampaignConfig) -> dict[str, Any]:
    """What a finished run cost and came to."""
    state, trace = read_state(folder)
    with trace, Laboratory(DOMAINS[config.domain], 1) as laboratory:
        assert state.experiments.sealed is not None
        sealed = [
            get_trials(trace.artifacts, digest) for digest in state.experiments.sealed.record.trials
        ]
        scores: dict[str, float] = {}

        def score(digest: str) -> float:
            if digest not in scores:
                (found,) = laboratory.evidence_of(
                    [theory_of(trace.artifacts, state, digest)], sealed, config.theories.draws
                )
                parts = [log_predictive(evidence) for evidence in found]
                total = sum(float(part.log_predictive.sum()) for part in parts)
                scores[digest] = total / sum(float(part.n_choices.sum()) for part in parts)
            return scores[digest]

        start = max(map(score, state.seeds))
        gains = [score(item.record.leader) - start for item in state.campaign.cycles]
        n_answers = [
            state.experiments.collected[name].record.n_responses
            for name in state.experiments.collected
        ]
        said = list(trace.records(JudgeMeasured))
    return {
        "gains": [round(gain, 6) for gain in gains],
        "n_experiments": len(state.experiments.collected),
        "n_answers": int(sum(n_answers)),
        "n_rivals": len(state.theories.pool),
        "n_measured": len(said),
        "n_rescored": len(said) - len({item.record.subject for item in said}),
        "gates": [
            [item.record.epoch, item.record.verdict, round(item.record.gain, 4)]
            for item in state.seats.gates
        ],
        "n_replaced": sum(len(item.record.changed) for item in state.seats.committed),
    }


def table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By study and arm: costs per unit of improvement, gains, and differences from no judges."""
    rng = np.random.default_rng(0)
    found = []
    for name in dict.fromkeys(row["study"] for row in rows):
        base = {row["seed"]: row for row in rows if (row["study"], row["arm"]) == (name, "none")}
        for arm in ARMS:
            own = [row for row in rows if (row["study"], row["arm"]) == (name, arm)]
            if not own:
                continue
            gain = np.array([row["gains"][-1] for row in own])
            paired = [
                row["gains"][-1] - base[row["seed"]]["gains"][-1]
                for row in own
                if row["seed"] in base
            ]
            curve = mean_curve([row["gains"] for row in own])
            half = next((n + 1 for n, value in enumerate(curve) if value >= curve[-1] / 2), None)
            found.append(
                {
                    "study": name,
                    "arm": arm,
                    "n_seeds": len(own),
                    "gain": interval(gain),
                    "gain_over_none": interval(np.array(paired)) if len(paired) > 1 else None,
                    "experiments_per_unit": ratio([row["n_experiments"] for row in own], gain, rng),
                    "answers_per_unit": ratio([row["n_answers"] for row in own], gain, rng),
                    "gain_by_experiment": [round(value, 5) for value in curve],
                    "experiments_to_half": half if curve[-1] > 0 else None,
                    "rivals": interval(np.array([row["n_rivals"] for row in own], dtype=float)),
                    "gates": sum(len(row["gates"]) for row in own),
                    "replaced": sum(row["n_replaced"] for row in own),
                    "rescored": sum(row["n_rescored"] for row in own),
                    "processor": round(float(np.mean([row["processor"] for row in own])), 1),
                }
            )
    return found


def mean_curve(gains: list[list[float]]) -> list[float]:
    """Mean improvement after every experiment; a campaign that ended earlier keeps its last."""
    longest = max(map(len, gains))
    return np.mean([own + own[-1:] * (longest - len(own)) for own in gains], axis=0).tolist()  # type: ignore[no-any-return]


def interval(values: np.ndarray) -> dict[str, float]:
    """Mean with its 95% interval over seeds, and the worst seed."""
    mean, low, high = mean_interval(values)
    return {"mean": mean, "low": low, "high": high, "worst": float(values.min())}


def ratio(cost: list[int], gain: np.ndarray, rng: np.random.Generator) -> dict[str, float | None]:
    """Cost per unit of improvement, as a ratio of sums; None where there was no improvement to pay for."""
    spent = np.array(cost, dtype=float)
    picks = rng.integers(len(gain), size=(N_BOOTSTRAP, len(gain)))
    sums = gain[picks].sum(axis=1)
    values = np.where(
        sums > 0, spent[picks].sum(axis=1) * UNIT / np.where(sums > 0, sums, 1), np.inf
    )
    low, high = np.quantile(values, [0.025, 0.975], method="higher")
    point = float(spent.sum() * UNIT / gain.sum()) if gain.sum() > 0 else None
    return {
        "value": point,
        "low": float(low) if np.isfinite(low) else None,
        "high": float(high) if np.isfinite(high) else None,
    }


def main() -> None:
    """Run what is missing and print the table."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--anchor", type=Path, required=True, help="made by `lakatos judges anchor build`"
    )
    options.add_argument("--data", type=Path, required=True, help="folder of published data")
    options.add_argument("--studies", nargs="+", default=list(STUDIES))
    options.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    options.add_argument("--seeds", type=int, default=8)
    options.add_argument("--cycles", type=int, default=8)
    options.add_argument("--candidates", type=int, default=60)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    rows: list[dict[str, Any]] = (
        json.loads(chosen.out.read_text())["rows"] if chosen.out.exists() else []
    )
    done = {(row["study"], row["seed"], row["arm"]) for row in rows}
    for seed in range(1, chosen.seeds + 1):
        for name in chosen.studies:
            for arm in chosen.arms:
                if (name, seed, arm) not in done:
                    rows.append(cell(name, arm, seed, chosen))
                    write(chosen.out, rows, chosen)
    for line in table(rows):
        cost = line["experiments_per_unit"]
        words = (
            "no improvement"
            if cost["value"] is None
            else f"{cost['value']:.2f} [{cost['low']}, {cost['high']}]"
        )
        gain = line["gain"]
        print(
            f"{line['study']:22s} {line['arm']:9s} gain {gain['mean']:+.4f} [{gain['low']:+.4f}, {gain['high']:+.4f}] "
            f"experiments per {UNIT} nats: {words}; replaced {line['replaced']} of {line['gates']} challenged"
        )


def write(out: Path, rows: list[dict[str, Any]], chosen: argparse.Namespace) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    anchor = read_anchor(chosen.anchor)
    setting = {"cycles": chosen.cycles, "candidates": chosen.candidates, "anchor": anchor.digest}
    setting["anchor_items"] = {part: len(items) for part, items in anchor.parts.items()}
    seconds = round(sum(row["seconds"] for row in rows), 1)
    result = {
        **provenance(),
        **setting,
        "unit": UNIT,
        "seconds": seconds,
        "table": table(rows),
        "rows": rows,
    }
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
