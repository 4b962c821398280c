"""Posteriors: effective samples per second, traced against gradient-free, and whether they are calibrated.

    python benchmarks/run.py theories/posterior                # benchmarks/raw/theories/posterior.json, half an hour
    python benchmarks/run.py theories/posterior --only rates   # or calibration, or defaults

Rates: 10 people answer 40 trials twice, simulated from the theory itself. Both samplers run on the same answers, four
chains each. A rate is the smallest effective sample size, bulk or tail, of any quantity (every person's parameters, the
population's centers and spreads) per second of processor time of the laboratory and the theory's process together;
wall time is told, too, but depends on what else the machine does. Tracing and compiling is told apart: it is paid once
for a theory, whatever the number of draws and of data sets with the same trials.

Defaults: published theories of each kind of task, fitted as a user would, to responses of 20 people to 40 trials
(twice, unless they learn), simulated from the theory. Whether R-hat is at
most 1.01 and every quantity has 400 effective draws, and what is hardly informed.

Calibration: for published theories of each domain, 3 people answer 10 trials twice (learners walk through one
schedule), data sets are simulated from the prior, and the ranks of the true values are tested for uniformity.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.calibration import simulation_based_calibration
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.fitting.posterior import PosteriorInference, fit
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.tracer import LIMITS, TracerSandbox
from lakatos.theories.language.theory import Theory, read_program

OUT = ROOT / "benchmarks" / "raw" / "theories" / "posterior.json"
RATES = (
    ("multiattribute", "weighted_additive"),
    ("multiattribute", "diminishing_returns"),
    ("intertemporal", "hyperbolic"),
)
CALIBRATED = (
    ("multiattribute", "weighted_additive", False),
    ("multiattribute", "take_the_best", True),
    ("risky", "expected_utility", False),
    ("risky", "priority_heuristic", True),
    ("intertemporal", "hyperbolic", False),
    ("intertemporal", "similarity", True),
    ("learning", "rescorla_wagner", True),
    ("attention", "ex_gaussian", True),
    ("attention", "impatient", True),
)
"""Domain, theory, and whether it is sampled without gradients on purpose."""
SETTINGS: dict[str, dict[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [1, 2, 3, 4, 5]},
    "learning": {"n_steps": 12},
}


def load(domain: str, name: str) -> Theory:
    return read_program(FAMILIES[domain].program(name))


def asked(
    domain: Domain, n_people: int, n_trials: int, repetitions: int, rng: np.random.Generator
) -> Trials:
    """Who is asked what; the answers are still to come."""
    stimuli = domain.candidates(SETTINGS.get(domain.name, {}), rng, n_trials)
    n_trials = len(stimuli)
    person, trial = (axis.ravel() for axis in np.indices((n_people, n_trials)))
    count = np.full(len(person), 1 if domain.sequential else repetitions)
    shown = domain.shown(stimuli.arrays, {})
    none = np.zeros((1, n_trials), dtype=np.int64)
    feedback = domain.feedback(stimuli.arrays, shown, none) if domain.sequential else {}
    return Trials(
        experiment="simulated",
        stimuli=stimuli,
        participant=person,
        trial=trial,
        response=np.zeros(len(person), dtype=np.int64),
        count=count,
        n_options=domain.n_options(stimuli),
        feedback={name: np.zeros(len(person)) for name in feedback},
    )


def processor_seconds(inference: PosteriorInference) -> float:
    """Of this process and of the theory's own, so far."""
    sessions = [*inference._sessions, *([inference._compiled] if inference._compiled else [])]
    return time.process_time() + sum(session.processor_seconds for session in sessions)


