"""Nonsense of the right form."""

import re

import numpy as np
import pytest

from tests.rehearsal.nonsense import instance_of, matching


@pytest.mark.parametrize(
    "pattern",
    [
        "^#[0-9a-f]{8,64}$",
        "^[a-z][a-z0-9-]{0,39}$",
        "^v[0-9]{2}\\.[0-9]$",
        "^-?[0-9]{2,9}([.][0-9]{1,9})?$",
        "^abc$",
    ],
)
def test_a_text_for_a_pattern_matches_it(pattern):
    rng = np.random.default_rng(0)
    found = {matching(pattern, rng) for _ in range(200)}
    assert all(re.search(pattern, text) for text in found)
    assert pattern == "^abc$" or len(found) > 20


def test_a_schema_with_a_pattern_is_kept():
    text = instance_of({"type": "string", "pattern": "^#[0-9a-f]{8}$"}, np.random.default_rng(1))
    assert re.fullmatch("#[0-9a-f]{8}", text)
