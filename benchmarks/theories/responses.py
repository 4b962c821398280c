"""Does the loop find hidden rules of levels, numbers, times and games? One campaign for each rule, simulated people.

    python benchmarks/run.py theories/responses    # resumes where it stopped; benchmarks/raw/theories/responses.json

In each domain people follow three rules that the grammar can say, none of them published as it is, and one that it
cannot say (`RULES`; outside rules have no composition). Parameters of people are drawn from narrow ranges around a
value that is told. Campaigns are small: two experiments of 30 people at most, 30 compositions tried in each cycle.

What is reported, on 256 new people and 40 random trials:

- *form*: which of the rule's mechanisms the leader has, and which others it has;
- *behind the rule*: nats for each answer by which the rule itself (its own people) predicts new people better; standard
  error over people. Of the leader, of the best published theory fitted to the same answers (the best of them on these
  new people, which flatters it), and of the rule's own form fitted to the same answers: what the search cost is the
  leader's less the form's own;
- *distance*: total variation between the choice proportions of a theory and of the rule, averaged over the trials;
  ``noise`` is that of as many raw answers to each trial as the campaign collected;
- *parameters* that rule and leader share: the rule's median, and the leader's.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.response_rules import RULES, HiddenResponse
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.table import get_trials
from lakatos.experiments.task import Trials
from lakatos.flows.run.evidence import form_of
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import parse_study
from lakatos.flows.start import run_study
from lakatos.theories.engine.evidence import with_fit
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import UnitScores, advantage, log_predictive
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "responses.json"
FIRST_RIVALS = {
    "public_goods": ("free_riding", "conditional_cooperation", "habit"),
    "estimation": ("average", "straight_line", "nearest_point"),
    "attention": ("steady", "ratcliff", "ex_gaussian"),
    "games": ("level_1", "level_2", "maximin"),
}
"""The search may use all of a domain's mechanisms."""
SPACES: dict[str, dict[str, Any]] = {
    "public_goods": {"n_trials": 300}, "estimation": {}, "attention": {}, "games": {"n_games": 400},
}  # fmt: skip
DRAWS = 1024
N_NEW_PEOPLE, N_NEW_TRIALS = 256, 40


def study(name: str, seed: int) -> dict[str, Any]:
    """The campaign for one rule."""
    rule = RULES[name]
    timed = rule.domain == "attention"
    return {
        "name": "responses",
        "question": "Which rule do they follow?",
        "domain": rule.domain,
        "seed": seed,
        "space": SPACES[rule.domain],
        "theories": {
            "seeds": FIRST_RIVALS[rule.domain],
            "candidates": 30,
            "successors": 2,
            "rivals": 3,
            "draws": 128,
            "advocates": ["grammar"],
        },
        "design": {
            "trials": 24,
            "participants": 30,
            "repetitions": 2 if timed else 1,
            "candidates": 150,
            "refused": "cover",
            "random_share": 0.5,
        },
        "participants": {"source": "simulated", "program": rule.program},
        "stop": {"cycles": 3, "least_cycles": 3},
        "validation": {"comparison_models": False},
    }


def score(
    theories: Mapping[str, Theory], new: Trials, laboratory: Laboratory
) -> dict[str, UnitScores]:
    """What each theory says of new people, who are not known one by one."""
    evidence = laboratory.evidence_of(list(theories.values()), [new], DRAWS)
    return {name: log_predictive(own[0]) for name, own in zip(theories, evidence, strict=True)}


def behind(rule: UnitScores, own: UnitScores) -> dict[str, float]:
    """Nats for each answer by which a theory predicts new people worse than the rule; standard error over people."""
    found = advantage(rule.log_predictive - own.log_predictive, rule.n_choices)
    return {"nats": found.value, "standard_error": found.standard_error}


def noise_of(truth: Array, opened: Sequence[Trials], rng: np.random.Generator) -> float:
    """Mean total variation of as many raw answers to each trial as were collected, from their own probabilities."""
    n_answers = round(
        sum(item.n_responses for item in opened) / sum(len(item.stimuli) for item in opened)
    )
    raw = rng.multinomial(n_answers, truth / truth.sum(axis=-1, keepdims=True)) / n_answers
    return float(np.abs(raw - truth).sum(axis=-1).mean() / 2)


def parameters_of(rule: HiddenResponse, hidden: Theory, leader: Theory) -> dict[str, Any]:
    """Medians of people by rule and by leader, with the leader's spread between people, of what both have."""
    shared = [key for key in hidden.priors if key in leader.priors and rule.composition]
    found = {}
    for key in shared:
        true, own = hidden.priors[key], leader.priors[key]
        low, middle, high = (float(x) for x in own.quantile(np.array([0.16, 0.5, 0.84])))
        found[key] = {
            "true": float(true.quantile(np.array([0.5]))[0]),
            "found": None if own.idle else middle,
            "people_between": [low, high],
        }
    return found


