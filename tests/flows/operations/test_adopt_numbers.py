"""From a file of keys with their times, or of numbers, to a verdict."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.main import app
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.run.study import load_study
from lakatos.flows.start import run_study

POINTS = [(-0.8, -0.6), (-0.5, -0.5), (-0.2, -0.1), (0.2, 0.1), (0.5, 0.3), (0.8, 0.7)]


def flankers(path: Path, n_people: int = 8, n_trials: int = 60) -> Path:
    """People who are 60 ms slower and err more often where flankers point elsewhere; some times are no answers."""
    rng = np.random.default_rng(6)
    lines = ["subj_idx,trial,condition,correct_key,key,rt"]
    for person in range(n_people):
        for trial in range(n_trials):
            in_conflict = rng.random() < 0.5
            right, other = rng.permutation(["f", "j"])
            pressed = other if rng.random() < (0.15 if in_conflict else 0.04) else right
            time = 0.35 + 0.06 * in_conflict + rng.gamma(4, 0.04)
            said = "" if trial == 20 else f"{0.1 if trial == 30 else time:.3f}"
            condition = "incongruent" if in_conflict else "congruent"
            lines.append(f"s{person},{trial},{condition},{right},{pressed},{said}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def estimates(folder: Path, n_people: int = 8) -> Path:
    """Heights in per cent, with the points of each graph in a file of their own."""
    rng = np.random.default_rng(7)
    names = [f"{axis}{place}" for axis in "xy" for place in range(len(POINTS))]
    graphs = [",".join(["graph", *names])]
    for graph, sign in enumerate((1, -1)):
        x, y = np.transpose(POINTS) * [[50], [50 * sign]] + 50
        graphs.append(",".join(map(str, [graph, *x.round(1), *y.round(1)])))
    (folder / "graphs.csv").write_text("\n".join(graphs) + "\n")
    lines = ["subject,graph,query,estimate"]
    for person in range(n_people):
        for graph, sign in enumerate((1, -1)):
            for query in range(10, 100, 10):
                height = 50 + 0.8 * sign * (query - 50) + rng.normal(0, 4)
                lines.append(f"s{person},{graph},{query},{height:.0f}")
    path = folder / "estimates.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


ESTIMATES = {
    "items": "graphs.csv",
    "item": "graph",
    "stimulus": {
        "points_x": [f"x{place}" for place in range(len(POINTS))],
        "points_y": [f"y{place}" for place in range(len(POINTS))],
        "query": "query",
        "x_range": [0, 100],
        "y_range": [0, 100],
    },
}


def quick(study: Path, seeds: str) -> Path:
    """The study with no search, so that it ends soon."""
    text = re.sub(
        r"seeds = .*", f"seeds = {seeds}\ninduction = false", study.read_text(encoding="utf-8")
    )
    text = re.sub(r"(candidates|successors) = \d+", r"\1 = 0", text)
    text = re.sub(r"\ncycles = \d+\nleast_cycles = \d+", "\ncycles = 1\nleast_cycles = 1", text)
    study.write_text(text + "comparison_models = false\n", encoding="utf-8")
    return study


def test_a_file_of_keys_and_times_is_described_and_has_a_study_without_a_word_more(
    tmp_path: Path,
) -> None:
    data, study = flankers(tmp_path / "a.csv"), tmp_path / "mine.toml"
    said = CliRunner().invoke(app, ["data", "describe", str(data)]).output
    assert "These look like trials of the kind 'attention'" in " ".join(said.split())
    assert "8 below 0.2 s and 0 above 3 s are" in said
    new = " ".join(CliRunner().invoke(app, ["new", str(study), "--data", str(data)]).output.split())
    assert "times in rt are seconds (median 0.5" in new
    assert "key or rt is empty 8 (22, " in new
    assert "to fill in" not in new
    columns = load_study(study).participants.columns
    assert columns is not None
    assert columns.stimulus == {"congruence": "condition", "right_key": "correct_key"}
    assert columns.responses == {"f": 0, "j": 1}
    assert "# part of the response" in study.read_text()


def test_a_study_of_numbers_is_written_for_points_in_a_file_of_their_own(tmp_path: Path) -> None:
    made = new_study(tmp_path / "mine.toml", estimates(tmp_path), "estimation", columns=ESTIMATES)
    assert made.open_questions == ()
    assert any("into bins hides" in line for line in made.read)
    assert not any("no outcome" in line for line in made.read)
    assert load_study(made.study).domain == "estimation"


@pytest.mark.long
@pytest.mark.slow
def test_keys_with_their_times_run_to_a_verdict_that_can_be_audited(tmp_path: Path) -> None:
    made = new_study(tmp_path / "mine.toml", flankers(tmp_path / "a.csv"))
    study = quick(made.study, '["steady", "ratcliff"]')
    assert run_study(study, tmp_path / "run").leader
    assert audit(tmp_path / "run").passed


@pytest.mark.slow
def test_numbers_run_to_a_verdict_that_can_be_audited(tmp_path: Path) -> None:
    made = new_study(tmp_path / "mine.toml", estimates(tmp_path), "estimation", columns=ESTIMATES)
    study = quick(made.study, '["average", "straight_line"]')
    assert run_study(study, tmp_path / "run").leader
    assert audit(tmp_path / "run").passed
