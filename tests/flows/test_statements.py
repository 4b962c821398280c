"""What language models state of the golden campaign: true statements are supported, false ones never."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.models.statements import (
    FALSE,
    World,
    false_statements,
    judged,
    true_statements,
    world,
)


@pytest.fixture(scope="module")
def golden() -> World:
    return world()


def test_true_statements_are_supported(golden: World) -> None:
    """With experiment numbers and names in them, which no record holds as numbers."""
    refused = [
        (kind, statement.text, problems)
        for kind, statement in true_statements(golden, np.random.default_rng(1), 300)
        for supported, _, problems in (judged(golden, statement),)
        if not supported
    ]
    assert refused == []


@pytest.mark.parametrize("kind", sorted(FALSE))
def test_false_statements_are_not(golden: World, kind: str) -> None:
    rng = np.random.default_rng(2)
    made = [item for item in (FALSE[kind](golden, rng) for _ in range(40)) if item is not None]
    assert len(made) >= 10
    believed = [statement.text for statement in made if judged(golden, statement)[0]]
    assert believed == []


@pytest.mark.slow
def test_the_digits_of_false_statements_are_often_somewhere_in_their_records(golden: World) -> None:
    """Why digits are not looked for: this test shows that the false statements are not easy ones."""
    made = list(false_statements(golden, np.random.default_rng(3), 25))
    assert sum(judged(golden, statement)[1] for _, statement in made) >= 20
