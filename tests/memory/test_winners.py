"""The library of winners: which come first, which are taken away, and which begin a search."""

import pytest

from lakatos.domains import FAMILIES
from lakatos.memory.library import Library, weight_of
from lakatos.memory.recall import LexicalRecall, RecallSituation
from lakatos.memory.winner import TheoryTried, TheoryWon, has_its_source, may_compete, won_among
from lakatos.memory.winner_start import (
    campaigns_found,
    form_of_winner,
    rank_winners,
    starts_of_winners,
)
from lakatos.theories.language.theory import TheoryProgram
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of

FAMILY = FAMILIES["multiattribute"]
VERDICT = digest_of("verdict")


def winner(source, study="one", **changes):
    given = {
        "domain": "multiattribute",
        "study": study,
        "theory": TheoryProgram(source, "").digest,
        "source": source,
        "name": "Adding",
        "claim": "People add.",
        "author": "grammar",
        "leads": True,
        "holds": True,
        "answers": "",
        "responses": "people",
        "tried": (
            TheoryTried(data="1.1", score=-0.5, interval=(-0.6, -0.4), behind=0.0, held=True),
            TheoryTried(data="2.1", score=-0.6, interval=(-0.7, -0.5), behind=0.1, held=False),
        ),
        "completeness": (0.9, 0.05),
        "evidence": (VERDICT,),
        "justified_by": (VERDICT,),
    }
    return TheoryWon(**{**given, **changes})


def library_of(*records):
    library = Library()
    for record in records:
        library = library.with_record(digest_of(body_of(record)), record)
    return library


def sources(*names):
    return [FAMILY.program(name).source for name in names]


def test_those_of_most_campaigns_come_first_then_those_that_held_then_the_newest():
    often, held, newest = sources("tallying", "take_the_best", "weighted_additive")
    left = [
        winner(often, "one", holds=False),
        winner(held, "two"),
        winner(often.replace("log_uniform", "uniform"), "three", holds=False),
        winner(newest, "four", holds=False),
    ]
    assert [item.study for item in rank_winners(left)] == ["three", "two", "four"]


def test_a_winner_whose_verdict_no_longer_holds_is_taken_away_and_other_lessons_count_half():
    (source,) = sources("tallying")
    library = library_of(winner(source), winner(source, "two", domain="risky"))
    assert [item.study for item in library.winners("multiattribute")] == ["one"]
    assert library.winners("multiattribute", lambda digest: digest != VERDICT) == []
    ((digest, item),) = [entry for entry in library.entries if entry[1].study == "one"]
    assert library.without((), [digest]).winners("multiattribute") == []
    assert library.without([digest], ()).winners("multiattribute") == []
    assert weight_of(digest, item, lambda name: name != VERDICT) == 0.5


def test_a_winner_says_where_it_held_and_where_not():
    (source,) = sources("tallying")
    found = LexicalRecall(library_of(winner(source))).recall(
        RecallSituation(domain="multiattribute", failed="people add")
    )
    (text,) = [item.text for item in found.lessons]
    assert "held on 1.1; another was clearly ahead on 2.1; completeness 0.90 ± 0.05" in text


def test_searches_begin_with_what_the_grammar_can_take_apart_and_pass_over_what_it_cannot():
    first, second = sources("tallying", "weighted_additive")
    strange = (
        "def choose(",
        first.replace("COMPOSITION = {", "COMPOSITION = {'magic': ('wand',), "),
        "COMPOSITION = 3",
    )
    left = [winner(first), *(winner(source, "rival") for source in strange), winner(second, "two")]
    starts = starts_of_winners(left, FAMILY.grammar, ())
    assert [start.change for start in starts] == ["won in one", "won in two"]
    known = {starts[0].composition.key}
    assert len(starts_of_winners(left, FAMILY.grammar, known)) == 1
    assert rank_winners(left)  # sources that cannot be read do not stop it


