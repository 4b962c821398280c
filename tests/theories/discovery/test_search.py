"""The objective is monotone and submodular, the greedy choice close to the best; the archive keeps the best."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.domains import FAMILIES
from lakatos.theories.discovery.grammar_search.search_tree import (
    ArchiveMap,
    CandidateObjective,
    CompositionSurrogate,
    archive,
    chances_of_improvement,
    change_in_words,
    combined,
    crossed,
    lazy_greedy,
    uncertainty,
)
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

PRIOR = {"prior": "uniform", "low": 0.0, "high": 1.0}
GRAMMAR = Grammar(
    domain="letters",
    slots=(SkeletonSlot("first"), SkeletonSlot("second"), SkeletonSlot("third", 0, 2)),
    mechanisms=(
        *(Mechanism(slot="first", name=name, clause=name, code="pass") for name in "abcd"),
        *(
            Mechanism(slot="second", name=name, clause=name, code="pass", parameters={name: PRIOR})
            for name in "efg"
        ),
        *(
            Mechanism(
                slot="third",
                name=name,
                clause=name,
                code="pass",
                parameters={name: PRIOR},
                learn="pass",
            )
            for name in "ij"
        ),
    ),
    before="",
    after="return 0.5",
)
SIZES = st.tuples(st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**32 - 1))


def instance(size):
    """A random objective of the given numbers of candidates and cells, some of it empty and some of it capped."""
    n_candidates, n_cells, seed = size
    rng = np.random.default_rng(seed)
    n_places = int(rng.integers(1, n_candidates + 1))
    return CandidateObjective(
        chances=rng.random((n_candidates, n_cells)) * (rng.random((n_candidates, n_cells)) < 0.6),
        weights=rng.random(n_cells),
        places=rng.integers(0, n_places, n_candidates),
        exploration=rng.random(n_places) * 0.3,
        entropy=uncertainty(rng.random(n_candidates)) * 0.2,
        cap=float(rng.random() * 0.5),
    )


def plain_greedy(objective, n):
    """The definition: every gain computed anew in every step."""
    chosen = []
    rest = list(range(len(objective.chances)))
    for _ in range(min(n, len(rest))):
        best = max(rest, key=lambda place: objective.value([*chosen, place]))
        chosen.append(best)
        rest.remove(best)
    return chosen


def test_the_value_of_a_set_is_the_formula():
    objective = CandidateObjective(
        chances=np.array([[0.5, 0.0], [0.5, 0.2], [0.0, 1.0]]),
        weights=np.array([2.0, 1.0]),
        places=np.array([0, 0, 1]),
        exploration=np.array([0.3, 0.4]),
        entropy=np.array([0.1, 0.2, 0.4]),
        cap=0.5,
    )
    assert objective.value([]) == 0.0
    assert objective.value([0]) == pytest.approx(1.0 + 0.3 + 0.1)
    assert objective.value([0, 1]) == pytest.approx(2 * 0.75 + 0.2 + 0.3 + 0.3)
    assert objective.value([0, 1, 2]) == pytest.approx(2 * 0.75 + 1.0 + 0.7 + 0.5)
    assert objective.value([0, 0]) == objective.value([0])
    assert objective.singles == pytest.approx([objective.value([place]) for place in range(3)])


@settings(max_examples=200, deadline=None)
@given(SIZES, st.data())
def test_the_objective_never_falls_and_its_gains_diminish(size, data):
    objective = instance(size)
    candidates = st.integers(0, size[0] - 1)
    small = data.draw(st.sets(candidates))
    large = small | data.draw(st.sets(candidates))
    new = data.draw(candidates)
    gain_to_small = objective.value([*small, new]) - objective.value([*small])
    gain_to_large = objective.value([*large, new]) - objective.value([*large])
    assert objective.value([*large]) >= objective.value([*small]) - 1e-12
    assert gain_to_large >= -1e-12
    if new not in large:
        assert gain_to_small >= gain_to_large - 1e-12


@settings(max_examples=200, deadline=None)
@given(SIZES, st.data())
def test_the_value_does_not_depend_on_the_order(size, data):
    objective = instance(size)
    chosen = data.draw(st.permutations(range(size[0])))
    assert objective.value(chosen) == pytest.approx(objective.value(sorted(chosen)))


@settings(max_examples=200, deadline=None)
@given(SIZES, st.integers(0, 13))
def test_the_lazy_greedy_choice_is_the_plain_one(size, n):
    objective = instance(size)
    lazy, plain = lazy_greedy(objective, n), plain_greedy(objective, n)
    assert len(lazy) == len(set(lazy)) == len(plain)
    # Equal gains may be taken in another order when they differ in the last digit.
    assert objective.value(lazy) == pytest.approx(objective.value(plain), abs=1e-9)


@pytest.mark.slow
def test_the_greedy_choice_reaches_its_bound_on_a_thousand_instances():
    rng = np.random.default_rng(1)
    for _ in range(1000):
        n_candidates, n = int(rng.integers(1, 13)), int(rng.integers(1, 5))
        objective = instance((n_candidates, int(rng.integers(1, 7)), int(rng.integers(2**32))))
        best = max(
            objective.value(subset)
            for subset in combinations(range(n_candidates), min(n, n_candidates))
        )
        assert objective.value(lazy_greedy(objective, n)) >= (1 - 1 / np.e) * best - 1e-12


def test_two_that_say_the_same_are_not_both_chosen():
    objective = CandidateObjective(
        chances=np.array([[0.9, 0.0], [0.9, 0.0], [0.0, 0.5]]),
        weights=np.ones(2),
        places=np.zeros(3, dtype=np.int64),
        exploration=np.zeros(1),
        entropy=np.zeros(3),
    )
    assert sorted(lazy_greedy(objective, 2)) == [0, 2]


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1, 1)), max_size=30))
def test_the_archive_keeps_the_best_of_every_place_best_first(items):
    kept = archive(items, lambda item: item[0], lambda item: item[1])
    assert {place for place, _ in kept} == {place for place, _ in items}
    assert all(
        quality == max(other for where, other in items if where == place) for place, quality in kept
    )
    assert [quality for _, quality in kept] == sorted(
        (quality for _, quality in kept), reverse=True
    )


def test_a_place_is_family_number_of_parameters_and_memory():
    where = ArchiveMap(GRAMMAR)
    assert where.key_slots == ("first", "second")
    plain = Composition({"first": ("a",), "second": ("e",)})
    assert where.place(plain) == ((("a",), ("e",)), 1, False)
    assert where.place(Composition({**plain.slots, "third": ("i", "j")})) == (
        (("a",), ("e",)),
        3,
        True,
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_every_seed_of_every_family_has_a_place(name):
    family = FAMILIES[name]
    where = ArchiveMap(family.grammar)
    for _, composition in family.seeds.values():
        _, n_parameters, memory = where.place(composition)
        assert n_parameters == len(family.grammar.parameters(composition))
        assert memory == any(item.learn for item in family.grammar.used(composition))


def compositions(rng, n):
    drawn = {item.key: item for item in (GRAMMAR.compose(rng) for _ in range(40 * n))}
    return list(drawn.values())[:n]


def test_the_surrogate_returns_what_it_was_told_and_doubts_the_rest():
    rng = np.random.default_rng(0)
    surrogate = CompositionSurrogate(GRAMMAR)
    items = surrogate.encode(compositions(rng, 24))
    values = rng.normal(size=(24, 3))
    mean, deviation = surrogate.predict(items[:20], values[:20], items)
    assert mean[:20] == pytest.approx(values[:20], abs=0.1)
    assert deviation[:20].max() < deviation[20:].min()


def test_the_surrogate_is_ordinary_kriging():
    """Two values and a third composition as like to both, against the solution by hand."""
    surrogate = CompositionSurrogate(GRAMMAR)
    known = surrogate.encode([Composition({"first": (a,), "second": ("e",)}) for a in "ab"])
    unknown = surrogate.encode([Composition({"first": ("c",), "second": ("e",)})])
    mean, _ = surrogate.predict(known, np.array([[1.0], [3.0]]), unknown)
    assert mean == pytest.approx(np.array([[2.0]]))


def test_the_surrogate_finds_what_only_helps_together():
    """Only "a" with "e" is good: with that pair held out, its neighbours do not tell; with other company, they do."""

    def worth(item):
        return float("a" in item.slots["first"] and "e" in item.slots["second"])

    rng = np.random.default_rng(2)
    items = compositions(rng, 48)
    surrogate = CompositionSurrogate(GRAMMAR)
    good = [item for item in items if worth(item)]
    known = [item for item in items if item is not good[-1]]
    mean, _ = surrogate.predict(
        surrogate.encode(known),
        np.array([[worth(item)] for item in known]),
        surrogate.encode([good[-1], *(item for item in items if not worth(item))]),
    )
    assert mean[0, 0] > mean[1:, 0].max()


def test_the_chance_of_improvement_is_a_normal_tail():
    chances = chances_of_improvement(
        np.array([[0.0, 1.0]]), np.array([[1.0, 2.0]]), np.array([0.0, -1.0])
    )
    assert chances == pytest.approx(np.array([[0.5, 0.841344746]]))
    assert uncertainty(np.array([0.0, 0.5, 1.0])) == pytest.approx([0.0, np.log(2), 0.0])


BASE = Composition({"first": ("a",), "second": ("e",)})


def test_edits_are_combined_and_said_in_words():
    edits = dict(GRAMMAR.edits(BASE))
    both = combined(GRAMMAR, BASE, [edits["replace a by c in first"], edits["add j to third"]])
    assert both is not None
    assert both.key == Composition({"first": ("c",), "second": ("e",), "third": ("j",)}).key
    assert change_in_words(GRAMMAR, BASE, both) == "replace a by c in first; add j to third"
    assert change_in_words(GRAMMAR, both, BASE) == "replace c by a in first; drop j from third"
    assert (
        combined(
            GRAMMAR, BASE, [edits["replace a by b in first"], edits["replace a by c in first"]]
        )
        is None
    )


@given(st.integers(0, 2**32 - 1))
def test_whatever_is_made_is_admissible_and_the_words_of_an_edit_are_the_grammars(seed):
    rng = np.random.default_rng(seed)
    first, second = GRAMMAR.compose(rng), GRAMMAR.compose(rng)
    edits = GRAMMAR.edits(first)
    picked = [edits[place][1] for place in rng.choice(len(edits), 2, replace=False)]
    for made in (crossed(GRAMMAR, first, second, rng), combined(GRAMMAR, first, picked)):
        if made is not None:
            GRAMMAR.used(made)
            assert all(
                set(names) <= {item.name for item in GRAMMAR.mechanisms}
                for names in made.slots.values()
            )
    words, edit = edits[int(rng.integers(len(edits)))]
    assert change_in_words(GRAMMAR, first, edit) == words


@settings(max_examples=100, deadline=None)
@given(SIZES, st.integers(0, 13), st.integers(0, 5), st.integers(0, 2**16))
def test_no_more_rationed_candidates_are_chosen_than_may_be_and_others_take_their_places(
    size, n, most, seed
):
    objective = instance(size)
    rationed = np.random.default_rng(seed).random(size[0]) < 0.5
    chosen = lazy_greedy(objective, n, rationed=rationed, most=most)
    assert (
        len(chosen)
        == len(set(chosen))
        == min(n, int((~rationed).sum()) + min(most, int(rationed.sum())))
    )
    assert rationed[chosen].sum() <= most
