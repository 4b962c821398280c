"""Do more problems give a better theory? Campaigns on an eighth, a quarter, half and all of four fifths of the games.

    python benchmarks/run.py theories/more_data --data ../shared/data --folder FOLDER   # resumes; more_data.json

The published matrix games are divided by lot, a game in all its arrangements staying together: a fifth is unseen. Each
share of the others becomes a file of choice rates, `lakatos new` writes its study, and the campaign runs as the study
states. The theory that it names, with the population of all responses of the file, predicts the unseen games, beside
generic learners that learned from the same file and the best published theory, whose population is estimated from the
unseen games themselves. Reported are nats per choice and 100 times the squared error of choice rates.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.provenance import ROOT, provenance

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "more_data.json"
SHARES = {"eighth": 8, "quarter": 4, "half": 2, "all": 1}


def game_of(row: Any) -> tuple[float, ...]:
    """The same for all arrangements of the rows and columns of a game."""
    own, other = (
        np.array([[row[f"{who}_{i}{j}"] for j in (1, 2)] for i in (1, 2)])
        for who in ("own", "other")
    )
    return min(
        (*own[::rows, ::columns].ravel(), *other[::rows, ::columns].ravel())
        for rows in (1, -1)
        for columns in (1, -1)
    )


def write_files(data: Path, folder: Path) -> None:
    """The unseen games and each share of the others, as counts."""
    table = pd.read_csv(data / "games_zhu2024" / "choices.csv.gz")
    payoffs = [name for name in table.columns if name.startswith(("own_", "other_"))]
    rates = table.groupby(payoffs)["choice"].agg(["mean", "size"]).reset_index()
    rates = rates.rename(columns={"mean": "share_second", "size": "count"})
    games = pd.Series([game_of(row) for _, row in rates.iterrows()])
    known = sorted(set(games))
    order = np.random.default_rng(5).permutation(len(known))
    n_unseen = len(known) // 5
    unseen, rest = order[:n_unseen], order[n_unseen:]
    parts = {"test": unseen} | {name: rest[: len(rest) // n] for name, n in SHARES.items()}
    for name, chosen in parts.items():
        place = folder / f"{name}.csv" if name == "test" else folder / name / "data.csv"
        place.parent.mkdir(parents=True, exist_ok=True)
        rates[games.isin([known[number] for number in chosen])].to_csv(place, index=False)


def campaign(folder: Path) -> Path:
    """The finished run of one share."""
    import lakatos
    from lakatos.flows.operations.adopt import new_study

    runs = folder / "runs"
    if not (runs / "study-1").exists():
        study = new_study(folder / "study.toml", folder / "data.csv").study
        lakatos.run(study, "study-1", runs=runs, n_workers=1)
    return runs / "study-1"


def measure(folder: Path, test: Path) -> dict[str, Any]:
    """What a share's theory, and learners taught by it, predict of the unseen games."""
    import lakatos
    from lakatos.theories.engine.scoring.score import mean_over_units
    from lakatos.theories.findings.generic_learners.learners import predict_others

    learned, unseen = lakatos.adopt(folder / "data.csv"), lakatos.adopt(test)
    compared = lakatos.transfer(str(campaign(folder)), to=test, n_workers=1)
    table = compared.to_frame().set_index(["role", "way"])
    taught = predict_others(unseen.domain, learned.trials, unseen.trials, kind="trials")
    return {
        "share": folder.name,
        "n_games": sum(len(item.stimuli) for item in learned.trials),
        "n_responses": sum(item.n_responses for item in learned.trials),
        "lines": json.loads(table.reset_index().to_json(orient="records")),
        "learners": mean_over_units(taught.scores[0]).value,
    }


def main() -> None:
    """Run what is missing, write every result as it comes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    chosen = parser.parse_args()
    write_files(chosen.data, chosen.folder)
    done: list[dict[str, Any]] = []
    for name in SHARES:
        done.append(measure(chosen.folder / name, chosen.folder / "test.csv"))
        print(done[-1], flush=True)
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(json.dumps({**provenance(), "cells": done}, indent=1) + "\n")
