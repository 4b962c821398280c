"""Costs, budgets, rates: closed forms, and properties under any order of events."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.language_models.client import ChatMessage, ModelRequest, TokenSampling, TokenUsage
from lakatos.language_models.errors import BudgetExhaustedError
from lakatos.language_models.ledger import (
    Budget,
    BudgetLedger,
    BudgetSpending,
    SpentAmount,
    cost,
    most_prompt_tokens,
    spend,
    worst_case,
)
from lakatos.language_models.settings import Price
from lakatos.traces.fold import fold
from lakatos.traces.journal import INTENT
from tests.rehearsal.nonsense import tokens_of


@dataclass
class Event:
    """As much of an event of the journal as the fold looks at."""

    key: str
    kind: str = INTENT
    body: dict = field(default_factory=dict)


def reserve(key, **amount):
    return Event(
        key, body={"effect": "repeatable", "note": {"reserved": SpentAmount(**amount).model_dump()}}
    )


def settle(key, **amount):
    return Event(
        key, body={"effect": "repeatable", "note": {"spent": SpentAmount(**amount).model_dump()}}
    )


def total(*events):
    return fold(events, BudgetSpending(), spend).total


def test_a_million_tokens_cost_their_price():
    price = Price(input=3.0, cached_input=0.3, output=15.0)
    usage = TokenUsage(
        n_prompt_tokens=1_000_000, n_cached_tokens=400_000, n_completion_tokens=100_000
    )
    # 0.6 * 3 + 0.4 * 0.3 + 0.1 * 15 = 3.42
    assert cost(price, usage) == SpentAmount(requests=1, tokens=1_100_000, millionths=3_420_000)
    assert cost(Price(input=3.0, output=15.0), usage).millionths == 4_500_000


def test_money_is_rounded_up_and_never_by_the_error_of_a_sum():
    assert cost(Price(input=0.15), TokenUsage(n_prompt_tokens=1)).millionths == 1
    assert cost(Price(input=0.1), TokenUsage(n_prompt_tokens=30)).millionths == 3
    assert cost(Price(), TokenUsage(n_prompt_tokens=9)).millionths == 0


@given(st.text(max_size=300), st.text(max_size=80), st.integers(1, 500))
def test_the_worst_case_is_above_any_count_of_the_prompt(text, system, most):
    messages = (ChatMessage(role="system", content=system), ChatMessage(role="user", content=text))
    request = ModelRequest(messages=messages, sampling=TokenSampling(max_tokens=most))
    assert most_prompt_tokens(request) >= len(text.encode()) + len(system.encode())
    assert most_prompt_tokens(request) >= len(tokens_of(text + system))
    price = Price(input=1.0, cached_input=0.1, output=2.0)
    usage = TokenUsage(
        n_prompt_tokens=len(tokens_of(text + system)), n_cached_tokens=1, n_completion_tokens=most
    )
    worst, real = worst_case(price, request), cost(price, usage)
    assert all(
        getattr(worst, name) >= getattr(real, name) for name in ("requests", "tokens", "millionths")
    )


def test_a_reservation_counts_until_it_is_settled():
    assert total(reserve("a", tokens=10)) == SpentAmount(tokens=10)
    assert total(reserve("a", tokens=10), settle("a", tokens=4)) == SpentAmount(tokens=4)
    assert total(
        reserve("a", tokens=10), settle("a", tokens=4), Event("a", "called")
    ) == SpentAmount(tokens=4)


def test_a_call_that_was_cut_short_and_begun_again_is_charged_both_times():
    assert total(
        reserve("a", tokens=10), reserve("a", tokens=10), settle("a", tokens=4)
    ) == SpentAmount(tokens=14)


def test_a_result_that_settled_nothing_used_what_was_reserved():
    assert total(reserve("a", participants=30), Event("a", "recruited")) == SpentAmount(
        participants=30
    )


def test_a_note_that_settles_one_try_and_reserves_the_next():
    both = Event(
        "a",
        body={
            "note": {
                "spent": SpentAmount(requests=1).model_dump(),
                "reserved": SpentAmount(tokens=9).model_dump(),
            }
        },
    )
    assert total(reserve("a", tokens=9), both) == SpentAmount(requests=1, tokens=9)


def test_other_events_spend_nothing():
    assert (
        total(
            Event("a", body={"effect": "external"}),
            Event("a", "scored"),
            Event("b", body={"note": {"x": 1}}),
        )
        == SpentAmount()
    )


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.integers(1, 40),
            st.sampled_from(["answer", "fail", "crash"]),
            st.floats(0, 1),
        ),
        max_size=25,
    ),
    st.integers(0, 400),
)
def test_the_ledger_is_the_fold_of_its_notes_and_never_over_its_budget(calls, most):
    ledger, events = BudgetLedger(Budget(tokens=most)), []
    for key, worst, ending, share in calls:
        try:
            reservation = ledger.reserve(SpentAmount(tokens=worst), "a call")
        except BudgetExhaustedError:
            continue
        events.append(Event(key, body={"note": reservation.note()}))
        spent = SpentAmount(tokens=int(share * worst))
        if ending == "crash":
            ledger = BudgetLedger(ledger.budget, fold(events, BudgetSpending(), spend).total)
        else:
            reservation.settle(spent)
            events.append(Event(key, body={"note": {"spent": spent.model_dump()}}))
        assert ledger.total.tokens <= most
        assert ledger.total == fold(events, BudgetSpending(), spend).total


def test_a_budget_of_nothing_allows_nothing_and_no_limit_everything():
    for name in ("requests", "tokens", "participants"):
        with pytest.raises(BudgetExhaustedError, match=f"may take 1 {name}"):
            BudgetLedger(Budget(**{name: 0})).reserve(SpentAmount(**{name: 1}), "it")
    BudgetLedger(Budget(money=0)).reserve(SpentAmount(tokens=10**9), "a local model")
    BudgetLedger(Budget()).reserve(SpentAmount(millionths=10**15), "it")


def test_settling_twice_changes_nothing():
    ledger = BudgetLedger(Budget())
    reservation = ledger.reserve(SpentAmount(tokens=9), "it")
    reservation.settle(SpentAmount(tokens=2))
    reservation.settle()
    assert ledger.total == SpentAmount(tokens=2)