def rate(
    domain: str, name: str, sandbox: Sandbox, tracer: TracerSandbox, *, gradient_free: bool
) -> dict[str, object]:
    """One theory by one sampler."""
    theory = load(domain, name)
    answers = simulated(theory, domain, 10, sandbox)
    wall, processor = time.perf_counter(), time.process_time()
    with PosteriorInference(
        theory, answers, sandbox, tracer=tracer, gradient_free=gradient_free
    ) as inference:
        ready, used = time.perf_counter(), processor_seconds(inference)
        found = inference.posterior(draws=1000, tune=500, chains=4, seed=1, sweeps=10)
        done = processor_seconds(inference)
    ess = min(found.diagnostics.ess_bulk, found.diagnostics.ess_tail)
    return {
        "domain": domain,
        "theory": name,
        "n_parameters": len(theory.priors),
        "method": found.method,
        "reason": found.reason,
        "ess_bulk": found.diagnostics.ess_bulk,
        "ess_tail": found.diagnostics.ess_tail,
        "r_hat": found.diagnostics.r_hat,
        "n_divergences": found.diagnostics.n_divergences,
        "prepare_processor_s": used - processor,
        "prepare_wall_s": ready - wall,
        "sample_processor_s": done - used,
        "sample_wall_s": time.perf_counter() - ready,
        "ess_per_processor_s": ess / (done - used),
        "ess_per_processor_s_with_preparation": ess / (done - processor),
        "means": {key: float(found.values(key).mean()) for key in theory.priors},
    }


def simulated(theory: Theory, domain: str, n_people: int, sandbox: Sandbox) -> list[Trials]:
    """Responses of people who follow the theory, to 40 trials twice."""
    rng = np.random.default_rng(1)
    task = DOMAINS[domain]
    empty = asked(task, n_people, 40, 2, rng)
    with PosteriorInference(theory, [empty], sandbox, domain=task, gradient_free=True) as world:
        center = 0.3 * rng.standard_normal(len(theory.priors))
        z = center + 0.5 * rng.standard_normal((1, n_people, len(theory.priors)))
        return world.simulate(world.parameters(z), rng)[0]


def by_default(
    domain: str, name: str, sandbox: Sandbox, tracer: TracerSandbox
) -> dict[str, object]:
    """One theory, fitted with the default settings."""
    theory = load(domain, name)
    answers = simulated(theory, domain, 20, sandbox)
    begun = time.perf_counter()
    found = fit(theory, answers, sandbox, tracer=tracer, domain=DOMAINS[domain])
    chains = found.diagnostics
    return {
        "domain": domain,
        "theory": name,
        "n_parameters": len(theory.priors),
        "method": found.method,
        "wall_s": time.perf_counter() - begun,
        "n_draws": chains.n_draws,
        "r_hat": chains.r_hat,
        "effective_draws": chains.least_ess,
        "converged": chains.is_enough,
        "n_divergences": chains.n_divergences,
        "worst": chains.worst,
        "uninformed": list(chains.uninformed),
    }


def calibration(
    domain: str,
    name: str,
    gradient_free: bool,
    sandbox: Sandbox,
    tracer: TracerSandbox,
    n_simulations: int,
) -> dict[str, object]:
    """Ranks of one theory's true parameters."""
    theory = load(domain, name)
    empty = asked(DOMAINS[domain], 3, 10, 2, np.random.default_rng(2))
    begun = time.perf_counter()
    found = simulation_based_calibration(
        theory,
        [empty],
        sandbox,
        tracer=tracer,
        domain=DOMAINS[domain],
        n_simulations=n_simulations,
        n_ranks=32,
        draws=200,
        tune=300,
        chains=2,
        seed=3,
        gradient_free=gradient_free,
        sweeps=5,
    )
    return {
        "domain": domain,
        "theory": name,
        "method": found.method,
        "reason": found.reason,
        "n_simulations": n_simulations,
        "n_quantities": len(found.tests),
        "p_value": found.p_value,
        "p_values": {key: test.distribution for key, test in found.tests.items()},
        "n_divergences": found.n_divergences,
        "wall_s": time.perf_counter() - begun,
    }


