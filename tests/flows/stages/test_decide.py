"""Decisions about candidates in a campaign: explained, acted upon, and made again from what they cite."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.run.run import read_state
from lakatos.flows.run.state import RunState, advance
from lakatos.flows.stages.judging.decide import RECOVERY, RECOVERY_COST, refined, refining
from lakatos.flows.start import run_study
from lakatos.judges.critic import (
    CriticProfile,
    CriticsHeard,
    fit_critic,
    judge_critic,
    learn,
    recovery_critic,
)
from lakatos.judges.decision import PAYOFFS, REFINE, VERIFY, CandidateDecided, decide
from lakatos.judges.judge import VerdictResolved
from lakatos.theories.record import TheoryChecked
from lakatos.traces.digest import digest_of
from lakatos.traces.journal import INTENT
from lakatos.traces.record import Record, body_of
from lakatos.traces.step import Recorded

sys.path.insert(0, str(Path(__file__).parent))
from small import MANY_SIDED, small_study

FROM_SEEDS = 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "decided"
    study = small_study(stop={"cycles": 3, "least_cycles": 3}, participants=MANY_SIDED)
    run_study(study, folder, n_workers=1)
    return folder


@pytest.mark.long
def test_every_verdict_is_followed_by_a_decision_that_says_why(finished: Path) -> None:
    state, trace = read_state(finished)
    trace.close()
    assert state.judging.verdicts
    assert {item.record.verdict for item in state.judging.decided.values()} == set(
        state.judging.verdicts
    )
    for candidate, item in state.judging.decided.items():
        record = item.record
        assert record.candidate == candidate
        assert 0 < record.belief < 1
        assert {"quit", VERIFY} <= set(record.values)
        assert record.text.startswith(f"{record.action}: ")
        assert RECOVERY in record.heard
        assert len(record.heard) == len(record.critics)


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
def test_the_best_that_answers_do_not_speak_against_have_a_place_in_the_next_experiment(
    finished: Path,
) -> None:
    state, trace = read_state(finished)
    trace.close()
    assert state.campaign.config is not None
    most = state.campaign.config.theories.rivals - 1
    for search in state.theories.searches:
        criteria = {item.source: item.criterion for item in search.record.submissions}
        judged = [
            item.record
            for item in state.judging.decided.values()
            if item.record.cycle == search.record.cycle
        ]
        judged.sort(key=lambda record: -criteria[record.candidate])
        assert {record.action for record in judged[:most] if record.heard["fit"] > 0} <= {
            VERIFY
        }  # 0 is behind
        assert sum(record.rule == "place" for record in judged) <= most


@pytest.mark.slow
def test_a_decision_comes_out_again_from_the_records_that_it_cites(finished: Path) -> None:
    state, trace = read_state(finished)
    with trace:
        events = {
            event.record_digest: event for event in trace.journal.events() if event.kind != INTENT
        }
        n_past = []
        for item in state.judging.decided.values():
            record = item.record
            cited = [
                trace.read(events[digest])
                for digest in events[item.digest].inputs
                if digest in events
            ]
            before = {
                known.record.verdict: known.record
                for known in cited
                if isinstance(known.record, CandidateDecided)
                and known.record.candidate != record.candidate
            }
            past = [
                CriticsHeard(
                    before[known.record.verdict].family,
                    before[known.record.verdict].heard,
                    before[known.record.verdict].critics,
                    known.record.favoured,
                    known.digest,
                )
                for known in cited
                if isinstance(known.record, VerdictResolved)
            ]
            critics = [critic_of(name, version) for name, version in record.critics.items()]
            learned = learn(past, critics, record.family)
            assert learned.digest == record.tables
            seen = tuple(record.heard.get(critic.name) for critic in critics)
            payoffs = replace(PAYOFFS, mends=record.mends, breaks=record.breaks)
            again = decide(payoffs, learned, seen, np.random.default_rng(0), forced=0)
            assert again.values == pytest.approx(record.values)
            assert record.rule in ("forced", "place") or again.action == record.action
            n_past.append(len(past))
    assert max(n_past) > 0, "no decision rested on an earlier outcome"


def critic_of(name: str, version: str) -> CriticProfile:
    """The critic that a record names; only its tables' start and its cost matter."""
    if name == RECOVERY:
        critic = recovery_critic(RECOVERY_COST, {})
        return CriticProfile(name, version, critic.levels, critic.cost)
    return fit_critic() if name == "fit" else judge_critic(name, version)


def fold(*records: Record) -> RunState:
    state = RunState()
    for record in records:
        state = advance(state, Recorded(record, digest_of(body_of(record))))
    return state


def checked(theory: str, *parents: str) -> TheoryChecked:
    return TheoryChecked(
        theory=theory, passed=True, name=theory[:4], claim="", author="x", parents=parents, change="", cycle=1,
        n_parameters=1, checks=(), reason="",
    )  # fmt: skip


def decision(theory: str, action: str, cycle: int) -> CandidateDecided:
    return CandidateDecided(
        verdict=digest_of(["verdict", theory]), candidate=theory, incumbent=LEADER, cycle=cycle, family="risky",
        critics={}, heard={}, mends=0.5, breaks=0.5, tables=LEADER, n_lost=0, n_won=0, belief=0.5, action=action,
        values={}, rule="plan", text="",
    )  # fmt: skip


def settled(theory: str, favoured: bool) -> VerdictResolved:
    return VerdictResolved(
        verdict=digest_of(["verdict", theory]), experiment="e", favoured=favoured, log_score=-0.5
    )


LEADER, FIRST, SECOND, THIRD = (digest_of(name) for name in ("leader", "first", "second", "third"))


def test_what_refining_mends_and_breaks_is_counted_over_settled_pairs_of_parent_and_successor() -> (
    None
):
    records = [checked(FIRST), checked(SECOND, FIRST, LEADER), checked(THIRD, SECOND)]
    records += [decision(FIRST, "quit", 1), decision(SECOND, VERIFY, 2), decision(THIRD, "quit", 3)]
    assert refining(fold(*records)) == (1 / 2, 1 / 2)
    # The first lost and its successor won; the second won and its successor lost.
    outcomes = [settled(FIRST, False), settled(SECOND, True), settled(THIRD, False)]
    assert refining(fold(*records, *outcomes)) == (2 / 3, 2 / 3)
    assert refining(fold(*records, *outcomes[:2])) == (2 / 3, 1 / 2)


def test_the_next_search_begins_from_what_was_to_be_refined_in_the_last_cycle() -> None:
    records = [
        checked(FIRST),
        checked(SECOND),
        decision(FIRST, REFINE, 1),
        decision(SECOND, REFINE, 2),
    ]
    state = fold(*records, decision(THIRD, REFINE, 2))
    assert [item.record.candidate for item in refined(state, 1)] == [FIRST]
    # A theory that failed since is no start.
    assert [item.record.candidate for item in refined(state, 2)] == [SECOND]


@pytest.mark.long
def test_the_audit_finds_nothing_amiss(finished: Path) -> None:
    assert audit(finished).passed
