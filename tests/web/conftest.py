"""A store on the test's own clock, and the page's server on the test's folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from taking_part import served

from lakatos.experiments.participants.web.app import create_app, create_desk
from lakatos.experiments.participants.web.store import SessionStore


@pytest.fixture
def clock() -> list[float]:
    """Seconds that a test sets."""
    return [1_700_000_000.0]


@pytest.fixture
def store(tmp_path: Path, clock: list[float]) -> Iterator[SessionStore]:
    """A store of an empty run, on the test's own clock."""
    made = SessionStore(tmp_path, clock=lambda: clock[0])
    yield made
    made.shut()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts the server on the test's folder; gives its address."""
    running = []

    def start(*, desk: bool = False, **settings: Any) -> str:
        app = (
            create_desk(tmp_path, **settings)
            if desk
            else create_app(tmp_path, **{"sweep_seconds": 0.2, **settings})
        )
        context = served(app)
        running.append(context)
        return context.__enter__()

    yield start
    for context in running:
        context.__exit__(None, None, None)