def form_found(rule: HiddenResponse, leader: Theory) -> dict[str, Any]:
    """Mechanisms of the rule that the leader has, lacks and adds; errors and answers apart, which all rules have."""
    own = {
        f"{slot}: {name}" for slot, names in (leader.composition or {}).items() for name in names
    }
    true = {f"{slot}: {name}" for slot, names in rule.composition.items() for name in names}
    return {
        "has": sorted(true & own),
        "lacks": sorted(true - own),
        "adds": sorted(own - true),
        "exact": bool(true) and true == own,
    }


def cell(name: str, seed: int) -> dict[str, Any]:
    """One campaign, and how close its leader came."""
    begun, rule = time.perf_counter(), RULES[name]
    domain, rng = DOMAINS[rule.domain], np.random.default_rng([seed, 7])
    with tempfile.TemporaryDirectory() as folder:
        verdict = run_study(parse_study(study(name, seed), name), Path(folder) / "run", n_workers=1)
        state, trace = read_state(Path(folder) / "run")
        with trace:
            assert isinstance(verdict, CampaignConcluded)
            leader = with_fit(form_of(trace.artifacts, state, str(verdict.leader)), state.theories)
            opened = [
                get_trials(trace.artifacts, item.record.trials)
                for item in state.experiments.collected.values()
            ]
    campaign_s = time.perf_counter() - begun
    hidden = read_program(TheoryProgram(rule.program, "test"))
    family = FAMILIES[rule.domain]
    forms = {key: read_program(family.program(key)) for key in family.seeds}
    if rule.composition:
        forms["own form"] = read_program(TheoryProgram(rule.form, "test"))
    stimuli = domain.candidates(SPACES[rule.domain], rng, N_NEW_TRIALS)
    with Laboratory(domain, 1) as laboratory:
        people = laboratory.people_of(list(forms.values()), [{}] * len(forms), opened)
        fitted = {"rule": hidden, "leader": leader}
        for (key, form), own in zip(forms.items(), people, strict=True):
            if not isinstance(own, TheoryError):
                fitted[key] = form.with_people(own)
        (new,) = laboratory.simulate([hidden], stimuli, N_NEW_PEOPLE, rng, n_draws=N_NEW_PEOPLE)
        scores = score(fitted, new, laboratory)
        away = {key: behind(scores["rule"], own) for key, own in scores.items() if key != "rule"}
        proportions = {
            key: laboratory.proportions(theory, stimuli, DRAWS) for key, theory in fitted.items()
        }
    published = [key for key in family.seeds if key in away]
    best = min(published, key=lambda key: away[key]["nats"])
    truth = proportions["rule"]
    distance = {
        key: float(np.abs(own - truth).sum(axis=-1).mean() / 2)
        for key, own in proportions.items() if key != "rule"
    }  # fmt: skip
    told = [key for key in ("leader", best, "own form") if key in away]
    return {
        "commit": provenance()["commit"],
        "domain": rule.domain,
        "rule": name,
        "seed": seed,
        "outside": not rule.composition,
        "leader": leader.account().name,
        "claim": leader.claim,
        "form": form_found(rule, leader),
        "best_published": best,
        "behind_the_rule": {"best published" if key == best else key: away[key] for key in told},
        "distance": {"best published" if key == best else key: distance[key] for key in told},
        "noise": noise_of(truth, opened, rng),
        "parameters": parameters_of(rule, hidden, leader),
        "n_answers": sum(item.n_responses for item in opened),
        "holds": verdict.holds,
        "campaign_s": round(campaign_s, 1),
        "seconds": round(time.perf_counter() - begun, 1),
    }


def table(cells: Sequence[Mapping[str, Any]]) -> str:
    """A line for each rule."""
    lines = [
        "rule: leader: nats behind the rule of leader, best published, own form; distance of them and noise"
    ]
    for item in cells:
        nats = [
            f"{own['nats']:+.4f} ± {1.96 * own['standard_error']:.4f}"
            for own in item["behind_the_rule"].values()
        ]
        away = [f"{own:.3f}" for own in (*item["distance"].values(), item["noise"])]
        form = item["form"]
        lines.append(
            f"{item['domain']}: {item['rule']}: {item['leader']}: {', '.join(nats)}; {' / '.join(away)}"
        )
        lines.append(f"    has {form['has']}, lacks {form['lacks']}, adds {form['adds']}")
        told = [
            f"{key} {own['true']:.3g} ({own['found']})" for key, own in item["parameters"].items()
        ]
        lines.append(f"    {', '.join(told)} ({item['seconds']} s)")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--rules", nargs="*", default=list(RULES))
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    wanted = [(name, seed) for seed in range(1, chosen.seeds + 1) for name in chosen.rules]
    places = {name: place for place, name in enumerate(RULES)}
    cells = complete(
        chosen.out, cell, wanted, ("rule", "seed"), chosen.workers,
        order=lambda item: (places[item["rule"]], item["seed"]),
    )  # fmt: skip
    print(table(cells))
