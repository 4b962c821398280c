"""Of a run on several data sets: who leads by data sets left out, who would by experiments, and how each travels.

    python benchmarks/theories/data_sets_apart.py RUN --data DATA --other allais

For each rival of the run: what it predicts for each data set with people that the others taught, for each experiment
with people that the other experiments taught, and for another data set with people that all answers taught.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains.published_data import load_archive  # noqa: E402
from lakatos.experiments.data_sets import data_sets_of  # noqa: E402
from lakatos.experiments.participants.table import get_trials  # noqa: E402
from lakatos.flows.run.evidence import theory_of  # noqa: E402
from lakatos.flows.run.run import read_state  # noqa: E402
from lakatos.flows.run.task import domain_of  # noqa: E402
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402
from lakatos.theories.engine.scoreboard import left_out_scores  # noqa: E402
from lakatos.theories.engine.scoring.score import (  # noqa: E402
    ScoreEstimate,
    average,
    log_predictive,
    mean_over_units,
)
from lakatos.theories.errors import TheoryError  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "theories" / "data_sets_apart.json"
N_DRAWS = 512


def pair(estimate: ScoreEstimate) -> list[float]:
    """A number and its standard error."""
    return [estimate.value, estimate.standard_error]


def compare(run: Path, other: str, data: Path) -> dict[str, Any]:
    """All rivals of a run, the leader first."""
    state, trace = read_state(run)
    with trace:
        assert state.campaign.config is not None
        domain, names = domain_of(state.campaign.config), list(state.experiments.collected)
        trials = [
            replace(get_trials(trace.artifacts, item.record.trials), experiment=str(place))
            for place, item in enumerate(state.experiments.collected.values())
        ]
        board = state.board()
        rivals = [line.theory for line in board.standings]
        theories = [theory_of(trace.artifacts, state, str(name)) for name in rivals]
    scores = {key: item.record for key, item in state.theories.scores.items()}
    unseen = [item.in_counts() for item in load_archive(other, data)]
    lines = []
    with Laboratory(domain, 1) as laboratory:
        apart = laboratory.scores_of(theories, trials, N_DRAWS)
        for theory, name, line, found in zip(theories, rivals, board.standings, apart, strict=True):
            assert not isinstance(found, TheoryError)
            there = [log_predictive(item) for item in laboratory.evidence(theory, unseen, N_DRAWS)]
            lines.append(
                {
                    "name": theory.name,
                    "code_length": state.theories.checked[name].record.code_length,
                    "error": line.error,
                    "data_sets": pair(line.score),
                    "behind": pair(line.behind),
                    "each": [
                        pair(mean_over_units(item)) for item in left_out_scores(name, names, scores)
                    ],
                    "experiments": pair(
                        average([mean_over_units(item.left_out) for item in found])
                    ),
                    "elsewhere": pair(average([mean_over_units(item) for item in there])),
                }
            )
    return {
        "study": state.campaign.config.name,
        "data_sets": data_sets_of(names),
        "experiments": names,
        "other": other,
        "theories": lines,
    }


def main() -> None:
    """Compare, print and write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--other", default="allais")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--out", type=Path, default=RESULT)
    settings = parser.parse_args()
    found = {**provenance(), **compare(settings.run, settings.other, settings.data)}
    settings.out.write_text(json.dumps(found, indent=1) + "\n")
    for line in found["theories"]:
        print({key: line[key] for key in ("name", "data_sets", "experiments", "elsewhere")})


if __name__ == "__main__":
    main()
