"""Backward elimination leaves out what answers that did not choose it can do without, and nothing else."""

import numpy as np
import pytest

from lakatos.theories.discovery.grammar_search.prior_odds import EQUAL_ODDS
from lakatos.theories.discovery.grammar_search.prune import (
    PrunedComposition,
    is_ahead,
    loss,
    price_of_parameter,
    prune,
    simplifications,
)
from lakatos.theories.engine.scoring.score import UnitScores, paired_difference
from lakatos.theories.errors import TheoryRaisedError
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

PRIOR = {"prior": "uniform", "low": 0.0, "high": 1.0}
GRAMMAR = Grammar(
    domain="letters",
    slots=(SkeletonSlot("core"), SkeletonSlot("extra", 0, 3), SkeletonSlot("lapse", 0, 1)),
    mechanisms=(
        Mechanism(slot="core", name="plain", clause="add", code="pass"),
        Mechanism(slot="core", name="other", clause="count", code="pass"),
        Mechanism(
            slot="core", name="curved", clause="bend", code="pass", parameters={"curve": PRIOR}
        ),
        *(
            Mechanism(
                slot="extra",
                name=name,
                clause=f"like {name}",
                code="pass",
                parameters={name: PRIOR},
            )
            for name in "xyz"
        ),
        Mechanism(
            slot="lapse",
            name="random",
            clause="err",
            code="pass",
            parameters={"lapse": PRIOR},
            is_null=True,
        ),
    ),
    before="",
    after="return 0.5",
)
FULL = Composition({"core": ("curved",), "extra": ("x", "y", "z"), "lapse": ("random",)})


def bench(worth, noise=0.001, broken=(), together=()):
    """Scores by a table of what each mechanism is worth, with noise of each mechanism and person.

    ``together`` lists sets of mechanisms and what a composition with exactly these of their union gains or loses.
    """

    def validate(compositions):
        found = []
        for composition in compositions:
            names = [name for chosen in composition.slots.values() for name in chosen]
            if any(name in broken for name in names):
                found.append(TheoryRaisedError("it does not run"))
                continue
            values = np.full(200, -1.0)
            for name in names:
                rng = np.random.default_rng(sum(map(ord, name)))
                own = rng.normal(0, noise, 200)
                values += worth.get(name, 0.0) + own - own.mean()
            union = {name for wanted, _ in together for name in wanted}
            values += sum(gain for wanted, gain in together if wanted == union & set(names))
            found.append((UnitScores(values, np.ones(200)),))
        return found

    return validate


def names_of(found):
    return {name for chosen in found.composition.slots.values() for name in chosen}


def test_what_is_worth_nothing_goes_and_what_is_worth_its_price_stays():
    found = prune(GRAMMAR, FULL, bench({"curved": 0.02, "x": 0.02, "y": 0.0005}), price=1e-3)
    assert names_of(found) == {"curved", "x", "random"}
    assert sorted(found.changes) == ["drop y from extra", "drop z from extra"]
    assert {"drop x from extra", "replace curved by plain in core"} <= {
        words for words, _, _ in found.needed
    }


def test_a_needed_slot_gets_its_plainest_mechanism_and_lapses_stay():
    found = prune(GRAMMAR, FULL, bench({}), price=1e-3)
    assert names_of(found) == {"plain", "random"}


def test_a_gain_within_its_standard_error_does_not_keep_a_part():
    found = prune(
        GRAMMAR, FULL, bench({"curved": 0.5, "x": 0.5, "y": 0.5, "z": -0.02}, noise=0.4), price=1e-3
    )
    assert "z" not in names_of(found)
    assert {"curved", "x", "y"} <= names_of(found)


def test_a_gain_of_less_than_two_standard_errors_keeps_nothing():
    """Noise of 0.4 in each of 200 people is a standard error of 0.028, so that 0.045 is 1.6 of them."""
    worth = {"curved": 0.5, "x": 0.5, "y": 0.5, "z": 0.045}
    assert "z" not in names_of(prune(GRAMMAR, FULL, bench(worth, noise=0.4), price=1e-3))


def test_two_parts_that_only_make_up_for_each_other_go_together():
    cancelling = ((frozenset("x"), -0.05), (frozenset("y"), -0.05))
    found = prune(GRAMMAR, FULL, bench({"curved": 0.02}, together=cancelling), price=1e-3)
    assert names_of(found) == {"curved", "random"}
    assert "drop x from extra; drop y from extra" in found.changes


def test_what_was_needed_only_beside_another_part_is_tried_again_without_it():
    beside = ((frozenset("y"), -0.05),)  # y does harm unless x is there
    worth = {"curved": 0.02, "z": 0.02, "x": 0.0}
    found = prune(GRAMMAR, FULL, bench(worth, together=beside), price=1e-3)
    assert names_of(found) == {"curved", "z", "random"}


def test_what_does_not_run_is_no_simplification():
    found = prune(GRAMMAR, FULL, bench({}, broken=("plain", "other")), price=1e-3)
    assert names_of(found) == {"curved", "random"}


def test_simplifications_have_less_than_what_they_are_made_from():
    own = set(GRAMMAR.parameters(FULL))
    for _, smaller in simplifications(GRAMMAR, FULL):
        assert smaller.size < FULL.size or set(GRAMMAR.parameters(smaller)) < own
    assert "drop random from lapse" not in dict(simplifications(GRAMMAR, FULL))


def test_what_changes_no_prediction_goes_before_anything_is_fitted():
    """However much it seems to be worth by chance."""
    asked = []

    def same(whole, parts):
        asked.append(names_of(PrunedComposition(whole, (), ())))
        return ["y" in whole.slots["extra"] and "y" not in item.slots["extra"] for item in parts]

    found = prune(GRAMMAR, FULL, bench({"y": 0.02, "x": 0.02}), price=1e-3, same=same)
    assert found.changes[0] == "drop y from extra"
    assert names_of(found) == {"x", "plain", "random"}
    assert [("y" in names) for names in asked] == [True, False]


