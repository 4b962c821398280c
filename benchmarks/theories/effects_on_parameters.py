"""Effects on parameters in simulated studies: level, coverage and power, beside the paired t test of estimates.

Participants follow a published theory with a stated population. One parameter changes by 0.2 or 0.8 standard deviations
of participants, or by nothing, with a condition within participants, who differ in the change; the other parameters
have no effect, but participants differ in them between the conditions, too. Or the parameter differs between two groups
of participants (`--kind group`). For each number of trials in a
condition, pools of participants answer. Each pool is divided into studies of 10, 20 and 40, so that no two studies of
one size share a participant. They are tested by the engine of `lakatos theory effects`, and by the t test (paired for
conditions) of most likely values of each participant, as the field does it.

Reported are, with 95% Wilson intervals: studies that name the parameter, by both tests; studies that name another
parameter, which has no effect; and how often 90% intervals hold the true change of the parameter, and of the others.

    python benchmarks/run.py theories/effects_on_parameters --theory hyperbolic --pools 8
    python benchmarks/run.py theories/effects_on_parameters --theory rescorla_wagner --kind group --pools 4

resumes where it stopped; the JSON names seed, commit and command.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import numpy as np
from scipy.stats import t as student
from scipy.stats import ttest_ind, ttest_rel

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS
from lakatos.domains.risky.space import pairs
from lakatos.experiments.interval import wilson_interval
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.person_fits import fit_each_person
from lakatos.theories.findings.differences.cell_posterior import scale_of_parameter
from lakatos.theories.findings.differences.effect_power import Kind, SimulatedPool, simulate_pool
from lakatos.theories.findings.differences.mixed_model import LEVEL
from lakatos.theories.findings.differences.parameter_effect import ParameterEffect
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import Theory, read_program

RESULTS = ROOT / "benchmarks" / "raw" / "theories"
N_TRIALS, N_PEOPLE = (30, 60, 120), (10, 20, 40)
N_POOL = 240
SIZES = (0.2, 0.8, 0.0)
N_EXCHANGES = 199


@dataclass(frozen=True)
class Case:
    """A theory with a stated population, and the trials of each condition."""

    domain: str
    people: Mapping[str, tuple[float, float]]
    """Mean and standard deviation of each parameter, on the scale of its prior."""
    parameter: str
    """That changes with the condition."""
    stimuli: Callable[[], Stimuli]


def delays() -> Stimuli:
    """Two amounts, one of them later."""
    shown = [
        (soon, soon * more, days)
        for soon in (5.0, 10.0, 20.0, 40.0)
        for more in (1.05, 1.2, 1.5, 2.0, 3.0)
        for days in (7.0, 30.0, 90.0)
    ]
    return Stimuli(
        {
            "amounts": np.array([(soon, late) for soon, late, _ in shown]),
            "delays_days": np.array([(0.0, days) for *_, days in shown]),
        }
    )


def mixed_gambles() -> Stimuli:
    """A gain or a loss by the toss of a coin, or a gain or nothing, against nothing or a sure gain."""
    nothing = [(0.0, 1.0)]
    mixed = [
        (nothing, [(gain, 0.5), (-gain * share, 0.5)])
        for gain in (4.0, 8.0, 12.0, 16.0)
        for share in (0.25, 0.5, 0.75, 1.0, 1.25)
    ]
    sure = [
        ([(gain * share, 1.0)], [(gain, chance), (0.0, 1 - chance)])
        for gain in (8.0, 16.0)
        for share, chance in ((0.1, 0.1), (0.25, 0.25), (0.4, 0.5), (0.6, 0.75), (0.8, 0.9))
    ]
    return pairs([*mixed, *sure])


def two_arms() -> Stimuli:
    """A schedule of two options that pay off with probabilities of .7 and .3, which change places every 30 steps."""
    settings = {"task": "reversal", "n_steps": max(N_TRIALS)}
    return DOMAINS["learning"].candidates(settings, np.random.default_rng(1), max(N_TRIALS))


CASES = {
    "rescorla_wagner": Case(
        "learning",
        {"rate": (0.4, 0.15), "sensitivity": (1.2, 0.4)},
        "rate",
        two_arms,
    ),
    "hyperbolic": Case(
        "intertemporal",
        {
            "discount_rate": (float(np.log(0.012)), 0.8),
            "sensitivity": (float(np.log(1.0)), 0.5),
            "lapse": (0.04, 0.02),
        },
        "discount_rate",
        delays,
    ),
    "prospect_theory": Case(
        "risky",
        {
            "curvature": (0.9, 0.1),
            "loss_aversion": (float(np.log(1.5)), 0.35),
            "weighting_curve": (0.8, 0.15),
            "sensitivity": (float(np.log(1.0)), 0.4),
            "lapse": (0.04, 0.02),
        },
        "loss_aversion",
        mixed_gambles,
    ),
}


def theory_of(name: str) -> Theory:
    """A published theory with its stated population."""
    case = CASES[name]
    form = read_program(find_family(DOMAINS[case.domain]).program(name))
    people = {own: form.priors[own].narrowed(*ends) for own, ends in case.people.items()}
    return form.with_people(people)


def studies_of(
    pool: SimulatedPool, parameter: str, estimates: np.ndarray[Any, Any], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """What studies showed into which a pool's participants are divided."""
    names = [scale.name for scale in pool.posteriors.scales]
    place = names.index(parameter)
    found = []
    for n_people in N_PEOPLE:
        for who in divided(pool.kind, n_people, rng):
            effects = pool.study_of(who, rng, N_EXCHANGES)
            by_name = {item.parameter: item for item in effects.effects}
            own = by_name.pop(parameter)
            plain = t_test(pool.kind, estimates, who)
            found.append(
                {
                    "n_people": n_people,
                    "shown": own.is_shown,
                    "others": sorted(name for name, item in by_name.items() if item.is_shown),
                    "covered": _covers(own, float(pool.true_effect[place])),
                    "others_covered": [_covers(item, 0.0) for item in by_name.values()],
                    "estimate": own.estimate,
                    "true": float(pool.true_effect[place]),
                    "t_test": plain <= LEVEL,
                }
            )
    return found


