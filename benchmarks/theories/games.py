"""Errors on sealed matrix games: the theory that a campaign named, and all published ones with their people fitted.

    lakatos run studies/atlas/games.toml --data FOLDER --name games
    python benchmarks/run.py theories/games runs/games     # benchmarks/raw/theories/games.json

The error of a game is the squared difference between the predicted and the observed share of the second row, times 100.
Everything is fitted to the open games and tried on the sealed ones. What answers by chance adds is the noise.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.table import get_trials
from lakatos.experiments.task import Trials
from lakatos.flows.run.evidence import form_of
from lakatos.flows.run.run import read_state
from lakatos.theories.engine.evidence import with_fit
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import squared_errors
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import Theory, read_program

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "games.json"
N_DRAWS = 512


def error_on(theory: Theory, trials: Trials, laboratory: Laboratory) -> dict[str, Any]:
    """Mean error of a theory's predicted shares times 100, with its standard error over games."""
    predicted = laboratory.proportions(theory, trials.stimuli, N_DRAWS)
    errors = 100 * squared_errors(predicted, trials)
    return {
        "error": float(errors.mean()),
        "standard_error": float(errors.std(ddof=1) / np.sqrt(len(errors))),
    }


def noise_of(trials: Trials) -> float:
    """What chance adds to the error of any prediction."""
    shares, n_answers = trials.proportions[:, 1], trials.counts.sum(axis=(0, 2))
    return float(100 * np.mean(shares * (1 - shares) / (n_answers - 1)))


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    folder = parser.parse_args().run
    state, trace = read_state(folder)
    with trace:
        assert state.campaign.concluded is not None
        assert state.experiments.sealed is not None
        leader = with_fit(
            form_of(trace.artifacts, state, str(state.campaign.concluded.record.leader)),
            state.theories,
        )
        artifacts = trace.artifacts
        opened = [
            get_trials(artifacts, item.record.trials)
            for item in state.experiments.collected.values()
        ]
        (sealed,) = (get_trials(artifacts, name) for name in state.experiments.sealed.record.trials)
    told = leader.account()
    family = FAMILIES["games"]
    forms = {name: read_program(family.program(name)) for name in family.seeds}
    with Laboratory(DOMAINS["games"], 1) as laboratory:
        people = laboratory.people_of(list(forms.values()), [{}] * len(forms), opened)
        errors = {"leader": error_on(leader, sealed, laboratory)}
        for (name, form), found in zip(forms.items(), people, strict=True):
            if isinstance(found, TheoryError):
                print(f"{name}: {found}")
                continue
            errors[name] = error_on(form.with_people(found, pooled=True), sealed, laboratory)
    for name, own in sorted(errors.items(), key=lambda item: item[1]["error"]):
        print(f"{name:30s} {own['error']:.2f} +- {2 * own['standard_error']:.2f}")
    result = {
        "provenance": provenance(),
        "seed": state.campaign.config.seed if state.campaign.config else None,
        "n_sealed_games": len(sealed.stimuli),
        "n_sealed_answers": sealed.n_responses,
        "noise": noise_of(sealed),
        "leader": {"name": told.name, "claim": told.claim, "n_clauses": len(told.clauses)},
        "error_times_100": errors,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
