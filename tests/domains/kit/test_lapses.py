"""Random responses are one mechanism in all tasks whose responses are outcomes of a grid."""

from __future__ import annotations

import pytest

from lakatos.domains import FAMILIES
from lakatos.domains.kit.lapses import lapse


def test_a_lapse_is_declared_with_its_share_and_says_nothing_else() -> None:
    made = lapse("anything", "p = p", "respond at random {lapse~}", "A source", meaning="none")
    assert (made.slot, made.is_null, made.source) == ("lapse", True, "A source")
    assert made.parameters == {
        "lapse": {
            "prior": "uniform", "low": 0.0, "high": 0.4, "unit": "share of answers", "meaning": "none",
        }
    }  # fmt: skip
    assert [wording.clause for wording in made.wordings] == ["respond at random {lapse~}"]


@pytest.mark.parametrize(
    ("name", "most"),
    [("attention", 0.4), ("estimation", 0.4), ("perception", 0.4), ("recognition", 0.4), ("public_goods", 0.5)],
)  # fmt: skip
def test_every_grid_of_outcomes_has_a_lapse_that_is_null(name: str, most: float) -> None:
    (found,) = (
        item
        for item in FAMILIES[name].grammar.mechanisms
        if item.slot == "lapse" and "lapse" in item.parameters
    )
    assert found.is_null
    assert found.parameters["lapse"]["high"] == most
