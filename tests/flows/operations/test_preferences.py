"""A person compares two theories of a run, without knowing whose they are; what follows for ties."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakatos.flows.commands.main import app
from lakatos.flows.operations.preferences import (
    prefer,
    preferences,
    shown_pairs,
    taste_of,
    tied_by_taste,
)
from lakatos.flows.roles.remember import rebuild_library
from lakatos.judges.preference import TRUSTED


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "runs" / "small"))


def test_a_pair_shows_claims_and_predictions_and_not_who_wrote_them(run: Path) -> None:
    pair = shown_pairs(run, 1)[0]
    assert all(pair.claims)
    assert pair.claims[0] != pair.claims[1]
    gaps = [abs(trial.first - trial.second) for trial in pair.trials]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 0
    shown = json.dumps([pair.claims, [trial.words for trial in pair.trials]])
    assert not [word for word in ("grammar", "induction", "leader") if word in shown]


def test_a_choice_is_an_anchor_item_whatever_was_shown_first(run: Path) -> None:
    pairs = shown_pairs(run, 40)
    turned = {item.first: item for item in pairs}
    assert set(turned) == {"candidate", "incumbent"}  # the order is decided by lot
    prefer(run, turned["candidate"], "first")
    prefer(run, turned["incumbent"], "first")
    found = preferences(run.parent)
    assert [item.label for _, item in found] == [True, False]
    assert {item.strata["settled by"] for _, item in found} == {"a person"}
    assert "machine_written" not in shown_pairs(run, 1)[0].strata
    assert len(shown_pairs(run, 40)) == len(pairs) - 2  # each pair once
    assert rebuild_library(run.parent).lessons() is not None  # the desk's other records do no harm


def test_whoever_always_takes_the_first_decides_nothing(run: Path) -> None:
    for pair in shown_pairs(run, 40):
        prefer(run, pair, "first")
    taste = taste_of(run.parent)
    assert taste.wealth < TRUSTED
    told = CliRunner().invoke(app, ["judges", "prefer", str(run), "--pairs", "0"])
    assert "decides nothing" in told.output
    assert "plausible to you" not in told.output


def test_a_clear_taste_orders_what_is_tied(run: Path) -> None:
    taste = taste_of(run.parent)
    found = tied_by_taste(run, taste)
    assert sum(item.leads for item in found) == (1 if found else 0)
    assert all(item.plausibility == 0.5 for item in found)


def test_the_command_asks_and_refuses_other_answers(run: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(app, ["judges", "prefer", str(run), "--answer", "2"])
    assert done.exit_code == 0, done.output
    assert "1 choices" in done.output or "1 choice" in done.output
    asked = runner.invoke(app, ["judges", "prefer", str(run), "--pairs", "2"], input="s\n1\n")
    assert "which is more plausible" in asked.output
    assert len(preferences(run.parent)) == 2
    refused = runner.invoke(app, ["judges", "prefer", str(run), "--answer", "3"])
    assert refused.exit_code != 0
