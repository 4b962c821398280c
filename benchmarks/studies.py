"""What the loop finds on people's published choices, and how that does on trials it never saw.

    python benchmarks/run.py studies --data ../shared/data      # resumes; benchmarks/raw/studies.json

Runs the studies on the two sets of experiments with rated products under several seeds (the seed chooses the sealed
fifth of the trials), and the study of risky choice with its ten folds. Every run is audited. Errors are mean
squared errors of choice proportions with parameters drawn from the declared ranges, averaged over experiments;
sealed ones over sealed trials, with their standard error. The mechanisms of the grammar were written by people who
had seen these data sets; what is sealed from the loop was not sealed from them.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from benchmarks.provenance import ROOT, provenance
from lakatos.flows.audit.audit import audit
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import load_study
from lakatos.flows.start import resume_run, run_study
from lakatos.traces.step import JOURNAL_FILE

RESULT = ROOT / "benchmarks" / "raw" / "studies.json"
STUDIES = {
    "multiattribute-binary": (1, 2),
    "multiattribute-cardinal": (1, 2),
    "risky": (1,),
    "allais": (1,),
}


def carry_out(study: str, seed: int, data: Path, folder: Path) -> dict[str, object]:
    """Run or resume one study, and read what came out."""
    begun = time.perf_counter()
    if (folder / JOURNAL_FILE).exists():
        verdict = resume_run(folder, data=data)
    else:
        config = load_study(ROOT / "studies" / f"{study}.toml")
        alone = config.memory.model_copy(update={"winners": False})
        config = config.model_copy(update={"seed": seed, "memory": alone})
        verdict = run_study(config, folder, data=data)
    seconds = time.perf_counter() - begun
    state, trace = read_state(folder)
    trace.close()
    return {
        "study": study,
        "seed": seed,
        "seconds": round(seconds, 1),
        "leader": state.theories.checked[verdict.leader].record.name,
        "claim": state.theories.checked[verdict.leader].record.claim,
        "holds": verdict.holds,
        "text": verdict.text,
        "errors": {
            state.theories.name(item.theory): item.model_dump(mode="json")
            for item in verdict.errors
        },
        "cross_validated": {
            item.name: {"error": item.error, "standard_error": item.standard_error}
            for item in verdict.cross_validated
        },
        "folds": [
            {
                "fold": item.record.fold,
                "leader": item.record.leader_name,
                "n_trials": len(item.record.rows),
            }
            for item in state.campaign.folds
        ],
        "n_experiments": len(state.experiments.collected),
        "n_theories": len(state.theories.checked),
        "n_attempts": sum(item.record.n_attempts for item in state.theories.searches),
        "audit": audit(folder).passed,
    }


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options.add_argument("--runs", type=Path, default=ROOT / "runs" / "benchmark")
    options.add_argument("--only", nargs="*", default=list(STUDIES))
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    done = json.loads(chosen.out.read_text())["studies"] if chosen.out.exists() else []
    have = {(item["study"], item["seed"]) for item in done}
    for study in chosen.only:
        for seed in STUDIES[study]:
            if (study, seed) in have:
                continue
            done.append(carry_out(study, seed, chosen.data, chosen.runs / f"{study}-{seed}"))
            print(json.dumps(done[-1], indent=1), flush=True)
            chosen.out.parent.mkdir(parents=True, exist_ok=True)
            chosen.out.write_text(json.dumps({**provenance(), "studies": done}, indent=1) + "\n")