def test_a_slot_that_must_be_filled_and_changes_nothing_gets_the_usual_mechanism():
    whole = Composition({"core": ("other",), "extra": ("x",), "lapse": ("random",)})

    def same(here, parts):
        return [item.slots["extra"] == here.slots.get("extra") for item in parts]

    found = prune(GRAMMAR, whole, bench({"x": 0.02}), price=1e-3, same=same)
    assert found.changes == ("replace other by plain in core",)
    assert names_of(found) == {"x", "plain", "random"}


def test_small_losses_do_not_add_up_to_a_large_one():
    """Each of three parts is worth 1.6 standard errors of its own, and all of them 2.8: not all may go."""
    worth = {name: 1.6 * 0.4 / np.sqrt(200) for name in "xyz"}
    found = prune(GRAMMAR, FULL, bench({"curved": 0.5, **worth}, noise=0.4), price=1e-3)
    assert 0 < len(names_of(found) & set("xyz")) < 3


def test_nothing_fitted_on_the_way_is_clearly_better_than_what_is_left():
    """Without x, which does harm, y and z together gain 2.3 standard errors, and less than that beside x."""
    worth = {"x": -0.05} | {name: 1.6 * 0.4 / np.sqrt(200) for name in "yz"}
    found = prune(GRAMMAR, FULL, bench({"curved": 0.5, **worth}, noise=0.4), price=1e-3)
    left = names_of(found)
    assert "x" not in left
    assert len(left & set("yz")) == 1


def scores_of(gains, n_each=12):
    """Scores of trials with so many responses each, of which each trial gains so much in all."""
    return (UnitScores(np.array(gains, dtype=float), np.full(len(gains), float(n_each))),)


SPREAD = [0.5, 1.5] * 6 + [1.0]


def test_a_gain_of_one_trial_does_not_hide_what_the_others_gain():
    """13 trials gain a nat each. A trial that gains 50 makes the error as large as the gain, and counts as log 14."""
    few, many = scores_of([*SPREAD, 50.0]), scores_of([*SPREAD, np.log(14)])
    none = scores_of(np.zeros(14))
    plain, cut = paired_difference(few, none), paired_difference(many, none)
    assert plain.value < 2 * plain.standard_error
    found = loss(few, none)
    assert found.value == plain.value
    assert found.value / found.standard_error == pytest.approx(cut.value / cut.standard_error)
    assert found.value > 2 * found.standard_error


def test_a_gain_of_one_trial_alone_is_no_clear_gain():
    """However large it is: the other trials gain nothing."""
    found = loss(scores_of([*np.tile([0.5, -0.5], 6), 0.0, 50.0]), scores_of(np.zeros(14)))
    assert 0 < found.value < 2 * found.standard_error


@pytest.mark.parametrize("gains", [[1.0, -1.0] * 7, [-0.5, -1.5] * 7, [*[-1.0, -0.5] * 6, 0, 50.0]])
def test_where_units_gain_little_or_lose_a_loss_is_the_paired_difference(gains):
    few, none = scores_of(gains), scores_of(np.zeros(14))
    assert loss(few, none) == paired_difference(few, none)


def test_a_part_that_matters_most_for_one_trial_stays():
    def validate(compositions):
        found = []
        for composition in compositions:
            names = {name for chosen in composition.slots.values() for name in chosen}
            found.extend([scores_of([*SPREAD, 50.0] if "z" in names else np.zeros(14))])
        return found

    assert "z" in names_of(prune(GRAMMAR, FULL, validate))


@pytest.mark.parametrize(("gain", "ahead"), [(0.4, False), (1.5, True)])
def test_a_form_is_ahead_by_more_than_the_price_of_its_further_parts(gain, ahead):
    """Of 14 trials a parameter and its mechanism cost 1.3 log 14 nats, .245 for each trial."""
    plain = Composition({"core": ("plain",), "lapse": ("random",)})
    ornate = Composition({"core": ("plain",), "extra": ("x",), "lapse": ("random",)})
    own, none = (
        scores_of(np.full(14, gain / 4) + np.tile([0.01, -0.01], 7)),
        scores_of(np.zeros(14)),
    )
    price = price_of_parameter(none)
    assert is_ahead(GRAMMAR, (ornate, own), (plain, none), price, EQUAL_ODDS) == ahead
    assert not is_ahead(GRAMMAR, (plain, none), (ornate, own), price, EQUAL_ODDS)


def test_a_price_is_paid_in_all_and_not_per_response():
    """What 200 people gain is 20 nats whether each responds 10 or 10,000 times; log 200 is 5.3 nats."""
    for n_each in (10, 10_000):
        scores = (UnitScores(np.zeros(200), np.full(200, float(n_each))),)
        assert price_of_parameter(scores) * 200 * n_each == pytest.approx(np.log(200))


@pytest.mark.parametrize(("n_each", "stays"), [(10, False), (10_000, True)])
def test_with_more_responses_a_smaller_gain_per_response_keeps_a_part(n_each, stays):
    def validate(compositions):
        found = []
        for composition in compositions:
            names = {name for chosen in composition.slots.values() for name in chosen}
            gain = sum(name in names for name in ("curved", "x", "y")) * 0.02 + 0.0008 * (
                "z" in names
            )
            found.append((UnitScores((gain - 1.0) * np.full(200, n_each), np.full(200, n_each)),))
        return found

    assert ("z" in names_of(prune(GRAMMAR, FULL, validate, price=1e-3))) == stays
