"""Checks of theories as records."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from lakatos.domains import FAMILIES
from lakatos.flows.report.reader import RunReading
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import create_run, started
from lakatos.flows.stages.check import seed_pool
from lakatos.traces.step import Trace

sys.path.insert(0, str(Path(__file__).parent.parent))
from small import form, small_study


def check_seeds(folder: Path) -> frozenset[str]:
    """Begin a run and check its seeds; returns the layers that were noted."""
    with create_run(small_study(), folder, n_workers=1) as run:
        run.record(started(run.config), name="start")
        asyncio.run(seed_pool(run))
        state = run.state
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return frozenset(RunReading(folder, state, trace).layers)


@pytest.mark.slow
def test_a_run_is_the_same_on_machines_with_other_sandbox_layers_which_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require
) -> None:
    require(shutil.which("bwrap"), "bubblewrap is not installed")
    full = check_seeds(tmp_path / "full")
    require("bwrap" in full, "bubblewrap does not work on this machine")
    places = os.environ["PATH"].split(os.pathsep)
    others = [place for place in places if not (Path(place) / "bwrap").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(others))
    lesser = check_seeds(tmp_path / "lesser")
    assert lesser < full
    assert form(tmp_path / "lesser") == form(tmp_path / "full")


@pytest.mark.slow
def test_two_theories_of_a_run_are_never_called_alike(tmp_path: Path) -> None:
    family = FAMILIES["multiattribute"]
    published = (family.seeds[name][1] for name in ("weighted_additive", "equal_weights"))
    programs = [family.grammar.write(form, "Adding") for form in published]
    study = small_study(theories__seeds=["tallying", "minimalist"], theories__programs=programs)
    with create_run(study, tmp_path / "run", n_workers=1) as run:
        run.record(started(run.config), name="start")
        asyncio.run(seed_pool(run))
        names = [item.record.name for item in run.state.theories.checked.values()]
        assert [run.form(digest).name for digest in run.state.theories.checked] == names
    assert names[2:] == ["Adding", "Adding with equal weight"]
