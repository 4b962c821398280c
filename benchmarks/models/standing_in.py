"""Somebody stands in as the language model, blind to the hidden rule, beside grammar and induction on the same study.

    lakatos models bridge FOLDER --port 8411 --who NAME
    python benchmarks/run.py models/standing_in model --base-url http://127.0.0.1:8411/v1 --out A.json
    python benchmarks/run.py models/standing_in search --out B.json
    python benchmarks/run.py models/standing_in model --archive products --out C.json    # published answers of people

The rule is drawn by ``--seed`` from the sets of plain rules that others wrote (`benchmarks.theories.discovery`), those
about products, and is named in the result only. The mind behind the bridge may not read these files, nor the run.
Both campaigns have the same seed, people and designs' settings; only who writes theories differs.
Whoever stands in reads the name of the rule in the result, after the campaign.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import provenance
from benchmarks.theories.discovery import ALL, SETS
from lakatos.flows.roles.answers import answers_in
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import parse_study
from lakatos.flows.start import run_study
from lakatos.theories.findings.verdicts.record import CampaignConcluded

DRAWN_FROM = ("second blind", "sixth blind")
PEOPLE = 25
CYCLES = 3


def drawn_rule(seed: int) -> str:
    """The rule of a seed; nobody needs to look."""
    names = [
        name for label in DRAWN_FROM for name in SETS[label] if ALL[name].domain == "multiattribute"
    ]
    return names[int(np.random.default_rng(seed).integers(len(names)))]


def study(seed: int, base_url: str, *, archive: str | None = None) -> dict[str, Any]:
    """The study; with ``base_url`` the model behind it writes all theories, without it grammar and induction do."""
    is_gambles = archive == "gambles"
    value: dict[str, Any] = {
        "name": "standing-in",
        "question": QUESTIONS["gambles" if is_gambles else "products"],
        "domain": "risky" if is_gambles else "multiattribute",
        "seed": seed,
        "theories": {
            "seeds": SEEDS["gambles" if is_gambles else "products"],
            "candidates": 60,
            "draws": 256,
            "advocates": ["language_model"] if base_url else ["grammar", "induction"],
        },
        "stop": {"cycles": CYCLES, "least_cycles": CYCLES},
        "validation": {"comparison_models": False},
        "memory": {"winners": False},
        **(ARCHIVES[archive] if archive else _hidden(seed)),
    }
    if archive:
        value["validation"] = {"comparison_models": False, "sealed_share": 0.2}
    if base_url:
        value["models"] = {"mind": {"base_url": base_url, "model": "bridge", "timeout_s": 600.0}}
        value["roles"] = {"reviser": "mind", "lenses": ["residual"], "max_tokens": 3000}
    return value


QUESTIONS = {
    "products": "Which rule do these people follow when they choose between two products?",
    "gambles": "How do people choose between described gambles before they have had any feedback?",
}
SEEDS = {
    "products": ["take_the_best", "tallying", "weighted_additive"],
    "gambles": ["expected_value", "prospect_theory", "minimax"],
}
ARCHIVES: dict[str, dict[str, Any]] = {
    "products": {
        "participants": {
            "source": "archival",
            "archive": "multiattribute_autocog",
            "experiments": "cardinal-*",
        },
        "design": {"trials": 24, "random_share": 0.0, "refused": "cover"},
    },
    "gambles": {
        "participants": {"source": "archival", "archive": "risky_cpc18"},
        "design": {"trials": 50, "random_share": 0.25, "refused": "cover"},
    },
}
"""People's published choices, a part of them a cycle; a fifth of the trials stays sealed until the verdict."""


def _hidden(seed: int) -> dict[str, Any]:
    """People who follow the rule of a seed, and designs of trials of a space."""
    return {
        "space": {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]},
        "design": {
            "trials": 48,
            "participants": PEOPLE,
            "candidates": 400,
            "refused": "cover",
            "random_share": 0.5,
        },
        "participants": {"source": "simulated", "program": ALL[drawn_rule(seed)].program},
    }


def campaign(seed: int, base_url: str, folder: Path, *, archive: str | None) -> dict[str, Any]:
    """Run one campaign and say how close it came, and what it took."""
    begun = time.perf_counter()
    config = study(seed, base_url, archive=archive)
    data = Path(os.environ.get("LAKATOS_DATA", "data"))
    verdict = run_study(parse_study(config, "standing in"), folder, data=data, n_workers=1)
    state, trace = read_state(folder)
    trace.close()
    assert isinstance(verdict, CampaignConcluded)
    leader = verdict.leader
    line = state.board().of(leader)
    reached: dict[str, Any] = {"errors": [item.model_dump(mode="json") for item in verdict.errors]}
    if state.campaign.truth is not None:
        truth = state.campaign.truth.record
        reached = {
            "error_against_the_rule": truth.corrected[leader],
            "error_with_lapses": truth.uncorrected[leader],
            "best_in_pool": min(truth.pool.values()),
            "best_of_the_first_rivals": min(truth.pool[name] for name in state.seeds),
        }
    return {
        **provenance(),
        "seed": seed,
        "rule": f"published answers of people ({archive})" if archive else drawn_rule(seed),
        "who_writes": config["theories"]["advocates"],
        "cycles": CYCLES,
        "leader": state.theories.checked[leader].record.name,
        "claim": state.theories.checked[leader].record.claim,
        "author": state.theories.checked[leader].record.author,
        **reached,
        "score": [line.score.value, 2 * line.score.standard_error],
        "n_tried": state.n_tried,
        "drafts": [
            [item.record.cycle, item.record.attempt, item.record.outcome, item.record.name]
            for item in state.roles.tried
        ],
        "n_analyses": len(state.roles.analyses),
        "n_admitted": sum(item.record.cycle > 0 for item in state.theories.pool.values()),
        "answers": answers_in(folder) if base_url else None,
        "seconds": round(time.perf_counter() - begun, 1),
    }


def main() -> None:
    """Run one of the two campaigns and write what came of it."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("who", choices=("model", "search"))
    options.add_argument("--base-url", default="http://127.0.0.1:8411/v1")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--archive", choices=tuple(ARCHIVES), help="published answers of people")
    options.add_argument("--run", type=Path, required=True, help="folder of the run")
    options.add_argument("--out", type=Path, required=True)
    chosen = options.parse_args()
    found = campaign(
        chosen.seed,
        chosen.base_url if chosen.who == "model" else "",
        chosen.run,
        archive=chosen.archive,
    )
    chosen.out.write_text(json.dumps(found, indent=1) + "\n")
