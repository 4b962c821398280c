"""What every test of campaigns needs."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def heads(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A second place of heads for each test, since copies of one run are one run in that place."""
    place = tmp_path_factory.mktemp("heads")
    monkeypatch.setenv("LAKATOS_HEADS", str(place))
    return place
