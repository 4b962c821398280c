"""The probability that any further cycle changes the leader, before it is paid for; and what stopping by it spares.

    python benchmarks/judges/stopping.py            # resumes; benchmarks/results/judges/stopping.json
    python benchmarks/judges/stopping.py --table    # only the tables of what is there

Campaigns of five cycles in four domains ask simulated people who follow a rule drawn from the grammar. People, trials
and candidates in a cycle differ between campaigns; in a fifth of them rules are sought in the answers as well. Nothing
ends a campaign before its budget. After every cycle a leaderboard is on record, and from it alone follows what a judge
of stopping may know (`FEATURES`). The truth is whether any later cycle has another leader; and, since leaders may
change without any gain, how far the choice proportions of the leader then and in the end are from those of the hidden
rule, on all trials of the space.

Probabilities for a campaign come from a logistic regression learned on all others (by domain: on the other domains).
They are compared, at as many cycles spared, with rules that ask no judge: a number of cycles, cycles without
improvement (`stop.patience`), and the lead over the second in standard errors.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.cells import complete  # noqa: E402
from benchmarks.memory.winners import SPACES, drawn, laboratory_of  # noqa: E402
from lakatos.experiments.domains import DOMAINS  # noqa: E402
from lakatos.flows.run.evidence import theory_of  # noqa: E402
from lakatos.flows.run.run import read_state  # noqa: E402
from lakatos.flows.run.study import CampaignConfig, parse_study  # noqa: E402
from lakatos.flows.start import run_study  # noqa: E402
from lakatos.theories.families import FAMILIES  # noqa: E402
from lakatos.theories.theory import TheoryProgram, read_program  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "judges" / "stopping.json"
CYCLES = 5
PEOPLE, TRIALS, CANDIDATES = (12, 24, 48), (8, 16), (6, 12)


def study(domain: str, number: int) -> CampaignConfig:
    """One small campaign; how much it asks and searches is drawn by lot."""
    family = FAMILIES[domain]
    rng = np.random.default_rng([list(SPACES).index(domain), number, 70])
    people, trials, candidates = (int(rng.choice(item)) for item in (PEOPLE, TRIALS, CANDIDATES))
    return parse_study(
        {
            "name": f"{domain}-{number}",
            "question": "Which rule do these people follow?",
            "domain": domain,
            "seed": 3000 + number,
            "space": SPACES[domain],
            "theories": {
                "seeds": list(family.seeds)[:2],
                "candidates": candidates,
                "successors": 1,
                "draws": 64,
                "rivals": 3,
                "advocates": ["grammar", "induction"] if number % 5 == 4 else ["grammar"],
            },
            "design": {
                "trials": trials,
                "participants": people,
                "candidates": 40,
                "power": 0.5,
                "refused": "cover",
            },
            "participants": {
                "source": "simulated",
                "program": family.grammar.write(drawn(domain, rng), "hidden"),
            },
            "stop": {"cycles": CYCLES, "least_cycles": CYCLES, "patience": CYCLES},
            "validation": {"company": False},
            "memory": {"winners": False},
        },
        domain,
    )


def cell(domain: str, number: int, options: argparse.Namespace) -> dict[str, Any]:
    """One campaign: its leaderboards, and how far every leader is from the hidden rule."""
    config = study(domain, number)
    folder = Path(options.runs) / domain / f"{number:03d}"
    if folder.exists():  # cut short
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    used = time.process_time()
    run_study(config, folder, n_workers=1)
    spent = round(time.process_time() - used, 1)
    found = {"domain": domain, "number": number, "processor": spent, **measured(folder, config)}
    shutil.rmtree(folder)
    return found


def measured(folder: Path, config: CampaignConfig) -> dict[str, Any]:
    """The leaderboards of a run as lists of numbers, and the leaders' errors against the hidden rule."""
    state, trace = read_state(folder)
    stimuli = DOMAINS[config.domain].space(config.space)
    hidden = read_program(TheoryProgram(config.participants.program, "hidden"))
    laboratory = laboratory_of(config.domain)
    errors: dict[str, float] = {}
    with trace:
        truth = laboratory.proportions(hidden, stimuli, 512)
        for leader in dict.fromkeys(item.record.leader for item in state.campaign.cycles):
            theory = theory_of(trace.artifacts, state, leader)
            found = laboratory.proportions(theory, stimuli, 512)
            errors[leader] = round(float(np.sqrt(np.mean((found - truth) ** 2))), 5)
        cycles = [
            {
                "leader": item.record.leader[:12],
                "error": errors[item.record.leader],
                "improved": item.record.improved,
                "board": [
                    [line.theory[:12], round(line.score, 5), round(line.behind, 5),
                     round(line.behind_error, 5), line.tied, round(line.error, 6)]
                    for line in item.record.leaderboard
                ],
            }
            for item in state.campaign.cycles
        ]  # fmt: skip
    return {"cycles": cycles}


def main() -> None:
    """Run the campaigns that are missing."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--campaigns", type=int, default=40, help="of each domain")
    arguments.add_argument("--runs", type=Path, default=ROOT / "runs" / "stopping")
    arguments.add_argument("--out", type=Path, default=RESULT)
    given = arguments.parse_args()
    wanted = [(domain, number) for number in range(given.campaigns) for domain in SPACES]
    complete(
        given.out, cell, wanted, ("domain", "number"), 1,
        order=lambda row: (row["number"], row["domain"]), extra=(given,),
    )  # fmt: skip


if __name__ == "__main__":
    main()
