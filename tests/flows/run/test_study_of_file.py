"""A run on a file can be audited and branched, although its first record says nothing of the form of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lakatos
from benchmarks.forms.data_sets import KINDS, domain_of
from lakatos.flows.audit.audit import audit
from lakatos.flows.branches.branch import branch, parse_edit
from lakatos.flows.report.methods import methods_paragraph
from lakatos.flows.report.reader import open_reading
from lakatos.flows.run.run import open_run, read_state


@pytest.mark.slow
def test_a_run_on_a_file_is_audited_without_the_file_and_branched_with_its_names(
    tmp_path: Path,
) -> None:
    kind = "declared: fairness"
    file = tmp_path / "shares.csv"
    KINDS[kind].draw(domain_of(kind), np.random.default_rng(1)).frame.to_csv(file, index=False)
    small = {"theories": {"candidates": 2}, "validation": {"comparison_models": False}}
    outcome = lakatos.explain(
        file, KINDS[kind].domain, cycles=1, change=small, runs=tmp_path / "runs", n_workers=1
    )
    file.unlink()
    with open_reading(outcome.folder) as reading:
        methods = methods_paragraph(reading)
    assert (
        "They had been collected before this study and were released to the theories in 1 part."
        in methods
    )
    assert "in 1 experiment" not in methods
    found = audit(outcome.folder, n_workers=1)
    assert found.outcome == "passes", [item for item in found.findings if not item.ok]
    state, trace = read_state(outcome.folder)
    trace.close()
    assert state.campaign.config is not None
    assert state.campaign.started is not None
    assert state.campaign.started.record.config["name"] == "answers"
    assert state.campaign.config.name == "shares"
    columns = state.campaign.config.participants.columns
    assert columns is not None
    assert columns.participant == "subject"
    edit = parse_edit("config.stop.cycles=2")
    branch(outcome.folder, tmp_path / "branch", "1", edit=edit)
    with open_run(tmp_path / "branch", n_workers=1) as run:
        assert run.config.stop.cycles == 2
        assert run.config.name == "shares"
        assert run.config.participants.columns == columns
        assert run.source.n_answers > 0
