"""Critics' tables: counts by hand, dependence found and not imagined, and only what holds counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.judges.critic import (
    STARTING_WEIGHT,
    CriticPanel,
    CriticProfile,
    CriticsHeard,
    drift,
    grade,
    learn,
    relevant,
    transitions,
)
from lakatos.judges.errors import CriticError
from lakatos.traces.digest import digest_of

ONE = CriticProfile("one", digest_of("one"), ("no", "yes"), 1.0)
TWO = CriticProfile("two", digest_of("two"), ("no", "yes"), 1.0)
VERSIONS = {"one": ONE.version, "two": TWO.version}


def heard(index, answers, favoured, family="risky", versions=VERSIONS):
    return CriticsHeard(
        family, answers, {name: versions[name] for name in answers}, favoured, digest_of([index])
    )


def simulated(n, rho, rng, hit=0.85, false_alarm=0.35, rate=0.4, second=1.0):
    """Two critics, of which the second repeats the first with probability ``rho``; it answers in a share ``second``."""
    rows = []
    for index in range(n):
        wins = bool(rng.random() < rate)
        p = hit if wins else false_alarm
        first = int(rng.random() < p)
        repeated = first if rng.random() < rho else int(rng.random() < p)
        answers = {"one": first, "two": repeated} if rng.random() < second else {"one": first}
        rows.append(heard(index, answers, wins))
    return rows


def test_one_critic_is_counted_as_by_hand():
    rows = [heard(i, {"one": int(i < 6)}, True) for i in range(8)] + [
        heard(10 + i, {"one": 0}, False) for i in range(3)
    ]
    learned = learn(rows, [ONE], "risky")
    # Uniform starting tables that weigh two candidates: Beta(1, 1).
    assert learned.panel.table == pytest.approx(np.array([[4 / 5, 1 / 5], [3 / 10, 7 / 10]]))
    assert learned.base_rate == pytest.approx(9 / 13)
    assert (learned.n_lost, learned.n_won, learned.n_heard) == (3, 8, (11,))
    odds = (9 / 4) * (7 / 10) / (1 / 5)
    assert learned.belief((1,)) == pytest.approx(odds / (1 + odds))
    assert learned.belief((None,)) == pytest.approx(9 / 13)


def test_each_critics_own_table_is_its_posterior_mean_however_critics_depend_on_each_other():
    rows = simulated(50, 0.7, np.random.default_rng(2))
    together = learn(rows, [ONE, TWO], "risky").panel
    for index, critic in enumerate((ONE, TWO)):
        assert together.only((index,)).table == pytest.approx(
            learn(rows, [critic], "risky").panel.table
        )


def test_before_anything_is_known_the_starting_tables_speak():
    started = CriticProfile("one", ONE.version, ("no", "yes"), 1.0, start=((0.7, 0.3), (0.2, 0.8)))
    learned = learn([], [started, TWO], "risky", weight=4.0)
    assert learned.panel.only((0,)).table == pytest.approx(np.array(started.start))
    assert learned.belief((1, None)) == pytest.approx(0.8 / 1.1)
    assert learned.belief((1, 1)) == pytest.approx(0.8 / 1.1)
    assert learned.base_rate == 0.5


def test_a_starting_table_that_outvotes_the_data_or_does_not_fit_is_refused():
    with pytest.raises(CriticError, match="outvote"):
        learn([], [ONE], "risky", weight=STARTING_WEIGHT + 1)
    with pytest.raises(CriticError, match="two rows of 2"):
        learn(
            [],
            [CriticProfile("one", ONE.version, ("no", "yes"), 1.0, start=((0.5, 0.5), (1.0, 0.0)))],
            "risky",
        )
    with pytest.raises(CriticError, match="has 2 levels; a record holds 5"):
        learn([heard(1, {"one": 5}, True)], [ONE], "risky")


def test_only_this_family_these_versions_known_fates_and_records_that_hold_count():
    kept = heard(1, {"one": 1, "two": 0}, True)
    old = heard(
        2, {"one": 1, "two": 1}, False, versions={"one": digest_of("older"), "two": TWO.version}
    )
    rows = [
        kept,
        kept,
        old,
        heard(3, {"one": 1}, None),
        heard(4, {"one": 1}, True, family="learning"),
        heard(5, {"one": 1}, True),
    ]
    found = relevant(rows, [ONE, TWO], "risky", lambda record: record != digest_of([5]))
    assert sorted(found, key=str) == sorted([((1, 0), True), ((None, 1), False)], key=str)


def test_the_order_in_which_the_past_is_told_does_not_matter():
    rng = np.random.default_rng(3)
    rows = simulated(60, 0.5, rng, second=0.7)
    shuffled = [rows[index] for index in rng.permutation(len(rows))]
    assert learn(rows, [ONE, TWO], "risky").digest == learn(shuffled, [ONE, TWO], "risky").digest


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 40), st.floats(0, 1))
def test_tables_are_probabilities_and_asking_in_any_order_gives_one_belief(seed, n, share):
    rng = np.random.default_rng(seed)
    learned = learn(simulated(n, 0.5, rng, second=share), [ONE, TWO], "risky")
    assert learned.panel.table.sum(axis=(1, 2)) == pytest.approx([1, 1])
    assert (learned.panel.table > 0).all()
    start = np.array([1 - learned.base_rate, learned.base_rate])
    ways = [learned.panel.ask(start, (None, None), critic) for critic in (0, 1)]
    for first, second in ((0, 1), (1, 0)):
        for after, seen in ways[first]:
            total = sum(
                learned.panel.weights(*answer) for answer in learned.panel.ask(after, seen, second)
            )
            assert total == pytest.approx(learned.panel.weights(after, seen))


def test_leaving_critics_out_sums_over_what_they_would_say():
    table = np.random.default_rng(1).dirichlet(np.ones(12), size=(4, 2)).reshape(4, 2, 2, 3, 2)
    panel = CriticPanel(("a", "b", "c"), (1, 2, 3), table)
    some = panel.only((0, 2))
    assert (some.names, some.costs) == (("a", "c"), (1, 3))
    assert some.probability((1, 0)) == pytest.approx(panel.probability((1, None, 0)))


@pytest.mark.statistical
def test_many_rows_give_the_joint_table_whether_critics_depend_on_each_other_or_not():
    for rho in (0.0, 0.5, 1.0):
        learned = learn(simulated(4000, rho, np.random.default_rng(7)), [ONE, TWO], "risky")
        for state, (p, n) in enumerate(((0.35, learned.n_lost), (0.85, learned.n_won))):
            truth = rho * np.diag([1 - p, p]) + (1 - rho) * np.outer([1 - p, p], [1 - p, p])
            error = np.sqrt(np.maximum(truth * (1 - truth), 1 / n) / n)
            assert (np.abs(learned.panel.table[state] - truth) < 4 * error).all()
        assert (learned.independence > 0.5) == (rho == 0.0)


@pytest.mark.statistical
def test_critics_that_were_not_always_asked_give_the_same_table():
    rows = simulated(4000, 0.8, np.random.default_rng(8), second=0.5)
    table = learn(rows, [ONE, TWO], "risky").panel.table
    for state, p in enumerate((0.35, 0.85)):
        truth = 0.8 * np.diag([1 - p, p]) + 0.2 * np.outer([1 - p, p], [1 - p, p])
        # Half of the rows say nothing about the second critic.
        assert (np.abs(table[state] - truth) < 4 * np.sqrt(0.25 / 700)).all()


@pytest.mark.statistical
def test_beliefs_are_calibrated_where_critics_repeat_each_other():
    rng = np.random.default_rng(9)
    gaps = []
    for _ in range(40):
        learned = learn(simulated(300, 1.0, rng), [ONE, TWO], "risky")
        fresh = simulated(400, 1.0, rng)
        beliefs = np.array(
            [learned.belief((row.answers["one"], row.answers["two"])) for row in fresh]
        )
        wins = np.array([row.favoured for row in fresh])
        gaps.append((beliefs - wins).mean())
    assert abs(np.mean(gaps)) < 4 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))


def test_transitions_are_smoothed_counts():
    assert transitions([]) == (0.5, 0.5)
    pairs = [(False, True)] * 3 + [(False, False)] * 7 + [(True, False)] + [(True, True)] * 5
    assert transitions(pairs) == (4 / 12, 2 / 8)


@pytest.mark.slow
@pytest.mark.statistical
def test_drift_is_found_where_a_critic_changed_and_not_where_it_did_not():
    rng = np.random.default_rng(11)

    def rows(n, hit):
        return relevant(
            simulated(n, 0.0, rng, hit=hit, rate=0.5), [ONE, TWO], "risky", lambda _: True
        )

    same = [drift(rows(60, 0.85), rows(40, 0.85), rng, 99) for _ in range(100)]
    # At most a twentieth of p values lie at .05 or below; four standard errors above that.
    assert np.mean(np.array(same) <= 0.05) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 100)
    changed = [drift(rows(60, 0.85), rows(40, 0.35), rng, 99) for _ in range(20)]
    assert np.mean(np.array(changed) <= 0.05) > 0.8
    assert drift([], [], rng) == 1.0


def test_a_number_is_graded_by_the_cuts_that_it_reaches():
    assert [grade(value, (0.4, 0.6)) for value in (0.1, 0.4, 0.59, 0.6, 1.0)] == [0, 1, 1, 2, 2]
