"""Effects of a condition on parameters beside a hierarchical model written by hand in PyMC: estimates and intervals.

Participants discount hyperbolically in two sessions; the logarithm of the rate is lower by 0.6 in the second. The
engine of `lakatos theory effects` and a full hierarchical model (non-centred; every participant differs in every
parameter and in every effect; sampled by nutpie) estimate the effects on the same responses.

    python benchmarks/run.py theories/effects_beside_pymc --people 24 --trials 40

Seed, commit and command are in the JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.provenance import ROOT, provenance

RESULTS = ROOT / "benchmarks" / "raw" / "theories" / "effects_beside_pymc.json"
CHANGE = -0.6
"""Of the logarithm of the rate, in the second session."""
PARAMETERS = ("discount_rate", "sensitivity", "lapse")
N_TUNE, N_DRAWS, N_CHAINS = 1500, 1500, 2


def sessions(n_people: int, n_trials: int, seed: int) -> pd.DataFrame:
    """Responses of participants in two sessions."""
    rng, rows = np.random.default_rng(seed), []
    for person in range(n_people):
        log_rate, log_sensitivity = rng.normal(-4.2, 0.7), rng.normal(0.0, 0.4)
        change, lapse = rng.normal(CHANGE, 0.2), rng.uniform(0.01, 0.08)
        for session in ("first", "second"):
            rate = np.exp(log_rate + change * (session == "second"))
            for _ in range(n_trials):
                soon, days = rng.choice([5.0, 10.0, 20.0]), rng.choice([7, 30, 90, 180])
                late = np.round(soon * rng.uniform(1.05, 3.0), 2)
                evidence = np.exp(log_sensitivity) * (late / (1 + rate * days) - soon)
                p_late = 0.5 * lapse + (1 - lapse) / (1 + np.exp(-evidence))
                choice = "later" if rng.random() < p_late else "sooner"
                rows.append((f"p{person:02d}", session, soon, late, 0, days, choice))
    names = ["subject", "session", "ss_amount", "ll_amount", "ss_delay", "ll_delay", "choice"]
    return pd.DataFrame(rows, columns=names)


def by_engine(table: pd.DataFrame) -> dict[str, Any]:
    """Effects by the engine of the package."""
    import lakatos

    start = time.perf_counter()
    found = lakatos.effects(table, "hyperbolic", by="session").to_frame().set_index("parameter")
    return {
        "seconds": time.perf_counter() - start,
        **{
            name: {
                "mean": float(found.estimate[name]),
                "low": float(found.low[name]),
                "high": float(found.high[name]),
            }
            for name in PARAMETERS
        },
    }


def by_pymc(table: pd.DataFrame) -> dict[str, Any]:
    """Effects by the hierarchical model, with how well it was sampled."""
    import arviz as az
    import nutpie
    import pymc as pm

    person = pd.factorize(table.subject)[0]
    second = (table.session == "second").to_numpy().astype(float)
    n_people = int(person.max()) + 1
    centers = {"discount_rate": -4.0, "sensitivity": 0.0, "lapse": -3.0}
    start = time.perf_counter()
    with pm.Model() as model:
        values = {}
        for name in PARAMETERS:
            center = pm.Normal(f"{name}_center", centers[name], 1.5)
            effect = pm.Normal(f"{name}_effect", 0.0, 1.0)
            spread = pm.HalfNormal(f"{name}_sd", 1.0)
            slope_sd = pm.HalfNormal(f"{name}_slope_sd", 0.5)
            own = pm.Normal(f"{name}_own", 0.0, 1.0, shape=n_people)
            slope = pm.Normal(f"{name}_slope", 0.0, 1.0, shape=n_people)
            change = effect + slope_sd * slope[person]
            values[name] = center + spread * own[person] + change * second
        rate, sensitivity = (
            pm.math.exp(values["discount_rate"]),
            pm.math.exp(values["sensitivity"]),
        )
        lapse = pm.math.sigmoid(values["lapse"])
        late = table.ll_amount.to_numpy() / (1 + rate * table.ll_delay.to_numpy())
        evidence = sensitivity * (late - table.ss_amount.to_numpy())
        p_late = 0.5 * lapse + (1 - lapse) * pm.math.sigmoid(evidence)
        pm.Bernoulli("later", p_late, observed=(table.choice == "later").to_numpy().astype(int))
    posterior = nutpie.sample(
        nutpie.compile_pymc_model(model),
        draws=N_DRAWS, tune=N_TUNE, chains=N_CHAINS, cores=1, seed=1, progress_bar=False,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    names = [f"{name}_effect" for name in PARAMETERS]
    summary = az.summary(posterior, var_names=names)
    found: dict[str, Any] = {
        "seconds": seconds,
        "largest R-hat": float(summary["r_hat"].max()),
        "fewest effective draws": float(summary["ess_bulk"].min()),
    }
    for name in PARAMETERS:
        draws = posterior.posterior[f"{name}_effect"].to_numpy().ravel()
        low, high = np.quantile(draws, [0.025, 0.975])
        found[name] = {"mean": float(draws.mean()), "low": float(low), "high": float(high)}
    return found


def main() -> None:
    """Estimate by both, and write what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=24)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    table = sessions(asked.people, asked.trials, asked.seed)
    found = {
        "provenance": provenance(),
        "true": {"discount_rate": CHANGE, "sensitivity": 0.0, "lapse": 0.0},
        "engine": by_engine(table),
    }
    print(json.dumps(found["engine"], indent=1), flush=True)
    found["pymc"] = by_pymc(table)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(found, indent=1))
    print(json.dumps(found["pymc"], indent=1))


if __name__ == "__main__":
    main()
