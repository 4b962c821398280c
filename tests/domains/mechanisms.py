"""Compositions of a grammar as the tests of every family use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lakatos.theories.language.grammar import Composition, Grammar


def choose_of(grammar: Grammar, composition: Composition) -> Callable[..., Any]:
    """The function ``choose`` of the source that the grammar writes."""
    namespace: dict[str, Any] = {}
    exec(grammar.write(composition, "Test"), namespace)
    chosen: Callable[..., Any] = namespace["choose"]
    return chosen


def one_mechanism_each(grammar: Grammar, base: Mapping[str, tuple[str, ...]]) -> list[Any]:
    """For each mechanism of the grammar the composition ``base`` with it, as a test's parameter."""
    return [
        pytest.param(Composition({**base, item.slot: (item.name,)}), id=f"{item.slot}: {item.name}")
        for item in grammar.mechanisms
    ]
