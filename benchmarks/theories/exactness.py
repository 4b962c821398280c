"""When a campaign may end: how often the stopping rule takes a wrong published theory for the truth, and a right one.

    python benchmarks/run.py theories/exactness --seeds 3     # benchmarks/raw/theories/exactness.json

25 simulated people follow the hidden rule of the demonstration in each of two experiments of 48 random trials, shown
twice. Every published theory without a memory learns its people from the first, so that its predictions of the second
are frozen, and is then weighed as a leader would be (`lakatos.flows.stages.exactness`).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Trials, with_random_sides
from lakatos.flows.run.study import load_study
from lakatos.theories.discovery.diagnosis import TheoryPredictions, TrialFeatures
from lakatos.theories.discovery.diagnosis.case_file import examine
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.exactness import error_beyond_chance
from lakatos.theories.engine.scoring.score import learn_population
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import Theory, read_program

STUDY = load_study(ROOT / "studies" / "demo.toml")
DOMAIN, FAMILY = DOMAINS[STUDY.domain], FAMILIES[STUDY.domain]
TRUTH = "diminishing_returns"
N_DRAWS = 512


def main() -> None:
    """Weigh all theories for every seed."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "theories" / "exactness.json"
    )
    chosen = options.parse_args()
    found = []
    with Laboratory(DOMAIN) as laboratory:
        for seed in range(chosen.seeds):
            found += weighed_theories(laboratory, seed)
    allowed = STUDY.stop.exact
    for line in found:
        line["exact"] = line["upper"] < allowed and not line["misfits"]
    right = [line for line in found if line["theory"] == TRUTH]
    wrong = [line for line in found if line["theory"] != TRUTH]
    counts = {
        "allowed": allowed,
        "right_taken": sum(line["exact"] for line in right),
        "n_right": len(right),
        "wrong_taken": sum(line["exact"] for line in wrong),
        "n_wrong": len(wrong),
    }
    chosen.out.write_text(
        json.dumps({**provenance(), **counts, "theories": found}, indent=1) + "\n"
    )
    print(counts)


def weighed_theories(laboratory: Laboratory, seed: int) -> list[dict[str, Any]]:
    """What the rule makes of every published theory, for people of one seed."""
    rng = np.random.default_rng(seed)
    truth = read_program(FAMILY.program(TRUTH))
    space = with_random_sides(DOMAIN, DOMAIN.space(STUDY.space), rng)
    first, second = (
        laboratory.simulate(
            [truth],
            space.take(rng.permutation(len(space))[: STUDY.design.trials]),
            STUDY.design.participants,
            rng,
            n_draws=N_DRAWS,
            repetitions=STUDY.design.repetitions,
        )[0]
        for _ in range(2)
    )
    forms = {name: read_program(FAMILY.program(name)) for name in FAMILY.seeds}
    told = [
        (name, weighed_theory(laboratory, form, [first, second], rng))
        for name, form in forms.items()
        if not form.learns
    ]
    return [{"theory": name, "seed": seed, **line} for name, line in told if line]


def weighed_theory(
    laboratory: Laboratory, form: Theory, trials: list[Trials], rng: np.random.Generator
) -> dict[str, Any]:
    """Error beyond chance of what the first experiment taught, and misfits on both; nothing where it does not run."""
    (people,) = laboratory.people_of([form], [{}], trials[:1])
    if isinstance(people, TheoryError):
        return {}
    shares = laboratory.proportions(form.with_people(people), trials[1].stimuli, N_DRAWS)
    error = error_beyond_chance(trials[1], shares)
    (both,) = laboratory.people_of([form], [people], trials)
    if error is None or isinstance(both, TheoryError):
        return {}
    evidence = laboratory.evidence(form.with_people(both), trials, N_DRAWS)
    predictions = TheoryPredictions(form.digest, form.name, learn_population(evidence), evidence)
    features = [TrialFeatures(DOMAIN.features(item.stimuli), ()) for item in trials]
    seen = examine(predictions, [], features, rng)
    return {
        "error": error.value,
        "upper": error.interval[1],
        "misfits": [item.check.feature for item in seen.found],
    }
