"""What tests of memory share: a small world of verbs, and plans made in it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("memory_shop", Path(__file__).with_name("shop.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_SHOP = importlib.util.module_from_spec(_SPEC)
sys.modules["memory_shop"] = _SHOP
_SPEC.loader.exec_module(_SHOP)


@pytest.fixture(scope="session")
def shop():
    """The small world."""
    return _SHOP


@pytest.fixture(scope="session")
def study_of(shop):
    """Makes the plan of a study that compares two theories."""

    def made(name, first, second, n_trials=4, **others):
        return shop.plan_of(
            ("rank", {"theories": [first, second], "experiment": "first"}),
            ("draw", {"theories": [first, second], "n_trials": n_trials}),
            ("attempt", {"theory": first, "design": "<1.design"}),
            ("attempt", {"theory": second, "design": "<1.design"}),
            study=name,
            **others,
        )

    return made


@pytest.fixture(scope="session")
def tool_sandbox():
    """One sandbox for all programs."""
    from memory.runner import ToolSandbox

    with ToolSandbox() as running:
        yield running
