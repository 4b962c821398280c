"""Every command that reads a file prints the same table of the rows that are left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.flows.commands.main import app

WHERE = ("--column", "where.phase=main")
TABLE = (
    "rows left out rows participants conditions",
    "phase is not main 12 (2, 23, 44 and 9 more) 12 (p0: 1, p1: 1, p10: 1, ...) condition high: 12, low: 0",
    "choice is empty 5 (45, 46, 47 and 2 more) 1 (p2: 5) condition high: 2, low: 3",
    "all 17 of 252 12 of 12 condition high: 14 of 132, low: 3 of 120",
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Responses of twelve participants in two conditions, with a row of practice each; one missed five trials."""
    rng = np.random.default_rng(4)
    rows = [
        {
            "person": f"p{person}",
            "phase": "practice" if trial == 0 else "main",
            "condition": ("high", "low")[trial % 2],
            "ss_amount": 5,
            "ll_amount": 6 + trial,
            "ss_delay": 0,
            "ll_delay": 10 + 7 * (trial % 4),
            "choice": "" if person == 2 and 1 <= trial < 6 else int(rng.random() < (1 + trial) / 22),
        }
        for person in range(12)
        for trial in range(21)
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("gaps") / "answers.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def table_in(text: str) -> tuple[str, ...]:
    """The lines of the table in what a command prints, with single spaces."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    start = lines.index(TABLE[0])
    return tuple(lines[start : start + len(TABLE)])


@pytest.mark.parametrize(
    "command",
    [
        "data describe FILE",
        "new STUDY --data FILE",
        "theory score FILE random",
        "theory fit random FILE",
        "theory fit hyperbolic FILE --each",
        "theory effects FILE hyperbolic --by condition",
        "theory predict random TRIALS --fit FILE",
        pytest.param("transfer random --to FILE --draws 16 --out FOLDER", marks=pytest.mark.slow),
    ],
)
def test_a_command_that_reads_a_file_prints_the_table(
    command: str, file: Path, tmp_path: Path
) -> None:
    trials = tmp_path / "trials.csv"
    pd.read_csv(file).head(3).drop(columns=["choice", "person"]).to_csv(trials, index=False)
    places = {"FILE": file, "STUDY": tmp_path / "s.toml", "TRIALS": trials, "FOLDER": tmp_path}
    words = [str(places.get(word, word)) for word in command.split()]
    found = CliRunner().invoke(app, [*words, *WHERE], env={"COLUMNS": "200"})
    assert found.exit_code == 0, (found.output, found.exception)
    shown = found.stdout if words[0] in ("data", "new") else found.stderr
    assert table_in(shown) == TABLE
    assert shown.count("choice is empty") == 1


def test_a_run_of_a_study_prints_the_table_before_it_begins(file: Path, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    runner = CliRunner()
    runner.invoke(app, ["new", str(study), "--data", str(file), *WHERE])
    (tmp_path / "runs" / "taken").mkdir(parents=True)
    (tmp_path / "runs" / "taken" / "note.txt").write_text("not a run")
    words = ["run", str(study), "--engine", "none", "--name", "taken"]
    found = runner.invoke(app, [*words, "--runs", str(tmp_path / "runs")], env={"COLUMNS": "200"})
    assert found.exit_code != 0  # the name is taken
    assert table_in(found.stdout) == TABLE


def test_functions_of_the_notebook_have_the_table(file: Path) -> None:
    columns = {"where": {"phase": "main"}}
    answers = lakatos.adopt(file, columns=columns)
    assert table_in(repr(answers)) == TABLE
    assert (
        table_in("\n".join(lakatos.score(answers, "random", n_workers=1).attrs["notes"])) == TABLE
    )


def test_a_run_keeps_the_kinds_of_rows_without_names_of_participants() -> None:
    rows = pd.DataFrame({"who": ["ann", "ann", "bob"], "group": ["x", "x", "y"]}, index=[2, 3, 5])
    left_out = RowsLeftOut()
    left_out.add("choice is empty", rows, rows.index.to_numpy())
    read = pd.DataFrame({"who": ["cyd"] * 9, "group": ["y"] * 9})
    table = left_out.table(read, AnswerColumns(participant="who"))
    assert table.sentences() == (
        "3 rows are left out: choice is empty (rows 2, 3 and 5)",
        "rows left out by group: x 2 of 2, y 1 of 10",
    )
    last = " ".join(table.lines()[-1].split())
    assert last == "all 3 of 12 2 of 3 group x: 2 of 2, y: 1 of 10"
    assert RowsLeftOut().table(read, AnswerColumns(participant="who")).lines() == ()
