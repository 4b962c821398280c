"""The grammar advocate: a search that finds the best composition, heeds the diagnosis and the lessons."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.growing_tree import SearchTree
from lakatos.theories.discovery.grammar_search.proposal import (
    AdvocateBrief,
    CompositionAttempt,
    SearchProposal,
    SearchStart,
)
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.errors import TheoryRaisedError
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.digest import digest_of

PRIOR = {"prior": "uniform", "low": 0.0, "high": 1.0}
GRAMMAR = Grammar(
    domain="letters",
    slots=(SkeletonSlot("first"), SkeletonSlot("second"), SkeletonSlot("third", 0, 2)),
    mechanisms=(
        *(
            Mechanism(slot="first", name=name, clause=f"like {name}", code="pass")
            for name in ("a", "b", "c", "two words")
        ),
        *(
            Mechanism(slot="second", name=name, clause=f"like {name}", code="pass")
            for name in "efgh"
        ),
        *(
            Mechanism(
                slot="third",
                name=name,
                clause=f"like {name}",
                code="pass",
                parameters={name: PRIOR},
            )
            for name in "ijk"
        ),
    ),
    before="",
    after="return 0.5",
)
START = SearchStart(digest_of("start"), Composition({"first": ("a",), "second": ("e",)}))


class Bench:
    """Scores compositions by a table of what each mechanism is worth, and keeps what it was asked.

    ``errors`` gives the error on choice proportions by the mechanism in the first slot.
    """

    def __init__(self, worth=None, broken=(), errors=None):
        self.worth = worth or {}
        self.broken = broken
        self.errors = errors or {}
        self.rounds = []

    def __call__(self, items):
        self.rounds.append([composition for composition, _ in items])
        return [self.one(composition, parent) for composition, parent in items]

    def one(self, composition, parent):
        names = [name for chosen in composition.slots.values() for name in chosen]
        if any(name in self.broken for name in names):
            return TheoryRaisedError("it does not run")
        theory = read_program(TheoryProgram(GRAMMAR.write(composition, "T"), "bench", (parent,)))
        value = -1.0 + sum(self.worth.get(name, 0.0) for name in names)
        scores = (UnitScores(np.full(100, value), np.ones(100)),)
        return EvaluatedComposition(
            composition,
            theory,
            scores,
            error=self.errors.get(names[0], 0.01),
            n_mechanisms=len(names),
        )

    def validate_alike(self, compositions):
        """Elimination finds that nothing is needed."""
        spread = np.tile([0.01, -0.01], 50)
        return [(UnitScores(spread - 1.0, np.ones(100)),) for _ in compositions]

    def glance(self, items):
        """What fits would say, without keeping that anybody asked for a fit."""
        found = [self.one(composition, None) for composition, _ in items]
        self.glanced = getattr(self, "glanced", 0) + len(items)
        return [item if isinstance(item, TheoryRaisedError) else item.mean for item in found]

    @property
    def asked(self):
        return [composition.key for compositions in self.rounds for composition in compositions]


def search(bench, brief=None, seed=0):
    return GrammarAdvocate(GRAMMAR, afresh=0.0).revise(
        brief or AdvocateBrief((START,)), bench, np.random.default_rng(seed)
    )


def names_of(attempt):
    return {name for names in attempt.composition.slots.values() for name in names}


def round_after_the_start(bench):
    """The compositions in the order in which they were tried, the start left out."""
    return [composition for compositions in bench.rounds for composition in compositions][1:]


def test_finds_the_best_composition_several_edits_away():
    proposal = search(
        Bench({"c": 0.2, "h": 0.2, "j": 0.1}), AdvocateBrief((START,), n_candidates=150)
    )
    best = proposal.submitted[0]
    assert names_of(best) == {"c", "h", "j"}
    assert best.parent == START.digest
    here = START.composition
    for change in best.change.split("; "):
        here = dict(GRAMMAR.edits(here))[change]
    assert here.key == best.composition.key


def test_the_first_change_is_the_narrowing_of_the_start_itself():
    proposal = search(Bench(), AdvocateBrief((START,), n_candidates=1))
    assert [attempt.change for attempt in proposal.attempts] == ["narrow the declared ranges"]
    assert proposal.attempts[0].composition == START.composition


@settings(max_examples=8, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcefghijk"), st.floats(-0.3, 0.3)),
    st.integers(0, 40),
    st.integers(0, 6),
    st.integers(0, 100),
)
def test_keeps_its_budget_tries_nothing_twice_and_submits_the_best(
    worth, n_candidates, n_successors, seed
):
    bench = Bench(worth)
    brief = AdvocateBrief((START,), n_candidates=n_candidates, n_successors=n_successors)
    proposal = search(bench, brief, seed)
    assert len(bench.asked) == len(set(bench.asked)) == len(proposal.attempts) <= n_candidates
    criteria = [attempt.criterion for attempt in proposal.attempts]
    assert criteria == sorted(criteria, reverse=True)
    assert proposal.submitted == proposal.attempts[:n_successors]


def test_the_same_seed_searches_alike_and_another_differently():
    first, again, other = Bench(), Bench(), Bench()
    for bench, seed in ((first, 0), (again, 0), (other, 1)):
        search(bench, seed=seed)
    assert first.asked == again.asked
    assert first.asked != other.asked


@pytest.mark.parametrize("seed", range(3))
def test_answers_to_the_diagnosis_are_tried_first(seed):
    bench = Bench()
    search(bench, AdvocateBrief((START,), remedies=("first:two words", "third:k")), seed)
    first = {part for composition in round_after_the_start(bench)[:2] for part in composition.key}
    assert {("first", ("two words",)), ("third", ("k",))} <= first


@pytest.mark.parametrize("seed", range(3))
def test_a_remedy_that_the_start_has_already_favours_no_change(seed):
    bench = Bench()
    start = SearchStart(
        START.digest, Composition({"first": ("a",), "second": ("e",), "third": ("i",)})
    )
    search(bench, AdvocateBrief((start,), remedies=("third:i", "second:f")), seed)
    assert ("second", ("f",)) in round_after_the_start(bench)[0].key


def test_changes_that_a_lesson_warns_of_are_left_while_there_are_others():
    warned = "replace a by b in first"
    brief = AdvocateBrief((START,), remedies=("first:b",), warnings=(warned,), n_candidates=40)
    changes = [attempt.change for attempt in search(Bench({"b": 0.3}), brief).attempts]
    assert len(changes) == 40
    assert not any(warned in change.split("; ") for change in changes)


def test_what_only_helps_together_is_found_though_each_part_alone_does_harm():
    class Together(Bench):
        def one(self, composition, parent):
            names = {name for chosen in composition.slots.values() for name in chosen}
            self.worth = {"b": 0.4, "h": 0.4} if {"b", "h"} <= names else {"b": -0.2, "h": -0.2}
            return super().one(composition, parent)

    proposal = search(Together(), AdvocateBrief((START,), n_candidates=60))
    assert {"b", "h"} <= names_of(proposal.submitted[0])


def test_one_structure_with_two_ranges_is_fitted_once():
    twin = SearchStart(digest_of("twin"), replace(START.composition, priors={"x": PRIOR}))
    bench = Bench()
    search(bench, AdvocateBrief((START, twin), n_candidates=5))
    assert len(bench.asked) == len(set(bench.asked))


def test_a_theory_that_fails_is_a_result_and_is_never_submitted():
    proposal = search(
        Bench({"b": 5.0}, broken=("b",)),
        AdvocateBrief((START,), n_candidates=200, n_successors=200),
    )
    failed = [attempt for attempt in proposal.attempts if attempt.error]
    assert failed
    assert all("b" in names_of(attempt) for attempt in failed)
    assert all(attempt.error == "TheoryRaisedError: it does not run" for attempt in failed)
    assert not {attempt.change for attempt in failed} & {
        attempt.change for attempt in proposal.submitted
    }


def test_when_every_start_fails_nothing_is_submitted():
    proposal = search(Bench(broken=("a",)))
    assert len(proposal.attempts) == 1
    assert proposal.submitted == ()


def test_a_parameter_that_is_worth_nothing_is_not_bought():
    best = search(Bench({"i": 1e-6}), AdvocateBrief((START,), n_candidates=150)).submitted[0]
    assert not names_of(best) & {"i", "j", "k"}


def test_what_distorts_choice_proportions_is_not_submitted_however_well_it_scores():
    proposal = search(
        Bench({"b": 0.5}, errors={"b": 0.05}), AdvocateBrief((START,), n_candidates=150)
    )
    assert "b" in names_of(proposal.attempts[0])
    assert proposal.submitted
    assert not any("b" in names_of(attempt) for attempt in proposal.submitted)


def test_nothing_is_searched_from_nowhere():
    assert search(Bench(), AdvocateBrief(())).attempts == ()


def test_compositions_drawn_afresh_have_no_parent():
    brief = AdvocateBrief((START,), n_candidates=20)
    proposal = GrammarAdvocate(GRAMMAR, afresh=0.5).revise(brief, Bench(), np.random.default_rng(1))
    fresh = [
        attempt for attempt in proposal.attempts if attempt.change.startswith("compose afresh")
    ]
    assert fresh
    assert all(attempt.parent is None for attempt in fresh)
    assert not any(
        attempt.change.startswith("compose afresh") for attempt in search(Bench(), brief).attempts
    )


def test_the_number_of_evaluations_at_once_does_not_change_what_is_found():
    """Results come back in the order of the questions: one worker or many, the same search."""
    bench = Bench({"c": 0.2, "h": 0.2})
    one_by_one = Bench(bench.worth)
    advocate, brief = GrammarAdvocate(GRAMMAR), AdvocateBrief((START,), n_candidates=40)
    together = advocate.revise(brief, bench, np.random.default_rng(3))
    apart = advocate.revise(
        brief, lambda items: [one_by_one([item])[0] for item in items], np.random.default_rng(3)
    )
    assert [attempt.composition for attempt in together.attempts] == [
        attempt.composition for attempt in apart.attempts
    ]


def test_several_families_are_expanded_not_only_the_best():
    """The archive keeps other families in the search: children of more than one are tried late in the search."""
    bench = Bench({"a": 0.3, "i": 0.05, "j": 0.05, "k": 0.05})
    search(bench, AdvocateBrief((START,), n_candidates=60))
    late = {dict(key)["first"] for key in bench.asked[30:]}
    assert len(late) >= 3


REMEMBERING = replace(
    GRAMMAR,
    mechanisms=tuple(
        replace(item, learn="pass") if item.name in "jk" else item for item in GRAMMAR.mechanisms
    ),
)


@pytest.mark.parametrize(("worth", "few"), [({}, True), ({"j": 0.5}, False)])
def test_few_candidates_have_a_memory_unless_one_that_has_leads(worth, few):
    bench = Bench(worth)
    GrammarAdvocate(REMEMBERING, memory=0.1).revise(
        AdvocateBrief((START,), n_candidates=50), bench, np.random.default_rng(0)
    )
    n_memories = sum(bool({"j", "k"} & set(dict(key).get("third", ()))) for key in bench.asked)
    assert n_memories >= 1
    assert (n_memories <= 1 + 0.1 * 50) == few


def test_the_budget_is_spent_though_what_looks_best_may_not_be_tried_any_more():
    """Every composition with a memory looks better, and but a few may be tried: the others are chosen instead."""
    bench = Bench({"j": 0.3, "k": 0.3}, errors={})
    advocate = GrammarAdvocate(REMEMBERING, memory=0.02, memory_of_leader=0.02)
    proposal = advocate.revise(
        AdvocateBrief((START,), n_candidates=30), bench, np.random.default_rng(0)
    )
    assert len(proposal.attempts) == 30
    assert proposal.unspent == ""


def test_no_memory_is_tried_where_answers_do_not_look_back():
    bench = Bench({"j": 0.5, "k": 0.5})
    GrammarAdvocate(REMEMBERING).revise(
        AdvocateBrief((START,), n_candidates=50, looks_back=False), bench, np.random.default_rng(0)
    )
    assert not any({"j", "k"} & set(dict(key).get("third", ())) for key in bench.asked)


def test_a_search_that_ends_early_says_why():
    everything = search(Bench(), AdvocateBrief((START,), n_candidates=10_000))
    assert len(everything.attempts) < 10_000
    assert everything.unspent == "nothing is left within reach of what was tried"
    assert search(Bench(broken=("a",))).unspent == "nothing that was tried can be fitted"


@pytest.mark.parametrize("settling", [0.3, 0.0])
def test_a_search_ends_one_edit_away_from_what_it_tried(settling):
    bench = Bench({"c": 0.3, "h": 0.2})
    advocate = GrammarAdvocate(GRAMMAR, afresh=0.3, settling=settling)
    advocate.revise(AdvocateBrief((START,), n_candidates=30), bench, np.random.default_rng(0))
    asked = [composition for compositions in bench.rounds for composition in compositions]
    edits = {edit.key for known in asked[:21] for _, edit in GRAMMAR.edits(known)}
    near = [composition.key in edits for composition in asked[21:]]
    assert all(near) == (settling > 0)


def test_a_search_goes_on_from_what_elimination_leaves():
    """Beside j, which is worth nothing, h looks bad; it is found once j is gone."""

    class Beside(Bench):
        def one(self, composition, parent):
            names = {name for chosen in composition.slots.values() for name in chosen}
            self.worth = {"j": 0.01, "h": -0.3 if "j" in names else 0.3}
            return super().one(composition, parent)

    def validate(compositions):
        return [(UnitScores(np.full(100, -1.0), np.ones(100)),) for _ in compositions]

    bench = Beside()
    advocate = GrammarAdvocate(GRAMMAR, afresh=0.0)
    ornate = Composition({"first": ("a",), "second": ("e",), "third": ("j",)})
    brief = AdvocateBrief((SearchStart(START.digest, ornate),), n_candidates=30)
    (attempt,) = (
        advocate.attempt(ornate, None, "", found) for found in bench([(ornate, START.digest)])
    )
    proposal = advocate.pruned(
        SearchProposal((attempt,), (attempt,)), brief, bench, validate, np.random.default_rng(0)
    )
    assert names_of(proposal.submitted[0]) == {"a", "h"}


def test_published_forms_are_tried_before_any_that_are_composed_at_random():
    published = tuple(Composition({"first": (name,), "second": ("g",)}) for name in "bc")
    bench = Bench()
    brief = AdvocateBrief((START,), published=published, n_candidates=12)
    GrammarAdvocate(GRAMMAR, afresh=0.2).revise(brief, bench, np.random.default_rng(0))
    assert set(bench.asked[1:3]) == {form.key for form in published}


def test_a_rule_that_people_hardly_follow_does_not_say_how_small_an_error_can_be():
    """The rule without lapses has the smallest error and explains people three nats worse."""
    bench = Bench({"b": -3.0, "c": 0.1}, errors={"b": 0.001})
    proposal = search(bench, AdvocateBrief((START,), n_candidates=60))
    assert "c" in names_of(proposal.submitted[0])


ORNATE = Composition({"first": ("b",), "second": ("f",), "third": ("i", "k")})


class Together(Bench):
    """A form that is far behind until both of its further mechanisms are there; an ornate one is in between."""

    def one(self, composition, parent):
        names = {name for chosen in composition.slots.values() for name in chosen}
        self.worth = {"j": 0.0}
        if {"b", "f", "i", "k"} <= names:
            self.worth = {"i": 0.5}
        elif {"a", "e"} <= names:
            self.worth = {"j": 0.2, "k": 0.4 if "j" in names else 0.0}
        return super().one(composition, parent)


def test_a_climb_follows_a_simple_form_that_an_ornate_one_is_ahead_of():
    bench, advocate = Together(), GrammarAdvocate(GRAMMAR, afresh=0.0, settling=1.0)
    starts = (START, SearchStart(digest_of("ornate"), ORNATE))
    proposal = advocate.revise(
        AdvocateBrief(starts, n_candidates=24),
        bench,
        np.random.default_rng(0),
        glance=bench.glance,
    )
    assert names_of(proposal.submitted[0]) == {"a", "e", "j", "k"}


def test_a_climb_looks_around_a_node_once_and_fits_only_what_seems_to_gain():
    bench, advocate = (
        Bench({"c": 0.3, "h": 0.2}),
        GrammarAdvocate(GRAMMAR, afresh=0.0, settling=1.0),
    )
    brief = AdvocateBrief((START,), n_candidates=60)
    proposal = advocate.revise(brief, bench, np.random.default_rng(0), glance=bench.glance)
    assert names_of(proposal.submitted[0]) == {"c", "h"}
    assert proposal.unspent == "no variant of the best candidate promises an improvement"
    assert len(proposal.attempts) < 15
    assert bench.glanced == len(proposal.glances)
    assert proposal.submitted[0].composition.key in proposal.looked_around


def test_of_published_forms_those_that_look_best_are_tried_first():
    published = tuple(Composition({"first": (name,), "second": ("g",)}) for name in "bc")
    bench = Bench({"c": 0.1})
    brief = AdvocateBrief((START,), published=published, n_candidates=10)
    GrammarAdvocate(GRAMMAR, afresh=0.1).revise(
        brief, bench, np.random.default_rng(0), glance=bench.glance
    )
    assert bench.asked[1] == published[1].key


@pytest.mark.parametrize(("scatter", "named"), [(2.0, {"a", "e"}), (0.01, {"a", "e", "i"})])
def test_of_theories_that_nobody_can_tell_apart_the_plainest_is_submitted(scatter, named):
    """What i gains is more than its price; whether it is more than chance, people decide."""
    away = np.tile([scatter, -scatter], 50)

    class Scattered(Bench):
        def one(self, composition, parent):
            found = super().one(composition, parent)
            ornate = "i" in {name for chosen in composition.slots.values() for name in chosen}
            value = found.scores[0].log_predictive + away * ornate
            return replace(found, left_out=(UnitScores(value, np.ones(100)),))

    bench, advocate = Scattered({"i": 0.1}), GrammarAdvocate(GRAMMAR, afresh=0.0)

    def validate(compositions):
        """Elimination finds that nothing can be left out."""
        spread = np.tile([0.9, 1.1], 50)
        return [(UnitScores(item.size * spread, np.ones(100)),) for item in compositions]

    ornate = Composition({"first": ("a",), "second": ("e",), "third": ("i",)})
    attempts = tuple(
        advocate.attempt(item, None, "", bench.one(item, START.digest))
        for item in (ornate, START.composition)
    )
    proposal = advocate.pruned(
        SearchProposal(attempts, attempts[:1]),
        AdvocateBrief((), n_candidates=2),
        bench,
        validate,
        np.random.default_rng(0),
        glance=bench.glance,
    )
    assert names_of(proposal.submitted[0]) == named


class TakenAway(Bench):
    """Participants are predicted with what others learned, and differ a little."""

    def one(self, composition, parent):
        found = super().one(composition, parent)
        value = found.scores[0].log_predictive + np.tile([0.01, -0.01], 50)
        return replace(found, left_out=(UnitScores(value, np.ones(100)),))

    def validate(self, compositions):
        return [self.one(item, START.digest).left_out for item in compositions]


def eliminated(bench, validate):
    """What is submitted where only the start was, and a better form was tried."""
    advocate = GrammarAdvocate(GRAMMAR, afresh=0.0)
    better = Composition({"first": ("c",), "second": ("e",), "third": ("i", "k")})
    attempts = tuple(
        advocate.attempt(item, None, "", bench.one(item, START.digest))
        for item in (better, START.composition)
    )
    return advocate.pruned(
        SearchProposal(attempts, attempts[1:]),
        AdvocateBrief((), n_candidates=2),
        bench,
        validate,
        np.random.default_rng(0),
    ).submitted


def test_elimination_never_ends_where_a_form_that_was_tried_is_clearly_ahead():
    """It was not submitted, because its error is larger; what it does not need is left out of it."""
    bench = TakenAway({"c": 0.3, "i": 0.3}, errors={"c": 0.05})
    submitted = eliminated(bench, bench.validate)
    assert names_of(submitted[0]) == {"c", "e", "i"}
    assert START.composition.key in {item.composition.key for item in submitted}


def test_where_all_that_elimination_left_is_clearly_behind_the_best_that_was_tried_is_submitted():
    """On the responses of elimination nothing is needed, on those of the fits c, i and k are."""
    submitted = eliminated(TakenAway({"c": 0.3, "i": 0.3, "k": 0.3}), Bench().validate_alike)
    assert names_of(submitted[0]) == {"c", "e", "i", "k"}


def test_a_climb_looks_around_the_best_and_then_where_sizes_are_furthest_apart():
    """A search of few candidates reaches the middle of the front: the third of five sizes comes before the second."""
    wide = replace(
        GRAMMAR,
        slots=(*GRAMMAR.slots[:2], SkeletonSlot("third", 0, 4)),
        mechanisms=(
            *GRAMMAR.mechanisms,
            replace(GRAMMAR.mechanisms[-1], name="l", parameters={"l": PRIOR}),
        ),
    )
    tree = SearchTree(GrammarAdvocate(wide), AdvocateBrief(()), np.random.default_rng(0))
    (fitted,) = Bench()([(START.composition, START.digest)])
    for size in range(5):
        form = Composition(dict(START.composition.slots) | {"third": tuple("ijkl"[:size])})
        tree.tried[form.key] = CompositionAttempt(form, None, "", fitted, float(size))

    def order():
        return [len(item.composition.slots["third"]) for item in tree._not_looked_around()]

    assert order() == [4, 0, 2, 1, 3]
    tree.looked_around = {
        item.composition.key for item in tree.working if item.criterion in (0.0, 4.0)
    }
    assert order() == [2, 1, 3]
