"""What tests of memory share: a small world of verbs, and plans made in it."""

from __future__ import annotations

import pytest

from benchmarks.memory import world


@pytest.fixture(scope="session")
def shop():
    """The small world."""
    return world


@pytest.fixture(scope="session")
def study_of():
    """Makes the plan of a study that compares two theories."""
    return world.study_of
