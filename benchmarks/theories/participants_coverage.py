"""Intervals of participants' parameters (`lakatos theory fit --each`): how many hold the truth.

Twenty participants follow a published theory with a stated population and answer 60, 200 or 400 trials; their
parameters are estimated as the command does. Reported are, with 95% Wilson intervals, the share of 95% intervals that
hold the truth, of posterior means within 0.674 posterior standard deviations of it (50% if posteriors are normal), and
of participants without an interval, because few effective draws represent them. Participants of one study share an
estimated population, so Wilson intervals are somewhat too narrow.

    python benchmarks/run.py theories/participants_coverage --theories ddm --seeds 3

resumes where it stopped; the JSON names seed, commit and command.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.effects_on_parameters import CASES as STATED
from benchmarks.theories.posterior import load
from lakatos.domains import DOMAINS
from lakatos.experiments.interval import wilson_interval
from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.findings.differences.cell_posterior import find_cell_posteriors
from lakatos.theories.findings.participant_estimate import simulate_participants

OUT = ROOT / "benchmarks" / "raw" / "theories" / "participants_coverage.json"
N_PEOPLE, N_TRIALS, N_SEEDS = 20, (60, 200, 400), 3
MOST_STIMULI = 60
MIDDLE_HALF = 0.6745
"""Standard deviations on each side that hold the middle half of a normal."""


@dataclass(frozen=True)
class Case:
    """A theory with a stated population."""

    domain: str
    people: Mapping[str, tuple[float, float]]
    """Mean and standard deviation of each parameter, on the scale of its prior."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the domain's stimuli."""


LAPSE = (0.04, 0.02)
CASES = {
    "ddm": Case(
        "perception", {"rate": (1.1, 0.4), "bound": (0.35, 0.25), "delay": (0.3, 0.06), "lapse": LAPSE}
    ),
    "rescorla_wagner": Case(
        "learning", {"rate": (0.4, 0.15), "sensitivity": (1.2, 0.5)}, {"task": "reversal"}
    ),
    "prospect_theory": Case("risky", STATED["prospect_theory"].people),
    "hyperbolic": Case("intertemporal", STATED["hyperbolic"].people),
    "steady": Case(
        "attention",
        {
            "rate": (1.0, 0.4),
            "bound": (0.2, 0.2),
            "delay": (0.3, 0.06),
            "delay_spread": (-3.0, 0.3),
            "lapse": LAPSE,
        },
    ),
    "smooth_curve": Case("estimation", {"reach": (-1.5, 0.5), "scatter": (-2.3, 0.4), "lapse": LAPSE}),
}  # fmt: skip


def unanswered(
    domain: Domain, settings: Mapping[str, Any], n_trials: int, rng: np.random.Generator
) -> Trials:
    """Trials of all participants, to which responses are still to come."""
    own = dict(settings) | ({"n_steps": n_trials} if domain.sequential else {})
    stimuli = domain.candidates(own, rng, MOST_STIMULI)
    shown = domain.shown(stimuli.arrays, {})
    nothing = np.zeros((1, len(stimuli)), dtype=np.int64)
    feedback = domain.feedback(stimuli.arrays, shown, nothing) if domain.sequential else {}
    n_rows = N_PEOPLE * n_trials
    return Trials(
        experiment="simulated",
        stimuli=stimuli,
        participant=np.repeat(np.arange(N_PEOPLE), n_trials),
        trial=np.tile(np.arange(n_trials) % len(stimuli), N_PEOPLE),
        response=np.zeros(n_rows, dtype=np.int64),
        count=np.ones(n_rows, dtype=np.int64),
        n_options=domain.n_options(stimuli),
        feedback={name: np.zeros(n_rows) for name in feedback},
    )


