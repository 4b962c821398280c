"""What every test of campaigns needs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lakatos.flows.start import run_study

sys.path.insert(0, str(Path(__file__).parent))
from small import small_study


@pytest.fixture(autouse=True)
def heads(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A second place of heads for each test, since copies of one run are one run in that place."""
    place = tmp_path_factory.mktemp("heads")
    monkeypatch.setenv("LAKATOS_HEADS", str(place))
    return place


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small campaign, ended; tests change copies of it only."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    run_study(small_study(), folder, n_workers=1)
    return folder