def divided(kind: Kind, n_people: int, rng: np.random.Generator) -> list[np.ndarray[Any, Any]]:
    """Participants of each study into which a pool is divided; of groups, half of them from each."""
    if kind == "condition":
        return list(rng.permutation(N_POOL).reshape(-1, n_people))
    half = N_POOL // 2
    first, second = (rng.permutation(half).reshape(-1, n_people // 2) for _ in range(2))
    return list(np.hstack([first, half + second]))


def t_test(kind: Kind, estimates: np.ndarray[Any, Any], who: np.ndarray[Any, Any]) -> float:
    """P of the t test of estimates, ``(n_conditions, n_pool)``: paired, or of Welch for two groups."""
    if kind == "condition":
        return float(ttest_rel(estimates[1, who], estimates[0, who]).pvalue)
    own = estimates[0, who]
    half = len(who) // 2
    return float(ttest_ind(own[half:], own[:half], equal_var=False).pvalue)


def _covers(effect: ParameterEffect, true: float) -> bool:
    """Whether the 90% interval of an effect holds the true one."""
    degrees = _degrees(effect.interval, effect.error)
    reach = float(student.ppf(0.95, degrees)) * effect.error
    return bool(abs(effect.estimate - true) <= reach)


def _degrees(interval: tuple[float, float], error: float) -> float:
    """Degrees of freedom whose 95% interval is so many standard errors wide."""
    reach = (interval[1] - interval[0]) / (2 * max(error, 1e-12))
    grid = np.geomspace(1.0, 1e4, 4000)
    return float(grid[np.abs(student.ppf(0.975, grid) - reach).argmin()])


def one_pool(
    name: str, kind: Kind, n_trials: int, size: float, number: int
) -> list[dict[str, Any]]:
    """Studies of one pool of participants."""
    rng = np.random.default_rng([n_trials, int(100 * size), number])
    theory, case = theory_of(name), CASES[name]
    with Laboratory(DOMAINS[case.domain], 1) as laboratory:
        pool = simulate_pool(
            theory, case.stimuli(), laboratory, rng, kind=kind, parameter=case.parameter, size=size,
            n_trials=n_trials, n_pool=N_POOL,
        )  # fmt: skip
        fits = fit_each_person(read_program(theory.program), pool.trials, laboratory)
    scale = scale_of_parameter(case.parameter, theory.priors[case.parameter])
    estimates = scale.to_scale(fits.parameters[case.parameter]).reshape(-1, N_POOL)
    return studies_of(pool, case.parameter, estimates, rng)


def summary_of(studies: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of studies of one size of effect, with their 95% Wilson intervals."""
    held = [own for item in studies for own in item["others_covered"]]
    return {
        "names the parameter": _share([item["shown"] for item in studies]),
        "t test of it": _share([item["t_test"] for item in studies]),
        "names another parameter": _share([bool(item["others"]) for item in studies]),
        "names any": _share([item["shown"] or bool(item["others"]) for item in studies]),
        "90% intervals that hold the change": _share([item["covered"] for item in studies]),
        "90% intervals of other parameters": _share(held),
    }


def _share(reached: list[bool]) -> dict[str, float]:
    """A share with its 95% Wilson interval, and of how many."""
    low, high = wilson_interval(sum(reached), len(reached))
    return {"share": sum(reached) / len(reached), "low": low, "high": high, "n": len(reached)}


def rows_of(studies: list[dict[str, Any]], *settings: str) -> list[dict[str, Any]]:
    """A summary for each combination of settings."""

    def setting(item: dict[str, Any]) -> tuple[float, ...]:
        return tuple(item[name] for name in settings)

    return [
        {**dict(zip(settings, values, strict=True)), **summary_of(list(own))}
        for values, own in groupby(sorted(studies, key=setting), setting)
    ]


def main() -> None:
    """Simulate what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--theory", choices=list(CASES), default="hyperbolic")
    parser.add_argument("--kind", choices=("condition", "group"), default="condition")
    parser.add_argument("--pools", type=int, default=8)
    parser.add_argument("--trials", type=int, nargs="+", default=list(N_TRIALS))
    parser.add_argument("--sizes", type=float, nargs="+", default=list(SIZES))
    asked = parser.parse_args()
    of = "" if asked.kind == "condition" else "_of_groups"
    out = RESULTS / f"effects_on_{asked.theory}{of}.json"
    kept = json.loads(out.read_text()) if out.exists() else {"studies": []}
    studies: list[dict[str, Any]] = kept["studies"]
    done = {(item["pool"], item["n_trials"], item["size"]) for item in studies}
    for number, size, n_trials in product(range(asked.pools), asked.sizes, asked.trials):
        if (number, n_trials, size) in done:
            continue
        settings = {"pool": number, "n_trials": n_trials, "size": size}
        studies += [
            {**settings, **item}
            for item in one_pool(asked.theory, asked.kind, n_trials, size, number)
        ]
        kept = {
            "provenance": provenance(),
            "sizes": rows_of(studies, "size"),
            "rows": rows_of(studies, "size", "n_trials", "n_people"),
            "studies": studies,
        }
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(kept, indent=1))
        print(settings, flush=True)
    print(json.dumps(rows_of(studies, "size"), indent=1))


if __name__ == "__main__":
    main()
