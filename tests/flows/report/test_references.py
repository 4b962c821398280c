"""Theories of a comparison are cited with the publications of their mechanisms."""

from __future__ import annotations

from rewinding import tiny_run

from lakatos.domains import FAMILIES
from lakatos.flows.report.reader import open_reading
from lakatos.flows.report.references import references, references_of_others
from lakatos.theories.engine.record import CompletenessMeasured, TheoryCompleteness
from lakatos.theories.language.family import find_family


def test_every_published_theory_of_a_comparison_is_cited() -> None:
    with open_reading(tiny_run()) as reading:
        family = find_family(reading.domain)
        seeds = list(reading.state.seeds)
        found = [item for item in references(reading, seeds) if not item.name]
        assert [item.theory for item in found] == seeds
        for item in found:
            slots = reading.theory(item.theory).composition
            assert slots is not None
            assert item.sources == family.sources(slots)


def test_the_best_published_theories_that_did_not_compete_are_cited_by_name() -> None:
    family = FAMILIES["intertemporal"]
    titles = [title for title, _ in family.seeds.values()][:8]
    lines = [
        TheoryCompleteness(
            name=title, theory=f"{place}" * 64, score=-0.5, score_error=0.01, completeness=None,
            completeness_error=None, people={},
        )
        for place, title in enumerate(titles)
    ]  # fmt: skip
    measured = CompletenessMeasured(
        leader="0" * 64, basis="", experiments=("e",), guessing=-0.69, learner=(), ceiling=-0.4, ceiling_error=0.01,
        noise=None, noise_error=None, theories=tuple(lines[:1]), published=tuple(lines), failed={}, ahead=None,
        ahead_error=None, better=(), text="",
    )  # fmt: skip
    found = references_of_others(family, measured)
    assert [item.name for item in found] == titles[1:6]
    assert all(item.sources for item in found)
