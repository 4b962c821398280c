"""A hierarchical diffusion model by this package and by HSSM on the same responses: estimates, draws, seconds.

    python benchmarks/run.py theories/diffusion_posterior --peer VENV/bin/python   # an environment of its own with hssm

Twelve simulated participants respond to 150 stimuli each. Drift, bounds and non-decision time differ between them.
Both programs use their own priors, fix the start in the middle, estimate a share of random responses, and draw 500
times from four chains; this package draws more until its diagnostics suffice. HSSM 0.3.0 samples by numpyro. Its ``a``
is half of the bounds' distance and is doubled here. Processor seconds are those of a program with all its processes,
compiling among them; R-hat and effective draws are the worst of the three medians of the population.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.memory_use import processor_s
from benchmarks.provenance import ROOT, provenance

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "diffusion_posterior.json"
N_PEOPLE, N_TRIALS, STEP_S = 12, 150, 5e-4
OURS = """
import json, sys
import arviz as az, lakatos
if __name__ == "__main__":
    known = lakatos.adopt(sys.argv[1], "perception", {"stimulus": {"right_key": "stimulus"}})
    drawn = lakatos.posterior(known, "ddm", seed=1).posterior["population_median"]
    table = az.summary(drawn, hdi_prob=0.95, round_to="none")
    names = {"rate": "drift", "bound": "bounds", "delay": "time"}
    print(json.dumps({new: table.loc[f"population_median[{own}]"].to_dict() for own, new in names.items()}))
"""
PEER = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import arviz as az, hssm, pandas as pd
data = pd.read_csv(sys.argv[1])
data["response"] = (data["response"] == data["stimulus"]) * 2 - 1
terms = [{"name": name, "formula": f"{name} ~ 1 + (1|participant)"} for name in ("v", "a", "t")]
lapse = hssm.Prior("Uniform", lower=0.0, upper=5.0)
model = hssm.HSSM(data, model="ddm", include=terms, z=0.5, lapse=lapse,
                  p_outlier={"name": "Beta", "alpha": 1, "beta": 20})
drawn = model.sample(sampler="numpyro", draws=500, tune=500, chains=4, cores=1, chain_method="sequential",
                     random_seed=1, progressbar=False, idata_kwargs={"log_likelihood": False})
drawn.posterior["a_Intercept"] = 2 * drawn.posterior["a_Intercept"]
table = az.summary(drawn, hdi_prob=0.95, round_to="none")
names = {"v": "drift", "a": "bounds", "t": "time"}
print(json.dumps({new: table.loc[f"{own}_Intercept"].to_dict() for own, new in names.items()}))
"""


def responses(seed: int) -> tuple[pd.DataFrame, dict[str, float]]:
    """A row for each response, and the means of the participants' true parameters."""
    rng = np.random.default_rng(seed)
    truths, parts = [], []
    for person in range(N_PEOPLE):
        drift, bounds, delay = rng.normal((1.5, 1.8, 0.3), (0.4, 0.24, 0.03))
        truths.append((drift, bounds, delay))
        place, time_s = np.zeros(N_TRIALS), np.full(N_TRIALS, np.nan)
        number = 0
        while np.isnan(time_s).any():
            number += 1
            under_way = np.isnan(time_s)
            noise = rng.normal(size=under_way.sum()) * STEP_S**0.5
            place[under_way] += drift * STEP_S + noise
            time_s[under_way & (np.abs(place) >= bounds / 2)] = number * STEP_S
        stimulus = rng.permutation(np.repeat(["left", "right"], N_TRIALS // 2))
        other = np.where(stimulus == "left", "right", "left")
        parts.append(
            pd.DataFrame(
                {
                    "participant": f"P{person + 1:02d}",
                    "trial": np.arange(1, N_TRIALS + 1),
                    "stimulus": stimulus,
                    "response": np.where(place > 0, stimulus, other),
                    "rt": (time_s + delay).round(4),
                }
            )
        )
    means = np.mean(truths, axis=0)
    return pd.concat(parts), dict(zip(("drift", "bounds", "time"), means.tolist(), strict=True))


def sampled(python: str, program: str, file: Path) -> dict[str, Any]:
    """What a program estimates from a file, and the processor seconds that it took."""
    child = subprocess.Popen(
        [python, "-c", program, str(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    )  # fmt: skip
    spent: dict[int, float] = {}
    while child.poll() is None:
        spent |= processor_s(child.pid)
        time.sleep(0.5)
    said, _ = child.communicate()
    if child.returncode:
        sys.exit(f"{python} ended with status {child.returncode}")
    medians = json.loads(said.strip().splitlines()[-1])
    return {
        "medians": medians,
        "r_hat": max(item["r_hat"] for item in medians.values()),
        "effective": min(min(item["ess_bulk"], item["ess_tail"]) for item in medians.values()),
        "processor_s": sum(spent.values()),
    }


def main() -> None:
    """Sample both, and write what they estimate."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", required=True, help="Python of an environment that has hssm")
    parser.add_argument("--seed", type=int, default=20261129)
    given = parser.parse_args()
    frame, truth = responses(given.seed)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "dots.csv"
        frame.to_csv(file, index=False)
        found = {
            "truth": truth,
            "ours": sampled(sys.executable, OURS, file),
            "hssm": sampled(given.peer, PEER, file),
        }
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps({**provenance(), **found}, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
