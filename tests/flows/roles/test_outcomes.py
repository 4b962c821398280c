"""What models are credited with: new data where they decide, refusals at once, nothing while it is open."""

from __future__ import annotations

from typing import Any

import pytest

from lakatos.flows.roles.outcomes import outcomes_of
from lakatos.flows.run.state import RunState, advance
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.theories.discovery.roles.record import (
    CaseRead,
    CheckedStatement,
    ClaimAudited,
    RoleAnswered,
    SuccessorTried,
    TrialsProposed,
)
from lakatos.traces.digest import digest_of as d
from lakatos.traces.step import Recorded

LEADER = "2" * 64
WON, LOST, OPEN = ("a" * 64, "b" * 64, "c" * 64)
"""Candidates: what new data said of them."""


def known(**items: Any) -> RunState:
    """A state in which one candidate won, one lost, one is open; and these records, under their names as digests."""
    state = RunState()
    for candidate, favoured in ((WON, True), (LOST, False)):
        verdict = Verdict(
            epoch="1" * 64,
            candidate=candidate,
            incumbent=LEADER,
            cycle=1,
            probability=0.6,
            opinions={},
        )
        found = VerdictResolved(
            verdict=d(candidate), experiment="2.1", favoured=favoured, log_score=-0.5
        )
        state = advance(state, Recorded(verdict, d(candidate)))
        state = advance(state, Recorded(found, d(["data", candidate])))
    for digest, record in items.items():
        state = advance(state, Recorded(record, d(digest)))
    return state


def answer(role: str, model: str, calls: int = 1, outcome: str = "answered") -> RoleAnswered:
    return RoleAnswered(
        cycle=1,
        role=role,
        task=role,
        subject="s",
        prompt="0" * 64,
        rules="0" * 64,
        model=model,
        model_version="0" * 64,
        served="9" * 64,
        calls=("8" * 64,) * calls,
        outcome=outcome,
        reason="",
        answer="7" * 64 if outcome == "answered" else None,
    )


def tried(answered: str, fitted: str | None, lens: str = "leap") -> SuccessorTried:
    return SuccessorTried(
        cycle=1,
        lens=lens,
        attempt=0,
        answer=d(answered),
        model="large",
        outcome="submitted" if fitted else "refused",
        reason="",
        name="x",
        source="6" * 64,
        fitted=fitted,
        parents=(),
        change="",
        criterion=None,
        error=None,
    )


def found(state: RunState) -> list[tuple[str, str, bool, float, str]]:
    def spent(model: str, calls: Any) -> float:
        return 10.0 * len(calls) if model == "large" else 1.0

    return [
        (item.role, item.model, item.improved, item.cost, item.record)
        for item in outcomes_of(state, spent)
    ]


def test_revisers_are_credited_with_what_new_data_say_of_their_theories_and_with_refusals() -> None:
    state = known(
        one=answer("reviser", "large", 2),
        two=answer("reviser", "large", 2),
        three=answer("reviser", "small"),
        four=answer("reviser", "small"),
        t1=tried("one", WON),
        t2=tried("two", LOST),
        t3=tried("three", OPEN),
        t4=tried("four", None),
    )
    assert found(state) == [
        ("reviser", "large", True, 20.0, d(["data", WON])),
        ("reviser", "large", False, 20.0, d(["data", LOST])),
        ("reviser", "small", False, 1.0, d("t4")),
    ]
    assert {item.version for item in outcomes_of(state, lambda model, calls: 1.0)} == {"9" * 64}


@pytest.mark.parametrize(
    ("outcome", "credited"),
    [
        ("wrong_form", True),
        ("truncated", True),
        ("refused", True),
        ("no_answer", False),
        ("out_of_budget", False),
    ],
)
def test_an_answer_that_cannot_be_read_is_a_cost_and_one_that_never_came_is_not(
    outcome: str, credited: bool
) -> None:
    state = known(one=answer("judge", "small", outcome=outcome))
    assert found(state) == ([("judge", "small", False, 1.0, d("one"))] if credited else [])


def case(supported: bool, task: str = "arbiter") -> CaseRead:
    said = CheckedStatement(text="x", cites=(), supported=supported, problems=())
    return CaseRead(
        cycle=1,
        answer=d("one"),
        task=task,
        theory=LEADER,
        statements=(said,),
        hypothesis="",
        change="",
    )


@pytest.mark.parametrize(
    ("supported", "fitted", "improved"),
    [
        (False, [WON], False),
        (True, [WON, LOST], True),
        (True, [WON, OPEN], True),
        (True, [LOST], False),
        (True, [LOST, OPEN], None),
        (True, [], None),
    ],
)
def test_an_arbiter_is_credited_with_the_successors_written_on_its_reading(
    supported: bool, fitted: list[str], improved: bool | None
) -> None:
    lenses = ("leap", "mechanism")
    successors = {
        f"t{place}": tried("two", item, lens)
        for place, (item, lens) in enumerate(zip(fitted, lenses, strict=False))
    }
    state = known(
        one=answer("arbiter", "small"),
        two=answer("reviser", "large"),
        case=case(supported),
        **successors,
    )
    own = [item for item in found(state) if item[0] == "arbiter"]
    assert own == ([] if improved is None else [("arbiter", "small", improved, 1.0, d("case"))])


def test_the_losers_case_is_credited_with_the_lens_that_it_was_made_for() -> None:
    state = known(
        one=answer("advocate", "small"),
        two=answer("reviser", "large"),
        case=case(True, "steelman"),
        t1=tried("two", LOST, "steelman"),
        t2=tried("two", WON, "leap"),
    )
    assert [item for item in found(state) if item[0] == "advocate"] == [
        ("advocate", "small", False, 1.0, d("case"))
    ]


@pytest.mark.parametrize("passed", [True, False])
def test_proposed_trials_count_as_far_as_simulation_bears_them_out(passed: bool) -> None:
    trials = TrialsProposed(
        cycle=1,
        number=1,
        answer=d("one"),
        theory=WON,
        rival=LOST,
        trials="5" * 64,
        n_trials=2,
        power=0.9,
        power_of_rival=0.9,
        passed=passed,
        reason="",
    )
    assert found(known(one=answer("advocate", "large"), trials=trials)) == [
        ("advocate", "large", passed, 10.0, d("trials"))
    ]


def test_an_auditor_counts_when_what_it_reads_can_be_tried() -> None:
    audited = ClaimAudited(
        cycle=1,
        answer=d("one"),
        theory=WON,
        held=(),
        contradicted=("x",),
        not_tried=("y",),
        unclear="",
    )
    useless = audited.model_copy(update={"answer": d("two"), "contradicted": ()})
    state = known(
        one=answer("auditor", "small"), two=answer("auditor", "small"), a=audited, b=useless
    )
    assert [item[2] for item in found(state)] == [True, False]
