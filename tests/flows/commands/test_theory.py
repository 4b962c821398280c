"""The commands that ask about people's answers take a run in their place."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import lakatos
from lakatos.flows.commands.main import app
from tests.flows.notebook.conftest import people as people_of_one_group

people = people_of_one_group


@pytest.fixture(scope="module")
def outcome(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> lakatos.StudyOutcome:
    """A run on answers of people of two groups."""
    folder = tmp_path_factory.mktemp("asked")
    twins = people.assign(subject=people["subject"] + "b")
    everybody = pd.concat([people.assign(group="young"), twins.assign(group="old")])
    everybody.to_csv(folder / "answers.csv", index=False)
    return lakatos.explain(
        folder / "answers.csv",
        columns={"attributes": ["group"]},
        cycles=1,
        change={"theories": {"candidates": 2}, "validation": {"comparison_models": False}},
        runs=folder / "runs",
        n_workers=1,
    )


def ask(*arguments: str | Path) -> Result:
    """What a command prints."""
    return CliRunner().invoke(app, ["theory", *map(str, arguments)], env={"COLUMNS": "200"})


@pytest.mark.slow
def test_groups_and_effects_of_a_run_are_asked_of_its_leader(outcome: lakatos.StudyOutcome) -> None:
    leader = outcome.theory()
    for command in ("groups", "effects"):
        found = ask(command, outcome.folder, "--by", "group")
        assert found.exit_code == 0, found.output
        assert leader.name in found.output
        others = [name for name in outcome.leaderboard["theory"] if name != leader.name]
        assert not any(f"{name} " in found.output for name in others)


@pytest.mark.slow
def test_theories_of_a_run_and_published_ones_are_scored_on_its_answers(
    outcome: lakatos.StudyOutcome,
) -> None:
    digest = outcome.leaderboard["digest"][1]
    found = ask("score", outcome.folder, digest, "random")
    assert found.exit_code == 0, found.output
    assert outcome.theory(digest).name in found.output
    assert "random" in found.output


@pytest.mark.slow
def test_what_a_run_cannot_be_asked_is_refused(outcome: lakatos.StudyOutcome) -> None:
    for arguments, said in (
        (("score", outcome.folder, "no_such_theory"), "no theory of the run is called 'no_such_th"),
        (
            ("score", outcome.folder, outcome.theory().name[:-1]),
            f"did you mean {outcome.theory().name!r}",
        ),
        (("groups", outcome.folder, "--by", "height"), "height"),
        (
            ("groups", outcome.folder, "--by", "group", "--domain", "learning"),
            "Leave domain out, or name",
        ),
    ):
        found = ask(*arguments)
        assert found.exit_code != 0
        assert said in str(found.exception)


@pytest.mark.slow
def test_a_run_is_asked_by_its_name_too(outcome: lakatos.StudyOutcome) -> None:
    runs = outcome.folder.parent
    by_path, by_name = (
        ask("fit", outcome.theory().name, run, "--runs", runs)
        for run in (outcome.folder, outcome.folder.name)
    )
    assert by_name.exit_code == 0, by_name.output
    assert by_name.output == by_path.output
    for command in ("groups", "effects"):
        found = ask(command, f"{outcome.folder.name}x", "--by", "group", "--runs", runs)
        assert f"did you mean '{outcome.folder.name}'?" in str(found.exception)


@pytest.mark.slow
def test_a_theory_is_fitted_to_the_answers_of_a_run_to_predict_others(
    outcome: lakatos.StudyOutcome, people: pd.DataFrame, tmp_path: Path
) -> None:
    trials, renamed = tmp_path / "trials.csv", tmp_path / "renamed.csv"
    people.head(3).to_csv(trials, index=False)
    people.head(3).rename(columns={"ll_delay": "wait"}).to_csv(renamed, index=False)
    usual = ask("predict", "hyperbolic", trials, "--fit", outcome.folder)
    assert usual.exit_code == 0, (usual.output, usual.exception)
    assert len(usual.output.strip().splitlines()) == 4
    said = ("amounts=['ss_amount', 'll_amount']", "delays_days=['ss_delay', 'wait']")
    meant = [part for item in said for part in ("--column", item)]
    other = ask("predict", "hyperbolic", renamed, "--fit", outcome.folder, *meant)
    assert other.exit_code == 0, (other.output, other.exception)
    assert other.output.splitlines()[1:] == usual.output.splitlines()[1:]


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers of twelve people at two doses, of whom those at the higher one left out five answers."""
    rows = [
        {
            "person": f"p{person}",
            "dose": 10 * (1 + person % 2),
            "ss_amount": 5,
            "ll_amount": 6 + trial,
            "ss_delay": 0,
            "ll_delay": 10 + 7 * (trial % 4),
            "choice": "" if person == 1 and trial < 5 else int((trial + person) % 3 > 0),
        }
        for person in range(12)
        for trial in range(12)
    ]
    file = tmp_path_factory.mktemp("gaps") / "answers.csv"
    pd.DataFrame(rows).to_csv(file, index=False)
    return file


def test_a_table_of_what_was_left_out_stands_beside_the_result_not_in_it(gaps: Path) -> None:
    found = ask("groups", gaps, "hyperbolic", "--by", "dose")
    assert found.exit_code == 0, (found.output, found.exception)
    assert "choice is empty  5 (14, 15, 16 and 2 more)" in found.stderr
    assert "dose 10: 0 of 72, 20: 5 of 72" in found.stderr
    assert "left out" not in found.stdout


@pytest.mark.parametrize("command", ["groups", "effects"])
def test_a_column_that_is_not_known_by_its_name_divides_people_or_changes_numbers(
    command: str, gaps: Path
) -> None:
    found = ask(command, gaps, "hyperbolic", "--by", "dose")
    assert found.exit_code == 0, (found.output, found.exception)
    wrong = ask(command, gaps, "hyperbolic", "--by", "dos")
    assert "there is no column 'dos'; did you mean 'dose'?" in str(wrong.exception)
