"""What six clauses cost: the named theories of matrix games, reduced part by part, on sealed games.

    python benchmarks/run.py theories/games_clauses --data ../shared/data     # games_clauses.json; resumes

The two theories that campaigns named (docs/atlas.md) are written through the grammar again and fitted to the open
games of the study of the atlas. Then the part goes that is missed least there: each shorter composition is fitted to
the open games, and each open game is predicted from the others. Sealed games decide nothing; told is the error on them
(times 100) at each number of clauses with its standard error over games, and how much worse than the whole that is.
Clauses are all that a theory says; those of them that every theory of games has are no part of its claim.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.games import N_DRAWS, noise_of
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.archival import ArchivalParticipants, restrict
from lakatos.experiments.task import Trials, identities
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.study import load_study
from lakatos.theories.discovery.grammar_search.prune import simplifications
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import squared_errors
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "games_clauses.json"
GRAMMAR = FAMILIES["games"].grammar
_SHARED = {
    "worth": ("relative to the range",),
    "social": ("inequity aversion",),
    "tastes": ("selfish others",),
    "evaluation": ("expected payoff",),
    "strictness": ("constant",),
    "choice": ("logistic",),
    "lapse": ("random",),
}
NAMED = {
    "Level 3 with guilt": _SHARED
    | {"belief": ("an opponent who thinks ahead",), "attention": ("worst payoff",)},
    "Level 2 with guilt": _SHARED
    | {"belief": ("a simple opponent",), "attention": ("best payoff",)},
    "both attentions": _SHARED
    | {"belief": ("a simple opponent",), "attention": ("worst payoff", "best payoff")},
}
FEWEST_CLAUSES = 4


def split(data: Path) -> tuple[list[Trials], Trials]:
    """Open and sealed games, as the study of the atlas seals them."""
    config = load_study(ROOT / "studies" / "atlas" / "games.toml")
    domain = DOMAINS["games"]
    source = ArchivalParticipants(
        archive_trials(config, data),
        sealed_share=config.validation.sealed_share,
        seed=config.seed,
        identify=lambda stimuli: identities(domain, stimuli),
    )
    (sealed,) = source.sealed()
    (whole,) = source.trials.values()
    hidden = set(sealed.stimuli.keys)
    rows = [row for row, key in enumerate(whole.stimuli.keys) if key not in hidden]
    wanted = np.zeros((whole.n_participants, len(whole.stimuli)), dtype=bool)
    wanted[:, rows] = True
    return [restrict(whole, wanted, rows, "open games")], sealed


def fitted(
    laboratory: Laboratory, compositions: list[Composition], opened: list[Trials]
) -> list[EvaluatedComposition]:
    """Compositions fitted to the open games; those that cannot be are left out."""
    found = laboratory.evaluate(GRAMMAR, [(item, None) for item in compositions], opened)
    return [item for item in found if not isinstance(item, TheoryError)]


def reduced(
    laboratory: Laboratory, name: str, opened: list[Trials], sealed: Trials
) -> list[dict[str, Any]]:
    """Each step of the elimination, the whole theory first."""
    (here,) = fitted(laboratory, [Composition.of(NAMED[name])], opened)
    lines: list[dict[str, Any]] = []
    whole, left_out = np.zeros(0), ""
    while True:
        predicted = laboratory.proportions(here.theory, sealed.stimuli, N_DRAWS)
        errors = 100 * squared_errors(predicted, sealed)
        whole = whole if len(whole) else errors
        told = here.theory.account()
        lines.append({
            "named": name,
            "left_out": left_out,
            "n_clauses": len(told.clauses),
            "n_in_claim": sum(not item.is_detail for item in told.clauses),
            "name": told.name,
            "claim": told.claim,
            "error": _mean(errors),
            "worse_than_the_whole": _mean(errors - whole),
            "open_nats": here.left_out[0].mean,
        })  # fmt: skip
        print(lines[-1], flush=True)
        if len(told.clauses) <= FEWEST_CLAUSES:
            return lines
        options = simplifications(GRAMMAR, here.composition)
        words = {item.key: said for said, item in options}
        shorter = [
            item
            for item in fitted(laboratory, [item for _, item in options], opened)
            if len(item.theory.account().clauses) < len(told.clauses)
        ]
        if not shorter:
            return lines
        here = max(shorter, key=lambda item: item.left_out[0].mean)
        left_out = words[here.composition.key]


def _mean(values: Any) -> list[float]:
    """Mean over games, and its standard error."""
    return [float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))]


def main() -> None:
    """Measure what is missing, print and write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args()
    steps: list[dict[str, Any]] = []
    if chosen.out.exists():
        steps = json.loads(chosen.out.read_text())["steps"]
    opened, sealed = split(chosen.data)
    with Laboratory(DOMAINS["games"], 1) as laboratory:
        for name in NAMED:
            if name in {item["named"] for item in steps}:
                continue
            begun = time.perf_counter()
            steps += reduced(laboratory, name, opened, sealed)
            print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)
            result = {
                "provenance": provenance(),
                "n_open_games": len(opened[0].stimuli),
                "n_sealed_games": len(sealed.stimuli),
                "noise": noise_of(sealed),
                "steps": steps,
            }
            chosen.out.write_text(json.dumps(result, indent=1) + "\n")
