"""Does a theory hold for children and adults, with other numbers? Effects of age, on published and on simulated people.

    python benchmarks/run.py theories/ages                    # benchmarks/raw/theories/ages.json; resumes
    python benchmarks/run.py theories/ages --only simulated

**Published**: people of probability learning (Thoma et al., 2025) and of two steps (Nussenbaum et al., 2020), age in
years. All numbers of a theory may change with age; told are each effect (share of the parameter's range for a standard
deviation of age, 95% interval corrected for the number of effects), and what effects gain for people left out.

**Numbers**: the regression alone, whose likelihoods are known in closed form.

**Simulated**: people of a known theory, one of whose numbers depends on age by a known effect, or does not. Told are
how often the interval of that effect (and of those that are 0) holds the truth, how often an effect is shown, and how
often one is shown that is not there. With money and delay 60 people answer 24 trials, in learning 60 people answer 40.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import lakatos
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.interval import exact_interval
from lakatos.experiments.task import Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.findings.differences.attribute_effects import (
    columns_of,
    learn_effects,
)
from lakatos.theories.language.theory import read_program
from tests.theories.findings.differences.test_attribute_effects import found, studied

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "ages.json"
PUBLISHED = (
    ("learning_probability_thoma2025", "perseveration"),
    ("learning_probability_thoma2025", "win_stay_lose_shift"),
    ("learning_probability_thoma2025", "two_rates"),
    ("learning_probability_thoma2025", "rescorla_wagner"),
    ("learning_two_step_nussenbaum2020", "hybrid"),
    ("learning_two_step_nussenbaum2020", "perseveration"),
    ("learning_two_step_nussenbaum2020", "model_based"),
    ("learning_two_step_nussenbaum2020", "model_free"),
)
SIMULATED: dict[str, tuple[str, str, float, int, int]] = {
    "intertemporal": ("hyperbolic", "discount_rate", 0.1, 12, 2),
    "learning": ("rescorla_wagner", "rate", 0.12, 40, 1),
}
"""Theory, what depends on age, the effect where there is one, trials, and how often each is shown."""
N_AGES, N_EACH = 12, 5
"""Ages, evenly spaced, and people of each."""
N_REPLICAS = 20
N_NUMBERS = 100
"""Simulated studies of the regression alone."""
SPREADS = 0.12
"""Of simulated people of one age, a share of each range."""


def published(data: str, name: str) -> dict[str, Any]:
    """One theory on one data set."""
    begun = time.process_time()
    answered = lakatos.effects_of(data, name, by="age_years")
    own = answered.theories[name]
    return {
        "data": data,
        "theory": name,
        "n_people": answered.n_people,
        "mean_age": own.attribute.mean,
        "sd_age": own.attribute.sd,
        "score": _interval(own.score()),
        "gain": _interval(own.gain),
        "verdict": answered.verdict,
        "effects": [
            {
                "parameter": item.parameter,
                "effect": _interval(item.estimate, len(own.effects)),
                "gain": _interval(item.gain),
                "shown": item.is_shown,
                "medians": {
                    label: float(people[item.parameter].quantile(np.array([0.5]))[0])
                    for label, people in own.shown.items()
                },
            }
            for item in own.effects
        ],
        "processor_s": time.process_time() - begun,
    }


def _interval(estimate: ScoreEstimate, n_compared: int = 1) -> list[float]:
    return [estimate.value, *estimate.interval_of_chosen(n_compared)]


def simulated(domain: str, effect: float, replica: int) -> dict[str, Any]:
    """People of twelve ages, whose number depends on age by ``effect``, and what is learned of them."""
    begun = time.process_time()
    name, of, _, n_trials, repetitions = SIMULATED[domain]
    rng = np.random.default_rng([replica, int(1000 * effect), len(domain)])
    form = read_program(FAMILIES[domain].program(name))
    task = DOMAINS[domain]
    settings: dict[str, Any] = {"n_steps": n_trials} if task.sequential else {}
    stimuli = task.candidates(settings, rng, n_trials)
    ages = np.linspace(8.0, 30.0, N_AGES)
    z = (ages - ages.mean()) / ages.std()
    # the place of the others' centers is drawn anew in each replica
    places = {key: rng.uniform(0.35, 0.65) for key in form.priors}
    theories = []
    for own in z:
        people = {}
        for key, prior in form.priors.items():
            low, high = prior.latent(np.array([prior.low, prior.high]))
            place = np.clip(places[key] + effect * own * (key == of), 0.0, 1.0)
            people[key] = prior.narrowed(
                float(low + (high - low) * place), float(SPREADS * (high - low))
            )
        theories.append(form.with_people(people))
    with Laboratory(task, 1) as laboratory:
        # people are drawn by lot of many, so that replicas differ in them
        by_age = laboratory.simulate(
            theories, stimuli, N_EACH, rng, n_draws=256, repetitions=repetitions
        )
        known = columns_of([np.repeat([f"{age:g}" for age in ages], N_EACH)], "age")
        learned = learn_effects(form, [together(by_age)], known, laboratory)
    return {
        "domain": domain,
        "effect": effect,
        "replica": replica,
        "gain": _interval(learned.gain),
        "effects": {
            item.parameter: {
                "value": item.estimate.value,
                "standard_error": item.estimate.standard_error,
                "truth": effect if item.parameter == of else 0.0,
                "shown": item.is_shown,
            }
            for item in learned.effects
        },
        "n_people": len(learned.scores.n_choices),
        "processor_s": time.process_time() - begun,
    }


def together(parts: Sequence[Trials]) -> Trials:
    """People of several tables in one experiment, or ages could not be told from experiments."""
    first = np.cumsum([0, *(item.n_participants for item in parts[:-1])])

    def column(name: str) -> Any:
        return np.concatenate([getattr(item, name) for item in parts])

    return replace(
        parts[0],
        participant=np.concatenate(
            [item.participant + start for item, start in zip(parts, first, strict=True)]
        ),
        trial=column("trial"),
        response=column("response"),
        count=column("count"),
        n_people=sum(item.n_participants for item in parts),
        feedback={
            name: np.concatenate([item.feedback[name] for item in parts])
            for name in parts[0].feedback
        },
    )


def numbers(effect: float) -> dict[str, Any]:
    """The regression alone, without a theory: people with two chances that are tried twenty times each."""
    covered, others, excluded, values = 0, 0, 0, []
    for seed in range(5000, 5000 + N_NUMBERS):
        learned, errors = found(studied(effect, seed))
        covered += bool(abs(learned.effects[0, 0] - effect) < 1.96 * errors[0, 0])
        others += bool(abs(learned.effects[1, 0]) < 1.96 * errors[1, 0])
        low, high = ScoreEstimate(learned.effects[0, 0], errors[0, 0]).interval_of_chosen(2)
        excluded += bool(low > 0 or high < 0)
        values.append(float(learned.effects[0, 0]))
    return {
        "effect": effect,
        "studies": N_NUMBERS,
        "covered": covered,
        "other_covered": others,
        "corrected_interval_excludes_0": excluded,
        "mean": float(np.mean(values)),
        "error_of_the_mean": float(np.std(values, ddof=1) / np.sqrt(N_NUMBERS)),
    }


def wanted() -> Iterator[tuple[str, float, int]]:
    """Replicas, so that each part has some before another has all."""
    for replica in range(N_REPLICAS):
        for domain, (_, _, effect, *_) in SIMULATED.items():
            yield domain, effect, replica
            yield domain, 0.0, replica


def summary(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Coverage and rates over replicas, with exact 95% intervals."""
    table = []
    for domain, (_, of, effect, *_) in SIMULATED.items():
        for truth in (effect, 0.0):
            own = [item for item in lines if item["domain"] == domain and item["effect"] == truth]
            if not own:
                continue
            effects = [item["effects"] for item in own]
            others = [part for item in effects for key, part in item.items() if key != of]
            values = [item[of]["value"] for item in effects]
            table.append({
                "domain": domain, "parameter": of, "effect": truth, "replicas": len(own),
                "mean_estimate": float(np.mean(values)),
                "error_of_the_mean": float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None,
                "covered": _share([_covers(item[of]) for item in effects]),
                "others_covered": _share([_covers(part) for part in others]),
                "shown": _share([item[of]["shown"] for item in effects]),
                "others_shown": _share([part["shown"] for part in others]),
                "gain_shown": _share([item["gain"][1] > 0 for item in own]),
            })  # fmt: skip
    return table