def start_up(tracer: TracerSandbox) -> dict[str, float]:
    """What a child with PyMC loaded costs."""
    begun = time.perf_counter()
    layers = tracer.level.layers
    started = time.perf_counter() - begun
    durations = []
    for _ in range(20):
        begun = time.perf_counter()
        child = tracer._fork(LIMITS)
        durations.append(time.perf_counter() - begun)
        child.close()
    return {
        "start_wall_s": started,
        "fork_median_ms": 1000 * float(np.median(durations)),
        "n_layers": len(layers),
    }


def main() -> None:
    """Measure, print and write; parts that were not asked for keep their last result."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--only", choices=("rates", "calibration", "defaults"))
    options.add_argument("--simulations", type=int, default=40)
    options.add_argument(
        "--theories",
        nargs="*",
        help="of which calibration is looked at; others keep their last result",
    )
    options.add_argument(
        "--each", type=int, default=3, help="theories of each kind of task, by default"
    )
    options.add_argument("--kinds", nargs="*", default=list(FAMILIES), help="of task, by default")
    options.add_argument("--out", type=Path, default=OUT)
    chosen = options.parse_args()
    result: dict[str, Any] = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    chosen.out.parent.mkdir(parents=True, exist_ok=True)

    def keep(**part: Any) -> None:
        result.update(part)
        result[f"provenance_{chosen.only or 'all'}"] = {
            **provenance(),
            "load_average": os.getloadavg()[1],
        }
        chosen.out.write_text(json.dumps(result, indent=1) + "\n")

    with Sandbox() as sandbox, TracerSandbox() as tracer:
        keep(start=start_up(tracer))
        print(result["start"], flush=True)
        if chosen.only in (None, "defaults"):
            defaults: list[dict[str, Any]] = result.get("defaults", [])
            done = {(item["domain"], item["theory"]) for item in defaults}
            for domain in chosen.kinds:
                family = FAMILIES[domain]
                named = [name for name in family.seeds if load(domain, name).priors]
                places = np.linspace(0, len(named) - 1, min(chosen.each, len(named)))
                for name in [named[round(place)] for place in places]:
                    if (domain, name) in done:
                        continue
                    defaults.append(by_default(domain, name, sandbox, tracer))
                    print(defaults[-1], flush=True)
                    keep(defaults=defaults)
        if chosen.only in (None, "rates"):
            rates: list[dict[str, Any]] = []
            for domain, name in RATES:
                for free in (False, True):
                    rates.append(rate(domain, name, sandbox, tracer, gradient_free=free))
                    last = rates[-1]
                    print(
                        f"{name:22s} {last['method']:20s} {last['ess_per_processor_s']:8.1f} effective samples per s, "
                        f"{last['ess_per_processor_s_with_preparation']:7.1f} with {last['prepare_processor_s']:.1f} s "
                        f"of preparation; R-hat {last['r_hat']:.3f}, {last['n_divergences']} divergences",
                        flush=True,
                    )
                    keep(rates=rates)
        if chosen.only in (None, "calibration"):
            wanted = [item for item in CALIBRATED if item[1] in (chosen.theories or [item[1]])]
            again = {item[:2] for item in wanted}
            checks: list[dict[str, Any]] = [
                item
                for item in result.get("calibration", [])
                if chosen.theories and (item["domain"], item["theory"]) not in again
            ]
            for domain, name, free in wanted:
                # every step of a learner's sequence is a call of its own
                n_simulations = chosen.simulations // (4 if DOMAINS[domain].sequential else 1)
                checks.append(calibration(domain, name, free, sandbox, tracer, n_simulations))
                last = checks[-1]
                print(
                    f"{domain:15s} {name:20s} {last['method']:20s} p = {last['p_value']:.3f} over "
                    f"{last['n_quantities']} quantities, {last['n_simulations']} data sets, {last['wall_s']:.0f} s",
                    flush=True,
                )
                keep(calibration=checks)
