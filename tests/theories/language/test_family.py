"""Publications of a theory are those of its own mechanisms."""

from __future__ import annotations

from lakatos.domains import FAMILIES


def test_mechanisms_that_most_published_theories_share_are_not_cited_for_each() -> None:
    family = FAMILIES["intertemporal"]
    assert family.sources(family.seeds["hyperbolic"][1].slots) == (
        "Mazur (1987), in Quantitative analyses of behavior 5, 55-73",
    )


def test_a_theory_of_shared_mechanisms_alone_is_cited_by_these() -> None:
    family = FAMILIES["intertemporal"]
    assert family.sources({"choice": ["logistic"]}) == (
        "Luce (1959), Individual choice behavior",
        "McFadden (1974)",
    )


def test_a_publication_of_several_mechanisms_is_cited_once() -> None:
    family = FAMILIES["perception"]
    cited = family.sources(family.seeds["full_ddm"][1].slots)
    assert len(cited) == len(set(cited))
    assert "Ratcliff & Tuerlinckx (2002), Psychonomic Bulletin & Review 9, 438-481" in cited


def test_a_rule_without_mechanisms_has_no_publication() -> None:
    assert FAMILIES["perception"].sources({}) == ()
