"""A campaign ends once its leader cannot be told from the truth, and says why."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.run.run import read_state
from lakatos.flows.start import run_study
from lakatos.theories.findings.verdicts.record import ExactnessWeighed

sys.path.insert(0, str(Path(__file__).parents[1]))
from small import QUICK, small_study

CYCLES = 3


@pytest.mark.long
def test_a_leader_that_is_the_truth_ends_the_campaign_without_another_search(
    tmp_path: Path,
) -> None:
    """Two of the seeds are wrong, one is the hidden rule, and nothing else is tried; the last cycle has no search."""
    theories = {"seeds": ["take_the_best", "tallying", "weighted_additive"], "candidates": 0}
    study = small_study(
        design={**QUICK["design"], "participants": 60, "trials": 16},
        theories={**QUICK["theories"], **theories, "draws": 128},
        stop={"cycles": CYCLES, "least_cycles": CYCLES, "exact": 0.02},
    )
    folder = tmp_path / "right"
    run_study(study, folder, n_workers=1)
    state, trace = read_state(folder)
    with trace:
        weighed = [item.record for item in trace.records(ExactnessWeighed)]
    last = weighed[-1]
    assert last.exact
    assert last.experiments[-1] == list(state.experiments.collected)[-1]
    assert last.error + 2 * last.standard_error < last.allowed
    assert len(state.campaign.cycles) == last.cycle < CYCLES
    assert state.campaign.cycles[-1].record.stop == last.text
    assert len(state.theories.searches) == last.cycle - 1
    assert state.campaign.concluded is not None
    assert state.campaign.concluded.record.stop == last.text
    assert audit(folder, recompute=True).passed
