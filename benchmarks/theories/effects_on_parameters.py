"""Effects on parameters in simulated studies: level, coverage and power, beside the paired t test of estimates.

Participants follow a published theory with a stated population. One parameter changes by a fifth of a standard
deviation of participants (or by nothing) with a condition within participants, who differ in the change. For each
number of trials in a condition, pools of participants answer; studies of 10, 20 and 40 of them are tested by the
engine of `lakatos theory effects` and by the paired t test of most likely values of each participant, as the field
does it. Studies of one pool share participants, so that intervals of the figures are somewhat too narrow.

Reported are, with 95% Wilson intervals: studies that show the effect; studies that show one of any parameter where
there is none; and how often 90% intervals hold the true change.

    python benchmarks/run.py theories/effects_on_parameters --pools 4 --studies 25

resumes where it stopped; the JSON names seed, commit and command.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student
from scipy.stats import ttest_rel

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS
from lakatos.experiments.interval import wilson_interval
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.person_fits import fit_each_person
from lakatos.theories.findings.differences.effect_power import SimulatedPool, simulate_pool
from lakatos.theories.findings.differences.mixed_model import LEVEL
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import Theory, read_program

RESULTS = ROOT / "benchmarks" / "raw" / "theories" / "effects_on_parameters.json"
N_TRIALS, N_PEOPLE = (30, 60, 120), (10, 20, 40)
PARAMETER, SIZE, N_POOL = "discount_rate", 0.2, 96
N_EXCHANGES = 199
SHOWN = [
    (soon, soon * more, days)
    for soon in (5.0, 10.0, 20.0, 40.0)
    for more in (1.05, 1.2, 1.5, 2.0, 3.0)
    for days in (7.0, 30.0, 90.0)
]


def theory() -> Theory:
    """Hyperbolic discounting with a stated population."""
    form = read_program(find_family(DOMAINS["intertemporal"]).program("hyperbolic"))
    people = {
        "discount_rate": form.priors["discount_rate"].narrowed(float(np.log(0.012)), 0.8),
        "sensitivity": form.priors["sensitivity"].narrowed(float(np.log(1.0)), 0.5),
        "lapse": form.priors["lapse"].narrowed(0.04, 0.02),
    }
    return form.with_people(people)


def studies_of(
    pool: SimulatedPool,
    estimates: np.ndarray[Any, Any],
    n_studies: int,
    rng: np.random.Generator,
    *,
    is_null: bool,
) -> list[dict[str, Any]]:
    """What studies of a pool's participants showed."""
    names = [scale.name for scale in pool.posteriors.scales]
    place = names.index(PARAMETER)
    found = []
    for n_people in N_PEOPLE:
        for _ in range(n_studies):
            effects, who = pool.study(n_people, rng, N_EXCHANGES, is_null=is_null)
            by_name = {item.parameter: item for item in effects.effects}
            own = by_name[PARAMETER]
            degrees = _degrees(own.interval, own.error)
            reach = float(student.ppf(0.95, degrees)) * own.error
            low, high = own.estimate - reach, own.estimate + reach
            paired = ttest_rel(estimates[1, who], estimates[0, who])
            found.append(
                {
                    "n_people": n_people,
                    "shown": own.is_shown,
                    "any": any(item.is_shown for item in effects.effects),
                    "covered": bool(low <= pool.true_effect[place] <= high),
                    "estimate": own.estimate,
                    "t_test": bool(paired.pvalue <= LEVEL),
                }
            )
    return found


def _degrees(interval: tuple[float, float], error: float) -> float:
    """Degrees of freedom whose 95% interval is so many standard errors wide."""
    reach = (interval[1] - interval[0]) / (2 * max(error, 1e-12))
    grid = np.geomspace(1.0, 1e4, 4000)
    return float(grid[np.abs(student.ppf(0.975, grid) - reach).argmin()])


def one_pool(n_trials: int, size: float, number: int, n_studies: int) -> list[dict[str, Any]]:
    """Studies of one pool of participants."""
    rng = np.random.default_rng([n_trials, int(100 * size), number])
    domain = DOMAINS["intertemporal"]
    stimuli = Stimuli(
        {
            "amounts": np.array([(soon, late) for soon, late, _ in SHOWN]),
            "delays_days": np.array([(0.0, days) for *_, days in SHOWN]),
        }
    )
    with Laboratory(domain, 1) as laboratory:
        pool = simulate_pool(
            theory(), stimuli, laboratory, rng, kind="condition", parameter=PARAMETER, size=size,
            n_trials=n_trials, n_pool=N_POOL,
        )  # fmt: skip
        fits = fit_each_person(read_program(theory().program), pool.trials, laboratory)
    estimates = np.log(fits.parameters[PARAMETER]).reshape(2, N_POOL)
    return studies_of(pool, estimates, n_studies, rng, is_null=size == 0)


def table(found: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """A row for each number of trials and participants."""
    rows = []
    for n_trials in N_TRIALS:
        for n_people in N_PEOPLE:
            with_effect, without = (
                [
                    item
                    for key, items in found.items()
                    for item in items
                    if key.startswith(f"{n_trials}/{size:g}/") and item["n_people"] == n_people
                ]
                for size in (SIZE, 0.0)
            )
            if not with_effect or not without:
                continue

            def share(items: list[dict[str, Any]], key: str) -> str:
                n = sum(bool(item[key]) for item in items)
                low, high = wilson_interval(n, len(items))
                return f"{n / len(items):.2f} ({low:.2f} to {high:.2f})"

            rows.append(
                {
                    "trials in a condition": n_trials,
                    "participants": n_people,
                    "studies": f"{len(with_effect)} + {len(without)}",
                    "power": share(with_effect, "shown"),
                    "power of the paired t test": share(with_effect, "t_test"),
                    "any effect where there is none": share(without, "any"),
                    "t test where there is none": share(without, "t_test"),
                    "90% intervals that hold the change": share(with_effect + without, "covered"),
                }
            )
    return rows


def main() -> None:
    """Simulate what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pools", type=int, default=4)
    parser.add_argument("--studies", type=int, default=25)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    kept = json.loads(asked.out.read_text()) if asked.out.exists() else {"studies": {}}
    found: dict[str, list[dict[str, Any]]] = kept["studies"]
    for number in range(asked.pools):
        for n_trials in N_TRIALS:
            for size in (SIZE, 0.0):
                key = f"{n_trials}/{size:g}/{number}"
                if key in found:
                    continue
                found[key] = one_pool(n_trials, size, number, asked.studies)
                asked.out.parent.mkdir(parents=True, exist_ok=True)
                kept = {"provenance": provenance(), "studies": found, "rows": table(found)}
                asked.out.write_text(json.dumps(kept, indent=1))
                print(key, flush=True)
    for row in table(found):
        print(row)


if __name__ == "__main__":
    main()
