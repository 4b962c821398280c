"""What published theories say of contributions to public goods by groups that they were not fitted to.

    python benchmarks/run.py theories/public_goods --data FOLDER     # benchmarks/raw/theories/public_goods.json

A fifth of the groups of each experiment is sealed. Some people of the open groups teach each theory how people differ;
some of the sealed groups' people are predicted, in nats for each contribution. Standard errors are over groups. Beside
the published theories stand one composition of the grammar that holds several of their motives, written down before it
was tried, generic learners, and chance: any amount that may be given, alike.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.domains.published_data import load_archive
from lakatos.experiments.participants.archival import ArchivalParticipants, restrict
from lakatos.experiments.task import Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import UnitScores, log_predictive
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.learners import predict_others
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "public_goods.json"
SEVERAL = Composition(
    {
        "payoff": ("cost of giving",),
        "taste": ("warm glow", "where coins lie"),
        "opening": ("a usual start",),
        "others": ("match the average",),
        "habit": ("near the last gift", "the same again", "near their average"),
        "time": ("nearness of the end",),
        "heaps": ("multiples of five", "all or none"),
        "choice": ("logistic",),
        "lapse": ("anything",),
    }
)


def some_people(trials: Trials, n_most: int, rng: np.random.Generator) -> Trials:
    """At most so many people, by lot, with all of their answers."""
    chosen = np.isin(
        np.arange(trials.n_participants), rng.permutation(trials.n_participants)[:n_most]
    )
    wanted = np.repeat(chosen[:, None], len(trials.stimuli), axis=1)
    rows = np.unique(trials.trial[chosen[trials.participant]])
    return restrict(trials, wanted, rows.tolist(), trials.experiment)


def open_trials(source: ArchivalParticipants) -> list[Trials]:
    """Answers of everybody who is not in a sealed group."""
    hidden = {
        item.experiment: set(item.attributes["playing_group"])
        for item in source.sealed_participants()
    }
    return [
        item.of_people(~np.isin(item.attributes["playing_group"], list(hidden[name])))
        for name, item in source.trials.items()
    ]


def chance_of(trials: Trials) -> NDArray[np.float64]:
    """``(n_participants,)`` log probability of people's answers if all that may be given is alike."""
    alike = -np.log(trials.stimuli["available"].sum(axis=1))[trials.trial]
    return np.bincount(trials.participant, alike, trials.n_participants)


def summary(
    own: list[NDArray[np.float64]], base: list[NDArray[np.float64]], tried: list[Trials]
) -> dict[str, float]:
    """Nats for each contribution by which people are predicted better than by ``base``; standard error over groups."""
    gain = np.concatenate([a - b for a, b in zip(own, base, strict=True)])
    n_answers = np.concatenate([item.n_choices for item in tried])
    group = np.concatenate([item.attributes["playing_group"] for item in tried]).astype(int)
    place = np.unique(group, return_inverse=True)[1]
    sums, sizes = np.bincount(place, gain), np.bincount(place, n_answers)
    mean, n_groups = sums.sum() / sizes.sum(), len(sums)
    residual = sums - mean * sizes
    error = np.sqrt(n_groups / (n_groups - 1) * (residual**2).sum()) / sizes.sum()
    return {"nats": float(mean), "standard_error": float(error)}


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--people", type=int, default=16, help="of each experiment, to learn from")
    parser.add_argument("--sealed", type=int, default=24, help="of each experiment, to predict")
    parser.add_argument("--draws", type=int, default=256)
    given = parser.parse_args()
    begun, rng = time.process_time(), np.random.default_rng(1)
    experiments = load_archive("publicgoods_alsobay2025", given.data)
    source = ArchivalParticipants(experiments, sealed_participants=0.2, seed=1)
    taught = [some_people(item, given.people, rng) for item in open_trials(source)]
    tried = [some_people(item, given.sealed, rng) for item in source.sealed_participants()]
    family = FAMILIES["public_goods"]
    programs = {name: family.program(name) for name in family.seeds}
    several = family.grammar.write(SEVERAL, "Several motives")
    programs["several_motives"] = TheoryProgram(several, "grammar")
    forms = {name: read_program(program) for name, program in programs.items()}
    found: dict[str, list[NDArray[np.float64]]] = {}
    told: dict[str, str] = {}
    with Laboratory(DOMAINS["public_goods"], 1) as laboratory:
        for name, form in forms.items():
            (people,) = laboratory.people_of([form], [{}], taught)
            if isinstance(people, TheoryError):
                print(f"{name}: {people}")
                continue
            theory = form.with_people(people)
            evidence = laboratory.evidence(theory, tried, given.draws)
            found[name] = [_of_people(log_predictive(item)) for item in evidence]
            told[name] = theory.claim
            print(f"{name}: {time.process_time() - begun:.0f} s", flush=True)
    learned = predict_others(DOMAINS["public_goods"], taught, tried, kind="people").scores
    found["generic_learners"] = [_of_people(item) for item in learned]
    write_down(given, found, told, tried, taught)


def _of_people(scores: UnitScores) -> NDArray[np.float64]:
    return np.asarray(scores.log_predictive, dtype=np.float64)


def write_down(
    given: argparse.Namespace,
    found: dict[str, list[NDArray[np.float64]]],
    told: dict[str, str],
    tried: list[Trials],
    taught: list[Trials],
) -> None:
    """Print a table, and write the figures beside where they come from."""
    chance = [chance_of(item) for item in tried]
    above = {name: summary(own, chance, tried) for name, own in found.items()}
    best = max((name for name in above if name in told), key=lambda name: above[name]["nats"])
    behind = {name: summary(own, found[best], tried) for name, own in found.items()}
    ceiling = above["generic_learners"]["nats"]
    for name, own in sorted(above.items(), key=lambda item: -item[1]["nats"]):
        share = own["nats"] / ceiling
        print(f"{name:26s} {own['nats']:.3f} +- {2 * own['standard_error']:.3f} ({share:.2f})")
    result: dict[str, Any] = {
        "provenance": provenance(),
        "seed": 1,
        "draws": given.draws,
        "n_people_taught": sum(item.n_participants for item in taught),
        "n_contributions_taught": sum(item.n_responses for item in taught),
        "n_people_sealed": sum(item.n_participants for item in tried),
        "n_groups_sealed": len(
            {group for item in tried for group in item.attributes["playing_group"]}
        ),
        "n_contributions_sealed": sum(item.n_responses for item in tried),
        "above_chance": above,
        "best_theory": best,
        "against_the_best": behind,
        "completeness_of_the_best": above[best]["nats"] / ceiling,
        "claims": told,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
