"""Subjective randomness: a theory found on one published run of auto-psych, beside rivals taught by the same run.

    python benchmarks/run.py theories/sequences          # about ten minutes; benchmarks/raw/theories/sequences.json

Each of the two runs is explained by a campaign (`lakatos.explain`), and the theory that leads has its population
estimated from all responses of that run. It then predicts the other run, which nothing was chosen on. Every rival is
taught by the same responses: the published theories, and a logistic regression and gradient boosting on the domain's
features. ``loss`` is in nats per choice for the average participant, so that nobody's earlier choices inform later
ones; ``loss knowing the person`` lets a theory update what it knows of each participant from choice to choice.
Intervals are of a bootstrap over participants; ``ahead`` is the rival's loss minus that of the theory found, paired by
participant.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.provenance import ROOT, provenance

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "sequences.json"
PUBLISHED_LOSS = {"run 1": 0.5992, "run 2": 0.6298}
"""Of the winner of each run, whose form was chosen on that run: ``logpd`` / 3,840 in the authors' table."""
N_BOOTSTRAP = 2_000
Array = NDArray[Any]


def responses(data: Path) -> dict[str, pd.DataFrame]:
    """The choices of each run as a table."""
    whole = pd.read_csv(data / "sequences_autopsych2026" / "choices.csv.gz")
    return {
        f"run {number}": own.drop(columns="run").reset_index(drop=True)
        for number, own in whole.groupby("run")
    }


def features_of(table: pd.DataFrame) -> Array:
    """``(n_rows, n_features)`` of each trial."""
    from lakatos.domains.sequences.task import DOMAIN, sequences

    pairs = list(zip(table["sequence_left"], table["sequence_right"], strict=True))
    found = DOMAIN.features(sequences(pairs, "HT"))
    return np.column_stack([np.asarray(values, dtype=np.float64) for values in found.values()])


def losses(p_right: Array, table: pd.DataFrame) -> pd.Series:
    """Mean loss of each participant, in nats per choice."""
    right = (table["chosen"] == "right").to_numpy()
    loss = -np.log(np.clip(np.where(right, p_right, 1 - p_right), 1e-12, 1))
    return pd.Series(loss).groupby(table["participant"]).mean()


def with_interval(values: Array) -> dict[str, float]:
    """The mean over participants with its 95% bootstrap interval."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(0, len(values), (N_BOOTSTRAP, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return {"value": float(values.mean()), "low": float(low), "high": float(high)}


def learned(teaching: pd.DataFrame, table: pd.DataFrame, name: str) -> Array:
    """Predicted shares of the right side by a learner of the features."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = (
        make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000))
        if name == "logistic regression"
        else HistGradientBoostingClassifier(
            learning_rate=0.03, max_iter=150, max_leaf_nodes=8, min_samples_leaf=40, random_state=0
        )
    )
    model.fit(features_of(teaching), teaching["chosen"] == "right")
    return np.asarray(model.predict_proba(features_of(table))[:, 1])


def cell(tables: dict[str, pd.DataFrame], run: str, other: str) -> dict[str, Any]:
    """What is found on one run, and how it and its rivals predict the other."""
    import lakatos
    from lakatos.domains import FAMILIES

    teaching, table = tables[run], tables[other]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LAKATOS_HOME"] = folder
        change = {"memory": {"winners": False}}
        file = Path(folder) / "responses.csv"
        teaching.to_csv(file, index=False)
        outcome = lakatos.explain(file, change=change, runs=Path(folder) / "runs", n_workers=1)
        theories = {"the theory found": outcome.theory().source}
        theories |= {name: name for name in FAMILIES["sequences"].seeds if name != "random"}
        shares = {}
        for name, theory in theories.items():
            fitted = lakatos.fit(teaching, theory, n_workers=1)
            shares[name] = lakatos.predict(fitted, table)["second"].to_numpy()
            if name == "the theory found":
                claim = fitted.claim
                carried = lakatos.transfer(fitted, table, n_workers=1).to_frame().iloc[0]
    for name in ("logistic regression", "boosting"):
        shares[name] = learned(teaching, table, name)
    by_person = {name: losses(share, table).to_numpy() for name, share in shares.items()}
    found = by_person["the theory found"]
    return {
        "found on": run,
        "predicts": other,
        "theory": claim,
        "loss": {name: with_interval(own) for name, own in by_person.items()},
        "ahead": {
            name: with_interval(own - found) for name, own in by_person.items() if own is not found
        },
        "loss of the published winner of that run": PUBLISHED_LOSS[other],
        "loss knowing the person": {
            "value": -float(carried["score"]),
            "low": -float(carried["score_high"]),
            "high": -float(carried["score_low"]),
        },
    }


def main() -> None:
    """Both directions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LAKATOS_DATA", "data")))
    options = parser.parse_args()
    tables = responses(options.data)
    pairs = (("run 1", "run 2"), ("run 2", "run 1"))
    cells = [cell(tables, run, other) for run, other in pairs]
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps({**provenance(), "cells": cells}, indent=1), encoding="utf-8")