def _covers(part: dict[str, Any]) -> bool:
    return abs(part["value"] - part["truth"]) < 1.96 * float(part["standard_error"])


def _share(yes: list[bool]) -> list[float]:
    """How many of how many, and the exact interval of the share."""
    return [sum(yes), len(yes), *exact_interval(sum(yes), len(yes))] if yes else []


def main() -> None:
    """Measure what is missing, print and write after each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("published", "simulated", "numbers"))
    parser.add_argument("--seconds", type=float, default=1e9, help="Begin nothing after so many.")
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args()
    os.environ.setdefault("LAKATOS_DATA", str(ROOT.parent / "shared" / "data"))
    result: dict[str, Any] = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    result.setdefault("published", [])
    result.setdefault("simulated", [])
    begun = time.monotonic()

    def keep() -> None:
        result["summary"] = summary(result["simulated"])
        result["provenance"] = provenance()
        chosen.out.write_text(json.dumps(result, indent=1) + "\n")

    if chosen.only in (None, "numbers") and "numbers" not in result:
        result["numbers"] = [numbers(effect) for effect in (0.1, 0.0)]
        print(result["numbers"], flush=True)
        keep()
    if chosen.only in (None, "published"):
        done = {(item["data"], item["theory"]) for item in result["published"]}
        for item in PUBLISHED:
            if item not in done and time.monotonic() - begun < chosen.seconds:
                result["published"].append(published(*item))
                print(item, result["published"][-1]["verdict"], flush=True)
                keep()
    if chosen.only in (None, "simulated"):
        told = {(item["domain"], item["effect"], item["replica"]) for item in result["simulated"]}
        for own in wanted():
            if own not in told and time.monotonic() - begun < chosen.seconds:
                result["simulated"].append(simulated(*own))
                print(own, round(result["simulated"][-1]["processor_s"], 1), flush=True)
                keep()
    for line in result["summary"]:
        print(line)
