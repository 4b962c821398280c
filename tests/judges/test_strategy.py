"""Advocates' strategies: clades by hand, credit from records that hold, and Thompson sampling that finds the better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.judges.strategy import (
    SearchStrategy,
    StrategyCredit,
    StrategyResult,
    choose,
    clade,
    credit,
    may_widen,
    recombine,
    vary,
)
from lakatos.traces.digest import digest_of

A, B, C, D, E = (digest_of(name) for name in "ABCDE")
BOLD, SHY = digest_of("bold"), digest_of("shy")
# A and B were proposed boldly; D descends from both, E from D alone, and C is another's.
PARENTS = {D: (A, B), E: (D,), C: ()}
PROPOSED = {A: BOLD, B: BOLD, C: SHY, D: SHY, E: SHY}


def achieved(theory, favoured, experiment="1", record=None):
    return StrategyResult(theory, experiment, favoured, record or digest_of([theory, experiment]))


def everything(_):
    return True


def test_a_clade_holds_each_descendant_once_whichever_way_leads_to_it():
    assert clade([A], PARENTS) == {A, D, E}
    assert clade([A, B], PARENTS) == {A, B, D, E}
    assert clade([C], PARENTS) == {C}
    assert clade([A], {A: (B,), B: (A,)}) == {A, B}


def test_a_strategy_is_credited_with_what_its_descendants_achieve_under_others():
    outcomes = [achieved(D, True), achieved(E, True), achieved(C, False), achieved(B, False)]
    bold = credit(BOLD, PROPOSED, PARENTS, outcomes, everything, shared=0.0)
    assert (bold.successes, bold.failures, bold.n_outcomes) == (2, 1, 3)
    assert bold.mean == pytest.approx(3 / 5)


def test_outcomes_of_one_line_are_tempered():
    outcomes = [achieved(A, True), achieved(D, True), achieved(E, False), achieved(B, False)]
    # Whichever of A and B comes first by digest takes the shared descendants: lines of three and of one.
    found = credit(BOLD, PROPOSED, PARENTS, outcomes, everything, shared=0.5)
    assert found.successes + found.failures == pytest.approx(3 / 2 + 1)
    alike = credit(BOLD, PROPOSED, PARENTS, outcomes, everything, shared=1.0)
    assert alike.successes + alike.failures == pytest.approx(2)


def test_a_repeated_measurement_and_a_record_that_no_longer_holds_do_not_count():
    erased = digest_of("erased")
    outcomes = [achieved(A, True), achieved(A, True), achieved(D, False, record=erased)]
    assert credit(
        BOLD, PROPOSED, PARENTS, outcomes, lambda record: record != erased
    ) == StrategyCredit(1.0, 0.0, 1)


@given(st.permutations(range(4)))
def test_credit_does_not_depend_on_the_order_of_outcomes(order):
    outcomes = [achieved(A, True), achieved(D, True), achieved(E, False), achieved(B, False)]
    shuffled = [outcomes[index] for index in order]
    assert credit(BOLD, PROPOSED, PARENTS, shuffled, everything) == credit(
        BOLD, PROPOSED, PARENTS, outcomes, everything
    )


@pytest.mark.statistical
def test_thompson_sampling_draws_as_often_as_a_strategy_is_probably_best():
    rng = np.random.default_rng(1)
    credits = {BOLD: StrategyCredit(1, 0, 1), SHY: StrategyCredit(0, 0, 0)}
    drawn = np.mean([choose(credits, rng) == BOLD for _ in range(4000)])
    # Beta(2, 1) exceeds a uniform with probability 2/3.
    assert abs(drawn - 2 / 3) < 4 * np.sqrt(2 / 9 / 4000)
    with pytest.raises(ValueError, match="no strategy"):
        choose({}, rng)


@pytest.mark.statistical
def test_the_better_strategy_is_chosen_more_and_more():
    rng = np.random.default_rng(2)
    late = []
    for _ in range(60):
        counts = {BOLD: [0, 0], SHY: [0, 0]}
        chosen = []
        for _ in range(120):
            name = choose(
                {key: StrategyCredit(*value, sum(value)) for key, value in counts.items()}, rng
            )
            counts[name][int(rng.random() >= (0.4 if name == BOLD else 0.15))] += 1
            chosen.append(name == BOLD)
        late.append(np.mean(chosen[60:]))
    assert np.mean(late) - 4 * np.std(late, ddof=1) / np.sqrt(60) > 0.7


def test_strategies_are_widened_as_outcomes_allow():
    assert may_widen(1, 1)
    assert not may_widen(1, 2)
    assert may_widen(4, 2)
    assert not may_widen(4, 3)


def test_a_version_is_what_the_strategy_does_and_not_where_it_comes_from():
    plain = SearchStrategy({"loss_aversion": 2.0}, "short", 0.1)
    assert (
        plain.digest
        == SearchStrategy({"loss_aversion": 2.0, "lapse": 1.0}, "short", 0.1, (BOLD,)).digest
    )
    others = [
        SearchStrategy({}, "short", 0.1),
        SearchStrategy(plain.preferences, "long", 0.1),
        SearchStrategy(plain.preferences, "short", 0.2),
    ]
    assert len({plain.digest, *(item.digest for item in others)}) == 4


@given(st.integers(0, 10_000))
def test_a_varied_strategy_differs_in_one_part_and_names_its_parent(seed):
    rng = np.random.default_rng(seed)
    before = SearchStrategy({"regret": 2.0}, "short", 0.2)
    after = vary(before, ["regret", "salience"], ["short", "long"], rng)
    differs = [
        after.prompt != before.prompt,
        after.exploration != before.exploration,
        after.preferences != before.preferences,
    ]
    assert sum(differs) == 1
    assert after.parents == (before.digest,)
    assert 0 < after.exploration < 1
    assert all(value > 0 for value in after.preferences.values())


@given(st.integers(0, 10_000))
def test_a_child_takes_every_part_from_one_of_its_parents(seed):
    first, second = (
        SearchStrategy({"regret": 2.0}, "short", 0.2),
        SearchStrategy({"salience": 3.0}, "long", 0.4),
    )
    child = recombine(first, second, np.random.default_rng(seed))
    assert child.prompt in ("short", "long")
    assert child.exploration in (0.2, 0.4)
    assert child.preferences["regret"] in (1.0, 2.0)
    assert child.preferences["salience"] in (1.0, 3.0)
    assert child.parents == (first.digest, second.digest)
