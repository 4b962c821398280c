"""Names by which the theories of one run are told apart, in five words at most.

A theory is named for its form and for one of its clauses: "Random walk with loss aversion". A second theory of that
form is named for what the first one lacks, or for what it lacks itself: "Random walk without loss aversion". As long as
nothing was learned about people, and where they differ, a name says what a theory is about (`topic`): "with
curved values". At the verdict theories are named anew, for what was learned: "with diminishing returns". A theory that
has the form of a published one has its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count

from lakatos.theories.language.account import MOST_WORDS, labels_in_order, true_title
from lakatos.theories.language.theory import LAPSE, Theory
from lakatos.traces.digest import Digest

PUBLISHED = "published"
"""Author of theories of a domain's family."""


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


def names_after_learning(
    theories: Sequence[Theory], published: Mapping[Digest, str], taken: Sequence[Theory] = ()
) -> dict[Digest, str]:
    """Names for what was learned about people, different for all.

    Args:
        theories: Theories with the people that answers taught, the leader first.
        published: Titles of published theories, of those that are one or have the form of one.
        taken: Theories as they were called until now: no name passes from one to another.
    """
    named: dict[Digest, Theory] = {}
    is_published = {item.digest: item.program.author == PUBLISHED for item in theories}
    order = sorted(theories, key=lambda item: item.digest not in published)
    for theory in sorted(order, key=lambda item: not is_published[item.digest]):
        others = [*named.values(), *(item for item in taken if item.digest != theory.digest)]
        names = _names_of_form(theory, published.get(theory.digest, ""))
        free = (name for name in names if name not in {other.name for other in others})
        name = next(free, "") or name_in_company(theory, others)
        named[theory.digest] = replace(theory, name=name)
    return {digest: theory.name for digest, theory in named.items()}


def _names_of_form(theory: Theory, title: str) -> list[str]:
    """The title of the published theory of this form, true of these people, and how another one may differ."""
    if not title:
        return []
    title = true_title(title, theory.account().clauses)
    if LAPSE not in theory.priors:
        return [title, f"{title} without lapses"]
    return [title, f"{title} {'and' if ' with ' in title else 'with'} lapses"]


def _names(theory: Theory, namesakes: Sequence[Theory]) -> Iterator[str]:
    """Names for a theory, the most telling first; numbered ones without end after that."""
    head, own = theory.head, _labels(theory)
    theirs = list(dict.fromkeys(label for other in namesakes for label in _labels(other)))
    ordered = sorted(own, key=lambda label: label in theirs)
    first = theory.account().name if theory.clauses else theory.name
    yield first
    for label in ordered:
        yield from _short(f"{head} with {label}")
    for pair in combinations(ordered, 2):
        yield from _short(f"{head} with {' and '.join(pair)}")
    for label in theirs:
        if label not in own:
            yield from _short(f"{head} without {label}")
    for part in _own_parts(theory, namesakes):
        yield from _short(f"{head} with {part}")
    for number in count(2):
        yield f"{head} {number}"


def _labels(theory: Theory) -> list[str]:
    """List the topics of a theory's clauses, or the sides that people are on; those of the strongest clause first."""
    return labels_in_order(theory.head, theory.account().clauses)


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
