"""The gate: what it decides and why, what it refuses to look at, and that a decision comes out again."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.judges.gate import WORLDS, better, campaign, question
from benchmarks.judges.replacement import Gatekeeper
from lakatos.judges.anchor import LabelAccess, components, split, version_of
from lakatos.judges.errors import GateError, ReplayError
from lakatos.judges.gate import (
    GateQuestion,
    JudgePair,
    brier_gains,
    decide,
    refusal_of,
    register,
    replay,
)
from lakatos.judges.gate_record import GATES, GateDecided, GateRegistered
from lakatos.judges.ledger import level_of
from lakatos.judges.paired import (
    betting_e_value,
    exact_p,
    fewest_units,
    fewest_wins,
    most_lost,
)
from lakatos.traces.digest import digest_of
from lakatos.traces.errors import RecordError
from lakatos.traces.record import body_of, parse_record
from tests.judges.support import Scripted, answers, item

EXACT, LOSS = GATES["exact"], GATES["loss"]
FREE = EXACT.model_copy(update={"floor": 0.0, "margin": 1.0, "target": 1.0})
FIRST = level_of(0.05, 1)
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


def asked(settings=EXACT, found=None, items=ITEMS):
    units = tuple(components(items))
    return GateQuestion(settings, found or pair(), units, digest_of([one.digest for one in items]))


def put(settings=EXACT, found=None, items=ITEMS, level=FIRST):
    question = asked(settings, found, items)
    return register(question, slot="program", epoch=3, number=1, level=level)


def run(settings=EXACT, found=None, items=ITEMS, level=FIRST):
    registration = put(settings, found, items, level)
    shown = [] if refusal_of(registration) else items
    return decide(registration, asked(settings, found, items), shown)


def test_a_clearly_better_challenger_replaces_and_the_record_says_why():
    decided = run(found=pair(50, 10))
    assert decided.verdict == "replace"
    assert (decided.wins, decided.losses, decided.n) == (50, 10, 400)
    assert decided.p_value == exact_p(50, 10)
    assert decided.gain == 0.1
    assert decided.reason.startswith("gain +0.100 on 400 items (50 won, 10 lost), p = ")
    assert (decided.number, decided.level) == (1, FIRST)
    assert parse_record("gate_decided", body_of(decided), {"gate_decided": GateDecided}) == decided


def by_length(name, sign):
    """A judge that answers by which claim has more words, 0.9 sure."""
    words = np.random.default_rng(7).integers(5, 60, size=(len(LABELS), 2))
    side = sign * np.where(words[:, 0] > words[:, 1], 1, -1)
    return answers(name, 0.5 + 0.4 * side)


@pytest.mark.parametrize("settings", [EXACT, LOSS])
@pytest.mark.parametrize(
    "challenger",
    [by_length("longest", 1), by_length("shortest", -1), answers("first", np.full(400, 0.9))],
)
def test_a_judge_that_answers_by_length_or_position_takes_nobodys_seat(settings, challenger):
    incumbent = judged("incumbent", np.arange(400) % 3 > 0, 0.7)
    assert run(settings, JudgePair(incumbent, challenger)).verdict != "replace"


def test_an_equal_challenger_is_kept_out():
    decided = run(found=pair(20, 20))
    assert decided.verdict == "keep"
    assert "not convincing" in decided.reason


def test_the_verdict_is_that_of_the_exact_test_at_the_level_drawn():
    needed = fewest_wins(60, FIRST)
    for wins, verdict in ((needed, "replace"), (needed - 1, "keep")):
        assert run(FREE, pair(wins, 60 - wins)).verdict == verdict


def test_a_gain_below_the_floor_does_not_replace_however_certain():
    decided = run(EXACT.model_copy(update={"floor": 0.05, "target": 0.2}), pair(16, 0))
    assert decided.verdict == "keep"
    assert decided.p_value < decided.level
    assert "below the floor of 0.05" in decided.reason


def test_a_gain_bought_by_one_stratum_does_not_replace():
    # Right about everything machine-written that the incumbent missed, and wrong about more of the human-written.
    decided = run(found=lossy(20))
    assert decided.verdict == "keep"
    assert "may lose more than 0.05 in origin=human" in decided.reason
    harmed = {row.stratum: row for row in decided.strata}
    assert harmed["origin=human"].bound == pytest.approx(most_lost(0, 20, 200))
    assert harmed["origin=machine"].safe


def test_without_power_nothing_is_decided_and_no_label_is_read():
    decided = run(EXACT.model_copy(update={"target": 0.02}))
    assert decided.verdict == "underpowered"
    assert "above the target of 0.02; about " in decided.reason
    assert (decided.n, decided.wins, decided.losses, decided.gain) == (0, 0, 0, 0.0)
    assert (decided.p_value, decided.e_value, decided.strata) == (None, None, ())


@pytest.mark.parametrize("test", GATES)
def test_fewer_items_than_the_level_needs_are_refused_with_what_is_needed(test):
    level = level_of(0.05, 4)
    fewest = fewest_units(level, exact=test == "exact")
    settings = GATES[test].model_copy(update={"target": 1.0, "strata": ()})
    for n, verdict in ((fewest - 1, "underpowered"), (fewest, "replace")):
        knows = np.where(LABELS[:n], 0.9, 0.1)
        found = JudgePair(answers("incumbent", 1 - knows), answers("challenger", knows))
        decided = run(settings, found, ITEMS[:n], level)
        assert decided.verdict == verdict
    decided = run(settings, JudgePair(answers("a", [0.1]), answers("b", [0.9])), ITEMS[:1], level)
    assert f"at least {fewest} are needed" in decided.reason


def test_too_many_failures_mean_no_decision():
    found = pair(50, 10)
    broken = found.challenger.probability.copy()
    broken[:9] = np.nan
    decided = run(found=JudgePair(found.incumbent, answers("challenger", broken)))
    assert decided.verdict == "error"
    assert "9 of 400 items have no answer from one of the judges, more than 2%" in decided.reason


def test_few_failures_are_excluded_pairwise_and_counted_for_nobody():
    found = pair(50, 10)
    broken = found.challenger.probability.copy()
    broken[:8] = np.nan
    decided = run(found=JudgePair(found.incumbent, answers("challenger", broken)))
    assert (decided.n, decided.n_excluded) == (392, 8)
    assert decided.verdict == "replace"


def test_a_side_not_taken_is_wrong_and_never_a_win():
    decided = run(FREE, JudgePair(pair(0, 0, 400).incumbent, answers("undecided", [0.5] * 400)))
    assert (decided.wins, decided.losses) == (0, 400)


def test_the_detectable_gain_needs_no_labels_and_is_written_before_they_are_read():
    registration = put()
    assert registration.discordance == pytest.approx(0.1)
    assert 0.02 < registration.minimum_detectable < 0.1
    assert (
        parse_record("gate_registered", body_of(registration), {"gate_registered": GateRegistered})
        == registration
    )


@pytest.mark.parametrize("test", GATES)
def test_a_decision_comes_out_again_from_its_records(test):
    found = pair(50, 10)
    registration, question = put(GATES[test], found), asked(GATES[test], found)
    decided = decide(registration, question, ITEMS)
    assert decided.verdict == "replace"
    assert replay(decided, registration, question, ITEMS) == decided
    with pytest.raises(ReplayError, match=r"slot 'program' in epoch 3 .* wins is 50, recorded 51"):
        replay(decided.model_copy(update={"wins": 51}), registration, question, ITEMS)
    forged = registration.model_copy(update={"minimum_detectable": 0.0})
    with pytest.raises(ReplayError, match="minimum_detectable is"):
        replay(decided, forged, question, ITEMS)


def test_other_answers_or_other_items_than_registered_are_refused():
    registration = put()
    with pytest.raises(GateError, match="answers are not those registered"):
        decide(registration, asked(found=pair(41)), ITEMS)
    with pytest.raises(GateError, match="not the registered confirm part"):
        decide(registration, asked(), ITEMS[:-1])
    turned = [*ITEMS[:-1], item(399, not ITEMS[-1].label, origin=ITEMS[-1].strata["origin"])]
    with pytest.raises(GateError, match="not the registered confirm part"):
        decide(registration, asked(), turned)


def test_a_challenge_that_a_former_test_decided_is_refused_with_what_to_do():
    old = body_of(run()) | {"version": 1, "tier": "certified", "debit": 0.03}
    with pytest.raises(RecordError, match="look at the run with the version that began it"):
        parse_record("gate_decided", old, {"gate_decided": GateDecided})


def test_the_loss_test_may_aim_at_what_a_calibrated_challenger_would_gain():
    # Far apart: if the challenger is right about itself, the gain is 0.36, and 40 items find it.
    few = ITEMS[:40]
    apart = JudgePair(answers("incumbent", [0.2] * 40), answers("challenger", [0.8] * 40))
    registration = put(LOSS.model_copy(update={"target": 0.001}), apart, few)
    assert registration.expected == pytest.approx(0.36)
    assert registration.largest_loss == pytest.approx(0.6)
    assert refusal_of(registration) == ""
    close = JudgePair(answers("incumbent", [0.5] * 40), answers("challenger", [0.55] * 40))
    refused = put(LOSS.model_copy(update={"target": 0.001}), close, few)
    assert "above the target of 0.0025" in refusal_of(refused)


def test_a_judge_does_not_challenge_itself():
    found = pair()
    with pytest.raises(GateError, match="the same judge"):
        put(found=JudgePair(found.incumbent, found.incumbent))


def test_a_whole_challenge_leaves_records_and_reads_labels_only_where_it_decides():
    anchor = split(ITEMS, seed=1)
    good = {one.submission.candidate for one in ITEMS if one.label}

    def knowing(share):
        sure = {one.submission.candidate for one in ITEMS[: int(share * len(ITEMS))]}
        return lambda what: 0.8 if (what.candidate in good) == (what.candidate in sure) else 0.2

    incumbent, challenger = (Scripted(knowing(share), version=str(share)) for share in (0.6, 0.9))
    gate = Gatekeeper(EXACT.model_copy(update={"target": 0.2}))
    decided, access = gate.challenge(incumbent, challenger, anchor, LabelAccess())
    assert decided.verdict == "replace"
    assert [record.part for record in access.exposed] == ["confirm"]
    assert access.exposed[0].judges == (incumbent.digest, challenger.digest)
    weak = Gatekeeper(EXACT.model_copy(update={"target": 0.01}))
    decided, access = weak.challenge(incumbent, challenger, anchor, LabelAccess())
    assert decided.verdict == "underpowered"
    assert access == LabelAccess()
    assert [item.is_spent for item in weak.drawn] == [False]


@pytest.mark.parametrize(("n_lost", "verdict"), [(10, "replace"), (11, "keep")])
def test_a_stratum_may_lose_the_margin_and_not_more(n_lost, verdict):
    assert run(EXACT, lossy(n_lost)).verdict == verdict


def test_a_gain_of_just_the_floor_is_enough():
    settings = EXACT.model_copy(update={"floor": 0.125, "target": 0.2})
    assert run(settings, pair(50, 0)).verdict == "replace"
    assert run(settings, pair(49, 0)).verdict == "keep"


@pytest.mark.parametrize("test", GATES)
def test_evidence_of_just_the_level_is_enough(test):
    found = pair(30, 8)
    settings = GATES[test].model_copy(update={"margin": 1.0, "target": 1.0})
    strength = run(settings, found)
    reached = strength.p_value if test == "exact" else 1 / strength.e_value
    for factor, verdict in ((1.000001, "replace"), (0.999, "keep")):
        assert run(settings, found, level=reached * factor).verdict == verdict


def test_items_that_share_a_person_are_bet_on_together():
    shared = [
        item(number, bool(label), people=[f"person {number // 4}"])
        for number, label in enumerate(LABELS)
    ]
    found = pair(20, 8)
    decided = run(FREE, found, shared)
    won = found.challenger.side == np.where(LABELS, 1, -1)
    was = found.incumbent.side == np.where(LABELS, 1, -1)
    sums = (won.astype(float) - was).reshape(100, 4).sum(axis=1)
    apart = (found.challenger.side != found.incumbent.side).reshape(100, 4).sum(axis=1)
    assert decided.e_value == pytest.approx(betting_e_value(sums, float(apart.max())))
    assert 1 / decided.e_value > exact_p(20, 8)
    assert decided.p_value is None
    assert put(FREE, found, shared).n_units == 100


def test_power_for_just_the_target_is_enough():
    detectable = put().minimum_detectable
    assert refusal_of(put(EXACT.model_copy(update={"target": detectable}))) == ""
    assert refusal_of(put(EXACT.model_copy(update={"target": detectable * 0.999}))) != ""
    # The gain that can be found falls with the square root of the number of items.
    third = put(EXACT.model_copy(update={"target": detectable / 3}))
    assert f"about {9 * third.n_items} confirm items are needed" in refusal_of(third)


@pytest.mark.parametrize("test", GATES)
def test_judges_of_whom_one_never_answers_are_registered_and_not_decided(test):
    found = JudgePair(pair().incumbent, answers("challenger", np.full(400, np.nan)))
    registration = put(GATES[test], found)
    assert (registration.n_items, registration.n_excluded, registration.n_units) == (400, 400, 0)
    assert (registration.discordance, registration.expected) == (0.0, 0.0)
    assert run(GATES[test], found).verdict == "error"


def test_answers_to_different_numbers_of_items_are_refused():
    with pytest.raises(GateError, match="answered 400 items and the challenger 399"):
        put(found=JudgePair(pair().incumbent, answers("challenger", np.full(399, 0.8))))


def test_brier_gains_are_squared_errors_against_the_label():
    found = JudgePair(answers("a", [0.6, 0.6]), answers("b", [0.9, 0.9]))
    gains = brier_gains(found, np.array([True, False]))
    assert gains == pytest.approx([0.4**2 - 0.1**2, 0.6**2 - 0.9**2])


def test_the_loss_test_sees_what_right_and_wrong_do_not():
    # Equally many right answers, but the challenger is surer where it is right and less sure where it is wrong.
    rng = np.random.default_rng(1)
    right = rng.random(400) < 0.75
    incumbent = judged("incumbent", right, 0.7)
    sure = np.where(right, 0.9, 0.6)
    challenger = answers("challenger", 0.5 + np.where(right == LABELS, 1, -1) * (sure - 0.5))
    decided = run(LOSS, JudgePair(incumbent, challenger))
    assert (decided.wins, decided.losses) == (0, 0)
    assert decided.verdict == "replace"
    assert decided.gain == pytest.approx(
        brier_gains(JudgePair(incumbent, challenger), LABELS).mean()
    )


@pytest.mark.parametrize("n_items", [20, 100, 160, 320])
def test_a_surer_challenger_of_the_same_brier_score_is_let_in_within_the_level(n_items):
    # The incumbent says 0.6, the challenger 0.8, and 0.7 is true. Whatever else keeps challengers out is taken away.
    alone = LOSS.model_copy(update={"floor": 0.0, "target": 1.0, "strata": ()})
    found = JudgePair(answers("incumbent", [0.6] * n_items), answers("challenger", [0.8] * n_items))
    let_in, none = n_items + 1, -1
    while let_in - none > 1:  # the fewest labels that are True with which it is let in
        middle = (let_in + none) // 2
        items = [item(number, number < middle) for number in range(n_items)]
        replaces = run(alone, found, items).verdict == "replace"
        let_in, none = (middle, none) if replaces else (let_in, middle)
    assert 0 < binom.sf(let_in - 1, n_items, 0.7) <= FIRST
    assert binom.sf(let_in - 1, n_items, 0.9) > (0.02 if n_items == 20 else 0.7)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("test", "world"), [("loss", "bold"), ("loss", "clusters"), ("exact", "clusters")]
)
def test_ten_challengers_that_are_as_good_are_let_in_within_alpha(test, world):
    n_runs = 200
    false = sum(campaign(test, world, 20, seed) for seed in range(n_runs))
    assert false / n_runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_runs)


@pytest.mark.long
@pytest.mark.statistical
@pytest.mark.parametrize("test", GATES)
@pytest.mark.parametrize("world", WORLDS)
def test_the_level_holds_over_ten_epochs_in_every_world(test, world):
    n_runs = 200
    false = sum(campaign(test, world, 100, seed) for seed in range(n_runs))
    assert false / n_runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_runs)


def test_a_better_challenger_is_let_in_in_the_default_setting():
    own = better("loss", 0.04, 400, np.random.default_rng(2))
    put = replace(question(own, own.other, LOSS, 400), anchor=version_of(own.items))
    assert Gatekeeper(LOSS).decide(put, own.items).verdict == "replace"
