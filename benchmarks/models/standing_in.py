"""Somebody stands in as the language model, blind to the hidden rule, beside grammar and induction on the same study.

    lakatos models bridge FOLDER --port 8411 --who NAME
    python benchmarks/models/standing_in.py model --base-url http://127.0.0.1:8411/v1 --out A.json
    python benchmarks/models/standing_in.py search --out B.json

The rule is drawn by ``--seed`` from the sets of plain rules that others wrote (`benchmarks.theories.discovery`), those
about products, and is named in the result only. The mind behind the bridge may not read these files, nor the run.
Both campaigns have the same seed, people and designs' settings; only who writes theories differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.theories.discovery import ALL, SETS  # noqa: E402
from lakatos.flows.roles.answers import answers_in  # noqa: E402
from lakatos.flows.run.records import CampaignConcluded  # noqa: E402
from lakatos.flows.run.run import read_state  # noqa: E402
from lakatos.flows.run.study import parse_study  # noqa: E402
from lakatos.flows.start import run_study  # noqa: E402

DRAWN_FROM = ("second blind", "sixth blind")
PEOPLE = 25
CYCLES = 3


def drawn_rule(seed: int) -> str:
    """The rule of a seed; nobody needs to look."""
    names = [
        name for label in DRAWN_FROM for name in SETS[label] if ALL[name].domain == "multiattribute"
    ]
    return names[int(np.random.default_rng(seed).integers(len(names)))]


def study(seed: int, base_url: str) -> dict[str, Any]:
    """The study; with ``base_url`` the model behind it writes all theories, without it grammar and induction do."""
    value: dict[str, Any] = {
        "name": "standing-in",
        "question": "Which rule do these people follow when they choose between two products?",
        "domain": "multiattribute",
        "seed": seed,
        "space": {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]},
        "theories": {
            "seeds": ["take_the_best", "tallying", "weighted_additive"],
            "candidates": 60,
            "draws": 256,
            "advocates": ["language_model"] if base_url else ["grammar", "induction"],
        },
        "design": {
            "trials": 48,
            "participants": PEOPLE,
            "candidates": 400,
            "refused": "cover",
            "random_share": 0.5,
        },
        "participants": {"source": "simulated", "program": ALL[drawn_rule(seed)].program},
        "stop": {"cycles": CYCLES, "least_cycles": CYCLES},
        "validation": {"company": False},
    }
    if base_url:
        value["models"] = {"mind": {"base_url": base_url, "model": "bridge", "timeout_s": 600.0}}
        value["roles"] = {"reviser": "mind", "lenses": ["residual"], "max_tokens": 3000}
    return value


def campaign(seed: int, base_url: str, folder: Path) -> dict[str, Any]:
    """Run one campaign and say how close it came, and what it took."""
    begun = time.perf_counter()
    verdict = run_study(parse_study(study(seed, base_url), "standing in"), folder, n_workers=1)
    state, trace = read_state(folder)
    trace.close()
    assert isinstance(verdict, CampaignConcluded)
    assert state.campaign.truth is not None
    truth, leader = state.campaign.truth.record, verdict.leader
    line = state.board().of(leader)
    return {
        **provenance(),
        "seed": seed,
        "rule": drawn_rule(seed),
        "who_writes": study(seed, base_url)["theories"]["advocates"],
        "cycles": CYCLES,
        "leader": state.theories.checked[leader].record.name,
        "claim": state.theories.checked[leader].record.claim,
        "author": state.theories.checked[leader].record.author,
        "error_against_the_rule": truth.corrected[leader],
        "error_with_lapses": truth.uncorrected[leader],
        "best_in_pool": min(truth.pool.values()),
        "best_of_the_first_rivals": min(truth.pool[name] for name in state.seeds),
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
    options.add_argument("--run", type=Path, required=True, help="folder of the run")
    options.add_argument("--out", type=Path, required=True)
    chosen = options.parse_args()
    found = campaign(chosen.seed, chosen.base_url if chosen.who == "model" else "", chosen.run)
    chosen.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
