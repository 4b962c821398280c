"""Lessons: recalled by situation, never without evidence, rebuilt from the journal as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import LessonError
from memory.library import Library, Pitfall, pitfall_from_overturned, rebuild
from traces.digest import digest_of
from traces.record import body_of

EVIDENCE = (digest_of("verdict"), digest_of("score"))


def pitfall(trigger="conflict, level", mistake="add first to extra", domain="risky") -> Pitfall:
    return Pitfall(domain=domain, trigger=trigger, mistake=mistake, consequence="it lost", evidence=EVIDENCE)


def library_of(*pitfalls: Pitfall) -> Library:
    return rebuild((digest_of([place, body_of(item)]), body_of(item)) for place, item in enumerate(pitfalls))


def test_lessons_that_share_most_words_with_the_situation_come_first():
    one, two = pitfall("level of outcomes"), pitfall("conflict and level")
    assert library_of(two, one).recall("risky", "conflict level") == [two, one]


def test_among_equals_the_newest_comes_first():
    old, new = pitfall(mistake="old"), pitfall(mistake="new")
    assert library_of(old, new).recall("risky", "conflict") == [new, old]


def test_commas_and_capitals_do_not_keep_a_lesson_from_its_situation():
    lesson = pitfall("Conflict, level, n cues")
    assert library_of(lesson).recall("risky", "level") == [lesson]
    assert library_of(lesson).recall("risky", "conflict, best cue favours") == [lesson]


def test_lessons_of_other_domains_and_other_situations_are_not_recalled():
    library = library_of(pitfall(domain="multiattribute"), pitfall("something else"))
    assert library.recall("risky", "conflict") == []


@given(st.lists(st.sampled_from(["conflict", "level", "conflict level"]), max_size=8), st.integers(0, 4))
def test_recall_gives_at_most_what_is_asked_for(triggers, most):
    found = library_of(*map(pitfall, triggers)).recall("risky", "conflict level", most)
    assert len(found) == min(most, len(triggers))


def test_a_lesson_known_already_is_not_repeated():
    item = pitfall()
    library = Library().with_pitfall(digest_of("a"), item)
    assert library.with_pitfall(digest_of("a"), item) == library
    assert len(library.with_pitfall(digest_of("b"), item).pitfalls) == 2


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=5))
def test_a_library_rebuilt_from_its_records_is_the_same(texts):
    lessons = [pitfall(trigger, mistake) for trigger, mistake in texts]
    grown = Library()
    for place, item in enumerate(lessons):
        grown = grown.with_pitfall(digest_of([place, body_of(item)]), item)
    assert library_of(*lessons) == grown


@pytest.mark.parametrize(
    ("change", "message"),
    [({"evidence": ["no digest"]}, r"evidence\.0: String should match"), ({"colour": "red"}, "colour: Extra inputs")],
)
def test_a_lesson_that_cannot_be_read_is_named_with_its_field(change, message):
    with pytest.raises(LessonError, match=rf"the lesson {digest_of('a')[:8]} cannot be read: {message}"):
        rebuild([(digest_of("a"), body_of(pitfall()) | change)])


def test_a_change_overturned_by_new_data_becomes_a_pitfall():
    found = pitfall_from_overturned("risky", "conflict", "add first to extra", 0.83, -0.0123, "risky-2", EVIDENCE)
    assert found.mistake == "add first to extra"
    assert found.consequence == "promised with probability 0.83, it lost 0.0123 nats per choice on risky-2"
    assert found.evidence == EVIDENCE


def test_a_pitfall_without_evidence_is_refused():
    with pytest.raises(LessonError, match=r"the pitfall about 'add x' cites no record"):
        pitfall_from_overturned("risky", "conflict", "add x", 0.8, -0.1, "e", ())