def test_prior_odds_count_the_leader_of_each_campaign_once():
    first, second, third = sources("tallying", "weighted_additive", "take_the_best")
    left = [
        winner(first, "one"),
        winner(third, "one", leads=False),  # tied with the leader
        winner(second, "one"),  # the same study again
        winner(first, "two", answers="published"),
        winner(third, "three", answers="published"),  # the same responses again
        winner(second, "four", theory=winner(first).theory),  # forged
    ]
    found = campaigns_found(left, FAMILY.grammar)
    assert [item.study for item, _ in found] == ["one", "three"]
    assert [item.source for item, _ in found] == [second, third]


@pytest.mark.parametrize("doubted", [False, True])
def test_pitfalls_in_doubt_count_half_when_changes_are_passed_over(doubted):
    from lakatos.memory.library import Pitfall

    given = {"domain": "risky", "consequence": "it lost", "evidence": (VERDICT,)}
    sure = Pitfall(trigger="level of noise", mistake="add a", **given)
    other = Pitfall(
        trigger="level of noise and bias",
        mistake="add b",
        justified_by=(digest_of("seat"),),
        **given,
    )
    library = library_of(sure, other)
    back = library.changes_to_avoid(
        "risky", "level of noise, bias", valid=lambda name: not doubted or name != digest_of("seat")
    )
    assert back == (("add a",) if doubted else ("add b", "add a"))


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "-" * 60_000 + "1",
        "x = " + "-" * 200_000 + "1",
        "x = " + "(" * 5_000 + "1" + ")" * 5_000,
        "x = [" + "1," * 2_000_000 + "]",
        "x = 1\x00",
    ],
    ids=["deep", "deep and long", "nested", "long", "binary"],
)
def test_sources_that_would_end_a_parser_are_told_apart_by_their_text_and_begin_no_search(source):
    good = winner(sources("tallying")[0])
    assert form_of_winner(winner(source)) == source
    assert rank_winners([winner(source), good])[0] == good
    assert len(starts_of_winners([winner(source), good], FAMILY.grammar, ())) == 1


def test_a_source_that_its_record_does_not_name_begins_no_search():
    first, second = sources("tallying", "weighted_additive")
    forged = winner(first, theory=winner(second).theory)
    assert not has_its_source(forged)
    assert starts_of_winners([forged], FAMILY.grammar, ()) == ()
    assert campaigns_found([forged], FAMILY.grammar) == []


@pytest.mark.parametrize(
    ("won", "responses", "competes"),
    [
        ("people", "people", True),
        ("simulated", "people", False),
        ("language_model", "people", False),
        ("", "people", False),
        ("people", "language_model", True),
        ("language_model", "language_model", True),
        ("simulated", "language_model", False),
        ("people", "simulated", True),
        ("simulated", "simulated", True),
        ("", "simulated", True),
        ("people", "", True),
        ("simulated", "", False),
    ],
)
def test_a_winner_competes_only_where_its_responses_are_of_the_kind(won, responses, competes):
    (source,) = sources("tallying")
    assert may_compete(winner(source, "one, seed 3", responses=won), responses, "two") is competes


def test_what_won_in_a_rehearsal_of_the_same_study_never_competes():
    (source,) = sources("tallying")
    rehearsed = winner(source, "a, seed 1, seed 3", responses="simulated")
    assert not may_compete(rehearsed, "simulated", "a, seed 1")
    assert may_compete(rehearsed, "simulated", "a")
    replicated = winner(source, "a, seed 3", responses="people")
    assert may_compete(replicated, "people", "a")


def test_an_earlier_record_names_its_responses_only_where_they_are_archived():
    (source,) = sources("tallying")
    body = body_of(winner(source, answers="choices"))
    del body["responses"]
    assert won_among(TheoryWon(**body)) == "people"
    assert won_among(TheoryWon(**body | {"answers": ""})) == ""
