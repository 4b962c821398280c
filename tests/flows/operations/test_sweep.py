"""Grids of campaigns: what they are made of, what is refused, and one that runs, resumes and compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
from small import write_study

from lakatos.flows.commands.main import app
from lakatos.flows.errors import ChangedStudyError, FlowError, StudyError
from lakatos.flows.operations.sweep import (
    CellOutcome,
    cell_name,
    compare,
    load_sweep,
    merged,
    run_sweep,
    write_comparison,
    write_studies,
)
from lakatos.flows.run.next_pass import look

QUICK: dict[str, Any] = {
    "theories__candidates": 0,
    "theories__successors": 0,
    "theories__induction": False,
    "design__trials": 8,
    "design__participants": 12,
    "design__refused": "cover",
    "stop": {"cycles": 1, "least_cycles": 1},
}
GRID = """
[grid]
seed = [1, 2]

[[grid.people]]
label = "compensatory"
"participants.theory" = "weighted_additive"
[[grid.people]]
label = "counting"
participants = { theory = "tallying" }
"""


def sweep_file(folder: Path, grid: str = GRID, **changes: Any) -> Path:
    path = write_study(folder, **{**QUICK, **changes})
    path.write_text(path.read_text() + "\n" + grid)
    return path


def test_a_grid_is_the_product_of_its_axes_and_every_cell_is_checked(tmp_path: Path) -> None:
    name, cells = load_sweep(sweep_file(tmp_path))
    assert name == "small"
    assert [dict(cell.labels) for cell in cells] == [
        {"seed": "1", "people": "compensatory"},
        {"seed": "1", "people": "counting"},
        {"seed": "2", "people": "compensatory"},
        {"seed": "2", "people": "counting"},
    ]
    assert [cell.config.seed for cell in cells] == [1, 1, 2, 2]
    assert [cell.config.participants.theory for cell in cells] == [
        "weighted_additive",
        "tallying",
    ] * 2
    assert len({cell.config.digest for cell in cells}) == 4


def test_a_grid_that_grows_renames_no_cell(tmp_path: Path) -> None:
    _, before = load_sweep(sweep_file(tmp_path))
    _, after = load_sweep(sweep_file(tmp_path, GRID.replace("[1, 2]", "[3, 2, 1]")))
    assert {cell.name for cell in before} < {cell.name for cell in after}
    assert {cell.config.digest for cell in before} < {cell.config.digest for cell in after}


@pytest.mark.parametrize(
    ("grid", "problem"),
    [
        ("", "has no table \\[grid\\]"),
        ("[grid]\nseed = 3", "grid.seed must be a list"),
        ("[grid]\nseed = []", "grid.seed must be a list"),
        ("[grid]\nseed = [1, 1]", "are called the same"),
        ("[grid]\nsede = [1]", r"cell \{'sede': '1'\}: unknown key 'sede'; did you mean 'seed'"),
        ('[grid]\n"participants.theory" = ["nonsense"]', r"cell .*there is no theory 'nonsense'"),
    ],
)
def test_a_grid_that_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, grid: str, problem: str
) -> None:
    with pytest.raises(StudyError, match=problem):
        load_sweep(sweep_file(tmp_path, grid))


def test_tables_are_changed_key_by_key_and_lists_are_replaced() -> None:
    value = {"a": {"b": 1, "c": [1, 2]}, "d": 3}
    assert merged(value, {"a": {"c": [3]}}) == {"a": {"b": 1, "c": [3]}, "d": 3}
    assert value["a"] == {"b": 1, "c": [1, 2]}
    assert len(cell_name({"axis": "ü / " * 40}, {"a": 1})) <= 49


def test_a_study_that_changed_under_a_cell_that_ran_is_refused(tmp_path: Path) -> None:
    from lakatos.traces.journal import Journal
    from lakatos.traces.step import JOURNAL_FILE

    _, cells = load_sweep(sweep_file(tmp_path))
    folder = tmp_path / "sweep"
    write_studies(folder, cells)
    path = folder / "studies" / f"{cells[0].name}.json"
    path.write_text(path.read_text().replace('"seed":1', '"seed":9'))
    write_studies(folder, cells)  # it never ran: written anew
    assert json.loads(path.read_text())["seed"] == 1
    path.write_text(path.read_text().replace('"seed":1', '"seed":9'))
    with Journal.create(folder / cells[0].name / JOURNAL_FILE, {"seed": 9}) as journal:
        journal.append("a", {}, key="0" * 64, name="a", position={}, inputs=[])
    with pytest.raises(ChangedStudyError, match="has run with another study"):
        write_studies(folder, cells)


def test_the_plan_is_shown_without_running_anything(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["sweep", str(sweep_file(tmp_path)), "--plan", "--runs", str(tmp_path / "runs")]
    )
    assert done.exit_code == 0, done.output
    assert "4 planned" in done.output
    assert not (tmp_path / "runs").exists()


def test_the_comparison_names_failures_and_escapes_what_they_say(tmp_path: Path) -> None:
    _, cells = load_sweep(sweep_file(tmp_path))
    outcomes = [CellOutcome(cell, "failed", "<script>alert(1)</script>") for cell in cells]
    found = compare(tmp_path, outcomes)
    assert found["states"] == {"failed": 4}
    assert [
        (item["axis"], item["label"], item["n_cells"], item["n_concluded"])
        for item in found["means"]
    ] == [
        ("seed", "1", 2, 0),
        ("seed", "2", 2, 0),
        ("people", "compensatory", 2, 0),
        ("people", "counting", 2, 0),
    ]
    page = write_comparison(tmp_path, "a <b>", outcomes).read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.long
def test_a_sweep_runs_survives_a_poisoned_cell_resumes_and_compares(tmp_path: Path) -> None:
    stuck = (
        "'Stuck: people never answer.'\n"
        'PARAMETERS = {"s": {"prior": "log_uniform", "low": 0.1, "high": 20.0, "unit": "1"}}\n'
        "def choose(parameters, trials, xp):\n    while True:\n        pass\n"
    )
    grid = (
        "[[grid.people]]\nlabel = 'compensatory'\n'participants.theory' = 'weighted_additive'\n"
        "[[grid.people]]\nlabel = 'poisoned'\n'participants.theory' = ''\n"
        f"'participants.program' = {json.dumps(stuck)}\n"
        "[[grid.people]]\nlabel = 'counting'\n'participants.theory' = 'tallying'\n"
    )
    file, runs = sweep_file(tmp_path, grid), tmp_path / "runs"
    words = [
        "sweep",
        str(file),
        "--runs",
        str(runs),
        "--engine",
        "none",
        "--parallel",
        "2",
        "--workers",
        "1",
    ]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, FlowError)
    assert "1 of 3 campaigns failed" in str(done.exception)
    assert "cannot be what people follow" in str(done.exception)
    found = json.loads((runs / "small" / "comparison.json").read_text())
    assert [row["state"] for row in found["cells"]] == ["concluded", "failed", "concluded"]
    assert found["cells"][0]["n_cycles"] == 1
    assert found["cells"][0]["error_to_truth"] >= 0
    _, cells = load_sweep(file)
    before = [look(runs / "small" / cell.name).seq for cell in cells]
    outcomes = run_sweep(runs / "small", [cells[0], cells[2]], workers=1)
    assert [item.state for item in outcomes] == ["concluded", "concluded"]
    assert [look(runs / "small" / cell.name).seq for cell in cells] == before
