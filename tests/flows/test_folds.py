from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lakatos.domains.published_data import load_archive
from lakatos.flows.audit.audit import audit
from lakatos.flows.campaign import fold_rows, study_of_fold
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.start import resume_run, run_study
from lakatos.traces.step import JOURNAL_FILE


def study(**validation: object) -> CampaignConfig:
    return parse_study(
        {
            "name": "small-allais",
            "question": "What do the published percentages say?",
            "domain": "risky",
            "theories": {
                "seeds": ["expected_value", "expected_utility"],
                "candidates": 6,
                "draws": 64,
                "rivals": 2,
            },
            "design": {"trials": 6, "refused": "cover"},
            "participants": {"source": "archival", "archive": "allais"},
            "stop": {"cycles": 1, "least_cycles": 1},
            "validation": validation,
        },
        "small-allais",
    )


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "folded"
    run_study(study(folds=3, sealed_share=0.2), folder, n_workers=1)
    return folder


def test_folds_are_a_partition_into_equal_parts() -> None:
    keys = [bytes([number]) for number in range(16)]
    folds = fold_rows(keys, 3, seed=1)
    assert sorted(row for rows in folds for row in rows) == list(range(16))
    assert {len(rows) for rows in folds} == {5, 6}
    assert folds == fold_rows(keys, 3, seed=1)
    assert folds != fold_rows(keys, 3, seed=2)


def test_mirror_images_come_into_the_same_fold() -> None:
    folds = fold_rows([b"a", b"b", b"c", b"a", b"d", b"b"], 2, seed=1)
    assert any({0, 3} <= set(rows) for rows in folds)
    assert any({1, 5} <= set(rows) for rows in folds)


def test_a_fold_takes_no_winner_which_may_have_been_found_on_its_sealed_trials() -> None:
    whole = study(folds=3, sealed_share=0.2)
    assert whole.memory.winners
    own = study_of_fold(whole, 1)
    assert not own.memory.winners
    assert (own.name, own.seed) == ("small-allais-fold-2", 1002)
    assert (own.validation.folds, own.validation.sealed_share) == (0, 0.0)


@pytest.mark.slow
def test_every_fold_is_a_campaign_that_never_saw_its_own_trials(folded: Path) -> None:
    state, trace = read_state(folded)
    trace.close()
    assert len(state.campaign.folds) == 3
    (archive,) = load_archive("allais", Path("nowhere"))
    for item in state.campaign.folds:
        fold = item.record
        own, inner = read_state(folded / fold.run)
        with inner:
            seen = {
                key
                for collected in own.experiments.collected.values()
                for key in _stimuli(inner, collected.record.trials).keys
            }
        assert own.campaign.concluded is not None
        sealed = {archive.stimuli.keys[row] for row in fold.rows}
        assert seen
        assert not seen & sealed


@pytest.mark.slow
def test_the_cross_validated_error_is_that_of_the_predictions_of_all_folds(folded: Path) -> None:
    state, trace = read_state(folded)
    trace.close()
    assert state.campaign.concluded is not None
    lines = {line.name: line for line in state.campaign.concluded.record.cross_validated}
    assert {"leader", "expected_value", "expected_utility"} <= set(lines)
    observed = np.concatenate([item.record.observed for item in state.campaign.folds])
    predicted = np.concatenate([item.record.predicted for item in state.campaign.folds])
    assert lines["leader"].error == pytest.approx(np.mean((observed - predicted) ** 2))
    assert len(observed) == 16


@pytest.mark.slow
def test_the_audit_goes_into_the_folds(folded: Path) -> None:
    found = audit(folded, n_workers=1)
    assert found.passed
    assert [finding.name for finding in found.findings if finding.name.startswith("fold")] == [
        "fold 1", "fold 2", "fold 3",
    ]  # fmt: skip
    journal = folded / "folds" / "02" / JOURNAL_FILE
    whole = journal.read_bytes()
    try:
        journal.write_bytes(whole.replace(b"theory_scored", b"theory_scoreD", 1))
        assert not audit(folded, n_workers=1).passed
    finally:
        journal.write_bytes(whole)


@pytest.mark.slow
def test_resuming_a_folded_run_returns_its_verdict(folded: Path) -> None:
    state, trace = read_state(folded)
    trace.close()
    assert state.campaign.concluded is not None
    assert resume_run(folded) == state.campaign.concluded.record


@pytest.mark.slow
def test_sealed_answers_are_opened_after_the_last_cycle_only(folded: Path) -> None:
    state, trace = read_state(folded)
    with trace:
        kinds = [event.kind for event in trace.journal.events()]
        assert state.experiments.sealed is not None
        seen = {
            key
            for item in state.experiments.collected.values()
            for key in _stimuli(trace, item.record.trials).keys
        }
        sealed = {
            key
            for digest in state.experiments.sealed.record.trials
            for key in _stimuli(trace, digest).keys
        }
    assert kinds.index("sealed_opened") > max(
        place for place, kind in enumerate(kinds) if kind == "cycle_closed"
    )
    assert not seen & sealed


def _stimuli(trace, artifact):  # type: ignore[no-untyped-def]
    from lakatos.experiments.task import Trials

    return Trials.from_json(trace.artifacts.get_json(artifact)).stimuli
