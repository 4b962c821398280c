"""References of the theories of a comparison: publications of the mechanisms of which each consists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lakatos.flows.report.reader import RunReading
from lakatos.theories.engine.record import CompletenessMeasured
from lakatos.theories.language.family import Family, family_of
from lakatos.traces.digest import Digest

MOST_OTHERS = 5
"""Published theories beside those that competed of which pages show the scores."""


@dataclass(frozen=True)
class TheoryReferences:
    """Publications of a theory's mechanisms, each once."""

    theory: Digest
    name: str
    """Name of a published theory that did not compete; empty for one of the run."""
    sources: tuple[str, ...]


def references(reading: RunReading, theories: Iterable[Digest]) -> list[TheoryReferences]:
    """List the publications of theories that competed, then those of the best others that did not.

    Theories without a publication, such as rules that were induced from the responses, are not listed.
    """
    family = family_of(reading.domain)
    if family is None:
        return []
    found = [
        TheoryReferences(theory, "", family.sources(reading.theory(theory).composition or {}))
        for theory in theories
    ]
    measured = reading.state.theories.completeness
    found += references_of_others(family, measured.record) if measured else []
    return [item for item in found if item.sources]


def references_of_others(family: Family, measured: CompletenessMeasured) -> list[TheoryReferences]:
    """List the publications of the best published theories that did not compete."""
    by_title = dict(family.seeds.values())
    competing = {item.theory for item in measured.theories}
    others = [item for item in measured.published if item.theory not in competing]
    return [
        TheoryReferences(item.theory, item.name, family.sources(by_title[item.name].slots))
        for item in others[:MOST_OTHERS]
        if item.name in by_title
    ]
