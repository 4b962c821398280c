"""What published theories say of timed answers in conflict by people that they were not fitted to.

    python benchmarks/theories/attention.py --data FOLDER     # benchmarks/results/theories/attention.json

Of each data set (Navon, Stroop) a fifth of the people is sealed. The others teach each theory how people differ; the
sealed ones are predicted, in nats for each answer with its bin of time. Standard errors are over people. Beside the
published theories stand compositions of the grammar that hold several of their ideas, and generic learners.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.domains.published_data import load_archive  # noqa: E402
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402
from lakatos.theories.engine.scoring.score import log_predictive  # noqa: E402
from lakatos.theories.errors import TheoryError  # noqa: E402
from lakatos.theories.findings.generic_learners.learners import predict_others  # noqa: E402
from lakatos.theories.language.grammar import Composition  # noqa: E402
from lakatos.theories.language.theory import TheoryProgram, read_program  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "theories" / "attention.json"
DATA_SETS = ("attention_navon_busch2024", "attention_stroop_busch2024")
ALL_SEQUENCES = {
    "habit": ("the last key", "quick repetitions"),
    "control": ("after conflict", "caution after errors", "distraction after errors"),
}
SEVERAL = {
    "pull_and_sequences": {"process": "a pull that fades", "lapse": "anything", **ALL_SEQUENCES},
    "pull_and_varying_clearness": {
        "process": "a pull that fades", "clearness": "varying", "lapse": "anything",
    },
    "ex_gaussian_and_sequences": {
        "process": "description", "clearness": "varying", "lapse": "anything", **ALL_SEQUENCES,
    },
}  # fmt: skip


def difference(own: NDArray[Any], base: NDArray[Any], n_answers: NDArray[Any]) -> dict[str, float]:
    """Nats for each answer by which people are predicted better than by ``base``; standard error over people."""
    gain = own - base
    mean, n_people = gain.sum() / n_answers.sum(), len(gain)
    residual = gain - mean * n_answers
    error = np.sqrt(n_people / (n_people - 1) * (residual**2).sum()) / n_answers.sum()
    return {"nats": float(mean), "standard_error": float(error)}


def measure(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """All theories on one data set."""
    (whole,) = load_archive(name, given.data)
    order = np.random.default_rng(1).permutation(whole.n_participants)
    is_sealed = order < round(0.2 * whole.n_participants)
    taught, sealed = whole.of_people(~is_sealed), whole.of_people(is_sealed)
    family = FAMILIES["attention"]
    programs = {key: family.program(key) for key in family.seeds}
    for key, slots in SEVERAL.items():
        programs[key] = TheoryProgram(
            family.grammar.write(Composition.of(slots), key.replace("_", " ")), "grammar"
        )
    found: dict[str, NDArray[Any]] = {}
    told: dict[str, str] = {}
    seconds: dict[str, float] = {}
    with Laboratory(DOMAINS["attention"], 1) as laboratory:
        for key, program in programs.items():
            form, begun = read_program(program), time.perf_counter()
            (people,) = laboratory.people_of([form], [{}], [taught])
            if isinstance(people, TheoryError):
                raise people
            seconds[key] = round(time.perf_counter() - begun, 1)
            theory = form.with_people(people)
            (evidence,) = laboratory.evidence(theory, [sealed], given.draws)
            found[key] = np.asarray(log_predictive(evidence).log_predictive, dtype=np.float64)
            told[key] = theory.claim
            print(f"{name} {key}: {seconds[key]} s to learn people", flush=True)
    learned = predict_others(DOMAINS["attention"], [taught], [sealed], kind="people").scores[0]
    found["generic_learners"] = np.asarray(learned.log_predictive, dtype=np.float64)
    n_answers = sealed.n_choices
    steady = {key: difference(own, found["steady"], n_answers) for key, own in found.items()}
    best = max(family.seeds, key=lambda key: steady[key]["nats"])
    return {
        "n_people_taught": taught.n_participants,
        "n_answers_taught": taught.n_responses,
        "n_people_sealed": sealed.n_participants,
        "n_answers_sealed": sealed.n_responses,
        "against_diffusion_without_conflict": steady,
        "best_published": best,
        "against_the_best_published": {
            key: difference(own, found[best], n_answers) for key, own in found.items()
        },
        "seconds_to_learn_people": seconds,
        "claims": told,
    }


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=2048)
    given = parser.parse_args()
    sets = {name: measure(name, given) for name in DATA_SETS}
    for name, result in sets.items():
        print(name, "best published:", result["best_published"])
        rows = result["against_the_best_published"].items()
        for key, own in sorted(rows, key=lambda item: -item[1]["nats"]):
            print(f"{key:28s} {own['nats']:+.4f} +- {2 * own['standard_error']:.4f}")
    RESULT.write_text(
        json.dumps({"provenance": provenance(), "seed": 1, "draws": given.draws, "data_sets": sets}, indent=1)
        + "\n"
    )  # fmt: skip


if __name__ == "__main__":
    main()
