"""The theories about one kind of task: the grammar that composes them, and those that were published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Protocol, runtime_checkable

from lakatos.experiments.task import Domain, Stimuli
from lakatos.experiments.task_file import task_file_of
from lakatos.theories.errors import GrammarError, TheoryError
from lakatos.theories.language.grammar import Composition, Grammar
from lakatos.theories.language.option_score import TermVocabulary
from lakatos.theories.language.theory import PUBLISHED, TheoryProgram, read_program

SHARED_BY = 0.5
"""Share of the published theories beyond which a common part, such as the choice rule, is not cited for each."""


@dataclass(frozen=True)
class Family:
    """The theories of one domain: its grammar, and what was published."""

    domain: str
    grammar: Grammar
    seeds: Mapping[str, tuple[str, Composition]]
    """Published theories by name (as written in study files): title and composition."""
    terms: Callable[[Sequence[Stimuli]], TermVocabulary] | None = None
    """Vocabulary in which induction words its rules, for the trials of some experiments; without one it goes by the
    shapes of the arrays."""

    def without(self, inputs: Collection[str]) -> Family:
        """The theories that can be considered where some inputs are missing; see `Mechanism.needs`."""
        grammar = self.grammar.without(inputs)
        if grammar is self.grammar:
            return self
        seeds = {name: item for name, item in self.seeds.items() if not self.needed(name, inputs)}
        return replace(self, grammar=grammar, seeds=seeds)

    def needed(self, name: str, inputs: Collection[str]) -> list[str]:
        """Find which of some inputs a published theory needs."""
        used = self.grammar.used(self.seeds[name][1])
        return sorted({own for item in used for own in item.inputs} & set(inputs))

    def sources(self, slots: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Publications of a theory's mechanisms, each once, without mechanisms that most published theories share.

        Args:
            slots: Mechanisms of the theory by slot; all their publications are given if most theories share all.
        """
        known = {(item.slot, item.name): item.source for item in self.grammar.mechanisms}
        used = [(slot, name) for slot, names in slots.items() for name in names]
        given = {item: known[item] for item in used if known.get(item)}
        own = [known[item] for item in given if self._n_users[item] <= SHARED_BY * len(self.seeds)]
        single = (part for text in own or given.values() for part in text.split("; "))
        return tuple(dict.fromkeys(part.strip().rstrip(".") for part in single))

    @cached_property
    def _n_users(self) -> Counter[tuple[str, str]]:
        """Number of published theories with each mechanism, by its slot and name."""
        return Counter(
            (slot, name)
            for _, composition in self.seeds.values()
            for slot, names in composition.slots.items()
            for name in names
        )

    def program(self, name: str) -> TheoryProgram:
        """Source of a published theory; raises KeyError for a name the family does not have."""
        title, composition = self.seeds[name]
        return TheoryProgram(self.grammar.write(composition, title), author=PUBLISHED)


@runtime_checkable
class HasFamily(Protocol):
    """A domain that brings the theories about its task."""

    def family(self) -> Family | None:
        """The theories about the domain; None where its file defines none."""


def family_of(domain: Domain) -> Family | None:
    """The theories about a domain; None where there are none."""
    return domain.family() if isinstance(domain, HasFamily) else None


def own_texts(domain: Domain) -> Callable[[str], bool]:
    """Return a test of whether the grammar of a domain would write the code of a theory's text letter by letter."""
    family = family_of(domain)

    @cache
    def is_own(source: str) -> bool:
        try:
            slots = read_program(TheoryProgram(source, "")).composition
        except TheoryError:
            return False
        return family is not None and slots is not None and family.grammar.writes(source, slots)

    return is_own


def find_family(domain: Domain) -> Family:
    """The theories about a domain.

    Raises:
        GrammarError: There are none.
    """
    found = family_of(domain)
    if found is None or not found.seeds:
        file = task_file_of(domain)
        where = (
            f"the file {file.file} has no FAMILY with seeds"
            if file
            else "it has no method family() that returns some"
        )
        raise GrammarError(
            f"there are no theories about the domain {domain.name!r}: {where}. "
            "`lakatos.theories.language.family.Family` describes what a family contains."
        )
    return found
