"""Names by which the theories of one run are told apart, in five words at most.

A theory is named for its form and for one of its clauses: "Random walk with loss aversion". A second theory of that
form is named for what the first one lacks, or for what it lacks itself: "Random walk without loss aversion". A name
stays what it was when more is learned about people, so it says what a theory is about (`theories.topic`), and the claim
says on which side people are: "with curved values" where it says by then that returns diminish.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, count

from lakatos.theories.account import MOST_WORDS
from lakatos.theories.theory import Theory
from lakatos.theories.topic import topic_of


def topics_of(theory: Theory) -> tuple[str, ...]:
    """What a theory's clauses are about, in the order in which they are told."""
    topics = (topic_of(clause.label, clause.opposite_label) for clause in theory.clauses)
    return tuple(dict.fromkeys(topic for topic in topics if topic))


def name_in_company(theory: Theory, others: Sequence[Theory]) -> str:
    """A short name that no other theory of the run has.

    Args:
        theory: As it was read from its source.
        others: Theories that have their names already.
    """
    taken = {other.name.casefold() for other in others}
    for name in _names(theory, [other for other in others if other.head == theory.head]):
        if name.casefold() not in taken:
            return name
    raise AssertionError("numbers do not end")


def _names(theory: Theory, namesakes: Sequence[Theory]) -> Iterator[str]:
    """Names for a theory, the most telling first; numbered ones without end after that."""
    head, own = theory.head, topics_of(theory)
    theirs = list(dict.fromkeys(topic for other in namesakes for topic in topics_of(other)))
    ordered = sorted(own, key=lambda topic: topic in theirs)
    first = theory.name
    yield first
    for topic in ordered:
        yield from _short(f"{head} with {topic}")
    for pair in combinations(ordered, 2):
        yield from _short(f"{head} with {' and '.join(pair)}")
    for topic in theirs:
        if topic not in own:
            yield from _short(f"{head} without {topic}")
    for part in _own_parts(theory, namesakes):
        yield from _short(f"{head} with {part}")
    for number in count(2):
        yield from _short(f"{first} {number}")
        yield f"{head} {number}"


def _short(name: str) -> Iterator[str]:
    """The name, if it is short enough."""
    if len(name.split()) <= MOST_WORDS:
        yield name


def _own_parts(theory: Theory, namesakes: Sequence[Theory]) -> list[str]:
    """Names of mechanisms that no namesake has, as far as the grammar wrote the theory."""

    def parts(item: Theory) -> list[str]:
        slots = (item.composition or {}).items()
        return [f"{name.replace('_', ' ')} {slot}" for slot, names in slots for name in names]

    theirs = {part for other in namesakes for part in parts(other)}
    return [part for part in parts(theory) if part not in theirs]
