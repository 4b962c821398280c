"""After the verdict the leader's population is estimated again, from all responses; the verdict's own stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.notebook.study import StudyOutcome
from lakatos.flows.operations.transfer import find_travelling
from lakatos.flows.report.reader import open_reading
from lakatos.flows.run.evidence import form_of
from lakatos.flows.run.run import open_run, read_state
from lakatos.flows.start import run_study
from lakatos.theories.language.prior import learned_ends
from tests.flows.test_folds import study


@pytest.fixture(scope="module", name="sealed")
def run_with_sealed_responses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "sealed"
    run_study(study(comparison_models=False, sealed_share=0.25), folder, n_workers=1)
    return folder


def test_the_leaders_population_is_learned_from_open_and_sealed_responses(sealed: Path) -> None:
    state, trace = read_state(sealed)
    trace.close()
    with open_run(sealed, n_workers=1) as run:
        again = state.theories.relearned
        assert again is not None
        leader = again.record.theory
        assert leader == state.campaign.concluded.record.leader
        opened = state.experiments.sealed.record.trials
        tables = [item.record.trials for item in state.experiments.collected.values()]
        assert again.record.trials == (*tables, *opened)
        trials = [run.trials_of(digest) for digest in again.record.trials]
        form = form_of(run.trace.artifacts, state, leader)
        (learned,) = run.laboratory.people_of([form], [{}], trials)
        assert again.record.people == learned_ends(learned)
        assert again.record.people != state.theories.fits[leader].record.people


def test_whoever_takes_the_theory_gets_it_and_the_report_keeps_that_of_the_verdict(
    sealed: Path,
) -> None:
    state, trace = read_state(sealed)
    trace.close()
    again, leader = state.theories.relearned.record, state.campaign.concluded.record.leader
    taken = StudyOutcome(sealed).theory().theory
    assert learned_ends(taken.priors) == again.people
    travelling = find_travelling(str(sealed), sealed.parent)
    assert learned_ends(travelling.theory.priors) == again.people
    assert "sealed ones included" in travelling.origin
    with open_reading(sealed) as reading:
        told = reading.theory(leader)
    assert learned_ends(told.priors) == state.theories.fits[leader].record.people


@pytest.mark.slow
def test_an_audit_computes_it_again(sealed: Path) -> None:
    found = audit(sealed, recompute="all")
    assert found.passed, found.findings


@pytest.mark.slow
def test_without_sealed_responses_the_population_stays_that_of_the_verdict(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    run_study(study(comparison_models=False), folder, n_workers=1)
    state, trace = read_state(folder)
    trace.close()
    assert state.theories.relearned is None
