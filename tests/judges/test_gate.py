"""The gate: what it decides and why, what it refuses to look at, and that a decision comes out again."""

import numpy as np
import pytest

from lakatos.judges.anchor import LabelAccess, components, split
from lakatos.judges.answer import JudgeAnswers
from lakatos.judges.errors import GateError, LedgerError, ReplayError
from lakatos.judges.gate import (
    CERTIFIED,
    WORKING,
    GateDecided,
    GateRegistered,
    JudgePair,
    brier_gains,
    challenge,
    decide,
    refold,
    refusal_of,
    register,
    replay,
)
from lakatos.judges.ledger import AlphaSpending, FalseDiscovery
from lakatos.judges.paired import exact_p, fewest_wins, most_lost, sign_flip_p
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of, parse_record
from tests.judges.support import Scripted, answers, item

LABELS = np.arange(400) % 2 == 0
ITEMS = [
    item(number, bool(label), origin=("human", "machine")[number // 2 % 2])
    for number, label in enumerate(LABELS)
]
ANCHOR = digest_of([one.digest for one in ITEMS])


def judged(name, right, surety=0.8):
    """A judge that is right where ``right`` says so."""
    side = np.where(np.asarray(right) == LABELS, 1, -1)
    return answers(name, 0.5 + side * (surety - 0.5))


def pair(n_won=40, n_lost=0, n_both=280):
    """The incumbent is right on ``n_both + n_lost`` items, the challenger on ``n_both + n_won``."""
    # Spread over the strata: item k of every block of 400 by a fixed permutation.
    place = np.random.default_rng(0).permutation(400)
    both, won, lost = (
        place[:n_both],
        place[n_both : n_both + n_won],
        place[n_both + n_won : n_both + n_won + n_lost],
    )
    incumbent, challenger = np.zeros(400, dtype=bool), np.zeros(400, dtype=bool)
    incumbent[both] = incumbent[lost] = True
    challenger[both] = challenger[won] = True
    return JudgePair(judged("incumbent", incumbent), judged("challenger", challenger))


def lossy(n_lost_of_humans, n_won_of_humans=0):
    """The challenger loses items that humans wrote, and wins 80 that machines wrote."""
    machine = np.array([one.strata["origin"] == "machine" for one in ITEMS])
    by_humans, by_machines = np.flatnonzero(~machine), np.flatnonzero(machine)
    incumbent, challenger = np.ones(400, dtype=bool), np.ones(400, dtype=bool)
    incumbent[by_machines[:80]] = False
    challenger[by_humans[:n_lost_of_humans]] = False
    incumbent[by_humans[n_lost_of_humans:][:n_won_of_humans]] = False
    return JudgePair(judged("incumbent", incumbent), judged("challenger", challenger))


def put(settings=CERTIFIED, found=None, ledger=None, anchor=ANCHOR):
    return register(
        settings,
        found or pair(),
        slot="program",
        epoch=3,
        anchor=anchor,
        ledger=ledger or AlphaSpending(),
        seed=7,
    )


def run(settings=CERTIFIED, found=None, ledger=None):
    found, ledger = found or pair(), ledger or AlphaSpending()
    registration = put(settings, found, ledger)
    return decide(registration, found, [] if refusal_of(registration) else ITEMS, ledger)


def test_a_clearly_better_challenger_replaces_and_the_record_says_why():
    decided, ledger = run(found=pair(50, 10))
    assert decided.verdict == "replace"
    assert (decided.wins, decided.losses, decided.n) == (50, 10, 400)
    assert decided.p_value == exact_p(50, 10)
    assert decided.gain == 0.1
    assert decided.reason.startswith("gain +0.100 on 400 items (50 won, 10 lost), p = ")
    assert ledger.spent == (decided.level,) == (AlphaSpending().level,)
    assert parse_record("gate_decided", body_of(decided), {"gate_decided": GateDecided}) == decided


def test_an_equal_challenger_is_kept_out_and_still_costs():
    decided, ledger = run(found=pair(20, 20))
    assert decided.verdict == "keep"
    assert "not convincing" in decided.reason
    assert ledger.level < AlphaSpending().level
    assert decided.debit == AlphaSpending().level


def test_the_verdict_is_that_of_the_exact_test_at_the_ledgers_level():
    needed = fewest_wins(60, AlphaSpending().level)
    for wins, verdict in ((needed, "replace"), (needed - 1, "keep")):
        assert (
            run(CERTIFIED.model_copy(update={"floor": 0.0, "margin": 1.0}), pair(wins, 60 - wins))[
                0
            ].verdict
            == verdict
        )


def test_a_gain_below_the_floor_does_not_replace_however_certain():
    decided, _ = run(CERTIFIED.model_copy(update={"floor": 0.05, "target": 0.2}), pair(16, 0))
    assert decided.verdict == "keep"
    assert decided.p_value < decided.level
    assert "below the floor of 0.05" in decided.reason


def test_a_gain_bought_by_one_stratum_does_not_replace():
    # Right about everything machine-written that the incumbent missed, and wrong about more of the human-written.
    decided, _ = run(found=lossy(20))
    assert decided.verdict == "keep"
    assert "may lose more than 0.05 in origin=human" in decided.reason
    harmed = {row.stratum: row for row in decided.strata}
    assert harmed["origin=human"].bound == pytest.approx(most_lost(0, 20, 200))
    assert harmed["origin=machine"].safe


def test_without_power_nothing_is_decided_and_no_label_is_read():
    settings = CERTIFIED.model_copy(update={"target": 0.02})
    decided, ledger = run(settings)
    assert decided.verdict == "underpowered"
    assert "above the target of 0.02; more confirm items are needed" in decided.reason
    assert (decided.n, decided.debit, ledger) == (0, 0.0, AlphaSpending())


def test_too_many_failures_mean_no_decision():
    found = pair(50, 10)
    broken = found.challenger.probability.copy()
    broken[:9] = np.nan
    decided, _ = run(found=JudgePair(found.incumbent, answers("challenger", broken)))
    assert decided.verdict == "error"
    assert "9 of 400 items have no answer from one of the judges, more than 2%" in decided.reason


def test_few_failures_are_excluded_pairwise_and_counted_for_nobody():
    found = pair(50, 10)
    broken = found.challenger.probability.copy()
    broken[:8] = np.nan
    decided, _ = run(found=JudgePair(found.incumbent, answers("challenger", broken)))
    assert (decided.n, decided.n_excluded) == (392, 8)
    assert decided.verdict == "replace"


def test_a_side_not_taken_is_wrong_and_never_a_win():
    found = pair(0, 0, 400)
    undecided = JudgeAnswers(
        digest_of("challenger"), np.full(400, 0.5), np.zeros(400, dtype=int), {}
    )
    decided, _ = run(WORKING, JudgePair(found.incumbent, undecided))
    assert (decided.wins, decided.losses) == (0, 400)


def test_the_detectable_gain_needs_no_labels_and_is_written_before_they_are_read():
    registration = put()
    assert registration.discordance == pytest.approx(0.1)
    assert 0.02 < registration.minimum_detectable < 0.1
    assert (
        parse_record("gate_registered", body_of(registration), {"gate_registered": GateRegistered})
        == registration
    )


@pytest.mark.parametrize("test", ["exact", "e_mixture", "e_betting", "loss"])
def test_a_decision_comes_out_again_from_its_records(test):
    settings = CERTIFIED.model_copy(update={"test": test, "floor": 0.01})
    found, ledger = pair(50, 10), FalseDiscovery()
    registration = put(settings, found, ledger)
    decided, _ = decide(registration, found, ITEMS, ledger)
    assert decided.verdict == "replace"
    assert replay(decided, registration, found, ITEMS, ledger) == decided
    with pytest.raises(ReplayError, match=r"slot 'program' in epoch 3 .* wins is 50, recorded 51"):
        replay(decided.model_copy(update={"wins": 51}), registration, found, ITEMS, ledger)


def test_other_answers_or_other_items_than_registered_are_refused():
    registration = put()
    with pytest.raises(GateError, match="answers are not those registered"):
        decide(registration, pair(41), ITEMS, AlphaSpending())
    with pytest.raises(GateError, match="not the registered confirm part"):
        decide(registration, pair(), ITEMS[:-1], AlphaSpending())
    turned = [*ITEMS[:-1], item(399, not ITEMS[-1].label, origin=ITEMS[-1].strata["origin"])]
    with pytest.raises(GateError, match="not the registered confirm part"):
        decide(registration, pair(), turned, AlphaSpending())


def test_the_loss_test_may_aim_at_what_a_calibrated_challenger_would_gain():
    # Far apart: if the challenger is right about itself, the gain is 0.36, and 20 items find it.
    incumbent, challenger = answers("incumbent", [0.2] * 20), answers("challenger", [0.8] * 20)
    settings = CERTIFIED.model_copy(update={"test": "loss", "target": 0.001})
    registration = put(settings, JudgePair(incumbent, challenger))
    assert registration.expected == pytest.approx(0.36)
    # Its spread: a gain of 0.6 with probability 0.8, else a loss of 0.6.
    assert registration.minimum_detectable == pytest.approx(
        0.48 / np.sqrt(20) * (1.8753 + 0.8416), rel=1e-3
    )
    assert refusal_of(registration) == ""
    close = JudgePair(answers("incumbent", [0.5] * 20), answers("challenger", [0.55] * 20))
    assert "above the target of 0.0025" in refusal_of(put(settings, close))


def test_a_judge_does_not_challenge_itself():
    found = pair()
    with pytest.raises(GateError, match="the same judge"):
        put(found=JudgePair(found.incumbent, found.incumbent))


def test_an_emptied_ledger_refuses_a_test():
    registration = put()
    with pytest.raises(LedgerError, match="is left after 1 tests"):
        decide(registration, pair(), ITEMS, AlphaSpending().debit(0.049, replaced=False))


def test_a_whole_challenge_leaves_records_and_reads_labels_only_where_it_decides():
    anchor = split(ITEMS, seed=1)
    good = {one.submission.candidate for one in ITEMS if one.label}

    def knowing(share):
        sure = {one.submission.candidate for one in ITEMS[: int(share * len(ITEMS))]}
        return lambda what: 0.8 if (what.candidate in good) == (what.candidate in sure) else 0.2

    incumbent, challenger = (Scripted(knowing(share), version=str(share)) for share in (0.6, 0.9))
    settings = CERTIFIED.model_copy(update={"target": 0.2})
    found = challenge(
        settings,
        incumbent,
        challenger,
        anchor,
        LabelAccess(),
        AlphaSpending(),
        slot="s",
        epoch=0,
        seed=1,
    )
    assert found.decided.verdict == "replace"
    assert [record.part for record in found.access.exposed] == ["confirm"]
    assert found.access.exposed[0].judges == (incumbent.digest, challenger.digest)
    weak = settings.model_copy(update={"target": 0.01})
    refused = challenge(
        weak,
        incumbent,
        challenger,
        anchor,
        LabelAccess(),
        AlphaSpending(),
        slot="s",
        epoch=0,
        seed=1,
    )
    assert refused.decided.verdict == "underpowered"
    assert (refused.access, refused.ledger) == (LabelAccess(), AlphaSpending())


def test_the_working_tier_spends_nothing_and_is_never_underpowered():
    decided, ledger = run(WORKING.model_copy(update={"target": 0.001}))
    assert decided.verdict == "replace"
    assert decided.tier == "working"
    assert (decided.debit, ledger) == (0.0, AlphaSpending())


def test_a_ledger_is_the_fold_of_its_decisions():
    ledger, decisions = AlphaSpending(), []
    for found in (pair(20, 20), pair(50, 10), pair(10, 10)):
        decided, ledger = run(found=found, ledger=ledger)
        decisions.append(decided)
    assert refold(AlphaSpending(), decisions) == ledger
    assert len(ledger.spent) == sum(decided.debit > 0 for decided in decisions)


def test_the_working_tier_looks_at_the_loss_observed_and_the_certified_at_its_bound():
    found = lossy(12, 8)  # 2% of the 200 that humans wrote; its bound lies above the margin of 5%
    working, certified = run(WORKING, found)[0], run(CERTIFIED, found)[0]
    assert (working.verdict, certified.verdict) == ("replace", "keep")
    observed, bound = working.strata[0], certified.strata[0]
    assert (observed.stratum, observed.n) == ("origin=human", 200)
    assert (observed.wins, observed.losses) == (8, 12)
    assert observed.bound == pytest.approx(0.02)
    assert bound.bound == pytest.approx(most_lost(8, 12, 200))


@pytest.mark.parametrize(("n_lost", "verdict"), [(10, "replace"), (11, "keep")])
def test_a_stratum_may_lose_the_margin_and_not_more(n_lost, verdict):
    assert run(WORKING, lossy(n_lost))[0].verdict == verdict


def test_a_gain_of_just_the_floor_is_enough():
    settings = WORKING.model_copy(update={"floor": 0.125})
    assert run(settings, pair(50, 0))[0].verdict == "replace"
    assert run(settings, pair(49, 0))[0].verdict == "keep"


@pytest.mark.parametrize("test", ["exact", "e_mixture"])
def test_evidence_of_just_the_level_is_enough(test):
    found, settings = pair(20, 8), WORKING.model_copy(update={"test": test, "margin": 1.0})
    strength = run(settings, found)[0]
    reached = strength.p_value if test == "exact" else 1 / strength.e_value
    for factor, verdict in ((1.0, "replace"), (0.999, "keep")):
        level = {"working_level": reached * factor}
        assert run(settings.model_copy(update=level), found)[0].verdict == verdict


def test_items_that_share_a_person_are_not_counted_as_independent():
    shared = [
        item(number, bool(label), people=[f"person {number // 4}"])
        for number, label in enumerate(LABELS)
    ]
    found = pair(20, 8)
    registration = put(WORKING, found, anchor=digest_of([one.digest for one in shared]))
    decided, _ = decide(registration, found, shared, AlphaSpending())
    gains = brier_gains(found, shared) / 0.6  # one for an item won, minus one for an item lost
    flips = np.random.default_rng(registration.seed)
    assert decided.p_value == sign_flip_p(np.round(gains), components(shared), rng=flips)
    assert decided.p_value > exact_p(20, 8)
    assert decided.e_value is None


def test_the_working_tier_tests_at_its_own_level_and_the_certified_at_the_ledgers():
    assert put(WORKING).level == WORKING.working_level == 0.05
    assert put(CERTIFIED).level == AlphaSpending().level


def test_power_for_just_the_target_is_enough():
    detectable = put().minimum_detectable
    assert refusal_of(put(CERTIFIED.model_copy(update={"target": detectable}))) == ""
    assert refusal_of(put(CERTIFIED.model_copy(update={"target": detectable * 0.999}))) != ""


def test_a_challenge_without_a_decision_counts_nothing():
    decided, _ = run(CERTIFIED.model_copy(update={"target": 0.001}))
    assert (decided.n, decided.wins, decided.losses, decided.gain) == (0, 0, 0, 0.0)
    assert (decided.p_value, decided.e_value, decided.strata) == (None, None, ())


def test_judges_of_whom_one_never_answers_are_registered_and_not_decided():
    nothing = answers("challenger", np.full(400, np.nan))
    for test in ("exact", "loss"):
        found = JudgePair(pair().incumbent, nothing)
        registration = put(CERTIFIED.model_copy(update={"test": test}), found)
        assert (registration.n_items, registration.n_excluded) == (400, 400)
        assert (registration.discordance, registration.expected) == (0.0, 0.0)
        assert decide(registration, found, [], AlphaSpending())[0].verdict == "error"


def test_answers_to_different_numbers_of_items_are_refused():
    with pytest.raises(GateError, match="answered 400 items and the challenger 399"):
        put(found=JudgePair(pair().incumbent, answers("challenger", np.full(399, 0.8))))


def test_brier_gains_are_squared_errors_against_the_label():
    found = JudgePair(answers("a", [0.6, 0.6]), answers("b", [0.9, 0.9]))
    gains = brier_gains(found, [item(1, True), item(2, False)])
    assert gains == pytest.approx([0.4**2 - 0.1**2, 0.6**2 - 0.9**2])


def test_the_loss_test_sees_what_right_and_wrong_do_not():
    # Equally many right answers, but the challenger is surer where it is right and less sure where it is wrong.
    rng = np.random.default_rng(1)
    right = rng.random(400) < 0.75
    incumbent = judged("incumbent", right, 0.7)
    sure = np.where(right, 0.9, 0.6)
    challenger = answers("challenger", 0.5 + np.where(right == LABELS, 1, -1) * (sure - 0.5))
    settings = CERTIFIED.model_copy(update={"test": "loss", "floor": 0.01})
    decided, _ = run(settings, JudgePair(incumbent, challenger))
    assert (decided.wins, decided.losses) == (0, 0)
    assert decided.verdict == "replace"
    assert decided.gain == pytest.approx(
        brier_gains(JudgePair(incumbent, challenger), ITEMS).mean()
    )


def null_paths(settings, new_ledger, n_paths, rng, n_tests=10):
    """Share of campaigns of ten challengers, each as good as the incumbent, in which one is promoted."""
    false = 0
    for _ in range(n_paths):
        ledger = new_ledger()
        for _ in range(n_tests):
            incumbent, challenger = (
                judged(name, rng.random(400) < 0.8) for name in ("incumbent", "challenger")
            )
            found = JudgePair(incumbent, challenger)
            registration = register(
                settings, found, slot="s", epoch=0, anchor=ANCHOR, ledger=ledger, seed=1
            )
            decided, ledger = decide(registration, found, ITEMS, ledger)
            if decided.verdict == "replace":
                false += 1
                break
    return false / n_paths


@pytest.mark.long
@pytest.mark.statistical
@pytest.mark.parametrize("test", ["exact", "e_mixture", "e_betting"])
def test_certified_replacements_are_false_in_at_most_alpha_of_campaigns(test):
    settings = CERTIFIED.model_copy(
        update={"test": test, "floor": 0.0, "strata": (), "target": 1.0}
    )
    n_paths = 200
    found = null_paths(settings, AlphaSpending, n_paths, np.random.default_rng(11))
    assert found <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_paths)
