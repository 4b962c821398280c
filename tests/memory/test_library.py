"""Lessons: recalled by situation, kept once, never without evidence."""

import pytest

from lakatos.memory.errors import LessonError
from lakatos.memory.library import Library, Pitfall, pitfall_from_overturned
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of

EVIDENCE = (digest_of("verdict"), digest_of("score"))


def pitfall(trigger="conflict, level", mistake="add first to extra", domain="risky") -> Pitfall:
    return Pitfall(
        domain=domain, trigger=trigger, mistake=mistake, consequence="it lost", evidence=EVIDENCE
    )


def library_of(*pitfalls: Pitfall) -> Library:
    library = Library()
    for place, item in enumerate(pitfalls):
        library = library.with_record(digest_of([place, body_of(item)]), item)
    return library


def test_lessons_that_share_most_words_with_the_situation_come_first():
    one, two = pitfall("level of outcomes", "one"), pitfall("conflict and level", "two")
    assert library_of(two, one).changes_to_avoid("risky", "conflict level") == ("two", "one")


def test_among_equals_the_newest_comes_first():
    old, new = pitfall(mistake="old"), pitfall(mistake="new")
    assert library_of(old, new).changes_to_avoid("risky", "conflict") == ("new", "old")


def test_commas_and_capitals_do_not_keep_a_lesson_from_its_situation():
    library = library_of(pitfall("Conflict, level, n cues", "add x"))
    assert library.changes_to_avoid("risky", "level") == ("add x",)
    assert library.changes_to_avoid("risky", "conflict, best cue favours") == ("add x",)


def test_lessons_of_other_domains_and_other_situations_are_not_recalled():
    library = library_of(pitfall(domain="multiattribute"), pitfall("something else"))
    assert library.changes_to_avoid("risky", "conflict") == ()


def test_a_lesson_that_is_known_is_not_kept_twice():
    library, lesson = library_of(pitfall()), pitfall()
    assert library.with_record(library.pitfalls[0][0], lesson) == library


def test_a_change_overturned_by_new_data_becomes_a_pitfall():
    found = pitfall_from_overturned(
        "risky", "conflict", "add first to extra", 0.83, -0.0123, "risky-2", EVIDENCE
    )
    assert found.mistake == "add first to extra"
    assert (
        found.consequence
        == "promised with probability 0.83, it lost 0.0123 nats per choice on risky-2"
    )
    assert found.evidence == EVIDENCE


def test_a_pitfall_without_evidence_is_refused():
    with pytest.raises(LessonError, match=r"the pitfall about 'add x' cites no record"):
        pitfall_from_overturned("risky", "conflict", "add x", 0.8, -0.1, "e", ())