def study(name: str, n_trials: int, seed: int) -> dict[str, Any]:
    """What the intervals of one study hold, by parameter and participant."""
    case, form = CASES[name], load(CASES[name].domain, name)
    people = {own: form.priors[own].narrowed(*ends) for own, ends in case.people.items()}
    rng = np.random.default_rng([seed, n_trials])
    with Laboratory(DOMAINS[case.domain], 1) as laboratory:
        empty = unanswered(laboratory.domain, case.settings, n_trials, rng)
        done = simulate_participants(form.with_people(people), [empty], laboratory, rng)
        cells = [np.asarray(item.participant, dtype=np.int64) for item in done.trials]
        begun = time.perf_counter()
        found = find_cell_posteriors(form, done.trials, cells, laboratory)
        seconds = time.perf_counter() - begun
    known = found.has_interval
    parameters = {}
    for k, scale in enumerate(found.scales):
        truth = scale.to_scale(done.parameters[scale.name])
        low, high = found.interval[:, :, k]
        near = np.abs(truth - found.mean[:, k]) <= MIDDLE_HALF * np.sqrt(found.spread[:, k, k])
        parameters[scale.name] = {
            "holds": ((low <= truth) & (truth <= high))[known].tolist(),
            "near": near[known].tolist(),
        }
    return {
        "theory": name,
        "n_trials": n_trials,
        "seed": seed,
        "seconds": seconds,
        "n_effective": found.n_effective.round(1).tolist(),
        "without": (~known).tolist(),
        "parameters": parameters,
    }


def rows_of(studies: list[dict[str, Any]], *settings: str) -> list[dict[str, Any]]:
    """Shares of studies with the same settings."""

    def setting(item: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(item[key] for key in settings)

    rows = []
    for values, members in groupby(sorted(studies, key=setting), setting):
        own = list(members)
        of_parameters = [part for item in own for part in item["parameters"].values()]
        rows.append({
            **dict(zip(settings, values, strict=True)),
            "95% intervals that hold the truth": _share([it for part in of_parameters for it in part["holds"]]),
            "means within 0.674 sd": _share([it for part in of_parameters for it in part["near"]]),
            "participants without an interval": _share([it for item in own for it in item["without"]]),
            "median effective draws": float(np.median([it for item in own for it in item["n_effective"]])),
            "seconds": float(np.mean([item["seconds"] for item in own])),
        })  # fmt: skip
    return rows


def parameters_of(studies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shares of each parameter of each theory."""
    parts = [
        {"theory": item["theory"], "parameter": name, **part}
        for item in studies
        for name, part in item["parameters"].items()
    ]
    keys = sorted({(part["theory"], part["parameter"]) for part in parts})
    return [
        {
            "theory": theory,
            "parameter": name,
            "95% intervals that hold the truth": _share([
                it for part in parts if (part["theory"], part["parameter"]) == (theory, name) for it in part["holds"]
            ]),
        }
        for theory, name in keys
    ]  # fmt: skip


def _share(reached: list[bool]) -> dict[str, float]:
    """A share with its 95% Wilson interval, and of how many."""
    if not reached:
        return {"n": 0}
    low, high = wilson_interval(sum(reached), len(reached))
    return {"share": sum(reached) / len(reached), "low": low, "high": high, "n": len(reached)}


def main() -> None:
    """Simulate what is missing, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--theories", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--trials", type=int, nargs="+", default=list(N_TRIALS))
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    chosen = parser.parse_args()
    studies: list[dict[str, Any]] = json.loads(OUT.read_text())["studies"] if OUT.exists() else []
    done = {(item["theory"], item["n_trials"], item["seed"]) for item in studies}
    for seed, n_trials, name in product(range(chosen.seeds), chosen.trials, chosen.theories):
        if (name, n_trials, seed) in done:
            continue
        studies.append(study(name, n_trials, seed))
        result = {
            "provenance": provenance(),
            "whole": rows_of(studies),
            "theories": rows_of(studies, "theory", "n_trials"),
            "parameters": parameters_of(studies),
            "studies": studies,
        }
        OUT.write_text(json.dumps(result, indent=1) + "\n")
        print(name, n_trials, seed, round(studies[-1]["seconds"], 1), flush=True)
    print(json.dumps(rows_of(studies, "theory", "n_trials"), indent=1))


if __name__ == "__main__":
    main()
