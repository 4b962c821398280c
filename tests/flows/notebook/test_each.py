"""Theories fitted to each person alone, from a table of answers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.commands.main import app

sys.path.insert(0, str(Path(__file__).parent))
from test_groups import N_EACH, two_groups


def test_the_rule_that_people_follow_has_the_lowest_bic_and_the_second_half_is_foretold() -> None:
    table = two_groups(0.1)
    found = lakatos.fit_each(table, ["hyperbolic", "random"], halves=True)
    assert list(found.theory) == ["hyperbolic", "random"]
    assert (found.people == 2 * N_EACH).all()
    assert found.behind[0] == 0
    assert found.behind_low[1] > 0
    assert found.second_half[0] > 0.5
    with pytest.raises(TrialsError, match="single answer"):
        lakatos.fit_each(table.drop_duplicates("subject"), ["hyperbolic"], halves=True)


def test_the_command_writes_the_same_table(tmp_path) -> None:
    two_groups(0.1).query("subject in ['p0', 'p1', 'p2']").to_csv(tmp_path / "a.csv", index=False)
    out = tmp_path / "fits.csv"
    told = CliRunner().invoke(
        app, ["theory", "each", str(tmp_path / "a.csv"), "hyperbolic", "--out", str(out)]
    )
    assert told.exit_code == 0, told.output
    header, line = out.read_text().splitlines()
    assert header.startswith("theory,people,parameters,bic")
    assert line.startswith("hyperbolic,3,")
