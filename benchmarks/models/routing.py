"""Whether the bandit that gives roles to models moves to the one whose answers data confirm, for their cost.

Small campaigns with simulated people who follow a rule that the grammar lacks; arbiter and reviser are given to two
models each. A good one sees which theory leads and writes the next three on the way to the rule, so that new data
confirm it; the other writes nonsense of the right form, or is as good and four times as dear, or is just as good.

    python benchmarks/run.py models/routing --workers 2      # writes benchmarks/raw/models/routing.json

A cell is one campaign: how many questions each model was given in each cycle, and what was believed of it in the end.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT
from lakatos.flows.roles.outcomes import outcomes_of
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.start import run_study
from lakatos.theories.discovery.roles.lens import LENSES
from lakatos.theories.discovery.roles.record import ModelsChosen
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running

OUT = ROOT / "benchmarks" / "raw" / "models" / "routing.json"
ARMS = ("good and nonsense", "good and as good but dear", "two equals")
USED_LENSES = ("mechanism", "leap", "simplify")
STEP = 0.03
RULE = '''"""Odd totals{name}: people take the product whose ratings add up to an odd number, {share} of the time."""
PARAMETERS = {parameters}


def choose(parameters, trials, xp):
    odd = trials["ratings"].sum(axis=-1) % 2
    return 0.5 + ({lean}) * (odd[:, 1] - odd[:, 0]) + xp.zeros((1, 1))
'''
HIDDEN = RULE.format(
    name="",
    share="nearly all",
    parameters='{"lapse": {"prior": "uniform", "low": 0.0, "high": 0.1}}',
    lean='0.5 - parameters["lapse"] / 2',
)


def good(body: Mapping[str, Any], rng: np.random.Generator) -> str:
    """The next theories after the leader, one for each lens; as arbiter a statement that its record bears out."""
    text = "\n".join(item["content"] for item in body["messages"])
    if "You are the arbiter" in text:
        (mark,) = re.findall(r"from case file (#[0-9a-f]+)", text)
        (behind,) = re.findall(r"behind_nats_per_choice: (\S+)", text)
        loser, leader = (
            re.findall(rf"^{name}: (.*)$", text, re.MULTILINE)[0] for name in ("loser", "leader")
        )
        claim = {"quantity": "score", "of": loser, "against": leader, "experiment": "", "trial": 0, "option": "",
                 "direction": "below", "value": behind, "unit": "nats per choice"}  # fmt: skip
        said = [{"text": "The theory is behind.", "cites": [mark], "claims": [claim]}]
        return json.dumps(
            {
                "statements": said,
                "hypothesis": "People look at odd sums.",
                "change": "Look at sums.",
            }
        )
    rung = max(map(int, re.findall(r"source of the leader: Odd totals (\d+)", text)), default=0)
    ahead = [place for place, name in enumerate(USED_LENSES, 1) if LENSES[name].task in text]
    rung += ahead[0] if ahead else int(rng.integers(1, len(USED_LENSES) + 1))
    lean = min(STEP * rung, 0.47)
    source = RULE.format(name=f" {rung}", share=f"{0.5 + lean:.0%}", parameters="{}", lean=lean)
    return json.dumps({"change": f"lean {lean:.2f}", "source": source, "predictions": []})


def study(
    servers: Mapping[str, Any], prices: Mapping[str, float], seed: int, cycles: int
) -> CampaignConfig:
    """The campaign."""
    models = {
        name: {"base_url": served.base_url, "model": served.model, "price": {"input": prices[name]}}
        for name, served in servers.items()
    }
    value: dict[str, Any] = {
        "name": "routing",
        "question": "Which rule do simulated people follow?",
        "domain": "multiattribute",
        "seed": seed,
        "space": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]},
        "theories": {
            "seeds": ["take_the_best", "tallying"],
            "candidates": 0,
            "successors": 0,
            "induction": False,
            "draws": 64,
            "rivals": 3,
        },
        "design": {
            "trials": 16,
            "participants": 30,
            "candidates": 60,
            "power": 0.6,
            "refused": "cover",
        },
        "participants": {"source": "simulated", "program": HIDDEN},
        "stop": {"cycles": cycles, "least_cycles": cycles, "patience": cycles},
        "models": models,
        "roles": {
            "arbiter": list(models),
            "reviser": list(models),
            "lenses": list(USED_LENSES),
            "max_tokens": 1500,
        },
    }
    return parse_study(value, "this benchmark")


def cell(arm: str, seed: int, cycles: int) -> dict[str, Any]:
    """One campaign."""
    second = None if arm == "good and nonsense" else good
    prices = {"first": 1.0, "second": 4.0 if "dear" in arm else 1.0}
    settings = RehearsalSettings(context_tokens=32768)
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        servers = {
            name: stack.enter_context(running(settings, answer))
            for name, answer in (("first", good), ("second", second))
        }
        run_study(study(servers, prices, seed, cycles), Path(folder) / "run", n_workers=1)
        state, trace = read_state(Path(folder) / "run")
        with trace:
            chosen = [item.record for item in trace.records(ModelsChosen)]
    asked = Counter((item.cycle, choice.model) for item in chosen for choice in item.choices)
    n_cycles = max(item.cycle for item in chosen)
    known = Counter(
        (item.model, item.role, "improved" if item.improved else "not")
        for item in outcomes_of(state, lambda model, calls: 0.0)
    )
    return {
        "arm": arm,
        "seed": seed,
        "cycles": cycles,
        "asked": {
            name: [asked[cycle, name] for cycle in range(1, n_cycles + 1)] for name in servers
        },
        "outcomes": {" ".join(key): n for key, n in sorted(known.items())},
    }


def shares(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Share of the first model in the questions of each cycle: mean over campaigns, with its standard error."""
    found = {}
    for arm in ARMS:
        own = [item for item in cells if item["arm"] == arm]
        if not own:
            continue
        first, second = (
            np.array([item["asked"][name] for item in own], dtype=float)
            for name in ("first", "second")
        )
        each = first / (first + second)
        error = (
            each.std(axis=0, ddof=1) / np.sqrt(len(own))
            if len(own) > 1
            else np.full(each.shape[1], np.nan)
        )
        found[arm] = {
            "campaigns": len(own),
            "share_of_first_by_cycle": each.mean(axis=0).round(3).tolist(),
            "standard_error": [
                None if np.isnan(value) else round(float(value), 3) for value in error
            ],
        }
    return found


def main() -> None:
    """Compute what is missing, then the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--cycles", type=int, default=6)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    wanted = [(arm, seed) for seed in range(1, given.seeds + 1) for arm in ARMS]
    found = complete(
        given.out,
        cell,
        wanted,
        ("arm", "seed"),
        given.workers,
        order=lambda item: (item["arm"], item["seed"]),
        extra=(given.cycles,),
    )
    result = json.loads(given.out.read_text())
    result["summary"] = shares(found)
    given.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["summary"], indent=1))
