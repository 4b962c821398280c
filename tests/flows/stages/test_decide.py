"""Decisions about candidates in a campaign: explained, acted upon, and made again from what they cite."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lakatos.flows.run.run import read_state
from lakatos.flows.start import run_study
from lakatos.judges.decision import COST, VERIFY, decide

sys.path.insert(0, str(Path(__file__).parent))
from small import MANY_SIDED, small_study

FROM_SEEDS = 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "decided"
    study = small_study(stop={"cycles": 3, "least_cycles": 3}, participants=MANY_SIDED)
    run_study(study, folder, n_workers=1)
    return folder


@pytest.mark.slow
def test_every_verdict_is_followed_by_a_decision_that_comes_out_again_from_it(
    finished: Path,
) -> None:
    state, trace = read_state(finished)
    trace.close()
    assert state.judging.verdicts
    assert {item.record.verdict for item in state.judging.decided.values()} == set(
        state.judging.verdicts
    )
    for candidate, item in state.judging.decided.items():
        record = item.record
        assert record.candidate == candidate
        verdict = state.judging.verdicts[record.verdict].record
        assert decide(verdict, record.verdict, COST, has_place=record.rule == "place") == record


@pytest.mark.slow
def test_only_what_is_worth_asking_people_about_enters_the_pool(finished: Path) -> None:
    state, trace = read_state(finished)
    trace.close()
    entered = {name for name, item in state.theories.pool.items() if item.record.cycle > FROM_SEEDS}
    worth = {name for name, item in state.judging.decided.items() if item.record.action == VERIFY}
    assert entered <= worth
    twins = worth - entered
    assert len(twins) < len(worth)


@pytest.mark.slow
def test_no_more_have_a_place_than_the_next_experiment_compares_anyway(finished: Path) -> None:
    state, trace = read_state(finished)
    trace.close()
    assert state.campaign.config is not None
    most = state.campaign.config.theories.rivals - 1
    for search in state.theories.searches:
        cycle = search.record.cycle
        judged = [
            item.record for item in state.judging.decided.values() if item.record.cycle == cycle
        ]
        assert sum(record.rule == "place" for record in judged) <= most
